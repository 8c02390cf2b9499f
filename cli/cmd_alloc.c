/*
 * weft alloc: the split of one study, or of every point of one that varies. Text and JSON are pages of single
 * designs, solved one after the other in the order of points; CSV is a table like that of weft sweep, made by
 * the same engine, so that its rows are the same bytes. A point that cannot be read is told, and in JSON and
 * CSV has an object or a row of status error; the others are shown all the same. Of the exit codes of all
 * points the gravest is that of the command.
 *
 * Text says what a person decides by (bandwidths, what each dimension is busy with, what a limit costs), data
 * has every number of the answer, its proof among them: lower bound, gap, shadow prices
 * (kinds/design/answer/price.h). Nothing is computed here but shares and units.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/work.h"
#include "cli/alloc_mix.h"
#include "cli/page.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/points.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/lists.h"
#include "kinds/design/answer/price.h"
#include "kinds/design/explore/book.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/search_sim.h"
#include "kinds/design/explore/solve.h"
#include "study/axes.h"
#include "study/campaign.h"

/** One design and where in a sweep it stands. All borrowed. */
struct alloc_page {
    const struct design_point *study; /**< NULL: the point cannot be read, or solved: */
    const char *reason;               /**< why */
    const struct design *design;
    const struct sweep *sweep;       /**< its axes; NULL or without axes: one design */
    const struct study_override *at; /**< shape [n_at]: the value of each key that varies at the point */
    int32_t n_at;
    struct design_price *prices; /**< shape [n_prices]: set by cmd_alloc_page() */
    int32_t n_prices;
};

/* What a relaxation is off by rounding. */
#define SAME_REL 1e-9

/* A value of the objective, for people. */
static const char *show_value(char buf[SHOW], const struct design_point *s, double x)
{
    const char *unit = design_unit(s).name;
    if (strcmp(unit, "s") == 0)
        return show_time(buf, x);
    show_real(buf, x, 6);
    size_t n = strlen(buf);
    snprintf(buf + n, SHOW - n, " %s", strcmp(unit, "ratio") == 0 ? "of the best" : unit);
    return buf;
}

/* ---- text ---- */

/* "study: GPT-3 on libra-4d-4096 (4,096 NPUs): least time" */
static void say_title(struct report *r, const struct alloc_page *p)
{
    const struct design_point *s = p->study;
    char word[TOPO_SPEC], n[SHOW];
    report_line(r, "%s%s", s->name, *s->name ? ": " : "");
    load_workload_names(&r->out, s);
    report_line(r, " on %s (%s NPUs): %s", load_network_name(word, &s->net), show_count(n, s->net.n_npus),
                s->combine == DESIGN_REGRET && s->n_workloads > 1 ? "least regret"
                                                                  : alloc_objectives[s->objective].goal);
    if (alloc_is_limited(s->objective))
        report_line(r, " within %s", show_time(n, s->time_limit_s));
    report_line(r, "\n");
    for (int32_t i = 0; i < p->n_at; i++)
        report_line(r, "%s%s = %s", i ? ", " : "", p->at[i].path, p->at[i].value);
    report_line(r, "%s", p->n_at ? "\n" : "");
}

/* A dimension of the page. */
struct alloc_dim {
    const char *dim, *shape, *decides;
    char range[2 * SHOW];
    double bw_Bps, share, util, usd_per_GBps, cost_usd;
};

#define DIM(kind, field, ...) COLUMN_##kind(struct alloc_dim, field, NULL, .in = IN_TEXT, __VA_ARGS__)
static const struct column dim_columns[] = {
    DIM(WORD, dim, .title = "dimension"),
    DIM(WORD, shape, .title = "shape"),
    DIM(REAL, bw_Bps, .title = "bandwidth", .times = 1e-9, .as = "GB/s", .digits = 6),
    DIM(REAL, share, .times = 100, .as = "%", .digits = 3),
    DIM(WORD, range, .title = "equally good", .unit = "GB/s", .flags = COLUMN_CHARS),
    DIM(REAL, util, .title = "busy", .times = 100, .as = "%", .digits = 3),
    DIM(REAL, usd_per_GBps, .title = "price", .unit = "USD/GB/s"),
    DIM(REAL, cost_usd, .title = "cost", .unit = "USD"),
    DIM(WORD, decides, .flags = COLUMN_EMPTY),
    COLUMNS_END,
};

/* Between which bandwidths another split is as good. Each dimension by itself: not every combination within
 * the ranges is as good. */
static void put_range(char out[2 * SHOW], const struct alloc_answer *a, int32_t d)
{
    char lo[SHOW], hi[SHOW];
    double least = a->lo_Bps[d], most = a->hi_Bps[d];
    if (a->unique || !(most - least > 1e-6 * most))
        return;
    if (isinf(most))
        snprintf(out, (size_t)2 * SHOW, "from %s", show_real(lo, least / 1e9, 5));
    else
        snprintf(out, (size_t)2 * SHOW, "%.30s to %.30s", show_real(lo, least / 1e9, 5),
                 show_real(hi, most / 1e9, 5));
}

static void say_dims(struct report *r, const struct design_point *s, const struct design *x)
{
    struct text binds = { 0 };
    char label[TOPO_DIM_LABEL];
    report_list(r, NULL, dim_columns);
    for (int32_t d = 0; d < x->n_dims; d++) {
        const struct design_dim dim = design_dim(s, x, d);
        text_clear(&binds);
        bind_names(&binds, s, x, d);
        struct alloc_dim line = { .dim = s->net.dims[d].name,
                                  .shape = topo_dim_label(label, &s->net.dims[d]),
                                  .decides = text_str(&binds),
                                  .bw_Bps = x->bw_Bps[d],
                                  .share = x->bw_Bps[d] / x->total_Bps,
                                  .util = x->util_frac[d],
                                  .usd_per_GBps = dim.usd_per_GBps,
                                  .cost_usd = dim.cost_usd };
        put_range(line.range, &x->answer, d);
        report_row(r, &line);
    }
    report_list_end(r);
    r->failed = r->failed || binds.failed;
    text_free(&binds);
}

static void say_share(struct report *r, const char *what, double part_s, double whole_s)
{
    char t[SHOW], p[SHOW];
    report_line(r, "  %-16s%s", what, show_time(t, part_s));
    if (whole_s > 0)
        report_line(r, " (%s %%)", show_real(p, 100 * part_s / whole_s, 3));
    report_line(r, "\n");
}

static void say_times(struct report *r, const struct alloc_page *p)
{
    const struct design *d = p->design;
    char t[SHOW], best[SHOW];
    report_line(r, "%-18s%s per step%s\n", "time", show_time(t, d->time_s),
                d->n_loads > 1 ? ", weighted sum" : "");
    const struct account *a = &d->account;
    const struct {
        const char *name;
        double part_s;
        bool always;
    } parts[] = {
        { "compute", a->compute_s, true },
        { "recomputation", a->recompute_s, false },
        { "pipeline bubble", a->bubble_s, false },
        { "communication", a->comm_s, true },
        { p->study->model > SIM_ALPHA_BETA ? "  of it queues" : "  of it latency", a->latency_s, false },
        { "optimizer", a->optimizer_s, false },
        { "overhead", a->overhead_s, false },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].always || parts[i].part_s > 0)
            say_share(r, parts[i].name, parts[i].part_s, d->time_s);
    for (int32_t i = 0; d->n_loads > 1 && i < d->n_loads; i++) {
        const struct design_load *load = &d->loads[i];
        report_line(r, "  %-16s%s", p->study->workloads[i].tree.name, show_time(t, load->time_s));
        if (isfinite(load->best_s))
            report_line(r, ", %.4f times its own best %s", load->time_s / load->best_s,
                        show_time(best, load->best_s));
        report_line(r, "\n");
    }
}

static void say_money(struct report *r, const struct alloc_page *p)
{
    const struct design *d = p->design;
    char a[SHOW], b[SHOW], c[SHOW];
    bool whole = p->study->pricing == DESIGN_WHOLE;
    if (isfinite(d->cost_usd))
        report_line(r, "%-18s%s USD%s%s\n", "cost", show_usd(a, d->cost_usd), whole ? " in whole parts" : "",
                    p->study->count_npus ? ", NPUs included" : "");
    if (whole || !d->has_bill || p->study->parts.n_recipes == 0)
        load_say_range(r, p->study, d);
    if (whole)
        report_line(r, "  %-16s%s USD: the parts of these bandwidths in fractions, by the GB/s\n", "fraction",
                    show_usd(a, d->usd_fraction));
    /* With rates the price by the GB/s is the bill. The range is that of what is bought. */
    else if (d->has_bill && p->study->parts.n_recipes > 0) {
        report_line(r, "  %-16s%s USD: the price above is by the GB/s%s\n", "in whole parts",
                    show_usd(a, design_point_bill_usd(p->study, &d->bill).typ),
                    p->study->has_system ? "; owning it counts this one" : "");
        load_say_range(r, p->study, d);
    }
    if (isfinite(d->nic_Bps))
        report_line(r, "%-18s%s GB/s per NPU%s\n", "NIC", show_real(a, d->nic_Bps / 1e9, 5),
                    design_point_takes_graph_prices(p->study) ? ", by all of its links" : "");
    if (!isfinite(d->equal.time_s))
        return;
    report_line(r, "%-18s%s%s GB/s each: %s", "equal split",
                p->study->pricing == DESIGN_WHOLE ? "in whole parts, up to " : "",
                show_real(a, d->equal.bw_Bps / 1e9, 5), show_time(b, d->equal.time_s));
    if (isfinite(d->equal.cost_usd))
        report_line(r, ", %s USD", show_usd(c, d->equal.cost_usd));
    if (!d->equal.allowed)
        report_line(r, ", breaks constraints");
    report_line(r, "\n");
    if (!isfinite(d->speedup))
        return;
    report_line(r, "  %-16s%.4f times as fast", "against it", d->speedup);
    if (isfinite(d->perf_per_cost_gain))
        report_line(r, ", %.4f times the performance per cost", d->perf_per_cost_gain);
    if (isfinite(d->objective_gain))
        report_line(r, ", %.4f times the %s", d->objective_gain, alloc_objectives[p->study->objective].gain);
    report_line(r, "\n");
}

static void say_price(struct report *r, const struct design_point *s, const struct design_price *p, int width)
{
    char value[SHOW];
    if (p->shadow_price != 0)
        report_line(r, "  %-*s  one more%s%s %s %s\n", width, p->constraint, p->per ? " " : "",
                    p->per ? p->per : "", p->shadow_price > 0 ? "saves" : "costs",
                    show_value(value, s, fabs(p->shadow_price)));
    else if (isfinite(p->within))
        report_line(r, "  %-*s  0 to within %.2g %s\n", width, p->constraint, p->within, p->unit);
    else
        report_line(r, "  %-*s  not binding\n", width, p->constraint);
}

static void say_shadow(struct report *r, const struct alloc_page *p)
{
    size_t width = 16;
    for (int32_t i = 0; i < p->n_prices; i++)
        width = strlen(p->prices[i].constraint) > width ? strlen(p->prices[i].constraint) : width;
    for (int32_t i = 0; i < p->n_prices; i++)
        say_price(r, p->study, &p->prices[i], (int)width);
}

/* ---- whole parts ---- */

/* "100 GB/s: +12,300 USD, -3.2 ms, breaks usd <= 30e6" */
static void say_step(struct report *r, const struct alloc_page *p, int32_t k, bool up)
{
    struct design_step to;
    char bw[SHOW], usd[SHOW], t[SHOW];
    if (!design_step(&to, p->study, p->design, k, up))
        return;
    report_line(r, "    %-14sto %s GB/s: %s%s USD, ", to.way, show_real(bw, to.bw_GBps, 6),
                to.more_usd < 0 ? "-" : "+", show_usd(usd, fabs(to.more_usd)));
    if (to.more_s == 0)
        report_line(r, "no faster");
    else if (isfinite(to.more_s))
        report_line(r, "%s%s", to.more_s < 0 ? "-" : "+", show_time(t, fabs(to.more_s)));
    else
        report_line(r, "no step ends");
    if (to.breaks)
        report_line(r, ", breaks %s", to.breaks);
    report_line(r, "\n");
}

/* What is left of each constraint: whole parts seldom meet one exactly. */
static void say_slack(struct report *r, const struct alloc_page *p)
{
    bool first = true;
    for (int32_t i = 0; i < p->n_prices && p->design->has_bill; i++) {
        const struct design_price *c = &p->prices[i];
        char value[SHOW];
        if (isnan(c->left))
            continue;
        report_line(r, "%s", first ? "constraints\n" : "");
        first = false;
        report_line(r, "  %-16s  %s%s%s left\n", c->constraint, show_real(value, c->left, 6),
                    c->per ? " " : "", c->per ? c->per : "");
    }
}

/* Ties: how many, and the bandwidths of the first few. The first of the list is the design that the page is
 * of. */
static void say_ties(struct report *r, const struct whole_answer *w, int32_t n_dims)
{
    enum { SHOWN = 5 };
    char n[SHOW], bw[SHOW], usd[SHOW];
    if (w->n_ties == 1 && w->ties_counted)
        return;
    report_line(r, "  %-16s%s%s designs, this one included; the next cheapest\n", "as good",
                w->ties_counted ? "" : "at least ", show_count(n, w->n_ties));
    for (int32_t i = 1; i < w->n_listed && i <= SHOWN; i++) {
        report_line(r, "  %-16s", "");
        for (int32_t d = 0; d < n_dims; d++)
            report_line(r, "%s%s", d ? " + " : "", show_real(bw, w->ties[i].bw_Bps[d] / 1e9, 6));
        report_line(r, " GB/s, %s USD\n", show_usd(usd, w->ties[i].cost_usd));
    }
}

static void say_whole(struct report *r, const struct alloc_page *p)
{
    const struct design *d = p->design;
    const struct whole_answer *w = &d->whole;
    char n[SHOW], bound[SHOW], tried[SHOW], gap[SHOW];
    bool simulated = p->study->model > SIM_ALPHA_BETA;
    if (w->n_points < 2)
        report_line(r, "%-18snone needed: the bandwidths are given\n", "proof");
    else
        report_line(r, "%-18s%s of %s designs in whole parts%s, %s timed%s\n", "proof",
                    d->answer.status == ALLOC_SOLVED     ? "best"
                    : d->answer.status == ALLOC_UNPROVED ? "none for all plans; of this one the best"
                                                         : "falls short: best known",
                    show_real(n, w->n_points, 6), simulated ? " in model alpha-beta" : "",
                    show_count(tried, w->n_evaluated),
                    (double)w->n_evaluated < w->n_points ? ", all others not allowed or proved worse" : "");
    if (d->answer.status == ALLOC_STALLED)
        report_line(r, "  %-16slower bound %s, gap %.1e\n", "",
                    show_value(bound, p->study, w->lower_bound * design_unit(p->study).per_SI), w->gap);
    if (simulated)
        report_line(r, "  %-16sthe simulated times above are not what is proved\n", "");
    say_ties(r, w, d->n_dims);
    if (d->plans.tried > 0) {
        report_line(r, "  %-16s%s compared, ", "plans", show_count(n, d->plans.tried));
        if (!d->plans.proved && isfinite(d->answer.gap))
            report_line(r, "another might be better by %s %%", show_real(gap, 100 * d->answer.gap, 2));
        else
            report_line(r, "%s", d->plans.proved ? "no other can be better" : "another might be better");
        report_line(r, "%s\n", d->plans.proved ? "" : "; limit bandwidths (max_GBps) or the search");
    }
    double over = w->value / d->relaxed.lower_bound - 1;
    if (isfinite(over) && d->relaxed.lower_bound > 0)
        report_line(r, "  %-16s%s at least, in fractions of parts: whole parts take %s%s\n", "relaxation",
                    show_value(bound, p->study, d->relaxed.lower_bound * design_unit(p->study).per_SI),
                    over > SAME_REL ? show_real(gap, 100 * over, 3) : "no",
                    over > SAME_REL ? " % more" : " more");
    for (int32_t k = 0, n_steps = 0; k < d->n_dims; k++) {
        if (!w->up[k].there && !w->down[k].there)
            continue;
        if (n_steps++ == 0)
            report_line(r, "one step, all else as it is%s\n", simulated ? ", in model alpha-beta" : "");
        report_line(r, "  %s, %s GB/s\n", p->study->net.dims[k].name, show_real(n, d->bw_Bps[k] / 1e9, 6));
        say_step(r, p, k, true);
        say_step(r, p, k, false);
    }
    say_slack(r, p);
}

static void report_step(struct report *r, const struct alloc_page *p, int32_t k, bool up)
{
    struct design_step to;
    const char *name = up ? "up" : "down";
    if (!design_step(&to, p->study, p->design, k, up)) {
        report_json_word(r, name, NULL);
        return;
    }
    report_open(r, name, '{');
    report_facts(r, design_step_columns, &to);
    report_close(r, '}');
}

#define TIE(field) COLUMN_REAL(struct whole_tie, field, NULL, .in = IN_JSON)
static const struct column tie_columns[] = { TIE(time_s), TIE(cost_usd), COLUMNS_END };

/* The search over whole parts, and the same question in fractions of them. */
static void report_lattice(struct report *r, const struct alloc_page *p)
{
    const struct design *d = p->design;
    const struct whole_answer *w = &d->whole;
    double lower_bound = d->relaxed.lower_bound, value = d->answer.value;
    report_json_real(r, "designs", w->n_points);
    report_json_count(r, "timed", w->n_evaluated);
    report_json_real(r, DESIGN_COLUMN(usd_fraction), d->usd_fraction);
    report_open(r, "relaxation", '{');
    report_json_word(r, "status", alloc_status_names[d->relaxed.status]);
    report_json_real(r, "lower_bound", lower_bound * design_unit(p->study).per_SI);
    report_json_real(r, "gap", value > 0 ? 1 - lower_bound / value : 0);
    report_reals(r, "bw_GBps", d->relaxed.bw_Bps, d->n_dims, 1e9);
    report_close(r, '}');
    if (d->plans.tried > 0) {
        report_json_count(r, "plans_tried", d->plans.tried);
        report_json_flag(r, "plans_proved", d->plans.proved);
    }
    report_json_count(r, "ties", w->n_ties);
    report_json_flag(r, "ties_counted", w->ties_counted);
}

/* Everything of whole parts in one object; none where prices are by the GB/s. */
static void report_whole(struct report *r, const struct alloc_page *p, bool has)
{
    const struct design *d = p->design;
    const struct whole_answer *w = &d->whole;
    if (!has || !d->is_whole)
        return;
    report_open(r, "whole", '{');
    report_lattice(r, p);
    report_open(r, "tied", '[');
    for (int32_t i = 0; i < w->n_listed; i++) {
        report_open(r, NULL, '{');
        report_reals(r, "bw_GBps", w->ties[i].bw_Bps, d->n_dims, 1e9);
        report_facts(r, tie_columns, &w->ties[i]);
        report_close(r, '}');
    }
    report_close(r, ']');
    report_open(r, "steps", '[');
    for (int32_t k = 0; k < d->n_dims; k++) {
        report_open(r, NULL, '{');
        report_json_word(r, "dim", p->study->net.dims[k].name);
        report_step(r, p, k, true);
        report_step(r, p, k, false);
        report_close(r, '}');
    }
    report_close(r, ']');
    report_close(r, '}');
}

static void say_proof(struct report *r, const struct alloc_page *p)
{
    const struct alloc_answer *a = &p->design->answer;
    char bound[SHOW], gap[SHOW] = "0";
    if (p->design->is_whole) {
        say_whole(r, p);
        return;
    }
    if (a->gap > 0)
        snprintf(gap, sizeof gap, "%.1e", a->gap);
    /* A simulated time is no convex function: the split is that of the closed form, whose proof says nothing
     * of it. */
    if (p->study->model > SIM_ALPHA_BETA) {
        report_line(
            r,
            "%-18smodel alpha-beta, %s for it to a gap of %s; its times, and the prices of constraints, are\n"
            "%-18snot the simulated ones above, for which another split may be better\n",
            "split for", a->status == ALLOC_SOLVED ? "optimal" : "nearly optimal", gap, "");
        if (a->status == ALLOC_UNPROVED)
            report_line(r, "  %-16s%s\n", "plans", a->reason);
        if (p->study->rows.n > 0 && p->study->combine == DESIGN_SUM) {
            report_line(
                r,
                "constraints, and the effect of one more unit on the right-hand side in model alpha-beta\n");
            say_shadow(r, p);
        }
        return;
    }
    if (a->status == ALLOC_UNPROVED)
        report_line(r, "%-18snone: %s\n", "proof", a->reason);
    else
        report_line(r, "%-18slower bound %s, gap %s, %s\n",
                    a->status == ALLOC_SOLVED ? "proof" : "proof falls short",
                    show_value(bound, p->study, a->lower_bound * design_unit(p->study).per_SI), gap,
                    a->unique ? "no other split is as good" : "other splits are as good");
    if (p->study->rows.n > 0 && p->study->combine == DESIGN_SUM) {
        report_line(r, "constraints, and the effect of one more unit on the right-hand side\n");
        say_shadow(r, p);
    }
}

/* ---- JSON ---- */

static void report_place(struct report *r, const struct alloc_page *p)
{
    if (!p->sweep || p->sweep->n_keys == 0)
        return;
    report_open(r, "vary", '{');
    for (int32_t i = 0; i < p->n_at; i++)
        report_json_word(r, p->at[i].path, p->at[i].value);
    report_close(r, '}');
}

static void report_ranges(struct report *r, const struct alloc_answer *a, int32_t n_dims)
{
    report_open(r, "range_GBps", '[');
    for (int32_t d = 0; d < n_dims; d++) {
        double range[2] = { a->lo_Bps[d] / 1e9, a->hi_Bps[d] / 1e9 };
        report_reals(r, NULL, range, 2, 1);
    }
    report_close(r, ']');
}

static void report_loads(struct report *r, const struct alloc_page *p)
{
    report_open(r, "workloads", '[');
    for (int32_t i = 0; i < p->design->n_loads; i++) {
        const struct design_workload *w = &p->study->workloads[i];
        const struct design_load *load = &p->design->loads[i];
        report_open(r, NULL, '{');
        report_json_word(r, "name", w->tree.name);
        report_json_real(r, "weight", w->weight);
        page_step(r, p->study, p->design, i);
        page_training(r, p->study, p->design, i);
        report_json_real(r, DESIGN_COLUMN(time_s), load->time_s);
        if (!isnan(load->best_s))
            report_json_real(r, "best_s", load->best_s);
        report_close(r, '}');
    }
    report_close(r, ']');
}

/* Without a split all is there and null, so that a program finds the same names in every object. */
static void put_real(struct report *r, const struct alloc_page *p, const char *key, double x)
{
    report_json_real(r, key, alloc_has_split(&p->design->answer) ? x : (double)NAN);
}

static void report_names(struct report *r, const struct alloc_page *p)
{
    const struct design_point *s = p->study;
    char word[TOPO_SPEC];
    struct text names = { 0 };
    load_workload_names(&names, s);
    report_json_word(r, "study", s->name);
    report_json_word(r, "network", load_network_name(word, &s->net));
    report_json_word(r, "spec", topo_format_spec(word, &s->net));
    report_json_count(r, "npus", s->net.n_npus);
    report_json_word(r, "workload", text_str(&names));
    report_json_word(r, "objective", alloc_objective_names[s->objective]);
    report_json_word(r, "model", sim_model_words[s->model]);
    r->failed = r->failed || names.failed;
    text_free(&names);
}

static void report_proof(struct report *r, const struct alloc_page *p, bool has)
{
    const struct alloc_answer *a = &p->design->answer;
    const struct design_point *s = p->study;
    double per_SI = design_unit(s).per_SI;
    put_real(r, p, "objective_value", a->value * per_SI);
    report_json_word(r, "objective_unit", design_unit(s).name);
    report_json_word(r, "bound_model",
                     sim_model_words[s->model > SIM_ALPHA_BETA ? SIM_ALPHA_BETA : s->model]);
    put_real(r, p, "lower_bound", a->lower_bound * per_SI);
    if (system_proof_of(s))
        report_json_word(r, "bound_of", system_proof_of(s));
    put_real(r, p, "gap", a->gap);
    report_json_flag(r, "verified", has && p->design->verified);
    if (has && isfinite(a->gap))
        report_json_flag(r, "unique", a->unique);
    else
        report_json_word(r, "unique", NULL);
}

static void report_split(struct report *r, const struct alloc_page *p, bool has)
{
    const struct design *d = p->design;
    int32_t n = has ? d->n_dims : 0;
    report_reals(r, "bw_GBps", d->bw_Bps, n, 1e9);
    put_real(r, p, DESIGN_COLUMN(total_GBps), d->total_Bps / 1e9);
    put_real(r, p, DESIGN_COLUMN(time_s), d->time_s);
    page_account(r, has ? &d->account : NULL, n);
    report_reals(r, "utilization", d->util_frac, n, 1);
    put_real(r, p, DESIGN_COLUMN(cost_usd), d->cost_usd);
    put_real(r, p, DESIGN_COLUMN(nic_GBps), d->nic_Bps / 1e9);
    report_proof(r, p, has);
    report_ranges(r, &d->answer, n);
    report_open(r, "shadow_prices", '{');
    for (int32_t i = 0; has && i < p->n_prices; i++)
        report_json_real(r, p->prices[i].constraint, p->prices[i].shadow_price);
    report_close(r, '}');
}

/* The equal split, the bill, and what the design gains over that split. */
static void report_equal(struct report *r, const struct alloc_page *p, bool has)
{
    const struct design *d = p->design;
    report_open(r, "equal", '{');
    put_real(r, p, "bw_GBps", d->equal.bw_Bps / 1e9);
    put_real(r, p, DESIGN_COLUMN(time_s), d->equal.time_s);
    put_real(r, p, DESIGN_COLUMN(cost_usd), d->equal.cost_usd);
    if (has)
        report_json_flag(r, "allowed", d->equal.allowed);
    report_close(r, '}');
    put_real(r, p, "bill_usd", d->has_bill ? d->bill.usd.typ : (double)NAN);
    put_real(r, p, "bill_usd_low", d->has_bill ? d->bill.usd.low : (double)NAN);
    put_real(r, p, "bill_usd_high", d->has_bill ? d->bill.usd.high : (double)NAN);
    put_real(r, p, "speedup", d->speedup);
    put_real(r, p, DESIGN_COLUMN(perf_per_cost_gain), d->perf_per_cost_gain);
    if (has && !isnan(d->objective_gain))
        report_json_real(r, DESIGN_COLUMN(objective_gain), d->objective_gain);
}

/* ---- both ---- */

static void say_page(struct report *r, const struct alloc_page *p)
{
    const struct alloc_answer *a = &p->design->answer;
    say_title(r, p);
    if (!alloc_has_split(a)) {
        report_line(r, "%s: %s\n", alloc_status_names[a->status], a->reason);
        return;
    }
    report_line(r, "\n");
    say_dims(r, p->study, p->design);
    report_line(r, "\n");
    say_times(r, p);
    say_money(r, p);
    load_say_semantics(r, p->study);
    say_proof(r, p);
    if (system_proof_of(p->study))
        report_line(r, "  %-16s%s\n", "of", system_proof_of(p->study));
    page_system(r, p->study, p->design, false);
    page_training_text(r, p->study, p->design);
}

static void report_answer(struct report *r, const struct alloc_page *p)
{
    report_place(r, p);
    if (!p->study) {
        report_json_word(r, "status", "error");
        report_json_word(r, "reason", p->reason);
        return;
    }
    bool has = alloc_has_split(&p->design->answer);
    report_json_word(r, "status", alloc_status_names[p->design->answer.status]);
    report_json_word(r, "reason", p->design->answer.reason);
    report_names(r, p);
    load_report_dims(r, &p->study->net);
    report_split(r, p, has);
    report_whole(r, p, has);
    report_equal(r, p, has);
    if (p->study->combine == DESIGN_REGRET)
        put_real(r, p, "regret", p->design->regret);
    if (has)
        report_loads(r, p);
    if (has)
        page_system(r, p->study, p->design, false);
    report_json_count(r, "iterations", p->design->answer.iterations);
}

/* A page of text, or the members of an object of JSON. */
static void cmd_alloc_page(struct report *r, const struct alloc_page *page)
{
    struct alloc_page p = *page;
    struct err e;
    bool has = p.study && alloc_has_split(&p.design->answer);
    p.prices = has ? calloc((size_t)p.study->rows.n + 1, sizeof *p.prices) : NULL;
    if (has && (!p.prices || design_prices(p.prices, &p.n_prices, p.study, p.design, &e)))
        r->failed = true;
    if (report_is(r, IN_TEXT))
        say_page(r, &p);
    else
        report_answer(r, &p);
    free(p.prices);
}

/* ---- points ---- */

/* All points of a study; without `vary` the one there is. */
struct alloc_run {
    struct run *run;
    struct overrides overrides;
    struct study study; /* where it has `vary` */
    struct report report;
    struct text said; /* owned: the last error of a point */
    int64_t n_again;  /* points after it with the same */
};

enum { POINT_NAME = 32 };

/* What messages call point @p i; of a study without points its file. */
static const char *point_name(char *room, const struct alloc_run *a, int64_t i)
{
    if (a->study.sweep.n_keys == 0)
        return a->run->opt.operands[0];
    snprintf(room, POINT_NAME, "point %lld", (long long)i);
    return room;
}

/* What varies, as it is at point @p i. @p at: room for all keys. */
static void find_place(struct alloc_page *page, struct study_override *at, char (*values)[SHOW_VALUE],
                       const struct sweep *w, int64_t i)
{
    page->sweep = w;
    page->at = at;
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = cmd_points_value(values[k], w, k, i);
        if (*value) /* a grid need not vary all keys */
            at[page->n_at++] = (struct study_override){ w->keys[k].path, value };
    }
}

/* Pages gather in memory and are written at the end: a file appears whole or not at all. */
static void add_page(struct alloc_run *a, int64_t i, const struct design *d)
{
    const struct design_point *s = d->chosen.point;
    struct study_override at[SWEEP_MAX_KEYS];
    char values[SWEEP_MAX_KEYS][SHOW_VALUE];
    struct alloc_page page = { .study = s, .design = d };
    find_place(&page, at, values, &a->study.sweep, i);
    if (a->report.format == TABLE_AS_TEXT && a->study.sweep.n_keys == 0 && !alloc_has_split(&d->answer))
        return; /* said on standard error, and there is nothing else to read */
    output_begin(&a->report, a->run, output_origin(s));
    cmd_alloc_page(&a->report, &page);
    report_page_end(&a->report);
}

static int solve_only(struct alloc_run *a, struct err *e)
{
    struct load_design x;
    int rc = load_design(&x, a->run, &a->overrides, LOAD_SOLVED, DESIGN_NEEDS_WORKLOAD, e);
    output_notes(a->run, &x.notes);
    if (!rc)
        add_page(a, 0, &x.design);
    if (!rc && alloc_has_split(&x.design.answer))
        page_say_memory(a->run, x.study);
    load_design_free(&x);
    return rc;
}

static void say_again(struct alloc_run *a)
{
    char n[SHOW];
    if (a->n_again)
        output_say(a->run, "%s more points: the same", show_count(n, a->n_again));
    a->n_again = 0;
}

/* What is wrong with many points in the same way is said once. */
static void say_error(struct alloc_run *a, int64_t point, const char *message)
{
    output_outcome(a->run, EXIT_INPUT);
    if (a->said.n && strcmp(text_str(&a->said), message) == 0) {
        a->n_again++;
        return;
    }
    say_again(a);
    text_clear(&a->said);
    text_puts(&a->said, message);
    output_say(a->run, "point %lld: %s", (long long)point, message);
}

/* What is wrong with point @p i, unless it is the machine. */
static int add_error(struct alloc_run *a, int64_t i, struct err *e)
{
    struct study_override at[SWEEP_MAX_KEYS];
    char values[SWEEP_MAX_KEYS][SHOW_VALUE];
    struct alloc_page page = { .reason = e->msg };
    if (err_is_of_machine(e->code))
        return err_wrap(e, "point %lld", (long long)i);
    say_error(a, i, e->msg);
    if (a->report.format != TABLE_AS_JSON)
        return 0;
    find_place(&page, at, values, &a->study.sweep, i);
    output_begin(&a->report, a->run, (struct origin){ .known = false });
    cmd_alloc_page(&a->report, &page);
    report_page_end(&a->report);
    return 0;
}

static int solve_point(struct alloc_run *a, int64_t i, struct err *e)
{
    struct design_point s;
    struct design d;
    struct sweep_point p;
    sweep_find_point(&p, &a->study.sweep, i);
    /* A `where` that looks at axes alone is asked before the point is read; one that looks at its network,
     * after. */
    if (!design_passes(&a->study, &p, NULL))
        return 0;
    int rc = design_load(&s, &a->study, &p, e);
    if (rc)
        return add_error(a, i, e);
    if (!design_passes(&a->study, &p, &s.net)) {
        design_point_free(&s);
        return 0;
    }
    const struct design_own *own = a->study.own;
    struct design_choice chosen;
    if (own)
        search_shelf_count(own->shelf); /* the page says how many plans there are */
    d = (struct design){ 0 };
    rc = design_choose_with(&chosen, &s, own ? own->shelf : NULL, e);
    rc = rc ? rc : answer_split(&d, chosen, e);
    if (!rc)
        rc = search_simulate(&d.chosen, e);
    if (!rc) {
        char room[POINT_NAME];
        load_say_status(a->run, point_name(room, a, i), &d);
        add_page(a, i, &d);
        if (alloc_has_split(&d.answer))
            page_say_memory(a->run, d.chosen.point);
    }
    design_free(&d);
    design_point_free(&s);
    return rc ? add_error(a, i, e) : 0;
}

static int write_designs(struct alloc_run *a, struct err *e)
{
    int rc = 0;
    if (a->study.sweep.n_keys == 0)
        rc = solve_only(a, e);
    int64_t n = a->study.sweep.n_keys > 0 ? a->study.sweep.n_points : 0;
    struct work work;
    work_begin(&work, "points", n);
    for (int64_t i = 0; i < n && !rc; i++) {
        rc = solve_point(a, i, e);
        work_step(&work, 1);
    }
    work_end(&work);
    if (!rc)
        rc = report_end(&a->report, NULL, e);
    return rc || a->report.out.n == 0 ? rc : output_write(a->run, &a->report.out, e);
}

/* What other formats say of each point. A study of one point that is wrong is an error. */
static int judge_rows(struct alloc_run *a, const struct table *t, struct err *e)
{
    int32_t point = table_find(t, "point"), status = table_find(t, "status"),
            message = table_find(t, "message"), fits = table_find(t, "fits");
    for (int64_t i = 0; i < t->n_rows; i++) {
        const char *word = table_text(t, i, status), *why = table_text(t, i, message);
        if (strcmp(word, "error") == 0 && a->study.sweep.n_keys == 0)
            return err_set(e, ERR_RANGE, "%s", why);
        if (strcmp(word, "error") == 0) {
            say_error(a, table_count(t, i, point), why);
        } else if (strcmp(word, alloc_status_names[ALLOC_SOLVED]) != 0) {
            char room[POINT_NAME];
            output_say(a->run, "%s: %s: %s", point_name(room, a, table_count(t, i, point)), word,
                       why ? why : "");
            if (strcmp(word, alloc_status_names[ALLOC_UNPROVED]) != 0)
                output_outcome(a->run, strcmp(word, alloc_status_names[ALLOC_STALLED]) == 0 ? EXIT_FAILED
                                                                                            : EXIT_NO_DESIGN);
        } else if (fits >= 0 && table_text(t, i, fits) && strcmp(table_text(t, i, fits), "no") == 0) {
            output_say(a->run, "%s: point %lld: %s does not fit: needs %.4g GB", a->run->opt.operands[0],
                       (long long)table_count(t, i, point), table_text(t, i, table_find(t, "workload")),
                       table_number(t, i, table_find(t, DESIGN_COLUMN_IN(training, memory_GB))));
            output_outcome(a->run, EXIT_NO_DESIGN);
        }
    }
    return 0;
}

static int write_rows(struct alloc_run *a, const struct study_ask *ask, struct err *e)
{
    struct table t = { 0 };
    struct origin from;
    int rc = cmd_points_find_origin(&from, a->run, &a->study, &a->overrides, e);
    if (!rc && a->study.sweep.n_keys == 0)
        rc = study_open_point(&a->study, ask, e);
    if (!rc)
        rc = campaign_rows(&t, &a->study, 1, e);
    if (!rc)
        rc = judge_rows(a, &t, e);
    if (!rc)
        rc = output_table(a->run, &t, from, e);
    table_free(&t);
    return rc;
}

static int run_alloc(struct run *run, struct err *e)
{
    struct alloc_run a = { .run = run,
                           .study = { .sweep = { .n_points = 1 } },
                           .report = { .format = output_format(run), .out = { .wide = run->opt.wide } } };
    bool vary = false;
    int rc = output_check(run, e);
    if (!rc)
        rc = load_overrides(&a.overrides, run, e);
    const struct study_ask ask = {
        .kind = &design_kind,
        .from = { .path = run->opt.operands[0], .overrides = a.overrides.list, .n = a.overrides.n },
    };
    bool mix = !rc && cmd_alloc_is_mix(&ask.from);
    if (mix)
        rc = cmd_alloc_mix(run, &ask.from, e);
    if (!rc && !mix)
        rc = cmd_points_vary(&vary, run, e);
    if (!rc && vary)
        rc = study_open(&a.study, &ask, e);
    if (!rc && !mix) {
        output_notes(run, &a.study.notes);
        if (vary)
            load_say_study_ages(run, &a.study);
        rc = output_format(run) == TABLE_AS_CSV ? write_rows(&a, &ask, e) : write_designs(&a, e);
    }
    study_close(&a.study);
    say_again(&a);
    text_free(&a.said);
    overrides_free(&a.overrides);
    report_free(&a.report);
    return rc;
}

const struct command cmd_alloc = {
    .group = "One design",
    .name = "alloc",
    .help = "split bandwidth over the dimensions of a network",
    .about =
        "Find the bandwidth of every dimension that optimises the objective of STUDY under its constraints,\n"
        "and prove it: lower bound, gap, and the shadow price of each constraint. A study with `vary` gives\n"
        "one design per point: in JSON one object per line, in CSV the rows of weft sweep. A point\n"
        "with an error has status error there. Exit code: that of the worst point, 3 before 4 before 1.\n"
        "Of a cluster study (jobs.mix) the answer is one: which network to buy for its jobs, among all "
        "points\n"
        "and whole parts, and what each cheaper one saves and costs.\n",
    .scope = SCOPE(1, 1, "STUDY", &options_study, &options_search, &options_format, &options_files),
    .run = run_alloc,
};
