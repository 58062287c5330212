#include "traces/inputs.h"

#include "tests/leak.h"
#include "tests/tars.h"
#include "tests/trace_files.h"
#include "traces/account.h"

#include <sys/stat.h>

TestSuite(inputs, .fini = abort_on_leak);

/* "base:first field;" of each. */
static void show(const struct inputs *in, char out[512])
{
    *out = '\0';
    for (size_t i = 0; i < in->n; i++)
        out += sprintf(out, "%s:%.*s;", in->input[i].base,
                       in->input[i].n_first > 0 ? (int)in->input[i].first[0].length : 0,
                       in->input[i].n_first > 0 ? in->input[i].first[0].text : "");
}

/* The status; what was found in out. */
static enum status find(const char *path, char out[512], struct import_report *report,
                        struct error *err)
{
    struct inputs in;
    *report = (struct import_report){0};
    enum status status = inputs_find(&in, &path, 1, report, err);
    show(&in, out);
    inputs_free(&in);
    return status;
}

Test(inputs, of_a_folder_come_in_byte_order_of_their_names)
{
    struct temp_folder f = temp_folder();
    struct import_report report;
    struct error err = {{0}};
    char out[512];
    folder_text(&f, "b.csv", "2,x\n");
    folder_text(&f, "B.csv", "1,x\n");
    folder_text(&f, "\xc3\xa4.csv", "4,x\n");
    folder_text(&f, "a.csv.gz", "1.5,x\n"); /* by name; it need not be compressed */
    folder_text(&f, "b-1.csv", "1.9,x\n");
    folder_text(&f, "README.md", "no table\n");
    folder_text(&f, ".hidden.csv", "0,x\n");
    cr_assert_eq(mkdir(folder_path(&f, "sub.csv"), 0777), 0);
    cr_assert_eq(symlink("nowhere", folder_path(&f, "gone.csv")), 0);
    cr_assert_eq(find(f.path, out, &report, &err), ST_OK, "%s", err.text);
    cr_assert_str_eq(out, "B.csv:1;a.csv.gz:1.5;b-1.csv:1.9;b.csv:2;\xc3\xa4.csv:4;");
    cr_assert_eq(report.n_notes, 1);
    cr_assert(has_note(&report, "README.md, gone.csv, sub.csv"), "%s", report.note[0]);
    account_free(&report);
    folder_remove(&f);
}

Test(inputs, that_are_no_tables_show_how_their_first_line_begins)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"[{\"a\": \"x,y\"}]", "[{\"a\": \"x,y\"}]"},
        {"\n  [\n1]", "["},
        {"{\"a\n\": 1}", "{\"a"},
        {"; Note: a \"quote, never closed\n1 2\n", "; Note: a \"quote, never closed"},
        {"[0123456789012345678901234567890123456789012345678901234567890]",
         "[01234567890123456789012345678901234567890123456789012345678"},
        {"\xef\xbb\xbf[1]", "[1]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct temp_file f = temp_text("", rows[i].text);
        const char *path = f.path;
        struct inputs in;
        struct import_report report = {0};
        cr_assert_eq(inputs_find(&in, &path, 1, &report, NULL), ST_OK);
        cr_assert_eq(in.input[0].n_first, 1);
        cr_assert_eq(in.input[0].first[0].length, strlen(rows[i].shown), "%s", rows[i].text);
        cr_assert_eq(memcmp(in.input[0].first[0].text, rows[i].shown, strlen(rows[i].shown)), 0);
        inputs_free(&in);
        temp_remove(&f);
    }
}

Test(inputs, of_an_archive_are_its_tables_and_nothing_is_written)
{
    struct temp_folder f = temp_folder();
    struct tar_bytes t = {0};
    struct import_report report;
    struct error err = {{0}};
    char out[512];
    tar_add(&t, "", "._a.csv", '0', "resource fork");
    tar_add(&t, "", "d/a.csv", '0', "one,1\n");
    tar_add(&t, "", "../outside.csv", '0', "out,1\n");
    tar_add(&t, "", "/root.csv", '0', "out,1\n");
    tar_add(&t, "", "d/../../up.csv", '0', "out,1\n");
    tar_add(&t, "", "notes.txt", '0', "text");
    tar_add(&t, "", "link.csv", '2', "");
    tar_add(&t, "", "b.csv", '0', "two,2");
    tar_end(&t);
    size_t n;
    unsigned char *zipped = gzip_of(t.bytes, t.n, &n);
    folder_file(&f, "t.tar.gz", zipped, n);
    folder_file(&f, "u.tar", t.bytes, t.n);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(find(folder_path(&f, i == 0 ? "t.tar.gz" : "u.tar"), out, &report, &err),
                     ST_OK, "%s", err.text);
        cr_assert_str_eq(out, "a.csv:one;b.csv:two;");
        cr_assert(
            has_note(&report, "._a.csv, ../outside.csv, /root.csv, d/../../up.csv, notes.txt"));
        account_free(&report);
    }
    cr_assert_eq(find(f.path, out, &report, &err), ST_OK);
    cr_assert_str_eq(out, "a.csv:one;b.csv:two;a.csv:one;b.csv:two;");
    account_free(&report);
    cr_assert_eq(folder_count(&f), 2);
    free(zipped);
    folder_remove(&f);
}

Test(inputs, that_are_missing_or_hold_no_table_are_refused)
{
    struct temp_folder f = temp_folder();
    struct tar_bytes t = {0};
    struct import_report report;
    struct error err = {{0}};
    char out[512];
    cr_assert_eq(find("/nonexistent", out, &report, &err), ST_INPUT);
    cr_assert(strstr(err.text, "/nonexistent"), "%s", err.text);
    cr_assert_eq(find(f.path, out, &report, &err), ST_INPUT);
    cr_assert(strstr(err.text, "no .csv"), "%s", err.text);
    tar_add(&t, "", "notes.txt", '0', "text");
    tar_end(&t);
    folder_file(&f, "t.tar", t.bytes, t.n);
    cr_assert_eq(find(folder_path(&f, "t.tar"), out, &report, &err), ST_INPUT);
    cr_assert(strstr(err.text, "without a .csv"), "%s", err.text);
    folder_remove(&f);
}

/* A pipe can be read once; its first row is seen and still there. */
Test(inputs, a_pipe_is_opened_once_and_read_whole)
{
    struct temp_folder f = temp_folder();
    const char *path = folder_path(&f, "pipe");
    struct inputs in;
    struct import_report report = {0};
    struct error err = {{0}};
    struct lines l;
    struct line line;
    cr_assert_eq(mkfifo(path, 0600), 0);
    if (fork() == 0) {
        FILE *to = fopen(path, "w");
        fputs("\n\"a\",1\nb,2\n", to);
        fclose(to);
        _exit(0);
    }
    cr_assert_eq(inputs_find(&in, &path, 1, &report, &err), ST_OK, "%s", err.text);
    cr_assert(in.n == 1 && in.input[0].n_first == 2 && *in.input[0].first[0].text == 'a');
    cr_assert_eq(input_open(&in.input[0], &l, &err), ST_OK);
    cr_assert_eq(lines_next(&l, &line, &err), ST_OK);
    cr_assert(line.length == 5 && memcmp(line.text, "\"a\",1", 5) == 0);
    cr_assert_eq(l.n, 2);
    cr_assert_eq(lines_next(&l, &line, &err), ST_OK);
    cr_assert(line.length == 3 && *line.text == 'b');
    lines_close(&l);
    inputs_free(&in);
    folder_remove(&f);
}

Test(inputs, an_archive_from_a_pipe_is_refused_with_the_way_out)
{
    struct temp_folder f = temp_folder();
    const char *path = folder_path(&f, "pipe");
    struct tar_bytes t = {0};
    struct import_report report;
    struct error err = {{0}};
    char out[512];
    tar_add(&t, "", "a.csv", '0', "one,1\n");
    tar_end(&t);
    cr_assert_eq(mkfifo(path, 0600), 0);
    if (fork() == 0) {
        FILE *to = fopen(path, "w");
        fwrite(t.bytes, 1, t.n, to);
        fclose(to);
        _exit(0);
    }
    cr_assert_eq(find(path, out, &report, &err), ST_INPUT);
    cr_assert(strstr(err.text, "unpack"), "%s", err.text);
    folder_remove(&f);
}
