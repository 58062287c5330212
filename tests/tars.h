/* tars.h - tar archives made for a test, member by member. */
#ifndef COLOSIM_TESTS_TARS_H
#define COLOSIM_TESTS_TARS_H

#include <stdio.h>
#include <string.h>

struct tar_bytes {
    char bytes[32768];
    size_t n;
};

/* type: '0' a file, '5' a folder, 'x' an extended header. */
static inline void tar_add(struct tar_bytes *t, const char *prefix, const char *name, char type,
                           const char *text)
{
    char *block = t->bytes + t->n;
    unsigned sum = 0;
    snprintf(block, 100, "%s", name);
    snprintf(block + 124, 12, "%011o", (unsigned)strlen(text));
    memset(block + 148, ' ', 8);
    block[156] = type;
    memcpy(block + 257,
           "ustar\0"
           "00",
           8);
    snprintf(block + 345, 155, "%s", prefix);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    memcpy(block + 512, text, strlen(text));
    t->n += 512 + (strlen(text) + 511) / 512 * 512;
}

/* Two empty blocks. */
static inline void tar_end(struct tar_bytes *t) { t->n += 1024; }

#endif
