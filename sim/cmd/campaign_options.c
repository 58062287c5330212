#include "sim/cmd/campaign.h"

#include "core/base/units.h"
#include "sim/cmd/measured.h"
#include "sim/cmd/reading.h"

#include <string.h>
#include <unistd.h>

enum { KEY_GPU = 768, KEY_LIMIT, KEY_NO_MPS, KEY_PROFILE, KEY_QUIET, KEY_SEED, KEY_SET };

// clang-format off
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "How to measure:", 8},
    {"output", 'o', "FOLDER", 0, "where the tables go; the same command goes on with what is there", 8},
    {"limit", KEY_LIMIT, "TIME", 0, "start no window that would end later, as 10m, 2h or 90s", 8},
    {"gpu", KEY_GPU, "N", 0, "which card, as CUDA counts them; 0 unless given", 8},
    {"no-mps", KEY_NO_MPS, NULL, 0, "jobs share the card in time slices: no MPS daemon", 8},
    {"profile", KEY_PROFILE, NULL, 0, "preload the library that counts and times kernel launches", 8},
    {"seed", KEY_SEED, "N", 0, "of the draw of pairs and of their order; 1 unless given", 8},
    {"set", KEY_SET, "KEY=VALUE", 0, "a setting, as measure.window_s=30; a wrong KEY lists them", 8},
    {"quiet", KEY_QUIET, NULL, 0, "nothing on stderr but what went wrong", 8},
    {0},
};
// clang-format on

/* Fields of a struct inside: their names are not those of the keys. */
#define REAL(name_, field_, unit_, initial_, min_, max_, doc_)                                     \
    {                                                                                              \
        name_, unit_, PARAM_TYPE_REAL, offsetof(struct campaign_options, field_), initial_, min_,  \
            max_, NULL, NULL, doc_                                                                 \
    }
#define INT(name_, field_, unit_, initial_, min_, max_, doc_)                                      \
    {                                                                                              \
        name_, unit_, PARAM_TYPE_INT, offsetof(struct campaign_options, field_), initial_, min_,   \
            max_, NULL, NULL, doc_                                                                 \
    }
const struct param campaign_params[] = {
    INT("attempts", attempts, "windows", 2, 1, 100,
        "how often a job or pair may fail before it is given up"),
    REAL("clock_change_frac", session.clock_change_frac, "1", .02, 0, 10,
         "a window in which the SM clock changes more is measured again"),
    REAL("drift_frac", drift_frac, "1", .05, 0, 10,
         "when a sentinel moved further, the pairs since the one before are measured again"),
    REAL("fraction", fraction, "1", .25, 0, 1,
         "of the pairs of each stratum [20-30 % in the paper]"),
    REAL("grace_s", session.grace_s, "s", 10, 0, 3600, "between SIGTERM and SIGKILL"),
    INT("min_rates", session.min_rates, "rates", 3, 1, 1000000, "of each job in a window"),
    REAL("ready_s", session.ready_s, "s", 300, .1, 86400, "for a job to get ready"),
    INT("repeats", repeats, "windows", 3, 1, 1000, "of each job alone and of each pair"),
    INT("sentinel_every", sentinel_every, "pairs", 20, 1, 1000000,
        "a job is measured alone again after so many pairs"),
    REAL("warmup_s", session.warmup_s, "s", 5, 0, 86400, "before a window"),
    REAL("window_s", session.window_s, "s", 60, .05, 86400, "that is measured"),
    PARAM_END,
};

/* A number of seconds, or of s, m or h. */
static double option_time(const struct argp_state *state, const char *text)
{
    size_t n = strlen(text);
    double value = 0, scale = 1;
    if (n > 1 && strchr("smh", text[n - 1]) != NULL)
        scale = text[--n] == 'h' ? 3600 : text[n] == 'm' ? 60 : 1;
    if (!parse_real(text, n, &value) || value <= 0 || value > 1e7)
        argp_error(state, "--limit %s: want a time, as 10m, 2h or 90s", text);
    return value * scale;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct campaign *c = state->input;
    switch (key) {
    case 'o': c->folder = arg; return 0;
    case KEY_GPU: c->gpu_index = (int)option_whole(state, "--gpu", arg, 0, 1000); return 0;
    case KEY_LIMIT: c->limit_s = option_time(state, arg); return 0;
    case KEY_NO_MPS: c->no_mps = true; return 0;
    case KEY_PROFILE: c->profile = true; return 0;
    case KEY_QUIET: c->quiet = true; return 0;
    case KEY_SEED: c->seed = option_whole(state, "--seed", arg, 0, 9007199254740992); return 0;
    case KEY_SET:
        return option_setting(state, &(struct param_group){"measure", campaign_params, &c->options},
                              1, arg);
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp campaign_argp = {.options = options, .parser = parse_option};

void campaign_init(struct campaign *c)
{
    *c = (struct campaign){.seed = 1, .min_cuda = 11050}; /* memory limits under MPS: CUDA 11.5 */
    param_defaults(&(struct param_group){"measure", campaign_params, &c->options});
}

bool companion_path(char path[512], const char *name)
{
    static const char *const places[] = {"", "calib/cuda/", "../libexec/colosim/"};
    char self[256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return false;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, 512, "%s/%s%s", self, places[i], name);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}
