#include "calib/measure/keeper.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GENERATION_MAX = 256 };

/* Of /proc/PID/stat: the state, which is behind the last parenthesis, and the field behind it, the
 * parent. '\0' where there is no such process. */
static char state_of(const char *pid, pid_t *parent)
{
    char path[64], text[512];
    *parent = -1;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return '\0';
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *behind = strrchr(text, ')');
    if (behind == NULL || strlen(behind) <= 4)
        return '\0';
    *parent = (pid_t)strtol(behind + 4, NULL, 10);
    return behind[2];
}

bool keeper_lives(pid_t pid)
{
    char name[24];
    pid_t parent;
    snprintf(name, sizeof name, "%ld", (long)pid);
    char state = state_of(name, &parent);
    return state != '\0' && state != 'Z' && state != 'X';
}

int keeper_children(pid_t *out, int max)
{
    int n = 0;
    pid_t self = getpid(), parent;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc != NULL && n < max && (e = readdir(proc)) != NULL;)
        if (isdigit((unsigned char)e->d_name[0]) && state_of(e->d_name, &parent) != '\0' &&
            parent == self)
            out[n++] = (pid_t)strtol(e->d_name, NULL, 10);
    if (proc != NULL)
        closedir(proc);
    return n;
}

/* Kills the children of now; were there any? */
static bool kill_generation(const pid_t *spared, int n_spared)
{
    pid_t child[GENERATION_MAX];
    bool any = false;
    int n = keeper_children(child, GENERATION_MAX);
    for (int i = 0; i < n; i++) {
        bool is_spared = false;
        for (int k = 0; k < n_spared; k++)
            is_spared = is_spared || spared[k] == child[i];
        if (is_spared)
            continue;
        any = true;
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
    }
    return any;
}

void keeper_kill_children(const pid_t *spared, int n)
{
    while (kill_generation(spared, n))
        ;
}

void keeper_die_with(pid_t parent, int signal)
{
    prctl(PR_SET_PDEATHSIG, signal);
    if (getppid() != parent)
        raise(signal);
}

/* Waits for the child and passes signals on. Second and later ones too: the child decides. */
static int wait_for(pid_t child, const sigset_t *set)
{
    for (;;) {
        int status, number = 0;
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (sigwait(set, &number) == 0 && number != SIGCHLD)
            kill(child, number);
    }
}

int keeper_run(int (*work)(void *context), void *context)
{
    sigset_t set, before;
    pid_t self = getpid();
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        perror("colosim: fork");
        return ST_OUTPUT;
    }
    if (child == 0) {
        setsid(); /* the terminal's Ctrl-C comes through us alone */
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        keeper_die_with(self, SIGTERM);
        int code = work(context);
        keeper_kill_children(NULL, 0);
        exit(code);
    }
    int code = wait_for(child, &set);
    keeper_kill_children(NULL, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}
