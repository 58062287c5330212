/* lines.h - the lines of a text file, plain or gzip.
 *
 * Lines may be of any length up to LINE_LIMIT, end in LF or CR LF, and the last needs no end. A
 * UTF-8 byte-order mark at the start is skipped. Concatenated gzip members are one stream; one
 * that ends inside a member, fails its checksum or is followed by something else is ST_INPUT,
 * because what was read until then would pass for a shorter trace. All-zero is a valid closed
 * reader. Cost: one search for the line's end; no allocation per line. */
#ifndef COLOSIM_LINES_H
#define COLOSIM_LINES_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_LIMIT = 256 << 20, HASH_BLOCK = 32 };
#define LINES_TO_END SIZE_MAX

struct line {
    const char *text; /* NULL after the last; not NUL-terminated */
    size_t length;    /* bytes, the line's end left out */
};

struct z_stream_s;
struct lines {
    char *name; /* for messages */
    int fd;
    struct z_stream_s *z; /* NULL for a plain file */
    unsigned char *in;    /* bytes of the file not yet passed on: in_begin .. in_end */
    size_t in_begin, in_end;
    bool in_ended, member_ended; /* no more bytes in the file; between two gzip members */
    char *buffer;                /* the current line begins at start, the one after it at next */
    size_t capacity, start, next, end;
    size_t left; /* bytes of this part that are not in the buffer yet */
    int64_t n,
        n_before;     /* number of the current line's last row of text, and of the one before it */
    uint64_t hash[4]; /* of n_hashed bytes, those in tail still to come */
    int64_t n_hashed;
    size_t n_tail;
    unsigned char tail[HASH_BLOCK];
};

/* Opens the part of size bytes (LINES_TO_END: all) that begins after skip decompressed bytes. "-"
 * is stdin. The name (copied) stands in messages. */
enum status lines_open(struct lines *l, const char *path, const char *name, size_t skip,
                       size_t size, struct error *err) MUST_USE;
/* The next line, borrowed until the next call. */
enum status lines_next(struct lines *l, struct line *line, struct error *err) MUST_USE;
/* The current line, grown by a line break and the line after it, for a quoted field that goes on.
 * What was there may have moved. NULL when the file ends. */
enum status lines_join(struct lines *l, struct line *line, struct error *err) MUST_USE;
/* The next call gives the current line once more. */
void lines_back(struct lines *l);
/* The next n bytes whatever they are, borrowed until the next call; *got < n only at the end. */
enum status lines_block(struct lines *l, size_t n, const char **block, size_t *got,
                        struct error *err) MUST_USE;
/* Passes over n bytes; ST_INPUT when there are not as many. */
enum status lines_skip(struct lines *l, size_t n, struct error *err) MUST_USE;
/* Of the decompressed bytes (of the part), so the same for plain and gzip; complete once the last
 * line was given out. */
uint64_t lines_hash(const struct lines *l);
void lines_close(struct lines *l);

#endif
