#include "traces/account.h"

#include "core/base/arena.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_SHOWN = 12 };

const char *field_text(const struct field *f, char *buffer, size_t size)
{
    size_t n = f->length < size - 1 ? f->length : size - 1;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)f->text[i];
        buffer[i] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    buffer[n] = '\0';
    return buffer;
}

enum status account_file(struct import_report *r, const char *name, int32_t *file,
                         struct error *err)
{
    char **grown = realloc(r->file, ((size_t)r->n_files + 1) * sizeof *grown);
    if (grown == NULL)
        return fail_memory(err);
    r->file = grown;
    char *copy = strdup(name);
    if (copy == NULL)
        return fail_memory(err);
    *file = r->n_files;
    r->file[r->n_files++] = copy;
    return ST_OK;
}

enum status account_note(struct import_report *r, struct error *err, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return fail_memory(err);
    if (!ARRAY_GROW(r->note, r->note_capacity, r->n_notes + 1)) {
        free(text);
        return fail_memory(err);
    }
    r->note[r->n_notes++] = text;
    return ST_OK;
}

static struct import_reason *find_reason(struct import_report *r, const char *text)
{
    for (size_t i = 0; i < r->n_reasons; i++)
        if (strcmp(r->reason[i].text, text) == 0)
            return &r->reason[i];
    if (!ARRAY_GROW(r->reason, r->reason_capacity, r->n_reasons + 1))
        return NULL;
    struct import_reason *reason = &r->reason[r->n_reasons++];
    snprintf(reason->text, sizeof reason->text, "%s", text);
    return reason;
}

enum status account_dropped(struct import_report *r, const char *text, const struct place *at,
                            struct error *err)
{
    struct import_reason *reason = find_reason(r, text);
    if (reason == NULL)
        return fail_memory(err);
    if (reason->n < REASON_LINES) {
        int64_t i = reason->n;
        reason->at[i].file = at->file;
        reason->at[i].line = at->line;
        reason->at[i].column = at->column;
        field_text(&at->value, reason->at[i].value, sizeof reason->at[i].value);
    }
    reason->n++;
    r->n_dropped++;
    return ST_OK;
}

void listing_add(struct listing *l, const char *name, size_t length)
{
    const struct field f = {name, length};
    char text[64];
    field_text(&f, text, sizeof text);
    l->n++;
    if (l->n_shown < l->n - 1 || l->used + strlen(text) + 3 > sizeof l->text)
        return;
    l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s",
                                l->n_shown > 0 ? ", " : "", text);
    l->n_shown++;
}

enum status account_listing(struct import_report *r, const char *what, const struct listing *l,
                            struct error *err)
{
    if (l->n == 0)
        return ST_OK;
    if (l->n_shown == l->n)
        return account_note(r, err, "%s: %s", what, l->text);
    return account_note(r, err, "%s: %s and %" PRId64 " more", what, l->text, l->n - l->n_shown);
}

static void print_reason(const struct import_report *r, const struct import_reason *reason,
                         FILE *to)
{
    int32_t file = -1;
    fprintf(to, "  dropped %" PRId64 ", %s:", reason->n, reason->text);
    for (int i = 0; i < REASON_LINES && i < reason->n; i++) {
        fprintf(to, "%s %s:%" PRId64, i > 0 ? "," : "",
                reason->at[i].file == file ? "" : r->file[reason->at[i].file], reason->at[i].line);
        if (reason->at[i].column > 0)
            fprintf(to, ":%" PRId32, reason->at[i].column);
        if (reason->at[i].value[0] != '\0')
            fprintf(to, " '%s'", reason->at[i].value);
        file = reason->at[i].file;
    }
    fputs(reason->n > REASON_LINES ? ", …\n" : "\n", to);
}

void import_report_print(const struct import_report *r, FILE *to)
{
    fprintf(to, "%s: %" PRId64 " rows read, %" PRId64 " kept",
            r->format[0] != '\0' ? r->format : "trace", r->n_rows, r->n_kept);
    if (r->n_jobs > 0 || r->n_kept == 0) /* tables that are not replayed have rows and no jobs */
        fprintf(to, " (%" PRId32 " jobs)", r->n_jobs);
    fprintf(to, ", %" PRId64 " dropped", r->n_dropped);
    if (r->n_duplicates > 0)
        fprintf(to, ", %" PRId64 " repeated", r->n_duplicates);
    if (r->n_apart > 0)
        fprintf(to, ", %" PRId64 " CPU jobs kept apart", r->n_apart);
    fputc('\n', to);
    for (size_t i = 0; i < r->n_reasons; i++)
        print_reason(r, &r->reason[i], to);
    for (size_t i = 0; i < r->n_notes && i < NOTES_SHOWN; i++)
        fprintf(to, "  note: %s\n", r->note[i]);
    if (r->n_notes > NOTES_SHOWN)
        fprintf(to, "  and %zu more notes\n", r->n_notes - NOTES_SHOWN);
}

static bool copy_texts(char **const from, size_t n, char ***to)
{
    *to = calloc(n + 1, sizeof **to);
    for (size_t i = 0; *to != NULL && i < n; i++)
        if (((*to)[i] = strdup(from[i])) == NULL)
            return false;
    return *to != NULL;
}

enum status account_copy(const struct import_report *from, struct import_report *to,
                         struct error *err)
{
    size_t n = from->n_reasons;
    *to = *from;
    to->file = to->note = NULL;
    to->reason = malloc((n + 1) * sizeof *to->reason);
    to->reason_capacity = n + 1;
    to->note_capacity = from->n_notes + 1;
    bool ok = copy_texts(from->file, (size_t)from->n_files, &to->file) &&
              copy_texts(from->note, from->n_notes, &to->note) && to->reason != NULL;
    if (ok && n > 0)
        memcpy(to->reason, from->reason, n * sizeof *to->reason);
    if (to->file == NULL)
        to->n_files = 0;
    if (to->note == NULL)
        to->n_notes = 0;
    return ok ? ST_OK : fail_memory(err);
}

void account_free(struct import_report *r)
{
    for (int i = 0; i < r->n_files; i++)
        free(r->file[i]);
    for (size_t i = 0; i < r->n_notes; i++)
        free(r->note[i]);
    free(r->file);
    free(r->note);
    free(r->reason);
    *r = (struct import_report){0};
}
