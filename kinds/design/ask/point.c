/*
 * A study of designs at one point: what its network costs, its workloads as the solver sees them, and what it
 * is, as a hash.
 */
#include "kinds/design/ask/point.h"

#include <math.h>
#include <stdlib.h>

#include "workloads/ideal.h"
#include "workloads/step.h"

const char *const design_combine_names[] = { "sum", "regret", NULL };

const char *const design_split_names[] = { "solve", "given", NULL };

const char *const design_pricing_names[] = { "fraction", "whole", NULL };

/* Put the place of the dimension before a message that is about its prices: its tier, or the entry of `dims`;
 * a network that is a word has neither. @p d: of the network; -1: not known. */
int design_point_fail_dim(const struct design_point *s, int32_t d, struct err *e)
{
    char place[400];
    yaml_id at = yaml_get(&s->doc, s->doc.root, "network"), dims = yaml_get(&s->doc, at, "dims");
    int32_t first = 0;
    if (dims >= 0 && d >= 0)
        yaml_each (id, &s->doc, dims) {
            int32_t next = topo_after_entry(s->net.dims, first);
            yaml_id tier = yaml_get(&s->doc, id, "tier");
            if (d >= first && d < next)
                at = tier >= 0 ? tier : id;
            first = next;
        }
    return err_wrap(e, "%s", yaml_place(&s->doc, at, place, sizeof place));
}

int design_point_build_bill(struct topo_bill *b, const struct design_point *s, const double *bw_Bps,
                            struct err *e)
{
    int rc = topo_build_bill(b, &s->net, &s->parts, bw_Bps, e);
    for (int32_t d = 0; d < s->net.n_dims && rc && rc != ERR_NOMEM && topo_is_catalogue(&s->parts); d++) {
        struct topo_spent spent = { 0 };
        struct err ignored;
        if (topo_spend(&spent, &s->net, &s->parts, d, 1, bw_Bps, &ignored))
            return design_point_fail_dim(s, d, e);
    }
    return rc;
}

const char *design_point_semantics(const struct design_point *s)
{
    if (s->ideal && s->n_workloads > 0)
        return "ideal-routing";
    bool libra = s->n_workloads > 0 && s->model == SIM_BANDWIDTH && s->rules.semantics == SIM_LIBRA;
    return libra ? sim_semantics_words[SIM_LIBRA] : NULL;
}

static double counted_npus_usd(const struct design_point *s)
{
    return s->count_npus ? (double)s->net.n_npus * s->net.npu.usd : 0;
}

bool design_point_takes_graph_prices(const struct design_point *s)
{
    return s->net.wires && s->net.wires->own_prices;
}

bool design_point_knows_nics(const struct design_point *s)
{
    bool known = !s->has_parts || topo_is_catalogue(&s->parts);
    for (int32_t d = 0; d < s->net.n_dims && !known && !design_point_takes_graph_prices(s); d++) {
        const struct topo_rate *rate = topo_find_rate(&s->parts, s->net.dims[d].tier);
        known = rate && !isnan(rate->nic.typ);
    }
    return known;
}

double design_point_nodes_usd(const struct design_point *s)
{
    return design_point_takes_graph_prices(s) && s->net.wires->node_usd > 0 ? s->net.wires->node_usd : 0;
}

double design_point_fixed_usd(const struct design_point *s)
{
    return counted_npus_usd(s) + design_point_nodes_usd(s);
}

struct topo_band design_point_bill_usd(const struct design_point *s, const struct topo_bill *b)
{
    double npus = counted_npus_usd(s);
    return (struct topo_band){ b->usd.low + npus, b->usd.typ + npus, b->usd.high + npus };
}

double design_point_fraction_usd(const struct design_point *s, const double *bw_Bps)
{
    double usd = design_point_fixed_usd(s);
    if (!s->has_parts)
        return NAN;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        usd += s->prices[d].usd_per_Bps * bw_Bps[d];
    return usd;
}

double design_point_total_Bps(const struct design_point *s, const double *bw_Bps)
{
    double total_Bps = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        total_Bps += topo_in_total(&s->net.dims[d]) ? bw_Bps[d] : 0;
    return total_Bps;
}

double design_point_nic_Bps(const struct design_point *s, const double *bw_Bps)
{
    double nic_Bps = s->has_parts ? 0 : (double)NAN;
    for (int32_t d = 0; d < s->net.n_dims && s->has_parts; d++)
        nic_Bps += s->prices[d].nic_share * bw_Bps[d];
    return nic_Bps;
}

double design_point_usd(const struct design_point *s, const double *bw_Bps, struct err *e)
{
    struct topo_spent spent = { .usd = design_point_fixed_usd(s) };
    struct err ignored = { 0 };
    if (s->pricing != DESIGN_WHOLE)
        return design_point_fraction_usd(s, bw_Bps);
    if (topo_spend(&spent, &s->net, &s->parts, 0, s->net.n_dims, bw_Bps, e ? e : &ignored))
        return NAN;
    return spent.usd;
}

const struct step_tree *design_point_compiled_tree(const struct design_workload *w)
{
    return w->lowered.n_nodes ? &w->lowered : &w->tree;
}

struct sim_way design_point_way(const struct design_point *s, const double *bw_Bps)
{
    return (struct sim_way){ &s->net, bw_Bps, s->model, &s->rules };
}

struct sim_way design_point_closed_way(const struct design_point *s, const double *bw_Bps)
{
    enum sim_model model = s->model == SIM_BANDWIDTH ? SIM_BANDWIDTH : SIM_ALPHA_BETA;
    return (struct sim_way){ &s->net, bw_Bps, model, &s->rules };
}

double design_point_compiled_s(const struct design_point *s, const double *bw_Bps)
{
    double sum = 0;
    for (int32_t i = 0; i < s->n_workloads; i++)
        sum += s->workloads[i].weight * step_time(&s->workloads[i].fn, bw_Bps);
    return sum;
}

/* On a graph: transfers over classes and over the columns of cuts. */
static int compile_cuts(struct design_workload *w, const struct design_point *s, struct err *e)
{
    struct topo_network wide;
    ideal_widen(&wide, &s->net);
    const struct collective_way way = { &wide, &s->rules.stage, NULL };
    int rc = step_lower(&w->lowered, &w->tree, &way, e);
    return rc ? rc : step_compile(&w->fn, &w->lowered, &wide, e);
}

int design_point_compile(struct design_workload *w, const struct design_point *s, const double *bw_Bps,
                         struct err *e)
{
    double own_Bps[TOPO_MAX_DIMS];
    int rc = 0;
    step_fn_free(&w->fn);
    step_free(&w->lowered);
    if (s->ideal)
        return compile_cuts(w, s, e);
    const struct collective_way way = { &s->net, &s->rules.stage,
                                        bw_Bps ? bw_Bps : topo_get_bandwidths(own_Bps, &s->net) };
    if (s->model != SIM_BANDWIDTH)
        rc = step_lower(&w->lowered, &w->tree, &way, e);
    return rc ? rc : step_compile(&w->fn, design_point_compiled_tree(w), &s->net, e);
}

/* A broadcast goes in segments along rings and lines, and how many depends on the bandwidth. */
static bool has_broadcast(const struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++)
        for (step_id id = 0; id < s->workloads[i].tree.n_nodes; id++) {
            const struct step_node *node = &s->workloads[i].tree.nodes[id];
            if (node->kind == STEP_COLLECTIVE && node->collective == COLLECTIVE_BROADCAST)
                return true;
        }
    return false;
}

bool design_point_has_choice(const struct design_point *s)
{
    return s->ideal || (s->model != SIM_BANDWIDTH && (stage_has_choice(&s->net) || has_broadcast(s)));
}

bool design_point_is_searched(const struct design_workload *w)
{
    return w->training && w->training->search >= 0;
}

/* Safe on a zeroed or half-read study. */
void design_point_free(struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++) {
        step_fn_free(&s->workloads[i].fn);
        step_free(&s->workloads[i].lowered);
        step_free(&s->workloads[i].tree);
        free(s->workloads[i].training);
    }
    free(s->workloads);
    ideal_free(s->ideal);
    sim_rules_free(&s->rules);
    topo_parts_free(&s->parts);
    alloc_rows_free(&s->rows);
    text_free(&s->notes);
    yaml_free(&s->doc);
    *s = (struct design_point){ .doc = { .root = -1 }, .budget = { .node = -1 } };
}

/* Members next to each other are what is usual. */
static unsigned long long hash_group(unsigned long long h, const struct step_group *g, int32_t n_dims)
{
    bool apart = false;
    for (int32_t d = 0; d < n_dims; d++)
        apart = apart || (g->members[d] > 1 && g->stride[d] > 1);
    h = text_hash(h, g->members, (size_t)n_dims * sizeof g->members[0]);
    return apart ? text_hash(h, g->stride, (size_t)n_dims * sizeof g->stride[0]) : h;
}

/* Text that a workload takes from a file which is not YAML is in its tree only. */
static unsigned long long hash_tree(const struct step_tree *t, unsigned long long h)
{
    for (step_id id = 0; id < t->n_nodes; id++) {
        const struct step_node *node = &t->nodes[id];
        const double numbers[] = { node->seconds, node->bytes, node->times };
        const int32_t words[] = { (int32_t)node->kind,
                                  (int32_t)node->phase,
                                  (int32_t)node->collective,
                                  node->dim,
                                  node->priority,
                                  node->group,
                                  node->first,
                                  node->next };
        h = text_hash(h, numbers, sizeof numbers);
        h = text_hash(h, words, sizeof words);
    }
    for (int32_t g = 0; g < t->n_groups; g++)
        h = hash_group(h, &t->groups[g], t->n_dims);
    return h;
}

unsigned long long design_point_hash(const struct design_point *s)
{
    unsigned long long h = yaml_hash(&s->doc, s->doc.root);
    if (s->ideal) {
        unsigned long long wires = ideal_hash(s->ideal);
        h = text_hash(h, &wires, sizeof wires);
    }
    if (s->rules.graph[0])
        h = text_hash(h, &s->rules.graph_hash, sizeof s->rules.graph_hash);
    for (int32_t i = 0; i < s->n_workloads; i++)
        if (!s->workloads[i].training) /* all of a model is in the document */
            h = hash_tree(&s->workloads[i].tree, h);
    return h;
}

unsigned long long design_point_choices(const struct design_point *s)
{
    unsigned long long h = TEXT_HASH_SEED;
    for (int32_t i = 0; i < s->n_workloads; i++)
        h = hash_tree(design_point_compiled_tree(&s->workloads[i]), h);
    for (int32_t j = 0; s->ideal && j < ideal_columns(s->ideal); j++)
        h = text_hash(h, ideal_column(s->ideal, j), (size_t)s->net.n_dims * sizeof(double));
    return h;
}
