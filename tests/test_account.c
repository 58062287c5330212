#include "traces/account.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(account, .fini = abort_on_leak);

static struct field field_of(const char *text) { return (struct field){text, strlen(text)}; }

/* What is printed; the caller frees it. */
static char *printed(const struct import_report *r)
{
    char *text;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    import_report_print(r, to);
    fclose(to);
    return text;
}

Test(account, text_of_a_field_is_one_line_and_fits)
{
    static const char bytes[] = "a\0b\n\tc\x7f\xfe";
    char buffer[16], small[4];
    struct field f = {bytes, sizeof bytes - 1};
    cr_assert_str_eq(field_text(&f, buffer, sizeof buffer), "a?b??c?\xfe");
    cr_assert_str_eq(field_text(&f, small, sizeof small), "a?b");
}

Test(account, reasons_keep_their_first_lines_and_all_counts)
{
    struct import_report r = {.format = "native", .n_rows = 30, .n_kept = 18, .n_jobs = 17};
    int32_t a, b;
    cr_assert_eq(account_file(&r, "a.csv", &a, NULL), ST_OK);
    cr_assert_eq(account_file(&r, "b.csv", &b, NULL), ST_OK);
    cr_assert(a == 0 && b == 1 && r.n_files == 2);
    for (int i = 0; i < 10; i++) {
        struct place at = {a, 10 + i, 3, field_of("x")};
        cr_assert_eq(account_dropped(&r, "gpu is not a number", &at, NULL), ST_OK);
    }
    for (int i = 0; i < 2; i++) {
        struct place at = {i == 0 ? a : b, 99, 0, field_of("")};
        cr_assert_eq(account_dropped(&r, "8 fields, want 9", &at, NULL), ST_OK);
    }
    cr_assert(r.n_reasons == 2 && r.n_dropped == 12);
    cr_assert(r.reason[0].n == 10 && r.reason[0].at[REASON_LINES - 1].line == 17);
    cr_assert_eq(account_note(&r, NULL, "assumed %d", 5), ST_OK);
    char *text = printed(&r);
    cr_assert_str_eq(
        text, "native: 30 rows read, 18 kept (17 jobs), 12 dropped\n"
              "  dropped 10, gpu is not a number: a.csv:10:3 'x', :11:3 'x', :12:3 'x', :13:3 'x', "
              ":14:3 'x', :15:3 'x', :16:3 'x', :17:3 'x', …\n"
              "  dropped 2, 8 fields, want 9: a.csv:99, b.csv:99\n"
              "  note: assumed 5\n");
    free(text);
    account_free(&r);
    cr_assert(r.file == NULL && r.n_reasons == 0);
}

Test(account, repeats_are_shown_where_there_are_any_and_notes_up_to_a_limit)
{
    struct import_report r = {.n_rows = 3, .n_kept = 1, .n_jobs = 1, .n_duplicates = 2};
    for (int i = 0; i < 20; i++)
        cr_assert_eq(account_note(&r, NULL, "n%d", i), ST_OK);
    char *text = printed(&r);
    cr_assert(strncmp(text, "trace: 3 rows read, 1 kept (1 jobs), 0 dropped, 2 repeated\n", 59) ==
              0);
    cr_assert(strstr(text, "note: n11\n") != NULL && strstr(text, "note: n12\n") == NULL);
    cr_assert(strstr(text, "and 8 more notes\n") != NULL);
    free(text);
    account_free(&r);
}

Test(account, a_listing_shows_what_fits_and_counts_the_rest)
{
    struct import_report r = {0};
    struct listing none = {0}, few = {0}, many = {0};
    listing_add(&few, "a", 1);
    listing_add(&few, "b\n", 2);
    for (int i = 0; i < 1000; i++)
        listing_add(&many, "0123456789", 10);
    cr_assert_eq(account_listing(&r, "none", &none, NULL), ST_OK);
    cr_assert_eq(account_listing(&r, "few", &few, NULL), ST_OK);
    cr_assert_eq(account_listing(&r, "many", &many, NULL), ST_OK);
    cr_assert_eq(r.n_notes, 2);
    cr_assert_str_eq(r.note[0], "few: a, b?");
    size_t shown = 0;
    for (const char *p = r.note[1]; (p = strstr(p, "0123456789")) != NULL; p++)
        shown++;
    char tail[64];
    snprintf(tail, sizeof tail, " and %zu more", 1000 - shown);
    cr_assert(shown > 30 && strstr(r.note[1], tail) != NULL, "%s", r.note[1]);
    account_free(&r);
}
