/*
 * weft sim: the time of a step at one or all fidelities, its waterfall, its timeline as a file, the load of
 * every link. What a model's step consists of is in cli/page.c.
 *
 * With --model all the study is read once more for each model, at the bandwidths of the first: a key may have
 * an effect in one model and none in another, and only a warning that holds in all is said. A model that
 * cannot simulate the study is left out with its reason; the others stand. Timeline and links are simulated
 * once more for their files, so that a plain run keeps no record of events.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/json.h"
#include "cli/page.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/explain.h"
#include "kinds/design/ask/load.h"
#include "sim/chunk/order.h"
#include "sim/step.h"
#include "sim/timeline.h"
#include "study/study.h"

/*
 * A training step at given bandwidths, in one model of time or in all side by side, and what a simulation did
 * that the study left to it.
 */

enum { MODEL_ALL = N_SIM_MODELS };

/* Those of the study's key `model`, and all of them side by side. */
static const char *const model_words[] = { "bandwidth", "alpha-beta", "chunk", "flow", "all", NULL };

static const struct option sim_rows[] = {
    WORD_OPTION("model", "MODEL", model, model_words,
                "bandwidth, alpha-beta (latency, chunks), chunk, flow (simulated), or all side by side "
                "(default: the study's)"),
    FLAG_OPTION("split", split, "solve the split first, as weft alloc does"),
    TEXT_OPTION(
        "timeline", "FILE", timeline,
        "write a timeline to FILE, .json for Chrome and Perfetto, .csv for weft plot (with model all: of "
        "chunk)"),
    TEXT_OPTION("links", "FILE", links,
                "model flow: write what each direction of every link carries to FILE, as CSV"),
};

static const struct option_group sim_options = OPTION_GROUP("Simulation", sim_rows);

/* The same bandwidths under one model or under all, a column each. */
struct simulation {
    struct load_design first; /* where the bandwidths come from; evaluated under its own model */
    struct load_design others[N_SIM_MODELS]; /* shape [n_others] */
    int32_t n_others;
    const struct design_point *studies[N_SIM_MODELS]; /* shape [n]; what the designs are of */
    const struct design *designs[N_SIM_MODELS];
    int32_t n;
};

static void simulation_free(struct simulation *x)
{
    for (int32_t i = 0; i < x->n_others; i++)
        load_design_free(&x->others[i]);
    load_design_free(&x->first);
    *x = (struct simulation){ 0 };
}

static void add_column(struct simulation *x, const struct design *d)
{
    x->studies[x->n] = d->chosen.point;
    x->designs[x->n++] = d;
}

/*
 * One more column: the study again under `model`, at the bandwidths of the first design. What cannot be
 * simulated is left out with the reason; the other models stand all the same. The bandwidths are those of the
 * first model, so that the models are compared and not the splits; plans that a search found are taken over
 * for the same reason.
 */
static int add_model(struct simulation *x, struct run *run, enum sim_model model, struct err *e)
{
    struct overrides o;
    struct design_point *s = &x->others[x->n_others].asked;
    struct design *d = &x->others[x->n_others].design;
    struct design_choice chosen;
    unsigned needs = DESIGN_NEEDS_WORKLOAD | (x->first.solved ? DESIGN_FOR_SPLIT : 0U);
    int rc = overrides_read(&o, run, e);
    if (!rc)
        rc = overrides_add(&o, "model", sim_model_words[model], e);
    if (!rc)
        rc = design_point_load(s, run->opt.operands[0], o.list, o.n, needs, e);
    overrides_free(&o);
    if (rc)
        return rc;
    rc = choice_begin(&chosen, s, e);
    rc = rc ? rc : choice_take_plans(&chosen, &x->first.design.chosen, e);
    bool taken = !rc;
    if (!rc)
        rc = answer_at(d, chosen, x->first.design.bw_Bps, e);
    if (rc == 0) {
        x->n_others++;
        add_column(x, d);
        return 0;
    }
    if (!taken)
        choice_free(&chosen);
    design_point_free(s);
    bool simulated = model == SIM_CHUNK || model == SIM_FLOW;
    if (!taken || !simulated || rc == ERR_NOMEM)
        return rc;
    output_warn(run, "model %s is left out: %s", sim_model_words[model], e->msg);
    return 0;
}

/* What has no effect under any of the models. A line is looked for with its end, so that one that begins
 * another is not taken for it. */
static void put_common_notes(const struct simulation *x, struct run *run)
{
    struct text common = { 0 }, one = { 0 };
    const struct text *all = x->n == 1 ? &x->first.notes : &x->studies[0]->notes;
    for (const char *line = text_str(all); *line; line += one.n) {
        size_t n = strcspn(line, "\n");
        bool everywhere = true;
        text_clear(&one);
        text_add(&one, line, n + (line[n] == '\n'));
        if (one.failed) /* the run ends with that, see text_any_cut() */
            break;
        for (int32_t i = 1; i < x->n && everywhere; i++)
            everywhere = strstr(text_str(&x->studies[i]->notes), text_str(&one)) != NULL;
        if (everywhere)
            text_puts(&common, text_str(&one));
    }
    output_notes(run, &common);
    text_free(&one);
    text_free(&common);
}

/* Only flows have links: a simulation may take hours, so the model comes first. */
static int check_model(const struct run *run, const struct overrides *o, struct err *e)
{
    const struct options *opt = &run->opt;
    int model = (int)opt->model;
    if (!opt->links)
        return 0;
    if (model < 0) {
        struct design_point probe = { 0 };
        int rc = design_point_load(&probe, opt->operands[0], o->list, o->n, DESIGN_NEEDS_NETWORK, e);
        model = (int)probe.model;
        design_point_free(&probe);
        if (rc)
            return rc;
    }
    if (model == MODEL_ALL || model == SIM_FLOW)
        return 0;
    return err_set(e, ERR_USAGE, "option --links is given with model %s, expected flow or all",
                   sim_model_words[model]);
}

static int simulate(struct simulation *x, struct run *run, struct err *e)
{
    struct overrides o;
    *x = (struct simulation){ 0 };
    int32_t model = run->opt.model;
    int rc = load_overrides(&o, run, e);
    if (!rc)
        rc = check_model(run, &o, e);
    if (!rc && model >= 0 && model != MODEL_ALL)
        rc = overrides_add(&o, "model", model_words[model], e);
    if (!rc)
        rc = load_design(&x->first, run, &o, run->opt.split ? LOAD_SOLVED : LOAD_GIVEN, DESIGN_NEEDS_WORKLOAD,
                         e);
    overrides_free(&o);
    /* No split was found: that was said already, and there is nothing to simulate. */
    if (rc || run->exit_code)
        return rc;
    for (int i = 0; i < N_SIM_MODELS && !rc; i++) {
        if ((int)x->first.study->model == i)
            add_column(x, &x->first.design);
        else if (model == MODEL_ALL)
            rc = add_model(x, run, (enum sim_model)i, e);
    }
    if (!rc)
        put_common_notes(x, run);
    return rc;
}

/* ---- what a simulation did ---- */

/* How many collectives ran in each order of dimensions. */
static void count_orders(int64_t used[N_SIM_ORDERS], const struct design *d)
{
    for (int i = 0; i < N_SIM_ORDERS; i++)
        used[i] = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        for (int32_t k = 0; k < d->loads[i].step.n_collectives; k++)
            used[d->loads[i].step.collectives[k].order]++;
}

static void report_chunk(struct report *r, const struct design_point *s, const struct design *d)
{
    const struct sim_rules *rules = &s->rules;
    int64_t used[N_SIM_ORDERS];
    const char *joint = ": ",
               *words = sim_semantics_words[sim_is_astra(rules) ? rules->semantics : SIM_PHYSICAL];
    count_orders(used, d);
    report_json_word(r, "semantics", words);
    report_json_word(r, "queue", sim_queue_words[rules->queue]);
    report_json_word(r, "order", sim_order_words[rules->order]);
    report_open(r, "orders", '{');
    for (int i = 0; i < N_SIM_ORDERS; i++)
        if (used[i])
            report_json_count(r, sim_order_words[i], used[i]);
    report_close(r, '}');
    report_line(r, ", %s semantics", words);
    if (sim_is_astra(rules)) {
        report_line(r, ": collectives one at a time, dimensions innermost first\n");
        return;
    }
    report_line(r, ", %s; order of dimensions %s", sim_queue_words[rules->queue],
                sim_order_words[rules->order]);
    for (int i = 0; rules->order == SIM_ORDER_GUARD && i < N_SIM_ORDERS; i++)
        if (used[i]) {
            report_line(r, "%s%s for %lld collective%s", joint, sim_order_words[i], (long long)used[i],
                        used[i] == 1 ? "" : "s");
            joint = ", ";
        }
    report_line(r, "%s\n",
                topo_has_fabric(&s->net) ? "; stages in flight share links of a fabric max-min fair" : "");
}

static void say_hottest(struct report *r, const struct design_point *s, const struct fidelity_links *l,
                        int32_t load)
{
    char n[SHOW], of[SHOW], share[SHOW];
    const char *workload = s->n_workloads > 1 ? s->workloads[load].tree.name : "";
    report_line(r, "\n%s%s%s of %s directed links are used, %s %% on average; the hottest", workload,
                *workload ? ": " : "", show_count(n, l->n_used), show_count(of, l->n_arcs),
                show_real(share, 100 * l->mean_frac, 3));
    if (l->n_alike > l->n_hot)
        report_line(r, " (of %s that are as hot)", show_count(n, l->n_alike));
    report_line(r, ":\n\n");
}

/* One direction of a link. */
struct link_line {
    const char *workload, *link, *dim;
    double bw_GBps, sent_B, utilization;
};

#define LINK(kind, field, ...) COLUMN_##kind(struct link_line, field, NULL, __VA_ARGS__)
static const struct column link_columns[] = {
    LINK(WORD, workload, .in = IN_DATA),
    LINK(WORD, link, .title = "link"),
    LINK(WORD, dim, .title = "dimension"),
    LINK(REAL, bw_GBps, .title = "bandwidth", .digits = 6),
    LINK(REAL, sent_B, .times = 1e-9, .as = "GB"),
    LINK(REAL, utilization, .title = "in use", .unit = "", .times = 100, .as = "%", .digits = 3, .better = 1),
    COLUMNS_END,
};

static void put_link(struct report *r, const struct design_point *s, const char *workload,
                     const struct fidelity_hot *link)
{
    bool known = link->dim >= 0 && link->dim < s->net.n_dims;
    report_row(r, &(struct link_line){ workload, link->name, known ? s->net.dims[link->dim].name : NULL,
                                       link->bw_Bps / 1e9, link->bytes, link->util_frac });
}

/* The hottest links of one workload: rows of a table each in text, of one list in JSON. */
static void report_hottest(struct report *r, const struct design_point *s, const struct fidelity_links *l,
                           int32_t load)
{
    report_list(r, NULL, link_columns);
    for (int32_t k = 0; k < l->n_hot; k++)
        put_link(r, s, s->workloads[load].tree.name, &l->hot[k]);
    report_list_end(r);
}

static void report_flow(struct report *r, const struct design_point *s, const struct design *d)
{
    const struct sim_rules *rules = &s->rules;
    report_json_word(r, "route", sim_route_words[rules->route]);
    report_json_word(r, "graph", rules->graph[0] ? rules->graph : NULL);
    report_json_real(r, "round", rules->round > 0 ? rules->round : (double)NAN);
    report_line(r, " on %s%s, routes %s", rules->graph[0] ? "the graph " : "the links of the network",
                rules->graph, sim_route_words[rules->route]);
    report_line(r, "; dimensions %s%s",
                rules->order == SIM_ORDER_GIVEN ? "in the order given" : "innermost first",
                rules->n_links || rules->n_slow ? "; some links failed or slow" : "");
    if (rules->round > 0)
        report_line(r, "; collectives that run alone may end up to %.3g %% too late", 100 * rules->round);
    report_line(r, "\n");
    report_open(r, "hottest_links", '[');
    for (int32_t i = 0; i < d->n_loads; i++) {
        const struct fidelity_links *l = &d->loads[i].step.links;
        if (l->n_hot == 0)
            continue;
        say_hottest(r, s, l, i);
        report_hottest(r, s, l, i);
    }
    report_close(r, ']');
}

/* A paragraph per model other than bandwidth, a map in JSON: chunks, order, routes; of flow the hottest
 * links. */
static void report_simulation(struct report *r, const struct design_point *s, const struct design *d)
{
    const struct sim_rules *rules = &s->rules;
    if (s->model == SIM_BANDWIDTH) {
        report_line(r, design_point_semantics(s) ? "\nbandwidth:\n" : "");
        load_say_semantics(r, s);
        return;
    }
    report_line(r, "\n%s: %d chunk%s", sim_model_words[s->model], (int)rules->stage.chunks,
                rules->stage.chunks == 1 ? "" : "s");
    report_open(r, "simulation", '{');
    report_json_count(r, "chunks", rules->stage.chunks);
    if (s->model == SIM_ALPHA_BETA)
        report_line(r, ", dimensions innermost first%s\n",
                    rules->stage.chunks > 1 && topo_has_fabric(&s->net)
                        ? "; chunks pass the levels of a fabric one at a time"
                        : "");
    else if (s->model == SIM_CHUNK)
        report_chunk(r, s, d);
    else
        report_flow(r, s, d);
    report_close(r, '}');
}

/* ---- text: models side by side ---- */

/* By how much each model is above the first; what is rounding is nothing. */
static void say_differences(struct report *r, const struct simulation *x)
{
    double first_s = x->designs[0]->time_s;
    char above[SHOW];
    report_line(r, "above %s: ", sim_model_words[x->studies[0]->model]);
    for (int32_t i = 1; i < x->n; i++) {
        double share = (x->designs[i]->time_s - first_s) / first_s;
        report_line(r, "%s%s %s %%", i > 1 ? ", " : "", sim_model_words[x->studies[i]->model],
                    show_real(above, fabs(share) < 1e-12 ? 0 : 100 * share, 3));
    }
    report_line(r, "\n");
}

static void say_quantities(struct report *r, const struct simulation *x)
{
    struct page_account_view views[N_SIM_MODELS];
    for (int32_t i = 0; i < x->n; i++)
        views[i] = (struct page_account_view){ sim_model_words[x->studies[i]->model], &x->designs[i]->account,
                                               x->designs[i]->time_s, x->designs[i] };
    page_account_table(r, x->studies[x->n - 1],
                       x->studies[0]->n_workloads > 1 ? "where the time goes, weighted sum"
                                                      : "where the time goes",
                       views, x->n);
    if (x->n > 1)
        say_differences(r, x);
}

struct sim_dim {
    const char *dim, *shape;
    double bw_Bps, sent_B, valiant, busy_s, busy[N_SIM_MODELS];
};

#define DIM(field, words, kind, ...)                                                                         \
    COLUMN_AT(struct sim_dim, field, words, kind, NULL, .title = (words), __VA_ARGS__)

/* One model: bytes and seconds as well; several: how busy each dimension is under each. */
static void say_dims(struct report *r, const struct simulation *x)
{
    const struct design_point *s = x->studies[0];
    const struct design *d = x->designs[0];
    char heads[N_SIM_MODELS][TOPO_NAME], label[TOPO_DIM_LABEL];
    unsigned alone = x->n == 1 ? IN_TEXT : IN_NONE;
    struct column columns[7 + N_SIM_MODELS] = {
        DIM(dim, "dimension", TABLE_TEXT, .in = IN_TEXT),
        DIM(shape, "shape", TABLE_TEXT, .in = IN_TEXT),
        DIM(bw_Bps, "bandwidth", TABLE_REAL, .times = 1e-9, .as = "GB/s", .digits = 6),
        DIM(sent_B, "sent per NPU", TABLE_REAL, .in = alone, .times = 1e-9, .as = "GB"),
        DIM(valiant, "valiant", TABLE_REAL, .in = alone, .flags = COLUMN_IF_ANY, .times = 100, .as = "%",
            .digits = 3),
        DIM(busy_s, "busy", TABLE_REAL, .in = alone, .unit = "s", .show = COLUMN_FITTED),
    };
    for (int32_t k = 0; k < x->n; k++) {
        snprintf(heads[k], sizeof heads[k], x->n == 1 ? "busy" : "busy, %s",
                 sim_model_words[x->studies[k]->model]);
        columns[6 + k] =
            (struct column)DIM(busy[k], heads[k], TABLE_REAL, .times = 100, .as = "%", .digits = 3);
    }
    report_list(r, NULL, columns);
    for (int32_t i = 0; i < d->n_dims; i++) {
        struct sim_dim line = { s->net.dims[i].name,
                                topo_dim_label(label, &s->net.dims[i]),
                                d->bw_Bps[i],
                                explain_sent_B(s, d, i),
                                explain_valiant(s, d, i),
                                explain_busy_s(s, d, i),
                                { 0 } };
        for (int32_t k = 0; k < x->n; k++)
            line.busy[k] = x->designs[k]->util_frac[i];
        report_row(r, &line);
    }
    report_list_end(r);
}

static void say_simulation(struct report *r, const struct simulation *x)
{
    const struct design_point *s = x->studies[0];
    char word[TOPO_SPEC], n[SHOW];
    load_workload_names(&r->out, s);
    report_line(r, " on %s (%s NPUs)%s\n\n", load_network_name(word, &s->net), show_count(n, s->net.n_npus),
                x->first.solved ? ", bandwidths as weft alloc finds them" : "");
    say_quantities(r, x);
    report_line(r, "\n");
    say_dims(r, x);
    for (int32_t i = 0; i < x->n; i++)
        report_simulation(r, x->studies[i], x->designs[i]);
    for (int32_t i = 0; i < x->n; i++) {
        if (x->n > 1 && s->workloads[0].training)
            report_line(r, "\nmodel %s", sim_model_words[x->studies[i]->model]);
        page_training_text(r, x->studies[i], x->designs[i]);
    }
    if (isfinite(x->designs[0]->cost_usd))
        report_line(r, "\n%-18s%s USD\n", "cost", show_usd(n, x->designs[0]->cost_usd));
    load_say_range(r, s, x->designs[0]);
    page_system(r, s, x->designs[0], false);
}

/* ---- JSON: an object a model ---- */

static void report_by_dim(struct report *r, const char *key, const struct design_point *s,
                          const struct design *d,
                          double (*value)(const struct design_point *s, const struct design *d, int32_t dim))
{
    double list[TOPO_MAX_DIMS];
    for (int32_t i = 0; i < d->n_dims; i++)
        list[i] = value(s, d, i);
    report_reals(r, key, list, d->n_dims, 1);
}

static void report_model(struct report *r, const struct simulation *x, int32_t i)
{
    const struct design_point *s = x->studies[i];
    const struct design *d = x->designs[i];
    report_open(r, NULL, '{');
    report_json_word(r, "model", sim_model_words[s->model]);
    report_json_real(r, DESIGN_COLUMN(time_s), d->time_s);
    report_json_real(r, "above_first", x->n > 1 ? d->time_s / x->designs[0]->time_s - 1 : (double)NAN);
    page_account(r, &d->account, d->n_dims);
    page_system(r, s, d, false);
    report_reals(r, "utilization", d->util_frac, d->n_dims, 1);
    report_by_dim(r, "busy_s", s, d, explain_busy_s);
    report_by_dim(r, "traffic_B", s, d, explain_sent_B);
    bool drawn = false;
    for (int32_t k = 0; k < d->n_dims; k++)
        drawn = drawn || explain_valiant(s, d, k) > 0;
    if (drawn)
        report_by_dim(r, "valiant", s, d, explain_valiant);
    report_simulation(r, s, d);
    report_open(r, "workloads", '[');
    for (int32_t k = 0; k < d->n_loads; k++) {
        report_open(r, NULL, '{');
        page_load(r, s, d, k);
        page_step(r, s, d, k);
        page_training(r, s, d, k);
        report_close(r, '}');
    }
    report_close(r, ']');
    report_close(r, '}');
}

static void report_models(struct report *r, const struct simulation *x)
{
    const struct design_point *s = x->studies[0];
    const struct design *d = x->designs[0];
    struct text names = { 0 };
    char word[TOPO_SPEC];
    load_workload_names(&names, s);
    report_json_word(r, "network", load_network_name(word, &s->net));
    report_json_word(r, "workload", text_str(&names));
    load_report_dims(r, &s->net);
    report_reals(r, "bw_GBps", d->bw_Bps, d->n_dims, 1e9);
    report_json_real(r, DESIGN_COLUMN(cost_usd), d->cost_usd);
    report_json_real(r, "bill_usd_low", d->has_bill ? d->bill.usd.low : (double)NAN);
    report_json_real(r, "bill_usd_high", d->has_bill ? d->bill.usd.high : (double)NAN);
    report_json_real(r, DESIGN_COLUMN(nic_GBps), d->nic_Bps / 1e9);
    report_open(r, "models", '[');
    for (int32_t i = 0; i < x->n; i++)
        report_model(r, x, i);
    report_close(r, ']');
    text_free(&names);
}

/* ---- CSV: a row a model ---- */

/* Workloads of a study are all of models or none is; those of others may have a bubble and the like too. */
static bool has_training(const struct simulation *x)
{
    const struct account *a = &x->designs[0]->account;
    return x->studies[0]->workloads[0].training || a->recompute_s > 0 || a->bubble_s > 0 ||
           a->optimizer_s > 0 || a->overhead_s > 0;
}

static int sim_table(const struct simulation *x, struct table *t, struct err *e)
{
    static const char *const texts[] = { "network", "workload", "model" };
    static const char *const reals[] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN(compute_s),
                                         DESIGN_COLUMN(comm_s), "latency_s", DESIGN_COLUMN(cost_usd) };
    static const char *const per_dim[] = { "bw%d_GBps", "util%d", "exposed%d_s", "valiant%d" };
    char name[32], word[TOPO_SPEC];
    int32_t n_dims = x->studies[0]->net.n_dims;
    struct text names = { 0 };
    int rc = 0;
    load_workload_names(&names, x->studies[0]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        table_column(t, texts[i], TABLE_TEXT);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        table_column(t, reals[i], TABLE_REAL);
    for (size_t i = 0; i < sizeof per_dim / sizeof *per_dim; i++)
        for (int32_t d = 0; d < n_dims; d++) {
            snprintf(name, sizeof name, per_dim[i], (int)d + 1);
            table_column(t, name, TABLE_REAL);
        }
    bool trains = has_training(x);
    struct columns training = { 0 }, owned = { 0 };
    rc = column_choose(&training, training_columns, &(struct column_choice){ .hidden = false }, e);
    if (trains)
        columns_put(t, &training);
    if (!rc)
        rc = column_choose(&owned, system_columns, &(struct column_choice){ .hidden = false }, e);
    if (x->studies[0]->has_system)
        columns_put(t, &owned);
    study_find_better(t, study_kinds[0], TABLE_ROWS);
    for (int32_t i = 0; i < x->n; i++) {
        const struct design *d = x->designs[i];
        double valiant[TOPO_MAX_DIMS];
        const double *lists[] = { d->bw_Bps, d->util_frac, d->account.dim_s, valiant };
        for (int32_t m = 0; m < n_dims; m++)
            valiant[m] = explain_valiant(x->studies[i], d, m);
        struct training_row row;
        struct system_row system;
        if (!rc)
            rc = design_training_row_fill(&row, d, e);
        if (!rc)
            rc = system_row_fill(&system, x->studies[i], design_owned(d), e);
        table_row(t);
        table_put_text(t, load_network_name(word, &x->studies[i]->net));
        table_put_text(t, text_str(&names));
        table_put_text(t, sim_model_words[x->studies[i]->model]);
        const double values[] = { d->time_s, d->account.compute_s, d->account.comm_s, d->account.latency_s,
                                  d->cost_usd };
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            table_put_real(t, values[k]);
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
            for (int32_t m = 0; m < n_dims; m++)
                table_put_real(t, lists[k][m] * (k == 0 ? 1e-9 : 1));
        if (trains)
            row_put(t, &training, &row);
        if (x->studies[0]->has_system)
            row_put(t, &owned, &system);
    }
    columns_free(&owned);
    columns_free(&training);
    text_free(&names);
    return rc ? rc : study_trim(t, design_columns, e);
}

static int write_simulation(const struct run *run, const struct simulation *x, struct err *e)
{
    struct report r = { 0 };
    struct origin from = output_origin(x->first.study);
    int rc = 0;
    for (int32_t i = 0; i < x->n && !from.semantics; i++)
        from.semantics = design_point_semantics(x->studies[i]);
    output_begin(&r, run, from);
    if (report_is(&r, IN_TEXT))
        say_simulation(&r, x);
    else if (report_is(&r, IN_JSON))
        report_models(&r, x);
    else
        rc = sim_table(x, &r.table, e);
    if (!rc)
        rc = output_report(&r, run, from, e);
    report_free(&r);
    return rc;
}

/*
 * The timeline of a step as a file (sim/timeline.h): a trace for Chrome and Perfetto, with a process for each
 * stage and class of NPUs and a row for compute, host and each class of links, and arrows from stage to stage
 * of a chunk; or a table for weft plot, a row a bar.
 */

/* One workload's timeline with what its bars refer to. */
struct story {
    const struct design_point *study;
    const struct step_tree *tree;
    struct timeline timeline;
};

static const char *extension(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : "";
}

/* .json or .csv? Asked before long work. */
static int cmd_timeline_check(const char *path, struct err *e)
{
    if (strcasecmp(extension(path), "json") != 0 && strcasecmp(extension(path), "csv") != 0)
        return err_set(e, ERR_USAGE,
                       "option --timeline is \"%.200s\", expected a name ending in .json or .csv", path);
    return 0;
}

/* What reports call the work of a bar. */
static const char *bar_name(const struct story *x, const struct timeline_bar *b)
{
    const struct step_node *node = &x->tree->nodes[b->node];
    if (b->events > 1)
        return "folded";
    if (node->name[0])
        return node->name;
    return b->dim < 0 ? "compute" : collective_names[node->collective];
}

static const char *lane_name(const struct story *x, const struct timeline_bar *b)
{
    return b->dim == TIMELINE_COMPUTE ? "compute"
           : b->dim == TIMELINE_HOST  ? "host"
                                      : x->study->net.dims[b->dim].name;
}

static void run_name(struct text *out, const struct story *x, const struct timeline_run *run)
{
    text_printf(out, "%s%s", x->tree->name, x->tree->name[0] ? ", " : "");
    if (x->study->model == SIM_CHUNK)
        text_printf(out, "%s order%s", sim_order_words[run->order],
                    run->chosen && x->timeline.n_runs > 1 ? " (chosen)" : "");
    else
        text_printf(out, "model %s", sim_model_words[x->study->model]);
}

/* ---- trace events ---- */

/* Rows of the viewer, which sorts them by name: lanes with their slots. */
enum { SLOTS = 2000 };

static int row_id(const struct timeline_bar *b)
{
    return b->lane * SLOTS + (b->slot < SLOTS ? b->slot : SLOTS - 1);
}

/* A process per run, stage and class of NPUs. */
static int64_t process_id(const struct story *x, const struct timeline_bar *b, int32_t story)
{
    int64_t of = ((int64_t)story * TIMELINE_MAX_RUNS + b->run) * x->timeline.n_stages + b->stage;
    return of * 1000000 + b->cell + 1;
}

static void open_event(struct json *j, const char *phase, const char *name, int64_t pid, int row)
{
    /* A line an event: traces of millions of them stay fit for line tools. */
    text_puts(j->out, "\n");
    json_open(j, NULL, '{');
    json_text(j, "ph", phase);
    json_text(j, "name", name);
    json_count(j, "pid", pid);
    json_count(j, "tid", row);
}

static void put_name(struct json *j, const char *what, int64_t pid, int row, const char *name)
{
    open_event(j, "M", what, pid, row);
    json_open(j, "args", '{');
    json_text(j, "name", name);
    json_close(j, '}');
    json_close(j, '}');
}

static void put_row_name(struct json *j, const struct story *x, const struct timeline_bar *b, int64_t pid)
{
    char label[TOPO_DIM_LABEL];
    struct text name = { 0 };
    text_printf(&name, "%d %s", (int)b->lane, lane_name(x, b));
    if (b->dim >= 0)
        text_printf(&name, " %s", topo_dim_label(label, &x->study->net.dims[b->dim]));
    if (b->slot > 0)
        text_printf(&name, ", beside %d", (int)b->slot);
    put_name(j, "thread_name", pid, row_id(b), text_str(&name));
    text_free(&name);
}

static void put_bar(struct json *j, const struct story *x, const struct timeline_bar *b, int64_t pid)
{
    open_event(j, "X", bar_name(x, b), pid, row_id(b));
    json_real(j, "ts", b->start_s * 1e6);
    json_real(j, "dur", (b->end_s - b->start_s) * 1e6);
    if (b->chunk >= 0)
        json_text(j, "cat", pass_names[b->pass]);
    if (b->dim >= 0 || b->events > 1) {
        json_open(j, "args", '{');
        if (b->events > 1)
            json_real(j, "events", b->events);
        if (b->job >= 0)
            json_count(j, "collective", b->job);
        if (b->chunk >= 0) {
            json_text(j, "pass", pass_names[b->pass]);
            json_count(j, "chunk", b->chunk);
            json_real(j, "waited_us", (b->start_s - b->ready_s) * 1e6);
        }
        json_real(j, "bytes", b->bytes);
        json_real(j, "busy_us", b->busy_s * 1e6);
        json_close(j, '}');
    }
    json_close(j, '}');
}

/* Stages of a chunk, each once. */
static bool has_arrow(const struct timeline_bar *b)
{
    return b->chunk >= 0 && b->lead;
}

/* An arrow from stage to stage of one chunk: it starts, goes on and ends inside bars. */
static void put_arrow(struct json *j, const struct timeline_bar *b, int64_t pid, int64_t id, bool first,
                      bool last)
{
    /* A chunk with one bar has nowhere to lead to. */
    if (first && last)
        return;
    open_event(j, first ? "s" : last ? "f" : "t", "chunk", pid, row_id(b));
    json_text(j, "cat", "chunk");
    json_count(j, "id", id);
    if (last)
        json_text(j, "bp", "e");
    json_real(j, "ts", b->start_s * 1e6);
    json_close(j, '}');
}

/* Identity of the chunk that a bar serves, in its run and class of NPUs. */
static int64_t chunk_id(const struct story *x, const struct timeline_bar *b)
{
    return (((int64_t)b->run * TIMELINE_MAX_BARS + b->job) * x->study->rules.stage.chunks + b->chunk) *
               CELLS_MAX +
           b->cell;
}

/* The first bar of the same chunk, itself if there was none so far; -1: no memory. */
static int32_t first_of_chunk(struct hash *firsts, const struct story *x, int32_t bar)
{
    int64_t id = chunk_id(x, &x->timeline.bars[bar]);
    hash_each (first, firsts, hash_finish((uint64_t)id))
        if (chunk_id(x, &x->timeline.bars[first]) == id)
            return first;
    return hash_add(firsts, hash_finish((uint64_t)id), bar) ? bar : -1;
}

/* Bars are in order of time: the first and the last that come along of a chunk are its ends. O(bars). */
static int put_arrows(struct json *j, const struct story *x, int32_t story, struct err *e)
{
    const struct timeline *t = &x->timeline;
    struct hash firsts = { 0 };
    struct arena own = { 0 };
    int32_t *first = ARENA_TAKE(&own, t->n_bars, *first), *left = ARENA_TAKE(&own, t->n_bars, *left);
    bool ok = !own.failed;
    for (int32_t i = 0; i < t->n_bars && ok; i++) {
        if (!has_arrow(&t->bars[i]))
            continue;
        first[i] = first_of_chunk(&firsts, x, i);
        ok = first[i] >= 0;
        if (ok)
            left[first[i]]++;
    }
    for (int32_t i = 0; i < t->n_bars && ok; i++) {
        const struct timeline_bar *b = &t->bars[i];
        if (!has_arrow(b))
            continue;
        /* Identities of different workloads must differ, or a viewer would join their arrows. */
        put_arrow(j, b, process_id(x, b, story), chunk_id(x, b) + (int64_t)story * INT64_C(1000000007),
                  first[i] == i, --left[first[i]] == 0);
    }
    hash_free(&firsts);
    arena_free(&own);
    return ok ? 0 : err_nomem(e, "a timeline");
}

/* A row of the viewer: of a process, named once. */
struct viewer_row {
    int64_t pid;
    int row;
    int32_t bar; /* one of its bars */
};

static int compare_keys(const void *a, const void *b)
{
    const struct viewer_row *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static void put_process_name(struct json *j, const struct story *x, const struct timeline_bar *b, int64_t pid)
{
    struct text name = { 0 };
    run_name(&name, x, &x->timeline.runs[b->run]);
    if (x->timeline.n_stages > 1)
        text_printf(&name, ", %s", x->timeline.stages[b->stage]);
    if (b->cell > 0)
        text_printf(&name, ", NPU class %d", (int)b->cell);
    put_name(j, "process_name", pid, 0, text_str(&name));
    text_free(&name);
}

/* Names of processes and rows, once each, in their order. Viewers take names from anywhere in the file; they
 * come first so that a cut file still has them. */
static int put_names(struct json *j, const struct story *x, int32_t story, struct err *e)
{
    const struct timeline *t = &x->timeline;
    struct viewer_row *rows = calloc((size_t)t->n_bars + 1, sizeof *rows);
    if (!rows)
        return err_nomem(e, "a timeline");
    for (int32_t i = 0; i < t->n_bars; i++)
        rows[i] = (struct viewer_row){ process_id(x, &t->bars[i], story), row_id(&t->bars[i]), i };
    if (t->n_bars > 0)
        qsort(rows, (size_t)t->n_bars, sizeof *rows, compare_keys);
    for (int32_t i = 0; i < t->n_bars; i++) {
        const struct timeline_bar *b = &t->bars[rows[i].bar];
        if (i == 0 || rows[i].pid != rows[i - 1].pid)
            put_process_name(j, x, b, rows[i].pid);
        if (i == 0 || compare_keys(&rows[i], &rows[i - 1]) != 0)
            put_row_name(j, x, b, rows[i].pid);
    }
    free(rows);
    return 0;
}

static int put_story(struct json *j, const struct story *x, int32_t story, struct err *e)
{
    const struct timeline *t = &x->timeline;
    int rc = put_names(j, x, story, e);
    for (int32_t i = 0; i < t->n_bars && !rc; i++)
        put_bar(j, x, &t->bars[i], process_id(x, &t->bars[i], story));
    return rc ? rc : put_arrows(j, x, story, e);
}

static int write_trace(const struct run *run, const struct story *stories, int32_t n, const char *path,
                       struct err *e)
{
    struct text out = { 0 };
    struct json j = { .out = &out };
    int rc = 0;
    json_open(&j, NULL, '{');
    json_text(&j, "displayTimeUnit", "ns");
    json_open(&j, "otherData", '{');
    output_json_head(&j, run, output_origin(stories[0].study));
    json_close(&j, '}');
    json_open(&j, "traceEvents", '[');
    for (int32_t i = 0; i < n && !rc; i++)
        rc = put_story(&j, &stories[i], i, e);
    json_close(&j, ']');
    json_close(&j, '}');
    text_puts(&out, "\n");
    if (!rc)
        rc = text_check(&out, e);
    if (!rc)
        rc = output_file(run, path, &out, e);
    text_free(&out);
    return rc;
}

/* ---- table ---- */

/* A bar; what its kind does not have is blank. */
struct timeline_row {
    const char *workload, *stage, *row, *name;
    enum sim_model model;
    struct timeline_run run;
    struct timeline_bar bar;
    int32_t dim, pass; /* dim: from 1, 0 of none; pass: -1 of none */
    double util;
};

#define ROW(kind, field, called)                                                                             \
    COLUMN_AT(struct timeline_row, field, called, TABLE_##kind, NULL, .in = IN_CSV)
#define ROW_WORD(field, called, list, ...)                                                                   \
    COLUMN_AT(struct timeline_row, field, called, TABLE_COUNT, NULL, .in = IN_CSV, .words = (list),          \
              __VA_ARGS__)
#define ROW_FLAG(field, called)                                                                              \
    COLUMN_AT(struct timeline_row, field, called, TABLE_COUNT, NULL, .in = IN_CSV, .show = COLUMN_YES_NO)
static const struct column row_columns[] = {
    ROW(TEXT, workload, "workload"),
    ROW_WORD(model, "model", sim_model_words, .flags = 0),
    ROW_WORD(run.order, "order", sim_order_words, .flags = 0),
    ROW_FLAG(run.chosen, "chosen"),
    ROW(REAL, run.time_s, "time_s"),
    ROW(COUNT, bar.lane, "lane"),
    ROW(TEXT, stage, "stage"),
    ROW(TEXT, row, "row"),
    ROW(COUNT, dim, "dim"),
    ROW(REAL, util, "util"),
    ROW(COUNT, bar.cell, "npu_class"),
    ROW(COUNT, bar.slot, "slot"),
    ROW(TEXT, name, "name"),
    ROW(COUNT, bar.job, "collective"),
    ROW(COUNT, bar.chunk, "chunk"),
    ROW_WORD(pass, "pass", pass_names, .flags = COLUMN_EMPTY),
    ROW(REAL, bar.events, "events"),
    ROW(REAL, bar.bytes, "bytes"),
    ROW(REAL, bar.busy_s, "busy_s"),
    ROW_FLAG(bar.counts, "counts"),
    ROW(REAL, bar.ready_s, "ready_s"),
    ROW(REAL, bar.start_s, "start_s"),
    ROW(REAL, bar.end_s, "end_s"),
    COLUMNS_END,
};

static void put_bar_row(struct report *r, const struct story *x, const struct timeline_bar *b)
{
    struct timeline_row row = { .workload = x->tree->name,
                                .stage = x->timeline.stages[b->stage],
                                .row = lane_name(x, b),
                                .name = bar_name(x, b),
                                .model = x->study->model,
                                .run = x->timeline.runs[b->run],
                                .bar = *b,
                                .dim = b->dim < 0 ? 0 : b->dim + 1,
                                .pass = b->chunk < 0 ? -1 : (int32_t)b->pass };
    row.util = b->dim < 0 ? (double)NAN : row.run.util_frac[b->dim];
    row.bar.bytes = b->dim < 0 ? (double)NAN : b->bytes;
    report_row(r, &row);
}

static void put_bar_rows(struct report *r, const struct story *stories, int32_t n)
{
    report_list(r, NULL, row_columns);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < stories[i].timeline.n_bars; k++)
            put_bar_row(r, &stories[i], &stories[i].timeline.bars[k]);
    report_list_end(r);
}

static int write_table(const struct run *run, const struct story *stories, int32_t n, const char *path,
                       struct err *e)
{
    struct report r = { .format = TABLE_AS_CSV };
    put_bar_rows(&r, stories, n);
    return output_report_to(&r, run, path, output_origin(stories[0].study), e);
}

/* ---- both ---- */

/* How much of a timeline is folded; once for all runs. */
static void say_folded(struct run *run, const struct story *x)
{
    double n_folded = 0;
    int32_t n_drawn = 0;
    char a[SHOW], b[SHOW];
    for (int32_t i = 0; i < x->timeline.n_runs; i++) {
        n_folded += x->timeline.runs[i].n_folded;
        if (x->timeline.runs[i].n_folded > 0)
            n_drawn = x->timeline.runs[i].n_drawn;
    }
    if (n_folded > 0)
        output_warn(
            run,
            "timeline of %s: of each repeat the first %d are drawn; %s further intervals are folded into one "
            "bar a lane, of %s bars in all",
            x->tree->name[0] ? x->tree->name : "the step", (int)n_drawn, show_count(a, (int64_t)n_folded),
            show_count(b, x->timeline.n_bars));
}

/* Shape [n_workloads], to be freed by free_stories(), also after a failure. Errors as timeline_build(). */
static int build_stories(struct story **out, const struct design_point *s, const struct design *d,
                         struct err *e)
{
    const struct sim_way way = design_point_way(s, d->bw_Bps);
    struct story *stories = *out = calloc((size_t)s->n_workloads + 1, sizeof *stories);
    int rc = stories ? 0 : err_nomem(e, "a timeline");
    for (int32_t i = 0; i < s->n_workloads && !rc; i++) {
        stories[i] = (struct story){ .study = s, .tree = &s->workloads[i].tree };
        rc = timeline_build(&stories[i].timeline, stories[i].tree, &way, e);
    }
    return rc;
}

static void free_stories(struct story *stories, const struct design_point *s)
{
    for (int32_t i = 0; stories && i < s->n_workloads; i++)
        timeline_free(&stories[i].timeline);
    free(stories);
}

int cmd_timeline_table(struct table *out, const struct design_point *s, const struct design *d, struct err *e)
{
    struct report r = { .format = TABLE_AS_CSV };
    struct story *stories;
    int rc = build_stories(&stories, s, d, e);
    if (!rc)
        put_bar_rows(&r, stories, s->n_workloads);
    *out = r.table;
    r.table = (struct table){ 0 };
    report_free(&r);
    free_stories(stories, s);
    return rc ? rc : out->failed ? err_nomem(e, "a timeline") : table_find_numbers(out, e);
}

/* What is folded is said. Errors as timeline_build() and output_file(). */
static int cmd_timeline_write(struct run *run, const struct design_point *s, const struct design *d,
                              const char *path, struct err *e)
{
    struct story *stories;
    bool trace = strcasecmp(extension(path), "json") == 0;
    int rc = build_stories(&stories, s, d, e);
    if (!rc)
        rc = (trace ? write_trace : write_table)(run, stories, s->n_workloads, path, e);
    for (int32_t i = 0; !rc && i < s->n_workloads; i++)
        say_folded(run, &stories[i]);
    free_stories(stories, s);
    return rc;
}

/* ---- other files ---- */

static int put_links_of(struct report *r, const struct design_point *s, const struct design_workload *w,
                        const double *bw_Bps, struct err *e)
{
    struct sim_rules rules = s->rules;
    struct sim_way way = design_point_way(s, bw_Bps);
    struct sim_step step;
    /* Only now: a record of every link is more than the step itself needs. */
    rules.keep_links = true;
    way.rules = &rules;
    int rc = sim_step_build(&step, &w->tree, &way, e);
    if (rc)
        return rc;
    for (int64_t a = 0; step.links.all && a < step.links.n_arcs; a++)
        put_link(r, s, w->tree.name, &step.links.all[a]);
    sim_step_free(&step);
    return 0;
}

/* Every workload, simulated once more at the bandwidths of the design: a row per direction of every link. */
static int sim_links_write(struct run *run, const struct design_point *s, const struct design *d,
                           const char *path, struct err *e)
{
    struct report r = { .format = TABLE_AS_CSV };
    int rc = 0;
    report_list(&r, NULL, link_columns);
    for (int32_t i = 0; i < s->n_workloads && !rc; i++)
        rc = put_links_of(&r, s, &s->workloads[i], d->bw_Bps, e);
    report_list_end(&r);
    if (!rc)
        rc = output_report_to(&r, run, path, output_origin(s), e);
    report_free(&r);
    return rc;
}

/* check_model() has seen that one of the models has the file; one that cannot simulate the step is left out.
 */
static int write_extra(struct run *run, const struct simulation *x, enum sim_model model, const char *path,
                       int (*write)(struct run *run, const struct design_point *s, const struct design *d,
                                    const char *path, struct err *e),
                       struct err *e)
{
    if (!path)
        return 0;
    for (int32_t i = 0; i < x->n; i++)
        if (x->studies[i]->model == model)
            return write(run, x->studies[i], x->designs[i], path, e);
    return err_set(e, ERR_RANGE, "%s is not written: model %s is left out", path, sim_model_words[model]);
}

static int write_extras(struct run *run, const struct simulation *x, struct err *e)
{
    /* Of all models side by side chunk says most over time. */
    enum sim_model drawn = x->n > 1 ? SIM_CHUNK : x->studies[0]->model;
    int rc = write_extra(run, x, drawn, run->opt.timeline, cmd_timeline_write, e);
    return rc ? rc : write_extra(run, x, SIM_FLOW, run->opt.links, sim_links_write, e);
}

static int run_sim(struct run *run, struct err *e)
{
    const struct extra files[] = { { "timeline", run->opt.timeline, false, ".json .csv" },
                                   { "links", run->opt.links, false, NULL } };
    struct simulation x;
    int rc = run->opt.timeline ? cmd_timeline_check(run->opt.timeline, e) : 0;
    if (!rc)
        rc = extra_check(run, files, sizeof files / sizeof files[0], e);
    if (rc)
        return rc;
    rc = simulate(&x, run, e);
    /* Files before the report, as in weft topo: if one cannot be written, nothing is reported. */
    if (!rc && x.n > 0)
        rc = write_extras(run, &x, e);
    if (!rc)
        rc = x.n > 0 ? write_simulation(run, &x, e) : load_write_status(run, &x.first, e);
    if (!rc && x.n > 0)
        page_say_memory(run, x.studies[0]);
    simulation_free(&x);
    return rc;
}

const struct command cmd_sim = {
    .group = "One design",
    .name = "sim",
    .help = "time of a training step at given bandwidths",
    .about = "Time a training step on the network of STUDY, whose dimensions all have bw_GBps (or with\n"
             "--split, at the bandwidths that weft alloc chooses): in closed form, or simulated.\n",
    .scope =
        SCOPE(1, 1, "STUDY", &sim_options, &options_study, &options_search, &options_format, &options_files),
    .run = run_sim,
};
