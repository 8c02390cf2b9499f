/*
 * Stores that were changed: a small store of designs, or one of runs, and changes that the input draws. Bytes
 * of the file are turned, and what is read must be refused or what was committed; or cells and rows are
 * changed through SQL, tables of SQLite among them, and all checksums made right again, so that what stands
 * behind the check is reached: then whatever is there must be refused with a message, or be read, shown,
 * merged and continued without harm. For libFuzzer.
 *
 *     byte 0   bit 0: of runs; bit 1: by SQL; bits 2, 3: continued; bits 4, 5: merged
 *     else     changes, one behind the other: see turn_bytes() and change_cell()
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <assert.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "study/store_inner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- input ---- */

struct input {
    const uint8_t *at, *end;
};

static unsigned take(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static unsigned take_below(struct input *in, size_t n)
{
    unsigned x = take(in);
    if (n > 256)
        x = x << 8 | take(in);
    return n ? x % (unsigned)n : 0;
}

static void take_bytes(void *out, size_t n, struct input *in)
{
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)out)[i] = (uint8_t)take(in);
}

/* ---- what is changed ---- */

enum { UNITS = 12, TABLES = 20, COLUMNS = 20, RUN_TABLES = 4 };

/* A table of SQL: its columns, and which of them are its key, "a, b". */
struct sql_table {
    char name[32], keys[64], columns[COLUMNS][32];
    int n_columns;
};

/* A whole store, and what it holds. */
struct base {
    struct store_head head;
    struct table columns[RUN_TABLES];
    struct store_table_form forms[RUN_TABLES];
    struct store_form form;
    unsigned char *bytes; /* shape [n] */
    size_t n;
    struct sql_table tables[TABLES];
    int n_tables;
    unsigned long long content;
};

static char store_path[64], merged_path[64];

static void make_paths(void)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(store_path, sizeof store_path, "%s/weft-fuzz-%d.db", folder, (int)getpid());
    snprintf(merged_path, sizeof merged_path, "%s/weft-fuzz-%d-all.db", folder, (int)getpid());
}

static void put_cell(struct table *t, int64_t x)
{
    static const char *const words[] = { "solved", "", "12", "a|b", "-", "x" };
    if (t->kinds[t->col] == TABLE_COUNT)
        table_put_count(t, x);
    else if (x % 5 == 4)
        table_put_none(t);
    else if (t->kinds[t->col] == TABLE_TEXT)
        table_put_text(t, words[x % 6]);
    else
        table_put_real(t, (double)x / 7);
}

static void put_row(struct table *t, int64_t id, int64_t seq, int n_keys)
{
    table_row(t);
    table_put_count(t, id);
    if (n_keys > 1)
        table_put_count(t, seq);
    while (t->col < t->n_cols)
        put_cell(t, id + seq + t->col);
}

static void put_all(struct store *s, struct base *b)
{
    struct err e = { 0 };
    struct spans done = { 0 };
    struct sweep_counts n = { .seen = UNITS - 2, .solved = UNITS - 2 };
    bool runs = b->head.kind;
    for (int64_t u = 0; u < UNITS - 2; u++) {
        int64_t point = runs ? u / 2 : u, run = point << STORE_POINT_SHIFT | u % 2;
        put_row(&b->columns[0], runs ? store_row_id(point, u % 2) : point, 0, 1);
        if (!runs)
            continue;
        put_row(&b->columns[1], run, 0, 1);
        if (u % 2 == 0)
            put_row(&b->columns[2], point, 0, 1);
        for (int64_t seq = 0; seq < 3; seq++)
            put_row(&b->columns[3], run, seq, 2);
    }
    for (int32_t i = 0; i < b->form.n_tables; i++) {
        assert(store_put(s, i, &b->columns[i], &e) == 0);
        table_clear(&b->columns[i]);
    }
    assert(spans_add(&done, 0, UNITS - 2, &e) == 0 && store_commit(s, &done, &n, &e) == 0);
    spans_free(&done);
}

/* "name:kind", kinds as first letters. */
static void make_columns(struct table *t, const char *const *columns)
{
    for (; *columns; columns++) {
        char name[32];
        size_t n = strcspn(*columns, ":");
        snprintf(name, sizeof name, "%.*s", (int)n, *columns);
        char kind = (*columns)[n + 1];
        table_column(t, name, kind == 't' ? TABLE_TEXT : kind == 'r' ? TABLE_REAL : TABLE_COUNT);
    }
}

static void make_form(struct base *b, bool runs)
{
    static const char *const designs[] = { "point:c",    "network:t",  "network.dims.pod.max_GBps:r",
                                           "bw1_GBps:r", "bw5_GBps:r", "status:t",
                                           "message:t",  NULL };
    static const char *const parts[] = { NULL, NULL, NULL, NULL, "more_dims", NULL, NULL };
    static const char *const of_runs[RUN_TABLES][5] = { { "id:c", "mean:r", "word:t", NULL },
                                                        { "id:c", "rc:c", "message:t", "value:r", NULL },
                                                        { "point:c", "x:t", "notes:t", NULL },
                                                        { "run:c", "seq:c", "loss:r", NULL } };
    static const char *const words[] = { "results", "outcomes", "points", "runs" };
    b->head = (struct store_head){ .study_hash = 0x0123456789abcdefu,
                                   .seed = 7,
                                   .n_points = runs ? UNITS / 2 : UNITS,
                                   .n_units = UNITS,
                                   .command = "weft sweep study.yaml",
                                   .version = "1.2.3",
                                   .study = "network: ring:4\nvary: { total_GBps: [1] }\n",
                                   .keep = runs ? NULL : "{ front: [bw1_GBps] }",
                                   .shard = 1,
                                   .n_shards = 1,
                                   .kind = runs ? "toy" : NULL,
                                   .seeds = runs ? 2 : 0,
                                   .n_axes = runs };
    b->form = (struct store_form){ b->forms, runs ? RUN_TABLES : 1 };
    for (int i = 0; i < b->form.n_tables; i++) {
        make_columns(&b->columns[i], runs ? of_runs[i] : designs);
        b->forms[i] = (struct store_table_form){ runs ? words[i] : "points", &b->columns[i], 1 + (i == 3),
                                                 runs ? NULL : parts };
    }
}

static void read_file(struct base *b)
{
    struct text t = { 0 };
    struct err e = { 0 };
    assert(text_read_file(&t, store_path, 1 << 20, &e) == 0);
    b->bytes = (unsigned char *)t.s;
    b->n = t.n;
}

static void write_file(const unsigned char *bytes, size_t n)
{
    int fd = open(store_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

static struct sqlite3 *connect_to(const unsigned char *bytes, size_t n)
{
    struct sqlite3 *db;
    unsigned char *own = sqlite3_malloc64(n);
    assert(own && sqlite3_open(":memory:", &db) == 0);
    memcpy(own, bytes, n);
    assert(sqlite3_deserialize(db, "main", own, (sqlite3_int64)n, (sqlite3_int64)n,
                               SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) == 0);
    return db;
}

static void add_column(struct sql_table *t, const char *name, bool is_key)
{
    assert(t->n_columns < COLUMNS);
    snprintf(t->columns[t->n_columns++], sizeof t->columns[0], "%s", name);
    size_t n = strlen(t->keys);
    if (is_key)
        snprintf(t->keys + n, sizeof t->keys - n, "%s\"%s\"", n ? ", " : "", name);
}

static void list_tables(struct base *b)
{
    struct sqlite3 *db = connect_to(b->bytes, b->n);
    struct sqlite3_stmt *get;
    assert(
        sqlite3_prepare_v2(db,
                           "SELECT t.name, c.name, c.pk FROM (SELECT name FROM sqlite_master WHERE type = "
                           "'table' UNION ALL SELECT 'sqlite_master') AS t, pragma_table_info(t.name) AS c",
                           -1, &get, NULL) == 0);
    while (sqlite3_step(get) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(get, 0);
        struct sql_table *t = b->n_tables ? &b->tables[b->n_tables - 1] : NULL;
        if (!t || strcmp(t->name, name) != 0) {
            assert(b->n_tables < TABLES);
            t = &b->tables[b->n_tables++];
            snprintf(t->name, sizeof t->name, "%s", name);
        }
        add_column(t, (const char *)sqlite3_column_text(get, 1), sqlite3_column_int(get, 2) > 0);
    }
    sqlite3_finalize(get);
    sqlite3_close(db);
    for (int i = 0; i < b->n_tables; i++)
        if (!b->tables[i].keys[0])
            snprintf(b->tables[i].keys, sizeof b->tables[i].keys, "rowid");
}

/* ---- reading ---- */

static void hash(unsigned long long *h, const void *data, size_t n)
{
    *h = text_hash(text_hash(*h, &n, sizeof n), data, n);
}

static void hash_rows(unsigned long long *h, const struct table *rows)
{
    for (int64_t row = 0; row < rows->n_rows; row++)
        for (int32_t col = 0; col < rows->n_cols; col++) {
            const char *text = table_text(rows, row, col);
            double number = table_number(rows, row, col);
            if (rows->kinds[col] == TABLE_TEXT)
                hash(h, text ? text : "\n", text ? strlen(text) : 1);
            else
                hash(h, &number, sizeof number);
        }
}

static int read_table(unsigned long long *h, struct store *s, int32_t table, bool raw, size_t most,
                      struct err *e)
{
    struct table rows = { 0 };
    struct text csv = { 0 };
    struct store_walk walk = store_walk_all(table, raw);
    int rc;
    size_t n = 0;
    while ((rc = store_next(s, &walk, 7, &rows, e)) == 0 && rows.n_rows) {
        n += (size_t)rows.n_rows;
        assert(n <= most);
        hash_rows(h, &rows);
        assert(raw || table_write(&rows, TABLE_AS_CSV, NULL, &csv, e) == 0);
    }
    text_free(&csv);
    table_free(&rows);
    return rc;
}

static int ask_columns(struct store *s, struct err *e)
{
    struct table shown = { 0 };
    int64_t largest;
    bool any;
    int rc = store_shown(&shown, s, e);
    for (int32_t i = 0; i < shown.n_cols && !rc; i++) {
        rc = store_max(s, shown.names[i], &largest, e);
        if (!rc)
            rc = store_any(s, shown.names[i], &any, e);
        if (!rc)
            rc = store_any_word(s, shown.names[i], "solved", &any, e);
    }
    table_free(&shown);
    return rc;
}

static void check_message(int rc, const struct err *e)
{
    assert(e->code == (enum err_code)rc && e->msg[0] && !strchr(e->msg, '\n'));
    assert(rc == ERR_PARSE || rc == ERR_IO || rc == ERR_LIB);
}

/* False: refused. A row takes a byte of the file at least. */
static bool read_store(unsigned long long *h, const char *path, size_t most)
{
    struct store *s = NULL;
    struct err e = { 0 };
    int rc = store_read(&s, path, &e);
    *h = TEXT_HASH_SEED;
    if (!rc) {
        const struct store_head *head = store_head_of(s);
        struct sweep_counts n = store_counts_of(s);
        hash(h, head->command, strlen(head->command));
        hash(h, head->version, strlen(head->version));
        hash(h, head->study, strlen(head->study));
        hash(h, &n, sizeof n);
        hash(h, &(int64_t[]){ head->n_points, head->n_units, head->shard, store_is_complete(s) }, 32);
    }
    for (int32_t table = 0; !rc && table < s->n_tables; table++) {
        rc = read_table(h, s, table, true, most, &e);
        if (!rc)
            rc = read_table(h, s, table, false, most, &e);
    }
    if (!rc)
        rc = ask_columns(s, &e);
    if (rc)
        check_message(rc, &e);
    store_close(s);
    return !rc;
}

/* A store that can be read, and gone on with, can be read after the next commit. */
static void continue_store(const struct base *b, size_t most, bool whole)
{
    struct store *s = NULL;
    struct spans done;
    struct sweep_counts n;
    struct err e = { 0 };
    unsigned long long h;
    int rc = store_open(&s, store_path, &b->head, &b->form, &done, &n, &e);
    if (rc) {
        check_message(rc, &e);
        return;
    }
    struct table rows = { 0 };
    for (int32_t col = 0; col < b->columns[0].n_cols; col++)
        table_column(&rows, b->columns[0].names[col], b->columns[0].kinds[col]);
    put_row(&rows, b->head.kind ? store_row_id(UNITS / 2 - 1, 0) : UNITS - 1, 0, 1);
    rc = store_put(s, STORE_RESULTS, &rows, &e);
    if (!rc)
        rc = spans_add(&done, UNITS - 1, 1, &e);
    if (!rc)
        rc = store_commit(s, &done, &n, &e);
    if (rc)
        check_message(rc, &e);
    store_close(s);
    spans_free(&done);
    table_free(&rows);
    bool is_read = rc || !whole || read_store(&h, store_path, most + 1);
    assert(is_read);
}

/* The rows are there already: nothing was cut by a shard. */
static int reduce_none(void *data, struct store *s, const struct spans *done, const struct spans *shards,
                       int32_t n_shards, struct sweep_counts *n, struct err *e)
{
    (void)data;
    (void)s;
    (void)done;
    (void)shards;
    (void)n_shards;
    (void)n;
    (void)e;
    return 0;
}

static void merge_store(size_t most)
{
    const char *path = store_path;
    struct err e = { 0 };
    unsigned long long h;
    int rc = store_merge(merged_path, &path, 1, reduce_none, NULL, &e);
    if (rc)
        check_message(rc, &e);
    bool is_read = rc || read_store(&h, merged_path, most);
    assert(is_read);
    unlink(merged_path);
}

/* ---- changes ---- */

/* Turn a byte, zero or double some, cut the file off. */
static void turn_bytes(unsigned char *bytes, size_t *n, struct input *in)
{
    while (in->at < in->end && *n) {
        unsigned kind = take(in), at = take_below(in, *n), with = take(in);
        size_t some = 1 + with % 64 < *n - at ? 1 + with % 64 : *n - at;
        if (kind % 16 == 0)
            *n = at;
        else if (kind % 16 == 1)
            memset(bytes + at, 0, some);
        else if (kind % 16 == 2)
            memmove(bytes + at, bytes + (at + 512 * (1 + with / 64)) % (*n - some + 1), some);
        else
            bytes[at] ^= (unsigned char)with;
    }
}

/* Bind a value of any type to ?1; -1: the cell with one byte changed, by functions of SQL: ?3 is where, ?4
 * what. */
static int bind_value(struct sqlite3_stmt *put, struct input *in)
{
    static const int64_t edges[] = { INT64_MIN, INT64_MAX, INT32_MAX, -1, INT64_C(1) << 32, 4096, 1, 0 };
    char text[256];
    int64_t whole;
    double real;
    unsigned kind = take(in);
    switch (kind % 8) {
    case 0:
        return sqlite3_bind_null(put, 1);
    case 1:
        return sqlite3_bind_int64(put, 1, (int8_t)take(in));
    case 2:
        return sqlite3_bind_int64(put, 1, edges[take_below(in, sizeof edges / sizeof *edges)]);
    case 3:
        take_bytes(&whole, sizeof whole, in);
        return sqlite3_bind_int64(put, 1, whole);
    case 4:
        take_bytes(&real, sizeof real, in);
        return sqlite3_bind_double(put, 1, real);
    case 5:
    case 6:
        whole = take(in);
        take_bytes(text, (size_t)whole, in);
        return kind % 8 == 5 ? sqlite3_bind_text(put, 1, text, (int)whole, SQLITE_TRANSIENT)
                             : sqlite3_bind_blob(put, 1, text, (int)whole, SQLITE_TRANSIENT);
    default:
        sqlite3_bind_int(put, 3, (int)take(in));
        text[0] = (char)take(in);
        sqlite3_bind_text(put, 4, text, 1, SQLITE_TRANSIENT);
        return -1;
    }
}

/* A cell gets a value, a row goes, or a row comes that differs from another in one cell. */
static void change_cell(struct sqlite3 *db, const struct base *b, struct input *in)
{
    const struct sql_table *t = &b->tables[take_below(in, (size_t)b->n_tables)];
    unsigned kind = take(in) % 8, row = take(in), col = take_below(in, (size_t)t->n_columns);
    const char *name = t->columns[col];
    struct text sql = { 0 }, value = { 0 };
    struct sqlite3_stmt *put = NULL;
    bool edits = in->at < in->end && *in->at % 8 == 7;
    if (edits)
        text_printf(&value, "substr(\"%s\", 1, ?3) || ?4 || substr(\"%s\", ?3 + 2)", name, name);
    else
        text_puts(&value, "?1");
    if (kind == 0)
        text_printf(&sql, "DELETE FROM %s", t->name);
    else if (kind > 1)
        text_printf(&sql, "UPDATE OR REPLACE %s SET \"%s\" = %s", t->name, name, value.s);
    else {
        text_printf(&sql, "INSERT OR REPLACE INTO %s SELECT ", t->name);
        for (int i = 0; i < t->n_columns; i++)
            text_printf(&sql, i == (int)col ? "%s%s" : "%s\"%s\"", i ? ", " : "",
                        i == (int)col ? value.s : t->columns[i]);
        text_printf(&sql, " FROM %s", t->name);
    }
    text_printf(&sql, " WHERE (%s) = (SELECT %s FROM %s LIMIT 1 OFFSET ?2)", t->keys, t->keys, t->name);
    if (sqlite3_prepare_v2(db, sql.s, -1, &put, NULL) == 0) {
        bind_value(put, in);
        sqlite3_bind_int(put, 2, (int)row);
        sqlite3_step(put);
    }
    sqlite3_finalize(put);
    text_free(&sql);
    text_free(&value);
}

/* Checksums of what is there now, of each table that has one. */
static void seal(struct sqlite3 *db)
{
    struct sqlite3_stmt *get = NULL, *put = NULL;
    char names[TABLES][64];
    int n = 0;
    if (sqlite3_prepare_v2(db, "SELECT name FROM checks", -1, &get, NULL) == 0)
        while (n < TABLES && sqlite3_step(get) == SQLITE_ROW)
            snprintf(names[n++], sizeof names[0], "%s",
                     sqlite3_column_text(get, 0) ? (const char *)sqlite3_column_text(get, 0) : "");
    sqlite3_finalize(get);
    if (sqlite3_prepare_v2(db, "UPDATE checks SET n = ?2, sum = ?3 WHERE name = ?1", -1, &put, NULL) != 0)
        n = 0;
    for (int i = 0; i < n; i++) {
        struct store_sum sum = { 0 };
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", names[i]);
        if (strcmp(names[i], "schema") == 0)
            snprintf(sql, sizeof sql, "SELECT type, name, tbl_name, sql FROM sqlite_master");
        if (sqlite3_prepare_v2(db, sql, -1, &get, NULL) != 0)
            continue;
        while (sqlite3_step(get) == SQLITE_ROW)
            store_sum_add(&sum, store_hash_row(get));
        sqlite3_finalize(get);
        sqlite3_bind_text(put, 1, names[i], -1, SQLITE_STATIC);
        sqlite3_bind_int64(put, 2, sum.n);
        sqlite3_bind_int64(put, 3, (int64_t)sum.sum);
        sqlite3_step(put);
        sqlite3_reset(put);
    }
    sqlite3_finalize(put);
}

/* The scheme may be another one afterwards: a new connection reads it. Returns bytes for sqlite3_free(). */
static unsigned char *change_by_sql(const struct base *b, size_t *n, struct input *in)
{
    struct sqlite3 *db = connect_to(b->bytes, b->n);
    sqlite3_int64 size;
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, (int *)NULL);
    while (in->at < in->end)
        change_cell(db, b, in);
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    assert(bytes);
    sqlite3_close(db);
    db = connect_to(bytes, (size_t)size);
    sqlite3_free(bytes);
    seal(db);
    bytes = sqlite3_serialize(db, "main", &size, 0);
    assert(bytes);
    sqlite3_close(db);
    *n = (size_t)size;
    return bytes;
}

/* ---- both ---- */

static void make_base(struct base *b, bool runs)
{
    struct store *s;
    struct sqlite3 *db;
    struct spans done;
    struct sweep_counts n;
    struct err e = { 0 };
    make_form(b, runs);
    unlink(store_path);
    assert(store_open(&s, store_path, &b->head, &b->form, &done, &n, &e) == 0);
    put_all(s, b);
    store_close(s);
    /* Small pages: more of the tree for as many bytes. */
    assert(sqlite3_open(store_path, &db) == 0 &&
           sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL) == 0);
    sqlite3_close(db);
    read_file(b);
    list_tables(b);
    bool is_read = read_store(&b->content, store_path, b->n);
    assert(is_read);
}

static void remove_store(void)
{
    unlink(store_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct base bases[2];
    struct input in = { data, data + size };
    unsigned long long content;
    if (!bases[0].n) {
        /* Half of the time goes into its locks otherwise. */
        assert(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == 0 &&
               sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == 0);
        make_paths();
        make_base(&bases[0], false);
        make_base(&bases[1], true);
        atexit(remove_store);
    }
    unsigned flags = take(&in);
    const struct base *b = &bases[flags & 1];
    bool by_sql = flags & 2;
    unsigned char *bytes;
    size_t n = b->n;
    if (by_sql) {
        bytes = change_by_sql(b, &n, &in);
    } else {
        bytes = sqlite3_malloc64(n);
        assert(bytes);
        memcpy(bytes, b->bytes, n);
        turn_bytes(bytes, &n, &in);
    }
    write_file(bytes, n);
    sqlite3_free(bytes);
    bool whole = read_store(&content, store_path, n);
    assert(by_sql || !whole || content == b->content);
    if ((flags & 48) == 48)
        merge_store(n);
    if ((flags & 12) == 12)
        continue_store(b, n, whole);
    return 0;
}
