#include "policies/peers/pollux_curves.h"

#include <math.h>
#include <strings.h>

static enum status read_models(const struct table *t, struct goodput *out, struct error *err)
{
    static const char *const columns[] = {"alpha_c", "beta_c",    "alpha_r",  "beta_r",
                                          "alpha_n", "beta_n",    "gamma",    "noise",
                                          "batch_0", "batch_max", "card_min", "card_max"};
    int32_t name = table_column(t, "workload");
    for (int32_t row = 0; row < t->n_rows; row++) {
        struct goodput *g = &out[row];
        double *field[] = {&g->alpha_c, &g->beta_c,    &g->alpha_r,  &g->beta_r,
                           &g->alpha_n, &g->beta_n,    &g->gamma,    &g->noise,
                           &g->batch_0, &g->batch_max, &g->card_min, &g->card_max};
        if (name < 0)
            return fail(err, ST_INPUT, "pollux.models: no column workload");
        g->name = table_cell(t, row, name);
        for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
            int32_t column = table_column(t, columns[i]);
            *field[i] = column < 0 ? NAN : table_number(t, row, column);
            if (!(*field[i] >= 0))
                return fail(err, ST_INPUT, "pollux.models, %s: %s is not a number of 0 or more",
                            g->name, columns[i]);
        }
        if (g->gamma < 1 || g->batch_0 <= 0 || g->card_min <= 0 || g->alpha_c + g->beta_c <= 0)
            return fail(err, ST_INPUT,
                        "pollux.models, %s: want gamma of 1 or more, and a first batch, a smallest "
                        "micro-batch and a computing time above 0",
                        g->name);
    }
    return ST_OK;
}

static bool draw_curve(int32_t gpus_max, struct curve *c, const struct goodput *model,
                       struct arena *arena)
{
    size_t n = (size_t)gpus_max + 1;
    *c = (struct curve){model, arena_alloc(arena, n, sizeof *c->near),
                        arena_alloc(arena, n, sizeof *c->far)};
    if (c->near == NULL || c->far == NULL)
        return false;
    for (int32_t gpus = 1; gpus <= gpus_max; gpus++) {
        c->near[gpus] = goodput_best(model, 1, gpus);
        c->far[gpus] = goodput_best(model, 2, gpus);
    }
    return true;
}

static int32_t curve_by_name(const struct curves *c, const struct job_table *t, int32_t job)
{
    const char *workload = t->workload[job] < 0 ? "" : names_text(&t->names, t->workload[job]);
    const struct goodput *model =
        goodput_model(t->kind[job] == KIND_INFER ? "inference" : workload);
    for (int32_t i = 0; i < c->n; i++) /* a table's come first */
        if (strcasecmp(c->curve[i].model->name, workload) == 0)
            return i;
    for (int32_t i = 0; i < c->n; i++)
        if (c->curve[i].model == model)
            return i;
    return 0;
}

enum status curves_init(struct curves *c, const struct table *models, int32_t gpus_max,
                        const struct view *v, struct arena *arena, struct error *err)
{
    const struct job_table *t = v->jobs;
    int32_t n_own = models == NULL ? 0 : models->n_rows, n_known = 0;
    while (goodput_models[n_known].name != NULL)
        n_known++;
    *c = (struct curves){.gpus_max = gpus_max};
    struct goodput *own = arena_alloc(arena, (size_t)n_own, sizeof *own);
    int32_t *seen = arena_alloc(v->scratch, 2 * ((size_t)t->names.n + 1), sizeof *seen);
    c->curve = arena_alloc(arena, (size_t)n_own + (size_t)n_known, sizeof *c->curve);
    c->of = arena_alloc(arena, (size_t)t->n_jobs, sizeof *c->of);
    if (own == NULL || seen == NULL || c->curve == NULL || c->of == NULL)
        return fail_memory(err);
    if (n_own > 0)
        TRY(read_models(models, own, err));
    for (int32_t i = 0; i < n_own + n_known; i++)
        if (!draw_curve(gpus_max, &c->curve[c->n++],
                        i < n_own ? &own[i] : &goodput_models[i - n_own], arena))
            return fail_memory(err);
    for (int32_t j = 0; j < t->n_jobs; j++) { /* each name is looked up once */
        int32_t *known = &seen[2 * (t->workload[j] + 1) + (t->kind[j] == KIND_INFER)];
        if (*known == 0)
            *known = curve_by_name(c, t, j) + 1;
        c->of[j] = *known - 1;
    }
    for (int32_t node = 0; node < v->cluster->n_nodes; node++)
        if (v->cluster->node_gpu_milli[node] / 1000 > c->node_gpus)
            c->node_gpus = v->cluster->node_gpu_milli[node] / 1000;
    return ST_OK;
}

double curves_goodput(const struct curves *c, int32_t job, int32_t gpus)
{
    const struct curve *curve = &c->curve[c->of[job]];
    if (gpus > c->gpus_max)
        return goodput_best(curve->model, gpus > c->node_gpus ? 2 : 1, gpus);
    return (gpus > c->node_gpus ? curve->far : curve->near)[gpus];
}

double curves_equal(const struct curves *c, int32_t job, int32_t gpus)
{
    double best = 0;
    for (int32_t n = gpus < c->gpus_max ? gpus : c->gpus_max; n >= 1 && best <= 0; n--)
        best = c->curve[c->of[job]].near[n];
    return best;
}

/* Where so many GPUs as it asked for cannot be fed, the most that fewer give. */
static double as_submitted(const struct curves *c, const struct job_table *t, int32_t job)
{
    double best = 0;
    for (int32_t n = t->n_inst[t->task_begin[job]]; n >= 1 && best <= 0; n--)
        best = curves_goodput(c, job, n);
    return best;
}

double curves_speed(const struct curves *c, const struct job_table *t, int32_t job, int32_t gpus,
                    bool on_one_node)
{
    const struct curve *curve = &c->curve[c->of[job]];
    double goodput = gpus > c->gpus_max ? goodput_best(curve->model, on_one_node ? 1 : 2, gpus)
                                        : (on_one_node ? curve->near : curve->far)[gpus];
    return goodput / as_submitted(c, t, job);
}
