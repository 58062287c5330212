#include "sim/results/schema.h"

/* WITHOUT ROWID keeps a run's rows together in the order of their key with no index beside the
 * table: a tenth smaller and faster to write (2.5 s against 2.9 s for a million jobs and as many
 * spans). wait_s and jct_s are computed when read and cost nothing to store. */

#define OF_RUN "run INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"

#define EPOCH_TABLE                                                                                \
    "CREATE TABLE epoch(" OF_RUN                                                                   \
    " id INTEGER NOT NULL, time_us INTEGER NOT NULL, rounds INTEGER, iterations INTEGER,"          \
    " jobs_priced INTEGER, jobs_waiting INTEGER, pairs INTEGER, violations INTEGER,"               \
    " score REAL, bound REAL, gap_frac REAL,"                                                      \
    " price_gpu_mem REAL, price_place REAL, price_sm REAL, price_cpu REAL, price_mem REAL,"        \
    " esp_ms REAL, iac_ms REAL, pds_ms REAL, PRIMARY KEY(run, id)) WITHOUT ROWID;"                 \
    "PRAGMA user_version=2;"

const char schema_1_to_2_sql[] = "ALTER TABLE sample ADD COLUMN sm_busy REAL;" EPOCH_TABLE;
const char schema_1_as_2_sql[] =
    "CREATE TEMP VIEW sample AS SELECT *, NULL AS sm_busy FROM main.sample;";

const char schema_sql[] =
    "CREATE TABLE run(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, label TEXT,"
    " policy TEXT NOT NULL, truth TEXT, seed INTEGER NOT NULL,"
    " status TEXT NOT NULL CHECK(status IN ('complete','interrupted','failed')),"
    " trace TEXT, trace_hash TEXT, format TEXT, cluster TEXT, program TEXT NOT NULL,"
    " created TEXT NOT NULL, end_us INTEGER, sample_us INTEGER,"
    " decide_mean_ms REAL, decide_p99_ms REAL, wall_s REAL, cpu_s REAL, peak_rss_mib REAL);"
    "CREATE TABLE job(" OF_RUN
    " job INTEGER NOT NULL, name, status TEXT NOT NULL, submit_us INTEGER, start_us INTEGER,"
    " finish_us INTEGER, duration_us INTEGER, gpu REAL, n_inst INTEGER, work_gpu_s REAL,"
    " held_gpu_s REAL, n_evicted INTEGER, priority INTEGER, kind TEXT, gpu_type, user, \"group\","
    " queue, workload, config,"
    " wait_s REAL AS ((start_us - submit_us) / 1e6), jct_s REAL AS ((finish_us - submit_us) / 1e6),"
    " PRIMARY KEY(run, job)) WITHOUT ROWID;"
    "CREATE TABLE metric(" OF_RUN
    " name TEXT NOT NULL, value REAL, unit TEXT, PRIMARY KEY(run, name)) WITHOUT ROWID;"
    "CREATE TABLE node(" OF_RUN
    " node INTEGER NOT NULL, name, gpu_type, gpu REAL, PRIMARY KEY(run, node)) WITHOUT ROWID;"
    "CREATE TABLE sample(" OF_RUN
    " start_us INTEGER NOT NULL, gpu_held REAL, jobs_waiting REAL, jobs_running REAL,"
    " sm_busy REAL, PRIMARY KEY(run, start_us)) WITHOUT ROWID;"
    "CREATE TABLE span(" OF_RUN
    " id INTEGER NOT NULL, job INTEGER NOT NULL, task INTEGER NOT NULL, task_name,"
    " start_us INTEGER NOT NULL, end_us INTEGER NOT NULL, node INTEGER NOT NULL, gpu INTEGER,"
    " n_gpus INTEGER NOT NULL, n_inst INTEGER NOT NULL, share_milli INTEGER NOT NULL,"
    " kind TEXT NOT NULL,"
    " PRIMARY KEY(run, id)) WITHOUT ROWID;"
    "CREATE TABLE event(" OF_RUN
    " id INTEGER NOT NULL, time_us INTEGER NOT NULL, kind TEXT NOT NULL, job INTEGER, text TEXT,"
    " PRIMARY KEY(run, id)) WITHOUT ROWID;"
    "CREATE TABLE setting(" OF_RUN
    " key TEXT NOT NULL, value, unit TEXT, initial, PRIMARY KEY(run, key)) WITHOUT ROWID;"
    "PRAGMA application_id=0x434c534d;" EPOCH_TABLE;
