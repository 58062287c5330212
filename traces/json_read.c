#include "traces/json_read.h"

#include <string.h>

enum { DEEPEST = 64 };

struct json_read json_read_begin(char *text, size_t length)
{
    return (struct json_read){.at = text, .end = text + length};
}

static bool broken(struct json_read *r)
{
    r->broken = true;
    r->at = r->end;
    return false;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* The byte that comes next, behind blanks; 0 at the end. */
static char next_byte(struct json_read *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool enter(struct json_read *r, char open)
{
    if (next_byte(r) != open)
        return false;
    r->at++;
    r->fresh = true;
    return true;
}

bool json_read_object(struct json_read *r) { return enter(r, '{'); }

bool json_read_array(struct json_read *r) { return enter(r, '['); }

/* Behind the comma to what comes next, or behind the end. */
static bool go_on(struct json_read *r, char close)
{
    bool fresh = r->fresh;
    char byte = next_byte(r);
    r->fresh = false;
    if (byte == close) {
        r->at++;
        return false;
    }
    if (fresh && byte != '\0')
        return true;
    if (byte != ',')
        return broken(r);
    r->at++;
    return next_byte(r) != '\0' || broken(r);
}

bool json_read_member(struct json_read *r, struct field *key)
{
    if (!go_on(r, '}'))
        return false;
    if (!json_read_string(r, key) || next_byte(r) != ':')
        return broken(r);
    r->at++;
    return true;
}

bool json_read_element(struct json_read *r) { return go_on(r, ']'); }

/* Four hexadecimal digits; -1 where they are none. */
static int read_hex(const char *p, const char *end)
{
    int value = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *found = p[i] != '\0' ? strchr(digits, p[i]) : NULL;
        if (found == NULL)
            return -1;
        int digit = (int)(found - digits);
        value = 16 * value + (digit < 16 ? digit : digit - 6);
    }
    return value;
}

/* The code point as UTF-8; returns behind it. */
static char *put_utf8(char *to, int code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int n = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes behind the first */
    static const int lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[n] | code >> 6 * n);
    while (n-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * n & 0x3f));
    return to;
}

/* \uXXXX, or two of them for a code point beyond 16 bits; *from stands on the u. NULL where it is
 * none. */
static char *unescape_code(const char **from, const char *end, char *to)
{
    int code = read_hex(*from + 1, end);
    *from += 5;
    if (code >= 0xd800 && code < 0xdc00) {
        bool pair = end - *from >= 6 && (*from)[0] == '\\' && (*from)[1] == 'u';
        int low = pair ? read_hex(*from + 2, end) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        *from += 6;
    }
    return code < 0 || (code >= 0xdc00 && code < 0xe000) ? NULL : put_utf8(to, code);
}

bool json_read_string(struct json_read *r, struct field *out)
{
    static const char escaped[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    if (next_byte(r) != '"')
        return false;
    char *to = r->at + 1;
    const char *from = to;
    *out = (struct field){to, 0};
    while (from < r->end && *from != '"') {
        if ((unsigned char)*from < ' ')
            return broken(r);
        if (*from != '\\') {
            *to++ = *from++;
            continue;
        }
        from++;
        const char *simple = from < r->end && *from != '\0' ? strchr(escaped, *from) : NULL;
        if (simple != NULL) {
            *to++ = means[simple - escaped];
            from++;
        } else if (from == r->end || *from != 'u' ||
                   (to = unescape_code(&from, r->end, to)) == NULL) {
            return broken(r);
        }
    }
    if (from >= r->end)
        return broken(r);
    out->length = (size_t)(to - out->text);
    r->at += from + 1 - r->at;
    return true;
}

static bool skip_word(struct json_read *r, const char *word)
{
    size_t n = strlen(word);
    next_byte(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

bool json_read_null(struct json_read *r) { return skip_word(r, "null"); }

static bool is_numeric(char c)
{
    return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E';
}

/* Anything of digits, signs, point and exponent: a number is only passed over. */
static bool skip_number(struct json_read *r)
{
    char *begin = r->at;
    while (r->at < r->end && is_numeric(*r->at))
        r->at++;
    return r->at > begin;
}

static void skip_value(struct json_read *r, int depth)
{
    struct field unused;
    if (depth == 0)
        broken(r);
    else if (json_read_object(r))
        while (json_read_member(r, &unused))
            skip_value(r, depth - 1);
    else if (json_read_array(r))
        while (json_read_element(r))
            skip_value(r, depth - 1);
    else if (!json_read_string(r, &unused) && !r->broken && !json_read_null(r) &&
             !skip_word(r, "true") && !skip_word(r, "false") && !skip_number(r))
        broken(r);
}

void json_read_skip(struct json_read *r) { skip_value(r, DEEPEST); }

bool json_read_ended(struct json_read *r)
{
    return next_byte(r) == '\0' && r->at == r->end && !r->broken;
}
