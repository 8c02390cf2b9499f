/*
 * Why a step takes its time: every collective on every dimension, what a small change of one dimension does,
 * and bounds (kinds/design/answer/explain.h).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/account.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/system.h"
#include "cli/training.h"
#include "kinds/design/answer/explain.h"

/* ---- collectives, for people: those alike added up ---- */

/* What of a bundle one dimension does. */
static void report_part(struct report *r, const struct explain *p, int32_t load,
                        const struct explain_bundle *b, int32_t d, bool first)
{
    const struct design *x = p->design;
    const struct step_tree *t = &p->study->workloads[load].tree;
    struct text name = { 0 }, choice = { 0 };
    bool decides = b->first->binds[d];
    bind_name(&name, t, b->first);
    bind_choice(&choice, b->first, d);
    report_put_word(r, first ? text_str(&name) : "");
    report_put_word(r, first ? step_phase_names[t->nodes[b->first->node].phase] : "");
    if (first)
        report_put_real(r, b->times);
    else
        report_put_word(r, "");
    report_put_word(r, p->study->net.dims[d].name);
    report_put_word(r, text_str(&choice));
    report_put_real(r, b->sent_B[d]);
    report_put_real(r, x->bw_Bps[d]);
    report_put_real(r, b->busy_s[d]);
    report_put_real(r, b->busy_s[d] / x->loads[load].time_s);
    report_put_text(r, "%s%s", decides ? "yes" : "", decides && !b->first->critical ? ", hidden" : "");
    text_free(&name);
    text_free(&choice);
}

static void report_latency(struct report *r, const struct explain *p, int32_t load,
                           const struct explain_bundle *b)
{
    for (int32_t i = 0; i < 3; i++)
        report_put_word(r, "");
    report_put_word(r, sim_latency_word(p->study->model, &p->study->rules));
    report_put_word(r, "");
    report_put_none(r);
    report_put_none(r);
    report_put_real(r, b->latency_s);
    report_put_real(r, b->latency_s / p->design->loads[load].time_s);
    report_put_word(r, b->first->critical ? "" : "hidden");
}

static int report_bundles(struct report *r, const struct explain *p, int32_t load, struct err *e)
{
    const struct design *x = p->design;
    struct explain_bundle *list;
    int32_t n;
    double per_s;
    const char *unit = show_time_unit(x->loads[load].time_s, &per_s);
    const struct report_column columns[] = {
        { IN_TEXT, .title = "collective" },
        { IN_TEXT, .title = "phase" },
        { IN_TEXT, .title = "times", .show = 9 },
        { IN_TEXT, .title = "dimension" },
        { IN_TEXT, .title = "algorithm" },
        { IN_TEXT, .title = "sent per NPU", .unit = "GB", .show = 5, .per = 1e9 },
        { IN_TEXT, .title = "bandwidth", .unit = "GB/s", .show = 6, .per = 1e9 },
        { IN_TEXT, .title = "busy", .unit = unit, .show = 5, .times = per_s },
        { IN_TEXT, .title = "of step", .unit = "%", .show = 3, .times = 100 },
        { IN_TEXT, .title = "decides" },
    };
    int rc = explain_bundles(&list, &n, &p->study->workloads[load].tree, &x->loads[load].step, e);
    if (rc)
        return rc;
    if (n == 0) {
        report_line(r, "no collective\n");
        free(list);
        return 0;
    }
    report_table(r, NULL, columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < n; i++) {
        bool first = true;
        for (int32_t d = 0; d < x->n_dims; d++) {
            if (list[i].sent_B[d] > 0) {
                report_part(r, p, load, &list[i], d, first);
                first = false;
            }
        }
        /* Only below a bundle of which some dimension was shown. */
        if (list[i].latency_s > 0 && !first)
            report_latency(r, p, load, &list[i]);
    }
    report_table_end(r);
    free(list);
    return 0;
}

/* ---- collectives, as data: one by one ---- */

static void report_collective(struct report *r, const struct explain *p, int32_t load,
                              const struct sim_collective *c)
{
    const struct design_point *s = p->study;
    const struct step_tree *t = &s->workloads[load].tree;
    const struct step_node *node = &t->nodes[c->node];
    report_open(r, NULL, '{');
    report_json_word(r, "name", node->name);
    report_json_word(r, "kind", collective_names[node->collective]);
    report_json_word(r, "group", t->groups[node->group].name);
    report_json_word(r, "phase", step_phase_names[node->phase]);
    report_json_real(r, "times", c->times);
    report_json_flag(r, "critical", c->critical);
    report_open(r, "binds", '[');
    for (int32_t d = 0; d < s->net.n_dims; d++)
        if (c->binds[d])
            report_item(r, s->net.dims[d].name);
    report_close(r, ']');
    report_open(r, "algorithms", '[');
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        struct text choice = { 0 };
        bind_choice(&choice, c, d);
        report_item(r, choice.n ? text_str(&choice) : NULL);
        text_free(&choice);
    }
    report_close(r, ']');
    report_json_real(r, "time_s", c->time_s);
    report_json_real(r, "exposed_s", c->exposed_s);
    report_json_real(r, "latency_s", c->latency_s);
    if (s->model == SIM_CHUNK) {
        report_json_real(r, "queue_s", c->queue_s);
        report_json_word(r, "order", sim_order_words[c->order]);
    }
    report_reals(r, "traffic_B", c->traffic_B, s->net.n_dims, 1);
    report_reals(r, "busy_s", c->busy_s, s->net.n_dims, 1);
    report_close(r, '}');
}

/* CSV: a row per collective and dimension with traffic. */
static void report_collective_row(struct report *r, const struct explain *p, int32_t load,
                                  const struct sim_collective *c, int32_t d)
{
    const struct design_point *s = p->study;
    const struct step_tree *tree = &s->workloads[load].tree;
    const struct step_node *node = &tree->nodes[c->node];
    struct text choice = { 0 };
    bind_choice(&choice, c, d);
    report_put_word(r, tree->name);
    report_put_word(r, node->name);
    report_put_word(r, collective_names[node->collective]);
    report_put_word(r, tree->groups[node->group].name);
    report_put_word(r, step_phase_names[node->phase]);
    report_put_word(r, s->net.dims[d].name);
    report_put_word(r, text_str(&choice));
    report_put_flag(r, c->binds[d]);
    report_put_flag(r, c->critical);
    report_put_real(r, c->times);
    report_put_real(r, c->traffic_B[d]);
    report_put_real(r, p->design->bw_Bps[d] / 1e9);
    report_put_real(r, c->busy_s[d]);
    report_put_real(r, c->times * c->busy_s[d] / p->design->loads[load].time_s);
    text_free(&choice);
}

static void report_collective_rows(struct report *r, const struct explain *p)
{
    static const struct report_column columns[] = {
        { IN_CSV, .key = "workload" },
        { IN_CSV, .key = "collective" },
        { IN_CSV, .key = "kind" },
        { IN_CSV, .key = "group" },
        { IN_CSV, .key = "phase" },
        { IN_CSV, .key = "dimension" },
        { IN_CSV, .key = "algorithm" },
        { IN_CSV, .key = "decides" },
        { IN_CSV, .key = "critical" },
        { IN_CSV, .key = "times", .kind = TABLE_REAL },
        { IN_CSV, .key = "traffic_B", .kind = TABLE_REAL },
        { IN_CSV, .key = "bw_GBps", .kind = TABLE_REAL },
        { IN_CSV, .key = "busy_s", .kind = TABLE_REAL },
        { IN_CSV, .key = "share_of_step", .kind = TABLE_REAL },
    };
    report_table(r, NULL, columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < p->design->n_loads; i++) {
        const struct sim_step *c = &p->design->loads[i].step;
        for (int32_t k = 0; k < c->n_collectives; k++)
            for (int32_t d = 0; d < c->n_dims; d++)
                if (c->collectives[k].traffic_B[d] > 0 &&
                    explain_is_here(&p->study->workloads[i].tree, &c->collectives[k]))
                    report_collective_row(r, p, i, &c->collectives[k], d);
    }
    report_table_end(r);
}

/* ---- the report ---- */

/* Where the time of one workload goes. */
static void report_times(struct report *r, const struct explain *p, int32_t load)
{
    const struct design_load *x = &p->design->loads[load];
    const struct account_view view = { "time", &x->account, x->time_s, NULL };
    account_table(r, p->study, "where the time goes", &view, 1);
}

static int report_load(struct report *r, const struct explain *p, int32_t i, struct err *e)
{
    const struct design_point *s = p->study;
    const struct sim_step *c = &p->design->loads[i].step;
    char word[TOPO_SPEC], n[SHOW];
    const char *semantics = study_semantics(s);
    report_line(r, "%s on %s (%s NPUs), %s model%s%s%s\n\n", load_workload_name(&s->workloads[i]),
                load_network_name(word, &s->net), show_count(n, s->net.n_npus), sim_model_words[s->model],
                semantics ? ", semantics " : "", semantics ? semantics : "",
                p->solved ? ", bandwidths as weft alloc finds them" : "");
    report_open(r, NULL, '{');
    report_json_word(r, "name", s->workloads[i].tree.name);
    report_json_real(r, "weight", s->workloads[i].weight);
    report_json_real(r, "time_s", c->time_s);
    if (report_is(r, IN_JSON))
        account_report_step(r, s, p->design, i);
    report_times(r, p, i);
    report_line(r, "\n");
    int rc = report_is(r, IN_TEXT) ? report_bundles(r, p, i, e) : 0;
    report_line(r, "\n");
    report_open(r, "collectives", '[');
    for (int32_t k = 0; k < c->n_collectives && report_is(r, IN_JSON); k++)
        if (explain_is_here(&s->workloads[i].tree, &c->collectives[k]))
            report_collective(r, p, i, &c->collectives[k]);
    report_close(r, ']');
    report_close(r, '}');
    return rc;
}

/* What limits the step: the longer of all that runs side by side, and what is left without a dimension. */
static void report_limits(struct report *r, const struct explain *p)
{
    double per_s;
    const char *unit = show_time_unit(p->design->time_s, &per_s);
    const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "what", .title = "what limits" },
        { IN_TEXT, .title = "critical path", .unit = unit, .show = 6, .times = per_s },
        { IN_JSON, .key = "path_s" },
        { IN_TEXT, .title = "share", .unit = "%", .show = 3, .times = 100 },
        { IN_TEXT, .title = "endless, it saves" },
        { IN_JSON, .key = "endless_saves_s" },
    };
    char t[SHOW];
    report_table(r, "what_limits", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < p->n_limits; i++) {
        const struct explain_limit *x = &p->limits[i];
        report_put_word(r, x->what);
        report_put_real(r, x->path_s);
        report_put_real(r, x->path_s);
        report_put_real(r, x->path_s / p->design->time_s);
        report_put_word(r, isnan(x->endless_saves_s) ? NULL : show_time(t, x->endless_saves_s));
        report_put_real(r, x->endless_saves_s);
    }
    report_table_end(r);
    report_line(r, "\n");
}

static void report_changes(struct report *r, const struct explain *p)
{
    static const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "dim", .title = "one more GB/s on" },
        { IN_TEXT, .title = "saves" },
        { IN_JSON, .key = "saves_s" },
        { IN_TEXT | IN_JSON, .key = "costs_usd", .title = "and costs", .unit = "linear USD",
          .show = REPORT_USD },
        { IN_TEXT, .title = "one USD less loses" },
        { IN_JSON, .key = "one_usd_less_loses_s" },
    };
    const struct design_point *s = p->study;
    char t[SHOW];
    report_table(r, "one_more_GBps", columns, REPORT_COLUMNS(columns));
    for (int32_t d = 0; d < p->design->n_dims; d++) {
        const struct explain_change *x = &p->changes[d];
        report_put_word(r, x->dim);
        report_put_word(r, show_time(t, x->saves_s));
        report_put_real(r, x->saves_s);
        report_put_real(r, x->costs_usd);
        report_put_word(r, show_time(t, x->one_usd_less_loses_s));
        report_put_real(r, x->one_usd_less_loses_s);
    }
    report_table_end(r);
    const char *cut = !isfinite(p->cheapest_s)     ? NULL
                      : p->cheapest == EXPLAIN_ALL ? "all"
                                                   : s->net.dims[p->cheapest].name;
    const char *limit = p->usd_row >= 0 ? s->rows.rows[p->usd_row].name : NULL;
    report_open(r, "one_usd_less", '{');
    report_json_word(r, "dim", cut);
    report_json_real(r, "loses_s", p->cheapest_s);
    report_json_word(r, "constraint", limit);
    report_json_real(r, "shadow_price_s", limit ? p->usd_row_s : NAN);
    report_close(r, '}');
    if (cut)
        report_line(r, "The least loss for one USD less, constraints aside: %s, cutting %s.\n",
                    show_time(t, p->cheapest_s),
                    p->cheapest == EXPLAIN_ALL ? "all dimensions in proportion" : cut);
    if (limit)
        report_line(r, "Under \"%s\" one USD less, split again, loses %s (shadow price).\n", limit,
                    show_time(t, p->usd_row_s));
}

static void report_bounds(struct report *r, const struct explain *p)
{
    static const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "name", .title = "no step should be below" },
        { IN_TEXT, .title = "time" },
        { IN_JSON, .key = "time_s" },
        { IN_TEXT, .title = "of the total", .unit = "%", .show = 3, .times = 100 },
        { IN_TEXT, .title = "" },
        { IN_JSON, .key = "holds" },
    };
    char t[SHOW];
    report_line(r, "\n");
    report_table(r, "bounds", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < p->n_bounds; i++) {
        const struct explain_bound *b = &p->bounds[i];
        report_put_word(r, b->name);
        report_put_word(r, show_time(t, b->time_s));
        report_put_real(r, b->time_s);
        report_put_real(r, b->time_s / p->design->time_s);
        report_put_word(r, *b->holds == 'y' ? "" : "above the total");
        report_put_flag(r, *b->holds == 'y');
    }
    report_table_end(r);
}

static int report_explain(struct report *r, const struct explain *p, struct err *e)
{
    const struct design_point *s = p->study;
    const struct design *x = p->design;
    char word[TOPO_SPEC];
    int rc = 0;
    /* The rows are of collectives; changes and bounds are in JSON. */
    if (report_is(r, IN_CSV)) {
        report_collective_rows(r, p);
        return 0;
    }
    report_json_word(r, "status", p->solved ? alloc_status_names[x->answer.status] : "given");
    report_json_word(r, "network", load_network_name(word, &s->net));
    report_json_word(r, "model", sim_model_words[s->model]);
    report_json_real(r, "time_s", x->time_s);
    account_report(r, &x->account, x->n_dims);
    load_report_dims(r, &s->net);
    report_reals(r, "bw_GBps", x->bw_Bps, x->n_dims, 1e9);
    report_open(r, "workloads", '[');
    for (int32_t i = 0; i < x->n_loads && !rc; i++)
        rc = report_load(r, p, i, e);
    report_close(r, ']');
    report_limits(r, p);
    report_changes(r, p);
    report_bounds(r, p);
    system_report(r, s, x, true);
    training_report_text(r, s, x);
    return rc;
}

/* Everything is timed before anything is written. */
static int write_explain(struct run *run, const struct load_design *x, struct err *e)
{
    struct explain p;
    struct report r = { 0 };
    int rc = explain_build(&p, x->study, &x->design, e);
    if (rc)
        return rc;
    output_begin(&r, run, output_origin(x->study));
    rc = report_explain(&r, &p, e);
    if (!rc)
        rc = output_report(&r, run, output_origin(x->study), e);
    report_free(&r);
    return rc;
}

static int run_explain(struct run *run, struct err *e)
{
    struct overrides o;
    struct load_design x = { 0 };
    int rc = output_check(run, e);
    if (rc)
        return rc;
    rc = overrides_read(&o, run, e);
    if (!rc)
        rc = load_design(&x, run, &o, LOAD_EITHER, STUDY_NEEDS_WORKLOAD, e);
    if (!rc)
        output_notes(run, &x.notes);
    if (!rc && x.solved && !alloc_has_split(&x.design.answer))
        rc = load_write_status(run, &x, false, e);
    else if (!rc)
        rc = write_explain(run, &x, e);
    if (!rc && !run->exit_code)
        training_say_memory(run, x.study);
    load_design_free(&x);
    overrides_free(&o);
    return rc;
}

const struct command cmd_explain = {
    .group = "One design",
    .name = "explain",
    .help = "where the time of a step goes, and what would reduce it",
    .about =
        "Break down the time of a training step: every collective on every dimension, what limits it, what\n"
        "one more GB/s or one USD less would do, and simple lower bounds to compare with. Bandwidths are\n"
        "those of the network; where one is missing, those that weft alloc finds.\n",
    .scope = SCOPE(1, 1, "STUDY", &options_study, &options_search, &options_format, &options_files),
    .run = run_explain,
};
