#include "kinds/design/sweep_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "kinds/design/runner.h"

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

#define WORD(field, says) COLUMN_WORD(struct sweep_row, field, says)
#define REAL(field, says) COLUMN_REAL(struct sweep_row, field, says)
#define PER_DIM(field, called, says)                                                                         \
    COLUMN_REAL_N(struct sweep_row, field, called, TOPO_MAX_DIMS, says, .upto = "n_dims",                    \
                  .part = "more_dims", .part_from = 4)

/* Keys that a column of the results tells apart have no column of their own. */
const struct column design_columns[] = {
    COLUMN_WORD(struct sweep_row, network, "its name, or its word", .flags = COLUMN_REPLACES),
    COLUMN_COUNT(struct sweep_row, n_dims, "dimensions of the network"),
    WORD(dims, "their names"),
    COLUMN_WORD(struct sweep_row, workload, "names, with weights other than 1", .flags = COLUMN_REPLACES,
                .axis = "workloads"),
    COLUMN_WORD(struct sweep_row, objective, "of the split", .flags = COLUMN_REPLACES),
    COLUMN_REAL(struct sweep_row, total_GBps, "of the study, else of the split", .flags = COLUMN_REPLACES),
    WORD(status, "solved, stalled, infeasible, unbounded, ill-posed, error"),
    REAL(time_s, "of a step"),
    REAL(compute_s, "of it"),
    REAL(comm_s, "of it, exposed"),
    REAL(cost_usd, "of the network"),
    REAL(equal_time_s, "with the same total spread equally"),
    REAL(equal_cost_usd, "likewise"),
    REAL(speedup, "equal_time_s over time_s"),
    REAL(perf_per_cost_gain, "speedup times equal_cost_usd over cost_usd"),
    REAL(nic_GBps, "bandwidth of the NICs of an NPU"),
    REAL(gap, "at most so much better is any other split"),
    WORD(unique, "no other split is as good"),
    PER_DIM(bw_GBps, "bw#_GBps", "bandwidth of a dimension"),
    PER_DIM(util, "util#", "share of the step in which it is busy"),
    PER_DIM(exposed_s, "exposed#_s", "time that it adds"),
    TRAINING_COLUMNS(struct sweep_row, training.),
    WORD(message, "why there is no design"),
    COLUMNS_END,
};

void design_make_columns(struct column *out, char (*names)[COLUMN_NAME], const struct uncertain *u)
{
    int32_t n = uncertain_n_columns(u);
    for (const struct column *c = design_columns; c == design_columns || c[-1].name; c++) {
        if (c->name && strcmp(c->name, "plan") == 0)
            for (int32_t i = 0; i < n; i++) {
                uncertain_column(names[i], u, i);
                *out++ = (struct column)COLUMN_AT(struct sweep_row, uncertain[i], names[i], TABLE_REAL,
                                                  "percentile of what is uncertain");
            }
        *out++ = *c;
    }
}

void sweep_row_blank(struct sweep_row *row)
{
    row_clear(row, design_columns);
    for (size_t i = 0; i < sizeof row->uncertain / sizeof *row->uncertain; i++)
        row->uncertain[i] = NAN;
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
    if (!isnan(d->answer.gap)) /* what was not solved proves nothing */
        row->unique = d->answer.unique ? "yes" : "no";
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
