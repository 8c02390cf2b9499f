#include "sim/slots/embed.h"

#include <stdlib.h>
#include <string.h>

int embed_build(struct embed *x, const struct cluster *c, struct err *e)
{
    size_t n = (size_t)c->n_servers;
    *x = (struct embed){ .order = malloc(n * sizeof *x->order),
                         .room = malloc(n * sizeof *x->room),
                         .sums = malloc(n * sizeof *x->sums),
                         .servers = malloc(n * sizeof *x->servers),
                         .workers = malloc(n * sizeof *x->workers) };
    if (x->order && x->room && x->sums && x->servers && x->workers)
        return 0;
    embed_free(x);
    return err_nomem(e, "rings");
}

void embed_free(struct embed *x)
{
    free(x->order);
    free(x->room);
    free(x->sums);
    free(x->servers);
    free(x->workers);
    *x = (struct embed){ 0 };
}

static int32_t group_of(const struct cluster *c, int32_t level, int32_t s)
{
    return c->group[(int64_t)level * c->n_servers + s];
}

/* Does server a come before b in a ring? Outer groups first, so that each group is left once. */
static bool comes_before(const struct cluster *c, int32_t a, int32_t b)
{
    for (int32_t level = c->n_levels - 1; level > 0; level--)
        if (group_of(c, level, a) != group_of(c, level, b))
            return group_of(c, level, a) < group_of(c, level, b);
    return a < b;
}

/* Put server s with its workers where it belongs in the ring. */
static void insert(struct embed *x, const struct cluster *c, int32_t s, int32_t workers)
{
    int32_t i = x->n++;
    for (; i > 0 && comes_before(c, s, x->servers[i - 1]); i--) {
        x->servers[i] = x->servers[i - 1];
        x->workers[i] = x->workers[i - 1];
    }
    x->servers[i] = s;
    x->workers[i] = workers;
}

static bool has_one(struct embed *x, int32_t n_servers, int32_t workers)
{
    int32_t best = -1;
    for (int32_t s = 0; s < n_servers; s++)
        if (x->room[s] >= workers && (best < 0 || x->room[s] < x->room[best]))
            best = s;
    if (best < 0)
        return false;
    x->n = 1;
    x->servers[0] = best;
    x->workers[0] = workers;
    return true;
}

/* The roomiest servers of order[0..n) first, of equals the lowest number, until all workers have a place. */
static void take_roomiest(struct embed *x, const struct cluster *c, int32_t n, int32_t workers)
{
    x->n = 0;
    while (workers > 0) {
        int32_t best = -1;
        for (int32_t i = 0; i < n; i++)
            if (x->order[i] >= 0 && (best < 0 || x->room[x->order[i]] > x->room[x->order[best]]))
                best = i;
        int32_t s = x->order[best], take = x->room[s] < workers ? x->room[s] : workers;
        insert(x, c, s, take);
        x->order[best] = -1;
        workers -= take;
    }
}

/* Workers that each group of a level has room for, into sums; how many groups there are. */
static int32_t sum_groups(struct embed *x, const struct cluster *c, int32_t level)
{
    int32_t n = 0;
    memset(x->sums, 0, (size_t)c->n_servers * sizeof *x->sums);
    for (int32_t s = 0; s < c->n_servers; s++) {
        int32_t g = group_of(c, level, s);
        x->sums[g] += x->room[s];
        n = g >= n ? g + 1 : n;
    }
    return n;
}

/* Servers of group `g` with room, into order; how many. */
static int32_t gather(struct embed *x, const struct cluster *c, int32_t level, int32_t g)
{
    int32_t n = 0;
    for (int32_t s = 0; s < c->n_servers; s++)
        if (x->room[s] > 0 && group_of(c, level, s) == g)
            x->order[n++] = s;
    return n;
}

int embed_find(bool *found, struct embed *x, struct elastic_room *room, const struct elastic_job *job,
               int32_t workers, struct err *e)
{
    const struct cluster *c = room->cluster;
    int rc = 0;
    for (int32_t s = 0; s < c->n_servers; s++)
        x->room[s] = elastic_room_workers(room, job, s);
    *found = has_one(x, c->n_servers, workers);
    for (int32_t level = 1; level < c->n_levels && !*found && !rc; level++)
        for (int32_t g = 0, end = sum_groups(x, c, level); g < end && !*found && !rc; g++) {
            if (x->sums[g] < workers)
                continue;
            take_roomiest(x, c, gather(x, c, level, g), workers);
            rc = elastic_room_fits(found, room, job, x->servers, x->workers, x->n, e);
        }
    return rc;
}

/* Where server s is in the ring; -1: not there. */
static int32_t find_server(const struct embed *x, int32_t s)
{
    for (int32_t i = 0; i < x->n; i++)
        if (x->servers[i] == s)
            return i;
    return -1;
}

static void copy_ring(struct embed *x, const int32_t *servers, const int32_t *counts, int32_t n)
{
    memcpy(x->servers, servers, (size_t)n * sizeof *servers);
    memcpy(x->workers, counts, (size_t)n * sizeof *counts);
    x->n = n;
}

int embed_grow(bool *found, struct embed *x, struct elastic_room *room, const struct elastic_job *job,
               const int32_t *servers, const int32_t *counts, int32_t n, struct err *e)
{
    const struct cluster *c = room->cluster;
    *found = false;
    if (n == 0)
        return embed_find(found, x, room, job, 1, e);
    copy_ring(x, servers, counts, n);
    for (int32_t i = 0; i < n; i++)
        if (elastic_room_workers(room, job, servers[i]) >= 1) {
            x->workers[i]++;
            *found = true;
            return 0;
        }
    int rc = elastic_room_take(room, job, servers, counts, n, -1, e);
    if (rc)
        return rc;
    for (int32_t level = 1; level < c->n_levels && !*found && !rc; level++)
        for (int32_t s = 0; s < c->n_servers && !*found && !rc; s++) {
            /* Servers of inner levels were tried before. */
            if (group_of(c, level, s) != group_of(c, level, servers[0]) ||
                group_of(c, level - 1, s) == group_of(c, level - 1, servers[0]) || find_server(x, s) >= 0 ||
                elastic_room_workers(room, job, s) < 1)
                continue;
            insert(x, c, s, 1);
            rc = elastic_room_fits(found, room, job, x->servers, x->workers, x->n, e);
            if (!*found)
                copy_ring(x, servers, counts, n);
        }
    int back = elastic_room_take(room, job, servers, counts, n, 1, e);
    return rc ? rc : back;
}
