#include "study/sweep_axis.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/table.h"

/* ---- points ---- */

static const struct sweep_grid *grid_of(const struct sweep *w, int64_t i)
{
    int32_t lo = 0, hi = w->n_grids - 1;
    while (lo < hi) {
        int32_t mid = hi - (hi - lo) / 2;
        if (w->grids[mid].first <= i)
            lo = mid;
        else
            hi = mid - 1;
    }
    return &w->grids[lo];
}

void sweep_find_point(struct sweep_point *p, const struct sweep *w, int64_t i)
{
    *p = (struct sweep_point){ 0 };
    if (!w->n_grids)
        return;
    const struct sweep_grid *g = grid_of(w, i);
    p->grid = (int32_t)(g - w->grids);
    i -= g->first;
    for (int32_t k = g->n_axes; k-- > 0;) {
        p->at[k] = i % w->axes[g->axes[k]].n;
        i /= w->axes[g->axes[k]].n;
    }
}

const char *sweep_value(const struct sweep *w, const struct sweep_point *p, int32_t key)
{
    const struct sweep_grid *g = &w->grids[p->grid];
    for (int32_t k = 0; k < g->n_axes; k++) {
        const struct sweep_axis *axis = &w->axes[g->axes[k]];
        for (int32_t j = 0; j < axis->n_keys; j++)
            if (axis->keys[j] == key)
                return axis->values[p->at[k] * axis->n_keys + j];
    }
    return NULL;
}

int32_t sweep_point_overrides(struct study_override *axes, const struct sweep *w, const struct sweep_point *p)
{
    int32_t n = 0;
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = w->keys[k].overridden ? NULL : sweep_value(w, p, k);
        if (value)
            axes[n++] = (struct study_override){ w->keys[k].path, value };
    }
    return n;
}

unsigned long long sweep_hash(const struct sweep *w, unsigned long long hash)
{
    for (int32_t k = 0; k < w->n_axes; k++)
        for (int64_t i = 0; i < w->axes[k].n * w->axes[k].n_keys; i++)
            hash = text_hash(hash, w->axes[k].values[i], strlen(w->axes[k].values[i]));
    return hash;
}

struct study_source sweep_source_at(struct study_override *axes, const struct sweep *w, int64_t point,
                                    struct study_source from)
{
    struct sweep_point at;
    sweep_find_point(&at, w, point);
    from.axes = axes;
    from.n_axes = sweep_point_overrides(axes, w, &at);
    return from;
}

void sweep_put_columns(struct table *t, const struct sweep *w)
{
    table_column(t, "point", TABLE_COUNT);
    for (int32_t k = 0; k < w->n_keys; k++)
        table_column(t, w->keys[k].path, TABLE_TEXT);
}

void sweep_put_point(struct table *t, const struct sweep *w, int64_t point)
{
    struct sweep_point at;
    sweep_find_point(&at, w, point);
    table_row(t);
    table_put_count(t, point);
    for (int32_t k = 0; k < w->n_keys; k++)
        table_put_text(t, sweep_value(w, &at, k));
}

/* ---- reading ---- */

int sweep_read_seeded(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                      const struct study_source *from, struct err *e)
{
    yaml_id vary = yaml_get(doc, doc->root, "vary");
    *w = (struct sweep){ .n_points = 1 };
    int rc = vary < 0 ? 0 : sweep_read_axes(w, root, doc, from, SWEEP_MAX_POINTS, e);
    for (int32_t k = 0; k < w->n_keys && !rc; k++) {
        const char *path = w->keys[k].path;
        if (strcmp(path, "seed") == 0 || strcmp(path, "seeds") == 0)
            rc = yaml_fail_key(doc, w->keys[k].at, e, ERR_PARSE,
                               "cannot vary, need another key: every point has the same seeds");
    }
    return rc;
}

int sweep_check_seeds(const struct sweep *w, int64_t seeds, const struct yaml_doc *doc, struct err *e)
{
    int64_t runs;
    if (num_mul(w->n_points, seeds, &runs) && runs <= SWEEP_MAX_POINTS)
        return 0;
    return yaml_fail(doc, doc->root, e, ERR_RANGE, "has %lld points of %lld seeds, need at most %d runs",
                     (long long)w->n_points, (long long)seeds, SWEEP_MAX_POINTS);
}

void sweep_free(struct sweep *w)
{
    for (int32_t k = 0; k < w->n_axes; k++)
        sweep_axis_free(&w->axes[k]);
    for (int32_t k = 0; k < w->n_keys; k++)
        free(w->keys[k].path);
    free(w->axes);
    free(w->grids);
    sweep_where_free(w->where);
    *w = (struct sweep){ 0 };
}
