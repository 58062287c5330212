/* libcuda.so.1 without a card: enough of the driver for colosim and for what is preloaded.
 *
 * STUB_CUDA_VERSION  the driver's CUDA, 13000 unless given
 * STUB_CUDA_INIT     what cuInit returns, 0 unless given; 100 is "no device"
 * STUB_CUDA_DEVICES  how many, 1 unless given
 * STUB_CUDA_HANG     cuInit does not return
 * STUB_CUDA_CALLS    a file to which each cuInit adds a byte
 * Every kernel takes 250 us, by events in its own stream; by others 999 ms. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int result;
typedef void *handle;

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? atoi(text) : otherwise;
}

result cuDriverGetVersion(int *version)
{
    *version = number("STUB_CUDA_VERSION", 13000);
    return 0;
}

result cuInit(unsigned flags)
{
    const char *calls = getenv("STUB_CUDA_CALLS");
    int fd = calls != NULL ? open(calls, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    (void)flags;
    if (fd >= 0) {
        if (write(fd, "i", 1) != 1)
            return 999;
        close(fd);
    }
    while (getenv("STUB_CUDA_HANG") != NULL)
        pause();
    return number("STUB_CUDA_INIT", 0);
}

result cuDeviceGetCount(int *n)
{
    *n = number("STUB_CUDA_DEVICES", 1);
    return 0;
}

result cuDeviceGet(int *device, int index)
{
    *device = index;
    return index < number("STUB_CUDA_DEVICES", 1) ? 0 : 101;
}

result cuDeviceGetName(char *name, int size, int device)
{
    (void)device;
    snprintf(name, (size_t)size, "Stub, a card");
    return 0;
}

result cuDeviceGetUuid(unsigned char id[16], int device)
{
    for (int i = 0; i < 16; i++)
        id[i] = (unsigned char)(16 * device + i);
    return 0;
}

result cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 16 ? 132 : attribute == 38 ? 62914560 : 0;
    return 0;
}

result cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)141 << 30;
    return 0;
}

/* The stream of this thread's latest launch; 2 is the thread's own. */
static _Thread_local handle last_stream;

result cuLaunchKernel(handle f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e,
                      unsigned g, unsigned shared, handle stream, void **params, void **extra)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)g, (void)shared;
    (void)params, (void)extra;
    last_stream = stream;
    return f == NULL ? 400 : 0; /* a launch that fails */
}

/* Its own address, so that a test sees which of the two was asked for. */
result cuLaunchKernel_ptsz(handle f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e,
                           unsigned g, unsigned shared, handle stream, void **params, void **extra)
{
    return cuLaunchKernel(f, a, b, c, d, e, g, shared, stream != NULL ? stream : (handle)2, params,
                          extra);
}

result cuLaunchKernelEx(const void *config, handle f, void **params, void **extra)
{
    (void)config, (void)f, (void)params, (void)extra;
    return 0;
}

result cuGraphLaunch(handle graph, handle stream)
{
    (void)graph, (void)stream;
    return 0;
}

static _Atomic uint64_t next_pointer = 0x10000;

result cuMemAlloc_v2(unsigned long long *p, size_t n)
{
    if (n == 0 || n > (size_t)141 << 30)
        return 2;
    *p = atomic_fetch_add(&next_pointer, 512);
    return 0;
}

result cuMemAllocAsync(unsigned long long *p, size_t n, handle stream)
{
    (void)stream;
    return cuMemAlloc_v2(p, n);
}

result cuMemFree_v2(unsigned long long p)
{
    (void)p;
    return 0;
}

result cuMemFreeAsync(unsigned long long p, handle stream)
{
    (void)p, (void)stream;
    return 0;
}

result cuCtxGetCurrent(handle *context)
{
    static int context_;
    *context = &context_;
    return 0;
}

result cuThreadExchangeStreamCaptureMode(int *mode)
{
    *mode = 0;
    return 0;
}

/* The stream 0xca is being captured. */
result cuStreamIsCapturing(handle stream, int *capturing)
{
    *capturing = stream == (handle)0xca;
    return 0;
}

result cuEventCreate(handle *event, unsigned flags)
{
    (void)flags;
    *event = malloc(sizeof(int));
    return *event != NULL ? 0 : 2;
}

result cuEventRecord(handle event, handle stream)
{
    *(int *)event = stream == last_stream;
    return stream == (handle)0xca ? 900 : 0;
}

result cuEventQuery(handle event)
{
    (void)event;
    return 0;
}

result cuEventElapsedTime(float *ms, handle begin, handle end)
{
    (void)begin; /* was recorded before the launch */
    *ms = *(int *)end ? .25f : 999;
    return 0;
}

result cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status)
{
    static const struct {
        const char *name;
        void *plain, *per_thread;
    } known[] = {{"cuInit", (void *)cuInit, NULL},
                 {"cuLaunchKernel", (void *)cuLaunchKernel, (void *)cuLaunchKernel_ptsz},
                 {"cuMemAlloc", (void *)cuMemAlloc_v2, NULL},
                 {"cuMemFree", (void *)cuMemFree_v2, NULL},
                 {"cuDriverGetVersion", (void *)cuDriverGetVersion, NULL},
                 {"cuGetProcAddress", (void *)cuGetProcAddress_v2, NULL}};
    (void)version;
    *out = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            *out =
                (flags & 2) && known[i].per_thread != NULL ? known[i].per_thread : known[i].plain;
    if (status != NULL)
        *status = *out == NULL;
    return *out != NULL ? 0 : 500;
}
