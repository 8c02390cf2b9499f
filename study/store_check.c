/*
 * What tells a store that is whole from one that a disk, a copy or another program has changed.
 *
 * Table `checks` has of every table in the file the number of its rows and the sum of their hashes modulo
 * 2^64, written in each transaction. A sum does not depend on the order in which rows came, so it is kept up
 * as they come, and a commit costs the same however many rows there are (an additive hash of a multiset:
 * Clarke et al., "Incremental Multiset Hash Functions", ASIACRYPT 2003). It is against accidents; who means
 * to forge a store can.
 *
 * Each 64-bit word of a row goes h = (h ^ word) * odd, h ^= h >> 32: one-to-one in the word for a given h and
 * in h for a given word. So damage within one word of one row is always found, as a CRC finds a burst; any
 * other is missed with probability 2^-64. CRC-32C would miss 2^-32, and a sum of it does not see cells that
 * change places between rows, since it is linear.
 *
 * A store that is opened is read once in full: sums by a scan of every table, keys in rising order, and
 * SQLite's quick_check, which holds the trees of pages against each other; else a search by key could pass by
 * rows that a scan finds.
 */
#include "study/store_inner.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* ---- hashes ---- */

/* Drawn once; a number, a text and nothing must not be the same. */
#define HASH_NULL    UINT64_C(0x9ae16a3b2f90404f)
#define HASH_INTEGER UINT64_C(0xc949c7defe5cb4a1)
#define HASH_REAL    UINT64_C(0xb492b66fbe98f273)
#define HASH_TEXT    UINT64_C(0x8ebc6af09c88c6e3)

static uint64_t hash_word(uint64_t h, uint64_t tag, uint64_t word)
{
    h = (h ^ tag ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

void store_hash_null(uint64_t *h)
{
    *h = hash_word(*h, HASH_NULL, 0);
}

void store_hash_integer(uint64_t *h, int64_t x)
{
    *h = hash_word(*h, HASH_INTEGER, (uint64_t)x);
}

void store_hash_real(uint64_t *h, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    *h = hash_word(*h, HASH_REAL, bits);
}

/* By bytes, not by words in memory: the same on every machine. */
void store_hash_text(uint64_t *h, const char *s, size_t n)
{
    const unsigned char *at = (const unsigned char *)s;
    *h = hash_word(*h, HASH_TEXT, n);
    for (; n > 0;) {
        uint64_t word = 0;
        size_t some = n < 8 ? n : 8;
        for (size_t i = 0; i < some; i++)
            word |= (uint64_t)at[i] << 8 * i;
        *h = hash_word(*h, 0, word);
        at += some;
        n -= some;
    }
}

void store_sum_add(struct store_sum *sum, uint64_t h)
{
    sum->n++;
    sum->sum += hash_finish(h); /* all of its bits must be mixed before they are added */
}

void store_sum_take(struct store_sum *sum, uint64_t h)
{
    sum->n--;
    sum->sum -= hash_finish(h);
}

uint64_t store_hash_row(struct sqlite3_stmt *row)
{
    uint64_t h = STORE_HASH_SEED;
    int n = sqlite3_data_count(row);
    for (int i = 0; i < n; i++)
        switch (sqlite3_column_type(row, i)) {
        case SQLITE_INTEGER:
            store_hash_integer(&h, sqlite3_column_int64(row, i));
            break;
        case SQLITE_FLOAT:
            store_hash_real(&h, sqlite3_column_double(row, i));
            break;
        case SQLITE_NULL:
            store_hash_null(&h);
            break;
        default: {
            const char *s = (const char *)sqlite3_column_text(row, i);
            store_hash_text(&h, s ? s : "", s ? (size_t)sqlite3_column_bytes(row, i) : 0);
        }
        }
    return h;
}

/* ---- tables ---- */

/* Those of every store, beside the parts of its tables; the scheme itself is one. */
static const struct {
    const char *name, *sql;
} common[] = {
    { "schema", "SELECT type, name, tbl_name, sql FROM sqlite_master" },
    { "weft", "SELECT * FROM weft" },
    { "done", "SELECT * FROM done" },
    { "columns", "SELECT * FROM columns" },
    { "texts", "SELECT * FROM texts" },
};
enum { N_COMMON = sizeof common / sizeof *common, TEXTS = N_COMMON - 1 };

/* Do keys rise from row to row? In a tree that is damaged they need not, whatever the query says. */
static bool keys_rise(struct sqlite3_stmt *get, int32_t n_keys, int64_t last[2], bool first)
{
    int64_t now[2] = { sqlite3_column_int64(get, 0), n_keys > 1 ? sqlite3_column_int64(get, 1) : 0 };
    bool rise = first || now[0] > last[0] || (now[0] == last[0] && now[1] > last[1]);
    memcpy(last, now, sizeof now);
    return rise;
}

/* @p n_keys 0: in no order. */
static int scan_rows(struct store *s, const char *sql, int32_t n_keys, struct store_sum *out, struct err *e)
{
    struct sqlite3_stmt *get = NULL;
    int64_t last[2];
    int rc = store_prepare(s, &get, sql, e), code = SQLITE_DONE;
    *out = (struct store_sum){ 0 };
    while (!rc && (code = sqlite3_step(get)) == SQLITE_ROW) {
        if (n_keys && !keys_rise(get, n_keys, last, out->n == 0)) {
            code = SQLITE_CORRUPT;
            break;
        }
        store_sum_add(out, store_hash_row(get));
    }
    sqlite3_finalize(get);
    return rc || code == SQLITE_DONE ? rc : store_fail(s, code, e);
}

static int scan_part(struct store *s, const struct store_table *t, const struct store_part *p,
                     struct store_sum *out, struct err *e)
{
    struct text sql = { 0 };
    text_printf(&sql, "SELECT * FROM %s", p->name);
    int rc = text_check(&sql, e);
    if (!rc)
        rc = scan_rows(s, text_str(&sql), t->n_keys, out, e);
    text_free(&sql);
    return rc;
}

/* ---- writing ---- */

static int put_sum(struct store *s, const char *name, const struct store_sum *sum, struct err *e)
{
    int rc =
        s->put_sum ? 0 : store_prepare(s, &s->put_sum, "INSERT OR REPLACE INTO checks VALUES(?1, ?2, ?3)", e);
    if (rc)
        return rc;
    int code = sqlite3_bind_text(s->put_sum, 1, name, -1, SQLITE_STATIC);
    rc = code ? store_fail(s, code, e)
              : store_bind(s, s->put_sum, 2, (int64_t[]){ sum->n, (int64_t)sum->sum }, 2, e);
    return rc ? rc : store_run(s, s->put_sum, e);
}

/* Small tables are summed again, which is less than keeping track of them. */
int store_seal(struct store *s, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < N_COMMON && !rc; i++) {
        struct store_sum sum = s->texts_sum;
        if (i != TEXTS)
            rc = scan_rows(s, common[i].sql, 0, &sum, e);
        if (!rc)
            rc = put_sum(s, common[i].name, &sum, e);
    }
    for (int32_t i = 0; i < s->n_tables; i++)
        for (int32_t k = 0; k < s->tables[i].n_parts && !rc; k++)
            rc = put_sum(s, s->tables[i].parts[k].name, &s->tables[i].parts[k].sum, e);
    return rc;
}

/* ---- checking ---- */

/* Is @p sum what `checks` has of the table? */
static int check_sum(struct store *s, const char *name, const struct store_sum *sum, struct err *e)
{
    int rc = s->get_sum ? 0 : store_prepare(s, &s->get_sum, "SELECT n, sum FROM checks WHERE name = ?1", e);
    if (rc)
        return rc;
    int code = sqlite3_bind_text(s->get_sum, 1, name, -1, SQLITE_STATIC);
    code = code ? code : sqlite3_step(s->get_sum);
    int64_t n = code == SQLITE_ROW ? sqlite3_column_int64(s->get_sum, 0) : -1;
    uint64_t is = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s->get_sum, 1) : 0;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        rc = store_fail(s, code, e);
    else if (code == SQLITE_DONE)
        rc = err_set(e, ERR_PARSE, "%s: is damaged: has no checksum of table %s", s->path, name);
    else if (n != sum->n)
        rc = err_set(e, ERR_PARSE, "%s: is damaged: table %s has %" PRId64 " rows, expected %" PRId64,
                     s->path, name, sum->n, n);
    else if (is != sum->sum)
        rc = err_set(e, ERR_PARSE, "%s: is damaged: rows of table %s do not have their checksum", s->path,
                     name);
    sqlite3_reset(s->get_sum);
    return rc;
}

/* A page that could not be read is told in SQLite's words alone: "... unable to get the page. error
 * code=8458". */
static int page_code(const char *said)
{
    static const char words[] = "error code=";
    const char *at = strstr(said, words);
    return at ? (int)strtol(at + sizeof words - 1, NULL, 10) & 0xff : 0;
}

/* Trees of pages: order, and that each page has one place. */
static int check_pages(struct store *s, struct err *e)
{
    struct sqlite3_stmt *get = NULL;
    int rc = store_prepare(s, &get, "PRAGMA quick_check(1)", e);
    int code = rc ? SQLITE_DONE : sqlite3_step(get);
    const char *said = code == SQLITE_ROW ? (const char *)sqlite3_column_text(get, 0) : NULL;
    if (!rc && code != SQLITE_ROW)
        rc = store_fail(s, code, e);
    else if (!rc && said && (page_code(said) == SQLITE_IOERR || page_code(said) == SQLITE_NOMEM))
        rc = store_fail(s, page_code(said), e);
    else if (!rc && (!said || strcmp(said, "ok") != 0) && store_disk_fails(s))
        rc = store_fail(s, SQLITE_CORRUPT, e);
    else if (!rc && (!said || strcmp(said, "ok") != 0))
        rc = err_set(e, ERR_PARSE, "%s: is damaged: %.200s", s->path, said ? said : "no answer of SQLite");
    sqlite3_finalize(get);
    return rc;
}

int store_verify(struct store *s, struct err *e)
{
    int rc = check_pages(s, e);
    for (int i = 0; i < N_COMMON && !rc; i++) {
        struct store_sum sum;
        rc = scan_rows(s, common[i].sql, 0, &sum, e);
        if (!rc)
            rc = check_sum(s, common[i].name, &sum, e);
        if (i == TEXTS)
            s->texts_sum = sum;
    }
    for (int32_t i = 0; i < s->n_tables; i++)
        for (int32_t k = 0; k < s->tables[i].n_parts && !rc; k++) {
            struct store_part *p = &s->tables[i].parts[k];
            rc = scan_part(s, &s->tables[i], p, &p->sum, e);
            if (!rc)
                rc = check_sum(s, p->name, &p->sum, e);
        }
    return rc;
}
