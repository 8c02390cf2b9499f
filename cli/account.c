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

static void put_row(struct report *r, const char *name, const struct account_view *x, int32_t n,
                    const double *parts_s)
{
    report_put_word(r, name);
    for (int32_t i = 0; i < n; i++)
        report_put_real(r, parts_s[i]);
    if (n == 1)
        report_put_real(r, parts_s[0] / x->time_s);
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

void account_put_rows(struct report *r, const struct design_point *s, const struct account_view *x, int32_t n)
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

void account_report(struct report *r, const struct account *a, int32_t n_dims)
{
    report_json_real(r, "compute_s", a ? a->compute_s : NAN);
    report_json_real(r, "recompute_s", a ? a->recompute_s : NAN);
    report_json_real(r, "bubble_s", a ? a->bubble_s : NAN);
    report_json_real(r, "comm_s", a ? a->comm_s : NAN);
    report_json_real(r, "optimizer_s", a ? a->optimizer_s : NAN);
    report_json_real(r, "overhead_s", a ? a->overhead_s : NAN);
    report_json_real(r, "latency_s", a ? a->latency_s : NAN);
    report_reals(r, "exposed_s", a ? a->dim_s : NULL, a ? n_dims : 0, 1);
}

/* ---- by axis ---- */

static void put_share(struct report *r, const char *name, double part_s, double step_s)
{
    if (!(fabs(part_s) > PART_REL * step_s))
        return;
    report_put_word(r, name);
    report_put_real(r, part_s);
    report_put_real(r, part_s / step_s);
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
    double per_s;
    const char *unit = show_time_unit(step_s, &per_s);
    const struct report_column columns[] = {
        { IN_TEXT, .title = "where the step goes" },
        { IN_TEXT, .title = "time", .unit = unit, .show = 5, .times = per_s },
        { IN_TEXT, .title = "share", .unit = "%", .show = 3, .times = 100 },
    };
    report_table(r, NULL, columns, REPORT_COLUMNS(columns));
    put_share(r, "compute", a->compute_s, step_s);
    put_share(r, "recomputation", a->recompute_s, step_s);
    put_share(r, "pipeline bubble", a->bubble_s, step_s);
    for (int32_t i = 0; i < a->n_axes; i++)
        put_axis(r, s, &a->axes[i], step_s);
    put_share(r, "optimizer", a->optimizer_s, step_s);
    put_share(r, "overhead", a->overhead_s, step_s);
    put_share(r, "step", step_s, step_s);
    report_table_end(r);
    report_line(r, "compute counts whole, communication as far as nothing hides it\n");
}

void account_report_step(struct report *r, const struct design_point *s, const struct design *d, int32_t load)
{
    const struct study_workload *w = &s->workloads[load];
    const struct account *a = &d->loads[load].account;
    report_open(r, "step", '{');
    report_json_real(r, "time_s", d->loads[load].time_s);
    account_report(r, a, s->net.n_dims);
    report_open(r, "exposed", '{');
    for (int32_t i = 0; i < a->n_axes; i++) {
        report_open(r, a->axes[i].name, '{');
        report_json_real(r, "time_s", a->axes[i].time_s);
        report_reals(r, "by_dim_s", a->axes[i].dim_s, s->net.n_dims, 1);
        report_json_real(r, "latency_s", a->axes[i].latency_s);
        report_close(r, '}');
    }
    report_close(r, '}');
    if (w->training) {
        struct training_report rates;
        training_report(&rates, s, w, &d->loads[load]);
        report_json_real(r, "tokens_per_s", rates.tokens_per_s);
        report_json_real(r, "mfu", rates.mfu);
        report_json_real(r, "hfu", rates.hfu);
        report_axes(r, s, a, d->loads[load].time_s);
    }
    report_close(r, '}');
}
