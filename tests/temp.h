/* temp.h - a file with given bytes for a test, gone again with temp_remove. */
#ifndef COLOSIM_TESTS_TEMP_H
#define COLOSIM_TESTS_TEMP_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct temp_file {
    char path[256];
};

/* suffix may be ""; it is what a format is guessed from. */
static inline struct temp_file temp_file(const char *suffix, const void *bytes, size_t n)
{
    struct temp_file t;
    const char *folder = getenv("TMPDIR");
    snprintf(t.path, sizeof t.path, "%s/colosim-test-XXXXXX%s", folder ? folder : P_tmpdir, suffix);
    int fd = mkstemps(t.path, (int)strlen(suffix));
    cr_assert(fd >= 0, "no temporary file %s", t.path);
    cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
    cr_assert_eq(close(fd), 0);
    return t;
}

static inline struct temp_file temp_text(const char *suffix, const char *text)
{
    return temp_file(suffix, text, strlen(text));
}

static inline void temp_remove(const struct temp_file *t) { cr_assert_eq(unlink(t->path), 0); }

#endif
