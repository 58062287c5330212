/* Is there a card: against a stub of the driver (tests/stubs/cuda.c), which LD_LIBRARY_PATH names.
 */
#include "calib/measure/gpu.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

TestSuite(gpu, .fini = abort_on_leak);

Test(gpu, a_card_is_described)
{
    struct gpu g;
    struct error err = {""};
    cr_assert(eq(int, gpu_find(&g, 0, 11050, 10, &err), ST_OK), "%s", err.text);
    cr_expect(eq(str, g.name, "Stub  a card")); /* it will stand in a CSV table */
    cr_expect(eq(str, g.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"));
    cr_expect(eq(int, g.cuda, 13000));
    cr_expect(eq(int, g.n_sms, 132));
    cr_expect(epsilon_eq(dbl, g.mem_mib, 141 * 1024, 1e-9));
}

static const struct missing {
    const char *variable, *value;
    int index;
    enum status status;
    const char *said;
} cases[] = {
    {"STUB_CUDA_VERSION", "12020", 0, ST_HELPER,
     "for CUDA 12.2, want 13.0 or newer (CUDA error 35)"},
    {"STUB_CUDA_INIT", "100", 0, ST_HELPER, "the driver finds no device (CUDA error 100)"},
    {"STUB_CUDA_DEVICES", "0", 0, ST_HELPER, "the driver finds no device (CUDA error 100)"},
    {"STUB_CUDA_INIT", "46", 0, ST_HELPER, "EXCLUSIVE_PROCESS"},
    {"STUB_CUDA_INIT", "805", 0, ST_HELPER, "CUDA_MPS_PIPE_DIRECTORY"},
    {"STUB_CUDA_INIT", "777", 0, ST_HELPER, "no GPU: CUDA error 777"},
    {"STUB_CUDA_HANG", "1", 0, ST_HELPER, "did not return within 0.3 s"},
    {"STUB_CUDA_DEVICES", "2", 2, ST_USAGE, "there are 2, counted from 0"},
};

Test(gpu, what_is_missing_is_said_in_one_line)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gpu g;
        struct error err = {""};
        setenv(cases[i].variable, cases[i].value, 1);
        enum status status = gpu_find(&g, cases[i].index, 13000, .3, &err);
        unsetenv(cases[i].variable);
        cr_expect(eq(int, status, cases[i].status), "%s: %s", cases[i].value, err.text);
        cr_expect(strstr(err.text, cases[i].said) != NULL, "%s", err.text);
        cr_expect(strchr(err.text, '\n') == NULL);
    }
}
