/* bench_parse - how fast tables are read: PAI task rows and native rows, plain and gzip.
 *
 *   bench_parse [ROWS]         default 1,000,000
 *
 * Three steps, each with those before it: lines found and hashed, fields split, the whole import
 * into a closed job table with its names. MB are 10^6 decompressed bytes; CPU time of one core,
 * the best of three runs. The files are made first, in TMPDIR, and removed. */
#include "bench/tools.h"
#include "traces/csv.h"
#include "traces/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { N_RUNS = 3 };

/* One row with a job name as long as PAI's; returns its bytes. */
static int make_row(char *row, size_t size, bool pai, int i)
{
    static const char *const task[] = {"worker", "tensorflow", "PyTorchWorker"};
    static const char *const type[] = {"MISC", "T4", "P100", "V100"};
    static const int gpu[] = {25, 50, 100, 100, 100, 200, 800};
    uint64_t r = (uint64_t)i * 0x9e3779b97f4a7c15u + 1;
    int start = (int)(r >> 40 & 0x3fffff), span = (int)(r >> 20 & 0xffff);
    if (pai)
        return snprintf(row, size,
                        "%016llx%08x,%s,%d.0,Terminated,%d.0,%d.0,600.0,29.296875,%d.0,%s\n",
                        (unsigned long long)r, (unsigned)i, task[i % 3], 1 + i % 4, start,
                        start + span, gpu[i % 7], type[i % 4]);
    return snprintf(row, size, "%016llx%08x,%s,%d,%d,%g,%d,6,30000,%s\n", (unsigned long long)r,
                    (unsigned)i, task[i % 3], start, span, gpu[i % 7] / 100.0, 1 + i % 4,
                    type[i % 4]);
}

/* Writes the same rows plain and compressed; returns the bytes of the plain file. */
static double make_files(const char *plain, const char *zipped, bool pai, int n_rows)
{
    static const char head[] = "job,task,submit_s,duration_s,gpu,instances,cpu,mem_mib,gpu_type\n";
    char row[256];
    double bytes = 0;
    FILE *file = fopen(plain, "wb");
    gzFile gz = gzopen(zipped, "wb");
    bool fine = file != NULL && gz != NULL;
    for (int i = pai ? 0 : -1; fine && i < n_rows; i++) {
        int n = i < 0 ? snprintf(row, sizeof row, "%s", head) : make_row(row, sizeof row, pai, i);
        fine = fwrite(row, 1, (size_t)n, file) == (size_t)n && gzwrite(gz, row, (unsigned)n) == n;
        bytes += n;
    }
    fine = file != NULL && fclose(file) == 0 && fine;
    fine = gz != NULL && gzclose(gz) == Z_OK && fine;
    must(fine ? ST_OK : ST_OUTPUT, &(struct error){"cannot write the test files"});
    return bytes;
}

static void find_lines(const char *path, struct error *err)
{
    struct lines l;
    struct line line = {"", 0};
    must(lines_open(&l, path, path, 0, LINES_TO_END, err), err);
    while (line.text != NULL)
        must(lines_next(&l, &line, err), err);
    lines_close(&l);
}

static void split_rows(const char *path, struct error *err)
{
    struct lines l;
    struct csv row = {0};
    bool more = true;
    must(lines_open(&l, path, path, 0, LINES_TO_END, err), err);
    while (more)
        must(csv_next(&row, &l, &more, err), err);
    csv_free(&row);
    lines_close(&l);
}

static void import(const char *path, struct error *err)
{
    struct trace t;
    must(trace_read(&(struct trace_options){.paths = &path, .n_paths = 1}, &t, err), err);
    trace_free(&t);
}

static void time_file(const char *what, const char *path, double bytes, int n_rows)
{
    static const struct {
        const char *name;
        void (*step)(const char *, struct error *);
    } steps[] = {{"lines", find_lines}, {"fields", split_rows}, {"import", import}};
    struct error err = {{0}};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        double best_s = 1e9;
        for (int run = 0; run < N_RUNS; run++) {
            double begin_s = cpu_now_s();
            steps[s].step(path, &err);
            double took_s = cpu_now_s() - begin_s;
            best_s = took_s < best_s ? took_s : best_s;
        }
        printf("%-12s %-7s %8.3f s %8.0f MB/s %9.0f ns/row\n", what, steps[s].name, best_s,
               bytes / best_s / 1e6, best_s / n_rows * 1e9);
    }
}

int main(int argc, char **argv)
{
    int n_rows = argc > 1 ? atoi(argv[1]) : 1000000;
    char folder[SCRATCH_MAX];
    if (n_rows < 1 || !scratch_folder(folder, "bench_parse")) {
        fprintf(stderr, "usage: bench_parse [ROWS]\n");
        return ST_USAGE;
    }
    for (int pai = 1; pai >= 0; pai--) {
        const char *format = pai ? "pai" : "native";
        char plain[SCRATCH_MAX + 8], zipped[SCRATCH_MAX + 16], what[32];
        snprintf(plain, sizeof plain, "%s/r.csv", folder);
        snprintf(zipped, sizeof zipped, "%s.gz", plain);
        double bytes = make_files(plain, zipped, pai, n_rows);
        snprintf(what, sizeof what, "%s plain", format);
        time_file(what, plain, bytes, n_rows);
        snprintf(what, sizeof what, "%s gz", format);
        time_file(what, zipped, bytes, n_rows);
        unlink(plain);
        unlink(zipped);
    }
    return rmdir(folder);
}
