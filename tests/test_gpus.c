#include "core/cluster/gpus.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <strings.h>

TestSuite(gpus, .fini = abort_on_leak);

Test(gpus, memory_is_known_by_name_whatever_the_case)
{
    static const struct {
        const char *name;
        int mem_gib;
    } rows[] = {
        {"a100-40g", 40}, {"A100-80G", 80}, {"h100-80g", 80}, {"v100-16g", 16}, {"v100-32g", 32},
        {"T4", 16},       {"t4", 16},       {"P100", 16},     {"V100", 16},     {"V100M16", 16},
        {"V100M32", 32},  {"MISC", 0},      {"a10", 24},      {"rtx3090", 24},  {"", 0},
        {"k80-ours", 0},  {"v100-", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_eq(gpu_type_mem_mib(rows[i].name), rows[i].mem_gib * 1024, "%s", rows[i].name);
    cr_assert_float_eq(gpu_type_mem_mib("h200") / 1024.0, 141, 1);
}

Test(gpus, a_name_outside_the_table_is_not_found)
{
    cr_assert_null(gpu_type_find("k80-ours"));
    cr_assert_null(gpu_type_find(""));
    cr_assert_not_null(gpu_type_find("misc"));
}

Test(gpus, the_table_is_sorted_and_a_source_goes_with_a_size)
{
    for (int i = 0; gpu_table[i].name != NULL; i++) {
        cr_assert_eq(gpu_type_find(gpu_table[i].name), &gpu_table[i], "names do not repeat");
        cr_assert_eq(gpu_table[i].mem_mib > 0, gpu_table[i].source != NULL);
        if (i > 0)
            cr_assert_lt(strcasecmp(gpu_table[i - 1].name, gpu_table[i].name), 0);
    }
}
