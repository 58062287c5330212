/* bench_growth - how a whole run grows with the trace: synthetic jobs at load .9 on 1,024 GPUs,
 * FIFO, from the file to the stored rows. Each size is a process of its own, so that its peak
 * memory is.
 *
 *   bench_growth [JOBS ...]        default 10000 100000 1000000 */
#include "bench/tools.h"
#include "sim/results/store.h"
#include "sim/run/cluster_file.h"
#include "traces/synth.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GPUS = 1024 };

static double cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static void write_trace(int64_t n_jobs, const char *path)
{
    struct error err = {{0}};
    struct synth_settings settings;
    struct job_table jobs = {0};
    param_defaults(&(struct param_group){"", synth_params, &settings});
    settings.jobs = n_jobs;
    settings.load = 0.9;
    must(synth_jobs(&settings, GPUS, 3, NULL, &jobs, &err), &err);
    must(trace_write(&jobs, path, &err), &err);
    jobs_free(&jobs);
}

/* In a child: reads, runs, stores, prints its line. */
static void measure(int64_t n_jobs, const char *trace, const char *db)
{
    struct error err = {{0}};
    struct run_request q = {0};
    struct run_result r = {0};
    struct store store = {0};
    char name[128];
    must(run_request_init(&q, &err), &err);
    q.run.trace = trace;
    q.run.policy = "fifo";
    q.run.cluster = "128x8:a100-40g";
    must(store_open(&store, db, &err), &err);
    must(run_execute(&q, &(struct run_watch){0}, &r, &err), &err);
    double run_s = cpu_s();
    must(store_run(&store, &q, &r, name, &err), &err);
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    double n = (double)n_jobs;
    printf("%10lld %12.3f %12.3f %12.1f %16.1f\n", (long long)n_jobs, run_s, cpu_s(),
           (double)u.ru_maxrss / 1024, cpu_s() * 1e9 / (n * log2(n)));
    fflush(stdout);
    store_close(&store);
    run_result_free(&r);
    run_request_free(&q);
}

static void in_child(void (*work)(int64_t, const char *, const char *), int64_t n, const char *a,
                     const char *b)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        work(n, a, b);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        exit(1);
}

static void write_in_child(int64_t n, const char *trace, const char *unused)
{
    (void)unused;
    write_trace(n, trace);
}

int main(int argc, char **argv)
{
    static const int64_t usual[] = {10000, 100000, 1000000};
    int n = argc > 1 ? argc - 1 : 3;
    char folder[SCRATCH_MAX], trace[SCRATCH_MAX + 32], db[SCRATCH_MAX + 32];
    gsl_set_error_handler_off();
    if (!scratch_folder(folder, "bench_growth"))
        return 1;
    printf("%10s %12s %12s %12s %16s\n", "jobs", "run, CPU s", "stored, s", "peak, MiB",
           "ns / (n log2 n)");
    fflush(stdout);
    for (int i = 0; i < n; i++) {
        int64_t jobs = argc > 1 ? atoll(argv[i + 1]) : usual[i];
        snprintf(trace, sizeof trace, "%s/%lld.csv", folder, (long long)jobs);
        snprintf(db, sizeof db, "%s/%lld.db", folder, (long long)jobs);
        in_child(write_in_child, jobs, trace, NULL);
        in_child(measure, jobs, trace, db);
        unlink(trace);
        unlink(db);
    }
    return rmdir(folder);
}
