/*
 * Rows of designs. A value is described here and nowhere else: what it is called, its unit, what is better,
 * what people are told; filled from the design at the end of this file.
 */
#include "kinds/design/answer/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kinds/design/answer/explain.h"

#define WORD(field, ...)  COLUMN_WORD(struct design_row, field, __VA_ARGS__)
#define COUNT(field, ...) COLUMN_COUNT(struct design_row, field, __VA_ARGS__)
#define REAL(field, ...)  COLUMN_REAL(struct design_row, field, __VA_ARGS__)
/* For scripts and figures, not shown to people. */
#define DATA .in = IN_DATA
#define PER_DIM(field, called, ...)                                                                          \
    COLUMN_REAL_N(struct design_row, field, called, TOPO_MAX_DIMS, __VA_ARGS__, .upto = "n_dims",            \
                  .part = "more_dims", .part_from = 4)

/* Keys that a column of the results tells apart have no column of their own. */
const struct column design_columns[] = {
    WORD(network, "name of the network, or the word that describes it",
         .flags = COLUMN_REPLACES | COLUMN_COMMON),
    COUNT(n_dims, "number of dimensions of the network", DATA),
    WORD(dims, "names of the dimensions, innermost first", DATA),
    WORD(workload, "names of the workloads, with their weights where these are not 1",
         .flags = COLUMN_REPLACES | COLUMN_COMMON, .axis = "workloads"),
    WORD(objective, "objective of the split", .flags = COLUMN_REPLACES | COLUMN_COMMON),
    REAL(total_GBps,
         "bandwidth per NPU over all dimensions: total_GBps of the study, or what the split comes to",
         .flags = COLUMN_REPLACES | COLUMN_COMMON, .better = -1),
    WORD(status, "solved, unproved, stalled, infeasible, unbounded, ill-posed, error"),
    REAL(time_s, "time of a training step", .title = "step", .better = -1),
    REAL(compute_s, "forward and backward passes, without recomputation and bubble", DATA, .better = -1),
    REAL(comm_s, "communication that compute does not hide, latency included", DATA, .better = -1),
    REAL(cost_usd,
         "price of the network: of the parts bought where a catalogue prices them, otherwise by the GB/s",
         .title = "cost", .better = -1),
    REAL(usd_fraction, "lower bound of cost_usd, from the best design that may use fractions of parts", DATA,
         .unit = "USD", .part = "whole", .with = "usd_fraction", .better = -1),
    REAL(spent_share, "cost_usd over the tightest budget for the network alone (usd <= ...)", DATA,
         .with = "spent_share"),
    REAL(equal_time_s,
         "time of a step with the total spread equally over the dimensions; of whole parts, as the "
         "constraints allow",
         DATA, .better = -1),
    REAL(equal_cost_usd, "price of the network with that equal split", DATA, .better = -1),
    REAL(speedup, "equal_time_s over time_s", .better = 1),
    REAL(perf_per_cost_gain, "performance per cost over that of the equal split", .title = "perf/cost",
         .better = 1),
    REAL(objective_gain, "objectives perf_per_watt and tco_per_token: the equal split's value over this one",
         DATA, .with = "objective_gain", .better = 1),
    REAL(nic_GBps, "bandwidth of one NPU's NICs", .title = "NIC", .better = -1),
    REAL(gap, "no other design, whatever its plan, is better by more than this fraction; blank: unknown",
         DATA, .better = -1),
    WORD(unique, "yes: no other split is as good; blank: unknown", DATA),
    WORD(proof_model, "model that gap and unique hold for; times come from the model of the study", DATA,
         .with = "proof_model"),
    WORD(proof_of, "quantity that gap and unique hold for, where the proof leaves out part of system", DATA,
         .with = "proof_of"),
    PER_DIM(bw_Bps, "bw#_GBps", "bandwidth of one NPU in dimension #", .title = "dim #", .titles = "dims",
            .per = 1e9),
    PER_DIM(util, "util#", "share of the step in which dimension # is busy", DATA, .better = 1),
    PER_DIM(exposed_s, "exposed#_s", "part of comm_s that bytes on dimension # take; what remains is latency",
            DATA, .better = -1),
    COLUMN_REAL_N(struct design_row, valiant, "valiant#", TOPO_MAX_DIMS,
                  "share of the bytes on dimension # that takes a detour (routing valiant or adaptive)", DATA,
                  .upto = "n_dims", .part = "valiant", .with = "valiant1"),
    TRAINING_COLUMNS(struct design_row, training.),
    SYSTEM_COLUMNS(struct design_row, system.),
    WORD(semantics,
         "libra: loads as in LIBRA, which links may not be able to carry; ideal-routing: traffic may take "
         "any paths of the graph",
         .flags = COLUMN_COMMON, .with = "semantics"),
    WORD(message, "why there is no design, or what to know about it"),
    COLUMNS_END,
};

/* ---- percentiles ---- */

/* What has them: time, cost, and what a row says of `system` in numbers. */
static const struct column *quantity(int32_t i)
{
    const struct column *c = design_columns;
    const size_t first[] = { offsetof(struct design_row, time_s), offsetof(struct design_row, cost_usd) };
    if (i < 2) {
        while (c->offset != first[i])
            c++;
        return c;
    }
    return system_quantity(i - 2);
}

bool design_percentiles(struct made_column *out, int32_t i)
{
    const struct column *c = quantity(i);
    size_t n;
    if (!c)
        return false;
    /* "time_p#_s", but "usd_year_p#" and "mtbi_h_p#". */
    table_unit_of_name(c->name, &n);
    n = i < 2 ? n : strlen(c->name);
    snprintf(out->name, sizeof out->name, "%.*s_p#%s", (int)n, c->name, c->name + n);
    snprintf(out->title, sizeof out->title, "%s p#", c->title ? c->title : c->name);
    out->of = (struct column){ .name = out->name,
                               .title = out->title,
                               .help = "percentile # of that column over the draws of `uncertain`",
                               .kind = TABLE_REAL,
                               .in = c->in,
                               .unit = column_unit(c),
                               .times = c->times,
                               .as = c->as,
                               .digits = c->digits,
                               .better = c->better };
    return true;
}

/* ---- a row ---- */

static double giga(double Bps)
{
    return Bps / 1e9;
}

/* What a row of constraints allows to be spent if it limits nothing but money [USD]; else INFINITY. */
static double money_of(const struct alloc_row *row, int32_t n_dims)
{
    double per_usd = row->spent_coef[ALLOC_USD];
    bool alone = row->sense == LINEXPR_LE && per_usd > 0;
    for (int32_t j = 0; j < N_ALLOC_SPENT && alone; j++)
        alone = j == ALLOC_USD || row->spent_coef[j] == 0;
    for (int32_t k = 0; k < n_dims && alone; k++)
        alone = row->coef[k] == row->money_coef[k];
    return alone ? (row->rhs + row->fixed) / per_usd : (double)INFINITY;
}

/* Designs for the same money spend unequal parts of it, as whole parts seldom add up: how much of the least
 * that constraints allow. NaN where none is on money. */
static double share_spent(const struct design_point *s, double cost_usd)
{
    double least_usd = INFINITY;
    for (int32_t i = 0; i < s->rows.n; i++)
        least_usd = fmin(least_usd, money_of(&s->rows.rows[i], s->net.n_dims));
    return isfinite(least_usd) && least_usd > 0 ? cost_usd / least_usd : (double)NAN;
}

void design_row_blank(struct design_row *row)
{
    row_clear(row, design_columns);
    for (size_t i = 0; i < sizeof row->uncertain / sizeof *row->uncertain; i++)
        row->uncertain[i] = NAN;
}

/* Columns in scaled units; what the proof does not cover stays blank. */
static void take_results(struct design_row *row, const struct design_point *s, const struct design *d)
{
    if (isnan(row->total_GBps))
        row->total_GBps = giga(d->total_Bps);
    row->time_s = d->time_s;
    row->compute_s = d->account.compute_s;
    row->comm_s = d->account.comm_s;
    row->cost_usd = d->cost_usd;
    row->spent_share = share_spent(s, d->cost_usd);
    row->equal_time_s = d->equal.time_s;
    row->equal_cost_usd = d->equal.cost_usd;
    row->speedup = d->speedup;
    row->perf_per_cost_gain = d->perf_per_cost_gain;
    row->objective_gain = d->objective_gain;
    row->nic_GBps = giga(d->nic_Bps);
    row->gap = d->answer.gap;
    if (!isnan(d->answer.gap)) /* what was not solved proves nothing */
        row->unique = d->answer.unique ? "yes" : "no";
    if (!isnan(d->answer.gap) && s->model > SIM_ALPHA_BETA)
        row->proof_model = sim_model_words[SIM_ALPHA_BETA];
    if (!isnan(d->answer.gap))
        row->proof_of = system_proof_of(s);
    for (int32_t k = 0; k < d->n_dims; k++) {
        row->bw_Bps[k] = d->bw_Bps[k];
        row->util[k] = d->util_frac[k];
        row->exposed_s[k] = d->account.dim_s[k];
        row->valiant[k] = explain_valiant(s, d, k);
    }
}

int design_row_answer(struct design_row *row, const struct design *d, struct err *e)
{
    const struct design_point *s = d->chosen.point;
    row->status = alloc_status_names[d->answer.status];
    row->message = d->answer.reason[0] ? d->answer.reason : NULL;
    if (!alloc_has_split(&d->answer))
        return 0;
    take_results(row, s, d);
    if (s->pricing == DESIGN_WHOLE) {
        row->usd_fraction = d->usd_fraction;
        if (isnan(d->cost_usd) && !row->message)
            row->message = d->bill_reason;
    }
    int rc = design_training_row_fill(&row->training, d, e);
    return rc ? rc : system_row_fill(&row->system, s, design_owned(d), e);
}
