/* Tables of what happened in a run: a row a job, a slot, a stay on a server, a link. */
#include <math.h>
#include <stdio.h>

#include "kinds/place/place_study.h"

/* ---- columns ---- */

/* How every row begins. */
struct place_row_head {
    int64_t seed;
    const char *scheduler;
};
#define ROW_HEAD(type)                                                                                       \
    COLUMN_AT(type, head.seed, "seed", TABLE_COUNT, "of the run"),                                           \
        COLUMN_AT(type, head.scheduler, "scheduler", TABLE_TEXT, "whose run it is")

struct job_cells {
    struct place_row_head head;
    const char *job, *status, *unit;
    double submit, start, end, jct, gpus, servers, progress, utility;
    const char *synthetic;
};
const struct column place_job_columns[] = {
    ROW_HEAD(struct job_cells),
    COLUMN_WORD(struct job_cells, job, "name, of the trace or by number"),
    COLUMN_WORD(struct job_cells, status, "done, running, waiting, .."),
    COLUMN_WORD(struct job_cells, unit, "of times: slot or s"),
    COLUMN_REAL(struct job_cells, submit, "when it arrives"),
    COLUMN_REAL(struct job_cells, start, "when it first runs"),
    COLUMN_REAL(struct job_cells, end, "when it is done"),
    COLUMN_REAL(struct job_cells, jct, "from arrival to end"),
    COLUMN_REAL(struct job_cells, gpus, "that it holds, mean over the slots in which it runs"),
    COLUMN_REAL(struct job_cells, servers, "that it is spread over"),
    COLUMN_REAL(struct job_cells, progress, "what it has done, iterations or what its model counts"),
    COLUMN_REAL(struct job_cells, utility, "what it is worth"),
    COLUMN_WORD(struct job_cells, synthetic, "what of it was drawn, not read from its trace"),
    COLUMNS_END,
};

struct place_cells {
    struct place_row_head head;
    const char *job, *server_name, *unit;
    double server, gpus, from, to;
};
const struct column place_place_columns[] = {
    ROW_HEAD(struct place_cells),
    COLUMN_WORD(struct place_cells, job, "who runs there"),
    COLUMN_WORD(struct place_cells, server_name, "where"),
    COLUMN_WORD(struct place_cells, unit, "of times: slot or s"),
    COLUMN_REAL(struct place_cells, server, "its number"),
    COLUMN_REAL(struct place_cells, gpus, "of it that the job holds"),
    COLUMN_REAL(struct place_cells, from, "when it begins"),
    COLUMN_REAL(struct place_cells, to, "when it ends"),
    COLUMNS_END,
};

struct slot_cells {
    struct place_row_head head;
    const char *unit;
    double from, to, active, running, gpu_frac, reserved_GBps, link_frac;
    double bound, value, guarantee, node_over, node_beta, link_over, link_gamma;
};
const struct column place_slot_columns[] = {
    ROW_HEAD(struct slot_cells),
    COLUMN_WORD(struct slot_cells, unit, "of times: slot or s"),
    COLUMN_REAL(struct slot_cells, from, "when it begins"),
    COLUMN_REAL(struct slot_cells, to, "when it ends"),
    COLUMN_REAL(struct slot_cells, active, "jobs that are there"),
    COLUMN_REAL(struct slot_cells, running, "of them, those that run"),
    COLUMN_REAL(struct slot_cells, gpu_frac, "GPUs in use"),
    COLUMN_REAL(struct slot_cells, reserved_GBps, "of all links together"),
    COLUMN_REAL(struct slot_cells, link_frac, "of the bandwidth of all links"),
    COLUMN_REAL(struct slot_cells, bound, "optimum of the slot's linear programme"),
    COLUMN_REAL(struct slot_cells, value, "of what was chosen"),
    COLUMN_REAL(struct slot_cells, guarantee, "least share of the optimum that theory allows"),
    COLUMN_REAL(struct slot_cells, node_over, "largest load of a server, over its capacity"),
    COLUMN_REAL(struct slot_cells, node_beta, "what theory allows of it"),
    COLUMN_REAL(struct slot_cells, link_over, "largest load of a link, over its bandwidth"),
    COLUMN_REAL(struct slot_cells, link_gamma, "what theory allows of it"),
    COLUMNS_END,
};

struct link_cells {
    struct place_row_head head;
    const char *link, *unit;
    double bw_GBps, from, to, load_frac, used_frac, peak_frac;
};
const struct column place_link_columns[] = {
    ROW_HEAD(struct link_cells),
    COLUMN_WORD(struct link_cells, link, "from=to"),
    COLUMN_WORD(struct link_cells, unit, "of times: slot or s"),
    COLUMN_REAL(struct link_cells, bw_GBps, "its bandwidth"),
    COLUMN_REAL(struct link_cells, from, "when it begins"),
    COLUMN_REAL(struct link_cells, to, "when it ends"),
    COLUMN_REAL(struct link_cells, load_frac, "reserved, where a model reserves, else in use"),
    COLUMN_REAL(struct link_cells, used_frac, "in use, mean over the time"),
    COLUMN_REAL(struct link_cells, peak_frac, "in use, at its greatest"),
    COLUMNS_END,
};

/* ---- rows ---- */

static struct place_row_head row_head(const struct place_task *task, const char *scheduler)
{
    return (struct place_row_head){ task->seed, scheduler };
}

const char *place_job_name(char buf[PLACE_JOB], int32_t number)
{
    snprintf(buf, PLACE_JOB, "job%d", (int)number);
    return buf;
}

void place_put_job(const struct place_task *task, const char *scheduler, const struct place_job_row *row)
{
    struct text drawn = { 0 };
    trace_name_synthetic(&drawn, row->synthetic);
    const struct job_cells cells = {
        .head = row_head(task, scheduler),
        .job = row->id,
        .status = row->status,
        .unit = row->unit,
        .submit = row->submit,
        .start = row->start,
        .end = row->end,
        .jct = row->jct,
        .gpus = row->gpus,
        .servers = row->servers,
        .progress = row->progress,
        .utility = row->utility,
        .synthetic = drawn.n ? text_str(&drawn) : NULL,
    };
    sink_put(task->sink, PLACE_TABLE_JOBS, &cells);
    text_free(&drawn);
}

void place_put_place(const struct place_task *task, const char *scheduler, const char *job,
                     const struct cluster *c, int32_t server, double gpus, struct place_span span)
{
    char name[TOPO_VERTEX_TEXT];
    if (c)
        cluster_server_name(name, c, server);
    else
        snprintf(name, sizeof name, "server%d", (int)server);
    const struct place_cells cells = { .head = row_head(task, scheduler),
                                       .job = job,
                                       .server_name = name,
                                       .unit = span.unit,
                                       .server = server,
                                       .gpus = gpus,
                                       .from = span.from,
                                       .to = span.to };
    sink_put(task->sink, PLACE_TABLE_PLACES, &cells);
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
    /* arXiv 2202.01158: a slot is within 1/(3 gamma) of its optimum, loads within beta and gamma. */
    const struct elastic_note *n = &row->note;
    const struct slot_cells cells = { .head = row_head(task, scheduler),
                                      .unit = span.unit,
                                      .from = span.from,
                                      .to = span.to,
                                      .active = (double)row->active,
                                      .running = (double)row->running,
                                      .gpu_frac = row->gpu_frac,
                                      .reserved_GBps = row->reserved_Bps / 1e9,
                                      .link_frac = row->link_frac,
                                      .bound = n->bound,
                                      .value = n->value,
                                      .guarantee = n->gamma > 0 ? 1 / (3.0 * n->gamma) : (double)NAN,
                                      .node_over = n->node_over,
                                      .node_beta = n->node_beta,
                                      .link_over = n->link_over,
                                      .link_gamma = n->link_gamma };
    sink_put(task->sink, PLACE_TABLE_SLOTS, &cells);
}

void place_put_link(const struct place_task *task, const char *scheduler, const struct cluster *c,
                    int32_t arc, const struct place_load *load, struct place_span span)
{
    char name[TOPO_ARC_TEXT];
    const struct link_cells cells = { .head = row_head(task, scheduler),
                                      .link = cluster_arc_name(name, c, arc),
                                      .unit = span.unit,
                                      .bw_GBps = c->bw_Bps[arc] / 1e9,
                                      .from = span.from,
                                      .to = span.to,
                                      .load_frac = load->load_frac,
                                      .used_frac = load->used_frac,
                                      .peak_frac = load->peak_frac };
    sink_put(task->sink, PLACE_TABLE_LINKS, &cells);
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
