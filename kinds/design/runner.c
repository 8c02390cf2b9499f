#include "kinds/design/runner.h"

#include <stdlib.h>
#include <string.h>

#include "kinds/design/runner_bound.h"
#include "kinds/design/runner_grid.h"
#include "study/study_cache.h"
#include "study/sweep_axis.h"
#include "kinds/design/sweep_row.h"

struct runner {
    struct runner_job job;
    struct study_cache cache;
    struct study_source from; /* of the point under way: axes, cache */
    struct study_override axes[SWEEP_MAX_KEYS];
    struct sweep_point slow; /* of the study that is held */
    bool holds;              /* `study` is that of an earlier point with the same slow values */
    struct design_point study;
    struct sweep_words words;
    struct runner_bound bound;
    struct runner_grid grid;
};

enum { NEEDS = STUDY_NEEDS_WORKLOAD | STUDY_FOR_SPLIT };

void sweep_count_add(struct sweep_counts *to, const struct sweep_counts *n)
{
    to->seen += n->seen;
    to->filtered += n->filtered;
    to->bounded += n->bounded;
    to->solved += n->solved;
    to->failed += n->failed;
}

int runner_build(struct runner **out, const struct runner_job *job, struct err *e)
{
    struct runner *r = calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return err_nomem(e, "a runner of a sweep");
    r->job = *job;
    r->from = *job->from;
    r->from.axes = r->axes;
    r->from.cache = &r->cache;
    r->grid = (struct runner_grid){ .rule = job->rule, .order = job->order };
    int rc = runner_bound_build(&r->bound, job->rule, job->known, job->order->sweep, e);
    if (rc) {
        runner_free(r);
        *out = NULL;
    }
    return rc;
}

/* With all that was made from it. */
static void drop_study(struct runner *r)
{
    runner_grid_forget(&r->grid);
    runner_bound_forget(&r->bound);
    if (r->holds)
        study_free(&r->study);
    r->holds = false;
}

void runner_free(struct runner *r)
{
    if (!r)
        return;
    drop_study(r);
    study_cache_free(&r->cache);
    sweep_words_free(&r->words);
    runner_bound_free(&r->bound);
    runner_grid_free(&r->grid);
    free(r);
}

/* The study at a point whose slow values are those of the one that is held, if any is. */
static int load(struct runner *r, const struct sweep_point *p, struct err *e)
{
    r->from.n_axes = sweep_point_overrides(r->axes, r->job.order->sweep, p);
    if (r->holds && study_change(&r->study, &r->from, NEEDS))
        return sweep_words_change(&r->words, &r->study, e);
    drop_study(r);
    int rc = study_read(&r->study, &r->from, NEEDS, e);
    r->holds = !rc;
    return rc ? rc : sweep_words_take(&r->words, &r->study, e);
}

/* Does `where` of the study leave the point out? Asked before the study is read, without a network, too. */
static int is_left_out(bool *out, const struct sweep *w, const struct sweep_point *p,
                       const struct topo_network *net, struct err *e)
{
    bool pass = true;
    int rc = w->where ? sweep_passes(&pass, w, p, net, e) : 0;
    *out = !pass;
    return rc;
}

/* Split, time and price of the study that was loaded, as a row. */
static int add_design(struct runner *r, const struct sweep_point *p, int64_t point, struct table *rows,
                      struct sweep_counts *n, struct err *e)
{
    const struct uncertain *u = &r->job.order->sweep->uncertain;
    double values[2 * UNCERTAIN_MAX_PERCENTILES];
    struct sweep_row row;
    struct design d;
    int rc = design_row(&d, &r->study, e);
    if (rc)
        return rc;
    sweep_row_blank(&row);
    sweep_row_study(&row, &r->study, &r->words);
    rc = sweep_row_design(&row, &r->study, &d, e);
    if (!rc && u->n_keys && alloc_has_split(&d.answer)) {
        row.uncertain = values;
        rc = uncertain_fill(values, u, &r->study, &d, e);
    }
    n->failed += !rc && !alloc_has_split(&d.answer);
    if (!rc)
        sweep_row_put(rows, r->job.order->sweep, p, point, &row);
    design_free(&d);
    return rc;
}

/* What is wrong with a point is its row. */
static void add_error(struct runner *r, const struct sweep_point *p, int64_t point, bool read,
                      const char *message, struct table *rows)
{
    struct sweep_row row;
    sweep_row_blank(&row);
    if (read)
        sweep_row_study(&row, &r->study, &r->words);
    sweep_row_axes(&row, r->job.order->sweep, p);
    row.status = "error";
    row.message = message;
    sweep_row_put(rows, r->job.order->sweep, p, point, &row);
}

/* The row of a point that is not left out. Lack of memory ends the sweep. */
static int add_row(struct runner *r, const struct sweep_point *p, int64_t point, int rc, struct err *inner,
                   struct table *rows, struct sweep_counts *n, struct err *e)
{
    bool read = !rc;
    if (read)
        rc = add_design(r, p, point, rows, n, inner);
    if (rc == ERR_NOMEM)
        return err_set(e, rc, "%s", inner->msg);
    n->failed += rc != 0;
    if (rc)
        add_error(r, p, point, read, inner->msg, rows);
    return rows->failed ? err_nomem(e, "rows of a sweep") : 0;
}

static int run_point(struct runner *r, const struct sweep_point *p, int64_t point, struct table *rows,
                     struct sweep_counts *n, struct err *e)
{
    const struct sweep *w = r->job.order->sweep;
    struct err inner = { 0 };
    bool out, bounded = false;
    int rc = is_left_out(&out, w, p, NULL, e);
    if (rc)
        return rc;
    int read = out ? 0 : load(r, p, &inner);
    if (!out && !read)
        rc = is_left_out(&out, w, p, &r->study.net, e);
    if (!rc && !out && !read)
        rc = runner_bound_ask(&bounded, &r->bound, &r->study, &r->words, p, point, e);
    if (rc)
        return rc;
    n->seen++;
    n->filtered += out;
    n->bounded += bounded;
    n->solved += !out && !bounded;
    return out || bounded ? 0 : add_row(r, p, point, read, &inner, rows, n, e);
}

static int run_each(struct runner *r, const struct order_unit *unit, struct table *rows,
                    struct sweep_counts *n, struct err *e)
{
    int rc = 0;
    for (int64_t i = 0; i < unit->n && !rc; i++) {
        struct sweep_point p;
        int64_t point = order_point(&p, r->job.order, unit, i);
        rc = run_point(r, &p, point, rows, n, e);
    }
    return rc;
}

/* Points that may be kept become rows as all others do; what was looked at beside them is counted. */
static int run_found(struct runner *r, const struct order_unit *unit, struct table *rows,
                     struct sweep_counts *n, struct err *e)
{
    const struct grid_found *found = &r->grid.found;
    struct sweep_counts again = { 0 };
    int rc = 0;
    for (int64_t i = 0; i < found->n && !rc; i++) {
        struct sweep_point p;
        int64_t point = order_point(&p, r->job.order, unit, found->points[i].at - unit->first);
        rc = run_point(r, &p, point, rows, &again, e);
    }
    n->seen += unit->n;
    n->bounded += found->bounded;
    n->solved += found->evaluated;
    n->failed += again.failed;
    return rc;
}

/* The study at the first point of the unit says whether its points are a grid; one that is held has said. */
static int try_grid(bool *is_grid, struct runner *r, const struct order_unit *unit, struct err *e)
{
    enum { FEW = 256 };
    struct sweep_point p;
    struct err inner = { 0 };
    *is_grid = false;
    if (!r->grid.rule || unit->n < FEW)
        return 0;
    order_point(&p, r->job.order, unit, 0);
    int rc = r->holds && r->grid.asked ? 0 : load(r, &p, &inner);
    if (rc)
        return rc == ERR_NOMEM ? err_set(e, rc, "%s", inner.msg) : 0;
    return runner_grid_unit(is_grid, &r->grid, &r->study, unit, e);
}

int runner_unit(struct runner *r, int64_t u, struct table *rows, struct sweep_counts *n, struct err *e)
{
    struct order_unit unit;
    bool is_grid;
    order_find(&unit, r->job.order, u);
    if (unit.slow.grid != r->slow.grid || memcmp(unit.slow.at, r->slow.at, sizeof unit.slow.at) != 0)
        drop_study(r);
    r->slow = unit.slow;
    runner_bound_forget(&r->bound);
    int rc = try_grid(&is_grid, r, &unit, e);
    if (rc)
        return rc;
    return is_grid ? run_found(r, &unit, rows, n, e) : run_each(r, &unit, rows, n, e);
}
