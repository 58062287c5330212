#include "calib/measure/stop.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum status stop_open(struct stop *s, struct error *err)
{
    sigset_t set;
    *s = (struct stop){.fd = -1};
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
        s->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return s->fd >= 0 ? ST_OK : fail(err, ST_OUTPUT, "signalfd: %s", strerror(errno));
}

void stop_close(struct stop *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

bool stop_asked(struct stop *s)
{
    struct signalfd_siginfo info;
    if (s->fd >= 0 && read(s->fd, &info, sizeof info) == sizeof info && s->signal == 0)
        s->signal = (int)info.ssi_signo;
    return s->signal != 0;
}

void stop_wait(struct stop *s, struct pollfd *fds, int n, double seconds)
{
    struct pollfd all[STOP_FDS_MAX + 1];
    assert(n <= STOP_FDS_MAX);
    for (int i = 0; i < n; i++)
        all[i] = fds[i];
    all[n] = (struct pollfd){.fd = s->signal == 0 ? s->fd : -1, .events = POLLIN};
    double ms = seconds * 1000 + 1;
    poll(all, (nfds_t)n + 1, ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms);
    for (int i = 0; i < n; i++)
        fds[i].revents = all[i].revents;
}

double monotonic_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
