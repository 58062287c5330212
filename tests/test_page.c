/* The page's data: the run of made_run.h, whose numbers stand there, as JSON. */
#include "sim/results/page.h"

#include "tests/leak.h"
#include "tests/stored_run.h"

#include <jansson.h>

TestSuite(page, .fini = abort_on_leak);

static void change(struct made_run *m) { m->request.run.label = "</script><p>&"; }

/* The whole page of the one run. */
static char *page_of(struct stored_run *r)
{
    struct temp_file f = temp_text(".html", "");
    struct chosen c;
    struct output out;
    struct error err = {""};
    size_t n = 0;
    char *text = NULL;
    cr_assert_eq(chosen_find(&c, &r->store, NULL, 0, &err), ST_OK, "%s", err.text);
    cr_assert_eq(output_open(&out, f.path, &err), ST_OK);
    enum status status = page_write(&r->store, &c, &out, &err);
    cr_assert_eq(output_close(&out, status, &err), ST_OK, "%s", err.text);
    chosen_free(&c);
    FILE *file = fopen(f.path, "rb");
    cr_assert_not_null(file);
    cr_assert(getdelim(&text, &n, '\0', file) > 0);
    fclose(file);
    temp_remove(&f);
    return text;
}

static json_t *data_of(const char *page)
{
    static const char before[] = "<script type=\"application/json\" id=\"data\">";
    const char *at = strstr(page, before);
    cr_assert_not_null(at);
    at += strlen(before);
    const char *end = strstr(at, "</script>");
    cr_assert_not_null(end);
    json_error_t error;
    json_t *data = json_loadb(at, (size_t)(end - at), 0, &error);
    cr_assert_not_null(data, "%s", error.text);
    return data;
}

static json_t *first_run(json_t *data) { return json_array_get(json_object_get(data, "runs"), 0); }

static json_t *cell(json_t *run, const char *table, const char *column, size_t row)
{
    return json_array_get(json_object_get(json_object_get(run, table), column), row);
}

Test(page, holds_the_run_its_metrics_jobs_bars_and_nodes)
{
    struct stored_run r;
    stored_run(&r, NULL);
    char *page = page_of(&r);
    json_t *data = data_of(page), *run = first_run(data), *about = json_object_get(run, "about");
    json_t *metrics = json_object_get(about, "metrics");
    cr_expect_eq(json_integer_value(json_object_get(about, "seed")), 7);
    cr_expect_eq(json_number_value(json_object_get(metrics, "jct_mean_s")), 9.9375);
    cr_expect_eq(json_number_value(json_object_get(metrics, "made_up")), 0.1);
    cr_expect(json_is_null(json_object_get(metrics, "slowdown_mean")), "unknown is null");
    cr_expect_str_eq(json_string_value(cell(run, "jobs", "name", 0)), "a");
    cr_expect_str_eq(json_string_value(cell(run, "jobs", "name", 1)), "b,\"2\"");
    cr_expect_eq(json_number_value(cell(run, "spans", "start_s", 0)), -2);
    cr_expect_eq(json_number_value(cell(run, "spans", "end_s", 0)), 3.25);
    cr_expect_eq(json_array_size(json_object_get(json_object_get(run, "spans"), "job")), 5);
    cr_expect_eq(json_array_size(json_object_get(run, "nodes")), 2);
    json_decref(data);
    free(page);
    stored_run_free(&r);
}

Test(page, names_that_are_no_text_or_look_like_markup_do_not_end_the_data)
{
    struct stored_run r;
    stored_run(&r, change);
    char *page = page_of(&r);
    json_t *data = data_of(page), *run = first_run(data);
    cr_expect_str_eq(json_string_value(json_object_get(json_object_get(run, "about"), "name")),
                     "</script><p>&");
    size_t i;
    json_t *name;
    int n_bytes = 0;
    json_array_foreach(json_object_get(json_object_get(run, "jobs"), "name"), i, name) n_bytes +=
        strcmp(json_string_value(name), "n\\xff") == 0 ||
        strcmp(json_string_value(name), "n\\xfe") == 0;
    cr_expect_eq(n_bytes, 2, "bytes are shown as export shows them");
    json_decref(data);
    free(page);
    stored_run_free(&r);
}

Test(page, figures_without_points_are_left_out)
{
    struct stored_run r;
    stored_run(&r, NULL);
    char *page = page_of(&r);
    json_t *data = data_of(page), *figure;
    size_t i;
    int n_cdf = 0, n_study = 0;
    json_array_foreach(json_object_get(data, "figures"), i, figure)
    {
        const char *name = json_string_value(json_object_get(figure, "name"));
        n_cdf += strcmp(name, "jct-cdf") == 0;
        n_study += strcmp(name, "load") == 0 || strcmp(name, "pareto") == 0;
    }
    cr_expect_eq(n_cdf, 1);
    cr_expect_eq(n_study, 0, "one run is no study");
    json_decref(data);
    free(page);
    stored_run_free(&r);
}
