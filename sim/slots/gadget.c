/*
 * GADGET, arXiv 2202.01158, slot by slot: shares of rings from the programme (gadget_lp.c), rounded at random
 * within capacities or within what the paper's theory allows, and what is left offered again. The scheduler
 * is at the end.
 */
#include "sim/slots/gadget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "base/vec.h"

/* Shares below are rounding errors of the simplex. */
#define LEAST_SHARE 1e-9

/* A ring fits up to this share beyond capacity; elastic_run() forgives ten times as much. */
#define FULL (1 + 1e-10)

/* What the paper's rounding must reach of the programme's value. */
#define ALPHA (1.0 / 3)

/* Steps of all searches for rings in what is left: a few tens of milliseconds. */
enum { REOFFER_STEPS = 1 << 24 };

/* Of the programme's prices: what is left is free, but of equal rings the one on less wanted servers and
 * links is better. */
#define REOFFER_PRICE 1e-3

/* ---- room ---- */

int gadget_round_build(struct gadget_round *x, struct gadget_lp *lp, struct err *e)
{
    size_t n = (size_t)lp->n_jobs + 1;
    *x = (struct gadget_round){ .lp = lp };
    int rc = elastic_room_build(&x->room, lp->cluster, e);
    if (rc)
        return rc;
    x->picked = ARENA_TAKE(&x->arena, n, *x->picked);
    x->best = ARENA_TAKE(&x->arena, n, *x->best);
    x->order = ARENA_TAKE(&x->arena, n, *x->order);
    x->first = ARENA_TAKE(&x->arena, n, *x->first);
    x->used = ARENA_TAKE(&x->arena, lp->n_rows + 1, *x->used);
    if (x->arena.failed) {
        gadget_round_free(x);
        return err_nomem(e, "rounding of a slot");
    }
    return 0;
}

void gadget_round_free(struct gadget_round *x)
{
    elastic_room_free(&x->room);
    arena_free(&x->arena);
    free(x->shares);
    *x = (struct gadget_round){ 0 };
}

/* ---- limits ---- */

/* delta[r]: sum over jobs of squared loads on server s, in single demands. */
static void round_add_server_loads(double *delta, double *eps, const struct gadget_round *x, int32_t s)
{
    const struct gadget_lp *lp = x->lp;
    const struct cluster *c = lp->cluster;
    for (int32_t i = 0; i < lp->n_bids; i++) {
        const struct gadget_bid *bid = &lp->bids[i];
        const struct elastic_job *j = &lp->jobs[bid->job];
        double load = fmin(bid->most_size, elastic_room_workers(&x->room, j, s));
        /* Sizes that leave none: the job is in no ring of this slot. */
        if (bid->least_size > bid->most_size || !(load >= 1))
            continue;
        for (int32_t r = 0; r < c->n_resources; r++)
            if (j->demand[r] > 0) {
                delta[r] += load * load;
                *eps = fmax(*eps, j->demand[r] / cluster_capacity(c, s, r));
            }
    }
}

static double round_arc_delta(double *eps, const struct gadget_lp *lp, int32_t arc, bool own)
{
    double delta = 0;
    for (int32_t i = 0; i < lp->n_bids; i++) {
        const struct gadget_bid *bid = &lp->bids[i];
        double hop_Bps = lp->jobs[bid->job].hop_Bps, hops = own ? 1 : bid->most_size;
        /* The largest that it may reserve there. */
        for (int r = ELASTIC_HALF;
             r < ELASTIC_INSIDE && hop_Bps > lp->cluster->bw_Bps[arc] && lp->jobs[bid->job].offers_rates; r++)
            hop_Bps = elastic_at_rate(&lp->jobs[bid->job], (enum elastic_rate)r).hop_Bps;
        if (bid->least_size > bid->most_size || bid->most_size < 2 || !(hop_Bps > 0) ||
            !(hop_Bps <= lp->cluster->bw_Bps[arc]))
            continue;
        delta += hops * hops;
        *eps = fmax(*eps, hop_Bps / lp->cluster->bw_Bps[arc]);
    }
    return delta;
}

/* Is the arc in the only link of a server? */
static bool round_is_own(const struct cluster *c, int32_t arc)
{
    int32_t from = c->routes.to[arc ^ 1], to = c->routes.to[arc];
    return (from < c->n_servers && c->leaf[from] >= 0) || (to < c->n_servers && c->leaf[to] >= 0);
}

void gadget_round_limits(struct gadget_limits *out, struct gadget_round *x)
{
    const struct cluster *c = x->lp->cluster;
    double node[CLUSTER_MAX_RESOURCES] = { 0 }, link = 0, eps = 0;
    elastic_room_reset(&x->room);
    for (int32_t s = 0; s < c->n_servers; s++) {
        double delta[CLUSTER_MAX_RESOURCES] = { 0 };
        round_add_server_loads(delta, &eps, x, s);
        for (int32_t r = 0; r < c->n_resources; r++)
            node[r] = fmax(node[r], delta[r]);
    }
    for (int32_t a = 0; a < c->n_arcs; a++)
        link = fmax(link, round_arc_delta(&eps, x->lp, a, round_is_own(c, a)));
    out->eps = eps;
    for (int32_t r = 0; r < c->n_resources; r++)
        out->node_beta[r] = 1 + eps * sqrt(2 * node[r] * log(fmax(c->n_servers, 3)));
    out->link_gamma = 1 + eps * sqrt(2 * link * log(fmax(c->n_arcs, 3)));
}

/* ---- drawing ---- */

/* Shares of a bid's columns as running sums, so that one number in [0, 1) draws a ring, or none where it lies
 * beyond the last sum. */
static int round_list_shares(struct gadget_round *x, struct err *e)
{
    const struct gadget_lp *lp = x->lp;
    int32_t n = 0;
    for (int32_t i = 0; i < lp->n_bids; i++) {
        double sum = 0;
        x->first[i] = n;
        for (int32_t k = lp->newest[lp->bids[i].job]; k >= 0; k = lp->pool.columns[k].next) {
            if (!(lp->pool.columns[k].share > LEAST_SHARE))
                continue;
            if (!vec_reserve(x->shares, x->cap_shares, n + 1))
                return err_nomem(e, "shares of rings");
            sum += lp->pool.columns[k].share;
            x->shares[n++] = (struct gadget_share){ k, sum };
        }
    }
    x->first[lp->n_bids] = n;
    return 0;
}

static int32_t round_draw_column(const struct gadget_round *x, int32_t bid, double u)
{
    for (int32_t i = x->first[bid]; i < x->first[bid + 1]; i++)
        if (u < x->shares[i].up_to)
            return x->shares[i].column;
    return -1;
}

static bool round_fits(const struct gadget_round *x, const struct gadget_column *k)
{
    const struct gadget_pool *p = &x->lp->pool;
    for (int32_t i = k->entry; i < k->entry + k->n_entries; i++)
        if (!(x->used[p->rows[i]] + p->loads[i] <= FULL))
            return false;
    return true;
}

static void round_take(struct gadget_round *x, const struct gadget_column *k)
{
    const struct gadget_pool *p = &x->lp->pool;
    for (int32_t i = k->entry; i < k->entry + k->n_entries; i++)
        x->used[p->rows[i]] += p->loads[i];
}

/* Fisher and Yates': what no longer fits is skipped, so whoever comes first is preferred, by chance alone. */
static void round_shuffle(struct gadget_round *x, struct rng *rng)
{
    int32_t n = x->lp->n_bids;
    for (int32_t i = 0; i < n; i++)
        x->order[i] = i;
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t k = (int32_t)rng_below(rng, i + 1), other = x->order[k];
        x->order[k] = x->order[i];
        x->order[i] = other;
    }
}

/* One draw for every bid, its value in the slot's unit. */
static double round_draw_once(struct gadget_round *x, struct rng *rng, bool overload)
{
    const struct gadget_lp *lp = x->lp;
    double value = 0;
    memset(x->used, 0, (size_t)lp->n_rows * sizeof *x->used);
    round_shuffle(x, rng);
    for (int32_t i = 0; i < lp->n_bids; i++) {
        /* One number a bid whether it fits or not: draws do not depend on what was skipped before. */
        int32_t bid = x->order[i], column = round_draw_column(x, bid, rng_uniform(rng));
        x->picked[bid] = -1;
        if (column < 0 || (!overload && !round_fits(x, &lp->pool.columns[column])))
            continue;
        x->picked[bid] = column;
        round_take(x, &lp->pool.columns[column]);
        value += gadget_column_gain(lp, &lp->pool.columns[column]);
    }
    return value;
}

/* Largest of x->used, by resource and of arcs. */
static void round_find_largest(double *node, double *link, const struct gadget_round *x)
{
    const struct cluster *c = x->lp->cluster;
    int32_t n = c->n_servers * c->n_resources;
    *link = 0;
    memset(node, 0, (size_t)c->n_resources * sizeof *node);
    for (int32_t i = 0; i < n; i++)
        node[i % c->n_resources] = fmax(node[i % c->n_resources], x->used[i]);
    for (int32_t i = n; i < x->lp->n_rows; i++)
        *link = fmax(*link, x->used[i]);
}

/* The largest load as a share of what the limits allow. */
static double round_excess(const struct gadget_round *x, const struct gadget_limits *limits)
{
    double node[CLUSTER_MAX_RESOURCES], link, worst;
    round_find_largest(node, &link, x);
    worst = link / limits->link_gamma;
    for (int32_t r = 0; r < x->lp->cluster->n_resources; r++)
        worst = fmax(worst, node[r] / limits->node_beta[r]);
    return worst;
}

static void round_keep_draw(struct gadget_round *x)
{
    memcpy(x->best, x->picked, (size_t)x->lp->n_bids * sizeof *x->best);
}

/*
 * The first of equals; none is better than the programme's value, so a draw that reaches it ends the search.
 */
static void round_draw_strict(struct gadget_round *x, struct rng *rng, int32_t samples, double value)
{
    double best = -INFINITY;
    for (int32_t n = 0; n < samples && !(best >= value); n++) {
        double is = round_draw_once(x, rng, false);
        if (is > best) {
            best = is;
            round_keep_draw(x);
        }
    }
}

/* Until a draw is good, the one that exceeds the limits least is kept; a good one replaces it. */
static void round_draw_paper(struct gadget_round *x, struct rng *rng, int32_t samples, double value,
                             const struct gadget_limits *limits)
{
    double least = INFINITY;
    for (int32_t n = 0; n < samples; n++) {
        double is = round_draw_once(x, rng, true), over = round_excess(x, limits);
        bool good = is >= ALPHA * value && over <= 1;
        if (good || over < least) {
            least = over;
            round_keep_draw(x);
        }
        if (good)
            break;
    }
}

int gadget_round_draw(struct gadget_round *x, const struct elastic_settings *settings, double value,
                      const struct gadget_limits *limits, struct err *e)
{
    struct rng *rng;
    int rc = round_list_shares(x, e);
    if (!rc)
        rc = rng_build(&rng, (uint64_t)settings->seed, (uint64_t)x->lp->slot, e);
    if (rc)
        return rc;
    /*
     * Gains inside of the programme are in units of the slot, for the simplex' sake; values outside are not.
     */
    double in_units = x->lp->unit > 0 ? value / x->lp->unit : 0;
    if (settings->paper_rounding)
        round_draw_paper(x, rng, settings->samples, in_units, limits);
    else
        round_draw_strict(x, rng, settings->samples, in_units);
    rng_free(rng);
    return 0;
}

/* ---- offering again ---- */

/* What more workers are worth may fall: progress may have whole iterations only. */
static double round_gain_per_share(const struct gadget_lp *lp, const struct gadget_bid *bid,
                                   const double *total)
{
    double share = 0, best = 0; /* share: of one worker */
    for (int32_t r = 0; r < lp->cluster->n_resources; r++)
        if (lp->jobs[bid->job].demand[r] > 0)
            share = fmax(share, lp->jobs[bid->job].demand[r] / total[r]);
    for (int32_t k = 1; k <= bid->most; k++)
        best = fmax(best, bid->gain[ELASTIC_INSIDE][k] / (k * share));
    return best;
}

/* Bids that drew nothing and could gain something: those first whose size that has most gains most over its
 * dominant share of the cluster. */
static int32_t round_list_waiting(struct stat_rank *list, const struct gadget_round *x)
{
    const struct gadget_lp *lp = x->lp;
    int32_t n = 0;
    double total[CLUSTER_MAX_RESOURCES];
    for (int32_t r = 0; r < lp->cluster->n_resources; r++)
        total[r] = cluster_total(lp->cluster, r);
    for (int32_t i = 0; i < lp->n_bids; i++) {
        double gain = x->best[i] < 0 ? round_gain_per_share(lp, &lp->bids[i], total) : 0;
        if (gain > 0)
            list[n++] = (struct stat_rank){ -gain, i };
    }
    stat_sort_ranks(list, n);
    return n;
}

static int round_fill_room(struct gadget_round *x, struct err *e)
{
    const struct gadget_lp *lp = x->lp;
    int rc = 0;
    elastic_room_reset(&x->room);
    for (int32_t i = 0; i < lp->n_bids && !rc; i++) {
        if (x->best[i] < 0)
            continue;
        const struct gadget_column *k = &lp->pool.columns[x->best[i]];
        const struct elastic_job at = elastic_at_rate(&lp->jobs[k->job], k->rate);
        rc = elastic_room_take(&x->room, &at, lp->pool.servers + k->first, lp->pool.workers + k->first, k->n,
                               1, e);
    }
    return rc;
}

/* The best ring for one bid in what is left, into x->best. */
static int round_offer_again(struct gadget_round *x, int32_t at, struct err *e)
{
    struct gadget_lp *lp = x->lp;
    const struct gadget_bid *bid = &lp->bids[at];
    struct gadget_ring *ring = &lp->found.ring;
    bool fits_all = false;
    gadget_lp_price(
        lp, bid, (struct gadget_offer){ .least = 1, .most = bid->most, .floor = -INFINITY, .search = true });
    /* What is left may have room for rings alone that are not worth their energy. */
    if (ring->n == 0 || bid->gain[ring->rate][ring->workers_total] < 0)
        return 0;
    const struct elastic_job job = elastic_at_rate(&lp->jobs[bid->job], ring->rate);
    int rc = elastic_room_fits(&fits_all, &x->room, &job, ring->servers, ring->workers, ring->n, e);
    /* The pricer looks at what each link has left, not at several hops of the ring over one link. */
    if (rc || !fits_all)
        return rc;
    rc = gadget_lp_add(&x->best[at], lp, bid->job, ring, e);
    if (!rc)
        rc = elastic_room_take(&x->room, &job, ring->servers, ring->workers, ring->n, 1, e);
    gadget_prices_leave(&lp->prices, x->room.left, x->room.left_Bps);
    return rc;
}

int gadget_round_reoffer(struct gadget_round *x, struct err *e)
{
    struct gadget_lp *lp = x->lp;
    struct stat_rank *waiting = malloc(((size_t)lp->n_bids + 1) * sizeof *waiting);
    if (!waiting)
        return err_nomem(e, "jobs to offer to again");
    int32_t n = round_list_waiting(waiting, x);
    int rc = round_fill_room(x, e);
    for (int32_t i = 0; i < lp->n_rows; i++) {
        lp->worker[i] *= REOFFER_PRICE;
        lp->arc[i] *= REOFFER_PRICE;
    }
    gadget_prices_set(&lp->prices, lp->worker, lp->arc);
    /* Rings are found in what is left only, or the most valuable one would hardly ever fit. */
    gadget_prices_leave(&lp->prices, x->room.left, x->room.left_Bps);
    /* For all bids together: the slot must end, and the first ones gain most. */
    lp->pricer.steps = REOFFER_STEPS;
    for (int32_t i = 0; i < n && !rc; i++)
        rc = round_offer_again(x, (int32_t)waiting[i].at, e);
    free(waiting);
    return rc;
}

void gadget_round_load(double *node, double *link, struct gadget_round *x)
{
    memset(x->used, 0, (size_t)x->lp->n_rows * sizeof *x->used);
    for (int32_t i = 0; i < x->lp->n_bids; i++)
        if (x->best[i] >= 0)
            round_take(x, &x->lp->pool.columns[x->best[i]]);
    round_find_largest(node, link, x);
}

double gadget_round_value(const struct gadget_round *x)
{
    double value = 0;
    for (int32_t i = 0; i < x->lp->n_bids; i++)
        if (x->best[i] >= 0)
            value += gadget_column_gain(x->lp, &x->lp->pool.columns[x->best[i]]);
    return value * x->lp->unit;
}

struct gadget {
    struct elastic_settings settings;
    struct gadget_lp lp;
    struct gadget_round round;
};

static void gadget_free(void *self)
{
    struct gadget *g = self;
    if (!g)
        return;
    gadget_round_free(&g->round);
    gadget_lp_free(&g->lp);
    free(g);
}

static int gadget_build(void **self, const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                        const struct elastic_settings *settings, struct err *e)
{
    *self = NULL;
    struct gadget *g = calloc(1, sizeof *g);
    if (!g)
        return err_nomem(e, "gadget");
    g->settings = *settings;
    int rc = gadget_lp_build(&g->lp, c, jobs, n_jobs, !settings->generic_pricing, e);
    if (!rc)
        rc = gadget_round_build(&g->round, &g->lp, e);
    if (rc)
        gadget_free(g);
    else
        *self = g;
    return rc;
}

/* The largest loads, and in the paper's mode what it would allow of that resource and of links. */
static void gadget_note_load(struct elastic_note *note, struct gadget_round *x,
                             const struct gadget_limits *limits)
{
    double node[CLUSTER_MAX_RESOURCES];
    int32_t worst = 0;
    gadget_round_load(node, &note->link_over, x);
    for (int32_t r = 1; r < x->lp->cluster->n_resources; r++)
        worst = node[r] > node[worst] ? r : worst;
    note->node_over = node[worst];
    if (limits) {
        note->node_beta = limits->node_beta[worst];
        note->link_gamma = limits->link_gamma;
    }
}

static int gadget_write_choice(struct elastic_choice *out, const struct gadget_round *x, struct err *e)
{
    const struct gadget_pool *p = &x->lp->pool;
    int rc = 0;
    for (int32_t i = 0; i < x->lp->n_bids && !rc; i++) {
        if (x->best[i] < 0)
            continue;
        const struct gadget_column *k = &p->columns[x->best[i]];
        rc = elastic_choose(out, k->job, p->servers + k->first, p->workers + k->first, k->n, e);
        if (!rc)
            out->rings[out->n_rings - 1].rate = k->rate;
    }
    return rc;
}

static int gadget_choose(struct elastic_choice *out, struct elastic_note *note, void *self,
                         const struct elastic_slot *slot, struct err *e)
{
    struct gadget *g = self;
    struct gadget_limits limits;
    int rc = gadget_lp_open(&g->lp, slot, e);
    if (!rc)
        rc = gadget_lp_solve(&note->bound, &g->lp, e);
    if (rc)
        return rc;
    note->gamma = g->lp.gamma;
    /* Twice: over all sizes for the bound and for the sizes that jobs prefer, then over rings of these sizes,
     * whose shares are what the paper rounds. */
    gadget_lp_fix_sizes(&g->lp);
    rc = gadget_lp_solve(&note->fixed_bound, &g->lp, e);
    if (rc)
        return rc;
    /* Fewer rings cannot be worth more, though a search that ended early may say less of them. */
    note->fixed_bound = fmin(note->fixed_bound, note->bound);
    bool paper = g->settings.paper_rounding;
    if (paper)
        gadget_round_limits(&limits, &g->round);
    rc = gadget_round_draw(&g->round, &g->settings, note->fixed_bound, paper ? &limits : NULL, e);
    if (!rc && g->settings.reoffer && !paper)
        rc = gadget_round_reoffer(&g->round, e);
    if (rc)
        return rc;
    note->value = gadget_round_value(&g->round);
    gadget_note_load(note, &g->round, paper ? &limits : NULL);
    return gadget_write_choice(out, &g->round, e);
}

const struct elastic_scheduler elastic_gadget = {
    .name = "gadget",
    .help = "GADGET (INFOCOM 2022): rings by a linear programme over all placements, rounded",
    .build = gadget_build,
    .choose = gadget_choose,
    .free = gadget_free,
};
