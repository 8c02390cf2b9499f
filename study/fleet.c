/*
 * One rank's threads: the queue, the writer, the loop of a thread, and a failure that ends them all. Every
 * thread takes a piece of units, runs them one by one, and hands over rows when they are worth it; failures
 * stop the queue, so that each thread ends after the unit under way, or within it where the whole process is
 * to end (work_stop()).
 *
 * Sizes: a piece starts at one unit and at most doubles, aiming at FLEET_PIECE_S of work; towards the end it
 * is at most half of a thread's part of what is left (guided self-scheduling; Polychronopoulos and Kuck, IEEE
 * Trans. Computers C-36, 1987), so threads end within about one piece of each other. Of a unit that fails no
 * row is handed over: it is run again by whoever resumes. The units of the batch before it are.
 */

#include "study/fleet.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"

/* Between two calls of progress. */
#define REPORT_S 0.1

void fleet_sleep(double s)
{
    struct timespec t = { .tv_nsec = (long)(1e9 * s) };
    nanosleep(&t, NULL);
}

/* ---- how it ends ---- */

void fleet_stop(struct fleet_crew *c)
{
#pragma omp atomic write
    c->stop = 1;
}

bool fleet_stopped(const struct fleet_crew *c)
{
    int stop;
#pragma omp atomic read
    stop = c->stop;
    return stop;
}

void fleet_fail(struct fleet_crew *c, const struct err *e)
{
#pragma omp critical(fleet_end)
    /* The first failure is the one that is told; later ones are mostly its consequences. */
    if (e->code == ERR_STOPPED) {
        c->run->stopped = true;
    } else if (!c->failed) {
        c->first = *e;
#pragma omp atomic write
        c->failed = 1;
    }
    fleet_stop(c);
}

bool fleet_failed(const struct fleet_crew *c)
{
    int failed;
#pragma omp atomic read
    failed = c->failed;
    return failed;
}

int32_t fleet_active(const struct fleet_crew *c)
{
    int active;
#pragma omp atomic read
    active = c->active;
    return active;
}

/* ---- the queue ---- */

/* How many units of the share are not done. */
static int64_t count_left(const struct fleet_crew *c)
{
    const struct span *share = &c->run->share;
    int64_t end = share->first + share->n;
    return share->n - (spans_count(&c->done, end) - spans_count(&c->done, share->first));
}

/* Who has done a stretch takes the second half of the longest that is left: each rank's units stay together,
 * as far as that can be. */
static void split_longest(struct fleet_crew *c, struct fleet_stretch *own)
{
    struct fleet_stretch *longest = own;
    for (int32_t i = 0; i < c->n_stretches; i++) {
        struct fleet_stretch *s = &c->stretches[i];
        longest = s->end - s->next > longest->end - longest->next ? s : longest;
    }
    int64_t half = longest->next + (longest->end - longest->next) / 2;
    if (longest == own)
        return;
    *own = (struct fleet_stretch){ half, longest->end };
    longest->end = half;
}

static struct span take_next(struct fleet_crew *c, int32_t rank, int64_t want)
{
    struct fleet_stretch *own = &c->stretches[rank % c->n_stretches];
    struct span gap = { .n = 0 };
    /* Towards the end no thread gets more than half of what is its part of the rest. */
    int64_t most = c->left / (2 * c->workers);
    if (want > most)
        want = most > 1 ? most : 1;
    while (c->left > 0 && gap.n == 0) {
        if (own->next == own->end)
            split_longest(c, own);
        if (own->next == own->end)
            break;
        gap = spans_gap(&c->done, own->next, own->end, want);
        own->next = gap.n > 0 ? gap.first + gap.n : own->end;
    }
    c->left -= gap.n;
    return gap;
}

struct span fleet_queue_next(struct fleet_crew *c, int32_t rank, int64_t want)
{
    struct span p = { .n = 0 };
    if (!fleet_stopped(c)) {
#pragma omp critical(fleet_queue)
        p = take_next(c, rank, want);
    }
    return p;
}

/* ---- the writer ---- */

static void report_due(struct fleet_crew *c)
{
    struct fleet_run *f = c->run;
    double now = clock_now_s();
    if (!f->progress || now - c->reported_s < REPORT_S)
        return;
    c->reported_s = now;
    if (!f->progress(f->progress_data, &c->counts)) {
        f->stopped = true;
        fleet_stop(c);
    }
}

static int write_batch(struct fleet_crew *c, struct fleet_batch *b, struct err *e)
{
    /* After the writer has failed, batches of threads that have not noticed yet are dropped. */
    if (c->closed)
        return 0;
    int rc = c->run->take(c->run->take_data, b, e);
    if (rc) {
        c->closed = true;
        return rc;
    }
    sweep_count_add(&c->counts, &b->counts);
    work_step(&c->work, b->units.n);
    report_due(c);
    return 0;
}

void fleet_report(struct fleet_crew *c)
{
    pthread_mutex_lock(&c->taking);
    report_due(c);
    pthread_mutex_unlock(&c->taking);
}

void fleet_part(struct fleet_crew *c, int64_t n, int64_t more)
{
    work_part(&c->work, n, more);
}

int fleet_take_batch(struct fleet_crew *c, struct fleet_batch *b, struct err *e)
{
    pthread_mutex_lock(&c->taking);
    int rc = write_batch(c, b, e);
    pthread_mutex_unlock(&c->taking);
    return rc;
}

/* ---- a thread ---- */

struct fleet_worker {
    struct fleet_crew *crew;
    void *hand; /* NULL until there is work: a thread that gets none needs none */
    struct fleet_batch batch;
    double worked_s; /* on the batch */
    struct fleet_want want;
};

void fleet_batch_begin(struct fleet_batch *b, const struct fleet_work *work)
{
    *b = (struct fleet_batch){ .units.n = 0 };
    work->columns(&b->rows, work->data);
    for (int32_t i = 0; i < work->n_more; i++)
        work->more(&b->more[i], i, work->data);
}

/* Columns and room stay: making the names of a hundred columns takes as long as solving a few points. */
void fleet_batch_clear(struct fleet_batch *b)
{
    b->units = (struct span){ .n = 0 };
    b->counts = (struct sweep_counts){ 0 };
    b->away = false;
    table_clear(&b->rows);
    for (int32_t i = 0; i < FLEET_MORE; i++)
        table_clear(&b->more[i]);
}

void fleet_batch_free(struct fleet_batch *b)
{
    table_free(&b->rows);
    for (int32_t i = 0; i < FLEET_MORE; i++)
        table_free(&b->more[i]);
}

static int give_batch(struct fleet_worker *w, struct err *e)
{
    /* Nothing was run since the last batch: a stop came before the first unit. */
    if (w->batch.units.n == 0)
        return 0;
    int rc = w->crew->desk->give(w->crew, &w->batch, e);
    fleet_batch_clear(&w->batch);
    w->worked_s = 0;
    return rc;
}

static int do_unit(struct fleet_worker *w, int64_t unit, struct err *e)
{
    struct fleet_batch *b = &w->batch;
    const struct sweep_counts counts = b->counts;
    const int64_t n_rows = b->rows.n_rows;
    /*
     * A batch is one span: the units of a piece are consecutive, and a batch never reaches over two pieces.
     */
    if (b->units.n == 0)
        b->units.first = unit;
    struct span one = { .first = unit, .n = 1 };
    int rc = w->crew->run->work->run(w->hand, one, &b->rows, &b->counts, e);
    if (!rc && b->rows.failed)
        rc = err_nomem(e, "rows of a sweep");
    if (!rc) {
        b->units.n++;
        return 0;
    }
    table_cut(&b->rows, n_rows);
    b->counts = counts;
    return rc;
}

/* Ask for as much as takes long enough, but grow step by step: the next units may be slower. */
static void adapt(struct fleet_want *want, int64_t n, double spent_s)
{
    if (n == 0)
        return;
    want->unit_s = spent_s / (double)n;
    double enough = FLEET_PIECE_S / want->unit_s; /* infinite where the clock did not move */
    int64_t most = n < INT64_MAX / 2 ? 2 * n : n;
    want->n = enough < 1 ? 1 : enough < (double)most ? (int64_t)enough : most;
}

static int do_piece(struct fleet_worker *w, const struct span *p, struct err *e)
{
    int64_t n = 0;
    double spent_s = 0, before = clock_now_s();
    while (n < p->n && !fleet_stopped(w->crew)) {
        int rc = do_unit(w, p->first + n++, e);
        double now = clock_now_s();
        spent_s += now - before;
        w->worked_s += now - before;
        if (!rc && w->worked_s >= FLEET_PIECE_S) {
            rc = give_batch(w, e);
            now = clock_now_s();
        }
        if (rc) {
            /* The units before it; that this fails too need not be said. */
            struct err second;
            give_batch(w, &second);
            return rc;
        }
        before = now;
    }
    adapt(&w->want, n, spent_s);
    return give_batch(w, e);
}

static int work_on(struct fleet_worker *w, struct err *e)
{
    struct fleet_crew *c = w->crew;
    const struct fleet_work *work = c->run->work;
    for (;;) {
        struct span p = c->desk->next(c, &w->want);
        if (p.n == 0)
            return 0;
        int rc = w->hand ? 0 : work->build(&w->hand, work->data, e);
        if (!rc)
            rc = do_piece(w, &p, e);
        if (rc)
            return rc;
    }
}

struct span fleet_next(struct fleet_crew *c, const struct fleet_want *want)
{
    return c->desk->next(c, want);
}

int fleet_give(struct fleet_crew *c, struct fleet_batch *b, struct err *e)
{
    int rc = c->desk->give(c, b, e);
    fleet_batch_clear(b);
    return rc;
}

static int work_alone(struct fleet_crew *c, struct err *e)
{
    struct fleet_worker w = { .crew = c, .want = { .n = 1, .unit_s = INFINITY } };
    fleet_batch_begin(&w.batch, c->run->work);
    int rc = work_on(&w, e);
    if (w.hand)
        c->run->work->free(w.hand);
    fleet_batch_free(&w.batch);
    return rc;
}

void fleet_crew_work(struct fleet_crew *c)
{
    const struct fleet_work *work = c->run->work;
    struct err e = { 0 };
    if (work->member ? work->member(c, work->data, &e) : work_alone(c, &e))
        fleet_fail(c, &e);
#pragma omp atomic
    c->active--;
}

/* ---- all threads of the only rank ---- */

static struct span next_of_queue(struct fleet_crew *c, const struct fleet_want *want)
{
    return fleet_queue_next(c, 0, want->n);
}

static int give_to_writer(struct fleet_crew *c, struct fleet_batch *b, struct err *e)
{
    return fleet_take_batch(c, b, e);
}

const struct fleet_desk fleet_first_desk = { .next = next_of_queue, .give = give_to_writer };

/* Where part @p i of @p n of the share begins. */
static int64_t fleet_cut(const struct fleet_run *f, int32_t i, int32_t n)
{
    return f->share.first + f->share.n / n * i + f->share.n % n * i / n;
}

int fleet_crew_begin(struct fleet_crew *c, struct fleet_run *f, int32_t ranks, struct err *e)
{
    assert(f->threads >= 1);
    assert(f->share.first >= 0 && f->share.n >= 0 && f->share.n <= f->work->n_units - f->share.first);
    f->stopped = false;
    *c = (struct fleet_crew){ .run = f, .desk = &fleet_first_desk, .reported_s = -INFINITY };
    pthread_mutex_init(&c->taking, NULL);
    c->workers = (int64_t)f->threads * ranks;
    c->n_stretches = f->apart ? ranks : 1;
    c->stretches = malloc((size_t)c->n_stretches * sizeof *c->stretches);
    if (!c->stretches)
        return err_nomem(e, "units to do");
    for (int32_t i = 0; i < c->n_stretches; i++)
        c->stretches[i] =
            (struct fleet_stretch){ fleet_cut(f, i, c->n_stretches), fleet_cut(f, i + 1, c->n_stretches) };
    /* A copy: who takes the batches may add to the set that was given. */
    if (f->done && f->done->n > 0) {
        size_t n_bytes = (size_t)f->done->n * sizeof *c->done.spans;
        c->done.spans = malloc(n_bytes);
        if (!c->done.spans)
            return err_nomem(e, "units that are done");
        memcpy(c->done.spans, f->done->spans, n_bytes);
        c->done.n = c->done.cap = f->done->n;
    }
    c->left = count_left(c);
    work_begin(&c->work, "units of points or runs", c->left);
    return 0;
}

int fleet_crew_end(struct fleet_crew *c, struct err *e)
{
    work_end(&c->work);
    pthread_mutex_destroy(&c->taking);
    spans_free(&c->done);
    free(c->stretches);
    if (c->failed)
        *e = c->first;
    return c->failed ? (int)c->first.code : 0;
}

int fleet_run(struct fleet_run *f, struct err *e)
{
    if (fleet_ranks() > 1)
        return fleet_run_ranks(f, e);
    struct fleet_crew c;
    int rc = fleet_crew_begin(&c, f, 1, e);
    if (!rc) {
#pragma omp parallel num_threads(f->threads)
        fleet_crew_work(&c);
    }
    int first = fleet_crew_end(&c, e);
    return rc ? rc : first;
}
