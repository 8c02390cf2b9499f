#include "cli/output.h"
#include "base/sheet.h"
#include "study/runs.h"

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
