#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bind.h"
#include "cli/explain.h"
#include "base/sheet.h"
#include "cli/training.h"

/* Collectives of one phase, kind and group that are all critical or all hidden, added up. */
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

static int bundle_up(struct bundles *out, const struct step_tree *t, const struct sim_step *c, struct err *e)
{
    *out = (struct bundles){ 0 };
    out->list = calloc((size_t)c->n_collectives + 1, sizeof *out->list);
    if (!out->list)
        return err_nomem(e, "collectives");
    for (int32_t i = 0; i < c->n_collectives; i++) {
        const struct sim_collective *k = &c->collectives[i];
        int32_t at = 0;
        if (!(k->times > 0)) /* of other NPUs */
            continue;
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

/* What of a collective one dimension does. */
static void put_part(struct sheet *s, const struct explain *p, int32_t load, const struct bundle *b,
                     int32_t d, bool first, double per_s)
{
    const struct design *x = &p->x->design;
    const struct step_tree *t = &p->x->study.workloads[load].tree;
    struct text name = { 0 }, choice = { 0 };
    bind_name(&name, t, b->first);
    bind_choice(&choice, b->first, d);
    sheet_put(s, "%s", first ? text_str(&name) : "");
    sheet_put(s, "%s", first ? step_phase_names[t->nodes[b->first->node].phase] : "");
    if (first)
        sheet_real(s, b->times, 9);
    else
        sheet_put(s, "%s", "");
    sheet_put(s, "%s", p->x->study.net.dims[d].name);
    sheet_put(s, "%s", text_str(&choice));
    sheet_real(s, b->sent_B[d] / 1e9, 5);
    sheet_real(s, x->bw_Bps[d] / 1e9, 6);
    sheet_real(s, b->busy_s[d] * per_s, 5);
    sheet_real(s, 100 * b->busy_s[d] / x->loads[load].time_s, 3);
    bool decides = b->first->binds[d];
    sheet_put(s, "%s%s", decides ? "yes" : "", decides && !b->first->critical ? ", hidden" : "");
    text_free(&name);
    text_free(&choice);
}

static void put_latency(struct sheet *s, const struct explain *p, int32_t load, const struct bundle *b,
                        double per_s)
{
    for (int32_t i = 0; i < 3; i++)
        sheet_put(s, "%s", "");
    sheet_put(s, "%s", sim_latency_word(p->x->study.model));
    sheet_put(s, "%s", "");
    sheet_put(s, "-");
    sheet_put(s, "-");
    sheet_real(s, b->latency_s * per_s, 5);
    sheet_real(s, 100 * b->latency_s / p->x->design.loads[load].time_s, 3);
    sheet_put(s, "%s", b->first->critical ? "" : "hidden");
}

static int put_collectives(const struct explain *p, int32_t load, struct text *out, struct err *e)
{
    const struct design *x = &p->x->design;
    const struct step_tree *t = &p->x->study.workloads[load].tree;
    struct bundles bundles;
    struct sheet s = { 0 };
    double per_s;
    const char *unit = show_time_unit(x->loads[load].time_s, &per_s);
    int rc = bundle_up(&bundles, t, &x->loads[load].step, e);
    sheet_column(&s, "collective", "", SHEET_LEFT);
    sheet_column(&s, "phase", "", SHEET_LEFT);
    sheet_column(&s, "times", "", SHEET_POINT);
    sheet_column(&s, "dimension", "", SHEET_LEFT);
    sheet_column(&s, "algorithm", "", SHEET_LEFT);
    sheet_column(&s, "sent per NPU", "GB", SHEET_POINT);
    sheet_column(&s, "bandwidth", "GB/s", SHEET_POINT);
    sheet_column(&s, "busy", unit, SHEET_POINT);
    sheet_column(&s, "of step", "%", SHEET_POINT);
    sheet_column(&s, "decides", "", SHEET_LEFT);
    for (int32_t i = 0; i < bundles.n && !rc; i++) {
        bool first = true;
        for (int32_t d = 0; d < x->n_dims; d++) {
            if (bundles.list[i].sent_B[d] > 0) {
                put_part(&s, p, load, &bundles.list[i], d, first, per_s);
                first = false;
            }
        }
        if (bundles.list[i].latency_s > 0 && !first)
            put_latency(&s, p, load, &bundles.list[i], per_s);
    }
    if (!rc && bundles.n > 0)
        rc = sheet_write(&s, out, e);
    else if (!rc)
        text_puts(out, "no collective\n");
    sheet_free(&s);
    free(bundles.list);
    return rc;
}

static void put_time(struct sheet *s, const char *what, const char *dim, double x_s, double whole_s,
                     double per_s)
{
    sheet_put(s, "%s%s", what, dim);
    sheet_real(s, x_s * per_s, 6);
    sheet_real(s, 100 * x_s / whole_s, 3);
}

static int put_times(const struct explain *p, int32_t load, struct text *out, struct err *e)
{
    const struct sim_step *c = &p->x->design.loads[load].step;
    struct sheet s = { 0 };
    double per_s;
    const char *unit = show_time_unit(c->time_s, &per_s);
    sheet_column(&s, "where the time goes", "", SHEET_LEFT);
    sheet_column(&s, "time", unit, SHEET_POINT);
    sheet_column(&s, "share", "%", SHEET_POINT);
    put_time(&s, "compute", "", c->compute_s, c->time_s, per_s);
    for (int32_t d = 0; d < c->n_dims; d++)
        put_time(&s, "waiting for ", p->x->study.net.dims[d].name, c->exposed_s[d], c->time_s, per_s);
    if (c->latency_s > 0)
        put_time(&s, sim_latency_word(p->x->study.model), "", c->latency_s, c->time_s, per_s);
    put_time(&s, "one step", "", c->time_s, c->time_s, per_s);
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

static int put_loads(const struct explain *p, struct text *out, struct err *e)
{
    const struct design_point *s = &p->x->study;
    char word[TOPO_SPEC], n[SHOW];
    int rc = 0;
    for (int32_t i = 0; i < s->n_workloads && !rc; i++) {
        text_printf(out, "%s on %s (%s NPUs), %s model%s\n\n", load_workload_name(&s->workloads[i]),
                    load_network_name(word, &s->net), show_count(n, s->net.n_npus), sim_model_words[s->model],
                    p->x->solved ? ", bandwidths as weft alloc chooses them" : "");
        rc = put_times(p, i, out, e);
        text_puts(out, "\n");
        if (!rc)
            rc = put_collectives(p, i, out, e);
        text_puts(out, "\n");
    }
    return rc;
}

static int put_steps(const struct explain *p, struct text *out, struct err *e)
{
    const struct design *x = &p->x->design;
    struct sheet s = { 0 };
    char t[SHOW];
    sheet_column(&s, "one more GB/s on", "", SHEET_LEFT);
    sheet_column(&s, "saves", "", SHEET_LEFT);
    sheet_column(&s, "and costs", "linear USD", SHEET_POINT);
    sheet_column(&s, "one USD less loses", "", SHEET_LEFT);
    for (int32_t d = 0; d < x->n_dims; d++) {
        sheet_put(&s, "%s", p->x->study.net.dims[d].name);
        sheet_put(&s, "%s", show_time(t, p->steps[d].gain_s));
        sheet_usd(&s, p->steps[d].usd);
        sheet_put(&s, "%s", show_time(t, p->steps[d].loss_s));
    }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

static void put_dollar(const struct explain *p, struct text *out)
{
    const struct design_point *s = &p->x->study;
    char t[SHOW];
    if (isfinite(p->cheapest_s))
        text_printf(out, "The least loss for one USD less, constraints aside: %s, cutting %s.\n",
                    show_time(t, p->cheapest_s),
                    p->cheapest == EXPLAIN_ALL ? "all dimensions in proportion"
                                               : s->net.dims[p->cheapest].name);
    if (p->usd_row >= 0)
        text_printf(out, "Under \"%s\" one USD less, split again, loses %s (shadow price).\n",
                    s->rows.rows[p->usd_row].name, show_time(t, p->usd_row_s));
}

static int put_bounds(const struct explain *p, struct text *out, struct err *e)
{
    struct sheet s = { 0 };
    char t[SHOW];
    double time_s = p->x->design.time_s;
    sheet_column(&s, "no step should be below", "", SHEET_LEFT);
    sheet_column(&s, "time", "", SHEET_LEFT);
    sheet_column(&s, "of the total", "%", SHEET_POINT);
    sheet_column(&s, "", "", SHEET_LEFT);
    for (int32_t i = 0; i < p->n_bounds; i++) {
        sheet_put(&s, "%s", p->bounds[i].name);
        sheet_put(&s, "%s", show_time(t, p->bounds[i].value_s));
        sheet_real(&s, 100 * p->bounds[i].value_s / time_s, 3);
        sheet_put(&s, "%s", explain_holds(p, &p->bounds[i]) ? "" : "above the total");
    }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

int explain_text(const struct explain *p, struct text *out, struct err *e)
{
    int rc = put_loads(p, out, e);
    if (!rc)
        rc = put_steps(p, out, e);
    put_dollar(p, out);
    text_puts(out, "\n");
    if (!rc)
        rc = put_bounds(p, out, e);
    return rc ? rc : training_text(&p->x->study, &p->x->design, out, e);
}
