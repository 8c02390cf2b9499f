/*
 * weft tornado: each uncertain input at its low and its high, what answers become, and which point is best.
 *
 * One list of columns serves text, JSON and CSV; text has a table for each answer, with inputs that move
 * nothing named below. How long it takes is said before it is done, on standard error.
 */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/points.h"
#include "kinds/design/explore/tornado.h"
#include "plots/scale.h"

/* Said before work that takes longer. */
#define LONG_S 10.0

enum { MAX_NAMED = 3 /* inputs without effect */, LOW = 0, HIGH = 1 };

static const struct option tornado_rows[] = {
    { .name = "by",
      .value = "COLUMNS",
      .help =
          "answers: columns of the study's rows, with commas between; max: before those of which more is\n"
          "                       better (default: time_s, cost_usd, usd_per_Mtoken, that of the objective "
          "first)",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_by) },
    { .name = "all",
      .help = "also prices with low and high, and the published ranges of system",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, all) },
    OPTION_THREADS("designs"),
};

static const struct option_group tornado_options = { "Inputs and answers", tornado_rows,
                                                     sizeof tornado_rows / sizeof *tornado_rows };

/* ---- one row ---- */

static bool changes(const struct tornado *t, int32_t input, int32_t a, int end)
{
    return tornado_end(t, input, end, a)->best.point != t->typical[a].point;
}

/* "stays", "point 9 at high", "none at low, point 3 at high". */
static void put_decision(struct report *r, const struct tornado *t, int32_t input, int32_t a)
{
    static const char *const at[] = { "low", "high" };
    struct text out = { 0 };
    for (int end = LOW; end <= HIGH; end++) {
        int64_t point = tornado_end(t, input, end, a)->best.point;
        if (!changes(t, input, a, end))
            continue;
        text_puts(&out, out.n ? ", " : "");
        if (point < 0)
            text_printf(&out, "none at %s", at[end]);
        else
            text_printf(&out, "point %lld at %s", (long long)point, at[end]);
    }
    report_put_word(r, out.n ? text_str(&out) : "stays");
    r->failed = r->failed || out.failed;
    text_free(&out);
}

static void tornado_put_row(struct report *r, const struct tornado *t, int32_t input, int32_t a)
{
    const struct tornado_input *in = &t->inputs[input];
    const double *at = &t->inputs_at[((size_t)a * (size_t)t->n_inputs + (size_t)input) * 3];
    const struct tornado_end *low = tornado_end(t, input, LOW, a), *high = tornado_end(t, input, HIGH, a);
    double swing = tornado_swing(t, input, a);
    report_put_word(r, t->answers[a].name);
    report_put_word(r, in->label);
    report_put_word(r, in->path);
    report_put_word(r, in->label);
    for (int k = 0; k < 3; k++)
        report_put_real(r, at[k]);
    report_put_word(r, tornado_range_words[in->range]);
    report_put_real(r, low->value);
    report_put_real(r, t->typical[a].value);
    report_put_real(r, high->value);
    report_put_real(r, swing);
    report_put_real(r, swing / fabs(t->typical[a].value));
    report_put_count(r, t->typical[a].point);
    report_put_count(r, low->best.point);
    report_put_real(r, low->best.value);
    report_put_count(r, high->best.point);
    report_put_real(r, high->best.value);
    put_decision(r, t, input, a);
    if (in->published)
        report_put_text(r, "%s: %s", topo_grade_names[in->published->grade], in->published->source);
    else
        report_put_none(r);
}

enum { N_COLUMNS = 20 };

/* @p unit of the answer, in text; @p many: the study has points to choose from. */
static void make_columns(struct report_column out[N_COLUMNS], const struct unit *unit, bool many)
{
    const unsigned all = IN_TEXT | IN_DATA, choice = many ? all : IN_DATA;
    const char *name = *unit->name ? unit->name : NULL;
    const struct report_column columns[N_COLUMNS] = {
        { IN_DATA, .key = "answer" },
        { IN_TEXT, .title = "input" },
        { IN_DATA, .key = "input" },
        { IN_DATA, .key = "name" },
        { all, .key = "low", .title = "low", .show = 5, .kind = TABLE_REAL },
        { all, .key = "as_is", .title = "as it is", .show = 5, .kind = TABLE_REAL },
        { all, .key = "high", .title = "high", .show = 5, .kind = TABLE_REAL },
        { all, .key = "range", .title = "range" },
        { all, .key = "at_low", .title = "at low", .unit = name, .per = unit->scale, .show = 6,
          .kind = TABLE_REAL },
        { IN_DATA, .key = "at_as_is", .kind = TABLE_REAL },
        { all, .key = "at_high", .title = "at high", .unit = name, .per = unit->scale, .show = 6,
          .kind = TABLE_REAL },
        { IN_DATA, .key = "swing", .kind = TABLE_REAL },
        { all, .key = "swing_share", .title = "swing", .unit = "%", .show = 3, .times = 100,
          .kind = TABLE_REAL },
        { IN_DATA, .key = "point", .kind = TABLE_COUNT },
        { IN_DATA, .key = "best_at_low", .kind = TABLE_COUNT },
        { choice, .key = "best_low", .title = "best at low", .unit = name, .per = unit->scale, .show = 6,
          .kind = TABLE_REAL },
        { IN_DATA, .key = "best_at_high", .kind = TABLE_COUNT },
        { choice, .key = "best_high", .title = "best at high", .unit = name, .per = unit->scale, .show = 6,
          .kind = TABLE_REAL },
        { choice, .key = "decision", .title = "best point" },
        { IN_DATA, .key = "source" },
    };
    memcpy(out, columns, sizeof columns);
}

/* ---- order ---- */

struct ranked {
    int32_t input;
    double swing;
};

static int by_swing(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->swing != y->swing)
        return x->swing < y->swing ? 1 : -1;
    return (x->input > y->input) - (x->input < y->input);
}

static void rank(struct ranked *list, const struct tornado *t, int32_t a)
{
    for (int32_t i = 0; i < t->n_inputs; i++)
        list[i] = (struct ranked){ i, tornado_swing(t, i, a) };
    qsort(list, (size_t)t->n_inputs, sizeof *list, by_swing);
}

/* Does an input move neither the answer nor, of several points, the best one? */
static bool is_idle(const struct tornado *t, int32_t input, int32_t a)
{
    return tornado_swing(t, input, a) == 0 && !changes(t, input, a, LOW) && !changes(t, input, a, HIGH);
}

/* ---- the report ---- */

static void say_idle(struct report *r, const struct tornado *t, int32_t a)
{
    int32_t n = 0, named = 0;
    for (int32_t i = 0; i < t->n_inputs; i++)
        n += is_idle(t, i, a);
    if (n)
        report_line(r, "%d %s without effect: ", (int)n, n > 1 ? "inputs" : "input");
    for (int32_t i = 0; i < t->n_inputs && named < MAX_NAMED; i++)
        if (is_idle(t, i, a))
            report_line(r, "%s%s", named++ ? ", " : "", t->inputs[i].label);
    if (n)
        report_line(r, "%s\n", n > named ? ", .." : "");
}

static void report_answer(struct report *r, const struct tornado *t, int32_t a, struct ranked *list)
{
    struct report_column columns[N_COLUMNS];
    char value[SHOW];
    size_t title;
    const struct tornado_best *best = &t->typical[a];
    struct unit unit = unit_of_column(&title, t->answers[a].name, best->value, false);
    if (best->point < 0) {
        report_line(r, "\n%s: no point has it\n", t->answers[a].name);
        return;
    }
    make_columns(columns, &unit, t->study->sweep.n_keys > 0);
    report_line(r, "\n%.*s: %s%s%s", (int)title, t->answers[a].name,
                show_real(value, best->value / unit.scale, 6), *unit.name ? " " : "", unit.name);
    if (t->study->sweep.n_keys)
        report_line(r, " at point %lld, the best", (long long)best->point);
    report_line(r, "\n\n");
    rank(list, t, a);
    int32_t n = 0;
    for (int32_t i = 0; i < t->n_inputs; i++)
        if (!is_idle(t, list[i].input, a))
            list[n++] = list[i];
    if (n)
        report_table(r, NULL, columns, N_COLUMNS);
    for (int32_t i = 0; i < n; i++)
        tornado_put_row(r, t, list[i].input, a);
    if (n)
        report_table_end(r);
    say_idle(r, t, a);
}

static void report_data(struct report *r, const struct tornado *t, struct ranked *list)
{
    struct report_column columns[N_COLUMNS];
    const struct unit none = { 1, "" };
    make_columns(columns, &none, true);
    report_json_count(r, "points", t->study->sweep.n_points);
    report_table(r, "inputs", columns, N_COLUMNS);
    for (int32_t a = 0; a < t->n_answers; a++) {
        rank(list, t, a);
        for (int32_t i = 0; i < t->n_inputs && t->typical[a].point >= 0; i++)
            tornado_put_row(r, t, list[i].input, a);
    }
    report_table_end(r);
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
            points_value(value, &t->study->sweep, k, next);
            report_line(r, "%s %s=%.80s", k ? "," : "", t->study->sweep.keys[k].path,
                        points_value(value, &t->study->sweep, k, next));
        }
        report_line(r, "\n");
        last = next;
    }
}

static int write_tornado(const struct run *run, const struct tornado *t, struct origin from, struct err *e)
{
    struct report r = { 0 };
    struct ranked *list = calloc((size_t)t->n_inputs + 1, sizeof *list);
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
    for (int32_t a = 0; a < t->n_answers && report_is(&r, IN_TEXT); a++)
        report_answer(&r, t, a, list);
    if (t->study->sweep.n_keys && report_is(&r, IN_TEXT))
        report_points(&r, t);
    int rc = output_report(&r, run, from, e);
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

/* A study of one point has the head that weft alloc gives it. */
static int tornado_origin(struct origin *from, struct run *run, struct study *study,
                          const struct overrides *o, struct err *e)
{
    struct design_point s;
    int rc;
    if (study->sweep.n_keys) {
        output_notes(run, &study->notes);
        rc = study_find_hash(study, e);
        *from = points_origin(study);
        return rc;
    }
    rc = load_study(&s, run, o, STUDY_NEEDS_WORKLOAD | STUDY_FOR_SPLIT, e);
    if (rc)
        return rc;
    *from = output_origin(&s);
    study_free(&s);
    return 0;
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
    int rc = points_vary(&vary, run, e);
    if (!rc)
        rc = vary ? study_open(&study, &ask, e) : study_open_point(&study, &ask, e);
    if (rc)
        return rc;
    rc = tornado_origin(&from, run, &study, o, e);
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
        "10th and 90th percentile), else prices with low and high; --all takes all of these and the\n"
        "published ranges of `system`. Splits and searched plans are found again at each end, whereas\n"
        "percentiles of weft sweep keep them. Points beyond a limit of keep.where are not chosen.\n",
    .scope = SCOPE(1, 1, "STUDY", &tornado_options, &options_study, &options_search, &options_format,
                   &options_files),
    .run = run_tornado,
};
