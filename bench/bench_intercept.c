/* bench_intercept - what the preloaded library adds to a kernel launch.
 *
 *   bench_intercept [LAUNCHES]         default 20,000,000
 *
 * A loop of launches through the stub of the driver (tests/stubs), whose own call does nothing,
 * bare and under libcolosim-intercept.so: not measuring, counting, and counting with one launch of
 * 64 timed. Nanoseconds of CPU time a launch, one thread, the best of three. A launch of the real
 * driver takes some 2,000. */
#include "bench/tools.h"
#include "calib/measure/ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_RUNS = 3 };

int cuLaunchKernel(void *f, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void *stream, void **params, void **extra);

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* In the child: the loop itself. */
static int loop(long n)
{
    double best = 1e9;
    for (int run = 0; run < N_RUNS; run++) {
        double begin = now_s();
        for (long i = 0; i < n; i++)
            if (cuLaunchKernel((void *)1, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) != 0)
                return 1;
        double ns = (now_s() - begin) / (double)n * 1e9;
        best = ns < best ? ns : best;
    }
    printf("%6.1f ns\n", best);
    return 0;
}

static int under(const char *self, const char *launches, const char *what, const char *library,
                 const char *folder, const char *every)
{
    int status;
    printf("%-32s", what);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("BENCH_LOOP", "1", 1);
        if (library != NULL)
            setenv("LD_PRELOAD", library, 1);
        if (folder != NULL)
            setenv(RING_FOLDER, folder, 1);
        if (every != NULL)
            setenv(RING_EVERY, every, 1);
        execl(self, self, launches, (char *)NULL);
        _exit(1);
    }
    return child > 0 && waitpid(child, &status, 0) == child ? status : 1;
}

int main(int argc, char **argv)
{
    const char *launches = argc > 1 ? argv[1] : "20000000";
    char folder[SCRATCH_MAX], command[SCRATCH_MAX + 8];
    if (getenv("BENCH_LOOP") != NULL)
        return loop(atol(launches));
    if (!scratch_folder(folder, "bench_intercept"))
        return 1;
    int failed = under(argv[0], launches, "bare", NULL, NULL, NULL) ||
                 under(argv[0], launches, "preloaded, not measuring", INTERCEPT, NULL, NULL) ||
                 under(argv[0], launches, "counting", INTERCEPT, folder, "0") ||
                 under(argv[0], launches, "counting, one of 64 timed", INTERCEPT, folder, "64");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return failed != 0 || system(command) != 0;
}
