#include "study/store_inner.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "base/num.h"

enum {
    MOST_TEXTS = 1 << 16, /* that have a number; what comes later stands in the rows */
    MOST_EXACT_BITS = 53, /* whole numbers that a double holds */
    SAMPLE_OF_COLUMN =
        1 << 12 /* texts of one column that get a number: an axis of a million values has none */
};

/* ---- texts ---- */

/*
 * A text that is a number, written as we would write it, is kept as that number: so people compare it with
 * numbers. `whole` is for numbers of table texts; in a row a whole number is the number of a text.
 */
static int bind_text(struct sqlite3_stmt *put, int at, const char *text, bool whole)
{
    char buf[NUM_TEXT];
    int64_t n;
    double x;
    if (whole && num_parse_count(text, &n) && n < INT64_C(1) << MOST_EXACT_BITS)
        return sqlite3_bind_int64(put, at, n);
    if (num_parse_real(text, &x) && strcmp(num_format(buf, x), text) == 0)
        return sqlite3_bind_double(put, at, x);
    return sqlite3_bind_text(put, at, text, -1, SQLITE_STATIC);
}

/* The opposite; NULL for no value. */
static const char *text_of(char buf[NUM_TEXT], struct sqlite3_stmt *get, int at)
{
    switch (sqlite3_column_type(get, at)) {
    case SQLITE_INTEGER:
        snprintf(buf, NUM_TEXT, "%lld", (long long)sqlite3_column_int64(get, at));
        return buf;
    case SQLITE_FLOAT:
        return num_format(buf, sqlite3_column_double(get, at));
    default:
        return (const char *)sqlite3_column_text(get, at);
    }
}

int store_read_texts(struct store *s, struct err *e)
{
    struct sqlite3_stmt *get = NULL;
    int rc = store_prepare(s, &get, "SELECT id, value FROM texts ORDER BY id", e), code = SQLITE_DONE;
    while (!rc && (code = sqlite3_step(get)) == SQLITE_ROW) {
        char buf[NUM_TEXT];
        const char *text = text_of(buf, get, 1);
        if (!text || sqlite3_column_int64(get, 0) != s->texts.n) {
            code = SQLITE_CORRUPT;
            break;
        }
        rc = store_texts_add(&s->texts, text, e);
    }
    sqlite3_finalize(get);
    return rc || code == SQLITE_DONE ? rc : store_fail(s, code, e);
}

/* Give a text a number, in memory and in the file. */
static int add_text(struct store *s, const char *text, struct err *e)
{
    int rc = s->put_text ? 0 : store_prepare(s, &s->put_text, "INSERT INTO texts VALUES(?1, ?2)", e);
    if (rc)
        return rc;
    sqlite3_bind_int64(s->put_text, 1, s->texts.n);
    bind_text(s->put_text, 2, text, true);
    rc = store_run(s, s->put_text, e);
    return rc ? rc : store_texts_add(&s->texts, text, e);
}

static int put_text(struct store *s, struct sqlite3_stmt *put, int at, int32_t col, const char *text,
                    struct err *e)
{
    int32_t id = store_texts_find(&s->texts, text);
    if (id < 0 && s->texts.n < MOST_TEXTS && s->n_texts[col] < SAMPLE_OF_COLUMN) {
        int rc = add_text(s, text, e);
        if (rc)
            return rc;
        s->n_texts[col]++;
        id = s->texts.n - 1;
    }
    int code = id < 0 ? bind_text(put, at, text, false) : sqlite3_bind_int64(put, at, id);
    return code ? store_fail(s, code, e) : 0;
}

/* ---- writing ---- */

int store_begin(struct store *s, struct err *e)
{
    assert(!s->reads);
    if (s->failed)
        return err_set(e, ERR_IO, "%s: could not be written before, need a store that is opened again",
                       s->path);
    if (s->begun)
        return 0;
    int rc = store_exec(s, "BEGIN IMMEDIATE", e);
    s->begun = !rc;
    return rc;
}

static int prepare_put(struct store *s, enum store_part part, struct err *e)
{
    struct store_part_columns *p = &s->parts[part];
    struct text sql = { 0 };
    text_printf(&sql, "INSERT OR REPLACE INTO %s VALUES(?1", store_part_names[part]);
    for (int32_t i = 1; i < p->n; i++)
        text_printf(&sql, ", ?%d", (int)i + 1);
    text_puts(&sql, ")");
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_prepare(s, &p->put, text_str(&sql), e);
    text_free(&sql);
    return rc;
}

static bool has_value(const struct table *t, int32_t col, const struct table_cell *c)
{
    return t->kinds[col] == TABLE_TEXT    ? c->text != NULL
           : t->kinds[col] == TABLE_COUNT ? c->count != INT64_MIN
                                          : isfinite(c->real);
}

static bool has_any(const struct store_part_columns *p, const struct table *rows, int64_t row)
{
    for (int32_t i = 1; i < p->n; i++)
        if (has_value(rows, p->cols[i], table_cell(rows, row, p->cols[i])))
            return true;
    return false;
}

static int put_cell(struct store *s, struct sqlite3_stmt *put, int at, int32_t col,
                    const struct table_cell *c, struct err *e)
{
    int code;
    if (!has_value(&s->columns, col, c))
        code = sqlite3_bind_null(put, at);
    else if (s->columns.kinds[col] == TABLE_TEXT)
        return put_text(s, put, at, col, c->text, e);
    else if (s->columns.kinds[col] == TABLE_COUNT)
        code = sqlite3_bind_int64(put, at, c->count);
    else
        code = sqlite3_bind_double(put, at, c->real);
    return code ? store_fail(s, code, e) : 0;
}

static int remove_part(struct store *s, enum store_part part, int64_t point, struct err *e)
{
    struct store_part_columns *p = &s->parts[part];
    char sql[100];
    if (!p->any)
        return 0;
    snprintf(sql, sizeof sql, "DELETE FROM %s WHERE point = ?1", store_part_names[part]);
    int rc = p->remove ? 0 : store_prepare(s, &p->remove, sql, e);
    if (rc)
        return rc;
    sqlite3_bind_int64(p->remove, 1, point);
    return store_run(s, p->remove, e);
}

static int put_part(struct store *s, enum store_part part, const struct table *rows, int64_t row,
                    struct err *e)
{
    struct store_part_columns *p = &s->parts[part];
    int rc = p->put ? 0 : prepare_put(s, part, e);
    for (int32_t i = 0; i < p->n && !rc; i++)
        rc = put_cell(s, p->put, i + 1, p->cols[i], table_cell(rows, row, p->cols[i]), e);
    p->any = true;
    return rc ? rc : store_run(s, p->put, e);
}

int store_put_row(struct store *s, const struct table *rows, int64_t row, struct err *e)
{
    int rc = put_part(s, STORE_POINTS, rows, row, e);
    for (int part = 1; part < STORE_N_PARTS && !rc; part++)
        rc = has_any(&s->parts[part], rows, row)
                 ? put_part(s, (enum store_part)part, rows, row, e)
                 : remove_part(s, (enum store_part)part, table_cell(rows, row, s->point)->count, e);
    return rc;
}

int store_put(struct store *s, const struct table *rows, struct err *e)
{
    assert(rows->n_cols == s->columns.n_cols);
    int rc = store_begin(s, e);
    for (int64_t row = 0; row < rows->n_rows && !rc; row++)
        rc = store_put_row(s, rows, row, e);
    return rc ? store_give_up(s, rc) : 0;
}

int store_drop(struct store *s, int64_t point, struct err *e)
{
    int rc = store_begin(s, e);
    for (int part = 0; part < STORE_N_PARTS && !rc; part++)
        rc = remove_part(s, (enum store_part)part, point, e);
    return rc ? store_give_up(s, rc) : 0;
}

/* ---- reading ---- */

/* Dimensions of the widest row, and whether any has a plan: what is blank in all rows is not shown. */
static int find_shown(struct store *s, bool all, struct err *e)
{
    int64_t widest = INT64_MAX, plans = 1;
    int rc = 0;
    if (!all && s->n_dims >= 0)
        rc = store_number(s, "SELECT max(n_dims) FROM points", &widest, e);
    if (!all && s->plan >= 0 && !rc)
        rc = store_number(s, "SELECT count(*) FROM (SELECT 1 FROM training WHERE plan IS NOT NULL LIMIT 1)",
                          &plans, e);
    free(s->shown);
    s->shown = malloc((size_t)s->columns.n_cols * sizeof *s->shown);
    s->n_shown = 0;
    if (!rc && !s->shown)
        return err_nomem(e, "columns of a store");
    for (int32_t col = 0; col < s->columns.n_cols && !rc; col++)
        if (store_dim_of(s->columns.names[col]) <= widest &&
            (plans || store_part_of(s, col) != STORE_TRAINING))
            s->shown[s->n_shown++] = col;
    return rc;
}

static int prepare_get(struct store *s, struct err *e)
{
    struct text sql = { 0 };
    char buf[STORE_NAME];
    bool joined[STORE_N_PARTS] = { false };
    text_puts(&sql, "SELECT ");
    for (int32_t i = 0; i < s->n_shown; i++) {
        enum store_part part = store_part_of(s, s->shown[i]);
        joined[part] = true;
        text_printf(&sql, "%s%s.\"%s\"", i ? ", " : "", store_part_names[part],
                    store_name(buf, s, s->shown[i]));
    }
    text_puts(&sql, " FROM points");
    for (int part = 1; part < STORE_N_PARTS; part++)
        if (joined[part])
            text_printf(&sql, " LEFT JOIN %s ON %s.point = points.point", store_part_names[part],
                        store_part_names[part]);
    text_puts(&sql, " WHERE points.point > ?1 ORDER BY points.point LIMIT ?2");
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_prepare(s, &s->get, text_str(&sql), e);
    text_free(&sql);
    return rc;
}

static int begin_rows(struct store *s, struct table *rows, bool all, struct err *e)
{
    int rc = find_shown(s, all, e);
    if (!rc)
        rc = prepare_get(s, e);
    for (int32_t i = 0; i < s->n_shown && !rc; i++)
        table_column(rows, s->columns.names[s->shown[i]], s->columns.kinds[s->shown[i]]);
    return rc;
}

static bool is_null(const struct store *s, int at)
{
    return sqlite3_column_type(s->get, at) == SQLITE_NULL;
}

/* Asking SQLite for a type takes as long as asking for a value, and no value is read as 0. */
static void read_number(struct table *rows, const struct store *s, int at, enum table_kind kind)
{
    double x = kind == TABLE_REAL ? sqlite3_column_double(s->get, at) : 0;
    int64_t n = kind == TABLE_REAL ? 0 : sqlite3_column_int64(s->get, at);
    if (x == 0 && n == 0 && is_null(s, at))
        table_put_none(rows);
    else if (kind == TABLE_REAL)
        table_put_real(rows, x);
    else
        table_put_count(rows, n);
}

/* False: what stands there is nothing that we wrote. */
static bool read_text(struct table *rows, const struct store *s, int at)
{
    char buf[NUM_TEXT];
    if (sqlite3_column_type(s->get, at) != SQLITE_INTEGER) {
        table_put_text(rows, text_of(buf, s->get, at));
        return true;
    }
    int64_t id = sqlite3_column_int64(s->get, at);
    bool known = id >= 0 && id < s->texts.n;
    table_put_text(rows, known ? s->texts.texts[id] : NULL);
    return known;
}

static bool read_row(struct table *rows, const struct store *s)
{
    bool known = true;
    table_row(rows);
    for (int at = 0; at < s->n_shown; at++) {
        enum table_kind kind = s->columns.kinds[s->shown[at]];
        if (kind == TABLE_TEXT)
            known = read_text(rows, s, at) && known;
        else
            read_number(rows, s, at, kind);
    }
    return known;
}

int store_rows_of(struct store *s, int64_t after, int64_t most, struct table *rows, bool all, struct err *e)
{
    int rc = rows->n_cols && s->get ? 0 : begin_rows(s, rows, all, e);
    if (rc)
        return rc;
    table_clear(rows);
    sqlite3_bind_int64(s->get, 1, after);
    sqlite3_bind_int64(s->get, 2, most);
    int code;
    while ((code = sqlite3_step(s->get)) == SQLITE_ROW)
        if (!read_row(rows, s)) {
            code = SQLITE_CORRUPT;
            break;
        }
    rc = code == SQLITE_DONE ? 0 : store_fail(s, code, e);
    sqlite3_reset(s->get);
    if (rc)
        table_free(rows);
    return rc || !rows->failed ? rc : err_nomem(e, "rows of a store");
}

int store_rows(struct store *s, int64_t after, int64_t most, struct table *rows, struct err *e)
{
    return store_rows_of(s, after, most, rows, false, e);
}
