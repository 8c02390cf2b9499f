/*
 * In which order a collective visits the dimensions: innermost first, as given, or for each chunk by what the
 * dimensions have to do already (Themis, ISCA 2022; min-max); and cells, the classes of NPUs that differ in
 * speed where some are slow.
 */
#include "sim/chunk/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences below this are rounding of sums that are equal. */
#define TIED_REL 1e-12

enum { ALL_ORDERS_DIMS = 4, THRESHOLD_PARTS = 16 };

static void to_wide(int32_t *wide, const uint8_t *dims, int32_t n, int32_t n_dims)
{
    bool used[TOPO_MAX_DIMS] = { false };
    for (int32_t i = 0; i < n; i++) {
        wide[i] = dims[i];
        used[dims[i]] = true;
    }
    for (int32_t d = 0; d < n_dims; d++)
        if (!used[d])
            wide[n++] = d;
}

/* Of Themis, as published, bytes on the way out only. */
static void fill_costs(struct order_costs *c, const struct order_job *job, const uint8_t *dims, int32_t n,
                       bool themis)
{
    struct stage stages[STAGE_MAX];
    int32_t wide[TOPO_MAX_DIMS];
    enum collective_kind kind =
        themis && job->kind == COLLECTIVE_ALL_REDUCE ? COLLECTIVE_REDUCE_SCATTER : job->kind;
    to_wide(wide, dims, n, job->way->net->n_dims);
    *c = (struct order_costs){ .known = true };
    memcpy(c->dims, dims, sizeof c->dims);
    c->n = stage_list(stages, kind, job->chunk_B, job->members, job->stride, job->share, wide, job->way);
    for (int32_t k = 0; k < c->n; k++) {
        const struct stage *s = &stages[k];
        c->at[k] = (uint8_t)s->dim;
        c->cost_s[k] = s->load_B / job->way->bw_Bps[s->dim] + (themis ? 0 : s->const_s);
        for (int32_t i = 0; i < s->n_more; i++) {
            const struct stage_class *other = &s->more[i];
            c->linked = true;
            c->more_s[other->dim] += other->load_B / job->way->bw_Bps[other->dim];
        }
    }
}

/* What a chunk in this order costs: all chunks of a job are equal, so it is found once for each order. */
static const struct order_costs *costs_of(struct order_job *job, int32_t place, const uint8_t *dims,
                                          int32_t n, bool themis)
{
    struct order_costs *c = &job->costs[place];
    if (!c->known || memcmp(c->dims, dims, sizeof c->dims) != 0)
        fill_costs(c, job, dims, n, themis);
    return c;
}

static void book(double *load_s, const struct order_costs *c, int32_t chunks)
{
    for (int32_t k = 0; k < c->n; k++)
        load_s[c->at[k]] += chunks * c->cost_s[k];
    for (int32_t d = 0; d < TOPO_MAX_DIMS && c->linked; d++)
        load_s[d] += chunks * c->more_s[d];
}

/* By load, the least first; of equals the innermost. Sums that rounding alone tells apart are equal. */
static void sort_by_load(uint8_t *dims, int32_t n, const double *load_s)
{
    for (int32_t i = 1; i < n; i++)
        for (int32_t k = i; k > 0 && load_s[dims[k]] < load_s[dims[k - 1]] * (1 - TIED_REL); k--) {
            uint8_t held = dims[k];
            dims[k] = dims[k - 1];
            dims[k - 1] = held;
        }
}

/* One stage of a sixteenth of a chunk on dimension d, first in a reduce-scatter or last in an all-gather. */
static double threshold(const struct order_job *job, const uint8_t *dims, int32_t n, int32_t d)
{
    struct stage s;
    bool gathers = job->kind == COLLECTIVE_ALL_GATHER;
    double full_B = job->chunk_B / THRESHOLD_PARTS;
    for (int32_t i = 0; gathers && i < n; i++)
        full_B *= job->members[dims[i]];
    stage_fill(&s, d, gathers ? PASS_ALL_GATHER : PASS_REDUCE_SCATTER, full_B, job->members[d],
               job->stride ? job->stride[d] : 1, job->way);
    return s.load_B / job->way->bw_Bps[d];
}

/* Returns the place of its costs. */
static int32_t find_themis(uint8_t *dims, int32_t n, const double *load_s, const struct order_job *job,
                           bool first)
{
    uint8_t sorted[TOPO_MAX_DIMS];
    memcpy(sorted, dims, sizeof sorted);
    sort_by_load(sorted, n, load_s);
    double gap_s = load_s[sorted[n - 1]] - load_s[sorted[0]];
    double rounding_s = TIED_REL * load_s[sorted[n - 1]];
    if (first || !(gap_s + rounding_s >= threshold(job, dims, n, sorted[0])))
        return 0;
    memcpy(dims, sorted, sizeof sorted);
    return 1;
}

/* The order that is best so far, and what it makes of the loads. */
struct best {
    const double *load_s;
    struct order_job *job;
    uint8_t dims[TOPO_MAX_DIMS];
    int32_t n, tried, place; /**< of its costs */
    bool is_base;
    double most_s, sum_s;
};

/* Keeps the order with the least load on the most loaded dimension; ties go to the first order tried, the
 * base order, and among others to the smaller sum. */
static void order_try(struct best *b, const uint8_t *dims)
{
    double load_s[TOPO_MAX_DIMS], most_s = 0, sum_s = 0;
    memcpy(load_s, b->load_s, sizeof load_s);
    int32_t place = b->tried++;
    book(load_s, costs_of(b->job, place, dims, b->n, false), 1);
    for (int32_t i = 0; i < b->n; i++) {
        most_s = fmax(most_s, load_s[dims[i]]);
        sum_s += load_s[dims[i]];
    }
    bool base = place == 0;
    bool less = most_s < b->most_s * (1 - TIED_REL);
    bool tied = !less && most_s <= b->most_s * (1 + TIED_REL);
    if (!base && !less && !(tied && !b->is_base && sum_s < b->sum_s * (1 - TIED_REL)))
        return;
    memcpy(b->dims, dims, sizeof b->dims);
    b->place = place;
    b->is_base = base;
    b->most_s = most_s;
    b->sum_s = sum_s;
}

/* All orders of dims[at..n-1], in lexicographic order of places. */
static void order_try_all(struct best *b, uint8_t *dims, int32_t at)
{
    if (at == b->n - 1) {
        order_try(b, dims);
        return;
    }
    for (int32_t i = at; i < b->n; i++) {
        uint8_t held = dims[i];
        memmove(&dims[at + 1], &dims[at], (size_t)(i - at));
        dims[at] = held;
        order_try_all(b, dims, at + 1);
        memmove(&dims[at], &dims[at + 1], (size_t)(i - at));
        dims[i] = held;
    }
}

/* Returns the place of its costs. */
static int32_t find_minmax(uint8_t *dims, int32_t n, const double *load_s, struct order_job *job)
{
    struct best b = { .load_s = load_s, .job = job, .n = n };
    uint8_t other[TOPO_MAX_DIMS];
    memcpy(other, dims, sizeof other);
    if (n <= ALL_ORDERS_DIMS) {
        order_try_all(&b, other, 0);
    } else {
        order_try(&b, other);
        sort_by_load(other, n, load_s);
        order_try(&b, other);
        for (int32_t r = 1; r < n; r++) {
            for (int32_t i = 0; i < n; i++)
                other[i] = dims[(i + r) % n];
            order_try(&b, other);
        }
    }
    memcpy(dims, b.dims, sizeof b.dims);
    return b.place;
}

/* The order of the next chunk, or the next @p chunks, which is booked into the load. Only collectives whose
 * passes may be reordered choose; an all-to-all keeps the base order. */
int32_t order_next(uint8_t out[TOPO_MAX_DIMS], struct order_load *load, struct order_job *job,
                   const struct sim_rules *rules, enum sim_order order, bool first, int32_t chunks)
{
    int32_t n = 0, place = 0;
    bool free_order = job->kind == COLLECTIVE_ALL_REDUCE || job->kind == COLLECTIVE_REDUCE_SCATTER ||
                      job->kind == COLLECTIVE_ALL_GATHER;
    memset(out, 0, TOPO_MAX_DIMS);
    for (int32_t i = 0; i < job->way->net->n_dims; i++) {
        int32_t d = order == SIM_ORDER_GIVEN ? rules->dims_order[i] : i;
        if (job->members[d] > 1)
            out[n++] = (uint8_t)d;
    }
    if (n == 0)
        return 0;
    if (free_order && order == SIM_ORDER_THEMIS)
        place = find_themis(out, n, load->load_s, job, first);
    else if (free_order && order == SIM_ORDER_MINMAX)
        place = find_minmax(out, n, load->load_s, job);
    book(load->load_s, costs_of(job, place, out, n, order == SIM_ORDER_THEMIS), chunks);
    return n;
}

/* Coordinates of dimension d that some slow entry names, in ascending order. */
static int32_t list_special(int32_t *out, const struct sim_rules *rules, int32_t d)
{
    int32_t n = 0;
    for (int32_t i = 0; i < rules->n_slow; i++) {
        int32_t a = rules->slow[i].at[d], at = 0;
        if (a < 0)
            continue;
        while (at < n && out[at] < a)
            at++;
        if (at < n && out[at] == a)
            continue;
        for (int32_t k = n++; k > at; k--)
            out[k] = out[k - 1];
        out[at] = a;
    }
    return n;
}

/* The coordinate that class k of dimension d has, -1 for the rest. */
static int32_t cells_coordinate(const struct cells *c, const int32_t *special, int32_t n_special, int32_t d,
                                int32_t k)
{
    return c->each[d] ? k : k < n_special ? special[k] : -1;
}

/* NPUs of a dimension that no rule singles out are one class; each that is singled out is a class of its own.
 * Dimensions that a group splits need every member apart once any is special. */
static int cells_lay_out(struct cells *c, const struct topo_network *net, const struct sim_rules *rules,
                         unsigned split_dims, struct err *e)
{
    int64_t n = 1;
    for (int32_t d = 0; d < net->n_dims; d++) {
        int32_t special[SIM_MAX_SLOW], size = net->dims[d].size, n_special = list_special(special, rules, d);
        c->each[d] = n_special && (split_dims >> d & 1);
        c->n_class[d] = c->each[d] || n_special >= size ? size : n_special + 1;
        c->each[d] = c->each[d] || c->n_class[d] == size;
        c->span[d] = (int32_t)n;
        n *= c->n_class[d];
        if (n > CELLS_MAX)
            return err_set(e, ERR_RANGE, "slow NPUs make more than %d classes", CELLS_MAX);
    }
    c->n = (int32_t)n;
    return 0;
}

/* Of several rules that match a cell the slowest share and the longest delay count. Links between switches
 * are not an NPU's: they stay as they are. */
static void order_apply(struct cells *c, const struct topo_network *net, const struct sim_rules *rules,
                        int32_t cell)
{
    for (int32_t i = 0; i < rules->n_slow; i++) {
        const struct sim_slow *s = &rules->slow[i];
        bool applies = true;
        for (int32_t d = 0; d < c->n_dims; d++) {
            int32_t special[SIM_MAX_SLOW], n = list_special(special, rules, d);
            int32_t at = cells_coordinate(c, special, n, d, cell / c->span[d] % c->n_class[d]);
            applies = applies && (s->at[d] < 0 || s->at[d] == at);
        }
        for (int32_t d = 0; applies && d < c->n_dims; d++)
            if ((s->dim < 0 || s->dim == d) && topo_in_total(&net->dims[d]) &&
                s->share < c->share[d * c->n + cell])
                c->share[d * c->n + cell] = s->share;
        if (applies && s->late_s > c->late_s[cell])
            c->late_s[cell] = s->late_s;
    }
}

/* Without slow NPUs there is one cell and no arrays: the common case costs nothing. */
int cells_build(struct cells *c, const struct topo_network *net, const struct sim_rules *rules,
                unsigned split_dims, struct err *e)
{
    *c = (struct cells){ .n_dims = net->n_dims };
    int rc = cells_lay_out(c, net, rules, split_dims, e);
    if (rc || rules->n_slow == 0)
        return rc;
    c->share = malloc((size_t)c->n_dims * (size_t)c->n * sizeof *c->share);
    c->late_s = calloc((size_t)c->n, sizeof *c->late_s);
    if (!c->share || !c->late_s) {
        cells_free(c);
        return err_nomem(e, "classes of NPUs");
    }
    for (int32_t i = 0; i < c->n_dims * c->n; i++)
        c->share[i] = 1;
    for (int32_t cell = 0; cell < c->n; cell++)
        order_apply(c, net, rules, cell);
    return 0;
}

void cells_free(struct cells *c)
{
    free(c->share);
    free(c->late_s);
    *c = (struct cells){ 0 };
}

double cells_share(const struct cells *c, int32_t d, int32_t cell)
{
    return c->share ? c->share[d * c->n + cell] : 1;
}

double cells_late(const struct cells *c, int32_t cell)
{
    return c->late_s ? c->late_s[cell] : 0;
}

struct team cells_team(const struct cells *c, int32_t d, int32_t cell, int32_t members, int32_t stride)
{
    int32_t span = c->span[d], a = cell / span % c->n_class[d], base = cell - a * span;
    if (!c->each[d] || members * stride > c->n_class[d])
        return (struct team){ base, span, c->n_class[d] };
    int32_t block = members * stride, first = a / block * block + a % stride;
    return (struct team){ base + first * span, stride * span, members };
}
