/*
 * The plans of a search, shape by shape, and passes over them.
 *
 * A plan is looked at once: is it legal, does it fit, and how long does it take where exchange is free? That
 * time bounds its step whatever the bandwidths, so a pass goes through a shape in the order of these times
 * and leaves it where they alone are of no use: of millions of plans that fit, a few in a hundred are timed
 * with their exchange. (A shape is the degrees; its places are the ways to lay them along the dimensions, in
 * which collectives are timed once for all of its plans.)
 *
 * Of too many plans those with the least times are written down. Where a pass may find use for
 * others, it goes through all shapes again. Results depend on neither, nor on threads: ranks break ties.
 */
#include "kinds/design/explore/book.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "base/vec.h"
#include "base/work.h"

/* Ranks of one shape's candidates; no shape has so many. */
#define RANKS_PER_SHAPE ((int64_t)1 << 40)

/* What one thread works with. */
struct worker {
    const struct search_book *book;
    const struct search_pass *pass;
    struct search_book *writing; /* in place of a pass: the book */
    struct search_places places;
    struct search_clock clocks[SEARCH_PLACES][SEARCH_WAYS];
    struct search_seen seen;
    struct search_least least; /* of the first way, over the places of a shape */
    struct plan_cost cost;
    int64_t next_rank;
    struct search_chapter chapter; /* under way */
    bool failed;
    struct search_result counts;
    struct search_left_out left_out;
};

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
    struct search_chapter *c = &w->chapter;
    struct search_note note = { .rank = w->next_rank, .choice = search_choice_of(plan) };
    w->next_rank += w->places.n;
    w->counts.n_candidates += w->places.n;
    note.least_s = look_at(w, plan, &note.memory_B);
    w->counts.least_B = fmin(w->counts.least_B, note.memory_B);
    if (isinf(note.least_s)) {
        w->counts.n_rejected[SEARCH_MEMORY] += w->places.n;
        return;
    }
    w->counts.n_timed += w->places.n;
    w->failed = w->failed || !vec_reserve(c->notes, c->cap, c->n + 1);
    if (!w->failed)
        c->notes[c->n++] = note;
}

/* All places of a plan whose cost is in w->cost. */
static void take_places(struct worker *w, const struct plan *plan, double memory_B, int64_t rank)
{
    if (w->pass->skip(w->pass->with,
                      search_clock_least(&w->least, w->clocks[0], SEARCH_WAYS, w->places.n, &w->cost)))
        return;
    for (int32_t i = 0; i < w->places.n; i++) {
        const struct search_candidate c = { plan,     &w->cost,     memory_B,
                                            rank + i, w->clocks[i], w->places.order[i] };
        w->pass->take(w->pass->with, &c);
    }
}

/* A plan that was not noted. */
static void take_beyond(void *with, const struct plan *plan)
{
    struct worker *w = with;
    double memory_B, least_s = look_at(w, plan, &memory_B);
    int64_t rank = w->next_rank;
    w->next_rank += w->places.n;
    if (isfinite(least_s) && least_s >= w->book->horizon_s && !w->pass->skip(w->pass->with, least_s))
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
    int rc = w->places.n ? search_walk(&w->left_out, b->space, b->base, b->study->net.ideal,
                                       &b->shapes.shapes[i], w->places.n, visit, w, e)
                         : 0;
    return rc ? rc : work_check(e);
}

static int by_time(const void *a, const void *b)
{
    const struct search_note *x = a, *y = b;
    if (x->least_s < y->least_s || x->least_s > y->least_s)
        return x->least_s < y->least_s ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Of too many notes those with the least times stay; no chapter has a time beyond the horizon. */
static int keep_least(struct search_book *b, struct err *e)
{
    double *times = b->n > 2 * b->most ? malloc((size_t)b->n * sizeof *times) : NULL;
    int64_t n = 0;
    for (int32_t c = 0; c < b->n_chapters && times; c++)
        for (int64_t i = 0; i < b->chapters[c].n; i++)
            times[n++] = b->chapters[c].notes[i].least_s;
    if (times) {
        stat_sort(times, n);
        b->horizon_s = fmin(b->horizon_s, times[b->most]);
        free(times);
    } else if (b->n > 2 * b->most) {
        return err_nomem(e, "a search");
    }
    for (int32_t c = 0; c < b->n_chapters && isfinite(b->horizon_s); c++)
        for (struct search_chapter *x = &b->chapters[c];
             x->n && x->notes[x->n - 1].least_s >= b->horizon_s;) {
            x->n--;
            b->n--;
        }
    return 0;
}

/* ---- all of them ---- */

/* What is done with number i, of a shape or a chapter. */
typedef int (*search_unit)(struct worker *w, int32_t i, struct err *e);

static int write_chapter(struct worker *w, int32_t i, struct err *e)
{
    struct search_chapter *c = &w->chapter;
    *c = (struct search_chapter){ .shape = i };
    int rc = walk_shape(w, i, note_plan, e);
    rc = rc || !w->failed ? rc : err_nomem(e, "a search");
    if (c->n && !rc)
        qsort(c->notes, (size_t)c->n, sizeof *c->notes, by_time);
#pragma omp critical(search_book)
    {
        w->writing->n += c->n;
        w->writing->chapters[w->writing->n_chapters++] = *c;
        rc = rc ? rc : keep_least(w->writing, e);
    }
    return rc;
}

static int read_chapter(struct worker *w, int32_t i, struct err *e)
{
    const struct search_book *b = w->book;
    const struct search_chapter *c = &b->chapters[i];
    for (int64_t k = 0; k < c->n && !w->pass->skip(w->pass->with, c->notes[k].least_s); k++) {
        if (k == 0)
            begin_shape(w, c->shape);
        struct plan plan = search_choice_plan(&c->notes[k].choice, &b->shapes.shapes[c->shape], b->base);
        plan_cost(&w->cost, &b->base->model, &plan, &b->study->net.npu);
        take_places(w, &plan, c->notes[k].memory_B, c->notes[k].rank);
    }
    return work_check(e);
}

static int reread_shape(struct worker *w, int32_t i, struct err *e)
{
    return walk_shape(w, i, take_beyond, e);
}

static void add_counts(struct search_book *b, const struct worker *w)
{
    b->counts.n_candidates += w->counts.n_candidates;
    b->counts.n_timed += w->counts.n_timed;
    b->counts.n_rejected[SEARCH_MEMORY] += w->counts.n_rejected[SEARCH_MEMORY];
    b->counts.least_B = fmin(b->counts.least_B, w->counts.least_B);
    search_left_out_add(&b->shapes.left_out, &w->left_out);
}

/* Threads take units as they get free; counts and errors are merged at the end. */
static int for_all(const struct search_book *b, struct search_book *writing, const struct search_pass *pass,
                   int32_t n, search_unit unit, struct err *e)
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
            w->writing = writing;
            w->counts.least_B = INFINITY;
        }
#pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < n; i++) {
            if (!failed)
                failed = unit(w, i, &own);
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
        free(w);
    }
    work_end(&work);
    return rc;
}

/* Empty ones last. */
static int by_first_time(const void *a, const void *b)
{
    const struct search_chapter *x = a, *y = b;
    return x->n && y->n ? by_time(x->notes, y->notes) : (x->n == 0) - (y->n == 0);
}

int search_book_build(struct search_book *b, const struct search_space *space, const struct design_point *s,
                      const struct training *base, int64_t most, struct err *e)
{
    *b =
        (struct search_book){ .space = space, .study = s, .base = base, .most = most, .horizon_s = INFINITY };
    b->counts.least_B = INFINITY;
    int rc = search_find_shapes(&b->shapes, space, base, s->net.n_npus, e);
    b->chapters = calloc((size_t)b->shapes.n + 1, sizeof *b->chapters);
    if (!rc)
        rc = b->chapters ? for_all(b, b, NULL, b->shapes.n, write_chapter, e) : err_nomem(e, "a search");
    if (rc) {
        search_book_free(b);
        return rc;
    }
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
    for (int32_t c = 0; c < b->n_chapters; c++)
        free(b->chapters[c].notes);
    search_shapes_free(&b->shapes);
    free(b->chapters);
    *b = (struct search_book){ 0 };
}

double search_book_least_s(const struct search_book *b)
{
    return b->n_chapters && b->chapters[0].n ? b->chapters[0].notes[0].least_s : b->horizon_s;
}

/* ---- books that are shared ---- */

enum { SHELF_NOTES = 8 * SEARCH_MOST_NOTED, SHELF_BOOKS = 4096 };

struct search_shelf_book {
    struct search_book book;
    unsigned long long key;
    bool written;
    int32_t readers;
    int64_t asked; /* when it was last */
    struct search_shelf_book *next;
};

struct search_shelf {
    pthread_mutex_t lock;
    pthread_cond_t changed;          /* a book was written, or could not be */
    struct search_shelf_book *first; /* owned, with all that follow */
    int64_t asked;
};

struct search_shelf *search_shelf_new(void)
{
    struct search_shelf *shelf = calloc(1, sizeof *shelf);
    if (!shelf)
        return NULL;
    pthread_mutex_init(&shelf->lock, NULL);
    pthread_cond_init(&shelf->changed, NULL);
    return shelf;
}

static void drop_book(struct search_shelf_book **link)
{
    struct search_shelf_book *of = *link;
    *link = of->next;
    search_book_free(&of->book);
    free(of);
}

void search_shelf_free(struct search_shelf *shelf)
{
    if (!shelf)
        return;
    while (shelf->first)
        drop_book(&shelf->first);
    pthread_mutex_destroy(&shelf->lock);
    pthread_cond_destroy(&shelf->changed);
    free(shelf);
}

/* All that writing a book looks at. What only passes look at (bandwidths, latencies, algorithms, prices) is
 * not among it. Structs are hashed as they lie in memory: padding could make two of equal content differ,
 * never the other way round. */
static unsigned long long hash_question(const struct search_space *space, const struct design_point *s,
                                        const struct training *base)
{
    unsigned long long hash = text_hash(TEXT_HASH_SEED, space, sizeof *space);
    hash = text_hash(hash, &base->model, sizeof base->model);
    hash = text_hash(hash, &base->plan, sizeof base->plan);
    hash = text_hash(hash, &s->net.npu, sizeof s->net.npu);
    const int64_t whole[] = { s->net.n_npus, s->net.n_dims, s->net.ideal != NULL };
    hash = text_hash(hash, whole, sizeof whole);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_dim *dim = &s->net.dims[d];
        const int32_t sizes[] = { dim->size, dim->level, dim->n_levels, topo_is_fabric(dim) };
        hash = text_hash(hash, sizes, sizeof sizes);
    }
    return hash;
}

static struct search_shelf_book *find_book(const struct search_shelf *shelf, unsigned long long key)
{
    struct search_shelf_book *of = shelf->first;
    while (of && of->key != key)
        of = of->next;
    return of;
}

/* Those that nobody reads, until the others fit. */
static void tidy_up(struct search_shelf *shelf)
{
    for (;;) {
        int64_t n_notes = 0, n = 0;
        struct search_shelf_book **oldest = NULL;
        for (struct search_shelf_book **link = &shelf->first; *link; link = &(*link)->next) {
            n++;
            n_notes += (*link)->written ? (*link)->book.n : 0;
            if ((*link)->written && !(*link)->readers && (!oldest || (*link)->asked < (*oldest)->asked))
                oldest = link;
        }
        if (!oldest || (n_notes <= SHELF_NOTES && n <= SHELF_BOOKS))
            return;
        drop_book(oldest);
    }
}

/* Called with the lock, which others may have while the book is written. NULL in *out after failure. */
static int write_book(struct search_shelf_book **out, struct search_shelf *shelf, unsigned long long key,
                      const struct search_space *space, const struct design_point *s,
                      const struct training *base, struct err *e)
{
    struct search_shelf_book *of = *out = calloc(1, sizeof *of);
    if (!of)
        return err_nomem(e, "a search");
    of->key = key;
    of->next = shelf->first;
    shelf->first = of;
    pthread_mutex_unlock(&shelf->lock);
    int rc = search_book_build(&of->book, space, s, base, SEARCH_MOST_NOTED, e);
    pthread_mutex_lock(&shelf->lock);
    of->written = !rc;
    struct search_shelf_book **link = &shelf->first;
    while (rc && *link != of)
        link = &(*link)->next;
    if (rc) {
        drop_book(link);
        *out = NULL;
    }
    pthread_cond_broadcast(&shelf->changed);
    return rc;
}

int search_book_open(struct search_book *b, struct search_shelf *shelf, const struct search_space *space,
                     const struct design_point *s, const struct training *base, struct err *e)
{
    if (!shelf)
        return search_book_build(b, space, s, base, SEARCH_MOST_NOTED, e);
    unsigned long long key = hash_question(space, s, base);
    int rc = 0;
    pthread_mutex_lock(&shelf->lock);
    struct search_shelf_book *of = find_book(shelf, key);
    while (of && !of->written) {
        pthread_cond_wait(&shelf->changed, &shelf->lock);
        of = find_book(shelf, key);
    }
    if (!of)
        rc = write_book(&of, shelf, key, space, s, base, e);
    if (of) {
        of->readers++;
        of->asked = ++shelf->asked;
        *b = of->book;
        b->of = of;
        tidy_up(shelf);
    }
    pthread_mutex_unlock(&shelf->lock);
    b->space = space;
    b->study = s;
    b->base = base;
    return rc;
}

void search_book_close(struct search_book *b, struct search_shelf *shelf)
{
    if (!b->of) {
        search_book_free(b);
        return;
    }
    pthread_mutex_lock(&shelf->lock);
    b->of->readers--;
    pthread_mutex_unlock(&shelf->lock);
    *b = (struct search_book){ 0 };
}

int search_book_pass(const struct search_book *b, const struct search_pass *pass, struct err *e)
{
    int rc = for_all(b, NULL, pass, b->n_chapters, read_chapter, e);
    bool done = isinf(b->horizon_s) || pass->skip(pass->with, b->horizon_s);
    return rc || done ? rc : for_all(b, NULL, pass, b->shapes.n, reread_shape, e);
}

/* ---- the best few ---- */

int search_best_reserve(struct search_best *b, int32_t most, double margin, struct err *e)
{
    *b = (struct search_best){ .most = most,
                               .last = incumbent_none(margin),
                               .found = calloc((size_t)most, sizeof *b->found) };
    return b->found ? 0 : err_nomem(e, "a search");
}

void search_best_free(struct search_best *b)
{
    free(b->found);
    *b = (struct search_best){ 0 };
}

int search_by_value(const void *a, const void *b)
{
    const struct search_found *x = a, *y = b;
    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    if (x->memory_B < y->memory_B || x->memory_B > y->memory_B)
        return x->memory_B < y->memory_B ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* To nine digits. */
static double rounded(double x)
{
    enum { BITS = 30 };
    int power;
    double part = frexp(x, &power);
    return ldexp(rint(ldexp(part, BITS)), power - BITS);
}

int search_alike(const struct search_found *a, const struct search_found *b)
{
    double x = rounded(a->value), y = rounded(b->value);
    if (x >= y && x <= y) {
        x = rounded(a->memory_B);
        y = rounded(b->memory_B);
    }
    return (x > y) - (x < y);
}

double search_best_limit(const struct search_best *b)
{
    double value;
#pragma omp atomic read
    value = b->last.value;
    return value * (1 + b->last.margin);
}

/* Where it belongs by @p order: before the first that is not less. */
static int32_t best_place(const struct search_best *b, const struct search_found *f,
                          int (*order)(const struct search_found *, const struct search_found *))
{
    int32_t at = 0, end = b->n;
    while (at < end) {
        int32_t middle = at + (end - at) / 2;
        if (order(&b->found[middle], f) < 0)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

static int best_order(const struct search_found *a, const struct search_found *b)
{
    return search_by_value(a, b);
}

static void best_fold(struct search_found *x, const struct search_found *f)
{
    int64_t alike = x->alike + 1;
    if (search_by_value(f, x) < 0)
        *x = *f;
    x->alike = alike;
}

/* Plans of equal value keep the lower rank, whatever thread found them. */
static void best_insert(struct search_best *b, const struct search_found *f)
{
    int32_t at = best_place(b, f, b->folds ? search_alike : best_order);
    if (at < b->n && b->folds && search_alike(&b->found[at], f) == 0) {
        best_fold(&b->found[at], f);
        return;
    }
    for (int32_t i = 0; i < b->n && !b->folds; i++)
        if (b->found[i].rank == f->rank)
            return;
    if (at == b->most)
        return;
    int32_t moved = b->n - at - (b->n == b->most);
    memmove(&b->found[at + 1], &b->found[at], (size_t)moved * sizeof *f);
    b->found[at] = *f;
    b->n += b->n < b->most;
    if (b->n == b->most) {
#pragma omp atomic write
        b->last.value = b->found[b->n - 1].value;
    }
}

void search_best_add(struct search_best *b, const struct search_found *f)
{
#pragma omp critical(search_best)
    best_insert(b, f);
}

struct search_found search_found_of(const struct search_candidate *c)
{
    struct search_found f = { .plan = *c->plan, .memory_B = c->memory_B, .rank = c->rank };
    memcpy(f.plan.order, c->order, sizeof f.plan.order);
    return f;
}
