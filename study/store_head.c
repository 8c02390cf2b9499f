#include "study/store_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

/* "weft", as `file` and others tell the kind of a database. */
enum { APPLICATION = 0x77656674 };

int store_check_kind(struct store *s, bool *is_new, struct err *e)
{
    int64_t application, version, tables;
    int rc = store_number(s, "PRAGMA application_id", &application, e);
    if (!rc)
        rc = store_number(s, "PRAGMA user_version", &version, e);
    if (!rc)
        rc = store_number(s, "SELECT count(*) FROM sqlite_master", &tables, e);
    if (rc)
        return rc;
    *is_new = application == 0 && version == 0 && tables == 0;
    if (*is_new && !s->reads)
        return 0;
    if (application != APPLICATION)
        return err_set(e, ERR_PARSE, "%s: is a database of another program, need a store of weft", s->path);
    if (version != STORE_VERSION)
        return err_set(e, ERR_PARSE, "%s: has tables of version %lld, need version %d", s->path,
                       (long long)version, STORE_VERSION);
    return 0;
}

/* ---- writing ---- */

/* A value of table `weft`; text NULL: the number. */
static int put_value(struct store *s, const char *key, const char *text, int64_t n, struct err *e)
{
    int rc = s->put_value ? 0
                          : store_prepare(s, &s->put_value,
                                          "INSERT OR REPLACE INTO weft(key, value) VALUES(?1, ?2)", e);
    if (rc)
        return rc;
    sqlite3_bind_text(s->put_value, 1, key, -1, SQLITE_STATIC);
    if (text)
        sqlite3_bind_text(s->put_value, 2, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_int64(s->put_value, 2, n);
    return store_run(s, s->put_value, e);
}

static int put_numbers(struct store *s, const struct store_head *head, struct err *e)
{
    const struct {
        const char *key;
        int64_t n;
    } numbers[] = {
        { "seed", head->seed },   { "n_points", head->n_points }, { "n_units", head->n_units },
        { "shard", head->shard }, { "n_shards", head->n_shards }, { "store_version", STORE_VERSION },
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !rc; i++)
        rc = put_value(s, numbers[i].key, NULL, numbers[i].n, e);
    return rc;
}

int store_write_head(struct store *s, const struct store_head *head, struct err *e)
{
    char hash[20], pragmas[100];
    snprintf(hash, sizeof hash, "%016llx", head->study_hash);
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION,
             STORE_VERSION);
    int rc = store_exec(s, pragmas, e);
    if (!rc)
        rc = put_value(s, "version", head->version, 0, e);
    if (!rc)
        rc = put_value(s, "command", head->command, 0, e);
    if (!rc)
        rc = put_value(s, "study", head->study, 0, e);
    if (!rc && head->keep)
        rc = put_value(s, "keep", head->keep, 0, e);
    if (!rc)
        rc = put_value(s, "study_hash", hash, 0, e);
    return rc ? rc : put_numbers(s, head, e);
}

int store_write_counts(struct store *s, const struct sweep_counts *n, bool complete, struct err *e)
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
        if (text && !*v[i].text && !(*v[i].text = strdup(text)))
            return 0;
    }
    return 1;
}

static int read_values(struct store *s, const struct values *v, size_t n, struct err *e)
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

int store_read_head(struct store *s, struct err *e)
{
    struct store_head *h = &s->head;
    const char *hash = NULL;
    int64_t shard = 1, n_shards = 1;
    const struct values values[] = {
        { "seed", &h->seed, NULL },
        { "n_points", &h->n_points, NULL },
        { "n_units", &h->n_units, NULL },
        { "shard", &shard, NULL },
        { "n_shards", &n_shards, NULL },
        { "seen", &s->counts.seen, NULL },
        { "filtered", &s->counts.filtered, NULL },
        { "bounded", &s->counts.bounded, NULL },
        { "solved", &s->counts.solved, NULL },
        { "failed", &s->counts.failed, NULL },
        { "version", NULL, &h->version },
        { "command", NULL, &h->command },
        { "study", NULL, &h->study },
        { "keep", NULL, &h->keep },
        { "study_hash", NULL, &hash },
    };
    int rc = read_values(s, values, sizeof values / sizeof *values, e);
    h->study_hash = hash ? strtoull(hash, NULL, 16) : 0;
    h->shard = (int32_t)shard;
    h->n_shards = (int32_t)n_shards;
    bool whole = hash && h->version && h->command && h->study && h->n_points >= 0 && h->n_units >= 0 &&
                 shard >= 1 && shard <= n_shards && n_shards <= INT32_MAX;
    free((char *)hash);
    if (!rc && !whole)
        rc = store_fail(s, SQLITE_CORRUPT, e);
    return rc ? rc : read_spans(s, e);
}

void store_head_free(struct store_head *head)
{
    free((char *)head->version);
    free((char *)head->command);
    free((char *)head->study);
    free((char *)head->keep);
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

int store_check_same(const struct store *s, const struct store_head *head, const struct table *columns,
                     struct err *e)
{
    const struct store_head *h = &s->head;
    if (h->study_hash != head->study_hash)
        return err_set(e, ERR_PARSE, "%s: is of a study with hash %016llx, need %016llx", s->path,
                       h->study_hash, head->study_hash);
    if (strcmp(h->version, head->version) != 0)
        return err_set(e, ERR_PARSE, "%s: is of weft %.50s, need %.50s", s->path, h->version, head->version);
    if (h->n_points != head->n_points || h->n_units != head->n_units)
        return err_set(e, ERR_PARSE,
                       "%s: is of %" PRId64 " points in %" PRId64 " units, need %" PRId64 " in %" PRId64,
                       s->path, h->n_points, h->n_units, head->n_points, head->n_units);
    if (!same_columns(&s->columns, columns))
        return err_set(e, ERR_PARSE, "%s: has %d columns, need the %d of this study", s->path,
                       (int)s->columns.n_cols, (int)columns->n_cols);
    return 0;
}

int store_check_head(const struct store *s, const struct store_head *head, const struct table *columns,
                     struct err *e)
{
    int rc = store_check_same(s, head, columns, e);
    if (!rc && (s->head.shard != head->shard || s->head.n_shards != head->n_shards))
        rc = err_set(e, ERR_PARSE, "%s: is shard %d of %d, need shard %d of %d", s->path, (int)s->head.shard,
                     (int)s->head.n_shards, (int)head->shard, (int)head->n_shards);
    return rc;
}
