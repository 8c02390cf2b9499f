#include "cli/export.h"
#include "base/sheet.h"
#include "study/runs.h"

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

static int write_kept(struct table *t, const struct run *run, const struct filters *where, struct origin from,
                      struct err *e)
{
    int rc = where ? filters_check(where, t, e) : 0;
    if (!rc && where)
        filters_keep(where, t);
    return rc ? rc : output_table(run, t, from, e);
}

/* An extra table, by its word. */
static int export_table(struct run *run, struct store *s, const struct study_kind *kind,
                        const struct filters *where, struct origin from, struct err *e)
{
    struct table t = { 0 };
    const char *word = run->opt.table;
    int32_t i = export_find_table(kind, word);
    if (i < 0 || store_find_table(s, word) < 0)
        return err_set(e, ERR_USAGE, "option --table is \"%.40s\", which %s does not have%s", word,
                       run->opt.operands[0], i < 0 ? "" : ": run the study with that table to a store");
    int rc = study_read_table(&t, s, kind, word, e);
    if (!rc)
        rc = write_kept(&t, run, where, from, e);
    table_free(&t);
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
