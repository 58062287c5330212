#include "traces/tar.h"

#include "tests/leak.h"
#include "tests/tars.h"
#include "tests/trace_files.h"

TestSuite(tar, .fini = abort_on_leak);

/* "name@skip+size;" of each regular member. */
static enum status list(const void *bytes, size_t n, char out[512], struct error *err)
{
    struct temp_file f = temp_file(".tar", bytes, n);
    struct lines l;
    struct tar_member member;
    size_t at = 0;
    bool more;
    *out = '\0';
    enum status status = lines_open(&l, f.path, "t.tar", 0, LINES_TO_END, err);
    cr_assert_eq(status, ST_OK);
    while ((status = tar_next(&l, &at, &member, &more, err)) == ST_OK && more)
        if (member.regular)
            out += sprintf(out, "%s@%zu+%zu;", member.name, member.skip, member.size);
    lines_close(&l);
    temp_remove(&f);
    return status;
}

static void two_members(struct tar_bytes *t)
{
    *t = (struct tar_bytes){0};
    tar_add(t, "", "folder/", '5', "");
    tar_add(t, "", "PaxHeader", 'x', "27 LIBARCHIVE.xattr.note=x\n");
    tar_add(t, "", "a.csv", '0', "a,b\n");
    tar_add(t, "far/away", "b.csv", '0', "");
}

Test(tar, members_are_found_where_they_lie)
{
    struct tar_bytes t;
    struct error err = {{0}};
    char out[512];
    two_members(&t);
    tar_end(&t);
    cr_assert(tar_begins(t.bytes, t.n));
    cr_assert_not(tar_begins(t.bytes, 511));
    cr_assert_eq(list(t.bytes, t.n, out, &err), ST_OK, "%s", err.text);
    /* blocks: folder 0; header 1, its text 2; a.csv 3, its text 4; b.csv 5 */
    cr_assert_str_eq(out, "a.csv@2048+4;far/away/b.csv@3072+0;");
}

Test(tar, an_archive_cut_anywhere_is_refused)
{
    struct tar_bytes t;
    char out[512];
    two_members(&t);
    for (size_t cut = 512; cut <= t.n; cut += 100) {
        struct error err = {{0}};
        cr_assert_eq(list(t.bytes, cut, out, &err), ST_INPUT, "cut at %zu", cut);
        cr_assert(strstr(err.text, "t.tar: incomplete"), "%s", err.text);
    }
}

Test(tar, a_header_with_a_wrong_sum_is_refused)
{
    struct tar_bytes t;
    struct error err = {{0}};
    char out[512];
    two_members(&t);
    tar_end(&t);
    t.bytes[3 * 512 + 1]++;
    cr_assert_eq(list(t.bytes, t.n, out, &err), ST_INPUT);
    cr_assert(strstr(err.text, "damaged") && strstr(err.text, "1536"), "%s", err.text);
}

/* GNU tar writes sizes beyond 8 GiB in binary, marked by the top bit. */
Test(tar, a_binary_size_is_read_and_the_missing_bytes_are_missed)
{
    struct tar_bytes t = {0};
    struct error err = {{0}};
    char out[512];
    tar_add(&t, "", "big.csv", '0', "");
    memset(t.bytes + 124, 0, 12);
    t.bytes[124] = (char)0x80;
    t.bytes[131] = 2; /* 2 x 2^32 */
    memset(t.bytes + 148, ' ', 8);
    unsigned sum = 0;
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)t.bytes[i];
    snprintf(t.bytes + 148, 8, "%06o", sum);
    cr_assert_eq(list(t.bytes, t.n + 1024, out, &err), ST_INPUT);
    cr_assert(strstr(err.text, "incomplete"), "%s", err.text);
}
