/* Which runs a figure is about: names, lists of them, labels with commas. */
#include "sim/results/chosen.h"

#include "tests/leak.h"
#include "tests/made_run.h"
#include "tests/temp.h"

TestSuite(chosen, .fini = abort_on_leak);

/* A database of runs with these labels; ids count from 1. */
static struct store labelled(struct temp_file *file, const char *const *label, int n,
                             bool interrupted)
{
    struct store s;
    struct made_run m;
    struct error err = {""};
    char name[128];
    *file = temp_text(".db", "");
    cr_assert_eq(store_open(&s, file->path, &err), ST_OK, "%s", err.text);
    for (int i = 0; i < n; i++) {
        made_run(&m);
        m.request.run.label = label[i];
        m.result.log.interrupted = interrupted;
        cr_assert_eq(store_run(&s, &m.request, &m.result, name, &err), ST_OK, "%s", err.text);
        made_run_free(&m);
    }
    return s;
}

static const char *const labels[] = {"a", "b", "a,b"};
static const struct {
    const char *word[3];
    size_t n;
    const char *json; /* NULL: ST_USAGE */
} rows[] = {
    {{NULL}, 0, "[1,2,3]"}, {{"b"}, 1, "[2]"},          {{"b", "a"}, 2, "[2,1]"},
    {{"a,b"}, 1, "[3]"}, /* the label itself */
    {{"b,a"}, 1, "[2,1]"},  {{"a", "b,a"}, 2, "[1,2]"}, {{"last"}, 1, "[3]"},
    {{"b,c"}, 1, NULL},     {{"c"}, 1, NULL},
};

Test(chosen, names_lists_and_labels_with_commas)
{
    struct temp_file file;
    struct store s = labelled(&file, labels, 3, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct chosen c;
        struct error err = {""};
        enum status status = chosen_find(&c, &s, rows[i].word, rows[i].n, &err);
        if (rows[i].json == NULL)
            cr_expect(status == ST_USAGE && strstr(err.text, "\"c\"") != NULL, "%s", err.text);
        else
            cr_expect(status == ST_OK && strcmp(c.json, rows[i].json) == 0, "row %zu: %s", i,
                      c.json);
        chosen_free(&c);
    }
    store_close(&s);
    temp_remove(&file);
}

Test(chosen, all_is_all_complete_ones_and_none_is_said)
{
    struct temp_file file;
    struct store s = labelled(&file, labels, 2, true);
    struct chosen c;
    struct error err = {""};
    cr_expect_eq(chosen_find(&c, &s, NULL, 0, &err), ST_INPUT);
    cr_expect_not_null(strstr(err.text, "no complete run"), "%s", err.text);
    chosen_free(&c);
    cr_expect_eq(chosen_find(&c, &s, labels, 1, &err), ST_OK, "by name it is taken as it is");
    chosen_free(&c);
    store_close(&s);
    temp_remove(&file);
}
