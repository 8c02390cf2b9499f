/* The keys of racks and of jobs in slots. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sim/slots/elastic_draw.h"

static const char *const arrival_words[] = { "at-once", "uniform", "poisson", NULL };
static const char *const progress_words[] = { "const", "tau", NULL };
static const char *const batch_words[] = { "worker", "job", NULL };
static const char *const budget_words[] = { "scaled", "literal", NULL };

struct racks_conf {
    struct draw_racks d;
    yaml_id racks, gpus, server, rack;
};

struct jobs_conf {
    struct draw_elastic d;
    yaml_id demand, workers, fixed, iterations, zeta, tau, hop, scale, slope, middle;
};

#define COUNT(conf, key, field, least, most, absent, text)                                                   \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_COUNT, .offset = offsetof(struct conf, field), .unit = "",    \
        .scale = 1, .min = least, .max = most, .dflt = absent                                                \
    }
#define REAL(conf, key, field, in, to_SI, least, most, absent, used, text)                                   \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_REAL, .offset = offsetof(struct conf, field), .unit = in,     \
        .scale = to_SI, .min = least, .max = most, .dflt = absent, .uses = used                              \
    }
#define NODE(conf, key, field, in, used, text)                                                               \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_NODE, .offset = offsetof(struct conf, field), .unit = in,     \
        .uses = used                                                                                         \
    }
#define WORD(conf, key, field, list, absent, text)                                                           \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_WORD, .offset = offsetof(struct conf, field), .unit = "",     \
        .words = list, .dflt = absent                                                                        \
    }
#define FLAG(conf, key, field, used, text)                                                                   \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_BOOL, .offset = offsetof(struct conf, field), .unit = "",     \
        .dflt = 0, .uses = used                                                                              \
    }
/* Without a default. */
#define NEED(conf, key, field, in, to_SI, least, most, text)                                                 \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_REAL, .offset = offsetof(struct conf, field), .unit = in,     \
        .scale = to_SI, .min = least, .max = most, .required = true                                          \
    }

static const struct key racks_keys[] = {
    COUNT(racks_conf, "servers", d.servers, 2, 100000, 50, "servers in all racks together"),
    NODE(racks_conf, "racks", racks, "", 0, "how many racks, or [least, most] to draw from; absent: [2, 5]"),
    NODE(racks_conf, "gpus", gpus, "", 0,
         "list of what a server may have, equally likely; absent: [1, 2, 4, 8]"),
    COUNT(racks_conf, "total_gpus", d.total_gpus, 1, 10000000, SCHEMA_NONE,
          "scale the servers to this sum; absent: as drawn"),
    NODE(racks_conf, "server_GBps", server, "GB/s", 0,
         "link of a server, each direction; absent: [1.25, 12.5]"),
    NODE(racks_conf, "rack_GBps", rack, "GB/s", 0, "link of two racks, each direction; absent: [25, 400]"),
    REAL(racks_conf, "link_scale", d.link_scale, "", 1, 1e-6, 1e6, 1, 0, "times the bandwidth of every link"),
    REAL(racks_conf, "latency_ns", d.lat_s, "ns", 1e-9, 0, 1e9, 0, USE_EVENTS, "of each link"),
};
const struct section draw_racks_section = { "racks",
                                            "servers in racks whose switches are joined in a full mesh",
                                            racks_keys, sizeof racks_keys / sizeof racks_keys[0] };

static const struct key jobs_keys[] = {
    COUNT(jobs_conf, "count", d.count, 1, ELASTIC_MAX_JOBS, 40,
          "how many jobs; with from_trace its own count"),
    WORD(jobs_conf, "arrivals", d.arrivals, arrival_words, DRAW_UNIFORM,
         "when jobs come: in slot 1, or spread over the first 0.8 of the slots; absent: uniform"),
    NODE(jobs_conf, "workers", workers, "", USE_DRAWN, "most workers of a job in a slot; absent: [1, 5]"),
    NODE(jobs_conf, "fixed_workers", fixed, "", USE_FIXED,
         "workers of a job under schedulers that do not choose them; absent: [1, 10]"),
    FLAG(jobs_conf, "clamp_fixed", d.clamp_fixed, USE_FIXED,
         "true: fixed_workers are at most workers; absent: false"),
    NODE(jobs_conf, "iterations", iterations, "", USE_DRAWN, "of a job; absent: [1000, 6000]"),
    NODE(jobs_conf, "zeta", zeta, "", USE_CONST, "iterations of one worker in a slot; absent: [50, 500]"),
    WORD(jobs_conf, "progress", d.progress, progress_words, DRAW_CONST,
         "of a slot: zeta a worker, or by the time of an iteration on so many workers; absent: const"),
    NODE(jobs_conf, "tau", tau, "", USE_TAU, "what the time of an iteration is made of, see jobs.tau"),
    REAL(jobs_conf, "zeta_scale", d.zeta_scale, "", 1, 1e-9, 1e9, 1, USE_CONST, "times zeta"),
    NODE(jobs_conf, "hop_GBps", hop, "GB/s", 0,
         "reserved on each hop of a ring; absent: [0.0125, 0.625], with from_trace what the job sends on "
         "average"),
    WORD(jobs_conf, "budget", d.budget, budget_words, DRAW_BUDGET_SCALED,
         "worker-slots of a job: iterations / zeta, or as many as iterations, as printed in the paper"),
    WORD(jobs_conf, "utility", d.utility, utility_words, UTILITY_SIGMOID,
         "of the iterations done; a sigmoid is aimed at by its concave envelope; absent: sigmoid, with "
         "from_trace sqrt"),
    FLAG(jobs_conf, "aim_literal", d.aim_literal, USE_SIGMOID,
         "true: aim at the sigmoid itself; absent: false"),
    NODE(jobs_conf, "scale", scale, "", 0, "of the utility; absent: [1, 100]"),
    NODE(jobs_conf, "slope", slope, "1/iteration", USE_SIGMOID, "of a sigmoid; absent: [0, 1]"),
    NODE(jobs_conf, "middle", middle, "", USE_SIGMOID,
         "iterations at half of a sigmoid; absent: [300, 3000]"),
    REAL(jobs_conf, "leave_frac", d.leave_frac, "", 1, 0.01, 1, INFINITY, 0,
         "a job leaves at this share of its sigmoid's most; absent: when its budget is used"),
    REAL(jobs_conf, "gpus", d.gpus, "", 1, 1e-6, 1e6, 1, 0, "of one worker"),
    NODE(jobs_conf, "demand", demand, "", 0,
         "of one worker, of other resources of the servers, as { cpu: 4, memory_GB: [16, 64] }"),
    NODE(jobs_conf, "from_trace", d.from_trace, "", 0,
         "arrivals, workers, iterations and lengths of a trace in place of draws; keys as jobs of model "
         "events"),
    REAL(jobs_conf, "trace_slot_s", d.trace_slot_s, "s", 1, 1e-9, 1e12, SCHEMA_NONE, USE_TRACE,
         "with from_trace: how long a slot is"),
};
const struct section draw_elastic_section = { "jobs", "jobs in slots, drawn as in GADGET's experiments",
                                              jobs_keys, sizeof jobs_keys / sizeof jobs_keys[0] };

static const struct key tau_keys[] = {
    NEED(jobs_conf, "gradient_MB", d.ring.gradient_B, "MB", 1e6, 0, 1e9, "of a worker"),
    NEED(jobs_conf, "reduce_GBps", d.ring.reduce_Bps, "GB/s", 1e9, 1e-6, 1e9,
         "at which gradients are added up"),
    NEED(jobs_conf, "forward_ms", d.ring.sample_s, "ms", 1e-3, 0, 1e9, "of one sample"),
    NEED(jobs_conf, "samples", d.ring.samples, "", 1, 1e-6, 1e12, "of an iteration, see batch"),
    NEED(jobs_conf, "backward_ms", d.ring.backward_s, "ms", 1e-3, 0, 1e9, "of an iteration"),
    REAL(jobs_conf, "overhead_ms", d.ring.overhead_s, "ms", 1e-3, 0, 1e9, 0, 0, "of an iteration; absent: 0"),
    NEED(jobs_conf, "slot_s", d.slot_s, "s", 1, 1e-9, 1e9, "how long a slot is"),
    WORD(jobs_conf, "batch", d.batch, batch_words, RING_BATCH_WORKER,
         "samples are those of each worker, or of the job, shared out among its workers; absent: worker"),
};
const struct section draw_tau_section = {
    "jobs.tau",
    "time of an iteration on a ring of workers, arXiv 2202.01158 eq. 1; "
    "its bandwidth is hop_GBps",
    tau_keys, sizeof tau_keys / sizeof tau_keys[0]
};

/* A range in a file, its default and limits, and where it goes. */
struct range_row {
    struct draw_range *to;
    yaml_id node;
    struct draw_range absent; /* in the file's unit */
    struct draw_limits limits;
};

static int read_ranges(const struct range_row *rows, int32_t n, const struct yaml_doc *doc, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < n && !rc; i++) {
        double scale = rows[i].limits.scale;
        *rows[i].to = (struct draw_range){ rows[i].absent.lo * scale, rows[i].absent.hi * scale };
        rc = draw_read_range(rows[i].to, doc, rows[i].node, &rows[i].limits, e);
    }
    return rc;
}

static int read_gpus(struct draw_racks *d, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    static const double paper[] = { 1, 2, 4, 8 };
    for (d->n_gpus = 0; node < 0 && d->n_gpus < 4; d->n_gpus++)
        d->gpus[d->n_gpus] = paper[d->n_gpus];
    return node < 0 ? 0 : draw_read_choices(d->gpus, &d->n_gpus, doc, node, e);
}

int draw_read_racks(struct draw_racks *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct racks_conf x;
    schema_defaults(&x, &draw_racks_section);
    int rc = map < 0 ? 0 : schema_read(&x, &draw_racks_section, doc, map, e);
    const struct range_row rows[] = {
        { &x.d.racks, x.racks, { 2, 5 }, { 1, 1, 10000, true } },
        { &x.d.server_Bps, x.server, { 1.25, 12.5 }, { 1e9, 1e-3, 1e6, false } },
        { &x.d.rack_Bps, x.rack, { 25, 400 }, { 1e9, 1e-3, 1e6, false } },
    };
    if (!rc)
        rc = read_ranges(rows, sizeof rows / sizeof rows[0], doc, e);
    if (!rc)
        rc = read_gpus(&x.d, doc, x.gpus, e);
    *d = x.d;
    return rc;
}

/* Needed by progress tau; with const its map is left alone, and said to be. */
static int read_tau(struct jobs_conf *x, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (x->d.progress != DRAW_TAU)
        return 0;
    if (x->tau < 0)
        return yaml_fail(doc, yaml_get(doc, map, "progress"), e, ERR_PARSE,
                         "is tau, need tau with the parts of an iteration besides");
    /* The section's fields alone are set. */
    return schema_read(x, &draw_tau_section, doc, x->tau, e);
}

/* Other utilities have no most that a share could be of. */
static int check_leave(const struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (!isfinite(d->leave_frac) || d->utility == UTILITY_SIGMOID || d->utility == UTILITY_SIGMOID_ENVELOPE)
        return 0;
    return yaml_fail_key(doc, yaml_get(doc, map, "leave_frac"), e, ERR_PARSE,
                         "is given with utility %s, which has no most, need a sigmoid",
                         utility_words[d->utility]);
}

/* Ranges by name; the names are held against the servers when these are there. */
static int read_demand(struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const struct draw_limits limits = { 1, 0, 1e12, false };
    d->n_demands = 0;
    if (map < 0)
        return 0;
    int rc = yaml_need(doc, map, YAML_MAP, e);
    if (!rc && doc->nodes[map].n >= CLUSTER_MAX_RESOURCES)
        rc = yaml_fail(doc, map, e, ERR_RANGE, "has %d resources, need at most %d", (int)doc->nodes[map].n,
                       (int)CLUSTER_MAX_RESOURCES - 1);
    if (rc)
        return rc;
    yaml_each (id, doc, map) {
        struct draw_demand *demand = &d->demands[d->n_demands++];
        if (strcmp(doc->nodes[id].key, "gpu") == 0)
            return yaml_fail_key(doc, id, e, ERR_PARSE, "is gpu, need jobs.gpus for that");
        demand->name = doc->nodes[id].key;
        rc = draw_read_range(&demand->range, doc, id, &limits, e);
        if (rc)
            return rc;
    }
    return 0;
}

int draw_read_elastic(struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct jobs_conf x;
    schema_defaults(&x, &draw_elastic_section);
    schema_defaults(&x, &draw_tau_section);
    int rc = map < 0 ? 0 : schema_read(&x, &draw_elastic_section, doc, map, e);
    const struct range_row rows[] = {
        { &x.d.workers, x.workers, { 1, 5 }, { 1, 1, ELASTIC_MAX_WORKERS, true } },
        { &x.d.fixed, x.fixed, { 1, 10 }, { 1, 1, ELASTIC_MAX_WORKERS, true } },
        { &x.d.iterations, x.iterations, { 1000, 6000 }, { 1, 1, 1e12, true } },
        { &x.d.zeta, x.zeta, { 50, 500 }, { 1, 1, 1e12, true } },
        { &x.d.hop_Bps, x.hop, { 0.0125, 0.625 }, { 1e9, 0, 1e6, false } },
        { &x.d.scale, x.scale, { 1, 100 }, { 1, 0, 1e12, true } },
        { &x.d.slope, x.slope, { 0, 1 }, { 1, 0, 1e6, false } },
        { &x.d.middle, x.middle, { 300, 3000 }, { 1, 0, 1e12, true } },
    };
    if (!rc)
        rc = read_demand(&x.d, doc, x.demand, e);
    if (!rc)
        rc = read_ranges(rows, sizeof rows / sizeof rows[0], doc, e);
    if (!rc)
        rc = read_tau(&x, doc, map, e);
    if (!rc)
        rc = check_leave(&x.d, doc, map, e);
    *d = x.d;
    return rc;
}
