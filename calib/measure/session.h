/* session.h - runs one job, or two at once, and measures a window of them.
 *
 * Jobs are started one after the other (training before inference, which looks at the free memory
 * when it starts), each until it is ready; together they are told to go. Warm-up, then the window;
 * both must run through all of it. A rate counts if it was printed in the window and the line
 * before came after both had started. At the end each is terminated in the MPS server first, then
 * gets SIGTERM and after grace_s SIGKILL. */
#ifndef COLOSIM_SESSION_H
#define COLOSIM_SESSION_H

#include "calib/measure/scene.h"

/* Fills m, whatever becomes of the jobs; a status other than ST_OK is about us: ST_HELPER where MPS
 * does not start, ST_INTERRUPTED when asked to stop, m then being worth nothing. job[i] belongs to
 * m->job[i]. No job is left running. */
enum status session_measure(struct session *s, const struct measured_job *const job[2],
                            struct measurement *m, struct error *err) MUST_USE;
void session_end(struct session *s);

#endif
