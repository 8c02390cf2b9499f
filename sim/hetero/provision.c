#include "sim/hetero/provision.h"

#include <math.h>

#include "sim/hetero/parts.h"

/* Of a cost: a smaller gain is rounding. */
#define COST_SLACK 1e-12

/*
 * Where units divide all work and thousands are allowed, the cost comes near its bound for ever without
 * meeting it. So after PATIENCE looks a gain must be worth ENOUGH, and more with each further look: prices
 * are not known better. A look gives about half a unit to every part: it takes limits of thousands of units
 * to get here.
 */
enum { PATIENCE = 4096 };
#define ENOUGH 1e-4

/* ---- results ---- */

/* USD/h of the units, times seconds per example. */
static double rate(const struct hetero_parts *w)
{
    return w->slowest_s * w->usd_per_h;
}

/* These units are the cheapest so far. */
static void keep(struct hetero_value *v, struct hetero_parts *w)
{
    const struct hetero_setup *s = &w->p->setup;
    *v = (struct hetero_value){ .status = HETERO_OK,
                                .usd = s->epochs * s->examples / 3600 * rate(w),
                                .per_s = 1 / w->slowest_s,
                                .usd_per_h = w->usd_per_h,
                                .reach_per_s = NAN };
    for (int32_t i = 0; i < w->n; i++)
        w->part[i].kept = w->part[i].units;
}

/* The kept units, told to the caller. */
static void report(struct hetero_parts *w, struct hetero_work *work)
{
    for (int32_t i = 0; i < w->n; i++) {
        struct hetero_part *x = &w->part[i];
        hetero_parts_take(w, x, x->kept - x->units);
        if (x->stage >= 0)
            work->units[x->stage] = x->kept;
    }
}

/* ---- exact ---- */

/*
 * The next units that may cost less than @p goal (rate()); false: none do, or a limit is reached. Whatever is
 * faster has one more unit in the slowest part and no fewer in the others, so it costs less than the goal
 * only where it takes less than goal / (USD/h of those): all times above that are passed over. And it costs
 * no less than units that may be broken up, time * sum of price * shared/(time - fixed), which rises as the
 * time falls: once that is the goal for the longest time left, nothing is left.
 */
static bool advance(struct hetero_parts *w, double goal)
{
    const int32_t slowest = w->slowest;
    const double limit_s = goal / (w->usd_per_h + w->part[slowest].usd_per_h);
    double broken_usd_per_h = 0;
    w->slowest_s = -1;
    for (int32_t i = 0; i < w->n; i++) {
        struct hetero_part *x = &w->part[i];
        double k = hetero_real_units(&x->time, limit_s);
        if (!(k <= HETERO_MAX_UNITS))
            return false;
        broken_usd_per_h += x->usd_per_h * k;
        if (x->now_s > limit_s || i == slowest) { /* one at least, so that it ends */
            int64_t whole = hetero_round_units(k);
            if (!hetero_parts_take(w, x, whole > x->units ? whole - x->units : 1))
                return false;
            x->now_s = hetero_time_s(&x->time, x->units);
        }
        if (x->now_s > w->slowest_s) {
            w->slowest_s = x->now_s;
            w->slowest = i;
        }
    }
    return limit_s * broken_usd_per_h < goal;
}

/* The least gain worth looking for after so many looks, as a share of the cost. */
static double gain(int64_t looks)
{
    return looks < PATIENCE ? COST_SLACK : ENOUGH * (double)looks / PATIENCE;
}

static void walk(struct hetero_value *v, struct hetero_parts *w)
{
    double least = rate(w);
    keep(v, w);
    for (int64_t looks = 0; least > 0 && advance(w, least * (1 - gain(looks))); looks++)
        if (rate(w) < least * (1 - gain(looks))) {
            least = rate(w);
            keep(v, w);
        }
}

/* ---- from the units of the first stage ---- */

/* The continuous cost (as rate()) with @p k units in the first stage; INFINITY where others cannot keep up.
 */
static double smooth_rate(const struct hetero_parts *w, double k)
{
    const struct hetero_time *t = &w->part[0].time;
    double slowest_s = fmax(t->fixed_s[0] + t->shared_s[0] / k, t->fixed_s[1] + t->shared_s[1] / k);
    double usd_per_h = w->part[0].usd_per_h * k;
    for (int32_t i = 1; i < w->n; i++)
        usd_per_h += w->part[i].usd_per_h * hetero_real_units(&w->part[i].time, slowest_s);
    return usd_per_h * slowest_s;
}

/* Least k >= @p from at which the continuous cost stops falling. Central differences; where the curve does
 * not bend upwards, half the way back to @p from. */
static double newton(const struct hetero_parts *w, double from)
{
    double k = from;
    for (int i = 0; i < 50; i++) {
        double h = 1e-4 * k, here = smooth_rate(w, k), up = smooth_rate(w, k + h),
               down = smooth_rate(w, k - h);
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

/* @p k units in the first stage, the others as fast, if that is a plan that reaches the throughput and is the
 * cheapest so far. */
static void balance(struct hetero_value *v, struct hetero_parts *w, double k)
{
    if (!(k >= 1 && k <= HETERO_MAX_UNITS))
        return;
    double limit_s = hetero_time_s(&w->part[0].time, (int64_t)k);
    if (limit_s > (1 + HETERO_SLACK) / w->p->per_s || hetero_parts_serve(w, limit_s) != HETERO_OK)
        return;
    if (v->status != HETERO_OK || rate(w) < v->usd_per_h / v->per_s)
        keep(v, w);
}

static void follow_first(struct hetero_value *v, struct hetero_parts *w)
{
    const double limit_s = 1 / w->p->per_s;
    v->status = HETERO_SCARCE;
    if (w->p->setup.provisioning == HETERO_NEWTON) {
        double k = newton(w, fmax(1, hetero_real_units(&w->part[0].time, limit_s)));
        balance(v, w, floor(k));
        balance(v, w, ceil(k));
    } else {
        balance(v, w, (double)w->part[0].units);
    }
    /* The first stage may be faster than asked for, and others unable to follow: they need not. */
    if (v->status != HETERO_OK && hetero_parts_serve(w, limit_s) == HETERO_OK)
        keep(v, w);
}

void hetero_provision(struct hetero_value *v, const struct hetero_problem *p, struct hetero_work *work)
{
    struct hetero_parts w;
    enum hetero_status status = hetero_parts_begin(&w, p, work);
    if (status != HETERO_OK) {
        *v = (struct hetero_value){ .status = status, .usd = NAN, .per_s = NAN, .usd_per_h = NAN };
        v->reach_per_s = hetero_parts_reach(&w);
        return;
    }
    if (p->setup.provisioning == HETERO_EXACT)
        walk(v, &w);
    else
        follow_first(v, &w);
    report(&w, work);
}
