/*
 * weft tornado: each uncertain input at its low and its high, what answers become, and which point is best.
 *
 * One list of columns serves text, JSON and CSV; text has a table for each answer, with inputs that move
 * nothing named below. How long it takes is said before it is done, on standard error.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/points.h"
#include "cli/tables.h"
#include "kinds/design/explore/tornado.h"
#include "plots/scale.h"

/* Said before work that takes longer. */
#define LONG_S 10.0

enum { MAX_NAMED = 3 /* inputs without effect */, MAX_FIXED = 32, LOW = 0, HIGH = 1 };

static const struct option tornado_rows[] = {
    TEXT_OPTION(
        "by", "COLUMNS", front_by,
        "answers: columns of the study's rows, with commas between; max: before those of which more is\n"
        "                       better (default: time_s, cost_usd, usd_per_Mtoken, that of the objective "
        "first)"),
    FLAG_OPTION(
        "all", all,
        "also prices with low and high, the published ranges of system, and the error of the step's time"),
    OPTION_THREADS("designs"),
};

static const struct option_group tornado_options = OPTION_GROUP("Inputs and answers", tornado_rows);

/* ---- one row ---- */

struct tornado_line {
    const char *answer, *unit, *label, *path, *range;
    double at[3];    /* of the input: low, as it is, high */
    double value[3]; /* of the answer there */
    double swing, swing_share;
    int64_t point, best[2];
    double best_value[2];
    char decision[96], source[512];
};

/* Values in the unit of the answer, which use_unit() fills in, are marked by an empty one. */
#define LINE(field, called, kind, ...)   COLUMN_AT(struct tornado_line, field, called, kind, __VA_ARGS__)
#define LINE_IN_UNIT(field, called, ...) LINE(field, called, TABLE_REAL, __VA_ARGS__, .as = "", .digits = 6)
static const struct column tornado_columns[] = {
    LINE(answer, "answer", TABLE_TEXT, NULL, .in = IN_DATA),
    LINE(unit, "unit", TABLE_TEXT, NULL, .in = IN_DATA, .flags = COLUMN_EMPTY),
    LINE(label, "shown", TABLE_TEXT, NULL, .in = IN_TEXT, .title = "input"),
    LINE(path, "input", TABLE_TEXT, NULL, .in = IN_DATA),
    LINE(label, "name", TABLE_TEXT, NULL, .in = IN_DATA),
    LINE(at[0], "low", TABLE_REAL, NULL),
    LINE(at[1], "as_is", TABLE_REAL, NULL, .title = "as it is"),
    LINE(at[2], "high", TABLE_REAL, NULL),
    LINE(range, "range", TABLE_TEXT, NULL),
    LINE_IN_UNIT(value[0], "at_low", NULL),
    LINE_IN_UNIT(value[1], "at_as_is", NULL, .in = IN_DATA),
    LINE_IN_UNIT(value[2], "at_high", NULL),
    LINE(swing, "swing", TABLE_REAL, NULL, .in = IN_DATA),
    LINE(swing_share, "swing_share", TABLE_REAL, NULL, .title = "swing", .times = 100, .as = "%",
         .digits = 3),
    LINE(point, "point", TABLE_COUNT, NULL, .in = IN_DATA),
    LINE(best[LOW], "best_at_low", TABLE_COUNT, NULL, .in = IN_DATA),
    LINE_IN_UNIT(best_value[LOW], "best_low", NULL, .title = "best at low"),
    LINE(best[HIGH], "best_at_high", TABLE_COUNT, NULL, .in = IN_DATA),
    LINE_IN_UNIT(best_value[HIGH], "best_high", NULL, .title = "best at high"),
    LINE(decision, "decision", TABLE_TEXT, NULL, .title = "best point", .flags = COLUMN_CHARS),
    LINE(source, "source", TABLE_TEXT, NULL, .in = IN_DATA, .flags = COLUMN_CHARS),
    COLUMNS_END,
};
enum { N_COLUMNS = sizeof tornado_columns / sizeof *tornado_columns };

/* Text in the unit of an answer; of a study of one point, which has no choice, without the best ones. */
static void use_unit(struct column out[N_COLUMNS], const struct unit *unit, bool many)
{
    memcpy(out, tornado_columns, sizeof tornado_columns);
    for (struct column *c = out; c->name; c++) {
        bool choice = strncmp(c->name, "best_", 5) == 0 || strcmp(c->name, "decision") == 0;
        if (c->as && !*c->as) {
            c->as = unit->name;
            c->times = 1 / unit->scale;
        }
        if (choice && !many)
            c->in = IN_DATA;
    }
}

/* "stays", "point 9 at high", "none at low, point 3 at high". */
static void say_decision(char out[96], const struct tornado *t, int32_t input, int32_t a)
{
    static const char *const at[] = { "low", "high" };
    size_t n = 0;
    snprintf(out, 96, "stays");
    for (int end = LOW; end <= HIGH; end++) {
        int64_t point = tornado_end(t, input, end, a)->best.point;
        char which[32] = "none";
        if (!tornado_moves(t, input, end, a))
            continue;
        if (point >= 0)
            snprintf(which, sizeof which, "point %lld", (long long)point);
        n += (size_t)snprintf(out + n, 96 - n, "%s%s at %s", n ? ", " : "", which, at[end]);
    }
}

/* Of its values, "" for none; @p n: bytes of its name without it. */
static const char *answer_unit(const struct keep_column *answer, size_t *n)
{
    const char *unit = table_unit_of_name(answer->name, n);
    *n = answer->unit ? strlen(answer->name) : *n;
    return answer->unit ? answer->unit : unit;
}

/* A range that no source has is not published. */
static const char *range_word(const struct tornado_input *in)
{
    bool recalled = in->range == TORNADO_PUBLISHED && in->grade == GRADE_RECALLED;
    return recalled ? "recalled" : tornado_range_words[in->range];
}

static void tornado_put_row(struct report *r, const struct tornado *t, int32_t input, int32_t a)
{
    const struct tornado_input *in = &t->inputs[input];
    const double *at = &t->inputs_at[((size_t)a * (size_t)t->n_inputs + (size_t)input) * 3];
    const struct tornado_end *low = tornado_end(t, input, LOW, a), *high = tornado_end(t, input, HIGH, a);
    double swing = tornado_swing(t, input, a), typical = t->typical[a].value;
    size_t n;
    struct tornado_line line = { .answer = t->answers[a].name,
                                 .unit = answer_unit(&t->answers[a], &n),
                                 .label = in->label,
                                 .path = in->path,
                                 .range = range_word(in),
                                 .at = { at[0], at[1], at[2] },
                                 .value = { low->value, typical, high->value },
                                 .swing = swing,
                                 .swing_share = swing / fabs(typical),
                                 .point = t->typical[a].point,
                                 .best = { low->best.point, high->best.point },
                                 .best_value = { low->best.value, high->best.value } };
    say_decision(line.decision, t, input, a);
    if (in->source)
        snprintf(line.source, sizeof line.source, "%s: %s", topo_grade_names[in->grade], in->source);
    report_row(r, &line);
}

/* ---- the report ---- */

static void say_idle(struct report *r, const struct tornado *t, int32_t a)
{
    int32_t n = 0, named = 0;
    for (int32_t i = 0; i < t->n_inputs; i++)
        n += tornado_is_idle(t, i, a);
    if (n)
        report_line(r, "%d %s without effect: ", (int)n, n > 1 ? "inputs" : "input");
    for (int32_t i = 0; i < t->n_inputs && named < MAX_NAMED; i++)
        if (tornado_is_idle(t, i, a))
            report_line(r, "%s%s", named++ ? ", " : "", t->inputs[i].label);
    if (n)
        report_line(r, "%s\n", n > named ? ", .." : "");
}

/* What doubts the table leaves out: prices that no input varies, and the model's own error of the time. */
static int say_fixed(struct report *r, const struct tornado *t, int32_t a, struct err *e)
{
    struct tornado_fixed list[MAX_FIXED];
    int32_t n;
    char share[SHOW];
    int rc = tornado_find_fixed(list, MAX_FIXED, &n, t, a, e);
    for (int32_t i = 0; i < n && !rc; i++)
        report_line(r, "%s%s (%s %%)", i ? ", " : "not varied: ", list[i].what,
                    show_real(share, 100 * list[i].frac, 3));
    if (n)
        report_line(r, "\n");
    return rc;
}

/* A range beside the base says nothing of its other side; each input once, where it is best by the first
 * answer that has it so. */
static int warn_bases(const struct run *run, const struct tornado *t, struct err *e)
{
    char x[SHOW], low[SHOW], high[SHOW], place[400];
    int rc = 0;
    for (int32_t i = 0; i < t->n_inputs && !rc; i++) {
        int32_t a = 0;
        while (a < t->n_answers && !tornado_misses_base(t, i, a))
            a++;
        if (a == t->n_answers || (rc = tornado_base_place(place, sizeof place, t, i, a, e)))
            continue;
        const struct tornado_input *in = &t->inputs[i];
        const double *at = &t->inputs_at[((size_t)a * (size_t)t->n_inputs + (size_t)i) * 3];
        output_say(run, "warning: %s: %s is %s, outside of its %s range, %s to %s", place, in->path,
                   show_real(x, at[1], 6), in->place ? "uncertain" : range_word(in), show_real(low, at[0], 6),
                   show_real(high, at[2], 6));
    }
    return rc;
}

static int report_answer(struct report *r, const struct tornado *t, int32_t a, struct stat_rank *list,
                         struct err *e)
{
    struct column columns[N_COLUMNS];
    char value[SHOW];
    size_t title;
    const struct tornado_best *best = &t->typical[a];
    struct unit unit = unit_for(answer_unit(&t->answers[a], &title), best->value, false);
    if (best->point < 0) {
        report_line(r, "\n%s: no point has it\n", t->answers[a].name);
        return 0;
    }
    use_unit(columns, &unit, t->study->sweep.n_keys > 0);
    report_line(r, "\n%.*s: %s%s%s", (int)title, t->answers[a].name,
                show_real(value, best->value / unit.scale, 6), *unit.name ? " " : "", unit.name);
    if (t->study->sweep.n_keys)
        report_line(r, " at point %lld, the best", (long long)best->point);
    report_line(r, "\n\n");
    tornado_rank(list, t, a);
    int32_t n = 0;
    for (int32_t i = 0; i < t->n_inputs; i++)
        if (!tornado_is_idle(t, (int32_t)list[i].at, a))
            list[n++] = list[i];
    if (n)
        report_list(r, NULL, columns);
    for (int32_t i = 0; i < n; i++)
        tornado_put_row(r, t, (int32_t)list[i].at, a);
    if (n)
        report_list_end(r);
    say_idle(r, t, a);
    return say_fixed(r, t, a, e);
}

static void report_data(struct report *r, const struct tornado *t, struct stat_rank *list)
{
    report_json_count(r, "points", t->study->sweep.n_points);
    report_list(r, "inputs", tornado_columns);
    for (int32_t a = 0; a < t->n_answers; a++) {
        tornado_rank(list, t, a);
        for (int32_t i = 0; i < t->n_inputs && t->typical[a].point >= 0; i++)
            tornado_put_row(r, t, (int32_t)list[i].at, a);
    }
    report_list_end(r);
}

int cmd_tornado_table(struct table *out, const struct tornado *t, struct err *e)
{
    struct report r = { .format = TABLE_AS_CSV };
    struct stat_rank *list = calloc((size_t)t->n_inputs + 1, sizeof *list);
    if (!list)
        return err_nomem(e, "a tornado");
    report_data(&r, t, list);
    *out = r.table;
    r.table = (struct table){ 0 };
    report_free(&r);
    free(list);
    return out->failed ? err_nomem(e, "a tornado") : table_find_numbers(out, e);
}

/* What the points are that the tables name, each once and in their order. */
static void report_points(struct report *r, const struct tornado *t)
{
    char value[SHOW_VALUE];
    int64_t last = -1;
    for (;;) {
        int64_t next = INT64_MAX;
        for (int32_t a = 0; a < t->n_answers; a++) {
            if (t->typical[a].point > last && t->typical[a].point < next)
                next = t->typical[a].point;
            for (int32_t i = 0; i < t->n_inputs; i++)
                for (int end = LOW; end <= HIGH; end++) {
                    int64_t point = tornado_end(t, i, end, a)->best.point;
                    next = point > last && point < next ? point : next;
                }
        }
        if (next == INT64_MAX)
            return;
        report_line(r, "%spoint %lld:", last < 0 ? "\n" : "", (long long)next);
        for (int32_t k = 0; k < t->study->sweep.n_keys; k++) {
            cmd_points_value(value, &t->study->sweep, k, next);
            report_line(r, "%s %s=%.80s", k ? "," : "", t->study->sweep.keys[k].path,
                        cmd_points_value(value, &t->study->sweep, k, next));
        }
        report_line(r, "\n");
        last = next;
    }
}

static int write_tornado(const struct run *run, const struct tornado *t, struct origin from, struct err *e)
{
    struct report r = { 0 };
    struct stat_rank *list = calloc((size_t)t->n_inputs + 1, sizeof *list);
    char n[SHOW];
    if (!list)
        return err_nomem(e, "a tornado");
    output_begin(&r, run, from);
    report_line(&r,
                "%s input%s, one at a time at low and high, all else as it is; splits and searched plans are "
                "found again\n",
                show_count(n, t->n_inputs), t->n_inputs == 1 ? "" : "s");
    if (report_is(&r, IN_DATA))
        report_data(&r, t, list);
    int rc = 0;
    for (int32_t a = 0; a < t->n_answers && report_is(&r, IN_TEXT) && !rc; a++)
        rc = report_answer(&r, t, a, list, e);
    if (t->study->sweep.n_keys && report_is(&r, IN_TEXT))
        report_points(&r, t);
    rc = rc ? rc : output_report(&r, run, from, e);
    rc = rc ? rc : warn_bases(run, t, e);
    report_free(&r);
    free(list);
    return rc;
}

/* ---- the command ---- */

/* What is long is said before it is begun. */
static void say_work(const struct run *run, const struct tornado *t, double typical_s)
{
    char designs[SHOW], points[SHOW], inputs[SHOW], s[SHOW];
    double ends_s = typical_s * 2 * t->n_inputs;
    if (ends_s > LONG_S && !run->opt.quiet)
        output_say(run, "%s designs (%s points, %s inputs at low and high), about %s s",
                   show_real(designs, tornado_designs(t), 9), show_count(points, t->study->sweep.n_points),
                   show_count(inputs, t->n_inputs), show_real(s, ends_s, 2));
}

static int find_tornado(struct run *run, struct tornado *t, bool *found, struct err *e)
{
    int32_t threads = run->opt.threads > 0 ? (int32_t)run->opt.threads : (int32_t)omp_get_num_procs();
    double start_s = clock_now_s();
    char failed[SHOW];
    int rc = tornado_ask(t, run->opt.front_by, e);
    if (!rc)
        rc = tornado_run_typical(t, threads, e);
    *found = false;
    for (int32_t a = 0; a < t->n_answers; a++)
        *found = *found || t->typical[a].point >= 0;
    if (rc)
        return rc;
    if (t->n_failed)
        output_say(run,
                   "%s of %lld points are not chosen: they have no design, or are beyond a limit of keep%s%s",
                   show_count(failed, t->n_failed), (long long)t->study->sweep.n_points,
                   t->why.code ? "; " : "", t->why.code ? t->why.msg : "");
    if (!*found) {
        output_say(run, "%s: no point has what --by asks for", run->opt.operands[0]);
        run->exit_code = EXIT_NO_DESIGN;
        return 0;
    }
    say_work(run, t, clock_now_s() - start_s);
    return tornado_run_ends(t, threads, e);
}

static int run_study(struct run *run, const struct overrides *o, struct err *e)
{
    struct study study;
    struct tornado t = { 0 };
    struct origin from;
    bool found = false, vary = false;
    const struct study_ask ask = {
        .kind = &design_kind,
        .from = { .path = run->opt.operands[0], .overrides = o->list, .n = o->n },
    };
    int rc = cmd_points_vary(&vary, run, e);
    if (!rc)
        rc = vary ? study_open(&study, &ask, e) : study_open_point(&study, &ask, e);
    if (rc)
        return rc;
    if (vary)
        output_notes(run, &study.notes);
    if (vary)
        load_say_study_ages(run, &study);
    rc = cmd_points_find_origin(&from, run, &study, o, e);
    if (!rc)
        rc = tornado_build(&t, &study, run->opt.all, e);
    if (!rc)
        rc = find_tornado(run, &t, &found, e);
    if (!rc && found)
        rc = write_tornado(run, &t, from, e);
    tornado_free(&t);
    study_close(&study);
    return rc;
}

static int run_tornado(struct run *run, struct err *e)
{
    struct overrides o;
    int rc = output_check(run, e);
    if (rc)
        return rc;
    rc = overrides_read(&o, run, e);
    if (!rc)
        rc = run_study(run, &o, e);
    overrides_free(&o);
    return rc;
}

const struct command cmd_tornado = {
    .group = "Many designs",
    .name = "tornado",
    .help = "uncertain inputs one at a time: what moves the answer, and the choice",
    .about =
        "Solve STUDY, all points where it has `vary`, with each uncertain input at its low and at its high,\n"
        "all others as they are, and list what each answer becomes, by swing, and which point is best then.\n"
        "Inputs are the keys of `uncertain` (uniform and triangular: their ends; normal and lognormal: "
        "their\n"
        "10th and 90th percentile), else prices with low and high; --all takes all of these, the published\n"
        "ranges of `system`, and what measured steps leave open of the time of a model's step. Splits and\n"
        "searched plans are found again at each end, whereas percentiles of weft sweep keep them. Points\n"
        "beyond a limit of keep.where are not chosen.\n",
    .scope = SCOPE(1, 1, "STUDY", &tornado_options, &options_study, &options_search, &options_format,
                   &options_files),
    .run = run_tornado,
};
