/*
 * The account of a step: compute, recomputation, bubble, exposed communication, optimizer and overhead, which
 * add up to its time; communication once by class of links and once by parallel axis. What is left of an axis
 * beyond its classes is latency, which no bandwidth shortens.
 */
#include "cli/account.h"

#include <math.h>
#include <stdio.h>

#include "cli/output.h"
#include "kinds/design/answer/training.h"
#include "sim/rules.h"

/* Below this share of the step a part is rounding. */
#define PART_REL 1e-9

/* ---- by class of links ---- */

enum part { COMPUTE, RECOMPUTE, BUBBLE, LATENCY, OPTIMIZER, OVERHEAD };

static double part_of(const struct account *a, enum part part)
{
    const double parts_s[] = { a->compute_s, a->recompute_s, a->bubble_s,
                               a->latency_s, a->optimizer_s, a->overhead_s };
    return parts_s[part];
}

struct account_line {
    char name[TOPO_NAME + 32];
    double time_s[N_SIM_MODELS], share;
};

#define ACCOUNT_LINE(field, called, kind, ...)                                                               \
    COLUMN_AT(struct account_line, field, called, kind, NULL, __VA_ARGS__)
#define ACCOUNT_SHARE ACCOUNT_LINE(share, "share", TABLE_REAL, .times = 100, .as = "%", .digits = 3)

static void put_row(struct report *r, const char *name, const struct account_view *x, int32_t n,
                    const double *parts_s)
{
    struct account_line line = { .share = parts_s[0] / x->time_s };
    snprintf(line.name, sizeof line.name, "%s", name);
    for (int32_t i = 0; i < n; i++)
        line.time_s[i] = parts_s[i];
    report_row(r, &line);
}

static void put_part(struct report *r, const char *name, const struct account_view *x, int32_t n,
                     enum part part)
{
    double parts_s[N_SIM_MODELS];
    bool any = part == COMPUTE;
    for (int32_t i = 0; i < n; i++) {
        parts_s[i] = part_of(x[i].account, part);
        any = any || fabs(parts_s[i]) > PART_REL * x[i].time_s;
    }
    if (any)
        put_row(r, name, x, n, parts_s);
}

static void put_parts(struct report *r, const struct design_point *s, const struct account_view *x, int32_t n)
{
    char name[TOPO_NAME + 32];
    double parts_s[N_SIM_MODELS];
    put_part(r, "compute", x, n, COMPUTE);
    put_part(r, "recomputation", x, n, RECOMPUTE);
    put_part(r, "pipeline bubble", x, n, BUBBLE);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        snprintf(name, sizeof name, "exposed on %s", s->net.dims[d].name);
        for (int32_t i = 0; i < n; i++)
            parts_s[i] = x[i].account->dim_s[d];
        put_row(r, name, x, n, parts_s);
    }
    put_part(r, sim_latency_word(s->model, &s->rules), x, n, LATENCY);
    put_part(r, "optimizer", x, n, OPTIMIZER);
    put_part(r, "overhead", x, n, OVERHEAD);
    for (int32_t i = 0; i < n; i++)
        parts_s[i] = x[i].time_s;
    put_row(r, "one step", x, n, parts_s);
}

void account_table(struct report *r, const struct design_point *s, const char *title,
                   const struct account_view *x, int32_t n)
{
    struct column columns[N_SIM_MODELS + 3] = { ACCOUNT_LINE(name, "name", TABLE_TEXT, .title = title,
                                                             .flags = COLUMN_CHARS) };
    double parts_s[N_SIM_MODELS], most_s = 0, per_s;
    /* One unit for all columns, that of the longest. */
    for (int32_t i = 0; i < n; i++)
        most_s = isfinite(x[i].time_s) ? fmax(most_s, x[i].time_s) : most_s;
    const char *unit = show_time_unit(most_s, &per_s);
    for (int32_t i = 0; i < n; i++)
        columns[1 + i] = (struct column)ACCOUNT_LINE(time_s[i], "seconds", TABLE_REAL, .title = x[i].title,
                                                     .times = per_s, .as = unit, .digits = 6);
    if (n == 1)
        columns[2] = (struct column)ACCOUNT_SHARE;
    if (!report_is(r, IN_TEXT))
        return;
    report_list(r, NULL, columns);
    put_parts(r, s, x, n);
    for (int32_t k = 0; x->design && s->n_workloads > 1 && k < s->n_workloads; k++) {
        for (int32_t i = 0; i < n; i++)
            parts_s[i] = x[i].design->loads[k].time_s;
        put_row(r, s->workloads[k].tree.name, x, n, parts_s);
    }
    report_list_end(r);
}

#define ACCOUNT(field, ...) COLUMN_REAL(struct account, field, __VA_ARGS__)
static const struct column account_columns[] = {
    ACCOUNT(compute_s, NULL, .in = IN_JSON),   ACCOUNT(recompute_s, NULL, .in = IN_JSON),
    ACCOUNT(bubble_s, NULL, .in = IN_JSON),    ACCOUNT(comm_s, NULL, .in = IN_JSON),
    ACCOUNT(optimizer_s, NULL, .in = IN_JSON), ACCOUNT(overhead_s, NULL, .in = IN_JSON),
    ACCOUNT(latency_s, NULL, .in = IN_JSON),   COLUMNS_END,
};

void account_report(struct report *r, const struct account *a, int32_t n_dims)
{
    struct account none;
    row_clear(&none, account_columns);
    report_facts(r, account_columns, a ? a : &none);
    report_reals(r, "exposed_s", a ? a->dim_s : NULL, a ? n_dims : 0, 1);
}

/* ---- by axis ---- */

static void put_share(struct report *r, const char *name, double part_s, double step_s)
{
    const struct account_view view = { .time_s = step_s };
    if (fabs(part_s) > PART_REL * step_s)
        put_row(r, name, &view, 1, &part_s);
}

static void put_axis(struct report *r, const struct design_point *s, const struct account_axis *axis,
                     double step_s)
{
    char name[TOPO_NAME + 32];
    snprintf(name, sizeof name, "exposed %s", axis->name);
    put_share(r, name, axis->time_s, step_s);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        snprintf(name, sizeof name, "  %s", s->net.dims[d].name);
        put_share(r, name, axis->dim_s[d], step_s);
    }
    snprintf(name, sizeof name, "  %s", sim_latency_word(s->model, &s->rules));
    put_share(r, name, axis->latency_s, step_s);
}

/* A part of the step; next to nothing is left out. */
static void report_axes(struct report *r, const struct design_point *s, const struct account *a,
                        double step_s)
{
    static const struct column columns[] = {
        ACCOUNT_LINE(name, "name", TABLE_TEXT, .in = IN_TEXT, .title = "where the step goes",
                     .flags = COLUMN_CHARS),
        ACCOUNT_LINE(time_s[0], "time_s", TABLE_REAL, .in = IN_TEXT, .show = COLUMN_FITTED),
        ACCOUNT_SHARE,
        COLUMNS_END,
    };
    if (!report_is(r, IN_TEXT))
        return;
    report_list(r, NULL, columns);
    put_share(r, "compute", a->compute_s, step_s);
    put_share(r, "recomputation", a->recompute_s, step_s);
    put_share(r, "pipeline bubble", a->bubble_s, step_s);
    for (int32_t i = 0; i < a->n_axes; i++)
        put_axis(r, s, &a->axes[i], step_s);
    put_share(r, "optimizer", a->optimizer_s, step_s);
    put_share(r, "overhead", a->overhead_s, step_s);
    put_share(r, "step", step_s, step_s);
    report_list_end(r);
    report_line(r, "compute counts whole, communication as far as nothing hides it\n");
}

#define AXIS(field, ...) COLUMN_REAL(struct account_axis, field, __VA_ARGS__)
static const struct column load_time[] = { COLUMN_REAL(struct design_load, time_s, NULL, .in = IN_JSON),
                                           COLUMNS_END };
static const struct column axis_time[] = { AXIS(time_s, NULL, .in = IN_JSON), COLUMNS_END };
static const struct column axis_latency[] = { AXIS(latency_s, NULL, .in = IN_JSON), COLUMNS_END };

struct load_head {
    const char *name;
    double weight, time_s;
};

void account_report_load(struct report *r, const struct design_point *s, const struct design *d, int32_t load)
{
    static const struct column columns[] = { COLUMN_WORD(struct load_head, name, NULL, .in = IN_JSON),
                                             COLUMN_REAL(struct load_head, weight, NULL, .in = IN_JSON),
                                             COLUMN_REAL(struct load_head, time_s, NULL, .in = IN_JSON),
                                             COLUMNS_END };
    const struct design_workload *w = &s->workloads[load];
    report_facts(r, columns, &(struct load_head){ w->tree.name, w->weight, d->loads[load].time_s });
}

#define RATE(field, ...) COLUMN_REAL(struct training_report, field, __VA_ARGS__)
static const struct column rate_columns[] = {
    RATE(tokens_per_s, NULL, .in = IN_JSON),
    RATE(mfu, NULL, .in = IN_JSON),
    RATE(hfu, NULL, .in = IN_JSON),
    COLUMNS_END,
};

void account_report_step(struct report *r, const struct design_point *s, const struct design *d, int32_t load)
{
    const struct design_workload *w = &s->workloads[load];
    const struct account *a = &d->loads[load].account;
    report_open(r, "step", '{');
    report_facts(r, load_time, &d->loads[load]);
    account_report(r, a, s->net.n_dims);
    report_open(r, "exposed", '{');
    for (int32_t i = 0; i < a->n_axes; i++) {
        report_open(r, a->axes[i].name, '{');
        report_facts(r, axis_time, &a->axes[i]);
        report_reals(r, "by_dim_s", a->axes[i].dim_s, s->net.n_dims, 1);
        report_facts(r, axis_latency, &a->axes[i]);
        report_close(r, '}');
    }
    report_close(r, '}');
    if (w->training) {
        struct training_report rates;
        design_training_report(&rates, s, w, &d->loads[load]);
        report_facts(r, rate_columns, &rates);
        report_axes(r, s, a, d->loads[load].time_s);
    }
    report_close(r, '}');
}
