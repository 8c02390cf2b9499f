/*
 * Stores that a disk, a copy or another program has changed: refused with a message, or what was committed,
 * never anything else. Damage is drawn: bits and bursts turned, files cut off or grown, pages zeroed, swapped
 * and doubled, rows deleted, changed and renumbered by SQL, logs broken.
 */
#include "study/store_inner.h"
#include "tests/unit/store_fixture.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "base/text.h"

KEEPS(struct store, store_close)

enum { UNITS = 24, COMMITS = 4, PAGE = 4096 };

/* ---- stores, and what is in them ---- */

/* Everything that a store gives, as text; false: refused. Walks stop where a damaged store would not. */
static bool read_store(struct text *out, const char *path, struct err *e)
{
    KEEP(struct store *, s, store_close_at);
    int64_t most = 100000;
    int rc = store_read(&s, path, e);
    if (rc)
        return false;
    const struct store_head *h = store_head_of(s);
    struct sweep_counts n = store_counts_of(s);
    text_printf(out, "%s|%s|%s|%s|%llx %d/%d %d|", h->command, h->version, h->study, h->kind ? h->kind : "",
                h->study_hash, (int)h->shard, (int)h->n_shards, (int)h->n_units);
    text_printf(out, "%d %d %d %d %d|", (int)n.seen, (int)n.filtered, (int)n.bounded, (int)n.solved,
                (int)n.failed);
    for (int32_t table = 0; table < (h->kind ? 4 : 1); table++) {
        KEEP(struct table, rows, table_free) = { 0 };
        struct store_walk walk = store_walk_all(table, true);
        do {
            rc = store_next(s, &walk, 7, &rows, e);
            assert_true(rc || (most -= rows.n_rows) >= 0);
            for (int64_t row = 0; row < rows.n_rows && !rc; row++)
                for (int32_t col = 0; col < rows.n_cols; col++)
                    if (rows.kinds[col] == TABLE_TEXT)
                        text_printf(out, "%s,",
                                    table_text(&rows, row, col) ? table_text(&rows, row, col) : "~");
                    else
                        text_printf(out, "%a,", table_number(&rows, row, col));
        } while (!rc && rows.n_rows);
        if (rc)
            return false;
    }
    return true;
}

/* Units of one COMMITS-th each commit. */
static void put_designs(struct store *s, int k)
{
    KEEP(struct table, rows, table_free) = { 0 };
    KEEP(struct spans, done, spans_free) = { 0 };
    struct sweep_counts n = { .seen = 10 * UNITS * (k + 1) / COMMITS,
                              .solved = 10 * UNITS * (k + 1) / COMMITS };
    stored_columns(&rows);
    for (int u = UNITS * k / COMMITS; u < UNITS * (k + 1) / COMMITS; u++)
        stored_put_unit(&rows, u, UNITS);
    MUST(spans_add(&done, 0, UNITS * (k + 1) / COMMITS, e));
    MUST(store_put(s, STORE_RESULTS, &rows, e));
    MUST(store_commit(s, &done, &n, e));
}

static void columns_of_runs(struct table columns[4])
{
    static const char *const names[4][4] = {
        { "id", "mean", "word" }, { "id", "rc", "value" }, { "point", "x", "notes" }, { "run", "seq", "loss" }
    };
    for (int t = 0; t < 4; t++)
        for (int c = 0; c < 3; c++)
            table_column(&columns[t], names[t][c],
                         c == 0 || (t == 3 && c == 1)   ? TABLE_COUNT
                         : c == 1 && t == 2             ? TABLE_TEXT
                         : c == 2 && (t == 0 || t == 2) ? TABLE_TEXT
                                                        : TABLE_REAL);
}

/* Point u has two runs of one entry, each with five rows of an extra table. */
static void put_runs(struct store *s, int k)
{
    struct table t[4] = { { 0 } };
    KEEP(struct spans, done, spans_free) = { 0 };
    struct sweep_counts n = { .seen = UNITS / 2 * (k + 1) / COMMITS,
                              .solved = UNITS / 2 * (k + 1) / COMMITS };
    columns_of_runs(t);
    for (int64_t p = UNITS / 2 * k / COMMITS; p < UNITS / 2 * (k + 1) / COMMITS; p++) {
        char word[20];
        snprintf(word, sizeof word, "word %d", (int)(p % 5));
        table_row(&t[0]);
        table_put_count(&t[0], store_row_id(p, 0));
        table_put_real(&t[0], (double)p / 7);
        table_put_text(&t[0], word);
        table_row(&t[2]);
        table_put_count(&t[2], p);
        table_put_text(&t[2], word);
        table_put_text(&t[2], "a note");
        for (int64_t seed = 0; seed < 2; seed++) {
            int64_t run = p << STORE_POINT_SHIFT | seed;
            table_row(&t[1]);
            table_put_count(&t[1], run);
            table_put_real(&t[1], 0);
            table_put_real(&t[1], (double)run);
            for (int64_t i = 0; i < 5; i++) {
                table_row(&t[3]);
                table_put_count(&t[3], run);
                table_put_count(&t[3], i);
                table_put_real(&t[3], (double)(run * 5 + i));
            }
        }
    }
    MUST(spans_add(&done, 0, UNITS * (k + 1) / COMMITS, e));
    for (int i = 0; i < 4; i++) {
        MUST(store_put(s, i, &t[i], e));
        table_free(&t[i]);
    }
    MUST(store_commit(s, &done, &n, e));
}

static void open_designs(struct store **s, const char *path)
{
    KEEP(struct table, columns, table_free) = { 0 };
    const struct store_head head = stored_head(UNITS);
    KEEP(struct spans, done, spans_free);
    struct sweep_counts n;
    stored_columns(&columns);
    MUST(stored_open(s, path, &head, &columns, &done, &n, e));
}

static void open_runs(struct store **s, const char *path)
{
    struct table columns[4] = { { 0 } };
    struct store_head head = stored_head(UNITS);
    KEEP(struct spans, done, spans_free);
    struct sweep_counts n;
    columns_of_runs(columns);
    const struct store_table_form tables[] = { { "results", &columns[0], 1, NULL },
                                               { "outcomes", &columns[1], 1, NULL },
                                               { "points", &columns[2], 1, NULL },
                                               { "runs", &columns[3], 2, NULL } };
    head.kind = "toy";
    head.n_points = UNITS / 2;
    head.seeds = 2;
    head.n_axes = 1;
    MUST(store_open(s, path, &head, &(struct store_form){ tables, 4 }, &done, &n, e));
    for (int i = 0; i < 4; i++)
        table_free(&columns[i]);
}

struct subject {
    void (*open)(struct store **s, const char *path);
    void (*put)(struct store *s, int k);
    const char *const *sql; /* what another program may have done; %d is drawn; ends with NULL */
};

static const char *const sql_designs[] = {
    "DELETE FROM points WHERE point = %d",
    "UPDATE points SET time_s = 1.5 WHERE point = %d",
    "UPDATE points SET point = point + 1000 WHERE point = %d",
    "UPDATE points SET point = -7 WHERE point = %d; UPDATE points SET point = %d WHERE point = 3;"
    "UPDATE points SET point = 3 WHERE point = -7",
    "INSERT OR REPLACE INTO points(point, time_s) VALUES(%d, 1)",
    "DELETE FROM more_dims WHERE point = (SELECT point FROM more_dims LIMIT 1 OFFSET %d)",
    "UPDATE more_dims SET bw5_GBps = 3 WHERE point = %d",
    "UPDATE texts SET value = 'x' WHERE id = %d",
    "UPDATE texts SET id = id + 100000 WHERE id = %d",
    "UPDATE columns SET name = 'x' WHERE id = %d",
    "UPDATE weft SET value = %d WHERE key = 'seen'",
    "UPDATE weft SET value = %d WHERE key = 'seed'",
    "UPDATE weft SET value = 'incomplete' WHERE key = 'state'",
    "UPDATE weft SET value = 'another study' WHERE key = 'study'",
    "DELETE FROM weft WHERE key = 'failed'",
    "UPDATE done SET n = n - 1",
    "DELETE FROM done",
    "DELETE FROM checks WHERE name = 'points'",
    "UPDATE checks SET n = n - 1 WHERE name = 'texts'",
    "UPDATE checks SET sum = sum + %d WHERE name = 'weft'",
    "DROP VIEW results",
    "ALTER TABLE points ADD COLUMN more",
    "CREATE TABLE other(x)",
    "VACUUM",
    NULL,
};

static const char *const sql_runs[] = {
    "DELETE FROM runs_rows WHERE seq = 3 AND run %% 4294967296 = 1 AND run / 4294967296 = %d",
    "UPDATE runs_rows SET loss = 4 WHERE seq = 3 AND run / 4294967296 = %d",
    "UPDATE runs_rows SET seq = seq + 10 WHERE run / 4294967296 = %d",
    "DELETE FROM outcomes_rows WHERE id = %d * 4294967296",
    "UPDATE outcomes_rows SET value = NULL WHERE id = %d * 4294967296",
    "UPDATE results_rows SET mean = -mean WHERE id = %d * 4096",
    "UPDATE points_rows SET notes = 'other' WHERE point = %d",
    "UPDATE weft SET value = 'other' WHERE key = 'kind'",
    "UPDATE weft SET value = %d WHERE key = 'n_axes'",
    "DELETE FROM columns WHERE id = %d",
    "VACUUM",
    NULL,
};

static const struct subject subjects[] = { { open_designs, put_designs, sql_designs },
                                           { open_runs, put_runs, sql_runs } };

/* ---- damage ---- */

struct bytes {
    char *s;
    size_t n;
};

static struct bytes read_bytes(const char *path)
{
    struct text t = { 0 };
    MUST(text_read_file(&t, path, 1 << 26, e));
    return (struct bytes){ t.s, t.n };
}

static void write_bytes(const char *path, const struct bytes *b)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->s, 1, b->n, f), b->n);
    assert_int_equal(fclose(f), 0);
}

static size_t pick(struct rng *r, size_t n)
{
    return (size_t)rng_below(r, (int64_t)n);
}

/* A number of the kind of damage; what it did is in the file @p path of bytes @p b, which may change. */
static void damage_bytes(struct bytes *b, struct rng *r, int kind)
{
    size_t n_pages = b->n / PAGE, p = PAGE * pick(r, n_pages), q = PAGE * pick(r, n_pages),
           at = pick(r, b->n);
    char page[PAGE];
    switch (kind) {
    case 0: /* a bit */
        b->s[at] ^= (char)(1 << pick(r, 8));
        break;
    case 1: /* a burst */
        for (size_t i = at; i < at + 16 && i < b->n; i++)
            b->s[i] = (char)pick(r, 256);
        break;
    case 2: /* a sector of zeros */
        for (size_t i = at / 512 * 512; i < at / 512 * 512 + 512 && i < b->n; i++)
            b->s[i] = 0;
        break;
    case 3: /* two pages swapped */
        memcpy(page, b->s + p, PAGE);
        memmove(b->s + p, b->s + q, PAGE);
        memcpy(b->s + q, page, PAGE);
        break;
    case 4: /* a page that was written elsewhere too */
        memmove(b->s + p, b->s + q, PAGE);
        break;
    case 5: /* cut off */
        b->n = at;
        break;
    case 6: /* bits of the first page, where the scheme is */
        for (int i = 0; i < 3; i++)
            b->s[pick(r, PAGE)] ^= (char)(1 << pick(r, 8));
        break;
    default:
        break;
    }
}
enum { BYTE_KINDS = 7 };

static void damage_sql(const char *path, struct rng *r, const char *const *list)
{
    char sql[400];
    int n = 0, one = (int)pick(r, 12), other = (int)pick(r, 12);
    sqlite3 *db;
    while (list[n])
        n++;
    const char *form = list[pick(r, (size_t)n)];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(sql, sizeof sql, form, one, other);
#pragma GCC diagnostic pop
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    /* A row that is there already, a column that is not: nothing is changed. */
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Refused with the path and a reason, or one of @p want. Returns true where it was refused. */
static bool assert_refused_or_right(const char *path, const struct text *want, int n_want, int trial)
{
    KEEP(struct text, got, text_free) = { 0 };
    struct err e = { 0 };
    if (!read_store(&got, path, &e)) {
        if (e.code != ERR_PARSE || !strstr(e.msg, "rows.db: "))
            fail_msg("damage %d: code %d, %s", trial, (int)e.code, e.msg);
        return true;
    }
    for (int i = 0; i < n_want; i++)
        if (strcmp(text_str(&got), text_str(&want[i])) == 0)
            return false;
    fail_msg("damage %d is neither refused nor right", trial);
    return true;
}

static int32_t trials(void)
{
    return getenv("SOAK") ? 1000 : 60;
}

static void make_path(char path[SUPPORT_PATH], char dir[SUPPORT_PATH])
{
    /* A disk takes tens of milliseconds to be sure. */
    if (access("/dev/shm", R_OK | W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    scratch_make(dir);
    scratch_path(path, dir, "rows.db");
}

/* ---- cases ---- */

/* Worked out by another program: stores of other machines and versions hold these. */
TEST(hashes_of_values_are_the_same_everywhere)
{
    uint64_t h[] = { 1, 1, 1, 1 };
    store_hash_text(&h[0], "an answer of 20 byte", 20);
    store_hash_integer(&h[1], -7);
    store_hash_real(&h[2], 0.1);
    store_hash_null(&h[3]);
    assert_true(h[0] == UINT64_C(0xb9d2fd8b1826f733) && h[1] == UINT64_C(0x6d7c2be375d03bb2));
    assert_true(h[2] == UINT64_C(0x07e4089ff7c98a37) && h[3] == UINT64_C(0x35e7dd0903dbe357));
}

/* Of a text of any length each bit counts, as does where it ends. */
TEST(a_hash_of_a_text_sees_every_bit_of_it)
{
    char text[20] = "";
    for (size_t n = 0; n <= sizeof text; n++) {
        uint64_t whole = 1, longer = 1;
        store_hash_text(&whole, text, n);
        if (n < sizeof text)
            store_hash_text(&longer, text, n + 1);
        assert_true(whole != longer);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            uint64_t h = 1;
            text[bit / 8] = (char)(1 << bit % 8);
            store_hash_text(&h, text, n);
            text[bit / 8] = 0;
            assert_true(h != whole);
        }
    }
}

TEST(a_damaged_store_is_refused_or_right)
{
    for (size_t i = 0; i < COUNT_OF(subjects); i++) {
        char path[SUPPORT_PATH], dir[SUPPORT_PATH];
        KEEP(struct text, want, text_free) = { 0 };
        RNG(r, 8, i);
        struct store *s;
        int refused = 0, n = repeats(trials());
        make_path(path, dir);
        subjects[i].open(&s, path);
        for (int k = 0; k < COMMITS; k++)
            subjects[i].put(s, k);
        store_close(s);
        assert_true(read_store(&want, path, e));
        struct bytes whole = read_bytes(path);
        assert_true(whole.n > 8 * PAGE);
        for (int trial = 0; trial < n; trial++) {
            int kind = (int)pick(r, BYTE_KINDS + 3);
            struct bytes b = { malloc(whole.n), whole.n };
            assert_non_null(b.s);
            memcpy(b.s, whole.s, whole.n);
            damage_bytes(&b, r, kind);
            write_bytes(path, &b);
            free(b.s);
            if (kind >= BYTE_KINDS)
                damage_sql(path, r, subjects[i].sql);
            refused += assert_refused_or_right(path, &want, 1, trial);
        }
        /* Most damage does matter: a check that sees none would pass all else. */
        assert_in_range(refused, n / 2, n - 1);
        free(whole.s);
        scratch_remove(dir);
    }
}

/* A log that is broken is a store as of one of its commits: SQLite plays it back up to where it is whole. */
TEST(a_damaged_log_is_an_earlier_commit_or_refused)
{
    for (size_t i = 0; i < COUNT_OF(subjects); i++) {
        char path[SUPPORT_PATH], log[SUPPORT_PATH + 8], dir[SUPPORT_PATH];
        struct text want[COMMITS + 1] = { { 0 } };
        RNG(r, 9, i);
        struct store *s;
        int n = repeats(trials() / 2), older = 0;
        make_path(path, dir);
        snprintf(log, sizeof log, "%s-wal", path);
        subjects[i].open(&s, path);
        for (int k = 0; k <= COMMITS; k++) {
            if (k)
                subjects[i].put(s, k - 1);
            assert_true(read_store(&want[k], path, e));
        }
        struct bytes file = read_bytes(path), whole = read_bytes(log);
        store_close(s);
        for (int trial = 0; trial < n; trial++) {
            struct bytes b = { malloc(whole.n), whole.n };
            assert_non_null(b.s);
            memcpy(b.s, whole.s, whole.n);
            damage_bytes(&b, r, trial % 6);
            write_bytes(path, &file);
            write_bytes(log, &b);
            free(b.s);
            older += !assert_refused_or_right(path, want, COMMITS + 1, trial);
            /* Of the next trial nothing else is left. */
            char shm[SUPPORT_PATH + 8];
            snprintf(shm, sizeof shm, "%s-shm", path);
            remove(shm);
            remove(log);
        }
        assert_in_range(older, n / 4, n);
        free(file.s);
        free(whole.s);
        for (int k = 0; k <= COMMITS; k++)
            text_free(&want[k]);
        scratch_remove(dir);
    }
}

/* What a search by key would not find, though a scan does. */
TEST(a_wrong_separator_between_pages_is_refused)
{
    char path[SUPPORT_PATH], dir[SUPPORT_PATH];
    struct store *s;
    make_path(path, dir);
    open_designs(&s, path);
    for (int k = 0; k < COMMITS; k++)
        put_designs(s, k);
    store_close(s);
    struct bytes b = read_bytes(path);
    sqlite3 *db;
    sqlite3_stmt *get;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_master WHERE name = 'points'", -1, &get, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(get), SQLITE_ROW);
    char *root = b.s + (size_t)(sqlite3_column_int(get, 0) - 1) * PAGE;
    sqlite3_finalize(get);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    /* An interior page of a table (sqlite.org/fileformat2.html, 1.6): its first cell is at the offset in
     * bytes 12 and 13, four bytes of a page number and the key as a varint, here of one byte. */
    assert_int_equal(root[0], 5);
    size_t cell = (size_t)((unsigned char)root[12] << 8 | (unsigned char)root[13]);
    assert_in_range(root[cell + 4], 2, 127);
    root[cell + 4] = (char)(root[cell + 4] - 1);
    write_bytes(path, &b);
    KEEP(struct text, got, text_free) = { 0 };
    struct err refused = { 0 };
    assert_false(read_store(&got, path, &refused));
    assert_has(refused.msg, "is damaged");
    free(b.s);
    scratch_remove(dir);
}

/* A writer that was killed while it folded its log in, or another program in the middle of a change: what is
 * half written is taken back by whoever reads next. */
TEST(a_store_with_a_journal_is_as_before_it)
{
    char path[SUPPORT_PATH], log[SUPPORT_PATH + 10], dir[SUPPORT_PATH];
    KEEP(struct text, want, text_free) = { 0 };
    KEEP(struct text, got, text_free) = { 0 };
    struct store *s;
    sqlite3 *db;
    make_path(path, dir);
    snprintf(log, sizeof log, "%s-journal", path);
    open_designs(&s, path);
    for (int k = 0; k < COMMITS; k++)
        put_designs(s, k);
    store_close(s);
    assert_true(read_store(&want, path, e));
    struct bytes whole = read_bytes(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    /* More pages than it keeps: some are written before the commit, which never comes. */
    assert_int_equal(
        sqlite3_exec(db, "PRAGMA cache_size = 1; BEGIN; UPDATE points SET time_s = 1", NULL, NULL, NULL),
        SQLITE_OK);
    struct bytes half = read_bytes(path), journal = read_bytes(log);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_true(half.n != whole.n || memcmp(half.s, whole.s, whole.n) != 0);
    write_bytes(path, &half);
    write_bytes(log, &journal);
    assert_true(read_store(&got, path, e));
    assert_string_equal(text_str(&got), text_str(&want));
    free(half.s);
    free(journal.s);
    free(whole.s);
    scratch_remove(dir);
}
