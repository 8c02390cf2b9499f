/*
 * The stores of all shards of a study read as one, without merging them: rows in order of points, each store
 * a stream of its own, so that memory is that of PIECE rows of each. Shards are mostly stretches of points:
 * rows are taken from one store until another has the next.
 *
 * The first store is what callers hold; it has the others, and counts what all of them have. Stores are
 * opened and verified on all threads, which is most of the time that reading takes.
 */
#include "study/store_inner.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

enum { PIECE = 256 };

/* One of the stores; its next row is row `at` of `rows`. */
struct join_piece {
    struct store *store; /* the first is whose join this is */
    struct table rows;
    struct store_walk walk;
    int64_t at;
};

struct store_join {
    struct join_piece *pieces; /* shape [n], owned; stores but the first too */
    int32_t n;
    bool of_many;  /* they were given as several, or as a folder */
    char *missing; /* owned: a file that belongs to them and is not there; NULL: none */
};

void store_join_free(struct store_join *j)
{
    for (int32_t k = 0; j && k < j->n; k++) {
        table_free(&j->pieces[k].rows);
        if (k > 0)
            store_close(j->pieces[k].store);
    }
    if (j) {
        free(j->pieces);
        free(j->missing);
    }
    free(j);
}

int32_t store_n_parts(const struct store *s)
{
    return s->join ? s->join->n : 1;
}

const struct spans *store_done_of(const struct store *s)
{
    return &s->done;
}

const char *store_missing(const struct store *s)
{
    return s->join ? s->join->missing : NULL;
}

bool store_is_of_many(const struct store *s)
{
    return s->join && s->join->of_many;
}

struct store *store_part(struct store *s, int32_t k)
{
    return s->join ? s->join->pieces[k].store : s;
}

/* ---- which files ---- */

struct store_names {
    char **names; /* shape [n], owned */
    int32_t n, cap;
};

static void names_free(struct store_names *x)
{
    for (int32_t i = 0; i < x->n; i++)
        free(x->names[i]);
    free(x->names);
}

static int join_add_name(struct store_names *x, const char *folder, const char *name, struct err *e)
{
    struct text path = { 0 };
    text_printf(&path, "%s%s%s", folder, *folder ? "/" : "", name);
    char *copy = path.failed ? NULL : strdup(text_str(&path));
    text_free(&path);
    if (!copy || !vec_reserve(x->names, x->cap, x->n + 1)) {
        free(copy);
        return err_nomem(e, "names of stores");
    }
    x->names[x->n++] = copy;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All stores of a folder, by name; what is no folder is a store itself. */
static int list_path(struct store_names *x, const char *path, struct err *e)
{
    DIR *folder = opendir(path);
    const int32_t before = x->n;
    int rc = 0;
    if (!folder)
        return join_add_name(x, "", path, e);
    for (const struct dirent *entry; !rc && (entry = readdir(folder));) {
        size_t n = strlen(entry->d_name);
        if (n > 3 && strcmp(entry->d_name + n - 3, ".db") == 0)
            rc = join_add_name(x, path, entry->d_name, e);
    }
    closedir(folder);
    if (!rc && x->n == before)
        rc = err_set(e, ERR_PARSE, "%s: is a folder without stores, expected files *.db", path);
    if (!rc)
        qsort(x->names + before, (size_t)(x->n - before), sizeof *x->names, by_name);
    return rc;
}

/* ---- files that ranks wrote apart ---- */

void store_beside(struct text *out, const char *path, int32_t k)
{
    size_t n = strlen(path), end = n > 3 && strcmp(path + n - 3, ".db") == 0 ? n - 3 : n;
    if (k == 0)
        text_puts(out, path);
    else
        text_printf(out, "%.*s.%d%s", (int)end, path, (int)k, path + end);
}

int store_set_files(struct store *s, int32_t n, struct err *e)
{
    char sql[100];
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO weft(key, value) VALUES('n_files', %d)", (int)n);
    int rc = store_begin(s, e);
    s->head.n_files = n;
    rc = rc ? rc : store_exec(s, sql, e);
    return rc ? rc : store_commit(s, &s->done, &s->counts, e);
}

/* File @p k of store @p s, unless it is among the names; one that is not there is noted. */
static int add_beside(struct store_names *x, struct store_join *j, const struct store *s, int32_t k,
                      struct err *e)
{
    struct text name = { 0 };
    store_beside(&name, s->path, k);
    int rc = text_check(&name, e);
    bool known = rc;
    for (int32_t i = 0; i < x->n && !known; i++)
        known = strcmp(x->names[i], text_str(&name)) == 0;
    if (!known && access(text_str(&name), F_OK) == 0) {
        rc = join_add_name(x, "", text_str(&name), e);
    } else if (!known && !j->missing) {
        j->missing = strdup(text_str(&name));
        rc = j->missing ? 0 : err_nomem(e, "names of stores");
    }
    text_free(&name);
    return rc;
}

/* ---- opening ---- */

/* Those of the names that are not open yet. */
static int open_all(struct store_join *j, const struct store_names *x, struct err *e)
{
    struct err *errs = calloc((size_t)x->n, sizeof *errs);
    int rc = 0;
    const int32_t before = j->n;
    if (!errs || !vec_resize(j->pieces, x->n)) {
        free(errs);
        return err_nomem(e, "stores");
    }
    memset(j->pieces + before, 0, (size_t)(x->n - before) * sizeof *j->pieces);
    j->n = x->n;
#pragma omp parallel for schedule(dynamic, 1) if (x->n - before > 1)
    for (int32_t k = before; k < x->n; k++)
        store_read(&j->pieces[k].store, x->names[k], &errs[k]);
    for (int32_t k = before; k < x->n && !rc; k++)
        if (errs[k].code) {
            *e = errs[k];
            rc = (int)errs[k].code;
        }
    free(errs);
    return rc;
}

/* Survivors have to be held against those of other shards, and runs reduced where a cut goes through a point.
 */
static int check_kind(const struct store *first, struct err *e)
{
    const bool kept = first->head.keep && *first->head.keep;
    if (!kept && !first->head.kind)
        return 0;
    return err_set(e, ERR_PARSE, "%s: has %s, which only weft merge puts together; merge the shards first",
                   first->path, kept ? "what keep left of a shard" : "runs of a shard");
}

static const struct store *piece_at(const void *join, int32_t i)
{
    return ((const struct store_join *)join)->pieces[i].store;
}

static int check_all(const struct store_join *j, struct err *e)
{
    int rc = check_kind(j->pieces[0].store, e);
    return rc ? rc : store_check_alike(piece_at, j, j->n, e);
}

/* What all have done. */
static int add_up(struct store *first, const struct store_join *j, struct err *e)
{
    int rc = 0;
    for (int32_t k = 1; k < j->n; k++) {
        const struct store *s = j->pieces[k].store;
        for (int64_t i = 0; i < s->done.n && !rc; i++)
            rc = spans_add(&first->done, s->done.spans[i].first, s->done.spans[i].n, e);
        sweep_count_add(&first->counts, &s->counts);
    }
    first->head.shard = first->head.n_shards = 1;
    return rc;
}

/* With the files that belong to them. */
static int join_open(struct store_join *j, struct store_names *x, struct err *e)
{
    int rc = open_all(j, x, e);
    for (int32_t i = 0, n = j->n; i < n && !rc; i++)
        for (int32_t k = 1; k < j->pieces[i].store->head.n_files && !rc; k++)
            rc = add_beside(x, j, j->pieces[i].store, k, e);
    return rc || x->n == j->n ? rc : open_all(j, x, e);
}

static int join_names(struct store **out, struct store_names *x, bool of_many, struct err *e)
{
    struct store_join *j = calloc(1, sizeof *j);
    if (!j)
        return err_nomem(e, "stores");
    j->of_many = of_many;
    int rc = join_open(j, x, e);
    if (!rc && j->n == 1 && !j->missing) {
        *out = j->pieces[0].store;
        store_join_free(j);
        return 0;
    }
    rc = rc ? rc : check_all(j, e);
    rc = rc ? rc : add_up(j->pieces[0].store, j, e);
    if (rc) {
        store_close(j->n ? j->pieces[0].store : NULL);
        store_join_free(j);
        return rc;
    }
    *out = j->pieces[0].store;
    (*out)->join = j;
    return 0;
}

int store_read_together(struct store **out, const char *const *paths, int32_t n, struct err *e)
{
    struct store_names x = { 0 };
    int rc = 0;
    *out = NULL;
    for (int32_t i = 0; i < n && !rc; i++)
        rc = list_path(&x, paths[i], e);
    if (!rc)
        rc = join_names(out, &x, x.n > 1, e);
    names_free(&x);
    return rc;
}

/* ---- rows ---- */

/* From the first row on. */
static void begin_pieces(struct store_join *j, const struct store_walk *w)
{
    for (int32_t k = 0; k < j->n; k++) {
        table_free(&j->pieces[k].rows);
        j->pieces[k].walk = *w;
        j->pieces[k].at = 0;
    }
}

static int fill_piece(struct join_piece *p, struct err *e)
{
    if (p->at < p->rows.n_rows || (p->rows.n_cols && !p->rows.n_rows))
        return 0;
    p->at = 0;
    return store_next_alone(p->store, &p->walk, PIECE, &p->rows, e);
}

/* The point of the next row; above all others where there is none. */
static int64_t next_point(const struct join_piece *p)
{
    return p->at < p->rows.n_rows ? table_count(&p->rows, p->at, 0) : INT64_MAX;
}

/* The piece with the next row, NULL: there is none; and the point of the row after its own that another has.
 */
static struct join_piece *find_next(struct store_join *j, int64_t *upto)
{
    struct join_piece *next = NULL;
    *upto = INT64_MAX;
    for (int32_t k = 0; k < j->n; k++) {
        struct join_piece *p = &j->pieces[k];
        const int64_t point = next_point(p);
        if (point == INT64_MAX)
            continue;
        if (!next || point < next_point(next)) {
            *upto = next ? next_point(next) : INT64_MAX;
            next = p;
        } else if (point < *upto) {
            *upto = point;
        }
    }
    return next;
}

int store_next_joined(struct store *s, struct store_walk *w, int64_t most, struct table *rows, struct err *e)
{
    struct store_join *j = s->join;
    assert(w->table == STORE_RESULTS && !w->raw);
    if (!rows->n_cols)
        begin_pieces(j, w);
    table_clear(rows);
    while (rows->n_rows < most || !rows->n_cols) {
        int64_t upto;
        int rc = 0;
        for (int32_t k = 0; k < j->n && !rc; k++)
            rc = fill_piece(&j->pieces[k], e);
        if (rc) {
            table_free(rows);
            return rc;
        }
        table_columns_of(rows, &j->pieces[0].rows);
        struct join_piece *p = find_next(j, &upto);
        if (!p)
            break;
        while (next_point(p) < upto && rows->n_rows < most && !rows->failed) {
            w->id = next_point(p);
            table_take_row(rows, &p->rows, p->at++);
        }
        if (rows->failed)
            return err_nomem(e, "rows of stores");
    }
    return 0;
}
