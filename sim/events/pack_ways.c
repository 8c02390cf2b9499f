#include <stdlib.h>

#include "base/array.h"
#include "sim/events/pack_model.h"

static int32_t least(int64_t a, int64_t b)
{
    return (int32_t)(a < b ? a : b);
}

int pack_place_add(struct pack_place *place, int32_t s, int32_t gpus, struct err *e)
{
    int32_t *grown = array_grow(place->servers, place->n, &place->cap_servers, sizeof *grown);
    if (!grown)
        return err_nomem(e, "a place");
    place->servers = grown;
    grown = array_grow(place->gpus, place->n, &place->cap_gpus, sizeof *grown);
    if (!grown)
        return err_nomem(e, "a place");
    place->gpus = grown;
    place->servers[place->n] = s;
    place->gpus[place->n++] = gpus;
    return 0;
}

static int first_fit(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    const struct pack_index *x = ask->x;
    int32_t n = ask->n;
    int rc = 0;
    for (int32_t s = bits_next(&x->any, 0); n > 0 && !rc; s = bits_next(&x->any, s + 1)) {
        int32_t take = least(x->room[s], n);
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
static int32_t descend(struct descent *d)
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
static int32_t tighter(const struct pack_index *x, int32_t s, int32_t n)
{
    int32_t tight = pack_index_tightest(x, n);
    return tight < x->room[s] ? bits_next(&x->with[tight], 0) : s;
}

static int pack_tightly(struct pack_place *out, const struct pack_index *x, int32_t n, struct err *e)
{
    struct descent d = { x, x->most, 0 };
    int rc = 0;
    while (n > 0 && !rc) {
        int32_t s = descend(&d);
        /* The rest fits one server. Those taken so far have more than any that is tighter. */
        if (x->room[s] >= n)
            s = tighter(x, s, n);
        int32_t take = least(x->room[s], n);
        rc = pack_place_add(out, s, take, e);
        n -= take;
    }
    return rc;
}

static int packed(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    return pack_tightly(out, ask->x, ask->n, e);
}

/* Most of any server if n are spread as evenly as can be. */
static int32_t even_height(const struct pack_index *x, int32_t n)
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

static int spread(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    const struct pack_index *x = ask->x;
    struct descent d = { x, x->most, 0 };
    int32_t n = ask->n, height = even_height(x, n);
    int rc = 0;
    int64_t below = 0;
    for (int32_t f = 1; f <= x->most; f++)
        below += (int64_t)x->count[f] * (f < height ? f : height - 1);
    /* So many servers, those with most, get the last one too. */
    int64_t last = n - below;
    for (int32_t s; n > 0 && !rc && (s = descend(&d)) >= 0;) {
        int32_t take = least(x->room[s], last > 0 ? height : height - 1);
        last--;
        rc = take > 0 ? pack_place_add(out, s, take, e) : 0;
        n -= take;
    }
    return rc;
}

/* ---- random ---- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* n different numbers below `total`, each set alike, in order: R. Floyd's way (J. Bentley, "Programming
 * Pearls: a sample of brilliance", 1987), where a number that was drawn before stands for the newest one. */
static void draw(int64_t *out, int32_t n, int64_t total, struct rng *rng)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t top = total - n + i, k = rng_below(rng, top + 1);
        int32_t at = 0;
        /* Kept in order; places are short but for the largest jobs. */
        if (bsearch(&k, out, (size_t)i, sizeof *out, by_number))
            k = top;
        for (at = i; at > 0 && out[at - 1] > k; at--)
            out[at] = out[at - 1];
        out[at] = k;
    }
}

static int any(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    const struct pack_index *x = ask->x;
    int32_t n = ask->n;
    int64_t *drawn = malloc((size_t)n * sizeof *drawn), before = 0;
    int32_t i = 0;
    int rc = 0;
    if (!drawn)
        return err_nomem(e, "a place");
    draw(drawn, n, x->total, ask->rng);
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
static int32_t tightest_group(const struct pack_level *level, bool mixed, int32_t n)
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

static int by_topology(struct pack_place *out, const struct pack_ask *ask, struct err *e)
{
    const struct pack *p = ask->p;
    if (pack_index_tightest(ask->x, ask->n) < 0)
        for (int32_t l = 1; l < p->n_levels; l++) {
            int32_t g = tightest_group(&p->levels[l], ask->mixed, ask->n);
            /* One group of all is what packing without groups sees anyway. */
            if (g >= 0 && p->levels[l].n_groups > 1)
                return pack_group(out, ask, &p->levels[l], g, e);
        }
    return packed(out, ask, e);
}

const struct pack_way pack_ways[N_PACK_KINDS] = {
    [PACK_FIRST_FIT] = { "servers by their number, all that each has free", first_fit },
    [PACK_PACKED] = { "fewest servers, the tightest that fit", packed },
    [PACK_SPREAD] = { "most servers, evenly, those with most free first", spread },
    [PACK_TOPOLOGY] = { "the smallest group of near servers that holds the job, packed in it", by_topology },
    [PACK_RANDOM] = { "any free GPUs, each with the same chance", any },
};
