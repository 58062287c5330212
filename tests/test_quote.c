#include "sim/results/quote.h"

#include "tests/ask.h"
#include "tests/leak.h"

#include <jansson.h>

TestSuite(quote, .fini = abort_on_leak);

Test(quote, utf8_is_what_the_standard_says)
{
    static const struct {
        const char *bytes;
        size_t n, want;
    } row[] = {
        {"a", 1, 1},
        {"\0", 1, 1},
        {"\x7f", 1, 1},
        {"\xc3\xa9", 2, 2},
        {"\xe2\x82\xac", 3, 3},
        {"\xf0\x9f\x98\x80", 4, 4},
        {"\xf4\x8f\xbf\xbf", 4, 4}, /* U+10FFFF */
        {"\xed\x9f\xbf", 3, 3},     /* U+D7FF, the last before the surrogates */
        {"\xee\x80\x80", 3, 3},     /* U+E000, the first after them */
        {"\x80", 1, 0},             /* a continuation alone */
        {"\xc0\xaf", 2, 0},         /* '/' in two bytes */
        {"\xc1\xbf", 2, 0},
        {"\xe0\x9f\xbf", 3, 0},     /* overlong */
        {"\xf0\x8f\xbf\xbf", 4, 0}, /* overlong */
        {"\xed\xa0\x80", 3, 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 4, 0}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", 4, 0},
        {"\xff", 1, 0},
        {"\xe2\x82", 2, 0}, /* cut */
        {"\xe2\x82z", 3, 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        cr_assert_eq(utf8_length(row[i].bytes, row[i].n), row[i].want, "row %zu", i);
    cr_assert(utf8_valid("", 0));
    cr_assert(utf8_valid("a\xc3\xa9z", 4));
    cr_assert_not(utf8_valid("a\xc3\xa9\xc3", 4));
}

static void expect(const char *got, const char *want) { cr_assert_str_eq(got, want); }

Test(quote, csv_quotes_only_what_needs_it_and_passes_bytes_on)
{
    static const struct {
        const char *bytes, *want;
    } row[] = {
        {"plain", "plain"},
        {"", ""},
        {" blanks ", " blanks "},
        {"a,b", "\"a,b\""},
        {"say \"x\"", "\"say \"\"x\"\"\""},
        {"two\nlines", "\"two\nlines\""},
        {"cr\r", "\"cr\r\""},
        {"n\xff", "n\xff"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct printing p;
        quote_csv(printing_start(&p), row[i].bytes, strlen(row[i].bytes));
        expect(printing_end(&p), row[i].want);
        free(p.text);
    }
}

Test(quote, json_escapes_and_marks_bytes_that_are_no_utf8)
{
    struct printing p;
    FILE *to = printing_start(&p);
    quote_json(to, "a\"b\\c\n\x01\xc3\xa9\xff");
    fputc(' ', to);
    quote_json_name(to, "a\\\0z\xff", 5);
    expect(printing_end(&p), "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa9\\\\xFF\" "
                             "\"a\\\\\\\\\\u0000z\\\\xFF\"");
    free(p.text);
}

/* Undoes what quote.h promises: "\\" is a backslash, "\xNN" a byte. */
static size_t undo(const char *text, size_t n, char *bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned byte;
        if (text[i] != '\\') {
            bytes[at++] = text[i];
        } else if (text[i + 1] == '\\') {
            bytes[at++] = text[++i];
        } else {
            cr_assert_eq(sscanf(text + i, "\\x%2X", &byte), 1);
            bytes[at++] = (char)byte;
            i += 3;
        }
    }
    return at;
}

Test(quote, every_name_of_two_bytes_can_be_had_back_from_json)
{
    for (int i = 0; i < 65536; i++) {
        char name[2] = {(char)(i >> 8), (char)i}, back[16];
        struct printing p;
        quote_json_name(printing_start(&p), name, 2);
        printing_end(&p);
        json_t *parsed = json_loadb(p.text, p.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        cr_assert_not_null(parsed, "%04x is no JSON: %s", (unsigned)i, p.text);
        size_t n = undo(json_string_value(parsed), json_string_length(parsed), back);
        cr_assert(n == 2 && memcmp(back, name, 2) == 0, "%04x came back otherwise", (unsigned)i);
        json_decref(parsed);
        free(p.text);
    }
}

Test(quote, xml_has_no_markup_and_no_forbidden_character)
{
    struct printing p;
    quote_xml(printing_start(&p), "<a & \"b\" 'c'>\t\xc3\xa9\x01\xff\xef\xbf\xbe");
    expect(printing_end(&p), "&#60;a &#38; &#34;b&#34; &#39;c&#39;&#62;\t\xc3\xa9\\x01\\xFF"
                             "\\xEF\\xBF\\xBE");
    free(p.text);
}

Test(quote, what_is_shown_fits_and_is_cut_between_characters)
{
    char buffer[12];
    expect(quote_shown("plain", 5, buffer, sizeof buffer), "plain");
    expect(quote_shown("a\nb\x7f", 4, buffer, sizeof buffer), "a\\x0Ab\\x7F");
    expect(quote_shown("12345678901", 11, buffer, sizeof buffer), "12345678901");
    expect(quote_shown("123456789012", 12, buffer, sizeof buffer), "12345678...");
    expect(quote_shown("1234567\xc3\xa9\xc3\xa9\xc3\xa9", 13, buffer, sizeof buffer), "1234567...");
    expect(quote_shown("123456\xff\xff", 8, buffer, sizeof buffer), "123456...");
}
