#include "sim/hetero/provision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cost that is not below the best one by this share of it is no gain but rounding. */
#define COST_SLACK 1e-12

/* What takes part in the walk: a stage, or the parameter servers of one, which are a stage whose time falls
 * as 1/k. */
struct part {
    struct hetero_time time;
    double usd_per_h, now_s; /* of one unit; seconds per example with the units it has */
    int64_t units;
    int32_t type, stage; /* stage -1: servers */
};

/* A plan being provisioned. */
struct walk {
    const struct hetero_problem *p;
    struct part parts[2 * HETERO_MAX_LAYERS];
    int32_t n;
    int64_t *of_type; /* shape [n_types] */
    double usd_per_h, slowest_s;
};

/* ---- parts and their units ---- */

static void add_part(struct walk *w, const struct hetero_stage *s, int32_t stage)
{
    const struct hetero_problem *p = w->p;
    w->parts[w->n++] = (struct part){
        .time = s->time, .usd_per_h = p->unit_usd_per_h[s->span.type], .type = s->span.type, .stage = stage
    };
    if (s->server_s > 0)
        w->parts[w->n++] = (struct part){ .time = { .shared_s = { s->server_s, 0 } },
                                          .usd_per_h = p->unit_usd_per_h[p->setup.server],
                                          .type = p->setup.server,
                                          .stage = -1 };
}

static void begin(struct walk *w, const struct hetero_problem *p, const struct hetero_work *work)
{
    w->p = p;
    w->n = 0;
    w->of_type = work->of_type;
    for (int32_t i = 0; i < work->n_stages; i++)
        add_part(w, &work->stages[i], i);
}

/* @p more units of a part; false: a type has not so many. */
static bool take(struct walk *w, struct part *x, int64_t more)
{
    const struct hetero_type *t = &w->p->profile->types[x->type];
    x->units += more;
    w->usd_per_h += (double)more * x->usd_per_h;
    w->of_type[x->type] += more;
    if (t->host >= 0)
        w->of_type[t->host] += more * t->host_units;
    return w->of_type[x->type] <= t->max_units &&
           (t->host < 0 || w->of_type[t->host] <= w->p->profile->types[t->host].max_units);
}

/* The least units with which every part is as fast as @p limit_s. */
static enum hetero_status serve(struct walk *w, double limit_s)
{
    bool enough = true;
    memset(w->of_type, 0, (size_t)w->p->profile->n_types * sizeof *w->of_type);
    w->usd_per_h = w->slowest_s = 0;
    for (int32_t i = 0; i < w->n; i++) {
        struct part *x = &w->parts[i];
        int64_t k = hetero_least_units(&x->time, limit_s);
        if (k < 0)
            return HETERO_TOO_SLOW;
        x->units = 0;
        enough = take(w, x, k) && enough;
        x->now_s = hetero_time_s(&x->time, k);
        w->slowest_s = fmax(w->slowest_s, x->now_s);
    }
    return enough ? HETERO_OK : HETERO_SCARCE;
}

/* USD of the whole training at the rate and speed of now. */
static double cost(const struct walk *w)
{
    return w->p->setup.epochs * w->p->setup.examples * w->slowest_s / 3600 * w->usd_per_h;
}

static void keep(struct hetero_value *v, const struct walk *w, struct hetero_work *work)
{
    *v = (struct hetero_value){ .status = HETERO_OK,
                                .usd = cost(w),
                                .per_s = 1 / w->slowest_s,
                                .usd_per_h = w->usd_per_h,
                                .reach_per_s = NAN };
    for (int32_t i = 0; i < w->n; i++)
        if (w->parts[i].stage >= 0)
            work->units[w->parts[i].stage] = w->parts[i].units;
}

/* ---- plans that do not reach the throughput ---- */

/* What a plan reaches when each part alone has all units of its type. */
static double reach_alone(const struct walk *w)
{
    double slowest_s = 0;
    for (int32_t i = 0; i < w->n; i++)
        slowest_s = fmax(slowest_s,
                         hetero_time_s(&w->parts[i].time, w->p->profile->types[w->parts[i].type].max_units));
    return 1 / slowest_s;
}

/* Parts share the units: the largest throughput between none and that of each alone, to 1e-6 of it. */
static double reach(struct walk *w)
{
    double high = reach_alone(w), low = 0;
    if (serve(w, 1 / high) == HETERO_OK)
        return high;
    for (double try = high / 2; try > high * 1e-9; try /= 2) {
        if (serve(w, 1 / try) == HETERO_OK) {
            low = try;
            break;
        }
        high = try;
    }
    while (low > 0 && high - low > 1e-6 * high) {
        double middle = (low + high) / 2;
        *(serve(w, 1 / middle) == HETERO_OK ? &low : &high) = middle;
    }
    return low;
}

static void fail(struct hetero_value *v, struct walk *w, enum hetero_status status)
{
    *v = (struct hetero_value){ .status = status, .usd = NAN, .per_s = NAN, .usd_per_h = NAN };
    v->reach_per_s = reach(w);
}

/* ---- exact ---- */

/* What no units cost less than, at any throughput above 1 / @p slowest_s: USD/h times seconds. Continuous
 * units, units/throughput = shared / (1 - fixed/slowest), rise with throughput. */
static double relaxed(const struct walk *w, double slowest_s)
{
    double sum = 0;
    for (int32_t i = 0; i < w->n; i++) {
        const struct hetero_time *t = &w->parts[i].time;
        double need = 0;
        for (int k = 0; k < 2; k++)
            need = fmax(need, t->shared_s[k] / (1 - t->fixed_s[k] / slowest_s));
        sum += w->parts[i].usd_per_h * need;
    }
    return sum;
}

/* One unit more for each part that is the slowest; false: that does not help, or there are none. */
static bool step(struct walk *w)
{
    double before_s = w->slowest_s;
    w->slowest_s = 0;
    for (int32_t i = 0; i < w->n; i++) {
        struct part *x = &w->parts[i];
        if (x->now_s >= before_s) {
            if (x->units >= HETERO_MAX_UNITS || !take(w, x, 1))
                return false;
            x->now_s = hetero_time_s(&x->time, x->units);
            if (!(x->now_s < before_s))
                return false;
        }
        w->slowest_s = fmax(w->slowest_s, x->now_s);
    }
    return true;
}

static void walk_all(struct hetero_value *v, struct walk *w, struct hetero_work *work)
{
    double hours = w->p->setup.epochs * w->p->setup.examples / 3600;
    keep(v, w, work);
    while (relaxed(w, w->slowest_s) * hours < v->usd * (1 - COST_SLACK) && step(w))
        if (cost(w) < v->usd * (1 - COST_SLACK))
            keep(v, w, work);
}

/* ---- from the units of the first stage ---- */

/* The plan with @p k units in its first stage and the others as fast. */
static bool balance(struct hetero_value *v, struct walk *w, struct hetero_work *work, int64_t k)
{
    double limit_s = hetero_time_s(&w->parts[0].time, k);
    if (k < 1 || k > HETERO_MAX_UNITS || limit_s > (1 + 1e-9) / w->p->per_s)
        return false;
    if (serve(w, limit_s) != HETERO_OK)
        return false;
    if (v->status != HETERO_OK || cost(w) < v->usd)
        keep(v, w, work);
    return true;
}

/* The continuous cost with @p k units in the first stage; INFINITY where others cannot keep up. */
static double smooth_cost(const struct walk *w, double k)
{
    const struct hetero_time *t = &w->parts[0].time;
    double slowest_s = fmax(t->fixed_s[0] + t->shared_s[0] / k, t->fixed_s[1] + t->shared_s[1] / k), sum = 0;
    for (int32_t i = 0; i < w->n; i++) {
        const struct hetero_time *u = &w->parts[i].time;
        double units = 0;
        for (int j = 0; j < 2; j++) {
            double room_s = slowest_s - u->fixed_s[j];
            if (u->shared_s[j] > 0 && !(room_s > 0))
                return INFINITY;
            if (u->shared_s[j] > 0)
                units = fmax(units, u->shared_s[j] / room_s);
        }
        sum += w->parts[i].usd_per_h * (i == 0 ? k : units) * slowest_s;
    }
    return sum;
}

/* Least k >= @p from at which the continuous cost stops falling. Central differences; where the curve does
 * not bend upwards, half a step towards @p from. */
static double newton(const struct walk *w, double from)
{
    double k = from;
    for (int i = 0; i < 50; i++) {
        double h = 1e-4 * k, here = smooth_cost(w, k), up = smooth_cost(w, k + h),
               down = smooth_cost(w, k - h);
        double slope = (up - down) / (2 * h), bend = (up - 2 * here + down) / (h * h);
        double next = bend > 0 ? k - slope / bend : (k + from) / 2;
        if (!isfinite(next))
            break;
        next = fmax(from, next);
        if (fabs(next - k) < 1e-6)
            return next;
        k = next;
    }
    return k;
}

void hetero_provision(struct hetero_value *v, const struct hetero_problem *p, struct hetero_work *work)
{
    struct walk w;
    begin(&w, p, work);
    enum hetero_status status = serve(&w, 1 / p->per_s);
    if (status != HETERO_OK) {
        fail(v, &w, status);
        return;
    }
    if (p->setup.provisioning == HETERO_EXACT) {
        walk_all(v, &w, work);
    } else {
        int64_t k = w.parts[0].units;
        double best = p->setup.provisioning == HETERO_NEWTON ? newton(&w, (double)k) : (double)k;
        v->status = HETERO_SCARCE;
        if (p->setup.provisioning == HETERO_NEWTON)
            balance(v, &w, work, (int64_t)floor(best));
        balance(v, &w, work, (int64_t)ceil(best));
        if (v->status != HETERO_OK)
            fail(v, &w, HETERO_SCARCE);
    }
}
