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

#include "kinds/design/answer/columns.h"
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

#define SUM(field, called, ...)                                                                              \
    COLUMN_AT(struct system, field, called, TABLE_REAL, NULL, .in = IN_JSON, __VA_ARGS__)
static const struct column sum_columns[] = {
    SUM(cost.total, "usd_year", .better = -1),
    SUM(cost.low, "usd_year_low", .better = -1),
    SUM(cost.high, "usd_year_high", .better = -1),
    SUM(cost.capital, "capital_usd_year", .better = -1),
    SUM(cost.building, "building_usd_year", .better = -1),
    SUM(cost.energy, "energy_usd_year", .better = -1),
    SUM(cost.support, "support_usd_year", .better = -1),
    SUM(cost.staff, "staff_usd_year", .better = -1),
    SUM(usd_npu_h, "usd_npu_h", .better = -1),
    SUM(usd_per_Mtoken, "usd_per_Mtoken", .better = -1),
    SUM(usd_run, "usd_run", .better = -1),
    SUM(cost.watt_peak, "watt_peak", .better = -1),
    SUM(cost.watt_mean, "watt_mean", .better = -1),
    SUM(racks, "racks", .better = -1),
    SUM(spares_enough, "spares_enough", .better = 1),
    COLUMN_COUNT(struct system, spares_needed, NULL, .in = IN_JSON),
    SUM(mtbi_s, "mtbi_h", .per = HOUR_S),
    SUM(checkpoint.stall_s, "stall_s", .better = -1),
    SUM(checkpoint.drain_s, "drain_s", .better = -1),
    SUM(checkpoint.restart_s, "restart_s", .better = -1),
    SUM(load_s, "load_s", .better = -1),
    SUM(wait_s, "spare_wait_s", .better = -1),
    SUM(goodput.interval_s, "interval_s", .better = 0),
    SUM(kept, "goodput", .better = 1),
    SUM(goodput.goodput, "goodput_failures", .better = 1),
    SUM(goodput.first_order, "goodput_first_order", .better = 1),
    SUM(less_bw, "less_bandwidth_frac", .better = -1),
    SUM(step_s, "effective_step_s", .better = -1),
    COLUMN_AT(struct system, omits, "omits", TABLE_TEXT, NULL, .in = IN_JSON, .flags = COLUMN_CHARS),
    COLUMNS_END,
};

/* ---- why: with weft explain ---- */

static void report_items(struct report *r, const struct system *x, const struct own_terms *t)
{
    report_list(r, "items", owning_item_columns);
    for (int32_t i = 0; i < x->n_items; i++) {
        const struct owning_item item = owning_item_of(x, t, i);
        report_row(r, &item);
    }
    report_list_end(r);
}

static void report_fails(struct report *r, const struct system *x)
{
    report_list(r, "failures", owning_fail_columns);
    for (int32_t i = 0; i < x->n_fails; i++) {
        const struct owning_fail fail = owning_fail_of(x, i);
        report_row(r, &fail);
    }
    report_list_end(r);
}

struct share_line {
    const char *level, *part;
    double usd, share;
};

#define SHARE_COLUMNS(called, words)                                                                         \
    {                                                                                                        \
        COLUMN_WORD(struct share_line, level, NULL, .title = "what it is made of", .flags = COLUMN_EMPTY),   \
            COLUMN_WORD(struct share_line, part, NULL),                                                      \
            COLUMN_AT(struct share_line, usd, called, TABLE_REAL, NULL, .title = words, .unit = "USD",       \
                      .digits = 4),                                                                          \
            COLUMN_REAL(struct share_line, share, NULL, .times = 100, .as = "%", .digits = 3), COLUMNS_END   \
    }

/* From the cost of a million tokens, or of an hour of work where none are known, to what makes it. */
static void report_shares(struct report *r, const struct system *x, const struct own_system *own)
{
    static const struct column of_tokens[] =
        SHARE_COLUMNS(DESIGN_COLUMN_IN(system, usd_per_Mtoken), "a million tokens");
    static const struct column of_hours[] = SHARE_COLUMNS("usd_npu_h_of_work", "an NPU hour of work");
    struct system_share *shares = malloc((size_t)system_shares_max(x) * sizeof *shares);
    double usd = owning_work_usd(x);
    int32_t n = shares ? system_shares(shares, x, own) : 0;
    r->failed = r->failed || !shares;
    if (n > 0)
        report_list(r, "made_of", isfinite(x->usd_per_Mtoken) ? of_tokens : of_hours);
    for (int32_t i = 0; i < n; i++) {
        bool first = i == 0 || shares[i].level != shares[i - 1].level || !report_is(r, IN_TEXT);
        report_row(r, &(struct share_line){ first ? system_level_words[shares[i].level] : NULL,
                                            shares[i].what, usd * shares[i].frac, shares[i].frac });
    }
    if (n > 0) {
        report_list_end(r);
        report_line(r, "\n");
    }
    free(shares);
}

static void report_factors(struct report *r, const struct system *x, const struct design_point *s,
                           double time_s)
{
    struct owning_factor list[OWNING_FACTORS];
    int32_t n = 0;
    struct err e;
    r->failed = owning_factors(list, &n, x, s, time_s, &e) || r->failed;
    report_array(r, "a_tenth_more", owning_factor_columns, list, n, sizeof *list);
}

struct worth {
    double minute_of_restart_share, dG_dR_per_s, dG_dM_per_s;
};

static const struct column worth_columns[] = {
    COLUMN_REAL(struct worth, minute_of_restart_share, NULL, .in = IN_JSON),
    COLUMN_REAL(struct worth, dG_dR_per_s, NULL, .in = IN_JSON),
    COLUMN_REAL(struct worth, dG_dM_per_s, NULL, .in = IN_JSON),
    COLUMNS_END,
};

static void report_worth(struct report *r, const struct system *x)
{
    double share = owning_minute_share(x);
    char a[SHOW], b[SHOW];
    report_facts(r, worth_columns, &(struct worth){ share, x->goodput.per_restart, x->goodput.per_mtbi });
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
        report_facts(r, sum_columns, &x);
    }
    if (why && !isnan(x.racks))
        report_why(r, &x, s, d->time_s);
    report_close(r, '}');
    system_free(&x);
}
