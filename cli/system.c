/*
 * What a design costs to own and what failures leave of it.
 *
 * The page of weft explain goes from the sum down to the item and the part that make it
 * (kinds/design/answer/owning.h): each line says what it costs a year and what would follow if it never
 * failed.
 */
#include "cli/system.h"

#include <math.h>
#include <stdlib.h>

#include "kinds/design/answer/owning.h"

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
        const struct owning_item item = owning_item_of(x, t, i);
        report_put_word(r, item.item);
        report_put_real(r, item.count);
        report_put_word(r, item.unit ? item.unit : "");
        report_put_real(r, item.price_usd);
        report_put_real(r, item.capital_usd_year);
        report_put_real(r, item.support_usd_year);
        report_put_real(r, item.watt_peak);
        report_put_real(r, item.power_usd_year);
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
    report_table(r, "failures", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < x->n_fails; i++) {
        const struct owning_fail fail = owning_fail_of(x, i);
        report_put_word(r, fail.part);
        report_put_real(r, fail.count);
        report_put_real(r, fail.mtbf_h);
        report_put_real(r, fail.per_year);
        report_put_real(r, fail.npus_taken);
        report_put_real(r, fail.bw_left_frac);
        report_put_real(r, fail.stops_share);
        report_put_real(r, fail.goodput_without);
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
    double usd = owning_work_usd(x);
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
    struct owning_factor list[OWNING_FACTORS];
    int32_t n = 0;
    struct err e;
    r->failed = owning_factors(list, &n, x, s, time_s, &e) || r->failed;
    report_table(r, "a_tenth_more", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < n; i++) {
        report_put_word(r, list[i].factor);
        report_put_real(r, list[i].usd_npu_h);
        report_put_real(r, list[i].usd_work);
    }
    report_table_end(r);
}

static void report_worth(struct report *r, const struct system *x)
{
    double share = owning_minute_share(x);
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
