/* ranks.h - the same program on several machines, started by mpirun or srun.
 *
 * Rank 0 has the list of work and the database. Every other rank serves a number of channels, one a
 * thread: it waits for an order, a number, and answers with bytes. At rank 0 a thread stands for
 * each channel of the others (see crew.h), so there is one list for threads and ranks alike.
 * Nobody spins while waiting. Without MPI, or without mpirun, there is one rank. */
#ifndef COLOSIM_RANKS_H
#define COLOSIM_RANKS_H

#include "core/base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranks {
    int rank, n;
    bool open;
    pthread_mutex_t lock; /* one thread at a time speaks */
};

/* What mpirun or srun says this rank is, 0 without them; before ranks_open. */
int ranks_expected(void);
/* True where this program was built with MPI. */
bool ranks_built(void);

enum status ranks_open(struct ranks *r, struct error *err) MUST_USE;
/* Every rank calls it, with its own outcome so far and a number that is the same where all mean the
 * same study. All go on, or all get the outcome of the first rank that cannot. */
enum status ranks_agree(struct ranks *r, enum status mine, uint64_t meaning,
                        struct error *err) MUST_USE;
/* Every rank calls it once it is done; all return the status of rank 0. */
enum status ranks_close(struct ranks *r, enum status status);

/* Rank 0: has a piece made by that rank and channel. The caller frees the bytes; NULL: it was
 * interrupted. */
enum status ranks_ask(struct ranks *r, int rank, int channel, int piece, unsigned char **bytes,
                      size_t *n, struct error *err) MUST_USE;
/* Rank 0: there is no more to do on that channel. */
void ranks_dismiss(struct ranks *r, int rank, int channel);
/* Others: the next piece, -1 when dismissed. */
int ranks_next(struct ranks *r, int channel);
/* Others: the answer; bytes NULL: interrupted. */
void ranks_answer(struct ranks *r, int channel, const unsigned char *bytes, size_t n);

#endif
