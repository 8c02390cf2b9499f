/*
 * Collectives over a network of dimensions, in three steps of growing detail.
 * Traffic: what an NPU sends into each dimension, whatever the algorithm (formulas in the header, from
 * LIBRA). Stages: a collective is a chain of passes, one dimension each; a stage costs const_s + load_B /
 * bandwidth, with const_s = hops * latency + messages * overhead + 3 * reduced bytes / memory bandwidth, and
 * where algorithm, regime or segments are free the fastest is taken. Chunks pass the chain one behind the
 * other. Time: the slowest row of that flow shop; or, without rules, max over dimensions of traffic /
 * bandwidth. Where nothing is chosen by size, the time is the largest of a few straight lines in the bytes.
 */
#include "workloads/collective.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *const collective_names[N_COLLECTIVES + 1] = {
    [COLLECTIVE_ALL_REDUCE] = "all-reduce", [COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
    [COLLECTIVE_ALL_GATHER] = "all-gather", [COLLECTIVE_ALL_TO_ALL] = "all-to-all",
    [COLLECTIVE_BROADCAST] = "broadcast",   [COLLECTIVE_SEND] = "send",
};

const struct stage_rules stage_rules_plain = { .chunks = 1, .mem_Bps = INFINITY };

/* Each dimension passes on 1/n_d of what it got, so dimension d starts with S/(n_1...n_{d-1}). */
static void scatter_traffic(double *out, double bytes, const int32_t *members, int32_t n_dims)
{
    double share_B = bytes;
    for (int32_t d = 0; d < n_dims; d++) {
        share_B /= members[d];
        out[d] = share_B * (members[d] - 1);
    }
}

/* The mirror image: outermost first, each dimension multiplies what an NPU holds by n_d. */
static void gather_traffic(double *out, double bytes, const int32_t *members, int32_t n_dims)
{
    double held_B = bytes;
    for (int32_t d = n_dims; d-- > 0;) {
        out[d] = held_B * (members[d] - 1);
        held_B *= members[d];
    }
}

/* Every dimension carries the whole buffer but for the part that stays at its place. */
static void all_to_all_traffic(double *out, double bytes, const int32_t *members, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        out[d] = bytes / members[d] * (members[d] - 1);
}

void collective_traffic(double *out, enum collective_kind kind, double bytes, const int32_t *members,
                        int32_t n_dims)
{
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        /* Reduce-scatter of S, then all-gather of the S/P that is left: the same bytes back. */
        scatter_traffic(out, 2 * bytes, members, n_dims);
        return;
    case COLLECTIVE_REDUCE_SCATTER:
        scatter_traffic(out, bytes, members, n_dims);
        return;
    case COLLECTIVE_ALL_GATHER:
        gather_traffic(out, bytes, members, n_dims);
        return;
    case COLLECTIVE_ALL_TO_ALL:
        all_to_all_traffic(out, bytes, members, n_dims);
        return;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_SEND:
        for (int32_t d = 0; d < n_dims; d++)
            out[d] = members[d] > 1 ? bytes : 0;
        return;
    case N_COLLECTIVES:
        break;
    }
    assert(kind < N_COLLECTIVES);
}

static enum collective_kind pass_collective(enum pass pass)
{
    static const enum collective_kind of[N_PASSES] = {
        [PASS_REDUCE_SCATTER] = COLLECTIVE_REDUCE_SCATTER, [PASS_ALL_GATHER] = COLLECTIVE_ALL_GATHER,
        [PASS_ALL_REDUCE] = COLLECTIVE_ALL_REDUCE,         [PASS_ALL_TO_ALL] = COLLECTIVE_ALL_TO_ALL,
        [PASS_BROADCAST] = COLLECTIVE_BROADCAST,           [PASS_SEND] = COLLECTIVE_SEND,
    };
    return of[pass];
}

static bool stage_try(struct stage *s, const struct stage_unit *u, const int32_t *members,
                      enum collective_kind of, enum pass pass, double full_B,
                      const struct collective_way *way, double *time_s);

/* Who takes part in a unit. @p members may be NULL: the unit's own, which are of one level, and no others. */
static struct shape_group unit_group(const struct stage_unit *u, const int32_t *members,
                                     const struct topo_network *net)
{
    int32_t level = net->dims[u->dim].level, entry = u->dim - level;
    struct shape_group g = { .level = level, .flat = u->flat, .n = u->n, .node = u->node, .mates = u->mates };
    g.hash = net->dims[entry].fabric.balance == TOPO_HASH;
    g.routing = u->minimal ? TOPO_ROUTING_MINIMAL : net->dims[entry].fabric.routing;
    for (int32_t k = 0; k < net->dims[entry].n_levels; k++) {
        g.members[k] = members ? members[entry + k] : k == level ? u->n : 1;
        g.stride[k] = u->strides ? u->strides[k] : 1;
    }
    if (!u->flat)
        g.stride[level] = u->stride;
    return g;
}

/* Was no algorithm given for a broadcast over a fabric that carries any traffic? Then it passes all members
 * at once: as a chain in pieces, each level once, or whatever is faster at its size. */
static bool is_free_broadcast(const struct topo_dim *entry)
{
    return topo_is_fabric(entry) && topo_ops(entry)->any_traffic &&
           (entry->algorithm == TOPO_ALGORITHM_SHAPE || entry->algorithm == TOPO_ALGORITHM_AUTO);
}

/* Load of a pass over @p full_B bytes in a fabric, added to its classes. A broadcast is the ideal one, as in
 * plain dimensions: the NPU that sends most passes the whole buffer on; where members send directly, to all
 * others alike. Returns what it sends by drawn routers. */
static double add_fabric_load(double *out, const struct stage_unit *u, const int32_t *members, enum pass pass,
                              double full_B, const struct topo_network *net)
{
    struct stage s;
    double time_s, part = 1;
    struct stage_rules rules = stage_rules_plain;
    const struct collective_way way = { net, &rules, NULL };
    rules.endless = true;
    stage_try(&s, u, members, pass_collective(pass), pass, full_B, &way, &time_s);
    const struct topo_dim *first = &net->dims[u->dim - net->dims[u->dim].level];
    if (pass == PASS_BROADCAST && s.choice.algorithm == TOPO_ALGORITHM_DIRECT && !is_free_broadcast(first)) {
        part = u->n / (2 * (u->n - 1.0)); /* scattered and gathered are 2 (n-1)/n */
    } else if (pass == PASS_BROADCAST) {
        struct shape_group g = unit_group(u, members, net);
        struct shape_load l;
        topo_load(&l, SHAPE_PASS, first, &g);
        for (int32_t k = 0; k < first->n_levels; k++)
            out[u->dim - g.level + k] += l.load[k] * full_B;
        return l.valiant;
    }
    out[s.dim] += part * s.sent_B;
    for (int32_t i = 0; i < s.n_more; i++)
        out[s.more[i].dim] += part * s.more[i].sent_B;
    return s.valiant;
}

/* What a whole group of @p dim sends when nothing else is said; of a broadcast the ideal one. */
static enum shape_pattern usual_pattern(const struct topo_dim *dim, enum collective_kind kind,
                                        int32_t members)
{
    static const enum shape_pattern patterns[N_TOPO_ALGORITHMS] = {
        [TOPO_ALGORITHM_RING] = SHAPE_NEXT,
        [TOPO_ALGORITHM_DIRECT] = SHAPE_DIRECT,
        [TOPO_ALGORITHM_HALVING] = SHAPE_HALVING,
        [TOPO_ALGORITHM_BRUCK] = SHAPE_BRUCK,
    };
    enum topo_algorithm usual = topo_usual(dim, members);
    if (kind == COLLECTIVE_ALL_TO_ALL)
        return SHAPE_DIRECT;
    if (kind == COLLECTIVE_SEND)
        return SHAPE_SEND;
    if (kind == COLLECTIVE_BROADCAST && usual != TOPO_ALGORITHM_DIRECT)
        return SHAPE_PASS;
    return patterns[usual];
}

/* How much longer the links of such a group take than a port with all of the dimension's bandwidth. */
static double links_factor(const struct topo_dim *dim, enum collective_kind kind, int32_t members,
                           int32_t stride, bool detour)
{
    enum shape_pattern pattern = usual_pattern(dim, kind, members);
    struct shape_group g = { .n = members, .members = { members }, .stride = { stride } };
    struct shape_load links, port;
    g.detour = detour && kind != COLLECTIVE_BROADCAST;
    topo_ops(dim)->load(&links, pattern, dim, &g);
    shape_port_load(&port, pattern, members);
    return links.load[0] / port.load[0];
}

/* Of an all-to-all's bytes, what dimension @p d carries; its copies are merged where a share is given. */
static double share_of(const double *share, enum collective_kind kind, int32_t d)
{
    return kind == COLLECTIVE_ALL_TO_ALL && share && share[d] > 0 ? share[d] : 1;
}

double collective_gain(const struct topo_dim *dim, enum collective_kind kind, const double *share)
{
    double own = share && share[0] > 0 ? dim->dispatch : dim->all_to_all;
    return kind == COLLECTIVE_ALL_TO_ALL && own > 0 ? own / dim->efficiency : 1;
}

/* What units of fabrics ask of their classes. False: all that goes by minimal routes, or only one unit does
 * not, which is best off as it is. */
static bool add_units(double *out, double *valiant, const struct stage_unit *units, int32_t n,
                      enum collective_kind kind, double bytes, const int32_t *members, const double *share,
                      const struct topo_network *net)
{
    static const enum pass passes[N_COLLECTIVES] = { PASS_REDUCE_SCATTER, PASS_REDUCE_SCATTER,
                                                     PASS_ALL_GATHER,     PASS_ALL_TO_ALL,
                                                     PASS_BROADCAST,      PASS_SEND };
    bool drawn = false;
    /* What enters the first unit, and by how much each divides it. */
    double full_B = bytes;
    if (kind == COLLECTIVE_ALL_REDUCE)
        full_B *= 2;
    for (int32_t i = 0; i < n && kind == COLLECTIVE_ALL_GATHER; i++)
        full_B *= units[i].n;
    for (int32_t i = 0; i < n; i++) {
        const struct topo_dim *dim = &net->dims[units[i].dim];
        if (topo_is_fabric(dim - dim->level)) {
            double v = add_fabric_load(out, &units[i], members, passes[kind],
                                       full_B * share_of(share, kind, units[i].dim), net);
            for (int32_t k = 0; k < (units[i].flat ? dim->n_levels : 1); k++)
                valiant[units[i].dim + k] = v;
            drawn = drawn || v > 0;
        }
        if (passes[kind] == PASS_REDUCE_SCATTER || passes[kind] == PASS_ALL_GATHER)
            full_B /= units[i].n;
    }
    return drawn && n > 1;
}

/* What the slowest class of the fabric that begins at @p d has to carry, over its bandwidth by that of the
 * first. */
static double entry_most(const double *loads, const struct topo_network *net, int32_t d)
{
    double most = loads[d], over_first = 1;
    for (int32_t k = 1; k < net->dims[d].n_levels; k++) {
        over_first *= net->dims[d + k].tie;
        most = fmax(most, loads[d + k] / over_first);
    }
    return most;
}

/* @p valiant: of its messages along each dimension those by drawn routers. */
static void find_loads(double *out, double *valiant, enum collective_kind kind, double bytes,
                       const int32_t *members, const int32_t *stride, const double *share,
                       const struct topo_network *net)
{
    struct stage_unit units[TOPO_MAX_DIMS];
    collective_traffic(out, kind, bytes, members, net->n_dims);
    for (int32_t d = 0; d < net->n_dims; d++) {
        valiant[d] = 0;
        out[d] *= share_of(share, kind, d);
        if (topo_is_fabric(&net->dims[d - net->dims[d].level]))
            out[d] = 0;
        else if (members[d] > 1 && !net->whole_parts)
            out[d] *=
                links_factor(&net->dims[d], kind, members[d], stride ? stride[d] : 1, net->dims[d].detour);
    }
    if (!topo_has_fabric(net))
        return;
    int32_t n = stage_units(units, kind, members, stride, share, NULL, net);
    for (int32_t i = 0; i < n; i++)
        for (int32_t d = 0; d < units[i].dim && units[i].node > 1; d++)
            out[d] = 0; /* counted with the unit */
    double minimal[TOPO_MAX_DIMS], none[TOPO_MAX_DIMS];
    memcpy(minimal, out, (size_t)net->n_dims * sizeof *out);
    if (!add_units(out, valiant, units, n, kind, bytes, members, share, net))
        return;
    for (int32_t i = 0; i < n; i++)
        units[i].minimal = true;
    add_units(minimal, none, units, n, kind, bytes, members, share, net);
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d))
        if (net->dims[d].fabric.routing == TOPO_ROUTING_ADAPTIVE &&
            entry_most(minimal, net, d) < entry_most(out, net, d)) {
            memcpy(&out[d], &minimal[d], (size_t)net->dims[d].n_levels * sizeof *out);
            memset(&valiant[d], 0, (size_t)net->dims[d].n_levels * sizeof *valiant);
        }
}

void collective_loads(double *out, enum collective_kind kind, double bytes, const int32_t *members,
                      const int32_t *stride, const double *share, const struct topo_network *net)
{
    double valiant[TOPO_MAX_DIMS];
    find_loads(out, valiant, kind, bytes, members, stride, share, net);
    for (int32_t d = 0; d < net->n_dims && kind == COLLECTIVE_ALL_TO_ALL; d++)
        out[d] /= collective_gain(&net->dims[d - net->dims[d].level], kind, share);
}

void collective_valiant(double *out, enum collective_kind kind, const int32_t *members, const int32_t *stride,
                        const double *share, const struct topo_network *net)
{
    double loads[TOPO_MAX_DIMS];
    find_loads(loads, out, kind, 1, members, stride, share, net);
}

double collective_reach(const struct topo_dim *dim)
{
    return dim->size > 2 ? topo_ops(dim)->reach : 1;
}

double collective_share(const struct topo_dim *dim)
{
    return collective_reach(dim) * dim->efficiency;
}

/* How much more the busiest link of a class carries than the mean, of entry @p d, when all of it exchange. */
static void uniform_uneven(struct collective_uniform *u, const struct topo_network *net, int32_t d)
{
    const struct topo_dim *dim = &net->dims[d];
    struct shape_group all = { .flat = true, .n = (int32_t)topo_group_size(dim) };
    struct shape_load l;
    for (int32_t k = 0; k < dim->n_levels; k++)
        all.members[k] = dim[k].size;
    all.routing = dim->fabric.routing;
    all.hash = dim->fabric.balance == TOPO_HASH;
    topo_load(&l, SHAPE_DIRECT, dim, &all);
    for (int32_t k = 0; k < dim->n_levels; k++)
        if (l.mean[k] > 0 && l.load[k] > l.mean[k] * u->uneven * (1 + 1e-9)) {
            u->uneven = l.load[k] / l.mean[k];
            u->uneven_dim = d + k;
        }
}

void collective_find_uniform(struct collective_uniform *u, const struct topo_network *net)
{
    double load[TOPO_MAX_DIMS], others = ((double)net->n_npus - 1) / (double)net->n_npus;
    int32_t members[TOPO_MAX_DIMS];
    struct topo_network links = *net;
    links.whole_parts = false; /* what links give, whatever a study reckons with */
    *u = (struct collective_uniform){ INFINITY, -1, INFINITY, 1, -1 };
    for (int32_t d = 0; d < net->n_dims; d++)
        members[d] = net->dims[d].size;
    collective_loads(load, COLLECTIVE_ALL_TO_ALL, 1, members, NULL, NULL, &links);
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        double rate_Bps = load[d] > 0 ? others * dim->bw_Bps * collective_reach(dim) / load[d] : INFINITY;
        if (rate_Bps < u->rate_Bps) {
            u->rate_Bps = rate_Bps;
            u->dim = d;
        }
        if ((dim->level > 0 || !topo_ops(dim)->one_port) && rate_Bps < u->fabric_Bps)
            u->fabric_Bps = rate_Bps;
        if (topo_is_fabric(dim))
            uniform_uneven(u, net, d);
    }
    if (!topo_has_bandwidths(net)) {
        u->rate_Bps = u->fabric_Bps = NAN;
        u->dim = -1;
    }
}

double collective_best_share(const struct topo_dim *dim)
{
    double best = dim->efficiency;
    for (int32_t i = 1; i <= dim->n_regimes + dim->n_curves; i++)
        best = fmax(best, topo_dim_regime(dim, i).efficiency);
    return collective_reach(dim) * best;
}

/* ---- stages ---- */

/* A difference below this is rounding; the choice tried first stays. */
#define FASTER_REL 1e-12

/* The choice under way: what is fixed, and the best so far. */
struct segment_search {
    const struct collective_way *way;
    const struct topo_dim *dim;   /* that regimes and algorithm are those of */
    int32_t curve;                /* row of the curve that counts instead of these, or -1 */
    const struct topo_dim *entry; /* first of its fabric, or dim */
    struct shape_group group;
    const int32_t *members;       /* shape [n_dims], of a unit over rails */
    double bw_Bps[SHAPE_CLASSES]; /* of the entry's classes */
    struct stage *best;
    double best_s;
};

/* What an all-to-all inside a node asks of the classes of an entry there, over what each member has for the
 * node: by the links that a part of a dimension has. */
static void node_load(double load[SHAPE_CLASSES], const struct topo_dim *dim, const int32_t *members)
{
    struct shape_group g = { .flat = true, .n = 1 };
    struct shape_load l = { 0 };
    for (int32_t k = 0; k < dim->n_levels; k++)
        g.n *= g.members[k] = members[k];
    if (topo_is_fabric(dim) && g.n > 1)
        topo_ops(dim)->load(&l, SHAPE_DIRECT, dim, &g);
    else if (g.n > 1)
        l.load[0] = (g.n - 1.0) / g.n * links_factor(dim, COLLECTIVE_ALL_TO_ALL, g.n, 1, false);
    for (int32_t k = 0; k < SHAPE_CLASSES; k++)
        load[k] = l.load[k];
}

/* What the classes beside the stage's own must carry; over rails also the dimensions of the node, in which a
 * member has `node` of `n` parts of the buffer for others. */
static void fill_more(struct stage *s, const struct segment_search *x, const struct algorithm_cost *c,
                      double efficiency)
{
    const struct topo_dim *dims = x->way->net->dims;
    double load[SHAPE_CLASSES];
    s->n_more = 0;
    for (int32_t d = 0; d < s->entry && s->node > 1; d = topo_after_entry(dims, d)) {
        node_load(load, &dims[d], &x->members[d]);
        for (int32_t k = 0; k < topo_after_entry(dims, d) - d; k++) {
            double sent_B = s->full_B * s->node / x->group.n * load[k];
            if (sent_B > 0)
                s->more[s->n_more++] =
                    (struct stage_class){ d + k, sent_B, sent_B / collective_share(&dims[d]) };
        }
    }
    for (int32_t k = 0; k < x->entry->n_levels; k++) {
        double sent_B = c->loads[k] * s->full_B;
        if (s->entry + k != s->dim && sent_B > 0)
            s->more[s->n_more++] =
                (struct stage_class){ s->entry + k, sent_B, sent_B * c->idle / efficiency };
    }
}

static double search_time(const struct segment_search *x, const struct stage *s)
{
    double time_s = s->load_B / x->bw_Bps[s->dim - s->entry];
    for (int32_t i = 0; i < s->n_more; i++)
        if (s->more[i].dim >= s->entry) /* in the node nothing is to choose */
            time_s = fmax(time_s, s->more[i].load_B / x->bw_Bps[s->more[i].dim - s->entry]);
    return s->const_s + time_s;
}

static void try_choice(struct segment_search *x, struct stage_choice choice)
{
    struct algorithm_cost c;
    struct stage s = *x->best;
    const struct topo_dim *dim = x->dim;
    const struct topo_regime r = topo_dim_regime(dim, choice.regime);
    if (!algorithm_group_cost(&c, choice.algorithm, s.pass, x->entry, &x->group, choice.segments))
        return;
    s.choice = choice;
    s.valiant = c.valiant;
    s.sent_B = c.load * s.full_B;
    s.load_B = s.sent_B * c.idle / (collective_reach(dim) * r.efficiency);
    s.const_s = c.hops * topo_dim_chunk_s(dim, choice.regime, x->way->rules->chunks) +
                c.messages * x->way->rules->endpoint_s + 3 * c.reduced * s.full_B / x->way->rules->mem_Bps;
    if (topo_is_fabric(x->entry))
        fill_more(&s, x, &c, r.efficiency);
    double time_s = search_time(x, &s);
    if (x->best_s < 0 || time_s < x->best_s * (1 - FASTER_REL)) {
        *x->best = s;
        x->best_s = time_s;
    }
}

/* Does number @p i count here: of curves a row of the collective and members chosen, else all but curves? */
static bool is_candidate(const struct segment_search *x, int32_t i)
{
    const struct topo_curve *rows = x->dim->curves;
    if (x->curve < 0 || i <= x->dim->n_regimes)
        return x->curve < 0 && i <= x->dim->n_regimes;
    i -= x->dim->n_regimes + 1;
    return rows[i].collective == rows[x->curve].collective && rows[i].members == rows[x->curve].members;
}

/* The regime that a buffer of this size must use, or -1: it may choose. */
static int32_t forced_regime(const struct segment_search *x, double whole_B)
{
    int32_t forced = -1;
    double least_B = INFINITY;
    for (int32_t i = 0; i <= x->dim->n_regimes + x->dim->n_curves; i++) {
        double up_to_B = topo_dim_regime(x->dim, i).up_to_B;
        if (is_candidate(x, i) && whole_B <= up_to_B && up_to_B < least_B) {
            least_B = up_to_B;
            forced = i;
        }
    }
    return forced;
}

static void try_algorithm(struct segment_search *x, enum topo_algorithm a)
{
    bool many = algorithm_has_segments(a, x->best->pass);
    int32_t forced = forced_regime(x, x->best->full_B * x->way->rules->chunks);
    for (int32_t i = 0; i <= x->dim->n_regimes + x->dim->n_curves; i++)
        for (int32_t k = 1; k <= (many ? STAGE_MAX_SEGMENTS : 1); k *= 2)
            if (forced < 0 ? is_candidate(x, i) && isinf(topo_dim_regime(x->dim, i).up_to_B) : i == forced)
                try_choice(x, (struct stage_choice){ a, i, k });
}

int32_t collective_find_curve(const struct topo_dim *dim, enum collective_kind kind, int32_t members)
{
    static const int of[N_COLLECTIVES] = {
        [COLLECTIVE_ALL_REDUCE] = TOPO_MEASURED_ALL_REDUCE,
        [COLLECTIVE_REDUCE_SCATTER] = TOPO_MEASURED_REDUCE_SCATTER,
        [COLLECTIVE_ALL_GATHER] = TOPO_MEASURED_ALL_GATHER,
        [COLLECTIVE_ALL_TO_ALL] = -1,
        [COLLECTIVE_BROADCAST] = -1,
        [COLLECTIVE_SEND] = -1,
    };
    int32_t best = -1, best_n = 0;
    for (int32_t i = 0; i < dim->n_curves; i++) {
        int32_t n = dim->curves[i].members ? dim->curves[i].members : INT32_MAX;
        if ((int)dim->curves[i].collective != of[kind])
            continue;
        /* The least number that is not below; where there is none, the largest. */
        if (best < 0 || (n >= members ? best_n < members || n < best_n : best_n < members && n > best_n)) {
            best = i;
            best_n = n;
        }
    }
    return best;
}

/* Bandwidths of the entry's classes; unknown ones are so small that what the links carry decides. */
static void take_bandwidths(struct segment_search *x, int32_t entry)
{
    const double *bw_Bps = x->way->bw_Bps;
    double unknown_Bps = 1e-6;
    for (int32_t k = 0; k < SHAPE_CLASSES; k++) {
        bool known = entry + k < TOPO_MAX_DIMS && bw_Bps && bw_Bps[entry + k] > 0;
        if (k > 0 && k < x->entry->n_levels && x->entry[k].tie > 0)
            unknown_Bps *= x->entry[k].tie;
        x->bw_Bps[k] = known ? bw_Bps[entry + k] : unknown_Bps;
        if (k + 1 >= x->entry->n_levels)
            break;
    }
}

/* Do reductions over several axes of the fabric mix orders? Rows of several levels only where all take part.
 */
static bool mixes_orders(const struct topo_dim *entry, const int32_t *members)
{
    const struct shape_ops *ops = topo_ops(entry);
    if (!(ops->algorithms >> TOPO_ALGORITHM_MIXED & 1))
        return false;
    for (int32_t k = 0; k < entry->n_levels && ops->row_levels; k++)
        if (members[k] != entry[k].size)
            return false;
    return entry->algorithm == TOPO_ALGORITHM_MIXED || entry->algorithm == TOPO_ALGORITHM_AUTO ||
           (entry->algorithm == TOPO_ALGORITHM_SHAPE && ops->mixed);
}

/* Fill s, a pass of collective @p of (that curves are measured of); false when no algorithm that the
 * dimension allows has the pass. */
static bool stage_try(struct stage *s, const struct stage_unit *u, const int32_t *members,
                      enum collective_kind of, enum pass pass, double full_B,
                      const struct collective_way *way, double *time_s)
{
    const struct topo_dim *dim = &way->net->dims[u->dim], *first = dim - dim->level;
    struct segment_search x = { .way = way, .dim = dim, .entry = first, .best = s, .best_s = -1 };
    int32_t entry = u->dim - dim->level;
    x.curve = dim->n_curves ? collective_find_curve(dim, of, u->n) : -1;
    x.group = unit_group(u, members, way->net);
    x.group.detour = dim->detour && pass != PASS_BROADCAST;
    x.group.endless = way->rules->endless;
    x.members = members;
    *s = (struct stage){ .dim = u->dim,
                         .entry = entry,
                         .flat = u->flat,
                         .node = u->node > 1 ? u->node : 1,
                         .pass = pass,
                         .full_B = full_B,
                         .gain = 1 };
    take_bandwidths(&x, entry);
    enum topo_algorithm given = topo_is_fabric(first) && !u->flat ? TOPO_ALGORITHM_SHAPE : dim->algorithm;
    if (dim->algorithm == TOPO_ALGORITHM_AUTO)
        given = TOPO_ALGORITHM_AUTO;
    if (u->flat && mixes_orders(first, &members[entry]))
        given = TOPO_ALGORITHM_MIXED;
    enum topo_algorithm a = algorithm_resolve(dim, given, pass, u->n);
    /* What suits the shape is tried first, so that it wins ties. */
    bool chosen = a == TOPO_ALGORITHM_AUTO || (pass == PASS_BROADCAST && is_free_broadcast(first));
    try_algorithm(&x, chosen ? algorithm_resolve(dim, TOPO_ALGORITHM_SHAPE, pass, u->n) : a);
    if (chosen)
        for (a = TOPO_ALGORITHM_RING; a < N_TOPO_ALGORITHMS; a++)
            if (!topo_is_fabric(first) || topo_ops(first)->algorithms >> a & 1)
                try_algorithm(&x, a);
    *time_s = x.best_s;
    return x.best_s >= 0;
}

static void unit_fill(struct stage *s, const struct stage_unit *u, const int32_t *members, enum pass pass,
                      double full_B, const struct collective_way *way)
{
    double time_s;
    /* Only an all-reduce has no algorithm of its own on some dimensions; unit_fill_turn() is for that. */
    bool filled = stage_try(s, u, members, pass_collective(pass), pass, full_B, way, &time_s);
    assert(filled);
    (void)filled;
}

static int32_t unit_fill_turn(struct stage s[2], const struct stage_unit *u, const int32_t *members,
                              double full_B, const struct collective_way *way)
{
    const enum collective_kind turn = COLLECTIVE_ALL_REDUCE; /* halves of one, whatever their passes */
    struct stage whole = { 0 }, halves[2] = { 0 };
    double whole_s, first_s, second_s;
    bool has_whole = stage_try(&whole, u, members, turn, PASS_ALL_REDUCE, full_B, way, &whole_s);
    bool has_halves = stage_try(&halves[0], u, members, turn, PASS_REDUCE_SCATTER, full_B, way, &first_s) &&
                      stage_try(&halves[1], u, members, turn, PASS_ALL_GATHER, full_B, way, &second_s);
    bool chosen = way->net->dims[u->dim].algorithm == TOPO_ALGORITHM_AUTO;
    if (has_whole && (!has_halves || !chosen || whole_s <= first_s + second_s)) {
        s[0] = whole;
        return 1;
    }
    s[0] = halves[0];
    s[1] = halves[1];
    return 2;
}

void stage_fill(struct stage *s, int32_t dim, enum pass pass, double full_B, int32_t members, int32_t stride,
                const struct collective_way *way)
{
    unit_fill(s, &(struct stage_unit){ .dim = dim, .n = members, .stride = stride }, NULL, pass, full_B, way);
}

/* Does a collective work on all levels of the fabric at once? */
static bool is_flat(const struct topo_dim *entry, enum collective_kind kind, const int32_t *members)
{
    bool axes = topo_ops(entry)->algorithms >> TOPO_ALGORITHM_FIXED & 1;
    int32_t n_used = 0, n = 1;
    if (!topo_is_fabric(entry))
        return false;
    for (int32_t k = 0; k < entry->n_levels; k++) {
        n_used += members[k] > 1;
        n *= members[k];
    }
    if (axes && n_used < 2)
        return false;
    if (entry->fabric.filled) /* no level of it is filled evenly */
        return true;
    if (kind == COLLECTIVE_ALL_TO_ALL || kind == COLLECTIVE_SEND)
        return true;
    if (kind == COLLECTIVE_BROADCAST && is_free_broadcast(entry))
        return true;
    if (entry->in_switch != TOPO_IN_SWITCH_NONE &&
        (entry->algorithm == TOPO_ALGORITHM_SHAPE || entry->algorithm == TOPO_ALGORITHM_AUTO ||
         entry->algorithm == TOPO_ALGORITHM_SWITCH))
        return n >= entry->in_switch_min;
    if (mixes_orders(entry, members))
        return kind != COLLECTIVE_BROADCAST;
    return entry->algorithm != TOPO_ALGORITHM_SHAPE && entry->algorithm != TOPO_ALGORITHM_AUTO &&
           entry->algorithm != TOPO_ALGORITHM_FIXED && entry->algorithm != TOPO_ALGORITHM_MIXED;
}

/* Members of a node that change rails in the tree: all of the group in an all-to-all between nodes, unless
 * that is forwarded inside the node, as copies are that travel merged; else 1. */
static int32_t members_crossing(enum collective_kind kind, const int32_t *members, const double *share,
                                const struct topo_network *net, int32_t shared)
{
    int32_t node = 1, nodes = 1;
    if (shared < 0 || kind != COLLECTIVE_ALL_TO_ALL || net->dims[shared].fabric.forward ||
        (share && share[0] > 0))
        return 1;
    for (int32_t d = 0; d < shared; d++)
        node *= members[d];
    for (int32_t k = 0; k < net->dims[shared].n_levels; k++)
        nodes *= members[shared + k];
    return nodes > 1 ? node : 1;
}

int32_t stage_units(struct stage_unit out[TOPO_MAX_DIMS], enum collective_kind kind, const int32_t *members,
                    const int32_t *stride, const double *share, const int32_t *order,
                    const struct topo_network *net)
{
    bool taken[TOPO_MAX_DIMS] = { false };
    int32_t n = 0, shared = topo_shared_spine(net),
            node = members_crossing(kind, members, share, net, shared);
    for (int32_t i = 0; i < net->n_dims; i++) {
        int32_t d = order ? order[i] : i, entry = d - net->dims[d].level;
        const struct topo_dim *first = &net->dims[entry];
        struct stage_unit u = { .dim = d, .n = members[d], .stride = stride ? stride[d] : 1, .node = 1 };
        if (node > 1 && entry < shared)
            continue;
        if (is_flat(first, kind, &members[entry])) {
            if (taken[entry])
                continue;
            taken[entry] = true;
            u = (struct stage_unit){ .dim = entry, .flat = true, .n = 1, .node = 1 };
            u.strides = stride ? &stride[entry] : NULL;
            if (entry == shared) {
                u.n = u.node = node;
                u.mates = topo_rail_mates(net, shared, members, stride);
            }
            for (int32_t k = 0; k < first->n_levels; k++)
                u.n *= members[entry + k];
        }
        if (u.n > 1)
            out[n++] = u;
    }
    return n;
}

struct stage_chain {
    struct stage *out;
    int32_t n;
    const int32_t *members;
    const struct collective_way *way;
};

static void stage_add(struct stage_chain *c, const struct stage_unit *u, enum pass pass, double full_B)
{
    unit_fill(&c->out[c->n++], u, c->members, pass, full_B, c->way);
}

/* Each unit passes on 1/n of what it got. */
static void stage_add_scatter(struct stage_chain *c, const struct stage_unit *units, int32_t n, double bytes)
{
    for (int32_t i = 0; i < n; i++) {
        stage_add(c, &units[i], PASS_REDUCE_SCATTER, bytes);
        bytes /= units[i].n;
    }
}

/* Of an all-to-all, by how much more or less of each class it reaches than other collectives. */
static void stage_gain(struct stage *s, const struct topo_network *net, const double *share)
{
    const struct topo_dim *entry = &net->dims[s->entry];
    s->gain = collective_gain(entry, COLLECTIVE_ALL_TO_ALL, share);
    s->load_B /= s->gain;
    for (int32_t i = 0; i < s->n_more; i++) {
        int32_t d = s->more[i].dim;
        s->more[i].load_B /=
            d < s->entry ? collective_gain(&net->dims[d], COLLECTIVE_ALL_TO_ALL, share) : s->gain;
    }
}

static void stage_add_gather(struct stage_chain *c, const struct stage_unit *units, int32_t n, double shard_B)
{
    for (int32_t i = n; i-- > 0;) {
        shard_B *= units[i].n;
        stage_add(c, &units[i], PASS_ALL_GATHER, shard_B);
    }
}

static void stage_add_all_reduce(struct stage_chain *c, const struct stage_unit *units, int32_t n,
                                 double bytes)
{
    double shard_B = bytes;
    for (int32_t i = 0; i < n - 1; i++)
        shard_B /= units[i].n;
    stage_add_scatter(c, units, n - 1, bytes);
    c->n += unit_fill_turn(&c->out[c->n], &units[n - 1], c->members, shard_B, c->way);
    stage_add_gather(c, units, n - 1, shard_B);
}

static void stage_add_each(struct stage_chain *c, const struct stage_unit *units, int32_t n, enum pass pass,
                           double bytes)
{
    for (int32_t i = 0; i < n; i++)
        stage_add(c, &units[pass == PASS_BROADCAST ? n - 1 - i : i], pass, bytes);
}

int32_t stage_list(struct stage out[STAGE_MAX], enum collective_kind kind, double bytes,
                   const int32_t *members, const int32_t *stride, const double *share, const int32_t *order,
                   const struct collective_way *way)
{
    struct stage_chain c = { out, 0, members, way };
    struct stage_unit units[TOPO_MAX_DIMS];
    int32_t n = stage_units(units, kind, members, stride, share, order, way->net);
    if (n == 0 || !(bytes > 0))
        return 0;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        stage_add_all_reduce(&c, units, n, bytes);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        stage_add_scatter(&c, units, n, bytes);
        break;
    case COLLECTIVE_ALL_GATHER:
        stage_add_gather(&c, units, n, bytes);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        for (int32_t i = 0; i < n; i++) {
            stage_add(&c, &units[i], PASS_ALL_TO_ALL, bytes * share_of(share, kind, units[i].dim));
            stage_gain(&c.out[c.n - 1], way->net, share);
        }
        break;
    case COLLECTIVE_BROADCAST:
        stage_add_each(&c, units, n, PASS_BROADCAST, bytes);
        break;
    case COLLECTIVE_SEND:
        stage_add_each(&c, units, n, PASS_SEND, bytes);
        break;
    case N_COLLECTIVES:
        break;
    }
    return c.n;
}

int32_t stage_rows(struct stage_row out[TOPO_MAX_DIMS], const struct stage *stages, int32_t n,
                   enum collective_kind kind, int32_t chunks)
{
    bool turns = kind == COLLECTIVE_ALL_REDUCE;
    int32_t place[TOPO_MAX_DIMS], n_places = 0, n_rows = 0;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        place[d] = -1;
    /* Every dimension of an all-reduce appears on the way out, before the first all-gather. Levels of a
     * fabric share its links: one place. */
    for (int32_t k = 0; k < n && (!turns || stages[k].pass != PASS_ALL_GATHER); k++)
        if (place[stages[k].entry] < 0)
            place[stages[k].entry] = n_places++;
    /* Of one chunk the last row has every stage once: no other is longer. */
    for (int32_t r = chunks == 1 ? n_places - 1 : 0; r < n_places; r++) {
        for (int32_t k = 0; k < n; k++) {
            int32_t at = place[stages[k].entry];
            out[n_rows].count[k] = at == r ? chunks : !turns || at < r ? 1 : 0;
        }
        n_rows++;
    }
    return n_rows;
}

/* Does what a dimension does depend on size or bandwidth, in passes of this collective? Curves of one stretch
 * are lines; an all-reduce is of passes of all three that curves are measured of. */
static bool dim_has_choice(const struct topo_dim *dim, enum collective_kind kind)
{
    if (dim->algorithm == TOPO_ALGORITHM_AUTO || dim->algorithm == TOPO_ALGORITHM_TREE || dim->n_regimes)
        return true;
    for (int32_t i = 0; i < dim->n_curves; i++) {
        enum topo_measured of = dim->curves[i].collective;
        bool counts = kind == COLLECTIVE_ALL_REDUCE ||
                      (kind == COLLECTIVE_REDUCE_SCATTER && of == TOPO_MEASURED_REDUCE_SCATTER) ||
                      (kind == COLLECTIVE_ALL_GATHER && of == TOPO_MEASURED_ALL_GATHER);
        if (counts && isfinite(dim->curves[i].line.up_to_B))
            return true;
    }
    return false;
}

static bool net_has_choice(const struct topo_network *net, enum collective_kind kind)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        if (dim_has_choice(&net->dims[d], kind))
            return true;
    return false;
}

bool stage_has_choice(const struct topo_network *net)
{
    return net_has_choice(net, COLLECTIVE_ALL_REDUCE); /* what any collective may choose it may */
}

/* The passes of one chunk, and how often each counts. */
struct collective_time_chain {
    struct stage stages[STAGE_MAX];
    struct stage_row rows[TOPO_MAX_DIMS];
    int32_t n, n_rows;
};

static void chain_fill(struct collective_time_chain *c, enum collective_kind kind, double bytes,
                       const int32_t *members, const int32_t *stride, const double *share,
                       const struct collective_way *way)
{
    c->n = stage_list(c->stages, kind, bytes / way->rules->chunks, members, stride, share, NULL, way);
    c->n_rows = c->n ? stage_rows(c->rows, c->stages, c->n, kind, way->rules->chunks) : 0;
}

/* How long each class of links is busy with all chunks. */
static void chain_busy(double *busy_s, const struct collective_time_chain *c,
                       const struct collective_way *way)
{
    double sent_B[TOPO_MAX_DIMS] = { 0 };
    for (int32_t k = 0; k < c->n; k++)
        stage_tally(&c->stages[k], way->rules->chunks, way->bw_Bps, sent_B, busy_s);
}

/* Time of a row, its transfers by dimension. */
static double chain_row_time(const struct collective_time_chain *c, int32_t r,
                             const struct collective_way *way, double *wait_s)
{
    double time_s = 0;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        wait_s[d] = 0;
    for (int32_t k = 0; k < c->n; k++) {
        double count = c->rows[r].count[k];
        if (!(count > 0))
            continue;
        double transfer_s = stage_transfer_s(&c->stages[k], way->bw_Bps);
        wait_s[stage_binding(&c->stages[k], way->bw_Bps)] += count * transfer_s;
        time_s += count * (c->stages[k].const_s + transfer_s);
    }
    return time_s;
}

static void time_by_bandwidth(struct collective_time *out, enum collective_kind kind, double bytes,
                              const int32_t *members, const int32_t *stride, const double *share,
                              const struct collective_way *way)
{
    double traffic_B[TOPO_MAX_DIMS];
    int32_t slowest = -1;
    collective_loads(traffic_B, kind, bytes, members, stride, share, way->net);
    for (int32_t d = 0; d < way->net->n_dims; d++) {
        double time_s =
            traffic_B[d] > 0 ? traffic_B[d] / collective_share(&way->net->dims[d]) / way->bw_Bps[d] : 0;
        out->busy_s[d] = time_s;
        if (time_s > out->time_s) {
            out->time_s = time_s;
            slowest = d;
        }
    }
    if (slowest >= 0)
        out->wait_s[slowest] = out->time_s;
}

void collective_time(struct collective_time *out, enum collective_kind kind, double bytes,
                     const int32_t *members, const int32_t *stride, const double *share,
                     const struct collective_way *way)
{
    struct collective_time_chain c;
    *out = (struct collective_time){ 0 };
    if (!way->rules) {
        time_by_bandwidth(out, kind, bytes, members, stride, share, way);
        return;
    }
    chain_fill(&c, kind, bytes, members, stride, share, way);
    chain_busy(out->busy_s, &c, way);
    for (int32_t r = 0; r < c.n_rows; r++) {
        double wait_s[TOPO_MAX_DIMS], time_s = chain_row_time(&c, r, way, wait_s);
        if (!(time_s > out->time_s))
            continue;
        out->time_s = time_s;
        for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
            out->wait_s[d] = wait_s[d];
    }
}

/* ---- as lines ---- */

bool collective_is_linear(enum collective_kind kind, const struct collective_way *way)
{
    return !way->rules || (kind != COLLECTIVE_BROADCAST && !net_has_choice(way->net, kind));
}

static bool collective_is_below(const struct collective_line *a, const struct collective_line *b)
{
    return a->const_s <= b->const_s && a->s_per_B <= b->s_per_B;
}

static void add_line(struct collective_lines *out, const struct collective_line *line)
{
    for (int32_t i = 0; i < out->n; i++)
        if (collective_is_below(line, &out->lines[i]))
            return;
    int32_t n = 0;
    for (int32_t i = 0; i < out->n; i++)
        if (!collective_is_below(&out->lines[i], line))
            out->lines[n++] = out->lines[i];
    out->lines[n++] = *line;
    out->n = n;
}

static void form_by_bandwidth(struct collective_form *out, enum collective_kind kind, const int32_t *members,
                              const int32_t *stride, const double *share, const struct collective_way *way)
{
    collective_loads(out->load_B, kind, 1, members, stride, share, way->net);
    for (int32_t d = 0; d < way->net->n_dims; d++) {
        out->load_B[d] /= collective_share(&way->net->dims[d]);
        if (out->load_B[d] > 0)
            out->rows[out->n_rows++].load_B[d] = out->load_B[d];
    }
}

/* What no bandwidth changes of a stage is latency, or grows with the bytes: two sizes tell them apart. */
static const double small_B = 1e6, step_B = 1e6;

/* Add the row of a pipeline; @p large: the same stages of step_B more. */
static void form_add_row(struct collective_form *out, const struct collective_time_chain *small,
                         const struct collective_time_chain *large, int32_t r)
{
    double const_s = 0, large_s = 0;
    struct collective_form_row *row = &out->rows[out->n_rows++];
    for (int32_t k = 0; k < small->n; k++) {
        double count = small->rows[r].count[k];
        const_s += count * small->stages[k].const_s;
        large_s += count * large->stages[k].const_s;
        row->load_B[small->stages[k].dim] += count * small->stages[k].load_B / small_B;
    }
    row->s_per_B = (large_s - const_s) / step_B;
    row->const_s = fmax(const_s - row->s_per_B * small_B, 0);
}

bool collective_find_form(struct collective_form *out, enum collective_kind kind, const int32_t *members,
                          const int32_t *stride, const double *share, const struct collective_way *way)
{
    struct collective_time_chain small, large;
    *out = (struct collective_form){ 0 };
    if (!way->rules) {
        form_by_bandwidth(out, kind, members, stride, share, way);
        return true;
    }
    bool grows = isfinite(way->rules->mem_Bps);
    chain_fill(&small, kind, small_B, members, stride, share, way);
    if (grows)
        chain_fill(&large, kind, small_B + step_B, members, stride, share, way);
    for (int32_t k = 0; k < small.n; k++) {
        if (small.stages[k].n_more)
            return false;
        out->load_B[small.stages[k].dim] += way->rules->chunks * small.stages[k].load_B / small_B;
    }
    for (int32_t r = 0; r < small.n_rows; r++)
        form_add_row(out, &small, grows ? &large : &small, r);
    return true;
}

void collective_form_lines(struct collective_lines *out, const struct collective_form *form,
                           const double *bw_Bps, int32_t n_dims)
{
    *out = (struct collective_lines){ 0 };
    for (int32_t d = 0; d < n_dims; d++)
        out->busy_s_per_B[d] = form->load_B[d] > 0 ? form->load_B[d] / bw_Bps[d] : 0;
    for (int32_t r = 0; r < form->n_rows; r++) {
        const struct collective_form_row *row = &form->rows[r];
        struct collective_line line = { .const_s = row->const_s, .s_per_B = row->s_per_B };
        for (int32_t d = 0; d < n_dims; d++) {
            line.wait_s_per_B[d] = row->load_B[d] > 0 ? row->load_B[d] / bw_Bps[d] : 0;
            line.s_per_B += line.wait_s_per_B[d];
        }
        add_line(out, &line);
    }
}

/* Every part of a row is latency and overhead, or grows with the bytes. */
void collective_find_lines(struct collective_lines *out, enum collective_kind kind, const int32_t *members,
                           const int32_t *stride, const double *share, const struct collective_way *way)
{
    struct collective_form form;
    struct collective_time_chain small, large;
    if (collective_find_form(&form, kind, members, stride, share, way)) {
        collective_form_lines(out, &form, way->bw_Bps, way->net->n_dims);
        return;
    }
    *out = (struct collective_lines){ 0 };
    chain_fill(&small, kind, small_B, members, stride, share, way);
    chain_fill(&large, kind, small_B + step_B, members, stride, share, way);
    chain_busy(out->busy_s_per_B, &small, way);
    for (int32_t d = 0; d < way->net->n_dims; d++)
        out->busy_s_per_B[d] /= small_B;
    for (int32_t r = 0; r < small.n_rows; r++) {
        struct collective_line line = { 0 };
        double small_wait_s[TOPO_MAX_DIMS], large_wait_s[TOPO_MAX_DIMS];
        double small_s = chain_row_time(&small, r, way, small_wait_s);
        double large_s = chain_row_time(&large, r, way, large_wait_s);
        line.s_per_B = isfinite(large_s) ? (large_s - small_s) / step_B : INFINITY; /* no bandwidth */
        line.const_s = fmax(small_s - line.s_per_B * small_B, 0);
        for (int32_t d = 0; d < way->net->n_dims; d++)
            line.wait_s_per_B[d] = small_wait_s[d] / small_B;
        add_line(out, &line);
    }
}
