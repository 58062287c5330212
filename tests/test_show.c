#include "sim/results/show.h"

#include "tests/ask.h"
#include "tests/leak.h"
#include "tests/stored_run.h"

#include <jansson.h>

TestSuite(show, .fini = abort_on_leak);

static void change(struct made_run *m)
{
    m->request.share.max_jobs = 3;
    m->request.run.label = "x";
}

static void read_all(struct stored_run *r, struct summary *s)
{
    stored_run(r, change);
    cr_assert_eq(summary_read(s, &r->store, 1, &r->err), ST_OK);
    cr_assert_eq(summary_read_jobs(s, &r->store, 1, &r->err), ST_OK);
}

static const char *find(const char *text, const char *part)
{
    const char *at = strstr(text, part);
    cr_assert_not_null(at, "no \"%s\" in\n%s", part, text);
    return at;
}

Test(show, changed_settings_come_first_with_their_defaults)
{
    struct stored_run r;
    struct summary s;
    struct printing p;
    read_all(&r, &s);
    cr_assert_eq(show_run(printing_start(&p), &r.store, 1, &s, &r.err), ST_OK, "%s", r.err.text);
    const char *text = printing_end(&p);
    const char *changed = find(text, "\nsettings that differ from their defaults\n");
    const char *others = find(text, "\nsettings at their defaults\n");
    const char *shared = find(text, "  share.max_jobs               3 jobs  (default 1)\n");
    const char *label = find(text, "  label                        x  (default -)\n");
    const char *strict = find(text, "  strict                       false\n");
    cr_assert(changed < shared && shared < others && label < others && others < strict);
    find(text, "\ncluster      2x2:A100\n");
    find(text, "\ntrace hash   0000000000abcdef\n");
    find(text, "longest wait: 9 s (b,\"2\")\n");
    free(p.text);
    summary_free(&s);
    stored_run_free(&r);
}

Test(show, json_holds_metrics_sizes_happenings_and_settings)
{
    struct stored_run r;
    struct summary s;
    struct printing p;
    read_all(&r, &s);
    cr_assert_eq(show_json(printing_start(&p), &r.store, 1, &s, &r.err), ST_OK, "%s", r.err.text);
    json_error_t problem;
    json_t *root = json_loads(printing_end(&p), 0, &problem);
    cr_assert_not_null(root, "%s", problem.text);
    const json_t *settings = json_object_get(root, "settings");
    const json_t *half = json_object_get(json_object_get(root, "sizes"), "<1");
    const json_t *first = json_array_get(json_object_get(root, "happenings"), 0);
    cr_assert_str_eq(json_string_value(json_object_get(root, "run")), "x");
    cr_assert_str_eq(json_string_value(json_object_get(settings, "share.max_jobs")), "3");
    cr_assert_eq(json_integer_value(json_object_get(half, "jobs_completed")), 2);
    cr_assert_float_eq(json_number_value(json_object_get(half, "jct_mean_s")), 5.125, 1e-12);
    cr_assert_str_eq(json_string_value(json_object_get(first, "text")), "too wide");
    json_decref(root);
    free(p.text);
    summary_free(&s);
    stored_run_free(&r);
}
