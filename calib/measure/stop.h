/* stop.h - waiting, and being asked to stop meanwhile.
 *
 * SIGINT and SIGTERM are blocked and read from a descriptor, so nothing happens between two
 * instructions and no state lives outside the struct. */
#ifndef COLOSIM_STOP_H
#define COLOSIM_STOP_H

#include "core/base/status.h"

#include <poll.h>
#include <stdbool.h>

struct stop {
    int fd;     /* a signalfd; -1: nothing can ask */
    int signal; /* the first one that came, 0 for none */
};

enum status stop_open(struct stop *s, struct error *err) MUST_USE;
void stop_close(struct stop *s);
/* Has one come? */
bool stop_asked(struct stop *s);
/* Waits until one of n descriptors (STOP_FDS_MAX at most) is ready, a signal came, or that many
 * seconds are over. */
enum { STOP_FDS_MAX = 4 };
void stop_wait(struct stop *s, struct pollfd *fds, int n, double seconds);

/* Seconds on a clock that only goes forward. */
double monotonic_s(void);

#endif
