/*
 * Servers for the tasks of SMD's jobs (places.h): room, then rates. What a job puts on a link is counted for
 * pushes and pulls apart; they take turns, so the larger number is what it needs of the link.
 */
#include "sim/interval/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "sim/flow/maxmin.h"

struct places_work {
    struct arena arena; /* of the arrays below */
    const struct cluster *c;
    const int32_t *of;
    double *left;                   /* shape [n_servers][n_resources] */
    int32_t *push, *pull, *touched; /* shape [n_arcs]: pairs of the job at hand, 0 between jobs */
    struct maxmin_use *uses;        /* shape [n_arcs] */
    int32_t n_touched;
    struct maxmin *sharing;
    struct cluster_room paths;
};

static int places_build(struct places_work *x, const struct cluster *c, const int32_t *of, int32_t n_jobs,
                        struct err *e)
{
    const struct maxmin_settings settings = {
        .same_rate = 1 + 0x1p-38, .keep_rate = 1 + 0x1p-40, .rounds = 8, .n_capped = n_jobs
    };
    size_t n = (size_t)c->n_servers * (size_t)c->n_resources;
    *x = (struct places_work){ .c = c, .of = of };
    x->left = ARENA_TAKE(&x->arena, n, *x->left);
    x->push = ARENA_TAKE(&x->arena, c->n_arcs + 1, *x->push);
    x->pull = ARENA_TAKE(&x->arena, c->n_arcs + 1, *x->pull);
    x->touched = ARENA_TAKE(&x->arena, c->n_arcs + 1, *x->touched);
    x->uses = ARENA_TAKE(&x->arena, c->n_arcs + 1, *x->uses);
    if (x->arena.failed)
        return err_nomem(e, "places of tasks");
    memcpy(x->left, c->capacity, n * sizeof *x->left);
    return maxmin_build(&x->sharing, c->bw_Bps, c->n_arcs, &settings, e);
}

static void places_work_free(struct places_work *x)
{
    maxmin_free(x->sharing);
    cluster_room_free(&x->paths);
    arena_free(&x->arena);
}

/* ---- room ---- */

static bool places_fit(const struct places_work *x, int32_t s, const struct smd_job *job, int32_t w,
                       int32_t p)
{
    for (int32_t k = 0; k < x->c->n_resources; k++) {
        double need = w * job->worker[x->of[k]] + p * job->ps[x->of[k]];
        if (!(need <= x->left[(int64_t)s * x->c->n_resources + k] * (1 + SMD_LIMIT_SLACK)))
            return false;
    }
    return true;
}

/* As many of w workers and p parameter servers as server s has room for, in step. */
static struct smd_seat places_fill(const struct places_work *x, int32_t s, const struct smd_job *job,
                                   int32_t w, int32_t p)
{
    struct smd_seat seat = { .server = s };
    bool more = true;
    while (more && seat.w + seat.p < w + p) {
        /* Whichever is further behind goes first; the other one where that does not fit. */
        bool worker = seat.p == p || (seat.w < w && (int64_t)seat.w * p <= (int64_t)seat.p * w);
        more = false;
        for (int way = 0; way < 2 && !more; way++, worker = !worker) {
            int32_t w1 = seat.w + worker, p1 = seat.p + !worker;
            if (w1 > w || p1 > p || !places_fit(x, s, job, w1, p1))
                continue;
            seat.w = w1;
            seat.p = p1;
            more = true;
        }
    }
    return seat;
}

static void places_take(struct places_work *x, const struct smd_job *job, struct smd_seat seat, int sign)
{
    for (int32_t k = 0; k < x->c->n_resources; k++)
        x->left[(int64_t)seat.server * x->c->n_resources + k] -=
            sign * (seat.w * job->worker[x->of[k]] + seat.p * job->ps[x->of[k]]);
}

static int places_seat_job(struct smd_places *out, struct places_work *x, int32_t i,
                           const struct smd_job *job, const struct smd_decision *d, struct err *e)
{
    struct smd_placed *at = &out->jobs[i];
    int32_t w = d->w, p = d->p;
    at->first = out->n_seats;
    while (w + p > 0) {
        struct smd_seat best = { 0 };
        for (int32_t s = 0; s < x->c->n_servers; s++) {
            struct smd_seat seat = places_fill(x, s, job, w, p);
            if (seat.w + seat.p > best.w + best.p)
                best = seat;
        }
        if (best.w + best.p == 0)
            break;
        if (!vec_reserve(out->seats, out->cap_seats, out->n_seats + 1))
            return err_nomem(e, "places of tasks");
        out->seats[out->n_seats++] = best;
        places_take(x, job, best, 1);
        w -= best.w;
        p -= best.p;
    }
    if (w + p > 0)
        while (out->n_seats > at->first)
            places_take(x, job, out->seats[--out->n_seats], -1);
    at->n = out->n_seats - at->first;
    out->n_placed += at->n > 0;
    return work_check(e);
}

/* ---- links ---- */

static int places_add_path(struct places_work *x, int32_t *pairs, int32_t from, int32_t to, int32_t count,
                           struct err *e)
{
    struct cluster_path path;
    int rc = cluster_find_path(&path, x->c, from, to, &x->paths, e);
    for (int32_t a = 0; a < path.n && !rc; a++) {
        if (x->push[path.arcs[a]] + x->pull[path.arcs[a]] == 0)
            x->touched[x->n_touched++] = path.arcs[a];
        pairs[path.arcs[a]] += count;
    }
    return rc;
}

/* Pairs of a worker and a parameter server over every link, into the shared links as one bundle. */
static int places_join(struct places_work *x, const struct smd_places *out, int32_t i, double cap_Bps,
                       struct err *e)
{
    const struct smd_seat *seats = out->seats + out->jobs[i].first;
    int32_t n = out->jobs[i].n, n_uses = 0;
    int rc = 0;
    x->n_touched = 0;
    for (int32_t a = 0; a < n && !rc; a++)
        for (int32_t b = 0; b < n && !rc; b++) {
            int32_t pairs = seats[a].w * seats[b].p;
            if (a == b || pairs == 0)
                continue;
            rc = places_add_path(x, x->push, seats[a].server, seats[b].server, pairs, e);
            if (!rc)
                rc = places_add_path(x, x->pull, seats[b].server, seats[a].server, pairs, e);
        }
    for (int32_t k = 0; k < x->n_touched; k++) {
        int32_t arc = x->touched[k], most = x->push[arc] > x->pull[arc] ? x->push[arc] : x->pull[arc];
        x->uses[n_uses++] = (struct maxmin_use){ arc, most };
        x->push[arc] = x->pull[arc] = 0;
    }
    if (rc)
        return rc;
    /* Some pair is always apart: a job on two servers has a task on each, and both kinds of tasks. */
    rc = maxmin_place(x->sharing, i, x->uses, n_uses, cap_Bps, e);
    if (!rc)
        maxmin_join(x->sharing, i);
    return rc;
}

/* The paper's time with what a pair gets in place of B/w. */
static void places_time_job(struct smd_placed *at, const struct smd_job *job, const struct smd_decision *d,
                            double pair_Bps)
{
    struct smd_job there = *job;
    there.ps_Bps = fmin(job->ps_Bps, pair_Bps * d->w);
    struct smd_cost cost = smd_find_cost(&there);
    at->jct_s = smd_jct_s(&cost, d->w, d->p);
    at->utility = smd_worth(&job->utility, at->jct_s);
}

static int places_share_links(struct smd_places *out, struct places_work *x, const struct smd_result *r,
                              const struct smd_job *jobs, struct err *e)
{
    const int32_t *changed;
    int32_t n;
    double sum = 0;
    int rc = 0;
    for (int32_t i = 0; i < r->n_jobs && !rc; i++)
        if (out->jobs[i].n > 1)
            rc = places_join(x, out, i, jobs[i].ps_Bps / r->jobs[i].w, e);
    if (rc)
        return rc;
    maxmin_settle(x->sharing, &changed, &n);
    for (int32_t i = 0; i < r->n_jobs; i++) {
        struct smd_placed *at = &out->jobs[i];
        if (at->n == 0)
            continue;
        double rate_Bps = at->n > 1 ? maxmin_rate(x->sharing, i) : INFINITY;
        places_time_job(at, &jobs[i], &r->jobs[i], rate_Bps);
        out->utility += at->utility;
        sum += at->jct_s / r->jobs[i].jct_s;
    }
    out->stretch = out->n_placed ? sum / out->n_placed : (double)NAN;
    return 0;
}

int smd_places_find(struct smd_places *out, const struct smd_result *r, const struct smd_job *jobs,
                    const struct cluster *c, const int32_t *of, struct err *e)
{
    struct places_work x;
    *out = (struct smd_places){ .n_jobs = r->n_jobs };
    out->jobs = ARENA_TAKE(&out->arena, r->n_jobs + 1, *out->jobs);
    int rc = arena_check(&out->arena, "places of tasks", e);
    if (rc)
        return rc;
    rc = places_build(&x, c, of, r->n_jobs, e);
    for (int32_t i = 0; i < r->n_jobs && !rc; i++) {
        out->jobs[i] = (struct smd_placed){ .jct_s = NAN };
        if (r->jobs[i].fate == SMD_RUNS)
            rc = places_seat_job(out, &x, i, &jobs[i], &r->jobs[i], e);
    }
    if (!rc)
        rc = places_share_links(out, &x, r, jobs, e);
    places_work_free(&x);
    if (rc)
        smd_places_free(out);
    return rc;
}

void smd_places_free(struct smd_places *x)
{
    free(x->seats);
    arena_free(&x->arena);
    *x = (struct smd_places){ 0 };
}
