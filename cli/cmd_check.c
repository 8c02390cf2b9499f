/*
 * weft check: designs against the limits under `budget` of their studies, one verdict a limit
 * (kinds/design/answer/budget.h). One that cannot be confirmed is as bad as one that is exceeded: exit
 * code 4. Several files, and all points of a study with `vary`, make one table and the worst exit code.
 *
 * A study whose network has all bandwidths and which has no workload is checked as it is; else the design is
 * evaluated or solved first, and one without a split is itself the answer (exit code 4).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/points.h"
#include "kinds/design/answer/budget.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/runner.h"

/* A line a limit: more is a question for weft sweep. */
enum { MAX_POINTS = 10000 };

/* A limit and its verdict; of a design without a split that it has none. */
struct check_line {
    char *file, *at; /* owned: the study, and what varies as the point has it */
    int64_t point;
    struct budget_item of;
    const char *unit; /* NULL: none */
    int32_t within;   /* -1: not known */
    char said[200];
};

enum { FILES = 1, POINTS = 2 }; /* what there are several of */

#define LINE(field, called, kind, ...) COLUMN_AT(struct check_line, field, called, kind, NULL, __VA_ARGS__)
static const struct column line_columns[] = {
    LINE(file, "file", TABLE_TEXT, .flags = 0),
    LINE(point, "point", TABLE_COUNT, .flags = 0),
    LINE(at, "at", TABLE_TEXT, .flags = 0),
    LINE(of.name, "title", TABLE_TEXT, .in = IN_TEXT, .title = "budget"),
    LINE(of.key, "name", TABLE_TEXT, .in = IN_JSON),
    LINE(of.key, "budget", TABLE_TEXT, .in = IN_CSV),
    LINE(of.value, "value", TABLE_REAL, .digits = 6),
    LINE(of.limit, "limit", TABLE_REAL, .digits = 6),
    LINE(of.slack, "slack", TABLE_REAL, .digits = 6),
    LINE(of.unit, "unit", TABLE_TEXT, .title = "", .in = IN_TEXT),
    LINE(unit, "unit", TABLE_TEXT, .in = IN_DATA),
    LINE(said, "verdict", TABLE_TEXT, .flags = COLUMN_CHARS),
    LINE(within, "within", TABLE_COUNT, .in = IN_DATA, .show = COLUMN_YES_NO),
    LINE(of.at_least, "lower_bound", TABLE_COUNT, .in = IN_JSON, .show = COLUMN_YES_NO),
    LINE(of.low, "low", TABLE_REAL, .in = IN_DATA),
    LINE(of.high, "high", TABLE_REAL, .in = IN_DATA),
    LINE(of.band_grade, "band_grade", TABLE_TEXT, .in = IN_DATA),
    COLUMNS_END,
};

/* All verdicts of a run. */
struct gate {
    struct run *run;
    struct overrides overrides;
    enum budget_end end;
    unsigned several;          /* bits of FILES, POINTS */
    const struct sweep *sweep; /* of the study in hand; NULL: it varies nothing */
    int64_t point;
    struct check_line *lines; /* shape [n], owned */
    int32_t n, cap;
    bool over, unknown;
    struct origin from;  /* of the only design */
    struct report notes; /* what is said below the table */
};

static void gate_free(struct gate *g)
{
    for (int32_t i = 0; i < g->n; i++) {
        free(g->lines[i].file);
        free(g->lines[i].at);
    }
    free(g->lines);
    report_free(&g->notes);
    overrides_free(&g->overrides);
}

/* "network.dims.pod.size=8, parts=a.yaml"; "" where nothing varies. */
static void put_place(struct text *out, const struct gate *g)
{
    char value[SHOW_VALUE];
    for (int32_t k = 0; g->sweep && k < g->sweep->n_keys; k++) {
        const char *x = cmd_points_value(value, g->sweep, k, g->point);
        if (*x) /* a grid need not vary all keys */
            text_printf(out, "%s%s=%.80s", out->n ? ", " : "", g->sweep->keys[k].path, x);
    }
}

static struct check_line *check_add_line(struct gate *g, struct err *e)
{
    struct text at = { 0 };
    if (!vec_reserve(g->lines, g->cap, g->n + 1)) {
        err_nomem(e, "verdicts");
        return NULL;
    }
    struct check_line *line = &g->lines[g->n++];
    put_place(&at, g);
    *line = (struct check_line){ .file = strdup(g->run->opt.operands[0]), .point = g->point, .within = -1 };
    line->at = at.failed ? NULL : strdup(text_str(&at));
    text_free(&at);
    if (line->file && line->at)
        return line;
    err_nomem(e, "verdicts");
    return NULL;
}

/* Would prices, or a step time, at the other end of their bands decide otherwise? "" if not. */
static const char *doubt(char buf[128], const struct budget_item *b)
{
    char usd[SHOW];
    bool over = budget_exceeds(b, b->value), other = over ? b->low <= b->limit : budget_exceeds(b, b->high);
    buf[0] = '\0';
    if (other && strcmp(b->key, "time_s") == 0)
        snprintf(buf, 128, ", %s at the %s end of its band, %s s", over ? "within" : "over",
                 over ? "lower" : "upper", show_real(usd, over ? b->low : b->high, 4));
    else if (other)
        snprintf(
            buf, 128, ", %s at %s prices%s: %s USD%s%s%s", over ? "within" : "over", over ? "low" : "high",
            b->with_time ? over ? " and the fast end of steps" : " and the slow end of steps" : "",
            strcmp(b->key, "usd_per_Mtoken") == 0 ? show_real(usd, over ? b->low : b->high, 6)
                                                  : show_usd(usd, over ? b->low : b->high),
            b->band_grade ? " (grade " : "", b->band_grade ? b->band_grade : "", b->band_grade ? ")" : "");
    return buf;
}

/* "study.yaml", "study.yaml: point 3". */
static const char *show_design(char buf[512], const struct gate *g)
{
    if (g->sweep)
        snprintf(buf, 512, "%.400s: point %lld", g->run->opt.operands[0], (long long)g->point);
    else
        snprintf(buf, 512, "%.400s", g->run->opt.operands[0]);
    return buf;
}

static void say_over(const struct gate *g, const struct budget_item *b)
{
    /* Large sums in whole dollars, NICs; digits enough to see a difference in the rest. */
    bool whole = (strcmp(b->unit, "USD") == 0 || !*b->unit) && fabs(b->value) >= 1e4 &&
                 llround(b->value) != llround(b->limit);
    char value[SHOW], limit[SHOW], design[512];
    const char *gap = *b->unit ? " " : "";
    output_say(g->run, "%s: over budget: %s: %s%s%s exceeds the budget of %s%s%s", show_design(design, g),
               b->key, whole ? show_count(value, llround(b->value)) : show_real(value, b->value, 12), gap,
               b->unit, whole ? show_count(limit, llround(b->limit)) : show_real(limit, b->limit, 12), gap,
               b->unit);
}

/* What is not known is said too: a gate is passed by what is known to be within. */
static void say_item(const struct gate *g, const struct design_point *s, const struct budget_item *b)
{
    struct err unknown;
    if (b->verdict == BUDGET_OVER)
        say_over(g, b);
    if (b->verdict != BUDGET_UNKNOWN)
        return;
    yaml_fail_key(&s->doc, yaml_get(&s->doc, s->budget.node, b->key), &unknown, ERR_RANGE,
                  "cannot be checked: %s", b->why);
    output_say(g->run, "%s", unknown.msg);
}

static int add_verdicts(struct gate *g, const struct design_point *s, struct budget *c, struct err *e)
{
    char other[128];
    budget_judge(c, g->end);
    g->over = g->over || c->over;
    g->unknown = g->unknown || c->unknown;
    g->from = output_origin(s);
    if (!g->notes.out.n)
        load_say_semantics(&g->notes, s);
    for (int32_t i = 0; i < c->n; i++) {
        struct check_line *line = check_add_line(g, e);
        if (!line)
            return e->code;
        line->of = c->list[i];
        line->unit = *line->of.unit ? line->of.unit : NULL;
        if (line->of.verdict != BUDGET_UNKNOWN)
            line->within = line->of.verdict == BUDGET_WITHIN;
        snprintf(line->said, sizeof line->said, "%s%s%s", line->of.word,
                 line->of.at_least  ? " (value is a lower bound)"
                 : line->of.at_most ? " (value is an upper bound)"
                                    : "",
                 doubt(other, &line->of));
        say_item(g, s, &line->of);
    }
    return 0;
}

/* A design without a split is over whatever its limits are. */
static int add_status(struct gate *g, const struct load_design *x, struct err *e)
{
    const struct alloc_answer *a = &x->design.answer;
    struct check_line *line = check_add_line(g, e);
    if (!line)
        return e->code;
    line->of = (struct budget_item){
        .key = "status", .name = "status", .value = NAN, .limit = NAN, .slack = NAN, .low = NAN, .high = NAN
    };
    line->within = 0;
    snprintf(line->said, sizeof line->said, "%s: %.160s", alloc_status_names[a->status], a->reason);
    g->over = true;
    g->from = output_origin(x->study);
    return 0;
}

/* A network with all its bandwidths and no workload: nothing takes time, but it has a price. */
static int check_network(struct gate *g, struct err *e)
{
    struct design_point s = { 0 };
    struct budget c;
    const struct overrides *o = &g->overrides;
    const struct study_source from = {
        g->run->opt.operands[0], NULL, o->list, o->n, o->axes, o->n_axes, NULL
    };
    int rc = design_point_read(&s, &from, DESIGN_FOR_BUDGET | DESIGN_NEEDS_BANDWIDTH | DESIGN_NEEDS_PARTS, e);
    if (rc)
        return rc;
    output_notes(g->run, &s.notes);
    load_say_ages(g->run, &s);
    rc = budget_check_network(&c, &s, e);
    if (!rc)
        rc = add_verdicts(g, &s, &c, e);
    design_point_free(&s);
    return rc;
}

static int check_design(struct gate *g, struct err *e)
{
    struct load_design x;
    struct budget c;
    int rc =
        load_design(&x, g->run, &g->overrides, LOAD_EITHER, DESIGN_FOR_BUDGET | DESIGN_NEEDS_WORKLOAD, e);
    if (!rc)
        output_notes(g->run, &x.notes);
    if (!rc && x.solved && !alloc_has_split(&x.design.answer)) {
        rc = add_status(g, &x, e);
    } else if (!rc) {
        rc = budget_check(&c, x.study, &x.design, e);
        rc = rc ? rc : add_verdicts(g, x.study, &c, e);
        if (!rc)
            page_say_memory(g->run, x.study);
    }
    load_design_free(&x);
    return rc;
}

/* The study in hand, at g->point where it varies. */
static int check_one(struct gate *g, struct err *e)
{
    const struct overrides *o = &g->overrides;
    const struct study_source from = {
        g->run->opt.operands[0], NULL, o->list, o->n, o->axes, o->n_axes, NULL
    };
    struct design_point probe = { 0 };
    int rc = design_point_read(&probe, &from, DESIGN_NEEDS_NETWORK, e);
    bool network_alone = !rc && probe.n_workloads == 0 && topo_has_bandwidths(&probe.net);
    design_point_free(&probe);
    return rc ? rc : network_alone ? check_network(g, e) : check_design(g, e);
}

/* One of several that is wrong does not keep the others from being checked. */
static int pass_over(struct gate *g, int rc, struct err *e)
{
    char design[512];
    if (!rc || !g->several || err_is_of_machine(rc))
        return rc;
    if (g->sweep)
        output_say(g->run, "%s: %s", show_design(design, g), e->msg);
    else
        output_say(g->run, "%s", e->msg);
    output_outcome(g->run, EXIT_INPUT);
    g->unknown = true;
    *e = (struct err){ 0 };
    return 0;
}

static int check_point(struct gate *g, const struct study *study, int64_t i, struct err *e)
{
    struct sweep_point p;
    struct study_override axes[SWEEP_MAX_KEYS];
    struct design_point s;
    sweep_find_point(&p, &study->sweep, i);
    if (!design_passes(study, &p, NULL))
        return 0;
    g->point = i;
    int rc = design_load(&s, study, &p, e);
    bool passes = !rc && design_passes(study, &p, &s.net);
    if (!rc)
        design_point_free(&s);
    if (!rc && passes) {
        g->overrides.axes = axes;
        g->overrides.n_axes = sweep_point_overrides(axes, &study->sweep, &p);
        rc = check_one(g, e);
        g->overrides.axes = NULL;
        g->overrides.n_axes = 0;
    }
    return pass_over(g, rc, e);
}

static int check_points(struct gate *g, const struct study *study, struct err *e)
{
    int rc = 0;
    if (study->sweep.n_points > MAX_POINTS)
        return err_set(e, ERR_RANGE, "%s: has %lld points, expected at most %d; weft sweep has limits too",
                       g->run->opt.operands[0], (long long)study->sweep.n_points, MAX_POINTS);
    struct work work;
    work_begin(&work, "points", study->sweep.n_points);
    g->sweep = &study->sweep;
    for (int64_t i = 0; i < study->sweep.n_points && !rc; i++) {
        rc = check_point(g, study, i, e);
        work_step(&work, 1);
    }
    work_end(&work);
    g->sweep = NULL;
    g->point = 0;
    return rc;
}

/* All of operand 0. */
static int check_file(struct gate *g, struct err *e)
{
    struct study study;
    bool vary;
    int rc = cmd_points_vary(&vary, g->run, e);
    if (rc || !vary)
        return rc ? rc : check_one(g, e);
    const struct study_ask ask = {
        .kind = &design_kind,
        .from = { .path = g->run->opt.operands[0], .overrides = g->overrides.list, .n = g->overrides.n },
    };
    g->several |= POINTS;
    rc = study_open(&study, &ask, e);
    if (rc)
        return rc;
    output_notes(g->run, &study.notes);
    rc = check_points(g, &study, e);
    study_close(&study);
    return rc;
}

static int write_gate(struct gate *g, struct err *e)
{
    static const unsigned of[] = { FILES, POINTS, POINTS };
    enum { N_PLACES = sizeof of / sizeof *of, N_COLUMNS = sizeof line_columns / sizeof *line_columns };
    struct column columns[N_COLUMNS];
    struct report r = { 0 };
    const struct origin none = { .known = false }, from = g->several ? none : g->from;
    int32_t n = 0;
    for (int32_t i = 0; i < N_COLUMNS; i++)
        if (i >= N_PLACES || (g->several & of[i]))
            columns[n++] = line_columns[i];
    output_begin(&r, g->run, from);
    report_json_flag(&r, "within", !g->over && !g->unknown);
    report_list(&r, "budgets", columns);
    for (int32_t i = 0; i < g->n; i++)
        report_row(&r, &g->lines[i]);
    report_list_end(&r);
    report_line(&r, "%s", text_str(&g->notes.out));
    return output_report(&r, g->run, from, e);
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

/* Each file in turn is operand 0, which what loads and says anything looks at. */
static int check_files(struct gate *g, struct err *e)
{
    struct run *run = g->run;
    const char *first = run->opt.operands[0];
    int rc = 0;
    g->several = run->opt.n_operands > 1 ? FILES : 0;
    for (int32_t i = 0; i < run->opt.n_operands && !rc; i++) {
        run->opt.operands[0] = i ? run->opt.operands[i] : first;
        g->overrides = (struct overrides){ 0 };
        rc = load_overrides(&g->overrides, run, e);
        rc = pass_over(g, rc ? rc : check_file(g, e), e);
        overrides_free(&g->overrides);
    }
    run->opt.operands[0] = first;
    return rc;
}

static int run_check(struct run *run, struct err *e)
{
    struct gate g = { .run = run, .notes = { .format = TABLE_AS_TEXT } };
    int rc = read_end(&g.end, run, e);
    rc = rc ? rc : output_check(run, e);
    rc = rc ? rc : check_files(&g, e);
    if (!rc && g.n)
        rc = write_gate(&g, e);
    if (!rc && (g.over || g.unknown))
        output_outcome(run, EXIT_NO_DESIGN);
    gate_free(&g);
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
    .help = "check designs against their budgets: exit 0 when within, else 4",
    .about =
        "Check each STUDY, all points where it has `vary`, against the limits under its `budget`: NIC\n"
        "bandwidth, number of NICs, cost, power, step time; with `system` power and cost of the whole\n"
        "machine. Bandwidths are those of the network; where one is missing, those that weft alloc finds.\n"
        "Exit code 0 when every budget is kept, 4 when one is not, or cannot be checked; of several\n"
        "designs that of the worst, 3 before 4.\n",
    .scope = SCOPE(1, OPTIONS_MAX_OPERANDS, "STUDY...", &options_check, &options_study, &options_search,
                   &options_format, &options_files),
    .run = run_check,
};
