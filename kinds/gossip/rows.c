/*
 * The tables of a study of training with little communication: a row for each point and method, and beside
 * them runs, curves, and what links carry.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "kinds/gossip/point.h"
#include "study/axes.h"
#include "topo/route.h"

/* One row; counts below 0 and NaN are blank. */
struct gossip_row {
    const char *method, *family, *rule, *status, *compared, *base, *fixed, *fixed_for_time, *need_dim, *on,
        *replica, *message;
    int64_t period, seeds, steps, diverged_step;
    double accuracy_pct, accuracy_half_pct, average_pct, average_half_pct, traffic_MB, traffic_half_MB;
    double time_s, time_half_s, wait_pct, exchanges, loss;
    double traffic_vs_base_pct, time_vs_base_pct, accuracy_vs_base_points, accuracy_vs_base_half;
    double traffic_vs_fixed_pct, time_vs_fixed_pct, average_MB, average_s, need_GBps;
    double need_wait_pct, step_s, wire_MB, missing_GB;
    double dim_MB[TOPO_MAX_DIMS];
};

#define ROW_WORD(key, text)                                                                                  \
    {                                                                                                        \
#key, text, TABLE_TEXT, offsetof(struct gossip_row, key)                                             \
    }
#define ROW_COUNT(key, text)                                                                                 \
    {                                                                                                        \
#key, text, TABLE_COUNT, offsetof(struct gossip_row, key)                                            \
    }
#define ROW_REAL(key, text)                                                                                  \
    {                                                                                                        \
#key, text, TABLE_REAL, offsetof(struct gossip_row, key)                                             \
    }

const struct gossip_column gossip_columns[] = {
    ROW_WORD(method, "label: the method and what it is given, or its name in the study"),
    ROW_WORD(family, "the method"),
    ROW_WORD(rule, "when a worker exchanges, where a method has rules"),
    ROW_COUNT(period, "steps between exchanges, where they stay the same"),
    ROW_COUNT(seeds, "runs"),
    ROW_WORD(status,
             "ok; diverged: the loss of some seed was no number, and there are no means; error: likewise"),
    ROW_REAL(accuracy_pct, "of the workers' own models on the test set: mean over workers and seeds"),
    ROW_REAL(accuracy_half_pct, "half width of its 95 % interval over the seeds"),
    ROW_REAL(average_pct, "accuracy of the mean of all models"),
    ROW_REAL(average_half_pct, "likewise"),
    ROW_REAL(traffic_MB, "what NPUs send, all together"),
    ROW_REAL(traffic_half_MB, "likewise"),
    ROW_REAL(time_s, "simulated, until the last worker and exchange are done"),
    ROW_REAL(time_half_s, "likewise"),
    ROW_REAL(wait_pct, "of time_s, that a worker waits, mean over workers"),
    ROW_REAL(exchanges, "messages, two-way exchanges and collectives"),
    ROW_COUNT(steps, "of one worker"),
    ROW_REAL(loss, "mean over batches of the last tenth of the steps, nats"),
    ROW_WORD(compared, "whose accuracy is compared in what follows: compare of the study"),
    ROW_WORD(base, "label of the baseline"),
    ROW_REAL(traffic_vs_base_pct, "change of traffic_MB against the baseline"),
    ROW_REAL(time_vs_base_pct, "change of time_s against the baseline"),
    ROW_REAL(accuracy_vs_base_points,
             "accuracy_pct, or average_pct, less that of the baseline: mean of differences by seed"),
    ROW_REAL(accuracy_vs_base_half, "half width of its 95 % interval"),
    ROW_WORD(fixed, "of the baseline's method the fixed period that sends least at equal accuracy"),
    ROW_REAL(traffic_vs_fixed_pct, "change of traffic_MB against that"),
    ROW_WORD(fixed_for_time, "of the baseline's method the fixed period that is fastest at equal accuracy"),
    ROW_REAL(time_vs_fixed_pct, "change of time_s against that"),
    ROW_REAL(average_MB, "traffic of an all-reduce at the end, for the mean of all models; not in the above"),
    ROW_REAL(average_s, "its time"),
    ROW_COUNT(diverged_step, "the first step of a worker at which the loss of some seed was no number"),
    ROW_REAL(need_GBps, "with need_pct: bandwidth of an NPU at which a run takes so much "
                        "longer than with endless bandwidth; 0: any is enough"),
    ROW_REAL(need_wait_pct, "how much longer that is: need_pct of the study"),
    ROW_WORD(need_dim, "the dimension whose bandwidth alone that is: need_dim of the study; blank: all"),
    ROW_REAL(step_s, "mean time of a step: clock.step_ms, or that of job"),
    ROW_REAL(wire_MB, "what a model counts as on the wire: model_MB, that of job, or 4 bytes a parameter"),
    ROW_WORD(on, "workers, network, and how exchanges are priced"),
    ROW_WORD(replica, "what a worker stands for: the model and the NPU of job"),
    ROW_REAL(missing_GB, "memory that the NPU lacks for job; none where it is negative"),
    ROW_WORD(message, "what is wrong, or why need_GBps could not be found"),
    { .name = NULL },
};

/* The column before which those of dimensions stand. */
static bool is_after_dims(const struct gossip_column *c)
{
    return strcmp(c->name, "diverged_step") == 0;
}

/* ---- cells ---- */

static int32_t most_dims(const struct gossip_runs *r)
{
    int32_t most = 0;
    for (int64_t i = 0; i < r->study->sweep.n_points; i++) {
        int32_t n = r->states[i].point.fabric.net.n_dims;
        most = n > most ? n : most;
    }
    return most;
}

/* An axis has a column of that name already, with the same values. */
static bool is_axis(const struct gossip_runs *r, const struct gossip_column *c)
{
    const struct sweep *w = &r->study->sweep;
    for (int32_t k = 0; k < w->n_keys; k++)
        if (strcmp(w->keys[k].path, c->name) == 0)
            return true;
    return false;
}

static void make_columns(struct table *t, const struct gossip_runs *r)
{
    char name[32];
    sweep_put_columns(t, &r->study->sweep);
    for (const struct gossip_column *c = gossip_columns; c->name; c++) {
        for (int32_t d = 0; is_after_dims(c) && d < most_dims(r); d++) {
            snprintf(name, sizeof name, "dim%d_MB", d + 1);
            table_column(t, name, TABLE_REAL);
        }
        if (!is_axis(r, c))
            table_column(t, c->name, c->kind);
    }
}

static void *field_of(struct gossip_row *row, const struct gossip_column *c)
{
    return (char *)row + c->offset;
}

static void clear(struct gossip_row *row)
{
    for (const struct gossip_column *c = gossip_columns; c->name; c++)
        if (c->kind == TABLE_TEXT)
            *(const char **)field_of(row, c) = NULL;
        else if (c->kind == TABLE_REAL)
            *(double *)field_of(row, c) = NAN;
        else
            *(int64_t *)field_of(row, c) = -1;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        row->dim_MB[d] = NAN;
}

static void put_row(struct table *t, const struct gossip_runs *r, int64_t point, struct gossip_row *row)
{
    sweep_put_point(t, &r->study->sweep, point);
    for (const struct gossip_column *c = gossip_columns; c->name; c++) {
        int64_t n = c->kind == TABLE_COUNT ? *(int64_t *)field_of(row, c) : 0;
        for (int32_t d = 0; is_after_dims(c) && d < most_dims(r); d++)
            table_put_real(t, row->dim_MB[d]);
        if (is_axis(r, c))
            continue;
        if (c->kind == TABLE_TEXT)
            table_put_text(t, *(const char **)field_of(row, c));
        else if (c->kind == TABLE_REAL)
            table_put_real(t, *(double *)field_of(row, c));
        else
            table_put_count(t, n < 0 ? INT64_MIN : n);
    }
}

/* ---- means over the seeds ---- */

/* What is asked of a run; NaN of one that diverged or failed. */
enum measure { ACCURACY, AVERAGE, TRAFFIC, TIME, WAIT, EXCHANGES, LOSS, NEED, N_MEASURES };

static bool is_ok(const struct gossip_unit *u)
{
    return !u->rc && u->result.diverged_step < 0;
}

static double measure_of(const struct gossip_unit *u, enum measure what)
{
    const struct gossip_result *x = &u->result;
    if (!is_ok(u))
        return NAN;
    switch (what) {
    case ACCURACY:
        return x->accuracy * 100;
    case AVERAGE:
        return x->average_accuracy * 100;
    case TRAFFIC:
        return x->sent_B / 1e6;
    case TIME:
        return x->time_s;
    case WAIT:
        return x->time_s > 0 ? x->wait_s / x->time_s * 100 : 0;
    case EXCHANGES:
        return (double)x->exchanges;
    case LOSS:
        return x->loss;
    case NEED:
        return u->need_Bps / 1e9;
    case N_MEASURES:
        break;
    }
    return NAN;
}

/* The runs of one entry of a point. */
struct group {
    struct stat_mean of[N_MEASURES];
    int64_t diverged_step, n_diverged; /* the least, -1: none did; of how many seeds */
    const char *told;                  /* the first message of a run that did not fail; NULL: none */
    const struct gossip_unit *wrong;   /* the first that failed; NULL: none did */
    bool is_ok;                        /* no run has failed or diverged: else there are no means */
};

/* What the rows of a point are made from. */
struct frame {
    const struct gossip_runs *r;
    const struct gossip_state *state;
    int64_t point, seeds;
    double *x;            /* shape [seeds], owned: room */
    struct group *groups; /* shape [n_entries], owned */
};

static void count_run(struct group *g, const struct gossip_unit *u)
{
    int64_t step = u->rc ? -1 : u->result.diverged_step;
    if (step >= 0 && (g->diverged_step < 0 || step < g->diverged_step))
        g->diverged_step = step;
    g->n_diverged += step >= 0;
    if (u->rc && !g->wrong)
        g->wrong = u;
    if (!u->rc && !g->told)
        g->told = u->message;
    g->is_ok = g->is_ok && is_ok(u);
}

/* The seeds that did not diverge are those with the luckier draws: their mean would flatter the method. */
static void sum_up(struct group *g, const struct frame *f, int32_t entry)
{
    *g = (struct group){ .diverged_step = -1, .is_ok = true };
    for (int64_t k = 0; k < f->seeds; k++)
        count_run(g, gossip_unit_at(f->r, f->point, entry, k));
    for (int what = 0; what < N_MEASURES; what++) {
        for (int64_t k = 0; k < f->seeds; k++)
            f->x[k] = g->is_ok ? measure_of(gossip_unit_at(f->r, f->point, entry, k), (enum measure)what)
                               : (double)NAN;
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
    return f->state->point.conf.compare == GOSSIP_COMPARE_AVERAGED ? AVERAGE : ACCURACY;
}

static struct stat_mean accuracy_gain(const struct frame *f, int32_t entry)
{
    int32_t base = f->state->point.baseline;
    for (int64_t k = 0; k < f->seeds; k++)
        f->x[k] = measure_of(gossip_unit_at(f->r, f->point, entry, k), compared(f)) -
                  measure_of(gossip_unit_at(f->r, f->point, base, k), compared(f));
    return stat_mean(f->x, f->seeds, 1);
}

/* The entry with a fixed period of the baseline's method whose @p what is least, of those as accurate as @p
 * entry within what counts as equal; -1: none. A period that is never over is no way to exchange. */
static int32_t best_fixed(const struct frame *f, int32_t entry, enum measure what)
{
    const struct gossip_point *p = &f->state->point;
    double floor_pct = f->groups[entry].of[compared(f)].mean - p->equal_frac * 100;
    int32_t best = -1;
    for (int32_t i = 0; i < p->n_entries; i++) {
        const struct group *g = &f->groups[i];
        bool is_fixed = p->entries[i].settings.method == p->entries[p->baseline].settings.method &&
                        gossip_has_fixed_period(&p->entries[i].settings);
        if (!is_fixed || !g->is_ok || !(g->of[EXCHANGES].mean > 0) || !(g->of[compared(f)].mean >= floor_pct))
            continue;
        if (best < 0 || g->of[what].mean < f->groups[best].of[what].mean)
            best = i;
    }
    return best;
}

static void fill_fixed(struct gossip_row *row, const struct frame *f, int32_t entry)
{
    const struct gossip_entry *entries = f->state->point.entries;
    int32_t sends = best_fixed(f, entry, TRAFFIC), fastest = best_fixed(f, entry, TIME);
    const struct group *g = &f->groups[entry];
    if (sends < 0 || fastest < 0)
        return;
    row->fixed = entries[sends].label;
    row->traffic_vs_fixed_pct = change_pct(g->of[TRAFFIC].mean, f->groups[sends].of[TRAFFIC].mean);
    row->fixed_for_time = entries[fastest].label;
    row->time_vs_fixed_pct = change_pct(g->of[TIME].mean, f->groups[fastest].of[TIME].mean);
}

static void fill_compared(struct gossip_row *row, const struct frame *f, int32_t entry)
{
    const struct group *g = &f->groups[entry], *base = &f->groups[f->state->point.baseline];
    row->compared = gossip_compare_words[f->state->point.conf.compare];
    if (!base->is_ok)
        return;
    struct stat_mean gain = accuracy_gain(f, entry);
    row->base = f->state->point.entries[f->state->point.baseline].label;
    row->traffic_vs_base_pct = change_pct(g->of[TRAFFIC].mean, base->of[TRAFFIC].mean);
    row->time_vs_base_pct = change_pct(g->of[TIME].mean, base->of[TIME].mean);
    row->accuracy_vs_base_points = gain.mean;
    row->accuracy_vs_base_half = gain.half;
}

/* ---- rows ---- */

static void fill_entry(struct gossip_row *row, const struct gossip_entry *x)
{
    row->method = x->label;
    row->family = gossip_method_name(x->settings.method);
    if (gossip_method_uses(&x->settings) & USE_GOSSIP_RULE)
        row->rule = gossip_rule_words[x->settings.rule];
    if (gossip_has_fixed_period(&x->settings))
        row->period = x->settings.period;
}

static void fill_means(struct gossip_row *row, const struct group *g)
{
    row->accuracy_pct = g->of[ACCURACY].mean;
    row->accuracy_half_pct = g->of[ACCURACY].half;
    row->average_pct = g->of[AVERAGE].mean;
    row->average_half_pct = g->of[AVERAGE].half;
    row->traffic_MB = g->of[TRAFFIC].mean;
    row->traffic_half_MB = g->of[TRAFFIC].half;
    row->time_s = g->of[TIME].mean;
    row->time_half_s = g->of[TIME].half;
    row->wait_pct = g->of[WAIT].mean;
    row->exchanges = g->of[EXCHANGES].mean;
    row->loss = g->of[LOSS].mean;
    row->need_GBps = g->of[NEED].mean;
}

/* Mean bytes over each dimension. */
static void fill_dims(struct gossip_row *row, const struct frame *f, int32_t entry)
{
    for (int32_t d = 0; d < f->state->point.fabric.net.n_dims; d++) {
        for (int64_t k = 0; k < f->seeds; k++)
            f->x[k] = gossip_unit_at(f->r, f->point, entry, k)->result.dim_B[d] / 1e6;
        row->dim_MB[d] = stat_mean(f->x, f->seeds, 1).mean;
    }
}

/* What is known before any run. */
static void fill_setting(struct gossip_row *row, const struct gossip_point *p)
{
    const struct gossip_fabric *x = &p->fabric;
    row->steps = gossip_point_steps(p);
    row->need_wait_pct = p->conf.need_pct;
    row->step_s = p->clock.step_s;
    row->wire_MB = gossip_point_wire_B(p) / 1e6;
    if (!isnan(p->conf.need_pct) && x->share_dim > 0)
        row->need_dim = x->net.dims[x->share_dim - 1].name;
}

/* Texts of a row. */
struct row_room {
    char replica[GOSSIP_JOB_TEXT], spec[TOPO_SPEC], on[TOPO_SPEC + 200], diverged[80];
};

/* Where it runs, and the job of a point. */
static void fill_words(struct gossip_row *row, struct row_room *room, const struct gossip_point *p)
{
    const struct topo_network *net = &p->fabric.net;
    const char *name = net->name[0] ? net->name : topo_format_spec(room->spec, net);
    snprintf(room->on, sizeof room->on, "%d workers on %s, %s rung", p->fabric.n_workers, name,
             gossip_rung_words[p->fabric.rung]);
    row->on = room->on;
    if (!p->job.model[0])
        return;
    row->replica = gossip_job_text(room->replica, &p->job);
    row->missing_GB = p->job.missing_B / 1e9;
}

static void fill_outcome(struct gossip_row *row, struct row_room *room, const struct group *g, int64_t seeds)
{
    row->seeds = seeds;
    row->diverged_step = g->diverged_step;
    row->status = g->wrong ? "error" : g->n_diverged ? "diverged" : "ok";
    row->message = g->wrong ? g->wrong->message : g->told;
    if (g->wrong || !g->n_diverged)
        return;
    snprintf(room->diverged, sizeof room->diverged, "%lld of %lld seeds diverged", (long long)g->n_diverged,
             (long long)seeds);
    row->message = room->diverged;
}

static void put_entry(struct table *t, const struct frame *f, int32_t entry)
{
    const struct group *g = &f->groups[entry];
    struct row_room room = { 0 };
    struct gossip_row row;
    clear(&row);
    fill_entry(&row, &f->state->point.entries[entry]);
    fill_setting(&row, &f->state->point);
    fill_words(&row, &room, &f->state->point);
    fill_outcome(&row, &room, g, f->seeds);
    if (g->is_ok) {
        const struct gossip_result *x = &gossip_unit_at(f->r, f->point, entry, 0)->result;
        fill_means(&row, g);
        fill_dims(&row, f, entry);
        row.average_MB = x->average_B / 1e6;
        row.average_s = x->average_s;
        fill_compared(&row, f, entry);
        fill_fixed(&row, f, entry);
    }
    put_row(t, f->r, f->point, &row);
}

static void put_failed(struct table *t, const struct gossip_runs *r, int64_t point)
{
    struct gossip_row row;
    clear(&row);
    row.status = "error";
    row.message = r->states[point].message;
    put_row(t, r, point, &row);
}

/* Did all runs of the point take place? */
static bool is_whole(const struct frame *f)
{
    for (int64_t i = 0; i < f->seeds * f->state->point.n_entries; i++)
        if (!f->r->units[f->state->first_unit + i].run)
            return false;
    return f->state->run;
}

static int put_point(struct table *t, const struct gossip_runs *r, int64_t point, struct err *e)
{
    struct frame f = { .r = r, .state = &r->states[point], .point = point, .seeds = r->study->seeds };
    int32_t n = f.state->point.n_entries;
    if (f.state->run && f.state->rc)
        put_failed(t, r, point);
    if (!is_whole(&f) || f.state->rc)
        return 0;
    f.x = malloc((size_t)f.seeds * sizeof *f.x);
    f.groups = malloc((size_t)n * sizeof *f.groups);
    int rc = f.x && f.groups ? 0 : err_nomem(e, "rows of a study");
    for (int32_t i = 0; i < n && !rc; i++)
        sum_up(&f.groups[i], &f, i);
    for (int32_t i = 0; i < n && !rc; i++)
        put_entry(t, &f, i);
    free(f.x);
    free(f.groups);
    return rc;
}

int gossip_make_tables(struct table *out, const struct gossip_runs *r, struct err *e)
{
    int rc = 0;
    make_columns(out, r);
    for (int64_t i = 0; i < r->study->sweep.n_points && !rc; i++)
        rc = put_point(out, r, i, e);
    if (!rc && out->failed)
        rc = err_nomem(e, "rows of a study");
    return rc ? rc : gossip_make_details(r, e);
}

/* ---- tables beside the rows ---- */

#define WORD(key, text)                                                                                      \
    {                                                                                                        \
        .name = key, .help = text, .kind = TABLE_TEXT                                                        \
    }
#define COUNT(key, text)                                                                                     \
    {                                                                                                        \
        .name = key, .help = text, .kind = TABLE_COUNT                                                       \
    }
#define REAL(key, text)                                                                                      \
    {                                                                                                        \
        .name = key, .help = text, .kind = TABLE_REAL                                                        \
    }

/* ---- what all begin with ---- */

static void put_columns(struct table *t, const struct gossip_runs *r, const struct gossip_column *columns)
{
    sweep_put_columns(t, &r->study->sweep);
    for (const struct gossip_column *c = columns; c->name; c++)
        table_column(t, c->name, c->kind);
}

static void put_head(struct table *t, const struct gossip_runs *r, int64_t point, int32_t entry)
{
    sweep_put_point(t, &r->study->sweep, point);
    table_put_text(t, r->states[point].point.entries[entry].label);
}

/* ---- runs ---- */

const struct gossip_column gossip_run_columns[] = {
    WORD("method", "label of the row"),
    COUNT("seed", "of the run"),
    WORD("status", "ok; diverged: then accuracies and loss are blank, and the rest is until there; error"),
    REAL("accuracy_pct", "mean over workers"),
    REAL("average_pct", "of the mean of all models"),
    REAL("traffic_MB", "what NPUs send, all together"),
    REAL("time_s", "simulated"),
    REAL("compute_s", "of it, mean over workers"),
    REAL("wait_s", "likewise"),
    COUNT("exchanges", "messages, two-way exchanges and collectives"),
    COUNT("steps", "of one worker"),
    REAL("loss", "mean over batches of the last tenth of the steps, nats"),
    COUNT("diverged_step", "step of a worker at which the loss was no number"),
    WORD("message", "what is wrong, or why the bandwidth that is needed could not be found"),
    { .name = NULL },
};

static void put_run(struct table *t, const struct gossip_unit *u)
{
    const struct gossip_result *x = &u->result;
    bool failed = u->rc != 0;
    table_put_text(t, failed ? "error" : x->diverged_step >= 0 ? "diverged" : "ok");
    table_put_real(t, failed ? (double)NAN : x->accuracy * 100);
    table_put_real(t, failed ? (double)NAN : x->average_accuracy * 100);
    table_put_real(t, failed ? (double)NAN : x->sent_B / 1e6);
    table_put_real(t, failed ? (double)NAN : x->time_s);
    table_put_real(t, failed ? (double)NAN : x->compute_s);
    table_put_real(t, failed ? (double)NAN : x->wait_s);
    table_put_count(t, failed ? INT64_MIN : x->exchanges);
    table_put_count(t, failed ? INT64_MIN : x->steps);
    table_put_real(t, failed ? (double)NAN : x->loss);
    table_put_count(t, failed || x->diverged_step < 0 ? INT64_MIN : x->diverged_step);
    table_put_text(t, u->message);
}

/* ---- curves ---- */

const struct gossip_column gossip_curve_columns[] = {
    WORD("method", "label of the row"),
    COUNT("seed", "of the run"),
    REAL("time_s", "simulated"),
    COUNT("steps", "of one worker: mean over workers, rounded down"),
    REAL("epoch", "the same in epochs, not rounded"),
    REAL("loss", "mean over batches since the row before, nats"),
    COUNT("exchanges", "so far, of all workers together"),
    REAL("traffic_MB", "likewise"),
    REAL("average_pct", "accuracy of the mean of all models, at a fifth of the rows"),
    { .name = NULL },
};

static void put_curve_point(struct table *t, const struct gossip_point *p, const struct gossip_curve_point *x)
{
    double epoch_steps = (double)gossip_point_epoch_steps(p) * p->fabric.n_workers;
    table_put_real(t, x->time_s);
    table_put_count(t, x->steps / p->fabric.n_workers);
    table_put_real(t, (double)x->steps / epoch_steps);
    table_put_real(t, x->loss);
    table_put_count(t, x->exchanges);
    table_put_real(t, x->sent_B / 1e6);
    table_put_real(t, x->accuracy * 100);
}

/* Runs and curves have a row, or rows, for each run. */
static void put_units(const struct gossip_runs *r, int64_t point, int32_t entry, int64_t k)
{
    struct table *runs = r->options->runs, *curves = r->options->curves;
    const struct gossip_unit *u = gossip_unit_at(r, point, entry, k);
    if (runs && u->run) {
        put_head(runs, r, point, entry);
        table_put_count(runs, r->study->seed + k);
        put_run(runs, u);
    }
    for (int32_t i = 0; curves && i < u->result.n_curve; i++) {
        put_head(curves, r, point, entry);
        table_put_count(curves, r->study->seed + k);
        put_curve_point(curves, &r->states[point].point, &u->result.curve[i]);
    }
}

/* ---- links ---- */

const struct gossip_column gossip_link_columns[] = {
    WORD("method", "label of the row"),
    WORD("link", "from=to"),
    WORD("dim", "dimension it belongs to"),
    REAL("MB", "what it carries in the run of the first seed"),
    { .name = NULL },
};

static void put_links(struct table *t, const struct gossip_runs *r, int64_t point,
                      const struct topo_routes *routes)
{
    const struct gossip_point *p = &r->states[point].point;
    char name[TOPO_ARC_TEXT];
    for (int32_t entry = 0; entry < p->n_entries; entry++) {
        const struct gossip_result *x = &gossip_unit_at(r, point, entry, 0)->result;
        for (int32_t a = 0; a < x->n_arcs; a++) {
            put_head(t, r, point, entry);
            table_put_text(t, topo_arc_name(name, routes, a));
            table_put_text(t, p->fabric.net.dims[topo_link_dim(routes, a / 2)].name);
            table_put_real(t, x->arc_B[a] / 1e6);
        }
    }
}

/* Links are called what the graph calls them: it is built once more, as it was let go of. */
static int put_point_links(struct table *t, const struct gossip_runs *r, int64_t point, struct err *e)
{
    struct topo_graph *graph;
    struct topo_routes routes;
    int rc = topo_build_graph(&graph, &r->states[point].point.fabric.net, NULL, e);
    if (rc)
        return rc;
    rc = topo_routes_build(&routes, graph, e);
    if (!rc)
        put_links(t, r, point, &routes);
    topo_routes_free(&routes);
    topo_graph_free(graph);
    return rc;
}

/* Did a run with links take place? */
static bool has_links(const struct gossip_runs *r, int64_t point)
{
    for (int32_t entry = 0; entry < r->states[point].point.n_entries; entry++)
        if (gossip_unit_at(r, point, entry, 0)->result.n_arcs > 0)
            return true;
    return false;
}

int gossip_make_details(const struct gossip_runs *r, struct err *e)
{
    const struct gossip_options *o = r->options;
    struct table *const tables[] = { o->runs, o->curves, o->links };
    int rc = 0;
    if (o->runs)
        put_columns(o->runs, r, gossip_run_columns);
    if (o->curves)
        put_columns(o->curves, r, gossip_curve_columns);
    if (o->links)
        put_columns(o->links, r, gossip_link_columns);
    for (int64_t i = 0; i < r->study->sweep.n_points && !rc; i++) {
        for (int32_t entry = 0; entry < r->states[i].point.n_entries; entry++)
            for (int64_t k = 0; k < r->study->seeds; k++)
                put_units(r, i, entry, k);
        if (o->links && has_links(r, i))
            rc = put_point_links(o->links, r, i, e);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !rc; i++)
        if (tables[i] && tables[i]->failed)
            rc = err_nomem(e, "rows of runs");
    return rc;
}
