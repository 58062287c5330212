#include "sim/results/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *shown(const struct output *o)
{
    return o->path != NULL ? o->path : "standard output";
}

/* stdio's errno is lost by the time anybody looks; the first one is kept here. */
static ssize_t write_all(void *cookie, const char *bytes, size_t n)
{
    struct output *o = cookie;
    for (size_t done = 0; done < n && o->error == 0;) {
        ssize_t more = write(o->fd, bytes + done, n - done);
        if (more >= 0)
            done += (size_t)more;
        else if (errno != EINTR)
            o->error = errno;
    }
    return o->error == 0 ? (ssize_t)n : 0;
}

/* Creates a file beside the target under a name nobody has. */
static enum status open_beside(struct output *o, struct error *err)
{
    for (int i = 0; i < 100; i++) {
        free(o->temporary);
        if (asprintf(&o->temporary, "%s.%ld-%d.part", o->path, (long)getpid(), i) < 0) {
            o->temporary = NULL;
            return fail_memory(err);
        }
        o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd >= 0 || errno != EEXIST)
            break;
    }
    if (o->fd < 0) {
        int error = errno;
        free(o->temporary);
        o->temporary = NULL;
        return fail(err, ST_OUTPUT, "%s: %s", o->path, strerror(error));
    }
    return ST_OK;
}

static enum status open_path(struct output *o, const char *path, struct error *err)
{
    struct stat there;
    bool exists = stat(path, &there) == 0;
    o->path = exists ? realpath(path, NULL) : strdup(path);
    if (o->path == NULL)
        return errno == ENOMEM ? fail_memory(err)
                               : fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
    if (exists && !S_ISREG(there.st_mode)) {
        o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
        return o->fd >= 0 ? ST_OK : fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
    }
    if (exists && eaccess(o->path, W_OK) != 0)
        return fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
    TRY(open_beside(o, err));
    if (exists && fchmod(o->fd, there.st_mode & 07777) != 0)
        return fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
    return ST_OK;
}

enum status output_open(struct output *o, const char *path, struct error *err)
{
    enum status status = ST_OK;
    *o = (struct output){.fd = -1};
    if (strcmp(path, "-") == 0)
        o->fd = STDOUT_FILENO;
    else
        status = open_path(o, path, err);
    if (status == ST_OK) {
        o->file = fopencookie(o, "w", (cookie_io_functions_t){.write = write_all});
        if (o->file == NULL)
            status = fail_memory(err);
    }
    return status == ST_OK ? ST_OK : output_close(o, status, err);
}

static enum status put_in_place(struct output *o, struct error *err)
{
    if (o->error == EPIPE)
        return ST_OK;
    if (o->error != 0)
        return fail(err, ST_OUTPUT, "%s: %s", shown(o), strerror(o->error));
    if (o->temporary == NULL)
        return ST_OK;
    if (rename(o->temporary, o->path) != 0)
        return fail(err, ST_OUTPUT, "%s: %s", shown(o), strerror(errno));
    free(o->temporary);
    o->temporary = NULL;
    return ST_OK;
}

enum status output_close(struct output *o, enum status so_far, struct error *err)
{
    if (o->file != NULL && fclose(o->file) != 0 && o->error == 0)
        o->error = errno;
    if (o->path != NULL && o->fd >= 0 && close(o->fd) != 0 && o->error == 0)
        o->error = errno;
    enum status status = so_far != ST_OK ? so_far : put_in_place(o, err);
    if (o->temporary != NULL)
        unlink(o->temporary);
    free(o->temporary);
    free(o->path);
    *o = (struct output){.fd = -1};
    return status;
}
