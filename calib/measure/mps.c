#include "calib/measure/mps.h"

#include "calib/measure/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROL       "nvidia-cuda-mps-control"
#define DRIVER_BIN    "/usr/local/nvidia/bin" /* where containers have the driver's programs */
#define FOLDER_PREFIX "colosim-mps-"
enum { SERVERS_MAX = 16, CLIENTS_MAX = 64 };
static const double answer_s = 10; /* an answer may take so long */
/* The name of a socket, FOLDER/pipe/control_privileged, has 107 bytes at most. */
enum { TMPDIR_MAX = 45 };

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && folder[0] == '/' && strlen(folder) <= TMPDIR_MAX ? folder : "/tmp";
}

/* The folder's name says who owns it: colosim-mps-UID-PID-XXXXXX. */
static enum status make_folder(struct mps *m, struct error *err)
{
    char path[600];
    snprintf(m->folder, sizeof m->folder, "%s/" FOLDER_PREFIX "%ld-%ld-XXXXXX", temporary_folder(),
             (long)getuid(), (long)getpid());
    if (mkdtemp(m->folder) == NULL) {
        enum status status = fail(err, ST_OUTPUT, "%s: %s", m->folder, strerror(errno));
        m->folder[0] = '\0';
        return status;
    }
    bool fine = chmod(m->folder, 0755) == 0;
    snprintf(path, sizeof path, "%s/pipe", m->folder);
    fine = fine && mkdir(path, 0755) == 0;
    snprintf(path, sizeof path, "%s/log", m->folder);
    fine = fine && mkdir(path, 0755) == 0;
    return fine ? ST_OK : fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
}

static void remove_files(const char *folder)
{
    char path[600];
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(folder);
}

static void remove_folder(const char *folder)
{
    char path[600];
    snprintf(path, sizeof path, "%s/pipe", folder);
    remove_files(path);
    snprintf(path, sizeof path, "%s/log", folder);
    remove_files(path);
    remove_files(folder);
}

static enum status folder_env(const char *folder, struct child_env *env, struct error *err)
{
    const char *path = getenv("PATH");
    TRY(child_env_add(env, err, "PATH=%s:" DRIVER_BIN, path != NULL ? path : "/usr/bin:/bin"));
    TRY(child_env_add(env, err, "CUDA_MPS_PIPE_DIRECTORY=%s/pipe", folder));
    return child_env_add(env, err, "CUDA_MPS_LOG_DIRECTORY=%s/log", folder);
}

static enum status ask(const struct mps *m, const char *input, char *answer, size_t size,
                       struct error *err)
{
    return child_ask("exec " CONTROL, &m->env, input, answer_s, answer, size, err);
}

/* It may return from -d before it listens. */
static enum status wait_answer(const struct mps *m, struct error *err)
{
    char answer[1024];
    for (double until_s = monotonic_s() + 10;; usleep(50000)) {
        enum status status = ask(m, "get_server_list\n", answer, sizeof answer, err);
        if (status == ST_OK || monotonic_s() > until_s)
            return status;
    }
}

/* The last line of its log, behind the reason why it does not start. */
static void add_log(const char *folder, struct error *err)
{
    char path[600], line[256], last[256] = "";
    snprintf(path, sizeof path, "%s/log/control.log", folder);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        memcpy(last, line, sizeof last);
    if (file != NULL)
        fclose(file);
    last[strcspn(last, "\n")] = '\0';
    size_t n = strlen(err->text);
    if (last[0] != '\0')
        snprintf(err->text + n, sizeof err->text - n, "; its log ends '%s'", last);
}

enum status mps_start(struct mps *m, const char *uuid, struct error *err)
{
    char answer[1024];
    enum status status = ST_OK;
    *m = (struct mps){.folder = ""};
    TRY_OUT(make_folder(m, err));
    TRY_OUT(folder_env(m->folder, &m->env, err));
    if (uuid[0] != '\0')
        TRY_OUT(child_env_add(&m->env, err, "CUDA_VISIBLE_DEVICES=%s", uuid));
    if (child_ask("command -v " CONTROL, &m->env, "", 10, answer, sizeof answer, err) != ST_OK) {
        status = fail(err, ST_HELPER,
                      CONTROL " is neither on PATH nor in " DRIVER_BIN
                              ": it comes with the NVIDIA driver");
        goto out;
    }
    TRY_OUT(child_ask("exec " CONTROL " -d", &m->env, "", 20, answer, sizeof answer, err));
    TRY_OUT(wait_answer(m, err));
    m->n_daemons = keeper_children(m->daemon, sizeof m->daemon / sizeof *m->daemon);
out:
    if (status != ST_OK) {
        fail_in(err, "MPS does not start");
        if (m->folder[0] != '\0')
            add_log(m->folder, err);
        mps_stop(m, NULL);
    }
    return status;
}

enum status mps_client_env(const struct mps *m, double thread_pct, double mem_limit_mib,
                           struct child_env *env, struct error *err)
{
    for (int i = 0; i < m->env.n; i++)
        TRY(child_env_add(env, err, "%s", m->env.entry[i]));
    TRY(child_env_add(env, err, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%g", thread_pct));
    if (mem_limit_mib > 0)
        TRY(child_env_add(env, err, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=%.0fM", mem_limit_mib));
    return ST_OK;
}

/* The numbers in a text, blanks and line breaks between them. */
static int pids_in(const char *text, pid_t *out, int max)
{
    int n = 0;
    for (char *end; *text != '\0' && n < max; text = end) {
        long pid = strtol(text, &end, 10);
        if (end == text)
            end++;
        else if (pid > 0)
            out[n++] = (pid_t)pid;
    }
    return n;
}

/* Does the environment that the process was started with have this entry? */
static bool has_mark(pid_t pid, const char *mark)
{
    char path[64];
    char *text = NULL;
    size_t size = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && !found && getdelim(&text, &size, '\0', file) > 0)
        found = strcmp(text, mark) == 0;
    if (file != NULL)
        fclose(file);
    free(text);
    return found;
}

static int servers_of(const struct mps *m, pid_t *out, int max)
{
    char answer[1024];
    struct error err;
    return ask(m, "get_server_list\n", answer, sizeof answer, &err) == ST_OK
               ? pids_in(answer, out, max)
               : 0;
}

int mps_processes(const struct mps *m, pid_t *out, int max)
{
    int n = 0;
    for (; n < m->n_daemons && n < max; n++)
        out[n] = m->daemon[n];
    return m->folder[0] != '\0' ? n + servers_of(m, out + n, max - n) : n;
}

int mps_clients_of(const struct mps *m, const char *mark, struct mps_client *out, int max)
{
    char input[64], answer[1024];
    pid_t server[SERVERS_MAX], client[CLIENTS_MAX];
    struct error err;
    int n = 0, n_servers = servers_of(m, server, SERVERS_MAX);
    for (int s = 0; s < n_servers; s++) {
        snprintf(input, sizeof input, "get_client_list %ld\n", (long)server[s]);
        if (ask(m, input, answer, sizeof answer, &err) != ST_OK)
            continue;
        int n_clients = pids_in(answer, client, CLIENTS_MAX);
        for (int c = 0; c < n_clients && n < max; c++)
            if (mark == NULL || has_mark(client[c], mark))
                out[n++] = (struct mps_client){server[s], client[c]};
    }
    return n;
}

void mps_terminate(struct mps *m, const char *mark)
{
    char input[64], answer[256];
    struct mps_client client[CLIENTS_MAX];
    struct error err;
    double begin_s = monotonic_s();
    int n = mps_clients_of(m, mark, client, CLIENTS_MAX);
    for (int c = 0; c < n; c++) {
        snprintf(input, sizeof input, "terminate_client %ld %ld\n", (long)client[c].server,
                 (long)client[c].pid);
        if (ask(m, input, answer, sizeof answer, &err) != ST_OK)
            break; /* who kills the client next makes it no worse */
    }
    m->deaf = monotonic_s() - begin_s > answer_s;
}

/* Quits the daemon of a folder, if one answers. */
static void quit(const char *folder)
{
    char answer[256];
    struct error err;
    struct child_env env = {0};
    if (folder_env(folder, &env, &err) == ST_OK)
        if (child_ask("exec " CONTROL, &env, "quit -t 10\n", 20, answer, sizeof answer, &err) !=
            ST_OK)
            answer[0] = '\0'; /* no daemon: nothing to quit */
    child_env_free(&env);
}

static pid_t daemon_of(const char *folder)
{
    char path[600];
    long pid = 0;
    snprintf(path, sizeof path, "%s/pipe/" CONTROL ".pid", folder);
    FILE *file = fopen(path, "r");
    if (file != NULL && fscanf(file, "%ld", &pid) != 1)
        pid = 0;
    if (file != NULL)
        fclose(file);
    return (pid_t)pid;
}

/* Waits until the daemon has ended. Its sockets may stay. */
static void wait_gone(const char *folder)
{
    pid_t pid = daemon_of(folder);
    for (int i = 0; i < 200 && pid > 0 && keeper_lives(pid); i++)
        usleep(25000);
}

/* Appends one of its logs to FOLDER/mps.log. A help, not a result: no failure is told. */
static void keep_log(const char *folder, const char *name, const char *log_folder)
{
    char path[1200], text[4096];
    snprintf(path, sizeof path, "%s/log/%s", folder, name);
    FILE *from = fopen(path, "r");
    snprintf(path, sizeof path, "%s/mps.log", log_folder);
    FILE *to = from != NULL ? fopen(path, "a") : NULL;
    for (size_t n; to != NULL && (n = fread(text, 1, sizeof text, from)) > 0;)
        if (fwrite(text, 1, n, to) != n)
            break;
    if (from != NULL)
        fclose(from);
    if (to != NULL)
        fclose(to);
}

void mps_stop(struct mps *m, const char *log_folder)
{
    if (m->folder[0] != '\0') {
        if (m->deaf && daemon_of(m->folder) > 0)
            kill(daemon_of(m->folder), SIGKILL);
        else
            quit(m->folder);
        wait_gone(m->folder);
        if (log_folder != NULL) {
            keep_log(m->folder, "control.log", log_folder);
            keep_log(m->folder, "server.log", log_folder);
        }
        remove_folder(m->folder);
    }
    child_env_free(&m->env);
    *m = (struct mps){.folder = ""};
}

int mps_sweep(void)
{
    char prefix[64], path[512];
    int n = 0;
    snprintf(prefix, sizeof prefix, FOLDER_PREFIX "%ld-", (long)getuid());
    DIR *dir = opendir(temporary_folder());
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
            continue;
        pid_t owner = (pid_t)strtol(e->d_name + strlen(prefix), NULL, 10);
        if (owner <= 0 || keeper_lives(owner))
            continue;
        snprintf(path, sizeof path, "%s/%s", temporary_folder(), e->d_name);
        quit(path);
        wait_gone(path);
        remove_folder(path);
        n++;
    }
    if (dir != NULL)
        closedir(dir);
    return n;
}
