#include <omp.h>
#include <string.h>

#include "cli/extra.h"
#include "cli/gossip_text.h"
#include "cli/load.h"
#include "cli/progress.h"
#include "base/sheet.h"
#include "sim/gossip/gossip.h"

static const struct option gossip_rows[] = {
    { .name = "list",
      .help = "list the methods and the columns",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, list) },
    OPTION_THREADS("runs"),
    EXTRA_OPTION(gossip, runs, "CSV of all runs, a row for each point, method and seed"),
    EXTRA_OPTION(gossip, curves, "CSV of loss, exchanges and traffic over time, of all runs"),
    EXTRA_OPTION(gossip, links, "CSV of what every link carries, of the first seed"),
};

static const struct option_group gossip_options = { "Training", gossip_rows,
                                                    sizeof gossip_rows / sizeof *gossip_rows };

enum { RUNS, CURVES, LINKS, N_EXTRAS };

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

/* Where no row of a study that varies nothing is one of a run, what is wrong is wrong with the command. */
static int fail_alone(const struct table *t, struct err *e)
{
    for (int64_t row = 0; row < t->n_rows; row++)
        if (!has_status(t, row, "error"))
            return 0;
    return t->n_rows ? err_set(e, ERR_RANGE, "%s", message_of(t, 0)) : 0;
}

/* Rows that diverged are an outcome; that no other is left is worth a line. */
static void say_outcome(struct run *run, const struct table *t)
{
    int64_t wrong = 0, diverged = 0, first = -1;
    for (int64_t row = t->n_rows - 1; row >= 0; row--) {
        diverged += has_status(t, row, "diverged");
        if (has_status(t, row, "error")) {
            wrong++;
            first = row;
        }
    }
    if (wrong)
        output_say(run, "%lld of %lld rows are errors; the first: %s", (long long)wrong, (long long)t->n_rows,
                   message_of(t, first));
    if (diverged && wrong + diverged == t->n_rows)
        output_say(run, "all %s%lld rows diverged: a lower learner.rate may help", wrong ? "other " : "",
                   (long long)diverged);
    if (wrong && wrong == t->n_rows)
        run->exit_code = EXIT_INPUT;
}

/* ---- a study ---- */

static int write_rows(const struct run *run, const struct table *t, const struct gossip_study *s,
                      struct origin from, struct err *e)
{
    struct text out = { 0 };
    if (output_format(run) != TABLE_AS_TEXT)
        return output_table(run, t, from, e);
    int rc = gossip_text(t, s, &out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

static int run_all(struct run *run, const struct gossip_study *s, const struct load_overrides *o,
                   struct extra *extras, struct err *e)
{
    struct table t = { 0 };
    struct progress progress;
    struct text notes = { 0 };
    const struct origin from = { .known = true, .study_hash = s->hash, .seed = s->seed };
    const struct gossip_options options = {
        .threads = run->opt.threads > 0 ? (int32_t)run->opt.threads : (int32_t)omp_get_num_procs(),
        .runs = extra_table(&extras[RUNS]),
        .curves = extra_table(&extras[CURVES]),
        .links = extra_table(&extras[LINKS]),
        .notes = &notes,
        .progress = progress_report,
        .context = &progress,
    };
    progress_begin(&progress, run, "runs");
    int rc = gossip_study_run(&t, s, run->opt.operands[0], o->list, o->n, &options, e);
    bool ended = progress_end(&progress, run, NULL);
    if (!rc && ended)
        output_notes(run, &notes);
    if (!rc && ended && s->sweep.n_points == 1)
        rc = fail_alone(&t, e);
    /* Rows first: where they cannot be written nothing is left behind. */
    if (!rc && ended)
        rc = write_rows(run, &t, s, from, e);
    if (!rc && ended)
        rc = extra_write(run, extras, N_EXTRAS, from, e);
    if (!rc && ended)
        say_outcome(run, &t);
    table_free(&t);
    text_free(&notes);
    return rc;
}

/* ---- what there is ---- */

/* The period where a study says none. */
static void put_period(struct sheet *s, int32_t method)
{
    struct gossip_settings x = gossip_settings_default();
    x.method = method;
    if (gossip_method_uses(&x) & USE_GOSSIP_PERIOD)
        sheet_count(s, gossip_method_period(method));
    else
        sheet_put(s, "-");
}

static void put_methods(struct sheet *s)
{
    sheet_column(s, "method", "", SHEET_LEFT);
    sheet_column(s, "period", "", SHEET_POINT);
    sheet_column(s, "exchanges", "", SHEET_LEFT);
    for (int32_t i = 0; i < gossip_n_methods; i++) {
        sheet_put(s, "%s", gossip_method_name(i));
        put_period(s, i);
        sheet_put(s, "%s", gossip_method_help(i));
    }
}

static void put_columns(struct sheet *s, const struct gossip_column *columns)
{
    sheet_column(s, "column", "", SHEET_LEFT);
    sheet_column(s, "meaning", "", SHEET_LEFT);
    for (const struct gossip_column *c = columns; c->name; c++) {
        if (columns == gossip_columns && strcmp(c->name, "diverged_step") == 0) {
            sheet_put(s, "dim1_MB..");
            sheet_put(s, "traffic that crosses each dimension, innermost first");
        }
        sheet_put(s, "%s", c->name);
        sheet_put(s, "%s", c->help);
    }
}

static int list_columns(struct text *out, struct err *e)
{
    static const struct {
        const char *head;
        const struct gossip_column *columns;
    } tables[] = { { "Columns after those of the point:", gossip_columns },
                   { "Of --runs:", gossip_run_columns },
                   { "Of --curves:", gossip_curve_columns },
                   { "Of --links:", gossip_link_columns } };
    int rc = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !rc; i++) {
        struct sheet s = { 0 };
        text_printf(out, "\n%s\n\n", tables[i].head);
        put_columns(&s, tables[i].columns);
        rc = sheet_write(&s, out, e);
        sheet_free(&s);
    }
    return rc;
}

static int list_all(const struct run *run, struct err *e)
{
    struct sheet methods = { 0 };
    struct text out = { 0 };
    put_methods(&methods);
    int rc = sheet_write(&methods, &out, e);
    text_puts(&out, "\nPeriod: steps between exchanges where a study gives none. Settings: weft keys "
                    "\"methods of gossip\".\n");
    if (!rc)
        rc = list_columns(&out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    sheet_free(&methods);
    text_free(&out);
    return rc;
}

static int run_gossip(struct run *run, struct err *e)
{
    if (run->opt.list)
        return list_all(run, e);
    if (run->opt.n_operands < 1)
        return err_set(e, ERR_USAGE, "argument is missing, need STUDY");
    struct load_overrides o = { 0 };
    struct gossip_study s = { 0 };
    struct extra extras[N_EXTRAS] = { [RUNS] = { .name = "runs", .path = run->opt.gossip_runs },
                                      [CURVES] = { .name = "curves", .path = run->opt.gossip_curves },
                                      [LINKS] = { .name = "links", .path = run->opt.gossip_links } };
    int rc = extra_check(run, extras, N_EXTRAS, e);
    if (!rc)
        rc = load_overrides(&o, run, e);
    if (!rc)
        rc = gossip_study_read(&s, run->opt.operands[0], o.list, o.n, e);
    if (!rc)
        rc = run_all(run, &s, &o, extras, e);
    extra_free(extras, N_EXTRAS);
    gossip_study_free(&s);
    load_free(&o);
    return rc;
}

const struct command cmd_gossip = {
    .group = "A cluster",
    .name = "gossip",
    .help = "training with little communication: what it sends, takes and reaches",
    .about =
        "Train the small model of STUDY on simulated workers of a network, by each of its methods (gossip,\n"
        "local SGD, rules that exchange by the change of the model, ..), for every combination of the "
        "values\n"
        "under `vary` and for each seed. The model is really trained; the clock and the network are\n"
        "simulated. One row for each point and method: accuracy, traffic, time, each against the baseline\n"
        "and against the best fixed period of equal accuracy. SIGINT stops it after the runs under way (a\n"
        "second one at once) and writes nothing.\n",
    .scope = SCOPE(0, 1, "STUDY", &gossip_options, &options_set, &options_format, &options_files),
    .run = run_gossip,
};
