/* intercept.c - libcolosim-intercept.so, to be preloaded: counts what a program asks of the CUDA
 * driver and of NCCL, and times some of its kernels.
 *
 * Unmodified programs reach the driver in three ways: by linking it, by dlsym, and by
 * cuGetProcAddress, which the runtime library (also where it is linked statically, as in cuBLAS)
 * has from dlsym. All three end here. Calls are counted at the driver alone, so that none counts
 * twice.
 *
 * What is counted goes to the recorder. The table of real entries is a file-scope variable, since
 * the functions here are called by programs that know nothing of it.
 *
 * Not seen: NCCL that is linked statically (its kernels are), calls that end in cuMemAddressReserve
 * and the like, and programs that replace dlsym themselves. */
#include "calib/cuda/recorder.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
enum { CU_NOT_FOUND = 500, CU_PER_THREAD_STREAM = 2 };
#define STREAM_PER_THREAD ((cu_handle)2) /* CU_STREAM_PER_THREAD */

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

/* ---- the entries ---- */

#define REAL(e, ...)                                                                               \
    cu_result (*fn)(__VA_ARGS__) = (cu_result(*)(__VA_ARGS__))behind(e);                           \
    if (fn == NULL)                                                                                \
    return CU_NOT_FOUND

/* Events go into the stream that the kernel goes into: to these entries, none is the thread's. */
static cu_handle stream_of(enum entry e, cu_handle stream)
{
    return stream == NULL && entries[e].per_thread ? STREAM_PER_THREAD : stream;
}

#define LAUNCH(stream, call)                                                                       \
    cu_handle goes_into = stream_of(e, stream);                                                    \
    struct recorder_launch l = recorder_before_launch(goes_into);                                  \
    return recorder_after_launch(l, call, goes_into)

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
    return recorder_graph(fn(graph, stream));
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
        return recorder_allocated(result, result == 0 ? *p : 0, n);                                \
    }                                                                                              \
    EXPORT cu_result cuMemAllocFromPoolAsync##suffix(cu_pointer *p, size_t n, cu_handle pool,      \
                                                     cu_handle stream)                             \
    {                                                                                              \
        REAL(E_cuMemAllocFromPoolAsync##suffix, cu_pointer *, size_t, cu_handle, cu_handle);       \
        cu_result result = fn(p, n, pool, stream);                                                 \
        return recorder_allocated(result, result == 0 ? *p : 0, n);                                \
    }                                                                                              \
    EXPORT cu_result cuMemFreeAsync##suffix(cu_pointer p, cu_handle stream)                        \
    {                                                                                              \
        REAL(E_cuMemFreeAsync##suffix, cu_pointer, cu_handle);                                     \
        return recorder_freed(fn(p, stream), p);                                                   \
    }
DEFINE_LAUNCHES()
DEFINE_LAUNCHES(_ptsz)

EXPORT cu_result cuMemAlloc_v2(cu_pointer *p, size_t n)
{
    REAL(E_cuMemAlloc_v2, cu_pointer *, size_t);
    cu_result result = fn(p, n);
    return recorder_allocated(result, result == 0 ? *p : 0, n);
}

EXPORT cu_result cuMemAllocPitch_v2(cu_pointer *p, size_t *pitch, size_t width, size_t height,
                                    unsigned element)
{
    REAL(E_cuMemAllocPitch_v2, cu_pointer *, size_t *, size_t, size_t, unsigned);
    cu_result result = fn(p, pitch, width, height, element);
    return recorder_allocated(result, result == 0 ? *p : 0, result == 0 ? *pitch * height : 0);
}

EXPORT cu_result cuMemAllocManaged(cu_pointer *p, size_t n, unsigned flags)
{
    REAL(E_cuMemAllocManaged, cu_pointer *, size_t, unsigned);
    cu_result result = fn(p, n, flags);
    return recorder_allocated(result, result == 0 ? *p : 0, n);
}

EXPORT cu_result cuMemCreate(unsigned long long *handle, size_t n, const void *properties,
                             unsigned long long flags)
{
    REAL(E_cuMemCreate, unsigned long long *, size_t, const void *, unsigned long long);
    cu_result result = fn(handle, n, properties, flags);
    return recorder_allocated(result, result == 0 ? *handle : 0, n);
}

EXPORT cu_result cuMemFree_v2(cu_pointer p)
{
    REAL(E_cuMemFree_v2, cu_pointer);
    return recorder_freed(fn(p), p);
}

EXPORT cu_result cuMemRelease(unsigned long long handle)
{
    REAL(E_cuMemRelease, unsigned long long);
    return recorder_freed(fn(handle), handle);
}

/* ---- NCCL ---- */

EXPORT cu_result ncclAllReduce(const void *from, void *to, size_t n, int type, int op,
                               cu_handle comm, cu_handle stream)
{
    REAL(E_ncclAllReduce, const void *, void *, size_t, int, int, cu_handle, cu_handle);
    return recorder_sent(fn(from, to, n, type, op, comm, stream), n);
}

EXPORT cu_result ncclBroadcast(const void *from, void *to, size_t n, int type, int root,
                               cu_handle comm, cu_handle stream)
{
    REAL(E_ncclBroadcast, const void *, void *, size_t, int, int, cu_handle, cu_handle);
    return recorder_sent(fn(from, to, n, type, root, comm, stream), n);
}

EXPORT cu_result ncclReduce(const void *from, void *to, size_t n, int type, int op, int root,
                            cu_handle comm, cu_handle stream)
{
    REAL(E_ncclReduce, const void *, void *, size_t, int, int, int, cu_handle, cu_handle);
    return recorder_sent(fn(from, to, n, type, op, root, comm, stream), n);
}

EXPORT cu_result ncclAllGather(const void *from, void *to, size_t n, int type, cu_handle comm,
                               cu_handle stream)
{
    REAL(E_ncclAllGather, const void *, void *, size_t, int, cu_handle, cu_handle);
    return recorder_sent(fn(from, to, n, type, comm, stream), n);
}

EXPORT cu_result ncclReduceScatter(const void *from, void *to, size_t n, int type, int op,
                                   cu_handle comm, cu_handle stream)
{
    REAL(E_ncclReduceScatter, const void *, void *, size_t, int, int, cu_handle, cu_handle);
    return recorder_sent(fn(from, to, n, type, op, comm, stream), n);
}

EXPORT cu_result ncclSend(const void *from, size_t n, int type, int peer, cu_handle comm,
                          cu_handle stream)
{
    REAL(E_ncclSend, const void *, size_t, int, int, cu_handle, cu_handle);
    return recorder_sent(fn(from, n, type, peer, comm, stream), n);
}

EXPORT cu_result ncclRecv(void *to, size_t n, int type, int peer, cu_handle comm, cu_handle stream)
{
    REAL(E_ncclRecv, void *, size_t, int, int, cu_handle, cu_handle);
    return recorder_sent(fn(to, n, type, peer, comm, stream), n);
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

/* N_ENTRIES: none of ours. */
static CALL enum entry entry_of(const char *name)
{
    enum entry e = N_ENTRIES;
    if ((name[0] == 'c' && name[1] == 'u') || (name[0] == 'n' && name[1] == 'c'))
        for (e = 0; e < N_ENTRIES && strcmp(entries[e].symbol, name) != 0; e++)
            ;
    return e;
}

static CALL void *find_wrapped(enum entry e, void *handle)
{
    void *found = find(handle, entries[e].symbol);
    return found != NULL ? wrap(e, found) : NULL;
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
    enum entry e = entry_of(name);
    if (e != N_ENTRIES)
        return find_wrapped(e, handle);
    return next(handle, name);
}
