/* hints.h - what known lines of failing CUDA programs mean, and what to do about them. */
#ifndef COLOSIM_HINTS_H
#define COLOSIM_HINTS_H

enum hint_action {
    HINT_TELL,  /* say what it means */
    HINT_RETRY, /* the MPS server is not ready: start the job again a little later */
    HINT_LOST,  /* a fault took the MPS clients with it: discard, restart the server */
};
struct hint {
    const char *text; /* stands in the line */
    enum hint_action action;
    const char *meaning;
};
/* The hint that a line gives; NULL: none. */
const struct hint *hint_of(const char *line);

#endif
