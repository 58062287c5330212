#include "sim/results/check.h"

#include "core/base/units.h"
#include "sim/results/quote.h"
#include "sim/results/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const verdict_words[] = {
    [VERDICT_SAME] = "same",   [VERDICT_BETTER] = "better", [VERDICT_ALLOWED] = "allowed",
    [VERDICT_WORSE] = "WORSE", [VERDICT_ABSENT] = "ABSENT", [VERDICT_UNKNOWN] = "not known",
    [VERDICT_UNCHECKED] = "",
};

bool verdict_fails(enum verdict v) { return v == VERDICT_WORSE || v == VERDICT_ABSENT; }

static enum verdict judge(const struct check_row *r, int better)
{
    if (!r->tolerance.set)
        return VERDICT_UNCHECKED;
    if (isnan(r->base) && isnan(r->now))
        return VERDICT_UNKNOWN;
    if (isnan(r->base) || isnan(r->now))
        return VERDICT_ABSENT;
    if (tolerance_exceeded(&r->tolerance, better, r->base, r->now))
        return VERDICT_WORSE;
    if (r->now == r->base)
        return VERDICT_SAME;
    return better != 0 && (r->now > r->base) == (better > 0) ? VERDICT_BETTER : VERDICT_ALLOWED;
}

static double change_percent(double base, double now)
{
    if (now == base)
        return 0;
    double change = (now - base) / fabs(base) * 100;
    return isfinite(change) ? change : NAN;
}

enum status check_make(struct check *c, const struct baseline *b, const struct summary *s,
                       struct error *err)
{
    *c = (struct check){.row = calloc(b->n, sizeof *c->row)};
    if (c->row == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < b->n; i++) {
        const struct baseline_metric *m = &b->metric[i];
        struct check_row *r = &c->row[c->n++];
        int metric = metric_find(m->name);
        *r = (struct check_row){.name = m->name, .base = m->value, .tolerance = m->tolerance};
        r->unit = metric >= 0 ? metric_infos[metric].unit : NULL;
        if (!summary_metric(s, m->name, &r->now))
            r->now = NAN;
        r->change_percent = change_percent(r->base, r->now);
        r->verdict = judge(r, metric >= 0 ? metric_infos[metric].better : 0);
        c->n_checked += r->tolerance.set;
        c->n_failed += verdict_fails(r->verdict);
    }
    return ST_OK;
}

void check_free(struct check *c)
{
    free(c->row);
    *c = (struct check){0};
}

/* "+4.0 %"; small moves keep two digits. */
static const char *change_text(double change, char buffer[32])
{
    if (isnan(change))
        return strcpy(buffer, "-");
    snprintf(buffer, 32, change != 0 && fabs(change) < 0.05 ? "%+.2g %%" : "%+.1f %%", change);
    return buffer;
}

/* Neither checked nor moved, or known nowhere. */
static bool is_silent(const struct check_row *r)
{
    bool unknown = isnan(r->base) && isnan(r->now);
    return unknown || (r->verdict == VERDICT_UNCHECKED && r->base == r->now);
}

static void print_row(const struct check_row *r, int width, FILE *to)
{
    char base[32], now[32], change[32], tolerance[48];
    fprintf(to, "%-*s %12s %12s %10s", width, r->name, report_number(r->base, base),
            report_number(r->now, now), change_text(r->change_percent, change));
    if (r->tolerance.set) {
        int bytes = r->tolerance.two_sided ? 11 : 10; /* "±" is two bytes and one column */
        fprintf(to, " %*s  %s", bytes, tolerance_text(&r->tolerance, tolerance),
                verdict_words[r->verdict]);
    }
    fputc('\n', to);
}

void check_print(const struct check *c, FILE *to)
{
    int width = 6;
    for (size_t i = 0; i < c->n; i++)
        width = width > (int)strlen(c->row[i].name) ? width : (int)strlen(c->row[i].name);
    fprintf(to, "%-*s %12s %12s %10s %10s  %s\n", width, "metric", "baseline", "this run", "change",
            "tolerance", "verdict");
    for (size_t i = 0; i < c->n; i++)
        if (!is_silent(&c->row[i]))
            print_row(&c->row[i], width, to);
    fprintf(to, "%d of %d checked metrics failed\n", c->n_failed, c->n_checked);
}

static void junit_case(const struct check_row *r, const struct summary *s, FILE *to)
{
    char base[32], now[32], change[32], tolerance[48];
    fputs("    <testcase classname=\"colosim.", to);
    quote_xml(to, s->policy);
    fputs("\" name=\"", to);
    quote_xml(to, r->name);
    if (!verdict_fails(r->verdict)) {
        fputs("\" time=\"0\"/>\n", to);
        return;
    }
    fprintf(to, "\" time=\"0\">\n      <failure type=\"%s\" message=\"",
            r->verdict == VERDICT_ABSENT ? "absent" : "regression");
    fprintf(to, "baseline %s, this run %s, change %s, tolerance ", format_real(r->base, base),
            format_real(r->now, now), change_text(r->change_percent, change));
    quote_xml(to, tolerance_text(&r->tolerance, tolerance));
    fputs("\"/>\n    </testcase>\n", to);
}

void check_junit(const struct check *c, const struct summary *s, FILE *to)
{
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites tests=\"%d\" failures=\"%d\" errors=\"0\">\n"
            "  <testsuite tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"0\" name=\"colosim "
            "check ",
            c->n_checked, c->n_failed, c->n_checked, c->n_failed);
    quote_xml(to, s->name);
    fputs("\" time=\"0\">\n", to);
    for (size_t i = 0; i < c->n; i++)
        if (c->row[i].tolerance.set)
            junit_case(&c->row[i], s, to);
    fputs("  </testsuite>\n</testsuites>\n", to);
}
