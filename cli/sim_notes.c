#include "cli/sim_notes.h"

#include <stdio.h>

#include "base/sheet.h"

/* How many collectives ran in each order of dimensions. */
static void count_orders(int64_t used[N_SIM_ORDERS], const struct design *d)
{
    for (int i = 0; i < N_SIM_ORDERS; i++)
        used[i] = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        for (int32_t k = 0; k < d->loads[i].step.n_collectives; k++)
            used[d->loads[i].step.collectives[k].order]++;
}

static void put_chunk(const struct sim_rules *r, const struct design *d, struct text *out)
{
    int64_t used[N_SIM_ORDERS];
    const char *joint = ": ";
    text_printf(out, ", %s semantics", sim_semantics_words[r->semantics]);
    if (r->semantics != SIM_PHYSICAL) {
        text_puts(out, ": collectives one at a time, dimensions innermost first\n");
        return;
    }
    text_printf(out, ", %s; order of dimensions %s", sim_queue_words[r->queue], sim_order_words[r->order]);
    count_orders(used, d);
    for (int i = 0; r->order == SIM_ORDER_GUARD && i < N_SIM_ORDERS; i++)
        if (used[i]) {
            text_printf(out, "%s%s for %lld collective%s", joint, sim_order_words[i], (long long)used[i],
                        used[i] == 1 ? "" : "s");
            joint = ", ";
        }
    text_puts(out, "\n");
}

static int put_hottest(const struct design_point *s, const struct rung_links *l, const char *workload,
                       struct text *out, struct err *e)
{
    struct sheet sheet = { 0 };
    char n[SHOW], of[SHOW], share[SHOW];
    text_printf(out, "\n%s%s%s of %s directed links are used, %s %% on average; the hottest", workload,
                *workload ? ": " : "", show_count(n, l->n_used), show_count(of, l->n_arcs),
                show_real(share, 100 * l->mean_frac, 3));
    if (l->n_alike > l->n_hot)
        text_printf(out, " (of %s that are as hot)", show_count(n, l->n_alike));
    text_puts(out, ":\n\n");
    sheet_column(&sheet, "link", "", SHEET_LEFT);
    sheet_column(&sheet, "dimension", "", SHEET_LEFT);
    sheet_column(&sheet, "bandwidth", "GB/s", SHEET_POINT);
    sheet_column(&sheet, "sent", "GB", SHEET_POINT);
    sheet_column(&sheet, "in use", "%", SHEET_POINT);
    for (int32_t i = 0; i < l->n_hot; i++) {
        const struct rung_hot *hot = &l->hot[i];
        sheet_put(&sheet, "%s", hot->name);
        sheet_put(&sheet, "%s", hot->dim >= 0 && hot->dim < s->net.n_dims ? s->net.dims[hot->dim].name : "-");
        sheet_real(&sheet, hot->bw_Bps / 1e9, 6);
        sheet_real(&sheet, hot->bytes / 1e9, 5);
        sheet_real(&sheet, 100 * hot->util_frac, 3);
    }
    int rc = sheet_write(&sheet, out, e);
    sheet_free(&sheet);
    return rc;
}

static int put_flow(const struct design_point *s, const struct design *d, struct text *out, struct err *e)
{
    const struct sim_rules *r = &s->rules;
    int rc = 0;
    text_printf(out, " on %s%s, routes %s", r->graph[0] ? "the graph " : "the links of the network", r->graph,
                sim_route_words[r->route]);
    text_printf(out, "; dimensions %s%s\n",
                r->order == SIM_ORDER_GIVEN ? "in the order given" : "innermost first",
                r->n_links || r->n_slow ? "; some links failed or slow" : "");
    for (int32_t i = 0; i < d->n_loads && !rc; i++)
        if (d->loads[i].step.links.n_hot > 0)
            rc = put_hottest(s, &d->loads[i].step.links, s->n_workloads > 1 ? s->workloads[i].tree.name : "",
                             out, e);
    return rc;
}

int sim_notes_text(const struct design_point *s, const struct design *d, struct text *out, struct err *e)
{
    const struct sim_rules *r = &s->rules;
    int rc = 0;
    if (s->model == SIM_BANDWIDTH)
        return 0;
    text_printf(out, "\n%s: %d chunk%s", sim_model_words[s->model], (int)r->stage.chunks,
                r->stage.chunks == 1 ? "" : "s");
    if (s->model == SIM_ALPHA_BETA)
        text_puts(out, ", dimensions innermost first\n");
    else if (s->model == SIM_CHUNK)
        put_chunk(r, d, out);
    else
        rc = put_flow(s, d, out, e);
    return rc;
}

static void put_orders(const struct design *d, struct json *j)
{
    int64_t used[N_SIM_ORDERS];
    count_orders(used, d);
    json_open(j, "orders", '{');
    for (int i = 0; i < N_SIM_ORDERS; i++)
        if (used[i])
            json_count(j, sim_order_words[i], used[i]);
    json_close(j, '}');
}

static void put_links(const struct design_point *s, const struct design *d, struct json *j)
{
    json_open(j, "hottest_links", '[');
    for (int32_t i = 0; i < d->n_loads; i++) {
        const struct rung_links *l = &d->loads[i].step.links;
        for (int32_t k = 0; k < l->n_hot; k++) {
            const struct rung_hot *hot = &l->hot[k];
            json_open(j, NULL, '{');
            json_text(j, "workload", s->workloads[i].tree.name);
            json_text(j, "link", hot->name);
            json_text(j, "dim",
                      hot->dim >= 0 && hot->dim < s->net.n_dims ? s->net.dims[hot->dim].name : NULL);
            json_real(j, "bw_GBps", hot->bw_Bps / 1e9);
            json_real(j, "sent_B", hot->bytes);
            json_real(j, "utilization", hot->util_frac);
            json_close(j, '}');
        }
    }
    json_close(j, ']');
}

void sim_notes_json(const struct design_point *s, const struct design *d, struct json *j)
{
    const struct sim_rules *r = &s->rules;
    if (s->model == SIM_BANDWIDTH)
        return;
    json_open(j, "simulation", '{');
    json_count(j, "chunks", r->stage.chunks);
    if (s->model == SIM_CHUNK) {
        json_text(j, "semantics", sim_semantics_words[r->semantics]);
        json_text(j, "queue", sim_queue_words[r->queue]);
        json_text(j, "order", sim_order_words[r->order]);
        put_orders(d, j);
    }
    if (s->model == SIM_FLOW) {
        json_text(j, "route", sim_route_words[r->route]);
        json_text(j, "graph", r->graph[0] ? r->graph : NULL);
        put_links(s, d, j);
    }
    json_close(j, '}');
}

static void put_link(struct table *t, const struct design_point *s, const char *workload,
                     const struct rung_hot *link)
{
    table_row(t);
    table_put_text(t, workload);
    table_put_text(t, link->name);
    if (link->dim >= 0 && link->dim < s->net.n_dims)
        table_put_text(t, s->net.dims[link->dim].name);
    else
        table_put_none(t);
    table_put_real(t, link->bw_Bps / 1e9);
    table_put_real(t, link->bytes);
    table_put_real(t, link->util_frac);
}

static int put_links_of(struct table *t, const struct design_point *s, const struct study_workload *w,
                        const double *bw_Bps, struct err *e)
{
    struct sim_rules rules = s->rules;
    struct sim_step step;
    rules.keep_links = true;
    int rc = sim_step_build(&step, &w->tree, &s->net, bw_Bps, s->model, &rules, e);
    if (rc)
        return rc;
    for (int64_t a = 0; step.links.all && a < step.links.n_arcs; a++)
        put_link(t, s, w->tree.name, &step.links.all[a]);
    sim_step_free(&step);
    return 0;
}

int sim_links_write(const struct run *run, const struct design_point *s, const struct design *d,
                    const char *path, struct err *e)
{
    struct table t = { 0 };
    struct text out = { 0 }, head = { 0 };
    int rc = 0;
    table_column(&t, "workload", TABLE_TEXT);
    table_column(&t, "link", TABLE_TEXT);
    table_column(&t, "dim", TABLE_TEXT);
    table_column(&t, "bw_GBps", TABLE_REAL);
    table_column(&t, "sent_B", TABLE_REAL);
    table_column(&t, "utilization", TABLE_REAL);
    for (int32_t i = 0; i < s->n_workloads && !rc; i++)
        rc = put_links_of(&t, s, &s->workloads[i], d->bw_Bps, e);
    output_head(&head, run, output_origin(s));
    if (!rc)
        rc = table_write(&t, TABLE_AS_CSV, text_str(&head), &out, e);
    if (!rc)
        rc = text_write_file(&out, path, run->opt.force, e);
    table_free(&t);
    text_free(&out);
    text_free(&head);
    return rc;
}
