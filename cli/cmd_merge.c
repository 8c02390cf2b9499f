#include <stdlib.h>

#include "cli/output.h"
#include "cli/sheet.h"
#include "explore/store.h"

/* Marks the shards that are given. A store that was merged before has no number: then nothing is known. */
static int mark_shards(bool **given, int32_t *n_shards, const struct run *run, struct err *e)
{
    *given = NULL;
    *n_shards = 0;
    for (int32_t i = 1; i < run->opt.n_operands; i++) {
        struct store *s;
        struct store_head head;
        struct sweep_counts counts;
        bool complete;
        int rc = store_read(&s, run->opt.operands[i], e);
        if (rc)
            return rc;
        store_head_of(s, &head, &counts, &complete);
        if (!*given)
            *given = calloc((size_t)head.n_shards + 1, sizeof **given);
        bool same = *n_shards == 0 || *n_shards == head.n_shards;
        *n_shards = same && head.n_shards > 1 ? head.n_shards : -1;
        if (*given && *n_shards > 0)
            (*given)[head.shard] = true;
        store_close(s);
        if (!*given)
            return err_nomem(e, "shards");
        if (*n_shards < 0)
            return 0;
    }
    return 0;
}

/* "; shards 2, 4 of 4 are missing" */
static void put_missing(struct text *out, const bool *given, int32_t n_shards)
{
    int32_t n = 0;
    for (int32_t i = 1; i <= n_shards; i++)
        if (!given[i])
            text_printf(out, "%s%d", n++ ? ", " : "; missing of its shards: ", (int)i);
    if (n)
        text_printf(out, " (of %d)", (int)n_shards);
}

static int say_merged(struct run *run, const bool *given, int32_t n_shards, struct err *e)
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
    bool *given;
    int32_t n_shards;
    int rc = output_check(run, opt->operands[0], e);
    if (rc)
        return rc;
    rc = mark_shards(&given, &n_shards, run, e);
    if (!rc)
        rc = store_merge(opt->operands[0], opt->operands + 1, opt->n_operands - 1, e);
    if (!rc)
        rc = say_merged(run, given, n_shards, e);
    free(given);
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
