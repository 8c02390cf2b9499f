/*
 * The timeline of a step as a file (sim/timeline.h): a trace for Chrome and Perfetto, with a process for each
 * stage and class of NPUs and a row for compute, host and each class of links, and arrows from stage to stage
 * of a chunk; or a table for weft plot, a row a bar. The step is timed once more for it, so that a plain run
 * keeps no record of events.
 */
#include "cli/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "sim/chunk/order.h"
#include "sim/timeline.h"

/* One workload's timeline with what its bars refer to. */
struct story {
    const struct design_point *study;
    const struct step_tree *tree;
    struct timeline timeline;
};

static const char *extension(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : "";
}

int timeline_check(const char *path, struct err *e)
{
    if (strcasecmp(extension(path), "json") != 0 && strcasecmp(extension(path), "csv") != 0)
        return err_set(e, ERR_USAGE,
                       "option --timeline is \"%.200s\", expected a name ending in .json or .csv", path);
    return 0;
}

/* What reports call the work of a bar. */
static const char *bar_name(const struct story *x, const struct timeline_bar *b)
{
    const struct step_node *node = &x->tree->nodes[b->node];
    if (b->events > 1)
        return "folded";
    if (node->name[0])
        return node->name;
    return b->dim < 0 ? "compute" : collective_names[node->collective];
}

static const char *lane_name(const struct story *x, const struct timeline_bar *b)
{
    return b->dim == TIMELINE_COMPUTE ? "compute"
           : b->dim == TIMELINE_HOST  ? "host"
                                      : x->study->net.dims[b->dim].name;
}

static void run_name(struct text *out, const struct story *x, const struct timeline_run *run)
{
    text_printf(out, "%s%s", x->tree->name, x->tree->name[0] ? ", " : "");
    if (x->study->model == SIM_CHUNK)
        text_printf(out, "%s order%s", sim_order_words[run->order],
                    run->chosen && x->timeline.n_runs > 1 ? " (chosen)" : "");
    else
        text_printf(out, "model %s", sim_model_words[x->study->model]);
}

/* ---- trace events ---- */

/* Rows of the viewer, which sorts them by name: lanes with their slots. */
enum { SLOTS = 2000 };

static int row_id(const struct timeline_bar *b)
{
    return b->lane * SLOTS + (b->slot < SLOTS ? b->slot : SLOTS - 1);
}

/* A process per run, stage and class of NPUs. */
static int64_t process_id(const struct story *x, const struct timeline_bar *b, int32_t story)
{
    int64_t of = ((int64_t)story * TIMELINE_MAX_RUNS + b->run) * x->timeline.n_stages + b->stage;
    return of * 1000000 + b->cell + 1;
}

static void open_event(struct json *j, const char *phase, const char *name, int64_t pid, int row)
{
    /* A line an event: traces of millions of them stay fit for line tools. */
    text_puts(j->out, "\n");
    json_open(j, NULL, '{');
    json_text(j, "ph", phase);
    json_text(j, "name", name);
    json_count(j, "pid", pid);
    json_count(j, "tid", row);
}

static void put_name(struct json *j, const char *what, int64_t pid, int row, const char *name)
{
    open_event(j, "M", what, pid, row);
    json_open(j, "args", '{');
    json_text(j, "name", name);
    json_close(j, '}');
    json_close(j, '}');
}

static void put_row_name(struct json *j, const struct story *x, const struct timeline_bar *b, int64_t pid)
{
    char label[TOPO_DIM_LABEL];
    struct text name = { 0 };
    text_printf(&name, "%d %s", (int)b->lane, lane_name(x, b));
    if (b->dim >= 0)
        text_printf(&name, " %s", topo_dim_label(label, &x->study->net.dims[b->dim]));
    if (b->slot > 0)
        text_printf(&name, ", beside %d", (int)b->slot);
    put_name(j, "thread_name", pid, row_id(b), text_str(&name));
    text_free(&name);
}

static void put_bar(struct json *j, const struct story *x, const struct timeline_bar *b, int64_t pid)
{
    open_event(j, "X", bar_name(x, b), pid, row_id(b));
    json_real(j, "ts", b->start_s * 1e6);
    json_real(j, "dur", (b->end_s - b->start_s) * 1e6);
    if (b->chunk >= 0)
        json_text(j, "cat", pass_names[b->pass]);
    if (b->dim >= 0 || b->events > 1) {
        json_open(j, "args", '{');
        if (b->events > 1)
            json_real(j, "events", b->events);
        if (b->job >= 0)
            json_count(j, "collective", b->job);
        if (b->chunk >= 0) {
            json_text(j, "pass", pass_names[b->pass]);
            json_count(j, "chunk", b->chunk);
            json_real(j, "waited_us", (b->start_s - b->ready_s) * 1e6);
        }
        json_real(j, "bytes", b->bytes);
        json_real(j, "busy_us", b->busy_s * 1e6);
        json_close(j, '}');
    }
    json_close(j, '}');
}

/* Stages of a chunk, each once. */
static bool has_arrow(const struct timeline_bar *b)
{
    return b->chunk >= 0 && b->lead;
}

/* An arrow from stage to stage of one chunk: it starts, goes on and ends inside bars. */
static void put_arrow(struct json *j, const struct timeline_bar *b, int64_t pid, int64_t id, bool first,
                      bool last)
{
    /* A chunk with one bar has nowhere to lead to. */
    if (first && last)
        return;
    open_event(j, first ? "s" : last ? "f" : "t", "chunk", pid, row_id(b));
    json_text(j, "cat", "chunk");
    json_count(j, "id", id);
    if (last)
        json_text(j, "bp", "e");
    json_real(j, "ts", b->start_s * 1e6);
    json_close(j, '}');
}

static int compare_longs(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Identity of the chunk that a bar serves, in its run and class of NPUs. */
static int64_t chunk_id(const struct story *x, const struct timeline_bar *b)
{
    return (((int64_t)b->run * TIMELINE_MAX_BARS + b->job) * x->study->rules.stage.chunks + b->chunk) *
               CELLS_MAX +
           b->cell;
}

/*
 * Bars of each chunk are counted by sorting their identities; seen[] says how many have passed. Time O(bars
 * log bars). The first place of an identity in the sorted list is found by halving; bars are in order of
 * time, so the k-th that comes along is the k-th of its chunk.
 */
static int put_arrows(struct json *j, const struct story *x, int32_t story, struct err *e)
{
    const struct timeline *t = &x->timeline;
    int64_t *ids = calloc((size_t)t->n_bars + 1, sizeof *ids), n = 0;
    int32_t *seen = calloc((size_t)t->n_bars + 1, sizeof *seen);
    if (!ids || !seen) {
        free(ids);
        free(seen);
        return err_nomem(e, "a timeline");
    }
    for (int32_t i = 0; i < t->n_bars; i++)
        if (has_arrow(&t->bars[i]))
            ids[n++] = chunk_id(x, &t->bars[i]);
    qsort(ids, (size_t)n, sizeof *ids, compare_longs);
    for (int32_t i = 0; i < t->n_bars; i++) {
        const struct timeline_bar *b = &t->bars[i];
        if (!has_arrow(b))
            continue;
        int64_t id = chunk_id(x, b), at = 0;
        for (int64_t lo = 0, hi = n; lo < hi;) {
            at = lo + (hi - lo) / 2;
            if (ids[at] < id)
                lo = at + 1;
            else
                hi = at;
            at = lo;
        }
        int32_t k = seen[at]++;
        bool last = at + k + 1 >= n || ids[at + k + 1] != id;
        /* Identities of different workloads must differ, or a viewer would join their arrows. */
        put_arrow(j, b, process_id(x, b, story), id + (int64_t)story * INT64_C(1000000007), k == 0, last);
    }
    free(ids);
    free(seen);
    return 0;
}

/* A row of the viewer: of a process, named once. */
struct row_key {
    int64_t pid;
    int row;
};

static int compare_keys(const void *a, const void *b)
{
    const struct row_key *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void put_process_name(struct json *j, const struct story *x, const struct timeline_bar *b, int64_t pid)
{
    struct text name = { 0 };
    run_name(&name, x, &x->timeline.runs[b->run]);
    if (x->timeline.n_stages > 1)
        text_printf(&name, ", %s", x->timeline.stages[b->stage]);
    if (b->cell > 0)
        text_printf(&name, ", NPU class %d", (int)b->cell);
    put_name(j, "process_name", pid, 0, text_str(&name));
    text_free(&name);
}

/* Names of processes and rows, once each, in their order. Viewers take names from anywhere in the file; they
 * come first so that a cut file still has them. */
static int put_names(struct json *j, const struct story *x, int32_t story, struct err *e)
{
    const struct timeline *t = &x->timeline;
    struct named {
        struct row_key key;
        int32_t bar;
    } *rows = calloc((size_t)t->n_bars + 1, sizeof *rows);
    if (!rows)
        return err_nomem(e, "a timeline");
    for (int32_t i = 0; i < t->n_bars; i++)
        rows[i] = (struct named){ { process_id(x, &t->bars[i], story), row_id(&t->bars[i]) }, i };
    if (t->n_bars > 0)
        qsort(rows, (size_t)t->n_bars, sizeof *rows, compare_keys);
    for (int32_t i = 0; i < t->n_bars; i++) {
        const struct timeline_bar *b = &t->bars[rows[i].bar];
        if (i == 0 || rows[i].key.pid != rows[i - 1].key.pid)
            put_process_name(j, x, b, rows[i].key.pid);
        if (i == 0 || compare_keys(&rows[i], &rows[i - 1]) != 0)
            put_row_name(j, x, b, rows[i].key.pid);
    }
    free(rows);
    return 0;
}

static int put_story(struct json *j, const struct story *x, int32_t story, struct err *e)
{
    const struct timeline *t = &x->timeline;
    int rc = put_names(j, x, story, e);
    for (int32_t i = 0; i < t->n_bars && !rc; i++)
        put_bar(j, x, &t->bars[i], process_id(x, &t->bars[i], story));
    return rc ? rc : put_arrows(j, x, story, e);
}

static int write_trace(const struct run *run, const struct story *stories, int32_t n, const char *path,
                       struct err *e)
{
    struct text out = { 0 };
    struct json j = { .out = &out };
    int rc = 0;
    json_open(&j, NULL, '{');
    json_text(&j, "displayTimeUnit", "ns");
    json_open(&j, "otherData", '{');
    output_json_head(&j, run, output_origin(stories[0].study));
    json_close(&j, '}');
    json_open(&j, "traceEvents", '[');
    for (int32_t i = 0; i < n && !rc; i++)
        rc = put_story(&j, &stories[i], i, e);
    json_close(&j, ']');
    json_close(&j, '}');
    text_puts(&out, "\n");
    if (!rc)
        rc = text_check(&out, e);
    if (!rc)
        rc = output_file(run, path, &out, e);
    text_free(&out);
    return rc;
}

/* ---- table ---- */

/* A bar; what its kind does not have is blank. */
struct timeline_row {
    const char *workload, *stage, *row, *name;
    enum sim_model model;
    struct timeline_run run;
    struct timeline_bar bar;
    int32_t dim, pass; /* dim: from 1, 0 of none; pass: -1 of none */
    double util;
};

#define ROW(kind, field, called)                                                                             \
    COLUMN_AT(struct timeline_row, field, called, TABLE_##kind, NULL, .in = IN_CSV)
#define ROW_WORD(field, called, list, ...)                                                                   \
    COLUMN_AT(struct timeline_row, field, called, TABLE_COUNT, NULL, .in = IN_CSV, .words = (list),          \
              __VA_ARGS__)
#define ROW_FLAG(field, called)                                                                              \
    COLUMN_AT(struct timeline_row, field, called, TABLE_COUNT, NULL, .in = IN_CSV, .show = COLUMN_YES_NO)
static const struct column row_columns[] = {
    ROW(TEXT, workload, "workload"),
    ROW_WORD(model, "model", sim_model_words, .flags = 0),
    ROW_WORD(run.order, "order", sim_order_words, .flags = 0),
    ROW_FLAG(run.chosen, "chosen"),
    ROW(REAL, run.time_s, "time_s"),
    ROW(COUNT, bar.lane, "lane"),
    ROW(TEXT, stage, "stage"),
    ROW(TEXT, row, "row"),
    ROW(COUNT, dim, "dim"),
    ROW(REAL, util, "util"),
    ROW(COUNT, bar.cell, "npu_class"),
    ROW(COUNT, bar.slot, "slot"),
    ROW(TEXT, name, "name"),
    ROW(COUNT, bar.job, "collective"),
    ROW(COUNT, bar.chunk, "chunk"),
    ROW_WORD(pass, "pass", pass_names, .flags = COLUMN_EMPTY),
    ROW(REAL, bar.events, "events"),
    ROW(REAL, bar.bytes, "bytes"),
    ROW(REAL, bar.busy_s, "busy_s"),
    ROW_FLAG(bar.counts, "counts"),
    ROW(REAL, bar.ready_s, "ready_s"),
    ROW(REAL, bar.start_s, "start_s"),
    ROW(REAL, bar.end_s, "end_s"),
    COLUMNS_END,
};

static void put_row(struct report *r, const struct story *x, const struct timeline_bar *b)
{
    struct timeline_row row = { .workload = x->tree->name,
                                .stage = x->timeline.stages[b->stage],
                                .row = lane_name(x, b),
                                .name = bar_name(x, b),
                                .model = x->study->model,
                                .run = x->timeline.runs[b->run],
                                .bar = *b,
                                .dim = b->dim < 0 ? 0 : b->dim + 1,
                                .pass = b->chunk < 0 ? -1 : (int32_t)b->pass };
    row.util = b->dim < 0 ? (double)NAN : row.run.util_frac[b->dim];
    row.bar.bytes = b->dim < 0 ? (double)NAN : b->bytes;
    report_row(r, &row);
}

static int write_table(const struct run *run, const struct story *stories, int32_t n, const char *path,
                       struct err *e)
{
    struct report r = { .format = TABLE_AS_CSV };
    report_list(&r, NULL, row_columns);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < stories[i].timeline.n_bars; k++)
            put_row(&r, &stories[i], &stories[i].timeline.bars[k]);
    report_list_end(&r);
    int rc = output_report_to(&r, run, path, output_origin(stories[0].study), e);
    report_free(&r);
    return rc;
}

/* ---- both ---- */

/* How much of a timeline is folded; once for all runs. */
static void say_folded(struct run *run, const struct story *x)
{
    double n_folded = 0;
    int32_t n_drawn = 0;
    char a[SHOW], b[SHOW];
    for (int32_t i = 0; i < x->timeline.n_runs; i++) {
        n_folded += x->timeline.runs[i].n_folded;
        if (x->timeline.runs[i].n_folded > 0)
            n_drawn = x->timeline.runs[i].n_drawn;
    }
    if (n_folded > 0)
        output_warn(
            run,
            "timeline of %s: of each repeat the first %d are drawn; %s further intervals are folded into one "
            "bar a lane, of %s bars in all",
            x->tree->name[0] ? x->tree->name : "the step", (int)n_drawn, show_count(a, (int64_t)n_folded),
            show_count(b, x->timeline.n_bars));
}

int timeline_write(struct run *run, const struct design_point *s, const struct design *d, const char *path,
                   struct err *e)
{
    struct story *stories = calloc((size_t)s->n_workloads + 1, sizeof *stories);
    const struct sim_way way = design_point_way(s, d->bw_Bps);
    int rc = stories ? 0 : err_nomem(e, "a timeline");
    for (int32_t i = 0; i < s->n_workloads && !rc; i++) {
        stories[i] = (struct story){ .study = s, .tree = &s->workloads[i].tree };
        rc = timeline_build(&stories[i].timeline, stories[i].tree, &way, e);
    }
    bool trace = strcasecmp(extension(path), "json") == 0;
    if (!rc)
        rc = (trace ? write_trace : write_table)(run, stories, s->n_workloads, path, e);
    for (int32_t i = 0; stories && i < s->n_workloads; i++) {
        if (!rc)
            say_folded(run, &stories[i]);
        timeline_free(&stories[i].timeline);
    }
    free(stories);
    return rc;
}
