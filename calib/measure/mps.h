/* mps.h - an MPS daemon of our own: started, asked, and gone with us.
 *
 * Pipe and log directories lie in a folder of our own, mode 0755, never in /tmp/nvidia-mps, which
 * every CUDA program would find. The daemon and its clients name the card by its UUID, since an
 * index would be translated twice. The compute mode is left as it is. */
#ifndef COLOSIM_MPS_H
#define COLOSIM_MPS_H

#include "calib/measure/child.h"

struct mps {
    char folder[256];     /* empty: not running */
    struct child_env env; /* for the daemon, and the part of it that clients need */
    pid_t daemon[4];      /* (n_daemons) processes that became ours with it */
    int n_daemons;
    bool deaf; /* ending clients took it too long: whoever sees that stops it, and asks no more */
};

/* ST_HELPER when nvidia-cuda-mps-control is not there, or the daemon does not answer. uuid may be
 * empty: every card. Afterwards m is empty again. */
enum status mps_start(struct mps *m, const char *uuid, struct error *err) MUST_USE;
/* Adds what a client needs to its environment, its limits included: thread_pct of the SMs, memory
 * of each of its processes; 0 for none. */
enum status mps_client_env(const struct mps *m, double thread_pct, double mem_limit_mib,
                           struct child_env *env, struct error *err) MUST_USE;

/* A process that the server serves. */
struct mps_client {
    pid_t server, pid;
};
/* Those that have this entry in their environment, which a job's processes inherit whatever session
 * they move to; all where it is NULL. Their number, at most max; 0 also where nothing answers. */
int mps_clients_of(const struct mps *m, const char *mark, struct mps_client *out, int max);
/* Ends them in the server's eyes before anybody kills them. */
void mps_terminate(struct mps *m, const char *mark);
/* Its daemon and servers, which may have become our children: nobody is to kill them. Their number,
 * at most max. */
int mps_processes(const struct mps *m, pid_t *out, int max);

/* Quits the daemon, and removes its folder; its logs go behind log_folder/mps.log, unless that is
 * NULL. Safe on an empty one. */
void mps_stop(struct mps *m, const char *log_folder);

/* Ends daemons that a killed run of ours left behind, and removes their folders. Returns how many.
 */
int mps_sweep(void);

#endif
