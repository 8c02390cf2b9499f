/*
 * Theta of each kind of collective and group that a study has, solved once for each bandwidth that is asked
 * for and remembered: the linear programme keeps its rows (topo/theta.c), the cuts it gave are valid at all
 * bandwidths. A split sees T = S max over known cuts of 1/(pi . B): a cut of one class is a transfer over it,
 * one of several classes a transfer over a column whose bandwidth a row ties to pi . B. That is at most the
 * true time, so its optimum is a lower bound; solved again with the cuts found at its answer, until there
 * are no new ones, both agree (Kelley's method with exact cuts; J. E. Kelley, SIAM J. 8, 1960).
 */
#include "workloads/ideal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "topo/theta.h"

enum { D = TOPO_MAX_DIMS };

/** Parts of a cut below this share of its largest are rounding. */
#define SHARE_REL 1e-12

/** A class that a split left without bandwidth is asked for at this share of the largest: a cut must name it.
 */
#define LEAST_REL 1e-6

/** Share of a class's bandwidth in the file at which its own limit is looked for. */
#define SCARCE 0.01

/** A cut that is nearer to deciding than this does: rounding of a split. */
#define TIGHT_REL 1e-7

/** Cuts that differ less are one. */
#define SAME_REL 1e-11

/* All-reduce, reduce-scatter and all-gather send the same, in other amounts; along one axis as all-to-all. */
enum ideal_pattern { IDEAL_REDUCE, IDEAL_ALL_TO_ALL, IDEAL_CHAIN, IDEAL_NEXT };

struct ideal_cut {
    double pi[D];
    int32_t column; /* that it is, of cuts over several classes; -1 = none now */
    int32_t one;    /* the only class, or -1 */
    double slack;   /* pi . B over the rate, at the bandwidths asked last; 1 = it decides */
    bool tight;     /* it decided the last split; such cuts keep their columns, so that bounds never fall */
    bool missed;    /* it decides now, the lowest of all, and the last split did not see it */
};

enum { ANSWERS = 8 };

/** Bandwidths in the same proportions, but for rounding. */
#define PROPORTION_REL 0x1p-50

/** Gap of a split on a graph without symmetry and of many pairs, each question of which takes long. */
#define LARGE_GAP 1e-3

/** Part of it that one question takes. */
#define ROUGH 0.25

/* One pattern over one kind of group. */
struct ideal_query {
    enum ideal_pattern pattern;
    int32_t members[D], stride[D];
    struct theta *theta;
    struct ideal_cut *cuts; /* shape [n_cuts], owned */
    int32_t n_cuts, cap_cuts;
    struct ideal_answer {
        double at_Bps[D];
        struct theta_answer found;
        bool rough;
    } answers[ANSWERS];         /* the last ones, in a ring: a study asks for what it compares in turns */
    int32_t n_answers;          /* so far */
    struct theta_answer answer; /* to the last question */
};

struct ideal {
    bool is_branch; /* wires, classes and, unless it owns one, weight are another's */
    bool own_weight;
    bool rough;
    struct topo_wires wires;
    unsigned long long hash;
    int32_t n_dims, sizes[D];
    char names[D][TOPO_NAME];
    double efficiency[D];
    int32_t *classes; /* shape [n_links], owned */
    double *weight;   /* shape [n_links], owned: with the class's efficiency */
    struct ideal_query *queries;
    int32_t n_queries, cap_queries;
    double at_Bps[D]; /* of the last ideal_learn() */
    int32_t n_columns;
    double column[D][D];
};

/* ---- reading ---- */

static int read_wires(struct ideal *x, const char *path, struct err *e)
{
    struct topo_graph *g = NULL;
    int rc;
    /* igraph's stack of what to clean up is one for the whole program. */
#pragma omp critical(igraph)
    {
        rc = topo_read_graph(&g, path, e);
        if (!rc && (topo_wires_build(&x->wires, g, e) || topo_wires_check(&x->wires, g, e)))
            rc = err_wrap(e, "%s", path);
        topo_graph_free(g);
    }
    return rc;
}

static void take_efficiencies(struct ideal *x, struct topo_network *net)
{
    for (int32_t d = 0; d < x->n_dims; d++)
        x->efficiency[d] = net->dims[d].efficiency;
    for (int32_t l = 0; l < x->wires.n_links; l++)
        x->weight[l] = x->wires.weight[l] * x->efficiency[x->classes[l]];
    net->wires = &x->wires;
    net->ideal = x;
}

static void forget_queries(struct ideal *x)
{
    for (int32_t i = 0; i < x->n_queries; i++) {
        theta_free(x->queries[i].theta);
        free(x->queries[i].cuts);
    }
    x->n_queries = x->n_columns = 0;
}

int ideal_open(struct ideal **out, struct topo_network *net, const char *path, int32_t *at, struct err *e)
{
    struct text content = { 0 };
    struct ideal *x = calloc(1, sizeof *x);
    *out = NULL;
    *at = -1;
    if (!x)
        return err_nomem(e, "a graph");
    int rc = read_wires(x, path, e);
    if (!rc)
        rc = text_read_file(&content, path, TOPO_MAX_GRAPH_BYTES, e);
    if (!rc)
        x->hash = text_hash(TEXT_HASH_SEED, text_str(&content), content.n);
    text_free(&content);
    if (!rc && topo_wires_bind(&x->wires, net, at, e))
        rc = *at < 0 ? err_wrap(e, "%s", path) : e->code;
    if (!rc) {
        x->classes = calloc((size_t)x->wires.n_links + 1, sizeof *x->classes);
        x->weight = calloc((size_t)x->wires.n_links + 1, sizeof *x->weight);
        rc = x->classes && x->weight ? 0 : err_nomem(e, "a graph");
    }
    if (rc) {
        ideal_free(x);
        return rc;
    }
    x->n_dims = net->n_dims;
    for (int32_t d = 0; d < net->n_dims; d++) {
        x->sizes[d] = net->dims[d].size;
        memcpy(x->names[d], net->dims[d].name, sizeof x->names[d]);
    }
    for (int32_t l = 0; l < x->wires.n_links; l++)
        x->classes[l] = x->wires.links[l].cls;
    take_efficiencies(x, net);
    *out = x;
    return 0;
}

bool ideal_again(struct ideal *x, struct topo_network *net)
{
    struct err ignored;
    if (net->n_dims == 0 && topo_wires_list(net, &x->wires, &ignored))
        return false;
    bool same = net->n_dims == x->n_dims, as_efficient = true;
    for (int32_t d = 0; d < x->n_dims && same; d++) {
        const struct topo_dim *dim = &net->dims[d];
        same = (dim->size == 0 || dim->size == x->sizes[d]) && strcmp(dim->name, x->names[d]) == 0;
        as_efficient = as_efficient && dim->efficiency == x->efficiency[d];
    }
    if (!same)
        return false;
    for (int32_t d = 0; d < x->n_dims; d++)
        net->dims[d].size = x->sizes[d];
    net->n_npus = x->wires.n_npus;
    if (!as_efficient)
        forget_queries(x);
    take_efficiencies(x, net);
    return true;
}

int ideal_branch(struct ideal **out, const struct ideal *x, struct topo_network *net, struct err *e)
{
    struct ideal *branch = *out = malloc(sizeof *branch);
    if (!branch)
        return err_nomem(e, "a graph");
    *branch = *x;
    branch->is_branch = true;
    branch->own_weight = branch->rough = false;
    branch->queries = NULL;
    branch->n_queries = branch->cap_queries = branch->n_columns = 0;
    net->ideal = branch;
    return 0;
}

int ideal_without(struct ideal **out, const struct ideal *x, struct topo_network *net, const bool *closed,
                  struct err *e)
{
    int rc = ideal_branch(out, x, net, e);
    double *weight = rc ? NULL : calloc((size_t)x->wires.n_links + 1, sizeof *weight);
    if (rc)
        return rc;
    if (!weight) {
        ideal_free(*out);
        *out = NULL;
        return err_nomem(e, "a graph");
    }
    for (int32_t l = 0; l < x->wires.n_links; l++)
        weight[l] = closed[l] ? 0 : x->weight[l];
    (*out)->weight = weight;
    (*out)->own_weight = true;
    return 0;
}

void ideal_free(struct ideal *x)
{
    if (!x)
        return;
    forget_queries(x);
    free(x->queries);
    if (!x->is_branch || x->own_weight)
        free(x->weight);
    if (!x->is_branch) {
        free(x->classes);
        topo_wires_free(&x->wires);
    }
    free(x);
}

unsigned long long ideal_hash(const struct ideal *x)
{
    return x->hash;
}

/* ---- what collectives ask ---- */

static enum ideal_pattern pattern_of(enum collective_kind kind, const struct step_group *group,
                                     int32_t n_dims)
{
    int32_t n_axes = 0;
    for (int32_t d = 0; d < n_dims; d++)
        n_axes += group->members[d] > 1;
    switch (kind) {
    case COLLECTIVE_ALL_TO_ALL:
        return IDEAL_ALL_TO_ALL;
    case COLLECTIVE_BROADCAST:
        return IDEAL_CHAIN;
    case COLLECTIVE_SEND:
        return IDEAL_NEXT;
    default:
        return n_axes == 1 ? IDEAL_ALL_TO_ALL : IDEAL_REDUCE;
    }
}

/* S of the pattern. */
static double buffer_of(enum collective_kind kind, double bytes, const struct ideal *x,
                        const struct step_group *group)
{
    double n = 1;
    for (int32_t d = 0; d < x->n_dims; d++)
        n *= group->members[d];
    return kind == COLLECTIVE_ALL_REDUCE ? 2 * bytes : kind == COLLECTIVE_ALL_GATHER ? n * bytes : bytes;
}

static int32_t stride_of(const struct step_group *group, int32_t d)
{
    return group->stride[d] > 0 ? group->stride[d] : 1;
}

static bool sends(const struct ideal *x, const struct step_group *group)
{
    for (int32_t d = 0; d < x->n_dims; d++)
        if (group->members[d] > 1)
            return true;
    return false;
}

static struct ideal_query *find_query(const struct ideal *x, enum ideal_pattern pattern,
                                      const struct step_group *group)
{
    for (int32_t i = 0; i < x->n_queries; i++) {
        struct ideal_query *q = &x->queries[i];
        bool same = q->pattern == pattern;
        for (int32_t d = 0; d < x->n_dims; d++)
            same = same && q->members[d] == group->members[d] && q->stride[d] == stride_of(group, d);
        if (same)
            return q;
    }
    return NULL;
}

/* Shares of S by axis, or flat over all of them. */
static void fill_demand(struct theta_demand *out, const struct ideal *x, const struct ideal_query *q)
{
    double n = 1;
    *out = (struct theta_demand){ .n_axes = x->n_dims };
    for (int32_t d = 0; d < x->n_dims; d++)
        out->sizes[d] = x->sizes[d];
    for (int32_t d = 0; d < x->n_dims; d++) {
        bool flat = q->pattern != IDEAL_REDUCE;
        struct theta_part *p = &out->parts[flat ? 0 : out->n_parts];
        double m = q->members[d];
        n *= m;
        if (!flat && m == 1)
            continue;
        if (!flat)
            for (int32_t k = 0; k < x->n_dims; k++)
                p->members[k] = p->stride[k] = 1;
        p->members[d] = q->members[d];
        p->stride[d] = q->stride[d];
        p->kind = q->pattern == IDEAL_CHAIN  ? THETA_CHAIN
                  : q->pattern == IDEAL_NEXT ? THETA_NEXT
                                             : THETA_DIRECT;
        p->share = !flat ? (m - 1) / n : q->pattern == IDEAL_ALL_TO_ALL ? (n - 1) / n : 1;
        out->n_parts = flat ? 1 : out->n_parts + 1;
    }
}

static int add_query(struct ideal_query **out, struct ideal *x, enum ideal_pattern pattern,
                     const struct step_group *group, struct err *e)
{
    struct theta_demand demand;
    if (!vec_reserve(x->queries, x->cap_queries, x->n_queries + 1))
        return err_nomem(e, "collectives on a graph");
    struct ideal_query *q = *out = &x->queries[x->n_queries];
    *q = (struct ideal_query){ .pattern = pattern };
    for (int32_t d = 0; d < x->n_dims; d++) {
        q->members[d] = group->members[d];
        q->stride[d] = stride_of(group, d);
    }
    fill_demand(&demand, x, q);
    int rc = theta_build(&q->theta, &x->wires, x->classes, x->n_dims, x->weight, &demand, e);
    if (rc)
        return err_wrap(e, "the graph");
    x->n_queries++;
    return 0;
}

/* Keep the cut of the last answer, unless it is known. */
static int keep_cut(struct ideal_query *q, const struct ideal *x, struct err *e)
{
    struct ideal_cut cut = { .column = -1, .one = -1 };
    double most = 0;
    int32_t n = 0;
    for (int32_t d = 0; d < x->n_dims; d++)
        most = fmax(most, q->answer.cut[d]);
    /* Not by what a class carries here: without bandwidth it is in the cut all the same. */
    for (int32_t d = 0; d < x->n_dims; d++) {
        if (!(q->answer.cut[d] > SHARE_REL * most))
            continue;
        cut.pi[d] = q->answer.cut[d];
        cut.one = d;
        n++;
    }
    cut.one = n == 1 ? cut.one : -1;
    for (int32_t i = 0; i < q->n_cuts; i++) {
        bool same = true;
        for (int32_t d = 0; d < x->n_dims; d++)
            same = same && fabs(q->cuts[i].pi[d] - cut.pi[d]) <= SAME_REL * fmax(q->cuts[i].pi[d], cut.pi[d]);
        if (same)
            return 0;
    }
    if (!vec_reserve(q->cuts, q->cap_cuts, q->n_cuts + 1))
        return err_nomem(e, "collectives on a graph");
    q->cuts[q->n_cuts++] = cut;
    return 0;
}

/* Are bandwidths those of an answer times something? Rates are then its own times that. */
static bool is_multiple(double *times, const struct ideal_answer *answer, const double *bw_Bps, int32_t n)
{
    int32_t most = 0;
    for (int32_t d = 1; d < n; d++)
        most = bw_Bps[d] > bw_Bps[most] ? d : most;
    *times = bw_Bps[most] / answer->at_Bps[most];
    bool same = *times > 0 && isfinite(*times);
    for (int32_t d = 0; d < n && same; d++)
        same = fabs(answer->at_Bps[d] * *times - bw_Bps[d]) <= PROPORTION_REL * bw_Bps[d];
    return same;
}

/* The answer at these bandwidths, if one of the last tells it. */
static bool recall_answer(struct theta_answer *out, const struct ideal_query *q, const struct ideal *x,
                          const double *bw_Bps)
{
    double times;
    for (int32_t i = 0; i < ANSWERS && i < q->n_answers; i++) {
        const struct ideal_answer *answer = &q->answers[i];
        if ((answer->rough && !x->rough) || !is_multiple(&times, answer, bw_Bps, x->n_dims))
            continue;
        *out = answer->found;
        out->rate *= times;
        out->reached *= times;
        return true;
    }
    return false;
}

/* Are few digits enough for the cuts of a query? */
static bool is_rough(const struct ideal_query *q, const struct ideal *x)
{
    return x->rough && x->n_dims > 1 && theta_is_large(q->theta);
}

static int solve_query(struct ideal_query *q, const struct ideal *x, const double *bw_Bps, struct err *e)
{
    int rc = 0;
    if (!recall_answer(&q->answer, q, x, bw_Bps)) {
        const bool rough = is_rough(q, x);
        if (theta_solve_within(&q->answer, q->theta, bw_Bps, rough ? ROUGH * LARGE_GAP : 0, e))
            return err_wrap(e, "the graph");
        struct ideal_answer *room = &q->answers[q->n_answers++ % ANSWERS];
        memcpy(room->at_Bps, bw_Bps, (size_t)x->n_dims * sizeof *bw_Bps);
        room->found = q->answer;
        room->rough = rough;
        rc = q->answer.rate > 0 ? keep_cut(q, x, e) : 0;
    }
    for (int32_t i = 0; i < q->n_cuts; i++) {
        double sum = 0;
        for (int32_t d = 0; d < x->n_dims; d++)
            sum += q->cuts[i].pi[d] * bw_Bps[d];
        q->cuts[i].slack = sum / q->answer.rate;
    }
    return rc;
}

static int ask_graph(struct ideal_query **out, struct ideal *x, enum collective_kind kind,
                     const struct step_group *group, const double *bw_Bps, struct err *e)
{
    enum ideal_pattern pattern = pattern_of(kind, group, x->n_dims);
    *out = find_query(x, pattern, group);
    int rc = *out ? 0 : add_query(out, x, pattern, group, e);
    return rc ? rc : solve_query(*out, x, bw_Bps, e);
}

int ideal_find(struct ideal_time *out, struct ideal *x, enum collective_kind kind, double bytes,
               const struct step_group *group, const double *bw_Bps, struct err *e)
{
    struct ideal_query *q;
    *out = (struct ideal_time){ 0 };
    if (!sends(x, group) || !(bytes > 0))
        return 0;
    int rc = ask_graph(&q, x, kind, group, bw_Bps, e);
    if (rc)
        return rc;
    out->time_s =
        q->answer.reached > 0 ? buffer_of(kind, bytes, x, group) / q->answer.reached : (double)INFINITY;
    for (int32_t d = 0; d < x->n_dims; d++) {
        out->cut[d] = q->answer.rate > 0 ? q->answer.cut[d] * bw_Bps[d] / q->answer.rate : 0;
        out->busy[d] = q->answer.busy[d] * x->efficiency[d];
    }
    return 0;
}

/* ---- cuts as dimensions ---- */

void ideal_set_rough(struct ideal *x, bool rough)
{
    x->rough = rough;
}

bool ideal_is_rough(const struct ideal *x)
{
    return x->rough && ideal_gap(x) > 0;
}

double ideal_gap(const struct ideal *x)
{
    bool large = false;
    for (int32_t i = 0; i < x->n_queries; i++)
        large = large || theta_is_large(x->queries[i].theta);
    return large && x->n_dims > 1 ? LARGE_GAP : 0;
}

/* Ask for each collective of the tree. */
static int learn_at(struct ideal *x, const struct step_tree *t, const double *at_Bps, struct err *e)
{
    int rc = 0;
    for (step_id id = 0; id < t->n_nodes && !rc; id++) {
        const struct step_node *node = &t->nodes[id];
        struct ideal_query *q;
        if (node->kind == STEP_COLLECTIVE && node->bytes > 0 && sends(x, &t->groups[node->group]))
            rc = ask_graph(&q, x, node->collective, &t->groups[node->group], at_Bps, e);
    }
    return rc;
}

int ideal_learn(struct ideal *x, const struct step_tree *t, const double *bw_Bps, struct err *e)
{
    double at_Bps[D] = { 0 }, most_Bps = 0;
    int rc = 0;
    for (int32_t d = 0; d < x->n_dims; d++)
        most_Bps = bw_Bps && bw_Bps[d] > most_Bps ? bw_Bps[d] : most_Bps;
    for (int32_t d = 0; d < x->n_dims; d++)
        at_Bps[d] = most_Bps > 0 && !isnan(bw_Bps[d]) ? fmax(bw_Bps[d], LEAST_REL * most_Bps)
                                                      : x->wires.kinds[d].file_Bps;
    memcpy(x->at_Bps, at_Bps, sizeof at_Bps);
    /* At first each class is made scarce in turn: its own limit is a cut that a split must know. */
    for (int32_t d = 0; !(most_Bps > 0) && d < x->n_dims && !rc; d++) {
        double rare_Bps = x->wires.kinds[d].file_Bps;
        at_Bps[d] = SCARCE * rare_Bps;
        rc = learn_at(x, t, at_Bps, e);
        at_Bps[d] = rare_Bps;
    }
    return rc ? rc : learn_at(x, t, at_Bps, e);
}

static double rate_of(const struct ideal *x, const struct ideal_cut *cut)
{
    double sum = 0;
    for (int32_t d = 0; d < x->n_dims; d++)
        sum += cut->pi[d] * x->at_Bps[d];
    return sum;
}

/*
 * Which of the cuts that the last split saw decided it, and the one that it should have seen. Only the lowest
 * one: cuts found near each other crowd together, and would take the columns of those on the split's other
 * side, which hold it in place.
 */
static void mark_tight(struct ideal *x)
{
    for (int32_t i = 0; i < x->n_queries; i++) {
        struct ideal_query *q = &x->queries[i];
        const struct ideal_cut *lowest = q->cuts;
        double least = INFINITY;
        for (int32_t k = 0; k < q->n_cuts; k++)
            lowest = q->cuts[k].slack < lowest->slack ? &q->cuts[k] : lowest;
        for (int32_t k = 0; k < q->n_cuts; k++)
            if (q->cuts[k].one >= 0 || q->cuts[k].column >= 0)
                least = fmin(least, rate_of(x, &q->cuts[k]));
        for (int32_t k = 0; k < q->n_cuts; k++) {
            struct ideal_cut *cut = &q->cuts[k];
            cut->tight = cut->column >= 0 && rate_of(x, cut) <= least * (1 + TIGHT_REL);
            cut->missed = cut->column < 0 && cut == lowest && cut->slack <= 1 + TIGHT_REL;
        }
    }
}

/* Cuts that were missed first, then tight ones, then those nearest to deciding. */
static bool goes_before(const struct ideal_cut *a, const struct ideal_cut *b)
{
    if (a->missed != b->missed)
        return a->missed;
    if (a->tight != b->tight)
        return a->tight;
    return a->slack < b->slack;
}

/* The next cut for a column; the first of equals. */
static struct ideal_cut *next_cut(const struct ideal *x)
{
    struct ideal_cut *best = NULL;
    for (int32_t i = 0; i < x->n_queries; i++)
        for (int32_t k = 0; k < x->queries[i].n_cuts; k++) {
            struct ideal_cut *cut = &x->queries[i].cuts[k];
            if (cut->one < 0 && cut->column < 0 && (!best || goes_before(cut, best)))
                best = cut;
        }
    return best;
}

int32_t ideal_place(struct ideal *x)
{
    mark_tight(x);
    for (int32_t i = 0; i < x->n_queries; i++)
        for (int32_t k = 0; k < x->queries[i].n_cuts; k++)
            x->queries[i].cuts[k].column = -1;
    x->n_columns = 0;
    for (struct ideal_cut *cut; x->n_dims + x->n_columns < D && (cut = next_cut(x));) {
        cut->column = x->n_columns;
        memcpy(x->column[x->n_columns++], cut->pi, sizeof cut->pi);
    }
    return x->n_columns;
}

int32_t ideal_columns(const struct ideal *x)
{
    return x->n_columns;
}

const double *ideal_column(const struct ideal *x, int32_t j)
{
    return x->column[j];
}

void ideal_fill(const struct ideal *x, double *bw_Bps)
{
    for (int32_t j = 0; j < x->n_columns; j++) {
        bw_Bps[x->n_dims + j] = 0;
        for (int32_t d = 0; d < x->n_dims; d++)
            bw_Bps[x->n_dims + j] += x->column[j][d] * bw_Bps[d];
    }
}

void ideal_widen(struct topo_network *wide, const struct topo_network *net)
{
    *wide = *net;
    for (int32_t j = 0; j < net->ideal->n_columns; j++) {
        struct topo_dim *dim = &wide->dims[wide->n_dims++];
        *dim = net->dims[0];
        snprintf(dim->name, sizeof dim->name, "cut%d", (int)j + 1);
        dim->size = 1;
        dim->efficiency = 1;
    }
}

int32_t ideal_transfers(struct ideal_transfer out[IDEAL_TRANSFERS], const struct ideal *x,
                        enum collective_kind kind, double bytes, const struct step_group *group)
{
    const struct ideal_query *q = find_query(x, pattern_of(kind, group, x->n_dims), group);
    double buffer_B = buffer_of(kind, bytes, x, group);
    int32_t n = 0;
    for (int32_t k = 0; q && k < q->n_cuts && n < IDEAL_TRANSFERS; k++) {
        const struct ideal_cut *cut = &q->cuts[k];
        if (cut->one >= 0)
            out[n++] = (struct ideal_transfer){ cut->one, buffer_B / cut->pi[cut->one] };
        else if (cut->column >= 0)
            out[n++] = (struct ideal_transfer){ x->n_dims + cut->column, buffer_B };
    }
    return n;
}
