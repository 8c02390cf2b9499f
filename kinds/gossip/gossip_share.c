#include "kinds/gossip/gossip_share.h"

static void begin(struct gossip_share *s, int64_t n_runs)
{
    omp_init_lock(&s->lock);
    s->n_left = n_runs;
    s->built = false;
}

/* Was that the last one? */
static bool leave(struct gossip_share *s)
{
    omp_set_lock(&s->lock);
    bool last = --s->n_left == 0;
    omp_unset_lock(&s->lock);
    return last;
}

/* ---- of a point ---- */

void gossip_grid_begin(struct gossip_grid *g, int64_t n_runs)
{
    begin(&g->share, n_runs);
}

static void empty_grid(struct gossip_grid *g)
{
#pragma omp critical(igraph)
    topo_graph_free(g->graph);
    g->graph = NULL;
    gossip_data_free(&g->train);
    gossip_data_free(&g->test);
    g->share.built = false;
}

static int build_grid(struct gossip_grid *g, const struct gossip_point *p, struct err *e)
{
    int rc;
#pragma omp critical(igraph)
    rc = topo_build_graph(&g->graph, &p->fabric.net, NULL, e);
    if (!rc && p->own_data)
        rc = gossip_point_own_data(&g->train, &g->test, p, e);
    if (rc)
        empty_grid(g);
    g->share.built = !rc;
    return rc;
}

int gossip_grid_take(struct gossip_grid *g, const struct gossip_point *p, struct err *e)
{
    omp_set_lock(&g->share.lock);
    int rc = g->share.built ? 0 : build_grid(g, p, e);
    omp_unset_lock(&g->share.lock);
    return rc;
}

void gossip_grid_leave(struct gossip_grid *g)
{
    if (leave(&g->share))
        empty_grid(g);
}

void gossip_grid_free(struct gossip_grid *g)
{
    empty_grid(g);
    omp_destroy_lock(&g->share.lock);
}

/* ---- of a point and seed ---- */

void gossip_examples_begin(struct gossip_examples *x, int64_t n_runs)
{
    begin(&x->share, n_runs);
}

static void empty_examples(struct gossip_examples *x)
{
    for (int i = 0; i < 2; i++) {
        gossip_data_free(&x->train[i]);
        gossip_data_free(&x->test[i]);
    }
    gossip_shards_free(&x->shards);
    x->share.built = false;
}

/* The teacher, and after the drift one with other weights. */
static int teach(struct gossip_examples *x, const struct gossip_point *p, uint64_t seed, struct err *e)
{
    struct gossip_teacher t = p->teacher;
    t.seed = seed;
    int rc = gossip_teach(&x->train[0], &x->test[0], &t, e);
    t.version = 1;
    if (!rc && p->drift_at < 1)
        rc = gossip_teach(&x->train[1], &x->test[1], &t, e);
    return rc;
}

static int build_examples(struct gossip_examples *x, const struct gossip_grid *g,
                          const struct gossip_point *p, uint64_t seed, struct err *e)
{
    int rc = p->own_data ? 0 : teach(x, p, seed, e);
    if (!rc)
        rc = gossip_shards_build(&x->shards, p->own_data ? &g->train : &x->train[0], p->fabric.n_workers,
                                 p->sharding, seed, e);
    if (rc)
        empty_examples(x);
    x->share.built = !rc;
    return rc;
}

int gossip_examples_take(struct gossip_examples *x, const struct gossip_grid *g, const struct gossip_point *p,
                         uint64_t seed, struct err *e)
{
    omp_set_lock(&x->share.lock);
    int rc = x->share.built ? 0 : build_examples(x, g, p, seed, e);
    omp_unset_lock(&x->share.lock);
    return rc;
}

void gossip_examples_leave(struct gossip_examples *x)
{
    if (leave(&x->share))
        empty_examples(x);
}

void gossip_examples_free(struct gossip_examples *x)
{
    empty_examples(x);
    omp_destroy_lock(&x->share.lock);
}
