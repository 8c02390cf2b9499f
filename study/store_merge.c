/*
 * Several stores of one study become one, with the rows that an undivided run would have kept.
 *
 * Version 3: rows are merged by point from sorted walks (a merge of n streams, memory PIECE rows each), so
 * that the new tables are filled in the order of their keys. Where a rule of `keep` was given each shard
 * holds its own survivors, and they are held against each other here. Version 4: tables are copied, then
 * points through which a cut between shards went are reduced from the results that are all there now.
 *
 * The new store is a file without a name (base/outfile.h), read back and verified before it takes the place
 * of the target: whatever fails or whoever is killed, the target is the old file or the whole new one, and
 * nothing else is left. A log that a killed writer left beside the target is folded into the old file first;
 * SQLite would play it back over the new one. Inputs are read as of one instant each (store_read()). Units
 * that two inputs both have are refused: counts would be wrong, and the user has named a file twice.
 */

/* realpath() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "study/store_inner.h"
#include "study/study.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"
#include "study/keep.h"

enum {
    PIECE = 1024,                /* rows of a store at a time */
    ROWS_PER_SURVIVORS = 1 << 16 /* between two looks at which rows are kept so far: bounds memory */
};

/* A shard being read: its next row is row `at` of `rows`. */
struct merge_source {
    struct store *store;
    struct table rows;
    struct store_walk walk;
    int64_t at;
};

struct merge {
    struct merge_source *sources; /* shape [n], owned */
    int32_t n;
    struct store *out;
    struct spans done;
    struct sweep_counts counts;
    struct keep_rule rule;
    store_reduce *reduce; /* of version 4; NULL: none */
    void *data;
    struct keep *keep; /* NULL where all rows are kept */
    struct table few;  /* rows to be held against the survivors together */
};

static const char *path_of(const struct merge *m, int32_t i)
{
    return m->sources[i].store->path;
}

/* ---- what goes together ---- */

/* Refused: both have a unit. A merge would count it twice, and nothing in the tables would show it. */
static int check_apart(const struct store *first, const struct store *second, struct err *e)
{
    const struct spans *a = &first->done, *b = &second->done;
    /* Both lists ascend: a merge finds any overlap in one pass. */
    for (int64_t at_a = 0, at_b = 0; at_a < a->n && at_b < b->n;) {
        const struct span *x = &a->spans[at_a], *y = &b->spans[at_b];
        if (x->first < y->first + y->n && y->first < x->first + x->n)
            return err_set(e, ERR_PARSE,
                           "%s: has units of the sweep (%lld) that %s has too; give each shard once",
                           second->path, (long long)(x->first > y->first ? x->first : y->first), first->path);
        if (x->first < y->first)
            at_a++;
        else
            at_b++;
    }
    return 0;
}

int store_check_alike(const struct store *(*at)(const void *x, int32_t i), const void *x, int32_t n,
                      struct err *e)
{
    const struct store *first = at(x, 0);
    struct store_form form;
    int rc = store_form_of(&form, first, e);
    for (int32_t k = 1; k < n && !rc; k++) {
        rc = store_check_same(at(x, k), &first->head, &form, e);
        if (rc)
            err_set(e, e->code, "%s, as %s", e->msg, first->path);
        for (int32_t i = 0; i < k && !rc; i++)
            rc = check_apart(at(x, i), at(x, k), e);
    }
    store_form_free(&form);
    return rc;
}

static const struct store *source_at(const void *merge, int32_t i)
{
    return ((const struct merge *)merge)->sources[i].store;
}

static int open_sources(struct merge *m, const char *const *paths, int32_t n, struct err *e)
{
    m->sources = calloc((size_t)n, sizeof *m->sources);
    if (!m->sources)
        return err_nomem(e, "stores");
    int rc = 0;
    for (; m->n < n && !rc; m->n += !rc) {
        m->sources[m->n].walk = store_walk_all(STORE_RESULTS, true);
        rc = store_read(&m->sources[m->n].store, paths[m->n], e);
    }
    return rc ? rc : store_check_alike(source_at, m, m->n, e);
}

/* ---- rows ---- */

static int64_t point_at(const struct merge_source *s)
{
    return table_count(&s->rows, s->at, 0);
}

/* Is there a next row? It is then in s->rows. */
static int fill(struct merge_source *s, bool *any, struct err *e)
{
    int rc = 0;
    if (s->at >= s->rows.n_rows) {
        if (s->rows.n_rows || !s->rows.n_cols)
            rc = store_next(s->store, &s->walk, PIECE, &s->rows, e);
        s->at = 0;
    }
    *any = !rc && s->at < s->rows.n_rows;
    return rc;
}

/* As files hold them: what is not finite was stored as NULL, so all of it is one value. */
static bool same_cell(enum table_kind kind, const struct table_cell *a, const struct table_cell *b)
{
    if (kind == TABLE_TEXT)
        return a->text && b->text ? strcmp(a->text, b->text) == 0 : a->text == b->text;
    if (kind == TABLE_COUNT)
        return a->count == b->count;
    return isfinite(a->real) ? a->real == b->real : !isfinite(b->real);
}

static bool same_row(const struct merge_source *a, const struct merge_source *b)
{
    for (int32_t col = 0; col < a->rows.n_cols; col++)
        if (!same_cell(a->rows.kinds[col], table_cell(&a->rows, a->at, col),
                       table_cell(&b->rows, b->at, col)))
            return false;
    return true;
}

/* The source with the least point next, -1 = none is left. Two rows of one point have to be equal. O(sources)
 * a row: shards are tens, and a heap would not be noticed beside the database. */
static int next_source(struct merge *m, int32_t *out, struct err *e)
{
    int32_t least = -1;
    int rc = 0;
    for (int32_t i = 0; i < m->n && !rc; i++) {
        bool any;
        rc = fill(&m->sources[i], &any, e);
        if (rc || !any)
            continue;
        bool twice = least >= 0 && point_at(&m->sources[i]) == point_at(&m->sources[least]);
        if (twice && !same_row(&m->sources[i], &m->sources[least]))
            rc = err_set(e, ERR_PARSE, "%s: has another row of point %lld than %s", path_of(m, i),
                         (long long)point_at(&m->sources[i]), path_of(m, least));
        /* Of equal points the first source goes first; the other is found equal again, and replaces it by the
         * same row. */
        if (least < 0 || point_at(&m->sources[i]) < point_at(&m->sources[least]))
            least = i;
    }
    *out = least;
    return rc;
}

/* The study's `keep`, as the store has it in its head. A shard's survivors need not be those of all, so they
 * are offered once more, to a rule that has seen nothing yet. */
static int read_rule(struct merge *m, struct err *e)
{
    const struct store *first = m->sources[0].store;
    const struct table *columns = store_columns(first, STORE_RESULTS);
    struct yaml_doc doc;
    if (!first->head.keep || first->head.kind) /* of kinds with runs `reduce` keeps */
        return 0;
    const struct study_kind *kind;
    int rc = study_kind_of_store(&kind, first, e);
    if (!rc)
        rc = yaml_read_text(&doc, first->path, first->head.keep, strlen(first->head.keep), e);
    if (rc)
        return rc;
    rc = keep_read(&m->rule, kind, &doc, doc.root, columns, e);
    yaml_free(&doc);
    if (!rc)
        rc = keep_build(&m->keep, &m->rule, columns, e);
    if (!rc)
        table_columns_of(&m->few, columns);
    return rc;
}

static int hold_few(struct merge *m, struct err *e)
{
    int rc = m->few.failed ? err_nomem(e, "rows to merge") : keep_offer(m->keep, &m->few, e);
    table_clear(&m->few);
    return rc;
}

/* What the rule has changed since the last call: rows that are on it now go in, those put in before that have
 * come off go out. Both in the transaction under way. */
static int put_survivors(struct merge *m, struct err *e)
{
    struct table fresh;
    const int64_t *gone;
    int64_t n_gone;
    int rc = hold_few(m, e);
    if (rc)
        return rc;
    rc = keep_changes(m->keep, &fresh, &gone, &n_gone, e);
    for (int64_t i = 0; i < n_gone && !rc; i++)
        rc = store_drop(m->out, gone[i], e);
    if (!rc)
        rc = store_put(m->out, STORE_RESULTS, &fresh, e);
    table_free(&fresh);
    return rc;
}

static int merge_row(struct merge *m, struct merge_source *s, struct err *e)
{
    if (!m->keep)
        return store_put_row(m->out, STORE_RESULTS, &s->rows, s->at++, e);
    table_take_row(&m->few, &s->rows, s->at++);
    return m->few.n_rows < PIECE ? 0 : hold_few(m, e);
}

/* In order of points, which makes the tables as small as they can be. */
static int merge_rows(struct merge *m, struct err *e)
{
    int32_t i = 0;
    int rc = next_source(m, &i, e);
    for (int64_t n = 1; !rc && i >= 0; n++) {
        rc = store_begin(m->out, e);
        if (!rc)
            rc = merge_row(m, &m->sources[i], e);
        /* Survivors go to the file now and then; those that come off later are dropped there again. */
        if (!rc && m->keep && n % ROWS_PER_SURVIVORS == 0)
            rc = put_survivors(m, e);
        if (!rc)
            rc = next_source(m, &i, e);
    }
    return !rc && m->keep ? put_survivors(m, e) : rc;
}

/* Of version 4. */
static int merge_tables(struct merge *m, struct err *e)
{
    int rc = 0;
    for (int32_t t = STORE_RESULTS; t < m->out->n_tables; t++)
        for (int32_t i = 0; i < m->n && !rc; i++) {
            struct table rows = { 0 };
            struct store_walk walk = store_walk_all(t, true);
            do {
                rc = store_next(m->sources[i].store, &walk, PIECE, &rows, e);
                if (!rc)
                    rc = store_put(m->out, t, &rows, e);
            } while (!rc && rows.n_rows);
            table_free(&rows);
        }
    return rc;
}

/* Points through which a cut went are whole now. */
static int reduce_rest(struct merge *m, struct err *e)
{
    struct spans *shards = malloc(((size_t)m->n + 1) * sizeof *shards);
    if (!shards)
        return err_nomem(e, "shards");
    for (int32_t i = 0; i < m->n; i++)
        shards[i] = m->sources[i].store->done; /* borrowed */
    int rc = m->reduce(m->data, m->out, &m->done, shards, m->n, &m->counts, e);
    free(shards);
    return rc;
}

/*
 * Units are marked as done last, when all that they came to is there: until then the store counts as empty.
 */
static int merge_state(struct merge *m, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < m->n; i++) {
        const struct store *s = m->sources[i].store;
        sweep_count_add(&m->counts, &s->counts);
        for (int64_t k = 0; k < s->done.n && !rc; k++)
            rc = spans_add(&m->done, s->done.spans[k].first, s->done.spans[k].n, e);
    }
    if (!rc && m->out->head.kind)
        rc = reduce_rest(m, e);
    return rc ? rc : store_commit(m->out, &m->done, &m->counts, e);
}

/* Everything into a new store, which has the form of the first source (all are alike, see
 * store_check_alike()) and is one undivided study again, to which missing shards can be merged later. Read
 * back, since a file that cannot be written need not say so before. */
static int merge_into(struct merge *m, const char *path, const char *vfs, struct err *e)
{
    struct store_head head = m->sources[0].store->head;
    struct store_form form;
    head.shard = head.n_shards = 1;
    int rc = store_form_of(&form, m->sources[0].store, e);
    if (!rc)
        rc = store_make_on(&m->out, path, vfs, &head, &form, e);
    store_form_free(&form);
    if (!rc)
        rc = read_rule(m, e);
    if (!rc)
        rc = m->out->head.kind ? merge_tables(m, e) : merge_rows(m, e);
    if (!rc)
        rc = merge_state(m, e);
    store_close(m->out);
    m->out = NULL;
    if (!rc)
        rc = store_read_on(&m->out, path, vfs, e);
    store_close(m->out);
    return rc;
}

static void merge_free(struct merge *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        table_free(&m->sources[i].rows);
        store_close(m->sources[i].store);
    }
    free(m->sources);
    spans_free(&m->done);
    keep_free(m->keep);
    keep_rule_free(&m->rule);
    table_free(&m->few);
}

/* ---- the file ---- */

/* SQLite opens files by name, and one that has none yet is a descriptor: this gives it the file of an
 * outfile, whatever name it asks for. One connection at a time, so that locks are nothing; outfile_end()
 * syncs. */
struct nameless {
    sqlite3_vfs vfs; /* must come first; the system's, but for its database */
    char name[32];
    int fd;
};
struct nameless_file {
    sqlite3_file base; /* must come first */
    int fd;
};

/* Closing does nothing. Of sectors and of what a device can do 0 is what makes SQLite most careful. */
static int nameless_zero(sqlite3_file *f)
{
    (void)f;
    return 0;
}

/* A file that no other process sees need not be locked, nor reach the disk. */
static int nameless_skip(sqlite3_file *f, int how)
{
    (void)f;
    (void)how;
    return SQLITE_OK;
}

static int nameless_read(sqlite3_file *f, void *buf, int n, sqlite3_int64 at)
{
    char *to = buf;
    while (n > 0) {
        ssize_t got = pread(((struct nameless_file *)f)->fd, to, (size_t)n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return SQLITE_IOERR_READ;
        if (got == 0) {
            memset(to, 0, (size_t)n);
            return SQLITE_IOERR_SHORT_READ;
        }
        to += got;
        at += got;
        n -= (int)got;
    }
    return SQLITE_OK;
}

static int nameless_write(sqlite3_file *f, const void *buf, int n, sqlite3_int64 at)
{
    const char *from = buf;
    while (n > 0) {
        ssize_t got = pwrite(((struct nameless_file *)f)->fd, from, (size_t)n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 && errno != ENOSPC && errno != EFBIG && errno != EDQUOT ? SQLITE_IOERR_WRITE
                                                                                   : SQLITE_FULL;
        from += got;
        at += got;
        n -= (int)got;
    }
    return SQLITE_OK;
}

static int nameless_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return ftruncate(((struct nameless_file *)f)->fd, (off_t)size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int nameless_size(sqlite3_file *f, sqlite3_int64 *size)
{
    struct stat st;
    int rc = fstat(((struct nameless_file *)f)->fd, &st);
    *size = rc ? 0 : st.st_size;
    return rc ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int nameless_is_locked(sqlite3_file *f, int *out)
{
    (void)f;
    *out = 0;
    return SQLITE_OK;
}

static int nameless_control(sqlite3_file *f, int what, void *arg)
{
    (void)f;
    (void)what;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static const sqlite3_io_methods nameless_methods = {
    .iVersion = 1,
    .xClose = nameless_zero,
    .xRead = nameless_read,
    .xWrite = nameless_write,
    .xTruncate = nameless_truncate,
    .xSync = nameless_skip,
    .xFileSize = nameless_size,
    .xLock = nameless_skip,
    .xUnlock = nameless_skip,
    .xCheckReservedLock = nameless_is_locked,
    .xFileControl = nameless_control,
    .xSectorSize = nameless_zero,
    .xDeviceCharacteristics = nameless_zero,
};

/* Temporary files are the system's. */
static int nameless_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return base->xOpen(base, name, f, flags, out);
    *(struct nameless_file *)f =
        (struct nameless_file){ { &nameless_methods }, ((struct nameless *)vfs)->fd };
    if (out)
        *out = flags;
    return SQLITE_OK;
}

/* Neither log nor journal lies beside it. */
static int nameless_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *out = 0;
    return SQLITE_OK;
}

/* Release with sqlite3_vfs_unregister(). */
static int nameless_begin(struct nameless *x, int fd, struct err *e)
{
    const sqlite3_vfs *base = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
    if (!base)
        return err_set(e, ERR_LIB, "SQLite: has no file system");
    *x = (struct nameless){ .vfs = *base, .fd = fd };
    snprintf(x->name, sizeof x->name, "weft-%p", (void *)x);
    x->vfs.zName = x->name;
    x->vfs.pNext = NULL;
    x->vfs.xOpen = nameless_open;
    x->vfs.xAccess = nameless_access;
    if (x->vfs.szOsFile < (int)sizeof(struct nameless_file))
        x->vfs.szOsFile = (int)sizeof(struct nameless_file);
    return sqlite3_vfs_register(&x->vfs, 0) == SQLITE_OK ? 0 : err_nomem(e, "a store");
}

/* Is there something beside @p path that SQLite would take for its log? Its name, or ERR_NOMEM. */
static int find_log(struct text *log, const char *path, struct err *e)
{
    static const char *const ends[] = { "-wal", "-journal" };
    struct stat st;
    int rc = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !rc; i++) {
        text_printf(log, "%s%s", path, ends[i]);
        rc = text_check(log, e);
        if (rc || stat(text_str(log), &st) == 0)
            return rc;
        text_clear(log);
    }
    return rc;
}

/* What is at @p path, and may be a source too, is made one file, and nobody else may write to it. */
static int claim_target(struct store **old, const char *path, struct err *e)
{
    struct text log = { 0 };
    struct stat st;
    /* The log of a store lies where the store is, not where a link to it is. */
    char *real = realpath(path, NULL);
    bool is = false;
    int rc = find_log(&log, real ? real : path, e);
    *old = NULL;
    if (!rc)
        rc = store_is(&is, path, e);
    if (!rc && is)
        rc = store_claim(old, path, e);
    else if (!rc && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        rc = err_set(e, ERR_PARSE, "%s: is not a store, so it is not replaced; choose another name", path);
    else if (!rc && log.n)
        rc = err_set(e, ERR_PARSE, "%s: is the log of a store that is gone; move it away first",
                     text_str(&log));
    text_free(&log);
    free(real);
    return rc;
}

static int merge_file(struct merge *m, const char *out, struct err *e)
{
    struct outfile f = { 0 };
    struct nameless file;
    int rc = outfile_begin(&f, out, true, e);
    if (!rc && (!f.path || f.in_place))
        rc = err_set(e, ERR_PARSE, "%s: is a device or pipe, not a file", out);
    if (!rc)
        rc = nameless_begin(&file, f.fd, e);
    if (!rc) {
        rc = merge_into(m, out, file.name, e);
        sqlite3_vfs_unregister(&file.vfs);
    }
    if (!rc)
        rc = outfile_end(&f, e);
    outfile_drop(&f);
    return rc;
}

int store_merge(const char *out, const char *const *paths, int32_t n, store_reduce *reduce, void *data,
                struct err *e)
{
    struct merge m = { .reduce = reduce, .data = data };
    struct store *old;
    int rc = claim_target(&old, out, e);
    if (!rc)
        rc = open_sources(&m, paths, n, e);
    if (!rc)
        rc = merge_file(&m, out, e);
    merge_free(&m);
    /* After the sources: closing a descriptor of a file drops the locks that SQLite has on it. */
    store_close(old);
    return rc;
}
