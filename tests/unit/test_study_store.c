/* Stores: rows come back bit for bit, also by SQL; one writes and others read what is committed. */
#include "tests/unit/folder.h"
#include "tests/unit/store_fixture.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "kinds/design/explore/runner.h"

KEEPS(struct store, store_close)
KEEPS(sqlite3, sqlite3_close)

FOLDER_FOR("rows.db")

static int open_with(struct store **out, const char *path, const struct store_head *head, struct spans *done,
                     struct sweep_counts *counts, struct err *e)
{
    KEEP(struct table, columns, table_free) = { 0 };
    stored_columns(&columns);
    return stored_open(out, path, head, &columns, done, counts, e);
}

/* A store of 40 units, the first n_done of which are in it. */
static struct store *open_new(const char *path, int64_t n_done)
{
    const struct store_head head = stored_head(40);
    struct store *s;
    KEEP(struct spans, done, spans_free);
    struct sweep_counts counts;
    KEEP(struct table, rows, table_free) = { 0 };
    MUST(open_with(&s, path, &head, &done, &counts, e));
    assert_true(done.n == 0 && counts.seen == 0);
    stored_columns(&rows);
    for (int64_t u = 0; u < n_done; u++)
        stored_put_unit(&rows, u, 40);
    MUST(store_put(s, STORE_RESULTS, &rows, e));
    MUST(n_done ? spans_add(&done, 0, n_done, e) : 0);
    counts = (struct sweep_counts){ .seen = 10 * n_done, .solved = 10 * n_done };
    MUST(store_commit(s, &done, &counts, e));
    return s;
}

static void make_store(const char *path, int64_t n_done)
{
    store_close(open_new(path, n_done));
}

/* ---- rows ---- */

TEST_WITH(rows_come_back_bit_for_bit_in_order_of_points, make_folder, remove_folder)
{
    struct folder *f = *state;
    struct table got;
    KEEP(struct table, want, table_free) = { 0 };
    stored_all(&want, 40);
    for (int way = 0; way < 3; way++) {
        /* Read where it was written, after it was opened again, and from a store without a name. */
        struct store *s = open_new(way == 2 ? NULL : f->path, 40);
        if (way == 1) {
            store_close(s);
            OK(store_read(&s, f->path, e));
        }
        stored_read(&got, s, way == 0 ? 7 : 1000);
        assert_same_rows(&got, &want);
        table_free(&got);
        store_close(s);
        assert_true(way == 2 || remove(f->path) == 0);
    }
}

TEST_WITH(a_store_written_as_csv_is_what_the_trimmed_table_is, make_folder, remove_folder)
{
    struct folder *f = *state;
    /* Widest network, whether any trains: 1 dimension alone, and as wide as any. */
    for (int way = 0; way < 6; way++) {
        const struct store_head head = stored_head(40);
        struct store *s;
        struct spans done;
        struct sweep_counts counts;
        KEEP(struct table, rows, table_free) = { 0 };
        KEEP(struct table, got, table_free);
        KEEP(struct text, want_csv, text_free) = { 0 };
        KEEP(struct text, got_csv, text_free) = { 0 };
        stored_columns(&rows);
        for (int64_t point = 0; point < 50; point++)
            stored_put(&rows, point, 0, way < 2 ? 1 : way < 4 ? 5 : 8, way % 2);
        OK(open_with(&s, f->path, &head, &done, &counts, e));
        OK(store_put(s, STORE_RESULTS, &rows, e));
        stored_read(&got, s, 16);
        OK(study_trim(&rows, design_kind.tables[TABLE_ROWS].columns, e));
        OK(table_write(&rows, TABLE_AS_CSV, "a=b\n", &want_csv, e));
        OK(table_write(&got, TABLE_AS_CSV, "a=b\n", &got_csv, e));
        assert_string_equal(text_str(&got_csv), text_str(&want_csv));
        store_close(s);
        assert_int_equal(remove(f->path), 0);
    }
}

TEST_WITH(a_row_put_again_takes_the_place_of_the_first, make_folder, remove_folder)
{
    struct folder *f = *state;
    KEEP(struct store *, s, store_close_at) = open_new(f->path, 0);
    KEEP(struct table, got, table_free);
    KEEP(struct table, first, table_free) = { 0 };
    KEEP(struct table, second, table_free) = { 0 };
    stored_columns(&first);
    stored_columns(&second);
    for (int64_t point = 0; point < 30; point++) {
        stored_put(&first, point, 0, 8, true);
        stored_put(&second, point, 1, point % 2 ? 8 : 2, false);
    }
    OK(store_put(s, STORE_RESULTS, &first, e));
    OK(store_put(s, STORE_RESULTS, &second, e));
    stored_read(&got, s, 100);
    /* Nothing of the first stays where the second is blank: no row has a plan. */
    assert_int_equal(table_find(&got, "plan"), -1);
    OK(study_trim(&second, design_kind.tables[TABLE_ROWS].columns, e));
    assert_same_rows(&got, &second);
}

TEST_WITH(a_dropped_row_is_gone_with_all_its_parts, make_folder, remove_folder)
{
    struct folder *f = *state;
    KEEP(struct store *, s, store_close_at) = open_new(f->path, 4);
    KEEP(struct table, got, table_free);
    for (int64_t point = 0; point < 400; point++)
        if (point != 41)
            OK(store_drop(s, point, e));
    stored_read(&got, s, 100);
    assert_true(got.n_rows == 1 && table_cell(&got, 0, 0)->count == 41);
    assert_int_equal(table_find(&got, "plan"), -1); /* of the others alone */
}

/* More than are kept apart from the rows, of which some look like numbers and must not become others. */
TEST_WITH(texts_stay_as_they_are_however_many_there_are, make_folder, remove_folder)
{
    struct folder *f = *state;
    static const char *const forms[] = { "%d", "%d.5", "%d.50", "%de2", "-%d", "text %d", "0%d", "%d " };
    const struct store_head head = stored_head(40);
    KEEP(struct table, got, table_free);
    KEEP(struct table, columns, table_free) = { 0 };
    KEEP(struct store *, s, store_close_at);
    struct spans done;
    struct sweep_counts counts;
    table_column(&columns, "point", TABLE_COUNT);
    table_column(&columns, "x", TABLE_TEXT);
    OK(stored_open(&s, f->path, &head, &columns, &done, &counts, e));
    for (int i = 0; i < 20000; i++) {
        char text[32];
        snprintf(text, sizeof text, forms[i % (int)COUNT_OF(forms)], i);
        table_row(&columns);
        table_put_count(&columns, i);
        table_put_text(&columns, text);
    }
    OK(store_put(s, STORE_RESULTS, &columns, e));
    OK(store_put(s, STORE_RESULTS, &columns, e));
    stored_read(&got, s, 5000);
    assert_same_rows(&got, &columns);
}

/* ---- SQL ---- */

static void assert_query(const char *path, const char *sql, const char *want)
{
    KEEP(sqlite3 *, db, sqlite3_close_at);
    sqlite3_stmt *get;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &get, NULL) != SQLITE_OK) {
        print_error("%s: %s\n", sql, sqlite3_errmsg(db));
        fail();
    }
    assert_int_equal(sqlite3_step(get), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(get, 0), want);
    sqlite3_finalize(get);
}

TEST_WITH(the_view_has_the_columns_and_values_of_the_rows, make_folder, remove_folder)
{
    struct folder *f = *state;
    KEEP(struct table, want, table_free) = { 0 };
    KEEP(sqlite3 *, db, sqlite3_close_at);
    sqlite3_stmt *get;
    stored_all(&want, 40);
    make_store(f->path, 40);
    assert_int_equal(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM results ORDER BY point", -1, &get, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_column_count(get), want.n_cols);
    for (int64_t row = 0; sqlite3_step(get) == SQLITE_ROW; row++)
        for (int32_t col = 0; col < want.n_cols; col++) {
            const struct table_cell *c = table_cell(&want, row, col);
            bool text = want.kinds[col] == TABLE_TEXT;
            if (row == 0 && col != 2) /* 2 is 1 in capitals, which SQLite tells from it by a number behind */
                assert_string_equal(sqlite3_column_name(get, col), want.names[col]);
            if (text ? !c->text : want.kinds[col] == TABLE_REAL ? !isfinite(c->real) : c->count == INT64_MIN)
                assert_int_equal(sqlite3_column_type(get, col), SQLITE_NULL);
            else if (want.kinds[col] == TABLE_REAL)
                assert_true(sqlite3_column_double(get, col) == c->real);
            else if (want.kinds[col] == TABLE_COUNT)
                assert_int_equal(sqlite3_column_int64(get, col), c->count);
            else if (sqlite3_column_type(get, col) == SQLITE_TEXT)
                assert_string_equal((const char *)sqlite3_column_text(get, col), c->text);
            else
                assert_true(sqlite3_column_double(get, col) == strtod(c->text, NULL));
        }
    sqlite3_finalize(get);
}

TEST_WITH(values_of_keys_compare_as_numbers, make_folder, remove_folder)
{
    struct folder *f = *state;
    static const char *const values[] = { "100", "20", "3.5", "ring:4" };
    struct store *s = open_new(f->path, 0);
    KEEP(struct table, rows, table_free) = { 0 };
    struct spans none = { 0 };
    struct sweep_counts counts = { .seen = 4, .solved = 4 };
    stored_columns(&rows);
    for (int i = 0; i < 4; i++) {
        table_row(&rows);
        table_put_count(&rows, i);
        table_put_text(&rows, values[i]);
        while (rows.col < rows.n_cols)
            table_put_none(&rows);
    }
    OK(store_put(s, STORE_RESULTS, &rows, e));
    OK(store_commit(s, &none, &counts, e));
    store_close(s);
    assert_query(f->path, "SELECT group_concat(point) FROM results WHERE \"network.dims.pod.max_GBps\" < 50",
                 "1,2");
    assert_query(f->path, "SELECT sum(point) FROM results WHERE \"network.dims.pod.max_GBps\" = 'ring:4'",
                 "3");
}

TEST_WITH(the_table_weft_says_what_the_store_is_of, make_folder, remove_folder)
{
    struct folder *f = *state;
    make_store(f->path, 39);
    assert_query(f->path, "SELECT value FROM weft WHERE key = 'study_hash'", "0123456789abcdef");
    assert_query(f->path, "SELECT value FROM weft WHERE key = 'command'", "weft sweep 'it''s.yaml'");
    assert_query(f->path, "SELECT value FROM weft WHERE key = 'solved'", "390");
    assert_query(f->path, "SELECT value FROM weft WHERE key = 'state'", "incomplete");
    assert_query(f->path, "SELECT first || '+' || n FROM done", "0+39");
    assert_query(f->path, "PRAGMA application_id", "2003134068"); /* "weft" */
    assert_query(f->path, "PRAGMA user_version", "3");
    assert_query(f->path, "SELECT n FROM checks WHERE name = 'points'", "390");
    assert_query(f->path, "PRAGMA integrity_check", "ok");
    assert_int_equal(scratch_count(f->dir), 1); /* no log, no index of it beside */
}

/* ---- opened again ---- */

TEST_WITH(a_store_goes_on_from_its_last_commit, make_folder, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(40);
    struct store *s = open_new(f->path, 10);
    struct table rows = { 0 }, got;
    KEEP(struct spans, done, spans_free);
    struct sweep_counts counts;
    stored_columns(&rows);
    stored_put_unit(&rows, 20, 40);
    OK(store_put(s, STORE_RESULTS, &rows, e)); /* without a commit */
    store_close(s);
    OK(open_with(&s, f->path, &head, &done, &counts, e));
    assert_true(done.n == 1 && done.spans[0].n == 10 && counts.seen == 100);
    assert_false(store_is_complete(s));
    assert_string_equal(store_head_of(s)->study, head.study);
    assert_true(store_head_of(s)->seed == 7 && store_counts_of(s).solved == 100);
    stored_read(&got, s, 1000);
    assert_int_equal(got.n_rows, 100);
    table_free(&got);
    table_clear(&rows);
    for (int64_t u = 10; u < 40; u++)
        stored_put_unit(&rows, u, 40);
    OK(store_put(s, STORE_RESULTS, &rows, e));
    OK(spans_add(&done, 10, 30, e));
    OK(store_commit(s, &done, &counts, e));
    store_close(s);
    OK(store_read(&s, f->path, e));
    assert_true(store_is_complete(s));
    table_free(&rows);
    stored_all(&rows, 40);
    stored_read(&got, s, 1000);
    assert_same_rows(&got, &rows);
    store_close(s);
    table_free(&got);
    table_free(&rows);
}

/* Against a plain array, whatever the order in which units end. */
TEST_WITH(spans_that_are_committed_come_back, make_folder, remove_folder)
{
    struct folder *f = *state;
    enum { UNITS = 300 };
    const struct store_head head = stored_head(UNITS);
    bool is_done[UNITS] = { false };
    struct store *s;
    struct spans done;
    struct sweep_counts counts;
    OK(open_with(&s, f->path, &head, &done, &counts, e));
    uint32_t x = 1;
    for (int round = 0; round < 100; round++) {
        for (int k = 0; k < 3; k++) {
            x = x * 1664525 + 1013904223;
            int32_t u = (int32_t)(x >> 8) % UNITS;
            is_done[u] = true;
            OK(spans_add(&done, u, 1, e));
        }
        counts.seen++;
        OK(store_commit(s, &done, &counts, e));
        if (round % 10)
            continue;
        store_close(s);
        spans_free(&done);
        OK(open_with(&s, f->path, &head, &done, &counts, e));
        for (int u = 0; u < UNITS; u++)
            assert_int_equal(spans_have(&done, u), is_done[u]);
        assert_int_equal(counts.seen, round + 1);
    }
    store_close(s);
    spans_free(&done);
}

/* Whichever of them changes, and nothing else. */
TEST_WITH(counts_that_are_committed_come_back, make_folder, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(10);
    for (int field = 0; field < 5; field++) {
        struct store *s;
        struct spans done;
        struct sweep_counts counts;
        OK(open_with(&s, f->path, &head, &done, &counts, e));
        int64_t *const fields[] = { &counts.seen, &counts.filtered, &counts.bounded, &counts.solved,
                                    &counts.failed };
        for (int k = 0; k < 5; k++)
            assert_int_equal(*fields[k], k < field);
        *fields[field] = 1;
        OK(store_commit(s, &done, &counts, e));
        store_close(s);
        spans_free(&done);
    }
}

/* ---- two at a time ---- */

TEST_WITH(a_second_writer_is_refused_and_a_reader_sees_what_is_committed, make_folder, remove_folder)
{
    struct folder *f = *state;
    const struct store_head head = stored_head(40);
    struct store *writer = open_new(f->path, 10), *s;
    struct table got = { 0 };
    KEEP(struct table, rows, table_free) = { 0 };
    KEEP(struct spans, done, spans_free);
    struct sweep_counts counts;
    stored_columns(&rows);
    stored_put_unit(&rows, 30, 40);
    OK(store_put(writer, STORE_RESULTS, &rows, e));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int rc = open_with(&s, f->path, &head, &done, &counts, e);
        if (rc != ERR_PARSE || s || !strstr(e->msg, "rows.db: is being written by another process"))
            _exit(1);
        if (store_read(&s, f->path, e))
            _exit(2);
        struct store_walk walk = store_walk_all(STORE_RESULTS, true);
        if (store_next(s, &walk, 1000, &got, e) || got.n_rows != 100)
            _exit(3);
        _exit(0);
    }
    assert_int_equal(child_status(child), 0);
    store_close(writer);
    OK(open_with(&s, f->path, &head, &done, &counts, e));
    store_close(s);
}
