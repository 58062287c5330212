#include "sim/results/ledger.h"

#include "core/base/units.h"
#include "sim/results/output.h"
#include "traces/table_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void ledger_put_number(FILE *to, double value)
{
    char text[32];
    putc(',', to);
    if (!isnan(value))
        fputs(format_real(value, text), to);
}

static void put_header(FILE *to)
{
    fputs("plan,session,kind,job_a,job_b,rep,time_s,outcome,error,gpu_name,gpu_uuid,driver,cuda,"
          "compute_mode,mps,counter_source,thread_pct_a,thread_pct_b,mem_limit_mib_a,"
          "mem_limit_mib_b",
          to);
    for (int i = 0; i < N_JOINT_NUMBERS; i++)
        fprintf(to, ",%s", joint_number_name[i]);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < N_SIDE_NUMBERS; i++)
            fprintf(to, ",%s_%c", side_number_name[i], "ab"[side]);
    putc('\n', to);
}

static void put_row(FILE *to, const struct ledger *l, const struct measurement *m)
{
    const struct ledger_facts *f = &l->facts;
    const struct measured_job *job[2] = {&l->jobs->job[m->job[0]], NULL};
    if (m->n_jobs == 2)
        job[1] = &l->jobs->job[m->job[1]];
    fprintf(to, "%016" PRIx64 ",%d,%s,%s,%s,%d,%.3f,%s,%s,%s,%s,%s,%d,%d,%s,%s", f->plan,
            m->session, measured_kind_name[m->kind], job[0]->name,
            job[1] != NULL ? job[1]->name : "", m->rep, m->time_s, outcome_name[m->outcome],
            m->error, f->gpu_name, f->gpu_uuid, f->driver, f->cuda, f->compute_mode, f->mps,
            m->counter_source);
    for (int i = 0; i < 2; i++)
        ledger_put_number(to, job[i] != NULL ? job[i]->thread_pct : NAN);
    for (int i = 0; i < 2; i++)
        ledger_put_number(to, job[i] != NULL && job[i]->mem_limit_mib > 0 ? job[i]->mem_limit_mib
                                                                          : NAN);
    for (int i = 0; i < N_JOINT_NUMBERS; i++)
        ledger_put_number(to, m->joint[i]);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < N_SIDE_NUMBERS; i++)
            ledger_put_number(to, m->side[side][i]);
    putc('\n', to);
}

/* Everything in one write, then to the disk. */
static enum status put_down(int fd, const char *text, size_t n, struct error *err)
{
    ssize_t done = write(fd, text, n);
    if (done != (ssize_t)n)
        return fail(err, ST_OUTPUT, "raw.csv: %s", done < 0 ? strerror(errno) : "the disk is full");
    return fdatasync(fd) == 0 || errno == EINVAL
               ? ST_OK
               : fail(err, ST_OUTPUT, "raw.csv: %s", strerror(errno));
}

/* With m NULL the header. */
static enum status append_text(struct ledger *l, const struct measurement *m, struct error *err)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL)
        return fail_memory(err);
    if (m == NULL)
        put_header(to);
    else
        put_row(to, l, m);
    enum status status = fclose(to) == 0 ? ST_OK : fail_memory(err);
    if (status == ST_OK)
        status = put_down(l->fd, text, n, err);
    free(text);
    return status;
}

enum status ledger_append(struct ledger *l, const struct measurement *m, struct error *err)
{
    if (!ARRAY_GROW(l->row, l->capacity, l->n + 1))
        return fail_memory(err);
    TRY(append_text(l, m, err));
    l->row[l->n++] = *m;
    return ST_OK;
}

/* Cuts the file behind its last line break. */
static enum status drop_cut_row(int fd, off_t *size, struct error *err)
{
    char text[4096];
    off_t end = lseek(fd, 0, SEEK_END), keep = 0;
    for (off_t from = end; from > 0 && keep == 0;) {
        size_t n = from > (off_t)sizeof text ? sizeof text : (size_t)from;
        from -= (off_t)n;
        if (pread(fd, text, n, from) != (ssize_t)n)
            return fail(err, ST_OUTPUT, "raw.csv: %s", strerror(errno));
        char *last = memrchr(text, '\n', n);
        keep = last != NULL ? from + (last - text) + 1 : 0;
    }
    *size = keep;
    return keep == end || ftruncate(fd, keep) == 0
               ? ST_OK
               : fail(err, ST_OUTPUT, "raw.csv: %s", strerror(errno));
}

static int32_t word_of(const char *const *words, const char *word)
{
    for (int32_t i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

static int32_t job_of(const struct joblist *jobs, const char *name)
{
    for (int32_t i = 0; i < jobs->n; i++)
        if (strcmp(jobs->job[i].name, name) == 0)
            return i;
    return -1;
}

static const char *cell(const struct table *t, int32_t row, const char *name)
{
    int32_t column = table_column(t, name);
    return column >= 0 ? table_cell(t, row, column) : "";
}

static double number(const struct table *t, int32_t row, const char *name)
{
    int32_t column = table_column(t, name);
    return column >= 0 ? table_number(t, row, column) : NAN;
}

static enum status check_facts(const struct ledger *l, const struct table *t, int32_t row,
                               struct error *err)
{
    char plan[24];
    snprintf(plan, sizeof plan, "%016" PRIx64, l->facts.plan);
    if (strcmp(cell(t, row, "plan"), plan) != 0)
        return fail(err, ST_USAGE,
                    "line %d is of another list of jobs, other settings or another seed: give "
                    "those, or another folder",
                    row + 2);
    if (strcmp(cell(t, row, "gpu_uuid"), l->facts.gpu_uuid) != 0)
        return fail(err, ST_USAGE,
                    "line %d was measured on %s, this card is %s: give another folder", row + 2,
                    cell(t, row, "gpu_uuid"), l->facts.gpu_uuid);
    return ST_OK;
}

static enum status read_row(struct ledger *l, const struct table *t, int32_t row, struct error *err)
{
    struct measurement m;
    char name[48];
    int32_t kind = word_of(measured_kind_name, cell(t, row, "kind"));
    int32_t outcome = word_of(outcome_name, cell(t, row, "outcome"));
    int32_t a = job_of(l->jobs, cell(t, row, "job_a")), b = job_of(l->jobs, cell(t, row, "job_b"));
    double rep = number(t, row, "rep"), session = number(t, row, "session");
    TRY(check_facts(l, t, row, err));
    if (kind < 0 || outcome < 0 || a < 0 || (kind == MEASURED_PAIR && b < 0) || !(rep >= 0) ||
        !(session >= 1) || rep > 1e6 || session > 1e6)
        return fail(err, ST_INPUT, "line %d: no row of a measuring campaign", row + 2);
    measurement_init(&m, (enum measured_kind)kind, a, kind == MEASURED_PAIR ? b : 0);
    m.outcome = (enum outcome)outcome;
    m.rep = (int32_t)rep;
    m.session = (int32_t)session;
    m.time_s = number(t, row, "time_s");
    snprintf(m.error, sizeof m.error, "%s", cell(t, row, "error"));
    snprintf(m.counter_source, sizeof m.counter_source, "%s", cell(t, row, "counter_source"));
    for (int i = 0; i < N_JOINT_NUMBERS; i++)
        m.joint[i] = number(t, row, joint_number_name[i]);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < N_SIDE_NUMBERS; i++) {
            snprintf(name, sizeof name, "%s_%c", side_number_name[i], "ab"[side]);
            m.side[side][i] = number(t, row, name);
        }
    if (!ARRAY_GROW(l->row, l->capacity, l->n + 1))
        return fail_memory(err);
    l->row[l->n++] = m;
    return ST_OK;
}

static enum status read_rows(struct ledger *l, const char *path, struct error *err)
{
    struct table table;
    enum status status = table_read(path, &table, err);
    if (status == ST_OK) {
        for (int32_t row = 0; row < table.n_rows && status == ST_OK; row++)
            status = read_row(l, &table, row, err);
        if (status != ST_OK)
            fail_in(err, "%s", path);
    }
    table_free(&table);
    return status;
}

enum status ledger_open(struct ledger *l, const char *path, const struct joblist *jobs,
                        const struct ledger_facts *facts, struct error *err)
{
    off_t size;
    enum status status = ST_OK;
    *l = (struct ledger){.jobs = jobs, .facts = *facts};
    l->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (l->fd < 0)
        return fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
    if (flock(l->fd, LOCK_EX | LOCK_NB) != 0) {
        status = fail(err, ST_USAGE, "%s: another process is measuring into it", path);
        goto out;
    }
    TRY_OUT(drop_cut_row(l->fd, &size, err));
    status = size > 0 ? read_rows(l, path, err) : append_text(l, NULL, err);
out:
    if (status != ST_OK)
        ledger_close(l);
    return status;
}

void ledger_close(struct ledger *l)
{
    if (l->jobs != NULL && l->fd >= 0)
        close(l->fd);
    free(l->row);
    *l = (struct ledger){.fd = -1};
}

double ledger_solo_mean(const struct ledger *l, int32_t job, bool joint, int number)
{
    double sum = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < l->n; i++) {
        const struct measurement *m = &l->row[i];
        double value = joint ? m->joint[number] : m->side[0][number];
        if (m->kind == MEASURED_SOLO && m->outcome == OUTCOME_OK && m->job[0] == job &&
            !isnan(value)) {
            sum += value;
            n++;
        }
    }
    return n > 0 ? sum / n : NAN;
}

double ledger_solo_rate(const struct ledger *l, int32_t job)
{
    return ledger_solo_mean(l, job, false, SIDE_RATE);
}

double ledger_drift(const struct ledger *l, int32_t row)
{
    const struct measurement *m = &l->row[row];
    return m->side[0][SIDE_RATE] / ledger_solo_rate(l, m->job[0]);
}

bool ledger_counts(const struct ledger *l, int32_t row, double drift_frac)
{
    if (l->row[row].outcome != OUTCOME_OK)
        return false;
    for (int32_t i = row + 1; l->row[row].kind == MEASURED_PAIR && i < l->n; i++)
        if (l->row[i].kind == MEASURED_SENTINEL && l->row[i].outcome == OUTCOME_OK)
            return fabs(ledger_drift(l, i) - 1) <= drift_frac;
    return true;
}

static const char *solo_source(const struct ledger *l, int32_t job)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->row[i].kind == MEASURED_SOLO && l->row[i].outcome == OUTCOME_OK &&
            l->row[i].job[0] == job)
            return l->row[i].counter_source;
    return "none";
}

enum status ledger_write_solo(const struct ledger *l, const char *path, struct error *err)
{
    struct output out;
    TRY(output_open(&out, path, err));
    fputs("job,samples_per_step,peak_alloc_mib,steps_per_s,samples_per_s,sm,occ,tensor,dram,sm_mhz,"
          "kernel_us,gap_us,launch_per_s,cv,counter_source\n",
          out.file);
    for (int32_t j = 0; j < l->jobs->n; j++) {
        double rate = ledger_solo_mean(l, j, false, SIDE_RATE);
        double samples = ledger_solo_mean(l, j, false, SIDE_SAMPLES);
        if (isnan(rate))
            continue;
        fputs(l->jobs->job[j].name, out.file);
        ledger_put_number(out.file, samples);
        ledger_put_number(out.file, ledger_solo_mean(l, j, false, SIDE_PEAK_MIB));
        ledger_put_number(out.file, rate);
        ledger_put_number(out.file, rate * samples);
        for (int i = JOINT_SM; i <= JOINT_DRAM; i++)
            ledger_put_number(out.file, ledger_solo_mean(l, j, true, i));
        ledger_put_number(out.file, ledger_solo_mean(l, j, true, JOINT_MHZ_MAX));
        for (size_t i = 0; i < 4; i++)
            ledger_put_number(out.file,
                              ledger_solo_mean(l, j, false,
                                               (const int[]){SIDE_KERNEL_US, SIDE_GAP_US,
                                                             SIDE_LAUNCH_PER_S, SIDE_CV}[i]));
        fprintf(out.file, ",%s\n", solo_source(l, j));
    }
    return output_close(&out, ST_OK, err);
}

/* How many usable rows of the same pair stand before it. */
static int32_t rep_of(const struct ledger *l, int32_t row, double drift_frac)
{
    int32_t n = 0;
    for (int32_t i = 0; i < row; i++)
        n += l->row[i].kind == MEASURED_PAIR && l->row[i].job[0] == l->row[row].job[0] &&
             l->row[i].job[1] == l->row[row].job[1] && ledger_counts(l, i, drift_frac);
    return n;
}

enum status ledger_write_pairs(const struct ledger *l, const char *path, double drift_frac,
                               struct error *err)
{
    struct output out;
    TRY(output_open(&out, path, err));
    fputs("job_a,job_b,solo_a,solo_b,rate_a,rate_b,retain_a,retain_b,rep,cv_a,cv_b\n", out.file);
    for (int32_t i = 0; i < l->n; i++) {
        const struct measurement *m = &l->row[i];
        if (m->kind != MEASURED_PAIR || !ledger_counts(l, i, drift_frac))
            continue;
        double solo[2] = {ledger_solo_rate(l, m->job[0]), ledger_solo_rate(l, m->job[1])};
        fprintf(out.file, "%s,%s", l->jobs->job[m->job[0]].name, l->jobs->job[m->job[1]].name);
        for (int k = 0; k < 2; k++)
            ledger_put_number(out.file, solo[k]);
        for (int k = 0; k < 2; k++)
            ledger_put_number(out.file, m->side[k][SIDE_RATE]);
        for (int k = 0; k < 2; k++)
            ledger_put_number(out.file, m->side[k][SIDE_RATE] / solo[k]);
        fprintf(out.file, ",%d", rep_of(l, i, drift_frac));
        for (int k = 0; k < 2; k++)
            ledger_put_number(out.file, m->side[k][SIDE_CV]);
        putc('\n', out.file);
    }
    return output_close(&out, ST_OK, err);
}
