/*
 * The plans of a search, shape by shape, and passes over them.
 *
 * A plan is looked at once: is it legal, does it fit, and how long does it take where exchange is free? That
 * time bounds its step whatever the bandwidths, so a pass goes through a shape in the order of these times
 * and leaves it where they alone are of no use: of millions of plans that fit, a few in a hundred are timed
 * with their exchange. (A shape is the degrees; its places are the ways to lay them along the dimensions, in
 * which collectives are timed once for all of its plans.)
 *
 * Of more than MOST_NOTED plans those with the least times are written down. Where a pass may find use for
 * others, it goes through all shapes again. Results depend on neither, nor on threads: ranks break ties.
 */
#include "kinds/design/explore/book.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"

/* Ranks of one shape's candidates; no shape has so many. */
#define RANKS_PER_SHAPE ((int64_t)1 << 40)

enum { MOST_NOTED = 1 << 18 };

/* What one thread works with. */
struct worker {
    const struct search_book *book;
    const struct search_pass *pass; /* NULL: the book is being written */
    void *mine;
    struct search_places places;
    struct search_clock clocks[SEARCH_PLACES][SEARCH_WAYS];
    struct search_seen seen;
    struct search_least least; /* of the first way, over the places of a shape */
    struct plan_cost cost;
    int64_t next_rank;
    struct search_note *notes; /* shape [n], owned: of the shape under way */
    int64_t n, cap;
    double horizon_s;
    bool failed;
    int64_t n_candidates, n_timed, n_rejected_memory;
    struct search_left_out left_out;
    double least_B;
};

int32_t search_threads(void)
{
    return omp_get_max_threads();
}

/* ---- one plan ---- */

/* Memory first, as it rules out most plans and is cheap. Its time with exchange free; INFINITY: it does not
 * fit. */
static double look_at(struct worker *w, const struct plan *plan, double *memory_B)
{
    static const double free_s[PLAN_MAX_COLLECTIVES] = { 0 };
    const struct search_book *b = w->book;
    struct memory memory;
    memory_plan(&memory, &b->base->model, plan);
    *memory_B = memory.total_B;
    if (memory.total_B > b->study->net.npu.mem_B) /* false where it is not known */
        return INFINITY;
    plan_cost(&w->cost, &b->base->model, plan, &b->study->net.npu);
    return plan_cost_time(&w->cost, free_s, NULL);
}

static void note_plan(void *with, const struct plan *plan)
{
    struct worker *w = with;
    struct search_note note = { .rank = w->next_rank, .choice = search_choice_of(plan) };
    w->next_rank += w->places.n;
    w->n_candidates += w->places.n;
    note.least_s = look_at(w, plan, &note.memory_B);
    w->least_B = fmin(w->least_B, note.memory_B);
    *(isinf(note.least_s) ? &w->n_rejected_memory : &w->n_timed) += w->places.n;
    if (!(note.least_s < w->horizon_s) || w->failed)
        return;
    w->failed = !vec_reserve(w->notes, w->cap, w->n + 1);
    if (!w->failed)
        w->notes[w->n++] = note;
}

/* All places of a plan whose cost is in w->cost. */
static void take_places(struct worker *w, const struct plan *plan, double memory_B, int64_t rank)
{
    if (w->pass->skip(w->mine,
                      search_clock_least(&w->least, w->clocks[0], SEARCH_WAYS, w->places.n, &w->cost)))
        return;
    for (int32_t i = 0; i < w->places.n; i++) {
        const struct search_candidate c = { plan,     &w->cost,     memory_B,
                                            rank + i, w->clocks[i], w->places.order[i] };
        w->pass->take(w->mine, &c);
    }
}

/* A plan that was not noted. */
static void take_beyond(void *with, const struct plan *plan)
{
    struct worker *w = with;
    double memory_B, least_s = look_at(w, plan, &memory_B);
    int64_t rank = w->next_rank;
    w->next_rank += w->places.n;
    if (isfinite(least_s) && least_s >= w->book->horizon_s && !w->pass->skip(w->mine, least_s))
        take_places(w, plan, memory_B, rank);
}

/* ---- one shape ---- */

static void begin_shape(struct worker *w, int32_t i)
{
    const struct search_book *b = w->book;
    search_find_places(&w->places, b->space, &b->shapes.shapes[i], b->base, &b->study->net);
    for (int32_t k = 0; k < w->places.n && w->pass; k++)
        for (int32_t way = 0; way < w->pass->n_ways; way++)
            search_clock_set(&w->clocks[k][way], &w->pass->ways[way], &w->places.places[k], &w->seen);
    memset(w->least.found, 0, sizeof w->least.found);
    w->next_rank = i * RANKS_PER_SHAPE;
}

static int walk_shape(struct worker *w, int32_t i, search_visit visit, struct err *e)
{
    const struct search_book *b = w->book;
    begin_shape(w, i);
    search_left_out_add(&w->left_out, &w->places.left_out);
    return w->places.n ? search_walk(&w->left_out, b->space, b->base, b->study->net.ideal,
                                     &b->shapes.shapes[i], w->places.n, visit, w, e)
                       : 0;
}

static int by_time(const void *a, const void *b)
{
    const struct search_note *x = a, *y = b;
    if (x->least_s < y->least_s || x->least_s > y->least_s)
        return x->least_s < y->least_s ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Forget what takes as long as the horizon: chapters stay in order. */
static void forget_beyond(struct search_book *b)
{
    int64_t n = 0;
    for (int32_t c = 0; c < b->n_chapters; c++) {
        struct search_chapter *chapter = &b->chapters[c];
        int64_t first = n, from = chapter->first;
        for (int64_t i = 0; i < chapter->n && b->notes[from + i].least_s < b->horizon_s; i++)
            b->notes[n++] = b->notes[from + i];
        chapter->first = first;
        chapter->n = n - first;
    }
    b->n = n;
}

/* Of too many notes those with the least times stay. */
static int keep_least(struct search_book *b, struct err *e)
{
    double *times = b->n > 2 * MOST_NOTED ? malloc((size_t)b->n * sizeof *times) : NULL;
    if (b->n <= 2 * MOST_NOTED)
        return 0;
    if (!times)
        return err_nomem(e, "a search");
    for (int64_t i = 0; i < b->n; i++)
        times[i] = b->notes[i].least_s;
    qsort(times, (size_t)b->n, sizeof *times, by_size);
    b->horizon_s = times[MOST_NOTED];
    free(times);
    forget_beyond(b);
    return 0;
}

/* The notes of a shape become a chapter. One thread at a time. */
static int add_chapter(struct search_book *b, const struct worker *w, int32_t shape, struct err *e)
{
    int64_t n = w->n;
    while (n > 0 && w->notes[n - 1].least_s >= b->horizon_s) /* which another thread has moved */
        n--;
    if (w->failed || !vec_reserve(b->notes, b->cap, b->n + n) ||
        !vec_reserve(b->chapters, b->cap_chapters, b->n_chapters + 1))
        return err_nomem(e, "a search");
    memcpy(b->notes + b->n, w->notes, (size_t)n * sizeof *w->notes);
    b->chapters[b->n_chapters++] = (struct search_chapter){ b->n, n, shape, w->notes[0].least_s };
    b->n += n;
    return keep_least(b, e);
}

/* ---- all of them ---- */

/* What is done with number i, of a shape or a chapter. */
typedef int (*search_unit)(struct worker *w, struct search_book *writing, int32_t i, struct err *e);

static int write_chapter(struct worker *w, struct search_book *writing, int32_t i, struct err *e)
{
    w->n = 0;
#pragma omp critical(search_book)
    w->horizon_s = writing->horizon_s;
    int rc = walk_shape(w, i, note_plan, e);
    if (w->n && !rc)
        qsort(w->notes, (size_t)w->n, sizeof *w->notes, by_time);
#pragma omp critical(search_book)
    if (!rc && w->n + w->failed > 0)
        rc = add_chapter(writing, w, i, e);
    return rc;
}

static int read_chapter(struct worker *w, struct search_book *writing, int32_t i, struct err *e)
{
    const struct search_book *b = w->book;
    const struct search_chapter *chapter = &b->chapters[i];
    (void)writing;
    (void)e;
    for (int64_t k = 0; k < chapter->n; k++) {
        const struct search_note *note = &b->notes[chapter->first + k];
        if (w->pass->skip(w->mine, note->least_s) || work_stopped())
            break;
        if (k == 0)
            begin_shape(w, chapter->shape);
        struct plan plan = search_choice_plan(&note->choice, &b->shapes.shapes[chapter->shape], b->base);
        plan_cost(&w->cost, &b->base->model, &plan, &b->study->net.npu);
        take_places(w, &plan, note->memory_B, note->rank);
    }
    return 0;
}

static int reread_shape(struct worker *w, struct search_book *writing, int32_t i, struct err *e)
{
    (void)writing;
    return walk_shape(w, i, take_beyond, e);
}

static void add_counts(struct search_book *b, const struct worker *w)
{
    struct search_result *to = &b->counts;
    to->n_candidates += w->n_candidates;
    to->n_timed += w->n_timed;
    to->n_rejected[SEARCH_MEMORY] += w->n_rejected_memory;
    to->least_B = fmin(to->least_B, w->least_B);
    search_left_out_add(&b->shapes.left_out, &w->left_out);
}

/* Threads take units as they get free; counts and errors are merged at the end. */
static int for_all(const struct search_book *b, struct search_book *writing, const struct search_pass *pass,
                   search_unit unit, int32_t n, struct err *e)
{
    int rc = 0;
    struct work work;
    work_begin(&work, "shapes of plans", n);
#pragma omp parallel
    {
        struct worker *w = calloc(1, sizeof *w);
        struct err own = { 0 };
        int failed = w ? 0 : err_nomem(&own, "a search");
        if (w) {
            w->book = b;
            w->pass = pass;
            w->mine = pass ? pass->mine[omp_get_thread_num()] : NULL;
            w->least_B = INFINITY;
        }
#pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < n; i++) {
            if (!failed)
                failed = unit(w, writing, i, &own);
            if (!failed)
                failed = work_check(&own);
            work_step(&work, 1);
        }
#pragma omp critical(search_book)
        {
            if (w && writing)
                add_counts(writing, w);
            if (failed && !rc) {
                rc = failed;
                *e = own;
            }
        }
        if (w)
            free(w->notes);
        free(w);
    }
    work_end(&work);
    return rc;
}

static int by_first_time(const void *a, const void *b)
{
    const struct search_chapter *x = a, *y = b;
    if (x->least_s < y->least_s || x->least_s > y->least_s)
        return x->least_s < y->least_s ? -1 : 1;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

int search_book_build(struct search_book *b, const struct search_space *space, const struct design_point *s,
                      const struct training *base, struct err *e)
{
    *b = (struct search_book){ .space = space, .study = s, .base = base, .horizon_s = INFINITY };
    b->counts.least_B = INFINITY;
    int rc = search_find_shapes(&b->shapes, space, base, s->net.n_npus, e);
    if (!rc)
        rc = for_all(b, b, NULL, write_chapter, b->shapes.n, e);
    if (rc) {
        search_book_free(b);
        return rc;
    }
    if (b->n_chapters)
        qsort(b->chapters, (size_t)b->n_chapters, sizeof *b->chapters, by_first_time);
    struct search_result *counts = &b->counts;
    counts->refused = b->shapes.left_out.refused;
    for (int32_t i = 0; i < counts->refused.n_keys; i++)
        counts->n_rejected[SEARCH_ILLEGAL] += counts->refused.n[i];
    counts->n_rejected[SEARCH_REPEATED] = b->shapes.left_out.n_repeated;
    counts->n_rejected[SEARCH_UNMAPPED] = b->shapes.left_out.n_unmapped;
    return 0;
}

void search_book_free(struct search_book *b)
{
    search_shapes_free(&b->shapes);
    free(b->notes);
    free(b->chapters);
    *b = (struct search_book){ 0 };
}

int search_book_pass(const struct search_book *b, const struct search_pass *pass, struct err *e)
{
    int rc = for_all(b, NULL, pass, read_chapter, b->n_chapters, e);
    bool done = isinf(b->horizon_s);
    for (int32_t t = 0; t < search_threads() && !done; t++)
        done = pass->skip(pass->mine[t], b->horizon_s);
    return rc || done ? rc : for_all(b, NULL, pass, reread_shape, b->shapes.n, e);
}
