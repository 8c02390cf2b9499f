#include "sim/events/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/events/pack_model.h"

const char *const pack_words[N_PACK_KINDS + 1] = { "first-fit", "packed", "spread", "topology", "random" };

const char *pack_help(enum pack_kind kind)
{
    return pack_ways[kind].help;
}

void pack_place_free(struct pack_place *place)
{
    free(place->servers);
    free(place->gpus);
    *place = (struct pack_place){ 0 };
}

/* ---- building ---- */

static int count_gpus(int32_t *most, const struct cluster *c, struct err *e)
{
    *most = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        double gpus = cluster_capacity(c, s, 0);
        if (!(gpus >= 0 && gpus <= PACK_MAX_GPUS && gpus == floor(gpus)))
            return err_set(e, ERR_RANGE, "cluster: server %d has %g GPUs, need a whole number up to %d",
                           (int)s, gpus, (int)PACK_MAX_GPUS);
        *most = (int32_t)fmax(*most, gpus);
    }
    return 0;
}

/* Members of each group of a level, in order of numbers. */
static int build_level(struct pack_level *level, const struct cluster *c, int32_t l, struct err *e)
{
    const int32_t *group = c->group + (int64_t)l * c->n_servers;
    for (int32_t s = 0; s < c->n_servers; s++)
        level->n_groups = group[s] >= level->n_groups ? group[s] + 1 : level->n_groups;
    level->first = calloc((size_t)level->n_groups + 2, sizeof *level->first);
    level->members = malloc((size_t)c->n_servers * sizeof *level->members);
    level->idle = calloc((size_t)level->n_groups + 1, sizeof *level->idle);
    level->room = calloc((size_t)level->n_groups + 1, sizeof *level->room);
    if (!level->first || !level->members || !level->idle || !level->room)
        return err_nomem(e, "groups of servers");
    /* first[g + 2] counts, then first[g + 1] is where the next member of g goes, at last where g ends. */
    for (int32_t s = 0; s < c->n_servers; s++)
        level->first[group[s] + 2]++;
    for (int32_t g = 0; g < level->n_groups; g++)
        level->first[g + 2] += level->first[g + 1];
    for (int32_t s = 0; s < c->n_servers; s++) {
        level->members[level->first[group[s] + 1]++] = s;
        level->idle[group[s]] += (int64_t)cluster_capacity(c, s, 0);
    }
    return 0;
}

/* By group from the widest level on, then by number: a stable sort by the groups of each level, the narrowest
 * first. */
static int build_rank(struct pack *p, struct err *e)
{
    int32_t n = p->c->n_servers;
    int32_t *order = malloc((size_t)n * sizeof *order), *next = malloc((size_t)n * sizeof *next);
    p->rank = malloc((size_t)n * sizeof *p->rank);
    if (!order || !next || !p->rank) {
        free(order);
        free(next);
        return err_nomem(e, "groups of servers");
    }
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
    free(order);
    free(next);
    return 0;
}

static int fill(struct pack *p, struct err *e)
{
    const struct cluster *c = p->c;
    size_t n = (size_t)c->n_servers * (size_t)c->n_resources;
    int32_t most;
    int rc = count_gpus(&most, c, e);
    if (rc)
        return rc;
    p->left = malloc(n * sizeof *p->left + 1);
    p->levels = calloc((size_t)c->n_levels, sizeof *p->levels);
    if (!p->left || !p->levels)
        return err_nomem(e, "servers");
    memcpy(p->left, c->capacity, n * sizeof *p->left);
    p->n_levels = c->n_levels;
    struct pack_index *all[] = { &p->idle, &p->some, &p->inside };
    for (size_t i = 0; i < sizeof all / sizeof all[0] && !rc; i++)
        rc = pack_index_build(all[i], c->n_servers, most, e);
    for (int32_t l = 1; l < c->n_levels && !rc; l++)
        rc = build_level(&p->levels[l], c, l, e);
    if (!rc)
        rc = build_rank(p, e);
    for (int32_t s = 0; s < c->n_servers && !rc; s++)
        pack_index_set(&p->idle, s, (int32_t)cluster_capacity(c, s, 0));
    return rc;
}

int pack_build(struct pack **out, const struct cluster *c, struct err *e)
{
    struct pack *p = *out = calloc(1, sizeof *p);
    if (!p)
        return err_nomem(e, "servers");
    p->c = c;
    int rc = fill(p, e);
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
    for (int32_t l = 0; l < p->n_levels; l++) {
        free(p->levels[l].first);
        free(p->levels[l].members);
        free(p->levels[l].idle);
        free(p->levels[l].room);
    }
    free(p->levels);
    free(p->left);
    free(p->rank);
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

static int32_t room_of(const struct pack *p, const struct gang_job *job, int32_t s)
{
    return gang_job_room(job, p->left + (int64_t)s * p->c->n_resources, p->c->n_resources);
}

bool pack_fits(const struct pack *p, const struct gang_job *job)
{
    int64_t room = 0;
    if (job->gpus > p->idle.total || !gang_job_is_mixed(job, p->c))
        return job->gpus <= p->idle.total;
    for (int32_t s = bits_next(&p->idle.any, 0); s >= 0 && room < job->gpus;
         s = bits_next(&p->idle.any, s + 1))
        room += room_of(p, job, s);
    return room >= job->gpus;
}

/* ---- choosing ---- */

/* What one job can have of each server and group. */
static void open_mixed(struct pack *p, const struct gang_job *job)
{
    for (int32_t l = 1; l < p->n_levels; l++)
        memset(p->levels[l].room, 0, (size_t)p->levels[l].n_groups * sizeof *p->levels[l].room);
    for (int32_t s = bits_next(&p->idle.any, 0); s >= 0; s = bits_next(&p->idle.any, s + 1)) {
        pack_index_set(&p->some, s, room_of(p, job, s));
        for (int32_t l = 1; l < p->n_levels; l++)
            p->levels[l].room[p->c->group[(int64_t)l * p->c->n_servers + s]] += p->some.room[s];
    }
}

static void close_mixed(struct pack *p)
{
    for (int32_t s = bits_next(&p->some.any, 0); s >= 0; s = bits_next(&p->some.any, s + 1))
        pack_index_set(&p->some, s, 0);
}

/* Order of the ring. The ways give servers in few runs that are in order: insertion would be quick there, but
 * not for a thousand servers of a random place. */
static void sort_place(struct pack_place *place, const int32_t *rank)
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

int pack_find(struct pack_place *out, struct pack *p, enum pack_kind kind, const struct gang_job *job,
              struct rng *rng, struct err *e)
{
    bool mixed = gang_job_is_mixed(job, p->c);
    out->n = 0;
    if (mixed)
        open_mixed(p, job);
    const struct pack_ask ask = { p, mixed ? &p->some : &p->idle, mixed, job->gpus, rng };
    int rc = pack_ways[kind].choose(out, &ask, e);
    if (mixed)
        close_mixed(p);
    if (!rc)
        sort_place(out, p->rank);
    return rc;
}

/* sign 1 takes, -1 gives back. */
static void move(struct pack *p, const struct gang_job *job, const struct pack_place *place, int32_t sign)
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

void pack_take(struct pack *p, const struct gang_job *job, const struct pack_place *place)
{
    move(p, job, place, 1);
}

void pack_give(struct pack *p, const struct gang_job *job, const struct pack_place *place)
{
    move(p, job, place, -1);
}
