/* param.h - settings described once: the table drives defaults, ranges, JSON, --set, describe and
 * the database.
 *
 * A settings struct is plain; a const table names each field with unit, default, range and text.
 * A group is one struct under one prefix: the key of "restart_s" in group "srtf" is
 * "srtf.restart_s"; the empty prefix gives bare keys. */
#ifndef COLOSIM_PARAM_H
#define COLOSIM_PARAM_H

#include "core/base/arena.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum param_type {
    PARAM_TYPE_BOOL,
    PARAM_TYPE_INT,
    PARAM_TYPE_REAL,
    PARAM_TYPE_TEXT,
    PARAM_TYPE_CHOICE
};

struct param {
    const char *name;
    const char *unit; /* "s", "GPU-s", "jobs"; "1" for a pure number, "" for text, choice, bool */
    enum param_type type;
    size_t offset;
    double initial, min, max;   /* numbers and bool; the index for a choice */
    const char *initial_text;   /* text; NULL for none */
    const char *const *choices; /* NULL-terminated; the field is an int, the index */
    const char *doc;            /* one line; ends with its source in brackets where there is one */
};

// clang-format off
/* Field types: bool, int64_t, double, const char *, int. Sorted by name inside a table. */
#define PARAM_BOOL(type_, field_, initial_, doc_)                                                  \
    {#field_, "", PARAM_TYPE_BOOL, offsetof(type_, field_), initial_, 0, 1, NULL, NULL, doc_}
#define PARAM_INT(type_, field_, unit_, initial_, min_, max_, doc_)                                \
    {#field_, unit_, PARAM_TYPE_INT, offsetof(type_, field_), initial_, min_, max_, NULL, NULL, doc_}
#define PARAM_REAL(type_, field_, unit_, initial_, min_, max_, doc_)                               \
    {#field_, unit_, PARAM_TYPE_REAL, offsetof(type_, field_), initial_, min_, max_, NULL, NULL,   \
     doc_}
#define PARAM_TEXT(type_, field_, initial_, doc_)                                                  \
    {#field_, "", PARAM_TYPE_TEXT, offsetof(type_, field_), 0, 0, 0, initial_, NULL, doc_}
#define PARAM_CHOICE(type_, field_, choices_, initial_, doc_)                                      \
    {#field_, "", PARAM_TYPE_CHOICE, offsetof(type_, field_), initial_, 0, 0, NULL, choices_, doc_}
#define PARAM_END                                                                                  \
    {NULL, NULL, PARAM_TYPE_BOOL, 0, 0, 0, 0, NULL, NULL, NULL}
// clang-format on

struct param_group {
    const char *prefix;
    const struct param *params; /* ends with PARAM_END; NULL is an empty table */
    void *config;               /* the struct the offsets count in */
};

void param_defaults(const struct param_group *group);

/* Sets one key from text: true, on, 1 or false, off, 0; a decimal number; a choice by its name; an
 * empty text is none (NULL). Texts are copied into the arena. ST_USAGE names the key and what was
 * wanted, and for an unknown one the nearest known key. */
enum status param_set(const struct param_group *groups, size_t n_groups, const char *key,
                      const char *value, struct arena *arena, struct error *err) MUST_USE;

/* "KEY=VALUE". */
enum status param_set_pair(const struct param_group *groups, size_t n_groups, const char *pair,
                           struct arena *arena, struct error *err) MUST_USE;

/* The same from a value of a JSON text (jansson): a number, a string, true, false, or null for no
 * text. */
struct json_t;
enum status param_set_json(const struct param_group *groups, size_t n_groups, const char *key,
                           const struct json_t *value, struct arena *arena,
                           struct error *err) MUST_USE;

/* A JSON object of settings from a file: flat dotted keys, or objects nested by prefix. A key
 * given twice, an unknown key, a wrong type and a value out of range are ST_USAGE, each named, and
 * then nothing is set. */
enum status param_load(const struct param_group *groups, size_t n_groups, const char *path,
                       struct arena *arena, struct error *err) MUST_USE;

/* The value as text, in the form param_set reads. Borrowed until buffer changes. */
const char *param_text(const struct param *param, const void *config, char buffer[64]);

/* The same of its default. */
const char *param_initial(const struct param *param, char buffer[64]);

/* What may stand there, in words: "true or false", "0 to 1", "1 s or more", "off or strict". */
const char *param_range(const struct param *param, char buffer[256]);

/* "seed" -> the full key with its prefix, written to buffer. */
const char *param_key(const struct param_group *group, const struct param *param, char buffer[128]);

/* The nearest of n words by edit distance, or NULL when none is near. */
const char *nearest_word(const char *word, const char *const *words, size_t n);

#endif
