#include "sim/results/image.h"

#include "tests/ask.h"
#include "tests/leak.h"
#include "tests/stored_run.h"

TestSuite(image, .fini = abort_on_leak);

static const char *const questions[] = {
    "SELECT policy, seed, status, trace_hash, cluster, end_us, wall_s FROM run WHERE id = %d",
    "SELECT job, typeof(name), hex(name), status, submit_us, start_us, finish_us, jct_s, \"group\","
    " gpu FROM job WHERE run = %d ORDER BY job",
    "SELECT name, value, unit FROM metric WHERE run = %d ORDER BY name",
    "SELECT node, name, gpu_type, gpu FROM node WHERE run = %d ORDER BY node",
    "SELECT * FROM (SELECT start_us, gpu_held, jobs_waiting FROM sample WHERE run = %d) ORDER BY 1",
    "SELECT id, job, task, start_us, end_us, node, gpu, n_gpus, kind FROM span WHERE run = %d "
    "ORDER BY id",
    "SELECT id, time_us, kind, job, text FROM event WHERE run = %d ORDER BY id",
    "SELECT key, value FROM setting WHERE run = %d AND key < 'e' ORDER BY key",
};

Test(image, a_run_that_was_sent_is_stored_as_one_that_was_not)
{
    struct made_run m;
    struct store s;
    struct temp_file file = temp_text(".db", "");
    unsigned char *bytes;
    size_t n;
    char name[128], want[4096], got[4096], sql[512];
    made_run(&m);
    cr_assert_eq(store_open(&s, file.path, &m.err), ST_OK, "%s", m.err.text);
    cr_assert_eq(store_run(&s, &m.request, &m.result, name, &m.err), ST_OK);
    m.request.run.label = "sent";
    cr_assert_eq(image_make(&m.request, &m.result, &bytes, &n, &m.err), ST_OK, "%s", m.err.text);
    cr_assert_eq(image_store(&s, bytes, n, name, &m.err), ST_OK, "%s", m.err.text);
    cr_assert_str_eq(name, "sent");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        snprintf(sql, sizeof sql, questions[i], 1);
        ask(s.db, sql, want);
        snprintf(sql, sizeof sql, questions[i], 2);
        ask(s.db, sql, got);
        cr_assert_str_eq(got, want);
        cr_assert(got[0] != '\0');
    }
    cr_assert_eq(image_store(&s, bytes, n, name, &m.err), ST_OK);
    cr_assert_str_eq(name, "", "there is one of its label already");
    cr_assert_str_eq(ask(s.db, "SELECT count(*) FROM run", got), "2");
    cr_assert_eq(image_store(&s, bytes, 100, name, &m.err), ST_OUTPUT, "cut short");
    cr_assert_str_eq(ask(s.db, "SELECT count(*) FROM run", got), "2");
    image_free(bytes);
    store_close(&s);
    made_run_free(&m);
    temp_remove(&file);
}
