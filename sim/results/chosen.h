/* chosen.h - the runs that a figure or a page is about. */
#ifndef COLOSIM_CHOSEN_H
#define COLOSIM_CHOSEN_H

#include "sim/results/store.h"

/* All-zero is none. */
struct chosen {
    int64_t *run; /* (n) ids, in the order asked for */
    size_t n, capacity;
    char *json; /* "[3,1]", for json_each */
};

/* Each word is a run's name, or several with commas between; without words, all complete runs as
 * they were stored. ST_INPUT where none is complete. The caller frees in any case. */
enum status chosen_find(struct chosen *c, struct store *s, const char *const *word, size_t n_words,
                        struct error *err) MUST_USE;
void chosen_free(struct chosen *c);

#endif
