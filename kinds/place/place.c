/*
 * Placement studies as a kind of study: a point is jobs and servers, its entries are schedulers, and one run
 * is all of them with one seed, which draws jobs and servers for all alike. Rows are means over the seeds
 * with half of their 95 % interval.
 */
#include "kinds/place/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "kinds/place/place_study.h"
#include "study/store.h"
#include "study/study.h"

/* ---- metrics ---- */

/* Columns by model: slots, batch, events, interval. */
/* clang-format off */
#define METRIC(slots, batch, events, interval, called, sign, share, of)                                      \
    { { slots, batch, events, interval }, .title = called, .better = sign, .percent = share, .help = of }
const struct place_metric_row place_metrics[] = {
    [PLACE_UTILITY] = METRIC("utility", NULL, NULL, "utility", "utility", 1, false,
        "sum over jobs"),
    [PLACE_BOUND_FRAC] = METRIC("bound_frac", NULL, NULL, NULL, "of bound", 1, true,
        "gain of a slot over what no choice exceeds, mean over slots"),
    [PLACE_GUARANTEE] = METRIC("guarantee", "guarantee", NULL, "guarantee", "guarantee", 0, false,
        "what theory promises: a least share of the best utility, or a most of makespan over the least"),
    [PLACE_FINISHED] = METRIC("finished", NULL, "finished", NULL, "finished", 1, false,
        "jobs that came to their end"),
    [PLACE_MAKESPAN] = METRIC("makespan", "makespan_s", "makespan_s", NULL, "makespan", -1, false,
        "from the first arrival to the last end; none where jobs are left"),
    [PLACE_JCT] = METRIC("jct", "jct_s", "jct_s", "jct_s", "completion", -1, false,
        "mean time from arrival to end, of jobs that ended"),
    [PLACE_JCT_P50] = METRIC(NULL, NULL, "jct_p50_s", NULL, "median", -1, false,
        "of completion times"),
    [PLACE_JCT_P95] = METRIC(NULL, NULL, "jct_p95_s", NULL, "p95", -1, false,
        "of completion times"),
    [PLACE_WAIT] = METRIC(NULL, NULL, "wait_s", NULL, "wait", -1, false,
        "mean time without GPUs, of jobs that ended"),
    [PLACE_STRETCH] = METRIC(NULL, NULL, "stretch", NULL, "stretch", -1, false,
        "of jobs on several servers: mean of running time over that on the same place, alone"),
    [PLACE_EMBEDDED] = METRIC("embedded_frac", NULL, NULL, NULL, "embedded", 1, true,
        "share of active jobs that run, mean over slots"),
    [PLACE_ADMITTED] = METRIC(NULL, NULL, NULL, "admitted", "admitted", 1, false,
        "jobs"),
    [PLACE_OPTIMUM] = METRIC(NULL, NULL, NULL, "optimum_frac", "of optimum", 1, true,
        "utility over the exact optimum's"),
    [PLACE_GAP] = METRIC(NULL, NULL, NULL, "gap", "gap", -1, false,
        "utility below what no tasks and no admission exceed, relative"),
    [PLACE_USED] = METRIC(NULL, NULL, NULL, "used_frac", "used", 0, true,
        "resources used over those reserved"),
    [PLACE_GPU] = METRIC("gpu_frac", "gpu_frac", "gpu_frac", "gpu_frac", "GPUs", 1, true,
        "share of GPUs in use over time"),
    [PLACE_LINK] = METRIC("link_frac", "link_frac", "link_frac", NULL, "links", 0, true,
        "mean load of links over time"),
    [PLACE_LINK_PEAK] = METRIC("link_peak_frac", "link_peak_frac", "link_peak_frac", NULL, "hottest link", 0, true,
        "mean load of the most loaded link"),
    [PLACE_NODE_OVER] = METRIC("node_over", NULL, NULL, NULL, "server load", -1, false,
        "largest load of a server over its capacity; above 1 with rounding paper only"),
    [PLACE_LINK_OVER] = METRIC("link_over", NULL, NULL, NULL, "link load", -1, false,
        "largest load of a link over its capacity; above 1 with rounding paper only"),
};
#undef METRIC
/* clang-format on */

/* What schedulers are compared by first. */
static enum place_metric place_model_aim(enum place_model model)
{
    return model == PLACE_BATCH ? PLACE_MAKESPAN : model == PLACE_EVENTS ? PLACE_JCT : PLACE_UTILITY;
}

/* ---- what is kept of a point, of a run, and its rows ---- */

struct place_shared {
    struct study_shared head;
    const char *network, *model;
    double network_usd;
};

/* Of a scheduler at a point. */
struct place_row {
    const char *network, *model, *scheduler;
    int64_t seeds;
    double jobs;
    double x[N_PLACE_METRICS][2]; /* mean, and half of its interval */
    int64_t beats_next;
    double network_usd;
    const char *status, *message;
};

static const struct column shared_columns[] = {
    STUDY_SHARED_COLUMNS(struct place_shared, head),
    COLUMN_WORD(struct place_shared, network, NULL),
    COLUMN_WORD(struct place_shared, model, NULL),
    COLUMN_REAL(struct place_shared, network_usd, NULL),
    COLUMNS_END,
};

static const struct column result_columns[] = {
    STUDY_RESULT_COLUMNS(struct place_result, head),
    COLUMN_WORD(struct place_result, scheduler, NULL),
    COLUMN_WORD(struct place_result, notes, NULL),
    COLUMN_AT(struct place_result, n_jobs, "jobs", TABLE_COUNT, NULL),
    COLUMN_REAL_N(struct place_result, x, "metric#", N_PLACE_METRICS, NULL),
    COLUMNS_END,
};

/* Metrics are called as the study's models call them: place_open() puts their names in. */
#define ROW_BEGIN                                                                                            \
    COLUMN_WORD(struct place_row, network, "the network, graph, racks or pool it runs on",                   \
                .flags = COLUMN_EMPTY),                                                                      \
        COLUMN_WORD(struct place_row, model, "slots, batch, events or interval"),                            \
        COLUMN_WORD(struct place_row, scheduler, "whose rows these are"),                                    \
        COLUMN_COUNT(struct place_row, seeds, "runs, whose mean the row is"),                                \
        COLUMN_REAL(struct place_row, jobs, "of a run")
#define ROW_END                                                                                              \
    COLUMN_COUNT(struct place_row, beats_next,                                                               \
                 "seeds in which it is better than the scheduler listed next"),                              \
        COLUMN_REAL(struct place_row, network_usd, "typical price of the network"),                          \
        COLUMN_WORD(struct place_row, status, "done; infeasible: a scheduler has no plan; error"),           \
        COLUMN_WORD(struct place_row, message, "what is wrong")
#define RUN_BEGIN                                                                                            \
    COLUMN_WORD(struct place_result, network, "as in the rows", .flags = COLUMN_EMPTY),                      \
        COLUMN_WORD(struct place_result, model, "likewise"),                                                 \
        COLUMN_WORD(struct place_result, scheduler, "whose run it is"),                                      \
        COLUMN_COUNT(struct place_result, seed, "of the run"),                                               \
        COLUMN_AT(struct place_result, n_jobs, "jobs", TABLE_COUNT, "of the run")

static const struct column row_begin[] = { ROW_BEGIN }, row_end[] = { ROW_END }, run_begin[] = { RUN_BEGIN };

static const struct column row_columns[] = {
    ROW_BEGIN,
    COLUMN_REAL_N(struct place_row, x, "metric#", 2 * N_PLACE_METRICS, NULL),
    ROW_END,
    COLUMNS_END,
};

static const struct column run_columns[] = {
    RUN_BEGIN,
    COLUMN_REAL_N(struct place_result, x, "metric#", N_PLACE_METRICS, NULL),
    COLUMNS_END,
};

static const struct table_def place_tables[N_PLACE_TABLES] = {
    [TABLE_ROWS] = { .word = "rows", .columns = row_columns },
    [TABLE_RUNS] = { .word = "runs",
                     .help = "CSV of all runs, a row for each point, scheduler and seed",
                     .columns = run_columns,
                     .by_seed = true,
                     .as_rows = true },
    [PLACE_TABLE_JOBS] = { .word = "jobs",
                           .help =
                               "CSV of jobs: arrival, start, end, utility; of the first seed of each point, "
                               "as all below",
                           .columns = place_job_columns,
                           .by_seed = true,
                           .first_seed = true },
    [PLACE_TABLE_PLACES] = { .word = "places",
                             .help = "CSV of who ran where and when (plot gantt)",
                             .columns = place_place_columns,
                             .by_seed = true,
                             .first_seed = true },
    [PLACE_TABLE_SLOTS] = { .word = "slots",
                            .help = "CSV of the cluster over time",
                            .columns = place_slot_columns,
                            .by_seed = true,
                            .first_seed = true },
    [PLACE_TABLE_LINKS] = { .word = "links",
                            .help = "CSV of the load of every link over time (plot links)",
                            .columns = place_link_columns,
                            .by_seed = true,
                            .first_seed = true },
};

/* ---- columns of a study ---- */

enum { N_BEGIN = sizeof row_begin / sizeof *row_begin, N_END = sizeof row_end / sizeof *row_end };

struct place_own {
    struct column rows[N_BEGIN + 2 * N_PLACE_METRICS + N_END + 1], runs[N_BEGIN + N_PLACE_METRICS + 1];
    char halves[N_PLACE_METRICS][48];
};

/* As the model of the first point calls it, else the first that has it. */
static const char *place_metric_name(enum place_model first, int m)
{
    const char *name = place_metrics[m].names[first];
    for (int k = 0; k < N_PLACE_MODELS && !name; k++)
        name = place_metrics[m].names[k];
    return name;
}

static void place_name_metrics(struct place_own *own, enum place_model first)
{
    struct column *row = own->rows, *run = own->runs;
    memcpy(row, row_begin, sizeof row_begin);
    memcpy(run, run_begin, sizeof run_begin);
    row += N_BEGIN;
    run += N_BEGIN;
    for (int m = 0; m < N_PLACE_METRICS; m++) {
        const struct place_metric_row *metric = &place_metrics[m];
        struct column c = { .name = place_metric_name(first, m),
                            .help = metric->help,
                            .title = metric->title,
                            .kind = TABLE_REAL,
                            .better = metric->better };
        snprintf(own->halves[m], sizeof own->halves[m], "%s_ci", c.name);
        c.offset = offsetof(struct place_result, x) + (size_t)m * sizeof(double);
        *run++ = c;
        c.offset = offsetof(struct place_row, x) + (size_t)m * sizeof(double[2]);
        *row++ = c;
        c.offset += sizeof(double);
        c.name = own->halves[m];
        c.flags = COLUMN_HALF;
        *row++ = c;
    }
    memcpy(row, row_end, sizeof row_end);
}

/* ---- opening ---- */

/* Keys of the jobs of the model in the file; NULL where it has none that is known, or more than one. */
static const struct section *place_jobs_section(const struct sweep *w, const struct yaml_doc *doc)
{
    yaml_id id = yaml_get(doc, doc->root, "model");
    const char *word = id >= 0 ? doc->nodes[id].text : NULL;
    for (int32_t k = 0; k < w->n_keys; k++)
        if (strcmp(w->keys[k].path, "model") == 0)
            return NULL;
    for (int m = 0; m < N_PLACE_MODELS && word; m++)
        if (strcmp(place_model_words[m], word) == 0)
            return place_ops_of((enum place_model)m)->jobs;
    return NULL;
}

/* Axes of the model's jobs are checked here: the tables of keys do not know which model it is. */
static int place_check(const struct study *s, const struct yaml_doc *doc, struct err *e)
{
    const struct sweep *w = &s->sweep;
    const struct section *jobs = place_jobs_section(w, doc);
    int rc = 0;
    for (int32_t k = 0; k < w->n_keys && jobs && !rc; k++) {
        const char *path = w->keys[k].path;
        if (strncmp(path, "jobs.", 5) == 0 && !strpbrk(path + 5, ".["))
            rc = sweep_check_key(jobs, path + 5, doc, w->keys[k].at, e);
    }
    return rc;
}

/* Whether a key has an effect may depend on these: what the first point leaves idle another may use. */
static bool place_axes_decide(const struct sweep *w)
{
    static const char *const deciding[] = { "model",         "schedulers", "jobs.utility",
                                            "jobs.progress", "las.queues", "gadget.rounding" };
    for (int32_t k = 0; k < w->n_keys; k++)
        for (size_t i = 0; i < sizeof deciding / sizeof deciding[0]; i++)
            if (strcmp(w->keys[k].path, deciding[i]) == 0)
                return true;
    return false;
}

static int place_open(struct study *s, const struct yaml_doc *doc, const void *first, struct err *e)
{
    const struct place_study *p = first;
    struct place_own *own = calloc(1, sizeof *own);
    (void)doc;
    s->own = own;
    if (!own)
        return err_nomem(e, "columns of a placement study");
    s->seed = p->conf.seed;
    s->seeds = p->conf.seeds;
    s->hash = sweep_hash(&s->sweep, yaml_hash(&p->doc, p->doc.root));
    text_puts(&s->name, p->conf.name ? p->conf.name : "");
    if (!place_axes_decide(&s->sweep))
        text_puts(&s->notes, text_str(&p->notes));
    place_name_metrics(own, p->model);
    int rc = study_set_columns(s, TABLE_ROWS, own->rows, e);
    if (!rc)
        rc = study_set_columns(s, TABLE_RUNS, own->runs, e);
    if (!rc)
        rc = text_check(&s->name, e);
    return rc ? rc : text_check(&s->notes, e);
}

static void place_close(struct study *s)
{
    free(s->own);
}

/* ---- points ---- */

static int place_point_read(void *point, const struct study_source *from, struct err *e)
{
    return place_study_read(point, from, e);
}

static void place_point_free(void *point)
{
    place_study_free(point);
}

static void place_name_network(char out[128], const struct place_study *s)
{
    char word[TOPO_SPEC];
    const struct place_servers *v = &s->servers;
    if (s->model == PLACE_INTERVAL || !place_has_servers(s)) /* there are no links */
        snprintf(out, 128, "pool");
    else if (v->has_network)
        snprintf(out, 128, "%s", v->net.name[0] ? v->net.name : topo_format_spec(word, &v->net));
    else
        snprintf(out, 128, "%s", v->graph ? v->graph : "racks");
}

static int place_prepare(void *point, void *shared, struct err *e)
{
    struct place_study *s = point;
    struct place_shared *x = shared;
    (void)e;
    place_name_network(s->network, s);
    x->network = s->network;
    x->model = place_model_words[s->model];
    x->network_usd = s->network_usd;
    return 0;
}

static int32_t place_count_entries(const void *point)
{
    return ((const struct place_study *)point)->n_schedulers;
}

/* ---- runs ---- */

/* Nothing is kept of a run that failed, under whichever scheduler, but why, and what its trace has to tell.
 */
static void place_forget(struct place_result *x, int rc, const char *message)
{
    const struct place_result ran = *x;
    row_clear(x, result_columns);
    x->scheduler = ran.scheduler;
    x->notes = ran.notes;
    x->head.rc = -(int64_t)rc;
    x->head.message = message;
}

static int place_run_seed(const struct study_run *r, struct sink *sink, struct err *e)
{
    const struct place_study *s = r->point;
    struct text notes = { 0 };
    struct place_run run = {
        .study = s, .seed = r->seed, .sink = sink, .wanted = r->wanted, .notes = r->k == 0 ? &notes : NULL
    };
    struct place_result *out = calloc((size_t)s->n_schedulers + 1, sizeof *out);
    struct err inner = { 0 };
    if (!out)
        return err_nomem(e, "results");
    for (int32_t i = 0; i < s->n_schedulers; i++) {
        row_clear(&out[i], result_columns);
        out[i].head.rc = 0;
        out[i].network = s->network;
        out[i].model = place_model_words[s->model];
        out[i].scheduler = place_ops_of(s->model)->scheduler(s->schedulers[i]);
        out[i].seed = r->seed;
    }
    int rc = place_run_all(out, &run, &inner);
    bool fatal = rc == ERR_NOMEM || notes.failed;
    out[0].notes = notes.n ? text_str(&notes) : NULL;
    for (int32_t i = 0; i < s->n_schedulers && !fatal; i++) {
        if (rc)
            place_forget(&out[i], rc, inner.msg);
        else
            sink_put(sink, TABLE_RUNS, &out[i]);
        sink_result(sink, i, &out[i]);
    }
    text_free(&notes);
    free(out);
    return fatal ? err_nomem(e, "a run") : 0;
}

/* ---- rows ---- */

static enum place_model place_model_called(const char *word)
{
    int m = 0;
    while (m < N_PLACE_MODELS - 1 && strcmp(place_model_words[m], word) != 0)
        m++;
    return (enum place_model)m;
}

/* In how many seeds scheduler i is better than the one after it; -1 for the last one. */
static int64_t place_count_better(const struct results *r, int32_t i, enum place_model model)
{
    enum place_metric aim = place_model_aim(model);
    int64_t n = 0;
    if (i + 1 >= results_entries(r))
        return -1;
    for (int64_t k = 0; k < results_seeds(r); k++) {
        const struct place_result *a = results_at(r, i, k), *b = results_at(r, i + 1, k);
        n += place_metrics[aim].better * a->x[aim] > place_metrics[aim].better * b->x[aim];
    }
    return n;
}

/* Means over all seeds; @p x has room for them. */
static void place_put_means(struct rows *rows, const struct place_row *begin, const struct results *r,
                            int32_t i, double *x)
{
    int64_t seeds = results_seeds(r);
    struct place_row row = *begin;
    row.scheduler = ((const struct place_result *)results_at(r, i, 0))->scheduler;
    row.seeds = seeds;
    for (int m = 0; m < N_PLACE_METRICS; m++) {
        for (int64_t k = 0; k < seeds; k++)
            x[k] = ((const struct place_result *)results_at(r, i, k))->x[m];
        struct stat_mean mean = stat_mean(x, seeds, 1);
        row.x[m][0] = mean.mean;
        row.x[m][1] = mean.half;
    }
    for (int64_t k = 0; k < seeds; k++)
        x[k] = (double)((const struct place_result *)results_at(r, i, k))->n_jobs;
    row.jobs = stat_mean(x, seeds, 1).mean;
    row.beats_next = place_count_better(r, i, place_model_called(row.model));
    row.status = "done";
    rows_put(rows, &row);
}

/* Of all seeds the first that failed; NULL: none did. */
static const struct study_result *place_find_failed(const struct results *r)
{
    for (int64_t k = 0; k < results_seeds(r); k++) {
        const struct study_result *head = results_at(r, 0, k);
        if (head->rc)
            return head;
    }
    return NULL;
}

static int place_reduce(struct rows *rows, void *shared, const struct results *r, struct err *e)
{
    const struct place_shared *x = shared;
    struct place_row row;
    row_clear(&row, row_columns);
    row.network = x->network;
    row.model = x->model;
    const struct study_result *failed = x->head.rc ? NULL : place_find_failed(r);
    const struct place_result *first = x->head.rc ? NULL : results_at(r, 0, 0);
    if (first && first->notes)
        rows_note(rows, first->notes);
    if (x->head.rc || failed) {
        int64_t rc = failed ? failed->rc : x->head.rc;
        row.status = rc == -ERR_NO_DESIGN ? "infeasible" : "error";
        row.message = failed ? failed->message : x->head.message;
        rows_put(rows, &row);
        return 0;
    }
    double *values = malloc((size_t)results_seeds(r) * sizeof *values);
    if (!values)
        return err_nomem(e, "means");
    row.network_usd = x->network_usd;
    for (int32_t i = 0; i < results_entries(r); i++)
        place_put_means(rows, &row, r, i, values);
    free(values);
    return 0;
}

/* ---- which columns are shown ---- */

/* Metrics of the first point's model, and of the models of all rows. */
static int place_trim(bool *show, const struct table *columns, struct store *s, struct err *e)
{
    bool known[N_PLACE_MODELS] = { false };
    for (int m = 0; m < N_PLACE_MODELS; m++) {
        int rc = store_any_word(s, "model", place_model_words[m], &known[m], e);
        if (rc)
            return rc;
    }
    int32_t first = columns->n_cols - N_END - 2 * N_PLACE_METRICS;
    for (int m = 0; m < N_PLACE_METRICS; m++) {
        bool any = false;
        for (int k = 0; k < N_PLACE_MODELS; k++)
            any = any || (known[k] && place_metrics[m].names[k]);
        show[first + 2 * m] = show[first + 2 * m + 1] = any;
    }
    return 0;
}

static bool place_is_done(const struct table *rows, int64_t row, const int32_t *cols)
{
    const char *status = cols[0] >= 0 ? table_text(rows, row, cols[0]) : NULL;
    return status && strcmp(status, "done") == 0;
}

/* ---- facts for `where` ---- */

enum { FACT_ENTRIES, FACT_NPUS, FACT_DIMS, FACT_SIZES };
static const char *const fact_names[] = { "n_entries", "n_npus", "n_dims", "size1", "size2", "size3",
                                          "size4",     "size5",  "size6",  "size7", "size8", NULL };

static void place_put_facts(double *x, const void *point)
{
    const struct place_study *s = point;
    const struct topo_network *net = s->servers.has_network ? &s->servers.net : NULL;
    x[FACT_ENTRIES] = s->n_schedulers;
    x[FACT_NPUS] = net ? (double)net->n_npus : (double)NAN;
    x[FACT_DIMS] = net ? net->n_dims : (double)NAN;
    for (int d = 0; d < TOPO_MAX_DIMS; d++)
        x[FACT_SIZES + d] = !net ? (double)NAN : d < net->n_dims ? (double)net->dims[d].size : 1;
}

static const char *const own_keys[] = { "jobs", "slots",   "racks", "graph",  "pool", "gadget",
                                        "las",  "sjf_bco", "smd",   "events", NULL };
static const char *const fixed_axes[] = { "seed", "seeds", NULL };
static const char *const told_by[] = { "status", NULL };
static const char *const front[] = { "max:utility", "makespan",    "makespan_s",   "jct",
                                     "jct_s",       "network_usd", "max:gpu_frac", NULL };
static const char *const work[] = { "jobs", "model", "slots", NULL };

const struct study_kind place_kind = {
    .word = "place",
    .what = "jobs on the servers of a network, under several schedulers",
    .keys = &place_section,
    .own_keys = own_keys,
    .fixed_axes = fixed_axes,
    .tables = place_tables,
    .n_tables = N_PLACE_TABLES,
    .check = place_check,
    .open = place_open,
    .close = place_close,
    .point_size = sizeof(struct place_study),
    .read = place_point_read,
    .free = place_point_free,
    .fact_names = fact_names,
    .facts = place_put_facts,
    .shared = shared_columns,
    .result = result_columns,
    .shared_size = sizeof(struct place_shared),
    .result_size = sizeof(struct place_result),
    .prepare = place_prepare,
    .n_entries = place_count_entries,
    .whole_seed = true,
    .run = place_run_seed,
    .reduce = place_reduce,
    .notes = NOTES_EACH,
    .is_result = place_is_done,
    .result_columns = told_by,
    .label = "scheduler",
    .front = front,
    .work = work,
    .trim = place_trim,
    .say = place_say,
    .conclude = place_conclude,
    .fail_alone = place_fail_alone,
    .list = place_list,
    .empty_of = "model",
};
