#include "calib/cuda/recorder.h"

#include "calib/measure/ring.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CALL __attribute__((noinline))
enum { CU_CAPTURE_RELAXED = 2 };
typedef int cu_result;
typedef void *cu_handle;

/* ---- the ring ---- */

static struct ring *_Atomic mapped; /* NULL: not opened yet */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static struct ring *const no_ring = (struct ring *)(void *)&opening; /* there is none to be had */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* Sizes of what is allocated, by pointer or handle. */
enum { SIZES = 1 << 16 };
static struct {
    uint64_t key, bytes; /* key 0: free; 1: was used */
} sizes[SIZES];
static pthread_mutex_t sizes_lock = PTHREAD_MUTEX_INITIALIZER;

/* Kernels with an event before and behind, still on their way. */
enum { TIMED_MAX = 8 };
static struct timed {
    cu_handle context, begin, end; /* NULL: not made yet */
    int pending;
} timed[TIMED_MAX];
static pthread_mutex_t timed_lock = PTHREAD_MUTEX_INITIALIZER;

static void after_fork(void)
{
    struct ring *before = mapped;
    mapped = NULL;
    if (before != NULL && before != no_ring)
        munmap(before, sizeof *before);
    memset(timed, 0, sizeof timed);
    pthread_mutex_init(&opening, NULL);
    pthread_mutex_init(&sizes_lock, NULL);
    pthread_mutex_init(&timed_lock, NULL);
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, after_fork); }

static struct ring *open_ring(void)
{
    char path[600];
    const char *folder = getenv(RING_FOLDER);
    if (folder == NULL || folder[0] == '\0')
        return no_ring;
    int n = snprintf(path, sizeof path, "%s/%ld.ring", folder, (long)getpid());
    int fd = n < (int)sizeof path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (fd < 0)
        return no_ring;
    void *memory = MAP_FAILED;
    if (ftruncate(fd, sizeof(struct ring)) == 0)
        memory = mmap(NULL, sizeof(struct ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return no_ring;
    struct ring *r = memory;
    r->magic = RING_MAGIC;
    return r;
}

static CALL struct ring *first_ring(void)
{
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&opening);
    struct ring *r = mapped;
    if (r == NULL)
        mapped = r = open_ring();
    pthread_mutex_unlock(&opening);
    return r;
}

/* This process's, or NULL. */
static struct ring *ring(void)
{
    struct ring *r = mapped;
    if (r == NULL)
        r = first_ring();
    return r != no_ring ? r : NULL;
}

static void add(struct ring *r, enum ring_count what, uint64_t n)
{
    atomic_fetch_add_explicit(&r->count[what], n, memory_order_relaxed);
}

/* The turn is cleared first, so that a reader can tell a slot that changed under it. */
static void put_event(struct ring *r)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t i = atomic_fetch_add_explicit(&r->head, 1, memory_order_relaxed);
    struct ring_slot *slot = &r->slot[i % RING_SLOTS];
    atomic_store_explicit(&slot->turn, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot->ns, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->turn, i + 1, memory_order_release);
}

/* ---- memory ---- */

static void remember(uint64_t key, uint64_t bytes)
{
    pthread_mutex_lock(&sizes_lock);
    for (uint64_t k = 0, at = key * 0x9e3779b97f4a7c15u >> 48; k < SIZES; k++, at++)
        if (sizes[at % SIZES].key <= 1) {
            sizes[at % SIZES].key = key;
            sizes[at % SIZES].bytes = bytes;
            break;
        }
    pthread_mutex_unlock(&sizes_lock);
}

/* 0 where it is not known. */
static uint64_t forget(uint64_t key)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&sizes_lock);
    for (uint64_t k = 0, at = key * 0x9e3779b97f4a7c15u >> 48; k < SIZES; k++, at++) {
        if (sizes[at % SIZES].key == key) {
            bytes = sizes[at % SIZES].bytes;
            sizes[at % SIZES].key = 1;
        }
        if (sizes[at % SIZES].key == 0 || bytes != 0)
            break;
    }
    pthread_mutex_unlock(&sizes_lock);
    return bytes;
}

int recorder_allocated(int result, uint64_t key, uint64_t bytes)
{
    struct ring *r = ring();
    if (result != 0 || r == NULL)
        return result;
    add(r, RING_ALLOCS, 1);
    add(r, RING_ALLOC_BYTES, bytes);
    remember(key, bytes);
    uint64_t used = atomic_fetch_add(&r->count[RING_USED_BYTES], bytes) + bytes;
    uint64_t peak = atomic_load(&r->count[RING_PEAK_BYTES]);
    while (used > peak && !atomic_compare_exchange_weak(&r->count[RING_PEAK_BYTES], &peak, used))
        ;
    return result;
}

int recorder_freed(int result, uint64_t key)
{
    struct ring *r = ring();
    if (result != 0 || r == NULL || key == 0)
        return result;
    add(r, RING_FREES, 1);
    atomic_fetch_sub(&r->count[RING_USED_BYTES], forget(key));
    return result;
}

/* ---- kernels' lengths ---- */

/* Of the driver, from the library itself; all NULL where it is not loaded or lacks one. */
struct clockwork {
    cu_result (*context)(cu_handle *);
    cu_result (*mode)(int *);
    cu_result (*capturing)(cu_handle, int *);
    cu_result (*create)(cu_handle *, unsigned);
    cu_result (*record)(cu_handle, cu_handle);
    cu_result (*query)(cu_handle);
    cu_result (*elapsed)(float *, cu_handle, cu_handle);
};

static int load_clockwork(struct clockwork *c)
{
    static const char *const names[] = {"cuCtxGetCurrent",     "cuThreadExchangeStreamCaptureMode",
                                        "cuStreamIsCapturing", "cuEventCreate",
                                        "cuEventRecord",       "cuEventQuery",
                                        "cuEventElapsedTime"};
    void *to[] = {&c->context, &c->mode,  &c->capturing, &c->create,
                  &c->record,  &c->query, &c->elapsed};
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *symbol = library != NULL ? dlsym(library, names[i]) : NULL;
        if (symbol == NULL)
            return 0;
        memcpy(to[i], &symbol, sizeof symbol);
    }
    return 1;
}

static const struct clockwork *clockwork(void)
{
    static struct clockwork loaded;
    static int state; /* 0: not tried; under timed_lock */
    if (state == 0)
        state = load_clockwork(&loaded) ? 1 : -1;
    return state > 0 ? &loaded : NULL;
}

/* Adds what has ended; the slot is free then. */
static void harvest(const struct clockwork *c, struct ring *r, struct timed *t)
{
    float ms;
    if (!t->pending || c->query(t->end) != 0)
        return;
    t->pending = 0;
    if (c->elapsed(&ms, t->begin, t->end) == 0 && ms >= 0) {
        add(r, RING_TIMED, 1);
        add(r, RING_TIMED_NS, (uint64_t)(ms * 1e6f));
    }
}

/* A free slot of this context with its event recorded in the stream, or NULL. */
static struct timed *begin_timing(const struct clockwork *c, struct ring *r, cu_handle stream)
{
    struct timed *slot = NULL;
    cu_handle context = NULL;
    int capturing = 1;
    if (c->context(&context) != 0 || c->capturing(stream, &capturing) != 0 || capturing != 0)
        return NULL;
    for (int i = 0; i < TIMED_MAX; i++) {
        struct timed *t = &timed[i];
        if (t->context == context)
            harvest(c, r, t);
        if (slot == NULL && !t->pending && (t->context == context || t->context == NULL))
            slot = t;
    }
    if (slot == NULL)
        return NULL;
    if (slot->begin == NULL && c->create(&slot->begin, 0) != 0)
        slot->begin = NULL;
    if (slot->end == NULL && c->create(&slot->end, 0) != 0)
        slot->end = NULL;
    slot->context = context;
    return slot->begin != NULL && slot->end != NULL && c->record(slot->begin, stream) == 0 ? slot
                                                                                           : NULL;
}

static uint64_t time_every(void)
{
    static _Atomic uint64_t known; /* 1 + the number */
    if (known == 0) {
        const char *text = getenv(RING_EVERY);
        known = 1 + (text != NULL ? strtoull(text, NULL, 10) : 64);
    }
    return known - 1;
}

/* Our own calls are allowed while a stream is captured, whichever thread captures it. */
struct recorder_launch recorder_before_launch(void *stream)
{
    struct recorder_launch l = {ring(), NULL};
    int mode = CU_CAPTURE_RELAXED;
    uint64_t every = l.ring != NULL ? time_every() : 0;
    uint64_t n =
        every != 0 ? atomic_load_explicit(&l.ring->count[RING_LAUNCHES], memory_order_relaxed) : 0;
    if (every == 0 || n % every != 0 || pthread_mutex_trylock(&timed_lock) != 0)
        return l;
    const struct clockwork *c = clockwork();
    if (c != NULL && c->mode(&mode) == 0) {
        l.timed = begin_timing(c, l.ring, stream);
        c->mode(&mode);
    }
    if (l.timed == NULL)
        pthread_mutex_unlock(&timed_lock);
    return l;
}

int recorder_after_launch(struct recorder_launch l, int result, void *stream)
{
    int mode = CU_CAPTURE_RELAXED;
    if (l.timed != NULL) {
        const struct clockwork *c = clockwork();
        if (c->mode(&mode) == 0) {
            l.timed->pending = result == 0 && c->record(l.timed->end, stream) == 0;
            c->mode(&mode);
        }
        pthread_mutex_unlock(&timed_lock);
    }
    if (l.ring != NULL && result == 0) {
        add(l.ring, RING_LAUNCHES, 1);
        put_event(l.ring);
    }
    return result;
}

int recorder_graph(int result)
{
    struct ring *r = ring();
    if (r != NULL && result == 0) {
        add(r, RING_GRAPHS, 1);
        put_event(r);
    }
    return result;
}

int recorder_sent(int result, uint64_t n_items)
{
    struct ring *r = ring();
    if (r != NULL && result == 0) {
        add(r, RING_NCCL, 1);
        add(r, RING_NCCL_ITEMS, n_items);
    }
    return result;
}
