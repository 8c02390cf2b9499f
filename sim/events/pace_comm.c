#include "sim/events/pace_comm.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/num.h"
#include "workloads/collective_time.h"

void pace_comm_free(struct pace_comm *m)
{
    free(m->uses);
    free(m->sent_B);
    *m = (struct pace_comm){ 0 };
}

/* ---- what all jobs have in common ---- */

static int check_settings(const struct pace_graph_settings *s, const struct cluster *c, struct err *e)
{
    if (!(s->inner_Bps > 0))
        return err_set(e, ERR_RANGE, "pace: bandwidth inside servers is %g B/s, need > 0", s->inner_Bps);
    if (!(s->reduce_Bps > 0))
        return err_set(e, ERR_RANGE, "pace: rate of sums is %g B/s, need > 0", s->reduce_Bps);
    if (!s->inner)
        return 0;
    if (s->level < 0 || s->level >= s->inner->n_dims)
        return err_set(e, ERR_RANGE, "pace: level of servers is %d, need 0 to %d", (int)s->level,
                       (int)s->inner->n_dims - 1);
    double most = 1;
    for (int32_t d = 0; d < s->level; d++) {
        most *= s->inner->dims[d].size;
        if (!(s->inner->dims[d].bw_Bps > 0))
            return err_set(e, ERR_RANGE, "pace: dimension %s has no bandwidth, need bw_GBps",
                           s->inner->dims[d].name);
    }
    for (int32_t k = 0; k < c->n_servers; k++)
        if (cluster_capacity(c, k, 0) > most)
            return err_set(e, ERR_RANGE,
                           "pace: server %d has %g GPUs, need at most the %g that its network joins", (int)k,
                           cluster_capacity(c, k, 0), most);
    return 0;
}

/* Inside a server, and the same for groups of any size. */
static void take_inner(struct pace_site *x)
{
    const struct pace_graph_settings *s = &x->settings;
    x->inner_Bps = s->inner_Bps;
    if (!s->inner)
        return;
    x->inner = *s->inner;
    x->inner.n_dims = s->level;
    x->inner.n_npus = 1;
    x->inner_Bps = s->level > 0 ? 0 : s->inner_Bps;
    for (int32_t d = 0; d < s->level; d++) {
        x->inner.n_npus *= x->inner.dims[d].size;
        x->inner_Bps += x->inner.dims[d].bw_Bps;
    }
    x->odd = x->inner;
    for (int32_t d = 0; d < s->level; d++)
        if (x->odd.dims[d].algorithm == TOPO_ALGORITHM_HALVING)
            x->odd.dims[d].algorithm = TOPO_ALGORITHM_SHAPE;
    x->settings.inner = &x->inner;
}

int pace_site_build(struct pace_site *x, const struct cluster *c, const struct pace_graph_settings *settings,
                    struct err *e)
{
    *x = (struct pace_site){ .c = c, .settings = *settings };
    int rc = check_settings(settings, c, e);
    if (rc)
        return rc;
    take_inner(x);
    x->reach_Bps = malloc((size_t)c->n_arcs * sizeof *x->reach_Bps + 1);
    x->tally_of = malloc((size_t)c->n_arcs * sizeof *x->tally_of + 1);
    x->seen = calloc((size_t)c->n_servers, sizeof *x->seen);
    if (!x->reach_Bps || !x->tally_of || !x->seen) {
        pace_site_free(x);
        return err_nomem(e, "links");
    }
    for (int32_t a = 0; a < c->n_arcs; a++) {
        int32_t d = c->routes.described ? topo_link_dim(&c->routes, a / 2) : -1;
        x->tally_of[a] = -1;
        x->reach_Bps[a] = c->bw_Bps[a] * (d >= 0 ? c->routes.net.dims[d].efficiency : 1);
    }
    return 0;
}

void pace_site_free(struct pace_site *x)
{
    free(x->reach_Bps);
    free(x->tally);
    free(x->tally_of);
    free(x->seen);
    cluster_room_free(&x->room);
    *x = (struct pace_site){ 0 };
}

/* ---- inside a server ---- */

/* An all-reduce over n of its GPUs. Of a network they fill the innermost dimensions first; where they do not
 * fill the last one evenly, it is as slow as if they did. */
static double inner_s(const struct pace_site *x, double bytes, int32_t n)
{
    int32_t members[TOPO_MAX_DIMS] = { 0 }, left = n;
    double bw_Bps[TOPO_MAX_DIMS];
    bool odd = false;
    if (n == 1 || !(bytes > 0))
        return 0;
    if (!x->settings.inner)
        return bytes * (n - 1) / n * (2 / x->inner_Bps + 1 / x->settings.reduce_Bps);
    for (int32_t d = 0; d < x->inner.n_dims; d++) {
        int32_t size = x->inner.dims[d].size;
        members[d] = left < size ? left : size;
        left = (left + members[d] - 1) / members[d];
        bw_Bps[d] = x->inner.dims[d].bw_Bps;
        odd = odd || !num_is_power_of_two(members[d]);
    }
    const struct collective_way way = { odd ? &x->odd : &x->inner, x->settings.rules, bw_Bps };
    struct collective_time time;
    collective_time(&time, COLLECTIVE_ALL_REDUCE, bytes, members, &way);
    return time.time_s;
}

/* ---- between servers ---- */

static int add_tally(struct pace_site *x, int32_t arc, int32_t there, int32_t back, struct err *e)
{
    if (x->tally_of[arc] < 0) {
        struct pace_tally *grown = array_grow(x->tally, x->n_tally, &x->cap_tally, sizeof *grown);
        if (!grown)
            return err_nomem(e, "links of a job");
        x->tally = grown;
        x->tally_of[arc] = x->n_tally;
        x->tally[x->n_tally++] = (struct pace_tally){ arc, 0, 0 };
    }
    x->tally[x->tally_of[arc]].there += there;
    x->tally[x->tally_of[arc]].back += back;
    return 0;
}

/* Streams from one server to another; their latency, if it is longer than those so far. */
static int add_streams(struct pace_site *x, int32_t from, int32_t to, int32_t there, int32_t back,
                       double *lat_s, struct err *e)
{
    struct cluster_path path;
    double sum_s = 0;
    int rc = cluster_find_path(&path, x->c, from, to, &x->room, e);
    for (int32_t i = 0; i < path.n && !rc; i++) {
        sum_s += x->c->lat_s[path.arcs[i]];
        rc = add_tally(x, path.arcs[i], there, back, e);
    }
    *lat_s = fmax(*lat_s, sum_s);
    return rc;
}

static int find_ring(struct pace_comm *m, struct pace_site *x, const struct gang_job *job,
                     const struct pace_place *p, struct err *e)
{
    double share = (double)(p->n - 1) / p->n, lat_s = 0;
    int rc = 0;
    for (int32_t k = 0; k < p->n; k++)
        if (k == 0 || p->gpus[k] != p->gpus[k - 1])
            m->before_s = fmax(m->before_s, inner_s(x, job->gradient_B, p->gpus[k]));
    if (p->n == 1)
        return 0;
    for (int32_t k = 0; k < p->n && !rc; k++)
        rc = add_streams(x, p->servers[k], p->servers[(k + 1) % p->n], 1, 0, &lat_s, e);
    m->before_s += share * job->gradient_B / x->settings.reduce_Bps;
    m->latency_s = 2.0 * (p->n - 1) * lat_s;
    m->volume_B = 2 * share * job->gradient_B;
    return rc;
}

/* Parameter servers on the k-th server of a place. */
static int32_t held(const struct gang_job *job, const struct pace_place *p, int32_t k)
{
    return job->param_servers / p->n + (k < job->param_servers % p->n ? 1 : 0);
}

static int find_stars(struct pace_comm *m, struct pace_site *x, const struct gang_job *job,
                      const struct pace_place *p, struct err *e)
{
    double lat_s = 0, busiest = 0, stream_B = 2 * job->gradient_B / job->param_servers;
    int rc = 0;
    for (int32_t to = 0; to < p->n && held(job, p, to) > 0; to++) {
        int32_t n = held(job, p, to);
        busiest = fmax(busiest, fmax(n, p->gpus[to]));
        for (int32_t from = 0; from < p->n && !rc; from++) {
            if (from == to)
                continue;
            rc = add_streams(x, p->servers[from], p->servers[to], n * p->gpus[from], 0, &lat_s, e);
            if (!rc)
                rc = add_streams(x, p->servers[to], p->servers[from], 0, n * p->gpus[from], &lat_s, e);
        }
    }
    m->floor_s = stream_B * busiest / x->inner_Bps;
    m->latency_s = p->n > 1 ? 2 * lat_s : 0;
    m->volume_B = p->n > 1 ? stream_B : 0;
    return rc;
}

/* Of the tally. Streams move their volume on the way there, or half of it there and then half of it back: at
 * one time only those of one way are on a link. */
static int take_uses(struct pace_comm *m, const struct pace_site *x, bool both_ways, struct err *e)
{
    m->uses = malloc((size_t)(x->n_tally + 1) * sizeof *m->uses);
    m->sent_B = malloc((size_t)(x->n_tally + 1) * sizeof *m->sent_B);
    if (!m->uses || !m->sent_B)
        return err_nomem(e, "links of a job");
    for (int32_t i = 0; i < x->n_tally; i++) {
        const struct pace_tally *t = &x->tally[i];
        m->uses[i] = (struct lockstep_use){ t->arc, t->there > t->back ? t->there : t->back };
        m->sent_B[i] = ((double)t->there + t->back) * m->volume_B / (both_ways ? 2 : 1);
    }
    m->n_uses = x->n_tally;
    return 0;
}

static int check_place(struct pace_site *x, const struct gang_job *job, int32_t number,
                       const struct pace_place *p, struct err *e)
{
    char name[GANG_NAME];
    int64_t gpus = 0;
    bool twice = false;
    int32_t k = 0;
    for (; k < p->n && p->servers[k] >= 0 && p->servers[k] < x->c->n_servers && p->gpus[k] > 0; k++) {
        gpus += p->gpus[k];
        twice = twice || x->seen[p->servers[k]];
        x->seen[p->servers[k]] = true;
    }
    for (int32_t i = 0; i < k; i++)
        x->seen[p->servers[i]] = false;
    if (k == p->n && gpus == job->gpus && !twice)
        return 0;
    return err_set(e, ERR_RANGE,
                   "job %s: its place holds %lld GPUs on %d servers%s, need %d, each server once",
                   gang_job_name(name, job, number), (long long)gpus, (int)k, twice ? ", one twice" : "",
                   (int)job->gpus);
}

int pace_comm_find(struct pace_comm *out, struct pace_site *x, const struct gang_job *job, int32_t number,
                   const struct pace_place *place, struct err *e)
{
    int rc = check_place(x, job, number, place, e);
    if (rc || (job->gpus == 1 && job->param_servers == 0) || !(job->gradient_B > 0))
        return rc;
    rc = (job->param_servers ? find_stars : find_ring)(out, x, job, place, e);
    if (!rc)
        rc = take_uses(out, x, job->param_servers > 0, e);
    for (int32_t i = 0; i < x->n_tally; i++)
        x->tally_of[x->tally[i].arc] = -1;
    x->n_tally = 0;
    return rc;
}

double pace_comm_iteration_s(const struct pace_comm *m, const struct gang_job *job, double rate_Bps)
{
    double between_s = m->volume_B > 0 ? m->latency_s + m->volume_B / rate_Bps : 0;
    return job->compute_s + fmax(0, m->before_s + fmax(m->floor_s, between_s) - job->hidden_s);
}

double pace_comm_alone_Bps(const struct pace_comm *m, const struct pace_site *x)
{
    double rate_Bps = INFINITY;
    for (int32_t i = 0; i < m->n_uses; i++)
        rate_Bps = fmin(rate_Bps, x->reach_Bps[m->uses[i].link] / m->uses[i].count);
    return rate_Bps;
}
