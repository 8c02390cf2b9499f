/*
 * weft sim: the time of a step at one or all fidelities, its waterfall, its timeline as a file, the load of
 * every link. What a model's step consists of is in cli/training.c.
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

#include "cli/account.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/system.h"
#include "cli/timeline.h"
#include "cli/training.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/explain.h"
#include "kinds/design/ask/load.h"
#include "study/study.h"
#include "sim/step.h"

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
    struct {
        struct design_point study;
        struct design design;
    } others[N_SIM_MODELS]; /* shape [n_others] */
    int32_t n_others;
    const struct design_point *studies[N_SIM_MODELS]; /* shape [n]; what the designs are of */
    const struct design *designs[N_SIM_MODELS];
    int32_t n;
};

static void simulation_free(struct simulation *x)
{
    for (int32_t i = 0; i < x->n_others; i++) {
        design_free(&x->others[i].design);
        design_point_free(&x->others[i].study);
    }
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
    struct design_point *s = &x->others[x->n_others].study;
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
    int rc = overrides_read(&o, run, e);
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

/* What a model ran under; NULL: it has none of it. */
struct rule_facts {
    int64_t chunks;
    const char *semantics, *queue, *order, *route, *graph;
};

#define RULE(kind, field) COLUMN_##kind(struct rule_facts, field, NULL, .in = IN_JSON)
static const struct column chunk_count[] = { RULE(COUNT, chunks), COLUMNS_END };
static const struct column chunk_columns[] = { RULE(WORD, semantics), RULE(WORD, queue), RULE(WORD, order),
                                               COLUMNS_END };
static const struct column flow_columns[] = { RULE(WORD, route), RULE(WORD, graph), COLUMNS_END };

static void report_chunk(struct report *r, const struct design_point *s, const struct design *d)
{
    const struct sim_rules *rules = &s->rules;
    int64_t used[N_SIM_ORDERS];
    const char *joint = ": ",
               *words = sim_semantics_words[sim_is_astra(rules) ? rules->semantics : SIM_PHYSICAL];
    count_orders(used, d);
    report_facts(r, chunk_columns,
                 &(struct rule_facts){ .semantics = words,
                                       .queue = sim_queue_words[rules->queue],
                                       .order = sim_order_words[rules->order] });
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
    report_facts(r, flow_columns,
                 &(struct rule_facts){ .route = sim_route_words[rules->route],
                                       .graph = rules->graph[0] ? rules->graph : NULL });
    report_line(r, " on %s%s, routes %s", rules->graph[0] ? "the graph " : "the links of the network",
                rules->graph, sim_route_words[rules->route]);
    report_line(r, "; dimensions %s%s\n",
                rules->order == SIM_ORDER_GIVEN ? "in the order given" : "innermost first",
                rules->n_links || rules->n_slow ? "; some links failed or slow" : "");
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
    report_facts(r, chunk_count, &(struct rule_facts){ .chunks = rules->stage.chunks });
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
    struct account_view views[N_SIM_MODELS];
    for (int32_t i = 0; i < x->n; i++)
        views[i] = (struct account_view){ sim_model_words[x->studies[i]->model], &x->designs[i]->account,
                                          x->designs[i]->time_s, x->designs[i] };
    account_table(r, x->studies[x->n - 1],
                  x->studies[0]->n_workloads > 1 ? "where the time goes, weighted sum"
                                                 : "where the time goes",
                  views, x->n);
    if (x->n > 1)
        say_differences(r, x);
}

struct sim_dim {
    const char *dim, *shape;
    double bw_Bps, sent_B, busy_s, busy[N_SIM_MODELS];
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
    struct column columns[6 + N_SIM_MODELS] = {
        DIM(dim, "dimension", TABLE_TEXT, .in = IN_TEXT),
        DIM(shape, "shape", TABLE_TEXT, .in = IN_TEXT),
        DIM(bw_Bps, "bandwidth", TABLE_REAL, .times = 1e-9, .as = "GB/s", .digits = 6),
        DIM(sent_B, "sent per NPU", TABLE_REAL, .in = alone, .times = 1e-9, .as = "GB"),
        DIM(busy_s, "busy", TABLE_REAL, .in = alone, .unit = "s", .show = COLUMN_FITTED),
    };
    for (int32_t k = 0; k < x->n; k++) {
        snprintf(heads[k], sizeof heads[k], x->n == 1 ? "busy" : "busy, %s",
                 sim_model_words[x->studies[k]->model]);
        columns[5 + k] =
            (struct column)DIM(busy[k], heads[k], TABLE_REAL, .times = 100, .as = "%", .digits = 3);
    }
    report_list(r, NULL, columns);
    for (int32_t i = 0; i < d->n_dims; i++) {
        struct sim_dim line = { s->net.dims[i].name,
                                topo_dim_label(label, &s->net.dims[i]),
                                d->bw_Bps[i],
                                explain_sent_B(s, d, i),
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
        training_report_text(r, x->studies[i], x->designs[i]);
    }
    if (isfinite(x->designs[0]->cost_usd))
        report_line(r, "\n%-18s%s USD\n", "cost", show_usd(n, x->designs[0]->cost_usd));
    load_say_range(r, s, x->designs[0]);
    system_report(r, s, x->designs[0], false);
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

struct model_facts {
    const char *model;
    double time_s, above_first;
};

#define MODEL(kind, field) COLUMN_##kind(struct model_facts, field, NULL, .in = IN_JSON)
static const struct column model_columns[] = { MODEL(WORD, model), MODEL(REAL, time_s),
                                               MODEL(REAL, above_first), COLUMNS_END };

static void report_model(struct report *r, const struct simulation *x, int32_t i)
{
    const struct design_point *s = x->studies[i];
    const struct design *d = x->designs[i];
    report_open(r, NULL, '{');
    report_facts(
        r, model_columns,
        &(struct model_facts){ .model = sim_model_words[s->model],
                               .time_s = d->time_s,
                               .above_first = x->n > 1 ? d->time_s / x->designs[0]->time_s - 1 : NAN });
    account_report(r, &d->account, d->n_dims);
    system_report(r, s, d, false);
    report_reals(r, "utilization", d->util_frac, d->n_dims, 1);
    report_by_dim(r, "busy_s", s, d, explain_busy_s);
    report_by_dim(r, "traffic_B", s, d, explain_sent_B);
    report_simulation(r, s, d);
    report_open(r, "workloads", '[');
    for (int32_t k = 0; k < d->n_loads; k++) {
        report_open(r, NULL, '{');
        account_report_load(r, s, d, k);
        account_report_step(r, s, d, k);
        training_report_one(r, s, d, k);
        report_close(r, '}');
    }
    report_close(r, ']');
    report_close(r, '}');
}

struct sim_facts {
    const char *network, *workload;
    double cost_usd, bill_usd_low, bill_usd_high, nic_GBps;
};

#define SIM(kind, field) COLUMN_##kind(struct sim_facts, field, NULL, .in = IN_JSON)
static const struct column name_columns[] = { SIM(WORD, network), SIM(WORD, workload), COLUMNS_END };
static const struct column cost_columns[] = { SIM(REAL, cost_usd), SIM(REAL, bill_usd_low),
                                              SIM(REAL, bill_usd_high), SIM(REAL, nic_GBps), COLUMNS_END };

static void report_models(struct report *r, const struct simulation *x)
{
    const struct design_point *s = x->studies[0];
    const struct design *d = x->designs[0];
    struct text names = { 0 };
    char word[TOPO_SPEC];
    load_workload_names(&names, s);
    const struct sim_facts facts = { load_network_name(word, &s->net),
                                     text_str(&names),
                                     d->cost_usd,
                                     d->has_bill ? d->bill.usd.low : NAN,
                                     d->has_bill ? d->bill.usd.high : NAN,
                                     d->nic_Bps / 1e9 };
    report_facts(r, name_columns, &facts);
    load_report_dims(r, &s->net);
    report_reals(r, "bw_GBps", d->bw_Bps, d->n_dims, 1e9);
    report_facts(r, cost_columns, &facts);
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
    static const char *const per_dim[] = { "bw%d_GBps", "util%d", "exposed%d_s" };
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
        const double *lists[] = { d->bw_Bps, d->util_frac, d->account.dim_s };
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
    return rc ? rc : study_trim(t, training_columns, e);
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
    int rc = write_extra(run, x, drawn, run->opt.timeline, timeline_write, e);
    return rc ? rc : write_extra(run, x, SIM_FLOW, run->opt.links, sim_links_write, e);
}

static int run_sim(struct run *run, struct err *e)
{
    const struct extra files[] = { { "timeline", run->opt.timeline, false, ".json .csv" },
                                   { "links", run->opt.links, false, NULL } };
    struct simulation x;
    int rc = run->opt.timeline ? timeline_check(run->opt.timeline, e) : 0;
    if (!rc)
        rc = extra_check(run, files, sizeof files / sizeof files[0], e);
    if (rc)
        return rc;
    rc = simulate(&x, run, e);
    /* Files before the report, as in weft topo: if one cannot be written, nothing is reported. */
    if (!rc && x.n > 0)
        rc = write_extras(run, &x, e);
    if (!rc)
        rc = x.n > 0 ? write_simulation(run, &x, e) : load_write_status(run, &x.first, false, e);
    if (!rc && x.n > 0)
        training_say_memory(run, x.studies[0]);
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
