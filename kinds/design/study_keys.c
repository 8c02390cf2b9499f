#include "kinds/design/study_keys.h"
#include "topo/uses.h"

#include <stddef.h>

const char *const study_combine_names[] = { "sum", "regret", NULL };

const char *const study_split_names[] = { "solve", "given", NULL };

#define ROW(conf, key, field, what, text)                                                                    \
    .name = key, .help = text, .kind = what, .offset = offsetof(struct conf, field)
/* Without a unit, without a default. */
#define PLAIN(conf, key, field, what, text) ROW(conf, key, field, what, text), .unit = "", .dflt = SCHEMA_NONE
#define STUDY(key, field, what, use, text)                                                                   \
    {                                                                                                        \
        PLAIN(study_conf, key, field, what, text), .uses = use                                               \
    }
#define WORD(key, field, list, use, text)                                                                    \
    {                                                                                                        \
        PLAIN(study_conf, key, field, KEY_WORD, text), .words = list, .uses = use                            \
    }

/* Largest values that mean anything: a million million dollars, a year of one step. */
#define MAX_USD    1e12
#define MAX_WATT   1e12
#define MAX_TIME_S 3.2e7

static const struct key study_keys[] = {
    STUDY("name", name, KEY_TEXT, 0, "what reports call the study"),
    STUDY("source", source, KEY_TEXT, 0, "where the study comes from"),
    { PLAIN(study_conf, "network", network, KEY_NODE,
            "a network file, a word like \"ring:4 switch:8@25\" or a map"),
      .required = true },
    STUDY("parts", parts, KEY_NODE, USE_COST, "prices: a parts file or a map; absent: those of the network"),
    STUDY("workload", workload, KEY_NODE, USE_TIME, "what is trained: a workload file or a map"),
    STUDY("workloads", workloads, KEY_NODE, USE_TIME,
          "instead of workload: a list of files or of maps, see workloads[]"),
    WORD("combine", combine, study_combine_names, USE_SPLIT,
         "several workloads: weighted sum of times, or the least worst ratio to each one's own best; absent: "
         "sum"),
    WORD("objective", objective, alloc_objective_names, USE_SPLIT, "what the split optimises; absent: time"),
    WORD(
        "split", split, study_split_names, USE_SPLIT,
        "for the sweep command: choose the bandwidths of a point, or take those of its network and hold them "
        "against the constraints, for a grid over bandwidths; absent: solve"),
    WORD("model", model, sim_model_words, USE_TIME,
         "how a collective is timed: bytes over bandwidth, with latency and chunks, or simulated; absent: "
         "bandwidth"),
    STUDY("simulation", simulation, KEY_NODE, USE_LATENCY,
          "how models other than bandwidth run collectives, see simulation"),
    { ROW(study_conf, "total_GBps", total_Bps, KEY_REAL, "sum of one NPU's bandwidths over all dimensions"),
      .unit = "GB/s", .scale = 1e9, .min = TOPO_MIN_BW_GBps, .max = TOPO_MAX_DIMS * TOPO_MAX_BW_GBps,
      .dflt = SCHEMA_NONE, .uses = USE_SPLIT },
    { ROW(study_conf, "time_limit_s", time_limit_s, KEY_REAL,
          "objective cost: longest training step; of several workloads, their weighted sum"),
      .unit = "s", .scale = 1, .min = 1e-12, .max = MAX_TIME_S, .dflt = SCHEMA_NONE, .uses = USE_SPLIT },
    STUDY("count_npus", count_npus, KEY_BOOL, USE_COST, "true: cost includes the NPUs; absent: false"),
    STUDY(
        "constraints", constraints, KEY_NODE, USE_SPLIT,
        "list of linear constraints in GB/s over names of dimensions, total, usd and nic_usd: \"pod <= 50\""),
    STUDY("budget", budget, KEY_NODE, 0, "limits for the check command, see budget"),
    STUDY("vary", vary, KEY_NODE, 0,
          "axes for the sweep command: KEY: [values], KEY: { from, to, ... }, zip, sobol, union; see vary"),
    STUDY("where", where, KEY_NODE, 0,
          "list of linear constraints over keys that vary and n_npus, n_dims, size1..size8: points of a "
          "sweep that "
          "do not satisfy all are left out"),
    STUDY("keep", keep, KEY_NODE, 0, "which rows the sweep command stores; absent: all, see keep"),
    STUDY("uncertain", uncertain, KEY_NODE, 0,
          "for the sweep command: prices, traffic and other numbers that are not known for sure, see "
          "uncertain"),
    { ROW(study_conf, "seed", seed, KEY_COUNT, "of random draws; absent: 1"), .unit = "", .scale = 1,
      .min = 0, .max = 9e18, .dflt = 1 },
};

static const struct key mix_keys[] = {
    { PLAIN(mix_conf, "workload", workload, KEY_NODE, "a workload file or a map"), .required = true },
    { .name = "weight",
      .help = "its time counts so many times in the sum",
      .kind = KEY_REAL,
      .offset = offsetof(struct mix_conf, weight),
      .unit = "",
      .scale = 1,
      .min = 1e-9,
      .max = 1e9,
      .dflt = 1 },
};

#define LIMIT(key, field, units, to_SI, most, text)                                                          \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_REAL, .offset = offsetof(struct study_budget, field),         \
        .unit = units, .scale = to_SI, .min = 0, .max = most, .dflt = SCHEMA_NONE                            \
    }

static const struct key budget_keys[] = {
    LIMIT("nic_GBps", nic_Bps, "GB/s", 1e9, TOPO_MAX_DIMS *TOPO_MAX_BW_GBps, "most NIC bandwidth of one NPU"),
    { .name = "nics",
      .help = "most NICs in the cluster",
      .kind = KEY_COUNT,
      .offset = offsetof(struct study_budget, nics),
      .unit = "",
      .scale = 1,
      .min = 0,
      .max = 1e15,
      .dflt = SCHEMA_NONE },
    LIMIT("usd", usd, "USD", 1, MAX_USD,
          "most that the network may cost, with the NPUs where they are counted"),
    LIMIT("watt", watt, "W", 1, MAX_WATT, "most power of the network, with the NPUs where they are counted"),
    LIMIT("time_s", time_s, "s", 1, MAX_TIME_S,
          "longest training step; of several workloads, their weighted sum"),
};

#define SECTION(id, where, text, rows)                                                                       \
    const struct section id = {                                                                              \
        .name = where, .help = text, .keys = rows, .n_keys = sizeof rows / sizeof rows[0], STUDY_USES        \
    }

SECTION(study_section, "study", "what to design, for what, and how well", study_keys);
SECTION(study_mix_section, "workloads[]", "one workload of several", mix_keys);
SECTION(study_budget_section, "budget", "limits that the check command holds a design against", budget_keys);
