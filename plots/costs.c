#include "plots/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/outcomes.h"

enum { MESSAGE = 70 /* characters of an error that are shown */ };

const char *const costs_proof_words[N_COSTS_PROOFS] = { "oracle", "optimum", "lower bound" };

struct reader {
    struct costs *x;
    struct rows r;
    int32_t scheduler, status, usd, ratio, worst, seeds, feasible, need, reach, message, oracle_usd,
        oracle_proof;
};

/* Ratios are to the oracle; of a table that knows none, to the cheapest of the schedulers. */
static int find_ratio(struct reader *y, struct err *e)
{
    static const char *const choices[] = { "over_oracle", "over_best", NULL };
    const char *name = outcomes_pick(&y->r, choices);

    if (!name)
        name = table_find(y->r.t, choices[0]) < 0 ? choices[1] : choices[0];
    y->x->over_best = strcmp(name, choices[1]) == 0;
    return rows_column(&y->ratio, &y->r, name, e);
}

static int find_columns(struct reader *y, struct err *e)
{
    const struct table *t = y->r.t;
    int rc = find_ratio(y, e);

    if (!rc)
        rc = rows_column(&y->scheduler, &y->r, "scheduler", e);
    if (!rc)
        rc = rows_column(&y->status, &y->r, "status", e);
    y->worst = y->x->over_best ? -1 : table_find(t, "over_oracle_worst");
    y->usd = table_find(t, "usd");
    y->seeds = table_find(t, "seeds");
    y->feasible = table_find(t, "feasible");
    y->need = table_find(t, "need_per_s");
    y->reach = table_find(t, "reach_per_s");
    y->message = table_find(t, "message");
    y->oracle_usd = table_find(t, "oracle_usd");
    y->oracle_proof = table_find(t, "oracle_proof");
    return rc;
}

/* ---- rows ---- */

/* NaN for a column that is not there. */
static int read_number(double *out, const struct rows *r, int32_t col, struct err *e)
{
    *out = (double)NAN;
    return col < 0 ? 0 : rows_number(out, r, col, e);
}

static void put_examples(struct text *out, double per_s)
{
    static const struct unit units[] = {
        { 1e9, " G" }, { 1e6, " M" }, { 1e3, " k" }, { 1, "" }, { 0, NULL }
    };
    struct unit unit = unit_pick(units, per_s);

    text_printf(out, "%.3g%s", per_s / unit.scale, unit.name);
}

/* What follows the word of a state: "reaches 1.2 M of 2 M examples/s", "2 of 5 seeds have a plan". */
static void put_reason(struct text *out, const struct cost *c, double reach, double need, const char *message)
{
    if (c->feasible > 0) {
        text_printf(out, ": %.0f of %.0f seeds have a plan", c->feasible, c->seeds);
    } else if (reach > 0) {
        text_puts(out, ": reaches ");
        put_examples(out, reach);
        if (need > 0) {
            text_puts(out, " of ");
            put_examples(out, need);
        }
        text_puts(out, " examples/s");
    } else if (message[0]) {
        text_puts(out, ": ");
        canvas_put_short(out, message, MESSAGE);
    }
}

static int read_state(struct cost *c, const struct reader *y, struct err *e)
{
    struct text message = { 0 };
    double reach = 0, need = 0;
    int rc = rows_text(&c->state, &y->r, y->status, e);

    if (!rc)
        rc = read_number(&reach, &y->r, y->reach, e);
    if (!rc)
        rc = read_number(&need, &y->r, y->need, e);
    if (!rc && y->message >= 0)
        rc = rows_text(&message, &y->r, y->message, e);
    if (!rc)
        put_reason(&c->state, c, reach, need, text_str(&message));
    text_free(&message);
    return rc ? rc : text_check(&c->state, e);
}

static int read_cost(struct cost *c, const struct reader *y, struct err *e)
{
    const struct rows *r = &y->r;
    double usd = (double)NAN;
    int rc = read_number(&c->seeds, r, y->seeds, e);

    c->ratio = c->worst = (double)NAN;
    if (!rc)
        rc = read_number(&c->feasible, r, y->feasible, e);
    if (!rc)
        rc = rows_above_zero(&c->ratio, r, y->ratio, e);
    if (!rc && y->worst >= 0)
        rc = rows_above_zero(&c->worst, r, y->worst, e);
    if (!rc)
        rc = read_number(&usd, r, y->usd, e);
    c->is_free = usd <= 0;
    c->has_plan = !isnan(c->ratio) || rows_equal(r, y->status, "done");
    return rc || c->has_plan ? rc : read_state(c, y, e);
}

/* Rows of a point agree, but for those of errors, which know nothing. */
static int read_oracle(struct costs_oracle *o, const struct reader *y, struct err *e)
{
    struct text proof = { 0 };
    double usd;
    int rc = read_number(&usd, &y->r, y->oracle_usd, e);

    if (rc || !(usd > 0))
        return rc;
    o->usd = usd;
    if (y->oracle_proof >= 0)
        rc = rows_text(&proof, &y->r, y->oracle_proof, e);
    if (strcmp(text_str(&proof), "optimal") == 0)
        o->proof = COSTS_OPTIMAL;
    else if (strcmp(text_str(&proof), "lower bound") == 0)
        o->proof = COSTS_LOWER_BOUND;
    text_free(&proof);
    return rc;
}

static int read_row(struct reader *y, struct err *e)
{
    struct costs *x = y->x;
    int32_t point, scheduler = 0;
    int rc = points_find(&point, &x->points, &y->r, e);

    if (!rc)
        rc = rows_name(&scheduler, &x->schedulers, &y->r, y->scheduler, e);
    if (rc || point < 0 || scheduler >= COSTS_MAX_SCHEDULERS)
        return rc;
    struct cost *c = costs_at(x, point, scheduler);
    if (c->there) {
        x->n_again++;
        return 0;
    }
    c->there = true;
    rc = read_oracle(&x->oracle[point], y, e);
    if (!rc)
        rc = read_cost(c, y, e);
    x->most_seeds = fmax(x->most_seeds, c->seeds);
    x->n_blank += c->has_plan && isnan(c->ratio);
    x->any_ratio = x->any_ratio || c->ratio > 0;
    x->any_state = x->any_state || !c->has_plan;
    return rc;
}

static int read_rows(struct reader *y, struct err *e)
{
    struct costs *x = y->x;
    int64_t n_passed = 0;
    int rc = 0;

    x->list = calloc((size_t)x->points.n * COSTS_MAX_SCHEDULERS, sizeof *x->list);
    if (!x->list)
        return err_nomem(e, "the figure's bars");
    for (int32_t k = 0; k < COSTS_MAX_POINTS; k++)
        x->oracle[k].usd = (double)NAN;
    for (y->r.row = 0; y->r.row < y->r.t->n_rows && !rc; y->r.row++) {
        if (!rows_pass(&y->r))
            continue;
        n_passed++;
        rc = read_row(y, e);
    }
    if (!rc && !x->any_ratio && !x->any_state)
        rc = rows_none_left(&y->r, n_passed, x->n_blank, "", e);
    x->n_schedulers = x->schedulers.n < COSTS_MAX_SCHEDULERS ? x->schedulers.n : COSTS_MAX_SCHEDULERS;
    return rc;
}

int costs_read(struct costs *x, const struct rows *r, struct err *e)
{
    struct reader y = { .x = x, .r = *r };
    int rc = points_read(&x->points, r, COSTS_MAX_POINTS, e);

    if (!rc)
        rc = find_columns(&y, e);
    return rc ? rc : read_rows(&y, e);
}

void costs_free(struct costs *x)
{
    for (int32_t i = 0; i < x->points.n * COSTS_MAX_SCHEDULERS && x->list; i++)
        text_free(&x->list[i].state);
    free(x->list);
    names_free_copies(&x->schedulers);
    points_free(&x->points);
    *x = (struct costs){ 0 };
}

bool costs_has_worst(const struct cost *c)
{
    return c->worst > c->ratio * (1 + AXIS_SAME);
}

const char *costs_reference(const struct costs *x)
{
    enum costs_proof proof = N_COSTS_PROOFS;

    if (x->over_best)
        return "cheapest of the schedulers";
    for (int32_t k = 0; k < x->points.n; k++) {
        if (isnan(x->oracle[k].usd))
            continue;
        if (proof != N_COSTS_PROOFS && proof != x->oracle[k].proof)
            return costs_proof_words[COSTS_UNPROVED];
        proof = x->oracle[k].proof;
    }
    return costs_proof_words[proof == N_COSTS_PROOFS ? COSTS_UNPROVED : proof];
}
