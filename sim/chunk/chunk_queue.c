/* What waits for a dimension: a queue for each team of NPUs, of which a dimension looks at those where
 * something changed. */
#include <stdlib.h>

#include "base/heap.h"
#include "sim/chunk/chunk_state.h"

static bool waiting_before(const struct waiting *a, const struct waiting *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->key < b->key || b->key < a->key)
        return a->key < b->key;
    return a->seq < b->seq;
}

HEAP(waitings, struct waiting, waiting_before)

static int queue_push(struct queue *q, const struct waiting *w, struct err *e)
{
    if (!vec_reserve(q->items, q->cap, q->n + 1))
        return err_nomem(e, "a queue of chunks");
    waitings_push(q->items, q->n++, *w);
    return 0;
}

/* ---- teams ---- */

int chunk_shape(struct chunk_sim *x, int32_t d, int32_t members, int32_t stride, int32_t *out, struct err *e)
{
    struct server *server = &x->servers[d];
    struct team team = cells_team(&x->cells, d, 0, members, stride);
    for (*out = 0; *out < server->n_shapes; ++*out)
        if (server->shapes[*out].step == team.step && server->shapes[*out].n == team.n)
            return 0;
    if (!vec_reserve(server->shapes, server->cap_shapes, server->n_shapes + 1))
        return err_nomem(e, "queues of chunks");
    struct queue *queues = calloc((size_t)x->cells.n, sizeof *queues);
    if (!queues)
        return err_nomem(e, "queues of chunks");
    server->shapes[server->n_shapes++] = (struct shape){ team.step, team.n, queues };
    return 0;
}

struct team chunk_team(const struct chunk_sim *x, int32_t d, int32_t shape, int32_t cell)
{
    const struct shape *s = &x->servers[d].shapes[shape];
    return cells_team(&x->cells, d, cell, s->n, s->step / x->cells.span[d]);
}

/* Look at a queue in the next round. */
static int touch(struct server *server, int32_t shape, int32_t cell, struct err *e)
{
    struct queue *q = &server->shapes[shape].queues[cell];
    if (q->touched || q->n == 0)
        return 0;
    if (!vec_reserve(server->touched, server->cap_touched, server->n_touched + 1))
        return err_nomem(e, "queues of chunks");
    server->touched[server->n_touched++] = (struct queue_at){ shape, cell };
    q->touched = true;
    return 0;
}

int chunk_freed(struct chunk_sim *x, int32_t d, const struct team *team, struct err *e)
{
    struct server *server = &x->servers[d];
    int rc = 0;
    for (int32_t s = 0; s < server->n_shapes && !rc; s++) {
        const struct shape *shape = &server->shapes[s];
        if (shape->step == team->step && shape->n == team->n) {
            rc = touch(server, s, team->first, e);
            continue;
        }
        for (int32_t i = 0, cell = team->first; i < team->n && !rc; i++, cell += team->step)
            rc = touch(server, s, chunk_team(x, d, s, cell).first, e);
    }
    return rc;
}

int chunk_wait(struct chunk_sim *x, int32_t d, const struct waiting *w, struct err *e)
{
    struct server *server = &x->servers[d];
    int rc = queue_push(&server->shapes[w->shape].queues[w->cell], w, e);
    return rc ? rc : touch(server, w->shape, w->cell, e);
}

static bool is_free(const struct chunk_sim *x, int32_t d, const struct waiting *w)
{
    struct team team = chunk_team(x, d, w->shape, w->cell);
    for (int32_t i = 0, cell = team.first; i < team.n; i++, cell += team.step)
        if (x->busy[d * x->cells.n + cell] >= x->rules.active)
            return false;
    return true;
}

/* The first of each queue that was touched stands in `fronts`. One whose team is busy waits on, and all
 * behind it with it: nothing comes free while a dimension chooses. */
int chunk_serve(struct chunk_sim *x, int32_t d, struct err *e)
{
    struct server *server = &x->servers[d];
    int rc = 0;
    for (int32_t i = 0; i < server->n_touched && !rc; i++) {
        struct queue_at at = server->touched[i];
        struct queue *q = &server->shapes[at.shape].queues[at.cell];
        q->touched = false;
        rc = queue_push(&server->fronts, &q->items[0], e);
    }
    server->n_touched = 0;
    while (server->fronts.n && !rc) {
        struct waiting w = waitings_pop(server->fronts.items, server->fronts.n--);
        struct queue *q = &server->shapes[w.shape].queues[w.cell];
        if (!is_free(x, d, &w))
            continue;
        waitings_pop(q->items, q->n--);
        rc = chunk_start(x, &w, e);
        if (!rc && q->n)
            rc = queue_push(&server->fronts, &q->items[0], e);
    }
    return rc;
}

void chunk_servers_free(struct chunk_sim *x)
{
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        struct server *server = &x->servers[d];
        for (int32_t s = 0; s < server->n_shapes; s++) {
            for (int32_t cell = 0; cell < x->cells.n; cell++)
                free(server->shapes[s].queues[cell].items);
            free(server->shapes[s].queues);
        }
        free(server->shapes);
        free(server->touched);
        free(server->fronts.items);
        free(server->sending);
    }
}
