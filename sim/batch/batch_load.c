#include "sim/batch/batch_load.h"

#include <stdlib.h>
#include <string.h>

struct batch_load_rank {
    double mean_s;
    int32_t server;
};

int batch_load_build(struct batch_load *l, const struct gang *g, bool gang, struct err *e)
{
    size_t n_servers = (size_t)g->p->cluster.n_servers;
    *l = (struct batch_load){ .g = g, .gang = gang };
    l->gpu_s = calloc((size_t)g->n_gpus, sizeof *l->gpu_s);
    l->server_s = calloc(n_servers, sizeof *l->server_s);
    l->open = calloc(n_servers, sizeof *l->open);
    l->ranks = calloc(n_servers, sizeof *l->ranks);
    if (!l->gpu_s || !l->server_s || !l->open || !l->ranks)
        return err_nomem(e, "loads of GPUs");
    return 0;
}

void batch_load_free(struct batch_load *l)
{
    free(l->gpu_s);
    free(l->server_s);
    free(l->open);
    free(l->ranks);
    *l = (struct batch_load){ 0 };
}

void batch_load_reset(struct batch_load *l)
{
    size_t n_servers = (size_t)l->g->p->cluster.n_servers;
    memset(l->gpu_s, 0, (size_t)l->g->n_gpus * sizeof *l->gpu_s);
    memset(l->server_s, 0, n_servers * sizeof *l->server_s);
    memset(l->open, 0, n_servers * sizeof *l->open);
}

/* ---- the best so many GPUs ---- */

/* A heap of the GPUs found so far, the worst on top: what comes later has to beat that one. */
struct pick {
    const struct batch_load *l;
    bool packed;
    int32_t *gpus; /* shape [n] */
    int32_t n, want;
};

/* An order without ties, so that the choice does not depend on how it was found. */
static bool goes_before(const struct pick *p, int32_t a, int32_t b)
{
    const struct batch_load *l = p->l;
    if (p->packed) {
        bool open_a = l->open[l->g->gpu_server[a]], open_b = l->open[l->g->gpu_server[b]];
        if (open_a != open_b)
            return open_a;
    }
    if (l->gpu_s[a] != l->gpu_s[b])
        return l->gpu_s[a] < l->gpu_s[b];
    return a < b;
}

static void sink_top(struct pick *p)
{
    int32_t at = 0, gpu = p->gpus[0];
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child + 1 < p->n && goes_before(p, p->gpus[child], p->gpus[child + 1]))
            child++;
        if (child >= p->n || !goes_before(p, gpu, p->gpus[child]))
            break;
        p->gpus[at] = p->gpus[child];
        at = child;
    }
    p->gpus[at] = gpu;
}

static void offer(struct pick *p, int32_t gpu)
{
    if (p->n == p->want) {
        if (!goes_before(p, gpu, p->gpus[0]))
            return;
        p->gpus[0] = gpu;
        sink_top(p);
        return;
    }
    int32_t at = p->n++;
    for (; at > 0 && goes_before(p, p->gpus[(at - 1) / 2], gpu); at = (at - 1) / 2)
        p->gpus[at] = p->gpus[(at - 1) / 2];
    p->gpus[at] = gpu;
}

static void offer_server(struct pick *p, const struct batch_load_ask *ask, int32_t server)
{
    const struct gang *g = p->l->g;
    for (int32_t gpu = g->server_gpu[server]; gpu < g->server_gpu[server + 1]; gpu++)
        if (p->l->gpu_s[gpu] + ask->add_s <= ask->limit_s)
            offer(p, gpu);
}

static int compare_gpus(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The job is planned on these GPUs, if they are enough. */
static bool settle(struct batch_load *l, int32_t *gpus, int32_t n, const struct batch_load_ask *ask)
{
    double free_s = 0;
    if (n < ask->gpus)
        return false;
    qsort(gpus, (size_t)n, sizeof *gpus, compare_gpus);
    for (int32_t i = 0; l->gang && i < n; i++)
        free_s = l->gpu_s[gpus[i]] > free_s ? l->gpu_s[gpus[i]] : free_s;
    for (int32_t i = 0; i < n; i++) {
        int32_t server = l->g->gpu_server[gpus[i]];
        double *gpu_s = &l->gpu_s[gpus[i]], from_s = l->gang ? free_s : *gpu_s;
        l->server_s[server] += from_s + ask->add_s - *gpu_s;
        *gpu_s = from_s + ask->add_s;
        l->open[server] = true;
    }
    return true;
}

static bool take(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask, bool packed)
{
    struct pick p = { .l = l, .packed = packed, .gpus = out, .want = ask->gpus };
    for (int32_t s = 0; s < l->g->p->cluster.n_servers; s++)
        offer_server(&p, ask, s);
    return settle(l, out, p.n, ask);
}

bool batch_load_take_least(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask)
{
    return take(l, out, ask, false);
}

bool batch_load_take_packed(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask)
{
    return take(l, out, ask, true);
}

static int compare_ranks(const void *a, const void *b)
{
    const struct batch_load_rank *x = a, *y = b;
    if (x->mean_s != y->mean_s)
        return x->mean_s < y->mean_s ? -1 : 1;
    return (x->server > y->server) - (x->server < y->server);
}

bool batch_load_take_balanced(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask,
                              double lambda)
{
    const struct batch_cluster *c = &l->g->p->cluster;
    struct pick p = { .l = l, .gpus = out, .want = ask->gpus };
    double room = 0;
    for (int32_t s = 0; s < c->n_servers; s++)
        l->ranks[s] = (struct batch_load_rank){ l->server_s[s] / c->gpus[s], s };
    qsort(l->ranks, (size_t)c->n_servers, sizeof *l->ranks, compare_ranks);
    for (int32_t i = 0; i < c->n_servers && room < lambda * ask->gpus; i++) {
        room += c->gpus[l->ranks[i].server];
        offer_server(&p, ask, l->ranks[i].server);
    }
    return settle(l, out, p.n, ask);
}

bool batch_load_take_first(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask)
{
    int32_t n = 0;
    for (int32_t gpu = 0; gpu < l->g->n_gpus && n < ask->gpus; gpu++)
        if (l->gpu_s[gpu] + ask->add_s <= ask->limit_s)
            out[n++] = gpu;
    return settle(l, out, n, ask);
}
