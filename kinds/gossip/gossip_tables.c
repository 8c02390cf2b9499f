/* Tables beside the rows of a study: runs, curves, and what links carry. */
#include <math.h>

#include "kinds/gossip/gossip_run.h"
#include "study/sweep_axis.h"
#include "topo/route.h"

#define WORD(key, text)                                                                                      \
    {                                                                                                        \
        .name = key, .help = text, .kind = TABLE_TEXT                                                        \
    }
#define COUNT(key, text)                                                                                     \
    {                                                                                                        \
        .name = key, .help = text, .kind = TABLE_COUNT                                                       \
    }
#define REAL(key, text)                                                                                      \
    {                                                                                                        \
        .name = key, .help = text, .kind = TABLE_REAL                                                        \
    }

/* ---- what all begin with ---- */

static void put_columns(struct table *t, const struct gossip_runs *r, const struct gossip_column *columns)
{
    sweep_put_columns(t, &r->study->sweep);
    for (const struct gossip_column *c = columns; c->name; c++)
        table_column(t, c->name, c->kind);
}

static void put_head(struct table *t, const struct gossip_runs *r, int64_t point, int32_t entry)
{
    sweep_put_point(t, &r->study->sweep, point);
    table_put_text(t, r->states[point].point.entries[entry].label);
}

/* ---- runs ---- */

const struct gossip_column gossip_run_columns[] = {
    WORD("method", "label of the row"),
    COUNT("seed", "of the run"),
    WORD("status", "ok; diverged: then accuracies and loss are blank, and the rest is until there; error"),
    REAL("accuracy_pct", "mean over workers"),
    REAL("average_pct", "of the mean of all models"),
    REAL("traffic_MB", "what NPUs send, all together"),
    REAL("time_s", "simulated"),
    REAL("compute_s", "of it, mean over workers"),
    REAL("wait_s", "likewise"),
    COUNT("exchanges", "messages, two-way exchanges and collectives"),
    COUNT("steps", "of one worker"),
    REAL("loss", "mean over batches of the last tenth of the steps, nats"),
    COUNT("diverged_step", "step of a worker at which the loss was no number"),
    WORD("message", "what is wrong, or why the bandwidth that is needed could not be found"),
    { .name = NULL },
};

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

const struct gossip_column gossip_curve_columns[] = {
    WORD("method", "label of the row"),
    COUNT("seed", "of the run"),
    REAL("time_s", "simulated"),
    COUNT("steps", "of one worker: mean over workers, rounded down"),
    REAL("epoch", "the same in epochs, not rounded"),
    REAL("loss", "mean over batches since the row before, nats"),
    COUNT("exchanges", "so far, of all workers together"),
    REAL("traffic_MB", "likewise"),
    REAL("average_pct", "accuracy of the mean of all models, at a fifth of the rows"),
    { .name = NULL },
};

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

const struct gossip_column gossip_link_columns[] = {
    WORD("method", "label of the row"),
    WORD("link", "from=to"),
    WORD("dim", "dimension it belongs to"),
    REAL("MB", "what it carries in the run of the first seed"),
    { .name = NULL },
};

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
        put_columns(o->runs, r, gossip_run_columns);
    if (o->curves)
        put_columns(o->curves, r, gossip_curve_columns);
    if (o->links)
        put_columns(o->links, r, gossip_link_columns);
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
