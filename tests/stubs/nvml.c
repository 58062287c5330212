/* libnvidia-ml.so.1 for one card, the first of tests/stubs/cuda.c.
 *
 * STUB_GPM=0        no GPM, as on an A100
 * STUB_GPM_ERROR    what taking a sample returns: 4 is no permission
 * STUB_THROTTLE     a file: while it is there, the card is hot; its first number is the bits
 * STUB_MHZ          a file that holds the SM clock; 1980 unless it is there
 * GPM gives sm 75.5, occ 35.25, tensor 10.5, dram 40.125 percent between two samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct metric {
    unsigned id;
    int result;
    double value;
    char *names[3];
};
struct get {
    unsigned version, n;
    void *before, *now;
    struct metric metric[1];
};

static int from_file(const char *variable, int otherwise)
{
    const char *path = getenv(variable);
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    int value = otherwise;
    if (file != NULL) {
        if (fscanf(file, "%i", &value) != 1)
            value = otherwise;
        fclose(file);
    }
    return value;
}

int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    *device = (void *)1;
    return strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f") == 0 ? 0 : 6;
}

int nvmlDeviceGetIndex(void *device, unsigned *index)
{
    (void)device;
    *index = 0;
    return 0;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    snprintf(version, size, "580.00");
    return 0;
}

int nvmlDeviceGetComputeMode(void *device, int *mode)
{
    (void)device;
    *mode = 0;
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long memory[3])
{
    (void)device;
    memory[2] = 512ull << 20;
    return 0;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    (void)device, (void)type;
    *mhz = (unsigned)from_file("STUB_MHZ", 1980);
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    (void)device;
    *reasons = (unsigned long long)from_file("STUB_THROTTLE", 0x2); /* clocks as asked for */
    return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned rates[2])
{
    (void)device;
    rates[0] = 99;
    return 0;
}

int nvmlGpmQueryDeviceSupport(void *device, unsigned support[2])
{
    const char *gpm = getenv("STUB_GPM");
    (void)device;
    support[1] = gpm == NULL || strcmp(gpm, "0") != 0;
    return 0;
}

int nvmlGpmSampleAlloc(void **sample)
{
    *sample = malloc(1);
    return *sample != NULL ? 0 : 20;
}

int nvmlGpmSampleFree(void *sample)
{
    free(sample);
    return 0;
}

int nvmlGpmSampleGet(void *device, void *sample)
{
    (void)device;
    *(char *)sample = 1; /* has been taken */
    return getenv("STUB_GPM_ERROR") != NULL ? atoi(getenv("STUB_GPM_ERROR")) : 0;
}

int nvmlGpmMetricsGet(struct get *g)
{
    if (g->version != 1 || *(char *)g->before != 1 || *(char *)g->now != 1 || g->before == g->now)
        return 2;
    for (unsigned i = 0; i < g->n; i++) {
        struct metric *m = &g->metric[i];
        m->result = 0;
        m->value = m->id == 2    ? 75.5
                   : m->id == 3  ? 35.25
                   : m->id == 5  ? 10.5
                   : m->id == 10 ? 40.125
                                 : -1;
    }
    return 0;
}
