/* inputs.h - the files of a trace: paths, what their folders hold in byte order of the names, and
 * the tables inside tar archives.
 *
 * Each is opened once to see its first row, by which formats are told apart; a pipe stays open, as
 * it can be read only once. In folders and archives only .csv and .csv.gz are looked at (and
 * archives in folders); what is left out goes into the report. */
#ifndef COLOSIM_INPUTS_H
#define COLOSIM_INPUTS_H

#include "traces/csv.h"
#include "traces/trace.h"

struct format;

struct input {
    char *name;          /* for people: "a.csv", "b.tar.gz:a.csv"; owned */
    const char *base;    /* the last part of it */
    char *path;          /* owned */
    size_t skip, size;   /* the part of the decompressed bytes */
    bool found;          /* in a folder or an archive, not named by the user */
    struct field *first; /* (n_first) the first row; one block with its text, owned */
    size_t n_first;
    struct lines lines;          /* open where the file can be read only once */
    int path_no;                 /* of the paths given */
    const struct format *format; /* that reads it */
    int table;                   /* which table of its format, as it counts; 0 to begin with */
};

struct inputs {
    struct input *input; /* (n) in the order to be read */
    size_t n, capacity;
};

enum status inputs_find(struct inputs *in, const char *const *paths, int n_paths,
                        struct import_report *report, struct error *err) MUST_USE;
/* Its lines from the first, to be closed by the caller. */
enum status input_open(struct input *input, struct lines *l, struct error *err) MUST_USE;
void inputs_free(struct inputs *in);

#endif
