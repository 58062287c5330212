/* leak.h - makes a leaking test fail under AddressSanitizer.
 *
 * Criterion's workers end without LeakSanitizer's check at exit, so each suite asks for it:
 * TestSuite(name, .fini = abort_on_leak). Without the sanitizer it does nothing. */
#ifndef COLOSIM_TESTS_LEAK_H
#define COLOSIM_TESTS_LEAK_H

#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
static inline void abort_on_leak(void)
{
    if (__lsan_do_recoverable_leak_check() != 0)
        abort();
}
#else
static inline void abort_on_leak(void) {}
#endif

#endif
