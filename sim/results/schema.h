/* schema.h - the tables of the results database (README and docs/database.md say what is in them).
 */
#ifndef COLOSIM_SCHEMA_H
#define COLOSIM_SCHEMA_H

enum {
    SCHEMA_VERSION = 1, /* PRAGMA user_version */
    SCHEMA_APPLICATION =
        0x434c534d, /* PRAGMA application_id, "CLSM": tells our files from others */
};

/* Makes every table in an empty database and marks it with both numbers. */
extern const char schema_sql[];

#endif
