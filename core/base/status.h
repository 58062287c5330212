/* status.h - what a call that can fail returns, and the text that says why.
 *
 * The world being wrong (file, configuration, memory) is a status; the code being wrong is an
 * assert, left on in release; a normal "no" is a bool or -1. The place that detects a failure
 * writes what happened (fail); a boundary that knows where adds it in front (fail_in). Only
 * main prints errors and exits: status values are the program's exit codes. */
#ifndef COLOSIM_STATUS_H
#define COLOSIM_STATUS_H

#define MUST_USE                 __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

enum status {
    ST_OK = 0,
    ST_CHECK = 1,        /* a check failed */
    ST_USAGE = 2,        /* usage or configuration */
    ST_INPUT = 3,        /* a trace or other input refused */
    ST_OUTPUT = 4,       /* output or database; also memory that could not be had */
    ST_NOTHING = 5,      /* nothing ran */
    ST_HELPER = 6,       /* a helper program is missing */
    ST_INTERRUPTED = 130 /* SIGINT; SIGTERM exits with 143 */
};

struct error {
    char text[1024]; /* UTF-8 where its parts are; longer texts are cut */
};

/* Writes the text and returns the status, so that failing is one line. err may be NULL. */
enum status fail(struct error *err, enum status status, const char *format, ...) PRINTF_LIKE(3, 4);

/* Puts "WHERE: " before the text that is there. */
void fail_in(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

enum status fail_memory(struct error *err);

/* Passes a failure on where there is nothing to release. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum status try_status_ = (call);                                                          \
        if (try_status_ != ST_OK)                                                                  \
            return try_status_;                                                                    \
    } while (0)

/* The same where everything owned is released at the label out, and the result is status. */
#define TRY_OUT(call)                                                                              \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != ST_OK)                                                                       \
            goto out;                                                                              \
    } while (0)

#endif
