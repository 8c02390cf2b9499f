/*
 * weft check: a design against the limits under `budget` of its study, one verdict a limit. A value that is
 * only a lower bound (an item without a known power, a price without whole parts) can exceed a limit but
 * never keep it, an upper bound (all links of an NPU, where a graph does not say which of them is its NIC)
 * the other way round: the verdict is then "unknown" and the command fails rather than guess. What is over
 * decides the exit code whatever else is not known.
 *
 * A study whose network has all bandwidths and which has no workload is checked as it is; else the design is
 * evaluated or solved first, and one without a split is itself the answer (exit code 4).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/load.h"
#include "cli/output.h"
#include "cli/training.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"

/* One budget: what the design takes, what it may take, in the unit of the key. `limit` and `value` are
 * compared in this unit. */
struct budget {
    const char *key, *name, *unit;
    double value, limit;
    double low, high; /* of the value, by the bands of prices; NaN: none */
    bool at_least;    /* the value is a lower bound */
    bool at_most;     /* it is an upper bound */
    char why[600];    /* why nothing better is known */
};

enum verdict { WITHIN, OVER, UNKNOWN };

enum { MAX_BUDGETS = 8 };

struct check {
    struct budget list[MAX_BUDGETS];
    int32_t n;
    bool over, unknown; /* one of them is */
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

static struct budget *add(struct check *c, const char *key, const char *name, const char *unit, double limit)
{
    struct budget *b = &c->list[c->n++];
    *b = (struct budget){
        .key = key, .name = name, .unit = unit, .limit = limit, .value = NAN, .low = NAN, .high = NAN
    };
    return b;
}

static void add_usd(struct check *c, const struct subject *x)
{
    struct budget *b = add(c, "usd", "cost", "USD", x->study->budget.usd);
    if (x->bill) {
        struct topo_band usd = study_bill_usd(x->study, x->bill);
        b->value = usd.typ;
        b->low = usd.low;
        b->high = usd.high;
        return;
    }
    b->value = x->linear_usd;
    b->at_least = true;
    snprintf(b->why, sizeof b->why, "there is no bill of whole parts: %s", x->bill_reason);
}

static void add_watt(struct check *c, const struct subject *x)
{
    struct budget *b = add(c, "watt", "power", "W", x->study->budget.watt);
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
static void add_nic_bandwidth(struct check *c, const struct subject *x)
{
    const struct design_point *s = x->study;
    bool alone = study_takes_graph_prices(s);
    struct budget *b = add(c, "nic_GBps", alone ? "NIC bandwidth, by all links of an NPU" : "NIC bandwidth",
                           "GB/s", s->budget.nic_Bps / 1e9);
    int32_t n_classes = 0;
    for (int32_t d = 0; d < s->net.n_dims && alone; d++)
        n_classes += s->prices[d].nic_share > 0;
    b->value = alone || study_knows_nics(s) ? x->nic_Bps / 1e9 : NAN;
    b->at_most = n_classes > 1;
    if (alone)
        snprintf(b->why, sizeof b->why,
                 "the graph does not say which of the links of an NPU, %g GB/s in all, are its NICs; give "
                 "parts with nic_usd_per_GBps for the tiers of those",
                 b->value);
    else
        snprintf(b->why, sizeof b->why, NO_NIC_RATE);
}

static void add_nics(struct check *c, const struct subject *x)
{
    struct budget *b = add(c, "nics", "NICs", "", (double)x->study->budget.nics);
    if (study_takes_graph_prices(x->study))
        snprintf(b->why, sizeof b->why,
                 "the graph does not say what a NIC is; give parts with nic_port_GBps, and with "
                 "nic_usd_per_GBps for the tiers of NICs");
    else if (!study_knows_nics(x->study))
        snprintf(b->why, sizeof b->why, NO_NIC_RATE);
    else if (!x->bill)
        snprintf(b->why, sizeof b->why, "there is no bill: %s", x->bill_reason);
    else if (x->bill->nics < 0)
        snprintf(b->why, sizeof b->why, "parts give no size of a NIC; give nic_port_GBps to count them");
    else
        b->value = (double)x->bill->nics;
}

/* In the order of the key table. */
static void find_budgets(struct check *c, const struct subject *x)
{
    const struct study_budget *limit = &x->study->budget;
    if (isfinite(limit->nic_Bps))
        add_nic_bandwidth(c, x);
    if (limit->nics >= 0)
        add_nics(c, x);
    if (isfinite(limit->usd))
        add_usd(c, x);
    if (isfinite(limit->watt))
        add_watt(c, x);
    if (isfinite(limit->time_s))
        add(c, "time_s", "step time", "s", limit->time_s)->value = x->time_s;
}

/* What is left out of a sum makes it a lower bound. */
static void add_owned(struct check *c, const char *key, const char *name, const char *unit, double limit,
                      double value, bool at_least, const struct system *x)
{
    struct budget *b = add(c, key, name, unit, limit);
    b->value = value;
    if (strncmp(key, "usd", 3) == 0) {
        b->low = value * x->cost.low / x->cost.total;
        b->high = value * x->cost.high / x->cost.total;
    }
    b->at_least = at_least;
    if (x->dark && !x->lacks_network && strcmp(key, "usd_per_Mtoken") != 0)
        snprintf(b->why, sizeof b->why, "the power of part \"%s\" is not given", x->dark);
    else if (at_least || isnan(x->racks))
        snprintf(b->why, sizeof b->why, "left out is %s", x->omits);
    else
        snprintf(b->why, sizeof b->why, "give system.step_tokens");
}

static int find_owned(struct check *c, const struct subject *x, struct err *e)
{
    const struct study_budget *limit = &x->study->budget;
    struct system own;
    bool asked = isfinite(limit->site_W) || isfinite(limit->usd_year) || isfinite(limit->usd_per_Mtoken);
    if (!asked || !x->design || !x->study->has_system)
        return 0;
    int rc = system_build(&own, x->study, design_owned(x->design), e);
    if (rc)
        return rc;
    bool no_usd = own.lacks_network || own.lacks_watts;
    if (isfinite(limit->site_W))
        add_owned(c, "site_MW", "site power", "MW", limit->site_W / 1e6,
                  own.cost.watt_peak * x->study->system.terms.pue / 1e6, own.lacks_watts, &own);
    if (isfinite(limit->usd_year))
        add_owned(c, "usd_year", "owning, a year", "USD", limit->usd_year, own.cost.total, no_usd, &own);
    if (isfinite(limit->usd_per_Mtoken))
        add_owned(c, "usd_per_Mtoken", "million tokens", "USD", limit->usd_per_Mtoken, own.usd_per_Mtoken,
                  no_usd || own.lacks_failures, &own);
    system_free(&own);
    return 0;
}

/* Splits meet their constraints to rounding, so a budget asked for as a constraint must hold too. NICs are
 * counted and not measured: one too many is over, however many there are. */
static bool exceeds(const struct budget *b, double value)
{
    return value > (strcmp(b->key, "nics") == 0 ? b->limit : b->limit * (1 + 1e-9));
}

/* A lower bound decides only when it is already too much, an upper bound only when it is not. */
static enum verdict judge(const struct budget *b)
{
    if (exceeds(b, b->value))
        return b->at_most ? UNKNOWN : OVER;
    return isfinite(b->value) && !b->at_least ? WITHIN : UNKNOWN;
}

static void judge_all(struct check *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        c->over = c->over || judge(&c->list[i]) == OVER;
        c->unknown = c->unknown || judge(&c->list[i]) == UNKNOWN;
    }
}

/* Would prices at the other end of their bands decide otherwise? "" if not. */
static const char *doubt(char buf[96], const struct budget *b)
{
    char usd[SHOW];
    bool over = exceeds(b, b->value), other = over ? b->low <= b->limit : exceeds(b, b->high);
    buf[0] = '\0';
    if (other)
        snprintf(buf, 96, ", %s at %s prices: %s USD", over ? "within" : "over", over ? "low" : "high",
                 strcmp(b->key, "usd_per_Mtoken") == 0 ? show_real(usd, over ? b->low : b->high, 6)
                                                       : show_usd(usd, over ? b->low : b->high));
    return buf;
}

/* Whole things and dollars in full, the others in 6 digits: a unit a row, so text is put here. */
static void put_amount(struct report *r, const struct budget *b, double x)
{
    char buf[SHOW];
    bool whole = strcmp(b->unit, "USD") == 0 || strcmp(b->unit, "") == 0;
    report_put_word(r, whole ? show_usd(buf, x) : show_real(buf, x, 6));
    report_put_real(r, x);
}

static int write_result(const struct run *run, const struct check *c, const struct design_point *s,
                        struct err *e)
{
    static const char *const verdicts[] = { [WITHIN] = "within", [OVER] = "over", [UNKNOWN] = "unknown" };
    static const struct report_column columns[] = {
        { IN_TEXT, .title = "budget" },
        { IN_JSON, .key = "name" },
        { IN_CSV, .key = "budget" },
        { IN_TEXT, .title = "value", .show = 6 },
        { IN_DATA, .key = "value", .kind = TABLE_REAL },
        { IN_TEXT, .title = "limit", .show = 6 },
        { IN_DATA, .key = "limit", .kind = TABLE_REAL },
        { IN_TEXT, .title = "slack", .show = 6 },
        { IN_DATA, .key = "slack", .kind = TABLE_REAL },
        { IN_TEXT | IN_JSON, .key = "unit", .title = "" },
        { IN_CSV, .key = "unit" },
        { IN_TEXT, .title = "verdict" },
        { IN_DATA, .key = "within" },
        { IN_JSON, .key = "lower_bound" },
        { IN_JSON, .key = "low" },
        { IN_JSON, .key = "high" },
    };
    struct report r = { 0 };
    output_begin(&r, run, output_origin(s));
    report_json_flag(&r, "within", !c->over && !c->unknown);
    report_table(&r, "budgets", columns, REPORT_COLUMNS(columns));
    for (int32_t i = 0; i < c->n; i++) {
        const struct budget *b = &c->list[i];
        enum verdict verdict = judge(b);
        char other[96];
        report_put_word(&r, b->name);
        report_put_word(&r, b->key);
        report_put_word(&r, b->key);
        put_amount(&r, b, b->value);
        put_amount(&r, b, b->limit);
        put_amount(&r, b, b->limit - b->value);
        report_put_word(&r, b->unit);
        report_put_word(&r, *b->unit ? b->unit : NULL);
        report_put_text(&r, "%s%s%s", verdicts[verdict],
                        b->at_least  ? " (value is a lower bound)"
                        : b->at_most ? " (value is an upper bound)"
                                     : "",
                        doubt(other, b));
        if (verdict == UNKNOWN)
            report_put_none(&r);
        else
            report_put_flag(&r, verdict == WITHIN);
        report_put_flag(&r, b->at_least);
        report_put_real(&r, b->low);
        report_put_real(&r, b->high);
    }
    report_table_end(&r);
    load_say_semantics(&r, s);
    int rc = output_report(&r, run, output_origin(s), e);
    report_free(&r);
    return rc;
}

static void say_over(struct run *run, const struct budget *b)
{
    /* Large sums in whole dollars, NICs; digits enough to see a difference in the rest. */
    bool whole = (strcmp(b->unit, "USD") == 0 || !*b->unit) && fabs(b->value) >= 1e4 &&
                 llround(b->value) != llround(b->limit);
    char value[SHOW], limit[SHOW];
    const char *gap = *b->unit ? " " : "";
    output_say(run, "%s: over budget: %s: %s%s%s exceeds the budget of %s%s%s", run->opt.operands[0], b->key,
               whole ? show_count(value, llround(b->value)) : show_real(value, b->value, 12), gap, b->unit,
               whole ? show_count(limit, llround(b->limit)) : show_real(limit, b->limit, 12), gap, b->unit);
}

/* What is over decides, whatever is not known beside it. */
static int conclude(struct run *run, const struct subject *x, struct err *e)
{
    struct check c = { 0 };
    find_budgets(&c, x);
    int rc = find_owned(&c, x, e);
    if (rc)
        return rc;
    judge_all(&c);
    /* A table that cannot decide is not printed: its reader might take it for a yes. */
    rc = c.over || !c.unknown ? write_result(run, &c, x->study, e) : 0;
    for (int32_t i = 0; i < c.n && !rc; i++) {
        const struct budget *b = &c.list[i];
        yaml_id at = yaml_get(&x->study->doc, x->study->budget.node, b->key);
        if (judge(b) == OVER)
            say_over(run, b);
        else if (judge(b) == UNKNOWN && !c.over)
            rc = yaml_fail_key(&x->study->doc, at, e, ERR_RANGE, "cannot be checked: %s", b->why);
    }
    if (!rc && c.over)
        run->exit_code = EXIT_NO_DESIGN;
    return rc;
}

/* A network with all its bandwidths and no workload: nothing takes time, but it has a price. */
static int check_network(struct run *run, const struct overrides *o, struct err *e)
{
    struct design_point s = { 0 };
    struct topo_bill bill = { 0 };
    /* No bill is a reason, not a failure: the other budgets are still checked. */
    struct err why = { 0 };
    double bw_Bps[TOPO_MAX_DIMS];
    int rc = load_study(&s, run, o, STUDY_FOR_BUDGET | STUDY_NEEDS_BANDWIDTH | STUDY_NEEDS_PARTS, e);
    if (rc)
        return rc;
    struct subject x = { .study = &s, .linear_usd = study_fixed_usd(&s), .time_s = NAN };
    for (int32_t d = 0; d < s.net.n_dims; d++) {
        bw_Bps[d] = s.net.dims[d].bw_Bps;
        x.linear_usd += s.prices[d].usd_per_Bps * bw_Bps[d];
        x.nic_Bps += s.prices[d].nic_share * bw_Bps[d];
    }
    rc = topo_build_bill(&bill, &s.net, &s.parts, bw_Bps, &why);
    /* All else is a reason why there is no bill, and is said where a budget needs one. */
    if (rc == ERR_NOMEM) {
        *e = why;
    } else {
        x.bill = rc ? NULL : &bill;
        x.bill_reason = why.msg;
        rc = conclude(run, &x, e);
    }
    topo_bill_free(&bill);
    study_free(&s);
    return rc;
}

static int check_design(struct run *run, const struct overrides *o, struct err *e)
{
    struct load_design x;
    int rc = load_design(&x, run, o, LOAD_EITHER, STUDY_FOR_BUDGET | STUDY_NEEDS_WORKLOAD, e);
    output_notes(run, &x.notes);
    if (!rc && x.solved && !alloc_has_split(&x.design.answer)) {
        rc = load_write_status(run, &x, true, e);
    } else if (!rc) {
        const struct design *d = &x.design;
        struct subject subject = {
            .study = x.study,
            .bill = d->has_bill ? &d->bill : NULL,
            .bill_reason = d->bill_reason,
            .linear_usd = d->usd_fraction,
            .nic_Bps = d->nic_Bps,
            .time_s = d->time_s,
            .design = d,
        };
        rc = conclude(run, &subject, e);
        if (!rc)
            training_say_memory(run, x.study);
    }
    load_design_free(&x);
    return rc;
}

static int run_check(struct run *run, struct err *e)
{
    struct overrides o;
    struct design_point probe = { 0 };
    int rc = output_check(run, e);
    if (rc)
        return rc;
    rc = overrides_read(&o, run, e);
    if (!rc)
        rc = study_load(&probe, run->opt.operands[0], o.list, o.n, STUDY_NEEDS_NETWORK, e);
    bool network_alone = !rc && probe.n_workloads == 0 && topo_has_bandwidths(&probe.net);
    study_free(&probe);
    if (!rc)
        rc = network_alone ? check_network(run, &o, e) : check_design(run, &o, e);
    overrides_free(&o);
    return rc;
}

const struct command cmd_check = {
    .group = "One design",
    .name = "check",
    .help = "check a design against its budgets: exit 0 when within, 4 when over",
    .about =
        "Check a design against the limits under `budget` of STUDY: NIC bandwidth, number of NICs, cost,\n"
        "power, step time; with `system` power and cost of the whole machine. Bandwidths are those of\n"
        "the network; where one is missing, those that weft alloc finds. Exit code 0 when every budget\n"
        "is kept, 4 when one is not.\n",
    .scope = SCOPE(1, 1, "STUDY", &options_study, &options_search, &options_format, &options_files),
    .run = run_check,
};
