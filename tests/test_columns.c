#include "traces/columns.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(columns, .fini = abort_on_leak);

static const char *const words[] = {"red", "green", NULL};

struct thing {
    struct field key;
    int64_t time_us, date_us;
    double part;
    int32_t id, n, milli, mib;
    int word;
};

// clang-format off
static const struct column columns[] = {
    COLUMN_KEY("key", offsetof(struct thing, key)),
    COLUMN_NEEDED("time", COLUMN_US, offsetof(struct thing, time_us), 6, -1e18, 1e18),
    COLUMN_ID("name", offsetof(struct thing, id)),
    COLUMN_NUMBER("n", COLUMN_WHOLE, offsetof(struct thing, n), 0, 0, 100),
    COLUMN_NUMBER("percent", COLUMN_MILLI, offsetof(struct thing, milli), 1, 0, 1e9),
    COLUMN_NUMBER("gib", COLUMN_GIB, offsetof(struct thing, mib), 0, 0, INT32_MAX),
    COLUMN_NUMBER("part", COLUMN_REAL, offsetof(struct thing, part), 0, 0, 1),
    COLUMN_CHOICE("word", offsetof(struct thing, word), words),
    COLUMN_IGNORED("comment"),
    COLUMN_NUMBER("date", COLUMN_DATE, offsetof(struct thing, date_us), 0, 0, 0),
    COLUMN_END,
};
// clang-format on
enum { KEY, TIME, NAME, N, PERCENT, GIB, PART, WORD, COMMENT, DATE, N_FIELDS };

/* A row of literals; none of them is freed. */
static struct csv row_of(struct field *field, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        field[i] = (struct field){texts[i], strlen(texts[i])};
    return (struct csv){.field = field, .n = n, .line = 1};
}

/* Reads a row in which one field is text and the others are well-formed. */
static struct thing read_one(int at, const char *text, struct names *names, struct fault *fault)
{
    const char *texts[N_FIELDS] = {"k", "0", "", "", "", "", "", "", "", ""};
    struct field field[N_FIELDS];
    struct binding b;
    struct thing thing = {
        .date_us = -1, .id = -1, .n = -1, .milli = -1, .mib = -1, .part = -1, .word = -1};
    texts[at] = text;
    struct csv row = row_of(field, texts, N_FIELDS);
    columns_by_position(columns, &b);
    cr_assert_eq(columns_read(&b, &row, names, &thing, fault, NULL), ST_OK);
    return thing;
}

Test(columns, dates_are_microseconds_and_none_is_an_empty_field)
{
    struct names names = {0};
    struct fault fault;
    cr_assert_eq(read_one(DATE, "1970-01-02 00:00:00.5", &names, &fault).date_us, 86400500000);
    cr_assert_eq(read_one(DATE, "None", &names, &fault).date_us, -1);
    cr_assert_str_eq(fault.text, "");
    read_one(DATE, "1970-01-32 00:00:00", &names, &fault);
    cr_assert_str_eq(fault.text, "date is no date (YYYY-MM-DD hh:mm:ss)");
    cr_assert_eq(fault.field, DATE + 1);
    names_free(&names);
}

Test(columns, units_are_ours_after_reading)
{
    struct names names = {0};
    struct fault fault;
    cr_assert_eq(read_one(TIME, "1.5e3", &names, &fault).time_us, 1500000000);
    cr_assert_eq(read_one(TIME, "-0.25", &names, &fault).time_us, -250000);
    cr_assert_eq(read_one(N, "4.0", &names, &fault).n, 4);
    cr_assert_eq(read_one(N, "100", &names, &fault).n, 100);
    cr_assert_eq(read_one(PERCENT, "600", &names, &fault).milli, 6000); /* 6 cores */
    cr_assert_eq(read_one(PERCENT, "12.5", &names, &fault).milli, 125);
    cr_assert_eq(read_one(PERCENT, "33.33", &names, &fault).milli, 333);
    cr_assert_eq(read_one(PERCENT, "33.35", &names, &fault).milli, 334);
    cr_assert_eq(read_one(PERCENT, "0", &names, &fault).milli, 0);
    cr_assert_eq(read_one(GIB, "29.296875", &names, &fault).mib, 30000);
    cr_assert_eq(read_one(GIB, "0.5", &names, &fault).mib, 512);
    cr_assert_float_eq(read_one(PART, "0.75", &names, &fault).part, 0.75, 1e-15);
    cr_assert_eq(read_one(WORD, "green", &names, &fault).word, 1);
    cr_assert_str_eq(fault.text, "");
    names_free(&names);
}

Test(columns, an_empty_field_leaves_what_was_there)
{
    struct names names = {0};
    struct fault fault;
    struct thing t = read_one(COMMENT, "anything", &names, &fault);
    cr_assert_str_eq(fault.text, "");
    cr_assert(t.id == -1 && t.n == -1 && t.milli == -1 && t.mib == -1 && t.word == -1);
    cr_assert(t.key.length == 1 && *t.key.text == 'k');
    cr_assert_eq(names.n, 0);
}

Test(columns, names_get_the_same_number_whenever_they_are_the_same_bytes)
{
    struct names names = {0};
    struct fault fault;
    cr_assert_eq(read_one(NAME, "a\xfe", &names, &fault).id, 0);
    cr_assert_eq(read_one(NAME, "a\xff", &names, &fault).id, 1);
    cr_assert_eq(read_one(NAME, "a\xfe", &names, &fault).id, 0);
    names_free(&names);
}

Test(columns, a_bad_value_is_a_fault_with_its_field)
{
    static const struct {
        int at;
        const char *text, *fault;
    } rows[] = {
        {KEY, "", "key is empty"},
        {TIME, "", "time is empty"},
        {TIME, "nan", "time is not a number"},
        {TIME, "inf", "time is not a number"},
        {TIME, "1e400", "time is not a number"},
        {TIME, "0x10", "time is not a number"},
        {TIME, "12abc", "time is not a number"},
        {TIME, "1,5", "time is not a number"},
        {N, "4.5", "n is not a whole number"},
        {N, "-1", "n is negative"},
        {N, "101", "n is out of range"},
        {N, "four", "n is not a number"},
        {PERCENT, "-1", "percent is negative"},
        {PERCENT, "0.01", "percent is too small"},
        {PERCENT, "1e9", "percent is out of range"},
        {GIB, "x", "gib is not a number"},
        {GIB, "-1", "gib is negative"},
        {GIB, "1e300", "gib is out of range"},
        {PART, "1.5", "part is out of range"},
        {PART, "-0.5", "part is negative"},
        {PART, "half", "part is not a number"},
        {WORD, "blue", "word is not known"},
        {WORD, "gree", "word is not known"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct names names = {0};
        struct fault fault;
        read_one(rows[i].at, rows[i].text, &names, &fault);
        cr_assert_str_eq(fault.text, rows[i].fault);
        cr_assert_eq(fault.field, rows[i].at + 1);
        names_free(&names);
    }
}

Test(columns, a_row_with_another_number_of_fields_is_a_fault)
{
    static const char *const texts[] = {"k", "0"};
    struct field field[2];
    struct csv row = row_of(field, texts, 2);
    struct binding b;
    struct thing thing;
    struct names names = {0};
    struct fault fault;
    columns_by_position(columns, &b);
    cr_assert_eq(columns_read(&b, &row, &names, &thing, &fault, NULL), ST_OK);
    cr_assert_str_eq(fault.text, "2 fields, want 10");
    cr_assert_eq(fault.field, 0);
    row.fault = "torn";
    cr_assert_eq(columns_read(&b, &row, &names, &thing, &fault, NULL), ST_OK);
    cr_assert_str_eq(fault.text, "torn");
}

Test(columns, a_header_names_the_fields_in_any_order)
{
    static const char *const header[] = {"time", "other", "n", "key"};
    static const char *const texts[] = {"7", "-", "3", "k"};
    struct field field[4];
    struct csv row = row_of(field, header, 4);
    struct binding b;
    struct thing thing = {0};
    struct names names = {0};
    struct fault fault;
    cr_assert_eq(columns_known(columns, field, 4), 3);
    cr_assert_eq(columns_by_header(columns, &row, &b, NULL), ST_OK);
    cr_assert_eq(columns_field(&b, "n"), 3);
    cr_assert_eq(columns_field(&b, "gib"), 0);
    row = row_of(field, texts, 4);
    cr_assert_eq(columns_read(&b, &row, &names, &thing, &fault, NULL), ST_OK);
    cr_assert_str_eq(fault.text, "");
    cr_assert(thing.time_us == 7000000 && thing.n == 3 && *thing.key.text == 'k');
}

Test(columns, a_header_with_a_column_missing_or_twice_is_refused)
{
    static const char *const missing[] = {"key", "n"};
    static const char *const twice[] = {"key", "time", "key"};
    struct field field[3];
    struct binding b;
    struct error err;
    struct csv row = row_of(field, missing, 2);
    cr_assert_eq(columns_by_header(columns, &row, &b, &err), ST_INPUT);
    cr_assert(strstr(err.text, "'time'"), "%s", err.text);
    row = row_of(field, twice, 3);
    cr_assert_eq(columns_by_header(columns, &row, &b, &err), ST_INPUT);
    cr_assert(strstr(err.text, "'key'"), "%s", err.text);
}

Test(columns, a_mapping_reads_what_it_names_and_nothing_else)
{
    static const char *const header[] = {"n", "id", "start", "time"};
    static const char *const texts[] = {"no number", "k", "7", "no time"};
    struct field field[4];
    struct csv row = row_of(field, header, 4);
    struct binding b;
    struct arena arena = {0};
    struct thing thing = {.n = -1};
    struct names names = {0};
    struct fault fault;
    cr_assert_eq(columns_by_mapping(columns, "key=id,time=start", &row, &arena, &b, NULL), ST_OK);
    row = row_of(field, texts, 4);
    cr_assert_eq(columns_read(&b, &row, &names, &thing, &fault, NULL), ST_OK);
    cr_assert(thing.time_us == 7000000 && thing.n == -1 && *thing.key.text == 'k');
    field[2] = (struct field){"x", 1};
    cr_assert_eq(columns_read(&b, &row, &names, &thing, &fault, NULL), ST_OK);
    cr_assert_str_eq(fault.text, "start is not a number"); /* by the name the file has */
    arena_free(&arena);
}

Test(columns, a_mapping_that_says_nothing_clear_is_refused)
{
    static const char *const header[] = {"id", "start"};
    static const struct {
        const char *mapping, *word;
        enum status status;
    } rows[] = {
        {"key", "'key'", ST_USAGE},
        {"=id", "'=id'", ST_USAGE},
        {"key=", "'key='", ST_USAGE},
        {"", "''", ST_USAGE},
        {"kye=id,time=start", "nearest: 'key'", ST_USAGE},
        {"key=id,key=start", "twice", ST_USAGE},
        {"key=id", "'time' is required", ST_USAGE},
        {"key=id,time=end", "id, start", ST_INPUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field field[2];
        struct csv row = row_of(field, header, 2);
        struct binding b;
        struct arena arena = {0};
        struct error err = {{0}};
        cr_assert_eq(columns_by_mapping(columns, rows[i].mapping, &row, &arena, &b, &err),
                     rows[i].status, "%s", rows[i].mapping);
        cr_assert(strstr(err.text, rows[i].word), "%s", err.text);
        arena_free(&arena);
    }
}
