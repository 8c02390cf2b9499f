#include "kinds/design/sweep_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "kinds/design/runner.h"
#include "study/store.h"

/* ---- words ---- */

static void put_workloads(struct text *out, const struct design_point *s)
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

int sweep_words_change(struct sweep_words *words, const struct design_point *s, struct err *e)
{
    char spec[TOPO_SPEC];
    if (words->network.n && s->net.name[0])
        return 0;
    text_clear(&words->network);
    text_puts(&words->network, s->net.name[0] ? s->net.name : topo_format_spec(spec, &s->net));
    return text_check(&words->network, e);
}

int sweep_words_take(struct sweep_words *words, const struct design_point *s, struct err *e)
{
    text_clear(&words->network);
    text_clear(&words->dims);
    text_clear(&words->workload);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        text_puts(&words->dims, d ? "|" : "");
        text_puts(&words->dims, s->net.dims[d].name);
    }
    put_workloads(&words->workload, s);
    int rc = text_check(&words->dims, e);
    if (!rc)
        rc = text_check(&words->workload, e);
    return rc ? rc : sweep_words_change(words, s, e);
}

void sweep_words_free(struct sweep_words *words)
{
    text_free(&words->network);
    text_free(&words->dims);
    text_free(&words->workload);
}

/* ---- a row ---- */

static double giga(double Bps)
{
    return Bps / 1e9;
}

void sweep_row_blank(struct sweep_row *row)
{
    *row = (struct sweep_row){
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
    for (int d = 0; d < TOPO_MAX_DIMS; d++)
        row->bw_GBps[d] = row->util[d] = row->exposed_s[d] = NAN;
}

void sweep_row_study(struct sweep_row *row, const struct design_point *s, const struct sweep_words *words)
{
    row->n_dims = s->net.n_dims;
    row->objective = alloc_objective_names[s->objective];
    row->total_GBps = giga(s->total_Bps);
    row->network = text_str(&words->network);
    row->dims = text_str(&words->dims);
    row->workload = text_str(&words->workload);
}

static void take_results(struct sweep_row *row, const struct design *d)
{
    if (isnan(row->total_GBps))
        row->total_GBps = giga(d->total_Bps);
    row->time_s = d->time_s;
    row->compute_s = d->compute_s;
    row->comm_s = d->comm_s;
    row->cost_usd = d->cost_usd;
    row->equal_time_s = d->equal.time_s;
    row->equal_cost_usd = d->equal.cost_usd;
    row->speedup = d->speedup;
    row->perf_per_cost_gain = d->perf_per_cost_gain;
    row->nic_GBps = giga(d->nic_Bps);
    row->gap = d->answer.gap;
    row->unique = isnan(d->answer.gap) ? -1 : d->answer.unique; /* what was not solved proves nothing */
    for (int32_t k = 0; k < d->n_dims; k++) {
        row->bw_GBps[k] = giga(d->bw_Bps[k]);
        row->util[k] = d->util_frac[k];
        row->exposed_s[k] = d->exposed_s[k];
    }
}

int sweep_row_design(struct sweep_row *row, const struct design_point *s, const struct design *d,
                     struct err *e)
{
    row->status = alloc_status_names[d->answer.status];
    row->message = d->answer.reason[0] ? d->answer.reason : NULL;
    if (!alloc_has_split(&d->answer))
        return 0;
    take_results(row, d);
    return training_row_fill(&row->training, s, d, e);
}

void sweep_row_axes(struct sweep_row *row, const struct sweep *w, const struct sweep_point *p)
{
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *path = w->keys[k].path, *value = sweep_value(w, p, k);
        if (!value)
            continue;
        if (strcmp(path, "network") == 0 && !row->network)
            row->network = value;
        else if ((strcmp(path, "workload") == 0 || strcmp(path, "workloads") == 0) && !row->workload)
            row->workload = value;
        else if (strcmp(path, "objective") == 0 && !row->objective)
            row->objective = value;
        else if (strcmp(path, "total_GBps") == 0 && isnan(row->total_GBps) &&
                 !num_parse_real(value, &row->total_GBps))
            row->total_GBps = NAN;
    }
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

static void dim_columns(struct table *t, const char *before, const char *after)
{
    char name[32];
    for (int32_t d = 1; d <= TOPO_MAX_DIMS; d++) {
        snprintf(name, sizeof name, "%s%d%s", before, (int)d, after);
        table_column(t, name, TABLE_REAL);
    }
}

void runner_columns(struct table *t, const struct sweep *w)
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
    dim_columns(t, "bw", "_GBps");
    dim_columns(t, "util", "");
    dim_columns(t, "exposed", "_s");
    uncertain_columns(t, &w->uncertain);
    training_row_columns(t);
    table_column(t, "message", TABLE_TEXT);
}

static void put_reals(struct table *t, const double *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        table_put_real(t, x[i]);
}

void sweep_row_put(struct table *t, const struct sweep *w, const struct sweep_point *p, int64_t point,
                   const struct sweep_row *row)
{
    const double results[] = { row->time_s,   row->compute_s,          row->comm_s,
                               row->cost_usd, row->equal_time_s,       row->equal_cost_usd,
                               row->speedup,  row->perf_per_cost_gain, row->nic_GBps,
                               row->gap };
    table_row(t);
    table_put_count(t, point);
    for (int32_t k = 0; k < w->n_keys; k++)
        if (!has_own_column(&w->keys[k]))
            table_put_text(t, sweep_value(w, p, k));
    table_put_text(t, row->network);
    table_put_count(t, row->n_dims ? row->n_dims : INT64_MIN);
    table_put_text(t, row->dims);
    table_put_text(t, row->workload);
    table_put_text(t, row->objective);
    table_put_real(t, row->total_GBps);
    table_put_text(t, row->status);
    put_reals(t, results, sizeof results / sizeof results[0]);
    table_put_text(t, row->unique < 0 ? NULL : row->unique ? "yes" : "no");
    put_reals(t, row->bw_GBps, TOPO_MAX_DIMS);
    put_reals(t, row->util, TOPO_MAX_DIMS);
    put_reals(t, row->exposed_s, TOPO_MAX_DIMS);
    for (int32_t i = 0; i < uncertain_n_columns(&w->uncertain); i++)
        table_put_real(t, row->uncertain ? row->uncertain[i] : NAN);
    training_row_put(t, &row->training);
    table_put_text(t, row->message);
}

/* ---- without what is blank ---- */

/* The largest number in a column of counts; 0 when there is none. */
static int64_t largest(const struct table *t, int32_t col)
{
    int64_t most = 0;
    for (int64_t row = 0; row < t->n_rows && col >= 0; row++)
        if (table_cell(t, row, col)->count > most)
            most = table_cell(t, row, col)->count;
    return most;
}

static bool is_blank(const struct table *t, int32_t col)
{
    for (int64_t row = 0; row < t->n_rows; row++)
        if (table_cell(t, row, col)->text)
            return false;
    return true;
}

/* Columns of dimensions beyond `widest` among those of one kind from `first` on. */
static void drop_dims(bool *keep, const struct table *t, const char *first, int64_t widest)
{
    int32_t col = table_find(t, first);
    for (int32_t d = 0; d < TOPO_MAX_DIMS && col >= 0 && col + d < t->n_cols; d++)
        keep[col + d] = d < widest;
}

/* Which columns are not blank in all rows. NULL: no memory. */
static bool *choose_columns(const struct table *t, int64_t widest, bool trains)
{
    bool *keep = malloc((size_t)t->n_cols + 1);
    int32_t plan = table_find(t, "plan");
    if (!keep)
        return NULL;
    memset(keep, true, (size_t)t->n_cols);
    drop_dims(keep, t, "bw1_GBps", widest);
    drop_dims(keep, t, "util1", widest);
    drop_dims(keep, t, "exposed1_s", widest);
    if (plan >= 0 && !trains)
        memset(keep + plan, false, (size_t)(t->n_cols - 1 - plan)); /* up to message, the last */
    return keep;
}

int sweep_trim(struct table *t, struct err *e)
{
    int32_t plan = table_find(t, "plan");
    bool *keep = choose_columns(t, largest(t, table_find(t, "n_dims")), plan >= 0 && !is_blank(t, plan));
    if (!keep)
        return err_nomem(e, "columns of a sweep");
    table_keep_columns(t, keep);
    free(keep);
    return 0;
}

int runner_trim(struct store *s, struct err *e)
{
    const struct table *columns = store_columns(s, STORE_RESULTS);
    int64_t widest = TOPO_MAX_DIMS;
    bool trains;
    int rc = table_find(columns, "n_dims") >= 0 ? store_max(s, "n_dims", &widest, e) : 0;
    if (!rc)
        rc = store_any(s, "plan", &trains, e);
    if (rc)
        return rc;
    bool *keep = choose_columns(columns, widest, trains);
    rc = keep ? store_show(s, keep, e) : err_nomem(e, "columns of a sweep");
    free(keep);
    return rc;
}

const char **runner_parts(const struct table *columns)
{
    enum { NARROW = 4 }; /* dimensions whose columns are not rare */
    const char **parts = calloc((size_t)columns->n_cols + 1, sizeof *parts);
    int32_t plan = table_find(columns, "plan");
    if (!parts)
        return NULL;
    bool *few = choose_columns(columns, NARROW, true);
    for (int32_t col = 0; col < columns->n_cols && few; col++)
        if (plan >= 0 && col >= plan && col < columns->n_cols - 1)
            parts[col] = "training";
        else if (!few[col])
            parts[col] = "more_dims";
    if (!few) {
        free(parts);
        parts = NULL;
    }
    free(few);
    return parts;
}
