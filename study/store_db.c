/* F_OFD_SETLK: a lock that belongs to the open file, not to the process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "study/store_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

enum {
    BUSY_MS = 10000,        /* how long a person's own write to the store may hold up a sweep */
    LOCK_BYTE = 0x40000400, /* behind the 512 bytes from 0x40000000 on that SQLite locks */
};

static const char *reason(const struct store *s)
{
    int code = s->db ? sqlite3_system_errno(s->db) : 0;
    return code ? strerror(code) : s->db ? sqlite3_errmsg(s->db) : "no connection";
}

int store_fail(const struct store *s, int sqlite_code, struct err *e)
{
    switch (sqlite_code & 0xff) {
    case SQLITE_NOMEM:
        return err_nomem(e, s->path);
    case SQLITE_FULL:
        return err_set(e, ERR_IO, "%s: disk is full, need room for more rows", s->path);
    case SQLITE_IOERR:
        return err_set(e, ERR_IO, "%s: disk is failing or full (%s), need one that takes what is written",
                       s->path, reason(s));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(e, ERR_PARSE, "%s: is in use (another process has it locked), need that one to end",
                       s->path);
    case SQLITE_NOTADB:
        return err_set(e, ERR_PARSE, "%s: is no store, need a file that weft sweep --store wrote", s->path);
    case SQLITE_CORRUPT:
        return err_set(e, ERR_PARSE, "%s: is damaged, need a store that is whole", s->path);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return err_set(e, ERR_PARSE, "%s: cannot be opened (%s), need a file in a folder, both %s", s->path,
                       reason(s), s->reads ? "readable" : "writable");
    default:
        return err_set(e, ERR_LIB, "%s: SQLite: %s", s->path, s->db ? sqlite3_errmsg(s->db) : "no answer");
    }
}

int store_exec(struct store *s, const char *sql, struct err *e)
{
    int code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return code ? store_fail(s, code, e) : 0;
}

int store_prepare(struct store *s, struct sqlite3_stmt **out, const char *sql, struct err *e)
{
    sqlite3_finalize(*out);
    *out = NULL;
    int code = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code ? store_fail(s, code, e) : 0;
}

int store_run(struct store *s, struct sqlite3_stmt *stmt, struct err *e)
{
    int code = sqlite3_step(stmt);
    int rc = code == SQLITE_DONE || code == SQLITE_ROW ? 0 : store_fail(s, code, e);
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
static int lock(struct store *s, struct err *e)
{
    struct stat st;
    bool is_new = stat(s->path, &st) != 0;
    s->lock = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (s->lock < 0)
        return err_set(e, ERR_PARSE, "%s: cannot be opened (%s), need a file in a folder, both writable",
                       s->path, strerror(errno));
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1 };
    if (fcntl(s->lock, F_OFD_SETLK, &whole) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return err_set(e, ERR_PARSE, "%s: is in use (another process writes to it), need that one to end",
                       s->path);
    int rc = err_set(e, ERR_PARSE, "%s: cannot be locked (%s), need a file system with locks", s->path,
                     strerror(errno));
    if (is_new)
        unlink(s->path);
    return rc;
}

/* What SQLite would say of these in other words, or not at all. */
static int check_file(const struct store *s, struct err *e)
{
    struct stat st;
    if (!*s->path)
        return err_set(e, ERR_PARSE, "name of the store is empty, need a file");
    bool found = stat(s->path, &st) == 0;
    if (!found && s->reads && errno == ENOENT)
        return err_set(e, ERR_PARSE, "%s: file is missing, need a store", s->path);
    if (!found && s->reads)
        return err_set(e, ERR_PARSE, "%s: cannot be read (%s), need a store", s->path, strerror(errno));
    if (!found)
        return 0;
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_PARSE, "%s: is %s, need a file", s->path,
                       S_ISDIR(st.st_mode) ? "a folder" : "a device or pipe");
    if (s->reads && st.st_size == 0)
        return err_set(e, ERR_PARSE, "%s: is empty, need a store", s->path);
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
static int connect_file(struct store *s, struct err *e)
{
    struct text path = { 0 };
    text_printf(&path, "%s%s", *s->path == '/' ? "" : "./", s->path);
    int rc = text_check(&path, e);
    int flags = s->reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int code = rc ? 0 : sqlite3_open_v2(text_str(&path), &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    text_free(&path);
    return rc || !code ? rc : store_fail(s, code, e);
}

int store_connect(struct store *s, struct err *e)
{
    if (s->temporary)
        return connect_temporary(s, e);
    int rc = check_file(s, e);
    if (!rc && !s->reads)
        rc = lock(s, e);
    if (rc)
        return rc;
    rc = connect_file(s, e);
    if (rc)
        return rc;
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    return store_exec(s, "PRAGMA trusted_schema = OFF; PRAGMA cache_size = -32768", e);
}

void store_disconnect(struct store *s)
{
    for (int part = 0; part < STORE_N_PARTS; part++) {
        sqlite3_finalize(s->parts[part].put);
        sqlite3_finalize(s->parts[part].remove);
    }
    sqlite3_finalize(s->put_text);
    sqlite3_finalize(s->put_span);
    sqlite3_finalize(s->remove_span);
    sqlite3_finalize(s->put_value);
    sqlite3_finalize(s->get);
    sqlite3_close(s->db);
    s->db = NULL;
    if (s->lock >= 0)
        close(s->lock);
    s->lock = -1;
}
