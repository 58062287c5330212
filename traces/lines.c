#include "traces/lines.h"

#include "core/base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { IN_BYTES = 64 * 1024, BUFFER_BYTES = 256 * 1024, GZIP_ONLY = 16 };

/* The file's own bytes: as many as read(2) gives, 0 at the end. */
static enum status read_file(struct lines *l, void *to, size_t n, size_t *got, struct error *err)
{
    ssize_t count;
    do
        count = read(l->fd, to, n);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return fail(err, ST_INPUT, "%s: %s", l->name, strerror(errno));
    *got = (size_t)count;
    l->in_ended = count == 0;
    return ST_OK;
}

static enum status refill_in(struct lines *l, struct error *err)
{
    size_t got = 0;
    if (l->in_begin == l->in_end)
        l->in_begin = l->in_end = 0;
    TRY(read_file(l, l->in + l->in_end, IN_BYTES - l->in_end, &got, err));
    l->in_end += got;
    return ST_OK;
}

static enum status source_open(struct lines *l, const char *path, struct error *err)
{
    l->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (l->fd < 0)
        return fail(err, ST_INPUT, "%s: %s", l->name, strerror(errno));
    while (l->in_end < 2 && !l->in_ended)
        TRY(refill_in(l, err));
    if (l->in_end < 2 || l->in[0] != 0x1f || l->in[1] != 0x8b)
        return ST_OK;
    l->z = calloc(1, sizeof *l->z);
    if (l->z == NULL)
        return fail_memory(err);
    if (inflateInit2(l->z, MAX_WBITS + GZIP_ONLY) != Z_OK) {
        free(l->z);
        l->z = NULL;
        return fail_memory(err);
    }
    return ST_OK;
}

static enum status read_plain(struct lines *l, char *to, size_t n, size_t *got, struct error *err)
{
    size_t have = l->in_end - l->in_begin < n ? l->in_end - l->in_begin : n;
    memcpy(to, l->in + l->in_begin, have);
    l->in_begin += have;
    while (have < n && !l->in_ended) {
        size_t more = 0;
        TRY(read_file(l, to + have, n - have, &more, err));
        have += more;
    }
    *got = have;
    return ST_OK;
}

/* Between two members: zeros are padding, anything but another member is damage. */
static enum status next_member(struct lines *l, struct error *err)
{
    while (l->in_begin < l->in_end && l->in[l->in_begin] == 0)
        l->in_begin++;
    if (l->in_begin == l->in_end)
        return ST_OK;
    if (l->in[l->in_begin] != 0x1f)
        return fail(err, ST_INPUT, "%s: damaged: something follows the compressed data", l->name);
    inflateReset(l->z);
    l->member_ended = false;
    return ST_OK;
}

static enum status read_gzip(struct lines *l, char *to, size_t n, size_t *got, struct error *err)
{
    struct z_stream_s *z = l->z;
    z->next_out = (unsigned char *)to;
    z->avail_out = n < UINT_MAX ? (unsigned)n : UINT_MAX;
    n = z->avail_out;
    while (z->avail_out > 0) {
        if (l->in_begin == l->in_end && !l->in_ended)
            TRY(refill_in(l, err));
        if (l->member_ended)
            TRY(next_member(l, err));
        if (l->in_begin == l->in_end && l->in_ended) {
            if (l->member_ended)
                break;
            return fail(err, ST_INPUT, "%s: incomplete: the compressed data ends too early",
                        l->name);
        }
        if (l->member_ended)
            continue;
        z->next_in = l->in + l->in_begin;
        z->avail_in = (unsigned)(l->in_end - l->in_begin);
        int rc = inflate(z, Z_NO_FLUSH);
        l->in_begin = l->in_end - z->avail_in;
        l->member_ended = rc == Z_STREAM_END;
        if (rc == Z_MEM_ERROR)
            return fail_memory(err);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return fail(err, ST_INPUT, "%s: damaged: %s", l->name, z->msg ? z->msg : "no gzip");
    }
    *got = n - z->avail_out;
    return ST_OK;
}

static enum status source_read(struct lines *l, char *to, size_t n, size_t *got, struct error *err)
{
    return l->z != NULL ? read_gzip(l, to, n, got, err) : read_plain(l, to, n, got, err);
}

/* Four lanes side by side, so that a processor can work on all of them at once. */
static void hash_block(uint64_t hash[4], const unsigned char *bytes)
{
    uint64_t word[4];
    memcpy(word, bytes, sizeof word);
    for (int i = 0; i < 4; i++) {
        hash[i] = (hash[i] ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash[i] ^= hash[i] >> 32;
    }
}

static void hash_bytes(struct lines *l, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + n;
    l->n_hashed += (int64_t)n;
    if (l->n_tail > 0) {
        size_t have = HASH_BLOCK - l->n_tail < n ? HASH_BLOCK - l->n_tail : n;
        memcpy(l->tail + l->n_tail, p, have);
        l->n_tail += have;
        p += have;
        if (l->n_tail < HASH_BLOCK)
            return;
        hash_block(l->hash, l->tail);
    }
    for (; end - p >= HASH_BLOCK; p += HASH_BLOCK)
        hash_block(l->hash, p);
    l->n_tail = (size_t)(end - p);
    memcpy(l->tail, p, l->n_tail);
}

uint64_t lines_hash(const struct lines *l)
{
    uint64_t hash[4] = {l->hash[0], l->hash[1], l->hash[2], l->hash[3]};
    unsigned char last[HASH_BLOCK] = {0};
    memcpy(last, l->tail, l->n_tail);
    hash_block(hash, last);
    uint64_t words[8] = {hash[0], hash[1], hash[2], hash[3], (uint64_t)l->n_hashed};
    uint64_t sum[4] = {1, 2, 3, 4};
    hash_block(sum, (const unsigned char *)words);
    hash_block(sum, (const unsigned char *)(words + 4));
    return sum[0] ^ (sum[1] * 3) ^ (sum[2] * 5) ^ (sum[3] * 7);
}

static bool has_more(const struct lines *l) { return l->left > 0; }

/* More bytes behind end; what lies before start is given up. */
static enum status fill(struct lines *l, struct error *err)
{
    size_t kept = l->end - l->start, got = 0;
    if (l->start > 0 && kept > 0)
        memmove(l->buffer, l->buffer + l->start, kept);
    l->next -= l->start;
    l->start = 0;
    l->end = kept;
    if (kept >= LINE_LIMIT)
        return fail(err, ST_INPUT, "%s:%lld: no line ends within %d MiB", l->name,
                    (long long)l->n + 1, LINE_LIMIT >> 20);
    if (kept == l->capacity && !ARRAY_GROW(l->buffer, l->capacity, kept * 2))
        return fail_memory(err);
    size_t want = l->capacity - kept < l->left ? l->capacity - kept : l->left;
    TRY(source_read(l, l->buffer + kept, want, &got, err));
    if (got < want && l->left != LINES_TO_END)
        return fail(err, ST_INPUT, "%s: incomplete: the archive ends too early", l->name);
    hash_bytes(l, l->buffer + kept, got);
    l->end += got;
    if (l->left != LINES_TO_END)
        l->left -= got;
    else if (got < want)
        l->left = 0;
    return ST_OK;
}

static enum status skip_source(struct lines *l, size_t n, struct error *err)
{
    while (n > 0) {
        size_t got = 0, want = n < l->capacity ? n : l->capacity;
        TRY(source_read(l, l->buffer, want, &got, err));
        if (got < want)
            return fail(err, ST_INPUT, "%s: incomplete: the archive ends too early", l->name);
        n -= got;
    }
    return ST_OK;
}

enum status lines_open(struct lines *l, const char *path, const char *name, size_t skip,
                       size_t size, struct error *err)
{
    enum status status = ST_OK;
    *l = (struct lines){.fd = -1, .left = size, .hash = {1, 2, 3, 4}};
    l->name = strdup(name);
    l->in = malloc(IN_BYTES);
    if (l->name == NULL || l->in == NULL || !ARRAY_GROW(l->buffer, l->capacity, BUFFER_BYTES)) {
        status = fail_memory(err);
        goto out;
    }
    TRY_OUT(source_open(l, path, err));
    TRY_OUT(skip_source(l, skip, err));
    TRY_OUT(fill(l, err));
    if (l->end >= 3 && memcmp(l->buffer, "\xef\xbb\xbf", 3) == 0)
        l->next = 3;
out:
    if (status != ST_OK)
        lines_close(l);
    return status;
}

/* Ends the current line at the first line feed at or after next. False when the file ended there
 * already. */
static enum status grow_line(struct lines *l, struct line *line, struct error *err)
{
    size_t from = l->next;
    char *found;
    while ((found = memchr(l->buffer + from, '\n', l->end - from)) == NULL && has_more(l)) {
        size_t known = l->end - l->start;
        TRY(fill(l, err));
        from = l->start + known;
    }
    if (found == NULL && l->next == l->end) {
        *line = (struct line){NULL, 0};
        return ST_OK;
    }
    size_t stop = found != NULL ? (size_t)(found - l->buffer) : l->end;
    l->next = found != NULL ? stop + 1 : l->end;
    if (stop > l->start && l->buffer[stop - 1] == '\r')
        stop--;
    *line = (struct line){l->buffer + l->start, stop - l->start};
    l->n++;
    return ST_OK;
}

enum status lines_next(struct lines *l, struct line *line, struct error *err)
{
    l->start = l->next;
    l->n_before = l->n;
    return grow_line(l, line, err);
}

enum status lines_join(struct lines *l, struct line *line, struct error *err)
{
    return grow_line(l, line, err);
}

void lines_back(struct lines *l)
{
    l->next = l->start;
    l->n = l->n_before;
}

enum status lines_block(struct lines *l, size_t n, const char **block, size_t *got,
                        struct error *err)
{
    l->start = l->next;
    while (l->end - l->start < n && has_more(l))
        TRY(fill(l, err));
    *got = l->end - l->start < n ? l->end - l->start : n;
    *block = l->buffer + l->start;
    l->next = l->start + *got;
    return ST_OK;
}

enum status lines_skip(struct lines *l, size_t n, struct error *err)
{
    size_t have = l->end - l->next < n ? l->end - l->next : n;
    l->next += have;
    l->start = l->next;
    return skip_source(l, n - have, err);
}

void lines_close(struct lines *l)
{
    if (l->z != NULL)
        inflateEnd(l->z);
    if (l->in != NULL && l->fd > STDIN_FILENO)
        close(l->fd);
    free(l->z);
    free(l->in);
    free(l->name);
    free(l->buffer);
    *l = (struct lines){0};
}
