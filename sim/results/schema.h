/* schema.h - the tables of the results database (README and docs/database.md say what is in them).
 */
#ifndef COLOSIM_SCHEMA_H
#define COLOSIM_SCHEMA_H

enum {
    SCHEMA_VERSION = 2, /* PRAGMA user_version */
    SCHEMA_APPLICATION =
        0x434c534d, /* PRAGMA application_id, "CLSM": tells our files from others */
};

/* Makes every table in an empty database and marks it with both numbers. */
extern const char schema_sql[];
/* Makes a database of version 1 one of version 2: adds table epoch and sample.sm_busy. */
extern const char schema_1_to_2_sql[];
/* Lets a connection that only reads see a database of version 1 so; nothing is written. */
extern const char schema_1_as_2_sql[];

#endif
