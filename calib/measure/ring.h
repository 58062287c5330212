/* ring.h - what the profiling library (calib/cuda/intercept.c) leaves in memory, and reading it.
 *
 * Each process that makes a CUDA call has one file FOLDER/PID.ring, mapped by it: counters, which
 * are exact, and a ring of 4 MiB of the latest launches, from which whoever measures takes what is
 * new every two seconds. The file is the memory, so nothing is lost when a process is killed, and
 * nothing runs in it besides. */
#ifndef COLOSIM_RING_H
#define COLOSIM_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MAGIC  UINT64_C(0x31676e69726f6c63) /* "clring1" backwards */
#define RING_FOLDER "COLOSIM_RING_FOLDER" /* the variable that names it; not set: no profiling */
#define RING_EVERY  "COLOSIM_RING_TIME_EVERY" /* which kernels are timed: one of so many; 64 */
enum { RING_SLOTS = 4 * 1024 * 1024 / 16 };

enum ring_count {
    RING_LAUNCHES, /* kernels, whichever entry launched them */
    RING_GRAPHS,   /* graph launches: many kernels each */
    RING_ALLOCS,
    RING_ALLOC_BYTES,
    RING_FREES,
    RING_NCCL,
    RING_NCCL_ITEMS, /* elements of all of them */
    RING_TIMED,      /* kernels with an event before and behind */
    RING_TIMED_NS,   /* their lengths together */
    RING_USED_BYTES, /* allocated and not freed, and its peak */
    RING_PEAK_BYTES,
    N_RING_COUNTS
};
struct ring_slot {
    _Atomic uint64_t turn; /* 1 + the event's number, written last; 0: empty */
    _Atomic uint64_t ns;   /* CLOCK_MONOTONIC of the launch */
};
struct ring {
    uint64_t magic;
    _Atomic uint64_t count[N_RING_COUNTS];
    _Atomic uint64_t head; /* events so far */
    struct ring_slot slot[RING_SLOTS];
};

/* What a folder of rings holds together. */
struct ring_sums {
    int32_t n_processes;
    uint64_t count[N_RING_COUNTS];
    uint64_t n_gaps,
        gap_ns;      /* between successive launches of one process, as far as they were read */
    uint64_t n_lost; /* events overwritten before they were read */
};

/* Reads a folder's rings again and again. All-zero is a valid empty one. */
struct ring_reader {
    int32_t n;
    struct ring_place {
        char name[24];
        uint64_t next, last_ns; /* the event to read next, the time of the last; 0: none */
        uint64_t n_gaps, gap_ns, n_lost;
    } * place;
    size_t capacity;
};
/* Takes what is new, within two seconds of the time before lest it be overwritten. False when
 * memory is out. A folder that is not there is empty. */
bool ring_reader_take(struct ring_reader *r, const char *folder, struct ring_sums *out);
void ring_reader_free(struct ring_reader *r);

#endif
