#include "traces/lines.h"

#include "tests/leak.h"
#include "tests/trace_files.h"

#include <errno.h>

TestSuite(lines, .fini = abort_on_leak);

static struct lines opened(const char *path)
{
    struct lines l;
    struct error err = {{0}};
    cr_assert_eq(lines_open(&l, path, path, 0, LINES_TO_END, &err), ST_OK, "%s", err.text);
    return l;
}

/* All lines, each followed by '|'. */
static void read_all(struct lines *l, char *out)
{
    struct error err = {{0}};
    struct line line;
    for (;;) {
        cr_assert_eq(lines_next(l, &line, &err), ST_OK, "%s", err.text);
        if (line.text == NULL)
            break;
        memcpy(out, line.text, line.length);
        out += line.length;
        *out++ = '|';
    }
    *out = '\0';
}

/* Opening or reading to the end fails, and the message holds the word. */
static void refuse(const char *path, const char *word)
{
    struct lines l = {0};
    struct error err = {{0}};
    struct line line = {"", 0};
    enum status status = lines_open(&l, path, path, 0, LINES_TO_END, &err);
    while (status == ST_OK && line.text != NULL)
        status = lines_next(&l, &line, &err);
    cr_assert_eq(status, ST_INPUT, "%s was read to its end", path);
    cr_assert(strstr(err.text, path) != NULL && strstr(err.text, word) != NULL, "%s", err.text);
    lines_close(&l);
}

Test(lines, end_in_line_feed_carriage_return_line_feed_or_with_the_file)
{
    static const struct {
        const char *text, *lines;
        int n;
    } rows[] = {
        {"", "", 0},
        {"\n", "|", 1},
        {"a", "a|", 1},
        {"a\n", "a|", 1},
        {"a\r\n", "a|", 1},
        {"a\r", "a|", 1},
        {"a\nb", "a|b|", 2},
        {"a\r\nb\r\n", "a|b|", 2},
        {"a\n\nb\n", "a||b|", 3},
        {"a\rb\n", "a\rb|", 1},
        {"a\r\r\n", "a\r|", 1},
        {"\xef\xbb\xbf"
         "a\nb\n",
         "a|b|", 2},
        {"\xef\xbb\xbf", "", 0},
        {"a\n\xef\xbb\xbf\n", "a|\xef\xbb\xbf|", 2},
        {"\xef\xbb", "\xef\xbb|", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct temp_file f = temp_text(".csv", rows[i].text);
        struct lines l = opened(f.path);
        char got[64];
        read_all(&l, got);
        cr_assert_str_eq(got, rows[i].lines);
        cr_assert_eq(l.n, rows[i].n);
        lines_close(&l);
        temp_remove(&f);
    }
}

/* Longer than the buffer, and with its end at every place around the buffer's edge. */
Test(lines, of_any_length_come_whole)
{
    static const size_t lengths[] = {70000, 262142, 262143, 262144, 262145, 700000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i];
        char *text = malloc(n + 8);
        memset(text, 'x', n);
        memcpy(text + n, "\r\nend\n", 7);
        struct temp_file f = temp_text(".csv", text);
        struct lines l = opened(f.path);
        struct line line;
        struct error err = {{0}};
        cr_assert_eq(lines_next(&l, &line, &err), ST_OK);
        cr_assert_eq(line.length, n);
        for (size_t k = 0; k < n; k++)
            cr_assert(line.text[k] == 'x');
        cr_assert_eq(lines_next(&l, &line, &err), ST_OK);
        cr_assert(line.length == 3 && memcmp(line.text, "end", 3) == 0);
        cr_assert_eq(lines_next(&l, &line, &err), ST_OK);
        cr_assert_null(line.text);
        lines_close(&l);
        temp_remove(&f);
        free(text);
    }
}

Test(lines, of_a_gzip_file_and_their_hash_are_those_of_the_plain_one)
{
    size_t n = 300000;
    char *text = malloc(n + 1), *plain = malloc(2 * n), *unzipped = malloc(2 * n);
    for (size_t i = 0; i < n; i++)
        text[i] = i % 37 == 36 ? '\n' : (char)('a' + i * i % 23);
    text[n] = '\0';
    struct temp_file f = temp_text(".csv", text), g = temp_gzip(".csv.gz", text);
    struct lines l = opened(f.path), z = opened(g.path);
    read_all(&l, plain);
    read_all(&z, unzipped);
    cr_assert_str_eq(plain, unzipped);
    cr_assert_eq(lines_hash(&l), lines_hash(&z));
    lines_close(&l);
    lines_close(&z);
    temp_remove(&f);
    temp_remove(&g);
    free(text);
    free(plain);
    free(unzipped);
}

static uint64_t hash_of(const char *text)
{
    struct temp_file f = temp_text(".csv", text);
    struct lines l = opened(f.path);
    char got[512];
    read_all(&l, got);
    uint64_t hash = lines_hash(&l);
    lines_close(&l);
    temp_remove(&f);
    return hash;
}

Test(lines, hash_differs_where_a_byte_a_length_or_an_order_differs)
{
    static const char *const texts[] = {
        "",
        "\n",
        "\n\n",
        "a",
        "a\n",
        "b\n",
        "a\nb\n",
        "b\na\n",
        "a\r\n",
        "0123456789012345678901234567890",
        "01234567890123456789012345678901",
        "012345678901234567890123456789012",
        "11234567890123456789012345678901",
        "01234567890123456789012345678901\n0123456701234567012345670123456\n",
        "0123456701234567012345670123456\n01234567890123456789012345678901\n"};
    enum { N = sizeof texts / sizeof *texts };
    uint64_t hash[N];
    for (int i = 0; i < N; i++) {
        hash[i] = hash_of(texts[i]);
        cr_assert_eq(hash[i], hash_of(texts[i]));
        for (int k = 0; k < i; k++)
            cr_assert_neq(hash[i], hash[k], "%d and %d", i, k);
    }
}

Test(lines, of_several_gzip_members_are_one_stream_and_zeros_after_them_are_padding)
{
    size_t n, m;
    unsigned char *a = gzip_of("a\nb", 3, &n), *b = gzip_of("c\nd\n", 4, &m);
    unsigned char *both = calloc(1, n + m + 512);
    memcpy(both, a, n);
    memcpy(both + n, b, m);
    for (size_t padding = 0; padding <= 512; padding += 512) {
        struct temp_file f = temp_file(".gz", both, n + m + padding);
        struct lines l = opened(f.path);
        char got[16];
        read_all(&l, got);
        cr_assert_str_eq(got, "a|bc|d|");
        lines_close(&l);
        temp_remove(&f);
    }
    free(a);
    free(b);
    free(both);
}

/* Two members, so that the cut falls in headers, data and trailers of either. */
Test(lines, of_a_gzip_file_cut_anywhere_are_refused)
{
    size_t n, m;
    unsigned char *a = gzip_of("one\ntwo\n", 8, &n), *b = gzip_of("three\n", 6, &m);
    unsigned char *both = malloc(n + m);
    memcpy(both, a, n);
    memcpy(both + n, b, m);
    for (size_t cut = 2; cut < n + m; cut++) {
        struct temp_file f = temp_file(".gz", both, cut);
        if (cut != n) /* the first member alone is a whole file */
            refuse(f.path, "incomplete");
        temp_remove(&f);
    }
    free(a);
    free(b);
    free(both);
}

Test(lines, of_a_damaged_gzip_file_are_refused)
{
    size_t n;
    unsigned char *bytes = gzip_of("one\ntwo\nthree\n", 14, &n);
    for (size_t at = n - 8; at < n; at++) { /* checksum and length */
        bytes[at] ^= 1;
        struct temp_file f = temp_file(".gz", bytes, n);
        refuse(f.path, "damaged");
        temp_remove(&f);
        bytes[at] ^= 1;
    }
    unsigned char *more = malloc(n + 2);
    memcpy(more, bytes, n);
    memcpy(more + n, "x\n", 2);
    struct temp_file f = temp_file(".gz", more, n + 2);
    refuse(f.path, "damaged: something follows");
    temp_remove(&f);
    free(bytes);
    free(more);
}

Test(lines, of_a_missing_file_and_of_a_folder_are_refused_by_name)
{
    refuse("/nonexistent/trace.csv", strerror(ENOENT));
    refuse("/", strerror(EISDIR));
}

Test(lines, can_be_given_out_again_and_joined)
{
    struct temp_file f = temp_text(".csv", "a\r\nb\nc");
    struct lines l = opened(f.path);
    struct line line;
    struct error err = {{0}};
    for (int again = 0; again < 2; again++) {
        cr_assert_eq(lines_next(&l, &line, &err), ST_OK);
        cr_assert(line.length == 1 && *line.text == 'a');
        cr_assert_eq(lines_join(&l, &line, &err), ST_OK);
        cr_assert(line.length == 4 && memcmp(line.text, "a\r\nb", 4) == 0);
        cr_assert_eq(l.n, 2);
        if (again == 0)
            lines_back(&l);
    }
    cr_assert_eq(lines_next(&l, &line, &err), ST_OK);
    cr_assert(line.length == 1 && *line.text == 'c');
    cr_assert_eq(lines_join(&l, &line, &err), ST_OK);
    cr_assert_null(line.text);
    lines_close(&l);
    temp_remove(&f);
}

Test(lines, of_a_part_are_those_between_its_first_and_its_last_byte)
{
    struct temp_file f = temp_gzip(".gz", "skipped\na\nbcd");
    struct lines l;
    struct error err = {{0}};
    char got[16];
    cr_assert_eq(lines_open(&l, f.path, "part", 8, 4, &err), ST_OK);
    read_all(&l, got);
    cr_assert_str_eq(got, "a|bc|");
    cr_assert_eq(lines_hash(&l), hash_of("a\nbc"));
    lines_close(&l);
    cr_assert_eq(lines_open(&l, f.path, "part", 8, 6, &err), ST_INPUT);
    cr_assert(strstr(err.text, "incomplete"), "%s", err.text);
    cr_assert_eq(lines_open(&l, f.path, "part", 80, 0, &err), ST_INPUT);
    temp_remove(&f);
}

Test(lines, blocks_and_skips_count_bytes)
{
    struct temp_file f = temp_text(".csv", "0123456789");
    struct lines l = opened(f.path);
    struct error err = {{0}};
    const char *block;
    size_t got;
    cr_assert_eq(lines_skip(&l, 3, &err), ST_OK);
    cr_assert_eq(lines_block(&l, 4, &block, &got, &err), ST_OK);
    cr_assert(got == 4 && memcmp(block, "3456", 4) == 0);
    cr_assert_eq(lines_block(&l, 4, &block, &got, &err), ST_OK);
    cr_assert(got == 3 && memcmp(block, "789", 3) == 0);
    cr_assert_eq(lines_skip(&l, 1, &err), ST_INPUT);
    lines_close(&l);
    temp_remove(&f);
}
