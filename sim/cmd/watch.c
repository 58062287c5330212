#include "sim/cmd/watch.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught; /* the signal; handlers can reach nothing else */

static void on_signal(int number) { caught = number; }

void watch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = (int)SA_RESETHAND; /* the second one ends the program */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int watch_exit_code(void) { return caught == 0 ? 0 : 128 + (int)caught; }

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_read(void *context, const struct import_report *report)
{
    const struct watcher *w = context;
    if (!w->quiet && report->n_rows > 0 && strcmp(report->format, "embedded") != 0)
        import_report_print(report, stderr);
}

/* Is it time to say something again? */
static bool is_due(struct watcher *w)
{
    double now = now_s();
    if (w->quiet || now - w->last_s < (w->bar ? 0.1 : 60))
        return false;
    w->last_s = now;
    return true;
}

static const char *bar_of(double done, char bar[31])
{
    for (int i = 0; i < 30; i++)
        bar[i] = i < (int)(done * 30) ? '#' : '.';
    bar[30] = '\0';
    return bar;
}

static void on_progress(void *context, int64_t now_us, int32_t n_ended, int32_t n_jobs)
{
    struct watcher *w = context;
    if (!is_due(w))
        return;
    double done = n_jobs > 0 ? (double)n_ended / n_jobs : 1;
    char time[32], bar[31];
    format_us(now_us, time);
    if (!w->bar)
        fprintf(stderr, "[t=%s s] %d of %d jobs ended\n", time, n_ended, n_jobs);
    else
        fprintf(stderr, "\r[%s] %3.0f %%  %d of %d jobs  t = %s s\033[K", bar_of(done, bar),
                done * 100, n_ended, n_jobs, time);
}

void watch_points(struct watcher *w, int n_done, int n_points, int n_failed)
{
    if (!is_due(w))
        return;
    double done = (double)n_done / n_points, left_s = (w->last_s - w->begin_s) * (1 / done - 1);
    char bar[31];
    if (!w->bar)
        fprintf(stderr, "%d of %d points done, %d failed, %.0f s to go\n", n_done, n_points,
                n_failed, left_s);
    else
        fprintf(stderr, "\r[%s] %3.0f %%  %d of %d points, %d failed, %.0f s to go\033[K",
                bar_of(done, bar), done * 100, n_done, n_points, n_failed, left_s);
}

struct run_watch watch_begin(struct watcher *w, bool quiet)
{
    *w = (struct watcher){.quiet = quiet, .bar = isatty(STDERR_FILENO)};
    w->begin_s = w->last_s = now_s();
    return (struct run_watch){&caught, on_read, on_progress, w};
}

void watch_end(struct watcher *w)
{
    if (w->bar && w->last_s != w->begin_s)
        fprintf(stderr, "\r\033[K");
}
