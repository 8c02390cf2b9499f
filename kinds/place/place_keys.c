/* The keys of a placement study, and its metrics. */
#include <stddef.h>

#include "kinds/place/place_study.h"

const char *const place_model_words[] = { "slots", "batch", "events", "interval", NULL };

/* Models whose jobs stand on servers that links join. */
#define ON_LINKS (USE_SLOTS | USE_EVENTS | USE_BATCH)

#define T struct place_conf
static const struct key place_keys[] = {
    K_TEXT(T, name, "name", "what reports call the study"),
    K_TEXT(T, source, "source", "where the study comes from"),
    K_WORD(T, model, "model", place_model_words, SCHEMA_NONE,
           "how jobs run: in time slots, as a batch, over time, or admitted to one interval",
           .required = true),
    K_NODE(T, network, "network",
           "what joins the servers: a network file, a word or a map, with bandwidths; or graph, or racks",
           .uses = ON_LINKS),
    K_NODE(T, parts, "parts", "prices of the network: a parts file or a map; absent: those of the network",
           .uses = ON_LINKS),
    K_TEXT(
        T, server, "server",
        "dimension of the network: it and those before it are inside a server; npu: each NPU is one; absent: "
        "the innermost, of several",
        .uses = ON_LINKS),
    K_TEXT(T, graph, "graph", "a GraphML or CSV file of the wires, whose NPUs are the servers",
           .uses = ON_LINKS),
    K_NODE(T, servers, "servers",
           "what each server offers, as { gpu: 8, cpu: 64 }, gpu first; absent: its NPUs as gpu",
           .uses = ON_LINKS),
    K_NODE(T, racks, "racks", "servers in racks, drawn anew for each seed, see racks", .uses = ON_LINKS),
    K_NODE(T, pool, "pool", "models batch and interval: what there is, without a network; see pool",
           .uses = USE_BATCH | USE_INTERVAL),
    K_NODE(T, jobs, "jobs", "what is to run; see the model's jobs"),
    K_NODE(T, schedulers, "schedulers", "list of schedulers; absent: all of the model"),
    K_NODE(T, gadget, "gadget", "how gadget works, see gadget", .uses = USE_GADGET),
    K_NODE(T, las, "las", "how las works, see las", .uses = USE_LAS),
    K_NODE(T, sjf_bco, "sjf_bco", "model batch: how plans are made, see sjf_bco", .uses = USE_BATCH),
    K_NODE(T, smd, "smd", "model interval: how jobs are sized and admitted, see smd", .uses = USE_INTERVAL),
    K_NODE(T, events, "events", "how jobs run, and how they share links, see events",
           .uses = USE_EVENTS | USE_BATCH),
    K_COUNT(T, slots, "slots", 1, ELASTIC_MAX_SLOTS, 200, "model slots: how many", .uses = USE_SLOTS),
    K_COUNT(T, seeds, "seeds", 1, 100000, 1, "runs with different draws; figures are their means"),
    K_COUNT(T, seed, "seed", 0, 9e18, 1, "of the first run; the others follow by one"),
    K_NODE(T, vary, "vary", "axes: KEY: [values] or KEY: { from, to, ... }, see vary"),
    K_NODE(T, where, "where", "linear constraints on values of axes: points outside are left out"),
    K_NODE(T, keep, "keep", "which rows are kept; absent: all, see keep"),
};

K_SECTION(place_section, T, "placement study", place_keys,
          "jobs on a cluster under several schedulers, for weft place");
#undef T

static const char *const rounding_words[] = { "strict", "paper", NULL };
static const char *const pricing_words[] = { "auto", "generic", NULL };

#define T struct elastic_settings
static const struct key gadget_keys[] = {
    K_COUNT(T, samples, "samples", 1, 1e6, 100, "random roundings, of which the best is kept"),
    K_WORD(T, paper_rounding, "rounding", rounding_words, 0,
           "strict: never over capacity; paper: over it by what theory allows, reported"),
    K_BOOL(T, reoffer, "reoffer", true, "strict: offer what is left to jobs that drew nothing; absent: true",
           .uses = USE_STRICT),
    K_WORD(T, generic_pricing, "pricing", pricing_words, 0,
           "auto: by racks where the fabric has two levels; absent: auto"),
};
K_SECTION(place_gadget_section, T, "gadget", gadget_keys,
          "the linear programme and its rounding, arXiv 2202.01158");

static const struct key las_keys[] = {
    K_COUNT(T, las_queues, "queues", 0, 64, 3,
            "of jobs by attained service, first in first out inside; 0: continuous; absent: 3"),
    K_REAL(T, las_step, "step", "", 1, 1e-3, 1e9, 40,
           "worker-slots after which a job falls to the next queue; absent: 40", .uses = USE_QUEUES),
};
K_SECTION(place_las_section, T, "las", las_keys, "least attained service (Tiresias)");
#undef T

int place_read_gadget(struct elastic_settings *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    schema_defaults(s, &place_gadget_section);
    return map < 0 ? 0 : schema_read(s, &place_gadget_section, doc, map, e);
}

int place_read_las(struct elastic_settings *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    schema_defaults(s, &place_las_section);
    return map < 0 ? 0 : schema_read(s, &place_las_section, doc, map, e);
}

/* ---- metrics ---- */

/* Columns by model: slots, batch, events, interval. */
const struct place_metric_row place_metrics[] = {
    [PLACE_UTILITY] = { { "utility", NULL, NULL, "utility" }, "utility", "sum over jobs", 1, false },
    [PLACE_BOUND_FRAC] = { { "bound_frac", NULL, NULL, NULL },
                           "of bound",
                           "gain of a slot over what no choice exceeds, mean over slots",
                           1,
                           true },
    [PLACE_GUARANTEE] = { { "guarantee", "guarantee", NULL, "guarantee" },
                          "guarantee",
                          "what theory promises: a least share of the best utility, or a most of makespan "
                          "over the least",
                          0,
                          false },
    [PLACE_FINISHED] = { { "finished", NULL, "finished", NULL },
                         "finished",
                         "jobs that came to their end",
                         1,
                         false },
    [PLACE_MAKESPAN] = { { "makespan", "makespan_s", "makespan_s", NULL },
                         "makespan",
                         "from the first arrival to the last end; none where jobs are left",
                         -1,
                         false },
    [PLACE_JCT] = { { "jct", "jct_s", "jct_s", "jct_s" },
                    "completion",
                    "mean time from arrival to end, of jobs that ended",
                    -1,
                    false },
    [PLACE_JCT_P50] = { { NULL, NULL, "jct_p50_s", NULL }, "median", "of completion times", -1, false },
    [PLACE_JCT_P95] = { { NULL, NULL, "jct_p95_s", NULL }, "p95", "of completion times", -1, false },
    [PLACE_WAIT] = { { NULL, NULL, "wait_s", NULL },
                     "wait",
                     "mean time without GPUs, of jobs that ended",
                     -1,
                     false },
    [PLACE_STRETCH] = { { NULL, NULL, "stretch", NULL },
                        "stretch",
                        "of jobs on several servers: mean of running time over that on the same place, alone",
                        -1,
                        false },
    [PLACE_EMBEDDED] = { { "embedded_frac", NULL, NULL, NULL },
                         "embedded",
                         "share of active jobs that run, mean over slots",
                         1,
                         true },
    [PLACE_ADMITTED] = { { NULL, NULL, NULL, "admitted" }, "admitted", "jobs", 1, false },
    [PLACE_OPTIMUM] = { { NULL, NULL, NULL, "optimum_frac" },
                        "of optimum",
                        "utility over the exact optimum's",
                        1,
                        true },
    [PLACE_GAP] = { { NULL, NULL, NULL, "gap" },
                    "gap",
                    "utility below what no tasks and no admission exceed, relative",
                    -1,
                    false },
    [PLACE_USED] = { { NULL, NULL, NULL, "used_frac" },
                     "used",
                     "resources used over those reserved",
                     0,
                     true },
    [PLACE_GPU] = { { "gpu_frac", "gpu_frac", "gpu_frac", "gpu_frac" },
                    "GPUs",
                    "share of GPUs in use over time",
                    1,
                    true },
    [PLACE_LINK] = { { "link_frac", "link_frac", "link_frac", NULL },
                     "links",
                     "mean load of links over time",
                     0,
                     true },
    [PLACE_LINK_PEAK] = { { "link_peak_frac", "link_peak_frac", "link_peak_frac", NULL },
                          "hottest link",
                          "mean load of the most loaded link",
                          0,
                          true },
    [PLACE_NODE_OVER] = { { "node_over", NULL, NULL, NULL },
                          "server load",
                          "largest load of a server over its capacity; above 1 with rounding paper only",
                          -1,
                          false },
    [PLACE_LINK_OVER] = { { "link_over", NULL, NULL, NULL },
                          "link load",
                          "largest load of a link over its capacity; above 1 with rounding paper only",
                          -1,
                          false },
};

enum place_metric place_model_aim(enum place_model model)
{
    return model == PLACE_BATCH ? PLACE_MAKESPAN : model == PLACE_EVENTS ? PLACE_JCT : PLACE_UTILITY;
}
