/* colosim calib bench: our probes, alone and in pairs. */
#include "sim/cmd/calib_commands.h"

#include "core/base/rng.h"
#include "core/cluster/job.h"
#include "sim/cmd/campaign.h"
#include "sim/cmd/reading.h"
#include "sim/results/output.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Measures the probes (colosim-probe: each isolates one resource of a card) alone and in pairs "
    "under MPS and "
    "writes FOLDER/probe_solo.csv and probe_pairs.csv, from which calib fit has the physics; "
    "raw.csv "
    "holds every window."
    "\v"
    "Pairs come in three groups, each in random order: full loads of every kind and kernels of "
    "different lengths; duty cycles; copies, launches, occupancy and the host. --limit cuts at the "
    "end "
    "of that list, and the same command goes on. measure.fraction, here 1, is of each group.\n\n"
    "Examples:\n"
    "  colosim calib bench -o probes\n"
    "  colosim calib bench -o quick --limit 10m --set measure.window_s=1.5 --set "
    "measure.warmup_s=.5 "
    "--set measure.repeats=1";

/* One probe with its knobs. blocks is per SM; work and duty as in calib/cuda/probe.cu. */
struct probe {
    const char *kind;
    double blocks;
    long work;
    double duty; /* 1: no gap */
    const char *more;
};

enum {
    FMA = 260000,
    MMA = 30000,
    STREAM = 512 << 20,
    COPY = 64 << 20,
    N_FULL = 5,
    N_LENGTHS = 5,
    N_DUTIES = 3
};

/* In this order: full loads; spin and fma by length; fma, mma and stream by duty cycle; fma and
 * stream by blocks; the rest. */
static const struct probe probes[] = {
    {"fma", 8, FMA, 1, ""},
    {"mma", 8, MMA, 1, ""},
    {"stream", 8, STREAM, 1, ""},
    {"l2", 8, 24, 1, ""},
    {"smem", 8, 60000, 1, ""},
    {"spin", 8, 20000, 1, ""},
    {"spin", 8, 100000, 1, ""},
    {"spin", 8, 500000, 1, ""},
    {"spin", 8, 2000000, 1, ""},
    {"spin", 8, 10000000, 1, ""},
    {"fma", 8, 4000, 1, ""},
    {"fma", 8, 20000, 1, ""},
    {"fma", 8, 100000, 1, ""},
    {"fma", 8, 500000, 1, ""},
    {"fma", 8, 2500000, 1, ""},
    {"fma", 8, FMA, .25, ""},
    {"fma", 8, FMA, .5, ""},
    {"fma", 8, FMA, .75, ""},
    {"mma", 8, MMA, .25, ""},
    {"mma", 8, MMA, .5, ""},
    {"mma", 8, MMA, .75, ""},
    {"stream", 8, STREAM, .25, ""},
    {"stream", 8, STREAM, .5, ""},
    {"stream", 8, STREAM, .75, ""},
    {"fma", .5, FMA, 1, ""},
    {"fma", 2, FMA, 1, ""},
    {"stream", .5, STREAM, 1, ""},
    {"stream", 2, STREAM, 1, ""},
    {"h2d", 8, COPY, 1, ""},
    {"d2h", 8, COPY, 1, ""},
    {"launch", 8, 100, 1, ""},
    {"graph", 8, 100, 1, ""},
    {"host", 8, 100, 1, "threads=8"},
    {"burst", 8, 100, .5, ""},
    {"occ", 8, FMA, 1, "smem_kib=24"},
    {"occ", 8, FMA, 1, "smem_kib=90"},
    {"l2", 8, 24, 1, "l2_mib=64"},
};
enum { N_PROBES = sizeof probes / sizeof *probes };
enum {
    FIRST_SPIN = N_FULL,
    FIRST_LENGTH = FIRST_SPIN + N_LENGTHS,
    FIRST_DUTY = FIRST_LENGTH + N_LENGTHS,
    FIRST_BLOCKS = FIRST_DUTY + 3 * N_DUTIES,
    FIRST_REST = FIRST_BLOCKS + 4
};

/* "stream-x8-w536870912-d0.25": what distinguishes it. */
static void name_probe(const struct probe *p, char name[80])
{
    const char *value = strchr(p->more, '=');
    snprintf(name, 80, "%s-x%g-w%ld-d%g%s%s", p->kind, p->blocks, p->work, p->duty,
             value != NULL ? "-" : "", value != NULL ? value + 1 : "");
}

static enum status add_probe(struct joblist *jobs, const struct probe *p, const char *program,
                             struct error *err)
{
    char name[80], command[700];
    struct measured_job job = {.name = name,
                               .workload = p->kind,
                               .command = command,
                               .kind = KIND_TRAIN,
                               .samples_per_step = 1,
                               .thread_pct = 100};
    for (int i = 0; i < N_GIVEN; i++)
        job.given[i] = NAN;
    name_probe(p, name);
    snprintf(command, sizeof command, "exec '%s' %s blocks_per_sm=%g work=%ld duty=%g %s", program,
             p->kind, p->blocks, p->work, p->duty, p->more);
    return joblist_add(jobs, &job, err);
}

enum { PAIRS_MAX = 400 };
struct probe_pairs {
    int32_t n;
    struct job_pair pair[PAIRS_MAX];
};

static void add_pair(struct probe_pairs *p, int a, int b)
{
    if (p->n < PAIRS_MAX)
        p->pair[p->n++] = (struct job_pair){{a < b ? a : b, a < b ? b : a}};
}

/* Every pair of n probes, each beside itself included. */
static void add_all(struct probe_pairs *p, int first, int n)
{
    for (int i = first; i < first + n; i++)
        for (int j = i; j < first + n; j++)
            add_pair(p, i, j);
}

/* Group 1: what the card shares, and how kernels' lengths share it. */
static void add_full(struct probe_pairs *p)
{
    add_all(p, 0, N_FULL);
    add_all(p, FIRST_SPIN, N_LENGTHS);
    add_all(p, FIRST_LENGTH, N_LENGTHS);
}

/* Group 2: each resource at every degree of use, and two of different resources. */
static void add_duties(struct probe_pairs *p)
{
    for (int kind = 0; kind < 3; kind++) {
        int first = FIRST_DUTY + N_DUTIES * kind;
        add_all(p, first, N_DUTIES);
        for (int i = 0; i < N_DUTIES; i++)
            add_pair(p, kind, first + i);
    }
    for (int i = 0; i < N_DUTIES; i++)
        for (int j = 0; j < N_DUTIES; j++) {
            add_pair(p, FIRST_DUTY + i, FIRST_DUTY + 2 * N_DUTIES + j); /* fma, stream */
            add_pair(p, FIRST_DUTY + i, FIRST_DUTY + N_DUTIES + j);     /* fma, mma */
        }
}

/* Group 3: fewer blocks, and the rest beside itself, fma and stream. */
static void add_rest(struct probe_pairs *p)
{
    for (int i = FIRST_BLOCKS; i < FIRST_REST; i++)
        for (int j = i; j < FIRST_REST; j++)
            if (strcmp(probes[i].kind, probes[j].kind) == 0)
                add_pair(p, i, j);
    for (int i = FIRST_REST; i < N_PROBES; i++) {
        add_pair(p, i, i);
        add_pair(p, 0, i);
        add_pair(p, 2, i);
    }
    add_pair(p, FIRST_REST, FIRST_REST + 1);     /* both directions of PCIe */
    add_pair(p, FIRST_REST + 2, FIRST_REST + 4); /* launches beside a busy host */
}

/* Of each group that fraction, at random. */
static enum status plan_pairs(struct probe_pairs *p, double fraction, uint64_t seed,
                              struct error *err)
{
    static void (*const group[])(struct probe_pairs *) = {add_full, add_duties, add_rest};
    gsl_rng *rng = rng_stream(seed, "probe pairs");
    if (rng == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < sizeof group / sizeof *group; i++) {
        int32_t first = p->n;
        group[i](p);
        gsl_ran_shuffle(rng, p->pair + first, (size_t)(p->n - first), sizeof *p->pair);
        p->n = first + (int32_t)ceil(fraction * (p->n - first) - 1e-9);
    }
    gsl_rng_free(rng);
    return ST_OK;
}

/* "PROBE,BLOCKS,WORK,GAP_US" as data/h200 has it; the gap that was kept. */
static void put_probe(FILE *to, const struct ledger *l, int32_t job)
{
    const struct probe *p = &probes[job];
    double blocks = fmax(1, floor(p->blocks * l->facts.n_sms + .5));
    fprintf(to, "%s,%.0f,%ld", p->kind, blocks, p->work);
    ledger_put_number(to, ledger_solo_mean(l, job, false, SIDE_GAP_US));
}

static enum status write_solo(const struct ledger *l, const char *path, struct error *err)
{
    struct output out;
    static const int side[] = {SIDE_RATE, SIDE_KERNEL_US, SIDE_BUSY};
    static const int joint[] = {JOINT_SM, JOINT_OCC, JOINT_TENSOR, JOINT_DRAM, JOINT_MHZ_MAX};
    TRY(output_open(&out, path, err));
    fputs(
        "probe,blocks,work,gap_us,rate_per_s,kernel_us,busy_frac,sm,occ,tensor,dram,sm_mhz,knobs\n",
        out.file);
    for (int32_t j = 0; j < N_PROBES; j++) {
        if (isnan(ledger_solo_rate(l, j)))
            continue;
        put_probe(out.file, l, j);
        for (size_t i = 0; i < sizeof side / sizeof *side; i++)
            ledger_put_number(out.file, ledger_solo_mean(l, j, false, side[i]));
        for (size_t i = 0; i < sizeof joint / sizeof *joint; i++)
            ledger_put_number(out.file, ledger_solo_mean(l, j, true, joint[i]));
        fprintf(out.file, ",%s\n", l->jobs->job[j].name);
    }
    return output_close(&out, ST_OK, err);
}

static enum status write_pairs(const struct ledger *l, const char *path, double drift_frac,
                               struct error *err)
{
    struct output out;
    TRY(output_open(&out, path, err));
    fputs("probe_a,blocks_a,work_a,gap_a,probe_b,blocks_b,work_b,gap_b,solo_a,solo_b,rate_a,rate_b,"
          "retain_a,retain_b,kernel_us_a,kernel_us_b,knobs_a,knobs_b\n",
          out.file);
    for (int32_t i = 0; i < l->n; i++) {
        const struct measurement *m = &l->row[i];
        if (m->kind != MEASURED_PAIR || !ledger_counts(l, i, drift_frac))
            continue;
        double solo[2] = {ledger_solo_rate(l, m->job[0]), ledger_solo_rate(l, m->job[1])};
        put_probe(out.file, l, m->job[0]);
        putc(',', out.file);
        put_probe(out.file, l, m->job[1]);
        for (int k = 0; k < 2; k++)
            ledger_put_number(out.file, solo[k]);
        for (int k = 0; k < 2; k++)
            ledger_put_number(out.file, m->side[k][SIDE_RATE]);
        for (int k = 0; k < 2; k++)
            ledger_put_number(out.file, m->side[k][SIDE_RATE] / solo[k]);
        for (int k = 0; k < 2; k++)
            ledger_put_number(out.file, m->side[k][SIDE_KERNEL_US]);
        fprintf(out.file, ",%s,%s\n", l->jobs->job[m->job[0]].name, l->jobs->job[m->job[1]].name);
    }
    return output_close(&out, ST_OK, err);
}

static enum status write_tables(const void *context, const struct ledger *l, const char *folder,
                                double drift_frac, struct error *err)
{
    char path[600];
    (void)context;
    snprintf(path, sizeof path, "%s/probe_solo.csv", folder);
    TRY(write_solo(l, path, err));
    snprintf(path, sizeof path, "%s/probe_pairs.csv", folder);
    return write_pairs(l, path, drift_frac, err);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct campaign *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = c; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many", arg); return 0;
    case ARGP_KEY_END:
        if (c->folder == NULL)
            argp_error(state, "where to? -o FOLDER");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&campaign_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {NULL, parse_option, NULL, doc, children, NULL, NULL};

/* The program, and whether it can be used here: it knows which driver it needs. */
static enum status find_program(char program[512], struct error *err)
{
    char command[600], answer[512];
    struct child_env none = {0};
    struct error ignored;
    if (!companion_path(program, "colosim-probe") || strchr(program, '\'') != NULL)
        return fail(
            err, ST_HELPER,
            "the probes are not here: colosim was built without nvcc (meson -Dcuda=enabled)");
    snprintf(command, sizeof command, "exec '%s' --check", program);
    if (child_ask(command, &none, "", 60, answer, sizeof answer, &ignored) == ST_OK)
        return ST_OK;
    answer[strcspn(answer, "\n")] = '\0';
    return fail(err, ST_HELPER, "%s", answer[0] != '\0' ? answer : ignored.text);
}

int calib_bench(int argc, char **argv)
{
    struct error err = {""};
    struct campaign c;
    struct joblist jobs = {0};
    struct probe_pairs pairs = {0};
    char program[512];
    int code;
    campaign_init(&c);
    c.options.session.window_s = 10;
    c.options.fraction = 1;
    enum status status = parse_command(&argp, argc, argv, &c, &err);
    if (status == ST_OK)
        status = find_program(program, &err);
    for (int i = 0; i < N_PROBES && status == ST_OK; i++)
        status = add_probe(&jobs, &probes[i], program, &err);
    if (status == ST_OK)
        status = plan_pairs(&pairs, c.options.fraction, (uint64_t)c.seed, &err);
    if (status == ST_OK) {
        c.jobs = &jobs;
        c.pair = pairs.pair;
        c.n_pairs = pairs.n;
        c.write = write_tables;
        code = campaign_run(&c);
    } else
        code = report_error(status, &err);
    joblist_free(&jobs);
    return code;
}
