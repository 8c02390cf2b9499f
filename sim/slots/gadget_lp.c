#include "sim/slots/gadget_lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Reduced costs in the slot's unit: what the simplex leaves, and what a new column must be worth. */
#define TOLERANCE 1e-10
#define WORTH     1e-9

/* Of all searches for rings in a slot: some tenths of a second. */
enum { SLOT_STEPS = 1 << 26 };

/* Solves of one programme; a few tens are usual. */
enum { MAX_ROUNDS = 1000 };

/* After so many rings from searches prices are asked for anew. */
enum { ENOUGH = 20 };

/* Columns without a share for so many slots go when the pool is cleared: when it has doubled and some. */
enum { KEPT_SLOTS = 10, SOME_COLUMNS = 2000 };

/* ---- building ---- */

static int32_t most_workers(const struct elastic_job *jobs, int32_t n)
{
    int32_t most = 1;
    for (int32_t i = 0; i < n; i++)
        most = jobs[i].max_workers > most ? jobs[i].max_workers : most;
    return most;
}

static int allocate(struct gadget_lp *x, struct err *e)
{
    size_t jobs = (size_t)x->n_jobs + 1, rows = (size_t)x->n_rows + 1;
    x->job_row = malloc(jobs * sizeof *x->job_row);
    x->newest = malloc(jobs * sizeof *x->newest);
    x->bid_of = malloc(jobs * sizeof *x->bid_of);
    x->bids = malloc(jobs * sizeof *x->bids);
    x->worker = calloc(rows, sizeof *x->worker);
    x->arc = calloc(rows, sizeof *x->arc);
    x->row = malloc(rows * sizeof *x->row);
    x->load = malloc(rows * sizeof *x->load);
    x->sum = calloc(rows, sizeof *x->sum);
    if (!x->job_row || !x->newest || !x->bid_of || !x->bids || !x->worker || !x->arc || !x->row || !x->load ||
        !x->sum)
        return err_nomem(e, "programme of a slot");
    for (int32_t i = 0; i < x->n_jobs; i++)
        x->bid_of[i] = -1;
    return 0;
}

/* A programme of servers and links, without jobs. */
static int start_programme(struct gadget_lp *x, struct err *e)
{
    simplex_free(x->simplex);
    x->n_job_rows = 0;
    for (int32_t i = 0; i < x->n_jobs; i++)
        x->job_row[i] = x->newest[i] = -1;
    int rc = simplex_build(&x->simplex, e);
    for (int32_t i = 0; i < x->n_rows && !rc; i++)
        rc = simplex_add_row(x->simplex, -INFINITY, 1, 0, NULL, NULL, e);
    return rc;
}

int gadget_lp_build(struct gadget_lp *x, const struct cluster *c, const struct elastic_job *jobs,
                    int32_t n_jobs, bool rack_pricing, struct err *e)
{
    *x = (struct gadget_lp){ .cluster = c, .jobs = jobs, .n_jobs = n_jobs };
    x->n_rows = c->n_servers * c->n_resources + c->n_arcs;
    int rc = gadget_fabric_build(&x->fabric, c, rack_pricing, e);
    if (!rc)
        rc = gadget_prices_build(&x->prices, &x->fabric, e);
    if (!rc)
        rc = gadget_pricer_build(&x->pricer, &x->prices, most_workers(jobs, n_jobs), e);
    if (!rc)
        rc = allocate(x, e);
    if (!rc)
        rc = start_programme(x, e);
    if (rc)
        gadget_lp_free(x);
    return rc;
}

static void free_pool(struct gadget_pool *p)
{
    free(p->columns);
    free(p->servers);
    free(p->workers);
    free(p->rows);
    free(p->loads);
    *p = (struct gadget_pool){ 0 };
}

void gadget_lp_free(struct gadget_lp *x)
{
    simplex_free(x->simplex);
    free_pool(&x->pool);
    gadget_pricer_free(&x->pricer);
    gadget_prices_free(&x->prices);
    gadget_fabric_free(&x->fabric);
    free(x->job_row);
    free(x->newest);
    free(x->bid_of);
    free(x->bids);
    free(x->gains);
    free(x->worker);
    free(x->arc);
    free(x->row);
    free(x->load);
    free(x->sum);
    *x = (struct gadget_lp){ 0 };
}

/* ---- columns ---- */

static void add_load(struct gadget_lp *x, int32_t *n, int32_t row, double load)
{
    if (!(load > 0))
        return;
    if (x->sum[row] <= 0)
        x->row[(*n)++] = row;
    x->sum[row] += load;
}

static void load_core(struct gadget_lp *x, int32_t *n, int32_t u, int32_t v, double hop_Bps)
{
    const struct gadget_fabric *f = &x->fabric;
    int32_t arcs = x->cluster->n_servers * x->cluster->n_resources;
    struct cluster_path core = gadget_core(f, f->node[u], f->node[v]);
    for (int32_t i = 0; i < core.n; i++)
        add_load(x, n, arcs + core.arcs[i], hop_Bps / x->cluster->bw_Bps[core.arcs[i]]);
    if (f->racks) {
        add_load(x, n, arcs + f->out_arc[u], hop_Bps / x->cluster->bw_Bps[f->out_arc[u]]);
        add_load(x, n, arcs + f->in_arc[v], hop_Bps / x->cluster->bw_Bps[f->in_arc[v]]);
    }
}

/* Rows that the ring loads and how much, into x->row and x->load. */
static int32_t list_loads(struct gadget_lp *x, const struct elastic_job *job, const struct gadget_ring *ring)
{
    int32_t n = 0, n_resources = x->cluster->n_resources;
    for (int32_t i = 0; i < ring->n; i++) {
        int32_t s = ring->servers[i];
        for (int32_t r = 0; r < n_resources; r++)
            if (job->demand[r] > 0)
                add_load(x, &n, s * n_resources + r,
                         ring->workers[i] * job->demand[r] / cluster_capacity(x->cluster, s, r));
        if (ring->n > 1)
            load_core(x, &n, s, ring->servers[(i + 1) % ring->n], job->hop_Bps);
    }
    for (int32_t i = 0; i < n; i++) {
        x->load[i] = x->sum[x->row[i]];
        x->sum[x->row[i]] = 0;
    }
    return n;
}

static int push_server(struct gadget_pool *p, int32_t server, int32_t workers)
{
    int32_t *s = array_grow(p->servers, p->n_servers, &p->cap_servers, sizeof *s);
    if (s)
        p->servers = s;
    int32_t *w = array_grow(p->workers, p->n_servers, &p->cap_workers, sizeof *w);
    if (w)
        p->workers = w;
    if (!s || !w)
        return -1;
    p->servers[p->n_servers] = server;
    p->workers[p->n_servers++] = workers;
    return 0;
}

static int push_load(struct gadget_pool *p, int32_t row, double load)
{
    int32_t *r = array_grow(p->rows, p->n_entries, &p->cap_rows, sizeof *r);
    if (r)
        p->rows = r;
    double *l = array_grow(p->loads, p->n_entries, &p->cap_loads, sizeof *l);
    if (l)
        p->loads = l;
    if (!r || !l)
        return -1;
    p->rows[p->n_entries] = row;
    p->loads[p->n_entries++] = load;
    return 0;
}

/* On lack of memory the pool is as it was, but for entries nobody names. */
static int push_column(struct gadget_lp *x, const struct gadget_column *like, const struct gadget_ring *ring,
                       struct err *e)
{
    struct gadget_pool *p = &x->pool;
    struct gadget_column column = *like;
    struct gadget_column *grown = array_grow(p->columns, p->n, &p->cap, sizeof *grown);
    if (!grown)
        return err_nomem(e, "rings of a programme");
    p->columns = grown;
    column.first = p->n_servers;
    column.entry = p->n_entries;
    for (int32_t i = 0; i < ring->n; i++)
        if (push_server(p, ring->servers[i], ring->workers[i]))
            return err_nomem(e, "rings of a programme");
    for (int32_t i = 0; i < column.n_entries; i++)
        if (push_load(p, x->row[i], x->load[i]))
            return err_nomem(e, "rings of a programme");
    p->columns[p->n] = column;
    return 0;
}

static int give_row(struct gadget_lp *x, int32_t job, struct err *e)
{
    int rc = x->job_row[job] >= 0 ? 0 : simplex_add_row(x->simplex, -INFINITY, 1, 0, NULL, NULL, e);
    if (!rc && x->job_row[job] < 0)
        x->job_row[job] = x->n_rows + x->n_job_rows++;
    return rc;
}

static bool is_same(const struct gadget_pool *p, const struct gadget_column *k,
                    const struct gadget_ring *ring)
{
    size_t size = (size_t)ring->n * sizeof *ring->servers;
    return k->n == ring->n && k->workers_total == ring->workers_total &&
           memcmp(p->servers + k->first, ring->servers, size) == 0 &&
           memcmp(p->workers + k->first, ring->workers, size) == 0;
}

/* May the programme use it now? */
static bool is_offered(const struct gadget_lp *x, const struct gadget_column *k)
{
    int32_t bid = x->bid_of[k->job];
    return bid >= 0 && k->workers_total >= x->bids[bid].least_size &&
           k->workers_total <= x->bids[bid].most_size;
}

int gadget_lp_add(int32_t *column, struct gadget_lp *x, int32_t job, const struct gadget_ring *ring,
                  struct err *e)
{
    struct gadget_pool *p = &x->pool;
    for (*column = x->newest[job]; *column >= 0; *column = p->columns[*column].next)
        if (is_same(p, &p->columns[*column], ring))
            return 0;
    struct gadget_column k = { .job = job,
                               .n = ring->n,
                               .workers_total = ring->workers_total,
                               .next = x->newest[job],
                               .last_slot = x->slot };
    k.n_entries = list_loads(x, &x->jobs[job], ring);
    int rc = give_row(x, job, e);
    if (!rc)
        rc = push_column(x, &k, ring, e);
    if (rc)
        return rc;
    /* The job's own row comes last; it is not among the loads. */
    x->row[k.n_entries] = x->job_row[job];
    x->load[k.n_entries] = 1;
    bool offered = is_offered(x, &k);
    double gain = offered ? gadget_column_gain(x, &k) : 0;
    rc =
        simplex_add_column(x->simplex, -gain, 0, offered ? INFINITY : 0, k.n_entries + 1, x->row, x->load, e);
    if (!rc)
        *column = x->newest[job] = p->n++;
    return rc;
}

/* ---- opening a slot ---- */

/* Workers that servers have room for, each by itself; the topology is left out. */
static int32_t fitting(const struct gadget_lp *x, const struct elastic_job *job, int32_t most)
{
    const struct cluster *c = x->cluster;
    double sum = 0;
    for (int32_t s = 0; s < c->n_servers && sum < most; s++) {
        double fits = most;
        for (int32_t r = 0; r < c->n_resources; r++)
            if (job->demand[r] > 0)
                fits = fmin(fits, floor(cluster_capacity(c, s, r) / job->demand[r] + TOLERANCE));
        sum += fits;
    }
    return sum < most ? (int32_t)sum : most;
}

/* Room for what every size is worth to every job; the sizes go into the bids. */
static int take_sizes(struct gadget_lp *x, const struct elastic_slot *slot, struct err *e)
{
    int64_t need = 0;
    for (int32_t i = 0; i < x->n_bids; i++)
        x->bid_of[x->bids[i].job] = -1;
    x->n_bids = slot->n_active;
    x->gamma = 0;
    for (int32_t i = 0; i < slot->n_active; i++) {
        int32_t job = slot->active[i], most = fitting(x, &x->jobs[job], elastic_most(slot, job));
        x->bids[i] = (struct gadget_bid){ .job = job, .most = most, .least_size = 1, .most_size = most };
        x->bid_of[job] = i;
        x->gamma = most > x->gamma ? most : x->gamma;
        need += most + 1;
    }
    if (need <= x->cap_gains)
        return 0;
    double *grown = realloc(x->gains, (size_t)need * sizeof *grown);
    if (!grown)
        return err_nomem(e, "what rings are worth");
    x->gains = grown;
    x->cap_gains = need;
    return 0;
}

static void take_gains(struct gadget_lp *x, const struct elastic_slot *slot)
{
    double *at = x->gains;
    x->unit = 0;
    for (int32_t i = 0; i < x->n_bids; i++) {
        struct gadget_bid *bid = &x->bids[i];
        const struct elastic_job *j = &x->jobs[bid->job];
        bid->gain = at;
        for (int32_t k = 0; k <= bid->most; k++, at++) {
            *at = k ? utility_gain(&j->aim, slot->done[bid->job], elastic_gain(j, k)) : 0;
            x->unit = fmax(x->unit, *at);
        }
    }
    for (double *g = x->gains; g < at && x->unit > 0; g++)
        *g /= x->unit;
}

/* Columns that may have a share and those that may not, and what they are worth. */
static void offer_columns(struct gadget_lp *x)
{
    for (int32_t k = 0; k < x->pool.n; k++) {
        const struct gadget_column *column = &x->pool.columns[k];
        bool offered = is_offered(x, column);
        simplex_set_bounds(x->simplex, k, 0, offered ? INFINITY : 0);
        simplex_set_cost(x->simplex, k, offered ? -gadget_column_gain(x, column) : 0);
    }
}

/* A new programme of the columns that are likely to be of use again. */
static int clear_pool(struct gadget_lp *x, struct err *e)
{
    struct gadget_pool old = x->pool;
    struct gadget_ring ring;
    int rc;
    x->pool = (struct gadget_pool){ 0 };
    rc = start_programme(x, e);
    for (int32_t k = 0; k < old.n && !rc; k++) {
        const struct gadget_column *column = &old.columns[k];
        int32_t at;
        if (x->bid_of[column->job] < 0 || column->last_slot < x->slot - KEPT_SLOTS)
            continue;
        ring.n = column->n;
        ring.workers_total = column->workers_total;
        memcpy(ring.servers, old.servers + column->first, (size_t)ring.n * sizeof *ring.servers);
        memcpy(ring.workers, old.workers + column->first, (size_t)ring.n * sizeof *ring.workers);
        rc = gadget_lp_add(&at, x, column->job, &ring, e);
        if (!rc)
            x->pool.columns[at].last_slot = column->last_slot;
    }
    free_pool(&old);
    x->n_kept = x->pool.n;
    return rc;
}

int gadget_lp_open(struct gadget_lp *x, const struct elastic_slot *slot, struct err *e)
{
    int rc = take_sizes(x, slot, e);
    if (rc)
        return rc;
    take_gains(x, slot);
    x->slot = slot->slot;
    if (x->pool.n > 2 * x->n_kept + SOME_COLUMNS)
        rc = clear_pool(x, e);
    for (int32_t i = 0; i < x->n_bids && !rc; i++)
        rc = give_row(x, x->bids[i].job, e);
    if (!rc)
        offer_columns(x);
    x->n_rounds = 0;
    x->pricer.steps = SLOT_STEPS;
    gadget_prices_leave(&x->prices, x->cluster->capacity, x->cluster->bw_Bps);
    return rc;
}

/* ---- solving ---- */

/* Prices of units from the rows' multipliers; returns what all capacity is worth at them. */
static double read_prices(struct gadget_lp *x)
{
    const struct cluster *c = x->cluster;
    int32_t n = c->n_servers * c->n_resources;
    double sum = 0;
    for (int32_t i = 0; i < x->n_rows; i++) {
        /* The simplex minimises: a multiplier is how much lower the value gets. */
        double dual = fmax(-simplex_dual(x->simplex, i), 0);
        double capacity = i < n ? c->capacity[i] : c->bw_Bps[i - n];
        double price = capacity > 0 ? dual / capacity : 0;
        sum += price * capacity;
        if (i < n)
            x->worker[i] = price;
        else
            x->arc[i - n] = price;
    }
    gadget_prices_set(&x->prices, x->worker, x->arc);
    return sum;
}

/*
 * Price every job at prices at which capacity is worth `capacity`; *bound is the dual value, *n_new how many
 * columns came in, *exact whether pricing decided for every job.
 */
static int price_jobs(double *bound, int32_t *n_new, bool *exact, struct gadget_lp *x, double capacity,
                      bool search, struct err *e)
{
    int rc = 0;
    *n_new = 0;
    *bound = capacity;
    *exact = true;
    for (int32_t i = 0; i < x->n_bids && !rc; i++) {
        const struct gadget_bid *bid = &x->bids[i];
        double dual = fmax(-simplex_dual(x->simplex, x->job_row[bid->job]), 0);
        const struct gadget_offer offer = { .job = &x->jobs[bid->job],
                                            .gain = bid->gain,
                                            .least = bid->least_size,
                                            .most = bid->most_size,
                                            .floor = dual + WORTH,
                                            .search = search && *n_new < ENOUGH };
        gadget_price(&x->found, &x->pricer, &offer);
        *bound += fmax(x->found.most, 0);
        *exact = *exact && x->found.exact;
        if (x->found.ring.n == 0)
            continue;
        int32_t column, before = x->pool.n;
        rc = gadget_lp_add(&column, x, bid->job, &x->found.ring, e);
        *n_new += !rc && x->pool.n > before;
    }
    return rc;
}

static void read_shares(struct gadget_lp *x)
{
    for (int32_t k = 0; k < x->pool.n; k++) {
        struct gadget_column *column = &x->pool.columns[k];
        column->share = fmin(fmax(simplex_value(x->simplex, k), 0), 1);
        if (column->share > 0)
            column->last_slot = x->slot;
    }
}

/*
 * Restricted to the columns so far the programme's prices say which rings are missing; at any prices >= 0
 * capacity plus what each job could gain at most bounds every choice, and the least of these is kept.
 * Searches wait until the relaxation names no ring any more.
 */
int gadget_lp_solve(double *bound, struct gadget_lp *x, struct err *e)
{
    static const struct simplex_way ways[] = { { SIMPLEX_FROM_BASIS, false, TOLERANCE, INT32_MAX },
                                               { SIMPLEX_FROM_SLACKS, false, TOLERANCE, INT32_MAX },
                                               { SIMPLEX_FROM_SLACKS, false, 1e-7, INT32_MAX } };
    enum simplex_status status;
    int rc = 0;
    *bound = INFINITY;
    for (int32_t round = 0, n_new = 1; round < MAX_ROUNDS && n_new > 0 && !rc; round++) {
        double at_prices;
        bool exact;
        rc = simplex_solve(&status, x->simplex, ways, sizeof ways / sizeof ways[0], e);
        x->n_rounds++;
        if (rc)
            break;
        read_shares(x);
        double capacity = read_prices(x);
        rc = price_jobs(&at_prices, &n_new, &exact, x, capacity, false, e);
        *bound = fmin(*bound, at_prices);
        if (rc || exact || n_new > 0)
            continue;
        rc = price_jobs(&at_prices, &n_new, &exact, x, capacity, true, e);
        *bound = fmin(*bound, at_prices);
    }
    *bound *= x->unit;
    return rc;
}

void gadget_lp_fix_sizes(struct gadget_lp *x)
{
    for (int32_t i = 0; i < x->n_bids; i++) {
        struct gadget_bid *bid = &x->bids[i];
        double chi[ELASTIC_MAX_WORKERS + 1] = { 0 }, best = 0;
        for (int32_t k = x->newest[bid->job]; k >= 0; k = x->pool.columns[k].next)
            chi[x->pool.columns[k].workers_total] += x->pool.columns[k].share;
        bid->least_size = 1;
        bid->most_size = 0;
        for (int32_t k = 1; k <= bid->most; k++)
            if (bid->gain[k] * chi[k] > best) {
                best = bid->gain[k] * chi[k];
                bid->least_size = bid->most_size = k;
            }
    }
    offer_columns(x);
}
