#include "calib/measure/hints.h"

#include <stddef.h>
#include <string.h>

/* Texts of cudaGetErrorString, names of the two APIs where a program prints those, and PyTorch's
 * and vLLM's own. */
static const struct hint hints[] = {
    {"MPS server is not ready", HINT_RETRY,
     "the MPS server starts, recovers or serves another user (807)"},
    {"MPS_SERVER_NOT_READY", HINT_RETRY,
     "the MPS server starts, recovers or serves another user (807)"},
    {"failed to connect to the MPS", HINT_TELL,
     "the job cannot reach our MPS daemon (805): a container needs its pipe directory and the "
     "host's IPC, or is to start colosim inside; daemon and job must be one user"},
    {"MPS_CONNECTION_FAILED", HINT_TELL,
     "the job cannot reach our MPS daemon (805): a container needs its pipe directory and the "
     "host's IPC, or is to start colosim inside; daemon and job must be one user"},
    {"hardware resources required to create MPS client", HINT_TELL,
     "no room for another MPS client (808): fewer processes a job"},
    {"hardware resources required to support device connections", HINT_TELL,
     "no connection left for another MPS client (809): set CUDA_DEVICE_MAX_CONNECTIONS=2"},
    {"remote procedural call between the MPS server", HINT_LOST,
     "the MPS server does not answer its client any more (806)"},
    {"MPS_RPC_FAILURE", HINT_LOST, "the MPS server does not answer its client any more (806)"},
    {"MPS client has been terminated", HINT_LOST,
     "a fault of one MPS client ended the others (810)"},
    {"MPS_CLIENT_TERMINATED", HINT_LOST, "a fault of one MPS client ended the others (810)"},
    {"illegal memory access", HINT_LOST,
     "a fatal fault (700) takes the clients of the MPS server with it"},
    {"unspecified launch failure", HINT_LOST,
     "a fatal fault (719) takes the clients of the MPS server with it"},
    {"devices are busy or unavailable", HINT_TELL,
     "the card is in EXCLUSIVE_PROCESS mode and the job does not reach our MPS daemon (46)"},
    {"device(s) is/are busy or unavailable", HINT_TELL,
     "the card is in EXCLUSIVE_PROCESS mode and the job does not reach our MPS daemon (46)"},
    {"no CUDA-capable device", HINT_TELL,
     "the job sees no card (100): is CUDA_VISIBLE_DEVICES set inside it? name cards by UUID"},
    {"driver version is insufficient", HINT_TELL,
     "the driver is too old for the CUDA the job was built with (35)"},
    {"Free memory on device", HINT_TELL,
     "vLLM wants gpu_memory_utilization x the card's memory free when it starts: lower it, or cap "
     "the other job with mem_limit_mib"},
    {"out of memory", HINT_TELL,
     "the two do not fit, or mem_limit_mib is too small: it holds for each process of a job"},
};

const struct hint *hint_of(const char *line)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strstr(line, hints[i].text) != NULL)
            return &hints[i];
    return NULL;
}
