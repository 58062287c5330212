#include "sim/results/chrome.h"

#include "tests/leak.h"
#include "tests/stored_run.h"

#include <jansson.h>

TestSuite(chrome, .fini = abort_on_leak);

static json_t *exported(struct stored_run *r)
{
    struct temp_file t = temp_text(".json", "");
    struct output out;
    json_error_t problem;
    cr_assert_eq(output_open(&out, t.path, &r->err), ST_OK);
    enum status status = chrome_export(&r->store, 1, &out, &r->err);
    cr_assert_eq(output_close(&out, status, &r->err), ST_OK, "%s", r->err.text);
    json_t *root = json_load_file(t.path, 0, &problem);
    cr_assert_not_null(root, "%s", problem.text);
    temp_remove(&t);
    return root;
}

/* The title of a row, or of a process for tid -1. */
static const char *title(const json_t *root, int pid, int tid)
{
    json_t *event;
    size_t i;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const char *name = json_string_value(json_object_get(event, "name"));
        const json_t *row = json_object_get(event, "tid");
        if (json_integer_value(json_object_get(event, "pid")) == pid &&
            strcmp(name, tid < 0 ? "process_name" : "thread_name") == 0 &&
            (tid < 0 || json_integer_value(row) == tid))
            return json_string_value(json_object_get(json_object_get(event, "args"), "name"));
    }
    return "";
}

/* "node/row from+length" of every bar with this name, in order. */
static const char *bars(const json_t *root, const char *name, char text[512])
{
    json_t *event;
    size_t i, n = 0;
    text[0] = '\0';
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0 ||
            strcmp(json_string_value(json_object_get(event, "name")), name) != 0)
            continue;
        int pid = (int)json_integer_value(json_object_get(event, "pid"));
        int tid = (int)json_integer_value(json_object_get(event, "tid"));
        n += (size_t)snprintf(text + n, 512 - n, "%s%s/%s %lld+%lld", n > 0 ? "; " : "",
                              title(root, pid, -1), title(root, pid, tid),
                              (long long)json_integer_value(json_object_get(event, "ts")),
                              (long long)json_integer_value(json_object_get(event, "dur")));
    }
    return text;
}

Test(chrome, a_bar_is_drawn_on_every_card_and_sharers_get_a_row_each)
{
    struct stored_run r;
    char text[512];
    stored_run(&r, NULL);
    json_t *root = exported(&r);
    /* the earliest start is -2 s, so everything is 2 s later on screen */
    cr_assert_str_eq(bars(root, "n\\xFF", text), "node 1/GPU 0 0+5250000");
    cr_assert_str_eq(bars(root, "n\\xFE", text), "node 1/GPU 0 (2) 1000000+5000000");
    cr_assert_str_eq(bars(root, "a", text), "node 0/GPU 0 2000000+10000000");
    cr_assert_str_eq(bars(root, "b,\"2\"", text),
                     "node 0/GPU 0 12000000+10500000; node 0/GPU 1 12000000+10500000; "
                     "node 1/GPU 0 12000000+10500000; node 1/GPU 1 12000000+10500000");
    cr_assert_eq(json_integer_value(json_object_get(json_object_get(root, "otherData"), "shift_s")),
                 2);
    json_decref(root);
    stored_run_free(&r);
}

static void no_cards(struct made_run *m)
{
    for (size_t i = 0; i < m->result.log.n_spans; i++) {
        m->result.log.span[i].first_gpu = -1;
        m->result.log.span[i].n_gpus = 0;
    }
}

Test(chrome, what_holds_no_card_has_rows_of_the_node)
{
    struct stored_run r;
    char text[512];
    stored_run(&r, no_cards);
    json_t *root = exported(&r);
    cr_assert_str_eq(bars(root, "n\\xFF", text), "node 1/node 0+5250000");
    cr_assert_str_eq(bars(root, "n\\xFE", text), "node 1/node (2) 1000000+5000000");
    cr_assert_str_eq(bars(root, "b,\"2\"", text),
                     "node 0/node 12000000+10500000; node 1/node 12000000+10500000");
    json_decref(root);
    stored_run_free(&r);
}

static void no_spans(struct made_run *m) { m->result.log.n_spans = 0; }

Test(chrome, a_run_without_spans_is_an_empty_picture)
{
    struct stored_run r;
    char text[512];
    stored_run(&r, no_spans);
    json_t *root = exported(&r);
    cr_assert_str_eq(bars(root, "a", text), "");
    cr_assert_str_eq(title(root, 1, -1), "node 1");
    json_decref(root);
    stored_run_free(&r);
}
