/* The keys of a placement study, and its metrics. */
#include <stddef.h>

#include "kinds/place/place_study.h"

const char *const place_model_words[] = { "slots", "batch", "events", "interval", NULL };

#define PLACE(key, field, what, used, text)                                                                  \
    {                                                                                                        \
        .name = key, .help = text, .kind = what, .offset = offsetof(struct place_conf, field), .unit = "",   \
        .dflt = SCHEMA_NONE, .uses = used                                                                    \
    }
#define COUNT(key, field, least, most, absent, used, text)                                                   \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_COUNT, .offset = offsetof(struct place_conf, field),          \
        .unit = "", .scale = 1, .min = least, .max = most, .dflt = absent, .uses = used                      \
    }

/* Models whose jobs stand on servers that links join. */
#define ON_LINKS (USE_SLOTS | USE_EVENTS | USE_BATCH)

static const struct key place_keys[] = {
    PLACE("name", name, KEY_TEXT, 0, "what reports call the study"),
    PLACE("source", source, KEY_TEXT, 0, "where the study comes from"),
    { .name = "model",
      .help = "how jobs run: in time slots, as a batch, over time, or admitted to one interval",
      .kind = KEY_WORD,
      .offset = offsetof(struct place_conf, model),
      .unit = "",
      .dflt = SCHEMA_NONE,
      .words = place_model_words,
      .required = true },
    PLACE("network", network, KEY_NODE, ON_LINKS,
          "what joins the servers: a network file, a word or a map, with bandwidths; or graph, or racks"),
    PLACE("parts", parts, KEY_NODE, ON_LINKS,
          "prices of the network: a parts file or a map; absent: those of the network"),
    PLACE(
        "server", server, KEY_TEXT, ON_LINKS,
        "dimension of the network: it and those before it are inside a server; npu: each NPU is one; absent: "
        "the innermost, of several"),
    PLACE("graph", graph, KEY_TEXT, ON_LINKS,
          "a GraphML or CSV file of the wires, whose NPUs are the servers"),
    PLACE("servers", servers, KEY_NODE, ON_LINKS,
          "what each server offers, as { gpu: 8, cpu: 64 }, gpu first; absent: its NPUs as gpu"),
    PLACE("racks", racks, KEY_NODE, ON_LINKS, "servers in racks, drawn anew for each seed, see racks"),
    PLACE("pool", pool, KEY_NODE, USE_BATCH | USE_INTERVAL,
          "models batch and interval: what there is, without a network; see pool"),
    PLACE("jobs", jobs, KEY_NODE, 0, "what is to run; see the model's jobs"),
    PLACE("schedulers", schedulers, KEY_NODE, 0, "list of schedulers; absent: all of the model"),
    PLACE("gadget", gadget, KEY_NODE, USE_GADGET, "how gadget works, see gadget"),
    PLACE("las", las, KEY_NODE, USE_LAS, "how las works, see las"),
    PLACE("sjf_bco", sjf_bco, KEY_NODE, USE_BATCH, "model batch: how plans are made, see sjf_bco"),
    PLACE("smd", smd, KEY_NODE, USE_INTERVAL, "model interval: how jobs are sized and admitted, see smd"),
    PLACE("events", events, KEY_NODE, USE_EVENTS | USE_BATCH,
          "how jobs run, and how they share links, see events"),
    COUNT("slots", slots, 1, ELASTIC_MAX_SLOTS, 200, USE_SLOTS, "model slots: how many"),
    COUNT("seeds", seeds, 1, 100000, 1, 0, "runs with different draws; figures are their means"),
    COUNT("seed", seed, 0, 9e18, 1, 0, "of the first run; the others follow by one"),
    PLACE("vary", vary, KEY_NODE, 0, "axes: KEY: [values] or KEY: { from, to, ... }, see vary"),
};

#define SECTION(id, where, text, rows)                                                                       \
    const struct section id = {                                                                              \
        .name = where, .help = text, .keys = rows, .n_keys = sizeof rows / sizeof rows[0]                    \
    }

SECTION(place_section, "placement study", "jobs on a cluster under several schedulers, for weft place",
        place_keys);

static const char *const rounding_words[] = { "strict", "paper", NULL };
static const char *const pricing_words[] = { "auto", "generic", NULL };

/* Of struct elastic_settings, with words for flags. */
struct gadget_conf {
    int64_t samples;
    int32_t rounding, pricing;
    bool reoffer;
};

static const struct key gadget_keys[] = {
    { .name = "samples",
      .help = "random roundings, of which the best is kept",
      .kind = KEY_COUNT,
      .offset = offsetof(struct gadget_conf, samples),
      .unit = "",
      .scale = 1,
      .min = 1,
      .max = 1e6,
      .dflt = 100 },
    { .name = "rounding",
      .help = "strict: never over capacity; paper: over it by what theory allows, reported",
      .kind = KEY_WORD,
      .offset = offsetof(struct gadget_conf, rounding),
      .unit = "",
      .words = rounding_words,
      .dflt = 0 },
    { .name = "reoffer",
      .help = "strict: offer what is left to jobs that drew nothing; absent: true",
      .kind = KEY_BOOL,
      .offset = offsetof(struct gadget_conf, reoffer),
      .unit = "",
      .dflt = 1,
      .uses = USE_STRICT },
    { .name = "pricing",
      .help = "auto: by racks where the fabric has two levels; absent: auto",
      .kind = KEY_WORD,
      .offset = offsetof(struct gadget_conf, pricing),
      .unit = "",
      .words = pricing_words,
      .dflt = 0 },
};
SECTION(place_gadget_section, "gadget", "the linear programme and its rounding, arXiv 2202.01158",
        gadget_keys);

struct las_conf {
    int64_t queues;
    double step;
};

static const struct key las_keys[] = {
    { .name = "queues",
      .help = "of jobs by attained service, first in first out inside; 0: continuous; absent: 3",
      .kind = KEY_COUNT,
      .offset = offsetof(struct las_conf, queues),
      .unit = "",
      .scale = 1,
      .min = 0,
      .max = 64,
      .dflt = 3 },
    { .name = "step",
      .help = "worker-slots after which a job falls to the next queue; absent: 40",
      .kind = KEY_REAL,
      .offset = offsetof(struct las_conf, step),
      .unit = "",
      .scale = 1,
      .min = 1e-3,
      .max = 1e9,
      .dflt = 40,
      .uses = USE_QUEUES },
};
SECTION(place_las_section, "las", "least attained service (Tiresias)", las_keys);

int place_read_gadget(struct elastic_settings *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct gadget_conf x;
    schema_defaults(&x, &place_gadget_section);
    int rc = map < 0 ? 0 : schema_read(&x, &place_gadget_section, doc, map, e);
    s->samples = (int32_t)x.samples;
    s->paper_rounding = x.rounding == 1;
    s->rack_pricing = x.pricing == 0;
    s->reoffer = x.reoffer;
    return rc;
}

int place_read_las(struct elastic_settings *s, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct las_conf x;
    schema_defaults(&x, &place_las_section);
    int rc = map < 0 ? 0 : schema_read(&x, &place_las_section, doc, map, e);
    s->las_queues = (int32_t)x.queues;
    s->las_step = x.step;
    return rc;
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
