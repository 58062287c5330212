#include "sim/results/quote.h"

#include <string.h>

size_t utf8_length(const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong, surrogate, beyond U+10FFFF: all told by the second byte. */
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return length;
}

bool utf8_valid(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t length = utf8_length(bytes + i, n - i);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}

void quote_csv(FILE *to, const char *bytes, size_t n)
{
    bool plain = true;
    for (size_t i = 0; i < n && plain; i++)
        plain = bytes[i] != ',' && bytes[i] != '"' && bytes[i] != '\n' && bytes[i] != '\r';
    if (plain && n > 0)
        fwrite(bytes, 1, n, to);
    if (plain)
        return;
    putc('"', to);
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '"')
            putc('"', to);
        putc(bytes[i], to);
    }
    putc('"', to);
}

/* backslash: how a backslash of the text itself is written. */
static void json_bytes(FILE *to, const char *bytes, size_t n, const char *backslash)
{
    putc('"', to);
    for (size_t i = 0; i < n;) {
        size_t length = utf8_length(bytes + i, n - i);
        unsigned char c = (unsigned char)bytes[i];
        if (length == 0)
            fprintf(to, "\\\\x%02X", c);
        else if (c == '"')
            fputs("\\\"", to);
        else if (c == '\\')
            fputs(backslash, to);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fwrite(bytes + i, 1, length, to);
        i += length > 0 ? length : 1;
    }
    putc('"', to);
}

void quote_json(FILE *to, const char *text) { json_bytes(to, text, strlen(text), "\\\\"); }

void quote_json_name(FILE *to, const char *bytes, size_t n)
{
    json_bytes(to, bytes, n, "\\\\\\\\");
}

/* U+FFFE and U+FFFF are UTF-8 but no XML. */
static bool is_xml(const char *bytes, size_t length)
{
    unsigned char c = (unsigned char)bytes[0];
    if (length == 3)
        return memcmp(bytes, "\xef\xbf\xbe", 3) != 0 && memcmp(bytes, "\xef\xbf\xbf", 3) != 0;
    return length > 1 || (length == 1 && (c >= 0x20 || c == '\t' || c == '\n'));
}

void quote_xml(FILE *to, const char *text)
{
    for (size_t i = 0, n = strlen(text); i < n;) {
        size_t length = utf8_length(text + i, n - i);
        if (!is_xml(text + i, length)) {
            fprintf(to, "\\x%02X", (unsigned char)text[i]);
            length = 1;
        } else if (strchr("&<>\"'", text[i]) != NULL) {
            fprintf(to, "&#%d;", text[i]);
        } else {
            fwrite(text + i, 1, length, to);
        }
        i += length;
    }
}

const char *quote_shown(const char *bytes, size_t n, char *buffer, size_t size)
{
    size_t at = 0, cut = 0; /* cut: the last place that leaves room for the dots */
    for (size_t i = 0; i < n;) {
        size_t length = utf8_length(bytes + i, n - i);
        unsigned char c = (unsigned char)bytes[i];
        bool shown = length > 1 || (length == 1 && c >= 0x20 && c != 0x7f);
        size_t want = shown ? length : 4;
        if (at + 4 <= size)
            cut = at;
        if (at + want + 1 > size) {
            memcpy(buffer + cut, "...", 4);
            return buffer;
        }
        if (shown)
            memcpy(buffer + at, bytes + i, length);
        else
            snprintf(buffer + at, size - at, "\\x%02X", c);
        at += want;
        i += shown ? length : 1;
    }
    buffer[at] = '\0';
    return buffer;
}
