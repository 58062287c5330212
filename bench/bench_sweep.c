/* bench_sweep - what a second thread, and a second rank, are worth to a sweep of 200 points.
 *
 *   bench_sweep COLOSIM [TRIES [JOBS]]      default 3 tries, the embedded trace of 24 hours
 *
 * With JOBS the points replay a synthetic trace of so many jobs, read once a sweep. Each line is
 * the best wall time of the tries, which take turns; the ratio is to one thread. Processors that
 * others use as well make it smaller: the last column, CPU over wall time, tells. */
#include "bench/tools.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static const struct way {
    const char *name, *before, *threads;
} ways[] = {{"1 thread", "", "1"},
            {"2 threads", "", "2"},
            {"2 ranks", "mpirun --oversubscribe --bind-to none -n 2 ", "1"}};
enum { N_WAYS = sizeof ways / sizeof *ways };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double children_cpu_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* Ends the program where it fails, except quietly for mpirun. */
static bool run(const char *command, bool may_fail)
{
    int code = system(command);
    if (code == 0)
        return true;
    if (!may_fail) {
        fprintf(stderr, "bench_sweep: failed: %s\n", command);
        exit(1);
    }
    return false;
}

int main(int argc, char **argv)
{
    char folder[SCRATCH_MAX], command[2048], trace[SCRATCH_MAX + 32] = "";
    double wall_s[N_WAYS], cpu_s[N_WAYS];
    bool there[N_WAYS];
    int tries = argc > 2 ? atoi(argv[2]) : 3;
    if (argc < 2 || !scratch_folder(folder, "bench_sweep")) {
        fprintf(stderr, "usage: bench_sweep COLOSIM [TRIES [JOBS]]\n");
        return 2;
    }
    if (argc > 3) {
        snprintf(trace, sizeof trace, "--trace %s/t.csv", folder);
        snprintf(command, sizeof command, "%s trace synth --set jobs=%d -o %s/t.csv --quiet",
                 argv[1], atoi(argv[3]), folder);
        run(command, false);
    }
    for (int t = 0; t < tries; t++)
        for (int w = 0; w < N_WAYS; w++) {
            snprintf(command, sizeof command,
                     "rm -f %s/s.db && %s%s sweep %s --grid policy=fifo,sjf,srtf,easy-backfill "
                     "--grid rate-scale=0.8,0.9,1,1.1,1.2 --seeds 1..10 -j %s --quiet --db %s/s.db "
                     ">%s/out 2>&1",
                     folder, ways[w].before, argv[1], trace, ways[w].threads, folder, folder);
            double begin_s = now_s(), cpu = children_cpu_s();
            there[w] = run(command, w > 1);
            double took_s = now_s() - begin_s;
            if (t == 0 || took_s < wall_s[w]) {
                wall_s[w] = took_s;
                cpu_s[w] = children_cpu_s() - cpu;
            }
        }
    printf("200 points    wall s    ratio   CPU/wall\n");
    for (int w = 0; w < N_WAYS; w++)
        if (there[w])
            printf("%-10s %9.2f %8.2f %10.2f\n", ways[w].name, wall_s[w], wall_s[0] / wall_s[w],
                   cpu_s[w] / wall_s[w]);
    snprintf(command, sizeof command, "rm -r %s", folder);
    run(command, false);
    return 0;
}
