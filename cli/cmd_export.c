#include "cli/export.h"
#include "base/sheet.h"

static const struct option export_rows_of[] = { OPTION_WHERE };
static const struct option_group export_options = { "Rows", export_rows_of, 1 };

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

static int export_store(struct run *run, struct store *s, const struct filters *where, struct err *e)
{
    struct store_head head;
    struct sweep_counts counts;
    struct export_tally tally = { 0 };
    bool complete;
    store_head_of(s, &head, &counts, &complete);
    const struct origin from = { .known = true,
                                 .study_hash = head.study_hash,
                                 .seed = head.seed,
                                 .version = head.version,
                                 .command = head.command };
    int rc = export_rows(run, s, where, from, &tally, e);
    if (!rc && !complete)
        warn_incomplete(run, &head, &counts);
    if (!rc)
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
