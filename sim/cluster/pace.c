/*
 * Speed of jobs that share the links of their cluster, max-min fairly; pace.h has its formulas. A change
 * touches the jobs on links near it only. Here too are bytes of links over time, in bins that widen.
 *
 * In layers: pace_site has what all jobs share (bandwidths of arcs, the network inside servers, room to
 * search paths), pace_comm what one job sends on its place, found once at begin(), and pace_graph ties both
 * to maxmin.h, which holds the rates. Sums of loads are changed by differences, so that rounding adds up over
 * a long schedule: peaks are not exact to the last bit.
 */
#include "sim/cluster/pace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "sim/cluster/job_steps.h"
#include "sim/flow/maxmin.h"
#include "workloads/collective.h"

int link_bins_build(struct link_bins *b, int32_t n_arcs, int32_t n_bins, double from_s, double width_s,
                    struct err *e)
{
    *b = (struct link_bins){ .n_arcs = n_arcs, .n_bins = n_bins, .from_s = from_s, .width_s = width_s };
    b->bytes = calloc((size_t)n_arcs * (size_t)n_bins + 1, sizeof *b->bytes);
    return b->bytes ? 0 : err_nomem(e, "bytes of links over time");
}

void link_bins_free(struct link_bins *b)
{
    free(b->bytes);
    *b = (struct link_bins){ 0 };
}

/* Twice as wide: bins 2k and 2k + 1 become bin k. */
static void bins_widen(struct link_bins *b)
{
    size_t row = (size_t)b->n_arcs;
    for (size_t k = 0; k < (size_t)b->n_bins / 2; k++) {
        double *to = b->bytes + k * row;
        const double *first = b->bytes + 2 * k * row, *second = first + row;
        for (size_t a = 0; a < row; a++)
            to[a] = first[a] + second[a];
    }
    size_t half = (size_t)b->n_bins / 2 * row;
    memset(b->bytes + half, 0, half * sizeof *b->bytes);
    b->width_s *= 2;
}

void link_bins_add(struct link_bins *b, int32_t arc, double bytes, double from_s, double to_s)
{
    if (!(to_s > from_s && bytes > 0))
        return;
    while (to_s > b->from_s + b->n_bins * b->width_s)
        bins_widen(b);
    /* After widening all of it lies within the bins, but for rounding at the last edge, which the loop's end
     * cuts. */
    for (int32_t k = (int32_t)((from_s - b->from_s) / b->width_s); k < b->n_bins; k++) {
        double begin = fmax(from_s, b->from_s + k * b->width_s);
        double end = fmin(to_s, b->from_s + (k + 1) * b->width_s);
        if (begin >= to_s)
            break;
        if (end > begin)
            b->bytes[(size_t)k * (size_t)b->n_arcs + (size_t)arc] +=
                bytes * ((end - begin) / (to_s - from_s));
    }
}

/*
 * What a job sends and where, on a given place: the terms of pace.h that do not change while it
 * runs.
 */

/**
 * Communication of one iteration at rate r takes before_s + max(floor_s, latency_s + volume_B / r).
 * `= { 0 }`; release with pace_comm_free().
 */
struct pace_comm {
    double before_s;         /**< inside servers, and sums that are formed */
    double floor_s;          /**< what goes on inside servers at the same time */
    double latency_s;        /**< of all steps between servers */
    double volume_B;         /**< of each stream, 0: nothing between servers */
    struct maxmin_use *uses; /**< shape [n_uses], owned: arcs, and how many streams pass each at one time */
    double *sent_B;          /**< shape [n_uses], owned: on each of them in an iteration */
    int32_t n_uses;
    double speed;                /**< of compute, on the NPUs of its place */
    const struct job_step *step; /**< of a model, which has none of the terms before `uses`; borrowed */
    struct pace_level *levels;   /**< shape [n_levels], owned: where a model shares links */
    int32_t n_levels;
};

/** Links that groups of servers have together, as one job uses them: an NPU of its sends at the rate of the
 * bundle on each of a group's lanes. */
struct pace_level {
    int32_t dim, lanes;
    double port_Bps;         /**< the most that an NPU gets */
    double load_B;           /**< of an NPU and step */
    struct maxmin_use *uses; /**< shape [n_uses], owned */
    int32_t n_uses;
};

/** Streams that pass an arc on their way there, and those that come back later. */
struct pace_tally {
    int32_t arc, there, back;
};

/** What all jobs have in common. `= { 0 }` before pace_site_build(); release with pace_site_free(). */
struct pace_site {
    struct arena arena;      /**< of the arrays below */
    const struct cluster *c; /**< borrowed */
    struct pace_graph_settings settings;
    struct topo_network inner; /**< dimensions inside a server */
    double inner_Bps;
    double *reach_Bps; /**< shape [n_arcs], what an arc offers, owned */
    struct cluster_room room;
    struct pace_tally *tally; /**< shape [n_tally], owned: arcs of the job at hand */
    int32_t n_tally, cap_tally;
    int32_t *tally_of;              /**< shape [n_arcs], owned: place of an arc in the tally, -1 = none */
    bool *seen;                     /**< shape [n_servers], owned: all false between calls */
    const struct topo_network *net; /**< borrowed: all of it, of a described cluster; NULL */
    struct footprint_map map;       /**< of jobs that are models; empty without any */
    struct job_steps *steps[CLUSTER_MAX_TYPES]; /**< of each type of NPU, owned, likewise */
    bool mixed; /**< other jobs send over the same links: every link counts, not one for a group's equal ones
                 */
};

static void pace_comm_free(struct pace_comm *m)
{
    free(m->uses);
    free(m->sent_B);
    for (int32_t i = 0; i < m->n_levels; i++)
        free(m->levels[i].uses);
    free(m->levels);
    *m = (struct pace_comm){ 0 };
}

/* ---- what all jobs have in common ---- */

/* More GPUs on a server than its network joins would have no links. */
static int site_check_settings(const struct pace_graph_settings *s, const struct cluster *c, struct err *e)
{
    if (!s->inner)
        return 0;
    if (s->level < 0 || s->level >= s->inner->n_dims)
        return err_set(e, ERR_RANGE, "pace: level of servers is %d, expected 0 to %d", (int)s->level,
                       (int)s->inner->n_dims - 1);
    double most = 1;
    for (int32_t d = 0; d < s->level; d++) {
        most *= s->inner->dims[d].size;
        if (!(s->inner->dims[d].bw_Bps > 0))
            return err_set(e, ERR_RANGE, "pace: dimension %s has no bandwidth; give bw_GBps",
                           s->inner->dims[d].name);
    }
    for (int32_t k = 0; k < c->n_servers; k++)
        if (cluster_capacity(c, k, 0) > most)
            return err_set(e, ERR_RANGE,
                           "pace: server %d has %g GPUs, expected at most the %g that its network joins",
                           (int)k, cluster_capacity(c, k, 0), most);
    return 0;
}

/* settings.inner points into the site from here on: it must not be moved. */
static void site_take_inner(struct pace_site *x)
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
    x->settings.inner = &x->inner;
}

static void pace_site_free(struct pace_site *x)
{
    arena_free(&x->arena);
    free(x->tally);
    cluster_room_free(&x->room);
    footprint_map_free(&x->map);
    for (int32_t t = 0; t < CLUSTER_MAX_TYPES; t++)
        job_steps_free(x->steps[t]);
    *x = (struct pace_site){ 0 };
}

/* ERR_NOMEM, or ERR_RANGE as pace_graph_build(). */
static int pace_site_build(struct pace_site *x, const struct cluster *c,
                           const struct pace_graph_settings *settings, struct err *e)
{
    *x = (struct pace_site){ .c = c, .settings = *settings, .net = settings->net };
    int rc = site_check_settings(settings, c, e);
    if (rc)
        return rc;
    site_take_inner(x);
    x->reach_Bps = ARENA_TAKE(&x->arena, c->n_arcs + 1, *x->reach_Bps);
    x->tally_of = ARENA_TAKE(&x->arena, c->n_arcs + 1, *x->tally_of);
    x->seen = ARENA_TAKE(&x->arena, c->n_servers, *x->seen);
    if (x->arena.failed) {
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

/* ---- inside a server ---- */

/*
 * An all-reduce over n of its GPUs. Of a network they fill the innermost dimensions first; where they do not
 * fill the last one evenly, it is as slow as if they did. Pure arithmetic, asked once for each different
 * number of GPUs in a row of the place.
 */
static double site_inner_s(const struct pace_site *x, double bytes, int32_t n)
{
    int32_t members[TOPO_MAX_DIMS] = { 0 }, left = n;
    double bw_Bps[TOPO_MAX_DIMS];
    if (n == 1)
        return 0;
    if (!x->settings.inner)
        return bytes * (n - 1) / n * (2 / x->inner_Bps + 1 / x->settings.reduce_Bps);
    for (int32_t d = 0; d < x->inner.n_dims; d++) {
        int32_t size = x->inner.dims[d].size;
        members[d] = left < size ? left : size;
        left = (left + members[d] - 1) / members[d];
    }
    const struct collective_way way = { &x->inner, x->settings.rules,
                                        topo_get_bandwidths(bw_Bps, &x->inner) };
    struct collective_time time;
    collective_time(&time, COLLECTIVE_ALL_REDUCE, bytes, members, NULL, NULL, &way);
    return time.time_s;
}

/* ---- between servers ---- */

/* Streams of one job over an arc are one use with a count, so that maxmin.h looks at each link once. tally_of
 * makes it O(1) and is cleared by what was touched, not as a whole. */
static int site_add_tally(struct pace_site *x, int32_t arc, int32_t there, int32_t back, struct err *e)
{
    if (x->tally_of[arc] < 0) {
        if (!vec_reserve(x->tally, x->cap_tally, x->n_tally + 1))
            return err_nomem(e, "links of a job");
        x->tally_of[arc] = x->n_tally;
        x->tally[x->n_tally++] = (struct pace_tally){ arc, 0, 0 };
    }
    x->tally[x->tally_of[arc]].there += there;
    x->tally[x->tally_of[arc]].back += back;
    return 0;
}

/* Streams from one server to another; their latency, if it is longer than those so far. The latency of a path
 * is the sum over its links; *lat_s is the longest of all paths. */
static int site_add_streams(struct pace_site *x, int32_t from, int32_t to, int32_t there, int32_t back,
                            double *lat_s, struct err *e)
{
    struct cluster_path path;
    double sum_s = 0;
    int rc = cluster_find_path(&path, x->c, from, to, &x->room, e);
    for (int32_t i = 0; i < path.n && !rc; i++) {
        sum_s += x->c->lat_s[path.arcs[i]];
        rc = site_add_tally(x, path.arcs[i], there, back, e);
    }
    *lat_s = fmax(*lat_s, sum_s);
    return rc;
}

/* Inner and outer parts do not overlap, so what is inside goes to before_s. Servers with as many GPUs as the
 * one before are not asked again, as places mostly fill servers alike. */
static int comm_find_ring(struct pace_comm *m, struct pace_site *x, const struct job *job,
                          const struct pace_place *p, struct err *e)
{
    double share = (double)(p->n - 1) / p->n, lat_s = 0;
    int rc = 0;
    for (int32_t k = 0; k < p->n; k++)
        if (k == 0 || p->gpus[k] != p->gpus[k - 1])
            m->before_s = fmax(m->before_s, site_inner_s(x, job->gradient_B, p->gpus[k]));
    if (p->n == 1)
        return 0;
    for (int32_t k = 0; k < p->n && !rc; k++)
        rc = site_add_streams(x, p->servers[k], p->servers[(k + 1) % p->n], 1, 0, &lat_s, e);
    m->before_s += share * job->gradient_B / x->settings.reduce_Bps;
    m->latency_s = 2.0 * (p->n - 1) * lat_s;
    m->volume_B = 2 * share * job->gradient_B;
    return rc;
}

/* Parameter servers on the k-th server of a place. */
static int32_t comm_param_servers_on(const struct job *job, const struct pace_place *p, int32_t k)
{
    return job->param_servers / p->n + (k < job->param_servers % p->n ? 1 : 0);
}

/* O(servers²) paths: each worker server to each server with a parameter server. The floor runs beside the
 * links. */
static int comm_find_stars(struct pace_comm *m, struct pace_site *x, const struct job *job,
                           const struct pace_place *p, struct err *e)
{
    double lat_s = 0, busiest = 0, stream_B = 2 * job->gradient_B / job->param_servers;
    int rc = 0;
    for (int32_t to = 0; to < p->n && comm_param_servers_on(job, p, to) > 0; to++) {
        int32_t n = comm_param_servers_on(job, p, to);
        busiest = fmax(busiest, fmax(n, p->gpus[to]));
        for (int32_t from = 0; from < p->n && !rc; from++) {
            if (from == to)
                continue;
            rc = site_add_streams(x, p->servers[from], p->servers[to], n * p->gpus[from], 0, &lat_s, e);
            if (!rc)
                rc = site_add_streams(x, p->servers[to], p->servers[from], 0, n * p->gpus[from], &lat_s, e);
        }
    }
    m->floor_s = stream_B * busiest / x->inner_Bps;
    m->latency_s = p->n > 1 ? 2 * lat_s : 0;
    m->volume_B = p->n > 1 ? stream_B : 0;
    return rc;
}

/* Of the tally. Streams move their volume on the way there, or half of it there and then half of it back: at
 * one time only those of one way are on a link. */
static int comm_take_uses(struct pace_comm *m, const struct pace_site *x, bool both_ways, struct err *e)
{
    m->uses = malloc((size_t)(x->n_tally + 1) * sizeof *m->uses);
    m->sent_B = malloc((size_t)(x->n_tally + 1) * sizeof *m->sent_B);
    if (!m->uses || !m->sent_B)
        return err_nomem(e, "links of a job");
    for (int32_t i = 0; i < x->n_tally; i++) {
        const struct pace_tally *t = &x->tally[i];
        m->uses[i] = (struct maxmin_use){ t->arc, t->there > t->back ? t->there : t->back };
        m->sent_B[i] = ((double)t->there + t->back) * m->volume_B / (both_ways ? 2 : 1);
    }
    m->n_uses = x->n_tally;
    return 0;
}

/*
 * Schedulers are modules of their own: a place that is wrong must not corrupt the sums. `seen` is put back.
 */
static int site_check_place(struct pace_site *x, const struct job *job, int32_t number,
                            const struct pace_place *p, struct err *e)
{
    char name[JOB_NAME];
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
    return err_set(
        e, ERR_RANGE, "job %s: its place holds %lld GPUs on %d servers%s, expected %d, each server once",
        job_name(name, job, number), (long long)gpus, (int)k, twice ? ", one twice" : "", (int)job->gpus);
}

/* ---- of a job that trains a model ---- */

/* Arcs out of a group of outer dimension @p o. */
static const int32_t *site_arcs_out(const struct pace_site *x, int32_t o, int32_t group, int32_t *n)
{
    const int32_t *first = x->map.first[o];
    *n = first[group + 1] - first[group];
    return x->map.arcs[o] + first[group];
}

/* Up to a box, from where it comes down again; between servers each end has its own arc out. */
static bool site_returns(const struct pace_site *x, int32_t arc)
{
    return x->c->routes.to[arc] >= x->c->n_servers;
}

/* Bytes on all links of a touched group, out and back. */
static int comm_add_sent(struct pace_comm *m, int32_t *cap, const struct pace_site *x, int32_t o,
                         int32_t group, struct err *e)
{
    int32_t n, gpus = x->map.gpus[group];
    const int32_t *arcs = site_arcs_out(x, o, group, &n);
    double each_B = m->step->load_B[x->map.level + o] * gpus / n;
    if (m->n_uses + 2 * n > *cap) {
        int32_t room = 2 * (m->n_uses + 2 * n);
        if (!vec_resize(m->uses, room) || !vec_resize(m->sent_B, room))
            return err_nomem(e, "links of a job");
        *cap = room;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t back = 0; back <= (site_returns(x, arcs[i]) ? 1 : 0); back++) {
            m->uses[m->n_uses] = (struct maxmin_use){ arcs[i] ^ back, gpus };
            m->sent_B[m->n_uses++] = each_B;
        }
    return 0;
}

/* What max-min sharing looks at. Where all jobs are models, the links of a group are always equally full: one
 * stands for all. */
static int comm_add_level(struct pace_comm *m, const struct pace_site *x, int32_t o, int32_t n_groups,
                          struct err *e)
{
    int32_t d = x->map.level + o, n_arcs = 0, n;
    const struct topo_dim *dim = &x->map.net->dims[d];
    struct pace_level *l = &m->levels[m->n_levels];
    for (int32_t i = 0; i < n_groups; i++, n_arcs += n)
        site_arcs_out(x, o, x->map.touched[i], &n);
    *l = (struct pace_level){ .dim = d,
                              .port_Bps = m->step->bw_Bps[d - dim->level] * dim->efficiency,
                              .load_B = m->step->load_B[d],
                              .uses = malloc((size_t)(2 * n_arcs + 1) * sizeof *l->uses) };
    if (!l->uses)
        return err_nomem(e, "links of a job");
    m->n_levels++;
    for (int32_t i = 0; i < n_groups; i++) {
        int32_t group = x->map.touched[i];
        const int32_t *arcs = site_arcs_out(x, o, group, &l->lanes);
        for (int32_t k = 0; k < (x->mixed ? l->lanes : 1); k++)
            for (int32_t back = 0; back <= (x->mixed && site_returns(x, arcs[k]) ? 1 : 0); back++)
                l->uses[l->n_uses++] = (struct maxmin_use){ arcs[k] ^ back, x->map.gpus[group] };
    }
    return 0;
}

/* Ports belong to one server, whose jobs have one each: they are shared only with jobs that take all of them,
 * those that are no models. */
static int comm_find_level(struct pace_comm *m, int32_t *cap, struct pace_site *x, int32_t o,
                           const struct pace_place *p, struct err *e)
{
    int32_t d = x->map.level + o;
    if (!(m->step->load_B[d] > 0))
        return 0;
    int32_t n = footprint_touch(&x->map, o, p);
    int rc = 0;
    for (int32_t i = 0; i < n && !rc; i++)
        rc = comm_add_sent(m, cap, x, o, x->map.touched[i], e);
    if (!rc && (x->mixed || x->map.net->dims[d].level > 0))
        rc = comm_add_level(m, x, o, n, e);
    footprint_forget(&x->map, n);
    return rc;
}

static int comm_find_model(struct pace_comm *m, struct pace_site *x, const struct job *job, int32_t number,
                           const struct pace_place *p, struct err *e)
{
    int32_t size[TOPO_MAX_DIMS], cap = 0;
    char name[JOB_NAME];
    footprint_sizes(size, &x->map, p);
    int32_t type = cluster_type(x->c, p->servers[0]);
    int rc = job_steps_find(&m->step, x->steps[type], &job->model[type], size, e);
    if (rc)
        return rc == ERR_NOMEM ? rc : err_wrap(e, "job %s", job_name(name, job, number));
    m->levels = calloc((size_t)x->map.n_outer, sizeof *m->levels);
    if (!m->levels)
        return err_nomem(e, "links of a job");
    for (int32_t o = 0; o < x->map.n_outer && !rc; o++)
        rc = comm_find_level(m, &cap, x, o, p, e);
    return rc;
}

/* The rate of a bundle that nobody else disturbs. */
static double level_alone_Bps(const struct pace_level *l, const struct pace_site *x)
{
    double rate_Bps = l->port_Bps / l->lanes;
    for (int32_t i = 0; i < l->n_uses; i++)
        rate_Bps = fmin(rate_Bps, x->reach_Bps[l->uses[i].link] / l->uses[i].count);
    return rate_Bps;
}

/* The step with these rates of its bundles, shape [n_levels]. */
static double comm_step_s(const struct pace_comm *m, const struct pace_site *x, const double *rate_Bps)
{
    double bw_Bps[TOPO_MAX_DIMS];
    memcpy(bw_Bps, m->step->bw_Bps, sizeof bw_Bps);
    for (int32_t i = 0; i < m->n_levels; i++)
        bw_Bps[m->levels[i].dim] =
            rate_Bps[i] * m->levels[i].lanes / x->map.net->dims[m->levels[i].dim].efficiency;
    return step_time(&m->step->fn, bw_Bps) / m->step->model->kept;
}

/* The terms of job at place. ERR_NOMEM, and as begin() of pace.h; out is then to be freed. A job on one GPU,
 * or with nothing to send, has no terms: its iteration is its compute. */
static int pace_comm_find(struct pace_comm *out, struct pace_site *x, const struct job *job, int32_t number,
                          const struct pace_place *place, struct err *e)
{
    int rc = site_check_place(x, job, number, place, e);
    if (!rc)
        out->speed = job->speed[cluster_type(x->c, place->servers[0])];
    if (!rc && job->model)
        return comm_find_model(out, x, job, number, place, e);
    if (rc || (job->gpus == 1 && job->param_servers == 0) || !(job->gradient_B > 0))
        return rc;
    rc = (job->param_servers ? comm_find_stars : comm_find_ring)(out, x, job, place, e);
    if (!rc)
        rc = comm_take_uses(out, x, job->param_servers > 0, e);
    for (int32_t i = 0; i < x->n_tally; i++)
        x->tally_of[x->tally[i].arc] = -1;
    x->n_tally = 0;
    return rc;
}

/* Iteration time at rate rate_Bps of each stream, not read where nothing is sent between servers. */
static double pace_comm_iteration_s(const struct pace_comm *m, const struct job *job, double rate_Bps)
{
    double between_s = m->volume_B > 0 ? m->latency_s + m->volume_B / rate_Bps : 0;
    return job->compute_s / m->speed +
           fmax(0, m->before_s + fmax(m->floor_s, between_s) - job->hidden_s / m->speed);
}

/* Rate alone: that of the arc which has least for each stream; INFINITY without any. */
static double pace_comm_alone_Bps(const struct pace_comm *m, const struct pace_site *x)
{
    double rate_Bps = INFINITY;
    for (int32_t i = 0; i < m->n_uses; i++)
        rate_Bps = fmin(rate_Bps, x->reach_Bps[m->uses[i].link] / m->uses[i].count);
    return rate_Bps;
}

/* Of a job that has its links to itself. */
static double pace_comm_alone_s(const struct pace_comm *m, const struct pace_site *x, const struct job *job)
{
    double rate_Bps[TOPO_MAX_DIMS];
    if (!m->step)
        return pace_comm_iteration_s(m, job, pace_comm_alone_Bps(m, x));
    for (int32_t i = 0; i < m->n_levels; i++)
        rate_Bps[i] = level_alone_Bps(&m->levels[i], x);
    return comm_step_s(m, x, rate_Bps);
}

const char *const pace_contention_words[N_PACE_CONTENTIONS + 1] = { "none", "shared" };
const char *const pace_duty_words[N_PACE_DUTIES + 1] = { "always", "interleaved" };

/* Of one job; its terms are empty and its load is 0 while it does not run. */
struct graph_job {
    struct pace_comm comm;
    double alone_s, iteration_s;
    double often_Hz; /**< iterations a second, as they stand in the loads of arcs */
    bool runs, listed;
};

struct graph_arc {
    double bytes, load_Bps, peak_Bps;
};

struct pace_graph {
    struct arena arena; /**< of the arrays below */
    struct pace_site site;
    const struct job *jobs;
    int32_t n_jobs, n_each;  /**< n_each: bundles of a job, at most */
    struct graph_job *state; /**< shape [n_jobs], owned */
    struct graph_arc *arcs;  /**< shape [n_arcs], owned */
    struct maxmin *sharing;  /**< owned; NULL without contention */
    int32_t *begun, n_begun; /**< since the last changed(); shape [n_jobs], owned */
    int32_t *listed;         /**< answer of changed(); shape [n_jobs], owned */
};

/* ---- loads ---- */

/* The difference to what is in the sums already; 0 takes the job out. */
static void graph_change_load(struct pace_graph *g, struct graph_job *j, double often_Hz)
{
    for (int32_t i = 0; i < j->comm.n_uses; i++)
        g->arcs[j->comm.uses[i].link].load_Bps += j->comm.sent_B[i] * (often_Hz - j->often_Hz);
    j->often_Hz = often_Hz;
}

/* After all changes of one time are in: a peak between two of them was never there. */
static void graph_note_peaks(struct pace_graph *g, const struct graph_job *j)
{
    for (int32_t i = 0; i < j->comm.n_uses; i++) {
        struct graph_arc *arc = &g->arcs[j->comm.uses[i].link];
        arc->peak_Bps = fmax(arc->peak_Bps, arc->load_Bps);
    }
}

/* ---- as a model of speed ---- */

/* Bundles of a job that others may slow down. */
static int32_t graph_bundles(const struct pace_graph *g, const struct graph_job *j)
{
    if (!g->sharing)
        return 0;
    return j->comm.step ? j->comm.n_levels : j->comm.volume_B > 0;
}

/* The number of a job's bundle @p i. */
static int32_t graph_bundle(const struct pace_graph *g, int32_t job, int32_t i)
{
    return job * g->n_each + i;
}

/* With interleaving a job asks for no more than its mean rate alone. */
static int graph_place(struct pace_graph *g, int32_t job, int32_t i, struct err *e)
{
    const struct graph_job *j = &g->state[job];
    const struct pace_comm *m = &j->comm;
    bool capped = g->site.settings.duty == PACE_DUTY_INTERLEAVED;
    if (!m->step)
        return maxmin_place(g->sharing, job * g->n_each, m->uses, m->n_uses,
                            capped ? m->volume_B / j->alone_s : (double)INFINITY, e);
    const struct pace_level *l = &m->levels[i];
    double most_Bps = capped ? fmin(l->port_Bps, l->load_B / j->alone_s) : l->port_Bps;
    return maxmin_place(g->sharing, graph_bundle(g, job, i), l->uses, l->n_uses, most_Bps / l->lanes, e);
}

/* What fails leaves no trace of the job. */
static int graph_begin(void *x, int32_t job, const struct pace_place *place, struct err *e)
{
    struct pace_graph *g = x;
    struct graph_job *j = &g->state[job];
    int rc = pace_comm_find(&j->comm, &g->site, &g->jobs[job], job, place, e);
    if (!rc)
        j->alone_s = pace_comm_alone_s(&j->comm, &g->site, &g->jobs[job]);
    int32_t n = rc ? 0 : graph_bundles(g, j), placed = 0;
    while (placed < n && !rc && !(rc = graph_place(g, job, placed, e)))
        placed++;
    if (rc) {
        while (placed > 0)
            maxmin_remove(g->sharing, graph_bundle(g, job, --placed));
        pace_comm_free(&j->comm);
        return rc;
    }
    for (int32_t i = 0; i < n; i++)
        maxmin_join(g->sharing, graph_bundle(g, job, i));
    j->runs = true;
    j->iteration_s = j->alone_s;
    if (!j->listed) {
        j->listed = true;
        g->begun[g->n_begun++] = job;
    }
    return 0;
}

static void graph_end(void *x, int32_t job)
{
    struct pace_graph *g = x;
    struct graph_job *j = &g->state[job];
    graph_change_load(g, j, 0);
    for (int32_t i = 0; i < graph_bundles(g, j); i++)
        maxmin_remove(g->sharing, graph_bundle(g, job, i));
    pace_comm_free(&j->comm);
    j->runs = false;
}

static double graph_shared_step_s(const struct pace_graph *g, int32_t job)
{
    const struct graph_job *j = &g->state[job];
    double rate_Bps[TOPO_MAX_DIMS], least_s = j->alone_s;
    for (int32_t i = 0; i < j->comm.n_levels; i++) {
        rate_Bps[i] = maxmin_rate(g->sharing, graph_bundle(g, job, i));
        least_s = fmax(least_s, j->comm.levels[i].load_B / (rate_Bps[i] * j->comm.levels[i].lanes));
    }
    return g->site.settings.duty == PACE_DUTY_INTERLEAVED ? least_s
                                                          : comm_step_s(&j->comm, &g->site, rate_Bps);
}

/* With interleaving the share is of mean rates: volume over rate is the whole iteration. */
static double graph_shared_s(const struct pace_graph *g, int32_t job)
{
    const struct graph_job *j = &g->state[job];
    double rate_Bps = maxmin_rate(g->sharing, graph_bundle(g, job, 0));
    if (j->comm.step)
        return graph_shared_step_s(g, job);
    if (g->site.settings.duty == PACE_DUTY_INTERLEAVED)
        return fmax(j->alone_s, j->comm.volume_B / rate_Bps);
    return pace_comm_iteration_s(&j->comm, &g->jobs[job], rate_Bps);
}

/*
 * `listed` keeps a job from standing twice in the answer; those that began and ended in between are dropped.
 */
static int graph_changed(void *x, const int32_t **jobs, int32_t *n, struct err *e)
{
    struct pace_graph *g = x;
    const int32_t *moved = NULL;
    int32_t n_moved = 0;
    (void)e;
    *n = 0;
    if (g->sharing)
        maxmin_settle(g->sharing, &moved, &n_moved);
    for (int32_t i = 0; i < g->n_begun; i++) {
        struct graph_job *j = &g->state[g->begun[i]];
        j->listed = j->runs;
        if (j->runs)
            g->listed[(*n)++] = g->begun[i];
    }
    g->n_begun = 0;
    for (int32_t i = 0; i < n_moved; i++) {
        struct graph_job *j = &g->state[moved[i] / g->n_each];
        if (!j->listed)
            g->listed[(*n)++] = moved[i] / g->n_each;
        j->listed = true;
    }
    for (int32_t i = 0; i < *n; i++) {
        struct graph_job *j = &g->state[g->listed[i]];
        j->listed = false;
        if (graph_bundles(g, j) > 0)
            j->iteration_s = graph_shared_s(g, g->listed[i]);
        graph_change_load(g, j, 1 / j->iteration_s);
    }
    for (int32_t i = 0; i < *n; i++)
        graph_note_peaks(g, &g->state[g->listed[i]]);
    *jobs = g->listed;
    return 0;
}

static double graph_iteration_s(const void *x, int32_t job)
{
    const struct pace_graph *g = x;
    return g->state[job].iteration_s;
}

static void graph_free(void *x)
{
    struct pace_graph *g = x;
    if (!g)
        return;
    for (int32_t i = 0; g->state && i < g->n_jobs; i++)
        pace_comm_free(&g->state[i].comm);
    pace_site_free(&g->site);
    maxmin_free(g->sharing);
    arena_free(&g->arena);
    free(g);
}

static int graph_reserve(struct pace_graph *g, struct err *e)
{
    size_t n = (size_t)g->n_jobs + 1;
    g->state = ARENA_TAKE(&g->arena, n, *g->state);
    g->arcs = ARENA_TAKE(&g->arena, g->site.c->n_arcs + 1, *g->arcs);
    g->begun = ARENA_TAKE(&g->arena, n, *g->begun);
    g->listed = ARENA_TAKE(&g->arena, n, *g->listed);
    if (g->arena.failed)
        return err_nomem(e, "jobs");
    if (g->site.settings.contention == PACE_CONTENTION_NONE)
        return 0;
    /* Rates may be off by keep_rate, and a link sums up those of many streams. */
    const struct maxmin_settings settings = {
        .same_rate = 1 + 0x1p-38, .keep_rate = 1 + 0x1p-40, .rounds = 8, .n_capped = g->n_jobs * g->n_each
    };
    return maxmin_build(&g->sharing, g->site.reach_Bps, g->site.c->n_arcs, &settings, e);
}

/* What jobs that are models need: the groups of their cluster, and room for their steps. */
static int graph_take_models(struct pace_graph *g, struct err *e)
{
    struct pace_site *x = &g->site;
    bool any = false;
    for (int32_t i = 0; i < g->n_jobs; i++) {
        any = any || g->jobs[i].model;
        x->mixed = x->mixed || (!g->jobs[i].model && g->jobs[i].gradient_B > 0);
    }
    if (!any)
        return 0;
    if (!x->net)
        return err_set(e, ERR_RANGE, "pace: jobs that are models need a described network");
    g->n_each = x->net->n_dims - x->settings.level;
    if ((int64_t)g->n_jobs * g->n_each > INT32_MAX)
        return err_set(e, ERR_RANGE, "pace: too many jobs that are models");
    int rc = footprint_map_build(&x->map, x->c, x->net, x->settings.level, e);
    for (int32_t t = 0; t < x->c->n_types && !rc; t++)
        rc = job_steps_build(&x->steps[t], x->settings.types ? &x->settings.types[t] : x->net,
                             x->settings.level, e);
    return rc;
}

int pace_graph_build(struct pace *out, const struct cluster *c, const struct job *jobs, int32_t n_jobs,
                     const struct pace_graph_settings *settings, struct err *e)
{
    *out = (struct pace){ NULL, graph_begin, graph_end, graph_changed, graph_iteration_s, graph_free };
    struct pace_graph *g = calloc(1, sizeof *g);
    if (!g)
        return err_nomem(e, "a model of links");
    g->jobs = jobs;
    g->n_jobs = n_jobs;
    g->n_each = 1;
    int rc = pace_site_build(&g->site, c, settings, e);
    if (!rc)
        rc = graph_take_models(g, e);
    if (!rc)
        rc = graph_reserve(g, e);
    if (rc) {
        graph_free(g);
        return rc;
    }
    out->x = g;
    return 0;
}

/* ---- what more it can tell ---- */

struct pace_graph *pace_graph_of(const struct pace *pace)
{
    return pace->free == graph_free ? pace->x : NULL;
}

double pace_graph_alone_s(const struct pace_graph *g, int32_t job)
{
    return g->state[job].alone_s;
}

void pace_graph_count(struct pace_graph *g, int32_t job, double iterations)
{
    const struct pace_comm *m = &g->state[job].comm;
    for (int32_t i = 0; i < m->n_uses; i++)
        g->arcs[m->uses[i].link].bytes += m->sent_B[i] * iterations;
}

void pace_graph_spread(const struct pace_graph *g, int32_t job, double iterations, struct link_bins *bins,
                       double from_s, double to_s)
{
    const struct pace_comm *m = &g->state[job].comm;
    for (int32_t i = 0; i < m->n_uses; i++)
        link_bins_add(bins, m->uses[i].link, m->sent_B[i] * iterations, from_s, to_s);
}

struct pace_graph_use pace_graph_arc(const struct pace_graph *g, int32_t arc)
{
    double reach_Bps = g->site.reach_Bps[arc];
    return (struct pace_graph_use){ g->arcs[arc].bytes, reach_Bps, g->arcs[arc].peak_Bps / reach_Bps };
}

void pace_graph_reset(struct pace_graph *g)
{
    for (int32_t a = 0; a < g->site.c->n_arcs; a++)
        g->arcs[a] = (struct graph_arc){ 0 };
}
