/* What a run ends with: jobs that did not, and means over all. */
#include <math.h>
#include <stdlib.h>

#include "base/stat.h"
#include "sim/events/events_state.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int sum_done(struct events_state *x, struct err *e)
{
    struct events_result *out = x->out;
    double *jct_s = malloc((size_t)out->n_jobs * sizeof *jct_s), wait_s = 0, slowdown = 0, sum_s = 0;
    int32_t n = 0;
    if (!jct_s)
        return err_nomem(e, "completion times");
    for (int32_t i = 0; i < out->n_jobs; i++)
        if (out->jobs[i].end == EVENTS_DONE) {
            jct_s[n++] = out->jobs[i].jct_s;
            sum_s += out->jobs[i].jct_s;
            wait_s += out->jobs[i].wait_s;
            slowdown += out->jobs[i].slowdown;
        }
    out->mean_jct_s = sum_s / n;
    out->mean_wait_s = wait_s / n;
    out->mean_slowdown = slowdown / n;
    qsort(jct_s, (size_t)n, sizeof *jct_s, by_value);
    out->median_jct_s = stat_quantile(jct_s, n, 0.5);
    out->p95_jct_s = stat_quantile(jct_s, n, 0.95);
    out->p99_jct_s = stat_quantile(jct_s, n, 0.99);
    free(jct_s);
    return 0;
}

static void sum_wide(struct events_state *x)
{
    struct events_result *out = x->out;
    int32_t n_moved = 0;
    double sum = 0;
    for (int32_t i = 0; i < out->n_jobs; i++) {
        struct events_job *r = &out->jobs[i];
        r->stretch = x->live[i].alone_s > 0 ? x->live[i].moved_s / x->live[i].alone_s : (double)NAN;
        out->stops += r->stops;
        if (r->servers < 2)
            continue;
        out->n_wide++;
        if (!isnan(r->stretch)) {
            sum += r->stretch;
            n_moved++;
        }
    }
    out->mean_stretch = sum / n_moved;
}

static int sum_arcs(struct events_state *x, struct err *e)
{
    struct events_result *out = x->out;
    if (!x->graph)
        return 0;
    out->n_arcs = x->p->cluster->n_arcs;
    out->arcs = malloc((size_t)out->n_arcs * sizeof *out->arcs + 1);
    if (!out->arcs)
        return err_nomem(e, "links");
    for (int32_t a = 0; a < out->n_arcs; a++) {
        struct pace_graph_use use = pace_graph_arc(x->graph, a);
        double could_B = use.reach_Bps * out->makespan_s;
        out->arcs[a] =
            (struct events_arc){ use.bytes, use.bytes > 0 ? use.bytes / could_B : 0, use.peak_frac };
    }
    return 0;
}

int events_sum_up(struct events_state *x, struct err *e)
{
    struct events_result *out = x->out;
    int rc = 0;
    for (int32_t i = 0; i < x->n_running && !rc; i++) {
        rc = events_leave(x, x->running[i], e);
        out->jobs[x->running[i]].end = EVENTS_RUNS;
    }
    for (int32_t i = 0; i < x->waiting.n; i++)
        out->jobs[order_list_at(&x->waiting, i)].end = EVENTS_WAITS;
    if (!rc)
        rc = sum_done(x, e);
    sum_wide(x);
    out->last_s = x->now_s;
    out->makespan_s = out->last_s - out->first_s;
    out->gpu_frac = out->makespan_s > 0 ? x->held_gpu_s / (x->total[0] * out->makespan_s) : 0;
    return rc ? rc : sum_arcs(x, e);
}
