#include <omp.h>
#include <string.h>

#include "cli/extra.h"
#include "cli/load.h"
#include "cli/place_text.h"
#include "cli/progress.h"
#include "base/sheet.h"

static const struct option place_rows[] = {
    { .name = "list",
      .help = "list the schedulers and the columns of each model",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, list) },
    OPTION_THREADS("runs"),
    EXTRA_OPTION(place, runs, "CSV of all runs, a row for each point, scheduler and seed"),
    EXTRA_OPTION(place, jobs,
                 "CSV of jobs: arrival, start, end, utility; of the first seed of each point, as all below"),
    EXTRA_OPTION(place, places, "CSV of who ran where and when (plot gantt)"),
    EXTRA_OPTION(place, slots, "CSV of the cluster over time"),
    EXTRA_OPTION(place, links, "CSV of the load of every link over time (plot links)"),
};

static const struct option_group place_options = { "Placement", place_rows,
                                                   sizeof place_rows / sizeof *place_rows };

enum { RUNS, JOBS, PLACES, SLOTS, LINKS, N_EXTRAS };

static int write_rows(const struct run *run, const struct table *t, const struct place *p, struct origin from,
                      struct err *e)
{
    struct text out = { 0 };
    if (output_format(run) != TABLE_AS_TEXT)
        return output_table(run, t, from, e);
    int rc = place_text(t, p, &out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* A table that stays empty would look like a run without jobs or links. */
static void warn_empty(struct run *run, const struct place *p, const struct extra *extras)
{
    for (int i = 0; i < N_EXTRAS; i++)
        if (extras[i].path && extras[i].table.n_rows == 0)
            output_warn(run, "--%s: model %s gave no such rows, %s has its head alone", extras[i].name,
                        place_model_words[p->model], extras[i].path);
}

/* A point that could not be run is a row; when none could, the exit code says so. */
static void say_errors(struct run *run, const struct table *t)
{
    int32_t status = table_find(t, "status"), message = table_find(t, "message");
    int64_t n = 0, first = -1;
    bool wrong = false;
    for (int64_t row = 0; row < t->n_rows; row++) {
        const char *word = table_cell(t, row, status)->text;
        if (strcmp(word, "done") == 0)
            continue;
        wrong = wrong || strcmp(word, "error") == 0;
        first = first < 0 ? row : first;
        n++;
    }
    if (n == 0)
        return;
    output_say(run, "%lld of %lld rows are not done; the first: %s", (long long)n, (long long)t->n_rows,
               table_cell(t, first, message)->text);
    if (n == t->n_rows)
        run->exit_code = wrong ? EXIT_INPUT : EXIT_NO_DESIGN;
}

/* The one point of a study that varies nothing: what is wrong with it is wrong with the command. */
static int fail_alone(const struct table *t, struct err *e)
{
    int32_t status = table_find(t, "status"), message = table_find(t, "message");
    const char *word = t->n_rows > 0 ? table_cell(t, 0, status)->text : "done";
    if (strcmp(word, "done") == 0)
        return 0;
    return err_set(e, strcmp(word, "error") == 0 ? ERR_RANGE : ERR_NO_DESIGN, "%s",
                   table_cell(t, 0, message)->text);
}

static int run_all(struct run *run, const struct place *p, const struct load_overrides *o,
                   struct extra *extras, struct err *e)
{
    struct table t = { 0 };
    struct progress progress;
    const struct origin from = { .known = true, .study_hash = p->hash, .seed = p->seed };
    struct table *tables[N_EXTRAS];
    struct text notes = { 0 };
    for (int i = 0; i < N_EXTRAS; i++)
        tables[i] = extra_table(&extras[i]);
    const struct place_options options = {
        .threads = run->opt.threads > 0 ? (int32_t)run->opt.threads : (int32_t)omp_get_num_procs(),
        .details = { tables[JOBS], tables[PLACES], tables[SLOTS], tables[LINKS] },
        .runs = tables[RUNS],
        .notes = &notes,
        .progress = progress_report,
        .context = &progress,
    };
    progress_begin(&progress, run, "runs");
    int rc = place_run(&t, p, run->opt.operands[0], o->list, o->n, &options, e);
    bool ended = progress_end(&progress, run, NULL);
    if (!rc && ended && p->sweep.n_points == 1)
        rc = fail_alone(&t, e);
    if (ended && !rc) {
        output_notes(run, &notes);
        /* Rows first: where they cannot be written nothing is left behind. */
        rc = write_rows(run, &t, p, from, e);
        if (!rc)
            rc = extra_write(run, extras, N_EXTRAS, from, e);
        if (!rc) {
            warn_empty(run, p, extras);
            say_errors(run, &t);
        }
    }
    table_free(&t);
    text_free(&notes);
    return rc;
}

/* What a model knows: its schedulers, and what its columns mean. */
static void list_model(struct text *out, struct sheet *s, enum place_model model)
{
    text_printf(out, "\nmodel %s: ", place_model_words[model]);
    for (int32_t i = 0; i < place_n_schedulers(model); i++)
        text_printf(out, "%s%s", i ? ", " : "", place_scheduler_name(model, i));
    text_puts(out, "\n\n");
    sheet_column(s, "column", "", SHEET_LEFT);
    sheet_column(s, "of", "", SHEET_LEFT);
    sheet_column(s, "meaning", "", SHEET_LEFT);
    for (int m = 0; m < N_PLACE_METRICS; m++)
        if (place_metrics[m].names[model]) {
            sheet_put(s, "%s", place_metrics[m].names[model]);
            sheet_put(s, "%s", place_metrics[m].title);
            sheet_put(s, "%s", place_metrics[m].help);
        }
}

static int list_models(const struct run *run, struct err *e)
{
    struct text out = { 0 };
    int rc = 0;
    text_puts(&out, "Times of model slots are counted in slots. A column NAME_ci is half of the 95 % "
                    "interval of NAME over seeds.\n");
    for (int model = 0; model < N_PLACE_MODELS && !rc; model++) {
        struct sheet s = { 0 };
        list_model(&out, &s, (enum place_model)model);
        rc = sheet_write(&s, &out, e);
        sheet_free(&s);
    }
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

static int run_place(struct run *run, struct err *e)
{
    if (run->opt.list)
        return list_models(run, e);
    if (run->opt.n_operands < 1)
        return err_set(e, ERR_USAGE, "argument is missing, need STUDY");
    struct load_overrides o = { 0 };
    struct place p = { 0 };
    struct extra extras[N_EXTRAS] = { [RUNS] = { .name = "runs", .path = run->opt.place_runs },
                                      [JOBS] = { .name = "jobs", .path = run->opt.place_jobs },
                                      [PLACES] = { .name = "places", .path = run->opt.place_places },
                                      [SLOTS] = { .name = "slots", .path = run->opt.place_slots },
                                      [LINKS] = { .name = "links", .path = run->opt.place_links } };
    int rc = extra_check(run, extras, N_EXTRAS, e);
    if (!rc)
        rc = load_overrides(&o, run, e);
    if (!rc)
        rc = place_read(&p, run->opt.operands[0], o.list, o.n, e);
    if (!rc)
        output_notes(run, &p.notes);
    if (!rc)
        rc = run_all(run, &p, &o, extras, e);
    extra_free(extras, N_EXTRAS);
    place_free(&p);
    load_free(&o);
    return rc;
}

const struct command cmd_place = {
    .group = "A cluster",
    .name = "place",
    .help = "jobs on the servers of a network, under several schedulers",
    .about =
        "Run the jobs of STUDY on its cluster under each of its schedulers, for every combination of the\n"
        "values under `vary` and for each seed, and write one row for each point and scheduler: means over\n"
        "the seeds with half of their 95 % interval. SIGINT stops it after the runs under way (a second one "
        "at once) and writes nothing.\n",
    .scope = SCOPE(0, 1, "STUDY", &place_options, &options_study, &options_format, &options_files),
    .run = run_place,
};
