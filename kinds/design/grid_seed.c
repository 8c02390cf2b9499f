/* Good points of a grid before it is walked: otherwise all of its first rows pass. */
#include "kinds/design/grid_inner.h"

#include <math.h>

/* A seed for so many combinations, and no more than that: they take a few microseconds each. */
enum { PER_SEED = 4096, MOST_SEEDS = 2048 };

/* Seed s is at the fractions s*alpha_a of the axes: the additive recurrence with the least gaps, by powers of
 * the root of x^(n+1) = x + 1 (M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018).
 */
static void set_steps(double *alpha, int32_t n)
{
    double root = 2;
    for (int i = 0; i < 64; i++)
        root = pow(1 + root, 1.0 / (n + 1));
    for (int32_t a = 0; a < n; a++)
        alpha[a] = pow(root, -(a + 1));
}

/* Every axis gets the least bandwidth with which the step takes as long. */
static void trim(const struct grid *g, struct grid_place *p)
{
    double least_Bps[TOPO_MAX_DIMS];
    grid_needed(g, p, least_Bps);
    for (int32_t a = 0; a < g->q.n_axes; a++) {
        double *bw_Bps = &p->bw_Bps[g->q.axes[a].dim], least = least_Bps[g->q.axes[a].dim];
        int64_t lo = 0, hi = g->q.axes[a].n - 1;
        while (lo < hi) {
            int64_t mid = lo + (hi - lo) / 2;
            if (g->sorted[a][mid] >= least || g->sorted[a][mid] >= *bw_Bps)
                hi = mid;
            else
                lo = mid + 1;
        }
        *bw_Bps = g->sorted[a][lo];
    }
}

static void place_seed(const struct grid *g, struct grid_place *p, const double *alpha, int64_t s)
{
    memcpy(p->bw_Bps, g->q.bw_Bps, sizeof p->bw_Bps);
    for (int32_t a = 0; a < g->q.n_axes; a++) {
        double at = fmod(0.5 + (double)s * alpha[a], 1);
        int64_t i = (int64_t)(at * (double)g->q.axes[a].n);
        p->bw_Bps[g->q.axes[a].dim] = g->sorted[a][i];
    }
    trim(g, p);
    grid_place_value(g, p, step_time(g->q.step, p->bw_Bps));
}

int grid_seed(struct grid *g, struct err *e)
{
    double alpha[TOPO_MAX_DIMS], x[FRONT_MAX_COLUMNS];
    int64_t n = g->size[0] / PER_SEED;
    int rc = 0;
    if (!g->q.n_front)
        return 0;
    if (n > MOST_SEEDS)
        n = MOST_SEEDS;
    set_steps(alpha, g->q.n_axes);
    for (int64_t s = 0; s < n && !rc; s++) {
        struct grid_place p;
        bool on = false;
        place_seed(g, &p, alpha, s);
        grid_front_value(g, p.value, x);
        if (grid_fits(g, &p) == GRID_IN)
            rc = front_offer(&g->seeds, x, s, &on, e);
        if (on)
            grid_bar_lower(g, g->seed_s, x);
    }
    return rc;
}
