#include "sim/results/claims.h"

#include "core/base/units.h"
#include "sim/results/quote.h"
#include "sim/results/report.h"

#include <math.h>
#include <string.h>

enum { LINE_WIDTH = 96 };

/* "a and b": the parts a claim needs and the files do not carry; "" for none. */
static const char *missing_parts(const struct claims *c, unsigned needs, char text[160])
{
    size_t n = 0;
    text[0] = '\0';
    for (unsigned i = 0; c->source->parts[i] != NULL; i++)
        if ((needs & ~c->parts & 1U << i) != 0 && n < 160)
            n += (size_t)snprintf(text + n, 160 - n, "%s%s", n > 0 ? " and " : "",
                                  c->source->parts[i]);
    return text;
}

struct answer {
    double value; /* NAN: absent */
    int64_t n;
    char missing[160]; /* why, "" otherwise */
};

static enum status ask(const struct claims *c, const struct claim *claim, struct answer *a,
                       struct error *err)
{
    sqlite3_stmt *statement = NULL;
    *a = (struct answer){.value = NAN};
    if (missing_parts(c, claim->needs, a->missing)[0] != '\0')
        return ST_OK;
    TRY(claims_prepare(c->db, claim->sql, &statement, err));
    enum status status = sqlite3_step(statement) == SQLITE_ROW ? ST_OK : claims_fail(c->db, err);
    if (status == ST_OK && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
        a->value = sqlite3_column_double(statement, 0);
        a->n = sqlite3_column_int64(statement, 1);
    } else if (status == ST_OK) {
        strcpy(a->missing, "a row that it speaks of");
    }
    sqlite3_finalize(statement);
    return status;
}

/* Text on lines of its own, broken at blanks. */
static void print_wrapped(FILE *to, const char *text)
{
    const int indent = 4;
    int at = LINE_WIDTH;
    for (const char *word = text; *word != '\0';) {
        int n = (int)strcspn(word, " ");
        if (at + 1 + n > LINE_WIDTH) {
            fprintf(to, "%s%*s%.*s", word == text ? "" : "\n", indent, "", n, word);
            at = indent + n;
        } else {
            fprintf(to, " %.*s", n, word);
            at += 1 + n;
        }
        word += n + (word[n] == ' ');
    }
    fputc('\n', to);
}

static void print_claim(FILE *to, const struct claim *claim, const struct answer *a)
{
    char paper[32], value[32], rows[32];
    snprintf(rows, sizeof rows, "%lld", (long long)a->n);
    fprintf(to, "%-38s %9s %10s %-2s %9s\n", claim->name, report_number(claim->paper, paper),
            isnan(a->value) ? "absent" : report_number(a->value, value), claim->unit,
            isnan(a->value) ? "-" : rows);
    print_wrapped(to, claim->definition);
    if (isnan(a->value))
        fprintf(to, "    absent: the files lack %s\n", a->missing);
}

static void json_claim(FILE *to, const struct claim *claim, const struct answer *a)
{
    char paper[32], value[32];
    fputs("{\"claim\": ", to);
    quote_json(to, claim->name);
    fprintf(to, ", \"unit\": \"%s\", \"paper\": %s, \"value\": %s, \"rows\": %lld, ", claim->unit,
            format_real(claim->paper, paper), format_real(a->value, value), (long long)a->n);
    fputs("\"definition\": ", to);
    quote_json(to, claim->definition);
    fputs(", \"missing\": ", to);
    if (a->missing[0] != '\0')
        quote_json(to, a->missing);
    else
        fputs("null", to);
    fputc('}', to);
}

/* A number of the row, NAN for NULL. */
static double column_number(sqlite3_stmt *row, int i)
{
    return sqlite3_column_type(row, i) == SQLITE_NULL ? NAN : sqlite3_column_double(row, i);
}

static void print_detail(FILE *to, sqlite3_stmt *row, bool head)
{
    char number[32];
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        const char *text = sqlite3_column_type(row, i) == SQLITE_TEXT
                               ? (const char *)sqlite3_column_text(row, i)
                               : report_number(column_number(row, i), number);
        fprintf(to, i == 0 ? "%-22s" : " %12s", head ? sqlite3_column_name(row, i) : text);
    }
    fputc('\n', to);
}

static void json_detail(FILE *to, sqlite3_stmt *row)
{
    char number[32];
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        fprintf(to, "%s\"%s\": ", i == 0 ? "{" : ", ", sqlite3_column_name(row, i));
        if (sqlite3_column_type(row, i) == SQLITE_TEXT)
            quote_json(to, (const char *)sqlite3_column_text(row, i));
        else
            fputs(format_real(column_number(row, i), number), to);
    }
    fputc('}', to);
}

static enum status print_details(const struct claims *c, bool json, FILE *to, struct error *err)
{
    sqlite3_stmt *row = NULL;
    TRY(claims_prepare(c->db, c->source->details_sql, &row, err));
    if (!json) {
        fprintf(to, "\n%s\n", c->source->details);
        print_detail(to, row, true);
    }
    int code = sqlite3_step(row);
    for (bool first = true; code == SQLITE_ROW; code = sqlite3_step(row), first = false) {
        if (json) {
            fputs(first ? "" : ", ", to);
            json_detail(to, row);
        } else {
            print_detail(to, row, false);
        }
    }
    enum status status = code == SQLITE_DONE ? ST_OK : claims_fail(c->db, err);
    sqlite3_finalize(row);
    return status;
}

enum status claims_print(const struct claims *c, bool json, FILE *to, struct error *err)
{
    const struct claim *claim = c->source->claims;
    if (json)
        fprintf(to, "{\"format\": \"%s\", \"claims\": [", c->source->format);
    else
        fprintf(to, "%-38s %9s %10s %-2s %9s\n", "what", "paper", "files", "", "rows");
    for (; claim->name != NULL; claim++) {
        struct answer a;
        TRY(ask(c, claim, &a, err));
        if (json && claim > c->source->claims)
            fputs(", ", to);
        (json ? json_claim : print_claim)(to, claim, &a);
    }
    fputs(json ? "], \"details\": [" : "", to);
    if ((c->source->details_needs & ~c->parts) == 0)
        TRY(print_details(c, json, to, err));
    fputs(json ? "]}\n" : "", to);
    return ST_OK;
}
