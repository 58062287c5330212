/* libdcgm.so.4 with a host engine inside the program: none is there to connect to.
 *
 * STUB_DCGM  what watching returns: 0 it works, -33 the profiling module is not loaded. SM activity
 * is .625, occupancy .5, tensor .125, DRAM blank; with STUB_DCGM_BLANK all are, as seen on H100. */
#include <stdint.h>
#include <stdlib.h>

struct value {
    unsigned version;
    unsigned short id, type;
    int status;
    int64_t ts;
    union {
        int64_t i64;
        double dbl;
        char blob[4096];
    } value;
};

int dcgmInit(void) { return 0; }
int dcgmShutdown(void) { return 0; }
int dcgmConnect(const char *address, uintptr_t *handle)
{
    (void)address, (void)handle;
    return -21;
}
int dcgmDisconnect(uintptr_t handle)
{
    (void)handle;
    return -1;
}
int dcgmStartEmbedded(int mode, uintptr_t *handle)
{
    *handle = 7;
    return mode == 1 ? 0 : -1;
}
int dcgmStopEmbedded(uintptr_t handle) { return handle == 7 ? 0 : -1; }

int dcgmFieldGroupCreate(uintptr_t handle, int n, const unsigned short *ids, const char *name,
                         uintptr_t *group)
{
    (void)name;
    *group = 9;
    return handle == 7 && n == 5 && ids[0] == 1002 && ids[4] == 252 ? 0 : -1;
}

int dcgmWatchFields(uintptr_t handle, uintptr_t gpus, uintptr_t group, long long every_us,
                    double age_s, int samples)
{
    const char *code = getenv("STUB_DCGM");
    (void)age_s, (void)samples;
    if (handle != 7 || group != 9 || gpus != 0x7fffffff || every_us != 1000000)
        return -1;
    return code != NULL ? atoi(code) : 0;
}

int dcgmUpdateAllFields(uintptr_t handle, int wait)
{
    (void)wait;
    return handle == 7 ? 0 : -1;
}

int dcgmGetLatestValuesForFields(uintptr_t handle, int gpu, unsigned short *ids, unsigned n,
                                 struct value *values)
{
    if (handle != 7 || gpu != 0)
        return -1;
    for (unsigned i = 0; i < n; i++) {
        values[i].status = 0;
        values[i].value.dbl = getenv("STUB_DCGM_BLANK") != NULL ? 140737488355328.0
                              : ids[i] == 1002                  ? .625
                              : ids[i] == 1003                  ? .5
                              : ids[i] == 1004                  ? .125
                                                                : 140737488355328.0; /* blank */
    }
    return 0;
}
