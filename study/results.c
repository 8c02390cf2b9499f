/*
 * What the store has of kinds with runs: its tables, results of a point read back and reduced to rows, and
 * what is read of a store without its study: rows of points that shards completed, extra tables, notes.
 *
 * Reducing uses the store alone, so whoever resumes or merges a study need not have read its points; of a
 * study that is not open a stub is made, from the head of its store. That is also why a result is a flat
 * struct described by columns: it goes to the store cell by cell and comes back the same, so that rows of a
 * run that was stopped equal those of one that was not.
 *
 * Ids order rows as they are exported, whatever the order of runs: point above, then entry and seed (or seed
 * and entry, as the table wants it). A point is reduced in the transaction that marks its last unit done.
 */
#include "study/runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "study/keep.h"

/* ---- tables ---- */

/* Tables of the user's choice; some are there always. */
static bool is_recorded(const struct study *s, int32_t table)
{
    return s->kind->tables[table].always || (s->wanted >> table & 1);
}

static void put_axes(struct table *t, const struct sweep *w)
{
    for (int32_t k = 0; k < w->n_keys; k++)
        table_column(t, w->keys[k].path, TABLE_TEXT);
}

static void add_form(struct study_form *r, const char *word, int32_t n_keys)
{
    int32_t i = r->form.n_tables++;
    r->forms[i] = (struct store_table_form){ .word = word, .columns = &r->columns[i], .n_keys = n_keys };
}

/*
 * Tables of the store, as docs/store.md has them. The first three are those of STORE_RESULTS, STORE_RUNS and
 * STORE_POINTS, in this order. Columns of wall clock are stored where the study has them, so that a store
 * tells by itself whether it was timed.
 */
static int make_form(struct study_form *r, struct err *e)
{
    const struct study *s = r->study;
    const struct column_choice all = { .timing = true, .hidden = true };
    int rc = column_choose(&r->result, r->kind->result, &all, e);
    if (!rc)
        rc = column_choose(&r->shared, r->kind->shared, &all, e);
    if (rc)
        return rc;
    r->form.tables = r->forms;
    add_form(r, "results", 1);
    table_column(&r->columns[STORE_RESULTS], "id", TABLE_COUNT);
    columns_put(&r->columns[STORE_RESULTS], &s->tables[TABLE_ROWS].shown);
    add_form(r, "outcomes", 1);
    table_column(&r->columns[STORE_RUNS], "id", TABLE_COUNT);
    columns_put(&r->columns[STORE_RUNS], &r->result);
    add_form(r, "points", 1);
    table_column(&r->columns[STORE_POINTS], "point", TABLE_COUNT);
    put_axes(&r->columns[STORE_POINTS], &s->sweep);
    columns_put(&r->columns[STORE_POINTS], &r->shared);
    for (int32_t t = TABLE_RUNS; t < r->kind->n_tables; t++) {
        r->extra[t] = -1;
        if (!is_recorded(s, t))
            continue;
        struct table *columns = &r->columns[r->form.n_tables];
        r->extra[t] = r->form.n_tables - 1;
        add_form(r, r->kind->tables[t].word, 2);
        table_column(columns, "run", TABLE_COUNT);
        table_column(columns, "seq", TABLE_COUNT);
        columns_put(columns, &s->tables[t].shown);
    }
    bool failed = false;
    for (int32_t i = 0; i < r->form.n_tables; i++)
        failed = failed || r->columns[i].failed;
    return failed ? err_nomem(e, "columns of a study") : 0;
}

int study_form_build(struct study_form *r, const struct study *s, struct err *e)
{
    *r = (struct study_form){ .study = s, .kind = s->kind };
    int rc = make_form(r, e);
    if (rc)
        study_form_free(r);
    return rc;
}

void study_form_free(struct study_form *r)
{
    columns_free(&r->result);
    columns_free(&r->shared);
    for (int32_t i = 0; i < 1 + FLEET_MORE; i++)
        table_free(&r->columns[i]);
    for (int i = 0; i < 2; i++) {
        table_free(&r->shared_rows[i]);
        table_free(&r->result_rows[i]);
    }
    table_free(&r->stored_rows);
    *r = (struct study_form){ 0 };
}

/* Ids order the rows of a table, whatever the order of the runs. */
int64_t study_run_id(int64_t point, int64_t entry, int64_t k, bool by_seed)
{
    /* Entry and seed fit: STUDY_MAX_ENTRIES is 2^STORE_ROW_BITS, and SWEEP_MAX_POINTS bounds seeds below
     * 2^STORE_SEED_BITS. */
    return point << STORE_POINT_SHIFT |
           (by_seed ? k << STORE_ROW_BITS | entry : entry << STORE_SEED_BITS | k);
}

/* Results are always by entry, then seed, whatever the tables of runs are by. */
int64_t study_result_id(int64_t point, int64_t entry, int64_t k)
{
    return study_run_id(point, entry, k, false);
}

/* ---- reducing ---- */

struct results {
    const struct study_form *form;
    int64_t point, seeds;
    struct study_shared *shared; /* owned */
    char *structs;               /* shape [n_rows][result_size], owned */
    int32_t *at;                 /* shape [n_entries][seeds of the study], owned: row of each, -1 = not run */
    const struct results *base;  /* NULL: none; may be this one */
    bool is_base;                /* read beside those of another point */
};

/* NULL: that run did not take place. Borrowed for the length of reduce(). */
const void *results_at(const struct results *r, int32_t entry, int64_t k)
{
    int32_t at = r->at[entry * r->form->study->seeds + k];
    return at < 0 ? NULL : r->structs + (size_t)at * r->form->kind->result_size;
}

int32_t results_entries(const struct results *r)
{
    return (int32_t)r->shared->n_entries;
}

int64_t results_seeds(const struct results *r)
{
    return r->seeds;
}

const struct results *results_base(const struct results *r)
{
    return r->base;
}

const void *results_shared(const struct results *r)
{
    return r->shared;
}

struct study_rows {
    const struct study_table *columns;
    struct table *table;
    const struct table *shared; /* the point's row in the store */
    int32_t n_axes;
    int64_t point, n;
    struct study_shared *head;
    struct text notes; /* what `shared` says from now on; empty: nothing was added */
};

/* What a row begins with, as study_put_columns() has it, but for the row's id in place of the point. */
static void put_row_head(struct table *t, int64_t id, const struct study_table *columns,
                         const struct table *shared, int32_t n_axes)
{
    table_row(t);
    table_put_count(t, id);
    for (int32_t k = 0; k < n_axes; k++)
        if (columns->axis[k])
            table_put_cell(t, shared, 0, 1 + k);
}

void study_rows_put(struct study_rows *r, const void *row)
{
    assert(r->n < STUDY_MAX_ENTRIES);
    put_row_head(r->table, store_row_id(r->point, r->n++), r->columns, r->shared, r->n_axes);
    row_put(r->table, &r->columns->shown, row);
}

/* The notes of the point are copied on the first call; the text must last until the point's row is stored. */
void study_rows_note(struct study_rows *r, const char *lines)
{
    struct study_shared *head = r->head;
    if (r->notes.n == 0 && head->notes)
        text_puts(&r->notes, head->notes);
    text_puts(&r->notes, lines);
    head->notes = text_str(&r->notes);
}

static int read_shared(struct results *x, struct study_form *r, struct store *store, struct err *e)
{
    struct store_walk walk = store_walk_all(STORE_POINTS, true);
    /* A walk goes from behind `id` to `upto`: this row alone. */
    walk.id = x->point - 1;
    walk.upto = x->point;
    struct table *row = &r->shared_rows[x->is_base];
    int rc = store_next(store, &walk, 1, row, e);
    if (rc)
        return rc;
    if (row->n_rows != 1)
        return err_set(e, ERR_PARSE, "%s: lacks point %lld, although its units are done",
                       store_path_of(store), (long long)x->point);
    x->shared = calloc(1, r->kind->shared_size);
    if (!x->shared)
        return err_nomem(e, "a point");
    row_clear(x->shared, r->kind->shared);
    row_get(x->shared, &r->shared, row, 0, 1 + r->study->sweep.n_keys);
    return 0;
}

static int read_results(struct results *x, struct study_form *r, struct store *store, struct err *e)
{
    struct store_walk walk = store_walk_all(STORE_RUNS, true);
    walk.id = study_result_id(x->point, 0, 0) - 1;
    walk.upto = study_result_id(x->point + 1, 0, 0) - 1;
    struct table *t = &r->result_rows[x->is_base];
    int rc = store_next(store, &walk, INT64_MAX, t, e);
    if (rc)
        return rc;
    int64_t seeds = r->study->seeds, n = x->shared->n_entries * seeds;
    x->structs = calloc((size_t)t->n_rows + 1, r->kind->result_size);
    x->at = malloc(((size_t)n + 1) * sizeof *x->at);
    if (!x->structs || !x->at)
        return err_nomem(e, "results of a point");
    for (int64_t i = 0; i < n; i++)
        x->at[i] = -1;
    x->seeds = r->kind->whole_seed && n > 0 ? 0 : seeds;
    for (int64_t row = 0; row < t->n_rows; row++) {
        int64_t id = table_count(t, row, 0) - study_result_id(x->point, 0, 0);
        int64_t entry = id >> STORE_SEED_BITS, k = id & ((INT64_C(1) << STORE_SEED_BITS) - 1);
        void *result = x->structs + (size_t)row * r->kind->result_size;
        row_clear(result, r->kind->result);
        row_get(result, &r->result, t, row, 1);
        struct study_result *head = result;
        head->rc = head->rc < 0 ? 0 : head->rc; /* of a run that did not set it */
        /* A damaged store could have others: they are passed over. */
        if (entry < x->shared->n_entries && k < seeds) {
            x->at[entry * seeds + k] = (int32_t)row;
            x->seeds = x->seeds > k ? x->seeds : k + 1;
        }
    }
    return 0;
}

static void results_free(struct results *x)
{
    free(x->shared);
    free(x->structs);
    free(x->at);
}

/* Of a point whose units are there, and into @p base of the one it is compared with. */
static int read_both(struct results *x, struct results *base, struct study_form *r, struct store *store,
                     struct err *e)
{
    int rc = read_shared(x, r, store, e);
    if (!rc && x->shared->n_entries >= 0)
        rc = read_results(x, r, store, e);
    if (rc || x->shared->base < 0)
        return rc;
    if (x->shared->base == x->point) {
        x->base = x;
        return 0;
    }
    *base = (struct results){ .form = r, .point = x->shared->base, .is_base = true };
    rc = read_shared(base, r, store, e);
    if (rc || base->shared->n_entries < 0)
        return rc;
    x->base = base;
    return read_results(base, r, store, e);
}

/* The point's row again, as far as reducing knows it better: `reduce` may sharpen what the runs of a point
 * share (a reference that only results show). Stored before its rows. */
static int put_shared(struct study_form *r, struct store *store, const struct study_shared *shared,
                      struct err *e)
{
    struct table again = { 0 };
    table_columns_of(&again, &r->columns[STORE_POINTS]);
    table_row(&again);
    for (int32_t col = 0; col <= r->study->sweep.n_keys; col++)
        table_put_cell(&again, &r->shared_rows[0], 0, col);
    row_put(&again, &r->shared, shared);
    int rc = again.failed ? err_nomem(e, "a point") : store_put(store, STORE_POINTS, &again, e);
    table_free(&again);
    return rc;
}

/* A point has failed when none of its rows is a result. */
static void count_point(struct sweep_counts *n, const struct study_kind *kind, const struct table *rows,
                        int64_t first)
{
    int32_t cols[STUDY_MAX_RESULT];
    bool any = false;
    for (int i = 0; kind->result_columns[i]; i++)
        cols[i] = table_find(rows, kind->result_columns[i]);
    for (int64_t row = first; row < rows->n_rows; row++)
        any = any || kind->is_result(rows, row, cols);
    n->seen++;
    n->solved++;
    n->failed += !any;
}

/* Of a point all of whose units are done: its rows, with their ids in place of the point. Appended to @p
 * rows; on failure some may be there, and the transaction they belong to is given up. */
static int reduce_point(struct study_form *r, struct store *store, int64_t point, struct table *rows,
                        struct sweep_counts *n, struct err *e)
{
    struct results x = { .form = r, .point = point }, base = { 0 };
    int64_t first = rows->n_rows;
    int rc = read_both(&x, &base, r, store, e);
    /* Blank in the store: `where` left the point out. */
    if (!rc && x.shared->n_entries < 0) {
        n->seen++;
        n->filtered++;
        results_free(&x);
        results_free(&base);
        return 0;
    }
    struct study_rows out = { .columns = &r->study->tables[TABLE_ROWS],
                              .table = rows,
                              .shared = &r->shared_rows[0],
                              .n_axes = r->study->sweep.n_keys,
                              .point = point,
                              .head = x.shared };
    if (!rc)
        rc = r->kind->reduce(&out, x.shared, &x, e);
    if (!rc && (rows->failed || out.notes.failed))
        rc = err_nomem(e, "rows of a point");
    if (!rc)
        rc = put_shared(r, store, x.shared, e);
    if (!rc)
        count_point(n, r->kind, rows, first);
    text_free(&out.notes);
    results_free(&x);
    results_free(&base);
    return rc;
}

/* Units of a point are its seeds, so they are neighbours. */
static bool is_whole(const struct study_form *r, const struct spans *done, int64_t point)
{
    int64_t seeds = r->study->seeds;
    return spans_gap(done, point * seeds, (point + 1) * seeds, 1).n == 0;
}

int64_t study_base(const struct study *s, int64_t point)
{
    return s->base_at ? sweep_base(&s->sweep, point, s->base_at) : -1;
}

/* Of a point that has become whole: its rows where its base is whole too, and those of the points that
 * waited for it as their base. */
static int reduce_ready(struct study_form *r, struct store *store, const struct spans *done, int64_t point,
                        struct table *rows, struct sweep_counts *n, struct err *e)
{
    const struct study *s = r->study;
    int64_t base = study_base(s, point);
    int rc = base < 0 || is_whole(r, done, base) ? reduce_point(r, store, point, rows, n, e) : 0;
    int64_t members = base == point ? sweep_base_members(&s->sweep, base, s->base_at) : 0;
    for (int64_t i = 0; i < members && !rc; i++) {
        int64_t member = sweep_base_member(&s->sweep, base, s->base_at, i);
        if (member != point && is_whole(r, done, member))
            rc = reduce_point(r, store, member, rows, n, e);
    }
    return rc;
}

/* Whoever finishes the last unit of a point reduces it, be it in this run or in one that resumes. The caller
 * commits rows and `done` together. */
int study_take(struct study_form *r, struct store *store, struct fleet_batch *batch, struct spans *done,
               struct table *rows, struct sweep_counts *n, struct err *e)
{
    int rc = 0;
    if (rows->n_cols == 0)
        study_put_columns(rows, r->study, TABLE_ROWS);
    /* Results first: a unit that is done has all of them in the store. */
    for (int32_t i = 0; i < r->form.n_tables - 1 && !rc; i++)
        rc = store_take(store, i + 1, &batch->more[i], e);
    for (int64_t i = 0; i < batch->rows.n_rows && !rc; i++) {
        int64_t unit = table_count(&batch->rows, i, 0), point = unit / r->study->seeds;
        rc = spans_add(done, unit, 1, e);
        if (!rc && is_whole(r, done, point))
            rc = reduce_ready(r, store, done, point, rows, n, e);
    }
    return rc;
}

/* ---- seeds that are not needed ---- */

/* With the first @p k seeds: a run that was stopped in a later round has some of more. */
static int needs_no_more(bool *out, struct study_form *r, struct store *store, int64_t point, int64_t k,
                         struct err *e)
{
    struct results x = { .form = r, .point = point }, base = { 0 };
    int rc = read_both(&x, &base, r, store, e);
    x.seeds = x.seeds < k ? x.seeds : k;
    if (!rc)
        *out = x.shared->rc || x.shared->n_entries < 0 || r->kind->resolved(x.shared, &x);
    results_free(&x);
    results_free(&base);
    return rc;
}

/* A round of seeds that is over: what was done, the rows that can be written, and what was counted. */
struct settling {
    struct study_form *form;
    struct store *store;
    int64_t k; /* seeds of a point so far */
    struct spans *done;
    struct table *rows;
    struct sweep_counts *n;
    int64_t *n_units;
};

/* The units of further seeds count as done, and are those of no run. */
static int end_point(const struct settling *x, int64_t point, struct err *e)
{
    int64_t seeds = x->form->study->seeds;
    int rc = spans_add(x->done, point * seeds + x->k, seeds - x->k, e);
    *x->n_units += seeds - x->k;
    return rc ? rc : reduce_ready(x->form, x->store, x->done, point, x->rows, x->n, e);
}

/* A base runs as many seeds as the longest of those that are compared with it. */
static int settle_members(const struct settling *x, int64_t base, struct err *e)
{
    const struct study *s = x->form->study;
    int64_t members = sweep_base_members(&s->sweep, base, s->base_at);
    bool all = !is_whole(x->form, x->done, base);
    int rc = 0;
    for (int64_t i = 0; i < members && !rc; i++) {
        int64_t point = sweep_base_member(&s->sweep, base, s->base_at, i);
        bool enough = true;
        if (is_whole(x->form, x->done, point))
            continue;
        rc = needs_no_more(&enough, x->form, x->store, point, x->k, e);
        all = all && enough;
        if (!rc && enough && point != base)
            rc = end_point(x, point, e);
    }
    return rc || !all ? rc : end_point(x, base, e);
}

int study_settle(struct study_form *r, struct store *store, int64_t k, struct spans *done, struct table *rows,
                 struct sweep_counts *n, int64_t *n_units, struct err *e)
{
    const struct settling x = { r, store, k, done, rows, n, n_units };
    int rc = 0;
    *n_units = 0;
    if (rows->n_cols == 0)
        study_put_columns(rows, r->study, TABLE_ROWS);
    for (int64_t point = 0; point < r->study->sweep.n_points && !rc; point++)
        if (study_base(r->study, point) == point)
            rc = settle_members(&x, point, e);
    return rc;
}

/* Columns of a row, as study_put_columns() has them, that its table in the store has not. */
static int32_t head_columns(const struct study_form *r)
{
    int32_t n = 1;
    for (int32_t k = 0; k < r->study->sweep.n_keys; k++)
        n += r->study->tables[TABLE_ROWS].axis[k];
    return n;
}

int study_put_rows(struct study_form *r, struct store *store, const struct table *rows, struct err *e)
{
    struct table t = { 0 };
    int32_t head = head_columns(r);
    table_columns_of(&t, &r->columns[STORE_RESULTS]);
    for (int64_t row = 0; row < rows->n_rows; row++) {
        table_row(&t);
        table_put_cell(&t, rows, row, 0);
        for (int32_t col = head; col < rows->n_cols; col++)
            table_put_cell(&t, rows, row, col);
    }
    int rc = t.failed ? err_nomem(e, "rows of a study") : store_put(store, STORE_RESULTS, &t, e);
    table_free(&t);
    return rc;
}

enum { AT_A_TIME = 4096 }; /* rows of a walk */

int study_next_rows(struct study_form *r, struct store *store, struct store_walk *walk, struct table *rows,
                    struct err *e)
{
    const struct study_table *of = &r->study->tables[TABLE_ROWS];
    struct results x = { .form = r, .point = -1 };
    int rc = store_next(store, walk, AT_A_TIME, &r->stored_rows, e);
    if (rows->n_cols == 0)
        study_put_columns(rows, r->study, TABLE_ROWS);
    table_clear(rows);
    for (int64_t row = 0; row < r->stored_rows.n_rows && !rc; row++) {
        int64_t id = table_count(&r->stored_rows, row, 0);
        /* Rows come by id, so each point's shared row is read once. */
        if (x.point != id >> STORE_ROW_BITS) {
            results_free(&x);
            x = (struct results){ .form = r, .point = id >> STORE_ROW_BITS };
            rc = read_shared(&x, r, store, e);
        }
        if (rc)
            break;
        put_row_head(rows, id, of, &r->shared_rows[0], r->study->sweep.n_keys);
        for (int32_t col = 1; col < r->stored_rows.n_cols; col++)
            table_put_cell(rows, &r->stored_rows, row, col);
    }
    results_free(&x);
    return rc || !rows->failed ? rc : err_nomem(e, "rows of a study");
}

/* ---- a store without its study ---- */

/* What of a study its store knows: enough to reduce its points and to show its tables. */
struct stub {
    struct study study;
    struct study_form form;
};

/* Was a table written with columns of wall clock? The stub must have the same columns as the tables that are
 * there. */
static bool has_timing(const struct store *store, const struct study_kind *kind)
{
    for (int32_t i = 0; i < kind->n_tables; i++) {
        int32_t table = store_find_table(store, i == TABLE_ROWS ? "results" : kind->tables[i].word);
        for (const struct column *c = kind->tables[i].columns; c->name && table >= 0; c++)
            if ((c->flags & COLUMN_TIMING) && table_find(store_columns(store, table), c->name) >= 0)
                return true;
    }
    return false;
}

/* By number and kinds of columns, by which cells are read; their names are not compared. */
static int check_stub(const struct stub *x, const struct store *store, struct err *e)
{
    const struct store_form *form = &x->form.form;
    for (int32_t i = 0; i < form->n_tables; i++) {
        int32_t table = store_find_table(store, form->tables[i].word);
        const struct table *has = table < 0 ? NULL : store_columns(store, table),
                           *want = form->tables[i].columns;
        bool same = has && has->n_cols == want->n_cols;
        for (int32_t col = 0; col < want->n_cols && same; col++)
            same = has->kinds[col] == want->kinds[col];
        if (!same)
            return err_set(e, ERR_PARSE, "%s: table %s has other columns than this version",
                           store_path_of(store), form->tables[i].word);
    }
    return 0;
}

static void stub_free(struct stub *x)
{
    study_form_free(&x->form);
    for (int32_t i = 0; i < STUDY_MAX_TABLES; i++)
        columns_free(&x->study.tables[i].shown);
}

static int stub_build(struct stub *x, const struct store *store, const struct study_kind *kind, struct err *e)
{
    const struct store_head *head = store_head_of(store);
    struct study *s = &x->study;
    *x = (struct stub){ .study = { .kind = kind,
                                   .seed = head->seed,
                                   .seeds = head->seeds,
                                   .sweep = { .n_points = head->n_points } } };
    if (!head->kind || strcmp(head->kind, kind->word) != 0)
        return err_set(e, ERR_PARSE, "%s: is of a study of kind %s, expected %s", store_path_of(store),
                       head->kind ? head->kind : "design", kind->word);
    const struct table *points = store_columns(store, STORE_POINTS);
    for (int32_t k = 0; k < head->n_axes && k < SWEEP_MAX_KEYS && 1 + k < points->n_cols; k++)
        s->sweep.keys[s->sweep.n_keys++].path = points->names[1 + k];
    s->timing = has_timing(store, s->kind);
    int rc = 0;
    for (int32_t i = 0; i < s->kind->n_tables && !rc; i++) {
        rc = study_set_columns(s, i, s->kind->tables[i].columns, e);
        if (i >= TABLE_RUNS && store_find_table(store, s->kind->tables[i].word) >= 0)
            s->wanted |= UINT32_C(1) << i;
    }
    if (!rc)
        rc = study_form_build(&x->form, s, e);
    if (!rc)
        rc = check_stub(x, store, e);
    if (rc)
        stub_free(x);
    return rc;
}

/* Of all rows that are there those that the rule of the study keeps. All rows are read before the table is
 * cleared; the transaction makes both one step. */
static int keep_rows(struct stub *x, struct store *store, const char *text, struct err *e)
{
    struct table columns = { 0 }, rows = { 0 }, fresh = { 0 };
    struct keep_rule rule = { 0 };
    struct keep *keep = NULL;
    struct yaml_doc doc;
    struct store_walk walk = store_walk_all(STORE_RESULTS, true);
    const int64_t *gone;
    int64_t n_gone;
    int rc = yaml_read_text(&doc, "keep", text, strlen(text), e);
    if (rc)
        return rc;
    study_put_columns(&columns, &x->study, TABLE_ROWS);
    rc = keep_read(&rule, x->study.kind, &doc, doc.root, &columns, e);
    if (!rc)
        rc = keep_build(&keep, &rule, &columns, e);
    do {
        if (!rc)
            rc = study_next_rows(&x->form, store, &walk, &rows, e);
        if (!rc)
            rc = keep_offer(keep, &rows, e);
    } while (!rc && rows.n_rows);
    if (!rc)
        rc = keep_changes(keep, &fresh, &gone, &n_gone, e);
    if (!rc)
        /* Shards held survivors of their own; those of the whole are written in their place. */
        rc = store_clear(store, STORE_RESULTS, e);
    if (!rc)
        rc = study_put_rows(&x->form, store, &fresh, e);
    table_free(&fresh);
    table_free(&rows);
    table_free(&columns);
    keep_free(keep);
    keep_rule_free(&rule);
    yaml_free(&doc);
    return rc;
}

/* Its units and those of its base, which the store tells of a study that is not open. */
static int is_reducible(bool *out, struct study_form *r, struct store *store, const struct spans *done,
                        int64_t point, struct err *e)
{
    struct results x = { .form = r, .point = point };
    *out = is_whole(r, done, point);
    int rc = *out ? read_shared(&x, r, store, e) : 0;
    if (!rc && *out && x.shared->base >= 0)
        *out = is_whole(r, done, x.shared->base);
    results_free(&x);
    return rc;
}

/* Points that a shard could reduce have their rows already: they were copied. */
static int reduce_missing(struct study_form *r, struct store *store, const struct spans *done,
                          const struct spans *shards, int32_t n_shards, int64_t point, struct table *rows,
                          struct sweep_counts *n, struct err *e)
{
    bool want, has = false;
    int rc = is_reducible(&want, r, store, done, point, e);
    for (int32_t i = 0; i < n_shards && !rc && want && !has; i++)
        rc = is_reducible(&has, r, store, &shards[i], point, e);
    if (rc || !want || has)
        return rc;
    rc = reduce_point(r, store, point, rows, n, e);
    if (!rc)
        rc = study_put_rows(r, store, rows, e);
    table_clear(rows);
    return rc;
}

/* For shards that each hold some seeds of a point: only their union makes it whole. `kind` NULL: by the
 * store's own word. */
int study_reduce_store(void *kind, struct store *store, const struct spans *done, const struct spans *shards,
                       int32_t n_shards, struct sweep_counts *n, struct err *e)
{
    struct stub x;
    struct table rows = { 0 };
    const struct study_kind *of = kind;
    int rc = of ? 0 : study_kind_of_store(&of, store, e);
    if (!rc && of->blocks)
        rc = err_set(e, ERR_PARSE, "%s: is of a kind of study that has no runs in this version",
                     store_path_of(store));
    if (!rc)
        rc = stub_build(&x, store, of, e);
    if (rc)
        return rc;
    study_put_columns(&rows, &x.study, TABLE_ROWS);
    for (int64_t point = 0; point < x.study.sweep.n_points && !rc; point++)
        rc = reduce_missing(&x.form, store, done, shards, n_shards, point, &rows, n, e);
    const char *keep = store_head_of(store)->keep;
    if (!rc && keep)
        rc = keep_rows(&x, store, keep, e);
    table_free(&rows);
    stub_free(&x);
    return rc;
}

/* ---- extra tables as they are shown ---- */

/* How an extra table is shown: its rows as they are stored, with cells that follow from the point. */
struct study_table_walk {
    struct stub stub;
    struct store *store;
    struct store_walk walk;
    struct table rows; /* as stored */
    int32_t table;     /* of the kind's */
    const struct table *stored;
    bool *show;          /* shape [n_cols of stored], owned */
    void *row;           /* of the kind's struct, owned */
    struct table filled; /* the row once more, with what was derived */
    int64_t point;       /* whose shared row is held */
    struct results of;   /* that row alone */
};

static size_t row_size(const struct column *list)
{
    size_t size = 0;
    for (const struct column *c = list; c->name; c++) {
        size_t end = c->offset + (size_t)column_count(c) * sizeof(int64_t);
        size = end > size ? end : size;
    }
    return size;
}

void study_table_close(struct study_table_walk *x)
{
    if (!x)
        return;
    free(x->show);
    free(x->row);
    free(x->of.shared);
    table_free(&x->rows);
    table_free(&x->filled);
    stub_free(&x->stub);
    free(x);
}

static int shown_build(struct study_table_walk *x, const struct study_kind *kind, int32_t table,
                       struct err *e)
{
    struct store *store = x->store;
    while (strcmp(kind->tables[x->table].word, x->stub.form.forms[table].word) != 0)
        x->table++;
    const struct study_table *of = &x->stub.study.tables[x->table];
    bool as_rows = kind->tables[x->table].as_rows;
    x->show = calloc((size_t)x->stored->n_cols + 1, sizeof *x->show);
    /* The struct itself is the kind's; its size is what its last column reaches to. */
    x->row = calloc(1, row_size(of->list) + 1);
    columns_put(&x->filled, &of->shown);
    int rc = x->show && x->row ? study_trim_store(store, kind, true, e) : err_nomem(e, "columns of a table");
    int32_t col = 2; /* behind the keys */
    for (int32_t i = 0; i < of->shown.n && !rc; i++)
        for (int32_t k = 0; k < column_count(of->shown.of[i]); k++, col++)
            x->show[col] = !(of->shown.of[i]->flags & COLUMN_HIDDEN) &&
                           (!as_rows || store_is_shown(store, x->stored->names[col]));
    return rc;
}

int study_table_open(struct study_table_walk **out, struct store *store, const struct study_kind *kind,
                     const char *word, struct err *e)
{
    /* The first three are shown in other ways. */
    int32_t table = store_find_table(store, word);
    *out = NULL;
    if (table < STORE_EXTRA)
        return err_set(e, ERR_PARSE, "%s: has no table %s, expected one that was recorded",
                       store_path_of(store), word);
    struct study_table_walk *x = calloc(1, sizeof *x);
    if (!x)
        return err_nomem(e, "a table");
    *x = (struct study_table_walk){ .store = store,
                                    .walk = store_walk_all(table, true),
                                    .stored = store_columns(store, table),
                                    .table = TABLE_RUNS,
                                    .point = -1 };
    int rc = stub_build(&x->stub, store, kind, e);
    if (rc) {
        free(x);
        return rc;
    }
    rc = shown_build(x, kind, table, e);
    if (rc)
        study_table_close(x);
    else
        *out = x;
    return rc;
}

static void put_shown_heads(struct table *t, const struct study_table_walk *x)
{
    study_put_axes(t, &x->stub.study, x->table);
    for (int32_t col = 0; col < x->stored->n_cols; col++)
        if (x->show[col])
            table_column_of(t, x->stored, col);
}

static int find_shown_point(struct study_table_walk *x, int64_t point, struct err *e)
{
    if (x->of.shared && x->point == point)
        return 0;
    free(x->of.shared);
    x->of = (struct results){ .form = &x->stub.form, .point = point };
    x->point = point;
    return read_shared(&x->of, &x->stub.form, x->store, e);
}

static int put_shown(struct table *t, struct study_table_walk *x, int64_t i, struct err *e)
{
    const struct table *rows = &x->rows;
    const struct study *s = &x->stub.study;
    const struct study_table *of = &s->tables[x->table];
    const struct table_def *def = &s->kind->tables[x->table];
    int rc = find_shown_point(x, table_count(rows, i, 0) >> STORE_POINT_SHIFT, e);
    if (rc)
        return rc;
    /* Cells that follow from the point's shared row are not stored: they would be the same in thousands of
     * rows. */
    if (def->derive) {
        row_clear(x->row, of->list);
        row_get(x->row, &of->shown, rows, i, 2);
        def->derive(x->row, x->of.shared);
        table_clear(&x->filled);
        table_row(&x->filled);
        row_put(&x->filled, &of->shown, x->row);
        if (x->filled.failed)
            return err_nomem(e, "rows of a table");
    }
    table_row(t);
    table_put_count(t, x->point);
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        if (of->axis[k])
            table_put_cell(t, &x->stub.form.shared_rows[0], 0, 1 + k);
    for (int32_t col = 2; col < x->stored->n_cols; col++)
        if (x->show[col] && def->derive)
            table_put_cell(t, &x->filled, 0, col - 2);
        else if (x->show[col])
            table_put_cell(t, rows, i, col);
    return t->failed ? err_nomem(e, "rows of a table") : 0;
}

int study_table_next(struct study_table_walk *x, int64_t most, struct table *t, struct err *e)
{
    if (t->n_cols == 0)
        put_shown_heads(t, x);
    table_clear(t);
    int rc = store_next(x->store, &x->walk, most, &x->rows, e);
    for (int64_t i = 0; i < x->rows.n_rows && !rc; i++)
        rc = put_shown(t, x, i, e);
    return rc || !t->failed ? rc : err_nomem(e, "columns of a table");
}

/* All rows at once: for callers that need the whole table anyway. */
int study_read_table(struct table *t, struct store *store, const struct study_kind *kind, const char *word,
                     struct err *e)
{
    struct study_table_walk *walk;
    int rc = study_table_open(&walk, store, kind, word, e);
    if (!rc)
        rc = study_table_next(walk, INT64_MAX, t, e);
    study_table_close(walk);
    return rc;
}

/* ---- notes ---- */

/* A last line may lack its newline. */
static size_t line_length(const char *line)
{
    size_t n = strcspn(line, "\n");
    return n + (line[n] == '\n');
}

static bool has_line(const char *text, const char *line, size_t n)
{
    for (const char *at = text; *at; at += line_length(at))
        if (strncmp(at, line, n) == 0)
            return true;
    return false;
}

/* Of the lines of @p t those that @p lines has too. */
static void keep_lines(struct text *t, const char *lines)
{
    struct text left = { 0 };
    for (const char *line = text_str(t); *line;) {
        size_t n = line_length(line); /* with the newline: none is another's beginning */
        if (has_line(lines, line, n))
            text_add(&left, line, n);
        line += n;
    }
    left.failed = left.failed || t->failed;
    text_free(t);
    *t = left;
}

int study_read_notes(struct text *out, struct store *store, const struct study_kind *kind, struct err *e)
{
    const struct table *columns = store_columns(store, STORE_POINTS);
    bool first = true;
    struct store_walk walk = store_walk_all(STORE_POINTS, true);
    struct table rows = { 0 };
    int32_t col = -1;
    if (kind->notes == NOTES_NONE)
        return 0;
    for (int32_t i = 1 + (int32_t)store_head_of(store)->n_axes; i < columns->n_cols && col < 0; i++)
        if (strcmp(columns->names[i], "notes") == 0)
            col = i;
    int rc = 0;
    do {
        rc = store_next(store, &walk, AT_A_TIME, &rows, e);
        for (int64_t i = 0; i < rows.n_rows && !rc && col >= 0; i++) {
            const char *lines = table_text(&rows, i, col);
            if (!lines)
                continue;
            /* Of each point what is new, or those that all points have. */
            if (kind->notes == NOTES_EACH)
                text_add_new_lines(out, lines);
            else if (first)
                text_puts(out, lines);
            else
                keep_lines(out, lines);
            first = false;
        }
    } while (!rc && rows.n_rows);
    table_free(&rows);
    return rc ? rc : text_check(out, e);
}
