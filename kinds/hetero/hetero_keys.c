/* The keys of a study of layers on types of resources. */
#include <math.h>
#include <stddef.h>

#include "kinds/hetero/hetero_point.h"

#define ROW(conf, key, field, what, text)                                                                    \
    .name = key, .help = text, .kind = what, .offset = offsetof(struct conf, field)
#define PLAIN(conf, key, field, what, used, text)                                                            \
    {                                                                                                        \
        ROW(conf, key, field, what, text), .unit = "", .dflt = SCHEMA_NONE, .uses = used                     \
    }
#define WORD(conf, key, field, list, absent, text)                                                           \
    {                                                                                                        \
        ROW(conf, key, field, KEY_WORD, text), .unit = "", .words = list, .dflt = absent                     \
    }
#define FLAG(conf, key, field, absent, text)                                                                 \
    {                                                                                                        \
        ROW(conf, key, field, KEY_BOOL, text), .unit = "", .dflt = absent                                    \
    }
#define COUNT(conf, key, field, least, most, absent, used, text)                                             \
    {                                                                                                        \
        ROW(conf, key, field, KEY_COUNT, text), .unit = "", .scale = 1, .min = least, .max = most,           \
                                                .dflt = absent, .uses = used                                 \
    }
#define REAL(conf, key, field, in, times, least, most, absent, used, text)                                   \
    {                                                                                                        \
        ROW(conf, key, field, KEY_REAL, text), .unit = in, .scale = times, .min = least, .max = most,        \
                                               .dflt = absent, .uses = used                                  \
    }
#define NEEDED(conf, key, field, what, in, times, least, most, text)                                         \
    {                                                                                                        \
        ROW(conf, key, field, what, text), .unit = in, .scale = times, .min = least, .max = most,            \
                                           .dflt = SCHEMA_NONE, .required = true                             \
    }
#define SECTION(id, where, text, rows)                                                                       \
    const struct section id = { where, text, rows, sizeof rows / sizeof rows[0] }

#define STUDY(key, field, what, used, text) PLAIN(hetero_conf, key, field, what, used, text)

static const struct key study_keys[] = {
    STUDY("name", name, KEY_TEXT, 0, "what reports call the study"),
    STUDY("source", source, KEY_TEXT, 0, "where the study comes from"),
    STUDY("model", model, KEY_NODE, 0,
          "ctrdnn, matchnet, 2emb or nce: a drawn profile; or a model file (with a dot or slash) or map; or "
          "layers"),
    STUDY("draw", draw, KEY_NODE, USE_HETERO_DRAW, "sizes and speeds of a drawn profile, see draw"),
    STUDY("layers", layers, KEY_NODE, 0, "measured times of layers, in place of model; see layers of hetero"),
    STUDY("types", types, KEY_NODE, 0, "list of resources, with layers or a model file; see types of hetero"),
    REAL(hetero_conf, "batch", batch, "", 1, 1e-3, 1e12, SCHEMA_NONE, 0,
         "examples that times of a profile are for; needed but of a drawn one, absent there: 4096"),
    STUDY("throughput", throughput, KEY_NODE, 0,
          "what a plan has to reach: { per_s } or { share, of }; absent: half of the best"),
    { ROW(hetero_conf, "job", job, KEY_NODE, "how much to train, see job of hetero"), .unit = "",
      .dflt = SCHEMA_NONE, .required = true },
    FLAG(hetero_conf, "overlap", overlap, 1, "communication beside compute; false: after it"),
    WORD(hetero_conf, "handover", handover, hetero_handover_words, SCHEMA_NONE,
         "what handing data to the next stage costs: that of every layer, of the last one of a stage, or by "
         "the network; absent: network with one, else layer"),
    STUDY("network", network, KEY_NODE, USE_HETERO_NETWORK,
          "what joins the types: a network file, a word or a map, with bandwidths"),
    STUDY("servers", servers, KEY_NODE, 0, "parameter servers that are paid for, see servers of hetero"),
    WORD(hetero_conf, "provisioning", provisioning, hetero_provisioning_words, 0,
         "units of the stages: the cheapest, or from those of the first one, least or by Newton's method"),
    STUDY("schedulers", schedulers, KEY_NODE, 0,
          "list of schedulers, see weft hetero --list; absent: all that can run"),
    COUNT(hetero_conf, "evaluations", evaluations, 1, 1e12, 25600, USE_HETERO_BUDGET,
          "plans that a scheduler that searches may try"),
    STUDY("rl", rl, KEY_NODE, USE_RL, "reinforcement learning, see rl"),
    STUDY("genetic", genetic, KEY_NODE, USE_GENETIC, "see genetic"),
    STUDY("anneal", anneal, KEY_NODE, USE_ANNEAL, "simulated annealing, see anneal"),
    STUDY("bayes", bayes, KEY_NODE, USE_BAYES, "Bayesian optimisation, see bayes"),
    COUNT(hetero_conf, "seeds", seeds, 1, 100000, 5, 0,
          "runs of each scheduler that draws; the median counts"),
    COUNT(hetero_conf, "seed", seed, 0, 9e18, 1, 0, "of the first run; the others follow by one"),
    STUDY("vary", vary, KEY_NODE, 0, "axes: KEY: [values] or KEY: { from, to, ... }, see vary"),
};
SECTION(hetero_section, "hetero study", "layers on types of resources, for weft hetero", study_keys);

/* ---- drawn profiles ---- */

static const struct key draw_keys[] = {
    COUNT(hetero_draw_conf, "types", types, 2, HETERO_MAX_TYPES, 2, 0,
          "cpu, gpu, and more GPUs drawn around that one: gpu2, gpu3, .."),
    COUNT(hetero_draw_conf, "seed", seed, 0, 9e18, 1, 0, "of the GPUs that are drawn"),
    PLAIN(hetero_draw_conf, "cpu", cpu, KEY_NODE, 0, "a CPU core, see cpu of draw"),
    PLAIN(hetero_draw_conf, "gpu", gpu, KEY_NODE, 0, "the first GPU, see gpu of draw"),
};
SECTION(hetero_draw_section, "draw", "a drawn profile; all numbers are assumptions", draw_keys);

#define UNIT(key, field, in, times, least, most, absent, text)                                               \
    REAL(hetero_draw_unit, key, field, in, times, least, most, absent, 0, text)
#define UNIT_KEYS(gflops, memory, lookup, net, usd, compute, comm, units)                                    \
    UNIT("peak_GFLOPS", flops, "GFLOP/s", 1e9, 1e-6, 1e9, gflops, "that matrix products reach"),             \
        UNIT("memory_GBps", memory_Bps, "GB/s", 1e9, 1e-6, 1e9, memory,                                      \
             "of memory, for rows and activations"),                                                         \
        UNIT("lookup_GBps", lookup_Bps, "GB/s", 1e9, 1e-6, 1e9, lookup, "of moving embedding rows to it"),   \
        UNIT("net_GBps", net_Bps, "GB/s", 1e9, 1e-6, 1e9, net, "to other units"),                            \
        UNIT("usd_per_h", usd_per_h, "USD/h", 1, 0, 1e6, usd, "price of a unit"),                            \
        UNIT("compute_parallel", compute_par, "", 1, 0, 1, compute, "share of compute that units divide"),   \
        UNIT("comm_parallel", comm_par, "", 1, 0, 1, comm, "share of communication that units divide"),      \
        COUNT(hetero_draw_unit, "max_units", max_units, 1, HETERO_MAX_UNITS, units, 0, "that there are")

static const struct key cpu_keys[] = { UNIT_KEYS(20, 4, 2, 2, 0.04, 0.97, 0.95, 256) };
static const struct key gpu_keys[] = { UNIT_KEYS(7000, 400, 0.3, 12.5, 2.42, 0.995, 0.90, 64) };
SECTION(hetero_draw_cpu_section, "cpu of draw", "one CPU core, assumed", cpu_keys);
SECTION(hetero_draw_gpu_section, "gpu of draw", "one GPU, assumed", gpu_keys);

/* ---- measured profiles, and models ---- */

#define LAYER(key, field, what, used, text) PLAIN(hetero_layer_conf, key, field, what, used, text)
#define BYTES(key, field, in, times, text)  REAL(hetero_layer_conf, key, field, in, times, 0, 1e15, 0, 0, text)

static const struct key layer_keys[] = {
    LAYER("name", name, KEY_TEXT, 0, "what reports call the layer; absent: layer1, layer2, .."),
    WORD(hetero_layer_conf, "kind", kind, hetero_kind_words, HETERO_BLOCK,
         "what it does; heuristic and rl look at it"),
    BYTES("in_B", in_B, "B", 1, "of one example: what comes in"),
    BYTES("out_B", out_B, "B", 1, "of one example: what the next layer gets"),
    BYTES("weight_MB", weight_B, "MB", 1e6, "parameters"),
    BYTES("sparse_B", sparse_B, "B", 1, "of one example: embedding rows from and to parameter servers"),
    { ROW(hetero_layer_conf, "compute_ms", compute_s, KEY_NODE,
          "of a batch on one unit of each type: { cpu: 31, v100: 2 }"),
      .unit = "ms", .dflt = SCHEMA_NONE, .required = true },
    PLAIN(hetero_layer_conf, "comm_ms", comm_s, KEY_NODE, 0,
          "communication inside a stage, likewise; absent: none"),
    PLAIN(hetero_layer_conf, "handover_ms", handover_s, KEY_NODE, USE_HETERO_OWN,
          "handing its output to the next stage, likewise; absent: none"),
};
SECTION(hetero_layer_section, "layers of hetero", "a layer of a measured profile", layer_keys);

#define TYPE(key, field, what, used, text) PLAIN(hetero_type_conf, key, field, what, used, text)
#define SHARE(key, field, text)            REAL(hetero_type_conf, key, field, "", 1, 0, 1, SCHEMA_NONE, 0, text)

static const struct key type_keys[] = {
    NEEDED(hetero_type_conf, "name", name, KEY_TEXT, "", 1, 0, 0, "as layers and servers call it"),
    FLAG(hetero_type_conf, "cpu", cpu, 0, "true: for cpu-only and heuristic it is a CPU"),
    NEEDED(hetero_type_conf, "usd_per_h", usd_per_h, KEY_REAL, "USD/h", 1, 0, 1e6, "price of a unit"),
    COUNT(hetero_type_conf, "max_units", max_units, 1, HETERO_MAX_UNITS, HETERO_MAX_UNITS, 0,
          "that there are, for all stages"),
    SHARE("compute_parallel", compute_par, "share of compute that units divide (Amdahl); or probe"),
    SHARE("comm_parallel", comm_par, "share of communication that units divide; or probe"),
    TYPE("probe", probe, KEY_NODE, 0, "those shares from times of several units, see probe"),
    TYPE("host", host, KEY_TEXT, 0, "type of the cores that each unit needs besides itself"),
    COUNT(hetero_type_conf, "host_units", host_units, 1, HETERO_MAX_UNITS, SCHEMA_NONE, 0,
          "how many; they are paid for and count as units of that type"),
    REAL(hetero_type_conf, "nic_GBps", nic_Bps, "GB/s", 1e9, 1e-6, 1e9, SCHEMA_NONE, USE_HETERO_NETWORK,
         "of one unit towards other types; absent: as the network"),
    TYPE("dim", dim, KEY_TEXT, USE_HETERO_NETWORK,
         "dimension of the network that it hangs on; the outer one of two types joins them; absent: the "
         "outermost"),
    REAL(hetero_type_conf, "mem_GB", mem_B, "GB", 1e9, 0, 1e9, SCHEMA_NONE, 0,
         "memory of a unit, for reports; absent: that of npu"),
    TYPE("npu", npu, KEY_NODE, USE_HETERO_MODEL, "with a model file: one unit, an NPU file or a map"),
    REAL(hetero_type_conf, "net_GBps", net_Bps, "GB/s", 1e9, 1e-6, 1e9, SCHEMA_NONE, USE_HETERO_MODEL,
         "with a model file: of one unit towards others of its stage and the next"),
};
SECTION(hetero_type_section, "types of hetero", "a type of resource, of a measured profile or a model file",
        type_keys);

static const struct key probe_keys[] = {
    NEEDED(hetero_probe_conf, "units", units, KEY_COUNT, "", 1, 2, HETERO_MAX_UNITS, "that were timed"),
    REAL(hetero_probe_conf, "compute_ratio", compute_ratio, "", 1, 1e-9, 1e3, SCHEMA_NONE, 0,
         "their time of compute over that of one unit"),
    REAL(hetero_probe_conf, "comm_ratio", comm_ratio, "", 1, 1e-9, 1e3, SCHEMA_NONE, 0,
         "their time of communication over that of one unit"),
};
SECTION(hetero_probe_section, "probe", "parallel shares of a type, from two measurements", probe_keys);

/* ---- what is asked for ---- */

static const char *const of_words[] = { "best", "gpu-only", NULL };

static const struct key throughput_keys[] = {
    REAL(hetero_throughput_conf, "per_s", per_s, "1/s", 1, 1e-9, 1e15, SCHEMA_NONE, 0, "examples a second"),
    REAL(hetero_throughput_conf, "share", share, "", 1, 1e-9, 1e3, SCHEMA_NONE, 0,
         "of the largest throughput; absent, without per_s: 0.5"),
    WORD(hetero_throughput_conf, "of", of, of_words, SCHEMA_NONE,
         "whose: of all plans, or of those on one GPU type; absent: best"),
};
SECTION(hetero_throughput_section, "throughput of hetero", "what a plan has to reach", throughput_keys);

static const struct key job_keys[] = {
    NEEDED(hetero_job_conf, "examples_M", examples, KEY_REAL, "million", 1e6, 1e-6, 1e12, "to train on"),
    REAL(hetero_job_conf, "epochs", epochs, "", 1, 1e-6, 1e9, 1, 0, "how often"),
};
SECTION(hetero_job_section, "job of hetero", "how much there is to train", job_keys);

static const struct key server_keys[] = {
    NEEDED(hetero_server_conf, "type", type, KEY_TEXT, "", 1, 0, 0, "that they run on"),
    NEEDED(hetero_server_conf, "GBps", Bps, KEY_REAL, "GB/s", 1e9, 1e-6, 1e9,
           "embedding rows that one unit serves"),
};
SECTION(hetero_server_section, "servers of hetero", "parameter servers of layers on other types",
        server_keys);

/* ---- schedulers ---- */

static const struct key rl_keys[] = {
    COUNT(hetero_rl_conf, "hidden", hidden, 1, 4096, 32, 0, "width of the policy's cell"),
    COUNT(hetero_rl_conf, "plans", plans, 1, 100000, 64, 0, "sampled in a round"),
    COUNT(hetero_rl_conf, "rounds", rounds, 1, 1e9, 200, 0,
          "of a policy at most; another begins as long as evaluations last"),
    COUNT(hetero_rl_conf, "patience", patience, 1, 1e9, 50, 0,
          "rounds without a cheaper plan of its own after which another policy begins"),
    REAL(hetero_rl_conf, "rate", rate, "", 1, 1e-9, 10, 0.01, 0, "of learning (Adam)"),
    REAL(hetero_rl_conf, "entropy", entropy, "", 1, 0, 100, 0.2, 0, "bonus at the first round, falling to 0"),
    REAL(hetero_rl_conf, "best_frac", best_frac, "", 1, 1e-6, 1, 0.1, 0,
         "share of a round's plans that are learned from; 1: all, over a moving baseline"),
    REAL(hetero_rl_conf, "gamma", gamma, "", 1, 0, 1, 0.2, 0,
         "best_frac 1: how fast the baseline follows the rewards"),
    REAL(hetero_rl_conf, "clip", clip, "", 1, 1e-9, 1e9, 5, 0, "largest norm of a gradient"),
    FLAG(hetero_rl_conf, "copy_logit", copy_logit, 1,
         "a learned preference for the type of the layer before"),
};
SECTION(hetero_rl_section, "rl", "schedulers rl-lstm and rl-rnn", rl_keys);

static const struct key genetic_keys[] = {
    COUNT(hetero_genetic_conf, "population", population, 2, 100000, 32, 0, "plans of a generation"),
    COUNT(hetero_genetic_conf, "tournament", tournament, 1, 100000, 3, 0,
          "plans of which the best is a parent"),
    COUNT(hetero_genetic_conf, "elite", elite, 0, 100000, 2, 0, "best plans that live on"),
    REAL(hetero_genetic_conf, "crossover", crossover, "", 1, 0, 1, 0.9, 0, "probability"),
    REAL(hetero_genetic_conf, "mutation", mutation, "", 1, 0, HETERO_MAX_LAYERS, 1, 0,
         "layers of a plan that change, on average"),
};
SECTION(hetero_genetic_section, "genetic", "scheduler genetic", genetic_keys);

static const struct key anneal_keys[] = {
    REAL(hetero_anneal_settings, "hot", hot, "", 1, 1e-9, 1e6, 1, 0,
         "temperature at first, of the logarithm of cost"),
    REAL(hetero_anneal_settings, "cold", cold, "", 1, 1e-12, 1e6, 1e-3, 0, "temperature at last"),
};
SECTION(hetero_anneal_section, "anneal", "scheduler anneal", anneal_keys);

static const struct key bayes_keys[] = {
    COUNT(hetero_bayes_conf, "initial", initial, 1, 2000, 16, 0, "plans drawn at first"),
    COUNT(hetero_bayes_conf, "evaluations", evaluations, 1, 2000, 80, 0, "plans tried, those included"),
    COUNT(hetero_bayes_conf, "candidates", candidates, 1, 1000000, 256, 0, "looked at for each"),
    REAL(hetero_bayes_conf, "length", length, "", 1, 1e-6, 1e6, 0.25, 0,
         "of the kernel exp(-distance/length), in shares of the layers"),
    REAL(hetero_bayes_conf, "noise", noise, "", 1, 1e-12, 1, 1e-6, 0, "variance of a measurement"),
};
SECTION(hetero_bayes_section, "bayes", "scheduler bayes", bayes_keys);
