/*
 * What would have to be otherwise for another design to be the best: one input after another, each on both
 * sides of what it is (whatif.h). All other work is that of weft best; what is new is which value to ask
 * about.
 */
#include "kinds/design/explore/whatif.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "base/work.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/ask/system.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/solve.h"

/* Values closer than this are as good; a place is found to this part of what is known to lie around it. */
#define SAME_REL  1e-9
#define PLACE_REL 1e-5

enum { MOST_PRODUCTS = 8, MOST_OVERTAKEN = 16, MOST_STEPS = 40, LOW = 0, AS_IS = 1, HIGH = 2 };

/* What has a price, a power and efficiencies of its own: points with one value of an axis. */
struct product {
    const char *value; /* NULL: the study has but one */
    char name[64];
    int64_t point; /* the best of it */
};

/* An input that is moved, and what came of it. */
struct lever {
    char path[sizeof(((struct whatif_line *)NULL)->path)], label[96];
    const struct product *of; /* NULL: of all points */
    double at[3];
    bool is_share; /* cannot be above 1 */
    bool is_price; /* of a part, which none of the leaders may have; then it is not looked at: */
    bool is_unused;
    struct whatif_line lines[2];
    int32_t n_lines;
    struct err err;
};

struct asking {
    struct study study; /* a copy that is shifted; owns nothing */
    struct best_ask one;
    struct lever *levers; /* shape [n_levers], owned */
    int32_t n_levers, cap_levers;
    char number[NUM_TEXT];
    int32_t key; /* of products; -1: the study has but one */
    struct product products[MOST_PRODUCTS];
    int32_t n_products;
    const int64_t *leaders; /* shape [n_leaders], borrowed */
    int32_t n_leaders;
    double *as_is; /* shape [n_leaders], owned: what they are worth */
};

static void shift_to(struct asking *a, const struct lever *l, double x)
{
    a->study.sweep.shift = (struct sweep_shift){ .at = { l->path, num_format(a->number, x) },
                                                 .key = l->of && l->of->value ? a->key : -1,
                                                 .value = l->of ? l->of->value : NULL };
}

/* Less is better. */
static double whatif_cost(const struct asking *a, double value)
{
    return a->one.by.factors[0].large ? -value : value;
}

static bool is_better(const struct asking *a, double value, double than)
{
    double cost = whatif_cost(a, value), other = whatif_cost(a, than);
    return !isnan(cost) && (isnan(other) || cost < other - SAME_REL * fabs(other));
}

/* Is another point better than the best one with the input at @p x? *point: that point. */
static int find_other(bool *is, int64_t *point, bool *proved, struct asking *a, const struct lever *l,
                      double x, struct err *e)
{
    struct best_answer *answer = malloc(sizeof *answer);
    shift_to(a, l, x);
    int rc = answer ? best_find(answer, &a->one, e) : err_nomem(e, "a question");
    *is = false;
    if (!rc && answer->rows.n_rows) {
        int64_t best = table_point(&answer->rows, 0);
        *is = best != a->one.rival && is_better(a, answer->values[0], answer->rival);
        *point = *is ? best : *point;
    }
    /* Where no point has a design nothing is open either. */
    *proved = !rc && *proved && answer->n_open == 0 && (answer->proved || !answer->rows.n_rows);
    if (!rc)
        best_free(answer);
    free(answer);
    return rc;
}

/* By how much point @p other is worse than the best; INFINITY: it has no design, -INFINITY: that has none. */
static int compare_with_best(double *by, struct asking *a, const struct lever *l, int64_t other, double x,
                             struct err *e)
{
    const int64_t list[2] = { a->one.rival, other };
    double values[2];
    shift_to(a, l, x);
    int rc = best_solve(values, &a->one, list, 2, e);
    if (!rc)
        *by = isnan(values[1])   ? (double)INFINITY
              : isnan(values[0]) ? -(double)INFINITY
                                 : whatif_cost(a, values[1]) - whatif_cost(a, values[0]);
    return rc;
}

/* Where point @p other becomes better, between *near, where it is not, and *far, where it is: false position,
 * with an end that stays halved (Illinois), and halves where one of the two has no design. */
static int narrow(double *near, double *far, struct asking *a, const struct lever *l, int64_t other,
                  struct err *e)
{
    double f_near, f_far;
    int stays = 0;
    int rc = compare_with_best(&f_near, a, l, other, *near, e);
    rc = rc ? rc : compare_with_best(&f_far, a, l, other, *far, e);
    for (int i = 0; i < MOST_STEPS && !rc && fabs(*far - *near) > PLACE_REL * fabs(*far); i++) {
        double f, share = f_near / (f_near - f_far);
        share = isfinite(share) ? fmin(fmax(share, PLACE_REL), 1 - PLACE_REL) : 0.5;
        double x = *near + share * (*far - *near);
        rc = compare_with_best(&f, a, l, other, x, e);
        bool is_near = f >= 0;
        *(is_near ? near : far) = x;
        *(is_near ? &f_near : &f_far) = f;
        double *kept = is_near ? &f_far : &f_near;
        *kept *= stays == (is_near ? 1 : -1) ? 0.5 : 1;
        stays = is_near ? 1 : -1;
    }
    return rc;
}

static bool can_be(struct asking *a, const struct lever *l, double x)
{
    struct design_point s;
    struct sweep_point p = { 0 };
    struct err ignored;
    if (a->study.sweep.n_grids)
        sweep_find_point(&p, &a->study.sweep, l->of ? l->of->point : a->one.rival);
    shift_to(a, l, x);
    bool can = !design_load(&s, &a->study, &p, &ignored);
    if (can)
        design_point_free(&s);
    return can;
}

/* How far to look; NaN: nowhere. */
static double find_end(struct asking *a, const struct lever *l, int side)
{
    double as_is = l->at[AS_IS], far = as_is > 0 ? side == LOW ? as_is / 2 : 2 * as_is : (double)NAN;
    double published = l->at[side], end = side == LOW ? fmin(published, far) : fmax(published, far);
    if (l->is_share)
        end = fmin(end, 1);
    if (!can_be(a, l, end))
        end = published;
    bool beyond = side == LOW ? end < as_is * (1 - SAME_REL) : end > as_is * (1 + SAME_REL);
    return beyond && can_be(a, l, end) ? end : (double)NAN;
}

static void name_line(struct whatif_line *line, const struct lever *l)
{
    snprintf(line->label, sizeof line->label, "%.80s%s%.60s", l->label, l->of && l->of->name[0] ? " of " : "",
             l->of ? l->of->name : "");
}

/* One input on one side. */
static int look_aside(struct asking *a, struct lever *l, int side, struct err *e)
{
    struct whatif_line line = { .at = { l->at[LOW], l->at[AS_IS], l->at[HIGH] },
                                .value = NAN,
                                .end = find_end(a, l, side),
                                .point = -1,
                                .proved = true };
    double near = line.end;
    bool is;
    if (isnan(line.end))
        return 0;
    int rc = find_other(&is, &line.point, &line.proved, a, l, near, e);
    for (int i = 0; is && !rc && i < MOST_OVERTAKEN && !work_stopped(); i++) {
        line.value = near;
        near = l->at[AS_IS];
        rc = narrow(&near, &line.value, a, l, line.point, e);
        rc = rc ? rc : find_other(&is, &line.point, &line.proved, a, l, near, e);
    }
    line.proved = line.proved && !is && !work_stopped();
    name_line(&line, l);
    memcpy(line.path, l->path, sizeof line.path);
    line.product = l->of ? l->of->value : NULL;
    line.key = line.product ? a->key : -1;
    l->lines[l->n_lines++] = line;
    return rc;
}

/* Is it the price of a part that no leader has? */
static int find_unused(bool *unused, struct asking *a, const struct lever *l, struct err *e)
{
    double *moved = malloc((size_t)a->n_leaders * sizeof *moved);
    shift_to(a, l, l->at[HIGH]);
    int rc = moved ? best_solve(moved, &a->one, a->leaders, a->n_leaders, e) : err_nomem(e, "inputs");
    *unused = true;
    for (int32_t i = 0; i < a->n_leaders && !rc; i++)
        *unused = *unused && fabs(moved[i] - a->as_is[i]) <= SAME_REL * fabs(a->as_is[i]);
    free(moved);
    return rc;
}

static int look_at(struct asking *a, struct lever *l, struct err *e)
{
    int rc = l->is_price ? find_unused(&l->is_unused, a, l, e) : 0;
    for (int side = LOW; side <= HIGH && !rc && !l->is_unused && !work_stopped(); side += HIGH)
        rc = look_aside(a, l, side, e);
    return rc;
}

/* Inputs at the same time, each by one thread with a study of its own: the answer is that of one thread. */
static int look_at_all(struct asking *a, int32_t threads, struct err *e)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int32_t i = 0; i < a->n_levers; i++) {
        struct asking own = *a;
        own.one.study = &own.study;
        if (!work_stopped())
            a->levers[i].err.code = look_at(&own, &a->levers[i], &a->levers[i].err);
    }
    for (int32_t i = 0; i < a->n_levers; i++)
        if (a->levers[i].err.code)
            return err_set(e, a->levers[i].err.code, "%s", a->levers[i].err.msg);
    return 0;
}

static int gather_lines(struct whatif *out, const struct asking *a, struct err *e)
{
    out->lines = malloc(2 * (size_t)(a->n_levers + 1) * sizeof *out->lines);
    if (!out->lines)
        return err_nomem(e, "inputs");
    for (int32_t i = 0; i < a->n_levers; i++) {
        out->n_unused += a->levers[i].is_unused;
        for (int32_t k = 0; k < a->levers[i].n_lines; k++)
            out->lines[out->n++] = a->levers[i].lines[k];
    }
    return 0;
}

/* ---- what is moved ---- */

/* What varies is chosen, and not moved. */
static int add_lever(struct asking *a, const struct lever *l, const char *path, const char *label,
                     struct err *e)
{
    bool moved = l->at[AS_IS] > 0;
    for (int32_t k = 0; k < a->study.sweep.n_keys; k++)
        moved = moved && strcmp(a->study.sweep.keys[k].path, path) != 0;
    if (!moved)
        return 0;
    if (!vec_reserve(a->levers, a->cap_levers, a->n_levers + 1))
        return err_nomem(e, "inputs");
    struct lever *fresh = &a->levers[a->n_levers++];
    *fresh = *l;
    snprintf(fresh->path, sizeof fresh->path, "%s", path);
    snprintf(fresh->label, sizeof fresh->label, "%s", label);
    return 0;
}

/* Its value is that of a product, or a factor of what the product has. */
static bool is_of_product(const struct tornado_input *in)
{
    return in->of_point || in->of || in->relative || strncmp(in->path, "network.", 8) == 0;
}

/* Of products, or of all points. */
static int add_inputs(struct asking *a, const struct tornado *t, const struct product *product,
                      bool of_product, const struct design_point *s, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < t->n_inputs && !rc; i++) {
        const struct tornado_input *in = &t->inputs[i];
        struct lever l = { .of = of_product ? product : NULL, .is_price = in->range == TORNADO_BAND };
        if (is_of_product(in) != of_product)
            continue;
        tornado_find_at(l.at, in, s);
        rc = add_lever(a, &l, in->path, in->label, e);
    }
    return rc;
}

/* What measured products and collectives reach. */
static int add_efficiencies(struct asking *a, const struct product *product, const struct design_point *s,
                            struct err *e)
{
    char path[64], label[2 * sizeof s->net.dims[0].name];
    struct lever l = { .of = product, .is_share = true, .at = { NAN, NAN, NAN } };
    const char *of_npu = "network.npu.matrix_efficiency";
    l.at[AS_IS] = s->net.npu.matrix_efficiency;
    bool given = yaml_find(&s->doc, of_npu) >= 0;
    if (!given) { /* by size, or none */
        of_npu = "network.npu.step_share";
        l.at[AS_IS] = s->net.npu.step_share;
    }
    int rc = add_lever(a, &l, of_npu, of_npu, e);
    for (int32_t d = 0; d < s->net.n_dims && !rc; d++) {
        snprintf(path, sizeof path, "network.dims[%d].efficiency", (int)d);
        snprintf(label, sizeof label, "efficiency of links of %s", s->net.dims[d].name);
        l.at[AS_IS] = s->net.dims[d].efficiency;
        rc = add_lever(a, &l, path, label, e);
    }
    return rc;
}

/* "gb300-nvl72" of "../networks/gb300-nvl72.yaml". */
static void name_product(struct product *p)
{
    const char *slash = p->value ? strrchr(p->value, '/') : NULL;
    snprintf(p->name, sizeof p->name, "%s", slash ? slash + 1 : p->value ? p->value : "");
    char *end = strstr(p->name, ".yaml");
    if (end)
        *end = '\0';
}

static void find_products(struct asking *a, const int64_t *leaders, int32_t n)
{
    static const char *const paths[] = { "network.npu", "network" };
    const struct sweep *w = &a->study.sweep;
    a->key = -1;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        for (int32_t k = 0; k < w->n_keys; k++)
            a->key = strcmp(w->keys[k].path, paths[i]) == 0 && !w->keys[k].overridden ? k : a->key;
    for (int32_t i = 0; i < n && a->n_products < MOST_PRODUCTS; i++) {
        struct sweep_point p = { 0 };
        struct product *fresh = &a->products[a->n_products];
        bool is_new = true;
        *fresh = (struct product){ .point = leaders[i] };
        if (w->n_grids)
            sweep_find_point(&p, w, leaders[i]);
        if (a->key >= 0)
            fresh->value = sweep_value(w, &p, a->key);
        for (int32_t k = 0; k < a->n_products && is_new; k++)
            is_new = fresh->value && a->products[k].value && strcmp(a->products[k].value, fresh->value) != 0;
        name_product(fresh);
        a->n_products += is_new;
    }
}

static int add_product(struct asking *a, const struct tornado *t, int32_t i, struct err *e)
{
    const struct product *product = &a->products[i];
    struct design_point s;
    struct sweep_point p = { 0 };
    if (a->study.sweep.n_grids)
        sweep_find_point(&p, &a->study.sweep, product->point);
    a->study.sweep.shift = (struct sweep_shift){ 0 };
    int rc = design_load(&s, &a->study, &p, e);
    if (rc)
        return rc;
    if (i == 0)
        rc = add_inputs(a, t, product, false, &s, e);
    rc = rc ? rc : add_inputs(a, t, product, true, &s, e);
    rc = rc ? rc : add_efficiencies(a, product, &s, e);
    design_point_free(&s);
    return rc;
}

/* Those with a value first, the nearest ahead. */
static int by_distance(const void *a, const void *b)
{
    const struct whatif_line *x = a, *y = b;
    double dx = fabs(log(x->value / x->at[AS_IS])), dy = fabs(log(y->value / y->at[AS_IS]));
    if (isnan(dx) != isnan(dy))
        return isnan(dx) ? 1 : -1;
    if (dx < dy || dx > dy)
        return dx < dy ? -1 : 1;
    return strcmp(x->label, y->label);
}

int whatif_find(struct whatif *out, const struct best_ask *ask, const int64_t *leaders, int32_t n,
                struct err *e)
{
    struct asking *a = malloc(sizeof *a);
    struct tornado t = { 0 };
    struct err none = { 0 };
    *out = (struct whatif){ 0 };
    if (!a)
        return err_nomem(e, "inputs");
    assert(n > 0);
    *a = (struct asking){ .study = *ask->study, .one = *ask };
    a->one.study = &a->study;
    a->one.top = 1;
    a->one.has_rival = true;
    a->one.rival = leaders[0];
    a->one.progress = NULL;
    a->one.threads = 1;
    int rc = ask->study->sweep.n_keys < SWEEP_MAX_KEYS
                 ? 0
                 : err_set(e, ERR_RANGE, "%s: varies %d keys, expected at most %d for --what-if",
                           ask->study->from.path, SWEEP_MAX_KEYS, SWEEP_MAX_KEYS - 1);
    /* A study of which nothing is uncertain has efficiencies all the same. */
    int unsure = rc ? rc : tornado_build(&t, ask->study, true, &none);
    if (!rc && err_is_of_machine(unsure))
        rc = err_set(e, none.code, "%s", none.msg);
    a->leaders = leaders;
    a->n_leaders = n;
    a->as_is = calloc((size_t)n, sizeof *a->as_is);
    rc = rc || a->as_is ? rc : err_nomem(e, "inputs");
    rc = rc ? rc : best_solve(a->as_is, &a->one, leaders, n, e);
    find_products(a, leaders, n);
    for (int32_t i = 0; i < a->n_products && !rc; i++)
        rc = add_product(a, &t, i, e);
    if (!unsure)
        tornado_free(&t);
    rc = rc ? rc : look_at_all(a, ask->threads, e);
    rc = rc ? rc : gather_lines(out, a, e);
    if (out->n)
        qsort(out->lines, (size_t)out->n, sizeof *out->lines, by_distance);
    while (out->n_found < out->n && !isnan(out->lines[out->n_found].value))
        out->n_found++;
    free(a->as_is);
    free(a->levers);
    free(a);
    if (rc)
        whatif_free(out);
    return rc;
}

void whatif_free(struct whatif *w)
{
    free(w->lines);
    *w = (struct whatif){ 0 };
}

/* ---- draws ---- */

/* What is sought of one design in each draw, less is better; NaN: it is not drawn. */
static int draw_design(double *costs, const struct best_by *by, const struct uncertain *u,
                       const struct design *d, struct err *e)
{
    int rc = 0;
    double *x = malloc((size_t)u->draws * sizeof *x);
    for (int64_t i = 0; i < u->draws; i++)
        costs[i] = by->factors[0].large ? -1 : 1;
    for (int32_t k = 0; k < by->n && x && !rc; k++) {
        const char *name = by->factors[k].name;
        bool is_rate = strcmp(name, DESIGN_COLUMN_IN(training, tokens_per_s)) == 0;
        int32_t q = uncertain_quantity(u, is_rate ? DESIGN_COLUMN(time_s) : name);
        rc = q < 0 ? 0 : uncertain_draws(x, u, d, q, e);
        for (int64_t i = 0; i < u->draws && !rc; i++)
            costs[i] *= q < 0 ? (double)NAN : is_rate ? design_step_tokens(d->chosen.point) / x[i] : x[i];
    }
    free(x);
    return rc || x ? rc : err_nomem(e, "draws");
}

static int draw_leader(double *costs, const struct best_ask *ask, int64_t point, struct err *e)
{
    const struct design_own *own = ask->study->own;
    struct sweep_point p = { 0 };
    struct design_point s;
    struct design_choice chosen;
    struct design d;
    if (ask->study->sweep.n_grids)
        sweep_find_point(&p, &ask->study->sweep, point);
    int rc = design_load(&s, ask->study, &p, e);
    if (rc)
        return rc;
    rc = design_choose_with(&chosen, &s, own->shelf, e);
    rc = rc ? rc : answer_row(&d, chosen, e);
    if (!rc) {
        rc = draw_design(costs, &ask->by, &own->uncertain, &d, e);
        design_free(&d);
    }
    design_point_free(&s);
    return rc;
}

/* By what the draws of one design lie apart at most, of any of @p n. */
static double spread_of(const double *costs, int32_t n, int64_t draws)
{
    double most = 1;
    for (int32_t k = 0; k < n; k++) {
        double low = INFINITY, high = 0;
        for (int64_t i = 0; i < draws; i++) {
            low = fmin(low, fabs(costs[k * draws + i]));
            high = fmax(high, fabs(costs[k * draws + i]));
        }
        most = fmax(most, high / low);
    }
    return most;
}

/* Is it no worse than @p best by more than the spread? */
static bool is_near(const struct best_ask *ask, double value, double best, double spread)
{
    return ask->by.factors[0].large ? value * spread >= best : value <= best * spread;
}

/* Row @p row of @p t, unless it is a leader, into the list of designs within the noise. False: there is no
 * room.
 */
static bool add_near(int64_t *list, struct whatif_rest *rest, const struct table *t, int64_t row,
                     const int64_t *leaders, int32_t n)
{
    int64_t point = table_point(t, row);
    for (int32_t k = 0; k < n; k++)
        if (point == leaders[k])
            return true;
    if (rest->n == WHATIF_MOST_DRAWN)
        return false;
    list[rest->n++] = point;
    return true;
}

/* The designs of an answer within the noise, those that are as good as its rows too. */
static void take_near(int64_t *list, struct whatif_rest *rest, const struct best_answer *a,
                      const struct best_ask *ask, const int64_t *leaders, int32_t n, double spread)
{
    int64_t at = 0;
    bool near = true;
    rest->n = 0;
    rest->all = true;
    for (int64_t i = 0; i < a->rows.n_rows && near; i++) {
        int64_t kept = a->n_ties[i] < ask->ties ? a->n_ties[i] : ask->ties;
        near = is_near(ask, a->values[i], a->values[0], spread);
        bool fits = !near || (kept == a->n_ties[i] && add_near(list, rest, &a->rows, i, leaders, n));
        for (int64_t k = 0; k < kept && near && fits; k++)
            fits = add_near(list, rest, &a->ties, at + k, leaders, n);
        rest->all = rest->all && fits;
        at += kept;
    }
    rest->all = rest->all && (!near || a->rows.n_rows < ask->top);
}

/* Designs within the noise that are no leaders: into @p list, shape [WHATIF_MOST_DRAWN]. */
static int find_near(int64_t *list, struct whatif_rest *rest, const struct best_ask *ask,
                     const int64_t *leaders, int32_t n, double spread, struct err *e)
{
    struct best_answer *a = malloc(sizeof *a);
    struct best_ask more = *ask;
    const int32_t most = n + WHATIF_MOST_DRAWN < BEST_MAX_TOP ? n + WHATIF_MOST_DRAWN : BEST_MAX_TOP;
    int rc = a ? 0 : err_nomem(e, "draws");
    more.progress = NULL;
    more.top = n;
    more.ties = WHATIF_MOST_DRAWN;
    while (!rc && !rest->all && more.top < most) {
        more.top = 4 * more.top < most ? 4 * more.top : most;
        rc = best_find(a, &more, e);
        if (rc)
            break;
        take_near(list, rest, a, &more, leaders, n, spread);
        best_free(a);
    }
    free(a);
    return rc;
}

/* Who is the best of each draw, of @p all designs, the first @p n of which are leaders. */
static void tally(struct whatif_share *shares, struct whatif_rest *rest, const double *costs, int64_t draws,
                  int32_t n, int32_t all)
{
    for (int64_t i = 0; i < draws; i++) {
        int32_t best = 0;
        for (int32_t k = 1; k < all; k++)
            best = costs[k * draws + i] < costs[best * draws + i] ? k : best;
        double least = costs[best * draws + i];
        *(best < n ? &shares[best].best : &rest->best) += 1 / (double)draws;
        /* Of what is to be large the ratio is that of the best to this one. */
        for (int32_t k = 0; k < n; k++)
            shares[k].regret +=
                (least < 0 ? least / costs[k * draws + i] - 1 : costs[k * draws + i] / least - 1) /
                (double)draws;
    }
}

static bool is_drawn(const double *costs, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(costs[i]))
            return false;
    return true;
}

int whatif_draw(struct whatif_share *shares, struct whatif_rest *rest, const struct best_ask *ask,
                const int64_t *leaders, int32_t n, struct err *e)
{
    const struct design_own *own = ask->study->own;
    const int64_t draws = own->uncertain.draws;
    int64_t near[WHATIF_MOST_DRAWN];
    double *costs =
        malloc((size_t)((n + WHATIF_MOST_DRAWN) * draws) * sizeof *costs); /* shape [all][draws] */
    int rc = costs ? 0 : err_nomem(e, "draws");
    *rest = (struct whatif_rest){ 0 };
    for (int32_t k = 0; k < n && !rc; k++) {
        shares[k] = (struct whatif_share){ .point = leaders[k] };
        rc = draw_leader(costs + k * draws, ask, leaders[k], e);
    }
    bool drawn = !rc && is_drawn(costs, n * draws);
    if (drawn)
        rc = find_near(near, rest, ask, leaders, n, spread_of(costs, n, draws), e);
    for (int32_t k = 0; k < rest->n && !rc; k++)
        rc = draw_leader(costs + (n + k) * draws, ask, near[k], e);
    drawn = drawn && !rc && is_drawn(costs, (n + rest->n) * draws);
    if (drawn)
        tally(shares, rest, costs, draws, n, n + rest->n);
    for (int32_t k = 0; k < n && !drawn; k++)
        shares[k].best = shares[k].regret = NAN;
    free(costs);
    return rc;
}
