/*
 * The account of a step: compute, recomputation, bubble, exposed communication, optimizer and overhead, which
 * add up to its time; communication once by class of links and once by parallel axis. What is left of an axis
 * beyond its classes is latency, which no bandwidth shortens.
 */
#include "cli/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/answer/owning.h"
#include "kinds/design/answer/training.h"
#include "kinds/design/explore/search.h"
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

static void put_row(struct report *r, const char *name, const struct page_account_view *x, int32_t n,
                    const double *parts_s)
{
    struct account_line line = { .share = parts_s[0] / x->time_s };
    snprintf(line.name, sizeof line.name, "%s", name);
    for (int32_t i = 0; i < n; i++)
        line.time_s[i] = parts_s[i];
    report_row(r, &line);
}

static void put_part(struct report *r, const char *name, const struct page_account_view *x, int32_t n,
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

static void put_parts(struct report *r, const struct design_point *s, const struct page_account_view *x,
                      int32_t n)
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

void page_account_table(struct report *r, const struct design_point *s, const char *title,
                        const struct page_account_view *x, int32_t n)
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

void page_account(struct report *r, const struct account *a, int32_t n_dims)
{
    struct account none;
    row_clear(&none, account_columns);
    report_facts(r, account_columns, a ? a : &none);
    report_reals(r, "exposed_s", a ? a->dim_s : NULL, a ? n_dims : 0, 1);
}

/* ---- by axis ---- */

static void put_share(struct report *r, const char *name, double part_s, double step_s)
{
    const struct page_account_view view = { .time_s = step_s };
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
    report_line(r, "all compute, plus communication that is not hidden by it\n");
}

void page_load(struct report *r, const struct design_point *s, const struct design *d, int32_t load)
{
    const struct design_workload *w = &s->workloads[load];
    report_json_word(r, "name", w->tree.name);
    report_json_real(r, "weight", w->weight);
    report_json_real(r, DESIGN_COLUMN(time_s), d->loads[load].time_s);
}

void page_step(struct report *r, const struct design_point *s, const struct design *d, int32_t load)
{
    const struct design_workload *w = &s->workloads[load];
    const struct account *a = &d->loads[load].account;
    report_open(r, "step", '{');
    report_json_real(r, DESIGN_COLUMN(time_s), d->loads[load].time_s);
    page_account(r, a, s->net.n_dims);
    report_open(r, "exposed", '{');
    for (int32_t i = 0; i < a->n_axes; i++) {
        report_open(r, a->axes[i].name, '{');
        report_json_real(r, DESIGN_COLUMN(time_s), a->axes[i].time_s);
        report_reals(r, "by_dim_s", a->axes[i].dim_s, s->net.n_dims, 1);
        report_json_real(r, "latency_s", a->axes[i].latency_s);
        report_close(r, '}');
    }
    report_close(r, '}');
    if (w->training) {
        struct training_report rates;
        design_training_report(&rates, s, w, &d->loads[load]);
        report_json_real(r, DESIGN_COLUMN_IN(training, tokens_per_s), rates.tokens_per_s);
        report_json_real(r, "mfu", rates.mfu);
        report_json_real(r, "hfu", rates.hfu);
        report_axes(r, s, a, d->loads[load].time_s);
    }
    report_close(r, '}');
}

/*
 * A training step of a model: plan and mapping, memory, and what a search found.
 *
 * The same report serves weft alloc, sim and check; `report` (base/report.h) drops what a format does not
 * take, so text and JSON are written side by side and CSV has its columns elsewhere (training_columns).
 */
/* ---- plan ---- */

/* The map that a study takes as `parallel`, and how many microbatches it makes. */
static void training_plan(struct report *r, const struct plan *p)
{
    report_open(r, "plan", '{');
    if (report_is(r, IN_JSON))
        schema_write(&r->json, &plan_section, p, true);
    report_close(r, '}');
    report_json_count(r, "microbatches", plan_microbatches(p));
}

/* The same map in one line of YAML. */
static void say_parallel(struct report *r, const struct plan *p)
{
    struct json j = { .out = &r->out, .plain = true };
    if (!report_is(r, IN_TEXT))
        return;
    json_open(&j, "parallel", '{');
    schema_write(&j, &plan_section, p, false);
    json_close(&j, '}');
    text_puts(&r->out, "\n");
}

/* How many members of each dimension an axis spans. */
static void training_map(struct report *r, const struct training *x, int32_t n_dims)
{
    report_open(r, "mapping", '{');
    for (int a = 0; a < N_PLAN_AXES; a++) {
        report_open(r, plan_axis_words[a], '[');
        for (int32_t d = 0; d < n_dims && report_is(r, IN_JSON); d++)
            json_count(&r->json, NULL, x->place.axis[a][d]);
        report_close(r, ']');
    }
    report_close(r, '}');
}

/* A plan that was searched is also said as the study would give it, to run it again without the search. */
static void say_plan(struct report *r, const struct topo_network *net, const struct training *x,
                     bool searched)
{
    report_line(r, "\n%s: ", x->name);
    if (!report_is(r, IN_TEXT))
        return;
    plan_format(&r->out, &x->plan, &x->model);
    report_line(r, "\n");
    plan_draw(&r->out, &x->plan, &x->place, net);
    if (searched)
        say_parallel(r, &x->plan);
    report_line(r, "\n");
}

/* ---- memory ---- */

static void say_verdict(struct report *r, const struct design_point *s, const struct training_report *x)
{
    char a[SHOW], b[SHOW], c[SHOW];
    if (isnan(x->missing_B)) {
        report_line(r, "the memory of the NPU is not given\n");
        return;
    }
    /* NaN, which is not known, was dealt with above. */
    bool fits = !(x->missing_B > 0);
    report_line(r, "%s of %s GB: %s%s GB %s", show_real(a, x->memory_B / 1e9, 4),
                show_real(b, s->net.npu.mem_B / 1e9, 4), fits ? "fits, " : "does not fit, ",
                show_real(c, fabs(x->missing_B) / 1e9, 3), fits ? "left" : "too much");
    if (x->tight)
        report_line(r, "; tight: PyTorch reserves about %g %% beyond it (mem_margin)", 100 * PLAN_RESERVED);
    report_line(r, "\n");
}

struct memory_facts {
    int64_t stage; /* from 1 */
    double term_B[N_MEMORY_TERMS], all_B, npu_B;
    bool fits, tight;
};

#define MEMORY(field, called, ...)                                                                           \
    COLUMN_AT(struct memory_facts, field, called, TABLE_REAL, NULL, .times = 1e-9, .as = "GB", .digits = 4,  \
              __VA_ARGS__)
#define MEMORY_TERM(term, words) MEMORY(term_B[term], words "_B", .title = "  " words)
static const struct column memory_columns[] = {
    COLUMN_COUNT(struct memory_facts, stage, NULL, .in = IN_JSON),
    MEMORY_TERM(MEMORY_WEIGHTS, "weights"),
    MEMORY_TERM(MEMORY_GRADIENTS, "gradients"),
    MEMORY_TERM(MEMORY_OPTIMIZER, "optimizer"),
    MEMORY_TERM(MEMORY_ACTIVATIONS, "activations"),
    MEMORY_TERM(MEMORY_BUFFERS, "buffers"),
    MEMORY(term_B[MEMORY_RESERVED], "reserved_B", .title = "  reserved", .flags = COLUMN_IF_ANY),
    MEMORY(all_B, "total_B", .title = "  all"),
    MEMORY(npu_B, "npu_B", .in = IN_JSON),
    COLUMN_FLAG(struct memory_facts, fits, NULL, .in = IN_JSON),
    COLUMN_FLAG(struct memory_facts, tight, NULL, .in = IN_JSON),
    COLUMNS_END,
};

/* Of the fullest stage, which decides. */
static void training_memory(struct report *r, const struct design_point *s, const struct training *x,
                            const struct training_report *step)
{
    struct memory_facts m = { .stage = x->memory.stage + 1,
                              .all_B = x->memory.total_B,
                              .npu_B = s->net.npu.mem_B,
                              .fits = !(step->missing_B > 0),
                              .tight = step->tight };
    int width = r->width;
    memcpy(m.term_B, x->memory.term_B, sizeof m.term_B);
    if (!(m.term_B[MEMORY_RESERVED] > 0))
        m.term_B[MEMORY_RESERVED] = NAN;
    report_line(r, "memory");
    if (x->plan.degree[PLAN_PP] > 1)
        report_line(r, " of stage %lld", (long long)m.stage);
    report_line(r, "\n");
    r->width = 18;
    report_map(r, "memory", memory_columns, &m);
    r->width = width;
    say_verdict(r, s, step);
}

static void say_rates(struct report *r, const struct training *x, const struct training_report *step)
{
    char a[SHOW], b[SHOW], c[SHOW];
    report_line(r, "\n%s %s/s, model FLOP/s utilisation %s %%", show_real(a, step->tokens_per_s, 6),
                x->model.family == MODEL_TRANSFORMER ? "tokens" : "samples",
                show_real(b, 100 * step->mfu, 4));
    /* They differ by what is computed again. */
    if (step->hfu > step->mfu * (1 + 1e-9))
        report_line(r, " (with recomputation %s %%)", show_real(c, 100 * step->hfu, 4));
    report_line(r, "\n");
}

/* ---- what a search found ---- */

/* What was not a candidate, by the key that a plan would be refused for. */
static void say_refused(struct report *r, const struct search_result *x)
{
    char n[SHOW];
    if (x->refused.n_keys) {
        report_line(r, "not legal:");
        for (int32_t i = 0; i < x->refused.n_keys; i++)
            report_line(r, "%s %s by %s", i ? "," : "", show_count(n, x->refused.n[i]), x->refused.key[i]);
        report_line(r, "\n");
    }
    const char *joint = "not tried:";
    if (x->n_rejected[SEARCH_UNMAPPED]) {
        report_line(r, "%s %s orders that do not lie along the dimensions", joint,
                    show_count(n, x->n_rejected[SEARCH_UNMAPPED]));
        joint = ",";
    }
    if (x->n_rejected[SEARCH_REPEATED]) {
        report_line(r, "%s %s no faster and no smaller than another", joint,
                    show_count(n, x->n_rejected[SEARCH_REPEATED]));
        joint = ",";
    }
    if (*joint == ',')
        report_line(r, "\n");
}

/* Where parts are whole, plans are timed on the designs that ports give, or compared by the relaxation. */
static void say_counts(struct report *r, const struct search_result *x, bool whole)
{
    char n[SHOW];
    report_line(r, "\nsearched %s candidates, ", show_count(n, x->n_candidates));
    report_line(r, "%s do not fit in memory, ", show_count(n, x->n_rejected[SEARCH_MEMORY]));
    report_line(r, "%s timed", show_count(n, x->n_timed));
    if (x->n_split || x->proof.n_ruled_out)
        report_line(r, ": of these %s ruled out by bounds, ", show_count(n, x->proof.n_ruled_out));
    if (x->n_mixes) {
        report_line(r, "%s left;\n", show_count(n, x->n_split));
        report_line(
            r, "%s mixes with plans of the other workloads were split; listed are those of the best mixes",
            show_count(n, x->n_mixes));
    } else if (x->n_split || x->proof.n_ruled_out) {
        report_line(r, "%s %s", show_count(n, x->n_split),
                    !whole      ? "split on their own"
                    : x->proved ? "timed on whole designs"
                                : "split on their own, in fractions of parts");
    }
    if (x->proof.n_open)
        report_line(r, ";\n%s were neither: one of them might be better", show_count(n, x->proof.n_open));
    report_line(r, "\n");
}

struct found_line {
    int64_t at; /* from 1 */
    double time_s, value, mfu, memory_B, chunk_s;
    int64_t alike;
    const char *plan;
};

#define FOUND(kind, field, ...) COLUMN_##kind(struct found_line, field, NULL, __VA_ARGS__)
static const struct column found_columns[] = {
    FOUND(COUNT, at, .in = IN_TEXT, .title = ""),
    FOUND(REAL, time_s, .title = "step", .digits = 6, .show = COLUMN_FITTED),
    FOUND(REAL, value, .in = IN_JSON),
    FOUND(REAL, mfu, .title = "utilisation", .times = 100, .as = "%", .digits = 3),
    FOUND(REAL, memory_B, .title = "memory", .times = 1e-9, .as = "GB", .digits = 3),
    FOUND(REAL, chunk_s, .title = "by chunk", .digits = 6, .show = COLUMN_FITTED),
    FOUND(COUNT, alike, .zero = "-"),
    FOUND(WORD, plan, .in = IN_TEXT, .title = "plan, innermost first"),
    COLUMNS_END,
};

/* Best first, as the search has them; value is the objective, of which time is one. */
static void training_found(struct report *r, const struct design_point *s, const struct training *x,
                           const struct search_result *search)
{
    struct text plan = { 0 };
    bool text = report_is(r, IN_TEXT), alike = false;
    if (text)
        report_list(r, NULL, found_columns);
    report_open(r, "found", '[');
    for (int32_t i = 0; i < search->n_found; i++) {
        const struct search_found *f = &search->found[i];
        struct found_line line = { i + 1,       f->time_s,  f->value, training_mfu(x, &s->net, f->time_s),
                                   f->memory_B, f->chunk_s, f->alike, NULL };
        alike = alike || f->alike > 0;
        if (i >= search->n_simulated)
            line.chunk_s = NAN;
        text_clear(&plan);
        plan_format(&plan, &f->plan, &x->model);
        line.plan = text_str(&plan);
        if (text) {
            report_row(r, &line);
            continue;
        }
        report_open(r, NULL, '{');
        report_facts(r, found_columns, &line);
        report_reals(r, "bw_GBps", f->bw_Bps, s->net.n_dims, 1e9);
        training_plan(r, &f->plan);
        report_close(r, '}');
    }
    report_close(r, ']');
    if (text)
        report_list_end(r);
    if (alike)
        report_line(
            r, "alike: other plans with the same step and memory, such as these degrees in another order\n");
    r->failed = r->failed || plan.failed;
    text_free(&plan);
}

/* Plans in the order that a simulation puts them in, and those that it would take too long for. */
static void say_simulated(struct report *r, const struct design_point *s, const struct search_result *x)
{
    const char *by = sim_model_words[s->model > SIM_ALPHA_BETA ? SIM_ALPHA_BETA : s->model];
    double order[SEARCH_SIM_PLANS];
    bool same = true;
    int32_t left = x->n_simulated - x->n_ordered;
    for (int32_t i = 0; i < x->n_ordered; i++) {
        order[i] = x->chunk_order[i] + 1;
        same = same && (i == 0 || x->chunk_order[i] > x->chunk_order[i - 1]);
    }
    report_json_word(r, "ranked_by", by);
    report_reals(r, "chunk_order", order, x->n_ordered, 1);
    if (!same) {
        report_line(r, "model chunk simulates how collectives wait for each other, and ranks these plans");
        for (int32_t i = 0; i < x->n_ordered; i++)
            report_line(r, "%s %d", i ? "," : "", (int)x->chunk_order[i] + 1);
        report_line(r, "; the list is ranked by model %s\n", by);
    }
    if (left)
        report_line(r, "too large to simulate by model chunk: %d of the first %d plans\n", (int)left,
                    (int)x->n_simulated);
}

#define TALLY(field, called) COLUMN_AT(struct search_result, field, called, TABLE_COUNT, NULL, .in = IN_JSON)
static const struct column tally_columns[] = {
    TALLY(n_candidates, "candidates"),
    TALLY(n_timed, "timed"),
    TALLY(n_rejected[SEARCH_MEMORY], "rejected_memory"),
    TALLY(n_rejected[SEARCH_REPEATED], "rejected_repeated"),
    TALLY(n_rejected[SEARCH_UNMAPPED], "rejected_mapping"),
    TALLY(n_rejected[SEARCH_ILLEGAL], "rejected_illegal"),
    COLUMNS_END,
};
static const struct column split_columns[] = {
    TALLY(proof.n_ruled_out, "bounded"),
    TALLY(n_split, "split"),
    TALLY(proof.n_open, "open"),
    COLUMNS_END,
};

static void training_search(struct report *r, const struct design_point *s, const struct training *x,
                            const struct search_result *search)
{
    say_counts(r, search, s->pricing == DESIGN_WHOLE);
    say_refused(r, search);
    report_open(r, "search", '{');
    int64_t all = search->n_timed;
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        all += search->n_rejected[i];
    report_json_count(r, "combinations", all);
    report_facts(r, tally_columns, search);
    report_open(r, "refused_by", '{');
    for (int32_t i = 0; i < search->refused.n_keys; i++)
        report_json_count(r, search->refused.key[i], search->refused.n[i]);
    report_close(r, '}');
    report_facts(r, split_columns, search);
    if (search->n_mixes)
        report_json_count(r, "mixes", search->n_mixes);
    training_found(r, s, x, search);
    say_simulated(r, s, search);
    report_close(r, '}');
}

/* ---- all of it ---- */

void page_training(struct report *r, const struct design_point *s, const struct design *d, int32_t i)
{
    const struct design_workload *w = &s->workloads[i];
    const struct search_result *plans = choice_plans(&d->chosen, i);
    struct training_report step;
    if (!w->training || report_is(r, IN_CSV))
        return;
    design_training_report(&step, s, w, &d->loads[i]);
    training_plan(r, &w->training->plan);
    training_map(r, w->training, s->net.n_dims);
    say_plan(r, &s->net, w->training, plans != NULL);
    if (report_is(r, IN_TEXT))
        page_step(r, s, d, i);
    report_line(r, "\n");
    training_memory(r, s, w->training, &step);
    say_rates(r, w->training, &step);
    const struct evidence_row evidence = evidence_row(w->training, &s->net.npu, step.time_s);
    report_map(r, "evidence", evidence_columns, &evidence);
    if (plans)
        training_search(r, s, w->training, plans);
}

void page_training_text(struct report *r, const struct design_point *s, const struct design *d)
{
    for (int32_t i = 0; i < d->n_loads && report_is(r, IN_TEXT); i++)
        page_training(r, s, d, i);
}

/* After the report: the numbers hold, but the design cannot run. Exit code 4. */
void page_say_memory(struct run *run, const struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct training *x = s->workloads[i].training;
        double missing_B = x ? training_missing_B(x, &s->net) : NAN;
        int most = 0;
        if (!(missing_B > 0))
            continue;
        for (int k = 1; k < N_MEMORY_TERMS; k++)
            most = x->memory.term_B[k] > x->memory.term_B[most] ? k : most;
        output_say(run, "%s: %s does not fit: needs %.4g GB of %.4g GB, most of it %s (%.4g GB)",
                   run->opt.operands[0], x->name, x->memory.total_B / 1e9, s->net.npu.mem_B / 1e9,
                   memory_term_words[most], x->memory.term_B[most] / 1e9);
        output_outcome(run, EXIT_NO_DESIGN);
    }
}

/*
 * What a design costs to own and what failures leave of it.
 *
 * The page of weft explain goes from the sum down to the item and the part that make it
 * (kinds/design/answer/owning.h): each line says what it costs a year and what would follow if it never
 * failed.
 */
#define HOUR_S 3600.0

/* ---- short: with weft sim and alloc ---- */

static void say_part(struct report *r, const char *what, double usd, double all_usd)
{
    char a[SHOW], b[SHOW];
    if (usd > 0)
        report_line(r, "  %-16s%s USD (%s %%)\n", what, show_usd(a, usd),
                    show_real(b, 100 * usd / all_usd, 3));
}

static void say_money_range(struct report *r, const struct system *x)
{
    double low = x->cost.low / x->cost.total, high = x->cost.high / x->cost.total;
    char a[SHOW], b[SHOW];
    report_line(r, "  %-16s%s to %s USD a year", "range", show_usd(a, x->cost.low),
                show_usd(b, x->cost.high));
    if (isfinite(x->usd_per_Mtoken))
        report_line(r, ", %s to %s USD per million tokens", show_real(a, x->usd_per_Mtoken * low, 4),
                    show_real(b, x->usd_per_Mtoken * high, 4));
    report_line(r, ", by low and high prices\n");
}

static void say_money(struct report *r, const struct system *x, const struct own_terms *t)
{
    const struct own_cost *c = &x->cost;
    char a[SHOW], b[SHOW], rate[SHOW];
    if (!isfinite(c->total))
        return;
    report_line(r, "%-18s%s USD a year, %s USD per NPU and hour (", "owning it", show_usd(a, c->total),
                show_real(b, x->usd_npu_h, 4));
    if (t->capital_rate > 0)
        report_line(r, "annuity at %s %%)\n", show_real(rate, 100 * t->capital_rate, 3));
    else
        report_line(r, "straight line)\n");
    if (c->low < c->total || c->high > c->total)
        say_money_range(r, x);
    say_part(r, "capital", c->capital, c->total);
    say_part(r, isnan(t->rent_usd_W_month) ? "building, own" : "building, rented", c->building, c->total);
    say_part(r, "energy", c->energy, c->total);
    say_part(r, "support", c->support, c->total);
    say_part(r, "staff", c->staff, c->total);
    if (!(c->staff > 0))
        report_line(r, "  %-16snone given (staff_usd_year), and none published\n", "staff");
    if (isfinite(x->usd_per_Mtoken))
        report_line(r, "  %-16s%s USD per million, at the goodput below\n", "tokens",
                    show_real(a, x->usd_per_Mtoken, 4));
    if (isfinite(x->usd_run))
        report_line(r, "  %-16s%s USD\n", "the run", show_usd(a, x->usd_run));
}

static void say_power(struct report *r, const struct system *x, const struct design_point *s)
{
    const struct own_system *own = &s->system;
    char a[SHOW], b[SHOW], c[SHOW], d[SHOW], f[SHOW], g[SHOW];
    report_line(r, "%-18s%s kW of IT by nameplate, %s kW in the mean; at the meter %s times that\n", "power",
                show_real(a, x->cost.watt_peak / 1e3, 5), show_real(b, x->cost.watt_mean / 1e3, 5),
                show_real(c, own->terms.pue, 4));
    if (own->npus_per_rack < 0)
        report_line(r, "  %-16s%s of %s kW\n", "racks", show_count(d, (int64_t)x->racks),
                    show_real(f, own->rack_W / 1e3, 4));
    else
        report_line(r, "  %-16s%s of %s NPUs%s%s%s; %s of %s kW for the rest\n", "racks",
                    show_count(d, (int64_t)x->racks), show_count(a, own->npus_per_rack),
                    s->server.name ? ", " : "", s->server.name ? s->server.name : "",
                    s->server.name && s->server.cooling == OWN_LIQUID ? ", liquid-cooled" : "",
                    show_count(g, (int64_t)x->racks_network), show_real(f, own->rack_W / 1e3, 4));
}

/* What a restart takes, from where; and what else than failures takes of the time. */
static void say_restart(struct report *r, const struct system *x, const struct own_system *own)
{
    char a[SHOW], b[SHOW], c[SHOW];
    report_line(r, "  %-16s%s s to start again, %s s to read the checkpoint", "restart",
                show_real(a, own->checkpoint.restart_s, 4), show_real(b, x->load_s, 3));
    if (x->wait_s > 0)
        report_line(r, ", %s s for a spare in the mean", show_real(c, x->wait_s, 3));
    report_line(r, "\n");
    for (int32_t i = 0; i + 1 < x->n_tiers; i++)
        report_line(r, "  %-16s%s %% of failures in %s s, saved each %s s\n", x->tiers[i].name,
                    show_real(a, 100 * x->tiers[i].share, 4), show_real(b, x->tiers[i].c.restart_s, 4),
                    show_real(c, x->tiers[i].settled_s, 4));
    if (x->kept < x->goodput.goodput)
        report_line(r, "  %-16s%.4f: %.4f x %.4f without stragglers x %.4f without planned stops\n",
                    "of the time", x->kept, x->goodput.goodput, 1 - own->straggler_loss,
                    1 - own->planned_per_s * own->planned_stop_s);
    if (x->less_bw > 0)
        report_line(
            r,
            "  %-16sat most %s %% more time, while parts that the job runs on without are repaired; not "
            "in goodput; weft fail says how much\n",
            "less bandwidth", show_real(a, 100 * x->less_bw, 2));
}

/* Rates that nobody publishes, with their part of all stops. */
static void say_recalled(struct report *r, const struct system *x)
{
    char share[SHOW];
    double rate = 0;
    for (int32_t i = 0; i < x->n_fails; i++)
        if (x->fails[i].recalled) {
            report_line(r, "%s%s", rate > 0 ? ", " : "  recalled        ", x->fails[i].name);
            rate += reliability_rate(&x->fails[i], 1);
        }
    if (rate > 0)
        report_line(r, ": their rates are of no source (%s %% of stops)\n",
                    show_real(share, 100 * rate * x->mtbi_s, 2));
}

static void say_failures(struct report *r, const struct system *x, const struct own_system *own,
                         double time_s)
{
    const struct goodput *g = &x->goodput;
    char a[SHOW], b[SHOW], c[SHOW];
    report_line(r, "%-18sone each %s h stops the job", "failures", show_real(a, x->mtbi_s / HOUR_S, 4));
    if (x->mtbi_low_s < x->mtbi_s * (1 - 1e-9) || x->mtbi_high_s > x->mtbi_s * (1 + 1e-9))
        report_line(r, " (%s to %s by published rates)", show_real(a, x->mtbi_low_s / HOUR_S, 3),
                    show_real(b, x->mtbi_high_s / HOUR_S, 3));
    report_line(r, "; ");
    if (isfinite(g->interval_s))
        report_line(r, "a checkpoint each %s s", show_real(b, g->interval_s, 4));
    else
        report_line(r, "no checkpoint in the store");
    report_line(r, " leaves goodput %.4f (first order %.4f)\n", g->goodput, fmax(g->first_order, 0));
    say_recalled(r, x);
    say_restart(r, x, own);
    if (!isnan(x->spares_enough))
        report_line(r, "  %-16senough servers are up %s %% of the time; 99 %% asks for %s\n", "spares",
                    show_real(a, 100 * x->spares_enough, 4), show_count(b, x->spares_needed));
    if (isfinite(x->step_s))
        report_line(r, "  %-16s%s, of %s\n", "effective step", show_time(a, x->step_s), show_time(c, time_s));
    if (x->omits[0])
        report_line(r, "%-18s%s\n", "left out", x->omits);
}

#define SUM(field, called, ...)                                                                              \
    COLUMN_AT(struct system, field, called, TABLE_REAL, NULL, .in = IN_JSON, __VA_ARGS__)
static const struct column sum_columns[] = {
    SUM(cost.total, "usd_year", .better = -1),
    SUM(cost.low, "usd_year_low", .better = -1),
    SUM(cost.high, "usd_year_high", .better = -1),
    SUM(cost.capital, "capital_usd_year", .better = -1),
    SUM(cost.building, "building_usd_year", .better = -1),
    SUM(cost.energy, "energy_usd_year", .better = -1),
    SUM(cost.support, "support_usd_year", .better = -1),
    SUM(cost.staff, "staff_usd_year", .better = -1),
    SUM(usd_npu_h, "usd_npu_h", .better = -1),
    SUM(usd_per_Mtoken, "usd_per_Mtoken", .better = -1),
    SUM(usd_run, "usd_run", .better = -1),
    SUM(cost.watt_peak, "watt_peak", .better = -1),
    SUM(cost.watt_mean, "watt_mean", .better = -1),
    SUM(racks, "racks", .better = -1),
    SUM(spares_enough, "spares_enough", .better = 1),
    COLUMN_COUNT(struct system, spares_needed, NULL, .in = IN_JSON),
    SUM(mtbi_s, "mtbi_h", .per = HOUR_S),
    SUM(mtbi_low_s, "mtbi_low_h", .per = HOUR_S),
    SUM(mtbi_high_s, "mtbi_high_h", .per = HOUR_S),
    SUM(checkpoint.stall_s, "stall_s", .better = -1),
    SUM(checkpoint.drain_s, "drain_s", .better = -1),
    SUM(checkpoint.restart_s, "restart_s", .better = -1),
    SUM(load_s, "load_s", .better = -1),
    SUM(wait_s, "spare_wait_s", .better = -1),
    SUM(goodput.interval_s, "interval_s", .better = 0),
    SUM(kept, "goodput", .better = 1),
    SUM(goodput.goodput, "goodput_failures", .better = 1),
    SUM(goodput.first_order, "goodput_first_order", .better = 1),
    SUM(less_bw, "less_bandwidth_frac", .better = -1),
    SUM(step_s, "effective_step_s", .better = -1),
    COLUMN_AT(struct system, omits, "omits", TABLE_TEXT, NULL, .in = IN_JSON, .flags = COLUMN_CHARS),
    COLUMNS_END,
};

/* ---- why: with weft explain ---- */

static void report_items(struct report *r, const struct system *x, const struct own_terms *t)
{
    report_list(r, "items", owning_item_columns);
    for (int32_t i = 0; i < x->n_items; i++) {
        const struct owning_item item = owning_item_of(x, t, i);
        report_row(r, &item);
    }
    report_list_end(r);
}

static void report_fails(struct report *r, const struct system *x)
{
    report_list(r, "failures", owning_fail_columns);
    for (int32_t i = 0; i < x->n_fails; i++) {
        const struct owning_fail fail = owning_fail_of(x, i);
        report_row(r, &fail);
    }
    report_list_end(r);
}

struct share_line {
    const char *level, *part;
    double usd, share;
};

#define SHARE_COLUMNS(called, words)                                                                         \
    {                                                                                                        \
        COLUMN_WORD(struct share_line, level, NULL, .title = "what it is made of", .flags = COLUMN_EMPTY),   \
            COLUMN_WORD(struct share_line, part, NULL),                                                      \
            COLUMN_AT(struct share_line, usd, called, TABLE_REAL, NULL, .title = words, .unit = "USD",       \
                      .digits = 4),                                                                          \
            COLUMN_REAL(struct share_line, share, NULL, .times = 100, .as = "%", .digits = 3), COLUMNS_END   \
    }

/* From the cost of a million tokens, or of an hour of work where none are known, to what makes it. */
static void report_shares(struct report *r, const struct system *x, const struct own_system *own)
{
    static const struct column of_tokens[] =
        SHARE_COLUMNS(DESIGN_COLUMN_IN(system, usd_per_Mtoken), "a million tokens");
    static const struct column of_hours[] = SHARE_COLUMNS("usd_npu_h_of_work", "an NPU hour of work");
    struct system_share *shares = malloc((size_t)system_shares_max(x) * sizeof *shares);
    double usd = owning_work_usd(x);
    int32_t n = shares ? system_shares(shares, x, own) : 0;
    r->failed = r->failed || !shares;
    if (n > 0)
        report_list(r, "made_of", isfinite(x->usd_per_Mtoken) ? of_tokens : of_hours);
    for (int32_t i = 0; i < n; i++) {
        bool first = i == 0 || shares[i].level != shares[i - 1].level || !report_is(r, IN_TEXT);
        report_row(r, &(struct share_line){ first ? system_level_words[shares[i].level] : NULL,
                                            shares[i].what, usd * shares[i].frac, shares[i].frac });
    }
    if (n > 0) {
        report_list_end(r);
        report_line(r, "\n");
    }
    free(shares);
}

static void report_factors(struct report *r, const struct system *x, const struct design_point *s,
                           double time_s)
{
    struct owning_factor list[OWNING_FACTORS];
    int32_t n = 0;
    struct err e;
    r->failed = owning_factors(list, &n, x, s, time_s, &e) || r->failed;
    report_array(r, "a_tenth_more", owning_factor_columns, list, n, sizeof *list);
}

static void report_worth(struct report *r, const struct system *x)
{
    double share = owning_minute_share(x);
    char a[SHOW], b[SHOW];
    report_json_real(r, "minute_of_restart_share", share);
    report_json_real(r, "dG_dR_per_s", x->goodput.per_restart);
    report_json_real(r, "dG_dM_per_s", x->goodput.per_mtbi);
    if (share > 0 && isfinite(x->cost.total))
        report_line(r, "Restarts a minute faster save %s %% of the USD for the same work, %s USD a year.\n",
                    show_real(a, 100 * share, 3), show_usd(b, share * x->cost.total));
}

static void report_why(struct report *r, const struct system *x, const struct design_point *s, double time_s)
{
    report_line(r, "\n");
    report_shares(r, x, &s->system);
    report_items(r, x, &s->system.terms);
    report_line(r, "\n");
    report_fails(r, x);
    report_line(r, "\n");
    if (isfinite(x->cost.total) && isfinite(x->step_s))
        report_factors(r, x, s, time_s);
    report_worth(r, x);
}

void page_system(struct report *r, const struct design_point *s, const struct design *d, bool why)
{
    struct system x;
    struct err e;
    if (!s->has_system || report_is(r, IN_CSV))
        return;
    if (system_build(&x, s, design_owned(d), &e)) {
        r->failed = true;
        return;
    }
    report_open(r, "system", '{');
    if (report_is(r, IN_TEXT) && isnan(x.racks)) {
        report_line(r, "\n%-18s%s\n", "left out", x.omits);
    } else if (report_is(r, IN_TEXT)) {
        report_line(r, "\n");
        say_money(r, &x, &s->system.terms);
        say_power(r, &x, s);
        say_failures(r, &x, &s->system, d->time_s);
    } else {
        report_facts(r, sum_columns, &x);
    }
    if (why && !isnan(x.racks))
        report_why(r, &x, s, d->time_s);
    report_close(r, '}');
    system_free(&x);
}
