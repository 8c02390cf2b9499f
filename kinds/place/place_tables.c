/* Tables of what happened in a run: a row a job, a slot, a stay on a server, a link. */
#include <math.h>
#include <stdio.h>

#include "kinds/place/place_study.h"

static void columns(struct table *t, const struct sweep *w, const char *const *texts,
                    const char *const *reals)
{
    if (!t)
        return;
    sweep_put_columns(t, w);
    table_column(t, "seed", TABLE_COUNT);
    table_column(t, "scheduler", TABLE_TEXT);
    for (; *texts; texts++)
        table_column(t, *texts, TABLE_TEXT);
    for (; *reals; reals++)
        table_column(t, *reals, TABLE_REAL);
}

void place_tables_begin(const struct place_details *d, const struct sweep *w)
{
    static const char *const job_texts[] = { "job", "status", "unit", NULL },
                             *const job_reals[] = { "submit",  "start",    "end",     "jct", "gpus",
                                                    "servers", "progress", "utility", NULL },
                             *const place_texts[] = { "job", "server_name", "unit", NULL },
                             *const place_reals[] = { "server", "gpus", "from", "to", NULL },
                             *const slot_texts[] = { "unit", NULL },
                             *const slot_reals[] = { "from",      "to",         "active",
                                                     "running",   "gpu_frac",   "reserved_GBps",
                                                     "link_frac", "bound",      "value",
                                                     "guarantee", "node_over",  "node_beta",
                                                     "link_over", "link_gamma", NULL },
                             *const link_texts[] = { "link", "unit", NULL },
                             *const link_reals[] = { "bw_GBps",   "from",      "to", "load_frac",
                                                     "used_frac", "peak_frac", NULL };
    columns(d->jobs, w, job_texts, job_reals);
    if (d->jobs)
        table_column(d->jobs, "synthetic", TABLE_TEXT);
    columns(d->places, w, place_texts, place_reals);
    columns(d->slots, w, slot_texts, slot_reals);
    columns(d->links, w, link_texts, link_reals);
}

void place_table_row(struct table *t, const struct place_task *task, const char *scheduler)
{
    sweep_put_point(t, task->sweep, task->point);
    table_put_count(t, task->seed);
    table_put_text(t, scheduler);
}

static void put_reals(struct table *t, const double *x, int n)
{
    for (int i = 0; i < n; i++)
        table_put_real(t, x[i]);
}

const char *place_job_name(char buf[PLACE_JOB], int32_t number)
{
    snprintf(buf, PLACE_JOB, "job%d", (int)number);
    return buf;
}

void place_put_job(const struct place_task *task, const char *scheduler, const struct place_job_row *row)
{
    struct table *t = task->details->jobs;
    const double x[] = { row->submit, row->start,   row->end,      row->jct,
                         row->gpus,   row->servers, row->progress, row->utility };
    struct text drawn = { 0 };
    trace_name_synthetic(&drawn, row->synthetic);
    place_table_row(t, task, scheduler);
    table_put_text(t, row->id);
    table_put_text(t, row->status);
    table_put_text(t, row->unit);
    put_reals(t, x, sizeof x / sizeof x[0]);
    table_put_text(t, drawn.n ? text_str(&drawn) : NULL);
    t->failed = t->failed || drawn.failed;
    text_free(&drawn);
}

void place_put_place(const struct place_task *task, const char *scheduler, const char *job,
                     const struct cluster *c, int32_t server, double gpus, struct place_span span)
{
    struct table *t = task->details->places;
    char name[TOPO_VERTEX_TEXT];
    const double x[] = { server, gpus, span.from, span.to };
    place_table_row(t, task, scheduler);
    table_put_text(t, job);
    if (c)
        cluster_server_name(name, c, server);
    else
        snprintf(name, sizeof name, "server%d", (int)server);
    table_put_text(t, name);
    table_put_text(t, span.unit);
    put_reals(t, x, sizeof x / sizeof x[0]);
}

struct elastic_note place_no_note(void)
{
    return (struct elastic_note){ .bound = NAN,
                                  .value = NAN,
                                  .fixed_bound = NAN,
                                  .node_over = NAN,
                                  .link_over = NAN,
                                  .node_beta = NAN,
                                  .link_gamma = NAN };
}

void place_put_slot(const struct place_task *task, const char *scheduler, const struct place_slot_row *row,
                    struct place_span span)
{
    struct table *t = task->details->slots;
    /* arXiv 2202.01158: a slot is within 1/(3 gamma) of its optimum, loads within beta and gamma. */
    const struct elastic_note *n = &row->note;
    const double x[] = { span.from,
                         span.to,
                         (double)row->active,
                         (double)row->running,
                         row->gpu_frac,
                         row->reserved_Bps / 1e9,
                         row->link_frac,
                         n->bound,
                         n->value,
                         n->gamma > 0 ? 1 / (3.0 * n->gamma) : (double)NAN,
                         n->node_over,
                         n->node_beta,
                         n->link_over,
                         n->link_gamma };
    place_table_row(t, task, scheduler);
    table_put_text(t, span.unit);
    put_reals(t, x, sizeof x / sizeof x[0]);
}

void place_put_link(const struct place_task *task, const char *scheduler, const struct cluster *c,
                    int32_t arc, const struct place_load *load, struct place_span span)
{
    struct table *t = task->details->links;
    char name[TOPO_ARC_TEXT];
    const double x[] = { c->bw_Bps[arc] / 1e9, span.from,       span.to,
                         load->load_frac,      load->used_frac, load->peak_frac };
    place_table_row(t, task, scheduler);
    table_put_text(t, cluster_arc_name(name, c, arc));
    table_put_text(t, span.unit);
    put_reals(t, x, sizeof x / sizeof x[0]);
}

/* Bins next to each other in which a link is loaded alike are one row: most links idle most of the time. */
void place_put_bins(const struct place_task *task, const char *scheduler, const struct cluster *c,
                    const struct link_bins *b, double last_s)
{
    int32_t n = (int32_t)fmin(b->n_bins, ceil((last_s - b->from_s) / b->width_s));
    for (int32_t a = 0; a < b->n_arcs; a++)
        for (int32_t k = 0, next; k < n; k = next) {
            double bytes = b->bytes[(size_t)k * (size_t)b->n_arcs + (size_t)a];
            for (next = k + 1; next < n; next++)
                if (b->bytes[(size_t)next * (size_t)b->n_arcs + (size_t)a] != bytes)
                    break;
            double from_s = b->from_s + k * b->width_s, to_s = fmin(b->from_s + next * b->width_s, last_s);
            double frac = bytes * (next - k) / (to_s - from_s) / c->bw_Bps[a];
            const struct place_load load = { frac, frac, NAN };
            place_put_link(task, scheduler, c, a, &load, (struct place_span){ from_s, to_s, "s" });
        }
}
