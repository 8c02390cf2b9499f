#include "bench/dual.h"

#include <math.h>

#include "bench/bench.h"

enum { DIMS = TOPO_MAX_DIMS, MAX_LEAVES = 64, MAX_ITERATIONS = 100000 };

static void sum_traffic(double *root, double *sum, const struct step_fn *f, double (*weight)[DIMS])
{
    *sum = 0;
    for (int32_t d = 0; d < f->n_dims; d++) {
        double a = 0;
        for (int32_t g = 0; g < f->n_leaves; g++)
            a += weight[g][d] * f->traffic_B[g * DIMS + d];
        root[d] = sqrt(a);
        *sum += root[d];
    }
}

static void update(double *weight, const double *traffic_B, const double *root, int32_t n_dims)
{
    double sum = 0;
    for (int32_t d = 0; d < n_dims; d++) {
        weight[d] = weight[d] > 0 ? weight[d] * traffic_B[d] / root[d] : 0;
        sum += weight[d];
    }
    for (int32_t d = 0; d < n_dims; d++)
        weight[d] /= sum;
}

void dual_solve(struct dual_result *out, const struct step_fn *f, double total_Bps, double gap)
{
    double weight[MAX_LEAVES][DIMS] = { { 0 } }, root[DIMS], sum;
    if (f->n_terms != 1 || f->n_leaves > MAX_LEAVES)
        bench_stop("the dual update is for sums of at most %d collectives", MAX_LEAVES);
    for (int32_t g = 0; g < f->n_leaves; g++)
        for (int32_t d = 0; d < f->n_dims; d++)
            weight[g][d] = 1.0 / f->n_dims;
    for (out->iterations = 0;; out->iterations++) {
        sum_traffic(root, &sum, f, weight);
        for (int32_t d = 0; d < f->n_dims; d++)
            out->bw_Bps[d] = total_Bps * root[d] / sum;
        out->time_s = step_time(f, out->bw_Bps);
        out->bound_s = f->const_s[0] + sum * sum / total_Bps;
        if (out->time_s - out->bound_s <= gap * out->time_s || out->iterations == MAX_ITERATIONS)
            return;
        for (int32_t g = 0; g < f->n_leaves; g++)
            update(weight[g], &f->traffic_B[(size_t)g * DIMS], root, f->n_dims);
    }
}
