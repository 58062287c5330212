#include "traces/import.h"

#include "core/base/param.h"
#include "traces/account.h"

#include <string.h>

/* Sorted by name; the symbol is format_ plus the word. Adding one: its file, and one word here. */
#define FORMATS(X)                                                                                 \
    X(csv) X(genai) X(helios) X(native) X(openb) X(pai) X(pai_jobs) X(philly) X(swf) X(venus)

#define X(word) extern const struct format format_##word;
FORMATS(X)
#undef X

#define X(word) &format_##word,
static const struct format *const formats[] = {FORMATS(X) NULL};
#undef X

#define X(word) &format_##word.about,
const struct trace_format *const trace_formats[] = {FORMATS(X) NULL};
#undef X

enum { FORMATS_MAX = 32 };

static enum status find_format(const char *name, const struct format **out, struct error *err)
{
    const char *known[FORMATS_MAX];
    size_t n = 0;
    for (; formats[n] != NULL; n++) {
        known[n] = formats[n]->about.name;
        if (strcmp(known[n], name) == 0) {
            *out = formats[n];
            return ST_OK;
        }
    }
    const char *near = nearest_word(name, known, n);
    return fail(err, ST_USAGE, "format: there is no '%s'%s%s%s (colosim describe formats)", name,
                near ? "; nearest: '" : "", near ? near : "", near ? "'" : "");
}

/* The header or first row of the first file, for a message. */
static enum status refuse_guess(const struct input *in, struct error *err)
{
    struct listing row = {0};
    if (in->n_first == 0)
        return fail(err, ST_INPUT, "%s: no rows", in->name);
    for (size_t i = 0; i < in->n_first; i++)
        listing_add(&row, in->first[i].text, in->first[i].length);
    return fail(err, ST_INPUT,
                "%s: cannot tell the format from the first row (%.200s%s); name it with --format, "
                "or read any CSV with a header by --format csv "
                "--columns job=…,submit_s=…,duration_s=…,gpu=…",
                in->name, row.text, strlen(row.text) > 200 ? " …" : "");
}

/* The format that these files look like; NULL: none. */
static const struct format *guess(const struct inputs *inputs)
{
    for (size_t i = 0; formats[i] != NULL; i++)
        if (formats[i]->fits != NULL && formats[i]->fits(inputs))
            return formats[i];
    return NULL;
}

/* Files that look like nothing by themselves are further tables of the only format there is. */
static enum status settle(struct importer *im, struct error *err)
{
    const struct format *only = NULL;
    bool several = false;
    struct input *in = im->inputs.input;
    for (size_t i = 0; i < im->inputs.n; i++) {
        several = several || (only != NULL && in[i].format != NULL && in[i].format != only);
        only = in[i].format != NULL ? in[i].format : only;
    }
    for (size_t i = 0; i < im->inputs.n; i++) {
        if (in[i].format == NULL && (several || only == NULL))
            return refuse_guess(&in[i], err);
        in[i].format = several ? in[i].format : only;
    }
    return ST_OK;
}

enum status formats_pick(struct importer *im, struct error *err)
{
    const struct trace_options *o = im->options;
    const char *name = o->format != NULL ? o->format : o->columns != NULL ? "csv" : NULL;
    const struct format *named = NULL;
    if (name != NULL)
        TRY(find_format(name, &named, err));
    for (size_t i = 0, n; i < im->inputs.n; i += n) {
        struct inputs same = {.input = im->inputs.input + i};
        while (i + same.n < im->inputs.n && same.input[same.n].path_no == same.input[0].path_no)
            same.n++;
        const struct format *format = named != NULL ? named : guess(&same);
        n = same.n;
        for (size_t k = 0; k < n; k++)
            same.input[k].format = format;
    }
    return settle(im, err);
}
