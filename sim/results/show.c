#include "sim/results/show.h"

#include "core/base/units.h"
#include "sim/results/quote.h"
#include "sim/results/report.h"

#include <inttypes.h>
#include <string.h>

enum setting_column { SETTING_KEY, SETTING_VALUE, SETTING_UNIT, SETTING_INITIAL, SETTING_SAME };

/* Changed ones first. */
static const char settings_sql[] = "SELECT key, value, unit, initial, value IS initial FROM setting"
                                   " WHERE run = ?1 ORDER BY 5, key";

static const char *text_of(sqlite3_stmt *row, enum setting_column column)
{
    const char *text = (const char *)sqlite3_column_text(row, (int)column);
    return text != NULL ? text : "";
}

static void print_setting(FILE *to, sqlite3_stmt *row)
{
    char shown[256];
    const char *value = text_of(row, SETTING_VALUE), *unit = text_of(row, SETTING_UNIT);
    fprintf(to, "  %-28s %s", text_of(row, SETTING_KEY),
            value[0] != '\0' ? quote_shown(value, strlen(value), shown, sizeof shown) : "-");
    if (unit[0] != '\0' && strcmp(unit, "1") != 0)
        fprintf(to, " %s", unit);
    if (!sqlite3_column_int(row, SETTING_SAME)) {
        const char *initial = text_of(row, SETTING_INITIAL);
        fprintf(to, "  (default %s)", initial[0] != '\0' ? initial : "-");
    }
    fputc('\n', to);
}

static void print_origin(FILE *to, const struct summary *s)
{
    const struct {
        const char *title, *text;
    } line[] = {{"trace", s->trace},
                {"trace hash", s->trace_hash},
                {"cluster", s->cluster},
                {"created", s->created},
                {"program", s->program}};
    char shown[512];
    fputc('\n', to);
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        if (line[i].text != NULL)
            fprintf(to, "%-12s %s\n", line[i].title,
                    quote_shown(line[i].text, strlen(line[i].text), shown, sizeof shown));
    for (int i = 0; i < N_TIMINGS; i++) {
        char number[32];
        fprintf(to, "%-14s %s\n", timing_names[i], report_number(s->timing[i], number));
    }
}

enum status show_run(FILE *to, struct store *store, int64_t run, const struct summary *s,
                     struct error *err)
{
    sqlite3_stmt *statement;
    bool row = false;
    int section = -1; /* 0 changed, 1 the same */
    report_run(to, s);
    print_origin(to, s);
    TRY(store_select(store, settings_sql, run, &statement, err));
    enum status status = store_step(store, statement, &row, err);
    while (status == ST_OK && row) {
        int same = sqlite3_column_int(statement, SETTING_SAME);
        if (same != section)
            fputs(same ? "\nsettings at their defaults\n"
                       : "\nsettings that differ from their defaults\n",
                  to);
        section = same;
        print_setting(to, statement);
        status = store_step(store, statement, &row, err);
    }
    sqlite3_finalize(statement);
    return status;
}

static void json_sizes(FILE *to, const struct summary *s)
{
    char wait[32], jct[32];
    const char *comma = "";
    fputs(", \"sizes\": {", to);
    for (int i = 0; i < N_SIZE_CLASSES; i++) {
        const struct size_class *class = &s->by_size[i];
        if (class->n_jobs == 0)
            continue;
        fprintf(to, "%s\"%s\": {\"jobs_completed\": %" PRId64, comma, size_class_names[i],
                class->n_jobs);
        fprintf(to, ", \"wait_mean_s\": %s, \"jct_mean_s\": %s}",
                format_real(class->wait_s_mean, wait), format_real(class->jct_s_mean, jct));
        comma = ", ";
    }
    fputs("}, \"happenings\": [", to);
    for (size_t i = 0; i < s->n_events; i++) {
        fprintf(to, "%s{\"kind\": ", i > 0 ? ", " : "");
        quote_json(to, s->event[i].kind);
        fputs(", \"text\": ", to);
        quote_json(to, s->event[i].text);
        fprintf(to, ", \"n\": %" PRId64 "}", s->event[i].n);
    }
    fputc(']', to);
}

enum status show_json(FILE *to, struct store *store, int64_t run, const struct summary *s,
                      struct error *err)
{
    sqlite3_stmt *statement;
    bool row = false;
    const char *comma = "";
    TRY(store_select(store, settings_sql, run, &statement, err));
    fputc('{', to);
    report_json_fields(to, s);
    json_sizes(to, s);
    fputs(", \"settings\": {", to);
    enum status status = store_step(store, statement, &row, err);
    while (status == ST_OK && row) {
        fputs(comma, to);
        quote_json(to, text_of(statement, SETTING_KEY));
        fputs(": ", to);
        quote_json(to, text_of(statement, SETTING_VALUE));
        comma = ", ";
        status = store_step(store, statement, &row, err);
    }
    fputs("}}\n", to);
    sqlite3_finalize(statement);
    return status;
}
