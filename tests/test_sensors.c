#include "calib/sensors.h"

#include "tests/leak.h"
#include "tests/temp.h"
#include "traces/table_file.h"

#include <math.h>

TestSuite(sensors, .fini = abort_on_leak);

#define INSTANCE(i) "j" #i ",worker,i" #i ",w" #i ",id" #i ",Terminated,0.0,100.0,m1\n"
#define SENSOR(i, util)                                                                            \
    "j" #i ",worker,w" #i ",id" #i ",m1,/dev/nvidia0,100.0," util ",1.0,2.0,1.0,2.0,0,0,0,0\n"
#define FIVE INSTANCE(0) INSTANCE(1) INSTANCE(2) INSTANCE(3) INSTANCE(4)

static struct table table_of(const char *text)
{
    struct temp_file file = temp_text(".csv", text);
    struct table t;
    struct error err;
    cr_assert_eq(table_read(file.path, &t, &err), ST_OK, "%s", err.text);
    temp_remove(&file);
    return t;
}

Test(sensors, instances_without_a_sensor_are_unknown_and_not_idle)
{
    static const struct {
        const char *instances, *sensors;
        int32_t n, n_known;
        double mean_pct;
    } cases[] = {
        {FIVE, SENSOR(0, "30.0") SENSOR(2, "60.0") SENSOR(4, "90.0"), 5, 3, 60},
        {FIVE, SENSOR(0, "30.0") SENSOR(1, "") SENSOR(9, "70"), 5, 1, 30},
        {FIVE, SENSOR(0, "20") SENSOR(0, "40") SENSOR(1, "50"), 5, 2, 40},
        {"worker_name,machine\nw0,m\nw1,m\n", "gpu_wrk_util,worker_name\n80,w1\n", 2, 1, 80},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table instances = table_of(cases[i].instances), sensors = table_of(cases[i].sensors);
        struct sensor_census c;
        struct error err = {""};
        cr_assert_eq(sensors_join(&c, &instances, &sensors, &err), ST_OK, "%s", err.text);
        cr_assert_eq(c.n_instances, cases[i].n);
        cr_assert_eq(c.n_known, cases[i].n_known, "%zu: %d", i, c.n_known);
        cr_assert_float_eq(c.gpu_util_mean_pct, cases[i].mean_pct, 1e-9);
        table_free(&instances);
        table_free(&sensors);
    }
}

Test(sensors, what_is_wrong_is_named)
{
    static const char *const cases[][3] = {
        {"a,b\n", SENSOR(0, "30"), "2 columns: no instance table"},
        {FIVE, "a,b\n", "2 columns: no sensor table"},
        {FIVE, SENSOR(0, "30") SENSOR(1, "idle"), "line 2: gpu_wrk_util is 'idle'"},
        {FIVE, "gpu_wrk_util,worker_name\n80,w1\n-1,w2\n", "line 3: gpu_wrk_util is '-1'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table instances = table_of(cases[i][0]), sensors = table_of(cases[i][1]);
        struct sensor_census c;
        struct error err = {""};
        cr_assert_eq(sensors_join(&c, &instances, &sensors, &err), ST_INPUT);
        cr_assert(strstr(err.text, cases[i][2]) != NULL, "%s", err.text);
        table_free(&instances);
        table_free(&sensors);
    }
}
