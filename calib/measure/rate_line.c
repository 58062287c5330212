#include "calib/measure/rate_line.h"

#include "core/base/units.h"

#include <math.h>
#include <string.h>

static const char blanks[] = " \t\r=:,";

enum status rate_reader_init(struct rate_reader *r, const char *pattern, struct error *err)
{
    *r = (struct rate_reader){.has_regex = pattern != NULL};
    if (pattern == NULL || regcomp(&r->regex, pattern, REG_EXTENDED) == 0)
        return ST_OK;
    r->has_regex = false;
    return fail(err, ST_OUTPUT, "rate '%s': no memory for it", pattern);
}

void rate_reader_free(struct rate_reader *r)
{
    if (r->has_regex)
        regfree(&r->regex);
    r->has_regex = false;
}

static bool above_0(const char *text, size_t length, double *out)
{
    return parse_real(text, length, out) && *out > 0;
}

static bool read_pattern(const struct rate_reader *r, const char *line, double *rate)
{
    regmatch_t match[2];
    return regexec(&r->regex, line, 2, match, 0) == 0 && match[1].rm_so >= 0 &&
           above_0(line + match[1].rm_so, (size_t)(match[1].rm_eo - match[1].rm_so), rate);
}

static void put(const char *const *names, double *values, const char *word, size_t length,
                double value)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            values[i] = value;
}

bool rate_read(const struct rate_reader *r, const char *line, double *side, double *joint)
{
    for (int i = 0; i < N_SIDE_NUMBERS; i++)
        side[i] = NAN;
    for (int i = 0; i < N_JOINT_NUMBERS; i++)
        joint[i] = NAN;
    if (r->has_regex)
        return read_pattern(r, line, &side[SIDE_RATE]);
    size_t n = strcspn(line, blanks);
    if (n != 4 || memcmp(line, "rate", 4) != 0)
        return false;
    for (const char *word = line; *word != '\0';) {
        size_t length = strcspn(word, blanks);
        const char *number = word + length + strspn(word + length, blanks);
        size_t digits = strcspn(number, blanks);
        double value;
        if (!parse_real(number, digits, &value))
            return false;
        put(side_number_name, side, word, length, value);
        put(joint_number_name, joint, word, length, value);
        word = number + digits + strspn(number + digits, blanks);
    }
    return side[SIDE_RATE] > 0;
}
