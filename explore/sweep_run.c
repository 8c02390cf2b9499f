#include "explore/sweep_axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "explore/training_report.h"

/* ---- one point ---- */

enum { DIMS = TOPO_MAX_DIMS };

/* What a row shows; numbers in the units of its columns, NaN = blank. */
struct outcome {
    bool run;                                  /* false: progress stopped the sweep before */
    char *network, *dims, *workload, *message; /* owned, NULL = blank */
    const char *objective, *status;            /* literals, or an axis' own text */
    int32_t n_dims;                            /* 0: the study could not be read */
    double total_GBps, time_s, compute_s, comm_s, cost_usd, equal_time_s, equal_cost_usd, speedup,
        perf_per_cost_gain, nic_GBps, gap;
    int unique; /* -1 = blank */
    double bw_GBps[DIMS], util[DIMS], exposed_s[DIMS];
    struct training_row training;
};

static double giga(double Bps)
{
    return Bps / 1e9;
}

static void blank(struct outcome *o)
{
    *o = (struct outcome){
        .total_GBps = NAN,
        .time_s = NAN,
        .compute_s = NAN,
        .comm_s = NAN,
        .cost_usd = NAN,
        .equal_time_s = NAN,
        .equal_cost_usd = NAN,
        .speedup = NAN,
        .perf_per_cost_gain = NAN,
        .nic_GBps = NAN,
        .gap = NAN,
        .unique = -1,
    };
    for (int d = 0; d < DIMS; d++)
        o->bw_GBps[d] = o->util[d] = o->exposed_s[d] = NAN;
}

static void outcome_free(struct outcome *o)
{
    free(o->network);
    free(o->dims);
    free(o->workload);
    free(o->message);
    *o = (struct outcome){ 0 };
}

static int keep_text(char **out, const char *text, struct err *e)
{
    *out = strdup(text);
    return *out ? 0 : err_nomem(e, "rows of a sweep");
}

static void put_workloads(struct text *out, const struct study *s)
{
    char number[NUM_TEXT];
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct study_workload *w = &s->workloads[i];
        text_puts(out, i ? "+" : "");
        if (w->weight != 1)
            text_printf(out, "%s*", num_format(number, w->weight));
        text_puts(out, w->tree.name[0] ? w->tree.name : "unnamed");
    }
}

/* What is known of the point before it is solved. */
static int take_study(struct outcome *o, const struct study *s, struct err *e)
{
    char spec[TOPO_SPEC];
    struct text dims = { 0 }, workload = { 0 };
    o->n_dims = s->net.n_dims;
    o->objective = alloc_objective_names[s->objective];
    o->total_GBps = giga(s->total_Bps);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        text_printf(&dims, "%s%s", d ? "|" : "", s->net.dims[d].name);
    put_workloads(&workload, s);
    int rc = text_check(&dims, e);
    if (!rc)
        rc = text_check(&workload, e);
    if (!rc)
        rc = keep_text(&o->network, s->net.name[0] ? s->net.name : topo_format_spec(spec, &s->net), e);
    if (!rc)
        rc = keep_text(&o->dims, text_str(&dims), e);
    if (!rc)
        rc = keep_text(&o->workload, text_str(&workload), e);
    text_free(&dims);
    text_free(&workload);
    return rc;
}

static void take_results(struct outcome *o, const struct design *d)
{
    if (isnan(o->total_GBps))
        o->total_GBps = giga(d->total_Bps);
    o->time_s = d->time_s;
    o->compute_s = d->compute_s;
    o->comm_s = d->comm_s;
    o->cost_usd = d->cost_usd;
    o->equal_time_s = d->equal.time_s;
    o->equal_cost_usd = d->equal.cost_usd;
    o->speedup = d->speedup;
    o->perf_per_cost_gain = d->perf_per_cost_gain;
    o->nic_GBps = giga(d->nic_Bps);
    o->gap = d->answer.gap;
    o->unique = d->answer.unique;
    for (int32_t k = 0; k < d->n_dims; k++) {
        o->bw_GBps[k] = giga(d->bw_Bps[k]);
        o->util[k] = d->util_frac[k];
        o->exposed_s[k] = d->exposed_s[k];
    }
}

static int take_design(struct outcome *o, struct study *s, struct err *e)
{
    struct design d;
    int rc = design_solve(&d, s, e);
    if (rc)
        return rc;
    o->status = alloc_status_names[d.answer.status];
    if (alloc_has_split(&d.answer)) {
        take_results(o, &d);
        rc = training_row_fill(&o->training, s, &d, e);
    }
    if (!rc && d.answer.reason[0])
        rc = keep_text(&o->message, d.answer.reason, e);
    design_free(&d);
    return rc;
}

/* A point that cannot be read is told by the values of its axes, as they are written. */
static int take_axes(struct outcome *o, const struct sweep *w, const struct sweep_point *p, struct err *e)
{
    int rc = 0;
    for (int32_t k = 0; k < w->n_keys && !rc; k++) {
        const char *path = w->keys[k].path, *value = sweep_value(w, p, k);
        if (!value)
            continue;
        if (strcmp(path, "network") == 0 && !o->network)
            rc = keep_text(&o->network, value, e);
        else if ((strcmp(path, "workload") == 0 || strcmp(path, "workloads") == 0) && !o->workload)
            rc = keep_text(&o->workload, value, e);
        else if (strcmp(path, "objective") == 0 && !o->objective)
            o->objective = value;
        else if (strcmp(path, "total_GBps") == 0 && isnan(o->total_GBps) &&
                 !num_parse_real(value, &o->total_GBps))
            o->total_GBps = NAN;
    }
    return rc;
}

/* Lack of memory ends the sweep; whatever else is wrong with a point is its row. */
static int run_point(struct outcome *o, const struct sweep *w, int64_t i, const struct study_source *from,
                     struct err *e)
{
    struct sweep_point p;
    struct study s;
    struct err inner = { 0 };
    blank(o);
    o->run = true;
    sweep_find_point(&p, w, i);
    int rc = sweep_load(&s, w, &p, *from, 0, &inner);
    if (!rc) {
        rc = take_study(o, &s, &inner);
        if (!rc)
            rc = take_design(o, &s, &inner);
        study_free(&s);
    }
    if (rc == ERR_NOMEM)
        return err_set(e, rc, "%s", inner.msg);
    if (!rc)
        return 0;
    o->status = "error";
    rc = take_axes(o, w, &p, e);
    return rc ? rc : keep_text(&o->message, inner.msg, e);
}

/* ---- the table ---- */

/* Keys that a column of the results tells apart already; `workloads` by names and weights. */
static bool has_own_column(const struct sweep_key *key)
{
    static const char *const shown[] = { "network", "workload", "workloads", "objective", "total_GBps" };
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (strcmp(key->path, shown[i]) == 0)
            return true;
    return false;
}

static void dim_columns(struct table *t, const char *before, const char *after, int32_t n)
{
    char name[32];
    for (int32_t d = 1; d <= n; d++) {
        snprintf(name, sizeof name, "%s%d%s", before, (int)d, after);
        table_column(t, name, TABLE_REAL);
    }
}

static void add_columns(struct table *t, const struct sweep *w, int32_t widest, bool trains)
{
    static const char *const results[] = {
        "time_s",  "compute_s",          "comm_s",   "cost_usd", "equal_time_s", "equal_cost_usd",
        "speedup", "perf_per_cost_gain", "nic_GBps", "gap",
    };
    table_column(t, "point", TABLE_COUNT);
    for (int32_t k = 0; k < w->n_keys; k++)
        if (!has_own_column(&w->keys[k]))
            table_column(t, w->keys[k].path, TABLE_TEXT);
    table_column(t, "network", TABLE_TEXT);
    table_column(t, "n_dims", TABLE_COUNT);
    table_column(t, "dims", TABLE_TEXT);
    table_column(t, "workload", TABLE_TEXT);
    table_column(t, "objective", TABLE_TEXT);
    table_column(t, "total_GBps", TABLE_REAL);
    table_column(t, "status", TABLE_TEXT);
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        table_column(t, results[i], TABLE_REAL);
    table_column(t, "unique", TABLE_TEXT);
    dim_columns(t, "bw", "_GBps", widest);
    dim_columns(t, "util", "", widest);
    dim_columns(t, "exposed", "_s", widest);
    if (trains)
        training_row_columns(t);
    table_column(t, "message", TABLE_TEXT);
}

static void put_reals(struct table *t, const double *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        table_put_real(t, x[i]);
}

static void add_row(struct table *t, const struct sweep *w, int64_t i, const struct outcome *o,
                    int32_t widest, bool trains)
{
    const double results[] = { o->time_s,   o->compute_s,          o->comm_s,
                               o->cost_usd, o->equal_time_s,       o->equal_cost_usd,
                               o->speedup,  o->perf_per_cost_gain, o->nic_GBps,
                               o->gap };
    struct sweep_point p;
    sweep_find_point(&p, w, i);
    table_row(t);
    table_put_count(t, i);
    for (int32_t k = 0; k < w->n_keys; k++)
        if (!has_own_column(&w->keys[k]))
            table_put_text(t, sweep_value(w, &p, k));
    table_put_text(t, o->network);
    table_put_count(t, o->n_dims ? o->n_dims : INT64_MIN);
    table_put_text(t, o->dims);
    table_put_text(t, o->workload);
    table_put_text(t, o->objective);
    table_put_real(t, o->total_GBps);
    table_put_text(t, o->status);
    put_reals(t, results, sizeof results / sizeof results[0]);
    table_put_text(t, o->unique < 0 ? NULL : o->unique ? "yes" : "no");
    put_reals(t, o->bw_GBps, widest);
    put_reals(t, o->util, widest);
    put_reals(t, o->exposed_s, widest);
    if (trains)
        training_row_put(t, &o->training);
    table_put_text(t, o->message);
}

/* ---- all points ---- */

struct run {
    const struct sweep *sweep;
    const struct study_source *from;
    struct outcome *outcomes; /* shape [n_points] */
};

static int do_point(void *data, int64_t i, struct err *e)
{
    struct run *r = data;
    return run_point(&r->outcomes[i], r->sweep, i, r->from, e);
}

/* Rows in point order, none after a failure; outcomes are freed on the way. */
static int make_table(struct table *out, const struct run *r, bool failed, struct err *e)
{
    int32_t widest = 0;
    bool trains = false;
    for (int64_t i = 0; i < r->sweep->n_points; i++) {
        if (r->outcomes[i].n_dims > widest)
            widest = r->outcomes[i].n_dims;
        trains = trains || r->outcomes[i].training.known;
    }
    add_columns(out, r->sweep, widest, trains);
    for (int64_t i = 0; i < r->sweep->n_points; i++) {
        if (r->outcomes[i].run && !failed)
            add_row(out, r->sweep, i, &r->outcomes[i], widest, trains);
        outcome_free(&r->outcomes[i]);
    }
    return out->failed ? err_nomem(e, "rows of a sweep") : 0;
}

int sweep_run(struct table *out, const struct sweep *w, const char *path,
              const struct study_override *overrides, int32_t n, int32_t threads, pool_progress *progress,
              void *context, struct err *e)
{
    const struct study_source from = { .path = path, .overrides = overrides, .n = n };
    struct run r = { .sweep = w, .from = &from };
    struct pool pool = {
        .unit = do_point, .data = &r, .progress = progress, .context = context, .total = w->n_points
    };
    r.outcomes = calloc((size_t)w->n_points, sizeof *r.outcomes);
    if (!r.outcomes)
        return err_nomem(e, "rows of a sweep");
    int failed = pool_run(&pool, w->n_points, 1, threads > 0 ? threads : 1, e);
    struct err second = { 0 };
    int rc = make_table(out, &r, failed, failed ? &second : e);
    free(r.outcomes);
    return failed ? failed : rc;
}
