/*
 * What a design costs to own and what failures leave of it.
 *
 * The page of weft explain goes from the sum down to the item and the part that make it: each line says what
 * it costs a year and what would follow if it never failed. Factors are moved by a tenth, all else as it is,
 * and everything is summed again: the same sums as the answer's, so that no derivative has to be kept true.
 */
#include "cli/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define YEAR_H 8760.0
#define HOUR_S 3600.0

/* ---- short: with weft sim and alloc ---- */

static void say_part(struct report *r, const char *what, double usd, double all_usd)
{
    char a[SHOW], b[SHOW];
    if (usd > 0)
        report_line(r, "  %-16s%s USD (%s %%)\n", what, show_usd(a, usd),
                    show_real(b, 100 * usd / all_usd, 3));
}

static void say_money(struct report *r, const struct system *x, const struct own_terms *t)
{
    const struct own_cost *c = &x->cost;
    char a[SHOW], b[SHOW], rate[SHOW];
    if (!isfinite(c->total))
        return;
    report_line(r, "%-18s%s USD a year, %s USD per NPU and hour (", "owning it", show_usd(a, c->total),
                show_real(b, x->usd_npu_h, 4));
    if (t->capital_rate > 0)
        report_line(r, "annuity at %s %%)\n", show_real(rate, 100 * t->capital_rate, 3));
    else
        report_line(r, "straight line)\n");
    if (c->low < c->total || c->high > c->total)
        report_line(r, "  %-16s%s to %s USD a year by low and high prices of the network's parts\n", "range",
                    show_usd(a, c->low), show_usd(b, c->high));
    say_part(r, "capital", c->capital, c->total);
    say_part(r, isnan(t->rent_usd_W_month) ? "building, own" : "building, rented", c->building, c->total);
    say_part(r, "energy", c->energy, c->total);
    say_part(r, "support", c->support, c->total);
    say_part(r, "staff", c->staff, c->total);
    if (isfinite(x->usd_per_Mtoken))
        report_line(r, "  %-16s%s USD per million, at the goodput below\n", "tokens",
                    show_real(a, x->usd_per_Mtoken, 4));
    if (isfinite(x->usd_run))
        report_line(r, "  %-16s%s USD\n", "the run", show_usd(a, x->usd_run));
}

static void say_power(struct report *r, const struct system *x, const struct own_system *own)
{
    char a[SHOW], b[SHOW], c[SHOW], d[SHOW], f[SHOW];
    report_line(
        r,
        "%-18s%s kW of IT by nameplate, %s kW in the mean; at the meter %s times that; racks of %s kW: %s\n",
        "power", show_real(a, x->cost.watt_peak / 1e3, 5), show_real(b, x->cost.watt_mean / 1e3, 5),
        show_real(c, own->terms.pue, 4), show_real(f, own->rack_W / 1e3, 4),
        show_count(d, (int64_t)x->racks));
}

/* What a restart takes, from where; and what else than failures takes of the time. */
static void say_restart(struct report *r, const struct system *x, const struct own_system *own)
{
    char a[SHOW], b[SHOW], c[SHOW];
    report_line(r, "  %-16s%s s to start again, %s s to read the checkpoint", "restart",
                show_real(a, own->checkpoint.restart_s, 4), show_real(b, x->load_s, 3));
    if (x->wait_s > 0)
        report_line(r, ", %s s for a spare in the mean", show_real(c, x->wait_s, 3));
    report_line(r, "\n");
    for (int32_t i = 0; i + 1 < x->n_tiers; i++)
        report_line(r, "  %-16s%s %% of failures in %s s, saved each %s s\n", x->tiers[i].name,
                    show_real(a, 100 * x->tiers[i].share, 4), show_real(b, x->tiers[i].c.restart_s, 4),
                    show_real(c, x->tiers[i].settled_s, 4));
    if (x->kept < x->goodput.goodput)
        report_line(r, "  %-16s%.4f: %.4f x %.4f without stragglers x %.4f without planned stops\n",
                    "of the time", x->kept, x->goodput.goodput, 1 - own->straggler_loss,
                    1 - own->planned_per_s * own->planned_stop_s);
    if (x->less_bw > 0)
        report_line(
            r,
            "  %-16sat most %s %% more time, while parts that the job runs on without are repaired; not "
            "in goodput; weft fail says how much\n",
            "less bandwidth", show_real(a, 100 * x->less_bw, 2));
}

static void say_failures(struct report *r, const struct system *x, const struct own_system *own,
                         double time_s)
{
    const struct goodput *g = &x->goodput;
    char a[SHOW], b[SHOW], c[SHOW];
    report_line(r, "%-18sone each %s h stops the job; ", "failures", show_real(a, x->mtbi_s / HOUR_S, 4));
    if (isfinite(g->interval_s))
        report_line(r, "a checkpoint each %s s", show_real(b, g->interval_s, 4));
    else
        report_line(r, "no checkpoint in the store");
    report_line(r, " leaves goodput %.4f (first order %.4f)\n", g->goodput, fmax(g->first_order, 0));
    say_restart(r, x, own);
    if (!isnan(x->spares_enough))
        report_line(r, "  %-16senough servers are up %s %% of the time; 99 %% asks for %s\n", "spares",
                    show_real(a, 100 * x->spares_enough, 4), show_count(b, x->spares_needed));
    if (isfinite(x->step_s))
        report_line(r, "  %-16s%s, of %s\n", "effective step", show_time(a, x->step_s), show_time(c, time_s));
    if (x->omits[0])
        report_line(r, "%-18s%s\n", "left out", x->omits);
}

static void report_sums(struct report *r, const struct system *x)
{
    report_json_real(r, "usd_year", x->cost.total);
    report_json_real(r, "usd_year_low", x->cost.low);
    report_json_real(r, "usd_year_high", x->cost.high);
    report_json_real(r, "capital_usd_year", x->cost.capital);
    report_json_real(r, "building_usd_year", x->cost.building);
    report_json_real(r, "energy_usd_year", x->cost.energy);
    report_json_real(r, "support_usd_year", x->cost.support);
    report_json_real(r, "staff_usd_year", x->cost.staff);
    report_json_real(r, "usd_npu_h", x->usd_npu_h);
    report_json_real(r, "usd_per_Mtoken", x->usd_per_Mtoken);
    report_json_real(r, "usd_run", x->usd_run);
    report_json_real(r, "watt_peak", x->cost.watt_peak);
    report_json_real(r, "watt_mean", x->cost.watt_mean);
    report_json_real(r, "racks", x->racks);
    report_json_real(r, "spares_enough", x->spares_enough);
    report_json_count(r, "spares_needed", isnan(x->spares_enough) ? -1 : x->spares_needed);
    report_json_real(r, "mtbi_h", x->mtbi_s / HOUR_S);
    report_json_real(r, "stall_s", x->checkpoint.stall_s);
    report_json_real(r, "drain_s", x->checkpoint.drain_s);
    report_json_real(r, "restart_s", x->checkpoint.restart_s);
    report_json_real(r, "load_s", x->load_s);
    report_json_real(r, "spare_wait_s", x->wait_s);
    report_json_real(r, "interval_s", x->goodput.interval_s);
    report_json_real(r, "goodput", x->kept);
    report_json_real(r, "goodput_failures", x->goodput.goodput);
    report_json_real(r, "goodput_first_order", x->goodput.first_order);
    report_json_real(r, "less_bandwidth_frac", x->less_bw);
    report_json_real(r, "effective_step_s", x->step_s);
    report_json_word(r, "omits", x->omits[0] ? x->omits : NULL);
}

/* ---- why: with weft explain ---- */

/* A watt's share of building and energy is that of all watts. */
static void report_items(struct report *r, const struct system *x, const struct own_terms *t)
{
    static const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "item", .title = "what is owned" },
        { IN_TEXT | IN_JSON, .key = "count", .title = "count", .show = 9 },
        { IN_TEXT | IN_JSON, .key = "unit", .title = "" },
        { IN_TEXT | IN_JSON, .key = "price_usd", .title = "price", .unit = "USD", .show = REPORT_USD },
        { IN_TEXT | IN_JSON, .key = "capital_usd_year", .title = "capital", .unit = "USD a year",
          .show = REPORT_USD },
        { IN_TEXT | IN_JSON, .key = "support_usd_year", .title = "support", .unit = "USD a year",
          .show = REPORT_USD },
        { IN_TEXT | IN_JSON, .key = "watt_peak", .title = "nameplate", .unit = "kW", .show = 5, .per = 1e3 },
        { IN_TEXT | IN_JSON, .key = "power_usd_year", .title = "its power", .unit = "USD a year",
          .show = REPORT_USD },
    };
    report_table(r, "items", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < x->n_items; i++) {
        const struct own_item *item = &x->items[i];
        struct own_cost c;
        struct own_terms alone = *t;
        alone.staff_usd_year = 0;
        own_sum(&c, item, 1, &alone);
        report_put_word(r, item->name);
        report_put_real(r, item->count);
        report_put_word(r, item->unit ? item->unit : "");
        report_put_real(r, c.price);
        report_put_real(r, c.capital);
        report_put_real(r, c.support);
        report_put_real(r, isnan(item->watt) ? NAN : c.watt_peak);
        report_put_real(r, isnan(item->watt) ? NAN : c.building + c.energy);
    }
    report_table_end(r);
}

static void report_fails(struct report *r, const struct system *x)
{
    static const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "part", .title = "what fails" },
        { IN_TEXT | IN_JSON, .key = "count", .title = "count", .show = 9 },
        { IN_TEXT | IN_JSON, .key = "mtbf_h", .title = "MTBF of one", .unit = "h", .show = 5 },
        { IN_TEXT | IN_JSON, .key = "per_year", .title = "failures", .unit = "a year", .show = 4 },
        { IN_TEXT | IN_JSON, .key = "npus_taken", .title = "take NPUs", .show = 9 },
        { IN_TEXT | IN_JSON, .key = "bw_left_frac", .title = "leave bandwidth", .unit = "%", .show = 4,
          .times = 100 },
        { IN_TEXT, .title = "of all stops", .unit = "%", .show = 3, .times = 100 },
        { IN_TEXT | IN_JSON, .key = "goodput_without", .title = "goodput, never failing", .show = 4 },
    };
    double all = 1 / x->mtbi_s;
    report_table(r, "failures", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < x->n_fails; i++) {
        const struct reliability_line *line = &x->fails[i];
        double failing = line->n / line->mtbf_s, rate = reliability_rate(line, 1), rest = all - rate;
        struct goodput g;
        struct goodput_tier tiers[OWN_MAX_TIERS + 1];
        memcpy(tiers, x->tiers, sizeof tiers);
        goodput_of_tiers(&g, tiers, x->n_tiers, rest > 1e-12 * all ? 1 / rest : INFINITY);
        report_put_word(r, line->name);
        report_put_real(r, line->n);
        report_put_real(r, line->mtbf_s / HOUR_S);
        report_put_real(r, failing * YEAR_H * HOUR_S);
        report_put_real(r, line->npus);
        report_put_real(r, line->tolerated ? line->left : NAN);
        report_put_real(r, rate / all);
        report_put_real(r, x->goodput.goodput > 0 ? x->kept * g.goodput / x->goodput.goodput : g.goodput);
    }
    report_table_end(r);
}

/* From the cost of a million tokens, or of an hour of work where none are known, to what makes it. */
static void report_shares(struct report *r, const struct system *x, const struct own_system *own)
{
    bool tokens = isfinite(x->usd_per_Mtoken);
    const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "level", .title = "what it is made of" },
        { IN_TEXT | IN_JSON, .key = "part", .title = "part" },
        { IN_TEXT | IN_JSON, .key = tokens ? "usd_per_Mtoken" : "usd_npu_h_of_work",
          .title = tokens ? "a million tokens" : "an NPU hour of work", .unit = "USD", .show = 4 },
        { IN_TEXT | IN_JSON, .key = "share", .title = "share", .unit = "%", .show = 3, .times = 100 },
    };
    struct system_share *shares = malloc((size_t)system_shares_max(x) * sizeof *shares);
    double usd = tokens ? x->usd_per_Mtoken : x->usd_npu_h / x->kept;
    int32_t n = shares ? system_shares(shares, x, own) : 0;
    r->failed = r->failed || !shares;
    if (n > 0) {
        report_table(r, "made_of", columns, REPORT_COLUMNS(columns));
        for (int32_t i = 0; i < n; i++) {
            bool first = i == 0 || shares[i].level != shares[i - 1].level;
            report_put_word(r, first || !report_is(r, IN_TEXT) ? system_level_words[shares[i].level] : "");
            report_put_word(r, shares[i].what);
            report_put_real(r, usd * shares[i].frac);
            report_put_real(r, shares[i].frac);
        }
        report_table_end(r);
        report_line(r, "\n");
    }
    free(shares);
}

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
    N_FACTORS
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

static void report_factors(struct report *r, const struct system *x, const struct design_point *s,
                           double time_s)
{
    static const struct report_column columns[] = {
        { IN_TEXT | IN_JSON, .key = "factor", .title = "a tenth more of" },
        { IN_TEXT | IN_JSON, .key = "usd_npu_h", .title = "USD an hour", .unit = "%", .show = 3,
          .times = 100 },
        { IN_TEXT | IN_JSON, .key = "usd_work", .title = "USD for the same work", .unit = "%", .show = 3,
          .times = 100 },
    };
    struct system room = { .items = malloc((size_t)x->n_items * sizeof *room.items),
                           .fails = malloc((size_t)x->n_fails * sizeof *room.fails) };
    bool there = room.items && room.fails;
    r->failed = r->failed || !there;
    report_table(r, "a_tenth_more", columns, REPORT_COLUMNS(columns));
    for (int f = 0; f < N_FACTORS && there; f++) {
        double hour, work;
        try_factor(&hour, &work, x, &room, s, time_s, (enum factor)f);
        if (hour == 0 && work == 0)
            continue;
        report_put_word(r, factor_names[f]);
        report_put_real(r, hour);
        report_put_real(r, work);
    }
    report_table_end(r);
    free(room.items);
    free(room.fails);
}

/* In USD for the same work, as the table above: goodput is exp(-R/M) times what does not depend on R, and the
 * same work costs 1/goodput. */
static void report_worth(struct report *r, const struct system *x)
{
    double share = x->goodput.goodput > 0 ? -expm1(60 * x->goodput.per_restart / x->goodput.goodput) : 0;
    char a[SHOW], b[SHOW];
    report_json_real(r, "minute_of_restart_share", share);
    report_json_real(r, "dG_dR_per_s", x->goodput.per_restart);
    report_json_real(r, "dG_dM_per_s", x->goodput.per_mtbi);
    if (share > 0 && isfinite(x->cost.total))
        report_line(r, "Restarts a minute faster save %s %% of the USD for the same work, %s USD a year.\n",
                    show_real(a, 100 * share, 3), show_usd(b, share * x->cost.total));
}

static void report_why(struct report *r, const struct system *x, const struct design_point *s, double time_s)
{
    report_line(r, "\n");
    report_shares(r, x, &s->system);
    report_items(r, x, &s->system.terms);
    report_line(r, "\n");
    report_fails(r, x);
    report_line(r, "\n");
    if (isfinite(x->cost.total) && isfinite(x->step_s))
        report_factors(r, x, s, time_s);
    report_worth(r, x);
}

void system_report(struct report *r, const struct design_point *s, const struct design *d, bool why)
{
    struct system x;
    struct err e;
    if (!s->has_system || report_is(r, IN_CSV))
        return;
    if (system_build(&x, s, design_owned(d), &e)) {
        r->failed = true;
        return;
    }
    report_open(r, "system", '{');
    if (report_is(r, IN_TEXT) && isnan(x.racks)) {
        report_line(r, "\n%-18s%s\n", "left out", x.omits);
    } else if (report_is(r, IN_TEXT)) {
        report_line(r, "\n");
        say_money(r, &x, &s->system.terms);
        say_power(r, &x, &s->system);
        say_failures(r, &x, &s->system, d->time_s);
    } else {
        report_sums(r, &x);
    }
    if (why && !isnan(x.racks))
        report_why(r, &x, s, d->time_s);
    report_close(r, '}');
    system_free(&x);
}
