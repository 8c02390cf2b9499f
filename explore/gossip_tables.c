/* Tables beside the rows of a study: runs, curves, and what links carry. */
#include <math.h>

#include "explore/gossip_run.h"
#include "explore/sweep_axis.h"
#include "topo/route.h"

/* ---- what all begin with ---- */

static void put_columns(struct table *t, const struct gossip_runs *r)
{
    sweep_put_columns(t, &r->study->sweep);
    table_column(t, "method", TABLE_TEXT);
}

static void put_head(struct table *t, const struct gossip_runs *r, int64_t point, int32_t entry)
{
    sweep_put_point(t, &r->study->sweep, point);
    table_put_text(t, r->states[point].point.entries[entry].label);
}

/* ---- runs ---- */

static void make_runs(struct table *t, const struct gossip_runs *r)
{
    static const char *const before[] = { "accuracy_pct", "average_pct", "traffic_MB",
                                          "time_s",       "compute_s",   "wait_s" };
    put_columns(t, r);
    table_column(t, "seed", TABLE_COUNT);
    table_column(t, "status", TABLE_TEXT);
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        table_column(t, before[i], TABLE_REAL);
    table_column(t, "exchanges", TABLE_COUNT);
    table_column(t, "steps", TABLE_COUNT);
    table_column(t, "loss", TABLE_REAL);
    table_column(t, "diverged_step", TABLE_COUNT);
    table_column(t, "message", TABLE_TEXT);
}

static void put_run(struct table *t, const struct gossip_unit *u)
{
    const struct gossip_result *x = &u->result;
    bool failed = u->rc != 0;
    table_put_text(t, failed ? "error" : x->diverged_step >= 0 ? "diverged" : "ok");
    table_put_real(t, failed ? (double)NAN : x->accuracy * 100);
    table_put_real(t, failed ? (double)NAN : x->average_accuracy * 100);
    table_put_real(t, failed ? (double)NAN : x->sent_B / 1e6);
    table_put_real(t, failed ? (double)NAN : x->time_s);
    table_put_real(t, failed ? (double)NAN : x->compute_s);
    table_put_real(t, failed ? (double)NAN : x->wait_s);
    table_put_count(t, failed ? INT64_MIN : x->exchanges);
    table_put_count(t, failed ? INT64_MIN : x->steps);
    table_put_real(t, failed ? (double)NAN : x->loss);
    table_put_count(t, failed || x->diverged_step < 0 ? INT64_MIN : x->diverged_step);
    table_put_text(t, u->message);
}

/* ---- curves ---- */

static void make_curves(struct table *t, const struct gossip_runs *r)
{
    put_columns(t, r);
    table_column(t, "seed", TABLE_COUNT);
    table_column(t, "time_s", TABLE_REAL);
    table_column(t, "steps", TABLE_COUNT);
    table_column(t, "epoch", TABLE_REAL);
    table_column(t, "loss", TABLE_REAL);
    table_column(t, "exchanges", TABLE_COUNT);
    table_column(t, "traffic_MB", TABLE_REAL);
    table_column(t, "average_pct", TABLE_REAL);
}

static void put_curve_point(struct table *t, const struct gossip_point *p, const struct gossip_curve_point *x)
{
    double epoch_steps = (double)gossip_point_epoch_steps(p) * p->fabric.n_workers;
    table_put_real(t, x->time_s);
    table_put_count(t, x->steps / p->fabric.n_workers);
    table_put_real(t, (double)x->steps / epoch_steps);
    table_put_real(t, x->loss);
    table_put_count(t, x->exchanges);
    table_put_real(t, x->sent_B / 1e6);
    table_put_real(t, x->accuracy * 100);
}

/* Runs and curves have a row, or rows, for each run. */
static void put_units(const struct gossip_runs *r, int64_t point, int32_t entry, int64_t k)
{
    struct table *runs = r->options->runs, *curves = r->options->curves;
    const struct gossip_unit *u = gossip_unit_at(r, point, entry, k);
    if (runs && u->run) {
        put_head(runs, r, point, entry);
        table_put_count(runs, r->study->seed + k);
        put_run(runs, u);
    }
    for (int32_t i = 0; curves && i < u->result.n_curve; i++) {
        put_head(curves, r, point, entry);
        table_put_count(curves, r->study->seed + k);
        put_curve_point(curves, &r->states[point].point, &u->result.curve[i]);
    }
}

/* ---- links ---- */

static void make_links(struct table *t, const struct gossip_runs *r)
{
    put_columns(t, r);
    table_column(t, "link", TABLE_TEXT);
    table_column(t, "dim", TABLE_TEXT);
    table_column(t, "MB", TABLE_REAL);
}

static void put_links(struct table *t, const struct gossip_runs *r, int64_t point,
                      const struct topo_routes *routes)
{
    const struct gossip_point *p = &r->states[point].point;
    char name[TOPO_ARC_TEXT];
    for (int32_t entry = 0; entry < p->n_entries; entry++) {
        const struct gossip_result *x = &gossip_unit_at(r, point, entry, 0)->result;
        for (int32_t a = 0; a < x->n_arcs; a++) {
            put_head(t, r, point, entry);
            table_put_text(t, topo_arc_name(name, routes, a));
            table_put_text(t, p->fabric.net.dims[topo_link_dim(routes, a / 2)].name);
            table_put_real(t, x->arc_B[a] / 1e6);
        }
    }
}

/* Links are called what the graph calls them: it is built once more, as it was let go of. */
static int put_point_links(struct table *t, const struct gossip_runs *r, int64_t point, struct err *e)
{
    struct topo_graph *graph;
    struct topo_routes routes;
    int rc = topo_build_graph(&graph, &r->states[point].point.fabric.net, NULL, e);
    if (rc)
        return rc;
    rc = topo_routes_build(&routes, graph, e);
    if (!rc)
        put_links(t, r, point, &routes);
    topo_routes_free(&routes);
    topo_graph_free(graph);
    return rc;
}

/* Did a run with links take place? */
static bool has_links(const struct gossip_runs *r, int64_t point)
{
    for (int32_t entry = 0; entry < r->states[point].point.n_entries; entry++)
        if (gossip_unit_at(r, point, entry, 0)->result.n_arcs > 0)
            return true;
    return false;
}

int gossip_make_details(const struct gossip_runs *r, struct err *e)
{
    const struct gossip_options *o = r->options;
    struct table *const tables[] = { o->runs, o->curves, o->links };
    int rc = 0;
    if (o->runs)
        make_runs(o->runs, r);
    if (o->curves)
        make_curves(o->curves, r);
    if (o->links)
        make_links(o->links, r);
    for (int64_t i = 0; i < r->study->sweep.n_points && !rc; i++) {
        for (int32_t entry = 0; entry < r->states[i].point.n_entries; entry++)
            for (int64_t k = 0; k < r->study->seeds; k++)
                put_units(r, i, entry, k);
        if (o->links && has_links(r, i))
            rc = put_point_links(o->links, r, i, e);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !rc; i++)
        if (tables[i] && tables[i]->failed)
            rc = err_nomem(e, "rows of runs");
    return rc;
}
