/* The preloaded library against a stub of the driver (tests/stubs), read by calib/measure/ring.
 * What is expected is what tests/cuda_user.c is told to do. */
#include "calib/measure/ring.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(intercept, .fini = abort_on_leak);

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/colosim-ring-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_expect(eq(int, system(command), 0));
}

/* Runs it with our library preloaded; what it printed. */
static void run(const char *env, const char *command, char *said, size_t size)
{
    char line[2048];
    snprintf(line, sizeof line, "%s LD_LIBRARY_PATH=%s LD_PRELOAD=%s %s", env, STUBS, INTERCEPT,
             command);
    FILE *pipe = popen(line, "r");
    cr_assert(pipe != NULL);
    size_t n = fread(said, 1, size - 1, pipe);
    said[n] = '\0';
    int status = pclose(pipe);
    cr_assert(eq(int, status, 0), "%s", line);
}

static struct ring_sums count(const char *more_env, const char *arguments)
{
    char env[256], command[512], said[256];
    struct ring_reader reader = {0};
    struct ring_sums sums;
    snprintf(env, sizeof env, "%s=%s %s", RING_FOLDER, folder, more_env);
    snprintf(command, sizeof command, "%s %s", CUDA_USER, arguments);
    run(env, command, said, sizeof said);
    cr_assert(ring_reader_take(&reader, folder, &sums));
    ring_reader_free(&reader);
    return sums;
}

Test(intercept, launches_allocations_and_frees_are_counted_exactly_across_threads,
     .init = make_folder, .fini = remove_folder)
{
    struct ring_sums s = count("", "8 10000 0");
    cr_expect(eq(i32, s.n_processes, 1));
    cr_expect(eq(u64, s.count[RING_LAUNCHES], 80000));
    cr_expect(eq(u64, s.count[RING_ALLOCS], 24));
    cr_expect(eq(u64, s.count[RING_ALLOC_BYTES], 24 << 20));
    cr_expect(eq(u64, s.count[RING_FREES], 16));
    cr_expect(eq(u64, s.count[RING_USED_BYTES], 8 << 20));
    cr_expect(eq(u64, s.n_lost, 0));
    /* Between successive launches of the process, less those that stand in the ring out of order.
     */
    cr_expect(le(u64, s.n_gaps, 79999));
    cr_expect(ge(u64, s.n_gaps, 72000));
}

Test(intercept, a_forked_child_counts_for_itself, .init = make_folder, .fini = remove_folder)
{
    struct ring_sums s = count("", "3 1000 4");
    cr_expect(eq(i32, s.n_processes, 5));
    cr_expect(eq(u64, s.count[RING_LAUNCHES], 5 * 3 * 1000));
    cr_expect(eq(u64, s.count[RING_ALLOCS], 5 * 9));
    cr_expect(eq(u64, s.count[RING_FREES], 5 * 6));
}

Test(intercept, graphs_and_nccl_are_counted_and_failures_are_not, .init = make_folder,
     .fini = remove_folder)
{
    struct ring_sums s = count("", "1 100 0 more");
    cr_expect(eq(u64, s.count[RING_GRAPHS], 5));
    cr_expect(eq(u64, s.count[RING_LAUNCHES], 100 + 64));
    cr_expect(eq(u64, s.count[RING_ALLOCS], 3));
    cr_expect(eq(u64, s.count[RING_NCCL], 4));
    cr_expect(eq(u64, s.count[RING_NCCL_ITEMS], 400));
}

Test(intercept, one_kernel_of_so_many_is_timed, .init = make_folder, .fini = remove_folder)
{
    /* Launches 0, 10, .. 990, each harvested at the next: 99 of 250 us. */
    struct ring_sums s = count(RING_EVERY "=10", "1 1000 0");
    cr_expect(eq(u64, s.count[RING_TIMED], 99));
    cr_expect(eq(u64, s.count[RING_TIMED_NS], 99 * 250000));
}

Test(intercept, events_go_into_the_kernels_own_stream, .init = make_folder, .fini = remove_folder)
{
    /* Launches 0, 3, .. 999: each way of reaching the driver in turn, the last of them the one
     * whose default stream is the thread's. */
    struct ring_sums s = count(RING_EVERY "=3", "1 1000 0");
    cr_expect(eq(u64, s.count[RING_TIMED], 333));
    cr_expect(eq(u64, s.count[RING_TIMED_NS], 333 * 250000));
}

Test(intercept, a_stream_that_is_captured_gets_no_events, .init = make_folder,
     .fini = remove_folder)
{
    /* The 4 before it are timed (3 harvested, the last at the first of more's failing launches, or
     * not at all); none of the 64 that are captured. */
    struct ring_sums s = count(RING_EVERY "=1", "1 4 0 more");
    cr_expect(le(u64, s.count[RING_TIMED], 4));
    cr_expect(ge(u64, s.count[RING_TIMED], 3));
}

Test(intercept, timing_can_be_turned_off, .init = make_folder, .fini = remove_folder)
{
    struct ring_sums s = count(RING_EVERY "=0", "1 1000 0");
    cr_expect(eq(u64, s.count[RING_TIMED], 0));
    cr_expect(eq(u64, s.count[RING_LAUNCHES], 1000));
}

static int files_in(const char *path)
{
    int n = -2; /* . and .. */
    DIR *dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL)
        n++;
    if (dir != NULL)
        closedir(dir);
    return n;
}

Test(intercept, a_program_that_never_touches_cuda_is_not_disturbed, .init = make_folder,
     .fini = remove_folder)
{
    char env[128], said[256];
    snprintf(env, sizeof env, "%s=%s", RING_FOLDER, folder);
    run(env, SAYS_HELLO, said, sizeof said);
    cr_expect(eq(str, said, "hello\n"));
    cr_expect(eq(int, files_in(folder), 0));
}

Test(intercept, somebody_elses_rtld_next_still_counts_from_its_caller, .init = make_folder,
     .fini = remove_folder)
{
    char env[512], said[256];
    snprintf(env, sizeof env, "%s=%s", RING_FOLDER, folder);
    run(env, "sh -c 'LD_PRELOAD=$LD_PRELOAD:" NEXT_PUTS " exec " SAYS_HELLO "'", said, sizeof said);
    cr_expect(eq(str, said, "hello!\n"));
}

Test(intercept, without_a_folder_nothing_is_written, .init = make_folder, .fini = remove_folder)
{
    char said[256];
    run("", CUDA_USER " 2 100 1", said, sizeof said);
    cr_expect(eq(int, files_in(folder), 0));
}
