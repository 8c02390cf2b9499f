#include "sim/events/pace_graph.h"

#include <math.h>
#include <stdlib.h>

#include "sim/events/pace_comm.h"

const char *const pace_contention_words[N_PACE_CONTENTIONS + 1] = { "none", "shared" };
const char *const pace_duty_words[N_PACE_DUTIES + 1] = { "always", "interleaved" };

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
    struct pace_site site;
    const struct gang_job *jobs;
    int32_t n_jobs;
    struct graph_job *state;   /**< shape [n_jobs], owned */
    struct graph_arc *arcs;    /**< shape [n_arcs], owned */
    struct lockstep *lockstep; /**< owned; NULL without contention */
    int32_t *begun, n_begun;   /**< since the last changed(); shape [n_jobs], owned */
    int32_t *listed;           /**< answer of changed(); shape [n_jobs], owned */
};

struct pace_graph_settings pace_graph_settings_default(void)
{
    return (struct pace_graph_settings){ .contention = PACE_CONTENTION_SHARED,
                                         .inner_Bps = INFINITY,
                                         .reduce_Bps = INFINITY };
}

/* ---- loads ---- */

static void change_load(struct pace_graph *g, struct graph_job *j, double often_Hz)
{
    for (int32_t i = 0; i < j->comm.n_uses; i++)
        g->arcs[j->comm.uses[i].link].load_Bps += j->comm.sent_B[i] * (often_Hz - j->often_Hz);
    j->often_Hz = often_Hz;
}

static void note_peaks(struct pace_graph *g, const struct graph_job *j)
{
    for (int32_t i = 0; i < j->comm.n_uses; i++) {
        struct graph_arc *arc = &g->arcs[j->comm.uses[i].link];
        arc->peak_Bps = fmax(arc->peak_Bps, arc->load_Bps);
    }
}

/* ---- as a model of speed ---- */

/* Does its speed depend on others? */
static bool shares(const struct pace_graph *g, const struct graph_job *j)
{
    return g->lockstep && j->comm.volume_B > 0;
}

static int begin(void *x, int32_t job, const struct pace_place *place, struct err *e)
{
    struct pace_graph *g = x;
    struct graph_job *j = &g->state[job];
    int rc = pace_comm_find(&j->comm, &g->site, &g->jobs[job], job, place, e);
    if (!rc) {
        j->alone_s = pace_comm_iteration_s(&j->comm, &g->jobs[job], pace_comm_alone_Bps(&j->comm, &g->site));
        bool capped = g->site.settings.duty == PACE_DUTY_INTERLEAVED;
        if (shares(g, j))
            rc = lockstep_add(g->lockstep, job, j->comm.uses, j->comm.n_uses,
                              capped ? j->comm.volume_B / j->alone_s : (double)INFINITY, e);
    }
    if (rc) {
        pace_comm_free(&j->comm);
        return rc;
    }
    j->runs = true;
    j->iteration_s = j->alone_s;
    if (!j->listed) {
        j->listed = true;
        g->begun[g->n_begun++] = job;
    }
    return 0;
}

static void end(void *x, int32_t job)
{
    struct pace_graph *g = x;
    struct graph_job *j = &g->state[job];
    change_load(g, j, 0);
    if (shares(g, j))
        lockstep_remove(g->lockstep, job);
    pace_comm_free(&j->comm);
    j->runs = false;
}

static double shared_s(const struct pace_graph *g, int32_t job)
{
    const struct graph_job *j = &g->state[job];
    double rate_Bps = lockstep_rate(g->lockstep, job);
    if (g->site.settings.duty == PACE_DUTY_INTERLEAVED)
        return fmax(j->alone_s, j->comm.volume_B / rate_Bps);
    return pace_comm_iteration_s(&j->comm, &g->jobs[job], rate_Bps);
}

static int changed(void *x, const int32_t **jobs, int32_t *n, struct err *e)
{
    struct pace_graph *g = x;
    const int32_t *moved = NULL;
    int32_t n_moved = 0;
    (void)e;
    *n = 0;
    if (g->lockstep)
        lockstep_settle(g->lockstep, &moved, &n_moved);
    for (int32_t i = 0; i < g->n_begun; i++) {
        struct graph_job *j = &g->state[g->begun[i]];
        j->listed = j->runs;
        if (j->runs)
            g->listed[(*n)++] = g->begun[i];
    }
    g->n_begun = 0;
    for (int32_t i = 0; i < n_moved; i++)
        if (!g->state[moved[i]].listed)
            g->listed[(*n)++] = moved[i];
    for (int32_t i = 0; i < *n; i++) {
        struct graph_job *j = &g->state[g->listed[i]];
        j->listed = false;
        if (shares(g, j))
            j->iteration_s = shared_s(g, g->listed[i]);
        change_load(g, j, 1 / j->iteration_s);
    }
    for (int32_t i = 0; i < *n; i++)
        note_peaks(g, &g->state[g->listed[i]]);
    *jobs = g->listed;
    return 0;
}

static double iteration_s(const void *x, int32_t job)
{
    const struct pace_graph *g = x;
    return g->state[job].iteration_s;
}

static void release(void *x)
{
    struct pace_graph *g = x;
    if (!g)
        return;
    for (int32_t i = 0; g->state && i < g->n_jobs; i++)
        pace_comm_free(&g->state[i].comm);
    pace_site_free(&g->site);
    lockstep_free(g->lockstep);
    free(g->state);
    free(g->arcs);
    free(g->begun);
    free(g->listed);
    free(g);
}

static int reserve(struct pace_graph *g, struct err *e)
{
    size_t n = (size_t)g->n_jobs + 1;
    g->state = calloc(n, sizeof *g->state);
    g->arcs = calloc((size_t)g->site.c->n_arcs + 1, sizeof *g->arcs);
    g->begun = malloc(n * sizeof *g->begun);
    g->listed = malloc(n * sizeof *g->listed);
    if (!g->state || !g->arcs || !g->begun || !g->listed)
        return err_nomem(e, "jobs");
    if (g->site.settings.contention == PACE_CONTENTION_NONE)
        return 0;
    return lockstep_build(&g->lockstep, g->site.reach_Bps, g->site.c->n_arcs, g->n_jobs, e);
}

int pace_graph_build(struct pace *out, const struct cluster *c, const struct gang_job *jobs, int32_t n_jobs,
                     const struct pace_graph_settings *settings, struct err *e)
{
    *out = (struct pace){ NULL, begin, end, changed, iteration_s, release };
    struct pace_graph *g = calloc(1, sizeof *g);
    if (!g)
        return err_nomem(e, "a model of links");
    g->jobs = jobs;
    g->n_jobs = n_jobs;
    int rc = pace_site_build(&g->site, c, settings, e);
    if (!rc)
        rc = reserve(g, e);
    if (rc) {
        release(g);
        return rc;
    }
    out->x = g;
    return 0;
}

/* ---- what more it can tell ---- */

struct pace_graph *pace_graph_of(const struct pace *pace)
{
    return pace->free == release ? pace->x : NULL;
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
