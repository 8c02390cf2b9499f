/* Studies with runs: the same rows, extra tables and counts whoever runs them and however often they are
 * stopped, killed, cut into shards or merged. One table of kinds, one of ways. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "kinds/gossip/gossip.h"
#include "kinds/hetero/hetero.h"
#include "kinds/place/place.h"
#include "study/campaign.h"
#include "tests/support.h"
#include "tests/unit/study_toy.h"

KEEPS(struct store, store_close)

/* ---- kinds ---- */

static const struct subject {
    const struct study_kind *kind;
    const char *study;
    int64_t units;
    const char *tables[STUDY_MAX_TABLES]; /* recorded besides rows */
} subjects[] = {
    { &toy_kind,
      "entries: 4\nseeds: 5\nseed: 3\nnap_us: 300\n"
      "vary:\n  x: [1, 2, 3, 7, 11]\n  broken: [0, 2]\n",
      50,
      { "steps", "first" } },
    { &toy_kind, "entries: 0\nseeds: 3\nvary: { x: [1, 2] }\n", 6, { "steps" } },
    { &toy_kind, "entries: 9\nnap_us: 2000\n", 1, { "steps", "first" } },
    { &toy_whole_kind,
      "entries: 4\nseeds: 5\nseed: 3\nnap_us: 300\nvary:\n  x: [1, 2, 3, 7, 11]\n  broken: [0, 2]\n",
      50,
      { "steps", "first" } },
    { &toy_kind,
      "entries: 4\nseeds: 3\nnap_us: 300\nwhere: [\"x >= 2\", \"twice <= 40\"]\n"
      "vary:\n  x: [1, 2, 3, 7, 11, 50]\n  broken: [0, 2]\n"
      "keep: { top: { by: \"max:mean\", n: 3 } }\n",
      36,
      { "steps" } },
    { &place_kind,
      "model: slots\nslots: 10\nracks: { servers: 6, total_gpus: 12 }\nseeds: 4\nschedulers: [gadget, drf, "
      "las]\n"
      "vary: { jobs.count: [3, 0, 8], model: [slots, batch] }\n",
      24,
      { "runs", "jobs", "places", "slots", "links" } },
    /* Rows that wait for those of another point: the last one, which fails with no jobs. */
    { &place_kind,
      "model: slots\nslots: 8\nservers: { gpu: 2 }\nserver: npu\nseeds: 5\nschedulers: [drf, las]\n"
      "baseline: { network: \"ring:6@1\" }\n"
      "vary: { network: [\"ring:4@1\", \"ring:5@1\", \"ring:6@1\"], jobs.count: [3, 0, 8] }\n",
      45,
      { "runs", "jobs" } },
    { &place_kind,
      "model: slots\nslots: 8\nservers: { gpu: 2 }\nserver: npu\nseeds: 40\nschedulers: [drf, las]\n"
      "resolve_pct: 9\n"
      "vary: { network: [\"ring:4@1\", \"ring:5@1\", \"ring:6@1\"], jobs.count: [3, 0, 8] }\n",
      360,
      { "runs", "jobs" } },
    { &hetero_kind,
      "model: ctrdnn\ndraw: { types: 2, seed: 101 }\nthroughput: { share: 0.5, of: best }\n"
      "job: { examples_M: 1000 }\nevaluations: 100\nschedulers: [oracle, greedy, random, genetic]\n"
      "seeds: 3\nseed: 101\nvary: { throughput.of: [best, gpu-only] }\n",
      6,
      { "runs", "plans", "stages", "curves" } },
    { &gossip_kind,
      "network: \"full:4@0.006\"\nlearner: { hidden: 8, batch: 16, epochs: 1 }\n"
      "data: { train: 200, test: 50, features: 8, classes: 3, hidden: 8 }\n"
      "clock: { step_ms: 10, jitter: 0.1, stale: false }\n"
      "methods: [ { method: pair, period: [1, 4] }, { method: eventgrad } ]\n"
      "seeds: 3\nvary: { shards: [iid, label-skew] }\n",
      6,
      { "runs", "curves", "links" } },
};

/* A study in a folder, the path of a store beside it, and all its tables as one thread makes them. */
struct trial {
    const struct subject *subject;
    char dir[SUPPORT_PATH], study[SUPPORT_PATH], store[SUPPORT_PATH];
    struct text want;
};

/* ---- a run ---- */

struct way {
    int32_t threads, shard, n_shards;
    int stop_after; /* calls of progress; 0: never */
};

struct context {
    int calls, stop_after;
};

static bool stop_after(void *context, const struct campaign_state *state)
{
    struct context *x = context;
    (void)state;
    return !x->stop_after || ++x->calls < x->stop_after;
}

static void put_table(struct text *out, const struct table *t, const char *word)
{
    text_printf(out, "== %s\n", word);
    MUST(table_write(t, TABLE_AS_CSV, NULL, out, e));
}

/* How long a scheduler took differs from run to run; exports leave it out. */
static void drop_timing(struct table *t)
{
    bool keep[64];
    assert_in_range(t->n_cols, 1, COUNT_OF(keep));
    for (int32_t i = 0; i < t->n_cols; i++)
        keep[i] = strcmp(t->names[i], "schedule_s") != 0;
    table_keep_columns(t, keep);
}

/* All that a store has, as exports have it. */
static void put_all(struct text *out, struct store *s, const struct subject *x)
{
    struct table rows = { 0 };
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    MUST(store_next(s, &walk, INT64_MAX, &rows, e));
    put_table(out, &rows, "rows");
    table_free(&rows);
    for (int i = 0; x->tables[i]; i++) {
        MUST(study_read_table(&rows, s, x->kind, x->tables[i], e));
        put_table(out, &rows, x->tables[i]);
        table_free(&rows);
    }
    for (int32_t t = STORE_RUNS; t <= STORE_POINTS; t++) {
        walk = store_walk_all(t, true);
        MUST(store_next(s, &walk, INT64_MAX, &rows, e));
        drop_timing(&rows);
        put_table(out, &rows, t == STORE_RUNS ? "outcomes" : "points");
        table_free(&rows);
    }
    const struct sweep_counts n = store_counts_of(s);
    text_printf(out, "== %d of %d points, %d failed, complete %d\n", (int)n.seen,
                (int)store_head_of(s)->n_points, (int)n.failed, store_is_complete(s));
}

static int run(struct text *out, const struct trial *f, const char *store, const struct way *way,
               struct err *e)
{
    const struct subject *x = f->subject;
    KEEP(struct study, s, study_close);
    KEEP(struct campaign, c, campaign_close);
    struct context context = { .stop_after = way->stop_after };
    const struct study_ask open = { .from = { .path = f->study }, .kind = x->kind };
    assert_ok(study_open(&s, &open, e), e);
    for (int32_t t = TABLE_RUNS; t < x->kind->n_tables; t++)
        for (int i = 0; x->tables[i]; i++)
            if (strcmp(x->kind->tables[t].word, x->tables[i]) == 0)
                s.wanted |= UINT32_C(1) << t;
    const struct campaign_ask ask = { .study = &s,
                                      .store = store,
                                      .shard = way->n_shards ? way->shard : 1,
                                      .n_shards = way->n_shards ? way->n_shards : 1,
                                      .threads = way->threads,
                                      .command = "weft toy",
                                      .version = "1",
                                      .progress = stop_after,
                                      .context = &context };
    int rc = campaign_open(&c, &ask, e);
    if (!rc)
        rc = campaign_run(&c, e);
    /* Points of which all runs are here. */
    if (!rc && !way->stop_after)
        assert_int_equal(c.state.done.seen, c.state.n_points);
    if (!rc && out)
        put_all(out, c.store, x);
    return rc;
}

static void take_store(struct text *out, const char *path, const struct subject *x)
{
    KEEP(struct store *, s, store_close_at);
    MUST(store_read(&s, path, e));
    put_all(out, s, x);
}

/* The first line that differs says more than both texts. */
static void assert_same(const struct text *got, const struct text *want)
{
    const char *a = text_str(got), *b = text_str(want);
    while (*a && *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        if (n != m || memcmp(a, b, n) != 0) {
            print_error("%.*s\nneed\n%.*s\n", (int)n, a, (int)m, b);
            fail();
        }
        a += n + (a[n] != '\0');
        b += m + (b[m] != '\0');
    }
    assert_true(!*a && !*b);
}

static void trial_begin(struct trial *f, const struct subject *x)
{
    *f = (struct trial){ .subject = x };
    scratch_make(f->dir);
    scratch_file(f->study, f->dir, "study.yaml", x->study, strlen(x->study));
    scratch_path(f->store, f->dir, "rows.db");
}

static void trial_end(struct trial *f)
{
    text_free(&f->want);
    scratch_remove(f->dir);
}

#define TRIAL(f, subject)                                                                                    \
    KEEP(struct trial, f, trial_end);                                                                        \
    trial_begin(&f, subject);                                                                                \
    OK(run(&f.want, &f, NULL, &(struct way){ .threads = 1 }, e))

/* The store has what one thread made. */
static void assert_store(const struct trial *f, const char *path)
{
    KEEP(struct text, got, text_free) = { 0 };
    take_store(&got, path, f->subject);
    assert_same(&got, &f->want);
}

/* ---- ways ---- */

TEST(any_number_of_threads_gives_the_same_tables)
{
    for (size_t i = 0; i < COUNT_OF(subjects); i++) {
        TRIAL(f, &subjects[i]);
        for (int32_t threads = 2; threads <= 16; threads *= 2) {
            KEEP(struct text, got, text_free) = { 0 };
            toy_alive = (struct toy_alive){ 0 };
            OK(run(&got, &f, NULL, &(struct way){ .threads = threads }, e));
            assert_same(&got, &f.want);
            assert_true(toy_alive.seeds == 0 && toy_alive.points == 0);
            assert_in_range(toy_alive.most_seeds, 0, threads);
            assert_in_range(toy_alive.most_points, 0, threads + 1);
        }
    }
}

TEST(a_study_that_is_stopped_again_and_again_comes_to_the_same)
{
    for (size_t i = 0; i < COUNT_OF(subjects); i++) {
        TRIAL(f, &subjects[i]);
        for (int k = 0; k < 5; k++)
            OK(run(NULL, &f, f.store, &(struct way){ .threads = 1 + k % 3, .stop_after = 1 }, e));
        OK(run(NULL, &f, f.store, &(struct way){ .threads = 2 }, e));
        assert_store(&f, f.store);
    }
}

/* A run that is there is not run again: kills lose what is under way, not a point or a seed. */
TEST(a_study_that_is_killed_goes_on)
{
    for (size_t i = 0; i < COUNT_OF(subjects); i++) {
        TRIAL(f, &subjects[i]);
        for (int k = 0; k < 10; k++) {
            fflush(NULL);
            pid_t child = fork();
            if (child == 0) {
                run(NULL, &f, f.store, &(struct way){ .threads = 1 }, e);
                _exit(0);
            }
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 + 4000000 * k }, NULL);
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        OK(run(NULL, &f, f.store, &(struct way){ .threads = 3 }, e));
        assert_store(&f, f.store);
    }
}

/* Cuts go through points: their rows are there when all shards are. */
TEST(shards_merge_to_the_undivided_study)
{
    for (size_t i = 0; i < COUNT_OF(subjects); i++)
        for (int32_t n = 2; n <= 7; n += 5) {
            char paths[7][SUPPORT_PATH], out[SUPPORT_PATH];
            const char *list[7];
            if (strstr(subjects[i].study, "resolve_pct"))
                continue; /* refused, below */
            TRIAL(f, &subjects[i]);
            for (int32_t k = 0; k < n; k++) {
                char name[16];
                snprintf(name, sizeof name, "s%d.db", (int)k);
                list[k] = scratch_path(paths[k], f.dir, name);
                OK(run(NULL, &f, list[k], &(struct way){ .threads = 2, .shard = k + 1, .n_shards = n }, e));
            }
            scratch_path(out, f.dir, "all.db");
            OK(store_merge(out, list, n, study_reduce_store, (void *)subjects[i].kind, e));
            assert_store(&f, out);
        }
}

/* Which seeds are needed depends on points that the shard does not have. */
TEST(a_shard_of_a_study_that_adds_seeds_is_refused)
{
    KEEP(struct trial, f, trial_end);
    const struct subject *x = &subjects[0];
    while (!strstr(x->study, "resolve_pct"))
        x++;
    trial_begin(&f, x);
    FAILS(run(NULL, &f, f.store, &(struct way){ .threads = 1, .shard = 1, .n_shards = 2 }, e), ERR_RANGE,
          "resolve_pct looks at all points after each round of seeds, a shard has some");
}

/* Of x = 2, 3, 7 and 11, broken or not, the three rows of greatest mean; which these are, by hand. */
TEST(where_and_keep_choose_points_and_rows)
{
    KEEP(struct trial, f, trial_end);
    KEEP(struct study, s, study_close);
    KEEP(struct campaign, c, campaign_close);
    KEEP(struct table, all, table_free) = { 0 };
    KEEP(struct table, kept, table_free) = { 0 };
    const struct subject *x = &subjects[4];
    trial_begin(&f, x);
    const struct study_ask open = { .from = { .path = f.study }, .kind = x->kind };
    OK(study_open(&s, &open, e));
    OK(campaign_rows(&all, &s, 2, e));
    int32_t mean = table_find(&all, "mean"), axis = table_find(&all, "x");
    assert_int_equal(all.n_rows, 4 * (4 + 1)); /* four entries, or the error of a broken one */
    for (int64_t row = 0; row < all.n_rows; row++)
        assert_in_range(strtol(table_cell(&all, row, axis)->text, NULL, 10), 2, 11);
    const struct campaign_ask ask = {
        .study = &s, .shard = 1, .n_shards = 1, .threads = 2, .command = "", .version = "1"
    };
    OK(campaign_open(&c, &ask, e));
    OK(campaign_run(&c, e));
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    OK(store_next(c.store, &walk, INT64_MAX, &kept, e));
    assert_true(kept.n_rows == 3 && c.state.done.filtered == 4);
    for (int64_t row = 0; row < kept.n_rows; row++) {
        double least = table_number(&kept, row, table_find(&kept, "mean"));
        int64_t above = 0;
        for (int64_t k = 0; k < all.n_rows; k++)
            above += table_number(&all, k, mean) > least;
        assert_in_range(above, 0, 2);
    }
}

/* Of 4 entries the first draws nothing: one run of it and 3 of each of 5 seeds; all 4 where a run is a whole
 * seed. */
TEST(what_draws_nothing_runs_once)
{
    static const char text[] = "entries: 4\nseeds: 5\nvary: { x: [1, 2] }\n";
    static const struct subject each = { &toy_kind, text, 10, { "steps" } },
                                whole = { &toy_whole_kind, text, 10, { "steps" } };
    CASES(const struct subject *x; int runs) = { { &each, 2 * (1 + 3 * 5) }, { &whole, 2 * 4 * 5 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct trial, f, trial_end);
        KEEP(struct store *, store, store_close_at);
        KEEP(struct table, rows, table_free) = { 0 };
        trial_begin(&f, cases[i].x);
        OK(run(NULL, &f, f.store, &(struct way){ .threads = 2 }, e));
        OK(store_read(&store, f.store, e));
        struct store_walk walk = store_walk_all(STORE_RUNS, true);
        OK(store_next(store, &walk, INT64_MAX, &rows, e));
        assert_int_equal(rows.n_rows, cases[i].runs);
    }
}

TEST(a_store_with_other_tables_is_refused)
{
    KEEP(struct trial, f, trial_end);
    struct subject fewer = subjects[0];
    trial_begin(&f, &subjects[0]);
    OK(run(NULL, &f, f.store, &(struct way){ .threads = 1 }, e));
    fewer.tables[1] = NULL;
    f.subject = &fewer;
    FAILS(run(NULL, &f, f.store, &(struct way){ .threads = 1 }, e), ERR_PARSE,
          "has table first, expected none as this run does not record it");
}

/* Each column by its kind, and their number: of a table that another version wrote nothing is shown. */
TEST(a_store_with_other_columns_is_refused)
{
    KEEP(struct trial, f, trial_end);
    KEEP(struct store *, store, store_close_at);
    trial_begin(&f, &subjects[0]);
    OK(run(NULL, &f, f.store, &(struct way){ .threads = 1 }, e));
    OK(store_read(&store, f.store, e));
    struct table_def tables[STUDY_MAX_TABLES];
    struct study_kind other = toy_kind;
    memcpy(tables, toy_kind.tables, (size_t)toy_kind.n_tables * sizeof *tables);
    other.tables = tables;
    const struct column *of = tables[TABLE_RUNS].columns;
    struct column columns[16];
    int32_t n = 0;
    while (of[n].name)
        n++;
    assert_in_range(n, 2, COUNT_OF(columns) - 1);
    for (int32_t k = -1; k <= n; k++) {
        struct table t = { 0 };
        memcpy(columns, of, (size_t)(n + 1) * sizeof *columns);
        if (k == n)
            columns[n - 1] = (struct column)COLUMNS_END;
        else if (k >= 0)
            columns[k].kind = columns[k].kind == TABLE_REAL ? TABLE_COUNT : TABLE_REAL;
        tables[TABLE_RUNS].columns = columns;
        int rc = study_read_table(&t, store, &other, "steps", e);
        table_free(&t);
        if (k < 0)
            assert_ok(rc, e);
        else
            assert_fails(rc, e, ERR_PARSE, "table steps has other columns than this version");
    }
    struct table t = { 0 };
    FAILS(study_read_table(&t, store, &toy_whole_kind, "steps", e), ERR_PARSE,
          "is of a study of kind toy, expected toys");
    FAILS(study_read_table(&t, store, &toy_kind, "results", e), ERR_PARSE, "has no table results");
    FAILS(study_read_table(&t, store, &toy_kind, "nosuch", e), ERR_PARSE, "has no table nosuch");
}
