/* Every run of the official PAI simulator that was kept, reproduced line by line. */
#include "tests/leak.h"
#include "tests/pai_official.h"
#include "tests/shared.h"

#include "core/base/arena.h"

#include <criterion/criterion.h>
#include <string.h>
#include <zlib.h>

TestSuite(pai_official, .fini = abort_on_leak);

enum { N_RUNS = 51, N_COLUMNS = 9, MAX_REPORTED = 5 };

/* job_id, submit_time, start, end, node, num_gpu_pct, num_cpu_pct, duration, num_inst */
struct instance {
    long long column[N_COLUMNS];
};

struct instances {
    struct instance *row;
    size_t n, capacity;
};

static void add_instance(struct instances *all, const struct instance *one)
{
    cr_assert(ARRAY_GROW(all->row, all->capacity, all->n + 1));
    all->row[all->n++] = *one;
}

static int compare_instances(const void *a_, const void *b_)
{
    static const int columns[] = {0, 4, 2, 3}; /* id, node, start, end */
    const struct instance *a = a_, *b = b_;

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (a->column[columns[i]] != b->column[columns[i]])
            return a->column[columns[i]] < b->column[columns[i]] ? -1 : 1;
    return 0;
}

static void read_expected(const char *path, struct instances *all)
{
    char line[256];
    gzFile file = gzopen(path, "rb");

    cr_assert_not_null(file, "%s", path);
    cr_assert_not_null(gzgets(file, line, sizeof line), "%s has no header", path);
    while (gzgets(file, line, sizeof line) != NULL) {
        struct instance one;
        char *at = line;
        for (int i = 0; i < N_COLUMNS; i++) {
            one.column[i] = strtoll(at, &at, 10);
            cr_assert(*at == (i + 1 < N_COLUMNS ? ',' : '\n'), "%s: %s", path, line);
            at++;
        }
        add_instance(all, &one);
    }
    cr_assert_eq(gzclose(file), Z_OK, "%s is cut short", path);
}

/* Times of pai-sim are whole seconds; one that is not would differ in the quotient or be found by
 * its own rest, so it is reported as -1. */
static long long whole_s(int64_t us) { return us % US_PER_S == 0 ? us / US_PER_S : -1; }

static void collect_instances(const struct job_table *t, const struct run_log *log,
                              const struct cluster *c, struct instances *all)
{
    for (size_t i = 0; i < log->n_spans; i++) {
        const struct span *span = &log->span[i];
        int32_t task = span->task, job = t->task_job[task];
        struct instance one = {
            {strtoll(names_text(&t->job_names, job), NULL, 10), whole_s(t->submit_us[job]),
             whole_s(span->start_us), whole_s(span->end_us),
             strtoll(names_text(&c->names, span->node), NULL, 10), t->gpu_milli[task] / 10,
             t->cpu_milli[task] / 10, whole_s(t->duration_us[task]), t->n_inst[task]}};
        for (int32_t k = 0; k < span->n_inst; k++)
            add_instance(all, &one);
    }
}

static void compare_all(const char *tag, struct instances *got, struct instances *want)
{
    int reported = 0;

    cr_expect_eq(got->n, want->n, "%s: %zu instances ended, not %zu", tag, got->n, want->n);
    qsort(got->row, got->n, sizeof *got->row, compare_instances);
    qsort(want->row, want->n, sizeof *want->row, compare_instances);
    for (size_t i = 0; i < got->n && i < want->n && reported < MAX_REPORTED; i++) {
        const long long *g = got->row[i].column, *w = want->row[i].column;
        bool same = memcmp(g, w, sizeof got->row[i].column) == 0;
        cr_expect(same,
                  "%s: job %lld: submit %lld start %lld end %lld node %lld, expected job %lld: "
                  "submit %lld start %lld end %lld node %lld",
                  tag, g[0], g[1], g[2], g[3], g[4], w[0], w[1], w[2], w[3], w[4]);
        reported += !same;
    }
}

static void compare_numbers(const struct pai_official *run, const struct run_result *r)
{
    cr_assert_eq(r->n_extra, 4);
    for (int i = 0; i < 4; i++) {
        char text[32];
        cr_expect_str_eq(r->extra_name[i], pai_official_metrics[i]);
        snprintf(text, sizeof text, pai_official_formats[i], r->extra[i]);
        cr_expect_str_eq(text, run->printed[i], "%s: %s is %s, expected %s", run->tag,
                         r->extra_name[i], text, run->printed[i]);
    }
}

/* The input as listed, plain or compressed. */
static void find_input(const struct pai_official *run, char path[SHARED_PATH_MAX])
{
    char file[128];

    snprintf(file, sizeof file, "data/pai/%s", run->input);
    if (shared_path(path, file))
        return;
    snprintf(file, sizeof file, "data/pai/%s.gz", run->input);
    cr_assert(shared_path(path, file), "no input %s", path);
}

static void check_run(const struct pai_official *run)
{
    char file[128], path[SHARED_PATH_MAX];
    struct run_request request;
    const struct run_watch watch = {0};
    struct run_result result;
    struct instances got = {0}, want = {0};
    struct error err;

    find_input(run, path);
    cr_assert_eq(pai_official_request(run, path, &request, &err), ST_OK, "%s", err.text);
    cr_assert_eq(run_execute(&request, &watch, &result, &err), ST_OK, "%s: %s", run->tag, err.text);
    snprintf(file, sizeof file, "data/pai/expected/%s.csv.gz", run->tag);
    cr_assert(shared_path(path, file), "no expected run %s", path);
    read_expected(path, &want);
    collect_instances(&result.trace.jobs, &result.log, &result.cluster, &got);
    compare_all(run->tag, &got, &want);
    compare_numbers(run, &result);
    free(got.row);
    free(want.row);
    run_result_free(&result);
    run_request_free(&request);
}

Test(pai_official, start_end_and_node_of_every_instance_and_the_printed_means_are_the_official_ones)
{
    char path[SHARED_PATH_MAX], line[512];
    int n_runs = 0;

    if (!shared_path(path, "data/pai/expected/summary.csv"))
        cr_skip_test("no reference data: set COLOSIM_SHARED to its folder");
    FILE *summary = fopen(path, "r");
    cr_assert_not_null(summary, "%s", path);
    cr_assert_not_null(fgets(line, sizeof line, summary), "%s has no header", path);
    while (fgets(line, sizeof line, summary) != NULL) {
        struct pai_official run;
        cr_assert(pai_official_parse(line, &run), "%s: %s", path, line);
        check_run(&run);
        n_runs++;
    }
    fclose(summary);
    cr_expect_eq(n_runs, N_RUNS, "%d runs are listed", n_runs);
}
