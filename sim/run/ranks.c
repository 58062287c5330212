#include "sim/run/ranks.h"

#include <stdlib.h>
#include <string.h>

/* How the launchers number their processes. */
static const char *const rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

static const char *rank_variable(void)
{
    for (size_t i = 0; i < sizeof rank_variables / sizeof *rank_variables; i++)
        if (getenv(rank_variables[i]) != NULL)
            return getenv(rank_variables[i]);
    return NULL;
}

int ranks_expected(void)
{
    const char *text = rank_variable();
    return text != NULL ? atoi(text) : 0;
}

#ifdef HAVE_MPI
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { TAG_ORDER, TAG_SIZE, TAG_BYTES, N_TAGS };
enum { WAIT_NS = 500000, CHUNK = 1 << 30, HOST_MAX = 64 };

bool ranks_built(void) { return true; }

enum status ranks_open(struct ranks *r, struct error *err)
{
    int given;
    *r = (struct ranks){.n = 1};
    if (rank_variable() == NULL) /* without a launcher MPI_Init would take a tenth of a second */
        return ST_OK;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given) != MPI_SUCCESS)
        return fail(err, ST_OUTPUT, "MPI cannot be started");
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->n);
    pthread_mutex_init(&r->lock, NULL);
    r->open = true;
    if (given < MPI_THREAD_SERIALIZED)
        return fail(err, ST_OUTPUT, "this MPI has no support for threads");
    return ST_OK;
}

struct outcome {
    int status;
    uint64_t meaning;
    char host[HOST_MAX];
    struct error err;
};

static enum status first_trouble(const struct outcome *all, int n, struct error *err)
{
    for (int i = 0; i < n; i++) {
        if (all[i].status == ST_OK && all[i].meaning == all[0].meaning)
            continue;
        if (all[i].status == ST_OK)
            return fail(err, ST_USAGE, "rank %d on %s was given another study than rank 0", i,
                        all[i].host);
        *err = all[i].err;
        if (i > 0)
            fail_in(err, "rank %d on %s", i, all[i].host);
        return (enum status)all[i].status;
    }
    return ST_OK;
}

enum status ranks_agree(struct ranks *r, enum status mine, uint64_t meaning, struct error *err)
{
    if (!r->open)
        return mine;
    struct outcome here = {.status = (int)mine, .meaning = meaning};
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    if (mine != ST_OK)
        here.err = *err;
    MPI_Get_processor_name(host, &length);
    snprintf(here.host, sizeof here.host, "%.63s", host);
    struct outcome *all = calloc((size_t)r->n, sizeof *all);
    if (all == NULL) /* the others would wait for ever */
        MPI_Abort(MPI_COMM_WORLD, (int)ST_OUTPUT);
    MPI_Allgather(&here, sizeof here, MPI_BYTE, all, sizeof here, MPI_BYTE, MPI_COMM_WORLD);
    enum status status = first_trouble(all, r->n, err);
    free(all);
    return status;
}

enum status ranks_close(struct ranks *r, enum status status)
{
    if (!r->open)
        return status;
    int code = (int)status;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    pthread_mutex_destroy(&r->lock);
    r->open = false;
    return (enum status)code;
}

/* Sleeps until a message is there: MPI's own waiting would take a processor from those who work. */
static void await_message(struct ranks *r, int rank, int tag)
{
    for (int there = 0; !there;) {
        pthread_mutex_lock(&r->lock);
        MPI_Iprobe(rank, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&r->lock);
        if (!there)
            nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
}

static void send(struct ranks *r, const void *bytes, size_t n, int rank, int tag)
{
    pthread_mutex_lock(&r->lock);
    for (const char *p = bytes; n > 0;) {
        int chunk = n < CHUNK ? (int)n : CHUNK;
        MPI_Send(p, chunk, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
        p += chunk;
        n -= (size_t)chunk;
    }
    pthread_mutex_unlock(&r->lock);
}

static void receive(struct ranks *r, void *bytes, size_t n, int rank, int tag)
{
    for (char *p = bytes; n > 0;) {
        int chunk = n < CHUNK ? (int)n : CHUNK;
        await_message(r, rank, tag);
        pthread_mutex_lock(&r->lock);
        MPI_Recv(p, chunk, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_mutex_unlock(&r->lock);
        p += chunk;
        n -= (size_t)chunk;
    }
}

enum status ranks_ask(struct ranks *r, int rank, int channel, int piece, unsigned char **bytes,
                      size_t *n, struct error *err)
{
    int tag = channel * N_TAGS;
    uint64_t size;
    send(r, &piece, sizeof piece, rank, tag + TAG_ORDER);
    receive(r, &size, sizeof size, rank, tag + TAG_SIZE);
    *bytes = NULL;
    *n = (size_t)size;
    if (size == 0)
        return ST_OK;
    *bytes = malloc((size_t)size);
    if (*bytes == NULL) /* what is on its way must be taken off it */
        MPI_Abort(MPI_COMM_WORLD, (int)fail_memory(err));
    receive(r, *bytes, (size_t)size, rank, tag + TAG_BYTES);
    return ST_OK;
}

void ranks_dismiss(struct ranks *r, int rank, int channel)
{
    int none = -1;
    send(r, &none, sizeof none, rank, channel * N_TAGS + TAG_ORDER);
}

int ranks_next(struct ranks *r, int channel)
{
    int piece;
    receive(r, &piece, sizeof piece, 0, channel * N_TAGS + TAG_ORDER);
    return piece;
}

void ranks_answer(struct ranks *r, int channel, const unsigned char *bytes, size_t n)
{
    uint64_t size = bytes != NULL ? n : 0;
    send(r, &size, sizeof size, 0, channel * N_TAGS + TAG_SIZE);
    send(r, bytes, (size_t)size, 0, channel * N_TAGS + TAG_BYTES);
}

#else
bool ranks_built(void) { return false; }

enum status ranks_open(struct ranks *r, struct error *err)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    *r = (struct ranks){.n = 1};
    if (ranks_expected() > 0 || (size != NULL && atoi(size) > 1))
        return fail(err, ST_USAGE, "this colosim was built without MPI: start it once, with -j N");
    return ST_OK;
}

enum status ranks_agree(struct ranks *r, enum status mine, uint64_t meaning, struct error *err)
{
    (void)r, (void)meaning, (void)err;
    return mine;
}

enum status ranks_close(struct ranks *r, enum status status)
{
    (void)r;
    return status;
}

/* Nobody is there to be asked, and nobody asks. */
enum status ranks_ask(struct ranks *r, int rank, int channel, int piece, unsigned char **bytes,
                      size_t *n, struct error *err)
{
    (void)r, (void)channel, (void)piece, (void)bytes, (void)n;
    return fail(err, ST_USAGE, "there is no rank %d", rank);
}

void ranks_dismiss(struct ranks *r, int rank, int channel) { (void)r, (void)rank, (void)channel; }

int ranks_next(struct ranks *r, int channel)
{
    (void)r, (void)channel;
    return -1;
}

void ranks_answer(struct ranks *r, int channel, const unsigned char *bytes, size_t n)
{
    (void)r, (void)channel, (void)bytes, (void)n;
}
#endif
