#include "kinds/design/runner.h"

#include <stdlib.h>
#include <string.h>

#include "kinds/design/runner_bound.h"
#include "kinds/design/runner_grid.h"
#include "study/source.h"
#include "study/study.h"
#include "kinds/design/sweep_row.h"

struct runner {
    struct block_job job;
    struct source_cache cache;
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

/* ---- facts ---- */

const char *const design_fact_names[DESIGN_FACTS + 1] = { "n_npus", "n_dims", "size1", "size2",
                                                          "size3",  "size4",  "size5", "size6",
                                                          "size7",  "size8",  NULL };

void design_facts(double *x, const struct topo_network *net)
{
    *x++ = (double)net->n_npus;
    *x++ = net->n_dims;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        x[d] = d < net->n_dims ? net->dims[d].size : 1;
}

int runner_build(struct runner **out, const struct block_job *job, struct err *e)
{
    struct runner *r = calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return err_nomem(e, "a runner of a sweep");
    r->job = *job;
    r->from = job->study->from;
    r->from.axes = r->axes;
    r->from.cache = &r->cache;
    r->grid = (struct runner_grid){ .rule = job->rule, .order = job->order, .study = job->study };
    int rc = runner_bound_build(&r->bound, job, e);
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
    source_cache_free(&r->cache);
    sweep_words_free(&r->words);
    runner_bound_free(&r->bound);
    runner_grid_free(&r->grid);
    free(r);
}

/* The study at a point whose slow values are those of the one that is held, if any is. */
static int load(struct runner *r, const struct sweep_point *p, struct err *e)
{
    r->from.n_axes = sweep_point_overrides(r->axes, &r->job.study->sweep, p);
    if (r->holds && study_change(&r->study, &r->from, NEEDS))
        return sweep_words_change(&r->words, &r->study, e);
    drop_study(r);
    int rc = study_read(&r->study, &r->from, NEEDS, e);
    r->holds = !rc;
    return rc ? rc : sweep_words_take(&r->words, &r->study, e);
}

/* Does `where` of the study leave the point out? Asked before the study is read, without a network, too. */
static bool is_left_out(const struct runner *r, const struct sweep_point *p, const struct topo_network *net)
{
    const struct sweep *w = &r->job.study->sweep;
    double facts[DESIGN_FACTS];
    if (w->where && net)
        design_facts(facts, net);
    return w->where && !sweep_passes(w, p, net ? facts : NULL);
}

/* Split, time and price of the study that was loaded, as a row. */
static int add_design(struct runner *r, const struct sweep_point *p, int64_t point, struct table *rows,
                      struct sweep_counts *n, struct err *e)
{
    const struct design_own *own = r->job.study->own;
    struct sweep_row row;
    struct design d;
    int rc = design_row(&d, &r->study, e);
    if (rc)
        return rc;
    sweep_row_blank(&row);
    sweep_row_study(&row, &r->study, &r->words);
    rc = sweep_row_design(&row, &r->study, &d, e);
    if (!rc && own && own->uncertain.n_keys && alloc_has_split(&d.answer))
        rc = uncertain_fill(row.uncertain, &own->uncertain, &r->study, &d, e);
    n->failed += !rc && !alloc_has_split(&d.answer);
    if (!rc)
        study_put_row(rows, r->job.study, TABLE_ROWS, p, point, &row);
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
    sweep_row_axes(&row, &r->job.study->sweep, p);
    row.status = "error";
    row.message = message;
    study_put_row(rows, r->job.study, TABLE_ROWS, p, point, &row);
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
    struct err inner = { 0 };
    bool out = is_left_out(r, p, NULL), bounded = false;
    int read = out ? 0 : load(r, p, &inner);
    if (!out && !read)
        out = is_left_out(r, p, &r->study.net);
    int rc = out || read ? 0 : runner_bound_ask(&bounded, &r->bound, &r->study, &r->words, p, point, e);
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

int runner_unit(struct runner *r, const struct order_unit *unit, struct table *rows, struct sweep_counts *n,
                struct err *e)
{
    bool is_grid;
    if (unit->slow.grid != r->slow.grid || memcmp(unit->slow.at, r->slow.at, sizeof unit->slow.at) != 0)
        drop_study(r);
    r->slow = unit->slow;
    runner_bound_forget(&r->bound);
    int rc = try_grid(&is_grid, r, unit, e);
    if (rc)
        return rc;
    return is_grid ? run_found(r, unit, rows, n, e) : run_each(r, unit, rows, n, e);
}
