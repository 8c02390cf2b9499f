#include "workloads/step_batch.h"

#include <math.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { DIMS = TOPO_MAX_DIMS };

/* The larger of a product and the largest so far. 0 bytes over 0 bandwidth is
 * NaN and must not count: a comparison with NaN is false, so it does not. The
 * vector instructions below have the same rule when the product comes first. */
static inline double larger(double product, double t)
{
    return product > t ? product : t;
}

static inline double leaf_time(const double *traffic_B, const double *inv, int32_t n_dims)
{
    double t = 0;
    for (int32_t d = 0; d < n_dims; d++)
        t = larger(traffic_B[d] * inv[d], t);
    return t;
}

static double term_time(const struct step_fn *f, const double *inv, int32_t k)
{
    double sum = f->const_s[k];
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
        sum += leaf_time(&f->traffic_B[(size_t)l * DIMS], inv, f->n_dims);
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        double most = 0;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
            most = larger(term_time(f, inv, c), most);
        sum += most;
    }
    return sum;
}

#if defined(__x86_64__)
/* Sums of at most four dimensions, the common case, two dimensions to a register. */
static double sum_time4(const struct step_fn *f, const double *bw_Bps)
{
    __m128d one = _mm_set1_pd(1.0), inv01, inv23;
    if (f->n_dims == 4) {
        inv01 = _mm_div_pd(one, _mm_loadu_pd(bw_Bps));
        inv23 = _mm_div_pd(one, _mm_loadu_pd(bw_Bps + 2));
    } else {
        double bw[4] = { 1, 1, 1, 1 }; /* beyond n_dims the traffic is zero */
        for (int32_t d = 0; d < f->n_dims; d++)
            bw[d] = bw_Bps[d];
        inv01 = _mm_div_pd(one, _mm_loadu_pd(bw));
        inv23 = _mm_div_pd(one, _mm_loadu_pd(bw + 2));
    }
    __m128d sum = _mm_load_sd(f->const_s);
    const double *m = f->traffic_B, *end = m + (size_t)f->n_leaves * DIMS;
    for (; m < end; m += DIMS) {
        __m128d t = _mm_max_pd(_mm_mul_pd(_mm_loadu_pd(m), inv01), _mm_setzero_pd());
        t = _mm_max_pd(_mm_mul_pd(_mm_loadu_pd(m + 2), inv23), t);
        t = _mm_max_sd(t, _mm_unpackhi_pd(t, t));
        sum = _mm_add_sd(sum, t);
    }
    return _mm_cvtsd_f64(sum);
}
#endif

double step_time(const struct step_fn *f, const double *bw_Bps)
{
#if defined(__x86_64__)
    if (f->n_terms == 1 && f->n_dims <= 4)
        return sum_time4(f, bw_Bps);
#endif
    double inv[DIMS];
    for (int32_t d = 0; d < f->n_dims; d++)
        inv[d] = 1 / bw_Bps[d];
    return term_time(f, inv, 0);
}

/* Add weight * gradient of the leaf: only the dimension that binds moves it. */
static double leaf_grad(const double *traffic_B, const double *inv, int32_t n_dims, double *grad)
{
    double t = 0;
    int32_t binds = -1;
    for (int32_t d = 0; d < n_dims; d++)
        if (traffic_B[d] * inv[d] > t) {
            t = traffic_B[d] * inv[d];
            binds = d;
        }
    if (binds >= 0 && grad)
        grad[binds] -= t * inv[binds];
    return t;
}

static double term_grad(const struct step_fn *f, const double *inv, int32_t k, double *grad)
{
    double sum = f->const_s[k];
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
        sum += leaf_grad(&f->traffic_B[(size_t)l * DIMS], inv, f->n_dims, grad);
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        double most = -1;
        int32_t binds = -1;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++) {
            double t = term_time(f, inv, c);
            if (t > most) {
                most = t;
                binds = c;
            }
        }
        sum += term_grad(f, inv, binds, grad);
    }
    return sum;
}

double step_time_grad(const struct step_fn *f, const double *bw_Bps, double *grad)
{
    double inv[DIMS];
    for (int32_t d = 0; d < f->n_dims; d++) {
        inv[d] = 1 / bw_Bps[d];
        grad[d] = 0;
    }
    return term_grad(f, inv, 0, grad);
}

static void batch_by_point(const struct step_fn *f, const double *const *bw_Bps, int64_t begin, int64_t end,
                           double *out_s)
{
    for (int64_t i = begin; i < end; i++) {
        double bw[DIMS];
        for (int32_t d = 0; d < f->n_dims; d++)
            bw[d] = bw_Bps[d][i];
        out_s[i] = step_time(f, bw);
    }
}

void step_time_batch(const struct step_fn *f, const double *const *bw_Bps, int64_t n, double *out_s)
{
    int64_t done = 0;
#if defined(__x86_64__)
    done = __builtin_cpu_supports("avx2") ? step_batch_4(f, bw_Bps, n, out_s)
                                          : step_batch_2(f, bw_Bps, n, out_s);
#else
    done = step_batch_2(f, bw_Bps, n, out_s);
#endif
    batch_by_point(f, bw_Bps, done, n, out_s);
}
