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

const char *const collective_names[N_COLLECTIVES + 1] = {
    [COLLECTIVE_ALL_REDUCE] = "all-reduce", [COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
    [COLLECTIVE_ALL_GATHER] = "all-gather", [COLLECTIVE_ALL_TO_ALL] = "all-to-all",
    [COLLECTIVE_BROADCAST] = "broadcast",   [COLLECTIVE_SEND] = "send",
};

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

double collective_reach(const struct topo_dim *dim)
{
    return dim->size > 2 ? topo_ops(dim)->reach : 1;
}

double collective_share(const struct topo_dim *dim)
{
    return collective_reach(dim) * dim->efficiency;
}

double collective_best_share(const struct topo_dim *dim)
{
    double best = dim->efficiency;
    for (int32_t i = 0; i < dim->n_regimes; i++)
        if (dim->regimes[i].efficiency > best)
            best = dim->regimes[i].efficiency;
    return collective_reach(dim) * best;
}

/* ---- stages ---- */

const struct stage_rules stage_rules_plain = { .chunks = 1, .mem_Bps = INFINITY };

/* A difference below this is rounding; the choice tried first stays. */
#define FASTER_REL 1e-12

/* The choice under way: what is fixed, and the best so far. */
struct search {
    const struct topo_network *net;
    const struct stage_rules *rules;
    const struct topo_dim *dim;
    int32_t members;
    double bw_Bps;
    struct stage *best;
    double best_s;
};

static void try_choice(struct search *x, struct stage_choice choice)
{
    struct algorithm_cost c;
    struct stage s = *x->best;
    const struct topo_dim *dim = x->dim;
    struct topo_regime own = { dim->lat_s, dim->efficiency, INFINITY };
    const struct topo_regime *r = choice.regime ? &dim->regimes[choice.regime - 1] : &own;
    if (!algorithm_cost(&c, choice.algorithm, s.pass, dim, x->members, choice.segments))
        return;
    s.choice = choice;
    s.sent_B = c.load * s.full_B;
    s.load_B = s.sent_B / (collective_reach(dim) * r->efficiency);
    s.const_s =
        c.hops * r->lat_s + c.messages * x->rules->endpoint_s + 3 * c.reduced * s.full_B / x->rules->mem_Bps;
    double time_s = s.const_s + s.load_B / x->bw_Bps;
    if (x->best_s < 0 || time_s < x->best_s * (1 - FASTER_REL)) {
        *x->best = s;
        x->best_s = time_s;
    }
}

/* The regime that a buffer of this size must use, or -1: it may choose. */
static int32_t forced_regime(const struct topo_dim *dim, double whole_B)
{
    int32_t forced = -1;
    double least_B = INFINITY;
    for (int32_t i = 0; i < dim->n_regimes; i++)
        if (whole_B <= dim->regimes[i].up_to_B && dim->regimes[i].up_to_B < least_B) {
            least_B = dim->regimes[i].up_to_B;
            forced = i + 1;
        }
    return forced;
}

static bool may_choose(const struct topo_dim *dim, int32_t regime)
{
    return regime == 0 || isinf(dim->regimes[regime - 1].up_to_B);
}

static void try_algorithm(struct search *x, enum topo_algorithm a)
{
    bool many = algorithm_has_segments(a, x->best->pass);
    int32_t forced = forced_regime(x->dim, x->best->full_B * x->rules->chunks);
    for (int32_t regime = 0; regime <= x->dim->n_regimes; regime++)
        for (int32_t k = 1; k <= (many ? STAGE_MAX_SEGMENTS : 1); k *= 2)
            if (forced < 0 ? may_choose(x->dim, regime) : regime == forced)
                try_choice(x, (struct stage_choice){ a, regime, k });
}

/* Fill s; false when no algorithm that the dimension allows has the pass. */
static bool stage_try(struct stage *s, int32_t d, enum pass pass, double full_B, int32_t members,
                      const struct topo_network *net, const struct stage_rules *rules, double bw_Bps,
                      double *time_s)
{
    struct search x = { net, rules, &net->dims[d], members, bw_Bps, s, -1 };
    *s = (struct stage){ .dim = d, .pass = pass, .full_B = full_B };
    /* Unknown: so little that what the links carry decides. */
    if (!(x.bw_Bps > 0))
        x.bw_Bps = 1e-6;
    enum topo_algorithm a = algorithm_resolve(x.dim, x.dim->algorithm, pass, members);
    /* What suits the shape is tried first, so that it wins ties. */
    bool chosen = a == TOPO_ALGORITHM_AUTO;
    try_algorithm(&x, chosen ? algorithm_resolve(x.dim, TOPO_ALGORITHM_SHAPE, pass, members) : a);
    if (chosen)
        for (a = TOPO_ALGORITHM_RING; a < N_TOPO_ALGORITHMS; a++)
            try_algorithm(&x, a);
    *time_s = x.best_s;
    return x.best_s >= 0;
}

void stage_fill(struct stage *s, int32_t dim, enum pass pass, double full_B, int32_t members,
                const struct topo_network *net, const struct stage_rules *rules, double bw_Bps)
{
    double time_s;
    /* Only an all-reduce has no algorithm of its own on some dimensions; stage_fill_turn() is for that. */
    bool filled = stage_try(s, dim, pass, full_B, members, net, rules, bw_Bps, &time_s);
    assert(filled);
    (void)filled;
}

int32_t stage_fill_turn(struct stage s[2], int32_t dim, double full_B, int32_t members,
                        const struct topo_network *net, const struct stage_rules *rules, double bw_Bps)
{
    struct stage whole = { 0 }, halves[2] = { 0 };
    double whole_s, first_s, second_s;
    bool has_whole = stage_try(&whole, dim, PASS_ALL_REDUCE, full_B, members, net, rules, bw_Bps, &whole_s);
    bool has_halves =
        stage_try(&halves[0], dim, PASS_REDUCE_SCATTER, full_B, members, net, rules, bw_Bps, &first_s) &&
        stage_try(&halves[1], dim, PASS_ALL_GATHER, full_B, members, net, rules, bw_Bps, &second_s);
    bool chosen = net->dims[dim].algorithm == TOPO_ALGORITHM_AUTO;
    if (has_whole && (!has_halves || !chosen || whole_s <= first_s + second_s)) {
        s[0] = whole;
        return 1;
    }
    s[0] = halves[0];
    s[1] = halves[1];
    return 2;
}

struct stage_chain {
    struct stage *out;
    int32_t n;
    const int32_t *members;
    const struct topo_network *net;
    const struct stage_rules *rules;
    const double *bw_Bps;
};

static double bw_of(const struct stage_chain *c, int32_t d)
{
    return c->bw_Bps ? c->bw_Bps[d] : NAN;
}

static void stage_add(struct stage_chain *c, int32_t d, enum pass pass, double full_B)
{
    stage_fill(&c->out[c->n++], d, pass, full_B, c->members[d], c->net, c->rules, bw_of(c, d));
}

/* Each dimension passes on 1/n_d of what it got. */
static void stage_add_scatter(struct stage_chain *c, const int32_t *dims, int32_t n, double bytes)
{
    for (int32_t i = 0; i < n; i++) {
        stage_add(c, dims[i], PASS_REDUCE_SCATTER, bytes);
        bytes /= c->members[dims[i]];
    }
}

static void stage_add_gather(struct stage_chain *c, const int32_t *dims, int32_t n, double shard_B)
{
    for (int32_t i = n; i-- > 0;) {
        shard_B *= c->members[dims[i]];
        stage_add(c, dims[i], PASS_ALL_GATHER, shard_B);
    }
}

static void stage_add_all_reduce(struct stage_chain *c, const int32_t *dims, int32_t n, double bytes)
{
    double shard_B = bytes;
    for (int32_t i = 0; i < n - 1; i++)
        shard_B /= c->members[dims[i]];
    stage_add_scatter(c, dims, n - 1, bytes);
    int32_t last = dims[n - 1];
    c->n += stage_fill_turn(&c->out[c->n], last, shard_B, c->members[last], c->net, c->rules, bw_of(c, last));
    stage_add_gather(c, dims, n - 1, shard_B);
}

static void stage_add_each(struct stage_chain *c, const int32_t *dims, int32_t n, enum pass pass,
                           double bytes)
{
    for (int32_t i = 0; i < n; i++)
        stage_add(c, dims[pass == PASS_BROADCAST ? n - 1 - i : i], pass, bytes);
}

int32_t stage_list(struct stage out[STAGE_MAX], enum collective_kind kind, double bytes,
                   const int32_t *members, const int32_t *order, const struct topo_network *net,
                   const struct stage_rules *rules, const double *bw_Bps)
{
    struct stage_chain c = { out, 0, members, net, rules, bw_Bps };
    int32_t dims[TOPO_MAX_DIMS], n = 0;
    for (int32_t i = 0; i < net->n_dims; i++) {
        int32_t d = order ? order[i] : i;
        if (members[d] > 1)
            dims[n++] = d;
    }
    if (n == 0 || !(bytes > 0))
        return 0;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        stage_add_all_reduce(&c, dims, n, bytes);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        stage_add_scatter(&c, dims, n, bytes);
        break;
    case COLLECTIVE_ALL_GATHER:
        stage_add_gather(&c, dims, n, bytes);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        stage_add_each(&c, dims, n, PASS_ALL_TO_ALL, bytes);
        break;
    case COLLECTIVE_BROADCAST:
        stage_add_each(&c, dims, n, PASS_BROADCAST, bytes);
        break;
    case COLLECTIVE_SEND:
        stage_add_each(&c, dims, n, PASS_SEND, bytes);
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
    int32_t place[TOPO_MAX_DIMS] = { 0 }, n_dims = 0, n_rows = 0;
    /* Every dimension of an all-reduce appears on the way out, before the first all-gather. */
    while (n_dims < n && (!turns || stages[n_dims].pass != PASS_ALL_GATHER)) {
        place[stages[n_dims].dim] = n_dims;
        n_dims++;
    }
    /* Of one chunk the last row has every stage once: no other is longer. */
    for (int32_t r = chunks == 1 ? n_dims - 1 : 0; r < n_dims; r++) {
        for (int32_t k = 0; k < n; k++) {
            int32_t at = place[stages[k].dim];
            out[n_rows].count[k] = at == r ? chunks : !turns || at < r ? 1 : 0;
        }
        n_rows++;
    }
    return n_rows;
}

bool stage_has_choice(const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        if (dim->algorithm == TOPO_ALGORITHM_AUTO || dim->algorithm == TOPO_ALGORITHM_TREE || dim->n_regimes)
            return true;
    }
    return false;
}

/* The passes of one chunk, and how often each counts. */
struct collective_time_chain {
    struct stage stages[STAGE_MAX];
    struct stage_row rows[TOPO_MAX_DIMS];
    int32_t n, n_rows;
};

static void chain_fill(struct collective_time_chain *c, enum collective_kind kind, double bytes,
                       const int32_t *members, const struct collective_way *way)
{
    c->n = stage_list(c->stages, kind, bytes / way->rules->chunks, members, NULL, way->net, way->rules,
                      way->bw_Bps);
    c->n_rows = c->n ? stage_rows(c->rows, c->stages, c->n, kind, way->rules->chunks) : 0;
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
        double transfer_s = c->stages[k].load_B / way->bw_Bps[c->stages[k].dim];
        wait_s[c->stages[k].dim] += count * transfer_s;
        time_s += count * (c->stages[k].const_s + transfer_s);
    }
    return time_s;
}

static void time_by_bandwidth(struct collective_time *out, enum collective_kind kind, double bytes,
                              const int32_t *members, const struct collective_way *way)
{
    double traffic_B[TOPO_MAX_DIMS];
    int32_t slowest = -1;
    collective_traffic(traffic_B, kind, bytes, members, way->net->n_dims);
    for (int32_t d = 0; d < way->net->n_dims; d++) {
        double time_s =
            traffic_B[d] > 0 ? traffic_B[d] / collective_share(&way->net->dims[d]) / way->bw_Bps[d] : 0;
        if (time_s > out->time_s) {
            out->time_s = time_s;
            slowest = d;
        }
    }
    if (slowest >= 0)
        out->wait_s[slowest] = out->time_s;
}

void collective_time(struct collective_time *out, enum collective_kind kind, double bytes,
                     const int32_t *members, const struct collective_way *way)
{
    struct collective_time_chain c;
    *out = (struct collective_time){ 0 };
    if (!way->rules) {
        time_by_bandwidth(out, kind, bytes, members, way);
        return;
    }
    chain_fill(&c, kind, bytes, members, way);
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
    return !way->rules || (kind != COLLECTIVE_BROADCAST && !stage_has_choice(way->net));
}

static bool is_below(const struct collective_line *a, const struct collective_line *b)
{
    return a->const_s <= b->const_s && a->s_per_B <= b->s_per_B;
}

static void add_line(struct collective_lines *out, const struct collective_line *line)
{
    for (int32_t i = 0; i < out->n; i++)
        if (is_below(line, &out->lines[i]))
            return;
    int32_t n = 0;
    for (int32_t i = 0; i < out->n; i++)
        if (!is_below(&out->lines[i], line))
            out->lines[n++] = out->lines[i];
    out->lines[n++] = *line;
    out->n = n;
}

static void lines_by_bandwidth(struct collective_lines *out, enum collective_kind kind,
                               const int32_t *members, const struct collective_way *way)
{
    double traffic_B[TOPO_MAX_DIMS];
    collective_traffic(traffic_B, kind, 1, members, way->net->n_dims);
    for (int32_t d = 0; d < way->net->n_dims; d++) {
        struct collective_line line = { 0 };
        if (!(traffic_B[d] > 0))
            continue;
        line.s_per_B = traffic_B[d] / collective_share(&way->net->dims[d]) / way->bw_Bps[d];
        line.wait_s_per_B[d] = line.s_per_B;
        add_line(out, &line);
    }
}

/* Every part of a row is latency and overhead, or grows with the bytes: two sizes tell them apart. */
void collective_find_lines(struct collective_lines *out, enum collective_kind kind, const int32_t *members,
                           const struct collective_way *way)
{
    static const double small_B = 1e6, step_B = 1e6;
    struct collective_time_chain small, large;
    out->n = 0;
    if (!way->rules) {
        lines_by_bandwidth(out, kind, members, way);
        return;
    }
    chain_fill(&small, kind, small_B, members, way);
    chain_fill(&large, kind, small_B + step_B, members, way);
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
