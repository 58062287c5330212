/* intercept.c - libcolosim-intercept.so, to be preloaded: counts what a program asks of the CUDA
 * driver and of NCCL, and times some of its kernels.
 *
 * Unmodified programs reach the driver in three ways: by linking it, by dlsym, and by
 * cuGetProcAddress, which the runtime library (also where it is linked statically, as in cuBLAS)
 * has from dlsym. All three end here. Calls are counted at the driver alone, so that none counts
 * twice.
 *
 * What is counted goes into a mapped file (calib/measure/ring.h): no thread, no signal, nothing at
 * exit, and nothing at all before the first call that is counted, or where RING_FOLDER is not set.
 * A forked child gets a file of its own at its first call. State lies in file-scope variables,
 * since the functions here are called by programs that know nothing of it.
 *
 * Not seen: NCCL that is linked statically (its kernels are), calls that end in cuMemAddressReserve
 * and the like, and programs that replace dlsym themselves. */
#include "calib/measure/ring.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALL   __attribute__((noinline))

/* The driver's types, as far as they are passed on. */
typedef int cu_result;
typedef void *cu_handle;
typedef unsigned long long cu_pointer;
struct cu_launch_config {
    unsigned grid[3], block[3], shared;
    cu_handle stream;
    void *attributes;
    unsigned n_attributes;
};
enum { CU_NOT_FOUND = 500, CU_CAPTURE_RELAXED = 2, CU_PER_THREAD_STREAM = 2 };

/* base name, symbol, 1: the variant of per-thread default streams */
#define ENTRIES(X)                                                                                 \
    X(cuLaunchKernel, cuLaunchKernel, 0)                                                           \
    X(cuLaunchKernel, cuLaunchKernel_ptsz, 1)                                                      \
    X(cuLaunchKernelEx, cuLaunchKernelEx, 0)                                                       \
    X(cuLaunchKernelEx, cuLaunchKernelEx_ptsz, 1)                                                  \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 0)                                     \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz, 1)                                \
    X(cuGraphLaunch, cuGraphLaunch, 0)                                                             \
    X(cuGraphLaunch, cuGraphLaunch_ptsz, 1)                                                        \
    X(cuMemAlloc, cuMemAlloc_v2, 0)                                                                \
    X(cuMemAllocPitch, cuMemAllocPitch_v2, 0)                                                      \
    X(cuMemAllocManaged, cuMemAllocManaged, 0)                                                     \
    X(cuMemAllocAsync, cuMemAllocAsync, 0)                                                         \
    X(cuMemAllocAsync, cuMemAllocAsync_ptsz, 1)                                                    \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 0)                                         \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz, 1)                                    \
    X(cuMemCreate, cuMemCreate, 0)                                                                 \
    X(cuMemFree, cuMemFree_v2, 0)                                                                  \
    X(cuMemFreeAsync, cuMemFreeAsync, 0)                                                           \
    X(cuMemFreeAsync, cuMemFreeAsync_ptsz, 1)                                                      \
    X(cuMemRelease, cuMemRelease, 0)                                                               \
    X(cuGetProcAddress, cuGetProcAddress, 0)                                                       \
    X(cuGetProcAddress, cuGetProcAddress_v2, 0)                                                    \
    X(ncclAllReduce, ncclAllReduce, 0)                                                             \
    X(ncclBroadcast, ncclBroadcast, 0)                                                             \
    X(ncclReduce, ncclReduce, 0)                                                                   \
    X(ncclAllGather, ncclAllGather, 0)                                                             \
    X(ncclReduceScatter, ncclReduceScatter, 0)                                                     \
    X(ncclSend, ncclSend, 0)                                                                       \
    X(ncclRecv, ncclRecv, 0)

#define NUMBER(base, symbol, per_thread) E_##symbol,
enum entry { ENTRIES(NUMBER) N_ENTRIES };

typedef void any_fn(void);
static const struct {
    const char *base, *symbol;
    int per_thread;
} entries[N_ENTRIES] = {
#define NAMES(base, symbol, per_thread) {#base, #symbol, per_thread},
    ENTRIES(NAMES)};

static any_fn *_Atomic real[N_ENTRIES]; /* NULL: not looked up yet */

/* glibc's dlsym, found without asking for "dlsym" by dlsym. */
static void *find(void *handle, const char *name)
{
    static void *(*_Atomic glibc)(void *, const char *);
    void *(*found)(void *, const char *) = glibc;
    for (int i = 0; found == NULL && i < 3; i++) {
        static const char *const version[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
        void *symbol = dlvsym(RTLD_NEXT, "dlsym", version[i]);
        memcpy(&found, &symbol, sizeof symbol);
    }
    glibc = found;
    return found != NULL ? found(handle, name) : NULL;
}

/* What the wrapper of an entry passes calls on to. */
static any_fn *behind(enum entry e)
{
    any_fn *fn = real[e];
    if (fn == NULL) {
        void *symbol = find(RTLD_NEXT, entries[e].symbol);
        memcpy(&fn, &symbol, sizeof symbol);
        real[e] = fn;
    }
    return fn;
}

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

static cu_result allocated(cu_result result, uint64_t key, uint64_t bytes)
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

static cu_result freed(cu_result result, uint64_t key)
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
        void *symbol = library != NULL ? find(library, names[i]) : NULL;
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

/* A launch about to happen: is it one of those that are timed? Holds timed_lock if so. Our own
 * calls are allowed while a stream is captured, whichever thread captures it. */
static struct timed *before_launch(struct ring *r, cu_handle stream)
{
    uint64_t every = time_every();
    uint64_t n = atomic_load_explicit(&r->count[RING_LAUNCHES], memory_order_relaxed);
    int mode = CU_CAPTURE_RELAXED;
    if (every == 0 || n % every != 0 || pthread_mutex_trylock(&timed_lock) != 0)
        return NULL;
    const struct clockwork *c = clockwork();
    struct timed *t = NULL;
    if (c != NULL && c->mode(&mode) == 0) {
        t = begin_timing(c, r, stream);
        c->mode(&mode);
    }
    if (t == NULL)
        pthread_mutex_unlock(&timed_lock);
    return t;
}

static void after_launch(struct timed *t, cu_handle stream, cu_result result)
{
    int mode = CU_CAPTURE_RELAXED;
    const struct clockwork *c = clockwork();
    if (c->mode(&mode) == 0) {
        t->pending = result == 0 && c->record(t->end, stream) == 0;
        c->mode(&mode);
    }
    pthread_mutex_unlock(&timed_lock);
}

static cu_result launched(struct ring *r, cu_result result, enum ring_count what)
{
    if (r != NULL && result == 0) {
        add(r, what, 1);
        put_event(r);
    }
    return result;
}

/* ---- the entries ---- */

#define REAL(e, ...)                                                                               \
    cu_result (*fn)(__VA_ARGS__) = (cu_result(*)(__VA_ARGS__))behind(e);                           \
    if (fn == NULL)                                                                                \
    return CU_NOT_FOUND

#define LAUNCH(stream, call)                                                                       \
    struct ring *r = ring();                                                                       \
    struct timed *t = r != NULL ? before_launch(r, stream) : NULL;                                 \
    cu_result result = call;                                                                       \
    if (t != NULL)                                                                                 \
        after_launch(t, stream, result);                                                           \
    return launched(r, result, RING_LAUNCHES)

static cu_result launch(enum entry e, cu_handle f, const unsigned *dim, unsigned shared,
                        cu_handle stream, void **params, void **extra)
{
    REAL(e, cu_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
         cu_handle, void **, void **);
    LAUNCH(stream,
           fn(f, dim[0], dim[1], dim[2], dim[3], dim[4], dim[5], shared, stream, params, extra));
}

static cu_result launch_together(enum entry e, cu_handle f, const unsigned *dim, unsigned shared,
                                 cu_handle stream, void **params)
{
    REAL(e, cu_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
         cu_handle, void **);
    LAUNCH(stream, fn(f, dim[0], dim[1], dim[2], dim[3], dim[4], dim[5], shared, stream, params));
}

static cu_result launch_ex(enum entry e, const struct cu_launch_config *config, cu_handle f,
                           void **params, void **extra)
{
    REAL(e, const struct cu_launch_config *, cu_handle, void **, void **);
    LAUNCH(config->stream, fn(config, f, params, extra));
}

static cu_result launch_graph(enum entry e, cu_handle graph, cu_handle stream)
{
    REAL(e, cu_handle, cu_handle);
    return launched(ring(), fn(graph, stream), RING_GRAPHS);
}

#define DIMS      unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz
#define DIM_ARRAY ((const unsigned[]){gx, gy, gz, bx, by, bz})
#define DEFINE_LAUNCHES(suffix)                                                                    \
    EXPORT cu_result cuLaunchKernel##suffix(cu_handle f, DIMS, unsigned shared, cu_handle stream,  \
                                            void **params, void **extra)                           \
    {                                                                                              \
        return launch(E_cuLaunchKernel##suffix, f, DIM_ARRAY, shared, stream, params, extra);      \
    }                                                                                              \
    EXPORT cu_result cuLaunchCooperativeKernel##suffix(cu_handle f, DIMS, unsigned shared,         \
                                                       cu_handle stream, void **params)            \
    {                                                                                              \
        return launch_together(E_cuLaunchCooperativeKernel##suffix, f, DIM_ARRAY, shared, stream,  \
                               params);                                                            \
    }                                                                                              \
    EXPORT cu_result cuLaunchKernelEx##suffix(const struct cu_launch_config *config, cu_handle f,  \
                                              void **params, void **extra)                         \
    {                                                                                              \
        return launch_ex(E_cuLaunchKernelEx##suffix, config, f, params, extra);                    \
    }                                                                                              \
    EXPORT cu_result cuGraphLaunch##suffix(cu_handle graph, cu_handle stream)                      \
    {                                                                                              \
        return launch_graph(E_cuGraphLaunch##suffix, graph, stream);                               \
    }                                                                                              \
    EXPORT cu_result cuMemAllocAsync##suffix(cu_pointer *p, size_t n, cu_handle stream)            \
    {                                                                                              \
        REAL(E_cuMemAllocAsync##suffix, cu_pointer *, size_t, cu_handle);                          \
        cu_result result = fn(p, n, stream);                                                       \
        return allocated(result, result == 0 ? *p : 0, n);                                         \
    }                                                                                              \
    EXPORT cu_result cuMemAllocFromPoolAsync##suffix(cu_pointer *p, size_t n, cu_handle pool,      \
                                                     cu_handle stream)                             \
    {                                                                                              \
        REAL(E_cuMemAllocFromPoolAsync##suffix, cu_pointer *, size_t, cu_handle, cu_handle);       \
        cu_result result = fn(p, n, pool, stream);                                                 \
        return allocated(result, result == 0 ? *p : 0, n);                                         \
    }                                                                                              \
    EXPORT cu_result cuMemFreeAsync##suffix(cu_pointer p, cu_handle stream)                        \
    {                                                                                              \
        REAL(E_cuMemFreeAsync##suffix, cu_pointer, cu_handle);                                     \
        return freed(fn(p, stream), p);                                                            \
    }
DEFINE_LAUNCHES()
DEFINE_LAUNCHES(_ptsz)

EXPORT cu_result cuMemAlloc_v2(cu_pointer *p, size_t n)
{
    REAL(E_cuMemAlloc_v2, cu_pointer *, size_t);
    cu_result result = fn(p, n);
    return allocated(result, result == 0 ? *p : 0, n);
}

EXPORT cu_result cuMemAllocPitch_v2(cu_pointer *p, size_t *pitch, size_t width, size_t height,
                                    unsigned element)
{
    REAL(E_cuMemAllocPitch_v2, cu_pointer *, size_t *, size_t, size_t, unsigned);
    cu_result result = fn(p, pitch, width, height, element);
    return allocated(result, result == 0 ? *p : 0, result == 0 ? *pitch * height : 0);
}

EXPORT cu_result cuMemAllocManaged(cu_pointer *p, size_t n, unsigned flags)
{
    REAL(E_cuMemAllocManaged, cu_pointer *, size_t, unsigned);
    cu_result result = fn(p, n, flags);
    return allocated(result, result == 0 ? *p : 0, n);
}

EXPORT cu_result cuMemCreate(unsigned long long *handle, size_t n, const void *properties,
                             unsigned long long flags)
{
    REAL(E_cuMemCreate, unsigned long long *, size_t, const void *, unsigned long long);
    cu_result result = fn(handle, n, properties, flags);
    return allocated(result, result == 0 ? *handle : 0, n);
}

EXPORT cu_result cuMemFree_v2(cu_pointer p)
{
    REAL(E_cuMemFree_v2, cu_pointer);
    return freed(fn(p), p);
}

EXPORT cu_result cuMemRelease(unsigned long long handle)
{
    REAL(E_cuMemRelease, unsigned long long);
    return freed(fn(handle), handle);
}

/* ---- NCCL ---- */

static cu_result sent(cu_result result, size_t n)
{
    struct ring *r = ring();
    if (result == 0 && r != NULL) {
        add(r, RING_NCCL, 1);
        add(r, RING_NCCL_ITEMS, n);
    }
    return result;
}

EXPORT cu_result ncclAllReduce(const void *from, void *to, size_t n, int type, int op,
                               cu_handle comm, cu_handle stream)
{
    REAL(E_ncclAllReduce, const void *, void *, size_t, int, int, cu_handle, cu_handle);
    return sent(fn(from, to, n, type, op, comm, stream), n);
}

EXPORT cu_result ncclBroadcast(const void *from, void *to, size_t n, int type, int root,
                               cu_handle comm, cu_handle stream)
{
    REAL(E_ncclBroadcast, const void *, void *, size_t, int, int, cu_handle, cu_handle);
    return sent(fn(from, to, n, type, root, comm, stream), n);
}

EXPORT cu_result ncclReduce(const void *from, void *to, size_t n, int type, int op, int root,
                            cu_handle comm, cu_handle stream)
{
    REAL(E_ncclReduce, const void *, void *, size_t, int, int, int, cu_handle, cu_handle);
    return sent(fn(from, to, n, type, op, root, comm, stream), n);
}

EXPORT cu_result ncclAllGather(const void *from, void *to, size_t n, int type, cu_handle comm,
                               cu_handle stream)
{
    REAL(E_ncclAllGather, const void *, void *, size_t, int, cu_handle, cu_handle);
    return sent(fn(from, to, n, type, comm, stream), n);
}

EXPORT cu_result ncclReduceScatter(const void *from, void *to, size_t n, int type, int op,
                                   cu_handle comm, cu_handle stream)
{
    REAL(E_ncclReduceScatter, const void *, void *, size_t, int, int, cu_handle, cu_handle);
    return sent(fn(from, to, n, type, op, comm, stream), n);
}

EXPORT cu_result ncclSend(const void *from, size_t n, int type, int peer, cu_handle comm,
                          cu_handle stream)
{
    REAL(E_ncclSend, const void *, size_t, int, int, cu_handle, cu_handle);
    return sent(fn(from, n, type, peer, comm, stream), n);
}

EXPORT cu_result ncclRecv(void *to, size_t n, int type, int peer, cu_handle comm, cu_handle stream)
{
    REAL(E_ncclRecv, void *, size_t, int, int, cu_handle, cu_handle);
    return sent(fn(to, n, type, peer, comm, stream), n);
}

/* ---- how they are found ---- */

EXPORT cu_result cuGetProcAddress(const char *name, void **out, int version, uint64_t flags);
EXPORT cu_result cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                                     int *status);

static any_fn *const wrapper[N_ENTRIES] = {
#define WRAPPERS(base, symbol, per_thread) (any_fn *)symbol,
    ENTRIES(WRAPPERS)};

/* Puts our entry in place of the driver's. */
static void *wrap(enum entry e, void *found)
{
    void *ours;
    any_fn *fn;
    memcpy(&ours, &wrapper[e], sizeof ours);
    if (found == ours) /* our own, met on the way: is there one behind it? */
        return behind(e) != NULL ? ours : NULL;
    memcpy(&fn, &found, sizeof fn);
    real[e] = fn;
    return ours;
}

/* The driver's own names have no suffix here; the entry follows from version and flags. */
static void wrap_proc(const char *name, void **out, int version, uint64_t flags)
{
    int per_thread = (flags & CU_PER_THREAD_STREAM) != 0;
    if (out == NULL || *out == NULL)
        return;
    if (strcmp(name, "cuGetProcAddress") == 0) {
        *out = wrap(version >= 12000 ? E_cuGetProcAddress_v2 : E_cuGetProcAddress, *out);
        return;
    }
    for (enum entry e = 0, plain = N_ENTRIES; e < N_ENTRIES; e++) {
        if (strcmp(entries[e].base, name) != 0)
            continue;
        plain = entries[e].per_thread ? plain : e;
        bool last = e + 1 == N_ENTRIES || strcmp(entries[e + 1].base, name) != 0;
        if (entries[e].per_thread == per_thread || last) {
            *out = wrap(entries[e].per_thread == per_thread ? e : plain, *out);
            return;
        }
    }
}

EXPORT cu_result cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
    REAL(E_cuGetProcAddress, const char *, void **, int, uint64_t);
    cu_result result = fn(name, out, version, flags);
    if (result == 0)
        wrap_proc(name, out, version, flags);
    return result;
}

EXPORT cu_result cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                                     int *status)
{
    REAL(E_cuGetProcAddress_v2, const char *, void **, int, uint64_t, int *);
    cu_result result = fn(name, out, version, flags, status);
    if (result == 0)
        wrap_proc(name, out, version, flags);
    return result;
}

static CALL void *find_wrapped(void *handle, const char *name)
{
    void *found = find(handle, name);
    for (enum entry e = 0; found != NULL && e < N_ENTRIES; e++)
        if (strcmp(entries[e].symbol, name) == 0)
            return wrap(e, found);
    return found;
}

/* Names that are none of ours go on by a jump, so that glibc sees the caller's return address, from
 * which RTLD_NEXT is counted; -O2 or -foptimize-sibling-calls makes it one. */
EXPORT void *dlsym(void *handle, const char *name)
{
    static void *(*_Atomic glibc)(void *, const char *);
    void *(*next)(void *, const char *) = glibc;
    if (next == NULL) {
        void *symbol = find(RTLD_NEXT, "dlsym");
        memcpy(&next, &symbol, sizeof symbol);
        glibc = next;
    }
    if ((name[0] == 'c' && name[1] == 'u') || (name[0] == 'n' && name[1] == 'c'))
        return find_wrapped(handle, name);
    return next(handle, name);
}
