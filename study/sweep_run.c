#include "study/sweep.h"

#include <omp.h>
#include <stdlib.h>

#include "kinds/design/runner.h"

/* Of one thread: its rows, in the order in which it made them. */
struct hand {
    struct runner *runner;
    struct table rows;
};

/* Where the row of a point is. */
struct place {
    int32_t hand; /* counted from 1; 0: there is none */
    int64_t row;
};

struct run {
    const struct order *order;
    struct hand *hands; /* shape [n_hands], owned */
    int32_t n_hands;
    struct place *places; /* shape [n_points], owned */
};

/* A unit is a point, so that progress may stop after any. */
static int do_point(void *data, int64_t u, struct err *e)
{
    struct run *r = data;
    struct sweep_counts n = { 0 };
    struct order_unit unit;
    struct sweep_point p;
    int32_t me = omp_get_thread_num();
    struct hand *hand = &r->hands[me];
    int64_t row = hand->rows.n_rows;
    int rc = runner_unit(hand->runner, u, &hand->rows, &n, e);
    order_find(&unit, r->order, u);
    if (!rc && hand->rows.n_rows > row)
        r->places[order_point(&p, r->order, &unit, 0)] = (struct place){ me + 1, row };
    return rc;
}

static int open_hands(struct run *r, const struct runner_job *job, int32_t threads, struct err *e)
{
    const struct sweep *w = job->order->sweep;
    r->hands = calloc((size_t)threads, sizeof *r->hands);
    r->places = calloc((size_t)w->n_points, sizeof *r->places);
    if (!r->hands || !r->places)
        return err_nomem(e, "rows of a sweep");
    int rc = 0;
    for (; r->n_hands < threads && !rc; r->n_hands++) {
        runner_columns(&r->hands[r->n_hands].rows, w);
        rc = runner_build(&r->hands[r->n_hands].runner, job, e);
    }
    return rc;
}

static void close_hands(struct run *r)
{
    for (int32_t i = 0; i < r->n_hands; i++) {
        runner_free(r->hands[i].runner);
        table_free(&r->hands[i].rows);
    }
    free(r->hands);
    free(r->places);
}

/* Rows in point order. */
static int collect(struct table *out, struct run *r, struct err *e)
{
    const struct sweep *w = r->order->sweep;
    runner_columns(out, w);
    for (int64_t i = 0; i < w->n_points; i++)
        if (r->places[i].hand)
            table_take_row(out, &r->hands[r->places[i].hand - 1].rows, r->places[i].row);
    return out->failed ? err_nomem(e, "rows of a sweep") : sweep_trim(out, e);
}

int sweep_run(struct table *out, const struct sweep *w, const char *path,
              const struct study_override *overrides, int32_t n, int32_t threads, pool_progress *progress,
              void *context, struct err *e)
{
    const struct study_source from = { .path = path, .overrides = overrides, .n = n };
    struct order order;
    int rc = order_build(&order, w, 1, e);
    if (rc)
        return rc;
    const struct runner_job job = { .order = &order, .from = &from };
    struct run r = { .order = &order };
    struct pool pool = {
        .unit = do_point, .data = &r, .progress = progress, .context = context, .total = w->n_points
    };
    threads = threads > 0 ? threads : 1;
    rc = open_hands(&r, &job, threads, e);
    if (!rc)
        rc = pool_run(&pool, order.n_units, 1, threads, e);
    if (!rc)
        rc = collect(out, &r, e);
    close_hands(&r);
    order_free(&order);
    return rc;
}
