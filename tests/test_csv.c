#include "traces/csv.h"

#include "tests/leak.h"
#include "tests/trace_files.h"

TestSuite(csv, .fini = abort_on_leak);

/* Rows as "LINE:field|field|;…", a row with a fault as "LINE:!"; the status of the end. */
static enum status show(const char *text, char out[512], struct error *err)
{
    struct temp_file f = temp_text(".csv", text);
    struct lines l;
    struct csv row = {0};
    bool more = true;
    cr_assert_eq(lines_open(&l, f.path, "t.csv", 0, LINES_TO_END, err), ST_OK);
    enum status status;
    while ((status = csv_next(&row, &l, &more, err)) == ST_OK && more) {
        out += sprintf(out, "%d:", (int)row.line);
        for (size_t i = 0; i < row.n && row.fault == NULL; i++)
            out += sprintf(out, "%.*s|", (int)row.field[i].length, row.field[i].text);
        out += sprintf(out, "%s;", row.fault != NULL ? "!" : "");
    }
    *out = '\0';
    csv_free(&row);
    lines_close(&l);
    temp_remove(&f);
    return status;
}

Test(csv, rows_are_split_as_spreadsheets_write_them)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"a", "1:a|;"},
        {"a,b\n", "1:a|b|;"},
        {",\n", "1:||;"},
        {"a,,c,\n", "1:a||c||;"},
        {"\n\na\n\nb\n", "3:a|;5:b|;"},
        {" a , b \n", "1: a | b |;"},
        {"\"a\",\"b\"\n", "1:a|b|;"},
        {"\"\",\"\"\n", "1:||;"},
        {"\"a,b\",c\n", "1:a,b|c|;"},
        {"\"say \"\"hi\"\"\",c\n", "1:say \"hi\"|c|;"},
        {"\"\"\"\"\n", "1:\"|;"},
        {"a\"b,c\n", "1:a\"b|c|;"},
        {"a\"b\",\"c\"\n", "1:a\"b\"|c|;"},
        {"\"a\nb\",c\nd,e\n", "1:a\nb|c|;3:d|e|;"},
        {"\"a\r\nb\"\r\nd\r\n", "1:a\r\nb|;3:d|;"},
        {"\"a\n\n\nb\n\",c\nd\n", "1:a\n\n\nb\n|c|;6:d|;"},
        {"\"a\"b,c\nd,e\n", "1:!;2:d|e|;"},
        {"x,\"a\" ,c\nd,e\n", "1:!;2:d|e|;"},
        {"a,\"b\"", "1:a|b|;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char shown[512];
        struct error err = {{0}};
        cr_assert_eq(show(rows[i].text, shown, &err), ST_OK, "%s: %s", rows[i].text, err.text);
        cr_assert_str_eq(shown, rows[i].shown);
    }
}

Test(csv, a_quote_that_is_never_closed_is_refused_with_its_line)
{
    static const char *const texts[] = {"a\nb,\"c\nd\ne\n", "a\n\"", "a\n\"\"\"", "a\n\"x\"\"\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char shown[512];
        struct error err = {{0}};
        cr_assert_eq(show(texts[i], shown, &err), ST_INPUT);
        cr_assert_str_eq(shown, "1:a|;");
        cr_assert(strstr(err.text, "t.csv:2"), "%s", err.text);
    }
}

Test(csv, a_long_field_beside_a_quoted_one_keeps_every_byte)
{
    char text[1100], shown[4096];
    struct error err = {{0}};
    strcpy(text, "\"q\",");
    memset(text + 4, 'x', 200);
    strcpy(text + 204, ",z\n");
    cr_assert_eq(show(text, shown, &err), ST_OK);
    cr_assert(strncmp(shown, "1:q|xx", 6) == 0 && strcmp(shown + 203, "x|z|;") == 0, "%s", shown);
}

Test(csv, a_field_beyond_the_buffer_and_over_its_edge_keeps_every_byte)
{
    enum { N = 400000 };
    char *text = malloc(N + 64);
    size_t n = (size_t)sprintf(text, "a,\"");
    for (size_t i = 0; i < N; i++)
        text[n++] = i % 1000 == 999 ? '\n' : (char)('a' + i % 26);
    strcpy(text + n, "\",z\nq\n");
    struct temp_file f = temp_text(".csv", text);
    struct lines l;
    struct csv row = {0};
    struct error err = {{0}};
    bool more;
    cr_assert_eq(lines_open(&l, f.path, "t.csv", 0, LINES_TO_END, &err), ST_OK);
    cr_assert_eq(csv_next(&row, &l, &more, &err), ST_OK);
    cr_assert(row.n == 3 && row.field[1].length == N);
    cr_assert_eq(memcmp(row.field[1].text, text + 3, N), 0);
    cr_assert_eq(csv_next(&row, &l, &more, &err), ST_OK);
    cr_assert(more && row.n == 1 && *row.field[0].text == 'q');
    cr_assert_eq(row.line, 402); /* 400 line breaks inside the field */
    csv_free(&row);
    lines_close(&l);
    temp_remove(&f);
    free(text);
}

/* Rows between blanks, as "LINE:field|field|;…". */
Test(csv, between_blanks_quotes_are_bytes_and_comments_are_no_rows)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"1 2", "1:1|2|;"},      {"  1\t 2  \n", "1:1|2|;"},
        {"; a,b\n1\n", "2:1|;"}, {" ;a\n \t\n\n1,2 \"x\n", "4:1,2|\"x|;"},
        {";only\n", ""},         {"1 ;2\r\n3\r\n", "1:1|;2|;2:3|;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct temp_file f = temp_text(".swf", rows[i].text);
        struct lines l;
        struct csv row = {.blanks = true};
        bool more;
        char shown[256] = "", *out = shown;
        cr_assert_eq(lines_open(&l, f.path, "t.swf", 0, LINES_TO_END, NULL), ST_OK);
        while (csv_next(&row, &l, &more, NULL) == ST_OK && more) {
            out += sprintf(out, "%d:", (int)row.line);
            for (size_t k = 0; k < row.n; k++)
                out += sprintf(out, "%.*s|", (int)row.field[k].length, row.field[k].text);
            out += sprintf(out, ";");
        }
        cr_assert_str_eq(shown, rows[i].shown);
        csv_free(&row);
        lines_close(&l);
        temp_remove(&f);
    }
}
