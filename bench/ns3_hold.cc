/* ns3_hold - the same hold model on ns-3: PENDING events, each schedules itself again at a random
 * later time and does nothing else. Built where ns-3 is installed. */
#include <ns3/event-id.h>
#include <ns3/nstime.h>
#include <ns3/simulator.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

static long left;
static std::mt19937_64 rng(1);
static std::exponential_distribution<double> gap(1e-9);

static void Again()
{
    if (left-- > 0)
        ns3::Simulator::Schedule(ns3::NanoSeconds(static_cast<int64_t>(gap(rng))), &Again);
    else
        ns3::Simulator::Stop();
}

int main()
{
    std::printf("%10s %16s\n", "pending", "ns-3 empty ns");
    for (long pending : {100L, 1000L, 10000L, 100000L}) {
        const long n = 2000000;
        left = n;
        for (long i = 0; i < pending; i++)
            ns3::Simulator::Schedule(ns3::NanoSeconds(static_cast<int64_t>(gap(rng))), &Again);
        std::clock_t begin = std::clock();
        ns3::Simulator::Run();
        std::printf("%10ld %16.0f\n", pending,
                    static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC * 1e9 / n);
        ns3::Simulator::Destroy();
    }
    return 0;
}
