/* bench_pai.c - the official PAI simulator's own kind of run: 20,000 of 100,000 jobs on one node of
 * 6,500 GPUs, FIFO, in one process from file to metrics; seconds and peak memory beside its own.
 *
 * usage: bench_pai [FILE]   the 100,000-row file, plain or .gz; found by COLOSIM_SHARED else */
#include "tests/pai_official.h"
#include "tests/shared.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* User CPU and peak memory of the unmodified official code on the run, measured on a shared machine
 * of two cores. */
static const double official_cpu_s = 247.61, official_rss_mb = 229;
static const char run_line[] = "syn20k_g6500_p8,SYNTHETIC_pai_est_100k.csv,8,20000,1000,1,6500,3,0,"
                               "20000,9375.7065,4591.2159,539351,";

/* Of the thread that does the work: those that OpenBLAS starts wait for theirs in a loop. */
static double cpu_s(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static bool find_input(int argc, char **argv, const struct pai_official *run,
                       char path[SHARED_PATH_MAX])
{
    char file[128];

    if (argc > 1)
        return snprintf(path, SHARED_PATH_MAX, "%s", argv[1]) < SHARED_PATH_MAX;
    snprintf(file, sizeof file, "data/pai/%s", run->input);
    if (shared_path(path, file))
        return true;
    snprintf(file, sizeof file, "data/pai/%s.gz", run->input);
    return shared_path(path, file);
}

static void print_numbers(const struct pai_official *run, const struct run_result *r)
{
    printf("%-16s %14s %14s\n", "", "pai-sim", "official");
    for (int i = 0; i < r->n_extra; i++) {
        char text[32];
        snprintf(text, sizeof text, pai_official_formats[i], r->extra[i]);
        printf("%-16s %14s %14s\n", r->extra_name[i], text, run->printed[i]);
    }
}

static void note_read(void *context, const struct import_report *report)
{
    (void)report;
    getrusage(RUSAGE_THREAD, context);
}

int main(int argc, char **argv)
{
    char path[SHARED_PATH_MAX];
    struct pai_official run;
    struct rusage read, end;
    const struct run_watch watch = {.read = note_read, .context = &read};
    struct run_request request = {0};
    struct run_result result = {0};
    struct error err;
    enum status status = ST_OK;

    if (!pai_official_parse(run_line, &run) || !find_input(argc, argv, &run, path)) {
        fprintf(stderr, "bench_pai: no %s; name it, or set COLOSIM_SHARED\n", run.input);
        return ST_INPUT;
    }
    TRY_OUT(pai_official_request(&run, path, &request, &err));
    TRY_OUT(run_execute(&request, &watch, &result, &err));
    getrusage(RUSAGE_THREAD, &end);
    print_numbers(&run, &result);
    printf("%-16s %14.3f %14.2f   %.0f times\n", "CPU, s", cpu_s(&end), official_cpu_s,
           official_cpu_s / cpu_s(&end));
    printf("%-16s %14.3f\n", "  reading", cpu_s(&read));
    printf("%-16s %14.3f\n", "  simulating", cpu_s(&end) - cpu_s(&read));
    printf("%-16s %14.1f %14.0f\n", "peak, MB", (double)end.ru_maxrss * 1024 / 1e6,
           official_rss_mb);
out:
    if (status != ST_OK)
        fprintf(stderr, "bench_pai: %s\n", err.text);
    run_result_free(&result);
    run_request_free(&request);
    return (int)status;
}
