/*
 * From the document of a study, whatever kinds of files it names, to a design point: network, prices,
 * workloads, objective and constraints, checked. Keys without effect are noted, not refused.
 */
#include "kinds/design/ask/load.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/lp.h"
#include "base/sheet.h"
#include "base/linexpr.h"
#include "kinds/design/ask/system.h"
#include "study/study.h"
#include "topo/uses.h"
#include "workloads/ideal.h"
#include "workloads/step.h"

/* Largest values that mean anything: a million million dollars, a year of one step. */
#define MAX_USD    1e12
#define MAX_WATT   1e12
#define MAX_TIME_S 3.2e7

enum { PRICING_DEFAULT = -1 /**< not given */ };

static const struct key design_keys[] = {
    K_TEXT(struct design_point, name, "name", "what reports call the study"),
    K_REMARK("source", "where the study comes from"),
    K_NODE(struct design_point, maps.network, "network",
           "a network file, a word like \"ring:4 switch:8@25\" or a map", .required = true,
           .form = "file or text or <network>"),
    K_NODE(struct design_point, maps.parts, "parts",
           "prices: a parts file or a map (default: those of the network)", .uses = USE_COST,
           .form = "file or <parts>"),
    K_NODE(struct design_point, maps.system, "system",
           "the whole machine: what it costs to own, and what fails, see system", .uses = USE_TIME,
           .form = "<system>"),
    K_NODE(struct design_point, maps.workload, "workload", "the workload: a file or a map", .uses = USE_TIME,
           .form = "file or <workload>"),
    K_NODE(struct design_point, maps.workloads, "workloads",
           "instead of workload: a list of files or of maps, see workloads[]", .uses = USE_TIME,
           .form = "list of (file or <workloads[]>)"),
    K_WORD_OR(struct design_point, combine, "combine", design_combine_names, DESIGN_SUM,
              "several workloads: weighted sum of times, or the least worst ratio to each one's own best "
              "(default: sum)",
              .uses = USE_SPLIT),
    K_WORD_OR(struct design_point, objective, "objective", alloc_objective_names, ALLOC_USUAL,
              "what the split optimises (default: time)", .uses = USE_SPLIT),
    K_WORD_OR(struct design_point, split, "split", design_split_names, DESIGN_SOLVE,
              "weft sweep: solve the split of each point, or take the bandwidths of its network as given and "
              "check the constraints, for grids over bandwidths (default: solve)"),
    K_WORD_OR(struct design_point, pricing, "pricing", design_pricing_names, PRICING_DEFAULT,
              "prices of a catalogue: whole = bandwidths that ports give, at the price of what is bought; "
              "fraction = "
              "any bandwidth, by the GB/s, a lower bound (default: whole)",
              .uses = USE_CATALOGUE),
    K_WORD_OR(struct design_point, model, "model", sim_model_words, SIM_BANDWIDTH,
              "how a collective is timed: bytes over bandwidth, with latency and chunks, or simulated "
              "(default: bandwidth)",
              .uses = USE_TIME),
    K_NODE(struct design_point, maps.simulation, "simulation",
           "how collectives are counted and run, see simulation", .uses = USE_TIME, .form = "<simulation>"),
    K_REAL(struct design_point, total_Bps, "total_GBps", "GB/s", 1e9, TOPO_MIN_BW_GBps,
           TOPO_MAX_DIMS *TOPO_MAX_BW_GBps, SCHEMA_NONE,
           "sum of one NPU's bandwidths over all dimensions; in whole parts, which seldom add up to it, at "
           "most that "
           "and less by less than a port",
           .decimals = 9, .uses = USE_SPLIT),
    K_REAL(struct design_point, time_limit_s, "time_limit_s", "s", 1, 1e-12, MAX_TIME_S, SCHEMA_NONE,
           "objective cost: longest training step; of several workloads, their weighted sum",
           .uses = USE_SPLIT),
    K_BOOL(struct design_point, count_npus, "count_npus", SCHEMA_NONE,
           "true: cost includes the NPUs (default: false)", .uses = USE_COST),
    K_NODE(struct design_point, maps.constraints, "constraints",
           "list of linear constraints in GB/s over names of dimensions, total, usd, nic_usd, watt, and with "
           "system "
           "site_MW and usd_year: \"pod <= 50\"",
           .uses = USE_SPLIT, .form = "list of texts"),
    K_NODE(struct design_point, maps.budget, "budget", "limits for weft check, see budget",
           .form = "<budget>"),
    K_ELSEWHERE(
        "vary",
        "axes for the sweep command: KEY: [values], KEY: { from, to, ... }, zip, sobol, union; see vary",
        .form = "<vary> or list of <vary>"),
    K_ELSEWHERE("where",
                "list of linear constraints over keys that vary and n_npus, n_dims, size1..size8: "
                "points of a sweep that do not satisfy all are left out",
                .form = "list of texts"),
    K_ELSEWHERE("keep", "which rows weft sweep stores, see keep (default: all)", .form = "<keep>"),
    K_ELSEWHERE("uncertain", "weft sweep: prices, traffic and other uncertain numbers, see uncertain",
                .form = "<uncertain>"),
    K_COUNT(struct design_point, seed, "seed", 0, 9e18, 1, "seed of random draws (default: 1)"),
    K_COUNT(struct design_point, price_days, "price_days", 0, 1e6, 365,
            "prices of older sources are warned of, once a run", .uses = USE_COST),
};

/* A member of `workloads`. */
struct load_mix {
    yaml_id workload;
    double weight;
};

static const struct key mix_keys[] = {
    K_NODE(struct load_mix, workload, "workload", "a workload file or a map", .required = true,
           .form = "file or <workload>"),
    K_REAL(struct load_mix, weight, "weight", "", 1, 1e-9, 1e9, 1,
           "its time counts so many times in the sum"),
};

#define LIMIT(key, field, units, to_SI, most, text)                                                          \
    K_REAL(struct design_budget, field, key, units, to_SI, 0, most, SCHEMA_NONE, text)

static const struct key budget_keys[] = {
    LIMIT("nic_GBps", nic_Bps, "GB/s", 1e9, TOPO_MAX_DIMS *TOPO_MAX_BW_GBps, "most NIC bandwidth of one NPU"),
    K_COUNT(struct design_budget, nics, "nics", 0, 1e15, SCHEMA_NONE, "most NICs in the cluster"),
    LIMIT("usd", usd, "USD", 1, MAX_USD,
          "most that the network may cost, with the NPUs where they are counted"),
    LIMIT("watt", watt, "W", 1, MAX_WATT, "most power of the network, with the NPUs where they are counted"),
    LIMIT("time_s", time_s, "s", 1, MAX_TIME_S,
          "longest training step; of several workloads, their weighted sum"),
    LIMIT("site_MW", site_W, "MW", 1e6, MAX_WATT / 1e6,
          "most power of the whole machine at the meter: nameplate of system times its pue"),
    K_COUNT_OR(struct design_budget, racks, "racks", 0, 1e9, -1,
               "most racks of the whole machine, those of switches included, with system"),
    LIMIT("usd_year", usd_year, "USD", 1, MAX_USD, "most that owning system may cost a year"),
    LIMIT("usd_per_Mtoken", usd_per_Mtoken, "USD", 1, MAX_USD,
          "most that a million tokens may cost, with system"),
};

K_SECTION(design_section, struct design_point, "study", design_keys, "what to design, for what, and how well",
          STUDY_USES);
K_SECTION(design_mix_section, struct load_mix, "workloads[]", mix_keys, "one workload of several",
          STUDY_USES);
K_SECTION(design_budget_section, struct design_budget, "budget", budget_keys,
          "limits that weft check compares a design with", STUDY_USES);

/* ---- network and prices ---- */

/* Its file is read once for all values of its classes. What is wrong is told at the class, or at the file's
 * name. */
static int open_graph(struct design_point *s, struct err *e)
{
    struct text path = { 0 };
    struct err inner = { 0 };
    yaml_id graph = s->net.graph, classes = yaml_get(&s->doc, s->maps.network, "classes");
    int32_t at;
    if (s->ideal && ideal_again(s->ideal, &s->net))
        return 0;
    ideal_free(s->ideal);
    s->ideal = NULL;
    yaml_beside(&path, &s->doc, graph);
    int rc = text_check(&path, e);
    if (!rc && ideal_open(&s->ideal, &s->net, text_str(&path), &at, &inner)) {
        rc = inner.code;
        if (at >= 0 && classes >= 0)
            yaml_each (id, &s->doc, classes)
                graph = s->doc.nodes[id].index == at ? yaml_get(&s->doc, id, "name") : graph;
        rc = at >= 0 ? yaml_fail(&s->doc, graph, e, rc, "%s", inner.msg)
                     : yaml_fail_key(&s->doc, graph, e, rc, "%s", inner.msg);
    }
    text_free(&path);
    return rc;
}

int design_point_open_graph(struct topo_graph **out, const struct design_point *s, struct err *e)
{
    struct text path = { 0 };
    double times[TOPO_MAX_DIMS];
    yaml_beside(&path, &s->doc, s->net.graph);
    int rc = text_check(&path, e);
    if (!rc)
        rc = topo_read_graph(out, text_str(&path), e);
    text_free(&path);
    if (rc)
        return rc;
    times[0] = s->net.dims[0].bw_Bps / s->net.wires->kinds[0].file_Bps; /* of a file without classes */
    for (int32_t c = 0; c < topo_graph_classes(*out); c++) {
        int32_t d = topo_find_dim(&s->net, topo_graph_class(*out, c));
        times[c] = s->net.dims[d].bw_Bps / s->net.wires->kinds[d].file_Bps;
    }
    return topo_graph_scale(*out, times, e);
}

static int read_graph(struct design_point *s, struct err *e)
{
    const char *name;
    if (s->model != SIM_BANDWIDTH)
        return yaml_fail_key(
            &s->doc, s->net.graph, e, ERR_UNSUP,
            "is timed by model bandwidth alone, over any paths; give it to simulation.graph for "
            "flows");
    if (s->maps.simulation >= 0)
        return yaml_fail_key(&s->doc, s->maps.simulation, e, ERR_UNSUP,
                             "has no effect on a network with a graph, expected none");
    int rc = yaml_text(&s->doc, s->net.graph, &name, e);
    return rc ? rc : open_graph(s, e);
}

/* Does anything bound what a split may give the classes of a graph? */
static bool is_split_limited(const struct design_point *s)
{
    bool limited = !isnan(s->total_Bps) || s->maps.constraints >= 0 || !alloc_is_time(s->objective);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        limited = limited || s->net.dims[d].min_Bps > 0 || isfinite(s->net.dims[d].max_Bps);
    return limited;
}

/* Where nobody is to choose bandwidths, classes without one have the file's. */
static void take_file_bandwidths(struct design_point *s)
{
    for (int32_t d = 0; d < s->net.n_dims && s->at_file; d++)
        if (isnan(s->net.dims[d].bw_Bps))
            s->net.dims[d].bw_Bps = s->net.wires->kinds[d].file_Bps;
}

/* `simulation` writes into the network that was read just before it: algorithms, and how parts of a dimension
 * count. */
int design_point_read_network(struct design_point *s, struct err *e)
{
    sim_rules_free(&s->rules);
    int rc = topo_read_wired(&s->net, &s->doc, s->maps.network, e);
    if (!rc && s->net.graph >= 0)
        rc = read_graph(s, e);
    if (!rc)
        take_file_bandwidths(s);
    sim_rules_default(&s->rules);
    if (!rc && s->maps.simulation >= 0)
        rc = sim_rules_read(&s->rules, &s->net, &s->doc, s->maps.simulation, e);
    s->rules.seed = (uint64_t)s->seed;
    return rc;
}

/* Where the price is missing. */
static int fail_price(const struct design_point *s, struct err *e)
{
    for (int32_t d = 0; d < s->net.n_dims && !s->ideal; d = topo_after_entry(s->net.dims, d)) {
        struct topo_network one = s->net;
        struct topo_dim_price prices[TOPO_MAX_DIMS];
        struct err ignored;
        one.n_dims = topo_after_entry(s->net.dims, d) - d;
        memcpy(one.dims, &s->net.dims[d], (size_t)one.n_dims * sizeof *one.dims);
        if (topo_prices(prices, &one, &s->parts, &ignored))
            return design_point_fail_dim(s, d, e);
    }
    return design_point_fail_dim(s, -1, e);
}

/* What a graph that prices itself has in place of parts. */
static void take_graph_prices(struct design_point *s)
{
    s->parts.name = s->doc.nodes[s->net.graph].text;
    s->parts.source = s->parts.name;
    s->parts.date = "";
    s->parts.grade = GRADE_RECALLED;
    s->parts.nic_port_Bps = NAN;
}

static yaml_id parts_node(const struct design_point *s)
{
    return s->maps.parts >= 0 ? s->maps.parts : s->net.parts;
}

/* Without parts, by the graph's own: usd of its edges in proportion to bandwidth, a tier for each class. */
int design_point_price_network(struct design_point *s, struct err *e)
{
    if (!s->has_parts)
        return 0;
    if (parts_node(s) < 0) {
        s->net.wires->own_prices = true;
        for (int32_t d = 0; d < s->net.n_dims; d++)
            memcpy(s->net.dims[d].tier, s->net.dims[d].name, sizeof s->net.dims[d].tier);
    }
    topo_take_products(&s->net, &s->parts);
    return topo_prices(s->prices, &s->net, &s->parts, e) ? fail_price(s, e) : 0;
}

int design_point_read_parts(struct design_point *s, struct err *e)
{
    topo_parts_free(&s->parts);
    yaml_id parts = parts_node(s);
    bool of_graph = parts < 0 && s->net.wires && topo_wires_priced(s->net.wires);
    if (parts < 0 && !of_graph)
        return 0;
    int rc = of_graph ? 0 : topo_read_parts(&s->parts, &s->doc, parts, e);
    if (of_graph)
        take_graph_prices(s);
    s->has_parts = !rc;
    return rc ? rc : design_point_price_network(s, e);
}

/* A default that depends on the parts. */
static int settle_pricing(struct design_point *s, struct err *e)
{
    bool catalogue = s->has_parts && topo_is_catalogue(&s->parts);
    if ((int32_t)s->pricing == DESIGN_WHOLE && !catalogue)
        return yaml_fail(&s->doc, yaml_get(&s->doc, s->doc.root, "pricing"), e, ERR_RANGE,
                         "is whole; give parts with a catalogue, for rates have no whole parts");
    if ((int32_t)s->pricing == PRICING_DEFAULT)
        s->pricing = catalogue ? DESIGN_WHOLE : DESIGN_FRACTION;
    return 0;
}

/* "is 30, expected what ports give": the nearest below and above. */
static int fail_port(const struct design_point *s, int32_t d, double step_Bps, struct err *e)
{
    const struct topo_dim *dim = &s->net.dims[d];
    yaml_id dims = yaml_get(&s->doc, yaml_get(&s->doc, s->doc.root, "network"), "dims"), at = -1;
    double below = floor(dim->bw_Bps / step_Bps) * step_Bps / 1e9;
    int32_t entry = 0, index = 0;
    char lower[32] = "";
    for (int32_t k = 0; k < d - dim->level; k = topo_after_entry(s->net.dims, k))
        entry++;
    if (dims >= 0)
        yaml_each (id, &s->doc, dims)
            if (index++ == entry)
                at = yaml_get(&s->doc, id, "bw_GBps");
    if (at < 0)
        at = yaml_get(&s->doc, s->doc.root, "network");
    if (below > 0)
        snprintf(lower, sizeof lower, "%.6g or ", below);
    return yaml_fail(
        &s->doc, at, e, ERR_RANGE,
        "gives \"%s\" %.9g GB/s, expected what whole ports of tier \"%s\" give, %s%.6g; or give pricing: "
        "fraction",
        dim->name, dim->bw_Bps / 1e9, dim->tier, lower, below + step_Bps / 1e9);
}

/* Bandwidths that are fixed beside others that are chosen: do ports give them? Where all are given, what they
 * cost is what carries them. */
static int check_ports(const struct design_point *s, unsigned needs, struct err *e)
{
    if (s->pricing != DESIGN_WHOLE || !(needs & DESIGN_FOR_SPLIT) || s->split == DESIGN_GIVEN ||
        topo_has_bandwidths(&s->net))
        return 0;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        double step_Bps = topo_port_step_Bps(&s->net, d, &s->parts), n = s->net.dims[d].bw_Bps / step_Bps;
        if (isnan(step_Bps))
            return yaml_fail(
                &s->doc, yaml_get(&s->doc, s->doc.root, "network"), e, ERR_RANGE,
                "leaves the bandwidth of \"%s\" free, expected a fixed one: what ports give a %s is not "
                "known; or give pricing: fraction",
                s->net.dims[d].name, topo_shape_name(s->net.dims[d].shape));
        if (step_Bps > 0 && isfinite(n) && fabs(n - round(n)) > 1e-9 * n)
            return fail_port(s, d, step_Bps, e);
    }
    return 0;
}

/* ---- workloads ---- */

static int reserve_workloads(struct design_point *s, int32_t n, struct err *e)
{
    s->workloads = calloc((size_t)n, sizeof *s->workloads);
    return s->workloads ? 0 : err_nomem(e, "workloads");
}

/* Of a model that is searched a placeholder takes the place of the step, until a plan is chosen. */
static int read_workload(struct design_workload *w, const struct design_point *s, yaml_id node, struct err *e)
{
    if (yaml_get(&s->doc, node, "model") < 0)
        return step_read(&w->tree, &s->doc, node, &s->net, e);
    w->training = malloc(sizeof *w->training);
    if (!w->training)
        return err_nomem(e, "a workload");
    int rc = step_read_training(w->training, &s->doc, node, &s->net, e);
    if (!rc && s->ideal && w->training->search >= 0)
        return yaml_fail_key(&s->doc, w->training->search, e, ERR_UNSUP,
                             "is given on a network with a graph, expected a plan");
    if (rc || w->training->search < 0)
        return rc ? rc : training_build(&w->tree, w->training, &s->net, e);
    step_begin(&w->tree, w->training->name, &s->net);
    w->tree.uses_npu = true;
    step_add(&w->tree, -1, (struct step_node){ .kind = STEP_SUM, .phase = STEP_OTHER, .times = 1 });
    return step_check(&w->tree, e);
}

/* Compiled at once, with algorithms for the bandwidths that are known. */
static int add_workload(struct design_point *s, yaml_id node, double weight, struct err *e)
{
    struct design_workload *w = &s->workloads[s->n_workloads];
    int rc = read_workload(w, s, node, e);
    if (rc) {
        free(w->training);
        w->training = NULL;
        return rc;
    }
    if (w->tree.notes.n)
        text_puts(&s->notes, text_str(&w->tree.notes));
    w->weight = weight;
    s->n_workloads++;
    /* On a graph an answer finds the cuts that steps are compiled with. */
    return s->ideal ? 0 : design_point_compile(w, s, NULL, e);
}

/* Several workloads with weights. */
static int read_mix(struct design_point *s, yaml_id list, struct err *e)
{
    int rc = yaml_need_list(&s->doc, list, INT32_MAX, "one workload", e);
    if (rc)
        return rc;
    rc = reserve_workloads(s, s->doc.nodes[list].n, e);
    yaml_each (id, &s->doc, list) {
        struct load_mix mix = { .weight = 1 };
        if (!rc)
            rc = schema_read(&mix, &design_mix_section, &s->doc, id, e);
        if (!rc)
            rc = add_workload(s, mix.workload, mix.weight, e);
    }
    return rc;
}

static int read_workloads(struct design_point *s, struct err *e)
{
    if (s->maps.workload >= 0 && s->maps.workloads >= 0)
        return yaml_fail_key(&s->doc, s->maps.workloads, e, ERR_PARSE,
                             "is given together with workload; give one of them");
    if (s->maps.workloads >= 0)
        return read_mix(s, s->maps.workloads, e);
    if (s->maps.workload < 0)
        return 0;
    int rc = reserve_workloads(s, 1, e);
    return rc ? rc : add_workload(s, s->maps.workload, 1, e);
}

/* ---- what is asked ---- */

/* The first dimension, of those that add to the whole machine or of all, with a part whose power is not
 * known; -1: none. */
static int32_t find_dark(const struct design_point *s, bool whole)
{
    for (int32_t d = 0; d < s->net.n_dims; d++)
        if (!s->prices[d].watt_known && (!whole || system_adds(s, d)))
            return d;
    return -1;
}

/* Power and yearly cost of the whole machine must be known. */
static int need_for_factor(const struct design_point *s, yaml_id at, const char *name, struct err *e)
{
    int32_t dark = find_dark(s, true);
    bool watt = alloc_objectives[s->objective].factor == ALLOC_OWN_WATT;
    if (!watt && !s->has_system)
        return yaml_fail(&s->doc, at, e, ERR_RANGE, "is %s; give system", name);
    if (!watt && s->own.kept == 0)
        return yaml_fail(
            &s->doc, at, e, ERR_RANGE,
            "is %s, but nothing is kept: NPUs and servers alone stop the job each %.4g s, less than a "
            "checkpoint takes",
            name, 1 / s->own.stops_per_s);
    if (!watt && isnan(s->own.usd_per_Mtoken))
        return yaml_fail(&s->doc, at, e, ERR_RANGE, "is %s; give system.step_tokens, or models", name);
    if (watt && isnan(s->own.watt))
        return yaml_fail(&s->doc, at, e, ERR_RANGE, "is %s; give network.npu.watt, or system", name);
    if (watt && !topo_is_catalogue(&s->parts))
        return yaml_fail(&s->doc, at, e, ERR_RANGE,
                         "is %s, and rates do not say what parts draw; give a catalogue", name);
    if (watt && dark >= 0)
        return yaml_fail(&s->doc, at, e, ERR_RANGE,
                         "is %s; give the watt of part \"%s\", which dimension \"%s\" (tier \"%s\") uses",
                         name, s->prices[dark].dark, s->net.dims[dark].name, s->net.dims[dark].tier);
    return 0;
}

static int need_for_objective(const struct design_point *s, struct err *e)
{
    yaml_id at = yaml_get(&s->doc, s->doc.root, "objective");
    const char *name = alloc_objective_names[s->objective];
    if (alloc_needs_prices(s->objective) && !s->has_parts)
        return yaml_fail(&s->doc, at, e, ERR_RANGE, "is %s; give parts with prices%s", name,
                         s->ideal && !alloc_has_factor(s->objective) ? ", or usd in the graph" : "");
    if (alloc_is_limited(s->objective) && isnan(s->time_limit_s))
        return yaml_fail(&s->doc, at, e, ERR_RANGE, "is %s; give time_limit_s", name);
    if (s->combine == DESIGN_REGRET && !alloc_is_time(s->objective))
        return yaml_fail(&s->doc, yaml_get(&s->doc, s->doc.root, "combine"), e, ERR_RANGE,
                         "is regret with objective %s; give objective time", name);
    return alloc_has_factor(s->objective) ? need_for_factor(s, at, name, e) : 0;
}

static int check_asked(const struct design_point *s, struct err *e)
{
    if (s->count_npus && isnan(s->net.npu.usd))
        return yaml_fail(&s->doc, yaml_get(&s->doc, s->doc.root, "count_npus"), e, ERR_RANGE,
                         "is true; give network.npu.usd");
    return need_for_objective(s, e);
}

static int add_constraint(struct design_point *s, yaml_id id, const struct alloc_prices *prices,
                          struct err *e)
{
    const char *text;
    struct err inner = { 0 };
    int rc = yaml_text(&s->doc, id, &text, e);
    if (rc)
        return rc;
    rc = alloc_add_text(&s->rows, &s->net, prices, text, &inner);
    if (rc && !s->has_parts &&
        (strstr(inner.msg, "name \"usd\"") || strstr(inner.msg, "name \"nic_usd\"") ||
         strstr(inner.msg, "name \"watt\"")))
        return yaml_fail(&s->doc, id, e, ERR_RANGE, "speaks of what parts cost or draw; give parts");
    if (rc && (strstr(inner.msg, "name \"site_MW\"") || strstr(inner.msg, "name \"usd_year\"")))
        return yaml_fail(&s->doc, id, e, ERR_RANGE, "speaks of the whole machine; give %s",
                         s->has_parts ? "system" : "system and parts");
    if (!rc && s->rows.rows[s->rows.n - 1].spent_coef[ALLOC_NIC_USD] != 0 && !design_point_knows_nics(s))
        return yaml_fail(
            &s->doc, id, e, ERR_RANGE,
            "speaks of nic_usd, and parts have no price of NICs for any tier of the network; give "
            "nic_usd_per_GBps to the tiers that NPUs reach through one");
    return rc ? linexpr_fail(&s->doc, id, &inner, e) : 0;
}

/* What is said of power must be about parts whose power is known, or no less can be right: see judge_dark().
 */
static int check_watt(const struct design_point *s, yaml_id id, const struct alloc_row *row, struct err *e)
{
    bool whole = row->spent_coef[ALLOC_OWN_WATT] != 0 || row->spent_coef[ALLOC_OWN_USD] != 0;
    const char *what = row->spent_coef[ALLOC_OWN_USD] != 0    ? "usd_year"
                       : row->spent_coef[ALLOC_OWN_WATT] != 0 ? "site_MW"
                                                              : "watt";
    int32_t dark = find_dark(s, whole);
    if (whole && s->own.by_rack)
        return yaml_fail(
            &s->doc, id, e, ERR_RANGE,
            "speaks of %s, and racks are whole; give what is by the rack by the node, or a budget "
            "in place of the constraint",
            what);
    if (!topo_is_catalogue(&s->parts) && dark >= 0)
        return yaml_fail(&s->doc, id, e, ERR_RANGE,
                         "speaks of %s, and rates do not say what parts draw; give a catalogue", what);
    if (!whole && s->count_npus && isnan(s->net.npu.power_W))
        return yaml_fail(&s->doc, id, e, ERR_RANGE,
                         "speaks of watt with NPUs counted; give network.npu.watt");
    if (dark >= 0)
        return yaml_fail(
            &s->doc, id, e, ERR_RANGE,
            "speaks of %s, and what is known of it does not decide; give the watt of part \"%s\", "
            "which dimension \"%s\" (tier \"%s\") uses",
            what, s->prices[dark].dark, s->net.dims[dark].name, s->net.dims[dark].tier);
    return 0;
}

/* Does a row limit from above what has been counted short? Then it can be found broken all the same. */
static bool is_decided_by_less(const struct alloc_row *row)
{
    bool limits = row->sense != LINEXPR_EQ;
    for (int32_t j = ALLOC_WATT; j <= ALLOC_OWN_USD; j++)
        limits = limits && row->spent_coef[j] * (row->sense == LINEXPR_LE ? 1 : -1) >= 0;
    return limits;
}

/* Unknown power was counted as none. Rows that contradict each other even so are left for the split to say;
 * others would let through what they forbid. @p first: of the rows of `list`. */
static int judge_dark(const struct design_point *s, yaml_id list, int32_t first, struct err *e)
{
    struct lp lp;
    struct lp_result result = { 0 };
    bool least = true, clash = false;
    int rc = 0;
    for (int32_t i = first; i < s->rows.n; i++)
        least = least && is_decided_by_less(&s->rows.rows[i]);
    if (least) {
        lp_init(&lp, s->net.n_dims, s->rows.rows, s->rows.n);
        rc = lp_solve(&result, NULL, &lp, e);
        clash = result.status == LP_INFEASIBLE;
    }
    yaml_each (id, &s->doc, list) {
        const struct alloc_row *row = &s->rows.rows[first++];
        bool power = row->spent_coef[ALLOC_WATT] != 0 || row->spent_coef[ALLOC_OWN_WATT] != 0 ||
                     row->spent_coef[ALLOC_OWN_USD] != 0;
        if (!rc && power && !clash)
            rc = check_watt(s, id, row, e);
    }
    return rc;
}

/* What constraints may speak of, unknown power as none. */
static void price_rows(struct alloc_prices *prices, double rates[N_ALLOC_SPENT][TOPO_MAX_DIMS],
                       const struct design_point *s)
{
    const struct design_machine *own = &s->own;
    *prices = (struct alloc_prices){ .fixed = { design_point_fixed_usd(s) }, .site_MW_per_W = NAN };
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_dim_price *price = &s->prices[d];
        bool outside = system_adds(s, d);
        rates[ALLOC_USD][d] = price->usd_per_Bps;
        rates[ALLOC_NIC_USD][d] = price->nic_usd_per_Bps;
        rates[ALLOC_WATT][d] = price->watt_per_Bps;
        rates[ALLOC_OWN_WATT][d] = outside ? own->watt_per_watt * price->watt_per_Bps : 0;
        rates[ALLOC_OWN_USD][d] =
            outside ? own->usd_year_per_usd * price->usd_per_Bps + own->usd_year_per_W * price->watt_per_Bps
                    : 0;
    }
    for (int32_t j = ALLOC_USD; j <= ALLOC_WATT; j++)
        prices->rates[j] = rates[j];
    if (s->count_npus && isfinite(s->net.npu.power_W))
        prices->fixed[ALLOC_WATT] = (double)s->net.n_npus * s->net.npu.power_W;
    if (!s->has_system)
        return;
    prices->site_MW_per_W = s->system.terms.pue / 1e6;
    prices->rates[ALLOC_OWN_WATT] = rates[ALLOC_OWN_WATT];
    prices->rates[ALLOC_OWN_USD] = rates[ALLOC_OWN_USD];
    prices->fixed[ALLOC_OWN_WATT] = own->watt;
    prices->fixed[ALLOC_OWN_USD] = own->usd_year;
}

/* Rows over bandwidth and money; without prices the names of money are unknown there. */
static int read_constraints(struct design_point *s, yaml_id list, struct err *e)
{
    double rates[N_ALLOC_SPENT][TOPO_MAX_DIMS];
    struct alloc_prices prices;
    int32_t first = s->rows.n;
    price_rows(&prices, rates, s);
    char shown[YAML_SHOWN];
    if (s->doc.nodes[list].kind == YAML_SCALAR)
        return yaml_fail(&s->doc, list, e, ERR_PARSE, "is %s, expected a list, as in [ \"pod <= 20\" ]",
                         yaml_show(&s->doc, list, shown));
    int rc = yaml_need(&s->doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    yaml_each (id, &s->doc, list)
        if (!rc)
            rc = add_constraint(s, id, s->has_parts ? &prices : NULL, e);
    return rc || !s->has_parts ? rc : judge_dark(s, list, first, e);
}

/* The least by which one port more raises the total, of bandwidths that are to be chosen in whole parts; 0:
 * none is. Levels that are tied to the first of their entry move with it. */
static double least_step_Bps(const struct design_point *s)
{
    double least = INFINITY;
    if (s->pricing != DESIGN_WHOLE || s->split == DESIGN_GIVEN)
        return 0;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_dim *dim = &s->net.dims[d];
        double step_Bps = topo_port_step_Bps(&s->net, d, &s->parts), tied = step_Bps;
        for (int32_t k = 1; k < dim->n_levels && dim[k].tie > 0; k++) {
            tied *= dim[k].tie;
            step_Bps += topo_in_total(&dim[k]) ? tied : 0;
        }
        if (isnan(dim->bw_Bps) && topo_in_total(dim) && step_Bps > 0)
            least = fmin(least, step_Bps);
    }
    return isinf(least) ? 0 : least;
}

static int point_read_rows(struct design_point *s, unsigned needs, struct err *e)
{
    if (!(needs & DESIGN_FOR_SPLIT))
        return 0;
    int rc = alloc_add_network(&s->rows, &s->net, e);
    for (int32_t d = 0; d < s->net.n_dims && s->has_parts && !rc; d++) {
        double most_Bps = topo_nic_limit_Bps(&s->net, d, &s->parts);
        if (most_Bps == 0)
            return design_point_fail_dim(
                s, d,
                (err_set(e, ERR_RANGE,
                         "dimension \"%s\": its NICs have too few ports for the planes that each of "
                         "them serves, expected fewer planes, or more nics",
                         s->net.dims[d].name),
                 e));
        if (isfinite(most_Bps) && isnan(s->net.dims[d].bw_Bps))
            rc = alloc_add_nics(&s->rows, &s->net, d, most_Bps, e);
    }
    if (!rc && !isnan(s->total_Bps))
        rc = alloc_add_total(&s->rows, &s->net, s->total_Bps, least_step_Bps(s), e);
    if (!rc && s->maps.constraints >= 0)
        rc = read_constraints(s, s->maps.constraints, e);
    return rc;
}

/* ---- budget ---- */

/* A limit that nothing in the study can be held against is a mistake. */
static int check_budget(const struct design_point *s, struct err *e)
{
    static const struct {
        const char *key;
        bool priced, system;
    } limits[] = {
        { "nic_GBps", true, false }, { "nics", true, false },     { "usd", true, false },
        { "watt", true, false },     { "time_s", false, false },  { "site_MW", false, true },
        { "racks", false, true },    { "usd_year", false, true }, { "usd_per_Mtoken", false, true },
    };
    if (s->doc.nodes[s->budget.node].n == 0)
        return yaml_fail(&s->doc, s->budget.node, e, ERR_PARSE, "has no limit; give at least one");
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        yaml_id at = yaml_get(&s->doc, s->budget.node, limits[i].key);
        if (at >= 0 && limits[i].priced && !s->has_parts)
            return yaml_fail_key(&s->doc, at, e, ERR_RANGE, "limits what parts say; give parts");
        if (at >= 0 && limits[i].system && !s->has_system)
            return yaml_fail_key(&s->doc, at, e, ERR_RANGE, "limits what system says; give system");
        if (at >= 0 && !limits[i].priced && s->n_workloads == 0)
            return yaml_fail_key(&s->doc, at, e, ERR_RANGE, "limits %s; give workload or workloads",
                                 limits[i].system ? "a machine that trains" : "training time");
    }
    return 0;
}

static int read_budget(struct design_point *s, unsigned needs, struct err *e)
{
    schema_defaults(&s->budget, &design_budget_section);
    s->budget.node = s->maps.budget;
    if (s->maps.budget < 0)
        return 0;
    int rc = schema_read(&s->budget, &design_budget_section, &s->doc, s->maps.budget, e);
    if (!rc && (needs & DESIGN_FOR_BUDGET))
        rc = check_budget(s, e);
    return rc;
}

/* ---- what the command needs ---- */

static int fail_bandwidth(const struct design_point *s, struct err *e)
{
    yaml_id network = yaml_get(&s->doc, s->doc.root, "network");
    yaml_id dims = yaml_get(&s->doc, network, "dims");
    if (dims < 0)
        return yaml_fail(&s->doc, network, e, ERR_RANGE,
                         "is %.200s, expected a bandwidth for every dimension, such as ring:4@50",
                         s->doc.nodes[network].text);
    yaml_each (id, &s->doc, dims)
        if (yaml_get(&s->doc, id, "bw_GBps") < 0)
            return yaml_fail(&s->doc, id, e, ERR_RANGE,
                             "has no bw_GBps; give it, or let weft alloc choose it");
    return 0;
}

/* What a command needs beyond what the file must have. */
static int check_needs(const struct design_point *s, unsigned needs, struct err *e)
{
    if ((needs & DESIGN_NEEDS_WORKLOAD) && s->n_workloads == 0)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE,
                         "has no workload; give workload or workloads, or start from weft new");
    if ((needs & DESIGN_NEEDS_PARTS) && !s->has_parts)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE, "has no parts; give parts with prices");
    if ((needs & DESIGN_FOR_BUDGET) && s->maps.budget < 0)
        return yaml_fail(&s->doc, s->doc.root, e, ERR_PARSE,
                         "has no budget; give one, such as budget: { usd: 6e6 }");
    if (s->split == DESIGN_GIVEN && (needs & DESIGN_FOR_SPLIT))
        needs |= DESIGN_NEEDS_BANDWIDTH;
    if ((needs & DESIGN_NEEDS_BANDWIDTH) && !topo_has_bandwidths(&s->net))
        return fail_bandwidth(s, e);
    return 0;
}

/* ---- keys without effect ---- */

/* What is in play in this study for this command. */
static uint64_t active_uses(const struct design_point *s, unsigned needs)
{
    /* A command that asks for the network alone shows all that is known of it. */
    bool facts = !(needs & (DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT | DESIGN_FOR_BUDGET));
    uint64_t active = 0;
    if (s->n_workloads)
        active |= USE_TIME;
    if (facts || (s->n_workloads && s->model != SIM_BANDWIDTH))
        active |= USE_LATENCY | USE_ALGORITHM;
    if (facts || (s->n_workloads && s->model == SIM_CHUNK))
        active |= USE_CHUNK;
    if (facts || (s->n_workloads && s->model == SIM_FLOW))
        active |= USE_FLOW;
    if (s->has_parts)
        active |= USE_COST;
    if (s->has_parts && s->parts.n_recipes)
        active |= USE_CATALOGUE;
    bool npu = facts || isfinite(s->rules.stage.mem_Bps);
    for (int32_t i = 0; i < s->n_workloads; i++)
        npu = npu || s->workloads[i].tree.uses_npu;
    if (npu)
        active |= USE_COMPUTE;
    if (facts || s->count_npus || s->has_system || alloc_objectives[s->objective].factor == ALLOC_OWN_WATT)
        active |= USE_SYSTEM;
    if (facts || s->has_system)
        active |= USE_OWNERSHIP;
    if (needs & DESIGN_FOR_SPLIT)
        active |= USE_SPLIT;
    return active;
}

/* Keys without effect, section by section: a key that is read and ignored would be a silent wrong answer. */
static void note_sections(struct design_point *s, uint64_t active)
{
    const struct yaml_doc *doc = &s->doc;
    yaml_id network = yaml_get(doc, doc->root, "network");
    yaml_id simulation = yaml_get(doc, doc->root, "simulation");
    yaml_id dims = yaml_get(doc, network, "dims"), npu = yaml_get(doc, network, "npu");

    schema_note_unused(&s->notes, &design_section, doc, doc->root, s->own_source, active);
    if (doc->nodes[network].kind == YAML_MAP)
        schema_note_unused(&s->notes, &topo_network_section, doc, network, s->own_source, active);
    if (simulation >= 0)
        schema_note_unused(&s->notes, &sim_rules_section, doc, simulation, s->own_source, active);
    if (npu >= 0)
        schema_note_unused(&s->notes, &topo_npu_section, doc, npu, s->own_source, active);
    int32_t d = 0;
    if (dims >= 0)
        yaml_each (id, doc, dims) {
            /* How a fabric carries out a collective decides what its links carry, in any model. */
            uint64_t fabric = topo_is_fabric(&s->net.dims[d]) && active & USE_TIME ? USE_ALGORITHM : 0;
            schema_note_unused(&s->notes, &topo_dim_section, doc, id, s->own_source, active | fabric);
            d = topo_after_entry(s->net.dims, d);
        }
}

/* "file:line:col: KEY has no effect WHY" for a key of map `map`, where it is written. */
static void note_line(struct design_point *s, yaml_id map, const char *key, const char *before,
                      const char *why)
{
    char place[400], path[256];
    yaml_id id = yaml_get(&s->doc, map, key);
    if (id < 0)
        return;
    text_printf(&s->notes, "%s: %s has no effect %s%s\n", yaml_key_place(&s->doc, id, place, sizeof place),
                yaml_path(&s->doc, id, path, sizeof path), before, why);
}

static void note_key(struct design_point *s, yaml_id map, const char *key, const char *why)
{
    note_line(s, map, key, "here, ", why);
}

/* The same of keys that the study itself, or --set, gives: a file that is shared may say more than one study
 * needs. */
static void note_own_key(struct design_point *s, yaml_id map, const char *key, const char *why)
{
    yaml_id id = yaml_get(&s->doc, map, key);
    int32_t from = id < 0 ? -1 : s->doc.nodes[id].key_source;
    if (id >= 0 && (from == s->own_source || strncmp(s->doc.sources[from], "--set ", 6) == 0))
        note_key(s, map, key, why);
}

/* Weights that change nothing. */
static void note_weights(struct design_point *s)
{
    yaml_id list = yaml_get(&s->doc, s->doc.root, "workloads");
    if (list < 0)
        return;
    int32_t i = 0;
    yaml_each (id, &s->doc, list) {
        double weight = s->workloads[i++].weight;
        if (s->n_workloads == 1 && weight != 1 && !alloc_is_limited(s->objective))
            note_line(s, id, "weight", "on the split, ",
                      "which is the same for a single workload at any weight");
        if (s->n_workloads > 1 && s->combine == DESIGN_REGRET && weight != 1)
            note_line(s, id, "weight", "on the split, ",
                      "since regret compares each workload with its own best time");
    }
}

/* Do the first @p n rows alone leave no bandwidths that break the next one? */
static bool is_idle_row(const struct design_point *s, int32_t n)
{
    const struct alloc_row *row = &s->rows.rows[n];
    struct lp lp;
    struct lp_result result;
    struct err ignored;
    lp_init(&lp, s->net.n_dims, s->rows.rows, n);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        lp.cost[d] = row->sense == LINEXPR_LE ? -row->coef[d] : row->coef[d];
    bool found = lp_solve(&result, NULL, &lp, &ignored) == 0 && result.status == LP_OPTIMAL;
    return found && (row->sense == LINEXPR_LE ? -result.value <= row->rhs
                                              : row->sense == LINEXPR_GE && result.value >= row->rhs);
}

/* Of one design; where something varies, another may break it. Whole parts cost more than these rows know. */
static void note_constraints(struct design_point *s)
{
    const yaml_id list = s->maps.constraints;
    char place[400];
    if (list < 0 || yaml_get(&s->doc, s->doc.root, "vary") >= 0 || s->pricing == DESIGN_WHOLE)
        return;
    int32_t n = s->rows.n - s->doc.nodes[list].n;
    yaml_each (id, &s->doc, list)
        if (is_idle_row(s, n++))
            text_printf(&s->notes, "%s: constraint \"%s\" has no effect, no bandwidths break it\n",
                        yaml_place(&s->doc, id, place, sizeof place), s->doc.nodes[id].text);
}

static void note_split(struct design_point *s)
{
    yaml_id root = s->doc.root;
    if (s->n_workloads == 1)
        note_key(s, root, "combine", "there is one workload");
    if (!alloc_is_limited(s->objective))
        note_key(s, root, "time_limit_s", "it is used only with objective cost");
    if (topo_has_bandwidths(&s->net)) {
        note_key(s, root, "objective", "every dimension has its bw_GBps");
    }
    note_weights(s);
    note_constraints(s);
}

/* What is assumed of an NPU that is not described further is the best there could be. */
static void note_npu(struct design_point *s)
{
    yaml_id npu = yaml_get(&s->doc, yaml_get(&s->doc, s->doc.root, "network"), "npu");
    char place[400];
    bool trains = false;
    for (int32_t i = 0; i < s->n_workloads; i++)
        trains = trains || s->workloads[i].training;
    if (!trains || npu < 0)
        return;
    yaml_key_place(&s->doc, npu, place, sizeof place);
    if (yaml_get(&s->doc, npu, "matrix_efficiency") < 0 && yaml_get(&s->doc, npu, "matrix_sizes") < 0)
        text_printf(&s->notes,
                    "%s: network.npu has no matrix_efficiency, its products are timed at the peak\n", place);
    if (isnan(s->net.npu.mem_B))
        text_printf(&s->notes, "%s: network.npu has no mem_GB, every plan is taken to fit\n", place);
}

/* Kernels of attention whose rates the NPU's file does not have. */
static void note_kernels(struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct training *x = s->workloads[i].training;
        struct topo_npu_attention row;
        if (!x || !plan_is_fused(&x->plan, &x->model))
            continue;
        enum topo_kernel kernel = x->plan.kernel >= PLAN_FA1 ? (enum topo_kernel)(x->plan.kernel - PLAN_FA1)
                                  : s->net.npu.n_kernels     ? s->net.npu.kernels[0].kernel
                                                             : N_TOPO_KERNELS;
        bool found = kernel < N_TOPO_KERNELS && topo_npu_find_kernel(&row, &s->net.npu, kernel);
        if (x->plan.kernel >= PLAN_FA1 && !found)
            text_printf(&s->notes,
                        "%s: network.npu.attention_kernels has no rates of %s, its attention is timed by "
                        "flash_efficiency\n",
                        x->name, topo_kernel_words[kernel]);
        if (x->plan.attention_fp8 && !(found && row.fp8_forward > 1))
            text_printf(&s->notes,
                        "%s: attention_precision has no effect, the NPU's kernel has no fp8_forward\n",
                        x->name);
    }
}

/* Largest groups of a dimension, by collective as its passes see them: inside the last dimension of a group
 * an all-reduce is a reduce-scatter and an all-gather. */
static void find_groups(int32_t largest[TOPO_MAX_DIMS][N_COLLECTIVES], const struct step_tree *t)
{
    for (int32_t i = 0; i < t->n_nodes; i++) {
        const struct step_node *node = &t->nodes[i];
        int32_t last = -1;
        if (node->kind != STEP_COLLECTIVE || !(node->bytes > 0))
            continue;
        const int32_t *members = t->groups[node->group].members;
        for (int32_t d = 0; d < t->n_dims; d++)
            last = members[d] > 1 ? d : last;
        for (int32_t d = 0; d < t->n_dims; d++) {
            bool inner = node->collective == COLLECTIVE_ALL_REDUCE && d < last;
            enum collective_kind kinds[] = { inner ? COLLECTIVE_REDUCE_SCATTER : node->collective,
                                             inner ? COLLECTIVE_ALL_GATHER : node->collective };
            for (int k = 0; k < 2 && members[d] > 1; k++)
                if (members[d] > largest[d][kinds[k]])
                    largest[d][kinds[k]] = members[d];
        }
    }
}

/* What the curves of a dimension do not hold is left to its constants, and groups beyond those measured to
 * the largest of them. */
void design_point_note_curves(struct text *notes, const struct design_point *s, bool searched)
{
    int32_t largest[TOPO_MAX_DIMS][N_COLLECTIVES] = { { 0 } };
    yaml_id dims = yaml_get(&s->doc, yaml_get(&s->doc, s->doc.root, "network"), "dims");
    char place[400];
    int32_t d = 0;
    if (s->model == SIM_BANDWIDTH || dims < 0)
        return;
    for (int32_t i = 0; i < s->n_workloads; i++)
        if (design_point_is_searched(&s->workloads[i]) == searched)
            find_groups(largest, &s->workloads[i].tree);
    yaml_each (id, &s->doc, dims) {
        const struct topo_dim *dim = &s->net.dims[d];
        int32_t n_left = 0;
        if (dim->n_curves)
            yaml_key_place(&s->doc, yaml_get(&s->doc, id, "curves"), place, sizeof place);
        for (int k = 0; k < N_COLLECTIVES && dim->n_curves; k++) {
            int32_t row = collective_find_curve(dim, (enum collective_kind)k, largest[d][k]);
            int32_t measured = row < 0 ? 0 : dim->curves[row].members;
            if (measured && largest[d][k] > measured)
                text_printf(notes, "%s: %s has no curve of %s among %d, that among %d stands for it\n", place,
                            dim->name, collective_names[k], (int)largest[d][k], (int)measured);
        }
        for (int k = 0; k < N_COLLECTIVES && dim->n_curves; k++)
            if (largest[d][k] && collective_find_curve(dim, (enum collective_kind)k, 2) < 0) {
                if (n_left == 0)
                    text_printf(notes, "%s: %s has no curve of ", place, dim->name);
                text_printf(notes, "%s%s", n_left++ ? ", " : "", collective_names[k]);
            }
        text_puts(notes, n_left ? "; its latency_ns and efficiency stand for that\n" : "");
        d = topo_after_entry(s->net.dims, d);
    }
}

/* Flows that are hashed choose among links up: of a tree whose members are all below one leaf none is in use.
 */
static void note_hash(struct design_point *s)
{
    for (int32_t d = 0; d < s->net.n_dims; d = topo_after_entry(s->net.dims, d)) {
        const struct topo_dim *dim = &s->net.dims[d];
        if (dim->fabric.balance == TOPO_HASH && topo_rails(dim) == 1 &&
            topo_group_size(dim) <= topo_tree_places(dim, 0))
            text_printf(&s->notes,
                        "dimension \"%s\": load_balance: hash has no effect, one leaf joins all members\n",
                        dim->name);
    }
}

/* Networks of which there are numbers and no graph, and those whose loads are not all counted. */
static void note_graph(struct design_point *s)
{
    if (s->net.wires && s->net.wires->no_kinds)
        text_printf(&s->notes, "%s: " TOPO_NO_KINDS "\n", s->doc.nodes[s->net.graph].text,
                    (long long)s->net.n_npus);
    for (int32_t d = 0; d < s->net.n_dims; d = topo_after_entry(s->net.dims, d)) {
        const struct topo_dim *dim = &s->net.dims[d];
        const struct shape_ops *ops = topo_ops(dim);
        struct err no_graph = { 0 }, bound = { 0 };
        if (ops->check_graph && ops->check_graph(dim, &no_graph))
            text_printf(&s->notes, "dimension \"%s\": %s\n", dim->name, no_graph.msg);
        if (s->n_workloads && ops->check_loads && ops->check_loads(dim, &bound))
            text_printf(&s->notes, "dimension \"%s\": %s\n", dim->name, bound.msg);
    }
}

/* Keys of a recipe that nothing built by it uses; of files that studies share they say nothing. */
static void note_recipe(struct design_point *s, const struct topo_recipe *r, yaml_id row)
{
    static const char *const boxed[] = { "switch", "up_link", "up_m" };
    bool used = false, boxes = false, rails = false, spread = false;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_dim *dim = &s->net.dims[d];
        if (strcmp(dim->tier, r->tier) != 0)
            continue;
        used = true;
        rails = rails || dim->shape == TOPO_SWITCH;
        spread = spread || dim->shape == TOPO_SWITCH || dim->shape == TOPO_FAT_TREE ||
                 dim->shape == TOPO_HAMMINGMESH;
        boxes = boxes || spread || topo_link_ports(dim) > 0 || dim->fabric.ocs;
    }
    for (size_t i = 0; i < sizeof boxed / sizeof boxed[0] && used && !boxes; i++)
        note_own_key(s, row, boxed[i], "no dimension of its tier has switches");
    if (used && boxes && !rails && r->rails > 1)
        note_own_key(s, row, "rails",
                     "no dimension of its tier has shape switch, which alone is dealt out to rails");
    if (used && boxes && !spread)
        note_own_key(s, row, "even_spread", "no dimension of its tier is a Clos");
}

static void note_recipes(struct design_point *s)
{
    yaml_id network = yaml_get(&s->doc, s->doc.root, "network"),
            list = yaml_get(&s->doc, yaml_get(&s->doc, network, "parts"), "build");
    int32_t i = 0;
    if (!s->has_parts || s->parts.n_recipes == 0 || list < 0)
        return;
    yaml_each (row, &s->doc, list)
        note_recipe(s, &s->parts.recipes[i++], row);
}

/* Nodes of several kinds, of which one bandwidth is known. */
static void note_nics(struct design_point *s)
{
    for (int32_t d = 0; d < s->net.n_dims; d++)
        if (topo_nic_surplus(&s->net.dims[d]) > 1)
            text_printf(
                &s->notes,
                "dimension \"%s\": nodes differ in NICs; its bandwidth, and so every time, is that of the "
                "nodes with fewest, whom all wait for\n",
                s->net.dims[d].name);
}

/* Links of a class that carry more than others when all exchange: all times take the busiest. */
static void note_uneven(struct design_point *s)
{
    enum { WORTH_SAYING = 1 }; /* in percent */
    struct collective_uniform u;
    if (!topo_has_fabric(&s->net))
        return;
    collective_find_uniform(&u, &s->net);
    double more = 100 * (u.uneven - 1);
    char percent[SHOW];
    if (u.uneven_dim >= 0 && more >= WORTH_SAYING)
        text_printf(
            &s->notes,
            "dimension \"%s\": its links are loaded unevenly, the busiest %s %% above their mean when "
            "all exchange; times are those of the busiest\n",
            s->net.dims[u.uneven_dim].name, show_real(percent, more, 3));
}

/* Is anything drawn by the study's seed? Flows find equal ways by it, and so do the draws of `uncertain` that
 * has no seed of its own. */
static bool draws_by_seed(const struct design_point *s)
{
    yaml_id uncertain = yaml_get(&s->doc, s->doc.root, "uncertain");
    return (s->model == SIM_FLOW &&
            (s->rules.route == SIM_ROUTE_ECMP || s->rules.route == SIM_ROUTE_DETOUR)) ||
           (uncertain >= 0 && yaml_get(&s->doc, uncertain, "seed") < 0);
}

/* All notes of a study in one place; they are warnings, never errors. */
static int note_all(struct design_point *s, unsigned needs, struct err *e)
{
    yaml_id root = s->doc.root;
    note_sections(s, active_uses(s, needs));
    note_npu(s);
    note_kernels(s);
    design_point_note_curves(&s->notes, s, false);
    note_graph(s);
    note_hash(s);
    if (needs & DESIGN_NEEDS_WORKLOAD)
        note_recipes(s);
    note_nics(s);
    if (s->n_workloads)
        note_uneven(s);
    if (needs & DESIGN_FOR_SPLIT)
        note_split(s);
    else if (s->split == DESIGN_SOLVE) /* bandwidths as given are what every other command takes */
        note_key(s, root, "split", "it is used only where an allocator chooses bandwidths");
    if (s->n_workloads && s->model == SIM_FLOW && s->rules.order != SIM_ORDER_GIVEN &&
        s->rules.order != SIM_ORDER_FIXED)
        note_key(s, yaml_get(&s->doc, root, "simulation"), "order", "model flow has only fixed and given");
    if (s->n_workloads && s->rules.semantics == SIM_LIBRA && s->model != SIM_BANDWIDTH)
        note_key(s, yaml_get(&s->doc, root, "simulation"), "semantics", "libra is of model bandwidth");
    if (s->n_workloads && sim_is_astra(&s->rules) && s->model != SIM_CHUNK)
        note_key(s, yaml_get(&s->doc, root, "simulation"), "semantics", "it is of model chunk");
    if (!draws_by_seed(s))
        note_key(s, root, "seed", "nothing in it is drawn at random");
    if (yaml_get(&s->doc, root, "vary") < 0)
        note_key(s, root, "where", "nothing varies");
    return text_check(&s->notes, e);
}

/* ---- all of it ---- */

/* The study's own keys; its maps are read after them. */
static int design_point_read_values(struct design_point *s, struct err *e)
{
    int rc = study_say_kind(NULL, &s->doc, schema_read(s, &design_section, &s->doc, s->doc.root, e), e);
    s->name = s->name ? s->name : "";
    return rc;
}

/* In the order in which one part needs another: network, parts, workloads, rows, budget. */
static int read_document(struct design_point *s, unsigned needs, struct err *e)
{
    int rc = design_point_read_values(s, e);
    if (rc)
        return rc;
    if ((rc = design_point_read_network(s, e)))
        return rc;
    bool given = (needs & DESIGN_NEEDS_BANDWIDTH) || ((needs & DESIGN_FOR_SPLIT) && s->split == DESIGN_GIVEN);
    s->at_file = s->ideal && (given || !is_split_limited(s));
    take_file_bandwidths(s);
    if ((rc = design_point_read_parts(s, e)) || (rc = settle_pricing(s, e)) ||
        (rc = check_ports(s, needs, e)) || (rc = read_workloads(s, e)) || (rc = system_read(s, e)) ||
        (rc = check_asked(s, e)) || (rc = point_read_rows(s, needs, e)) || (rc = check_needs(s, needs, e)) ||
        (rc = read_budget(s, needs, e)))
        return rc;
    return note_all(s, needs, e);
}

/* ---- keys that are quick to change ---- */

/* The last key of "network.dims.NAME.KEY" or "network.dims[N].KEY"; "" of another path. */
static const char *quick_dim_key(const char *path)
{
    static const char dims[] = "network.dims";
    const size_t n = sizeof dims - 1;
    if (strncmp(path, dims, n) != 0 || (path[n] != '.' && path[n] != '['))
        return "";
    const char *name = path + n + 1, *end = name + strcspn(name, ".]");
    if (path[n] == '[' && *end == ']')
        end++;
    return *end == '.' ? end + 1 : "";
}

static bool is_quick_word(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Whatever is read after the network looks at these as it did before, but for system, which may look at
 * tiers. */
bool design_is_of_fabric(const char *path)
{
    static const char *const of_dim[] = { "tier", "planes", "latency_ns", "efficiency", "link_GBps" };
    return design_is_quick(path) ||
           is_quick_word(quick_dim_key(path), of_dim, sizeof of_dim / sizeof *of_dim);
}

bool design_is_quick(const char *path)
{
    static const char *const own[] = { "total_GBps", "objective", "time_limit_s" };
    static const char *const of_dim[] = { "bw_GBps", "min_GBps", "max_GBps" };
    return is_quick_word(path, own, sizeof own / sizeof *own) ||
           is_quick_word(quick_dim_key(path), of_dim, sizeof of_dim / sizeof *of_dim);
}

/* Does the value mean in YAML what it says: no quotes, lists, maps, or words such as null? */
static bool is_plain(const char *value)
{
    static const char *const others[] = { "null", "Null", "NULL" };
    size_t n = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-");
    return n > 0 && !value[n] && value[0] != '-' &&
           !is_quick_word(value, others, sizeof others / sizeof *others);
}

/* New texts for the values of axes of the fabric; what changed of dimensions. False: it cannot be told. */
static bool change_texts(struct design_point *s, const struct study_source *from, bool *dims, bool *fabric)
{
    *dims = *fabric = false;
    for (int32_t i = 0; i < from->n_axes; i++) {
        const struct study_override *axis = &from->axes[i];
        bool quick = design_is_quick(axis->path);
        if (!quick && !design_is_of_fabric(axis->path))
            continue;
        yaml_id id = source_find_axis(&s->doc, from, axis->path);
        if (id < 0)
            return false;
        struct yaml_node *node = &s->doc.nodes[id];
        bool same = node->text && strcmp(node->text, axis->value) == 0;
        if (!quick && !same && !(is_plain(axis->value) && node->kind == YAML_SCALAR))
            return false;
        if (!quick && same)
            continue;
        node->text = axis->value;
        node->quoted = false;
        *dims = *dims || strchr(axis->path, '.');
        *fabric = *fabric || !quick;
    }
    return true;
}

/* What depends on tiers beside prices; its notes were given when the study was read. */
static bool reread_system(struct design_point *s)
{
    struct err ignored;
    size_t n = s->notes.n;
    int rc = system_read(s, &ignored);
    s->notes.n = n;
    if (s->notes.s)
        s->notes.s[n] = '\0';
    return !rc;
}

/* Changes keys of the fabric without reading the study again. False where it cannot be sure to give the same
 * as reading anew; the caller then reads the study. */
bool design_point_change(struct design_point *s, const struct study_source *from, unsigned needs)
{
    struct err ignored;
    bool dims, fabric;
    if (s->ideal || !change_texts(s, from, &dims, &fabric) || design_point_read_values(s, &ignored))
        return false;
    if (dims && (design_point_read_network(s, &ignored) || design_point_price_network(s, &ignored)))
        return false;
    if (settle_pricing(s, &ignored) || check_ports(s, needs, &ignored))
        return false;
    bool compiles = fabric || (dims && s->model != SIM_BANDWIDTH);
    for (int32_t i = 0; compiles && i < s->n_workloads; i++)
        if (!design_point_is_searched(&s->workloads[i]) &&
            design_point_compile(&s->workloads[i], s, NULL, &ignored))
            return false;
    if (fabric && !reread_system(s))
        return false;
    s->rows.n = 0;
    return !check_asked(s, &ignored) && !point_read_rows(s, needs, &ignored);
}

int design_point_read(struct design_point *s, const struct study_source *from, unsigned needs, struct err *e)
{
    *s = (struct design_point){ .budget = { .node = -1 } };
    int rc = source_read(&s->doc, &s->own_source, from, e);
    if (!rc)
        rc = read_document(s, needs, e);
    if (rc)
        design_point_free(s);
    return rc;
}

int design_point_take(struct design_point *s, const struct yaml_doc *doc, int32_t own_source, unsigned needs,
                      struct err *e)
{
    *s = (struct design_point){ .doc = *doc, .own_source = own_source, .budget = { .node = -1 } };
    int rc = read_document(s, needs, e);
    if (rc)
        design_point_free(s);
    return rc;
}

int design_point_take_keys(struct design_point *s, const struct yaml_doc *doc, int32_t own_source,
                           const char *const *keys, unsigned needs, struct err *e)
{
    struct yaml_doc copy;
    *s = (struct design_point){ .doc = { .root = -1 }, .budget = { .node = -1 } };
    int rc = yaml_copy(&copy, doc, e);
    if (rc)
        return rc;
    yaml_keep(&copy, copy.root, keys);
    return design_point_take(s, &copy, own_source, needs, e);
}

int design_point_load(struct design_point *s, const char *path_or_spec,
                      const struct study_override *overrides, int32_t n, unsigned needs, struct err *e)
{
    const struct study_source from = { .path = path_or_spec, .overrides = overrides, .n = n };
    return design_point_read(s, &from, needs, e);
}
