#include "kinds/design/search_run.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Ranks of one shape's candidates; no shape has so many. */
#define RANKS_PER_SHAPE ((int64_t)1 << 40)

/* What one thread works with. */
struct worker {
    const struct search_run *run;
    void *mine;
    struct search_places places;
    struct search_clock clocks[SEARCH_PLACES][SEARCH_WAYS];
    struct plan_cost cost;
    int64_t next_rank;
    int64_t n_candidates, n_timed, n_rejected[N_SEARCH_REASONS];
    double least_B;
};

int32_t search_threads(void)
{
    return omp_get_max_threads();
}

struct search_found search_found_of(const struct search_candidate *c)
{
    struct search_found f = { .plan = *c->plan, .memory_B = c->memory_B, .rank = c->rank };
    memcpy(f.plan.order, c->order, sizeof f.plan.order);
    return f;
}

static void visit(void *with, const struct plan *plan)
{
    struct worker *w = with;
    const struct search_run *r = w->run;
    struct memory memory;
    w->n_candidates += w->places.n;
    memory_plan(&memory, &r->base->model, plan);
    w->least_B = fmin(w->least_B, memory.total_B);
    if (memory.total_B > r->study->net.npu.mem_B) { /* false where it is not known */
        w->n_rejected[SEARCH_MEMORY] += w->places.n;
        w->next_rank += w->places.n;
        return;
    }
    plan_cost(&w->cost, &r->base->model, plan, &r->study->net.npu);
    for (int32_t i = 0; i < w->places.n; i++) {
        const struct search_candidate c = { plan,           &w->cost,     memory.total_B,
                                            w->next_rank++, w->clocks[i], w->places.order[i] };
        r->take(w->mine, &c);
    }
    w->n_timed += w->places.n;
}

static int visit_shape(struct worker *w, const struct search_shape *shape, int32_t index, struct err *e)
{
    const struct search_run *r = w->run;
    struct plan plan = search_plan(r->base, shape);
    int64_t n_illegal = 0;
    search_find_places(&w->places, r->space, &plan, &r->study->net);
    w->n_rejected[SEARCH_UNMAPPED] += w->places.n_unmapped;
    for (int32_t i = 0; i < w->places.n; i++)
        for (int32_t k = 0; k < r->n_ways; k++)
            search_clock_set(&w->clocks[i][k], &r->ways[k], &w->places.places[i]);
    w->next_rank = index * RANKS_PER_SHAPE;
    int rc = search_walk(&n_illegal, r->space, r->base, shape, visit, w, e);
    w->n_rejected[SEARCH_ILLEGAL] += n_illegal;
    return rc;
}

static void add_counts(struct search_result *out, const struct worker *w)
{
    out->n_candidates += w->n_candidates;
    out->n_timed += w->n_timed;
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        out->n_rejected[i] += w->n_rejected[i];
    out->least_B = fmin(out->least_B, w->least_B);
}

static int visit_all(struct search_result *out, const struct search_run *r,
                     const struct search_shapes *shapes, struct err *e)
{
    int rc = 0;
#pragma omp parallel num_threads(r->n_threads)
    {
        struct worker *w = calloc(1, sizeof *w);
        struct err own = { 0 };
        int failed = w ? 0 : err_nomem(&own, "a search");
        if (w) {
            w->run = r;
            w->mine = r->mine[omp_get_thread_num()];
            w->least_B = INFINITY;
        }
#pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < shapes->n; i++)
            if (!failed)
                failed = visit_shape(w, &shapes->shapes[i], i, &own);
#pragma omp critical
        {
            if (w)
                add_counts(out, w);
            if (failed && !rc) {
                rc = failed;
                *e = own;
            }
        }
        free(w);
    }
    return rc;
}

int search_run(struct search_result *out, const struct search_run *r, struct err *e)
{
    struct search_shapes shapes;
    int rc = search_find_shapes(&shapes, r->space, r->base, r->study->net.n_npus, e);
    if (rc)
        return rc;
    out->n_candidates = out->n_timed = 0;
    out->least_B = INFINITY;
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        out->n_rejected[i] = 0;
    out->n_rejected[SEARCH_ILLEGAL] = shapes.n_illegal;
    rc = visit_all(out, r, &shapes, e);
    search_shapes_free(&shapes);
    return rc;
}
