/*
 * Failures and checkpoints of one job in closed form.
 *
 * Failures are exponential and independent: true of neither burn-in nor a rack that loses its power. Small
 * jobs die of their users: below some 4,096 NPUs rates by parts are too good (arXiv 2410.21680 measured 3.7
 * times as many at 1,024). Sources: docs/ownership.md.
 */
#include "topo/reliability.h"

#include <math.h>

double reliability_rate(const struct reliability_line *lines, int32_t n)
{
    double rate = 0;
    for (int32_t i = 0; i < n; i++)
        rate += lines[i].tolerated ? 0 : lines[i].n / lines[i].mtbf_s;
    return rate;
}

double reliability_rate_at(const struct reliability_line *lines, int32_t n, bool low)
{
    double rate = 0;
    for (int32_t i = 0; i < n; i++) {
        struct reliability_line at = lines[i];
        double end_s = low ? at.low_s : at.high_s;
        at.mtbf_s = end_s > 0 ? end_s : at.mtbf_s;
        rate += reliability_rate(&at, 1);
    }
    return rate;
}

double reliability_availability(double mtbf, double mttr)
{
    return mtbf / (mtbf + mttr);
}

/* ---- checkpoints ---- */

/* g(t) = log(1 - t) + t + d is concave and falls: Newton from g < 0 stays right of the root. Both starts are
 * there: g = -exp(-1 - d) at the one, -t^3/3 - ... at the other. */
double checkpoint_best_s(double stall_s, double mtbi_s)
{
    enum { MOST_STEPS = 100 };
    if (isinf(mtbi_s))
        return stall_s > 0 ? INFINITY : 0;
    double d = stall_s / mtbi_s, t = fmin(sqrt(2 * d), 1 - exp(-1 - d));
    for (int i = 0; i < MOST_STEPS && t > 0 && t < 1; i++) {
        double next = t + (log1p(-t) + t + d) * (1 - t) / t;
        if (!(next < t && next > 0))
            break;
        t = next;
    }
    return mtbi_s * t;
}

/* ---- goodput ---- */

/* u / (exp(u + v) - 1), with its limit where all intervals vanish. */
static double kept_share(double work, double stall)
{
    return work + stall > 0 ? work / expm1(work + stall) : 1;
}

double goodput_exact(const struct checkpoint *c, double mtbi_s, double interval_s)
{
    if (isinf(mtbi_s))
        return isinf(interval_s) || interval_s + c->stall_s == 0 ? 1 : interval_s / (interval_s + c->stall_s);
    if (isinf(interval_s))
        return 0;
    return exp(-(c->restart_s + c->drain_s) / mtbi_s) * kept_share(interval_s / mtbi_s, c->stall_s / mtbi_s);
}

double goodput_first_order(const struct checkpoint *c, double mtbi_s, double interval_s)
{
    if (isinf(mtbi_s))
        return goodput_exact(c, mtbi_s, interval_s);
    double lost = (c->restart_s + c->drain_s + interval_s / 2) / mtbi_s;
    return (1 - lost) * (c->stall_s > 0 ? interval_s / (interval_s + c->stall_s) : 1);
}

/* d log G / dM = ((R + drain)/M - 1 + x/(1 - exp(-x)))/M with x = (tau + delta)/M. */
void goodput_of(struct goodput *out, const struct checkpoint *c, double mtbi_s, double interval_s)
{
    double tau = isnan(interval_s) ? fmax(checkpoint_best_s(c->stall_s, mtbi_s), c->drain_s) : interval_s;
    double x = (tau + c->stall_s) / mtbi_s;
    *out = (struct goodput){ .interval_s = tau, .first_order = goodput_first_order(c, mtbi_s, tau) };
    if (c->stall_s + c->drain_s >= mtbi_s)
        return;
    out->goodput = goodput_exact(c, mtbi_s, tau);
    if (isinf(mtbi_s))
        return;
    out->per_restart = -out->goodput / mtbi_s;
    out->per_mtbi =
        out->goodput / mtbi_s * ((c->restart_s + c->drain_s) / mtbi_s - 1 + (x > 0 ? x / -expm1(-x) : 1));
}

double goodput_tiers(const struct goodput_tier *tiers, int32_t n, double mtbi_s)
{
    double good = 1;
    for (int32_t i = 0; i < n; i++) {
        const struct goodput_tier *t = &tiers[i];
        if (t->share > 0)
            good -= t->share * (t->c.restart_s + t->c.drain_s + t->settled_s / 2) / mtbi_s;
        good -= t->c.stall_s > 0 ? t->c.stall_s / t->settled_s : 0;
    }
    return fmax(good, 0);
}

/* Relative derivatives add up: d log G/dM = sum of d log G_j/dM_j / share_j. */
void goodput_of_tiers(struct goodput *out, struct goodput_tier *tiers, int32_t n, double mtbi_s)
{
    double good = 1, per_mtbi = 0;
    for (int32_t i = 0; i < n; i++) {
        struct goodput_tier *t = &tiers[i];
        double m = t->share > 0 ? mtbi_s / t->share : INFINITY;
        goodput_of(out, &t->c, m, t->interval_s / good);
        t->settled_s = out->interval_s * good;
        good *= out->goodput;
        per_mtbi += out->goodput > 0 && t->share > 0 ? out->per_mtbi / out->goodput / t->share : 0;
        if (good == 0)
            break;
    }
    out->interval_s = tiers[n - 1].settled_s;
    out->goodput = good;
    out->per_restart = -good / mtbi_s;
    out->per_mtbi = good * per_mtbi;
    if (n > 1)
        out->first_order = good > 0 ? goodput_tiers(tiers, n, mtbi_s) : 0;
}

double checkpoint_write_s(double bytes, double nodes, double node_Bps, double store_Bps)
{
    return fmax(bytes / nodes / node_Bps, bytes / store_Bps);
}

/* ---- spares ---- */

/* Terms in logarithms: the first alone is below the least double for some thousand units. */
double spares_enough(int64_t n, int64_t spares, double down)
{
    double all = (double)n + (double)spares, log_term = all * log1p(-down), sum = exp(log_term);
    for (int64_t j = 1; j <= spares && down > 0; j++) {
        double before = sum;
        log_term += log((all - (double)j + 1) / (double)j * down / (1 - down));
        sum += exp(log_term);
        if ((double)j > all * down && sum == before) /* the rest is rounding */
            break;
    }
    return fmin(sum, 1);
}

int64_t spares_needed(double mean, double sure)
{
    double log_term = -mean, sum = exp(log_term);
    int64_t s = 0;
    while (sum < sure) {
        double before = sum;
        s++;
        log_term += log(mean / (double)s);
        sum += exp(log_term);
        if ((double)s > mean && sum == before) /* the rest is rounding */
            break;
    }
    return s;
}
