#include "sim/results/why.h"

#include "core/base/units.h"
#include "sim/results/quote.h"
#include "sim/results/report.h"

#include <string.h>

enum { SHOWN_MAX = 24 };

static const char *shown(const struct why *w, int32_t job, char text[64])
{
    int32_t name = w->jobs[job].name;
    return quote_shown(names_text(&w->names, name), names_length(&w->names, name), text, 64);
}

static const char *seconds(int64_t us, char text[32]) { return report_number(s_of_us(us), text); }

static void print_free(FILE *to, const struct blocked *b)
{
    char least[32], most[32];
    if (b->free_min == b->free_max)
        fprintf(to, "%s", report_number(b->free_min, least));
    else
        fprintf(to, "%s to %s", report_number(b->free_min, least),
                report_number(b->free_max, most));
    fputs(b->free_max == 1 ? " GPU free" : " GPUs free", to);
}

static void print_why(FILE *to, const struct why *w, const struct blocked *b)
{
    char text[64];
    print_free(to, b);
    fputs(b->mixed ? ": mostly " : ": ", to);
    switch (b->why) {
    case BLOCK_FULL: fputs("too few", to); break;
    case BLOCK_SCATTERED: fputs("enough, but not in the pieces it needs", to); break;
    case BLOCK_HELD: fprintf(to, "room for it, and %s did not start it", w->policy); break;
    }
    if (b->n_ahead > 0)
        fprintf(to, "; %d submitted earlier waited too, first %s", b->n_ahead,
                shown(w, b->ahead, text));
    else if (b->why == BLOCK_HELD)
        fputs("; nobody was ahead of it: a rule of the policy, or CPU, memory or GPU type", to);
    fputc('\n', to);
}

static void print_totals(FILE *to, const struct why *w)
{
    static const char *const words[N_BLOCKS] = {"too few GPUs free",
                                                "enough GPUs free, not in the pieces it needs",
                                                "room for it, held back"};
    int64_t all_us = 0;
    char text[32];
    for (int k = 0; k < N_BLOCKS; k++)
        all_us += w->total_us[k];
    fprintf(to, "waited %s s in all", seconds(all_us, text));
    for (int k = 0; k < N_BLOCKS; k++)
        if (w->total_us[k] > 0)
            fprintf(to, "%s %s s (%.0f %%) %s", k == 0 || all_us == 0 ? ":" : ",",
                    seconds(w->total_us[k], text), 100 * (double)w->total_us[k] / (double)all_us,
                    words[k]);
    fputs("\n", to);
}

static void print_around(FILE *to, const struct why *w)
{
    char name[64], text[32];
    if (w->freed_by >= 0)
        fprintf(to, "it started when %s ended\n", shown(w, w->freed_by, name));
    if (w->n_overtook > 0)
        fprintf(to, "submitted later and started before it: %d, on %s GPU-s until it started\n",
                w->n_overtook, report_number(w->overtook_gpu_s, text));
    if (w->holder[0] >= 0)
        fputs("who held the GPUs until it started, most first:\n", to);
    for (int k = 0; k < 5 && w->holder[k] >= 0; k++) {
        const struct why_job *j = &w->jobs[w->holder[k]];
        char gpus[32], held[32], from[32];
        fprintf(to, "  %s, %s GPUs, from %s s: %s GPU-s\n", shown(w, w->holder[k], name),
                report_number(j->gpu, gpus), seconds(j->start_us, from),
                report_number(w->holder_gpu_s[k], held));
    }
}

static void print_head(FILE *to, const struct why *w)
{
    const struct why_job *j = &w->jobs[w->job];
    char name[64], gpus[32], at[32];
    fprintf(to, "%s: %s %s", shown(w, w->job, name), report_number(j->gpu, gpus),
            j->gpu == 1 ? "GPU" : "GPUs");
    if (w->n_inst > 1)
        fprintf(to, " in %d instances", w->n_inst);
    fprintf(to, ", submitted at %s s, ", seconds(j->submit_us, at));
    if (j->start_us == TIME_NEVER)
        fprintf(to, "never started (%s)\n", w->status);
    else
        fprintf(to, "started at %s s\n", seconds(j->start_us, at));
    if (w->reason[0] != '\0')
        fprintf(to, "%s: %s\n", w->status, w->reason);
}

void why_print(FILE *to, const struct why *w)
{
    bool first = true;
    print_head(to, w);
    if (strcmp(w->status, "rejected") == 0)
        return;
    if (w->n_blocked == 0) {
        fputs("it did not wait\n", to);
        return;
    }
    print_totals(to, w);
    fprintf(to, "\n%12s %12s  %s\n", "from s", "to s", "what stood in its way");
    for (size_t i = 0; i < w->n_blocked; i++) {
        char from[32], until[32];
        const struct blocked *b = &w->blocked[i];
        if (i == SHOWN_MAX) {
            fprintf(to, "%12s %12s  and %zu stretches more (--json has all)\n", "...", "...",
                    w->n_blocked - i);
            break;
        }
        if (!first && b[-1].to_us != b->from_us)
            fprintf(to, "%12s %12s  it ran, until it was sent back to the queue\n",
                    seconds(b[-1].to_us, from), seconds(b->from_us, until));
        fprintf(to, "%12s %12s  ", seconds(b->from_us, from), seconds(b->to_us, until));
        print_why(to, w, b);
        first = false;
    }
    fputc('\n', to);
    print_around(to, w);
}

static void json_name(FILE *to, const char *key, const struct why *w, int32_t job)
{
    fprintf(to, ", \"%s\": ", key);
    if (job < 0) {
        fputs("null", to);
        return;
    }
    int32_t name = w->jobs[job].name;
    quote_json_name(to, names_text(&w->names, name), names_length(&w->names, name));
}

static void json_time(FILE *to, const char *key, int64_t us)
{
    char text[32];
    fprintf(to, ", \"%s\": %s", key, us == TIME_NEVER ? "null" : format_us(us, text));
}

void why_json(FILE *to, const struct why *w)
{
    const struct why_job *j = &w->jobs[w->job];
    char a[32], b[32];
    fprintf(to, "{\"gpus\": %s, \"instances\": %d", format_real(j->gpu, a), w->n_inst);
    json_name(to, "job", w, w->job);
    fprintf(to, ", \"status\": \"%s\"", w->status);
    json_time(to, "submit_s", j->submit_us);
    json_time(to, "start_s", j->start_us);
    for (int k = 0; k < N_BLOCKS; k++)
        fprintf(to, "%s\"%s_s\": %s", k == 0 ? ", \"waited\": {" : ", ", block_names[k],
                format_us(w->total_us[k], a));
    fputs("}, \"stretches\": [", to);
    for (size_t i = 0; i < w->n_blocked; i++) {
        const struct blocked *s = &w->blocked[i];
        fprintf(to, "%s{\"why\": \"%s\", \"free_min\": %s, \"free_max\": %s, \"ahead\": %d",
                i > 0 ? ", " : "", block_names[s->why], format_real(s->free_min, a),
                format_real(s->free_max, b), s->n_ahead);
        json_time(to, "from_s", s->from_us);
        json_time(to, "to_s", s->to_us);
        json_name(to, "first_ahead", w, s->ahead);
        fputc('}', to);
    }
    fprintf(to, "], \"overtaken_by\": %d", w->n_overtook);
    json_name(to, "freed_by", w, w->freed_by);
    fputs("}\n", to);
}
