/*
 * The tables of a study of training with little communication: a row for each point and method, made of the
 * results of its runs; and beside them runs, curves, and what links carry, as runs put them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "kinds/gossip/gossip.h"
#include "topo/route.h"

/* ---- columns ---- */

const struct column gossip_shared_columns[] = {
    STUDY_SHARED_COLUMNS(struct gossip_shared, head),
    COLUMN_WORD(struct gossip_shared, on, NULL),
    COLUMN_WORD(struct gossip_shared, replica, NULL),
    COLUMN_WORD(struct gossip_shared, need_dim, NULL),
    COLUMN_COUNT(struct gossip_shared, steps, NULL),
    COLUMN_COUNT(struct gossip_shared, n_dims, NULL),
    COLUMN_COUNT(struct gossip_shared, baseline, NULL),
    COLUMN_COUNT(struct gossip_shared, compare, NULL),
    COLUMN_REAL(struct gossip_shared, step_s, NULL),
    COLUMN_REAL(struct gossip_shared, wire_MB, NULL),
    COLUMN_REAL(struct gossip_shared, missing_GB, NULL),
    COLUMN_REAL(struct gossip_shared, need_wait_pct, NULL),
    COLUMN_REAL(struct gossip_shared, equal_points, NULL),
    COLUMNS_END,
};

#define OF_RESULT(kind, field) COLUMN_AT(struct gossip_outcome, of.field, #field, TABLE_##kind, NULL)

const struct column gossip_outcome_columns[] = {
    STUDY_RESULT_COLUMNS(struct gossip_outcome, head),
    COLUMN_WORD(struct gossip_outcome, label, NULL),
    COLUMN_WORD(struct gossip_outcome, note, NULL),
    COLUMN_COUNT(struct gossip_outcome, method, NULL),
    COLUMN_COUNT(struct gossip_outcome, rule, NULL),
    COLUMN_COUNT(struct gossip_outcome, period, NULL),
    OF_RESULT(COUNT, steps),
    OF_RESULT(COUNT, exchanges),
    OF_RESULT(COUNT, diverged_step),
    OF_RESULT(REAL, accuracy),
    OF_RESULT(REAL, average_accuracy),
    OF_RESULT(REAL, sent_B),
    OF_RESULT(REAL, time_s),
    OF_RESULT(REAL, compute_s),
    OF_RESULT(REAL, wait_s),
    OF_RESULT(REAL, loss),
    OF_RESULT(REAL, average_B),
    OF_RESULT(REAL, average_s),
    COLUMN_REAL(struct gossip_outcome, need_Bps, NULL),
    COLUMN_AT(struct gossip_outcome, ports.links, "need_ports", TABLE_REAL, NULL),
    COLUMN_AT(struct gossip_outcome, ports.usd, "need_usd", TABLE_REAL, NULL),
    COLUMN_AT(struct gossip_outcome, ports.watt, "need_W", TABLE_REAL, NULL),
    COLUMN_REAL_N(struct gossip_outcome, of.dim_B, "dim#_B", TOPO_MAX_DIMS, NULL),
    COLUMNS_END,
};

/* What is asked of a run; NaN of one that diverged or failed. */
enum measure { ACCURACY, AVERAGE, TRAFFIC, TIME, WAIT, EXCHANGES, LOSS, NEED, N_MEASURES };

struct gossip_row {
    const char *method, *family, *rule, *status, *compared, *base, *fixed, *fixed_for_time, *message;
    int64_t period, seeds, diverged_step;
    struct stat_mean of[N_MEASURES];
    double traffic_vs_base_pct, time_vs_base_pct, accuracy_vs_base_points, accuracy_vs_base_half;
    double traffic_vs_fixed_pct, time_vs_fixed_pct, average_MB, average_s;
    struct ports_share ports;
    struct gossip_shared shared;
    double dim_MB[TOPO_MAX_DIMS];
};

/* An axis of such a name has the same values. */
#define WORD(key, ...)  COLUMN_WORD(struct gossip_row, key, __VA_ARGS__, .flags = COLUMN_YIELDS)
#define COUNT(key, ...) COLUMN_COUNT(struct gossip_row, key, __VA_ARGS__, .flags = COLUMN_YIELDS)
#define REAL(key, ...)  COLUMN_REAL(struct gossip_row, key, __VA_ARGS__, .flags = COLUMN_YIELDS)
/* Of a field of another name. */
#define AT(kind, field, key, ...)                                                                            \
    COLUMN_AT(struct gossip_row, field, key, TABLE_##kind, __VA_ARGS__, .flags = COLUMN_YIELDS)
#define MEAN(what, key, ...) AT(REAL, of[what].mean, key, __VA_ARGS__)
#define HALF(field, key, ...)                                                                                \
    COLUMN_AT(struct gossip_row, field, key, TABLE_REAL, __VA_ARGS__, .flags = COLUMN_YIELDS | COLUMN_HALF)
#define CHANGE(key, ...)                                                                                     \
    COLUMN_REAL(struct gossip_row, key, __VA_ARGS__, .flags = COLUMN_YIELDS | COLUMN_SIGNED)

static const struct column row_columns[] = {
    WORD(method, "label: the method with its settings, or its name in the study"),
    WORD(family, "method", .in = IN_DATA),
    WORD(rule, "rule that decides when a worker exchanges", .in = IN_DATA),
    COUNT(period, "steps between exchanges, where the period is fixed", .in = IN_DATA),
    COUNT(seeds, "number of runs", .in = IN_DATA),
    WORD(status,
         "ok; diverged: the loss of a seed was not finite, so there are no means; error: no means either",
         .usual = "ok"),
    MEAN(ACCURACY, "accuracy_pct", "test accuracy of the workers' own models, mean over workers and seeds",
         .better = 1, .title = "accuracy", .digits = 4),
    HALF(of[ACCURACY].half, "accuracy_half_pct",
         "half width of the 95 % interval of accuracy_pct over seeds"),
    MEAN(AVERAGE, "average_pct", "test accuracy of the average of all workers' models", .better = 1,
         .title = "averaged", .digits = 4),
    HALF(of[AVERAGE].half, "average_half_pct", "half width of the 95 % interval of average_pct over seeds"),
    MEAN(TRAFFIC, "traffic_MB", "bytes that all NPUs send", .better = -1, .title = "traffic",
         .show = COLUMN_FITTED),
    HALF(of[TRAFFIC].half, "traffic_half_MB", "half width of the 95 % interval of traffic_MB over seeds"),
    MEAN(TIME, "time_s", "simulated time until the last worker and exchange are done", .better = -1,
         .title = "time"),
    HALF(of[TIME].half, "time_half_s", "half width of the 95 % interval of time_s over seeds"),
    MEAN(WAIT, "wait_pct", "share of time_s that a worker waits, mean over workers", .better = -1,
         .title = "waiting", .digits = 3),
    MEAN(EXCHANGES, "exchanges", "number of messages, two-way exchanges and collectives", .better = -1,
         .in = IN_DATA),
    AT(COUNT, shared.steps, "steps", "training steps of one worker", .in = IN_DATA),
    MEAN(LOSS, "loss", "training loss in nats, mean over batches of the last tenth of the steps",
         .better = -1, .in = IN_DATA),
    WORD(compared, "accuracy that the next columns compare: that of workers or of the average model",
         .in = IN_DATA),
    WORD(base, "label of the baseline", .in = IN_DATA),
    CHANGE(traffic_vs_base_pct, "change of traffic_MB against the baseline", .better = -1,
           .title = "traffic vs", .as = "base %", .digits = 3),
    CHANGE(time_vs_base_pct, "change of time_s against the baseline", .better = -1, .title = "time vs",
           .as = "base %", .digits = 3),
    CHANGE(accuracy_vs_base_points, "compared accuracy minus that of the baseline, mean over seeds",
           .better = 1, .title = "accuracy", .as = "vs base", .digits = 3),
    HALF(accuracy_vs_base_half, "accuracy_vs_base_half",
         "half width of the 95 % interval of accuracy_vs_base_points"),
    WORD(fixed, "fixed period of the baseline's method that sends least at equal accuracy",
         .title = "fixed that", .as = "sends least"),
    CHANGE(traffic_vs_fixed_pct, "change of traffic_MB against that period", .better = -1,
           .title = "traffic vs", .as = "fixed %", .digits = 3),
    WORD(fixed_for_time, "fixed period of the baseline's method that is fastest at equal accuracy",
         .title = "fixed that", .as = "is fastest"),
    CHANGE(time_vs_fixed_pct, "change of time_s against that period", .better = -1, .title = "time vs",
           .as = "fixed %", .digits = 3),
    REAL(average_MB, "bytes of a final all-reduce that averages all models; not in traffic_MB", .better = -1,
         .in = IN_DATA),
    REAL(average_s, "time of that all-reduce; not in time_s", .better = -1, .in = IN_DATA),
    COLUMN_REAL_N(struct gossip_row, dim_MB, "dim#_MB", TOPO_MAX_DIMS,
                  "traffic that crosses each dimension, innermost first", .in = IN_DATA, .upto = "n_dims",
                  .better = -1),
    COUNT(diverged_step, "first step at which the loss of a worker was not finite, over all seeds",
          .in = IN_DATA),
    MEAN(NEED, "need_GBps",
         "with need_pct: bandwidth of an NPU at which a run takes so much "
         "longer than with endless bandwidth; 0: any is enough",
         .better = -1, .title = "needs", .zero = "any"),
    AT(REAL, ports.links, "need_ports",
       "with parts: links of an NPU in the cheapest whole design that has the bandwidth; this, need_usd and "
       "need_W are of the seed that needs most",
       .better = -1, .title = "ports"),
    AT(REAL, ports.usd, "need_usd", "price per NPU of that design, switches and cables included",
       .better = -1, .title = "price", .as = "USD/NPU"),
    AT(REAL, ports.watt, "need_W", "power per NPU of that design", .better = -1, .unit = "W",
       .title = "power", .as = "W/NPU"),
    AT(REAL, shared.need_wait_pct, "need_wait_pct", "slowdown that need_GBps allows: need_pct of the study",
       .better = -1, .in = IN_DATA),
    AT(TEXT, shared.need_dim, "need_dim",
       "dimension whose bandwidth need_GBps is (need_dim of the study); blank: all dimensions",
       .in = IN_DATA),
    AT(REAL, shared.step_s, "step_s", "mean compute time of a step: clock.step_ms, or that of job",
       .better = -1, .in = IN_DATA),
    AT(REAL, shared.wire_MB, "wire_MB",
       "size of a model on the wire: model_MB, that of job, or 4 bytes per parameter", .better = -1,
       .in = IN_DATA),
    AT(TEXT, shared.on, "on", "workers, network, and how exchanges are priced", .in = IN_DATA),
    AT(TEXT, shared.replica, "replica", "model and NPU of job that a worker stands for", .in = IN_DATA),
    AT(REAL, shared.missing_GB, "missing_GB", "memory that the NPU lacks for job; negative: none",
       .better = -1, .in = IN_DATA),
    WORD(message, "what is wrong, or why need_GBps could not be found"),
    COLUMN_AT(struct gossip_row, shared.n_dims, "n_dims", TABLE_COUNT, NULL, .flags = COLUMN_HIDDEN),
    COLUMN_AT(struct gossip_row, shared.equal_points, "equal_points", TABLE_REAL, NULL,
              .flags = COLUMN_HIDDEN),
    COLUMNS_END,
};

/* A row of any table but that of the study's rows; the columns of a table are the fields that it uses. */
struct gossip_run_row {
    const char *method, *status, *message, *link, *dim;
    int64_t seed, exchanges, steps, diverged_step;
    double accuracy_pct, average_pct, traffic_MB, time_s, compute_s, wait_s, loss, epoch, MB;
};

#define RUN(kind, field, ...) COLUMN_##kind(struct gossip_run_row, field, __VA_ARGS__)

static const struct column run_columns[] = {
    RUN(WORD, method, "label of the row's method"),
    RUN(COUNT, seed, "seed of the run"),
    RUN(WORD, status, "ok; diverged: accuracies and loss are blank, other columns stop there; error"),
    RUN(REAL, accuracy_pct, "test accuracy of the workers' own models, mean over workers", .better = 1),
    RUN(REAL, average_pct, "test accuracy of the average of all workers' models", .better = 1),
    RUN(REAL, traffic_MB, "bytes that all NPUs send", .better = -1),
    RUN(REAL, time_s, "simulated time", .better = -1),
    RUN(REAL, compute_s, "part of time_s that a worker computes, mean over workers", .better = -1),
    RUN(REAL, wait_s, "part of time_s that a worker waits, mean over workers", .better = -1),
    RUN(COUNT, exchanges, "number of messages, two-way exchanges and collectives", .better = -1),
    RUN(COUNT, steps, "training steps of one worker"),
    RUN(REAL, loss, "training loss in nats, mean over batches of the last tenth of the steps", .better = -1),
    RUN(COUNT, diverged_step, "step at which the loss of a worker was not finite"),
    RUN(WORD, message, "what is wrong, or why the bandwidth that is needed could not be found"),
    COLUMNS_END,
};

static const struct column curve_columns[] = {
    RUN(WORD, method, "label of the row's method"),
    RUN(COUNT, seed, "seed of the run"),
    RUN(REAL, time_s, "simulated time", .better = -1),
    RUN(COUNT, steps, "steps of one worker: mean over workers, rounded down"),
    RUN(REAL, epoch, "the same in epochs, not rounded down"),
    RUN(REAL, loss, "training loss in nats, mean over batches since the previous row", .better = -1),
    RUN(COUNT, exchanges, "number of exchanges so far, of all workers", .better = -1),
    RUN(REAL, traffic_MB, "bytes sent so far, by all workers", .better = -1),
    RUN(REAL, average_pct, "test accuracy of the average of all models, in every fifth row", .better = 1),
    COLUMNS_END,
};

static const struct column link_columns[] = {
    RUN(WORD, method, "label of the row's method"),
    RUN(WORD, link, "link, as from=to"),
    RUN(WORD, dim, "dimension that the link belongs to"),
    RUN(REAL, MB, "bytes that the link carries in the run of the first seed", .unit = "MB", .better = -1),
    COLUMNS_END,
};

const struct table_def gossip_tables[N_GOSSIP_TABLES] = {
    { .word = "rows", .columns = row_columns },
    { .word = "runs", .columns = run_columns },
    { .word = "curves", .columns = curve_columns },
    { .word = "links", .columns = link_columns, .first_seed = true },
};

/* ---- runs, as they end ---- */

/* A row of table runs, also of a run that failed. */
void gossip_study_put_run(struct sink *sink, const struct study_run *r, const struct gossip_outcome *x)
{
    bool failed = x->head.rc != 0;
    struct gossip_run_row row;
    row_clear(&row, run_columns);
    row.method = x->label;
    row.seed = r->seed;
    row.status = failed ? "error" : x->of.diverged_step >= 0 ? "diverged" : "ok";
    row.message = x->head.message;
    if (!failed) {
        row.accuracy_pct = x->of.accuracy * 100;
        row.average_pct = x->of.average_accuracy * 100;
        row.traffic_MB = x->of.sent_B / 1e6;
        row.time_s = x->of.time_s;
        row.compute_s = x->of.compute_s;
        row.wait_s = x->of.wait_s;
        row.exchanges = x->of.exchanges;
        row.steps = x->of.steps;
        row.loss = x->of.loss;
        row.diverged_step = x->of.diverged_step;
    }
    sink_put(sink, TABLE_RUNS, &row);
}

/* A row of table curves; steps and epochs are those of one worker. */
static void gossip_put_curve_point(struct sink *sink, const struct study_run *r,
                                   const struct gossip_curve_point *x)
{
    const struct gossip_point *p = r->point;
    double epoch_steps = (double)gossip_point_epoch_steps(p) * p->fabric.n_workers;
    const struct gossip_run_row row = { .method = p->entries[r->entry].label,
                                        .seed = r->seed,
                                        .time_s = x->time_s,
                                        .steps = x->steps / p->fabric.n_workers,
                                        .epoch = (double)x->steps / epoch_steps,
                                        .loss = x->loss,
                                        .exchanges = x->exchanges,
                                        .traffic_MB = x->sent_B / 1e6,
                                        .average_pct = x->accuracy * 100 };
    sink_put(sink, GOSSIP_CURVES, &row);
}

/* A row of table links for each direction of each link. */
static int gossip_put_links(struct sink *sink, const struct study_run *r, const struct gossip_result *x,
                            struct err *e)
{
    const struct gossip_point *p = r->point;
    struct topo_routes routes;
    char name[TOPO_ARC_TEXT];
    int rc;
#pragma omp critical(igraph)
    rc = topo_routes_build(&routes, p->graph, e);
    if (rc)
        return rc;
    for (int32_t a = 0; a < x->n_arcs; a++) {
        const struct gossip_run_row row = { .method = p->entries[r->entry].label,
                                            .link = topo_arc_name(name, &routes, a),
                                            .dim = p->fabric.net.dims[topo_link_dim(&routes, a / 2)].name,
                                            .MB = x->arc_B[a] / 1e6 };
        sink_put(sink, GOSSIP_LINKS, &row);
    }
    topo_routes_free(&routes);
    return 0;
}

int gossip_study_put_details(struct sink *sink, const struct study_run *r, const struct gossip_result *x,
                             struct err *e)
{
    for (int32_t i = 0; i < x->n_curve; i++)
        gossip_put_curve_point(sink, r, &x->curve[i]);
    return x->n_arcs > 0 ? gossip_put_links(sink, r, x, e) : 0;
}

/* ---- means over the seeds ---- */

static bool is_ok(const struct gossip_outcome *x)
{
    return !x->head.rc && x->of.diverged_step < 0;
}

/* NaN unless the run ended well. */
static double measure_of(const struct gossip_outcome *x, enum measure what)
{
    if (!is_ok(x))
        return NAN;
    switch (what) {
    case ACCURACY:
        return x->of.accuracy * 100;
    case AVERAGE:
        return x->of.average_accuracy * 100;
    case TRAFFIC:
        return x->of.sent_B / 1e6;
    case TIME:
        return x->of.time_s;
    case WAIT:
        return x->of.time_s > 0 ? x->of.wait_s / x->of.time_s * 100 : 0;
    case EXCHANGES:
        return (double)x->of.exchanges;
    case LOSS:
        return x->of.loss;
    case NEED:
        return x->need_Bps / 1e9;
    case N_MEASURES:
        break;
    }
    return NAN;
}

/* The runs of one entry of a point. */
struct gossip_group {
    struct stat_mean of[N_MEASURES];
    int64_t diverged_step, n_diverged;  /* the least, -1: none did; of how many seeds */
    const char *told;                   /* the first message of a run that did not fail; NULL: none */
    const struct gossip_outcome *wrong; /* the first that failed; NULL: none did */
    bool is_ok;                         /* no run has failed or diverged: else there are no means */
};

/* What the rows of a point are made from. */
struct frame {
    const struct results *r;
    const struct gossip_shared *shared;
    int32_t n;
    int64_t seeds;
    double *x;                   /* shape [seeds], owned: room */
    struct gossip_group *groups; /* shape [n], owned */
};

static void count_run(struct gossip_group *g, const struct gossip_outcome *x)
{
    int64_t step = x->head.rc ? -1 : x->of.diverged_step;
    if (step >= 0 && (g->diverged_step < 0 || step < g->diverged_step))
        g->diverged_step = step;
    g->n_diverged += step >= 0;
    if (x->head.rc && !g->wrong)
        g->wrong = x;
    if (!x->head.rc && !g->told)
        g->told = x->head.message;
    g->is_ok = g->is_ok && is_ok(x);
}

/* The seeds that did not diverge are those with the luckier draws: their mean would flatter the method. */
static void entry_sum_up(struct gossip_group *g, const struct frame *f, int32_t entry)
{
    *g = (struct gossip_group){ .diverged_step = -1, .is_ok = true };
    for (int64_t k = 0; k < f->seeds; k++)
        count_run(g, results_at(f->r, entry, k));
    for (int what = 0; what < N_MEASURES; what++) {
        for (int64_t k = 0; k < f->seeds; k++)
            f->x[k] = g->is_ok ? measure_of(results_at(f->r, entry, k), (enum measure)what) : (double)NAN;
        g->of[what] = stat_mean(f->x, f->seeds, 1);
    }
}

/* ---- against others ---- */

/* Change in percent; NaN where there is nothing to change. */
static double change_pct(double x, double base)
{
    return base > 0 ? (x / base - 1) * 100 : (double)NAN;
}

/* Whose accuracy counts here. */
static enum measure compared(const struct frame *f)
{
    return f->shared->compare == GOSSIP_COMPARE_AVERAGED ? AVERAGE : ACCURACY;
}

static struct stat_mean accuracy_gain(const struct frame *f, int32_t entry)
{
    int32_t base = (int32_t)f->shared->baseline;
    for (int64_t k = 0; k < f->seeds; k++)
        f->x[k] = measure_of(results_at(f->r, entry, k), compared(f)) -
                  measure_of(results_at(f->r, base, k), compared(f));
    return stat_mean(f->x, f->seeds, 1);
}

/* The entry with a fixed period of the baseline's method whose @p what is least, of those as accurate as @p
 * entry within what counts as equal; -1: none. A period that is never over is no way to exchange. */
static int32_t best_fixed(const struct frame *f, int32_t entry, enum measure what)
{
    const struct gossip_outcome *base = results_at(f->r, (int32_t)f->shared->baseline, 0);
    double floor_pct = f->groups[entry].of[compared(f)].mean - f->shared->equal_points;
    int32_t best = -1;
    for (int32_t i = 0; i < f->n; i++) {
        const struct gossip_group *g = &f->groups[i];
        const struct gossip_outcome *x = results_at(f->r, i, 0);
        bool is_fixed = x->method == base->method && x->period > 0;
        if (!is_fixed || !g->is_ok || !(g->of[EXCHANGES].mean > 0) || !(g->of[compared(f)].mean >= floor_pct))
            continue;
        if (best < 0 || g->of[what].mean < f->groups[best].of[what].mean)
            best = i;
    }
    return best;
}

static const char *label_of(const struct frame *f, int32_t entry)
{
    const struct gossip_outcome *x = results_at(f->r, entry, 0);
    return x->label;
}

static void fill_fixed(struct gossip_row *row, const struct frame *f, int32_t entry)
{
    int32_t sends = best_fixed(f, entry, TRAFFIC), fastest = best_fixed(f, entry, TIME);
    const struct gossip_group *g = &f->groups[entry];
    if (sends < 0 || fastest < 0)
        return;
    row->fixed = label_of(f, sends);
    row->traffic_vs_fixed_pct = change_pct(g->of[TRAFFIC].mean, f->groups[sends].of[TRAFFIC].mean);
    row->fixed_for_time = label_of(f, fastest);
    row->time_vs_fixed_pct = change_pct(g->of[TIME].mean, f->groups[fastest].of[TIME].mean);
}

static void fill_compared(struct gossip_row *row, const struct frame *f, int32_t entry)
{
    const struct gossip_group *g = &f->groups[entry], *base = &f->groups[f->shared->baseline];
    row->compared = gossip_compare_words[f->shared->compare];
    if (!base->is_ok)
        return;
    struct stat_mean gain = accuracy_gain(f, entry);
    row->base = label_of(f, (int32_t)f->shared->baseline);
    row->traffic_vs_base_pct = change_pct(g->of[TRAFFIC].mean, base->of[TRAFFIC].mean);
    row->time_vs_base_pct = change_pct(g->of[TIME].mean, base->of[TIME].mean);
    row->accuracy_vs_base_points = gain.mean;
    row->accuracy_vs_base_half = gain.half;
}

/* ---- rows ---- */

static void fill_entry(struct gossip_row *row, const struct gossip_outcome *x)
{
    row->method = x->label;
    if (x->method >= 0)
        row->family = gossip_method_name((int32_t)x->method);
    if (x->rule >= 0)
        row->rule = gossip_rule_words[x->rule];
    row->period = x->period;
}

/* Ports that are enough for every seed; none where some seed's could not be found. */
static void fill_ports(struct gossip_row *row, const struct frame *f, int32_t entry)
{
    const struct gossip_outcome *most = results_at(f->r, entry, 0);
    for (int64_t k = 1; k < f->seeds && !isnan(most->ports.usd); k++) {
        const struct gossip_outcome *x = results_at(f->r, entry, k);
        most = isnan(x->ports.usd) || x->need_Bps > most->need_Bps ? x : most;
    }
    row->ports = most->ports;
}

/* Mean bytes over each dimension. */
static void fill_dims(struct gossip_row *row, const struct frame *f, int32_t entry)
{
    for (int32_t d = 0; d < f->shared->n_dims; d++) {
        for (int64_t k = 0; k < f->seeds; k++) {
            const struct gossip_outcome *x = results_at(f->r, entry, k);
            f->x[k] = x->of.dim_B[d] / 1e6;
        }
        row->dim_MB[d] = stat_mean(f->x, f->seeds, 1).mean;
    }
}

/* @p diverged: room for a message. */
static void fill_outcome(struct gossip_row *row, char diverged[80], const struct gossip_group *g,
                         int64_t seeds)
{
    row->seeds = seeds;
    row->diverged_step = g->diverged_step;
    row->status = g->wrong ? "error" : g->n_diverged ? "diverged" : "ok";
    row->message = g->wrong ? g->wrong->head.message : g->told;
    if (g->wrong || !g->n_diverged)
        return;
    snprintf(diverged, 80, "%lld of %lld seeds diverged", (long long)g->n_diverged, (long long)seeds);
    row->message = diverged;
}

/* One row of the study: a method at a point. Means only where every seed ended well. */
static void put_entry(struct study_rows *rows, const struct frame *f, int32_t entry)
{
    const struct gossip_group *g = &f->groups[entry];
    const struct gossip_outcome *x = results_at(f->r, entry, 0);
    char diverged[80];
    struct gossip_row row;
    row_clear(&row, row_columns);
    fill_entry(&row, x);
    row.shared = *f->shared;
    fill_outcome(&row, diverged, g, f->seeds);
    if (g->is_ok) {
        memcpy(row.of, g->of, sizeof row.of);
        fill_ports(&row, f, entry);
        fill_dims(&row, f, entry);
        row.average_MB = x->of.average_B / 1e6;
        row.average_s = x->of.average_s;
        fill_compared(&row, f, entry);
        fill_fixed(&row, f, entry);
    }
    study_rows_put(rows, &row);
}

static void gossip_put_failed(struct study_rows *rows, const struct gossip_shared *s)
{
    struct gossip_row row;
    row_clear(&row, row_columns);
    row.status = "error";
    row.message = s->head.message;
    study_rows_put(rows, &row);
}

/* Rows of a point from its stored results alone, so that a resumed or merged study gives the same bytes. */
int gossip_study_reduce(struct study_rows *rows, void *shared, const struct results *r, struct err *e)
{
    struct gossip_shared *s = shared;
    struct frame f = { .r = r, .shared = s, .n = results_entries(r), .seeds = results_seeds(r) };
    if (s->head.rc) {
        gossip_put_failed(rows, s);
        return 0;
    }
    f.x = malloc((size_t)f.seeds * sizeof *f.x);
    f.groups = malloc((size_t)f.n * sizeof *f.groups);
    int rc = f.x && f.groups ? 0 : err_nomem(e, "rows of a study");
    for (int32_t i = 0; i < f.n && !rc; i++) {
        const struct gossip_outcome *x = results_at(r, i, 0);
        entry_sum_up(&f.groups[i], &f, i);
        if (x->note)
            study_rows_note(rows, x->note);
    }
    for (int32_t i = 0; i < f.n && !rc; i++)
        put_entry(rows, &f, i);
    free(f.x);
    free(f.groups);
    return rc;
}
