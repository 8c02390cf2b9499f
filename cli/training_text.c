#include <math.h>
#include <stdio.h>

#include "base/sheet.h"
#include "cli/training.h"
#include "kinds/design/search.h"

static void put_time(struct sheet *sheet, const char *name, double x_s, double per_s, double all_s)
{
    if (!(fabs(x_s) > 1e-9 * all_s))
        return;
    sheet_put(sheet, "%s", name);
    sheet_real(sheet, x_s * per_s, 5);
    sheet_real(sheet, 100 * x_s / all_s, 3);
}

/* What an axis waits for, dimension by dimension. */
static void put_axis(struct sheet *sheet, const struct design_point *s, const struct training_report *r,
                     int axis, double per_s)
{
    double latency_s = r->axis_s[axis];
    char name[TOPO_NAME + 32];
    snprintf(name, sizeof name, "exposed %s", report_axis_words[axis]);
    put_time(sheet, name, r->axis_s[axis], per_s, r->time_s);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        snprintf(name, sizeof name, "  %s", s->net.dims[d].name);
        put_time(sheet, name, r->dim_s[axis][d], per_s, r->time_s);
        latency_s -= r->dim_s[axis][d];
    }
    put_time(sheet, "  latency", latency_s, per_s, r->time_s);
}

static int put_breakdown(const struct design_point *s, const struct training_report *r, struct text *out,
                         struct err *e)
{
    struct sheet sheet = { 0 };
    double per_s;
    const char *unit = show_time_unit(r->time_s, &per_s);
    sheet_column(&sheet, "where the step goes", "", SHEET_LEFT);
    sheet_column(&sheet, "time", unit, SHEET_POINT);
    sheet_column(&sheet, "share", "%", SHEET_POINT);
    put_time(&sheet, "compute", r->compute_s, per_s, r->time_s);
    put_time(&sheet, "recomputation", r->recompute_s, per_s, r->time_s);
    put_time(&sheet, "pipeline bubble", r->bubble_s, per_s, r->time_s);
    for (int a = 0; a < N_REPORT_AXES; a++)
        put_axis(&sheet, s, r, a, per_s);
    put_time(&sheet, "optimizer", r->optimizer_s, per_s, r->time_s);
    put_time(&sheet, "overhead", r->overhead_s, per_s, r->time_s);
    put_time(&sheet, "where collectives meet", r->rest_s, per_s, r->time_s);
    put_time(&sheet, "step", r->time_s, per_s, r->time_s);
    int rc = sheet_write(&sheet, out, e);
    sheet_free(&sheet);
    text_puts(
        out,
        "compute counts whole here, communication by what sticks out; further up, the longer of two side by "
        "side\n");
    return rc;
}

static void put_verdict(const struct design_point *s, const struct training_report *r, struct text *out)
{
    char a[SHOW], b[SHOW];
    if (isnan(r->missing_B)) {
        text_puts(out, "the NPU's memory is not given\n");
        return;
    }
    text_printf(out, "%s of %s GB: %s", show_real(a, r->memory_B / 1e9, 4),
                show_real(b, s->net.npu.mem_B / 1e9, 4), r->missing_B > 0 ? "does not fit, " : "fits, ");
    text_printf(out, "%s GB %s\n", show_real(a, fabs(r->missing_B) / 1e9, 3),
                r->missing_B > 0 ? "too much" : "left");
}

static int put_memory(const struct design_point *s, const struct training *x, const struct training_report *r,
                      struct text *out, struct err *e)
{
    struct sheet sheet = { 0 };
    char title[48];
    if (x->plan.degree[PLAN_PP] > 1)
        snprintf(title, sizeof title, "memory of stage %lld", (long long)x->memory.stage + 1);
    else
        snprintf(title, sizeof title, "memory");
    sheet_column(&sheet, title, "", SHEET_LEFT);
    sheet_column(&sheet, "", "GB", SHEET_POINT);
    for (int i = 0; i < N_MEMORY_TERMS; i++) {
        sheet_put(&sheet, "%s", memory_term_words[i]);
        sheet_real(&sheet, x->memory.term_B[i] / 1e9, 4);
    }
    sheet_put(&sheet, "all");
    sheet_real(&sheet, x->memory.total_B / 1e9, 4);
    int rc = sheet_write(&sheet, out, e);
    sheet_free(&sheet);
    put_verdict(s, r, out);
    return rc;
}

static void put_rates(const struct training *x, const struct training_report *r, struct text *out)
{
    char a[SHOW], b[SHOW], c[SHOW];
    text_printf(out, "\n%s %s/s, model FLOP/s utilisation %s %%", show_real(a, r->tokens_per_s, 6),
                x->model.family == MODEL_TRANSFORMER ? "tokens" : "samples", show_real(b, 100 * r->mfu, 4));
    if (r->hfu > r->mfu * (1 + 1e-9))
        text_printf(out, " (with recomputation %s %%)", show_real(c, 100 * r->hfu, 4));
    text_puts(out, "\n");
}

/* ---- a search ---- */

static void put_counts(const struct search_result *r, struct text *out)
{
    char n[SHOW];
    text_printf(out, "\nsearched %s candidates, ", show_count(n, r->n_candidates));
    text_printf(out, "%s do not fit in memory, ", show_count(n, r->n_rejected[SEARCH_MEMORY]));
    text_printf(out, "%s timed", show_count(n, r->n_timed));
    if (r->n_split || r->n_bounded) {
        text_printf(out, ": of these %s ruled out by bounds, ", show_count(n, r->n_bounded));
        text_printf(out, "%s split on their own", show_count(n, r->n_split));
    }
    if (r->n_open)
        text_printf(out, ";\n%s were neither: one of them might be better", show_count(n, r->n_open));
    text_puts(out, "\n");
}

static int put_found(const struct design_point *s, const struct training *x, const struct search_result *r,
                     struct text *out, struct err *e)
{
    struct sheet sheet = { 0 };
    struct text plan = { 0 };
    double per_s;
    const char *unit = show_time_unit(r->found[0].time_s, &per_s);
    sheet_column(&sheet, "", "", SHEET_POINT);
    sheet_column(&sheet, "step", unit, SHEET_POINT);
    sheet_column(&sheet, "utilisation", "%", SHEET_POINT);
    sheet_column(&sheet, "memory", "GB", SHEET_POINT);
    sheet_column(&sheet, "plan, innermost first", "", SHEET_LEFT);
    for (int32_t i = 0; i < r->n_found; i++) {
        const struct search_found *f = &r->found[i];
        text_clear(&plan);
        plan_format(&plan, &f->plan, &x->model);
        sheet_count(&sheet, i + 1);
        sheet_real(&sheet, f->time_s * per_s, 6);
        sheet_real(&sheet, 100 * training_mfu(x, &s->net, f->time_s), 3);
        sheet_real(&sheet, f->memory_B / 1e9, 3);
        sheet_put(&sheet, "%s", text_str(&plan));
    }
    int rc = sheet_write(&sheet, out, e);
    sheet_free(&sheet);
    text_free(&plan);
    return rc;
}

static int put_workload(const struct design_point *s, const struct design *d, int32_t i, struct text *out,
                        struct err *e)
{
    const struct study_workload *w = &s->workloads[i];
    struct training_report r;
    training_report(&r, s, w, &d->loads[i]);
    text_printf(out, "\n%s: ", w->training->name);
    plan_format(out, &w->training->plan, &w->training->model);
    text_puts(out, "\n");
    plan_draw(out, &w->training->plan, &w->training->place, &s->net);
    text_puts(out, "\n");
    int rc = put_breakdown(s, &r, out, e);
    text_puts(out, "\n");
    if (!rc)
        rc = put_memory(s, w->training, &r, out, e);
    put_rates(w->training, &r, out);
    if (!rc && w->search) {
        put_counts(w->search, out);
        rc = put_found(s, w->training, w->search, out, e);
    }
    return rc;
}

int training_text(const struct design_point *s, const struct design *d, struct text *out, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < d->n_loads && !rc; i++)
        if (s->workloads[i].training)
            rc = put_workload(s, d, i, out, e);
    return rc;
}
