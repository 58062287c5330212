/* The reader of rings that a made-up process fills: gaps by hand, and what is overwritten. */
#include "calib/measure/ring.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(ring, .fini = abort_on_leak);

static char folder[64];
static struct ring *ring;

static void make_ring(void)
{
    char path[128];
    snprintf(folder, sizeof folder, "/tmp/colosim-ring-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/123.ring", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    cr_assert(fd >= 0 && ftruncate(fd, sizeof *ring) == 0);
    ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    cr_assert(ring != MAP_FAILED);
    close(fd);
    ring->magic = RING_MAGIC;
}

static void remove_ring(void)
{
    char command[128];
    munmap(ring, sizeof *ring);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_expect(eq(int, system(command), 0));
}

static void event(uint64_t ns)
{
    uint64_t i = ring->head++;
    ring->slot[i % RING_SLOTS].ns = ns;
    ring->slot[i % RING_SLOTS].turn = i + 1;
}

Test(ring, gaps_go_on_where_the_reading_before_stopped, .init = make_ring, .fini = remove_ring)
{
    struct ring_reader r = {0};
    struct ring_sums s;
    event(1000), event(1500), event(3000);
    cr_assert(ring_reader_take(&r, folder, &s));
    cr_expect(eq(u64, s.n_gaps, 2));
    cr_expect(eq(u64, s.gap_ns, 2000));
    event(7000);
    cr_assert(ring_reader_take(&r, folder, &s));
    cr_expect(eq(u64, s.n_gaps, 3));
    cr_expect(eq(u64, s.gap_ns, 6000));
    cr_assert(ring_reader_take(&r, folder, &s)); /* nothing new */
    cr_expect(eq(u64, s.n_gaps, 3));
    ring_reader_free(&r);
}

Test(ring, what_was_overwritten_is_counted_and_bridged_by_no_gap, .init = make_ring,
     .fini = remove_ring)
{
    struct ring_reader r = {0};
    struct ring_sums s;
    event(1);
    cr_assert(ring_reader_take(&r, folder, &s));
    for (uint64_t i = 0; i < RING_SLOTS + 10; i++)
        event(1000 + i);
    cr_assert(ring_reader_take(&r, folder, &s));
    cr_expect(eq(u64, s.n_lost, 10));
    cr_expect(eq(u64, s.n_gaps, RING_SLOTS - 1));
    cr_expect(eq(u64, s.gap_ns, RING_SLOTS - 1));
    ring_reader_free(&r);
}

Test(ring, an_event_that_is_being_written_waits_for_the_next_reading, .init = make_ring,
     .fini = remove_ring)
{
    struct ring_reader r = {0};
    struct ring_sums s;
    event(1000);
    uint64_t i = ring->head++; /* taken, not yet filled */
    cr_assert(ring_reader_take(&r, folder, &s));
    cr_expect(eq(u64, s.n_gaps, 0));
    ring->slot[i].ns = 1250;
    ring->slot[i].turn = i + 1;
    cr_assert(ring_reader_take(&r, folder, &s));
    cr_expect(eq(u64, s.gap_ns, 250));
    cr_expect(eq(u64, s.n_lost, 0));
    ring_reader_free(&r);
}

Test(ring, other_files_and_no_folder_are_nothing, .init = make_ring, .fini = remove_ring)
{
    struct ring_reader r = {0};
    struct ring_sums s;
    char path[128];
    snprintf(path, sizeof path, "%s/9.ring", folder);
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fclose(file) == 0);
    cr_assert(ring_reader_take(&r, folder, &s));
    cr_expect(eq(i32, s.n_processes, 1));
    cr_assert(ring_reader_take(&r, "/nonexistent", &s));
    cr_expect(eq(i32, s.n_processes, 0));
    ring_reader_free(&r);
}
