/*
 * From the cost of owning a machine to what makes it.
 *
 * Factors are moved by a tenth, all else as it is, and everything is summed again: the same sums as the
 * answer's, so that no derivative has to be kept true.
 */
#include "kinds/design/answer/owning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define YEAR_H 8760.0
#define HOUR_S 3600.0

/* ---- items ---- */

#define ITEM(kind, field, ...) COLUMN_##kind(struct owning_item, field, __VA_ARGS__)

const struct column owning_item_columns[] = {
    ITEM(WORD, item, "what is owned", .title = "what is owned"),
    ITEM(REAL, count, "so many of them", .digits = 9),
    ITEM(WORD, unit, "that is counted; blank: pieces", .title = "", .flags = COLUMN_EMPTY),
    ITEM(REAL, price_usd, "of all of them", .better = -1),
    ITEM(REAL, capital_usd_year, "of a year", .title = "capital", .unit = "USD", .as = "USD a year",
         .better = -1),
    ITEM(REAL, support_usd_year, "of a year", .title = "support", .unit = "USD", .as = "USD a year",
         .better = -1),
    ITEM(REAL, watt_peak, "nameplate power; blank: not known", .title = "nameplate", .times = 1e-3,
         .as = "kW", .better = -1),
    ITEM(REAL, power_usd_year, "its share of building and energy", .title = "its power", .unit = "USD",
         .as = "USD a year", .better = -1),
    COLUMNS_END,
};

struct owning_item owning_item_of(const struct system *x, const struct own_terms *t, int32_t i)
{
    const struct own_item *item = &x->items[i];
    struct own_terms alone = *t;
    struct own_cost c;
    alone.staff_usd_year = 0;
    own_sum(&c, item, 1, &alone);
    return (struct owning_item){
        .item = item->name,
        .count = item->count,
        .unit = item->unit,
        .price_usd = c.price,
        .capital_usd_year = c.capital,
        .support_usd_year = c.support,
        .watt_peak = isnan(item->watt) ? (double)NAN : c.watt_peak,
        .power_usd_year = isnan(item->watt) ? (double)NAN : c.building + c.energy,
    };
}

/* ---- failures ---- */

#define FAIL(kind, field, ...) COLUMN_##kind(struct owning_fail, field, __VA_ARGS__)

const struct column owning_fail_columns[] = {
    FAIL(WORD, part, "what fails", .title = "what fails"),
    FAIL(REAL, count, "so many of them", .digits = 9),
    FAIL(REAL, mtbf_h, "mean time between failures of one", .title = "MTBF", .unit = "h", .better = 1),
    FAIL(REAL, mtbf_low_h, "lowest that sources leave open", .in = IN_DATA, .unit = "h", .better = 1),
    FAIL(REAL, mtbf_high_h, "highest", .in = IN_DATA, .unit = "h", .better = 1),
    FAIL(REAL, per_year, "failures of all", .title = "failures", .as = "a year", .digits = 4, .better = -1),
    FAIL(REAL, npus_taken, "NPUs that the job loses by one", .title = "takes", .as = "NPUs", .digits = 9,
         .better = -1),
    FAIL(REAL, bw_left_frac, "share of the bandwidth that is left; blank: the job stops",
         .title = "bandwidth left", .times = 100, .as = "%", .digits = 4, .better = 1),
    FAIL(REAL, stops_share, "of all that stop the job", .in = IN_TEXT, .title = "of all stops", .times = 100,
         .as = "%", .digits = 3, .better = -1),
    FAIL(REAL, goodput_without, "goodput if it never failed", .title = "goodput without", .digits = 4),
    COLUMNS_END,
};

struct owning_fail owning_fail_of(const struct system *x, int32_t i)
{
    const struct reliability_line *line = &x->fails[i];
    double all = 1 / x->mtbi_s, rate = reliability_rate(line, 1), rest = all - rate;
    struct goodput g;
    struct goodput_tier tiers[OWN_MAX_TIERS + 1];
    memcpy(tiers, x->tiers, sizeof tiers);
    goodput_of_tiers(&g, tiers, x->n_tiers, rest > 1e-12 * all ? 1 / rest : INFINITY);
    return (struct owning_fail){
        .part = line->name,
        .count = line->n,
        .mtbf_h = line->mtbf_s / HOUR_S,
        .mtbf_low_h = line->low_s > 0 ? line->low_s / HOUR_S : (double)NAN,
        .mtbf_high_h = line->high_s > 0 ? line->high_s / HOUR_S : (double)NAN,
        .per_year = line->n / line->mtbf_s * YEAR_H * HOUR_S,
        .npus_taken = line->npus,
        .bw_left_frac = line->tolerated ? line->left : (double)NAN,
        .stops_share = rate / all,
        .goodput_without = x->goodput.goodput > 0 ? x->kept * g.goodput / x->goodput.goodput : g.goodput,
    };
}

/* ---- factors ---- */

#define FACTOR(kind, field, ...) COLUMN_##kind(struct owning_factor, field, __VA_ARGS__)

const struct column owning_factor_columns[] = {
    FACTOR(WORD, factor, "of which there is a tenth more", .title = "a tenth more of"),
    FACTOR(REAL, usd_npu_h, "growth of the cost of an NPU hour", .title = "USD an hour", .unit = "",
           .times = 100, .as = "%", .digits = 3, .better = -1),
    FACTOR(REAL, usd_work, "growth of the cost of the same work", .title = "USD for the same work",
           .unit = "", .times = 100, .as = "%", .digits = 3, .better = -1),
    COLUMNS_END,
};

/* What a tenth more is asked of. */
enum factor {
    F_PRICES,
    F_LIVES,
    F_CAPITAL_RATE,
    F_SUPPORT,
    F_POWER,
    F_LOAD,
    F_PUE,
    F_ENERGY,
    F_BUILDING,
    F_TIME,
    F_MTBF,
    F_RESTART,
    F_STALL,
    F_DRAIN,
    F_STRAGGLERS,
    F_PLANNED,
    N_FACTORS = OWNING_FACTORS
};

static const char *const factor_names[N_FACTORS] = {
    [F_PRICES] = "all prices",
    [F_LIVES] = "all lives but the building's",
    [F_CAPITAL_RATE] = "capital_rate",
    [F_SUPPORT] = "support",
    [F_POWER] = "power of all items",
    [F_LOAD] = "load",
    [F_PUE] = "pue",
    [F_ENERGY] = "price of energy",
    [F_BUILDING] = "price of the building",
    [F_TIME] = "time of a step",
    [F_MTBF] = "all MTBF",
    [F_RESTART] = "time of a restart",
    [F_STALL] = "stall of a checkpoint",
    [F_DRAIN] = "time to write a checkpoint, beside the steps",
    [F_STRAGGLERS] = "straggler_loss",
    [F_PLANNED] = "time of planned stops",
};

static void raise_items(struct system *x, enum factor f, double by)
{
    for (int32_t i = 0; i < x->n_items; i++) {
        x->items[i].usd *= f == F_PRICES ? by : 1;
        x->items[i].life_y *= f == F_LIVES ? by : 1;
        x->items[i].watt *= f == F_POWER ? by : 1;
        x->items[i].idle_watt *= f == F_POWER ? by : 1;
    }
    for (int32_t i = 0; i < x->n_fails; i++)
        x->fails[i].mtbf_s *= f == F_MTBF ? by : 1;
}

/* @p x and @p own are copies, to be changed. */
static void raise_factor(struct system *x, struct own_system *own, enum factor f, double by)
{
    struct own_terms *t = &own->terms;
    double *const plain[N_FACTORS] = {
        [F_CAPITAL_RATE] = &t->capital_rate,
        [F_SUPPORT] = &t->support,
        [F_LOAD] = &t->load,
        [F_PUE] = &t->pue,
        [F_ENERGY] = &t->energy_usd_J,
        [F_RESTART] = &x->checkpoint.restart_s,
        [F_STALL] = &x->checkpoint.stall_s,
        [F_DRAIN] = &x->checkpoint.drain_s,
        [F_STRAGGLERS] = &own->straggler_loss,
        [F_PLANNED] = &own->planned_stop_s,
        [F_BUILDING] = isnan(t->rent_usd_W_month) ? &t->building_usd_W : &t->rent_usd_W_month,
    };
    if (plain[f])
        *plain[f] *= by;
    for (int32_t i = 0; i < own->checkpoint.n_tiers; i++) {
        own->checkpoint.tiers[i].restart_s *= f == F_RESTART ? by : 1;
        own->checkpoint.tiers[i].stall_s *= f == F_STALL ? by : 1;
    }
    raise_items(x, f, by);
}

/* USD per hour and per work, relative to what they are, with a tenth more of a factor. */
static void try_factor(double *hour, double *work, const struct system *x, struct system *room,
                       const struct design_point *s, double time_s, enum factor f)
{
    const double by = 1.1;
    struct own_system own = s->system;
    struct own_item *items = room->items;
    struct reliability_line *fails = room->fails;
    *room = *x;
    room->items = memcpy(items, x->items, (size_t)x->n_items * sizeof *items);
    room->fails = memcpy(fails, x->fails, (size_t)x->n_fails * sizeof *fails);
    raise_factor(room, &own, f, by);
    system_sum(room, s, &own, time_s * (f == F_TIME ? by : 1));
    *hour = room->usd_npu_h / x->usd_npu_h - 1;
    *work = room->usd_npu_h * room->step_s / (x->usd_npu_h * x->step_s) - 1;
}

int owning_factors(struct owning_factor *out, int32_t *n, const struct system *x,
                   const struct design_point *s, double time_s, struct err *e)
{
    struct system room = { .items = malloc((size_t)x->n_items * sizeof *room.items),
                           .fails = malloc((size_t)x->n_fails * sizeof *room.fails) };
    int rc = room.items && room.fails ? 0 : err_nomem(e, "factors");
    bool known = isfinite(x->cost.total) && isfinite(x->step_s);
    *n = 0;
    for (int f = 0; f < N_FACTORS && known && !rc; f++) {
        struct owning_factor *to = &out[*n];
        to->factor = factor_names[f];
        try_factor(&to->usd_npu_h, &to->usd_work, x, &room, s, time_s, (enum factor)f);
        *n += to->usd_npu_h != 0 || to->usd_work != 0;
    }
    free(room.items);
    free(room.fails);
    return rc;
}

/* ---- work ---- */

double owning_work_usd(const struct system *x)
{
    return isfinite(x->usd_per_Mtoken) ? x->usd_per_Mtoken : x->usd_npu_h / x->kept;
}

/* Goodput is exp(-R/M) times what does not depend on R, and the same work costs 1/goodput. */
double owning_minute_share(const struct system *x)
{
    return x->goodput.goodput > 0 ? -expm1(60 * x->goodput.per_restart / x->goodput.goodput) : 0;
}
