#include "kinds/design/search_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void search_shapes_free(struct search_shapes *s)
{
    free(s->shapes);
    *s = (struct search_shapes){ 0 };
}

/* ---- values ---- */

/* No number up to 1e12 has more divisors (963,761,198,400 has 6,720). */
enum { MAX_LIST = 6720 };

struct list {
    int64_t values[MAX_LIST];
    int32_t n;
};

/* What was asked for, or every divisor of `of`; ascending. O(sqrt(of)). */
static void list_values(struct list *out, const struct search_values *asked, int64_t of)
{
    int32_t n_small = 0;
    out->n = 0;
    for (int32_t i = 0; i < asked->n; i++)
        out->values[out->n++] = asked->values[i];
    if (asked->n)
        return;
    for (int64_t d = 1; d <= of / d; d++)
        if (of % d == 0)
            out->values[n_small++] = d;
    out->n = n_small;
    for (int32_t i = n_small; i-- > 0;)
        if (of / out->values[i] != out->values[i])
            out->values[out->n++] = of / out->values[i];
}

static bool is_alone(const struct training *base)
{
    return base->model.family != MODEL_TRANSFORMER;
}

struct plan search_plan(const struct training *base, const struct search_shape *shape)
{
    struct plan p = base->plan;
    memcpy(p.degree, shape->degree, sizeof p.degree);
    p.ep = shape->ep;
    p.micro = p.interleave = 1;
    p.recompute = PLAN_RECOMPUTE_NONE;
    p.schedule = PLAN_1F1B;
    p.context = PLAN_CP_RING;
    p.zero = 0;
    p.seq_parallel = base->model.moe.experts && p.degree[PLAN_TP] > 1;
    return p;
}

/* ---- shapes ---- */

static int add_shape(struct search_shapes *out, const struct search_shape *shape, struct err *e)
{
    struct search_shape *grown = array_grow(out->shapes, out->n, &out->cap, sizeof *grown);
    if (!grown)
        return err_nomem(e, "a search");
    out->shapes = grown;
    out->shapes[out->n++] = *shape;
    return 0;
}

struct seeking {
    struct search_shapes *out;
    const struct search_space *space;
    const struct training *base;
    int64_t n_npus;
    struct list tp, cp, pp, ep;
};

/* Degrees of expert parallelism for the others. */
static int add_with_experts(struct seeking *x, struct search_shape *shape, struct err *e)
{
    for (int32_t i = 0; i < x->ep.n; i++) {
        shape->ep = x->ep.values[i];
        struct plan p = search_plan(x->base, shape);
        if (!plan_check(&p, &x->base->model, x->n_npus, NULL)) {
            x->out->n_illegal += x->space->ep.n > 0;
            continue;
        }
        int rc = add_shape(x->out, shape, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int add_with_stages(struct seeking *x, struct search_shape *shape, int64_t left, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < x->pp.n && !rc; i++) {
        int64_t pp = x->pp.values[i];
        if (left % pp || (!is_alone(x->base) && pp > x->base->model.layers)) {
            x->out->n_illegal += x->space->pp.n > 0;
            continue;
        }
        shape->degree[PLAN_PP] = pp;
        shape->degree[PLAN_DP] = left / pp;
        rc = add_with_experts(x, shape, e);
    }
    return rc;
}

static int add_all(struct seeking *x, struct err *e)
{
    struct search_shape shape = { .ep = 1 };
    int rc = 0;
    for (int32_t t = 0; t < x->tp.n && !rc; t++)
        for (int32_t c = 0; c < x->cp.n && !rc; c++) {
            int64_t tp = x->tp.values[t], cp = x->cp.values[c];
            if (x->n_npus % tp || x->n_npus / tp % cp) {
                x->out->n_illegal += x->space->tp.n > 0 || x->space->cp.n > 0;
                continue;
            }
            shape.degree[PLAN_TP] = tp;
            shape.degree[PLAN_CP] = cp;
            rc = add_with_stages(x, &shape, x->n_npus / tp / cp, e);
        }
    return rc;
}

int search_find_shapes(struct search_shapes *out, const struct search_space *space,
                       const struct training *base, int64_t n_npus, struct err *e)
{
    const struct model *m = &base->model;
    struct seeking *x = calloc(1, sizeof *x);
    *out = (struct search_shapes){ 0 };
    if (!x)
        return err_nomem(e, "a search");
    *x = (struct seeking){ .out = out, .space = space, .base = base, .n_npus = n_npus };
    list_values(&x->tp, &space->tp, is_alone(base) ? 1 : m->heads);
    list_values(&x->cp, &space->cp, is_alone(base) ? 1 : m->seq);
    list_values(&x->pp, &space->pp, is_alone(base) ? 1 : n_npus);
    list_values(&x->ep, &space->ep, m->moe.experts ? m->moe.experts : 1);
    int rc = add_all(x, e);
    free(x);
    if (rc)
        search_shapes_free(out);
    return rc;
}

/* ---- places ---- */

static bool is_new(const struct search_places *out, const struct plan_place *place)
{
    for (int32_t i = 0; i < out->n; i++)
        if (memcmp(out->places[i].axis, place->axis, sizeof place->axis) == 0 &&
            memcmp(out->places[i].stride, place->stride, sizeof place->stride) == 0)
            return false;
    return true;
}

static void try_order(struct search_places *out, struct plan *p, const struct topo_network *net)
{
    struct plan_place place;
    struct err ignored;
    if (plan_map(&place, p, net, &ignored)) {
        out->n_unmapped++;
        return;
    }
    if (!is_new(out, &place))
        return;
    memcpy(out->order[out->n], p->order, sizeof p->order);
    out->places[out->n++] = place;
}

/* Permutations in the order of their words; the base's own comes first. */
static void permute(struct search_places *out, struct plan *p, int at, unsigned used,
                    const struct topo_network *net)
{
    if (at == N_PLAN_AXES) {
        try_order(out, p, net);
        return;
    }
    for (int axis = 0; axis < N_PLAN_AXES; axis++) {
        if (used & 1U << axis)
            continue;
        p->order[at] = (enum plan_axis)axis;
        permute(out, p, at + 1, used | 1U << axis, net);
    }
}

void search_find_places(struct search_places *out, const struct search_space *space, const struct plan *plan,
                        const struct topo_network *net)
{
    struct plan p = *plan;
    out->n = 0;
    out->n_unmapped = 0;
    try_order(out, &p, net);
    if (space->any_order) {
        out->n_unmapped = 0;
        permute(out, &p, 0, 0, net);
    }
}

/* ---- plans of a shape ---- */

struct walking {
    const struct search_space *space;
    const struct training *base;
    search_visit visit;
    void *with;
    int64_t n_illegal;
    struct list micros, chunks;
};

/* What changes nothing that divides: memory and what is sent. Where it would change nothing at all, once. */
static void walk_memory(const struct walking *x, struct plan *p)
{
    const struct model *m = &x->base->model;
    bool shared = p->degree[PLAN_DP] * p->degree[PLAN_CP] > 1;
    unsigned recomputes = x->space->recompute, zeros = shared ? x->space->zero : 1;
    if (is_alone(x->base))
        recomputes = 1;
    else if (m->attention == MODEL_FLASH && recomputes & 1U << PLAN_RECOMPUTE_NONE)
        recomputes &= ~(1U << PLAN_RECOMPUTE_SELECTIVE); /* nothing but a sum per row is kept of scores */
    for (int32_t r = 0; r < N_PLAN_RECOMPUTES; r++)
        for (int32_t z = 0; z < 4; z++) {
            if (!(recomputes & 1U << r) || !(zeros & 1U << z))
                continue;
            p->recompute = r;
            p->zero = z;
            x->visit(x->with, p);
        }
}

static void walk_legal(struct walking *x, struct plan *p, bool asked)
{
    if (plan_check(p, &x->base->model, plan_inner(p, INT32_MAX) * p->degree[PLAN_DP], NULL))
        walk_memory(x, p);
    else
        x->n_illegal += asked;
}

static void walk_chunks(struct walking *x, struct plan *p)
{
    const unsigned one = 1U << PLAN_1F1B, other = 1U << PLAN_GPIPE;
    bool alone = p->degree[PLAN_PP] == 1, even = p->first + p->last == 0;
    p->schedule = PLAN_1F1B;
    if (x->space->schedule & one) {
        list_values(&x->chunks, &x->space->interleave,
                    !alone && even ? x->base->model.layers / p->degree[PLAN_PP] : 1);
        for (int32_t i = 0; i < x->chunks.n; i++) {
            p->interleave = x->chunks.values[i];
            walk_legal(x, p, x->space->interleave.n > 0);
        }
    }
    p->interleave = 1;
    /* One stage has nothing to schedule. */
    if (x->space->schedule & other && !(alone && x->space->schedule & one)) {
        p->schedule = PLAN_GPIPE;
        walk_legal(x, p, false);
    }
    p->schedule = PLAN_1F1B;
}

static void walk_splits(struct walking *x, struct plan *p)
{
    unsigned sps = p->degree[PLAN_TP] > 1 ? x->space->seq_parallel : 1;
    unsigned contexts = p->degree[PLAN_CP] > 1 ? x->space->context : 1;
    for (unsigned sp = 0; sp < 2; sp++)
        for (int32_t c = 0; c < N_PLAN_CONTEXTS; c++) {
            if (!(sps & 1U << sp) || !(contexts & 1U << c))
                continue;
            p->seq_parallel = sp;
            p->context = c;
            walk_chunks(x, p);
        }
}

int search_walk(int64_t *n_illegal, const struct search_space *space, const struct training *base,
                const struct search_shape *shape, search_visit visit, void *with, struct err *e)
{
    struct walking *x = calloc(1, sizeof *x);
    struct plan p = search_plan(base, shape);
    int64_t samples = p.batch / p.degree[PLAN_DP];
    if (!x)
        return err_nomem(e, "a search");
    *x = (struct walking){ .space = space, .base = base, .visit = visit, .with = with };
    list_values(&x->micros, &space->micro, samples);
    for (int32_t i = 0; i < x->micros.n; i++) {
        p.micro = x->micros.values[i];
        if (samples % p.micro == 0)
            walk_splits(x, &p);
        else
            x->n_illegal++;
    }
    *n_illegal = x->n_illegal;
    free(x);
    return 0;
}
