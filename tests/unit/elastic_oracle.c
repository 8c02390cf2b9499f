#include "tests/support.h"

#include "base/rng.h"
#include "tests/unit/elastic_oracle.h"

/* ---- cases ---- */

static const char *const resource_names[] = { "gpus", "cpus", "memory" };

static void build_racks(struct cluster *c, struct rng *rng, const struct cluster_offer *offer, int32_t n)
{
    int32_t rack[ORACLE_SERVERS], n_racks = 1 + (int32_t)rng_below(rng, n < 3 ? n : 3);
    double server_Bps[ORACLE_SERVERS], rack_Bps[3];
    for (int32_t s = 0; s < n; s++) {
        rack[s] = s < n_racks ? s : (int32_t)rng_below(rng, n_racks);
        server_Bps[s] = (double)(1 + rng_below(rng, 4)) * 1e9;
    }
    for (int32_t i = 0; i < 3; i++)
        rack_Bps[i] = (double)(1 + rng_below(rng, 4)) * 1e9;
    const struct cluster_racks racks = {
        .n_servers = n, .n_racks = n_racks, .rack = rack, .server_Bps = server_Bps, .rack_Bps = rack_Bps
    };
    MUST(cluster_build_racks(c, &racks, offer, e));
}

static const struct {
    const char *word;
    int32_t servers;
} words[] = { { "ring:4@4", 4 }, { "switch:4@2", 4 }, { "ring:2@2 switch:2@2", 4 },
              { "line:3@4", 3 }, { "full:4@6", 4 },   { "ring:2@1.5 ring:2@3", 4 },
              { "line:4@3", 4 }, { "ring:3@3", 3 } };

static void build_word(struct cluster *c, const char *word, const struct cluster_offer *offer)
{
    struct topo_network net;
    MUST(topo_parse_spec(&net, word, e));
    MUST(cluster_build(c, &net, 0, offer, e));
}

static void draw_job(struct elastic_job *j, struct rng *rng, const struct oracle_case *x, int32_t most)
{
    enum utility_kind kinds[] = { UTILITY_LINEAR, UTILITY_SQRT, UTILITY_LOG, UTILITY_SIGMOID_ENVELOPE };
    *j = (struct elastic_job){ .arrival = 1 + (int32_t)rng_below(rng, x->n_slots),
                               .max_workers = 1 + (int32_t)rng_below(rng, most),
                               .fixed_workers = 1,
                               .budget = (double)(1 + rng_below(rng, 8)),
                               .hop_Bps = (double)rng_below(rng, 7) * 0.5e9,
                               .zeta = (double)(1 + rng_below(rng, 9)),
                               .leave_frac = INFINITY };
    j->demand[0] = 1;
    for (int32_t r = 1; r < x->cluster.n_resources; r++)
        j->demand[r] = (double)rng_below(rng, 4);
    double scale = (double)(1 + rng_below(rng, 9)), middle = (double)(5 + rng_below(rng, 20));
    MUST(utility_build(&j->aim, kinds[rng_below(rng, 4)], scale, 0.3, middle, INFINITY, e));
    j->report = j->aim;
}

void oracle_case_build(struct oracle_case *x, int32_t number)
{
    struct err e = { 0 };
    double each[ORACLE_SERVERS * 3];
    RNG(rng, 20220215, (uint64_t)number);
    *x = (struct oracle_case){ .n_slots = 1 + number % 3 };
    size_t word = (size_t)rng_below(rng, COUNT_OF(words));
    int32_t servers = number % 2 ? words[word].servers : 2 + (int32_t)rng_below(rng, 3);
    const struct cluster_offer offer = { .n_resources = 1 + (int32_t)rng_below(rng, 3),
                                         .names = resource_names,
                                         .per_server = each,
                                         .each = true };
    for (int32_t i = 0; i < servers * offer.n_resources; i++)
        each[i] = (double)(i % offer.n_resources ? 2 + rng_below(rng, 5) : 1 + rng_below(rng, 3));
    if (number % 2)
        build_word(&x->cluster, words[word].word, &offer);
    else
        build_racks(&x->cluster, rng, &offer, servers);
    /* So many rings fit that four jobs of four workers would take minutes. */
    static const int32_t most[] = { 5, 4, 4, 3, 2 };
    int32_t want = 1 + (int32_t)rng_below(rng, ORACLE_JOBS);
    while (x->n_jobs < want) {
        struct elastic_job *j = &x->jobs[x->n_jobs];
        draw_job(j, rng, x, most[want]);
        snprintf(x->ids[x->n_jobs], sizeof x->ids[0], "%d", (int)x->n_jobs);
        j->id = x->ids[x->n_jobs];
        x->n_jobs += elastic_check_job(j, &x->cluster, &e) == 0; /* else no server has room: another one */
    }
}

void oracle_case_free(struct oracle_case *x)
{
    cluster_free(&x->cluster);
}

/* ---- rings ---- */

static int32_t n_rows(const struct cluster *c)
{
    return c->n_servers * c->n_resources + c->n_arcs;
}

static double row_capacity(const struct cluster *c, int32_t row)
{
    int32_t n = c->n_servers * c->n_resources;
    return row < n ? c->capacity[row] : c->bw_Bps[row - n];
}

void oracle_load(double *load, const struct cluster *c, const struct elastic_job *job,
                 const struct oracle_ring *ring)
{
    for (int32_t i = 0; i < n_rows(c); i++)
        load[i] = 0;
    for (int32_t i = 0; i < ring->n; i++) {
        struct cluster_path path;
        for (int32_t r = 0; r < c->n_resources; r++)
            load[ring->servers[i] * c->n_resources + r] += ring->workers[i] * job->demand[r];
        if (ring->n == 1)
            continue;
        MUST(cluster_find_path(&path, c, ring->servers[i], ring->servers[(i + 1) % ring->n], NULL, e));
        for (int32_t a = 0; a < path.n; a++)
            load[c->n_servers * c->n_resources + path.arcs[a]] += job->hop_Bps;
    }
}

/* Each hop alone, each server alone. */
static bool may_be(const struct cluster *c, const struct elastic_job *job, const struct oracle_ring *ring)
{
    for (int32_t i = 0; i < ring->n; i++) {
        struct cluster_path path;
        for (int32_t r = 0; r < c->n_resources; r++)
            if (ring->workers[i] * job->demand[r] > cluster_capacity(c, ring->servers[i], r))
                return false;
        MUST(cluster_find_path(&path, c, ring->servers[i], ring->servers[(i + 1) % ring->n], NULL, e));
        for (int32_t a = 0; a < path.n && ring->n > 1; a++)
            if (job->hop_Bps > c->bw_Bps[path.arcs[a]])
                return false;
    }
    return true;
}

struct listing {
    struct oracle_rings *out;
    const struct cluster *cluster;
    const struct elastic_job *job;
    int32_t most;
};

/* Rings from the lowest of their servers on; one ring more for each way to go on. */
static void list_from(const struct listing *l, struct oracle_ring *ring)
{
    if (ring->n > 0 && may_be(l->cluster, l->job, ring)) {
        assert_in_range(l->out->n, 0, ORACLE_RINGS - 1);
        l->out->rings[l->out->n++] = *ring;
    }
    for (int32_t s = ring->n ? ring->servers[0] + 1 : 0; s < l->cluster->n_servers; s++) {
        bool there = false;
        for (int32_t i = 0; i < ring->n; i++)
            there = there || ring->servers[i] == s;
        for (int32_t w = 1; !there && ring->workers_total + w <= l->most; w++) {
            ring->servers[ring->n] = s;
            ring->workers[ring->n++] = w;
            ring->workers_total += w;
            list_from(l, ring);
            ring->n--;
            ring->workers_total -= w;
        }
    }
}

void oracle_list_rings(struct oracle_rings *out, const struct cluster *c, const struct elastic_job *job,
                       int32_t most)
{
    struct oracle_ring ring = { 0 };
    out->n = 0;
    list_from(&(struct listing){ out, c, job, most }, &ring);
}

/* ---- sets of rings ---- */

struct sets {
    const struct oracle_case *x;
    struct oracle_counts *out;
    struct oracle_rings rings[ORACLE_JOBS];
};

static void fill(struct sets *s, int32_t job, double *left, int32_t code, int32_t place)
{
    const struct cluster *c = &s->x->cluster;
    double load[64];
    if (job == s->x->n_jobs) {
        s->out->feasible[code] = true;
        return;
    }
    fill(s, job + 1, left, code, place * (ORACLE_WORKERS + 1));
    for (int32_t i = 0; i < s->rings[job].n; i++) {
        const struct oracle_ring *ring = &s->rings[job].rings[i];
        bool fits = true;
        oracle_load(load, c, &s->x->jobs[job], ring);
        for (int32_t k = 0; k < n_rows(c); k++) {
            left[k] -= load[k];
            fits = fits && left[k] >= -1e-9 * row_capacity(c, k);
        }
        if (fits)
            fill(s, job + 1, left, code + ring->workers_total * place, place * (ORACLE_WORKERS + 1));
        for (int32_t k = 0; k < n_rows(c); k++)
            left[k] += load[k];
    }
}

void oracle_counts_build(struct oracle_counts *out, const struct oracle_case *x)
{
    struct sets *s = malloc(sizeof *s);
    double left[64];
    assert_non_null(s);
    assert_in_range(n_rows(&x->cluster), 1, 64);
    s->x = x;
    s->out = out;
    out->n_codes = 1;
    for (int32_t i = 0; i < x->n_jobs; i++) {
        out->n_codes *= ORACLE_WORKERS + 1;
        oracle_list_rings(&s->rings[i], &x->cluster, &x->jobs[i], x->jobs[i].max_workers);
    }
    out->feasible = calloc((size_t)out->n_codes, sizeof *out->feasible);
    assert_non_null(out->feasible);
    for (int32_t k = 0; k < n_rows(&x->cluster); k++)
        left[k] = row_capacity(&x->cluster, k);
    fill(s, 0, left, 0, 1);
    free(s);
}

void oracle_counts_free(struct oracle_counts *x)
{
    free(x->feasible);
}

/* ---- optima ---- */

double oracle_slot(const struct oracle_counts *counts, const struct elastic_slot *slot)
{
    double best = 0;
    for (int32_t code = 0; code < counts->n_codes; code++) {
        double value = 0;
        bool allowed = counts->feasible[code];
        for (int32_t i = 0, rest = code; i < slot->n_jobs && allowed; i++, rest /= ORACLE_WORKERS + 1) {
            int32_t k = rest % (ORACLE_WORKERS + 1);
            const struct elastic_job *j = &slot->jobs[i];
            allowed =
                k == 0 || (j->arrival <= slot->slot && k <= j->max_workers && slot->used[i] + k <= j->budget);
            if (allowed && k > 0)
                value += utility_at(&j->aim, slot->done[i] + k * j->zeta) -
                         utility_at(&j->aim, slot->done[i]) - slot->gpu_cost * k;
        }
        best = allowed && value > best ? value : best;
    }
    return best;
}

static double run_from(const struct oracle_counts *counts, const struct oracle_case *x, int32_t slot,
                       const int32_t *used)
{
    double best = 0;
    if (slot > x->n_slots) {
        for (int32_t i = 0; i < x->n_jobs; i++)
            best += utility_at(&x->jobs[i].aim, used[i] * x->jobs[i].zeta);
        return best;
    }
    for (int32_t code = 0; code < counts->n_codes; code++) {
        int32_t now[ORACLE_JOBS];
        bool allowed = counts->feasible[code];
        for (int32_t i = 0, rest = code; i < x->n_jobs && allowed; i++, rest /= ORACLE_WORKERS + 1) {
            int32_t k = rest % (ORACLE_WORKERS + 1);
            now[i] = used[i] + k;
            allowed = k == 0 || (x->jobs[i].arrival <= slot && now[i] <= x->jobs[i].budget);
        }
        if (allowed)
            best = fmax(best, run_from(counts, x, slot + 1, now));
    }
    return best;
}

double oracle_run(const struct oracle_counts *counts, const struct oracle_case *x)
{
    const int32_t none[ORACLE_JOBS] = { 0 };
    return run_from(counts, x, 1, none);
}
