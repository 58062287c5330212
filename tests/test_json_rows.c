#include "traces/json_rows.h"

#include "tests/leak.h"
#include "tests/trace_files.h"

TestSuite(json_rows, .fini = abort_on_leak);

/* Elements as "LINE:text;"; the status of the end. */
static enum status show(const char *text, char *out, size_t size, struct error *err)
{
    struct temp_file f = temp_text("", text);
    struct lines l;
    struct json_rows r = {0};
    bool more = true;
    size_t used = 0;
    cr_assert_eq(lines_open(&l, f.path, "log", 0, LINES_TO_END, err), ST_OK);
    enum status status;
    while ((status = json_rows_next(&r, &l, &more, err)) == ST_OK && more)
        used +=
            (size_t)snprintf(out + used, size - used, "%d:%.*s;", (int)r.line, (int)r.n, r.text);
    out[used] = '\0';
    json_rows_free(&r);
    lines_close(&l);
    temp_remove(&f);
    return status;
}

Test(json_rows, are_the_elements_of_the_array_with_their_lines)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"[]", ""},
        {" [ ] \n", ""},
        {"[1]", "1:1;"},
        {"[1,2]", "1:1;1:2;"},
        {"[\n{\"a\": 1},\n{\"a\":\n2}\n]\n", "2:{\"a\": 1};3:{\"a\":\n2}\n;"},
        {"[{\"a\":[1,{\"b\":2}]},[3,[4]]]", "1:{\"a\":[1,{\"b\":2}]};1:[3,[4]];"},
        {"[\"],[\", \"\\\"],\", \"\\\\\",1]", "1:\"],[\";1:\"\\\"],\";1:\"\\\\\";1:1;"},
        {"[null , true]", "1:null ;1:true;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char shown[512];
        struct error err = {{0}};
        cr_assert_eq(show(rows[i].text, shown, sizeof shown, &err), ST_OK, "%s: %s", rows[i].text,
                     err.text);
        cr_assert_str_eq(shown, rows[i].shown);
    }
}

Test(json_rows, an_array_that_is_none_or_is_not_closed_is_refused_with_its_line)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "log:1: no JSON array"},
        {"\n{\"a\": 1}", "log:2: no JSON array"},
        {"[", "log:1: incomplete"},
        {"[1,\n2", "log:2: incomplete"},
        {"[1,", "log:1: incomplete"},
        {"[\"a]", "log:1: incomplete"},
        {"[1]\nx", "log:2: something follows"},
        {"[][]", "log:1: something follows"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char shown[512];
        struct error err = {{0}};
        cr_assert_eq(show(rows[i].text, shown, sizeof shown, &err), ST_INPUT, "%s", rows[i].text);
        cr_assert_not_null(strstr(err.text, rows[i].says), "%s: %s", rows[i].text, err.text);
    }
}

/* Blocks end anywhere: inside strings, behind a backslash, between elements. */
Test(json_rows, do_not_depend_on_where_a_block_ends)
{
    enum { N = 40000 };
    char *text = malloc(N * 20), *p = text;
    p += sprintf(p, "[");
    for (int i = 0; i < N; i++)
        p += sprintf(p, "%s{\"%d\\\"\": \"]\"}", i > 0 ? ",\n" : "", i);
    p += sprintf(p, "]");
    struct temp_file f = temp_file("", text, (size_t)(p - text));
    struct lines l;
    struct json_rows r = {0};
    bool more;
    cr_assert_eq(lines_open(&l, f.path, "log", 0, LINES_TO_END, NULL), ST_OK);
    for (int i = 0; i < N; i++) {
        char want[32];
        int n = sprintf(want, "{\"%d\\\"\": \"]\"}", i);
        cr_assert_eq(json_rows_next(&r, &l, &more, NULL), ST_OK);
        cr_assert(more && r.n == (size_t)n && memcmp(r.text, want, r.n) == 0, "element %d", i);
        cr_assert_eq(r.line, i + 1);
    }
    cr_assert_eq(json_rows_next(&r, &l, &more, NULL), ST_OK);
    cr_assert_not(more);
    json_rows_free(&r);
    lines_close(&l);
    temp_remove(&f);
    free(text);
}
