/* What is left of servers and links in a slot, and the rings a slot is made of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/slots/elastic.h"

/* Sums of a few hundred demands are exact to far better than this share of a capacity. */
#define SLACK 1e-9

double elastic_gain(const struct elastic_job *job, int32_t workers)
{
    return job->gain ? job->gain[workers] : job->zeta * workers;
}

int32_t elastic_most(const struct elastic_slot *s, int32_t job)
{
    const struct elastic_job *j = &s->jobs[job];
    double left = floor(j->budget - s->used[job] + SLACK);
    return left < j->max_workers ? (left > 0 ? (int32_t)left : 0) : j->max_workers;
}

/* ---- rings of a slot ---- */

void elastic_choice_clear(struct elastic_choice *x)
{
    x->n_rings = x->n_servers = 0;
}

void elastic_choice_free(struct elastic_choice *x)
{
    free(x->rings);
    free(x->servers);
    free(x->workers);
    *x = (struct elastic_choice){ 0 };
}

static int push_server(struct elastic_choice *x, int32_t server, int32_t workers, struct err *e)
{
    int32_t *grown = array_grow(x->servers, x->n_servers, &x->cap_servers, sizeof *grown);
    if (!grown)
        return err_nomem(e, "rings of a slot");
    x->servers = grown;
    grown = array_grow(x->workers, x->n_servers, &x->cap_workers, sizeof *grown);
    if (!grown)
        return err_nomem(e, "rings of a slot");
    x->workers = grown;
    x->servers[x->n_servers] = server;
    x->workers[x->n_servers++] = workers;
    return 0;
}

int elastic_choose(struct elastic_choice *x, int32_t job, const int32_t *servers, const int32_t *workers,
                   int32_t n, struct err *e)
{
    struct elastic_ring ring = { .job = job, .n = n, .first = x->n_servers };
    struct elastic_ring *grown = array_grow(x->rings, x->n_rings, &x->cap_rings, sizeof *grown);
    if (!grown)
        return err_nomem(e, "rings of a slot");
    x->rings = grown;
    for (int32_t i = 0; i < n; i++) {
        int rc = push_server(x, servers[i], workers[i], e);
        if (rc) {
            x->n_servers = ring.first;
            return rc;
        }
        ring.workers_total += workers[i];
    }
    x->rings[x->n_rings++] = ring;
    return 0;
}

/* ---- room ---- */

int elastic_room_build(struct elastic_room *room, const struct cluster *c, struct err *e)
{
    *room = (struct elastic_room){ .cluster = c };
    room->left = malloc((size_t)c->n_servers * (size_t)c->n_resources * sizeof *room->left);
    room->left_Bps = malloc(((size_t)c->n_arcs + 1) * sizeof *room->left_Bps);
    if (!room->left || !room->left_Bps) {
        elastic_room_free(room);
        return err_nomem(e, "room on servers and links");
    }
    elastic_room_reset(room);
    return 0;
}

void elastic_room_free(struct elastic_room *room)
{
    free(room->left);
    free(room->left_Bps);
    cluster_room_free(&room->paths);
    *room = (struct elastic_room){ 0 };
}

void elastic_room_reset(struct elastic_room *room)
{
    const struct cluster *c = room->cluster;
    memcpy(room->left, c->capacity, (size_t)c->n_servers * (size_t)c->n_resources * sizeof *room->left);
    memcpy(room->left_Bps, c->bw_Bps, (size_t)c->n_arcs * sizeof *room->left_Bps);
}

/* Add @p Bps to what is left of every arc of the ring. ERR_NOMEM changes nothing. */
static int add_hops(struct elastic_room *room, double Bps, const int32_t *servers, int32_t n, struct err *e)
{
    for (int32_t i = 0; i < n && n > 1; i++) {
        struct cluster_path path;
        int rc = cluster_find_path(&path, room->cluster, servers[i], servers[(i + 1) % n], &room->paths, e);
        for (int32_t k = 0; k < i && rc; k++) {
            struct err ignored = { 0 };
            cluster_find_path(&path, room->cluster, servers[k], servers[(k + 1) % n], &room->paths, &ignored);
            for (int32_t a = 0; a < path.n; a++)
                room->left_Bps[path.arcs[a]] -= Bps;
        }
        if (rc)
            return rc;
        for (int32_t a = 0; a < path.n; a++)
            room->left_Bps[path.arcs[a]] += Bps;
    }
    return 0;
}

int32_t elastic_room_workers(const struct elastic_room *room, const struct elastic_job *job, int32_t s)
{
    const struct cluster *c = room->cluster;
    double most = ELASTIC_MAX_WORKERS;
    for (int32_t r = 0; r < c->n_resources; r++)
        if (job->demand[r] > 0) {
            double left = room->left[(int64_t)s * c->n_resources + r];
            most = fmin(most, floor((left + SLACK * cluster_capacity(c, s, r)) / job->demand[r]));
        }
    return most > 0 ? (int32_t)most : 0;
}

int elastic_room_take(struct elastic_room *room, const struct elastic_job *job, const int32_t *servers,
                      const int32_t *workers, int32_t n, int sign, struct err *e)
{
    const struct cluster *c = room->cluster;
    int rc = add_hops(room, -sign * job->hop_Bps, servers, n, e);
    for (int32_t i = 0; i < n && !rc; i++)
        for (int32_t r = 0; r < c->n_resources; r++)
            room->left[(int64_t)servers[i] * c->n_resources + r] -= sign * workers[i] * job->demand[r];
    return rc;
}

int elastic_room_fits(bool *fits, struct elastic_room *room, const struct elastic_job *job,
                      const int32_t *servers, const int32_t *workers, int32_t n, struct err *e)
{
    *fits = false;
    for (int32_t i = 0; i < n; i++)
        if (elastic_room_workers(room, job, servers[i]) < workers[i])
            return 0;
    *fits = true;
    if (n == 1 || job->hop_Bps <= 0)
        return 0;
    /* A path may be used by several hops of one ring, so all are taken before any arc is looked at. */
    int rc = add_hops(room, -job->hop_Bps, servers, n, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < n && !rc; i++) {
        struct cluster_path path;
        rc = cluster_find_path(&path, room->cluster, servers[i], servers[(i + 1) % n], &room->paths, e);
        for (int32_t a = 0; a < path.n && !rc; a++)
            *fits = *fits && room->left_Bps[path.arcs[a]] >= -SLACK * room->cluster->bw_Bps[path.arcs[a]];
    }
    int back = add_hops(room, job->hop_Bps, servers, n, e);
    return rc ? rc : back;
}
