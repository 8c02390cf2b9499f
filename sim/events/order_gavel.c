/*
 * Gavel (D. Narayanan et al., OSDI 2020): a policy says which part of the time each job should have on each
 * type of NPU, anew when jobs came or ended; rounds bring about what it says.
 *
 * Policies: max-min fairness of throughput over that of an equal share of all types, times GPUs
 * (section 4.1), and least makespan, the greatest least throughput over the steps that are left (4.2).
 * Throughput is that of a job alone on the type, where topology puts it.
 *
 * In each round jobs and types go by the share that a job was due over the time that it had (5): with the
 * same jobs all along that is X over the fraction received. Whoever has room for all its GPUs is taken, once.
 * Where it differs: what was due before jobs came or ended counts on, and GPUs that are free, also within a
 * round, go to whoever fits, first submitted first, without being counted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/stat.h"
#include "sim/events/events.h"
#include "sim/events/gavel_lp.h"

#define SMALL 1e-9 /* shares that are rounding */

enum { MOST_KINDS = 64 /* of jobs: of more, gains are rounded, */ };
#define FEW_LEFT (1.0 / 16) /* and fewer steps, over all of a job, count as so many */

struct gavel {
    struct arena arena;
    double *share, *due_s, *had_s; /* shape [n_jobs][n_types] */
    int32_t *active, n_active;     /* jobs that came and did not end, first submitted first; shape [n_jobs] */
    int32_t n_seen;                /* of the arrivals */
    int32_t *given, *want;         /* shape [n_jobs]: type by priority, and in all, in this round; -1 */
    struct stat_rank *list;        /* shape [n_jobs * n_types] */
    double *gain, *x;       /* of kinds of jobs; shape [n_jobs][n_types]; x: what they are compared by, then
                               their shares */
    double *gpus, *count;   /* shape [n_jobs] */
    int32_t *kind;          /* shape [n_jobs], of each active one */
    double last_s, round_s; /* counted until, and when the round began */
    bool stale;             /* jobs came or ended since shares were found */
    bool settled;           /* another round would change nothing */
};

static int gavel_build(struct events_state *x, struct err *e)
{
    struct gavel *g = x->own = calloc(1, sizeof *g);
    size_t n = (size_t)x->p->n_jobs, all = n * (size_t)x->n_types;
    if (!g)
        return err_nomem(e, "shares of jobs");
    g->share = ARENA_TAKE(&g->arena, all, *g->share);
    g->due_s = ARENA_TAKE(&g->arena, all, *g->due_s);
    g->had_s = ARENA_TAKE(&g->arena, all, *g->had_s);
    g->active = ARENA_TAKE(&g->arena, n, *g->active);
    g->given = ARENA_TAKE(&g->arena, n, *g->given);
    g->want = ARENA_TAKE(&g->arena, n, *g->want);
    g->list = ARENA_TAKE(&g->arena, all, *g->list);
    g->gain = ARENA_TAKE(&g->arena, all, *g->gain);
    g->x = ARENA_TAKE(&g->arena, all, *g->x);
    g->gpus = ARENA_TAKE(&g->arena, n, *g->gpus);
    g->count = ARENA_TAKE(&g->arena, n, *g->count);
    g->kind = ARENA_TAKE(&g->arena, n, *g->kind);
    return arena_check(&g->arena, "shares of jobs", e);
}

static void gavel_free(void *own)
{
    struct gavel *g = own;
    if (g)
        arena_free(&g->arena);
    free(g);
}

static void gavel_key(struct order_key *out, const struct events_state *x, int32_t job)
{
    *out = (struct order_key){ x->p->jobs[job].submit_s, 0 };
}

static double *of_job(double *list, const struct events_state *x, int32_t job)
{
    return list + (int64_t)job * x->n_types;
}

/* ---- shares ---- */

/* What was due, and had, since the last time. */
static void gavel_account(struct gavel *g, const struct events_state *x)
{
    double passed_s = x->now_s - g->last_s;
    for (int32_t i = 0; i < g->n_active; i++) {
        int32_t job = g->active[i];
        for (int32_t t = 0; t < x->n_types; t++)
            of_job(g->due_s, x, job)[t] += of_job(g->share, x, job)[t] * passed_s;
        if (g->given[job] >= 0)
            of_job(g->had_s, x, job)[g->given[job]] += passed_s;
    }
    g->last_s = x->now_s;
}

/* Did a job come or end? */
static bool gavel_update_active(struct gavel *g, const struct events_state *x)
{
    int32_t n = 0, before = g->n_active;
    for (int32_t i = 0; i < g->n_active; i++)
        if (x->live[g->active[i]].phase != LIVE_DONE)
            g->active[n++] = g->active[i];
    bool changed = n < before || g->n_seen < x->n_arrived;
    for (; g->n_seen < x->n_arrived; g->n_seen++) {
        int32_t job = x->arrivals[g->n_seen];
        g->given[job] = -1;
        if (x->live[job].phase != LIVE_DONE)
            g->active[n++] = job;
    }
    g->n_active = n;
    return changed;
}

/* Down to a half octave: the programme takes time with the square of the kinds, and gains change before the
 * next one anyway. */
static double gavel_round(double gain)
{
    int exponent;
    double fraction = frexp(gain, &exponent);
    return gain > 0 ? ldexp(fraction < 0.7071067811865476 ? 0.5 : 0.7071067811865476, exponent) : 0;
}

/* Of least makespan over the steps that are left, at least @p floor of the job's. */
static void gavel_find_gain(double *gain, const struct events_state *x, int32_t job, double floor)
{
    const struct live_job *live = &x->live[job];
    double unit = 0;
    for (int32_t t = 0; t < x->n_types; t++)
        unit += x->of_type[t][0] / x->total[0] / events_type_s(x, job, t);
    unit = x->kind == &order_gavel_makespan ? fmax(live->work - events_done(x, job), floor * live->work)
                                            : unit / x->p->jobs[job].gpus;
    for (int32_t t = 0; t < x->n_types; t++)
        gain[t] = 1 / (events_type_s(x, job, t) * unit);
}

/* Jobs with the same gains and GPUs are one kind: by symmetry equal shares are as good as any. Where they are
 * compared rounded, a kind has the gains of its first job: with rounded ones, which tie, the simplex goes
 * round in circles. */
static int32_t gavel_find_kind(struct gavel *g, struct hash *kinds, int32_t n, const struct events_state *x,
                               int32_t job, bool rounded, struct err *e)
{
    double *gain = of_job(g->gain, x, n), *key = of_job(g->x, x, n), gpus = x->p->jobs[job].gpus;
    size_t bytes = (size_t)x->n_types * sizeof *gain;
    uint64_t hash = (uint64_t)x->p->jobs[job].gpus;
    gavel_find_gain(gain, x, job, rounded ? FEW_LEFT : SMALL);
    for (int32_t t = 0; t < x->n_types; t++) {
        uint64_t bits;
        key[t] = rounded ? gavel_round(gain[t]) : gain[t];
        memcpy(&bits, &key[t], sizeof bits);
        hash = (hash ^ bits ^ bits >> 29) * UINT64_C(0x9E3779B97F4A7C15);
    }
    hash_each (k, kinds, hash)
        if (memcmp(of_job(g->x, x, (int32_t)k), key, bytes) == 0 && g->gpus[k] == gpus) {
            g->count[k]++;
            return (int32_t)k;
        }
    if (!hash_add(kinds, hash, n)) {
        (void)err_nomem(e, "kinds of jobs");
        return -1;
    }
    g->gpus[n] = gpus;
    g->count[n] = 1;
    return n;
}

static int gavel_find_kinds(int32_t *n, struct gavel *g, const struct events_state *x, bool rounded,
                            struct err *e)
{
    struct hash kinds = { 0 };
    int rc = 0;
    *n = 0;
    for (int32_t i = 0; i < g->n_active && !rc; i++) {
        g->kind[i] = gavel_find_kind(g, &kinds, *n, x, g->active[i], rounded, e);
        rc = g->kind[i] < 0 ? ERR_NOMEM : 0;
        *n += g->kind[i] == *n;
    }
    hash_free(&kinds);
    return rc;
}

static int gavel_allocate(struct gavel *g, const struct events_state *x, struct err *e)
{
    double room[CLUSTER_MAX_TYPES], least;
    int32_t n;
    int rc = gavel_find_kinds(&n, g, x, false, e);
    if (!rc && n > MOST_KINDS)
        rc = gavel_find_kinds(&n, g, x, true, e);
    for (int32_t t = 0; t < x->n_types; t++)
        room[t] = x->of_type[t][0];
    const struct gavel_lp lp = { n, x->n_types, g->gain, g->gpus, g->count, room };
    if (!rc && n > 0)
        rc = gavel_lp_solve(g->x, &least, &lp, e);
    for (int32_t i = 0; i < g->n_active && !rc; i++)
        memcpy(of_job(g->share, x, g->active[i]), of_job(g->x, x, g->kind[i]),
               (size_t)x->n_types * sizeof *g->share);
    return rc;
}

/* ---- rounds ---- */

/* Less comes first. Who had nothing yet comes before all others, by shares. */
static double gavel_rank(struct gavel *g, const struct events_state *x, int32_t job, int32_t t)
{
    double had_s = of_job(g->had_s, x, job)[t];
    return had_s > 0 ? -of_job(g->due_s, x, job)[t] / had_s : -1e30 * of_job(g->share, x, job)[t];
}

/* By priority, then who runs and finds room where it is: stopping it would help nobody. */
static void gavel_pick(struct gavel *g, const struct events_state *x)
{
    double left[CLUSTER_MAX_TYPES];
    int64_t n = 0;
    for (int32_t t = 0; t < x->n_types; t++)
        left[t] = x->of_type[t][0];
    for (int32_t i = 0; i < g->n_active; i++) {
        int32_t job = g->active[i];
        g->given[job] = g->want[job] = -1;
        for (int32_t t = 0; t < x->n_types; t++)
            if (of_job(g->share, x, job)[t] > SMALL)
                g->list[n++] = (struct stat_rank){ gavel_rank(g, x, job, t), (int64_t)job * x->n_types + t };
    }
    stat_sort_ranks(g->list, n);
    for (int64_t i = 0; i < n; i++) {
        int32_t job = (int32_t)(g->list[i].at / x->n_types), t = (int32_t)(g->list[i].at % x->n_types);
        if (g->given[job] >= 0 || x->p->jobs[job].gpus > left[t])
            continue;
        g->given[job] = g->want[job] = t;
        left[t] -= x->p->jobs[job].gpus;
    }
    for (int32_t i = 0; i < g->n_active; i++) {
        int32_t job = g->active[i], own = x->live[job].type;
        if (x->live[job].phase != LIVE_RUNS || g->want[job] >= 0 || x->p->jobs[job].gpus > left[own])
            continue;
        g->want[job] = own;
        left[own] -= x->p->jobs[job].gpus;
    }
}

/* Nobody waits, and who runs has no share elsewhere. */
static bool gavel_is_settled(struct gavel *g, const struct events_state *x)
{
    bool settled = x->waiting.n == 0;
    for (int32_t i = 0; i < g->n_active && settled; i++)
        for (int32_t t = 0; t < x->n_types; t++)
            settled =
                settled && (t == x->live[g->active[i]].type || of_job(g->share, x, g->active[i])[t] <= SMALL);
    return settled;
}

static int gavel_begin_round(struct gavel *g, struct events_state *x, struct err *e)
{
    bool started;
    int rc = g->stale ? gavel_allocate(g, x, e) : 0;
    if (rc)
        return rc;
    g->stale = false;
    g->round_s = x->now_s;
    gavel_pick(g, x);
    for (int32_t i = 0; i < g->n_active && !rc; i++) {
        int32_t job = g->active[i];
        if (x->live[job].phase == LIVE_RUNS && x->live[job].type != g->want[job])
            rc = events_stop(x, job, e);
    }
    for (int32_t i = 0; i < g->n_active && !rc; i++) {
        int32_t job = g->active[i];
        if (x->live[job].phase != LIVE_WAITS || g->want[job] < 0)
            continue;
        rc = events_start_on(x, job, g->want[job], &started, e);
        /* Other resources than GPUs may be scattered. */
        g->given[job] = started ? g->given[job] : -1;
    }
    return rc;
}

static int gavel_choose(struct events_state *x, struct err *e)
{
    struct gavel *g = x->own;
    int rc = 0;
    gavel_account(g, x);
    g->stale = gavel_update_active(g, x) || g->stale;
    if (x->n_running == 0 || x->now_s >= g->round_s + x->s->round_s)
        rc = gavel_begin_round(g, x, e);
    rc = rc ? rc : order_choose_waiting(x, e);
    g->settled = !g->stale && gavel_is_settled(g, x);
    return rc;
}

static double gavel_next_s(const struct events_state *x)
{
    const struct gavel *g = x->own;
    if (g->settled || x->n_running == 0)
        return INFINITY;
    /* A round that is lost in rounding is the shortest there is, so that time goes on. */
    return fmax(g->round_s + x->s->round_s, nextafter(x->now_s, INFINITY));
}

/* The two differ in what events_state.kind says the programme is for. */
#define GAVEL(name_, help_)                                                                                  \
    {                                                                                                        \
        .name = (name_), .help = (help_), .reads = ORDER_STOPS | ORDER_ROUNDS, .build = gavel_build,         \
        .free = gavel_free, .find_key = gavel_key, .choose = gavel_choose, .next_s = gavel_next_s            \
    }

const struct order_kind order_gavel =
    GAVEL("gavel", "shares of time on each type of NPU, max-min fair; in rounds");
const struct order_kind order_gavel_makespan = GAVEL("gavel-makespan", "the same for the least makespan");
