#include "traces/json_read.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

TestSuite(json_read, .fini = abort_on_leak);

static bool is_json(const char *text)
{
    char *copy = strdup(text);
    struct json_read r = json_read_begin(copy, strlen(copy));
    json_read_skip(&r);
    bool ended = json_read_ended(&r);
    free(copy);
    return ended;
}

Test(json_read, members_and_elements_come_in_order_and_the_rest_is_skipped)
{
    char text[] = " {\"a\": 1, \"b\" : [ \"x\", null, {\"y\": []} ], \"c\": {\"d\": \"e\"}, \"f\": "
                  "true} ";
    struct json_read r = json_read_begin(text, strlen(text));
    struct field key, value;
    cr_assert(!json_read_array(&r) && !json_read_string(&r, &value) && json_read_object(&r));
    cr_assert(json_read_member(&r, &key) && key.length == 1 && key.text[0] == 'a');
    json_read_skip(&r);
    cr_assert(json_read_member(&r, &key) && key.text[0] == 'b' && json_read_array(&r));
    cr_assert(json_read_element(&r) && json_read_string(&r, &value) && value.text[0] == 'x');
    cr_assert(json_read_element(&r) && !json_read_string(&r, &value) && json_read_null(&r));
    cr_assert(json_read_element(&r));
    json_read_skip(&r);
    cr_assert_not(json_read_element(&r));
    cr_assert(json_read_member(&r, &key) && key.text[0] == 'c' && json_read_object(&r));
    cr_assert(json_read_member(&r, &key) && key.text[0] == 'd');
    cr_assert(json_read_string(&r, &value) && value.length == 1 && value.text[0] == 'e');
    cr_assert_not(json_read_member(&r, &key));
    cr_assert(json_read_member(&r, &key) && key.text[0] == 'f' && !json_read_ended(&r));
    json_read_skip(&r);
    cr_assert(!json_read_member(&r, &key) && json_read_ended(&r));
}

Test(json_read, strings_are_unescaped_and_other_bytes_left_alone)
{
    static const struct {
        const char *text, *bytes;
    } rows[] = {
        {"\"\"", ""},
        {"\"a b\"", "a b"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20ac\"", "A\u00e9\u20ac"},
        {"\"\\ud83d\\uDE00!\"", "\U0001f600!"},
        {"\"\xff\xfe\"", "\xff\xfe"},
        {"\"{[,]}:\"", "{[,]}:"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        struct field value;
        strcpy(text, rows[i].text);
        struct json_read r = json_read_begin(text, strlen(text));
        cr_assert(json_read_string(&r, &value) && json_read_ended(&r), "%s", rows[i].text);
        cr_assert(value.length == strlen(rows[i].bytes) &&
                      memcmp(value.text, rows[i].bytes, value.length) == 0,
                  "%s", rows[i].text);
    }
}

Test(json_read, what_is_no_json_is_broken)
{
    static const char *const rows[] = {
        "",
        "{",
        "[",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{1:2}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "\"",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"a\nb\"",
        "[1}",
        "{\"a\":[}",
        "nul",
        "tru",
        "1 2",
        "{} {}",
        "@",
        "[\"a\":1]",
        "{\"a\":{\"b\":]}",
        "}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_not(is_json(rows[i]), "%s", rows[i]);
    static const char *const fine[] = {"{}", "[]", " [ ] ", "null", "-1.5e+3", "[true,false,[[]]]"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        cr_assert(is_json(fine[i]), "%s", fine[i]);
}

Test(json_read, what_is_nested_too_deeply_is_refused_and_not_followed)
{
    enum { DEEP = 100000 };
    char *text = malloc(2 * DEEP + 1);
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    text[2 * DEEP] = '\0';
    cr_assert_not(is_json(text));
    cr_assert(is_json(text + DEEP - 60) == false, "more is closed than was opened");
    text[DEEP + 60] = '\0';
    cr_assert(is_json(text + DEEP - 60));
    free(text);
}

/* Random texts out of the pieces of JSON: never more lenient than jansson but for numbers, which
 * are only passed over, and never stricter. */
Test(json_read, agrees_with_jansson_on_random_texts)
{
    static const char *const piece[] = {"{",  "}",  "[", "]",    ",",    ":", "\"a\"", "\"\\n\"",
                                        "\"", "\\", "1", "null", "true", " ", "\"a\":"};
    uint32_t random = 1;
    int n_fine = 0;
    for (int round = 0; round < 200000; round++) {
        char text[128] = "";
        int n = 1 + (int)(random >> 29);
        for (int i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            strcat(text, piece[(random >> 16) % 15]);
        }
        if (strstr(text, "11") != NULL)
            continue;
        json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
        cr_assert_eq(is_json(text), value != NULL, "%s", text);
        n_fine += value != NULL;
        json_decref(value);
    }
    cr_assert_gt(n_fine, 1000);
}
