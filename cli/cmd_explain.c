/*
 * Why a step takes its time: every collective on every dimension, what a small change of one dimension does,
 * and bounds (kinds/design/answer/explain.h).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/tables.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/explain.h"

/* ---- collectives, for people: those alike added up ---- */

/* One dimension of a bundle, or its latency; what the line above says is left out. */
struct bundle_line {
    const char *collective, *phase, *dim, *algorithm, *routes, *decides;
    double times, sent_B, bw_Bps, busy_s, share;
};

#define LINE(field, called, kind, ...) COLUMN_AT(struct bundle_line, field, called, kind, NULL, __VA_ARGS__)
static const struct column bundle_columns[] = {
    LINE(collective, "collective", TABLE_TEXT, .flags = COLUMN_EMPTY),
    LINE(phase, "phase", TABLE_TEXT, .flags = COLUMN_EMPTY),
    LINE(times, "times", TABLE_REAL, .digits = 9, .zero = ""),
    LINE(dim, "dimension", TABLE_TEXT, .flags = COLUMN_EMPTY),
    LINE(algorithm, "algorithm", TABLE_TEXT, .flags = COLUMN_EMPTY),
    LINE(routes, "routes", TABLE_TEXT, .flags = COLUMN_EMPTY),
    LINE(sent_B, "sent_B", TABLE_REAL, .title = "NPU sends", .times = 1e-9, .as = "GB"),
    LINE(bw_Bps, "bw_Bps", TABLE_REAL, .title = "bandwidth", .times = 1e-9, .as = "GB/s", .digits = 6),
    LINE(busy_s, "busy_s", TABLE_REAL, .show = COLUMN_FITTED),
    LINE(share, "of_step", TABLE_REAL, .times = 100, .as = "%", .digits = 3),
    LINE(decides, "decides", TABLE_TEXT, .flags = COLUMN_EMPTY),
    COLUMNS_END,
};

static void report_part(struct report *r, const struct explain *p, int32_t load,
                        const struct explain_bundle *b, int32_t d, bool first)
{
    const struct design *x = p->design;
    const struct step_tree *t = &p->study->workloads[load].tree;
    struct text name = { 0 }, choice = { 0 };
    struct bundle_line line = { .dim = p->study->net.dims[d].name,
                                .sent_B = b->sent_B[d],
                                .bw_Bps = x->bw_Bps[d],
                                .busy_s = b->busy_s[d],
                                .share = b->busy_s[d] / x->loads[load].time_s };
    char routes[32];
    snprintf(routes, sizeof routes, "%.3g %% valiant", 100 * b->first->valiant[d]);
    line.routes = b->first->valiant[d] > 0 ? routes : NULL;
    bind_name(&name, t, b->first);
    bind_choice(&choice, b->first, d);
    line.algorithm = text_str(&choice);
    if (b->first->binds[d])
        line.decides = b->first->critical ? "yes" : "yes, hidden";
    if (first) {
        line.collective = text_str(&name);
        line.phase = step_phase_names[t->nodes[b->first->node].phase];
        line.times = b->times;
    }
    report_row(r, &line);
    text_free(&name);
    text_free(&choice);
}

/* "latency, fill and queues" takes two columns. */
static void report_latency(struct report *r, const struct explain *p, int32_t load,
                           const struct explain_bundle *b)
{
    const char *word = sim_latency_word(p->study->model, &p->study->rules), *comma = strchr(word, ',');
    char dim[TOPO_NAME];
    snprintf(dim, sizeof dim, "%.*s", (int)strcspn(word, ","), word);
    report_row(r, &(struct bundle_line){ .dim = dim,
                                         .algorithm = comma ? comma + 2 : "",
                                         .sent_B = NAN,
                                         .bw_Bps = NAN,
                                         .busy_s = b->latency_s,
                                         .share = b->latency_s / p->design->loads[load].time_s,
                                         .decides = b->first->critical ? "" : "hidden" });
}

static int report_bundles(struct report *r, const struct explain *p, int32_t load, struct err *e)
{
    const struct design *x = p->design;
    struct explain_bundle *list;
    int32_t n;
    int rc = explain_bundles(&list, &n, &p->study->workloads[load].tree, &x->loads[load].step, e);
    if (rc)
        return rc;
    if (n == 0) {
        report_line(r, "no collective\n");
        free(list);
        return 0;
    }
    report_list(r, NULL, bundle_columns);
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
    report_list_end(r);
    free(list);
    return 0;
}

/* ---- collectives, as data: one by one ---- */

/* A row of CSV: a collective on a dimension with traffic. */
struct explain_line {
    const char *workload, *name, *kind, *group, *phase, *dim, *algorithm;
    bool critical, decides;
    double times, traffic_B, bw_GBps, busy_s, share, valiant;
};

#define COLLECTIVE(field, called, kind, ...)                                                                 \
    COLUMN_AT(struct explain_line, field, called, kind, __VA_ARGS__, .in = IN_CSV)
static const struct column explain_line_columns[] = {
    COLLECTIVE(workload, "workload", TABLE_TEXT, NULL),
    COLLECTIVE(name, "collective", TABLE_TEXT, NULL),
    COLLECTIVE(kind, "kind", TABLE_TEXT, NULL),
    COLLECTIVE(group, "group", TABLE_TEXT, NULL),
    COLLECTIVE(phase, "phase", TABLE_TEXT, NULL),
    COLLECTIVE(dim, "dimension", TABLE_TEXT, NULL),
    COLLECTIVE(algorithm, "algorithm", TABLE_TEXT, NULL, .flags = COLUMN_EMPTY),
    COLLECTIVE(decides, "decides", TABLE_COUNT, NULL, .show = COLUMN_YES_NO),
    COLLECTIVE(critical, "critical", TABLE_COUNT, NULL, .show = COLUMN_YES_NO),
    COLLECTIVE(times, "times", TABLE_REAL, NULL),
    COLLECTIVE(traffic_B, "traffic_B", TABLE_REAL, NULL),
    COLLECTIVE(bw_GBps, "bw_GBps", TABLE_REAL, NULL),
    COLLECTIVE(busy_s, "busy_s", TABLE_REAL, NULL),
    COLLECTIVE(share, "share_of_step", TABLE_REAL, NULL),
    COLLECTIVE(valiant, "valiant", TABLE_REAL, NULL),
    COLUMNS_END,
};

static void report_object(struct report *r, const struct explain *p, int32_t load,
                          const struct sim_collective *c)
{
    const struct step_tree *t = &p->study->workloads[load].tree;
    const struct step_node *node = &t->nodes[c->node];
    int32_t n_dims = p->study->net.n_dims;
    double valiant = NAN;
    report_open(r, NULL, '{');
    report_json_word(r, "name", node->name);
    report_json_word(r, "kind", collective_names[node->collective]);
    report_json_word(r, "group", t->groups[node->group].name);
    report_json_word(r, "phase", step_phase_names[node->phase]);
    report_json_real(r, "times", c->times);
    report_json_flag(r, "critical", c->critical);
    report_open(r, "binds", '[');
    for (int32_t d = 0; d < n_dims; d++)
        if (c->binds[d])
            report_json_word(r, NULL, p->study->net.dims[d].name);
    report_close(r, ']');
    report_open(r, "algorithms", '[');
    for (int32_t d = 0; d < n_dims; d++) {
        struct text choice = { 0 };
        bind_choice(&choice, c, d);
        report_json_word(r, NULL, choice.n ? text_str(&choice) : NULL);
        text_free(&choice);
        valiant = c->valiant[d] > 0 ? fmax(c->valiant[d], valiant) : valiant;
    }
    report_close(r, ']');
    report_json_real(r, DESIGN_COLUMN(time_s), c->time_s);
    report_json_real(r, "exposed_s", c->exposed_s);
    report_json_real(r, "latency_s", c->latency_s);
    if (p->study->model == SIM_CHUNK) {
        report_json_real(r, "queue_s", c->queue_s);
        report_json_word(r, "order", sim_order_words[c->order]);
    }
    if (!isnan(valiant))
        report_json_real(r, "valiant", valiant);
    report_reals(r, "traffic_B", c->traffic_B, n_dims, 1);
    report_reals(r, "busy_s", c->busy_s, n_dims, 1);
    report_close(r, '}');
}

static void report_csv_row(struct report *r, const struct explain *p, int32_t load,
                           const struct sim_collective *c, int32_t d)
{
    const struct step_tree *t = &p->study->workloads[load].tree;
    const struct step_node *node = &t->nodes[c->node];
    struct text choice = { 0 };
    bind_choice(&choice, c, d);
    report_row(r, &(struct explain_line){ .workload = t->name,
                                          .name = node->name,
                                          .kind = collective_names[node->collective],
                                          .group = t->groups[node->group].name,
                                          .phase = step_phase_names[node->phase],
                                          .dim = p->study->net.dims[d].name,
                                          .algorithm = text_str(&choice),
                                          .critical = c->critical,
                                          .decides = c->binds[d],
                                          .times = c->times,
                                          .traffic_B = c->traffic_B[d],
                                          .bw_GBps = p->design->bw_Bps[d] / 1e9,
                                          .busy_s = c->busy_s[d],
                                          .share = c->times * c->busy_s[d] / p->design->loads[load].time_s,
                                          .valiant = c->valiant[d] });
    text_free(&choice);
}

/* Those of one workload, which the open list is of. */
static void report_collectives(struct report *r, const struct explain *p, int32_t load)
{
    const struct sim_step *step = &p->design->loads[load].step;
    for (int32_t k = 0; k < step->n_collectives; k++) {
        const struct sim_collective *c = &step->collectives[k];
        if (!explain_is_here(&p->study->workloads[load].tree, c))
            continue;
        if (report_is(r, IN_JSON))
            report_object(r, p, load, c);
        for (int32_t d = 0; d < step->n_dims && report_is(r, IN_CSV); d++)
            if (c->traffic_B[d] > 0)
                report_csv_row(r, p, load, c, d);
    }
}

/* ---- the report ---- */

static int report_load(struct report *r, const struct explain *p, int32_t i, struct err *e)
{
    const struct design_point *s = p->study;
    char word[TOPO_SPEC], n[SHOW];
    const char *semantics = design_point_semantics(s);
    report_line(r, "%s on %s (%s NPUs), %s model%s%s%s\n\n", load_workload_name(&s->workloads[i]),
                load_network_name(word, &s->net), show_count(n, s->net.n_npus), sim_model_words[s->model],
                semantics ? ", semantics " : "", semantics ? semantics : "",
                p->solved ? ", bandwidths as weft alloc finds them" : "");
    report_open(r, NULL, '{');
    page_load(r, s, p->design, i);
    if (report_is(r, IN_JSON))
        page_step(r, s, p->design, i);
    const struct page_account_view view = { "time", &p->design->loads[i].account, p->design->loads[i].time_s,
                                            NULL };
    page_account_table(r, s, "where the time goes", &view, 1);
    report_line(r, "\n");
    int rc = report_is(r, IN_TEXT) ? report_bundles(r, p, i, e) : 0;
    report_line(r, "\n");
    if (report_is(r, IN_JSON)) {
        report_open(r, "collectives", '[');
        report_collectives(r, p, i);
        report_close(r, ']');
    }
    report_close(r, '}');
    return rc;
}

int cmd_explain_text(struct text *out, const struct explain *p, struct err *e)
{
    struct report r = { .format = TABLE_AS_TEXT };
    int rc = 0;
    report_page(&r);
    for (int32_t i = 0; i < p->design->n_loads && !rc; i++)
        rc = report_load(&r, p, i, e);
    report_page_end(&r);
    if (!rc)
        rc = report_end(&r, "", e);
    text_puts(out, text_str(&r.out));
    report_free(&r);
    return rc ? rc : text_check(out, e);
}

static void report_cut(struct report *r, const struct explain *p)
{
    const struct design_point *s = p->study;
    bool cuts = isfinite(p->cheapest_s);
    const char *dim = !cuts ? NULL : p->cheapest == EXPLAIN_ALL ? "all" : s->net.dims[p->cheapest].name;
    const char *constraint = p->usd_row >= 0 ? s->rows.rows[p->usd_row].name : NULL;
    char t[SHOW];
    report_open(r, "one_usd_less", '{');
    report_json_word(r, "dim", dim);
    report_json_real(r, "loses_s", p->cheapest_s);
    report_json_word(r, "constraint", constraint);
    report_json_real(r, "shadow_price_s", constraint ? p->usd_row_s : (double)NAN);
    report_close(r, '}');
    if (dim)
        report_line(r, "The least loss for one USD less, constraints aside: %s, cutting %s.\n",
                    show_time(t, p->cheapest_s),
                    p->cheapest == EXPLAIN_ALL ? "all dimensions in proportion" : dim);
    if (constraint)
        report_line(r, "Under \"%s\" one USD less, split again, loses %s (shadow price).\n", constraint,
                    show_time(t, p->usd_row_s));
}

/* The rows of CSV are of collectives; changes and bounds are in JSON. */
static void report_csv(struct report *r, const struct explain *p)
{
    report_list(r, NULL, explain_line_columns);
    for (int32_t i = 0; i < p->design->n_loads; i++)
        report_collectives(r, p, i);
    report_list_end(r);
}

/* What each class of hashed links could do without. */
static void report_collisions(struct report *r, const struct explain *p)
{
    double cost[TOPO_MAX_DIMS];
    if (!explain_collisions(cost, p->study, p->design))
        return;
    for (int32_t d = 0; d < p->design->n_dims; d++)
        if (cost[d] > 1e-9)
            report_line(r,
                        "hash collisions cost %.3g %% of %s: its fullest link carries %.3g times the mean\n",
                        100 * cost[d], p->study->net.dims[d].name, 1 / (1 - cost[d]));
    report_reals(r, "collisions", cost, p->design->n_dims, 1);
}

static int report_explain(struct report *r, const struct explain *p, struct err *e)
{
    const struct design_point *s = p->study;
    const struct design *x = p->design;
    char word[TOPO_SPEC];
    int rc = 0;
    if (report_is(r, IN_CSV)) {
        report_csv(r, p);
        return 0;
    }
    report_json_word(r, "status", p->solved ? alloc_status_names[x->answer.status] : "given");
    report_json_word(r, "network", load_network_name(word, &s->net));
    report_json_word(r, "model", sim_model_words[s->model]);
    report_json_real(r, DESIGN_COLUMN(time_s), x->time_s);
    page_account(r, &x->account, x->n_dims);
    load_report_dims(r, &s->net);
    report_reals(r, "bw_GBps", x->bw_Bps, x->n_dims, 1e9);
    report_open(r, "workloads", '[');
    for (int32_t i = 0; i < x->n_loads && !rc; i++)
        rc = report_load(r, p, i, e);
    report_close(r, ']');
    report_array(r, "what_limits", explain_limit_columns, p->limits, p->n_limits, sizeof *p->limits);
    report_collisions(r, p);
    report_line(r, "\n");
    report_array(r, "one_more_GBps", explain_change_columns, p->changes, x->n_dims, sizeof *p->changes);
    report_cut(r, p);
    report_line(r, "\n");
    report_array(r, "bounds", explain_bound_columns, p->bounds, p->n_bounds, sizeof *p->bounds);
    page_system(r, s, x, true);
    page_training_text(r, s, x);
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
    if (!rc && !run->exit_code)
        page_say_memory(run, x->study);
    return rc;
}

static int run_explain(struct run *run, struct err *e)
{
    int rc = output_check(run, e);
    return rc ? rc : load_and_write(run, write_explain, e);
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
