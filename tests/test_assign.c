/* What is given to jobs that do not say what they run. */
#include "traces/assign.h"
#include "traces/workloads.h"

#include "tests/leak.h"
#include "tests/trace_files.h"

TestSuite(assign, .fini = abort_on_leak);

#define HEAD "job,submit_s,duration_s,gpu,kind,workload,user,group,min_rate_frac\n"

static struct trace_options on(uint64_t seed)
{
    return (struct trace_options){
        .assign = true, .assign_seed = seed, .infer_frac = 0.6, .min_rate_frac = 0.5};
}

static bool is_infer_workload(const char *name)
{
    for (int i = N_TRAIN_WORKLOADS; i < N_TRAIN_WORKLOADS + N_INFER_WORKLOADS; i++)
        if (strcmp(workload_names[i], name) == 0)
            return true;
    return false;
}

static bool is_train_workload(const char *name)
{
    for (int i = 0; i < N_TRAIN_WORKLOADS; i++)
        if (strcmp(workload_names[i], name) == 0)
            return true;
    return false;
}

static const char *workload_of(const struct trace *t, const char *job)
{
    return name_of(t, t->jobs.workload[job_of(t, job)]);
}

Test(assign, what_the_trace_says_stays_and_jobs_without_gpu_get_nothing)
{
    struct trace t =
        read_text(HEAD "a,0,1,1,infer,bert,,,0.9\nb,0,1,0,,,,,\nc,0,1,1,,bert,,,\n", on(1));
    cr_assert_str_eq(workload_of(&t, "a"), "bert");
    cr_assert_str_eq(workload_of(&t, "c"), "bert");
    cr_assert_eq(t.jobs.kind[0], KIND_INFER);
    cr_assert_float_eq(t.jobs.min_rate_frac[0], 0.9, 0);
    cr_assert(t.jobs.kind[1] == KIND_UNKNOWN && t.jobs.workload[1] == -1);
    cr_assert(isnan(t.jobs.min_rate_frac[1]));
    cr_assert_neq(t.jobs.kind[2], KIND_UNKNOWN);
    cr_assert_float_eq(t.jobs.min_rate_frac[2], 0.5, 0);
    cr_assert(has_note(&t.report, "assumed: kind of 1 jobs"));
    cr_assert(has_note(&t.report, "assumed: min_rate_frac 0.5 of 1 jobs"));
    cr_assert_not(has_note(&t.report, "assumed: workload"));
    round_trip(&t);
    trace_free(&t);
}

/* N groups of three jobs, rows in either direction, beside other jobs or not. */
static struct trace many(uint64_t seed, bool backwards, bool more, const char *column)
{
    enum { N = 300 };
    char *text = malloc(4 * N * 64 + 200), *p = text;
    p += sprintf(p, "job,submit_s,duration_s,gpu,%s\n", column);
    for (int k = 0; k < 3 * N; k++) {
        int i = backwards ? 3 * N - 1 - k : k;
        p += sprintf(p, "j%d,0,1,1,n%d\n", i, i % N);
        if (more)
            p += sprintf(p, "other%d,0,1,1,m%d\n", i, i);
    }
    struct trace t = read_text(text, on(seed));
    free(text);
    return t;
}

Test(assign, jobs_of_a_group_or_user_keep_one_kind_and_workload_in_any_order_and_company)
{
    static const char *const columns[] = {"group", "user"};
    for (int c = 0; c < 2; c++) {
        struct trace a = many(1, false, false, columns[c]), b = many(1, true, true, columns[c]);
        for (int i = 0; i < 900; i++) {
            char job[16], first[16];
            sprintf(job, "j%d", i);
            sprintf(first, "j%d", i % 300);
            cr_assert_str_eq(workload_of(&a, job), workload_of(&a, first));
            cr_assert_str_eq(workload_of(&b, job), workload_of(&a, job));
            cr_assert_eq(b.jobs.kind[job_of(&b, job)], a.jobs.kind[job_of(&a, job)]);
        }
        trace_free(&a);
        trace_free(&b);
    }
}

Test(assign, inference_runs_inference_workloads_and_training_runs_the_others)
{
    struct trace t = many(1, false, false, "group");
    for (int32_t j = 0; j < t.jobs.n_jobs; j++) {
        const char *name = name_of(&t, t.jobs.workload[j]);
        cr_assert(t.jobs.kind[j] == KIND_INFER ? is_infer_workload(name) : is_train_workload(name));
    }
    trace_free(&t);
}

/* 2,000 groups: the share of inference and the count of each workload lie within four standard
 * deviations of a binomial law; another seed gives another mapping. */
Test(assign, shares_are_as_set_and_workloads_uniform_and_seeds_differ)
{
    enum { N = 2000 };
    char *text = malloc(N * 40 + 100), *p = text;
    p += sprintf(p, "job,submit_s,duration_s,gpu\n");
    for (int i = 0; i < N; i++)
        p += sprintf(p, "job-%d,0,1,1\n", i);
    struct trace t = read_text(text, on(1)), other = read_text(text, on(2));
    int n_infer = 0, n_same = 0, n_of[N_TRAIN_WORKLOADS + N_INFER_WORKLOADS] = {0};
    for (int32_t j = 0; j < N; j++) {
        n_infer += t.jobs.kind[j] == KIND_INFER;
        n_same +=
            strcmp(name_of(&t, t.jobs.workload[j]), name_of(&other, other.jobs.workload[j])) == 0;
        for (int w = 0; w < N_TRAIN_WORKLOADS + N_INFER_WORKLOADS; w++)
            n_of[w] += strcmp(name_of(&t, t.jobs.workload[j]), workload_names[w]) == 0;
    }
    cr_assert_float_eq(n_infer, 0.6 * N, 4 * sqrt(N * 0.6 * 0.4), "%d", n_infer);
    for (int w = 0; w < N_TRAIN_WORKLOADS + N_INFER_WORKLOADS; w++) {
        double share = w < N_TRAIN_WORKLOADS ? 0.4 / N_TRAIN_WORKLOADS : 0.6 / N_INFER_WORKLOADS;
        cr_assert_float_eq(n_of[w], share * N, 4 * sqrt(N * share * (1 - share)), "%s: %d",
                           workload_names[w], n_of[w]);
    }
    double same = 4 * 0.15 * 0.15 + 8 * 0.05 * 0.05; /* equal by chance */
    cr_assert_float_eq(n_same, same * N, 4 * sqrt(N * same * (1 - same)), "%d", n_same);
    trace_free(&t);
    trace_free(&other);
    free(text);
}

Test(assign, a_group_with_a_wide_job_trains)
{
    struct trace_options all_infer = on(1);
    all_infer.infer_frac = 1;
    struct trace t = read_text(HEAD "a,0,1,1,,,,g,\nb,0,1,2,,,,g,\nc,0,1,1,,,,h,\n"
                                    "d,0,1,1,,,u,,\ne,0,1,2,,,u,,\n",
                               all_infer);
    cr_assert(t.jobs.kind[0] == KIND_TRAIN && t.jobs.kind[1] == KIND_TRAIN);
    cr_assert_str_eq(workload_of(&t, "a"), workload_of(&t, "b"));
    cr_assert_eq(t.jobs.kind[2], KIND_INFER);
    cr_assert_eq(t.jobs.kind[3], KIND_INFER, "of one user, jobs of other widths are another group");
    cr_assert_eq(t.jobs.kind[4], KIND_TRAIN);
    trace_free(&t);
}

/* A group, a user and a job of the same name have nothing to do with each other. */
Test(assign, names_of_different_things_are_different_groups)
{
    enum { N = 60 };
    char text[N * 3 * 40 + 100], *p = text;
    int n_alike[2] = {0};
    p += sprintf(p, HEAD);
    for (int i = 0; i < N; i++)
        p += sprintf(p, "n%d,0,1,1,train,,,,\ng%d,0,1,1,train,,,n%d,\nu%d,0,1,1,train,,n%d,,\n", i,
                     i, i, i, i);
    struct trace t = read_text(text, on(1));
    for (int32_t i = 0; i < N; i++)
        for (int32_t k = 0; k < 2; k++)
            n_alike[k] += t.jobs.workload[3 * i] == t.jobs.workload[3 * i + 1 + k];
    cr_assert(n_alike[0] < N / 2 && n_alike[1] < N / 2, "%d %d", n_alike[0], n_alike[1]);
    trace_free(&t);
}

Test(assign, without_it_nothing_is_given_and_formats_that_never_tell_say_so)
{
    static const struct trace_options off = {0};
    struct trace t = read_text("job,submit_s,duration_s,gpu\na,0,1,1\n", off);
    cr_assert(t.jobs.workload[0] == -1 && isnan(t.jobs.min_rate_frac[0]));
    cr_assert_not(has_note(&t.report, "trace.assign"));
    trace_free(&t);
    t = read_text("job_id,arrival_s,service_sec,gpu_count\na,0,1,1\n", off);
    cr_assert(t.jobs.workload[0] == -1 && isnan(t.jobs.min_rate_frac[0]));
    cr_assert(has_note(&t.report, "nothing says which workloads ran: trace.assign=on"));
    trace_free(&t);
}
