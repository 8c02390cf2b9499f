/*
 * Shadow prices and slack of constraints, and neighbours of a whole design.
 *
 * A shadow price is per unit of the limit as it was written, with rows of the same text added up, since one
 * line of a study may become several rows. Slack is held against what is bought where parts are whole: they
 * seldom meet a constraint exactly.
 */
#include "kinds/design/answer/price.h"

#include <math.h>
#include <string.h>

struct design_unit design_unit(const struct design_point *s)
{
    const struct alloc_objective_row *row = &alloc_objectives[s->objective];
    if (s->combine == DESIGN_REGRET)
        return (struct design_unit){ "ratio", 1 };
    return (struct design_unit){ row->unit, row->per_SI };
}

/* ---- constraints ---- */

static bool same_text(const struct design_point *s, int32_t a, int32_t b)
{
    return strcmp(s->rows.rows[a].name, s->rows.rows[b].name) == 0;
}

bool design_row_repeated(const struct design_point *s, int32_t row)
{
    for (int32_t i = 0; i < row; i++)
        if (same_text(s, i, row))
            return true;
    return false;
}

/* Where the shadow prices hold (of whole parts: at the relaxation's split): left side of the row minus its
 * right side, and the size of what is compared. */
static double row_slack(const struct alloc_row *row, const struct design *d, double *size)
{
    const double *bw_Bps = d->is_whole ? d->relaxed.bw_Bps : d->bw_Bps;
    double sum = -row->rhs;
    *size = fabs(row->rhs);
    for (int32_t i = 0; i < d->n_dims; i++) {
        sum += row->coef[i] * bw_Bps[i];
        *size = fmax(*size, fabs(row->coef[i] * bw_Bps[i]));
    }
    return sum;
}

/* Complementary slackness, to the accuracy of a split: what a row has to spare costs nothing. */
static bool has_room(const struct alloc_row *row, const struct design *d)
{
    double size, room = fabs(row_slack(row, d, &size));
    return row->sense != LINEXPR_EQ && room > 1e-6 * size;
}

/* What of the objective a solver's rounding may leave to a price: its duals are known no better. */
#define PRICE_NOISE_REL 1e-10

/* A row that leaves room has no price: what a solver leaves there is rounding. So is what could not
 * move the objective's last digits if all bandwidth went into it. */
static double row_price(const struct alloc_row *row, const struct design *d, double shadow)
{
    double size, coef = 0;
    row_slack(row, d, &size);
    for (int32_t i = 0; i < d->n_dims; i++)
        coef = fmax(coef, fabs(row->coef[i]));
    bool noise = fabs(shadow) * fmax(size, coef * d->total_Bps) <= PRICE_NOISE_REL * fabs(d->answer.value);
    return has_room(row, d) || noise ? 0 : shadow;
}

double design_shadow_price(const struct design_point *s, const struct design *d, int32_t row)
{
    double sum = 0;
    /* Each workload's own best is of the same constraints: a price of one of them would leave out what that
     * moves. */
    if (s->combine == DESIGN_REGRET)
        return NAN;
    for (int32_t i = 0; i < s->rows.n && i < d->answer.n_rows; i++)
        if (same_text(s, i, row))
            sum += row_price(&s->rows.rows[i], d, d->answer.shadow[i]);
    return sum * s->rows.rows[row].unit * design_unit(s).per_SI;
}

/* @p spent: what is bought, shape [N_ALLOC_SPENT], for which coefficients on money are taken out of those of
 * bandwidths; NULL: by the GB/s. */
static double row_left(const struct alloc_row *row, const struct design *d, const double *spent)
{
    double left = row->rhs;
    if (row->sense == LINEXPR_EQ)
        return NAN;
    if (!spent && !has_room(row, d))
        return 0;
    for (int32_t i = 0; i < d->n_dims; i++)
        left -= (row->coef[i] - (spent ? row->money_coef[i] : 0)) * d->bw_Bps[i];
    for (int32_t j = 0; spent && j < N_ALLOC_SPENT; j++)
        left -= row->spent_coef[j] != 0 ? row->spent_coef[j] * spent[j] : 0;
    /* What rounding left of a constraint that is met exactly would read as broken by 1e-9. */
    left = fabs(left) <= 1e-12 * fabs(row->rhs) ? 0 : row->sense == LINEXPR_GE ? -left : left;
    return left / row->unit;
}

#define PRICE(kind, field, ...) COLUMN_##kind(struct design_price, field, __VA_ARGS__)

const struct column design_price_columns[] = {
    PRICE(WORD, constraint, "as the study or its network says it"),
    PRICE(REAL, shadow_price,
          "fall of the objective per unit more on its right-hand side; of whole parts, in fractions of them",
          .unit = ""),
    PRICE(WORD, unit, "of the objective"),
    PRICE(WORD, per, "unit of the right-hand side; blank: it is none of GB/s, USD and the like"),
    PRICE(REAL, within, "products: so near to 0 is a price of 0 known", .unit = ""),
    PRICE(WORD, binding, "yes, or no: it leaves room, and costs nothing"),
    PRICE(REAL, left,
          "of the right-hand side, in its unit; of whole parts with what is bought; blank of ==", .unit = ""),
    COLUMNS_END,
};

int design_prices(struct design_price *out, int32_t *n, const struct design_point *s, const struct design *d,
                  struct err *e)
{
    double spent[N_ALLOC_SPENT];
    struct err why = { 0 };
    bool whole = s->pricing == DESIGN_WHOLE, solved = isfinite(d->answer.value);
    int rc = whole ? system_spend(spent, s, 0, d->n_dims, d->bw_Bps, &why) : 0;
    *n = 0;
    if (err_is_of_machine(rc))
        return err_set(e, rc, "%s", why.msg);
    for (int32_t i = 0; i < s->rows.n; i++) {
        const struct alloc_row *row = &s->rows.rows[i];
        struct design_price *p = &out[*n];
        if (design_row_repeated(s, i))
            continue;
        bool room = has_room(row, d);
        *p = (struct design_price){
            .row = i,
            .constraint = row->name,
            .unit = design_unit(s).name,
            .per = row->unit_name,
            .binding = room ? "no" : "yes",
            .shadow_price = solved ? design_shadow_price(s, d, i) : (double)NAN,
            .within = NAN,
            .left = rc ? (double)NAN : row_left(row, d, whole ? spent : NULL),
        };
        if (p->shadow_price == 0 && alloc_is_product(s->objective) && !room && i < d->answer.n_rows)
            p->within = d->answer.shadow_play[i] * row->unit * design_unit(s).per_SI;
        (*n)++;
    }
    return 0;
}

/* ---- steps ---- */

#define STEP(kind, field, ...) COLUMN_##kind(struct design_step, field, __VA_ARGS__)

const struct column design_step_columns[] = {
    STEP(WORD, dim, "dimension that is changed, all others as they are", .in = IN_CSV),
    STEP(WORD, way, "up or down", .in = IN_CSV),
    STEP(REAL, bw_GBps, "its bandwidth then, the next that its ports give"),
    STEP(REAL, more_usd, "what the step costs; negative: saves", .better = -1),
    STEP(REAL, more_s, "what it takes longer, in model alpha-beta; negative: saves", .better = -1),
    STEP(WORD, breaks, "constraint that keeps it from being a design; blank: none"),
    COLUMNS_END,
};

bool design_step(struct design_step *out, const struct design_point *s, const struct design *d, int32_t k,
                 bool up)
{
    const struct whole_answer *w = &d->whole;
    const struct whole_step *to = up ? &w->up[k] : &w->down[k];
    if (!d->is_whole || !to->there)
        return false;
    *out = (struct design_step){
        .dim = s->net.dims[k].name,
        .way = up ? "up" : "down",
        .bw_GBps = to->bw_Bps / 1e9,
        .more_usd = to->cost_usd - w->cost_usd,
        .more_s = to->time_s - w->time_s,
        .breaks = to->broken >= 0 ? s->rows.rows[to->broken].name
                  : to->late      ? "time_limit_s"
                                  : NULL,
    };
    return true;
}
