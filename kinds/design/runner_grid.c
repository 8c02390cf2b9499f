#include "kinds/design/runner_grid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "kinds/design/runner.h"

void runner_grid_forget(struct runner_grid *g)
{
    grid_free(g->grid);
    grid_ask_free(&g->ask);
    for (int32_t k = 0; k < TOPO_MAX_DIMS; k++) {
        free(g->axis_Bps[k]);
        g->axis_Bps[k] = NULL;
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

/* Which dimension's bandwidth the axis is, -1 = something else. */
static int32_t dim_of(const struct sweep *w, const struct sweep_axis *axis, const struct design_point *s)
{
    static const char end[] = ".bw_GBps";
    char of[256];
    const char *path = w->keys[axis->keys[0]].path;
    size_t n = strlen(path);
    if (axis->n_keys != 1 || w->keys[axis->keys[0]].overridden || n < sizeof end ||
        n - (sizeof end - 1) >= sizeof of || strcmp(path + n - (sizeof end - 1), end) != 0)
        return -1;
    n -= sizeof end - 1;
    memcpy(of, path, n);
    of[n] = '\0';
    yaml_id dim = yaml_find(&s->doc, of);
    return dim >= 0 && s->doc.nodes[dim].index < s->net.n_dims ? s->doc.nodes[dim].index : -1;
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
        if (!order_is_quick_axis(g->order, grid, k))
            continue;
        int32_t dim = dim_of(w, axis, s);
        *known = dim >= 0;
        for (int32_t i = 0; i < q->n_axes; i++)
            *known = *known && q->axes[i].dim != dim;
        if (!*known)
            break;
        rc = take_values(&g->axis_Bps[q->n_axes], axis, known, e);
        q->axes[q->n_axes] = (struct grid_axis){ dim, axis->n, g->axis_Bps[q->n_axes] };
        q->n_axes++;
    }
    *known = *known && q->n_axes > 0;
    return rc;
}

/* ---- units ---- */

static int build(struct runner_grid *g, const struct design_point *s, int32_t grid, struct err *e)
{
    const struct sweep *w = g->order->sweep;
    const struct design_own *own = g->study->own;
    struct err inner = { 0 };
    g->asked = true;
    if (!g->rule || w->where || (own && own->uncertain.n_keys) || !w->n_grids)
        return 0;
    int rc = grid_ask(&g->ask, s, g->rule, e);
    bool known = !rc && g->ask.possible;
    if (known)
        rc = take_axes(g, s, grid, &known, e);
    if (rc || !known)
        return rc;
    g->known.n_cols = g->ask.q.n_front;
    rc = grid_prepare(&g->grid, &g->ask.q, &inner);
    return rc == ERR_NOMEM ? err_set(e, rc, "%s", inner.msg) : 0; /* else rows tell what is wrong */
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
                     const struct order_unit *unit, struct err *e)
{
    int rc = g->asked ? 0 : build(g, s, unit->grid, e);
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
                   const struct order_unit *unit, struct err *e)
{
    struct runner_grid g = { .rule = job->rule, .order = job->order, .study = job->study };
    int rc = build(&g, s, unit->grid, e);
    *is_grid = !rc && g.grid;
    runner_grid_free(&g);
    return rc;
}
