#include "sim/results/output.h"

#include "tests/leak.h"
#include "tests/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

TestSuite(output, .fini = abort_on_leak);

static void expect_content(const char *path, const char *want)
{
    char got[256];
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file);
    size_t n = fread(got, 1, sizeof got - 1, file);
    got[n] = '\0';
    fclose(file);
    cr_assert_str_eq(got, want);
}

static int n_beside(const char *path)
{
    char command[512];
    int n = -1;
    snprintf(command, sizeof command, "ls %s* | wc -l", path);
    FILE *pipe = popen(command, "r");
    cr_assert_eq(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

Test(output, a_file_changes_at_the_end_and_at_once)
{
    struct temp_file t = temp_text(".txt", "old");
    struct output o;
    struct error err;
    cr_assert_eq(output_open(&o, t.path, &err), ST_OK);
    fputs("new", o.file);
    fflush(o.file);
    expect_content(t.path, "old");
    cr_assert_eq(output_close(&o, ST_OK, &err), ST_OK);
    expect_content(t.path, "new");
    cr_assert_eq(n_beside(t.path), 1);
    temp_remove(&t);
}

Test(output, a_new_file_appears_only_when_it_is_whole)
{
    struct temp_file t = temp_text("", "");
    struct output o;
    struct error err;
    temp_remove(&t);
    cr_assert_eq(output_open(&o, t.path, &err), ST_OK);
    cr_assert_eq(access(t.path, F_OK), -1);
    fputs("x", o.file);
    cr_assert_eq(output_close(&o, ST_OK, &err), ST_OK);
    expect_content(t.path, "x");
    temp_remove(&t);
}

Test(output, after_a_failure_the_old_file_is_there_and_nothing_beside_it)
{
    struct temp_file t = temp_text(".txt", "old");
    struct output o;
    struct error err;
    cr_assert_eq(output_open(&o, t.path, &err), ST_OK);
    fputs("half", o.file);
    cr_assert_eq(output_close(&o, ST_INPUT, &err), ST_INPUT);
    expect_content(t.path, "old");
    cr_assert_eq(n_beside(t.path), 1);
    temp_remove(&t);
}

Test(output, mode_and_link_of_the_old_file_stay)
{
    struct temp_file t = temp_text(".txt", "old");
    struct output o;
    struct error err;
    struct stat info;
    char link[300];
    snprintf(link, sizeof link, "%s.link", t.path);
    cr_assert_eq(chmod(t.path, 0640), 0);
    cr_assert_eq(symlink(t.path, link), 0);
    cr_assert_eq(output_open(&o, link, &err), ST_OK);
    fputs("new", o.file);
    cr_assert_eq(output_close(&o, ST_OK, &err), ST_OK);
    cr_assert(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    cr_assert(stat(t.path, &info) == 0 && (info.st_mode & 0777) == 0640);
    expect_content(t.path, "new");
    unlink(link);
    temp_remove(&t);
}

Test(output, a_full_device_is_told_however_little_is_written)
{
    struct output o;
    struct error err;
    cr_assert_eq(output_open(&o, "/dev/full", &err), ST_OK);
    fputs("x", o.file);
    cr_assert_eq(output_close(&o, ST_OK, &err), ST_OUTPUT);
    cr_assert_str_eq(err.text, "/dev/full: No space left on device");

    cr_assert_eq(output_open(&o, "/dev/full", &err), ST_OK);
    for (int i = 0; i < 1000000 && !output_broken(&o); i++)
        fputs("many bytes ", o.file);
    cr_assert(output_broken(&o));
    errno = 0; /* what stdio leaves there is of no use */
    cr_assert_eq(output_close(&o, ST_OK, &err), ST_OUTPUT);
    cr_assert_str_eq(err.text, "/dev/full: No space left on device");
}

Test(output, a_reader_that_went_away_is_no_failure)
{
    int ends[2], kept = dup(STDOUT_FILENO);
    struct output o;
    struct error err;
    signal(SIGPIPE, SIG_IGN);
    cr_assert_eq(pipe(ends), 0);
    cr_assert(dup2(ends[1], STDOUT_FILENO) >= 0);
    close(ends[0]);
    close(ends[1]);
    enum status opened = output_open(&o, "-", &err);
    fputs("to nobody", o.file);
    enum status closed = output_close(&o, ST_OK, &err);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    cr_assert_eq(opened, ST_OK);
    cr_assert_eq(closed, ST_OK, "%s", err.text);
}

Test(output, what_cannot_be_opened_is_named_with_the_reason)
{
    struct output o;
    struct error err;
    cr_assert_eq(output_open(&o, "/nonexistent/folder/x", &err), ST_OUTPUT);
    cr_assert_str_eq(err.text, "/nonexistent/folder/x: No such file or directory");
    cr_assert_eq(output_open(&o, "/", &err), ST_OUTPUT);
    cr_assert_str_eq(err.text, "/: Is a directory");
    cr_assert_eq(output_close(&o, ST_OUTPUT, &err), ST_OUTPUT, "closing it again is safe");
}
