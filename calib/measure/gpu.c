#include "calib/measure/gpu.h"

#include "calib/measure/keeper.h"
#include "calib/measure/stop.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The few entries of the driver that are asked; 0 is success. */
struct driver {
    int (*version)(int *);
    int (*init)(unsigned);
    int (*count)(int *);
    int (*device)(int *, int);
    int (*name)(char *, int, int);
    int (*uuid)(unsigned char[16], int);
    int (*attribute)(int *, int, int);
    int (*mem)(size_t *, int);
};
enum { ATTRIBUTE_SMS = 16, ATTRIBUTE_L2 = 38 };
enum { CUDA_NO_DEVICE = 100 };

/* What the child found; sent as bytes. */
struct finding {
    enum { FOUND, NO_DRIVER, TOO_OLD, FAILED, NO_SUCH_INDEX } what;
    int code, n;
    struct gpu gpu;
};

static bool load(struct driver *d)
{
    const struct {
        const char *name;
        void *entry;
    } entries[] = {{"cuDriverGetVersion", &d->version},     {"cuInit", &d->init},
                   {"cuDeviceGetCount", &d->count},         {"cuDeviceGet", &d->device},
                   {"cuDeviceGetName", &d->name},           {"cuDeviceGetUuid", &d->uuid},
                   {"cuDeviceGetAttribute", &d->attribute}, {"cuDeviceTotalMem_v2", &d->mem}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library != NULL && i < sizeof entries / sizeof *entries; i++) {
        void *symbol = dlsym(library, entries[i].name);
        if (symbol == NULL)
            return false;
        memcpy(entries[i].entry, &symbol, sizeof symbol); /* POSIX: a function fits into void * */
    }
    return library != NULL;
}

static int describe(const struct driver *d, struct finding *f, int index)
{
    unsigned char id[16];
    int device, code;
    size_t bytes = 0;
    struct gpu *g = &f->gpu;
    if ((code = d->device(&device, index)) != 0 ||
        (code = d->name(g->name, sizeof g->name, device)) != 0 ||
        (code = d->uuid(id, device)) != 0 ||
        (code = d->attribute(&g->n_sms, ATTRIBUTE_SMS, device)) != 0 ||
        (code = d->attribute(&g->l2_bytes, ATTRIBUTE_L2, device)) != 0 ||
        (code = d->mem(&bytes, device)) != 0)
        return code;
    int n = snprintf(g->uuid, sizeof g->uuid, "GPU-");
    for (int i = 0; i < 16; i++)
        n += snprintf(g->uuid + n, sizeof g->uuid - (size_t)n, "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
    g->mem_mib = (double)bytes / 1048576;
    g->index = index;
    for (char *c = g->name; *c != '\0'; c++) /* it will stand in tables */
        if (*c == ',' || *c == '"' || (unsigned char)*c < ' ')
            *c = ' ';
    return 0;
}

static void look(struct finding *f, int index, int min_cuda)
{
    struct driver d;
    f->what = NO_DRIVER;
    if (!load(&d))
        return;
    f->what = FAILED;
    if ((f->code = d.version(&f->gpu.cuda)) != 0)
        return;
    f->what = TOO_OLD;
    if (f->gpu.cuda < min_cuda)
        return;
    f->what = FAILED;
    if ((f->code = d.init(0)) != 0 || (f->code = d.count(&f->n)) != 0)
        return;
    if (f->n == 0)
        f->code = CUDA_NO_DEVICE;
    else if (index >= f->n)
        f->what = NO_SUCH_INDEX;
    else if ((f->code = describe(&d, f, index)) == 0)
        f->what = FOUND;
}

/* What a person can do about the driver's error codes. */
static const struct {
    int code;
    const char *text;
} reasons[] = {
    {3, "the driver could not be initialised"},
    {CUDA_NO_DEVICE, "the driver finds no device"},
    {46, "all devices are busy or unavailable: is the card in EXCLUSIVE_PROCESS mode without its "
         "MPS daemon?"},
    {802, "the system is not ready yet: is the fabric manager running?"},
    {803, "driver and kernel module do not fit together: reboot, or install them alike"},
    {804, "forward compatibility is not supported on this card"},
    {805, "the MPS daemon of CUDA_MPS_PIPE_DIRECTORY cannot be reached: share that directory and "
          "the host's IPC with this container, or unset it"},
    {999, "the driver failed: see the kernel's log"},
};

static enum status report(const struct finding *f, struct gpu *g, int min_cuda, struct error *err)
{
    switch (f->what) {
    case FOUND: *g = f->gpu; return ST_OK;
    case NO_DRIVER:
        return fail(err, ST_HELPER,
                    "no GPU: libcuda.so.1, the NVIDIA driver's library, is not here");
    case TOO_OLD:
        return fail(err, ST_HELPER,
                    "no usable GPU: the driver is for CUDA %d.%d, want %d.%d or newer (CUDA error "
                    "35)",
                    f->gpu.cuda / 1000, f->gpu.cuda % 1000 / 10, min_cuda / 1000,
                    min_cuda % 1000 / 10);
    case NO_SUCH_INDEX: return fail(err, ST_USAGE, "--gpu: there are %d, counted from 0", f->n);
    case FAILED: break;
    }
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].code == f->code)
            return fail(err, ST_HELPER, "no GPU: %s (CUDA error %d)", reasons[i].text, f->code);
    return fail(err, ST_HELPER, "no GPU: CUDA error %d", f->code);
}

enum status gpu_find(struct gpu *g, int index, int min_cuda, double seconds, struct error *err)
{
    int fd[2];
    struct finding f;
    pid_t self = getpid();
    if (pipe(fd) != 0)
        return fail(err, ST_OUTPUT, "pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        keeper_die_with(self, SIGKILL);
        memset(&f, 0, sizeof f);
        look(&f, index, min_cuda);
        _exit(write(fd[1], &f, sizeof f) == sizeof f ? 0 : 1);
    }
    close(fd[1]);
    struct pollfd ready = {.fd = fd[0], .events = POLLIN};
    int polled = child > 0 ? poll(&ready, 1, (int)(seconds * 1000)) : -1;
    ssize_t n = polled > 0 ? read(fd[0], &f, sizeof f) : 0;
    close(fd[0]);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    if (n == sizeof f)
        return report(&f, g, min_cuda, err);
    if (polled == 0)
        return fail(err, ST_HELPER,
                    "no GPU: the first CUDA call did not return within %g s: is the card in "
                    "EXCLUSIVE_PROCESS mode without its MPS daemon?",
                    seconds);
    return fail(err, ST_HELPER, "no GPU: the driver's library ended the process that asked it");
}
