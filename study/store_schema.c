#include "study/store_inner.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "kinds/design/training_report.h"

const char *const store_part_names[STORE_N_PARTS] = { "points", "more_dims", "training" };

static const char *const kind_words[] = {
    [TABLE_TEXT] = "text", [TABLE_REAL] = "real", [TABLE_COUNT] = "count"
};

/* ---- which table a column is in ---- */

/* The number of a name such as bw12_GBps; 0 where it is none. */
static long dim_of(const char *name, const char *before, const char *after)
{
    size_t n = strlen(before);
    if (strncmp(name, before, n) != 0 || !isdigit((unsigned char)name[n]))
        return 0;
    char *end;
    long dim = strtol(name + n, &end, 10);
    return strcmp(end, after) == 0 ? dim : 0;
}

long store_dim_of(const char *name)
{
    long dim = dim_of(name, "bw", "_GBps");
    dim = dim ? dim : dim_of(name, "util", "");
    return dim ? dim : dim_of(name, "exposed", "_s");
}

static enum store_part part_of(const char *name, const struct table *training)
{
    if (store_dim_of(name) > STORE_NARROW)
        return STORE_MORE_DIMS;
    return table_find(training, name) >= 0 ? STORE_TRAINING : STORE_POINTS;
}

enum store_part store_part_of(const struct store *s, int32_t col)
{
    for (int part = STORE_N_PARTS - 1; part > 0; part--)
        for (int32_t i = 1; i < s->parts[part].n; i++)
            if (s->parts[part].cols[i] == col)
                return (enum store_part)part;
    return STORE_POINTS;
}

static void put_column(struct store *s, enum store_part part, int32_t col)
{
    struct store_part_columns *p = &s->parts[part];
    p->cols[p->n++] = col;
}

int store_sort_columns(struct store *s, const struct table *columns, struct err *e)
{
    struct table training = { 0 };
    training_row_columns(&training);
    for (int32_t col = 0; col < columns->n_cols; col++)
        table_column(&s->columns, columns->names[col], columns->kinds[col]);
    s->point = table_find(columns, "point");
    s->n_dims = table_find(columns, "n_dims");
    s->plan = table_find(columns, "plan");
    s->n_texts = calloc((size_t)columns->n_cols + 1, sizeof *s->n_texts);
    bool whole = !s->columns.failed && !training.failed && s->n_texts;
    for (int part = 0; part < STORE_N_PARTS; part++) {
        s->parts[part].cols = malloc(((size_t)columns->n_cols + 1) * sizeof *s->parts[part].cols);
        whole = whole && s->parts[part].cols;
        if (s->parts[part].cols)
            put_column(s, (enum store_part)part, s->point);
    }
    for (int32_t col = 0; col < columns->n_cols && whole; col++)
        if (col != s->point)
            put_column(s, part_of(columns->names[col], &training), col);
    table_free(&training);
    return whole ? 0 : err_nomem(e, "columns of a store");
}

/* ---- SQL ---- */

static void put_quoted(struct text *sql, const char *name)
{
    text_puts(sql, "\"");
    for (; *name; name++)
        text_add(sql, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    text_puts(sql, "\"");
}

/* SQLite does not tell A from a in names: a path of keys is a column of the view alone. */
static bool is_plain(const char *name)
{
    if (strlen(name) >= STORE_NAME)
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

const char *store_name(char buf[STORE_NAME], const struct store *s, int32_t col)
{
    if (is_plain(s->columns.names[col]))
        return s->columns.names[col];
    snprintf(buf, STORE_NAME, "key%d", (int)col);
    return buf;
}

static void create_part(struct text *sql, const struct store *s, enum store_part part)
{
    /* A text is its number, or where there are too many of them itself: a column of no type. A real has none
     * either: SQLite would turn -0.0 into 0 in a column of type REAL. */
    char name[STORE_NAME];
    text_printf(sql, "CREATE TABLE %s(", store_part_names[part]);
    for (int32_t i = 0; i < s->parts[part].n; i++) {
        int32_t col = s->parts[part].cols[i];
        text_printf(sql, "%s\"%s\"%s", i ? ", " : "", store_name(name, s, col),
                    !i                                     ? " INTEGER PRIMARY KEY"
                    : s->columns.kinds[col] == TABLE_COUNT ? " INTEGER"
                                                           : "");
    }
    text_puts(sql, ");\n");
}

static void create_view(struct text *sql, const struct store *s)
{
    char buf[STORE_NAME];
    text_puts(sql, "CREATE VIEW results AS SELECT");
    for (int32_t col = 0; col < s->columns.n_cols; col++) {
        const char *table = store_part_names[store_part_of(s, col)], *name = store_name(buf, s, col);
        text_puts(sql, col ? ",\n  " : "\n  ");
        if (s->columns.kinds[col] == TABLE_TEXT)
            text_printf(sql,
                        "CASE typeof(%s.\"%s\") WHEN 'integer' THEN "
                        "(SELECT value FROM texts WHERE id = %s.\"%s\") ELSE %s.\"%s\" END",
                        table, name, table, name, table, name);
        else
            text_printf(sql, "%s.\"%s\"", table, name);
        text_puts(sql, " AS ");
        put_quoted(sql, s->columns.names[col]);
    }
    text_puts(sql, "\nFROM points");
    for (int part = 1; part < STORE_N_PARTS; part++)
        text_printf(sql, " LEFT JOIN %s ON %s.point = points.point", store_part_names[part],
                    store_part_names[part]);
    text_puts(sql, ";\n");
}

static void create_columns(struct text *sql, const struct store *s)
{
    char buf[STORE_NAME];
    text_puts(sql, "CREATE TABLE columns(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, "
                   "in_table TEXT, in_column TEXT);\n");
    for (int32_t col = 0; col < s->columns.n_cols; col++) {
        char *row = sqlite3_mprintf("INSERT INTO columns VALUES(%d, %Q, %Q, %Q, %Q);\n", (int)col,
                                    s->columns.names[col], kind_words[s->columns.kinds[col]],
                                    store_part_names[store_part_of(s, col)], store_name(buf, s, col));
        text_puts(sql, row ? row : "");
        sql->failed = sql->failed || !row;
        sqlite3_free(row);
    }
}

int store_create(struct store *s, struct err *e)
{
    struct text sql = { 0 };
    text_puts(&sql, "CREATE TABLE weft(key TEXT PRIMARY KEY, value) WITHOUT ROWID;\n"
                    "CREATE TABLE done(first INTEGER PRIMARY KEY, n INTEGER NOT NULL);\n"
                    "CREATE TABLE texts(id INTEGER PRIMARY KEY, value);\n");
    create_columns(&sql, s);
    for (int part = 0; part < STORE_N_PARTS; part++)
        create_part(&sql, s, (enum store_part)part);
    create_view(&sql, s);
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_exec(s, text_str(&sql), e);
    text_free(&sql);
    return rc;
}

/* ---- reading ---- */

static int add_read(struct table *columns, const char *name, const char *kind)
{
    for (int k = 0; name && kind && k <= TABLE_COUNT; k++)
        if (strcmp(kind, kind_words[k]) == 0) {
            table_column(columns, name, (enum table_kind)k);
            return columns->failed ? SQLITE_NOMEM : SQLITE_ROW;
        }
    return SQLITE_CORRUPT;
}

int store_read_columns(struct table *columns, struct store *s, struct err *e)
{
    struct sqlite3_stmt *get = NULL;
    int rc = store_prepare(s, &get, "SELECT name, kind FROM columns ORDER BY id", e);
    if (rc)
        return rc;
    int code;
    while ((code = sqlite3_step(get)) == SQLITE_ROW) {
        code = add_read(columns, (const char *)sqlite3_column_text(get, 0),
                        (const char *)sqlite3_column_text(get, 1));
        if (code != SQLITE_ROW)
            break;
    }
    sqlite3_finalize(get);
    int32_t point = table_find(columns, "point");
    if (code == SQLITE_DONE && (point < 0 || columns->kinds[point] != TABLE_COUNT))
        code = SQLITE_CORRUPT;
    return code == SQLITE_DONE ? 0 : store_fail(s, code, e);
}
