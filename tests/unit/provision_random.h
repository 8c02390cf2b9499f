/** @file Random plans to provision, with the cheapest units by enumeration and by a plain walk. */
#ifndef TESTS_UNIT_PROVISION_RANDOM_H
#define TESTS_UNIT_PROVISION_RANDOM_H

#include "base/rng.h"
#include "sim/hetero/hetero.h"
#include "tests/support.h"

enum { PROVISION_LAYERS = 12, PROVISION_PARTS = 2 * PROVISION_LAYERS, PROVISION_TYPES = 8 };

/** What to draw. */
struct provision_kind {
    int32_t n_stages, n_types; /**< a layer for each stage, of another type than the one before */
    int64_t max_units;         /**< the largest limit of a type */
    bool hosts, servers, overlap;
    enum hetero_handover handover;
};

struct provision_case {
    struct hetero_profile profile;
    struct hetero_problem problem;
    struct hetero_link links[PROVISION_TYPES * PROVISION_TYPES];
    hetero_id plan[PROVISION_LAYERS];
    struct hetero_work work;
};

/** Shares of work: none, all, or in between. */
static inline double provision_share(struct rng *rng)
{
    int64_t kind = rng_below(rng, 5);
    return kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? rng_range(rng, 0, 1) : rng_range(rng, 0.9, 1);
}

static inline void provision_draw_type(struct hetero_type *t, const struct provision_kind *k, int32_t i,
                                       struct rng *rng)
{
    snprintf(t->name, sizeof t->name, "t%d", (int)i);
    t->usd_per_h = rng_below(rng, 8) == 0 ? 0 : rng_log_range(rng, 0.05, 5);
    t->max_units = 1 + rng_below(rng, k->max_units);
    if (rng_below(rng, 2) == 0)
        t->max_units = k->max_units;
    t->compute_par = provision_share(rng);
    t->comm_par = provision_share(rng);
    if (k->hosts && i > 0 && rng_below(rng, 2) == 0) {
        t->host = 0;
        t->host_units = rng_below(rng, 3);
    }
}

static inline void provision_draw(struct provision_case *c, const struct provision_kind *k, struct rng *rng)
{
    struct hetero_profile *f = &c->profile;
    MUST(hetero_profile_build(f, k->n_stages, k->n_types, e));
    f->batch = 64;
    for (int32_t t = 0; t < k->n_types; t++)
        provision_draw_type(&f->types[t], k, t, rng);
    for (int32_t l = 0; l < k->n_stages; l++) {
        const bool idle = l > 0 && rng_below(rng, 10) == 0;
        f->layers[l].sparse_B = rng_below(rng, 2) == 0 ? 0 : rng_range(rng, 0, 1e6);
        f->layers[l].out_B = rng_range(rng, 0, 1e6);
        for (int32_t t = 0; t < k->n_types; t++) {
            size_t at = (size_t)(l * k->n_types + t);
            f->compute_s[at] = idle ? 0 : rng_log_range(rng, 0.1, 10);
            f->sync_s[at] = idle ? 0 : rng_log_range(rng, 0.1, 10);
            f->handover_s[at] = idle ? 0 : rng_range(rng, 0, 1);
        }
        do
            c->plan[l] = (hetero_id)rng_below(rng, k->n_types);
        while (l > 0 && c->plan[l] == c->plan[l - 1]);
    }
    for (int32_t i = 0; i < PROVISION_TYPES * PROVISION_TYPES; i++)
        c->links[i] = (struct hetero_link){ .lat_s = 0.01, .Bps = 1e9 };
    const struct hetero_setup setup = { .overlap = k->overlap,
                                        .handover = k->handover,
                                        .links = c->links,
                                        .examples = 3600,
                                        .epochs = 2,
                                        .server = k->servers ? (int32_t)rng_below(rng, k->n_types) : -1,
                                        .server_Bps = 1e7 };
    MUST(hetero_profile_check(f, e));
    MUST(hetero_build(&c->problem, f, &setup, e));
    MUST(hetero_work_build(&c->work, &c->problem, e));
}

static inline void provision_free(struct provision_case *c)
{
    hetero_work_free(&c->work);
    hetero_free(&c->problem);
    hetero_profile_free(&c->profile);
}

/** A stage or its servers, written down once more. */
struct provision_part {
    double fixed_s[2], shared_s[2];
    int32_t type, stage; /**< stage -1: servers */
};

static inline double provision_time_s(const struct provision_part *x, double k)
{
    return fmax(x->fixed_s[0] + x->shared_s[0] / k, x->fixed_s[1] + x->shared_s[1] / k);
}

/** Parts of c->plan, shape [PROVISION_PARTS]. Returns how many. */
static inline int32_t provision_parts(struct provision_part *parts, const struct provision_case *c)
{
    struct hetero_stage stages[PROVISION_LAYERS];
    int32_t n = hetero_stages(stages, &c->problem, c->plan), n_parts = 0;
    for (int32_t i = 0; i < n; i++) {
        const struct hetero_time *t = &stages[i].time;
        parts[n_parts++] = (struct provision_part){ .fixed_s = { t->fixed_s[0], t->fixed_s[1] },
                                                    .shared_s = { t->shared_s[0], t->shared_s[1] },
                                                    .type = stages[i].span.type,
                                                    .stage = i };
        if (stages[i].server_s > 0)
            parts[n_parts++] = (struct provision_part){ .shared_s = { stages[i].server_s, 0 },
                                                        .type = c->problem.setup.server,
                                                        .stage = -1 };
    }
    return n_parts;
}

/** What numbers of units come to. */
struct provision_sum {
    bool fits; /**< in the limits */
    double usd, per_s, usd_per_h;
};

static inline struct provision_sum provision_sum(const struct provision_case *c,
                                                 const struct provision_part *parts, const int64_t *units,
                                                 int32_t n)
{
    const struct hetero_type *types = c->profile.types;
    int64_t of_type[PROVISION_TYPES] = { 0 };
    double slowest_s = 0;
    struct provision_sum s = { .fits = true };
    for (int32_t i = 0; i < n; i++) {
        const struct hetero_type *t = &types[parts[i].type];
        of_type[parts[i].type] += units[i];
        if (t->host >= 0)
            of_type[t->host] += units[i] * t->host_units;
        slowest_s = fmax(slowest_s, provision_time_s(&parts[i], (double)units[i]));
    }
    for (int32_t t = 0; t < c->profile.n_types; t++) {
        s.fits = s.fits && of_type[t] <= types[t].max_units;
        s.usd_per_h += (double)of_type[t] * types[t].usd_per_h;
    }
    s.per_s = 1 / slowest_s;
    s.usd = c->problem.setup.epochs * c->problem.setup.examples / 3600 * slowest_s * s.usd_per_h;
    return s;
}

/** The best of all numbers of units. */
struct provision_best {
    double usd;         /**< the cheapest that reaches the throughput; INFINITY: none does */
    double reach_per_s; /**< the fastest; 0: none fits */
};

/** Every number of units of every part. */
static inline struct provision_best provision_enumerate(const struct provision_case *c, double per_s)
{
    struct provision_part parts[PROVISION_PARTS];
    int64_t units[PROVISION_PARTS];
    const int32_t n = provision_parts(parts, c);
    struct provision_best best = { .usd = INFINITY };
    for (int32_t i = 0; i < n; i++)
        units[i] = 1;
    for (int32_t i = 0; i < n;) {
        const struct provision_sum s = provision_sum(c, parts, units, n);
        if (s.fits) {
            best.reach_per_s = fmax(best.reach_per_s, s.per_s);
            if (s.per_s >= per_s * (1 - 1e-9))
                best.usd = fmin(best.usd, s.usd);
        }
        for (i = 0; i < n && units[i] == c->profile.types[parts[i].type].max_units; i++)
            units[i] = 1;
        if (i < n)
            units[i]++;
    }
    return best;
}

/**
 * Least units for the throughput, then one more for the slowest part as long as there are any: every set of
 * units that is not worse in all parts than another. @p first_usd: of the least units, INFINITY without.
 */
static inline struct provision_best provision_walk(double *first_usd, const struct provision_case *c,
                                                   double per_s)
{
    struct provision_part parts[PROVISION_PARTS];
    int64_t units[PROVISION_PARTS];
    const int32_t n = provision_parts(parts, c);
    struct provision_best best = { .usd = INFINITY };
    *first_usd = INFINITY;
    for (int32_t i = 0; i < n; i++)
        units[i] = 1;
    for (;;) {
        const struct provision_sum s = provision_sum(c, parts, units, n);
        if (!s.fits)
            return best;
        best.reach_per_s = fmax(best.reach_per_s, s.per_s);
        if (s.per_s >= per_s * (1 - 1e-9)) {
            *first_usd = isfinite(*first_usd) ? *first_usd : s.usd;
            best.usd = fmin(best.usd, s.usd);
        }
        int32_t slowest = 0;
        for (int32_t i = 1; i < n; i++)
            if (provision_time_s(&parts[i], (double)units[i]) >
                provision_time_s(&parts[slowest], (double)units[slowest]))
                slowest = i;
        double before_s = provision_time_s(&parts[slowest], (double)units[slowest]);
        units[slowest]++;
        if (!(provision_time_s(&parts[slowest], (double)units[slowest]) < before_s))
            return best;
    }
}

/** A case that is released where the block ends. */
#define PROVISION(v, ...)                                                                                    \
    KEEP(struct provision_case, v, provision_free);                                                          \
    provision_draw(&v, __VA_ARGS__)

#endif
