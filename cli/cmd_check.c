/*
 * weft check: a design against the limits under `budget` of its study, one verdict a limit
 * (kinds/design/answer/budget.h). One that cannot be confirmed is as bad as one that is exceeded: exit
 * code 4.
 *
 * A study whose network has all bandwidths and which has no workload is checked as it is; else the design is
 * evaluated or solved first, and one without a split is itself the answer (exit code 4).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/load.h"
#include "cli/output.h"
#include "cli/page.h"
#include "kinds/design/answer/budget.h"
#include "kinds/design/ask/load.h"

/* Would prices, or a step time, at the other end of their bands decide otherwise? "" if not. */
static const char *doubt(char buf[96], const struct budget_item *b)
{
    char usd[SHOW];
    bool over = budget_exceeds(b, b->value), other = over ? b->low <= b->limit : budget_exceeds(b, b->high);
    buf[0] = '\0';
    if (other && strcmp(b->key, "time_s") == 0)
        snprintf(buf, 96, ", %s at the %s end of its band, %s s", over ? "within" : "over",
                 over ? "lower" : "upper", show_real(usd, over ? b->low : b->high, 4));
    else if (other)
        snprintf(buf, 96, ", %s at %s prices: %s USD", over ? "within" : "over", over ? "low" : "high",
                 strcmp(b->key, "usd_per_Mtoken") == 0 ? show_real(usd, over ? b->low : b->high, 6)
                                                       : show_usd(usd, over ? b->low : b->high));
    return buf;
}

/* A limit, and its verdict for people. */
struct check_line {
    struct budget_item of;
    const char *unit; /* NULL: none */
    int32_t within;   /* -1: not known */
    char said[160];
};

#define LINE(field, called, kind, ...) COLUMN_AT(struct check_line, field, called, kind, NULL, __VA_ARGS__)
static const struct column line_columns[] = {
    LINE(of.name, "title", TABLE_TEXT, .in = IN_TEXT, .title = "budget"),
    LINE(of.key, "name", TABLE_TEXT, .in = IN_JSON),
    LINE(of.key, "budget", TABLE_TEXT, .in = IN_CSV),
    LINE(of.value, "value", TABLE_REAL, .digits = 6),
    LINE(of.limit, "limit", TABLE_REAL, .digits = 6),
    LINE(of.slack, "slack", TABLE_REAL, .digits = 6),
    LINE(of.unit, "unit", TABLE_TEXT, .title = "", .in = IN_TEXT),
    LINE(unit, "unit", TABLE_TEXT, .in = IN_DATA),
    LINE(said, "verdict", TABLE_TEXT, .in = IN_TEXT, .flags = COLUMN_CHARS),
    LINE(within, "within", TABLE_COUNT, .in = IN_DATA, .show = COLUMN_YES_NO),
    LINE(of.at_least, "lower_bound", TABLE_COUNT, .in = IN_JSON, .show = COLUMN_YES_NO),
    LINE(of.low, "low", TABLE_REAL, .in = IN_DATA),
    LINE(of.high, "high", TABLE_REAL, .in = IN_DATA),
    COLUMNS_END,
};

static int write_result(const struct run *run, const struct budget *c, const struct design_point *s,
                        struct err *e)
{
    struct report r = { 0 };
    output_begin(&r, run, output_origin(s));
    report_json_flag(&r, "within", !c->over && !c->unknown);
    report_list(&r, "budgets", line_columns);
    for (int32_t i = 0; i < c->n; i++) {
        struct check_line line = { .of = c->list[i], .within = -1 };
        line.unit = *line.of.unit ? line.of.unit : NULL;
        char other[96];
        if (line.of.verdict != BUDGET_UNKNOWN)
            line.within = line.of.verdict == BUDGET_WITHIN;
        snprintf(line.said, sizeof line.said, "%s%s%s", line.of.word,
                 line.of.at_least  ? " (value is a lower bound)"
                 : line.of.at_most ? " (value is an upper bound)"
                                   : "",
                 doubt(other, &line.of));
        report_row(&r, &line);
    }
    report_list_end(&r);
    load_say_semantics(&r, s);
    int rc = output_report(&r, run, output_origin(s), e);
    report_free(&r);
    return rc;
}

static void say_over(struct run *run, const struct budget_item *b)
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

/* Which end of bands the verdicts are about. */
static int read_end(enum budget_end *end, const struct run *run, struct err *e)
{
    *end = BUDGET_TYPICAL;
    for (int i = 0; i < N_BUDGET_ENDS && run->opt.check_by; i++)
        if (strcmp(run->opt.check_by, budget_end_words[i]) == 0) {
            *end = (enum budget_end)i;
            return 0;
        }
    return run->opt.check_by
               ? err_set(e, ERR_USAGE, "option --by is \"%.60s\", expected low, typical or high",
                         run->opt.check_by)
               : 0;
}

/* What is not known is said too: a gate is passed by what is known to be within. */
static int conclude(struct run *run, const struct design_point *s, struct budget *c, struct err *e)
{
    enum budget_end end;
    struct err unknown;
    int rc = read_end(&end, run, e);
    if (rc)
        return rc;
    budget_judge(c, end);
    rc = write_result(run, c, s, e);
    for (int32_t i = 0; i < c->n && !rc; i++) {
        const struct budget_item *b = &c->list[i];
        if (b->verdict == BUDGET_OVER)
            say_over(run, b);
        else if (b->verdict == BUDGET_UNKNOWN) {
            yaml_fail_key(&s->doc, yaml_get(&s->doc, s->budget.node, b->key), &unknown, ERR_RANGE,
                          "cannot be checked: %s", b->why);
            output_say(run, "%s", unknown.msg);
        }
    }
    if (!rc && (c->over || c->unknown))
        run->exit_code = EXIT_NO_DESIGN;
    return rc;
}

/* A network with all its bandwidths and no workload: nothing takes time, but it has a price. */
static int check_network(struct run *run, const struct overrides *o, struct err *e)
{
    struct design_point s = { 0 };
    struct budget c;
    int rc = load_study(&s, run, o, DESIGN_FOR_BUDGET | DESIGN_NEEDS_BANDWIDTH | DESIGN_NEEDS_PARTS, e);
    if (rc)
        return rc;
    rc = budget_check_network(&c, &s, e);
    if (!rc)
        rc = conclude(run, &s, &c, e);
    design_point_free(&s);
    return rc;
}

static int write_check(struct run *run, const struct load_design *x, struct err *e)
{
    struct budget c;
    int rc = budget_check(&c, x->study, &x->design, e);
    if (!rc)
        rc = conclude(run, x->study, &c, e);
    if (!rc)
        page_say_memory(run, x->study);
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
        rc = design_point_load(&probe, run->opt.operands[0], o.list, o.n, DESIGN_NEEDS_NETWORK, e);
    bool network_alone = !rc && probe.n_workloads == 0 && topo_has_bandwidths(&probe.net);
    design_point_free(&probe);
    if (!rc)
        rc = network_alone
                 ? check_network(run, &o, e)
                 : load_and_write(run, DESIGN_FOR_BUDGET | DESIGN_NEEDS_WORKLOAD, true, write_check, e);
    overrides_free(&o);
    return rc;
}

static const struct option check_rows[] = {
    TEXT_OPTION("by", "END", check_by,
                "judge at an end of bands: low or high prices, and a step's time at the fast or slow end of\n"
                "                       measured steps (default: typical)"),
};
static const struct option_group options_check = OPTION_GROUP("Verdicts", check_rows);

const struct command cmd_check = {
    .group = "One design",
    .name = "check",
    .help = "check a design against its budgets: exit 0 when within, else 4",
    .about =
        "Check a design against the limits under `budget` of STUDY: NIC bandwidth, number of NICs, cost,\n"
        "power, step time; with `system` power and cost of the whole machine. Bandwidths are those of\n"
        "the network; where one is missing, those that weft alloc finds. Exit code 0 when every budget\n"
        "is kept, 4 when one is not, or cannot be checked.\n",
    .scope = SCOPE(1, 1, "STUDY", &options_check, &options_study, &options_search, &options_format,
                   &options_files),
    .run = run_check,
};
