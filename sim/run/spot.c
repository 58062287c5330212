#include "sim/run/spot.h"

#include "traces/json_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool find_key(struct json_read *r, const char *key)
{
    struct field f;
    if (!json_read_object(r))
        return false;
    while (json_read_member(r, &f)) {
        if (f.length == strlen(key) && memcmp(f.text, key, f.length) == 0)
            return true;
        json_read_skip(r);
    }
    return false;
}

int64_t spot_line(const struct spot_text *in, const struct spot *at)
{
    char *copy = malloc(in->length + 1);
    int64_t line = 1;
    if (copy == NULL)
        return line;
    memcpy(copy, in->text, in->length);
    struct json_read r = json_read_begin(copy, in->length), to = r;
    bool there = at->section != NULL && find_key(&r, at->section);
    to = there ? r : to;
    there = there && at->element >= 0 && json_read_array(&r);
    for (int64_t i = 0; there && (there = json_read_element(&r)) && i < at->element; i++)
        json_read_skip(&r);
    to = there ? r : to;
    there = there && at->key != NULL && find_key(&r, at->key);
    size_t n = (size_t)((there ? r : to).at - copy);
    while (n < in->length && strchr(" \t\r\n", in->text[n]) != NULL)
        n++;
    for (size_t i = 0; i < n; i++)
        line += in->text[i] == '\n';
    free(copy);
    return line;
}

enum status spot_wrong(const struct spot_text *in, const struct spot *at, enum status status,
                       struct error *err)
{
    if (status != ST_USAGE && status != ST_INPUT)
        return status;
    if (at->element >= 0)
        fail_in(err, "%s[%" PRId64 "]", at->section, at->element);
    fail_in(err, "%s:%" PRId64, in->name, spot_line(in, at));
    return ST_INPUT;
}
