#include "cli/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/chunk/order.h"
#include "sim/step.h"
#include "sim/train.h"

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

int timeline_check(const struct run *run, const char *path, struct err *e)
{
    if (strcasecmp(extension(path), "json") != 0 && strcasecmp(extension(path), "csv") != 0)
        return err_set(e, ERR_USAGE, "option --timeline is \"%.200s\", need a name ending in .json or .csv",
                       path);
    return output_check(run, path, e);
}

/* What reports call the work of a bar. */
static const char *bar_name(const struct story *x, const struct timeline_bar *b)
{
    const struct step_node *node = &x->tree->nodes[b->node];
    if (node->name[0])
        return node->name;
    return b->job < 0 ? "compute" : collective_names[node->collective];
}

static void run_name(struct text *out, const struct story *x, const struct timeline_run *run)
{
    text_printf(out, "%s%s%s order%s", x->tree->name, x->tree->name[0] ? ", " : "",
                sim_order_words[run->order], run->chosen && x->timeline.n_runs > 1 ? " (chosen)" : "");
}

/* ---- trace events ---- */

/* Rows of the viewer, which sorts them by name: compute, then the dimensions with their slots. */
enum { ROWS_PER_DIM = 2000 };

static int row_id(const struct timeline_bar *b)
{
    return (b->dim + 1) * ROWS_PER_DIM + b->slot;
}

/* A process per run and class of NPUs. */
static int64_t process_id(const struct timeline_bar *b, int32_t story)
{
    return ((int64_t)story * TIMELINE_MAX_RUNS + b->run) * 1000000 + b->cell + 1;
}

static void open_event(struct json *j, const char *phase, const char *name, int64_t pid, int row)
{
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
    char name[TOPO_NAME + 64], label[TOPO_DIM_LABEL];
    const struct topo_dim *dim = b->dim < 0 ? NULL : &x->study->net.dims[b->dim];
    if (!dim)
        snprintf(name, sizeof name, "0 compute");
    else if (x->study->rules.active > 1)
        snprintf(name, sizeof name, "%d %s %s, slot %d", (int)b->dim + 1, dim->name,
                 topo_dim_label(label, dim), (int)b->slot + 1);
    else
        snprintf(name, sizeof name, "%d %s %s", (int)b->dim + 1, dim->name, topo_dim_label(label, dim));
    put_name(j, "thread_name", pid, row_id(b), name);
}

static void put_bar(struct json *j, const struct story *x, const struct timeline_bar *b, int64_t pid)
{
    open_event(j, "X", bar_name(x, b), pid, row_id(b));
    json_real(j, "ts", b->start_s * 1e6);
    json_real(j, "dur", (b->end_s - b->start_s) * 1e6);
    if (b->job >= 0) {
        json_text(j, "cat", pass_names[b->pass]);
        json_open(j, "args", '{');
        json_text(j, "pass", pass_names[b->pass]);
        json_count(j, "collective", b->job);
        json_count(j, "chunk", b->chunk);
        json_real(j, "bytes", b->bytes);
        json_real(j, "waited_us", (b->start_s - b->ready_s) * 1e6);
        json_close(j, '}');
    }
    json_close(j, '}');
}

/* An arrow from stage to stage of one chunk: it starts, goes on and ends inside bars. */
static void put_arrow(struct json *j, const struct timeline_bar *b, int64_t pid, int64_t id, bool first,
                      bool last)
{
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
    return (((int64_t)b->run * TRAIN_MAX_JOBS + b->job) * x->study->rules.stage.chunks + b->chunk) *
               CELLS_MAX +
           b->cell;
}

/* Bars of each chunk are counted by sorting their identities; seen[] says how many have passed. */
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
        if (t->bars[i].job >= 0)
            ids[n++] = chunk_id(x, &t->bars[i]);
    qsort(ids, (size_t)n, sizeof *ids, compare_longs);
    for (int32_t i = 0; i < t->n_bars; i++) {
        const struct timeline_bar *b = &t->bars[i];
        if (b->job < 0)
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
        put_arrow(j, b, process_id(b, story), id + (int64_t)story * INT64_C(1000000007), k == 0, last);
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
    if (b->cell > 0)
        text_printf(&name, ", NPU class %d", (int)b->cell);
    put_name(j, "process_name", pid, 0, text_str(&name));
    text_free(&name);
}

/* Names of processes and rows, once each, in their order. */
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
        rows[i] = (struct named){ { process_id(&t->bars[i], story), row_id(&t->bars[i]) }, i };
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
        put_bar(j, x, &t->bars[i], process_id(&t->bars[i], story));
    return rc ? rc : put_arrows(j, x, story, e);
}

static int write_trace(const struct run *run, const struct story *stories, int32_t n, struct text *out,
                       struct err *e)
{
    struct json j = { .out = out };
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
    text_puts(out, "\n");
    return rc;
}

/* ---- table ---- */

static void add_columns(struct table *t)
{
    static const struct {
        const char *name;
        enum table_kind kind;
    } columns[] = {
        { "workload", TABLE_TEXT }, { "order", TABLE_TEXT },       { "chosen", TABLE_TEXT },
        { "time_s", TABLE_REAL },   { "row", TABLE_TEXT },         { "dim", TABLE_COUNT },
        { "util", TABLE_REAL },     { "npu_class", TABLE_COUNT },  { "slot", TABLE_COUNT },
        { "name", TABLE_TEXT },     { "collective", TABLE_COUNT }, { "chunk", TABLE_COUNT },
        { "pass", TABLE_TEXT },     { "bytes", TABLE_REAL },       { "ready_s", TABLE_REAL },
        { "start_s", TABLE_REAL },  { "end_s", TABLE_REAL },
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i].name, columns[i].kind);
}

static void put_row(struct table *t, const struct story *x, const struct timeline_bar *b)
{
    const struct timeline_run *run = &x->timeline.runs[b->run];
    bool sends = b->job >= 0;
    table_row(t);
    table_put_text(t, x->tree->name);
    table_put_text(t, sim_order_words[run->order]);
    table_put_text(t, run->chosen ? "yes" : "no");
    table_put_real(t, run->time_s);
    table_put_text(t, sends ? x->study->net.dims[b->dim].name : "compute");
    table_put_count(t, b->dim + 1);
    if (sends)
        table_put_real(t, run->util_frac[b->dim]);
    else
        table_put_none(t);
    table_put_count(t, b->cell);
    table_put_count(t, b->slot);
    table_put_text(t, bar_name(x, b));
    if (sends) {
        table_put_count(t, b->job);
        table_put_count(t, b->chunk);
        table_put_text(t, pass_names[b->pass]);
        table_put_real(t, b->bytes);
    } else {
        for (int i = 0; i < 4; i++)
            table_put_none(t);
    }
    table_put_real(t, b->ready_s);
    table_put_real(t, b->start_s);
    table_put_real(t, b->end_s);
}

static int write_table(const struct run *run, const struct story *stories, int32_t n, struct text *out,
                       struct err *e)
{
    struct table t = { 0 };
    struct text head = { 0 };
    add_columns(&t);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < stories[i].timeline.n_bars; k++)
            put_row(&t, &stories[i], &stories[i].timeline.bars[k]);
    output_head(&head, run, output_origin(stories[0].study));
    int rc = table_write(&t, TABLE_AS_CSV, text_str(&head), out, e);
    text_free(&head);
    table_free(&t);
    return rc;
}

int timeline_write(const struct run *run, const struct design_point *s, const struct design *d,
                   const char *path, struct err *e)
{
    struct story *stories = calloc((size_t)s->n_workloads + 1, sizeof *stories);
    struct text out = { 0 };
    int rc = stories ? 0 : err_nomem(e, "a timeline");
    if (!rc && s->rules.semantics != SIM_PHYSICAL)
        rc = err_set(e, ERR_USAGE, "option --timeline is given with semantics %s, need physical",
                     sim_semantics_words[s->rules.semantics]);
    for (int32_t i = 0; i < s->n_workloads && !rc; i++) {
        stories[i] = (struct story){ .study = s, .tree = &s->workloads[i].tree };
        rc = timeline_build(&stories[i].timeline, stories[i].tree, &s->net, d->bw_Bps, &s->rules,
                            &d->loads[i].step, e);
    }
    bool trace = strcasecmp(extension(path), "json") == 0;
    if (!rc)
        rc = trace ? write_trace(run, stories, s->n_workloads, &out, e)
                   : write_table(run, stories, s->n_workloads, &out, e);
    if (!rc)
        rc = text_check(&out, e);
    if (!rc)
        rc = text_write_file(&out, path, run->opt.force, e);
    for (int32_t i = 0; stories && i < s->n_workloads; i++)
        timeline_free(&stories[i].timeline);
    free(stories);
    text_free(&out);
    return rc;
}
