/* Shards merged to the rows of an undivided run, or refused with both names. */
#include "base/outfile.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/table_cells.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

KEEPS(struct store, store_close)

enum { UNITS = 60, FEW = 36000 };

struct scratch {
    char dir[SUPPORT_PATH], out[SUPPORT_PATH], shards[4][SUPPORT_PATH];
    const char *paths[4];
};

static int make_scratch(void **state)
{
    struct scratch *s = calloc(1, sizeof *s);
    assert_non_null(s);
    scratch_make(s->dir);
    scratch_path(s->out, s->dir, "out.db");
    for (int i = 0; i < 4; i++) {
        char name[16], dir[SUPPORT_PATH];
        /* A copy: gcc takes two arrays of one object for overlapping. */
        memcpy(dir, s->dir, sizeof dir);
        snprintf(name, sizeof name, "s%d.db", i + 1);
        s->paths[i] = scratch_path(s->shards[i], dir, name);
    }
    *state = s;
    return 0;
}

static int remove_scratch(void **state)
{
    struct scratch *s = *state;
    scratch_remove(s->dir);
    free(s);
    return 0;
}

/* Units first, first + step, .. as shard `shard` of `n_shards`; `version` of the rows' values. */
static void make_shard(const char *path, int64_t first, int64_t step, int32_t shard, int32_t n_shards,
                       int version)
{
    struct store_head head = stored_head(UNITS);
    KEEP(struct store *, s, store_close_at);
    KEEP(struct spans, done, spans_free);
    struct sweep_counts counts;
    KEEP(struct table, rows, table_free) = { 0 };
    head.shard = shard;
    head.n_shards = n_shards;
    stored_columns(&rows);
    MUST(stored_open(&s, path, &head, &rows, &done, &counts, e));
    for (int64_t u = first; u < UNITS; u += step) {
        for (int64_t i = 0; i < 10; i++)
            stored_put(&rows, u + i * UNITS, version, 6, true);
        MUST(spans_add(&done, u, 1, e));
        counts.seen += 12;
        counts.filtered += 2;
        counts.solved += 10;
    }
    MUST(store_put(s, STORE_RESULTS, &rows, e));
    MUST(store_commit(s, &done, &counts, e));
}

static void make_shards(const struct scratch *f)
{
    for (int i = 0; i < 4; i++)
        make_shard(f->paths[i], i, 4, i + 1, 4, 0);
}

static void csv_of(struct text *out, const char *path)
{
    KEEP(struct store *, s, store_close_at);
    KEEP(struct table, rows, table_free);
    MUST(store_read(&s, path, e));
    stored_read(&rows, s, 100);
    MUST(table_write(&rows, TABLE_AS_CSV, "", out, e));
}

static void assert_state(const char *path, int64_t n_done, bool want_complete)
{
    KEEP(struct store *, s, store_close_at);
    MUST(store_read(&s, path, e));
    const struct store_head *head = store_head_of(s);
    const struct sweep_counts counts = store_counts_of(s);
    assert_true(counts.seen == 12 * n_done && counts.filtered == 2 * n_done && counts.solved == 10 * n_done);
    assert_true(head->shard == 1 && head->n_shards == 1 && store_is_complete(s) == want_complete);
}

TEST_WITH(shards_together_have_the_rows_of_an_undivided_run, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    char whole[SUPPORT_PATH];
    KEEP(struct text, want, text_free) = { 0 };
    KEEP(struct text, got, text_free) = { 0 };
    make_shards(f);
    make_shard(scratch_path(whole, f->dir, "whole.db"), 0, 1, 1, 1, 0);
    const char *const turned[] = { f->paths[2], f->paths[0], f->paths[3], f->paths[1] };
    OK(store_merge(f->out, turned, 4, NULL, NULL, e));
    csv_of(&want, whole);
    csv_of(&got, f->out);
    assert_string_equal(text_str(&got), text_str(&want));
    assert_state(f->out, UNITS, true);
    assert_int_equal(scratch_count(f->dir), 6);
}

/* As ranks leave them that write apart: the first file says how many there are, each has its own units. */
static void make_apart(const struct scratch *f, struct text *names, int32_t n)
{
    struct store_head head = stored_head(UNITS);
    KEEP(struct store *, s, store_close_at);
    KEEP(struct spans, done, spans_free);
    KEEP(struct table, rows, table_free) = { 0 };
    struct sweep_counts counts;
    for (int32_t k = 0; k < n; k++) {
        store_beside(&names[k], f->out, k);
        make_shard(text_str(&names[k]), k, n, 1, 1, 0);
    }
    head.shard = head.n_shards = 1;
    stored_columns(&rows);
    MUST(stored_open(&s, f->out, &head, &rows, &done, &counts, e));
    MUST(store_set_files(s, n, e));
}

/* Read as one, or merged, they have the rows of an undivided run; where one is gone it is named. */
TEST_WITH(files_of_ranks_are_read_with_the_first, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    char whole[SUPPORT_PATH];
    KEEP(struct text, want, text_free) = { 0 };
    make_shard(scratch_path(whole, f->dir, "whole.db"), 0, 1, 1, 1, 0);
    csv_of(&want, whole);
    for (int32_t n = 2; n <= 4; n++) {
        struct text names[4] = { { 0 } };
        const char *const paths[] = { f->out };
        make_apart(f, names, n);
        for (int32_t lost = 0; lost < 2; lost++) {
            KEEP(struct store *, s, store_close_at);
            KEEP(struct table, rows, table_free);
            KEEP(struct text, got, text_free) = { 0 };
            OK(store_read_together(&s, paths, 1, e));
            stored_read(&rows, s, 100);
            OK(table_write(&rows, TABLE_AS_CSV, "", &got, e));
            assert_int_equal(store_n_parts(s), n - lost);
            assert_int_equal(store_is_complete(s), !lost);
            assert_int_equal(strcmp(text_str(&got), text_str(&want)) == 0, !lost);
            if (lost) {
                assert_string_equal(store_missing(s), text_str(&names[n - 1]));
                continue;
            }
            assert_null(store_missing(s));
            assert_int_equal(store_counts_of(s).seen, 12 * UNITS);
            assert_int_equal(remove(text_str(&names[n - 1])), 0);
        }
        for (int32_t k = 0; k < n; k++) {
            remove(text_str(&names[k]));
            text_free(&names[k]);
        }
    }
}

/* Rows of points first to first + FEW - 1, each better than the one before. */
static void make_top(const char *path, int64_t first, int32_t shard)
{
    struct store_head head = stored_head(2 * FEW);
    KEEP(struct store *, s, store_close_at);
    KEEP(struct spans, done, spans_free);
    KEEP(struct table, rows, table_free) = { 0 };
    struct sweep_counts counts;
    char rule[64];
    snprintf(rule, sizeof rule, "top: { by: time_s, n: %d }", FEW);
    head.keep = rule;
    head.shard = shard;
    head.n_shards = 2;
    put_columns(&rows, "point# workload$ time_s~");
    MUST(stored_open(&s, path, &head, &rows, &done, &counts, e));
    for (int64_t i = first; i < first + FEW; i++)
        put_cells(&rows, (int)i, "w", 1.0 / (double)(i + 1));
    MUST(spans_add(&done, first, FEW, e));
    MUST(store_put(s, STORE_RESULTS, &rows, e));
    MUST(store_commit(s, &done, &counts, e));
}

/* More rows than go by between two looks at which are the best so far: the first shard's are in the file when
 * the second's turn out to be better. */
TEST_WITH(rows_that_better_ones_of_a_later_shard_push_out_are_dropped_again, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    KEEP(struct store *, s, store_close_at);
    KEEP(struct table, rows, table_free);
    for (int i = 0; i < 2; i++)
        make_top(f->paths[i], i * FEW, i + 1);
    OK(store_merge(f->out, f->paths, 2, NULL, NULL, e));
    OK(store_read(&s, f->out, e));
    stored_read(&rows, s, 10000);
    assert_int_equal(rows.n_rows, FEW);
    for (int64_t i = 0; i < FEW; i++)
        assert_int_equal(table_count(&rows, i, 0), FEW + i);
}

/* What was merged is merged on, also into the file that it was read from. */
TEST_WITH(a_missing_shard_can_be_merged_later, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    KEEP(struct text, want, text_free) = { 0 };
    KEEP(struct text, got, text_free) = { 0 };
    make_shards(f);
    OK(store_merge(f->out, f->paths, 3, NULL, NULL, e));
    assert_state(f->out, 45, false);
    const char *const rest[] = { f->out, f->paths[3] };
    OK(store_merge(f->out, rest, 2, NULL, NULL, e));
    assert_state(f->out, UNITS, true);
    csv_of(&got, f->out);
    OK(store_merge(f->out, f->paths, 4, NULL, NULL, e));
    csv_of(&want, f->out);
    assert_string_equal(text_str(&got), text_str(&want));
}

static void copy_file(const char *from, const char *to)
{
    KEEP(struct text, bytes, text_free) = { 0 };
    MUST(text_read_file(&bytes, from, 1 << 26, e));
    MUST(outfile_write_text(&bytes, to, true, e));
}

/* As a writer that is killed leaves it: the second half of its units is in the log alone. */
static void make_hot(const char *path, const char *scratch)
{
    struct store_head head = stored_head(UNITS);
    KEEP(struct table, rows, table_free) = { 0 };
    KEEP(struct spans, done, spans_free);
    struct sweep_counts counts;
    struct store *s;
    char from[SUPPORT_PATH + 8], to[SUPPORT_PATH + 8];
    head.n_shards = 4;
    stored_columns(&rows);
    MUST(stored_open(&s, scratch, &head, &rows, &done, &counts, e));
    for (int64_t u = 0; u < UNITS; u += 4) {
        for (int64_t i = 0; i < 10; i++)
            stored_put(&rows, u + i * UNITS, 0, 6, true);
        MUST(spans_add(&done, u, 1, e));
        counts.seen += 12;
        counts.filtered += 2;
        counts.solved += 10;
    }
    MUST(store_put(s, STORE_RESULTS, &rows, e));
    MUST(store_commit(s, &done, &counts, e));
    copy_file(scratch, path);
    snprintf(from, sizeof from, "%s-wal", scratch);
    snprintf(to, sizeof to, "%s-wal", path);
    copy_file(from, to);
    store_close(s);
    assert_int_equal(remove(scratch), 0);
}

/* SQLite would play a log that is left beside a name back over whatever file has that name. */
TEST_WITH(the_log_of_a_killed_writer_is_not_played_over_the_merged_store, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    char whole[SUPPORT_PATH], log[SUPPORT_PATH + 8];
    KEEP(struct text, want, text_free) = { 0 };
    KEEP(struct text, got, text_free) = { 0 };
    make_shards(f);
    make_shard(scratch_path(whole, f->dir, "whole.db"), 0, 1, 1, 1, 0);
    csv_of(&want, whole);
    assert_int_equal(remove(f->paths[0]), 0);
    make_hot(f->paths[0], f->out);
    OK(store_merge(f->paths[0], f->paths, 4, NULL, NULL, e));
    csv_of(&got, f->paths[0]);
    assert_string_equal(text_str(&got), text_str(&want));
    assert_state(f->paths[0], UNITS, true);
    assert_int_equal(scratch_count(f->dir), 5);

    /* One that belongs to no store is not ours to delete. */
    snprintf(log, sizeof log, "%s-wal", f->out);
    copy_file(whole, log);
    FAILS(store_merge(f->out, f->paths + 1, 3, NULL, NULL, e), ERR_PARSE,
          "out.db-wal: is the log of a store that is gone; move it away first");
    assert_int_equal(access(f->out, F_OK), -1);
}

TEST_WITH(a_store_that_is_being_written_is_not_replaced, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    const struct store_head head = stored_head(UNITS);
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct spans, done, spans_free);
    struct sweep_counts counts;
    struct store *s;
    make_shards(f);
    stored_columns(&columns);
    OK(stored_open(&s, f->out, &head, &columns, &done, &counts, e));
    FAILS(store_merge(f->out, f->paths, 4, NULL, NULL, e), ERR_PARSE, "out.db: is being written by another");
    store_close(s);
    OK(store_merge(f->out, f->paths, 4, NULL, NULL, e));
    assert_state(f->out, UNITS, true);
}

/* Room for a part of the merged store, at every sixteenth of it. */
TEST_WITH(a_full_disk_leaves_the_store_that_was_there, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    KEEP(struct text, before, text_free) = { 0 };
    make_shards(f);
    OK(store_merge(f->out, f->paths, 4, NULL, NULL, e));
    OK(text_read_file(&before, f->out, 1 << 26, e));
    for (int k = 0; k < 16; k++) {
        const struct rlimit most = { .rlim_cur = before.n * (size_t)k / 16, .rlim_max = before.n };
        KEEP(struct text, after, text_free) = { 0 };
        int status;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            signal(SIGXFSZ, SIG_IGN);
            if (setrlimit(RLIMIT_FSIZE, &most) != 0)
                _exit(10);
            int rc = store_merge(f->out, f->paths, 4, NULL, NULL, e);
            _exit(rc == ERR_IO && strstr(e->msg, "out.db: disk is") ? 0 : 11);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        OK(text_read_file(&after, f->out, 1 << 26, e));
        assert_true(after.n == before.n && memcmp(after.s, before.s, after.n) == 0);
        assert_int_equal(scratch_count(f->dir), 5);
    }
}

TEST_WITH(what_does_not_go_together_is_refused_and_leaves_nothing, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    make_shards(f);
    const char *const twice[] = { f->paths[1], f->paths[0], f->paths[1] };
    FAILS(store_merge(f->out, twice, 3, NULL, NULL, e), ERR_PARSE, "s2.db: has units of the sweep (1) that ");
    assert_has(e->msg, "s2.db has too; give each shard once");
    assert_int_equal(remove(f->paths[1]), 0);
    make_shard(f->paths[1], 2, 4, 2, 4, 0); /* the third one's units */
    FAILS(store_merge(f->out, f->paths, 4, NULL, NULL, e), ERR_PARSE,
          "s3.db: has units of the sweep (2) that ");
    assert_int_equal(remove(f->paths[1]), 0);
    const char *const missing[] = { f->paths[0], f->paths[1] };
    FAILS(store_merge(f->out, missing, 2, NULL, NULL, e), ERR_PARSE, "/s2.db: no such store");
    scratch_file(f->shards[1], f->dir, "s2.db", "point\n1\n", 8);
    FAILS(store_merge(f->out, missing, 2, NULL, NULL, e), ERR_PARSE, "/s2.db: is not a store");
    assert_int_equal(scratch_count(f->dir), 4);
}

/* Shards that were cut otherwise may have rows of one point: only if these are equal. */
TEST_WITH(rows_of_one_point_have_to_be_equal, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    KEEP(struct text, want, text_free) = { 0 };
    KEEP(struct text, got, text_free) = { 0 };
    for (int version = 0; version < 2; version++) {
        struct store_head head = stored_head(UNITS);
        struct store *s;
        struct spans done;
        struct sweep_counts counts;
        KEEP(struct table, rows, table_free) = { 0 };
        make_shard(f->paths[0], 0, 4, 1, 4, 0);
        head.shard = 2;
        head.n_shards = 4;
        stored_columns(&rows);
        OK(stored_open(&s, f->paths[1], &head, &rows, &done, &counts, e));
        stored_put(&rows, 4, version, 6, true);
        OK(store_put(s, STORE_RESULTS, &rows, e));
        OK(store_commit(s, &done, &counts, e));
        store_close(s);
        if (version == 0) {
            OK(store_merge(f->out, f->paths, 2, NULL, NULL, e));
            csv_of(&want, f->paths[0]);
            csv_of(&got, f->out);
            assert_string_equal(text_str(&got), text_str(&want));
        } else {
            FAILS(store_merge(f->out, f->paths, 2, NULL, NULL, e), ERR_PARSE,
                  "s2.db: has another row of point 4 than ");
            assert_state(f->out, 15, false); /* as it was */
        }
        assert_int_equal(remove(f->paths[0]), 0);
        assert_int_equal(remove(f->paths[1]), 0);
    }
}

static bool is_none(const struct table *t, int32_t col)
{
    const struct table_cell *c = table_cell(t, 0, col);
    return t->kinds[col] == TABLE_TEXT    ? !c->text
           : t->kinds[col] == TABLE_COUNT ? c->count == INT64_MIN
                                          : !isfinite(c->real);
}

/* A shard with the row of point 4 alone, whose cell @p other is blank if it was not, and 0 if it was (-1: as
 * it was). */
static void make_row(const char *path, int32_t shard, int32_t other)
{
    struct store_head head = stored_head(UNITS);
    KEEP(struct store *, s, store_close_at);
    KEEP(struct spans, done, spans_free);
    struct sweep_counts counts;
    KEEP(struct table, from, table_free) = { 0 };
    KEEP(struct table, rows, table_free) = { 0 };
    head.shard = shard;
    head.n_shards = 4;
    stored_columns(&from);
    stored_columns(&rows);
    stored_put(&from, 4, 0, 6, true);
    table_row(&rows);
    for (int32_t col = 0; col < from.n_cols; col++) {
        if (col != other)
            table_put_cell(&rows, &from, 0, col);
        else if (!is_none(&from, col))
            table_put_none(&rows);
        else if (from.kinds[col] == TABLE_TEXT)
            table_put_text(&rows, "0");
        else if (from.kinds[col] == TABLE_REAL)
            table_put_real(&rows, 0);
        else
            table_put_count(&rows, 0);
    }
    MUST(stored_open(&s, path, &head, &rows, &done, &counts, e));
    MUST(store_put(s, STORE_RESULTS, &rows, e));
    MUST(store_commit(s, &done, &counts, e));
}

/* Of each kind of column the first that is blank in the row, and the first that is not. */
TEST_WITH(a_blank_is_neither_0_nor_any_other_value, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    bool tried[TABLE_COUNT + 1][2] = { { false } };
    int n_tried = 0;
    KEEP(struct table, row, table_free) = { 0 };
    stored_columns(&row);
    stored_put(&row, 4, 0, 6, true);
    make_row(f->paths[0], 1, -1);
    make_row(f->paths[1], 2, -1);
    OK(store_merge(f->out, f->paths, 2, NULL, NULL, e));
    assert_int_equal(remove(f->paths[1]), 0);
    for (int32_t col = table_find(&row, "point") + 1; col < row.n_cols; col++) {
        bool *twice = &tried[row.kinds[col]][is_none(&row, col)];
        if (*twice)
            continue;
        *twice = true;
        n_tried++;
        make_row(f->paths[1], 2, col);
        FAILS(store_merge(f->out, f->paths, 2, NULL, NULL, e), ERR_PARSE,
              "s2.db: has another row of point 4 than ");
        assert_int_equal(remove(f->paths[1]), 0);
    }
    assert_int_equal(n_tried, 6);
}

TEST_WITH(a_store_of_another_sweep_is_told_with_both_names, make_scratch, remove_scratch)
{
    struct scratch *f = *state;
    struct store_head head = stored_head(UNITS);
    struct store *s;
    struct spans done;
    struct sweep_counts counts;
    KEEP(struct table, columns, table_free) = { 0 };
    make_shard(f->paths[0], 0, 2, 1, 2, 0);
    head.study_hash = 42;
    stored_columns(&columns);
    OK(stored_open(&s, f->paths[1], &head, &columns, &done, &counts, e));
    store_close(s);
    FAILS(store_merge(f->out, f->paths, 2, NULL, NULL, e), ERR_PARSE,
          "s2.db: is of a study with hash 000000000000002a, expected 0123456789abcdef");
    assert_has(e->msg, "s1.db");
}
