#include "calib/measure/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As the driver's library has them; 0 is success. */
enum { CLOCK_SM = 1 };
enum { GPM_SM_UTIL = 2, GPM_SM_OCCUPANCY = 3, GPM_ANY_TENSOR = 5, GPM_DRAM_BW = 10 };
enum { N_GPM = 4, GPM_ROOM = 512 };
/* hardware slowdown, software and hardware heat, power brake */
static const unsigned long long throttle_bits = 0x8 | 0x20 | 0x40 | 0x80;
static const unsigned long long power_cap_bit = 0x4;

struct gpm_metric {
    unsigned id;
    int result;
    double value;
    char *names[3];
};
struct gpm_get {
    unsigned version, n;
    void *before, *now;
    struct gpm_metric metric[GPM_ROOM];
};
struct gpm_support {
    unsigned version, supported;
};
struct memory {
    unsigned long long total, free, used;
};
struct utilisation {
    unsigned gpu, memory;
};

struct nvml {
    void *library, *device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *, void **);
    int (*index)(void *, unsigned *);
    int (*driver)(char *, unsigned);
    int (*mode)(void *, int *);
    int (*memory)(void *, struct memory *);
    int (*clock)(void *, int, unsigned *);
    int (*throttle)(void *, unsigned long long *);
    int (*utilisation)(void *, struct utilisation *);
    int (*gpm_support)(void *, struct gpm_support *);
    int (*gpm_alloc)(void **);
    int (*gpm_free)(void *);
    int (*gpm_sample)(void *, void *);
    int (*gpm_get)(struct gpm_get *);
    void *sample[2]; /* NULL: no GPM */
    bool sampled;
    int gpm_error; /* why there is no GPM, as NVML has it; 0: it is not supported */
    struct gpm_get get;
};

/* The entry's address into *pointer; the same entry under an older name where there is none. */
static void find(void *library, const char *name, const char *older, void *pointer)
{
    void *symbol = dlsym(library, name);
    if (symbol == NULL && older != NULL)
        symbol = dlsym(library, older);
    memcpy(pointer, &symbol, sizeof symbol);
}

static void find_all(struct nvml *n)
{
    find(n->library, "nvmlInit_v2", NULL, &n->init);
    find(n->library, "nvmlShutdown", NULL, &n->shutdown);
    find(n->library, "nvmlDeviceGetHandleByUUID", NULL, &n->by_uuid);
    find(n->library, "nvmlDeviceGetIndex", NULL, &n->index);
    find(n->library, "nvmlSystemGetDriverVersion", NULL, &n->driver);
    find(n->library, "nvmlDeviceGetComputeMode", NULL, &n->mode);
    find(n->library, "nvmlDeviceGetMemoryInfo", NULL, &n->memory);
    find(n->library, "nvmlDeviceGetClockInfo", NULL, &n->clock);
    find(n->library, "nvmlDeviceGetCurrentClocksEventReasons",
         "nvmlDeviceGetCurrentClocksThrottleReasons", &n->throttle);
    find(n->library, "nvmlDeviceGetUtilizationRates", NULL, &n->utilisation);
    find(n->library, "nvmlGpmQueryDeviceSupport", NULL, &n->gpm_support);
    find(n->library, "nvmlGpmSampleAlloc", NULL, &n->gpm_alloc);
    find(n->library, "nvmlGpmSampleFree", NULL, &n->gpm_free);
    find(n->library, "nvmlGpmSampleGet", NULL, &n->gpm_sample);
    find(n->library, "nvmlGpmMetricsGet", NULL, &n->gpm_get);
}

static void free_samples(struct nvml *n)
{
    for (int i = 0; i < 2; i++) {
        if (n->sample[i] != NULL)
            n->gpm_free(n->sample[i]);
        n->sample[i] = NULL;
    }
}

static void open_gpm(struct nvml *n)
{
    struct gpm_support support = {.version = 1};
    if (n->gpm_support == NULL || n->gpm_alloc == NULL || n->gpm_free == NULL ||
        n->gpm_sample == NULL || n->gpm_get == NULL || n->gpm_support(n->device, &support) != 0 ||
        support.supported == 0)
        return;
    for (int i = 0; i < 2 && n->gpm_error == 0; i++)
        if ((n->gpm_error = n->gpm_alloc(&n->sample[i])) != 0)
            n->sample[i] = NULL;
    if (n->gpm_error == 0) /* it may be supported, and not for us */
        n->gpm_error = n->gpm_sample(n->device, n->sample[0]);
    if (n->gpm_error != 0)
        free_samples(n);
}

struct nvml *nvml_open(const char *uuid)
{
    struct nvml *n = calloc(1, sizeof *n);
    if (n == NULL)
        return NULL;
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (n->library != NULL)
        find_all(n);
    if (n->library == NULL || n->init == NULL || n->shutdown == NULL || n->by_uuid == NULL ||
        n->init() != 0) {
        if (n->library != NULL)
            dlclose(n->library);
        free(n);
        return NULL;
    }
    if (n->by_uuid(uuid, &n->device) != 0) {
        nvml_close(n);
        return NULL;
    }
    open_gpm(n);
    return n;
}

void nvml_close(struct nvml *n)
{
    if (n == NULL)
        return;
    free_samples(n);
    n->shutdown();
    dlclose(n->library);
    free(n);
}

bool nvml_has_gpm(const struct nvml *n) { return n->sample[0] != NULL; }

int nvml_gpm_error(const struct nvml *n) { return n->gpm_error; }

void nvml_driver(const struct nvml *n, char *out, unsigned size)
{
    out[0] = '\0';
    if (n->driver != NULL && n->driver(out, size) != 0)
        out[0] = '\0';
}

int nvml_compute_mode(const struct nvml *n)
{
    int mode;
    return n->mode != NULL && n->mode(n->device, &mode) == 0 ? mode : -1;
}

int nvml_index(const struct nvml *n)
{
    unsigned index;
    return n->index != NULL && n->index(n->device, &index) == 0 ? (int)index : -1;
}

/* Between the sample before and a new one. */
static void read_gpm(struct nvml *n, struct counter_reading *out)
{
    static const unsigned id[N_GPM] = {GPM_SM_UTIL, GPM_SM_OCCUPANCY, GPM_ANY_TENSOR, GPM_DRAM_BW};
    double *value[N_GPM] = {&out->sm, &out->occ, &out->tensor, &out->dram};
    if (n->gpm_sample(n->device, n->sample[1]) != 0) {
        n->sampled = false;
        return;
    }
    n->get.version = 1;
    n->get.n = N_GPM;
    n->get.before = n->sample[0];
    n->get.now = n->sample[1];
    for (int i = 0; i < N_GPM; i++)
        n->get.metric[i] = (struct gpm_metric){.id = id[i]};
    if (n->sampled && n->gpm_get(&n->get) == 0)
        for (int i = 0; i < N_GPM; i++)
            if (n->get.metric[i].result == 0) {
                *value[i] = n->get.metric[i].value;
                out->source = "gpm";
            }
    void *swap = n->sample[0];
    n->sample[0] = n->sample[1];
    n->sample[1] = swap;
    n->sampled = true;
}

void nvml_read(struct nvml *n, struct counter_reading *out)
{
    struct memory memory;
    struct utilisation utilisation;
    unsigned mhz;
    unsigned long long reasons;
    if (n->memory != NULL && n->memory(n->device, &memory) == 0)
        out->fb_mib = (double)memory.used / 1048576;
    if (n->clock != NULL && n->clock(n->device, CLOCK_SM, &mhz) == 0)
        out->sm_mhz = mhz;
    if (n->throttle != NULL && n->throttle(n->device, &reasons) == 0) {
        out->throttled = (reasons & throttle_bits) != 0;
        out->power_capped = (reasons & power_cap_bit) != 0;
    }
    if (n->utilisation != NULL && n->utilisation(n->device, &utilisation) == 0)
        out->gpu_util = utilisation.gpu;
    if (nvml_has_gpm(n))
        read_gpm(n, out);
}
