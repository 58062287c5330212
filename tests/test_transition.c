#include "core/elastico/catalog_file.h"
#include "core/elastico/transition.h"
#include "tests/leak.h"
#include "tests/temp.h"

#include <criterion/criterion.h>

TestSuite(transition, .fini = abort_on_leak);

static const struct transition_costs costs = {5, 15, 15, 45};

static const char text[] =
    "{\"workloads\": ["
    "{\"name\": \"small\", \"kind\": \"train\", \"model\": \"measured\", \"card\": \"a100-40g\", "
    "\"unit\": \"img\", \"params\": 1e6, \"knobs\": {\"bs\": [1, 2]}, \"profiles\": ["
    "{\"bs\": 1, \"rate\": 1, \"sm\": 0.5, \"fb_mib\": 1}, {\"bs\": 2, \"rate\": 2, \"sm\": 0.5, "
    "\"fb_mib\": 2}]}, "
    "{\"name\": \"large\", \"kind\": \"infer\", \"model\": \"measured\", \"card\": \"a100-40g\", "
    "\"unit\": \"tok\", \"params\": 1e8, \"knobs\": {\"bs\": [1, 2], \"pc\": [0, 1]}, "
    "\"profiles\": ["
    "{\"bs\": 1, \"pc\": 0, \"rate\": 1, \"sm\": 0.5, \"fb_mib\": 1}, "
    "{\"bs\": 1, \"pc\": 1, \"rate\": 1, \"sm\": 0.5, \"fb_mib\": 1}, "
    "{\"bs\": 2, \"pc\": 0, \"rate\": 1, \"sm\": 0.5, \"fb_mib\": 1}, "
    "{\"bs\": 2, \"pc\": 1, \"rate\": 1, \"sm\": 0.5, \"fb_mib\": 1}]}]}";

/* By hand: 1e6 parameters are the least of a checkpoint, 15 s; 1e8 are half way to 1e10, of an
 * engine's 5 to 15 s: 10 s; prefix caching is a flag. */
Test(transition, costs_follow_what_changes_and_the_size_of_the_model)
{
    struct temp_file file = temp_text(".json", text);
    struct workloads w = {0};
    struct error err = {{0}};
    cr_assert_eq(catalog_read(file.path, &w, &err), ST_OK, "%s", err.text);
    int32_t workload[2] = {0, 1};
    const struct rst r = {.w = &w, .workload = workload};
    cr_assert_float_eq(transition_move_s(&costs, &r, 0), 15, 1e-12);
    cr_assert_float_eq(transition_move_s(&costs, &r, 1), 10, 1e-12);
    int32_t small = w.config_begin[0], large = w.config_begin[1];
    cr_assert_float_eq(transition_config_s(&costs, &r, 0, small, small), 0, 0);
    cr_assert_float_eq(transition_config_s(&costs, &r, 0, small, small + 1), 15, 1e-12);
    for (int32_t a = 0; a < 4; a++)
        for (int32_t b = 0; b < 4; b++) {
            bool batch =
                config_index(&w, large + a, KNOB_BS) != config_index(&w, large + b, KNOB_BS);
            cr_assert_float_eq(transition_config_s(&costs, &r, 1, large + a, large + b),
                               batch ? 10 : 0, 1e-12);
        }
    workloads_free(&w);
    temp_remove(&file);
}
