/* crew.h - several independent pieces of work on several threads, handed in in order.
 *
 * Threads take the next number from one list. What a piece gives is delivered in the order of the
 * list, whatever finished first, so the results do not depend on how many threads there are. Where
 * there are several, one more delivers and they go on with the next piece; at most CREW_AHEAD
 * pieces per thread are taken and not yet delivered. */
#ifndef COLOSIM_CREW_H
#define COLOSIM_CREW_H

#include "core/base/status.h"

enum { CREW_AHEAD = 4 };

struct crew_job {
    void *context;
    /* Runs on any thread; worker is the thread's number, 0 .. n_threads - 1. *product is passed on
     * to deliver. */
    enum status (*work)(void *context, int worker, int i, void **product, struct error *err);
    /* Called in order, one at a time, for every piece whose work ended well; owns the product. i is
     * -1 when an earlier piece failed and the product is only to be freed. */
    enum status (*deliver)(void *context, int i, void *product, struct error *err);
};

/* Does pieces 0 .. n - 1. The first failure (in order) ends it: pieces after it are not delivered.
 */
enum status crew_run(const struct crew_job *job, int n, int n_threads, struct error *err) MUST_USE;

#endif
