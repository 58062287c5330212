/* image.h - a run as bytes, on its way from the process that made it to the one that keeps the
 * database: a small database of its own. */
#ifndef COLOSIM_IMAGE_H
#define COLOSIM_IMAGE_H

#include "sim/results/store.h"

/* The caller frees the bytes with image_free. */
enum status image_make(const struct run_request *q, const struct run_result *r,
                       unsigned char **bytes, size_t *n, struct error *err) MUST_USE;
void image_free(unsigned char *bytes);
/* As store_point would have stored it. */
enum status image_store(struct store *s, unsigned char *bytes, size_t n, char name[128],
                        struct error *err) MUST_USE;

#endif
