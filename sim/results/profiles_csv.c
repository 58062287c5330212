#include "sim/results/profiles_csv.h"

#include "sim/results/output.h"
#include "sim/results/quote.h"

#include <string.h>

enum status profiles_csv(const struct run_result *r, const char *path, struct error *err)
{
    struct output out = {0};
    if (r->log.profiling.profiled == NULL)
        return fail(err, ST_USAGE,
                    "--profiles %s: there is no store of profiles, want a policy with one "
                    "(elastico.profiling.known=store) and jobs of the catalog",
                    path);
    TRY(output_open(&out, path, err));
    fputs("workload,config\n", out.file);
    for (int32_t i = 0; i < r->n_profiled; i++) {
        const struct profiled *p = &r->profiled[i];
        quote_csv(out.file, p->workload, strlen(p->workload));
        fprintf(out.file, ",%s\n", p->config);
    }
    return output_close(&out, ST_OK, err);
}
