/*
 * Why a step takes its time: every collective on every dimension, what a small change of one dimension does
 * (by timing the changed design with the study's model), and bounds from the plainest arithmetic there is,
 * which share nothing with the step's structure.
 *
 * Differences are of whole evaluations: one more GB/s on a dimension, one USD less on one or on all in
 * proportion. They are right for the model at hand, simulated ones included, where derivatives would need one
 * per model; a difference below 1e-12 of the time is rounding and shown as 0. A shadow price answers another
 * question (one USD less and split again) and stands beside them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/account.h"
#include "cli/alloc_report.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/system.h"
#include "cli/training.h"

/* What a small change of one dimension does. Of the study's own model, at the design as it stands. */
struct explain_step {
    double gain_s; /* time saved by one more GB/s on it, >= 0 */
    double usd;    /* price of that GB/s; NaN without parts */
    double loss_s; /* time lost when it is cut by 1 USD; NaN without parts or when it costs less than that */
    double endless_s; /* time saved if its bandwidth were ENDLESS times as much, >= 0 */
};

enum { EXPLAIN_ALL = -1 /* all dimensions cut in proportion */ };

/* What the time must not be below. */
struct explain_bound {
    char name[80];
    double value_s;
};

enum { EXPLAIN_MAX_BOUNDS = TOPO_MAX_DIMS + 2 };

struct explain {
    const struct load_design *x;
    struct explain_step steps[TOPO_MAX_DIMS]; /* shape [design.n_dims] */
    int32_t cheapest;  /* dimension where 1 USD less loses the least time, or EXPLAIN_ALL */
    double cheapest_s; /* time lost there; NaN without parts */
    int32_t usd_row;   /* of the study's rows: the binding one about money; -1 = none */
    double usd_row_s;  /* its shadow price: time lost per USD less */
    struct explain_bound bounds[EXPLAIN_MAX_BOUNDS];
    int32_t n_bounds;
};

/* The first evaluation that fails is the one that is told; what follows is not done. */
struct trial {
    const struct explain *p;
    struct err *e;
    int rc;
};

static double time_at(struct trial *t, const double *bw_Bps)
{
    double time_s = NAN;
    /* After a failure all further times are NaN and nothing is timed. */
    if (!t->rc)
        t->rc = design_time(&time_s, t->p->x->study, bw_Bps, t->e);
    return time_s;
}

/* The time with `more_Bps` on dimension d. */
static double time_with(struct trial *t, int32_t d, double more_Bps)
{
    double bw_Bps[TOPO_MAX_DIMS];
    const struct design *x = &t->p->x->design;
    for (int32_t i = 0; i < x->n_dims; i++)
        bw_Bps[i] = x->bw_Bps[i] + (i == d ? more_Bps : 0);
    return time_at(t, bw_Bps);
}

static double time_scaled(struct trial *t, double factor)
{
    double bw_Bps[TOPO_MAX_DIMS];
    const struct design *x = &t->p->x->design;
    for (int32_t i = 0; i < x->n_dims; i++)
        bw_Bps[i] = x->bw_Bps[i] * factor;
    return time_at(t, bw_Bps);
}

/* A difference of two nearly equal times; below 1e-12 of them it is rounding, or a solver's last step. */
static double difference(double more_s, double less_s)
{
    double x = more_s - less_s;
    return fabs(x) > 1e-12 * more_s ? x : 0;
}

/* So many times as fast a dimension takes no time that six digits show, and simulations still end. */
#define ENDLESS 1e7

static int explain_steps(struct explain *p, struct err *e)
{
    struct trial t = { p, e, 0 };
    const struct design_point *s = p->x->study;
    const struct design *x = &p->x->design;
    double now_s = time_at(&t, x->bw_Bps);
    for (int32_t d = 0; d < x->n_dims; d++) {
        double usd_per_Bps = s->has_parts && !s->prices[d].in_server ? s->prices[d].usd_per_Bps : NAN;
        bool can_cut = usd_per_Bps * x->bw_Bps[d] > 1; /* false for NaN */
        p->steps[d] = (struct explain_step){
            /* 1 GB/s: the unit in which people buy, small against any bandwidth in range. */
            .gain_s = difference(now_s, time_with(&t, d, 1e9)),
            .usd = usd_per_Bps * 1e9,
            .loss_s = can_cut ? difference(time_with(&t, d, -1 / usd_per_Bps), now_s) : NAN,
            .endless_s = difference(now_s, time_with(&t, d, (ENDLESS - 1) * x->bw_Bps[d])),
        };
    }
    return t.rc;
}

/* The least loss for 1 USD less: one dimension alone, or all in proportion. */
static int explain_cheapest(struct explain *p, struct err *e)
{
    struct trial t = { p, e, 0 };
    const struct design_point *s = p->x->study;
    const struct design *x = &p->x->design;
    double usd = 0;
    for (int32_t d = 0; d < x->n_dims; d++)
        usd += s->has_parts ? s->prices[d].usd_per_Bps * x->bw_Bps[d] : 0;
    p->cheapest = EXPLAIN_ALL;
    /* NaN, which no comparison below prefers: without prices there is no cheapest. */
    p->cheapest_s = usd > 1 ? difference(time_scaled(&t, 1 - 1 / usd), time_at(&t, x->bw_Bps)) : NAN;
    for (int32_t d = 0; d < x->n_dims; d++) {
        if (p->steps[d].loss_s < p->cheapest_s) {
            p->cheapest = d;
            p->cheapest_s = p->steps[d].loss_s;
        }
    }
    return t.rc;
}

/* The price of a dollar in seconds: only where time is the objective, and of the row that limits money most.
 */
static void explain_usd_row(struct explain *p)
{
    const struct design_point *s = p->x->study;
    p->usd_row = -1;
    /* Whole parts seldom spend the last dollar, so it has no price there. */
    if (!p->x->solved || !alloc_is_time(s->objective) || s->combine != STUDY_SUM || s->pricing == STUDY_WHOLE)
        return;
    for (int32_t i = 0; i < s->rows.n; i++) {
        double per_usd = alloc_shadow(s, &p->x->design, i) * s->rows.rows[i].spent_coef[ALLOC_USD];
        if (!alloc_is_repeated(s, i) && per_usd > 0 && (p->usd_row < 0 || per_usd > p->usd_row_s)) {
            p->usd_row = i;
            p->usd_row_s = per_usd;
        }
    }
}

static void explain_add_bound(struct explain *p, double value_s, const char *name, const char *dim)
{
    struct explain_bound *b = &p->bounds[p->n_bounds++];
    snprintf(b->name, sizeof b->name, "%s%s", name, dim);
    b->value_s = value_s;
}

/* Each from the plainest arithmetic there is, none from the step's structure. */
static void explain_bounds(struct explain *p)
{
    const struct design_point *s = p->x->study;
    const struct design *x = &p->x->design;
    double all_B = 0, all_Bps = 0;
    const struct account *a = &x->account;
    explain_add_bound(p, a->compute_s + a->recompute_s + a->optimizer_s + a->overhead_s, "compute alone", "");
    for (int32_t d = 0; d < x->n_dims; d++) {
        double sent_B = 0;
        for (int32_t i = 0; i < x->n_loads; i++)
            sent_B += s->workloads[i].weight * x->loads[i].step.traffic_B[d];
        /* By the best share of the bandwidth that any regime of the dimension reaches: a bound must not be
         * above. */
        double busy_s = sent_B > 0 ? sent_B / (x->bw_Bps[d] * collective_best_share(&s->net.dims[d])) : 0;
        explain_add_bound(p, busy_s, "bytes over bandwidth, ", s->net.dims[d].name);
        all_B += sent_B;
        all_Bps += x->bw_Bps[d];
    }
    explain_add_bound(p, all_Bps > 0 ? all_B / all_Bps : 0, "all bytes over all bandwidth", "");
}

/* Times changed designs with the study's model; @p x has a split. */
static int explain_build(struct explain *p, const struct load_design *x, struct err *e)
{
    *p = (struct explain){ .x = x };
    int rc = explain_steps(p, e);
    if (!rc)
        rc = explain_cheapest(p, e);
    /* Also after a failure, harmlessly: the report is not written then. */
    explain_usd_row(p);
    explain_bounds(p);
    return rc;
}

/* Not below the bound by more than rounding. */
static bool explain_holds(const struct explain *p, const struct explain_bound *b)
{
    return p->x->design.time_s >= b->value_s * (1 - 1e-9);
}

/* ---- collectives, for people: those alike added up ---- */

/* Collectives of one phase, kind and group that are all critical or all hidden, added up. A model has
 * thousands of collectives that are alike: a reader wants their sum. */
struct bundle {
    const struct sim_collective *first;
    double times, latency_s, sent_B[TOPO_MAX_DIMS], busy_s[TOPO_MAX_DIMS];
};

struct bundles {
    struct bundle *list; /* shape [n], owned */
    int32_t n;
};

static bool same_bundle(const struct step_tree *t, const struct sim_collective *a,
                        const struct sim_collective *b)
{
    const struct step_node *x = &t->nodes[a->node], *y = &t->nodes[b->node];
    return x->phase == y->phase && x->collective == y->collective && x->group == y->group &&
           a->critical == b->critical && memcmp(a->choice, b->choice, sizeof a->choice) == 0;
}

/* What this NPU sends: not what those of other stages do, beside it or while it waits in the bubble. */
static bool is_here(const struct step_tree *t, const struct sim_collective *c)
{
    return c->times > 0 && t->nodes[c->node].phase != STEP_BUBBLE;
}

static int bundle_up(struct bundles *out, const struct step_tree *t, const struct sim_step *c, struct err *e)
{
    *out = (struct bundles){ 0 };
    out->list = calloc((size_t)c->n_collectives + 1, sizeof *out->list);
    if (!out->list)
        return err_nomem(e, "collectives");
    for (int32_t i = 0; i < c->n_collectives; i++) {
        const struct sim_collective *k = &c->collectives[i];
        int32_t at = 0;
        if (!is_here(t, k))
            continue;
        /* Few bundles: a search of all of them per collective. */
        while (at < out->n && !same_bundle(t, out->list[at].first, k))
            at++;
        struct bundle *b = &out->list[at];
        if (at == out->n) {
            b->first = k;
            out->n++;
        }
        b->times += k->times;
        b->latency_s += k->times * k->latency_s;
        for (int32_t d = 0; d < c->n_dims; d++) {
            b->sent_B[d] += k->times * k->traffic_B[d];
            b->busy_s[d] += k->times * k->busy_s[d];
        }
    }
    return 0;
}

/* What of a bundle one dimension does. */
static void report_part(struct report *r, const struct explain *p, int32_t load, const struct bundle *b,
                        int32_t d, bool first)
{
    const struct design *x = &p->x->design;
    const struct step_tree *t = &p->x->study->workloads[load].tree;
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
    report_put_word(r, p->x->study->net.dims[d].name);
    report_put_word(r, text_str(&choice));
    report_put_real(r, b->sent_B[d]);
    report_put_real(r, x->bw_Bps[d]);
    report_put_real(r, b->busy_s[d]);
    report_put_real(r, b->busy_s[d] / x->loads[load].time_s);
    report_put_text(r, "%s%s", decides ? "yes" : "", decides && !b->first->critical ? ", hidden" : "");
    text_free(&name);
    text_free(&choice);
}

static void report_latency(struct report *r, const struct explain *p, int32_t load, const struct bundle *b)
{
    for (int32_t i = 0; i < 3; i++)
        report_put_word(r, "");
    report_put_word(r, sim_latency_word(p->x->study->model, &p->x->study->rules));
    report_put_word(r, "");
    report_put_none(r);
    report_put_none(r);
    report_put_real(r, b->latency_s);
    report_put_real(r, b->latency_s / p->x->design.loads[load].time_s);
    report_put_word(r, b->first->critical ? "" : "hidden");
}

static int report_bundles(struct report *r, const struct explain *p, int32_t load, struct err *e)
{
    const struct design *x = &p->x->design;
    struct bundles bundles;
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
    int rc = bundle_up(&bundles, &p->x->study->workloads[load].tree, &x->loads[load].step, e);
    if (rc)
        return rc;
    if (bundles.n == 0) {
        report_line(r, "no collective\n");
        free(bundles.list);
        return 0;
    }
    report_table(r, NULL, columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < bundles.n; i++) {
        bool first = true;
        for (int32_t d = 0; d < x->n_dims; d++) {
            if (bundles.list[i].sent_B[d] > 0) {
                report_part(r, p, load, &bundles.list[i], d, first);
                first = false;
            }
        }
        /* Only below a bundle of which some dimension was shown. */
        if (bundles.list[i].latency_s > 0 && !first)
            report_latency(r, p, load, &bundles.list[i]);
    }
    report_table_end(r);
    free(bundles.list);
    return 0;
}

/* ---- collectives, as data: one by one ---- */

static void report_collective(struct report *r, const struct explain *p, int32_t load,
                              const struct sim_collective *c)
{
    const struct design_point *s = p->x->study;
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
    const struct design_point *s = p->x->study;
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
    report_put_real(r, p->x->design.bw_Bps[d] / 1e9);
    report_put_real(r, c->busy_s[d]);
    report_put_real(r, c->times * c->busy_s[d] / p->x->design.loads[load].time_s);
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
    for (int32_t i = 0; i < p->x->design.n_loads; i++) {
        const struct sim_step *c = &p->x->design.loads[i].step;
        for (int32_t k = 0; k < c->n_collectives; k++)
            for (int32_t d = 0; d < c->n_dims; d++)
                if (c->collectives[k].traffic_B[d] > 0 &&
                    is_here(&p->x->study->workloads[i].tree, &c->collectives[k]))
                    report_collective_row(r, p, i, &c->collectives[k], d);
    }
    report_table_end(r);
}

/* ---- the report ---- */

/* Where the time of one workload goes. */
static void report_times(struct report *r, const struct explain *p, int32_t load)
{
    const struct design_load *x = &p->x->design.loads[load];
    const struct account_view view = { "time", &x->account, x->time_s, NULL };
    account_table(r, p->x->study, "where the time goes", &view, 1);
}

static int report_load(struct report *r, const struct explain *p, int32_t i, struct err *e)
{
    const struct design_point *s = p->x->study;
    const struct sim_step *c = &p->x->design.loads[i].step;
    char word[TOPO_SPEC], n[SHOW];
    const char *semantics = study_semantics(s);
    report_line(r, "%s on %s (%s NPUs), %s model%s%s%s\n\n", load_workload_name(&s->workloads[i]),
                load_network_name(word, &s->net), show_count(n, s->net.n_npus), sim_model_words[s->model],
                semantics ? ", semantics " : "", semantics ? semantics : "",
                p->x->solved ? ", bandwidths as weft alloc finds them" : "");
    report_open(r, NULL, '{');
    report_json_word(r, "name", s->workloads[i].tree.name);
    report_json_real(r, "weight", s->workloads[i].weight);
    report_json_real(r, "time_s", c->time_s);
    if (report_is(r, IN_JSON))
        account_report_step(r, s, &p->x->design, i);
    report_times(r, p, i);
    report_line(r, "\n");
    int rc = report_is(r, IN_TEXT) ? report_bundles(r, p, i, e) : 0;
    report_line(r, "\n");
    report_open(r, "collectives", '[');
    for (int32_t k = 0; k < c->n_collectives && report_is(r, IN_JSON); k++)
        if (is_here(&s->workloads[i].tree, &c->collectives[k]))
            report_collective(r, p, i, &c->collectives[k]);
    report_close(r, ']');
    report_close(r, '}');
    return rc;
}

/* The path that decides, of all workloads by weight. */
static struct sim_path explain_path(const struct explain *p)
{
    struct sim_path sum = { 0 };
    for (int32_t i = 0; i < p->x->design.n_loads; i++) {
        const struct sim_path *one = &p->x->design.loads[i].step.path;
        double weight = p->x->study->workloads[i].weight;
        sum.compute_s += weight * one->compute_s;
        sum.latency_s += weight * one->latency_s;
        for (int32_t d = 0; d < p->x->design.n_dims; d++)
            sum.wait_s[d] += weight * one->wait_s[d];
    }
    return sum;
}

static void put_limit(struct report *r, const struct explain *p, const char *name, double path_s,
                      double saves_s)
{
    char t[SHOW];
    report_put_word(r, name);
    report_put_real(r, path_s);
    report_put_real(r, path_s);
    report_put_real(r, path_s / p->x->design.time_s);
    report_put_word(r, isnan(saves_s) ? NULL : show_time(t, saves_s));
    report_put_real(r, saves_s);
}

/* What limits the step: the longer of all that runs side by side, and what is left without a dimension. */
static void report_limits(struct report *r, const struct explain *p)
{
    const struct design_point *s = p->x->study;
    const struct sim_path path = explain_path(p);
    double per_s;
    const char *unit = show_time_unit(p->x->design.time_s, &per_s);
    const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "what", .title = "what limits" },
        { IN_TEXT, .title = "critical path", .unit = unit, .show = 6, .times = per_s },
        { IN_JSON, .key = "path_s" },
        { IN_TEXT, .title = "share", .unit = "%", .show = 3, .times = 100 },
        { IN_TEXT, .title = "endless, it saves" },
        { IN_JSON, .key = "endless_saves_s" },
    };
    report_table(r, "what_limits", columns, REPORT_COLUMNS(columns));
    put_limit(r, p, "compute", path.compute_s, NAN);
    for (int32_t d = 0; d < p->x->design.n_dims; d++)
        put_limit(r, p, s->net.dims[d].name, path.wait_s[d], p->steps[d].endless_s);
    if (path.latency_s > 0)
        put_limit(r, p, sim_latency_word(s->model, &s->rules), path.latency_s, NAN);
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
    const struct design_point *s = p->x->study;
    char t[SHOW];
    report_table(r, "one_more_GBps", columns, REPORT_COLUMNS(columns));
    for (int32_t d = 0; d < p->x->design.n_dims; d++) {
        const struct explain_step *step = &p->steps[d];
        report_put_word(r, s->net.dims[d].name);
        report_put_word(r, show_time(t, step->gain_s));
        report_put_real(r, step->gain_s);
        report_put_real(r, step->usd);
        report_put_word(r, show_time(t, step->loss_s));
        report_put_real(r, step->loss_s);
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
        report_put_word(r, show_time(t, b->value_s));
        report_put_real(r, b->value_s);
        report_put_real(r, b->value_s / p->x->design.time_s);
        report_put_word(r, explain_holds(p, b) ? "" : "above the total");
        report_put_flag(r, explain_holds(p, b));
    }
    report_table_end(r);
}

static int report_explain(struct report *r, const struct explain *p, struct err *e)
{
    const struct design_point *s = p->x->study;
    const struct design *x = &p->x->design;
    char word[TOPO_SPEC];
    int rc = 0;
    /* The rows are of collectives; changes and bounds are in JSON. */
    if (report_is(r, IN_CSV)) {
        report_collective_rows(r, p);
        return 0;
    }
    report_json_word(r, "status", p->x->solved ? alloc_status_names[x->answer.status] : "given");
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
    int rc = explain_build(&p, x, e);
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
