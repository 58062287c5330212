/* json_read.h - walking through a JSON text in memory, without building anything from it.
 *
 * What is asked for is read, the rest skipped. Strings are unescaped where they stand, so the text
 * changes and must be walked through only once; bytes that are not UTF-8 pass as they are. A text
 * that is no JSON makes broken true, and from then on nothing is found. */
#ifndef COLOSIM_JSON_READ_H
#define COLOSIM_JSON_READ_H

#include "traces/csv.h"

#include <stdbool.h>

struct json_read {
    char *at, *end;
    bool fresh; /* just behind a { or [ */
    bool broken;
};

struct json_read json_read_begin(char *text, size_t length);

/* If the next value is one, enters it; else false, and nothing has moved. */
bool json_read_object(struct json_read *r);
bool json_read_array(struct json_read *r);
/* The next member's key, its value then being next; false at the end of the object, behind it. */
bool json_read_member(struct json_read *r, struct field *key);
/* Is there another element, which is then next? False at the end of the array, behind it. */
bool json_read_element(struct json_read *r);
/* If the next value is a string, its bytes, borrowed from the text. */
bool json_read_string(struct json_read *r, struct field *out);
bool json_read_null(struct json_read *r);
/* Over the next value, whatever it is. */
void json_read_skip(struct json_read *r);
/* Nothing but blanks is left, and nothing was broken. */
bool json_read_ended(struct json_read *r);

#endif
