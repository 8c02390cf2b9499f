/* Tables beside the rows of a study: plans by layer and by stage, and how searches went. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "kinds/hetero/hetero_run.h"

/* An axis that has the name of a result (evaluations, servers) is called vary.NAME: who reads the table looks
 * for the result. Before the first row. */
static void rename_axes(struct table *t, const struct hetero_runs *r)
{
    for (int32_t c = 1; c <= r->study->sweep.n_keys && !t->failed; c++) { /* column 0 is the point */
        bool taken = false;
        for (int32_t k = r->study->sweep.n_keys + 1; k < t->n_cols; k++)
            taken = taken || strcmp(t->names[k], t->names[c]) == 0;
        if (!taken)
            continue;
        struct text name = { 0 };
        text_printf(&name, "vary.%s", t->names[c]);
        char *copy = name.failed ? NULL : strdup(text_str(&name));
        text_free(&name);
        t->failed = !copy;
        if (copy) {
            free(t->names[c]);
            t->names[c] = copy;
        }
    }
}

static void make_plans(struct table *t, const struct hetero_runs *r)
{
    hetero_put_columns(t, r);
    table_column(t, "layer", TABLE_COUNT);
    table_column(t, "name", TABLE_TEXT);
    table_column(t, "kind", TABLE_TEXT);
    table_column(t, "type", TABLE_TEXT);
    table_column(t, "stage", TABLE_COUNT);
    table_column(t, "units", TABLE_COUNT);
    table_column(t, "unit_usd_per_h", TABLE_REAL);
    rename_axes(t, r);
}

/* What a unit of @p type costs, with its host. */
static double unit_usd_per_h(const struct hetero_profile *f, int32_t type)
{
    const struct hetero_type *t = &f->types[type];
    return t->usd_per_h + (t->host >= 0 ? (double)t->host_units * f->types[t->host].usd_per_h : 0);
}

static void put_layers(struct table *t, const struct hetero_runs *r, const struct hetero_unit *u)
{
    const struct hetero_profile *f = &r->states[u->point].point.profile;
    for (int32_t i = 0; i < u->n_stages; i++)
        for (int32_t l = u->stages[i].first; l <= u->stages[i].last; l++) {
            hetero_put_unit(t, r, u);
            table_put_count(t, l + 1);
            table_put_text(t, f->layers[l].name);
            table_put_text(t, hetero_kind_words[f->layers[l].kind]);
            table_put_text(t, f->types[u->stages[i].type].name);
            table_put_count(t, i + 1);
            table_put_count(t, u->stages[i].units);
            table_put_real(t, unit_usd_per_h(f, u->stages[i].type));
        }
}

static void make_stages(struct table *t, const struct hetero_runs *r)
{
    hetero_put_columns(t, r);
    table_column(t, "usd", TABLE_REAL);
    table_column(t, "stage", TABLE_COUNT);
    table_column(t, "first", TABLE_COUNT);
    table_column(t, "last", TABLE_COUNT);
    table_column(t, "first_name", TABLE_TEXT);
    table_column(t, "last_name", TABLE_TEXT);
    table_column(t, "type", TABLE_TEXT);
    table_column(t, "units", TABLE_COUNT);
    table_column(t, "servers", TABLE_COUNT);
    table_column(t, "compute_us", TABLE_REAL);
    table_column(t, "comm_us", TABLE_REAL);
    table_column(t, "limit", TABLE_TEXT);
    table_column(t, "examples_per_s", TABLE_REAL);
    table_column(t, "usd_per_h", TABLE_REAL);
    table_column(t, "weight_GB", TABLE_REAL);
    table_column(t, "memory_GB", TABLE_REAL);
    rename_axes(t, r);
}

/* Parameters of the layers of a stage [B]. */
static double weight_B(const struct hetero_profile *f, const struct hetero_stage_run *x)
{
    double sum_B = 0;
    for (int32_t l = x->first; l <= x->last; l++)
        sum_B += f->layers[l].weight_B;
    return sum_B;
}

/* What takes longest of what a stage does. */
static const char *limit_of(const struct hetero_stage_run *x)
{
    if (x->server_s > x->compute_s && x->server_s > x->comm_s)
        return "servers";
    return x->compute_s >= x->comm_s ? "compute" : "communication";
}

static void put_stages(struct table *t, const struct hetero_runs *r, const struct hetero_unit *u)
{
    const struct hetero_profile *f = &r->states[u->point].point.profile;
    for (int32_t i = 0; i < u->n_stages; i++) {
        const struct hetero_stage_run *x = &u->stages[i];
        hetero_put_unit(t, r, u);
        table_put_real(t, u->value.usd);
        table_put_count(t, i + 1);
        table_put_count(t, x->first + 1);
        table_put_count(t, x->last + 1);
        table_put_text(t, f->layers[x->first].name);
        table_put_text(t, f->layers[x->last].name);
        table_put_text(t, f->types[x->type].name);
        table_put_count(t, x->units);
        table_put_count(t, x->servers);
        table_put_real(t, x->compute_s * 1e6);
        table_put_real(t, x->comm_s * 1e6);
        table_put_text(t, limit_of(x));
        table_put_real(t, 1 / x->time_s);
        table_put_real(t, x->usd_per_h);
        double mem_B = f->types[x->type].mem_B;
        table_put_real(t, weight_B(f, x) / 1e9);
        table_put_real(t, mem_B > 0 ? (double)x->units * mem_B / 1e9 : (double)NAN);
    }
}

static void make_curves(struct table *t, const struct hetero_runs *r)
{
    hetero_put_columns(t, r);
    table_column(t, "evaluations", TABLE_COUNT);
    table_column(t, "usd", TABLE_REAL);
    table_column(t, "over_oracle", TABLE_REAL);
    rename_axes(t, r);
}

static void put_curve_point(struct table *t, const struct hetero_runs *r, const struct hetero_unit *u,
                            int64_t evaluations, double usd)
{
    hetero_put_unit(t, r, u);
    table_put_count(t, evaluations);
    table_put_real(t, usd);
    table_put_real(t, hetero_over_oracle(&r->states[u->point], usd));
}

/* Each improvement, and where the run ended. */
static void put_curve(struct table *t, const struct hetero_runs *r, const struct hetero_unit *u)
{
    for (int32_t i = 0; i < u->n_curve; i++)
        put_curve_point(t, r, u, u->curve[i].evaluations, u->curve[i].usd);
    if (!u->n_curve || u->curve[u->n_curve - 1].evaluations < u->evaluations)
        put_curve_point(t, r, u, u->evaluations, u->value.usd);
}

int hetero_make_details(const struct hetero_runs *r, struct err *e)
{
    const struct hetero_options *o = r->options;
    struct table *const tables[] = { o->plans, o->stages, o->curves };
    if (o->plans)
        make_plans(o->plans, r);
    if (o->stages)
        make_stages(o->stages, r);
    if (o->curves)
        make_curves(o->curves, r);
    for (const struct hetero_unit *u = r->units; u < r->units + r->n_units; u++) {
        if (!u->run || u->rc)
            continue;
        if (o->plans && u->stages)
            put_layers(o->plans, r, u);
        if (o->stages && u->stages)
            put_stages(o->stages, r, u);
        if (o->curves)
            put_curve(o->curves, r, u);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (tables[i] && tables[i]->failed)
            return err_nomem(e, "rows of plans");
    return 0;
}
