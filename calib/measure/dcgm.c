#include "calib/measure/dcgm.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As the library has them; 0 is success. */
enum { FIELD_SM = 1002, FIELD_OCC = 1003, FIELD_TENSOR = 1004, FIELD_DRAM = 1005, FIELD_FB = 252 };
enum { N_FIELDS = 5, N_RATIOS = 4 };
enum { ALL_GPUS = 0x7fffffff, MODE_AUTO = 1, BLOB_LENGTH = 4096 };
static const unsigned short fields[N_FIELDS] = {FIELD_SM, FIELD_OCC, FIELD_TENSOR, FIELD_DRAM,
                                                FIELD_FB};

struct field_value {
    unsigned version;
    unsigned short id, type;
    int status;
    int64_t ts;
    union {
        int64_t i64;
        double dbl;
        char blob[BLOB_LENGTH];
    } value;
};

struct dcgm {
    void *library;
    uintptr_t handle;
    bool embedded;
    int index;
    int (*init)(void);
    int (*shutdown)(void);
    int (*connect)(const char *, uintptr_t *);
    int (*disconnect)(uintptr_t);
    int (*start)(int, uintptr_t *);
    int (*stop)(uintptr_t);
    int (*group)(uintptr_t, int, const unsigned short *, const char *, uintptr_t *);
    int (*watch)(uintptr_t, uintptr_t, uintptr_t, long long, double, int);
    int (*update)(uintptr_t, int);
    int (*latest)(uintptr_t, int, unsigned short *, unsigned, struct field_value *);
    struct field_value value[N_FIELDS];
};

static bool load(struct dcgm *d)
{
    static const char *const names[] = {"libdcgm.so.4", "libdcgm.so.3", "libdcgm.so.2"};
    const struct {
        const char *name;
        void *entry;
    } entries[] = {{"dcgmInit", &d->init},
                   {"dcgmShutdown", &d->shutdown},
                   {"dcgmConnect", &d->connect},
                   {"dcgmDisconnect", &d->disconnect},
                   {"dcgmStartEmbedded", &d->start},
                   {"dcgmStopEmbedded", &d->stop},
                   {"dcgmFieldGroupCreate", &d->group},
                   {"dcgmWatchFields", &d->watch},
                   {"dcgmUpdateAllFields", &d->update},
                   {"dcgmGetLatestValuesForFields", &d->latest}};
    for (size_t i = 0; d->library == NULL && i < sizeof names / sizeof *names; i++)
        d->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; d->library != NULL && i < sizeof entries / sizeof *entries; i++) {
        void *symbol = dlsym(d->library, entries[i].name);
        if (symbol == NULL)
            return false;
        memcpy(entries[i].entry, &symbol, sizeof symbol);
    }
    return d->library != NULL;
}

/* Its host engine if one runs, else one inside us. */
static int reach(struct dcgm *d)
{
    if (d->connect("127.0.0.1", &d->handle) == 0)
        return 0;
    int code = d->start(MODE_AUTO, &d->handle);
    d->embedded = code == 0;
    return code;
}

/* A host engine takes a name once. */
static int watch(struct dcgm *d)
{
    uintptr_t group;
    char name[32];
    snprintf(name, sizeof name, "colosim-%ld", (long)getpid());
    int code = d->group(d->handle, N_FIELDS, fields, name, &group);
    if (code == 0)
        code = d->watch(d->handle, ALL_GPUS, group, 1000000, 30, 0);
    return code == 0 ? d->update(d->handle, 1) : code;
}

static void leave(struct dcgm *d, bool reached)
{
    if (reached && d->embedded)
        d->stop(d->handle);
    else if (reached)
        d->disconnect(d->handle);
    d->shutdown();
}

struct dcgm *dcgm_open(int index, char *why, size_t size)
{
    struct dcgm *d = calloc(1, sizeof *d);
    int code = 0;
    if (d == NULL)
        return NULL;
    d->index = index;
    bool loaded = load(d);
    if (!loaded)
        snprintf(why, size, "libdcgm is not here");
    else if ((code = d->init()) != 0)
        loaded = false;
    else if ((code = reach(d)) != 0)
        leave(d, false);
    else if ((code = watch(d)) != 0)
        leave(d, true);
    if (loaded && code == 0)
        return d;
    if (code != 0)
        snprintf(why, size, "DCGM error %d%s", code,
                 code == -33 ? ": its profiling module is not loaded; it needs root, and no other "
                               "profiler"
                             : "");
    if (d->library != NULL)
        dlclose(d->library);
    free(d);
    return NULL;
}

void dcgm_close(struct dcgm *d)
{
    if (d == NULL)
        return;
    leave(d, true);
    dlclose(d->library);
    free(d);
}

void dcgm_read(struct dcgm *d, struct counter_reading *out)
{
    unsigned short id[N_FIELDS];
    double *ratio[N_RATIOS] = {&out->sm, &out->occ, &out->tensor, &out->dram};
    memcpy(id, fields, sizeof id);
    if (d->latest(d->handle, d->index, id, N_FIELDS, d->value) != 0)
        return;
    double value[N_RATIOS];
    bool any = false;
    for (int i = 0; i < N_RATIOS; i++) {
        const struct field_value *v = &d->value[i];
        bool known = v->status == 0 && v->value.dbl >= 0 && v->value.dbl <= 1.0001;
        value[i] = known ? 100 * v->value.dbl : NAN; /* blanks are huge */
        any = any || known;
    }
    for (int i = 0; i < N_RATIOS && any; i++)
        *ratio[i] = value[i];
    if (any)
        out->source = "dcgm";
}
