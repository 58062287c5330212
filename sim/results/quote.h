/* quote.h - bytes as a CSV field, a JSON string, XML text or a word on a terminal.
 *
 * Names of jobs are opaque bytes. CSV passes them on as they are; the other three are text, where
 * a byte that is no UTF-8 becomes the four characters \xNN. */
#ifndef COLOSIM_QUOTE_H
#define COLOSIM_QUOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How many bytes the character at bytes takes (1 to 4), 0 where it is no UTF-8 (overlong forms,
 * surrogates and cut characters are none). n is what is left, at least 1. */
size_t utf8_length(const char *bytes, size_t n);
bool utf8_valid(const char *bytes, size_t n);

/* RFC 4180: quoted where it holds a comma, a quote or a line break. */
void quote_csv(FILE *to, const char *bytes, size_t n);
/* With its quotes. */
void quote_json(FILE *to, const char *text);
/* The same for a name, so that the bytes can be had back: a backslash of its own is doubled before
 * the string is quoted, so a lone \x in the parsed string is always one of ours. */
void quote_json_name(FILE *to, const char *bytes, size_t n);
/* For element text and attributes; what XML 1.0 cannot hold becomes \xNN as well. */
void quote_xml(FILE *to, const char *text);
/* On one line: control bytes become \xNN too. Cut, with "...", to fit size (at least 8). */
const char *quote_shown(const char *bytes, size_t n, char *buffer, size_t size);

#endif
