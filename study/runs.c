/*
 * The threads of a rank share a board: points that are prepared, units that are open, what is to be handed
 * over next. All of it is under critical(runs_board), but for what a thread has taken: a point or a unit
 * while it is OPENING, a run. Batches leave one at a time, so that results come to the store before the unit
 * that is done with them. Then reducing, and what is read of a store without its study: rows, extra tables,
 * notes.
 */
#include "study/runs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "study/keep.h"

/* A batch is handed over when it is so old: as much as a kill loses besides the runs under way. */
#define BATCH_S 0.05
/* How often a thread that has nothing to do looks again. */
#define NAP_S 0.0005

/* ---- tables ---- */

/* Tables of a batch, and of the store but the first. */
enum { MORE_RUNS, MORE_POINTS, MORE_EXTRA };

struct study_runs {
    const struct study *study;
    const struct study_kind *kind;
    struct columns result, shared;   /* all of the kind's */
    int32_t extra[STUDY_MAX_TABLES]; /* which table of a batch, by number of the kind's; -1: not recorded */
    struct table columns[1 + FLEET_MORE]; /* of the store's tables */
    struct store_table_form forms[1 + FLEET_MORE];
    struct store_form form;
    int64_t *there, n_there; /* ids of runs that need not be run again, ascending */
    struct board *board;
    struct table shared_rows, result_rows; /* read of the point that is reduced */
    struct table stored_rows;              /* of study_runs_next() */
};

static bool is_recorded(const struct study *s, int32_t table)
{
    return s->kind->tables[table].always || (s->wanted >> table & 1);
}

static void put_axes(struct table *t, const struct sweep *w)
{
    for (int32_t k = 0; k < w->n_keys; k++)
        table_column(t, w->keys[k].path, TABLE_TEXT);
}

static void add_form(struct study_runs *r, const char *word, int32_t n_keys)
{
    int32_t i = r->form.n_tables++;
    r->forms[i] = (struct store_table_form){ .word = word, .columns = &r->columns[i], .n_keys = n_keys };
}

/* Tables of the store, as docs/store.md has them. */
static int make_form(struct study_runs *r, struct err *e)
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

const struct store_form *study_runs_form(const struct study_runs *r)
{
    return &r->form;
}

static void put_heads(struct table *t, const struct table *columns)
{
    for (int32_t col = 0; col < columns->n_cols; col++)
        table_column(t, columns->names[col], columns->kinds[col]);
}

/* Ids order the rows of a table, whatever the order of the runs. */
static int64_t run_id(int64_t point, int64_t entry, int64_t k, bool by_seed)
{
    return point << STORE_POINT_SHIFT |
           (by_seed ? k << STORE_ROW_BITS | entry : entry << STORE_SEED_BITS | k);
}

static int64_t result_id(int64_t point, int64_t entry, int64_t k)
{
    return run_id(point, entry, k, false);
}

/* ---- what is open ---- */

enum state { FREE, OPENING, OPEN };

/* A point that was read and prepared, or was found to be wrong. */
struct open_point {
    enum state state;
    int64_t number;
    int32_t n_units; /* open ones that are of it */
    void *point;     /* owned; NULL where it is wrong */
    int32_t n_entries;
};

/* A point with one seed. */
struct open_unit {
    enum state state;
    int64_t number, k;
    struct open_point *at;
    void *seed;            /* owned; NULL: the kind has none, or it failed */
    struct err failed;     /* code 0: it did not */
    int32_t *todo, n_todo; /* entries to be run, of which those below `next` were begun; owned */
    int32_t next, n_left;
    double opened_s;
};

/* What the threads of a rank share; under critical(runs_board). */
struct board {
    int32_t threads;
    struct open_unit *units;   /* shape [threads], owned */
    struct open_point *points; /* shape [threads + 1], owned */
    bool dry;                  /* there are no units to be had any more */
    double unit_s;             /* what a unit took of late */
    struct fleet_batch batch;  /* what is to be handed over next */
    bool giving;               /* the one before is on its way */
    double given_s;
};

static int board_build(struct board **out, int32_t threads, struct err *e)
{
    struct board *b = calloc(1, sizeof *b);
    *out = b;
    if (!b)
        return err_nomem(e, "threads of a study");
    b->threads = threads;
    b->unit_s = INFINITY;
    b->units = calloc((size_t)threads, sizeof *b->units);
    b->points = calloc((size_t)threads + 1, sizeof *b->points);
    return b->units && b->points ? 0 : err_nomem(e, "threads of a study");
}

static void drop_point(const struct study_runs *r, struct open_point *p)
{
    if (p->point)
        r->kind->free(p->point);
    free(p->point);
    *p = (struct open_point){ .state = FREE };
}

static void drop_unit(const struct study_runs *r, struct open_unit *u)
{
    if (u->seed)
        r->kind->seed_end(u->seed);
    free(u->seed);
    free(u->todo);
    *u = (struct open_unit){ .state = FREE };
}

static void board_free(struct board *b, const struct study_runs *r)
{
    if (!b)
        return;
    for (int32_t i = 0; i < b->threads && b->units; i++)
        drop_unit(r, &b->units[i]);
    for (int32_t i = 0; i <= b->threads && b->points; i++)
        drop_point(r, &b->points[i]);
    fleet_batch_free(&b->batch);
    free(b->units);
    free(b->points);
    free(b);
}

/* ---- rows that a thread puts ---- */

/* The run under way, and what it put so far. */
struct sink {
    const struct study_runs *runs;
    int64_t point, k;
    int32_t entry, n_entries;
    bool whole;                    /* it is of all entries */
    uint32_t wanted;               /* tables of the kind */
    int64_t seq[STUDY_MAX_TABLES]; /* rows of each */
    struct fleet_batch batch;
};

void sink_put(struct sink *s, int32_t table, const void *row)
{
    const struct table_def *def = &s->runs->kind->tables[table];
    if (!(s->wanted >> table & 1))
        return;
    struct table *t = &s->batch.more[s->runs->extra[table]];
    table_row(t);
    table_put_count(t, run_id(s->point, s->entry, s->k, def->by_seed));
    table_put_count(t, s->seq[table]++);
    row_put(t, &s->runs->study->tables[table].shown, row);
}

void sink_result(struct sink *s, int32_t entry, const void *result)
{
    struct table *t = &s->batch.more[MORE_RUNS];
    assert(s->whole || entry == s->entry);
    table_row(t);
    table_put_count(t, result_id(s->point, entry, s->k));
    row_put(t, &s->runs->result, result);
}

/* Results say that the run failed; rows that it put before stay. */
static int put_failure(struct sink *s, const struct err *why, struct err *e)
{
    const struct study_kind *kind = s->runs->kind;
    struct study_result *result = calloc(1, kind->result_size);
    if (!result)
        return err_nomem(e, "a result");
    table_clear(&s->batch.more[MORE_RUNS]);
    for (int32_t entry = s->whole ? 0 : s->entry; entry < (s->whole ? s->n_entries : s->entry + 1); entry++) {
        row_clear(result, kind->result);
        result->rc = -(int64_t)why->code;
        result->message = why->msg;
        sink_result(s, entry, result);
    }
    free(result);
    return 0;
}

/* The row of a point as its runs share it. */
static void put_point(struct table *t, const struct study_runs *r, int64_t point, const void *shared)
{
    const struct sweep *w = &r->study->sweep;
    struct sweep_point p;
    table_row(t);
    table_put_count(t, point);
    sweep_find_point(&p, w, point);
    for (int32_t k = 0; k < w->n_keys; k++)
        table_put_text(t, sweep_value(w, &p, k));
    row_put(t, &r->shared, shared);
}

static bool has_failed(const struct fleet_batch *b)
{
    bool failed = b->rows.failed;
    for (int32_t i = 0; i < FLEET_MORE; i++)
        failed = failed || b->more[i].failed;
    return failed;
}

/* ---- a thread ---- */

struct hand {
    struct study_runs *runs;
    struct board *board;
    struct fleet_crew *crew;
    struct sink sink;
};

/* To what is handed over next; under critical(runs_board). */
static void add_batch(struct board *b, struct fleet_batch *from)
{
    table_take_rows(&b->batch.rows, &from->rows);
    for (int32_t i = 0; i < FLEET_MORE; i++)
        table_take_rows(&b->batch.more[i], &from->more[i]);
}

static bool is_empty(const struct fleet_batch *b)
{
    int64_t n = b->rows.n_rows;
    for (int32_t i = 0; i < FLEET_MORE; i++)
        n += b->more[i].n_rows;
    return n == 0;
}

/* One batch at a time is on its way: results come before the unit that is done with them. */
static int give_batch(struct hand *h, bool at_once, struct err *e)
{
    struct board *b = h->board;
    struct fleet_batch out;
    bool mine = false, waits;
    do {
#pragma omp critical(runs_board)
        {
            double now = clock_now_s();
            bool due = !is_empty(&b->batch) && (at_once || now - b->given_s >= BATCH_S);
            waits = due && b->giving && at_once;
            mine = due && !b->giving;
            if (mine) {
                b->giving = true;
                b->given_s = now;
                out = b->batch;
                b->batch = h->sink.batch; /* empty */
            }
        }
        if (waits)
            fleet_sleep(NAP_S);
    } while (waits);
    if (!mine)
        return 0;
    bool failed = has_failed(&out);
    int rc = failed ? err_nomem(e, "rows of a study") : fleet_give(h->crew, &out, e);
    if (failed)
        fleet_batch_free(&out);
    h->sink.batch = out;
    if (failed)
        h->sink.batch = (struct fleet_batch){ .units.n = 0 };
#pragma omp critical(runs_board)
    b->giving = false;
    return rc;
}

/* ---- opening ---- */

static bool is_there(const struct study_runs *r, int64_t id)
{
    int64_t low = 0, high = r->n_there;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (r->there[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n_there && r->there[low] == id;
}

/* study_shared.n_entries of a point that `where` of the study leaves out: blank in the store. */
enum { LEFT_OUT = -1 };

/* Asked before the point is read, without @p point, too. */
static bool is_left_out(const struct study_runs *r, const struct sweep_point *at, const void *point)
{
    enum { MOST_FACTS = 64 };
    double facts[MOST_FACTS];
    const struct sweep *w = &r->study->sweep;
    if (w->where && point && r->kind->facts)
        r->kind->facts(facts, point);
    return w->where && !sweep_passes(w, at, point && r->kind->facts ? facts : NULL);
}

/* Read and prepare; what is wrong with the point stands in its row. */
static int prepare_point(struct hand *h, struct open_point *p, struct err *e)
{
    const struct study_runs *r = h->runs;
    const struct study_kind *kind = r->kind;
    struct study_override axes[SWEEP_MAX_KEYS];
    struct sweep_point at;
    struct err inner = { 0 };
    struct study_shared *shared = calloc(1, kind->shared_size);
    p->point = calloc(1, kind->point_size);
    if (!shared || !p->point) {
        free(shared);
        free(p->point);
        p->point = NULL;
        return err_nomem(e, "a point");
    }
    row_clear(shared, kind->shared);
    sweep_find_point(&at, &r->study->sweep, p->number);
    const struct study_source from = study_source_at(axes, r->study, &at);
    bool read = !is_left_out(r, &at, NULL), out = !read;
    int rc = read ? kind->read(p->point, &from, &inner) : 0;
    if (!rc && !out)
        out = is_left_out(r, &at, p->point);
    if (!rc && !out)
        rc = kind->prepare(p->point, shared, &inner);
    p->n_entries = rc || out ? 0 : kind->n_entries(p->point);
    shared->rc = -(int64_t)rc;
    if (rc)
        shared->message = inner.msg;
    shared->n_entries = out ? LEFT_OUT : p->n_entries;
    put_point(&h->sink.batch.more[MORE_POINTS], r, p->number, shared);
    free(shared);
    if (rc || out) {
        if (read)
            kind->free(p->point);
        free(p->point);
        p->point = NULL;
    }
    return rc == ERR_NOMEM ? err_set(e, rc, "%s", inner.msg) : 0;
}

/* The point, by whichever thread came first; *mine: it is for this one to prepare. */
static struct open_point *join_point(struct board *b, const struct study_runs *r, int64_t number, bool *mine)
{
    struct open_point *p = NULL, *spare = NULL;
    for (int32_t i = 0; i <= b->threads; i++) {
        struct open_point *q = &b->points[i];
        if (q->state != FREE && q->number == number)
            p = q;
        else if (q->state == FREE || q->n_units == 0)
            spare = spare && spare->state == FREE ? spare : q;
    }
    *mine = !p;
    if (!p) {
        assert(spare); /* a thread holds one point, and there is one more */
        p = spare;
        drop_point(r, p);
        *p = (struct open_point){ .state = OPENING, .number = number };
    }
    p->n_units++;
    return p;
}

static bool point_is_open(const struct open_point *p)
{
    bool is;
#pragma omp critical(runs_board)
    is = p->state == OPEN;
    return is;
}

static int find_point(struct hand *h, struct open_unit *u, struct err *e)
{
    int64_t number = u->number / h->runs->study->seeds;
    bool mine;
#pragma omp critical(runs_board)
    u->at = join_point(h->board, h->runs, number, &mine);
    if (mine) {
        int rc = prepare_point(h, u->at, e);
        if (rc) /* ends the study: those who wait for the point see that */
            return rc;
#pragma omp critical(runs_board)
        {
            u->at->state = OPEN;
            add_batch(h->board, &h->sink.batch);
        }
        return 0;
    }
    while (!point_is_open(u->at) && !fleet_stopped(h->crew))
        fleet_sleep(NAP_S);
    return 0;
}

/* Entries of the unit that are to be run. */
static int list_entries(struct open_unit *u, const struct study_runs *r, struct err *e)
{
    const struct study_kind *kind = r->kind;
    const struct open_point *p = u->at;
    int32_t n = kind->whole_seed && p->n_entries ? 1 : p->n_entries;
    u->todo = malloc((size_t)(n + 1) * sizeof *u->todo);
    if (!u->todo)
        return err_nomem(e, "runs of a point");
    for (int32_t entry = 0; entry < n; entry++) {
        bool once = !kind->whole_seed && kind->seeded && !kind->seeded(p->point, entry);
        if ((u->k == 0 || !once) && !is_there(r, result_id(p->number, entry, u->k)))
            u->todo[u->n_todo++] = entry;
    }
    u->n_left = u->n_todo;
    return 0;
}

/* What is wrong with the seed is wrong with each of its runs. */
static int begin_seed(struct open_unit *u, const struct study_runs *r, struct err *e)
{
    const struct study_kind *kind = r->kind;
    if (!kind->seed_size || u->n_todo == 0)
        return 0;
    u->seed = calloc(1, kind->seed_size);
    if (!u->seed)
        return err_nomem(e, "a seed");
    int rc = kind->seed_begin(u->seed, u->at->point, r->study->seed + u->k, &u->failed);
    if (!rc)
        return 0;
    u->failed.code = rc;
    kind->seed_end(u->seed);
    free(u->seed);
    u->seed = NULL;
    return rc == ERR_NOMEM ? err_set(e, rc, "%s", u->failed.msg) : 0;
}

/* The unit is done, and nobody's any more. */
static void close_unit(struct hand *h, struct open_unit *u)
{
    struct board *b = h->board;
    struct open_unit gone = *u;
#pragma omp critical(runs_board)
    {
        table_row(&b->batch.rows);
        table_put_count(&b->batch.rows, u->number);
        b->unit_s = clock_now_s() - u->opened_s;
        u->at->n_units--;
        *u = (struct open_unit){ .state = OPENING };
    }
    drop_unit(h->runs, &gone);
#pragma omp critical(runs_board)
    u->state = FREE;
}

static int open_unit(struct hand *h, struct open_unit *u, struct err *e)
{
    struct board *b = h->board;
    struct fleet_want want = { .n = 1 };
#pragma omp critical(runs_board)
    want.unit_s = b->unit_s;
    struct span next = fleet_next(h->crew, &want);
    if (next.n == 0) {
#pragma omp critical(runs_board)
        {
            b->dry = true;
            u->state = FREE;
        }
        return 0;
    }
    u->number = next.first;
    u->k = next.first % h->runs->study->seeds;
    u->opened_s = clock_now_s();
    int rc = find_point(h, u, e);
    if (rc || fleet_stopped(h->crew))
        return rc;
    rc = list_entries(u, h->runs, e);
    if (!rc)
        rc = begin_seed(u, h->runs, e);
    if (rc)
        return rc;
    if (u->n_left == 0) {
        close_unit(h, u);
        return give_batch(h, false, e);
    }
#pragma omp critical(runs_board)
    u->state = OPEN;
    return 0;
}

/* ---- running ---- */

static int run_entry(struct hand *h, struct open_unit *u, int32_t entry, struct err *e)
{
    const struct study_runs *r = h->runs;
    const struct study_kind *kind = r->kind;
    struct sink *s = &h->sink;
    struct err inner = u->failed;
    uint32_t wanted = 0;
    for (int32_t t = TABLE_RUNS; t < kind->n_tables; t++)
        if (r->extra[t] >= 0 && (u->k == 0 || !kind->tables[t].first_seed))
            wanted |= UINT32_C(1) << t;
    s->point = u->at->number;
    s->k = u->k;
    s->entry = entry;
    s->n_entries = u->at->n_entries;
    s->wanted = wanted;
    memset(s->seq, 0, sizeof s->seq);
    const struct study_run run = { .study = r->study,
                                   .point = u->at->point,
                                   .seed_state = u->seed,
                                   .point_no = s->point,
                                   .k = u->k,
                                   .seed = r->study->seed + u->k,
                                   .entry = entry,
                                   .n_entries = s->n_entries,
                                   .wanted = wanted };
    int rc = inner.code ? (int)inner.code : kind->run(&run, s, &inner);
    if (rc == ERR_NOMEM)
        return err_set(e, rc, "%s", inner.msg);
    inner.code = rc;
    return rc ? put_failure(s, &inner, e) : 0;
}

static int do_run(struct hand *h, struct open_unit *u, int32_t entry, struct err *e)
{
    bool last;
    int rc = run_entry(h, u, entry, e);
    if (rc)
        return rc;
#pragma omp critical(runs_board)
    {
        add_batch(h->board, &h->sink.batch);
        last = --u->n_left == 0;
    }
    if (last)
        close_unit(h, u);
    return give_batch(h, false, e);
}

/* ---- what next ---- */

enum what { RUN, OPEN_ONE, WAIT, END };

/* Of units that are open the first that has an entry left; then another unit. */
static enum what choose_next(struct board *b, struct open_unit **unit, int32_t *entry)
{
    struct open_unit *spare = NULL;
    bool opening = false;
    *unit = NULL;
    for (int32_t i = 0; i < b->threads; i++) {
        struct open_unit *u = &b->units[i];
        if (u->state == FREE)
            spare = u;
        opening = opening || u->state == OPENING;
        if (u->state == OPEN && u->next < u->n_todo && (!*unit || u->number < (*unit)->number))
            *unit = u;
    }
    if (*unit) {
        *entry = (*unit)->todo[(*unit)->next++];
        return RUN;
    }
    if (spare && !b->dry) {
        *unit = spare;
        spare->state = OPENING;
        return OPEN_ONE;
    }
    return b->dry && !opening ? END : WAIT;
}

static int work_on(struct hand *h, struct err *e)
{
    int rc = 0;
    for (enum what what = WAIT; what != END && !rc;) {
        struct open_unit *u = NULL;
        int32_t entry = 0;
        if (fleet_stopped(h->crew))
            what = END;
        else {
#pragma omp critical(runs_board)
            what = choose_next(h->board, &u, &entry);
        }
        if (what == RUN)
            rc = do_run(h, u, entry, e);
        else if (what == OPEN_ONE)
            rc = open_unit(h, u, e);
        else if (what == WAIT)
            fleet_sleep(NAP_S);
    }
    return rc ? rc : give_batch(h, true, e);
}

/* A fleet_work.member. */
static int run_thread(struct fleet_crew *crew, void *data, struct err *e)
{
    struct study_runs *r = data;
    const struct fleet_work work = study_runs_work(r);
    struct hand h = {
        .runs = r, .board = r->board, .crew = crew, .sink = { .runs = r, .whole = r->kind->whole_seed }
    };
    fleet_batch_begin(&h.sink.batch, &work);
#pragma omp critical(runs_board)
    if (r->board->batch.rows.n_cols == 0)
        fleet_batch_begin(&r->board->batch, &work);
    int rc = work_on(&h, e);
    fleet_batch_free(&h.sink.batch);
    return rc;
}

static void put_unit_column(struct table *t, void *data)
{
    (void)data;
    table_column(t, "unit", TABLE_COUNT);
}

static void put_more(struct table *t, int32_t i, void *data)
{
    const struct study_runs *r = data;
    put_heads(t, &r->columns[i + 1]);
}

struct fleet_work study_runs_work(struct study_runs *r)
{
    const struct study *s = r->study;
    return (struct fleet_work){ .n_units = s->sweep.n_points * s->seeds,
                                .n_points = s->sweep.n_points,
                                .member = run_thread,
                                .columns = put_unit_column,
                                .n_more = r->form.n_tables - 1,
                                .more = put_more,
                                .data = r };
}

/* ---- building ---- */

int study_runs_build(struct study_runs **out, const struct study *s, int32_t threads, struct err *e)
{
    struct study_runs *r = calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return err_nomem(e, "runs of a study");
    r->study = s;
    r->kind = s->kind;
    int rc = make_form(r, e);
    if (!rc)
        rc = board_build(&r->board, threads, e);
    if (rc) {
        study_runs_free(r);
        *out = NULL;
    }
    return rc;
}

void study_runs_free(struct study_runs *r)
{
    if (!r)
        return;
    board_free(r->board, r);
    columns_free(&r->result);
    columns_free(&r->shared);
    for (int32_t i = 0; i < 1 + FLEET_MORE; i++)
        table_free(&r->columns[i]);
    table_free(&r->shared_rows);
    table_free(&r->result_rows);
    table_free(&r->stored_rows);
    free(r->there);
    free(r);
}

/* Runs of units that are not done, of which there are as many as threads were at work. */
static int list_there(struct study_runs *r, struct store *store, const struct spans *done, struct err *e)
{
    enum { AT_A_TIME = 4096 };
    struct table rows = { 0 };
    struct store_walk walk = store_walk_all(STORE_RUNS, true);
    int64_t cap = 0;
    int rc = 0;
    do {
        rc = store_next(store, &walk, AT_A_TIME, &rows, e);
        for (int64_t row = 0; row < rows.n_rows && !rc; row++) {
            int64_t id = table_count(&rows, row, 0), k = id & ((INT64_C(1) << STORE_SEED_BITS) - 1);
            if (spans_have(done, (id >> STORE_POINT_SHIFT) * r->study->seeds + k))
                continue;
            if (vec_reserve(r->there, cap, r->n_there + 1))
                r->there[r->n_there++] = id;
            else
                rc = err_nomem(e, "runs of a study");
        }
    } while (!rc && rows.n_rows);
    table_free(&rows);
    return rc;
}

int study_runs_resume(struct study_runs *r, struct store *store, const struct spans *done, struct err *e)
{
    int rc = store ? list_there(r, store, done, e) : 0;
    rc = fleet_agree(rc, e);
    if (rc)
        return rc;
    void *bytes = r->there;
    size_t n = (size_t)r->n_there * sizeof *r->there;
    rc = fleet_share(&bytes, &n, e);
    r->there = bytes;
    r->n_there = (int64_t)(n / sizeof *r->there);
    return rc;
}

/* ---- reducing ---- */

struct results {
    const struct study_runs *runs;
    int64_t point;
    struct study_shared *shared; /* owned */
    char *structs;               /* shape [n_rows][result_size], owned */
    int32_t *at;                 /* shape [n_entries][seeds], owned: row of each, -1 = not run */
};

const void *results_at(const struct results *r, int32_t entry, int64_t k)
{
    int32_t at = r->at[entry * r->runs->study->seeds + k];
    return at < 0 ? NULL : r->structs + (size_t)at * r->runs->kind->result_size;
}

int32_t results_entries(const struct results *r)
{
    return (int32_t)r->shared->n_entries;
}

int64_t results_seeds(const struct results *r)
{
    return r->runs->study->seeds;
}

int64_t results_point(const struct results *r)
{
    return r->point;
}

const struct study *results_study(const struct results *r)
{
    return r->runs->study;
}

struct rows {
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

void rows_put(struct rows *r, const void *row)
{
    assert(r->n < STUDY_MAX_ENTRIES);
    put_row_head(r->table, store_row_id(r->point, r->n++), r->columns, r->shared, r->n_axes);
    row_put(r->table, &r->columns->shown, row);
}

void rows_note(struct rows *r, const char *lines)
{
    struct study_shared *head = r->head;
    if (r->notes.n == 0 && head->notes)
        text_puts(&r->notes, head->notes);
    text_puts(&r->notes, lines);
    head->notes = text_str(&r->notes);
}

static int read_shared(struct results *x, struct study_runs *r, struct store *store, struct err *e)
{
    struct store_walk walk = store_walk_all(STORE_POINTS, true);
    walk.id = x->point - 1;
    walk.upto = x->point;
    int rc = store_next(store, &walk, 1, &r->shared_rows, e);
    if (rc)
        return rc;
    if (r->shared_rows.n_rows != 1)
        return err_set(e, ERR_PARSE, "store: has no point %lld, need one as its units are done",
                       (long long)x->point);
    x->shared = calloc(1, r->kind->shared_size);
    if (!x->shared)
        return err_nomem(e, "a point");
    row_clear(x->shared, r->kind->shared);
    row_get(x->shared, &r->shared, &r->shared_rows, 0, 1 + r->study->sweep.n_keys);
    return 0;
}

static int read_results(struct results *x, struct study_runs *r, struct store *store, struct err *e)
{
    struct store_walk walk = store_walk_all(STORE_RUNS, true);
    walk.id = result_id(x->point, 0, 0) - 1;
    walk.upto = result_id(x->point + 1, 0, 0) - 1;
    int rc = store_next(store, &walk, INT64_MAX, &r->result_rows, e);
    if (rc)
        return rc;
    const struct table *t = &r->result_rows;
    int64_t seeds = r->study->seeds, n = x->shared->n_entries * seeds;
    x->structs = calloc((size_t)t->n_rows + 1, r->kind->result_size);
    x->at = malloc(((size_t)n + 1) * sizeof *x->at);
    if (!x->structs || !x->at)
        return err_nomem(e, "results of a point");
    for (int64_t i = 0; i < n; i++)
        x->at[i] = -1;
    for (int64_t row = 0; row < t->n_rows; row++) {
        int64_t id = table_count(t, row, 0) - result_id(x->point, 0, 0);
        int64_t entry = id >> STORE_SEED_BITS, k = id & ((INT64_C(1) << STORE_SEED_BITS) - 1);
        void *result = x->structs + (size_t)row * r->kind->result_size;
        row_clear(result, r->kind->result);
        row_get(result, &r->result, t, row, 1);
        struct study_result *head = result;
        head->rc = head->rc < 0 ? 0 : head->rc; /* of a run that did not set it */
        if (entry < x->shared->n_entries && k < seeds)
            x->at[entry * seeds + k] = (int32_t)row;
    }
    return 0;
}

static void results_free(struct results *x)
{
    free(x->shared);
    free(x->structs);
    free(x->at);
}

/* The point's row again, as far as reducing knows it better. */
static int put_shared(struct study_runs *r, struct store *store, const struct study_shared *shared,
                      struct err *e)
{
    struct table again = { 0 };
    put_heads(&again, &r->columns[STORE_POINTS]);
    table_row(&again);
    for (int32_t col = 0; col <= r->study->sweep.n_keys; col++)
        table_put_cell(&again, &r->shared_rows, 0, col);
    row_put(&again, &r->shared, shared);
    int rc = again.failed ? err_nomem(e, "a point") : store_put(store, STORE_POINTS, &again, e);
    table_free(&again);
    return rc;
}

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

/* Of a point all of whose units are done: its rows, with their ids in place of the point. */
static int reduce_point(struct study_runs *r, struct store *store, int64_t point, struct table *rows,
                        struct sweep_counts *n, struct err *e)
{
    struct results x = { .runs = r, .point = point };
    int64_t first = rows->n_rows;
    int rc = read_shared(&x, r, store, e);
    if (!rc && x.shared->n_entries < 0) {
        n->seen++;
        n->filtered++;
        results_free(&x);
        return 0;
    }
    if (!rc)
        rc = read_results(&x, r, store, e);
    struct rows out = { .columns = &r->study->tables[TABLE_ROWS],
                        .table = rows,
                        .shared = &r->shared_rows,
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
    return rc;
}

static bool is_whole(const struct study_runs *r, const struct spans *done, int64_t point)
{
    int64_t seeds = r->study->seeds;
    return spans_gap(done, point * seeds, (point + 1) * seeds, 1).n == 0;
}

int study_runs_take(struct study_runs *r, struct store *store, struct fleet_batch *batch, struct spans *done,
                    struct table *rows, struct sweep_counts *n, struct err *e)
{
    int rc = 0;
    if (rows->n_cols == 0)
        study_put_columns(rows, r->study, TABLE_ROWS);
    for (int32_t i = 0; i < r->form.n_tables - 1 && !rc; i++)
        rc = store_take(store, i + 1, &batch->more[i], e);
    for (int64_t i = 0; i < batch->rows.n_rows && !rc; i++) {
        int64_t unit = table_count(&batch->rows, i, 0), point = unit / r->study->seeds;
        rc = spans_add(done, unit, 1, e);
        if (!rc && is_whole(r, done, point))
            rc = reduce_point(r, store, point, rows, n, e);
    }
    return rc;
}

/* Columns of a row, as study_put_columns() has them, that its table in the store has not. */
static int32_t head_columns(const struct study_runs *r)
{
    int32_t n = 1;
    for (int32_t k = 0; k < r->study->sweep.n_keys; k++)
        n += r->study->tables[TABLE_ROWS].axis[k];
    return n;
}

int study_runs_put(struct study_runs *r, struct store *store, const struct table *rows, struct err *e)
{
    struct table t = { 0 };
    int32_t head = head_columns(r);
    put_heads(&t, &r->columns[STORE_RESULTS]);
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

int study_runs_next(struct study_runs *r, struct store *store, struct store_walk *walk, int64_t most,
                    struct table *rows, struct err *e)
{
    const struct study_table *of = &r->study->tables[TABLE_ROWS];
    struct results x = { .runs = r, .point = -1 };
    int rc = store_next(store, walk, most, &r->stored_rows, e);
    if (rows->n_cols == 0)
        study_put_columns(rows, r->study, TABLE_ROWS);
    table_clear(rows);
    for (int64_t row = 0; row < r->stored_rows.n_rows && !rc; row++) {
        int64_t id = table_count(&r->stored_rows, row, 0);
        if (x.point != id >> STORE_ROW_BITS) {
            results_free(&x);
            x = (struct results){ .runs = r, .point = id >> STORE_ROW_BITS };
            rc = read_shared(&x, r, store, e);
        }
        if (rc)
            break;
        put_row_head(rows, id, of, &r->shared_rows, r->study->sweep.n_keys);
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
    struct study_runs *runs;
};

/* Was a table written with columns of wall clock? */
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

static int check_stub(const struct stub *x, const struct store *store, struct err *e)
{
    const struct store_form *form = &x->runs->form;
    for (int32_t i = 0; i < form->n_tables; i++) {
        int32_t table = store_find_table(store, form->tables[i].word);
        const struct table *has = table < 0 ? NULL : store_columns(store, table),
                           *want = form->tables[i].columns;
        bool same = has && has->n_cols == want->n_cols;
        for (int32_t col = 0; col < want->n_cols && same; col++)
            same = has->kinds[col] == want->kinds[col];
        if (!same)
            return err_set(e, ERR_PARSE,
                           "store: table %s has other columns than this weft's, need its version",
                           form->tables[i].word);
    }
    return 0;
}

static void stub_free(struct stub *x)
{
    study_runs_free(x->runs);
    for (int32_t i = 0; i < STUDY_MAX_TABLES; i++)
        columns_free(&x->study.tables[i].shown);
}

static int stub_build(struct stub *x, const struct store *store, const struct study_kind *kind, struct err *e)
{
    struct store_head head;
    struct sweep_counts counts;
    bool complete;
    store_head_of(store, &head, &counts, &complete);
    struct study *s = &x->study;
    *x = (struct stub){ .study = { .kind = kind,
                                   .seed = head.seed,
                                   .seeds = head.seeds,
                                   .sweep = { .n_points = head.n_points } } };
    if (!head.kind || strcmp(head.kind, kind->word) != 0)
        return err_set(e, ERR_PARSE, "store: is of a study of kind %s, need %s",
                       head.kind ? head.kind : "design", kind->word);
    const struct table *points = store_columns(store, STORE_POINTS);
    for (int32_t k = 0; k < head.n_axes && k < SWEEP_MAX_KEYS && 1 + k < points->n_cols; k++)
        s->sweep.keys[s->sweep.n_keys++].path = points->names[1 + k];
    s->timing = has_timing(store, s->kind);
    int rc = 0;
    for (int32_t i = 0; i < s->kind->n_tables && !rc; i++) {
        rc = study_set_columns(s, i, s->kind->tables[i].columns, e);
        if (i >= TABLE_RUNS && store_find_table(store, s->kind->tables[i].word) >= 0)
            s->wanted |= UINT32_C(1) << i;
    }
    if (!rc)
        rc = study_runs_build(&x->runs, s, 1, e);
    if (!rc)
        rc = check_stub(x, store, e);
    if (rc)
        stub_free(x);
    return rc;
}

/* Of all rows that are there those that the rule of the study keeps. */
static int keep_rows(struct stub *x, struct store *store, const char *text, struct err *e)
{
    enum { AT_A_TIME = 4096 };
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
            rc = study_runs_next(x->runs, store, &walk, AT_A_TIME, &rows, e);
        if (!rc)
            rc = keep_offer(keep, &rows, e);
    } while (!rc && rows.n_rows);
    if (!rc)
        rc = keep_changes(keep, &fresh, &gone, &n_gone, e);
    if (!rc)
        rc = store_clear(store, STORE_RESULTS, e);
    if (!rc)
        rc = study_runs_put(x->runs, store, &fresh, e);
    table_free(&fresh);
    table_free(&rows);
    table_free(&columns);
    keep_free(keep);
    keep_rule_free(&rule);
    yaml_free(&doc);
    return rc;
}

int study_reduce_store(void *kind, struct store *store, const struct spans *done, const struct spans *reduced,
                       struct sweep_counts *n, struct err *e)
{
    struct stub x;
    struct table rows = { 0 };
    struct store_head head;
    struct sweep_counts counts;
    bool complete;
    const struct study_kind *of = kind ? kind : study_kind_of_store(store);
    if (!of || of->blocks)
        return err_set(e, ERR_PARSE, "store: is of a kind of study that has no runs here, need its version");
    int rc = stub_build(&x, store, of, e);
    if (rc)
        return rc;
    study_put_columns(&rows, &x.study, TABLE_ROWS);
    for (int64_t point = 0; point < x.study.sweep.n_points && !rc; point++) {
        if (spans_have(reduced, point) || !is_whole(x.runs, done, point))
            continue;
        rc = reduce_point(x.runs, store, point, &rows, n, e);
        if (!rc)
            rc = study_runs_put(x.runs, store, &rows, e);
        table_clear(&rows);
    }
    store_head_of(store, &head, &counts, &complete);
    if (!rc && head.keep)
        rc = keep_rows(&x, store, head.keep, e);
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
    while (strcmp(kind->tables[x->table].word, x->stub.runs->forms[table].word) != 0)
        x->table++;
    const struct study_table *of = &x->stub.study.tables[x->table];
    bool as_rows = kind->tables[x->table].as_rows;
    x->show = calloc((size_t)x->stored->n_cols + 1, sizeof *x->show);
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
    int32_t table = store_find_table(store, word);
    *out = NULL;
    if (table < STORE_EXTRA)
        return err_set(e, ERR_PARSE, "store: has no table %s, need one that was recorded", word);
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
    const struct study *s = &x->stub.study;
    const struct study_table *of = &s->tables[x->table];
    char buf[COLUMN_NAME + 8];
    table_column(t, "point", TABLE_COUNT);
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        if (of->axis[k])
            table_column(t, column_axis(buf, of->list, s->sweep.keys[k].path), TABLE_TEXT);
    for (int32_t col = 0; col < x->stored->n_cols; col++)
        if (x->show[col])
            table_column(t, x->stored->names[col], x->stored->kinds[col]);
}

static int find_shown_point(struct study_table_walk *x, int64_t point, struct err *e)
{
    if (x->of.shared && x->point == point)
        return 0;
    free(x->of.shared);
    x->of = (struct results){ .runs = x->stub.runs, .point = point };
    x->point = point;
    return read_shared(&x->of, x->stub.runs, x->store, e);
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
    if (def->derive) {
        row_clear(x->row, of->list);
        row_get(x->row, &of->shown, rows, i, 2);
        def->derive(x->row, x->of.shared);
        table_clear(&x->filled);
        table_row(&x->filled);
        row_put(&x->filled, &of->shown, x->row);
    }
    table_row(t);
    table_put_count(t, x->point);
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        if (of->axis[k])
            table_put_cell(t, &x->stub.runs->shared_rows, 0, 1 + k);
    for (int32_t col = 2; col < x->stored->n_cols; col++)
        if (x->show[col] && def->derive)
            table_put_cell(t, &x->filled, 0, col - 2);
        else if (x->show[col])
            table_put_cell(t, rows, i, col);
    return t->failed || x->filled.failed ? err_nomem(e, "rows of a table") : 0;
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

static bool has_line(const char *text, const char *line, size_t n)
{
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
        if (strncmp(at, line, n) == 0)
            return true;
    return false;
}

/* Of the lines of @p t those that @p lines has too. */
static void keep_lines(struct text *t, const char *lines)
{
    struct text left = { 0 };
    for (const char *line = text_str(t); *line;) {
        size_t n = strcspn(line, "\n") + 1; /* with the newline: none is another's beginning */
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
    enum { AT_A_TIME = 4096 };
    const struct table *columns = store_columns(store, STORE_POINTS);
    struct store_head head;
    struct sweep_counts counts;
    bool complete, first = true;
    store_head_of(store, &head, &counts, &complete);
    struct store_walk walk = store_walk_all(STORE_POINTS, true);
    struct table rows = { 0 };
    int32_t col = -1;
    if (kind->notes == NOTES_NONE)
        return 0;
    for (int32_t i = 1 + (int32_t)head.n_axes; i < columns->n_cols && col < 0; i++)
        if (strcmp(columns->names[i], "notes") == 0)
            col = i;
    int rc = 0;
    do {
        rc = store_next(store, &walk, AT_A_TIME, &rows, e);
        for (int64_t i = 0; i < rows.n_rows && !rc && col >= 0; i++) {
            const char *lines = table_text(&rows, i, col);
            if (!lines)
                continue;
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
