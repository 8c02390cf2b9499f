/*
 * One point of a study of layers on types of resources, read: keys, types and their links, the profile,
 * what is asked for, schedulers and their settings.
 * Then the kind: what the runs of a point share, one run of a scheduler, and its result.
 */
#include "kinds/hetero/hetero.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "kinds/design/ask/ports.h"
#include "kinds/design/ask/system.h"
#include "sim/hetero/oracle.h"
#include "sim/hetero/profile.h"
#include "study/axes.h"

/* ---- uses of keys ---- */

/* What keys are used for, in the order in which notes name it. */
enum hetero_use {
    FOR_DRAW = 1 << 0,    /* drawn profiles */
    FOR_MODEL = 1 << 1,   /* a model file */
    FOR_NETWORK = 1 << 2, /* handover network */
    FOR_OWN = 1 << 3,     /* handover as profiled */
    FOR_BUDGET = 1 << 4,  /* schedulers that search */
    FOR_RL = 1 << 5,
    FOR_GENETIC = 1 << 6,
    FOR_ANNEAL = 1 << 7,
    FOR_BAYES = 1 << 8,
    N_HETERO_USES = 9,
};
static const struct use hetero_uses[N_HETERO_USES] = {
    { "by drawn profiles" },         { "with a model file" },
    { "with handover network" },     { "with handover layer and stage" },
    { "by schedulers that search" }, { "by schedulers rl-lstm and rl-rnn" },
    { "by scheduler genetic" },      { "by scheduler anneal" },
    { "by scheduler bayes" },
};
#define HETERO_USES .uses = hetero_uses, .n_uses = N_HETERO_USES

/* ---- keys of drawn profiles ---- */

/* Assumed figures, not measurements: docs/hetero.md section 2.1 says which are recalled from HeterPS. Ids lie
 * on the cores' own servers; to a GPU they come over PCIe from others. */
#define DRAWN_BATCH 4096
#define UNIT(key, field, in, times, least, most, usual, text)                                                \
    K_REAL(struct hetero_draw_unit, field, key, in, times, least, most, usual, text)
#define UNIT_KEYS(gflops, memory, lookup, net, usd, compute, comm, units)                                    \
    UNIT("peak_GFLOPS", flops, "GFLOP/s", 1e9, 1e-6, 1e9, gflops, "rate that matrix products reach"),        \
        UNIT("memory_GBps", memory_Bps, "GB/s", 1e9, 1e-6, 1e9, memory,                                      \
             "bandwidth of memory, for rows and activations"),                                               \
        UNIT("lookup_GBps", lookup_Bps, "GB/s", 1e9, 1e-6, 1e9, lookup,                                      \
             "bandwidth of moving embedding rows to it"),                                                    \
        UNIT("net_GBps", net_Bps, "GB/s", 1e9, 1e-6, 1e9, net, "bandwidth to other units"),                  \
        UNIT("usd_per_h", usd_per_h, "USD/h", 1, 0, 1e6, usd, "price of a unit"),                            \
        UNIT("compute_parallel", compute_par, "", 1, 0, 1, compute, "share of compute that units divide"),   \
        UNIT("comm_parallel", comm_par, "", 1, 0, 1, comm, "share of communication that units divide"),      \
        K_COUNT(struct hetero_draw_unit, max_units, "max_units", 1, HETERO_MAX_UNITS, units,                 \
                "number of units that exist")

static const struct key cpu_keys[] = { UNIT_KEYS(20, 4, 2, 2, 0.04, 0.97, 0.95, 256) };
static const struct key gpu_keys[] = { UNIT_KEYS(7000, 400, 0.3, 12.5, 2.42, 0.995, 0.90, 64) };
K_SECTION(hetero_draw_cpu_section, struct hetero_draw_unit, "cpu of draw", cpu_keys, "one CPU core, assumed");
K_SECTION(hetero_draw_gpu_section, struct hetero_draw_unit, "gpu of draw", gpu_keys, "one GPU, assumed");

static const struct key draw_keys[] = {
    K_COUNT(struct hetero_draw, n_types, "types", 2, HETERO_MAX_TYPES, 2,
            "cpu, gpu, and more GPUs drawn around that one: gpu2, gpu3, .."),
    K_COUNT(struct hetero_draw, seed, "seed", 0, 9e18, 1, "seed of the GPUs that are drawn"),
    K_MAP(struct hetero_draw, cpu, "cpu", &hetero_draw_cpu_section, "a CPU core, see cpu of draw"),
    K_MAP(struct hetero_draw, gpu, "gpu", &hetero_draw_gpu_section, "the first GPU, see gpu of draw"),
};
K_SECTION(hetero_draw_section, struct hetero_draw, "draw", draw_keys,
          "a drawn profile; all numbers are assumptions");

/* ---- keys of measured profiles, and of models ---- */

#define BYTES(key, field, in, times, text)                                                                   \
    K_REAL(struct hetero_layer, field, key, in, times, 0, 1e15, 0, text)

static const struct key layer_keys[] = {
    K_REMARK("name", "what reports call the layer (default: layer1, layer2, ..)"),
    K_WORD(struct hetero_layer, kind, "kind", hetero_kind_words, HETERO_BLOCK,
           "kind of the layer; heuristic and rl look at it"),
    BYTES("in_B", in_B, "B", 1, "bytes that enter, per example"),
    BYTES("out_B", out_B, "B", 1, "bytes that the next layer gets, per example"),
    BYTES("weight_MB", weight_B, "MB", 1e6, "size of the parameters"),
    BYTES("sparse_B", sparse_B, "B", 1, "bytes of embedding rows from and to parameter servers, per example"),
    K_ELSEWHERE("compute_ms", "compute time of a batch on one unit of each type: { cpu: 31, v100: 2 }",
                .unit = "ms", .required = true, .form = "map of number"),
    K_ELSEWHERE("comm_ms", "communication inside a stage, in the same form (default: none)",
                .form = "map of number"),
    K_ELSEWHERE("handover_ms", "handing its output to the next stage, in the same form (default: none)",
                .uses = FOR_OWN, .form = "map of number"),
};
K_SECTION(hetero_layer_section, struct hetero_layer, "layers of hetero", layer_keys,
          "a layer of a measured profile", HETERO_USES);

static const struct key probe_keys[] = {
    K_COUNT_OR(struct hetero_probe, units, "units", 2, HETERO_MAX_UNITS, -1,
               "numbers of units that were timed", .required = true),
    K_REAL_OR(struct hetero_probe, compute_ratio, "compute_ratio", "", 1, 1e-9, 1e3, NAN,
              "compute time of those over that of one unit"),
    K_REAL_OR(struct hetero_probe, comm_ratio, "comm_ratio", "", 1, 1e-9, 1e3, NAN,
              "communication time of those over that of one unit"),
};
K_SECTION(hetero_probe_section, struct hetero_probe, "probe", probe_keys,
          "parallel shares of a type, from two measurements");

/* A type as it is written: what it hangs on is known when all have been read. */
struct written_type {
    struct hetero_type type;
    const char *name, *host, *dim;
    double net_Bps;
    yaml_id map, npu;
    struct hetero_probe probe;
};

#define TYPE_REAL(f, key, in, to_SI, most, ...)                                                              \
    K_REAL_OR(struct written_type, f, key, in, to_SI, 0, most, NAN, __VA_ARGS__)
#define TYPE_RATE(f, key, ...) K_REAL_OR(struct written_type, f, key, "GB/s", 1e9, 1e-6, 1e9, __VA_ARGS__)

static const struct key type_keys[] = {
    K_TEXT(struct written_type, name, "name", "name that layers and servers use", .required = true),
    K_BOOL(struct written_type, type.cpu, "cpu", 0, "true: for cpu-only and heuristic it is a CPU"),
    TYPE_REAL(type.usd_per_h, "usd_per_h", "USD/h", 1, 1e6, "price of a unit", .required = true),
    K_COUNT(struct written_type, type.max_units, "max_units", 1, HETERO_MAX_UNITS, HETERO_MAX_UNITS,
            "number of units that exist, for all stages"),
    TYPE_REAL(type.compute_par, "compute_parallel", "", 1, 1,
              "share of compute that units divide (Amdahl); or probe"),
    TYPE_REAL(type.comm_par, "comm_parallel", "", 1, 1, "share of communication that units divide; or probe"),
    K_MAP(struct written_type, probe, "probe", &hetero_probe_section,
          "those shares from times of several units, see probe"),
    K_TEXT(struct written_type, host, "host", "type of the cores that each unit needs besides itself"),
    K_COUNT_OR(struct written_type, type.host_units, "host_units", 1, HETERO_MAX_UNITS, -1,
               "cores per unit; they are paid for and count as units of that type"),
    TYPE_RATE(type.nic_Bps, "nic_GBps", INFINITY,
              "bandwidth of one unit to other types (default: as the network)", .uses = FOR_NETWORK),
    K_TEXT(struct written_type, dim, "dim",
           "dimension of the network that it hangs on; the outer one of two types joins them (default: the "
           "outermost)",
           .uses = FOR_NETWORK),
    TYPE_REAL(type.mem_B, "mem_GB", "GB", 1e9, 1e9, "memory of a unit, for reports (default: that of npu)"),
    K_NODE(struct written_type, npu, "npu", "with a model file: one unit, an NPU file or a map",
           .uses = FOR_MODEL, .form = "file or <npu>"),
    TYPE_RATE(net_Bps, "net_GBps", NAN,
              "with a model file: bandwidth of one unit to others of its stage and the next",
              .uses = FOR_MODEL),
};
K_SECTION(hetero_type_section, struct written_type, "types of hetero", type_keys,
          "a type of resource, of a measured profile or a model file", HETERO_USES);

/* ---- keys of what is asked for ---- */

static const char *const of_words[] = { "best", "gpu-only", NULL };

static const struct key throughput_keys[] = {
    K_REAL_OR(struct hetero_throughput, per_s, "per_s", "1/s", 1, 1e-9, 1e15, NAN, "examples a second"),
    K_REAL_OR(struct hetero_throughput, share, "share", "", 1, 1e-9, 1e3, NAN,
              "of the largest throughput; default without per_s: 0.5"),
    K_WORD_OR(struct hetero_throughput, of, "of", of_words, HETERO_OF_BEST,
              "plans whose largest throughput this is: all, or those on one GPU type (default: best)"),
};
K_SECTION(hetero_throughput_section, struct hetero_throughput, "throughput of hetero", throughput_keys,
          "what a plan has to reach");

static const struct key job_keys[] = {
    K_REAL_OR(struct hetero_setup, examples, "examples_M", "million", 1e6, 1e-6, 1e12, NAN,
              "examples to train on, in millions", .required = true),
    K_REAL(struct hetero_setup, epochs, "epochs", "", 1, 1e-6, 1e9, 1, "passes over the examples"),
};
K_SECTION(hetero_job_section, struct hetero_setup, "job of hetero", job_keys, "how much there is to train");

static const struct key server_keys[] = {
    K_REMARK("type", "type of unit that they run on", .required = true),
    K_REAL_OR(struct hetero_setup, server_Bps, "GBps", "GB/s", 1e9, 1e-6, 1e9, NAN,
              "embedding rows that one unit serves", .required = true),
};
K_SECTION(hetero_server_section, struct hetero_setup, "servers of hetero", server_keys,
          "parameter servers of layers on other types");

/* ---- keys of schedulers: equal budgets; the other numbers were chosen on the drawn profiles
 * (docs/hetero.md) ----
 */

#define RL_COUNT(f, most, usual, ...) K_COUNT(struct hetero_rl_settings, f, #f, 1, most, usual, __VA_ARGS__)
#define RL_REAL(f, least, most, usual, ...)                                                                  \
    K_REAL(struct hetero_rl_settings, f, #f, "", 1, least, most, usual, __VA_ARGS__)

static const struct key rl_keys[] = {
    RL_COUNT(hidden, 4096, 32, "width of the policy's cell"),
    RL_COUNT(plans, 100000, 64, "plans sampled in a round"),
    RL_COUNT(rounds, 1e9, 200, "most rounds of one policy; another begins while evaluations last"),
    RL_COUNT(patience, 1e9, 50, "rounds without a cheaper plan of its own after which another policy begins"),
    RL_REAL(rate, 1e-9, 10, 0.01, "learning rate (Adam)"),
    RL_REAL(entropy, 0, 100, 0.2, "bonus at the first round, falling to 0"),
    RL_REAL(best_frac, 1e-6, 1, 0.1,
            "share of a round's plans that are learned from; 1: all, over a moving baseline"),
    RL_REAL(gamma, 0, 1, 0.2, "best_frac 1: how fast the baseline follows the rewards"),
    RL_REAL(clip, 1e-9, 1e9, 5, "largest norm of a gradient"),
    K_BOOL(struct hetero_rl_settings, copy_logit, "copy_logit", 1,
           "a learned preference for the type of the layer before"),
};
K_SECTION(hetero_rl_section, struct hetero_rl_settings, "rl", rl_keys, "schedulers rl-lstm and rl-rnn");

static const struct key genetic_keys[] = {
    K_COUNT(struct hetero_genetic_settings, population, "population", 2, 100000, 32, "plans of a generation"),
    K_COUNT(struct hetero_genetic_settings, tournament, "tournament", 1, 100000, 3,
            "plans of which the best is a parent"),
    K_COUNT(struct hetero_genetic_settings, elite, "elite", 0, 100000, 2, "best plans that are kept"),
    K_REAL(struct hetero_genetic_settings, crossover, "crossover", "", 1, 0, 1, 0.9,
           "probability of a crossover"),
    K_REAL(struct hetero_genetic_settings, mutation, "mutation", "", 1, 0, HETERO_MAX_LAYERS, 1,
           "layers of a plan that change, on average"),
};

static int check_genetic(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const struct hetero_genetic_settings *s = base;
    if (s->elite < s->population)
        return 0;
    return yaml_fail(doc, map, e, ERR_RANGE, "has elite %d, expected less than population, %d", s->elite,
                     s->population);
}

K_SECTION(hetero_genetic_section, struct hetero_genetic_settings, "genetic", genetic_keys,
          "scheduler genetic", .check = check_genetic);

static const struct key anneal_keys[] = {
    K_REAL(struct hetero_anneal_settings, hot, "hot", "", 1, 1e-9, 1e6, 1,
           "first temperature, of the logarithm of cost"),
    K_REAL(struct hetero_anneal_settings, cold, "cold", "", 1, 1e-12, 1e6, 1e-3, "last temperature"),
};

static int check_anneal(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const struct hetero_anneal_settings *s = base;
    if (s->cold <= s->hot)
        return 0;
    return yaml_fail(doc, map, e, ERR_RANGE, "has cold %g, expected at most hot, %g", s->cold, s->hot);
}

K_SECTION(hetero_anneal_section, struct hetero_anneal_settings, "anneal", anneal_keys, "scheduler anneal",
          .check = check_anneal);

static const struct key bayes_keys[] = {
    K_COUNT(struct hetero_bayes_settings, initial, "initial", 1, 2000, 16, "plans drawn at first"),
    /* Each of them is a row of a dense factor: time grows with the cube. */
    K_COUNT(struct hetero_bayes_settings, evaluations, "evaluations", 1, 2000, 80,
            "plans tried, the initial ones included"),
    K_COUNT(struct hetero_bayes_settings, candidates, "candidates", 1, 1000000, 256,
            "candidates looked at for each plan tried"),
    K_REAL(struct hetero_bayes_settings, length, "length", "", 1, 1e-6, 1e6, 0.25,
           "length of the kernel exp(-distance/length), as a share of the layers"),
    K_REAL(struct hetero_bayes_settings, noise, "noise", "", 1, 1e-12, 1, 1e-6, "variance of a measurement"),
};

static int check_bayes(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    const struct hetero_bayes_settings *s = base;
    if (s->initial <= s->evaluations)
        return 0;
    return yaml_fail(doc, map, e, ERR_RANGE, "has initial %d, expected at most evaluations, %d", s->initial,
                     s->evaluations);
}

K_SECTION(hetero_bayes_section, struct hetero_bayes_settings, "bayes", bayes_keys, "scheduler bayes",
          .check = check_bayes);

/* ---- keys of a study ---- */

#define STUDY_NODE(f, ...) K_NODE(struct hetero_point, at.f, #f, __VA_ARGS__)

static const struct key design_keys[] = {
    K_TEXT(struct hetero_point, name, "name", "what reports call the study"),
    K_REMARK("source", "where the study comes from"),
    STUDY_NODE(
        model,
        "ctrdnn, matchnet, 2emb or nce: a drawn profile; or a model file (with a dot or slash) or map; "
        "or layers",
        .form = "word or file or <model>"),
    STUDY_NODE(draw, "sizes and speeds of a drawn profile, see draw", .uses = FOR_DRAW, .form = "<draw>"),
    STUDY_NODE(layers, "measured times of layers, in place of model; see layers of hetero",
               .form = "list of <layers of hetero>"),
    STUDY_NODE(types, "list of resources, with layers or a model file; see types of hetero",
               .form = "list of <types of hetero>"),
    K_REAL_OR(struct hetero_point, batch, "batch", "", 1, 1e-3, 1e12, NAN,
              "examples that times of a profile are for; required unless the profile is drawn (default "
              "there: 4096)"),
    K_MAP(struct hetero_point, throughput, "throughput", &hetero_throughput_section,
          "throughput that a plan has to reach: { per_s } or { share, of } (default: half of the best)"),
    K_MAP(struct hetero_point, setup, "job", &hetero_job_section, "amount of training, see job of hetero",
          .required = true),
    K_BOOL(struct hetero_point, setup.overlap, "overlap", 1,
           "true: communication overlaps compute; false: it follows"),
    K_WORD_OR(struct hetero_point, handover, "handover", hetero_handover_words, -1,
              "what handing data to the next stage costs: that of every layer, of the last one of a stage, "
              "or by the network (default: network with one, else layer)"),
    STUDY_NODE(network, "what joins the types: a network file, a word or a map, with bandwidths",
               .uses = FOR_NETWORK, .form = "file or text or <network>"),
    K_MAP(struct hetero_point, setup, "servers", &hetero_server_section,
          "parameter servers that are paid for, see servers of hetero"),
    K_WORD(struct hetero_point, setup.provisioning, "provisioning", hetero_provisioning_words, HETERO_EXACT,
           "how units of the stages are chosen: the cheapest of all, or from those of the first stage, least "
           "or by Newton's method"),
    STUDY_NODE(schedulers, "list of schedulers, see weft hetero --list (default: all that can run)",
               .form = "list of words"),
    STUDY_NODE(parts,
               "prices of the network, of which each unit pays the ports that it hangs on; a parts file or a "
               "map (default: its port is in usd_per_h)",
               .form = "file or <parts>"),
    STUDY_NODE(system, "with parts: what owning the network costs a year, see system", .form = "<system>"),
    STUDY_NODE(where, "linear constraints on values of axes: points outside are left out",
               .form = "list of texts"),
    STUDY_NODE(keep, "which rows are kept, see keep (default: all)", .form = "<keep>"),
    K_COUNT(struct hetero_point, settings.evaluations, "evaluations", 1, 1e12, 25600,
            "plans that a scheduler that searches may try", .uses = FOR_BUDGET),
    K_MAP(struct hetero_point, settings.rl, "rl", &hetero_rl_section, "reinforcement learning, see rl",
          .uses = FOR_RL),
    K_MAP(struct hetero_point, settings.genetic, "genetic", &hetero_genetic_section, "see genetic",
          .uses = FOR_GENETIC),
    K_MAP(struct hetero_point, settings.anneal, "anneal", &hetero_anneal_section,
          "simulated annealing, see anneal", .uses = FOR_ANNEAL),
    K_MAP(struct hetero_point, settings.bayes, "bayes", &hetero_bayes_section,
          "Bayesian optimisation, see bayes", .uses = FOR_BAYES),
    K_COUNT(struct hetero_point, seeds, "seeds", 1, 100000, 5,
            "runs of each scheduler that draws at random; the median counts"),
    K_COUNT(struct hetero_point, seed, "seed", 0, 9e18, 1,
            "seed of the first run; the others count up by one"),
    K_ELSEWHERE("vary", "axes: KEY: [values] or KEY: { from, to, ... }, see vary",
                .form = "<vary> or list of <vary>"),
};
K_SECTION(hetero_section, struct hetero_point, "hetero study", design_keys,
          "layers on types of resources, for weft hetero", HETERO_USES);

/* ---- schedulers ---- */

/* Without a list all that can run here; those that cannot are then left out silently. */
static int read_schedulers(struct hetero_point *p, struct err *e)
{
    const char *names[HETERO_MAX_SCHEDULERS];
    p->listed = p->at.schedulers >= 0;
    for (int32_t i = 0; i < n_hetero_schedulers; i++)
        names[i] = hetero_schedulers[i].name;
    for (; !p->listed && p->n_schedulers < n_hetero_schedulers; p->n_schedulers++)
        p->schedulers[p->n_schedulers] = p->n_schedulers;
    return p->listed ? yaml_read_words(p->schedulers, &p->n_schedulers, HETERO_MAX_SCHEDULERS, names,
                                       (size_t)n_hetero_schedulers, &p->doc, p->at.schedulers,
                                       "one of the schedulers", "schedulers", e)
                     : 0;
}

/* ---- keys without effect ---- */

/* What keys are used for, given origin, handover and schedulers: the others get a warning. */
static uint64_t find_uses(const struct hetero_point *p)
{
    static const struct {
        const char *scheduler;
        uint64_t uses;
    } rows[] = { { "rl-lstm", FOR_RL },
                 { "rl-rnn", FOR_RL },
                 { "genetic", FOR_GENETIC },
                 { "anneal", FOR_ANNEAL },
                 { "bayes", FOR_BAYES } };
    uint64_t uses = p->setup.handover == HETERO_NETWORK ? FOR_NETWORK : FOR_OWN;
    uses |= p->origin == HETERO_DRAWN ? FOR_DRAW : p->origin == HETERO_MODEL ? FOR_MODEL : 0;
    for (int32_t i = 0; i < p->n_schedulers; i++) {
        const struct hetero_scheduler *x = &hetero_schedulers[p->schedulers[i]];
        size_t n = strcspn(x->name, "+"); /* a local search may follow */
        bool own_budget = strncmp(x->name, "bayes", n) == 0;
        uses |= x->seeded && !own_budget ? FOR_BUDGET : 0;
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
            if (strlen(rows[k].scheduler) == n && strncmp(x->name, rows[k].scheduler, n) == 0)
                uses |= rows[k].uses;
    }
    return uses;
}

static void hetero_note_unused(struct hetero_point *p, const struct section *s, yaml_id map)
{
    if (map >= 0)
        schema_note_unused(&p->notes, s, &p->doc, map, p->own_source, p->uses);
}

/* ---- what is asked for ---- */

/* An absolute throughput, or a share of what is reachable. */
static int read_throughput(struct hetero_point *p, struct err *e)
{
    struct hetero_throughput *x = &p->throughput;
    yaml_id map = yaml_get(&p->doc, p->doc.root, "throughput"), of = yaml_get(&p->doc, map, "of");
    char place[400];
    int rc = 0;
    text_clear(&p->asked);
    text_printf(&p->asked, "%s: throughput",
                map < 0 ? p->doc.sources[p->doc.nodes[p->doc.root].source]
                        : yaml_place(&p->doc, map, place, sizeof place));
    if (!isnan(x->per_s) && !isnan(x->share))
        rc = yaml_fail(&p->doc, map, e, ERR_PARSE, "has both per_s and share; give one of them");
    if (!rc && !isnan(x->per_s) && of >= 0)
        rc = yaml_fail_key(&p->doc, of, e, ERR_PARSE, "is given with per_s; use it with share");
    if (!rc && isnan(x->per_s) && isnan(x->share))
        x->share = 0.5;
    return rc ? rc : text_check(&p->asked, e);
}

/* ---- types of resources: prices, limits, shares that units divide ---- */

static int copy_name(char out[HETERO_NAME], const struct hetero_point *p, yaml_id map, const char *name,
                     struct err *e)
{
    yaml_id at = yaml_get(&p->doc, map, "name");
    if (strlen(name) >= HETERO_NAME)
        return yaml_fail(&p->doc, at, e, ERR_RANGE, "is %.60s.., expected at most %d bytes", name,
                         HETERO_NAME - 1);
    snprintf(out, HETERO_NAME, "%s", name);
    return 0;
}

/* Types are referred to by name everywhere in the study. */
static int find_type(int32_t *out, const struct hetero_type *types, int32_t n, const struct yaml_doc *doc,
                     yaml_id id, const char *name, struct err *e)
{
    const char *names[HETERO_MAX_TYPES];
    for (int32_t t = 0; t < n; t++)
        names[t] = types[t].name;
    return yaml_find_word(out, name, names, (size_t)n, doc, id, "one of the types:", e);
}

/* Types as read, before there is a profile to hold them. */
struct types {
    int32_t n;
    struct hetero_type of[HETERO_MAX_TYPES];
    struct written_type written[HETERO_MAX_TYPES];
};

/* A share that is given, or one from the ratio of a probe; one of them, exactly. */
static int read_share(double *share, struct hetero_point *p, yaml_id map, const char *name, double given,
                      const struct hetero_probe *probe, double ratio, struct err *e)
{
    char place[400];
    if (isnan(given) == isnan(ratio))
        return yaml_fail(&p->doc, map, e, ERR_PARSE,
                         "has %s for %s; give the share that units divide or a probe",
                         isnan(given) ? "nothing" : "both a share and a probe", name);
    *share = given;
    if (!isnan(given))
        return 0;
    *share = hetero_parallel_frac(1, ratio, probe->units);
    /* What no share can tell: units that are faster together than alone, or slower than one of them. */
    if (ratio < 1 / (double)probe->units || ratio > 1)
        text_printf(&p->notes,
                    "%s: a probe of %lld units with ratio %g for %s is beyond what a share can be, it is "
                    "taken as %g\n",
                    yaml_place(&p->doc, map, place, sizeof place), (long long)probe->units, ratio, name,
                    *share);
    return 0;
}

static int read_shares(struct hetero_type *t, struct hetero_point *p, const struct written_type *x,
                       struct err *e)
{
    int rc = read_share(&t->compute_par, p, x->map, "compute", x->type.compute_par, &x->probe,
                        x->probe.compute_ratio, e);
    return rc ? rc
              : read_share(&t->comm_par, p, x->map, "communication", x->type.comm_par, &x->probe,
                           x->probe.comm_ratio, e);
}

/* A host is a name that may come later in the list; find_host() settles it. */
static int read_type(struct types *all, struct hetero_point *p, yaml_id map, struct err *e)
{
    struct hetero_type *t = &all->of[all->n];
    struct written_type *x = &all->written[all->n];
    int rc = schema_read(x, &hetero_type_section, &p->doc, map, e);
    x->map = map;
    if (!rc)
        rc = copy_name(x->type.name, p, map, x->name, e);
    for (int32_t k = 0; k < all->n && !rc; k++)
        if (strcmp(all->of[k].name, x->type.name) == 0)
            rc = yaml_fail(&p->doc, yaml_get(&p->doc, map, "name"), e, ERR_PARSE,
                           "is %s, the name of a type before it; choose another", x->type.name);
    if (!rc && (x->host != NULL) != (x->type.host_units > 0))
        rc = yaml_fail(&p->doc, map, e, ERR_PARSE, "has %s; give both host and host_units, or neither",
                       x->host ? "host alone" : "host_units alone");
    if (rc)
        return rc;
    *t = x->type;
    t->port_usd_per_h = 0;
    t->host = -1;
    t->host_units = x->host ? x->type.host_units : 0;
    t->mem_B = isnan(x->type.mem_B) ? 0 : x->type.mem_B;
    return read_shares(t, p, x, e);
}

/* Once all names are known. */
static int find_host(struct types *all, const struct hetero_point *p, int32_t i, struct err *e)
{
    const char *host = all->written[i].host;
    yaml_id at = yaml_get(&p->doc, all->written[i].map, "host");
    if (!host)
        return 0;
    int rc = find_type(&all->of[i].host, all->of, all->n, &p->doc, at, host, e);
    if (!rc && all->of[i].host == i)
        rc = yaml_fail(&p->doc, at, e, ERR_RANGE, "is %s itself; choose another type", host);
    /* What a host's host costs would not be counted. */
    if (!rc && all->written[all->of[i].host].host)
        rc = yaml_fail(&p->doc, at, e, ERR_RANGE,
                       "is %s, which has a host itself, expected a type without one", host);
    return rc;
}

/* All types first, then their hosts. */
static int read_types(struct types *all, struct hetero_point *p, struct err *e)
{
    all->n = 0;
    int rc = yaml_need_list(&p->doc, p->at.types, HETERO_MAX_TYPES, "types", e);
    if (rc)
        return rc;
    yaml_each (map, &p->doc, p->at.types) {
        rc = read_type(all, p, map, e);
        if (rc)
            return rc;
        hetero_note_unused(p, &hetero_type_section, map);
        all->n++;
    }
    for (int32_t i = 0; i < all->n && !rc; i++)
        rc = find_host(all, p, i, e);
    return rc;
}

/* ---- the profile: drawn, measured layer by layer, or of a model on NPUs ---- */

/* Who finds fault with a profile does not know where it is written. */
static int wrap(const struct hetero_point *p, int rc, struct err *e)
{
    char place[400];
    yaml_id at = p->at.layers >= 0 ? p->at.layers : p->at.model;
    return rc ? err_wrap(e, "%s", yaml_place(&p->doc, at, place, sizeof place)) : 0;
}

static int draw_profile(struct hetero_point *p, struct err *e)
{
    struct hetero_draw d = { .model = (enum hetero_model)p->drawn,
                             .batch = isnan(p->batch) ? DRAWN_BATCH : p->batch };
    int rc = schema_read_or(&d, &hetero_draw_section, &p->doc, p->at.draw, e);
    if (!rc)
        rc = wrap(p, hetero_draw_profile(&p->profile, &d, e), e);
    for (int32_t t = 0; t < HETERO_MAX_TYPES; t++)
        p->dims[t] = -1;
    return rc;
}

/* A map of type: milliseconds that has every type; @p cells: the layer's row, shape [n_types], seconds. */
static int read_times(double *cells, const struct hetero_point *p, yaml_id map, struct err *e)
{
    const struct hetero_profile *f = &p->profile;
    int rc = yaml_need(&p->doc, map, YAML_MAP, e);
    if (rc)
        return rc;
    yaml_each (id, &p->doc, map) {
        int32_t t = 0;
        double ms = 0;
        rc = find_type(&t, f->types, f->n_types, &p->doc, id, p->doc.nodes[id].key, e);
        if (!rc)
            rc = yaml_real(&p->doc, id, &ms, e);
        if (!rc && !(ms >= 0 && ms <= 1e12))
            rc = yaml_fail(&p->doc, id, e, ERR_RANGE, "is %g ms, expected 0 to 1e12", ms);
        if (rc)
            return rc;
        cells[t] = ms * 1e-3;
    }
    for (int32_t t = 0; t < f->n_types; t++)
        if (yaml_get(&p->doc, map, f->types[t].name) < 0)
            return yaml_fail(&p->doc, map, e, ERR_PARSE, "has no time for type %s; give one for each type",
                             f->types[t].name);
    return 0;
}

/* Times per type, in maps by the types' names. */
static int read_layer(struct hetero_point *p, int32_t i, yaml_id map, struct err *e)
{
    struct hetero_layer *l = &p->profile.layers[i];
    size_t at = (size_t)i * (size_t)p->profile.n_types;
    const struct {
        const char *key;
        double *cells;
    } times[] = { { "compute_ms", p->profile.compute_s + at },
                  { "comm_ms", p->profile.sync_s + at },
                  { "handover_ms", p->profile.handover_s + at } };
    yaml_id name = yaml_get(&p->doc, map, "name");
    int rc = schema_read(l, &hetero_layer_section, &p->doc, map, e);
    if (rc)
        return rc;
    hetero_note_unused(p, &hetero_layer_section, map);
    snprintf(l->name, sizeof l->name, "layer%d", (int)i + 1);
    if (name >= 0)
        rc = copy_name(l->name, p, map, p->doc.nodes[name].text, e);
    for (size_t k = 0; k < sizeof times / sizeof *times && !rc; k++) {
        yaml_id ms = yaml_get(&p->doc, map, times[k].key);
        if (ms >= 0)
            rc = read_times(times[k].cells, p, ms, e);
    }
    return rc;
}

/* A measured profile. */
static int read_layers(struct hetero_point *p, const struct types *types, struct err *e)
{
    int rc = yaml_need_list(&p->doc, p->at.layers, HETERO_MAX_LAYERS, "layers", e);
    if (!rc)
        rc = hetero_profile_build(&p->profile, p->doc.nodes[p->at.layers].n, types->n, e);
    if (rc)
        return rc;
    memcpy(p->profile.types, types->of, (size_t)types->n * sizeof *types->of);
    p->profile.batch = p->batch;
    snprintf(p->profile.name, sizeof p->profile.name, "%.47s", p->name ? p->name : "layers");
    int32_t i = 0;
    yaml_each (map, &p->doc, p->at.layers)
        if (!rc)
            rc = read_layer(p, i++, map, e);
    return rc;
}

static int hetero_read_npu(struct topo_npu *npu, const struct types *types, int32_t i,
                           const struct hetero_point *p, struct err *e)
{
    const struct written_type *x = &types->written[i];
    if (x->npu < 0 || isnan(x->net_Bps))
        return yaml_fail(&p->doc, types->written[i].map, e, ERR_PARSE,
                         "has no %s; give npu and net_GBps for a model of a file",
                         x->npu < 0 ? "npu" : "net_GBps");
    int rc = topo_read_npu(npu, &p->doc, x->npu, e);
    if (!rc && !(npu->peak_flops > 0 && npu->mem_Bps > 0))
        rc = yaml_fail_key(&p->doc, x->npu, e, ERR_PARSE,
                           "has no %s; give peak_TFLOPS and mem_GBps for a model of a file",
                           npu->peak_flops > 0 ? "mem_GBps" : "peak_TFLOPS");
    return rc;
}

/* A profile from a model file: every type is then an NPU with a network. */
static int derive_profile(struct hetero_point *p, struct types *types, struct err *e)
{
    struct model m;
    struct topo_npu npus[HETERO_MAX_TYPES];
    double net_Bps[HETERO_MAX_TYPES];
    int rc = model_read(&m, &p->doc, p->at.model, e);
    for (int32_t t = 0; t < types->n && !rc; t++) {
        net_Bps[t] = types->written[t].net_Bps;
        rc = hetero_read_npu(&npus[t], types, t, p, e);
        if (!rc && isnan(types->written[t].type.mem_B) && npus[t].mem_B > 0)
            types->of[t].mem_B = npus[t].mem_B;
    }
    if (rc)
        return rc;
    rc = hetero_profile_of_model(&p->profile, &m, p->batch, types->n, types->of, npus, net_Bps, e);
    return wrap(p, rc, e);
}

/* Of profiles with types of their own. */
static int read_given(struct hetero_point *p, struct err *e)
{
    struct types types;
    if (p->at.types < 0)
        return yaml_fail(&p->doc, p->doc.root, e, ERR_PARSE, "has no types, the types of resources");
    if (isnan(p->batch))
        return yaml_fail(&p->doc, p->doc.root, e, ERR_PARSE,
                         "has no batch, the examples that the times of the profile are for");
    int rc = read_types(&types, p, e);
    if (!rc)
        rc = p->origin == HETERO_MEASURED ? read_layers(p, &types, e) : derive_profile(p, &types, e);
    for (int32_t t = 0; t < types.n && !rc; t++)
        p->dims[t] = types.written[t].dim ? yaml_get(&p->doc, types.written[t].map, "dim") : -1;
    return rc;
}

static int read_profile(struct hetero_point *p, struct err *e)
{
    int rc = p->origin == HETERO_DRAWN ? draw_profile(p, e) : read_given(p, e);
    return rc ? rc : wrap(p, hetero_profile_check(&p->profile, e), e);
}

/* ---- what hands data from type to type: dimensions of a described network ---- */

/* The dimension of each type: the one it names, else the outermost. */
static int find_dims(int32_t *dims, const struct hetero_point *p, const struct topo_network *net,
                     struct err *e)
{
    for (int32_t t = 0; t < p->profile.n_types; t++) {
        yaml_id at = p->dims[t];
        dims[t] = at < 0 ? net->n_dims - 1 : topo_find_dim(net, p->doc.nodes[at].text);
        if (dims[t] < 0)
            return yaml_fail(&p->doc, at, e, ERR_PARSE, "is %.60s, expected a dimension of the network",
                             p->doc.nodes[at].text);
    }
    return 0;
}

/* Traffic of two types passes the outer one of their dimensions; a unit takes what its own port lets it. */
static int fill_links(struct hetero_point *p, const struct topo_network *net, struct err *e)
{
    int32_t dims[HETERO_MAX_TYPES], n = p->profile.n_types;
    int rc = find_dims(dims, p, net, e);
    for (int32_t a = 0; a < n && !rc; a++)
        for (int32_t b = 0; b < n && !rc; b++) {
            const struct topo_dim *d = &net->dims[dims[a] > dims[b] ? dims[a] : dims[b]];
            double nic_Bps = p->profile.types[a].nic_Bps;
            if (isnan(d->bw_Bps))
                rc = yaml_fail(&p->doc, p->at.network, e, ERR_RANGE,
                               "has no bandwidth in dimension %s, which joins types; give bw_GBps", d->name);
            p->links[(size_t)a * (size_t)n + (size_t)b] =
                (struct hetero_link){ .lat_s = d->lat_s, .Bps = fmin(d->bw_Bps * d->efficiency, nic_Bps) };
        }
    return rc;
}

static int read_links(struct hetero_point *p, struct err *e)
{
    struct topo_network net;
    size_t n = (size_t)p->profile.n_types;
    if (p->setup.handover != HETERO_NETWORK)
        return 0;
    int rc = topo_read_network(&net, &p->doc, p->at.network, e);
    if (rc)
        return rc;
    p->links = calloc(n * n, sizeof *p->links);
    p->setup.links = p->links;
    return p->links ? fill_links(p, &net, e) : err_nomem(e, "links between types");
}

/* ---- what ports cost ---- */

/* What an NPU's part of the parts of dimension @p d costs an hour to own. */
static double dim_usd_per_h(const struct topo_bill *b, int32_t d, double n_npus, const struct own_system *own)
{
    double usd_per_h = 0;
    for (int32_t i = 0; i < b->n_lines; i++) {
        const struct topo_bill_line *line = &b->lines[i];
        const struct own_item item = system_network_item(line->item, 1, line->usd.typ, line->watt, own);
        struct own_cost cost;
        if (line->dim != d || line->in_server)
            continue;
        own_sum(&cost, &item, 1, &own->terms);
        usd_per_h += own_usd_npu_h(&cost, n_npus, &own->terms);
    }
    return usd_per_h;
}

static bool is_on_list(const char *word, const char *const *list)
{
    while (*list && strcmp(*list, word) != 0)
        list++;
    return *list != NULL;
}

/* Units are rented, the network is owned: of `system` the terms and the network's keys count. */
static int read_owning(struct own_system *own, struct hetero_point *p, struct err *e)
{
    static const char *const used[] = { "source",
                                        "network_life_years",
                                        "network_idle",
                                        "residual",
                                        "capital_rate",
                                        "support",
                                        "energy_usd_kWh",
                                        "pue",
                                        "load",
                                        "building_usd_W",
                                        "building_life_years",
                                        "rent_usd_kW_month",
                                        "sold",
                                        NULL };
    char place[400];
    if (p->at.system < 0) {
        schema_defaults(own, &own_system_section);
        return 0;
    }
    if (p->at.parts < 0)
        return yaml_fail_key(&p->doc, p->at.system, e, ERR_PARSE,
                             "says what owning the network costs; give parts");
    int rc = own_read(own, &p->doc, p->at.system, e);
    if (rc)
        return rc;
    yaml_each (id, &p->doc, p->at.system)
        if (!is_on_list(p->doc.nodes[id].key, used))
            text_printf(&p->notes, "%s: %s has no effect on a network whose units are rented\n",
                        yaml_place(&p->doc, id, place, sizeof place), p->doc.nodes[id].key);
    return 0;
}

/* A unit pays the ports of its own dimension and of all outside of it, through which others reach it. */
static void add_ports(struct hetero_point *p, const struct topo_bill *b, const int32_t *dims,
                      const struct topo_network *net, const struct own_system *own)
{
    for (int32_t t = 0; t < p->profile.n_types; t++)
        for (int32_t d = dims[t]; d < net->n_dims; d++)
            p->profile.types[t].port_usd_per_h += dim_usd_per_h(b, d, (double)net->n_npus, own);
    if (b->n_watt_unknown)
        text_printf(&p->notes, "parts: the power of %d of %d lines of the network's bill is not known\n",
                    (int)b->n_watt_unknown, (int)b->n_lines);
}

static int read_ports(struct hetero_point *p, struct err *e)
{
    struct own_system own;
    struct design_point asked;
    struct topo_bill bill = { 0 };
    struct ports_share share;
    double bw_Bps[TOPO_MAX_DIMS];
    int32_t dims[HETERO_MAX_TYPES];
    int rc = read_owning(&own, p, e);
    if (rc || p->at.parts < 0)
        return rc;
    if (p->setup.handover != HETERO_NETWORK)
        return yaml_fail_key(
            &p->doc, p->at.parts, e, ERR_PARSE,
            "prices the network between types, of which handover takes no notice; give network");
    rc = ports_ask(&asked, &p->doc, p->own_source, e);
    if (rc)
        return rc;
    topo_get_bandwidths(bw_Bps, &asked.net);
    rc = find_dims(dims, p, &asked.net, e);
    if (!rc)
        rc = ports_price(&share, &bill, &asked, bw_Bps, e);
    if (!rc)
        add_ports(p, &bill, dims, &asked.net, &own);
    p->priced = !rc;
    topo_bill_free(&bill);
    design_point_free(&asked);
    return rc;
}

/* ---- a point ---- */

/* Number of the drawn model that a word names, -1: none. */
static int32_t find_drawn(const struct hetero_point *p)
{
    const char *word = p->at.model < 0 ? NULL : p->doc.nodes[p->at.model].text;
    for (int32_t m = 0; m < N_HETERO_MODELS && word; m++)
        if (strcmp(hetero_model_words[m], word) == 0)
            return m;
    return -1;
}

/* Where the profile comes from, and what a study may not have together. */
static int find_origin(struct hetero_point *p, struct err *e)
{
    char shown[YAML_SHOWN];
    if ((p->at.model >= 0) == (p->at.layers >= 0))
        return yaml_fail(&p->doc, p->doc.root, e, ERR_PARSE, "has %s; give one of model and layers",
                         p->at.model >= 0 ? "both" : "neither");
    p->drawn = find_drawn(p);
    p->origin = p->at.layers >= 0 ? HETERO_MEASURED : p->drawn >= 0 ? HETERO_DRAWN : HETERO_MODEL;
    if (p->origin == HETERO_MODEL && p->doc.nodes[p->at.model].kind != YAML_MAP) {
        const char *text = p->doc.nodes[p->at.model].text;
        const char *near = text ? text_nearest(text, hetero_model_words, N_HETERO_MODELS) : NULL;
        return yaml_fail(&p->doc, p->at.model, e, ERR_PARSE,
                         "is %s, expected ctrdnn, matchnet, 2emb or nce%s%s%s, or a model: a map, or a file "
                         "with a dot or slash in its name",
                         yaml_show(&p->doc, p->at.model, shown), near ? "; did you mean " : "",
                         near ? near : "", near ? "?" : "");
    }
    if (p->origin == HETERO_DRAWN && p->at.types >= 0)
        return yaml_fail_key(&p->doc, p->at.types, e, ERR_PARSE,
                             "is given for a drawn model, which has types of its own; give draw.types");
    return 0;
}

static int find_server(struct hetero_point *p, struct err *e)
{
    yaml_id map = yaml_get(&p->doc, p->doc.root, "servers"), type = yaml_get(&p->doc, map, "type");
    p->setup.server = -1;
    if (map < 0)
        return 0;
    return find_type(&p->setup.server, p->profile.types, p->profile.n_types, &p->doc, type,
                     p->doc.nodes[type].text, e);
}

static int find_handover(struct hetero_point *p, struct err *e)
{
    p->setup.handover = p->handover >= 0     ? (enum hetero_handover)p->handover
                        : p->at.network >= 0 ? HETERO_NETWORK
                                             : HETERO_PER_LAYER;
    if (p->setup.handover != HETERO_NETWORK || p->at.network >= 0)
        return 0;
    return yaml_fail(&p->doc, yaml_get(&p->doc, p->doc.root, "handover"), e, ERR_PARSE,
                     "is network; give a network");
}

static int hetero_read_keys(struct hetero_point *p, struct err *e)
{
    int rc = schema_read(p, &hetero_section, &p->doc, p->doc.root, e);
    if (rc)
        return rc;
    if ((rc = find_origin(p, e)) || (rc = find_handover(p, e)) || (rc = read_schedulers(p, e)))
        return rc;
    p->uses = find_uses(p);
    hetero_note_unused(p, &hetero_section, p->doc.root);
    if ((rc = read_profile(p, e)) || (rc = read_links(p, e)) || (rc = read_ports(p, e)) ||
        (rc = find_server(p, e)) || (rc = read_throughput(p, e)))
        return rc;
    return text_check(&p->notes, e);
}

int hetero_point_read(void *point, const struct study_source *from, struct err *e)
{
    struct hetero_point *p = point;
    *p = (struct hetero_point){ .doc = { .root = -1 } };
    int rc = source_read(&p->doc, &p->own_source, from, e);
    if (!rc)
        rc = hetero_read_keys(p, e);
    if (rc)
        hetero_point_free(p);
    return rc;
}

void hetero_point_close(struct hetero_point *p)
{
    yaml_free(&p->doc);
}

void hetero_point_free(void *point)
{
    struct hetero_point *p = point;
    hetero_free(&p->problem);
    hetero_profile_free(&p->profile);
    free(p->links);
    text_free(&p->asked);
    text_free(&p->notes);
    yaml_free(&p->doc);
    *p = (struct hetero_point){ .doc = { .root = -1 } };
}

/* ---- the throughput to reach ---- */

/* What the fastest plan on one GPU type reaches with all GPUs there are. */
static int reach_gpu_only(double *per_s, const struct hetero_point *p, struct hetero_problem *problem,
                          struct err *e)
{
    struct hetero_search s = { 0 };
    int32_t which = 0;
    while (which < n_hetero_schedulers && strcmp(hetero_schedulers[which].name, "gpu-only") != 0)
        which++;
    assert(which < n_hetero_schedulers);
    /* No plan reaches infinity; each says what it reaches instead. */
    hetero_set_throughput(problem, INFINITY);
    int rc = hetero_schedule(&s, problem, which, &p->settings, 0, e);
    *per_s = rc ? (double)NAN : s.value.reach_per_s;
    hetero_search_free(&s);
    return rc ? err_wrap(e, "%s", text_str(&p->asked)) : 0;
}

/* Shares are of the largest throughput of all plans, or of those on one GPU type. */
int hetero_point_aim(struct hetero_aim *aim, const struct hetero_point *p, struct hetero_problem *problem,
                     struct err *e)
{
    const struct hetero_throughput *x = &p->throughput;
    int rc = hetero_reach(&aim->most_per_s, NULL, problem, e);
    double whole_per_s = aim->most_per_s;
    if (!rc && isnan(x->per_s) && x->of == HETERO_OF_GPU_ONLY)
        rc = reach_gpu_only(&whole_per_s, p, problem, e);
    if (rc)
        return rc;
    aim->per_s = isnan(x->per_s) ? x->share * whole_per_s : x->per_s;
    if (!(isfinite(aim->per_s) && aim->per_s > 0))
        return err_set(e, ERR_RANGE, "%s: is a share of %g examples/s; give per_s", text_str(&p->asked),
                       whole_per_s);
    hetero_set_throughput(problem, aim->per_s);
    return 0;
}

int hetero_point_unreachable(const struct hetero_point *p, const struct hetero_aim *aim, struct err *e)
{
    bool limited = false;
    for (int32_t t = 0; t < p->profile.n_types; t++)
        limited = limited || p->profile.types[t].max_units < HETERO_MAX_UNITS;
    return err_set(e, ERR_NO_DESIGN, "%s: is %.6g examples/s, a plan reaches at most %.6g examples/s%s",
                   text_str(&p->asked), aim->per_s, aim->most_per_s,
                   limited ? ", limits that stages share not counted" : "");
}

/* ---- the kind: what the engine asks of it ---- */

/* ---- points ---- */

static int hetero_kind_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    const struct hetero_point *p = first;
    s->seed = p->seed;
    s->seeds = p->seeds;
    text_printf(&s->name, "%.*s", TOPO_NAME - 1, p->name ? p->name : "");
    s->hash = sweep_hash(&s->sweep, yaml_hash(&p->doc, p->doc.root));
    return sweep_check_seeds(&s->sweep, s->seeds, doc, e);
}

/* Does a scheduler prove what the oracle cannot? Then that need not be done twice. */
static bool lists_exact(const struct hetero_point *p)
{
    for (int32_t i = 0; i < p->n_schedulers; i++)
        if (hetero_schedulers[p->schedulers[i]].run == hetero_labels_run)
            return true;
    return false;
}

/* What every plan of the point is measured by. */
static int find_oracle(struct hetero_oracle *o, const struct hetero_point *p, struct err *e)
{
    bool exact = p->setup.provisioning == HETERO_EXACT && !lists_exact(p);
    *o = (struct hetero_oracle){ 0 };
    return exact ? hetero_exact(o, &p->problem, e) : hetero_oracle(o, &p->problem, e);
}

/* Where limits that stages share leave no plan, the schedulers still say how near they come. */
static int check_reach(const struct hetero_point *p, struct err *e)
{
    struct hetero_oracle o;
    if (!(p->aim.per_s > p->aim.most_per_s))
        return 0;
    int rc = find_oracle(&o, p, e);
    bool none = o.proof == HETERO_NO_PLAN;
    hetero_oracle_free(&o);
    return rc || !none ? rc : hetero_point_unreachable(p, &p->aim, e);
}

/* What all runs of a point share: tables of the problem and the throughput to reach. */
static int hetero_kind_prepare(void *point, void *shared, const struct study *study, struct err *e)
{
    (void)study;
    struct hetero_point *p = point;
    struct hetero_shared *s = shared;
    hetero_point_close(p);
    s->head.notes = text_str(&p->notes);
    s->model = p->profile.name;
    s->types = p->profile.n_types;
    s->layers = p->profile.n_layers;
    s->listed = p->listed;
    int rc = hetero_build(&p->problem, &p->profile, &p->setup, e);
    if (!rc)
        rc = hetero_point_aim(&p->aim, p, &p->problem, e);
    s->need_per_s = p->aim.per_s > 0 ? p->aim.per_s : (double)NAN;
    s->most_per_s = p->aim.most_per_s > 0 ? p->aim.most_per_s : (double)NAN;
    return rc ? rc : check_reach(p, e);
}

static int32_t hetero_kind_entries(const void *point)
{
    return ((const struct hetero_point *)point)->n_schedulers + 1;
}

static bool hetero_kind_seeded(const void *point, int32_t entry)
{
    const struct hetero_point *p = point;
    return entry < p->n_schedulers && hetero_schedulers[p->schedulers[entry]].seeded;
}

static const char *const fact_names[] = { "types", "layers", NULL };

static void hetero_kind_facts(double *x, const void *point)
{
    const struct hetero_point *p = point;
    x[0] = p->profile.n_types;
    x[1] = p->profile.n_layers;
}

/* ---- runs ---- */

/* The oracle is an entry of its own behind the schedulers: it runs once per point, and rows compare with it.
 */
static int run_oracle(const struct hetero_point *p, struct sink *sink, int32_t entry, struct err *e)
{
    struct hetero_result out;
    struct hetero_oracle o;
    int rc = find_oracle(&o, p, e);
    row_clear(&out, hetero_kind.result);
    out.head = (struct study_result){ .rc = 0 };
    out.proof = o.proof;
    out.usd = o.usd;
    out.lower_usd = o.lower_usd;
    if (!rc)
        sink_result(sink, entry, &out);
    hetero_oracle_free(&o);
    return rc;
}

/* What a search leaves behind. */
static struct hetero_result result_of(const struct hetero_search *s, int32_t scheduler, bool priced)
{
    struct hetero_result x;
    row_clear(&x, hetero_kind.result);
    x.head = (struct study_result){ .rc = 0 };
    x.scheduler = scheduler;
    x.status = s->value.status;
    x.proof = s->proof;
    x.usd = s->value.usd;
    x.per_s = s->value.per_s;
    x.usd_per_h = s->value.usd_per_h;
    x.reach_per_s = s->value.reach_per_s;
    x.lower_usd = s->lower_usd;
    x.evaluations = s->evaluations;
    if (s->value.status != HETERO_OK)
        return x;
    x.stages = s->work.n_stages;
    if (priced)
        x.network_usd_per_h = hetero_study_network_usd_per_h(s);
    x.units = 0;
    for (int32_t t = 0; t < s->problem->profile->n_types; t++)
        x.units += s->work.of_type[t];
    return x;
}

/* One scheduler with one seed. Its failure is a row; the machine's, or an interrupt, ends the study. */
static int hetero_kind_run(const struct study_run *r, struct sink *sink, struct err *e)
{
    const struct hetero_point *p = r->point;
    if (r->entry == p->n_schedulers)
        return run_oracle(p, sink, r->entry, e);
    const int32_t scheduler = p->schedulers[r->entry];
    struct hetero_result out;
    struct hetero_search s = { 0 };
    double start_s = clock_now_s();
    int rc = hetero_schedule(&s, &p->problem, scheduler, &p->settings, (uint64_t)r->seed, e);
    double schedule_s = clock_now_s() - start_s;
    if (err_is_of_machine(rc)) {
        hetero_search_free(&s);
        return rc;
    }
    if (!rc) {
        out = result_of(&s, scheduler, p->priced);
    } else {
        row_clear(&out, hetero_kind.result);
        out.head = (struct study_result){ .rc = -rc, .message = e->msg };
        out.scheduler = scheduler;
    }
    out.schedule_s = schedule_s;
    hetero_study_put_run(sink, r, &out);
    if (!rc)
        hetero_study_put_details(sink, r, &s);
    sink_result(sink, r->entry, &out);
    hetero_search_free(&s);
    return 0;
}

/* ---- rows ---- */

static const char *const result_columns[] = { "status", NULL };

static bool hetero_kind_is_result(const struct table *rows, int64_t row, const int32_t *cols)
{
    const char *status = table_text(rows, row, cols[0]);
    return strcmp(status, "done") == 0 || strcmp(status, "partly") == 0;
}

static const char *const own_keys[] = { "draw",    "layers",   "types",        "batch",       "throughput",
                                        "overlap", "handover", "provisioning", "evaluations", "rl",
                                        "genetic", "anneal",   "bayes",        NULL };
static const char *const fixed_axes[] = { "seed", "seeds", NULL };
static const char *const front[] = { "usd", "plans_tried", NULL };
static const char *const work[] = { "model", "draw", "layers", "throughput", NULL };

const struct study_kind hetero_kind = {
    .word = "hetero",
    .what = "layers of a model on types of resources",
    .keys = &hetero_section,
    .own_keys = own_keys,
    .fixed_axes = fixed_axes,
    .tables = hetero_tables,
    .n_tables = N_HETERO_TABLES,
    .open = hetero_kind_open,
    .point_size = sizeof(struct hetero_point),
    .read = hetero_point_read,
    .free = hetero_point_free,
    .fact_names = fact_names,
    .facts = hetero_kind_facts,
    .shared = hetero_shared_columns,
    .result = hetero_result_columns,
    .shared_size = sizeof(struct hetero_shared),
    .result_size = sizeof(struct hetero_result),
    .prepare = hetero_kind_prepare,
    .n_entries = hetero_kind_entries,
    .seeded = hetero_kind_seeded,
    .run = hetero_kind_run,
    .reduce = hetero_study_reduce,
    .notes = NOTES_COMMON,
    .is_result = hetero_kind_is_result,
    .result_columns = result_columns,
    .label = "scheduler",
    .front = front,
    .work = work,
    .say = hetero_study_say,
    .conclude = hetero_study_conclude,
    .fail_alone = hetero_study_fail_alone,
    .list = hetero_study_list,
    .notes_first = true,
};
