/* cuda_user THREADS LAUNCHES FORKS [more]: an unmodified CUDA program, for what is preloaded.
 *
 * Each of THREADS threads launches LAUNCHES kernels, in turn through the linked driver, through
 * dlsym, and through cuGetProcAddress with and without per-thread streams, allocates 3 x 1 MiB and
 * frees 2 of them. Then FORKS children do the same and end by _exit. With more, there are besides
 * 5 graph launches, 7 launches that fail, an allocation that fails, 4 all-reduces of 100 elements,
 * and 64 launches into a stream that is being captured. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int launch_fn(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void *, void **, void **);
typedef int proc_fn(const char *, void **, int, uint64_t, int *);
launch_fn cuLaunchKernel;
int cuMemAlloc_v2(unsigned long long *p, size_t n);
int cuMemFree_v2(unsigned long long p);
int cuGraphLaunch(void *graph, void *stream);
int ncclAllReduce(const void *, void *, size_t, int, int, void *, void *);

static int n_launches;
static launch_fn *ways[4];

static int one(launch_fn *launch, void *f, void *stream)
{
    return launch(f, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
}

static void *work(void *context)
{
    unsigned long long p[3];
    for (int i = 0; i < n_launches; i++)
        if (one(ways[i % 4], (void *)1, NULL) != 0)
            exit(10);
    for (int i = 0; i < 3; i++)
        if (cuMemAlloc_v2(&p[i], 1 << 20) != 0)
            exit(11);
    for (int i = 0; i < 2; i++)
        if (cuMemFree_v2(p[i]) != 0)
            exit(12);
    return context;
}

static void work_in_threads(int n)
{
    pthread_t thread[64];
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, work, NULL) != 0)
            exit(13);
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

static void find_ways(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;
    proc_fn *proc;
    if (library == NULL)
        exit(14);
    symbol = dlsym(library, "cuGetProcAddress_v2");
    memcpy(&proc, &symbol, sizeof symbol);
    ways[0] = cuLaunchKernel;
    symbol = dlsym(library, "cuLaunchKernel");
    memcpy(&ways[1], &symbol, sizeof symbol);
    for (int i = 0; i < 2; i++) {
        if (proc("cuGetProcAddress", &symbol, 13000, 0, NULL) != 0)
            exit(15);
        memcpy(&proc, &symbol, sizeof symbol); /* as the runtime does: it asks itself */
        if (proc("cuLaunchKernel", &symbol, 13000, i == 0 ? 0 : 2, NULL) != 0)
            exit(16);
        memcpy(&ways[2 + i], &symbol, sizeof symbol);
    }
}

static void do_more(void)
{
    unsigned long long p;
    for (int i = 0; i < 5; i++)
        if (cuGraphLaunch((void *)1, NULL) != 0)
            exit(17);
    for (int i = 0; i < 7; i++)
        if (one(ways[0], NULL, NULL) == 0)
            exit(18);
    if (cuMemAlloc_v2(&p, 0) == 0)
        exit(19);
    for (int i = 0; i < 4; i++)
        if (ncclAllReduce(NULL, NULL, 100, 0, 0, NULL, NULL) != 0)
            exit(20);
    for (int i = 0; i < 64; i++)
        if (one(ways[0], (void *)1, (void *)0xca) != 0)
            exit(21);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    n_launches = atoi(argv[2]);
    find_ways();
    work_in_threads(atoi(argv[1]));
    if (argc > 4)
        do_more();
    for (int i = 0; i < atoi(argv[3]); i++) {
        pid_t child = fork();
        if (child == 0) {
            work_in_threads(atoi(argv[1]));
            _exit(0);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return 22;
    }
    return 0;
}
