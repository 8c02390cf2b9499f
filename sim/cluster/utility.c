#include "sim/cluster/utility.h"

#include <math.h>
#include <stddef.h>

const char *const utility_words[] = { "linear", "sqrt", "log", "sigmoid", "sigmoid-env", NULL };

static bool is_sigmoid(enum utility_kind kind)
{
    return kind == UTILITY_SIGMOID || kind == UTILITY_SIGMOID_ENVELOPE;
}

/* 1 / (1 + exp(-x)), without overflow on either side. */
static double logistic(double x)
{
    double t = exp(-fabs(x));
    return x >= 0 ? 1 / (1 + t) : t / (1 + t);
}

static double sigmoid_at(const struct utility *u, double k)
{
    return u->scale * logistic(u->slope * (k - u->middle));
}

/* logistic(b) - logistic(a) = sinh((b-a)/2) / (2 cosh(a/2) cosh(b/2)); written with factors of at most 1. */
static double sigmoid_gain(const struct utility *u, double from, double gain)
{
    /* The step is not the difference of the two ends: small ones would be lost beside the middle. */
    double a = u->slope * (from - u->middle), step = u->slope * gain;
    return u->scale * -expm1(-step) * logistic(a + step) * logistic(-a);
}

/*
 * With s = logistic(slope (k - middle)), the line from (0, u(0)) touches at k where slope s (1-s) k = s -
 * s(0). The left side less the right one falls through 0 once beyond the middle: there it is positive at the
 * middle (the sigmoid is convex below) and negative far out.
 */
static double find_touch(const struct utility *u)
{
    double lo = u->middle, hi = u->middle + 2 / u->slope;
    struct utility unit = { .kind = UTILITY_SIGMOID, .scale = 1, .slope = u->slope, .middle = u->middle };
    for (int doubling = 0; doubling < 60; doubling++) {
        double s = sigmoid_at(&unit, hi);
        if (u->slope * s * (1 - s) * hi < sigmoid_gain(&unit, 0, hi))
            break;
        hi = u->middle + 2 * (hi - u->middle);
    }
    for (int halving = 0; halving < 200 && hi - lo > 0; halving++) {
        double k = lo + (hi - lo) / 2, s = sigmoid_at(&unit, k);
        if (k <= lo || k >= hi)
            break;
        if (u->slope * s * (1 - s) * k >= sigmoid_gain(&unit, 0, k))
            lo = k;
        else
            hi = k;
    }
    return lo + (hi - lo) / 2;
}

int utility_build(struct utility *u, enum utility_kind kind, double scale, double slope, double middle,
                  double most, struct err *e)
{
    *u = (struct utility){ .kind = kind, .scale = scale };
    if (!(scale >= 0 && isfinite(scale)))
        return err_set(e, ERR_RANGE, "utility: scale is %g, need a number >= 0", scale);
    if (!is_sigmoid(kind))
        return 0;
    if (!(slope > 0 && isfinite(slope)))
        return err_set(e, ERR_RANGE, "utility: slope is %g per iteration, need a number > 0", slope);
    if (!isfinite(middle))
        return err_set(e, ERR_RANGE, "utility: middle is %g iterations, need a number", middle);
    if (!(most >= 0))
        return err_set(e, ERR_RANGE, "utility: most is %g iterations, need a number >= 0", most);
    u->slope = slope;
    u->middle = middle;
    /* With its middle at or before 0 a sigmoid is concave as it is. */
    if (kind == UTILITY_SIGMOID_ENVELOPE && middle > 0)
        u->touch = fmin(find_touch(u), most);
    return 0;
}

double utility_at(const struct utility *u, double k)
{
    switch (u->kind) {
    case UTILITY_LINEAR:
        return u->scale * k;
    case UTILITY_SQRT:
        return u->scale * sqrt(k);
    case UTILITY_LOG:
        return u->scale * log1p(k);
    case UTILITY_SIGMOID_ENVELOPE:
        if (k < u->touch)
            return sigmoid_at(u, 0) + sigmoid_gain(u, 0, u->touch) * (k / u->touch);
        return sigmoid_at(u, k);
    default:
        return sigmoid_at(u, k);
    }
}

double utility_gain(const struct utility *u, double from, double gain)
{
    if (u->kind == UTILITY_LOG)
        return u->scale * log1p(gain / (1 + from));
    if (u->kind == UTILITY_SQRT)
        return gain > 0 ? u->scale * gain / (sqrt(from) + sqrt(from + gain)) : 0;
    if (u->kind == UTILITY_LINEAR)
        return u->scale * gain;
    if (u->kind == UTILITY_SIGMOID_ENVELOPE && from < u->touch) {
        double chord = fmin(gain, u->touch - from);
        return sigmoid_gain(u, 0, u->touch) * (chord / u->touch) + sigmoid_gain(u, u->touch, gain - chord);
    }
    return sigmoid_gain(u, from, gain);
}

bool utility_is_concave(const struct utility *u)
{
    return u->kind != UTILITY_SIGMOID || u->middle <= 0;
}
