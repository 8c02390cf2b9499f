#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/training.h"
#include "cli/alloc_report.h"
#include "cli/bind.h"
#include "base/sheet.h"

static const char *const goals[N_ALLOC_OBJECTIVES] = {
    [ALLOC_TIME] = "least time",
    [ALLOC_UTILIZATION] = "greatest utilization",
    [ALLOC_PERF_PER_COST] = "most performance per cost",
    [ALLOC_COST] = "least cost",
};

/* "study: GPT-3 on libra-4d-4096 (4,096 NPUs): least time" */
static void put_title(const struct alloc_report *r, struct text *out)
{
    const struct design_point *s = r->study;
    char word[TOPO_SPEC], n[SHOW];
    text_printf(out, "%s%s", s->name, *s->name ? ": " : "");
    load_workload_names(out, s);
    text_printf(out, " on %s (%s NPUs): %s", load_network_name(word, &s->net), show_count(n, s->net.n_npus),
                s->combine == STUDY_REGRET && s->n_workloads > 1 ? "least regret" : goals[s->objective]);
    if (s->objective == ALLOC_COST)
        text_printf(out, " within %s", show_time(n, s->time_limit_s));
    text_puts(out, "\n");
    for (int32_t i = 0; i < r->n_at; i++)
        text_printf(out, "%s%s = %s", i ? ", " : "", r->at[i].path, r->at[i].value);
    text_puts(out, r->n_at ? "\n" : "");
}

static void put_range(struct sheet *s, const struct alloc_answer *a, int32_t d)
{
    char lo[SHOW], hi[SHOW];
    double least = a->lo_Bps[d], most = a->hi_Bps[d];
    if (a->unique || !(most - least > 1e-6 * most))
        sheet_put(s, "-");
    else if (isinf(most))
        sheet_put(s, "from %s", show_real(lo, least / 1e9, 5));
    else
        sheet_put(s, "%s to %s", show_real(lo, least / 1e9, 5), show_real(hi, most / 1e9, 5));
}

static int put_dim(const struct alloc_report *r, int32_t d, struct sheet *s, struct err *e)
{
    const struct design_point *study = r->study;
    const struct design *x = r->design;
    double price = study->has_parts ? study->prices[d].usd_per_Bps : NAN;
    struct text binds = { 0 };
    sheet_put(s, "%s", study->net.dims[d].name);
    sheet_put(s, "%s:%d", topo_shape_name(study->net.dims[d].shape), (int)study->net.dims[d].size);
    sheet_real(s, x->bw_Bps[d] / 1e9, 6);
    sheet_real(s, 100 * x->bw_Bps[d] / x->total_Bps, 3);
    put_range(s, &x->answer, d);
    sheet_real(s, 100 * x->util_frac[d], 3);
    sheet_real(s, price * 1e9 / (double)study->net.n_npus, 5);
    sheet_usd(s, price * x->bw_Bps[d]);
    bind_names(&binds, study, x, d);
    sheet_put(s, "%s", text_str(&binds));
    int rc = text_check(&binds, e);
    text_free(&binds);
    return rc;
}

static int put_dims(const struct alloc_report *r, struct text *out, struct err *e)
{
    struct sheet s = { 0 };
    int rc = 0;
    sheet_column(&s, "dimension", "", SHEET_LEFT);
    sheet_column(&s, "shape", "", SHEET_LEFT);
    sheet_column(&s, "bandwidth", "GB/s", SHEET_POINT);
    sheet_column(&s, "share", "%", SHEET_POINT);
    sheet_column(&s, "equally good", "GB/s", SHEET_LEFT);
    sheet_column(&s, "busy", "%", SHEET_POINT);
    sheet_column(&s, "price", "USD/GB/s", SHEET_POINT);
    sheet_column(&s, "cost", "USD", SHEET_POINT);
    sheet_column(&s, "decides", "", SHEET_LEFT);
    for (int32_t d = 0; d < r->design->n_dims && !rc; d++)
        rc = put_dim(r, d, &s, e);
    if (!rc)
        rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

static void put_share(struct text *out, const char *what, double part_s, double whole_s)
{
    char t[SHOW], p[SHOW];
    text_printf(out, "  %-16s%s", what, show_time(t, part_s));
    if (whole_s > 0)
        text_printf(out, " (%s %%)", show_real(p, 100 * part_s / whole_s, 3));
    text_puts(out, "\n");
}

static void put_times(const struct alloc_report *r, struct text *out)
{
    const struct design *d = r->design;
    char t[SHOW], best[SHOW];
    text_printf(out, "%-18s%s per step%s\n", "time", show_time(t, d->time_s),
                d->n_loads > 1 ? ", weighted sum" : "");
    put_share(out, "compute", d->compute_s, d->time_s);
    put_share(out, "communication", d->comm_s, d->time_s);
    if (d->latency_s > 0)
        put_share(out, r->study->model > SIM_ALPHA_BETA ? "latency, queues" : "latency", d->latency_s,
                  d->time_s);
    for (int32_t i = 0; d->n_loads > 1 && i < d->n_loads; i++) {
        const struct design_load *load = &d->loads[i];
        text_printf(out, "  %-16s%s", r->study->workloads[i].tree.name, show_time(t, load->time_s));
        if (isfinite(load->best_s))
            text_printf(out, ", %.4f times its own best %s", load->time_s / load->best_s,
                        show_time(best, load->best_s));
        text_puts(out, "\n");
    }
}

static void put_money(const struct alloc_report *r, struct text *out)
{
    const struct design *d = r->design;
    char a[SHOW], b[SHOW], c[SHOW];
    if (isfinite(d->cost_usd))
        text_printf(out, "%-18s%s USD%s\n", "cost", show_usd(a, d->cost_usd),
                    r->study->count_npus ? ", NPUs included" : "");
    if (d->has_bill && r->study->parts.n_recipes > 0)
        text_printf(out, "  %-16s%s USD: the price above is by the GB/s\n", "in whole parts",
                    show_usd(a, d->bill.usd.typ + study_fixed_usd(r->study)));
    if (isfinite(d->nic_Bps))
        text_printf(out, "%-18s%s GB/s per NPU\n", "NIC", show_real(a, d->nic_Bps / 1e9, 5));
    if (!isfinite(d->equal.time_s))
        return;
    text_printf(out, "%-18s%s GB/s each: %s", "equal split", show_real(a, d->equal.bw_Bps / 1e9, 5),
                show_time(b, d->equal.time_s));
    if (isfinite(d->equal.cost_usd))
        text_printf(out, ", %s USD", show_usd(c, d->equal.cost_usd));
    if (!d->equal.allowed)
        text_puts(out, ", breaks constraints");
    text_puts(out, "\n");
    if (!isfinite(d->speedup))
        return;
    text_printf(out, "  %-16s%.4f times as fast", "against it", d->speedup);
    if (isfinite(d->perf_per_cost_gain))
        text_printf(out, ", %.4f times the performance per cost", d->perf_per_cost_gain);
    text_puts(out, "\n");
}

/* A value of the objective, for people. */
static const char *show_value(char buf[SHOW], const struct design_point *s, double x)
{
    const char *unit = alloc_unit(s).name;
    if (strcmp(unit, "s") == 0)
        return show_time(buf, x);
    show_real(buf, x, 6);
    size_t n = strlen(buf);
    snprintf(buf + n, SHOW - n, " %s", strcmp(unit, "ratio") == 0 ? "of the best" : unit);
    return buf;
}

static void put_shadow(const struct alloc_report *r, struct text *out)
{
    const struct design_point *s = r->study;
    size_t width = 16;
    for (int32_t i = 0; i < s->rows.n; i++)
        width = strlen(s->rows.rows[i].name) > width ? strlen(s->rows.rows[i].name) : width;
    for (int32_t i = 0; i < s->rows.n; i++) {
        const struct alloc_row *row = &s->rows.rows[i];
        double x = alloc_shadow(s, r->design, i);
        char value[SHOW];
        if (alloc_is_repeated(s, i))
            continue;
        if (x != 0)
            text_printf(out, "  %-*s  one more%s%s %s %s\n", (int)width, row->name, row->unit_name ? " " : "",
                        row->unit_name ? row->unit_name : "", x > 0 ? "saves" : "costs",
                        show_value(value, s, fabs(x)));
        else
            text_printf(out, "  %-*s  not binding\n", (int)width, row->name);
    }
}

static void put_proof(const struct alloc_report *r, struct text *out)
{
    const struct alloc_answer *a = &r->design->answer;
    char bound[SHOW], gap[SHOW] = "0";
    if (a->gap > 0)
        snprintf(gap, sizeof gap, "%.1e", a->gap);
    /* A simulated time is no convex function: the split is that of the closed form, whose proof says nothing
     * of it. */
    if (r->study->model > SIM_ALPHA_BETA) {
        text_printf(
            out,
            "%-18smodel alpha-beta, %s for it to a gap of %s; its times, and the prices of constraints, are\n"
            "%-18snot the simulated ones above, for which another split may be better\n",
            "split for", a->status == ALLOC_SOLVED ? "optimal" : "nearly optimal", gap, "");
        if (r->study->rows.n > 0 && r->study->combine == STUDY_SUM) {
            text_puts(out,
                      "constraints, and what one more on the right-hand side does in model alpha-beta\n");
            put_shadow(r, out);
        }
        return;
    }
    text_printf(out, "%-18slower bound %s, gap %s, %s\n",
                a->status == ALLOC_SOLVED ? "proof" : "proof falls short",
                show_value(bound, r->study, a->lower_bound * alloc_unit(r->study).per_SI), gap,
                a->unique ? "no other split is as good" : "other splits are as good");
    if (r->study->rows.n > 0 && r->study->combine == STUDY_SUM) {
        text_puts(out, "constraints, and what one more on the right-hand side does\n");
        put_shadow(r, out);
    }
}

int alloc_text(const struct alloc_report *r, struct text *out, struct err *e)
{
    const struct alloc_answer *a = &r->design->answer;
    put_title(r, out);
    if (!alloc_has_split(&r->design->answer)) {
        text_printf(out, "%s: %s\n", alloc_status_names[a->status], a->reason);
        return text_check(out, e);
    }
    text_puts(out, "\n");
    int rc = put_dims(r, out, e);
    text_puts(out, "\n");
    put_times(r, out);
    put_money(r, out);
    put_proof(r, out);
    if (!rc)
        rc = training_text(r->study, r->design, out, e);
    return rc ? rc : text_check(out, e);
}
