#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "cli/points.h"
#include "cli/progress.h"
#include "cli/sweep_axes.h"
#include "cli/sweep_text.h"

static const struct option sweep_rows[] = {
    OPTION_THREADS("points"),
    { .name = "dry-run",
      .help = "count the points and list the axes, compute nothing",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, dry_run) },
};

static const struct option_group sweep_options = { "Sweep", sweep_rows,
                                                   sizeof sweep_rows / sizeof *sweep_rows };

static int write_rows(const struct run *run, const struct table *t, const struct sweep *w,
                      const struct load_overrides *o, struct err *e)
{
    struct text out = { 0 };
    if (output_format(run) != TABLE_AS_TEXT)
        return output_table(run, t, points_origin(run, w, o), e);
    int rc = sweep_text(t, w, &out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* How many points ended with each status other than solved, and why the first did. */
static void say_unsolved(struct run *run, const struct table *t)
{
    int32_t status = table_find(t, "status"), message = table_find(t, "message");
    int32_t time = table_find(t, "time_s");
    int64_t n = 0, first = -1;
    bool any_error = false;
    for (int64_t row = 0; row < t->n_rows; row++) {
        const char *word = table_cell(t, row, status)->text;
        /* A stalled one with a time has a split, whose proof fell short. */
        bool stalled = word && strcmp(word, alloc_status_names[ALLOC_STALLED]) == 0;
        if (!word || strcmp(word, alloc_status_names[ALLOC_SOLVED]) == 0 ||
            (stalled && isfinite(table_number(t, row, time))))
            continue;
        first = first < 0 ? row : first;
        any_error = any_error || strcmp(word, "error") == 0;
        n++;
    }
    if (n == 0)
        return;
    const char *why = message >= 0 ? table_cell(t, first, message)->text : NULL;
    output_say(run, "%lld of %lld points are not solved; row %lld: %s%s%s", (long long)n,
               (long long)t->n_rows, (long long)first + 1, table_cell(t, first, status)->text,
               why && *why ? ": " : "", why ? why : "");
    if (n == t->n_rows)
        run->exit_code = any_error ? EXIT_INPUT : EXIT_NO_DESIGN;
}

static int sweep_all(struct run *run, const struct sweep *w, const struct load_overrides *o, struct err *e)
{
    struct table t = { 0 };
    struct progress p;
    int32_t threads = run->opt.threads > 0 ? (int32_t)run->opt.threads : (int32_t)omp_get_num_procs();
    progress_begin(&p, run, "points");
    int rc = sweep_run(&t, w, run->opt.operands[0], o->list, o->n, threads, progress_report, &p, e);
    if (progress_end(&p, run, NULL) && !rc) {
        output_verbose(run, "%lld points in %.3f s on %d threads", (long long)w->n_points,
                       progress_spent_s(&p), (int)threads);
        rc = write_rows(run, &t, w, o, e);
        if (!rc)
            say_unsolved(run, &t);
    }
    table_free(&t);
    return rc;
}

static int run_sweep(struct run *run, struct err *e)
{
    struct load_overrides o;
    struct sweep w = { 0 };
    int rc = output_check(run, NULL, e);
    if (rc)
        return rc;
    rc = load_overrides(&o, run, e);
    if (!rc)
        rc = sweep_read(&w, run->opt.operands[0], o.list, o.n, e);
    if (!rc)
        output_notes(run, &w.notes);
    if (!rc)
        rc = run->opt.dry_run ? sweep_axes_write(run, &w, e) : sweep_all(run, &w, &o, e);
    sweep_free(&w);
    load_free(&o);
    return rc;
}

const struct command cmd_sweep = {
    .group = "Many designs",
    .name = "sweep",
    .help = "split every point of a study, one row each",
    .about = "Choose the bandwidths for every combination of the values under `vary` of STUDY and write one\n"
             "row a point. A point without a design is a row with its status. SIGINT stops the sweep and\n"
             "writes nothing.\n",
    .scope = SCOPE(1, 1, "STUDY", &sweep_options, &options_study, &options_search, &options_format,
                   &options_files),
    .run = run_sweep,
};
