#include "sim/timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "sim/chunk/chunk.h"
#include "sim/rung.h"

struct making {
    struct timeline *out;
    const struct step_tree *tree;
    const struct topo_network *net;
    const double *bw_Bps;
    const struct sim_rules *rules;
    enum sim_order *order_of; /* shape [n_nodes], owned; as the guard chose for each collective */
};

static int add_bar(struct timeline *t, const struct timeline_bar *bar, struct err *e)
{
    struct timeline_bar *grown = array_grow(t->bars, t->n_bars, &t->cap_bars, sizeof *grown);
    if (!grown)
        return err_nomem(e, "a timeline");
    if (t->n_bars >= TIMELINE_MAX_BARS)
        return err_set(e, ERR_RANGE, "timeline: has more than %d bars, need fewer chunks or collectives",
                       TIMELINE_MAX_BARS);
    t->bars = grown;
    t->bars[t->n_bars++] = *bar;
    return 0;
}

static int add_compute(struct making *m, const struct train *train, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < train->n_spans && !rc; i++) {
        const struct train_span *s = &train->spans[i];
        struct timeline_bar bar = { .run = m->out->n_runs,
                                    .dim = TIMELINE_COMPUTE,
                                    .node = s->node,
                                    .job = -1,
                                    .ready_s = s->start_s,
                                    .start_s = s->start_s,
                                    .end_s = s->end_s };
        if (s->job >= 0 || !(s->end_s > s->start_s))
            continue;
        rc = add_bar(m->out, &bar, e);
    }
    return rc;
}

static int add_slices(struct making *m, const struct chunk_sim *sim, const struct train *train,
                      struct timeline_run *run, struct err *e)
{
    int64_t n;
    int rc = 0;
    const struct chunk_slice *slices = chunk_slices(sim, &n);
    step_id *node_of = malloc(((size_t)train->n_spans + 1) * sizeof *node_of);
    if (!node_of)
        return err_nomem(e, "a timeline");
    for (int32_t i = 0; i < train->n_spans; i++)
        if (train->spans[i].job >= 0)
            node_of[train->spans[i].job] = train->spans[i].node;
    for (int64_t i = 0; i < n && !rc; i++) {
        const struct chunk_slice *s = &slices[i];
        const struct timeline_bar bar = { .run = m->out->n_runs,
                                          .dim = s->stage.dim,
                                          .cell = s->cell,
                                          .slot = s->slot,
                                          .node = node_of[s->job],
                                          .job = s->job,
                                          .chunk = s->chunk,
                                          .pass = s->stage.pass,
                                          .bytes = s->stage.sent_B,
                                          .ready_s = s->ready_s,
                                          .start_s = s->start_s,
                                          .end_s = s->end_s };
        if (s->cell == 0)
            run->util_frac[s->stage.dim] += s->stage.load_B / m->bw_Bps[s->stage.dim] / run->time_s;
        rc = add_bar(m->out, &bar, e);
    }
    free(node_of);
    return rc;
}

static int compare_bars(const void *a, const void *b)
{
    const struct timeline_bar *x = a, *y = b;
    if (x->start_s < y->start_s || y->start_s < x->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    if (x->dim != y->dim)
        return x->dim < y->dim ? -1 : 1;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    if (x->slot != y->slot)
        return x->slot < y->slot ? -1 : 1;
    if (x->end_s < y->end_s || y->end_s < x->end_s)
        return x->end_s < y->end_s ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static void sort_bars(struct timeline_bar *bars, int32_t n)
{
    if (n > 0)
        qsort(bars, (size_t)n, sizeof *bars, compare_bars);
}

/* More than a figure's rows can show; what runs beside 64 others shares the last slot. */
enum { COMPUTE_SLOTS = 64 };

/* Compute that runs side by side stands in slots of its own; bars are sorted by their start. */
static void place_compute(struct timeline_bar *bars, int32_t n)
{
    double end_s[COMPUTE_SLOTS] = { 0 };
    for (int32_t i = 0; i < n; i++) {
        int32_t slot = 0;
        if (bars[i].dim != TIMELINE_COMPUTE)
            continue;
        while (slot < COMPUTE_SLOTS - 1 && end_s[slot] > bars[i].start_s)
            slot++;
        bars[i].slot = slot;
        end_s[slot] = bars[i].end_s;
    }
}

static int add_run(struct making *m, enum sim_order order, bool chosen, struct err *e)
{
    struct timeline_run *run = &m->out->runs[m->out->n_runs];
    struct chunk_sim *sim;
    struct train train;
    int32_t first = m->out->n_bars;
    bool mixed = order == SIM_ORDER_GUARD;
    int rc = chunk_open(&sim, m->net, m->bw_Bps, m->rules, rung_split_dims(m->tree, m->net), true, e);
    if (rc)
        return rc;
    const struct sim_engine engine = chunk_engine(sim);
    rc = train_run(&train, m->tree, m->tree->root, &engine, mixed ? m->order_of : NULL, order, true, e);
    if (!rc) {
        *run = (struct timeline_run){ .order = order, .time_s = train.time_s, .chosen = chosen };
        if (isinf(train.time_s))
            rc = err_set(e, ERR_UNSUP, "timeline: the step never ends, need bandwidth where it sends");
        if (!rc)
            rc = add_compute(m, &train, e);
        if (!rc)
            rc = add_slices(m, sim, &train, run, e);
        struct timeline_bar *bars = m->out->bars + first;
        if (!rc && m->out->n_bars > first) {
            sort_bars(bars, m->out->n_bars - first);
            place_compute(bars, m->out->n_bars - first);
            sort_bars(bars, m->out->n_bars - first);
        }
        m->out->n_runs++;
        train_free(&train);
    }
    chunk_free(sim);
    return rc;
}

/* Orders that the collectives of the step were found to run in. */
static bool same_orders(struct making *m, const struct sim_step *step, enum sim_order *only)
{
    bool same = true;
    *only = SIM_ORDER_FIXED;
    for (int32_t i = 0; i < step->n_collectives; i++) {
        const struct sim_collective *c = &step->collectives[i];
        m->order_of[c->node] = c->order;
        same = same && c->order == step->collectives[0].order;
        *only = step->collectives[0].order;
    }
    return same;
}

static int add_runs(struct making *m, const struct sim_step *step, struct err *e)
{
    static const enum sim_order guarded[] = { SIM_ORDER_FIXED, SIM_ORDER_THEMIS, SIM_ORDER_MINMAX };
    enum sim_order only;
    bool same = same_orders(m, step, &only);
    int rc = 0;
    if (m->rules->order != SIM_ORDER_GUARD)
        return add_run(m, m->rules->order, true, e);
    for (int i = 0; i < 3 && !rc; i++)
        rc = add_run(m, guarded[i], same && only == guarded[i], e);
    if (!rc && !same)
        rc = add_run(m, SIM_ORDER_GUARD, true, e);
    return rc;
}

int timeline_build(struct timeline *out, const struct step_tree *t, const struct topo_network *net,
                   const double *bw_Bps, const struct sim_rules *rules, const struct sim_step *step,
                   struct err *e)
{
    struct making m = { .out = out, .tree = t, .net = net, .bw_Bps = bw_Bps, .rules = rules };
    *out = (struct timeline){ 0 };
    m.order_of = calloc((size_t)t->n_nodes + 1, sizeof *m.order_of);
    int rc = m.order_of ? add_runs(&m, step, e) : err_nomem(e, "a timeline");
    free(m.order_of);
    if (rc)
        timeline_free(out);
    return rc;
}

void timeline_free(struct timeline *t)
{
    free(t->bars);
    *t = (struct timeline){ 0 };
}
