/*
 * The commands that run studies of many points, and those that read their stores: sweep, place, hetero,
 * gossip, export, merge. One path for all kinds: a study is opened, its units are run by the threads of all
 * ranks, rows go to a store (of the user's, or one without a name), and from there to where they are asked
 * for, piece by piece: rows and extra tables may be larger than memory. So a sweep and an export of its store
 * write the same bytes. What a kind says of its rows, and of those that are no results, is in its hooks
 * (study/kind.h).
 *
 * SIGINT and SIGTERM end a study within about a second: with a store the same command goes on from there. The
 * handler sets a flag (work_stop()): whatever is solved or simulated looks at it and gives up, the writer's
 * progress does too, and no other unit is handed out. A second signal ends the process as if there were no
 * handler, which is safe too: what was committed is whole.
 *
 * With several ranks each of them reads the study and runs this code; the first alone opens the store, writes
 * and speaks. Where one may fail and others not, fleet_agree() makes the outcome common before any goes on,
 * or they would wait for each other for ever.
 */
#include <assert.h>
#include <math.h>
#include <ctype.h>
#include <omp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "base/outfile.h"
#include "base/sheet.h"
#include "base/work.h"
#include "cli/command.h"
#include "cli/filters.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/points.h"
#include "cli/progress.h"
#include "kinds/design/answer/columns.h"
#include "kinds/gossip/gossip.h"
#include "kinds/hetero/hetero.h"
#include "kinds/place/place.h"
#include "study/campaign.h"
#include "study/runs.h"
#include "study/store.h"
#include "study/say.h"
#include "study/study.h"
#include "weft.h"

/* ---- rows of a store: written as they are read, and what is to be said of them ---- */

/**
 * Rows that have no design: how many, and the first of them. What it says is that of the first of them: one
 * reason is enough to go on with.
 */
struct export_tally {
    int64_t n_rows, unsolved;
    int64_t first;   /**< its point; where `unsolved` is not 0 */
    struct text why; /**< its status, and the message where there is one */
    bool any_error;  /**< one of them could not be read or run */
};

/* ---- kinds with runs: many rows a point, extra tables ---- */

/** All that a store has of such a study, read back. Zero-initialise; release with export_tables_free(). */
struct export_tables {
    const struct study_kind *kind;
    struct table rows, said;               /**< said: with hidden columns */
    struct table extras[STUDY_MAX_TABLES]; /**< those that are always recorded; others without columns */
    struct text notes;
    const char *axes[SWEEP_MAX_KEYS]; /**< borrowed from the store */
    struct study_report report;       /**< of the above, for the kind's hooks */
};

enum { AT_A_TIME = 1024 };

/* ---- what has no design ---- */

static void note_row(struct export_tally *tally, const struct table *rows, int64_t row, const char *status)
{
    int32_t message = table_find(rows, "message");
    const char *why = message >= 0 ? table_text(rows, row, message) : NULL;
    tally->first = table_point(rows, row);
    text_printf(&tally->why, "%s%s%s", status, why && *why ? ": " : "", why ? why : "");
}

static void tally_rows(struct export_tally *tally, const struct table *rows)
{
    int32_t status = table_find(rows, "status"), time = table_find(rows, DESIGN_COLUMN(time_s));
    for (int64_t row = 0; row < rows->n_rows && status >= 0; row++) {
        const char *word = table_text(rows, row, status);
        /* A stalled one with a time has a split, whose proof fell short; an unproved one always has. */
        bool stalled = word && strcmp(word, alloc_status_names[ALLOC_STALLED]) == 0;
        if (!word || strcmp(word, alloc_status_names[ALLOC_SOLVED]) == 0 ||
            strcmp(word, alloc_status_names[ALLOC_UNPROVED]) == 0 ||
            (stalled && isfinite(table_number(rows, row, time))))
            continue;
        if (!tally->unsolved)
            note_row(tally, rows, row, word);
        tally->any_error = tally->any_error || strcmp(word, "error") == 0;
        tally->unsolved++;
    }
    tally->n_rows += rows->n_rows;
}

/* "3 of 12 points are not solved; row 4: infeasible: ..." on standard error; where none is solved, the exit
 * code of the run says so. */
static void export_say(struct run *run, const struct export_tally *tally)
{
    if (!tally->unsolved)
        return;
    output_say(run, "%lld of %lld points are not solved; point %lld: %s", (long long)tally->unsolved,
               (long long)tally->n_rows, (long long)tally->first, text_str(&tally->why));
    if (tally->unsolved == tally->n_rows)
        run->exit_code = tally->any_error ? EXIT_INPUT : EXIT_NO_DESIGN;
}

static void export_tally_free(struct export_tally *tally)
{
    text_free(&tally->why);
}

/* ---- rows, a thousand at a time ---- */

/* Where rows come from, and how far they are read. Rows of a store or of one of its extra tables, through one
 * call. */
struct source {
    struct store *store;
    const struct study_kind *kind;  /* of the store */
    struct study_table_walk *table; /* NULL: the results */
    const struct filters *where;    /* NULL: all */
    struct store_walk walk;         /* of the results */
    struct export_tally *tally;     /* NULL: nobody asks */
    bool typed;                     /* the head says what columns hold */
    bool begun, any;                /* any: the last call gave rows, even if none of them passes */
    int64_t n_rows;                 /* so far */
};

static int read_piece(struct source *s, struct table *rows, struct err *e)
{
    if (s->table)
        return study_table_next(s->table, AT_A_TIME, rows, e);
    /* Which columns are shown is settled before the first row. */
    int rc = s->begun ? 0 : study_trim_store(s->store, s->kind, false, e);
    return rc ? rc : store_next(s->store, &s->walk, AT_A_TIME, rows, e);
}

/* The next rows, in place of those that `rows` has. */
static int next_rows(struct source *s, struct table *rows, struct err *e)
{
    int rc = read_piece(s, rows, e);
    if (!rc && !s->begun && s->where)
        rc = filters_check(s->where, rows, e);
    s->begun = true;
    s->any = !rc && rows->n_rows > 0;
    if (!s->any)
        return rc;
    /* After the check of columns; a piece of which no row passes is not the end. */
    if (s->where)
        filters_keep(s->where, rows);
    if (s->tally)
        tally_rows(s->tally, rows);
    s->n_rows += rows->n_rows;
    return 0;
}

/* Read all rows for the tally alone. */
static int export_count(struct store *s, const struct study_kind *kind, struct export_tally *tally,
                        struct err *e)
{
    struct source from = {
        .store = s, .kind = kind, .walk = store_walk_all(STORE_RESULTS, false), .tally = tally
    };
    struct table rows = { 0 };
    int rc;
    do
        rc = next_rows(&from, &rows, e);
    while (!rc && from.any);
    table_free(&rows);
    return rc;
}

/* The piece is emptied: no more than one is ever in memory. */
static int export_put(struct outfile *f, struct text *piece, struct err *e)
{
    int rc = text_check(piece, e);
    if (!rc)
        rc = outfile_put(f, text_str(piece), piece->n, e);
    text_clear(piece);
    return rc;
}

/* "types=point:count,network:text,..": what another program would have to guess. */
static void put_types(struct text *head, const struct table *rows)
{
    static const char *const words[] = {
        [TABLE_TEXT] = "text", [TABLE_REAL] = "real", [TABLE_COUNT] = "count"
    };
    for (int32_t i = 0; i < rows->n_cols; i++)
        text_printf(head, "%s%s:%s", i ? "," : "types=", rows->names[i], words[rows->kinds[i]]);
    text_puts(head, "\n");
}

/* CSV and JSON. The first piece is read before anything is written, as it brings the columns. */
static int stream(struct outfile *f, struct table_writer *w, struct source *s, struct text *head,
                  struct err *e)
{
    struct table rows = { 0 };
    struct text piece = { 0 };
    int rc = next_rows(s, &rows, e);
    if (!rc && s->typed)
        put_types(head, &rows);
    if (!rc)
        rc = table_write_begin(w, &rows, text_str(head), &piece, e);
    while (!rc && s->any) {
        rc = table_write_rows(w, &rows, &piece, e);
        if (!rc)
            rc = export_put(f, &piece, e);
        if (!rc)
            rc = next_rows(s, &rows, e);
    }
    if (!rc)
        rc = table_write_end(w, &piece, e);
    if (!rc)
        rc = export_put(f, &piece, e);
    table_free(&rows);
    text_free(&piece);
    return rc;
}

/* Beside its name until it is whole, as all files (base/outfile.h): a full disk leaves the old one. */
static int write_stream(const struct run *run, struct source *s, const char *path, enum table_format format,
                        struct origin from, struct err *e)
{
    struct text head = { 0 };
    struct outfile f = { 0 };
    struct table_writer w = { .format = format };
    output_head(&head, run, from);
    int rc = text_any_cut() ? err_nomem(e, "text") : 0;
    if (!rc)
        rc = outfile_begin(&f, path, run->opt.force, e);
    if (!rc)
        rc = stream(&f, &w, s, &head, e);
    if (!rc && text_any_cut())
        rc = err_nomem(e, "text");
    if (!rc)
        rc = output_hold(run, &f, e);
    outfile_drop(&f);
    text_free(&head);
    return rc;
}

/* For people: columns are as wide as the widest value, so all rows have to be there. */
static int export_read_all(struct table *all, struct source *s, struct err *e)
{
    struct table rows = { 0 };
    int rc = next_rows(s, all, e);
    while (!rc && s->any) {
        rc = next_rows(s, &rows, e);
        if (!rc)
            table_take_rows(all, &rows);
    }
    table_free(&rows);
    return rc || !all->failed ? rc : err_nomem(e, "rows of a store");
}

/* In the kind's own words. */
static int write_said(const struct run *run, const struct study_report *said, struct err *e)
{
    struct text out = { .wide = run->opt.wide };
    int rc = said->kind->say(&out, said, e);
    if (!rc)
        rc = output_text(run, &out, e);
    text_free(&out);
    return rc;
}

static int write_sheet(const struct run *run, struct source *s, struct err *e)
{
    struct table all = { 0 };
    int rc = export_read_all(&all, s, e);
    if (!rc)
        rc = write_said(run, &(struct study_report){ .kind = s->kind, .rows = &all }, e);
    table_free(&all);
    return rc;
}

/* Every column. */
static int write_wide(const struct run *run, struct source *s, struct origin from, struct err *e)
{
    struct table all = { 0 };
    int rc = export_read_all(&all, s, e);
    if (!rc)
        rc = output_table(run, &all, from, e);
    table_free(&all);
    return rc;
}

/* Write an extra table that was recorded, piece by piece: it may be larger than memory. ERR_IO, ERR_USAGE.
 */
static int export_extra(int64_t *n_rows, const struct run *run, struct store *s,
                        const struct study_kind *kind, const struct extra *x, struct origin from,
                        struct err *e)
{
    struct source source = { .store = s };
    int rc = study_table_open(&source.table, s, kind, x->name, e);
    if (!rc)
        rc = write_stream(run, &source, x->path, TABLE_AS_CSV, from, e);
    study_table_close(source.table);
    *n_rows = source.n_rows;
    return rc;
}

/* Write the rows that pass @p where (NULL: all) in the format of the run, head included; piece by piece but
 * for TABLE_AS_TEXT. The tally is of those written. ERR_IO, ERR_USAGE, ERR_NOMEM. */
static int export_rows(const struct run *run, struct store *s, const struct study_kind *kind,
                       const struct filters *where, struct origin from, struct export_tally *tally,
                       struct err *e)
{
    struct source source = { .store = s,
                             .kind = kind,
                             .where = where,
                             .walk = store_walk_all(STORE_RESULTS, false),
                             .tally = tally,
                             .typed = run->opt.typed };
    if (output_format(run) == TABLE_AS_TEXT)
        return write_sheet(run, &source, e);
    return write_stream(run, &source, run->opt.out, output_format(run), from, e);
}

/* ---- kinds with runs ---- */

/* Rows of points are few beside their runs: they fit in memory, extra tables need not. */
static int export_read_rows(struct table *out, struct store *store, const struct study_kind *kind,
                            bool hidden, const struct filters *where, struct err *e)
{
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    int rc = study_trim_store(store, kind, hidden, e);
    if (!rc)
        rc = store_next(store, &walk, INT64_MAX, out, e);
    if (!rc && where)
        rc = filters_check(where, out, e);
    if (!rc && where)
        filters_keep(where, out);
    return rc;
}

/* Axes are named by the table of points. */
static void make_report(struct export_tables *t, const struct store *store)
{
    const struct table *points = store_columns(store, STORE_POINTS);
    const struct store_head *head = store_head_of(store);
    t->report = (struct study_report){ .kind = t->kind,
                                       .rows = &t->said,
                                       .axes = t->axes,
                                       .n_points = head->n_points,
                                       .seed = head->seed,
                                       .seeds = head->seeds,
                                       .name = head->name ? head->name : "" };
    for (; t->report.n_axes < head->n_axes; t->report.n_axes++)
        t->axes[t->report.n_axes] = points->names[1 + t->report.n_axes];
    for (int32_t i = TABLE_RUNS; i < t->kind->n_tables; i++)
        t->report.tables[i] = t->extras[i].n_cols ? &t->extras[i] : NULL;
}

/* @p where (NULL: all) chooses rows. @p kind is that of the store. ERR_USAGE: a column that is not there;
 * ERR_NOMEM, ERR_PARSE. Rows twice: as they are written, and with columns that the kind's own words need. */
static int export_read(struct export_tables *t, struct store *s, const struct study_kind *kind,
                       const struct filters *where, struct err *e)
{
    t->kind = kind;
    int rc = export_read_rows(&t->rows, s, kind, false, where, e);
    if (!rc)
        rc = export_read_rows(&t->said, s, kind, true, where, e);
    for (int32_t i = TABLE_RUNS; i < kind->n_tables && !rc; i++)
        if (kind->tables[i].always)
            rc = study_read_table(&t->extras[i], s, kind, kind->tables[i].word, e);
    if (!rc)
        rc = study_read_notes(&t->notes, s, kind, e);
    make_report(t, s);
    return rc;
}

static void export_tables_free(struct export_tables *t)
{
    table_free(&t->rows);
    table_free(&t->said);
    for (int i = 0; i < STUDY_MAX_TABLES; i++)
        table_free(&t->extras[i]);
    text_free(&t->notes);
}

/* The rows in the format of the run: the kind's own text, else the table. */
static int export_write(const struct run *run, const struct export_tables *t, struct origin from,
                        struct err *e)
{
    return output_format(run) != TABLE_AS_TEXT ? output_table(run, &t->rows, from, e)
                                               : write_said(run, &t->report, e);
}

/* What the kind says of rows that are no results, on standard error; the exit code of the run says it too.
 */
static int export_conclude(struct run *run, const struct export_tables *t, struct err *e)
{
    static const int codes[] = { [VERDICT_INPUT] = EXIT_INPUT, [VERDICT_NO_DESIGN] = EXIT_NO_DESIGN };
    struct text lines = { 0 };
    enum study_verdict verdict = VERDICT_FINE;
    int rc = t->kind->conclude(&lines, &verdict, &t->report, e);
    if (!rc)
        rc = text_check(&lines, e);
    if (!rc)
        output_say_lines(run, &lines);
    if (verdict != VERDICT_FINE)
        run->exit_code = codes[verdict];
    text_free(&lines);
    return rc;
}

/* Which of the kind's tables is called so; -1: none. */
static int32_t export_find_table(const struct study_kind *kind, const char *word)
{
    for (int32_t i = TABLE_RUNS; i < kind->n_tables; i++)
        if (strcmp(kind->tables[i].word, word) == 0)
            return i;
    return -1;
}

static const struct option export_rows_of[] = {
    OPTION_WHERE,
    TEXT_OPTION("table", "TABLE", table,
                "an extra table in place of the rows, such as runs, if the study was run with it"),
    OPTION_PARTIAL,
    FLAG_OPTION("typed", typed, "a line \"types=\" in the head, with text, real or count of each column"),
};
static const struct option_group export_options = OPTION_GROUP("Rows", export_rows_of);

/* An extra table, by its word. */
static int export_table(struct run *run, struct store *s, const struct study_kind *kind,
                        const struct filters *where, struct origin from, struct err *e)
{
    struct source source = { .store = s, .where = where };
    const char *word = run->opt.table;
    int32_t i = export_find_table(kind, word);
    if (i < 0 || store_find_table(s, word) < 0)
        return err_set(e, ERR_USAGE, "option --table is \"%.40s\", which %s does not have%s", word,
                       run->opt.operands[0], i < 0 ? "" : ": run the study with that table to a store");
    int rc = study_table_open(&source.table, s, kind, word, e);
    if (!rc && output_format(run) == TABLE_AS_TEXT)
        rc = write_wide(run, &source, from, e);
    else if (!rc)
        rc = write_stream(run, &source, run->opt.out, output_format(run), from, e);
    study_table_close(source.table);
    return rc;
}

/* Of a kind with runs. */
static int export_runs(struct run *run, struct store *s, const struct study_kind *kind,
                       const struct filters *where, struct origin from, struct err *e)
{
    struct export_tables t = { 0 };
    int rc = export_read(&t, s, kind, where, e);
    if (!rc)
        rc = export_write(run, &t, from, e);
    if (!rc)
        rc = export_conclude(run, &t, e);
    export_tables_free(&t);
    return rc;
}

static int export_store(struct run *run, struct store *s, const struct filters *where, struct err *e)
{
    const struct store_head *head = store_head_of(s);
    const struct study_kind *kind;
    struct export_tally tally = { 0 };
    int rc = study_kind_of_store(&kind, s, e);
    if (rc)
        return rc;
    const struct origin from = { .known = true,
                                 .study_hash = head->study_hash,
                                 .seed = head->seed,
                                 .version = head->version,
                                 .command = head->command };
    /* The head names the version and command that made the rows, not this one. */
    rc = run->opt.table ? export_table(run, s, kind, where, from, e)
         : kind->blocks ? export_rows(run, s, kind, where, from, &tally, e)
                        : export_runs(run, s, kind, where, from, e);
    if (!rc)
        output_warn_incomplete(run, s, 0);
    if (!rc && kind->blocks && !run->opt.table)
        /* Rows that `keep` dropped, or `where` left out, make the difference. */
        output_verbose(run, "%lld rows, of %lld points", (long long)tally.n_rows,
                       (long long)store_counts_of(s).seen);
    export_tally_free(&tally);
    return rc;
}

static int run_export(struct run *run, struct err *e)
{
    struct filters where;
    struct store *s = NULL;
    struct table columns = { 0 };
    const struct study_kind *kind;
    int rc = output_check(run, e);
    if (rc)
        return rc;
    rc = filters_read(&where, &run->opt.where, e);
    if (!rc && where.n && !run->opt.table && cmd_points_peek(&columns, &kind, run->opt.operands[0]))
        rc = filters_check(&where, &columns, e);
    table_free(&columns);
    if (!rc)
        rc = output_read_stores(&s, run, 0, e);
    if (!rc)
        rc = export_store(run, s, where.n ? &where : NULL, e);
    store_close(s);
    filters_free(&where);
    return rc;
}

const struct command cmd_export = {
    .group = "Many designs",
    .name = "export",
    .help = "the rows of a store as CSV, JSON or text",
    .about =
        "Write the rows of STORE, which weft sweep --store made, in order of points and with the head "
        "of the\n"
        "sweep: the same bytes that the sweep writes. A sweep may be running meanwhile; what it has "
        "committed\n"
        "is written, with a warning that says how much that is. Of several stores, or a folder of them, the\n"
        "rows of all shards are written as if they were merged.\n",
    .scope = SCOPE(1, OPTIONS_MAX_OPERANDS, "STORE...", &export_options, &options_format, &options_files),
    .run = run_export,
};

/* Adds the shards that are given. A store that was merged before has no number: then nothing is known. */
static int mark_shards(struct spans *given, int32_t *n_shards, const struct run *run, struct err *e)
{
    *n_shards = 0;
    for (int32_t i = 1; i < run->opt.n_operands && *n_shards >= 0; i++) {
        struct store *s;
        int rc = store_peek(&s, run->opt.operands[i], e);
        if (rc)
            return rc;
        const struct store_head *head = store_head_of(s);
        bool same = *n_shards == 0 || *n_shards == head->n_shards;
        *n_shards = same && head->n_shards > 1 ? head->n_shards : -1;
        rc = spans_add(given, head->shard, 1, e);
        store_close(s);
        if (rc)
            return rc;
    }
    return 0;
}

/* "; missing of its shards: 2, 4-6 (of 8)" */
static void put_missing(struct text *out, const struct spans *given, int32_t n_shards)
{
    int64_t end = (int64_t)n_shards + 1;
    bool any = false;
    for (struct span gap = spans_gap(given, 1, end, end); gap.n > 0;
         gap = spans_gap(given, gap.first + gap.n, end, end)) {
        text_printf(out, "%s%lld", any ? ", " : "; missing of its shards: ", (long long)gap.first);
        if (gap.n > 1)
            text_printf(out, "-%lld", (long long)(gap.first + gap.n - 1));
        any = true;
    }
    if (any)
        text_printf(out, " (of %d)", (int)n_shards);
}

static int say_merged(struct run *run, const struct spans *given, int32_t n_shards, struct err *e)
{
    const char *path = run->opt.operands[0];
    struct store *s;
    struct text missing = { 0 };
    char seen[SHOW], all[SHOW];
    int rc = store_peek(&s, path, e);
    if (rc)
        return rc;
    put_missing(&missing, given, n_shards);
    show_count(seen, store_counts_of(s).seen);
    show_count(all, store_head_of(s)->n_points);
    if (store_is_complete(s))
        output_verbose(run, "%s: has all %s points", path, all);
    else
        output_warn(run, "%s: has %s of %s points%s; weft sweep --store %s goes on with it", path, seen, all,
                    text_str(&missing), path);
    text_free(&missing);
    store_close(s);
    return 0;
}

/* store_merge() reads all before it replaces the file: OUT.db may be one of the stores. */
static int run_merge(struct run *run, struct err *e)
{
    const struct options *opt = &run->opt;
    struct spans given = { 0 };
    int32_t n_shards;
    int rc = 0;
    if (!opt->force && access(opt->operands[0], F_OK) == 0)
        rc = err_set(e, ERR_USAGE, "%s: exists; use -f to overwrite it", opt->operands[0]);
    if (!rc)
        rc = output_check_store(opt->operands[0], e);
    if (!rc)
        rc = mark_shards(&given, &n_shards, run, e);
    if (!rc)
        rc = store_merge(opt->operands[0], opt->operands + 1, opt->n_operands - 1, study_reduce_store, NULL,
                         e);
    if (!rc)
        rc = say_merged(run, &given, n_shards, e);
    spans_free(&given);
    return rc;
}

const struct command cmd_merge = {
    .group = "Many designs",
    .name = "merge",
    .help = "the stores of a sweep's shards as one",
    .about = "Put the rows of stores that weft sweep --shard made into OUT.db: those of an undivided run. A "
             "shard that\n"
             "is missing or not done is no error: weft sweep --store OUT.db does what is left, or OUT.db and "
             "the rest\n"
             "are merged later.\n",
    .scope = SCOPE(2, OPTIONS_MAX_OPERANDS, "OUT.db STORE...", &options_alone),
    .run = run_merge,
};

/* ---- options ---- */

#define DRY_RUN                                                                                              \
    FLAG_OPTION("dry-run", dry_run,                                                                          \
                "count the points, list the axes and estimate the time, but solve nothing")
#define SAY_COLUMNS                                                                                          \
    FLAG_OPTION("columns", say_columns, "list the columns: unit, what is better, meaning; no STUDY is read")
#define STORE                                                                                                \
    TEXT_OPTION("store", "FILE.db", store,                                                                   \
                "save rows in this SQLite file as they come; if it exists, resume", .outside = true)
#define RESUME FLAG_OPTION("resume", resume, "resume --store FILE.db, which must exist", .outside = true)
#define SHARD                                                                                                \
    TEXT_OPTION("shard", "I/N", shard,                                                                       \
                "only the I-th of N parts, 1 <= I <= N, for job arrays; join them with weft merge",          \
                .outside = true)

/* The file of an extra table of the kind, by its number. */
#define TABLE_OPTION(table, called, says) TEXT_OPTION(called, "FILE", tables[table], says, .outside = true)

static const struct option sweep_rows[] = {
    OPTION_THREADS("points"),
    SAY_COLUMNS,
    DRY_RUN,
    STORE,
    RESUME,
    SHARD,
    FLAG_OPTION("slurm", slurm,
                "with --jobs N: print the script of a job array that runs the study in N shards",
                .outside = true),
    COUNT_OPTION("jobs", "N", jobs, 1, 1000000, "shards of the array that --slurm prints", .outside = true),
};
static const struct option_group sweep_options = OPTION_GROUP("Sweep", sweep_rows);

static const struct option store_rows[] = { DRY_RUN, STORE, RESUME, SHARD };
static const struct option_group options_store = OPTION_GROUP("Store", store_rows);

/* ---- what is asked ---- */

static int read_shard(struct campaign_ask *ask, const char *text, struct err *e)
{
    char first[16];
    int64_t i, n;
    const char *slash = text ? strchr(text, '/') : NULL;
    ask->shard = ask->n_shards = 1;
    if (!text)
        return 0;
    if (!slash || slash - text >= (ptrdiff_t)sizeof first)
        return err_set(e, ERR_RANGE, "--shard is \"%.40s\", expected I/N, such as 1/4", text);
    snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    if (!num_parse_count(first, &i) || !num_parse_count(slash + 1, &n) || n < 1 || n > INT32_MAX)
        return err_set(e, ERR_RANGE, "--shard is \"%.40s\", expected I/N, such as 1/4", text);
    if (i < 1 || i > n)
        return err_set(e, ERR_RANGE, "--shard is \"%.40s\", expected I/N with I from 1 to %lld", text,
                       (long long)n);
    ask->shard = (int32_t)i;
    ask->n_shards = (int32_t)n;
    return 0;
}

static int check_resume(const struct run *run, struct err *e)
{
    if (!run->opt.resume)
        return 0;
    if (!run->opt.store)
        return err_set(e, ERR_USAGE, "--resume needs --store FILE.db");
    if (access(run->opt.store, F_OK) != 0)
        return err_set(e, ERR_PARSE, "%s: no such store to resume", run->opt.store);
    return 0;
}

/* Rows written over the store would be the end of it, -f or not. */
static int check_out(const struct run *run, const struct extra *extras, int n, struct err *e)
{
    const char *store = run->opt.store;
    if (store && run->opt.out && output_is_of_store(run->opt.out, store))
        return err_set(e, ERR_USAGE, "-o is %s, which is the store; choose another file", run->opt.out);
    for (int i = 0; i < n && store; i++)
        if (extras[i].path && output_is_of_store(extras[i].path, store))
            return err_set(e, ERR_USAGE, "--%s is %s, which is the store; choose another file",
                           extras[i].name, extras[i].path);
    return store ? output_check_store(store, e) : 0;
}

/* Of each rank: a node with several ranks says -j. */
static int32_t threads_of(const struct run *run)
{
    return run->opt.threads > 0 ? (int32_t)run->opt.threads : (int32_t)omp_get_num_procs();
}

/* ---- progress ---- */

/* For the time of one campaign; its first member goes to progress_report(). */
struct watch {
    struct progress progress;
    const struct run *run;
    bool units;       /* of kinds with runs a unit, a point with a seed, is what ends */
    bool has_ranks;   /* others than this one */
    double stopped_s; /* when it was first seen that an end was asked for; 0: not yet */
};

/*
 * A rank that was killed never ends, and mpirun, which asks the others to, kills them 1 s later: whoever
 * started them is to read a line before.
 */
static void say_waiting(struct watch *w)
{
    const char *store = w->run->opt.store;
    double now = clock_now_s();
    if (!w->has_ranks || isinf(w->stopped_s))
        return;
    if (w->stopped_s == 0)
        w->stopped_s = now;
    if (now - w->stopped_s < 0.2)
        return;
    w->stopped_s = INFINITY; /* once */
    output_say(w->run, "stopping, but a rank has not ended: it was killed, or its unit takes long; %s%s%s",
               store ? "what is done is in " : "nothing is written", store ? store : "",
               store ? ", resume with the same command" : "");
}

/* A campaign_progress. */
static bool watch_report(void *context, const struct campaign_state *s)
{
    struct watch *w = context;
    struct progress *p = &w->progress;
    char best[SHOW], kept[SHOW];
    /* Of kinds with blocks the estimate goes by points, as blocks differ in size. */
    p->before = w->units ? p->before : s->before;
    p->note[0] = '\0';
    if (!w->units && s->best_s > 0)
        snprintf(p->note, sizeof p->note, "best %s s, %s rows", show_real(best, s->best_s, 4),
                 show_count(kept, s->kept));
    bool goes_on =
        progress_report(p, w->units ? s->n_done : s->done.seen, w->units ? s->n_units : s->n_points);
    if (!goes_on)
        say_waiting(w);
    return goes_on;
}

/* Where an interrupted study stands, and how to go on. */
static const char *what_is_kept(const struct run *run, const struct campaign *c, char *buf, size_t size)
{
    char seen[SHOW], all[SHOW];
    if (!run->opt.store)
        return NULL;
    bool units = c->runs != NULL;
    snprintf(buf, size, "%s of %s %s are in %s; resume with the same command",
             show_count(seen, units ? c->state.n_done : c->state.done.seen),
             show_count(all, units ? c->state.n_units : c->state.n_points), units ? "runs" : "points",
             run->opt.store);
    return buf;
}

/* ---- what came out of kinds with blocks ---- */

/* Where survivors alone are kept no row tells. */
static void say_failed(struct run *run, const struct campaign *c)
{
    const struct campaign_state *state = &c->state;
    char failed[SHOW], solved[SHOW];
    if (!c->keep || !state->done.failed)
        return;
    struct text line = { 0 };
    text_printf(&line, "%s of %s points tried have no design", show_count(failed, state->done.failed),
                show_count(solved, state->done.solved));
    if (state->failed_point >= 0)
        text_printf(&line, "; point %lld: %s", (long long)state->failed_point, text_str(&state->why));
    output_say(run, "%s", text_str(&line));
    text_free(&line);
    /* As where every row says so. */
    if (state->done.failed == state->done.solved)
        run->exit_code = strncmp(text_str(&state->why), "error", 5) == 0 ? EXIT_INPUT : EXIT_NO_DESIGN;
}

/* Designs that no rule can hold against others: a price where there are no parts. */
static void say_blank(struct run *run, const struct campaign *c)
{
    char blank[SHOW];
    int64_t n = c->keep ? keep_counts_of(c->keep).blank : 0;
    if (n)
        output_say(run, "%s designs were not kept: no value in a column of keep.front or keep.top",
                   show_count(blank, n));
}

/* Where nothing is kept: which limit leaves out how many, and by how little. Else a limit that leaves out
 * nothing, where every row was looked at. */
static void say_beyond(struct run *run, const struct campaign *c)
{
    char n[SHOW], least[SHOW];
    struct keep_counts counts = { 0 };
    if (c->keep)
        counts = keep_counts_of(c->keep);
    bool all = counts.seen > 0 && counts.seen == c->state.done.seen - c->state.done.filtered;
    for (int32_t i = 0; i < c->plan.rule.n_where; i++) {
        const struct keep_missed *m = &counts.missed[i];
        const char *limit = c->plan.rule.where[i];
        if (c->state.kept && all && !m->n)
            output_warn(run, "keep.where: \"%s\" leaves out no further design", limit);
        if (c->state.kept || !m->n)
            continue;
        if (isfinite(m->least))
            output_say(run, "%s beyond %s, by %s or more", show_count(n, m->n), limit,
                       show_real(least, m->least, 4));
        else
            output_say(run, "%s have no value for %s", show_count(n, m->n), limit);
    }
}

static void say_nothing_left(struct run *run, const struct sweep_counts *n)
{
    if (n->seen && n->filtered == n->seen)
        output_warn(run, "where leaves out every point of the study");
}

/* With a store, rows are written where a form or a file is asked for; else it says where they are. */
static bool is_stored(const struct run *run)
{
    return run->opt.store && !run->opt.out && run->opt.format < 0;
}

#define READ_IT "(read it with weft export, front or plot)"

/* "148,797 of 2,850,000 points tried, 1,203 left out, 2,700,000 bounded away, 41 kept, stored in s.db (..)"
 */
static void say_counts(const struct run *run, const struct campaign *c)
{
    const struct sweep_counts *n = &c->state.done;
    char seen[SHOW], out[SHOW], bounded[SHOW], solved[SHOW], kept[SHOW];
    struct text line = { 0 };
    text_printf(&line, "%s of %s points tried", show_count(solved, n->solved), show_count(seen, n->seen));
    if (n->filtered)
        text_printf(&line, ", %s left out", show_count(out, n->filtered));
    if (n->bounded || c->plan.rule.prune)
        text_printf(&line, ", %s bounded away", show_count(bounded, n->bounded));
    if (c->keep)
        text_printf(&line, ", %s kept", show_count(kept, c->state.kept));
    if (is_stored(run))
        text_printf(&line, ", stored in %s ", run->opt.store);
    if (is_stored(run) && store_head_of(c->store)->n_files > 1)
        text_printf(&line, "and %d files beside it ", (int)store_head_of(c->store)->n_files - 1);
    if (is_stored(run))
        text_puts(&line, READ_IT);
    if (c->keep || n->filtered || run->opt.store)
        output_say(run, "%s", text_str(&line));
    else
        output_verbose(run, "%s", text_str(&line));
    text_free(&line);
}

static void say_stored(const struct run *run)
{
    output_say(run, "stored in %s " READ_IT, run->opt.store);
}

/* Counts first: they hold even where the rows cannot be written. */
static int finish_blocks(struct run *run, struct campaign *c, struct origin from, struct err *e)
{
    const struct study_kind *kind = c->ask->study->kind;
    struct export_tally tally = { 0 };
    /* All rows are read again only where some have no design: a rule keeps none of those. */
    bool all_designs = c->keep || !c->state.done.failed;
    int rc = 0;
    say_counts(run, c);
    say_nothing_left(run, &c->state.done);
    say_failed(run, c);
    say_blank(run, c);
    say_beyond(run, c);
    if (!is_stored(run) || !all_designs)
        rc = campaign_gather(c, e);
    if (rc)
        return rc;
    if (!is_stored(run))
        rc = export_rows(run, c->store, kind, NULL, from, &tally, e);
    else if (!all_designs)
        rc = export_count(c->store, kind, &tally, e);
    if (!rc)
        export_say(run, &tally);
    export_tally_free(&tally);
    return rc;
}

/* ---- what came out of kinds with runs ---- */

/* A table that stays empty would look like a run without jobs or links. */
static void warn_empty(struct run *run, const struct export_tables *t, const struct extra *x)
{
    const char *column = t->kind->empty_of;
    int32_t col = column ? table_find(&t->said, column) : -1;
    if (col >= 0)
        output_warn(run, "--%s: %s %s gave no such rows, %s has its head alone", x->name, column,
                    t->said.n_rows ? table_text(&t->said, 0, col) : "", x->path);
}

/* Rows first: where they cannot be written nothing is left behind. @p n_rows of each extra table. */
static int write_tables(int64_t n_rows[STUDY_MAX_TABLES], const struct run *run,
                        const struct export_tables *t, struct store *store, const struct extra *extras, int n,
                        struct origin from, struct err *e)
{
    assert(n <= STUDY_MAX_TABLES);
    int rc = is_stored(run) ? 0 : export_write(run, t, from, e);
    for (int i = 0; i < n && !rc; i++)
        if (extras[i].path)
            rc = export_extra(&n_rows[i], run, store, t->kind, &extras[i], from, e);
    return rc;
}

static int finish_runs(struct run *run, const struct campaign *c, const struct extra *extras, int n,
                       struct origin from, struct err *e)
{
    const struct study *s = c->ask->study;
    struct export_tables t = { 0 };
    int64_t n_rows[STUDY_MAX_TABLES];
    /* A study of one point that fails is an error of the command, not a row that tells of one. */
    bool alone = s->sweep.n_points == 1 && c->complete && s->kind->fail_alone;
    int rc = export_read(&t, c->store, s->kind, NULL, e);
    if (!rc)
        say_nothing_left(run, &c->state.done);
    if (!rc && s->kind->notes_first)
        output_notes(run, &t.notes);
    if (!rc && alone)
        rc = s->kind->fail_alone(&t.report, e);
    if (!rc && !s->kind->notes_first)
        output_notes(run, &t.notes);
    if (!rc)
        rc = write_tables(n_rows, run, &t, c->store, extras, n, from, e);
    for (int i = 0; i < n && !rc; i++)
        if (extras[i].path && n_rows[i] == 0)
            warn_empty(run, &t, &extras[i]);
    if (!rc && is_stored(run))
        say_stored(run);
    if (!rc)
        rc = export_conclude(run, &t, e);
    export_tables_free(&t);
    return rc;
}

/* ---- a study ---- */

/* What is to be run, and what becomes of it. */
struct study_job {
    const struct study_kind *kind;         /* NULL: told by keys */
    struct extra extras[STUDY_MAX_TABLES]; /* those of the kind from TABLE_RUNS on */
    int n_extras;
    struct watch watch;
    struct campaign_ask ask;
};

/* Rows of the points that are done, in all files that were asked for. */
static int write_done(struct run *run, const struct campaign *c, const struct study_job *job,
                      struct origin from, struct err *e)
{
    const struct study_kind *kind = c->ask->study->kind;
    struct export_tally tally = { 0 };
    struct export_tables t = { 0 };
    int64_t n_rows[STUDY_MAX_TABLES];
    int rc;
    if (c->runs) {
        rc = export_read(&t, c->store, kind, NULL, e);
        if (!rc)
            rc = write_tables(n_rows, run, &t, c->store, job->extras, job->n_extras, from, e);
    } else {
        rc = export_rows(run, c->store, kind, NULL, from, &tally, e);
    }
    /* Now, since what is said next is that they are there. */
    if (!rc)
        rc = output_end(run, e);
    export_tally_free(&tally);
    export_tables_free(&t);
    return rc;
}

/* Without a store hours of work must not go with the failure @p rc of one point: memory, a disk or a library.
 * Returns 0 where rows were written, which is said together with the failure. */
static int keep_done(struct run *run, const struct campaign *c, const struct study_job *job,
                     struct origin from, int rc, const struct err *e)
{
    struct err second;
    char seen[SHOW], all[SHOW];
    int64_t n = store_counts_of(c->store).seen;
    if (run->opt.store || n == 0 || write_done(run, c, job, from, &second))
        return rc;
    output_say(run, "%s; rows of %s of %s points are written", e->msg, show_count(seen, n),
               show_count(all, c->state.n_points));
    run->exit_code = output_exit_code(rc);
    return 0;
}

/* A row takes some 250 bytes of a store: asking for all of a large grid is seldom meant. */
static void warn_size(struct run *run, const struct campaign *c)
{
    enum { MANY = 20000000, ROW_BYTES = 250 };
    char n[SHOW], size[SHOW];
    if (c->keep || c->state.n_points < MANY)
        return;
    output_warn(run, "%s rows take some %s GB; keep in the study says which of them are wanted",
                show_count(n, c->state.n_points),
                show_real(size, (double)c->state.n_points * ROW_BYTES / 1e9, 2));
}

static void say_resumed(const struct run *run, const struct campaign *c)
{
    char before[SHOW];
    if (c->resumed && c->runs)
        output_say(run, "%s: resuming after %s runs", run->opt.store, show_count(before, c->state.n_done));
    else if (c->resumed)
        output_say(run, "%s: resuming after %s points", run->opt.store, show_count(before, c->state.before));
}

static int run_campaign(struct run *run, struct campaign *c, struct study_job *job, struct err *e)
{
    struct progress *p = &job->watch.progress;
    const struct origin from = cmd_points_origin(job->ask.study);
    char kept[256];
    job->watch = (struct watch){ .run = run, .units = c->runs != NULL, .has_ranks = fleet_ranks() > 1 };
    progress_begin(p, run, c->runs ? "runs" : "points");
    if (fleet_rank() == 0)
        say_resumed(run, c);
    p->before = c->runs ? c->state.n_done : 0;
    int rc = campaign_run(c, e);
    /* The others have handed over their rows: what follows is said and written once. */
    if (fleet_rank() != 0)
        return rc;
    p->complete = c->complete;
    bool ended = progress_end(p, run, what_is_kept(run, c, kept, sizeof kept));
    if (c->apart)
        output_warn(run,
                    "%s: somebody reads it, so that some of its rows stay in %s-wal until they end; copy "
                    "both, or neither",
                    run->opt.store, run->opt.store);
    /* What was done is in the store, if there is one; who interrupts a study without one wants no rows. */
    if (rc && ended)
        return keep_done(run, c, job, from, rc, e);
    if (!ended)
        return rc;
    if (!c->runs)
        output_verbose(run, "%.3f s on %d ranks of %d threads", progress_spent_s(p), (int)fleet_ranks(),
                       (int)job->ask.threads);
    return c->runs ? finish_runs(run, c, job->extras, job->n_extras, from, e)
                   : finish_blocks(run, c, from, e);
}

static int run_all(struct run *run, struct study *s, struct study_job *job, struct err *e)
{
    struct campaign c = { .ask = NULL };
    for (int i = 0; i < job->n_extras; i++)
        if (job->extras[i].path)
            s->wanted |= UINT32_C(1) << (TABLE_RUNS + i);
    int rc = study_find_hash(s, e);
    /* The first rank alone opens the store here. */
    rc = fleet_agree(rc ? rc : campaign_open(&c, &job->ask, e), e);
    if (!rc && fleet_rank() == 0) {
        output_notes(run, &c.plan.rule.notes);
        warn_size(run, &c);
    }
    if (!rc)
        rc = run_campaign(run, &c, job, e);
    campaign_close(&c);
    return rc;
}

/* ---- before it runs ---- */

/* On standard error: how long it takes is no part of what a study says, and differs from run to run. */
static int say_duration(const struct run *run, const struct campaign_ask *ask, struct err *e)
{
    /* All ranks would share the points. */
    int32_t threads = ask->threads * fleet_ranks();
    struct campaign_pace pace;
    char each[SHOW], all[SHOW], tried[SHOW];
    int rc = campaign_measure(&pace, ask->study, 1, e);
    if (rc || !pace.n)
        return rc;
    double all_s = pace.point_s * (double)ask->study->sweep.n_points / ask->n_shards / threads;
    output_say(run, "estimate%s: %s%s on %d threads (%s us per point, from a sample of %s)",
               ask->n_shards > 1 ? " of a shard" : "", pace.at_most && all_s >= 1 ? "at most " : "",
               all_s < 1 ? "less than 1 s" : progress_show_s(all, all_s), (int)threads,
               show_real(each, pace.point_s * 1e6, 2), show_count(tried, pace.n));
    if (pace.n_failed)
        output_say(run, "%s of the sample have no design: %s", show_count(tried, pace.n_failed), pace.why);
    return 0;
}

/* Runs take from milliseconds to hours: none is tried. */
static void say_runs(const struct run *run, const struct study *s)
{
    char points[SHOW], seeds[SHOW];
    output_say(run, "%s point%s, %s seed%s of each", show_count(points, s->sweep.n_points),
               s->sweep.n_points == 1 ? "" : "s", show_count(seeds, s->seeds), s->seeds == 1 ? "" : "s");
}

static int dry_run(const struct run *run, const struct campaign_ask *ask, struct err *e)
{
    if (fleet_rank() > 0)
        return 0;
    int rc = cmd_write_axes(run, &ask->study->sweep, e);
    if (!rc && !ask->study->kind->blocks)
        say_runs(run, ask->study);
    else if (!rc)
        rc = say_duration(run, ask, e);
    return rc;
}

/* Is a script asked for? */
static int check_script(const struct run *run, struct err *e)
{
    const struct options *opt = &run->opt;
    if (opt->slurm != (opt->jobs > 0))
        return err_set(e, ERR_USAGE, "option --%s needs --%s", opt->slurm ? "slurm" : "jobs N",
                       opt->slurm ? "jobs N, the number of shards" : "slurm");
    if (opt->slurm && (opt->shard || opt->store))
        return err_set(e, ERR_USAGE, "option --%s is each job's own in a job array; leave it out",
                       opt->shard ? "shard" : "store");
    return 0;
}

/* "rails" of "studies/rails.yaml". */
static void put_base(struct text *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    for (size_t i = 0, n = dot ? (size_t)(dot - name) : strlen(name); i < n; i++)
        text_printf(out, "%c", isalnum((unsigned char)name[i]) ? name[i] : '-');
}

/* A job array of Slurm: a shard each, whose stores lie in a folder that export, front and plot read as one.
 * Its time and partition are the cluster's to say. */
static int write_script(const struct run *run, struct err *e)
{
    struct text out = { .wide = true }, base = { 0 };
    put_base(&base, run->opt.operands[0]);
    const char *name = text_str(&base);
    long long n = (long long)run->opt.jobs;
    text_printf(
        &out,
        "#!/bin/sh\n#SBATCH --job-name=%s --array=1-%lld --cpus-per-task=1 --time=24:00:00\n"
        "#SBATCH --output=%s-shards/%%a.log\n"
        "# mkdir -p %s-shards before sbatch; --time and --cpus-per-task are to be chosen. A job that ended "
        "early goes on\n# where it was when it is submitted again. When all have ended:\n"
        "#     weft export %s-shards -o %s.csv; weft front %s-shards\nset -eu\n",
        name, n, name, name, name, name, name);
    text_printf(
        &out,
        "exec %s --store %s-shards/\"$SLURM_ARRAY_TASK_ID\".db --shard \"$SLURM_ARRAY_TASK_ID\"/%lld -j "
        "\"${SLURM_CPUS_PER_TASK:-1}\" -q\n",
        run->recorded, name, n);
    int rc = text_check(&base, e);
    rc = rc ? rc : output_text(run, &out, e);
    text_free(&base);
    text_free(&out);
    return rc;
}

/* Before the study is read: by every rank alike, from the same words. */
static int check_options(struct study_job *job, const struct run *run, struct err *e)
{
    int rc = check_out(run, job->extras, job->n_extras, e);
    if (!rc)
        rc = job->kind ? extra_check(run, job->extras, job->n_extras, e) : output_check(run, e);
    if (!rc)
        rc = check_script(run, e);
    if (!rc)
        rc = read_shard(&job->ask, run->opt.shard, e);
    return rc ? rc : check_resume(run, e);
}

/* By all ranks. */
static int read_and_run(struct run *run, struct study_job *job, struct err *e)
{
    struct overrides o = { 0 };
    struct study s = { 0 };
    int rc = check_options(job, run, e);
    if (!rc)
        rc = load_overrides(&o, run, e);
    const struct study_ask ask = { .kind = job->kind,
                                   .timing = run->opt.timing,
                                   .from = { .path = run->opt.operands[0], .overrides = o.list, .n = o.n } };
    if (!rc)
        rc = study_open(&s, &ask, e);
    /* A rank that cannot read the study must not leave the others waiting for it. */
    rc = fleet_agree(rc, e);
    job->ask.study = &s;
    if (!rc && fleet_rank() == 0)
        output_notes(run, &s.notes);
    if (!rc && fleet_rank() == 0 && !run->opt.dry_run && !run->opt.quiet)
        load_say_study_ages(run, &s);
    if (!rc)
        rc = run->opt.dry_run ? dry_run(run, &job->ask, e)
             : run->opt.slurm ? write_script(run, e)
                              : run_all(run, &s, job, e);
    study_close(&s);
    overrides_free(&o);
    return rc;
}

static int run_ranks(struct run *run, struct study_job *job, struct err *e)
{
    int rc = fleet_start(e);
    if (rc)
        return rc;
    /* One voice for all ranks. */
    if (fleet_rank() > 0 && !run->opt.quiet)
        alarm(0);
    run->opt.quiet = run->opt.quiet || fleet_rank() > 0;
    if (!run->opt.dry_run)
        progress_watch();
    rc = read_and_run(run, job, e);
    /* What all ranks have come to is said once; mpirun ends the first where another fails before it. */
    /* Read before MPI is left: afterwards every process is rank 0. */
    bool silent = fleet_rank() > 0;
    fleet_end(output_exit_code(rc));
    return silent ? 0 : rc;
}

static int write_list(const struct run *run, const struct study_kind *kind, struct err *e)
{
    struct text out = { .wide = run->opt.wide };
    int rc = kind->list(&out, e);
    if (!rc)
        rc = output_text(run, &out, e);
    text_free(&out);
    return rc;
}

static int write_columns(const struct run *run, const struct study_kind *kind, struct err *e)
{
    struct report r = { .rows = true };
    output_begin(&r, run, (struct origin){ .known = false });
    say_columns(&r, kind);
    return output_report(&r, run, (struct origin){ .known = false }, e);
}

/* Run the study of operand 0 on all ranks, or with --list or --columns say what the kind has. Kind NULL: told
 * by the keys of the study. */
static int run_kind(struct run *run, const struct study_kind *kind, struct err *e)
{
    struct study_job job = { .kind = kind };
    for (int32_t i = TABLE_RUNS; kind && i < kind->n_tables; i++)
        job.extras[job.n_extras++] =
            (struct extra){ .name = kind->tables[i].word, .path = run->opt.tables[i] };
    const char *alone = run->opt.say_columns ? "columns" : run->opt.list ? "list" : NULL;
    if (alone && run->opt.n_operands > 0)
        return err_set(e, ERR_USAGE, "option --%s is of all studies of the command; leave out %.100s", alone,
                       run->opt.operands[0]);
    if (run->opt.say_columns)
        return write_columns(run, kind ? kind : study_kinds[0], e);
    if (run->opt.list)
        return write_list(run, kind, e);
    if (run->opt.n_operands < 1)
        return err_set(e, ERR_USAGE, "argument is missing, expected STUDY");
    /* A search within the only point at work takes no more threads than were asked for either. */
    omp_set_num_threads(threads_of(run));
    job.ask = (struct campaign_ask){ .store = run->opt.store,
                                     .threads = threads_of(run),
                                     .command = run->recorded,
                                     .version = WEFT_VERSION,
                                     .progress = watch_report,
                                     .context = &job.watch };
    return run_ranks(run, &job, e);
}

/* ---- the commands ---- */

static int run_sweep(struct run *run, struct err *e)
{
    return run_kind(run, NULL, e);
}

const struct command cmd_sweep = {
    .group = "Many designs",
    .name = "sweep",
    .help = "solve the split at every point of a study",
    .about =
        "Solve the split at every design point under `vary` of STUDY and write one row per point. A point\n"
        "without a design is a row with its status. With --store rows are saved as they come, and a sweep\n"
        "that was stopped, in whatever way, resumes where it was; without --store an interrupted sweep\n"
        "writes nothing. Under mpirun, or srun with PMIx, all processes work on one sweep. A study of "
        "another\n"
        "kind, recognised by its keys, runs as under weft place, hetero or gossip.\n",
    .scope = SCOPE(0, 1, "STUDY", &sweep_options, &options_study, &options_search, &options_format,
                   &options_files),
    .run = run_sweep,
};

static const struct option place_rows[] = {
    FLAG_OPTION("list", list, "list the schedulers of each model"),
    SAY_COLUMNS,
    OPTION_THREADS("runs"),
    TABLE_OPTION(TABLE_RUNS, "runs", "CSV of all runs, a row for each point, scheduler and seed"),
    TABLE_OPTION(PLACE_TABLE_JOBS, "jobs",
                 "CSV of jobs: arrival, start, end, utility; of the first seed of each point, as all below"),
    TABLE_OPTION(PLACE_TABLE_PLACES, "places", "CSV of who ran where and when (plot gantt)"),
    TABLE_OPTION(PLACE_TABLE_SLOTS, "slots", "CSV of the cluster over time"),
    TABLE_OPTION(PLACE_TABLE_LINKS, "links", "CSV of the load of every link over time (plot links)"),
    TABLE_OPTION(PLACE_TABLE_TENANTS, "tenants",
                 "CSV of tenants of model events, with all seeds: jobs, GPU-hours, USD and kWh (system)"),
};

static const struct option_group place_options = OPTION_GROUP("Placement", place_rows);

static int run_place(struct run *run, struct err *e)
{
    return run_kind(run, &place_kind, e);
}

const struct command cmd_place = {
    .group = "A cluster",
    .name = "place",
    .help = "jobs on the servers of a network, under several schedulers",
    .about =
        "Run the jobs of STUDY on its cluster under each of its schedulers, for every combination of the\n"
        "values under `vary` and for each seed, and write one row per point and scheduler: means over the\n"
        "seeds with half of their 95 % interval. SIGINT or SIGTERM stops within about a second, a second\n"
        "one at once.\n"
        "With --store the same command resumes; without it an interrupted study writes nothing.\n",
    .scope =
        SCOPE(0, 1, "STUDY", &place_options, &options_store, &options_study, &options_format, &options_files),
    .run = run_place,
};

static const struct option hetero_rows[] = {
    FLAG_OPTION("list", list, "list the schedulers"),
    SAY_COLUMNS,
    OPTION_THREADS("runs"),
    FLAG_OPTION("timing", timing, "add how long each scheduler took, which differs from run to run"),
    TABLE_OPTION(TABLE_RUNS, "runs", "CSV of all runs, a row for each point, scheduler and seed"),
    TABLE_OPTION(HETERO_PLANS, "plans", "CSV of the plans of the first seed, a row for each layer"),
    TABLE_OPTION(HETERO_STAGES, "stages", "CSV of the same plans, a row for each stage"),
    TABLE_OPTION(HETERO_CURVES, "curves", "CSV of how cost fell with the plans tried, of all seeds"),
};

static const struct option_group hetero_options = OPTION_GROUP("Layers", hetero_rows);

static int run_hetero(struct run *run, struct err *e)
{
    return run_kind(run, &hetero_kind, e);
}

const struct command cmd_hetero = {
    .group = "A cluster",
    .name = "hetero",
    .help = "layers of a model on types of resources, at least cost for a throughput",
    .about =
        "Assign each layer of the model of STUDY to a type of resource, CPU cores or one of several GPUs,\n"
        "and each run of layers of one type a number of units, so that training reaches the required\n"
        "throughput at the least cost: with each scheduler, for every combination of the values under\n"
        "`vary`, and for each seed where a scheduler draws. One row per point and scheduler: medians over\n"
        "the seeds, and the distance from the proved optimum. SIGINT or SIGTERM stops within about\n"
        "a second, a second one at once. With --store the same command resumes; without it nothing is\n"
        "written.\n",
    .scope =
        SCOPE(0, 1, "STUDY", &hetero_options, &options_store, &options_set, &options_format, &options_files),
    .run = run_hetero,
};

static const struct option gossip_rows[] = {
    FLAG_OPTION("list", list, "list the methods"),
    SAY_COLUMNS,
    OPTION_THREADS("runs"),
    TABLE_OPTION(TABLE_RUNS, "runs", "CSV of all runs, a row for each point, method and seed"),
    TABLE_OPTION(GOSSIP_CURVES, "curves", "CSV of loss, exchanges and traffic over time, of all runs"),
    TABLE_OPTION(GOSSIP_LINKS, "links", "CSV of what every link carries, of the first seed"),
};

static const struct option_group gossip_options = OPTION_GROUP("Training", gossip_rows);

static int run_gossip(struct run *run, struct err *e)
{
    return run_kind(run, &gossip_kind, e);
}

const struct command cmd_gossip = {
    .group = "A cluster",
    .name = "gossip",
    .help = "training with little communication: what it sends, takes and reaches",
    .about =
        "Train the small model of STUDY on simulated workers of a network with each of its methods (gossip,\n"
        "local SGD, rules that exchange by the change of the model, ..), for every combination of the "
        "values\n"
        "under `vary` and for each seed. The model is really trained; the clock and the network are\n"
        "simulated. One row per point and method: accuracy, traffic and time, each compared with the\n"
        "baseline and with the best fixed period of equal accuracy. SIGINT or SIGTERM stops within\n"
        "about a second, a second one at once. With --store the same command resumes; without it nothing\n"
        "is written.\n",
    .scope =
        SCOPE(0, 1, "STUDY", &gossip_options, &options_store, &options_set, &options_format, &options_files),
    .run = run_gossip,
};
