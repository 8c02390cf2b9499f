#include "cli/export.h"

#include <math.h>
#include <string.h>

#include "base/outfile.h"
#include "base/sheet.h"
#include "cli/output.h"
#include "cli/points.h"
#include "study/runs.h"
#include "study/study.h"

enum { AT_A_TIME = 1024 };

/* ---- what has no design ---- */

static void note_row(struct export_tally *tally, const struct table *rows, int64_t row, const char *status)
{
    int32_t message = table_find(rows, "message");
    const char *why = message >= 0 ? table_text(rows, row, message) : NULL;
    tally->first = tally->n_rows + row + 1;
    text_printf(&tally->why, "%s%s%s", status, why && *why ? ": " : "", why ? why : "");
}

static void tally_rows(struct export_tally *tally, const struct table *rows)
{
    int32_t status = table_find(rows, "status"), time = table_find(rows, "time_s");
    for (int64_t row = 0; row < rows->n_rows && status >= 0; row++) {
        const char *word = table_text(rows, row, status);
        /* A stalled one with a time has a split, whose proof fell short. */
        bool stalled = word && strcmp(word, alloc_status_names[ALLOC_STALLED]) == 0;
        if (!word || strcmp(word, alloc_status_names[ALLOC_SOLVED]) == 0 ||
            (stalled && isfinite(table_number(rows, row, time))))
            continue;
        if (!tally->first)
            note_row(tally, rows, row, word);
        tally->any_error = tally->any_error || strcmp(word, "error") == 0;
        tally->unsolved++;
    }
    tally->n_rows += rows->n_rows;
}

void export_say(struct run *run, const struct export_tally *tally)
{
    if (!tally->unsolved)
        return;
    output_say(run, "%lld of %lld points are not solved; row %lld: %s", (long long)tally->unsolved,
               (long long)tally->n_rows, (long long)tally->first, text_str(&tally->why));
    if (tally->unsolved == tally->n_rows)
        run->exit_code = tally->any_error ? EXIT_INPUT : EXIT_NO_DESIGN;
}

void export_tally_free(struct export_tally *tally)
{
    text_free(&tally->why);
}

/* ---- rows, a thousand at a time ---- */

/* Where rows come from, and how far they are read. */
struct source {
    struct store *store;
    struct study_table_walk *table; /* NULL: the results */
    const struct filters *where;    /* NULL: all */
    struct store_walk walk;         /* of the results */
    struct export_tally *tally;     /* NULL: nobody asks */
    bool begun, any;                /* any: the last call gave rows, even if none of them passes */
    int64_t n_rows;                 /* so far */
};

static int read_piece(struct source *s, struct table *rows, struct err *e)
{
    if (s->table)
        return study_table_next(s->table, AT_A_TIME, rows, e);
    int rc = s->begun ? 0 : study_trim_store(s->store, study_kind_of_store(s->store), false, e);
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
    if (s->where)
        filters_keep(s->where, rows);
    if (s->tally)
        tally_rows(s->tally, rows);
    s->n_rows += rows->n_rows;
    return 0;
}

int export_count(struct store *s, struct export_tally *tally, struct err *e)
{
    struct source from = { .store = s, .walk = store_walk_all(STORE_RESULTS, false), .tally = tally };
    struct table rows = { 0 };
    int rc;
    do
        rc = next_rows(&from, &rows, e);
    while (!rc && from.any);
    table_free(&rows);
    return rc;
}

static int put(struct outfile *f, struct text *piece, struct err *e)
{
    int rc = text_check(piece, e);
    if (!rc)
        rc = outfile_put(f, text_str(piece), piece->n, e);
    text_clear(piece);
    return rc;
}

/* CSV and JSON. */
static int stream(struct outfile *f, struct table_writer *w, struct source *s, const char *head,
                  struct err *e)
{
    struct table rows = { 0 };
    struct text piece = { 0 };
    int rc = next_rows(s, &rows, e);
    if (!rc)
        rc = table_write_begin(w, &rows, head, &piece, e);
    while (!rc && s->any) {
        rc = table_write_rows(w, &rows, &piece, e);
        if (!rc)
            rc = put(f, &piece, e);
        if (!rc)
            rc = next_rows(s, &rows, e);
    }
    if (!rc)
        rc = table_write_end(w, &piece, e);
    if (!rc)
        rc = put(f, &piece, e);
    table_free(&rows);
    text_free(&piece);
    return rc;
}

static int write_stream(const struct run *run, struct source *s, const char *path, enum table_format format,
                        struct origin from, struct err *e)
{
    struct text head = { 0 };
    struct outfile f = { 0 };
    struct table_writer w = { .format = format };
    output_head(&head, run, from);
    int rc = text_check(&head, e);
    if (!rc)
        rc = outfile_begin(&f, path, run->opt.force, e);
    if (!rc)
        rc = stream(&f, &w, s, text_str(&head), e);
    if (!rc)
        rc = outfile_end(&f, e);
    outfile_drop(&f);
    text_free(&head);
    return rc;
}

/* For people: columns are as wide as the widest value, so all rows have to be there. */
static int read_all(struct table *all, struct source *s, struct err *e)
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

static int write_sheet(const struct run *run, struct source *s, struct err *e)
{
    struct table all = { 0 };
    struct text out = { 0 };
    int rc = read_all(&all, s, e);
    if (!rc)
        rc = sweep_text(&all, &out, e);
    if (!rc)
        rc = output_write(run, &out, e);
    table_free(&all);
    text_free(&out);
    return rc;
}

/* Every column. */
static int write_wide(const struct run *run, struct source *s, struct origin from, struct err *e)
{
    struct table all = { 0 };
    int rc = read_all(&all, s, e);
    if (!rc)
        rc = output_table(run, &all, from, e);
    table_free(&all);
    return rc;
}

int export_extra(int64_t *n_rows, const struct run *run, struct store *s, const struct study_kind *kind,
                 const struct extra *x, struct origin from, struct err *e)
{
    struct source source = { .store = s };
    int rc = study_table_open(&source.table, s, kind, x->name, e);
    if (!rc)
        rc = write_stream(run, &source, x->path, TABLE_AS_CSV, from, e);
    study_table_close(source.table);
    *n_rows = source.n_rows;
    return rc;
}

int export_rows(const struct run *run, struct store *s, const struct filters *where, struct origin from,
                struct export_tally *tally, struct err *e)
{
    struct source source = {
        .store = s, .where = where, .walk = store_walk_all(STORE_RESULTS, false), .tally = tally
    };
    if (output_format(run) == TABLE_AS_TEXT)
        return write_sheet(run, &source, e);
    return write_stream(run, &source, run->opt.out, output_format(run), from, e);
}

/* ---- kinds with runs ---- */

static int read_rows(struct table *out, struct store *store, const struct study_kind *kind, bool hidden,
                     const struct filters *where, struct err *e)
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
    struct store_head head;
    struct sweep_counts counts;
    bool complete;
    const struct table *points = store_columns(store, STORE_POINTS);
    store_head_of(store, &head, &counts, &complete);
    t->report = (struct study_report){ .rows = &t->said,
                                       .axes = t->axes,
                                       .n_points = head.n_points,
                                       .seed = head.seed,
                                       .seeds = head.seeds,
                                       .name = head.name ? head.name : "" };
    for (; t->report.n_axes < head.n_axes; t->report.n_axes++)
        t->axes[t->report.n_axes] = points->names[1 + t->report.n_axes];
    for (int32_t i = TABLE_RUNS; i < t->kind->n_tables; i++)
        t->report.tables[i] = t->extras[i].n_cols ? &t->extras[i] : NULL;
}

int export_read(struct export_tables *t, struct store *s, const struct study_kind *kind,
                const struct filters *where, struct err *e)
{
    t->kind = kind;
    int rc = read_rows(&t->rows, s, kind, false, where, e);
    if (!rc)
        rc = read_rows(&t->said, s, kind, true, where, e);
    for (int32_t i = TABLE_RUNS; i < kind->n_tables && !rc; i++)
        if (kind->tables[i].always)
            rc = study_read_table(&t->extras[i], s, kind, kind->tables[i].word, e);
    if (!rc)
        rc = study_read_notes(&t->notes, s, kind, e);
    make_report(t, s);
    return rc;
}

void export_tables_free(struct export_tables *t)
{
    table_free(&t->rows);
    table_free(&t->said);
    for (int i = 0; i < STUDY_MAX_TABLES; i++)
        table_free(&t->extras[i]);
    text_free(&t->notes);
}

int export_write(const struct run *run, const struct export_tables *t, struct origin from, struct err *e)
{
    struct text out = { 0 };
    if (output_format(run) != TABLE_AS_TEXT)
        return output_table(run, &t->rows, from, e);
    int rc = t->kind->say(&out, &t->report, e);
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

int export_conclude(struct run *run, const struct export_tables *t, struct err *e)
{
    static const int codes[] = { [VERDICT_INPUT] = EXIT_INPUT, [VERDICT_NO_DESIGN] = EXIT_NO_DESIGN };
    struct text lines = { 0 };
    enum study_verdict verdict = VERDICT_FINE;
    int rc = t->kind->conclude(&lines, &verdict, &t->report, e);
    if (!rc)
        rc = text_check(&lines, e);
    for (const char *line = text_str(&lines); *line && !rc; line += strcspn(line, "\n") + 1)
        output_say(run, "%.*s", (int)strcspn(line, "\n"), line);
    if (verdict != VERDICT_FINE)
        run->exit_code = codes[verdict];
    text_free(&lines);
    return rc;
}

int32_t export_find_table(const struct study_kind *kind, const char *word)
{
    for (int32_t i = TABLE_RUNS; i < kind->n_tables; i++)
        if (strcmp(kind->tables[i].word, word) == 0)
            return i;
    return -1;
}

static const struct option export_rows_of[] = {
    OPTION_WHERE,
    { .name = "table",
      .value = "NAME",
      .help = "an extra table in place of the rows, such as runs, where the study was run with it",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, table) },
};
static const struct option_group export_options = { "Rows", export_rows_of,
                                                    sizeof export_rows_of / sizeof *export_rows_of };

/* What is not there yet is no error: a sweep may be running. */
static void warn_incomplete(struct run *run, const struct store_head *head, const struct sweep_counts *counts)
{
    char seen[SHOW], all[SHOW];
    const char *path = run->opt.operands[0];
    show_count(seen, counts->seen);
    show_count(all, head->n_points);
    if (head->n_shards > 1)
        output_warn(run, "%s: is shard %d of %d, with %s of all %s points; weft merge puts shards together",
                    path, (int)head->shard, (int)head->n_shards, seen, all);
    else
        output_warn(run, "%s: has %s of %s points; weft sweep --store %s goes on with it", path, seen, all,
                    path);
}

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
    struct store_head head;
    struct sweep_counts counts;
    struct export_tally tally = { 0 };
    bool complete;
    const struct study_kind *kind = study_kind_of_store(s);
    store_head_of(s, &head, &counts, &complete);
    if (!kind)
        return err_set(e, ERR_PARSE, "%s: is of a study of kind %s, which this program does not know",
                       run->opt.operands[0], head.kind);
    const struct origin from = { .known = true,
                                 .study_hash = head.study_hash,
                                 .seed = head.seed,
                                 .version = head.version,
                                 .command = head.command };
    int rc = run->opt.table ? export_table(run, s, kind, where, from, e)
             : kind->blocks ? export_rows(run, s, where, from, &tally, e)
                            : export_runs(run, s, kind, where, from, e);
    if (!rc && !complete)
        warn_incomplete(run, &head, &counts);
    if (!rc && kind->blocks && !run->opt.table)
        output_verbose(run, "%lld rows, of %lld points", (long long)tally.n_rows, (long long)counts.seen);
    export_tally_free(&tally);
    return rc;
}

static int run_export(struct run *run, struct err *e)
{
    struct filters where;
    struct store *s = NULL;
    int rc = output_check(run, NULL, e);
    if (rc)
        return rc;
    rc = filters_read(&where, &run->opt.where, e);
    if (!rc)
        rc = store_read(&s, run->opt.operands[0], e);
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
    .about = "Write the rows of STORE, which weft sweep --store made, in order of points and with the head "
             "of the\n"
             "sweep: the same bytes that the sweep writes. A sweep may be running meanwhile; what it has "
             "committed\n"
             "is written, with a warning that says how much that is.\n",
    .scope = SCOPE(1, 1, "STORE", &export_options, &options_format, &options_files),
    .run = run_export,
};

/* Adds the shards that are given. A store that was merged before has no number: then nothing is known. */
static int mark_shards(struct spans *given, int32_t *n_shards, const struct run *run, struct err *e)
{
    *n_shards = 0;
    for (int32_t i = 1; i < run->opt.n_operands && *n_shards >= 0; i++) {
        struct store *s;
        struct store_head head;
        struct sweep_counts counts;
        bool complete;
        int rc = store_read(&s, run->opt.operands[i], e);
        if (rc)
            return rc;
        store_head_of(s, &head, &counts, &complete);
        bool same = *n_shards == 0 || *n_shards == head.n_shards;
        *n_shards = same && head.n_shards > 1 ? head.n_shards : -1;
        rc = spans_add(given, head.shard, 1, e);
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
    struct store_head head;
    struct sweep_counts counts;
    struct text missing = { 0 };
    char seen[SHOW], all[SHOW];
    bool complete;
    int rc = store_read(&s, path, e);
    if (rc)
        return rc;
    store_head_of(s, &head, &counts, &complete);
    put_missing(&missing, given, n_shards);
    show_count(seen, counts.seen);
    show_count(all, head.n_points);
    if (complete)
        output_verbose(run, "%s: has all %s points", path, all);
    else
        output_warn(run, "%s: has %s of %s points%s; weft sweep --store %s goes on with it", path, seen, all,
                    text_str(&missing), path);
    text_free(&missing);
    store_close(s);
    return 0;
}

static int run_merge(struct run *run, struct err *e)
{
    const struct options *opt = &run->opt;
    struct spans given = { 0 };
    int32_t n_shards;
    int rc = output_check(run, opt->operands[0], e);
    if (rc)
        return rc;
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
