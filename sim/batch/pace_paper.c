#include "sim/batch/pace_paper.h"

#include <stdlib.h>

/* One job; place.n == 0: it does not run. */
struct runner {
    struct pace_place place;
    double iteration_s; /* 0: not known yet */
    bool touched;       /* in `touched` */
};

/* The jobs on one server that are on others as well. */
struct meeting {
    int32_t *jobs; /* shape [n], borrowed from `met` */
    int32_t n;
};

struct paper {
    struct contention c;
    const struct batch_job *jobs;
    struct runner *runners;   /* shape [n_jobs], owned */
    struct meeting *meetings; /* shape [n_servers], owned */
    int32_t *met;             /* owned; room for as many jobs on a server as it has GPUs */
    int32_t *touched;         /* shape [n_jobs], owned; jobs whom a start or an end may have changed */
    int32_t *changed;         /* shape [n_jobs], owned */
    int32_t n_touched;
};

static void touch(struct paper *m, int32_t job)
{
    if (m->runners[job].touched)
        return;
    m->runners[job].touched = true;
    m->touched[m->n_touched++] = job;
}

static void touch_meeting(struct paper *m, const struct meeting *on)
{
    for (int32_t i = 0; i < on->n; i++)
        touch(m, on->jobs[i]);
}

static int begin(void *x, int32_t job, const struct pace_place *place, struct err *e)
{
    struct paper *m = x;
    (void)e;
    m->runners[job].place = *place;
    m->runners[job].iteration_s = 0;
    touch(m, job);
    for (int32_t i = 0; place->n > 1 && i < place->n; i++) {
        struct meeting *on = &m->meetings[place->servers[i]];
        touch_meeting(m, on);
        on->jobs[on->n++] = job;
    }
    return 0;
}

static void end(void *x, int32_t job)
{
    struct paper *m = x;
    struct pace_place *place = &m->runners[job].place;
    for (int32_t i = 0; place->n > 1 && i < place->n; i++) {
        struct meeting *on = &m->meetings[place->servers[i]];
        int32_t at = 0;
        while (on->jobs[at] != job)
            at++;
        on->jobs[at] = on->jobs[--on->n];
        touch_meeting(m, on);
    }
    place->n = 0;
}

static double time_now(const struct paper *m, int32_t job)
{
    const struct pace_place *place = &m->runners[job].place;
    int32_t p = 0;
    for (int32_t i = 0; place->n > 1 && i < place->n; i++) {
        int32_t here = m->meetings[place->servers[i]].n;
        p = here > p ? here : p;
    }
    return contention_iteration_s(&m->c, &m->jobs[job], place->n, p);
}

static int changed(void *x, const int32_t **jobs, int32_t *n, struct err *e)
{
    struct paper *m = x;
    (void)e;
    *n = 0;
    for (int32_t i = 0; i < m->n_touched; i++) {
        struct runner *r = &m->runners[m->touched[i]];
        r->touched = false;
        if (r->place.n == 0)
            continue;
        double iteration_s = time_now(m, m->touched[i]);
        if (iteration_s != r->iteration_s)
            m->changed[(*n)++] = m->touched[i];
        r->iteration_s = iteration_s;
    }
    m->n_touched = 0;
    *jobs = m->changed;
    return 0;
}

static double iteration_s(const void *x, int32_t job)
{
    return ((const struct paper *)x)->runners[job].iteration_s;
}

static void paper_free(void *x)
{
    struct paper *m = x;
    if (!m)
        return;
    free(m->runners);
    free(m->meetings);
    free(m->met);
    free(m->touched);
    free(m->changed);
    free(m);
}

int pace_paper_build(struct pace *out, const struct contention *c, const struct batch_problem *p,
                     struct err *e)
{
    *out = (struct pace){ NULL, begin, end, changed, iteration_s, paper_free };
    int rc = contention_check(c, e);
    if (!rc)
        rc = batch_check(p, e);
    if (rc)
        return rc;

    struct paper *m = calloc(1, sizeof *m);
    if (!m)
        return err_nomem(e, "speeds of jobs");
    int32_t n_gpus = 0;
    for (int32_t s = 0; s < p->cluster.n_servers; s++)
        n_gpus += p->cluster.gpus[s];
    m->c = *c;
    m->jobs = p->jobs;
    m->runners = calloc((size_t)p->n_jobs, sizeof *m->runners);
    m->meetings = calloc((size_t)p->cluster.n_servers, sizeof *m->meetings);
    m->met = calloc((size_t)n_gpus, sizeof *m->met);
    m->touched = calloc((size_t)p->n_jobs, sizeof *m->touched);
    m->changed = calloc((size_t)p->n_jobs, sizeof *m->changed);
    if (!m->runners || !m->meetings || !m->met || !m->touched || !m->changed) {
        paper_free(m);
        return err_nomem(e, "speeds of jobs");
    }
    for (int32_t s = 0, at = 0; s < p->cluster.n_servers; at += p->cluster.gpus[s], s++)
        m->meetings[s].jobs = m->met + at;
    out->x = m;
    return 0;
}
