/*
 * Which studies are grids (bandwidths given, times in closed form, kept is what a grid can tell), and their
 * units.
 */
#include "kinds/design/explore/grid.h"
#include "kinds/design/answer/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linexpr.h"
#include "base/num.h"
#include "base/vec.h"
#include "kinds/design/explore/uncertain.h"

/*
 * Which sweeps are grids: bandwidths given, times in closed form, and kept is what a grid can tell.
 */

/* Is T(B) that of the compiled step, whatever the bandwidths? */
static bool is_closed_form(const struct design_point *s)
{
    if (s->model > SIM_ALPHA_BETA || design_point_has_choice(s))
        return false;
    for (int32_t i = 0; i < s->n_workloads; i++)
        if (design_point_is_searched(&s->workloads[i])) /* its plan depends on them */
            return false;
    return s->split == DESIGN_GIVEN && s->n_workloads > 0;
}

/* Rows show the study's total where it has one, and no prices where it has none. */
static bool has_column(const struct design_point *s, enum grid_column c)
{
    switch (c) {
    case GRID_TIME:
        return true;
    case GRID_COST:
    case GRID_NIC:
    case GRID_PRODUCT:
        return s->has_parts;
    case GRID_TOTAL:
        return isnan(s->total_Bps);
    case GRID_COLUMNS:
        break;
    }
    return false;
}

static bool take_column(enum grid_column *out, const struct design_point *s, const struct keep_column *c)
{
    *out = grid_column_of(c->name);
    return !c->large && has_column(s, *out);
}

/* "COLUMN <= NUMBER", or what comes to it; *known = false for any other. */
static int take_limit(struct grid_question *q, const struct design_point *s, const char *text, bool *known,
                      struct err *e)
{
    static const char *const names[] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN(cost_usd),
                                         DESIGN_COLUMN(total_GBps), DESIGN_COLUMN(nic_GBps) };
    enum { N = sizeof names / sizeof names[0] };
    double coef[N];
    struct linexpr limit = { .coef = coef };
    struct err inner = { 0 };
    int rc = linexpr_parse(&limit, text, names, N, &inner);
    int which = -1;
    *known = false;
    if (rc)
        return err_is_of_machine(rc) ? err_set(e, inner.code, "%s", inner.msg) : 0;
    const double sign = limit.sense == LINEXPR_GE ? -1 : 1;
    for (int i = 0; i < N; i++) {
        if (coef[i] != 0 && (coef[i] != sign || which >= 0))
            return 0;
        which = coef[i] != 0 ? i : which;
    }
    if (limit.sense == LINEXPR_EQ || which < 0)
        return 0;
    enum grid_column c = grid_column_of(names[which]);
    *known = has_column(s, c);
    /* The largest value that linexpr_holds() lets pass. */
    double most = sign * limit.rhs;
    q->most[c] = fmin(q->most[c], most > 0 ? most * (1 + LINEXPR_REL) / (1 - LINEXPR_REL) : most);
    return 0;
}

/* Columns that are the same for all bandwidths. A network without a name is called by them. */
static bool is_fixed(const struct design_point *s, const char *column)
{
    static const char *const fixed[] = { DESIGN_COLUMN(n_dims), "dims", "workload", "objective" };
    if (strcmp(column, "network") == 0)
        return s->net.name[0] != '\0';
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(column, fixed[i]) == 0)
            return true;
    return strncmp(column, "workload", strlen("workload")) == 0;
}

/* A rule of keep as a question of the grid, if all of its columns are among those it knows. */
static int take_rule(struct grid_question *q, const struct design_point *s, const struct keep_rule *k,
                     bool *known, struct err *e)
{
    *known = !keep_all(k);
    q->n_front = k->n_front;
    for (int32_t i = 0; i < k->n_front && *known; i++)
        *known = take_column(&q->front[i], s, &k->front[i]);
    q->n_top = k->n_top;
    if (k->n_top > 0 && *known)
        *known = take_column(&q->top, s, &k->top);
    for (int32_t i = 0; i < k->n_per && *known; i++)
        *known = is_fixed(s, k->per[i]);
    int rc = 0;
    for (int32_t i = 0; i < k->n_where && *known && !rc; i++)
        rc = take_limit(q, s, k->where[i], known, e);
    return rc;
}

/* Weighted sum of all workloads, as rows have it. */
static int take_step(struct grid_ask *a, const struct design_point *s, struct err *e)
{
    const struct step_fn *fns[GRID_MOST_WORKLOADS] = { NULL };
    double scale[GRID_MOST_WORKLOADS] = { 0 };
    for (int32_t i = 0; i < s->n_workloads; i++) {
        fns[i] = &s->workloads[i].fn;
        scale[i] = s->workloads[i].weight;
    }
    a->q.step = fns[0];
    if (s->n_workloads == 1 && scale[0] == 1)
        return 0;
    a->q.step = &a->joined;
    return step_fn_join(&a->joined, fns, scale, s->n_workloads, (struct step_join){ 0 }, e);
}

/* What a network allows, where bandwidths are not there yet; then all rows of the study but those that say
 * which they are: as many as there are dimensions, before all others. */
static int take_rows(struct grid_ask *a, const struct design_point *s, struct err *e)
{
    struct topo_network open = s->net;
    for (int32_t d = 0; d < open.n_dims; d++)
        open.dims[d].bw_Bps = NAN;
    int rc = alloc_add_network(&a->rows, &open, e);
    for (int32_t i = s->net.n_dims; i < s->rows.n && !rc; i++) {
        if (!vec_reserve(a->rows.rows, a->rows.cap, a->rows.n + 1))
            return err_nomem(e, "rows of a grid");
        a->rows.rows[a->rows.n++] = s->rows.rows[i];
    }
    a->q.rows = a->rows.rows;
    a->q.n_rows = a->rows.n;
    return rc;
}

/* What is bought for @p bw_Bps of one plain dimension; false: it is not to be had. */
static bool price_whole(double *usd, const struct design_point *s, int32_t d, double bw_Bps)
{
    double all_Bps[TOPO_MAX_DIMS];
    struct topo_spent spent = { 0 };
    struct err none = { 0 };
    topo_get_bandwidths(all_Bps, &s->net);
    all_Bps[d] = bw_Bps;
    bool there = topo_spend(&spent, &s->net, &s->parts, d, 1, all_Bps, &none) == 0;
    *usd = spent.usd;
    return there && isfinite(spent.usd);
}

/* Whole prices of all dimensions at what they have; false: there are none, or rows speak of what is spent. */
static bool take_prices(struct grid_question *q, const struct design_point *s)
{
    bool known = true;
    q->whole = s->pricing == DESIGN_WHOLE;
    for (int32_t i = 0; i < s->rows.n && q->whole; i++)
        for (int j = 0; j < N_ALLOC_SPENT; j++)
            known = known && s->rows.rows[i].spent_coef[j] == 0;
    for (int32_t d = 0; d < s->net.n_dims && q->whole && known; d++)
        known = price_whole(&q->usd[d], s, d, s->net.dims[d].bw_Bps);
    return known;
}

/* Whether a study can be evaluated as a grid at all; if not, points are taken one by one, with the same rows.
 */
int grid_ask(struct grid_ask *a, const struct design_point *s, const struct keep_rule *k, struct err *e)
{
    *a = (struct grid_ask){ 0 };
    grid_question_init(&a->q, NULL);
    if (!is_closed_form(s) || s->n_workloads > GRID_MOST_WORKLOADS)
        return 0;
    bool known;
    int rc = take_rule(&a->q, s, k, &known, e);
    if (rc || !known || !take_prices(&a->q, s))
        return rc;
    rc = take_step(a, s, e);
    if (!rc)
        rc = take_rows(a, s, e);
    a->q.usd_fixed = design_point_fixed_usd(s);
    topo_get_bandwidths(a->q.bw_Bps, &s->net);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        a->q.inside[d] = !topo_in_total(&s->net.dims[d]);
        a->q.usd_per_Bps[d] = s->has_parts ? s->prices[d].usd_per_Bps : 0;
        a->q.nic_share[d] = s->has_parts ? s->prices[d].nic_share : 0;
    }
    a->q.bound = true;
    a->possible = !rc;
    if (rc)
        grid_ask_free(a);
    return rc;
}

void grid_ask_free(struct grid_ask *a)
{
    step_fn_free(&a->joined);
    alloc_rows_free(&a->rows);
    *a = (struct grid_ask){ 0 };
}

void runner_grid_forget(struct runner_grid *g)
{
    grid_free(g->grid);
    grid_ask_free(&g->ask);
    for (int32_t k = 0; k < TOPO_MAX_DIMS; k++) {
        free(g->axis_Bps[k]);
        free(g->axis_usd[k]);
        g->axis_Bps[k] = g->axis_usd[k] = NULL;
    }
    front_free(&g->known);
    g->grid = NULL;
    g->asked = false;
}

void runner_grid_free(struct runner_grid *g)
{
    runner_grid_forget(g);
    grid_found_free(&g->found);
}

/* ---- axes ---- */

/* Which dimension's bandwidth the axis is, -1 = something else, or a bandwidth that a later axis replaces. */
static int32_t dim_of(const struct runner_grid *g, const struct sweep_axis *axis,
                      const struct design_point *s)
{
    const struct sweep *w = g->order->sweep;
    static const char end[] = ".bw_GBps";
    char of[256];
    const char *path = w->keys[axis->keys[0]].path;
    size_t n = strlen(path);
    if (axis->n_keys != 1 || w->keys[axis->keys[0]].overridden || n < sizeof end ||
        n - (sizeof end - 1) >= sizeof of || strcmp(path + n - (sizeof end - 1), end) != 0)
        return -1;
    if (source_find_axis(&s->doc, &g->study->from, path) < 0)
        return -1;
    n -= sizeof end - 1;
    memcpy(of, path, n);
    of[n] = '\0';
    yaml_id dim = yaml_find(&s->doc, of);
    int32_t d = 0;
    for (int32_t entry = 0; dim >= 0 && entry < s->doc.nodes[dim].index && d < s->net.n_dims; entry++)
        d = topo_after_entry(s->net.dims, d);
    /* One number of a fabric sets the bandwidths of all its levels; a spine's bill is of the rails that share
     * it. */
    return dim >= 0 && d < s->net.n_dims && !topo_is_fabric(&s->net.dims[d]) ? d : -1;
}

/* Bandwidths as they are read; *known = false: one of them is for the reader of studies to refuse. */
static int take_values(double **out, const struct sweep_axis *axis, bool *known, struct err *e)
{
    double *bw_Bps = malloc((size_t)axis->n * sizeof *bw_Bps);
    *out = bw_Bps;
    if (!bw_Bps)
        return err_nomem(e, "bandwidths of a grid");
    for (int64_t i = 0; i < axis->n; i++) {
        double GBps;
        *known = *known && strlen(axis->values[i]) < NUM_TEXT && num_parse_real(axis->values[i], &GBps) &&
                 GBps >= TOPO_MIN_BW_GBps && GBps <= TOPO_MAX_BW_GBps;
        bw_Bps[i] = *known ? topo_parse_bw(axis->values[i]) : 0;
    }
    return 0;
}

/* The quick axes, in their order, each the bandwidth of a dimension of its own. */
static int take_axes(struct runner_grid *g, const struct design_point *s, int32_t grid, bool *known,
                     struct err *e)
{
    const struct sweep *w = g->order->sweep;
    struct grid_question *q = &g->ask.q;
    int rc = 0;
    for (int32_t k = 0; k < w->grids[grid].n_axes && *known && !rc; k++) {
        const struct sweep_axis *axis = &w->axes[w->grids[grid].axes[k]];
        if (!units_is_quick_axis(g->order, grid, k))
            continue;
        int32_t dim = dim_of(g, axis, s);
        *known = dim >= 0;
        for (int32_t i = 0; i < q->n_axes; i++)
            *known = *known && q->axes[i].dim != dim;
        if (!*known)
            break;
        rc = take_values(&g->axis_Bps[q->n_axes], axis, known, e);
        if (rc)
            return rc;
        double *usd = g->axis_usd[q->n_axes] = calloc((size_t)axis->n, sizeof *usd);
        if (!usd)
            return err_nomem(e, "prices of a grid");
        for (int64_t i = 0; i < axis->n && *known && q->whole; i++)
            *known = price_whole(&usd[i], s, dim, g->axis_Bps[q->n_axes][i]);
        q->axes[q->n_axes] = (struct grid_axis){ dim, axis->n, g->axis_Bps[q->n_axes], usd };
        q->n_axes++;
    }
    *known = *known && q->n_axes > 0;
    return rc;
}

/* ---- units ---- */

/* Asked once per grid of axes. An error here is not told: the rows will say what is wrong with each point. */
static int runner_grid_build(struct runner_grid *g, const struct design_point *s, int32_t grid, struct err *e)
{
    const struct sweep *w = g->order->sweep;
    const struct design_own *own = g->study->own;
    struct err inner = { 0 };
    g->asked = true;
    if (!g->rule || w->where || (own && !uncertain_is_empty(&own->uncertain)) || !w->n_grids)
        return 0;
    int rc = grid_ask(&g->ask, s, g->rule, e);
    bool known = !rc && g->ask.possible;
    if (known)
        rc = take_axes(g, s, grid, &known, e);
    if (rc || !known)
        return rc;
    g->known.n_cols = g->ask.q.n_front;
    rc = grid_prepare(&g->grid, &g->ask.q, &inner);
    return err_is_of_machine(rc) ? err_set(e, inner.code, "%s", inner.msg)
                                 : 0; /* else rows tell what is wrong */
}

/* Within all limits in rows too, which may have other last digits? What is not shall not stand for others. */
static bool is_certain(const struct grid_question *q, const struct grid_point *p)
{
    for (int c = 0; c < GRID_COLUMNS; c++)
        if (q->most[c] < INFINITY && !(p->value[c] <= q->most[c] * (1 - GRID_TIE_REL)))
            return false;
    return true;
}

/* What this thread has found bounds what it looks at next. */
static int note_found(struct runner_grid *g, struct err *e)
{
    const struct grid_question *q = &g->ask.q;
    double x[FRONT_MAX_COLUMNS];
    bool on;
    int rc = 0;
    for (int64_t i = 0; i < g->found.n && q->n_front && !rc; i++) {
        if (!is_certain(q, &g->found.points[i]))
            continue;
        for (int32_t c = 0; c < q->n_front; c++)
            x[c] = g->found.points[i].value[q->front[c]];
        rc = front_offer(&g->known, x, g->found.points[i].at, &on, e);
    }
    g->known.n_off = 0;
    return rc;
}

int runner_grid_unit(bool *is_grid, struct runner_grid *g, const struct design_point *s,
                     const struct sweep_unit *unit, struct err *e)
{
    int rc = g->asked ? 0 : runner_grid_build(g, s, unit->grid, e);
    *is_grid = !rc && g->grid;
    if (!*is_grid)
        return rc;
    g->found.n = 0;
    g->found.bounded = g->found.evaluated = 0;
    if (g->known.n)
        rc = front_sort(&g->known, e);
    if (!rc)
        rc = grid_run(g->grid, unit->first, unit->n, g->known.n ? &g->known : NULL, &g->found, e);
    return rc ? rc : note_found(g, e);
}

int runner_grid_is(bool *is_grid, const struct block_job *job, const struct design_point *s,
                   const struct sweep_unit *unit, struct err *e)
{
    struct runner_grid g = { .rule = job->rule, .order = job->order, .study = job->study };
    int rc = runner_grid_build(&g, s, unit->grid, e);
    *is_grid = !rc && g.grid;
    runner_grid_free(&g);
    return rc;
}
