/* tar.h - what a tar archive holds, so that the tables in it can be read where they are.
 *
 * Nothing is ever written: a member is a stretch of the decompressed bytes. Extended headers are
 * passed over. */
#ifndef COLOSIM_TAR_H
#define COLOSIM_TAR_H

#include "traces/lines.h"

enum { TAR_BLOCK = 512 };

struct tar_member {
    char name[260];    /* with its folders */
    size_t skip, size; /* of its bytes in the archive, for lines_open */
    bool regular;      /* a file, no folder, link or header */
};

/* Whether a file that begins like this is an archive. */
bool tar_begins(const char *head, size_t n);
/* The next member; *at counts the bytes passed so far and starts at 0. ST_INPUT when the archive
 * is damaged or ends too early. */
enum status tar_next(struct lines *l, size_t *at, struct tar_member *member, bool *more,
                     struct error *err) MUST_USE;

#endif
