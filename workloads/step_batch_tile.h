/**
 * @file Private to workloads: T(B) at a block of points, with vectors of LANES numbers. Included once for
 * each length, by a file that defines LANES, what the function is called (BATCH) and the instructions it may
 * use (TARGET). Every number is made by the operations of step_time(), in its order: all lengths round alike.
 */
#include "workloads/step_batch.h"

#include <stddef.h>

#include "base/lanes.h"

/* LANES as wide as a pointer. */
#define OFFSET ((ptrdiff_t)LANES)

/* Four vectors: each traffic value is broadcast once for all, and their sums do not wait for each other. */
enum { DIMS = TOPO_MAX_DIMS, BLOCK = 4 * LANES };

struct four {
    vec a, b, c, d;
};

TARGET static inline struct four load(const double *x)
{
    return (struct four){ LOAD(x), LOAD(x + LANES), LOAD(x + 2 * OFFSET), LOAD(x + 3 * OFFSET) };
}

TARGET static inline void store(double *to, struct four x)
{
    STORE(to, x.a);
    STORE(to + LANES, x.b);
    STORE(to + 2 * OFFSET, x.c);
    STORE(to + 3 * OFFSET, x.d);
}

TARGET static inline struct four larger(struct four x, struct four y)
{
    return (struct four){ MAX(x.a, y.a), MAX(x.b, y.b), MAX(x.c, y.c), MAX(x.d, y.d) };
}

TARGET static inline struct four plus(struct four x, struct four y)
{
    return (struct four){ ADD(x.a, y.a), ADD(x.b, y.b), ADD(x.c, y.c), ADD(x.d, y.d) };
}

/* The product comes first: 0 bytes over 0 bandwidth is NaN and does not count. No traffic is never more than
 * the 0 at the start, whatever the bandwidth. */
TARGET static inline struct four leaf_time(const double *traffic_B, double inv[DIMS][BLOCK], int32_t n_dims)
{
    const vec zero = SET1(0.0);
    struct four t = { zero, zero, zero, zero };
    for (int32_t d = 0; d < n_dims; d++) {
        if (traffic_B[d] == 0)
            continue;
        const vec m = SET1(traffic_B[d]);
        const double *x = inv[d];
        t.a = MAX(MUL(m, LOAD(x)), t.a);
        t.b = MAX(MUL(m, LOAD(x + LANES)), t.b);
        t.c = MAX(MUL(m, LOAD(x + 2 * OFFSET)), t.c);
        t.d = MAX(MUL(m, LOAD(x + 3 * OFFSET)), t.d);
    }
    return t;
}

/* Recursion as deep as maxima are nested. */
TARGET static void term_time(double *out_s, const struct step_fn *f, double inv[DIMS][BLOCK], int32_t k)
{
    const vec start = SET1(f->const_s[k]);
    struct four sum = { start, start, start, start };
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
        sum = plus(sum, leaf_time(f->traffic_B + (size_t)l * DIMS, inv, f->n_dims));
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        const vec zero = SET1(0.0);
        double term_s[BLOCK], sum_s[BLOCK];
        struct four most = { zero, zero, zero, zero };
        store(sum_s, sum);
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++) {
            term_time(term_s, f, inv, c);
            most = larger(load(term_s), most);
        }
        sum = plus(load(sum_s), most);
    }
    store(out_s, sum);
}

TARGET static inline vec leaf_of_four(const double *traffic_B, const vec *inv)
{
    vec t = MAX(MUL(SET1(traffic_B[0]), inv[0]), SET1(0.0));
    t = MAX(MUL(SET1(traffic_B[1]), inv[1]), t);
    t = MAX(MUL(SET1(traffic_B[2]), inv[2]), t);
    return MAX(MUL(SET1(traffic_B[3]), inv[3]), t);
}

/* Sums of at most four dimensions, the common case: reciprocals of two vectors stay in registers. */
TARGET static int64_t sums_of_four(const struct step_fn *f, const double *const *bw, int64_t n, double *out_s)
{
    const double *end = f->traffic_B + (size_t)f->n_leaves * DIMS;
    int64_t i = 0;
    for (; i + 2 * OFFSET <= n; i += 2 * OFFSET) {
        vec x[4], y[4], a = SET1(f->const_s[0]), b = a;
        for (int32_t d = 0; d < 4; d++) { /* beyond n_dims the traffic is zero */
            x[d] = DIV(SET1(1.0), d < f->n_dims ? LOAD(bw[d] + i) : SET1(1.0));
            y[d] = DIV(SET1(1.0), d < f->n_dims ? LOAD(bw[d] + i + LANES) : SET1(1.0));
        }
        for (const double *traffic_B = f->traffic_B; traffic_B < end; traffic_B += DIMS) {
            a = ADD(a, leaf_of_four(traffic_B, x));
            b = ADD(b, leaf_of_four(traffic_B, y));
        }
        STORE(out_s + i, a);
        STORE(out_s + i + LANES, b);
    }
    return i;
}

TARGET int64_t BATCH(const struct step_fn *f, const double *const *bw_Bps, int64_t n, double *out_s)
{
    const vec one = SET1(1.0);
    _Alignas(32) double inv[DIMS][BLOCK];
    int64_t i = 0;
    if (f->n_terms == 1 && f->n_dims <= 4)
        return sums_of_four(f, bw_Bps, n, out_s);
    for (; i + BLOCK <= n; i += BLOCK) {
        for (int32_t d = 0; d < f->n_dims; d++)
            for (int32_t v = 0; v < BLOCK; v += LANES)
                STORE(&inv[d][v], DIV(one, LOAD(bw_Bps[d] + i + v)));
        term_time(out_s + i, f, inv, 0);
    }
    return i;
}
