/* rate_job FOLDER RATE [OPTION...]: a job for calib pairs that needs no card.
 *
 * Prints its rate twenty times a second: RATE alone, and RATE x SHARE beside another that holds a
 * file in FOLDER. What a test expects is therefore what it gave. Options:
 *   share=X      default .5
 *   ready        prints "ready" and waits for "go" first
 *   alone        ends with exit 3 when it is not alone
 *   after=S      ends with exit 4 after S seconds
 *   say=TEXT     prints TEXT before it ends so
 *   first=TEXT   prints TEXT before anything else
 *   fork         a child that ignores SIGTERM does the work; we wait for it
 *   tokens       prints "Avg generation throughput: X tokens/s" instead
 *   more         prints samples, peak_mib and sm behind the rate
 *   drift=FILE   while FILE is there the rate is 20 % lower
 *   mps          becomes a client of tests/stubs/nvidia-cuda-mps-control, if its pipe is there
 *   env=FILE     writes there what MPS variables it was given
 *   launch=N     launches N kernels through libcuda.so.1 before each line
 *   busy=FILE    if FILE is there, takes it away and ends saying that MPS is not ready (807) */
#include <dirent.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *option(int argc, char **argv, const char *name)
{
    size_t n = strlen(name);
    for (int i = 3; i < argc; i++)
        if (strncmp(argv[i], name, n) == 0 && (argv[i][n] == '=' || argv[i][n] == '\0'))
            return argv[i][n] == '=' ? argv[i] + n + 1 : argv[i];
    return NULL;
}

static int others(const char *folder)
{
    int n = -1; /* we are one ourselves */
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        n += e->d_name[0] == 'p' && kill((pid_t)atol(e->d_name + 1), 0) == 0;
    if (dir != NULL)
        closedir(dir);
    return n;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void become_client(void)
{
    char path[512];
    const char *pipe = getenv("CUDA_MPS_PIPE_DIRECTORY");
    snprintf(path, sizeof path, "%s/client.%ld", pipe != NULL ? pipe : "", (long)getpid());
    FILE *file = fopen(path, "w");
    if (file != NULL)
        fclose(file);
}

typedef int launch_fn(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void *, void **, void **);

static void launch(int n)
{
    launch_fn *fn;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = library != NULL ? dlsym(library, "cuLaunchKernel") : NULL;
    memcpy(&fn, &symbol, sizeof symbol);
    for (int i = 0; i < n && fn != NULL; i++)
        fn((void *)1, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static void write_env(const char *path)
{
    FILE *file = fopen(path, "w");
    for (char **e = environ; file != NULL && *e != NULL; e++)
        if (strncmp(*e, "CUDA_", 5) == 0)
            fprintf(file, "%s\n", *e);
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    char line[64], path[512];
    const char *text;
    if (argc < 3)
        return 2;
    if (option(argc, argv, "fork")) {
        pid_t child = fork();
        if (child > 0) {
            waitpid(child, NULL, 0);
            return 0;
        }
        signal(SIGTERM, SIG_IGN);
        setsid();
    }
    double rate = atof(argv[2]), share = (text = option(argc, argv, "share")) ? atof(text) : .5;
    double after = (text = option(argc, argv, "after")) ? atof(text) : 1e9, begin = now_s();
    snprintf(path, sizeof path, "%s/p%ld", argv[1], (long)getpid());
    FILE *file = fopen(path, "w");
    if (file == NULL || fclose(file) != 0)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if ((text = option(argc, argv, "busy")) && unlink(text) == 0) {
        puts("CUDA error 807: MPS server is not ready to accept new MPS client requests");
        unlink(path);
        return 6;
    }
    if ((text = option(argc, argv, "first")))
        puts(text);
    if (option(argc, argv, "mps"))
        become_client();
    if ((text = option(argc, argv, "env")))
        write_env(text);
    if (option(argc, argv, "ready")) {
        puts("ready");
        if (fgets(line, sizeof line, stdin) == NULL || strcmp(line, "go\n") != 0)
            return 5;
    }
    while (now_s() - begin < after) {
        int n = others(argv[1]);
        double r = n > 0 ? rate * share : rate;
        if (n > 0 && option(argc, argv, "alone"))
            return 3;
        if ((text = option(argc, argv, "drift")) && access(text, F_OK) == 0)
            r *= .8;
        launch((text = option(argc, argv, "launch")) ? atoi(text) : 0);
        if (option(argc, argv, "tokens"))
            printf("INFO Avg generation throughput: %.6g tokens/s, running 3\n", r);
        else
            printf("rate %.6g%s\n", r,
                   option(argc, argv, "more") ? " samples 64 peak_mib 3000 sm 75.5 tensor=10" : "");
        usleep(50000);
    }
    if ((text = option(argc, argv, "say")))
        puts(text);
    unlink(path);
    return 4;
}
