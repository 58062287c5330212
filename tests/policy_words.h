/* policy_words.h - a policy's settings for a lab: the defaults, then "key=value" words. */
#ifndef COLOSIM_TESTS_POLICY_WORDS_H
#define COLOSIM_TESTS_POLICY_WORDS_H

#include "policies/registry.h"
#include "tests/lab.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Sets lab->config for its next run; keys are without the policy's name, "" leaves the defaults. */
static inline void configure(struct lab *l, const char *name, const char *words)
{
    const struct policy *policy = policy_find(name);
    cr_assert_not_null(policy, "%s", name);
    void *config = arena_alloc(&l->arena, 1, policy->config_size);
    struct param_group group = {policy->name, policy->params, config};
    struct error err = {{0}};
    param_defaults(&group);
    for (const char *w = words; *w != '\0'; w += strspn(w, " ")) {
        char pair[128];
        snprintf(pair, sizeof pair, "%s.%.*s", name, (int)strcspn(w, " "), w);
        cr_assert_eq(param_set_pair(&group, 1, pair, &l->arena, &err), ST_OK, "%s", err.text);
        w += strcspn(w, " ");
    }
    l->config = config;
}

#endif
