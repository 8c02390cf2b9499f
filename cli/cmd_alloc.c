/*
 * weft alloc: the split of one study, or of every point of one that varies. Text and JSON are pages of single
 * designs, solved one after the other in the order of points; CSV is a table like that of weft sweep, made by
 * the same engine, so that its rows are the same bytes. A point that cannot be read is told, and in JSON and
 * CSV has an object or a row of status error; the others are shown all the same. Of the exit codes of all
 * points the gravest is that of the command.
 */
#include <math.h>
#include <string.h>

#include "base/work.h"
#include "cli/alloc_report.h"
#include "cli/points.h"
#include "cli/training.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/search_sim.h"
#include "kinds/design/explore/solve.h"
#include "study/campaign.h"

/* All points of a study; without `vary` the one there is. */
struct alloc_run {
    struct run *run;
    struct overrides overrides;
    struct study study; /* where it has `vary` */
    struct report report;
};

/* What varies, as it is at point @p i. @p at: room for all keys. */
static void find_place(struct alloc_page *page, struct study_override *at, char (*values)[SHOW_VALUE],
                       const struct sweep *w, int64_t i)
{
    page->sweep = w;
    page->at = at;
    for (int32_t k = 0; k < w->n_keys; k++) {
        const char *value = points_value(values[k], w, k, i);
        if (*value) /* a grid need not vary all keys */
            at[page->n_at++] = (struct study_override){ w->keys[k].path, value };
    }
}

/* Pages gather in memory and are written at the end: a file appears whole or not at all. */
static void add_page(struct alloc_run *a, int64_t i, const struct design *d)
{
    const struct design_point *s = d->chosen.point;
    struct study_override at[SWEEP_MAX_KEYS];
    char values[SWEEP_MAX_KEYS][SHOW_VALUE];
    struct alloc_page page = { .study = s, .design = d };
    find_place(&page, at, values, &a->study.sweep, i);
    if (a->report.format == TABLE_AS_TEXT && a->study.sweep.n_keys == 0 && !alloc_has_split(&d->answer))
        return; /* said on standard error, and there is nothing else to read */
    output_begin(&a->report, a->run, output_origin(s));
    alloc_report_page(&a->report, &page);
    report_page_end(&a->report);
}

static int solve_only(struct alloc_run *a, struct err *e)
{
    struct load_design x;
    int rc = load_design(&x, a->run, &a->overrides, LOAD_SOLVED, DESIGN_NEEDS_WORKLOAD, e);
    output_notes(a->run, &x.notes);
    if (!rc)
        add_page(a, 0, &x.design);
    if (!rc && alloc_has_split(&x.design.answer))
        training_say_memory(a->run, x.study);
    load_design_free(&x);
    return rc;
}

/* What is wrong with point @p i, unless it is the machine. */
static int add_error(struct alloc_run *a, int64_t i, struct err *e)
{
    struct study_override at[SWEEP_MAX_KEYS];
    char values[SWEEP_MAX_KEYS][SHOW_VALUE];
    struct alloc_page page = { .reason = e->msg };
    if (err_is_of_machine(e->code))
        return err_wrap(e, "point %lld", (long long)i);
    output_say(a->run, "point %lld: %s", (long long)i, e->msg);
    output_outcome(a->run, EXIT_INPUT);
    if (a->report.format != TABLE_AS_JSON)
        return 0;
    find_place(&page, at, values, &a->study.sweep, i);
    output_begin(&a->report, a->run, (struct origin){ .known = false });
    alloc_report_page(&a->report, &page);
    report_page_end(&a->report);
    return 0;
}

static int solve_point(struct alloc_run *a, int64_t i, struct err *e)
{
    struct design_point s;
    struct design d;
    struct sweep_point p;
    sweep_find_point(&p, &a->study.sweep, i);
    /* A `where` that looks at axes alone is asked before the point is read; one that looks at its network,
     * after. */
    if (!design_passes(&a->study, &p, NULL))
        return 0;
    int rc = design_load(&s, &a->study, &p, 0, e);
    if (rc)
        return add_error(a, i, e);
    if (!design_passes(&a->study, &p, &s.net)) {
        design_point_free(&s);
        return 0;
    }
    rc = design_solve(&d, &s, e);
    if (!rc)
        rc = search_simulate(&d.chosen, e);
    if (!rc) {
        load_say_status(a->run, &d);
        add_page(a, i, &d);
        if (alloc_has_split(&d.answer))
            training_say_memory(a->run, d.chosen.point);
    }
    design_free(&d);
    design_point_free(&s);
    return rc ? add_error(a, i, e) : 0;
}

static int write_designs(struct alloc_run *a, struct err *e)
{
    int rc = 0;
    if (a->study.sweep.n_keys == 0)
        rc = solve_only(a, e);
    int64_t n = a->study.sweep.n_keys > 0 ? a->study.sweep.n_points : 0;
    struct work work;
    work_begin(&work, "points", n);
    for (int64_t i = 0; i < n && !rc; i++) {
        rc = solve_point(a, i, e);
        work_step(&work, 1);
    }
    work_end(&work);
    if (!rc)
        rc = report_end(&a->report, NULL, e);
    return rc || a->report.out.n == 0 ? rc : output_write(a->run, &a->report.out, e);
}

/* What other formats say of each point. A study of one point that is wrong is an error. */
static int judge_rows(struct alloc_run *a, const struct table *t, struct err *e)
{
    int32_t point = table_find(t, "point"), status = table_find(t, "status"),
            message = table_find(t, "message"), fits = table_find(t, "fits");
    for (int64_t i = 0; i < t->n_rows; i++) {
        const char *word = table_text(t, i, status), *why = table_text(t, i, message);
        if (strcmp(word, "error") == 0 && a->study.sweep.n_keys == 0)
            return err_set(e, ERR_RANGE, "%s", why);
        if (strcmp(word, "error") == 0) {
            output_say(a->run, "point %lld: %s", (long long)table_count(t, i, point), why);
            output_outcome(a->run, EXIT_INPUT);
        } else if (strcmp(word, alloc_status_names[ALLOC_SOLVED]) != 0) {
            output_say(a->run, "%s: %s: %s", a->run->opt.operands[0], word, why ? why : "");
            if (strcmp(word, alloc_status_names[ALLOC_UNPROVED]) != 0)
                output_outcome(a->run, strcmp(word, alloc_status_names[ALLOC_STALLED]) == 0 ? EXIT_FAILED
                                                                                            : EXIT_NO_DESIGN);
        } else if (fits >= 0 && table_text(t, i, fits) && strcmp(table_text(t, i, fits), "no") == 0) {
            output_say(a->run, "%s: point %lld: %s does not fit: needs %.4g GB", a->run->opt.operands[0],
                       (long long)table_count(t, i, point), table_text(t, i, table_find(t, "workload")),
                       table_number(t, i, table_find(t, DESIGN_COLUMN_IN(training, memory_GB))));
            output_outcome(a->run, EXIT_NO_DESIGN);
        }
    }
    return 0;
}

static int write_rows(struct alloc_run *a, const struct study_ask *ask, struct err *e)
{
    struct table t = { 0 };
    struct origin from;
    int rc = points_find_origin(&from, a->run, &a->study, &a->overrides, e);
    if (!rc && a->study.sweep.n_keys == 0)
        rc = study_open_point(&a->study, ask, e);
    if (!rc)
        rc = campaign_rows(&t, &a->study, 1, e);
    if (!rc)
        rc = judge_rows(a, &t, e);
    if (!rc)
        rc = output_table(a->run, &t, from, e);
    table_free(&t);
    return rc;
}

static int run_alloc(struct run *run, struct err *e)
{
    struct alloc_run a = { .run = run,
                           .study = { .sweep = { .n_points = 1 } },
                           .report = { .format = output_format(run), .out = { .wide = run->opt.wide } } };
    bool vary = false;
    int rc = output_check(run, e);
    if (!rc)
        rc = overrides_read(&a.overrides, run, e);
    const struct study_ask ask = {
        .kind = &design_kind,
        .from = { .path = run->opt.operands[0], .overrides = a.overrides.list, .n = a.overrides.n },
    };
    if (!rc)
        rc = points_vary(&vary, run, e);
    if (!rc && vary)
        rc = study_open(&a.study, &ask, e);
    if (!rc) {
        output_notes(run, &a.study.notes);
        rc = output_format(run) == TABLE_AS_CSV ? write_rows(&a, &ask, e) : write_designs(&a, e);
    }
    study_close(&a.study);
    overrides_free(&a.overrides);
    report_free(&a.report);
    return rc;
}

const struct command cmd_alloc = {
    .group = "One design",
    .name = "alloc",
    .help = "split bandwidth over the dimensions of a network",
    .about =
        "Find the bandwidth of every dimension that optimises the objective of STUDY under its constraints,\n"
        "and prove it: lower bound, gap, and the shadow price of each constraint. A study with `vary` gives\n"
        "one design per point: in JSON one object per line, in CSV the rows of weft sweep. A point\n"
        "with an error has status error there. Exit code: that of the worst point, 3 before 4 before 1.\n",
    .scope = SCOPE(1, 1, "STUDY", &options_study, &options_search, &options_format, &options_files),
    .run = run_alloc,
};
