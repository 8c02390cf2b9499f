/*
 * The file of a store: who writes to it, which tables it has, what it says of itself, what is committed.
 *
 * SQLite in WAL mode with synchronous = NORMAL: a commit is an append to the log without fsync(), so that
 * several a second cost little; a killed process loses nothing that was committed, and a power cut may lose
 * the last commits but never tears one (sqlite.org/wal.html). At rest the log is folded into the file, so
 * that a store is one file that can be copied.
 *
 * A store may have hundreds of columns of which a row fills a few. Columns that few rows have are parts: SQL
 * tables of their own with the same key, joined in views. Views have the columns under the names of the CSV,
 * whatever the tables below are called. One row of table `columns` for each column says where it is, so that
 * a reader needs no rules.
 *
 * What identifies a study is its hash, which the kind takes from its document (keys, values, files put in)
 * and not from the text of files: a comment or another layout does not refuse a store, another value does.
 * The version of the program must be the same too, since another one may round or model otherwise.
 */
/* F_OFD_SETLK: a lock that belongs to the open file, not to the process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "study/store.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/infile.h"
#include "base/vec.h"
#include "study/store_inner.h"
#include "study/study.h"

enum {
    BUSY_MS = 10000,        /* how long a person's own write to the store may hold up a sweep */
    LOCK_BYTE = 0x40000400, /* behind the 512 bytes from 0x40000000 on that SQLite locks */
};

/* The system's reason where it has one: "disk I/O error" of SQLite tells nobody what to do. */
static const char *reason(const struct store *s)
{
    int code = s->db ? sqlite3_system_errno(s->db) : 0;
    return code ? strerror(code) : s->db ? sqlite3_errmsg(s->db) : "no connection";
}

/* SQLite opens to read what it could not make, and keeps the error of that: "no such file" beside a store
 * that is there is a log or journal that a full disk or a read-only file system refused. */
static bool lacks_log(const struct store *s)
{
    struct stat st;
    return s->db && sqlite3_system_errno(s->db) == ENOENT && stat(s->path, &st) == 0;
}

/* SQLite tells a page that the disk does not give (SQLITE_IOERR_CORRUPTFS) like one that is wrong. */
bool store_disk_fails(const struct store *s)
{
    int last = 0;
    return s->db && sqlite3_file_control(s->db, "main", SQLITE_FCNTL_LAST_ERRNO, &last) == SQLITE_OK &&
           last == EIO;
}

int store_fail(const struct store *s, int sqlite_code, struct err *e)
{
    /* The low byte is the code, above it are extended ones. */
    switch (sqlite_code & 0xff) {
    case SQLITE_NOMEM:
        return err_nomem(e, s->path);
    case SQLITE_FULL:
        return err_set(e, ERR_IO, "%s: disk is full", s->path);
    case SQLITE_IOERR:
        return err_set(e, ERR_IO, "%s: disk is failing or full (%s)", s->path, reason(s));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(e, ERR_PARSE, "%s: is in use by another process; wait for it to end", s->path);
    case SQLITE_NOTADB:
        return err_set(e, ERR_PARSE, "%s: is not a store written by weft sweep --store", s->path);
    case SQLITE_ERROR:
        /* All statements are ours: what they speak of is not in the file. */
        return err_set(e, ERR_PARSE, "%s: is damaged (SQLite: %s)", s->path,
                       s->db ? sqlite3_errmsg(s->db) : "no answer");
    case SQLITE_CORRUPT:
        if (store_disk_fails(s))
            return infile_cannot_read(e, s->path, EIO);
        return err_set(e, ERR_PARSE, "%s: is damaged", s->path);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        if (lacks_log(s))
            return err_set(e, ERR_IO, "%s: its log cannot be made beside it; is the disk full or read-only?",
                           s->path);
        return err_set(e, infile_fault(s->db ? sqlite3_system_errno(s->db) : 0),
                       "%s: cannot be opened (%s); file and folder must both be %s", s->path, reason(s),
                       s->reads ? "readable" : "writable");
    default:
        /* None that is known to happen. */
        return err_set(e, ERR_LIB, "%s: SQLite: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "no answer");
    }
}

int store_exec(struct store *s, const char *sql, struct err *e)
{
    int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return code ? store_fail(s, code, e) : 0;
}

/* What *out held is finalised. Persistent: statements live as long as the store. */
int store_prepare(struct store *s, struct sqlite3_stmt **out, const char *sql, struct err *e)
{
    sqlite3_finalize(*out);
    *out = NULL;
    int code = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code ? store_fail(s, code, e) : 0;
}

int store_bind(struct store *s, struct sqlite3_stmt *stmt, int first, const int64_t *numbers, int n,
               struct err *e)
{
    int code = SQLITE_OK;
    for (int i = 0; i < n && code == SQLITE_OK; i++)
        code = sqlite3_bind_int64(stmt, first + i, numbers[i]);
    return code ? store_fail(s, code, e) : 0;
}

int store_run(struct store *s, struct sqlite3_stmt *stmt, struct err *e)
{
    int code = sqlite3_step(stmt);
    int rc = code == SQLITE_DONE || code == SQLITE_ROW ? 0 : store_fail(s, code, e);
    /* Also after a failure: a statement that is not reset holds the transaction open. */
    sqlite3_reset(stmt);
    return rc;
}

int store_number(struct store *s, const char *sql, int64_t *out, struct err *e)
{
    struct sqlite3_stmt *stmt = NULL;
    *out = 0;
    int rc = store_prepare(s, &stmt, sql, e);
    if (rc)
        return rc;
    int code = sqlite3_step(stmt);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(stmt, 0);
    else if (code != SQLITE_DONE)
        rc = store_fail(s, code, e);
    sqlite3_finalize(stmt);
    return rc;
}

/* ---- the file ---- */

/*
 * SQLite has one writer at a time, but lets the next one in between two transactions. So the writer of a
 * store holds a lock of its own, as long as it has the store open. Closing any descriptor of a file drops
 * the locks that SQLite has on it: this one is opened before and closed after SQLite's.
 */
static int lock_file(struct store *s, struct err *e)
{
    struct stat st;
    /* A file that is made only to find that it cannot be locked goes again. */
    bool is_new = stat(s->path, &st) != 0;
    s->lock = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (s->lock < 0)
        return err_set(e, infile_fault(errno),
                       "%s: cannot be opened (%s); file and folder must both be writable", s->path,
                       strerror(errno));
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1 };
    /* A lock of the open file description: it ends with the process however that ends, and threads of one
     * process that open the store twice are kept apart as well, which locks of POSIX do not do. */
    if (fcntl(s->lock, F_OFD_SETLK, &whole) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return err_set(e, ERR_PARSE, "%s: is being written by another process; wait for it to end", s->path);
    int rc = err_set(e, ERR_PARSE, "%s: cannot be locked (%s); use a file system with locks", s->path,
                     strerror(errno));
    if (is_new)
        unlink(s->path);
    return rc;
}

/* What SQLite would say of these in other words, or not at all. */
static int check_file(const struct store *s, struct err *e)
{
    struct stat st;
    const char *slash = strrchr(s->path, '/');
    if (!*s->path)
        return err_set(e, ERR_PARSE, "name of the store is empty");
    if (strlen(slash ? slash + 1 : s->path) + strlen("-journal") > NAME_MAX)
        return err_set(e, ERR_PARSE, "%.40s..: is too long for a store, expected at most %zu bytes", s->path,
                       NAME_MAX - strlen("-journal"));
    bool found = stat(s->path, &st) == 0;
    if (!found && s->reads && errno == ENOENT)
        return err_set(e, ERR_PARSE, "%s: no such store", s->path);
    if (!found && s->reads)
        return infile_cannot_read(e, s->path, errno);
    if (!found)
        return 0;
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_PARSE, "%s: is %s, not a file", s->path,
                       S_ISDIR(st.st_mode) ? "a folder" : "a device or pipe");
    if (s->reads && st.st_size == 0)
        return err_set(e, ERR_PARSE, "%s: is empty, not a store", s->path);
    return 0;
}

static int connect_temporary(struct store *s, struct err *e)
{
    int code =
        sqlite3_open_v2("", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code)
        return store_fail(s, code, e);
    /* Nobody can come back to it: no journal, and on disk only what 64 MiB do not hold. */
    return store_exec(s, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536",
                      e);
}

/* To SQLite ":memory:" is no file, and "file:rows.db?mode=memory" need not be one: a path with a folder is.
 */
static int connect_file(struct store *s, bool reads, struct err *e)
{
    struct text path = { 0 };
    text_printf(&path, "%s%s", *s->path == '/' ? "" : "./", s->path);
    int rc = text_check(&path, e);
    int flags = reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int code = rc ? 0 : sqlite3_open_v2(text_str(&path), &s->db, flags | SQLITE_OPEN_NOMUTEX, s->vfs);
    text_free(&path);
    if (rc || code)
        return rc ? rc : store_fail(s, code, e);
    /* SQLite reads alone where it fails to open for writing. The lock shows that the file can be written. */
    if (!s->reads && s->lock >= 0 && sqlite3_db_readonly(s->db, "main") == 1)
        return err_set(e, ERR_IO, "%s: cannot be opened for writing, as it was a moment ago; try again",
                       s->path);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    return 0;
}

/* A writer that was killed while it folded its log in leaves a journal, which SQLite plays back before
 * anybody reads: that takes writing. What a reader finds is not folded in by it. */
static int connect_reader(struct store *s, struct err *e)
{
    int rc = connect_file(s, true, e);
    int code = rc ? 0 : sqlite3_exec(s->db, "PRAGMA schema_version", NULL, NULL, NULL) & 0xff;
    if (code != SQLITE_READONLY && code != SQLITE_CANTOPEN)
        return rc;
    sqlite3_close(s->db);
    s->db = NULL;
    rc = connect_file(s, false, e);
    if (!rc)
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
    return rc;
}

static int connect_store(struct store *s, struct err *e)
{
    if (s->temporary)
        return connect_temporary(s, e);
    /* A file without a name is this process's alone. */
    int rc = s->vfs ? 0 : check_file(s, e);
    if (!rc && !s->reads && !s->vfs)
        rc = lock_file(s, e);
    if (rc)
        return rc;
    /* The lock is taken: nobody else writes from here on, readers may come and go. */
    rc = s->reads ? connect_reader(s, e) : connect_file(s, false, e);
    if (rc)
        return rc;
    /* A store may come from anybody: its views must not call functions with effects, and cells of a page are
     * looked at before they are used. */
    return store_exec(
        s, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -32768", e);
}

static void finalize_table(struct store_table *t)
{
    for (int32_t i = 0; i < t->n_parts; i++) {
        sqlite3_finalize(t->parts[i].put);
        sqlite3_finalize(t->parts[i].find);
        sqlite3_finalize(t->parts[i].remove);
    }
    sqlite3_finalize(t->get[0]);
    sqlite3_finalize(t->get[1]);
}

/* Statements before their connection, the connection before the lock: see lock_file(). */
static void disconnect_store(struct store *s)
{
    for (int32_t i = 0; i < s->n_tables; i++)
        finalize_table(&s->tables[i]);
    sqlite3_finalize(s->put_text);
    sqlite3_finalize(s->put_span);
    sqlite3_finalize(s->remove_span);
    sqlite3_finalize(s->put_value);
    sqlite3_finalize(s->put_sum);
    sqlite3_finalize(s->get_sum);
    sqlite3_close(s->db);
    s->db = NULL;
    if (s->lock >= 0)
        close(s->lock);
    s->lock = -1;
}

/* ---- tables ---- */

static const char *const kind_words[] = {
    [TABLE_TEXT] = "text", [TABLE_REAL] = "real", [TABLE_COUNT] = "count"
};

int64_t store_row_id(int64_t point, int64_t row)
{
    return point << STORE_ROW_BITS | row;
}

/* SQLite does not tell A from a in names: a path of keys is a column of the view alone. */
static bool is_plain_name(const char *name)
{
    if (strlen(name) >= 64)
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/* The name of column @p col in its part; NULL: no memory. */
static char *name_in_part(const struct table *columns, int32_t col)
{
    char buf[16];
    bool plain = is_plain_name(columns->names[col]);
    for (int32_t i = 0; i < col && plain; i++)
        plain = strcasecmp(columns->names[i], columns->names[col]) != 0;
    snprintf(buf, sizeof buf, "key%d", (int)col);
    return strdup(plain ? columns->names[col] : buf);
}

/* The part of this name, made where it is new; -1: no memory. */
static int32_t part_named(struct store_table *t, const char *name)
{
    for (int32_t i = 0; i < t->n_parts; i++)
        if (strcmp(t->parts[i].name, name) == 0)
            return i;
    if (!vec_resize(t->parts, t->n_parts + 1))
        return -1;
    struct store_part *p = &t->parts[t->n_parts];
    *p = (struct store_part){ .name = strdup(name),
                              .cols = malloc(((size_t)t->columns.n_cols + 1) * sizeof *p->cols) };
    if (!p->name || !p->cols) {
        free(p->name);
        free(p->cols);
        return -1;
    }
    for (int32_t key = 0; key < t->n_keys; key++)
        p->cols[p->n++] = key;
    return t->n_parts++;
}

/* The first part has the keys of all rows, the others of those that have something in them. */
static int fill_parts(struct store_table *t, const char *first, const struct store_table_form *form)
{
    if (part_named(t, first) < 0)
        return -1;
    for (int32_t col = t->n_keys; col < t->columns.n_cols; col++) {
        const char *name = form->parts && form->parts[col] ? form->parts[col] : first;
        t->part_of[col] = part_named(t, name);
        if (t->part_of[col] < 0)
            return -1;
        struct store_part *p = &t->parts[t->part_of[col]];
        p->cols[p->n++] = col;
    }
    return 0;
}

/* The file does not say directions: the kind does, of the tables that people see. */
static void find_directions(const struct store *s, struct store_table *t)
{
    const struct study_kind *kind = s->head.kind ? study_kind_called(s->head.kind) : study_kinds[0];
    int32_t table = TABLE_ROWS;
    for (; kind && t != &s->tables[STORE_RESULTS] && table < kind->n_tables; table++)
        if (strcmp(kind->tables[table].word, t->word ? t->word : "") == 0)
            break;
    if (kind && table < kind->n_tables && !t->columns.failed)
        study_find_better(&t->columns, kind, table);
}

/* Of version 4 tables end in _rows, as the plain word is the view's name. */
static int add_table(struct store *s, const struct store_table_form *form, struct err *e)
{
    struct store_table *t = &s->tables[s->n_tables++];
    size_t n = (size_t)form->columns->n_cols + 1;
    struct text first = { 0 };
    text_printf(&first, "%s%s", form->word, s->head.kind ? "_rows" : "");
    *t = (struct store_table){ .word = strdup(form->word),
                               .n_keys = form->n_keys,
                               .names = calloc(n, sizeof *t->names),
                               .part_of = calloc(n, sizeof *t->part_of),
                               .n_texts = calloc(n, sizeof *t->n_texts) };
    table_columns_of(&t->columns, form->columns);
    find_directions(s, t);
    bool whole = t->word && t->names && t->part_of && t->n_texts && !t->columns.failed && !first.failed;
    for (int32_t col = 0; col < t->columns.n_cols && whole; col++) {
        t->names[col] = name_in_part(&t->columns, col);
        whole = t->names[col] != NULL;
    }
    whole = whole && fill_parts(t, text_str(&first), form) == 0;
    text_free(&first);
    return whole ? 0 : err_nomem(e, "tables of a store");
}

static int add_tables(struct store *s, const struct store_form *form, struct err *e)
{
    int rc = 0;
    s->tables = calloc((size_t)form->n_tables + 1, sizeof *s->tables);
    if (!s->tables)
        return err_nomem(e, "tables of a store");
    for (int32_t i = 0; i < form->n_tables && !rc; i++)
        rc = add_table(s, &form->tables[i], e);
    return rc;
}

static void free_table(struct store_table *t)
{
    for (int32_t i = 0; i < t->n_parts; i++) {
        free(t->parts[i].name);
        free(t->parts[i].cols);
    }
    for (int32_t col = 0; col < t->columns.n_cols && t->names; col++)
        free(t->names[col]);
    free(t->parts);
    free(t->names);
    free(t->part_of);
    free(t->n_texts);
    free(t->shown[0]);
    free(t->shown[1]);
    free(t->word);
    free(t->stretches);
    table_free(&t->held);
    table_free(&t->columns);
}

int32_t store_find_table(const struct store *s, const char *word)
{
    for (int32_t i = 0; i < s->n_tables; i++)
        if (strcmp(s->tables[i].word, word) == 0)
            return i;
    return -1;
}

const struct table *store_columns(const struct store *s, int32_t table)
{
    return &s->tables[table].columns;
}

/* For a store made like this one (merging); names are borrowed from it. */
int store_form_of(struct store_form *form, const struct store *s, struct err *e)
{
    struct store_table_form *tables = calloc((size_t)s->n_tables + 1, sizeof *tables);
    bool whole = tables != NULL;
    for (int32_t i = 0; i < s->n_tables && whole; i++) {
        const struct store_table *t = &s->tables[i];
        const char **parts = calloc((size_t)t->columns.n_cols + 1, sizeof *parts);
        for (int32_t col = 0; col < t->columns.n_cols && parts; col++)
            parts[col] = t->part_of[col] ? t->parts[t->part_of[col]].name : NULL;
        tables[i] = (struct store_table_form){ t->word, &t->columns, t->n_keys, parts };
        whole = parts != NULL;
    }
    *form = (struct store_form){ tables, s->n_tables };
    if (whole)
        return 0;
    store_form_free(form);
    return err_nomem(e, "tables of a store");
}

void store_form_free(struct store_form *form)
{
    for (int32_t i = 0; i < form->n_tables && form->tables; i++)
        free((void *)form->tables[i].parts);
    free((void *)form->tables);
    *form = (struct store_form){ 0 };
}

/* ---- what a row is read from ---- */

/* An entry of a row as it is shown: a column of its table, or one of these. */
enum { SHOWN_POINT = -1, SHOWN_AXIS = -2 /* axis k: SHOWN_AXIS - k */ };

static const struct store_table *entry_table(const struct store *s, const struct store_table *t,
                                             int32_t entry)
{
    return entry <= SHOWN_AXIS ? &s->tables[STORE_POINTS] : t;
}

static int32_t entry_column(int32_t entry)
{
    return entry <= SHOWN_AXIS ? 1 + SHOWN_AXIS - entry : entry;
}

void store_put_entry(struct table *out, const struct store *s, const struct store_table *t, int32_t entry)
{
    if (entry == SHOWN_POINT)
        table_column(out, "point", TABLE_COUNT);
    else
        table_column_of(out, &entry_table(s, t, entry)->columns, entry_column(entry));
}

const char *store_entry_name(const struct store *s, const struct store_table *t, int32_t entry)
{
    return entry == SHOWN_POINT ? "point" : entry_table(s, t, entry)->columns.names[entry_column(entry)];
}

enum table_kind store_entry_kind(const struct store *s, const struct store_table *t, int32_t entry)
{
    return entry == SHOWN_POINT ? TABLE_COUNT : entry_table(s, t, entry)->columns.kinds[entry_column(entry)];
}

/* Raw, or of version 3: the columns as they are. Else the point and its axes in place of keys. */
int32_t store_entries(int32_t *out, const struct store *s, int32_t table, bool raw)
{
    const struct store_table *t = &s->tables[table];
    int32_t n = 0;
    bool joins = s->head.kind && !raw && table != STORE_POINTS;
    if (joins) {
        out[n++] = SHOWN_POINT;
        for (int32_t k = 0; k < s->head.n_axes; k++)
            out[n++] = SHOWN_AXIS - k;
    }
    for (int32_t col = joins ? t->n_keys : 0; col < t->columns.n_cols; col++)
        out[n++] = col;
    return n;
}

/* The point that a row of version 4 is of. */
static void put_point(struct text *sql, const struct store *s, const struct store_table *t)
{
    int shift = t == &s->tables[STORE_RESULTS] ? STORE_ROW_BITS : STORE_POINT_SHIFT;
    text_printf(sql, "(%s.\"%s\" >> %d)", t->parts[0].name, t->names[0], shift);
}

void store_put_source(struct text *sql, const struct store *s, const struct store_table *t, int32_t entry)
{
    if (entry == SHOWN_POINT) {
        put_point(sql, s, t);
        return;
    }
    const struct store_table *of = entry_table(s, t, entry);
    int32_t col = entry_column(entry);
    text_printf(sql, "%s.\"%s\"", of->parts[of->part_of[col]].name, of->names[col]);
}

/* Only parts that some entry needs are joined. LEFT JOIN: a row may have nothing in a part; JOIN: each row
 * has a point. */
void store_put_from(struct text *sql, const struct store *s, const struct store_table *t,
                    const int32_t *entries, int32_t n)
{
    const struct store_table *points = &s->tables[STORE_POINTS];
    text_printf(sql, "\nFROM %s", t->parts[0].name);
    for (int32_t part = 1; part < t->n_parts; part++) {
        bool wanted = false;
        for (int32_t i = 0; i < n; i++)
            wanted = wanted || (entries[i] >= 0 && t->part_of[entries[i]] == part);
        if (wanted)
            text_printf(sql, " LEFT JOIN %s ON %s.%s = %s.%s", t->parts[part].name, t->parts[part].name,
                        t->names[0], t->parts[0].name, t->names[0]);
    }
    for (int32_t i = 0; i < n; i++)
        if (entries[i] <= SHOWN_AXIS) {
            text_printf(sql, " JOIN %s ON %s.point = ", points->parts[0].name, points->parts[0].name);
            put_point(sql, s, t);
            return;
        }
}

/* ---- SQL ---- */

static void sql_put_quoted(struct text *sql, const char *name)
{
    text_puts(sql, "\"");
    for (; *name; name++)
        text_add(sql, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    text_puts(sql, "\"");
}

static void create_part(struct text *sql, const struct store_table *t, const struct store_part *p)
{
    /* A text is its number, or where there are too many of them itself: a column of no type. A real has none
     * either: SQLite would turn -0.0 into 0 in a column of type REAL. */
    bool one = t->n_keys == 1;
    text_printf(sql, "CREATE TABLE %s(", p->name);
    for (int32_t i = 0; i < p->n; i++) {
        int32_t col = p->cols[i];
        text_printf(sql, "%s\"%s\"%s", i ? ", " : "", t->names[col],
                    one && !i                              ? " INTEGER PRIMARY KEY"
                    : t->columns.kinds[col] == TABLE_COUNT ? " INTEGER"
                                                           : "");
    }
    if (!one)
        text_printf(sql, ", PRIMARY KEY(\"%s\", \"%s\")", t->names[0], t->names[1]);
    text_puts(sql, one ? ");\n" : ") WITHOUT ROWID;\n");
}

/* For people and other programs: weft itself reads the tables below. */
static void create_view(struct text *sql, const struct store *s, int32_t table)
{
    const struct store_table *t = &s->tables[table];
    int32_t *entries = malloc((size_t)(t->columns.n_cols + s->head.n_axes + 1) * sizeof *entries);
    int32_t n = entries ? store_entries(entries, s, table, false) : 0;
    sql->failed = sql->failed || !entries;
    text_printf(sql, "CREATE VIEW %s AS SELECT", s->head.kind ? t->word : "results");
    for (int32_t i = 0; i < n; i++) {
        struct text source = { 0 };
        store_put_source(&source, s, t, entries[i]);
        const char *from = text_str(&source);
        text_puts(sql, i ? ",\n  " : "\n  ");
        if (store_entry_kind(s, t, entries[i]) == TABLE_TEXT)
            text_printf(
                sql,
                "CASE typeof(%s) WHEN 'integer' THEN (SELECT value FROM texts WHERE id = %s) ELSE %s END",
                from, from, from);
        else
            text_puts(sql, from);
        text_puts(sql, " AS ");
        sql_put_quoted(sql, store_entry_name(s, t, entries[i]));
        sql->failed = sql->failed || source.failed;
        text_free(&source);
    }
    store_put_from(sql, s, t, entries, n);
    text_puts(sql, ";\n");
    free(entries);
}

/* Version 3 has columns of one table, which it does not name. */
static void create_columns(struct text *sql, const struct store *s)
{
    int id = 0;
    text_puts(sql, "CREATE TABLE columns(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, "
                   "in_table TEXT, in_column TEXT");
    text_puts(sql, s->head.kind ? ", of_table TEXT, keys INTEGER);\n" : ");\n");
    for (int32_t i = 0; i < s->n_tables; i++) {
        const struct store_table *t = &s->tables[i];
        for (int32_t col = 0; col < t->columns.n_cols; col++) {
            char *row = sqlite3_mprintf("INSERT INTO columns VALUES(%d, %Q, %Q, %Q, %Q", id++,
                                        t->columns.names[col], kind_words[t->columns.kinds[col]],
                                        t->parts[t->part_of[col]].name, t->names[col]);
            text_puts(sql, row ? row : "");
            sql->failed = sql->failed || !row;
            sqlite3_free(row);
            if (s->head.kind)
                text_printf(sql, ", '%s', %d", t->word, (int)t->n_keys);
            text_puts(sql, ");\n");
        }
    }
}

static int create_tables(struct store *s, struct err *e)
{
    struct text sql = { 0 };
    text_puts(&sql, "CREATE TABLE weft(key TEXT PRIMARY KEY, value) WITHOUT ROWID;\n"
                    "CREATE TABLE done(first INTEGER PRIMARY KEY, n INTEGER NOT NULL);\n"
                    "CREATE TABLE texts(id INTEGER PRIMARY KEY, value);\n"
                    "CREATE TABLE checks(name TEXT PRIMARY KEY, n INTEGER, sum INTEGER) WITHOUT ROWID;\n");
    create_columns(&sql, s);
    for (int32_t i = 0; i < s->n_tables; i++)
        for (int32_t part = 0; part < s->tables[i].n_parts; part++)
            create_part(&sql, &s->tables[i], &s->tables[i].parts[part]);
    for (int32_t i = 0; i < s->n_tables; i++)
        create_view(&sql, s, i);
    int rc = text_check(&sql, e);
    if (!rc)
        rc = store_exec(s, text_str(&sql), e);
    text_free(&sql);
    return rc;
}

/* ---- tables of a file that is there ---- */

/* What is read of table `columns`: forms as store_open() is given them. */
struct read_form {
    struct store_table_form tables[STORE_MAX_TABLES];
    struct table columns[STORE_MAX_TABLES];
    char **parts[STORE_MAX_TABLES];
    int32_t cap[STORE_MAX_TABLES];
    int32_t n;
};

static char *text_column(struct sqlite3_stmt *get, int at)
{
    return (char *)sqlite3_column_text(get, at);
}

/* SQLITE_ROW, or what is wrong. Rows come by id, so those of a table follow each other; another word begins
 * another table. */
static int add_read(struct read_form *f, struct sqlite3_stmt *get, bool names_tables)
{
    const char *name = text_column(get, 0), *kind = text_column(get, 1), *part = text_column(get, 2);
    const char *word = names_tables ? text_column(get, 3) : f->n ? f->tables[0].word : part;
    int k = 0;
    while (kind && k <= TABLE_COUNT && strcmp(kind, kind_words[k]) != 0)
        k++;
    if (!name || !kind || k > TABLE_COUNT || !part || !word)
        return SQLITE_CORRUPT;
    if (!f->n || strcmp(f->tables[f->n - 1].word, word) != 0) {
        if (f->n == STORE_MAX_TABLES)
            return SQLITE_CORRUPT;
        f->tables[f->n] =
            (struct store_table_form){ .word = strdup(word),
                                       .n_keys = names_tables ? sqlite3_column_int(get, 4) : 1 };
        if (!f->tables[f->n].word)
            return SQLITE_NOMEM;
        f->n++;
    }
    int32_t i = f->n - 1, n = f->columns[i].n_cols;
    if (!vec_reserve(f->parts[i], f->cap[i], n + 1))
        return SQLITE_NOMEM;
    f->parts[i][n] = strdup(part);
    table_column(&f->columns[i], name, (enum table_kind)k);
    return f->parts[i][n] && !f->columns[i].failed ? SQLITE_ROW : SQLITE_NOMEM;
}

/* A file may come from anybody: what later code takes for granted is checked here. */
static bool is_whole(const struct read_form *f, bool names_tables)
{
    bool whole =
        names_tables ? f->n >= STORE_EXTRA : f->n == 1 && strcmp(f->columns[0].names[0], "point") == 0;
    for (int32_t i = 0; i < f->n && whole; i++) {
        int32_t keys = f->tables[i].n_keys;
        whole = keys == (i < STORE_EXTRA ? 1 : 2) && keys <= f->columns[i].n_cols;
        for (int32_t key = 0; key < keys && whole; key++)
            whole = f->columns[i].kinds[key] == TABLE_COUNT;
    }
    return whole;
}

static void free_read(struct read_form *f)
{
    for (int32_t i = 0; i < f->n; i++) {
        for (int32_t col = 0; col < f->columns[i].n_cols && f->parts[i]; col++)
            free(f->parts[i][col]);
        free(f->parts[i]);
        table_free(&f->columns[i]);
        free((char *)f->tables[i].word);
    }
}

static int read_tables(struct store *s, struct err *e)
{
    struct read_form f = { .n = 0 };
    struct sqlite3_stmt *get = NULL;
    bool named = s->head.kind != NULL;
    int code = SQLITE_DONE;
    int rc = store_prepare(s, &get,
                           named ? "SELECT name, kind, in_table, of_table, keys FROM columns ORDER BY id"
                                 : "SELECT name, kind, in_table FROM columns ORDER BY id",
                           e);
    if (rc)
        return rc;
    while ((code = sqlite3_step(get)) == SQLITE_ROW && (code = add_read(&f, get, named)) == SQLITE_ROW) {
    }
    sqlite3_finalize(get);
    if (code == SQLITE_DONE && !is_whole(&f, named))
        code = SQLITE_CORRUPT;
    /* What is in the first part needs no name: it follows from the table's. */
    for (int32_t i = 0; i < f.n; i++) {
        f.tables[i].columns = &f.columns[i];
        f.tables[i].parts = (const char *const *)f.parts[i];
    }
    rc = code == SQLITE_DONE ? add_tables(s, &(struct store_form){ f.tables, f.n }, e)
                             : store_fail(s, code, e);
    free_read(&f);
    return rc;
}

/* ---- what it says of itself ---- */

/* "weft", as `file` and others tell the kind of a database. */
enum { APPLICATION = 0x77656674 };

/* Of the tables; a store of another one is refused. 1 and 2 were the same without checksums. */
enum { VERSION_DESIGNS = 3, VERSION_RUNS = 4 };

static int version_of(const struct store_head *head)
{
    return head->kind ? VERSION_RUNS : VERSION_DESIGNS;
}

static int check_application(struct store *s, bool *is_new, int64_t *version, struct err *e)
{
    int64_t application, tables;
    int rc = store_number(s, "PRAGMA application_id", &application, e);
    if (!rc)
        rc = store_number(s, "PRAGMA user_version", version, e);
    if (!rc)
        rc = store_number(s, "SELECT count(*) FROM sqlite_master", &tables, e);
    if (rc)
        return rc;
    /* Nothing at all in it: an empty file, as one that was killed before its first commit leaves. */
    *is_new = application == 0 && *version == 0 && tables == 0;
    if (!*is_new && application != APPLICATION)
        return err_set(e, ERR_PARSE, "%s: is a database of another program", s->path);
    return 0;
}

static int check_kind(struct store *s, bool *is_new, struct err *e)
{
    int64_t version;
    int rc = check_application(s, is_new, &version, e);
    if (rc)
        return rc;
    if (*is_new)
        return s->reads ? err_set(e, ERR_PARSE, "%s: has nothing in it yet, not a row", s->path) : 0;
    if (version == 1 || version == 2)
        return err_set(
            e, ERR_PARSE,
            "%s: was written by an earlier weft, without checksums; export it with that one, or run "
            "the study again",
            s->path);
    if (version != VERSION_DESIGNS && version != VERSION_RUNS)
        return err_set(e, ERR_PARSE, "%s: has tables of version %lld, expected version %d or %d", s->path,
                       (long long)version, VERSION_DESIGNS, VERSION_RUNS);
    s->version = version;
    return 0;
}

/* ---- the head, written and read ---- */

/* A value of table `weft`; text NULL: the number. */
static int put_value(struct store *s, const char *key, const char *text, int64_t n, struct err *e)
{
    int rc = s->put_value ? 0
                          : store_prepare(s, &s->put_value,
                                          "INSERT OR REPLACE INTO weft(key, value) VALUES(?1, ?2)", e);
    if (rc)
        return rc;
    int code = sqlite3_bind_text(s->put_value, 1, key, -1, SQLITE_STATIC);
    if (!code)
        code = text ? sqlite3_bind_text(s->put_value, 2, text, -1, SQLITE_TRANSIENT)
                    : sqlite3_bind_int64(s->put_value, 2, n);
    if (code) /* what is not bound would be written as NULL */
        return store_fail(s, code, e);
    return store_run(s, s->put_value, e);
}

static int put_numbers(struct store *s, const struct store_head *head, struct err *e)
{
    const struct {
        const char *key;
        int64_t n;
    } numbers[] = {
        { "seed", head->seed },   { "n_points", head->n_points }, { "n_units", head->n_units },
        { "shard", head->shard }, { "n_shards", head->n_shards }, { "store_version", version_of(head) },
        { "seeds", head->seeds }, { "n_axes", head->n_axes },
    };
    /* The last two are of version 4 alone; n_files comes with store_set_files(). */
    size_t n = sizeof numbers / sizeof *numbers - (head->kind ? 0 : 2);
    int rc = 0;
    for (size_t i = 0; i < n && !rc; i++)
        rc = put_value(s, numbers[i].key, NULL, numbers[i].n, e);
    return rc;
}

static int write_head(struct store *s, const struct store_head *head, struct err *e)
{
    char hash[20], pragmas[100];
    snprintf(hash, sizeof hash, "%016llx", head->study_hash);
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION,
             version_of(head));
    int rc = store_exec(s, pragmas, e);
    if (!rc)
        rc = put_value(s, "version", head->version, 0, e);
    if (!rc)
        rc = put_value(s, "command", head->command, 0, e);
    if (!rc)
        rc = put_value(s, "study", head->study, 0, e);
    if (!rc && head->keep)
        rc = put_value(s, "keep", head->keep, 0, e);
    if (!rc && head->kind)
        rc = put_value(s, "kind", head->kind, 0, e);
    if (!rc && head->kind && head->name)
        rc = put_value(s, "name", head->name, 0, e);
    if (!rc)
        rc = put_value(s, "study_hash", hash, 0, e);
    return rc ? rc : put_numbers(s, head, e);
}

/* `state` is for people: the program goes by the spans. */
static int write_counts(struct store *s, const struct sweep_counts *n, bool complete, struct err *e)
{
    int rc = put_value(s, "seen", NULL, n->seen, e);
    if (!rc)
        rc = put_value(s, "filtered", NULL, n->filtered, e);
    if (!rc)
        rc = put_value(s, "bounded", NULL, n->bounded, e);
    if (!rc)
        rc = put_value(s, "solved", NULL, n->solved, e);
    if (!rc)
        rc = put_value(s, "failed", NULL, n->failed, e);
    return rc ? rc : put_value(s, "state", complete ? "complete" : "incomplete", 0, e);
}

/* ---- reading ---- */

/* Where values of table `weft` go. */
struct values {
    const char *key;
    int64_t *n;
    const char **text;
};

/* 1 = taken or nobody's, 0 = no memory. */
static int take_value(const struct values *v, size_t n, struct sqlite3_stmt *get)
{
    const char *key = (const char *)sqlite3_column_text(get, 0);
    for (size_t i = 0; i < n; i++) {
        if (!key || strcmp(key, v[i].key) != 0)
            continue;
        if (v[i].n)
            *v[i].n = sqlite3_column_int64(get, 1);
        const char *text = v[i].text ? (const char *)sqlite3_column_text(get, 1) : NULL;
        /* Owned by the head from here on, whatever fails after it. */
        if (text && !*v[i].text && !(*v[i].text = strdup(text)))
            return 0;
    }
    return 1;
}

static int store_read_values(struct store *s, const struct values *v, size_t n, struct err *e)
{
    struct sqlite3_stmt *get = NULL;
    int rc = store_prepare(s, &get, "SELECT key, value FROM weft", e), code;
    if (rc)
        return rc;
    while ((code = sqlite3_step(get)) == SQLITE_ROW)
        if (!take_value(v, n, get)) {
            code = SQLITE_NOMEM;
            break;
        }
    sqlite3_finalize(get);
    return code == SQLITE_DONE ? 0 : store_fail(s, code, e);
}

/* SQLITE_CORRUPT: a span beyond the units of the study. */
static int read_spans(struct store *s, struct err *e)
{
    struct sqlite3_stmt *get = NULL;
    int rc = store_prepare(s, &get, "SELECT first, n FROM done ORDER BY first", e), code = SQLITE_DONE;
    while (!rc && (code = sqlite3_step(get)) == SQLITE_ROW) {
        int64_t first = sqlite3_column_int64(get, 0), n = sqlite3_column_int64(get, 1);
        if (first < 0 || n < 1 || first > s->head.n_units - n) {
            code = SQLITE_CORRUPT;
            break;
        }
        rc = spans_add(&s->done, first, n, e);
    }
    sqlite3_finalize(get);
    return rc || code == SQLITE_DONE ? rc : store_fail(s, code, e);
}

static int read_head(struct store *s, struct err *e)
{
    struct store_head *h = &s->head;
    const char *hash = NULL;
    int64_t shard = 1, n_shards = 1, n_files = 0;
    const struct values values[] = {
        { "seed", &h->seed, NULL },
        { "n_points", &h->n_points, NULL },
        { "n_units", &h->n_units, NULL },
        { "shard", &shard, NULL },
        { "n_shards", &n_shards, NULL },
        { "n_files", &n_files, NULL },
        { "seen", &s->counts.seen, NULL },
        { "filtered", &s->counts.filtered, NULL },
        { "bounded", &s->counts.bounded, NULL },
        { "solved", &s->counts.solved, NULL },
        { "failed", &s->counts.failed, NULL },
        { "version", NULL, &h->version },
        { "command", NULL, &h->command },
        { "study", NULL, &h->study },
        { "keep", NULL, &h->keep },
        { "kind", NULL, &h->kind },
        { "name", NULL, &h->name },
        { "seeds", &h->seeds, NULL },
        { "n_axes", &h->n_axes, NULL },
        { "study_hash", NULL, &hash },
    };
    int rc = store_read_values(s, values, sizeof values / sizeof *values, e);
    h->study_hash = hash ? strtoull(hash, NULL, 16) : 0;
    h->shard = (int32_t)shard;
    h->n_shards = (int32_t)n_shards;
    h->n_files = n_files >= 0 && n_files <= INT32_MAX ? (int32_t)n_files : 0;
    bool whole = hash && h->version && h->command && h->study && h->n_points >= 0 && h->n_units >= 0 &&
                 shard >= 1 && shard <= n_shards && n_shards <= INT32_MAX && s->version == version_of(h) &&
                 (!h->kind || (h->seeds >= 1 && h->n_axes >= 0));
    free((char *)hash);
    if (!rc && !whole)
        rc = store_fail(s, SQLITE_CORRUPT, e);
    return rc ? rc : read_spans(s, e);
}

static void free_head(struct store_head *head)
{
    free((char *)head->version);
    free((char *)head->command);
    free((char *)head->study);
    free((char *)head->keep);
    free((char *)head->kind);
    free((char *)head->name);
    *head = (struct store_head){ 0 };
}

/* ---- the same sweep? ---- */

static bool same_columns(const struct table *a, const struct table *b)
{
    bool same = a->n_cols == b->n_cols;
    for (int32_t col = 0; col < a->n_cols && same; col++)
        same = a->kinds[col] == b->kinds[col] && strcmp(a->names[col], b->names[col]) == 0;
    return same;
}

static int check_tables(const struct store *s, const struct store_form *form, struct err *e)
{
    int32_t n = s->n_tables < form->n_tables ? s->n_tables : form->n_tables;
    for (int32_t i = 0; i < n; i++) {
        if (strcmp(s->tables[i].word, form->tables[i].word) != 0)
            return err_set(e, ERR_PARSE, "%s: has table %s, expected %s as this run records", s->path,
                           s->tables[i].word, form->tables[i].word);
        if (!same_columns(&s->tables[i].columns, form->tables[i].columns))
            return err_set(e, ERR_PARSE, "%s: has %d columns, expected the %d of this study", s->path,
                           (int)s->tables[i].columns.n_cols, (int)form->tables[i].columns->n_cols);
    }
    if (s->n_tables > n)
        return err_set(e, ERR_PARSE, "%s: has table %s, expected none as this run does not record it",
                       s->path, s->tables[n].word);
    if (form->n_tables > n)
        return err_set(e, ERR_PARSE, "%s: has no table %s, expected one as this run records it", s->path,
                       form->tables[n].word);
    return 0;
}

int store_check_same(const struct store *s, const struct store_head *head, const struct store_form *form,
                     struct err *e)
{
    const struct store_head *h = &s->head;
    const char *kind = h->kind ? h->kind : "design", *wanted = head->kind ? head->kind : "design";
    if (strcmp(kind, wanted) != 0)
        return err_set(e, ERR_PARSE, "%s: is of a study of kind %s, expected %s", s->path, kind, wanted);
    if (h->study_hash != head->study_hash)
        return err_set(e, ERR_PARSE, "%s: is of a study with hash %016llx, expected %016llx", s->path,
                       h->study_hash, head->study_hash);
    if (strcmp(h->version, head->version) != 0)
        return err_set(e, ERR_PARSE, "%s: is of weft %.50s, expected %.50s", s->path, h->version,
                       head->version);
    if (h->n_points != head->n_points || h->n_units != head->n_units)
        return err_set(e, ERR_PARSE,
                       "%s: is of %" PRId64 " points in %" PRId64 " units, expected %" PRId64 " in %" PRId64,
                       s->path, h->n_points, h->n_units, head->n_points, head->n_units);
    return check_tables(s, form, e);
}

/* The same study is not enough to go on with: a shard must be the same part of it. */
static int check_head(const struct store *s, const struct store_head *head, const struct store_form *form,
                      struct err *e)
{
    int rc = store_check_same(s, head, form, e);
    if (!rc && (s->head.shard != head->shard || s->head.n_shards != head->n_shards))
        rc = err_set(e, ERR_PARSE, "%s: is shard %d of %d, expected shard %d of %d", s->path,
                     (int)s->head.shard, (int)s->head.n_shards, (int)head->shard, (int)head->n_shards);
    return rc;
}

/* ---- opening ---- */

static int new_store(struct store **out, const char *path, const char *vfs, bool reads, struct err *e)
{
    struct store *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return err_nomem(e, "a store");
    s->lock = -1;
    s->reads = reads;
    s->vfs = vfs;
    s->temporary = !path;
    s->path = strdup(path ? path : "temporary store");
    return s->path ? 0 : err_nomem(e, "a store");
}

/* An existing store: all that is known of it. @p whole: its rows are verified too. */
static int store_read_all(struct store *s, bool whole, struct err *e)
{
    int rc = read_head(s, e);
    if (!rc)
        rc = read_tables(s, e);
    if (!rc && s->head.kind && s->head.n_axes >= s->tables[STORE_POINTS].columns.n_cols)
        rc = store_fail(s, SQLITE_CORRUPT, e);
    if (!rc && whole)
        rc = store_verify(s, e);
    return rc ? rc : store_read_texts(s, e);
}

static int copy_text(const char **out, const char *text, struct err *e)
{
    *out = strdup(text);
    return *out ? 0 : err_nomem(e, "a store");
}

static int copy_head(struct store *s, const struct store_head *head, struct err *e)
{
    s->head = *head;
    s->head.command = s->head.version = s->head.study = s->head.keep = s->head.kind = s->head.name = NULL;
    int rc = copy_text(&s->head.command, head->command, e);
    if (!rc)
        rc = copy_text(&s->head.version, head->version, e);
    if (!rc && head->keep)
        rc = copy_text(&s->head.keep, head->keep, e);
    if (!rc && head->kind)
        rc = copy_text(&s->head.kind, head->kind, e);
    if (!rc && head->name)
        rc = copy_text(&s->head.name, head->name, e);
    return rc ? rc : copy_text(&s->head.study, head->study, e);
}

/* In one transaction: a process that is killed here leaves an empty file, which is as good as none. */
static int make_store(struct store *s, const struct store_head *head, const struct store_form *form,
                      struct err *e)
{
    int rc = copy_head(s, head, e);
    if (!rc)
        rc = add_tables(s, form, e);
    if (!rc)
        rc = store_begin(s, e);
    if (!rc)
        rc = create_tables(s, e);
    if (!rc)
        rc = write_head(s, head, e);
    if (!rc)
        rc = write_counts(s, &s->counts, head->n_units == 0, e);
    if (!rc)
        rc = store_seal(s, e);
    if (!rc)
        rc = store_exec(s, "COMMIT", e);
    s->begun = false;
    return rc;
}

/* A file that is no store is not touched: what it is comes first. */
static int open_file(struct store *s, const struct store_head *head, const struct store_form *form,
                     struct err *e)
{
    bool is_new = true;
    int rc = check_kind(s, &is_new, e);
    if (!rc && !is_new)
        rc = store_read_all(s, true, e);
    if (!rc && !is_new)
        rc = check_head(s, head, form, e);
    /* After the checks: changing the mode of journal writes to the file. */
    if (!rc && !s->temporary)
        rc = store_exec(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", e);
    if (!rc && is_new)
        rc = make_store(s, head, form, e);
    return rc;
}

static int copy_spans(struct spans *out, const struct spans *from, struct err *e)
{
    int rc = 0;
    for (int64_t i = 0; i < from->n && !rc; i++)
        rc = spans_add(out, from->spans[i].first, from->spans[i].n, e);
    return rc;
}

/* On failure *out is NULL and a file that was there is as before. */
int store_open(struct store **out, const char *path, const struct store_head *head,
               const struct store_form *form, struct spans *done, struct sweep_counts *counts, struct err *e)
{
    *done = (struct spans){ 0 };
    *counts = (struct sweep_counts){ 0 };
    int rc = new_store(out, path, NULL, false, e);
    if (!rc)
        rc = connect_store(*out, e);
    if (!rc)
        rc = open_file(*out, head, form, e);
    if (!rc)
        rc = copy_spans(done, &(*out)->done, e);
    if (rc) {
        spans_free(done);
        store_close(*out);
        *out = NULL;
        return rc;
    }
    *counts = (*out)->counts;
    return 0;
}

static int open_to_read(struct store **out, const char *path, const char *vfs, bool whole, struct err *e)
{
    bool is_new;
    int rc = new_store(out, path, vfs, true, e);
    if (!rc)
        rc = connect_store(*out, e);
    /* All that is read is of one instant, while a sweep may be writing. */
    if (!rc)
        rc = store_exec(*out, "BEGIN", e);
    if (!rc)
        rc = check_kind(*out, &is_new, e);
    if (!rc)
        rc = store_read_all(*out, whole, e);
    if (rc) {
        store_close(*out);
        *out = NULL;
    }
    return rc;
}

int store_read(struct store **out, const char *path, struct err *e)
{
    return open_to_read(out, path, NULL, true, e);
}

int store_peek(struct store **out, const char *path, struct err *e)
{
    return open_to_read(out, path, NULL, false, e);
}

int store_read_on(struct store **out, const char *path, const char *vfs, struct err *e)
{
    return open_to_read(out, path, vfs, true, e);
}

/* No journal: whoever makes it throws it away where anything fails. */
int store_make_on(struct store **out, const char *path, const char *vfs, const struct store_head *head,
                  const struct store_form *form, struct err *e)
{
    int rc = new_store(out, path, vfs, false, e);
    if (!rc)
        rc = connect_store(*out, e);
    if (!rc)
        rc = store_exec(*out, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", e);
    if (!rc)
        rc = make_store(*out, head, form, e);
    if (rc) {
        store_close(*out);
        *out = NULL;
    }
    return rc;
}

/* What is written to a file without a name is lost when it is closed: better to hear of it now than at the
 * end. */
static int check_there(const struct store *s, struct err *e)
{
    struct stat ours, there;
    if (s->lock < 0 || fstat(s->lock, &ours) != 0)
        return 0;
    if (stat(s->path, &there) == 0 && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino)
        return 0;
    return err_set(e, ERR_IO, "%s: was deleted, moved or replaced while it was being written", s->path);
}

/* The log into the file, which is then the store alone. *read: somebody reads it, and the log stays. */
static int fold(bool *read, struct store *s, struct err *e)
{
    struct sqlite3_stmt *get = NULL;
    *read = false;
    int rc = store_prepare(s, &get, "PRAGMA journal_mode = DELETE", e);
    if (rc)
        return rc;
    int code = sqlite3_step(get);
    const char *mode = code == SQLITE_ROW ? (const char *)sqlite3_column_text(get, 0) : NULL;
    *read = code == SQLITE_ROW ? !mode || strcmp(mode, "delete") != 0 : (code & 0xff) == SQLITE_BUSY;
    if (code != SQLITE_ROW && !*read)
        rc = store_fail(s, code, e);
    sqlite3_finalize(get);
    return rc;
}

int store_fold(bool *apart, struct store *s, struct err *e)
{
    struct err why;
    *apart = false;
    if (s->temporary)
        return 0;
    /* A reader that is at it keeps the log; the last to close folds it in, or the next writer does. */
    sqlite3_busy_timeout(s->db, 0);
    int rc = check_there(s, e);
    if (rc)
        return rc;
    rc = fold(apart, s, &why);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    if (!rc)
        return 0;
    return err_set(e, (enum err_code)rc,
                   "%s; the store is whole only with its log %s-wal beside it: keep both, make room and "
                   "give the same command again",
                   why.msg, s->path);
}

int store_claim(struct store **out, const char *path, struct err *e)
{
    bool read = false, is_new;
    int64_t version;
    int rc = new_store(out, path, NULL, false, e);
    if (!rc)
        rc = connect_store(*out, e);
    if (!rc)
        rc = check_application(*out, &is_new, &version, e);
    if (!rc)
        rc = fold(&read, *out, e);
    if (!rc && read)
        rc = store_fail(*out, SQLITE_BUSY, e);
    if (rc) {
        store_close(*out);
        *out = NULL;
        return rc;
    }
    /* The lock stays. */
    sqlite3_close((*out)->db);
    (*out)->db = NULL;
    return 0;
}

/* ---- writing ---- */

void store_roll_back(struct store *s)
{
    if (s->begun)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    s->begun = false;
    s->failed = true;
}

int store_give_up(struct store *s, int rc)
{
    store_roll_back(s);
    return rc;
}

static int run_span(struct store *s, struct sqlite3_stmt **stmt, const char *sql, struct span span,
                    struct err *e)
{
    int rc = *stmt ? 0 : store_prepare(s, stmt, sql, e);
    if (!rc)
        rc = store_bind(s, *stmt, 1, (int64_t[]){ span.first, span.n }, sqlite3_bind_parameter_count(*stmt),
                        e);
    return rc ? rc : store_run(s, *stmt, e);
}

/* What changed since the last commit; both lists ascend. */
static int write_spans(struct store *s, const struct spans *done, struct err *e)
{
    int64_t i = 0, k = 0;
    int rc = 0;
    while ((i < s->done.n || k < done->n) && !rc) {
        const struct span *was = i < s->done.n ? &s->done.spans[i] : NULL;
        const struct span *is = k < done->n ? &done->spans[k] : NULL;
        if (was && (!is || was->first < is->first)) {
            rc = run_span(s, &s->remove_span, "DELETE FROM done WHERE first = ?1", *was, e);
            i++;
            continue;
        }
        bool same = was && was->first == is->first;
        if (!same || was->n != is->n)
            rc = run_span(s, &s->put_span, "INSERT OR REPLACE INTO done VALUES(?1, ?2)", *is, e);
        i += same;
        k++;
    }
    return rc;
}

static bool same_counts(const struct sweep_counts *a, const struct sweep_counts *b)
{
    return a->seen == b->seen && a->filtered == b->filtered && a->bounded == b->bounded &&
           a->solved == b->solved && a->failed == b->failed;
}

static bool same_spans(const struct spans *a, const struct spans *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->spans, b->spans, (size_t)a->n * sizeof *a->spans) == 0);
}

static bool is_complete(const struct store_head *head, const struct spans *done)
{
    return spans_count(done, head->n_units) == head->n_units;
}

int store_commit(struct store *s, const struct spans *done, const struct sweep_counts *counts, struct err *e)
{
    struct spans copy = { 0 };
    /* Nothing to write: no empty transactions, which would grow the log. */
    bool same = same_spans(&s->done, done) && same_counts(&s->counts, counts);
    if (!s->begun && !s->failed && same)
        return 0;
    /* Rows were put since the last commit or not: what is done now is in the same transaction as they are. */
    int rc = store_begin(s, e);
    if (!rc)
        rc = copy_spans(&copy, done, e);
    if (!rc)
        rc = write_spans(s, done, e);
    if (!rc)
        rc = write_counts(s, counts, is_complete(&s->head, done), e);
    if (!rc)
        rc = store_seal(s, e);
    if (!rc)
        rc = check_there(s, e);
    if (!rc)
        rc = store_exec(s, "COMMIT", e);
    if (rc) {
        spans_free(&copy);
        return store_give_up(s, rc);
    }
    /* Only now: what the file has is what was committed. */
    spans_free(&s->done);
    s->done = copy;
    s->counts = *counts;
    s->begun = false;
    return 0;
}

/* A store at rest is one file: it can be copied as it is, and read where nothing can be written. Who must
 * know whether it is calls store_fold() before. */
static void fold_log(struct store *s)
{
    struct err ignored;
    bool apart;
    if (s->begun)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    if (!s->reads && s->head.command)
        store_fold(&apart, s, &ignored);
}

void store_close(struct store *s)
{
    if (!s)
        return;
    store_join_free(s->join);
    if (s->db)
        fold_log(s);
    disconnect_store(s);
    for (int32_t i = 0; i < s->n_tables; i++)
        free_table(&s->tables[i]);
    free(s->tables);
    free(s->show);
    store_texts_free(&s->texts);
    free_head(&s->head);
    spans_free(&s->done);
    free(s->path);
    free(s);
}

/* ---- what it says of itself ---- */

const char *store_path_of(const struct store *s)
{
    return s->path;
}

const struct store_head *store_head_of(const struct store *s)
{
    return &s->head;
}

struct sweep_counts store_counts_of(const struct store *s)
{
    return s->counts;
}

bool store_is_complete(const struct store *s)
{
    return is_complete(&s->head, &s->done);
}

int store_is(bool *is, const char *path, struct err *e)
{
    static const char magic[] = "SQLite format 3";
    char begins[sizeof magic];
    *is = false;
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return 0;
    /* pread: nothing is taken out of a pipe. */
    ssize_t got = pread(fd, begins, sizeof begins, 0);
    int why = got < 0 && errno != ESPIPE && errno != EISDIR ? errno : 0;
    *is = got == (ssize_t)sizeof begins && memcmp(begins, magic, sizeof magic) == 0;
    close(fd);
    return why ? infile_cannot_read(e, path, why) : 0;
}
