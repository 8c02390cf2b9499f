/*
 * The answer of weft alloc: a page to read, an object a line.
 *
 * Text says what a person decides by (bandwidths, what each dimension is busy with, what a limit costs), data
 * has every number of the answer, its proof among them: lower bound, gap, shadow prices
 * (kinds/design/answer/price.h). Nothing is computed here but shares and units.
 */
#include "cli/alloc_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/account.h"
#include "cli/load.h"
#include "cli/system.h"
#include "cli/training.h"
#include "kinds/design/answer/lists.h"

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
                s->combine == STUDY_REGRET && s->n_workloads > 1 ? "least regret"
                                                                 : alloc_objectives[s->objective].goal);
    if (alloc_is_limited(s->objective))
        report_line(r, " within %s", show_time(n, s->time_limit_s));
    report_line(r, "\n");
    for (int32_t i = 0; i < p->n_at; i++)
        report_line(r, "%s%s = %s", i ? ", " : "", p->at[i].path, p->at[i].value);
    report_line(r, "%s", p->n_at ? "\n" : "");
}

/* Between which bandwidths another split is as good. Each dimension by itself: not every combination within
 * the ranges is as good. */
static void put_range(struct report *r, const struct alloc_answer *a, int32_t d)
{
    char lo[SHOW], hi[SHOW];
    double least = a->lo_Bps[d], most = a->hi_Bps[d];
    if (a->unique || !(most - least > 1e-6 * most))
        report_put_word(r, "-");
    else if (isinf(most))
        report_put_text(r, "from %s", show_real(lo, least / 1e9, 5));
    else
        report_put_text(r, "%s to %s", show_real(lo, least / 1e9, 5), show_real(hi, most / 1e9, 5));
}

static void say_dims(struct report *r, const struct design_point *s, const struct design *x)
{
    static const struct report_column columns[] = {
        { IN_TEXT, .title = "dimension" },
        { IN_TEXT, .title = "shape" },
        { IN_TEXT, .title = "bandwidth", .unit = "GB/s", .show = 6, .per = 1e9 },
        { IN_TEXT, .title = "share", .unit = "%", .show = 3 },
        { IN_TEXT, .title = "equally good", .unit = "GB/s" },
        { IN_TEXT, .title = "busy", .unit = "%", .show = 3, .times = 100 },
        { IN_TEXT, .title = "price", .unit = "USD/GB/s", .show = 5 },
        { IN_TEXT, .title = "cost", .unit = "USD", .show = REPORT_USD },
        { IN_TEXT, .title = "decides" },
    };
    struct text binds = { 0 };
    char label[TOPO_DIM_LABEL];
    report_table(r, NULL, columns, REPORT_COLUMNS(columns));
    for (int32_t d = 0; d < x->n_dims; d++) {
        const struct design_dim dim = design_dim(s, x, d);
        text_clear(&binds);
        bind_names(&binds, s, x, d);
        report_put_word(r, s->net.dims[d].name);
        report_put_text(r, "%s", topo_dim_label(label, &s->net.dims[d]));
        report_put_real(r, x->bw_Bps[d]);
        report_put_real(r, 100 * x->bw_Bps[d] / x->total_Bps);
        put_range(r, &x->answer, d);
        report_put_real(r, x->util_frac[d]);
        report_put_real(r, dim.usd_per_GBps);
        report_put_real(r, dim.cost_usd);
        report_put_word(r, text_str(&binds));
    }
    report_table_end(r);
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
    bool whole = p->study->pricing == STUDY_WHOLE;
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
                    show_usd(a, study_bill_usd(p->study, &d->bill).typ),
                    p->study->has_system ? "; owning it counts this one" : "");
        load_say_range(r, p->study, d);
    }
    if (isfinite(d->nic_Bps))
        report_line(r, "%-18s%s GB/s per NPU%s\n", "NIC", show_real(a, d->nic_Bps / 1e9, 5),
                    study_takes_graph_prices(p->study) ? ", by all of its links" : "");
    if (!isfinite(d->equal.time_s))
        return;
    report_line(r, "%-18s%s GB/s each: %s", "equal split", show_real(a, d->equal.bw_Bps / 1e9, 5),
                show_time(b, d->equal.time_s));
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
    if (d->plans.tried > 0)
        report_line(r, "  %-16s%s compared, %s\n", "plans", show_count(n, d->plans.tried),
                    d->plans.proved ? "no other can be better"
                                    : "another might be better; limit bandwidths (max_GBps) or the search");
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
    report_json_real(r, "bw_GBps", to.bw_GBps);
    report_json_real(r, "more_usd", to.more_usd);
    report_json_real(r, "more_s", to.more_s);
    report_json_word(r, "breaks", to.breaks);
    report_close(r, '}');
}

/* Everything of whole parts in one object; none where prices are by the GB/s. */
static void report_whole(struct report *r, const struct alloc_page *p, bool has)
{
    const struct design *d = p->design;
    const struct whole_answer *w = &d->whole;
    if (!has || !d->is_whole)
        return;
    report_open(r, "whole", '{');
    report_json_real(r, "designs", w->n_points);
    report_json_count(r, "timed", w->n_evaluated);
    report_json_real(r, "usd_fraction", d->usd_fraction);
    report_open(r, "relaxation", '{');
    report_json_word(r, "status", alloc_status_names[d->relaxed.status]);
    report_json_real(r, "lower_bound", d->relaxed.lower_bound * design_unit(p->study).per_SI);
    report_json_real(r, "gap", d->answer.value > 0 ? 1 - d->relaxed.lower_bound / d->answer.value : 0);
    report_reals(r, "bw_GBps", d->relaxed.bw_Bps, d->n_dims, 1e9);
    report_close(r, '}');
    if (d->plans.tried > 0) {
        report_json_count(r, "plans_tried", d->plans.tried);
        report_json_flag(r, "plans_proved", d->plans.proved);
    }
    report_json_count(r, "ties", w->n_ties);
    report_json_flag(r, "ties_counted", w->ties_counted);
    report_open(r, "tied", '[');
    for (int32_t i = 0; i < w->n_listed; i++) {
        report_open(r, NULL, '{');
        report_reals(r, "bw_GBps", w->ties[i].bw_Bps, d->n_dims, 1e9);
        report_json_real(r, "time_s", w->ties[i].time_s);
        report_json_real(r, "cost_usd", w->ties[i].cost_usd);
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
        if (p->study->rows.n > 0 && p->study->combine == STUDY_SUM) {
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
    if (p->study->rows.n > 0 && p->study->combine == STUDY_SUM) {
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

static void report_names(struct report *r, const struct alloc_page *p)
{
    const struct topo_network *net = &p->study->net;
    char word[TOPO_SPEC];
    struct text names = { 0 };
    load_workload_names(&names, p->study);
    report_json_word(r, "study", p->study->name);
    report_json_word(r, "network", load_network_name(word, net));
    report_json_word(r, "spec", topo_format_spec(word, net));
    report_json_count(r, "npus", net->n_npus);
    report_json_word(r, "workload", text_str(&names));
    report_json_word(r, "objective", alloc_objective_names[p->study->objective]);
    report_json_word(r, "model", sim_model_words[p->study->model]);
    load_report_dims(r, net);
    text_free(&names);
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
        const struct design_load *load = &p->design->loads[i];
        report_open(r, NULL, '{');
        report_json_word(r, "name", p->study->workloads[i].tree.name);
        report_json_real(r, "weight", p->study->workloads[i].weight);
        account_report_step(r, p->study, p->design, i);
        training_report_one(r, p->study, p->design, i);
        report_json_real(r, "time_s", load->time_s);
        if (isfinite(load->best_s))
            report_json_real(r, "best_s", load->best_s);
        report_close(r, '}');
    }
    report_close(r, ']');
}

/* Without a split all members are there, null or empty, so that a program finds the same names in every
 * object. */
static void report_split(struct report *r, const struct alloc_page *p, bool has)
{
    const struct design *d = p->design;
    int32_t n = has ? d->n_dims : 0;
    report_reals(r, "bw_GBps", d->bw_Bps, n, 1e9);
    report_json_real(r, "total_GBps", has ? d->total_Bps / 1e9 : NAN);
    report_json_real(r, "time_s", has ? d->time_s : NAN);
    account_report(r, has ? &d->account : NULL, n);
    report_reals(r, "utilization", d->util_frac, n, 1);
    report_json_real(r, "cost_usd", has ? d->cost_usd : NAN);
    report_json_real(r, "nic_GBps", has ? d->nic_Bps / 1e9 : NAN);
}

static void report_proof(struct report *r, const struct alloc_page *p, bool has)
{
    const struct alloc_answer *a = &p->design->answer;
    struct design_unit unit = design_unit(p->study);
    report_json_real(r, "objective_value", has ? a->value * unit.per_SI : NAN);
    report_json_word(r, "objective_unit", unit.name);
    report_json_word(r, "bound_model",
                     sim_model_words[p->study->model > SIM_ALPHA_BETA ? SIM_ALPHA_BETA : p->study->model]);
    report_json_real(r, "lower_bound", has ? a->lower_bound * unit.per_SI : NAN);
    if (system_proof_of(p->study))
        report_json_word(r, "bound_of", system_proof_of(p->study));
    report_json_real(r, "gap", has ? a->gap : NAN);
    report_json_flag(r, "verified", has && p->design->verified);
    if (has && isfinite(a->gap))
        report_json_flag(r, "unique", a->unique);
    else
        report_json_word(r, "unique", NULL);
    report_ranges(r, a, has ? p->design->n_dims : 0);
    report_open(r, "shadow_prices", '{');
    for (int32_t i = 0; has && i < p->n_prices; i++)
        report_json_real(r, p->prices[i].constraint, p->prices[i].shadow_price);
    report_close(r, '}');
}

static void report_baseline(struct report *r, const struct design *d, bool has)
{
    report_open(r, "equal", '{');
    report_json_real(r, "bw_GBps", has ? d->equal.bw_Bps / 1e9 : NAN);
    report_json_real(r, "time_s", has ? d->equal.time_s : NAN);
    report_json_real(r, "cost_usd", has ? d->equal.cost_usd : NAN);
    if (has)
        report_json_flag(r, "allowed", d->equal.allowed);
    report_close(r, '}');
    report_json_real(r, "bill_usd", has && d->has_bill ? d->bill.usd.typ : NAN);
    load_report_range(r, has ? d : NULL);
    report_json_real(r, "speedup", has ? d->speedup : NAN);
    report_json_real(r, "perf_per_cost_gain", has ? d->perf_per_cost_gain : NAN);
    if (has && isfinite(d->objective_gain))
        report_json_real(r, "objective_gain", d->objective_gain);
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
    system_report(r, p->study, p->design, false);
    training_report_text(r, p->study, p->design);
}

static void report_answer(struct report *r, const struct alloc_page *p)
{
    report_place(r, p);
    if (!p->study) {
        report_json_word(r, "status", "error");
        report_json_word(r, "reason", p->reason);
        return;
    }
    const struct alloc_answer *a = &p->design->answer;
    bool has = alloc_has_split(a);
    report_json_word(r, "status", alloc_status_names[a->status]);
    report_json_word(r, "reason", a->reason);
    report_names(r, p);
    report_split(r, p, has);
    report_proof(r, p, has);
    report_whole(r, p, has);
    report_baseline(r, p->design, has);
    if (p->study->combine == STUDY_REGRET)
        report_json_real(r, "regret", has ? p->design->regret : NAN);
    if (has)
        report_loads(r, p);
    if (has)
        system_report(r, p->study, p->design, false);
    report_json_count(r, "iterations", a->iterations);
}

void alloc_report_page(struct report *r, const struct alloc_page *page)
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
