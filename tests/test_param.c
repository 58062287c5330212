#include "core/base/param.h"

#include "tests/leak.h"
#include "tests/temp.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(param, .fini = abort_on_leak);

static const char *const place_names[] = {"first-fit", "best-fit", "spread", NULL};

struct bare {
    bool strict;
    int64_t seed;
    double load;
    const char *policy, *label;
    int place;
};
static const struct param bare_params[] = {
    PARAM_TEXT(struct bare, label, NULL, "a name for the run"),
    PARAM_REAL(struct bare, load, "1", 1.2, 0, 100, "offered load"),
    PARAM_CHOICE(struct bare, place, place_names, 1, "where tasks go"),
    PARAM_TEXT(struct bare, policy, "fifo", "who decides"),
    PARAM_INT(struct bare, seed, "1", 1, 0, 9007199254740992, "of every random stream"),
    PARAM_BOOL(struct bare, strict, false, "a bad row is an error"),
    PARAM_END,
};

struct share {
    int64_t max_jobs;
    double wait_s;
};
static const struct param share_params[] = {
    PARAM_INT(struct share, max_jobs, "jobs", 1, 1, 8, "on one card"),
    PARAM_REAL(struct share, wait_s, "s", 0.5, 0, INFINITY, "before sharing"),
    PARAM_END,
};

/* Both structs at their defaults, and the groups over them. */
struct fixture {
    struct bare bare;
    struct share share;
    struct param_group group[3];
    struct arena arena;
    struct error err;
};

static void start(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->group[0] = (struct param_group){"", bare_params, &f->bare};
    f->group[1] = (struct param_group){"share", share_params, &f->share};
    f->group[2] = (struct param_group){"empty", NULL, NULL};
    for (int i = 0; i < 3; i++)
        param_defaults(&f->group[i]);
}

static enum status set(struct fixture *f, const char *key, const char *value)
{
    return param_set(f->group, 3, key, value, &f->arena, &f->err);
}

static enum status load(struct fixture *f, const char *json)
{
    struct temp_file file = temp_text(".json", json);
    enum status status = param_load(f->group, 3, file.path, &f->arena, &f->err);
    temp_remove(&file);
    return status;
}

static void assert_defaults(const struct fixture *f)
{
    cr_assert_not(f->bare.strict);
    cr_assert_eq(f->bare.seed, 1);
    cr_assert_float_eq(f->bare.load, 1.2, 0);
    cr_assert_str_eq(f->bare.policy, "fifo");
    cr_assert_null(f->bare.label);
    cr_assert_eq(f->bare.place, 1);
    cr_assert_eq(f->share.max_jobs, 1);
    cr_assert_float_eq(f->share.wait_s, 0.5, 0);
}

Test(param, defaults_come_from_the_table)
{
    struct fixture f;
    start(&f);
    f.bare = (struct bare){.strict = true, .seed = -1, .place = 7};
    param_defaults(&f.group[0]);
    assert_defaults(&f);
}

Test(param, every_type_is_read_from_text)
{
    struct fixture f;
    start(&f);
    cr_assert_eq(set(&f, "strict", "on"), ST_OK);
    cr_assert_eq(set(&f, "seed", "9007199254740991"), ST_OK);
    cr_assert_eq(set(&f, "load", " 1.5e-1 "), ST_OK);
    cr_assert_eq(set(&f, "policy", "sjf"), ST_OK);
    cr_assert_eq(set(&f, "place", "spread"), ST_OK);
    cr_assert_eq(set(&f, "share.max_jobs", "2"), ST_OK);
    cr_assert(f.bare.strict);
    cr_assert_eq(f.bare.seed, 9007199254740991);
    cr_assert_float_eq(f.bare.load, 0.15, 0);
    cr_assert_str_eq(f.bare.policy, "sjf");
    cr_assert_eq(f.bare.place, 2);
    cr_assert_eq(f.share.max_jobs, 2);
    arena_free(&f.arena);
}

Test(param, six_words_are_booleans)
{
    static const struct {
        const char *text;
        bool value;
    } rows[] = {{"true", true},   {"on", true},   {"1", true},
                {"false", false}, {"off", false}, {"0", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        start(&f);
        f.bare.strict = !rows[i].value;
        cr_assert_eq(set(&f, "strict", rows[i].text), ST_OK);
        cr_assert_eq(f.bare.strict, rows[i].value, "%s", rows[i].text);
    }
}

Test(param, a_whole_number_may_have_an_exponent_but_no_rest)
{
    struct fixture f;
    start(&f);
    cr_assert_eq(set(&f, "seed", "1e6"), ST_OK);
    cr_assert_eq(f.bare.seed, 1000000);
    cr_assert_eq(set(&f, "seed", "12.50e1"), ST_OK);
    cr_assert_eq(f.bare.seed, 125);
    cr_assert_eq(set(&f, "seed", "7.5"), ST_USAGE);
    cr_assert_eq(set(&f, "seed", "7.04"), ST_USAGE);
    cr_assert_eq(f.bare.seed, 125);
}

Test(param, an_empty_text_is_none)
{
    struct fixture f;
    start(&f);
    cr_assert_eq(set(&f, "policy", ""), ST_OK);
    cr_assert_null(f.bare.policy);
}

Test(param, a_text_is_copied)
{
    struct fixture f;
    start(&f);
    char value[] = "sjf";
    cr_assert_eq(set(&f, "policy", value), ST_OK);
    value[0] = 'X';
    cr_assert_str_eq(f.bare.policy, "sjf");
    arena_free(&f.arena);
}

Test(param, a_wrong_value_is_refused_with_what_was_wanted_and_changes_nothing)
{
    static const struct {
        const char *key, *value, *text;
    } rows[] = {
        {"seed", "seven", "setting 'seed' is 'seven', want a whole number, 0 to 9007199254740992"},
        {"seed", "-1", "setting 'seed' is '-1', want a whole number, 0 to 9007199254740992"},
        {"seed", "", "setting 'seed' is '', want a whole number, 0 to 9007199254740992"},
        {"seed", "1e30", "setting 'seed' is '1e30', want a whole number, 0 to 9007199254740992"},
        {"load", "1.2x", "setting 'load' is '1.2x', want a number, 0 to 100"},
        {"load", "nan", "setting 'load' is 'nan', want a number, 0 to 100"},
        {"load", "1,5", "setting 'load' is '1,5', want a number, 0 to 100"},
        {"load", "100.5", "setting 'load' is '100.5', want a number, 0 to 100"},
        {"share.wait_s", "-2", "setting 'share.wait_s' is '-2', want a number, 0 s or more"},
        {"share.wait_s", "inf", "setting 'share.wait_s' is 'inf', want a number, 0 s or more"},
        {"share.max_jobs", "9",
         "setting 'share.max_jobs' is '9', want a whole number, 1 to 8 jobs"},
        {"strict", "maybe", "setting 'strict' is 'maybe', want true or false"},
        {"place", "sprad", "setting 'place' is 'sprad', want first-fit, best-fit or spread"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        start(&f);
        cr_assert_eq(set(&f, rows[i].key, rows[i].value), ST_USAGE, "%s", rows[i].value);
        cr_assert_str_eq(f.err.text, rows[i].text);
        assert_defaults(&f);
    }
}

Test(param, an_unknown_key_is_named_and_the_nearest_suggested)
{
    static const struct {
        const char *key, *text;
    } rows[] = {
        {"sede", "unknown setting 'sede': did you mean 'seed'?"},
        {"polcy", "unknown setting 'polcy': did you mean 'policy'?"},
        {"share.maxjobs", "unknown setting 'share.maxjobs': did you mean 'share.max_jobs'?"},
        {"max_jobs", "unknown setting 'max_jobs': did you mean 'share.max_jobs'?"},
        {"share.seed", "unknown setting 'share.seed'"},
        {"x", "unknown setting 'x'"},
        {"", "unknown setting ''"},
        {"completely-different", "unknown setting 'completely-different'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        start(&f);
        cr_assert_eq(set(&f, rows[i].key, "1"), ST_USAGE);
        cr_assert_str_eq(f.err.text, rows[i].text);
    }
}

Test(param, a_very_long_key_is_unknown_and_gets_no_suggestion)
{
    struct fixture f;
    start(&f);
    char *key = malloc(70001);
    cr_assert_not_null(key);
    memset(key, 's', 70000);
    key[70000] = '\0';
    cr_assert_eq(set(&f, key, "1"), ST_USAGE);
    cr_assert_eq(strncmp(f.err.text, "unknown setting 'sss", 20), 0);
    cr_assert_null(strstr(f.err.text, "did you mean"));
    free(key);
}

Test(param, a_pair_is_cut_at_its_first_equals_sign)
{
    struct fixture f;
    start(&f);
    cr_assert_eq(param_set_pair(f.group, 3, "label=a=b", &f.arena, &f.err), ST_OK);
    cr_assert_str_eq(f.bare.label, "a=b");
    cr_assert_eq(param_set_pair(f.group, 3, "label", &f.arena, &f.err), ST_USAGE);
    cr_assert_str_eq(f.err.text, "'label' is no setting, want KEY=VALUE");
    cr_assert_eq(param_set_pair(f.group, 3, "=3", &f.arena, &f.err), ST_USAGE);
    arena_free(&f.arena);
}

Test(param, text_written_is_text_read)
{
    static const struct {
        const char *key, *value;
    } rows[] = {
        {"strict", "true"},
        {"strict", "false"},
        {"seed", "9007199254740991"},
        {"load", "0.1"},
        {"load", "33.333333333333336"},
        {"load", "1e-300"},
        {"place", "first-fit"},
        {"policy", ""},
        {"policy", "a text of more than the sixty-three bytes that a buffer for numbers can hold"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        start(&f);
        cr_assert_eq(set(&f, rows[i].key, rows[i].value), ST_OK);
        const struct param *p = bare_params;
        while (strcmp(p->name, rows[i].key) != 0)
            p++;
        char buffer[64];
        cr_assert_str_eq(param_text(p, &f.bare, buffer), rows[i].value);
        arena_free(&f.arena);
    }
}

Test(param, a_range_is_written_with_its_unit)
{
    char buffer[256];
    cr_assert_str_eq(param_range(&bare_params[0], buffer), "text");
    cr_assert_str_eq(param_range(&bare_params[1], buffer), "0 to 100");
    cr_assert_str_eq(param_range(&bare_params[2], buffer), "first-fit, best-fit or spread");
    cr_assert_str_eq(param_range(&bare_params[5], buffer), "true or false");
    cr_assert_str_eq(param_range(&share_params[0], buffer), "1 to 8 jobs");
    cr_assert_str_eq(param_range(&share_params[1], buffer), "0 s or more");
}

Test(param, a_key_carries_its_groups_prefix)
{
    struct fixture f;
    start(&f);
    char buffer[128];
    cr_assert_str_eq(param_key(&f.group[0], &bare_params[4], buffer), "seed");
    cr_assert_str_eq(param_key(&f.group[1], &share_params[0], buffer), "share.max_jobs");
}

Test(param, a_file_sets_flat_and_nested_keys)
{
    struct fixture f;
    start(&f);
    enum status status =
        load(&f, "{\"seed\": 8, \"load\": 2, \"policy\": \"sjf\", \"strict\": true,"
                 " \"place\": \"spread\", \"label\": null,"
                 " \"share\": {\"max_jobs\": 2.0}, \"share.wait_s\": 1.25}");
    cr_assert_eq(status, ST_OK, "%s", f.err.text);
    cr_assert_eq(f.bare.seed, 8);
    cr_assert_float_eq(f.bare.load, 2, 0);
    cr_assert_str_eq(f.bare.policy, "sjf");
    cr_assert(f.bare.strict);
    cr_assert_eq(f.bare.place, 2);
    cr_assert_null(f.bare.label);
    cr_assert_eq(f.share.max_jobs, 2);
    cr_assert_float_eq(f.share.wait_s, 1.25, 0);
    arena_free(&f.arena);
}

Test(param, a_wrong_file_is_refused_with_its_path_and_changes_nothing)
{
    static const struct {
        const char *json, *text;
    } rows[] = {
        {"{\"policy\": \"sjf\", \"sede\": 7}", ": unknown setting 'sede': did you mean 'seed'?"},
        {"{\"policy\": \"sjf\", \"seed\": \"seven\"}", "setting 'seed' is \"seven\", want a whole"},
        {"{\"policy\": \"sjf\", \"seed\": \"7\"}", "setting 'seed' is \"7\", want a whole"},
        {"{\"policy\": \"sjf\", \"seed\": 7.5}", "setting 'seed' is '7.5', want a whole"},
        {"{\"policy\": \"sjf\", \"seed\": -7}", "setting 'seed' is '-7', want a whole"},
        {"{\"policy\": \"sjf\", \"strict\": 1}", "setting 'strict' is 1, want true or false"},
        {"{\"seed\": 2, \"policy\": 7}", "setting 'policy' is 7, want text"},
        {"{\"seed\": 2, \"policy\": [\"fifo\", \"fifo\", \"fifo\", \"fifo\", \"las\", \"sjf\"]}",
         "setting 'policy' is [\"fifo\",\"fifo\",\"fifo\",\"fifo\",\"las\",\"..., want text"},
        {"{\"seed\": 2, \"place\": 1}", "setting 'place' is 1, want first-fit, best-fit or spread"},
        {"{\"seed\": 2, \"policy\": {\"name\": \"fifo\"}}", "want text"},
        {"{\"seed\": 7, \"policy\": \"fifo\", \"seed\": 8}", "seed"},
        {"{\"share.max_jobs\": 2, \"share\": {\"max_jobs\": 2}}",
         "setting 'share.max_jobs' is given twice"},
        {"{\"seed\": 2, \"share\": {\"maxjobs\": 2}}",
         "unknown setting 'share.maxjobs': did you mean 'share.max_jobs'?"},
        {"{\"seed\": 2, \"share\": {\"share\": {\"max_jobs\": 2}}}",
         "unknown setting 'share.share'"},
        {"[1, 2]", "want a JSON object"},
        {"{\"seed\": 2,\n \"load\" 3}", "line 2, column "},
        {"{\"seed\": 2} x", "line 1, column "},
        {"", "line 1, column "},
        {"{\"seed\": 99999999999999999999}", "line 1, column "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        start(&f);
        cr_assert_eq(load(&f, rows[i].json), ST_USAGE, "%s", rows[i].json);
        cr_assert_not_null(strstr(f.err.text, rows[i].text), "%s", f.err.text);
        cr_assert_not_null(strstr(f.err.text, ".json: "), "%s", f.err.text);
        assert_defaults(&f);
        arena_free(&f.arena);
    }
}

static void nested(char *text, size_t n, const char *opening, size_t length)
{
    for (size_t i = 0; i < n; i++)
        memcpy(text + i * length, opening, length);
    text[n * length] = '\0';
}

Test(param, twenty_thousand_brackets_are_an_error_and_no_crash)
{
    static const char *const openings[] = {"[", "{\"share\":", "{\"a\":"};
    char *text = malloc(20000 * 16);
    cr_assert_not_null(text);
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        start(&f);
        nested(text, 20000, openings[i], strlen(openings[i]));
        cr_assert_eq(load(&f, text), ST_USAGE);
        cr_assert_not_null(strstr(f.err.text, "line 1"), "%s", f.err.text);
    }
    free(text);
}

Test(param, a_missing_file_is_named)
{
    struct fixture f;
    start(&f);
    cr_assert_eq(param_load(f.group, 3, "no/such/file.json", &f.arena, &f.err), ST_USAGE);
    cr_assert_not_null(strstr(f.err.text, "no/such/file.json"), "%s", f.err.text);
    cr_assert_eq(param_load(f.group, 3, ".", &f.arena, &f.err), ST_USAGE);
}

Test(param, the_nearest_word_is_near_or_none)
{
    static const char *const words[] = {"fifo", "fifo-skip", "las", "sjf", "srtf", "easy-backfill"};
    static const struct {
        const char *word, *nearest;
    } rows[] = {
        {"fifoo", "fifo"},
        {"ffio", "fifo"},
        {"sjff", "sjf"},
        {"srft", "srtf"},
        {"fifoskip", "fifo-skip"},
        {"easybackfil", "easy-backfill"},
        {"elastico", NULL},
        {"", NULL},
        {"f", NULL},
        {"las", "las"},
        {"xyz", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *nearest = nearest_word(rows[i].word, words, 6);
        if (rows[i].nearest == NULL)
            cr_assert_null(nearest, "%s -> %s", rows[i].word, nearest);
        else
            cr_assert_str_eq(nearest, rows[i].nearest);
    }
}
