/* fail_nth.c - preloaded into a program, makes one of its allocations fail.
 *
 * FAIL_NTH=n lets the n-th malloc, calloc or realloc (from 1) return NULL; with FAIL_ALL=1 every
 * later one as well. FAIL_COUNT=PATH writes how many there were to PATH at exit. Without FAIL_NTH
 * nothing fails. The counter is file-scope because malloc has no object to keep it in. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_long n_calls;
static long fail_at; /* 0: never */
static bool fail_later;

__attribute__((constructor)) static void start(void)
{
    const char *nth = getenv("FAIL_NTH");
    n_calls = 0;
    fail_later = getenv("FAIL_ALL") != NULL;
    fail_at = nth == NULL ? 0 : strtol(nth, NULL, 10);
}

__attribute__((destructor)) static void stop(void)
{
    const char *path = getenv("FAIL_COUNT");
    fail_at = 0;
    if (path == NULL)
        return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&n_calls));
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, text, (size_t)length) != length || close(file) != 0)
        _exit(99);
}

static bool fails(void)
{
    long n = atomic_fetch_add(&n_calls, 1) + 1;
    if (fail_at == 0 || n < fail_at || (n > fail_at && !fail_later))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
