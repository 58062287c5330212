#include "sim/results/rows.h"

#include "sim/results/store.h"
#include "tests/ask.h"
#include "tests/leak.h"
#include "tests/made_run.h"
#include "tests/temp.h"

TestSuite(rows, .fini = abort_on_leak);

static struct temp_file stored(struct made_run *m)
{
    struct temp_file t = temp_text(".db", "");
    struct store s;
    char name[128];
    cr_assert_eq(store_open(&s, t.path, &m->err), ST_OK, "%s", m->err.text);
    cr_assert_eq(store_run(&s, &m->request, &m->result, name, &m->err), ST_OK, "%s", m->err.text);
    store_close(&s);
    return t;
}

static void expect(const struct temp_file *t, const char *sql, const char *want)
{
    char answer[4096];
    cr_assert_str_eq(ask_file(t->path, sql, answer), want, "%s gives %s", sql, answer);
}

Test(rows, every_table_holds_what_the_run_says)
{
    struct made_run m;
    made_run(&m);
    m.request.run.label = "base";
    struct temp_file t = stored(&m);

    expect(
        &t,
        "SELECT id, name, label, policy, truth, seed, status, trace, trace_hash, cluster,"
        " end_us, sample_us, decide_mean_ms, decide_p99_ms, wall_s, cpu_s, peak_rss_mib FROM run",
        "1|base|base|made|contention|7|complete|null|0000000000abcdef|2x2:A100|20500000|11250000"
        "|1.0|250.0|0.5|0.25|12.0");
    expect(&t,
           "SELECT created GLOB '20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:"
           "[0-6][0-9]Z', program = '" COLOSIM_VERSION "' FROM run",
           "1|1");
    expect(&t,
           "SELECT job, name, status, submit_us, start_us, finish_us, duration_us, gpu, n_inst,"
           " work_gpu_s, wait_s, jct_s FROM job WHERE typeof(name) = 'text'",
           "0|a|done|0|0|10000000|10000000|1.0|1|10.0|0.0|10.0\n"
           "1|b,\"2\"|done|1000000|10000000|20500000|10500000|4.0|2|42.0|9.0|19.5\n"
           "4|big|rejected|5000000|null|null|1000000|16.0|1|16.0|null|null\n"
           "5|late|unfinished|6000000|null|null|1000000|1.0|1|1.0|null|null");
    expect(&t, "SELECT job, hex(name), gpu FROM job WHERE typeof(name) = 'blob'",
           "2|6EFF|0.5\n3|6EFE|0.5");
    expect(&t,
           "SELECT kind, gpu_type, user, \"group\", queue, workload, n_evicted, priority, config"
           " FROM job WHERE job IN (0, 1)",
           "train|A100|u1|g,1|null|null|0|0|null\nnull|null|null|null|null|null|0|0|null");
    expect(&t, "SELECT * FROM node", "1|0|0|A100|2.0\n1|1|1|A100|2.0");
    expect(&t, "SELECT * FROM sample", "1|-2000000|1.5|0.0|2.0|0.75\n1|9250000|4.0|1.0|1.0|2.5");
    expect(&t, "SELECT * FROM span WHERE id IN (0, 4)",
           "1|0|2|0|null|-2000000|3250000|1|0|1|1|500|run\n"
           "1|4|1|0|null|10000000|20500000|1|0|2|1|2000|run");
    expect(&t, "SELECT * FROM event",
           "1|0|5000000|reject|4|too wide\n1|1|20500000|stall|null|nothing moves");
    made_run_free(&m);
    temp_remove(&t);
}

Test(rows, metrics_have_units_and_what_cannot_be_told_is_null)
{
    struct made_run m;
    made_run(&m);
    m.result.metric[METRIC_slowdown_mean] = INFINITY;
    struct temp_file t = stored(&m);
    expect(&t, "SELECT name, value, unit FROM metric WHERE value IS NOT NULL ORDER BY name",
           "jct_mean_s|9.9375|s\njobs_completed|4.0|jobs\njobs_rejected|1.0|jobs\n"
           "jobs_unfinished|1.0|jobs\nmade_up|0.1|null\nthroughput_gpus|2.0|GPU\n"
           "wait_max_s|9.0|s");
    char want[16];
    snprintf(want, sizeof want, "%d", N_METRICS + 1);
    expect(&t, "SELECT count(*) FROM metric", want);
    made_run_free(&m);
    temp_remove(&t);
}

Test(rows, every_setting_is_there_with_its_default)
{
    struct made_run m;
    made_run(&m);
    m.request.share.max_jobs = 3;
    m.request.run.strict = true;
    struct temp_file t = stored(&m);
    expect(&t,
           "SELECT key, value, initial FROM setting"
           " WHERE key IN ('seed', 'cluster', 'share.max_jobs', 'strict', 'truth') ORDER BY key",
           "cluster|2x2:A100|\nseed|7|1\nshare.max_jobs|3|1\nstrict|true|false\ntruth|contention|"
           "contention");
    expect(&t, "SELECT unit FROM setting WHERE key = 'preempt.restart_s'", "s");
    made_run_free(&m);
    temp_remove(&t);
}

Test(rows, the_outcome_is_complete_interrupted_or_failed)
{
    struct made_run m;
    made_run(&m);
    cr_assert_str_eq(run_outcome(&m.result), "complete");
    m.result.log.stalled = true; /* its jobs are unfinished, the run is whole */
    cr_assert_str_eq(run_outcome(&m.result), "complete");
    m.result.nothing_ran = true;
    cr_assert_str_eq(run_outcome(&m.result), "failed");
    m.result.log.interrupted = true;
    cr_assert_str_eq(run_outcome(&m.result), "interrupted");
    made_run_free(&m);
}
