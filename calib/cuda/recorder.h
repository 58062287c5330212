/* recorder.h - what intercept.c saw, into this process's ring (calib/measure/ring.h).
 *
 * No thread, no signal, nothing at exit; nothing at all before the first call here, or where
 * RING_FOLDER is not set. A forked child gets a file of its own at its first call. State lies in
 * file-scope variables, since those who call know nothing of it. Each takes what the driver
 * returned, 0 for success, and gives it back; failures count nothing. */
#ifndef COLOSIM_CUDA_RECORDER_H
#define COLOSIM_CUDA_RECORDER_H

#include <stdint.h>

struct ring;
struct timed;
struct recorder_launch {
    struct ring *ring;   /* NULL: nothing is recorded */
    struct timed *timed; /* not NULL: this launch stands between two events */
};
/* Around a kernel's launch, on one thread. */
struct recorder_launch recorder_before_launch(void *stream);
int recorder_after_launch(struct recorder_launch l, int result, void *stream);
int recorder_graph(int result);

/* key: the pointer or handle, so that the size is known when it is freed; 0 is none. */
int recorder_allocated(int result, uint64_t key, uint64_t bytes);
int recorder_freed(int result, uint64_t key);
int recorder_sent(int result, uint64_t n_items);

#endif
