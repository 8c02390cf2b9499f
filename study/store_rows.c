/*
 * Rows put and read. A real is kept with every bit; a text as its number in table `texts`, or where a column
 * has too many different ones as itself.
 *
 * Most texts repeat (words of status, names of networks, values of axes), so a number of a few bytes stands
 * in place of the text. The numbers live in memory for as long as the store is open; a text gets one when it
 * first comes, in the transaction of the row. A column that brings more than SAMPLE_OF_COLUMN new texts gets
 * no more numbers, since an axis of a million values would fill the table for nothing.
 *
 * Storage classes tell apart what a cell holds: INTEGER in a column of texts is a number of a text, FLOAT a
 * text that is a number as we write it, TEXT any other. NULL is blank. Every value that was put comes back
 * the same: reals bit by bit (the columns have no type, as REAL would turn -0.0 into 0), texts letter by
 * letter.
 */
#include <assert.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/err.h"
#include "base/num.h"
#include "base/text.h"
#include "study/store_inner.h"

/* ---- texts by their number ---- */

static int32_t texts_find(const struct store_texts *t, const char *s)
{
    hash_each (id, &t->numbers, hash_text(s))
        if (strcmp(t->texts[id], s) == 0)
            return id;
    return -1;
}

/* Not there yet. Numbers are places in the list, so they never change. */
static int texts_add(struct store_texts *t, const char *s, struct err *e)
{
    char *copy = vec_reserve(t->texts, t->cap, t->n + 1) ? strdup(s) : NULL;
    if (!copy || !hash_add(&t->numbers, hash_text(s), t->n)) {
        free(copy);
        return err_nomem(e, "texts of a store");
    }
    t->texts[t->n++] = copy;
    return 0;
}

void store_texts_free(struct store_texts *t)
{
    for (int32_t i = 0; i < t->n; i++)
        free(t->texts[i]);
    free(t->texts);
    hash_free(&t->numbers);
    *t = (struct store_texts){ 0 };
}

enum {
    MOST_TEXTS = 1 << 16, /* that have a number; what comes later stands in the rows */
    MOST_EXACT_BITS = 53, /* whole numbers that a double holds */
    SAMPLE_OF_COLUMN =
        1 << 12 /* texts of one column that get a number: an axis of a million values has none */
};

/* ---- texts ---- */

/* A value into a statement, and into the hash of its row. */
static int bind_integer(struct sqlite3_stmt *put, int at, int64_t n, uint64_t *h)
{
    store_hash_integer(h, n);
    return sqlite3_bind_int64(put, at, n);
}

static int bind_real(struct sqlite3_stmt *put, int at, double x, uint64_t *h)
{
    store_hash_real(h, x);
    return sqlite3_bind_double(put, at, x);
}

/*
 * A text that is a number, written as we would write it, is kept as that number: so people compare it with
 * numbers. `whole` is for numbers of table texts; in a row a whole number is the number of a text.
 */
static int bind_text(struct sqlite3_stmt *put, int at, const char *text, bool whole, uint64_t *h)
{
    char buf[NUM_TEXT];
    int64_t n;
    double x;
    if (whole && num_parse_count(text, &n) && n < INT64_C(1) << MOST_EXACT_BITS)
        return bind_integer(put, at, n, h);
    if (num_parse_real(text, &x) && strcmp(num_format(buf, x), text) == 0)
        return bind_real(put, at, x, h);
    size_t size = strlen(text);
    store_hash_text(h, text, size);
    return sqlite3_bind_text64(put, at, text, size, SQLITE_STATIC, SQLITE_UTF8);
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
        /* Numbers go from 0 without gaps: anything else was not written by this program. */
        if (!text || sqlite3_column_int64(get, 0) != s->texts.n) {
            code = SQLITE_CORRUPT;
            break;
        }
        rc = texts_add(&s->texts, text, e);
    }
    sqlite3_finalize(get);
    return rc || code == SQLITE_DONE ? rc : store_fail(s, code, e);
}

/* Give a text a number, in memory and in the file. Where the transaction is given up, the numbers in memory
 * are ahead of the file: the store then takes no more rows (store_give_up()). */
static int add_text(struct store *s, const char *text, struct err *e)
{
    int rc = s->put_text ? 0 : store_prepare(s, &s->put_text, "INSERT INTO texts VALUES(?1, ?2)", e);
    if (rc)
        return rc;
    uint64_t h = STORE_HASH_SEED;
    bind_integer(s->put_text, 1, s->texts.n, &h);
    bind_text(s->put_text, 2, text, true, &h);
    rc = store_run(s, s->put_text, e);
    store_sum_add(&s->texts_sum, h);
    return rc ? rc : texts_add(&s->texts, text, e);
}

/* A text that has a number already is used by any column, whatever its own count. */
static int put_text(struct store *s, struct store_table *t, struct sqlite3_stmt *put, int at, int32_t col,
                    const char *text, uint64_t *h, struct err *e)
{
    int32_t id = texts_find(&s->texts, text);
    if (id < 0 && s->texts.n < MOST_TEXTS && t->n_texts[col] < SAMPLE_OF_COLUMN) {
        int rc = add_text(s, text, e);
        if (rc)
            return rc;
        t->n_texts[col]++;
        id = s->texts.n - 1;
    }
    int code = id < 0 ? bind_text(put, at, text, false, h) : bind_integer(put, at, id, h);
    return code ? store_fail(s, code, e) : 0;
}

/* ---- writing ---- */

int store_begin(struct store *s, struct err *e)
{
    assert(!s->reads);
    if (s->failed)
        return err_set(e, ERR_IO, "%s: could not be written before; open the store again", s->path);
    if (s->begun)
        return 0;
    /*
     * The write lock at once: a reader's snapshot cannot stand in the way later, in the middle of the rows.
     */
    int rc = store_exec(s, "BEGIN IMMEDIATE", e);
    s->begun = !rc;
    return rc;
}

static int prepare_put(struct store *s, struct store_part *p, struct err *e)
{
    struct text sql = { 0 };
    text_printf(&sql, "INSERT OR IGNORE INTO %s VALUES(?1", p->name);
    for (int32_t i = 1; i < p->n; i++)
        text_printf(&sql, ", ?%d", (int)i + 1);
    text_puts(&sql, ")");
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_prepare(s, &p->put, text_str(&sql), e);
    text_free(&sql);
    return rc;
}

/* Infinities are none: SQLite has no way to give NaN back, and rows are compared as exports are. */
static bool store_has_value(const struct table *t, int32_t col, const struct table_cell *c)
{
    return t->kinds[col] == TABLE_TEXT    ? c->text != NULL
           : t->kinds[col] == TABLE_COUNT ? c->count != INT64_MIN
                                          : isfinite(c->real);
}

/* A part that has nothing of the row gets no row of it. */
static bool has_any(const struct store_table *t, const struct store_part *p, const struct table *rows,
                    int64_t row)
{
    for (int32_t i = t->n_keys; i < p->n; i++)
        if (store_has_value(rows, p->cols[i], table_cell(rows, row, p->cols[i])))
            return true;
    return false;
}

static int put_cell(struct store *s, struct store_table *t, struct sqlite3_stmt *put, int at, int32_t col,
                    const struct table_cell *c, uint64_t *h, struct err *e)
{
    int code;
    if (!store_has_value(&t->columns, col, c)) {
        store_hash_null(h);
        code = sqlite3_bind_null(put, at);
    } else if (t->columns.kinds[col] == TABLE_TEXT)
        return put_text(s, t, put, at, col, c->text, h, e);
    else if (t->columns.kinds[col] == TABLE_COUNT)
        code = bind_integer(put, at, c->count, h);
    else
        code = bind_real(put, at, c->real, h);
    return code ? store_fail(s, code, e) : 0;
}

/* "WHATs name WHERE keys", for the row with these keys. */
static int prepare_keyed(struct store *s, const struct store_table *t, const struct store_part *p,
                         struct sqlite3_stmt **out, const char *what, struct err *e)
{
    struct text sql = { 0 };
    if (*out)
        return 0;
    text_printf(&sql, "%s FROM %s WHERE \"%s\" = ?1", what, p->name, t->names[0]);
    if (t->n_keys > 1)
        text_printf(&sql, " AND \"%s\" = ?2", t->names[1]);
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_prepare(s, out, text_str(&sql), e);
    text_free(&sql);
    return rc;
}

/* Out of the table and of its checksum, if it is there: by what the file has, which is not in memory. */
static int remove_part(struct store *s, const struct store_table *t, struct store_part *p,
                       const int64_t keys[2], struct err *e)
{
    /* No row of this part was ever put: no need to ask SQLite for each row. */
    if (!p->sum.n)
        return 0;
    int rc = prepare_keyed(s, t, p, &p->find, "SELECT *", e);
    if (!rc)
        rc = prepare_keyed(s, t, p, &p->remove, "DELETE", e);
    if (!rc)
        rc = store_bind(s, p->find, 1, keys, t->n_keys, e);
    if (!rc)
        rc = store_bind(s, p->remove, 1, keys, t->n_keys, e);
    if (rc)
        return rc;
    int code = sqlite3_step(p->find);
    uint64_t h = code == SQLITE_ROW ? store_hash_row(p->find) : 0;
    sqlite3_reset(p->find);
    if (code == SQLITE_DONE)
        return 0;
    if (code != SQLITE_ROW)
        return store_fail(s, code, e);
    store_sum_take(&p->sum, h);
    return store_run(s, p->remove, e);
}

/* Keys of a row, which come first. */
static void row_keys(int64_t keys[2], const struct store_table *t, const struct table *rows, int64_t row)
{
    for (int32_t key = 0; key < t->n_keys; key++)
        keys[key] = table_count(rows, row, key);
}

/* @p replaced: set where a row with these keys was there. Most rows are new: only where none was added is the
 * old one looked for. */
static int put_part_cells(struct store *s, struct store_table *t, struct store_part *p,
                          const struct table *rows, int64_t row, bool *replaced, struct err *e)
{
    uint64_t h = STORE_HASH_SEED;
    int rc = p->put ? 0 : prepare_put(s, p, e);
    for (int32_t i = 0; i < p->n && !rc; i++)
        rc = put_cell(s, t, p->put, i + 1, p->cols[i], table_cell(rows, row, p->cols[i]), &h, e);
    if (!rc)
        rc = store_run(s, p->put, e);
    if (!rc && sqlite3_changes(s->db) == 0) {
        int64_t keys[2];
        *replaced = true;
        row_keys(keys, t, rows, row);
        rc = remove_part(s, t, p, keys, e);
        if (!rc)
            rc = store_run(s, p->put, e);
    }
    store_sum_add(&p->sum, h);
    return rc;
}

int store_put_row(struct store *s, int32_t table, const struct table *rows, int64_t row, struct err *e)
{
    struct store_table *t = &s->tables[table];
    int64_t keys[2];
    bool replaced = false;
    int rc = put_part_cells(s, t, &t->parts[0], rows, row, &replaced, e);
    row_keys(keys, t, rows, row);
    for (int32_t part = 1; part < t->n_parts && !rc; part++) {
        struct store_part *p = &t->parts[part];
        bool known = false;
        /* A row that takes the place of another must not keep cells of that one in parts that it has nothing
         * for. */
        if (has_any(t, p, rows, row))
            rc = put_part_cells(s, t, p, rows, row, &known, e);
        else if (replaced)
            rc = remove_part(s, t, p, keys, e);
    }
    return rc;
}

int store_put(struct store *s, int32_t table, const struct table *rows, struct err *e)
{
    assert(rows->n_cols == s->tables[table].columns.n_cols);
    int rc = rows->n_rows ? store_begin(s, e) : 0;
    for (int64_t row = 0; row < rows->n_rows && !rc; row++)
        rc = store_put_row(s, table, rows, row, e);
    return rc ? store_give_up(s, rc) : 0;
}

/* ---- rows that stay in memory ---- */

/* Extra tables of a study that nobody stores: written to a file they would cost more than the runs. */
static bool is_held(const struct store *s, int32_t table)
{
    return s->temporary && table >= STORE_EXTRA;
}

int store_take(struct store *s, int32_t table, struct table *rows, struct err *e)
{
    struct store_table *t = &s->tables[table];
    if (!is_held(s, table))
        return store_put(s, table, rows, e);
    for (int64_t row = 0; row < rows->n_rows; row++) {
        int64_t id = table_count(rows, row, 0);
        /* Rows of one run come together: one entry for each run, not for each row. */
        if (t->n_stretches && t->stretches[t->n_stretches - 1].id == id)
            continue;
        if (!vec_reserve(t->stretches, t->cap_stretches, t->n_stretches + 1))
            return err_nomem(e, "rows of a study");
        t->stretches[t->n_stretches++] = (struct store_stretch){ id, t->held.n_rows + row };
    }
    table_columns_of(&t->held, rows);
    table_take_rows(&t->held, rows);
    t->sorted = false;
    return t->held.failed ? err_nomem(e, "rows of a study") : 0;
}

static int by_id(const void *a, const void *b)
{
    const struct store_stretch *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* As SQLite gives values back: none that is not finite. */
static void put_held(struct table *to, const struct table *held, int64_t row)
{
    table_row(to);
    for (int32_t col = 0; col < held->n_cols; col++)
        if (store_has_value(held, col, table_cell(held, row, col)))
            table_put_cell(to, held, row, col);
        else
            table_put_none(to);
}

static int next_held(struct store_table *t, struct store_walk *w, int64_t most, struct table *rows,
                     struct err *e)
{
    if (!t->sorted && t->n_stretches)
        qsort(t->stretches, (size_t)t->n_stretches, sizeof *t->stretches, by_id);
    t->sorted = true;
    table_columns_of(rows, &t->columns);
    table_clear(rows);
    int64_t n = t->n_stretches;
    int64_t at = vec_find(t->stretches, n, sizeof *t->stretches, offsetof(struct store_stretch, id), w->id);
    for (; at < n && t->stretches[at].id <= w->upto && rows->n_rows < most; at++) {
        const struct store_stretch *x = &t->stretches[at];
        /* Of the run that the last call stopped in, from behind its last row. */
        int64_t row = x->first + (x->id == w->id ? w->seq + 1 : 0);
        for (; row < t->held.n_rows && table_count(&t->held, row, 0) == x->id && rows->n_rows < most; row++) {
            put_held(rows, &t->held, row);
            w->id = x->id;
            w->seq = row - x->first;
        }
    }
    return rows->failed ? err_nomem(e, "rows of a store") : 0;
}

int store_clear(struct store *s, int32_t table, struct err *e)
{
    struct store_table *t = &s->tables[table];
    int rc = store_begin(s, e);
    for (int32_t part = 0; part < t->n_parts && !rc; part++) {
        struct text sql = { 0 };
        text_printf(&sql, "DELETE FROM %s", t->parts[part].name);
        rc = text_check(&sql, e);
        if (!rc)
            rc = store_exec(s, text_str(&sql), e);
        text_free(&sql);
        t->parts[part].sum = (struct store_sum){ 0 };
    }
    return rc ? store_give_up(s, rc) : 0;
}

/* A row that is not there is no error: it came and went between two commits. */
int store_drop(struct store *s, int64_t id, struct err *e)
{
    struct store_table *t = &s->tables[STORE_RESULTS];
    const int64_t keys[2] = { id };
    int rc = store_begin(s, e);
    for (int32_t part = 0; part < t->n_parts && !rc; part++)
        rc = remove_part(s, t, &t->parts[part], keys, e);
    return rc ? store_give_up(s, rc) : 0;
}

/* ---- columns of the results ---- */

int store_shown(struct table *out, const struct store *s, struct err *e)
{
    const struct store_table *t = &s->tables[STORE_RESULTS];
    int32_t *entries = malloc((size_t)(t->columns.n_cols + s->head.n_axes + 1) * sizeof *entries);
    *out = (struct table){ 0 };
    if (!entries)
        return err_nomem(e, "columns of a store");
    int32_t n = store_entries(entries, s, STORE_RESULTS, false);
    for (int32_t i = 0; i < n; i++)
        store_put_entry(out, s, t, entries[i]);
    free(entries);
    return out->failed ? err_nomem(e, "columns of a store") : 0;
}

int store_show(struct store *s, const bool *show, struct err *e)
{
    /* Those of store_shown(): version 4 has the point and its axes in place of the key. */
    size_t n = (size_t)(s->tables[STORE_RESULTS].columns.n_cols + (s->head.kind ? s->head.n_axes : 0));
    for (int32_t k = 0; k < store_n_parts(s); k++) {
        struct store *part = store_part(s, k);
        free(part->show);
        part->show = show ? malloc(n) : NULL;
        if (show && !part->show)
            return err_nomem(e, "columns of a store");
        if (show)
            memcpy(part->show, show, n);
    }
    return 0;
}

bool store_is_shown(const struct store *s, const char *column)
{
    const struct store_table *t = &s->tables[STORE_RESULTS];
    int32_t col = table_find(&t->columns, column);
    /* Of version 4 keys are not shown, but the point and axes stand before. */
    return col < 0 || !s->show || s->show[col + (s->head.kind ? (int32_t)s->head.n_axes : 0)];
}

/* Of one of the results' own columns: its largest value, or whether it has any (1, 0). */
static int ask_column(struct store *s, const char *column, bool largest, int64_t *out, struct err *e)
{
    const struct store_table *t = &s->tables[STORE_RESULTS];
    int32_t col = table_find(&t->columns, column);
    struct text sql = { 0 };
    *out = 0;
    if (col < 0)
        return 0;
    const char *part = t->parts[t->part_of[col]].name, *name = t->names[col];
    if (largest)
        text_printf(&sql, "SELECT max(\"%s\") FROM %s", name, part);
    else
        text_printf(&sql, "SELECT count(*) FROM (SELECT 1 FROM %s WHERE \"%s\" IS NOT NULL LIMIT 1)", part,
                    name);
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_number(s, text_str(&sql), out, e);
    text_free(&sql);
    return rc;
}

/* The largest of what the files of a store say. */
static int ask_parts(struct store *s, const char *column, bool largest, int64_t *out, struct err *e)
{
    int rc = 0;
    *out = 0;
    for (int32_t k = 0; k < store_n_parts(s) && !rc; k++) {
        int64_t n;
        rc = ask_column(store_part(s, k), column, largest, &n, e);
        *out = !rc && n > *out ? n : *out;
    }
    return rc;
}

int store_max(struct store *s, const char *column, int64_t *out, struct err *e)
{
    return ask_parts(s, column, true, out, e);
}

int store_any(struct store *s, const char *column, bool *out, struct err *e)
{
    int64_t n;
    int rc = ask_parts(s, column, false, &n, e);
    *out = n > 0;
    return rc;
}

static int ask_word(struct store *s, const char *column, const char *word, bool *out, struct err *e)
{
    const struct store_table *t = &s->tables[STORE_RESULTS];
    int32_t col = table_find(&t->columns, column), id = texts_find(&s->texts, word);
    struct sqlite3_stmt *get = NULL;
    struct text sql = { 0 };
    *out = false;
    if (col < 0)
        return 0;
    text_printf(&sql, "SELECT 1 FROM %s WHERE \"%s\" = ?1 LIMIT 1", t->parts[t->part_of[col]].name,
                t->names[col]);
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_prepare(s, &get, text_str(&sql), e);
    if (!rc) {
        uint64_t none = 0;
        int code = id < 0 ? bind_text(get, 1, word, false, &none) : bind_integer(get, 1, id, &none);
        code = code ? code : sqlite3_step(get);
        *out = code == SQLITE_ROW;
        rc = code == SQLITE_ROW || code == SQLITE_DONE ? 0 : store_fail(s, code, e);
    }
    sqlite3_finalize(get);
    text_free(&sql);
    return rc;
}

int store_any_word(struct store *s, const char *column, const char *word, bool *out, struct err *e)
{
    int rc = 0;
    *out = false;
    for (int32_t k = 0; k < store_n_parts(s) && !rc && !*out; k++)
        rc = ask_word(store_part(s, k), column, word, out, e);
    return rc;
}

/* ---- reading ---- */

struct store_walk store_walk_all(int32_t table, bool raw)
{
    return (struct store_walk){ .table = table, .raw = raw, .id = -1, .seq = -1, .upto = INT64_MAX };
}

/* Keys behind what is shown: a walk goes on from them. */
static int prepare_get(struct store *s, struct store_table *t, bool raw, struct err *e)
{
    struct text sql = { 0 };
    const char *part = t->parts[0].name;
    text_puts(&sql, "SELECT ");
    for (int32_t i = 0; i < t->n_shown[raw]; i++) {
        store_put_source(&sql, s, t, t->shown[raw][i]);
        text_puts(&sql, ", ");
    }
    for (int32_t key = 0; key < t->n_keys; key++)
        text_printf(&sql, "%s%s.\"%s\"", key ? ", " : "", part, t->names[key]);
    store_put_from(&sql, s, t, t->shown[raw], t->n_shown[raw]);
    const char *id = t->names[0];
    if (t->n_keys == 1)
        text_printf(&sql, " WHERE %s.\"%s\" > ?1 AND %s.\"%s\" <= ?2 ORDER BY %s.\"%s\" LIMIT ?3", part, id,
                    part, id, part, id);
    else
        /* Row values compare key by key, as an index does: SQLite seeks to the place. */
        text_printf(&sql,
                    " WHERE (%s.\"%s\", %s.\"%s\") > (?1, ?4) AND %s.\"%s\" <= ?2 "
                    "ORDER BY %s.\"%s\", %s.\"%s\" LIMIT ?3",
                    part, id, part, t->names[1], part, id, part, id, part, t->names[1]);
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_prepare(s, &t->get[raw], text_str(&sql), e);
    text_free(&sql);
    return rc;
}

static int begin_walk(struct store *s, const struct store_walk *w, struct table *rows, struct err *e)
{
    struct store_table *t = &s->tables[w->table];
    const bool *show = w->table == STORE_RESULTS && !w->raw ? s->show : NULL;
    int32_t n, *entries = malloc((size_t)(t->columns.n_cols + s->head.n_axes + 1) * sizeof *entries);
    free(t->shown[w->raw]);
    t->shown[w->raw] = entries;
    t->n_shown[w->raw] = 0;
    if (!entries)
        return err_nomem(e, "columns of a store");
    n = store_entries(entries, s, w->table, w->raw);
    for (int32_t i = 0; i < n; i++)
        if (!show || show[i])
            entries[t->n_shown[w->raw]++] = entries[i];
    for (int32_t i = 0; i < t->n_shown[w->raw]; i++)
        store_put_entry(rows, s, t, entries[i]);
    return rows->failed ? err_nomem(e, "columns of a store") : prepare_get(s, t, w->raw, e);
}

static bool is_null(struct sqlite3_stmt *get, int at)
{
    return sqlite3_column_type(get, at) == SQLITE_NULL;
}

/* Asking SQLite for a type takes as long as asking for a value, and no value is read as 0. */
static void read_number(struct table *rows, struct sqlite3_stmt *get, int at, enum table_kind kind)
{
    double x = kind == TABLE_REAL ? sqlite3_column_double(get, at) : 0;
    int64_t n = kind == TABLE_REAL ? 0 : sqlite3_column_int64(get, at);
    if (x == 0 && n == 0 && is_null(get, at))
        table_put_none(rows);
    else if (kind == TABLE_REAL)
        table_put_real(rows, x);
    else
        table_put_count(rows, n);
}

/* False: what stands there is nothing that we wrote. */
static bool store_read_text(struct table *rows, const struct store *s, struct sqlite3_stmt *get, int at)
{
    char buf[NUM_TEXT];
    if (sqlite3_column_type(get, at) != SQLITE_INTEGER) {
        table_put_text(rows, text_of(buf, get, at));
        return true;
    }
    int64_t id = sqlite3_column_int64(get, at);
    bool known = id >= 0 && id < s->texts.n;
    table_put_text(rows, known ? s->texts.texts[id] : NULL);
    return known;
}

static bool store_read_row(struct table *rows, const struct store *s, struct sqlite3_stmt *get)
{
    bool known = true;
    table_row(rows);
    for (int at = 0; at < rows->n_cols; at++) {
        enum table_kind kind = rows->kinds[at];
        if (kind == TABLE_TEXT)
            known = store_read_text(rows, s, get, at) && known;
        else
            read_number(rows, get, at, kind);
    }
    return known;
}

int store_next_alone(struct store *s, struct store_walk *w, int64_t most, struct table *rows, struct err *e)
{
    struct store_table *t = &s->tables[w->table];
    assert(w->raw || !is_held(s, w->table));
    if (is_held(s, w->table))
        return next_held(t, w, most, rows, e);
    /*
     * A new table of rows begins a walk: the statement is made anew, as columns may have been hidden since.
     */
    int rc = rows->n_cols && t->get[w->raw] ? 0 : begin_walk(s, w, rows, e);
    if (rc)
        return rc;
    struct sqlite3_stmt *get = t->get[w->raw];
    table_clear(rows);
    /* From behind the last row by key, not by an open cursor: between two calls nothing is locked, and rows
     * may be put. */
    rc = store_bind(s, get, 1, (int64_t[]){ w->id, w->upto, most, w->seq }, t->n_keys > 1 ? 4 : 3, e);
    int code = SQLITE_DONE;
    while (!rc && (code = sqlite3_step(get)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(get, rows->n_cols);
        int64_t seq = t->n_keys > 1 ? sqlite3_column_int64(get, rows->n_cols + 1) : -1;
        /* Without this a disk that fails between two calls could send a walk in circles. */
        bool rises = id > w->id || (id == w->id && seq > w->seq);
        w->id = id;
        w->seq = seq;
        if (!rises || !store_read_row(rows, s, get)) {
            code = SQLITE_CORRUPT;
            break;
        }
    }
    if (code != SQLITE_DONE)
        rc = store_fail(s, code, e);
    sqlite3_reset(get);
    if (rc)
        table_free(rows);
    return rc || !rows->failed ? rc : err_nomem(e, "rows of a store");
}

int store_next(struct store *s, struct store_walk *w, int64_t most, struct table *rows, struct err *e)
{
    if (s->join && w->part == 0)
        return store_next_joined(s, w, most, rows, e);
    return store_next_alone(w->part ? store_part(s, w->part - 1) : s, w, most, rows, e);
}
