/*
 * Free GPUs of servers, and ways to choose among them. Servers are listed by how many GPUs are free, one bit
 * set for each number, so that the tightest or the emptiest is found without a walk over all.
 */
#include "sim/events/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "base/bits.h"
#include "base/err.h"

/* ---- servers by how many GPUs a job can have of each ---- */

/** `= { 0 }` before pack_index_build(); release with pack_index_free(). */
struct pack_index {
    struct arena arena;      /**< of the arrays */
    int32_t n_servers, most; /**< GPUs of the largest server */
    struct bits *with;       /**< shape [most + 1]: servers with so many; [0] stays empty */
    struct bits any;         /**< servers with at least one */
    int32_t *count;          /**< shape [most + 1]: members of with[f] */
    int32_t *room;           /**< shape [n_servers]: GPUs of each, 0 outside */
    int64_t total;           /**< sum of room */
};

/* ---- what is free of a cluster ---- */

/** One level of near servers. */
struct pack_level {
    int32_t n_groups;
    int32_t *first; /**< shape [n_groups + 1], owned: members of group g are members[first[g]..first[g+1]) */
    int32_t *members; /**< shape [n_servers], owned; of a group in order of numbers */
    int64_t *idle;    /**< shape [n_groups], owned: free GPUs */
    int64_t *room;    /**< shape [n_groups], owned: the same for one job that needs other resources too */
};

struct pack {
    struct arena arena; /* of all arrays but those of the indices */
    const struct cluster *c;
    int32_t type;           /**< servers of others have nothing */
    double *left;           /**< shape [n_servers][n_resources], owned; GPUs are exact */
    struct pack_index idle; /**< free GPUs */
    struct pack_index some; /**< GPUs that one job can have, of all servers or a group; empty between calls */
    struct pack_index inside; /**< members of one group of a job that needs other resources; empty likewise */
    int32_t n_levels;
    struct pack_level *levels; /**< shape [n_levels], owned; [0] is not filled: each server is its own */
    int32_t *rank;             /**< shape [n_servers], owned: place of a server in the order of rings */
};

/** What a way chooses from. */
struct pack_ask {
    struct pack *p;
    const struct pack_index *x; /**< GPUs to be had of each server, n of them or more */
    bool mixed;                 /**< groups have `room` of struct pack_level, else `idle` */
    int32_t n;                  /**< GPUs */
    struct rng *rng;
};

void pack_place_free(struct pack_place *place)
{
    free(place->servers);
    free(place->gpus);
    *place = (struct pack_place){ 0 };
}

static int pack_index_build(struct pack_index *x, int32_t n_servers, int32_t most, struct err *e)
{
    *x = (struct pack_index){ .n_servers = n_servers, .most = most };
    x->with = ARENA_TAKE(&x->arena, most + 1, *x->with);
    x->count = ARENA_TAKE(&x->arena, most + 1, *x->count);
    x->room = ARENA_TAKE(&x->arena, n_servers, *x->room);
    bool there = !x->arena.failed && bits_build(&x->any, n_servers);
    for (int32_t f = 1; f <= most && there; f++)
        there = bits_build(&x->with[f], n_servers);
    return there ? 0 : err_nomem(e, "servers by what is free");
}

static void pack_index_free(struct pack_index *x)
{
    for (int32_t f = 1; x->with && f <= x->most; f++)
        bits_free(&x->with[f]);
    arena_free(&x->arena);
    bits_free(&x->any);
    *x = (struct pack_index){ 0 };
}

/* Server s has room from now on, 0 to most. O(1). */
static void pack_index_set(struct pack_index *x, int32_t s, int32_t room)
{
    int32_t before = x->room[s];
    if (before > 0) {
        bits_remove(&x->with[before], s);
        x->count[before]--;
    }
    if (room > 0) {
        bits_add(&x->with[room], s);
        x->count[room]++;
        bits_add(&x->any, s);
    } else {
        bits_remove(&x->any, s);
    }
    x->room[s] = room;
    x->total += room - before;
}

/* The fewest GPUs from from on that some server has, or -1. O(most). */
static int32_t pack_index_tightest(const struct pack_index *x, int32_t from)
{
    for (int32_t f = from > 1 ? from : 1; f <= x->most; f++)
        if (x->count[f] > 0)
            return f;
    return -1;
}

static int32_t pack_index_least(int64_t a, int64_t b)
{
    return (int32_t)(a < b ? a : b);
}

/* ---- building ---- */

static int pack_count_gpus(int32_t *most, const struct cluster *c, struct err *e)
{
    *most = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        double gpus = cluster_capacity(c, s, 0);
        if (!(gpus >= 0 && gpus <= PACK_MAX_GPUS && gpus == floor(gpus)))
            return err_set(e, ERR_RANGE, "cluster: server %d has %g GPUs, expected a whole number up to %d",
                           (int)s, gpus, (int)PACK_MAX_GPUS);
        *most = (int32_t)fmax(*most, gpus);
    }
    return 0;
}

static int32_t pack_gpus(const struct pack *p, int32_t s)
{
    return cluster_type(p->c, s) == p->type ? (int32_t)cluster_capacity(p->c, s, 0) : 0;
}

/* Members of each group of a level, in order of numbers. */
static void pack_build_level(struct pack *p, int32_t l)
{
    const struct cluster *c = p->c;
    struct pack_level *level = &p->levels[l];
    const int32_t *group = c->group + (int64_t)l * c->n_servers;
    for (int32_t s = 0; s < c->n_servers; s++)
        level->n_groups = group[s] >= level->n_groups ? group[s] + 1 : level->n_groups;
    level->first = ARENA_TAKE(&p->arena, level->n_groups + 2, *level->first);
    level->members = ARENA_TAKE(&p->arena, c->n_servers, *level->members);
    level->idle = ARENA_TAKE(&p->arena, level->n_groups + 1, *level->idle);
    level->room = ARENA_TAKE(&p->arena, level->n_groups + 1, *level->room);
    if (p->arena.failed)
        return;
    /* first[g + 2] counts, then first[g + 1] is where the next member of g goes, at last where g ends. */
    for (int32_t s = 0; s < c->n_servers; s++)
        level->first[group[s] + 2]++;
    for (int32_t g = 0; g < level->n_groups; g++)
        level->first[g + 2] += level->first[g + 1];
    for (int32_t s = 0; s < c->n_servers; s++) {
        level->members[level->first[group[s] + 1]++] = s;
        level->idle[group[s]] += pack_gpus(p, s);
    }
}

/* By group from the widest level on, then by number: a stable sort by the groups of each level, the narrowest
 * first. */
static void pack_build_rank(struct pack *p)
{
    int32_t n = p->c->n_servers;
    int32_t *order = ARENA_TAKE(&p->arena, n, *order), *next = ARENA_TAKE(&p->arena, n, *next);
    p->rank = ARENA_TAKE(&p->arena, n, *p->rank);
    if (p->arena.failed)
        return;
    for (int32_t i = 0; i < n; i++)
        order[i] = i;
    for (int32_t l = 1; l < p->n_levels; l++) {
        const int32_t *group = p->c->group + (int64_t)l * n;
        struct pack_level *level = &p->levels[l];
        /* Ends of groups, which are full, as where the last of each goes. */
        for (int32_t i = n; i-- > 0;)
            next[--level->first[group[order[i]] + 1]] = order[i];
        memcpy(order, next, (size_t)n * sizeof *order);
        for (int32_t i = 0; i < n; i++)
            level->first[group[i] + 1]++;
    }
    for (int32_t i = 0; i < n; i++)
        p->rank[order[i]] = i;
}

static int pack_fill(struct pack *p, struct err *e)
{
    const struct cluster *c = p->c;
    size_t n = (size_t)c->n_servers * (size_t)c->n_resources;
    int32_t most;
    int rc = pack_count_gpus(&most, c, e);
    if (rc)
        return rc;
    p->left = ARENA_TAKE(&p->arena, n, *p->left);
    p->levels = ARENA_TAKE(&p->arena, c->n_levels, *p->levels);
    struct pack_index *all[] = { &p->idle, &p->some, &p->inside };
    for (size_t i = 0; i < sizeof all / sizeof all[0] && !rc; i++)
        rc = pack_index_build(all[i], c->n_servers, most, e);
    if (!rc)
        rc = arena_check(&p->arena, "servers", e);
    if (rc)
        return rc;
    memcpy(p->left, c->capacity, n * sizeof *p->left);
    p->n_levels = c->n_levels;
    for (int32_t l = 1; l < c->n_levels && !p->arena.failed; l++)
        pack_build_level(p, l);
    pack_build_rank(p);
    for (int32_t s = 0; s < c->n_servers; s++)
        pack_index_set(&p->idle, s, pack_gpus(p, s));
    return arena_check(&p->arena, "groups of servers", e);
}

int pack_build(struct pack **out, const struct cluster *c, int32_t type, struct err *e)
{
    struct pack *p = *out = calloc(1, sizeof *p);
    if (!p)
        return err_nomem(e, "servers");
    p->c = c;
    p->type = type;
    int rc = pack_fill(p, e);
    if (rc) {
        pack_free(p);
        *out = NULL;
    }
    return rc;
}

void pack_free(struct pack *p)
{
    if (!p)
        return;
    arena_free(&p->arena);
    pack_index_free(&p->idle);
    pack_index_free(&p->some);
    pack_index_free(&p->inside);
    free(p);
}

/* ---- questions ---- */

int64_t pack_idle(const struct pack *p)
{
    return p->idle.total;
}

static int32_t pack_room(const struct pack *p, const struct job *job, int32_t s)
{
    return job_room(job, p->left + (int64_t)s * p->c->n_resources, p->c->n_resources);
}

bool pack_fits(const struct pack *p, const struct job *job)
{
    int64_t room = 0;
    if (job->gpus > p->idle.total || !job_is_mixed(job, p->c))
        return job->gpus <= p->idle.total;
    for (int32_t s = bits_next(&p->idle.any, 0); s >= 0 && room < job->gpus;
         s = bits_next(&p->idle.any, s + 1))
        room += pack_room(p, job, s);
    return room >= job->gpus;
}

/* ---- choosing ---- */

/* What one job can have of each server and group. */
static void pack_open_mixed(struct pack *p, const struct job *job)
{
    for (int32_t l = 1; l < p->n_levels; l++)
        memset(p->levels[l].room, 0, (size_t)p->levels[l].n_groups * sizeof *p->levels[l].room);
    for (int32_t s = bits_next(&p->idle.any, 0); s >= 0; s = bits_next(&p->idle.any, s + 1)) {
        pack_index_set(&p->some, s, pack_room(p, job, s));
        for (int32_t l = 1; l < p->n_levels; l++)
            p->levels[l].room[p->c->group[(int64_t)l * p->c->n_servers + s]] += p->some.room[s];
    }
}

static void pack_close_mixed(struct pack *p)
{
    for (int32_t s = bits_next(&p->some.any, 0); s >= 0; s = bits_next(&p->some.any, s + 1))
        pack_index_set(&p->some, s, 0);
}

/* Order of the ring. The ways give servers in few runs that are in order: insertion would be quick there, but
 * not for a thousand servers of a random place. */
static void pack_sort_place(struct pack_place *place, const int32_t *rank)
{
    for (int32_t gap = place->n / 2; gap > 0; gap /= 2)
        for (int32_t i = gap; i < place->n; i++) {
            int32_t s = place->servers[i], gpus = place->gpus[i], at = i;
            for (; at >= gap && rank[place->servers[at - gap]] > rank[s]; at -= gap) {
                place->servers[at] = place->servers[at - gap];
                place->gpus[at] = place->gpus[at - gap];
            }
            place->servers[at] = s;
            place->gpus[at] = gpus;
        }
}

int pack_find(struct pack_place *out, struct pack *p, enum pack_kind kind, const struct job *job,
              struct rng *rng, struct err *e)
{
    bool mixed = job_is_mixed(job, p->c);
    out->n = 0;
    if (mixed)
        pack_open_mixed(p, job);
    const struct pack_ask ask = { p, mixed ? &p->some : &p->idle, mixed, job->gpus, rng };
    int rc = pack_ways[kind].choose(out, &ask, e);
    if (mixed)
        pack_close_mixed(p);
    if (!rc)
        pack_sort_place(out, p->rank);
    return rc;
}

/* sign 1 takes, -1 gives back. */
static void pack_move(struct pack *p, const struct job *job, const struct pack_place *place, int32_t sign)
{
    int32_t n_r = p->c->n_resources;
    for (int32_t i = 0; i < place->n; i++) {
        int32_t s = place->servers[i], gpus = sign * place->gpus[i];
        double *left = p->left + (int64_t)s * n_r;
        const double *all = p->c->capacity + (int64_t)s * n_r;
        left[0] -= gpus;
        for (int32_t r = 1; r < n_r; r++)
            left[r] -= gpus * job->demand[r];
        /* An idle server has all of it, whatever rounding left behind. */
        if (left[0] >= all[0])
            memcpy(left, all, (size_t)n_r * sizeof *left);
        pack_index_set(&p->idle, s, (int32_t)left[0]);
        for (int32_t l = 1; l < p->n_levels; l++)
            p->levels[l].idle[p->c->group[(int64_t)l * p->c->n_servers + s]] -= gpus;
    }
}

void pack_take(struct pack *p, const struct job *job, const struct pack_place *place)
{
    pack_move(p, job, place, 1);
}

void pack_give(struct pack *p, const struct job *job, const struct pack_place *place)
{
    pack_move(p, job, place, -1);
}

/* Append gpus of server s. ERR_NOMEM. */
static int pack_place_add(struct pack_place *place, int32_t s, int32_t gpus, struct err *e)
{
    if (!vec_reserve(place->servers, place->cap_servers, place->n + 1))
        return err_nomem(e, "a place");
    if (!vec_reserve(place->gpus, place->cap_gpus, place->n + 1))
        return err_nomem(e, "a place");
    place->servers[place->n] = s;
    place->gpus[place->n++] = gpus;
    return 0;
}

static int pack_first_fit(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    const struct pack_index *x = ask->x;
    int32_t n = ask->n;
    int rc = 0;
    for (int32_t s = bits_next(&x->any, 0); n > 0 && !rc; s = bits_next(&x->any, s + 1)) {
        int32_t take = pack_index_least(x->room[s], n);
        rc = pack_place_add(out, s, take, e);
        n -= take;
    }
    return rc;
}

/* Servers from those with most on: `f` GPUs free, the next one of them from `from` on. */
struct descent {
    const struct pack_index *x;
    int32_t f, from;
};

/* The next server, -1 after the last one. */
static int32_t pack_compare_descending(struct descent *d)
{
    for (; d->f > 0; d->f--, d->from = 0) {
        int32_t s = d->x->count[d->f] > 0 ? bits_next(&d->x->with[d->f], d->from) : -1;
        if (s >= 0) {
            d->from = s + 1;
            return s;
        }
    }
    return -1;
}

/* The server that n fit most tightly: s, unless another one has less than it. */
static int32_t pack_tighter(const struct pack_index *x, int32_t s, int32_t n)
{
    int32_t tight = pack_index_tightest(x, n);
    return tight < x->room[s] ? bits_next(&x->with[tight], 0) : s;
}

static int pack_tightly(struct pack_place *out, const struct pack_index *x, int32_t n, struct err *e)
{
    struct descent d = { x, x->most, 0 };
    int rc = 0;
    while (n > 0 && !rc) {
        int32_t s = pack_compare_descending(&d);
        /* The rest fits one server. Those taken so far have more than any that is tighter. */
        if (x->room[s] >= n)
            s = pack_tighter(x, s, n);
        int32_t take = pack_index_least(x->room[s], n);
        rc = pack_place_add(out, s, take, e);
        n -= take;
    }
    return rc;
}

static int pack_packed(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    return pack_tightly(out, ask->x, ask->n, e);
}

/* Most of any server if n are spread as evenly as can be. */
static int32_t pack_even_height(const struct pack_index *x, int32_t n)
{
    int64_t with_more = 0, held = 0;
    int32_t height = 0;
    for (int32_t f = 1; f <= x->most; f++)
        with_more += x->count[f];
    while (held < n) {
        held += with_more;
        with_more -= x->count[++height];
    }
    return height;
}

static int pack_spread(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    const struct pack_index *x = ask->x;
    struct descent d = { x, x->most, 0 };
    int32_t n = ask->n, height = pack_even_height(x, n);
    int rc = 0;
    int64_t below = 0;
    for (int32_t f = 1; f <= x->most; f++)
        below += (int64_t)x->count[f] * (f < height ? f : height - 1);
    /* So many servers, those with most, get the last one too. */
    int64_t last = n - below;
    for (int32_t s; n > 0 && !rc && (s = pack_compare_descending(&d)) >= 0;) {
        int32_t take = pack_index_least(x->room[s], last > 0 ? height : height - 1);
        last--;
        rc = take > 0 ? pack_place_add(out, s, take, e) : 0;
        n -= take;
    }
    return rc;
}

/* ---- random ---- */

static int pack_compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* n different numbers below `total`, each set alike, in order: R. Floyd's way (J. Bentley, "Programming
 * Pearls: a sample of brilliance", 1987), where a number that was drawn before stands for the newest one. */
static void pack_draw_gpus(int64_t *out, int32_t n, int64_t total, struct rng *rng)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t top = total - n + i, k = rng_below(rng, top + 1);
        int32_t at = 0;
        /* Kept in order; places are short but for the largest jobs. */
        if (bsearch(&k, out, (size_t)i, sizeof *out, pack_compare_numbers))
            k = top;
        for (at = i; at > 0 && out[at - 1] > k; at--)
            out[at] = out[at - 1];
        out[at] = k;
    }
}

static int pack_any(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    const struct pack_index *x = ask->x;
    int32_t n = ask->n;
    int64_t *drawn = malloc((size_t)n * sizeof *drawn), before = 0;
    int32_t i = 0;
    int rc = 0;
    if (!drawn)
        return err_nomem(e, "a place");
    pack_draw_gpus(drawn, n, x->total, ask->rng);
    for (int32_t s = bits_next(&x->any, 0); i < n && !rc; s = bits_next(&x->any, s + 1)) {
        int32_t take = 0;
        for (before += x->room[s]; i < n && drawn[i] < before; i++)
            take++;
        if (take > 0)
            rc = pack_place_add(out, s, take, e);
    }
    free(drawn);
    return rc;
}

/* ---- topology ---- */

/* The group of a level that holds n most tightly, of equals the first; -1: none does. */
static int32_t pack_tightest_group(const struct pack_level *level, bool mixed, int32_t n)
{
    const int64_t *room = mixed ? level->room : level->idle;
    int32_t best = -1;
    for (int32_t g = 0; g < level->n_groups; g++)
        if (room[g] >= n && (best < 0 || room[g] < room[best]))
            best = g;
    return best;
}

static int pack_group(struct pack_place *out, const struct pack_ask *ask, const struct pack_level *level,
                      int32_t g, struct err *e)
{
    struct pack_index *inside = &ask->p->inside;
    for (int32_t i = level->first[g]; i < level->first[g + 1]; i++)
        pack_index_set(inside, level->members[i], ask->x->room[level->members[i]]);
    int rc = pack_tightly(out, inside, ask->n, e);
    for (int32_t i = level->first[g]; i < level->first[g + 1]; i++)
        pack_index_set(inside, level->members[i], 0);
    return rc;
}

static int pack_by_topology(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    const struct pack *p = ask->p;
    if (pack_index_tightest(ask->x, ask->n) < 0)
        for (int32_t l = 1; l < p->n_levels; l++) {
            int32_t g = pack_tightest_group(&p->levels[l], ask->mixed, ask->n);
            /* One group of all is what packing without groups sees anyway. */
            if (g >= 0 && p->levels[l].n_groups > 1)
                return pack_group(out, ask, &p->levels[l], g, e);
        }
    return pack_packed(out, ask, e);
}

const struct pack_way pack_ways[N_PACK_KINDS] = {
    [PACK_FIRST_FIT] = { "first-fit", "servers by their number, all that each has free", pack_first_fit },
    [PACK_PACKED] = { "packed", "fewest servers, the tightest that fit", pack_packed },
    [PACK_SPREAD] = { "spread", "most servers, evenly, those with most free first", pack_spread },
    [PACK_TOPOLOGY] = { "topology", "the smallest group of near servers that holds the job, packed in it",
                        pack_by_topology },
    [PACK_RANDOM] = { "random", "any free GPUs, each with the same chance", pack_any },
};
