/*
 * Steps of jobs that are models. A cluster has millions of places and few kinds of them: a job of 64 NPUs on
 * 8 servers of a leaf, or on two leaves, evenly or not. What a kind costs is compiled once, T(B) of
 * workloads/step_fn.h, and asked again at whatever bandwidth the links leave.
 */
#include "sim/cluster/job_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "sim/cluster/footprint.h"
#include "sim/step.h"

struct kept_step {
    struct job_step *at; /* owned; jobs that run borrow it, so it stays where it is */
};

struct job_steps {
    const struct topo_network *net;
    int32_t level;
    struct kept_step *list; /**< shape [n], owned */
    int32_t n, cap;
    struct hash by_kind; /**< number in the list */
};

int job_steps_build(struct job_steps **out, const struct topo_network *net, int32_t level, struct err *e)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return err_nomem(e, "steps of models");
    (*out)->net = net;
    (*out)->level = level;
    return 0;
}

void job_steps_free(struct job_steps *x)
{
    if (!x)
        return;
    for (int32_t i = 0; i < x->n; i++) {
        step_fn_free(&x->list[i].at->fn);
        free(x->list[i].at);
    }
    free(x->list);
    hash_free(&x->by_kind);
    free(x);
}

static uint64_t hash_kind(const struct job_model *model, const int32_t *size, int32_t n_dims)
{
    uint64_t h = (uint64_t)(uintptr_t)model;
    for (int32_t d = 0; d < n_dims; d++)
        h = (h ^ (uint64_t)size[d]) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

/* Replicas that exchange every few steps, or less than all: so many bytes a step in the mean. */
static void thin_exchange(struct plan_cost *c, double share)
{
    for (int32_t i = 0; i < c->n_collectives && share < 1; i++) {
        enum plan_group g = c->collectives[i].group;
        if (g == PLAN_GROUP_DP || g == PLAN_GROUP_EXPERTS || g == PLAN_GROUP_SHARD || g == PLAN_GROUP_COPIES)
            c->collectives[i].bytes *= share;
    }
}

int job_steps_tree(struct step_tree *t, const struct job_model *model, const struct topo_network *net,
                   struct err *e)
{
    *t = (struct step_tree){ .root = -1 };
    if (!model->training)
        return step_read(t, model->doc, model->workload, net, e);
    struct training x = *model->training;
    struct plan_fault fault = { 0 };
    int rc = training_derive(&x, net, e);
    if (!rc && !plan_check_place(&x.place, &x.plan, &x.model, net, &fault))
        rc = err_set(e, ERR_RANGE, "%s: %s", fault.key, fault.why);
    thin_exchange(&x.cost, model->exchange);
    return rc ? rc : training_build(t, &x, net, e);
}

/* On the place's own shape, or the first simpler one that the work lies along. */
static int build_tree(struct step_tree *t, struct topo_network *net, const struct job_steps *x,
                      const struct job_model *model, const int32_t *size, struct err *e)
{
    int32_t shape[TOPO_MAX_DIMS];
    struct err first = { 0 };
    int rc;
    memcpy(shape, size, (size_t)x->net->n_dims * sizeof *shape);
    do {
        struct err inner = { 0 };
        footprint_network(net, x->net, shape);
        rc = job_steps_tree(t, model, net, &inner);
        if (rc && !first.code)
            first = inner;
    } while (rc == ERR_RANGE && footprint_simplify(shape, x->net->n_dims, x->level));
    return rc ? err_set(e, first.code, "%s", first.msg) : 0;
}

/* What it sends is taken at its own bandwidths; bytes do not depend on them. */
static int find_loads(struct job_step *s, const struct step_tree *t, const struct topo_network *net,
                      struct err *e)
{
    const struct sim_way way = { net, s->bw_Bps, SIM_BANDWIDTH, NULL };
    struct sim_step step;
    int rc = sim_step_build(&step, t, &way, e);
    if (rc)
        return rc;
    for (int32_t d = 0; d < net->n_dims; d++)
        s->load_B[d] = step.busy_s[d] * s->bw_Bps[d] * net->dims[d].efficiency;
    sim_step_free(&step);
    return 0;
}

static int compile_step(struct job_step *s, const struct job_steps *x, struct err *e)
{
    struct topo_network net;
    struct step_tree tree;
    int rc = build_tree(&tree, &net, x, s->model, s->size, e);
    if (rc)
        return rc;
    topo_get_bandwidths(s->bw_Bps, &net);
    rc = step_compile(&s->fn, &tree, &net, e);
    if (!rc && (rc = find_loads(s, &tree, &net, e)))
        step_fn_free(&s->fn);
    step_free(&tree);
    return rc;
}

static int add_step(const struct job_step **out, struct job_steps *x, const struct job_model *model,
                    const int32_t *size, uint64_t hash, struct err *e)
{
    struct job_step *s = calloc(1, sizeof *s);
    if (!s || !vec_reserve(x->list, x->cap, x->n + 1) || !hash_reserve(&x->by_kind, x->n + 1)) {
        free(s);
        return err_nomem(e, "steps of models");
    }
    s->model = model;
    memcpy(s->size, size, (size_t)x->net->n_dims * sizeof *size);
    int rc = compile_step(s, x, e);
    if (rc) {
        free(s);
        return rc;
    }
    hash_add(&x->by_kind, hash, x->n);
    x->list[x->n++].at = s;
    *out = s;
    return 0;
}

int job_steps_find(const struct job_step **out, struct job_steps *x, const struct job_model *model,
                   const int32_t *size, struct err *e)
{
    uint64_t hash = hash_kind(model, size, x->net->n_dims);
    hash_each (i, &x->by_kind, hash) {
        const struct job_step *s = x->list[i].at;
        if (s->model == model && memcmp(s->size, size, (size_t)x->net->n_dims * sizeof *size) == 0) {
            *out = s;
            return 0;
        }
    }
    return add_step(out, x, model, size, hash, e);
}
