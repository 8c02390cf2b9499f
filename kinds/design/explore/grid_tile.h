/**
 * @file Private to kinds/design/grid: the loop over a row, with vectors of LANES numbers. Included once for
 * each length, by a file that defines LANES, what the function is called (SIFT) and the instructions it may
 * use (TARGET). Products were taken before and sums are additions one by one, so all lengths round alike.
 */
#include "kinds/design/explore/grid_row.h"

#include <stddef.h>

#include "base/lanes.h"

/* LANES as wide as a pointer. */
#define OFFSET ((ptrdiff_t)LANES)

/* Four vectors at a time: enough sums under way to hide how long each addition takes. */
enum { STEP = 4 * LANES };

struct four {
    vec a, b, c, d;
};

/* Leaves from the reciprocals of one dimension, which stay in registers: many arrays of leaves would not stay
 * in the cache. No bytes over no bandwidth are NaN, and the second one is taken, as in step_time(). */
TARGET static inline struct four scaled_at(const struct grid_row *r, int64_t k)
{
    const vec x = LOAD(r->inv + k), y = LOAD(r->inv + k + LANES), z = LOAD(r->inv + k + 2 * OFFSET),
              u = LOAD(r->inv + k + 3 * OFFSET);
    vec a = SET1(r->const_s), b = a, c = a, d = a;
    for (int32_t l = 0; l < r->n_leaves; l++) {
        const vec base = SET1(r->base_s[l]), m = SET1(r->slopes[l]);
        a = ADD(a, MAX(MUL(m, x), base));
        b = ADD(b, MAX(MUL(m, y), base));
        c = ADD(c, MAX(MUL(m, z), base));
        d = ADD(d, MAX(MUL(m, u), base));
    }
    return (struct four){ a, b, c, d };
}

TARGET static inline struct four times_at(const struct grid_row *r, int64_t k)
{
    const double *leaf = r->leaf_s + k;
    vec a = SET1(r->const_s), b = a, c = a, d = a;
    for (int32_t l = 0; l < r->n_leaves; l++, leaf += r->stride) {
        const vec base = SET1(r->base_s[l]);
        a = ADD(a, MAX(LOAD(leaf), base));
        b = ADD(b, MAX(LOAD(leaf + LANES), base));
        c = ADD(c, MAX(LOAD(leaf + 2 * OFFSET), base));
        d = ADD(d, MAX(LOAD(leaf + 3 * OFFSET), base));
    }
    return (struct four){ a, b, c, d };
}

TARGET static inline struct four sum_at(const struct grid_sum *s, int64_t k)
{
    vec a = SET1(s->start), b = a, c = a, d = a;
    for (int32_t i = 0; i < s->n; i++) {
        const double *inner = s->parts[i].inner;
        const vec add = SET1(s->parts[i].add);
        a = ADD(a, inner ? LOAD(inner + k) : add);
        b = ADD(b, inner ? LOAD(inner + k + LANES) : add);
        c = ADD(c, inner ? LOAD(inner + k + 2 * OFFSET) : add);
        d = ADD(d, inner ? LOAD(inner + k + 3 * OFFSET) : add);
    }
    return (struct four){ a, b, c, d };
}

/* The least of a column among the numbers of a step: all of them lie in its bucket or above. */
TARGET static inline double lowest(struct four s)
{
    return LEAST(MIN(MIN(s.a, s.b), MIN(s.c, s.d)));
}

/* Most time for what is at k..k+STEP-1. */
TARGET static inline double bar_at(const struct grid_row *r, int64_t k)
{
    int64_t at = 0;
    for (int32_t c = 0; c < r->bar.n_columns; c++)
        at = at * r->bar.scales[c].n + grid_bucket(&r->bar.scales[c], lowest(sum_at(&r->sums[c], k)));
    return r->bar.most_s[at];
}

/* Which of the numbers are not above: a bit each. */
TARGET static inline unsigned pass(struct four x, vec most)
{
    return MASK(NOT_ABOVE(x.a, most)) | MASK(NOT_ABOVE(x.b, most)) << LANES |
           MASK(NOT_ABOVE(x.c, most)) << 2 * LANES | MASK(NOT_ABOVE(x.d, most)) << 3 * LANES;
}

TARGET static inline void store(double *to, struct four x)
{
    STORE(to, x.a);
    STORE(to + LANES, x.b);
    STORE(to + 2 * OFFSET, x.c);
    STORE(to + 3 * OFFSET, x.d);
}

/* Those of a step that pass the bar at their own places, not only at the lowest of them. Few get here. */
TARGET static int64_t put_hits(const struct grid_row *r, struct grid_hit *hits, struct four t, unsigned which,
                               int64_t k)
{
    double time_s[STEP], x[GRID_LINEAR][STEP];
    int64_t n = 0;
    store(time_s, t);
    for (int32_t c = 0; c < r->bar.n_columns; c++)
        store(x[c], sum_at(&r->sums[c], k));
    for (; which; which &= which - 1) {
        const int i = __builtin_ctz(which);
        int64_t at = 0;
        for (int32_t c = 0; c < r->bar.n_columns; c++)
            at = at * r->bar.scales[c].n + grid_bucket(&r->bar.scales[c], x[c][i]);
        if (time_s[i] <= r->bar.most_s[at])
            hits[n++] = (struct grid_hit){ k + i, time_s[i] };
    }
    return n;
}

TARGET int64_t SIFT(const struct grid_row *r, int64_t begin, int64_t end, struct grid_hit *hits)
{
    int64_t n = 0;
    for (int64_t k = begin - begin % STEP; k < end; k += STEP) {
        const struct four t = r->inv ? scaled_at(r, k) : times_at(r, k);
        const vec most_s = SET1(bar_at(r, k));
        if (!MASK(OR(OR(NOT_ABOVE(t.a, most_s), NOT_ABOVE(t.b, most_s)),
                     OR(NOT_ABOVE(t.c, most_s), NOT_ABOVE(t.d, most_s)))))
            continue;
        unsigned which = pass(t, most_s);
        for (int32_t c = 0; c < r->n_caps && which; c++)
            which &= pass(sum_at(&r->caps[c], k), SET1(r->most[c]));
        if (which)
            n += put_hits(r, hits + n, t, which, k);
    }
    return n;
}
