/*
 * Which units are done (spans: intervals of whole numbers), and what a unit is: points of a grid that differ
 * in quick keys alone, so that a study that was read serves them all. Units depend on the study only, never
 * on who runs it: stores, shards and ranks count on that.
 *
 * Spans are kept sorted, apart and never touching, so their number is that of the gaps plus one: a study that
 * is done in order has one, whatever its length. Looking up is O(log spans), adding O(spans) at worst.
 */
#include "study/blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* The first interval that ends behind @p i: it has i, or all before it lie below i. */
static int64_t spans_find(const struct spans *s, int64_t i)
{
    int64_t at = vec_find(s->spans, s->n, sizeof *s->spans, offsetof(struct span, first), i + 1);
    return at > 0 && s->spans[at - 1].first + s->spans[at - 1].n > i ? at - 1 : at;
}

/* Intervals at..after-1 become one, first..end-1. */
/* Grows only where no interval is taken in. */
static int replace(struct spans *s, int64_t at, int64_t after, int64_t first, int64_t end, struct err *e)
{
    if (at == after && !vec_reserve(s->spans, s->cap, s->n + 1))
        return err_nomem(e, "units that are done");
    memmove(s->spans + at + 1, s->spans + after, (size_t)(s->n - after) * sizeof *s->spans);
    s->spans[at] = (struct span){ .first = first, .n = end - first };
    s->n += 1 - (after - at);
    return 0;
}

int spans_add(struct spans *s, int64_t first, int64_t n, struct err *e)
{
    assert(first >= 0 && n >= 0);
    if (n == 0)
        return 0;
    int64_t end = first + n;
    /* Those that overlap it or touch it: one that ends at `first` does. */
    int64_t at = spans_find(s, first - 1), after = at;
    for (; after < s->n && s->spans[after].first <= end; after++) {
        const struct span *old = &s->spans[after];
        if (old->first < first)
            first = old->first;
        if (old->first + old->n > end)
            end = old->first + old->n;
    }
    return replace(s, at, after, first, end, e);
}

bool spans_have(const struct spans *s, int64_t i)
{
    int64_t at = spans_find(s, i);
    return at < s->n && s->spans[at].first <= i;
}

/* n is 0 where all of from..end-1 is done. Callers go on from the end of what they get. */
struct span spans_gap(const struct spans *s, int64_t from, int64_t end, int64_t most)
{
    int64_t at = spans_find(s, from);
    if (at < s->n && s->spans[at].first <= from) {
        from = s->spans[at].first + s->spans[at].n;
        at++;
    }
    if (at < s->n && s->spans[at].first < end)
        end = s->spans[at].first;
    int64_t n = from < end ? end - from : 0;
    return (struct span){ .first = from, .n = n < most ? n : most };
}

int64_t spans_count(const struct spans *s, int64_t end)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->n && s->spans[i].first < end; i++) {
        int64_t room = end - s->spans[i].first;
        count += s->spans[i].n < room ? s->spans[i].n : room;
    }
    return count;
}

void spans_free(struct spans *s)
{
    free(s->spans);
    *s = (struct spans){ 0 };
}

/* The units of one grid: every combination of its slow axes, each in pieces of its quick ones. `most` points
 * to a unit at the most: a grid of quick axes alone would else be one unit. */
struct units_grid {
    int64_t first_unit;
    int64_t n_quick;            /* combinations of the quick axes */
    int64_t pieces;             /* units to a combination of the slow axes */
    bool quick[SWEEP_MAX_AXES]; /* shape [n_axes of the grid] */
};

void sweep_count_add(struct sweep_counts *to, const struct sweep_counts *n)
{
    to->seen += n->seen;
    to->filtered += n->filtered;
    to->bounded += n->bounded;
    to->solved += n->solved;
    to->failed += n->failed;
}

static bool is_quick_axis(const struct sweep *w, const struct sweep_axis *axis, units_quick *quick)
{
    for (int32_t k = 0; k < axis->n_keys; k++)
        if (!quick || !quick(w->keys[axis->keys[k]].path))
            return false;
    return true;
}

/* ---- units ---- */

/* A study without axes is one point. */
static const struct sweep_grid *grid_at(const struct sweep *w, int32_t grid)
{
    static const struct sweep_grid no_axes = { .n_points = 1 };
    return w->n_grids ? &w->grids[grid] : &no_axes;
}

static int64_t n_values(const struct units *o, int32_t grid, int32_t k)
{
    return o->sweep->axes[o->sweep->grids[grid].axes[k]].n;
}

/* Units of grid number `grid`, which begin with number `first`. */
static int64_t fill_grid(struct units *o, int32_t grid, int64_t first, units_quick *quick)
{
    const struct sweep_grid *from = grid_at(o->sweep, grid);
    struct units_grid *g = &o->grids[grid];
    int64_t n_slow = 1; /* no product is above the number of points */
    *g = (struct units_grid){ .first_unit = first, .n_quick = 1 };
    for (int32_t k = 0; k < from->n_axes; k++) {
        g->quick[k] = is_quick_axis(o->sweep, &o->sweep->axes[from->axes[k]], quick);
        /* Any split of the axes will do for correctness: slow and quick digits together are the point's. */
        *(g->quick[k] ? &g->n_quick : &n_slow) *= n_values(o, grid, k);
    }
    g->pieces = (g->n_quick - 1) / o->most + 1;
    return n_slow * g->pieces;
}

/* Also without axes: one grid of one point. */
int units_build(struct units *o, const struct sweep *w, int64_t most, units_quick *quick, struct err *e)
{
    *o = (struct units){ .sweep = w, .most = most };
    o->grids = calloc((size_t)w->n_grids + 1, sizeof *o->grids);
    if (!o->grids)
        return err_nomem(e, "the order of a sweep");
    for (int32_t grid = 0; grid < w->n_grids || grid == 0; grid++)
        o->n_units += fill_grid(o, grid, o->n_units, quick);
    return 0;
}

void units_free(struct units *o)
{
    free(o->grids);
    *o = (struct units){ 0 };
}

bool units_is_quick_axis(const struct units *o, int32_t grid, int32_t k)
{
    return o->grids[grid].quick[k];
}

/* Write number `i` with the quick axes, or the slow ones, as its digits; the last changes fastest. Digits of
 * the other kind are left as they are. */
static void put_digits(struct sweep_point *p, const struct units *o, int32_t grid, bool quick, int64_t i)
{
    for (int32_t k = grid_at(o->sweep, grid)->n_axes; k-- > 0;) {
        if (o->grids[grid].quick[k] != quick)
            continue;
        p->at[k] = i % n_values(o, grid, k);
        i /= n_values(o, grid, k);
    }
}

static int32_t grid_of_unit(const struct units *o, int64_t u)
{
    int64_t behind = vec_find(o->grids, o->sweep->n_grids, sizeof *o->grids,
                              offsetof(struct units_grid, first_unit), u + 1);
    return behind > 0 ? (int32_t)behind - 1 : 0;
}

/* No table: O(log grids + axes). */
void units_find(struct sweep_unit *unit, const struct units *o, int64_t u)
{
    int32_t grid = grid_of_unit(o, u);
    const struct units_grid *g = &o->grids[grid];
    int64_t inside = u - g->first_unit;
    *unit = (struct sweep_unit){ .grid = grid, .slow = { .grid = grid } };
    put_digits(&unit->slow, o, grid, false, inside / g->pieces);
    unit->first = inside % g->pieces * o->most;
    unit->n = g->n_quick - unit->first < o->most ? g->n_quick - unit->first : o->most;
}

int64_t units_point(struct sweep_point *p, const struct units *o, const struct sweep_unit *unit, int64_t i)
{
    const struct sweep_grid *g = grid_at(o->sweep, unit->grid);
    *p = unit->slow;
    put_digits(p, o, unit->grid, true, unit->first + i);
    int64_t number = 0;
    for (int32_t k = 0; k < g->n_axes; k++)
        number = number * n_values(o, unit->grid, k) + p->at[k];
    return g->first + number;
}

void units_of_point(struct sweep_unit *unit, const struct units *o, const struct sweep_point *p)
{
    *unit = (struct sweep_unit){ .grid = p->grid, .slow = *p, .n = 1 };
    for (int32_t k = 0; k < grid_at(o->sweep, p->grid)->n_axes; k++)
        if (o->grids[p->grid].quick[k]) {
            unit->first = unit->first * n_values(o, p->grid, k) + p->at[k];
            unit->slow.at[k] = 0;
        }
}

/* How many, not which: numbers of points in units are not consecutive in general. */
int64_t units_points_below(const struct units *o, int64_t u)
{
    if (u == o->n_units)
        return o->sweep->n_points;
    int32_t grid = grid_of_unit(o, u);
    const struct units_grid *g = &o->grids[grid];
    int64_t inside = u - g->first_unit;
    return grid_at(o->sweep, grid)->first + inside / g->pieces * g->n_quick + inside % g->pieces * o->most;
}

bool units_in_sample(int64_t u)
{
    return u % UNITS_SAMPLE == 0;
}
