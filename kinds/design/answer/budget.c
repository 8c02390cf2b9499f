/*
 * Each limit of the study beside what it is about. What is over decides, whatever is not known beside it.
 */
#include "kinds/design/answer/budget.h"
#include "kinds/design/answer/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kinds/design/answer/evidence.h"

const char *const budget_verdict_words[N_BUDGET_VERDICTS + 1] = {
    [BUDGET_WITHIN] = "within",
    [BUDGET_OVER] = "over",
    [BUDGET_UNKNOWN] = "unknown",
};

#define BUDGET(kind, field, ...) COLUMN_##kind(struct budget_item, field, __VA_ARGS__)

const struct column budget_columns[] = {
    COLUMN_AT(struct budget_item, key, "budget", TABLE_TEXT, "key of the limit, with its unit"),
    BUDGET(REAL, value, "what the design takes", .unit = "", .better = -1),
    BUDGET(REAL, limit, "what it may take", .unit = ""),
    BUDGET(REAL, slack, "what is left", .unit = "", .better = 1),
    BUDGET(WORD, unit, "of these"),
    COLUMN_AT(struct budget_item, word, "verdict", TABLE_TEXT,
              "within, over; unknown: the value is a bound that does not decide"),
    BUDGET(REAL, low, "the value at low prices; of a step time, where its band begins", .unit = "",
           .better = -1),
    BUDGET(REAL, high, "the value at high prices; where that ends", .unit = "", .better = -1),
    BUDGET(WORD, band_grade, "the worst grade of these prices"),
    COLUMNS_END,
};

/* What the budgets are about; the bill is the study's own or the design's. */
struct subject {
    const struct design_point *study;
    const struct topo_bill *bill; /* NULL: there is none, for this reason */
    const char *bill_reason;
    double linear_usd; /* price without rounding up to whole parts */
    double nic_Bps, time_s;
    const struct design *design; /* NULL: a network alone */
};

static struct budget_item *add(struct budget *c, const char *key, const char *name, const char *unit,
                               double limit)
{
    struct budget_item *b = &c->list[c->n++];
    *b = (struct budget_item){
        .key = key, .name = name, .unit = unit, .limit = limit, .value = NAN, .low = NAN, .high = NAN
    };
    return b;
}

static void add_usd(struct budget *c, const struct subject *x)
{
    struct budget_item *b = add(c, "usd", "cost", "USD", x->study->budget.usd);
    if (x->bill) {
        struct topo_band usd = design_point_bill_usd(x->study, x->bill);
        b->value = usd.typ;
        b->low = usd.low;
        b->high = usd.high;
        if (usd.low < usd.high)
            b->band_grade = topo_grade_names[x->bill->band_grade];
        return;
    }
    b->value = x->linear_usd;
    b->at_least = true;
    snprintf(b->why, sizeof b->why, "there is no bill of whole parts: %s", x->bill_reason);
}

static void add_watt(struct budget *c, const struct subject *x)
{
    struct budget_item *b = add(c, "watt", "power", "W", x->study->budget.watt);
    if (!x->bill) {
        snprintf(b->why, sizeof b->why, "there is no bill: %s", x->bill_reason);
        return;
    }
    double npus = x->study->count_npus ? x->bill->npu_watt : 0;
    b->value = x->bill->watt + (isnan(npus) ? 0 : npus);
    b->at_least = x->bill->n_watt_unknown > 0 || isnan(npus);
    if (isnan(npus))
        snprintf(b->why, sizeof b->why, "NPUs are counted, but network.npu.watt is not given");
    else if (b->at_least)
        snprintf(b->why, sizeof b->why, "the power of %d of %d items of the bill is not given",
                 (int)x->bill->n_watt_unknown, (int)x->bill->n_lines);
}

#define NO_NIC_RATE                                                                                          \
    "parts have no price of NICs for any tier of the network; give nic_usd_per_GBps to the tiers that "      \
    "NPUs reach through one"

/* A graph without parts does not tell NICs from other links of an NPU: all of them together are the most. */
static void add_nic_bandwidth(struct budget *c, const struct subject *x)
{
    const struct design_point *s = x->study;
    bool alone = design_point_takes_graph_prices(s);
    struct budget_item *b =
        add(c, "nic_GBps", alone ? "NIC bandwidth, by all links of an NPU" : "NIC bandwidth", "GB/s",
            s->budget.nic_Bps / 1e9);
    int32_t n_classes = 0;
    for (int32_t d = 0; d < s->net.n_dims && alone; d++)
        n_classes += s->prices[d].nic_share > 0;
    b->value = alone || design_point_knows_nics(s) ? x->nic_Bps / 1e9 : NAN;
    b->at_most = n_classes > 1;
    if (alone)
        snprintf(b->why, sizeof b->why,
                 "the graph does not say which of the links of an NPU, %g GB/s in all, are its NICs; give "
                 "parts with nic_usd_per_GBps for the tiers of those",
                 b->value);
    else
        snprintf(b->why, sizeof b->why, NO_NIC_RATE);
}

static void add_nics(struct budget *c, const struct subject *x)
{
    struct budget_item *b = add(c, "nics", "NICs", "", (double)x->study->budget.nics);
    if (design_point_takes_graph_prices(x->study))
        snprintf(b->why, sizeof b->why,
                 "the graph does not say what a NIC is; give parts with nic_port_GBps, and with "
                 "nic_usd_per_GBps for the tiers of NICs");
    else if (!design_point_knows_nics(x->study))
        snprintf(b->why, sizeof b->why, NO_NIC_RATE);
    else if (!x->bill)
        snprintf(b->why, sizeof b->why, "there is no bill: %s", x->bill_reason);
    else if (x->bill->nics < 0)
        snprintf(b->why, sizeof b->why, "parts give no size of a NIC; give nic_port_GBps to count them");
    else
        b->value = (double)x->bill->nics;
}

/* Of a step, as measured ones leave it open; false: none is near. */
static bool time_band(struct evidence_band *band, const struct subject *x)
{
    return x->design && design_time_band(band, NULL, x->design);
}

static void add_time(struct budget *c, const struct subject *x)
{
    struct budget_item *b = add(c, "time_s", "step time", "s", x->study->budget.time_s);
    struct evidence_band band;
    b->value = x->time_s;
    if (time_band(&band, x)) {
        b->low = band.low_s;
        b->high = band.high_s;
    }
}

/* In the order of the key table. */
static void find_budgets(struct budget *c, const struct subject *x)
{
    const struct design_budget *limit = &x->study->budget;
    if (isfinite(limit->nic_Bps))
        add_nic_bandwidth(c, x);
    if (limit->nics >= 0)
        add_nics(c, x);
    if (isfinite(limit->usd))
        add_usd(c, x);
    if (isfinite(limit->watt))
        add_watt(c, x);
    if (isfinite(limit->time_s))
        add_time(c, x);
}

/* The worst grade of the prices with a band that the machine's cost rests on; NULL: none has one. */
static const char *grade_of_owning(const struct subject *x, const struct system *own)
{
    const struct own_spread *spreads[2] = { &x->study->system.npu_spread, &x->study->system.server_spread };
    enum topo_grade worst = x->bill ? x->bill->band_grade : own->bill.band_grade;
    for (int i = 0; i < 2; i++)
        if (spreads[i]->up > 0 && spreads[i]->grade > worst)
            worst = spreads[i]->grade;
    return own->cost.low < own->cost.high ? topo_grade_names[worst] : NULL;
}

/* All prices at their low or high; of a token also the time of a step where its band ends. */
static void find_ends(struct budget_item *b, const struct subject *x, const struct system *own)
{
    struct evidence_band band;
    b->with_time = strcmp(b->key, "usd_per_Mtoken") == 0 && time_band(&band, x);
    b->low = b->value * own->cost.low / own->cost.total * (b->with_time ? band.low_s / x->time_s : 1);
    b->high = b->value * own->cost.high / own->cost.total * (b->with_time ? band.high_s / x->time_s : 1);
    b->band_grade = grade_of_owning(x, own);
}

/* What is left out of a sum makes it a lower bound. */
static void add_owned(struct budget *c, const char *key, const char *name, const char *unit, double limit,
                      double value, bool at_least, const struct subject *x, const struct system *own)
{
    struct budget_item *b = add(c, key, name, unit, limit);
    b->value = value;
    if (strncmp(key, "usd", 3) == 0)
        find_ends(b, x, own);
    b->at_least = at_least;
    if (own->dark && !own->lacks_network && strcmp(key, "usd_per_Mtoken") != 0)
        snprintf(b->why, sizeof b->why, "the power of part \"%s\" is not given", own->dark);
    else if (at_least || isnan(own->racks))
        snprintf(b->why, sizeof b->why, "left out is %s", own->omits);
    else
        snprintf(b->why, sizeof b->why, "give system.step_tokens");
}

static int find_owned(struct budget *c, const struct subject *x, struct err *e)
{
    const struct design_budget *limit = &x->study->budget;
    struct system own;
    bool asked = limit->racks >= 0 || isfinite(limit->site_W) || isfinite(limit->usd_year) ||
                 isfinite(limit->usd_per_Mtoken);
    if (!asked || !x->design || !x->study->has_system)
        return 0;
    int rc = system_build(&own, x->study, design_owned(x->design), e);
    if (rc)
        return rc;
    bool no_usd = own.lacks_network || own.lacks_watts;
    if (isfinite(limit->site_W))
        add_owned(c, "site_MW", "site power", "MW", limit->site_W / 1e6,
                  own.cost.watt_peak * x->study->system.terms.pue / 1e6, own.lacks_watts, x, &own);
    if (limit->racks >= 0)
        add_owned(c, "racks", "racks", "", (double)limit->racks, own.racks + own.racks_network,
                  own.lacks_watts, x, &own);
    if (isfinite(limit->usd_year))
        add_owned(c, "usd_year", "owning, a year", "USD", limit->usd_year, own.cost.total, no_usd, x, &own);
    if (isfinite(limit->usd_per_Mtoken))
        add_owned(c, "usd_per_Mtoken", "million tokens", "USD", limit->usd_per_Mtoken, own.usd_per_Mtoken,
                  no_usd || own.lacks_failures, x, &own);
    system_free(&own);
    return 0;
}

/* Splits meet their constraints to rounding, so a budget asked for as a constraint must hold too. NICs and
 * racks are counted and not measured: one too many is over, however many there are. */
bool budget_exceeds(const struct budget_item *b, double value)
{
    bool counted = strcmp(b->key, "nics") == 0 || strcmp(b->key, "racks") == 0;
    return value > (counted ? b->limit : b->limit * (1 + 1e-9));
}

/* A lower bound decides only when it is already too much, an upper bound only when it is not. */
static enum budget_verdict judge(const struct budget_item *b)
{
    if (budget_exceeds(b, b->value))
        return b->at_most ? BUDGET_UNKNOWN : BUDGET_OVER;
    return isfinite(b->value) && !b->at_least ? BUDGET_WITHIN : BUDGET_UNKNOWN;
}

const char *const budget_end_words[] = { "low", "typical", "high", NULL };

void budget_judge(struct budget *c, enum budget_end end)
{
    c->over = c->unknown = false;
    for (int32_t i = 0; i < c->n; i++) {
        struct budget_item *b = &c->list[i];
        double there = end == BUDGET_LOW ? b->low : end == BUDGET_HIGH ? b->high : (double)NAN;
        b->value = isnan(there) ? b->value : there;
        b->slack = b->limit - b->value;
        b->verdict = judge(b);
        b->word = budget_verdict_words[b->verdict];
        c->over = c->over || b->verdict == BUDGET_OVER;
        c->unknown = c->unknown || b->verdict == BUDGET_UNKNOWN;
    }
}

static int check(struct budget *out, const struct subject *x, struct err *e)
{
    *out = (struct budget){ 0 };
    find_budgets(out, x);
    int rc = find_owned(out, x, e);
    budget_judge(out, BUDGET_TYPICAL);
    return rc;
}

int budget_check(struct budget *out, const struct design_point *s, const struct design *d, struct err *e)
{
    const struct subject x = {
        .study = s,
        .bill = d->has_bill ? &d->bill : NULL,
        .bill_reason = d->bill_reason,
        .linear_usd = d->usd_fraction,
        .nic_Bps = d->nic_Bps,
        .time_s = d->time_s,
        .design = d,
    };
    return check(out, &x, e);
}

int budget_check_network(struct budget *out, const struct design_point *s, struct err *e)
{
    struct topo_bill bill = { 0 };
    /* No bill is a reason, not a failure: the other budgets are still checked. */
    struct err why = { 0 };
    double bw_Bps[TOPO_MAX_DIMS];
    int rc = topo_build_bill(&bill, &s->net, &s->parts, topo_get_bandwidths(bw_Bps, &s->net), &why);
    if (rc == ERR_NOMEM)
        return err_set(e, rc, "%s", why.msg);
    /* All else is a reason why there is no bill, and is said where a budget needs one. */
    const struct subject x = {
        .study = s,
        .bill = rc ? NULL : &bill,
        .bill_reason = why.msg,
        .linear_usd = design_point_fraction_usd(s, bw_Bps),
        .nic_Bps = design_point_nic_Bps(s, bw_Bps),
        .time_s = NAN,
    };
    rc = check(out, &x, e);
    topo_bill_free(&bill);
    return rc;
}
