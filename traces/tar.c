#include "traces/tar.h"

#include <stdio.h>
#include <string.h>

/* Where things stand in a header block (POSIX ustar). */
enum { NAME = 0, SIZE = 124, CHECKSUM = 148, TYPE = 156, MAGIC = 257, PREFIX = 345 };
enum { NAME_BYTES = 100, SIZE_BYTES = 12, CHECKSUM_BYTES = 8, PREFIX_BYTES = 155 };

bool tar_begins(const char *head, size_t n)
{
    return n >= TAR_BLOCK && memcmp(head + MAGIC, "ustar", 5) == 0;
}

/* Octal digits, or, where the first bit is set, a big-endian number (GNU, beyond 8 GiB). */
static size_t read_number(const char *text, int n)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t value = 0;
    if (*p & 0x80) {
        for (int i = 1; i < n; i++)
            value = value << 8 | p[i];
        return value;
    }
    for (int i = 0; i < n && (p[i] == ' ' || (p[i] >= '0' && p[i] <= '7')); i++)
        if (p[i] != ' ')
            value = value << 3 | (size_t)(p[i] - '0');
    return value;
}

/* The sum of all bytes, those of the sum itself taken as blanks. */
static bool checksum_right(const char *block)
{
    size_t sum = 0;
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += i >= CHECKSUM && i < CHECKSUM + CHECKSUM_BYTES ? ' ' : (unsigned char)block[i];
    return sum == read_number(block + CHECKSUM, CHECKSUM_BYTES);
}

enum status tar_next(struct lines *l, size_t *at, struct tar_member *member, bool *more,
                     struct error *err)
{
    const char *block;
    size_t got;
    TRY(lines_block(l, TAR_BLOCK, &block, &got, err));
    if (got < TAR_BLOCK)
        return fail(err, ST_INPUT, "%s: incomplete: the archive ends too early", l->name);
    *more = block[0] != '\0';
    if (!*more)
        return ST_OK;
    member->size = read_number(block + SIZE, SIZE_BYTES);
    if (!checksum_right(block) || member->size > SIZE_MAX / 4 || *at > SIZE_MAX / 4)
        return fail(err, ST_INPUT, "%s: damaged: no header of an archive at byte %zu", l->name,
                    *at);
    bool prefixed = tar_begins(block, got) && block[MAGIC + 5] == '\0' && block[PREFIX] != '\0';
    snprintf(member->name, sizeof member->name, "%.*s%s%.*s", prefixed ? PREFIX_BYTES : 0,
             block + PREFIX, prefixed ? "/" : "", NAME_BYTES, block + NAME);
    member->regular = block[TYPE] == '0' || block[TYPE] == '\0';
    member->skip = *at + TAR_BLOCK;
    size_t padded = (member->size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    *at = member->skip + padded;
    return lines_skip(l, padded, err);
}
