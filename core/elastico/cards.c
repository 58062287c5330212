#include "core/elastico/cards.h"

#include <strings.h>

/* bw_eff: an A100 streams weights at 68-71 % of its bandwidth, an H100 at 57-74 % (Vidur), and
 * Llama-3.1-8B gives 122.2 tokens/s at one sequence on an H100 (vLLM), for which .80 is needed; on
 * our H200 a decoding 8B network keeps DRAM active .64, over the A100's .838. */
const struct card card_table[N_CARDS] = {
    {"a100-40g", 312e12, 156e12, 19.5e12, 1.555e12, 1, 108 * 1.41e9, 300e9, 25e9,
     "data sheets (SXM4, DGX A100) D"},
    {"a100-80g", 312e12, 156e12, 19.5e12, 2.039e12, 1, 108 * 1.41e9, 300e9, 25e9,
     "data sheets (SXM4, DGX A100) D"},
    {"v100-32g", 125e12, 0, 15.7e12, 0.9e12, 1, 80 * 1.53e9, 150e9, 6.25e9,
     "data sheets (SXM2, DGX-1V) D"},
    {"h100-80g", 989e12, 494.5e12, 67e12, 3.35e12, 0.80, 132 * 1.98e9, 450e9, 50e9,
     "data sheets (SXM5, DGX H100) D; bw_eff: vLLM at one sequence S"},
    {"h200", 989e12, 494.5e12, 67e12, 4.8e12, 0.76, 132 * 1.98e9, 450e9, 50e9,
     "data sheets (SXM, DGX H200) D; bw_eff: our decoding 8B network M"},
};

int32_t card_find(const char *name)
{
    for (int32_t k = 0; k < N_CARDS; k++)
        if (strcasecmp(card_table[k].name, name) == 0)
            return k;
    return -1;
}

struct links card_links(int32_t card)
{
    return (struct links){LINK_EFF * card_table[card].link_bytes_s,
                          NIC_EFF * card_table[card].nic_bytes_s};
}
