#include "kinds/design/grid_inner.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"

enum { DIMS = TOPO_MAX_DIMS };

/* Numbers of all arrays that the loop over a row reads: half of a first-level cache of 32 KiB. */
enum { ROW_NUMBERS = 2048, LEAST_ROW = 64 };

enum grid_column grid_column_of(const char *name)
{
    static const char *const names[GRID_COLUMNS] = { "time_s", "cost_usd", "total_GBps", "nic_GBps",
                                                     "time_cost_usd_s" };
    int c = 0;
    while (c < GRID_COLUMNS && strcmp(name, names[c]) != 0)
        c++;
    return (enum grid_column)c;
}

void grid_question_init(struct grid_question *q, const struct step_fn *step)
{
    *q = (struct grid_question){ .step = step };
    for (int c = 0; c < GRID_COLUMNS; c++)
        q->most[c] = INFINITY;
}

bool grid_has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* ---- one point ---- */

double grid_linear_at(const struct grid_linear *c, const double *bw_Bps, int32_t n_dims)
{
    double sum = c->start;
    for (int32_t d = 0; d < n_dims; d++)
        sum += c->coef[d] * bw_Bps[d];
    return sum;
}

void grid_place_value(const struct grid *g, struct grid_place *p, double time_s)
{
    p->value[GRID_TIME] = time_s;
    for (int c = 0; c < GRID_LINEAR; c++)
        p->value[GRID_COST + c] =
            grid_linear_at(&g->linear[c], p->bw_Bps, g->q.step->n_dims) / g->linear[c].per_unit;
    p->value[GRID_PRODUCT] = time_s * p->value[GRID_COST];
}

void grid_value(const struct grid *g, int64_t at, double *bw_Bps, double value[GRID_COLUMNS])
{
    struct grid_place p;
    memcpy(p.bw_Bps, g->q.bw_Bps, sizeof p.bw_Bps);
    for (int32_t a = 0; a < g->q.n_axes; a++)
        p.bw_Bps[g->q.axes[a].dim] = g->q.axes[a].bw_Bps[at % g->size[a] / g->size[a + 1]];
    grid_place_value(g, &p, step_time(g->q.step, p.bw_Bps));
    if (bw_Bps)
        memcpy(bw_Bps, p.bw_Bps, sizeof p.bw_Bps);
    if (value)
        memcpy(value, p.value, sizeof p.value);
}

static double leaf_time(const struct step_fn *f, int32_t leaf, const double *inv)
{
    double t = 0;
    for (int32_t d = 0; d < f->n_dims; d++) {
        double product = f->traffic_B[leaf * DIMS + d] * inv[d];
        t = product > t ? product : t;
    }
    return t;
}

/* What is not less than this is not the slowest of any leaf, by more than rounding: then no collective that
 * was merged into one depends on it. */
void grid_needed(const struct grid *g, const struct grid_place *p, double *least_Bps)
{
    const struct step_fn *f = g->q.step;
    double inv[DIMS];
    for (int32_t d = 0; d < f->n_dims; d++) {
        inv[d] = 1 / p->bw_Bps[d];
        least_Bps[d] = 0;
    }
    for (int32_t l = 0; l < f->n_leaves; l++) {
        double inv_s = 1 / (leaf_time(f, l, inv) * (1 - GRID_TIE_REL));
        for (int32_t d = 0; d < f->n_dims; d++) {
            double traffic_B = f->traffic_B[l * DIMS + d];
            if (traffic_B > 0 && !(traffic_B * inv_s <= least_Bps[d]))
                least_Bps[d] = traffic_B * inv_s;
        }
    }
}

/* ---- checks ---- */

static int check_axis(const struct grid_question *q, int32_t a, struct err *e)
{
    const struct grid_axis *axis = &q->axes[a];
    if (axis->dim < 0 || axis->dim >= q->step->n_dims)
        return err_set(e, ERR_RANGE, "axis %d: dimension is %d, need 0 to %d", (int)a, (int)axis->dim,
                       (int)q->step->n_dims - 1);
    for (int32_t b = 0; b < a; b++)
        if (q->axes[b].dim == axis->dim)
            return err_set(e, ERR_RANGE, "axis %d: dimension %d has an axis, need another one", (int)a,
                           (int)axis->dim);
    if (axis->n < 1)
        return err_set(e, ERR_RANGE, "axis %d: has no values, need at least 1", (int)a);
    for (int64_t i = 0; i < axis->n; i++)
        if (!(isfinite(axis->bw_Bps[i]) && axis->bw_Bps[i] >= 0))
            return err_set(e, ERR_RANGE, "axis %d: bandwidth is %g B/s, need 0 or more", (int)a,
                           axis->bw_Bps[i]);
    return 0;
}

/* Axes, and how many combinations there are. */
static int check(struct grid *g, struct err *e)
{
    const int64_t most = INT64_C(1) << 62;
    int rc = 0;
    for (int32_t d = 0; d < DIMS; d++)
        g->axis_of[d] = -1;
    for (int32_t a = 0; a < g->q.n_axes && !rc; a++) {
        rc = check_axis(&g->q, a, e);
        if (!rc)
            g->axis_of[g->q.axes[a].dim] = a;
    }
    if (rc)
        return rc;
    g->size[g->q.n_axes] = 1;
    for (int32_t a = g->q.n_axes; a-- > 0;)
        if (!num_mul(g->size[a + 1], g->q.axes[a].n, &g->size[a]) || g->size[a] >= most)
            return err_set(e, ERR_RANGE, "a grid of bandwidths has 2^62 combinations or more, need fewer");
    return 0;
}

/* ---- arrays ---- */

/* Zeros that begin at a cache line, so that no vector lies on two: half of them would, and be slower. */
static double *zeros(int64_t n)
{
    enum { LINE = 64, NUMBERS = LINE / sizeof(double) };
    size_t size = (size_t)(n / NUMBERS + 1) * LINE;
    double *x = aligned_alloc(LINE, size);
    if (x)
        memset(x, 0, size);
    return x;
}

static int compare_reals(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int prepare_axis(struct grid *g, int32_t a, struct err *e)
{
    const struct grid_axis *axis = &g->q.axes[a];
    g->inv[a] = malloc((size_t)axis->n * sizeof *g->inv[a]);
    g->sorted[a] = malloc((size_t)axis->n * sizeof *g->sorted[a]);
    if (!g->inv[a] || !g->sorted[a])
        return err_nomem(e, "a grid of bandwidths");
    for (int64_t i = 0; i < axis->n; i++) {
        g->inv[a][i] = 1 / axis->bw_Bps[i];
        g->sorted[a][i] = axis->bw_Bps[i];
    }
    qsort(g->sorted[a], (size_t)axis->n, sizeof *g->sorted[a], compare_reals);
    return 0;
}

static void set_linear(struct grid *g)
{
    for (int c = 0; c < GRID_LINEAR; c++)
        g->linear[c].per_unit = c == LINEAR_COST ? 1 : 1e9; /* GB/s */
    g->linear[LINEAR_COST].start = g->q.usd_fixed;
    for (int32_t d = 0; d < g->q.step->n_dims; d++) {
        g->linear[LINEAR_COST].coef[d] = g->q.usd_per_Bps[d];
        g->linear[LINEAR_TOTAL].coef[d] = 1;
        g->linear[LINEAR_NIC].coef[d] = g->q.has_nic[d];
    }
}

/* As many of the last axes as stay in the cache together; the last one in any case. */
static void choose_row(struct grid *g)
{
    int64_t most = ROW_NUMBERS / (g->n_leaves + 1);
    if (most < LEAST_ROW)
        most = LEAST_ROW;
    g->n_outer = g->q.n_axes ? g->q.n_axes - 1 : 0;
    while (g->n_outer > 0 && g->size[g->n_outer - 1] <= most)
        g->n_outer--;
    int64_t row = g->size[g->n_outer];
    g->stride = (row + GRID_BLOCK - 1) / GRID_BLOCK * GRID_BLOCK;
}

/* What axis a adds at each place of the row; zero beyond its end, where nobody looks. */
static int prepare_inner(struct grid *g, int32_t a, struct err *e)
{
    const struct grid_axis *axis = &g->q.axes[a];
    int64_t row = g->size[g->n_outer];
    g->inner_Bps[a] = zeros(g->stride);
    for (int c = 0; c < GRID_LINEAR; c++)
        g->inner[a][c] = zeros(g->stride);
    if (!g->inner_Bps[a] || !g->inner[a][0] || !g->inner[a][1] || !g->inner[a][2])
        return err_nomem(e, "a grid of bandwidths");
    for (int64_t k = 0; k < row; k++) {
        g->inner_Bps[a][k] = axis->bw_Bps[k / g->size[a + 1] % axis->n];
        for (int c = 0; c < GRID_LINEAR; c++)
            g->inner[a][c][k] = g->linear[c].coef[axis->dim] * g->inner_Bps[a][k];
    }
    return 0;
}

/* A leaf over the dimensions of the row's axes. NaN (0 bytes over no bandwidth) does not count, as in
 * step_time(). */
static void fill_leaf(struct grid *g, int32_t l)
{
    const struct step_fn *f = g->q.step;
    double *out = g->leaf_s + l * g->stride;
    for (int32_t a = g->n_outer; a < g->q.n_axes; a++) {
        const struct grid_axis *axis = &g->q.axes[a];
        for (int64_t k = 0; k < g->size[g->n_outer]; k++) {
            double product = f->traffic_B[l * DIMS + axis->dim] * g->inv[a][k / g->size[a + 1] % axis->n];
            out[k] = product > out[k] ? product : out[k];
        }
    }
}

/* Leaves inside the row: as arrays, or what makes them where these were more than the cache holds. */
static int prepare_leaves(struct grid *g, struct err *e)
{
    const bool many = g->n_leaves * g->stride > ROW_NUMBERS && g->n_outer + 1 == g->q.n_axes;
    if (many) {
        const struct grid_axis *axis = &g->q.axes[g->n_outer];
        g->row_inv = zeros(g->stride);
        g->slopes = zeros(g->n_leaves);
        if (!g->row_inv || !g->slopes)
            return err_nomem(e, "a grid of bandwidths");
        memcpy(g->row_inv, g->inv[g->n_outer], (size_t)axis->n * sizeof *g->row_inv);
        for (int32_t l = 0; l < g->n_leaves; l++)
            g->slopes[l] = g->q.step->traffic_B[l * DIMS + axis->dim];
        return 0;
    }
    g->leaf_s = zeros(g->n_leaves * g->stride);
    if (!g->leaf_s)
        return err_nomem(e, "a grid of bandwidths");
    for (int32_t l = 0; l < g->n_leaves; l++)
        fill_leaf(g, l);
    return 0;
}

/* ahead_s[i]: leaves with the most that axes i and after can give. */
static void fill_ahead(struct grid *g)
{
    const struct step_fn *f = g->q.step;
    for (int32_t i = 0; i <= g->n_outer; i++)
        for (int32_t l = 0; l < g->n_leaves; l++)
            for (int32_t a = i; a < g->q.n_axes; a++) {
                double *least = &g->ahead_s[i * g->n_leaves + l];
                double product = f->traffic_B[l * DIMS + g->q.axes[a].dim] * (1 / grid_axis_most(g, a));
                *least = product > *least ? product : *least;
            }
}

static bool do_rows_fall(const struct grid_question *q)
{
    for (int32_t i = 0; i < q->n_rows; i++)
        for (int32_t d = 0; d < q->step->n_dims; d++)
            if (q->rows[i].sense != LINEXPR_LE || q->rows[i].coef[d] < 0)
                return false;
    return true;
}

static int prepare(struct grid *g, struct err *e)
{
    int rc = 0;
    set_linear(g);
    g->sums = g->q.step->n_terms == 1;
    g->rows_fall = do_rows_fall(&g->q);
    g->n_leaves = g->sums ? g->q.step->n_leaves : 0;
    choose_row(g);
    g->ahead_s = calloc((size_t)(g->n_outer + 1) * (size_t)g->n_leaves + 1, sizeof *g->ahead_s);
    if (!g->ahead_s)
        return err_nomem(e, "a grid of bandwidths");
    for (int32_t a = 0; a < g->q.n_axes && !rc; a++)
        rc = prepare_axis(g, a, e);
    for (int32_t a = g->n_outer; a < g->q.n_axes && !rc; a++)
        rc = prepare_inner(g, a, e);
    if (!rc)
        rc = prepare_leaves(g, e);
    if (rc)
        return rc;
    fill_ahead(g);
    rc = grid_bar_build(g, e);
    return rc ? rc : grid_seed(g, e);
}

int grid_prepare(struct grid **out, const struct grid_question *q, struct err *e)
{
    struct grid *g = calloc(1, sizeof *g);
    *out = NULL;
    if (!g)
        return err_nomem(e, "a grid of bandwidths");
    g->q = *q;
    g->seeds.n_cols = q->n_front;
    int rc = check(g, e);
    if (!rc)
        rc = prepare(g, e);
    if (rc)
        grid_free(g);
    else
        *out = g;
    return rc;
}

void grid_free(struct grid *g)
{
    if (!g)
        return;
    for (int32_t a = 0; a < DIMS; a++) {
        free(g->inv[a]);
        free(g->sorted[a]);
        free(g->inner_Bps[a]);
        for (int c = 0; c < GRID_LINEAR; c++)
            free(g->inner[a][c]);
    }
    free(g->leaf_s);
    free(g->row_inv);
    free(g->slopes);
    free(g->ahead_s);
    free(g->limit_s);
    free(g->seed_s);
    front_free(&g->seeds);
    free(g);
}

int64_t grid_count(const struct grid *g)
{
    return g->size[0];
}
