/* The keys of racks and of jobs in slots. */
#include <math.h>
#include <stddef.h>

#include "sim/cluster/elastic_draw.h"

static const char *const arrival_words[] = { "at-once", "uniform", "poisson", NULL };
static const char *const budget_words[] = { "scaled", "literal", NULL };

struct racks_conf {
    struct draw_racks d;
    yaml_id racks, gpus, server, rack;
};

struct jobs_conf {
    struct draw_elastic d;
    yaml_id workers, fixed, iterations, zeta, hop, scale, slope, middle;
};

#define COUNT(conf, key, field, least, most, absent, text)                                                   \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_COUNT, .offset = offsetof(struct conf, field), .unit = "",    \
        .scale = 1, .min = least, .max = most, .dflt = absent                                                \
    }
#define REAL(conf, key, field, in, to_SI, least, most, absent, text)                                         \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_REAL, .offset = offsetof(struct conf, field), .unit = in,     \
        .scale = to_SI, .min = least, .max = most, .dflt = absent                                            \
    }
#define NODE(conf, key, field, in, text)                                                                     \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_NODE, .offset = offsetof(struct conf, field), .unit = in      \
    }
#define WORD(conf, key, field, list, absent, text)                                                           \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_WORD, .offset = offsetof(struct conf, field), .unit = "",     \
        .words = list, .dflt = absent                                                                        \
    }
#define FLAG(conf, key, field, text)                                                                         \
    {                                                                                                        \
        .name = key, .help = text, .kind = KEY_BOOL, .offset = offsetof(struct conf, field), .unit = "",     \
        .dflt = 0                                                                                            \
    }

static const struct key racks_keys[] = {
    COUNT(racks_conf, "servers", d.servers, 2, 100000, 50, "servers in all racks together"),
    NODE(racks_conf, "racks", racks, "", "how many racks, or [least, most] to draw from; absent: [2, 5]"),
    NODE(racks_conf, "gpus", gpus, "",
         "list of what a server may have, equally likely; absent: [1, 2, 4, 8]"),
    COUNT(racks_conf, "total_gpus", d.total_gpus, 1, 10000000, SCHEMA_NONE,
          "scale the servers to this sum; absent: as drawn"),
    NODE(racks_conf, "server_GBps", server, "GB/s", "link of a server, each direction; absent: [1.25, 12.5]"),
    NODE(racks_conf, "rack_GBps", rack, "GB/s", "link of two racks, each direction; absent: [25, 400]"),
    REAL(racks_conf, "link_scale", d.link_scale, "", 1, 1e-6, 1e6, 1, "times the bandwidth of every link"),
    REAL(racks_conf, "latency_ns", d.lat_s, "ns", 1e-9, 0, 1e9, 0, "of each link"),
};
const struct section draw_racks_section = { "racks",
                                            "servers in racks whose switches are joined in a full mesh",
                                            racks_keys, sizeof racks_keys / sizeof racks_keys[0] };

static const struct key jobs_keys[] = {
    COUNT(jobs_conf, "count", d.count, 1, ELASTIC_MAX_JOBS, 40, "how many jobs"),
    WORD(jobs_conf, "arrivals", d.arrivals, arrival_words, DRAW_UNIFORM,
         "when jobs come: in slot 1, or spread over the first 0.8 of the slots; absent: uniform"),
    NODE(jobs_conf, "workers", workers, "", "most workers of a job in a slot; absent: [1, 5]"),
    NODE(jobs_conf, "fixed_workers", fixed, "",
         "workers of a job under schedulers that do not choose them; absent: [1, 10]"),
    FLAG(jobs_conf, "clamp_fixed", d.clamp_fixed, "true: fixed_workers are at most workers; absent: false"),
    NODE(jobs_conf, "iterations", iterations, "", "of a job; absent: [1000, 6000]"),
    NODE(jobs_conf, "zeta", zeta, "", "iterations of one worker in a slot; absent: [50, 500]"),
    REAL(jobs_conf, "zeta_scale", d.zeta_scale, "", 1, 1e-9, 1e9, 1, "times zeta"),
    NODE(jobs_conf, "hop_GBps", hop, "GB/s", "reserved on each hop of a ring; absent: [0.0125, 0.625]"),
    WORD(jobs_conf, "budget", d.budget, budget_words, DRAW_BUDGET_SCALED,
         "worker-slots of a job: iterations / zeta, or as many as iterations, as printed in the paper"),
    WORD(jobs_conf, "utility", d.utility, utility_words, UTILITY_SIGMOID,
         "of the iterations done; absent: sigmoid, which is aimed at by its concave envelope"),
    FLAG(jobs_conf, "aim_literal", d.aim_literal, "true: aim at the sigmoid itself; absent: false"),
    NODE(jobs_conf, "scale", scale, "", "of the utility; absent: [1, 100]"),
    NODE(jobs_conf, "slope", slope, "1/iteration", "of a sigmoid; absent: [0, 1]"),
    NODE(jobs_conf, "middle", middle, "", "iterations at half of a sigmoid; absent: [300, 3000]"),
    REAL(jobs_conf, "leave_frac", d.leave_frac, "", 1, 0.01, 1, INFINITY,
         "a job leaves at this share of its sigmoid's most; absent: when its budget is used"),
    REAL(jobs_conf, "gpus", d.gpus, "", 1, 1e-6, 1e6, 1, "of one worker"),
};
const struct section draw_elastic_section = { "jobs", "jobs in slots, drawn as in GADGET's experiments",
                                              jobs_keys, sizeof jobs_keys / sizeof jobs_keys[0] };

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

int draw_read_elastic(struct draw_elastic *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct jobs_conf x;
    schema_defaults(&x, &draw_elastic_section);
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
        rc = read_ranges(rows, sizeof rows / sizeof rows[0], doc, e);
    *d = x.d;
    return rc;
}
