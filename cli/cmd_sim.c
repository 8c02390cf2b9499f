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
    { .name = "model",
      .value = "MODEL",
      .help = "bandwidth, alpha-beta (latency, chunks), chunk, flow (simulated), or all side by side "
              "(default: the study's)",
      .kind = OPTION_WORD,
      .offset = offsetof(struct options, model),
      .words = model_words },
    { .name = "split",
      .help = "solve the split first, as weft alloc does",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, split) },
    { .name = "timeline",
      .value = "FILE",
      .help =
          "write a timeline to FILE, .json for Chrome and Perfetto, .csv for weft plot (with model all: of "
          "chunk)",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, timeline) },
    { .name = "links",
      .value = "FILE",
      .help = "model flow: write what each direction of every link carries to FILE, as CSV",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, links) },
};

static const struct option_group sim_options = { "Simulation", sim_rows, sizeof sim_rows / sizeof *sim_rows };

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
        study_free(&x->others[i].study);
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
    unsigned needs = STUDY_NEEDS_WORKLOAD | (x->first.solved ? STUDY_FOR_SPLIT : 0U);
    int rc = overrides_read(&o, run, e);
    if (!rc)
        rc = overrides_add(&o, "model", sim_model_words[model], e);
    if (!rc)
        rc = study_load(s, run->opt.operands[0], o.list, o.n, needs, e);
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
    study_free(s);
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
        int rc = study_load(&probe, opt->operands[0], o->list, o->n, STUDY_NEEDS_NETWORK, e);
        model = (int)probe.model;
        study_free(&probe);
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
        rc = load_design(&x->first, run, &o, run->opt.split ? LOAD_SOLVED : LOAD_GIVEN, STUDY_NEEDS_WORKLOAD,
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

/* The hottest links of one workload: rows of a table each in text, of one list in JSON. */
static void report_hottest(struct report *r, const struct design_point *s, const struct fidelity_links *l,
                           int32_t load)
{
    static const struct report_column columns[] = {
        { IN_JSON, .key = "workload" },
        { IN_TEXT | IN_JSON, .key = "link", .title = "link" },
        { IN_TEXT | IN_JSON, .key = "dim", .title = "dimension" },
        { IN_JSON, .key = "bw_GBps" },
        { IN_TEXT, .title = "bandwidth", .unit = "GB/s", .show = 6 },
        { IN_TEXT | IN_JSON, .key = "sent_B", .title = "sent", .unit = "GB", .show = 5, .per = 1e9 },
        { IN_TEXT | IN_JSON, .key = "utilization", .title = "in use", .unit = "%", .show = 3, .times = 100 },
    };
    report_rows(r, columns, REPORT_COLUMNS(columns));
    for (int32_t k = 0; k < l->n_hot; k++) {
        const struct fidelity_hot *hot = &l->hot[k];
        bool known = hot->dim >= 0 && hot->dim < s->net.n_dims;
        report_put_word(r, s->workloads[load].tree.name);
        report_put_word(r, hot->name);
        report_put_word(r, known ? s->net.dims[hot->dim].name : NULL);
        report_put_real(r, hot->bw_Bps / 1e9);
        report_put_real(r, hot->bw_Bps / 1e9);
        report_put_real(r, hot->bytes);
        report_put_real(r, hot->util_frac);
    }
    report_table_end(r);
}

static void report_flow(struct report *r, const struct design_point *s, const struct design *d)
{
    const struct sim_rules *rules = &s->rules;
    report_json_word(r, "route", sim_route_words[rules->route]);
    report_json_word(r, "graph", rules->graph[0] ? rules->graph : NULL);
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
        report_line(r, study_semantics(s) ? "\nbandwidth:\n" : "");
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

/* One quantity under every model; value() takes a workload. */
static void put_quantity(struct report *r, const struct simulation *x, const char *name,
                         double (*value)(const struct design *d, int32_t i), int32_t i)
{
    report_put_word(r, name);
    for (int32_t k = 0; k < x->n; k++)
        report_put_real(r, value(x->designs[k], i));
    if (x->n == 1)
        report_put_none(r);
}

static double load_of(const struct design *d, int32_t load)
{
    return d->loads[load].time_s;
}

/* By how much each model is above the first [%]; what is rounding is nothing. */
static void put_differences(struct report *r, const struct simulation *x)
{
    double first_s = x->designs[0]->time_s;
    char above[SHOW];
    report_put_text(r, "above %s, %%", sim_model_words[x->studies[0]->model]);
    for (int32_t i = 0; i < x->n; i++) {
        double share = (x->designs[i]->time_s - first_s) / first_s;
        report_put_word(r, show_real(above, i ? (fabs(share) < 1e-12 ? 0 : 100 * share) : NAN, 3));
    }
}

static void say_quantities(struct report *r, const struct simulation *x)
{
    const struct design_point *s = x->studies[0];
    struct report_column columns[2 + N_SIM_MODELS] = {
        { IN_TEXT, .title = s->n_workloads > 1 ? "where the time goes, weighted sum" : "where the time goes" }
    };
    struct account_view views[N_SIM_MODELS];
    double most_s = 0, per_s;
    for (int32_t i = 0; i < x->n; i++)
        /* One unit for all columns, that of the longest. */
        if (isfinite(x->designs[i]->time_s))
            most_s = fmax(most_s, x->designs[i]->time_s);
    const char *unit = show_time_unit(most_s, &per_s);
    for (int32_t i = 0; i < x->n; i++)
        columns[1 + i] = (struct report_column){ IN_TEXT, .title = sim_model_words[x->studies[i]->model],
                                                 .unit = unit, .show = 6, .times = per_s };
    if (x->n == 1)
        columns[2] =
            (struct report_column){ IN_TEXT, .title = "share", .unit = "%", .show = 3, .times = 100 };
    report_table(r, NULL, columns, 1 + x->n + (x->n == 1));
    for (int32_t i = 0; i < x->n; i++)
        views[i] = (struct account_view){ &x->designs[i]->account, x->designs[i]->time_s };
    account_put_rows(r, x->studies[x->n - 1], views, x->n);
    for (int32_t i = 0; s->n_workloads > 1 && i < s->n_workloads; i++)
        put_quantity(r, x, s->workloads[i].tree.name, load_of, i);
    if (x->n > 1)
        put_differences(r, x);
    report_table_end(r);
}

/* Weighted sums over workloads, as those of the design. */
static double sum_traffic(const struct design_point *s, const struct design *d, int32_t dim)
{
    double sum = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        sum += s->workloads[i].weight * d->loads[i].step.traffic_B[dim];
    return sum;
}

static double sum_busy(const struct design_point *s, const struct design *d, int32_t dim)
{
    double sum = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        sum += s->workloads[i].weight * d->loads[i].step.busy_s[dim];
    return sum;
}

/* One model: bytes and seconds as well; several: how busy each dimension is under each. */
static void say_dims(struct report *r, const struct simulation *x)
{
    const struct design_point *s = x->studies[0];
    const struct design *d = x->designs[0];
    char heads[N_SIM_MODELS][TOPO_NAME], label[TOPO_DIM_LABEL];
    double per_s;
    const char *unit = show_time_unit(d->time_s, &per_s);
    unsigned alone = x->n == 1 ? IN_TEXT : 0;
    struct report_column columns[5 + N_SIM_MODELS] = {
        { IN_TEXT, .title = "dimension" },
        { IN_TEXT, .title = "shape" },
        { IN_TEXT, .title = "bandwidth", .unit = "GB/s", .show = 6, .per = 1e9 },
        { alone, .title = "sent per NPU", .unit = "GB", .show = 5, .per = 1e9 },
        { alone, .title = "busy", .unit = unit, .show = 5, .times = per_s },
    };
    for (int32_t k = 0; k < x->n; k++) {
        snprintf(heads[k], sizeof heads[k], x->n == 1 ? "busy" : "busy, %s",
                 sim_model_words[x->studies[k]->model]);
        columns[5 + k] =
            (struct report_column){ IN_TEXT, .title = heads[k], .unit = "%", .show = 3, .times = 100 };
    }
    report_table(r, NULL, columns, 5 + x->n);
    for (int32_t i = 0; i < d->n_dims; i++) {
        report_put_word(r, s->net.dims[i].name);
        report_put_text(r, "%s", topo_dim_label(label, &s->net.dims[i]));
        report_put_real(r, d->bw_Bps[i]);
        report_put_real(r, sum_traffic(s, d, i));
        report_put_real(r, sum_busy(s, d, i));
        for (int32_t k = 0; k < x->n; k++)
            report_put_real(r, x->designs[k]->util_frac[i]);
    }
    report_table_end(r);
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

static void report_model(struct report *r, const struct simulation *x, int32_t i)
{
    const struct design_point *s = x->studies[i];
    const struct design *d = x->designs[i];
    report_open(r, NULL, '{');
    report_json_word(r, "model", sim_model_words[s->model]);
    report_json_real(r, "time_s", d->time_s);
    report_json_real(r, "above_first", x->n > 1 ? d->time_s / x->designs[0]->time_s - 1 : NAN);
    account_report(r, &d->account, d->n_dims);
    system_report(r, s, d, false);
    report_reals(r, "utilization", d->util_frac, d->n_dims, 1);
    report_by_dim(r, "busy_s", s, d, sum_busy);
    report_by_dim(r, "traffic_B", s, d, sum_traffic);
    report_simulation(r, s, d);
    report_open(r, "workloads", '[');
    for (int32_t k = 0; k < d->n_loads; k++) {
        report_open(r, NULL, '{');
        report_json_word(r, "name", s->workloads[k].tree.name);
        report_json_real(r, "weight", s->workloads[k].weight);
        report_json_real(r, "time_s", d->loads[k].time_s);
        account_report_step(r, s, d, k);
        training_report_one(r, s, d, k);
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
    report_json_real(r, "cost_usd", d->cost_usd);
    load_report_range(r, d);
    report_json_real(r, "nic_GBps", d->nic_Bps / 1e9);
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
            rc = training_row_fill(&row, d, e);
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
        from.semantics = study_semantics(x->studies[i]);
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

static void put_link(struct table *t, const struct design_point *s, const char *workload,
                     const struct fidelity_hot *link)
{
    table_row(t);
    table_put_text(t, workload);
    table_put_text(t, link->name);
    if (link->dim >= 0 && link->dim < s->net.n_dims)
        table_put_text(t, s->net.dims[link->dim].name);
    else
        table_put_none(t);
    table_put_real(t, link->bw_Bps / 1e9);
    table_put_real(t, link->bytes);
    table_put_real(t, link->util_frac);
}

static int put_links_of(struct table *t, const struct design_point *s, const struct study_workload *w,
                        const double *bw_Bps, struct err *e)
{
    struct sim_rules rules = s->rules;
    struct sim_step step;
    /* Only now: a record of every link is more than the step itself needs. */
    rules.keep_links = true;
    int rc = sim_step_build(&step, &w->tree, &s->net, bw_Bps, s->model, &rules, e);
    if (rc)
        return rc;
    for (int64_t a = 0; step.links.all && a < step.links.n_arcs; a++)
        put_link(t, s, w->tree.name, &step.links.all[a]);
    sim_step_free(&step);
    return 0;
}

/* Every workload, simulated once more at the bandwidths of the design: a row per direction of every link. */
static int sim_links_write(struct run *run, const struct design_point *s, const struct design *d,
                           const char *path, struct err *e)
{
    struct table t = { 0 };
    struct text out = { 0 }, head = { 0 };
    int rc = 0;
    table_column(&t, "workload", TABLE_TEXT);
    table_column(&t, "link", TABLE_TEXT);
    table_column(&t, "dim", TABLE_TEXT);
    table_column(&t, "bw_GBps", TABLE_REAL);
    table_column(&t, "sent_B", TABLE_REAL);
    table_column(&t, "utilization", TABLE_REAL);
    for (int32_t i = 0; i < s->n_workloads && !rc; i++)
        rc = put_links_of(&t, s, &s->workloads[i], d->bw_Bps, e);
    output_head(&head, run, output_origin(s));
    if (!rc)
        rc = table_write(&t, TABLE_AS_CSV, text_str(&head), &out, e);
    if (!rc)
        rc = output_file(run, path, &out, e);
    table_free(&t);
    text_free(&out);
    text_free(&head);
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
