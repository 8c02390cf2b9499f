#include "sim/chunk/order.h"

#include <math.h>
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
    to_wide(wide, dims, n, job->net->n_dims);
    c->known = true;
    memcpy(c->dims, dims, sizeof c->dims);
    c->n = stage_list(stages, kind, job->chunk_B, job->members, wide, job->net, job->rules, job->bw_Bps);
    for (int32_t k = 0; k < c->n; k++) {
        const struct stage *s = &stages[k];
        c->at[k] = (uint8_t)s->dim;
        c->cost_s[k] = s->load_B / job->bw_Bps[s->dim] + (themis ? 0 : s->const_s);
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
}

/* By load, the least first; of equals the innermost. */
static void sort_by_load(uint8_t *dims, int32_t n, const double *load_s)
{
    for (int32_t i = 1; i < n; i++)
        for (int32_t k = i; k > 0 && load_s[dims[k]] < load_s[dims[k - 1]]; k--) {
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
    stage_fill(&s, d, gathers ? PASS_ALL_GATHER : PASS_REDUCE_SCATTER, full_B, job->members[d], job->net,
               job->rules, job->bw_Bps[d]);
    return s.load_B / job->bw_Bps[d];
}

/* Returns the place of its costs. */
static int32_t find_themis(uint8_t *dims, int32_t n, const double *load_s, const struct order_job *job,
                           bool first)
{
    uint8_t sorted[TOPO_MAX_DIMS];
    memcpy(sorted, dims, sizeof sorted);
    sort_by_load(sorted, n, load_s);
    double gap_s = load_s[sorted[n - 1]] - load_s[sorted[0]];
    if (first || !(gap_s >= threshold(job, dims, n, sorted[0])))
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

static void try_order(struct best *b, const uint8_t *dims)
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
static void try_all(struct best *b, uint8_t *dims, int32_t at)
{
    if (at == b->n - 1) {
        try_order(b, dims);
        return;
    }
    for (int32_t i = at; i < b->n; i++) {
        uint8_t held = dims[i];
        memmove(&dims[at + 1], &dims[at], (size_t)(i - at));
        dims[at] = held;
        try_all(b, dims, at + 1);
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
        try_all(&b, other, 0);
    } else {
        try_order(&b, other);
        sort_by_load(other, n, load_s);
        try_order(&b, other);
        for (int32_t r = 1; r < n; r++) {
            for (int32_t i = 0; i < n; i++)
                other[i] = dims[(i + r) % n];
            try_order(&b, other);
        }
    }
    memcpy(dims, b.dims, sizeof b.dims);
    return b.place;
}

int32_t order_next(uint8_t out[TOPO_MAX_DIMS], struct order_load *load, struct order_job *job,
                   const struct sim_rules *rules, enum sim_order order, bool first, int32_t chunks)
{
    int32_t n = 0, place = 0;
    bool free_order = job->kind == COLLECTIVE_ALL_REDUCE || job->kind == COLLECTIVE_REDUCE_SCATTER ||
                      job->kind == COLLECTIVE_ALL_GATHER;
    memset(out, 0, TOPO_MAX_DIMS);
    for (int32_t i = 0; i < job->net->n_dims; i++) {
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
