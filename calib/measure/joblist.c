#include "calib/measure/joblist.h"

#include "core/base/names.h"
#include "core/base/param.h"
#include "core/cluster/job.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 100 };

static const char *const text_key[] = {"name", "command", "workload", "rate", "kind"};
enum { TEXT_NAME, TEXT_COMMAND, TEXT_WORKLOAD, TEXT_RATE, TEXT_KIND, N_TEXTS };
static const struct number_key {
    const char *key;
    size_t offset;
    double min, max;
} number_key[] = {
    {"samples_per_step", offsetof(struct measured_job, samples_per_step), 1e-9, 1e12},
    {"mem_limit_mib", offsetof(struct measured_job, mem_limit_mib), 1, 1e9},
    {"thread_pct", offsetof(struct measured_job, thread_pct), 1, 100},
    {"sm", offsetof(struct measured_job, given[GIVEN_SM]), 0, 100},
    {"occ", offsetof(struct measured_job, given[GIVEN_OCC]), 0, 100},
    {"tensor", offsetof(struct measured_job, given[GIVEN_TENSOR]), 0, 100},
    {"dram", offsetof(struct measured_job, given[GIVEN_DRAM]), 0, 100},
    {"peak_alloc_mib", offsetof(struct measured_job, given[GIVEN_PEAK_MIB]), 0, 1e9},
};
enum { N_NUMBERS = sizeof number_key / sizeof *number_key };

static bool name_is_fine(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n <= NAME_MAX_LENGTH && name[0] != '.' && name[0] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") == n;
}

/* Is it a word of the name, between '-'? */
static bool has_word(const char *name, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = name; (at = strstr(at, word)) != NULL; at++)
        if ((at == name || at[-1] == '-') && (at[n] == '\0' || at[n] == '-'))
            return true;
    return false;
}

static enum status check_rate(const char *rate, struct error *err)
{
    regex_t regex;
    char why[128];
    if (rate == NULL)
        return ST_OK;
    int error = regcomp(&regex, rate, REG_EXTENDED);
    if (error != 0) {
        regerror(error, &regex, why, sizeof why);
        return fail(err, ST_USAGE, "rate '%s': %s", rate, why);
    }
    size_t n_groups = regex.re_nsub;
    regfree(&regex);
    return n_groups >= 1 ? ST_OK
                         : fail(err, ST_USAGE, "rate '%s': want one group, as in ([0-9.]+)", rate);
}

enum status joblist_add(struct joblist *list, const struct measured_job *job, struct error *err)
{
    const char *workload = job->workload;
    size_t length = strcspn(job->name, "-");
    if (!name_is_fine(job->name))
        return fail(err, ST_USAGE,
                    "name '%.120s': want 1 to %d letters, digits, '.', '_', '+' and '-', not "
                    "beginning with '.' or '-'",
                    job->name, NAME_MAX_LENGTH);
    for (int32_t i = 0; i < list->n; i++)
        if (strcmp(list->job[i].name, job->name) == 0)
            return fail(err, ST_USAGE, "name '%s' is there twice", job->name);
    TRY(check_rate(job->rate, err));
    if (workload == NULL)
        workload = arena_text(&list->arena, job->name, length);
    else
        workload = arena_text(&list->arena, workload, strlen(workload));
    struct measured_job copy = *job;
    copy.name = arena_text(&list->arena, job->name, strlen(job->name));
    copy.command = arena_text(&list->arena, job->command, strlen(job->command));
    copy.workload = workload;
    if (job->rate != NULL)
        copy.rate = arena_text(&list->arena, job->rate, strlen(job->rate));
    if (copy.kind == KIND_UNKNOWN)
        copy.kind = has_word(job->name, "decode") || has_word(job->name, "prefill") ? KIND_INFER
                                                                                    : KIND_TRAIN;
    if (copy.name == NULL || copy.command == NULL || workload == NULL ||
        (job->rate != NULL && copy.rate == NULL) ||
        !ARRAY_GROW(list->job, list->capacity, list->n + 1))
        return fail_memory(err);
    list->job[list->n++] = copy;
    return ST_OK;
}

static enum status unknown_key(const char *key, struct error *err)
{
    const char *known[N_TEXTS + N_NUMBERS];
    for (int i = 0; i < N_TEXTS; i++)
        known[i] = text_key[i];
    for (int i = 0; i < N_NUMBERS; i++)
        known[N_TEXTS + i] = number_key[i].key;
    const char *near = nearest_word(key, known, N_TEXTS + N_NUMBERS);
    return fail(err, ST_USAGE, "there is no key '%s'%s%s%s", key,
                near != NULL ? ": did you mean '" : "", near != NULL ? near : "",
                near != NULL ? "'?" : "");
}

static enum status read_value(struct measured_job *job, const char *text[N_TEXTS], const char *key,
                              const json_t *value, struct error *err)
{
    for (int i = 0; i < N_TEXTS; i++)
        if (strcmp(key, text_key[i]) == 0) {
            text[i] = json_string_value(value);
            return text[i] != NULL ? ST_OK : fail(err, ST_USAGE, "%s: want a text", key);
        }
    for (int i = 0; i < N_NUMBERS; i++)
        if (strcmp(key, number_key[i].key) == 0) {
            double number = json_is_number(value) ? json_number_value(value) : NAN;
            if (!(number >= number_key[i].min && number <= number_key[i].max))
                return fail(err, ST_USAGE, "%s: want a number in %g to %g", key, number_key[i].min,
                            number_key[i].max);
            *(double *)(void *)((char *)job + number_key[i].offset) = number;
            return ST_OK;
        }
    return unknown_key(key, err);
}

static enum status read_job(struct joblist *out, json_t *object, struct error *err)
{
    const char *key, *text[N_TEXTS] = {NULL};
    json_t *value;
    struct measured_job job = {.samples_per_step = 1, .thread_pct = 100};
    for (int i = 0; i < N_GIVEN; i++)
        job.given[i] = NAN;
    if (!json_is_object(object))
        return fail(err, ST_USAGE, "want an object with name and command");
    json_object_foreach(object, key, value) TRY(read_value(&job, text, key, value, err));
    for (int i = TEXT_NAME; i <= TEXT_COMMAND; i++)
        if (text[i] == NULL)
            return fail(err, ST_USAGE, "there is no '%s'", text_key[i]);
    if (text[TEXT_KIND] != NULL && strcmp(text[TEXT_KIND], "train") == 0)
        job.kind = KIND_TRAIN;
    else if (text[TEXT_KIND] != NULL && strcmp(text[TEXT_KIND], "infer") == 0)
        job.kind = KIND_INFER;
    else if (text[TEXT_KIND] != NULL)
        return fail(err, ST_USAGE, "kind '%s': want train or infer", text[TEXT_KIND]);
    job.name = text[TEXT_NAME];
    job.command = text[TEXT_COMMAND];
    job.workload = text[TEXT_WORKLOAD];
    job.rate = text[TEXT_RATE];
    return joblist_add(out, &job, err);
}

enum status joblist_read(struct joblist *out, const char *path, struct error *err)
{
    enum status status = ST_OK;
    json_error_t where;
    errno = 0;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (json == NULL && errno == ENOMEM) /* jansson takes it for a syntax error */
        return fail_memory(err);
    if (json == NULL && where.line > 0)
        return fail(err, ST_USAGE, "%s: line %d, column %d: %s", path, where.line, where.column,
                    where.text);
    if (json == NULL)
        return fail(err, ST_USAGE, "%s", where.text); /* names the path */
    if (!json_is_array(json) || json_array_size(json) == 0)
        status = fail(err, ST_USAGE, "%s: want a list of jobs: [{\"name\": …, \"command\": …}, …]",
                      path);
    for (size_t i = 0; status == ST_OK && i < json_array_size(json); i++) {
        status = read_job(out, json_array_get(json, i), err);
        if (status == ST_USAGE)
            fail_in(err, "%s: job %zu", path, i + 1);
    }
    json_decref(json);
    return status;
}

void joblist_free(struct joblist *list)
{
    free(list->job);
    arena_free(&list->arena);
    *list = (struct joblist){0};
}

uint64_t joblist_hash(const struct joblist *list)
{
    uint64_t hash = 0;
    for (int32_t i = 0; i < list->n; i++) {
        const struct measured_job *j = &list->job[i];
        const double numbers[] = {j->kind, j->samples_per_step, j->mem_limit_mib, j->thread_pct};
        hash = bytes_hash(j->name, strlen(j->name), hash);
        hash = bytes_hash(j->command, strlen(j->command), hash);
        hash = bytes_hash(j->workload, strlen(j->workload), hash);
        if (j->rate != NULL)
            hash = bytes_hash(j->rate, strlen(j->rate), hash);
        hash = bytes_hash(numbers, sizeof numbers, hash);
    }
    return hash;
}
