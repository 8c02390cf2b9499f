/*
 * The threads of a rank share a board: points that are prepared, units that are open, what is to be handed
 * over next. All of it is under critical(runs_board), but for what a thread has taken: a point or a unit
 * while it is OPENING, a run. Batches leave one at a time, so that results come to the store before the unit
 * that is done with them. What becomes of results: study/results.c.
 *
 * A slot (unit or point) goes FREE -> OPENING -> OPEN -> FREE. OPENING belongs to the thread that set it,
 * which may read files and allocate outside of the lock; others wait for it to be OPEN, or for the study to
 * stop. Entries of a unit are handed out by `next` and counted down by n_left: whoever brings n_left to 0
 * closes the unit. With whole_seed a unit has one entry to run, which stands for all.
 *
 * There are as many units as threads: with long runs each thread opens one of its own only when all entries
 * of open ones have begun, so memory is that of threads seeds at most, and one point more than threads stays
 * prepared.
 *
 * A failure of a run or a point is data (put_failure(), the point's shared row). Lack of memory returns,
 * which makes fleet_fail() stop all threads; slots that are OPENING then stay so and are dropped by
 * board_free().
 */
#include "study/runs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"

/* A batch is handed over when it is so old: as much as a kill loses besides the runs under way. */
#define BATCH_S 0.05
/* How often a thread that has nothing to do looks again. */
#define NAP_S 0.0005

/* ---- tables ---- */

/* Tables of a batch, and of the store but the first. */
enum { MORE_RUNS, MORE_POINTS, MORE_EXTRA };

struct study_runs {
    struct study_form form;
    int64_t *there, n_there; /* ids of runs that need not be run again, ascending */
    struct board *board;
};

struct study_form *study_runs_form(struct study_runs *r)
{
    return &r->form;
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
        r->form.kind->free(p->point);
    free(p->point);
    *p = (struct open_point){ .state = FREE };
}

static void drop_unit(const struct study_runs *r, struct open_unit *u)
{
    if (u->seed)
        r->form.kind->seed_end(u->seed);
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
    const struct table_def *def = &s->runs->form.kind->tables[table];
    if (!(s->wanted >> table & 1))
        return;
    struct table *t = &s->batch.more[s->runs->form.extra[table]];
    table_row(t);
    table_put_count(t, study_run_id(s->point, s->entry, s->k, def->by_seed));
    table_put_count(t, s->seq[table]++);
    row_put(t, &s->runs->form.study->tables[table].shown, row);
}

void sink_result(struct sink *s, int32_t entry, const void *result)
{
    struct table *t = &s->batch.more[MORE_RUNS];
    assert(s->whole || entry == s->entry);
    table_row(t);
    table_put_count(t, study_result_id(s->point, entry, s->k));
    row_put(t, &s->runs->form.result, result);
}

/* Results say that the run failed; rows that it put before stay. */
static int put_failure(struct sink *s, const struct err *why, struct err *e)
{
    const struct study_kind *kind = s->runs->form.kind;
    struct study_result *result = calloc(1, kind->result_size);
    if (!result)
        return err_nomem(e, "a result");
    /* Results that it put before it failed are replaced: each entry has one. */
    table_clear(&s->batch.more[MORE_RUNS]);
    for (int32_t entry = s->whole ? 0 : s->entry; entry < (s->whole ? s->n_entries : s->entry + 1); entry++) {
        row_clear(result, kind->result);
        /* Positive in the store: a count below 0 would be blank. */
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
    const struct sweep *w = &r->form.study->sweep;
    struct sweep_point p;
    table_row(t);
    table_put_count(t, point);
    sweep_find_point(&p, w, point);
    for (int32_t k = 0; k < w->n_keys; k++)
        table_put_text(t, sweep_value(w, &p, k));
    row_put(t, &r->form.shared, shared);
}

static bool has_failed(const struct fleet_batch *b)
{
    bool failed = b->rows.failed;
    for (int32_t i = 0; i < FLEET_MORE; i++)
        failed = failed || b->more[i].failed;
    return failed;
}

/* ---- a thread ---- */

struct runs_worker {
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
static int give_batch(struct runs_worker *h, bool at_once, struct err *e)
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
    int64_t at = vec_find(r->there, r->n_there, sizeof *r->there, 0, id);
    return at < r->n_there && r->there[at] == id;
}

/* Asked before the point is read, without @p point, too. */
static bool is_left_out(const struct study_runs *r, const struct sweep_point *at, const void *point)
{
    enum { MOST_FACTS = 64 };
    double facts[MOST_FACTS];
    const struct sweep *w = &r->form.study->sweep;
    if (w->where && point && r->form.kind->facts)
        r->form.kind->facts(facts, point);
    return w->where && !sweep_passes(w, at, point && r->form.kind->facts ? facts : NULL);
}

/* Read and prepare; what is wrong with the point stands in its row. */
static int prepare_point(struct runs_worker *h, struct open_point *p, struct err *e)
{
    const struct study_runs *r = h->runs;
    const struct study_kind *kind = r->form.kind;
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
    sweep_find_point(&at, &r->form.study->sweep, p->number);
    const struct study_source from = study_source_at(axes, r->form.study, &at);
    /* Constraints over axes alone are decided before the point is read, which may take seconds. */
    bool read = !is_left_out(r, &at, NULL), out = !read;
    int rc = read ? kind->read(p->point, &from, &inner) : 0;
    if (!rc && !out)
        out = is_left_out(r, &at, p->point);
    if (!rc && !out)
        rc = kind->prepare(p->point, shared, r->form.study, &inner);
    p->n_entries = rc || out ? 0 : kind->n_entries(p->point);
    shared->rc = -(int64_t)rc;
    if (rc)
        shared->message = inner.msg;
    shared->n_entries = out ? STUDY_LEFT_OUT : p->n_entries;
    shared->base = study_base(r->form.study, p->number);
    if (!err_is_of_machine(rc))
        put_point(&h->sink.batch.more[MORE_POINTS], r, p->number, shared);
    free(shared);
    if (rc || out) {
        if (read)
            kind->free(p->point);
        free(p->point);
        p->point = NULL;
    }
    return err_is_of_machine(rc) ? err_set(e, inner.code, "%s", inner.msg) : 0;
}

/* The point, by whichever thread came first; *mine: it is for this one to prepare. */
static struct open_point *join_point(struct board *b, const struct study_runs *r, int64_t number, bool *mine)
{
    struct open_point *p = NULL, *spare = NULL;
    for (int32_t i = 0; i <= b->threads; i++) {
        struct open_point *q = &b->points[i];
        if (q->state != FREE && q->number == number)
            p = q;
        /* A point nobody has open may go, but an empty slot goes first: the last point is likely to be asked
         * for again. */
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

static int find_point(struct runs_worker *h, struct open_unit *u, struct err *e)
{
    int64_t number = u->number / h->runs->form.study->seeds;
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
    const struct study_kind *kind = r->form.kind;
    const struct open_point *p = u->at;
    int32_t n = kind->whole_seed && p->n_entries ? 1 : p->n_entries;
    u->todo = malloc((size_t)(n + 1) * sizeof *u->todo);
    if (!u->todo)
        return err_nomem(e, "runs of a point");
    for (int32_t entry = 0; entry < n; entry++) {
        /* An entry that is the same for every seed is run with the first one, k = 0; results_at() says NULL
         * for the others. */
        bool once = !kind->whole_seed && kind->seeded && !kind->seeded(p->point, entry);
        /* Of a run of a whole seed the results came in one batch: entry 0 is there exactly when all are. */
        if ((u->k == 0 || !once) && !is_there(r, study_result_id(p->number, entry, u->k)))
            u->todo[u->n_todo++] = entry;
    }
    u->n_left = u->n_todo;
    return 0;
}

/* What is wrong with the seed is wrong with each of its runs. */
static int begin_seed(struct open_unit *u, const struct study_runs *r, struct err *e)
{
    const struct study_kind *kind = r->form.kind;
    if (!kind->seed_size || u->n_todo == 0)
        return 0;
    u->seed = calloc(1, kind->seed_size);
    if (!u->seed)
        return err_nomem(e, "a seed");
    int rc = kind->seed_begin(u->seed, u->at->point, r->form.study->seed + u->k, &u->failed);
    if (!rc)
        return 0;
    u->failed.code = rc;
    kind->seed_end(u->seed);
    free(u->seed);
    u->seed = NULL;
    return err_is_of_machine(rc) ? err_set(e, u->failed.code, "%s", u->failed.msg) : 0;
}

/* The unit is done, and nobody's any more. */
static void close_unit(struct runs_worker *h, struct open_unit *u)
{
    struct board *b = h->board;
    struct open_unit gone = *u;
#pragma omp critical(runs_board)
    {
        table_row(&b->batch.rows);
        table_put_count(&b->batch.rows, u->number);
        b->unit_s = clock_now_s() - u->opened_s;
        u->at->n_units--;
        /* Not FREE yet: what it held is released outside of the lock, and the slot must not be taken
         * meanwhile. */
        *u = (struct open_unit){ .state = OPENING };
    }
    drop_unit(h->runs, &gone);
#pragma omp critical(runs_board)
    u->state = FREE;
}

static int open_unit(struct runs_worker *h, struct open_unit *u, struct err *e)
{
    struct board *b = h->board;
    struct fleet_want want = { .n = 1 };
#pragma omp critical(runs_board)
    want.unit_s = b->unit_s;
    /* Outside of the lock: on ranks other than the first it may wait for an answer. */
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
    u->k = next.first % h->runs->form.study->seeds;
    u->opened_s = clock_now_s();
    int rc = find_point(h, u, e);
    if (rc || fleet_stopped(h->crew))
        return rc;
    rc = list_entries(u, h->runs, e);
    fleet_part(h->crew, u->n_todo, 0);
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

static int run_entry(struct runs_worker *h, struct open_unit *u, int32_t entry, struct err *e)
{
    const struct study_runs *r = h->runs;
    const struct study_kind *kind = r->form.kind;
    struct sink *s = &h->sink;
    struct err inner = u->failed;
    uint32_t wanted = 0;
    for (int32_t t = TABLE_RUNS; t < kind->n_tables; t++)
        if (r->form.extra[t] >= 0 && (u->k == 0 || !kind->tables[t].first_seed))
            wanted |= UINT32_C(1) << t;
    s->point = u->at->number;
    s->k = u->k;
    s->entry = entry;
    s->n_entries = u->at->n_entries;
    s->wanted = wanted;
    memset(s->seq, 0, sizeof s->seq);
    const struct study_run run = { .study = r->form.study,
                                   .point = u->at->point,
                                   .seed_state = u->seed,
                                   .k = u->k,
                                   .seed = r->form.study->seed + u->k,
                                   .entry = entry,
                                   .n_entries = s->n_entries,
                                   .wanted = wanted };
    int rc = inner.code ? (int)inner.code : kind->run(&run, s, &inner);
    if (err_is_of_machine(rc))
        return err_set(e, (enum err_code)rc, "%s", inner.msg);
    inner.code = rc;
    return rc ? put_failure(s, &inner, e) : 0;
}

static int do_run(struct runs_worker *h, struct open_unit *u, int32_t entry, struct err *e)
{
    bool last;
    int rc = run_entry(h, u, entry, e);
    if (rc)
        return rc;
#pragma omp critical(runs_board)
    {
        add_batch(h->board, &h->sink.batch);
        last = --u->n_left == 0;
        fleet_part(h->crew, u->n_todo, last ? 1 - u->n_todo : 1);
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
    /* While one is opening there may be entries for this thread soon. */
    return b->dry && !opening ? END : WAIT;
}

static int work_on(struct runs_worker *h, struct err *e)
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
    if (!rc)
        return give_batch(h, true, e);
    /* Of the run that failed nothing, but those that ended before it: that this fails too need not be said.
     */
    struct err second;
    table_cut(&h->sink.batch.rows, 0);
    for (int32_t i = 0; i < FLEET_MORE; i++)
        table_cut(&h->sink.batch.more[i], 0);
    give_batch(h, true, &second);
    return rc;
}

/* A fleet_work.member. */
static int run_thread(struct fleet_crew *crew, void *data, struct err *e)
{
    struct study_runs *r = data;
    const struct fleet_work work = study_runs_work(r);
    struct runs_worker h = {
        .runs = r, .board = r->board, .crew = crew, .sink = { .runs = r, .whole = r->form.kind->whole_seed }
    };
    fleet_batch_begin(&h.sink.batch, &work);
#pragma omp critical(runs_board)
    {
        /* The first thread to come makes the columns of what is handed over. */
        if (r->board->batch.rows.n_cols == 0)
            fleet_batch_begin(&r->board->batch, &work);
        r->board->dry = false; /* of the round before */
    }
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
    table_columns_of(t, &r->form.columns[i + 1]);
}

struct fleet_work study_runs_work(struct study_runs *r)
{
    const struct study *s = r->form.study;
    return (struct fleet_work){ .n_units = s->sweep.n_points * s->seeds,
                                .member = run_thread,
                                .columns = put_unit_column,
                                .n_more = r->form.form.n_tables - 1,
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
    int rc = study_form_build(&r->form, s, e);
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
    study_form_free(&r->form);
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
            /* Of units that are done nothing will be run: their results need not be known here. */
            if (spans_have(done, (id >> STORE_POINT_SHIFT) * r->form.study->seeds + k))
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
