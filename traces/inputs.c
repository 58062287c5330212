#include "traces/inputs.h"

#include "core/base/arena.h"
#include "traces/account.h"
#include "traces/tar.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static bool is_table_name(const char *name)
{
    return ends_with(name, ".csv") || ends_with(name, ".csv.gz");
}

static bool is_archive_name(const char *name)
{
    return ends_with(name, ".tar") || ends_with(name, ".tar.gz") || ends_with(name, ".tgz");
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Appends a file; the row it begins with is still to be filled in. */
static enum status add(struct inputs *in, const char *path, const struct tar_member *member,
                       bool found, struct input **out, struct error *err)
{
    if (!ARRAY_GROW(in->input, in->capacity, in->n + 1))
        return fail_memory(err);
    struct input *i = &in->input[in->n];
    *i = (struct input){.size = LINES_TO_END, .found = found};
    if (member != NULL) {
        i->skip = member->skip;
        i->size = member->size;
    }
    i->path = strdup(path);
    if (asprintf(&i->name, "%s%s%s", strcmp(path, "-") == 0 ? "standard input" : path,
                 member ? ":" : "", member ? member->name : "") < 0)
        i->name = NULL;
    if (i->path == NULL || i->name == NULL) {
        free(i->path);
        free(i->name);
        return fail_memory(err);
    }
    i->base = member ? base_of(i->name + strlen(path) + 1) : base_of(i->name);
    in->n++;
    *out = i;
    return ST_OK;
}

/* Keeps the row and its text in one block. */
static bool keep_first(struct input *i, const struct csv *row)
{
    size_t bytes = 0;
    for (size_t k = 0; k < row->n; k++)
        bytes += row->field[k].length;
    i->first = malloc(row->n * sizeof *i->first + bytes + 1);
    if (i->first == NULL)
        return false;
    char *text = (char *)(i->first + row->n);
    for (size_t k = 0; k < row->n; k++) {
        memcpy(text, row->field[k].text, row->field[k].length);
        i->first[k] = (struct field){text, row->field[k].length};
        text += row->field[k].length;
    }
    i->n_first = row->n;
    return true;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* JSON and the comments of a workload file are no CSV rows: of those the beginning of the first
 * line is kept, as one field. False when this is not one of them. */
static bool first_text(const struct lines *l, struct field *out)
{
    enum { SHOWN = 60 };
    size_t from = l->next, to;
    while (from < l->end && is_blank(l->buffer[from]))
        from++;
    if (from == l->end ||
        (l->buffer[from] != '[' && l->buffer[from] != '{' && l->buffer[from] != ';'))
        return false;
    for (to = from; to < l->end && to < from + SHOWN && l->buffer[to] != '\n'; to++)
        ;
    *out = (struct field){l->buffer + from, to - from};
    return true;
}

static enum status read_first(struct input *i, struct lines *l, struct error *err)
{
    struct csv row = {0};
    struct field text;
    bool more;
    if (first_text(l, &text))
        return keep_first(i, &(struct csv){.field = &text, .n = 1}) ? ST_OK : fail_memory(err);
    enum status status = csv_next(&row, l, &more, err);
    if (status == ST_OK && more && row.fault == NULL && !keep_first(i, &row))
        status = fail_memory(err);
    lines_back(l);
    csv_free(&row);
    return status;
}

/* A name that would lead out of the folder the archive is unpacked in. */
static bool leads_outside(const char *name)
{
    return name[0] == '/' || strncmp(name, "../", 3) == 0 || strstr(name, "/../") != NULL ||
           ends_with(name, "/..");
}

/* The tables of an archive; l has been opened on it. */
static enum status add_members(struct inputs *in, const char *path, bool found, struct lines *l,
                               struct import_report *report, struct error *err)
{
    struct tar_member member;
    struct listing skipped = {0};
    size_t at = 0, n_before = in->n;
    bool more;
    for (;;) {
        struct input *i;
        TRY(tar_next(l, &at, &member, &more, err));
        if (!more)
            break;
        const char *base = base_of(member.name);
        if (!member.regular)
            continue;
        if (strncmp(base, "._", 2) == 0 || leads_outside(member.name) || !ends_with(base, ".csv"))
            listing_add(&skipped, member.name, strlen(member.name));
        else
            TRY(add(in, path, &member, true, &i, err));
    }
    if (in->n == n_before && !found)
        return fail(err, ST_INPUT, "%s: an archive without a .csv file", path);
    char what[300];
    snprintf(what, sizeof what, "%.256s: entries not read", path);
    return account_listing(report, what, &skipped, err);
}

/* The rows the members begin with. */
static enum status look_into(struct inputs *in, size_t from, struct error *err)
{
    for (size_t k = from; k < in->n; k++) {
        struct input *i = &in->input[k];
        struct lines l;
        TRY(lines_open(&l, i->path, i->name, i->skip, i->size, err));
        enum status status = read_first(i, &l, err);
        lines_close(&l);
        TRY(status);
    }
    return ST_OK;
}

static enum status add_file(struct inputs *in, const char *path, bool found, bool once,
                            struct import_report *report, struct error *err)
{
    enum status status = ST_OK;
    struct input *i;
    struct lines l = {0};
    size_t from = in->n;
    TRY(lines_open(&l, path, strcmp(path, "-") == 0 ? "standard input" : path, 0, LINES_TO_END,
                   err));
    if (!tar_begins(l.buffer, l.end)) {
        TRY_OUT(add(in, path, NULL, found, &i, err));
        TRY_OUT(read_first(i, &l, err));
        if (once) {
            i->lines = l;
            return ST_OK;
        }
    } else if (once) {
        status = fail(err, ST_INPUT,
                      "%s: an archive, and no file that can be read twice: unpack it (tar -x) and "
                      "name the table",
                      l.name);
    } else {
        TRY_OUT(add_members(in, path, found, &l, report, err));
        TRY_OUT(look_into(in, from, err));
    }
out:
    lines_close(&l);
    return status;
}

static int not_hidden(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static enum status add_entry(struct inputs *in, const char *folder, const char *name,
                             struct listing *skipped, struct import_report *report,
                             struct error *err)
{
    char *path;
    struct stat what;
    enum status status = ST_OK;
    if (asprintf(&path, "%s%s%s", folder, ends_with(folder, "/") ? "" : "/", name) < 0)
        return fail_memory(err);
    bool wanted = is_table_name(name) || is_archive_name(name);
    if (wanted && stat(path, &what) == 0 && S_ISREG(what.st_mode))
        status = add_file(in, path, true, false, report, err);
    else
        listing_add(skipped, name, strlen(name));
    free(path);
    return status;
}

static enum status add_folder(struct inputs *in, const char *folder, struct import_report *report,
                              struct error *err)
{
    struct dirent **entry;
    struct listing skipped = {0};
    enum status status = ST_OK;
    size_t n_before = in->n;
    int n = scandir(folder, &entry, not_hidden, by_bytes);
    if (n < 0)
        return errno == ENOMEM ? fail_memory(err)
                               : fail(err, ST_INPUT, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n && status == ST_OK; i++)
        status = add_entry(in, folder, entry[i]->d_name, &skipped, report, err);
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    TRY(status);
    if (in->n == n_before)
        return fail(err, ST_INPUT, "%s: no .csv or .csv.gz file in this folder", folder);
    char what[300];
    snprintf(what, sizeof what, "%.256s: not read", folder);
    return account_listing(report, what, &skipped, err);
}

enum status inputs_find(struct inputs *in, const char *const *paths, int n_paths,
                        struct import_report *report, struct error *err)
{
    *in = (struct inputs){0};
    for (int i = 0; i < n_paths; i++) {
        struct stat what;
        size_t n_before = in->n;
        bool is_stdin = strcmp(paths[i], "-") == 0;
        if (!is_stdin && stat(paths[i], &what) != 0)
            return fail(err, ST_INPUT, "%s: %s", paths[i], strerror(errno));
        if (!is_stdin && S_ISDIR(what.st_mode))
            TRY(add_folder(in, paths[i], report, err));
        else
            TRY(add_file(in, paths[i], false, is_stdin || !S_ISREG(what.st_mode), report, err));
        for (size_t k = n_before; k < in->n; k++)
            in->input[k].path_no = i;
    }
    return ST_OK;
}

enum status input_open(struct input *input, struct lines *l, struct error *err)
{
    if (input->lines.buffer == NULL)
        return lines_open(l, input->path, input->name, input->skip, input->size, err);
    *l = input->lines;
    input->lines = (struct lines){0};
    return ST_OK;
}

void inputs_free(struct inputs *in)
{
    for (size_t i = 0; i < in->n; i++) {
        lines_close(&in->input[i].lines);
        free(in->input[i].first);
        free(in->input[i].name);
        free(in->input[i].path);
    }
    free(in->input);
    *in = (struct inputs){0};
}
