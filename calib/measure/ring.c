#include "calib/measure/ring.h"

#include "core/base/arena.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ring_place *place_of(struct ring_reader *r, const char *name)
{
    for (int32_t i = 0; i < r->n; i++)
        if (strcmp(r->place[i].name, name) == 0)
            return &r->place[i];
    if (!ARRAY_GROW(r->place, r->capacity, r->n + 1))
        return NULL;
    struct ring_place *p = &r->place[r->n++];
    *p = (struct ring_place){.next = 0};
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

/* The events behind those read before. One that is being written ends it; the next call goes on
 * there. Launches of several threads may stand in the ring a little out of order. */
static void take_events(struct ring_place *p, struct ring *ring)
{
    uint64_t head = atomic_load(&ring->head);
    if (head > p->next + RING_SLOTS) {
        p->n_lost += head - RING_SLOTS - p->next;
        p->next = head - RING_SLOTS;
        p->last_ns = 0; /* no gap across what was lost */
    }
    while (p->next < head) {
        struct ring_slot *slot = &ring->slot[p->next % RING_SLOTS];
        uint64_t turn = atomic_load(&slot->turn), ns = atomic_load(&slot->ns);
        if (turn < p->next + 1)
            break;
        bool same = turn == p->next + 1 && atomic_load(&slot->turn) == turn;
        if (!same) {
            p->n_lost++;
            p->last_ns = 0;
        } else {
            if (p->last_ns != 0 && ns >= p->last_ns) {
                p->n_gaps++;
                p->gap_ns += ns - p->last_ns;
            }
            p->last_ns = ns;
        }
        p->next++;
    }
}

static void take_file(struct ring_reader *r, const char *path, const char *name,
                      struct ring_sums *out, bool *fine)
{
    struct stat there;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    void *memory = MAP_FAILED;
    if (fstat(fd, &there) == 0 && there.st_size == (off_t)sizeof(struct ring))
        memory = mmap(NULL, sizeof(struct ring), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return;
    struct ring *ring = memory;
    struct ring_place *p = ring->magic == RING_MAGIC ? place_of(r, name) : NULL;
    *fine = *fine && (p != NULL || ring->magic != RING_MAGIC);
    if (p != NULL) {
        take_events(p, ring);
        out->n_processes++;
        for (int i = 0; i < N_RING_COUNTS; i++)
            out->count[i] += atomic_load(&ring->count[i]);
        out->n_gaps += p->n_gaps;
        out->gap_ns += p->gap_ns;
        out->n_lost += p->n_lost;
    }
    munmap(memory, sizeof(struct ring));
}

bool ring_reader_take(struct ring_reader *r, const char *folder, struct ring_sums *out)
{
    char path[600];
    bool fine = true;
    *out = (struct ring_sums){.n_processes = 0};
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n < 6 || n > 23 || strcmp(e->d_name + n - 5, ".ring") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        take_file(r, path, e->d_name, out, &fine);
    }
    if (dir != NULL)
        closedir(dir);
    return fine;
}

void ring_reader_free(struct ring_reader *r)
{
    free(r->place);
    *r = (struct ring_reader){0};
}
