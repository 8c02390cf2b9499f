/*
 * A training step of a model: plan and mapping, memory, and what a search found.
 *
 * The same report serves weft alloc, sim and check; `report` (base/report.h) drops what a format does not
 * take, so text and JSON are written side by side and CSV has its columns elsewhere (training_columns).
 */
#include "cli/training.h"

#include <math.h>
#include <string.h>

#include "cli/account.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/explore/search.h"

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
    report_line(r, "%s of %s GB: %s%s GB %s\n", show_real(a, x->memory_B / 1e9, 4),
                show_real(b, s->net.npu.mem_B / 1e9, 4), fits ? "fits, " : "does not fit, ",
                show_real(c, fabs(x->missing_B) / 1e9, 3), fits ? "left" : "too much");
}

struct memory_facts {
    int64_t stage; /* from 1 */
    double term_B[N_MEMORY_TERMS], all_B, npu_B;
    bool fits;
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
    COLUMNS_END,
};

/* Of the fullest stage, which decides. */
static void training_memory(struct report *r, const struct design_point *s, const struct training *x,
                            const struct training_report *step)
{
    struct memory_facts m = { .stage = x->memory.stage + 1,
                              .all_B = x->memory.total_B,
                              .npu_B = s->net.npu.mem_B,
                              .fits = !(step->missing_B > 0) };
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
    if (x->n_split || x->proof.n_ruled_out) {
        report_line(r, ": of these %s ruled out by bounds, ", show_count(n, x->proof.n_ruled_out));
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
    FOUND(WORD, plan, .in = IN_TEXT, .title = "plan, innermost first"),
    COLUMNS_END,
};

/* Best first, as the search has them; value is the objective, of which time is one. */
static void training_found(struct report *r, const struct design_point *s, const struct training *x,
                           const struct search_result *search)
{
    struct text plan = { 0 };
    bool text = report_is(r, IN_TEXT);
    if (text)
        report_list(r, NULL, found_columns);
    report_open(r, "found", '[');
    for (int32_t i = 0; i < search->n_found; i++) {
        const struct search_found *f = &search->found[i];
        struct found_line line = { i + 1,       f->time_s,  f->value, training_mfu(x, &s->net, f->time_s),
                                   f->memory_B, f->chunk_s, NULL };
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
    training_found(r, s, x, search);
    say_simulated(r, s, search);
    report_close(r, '}');
}

/* ---- all of it ---- */

void training_report_one(struct report *r, const struct design_point *s, const struct design *d, int32_t i)
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
        account_report_step(r, s, d, i);
    report_line(r, "\n");
    training_memory(r, s, w->training, &step);
    say_rates(r, w->training, &step);
    const struct evidence_row evidence = evidence_row(w->training, &s->net.npu, step.time_s);
    report_map(r, "evidence", evidence_columns, &evidence);
    if (plans)
        training_search(r, s, w->training, plans);
}

void training_report_text(struct report *r, const struct design_point *s, const struct design *d)
{
    for (int32_t i = 0; i < d->n_loads && report_is(r, IN_TEXT); i++)
        training_report_one(r, s, d, i);
}

/* After the report: the numbers hold, but the design cannot run. Exit code 4. */
void training_say_memory(struct run *run, const struct design_point *s)
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
