// colosim-probe - one load on the card that isolates one resource, over and over, and its rate.
//
//   colosim-probe KIND [blocks_per_sm=X] [work=N] [gap_us=X] [duty=X] [threads=N]
//                      [smem_kib=X] [l2_mib=X]
//   colosim-probe --check      what card and driver there are, one line; exit 6 where none is usable
//
// Prints whether it runs under MPS, then "ready", waits for "go" on standard input, then prints a
// line "rate STEPS_PER_S kernel_us X busy_frac X gap_us X" every fifth of a second, with what the
// kernel itself knows of its use (sm, tensor, dram in percent) for cards whose counters do not tell. Ends when told to (SIGTERM) or when its standard output is closed.
//
//   fma     registers only, four chains a thread: issue slots of the SMs     work: loop turns
//   mma     tensor cores, half precision in, single out                      work: loop turns
//   stream  copy of a buffer far larger than L2: DRAM                        work: bytes
//   l2      reads of a buffer of l2_mib, past L1                             work: turns over it
//   smem    shared memory, stride 33                                         work: loop turns
//   h2d d2h copies over PCIe from or to pinned memory                        work: bytes
//   launch  empty kernels in a chain                                         work: kernels a step
//   graph   the same as one CUDA graph                                       work: kernels a step
//   occ     fma with smem_kib of shared memory a block: occupancy            work: loop turns
//   spin    waits on the card's clock: length without use                    work: ns
//   burst   launch, in bursts with the gap between them                      work: kernels a burst
//   host    threads that burn the host's CPU beside a launch chain           work: kernels a step
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int exit_no_gpu = 6;
constexpr double report_s = .2;
constexpr size_t mib = 1 << 20;

// Ends the program with the runtime's own words, which colosim knows (calib/measure/hints.c).
void must(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return;
    std::printf("CUDA error %d: %s (%s)\n", static_cast<int>(code), cudaGetErrorString(code), what);
    std::fflush(stdout);
    std::exit(3);
}

double now_s()
{
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// ---- kernels; each ends with a store that never happens, so that nothing is optimised away

__global__ void fma_kernel(float *out, long turns)
{
    extern __shared__ float padding[]; // its size limits how many blocks an SM holds
    float a = threadIdx.x * 1e-3f, b = a + 1, c = a + 2, d = a + 3;
    for (long i = 0; i < turns; i++) {
        a = a * 1.0001f + 1e-6f;
        b = b * 1.0001f + 1e-6f;
        c = c * 1.0001f + 1e-6f;
        d = d * 1.0001f + 1e-6f;
    }
    if (a + b + c + d == 123.456f)
        out[0] = a + padding[0];
}

__global__ void mma_kernel(float *out, long turns)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, col_major> b;
    fragment<accumulator, 16, 16, 16, float> c, d;
    fill_fragment(a, __float2half(.01f));
    fill_fragment(b, __float2half(.01f));
    fill_fragment(c, 0.f);
    fill_fragment(d, 0.f);
    for (long i = 0; i < turns; i++) {
        mma_sync(c, a, b, c);
        mma_sync(d, a, b, d);
    }
    if (c.x[0] + d.x[0] == 123.456f)
        out[0] = c.x[0];
}

__global__ void stream_kernel(float4 *__restrict__ to, const float4 *__restrict__ from, size_t n)
{
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += step)
        to[i] = from[i];
}

__global__ void l2_kernel(float *out, const float4 *__restrict__ from, size_t n, long turns)
{
    float sum = 0;
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (long turn = 0; turn < turns; turn++)
        for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n;
             i += step) {
            float4 v = __ldcg(from + i); // cached in L2 alone
            sum += v.x + v.y + v.z + v.w;
        }
    if (sum == 123.456f)
        out[0] = sum;
}

__global__ void smem_kernel(float *out, long turns)
{
    __shared__ float s[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    float sum = 0;
    int at = threadIdx.x;
    for (long i = 0; i < turns; i++) {
        sum += s[at & 4095];
        at += 33;
    }
    if (sum == 123.456f)
        out[0] = sum;
}

__global__ void empty_kernel() {}

__device__ unsigned long long card_ns()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void spin_kernel(long ns)
{
    unsigned long long begin = card_ns();
    while (card_ns() - begin < static_cast<unsigned long long>(ns))
        ;
}

// ---- one load

struct Options {
    const char *kind = "";
    double blocks_per_sm = 8;
    long work = 0;         // 0: the kind's own
    double gap_us = 0;     // idle time of the host between two steps
    double duty = 0;       // instead of it: share of the time to be busy
    int threads = 4;       // of host
    double smem_kib = 0;   // of occ
    double l2_mib = 16;    // of l2
};

struct Load {
    Options o;
    cudaDeviceProp card{};
    cudaStream_t stream = nullptr;
    cudaGraphExec_t graph = nullptr;
    int blocks = 0;
    float4 *from = nullptr, *to = nullptr;
    float *out = nullptr;
    void *pinned = nullptr;
    size_t bytes = 0;
};

bool is(const Load &l, const char *kind) { return std::strcmp(l.o.kind, kind) == 0; }

const struct {
    const char *kind;
    long work;
} kinds[] = {{"fma", 260000}, {"mma", 30000}, {"stream", 512 * mib}, {"l2", 24}, {"smem", 60000},
             {"h2d", 64 * mib}, {"d2h", 64 * mib}, {"launch", 100}, {"graph", 100}, {"occ", 260000},
             {"spin", 500000}, {"burst", 100}, {"host", 100}};

void chain(const Load &l)
{
    for (long i = 0; i < l.o.work; i++)
        empty_kernel<<<1, 32, 0, l.stream>>>();
}

// One step of work into the stream.
void step(const Load &l)
{
    int blocks = l.blocks;
    long work = l.o.work;
    size_t padding = static_cast<size_t>(l.o.smem_kib * 1024);
    if (is(l, "fma") || is(l, "occ"))
        fma_kernel<<<blocks, 256, padding, l.stream>>>(l.out, work);
    else if (is(l, "mma"))
        mma_kernel<<<blocks, 256, 0, l.stream>>>(l.out, work);
    else if (is(l, "stream"))
        stream_kernel<<<blocks, 512, 0, l.stream>>>(l.to, l.from, work / sizeof(float4));
    else if (is(l, "l2"))
        l2_kernel<<<blocks, 512, 0, l.stream>>>(l.out, l.from, l.bytes / sizeof(float4), work);
    else if (is(l, "smem"))
        smem_kernel<<<blocks, 256, 0, l.stream>>>(l.out, work);
    else if (is(l, "spin"))
        spin_kernel<<<blocks, 256, 0, l.stream>>>(work);
    else if (is(l, "h2d"))
        must(cudaMemcpyAsync(l.from, l.pinned, l.bytes, cudaMemcpyHostToDevice, l.stream), "copy");
    else if (is(l, "d2h"))
        must(cudaMemcpyAsync(l.pinned, l.from, l.bytes, cudaMemcpyDeviceToHost, l.stream), "copy");
    else if (is(l, "graph"))
        must(cudaGraphLaunch(l.graph, l.stream), "graph");
    else
        chain(l);
}

void make_graph(Load &l)
{
    cudaGraph_t graph;
    must(cudaStreamBeginCapture(l.stream, cudaStreamCaptureModeThreadLocal), "capture");
    chain(l);
    must(cudaStreamEndCapture(l.stream, &graph), "capture");
    must(cudaGraphInstantiate(&l.graph, graph, 0), "graph");
    must(cudaGraphDestroy(graph), "graph");
}

void set_up(Load &l)
{
    must(cudaSetDevice(0), "device");
    must(cudaGetDeviceProperties(&l.card, 0), "device");
    must(cudaStreamCreate(&l.stream), "stream");
    must(cudaMalloc(&l.out, 64), "memory");
    l.blocks = static_cast<int>(l.o.blocks_per_sm * l.card.multiProcessorCount + .5);
    l.blocks = l.blocks > 0 ? l.blocks : 1;
    bool copies = is(l, "h2d") || is(l, "d2h");
    l.bytes = is(l, "l2") ? static_cast<size_t>(l.o.l2_mib * mib)
              : is(l, "stream") || copies ? static_cast<size_t>(l.o.work)
                                          : 0;
    if (l.bytes > 0) {
        must(cudaMalloc(&l.from, l.bytes), "memory");
        must(cudaMemset(l.from, 1, l.bytes), "memory");
    }
    if (is(l, "stream"))
        must(cudaMalloc(&l.to, l.bytes), "memory");
    if (copies)
        must(cudaMallocHost(&l.pinned, l.bytes), "pinned memory");
    if (l.o.smem_kib > 48)
        must(cudaFuncSetAttribute(fma_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(l.o.smem_kib * 1024)),
             "shared memory");
    if (is(l, "graph"))
        make_graph(l);
    step(l);
    must(cudaGetLastError(), "launch");
    must(cudaStreamSynchronize(l.stream), "first step");
}

// Mean time of a step alone, so that a duty cycle has a gap.
double step_us(const Load &l)
{
    int n = 0;
    double begin = now_s();
    for (; n < 3 || now_s() - begin < .1; n++) {
        step(l);
        must(cudaStreamSynchronize(l.stream), "step");
    }
    return (now_s() - begin) / n * 1e6;
}

int attribute(cudaDeviceAttr which)
{
    int value = 0;
    must(cudaDeviceGetAttribute(&value, which, 0), "attribute");
    return value;
}

// What the kernel itself knows, in percent: for cards without counters.
void print_use(const Load &l, double steps_per_s, double busy)
{
    double waves = static_cast<double>(l.blocks) / l.card.multiProcessorCount;
    double sm = busy * (waves < 1 ? waves : 1) * 100;
    bool none = is(l, "h2d") || is(l, "d2h") || is(l, "launch") || is(l, "graph") ||
                is(l, "burst") || is(l, "host");
    std::printf(" sm %.4g", none ? 0. : sm);
    if (is(l, "stream")) {
        double peak = 2e3 * attribute(cudaDevAttrMemoryClockRate) *
                      attribute(cudaDevAttrGlobalMemoryBusWidth) / 8; // bytes a second
        double used = 2. * static_cast<double>(l.bytes) * steps_per_s / peak * 100;
        if (peak > 0 && used < 100)
            std::printf(" tensor 0 dram %.4g", used);
    } else if (!is(l, "mma"))
        std::printf(" tensor 0 dram 0");
}

// Until nobody reads any more.
void run(const Load &l)
{
    double begin = now_s(), busy = 0;
    long n = 0;
    for (;;) {
        double from = now_s();
        step(l);
        must(cudaStreamSynchronize(l.stream), "step");
        double to = now_s();
        busy += to - from;
        n++;
        while (l.o.gap_us > 0 && now_s() < to + l.o.gap_us * 1e-6)
            ;
        double span = now_s() - begin;
        if (span < report_s)
            continue;
        std::printf("rate %.6g kernel_us %.6g busy_frac %.4f gap_us %.6g",
                    static_cast<double>(n) / span, busy / static_cast<double>(n) * 1e6,
                    busy / span, l.o.gap_us);
        print_use(l, static_cast<double>(n) / span, busy / span);
        std::putchar('\n');
        if (std::fflush(stdout) != 0)
            return;
        begin = now_s();
        busy = 0;
        n = 0;
    }
}

// ---- the command line

bool number(const char *argument, const char *name, double *out)
{
    size_t n = std::strlen(name);
    char *end;
    if (std::strncmp(argument, name, n) != 0 || argument[n] != '=')
        return false;
    *out = std::strtod(argument + n + 1, &end);
    if (*end != '\0' || end == argument + n + 1 || *out < 0) {
        std::fprintf(stderr, "colosim-probe: %s: want a number\n", argument);
        std::exit(2);
    }
    return true;
}

Options read_options(int argc, char **argv)
{
    Options o;
    o.kind = argv[1];
    double v;
    for (const auto &k : kinds)
        if (std::strcmp(k.kind, o.kind) == 0)
            o.work = k.work;
    if (o.work == 0) {
        std::fprintf(stderr, "colosim-probe: there is no kind '%s'\n", o.kind);
        std::exit(2);
    }
    for (int i = 2; i < argc; i++) {
        if (number(argv[i], "blocks_per_sm", &v))
            o.blocks_per_sm = v;
        else if (number(argv[i], "work", &v))
            o.work = static_cast<long>(v);
        else if (number(argv[i], "gap_us", &v))
            o.gap_us = v;
        else if (number(argv[i], "duty", &v))
            o.duty = v;
        else if (number(argv[i], "threads", &v))
            o.threads = static_cast<int>(v);
        else if (number(argv[i], "smem_kib", &v))
            o.smem_kib = v;
        else if (number(argv[i], "l2_mib", &v))
            o.l2_mib = v;
        else {
            std::fprintf(stderr, "colosim-probe: '%s' is no option\n", argv[i]);
            std::exit(2);
        }
    }
    return o;
}

// Error 35 is a driver that is too old, or none; 100 is no device: no card, either way.
int check()
{
    int n = 0, runtime = 0, driver = 0;
    cudaError_t code = cudaGetDeviceCount(&n);
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    if (code == cudaSuccess && n > 0) {
        std::printf("%d devices, runtime %d, driver %d\n", n, runtime, driver);
        return 0;
    }
    std::printf("no usable GPU: %s (CUDA error %d); the probes are built for CUDA %d.%d\n",
                cudaGetErrorString(code), static_cast<int>(code), runtime / 1000,
                runtime % 1000 / 10);
    return exit_no_gpu;
}

} // namespace

int main(int argc, char **argv)
{
    char line[16];
    if (argc < 2) {
        std::fprintf(stderr, "usage: colosim-probe KIND [NAME=VALUE...]; see the head of probe.cu\n");
        return 2;
    }
    if (std::strcmp(argv[1], "--check") == 0)
        return check();
    std::signal(SIGPIPE, SIG_IGN);
    Load l;
    l.o = read_options(argc, argv);
    set_up(l);
    if (l.o.duty > 0 && l.o.duty < 1)
        l.o.gap_us = step_us(l) * (1 / l.o.duty - 1);
    std::printf("mps=%d %s sms=%d l2=%d\nready\n", attribute(cudaDevAttrMpsEnabled), l.card.name,
                l.card.multiProcessorCount, l.card.l2CacheSize);
    std::fflush(stdout);
    if (std::fgets(line, sizeof line, stdin) == nullptr)
        return 0;
    std::vector<std::thread> burners;
    if (is(l, "host"))
        for (int i = 0; i < l.o.threads; i++)
            burners.emplace_back([] {
                std::atomic<unsigned> x{1};
                for (;;)
                    x = x * 1664525u + 1013904223u;
            });
    run(l);
    std::_Exit(0); // threads that burn never end
}
