/* libnccl.so.2 that sends nothing. */
#include <stddef.h>

int ncclAllReduce(const void *from, void *to, size_t n, int type, int op, void *comm, void *stream)
{
    (void)from, (void)to, (void)n, (void)type, (void)op, (void)comm, (void)stream;
    return 0;
}
