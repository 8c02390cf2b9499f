#include <math.h>

#include "cli/bind.h"
#include "cli/explain.h"

static void put_collective(const struct explain *p, int32_t load, const struct sim_collective *c,
                           struct json *j)
{
    const struct design_point *s = &p->x->study;
    const struct step_tree *t = &s->workloads[load].tree;
    const struct step_node *node = &t->nodes[c->node];
    json_open(j, NULL, '{');
    json_text(j, "name", node->name);
    json_text(j, "kind", collective_names[node->collective]);
    json_text(j, "group", t->groups[node->group].name);
    json_text(j, "phase", step_phase_names[node->phase]);
    json_real(j, "times", c->times);
    json_bool(j, "critical", c->critical);
    json_open(j, "binds", '[');
    for (int32_t d = 0; d < s->net.n_dims; d++)
        if (c->binds[d])
            json_text(j, NULL, s->net.dims[d].name);
    json_close(j, ']');
    json_open(j, "algorithms", '[');
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        struct text choice = { 0 };
        bind_choice(&choice, c, d);
        json_text(j, NULL, choice.n ? text_str(&choice) : NULL);
        text_free(&choice);
    }
    json_close(j, ']');
    json_real(j, "time_s", c->time_s);
    json_real(j, "exposed_s", c->critical ? c->times * c->time_s : 0);
    json_real(j, "latency_s", c->latency_s);
    if (s->model == SIM_CHUNK) {
        json_real(j, "queue_s", c->queue_s);
        json_text(j, "order", sim_order_words[c->order]);
    }
    json_reals(j, "traffic_B", c->traffic_B, s->net.n_dims);
    json_reals(j, "busy_s", c->busy_s, s->net.n_dims);
    json_close(j, '}');
}

static void put_loads(const struct explain *p, struct json *j)
{
    const struct design *x = &p->x->design;
    json_open(j, "workloads", '[');
    for (int32_t i = 0; i < x->n_loads; i++) {
        const struct sim_step *c = &x->loads[i].step;
        json_open(j, NULL, '{');
        json_text(j, "name", p->x->study.workloads[i].tree.name);
        json_real(j, "weight", p->x->study.workloads[i].weight);
        json_real(j, "time_s", c->time_s);
        json_real(j, "compute_s", c->compute_s);
        json_real(j, "latency_s", c->latency_s);
        json_reals(j, "exposed_s", c->exposed_s, c->n_dims);
        json_open(j, "collectives", '[');
        for (int32_t k = 0; k < c->n_collectives; k++)
            put_collective(p, i, &c->collectives[k], j);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_changes(const struct explain *p, struct json *j)
{
    const struct design_point *s = &p->x->study;
    json_open(j, "one_more_GBps", '[');
    for (int32_t d = 0; d < p->x->design.n_dims; d++) {
        json_open(j, NULL, '{');
        json_text(j, "dim", s->net.dims[d].name);
        json_real(j, "saves_s", p->steps[d].gain_s);
        json_real(j, "costs_usd", p->steps[d].usd);
        json_real(j, "one_usd_less_loses_s", p->steps[d].loss_s);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_open(j, "one_usd_less", '{');
    json_text(j, "dim",
              !isfinite(p->cheapest_s)     ? NULL
              : p->cheapest == EXPLAIN_ALL ? "all"
                                           : s->net.dims[p->cheapest].name);
    json_real(j, "loses_s", p->cheapest_s);
    json_text(j, "constraint", p->usd_row >= 0 ? s->rows.rows[p->usd_row].name : NULL);
    json_real(j, "shadow_price_s", p->usd_row >= 0 ? p->usd_row_s : NAN);
    json_close(j, '}');
}

static void put_bounds(const struct explain *p, struct json *j)
{
    json_open(j, "bounds", '[');
    for (int32_t i = 0; i < p->n_bounds; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", p->bounds[i].name);
        json_real(j, "time_s", p->bounds[i].value_s);
        json_bool(j, "holds", explain_holds(p, &p->bounds[i]));
        json_close(j, '}');
    }
    json_close(j, ']');
}

void explain_json(const struct explain *p, struct text *out)
{
    const struct design_point *s = &p->x->study;
    const struct design *x = &p->x->design;
    struct json j = { .out = out };
    char word[TOPO_SPEC];
    json_open(&j, NULL, '{');
    output_json_head(&j, p->run, output_origin(s));
    json_text(&j, "status", p->x->solved ? alloc_status_names[x->answer.status] : "given");
    json_text(&j, "network", load_network_name(word, &s->net));
    json_text(&j, "model", sim_model_words[s->model]);
    json_real(&j, "time_s", x->time_s);
    json_open(&j, "dims", '[');
    for (int32_t d = 0; d < x->n_dims; d++)
        json_text(&j, NULL, s->net.dims[d].name);
    json_close(&j, ']');
    json_open(&j, "bw_GBps", '[');
    for (int32_t d = 0; d < x->n_dims; d++)
        json_real(&j, NULL, x->bw_Bps[d] / 1e9);
    json_close(&j, ']');
    put_loads(p, &j);
    put_changes(p, &j);
    put_bounds(p, &j);
    json_close(&j, '}');
    text_puts(out, "\n");
}

static void put_row(const struct explain *p, int32_t load, const struct sim_collective *c, int32_t d,
                    struct table *t)
{
    const struct design_point *s = &p->x->study;
    const struct step_tree *tree = &s->workloads[load].tree;
    const struct step_node *node = &tree->nodes[c->node];
    table_row(t);
    table_put_text(t, tree->name);
    table_put_text(t, node->name);
    table_put_text(t, collective_names[node->collective]);
    table_put_text(t, tree->groups[node->group].name);
    table_put_text(t, step_phase_names[node->phase]);
    table_put_text(t, s->net.dims[d].name);
    struct text choice = { 0 };
    bind_choice(&choice, c, d);
    table_put_text(t, text_str(&choice));
    text_free(&choice);
    table_put_text(t, c->binds[d] ? "yes" : "no");
    table_put_text(t, c->critical ? "yes" : "no");
    table_put_real(t, c->times);
    table_put_real(t, c->traffic_B[d]);
    table_put_real(t, p->x->design.bw_Bps[d] / 1e9);
    table_put_real(t, c->busy_s[d]);
    table_put_real(t, c->times * c->busy_s[d] / p->x->design.loads[load].time_s);
}

void explain_table(const struct explain *p, struct table *t)
{
    static const char *const columns[] = { "workload",  "collective", "kind",    "group",        "phase",
                                           "dimension", "algorithm",  "decides", "critical",     "times",
                                           "traffic_B", "bw_GBps",    "busy_s",  "share_of_step" };
    enum { N_TEXTS = 9 };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i], i < N_TEXTS ? TABLE_TEXT : TABLE_REAL);
    for (int32_t i = 0; i < p->x->design.n_loads; i++) {
        const struct sim_step *c = &p->x->design.loads[i].step;
        for (int32_t k = 0; k < c->n_collectives; k++)
            for (int32_t d = 0; d < c->n_dims; d++)
                if (c->collectives[k].traffic_B[d] > 0)
                    put_row(p, i, &c->collectives[k], d, t);
    }
}
