/*
 * The tables of a study of layers on types of resources: a row for each point and scheduler, and beside them
 * runs, plans by layer and by stage, and how searches went.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "base/text.h"
#include "kinds/hetero/point.h"
#include "study/axes.h"

/* One row; counts below 0 and NaN are blank. */
struct hetero_row {
    const char *model, *scheduler, *proof, *oracle_proof, *status, *message;
    int64_t types, layers, seeds, feasible, stages, units, plans_tried;
    double usd, usd_worst, over_oracle, over_oracle_worst, over_best, over_rl, oracle_usd;
    double need_per_s, most_per_s, examples_per_s, reach_per_s, usd_per_h, schedule_s;
};

#define WORD(key, text)                                                                                      \
    {                                                                                                        \
#key, text, TABLE_TEXT, offsetof(struct hetero_row, key)                                             \
    }
#define COUNT(key, text)                                                                                     \
    {                                                                                                        \
#key, text, TABLE_COUNT, offsetof(struct hetero_row, key)                                            \
    }
#define REAL(key, text)                                                                                      \
    {                                                                                                        \
#key, text, TABLE_REAL, offsetof(struct hetero_row, key)                                             \
    }

const struct hetero_column hetero_columns[] = {
    WORD(model, "what is trained"),
    COUNT(types, "types of resources"),
    COUNT(layers, "layers of the model"),
    WORD(scheduler, "who made the plan"),
    COUNT(seeds, "runs: 1 of a scheduler that draws nothing"),
    REAL(usd, "cost of the training: the median over seeds; one without a plan is infinitely dear"),
    REAL(usd_worst, "of the dearest seed; none where a seed has no plan"),
    REAL(over_oracle, "usd over oracle_usd"),
    REAL(over_oracle_worst, "usd_worst over oracle_usd"),
    REAL(over_best, "usd over that of the cheapest scheduler of the point"),
    REAL(over_rl, "usd over that of rl-lstm"),
    COUNT(feasible, "seeds with a plan that reaches the throughput within the limits"),
    REAL(need_per_s, "throughput that is asked for, examples/s"),
    REAL(examples_per_s, "throughput of the plan; this, usd_per_h, stages, units, plans_tried and proof are "
                         "of the seed in the middle"),
    REAL(reach_per_s, "where no seed has a plan: the most that one tried reaches within the limits"),
    REAL(usd_per_h, "price of all its units"),
    COUNT(stages, "of its pipeline"),
    COUNT(units, "that are paid for: of stages, hosts and parameter servers"),
    COUNT(plans_tried, "plans that were evaluated"),
    WORD(proof,
         "what the scheduler says of its plan: optimal; not proved: limits of units that stages share bind, "
         "another provisioning than exact, or it gave up; no plan: there is none"),
    REAL(oracle_usd, "cost of the cheapest plan, or a bound that no plan is below"),
    WORD(oracle_proof, "which of them: optimal, lower bound; no plan: proved that there is none"),
    REAL(most_per_s, "throughput that no plan exceeds"),
    REAL(schedule_s, "with --timing: wall clock, median over seeds"),
    WORD(status, "done; partly: some seeds have no plan; infeasible: none has; error"),
    WORD(message, "why it is not done"),
    { .name = NULL },
};

/* ---- cells ---- */

/* An axis of the same name is in the table already; wall clock only when asked for. */
static bool has_column(const struct hetero_runs *r, const char *name)
{
    for (int32_t k = 0; k < r->study->sweep.n_keys; k++)
        if (strcmp(r->study->sweep.keys[k].path, name) == 0)
            return false;
    return r->options->timing || strcmp(name, "schedule_s") != 0;
}

static void *field_of(struct hetero_row *row, const struct hetero_column *c)
{
    return (char *)row + c->offset;
}

static void clear(struct hetero_row *row)
{
    for (const struct hetero_column *c = hetero_columns; c->name; c++)
        if (c->kind == TABLE_TEXT)
            *(const char **)field_of(row, c) = NULL;
        else if (c->kind == TABLE_REAL)
            *(double *)field_of(row, c) = NAN;
        else
            *(int64_t *)field_of(row, c) = -1;
}

static void put_row(struct table *t, const struct hetero_runs *r, int64_t point, struct hetero_row *row)
{
    sweep_put_point(t, &r->study->sweep, point);
    for (const struct hetero_column *c = hetero_columns; c->name; c++) {
        int64_t n = c->kind == TABLE_COUNT ? *(int64_t *)field_of(row, c) : 0;
        if (!has_column(r, c->name))
            continue;
        if (c->kind == TABLE_TEXT)
            table_put_text(t, *(const char **)field_of(row, c));
        else if (c->kind == TABLE_REAL)
            table_put_real(t, *(double *)field_of(row, c));
        else
            table_put_count(t, n < 0 ? INT64_MIN : n);
    }
}

/* What a scheduler says of its plan: of one that only a bound belongs to, that nothing is proved of it. */
static const char *proof_word(enum hetero_proof proof)
{
    static const char *const words[] = { [HETERO_UNPROVED] = NULL,
                                         [HETERO_OPTIMAL] = "optimal",
                                         [HETERO_LOWER_BOUND] = "not proved",
                                         [HETERO_NO_PLAN] = "no plan" };
    return words[proof];
}

/* What oracle_usd is. */
static const char *oracle_word(enum hetero_proof proof)
{
    return proof == HETERO_LOWER_BOUND ? "lower bound" : proof_word(proof);
}

/* ---- what all tables share ---- */

void hetero_put_columns(struct table *t, const struct hetero_runs *r)
{
    sweep_put_columns(t, &r->study->sweep);
    if (has_column(r, "model"))
        table_column(t, "model", TABLE_TEXT);
    table_column(t, "scheduler", TABLE_TEXT);
    table_column(t, "seed", TABLE_COUNT);
}

void hetero_put_unit(struct table *t, const struct hetero_runs *r, const struct hetero_unit *u)
{
    const struct hetero_scheduler *x = hetero_unit_scheduler(r, u);
    sweep_put_point(t, &r->study->sweep, u->point);
    if (has_column(r, "model"))
        table_put_text(t, r->states[u->point].point.profile.name);
    table_put_text(t, x->name);
    table_put_count(t, x->seeded ? u->seed : INT64_MIN);
}

bool hetero_unit_counts(const struct hetero_runs *r, const struct hetero_unit *u)
{
    return u->run && (u->rc != ERR_RANGE || r->states[u->point].point.listed);
}

/* Costs of one plan that are summed in another order differ in their last bits. */
#define SAME_COST 1e-9

/* @p usd over @p base_usd, which may not be below it where @p proved. */
static double ratio(double usd, double base_usd, bool proved)
{
    double over = usd / base_usd;
    return proved && fabs(over - 1) <= SAME_COST ? 1 : over;
}

double hetero_over_oracle(const struct hetero_state *s, double usd)
{
    return s->oracle_usd > 0 ? ratio(usd, s->oracle_usd, s->oracle_proof == HETERO_OPTIMAL) : (double)NAN;
}

/* ---- rows ---- */

static double unit_usd(const struct hetero_unit *u)
{
    return !u->rc && u->value.status == HETERO_OK ? u->value.usd : (double)INFINITY;
}

/* Cheapest first; of those without a plan the one that reaches most. Equals as they were: by seed. */
static int compare_units(const void *a, const void *b)
{
    const struct hetero_unit *x = a, *y = b;
    double dx = unit_usd(x), dy = unit_usd(y);
    if (dx < dy || dx > dy)
        return dx < dy ? -1 : 1;
    if (isinf(dx) &&
        (x->value.reach_per_s > y->value.reach_per_s || x->value.reach_per_s < y->value.reach_per_s))
        return x->value.reach_per_s > y->value.reach_per_s ? -1 : 1;
    return x->seed < y->seed ? -1 : x->seed > y->seed;
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The runs of one scheduler at one point. */
struct group {
    const struct hetero_unit *first, *best, *middle, *last; /* by cost; middle: the cheaper of two */
    int64_t n, feasible;
    double usd, worst_usd, schedule_s; /* medians but for the worst; INFINITY without a plan */
};

static int find_median(struct group *g, struct err *e)
{
    double *x = malloc((size_t)g->n * sizeof *x);
    if (!x)
        return err_nomem(e, "a median");
    for (int64_t i = 0; i < g->n; i++)
        x[i] = g->first[i].schedule_s;
    qsort(x, (size_t)g->n, sizeof *x, compare_reals);
    g->schedule_s = stat_quantile(x, g->n, 0.5);
    free(x);
    return 0;
}

/* The original of a copy: runs of a scheduler have seeds one after the other. */
static const struct hetero_unit *original(const struct group *g, const struct hetero_unit *copy)
{
    return g->first + (copy->seed - g->first->seed);
}

/* @p g has first and n. */
static int sum_up(struct group *g, struct err *e)
{
    struct hetero_unit *sorted = malloc((size_t)g->n * sizeof *sorted);
    if (!sorted)
        return err_nomem(e, "rows of a study");
    memcpy(sorted, g->first, (size_t)g->n * sizeof *sorted);
    qsort(sorted, (size_t)g->n, sizeof *sorted, compare_units);
    for (int64_t i = 0; i < g->n; i++)
        g->feasible += isfinite(unit_usd(&sorted[i]));
    g->best = original(g, &sorted[0]);
    g->middle = original(g, &sorted[(g->n - 1) / 2]);
    g->last = original(g, &sorted[g->n - 1]);
    g->usd = (unit_usd(g->middle) + unit_usd(&sorted[g->n / 2])) / 2;
    g->worst_usd = unit_usd(g->last);
    free(sorted);
    return find_median(g, e);
}

/* The schedulers of a point, in the order of its list. Returns how many; shape [HETERO_MAX_SCHEDULERS]. */
static int32_t find_groups(struct group *groups, const struct hetero_runs *r, const struct hetero_state *s)
{
    const struct hetero_unit *u = r->units + s->first_unit, *end = u + s->n_units;
    int32_t n = 0;
    for (; u < end; u++) {
        if (n == 0 || groups[n - 1].first->scheduler != u->scheduler)
            groups[n++] = (struct group){ .first = u };
        groups[n - 1].n++;
    }
    return n;
}

static void fill_state(struct hetero_row *row, const struct hetero_state *s)
{
    const struct hetero_profile *f = &s->point.profile;
    row->model = f->n_layers ? f->name : NULL;
    row->types = f->n_layers ? f->n_types : -1;
    row->layers = f->n_layers ? f->n_layers : -1;
    row->need_per_s = s->aim.per_s > 0 ? s->aim.per_s : (double)NAN;
    row->most_per_s = s->aim.most_per_s > 0 ? s->aim.most_per_s : (double)NAN;
}

/* Of the run in the middle. */
static void fill_middle(struct hetero_row *row, const struct hetero_unit *u)
{
    bool has_plan = !u->rc && u->value.status == HETERO_OK;
    row->plans_tried = u->rc ? -1 : u->evaluations;
    row->proof = u->rc ? NULL : proof_word(u->proof);
    if (!has_plan)
        return;
    row->examples_per_s = u->value.per_s;
    row->usd_per_h = u->value.usd_per_h;
    row->stages = u->n_stages;
    row->units = u->units;
}

/* @p text: room for the message. */
static void fill_status(struct hetero_row *row, const struct group *g, struct text *text)
{
    row->status = g->feasible == g->n ? "done" : g->feasible ? "partly" : "infeasible";
    if (g->last->rc) {
        row->status = "error";
        text_puts(text, g->last->message);
    } else if (g->feasible == 0) {
        text_printf(text, "%s: reaches at most %.6g examples/s", hetero_status_words[g->best->value.status],
                    g->best->value.reach_per_s);
    } else if (g->feasible < g->n) {
        text_printf(text, "%lld of %lld seeds have no plan", (long long)(g->n - g->feasible),
                    (long long)g->n);
    }
    row->message = text->n ? text_str(text) : NULL;
}

/* The cheapest median of the point, and that of rl-lstm. */
struct bases {
    double best_usd, rl_usd;
};

static struct bases find_bases(const struct hetero_runs *r, const struct group *groups, int32_t n)
{
    struct bases b = { INFINITY, NAN };
    for (int32_t i = 0; i < n; i++) {
        b.best_usd = fmin(b.best_usd, groups[i].usd);
        if (strcmp(hetero_unit_scheduler(r, groups[i].first)->name, "rl-lstm") == 0)
            b.rl_usd = groups[i].usd;
    }
    return b;
}

static void put_scheduler(struct table *t, const struct hetero_runs *r, const struct group *g,
                          const struct bases *bases)
{
    const struct hetero_state *s = &r->states[g->first->point];
    struct hetero_row row;
    struct text text = { 0 };
    clear(&row);
    fill_state(&row, s);
    row.seeds = g->n;
    row.feasible = g->feasible;
    row.scheduler = hetero_unit_scheduler(r, g->first)->name;
    row.usd = g->usd;
    row.usd_worst = g->worst_usd;
    row.over_oracle = hetero_over_oracle(s, row.usd);
    row.over_oracle_worst = hetero_over_oracle(s, row.usd_worst);
    row.over_best = ratio(row.usd, bases->best_usd, s->oracle_proof == HETERO_OPTIMAL);
    row.over_rl = ratio(row.usd, bases->rl_usd, s->oracle_proof == HETERO_OPTIMAL);
    row.oracle_usd = s->oracle_usd;
    row.oracle_proof = oracle_word(s->oracle_proof);
    row.schedule_s = g->schedule_s;
    if (g->feasible == 0 && !g->best->rc)
        row.reach_per_s = g->best->value.reach_per_s;
    fill_middle(&row, g->middle);
    fill_status(&row, g, &text);
    put_row(t, r, g->first->point, &row);
    t->failed = t->failed || text.failed;
    text_free(&text);
}

static void put_failed(struct table *t, const struct hetero_runs *r, int64_t point)
{
    const struct hetero_state *s = &r->states[point];
    struct hetero_row row;
    clear(&row);
    fill_state(&row, s);
    row.status = s->rc == ERR_NO_DESIGN ? "infeasible" : "error";
    row.message = s->message;
    put_row(t, r, point, &row);
}

static int put_point(struct table *t, const struct hetero_runs *r, int64_t point, struct err *e)
{
    const struct hetero_state *s = &r->states[point];
    struct group groups[HETERO_MAX_SCHEDULERS];
    int32_t n = find_groups(groups, r, s);
    int rc = 0;
    if (s->run && s->rc)
        put_failed(t, r, point);
    for (int64_t i = 0; i < s->n_units; i++)
        if (!r->units[s->first_unit + i].run)
            return 0;
    for (int32_t i = 0; i < n && !rc; i++)
        rc = sum_up(&groups[i], e);
    if (rc)
        return rc;
    struct bases bases = find_bases(r, groups, n);
    for (int32_t i = 0; i < n; i++)
        if (hetero_unit_counts(r, groups[i].first))
            put_scheduler(t, r, &groups[i], &bases);
    return 0;
}

/* A row for each run. */
static void make_runs(struct table *t, const struct hetero_runs *r)
{
    static const char *const reals[] = { "usd", "over_oracle", "examples_per_s", "reach_per_s", "usd_per_h" };
    hetero_put_columns(t, r);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        table_column(t, reals[i], TABLE_REAL);
    table_column(t, "stages", TABLE_COUNT);
    table_column(t, "units", TABLE_COUNT);
    table_column(t, "plans_tried", TABLE_COUNT);
    table_column(t, "proof", TABLE_TEXT);
    if (r->options->timing)
        table_column(t, "schedule_s", TABLE_REAL);
    table_column(t, "status", TABLE_TEXT);
    table_column(t, "message", TABLE_TEXT);
    for (const struct hetero_unit *u = r->units; u < r->units + r->n_units; u++) {
        bool has_plan = isfinite(unit_usd(u));
        if (!hetero_unit_counts(r, u))
            continue;
        hetero_put_unit(t, r, u);
        table_put_real(t, unit_usd(u));
        table_put_real(t, hetero_over_oracle(&r->states[u->point], unit_usd(u)));
        table_put_real(t, has_plan ? u->value.per_s : (double)NAN);
        table_put_real(t, has_plan || u->rc ? (double)NAN : u->value.reach_per_s);
        table_put_real(t, has_plan ? u->value.usd_per_h : (double)NAN);
        table_put_count(t, has_plan ? u->n_stages : INT64_MIN);
        table_put_count(t, has_plan ? u->units : INT64_MIN);
        table_put_count(t, u->rc ? INT64_MIN : u->evaluations);
        table_put_text(t, u->rc ? NULL : proof_word(u->proof));
        if (r->options->timing)
            table_put_real(t, u->schedule_s);
        table_put_text(t, u->rc ? "error" : has_plan ? "done" : hetero_status_words[u->value.status]);
        table_put_text(t, u->message);
    }
}

int hetero_make_tables(struct table *out, const struct hetero_runs *r, struct err *e)
{
    int rc = 0;
    sweep_put_columns(out, &r->study->sweep);
    for (const struct hetero_column *c = hetero_columns; c->name; c++)
        if (has_column(r, c->name))
            table_column(out, c->name, c->kind);
    for (int64_t i = 0; i < r->study->sweep.n_points && !rc; i++)
        rc = put_point(out, r, i, e);
    if (!rc && r->options->runs)
        make_runs(r->options->runs, r);
    if (!rc && (out->failed || (r->options->runs && r->options->runs->failed)))
        rc = err_nomem(e, "rows of a study");
    return rc ? rc : hetero_make_details(r, e);
}

/* ---- tables beside the rows ---- */

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
