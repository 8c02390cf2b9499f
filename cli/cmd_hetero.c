#include <omp.h>
#include <string.h>

#include "cli/extra.h"
#include "cli/hetero_text.h"
#include "cli/load.h"
#include "cli/progress.h"
#include "base/sheet.h"

static const struct option hetero_rows[] = {
    { .name = "list",
      .help = "list the schedulers and the columns",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, list) },
    OPTION_THREADS("runs"),
    { .name = "timing",
      .help = "add how long each scheduler took, which differs from run to run",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, timing) },
    EXTRA_OPTION(hetero, runs, "CSV of all runs, a row for each point, scheduler and seed"),
    EXTRA_OPTION(hetero, plans, "CSV of the plans of the first seed, a row for each layer"),
    EXTRA_OPTION(hetero, stages, "CSV of the same plans, a row for each stage"),
    EXTRA_OPTION(hetero, curves, "CSV of how cost fell with the plans tried, of all seeds"),
};

static const struct option_group hetero_options = { "Layers", hetero_rows,
                                                    sizeof hetero_rows / sizeof *hetero_rows };

enum { RUNS, PLANS, STAGES, CURVES, N_EXTRAS };

/* ---- what to say of rows ---- */

static bool has_status(const struct table *t, int64_t row, const char *status)
{
    return strcmp(table_cell(t, row, table_find(t, "status"))->text, status) == 0;
}

static const char *message_of(const struct table *t, int64_t row)
{
    const char *text = table_cell(t, row, table_find(t, "message"))->text;
    return text ? text : "";
}

/* The one point of a study that varies nothing: what is wrong with it is wrong with the command. */
static int fail_alone(const struct table *t, struct err *e)
{
    bool whole = t->n_rows == 1 && !table_cell(t, 0, table_find(t, "scheduler"))->text;
    if (!whole)
        return 0;
    return err_set(e, has_status(t, 0, "error") ? ERR_RANGE : ERR_NO_DESIGN, "%s", message_of(t, 0));
}

/* The row whose @p column, a throughput, is the largest; -1: none has one. */
static int64_t fastest_row(const struct table *t, const char *column)
{
    int32_t reach = table_find(t, column);
    int64_t best = -1;
    for (int64_t row = 0; row < t->n_rows; row++) {
        double per_s = table_number(t, row, reach);
        if (per_s > 0 && (best < 0 || per_s > table_number(t, best, reach)))
            best = row;
    }
    return best;
}

static void say_infeasible(const struct run *run, const struct table *t)
{
    int64_t best = fastest_row(t, "reach_per_s");
    if (best < 0) {
        best = fastest_row(t, "most_per_s"); /* no scheduler ran: out of reach of all */
        output_say(run, "no plan: %s", message_of(t, best < 0 ? 0 : best));
    } else {
        output_say(run, "no scheduler has a plan; %s comes nearest: %s",
                   table_cell(t, best, table_find(t, "scheduler"))->text, message_of(t, best));
    }
}

/* Schedulers without a plan are an outcome; that none has one is the command's. */
static void say_outcome(struct run *run, const struct table *t)
{
    int64_t wrong = 0, infeasible = 0, first = -1;
    for (int64_t row = 0; row < t->n_rows; row++) {
        wrong += has_status(t, row, "error");
        infeasible += has_status(t, row, "infeasible");
        if (first < 0 && has_status(t, row, "error"))
            first = row;
    }
    if (wrong)
        output_say(run, "%lld of %lld rows are errors; the first: %s", (long long)wrong, (long long)t->n_rows,
                   message_of(t, first));
    if (wrong + infeasible < t->n_rows || t->n_rows == 0)
        return;
    if (infeasible)
        say_infeasible(run, t);
    run->exit_code = infeasible ? EXIT_NO_DESIGN : EXIT_INPUT;
}

/* ---- a study ---- */

static int write_rows(const struct run *run, const struct table *t, const struct table *stages,
                      const struct hetero_study *s, struct origin from, struct err *e)
{
    struct text out = { 0 };
    if (output_format(run) != TABLE_AS_TEXT)
        return output_table(run, t, from, e);
    int rc = hetero_text(t, stages, s, &out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

static int run_all(struct run *run, const struct hetero_study *s, const struct load_overrides *o,
                   struct extra *extras, struct err *e)
{
    struct table t = { 0 };
    struct progress progress;
    struct text notes = { 0 };
    const struct origin from = { .known = true, .study_hash = s->hash, .seed = s->seed };
    /* The text of one point shows its cheapest plan. */
    bool shows_plan = s->sweep.n_points == 1 && output_format(run) == TABLE_AS_TEXT;
    const struct hetero_options options = {
        .threads = run->opt.threads > 0 ? (int32_t)run->opt.threads : (int32_t)omp_get_num_procs(),
        .timing = run->opt.timing,
        .runs = extra_table(&extras[RUNS]),
        .plans = extra_table(&extras[PLANS]),
        .stages = shows_plan ? &extras[STAGES].table : extra_table(&extras[STAGES]),
        .curves = extra_table(&extras[CURVES]),
        .notes = &notes,
        .progress = progress_report,
        .context = &progress,
    };
    progress_begin(&progress, run, "runs");
    int rc = hetero_study_run(&t, s, run->opt.operands[0], o->list, o->n, &options, e);
    bool ended = progress_end(&progress, run, NULL);
    if (!rc && ended)
        output_notes(run, &notes);
    if (!rc && ended && s->sweep.n_points == 1)
        rc = fail_alone(&t, e);
    /* Rows first: where they cannot be written nothing is left behind. */
    if (!rc && ended)
        rc = write_rows(run, &t, options.stages, s, from, e);
    if (!rc && ended)
        rc = extra_write(run, extras, N_EXTRAS, from, e);
    if (!rc && ended)
        say_outcome(run, &t);
    table_free(&t);
    text_free(&notes);
    return rc;
}

/* ---- what there is ---- */

static void put_schedulers(struct sheet *s)
{
    sheet_column(s, "scheduler", "", SHEET_LEFT);
    sheet_column(s, "makes plans by", "", SHEET_LEFT);
    for (int32_t i = 0; i < hetero_study_n_schedulers(); i++) {
        sheet_put(s, "%s", hetero_study_scheduler(i));
        sheet_put(s, "%s", hetero_study_scheduler_help(i));
    }
}

static void put_columns(struct sheet *s)
{
    sheet_column(s, "column", "", SHEET_LEFT);
    sheet_column(s, "meaning", "", SHEET_LEFT);
    for (const struct hetero_column *c = hetero_columns; c->name; c++) {
        sheet_put(s, "%s", c->name);
        sheet_put(s, "%s", c->help);
    }
}

static int list_all(const struct run *run, struct err *e)
{
    struct sheet schedulers = { 0 }, columns = { 0 };
    struct text out = { 0 };
    put_schedulers(&schedulers);
    put_columns(&columns);
    int rc = sheet_write(&schedulers, &out, e);
    text_puts(&out, "\nColumns after those of the point:\n\n");
    if (!rc)
        rc = sheet_write(&columns, &out, e);
    text_puts(&out,
              "\nThe abstract of arXiv 2111.10635 claims, for scheduling by an LSTM, up to 14.5 times the "
              "throughput of\nothers and a cost that is up to 312.3 % smaller. A cost cannot fall by more "
              "than 100 %: it is read here as\n(other - rl)/rl = 3.123, the other costs 4.123 times as much "
              "and rl-lstm saves 75.7 %. These are claims for\nthat paper's models and machines, whose "
              "numbers are not published; nothing here is made to meet them.\n");
    if (!rc)
        rc = output_write(run, &out, e);
    sheet_free(&schedulers);
    sheet_free(&columns);
    text_free(&out);
    return rc;
}

static int run_hetero(struct run *run, struct err *e)
{
    if (run->opt.list)
        return list_all(run, e);
    if (run->opt.n_operands < 1)
        return err_set(e, ERR_USAGE, "argument is missing, need STUDY");
    struct load_overrides o = { 0 };
    struct hetero_study s = { 0 };
    struct extra extras[N_EXTRAS] = { [RUNS] = { .name = "runs", .path = run->opt.hetero_runs },
                                      [PLANS] = { .name = "plans", .path = run->opt.hetero_plans },
                                      [STAGES] = { .name = "stages", .path = run->opt.hetero_stages },
                                      [CURVES] = { .name = "curves", .path = run->opt.hetero_curves } };
    int rc = extra_check(run, extras, N_EXTRAS, e);
    if (!rc)
        rc = load_overrides(&o, run, e);
    if (!rc)
        rc = hetero_study_read(&s, run->opt.operands[0], o.list, o.n, e);
    if (!rc)
        rc = run_all(run, &s, &o, extras, e);
    extra_free(extras, N_EXTRAS);
    hetero_study_free(&s);
    load_free(&o);
    return rc;
}

const struct command cmd_hetero = {
    .group = "A cluster",
    .name = "hetero",
    .help = "layers of a model on types of resources, at least cost for a throughput",
    .about =
        "Give each layer of the model of STUDY a type of resource, CPU cores or one of several GPUs, and "
        "each\n"
        "run of layers of one type its number of units, so that training costs least at the throughput that\n"
        "is asked for: by each of its schedulers, for every combination of the values under `vary`, those\n"
        "that draw for each seed. One row for each point and scheduler: medians over the seeds, and how far\n"
        "from the proved optimum. SIGINT stops it after the runs under way (a second one at once) and "
        "writes\n"
        "nothing.\n",
    .scope = SCOPE(0, 1, "STUDY", &hetero_options, &options_set, &options_format, &options_files),
    .run = run_hetero,
};
