/* A sweep's rows and counts are the same whoever runs it and however often it is stopped: held against one
 * run on one thread, whose rows are held against designs_rows(), which has neither store nor units nor rules.
 */
#include "study/campaign.h"
#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "tests/unit/designs.h"
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"

enum { SEED = 20261121, MOST_SHARDS = 7, PRUNED = 10 };

/* ---- files ---- */

static const struct file files[] = {
    { "two.yaml", "name: two\nparts: prices.yaml\nnpu: { usd: 1000 }\ndims:\n"
                  "  - { name: node, shape: ring, size: 4, tier: A, latency_ns: 100 }\n"
                  "  - { name: pod, shape: switch, size: 8, tier: B }\n" },
    { "three.yaml", "name: three\nparts: prices.yaml\nnpu: { usd: 1000 }\ndims:\n"
                    "  - { name: chip, shape: ring, size: 2, tier: A, latency_ns: 50 }\n"
                    "  - { name: node, shape: full, size: 2, tier: A }\n"
                    "  - { name: pod, shape: switch, size: 8, tier: B }\n" },
    { "broken.yaml", "name: broken\ndims: [ { shape: rung, size: 4 } ]\n" },
    { "prices.yaml",
      "name: prices\nrates:\n  - { tier: A, link_usd_per_GBps: 4 }\n"
      "  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n" },
    { "a.yaml", "name: A\nstep: { all-reduce: { size_MB: 8, group: all } }\n" },
    { "b.yaml", "name: B\ngroups: { tp: { size: 4 }, dp: { after: tp } }\nstep: { sum: [ { compute_ms: 1 },\n"
                "  { max: [ { compute_ms: 0.2 }, { all-reduce: { size_MB: 80, group: dp } } ] },\n"
                "  { all-to-all: { size_MB: 8, group: tp } } ] }\n" },
};

FOLDER_OF(files)

/* ---- a run ---- */

/* How; all but threads zero: a whole sweep, to its end. */
struct way {
    int32_t threads, shard, n_shards;
    bool stop; /* when progress is asked the first time, after the first units */
    unsigned long long hash;
};

/* The rows and what became of all points, as a store has them. */
struct result {
    struct text csv;
    struct sweep_counts n;
    int64_t rows, points;
    bool complete;
};

static void take_result(struct result *r, struct store *s)
{
    KEEP(struct table, rows, table_free) = { 0 };
    *r = (struct result){ .rows = 0 };
    r->n = store_counts_of(s);
    r->complete = store_is_complete(s);
    r->points = store_head_of(s)->n_points;
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    MUST(study_trim_store(s, &design_kind, false, e));
    MUST(store_next(s, &walk, 100000, &rows, e));
    r->rows = rows.n_rows;
    for (int64_t i = 1; i < rows.n_rows; i++)
        assert_true(table_cell(&rows, i - 1, 0)->count < table_cell(&rows, i, 0)->count);
    MUST(table_write(&rows, TABLE_AS_CSV, NULL, &r->csv, e));
}

struct outcome {
    struct campaign_state state;
    int64_t before;
    bool resumed, complete, interrupted;
};

static bool never(void *context, const struct campaign_state *state)
{
    (void)context, (void)state;
    return false;
}

/* To a store's file, or with NULL to one that goes with the run, from which *r is taken. */
static int run(struct outcome *out, struct result *r, struct folder *f, const char *store,
               const struct way *way, struct err *e)
{
    KEEP(struct study, w, study_close);
    KEEP(struct campaign, c, campaign_close);
    const struct campaign_ask ask = { .study = &w,
                                      .store = store,
                                      .shard = way->n_shards ? way->shard : 1,
                                      .n_shards = way->n_shards ? way->n_shards : 1,
                                      .threads = way->threads,
                                      .command = "weft sweep study.yaml",
                                      .version = "1",
                                      .progress = way->stop ? never : NULL };
    assert_ok(designs_open(&w, f->path, NULL, 0, e), e);
    w.hash = way->hash;
    int rc = campaign_open(&c, &ask, e);
    if (!rc)
        rc = campaign_run(&c, e);
    if (!rc && r)
        take_result(r, c.store);
    *out = (struct outcome){ c.state, c.state.before, c.resumed, c.complete, c.interrupted };
    return rc;
}

static const char *store_path(char buf[SUPPORT_PATH], const struct folder *f, int i)
{
    char name[16];
    snprintf(name, sizeof name, "s%d.db", i);
    return scratch_path(buf, f->dir, name);
}

static void free_result(struct result *r)
{
    text_free(&r->csv);
}

/* The first line that differs says more than both texts. */
static void assert_same_text(const char *got, const char *want)
{
    int line = 1;
    for (; *got && *want; line++) {
        size_t n = strcspn(got, "\n"), n_want = strcspn(want, "\n");
        if (n != n_want || memcmp(got, want, n) != 0)
            break;
        got += n + (got[n] != '\0');
        want += n + (want[n] != '\0');
    }
    if (*got || *want) {
        print_error("line %d is %.*s\nneed %.*s\n", line, (int)strcspn(got, "\n"), got,
                    (int)strcspn(want, "\n"), want);
        fail();
    }
}

static void assert_same(const struct result *got, const struct result *want, bool counts_too)
{
    assert_same_text(text_str(&got->csv), text_str(&want->csv));
    assert_true(got->n.seen == want->n.seen && got->n.filtered == want->n.filtered);
    if (counts_too)
        assert_true(got->n.bounded == want->n.bounded && got->n.solved == want->n.solved);
}

static void assert_whole(const struct result *r)
{
    assert_true(r->complete && r->n.seen == r->points);
    assert_int_equal(r->n.filtered + r->n.bounded + r->n.solved, r->n.seen);
}

/* A store's result; the file is removed. */
static void take_and_remove(struct result *r, const char *path)
{
    struct store *s;
    MUST(store_read(&s, path, e));
    take_result(r, s);
    store_close(s);
    assert_int_equal(remove(path), 0);
    assert_whole(r);
}

/* ---- ways to run it ---- */

static void run_at_once(struct result *r, struct folder *f, int32_t threads)
{
    struct outcome o;
    MUST(run(&o, r, f, NULL, &(struct way){ .threads = threads }, e));
    assert_true(o.complete && !o.resumed && !o.interrupted && o.before == 0);
    assert_whole(r);
    assert_true(o.state.kept == r->rows && o.state.n_points == r->points && o.state.done.seen == r->n.seen);
}

/* Several times, by other numbers of threads, which get to other places; the first is far from the end. */
static void run_with_stops(struct result *r, struct folder *f, struct rng *rng, bool two_passes)
{
    char path[SUPPORT_PATH];
    struct outcome o = { .complete = false };
    int64_t seen = 0;
    store_path(path, f, 0);
    for (int64_t i = 0; i < 5 && (i == 0 || seen < o.state.n_points); i++) {
        const struct way way = { .threads = i ? 1 + (int32_t)rng_below(rng, 3) : 1, .stop = true };
        MUST(run(&o, NULL, f, path, &way, e));
        /* A stop that comes with the last unit stops nothing. */
        assert_true(o.resumed == (i > 0) && o.interrupted == !o.complete);
        assert_true(o.interrupted || o.state.done.seen == o.state.n_points);
        /* Of two passes the second meets units of the first, which it has nothing to do in. */
        assert_true(o.before == seen && o.state.done.seen >= seen + (two_passes ? 0 : 1));
        assert_true(i > 0 || o.state.done.seen <= o.state.n_points / 4);
        seen = o.state.done.seen;
    }
    MUST(run(&o, NULL, f, path, &(struct way){ .threads = 2 }, e));
    assert_true(o.complete && o.resumed && o.before == seen);
    take_and_remove(r, path);
    assert_int_equal(o.state.kept, r->rows);
}

/* Shards that are merged; of `missing` >= 1 that one is left to a run over what the others have. */
static void run_in_shards(struct result *r, struct folder *f, int32_t n, int32_t missing)
{
    char paths[MOST_SHARDS + 1][SUPPORT_PATH];
    const char *given[MOST_SHARDS];
    struct outcome o;
    int64_t points = 0;
    int32_t n_given = 0;
    for (int32_t i = 1; i <= n; i++) {
        if (i == missing)
            continue;
        const struct way way = { .threads = 1 + i % 2, .shard = i, .n_shards = n };
        given[n_given] = store_path(paths[n_given + 1], f, i);
        MUST(run(&o, NULL, f, given[n_given++], &way, e));
        assert_true(o.complete && o.state.done.seen == o.state.n_points);
        points += o.state.n_points;
    }
    MUST(store_merge(store_path(paths[0], f, 0), given, n_given, NULL, NULL, e));
    MUST(run(&o, NULL, f, paths[0], &(struct way){ .threads = 1 }, e));
    assert_true(o.complete && o.before == points && (missing || points == o.state.n_points));
    take_and_remove(r, paths[0]);
    assert_int_equal(o.state.kept, r->rows);
    for (int32_t i = 0; i < n_given; i++)
        assert_int_equal(remove(given[i]), 0);
}

/* ---- the same rows ---- */

#define BASE   "network: two.yaml\nworkload: a.yaml\n"
#define TOTALS "total_GBps: { from: 20, to: 110, points: 91 }"

static const struct {
    const char *what, *text;
    int64_t points, filtered;
    bool kept, pruned;
    int32_t shards, missing; /* 0 = none */
} studies[] = {
    { "all rows",
      BASE "vary: { network: [ two.yaml, three.yaml ], workload: [ a.yaml, b.yaml ], " TOTALS " }\n", 4 * 91,
      0, false, false, MOST_SHARDS, 0 },
    { "points that fail",
      BASE "vary: { network: [ two.yaml, broken.yaml, none.yaml, three.yaml ], " TOTALS ",\n"
           "  constraints: [ [], [ pod <= 20 ], [ chip <= 30 ] ] }\n",
      4 * 91 * 3, 0, false, false, 3, 1 },
    { "where",
      BASE "vary: { network: [ two.yaml, three.yaml, 'ring:4 switch:4' ], " TOTALS ", "
           "model: [ bandwidth, alpha-beta ] }\nwhere: [ n_npus >= 32, total_GBps <= 100 ]\n",
      3 * 91 * 2, 91 * 2 + 2 * 10 * 2, false, false, MOST_SHARDS, 7 },
    { "grids",
      BASE "vary:\n  model: [ bandwidth, alpha-beta ]\n  union:\n    - { " TOTALS " }\n"
           "    - { zip: { total_GBps: [ 20, 40, 60 ], network: [ two.yaml, three.yaml, none.yaml ] } }\n"
           "    - { sobol: { points: 200, keys: { total_GBps: { from: 10, to: 1000, scale: log },\n"
           "        network.npu.usd: { from: 0, to: 5000 } } } }\n",
      2 * (91 + 3 + 200), 0, false, false, 3, 2 },
    { "front",
      BASE "vary: { network: [ two.yaml, three.yaml, broken.yaml ], workload: [ a.yaml, b.yaml ], " TOTALS
           " }\nkeep: { front: [ time_s, cost_usd ] }\n",
      6 * 91, 0, true, false, MOST_SHARDS, 0 },
    { "top",
      BASE "vary: { network: [ three.yaml, two.yaml ], " TOTALS ", objective: [ time, perf_per_cost ] }\n"
           "keep: { top: { by: 'max:speedup', n: 5 }, per: [ network ] }\n",
      4 * 91, 0, true, false, 3, 0 },
    { "limits",
      BASE "vary: { network: [ two.yaml, three.yaml ], " TOTALS ", model: [ bandwidth, alpha-beta ] }\n"
           "keep: { where: [ 'cost_usd <= 34000', 'time_s <= 0.001' ] }\n",
      4 * 91, 0, true, false, 1, 0 },
    { "a pruned front",
      BASE
      "count_npus: true\nvary: { network: [ two.yaml, three.yaml ], workload: [ a.yaml, b.yaml ], " TOTALS
      ",\n"
      "  network.npu.usd: [ 1000, 3000, 2000 ] }\n"
      "keep: { front: [ time_s, cost_usd ], prune: true }\nwhere: [ total_GBps >= 30 ]\n",
      4 * 91 * 3, 4 * 10 * 3, true, true, 3, 0 },
};

TEST_WITH(rows_and_counts_do_not_depend_on_who_runs_a_sweep_and_how_often_it_stops, make_folder,
          remove_folder)
{
    struct folder *f = *state;
    RNG(rng, SEED, 1);
    for (size_t i = 0; i < COUNT_OF(studies); i++) {
        struct result got;
        KEEP(struct result, want, free_result);
        bool counts = !studies[i].pruned;
        put(f, "study.yaml", studies[i].text);
        print_message("             %s\n", studies[i].what);
        run_at_once(&want, f, 1);
        assert_true(want.points == studies[i].points && want.n.filtered == studies[i].filtered);
        assert_int_equal(want.rows < want.n.solved, studies[i].kept);
        assert_int_equal(want.n.bounded > 0, studies[i].pruned);
        for (int way = 0; way < 3; way++) {
            if (way == 0)
                run_at_once(&got, f, 8);
            else if (way == 1)
                run_with_stops(&got, f, rng, studies[i].pruned);
            else
                run_in_shards(&got, f, studies[i].shards, studies[i].missing);
            assert_same(&got, &want, counts);
            free_result(&got);
        }
    }
}

/* Not through units, batches or a store. */
TEST_WITH(rows_of_a_store_are_those_of_a_sweep_in_memory, make_folder, remove_folder)
{
    struct folder *f = *state;
    for (size_t i = 0; i < COUNT_OF(studies); i++) {
        KEEP(struct result, got, free_result);
        KEEP(struct study, w, study_close);
        KEEP(struct table, rows, table_free) = { 0 };
        KEEP(struct text, csv, text_free) = { 0 };
        if (studies[i].kept || studies[i].filtered)
            continue;
        put(f, "study.yaml", studies[i].text);
        run_at_once(&got, f, 3);
        OK(designs_open(&w, f->path, NULL, 0, e));
        designs_rows(&rows, &w);
        OK(table_write(&rows, TABLE_AS_CSV, NULL, &csv, e));
        assert_same_text(text_str(&got.csv), text_str(&csv));
    }
}

/* ---- what is pruned is not missed ---- */

/* Two objectives over small random sweeps. */
static void put_random(struct folder *f, struct rng *rng, bool prune)
{
    static const char *const fronts[] = { "time_s, cost_usd", "time_s, cost_usd, total_GBps",
                                          "cost_usd, time_s" };
    static const char *const networks[] = { "two.yaml, three.yaml", "three.yaml, two.yaml, broken.yaml",
                                            "two.yaml, 'ring:4@30 switch:8'", "three.yaml" };
    TEXT(t, BASE "count_npus: true\nvary:\n");
    text_printf(&t, "  network: [ %s ]\n", networks[rng_below(rng, COUNT_OF(networks))]);
    text_printf(&t, "  total_GBps: { from: %d, to: %d, points: %d }\n", 5 + (int)rng_below(rng, 50),
                60 + (int)rng_below(rng, 300), 20 + (int)rng_below(rng, 100));
    text_printf(&t, "  network.npu.usd: [ %d, %d, %d ]\n", (int)rng_below(rng, 3000),
                (int)rng_below(rng, 3000), (int)rng_below(rng, 3000));
    if (rng_below(rng, 2))
        text_puts(&t, "  workload: [ b.yaml, a.yaml ]\n");
    if (rng_below(rng, 2))
        text_puts(&t, "  objective: [ time, perf_per_cost ]\n");
    if (rng_below(rng, 2))
        text_puts(&t, "  model: [ bandwidth, alpha-beta ]\n");
    text_printf(&t, "keep: { front: [ %s ], prune: %s }\n", fronts[rng_below(rng, COUNT_OF(fronts))],
                prune ? "true" : "false");
    put(f, "study.yaml", text_str(&t));
}

TEST_WITH(a_pruned_sweep_has_the_front_of_one_that_is_not, make_folder, remove_folder)
{
    struct folder *f = *state;
    int64_t bounded = 0, points = 0;
    for (int i = 0; i < PRUNED; i++) {
        struct result r[2];
        for (int prune = 0; prune < 2; prune++) {
            RNG(rng, SEED, (uint64_t)(100 + i));
            put_random(f, rng, prune);
            run_at_once(&r[prune], f, 1 + i % 2);
        }
        assert_same(&r[1], &r[0], false);
        assert_true(r[0].n.bounded == 0 && r[0].rows > 0);
        bounded += r[1].n.bounded;
        points += r[1].points;
        free_result(&r[0]);
        free_result(&r[1]);
    }
    /* Or little was tried. */
    assert_in_range(bounded, points / 10, points);
}

/* ---- stores of others ---- */

static char *read_all(const char *path, size_t *n)
{
    struct text t = { 0 };
    MUST(text_read_file(&t, path, (size_t)1 << 24, e));
    *n = t.n;
    return t.s;
}

TEST_WITH(a_store_of_another_study_or_shard_is_refused_and_not_changed, make_folder, remove_folder)
{
    static const struct {
        struct way way;
        const char *study, *message;
    } cases[] = {
        { { .threads = 1, .hash = 7 },
          NULL,
          "s0.db: is of a study with hash 0000000000000000, expected 0000000000000007" },
        { { .threads = 1, .shard = 2, .n_shards = 3 },
          NULL,
          "s0.db: is shard 1 of 1, expected shard 2 of 3" },
        { { .threads = 1 },
          BASE "vary: { total_GBps: [ 1, 2 ] }\n",
          "s0.db: is of 364 points in 8 units, expected 2 in 1" },
    };
    struct folder *f = *state;
    struct outcome o;
    char path[SUPPORT_PATH];
    store_path(path, f, 0);
    put(f, "study.yaml", studies[0].text);
    OK(run(&o, NULL, f, path, &(struct way){ .threads = 1, .stop = true }, e));
    size_t n, n_then;
    char *before = read_all(path, &n);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (cases[i].study)
            put(f, "study.yaml", cases[i].study);
        int files_then = scratch_count(f->dir);
        FAILS(run(&o, NULL, f, path, &cases[i].way, e), ERR_PARSE, cases[i].message);
        KEEP(char *, after, free_at) = read_all(path, &n_then);
        assert_int_equal(n, n_then);
        assert_memory_equal(before, after, n);
        assert_int_equal(scratch_count(f->dir), files_then);
    }
    free(before);
    assert_int_equal(remove(path), 0);
}

/* A disk that is full when the log is to be folded in: only the log could be written. */
static ssize_t write_log_alone(int fd, const void *buf, size_t n, off_t at)
{
    char link[64], path[SUPPORT_PATH] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (at < 4096 || len < 3 || strcmp(path + len - 3, ".db") != 0)
        return pwrite(fd, buf, n, at);
    errno = ENOSPC;
    return -1;
}

static void set_write(sqlite3_syscall_ptr call)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, "pwrite", call);
    vfs->xSetSystemCall(vfs, "pwrite64", call);
}

TEST_WITH(a_store_whose_log_cannot_be_folded_in_is_an_error_and_goes_on, make_folder, remove_folder)
{
    struct folder *f = *state;
    struct outcome o;
    struct result want, got;
    struct stat st;
    char path[SUPPORT_PATH], log[SUPPORT_PATH];
    const struct way way = { .threads = 1 };
    put(f, "study.yaml", "network: two.yaml\nworkload: a.yaml\nvary: { total_GBps: [100, 200, 300] }\n");
    OK(run(&o, &want, f, NULL, &way, e));
    store_path(path, f, 1);
    scratch_path(log, f->dir, "s1.db-wal");
    set_write((sqlite3_syscall_ptr)write_log_alone);
    int rc = run(&o, NULL, f, path, &way, e);
    set_write(NULL);
    FAILS(rc, ERR_IO, "s1.db: disk is full; the store is whole only with its log");
    assert_int_equal(stat(log, &st), 0);
    OK(run(&o, &got, f, path, &way, e));
    assert_true(o.complete && !o.interrupted);
    assert_true(stat(log, &st) != 0);
    assert_string_equal(text_str(&got.csv), text_str(&want.csv));
    free_result(&got);
    free_result(&want);
}

TEST_WITH(a_rule_that_is_wrong_makes_no_store, make_folder, remove_folder)
{
    struct folder *f = *state;
    struct outcome o;
    char path[SUPPORT_PATH];
    put(f, "study.yaml", BASE "vary: { total_GBps: [ 1, 2 ] }\nkeep: { front: [ time_s, cost ] }\n");
    FAILS(run(&o, NULL, f, store_path(path, f, 0), &(struct way){ .threads = 1 }, e), ERR_RANGE,
          "study.yaml:4:26: keep.front[1] is \"cost\", expected a column of the rows");
    assert_int_equal(access(path, F_OK), -1);
}
