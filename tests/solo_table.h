/* solo_table.h - tables as text, and two jobs alone. */
#ifndef COLOSIM_TESTS_SOLO_TABLE_H
#define COLOSIM_TESTS_SOLO_TABLE_H

#include "tests/temp.h"
#include "traces/table_file.h"

static inline struct table table_of(const char *text)
{
    struct temp_file file = temp_text(".csv", text);
    struct table t;
    struct error err = {""};
    cr_assert_eq(table_read(file.path, &t, &err), ST_OK, "%s", err.text);
    temp_remove(&file);
    return t;
}

#define SOLO_HEAD                                                                                  \
    "job,samples_per_step,peak_alloc_mib,steps_per_s,samples_per_s,sm,occ,tensor,dram\n"
#define SOLO                                                                                       \
    SOLO_HEAD "net-b64-amp-ck,64,3001.5,50,3200,40,20,10,30\n"                                     \
              "llm-decode-b4-c2048,4,2890,200,800,25,5,2.5,20\n"

#endif
