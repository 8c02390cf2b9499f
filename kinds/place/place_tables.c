/*
 * Tables of what happened in a run, the same for all models: a row a job, a slot or other time between
 * events, a stay on a server, a link in a time. What people read in `weft plot gantt` and `weft plot links`.
 *
 * Rows are of the first seed of each point (study/kind.h, first_seed): they show how a scheduler works, and
 * tables of all seeds would be many times the size of the study. Names are made on the stack; the sink copies
 * them.
 */
#include <math.h>
#include <stdio.h>

#include "kinds/place/place.h"

/* ---- columns ---- */

#define ROW_HEAD(type)                                                                                       \
    COLUMN_AT(type, head.seed, "seed", TABLE_COUNT, "seed of the run"),                                      \
        COLUMN_AT(type, head.scheduler, "scheduler", TABLE_TEXT, "scheduler of the run")
#define ROW_UNIT(type) COLUMN_AT(type, head.unit, "unit", TABLE_TEXT, "unit of times: slot or s")

const struct column place_job_columns[] = {
    ROW_HEAD(struct place_job_row),
    COLUMN_WORD(struct place_job_row, job, "name of the job in its trace, or its number"),
    COLUMN_WORD(struct place_job_row, status,
                "state of the job at the end: done, running, waiting and so on"),
    ROW_UNIT(struct place_job_row),
    COLUMN_REAL(struct place_job_row, submit, "when the job arrives"),
    COLUMN_REAL(struct place_job_row, start, "when the job first runs"),
    COLUMN_REAL(struct place_job_row, end, "when the job is done", .better = -1),
    COLUMN_REAL(struct place_job_row, jct, "completion time: from arrival to end", .better = -1),
    COLUMN_REAL(struct place_job_row, gpus, "GPUs that the job holds, mean over the slots in which it runs"),
    COLUMN_REAL(struct place_job_row, servers, "servers that the job is spread over"),
    COLUMN_REAL(struct place_job_row, progress, "work done: iterations, or what the model counts",
                .better = 1),
    COLUMN_REAL(struct place_job_row, utility, "utility of the job", .better = 1),
    COLUMN_WORD(struct place_job_row, synthetic,
                "what was drawn at random because the trace does not say it"),
    COLUMNS_END,
};

struct place_stay_row {
    struct place_row_head head;
    const char *job, *server_name;
    double server, gpus, from, to;
};
const struct column place_place_columns[] = {
    ROW_HEAD(struct place_stay_row),
    COLUMN_WORD(struct place_stay_row, job, "job"),
    COLUMN_WORD(struct place_stay_row, server_name, "name of the server"),
    ROW_UNIT(struct place_stay_row),
    COLUMN_REAL(struct place_stay_row, server, "number of the server"),
    COLUMN_REAL(struct place_stay_row, gpus, "GPUs of the server that the job holds"),
    COLUMN_REAL(struct place_stay_row, from, "when the interval begins"),
    COLUMN_REAL(struct place_stay_row, to, "when the interval ends"),
    COLUMNS_END,
};

const struct column place_slot_columns[] = {
    ROW_HEAD(struct place_slot_row),
    ROW_UNIT(struct place_slot_row),
    COLUMN_REAL(struct place_slot_row, from, "when the interval begins"),
    COLUMN_REAL(struct place_slot_row, to, "when the interval ends"),
    COLUMN_REAL(struct place_slot_row, active, "jobs that have arrived and are not done"),
    COLUMN_REAL(struct place_slot_row, running, "active jobs that run", .better = 1),
    COLUMN_REAL(struct place_slot_row, gpu_frac, "share of GPUs in use", .better = 1),
    COLUMN_REAL(struct place_slot_row, reserved_GBps, "bandwidth reserved on all links together"),
    COLUMN_REAL(struct place_slot_row, link_frac, "that over the bandwidth of all links"),
    COLUMN_REAL(struct place_slot_row, bound, "optimum of the slot's linear program: no choice gains more"),
    COLUMN_REAL(struct place_slot_row, value, "gain of what was chosen", .better = 1),
    COLUMN_REAL(struct place_slot_row, guarantee, "least share of the optimum that theory allows",
                .better = 1),
    COLUMN_REAL(struct place_slot_row, node_over, "largest load of a server over its capacity", .better = -1),
    COLUMN_REAL(struct place_slot_row, node_beta, "most that theory allows for node_over"),
    COLUMN_REAL(struct place_slot_row, link_over, "largest load of a link over its bandwidth", .better = -1),
    COLUMN_REAL(struct place_slot_row, link_gamma, "most that theory allows for link_over"),
    COLUMNS_END,
};

const struct column place_link_columns[] = {
    ROW_HEAD(struct place_link_row),
    COLUMN_WORD(struct place_link_row, link, "link, as from=to"),
    ROW_UNIT(struct place_link_row),
    COLUMN_REAL(struct place_link_row, bw_GBps, "bandwidth of the link"),
    COLUMN_REAL(struct place_link_row, from, "when the interval begins"),
    COLUMN_REAL(struct place_link_row, to, "when the interval ends"),
    COLUMN_REAL(struct place_link_row, load_frac,
                "share of the bandwidth that is reserved, or in use where nothing is reserved"),
    COLUMN_REAL(struct place_link_row, used_frac, "share of the bandwidth in use, mean over the interval"),
    COLUMN_REAL(struct place_link_row, peak_frac, "largest share of the bandwidth in use"),
    COLUMNS_END,
};

/* ---- rows ---- */

static struct place_row_head place_row_head(const struct place_run *r)
{
    return (struct place_row_head){ r->seed, r->scheduler, r->unit };
}

/* A job without a name, drawn and not read, is told by its number. */
static const char *place_name_job(char buf[JOB_NAME], const char *name, int32_t number)
{
    const struct job job = { .id = name };
    return job_name(buf, &job, number);
}

void place_put_job(const struct place_run *r, int32_t number, struct place_job_row row)
{
    char name[JOB_NAME];
    struct text drawn = { 0 };
    trace_name_synthetic(&drawn, row.drawn);
    row.head = place_row_head(r);
    row.job = place_name_job(name, row.job, number);
    row.jct = row.end - row.submit;
    row.synthetic = drawn.n ? text_str(&drawn) : NULL;
    sink_put(r->sink, PLACE_TABLE_JOBS, &row);
    text_free(&drawn);
}

void place_put_place(const struct place_run *r, const char *job, int32_t number, int32_t server, double gpus,
                     double from, double to)
{
    char name[JOB_NAME], where[TOPO_VERTEX_TEXT];
    if (r->cluster)
        cluster_server_name(where, r->cluster, server);
    else
        snprintf(where, sizeof where, "server%d", (int)server);
    const struct place_stay_row row = {
        place_row_head(r), place_name_job(name, job, number), where, server, gpus, from, to
    };
    sink_put(r->sink, PLACE_TABLE_PLACES, &row);
}

void place_put_slot(const struct place_run *r, struct place_slot_row row)
{
    row.head = place_row_head(r);
    sink_put(r->sink, PLACE_TABLE_SLOTS, &row);
}

/* Only models with links come here: of a pool there is no cluster. */
void place_put_link(const struct place_run *r, int32_t arc, struct place_link_row row)
{
    char name[TOPO_ARC_TEXT];
    row.head = place_row_head(r);
    row.link = cluster_arc_name(name, r->cluster, arc);
    row.bw_GBps = r->cluster->bw_Bps[arc] / 1e9;
    sink_put(r->sink, PLACE_TABLE_LINKS, &row);
}

/*
 * Bins next to each other in which a link is loaded alike are one row: most links idle most of the time.
 * Alike is exactly alike. O(arcs bins), in order of arcs, then time.
 */
void place_put_bins(const struct place_run *r, const struct link_bins *b, double last_s)
{
    int32_t n = (int32_t)fmin(b->n_bins, ceil((last_s - b->from_s) / b->width_s));
    for (int32_t a = 0; a < b->n_arcs; a++)
        for (int32_t k = 0, next; k < n; k = next) {
            double bytes = b->bytes[(size_t)k * (size_t)b->n_arcs + (size_t)a];
            for (next = k + 1; next < n; next++)
                if (b->bytes[(size_t)next * (size_t)b->n_arcs + (size_t)a] != bytes)
                    break;
            double from_s = b->from_s + k * b->width_s, to_s = fmin(b->from_s + next * b->width_s, last_s);
            /* The last bin is cut at last_s: its bytes count over the time that there was. */
            double frac = bytes * (next - k) / (to_s - from_s) / r->cluster->bw_Bps[a];
            place_put_link(
                r, a,
                (struct place_link_row){
                    .from = from_s, .to = to_s, .load_frac = frac, .used_frac = frac, .peak_frac = NAN });
        }
}
