/*
 * The plans of a search, shape by shape, and passes over them.
 *
 * A plan is looked at once: is it legal, does it fit, and how long does it take where exchange is free? That
 * time bounds its step whatever the bandwidths, so a pass goes through a shape in the order of these times
 * and leaves it where they alone are of no use: of millions of plans that fit, a few in a hundred are timed
 * with their exchange. (A shape is the degrees; its places are the ways to lay them along the dimensions, in
 * which collectives are timed once for all of its plans.)
 *
 * Nor is every shape looked at: search_shape_floor_s() bounds the times of its plans, a pass goes through
 * shapes in the order of these floors, and ends at the first that is of no use. Of hundreds of shapes often
 * ten are written down. Results depend on none of this, nor on threads: ranks break ties.
 */
#include "kinds/design/explore/book.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "base/work.h"

/* What rounding of a floor may come to. */
#define FLOOR_REL 1e-9

/* A rank is a shape, a plan of it and one of its places: all but the place are the same on any network. */
#define RANKS_PER_SHAPE ((int64_t)SEARCH_PLACES << 32)

_Static_assert(sizeof(struct search_note) == 32, "what is kept of a plan");

/* What one thread works with. */
struct worker {
    const struct search_book *book;
    const struct search_pass *pass;
    struct search_places places;
    struct search_forms forms[SEARCH_PLACES];
    struct search_clock clocks[SEARCH_PLACES][SEARCH_WAYS];
    struct search_seen seen;
    struct search_least least; /* of the first way, over the places of a shape */
    struct plan_memo memo;
    struct plan_cost cost;
    int64_t n_plans;           /* of the shape, so far */
    struct search_note *notes; /* shape [n], owned: of the chapter under way */
    int64_t n, cap;
    double floor_s; /* its own */
    bool failed, below;
    struct search_result counts;
    struct search_left_out left_out;
};

enum { NOTED = 2 /* of what a split finds */ };

/* What changes as chapters are written, by several threads. */
struct search_desk {
    pthread_mutex_t lock;
    pthread_cond_t changed;    /* a chapter is no longer under way */
    int64_t kept, most;        /* notes */
    struct search_found *best; /* shape [n_best], owned: that a search found */
    int32_t n_best;
    struct search_known recent[SEARCH_RECENT]; /* shape [n_recent]: that splits found, the last first */
    int32_t n_recent;
    struct shortlists *lists; /* owned */
};

/* ---- one plan ---- */

/* Memory first, as it rules out most plans and is cheap: what the framework reserves has to fit too. Its time
 * with exchange free; INFINITY: it does not fit. */
static double look_at(struct worker *w, const struct plan *plan)
{
    const struct search_book *b = w->book;
    struct memory memory;
    memory_plan_kept(&memory, &w->memo, &b->base->model, plan);
    double needed_B = (1 + plan_reserve(plan)) * memory.total_B;
    w->counts.least_B = fmin(w->counts.least_B, needed_B);
    if (needed_B > b->study->net.npu.mem_B) /* false where it is not known */
        return INFINITY;
    plan_cost_kept(&w->cost, &w->memo, &b->base->model, plan, &b->study->net.npu);
    return plan_cost_time(&w->cost, NULL, NULL);
}

static void note_plan(void *with, const struct plan *plan)
{
    struct worker *w = with;
    struct search_note note = { .nth = (uint32_t)w->n_plans++, .choice = search_choice_of(plan) };
    w->counts.n_candidates += w->places.n;
    note.least_s = look_at(w, plan);
    if (isinf(note.least_s)) {
        w->counts.n_rejected[SEARCH_MEMORY] += w->places.n;
        return;
    }
    w->counts.n_timed += w->places.n;
    w->below = w->below || note.least_s < w->floor_s * (1 - FLOOR_REL);
    w->failed = w->failed || w->n_plans > UINT32_MAX || !vec_reserve(w->notes, w->cap, w->n + 1);
    if (!w->failed)
        w->notes[w->n++] = note;
}

/* All places of a plan whose cost is in w->cost. */
static void take_places(struct worker *w, const struct plan *plan, int64_t rank)
{
    struct memory memory;
    if (w->pass->skip(w->pass->with,
                      search_clock_least(&w->least, w->clocks[0], SEARCH_WAYS, w->places.n, &w->cost)))
        return;
    memory_plan_kept(&memory, &w->memo, &w->book->base->model, plan);
    for (int32_t i = 0; i < w->places.n; i++) {
        const struct search_candidate c = {
            plan,         &w->cost,     memory.total_B,     rank + i,
            w->clocks[i], &w->forms[i], w->places.order[i], &w->places.places[i]
        };
        w->pass->take(w->pass->with, &c);
    }
}

/* ---- one shape ---- */

static void find_places(struct worker *w, int32_t i)
{
    const struct search_book *b = w->book;
    search_find_places(&w->places, b->space, &b->shapes.shapes[i], b->base, &b->study->net);
}

static void begin_shape(struct worker *w, int32_t i)
{
    find_places(w, i);
    for (int32_t k = 0; k < w->places.n; k++) {
        search_forms_set(&w->forms[k], &w->pass->ways[0], &w->places.places[k]);
        for (int32_t way = 0; way < w->pass->n_ways; way++)
            search_clock_set(&w->clocks[k][way], &w->pass->ways[way], &w->forms[k], &w->seen);
        w->clocks[k][0].price = w->pass->price;
        w->clocks[k][0].rent = w->pass->rent;
    }
    memset(w->least.found, 0, sizeof w->least.found);
}

static int walk_shape(struct worker *w, int32_t i, search_visit visit, struct err *e)
{
    const struct search_book *b = w->book;
    find_places(w, i);
    w->n_plans = 0;
    search_left_out_add(&w->left_out, &w->places.left_out);
    int rc = w->places.n || b->any_network ? search_walk(&w->left_out, b->space, b->base, b->study->net.ideal,
                                                         &b->shapes.shapes[i], w->places.n, visit, w, e)
                                           : 0;
    return rc ? rc : work_check(e);
}

static int by_time(const void *a, const void *b)
{
    const struct search_note *x = a, *y = b;
    if (x->least_s < y->least_s || x->least_s > y->least_s)
        return x->least_s < y->least_s ? -1 : 1;
    return (x->nth > y->nth) - (x->nth < y->nth);
}

/* ---- chapters ---- */

/* The plans of a shape into the worker's notes. A floor that is above one of them would hide plans: it is
 * looked at wherever it can be. */
static int write_notes(struct worker *w, const struct search_chapter *c, struct err *e)
{
    w->n = 0;
    w->floor_s = c->floor_s;
    int rc = walk_shape(w, c->shape, note_plan, e);
    rc = rc || !w->failed ? rc : err_nomem(e, "a search");
    if (!rc && w->below)
        rc = err_set(e, ERR_LIB, "a plan is faster than the bound of its degrees; please report it");
    if (w->n && !rc)
        qsort(w->notes, (size_t)w->n, sizeof *w->notes, by_time);
    return rc;
}

/* With the lock. The worker's notes from @p from on, which are the next that the chapter has not kept, as far
 * as there is room. */
static void keep_notes(const struct worker *w, struct search_chapter *c, int64_t from, int64_t n)
{
    struct search_desk *desk = w->book->desk;
    int64_t room = desk->most - desk->kept, left = w->n - from;
    n = n < left ? n : left;
    n = n < room ? n : room;
    if (c->n != from || c->n_leaves == SEARCH_LEAVES || (n <= 0 && w->n))
        return;
    struct search_leaf *leaf = &c->leaves[c->n_leaves];
    leaf->notes = malloc(((size_t)n + 1) * sizeof *leaf->notes);
    if (!leaf->notes)
        return;
    leaf->n = n;
    if (n)
        memcpy(leaf->notes, w->notes + from, (size_t)n * sizeof *leaf->notes);
    c->n_leaves++;
    c->n += n;
    c->ends = c->n == w->n;
    c->state = CHAPTER_WRITTEN;
    desk->kept += n;
}

/* Notes of a chapter, which nobody changes meanwhile. */
struct search_page {
    const struct search_note *notes; /* shape [n], borrowed */
    int64_t n, from;                 /* from: notes of the chapter before these */
    int32_t leaf;                    /* that comes next */
    bool ends;                       /* there are no others */
    bool own;                        /* they are the worker's */
};

/* The next of a chapter's leaves, or, of one that has no more, the worker's notes. A thread that needs a
 * chapter that another is writing waits. */
static int turn_page(struct search_page *page, struct worker *w, struct search_chapter *c, struct err *e)
{
    struct search_desk *desk = w->book->desk;
    int64_t from = page->from + page->n;
    int32_t leaf = page->leaf;
    int rc = 0;
    pthread_mutex_lock(&desk->lock);
    while (c->state == CHAPTER_UNDER_WAY)
        pthread_cond_wait(&desk->changed, &desk->lock);
    if (leaf < c->n_leaves) {
        *page = (struct search_page){ .notes = c->leaves[leaf].notes,
                                      .n = c->leaves[leaf].n,
                                      .from = from,
                                      .leaf = leaf + 1,
                                      .ends = c->ends && leaf + 1 == c->n_leaves };
    } else {
        bool blank = c->state == CHAPTER_BLANK;
        c->state = CHAPTER_UNDER_WAY;
        pthread_mutex_unlock(&desk->lock);
        rc = write_notes(w, c, e);
        pthread_mutex_lock(&desk->lock);
        c->state = blank ? CHAPTER_BLANK : CHAPTER_WRITTEN;
        if (blank && !rc)
            keep_notes(w, c, 0, SEARCH_CHAPTER_NOTED);
        pthread_cond_broadcast(&desk->changed);
        *page = (struct search_page){ .notes = w->notes ? w->notes + from : NULL,
                                      .n = rc ? 0 : w->n - from,
                                      .from = from,
                                      .ends = true,
                                      .own = true };
    }
    pthread_mutex_unlock(&desk->lock);
    return rc;
}

/* A pass has read @p n notes of its own: the next one will read about as many. */
static void keep_read(struct worker *w, struct search_chapter *c, int64_t n)
{
    pthread_mutex_lock(&w->book->desk->lock);
    if (n > c->n)
        keep_notes(w, c, c->n, n + n / 2 - c->n);
    pthread_mutex_unlock(&w->book->desk->lock);
}

/* ---- all of them ---- */

/* What is done with number i, of a shape or a chapter. */
typedef int (*search_unit)(struct worker *w, int32_t i, struct err *e);

static int find_floor(struct worker *w, int32_t i, struct err *e)
{
    const struct search_book *b = w->book;
    b->chapters[i] = (struct search_chapter){ .shape = i };
    b->chapters[i].floor_s =
        search_shape_floor_s(b->space, b->base, &b->study->net.npu, &b->shapes.shapes[i]);
    return work_check(e);
}

/* For its counts; its floor is then what it is. */
static int count_chapter(struct worker *w, int32_t i, struct err *e)
{
    struct search_chapter *c = &w->book->chapters[i];
    struct search_page page = { .n = 0 };
    int rc = turn_page(&page, w, c, e);
    if (!rc)
        c->floor_s = page.n ? page.notes[0].least_s : (double)INFINITY;
    return rc;
}

static int read_chapter(struct worker *w, int32_t i, struct err *e)
{
    const struct search_book *b = w->book;
    struct search_chapter *c = &b->chapters[i];
    struct search_page page = { .n = 0 };
    int64_t k = 0;
    int rc = 0;
    if (isinf(c->floor_s) || w->pass->skip(w->pass->with, c->floor_s))
        return 0;
    find_places(w, c->shape);
    if (!w->places.n)
        return 0;
    for (bool begun = false; !rc; k++) {
        if (k == page.n && page.ends)
            break;
        if (k == page.n) {
            rc = turn_page(&page, w, c, e);
            k = 0;
        }
        if (rc || page.n == 0 || w->pass->skip(w->pass->with, page.notes[k].least_s))
            break;
        const struct search_note *note = &page.notes[k];
        if (!begun)
            begin_shape(w, c->shape);
        begun = true;
        struct plan plan = search_choice_plan(&note->choice, &b->shapes.shapes[c->shape], b->base);
        plan_cost_kept(&w->cost, &w->memo, &b->base->model, &plan, &b->study->net.npu);
        take_places(w, &plan, c->shape * RANKS_PER_SHAPE + (int64_t)note->nth * SEARCH_PLACES);
    }
    if (!rc && page.own)
        keep_read(w, c, page.from + k);
    return rc ? rc : work_check(e);
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
static int for_all(const struct search_book *b, struct search_book *counted, const struct search_pass *pass,
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
            if (w && counted)
                add_counts(counted, w);
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

static int by_floor(const void *a, const void *b)
{
    const struct search_chapter *x = a, *y = b;
    if (x->floor_s < y->floor_s || x->floor_s > y->floor_s)
        return x->floor_s < y->floor_s ? -1 : 1;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

static void sort_chapters(struct search_book *b)
{
    qsort(b->chapters, (size_t)b->n_chapters, sizeof *b->chapters, by_floor);
}

static int count_all(struct search_book *b, struct err *e)
{
    struct search_result *counts = &b->counts;
    int rc = for_all(b, b, NULL, b->n_chapters, count_chapter, e);
    if (rc)
        return rc;
    sort_chapters(b);
    b->counted = true;
    counts->refused = b->shapes.left_out.refused;
    for (int32_t i = 0; i < counts->refused.n_keys; i++)
        counts->n_rejected[SEARCH_ILLEGAL] += counts->refused.n[i];
    counts->n_rejected[SEARCH_REPEATED] = b->shapes.left_out.n_repeated;
    counts->n_rejected[SEARCH_UNMAPPED] = b->shapes.left_out.n_unmapped;
    return 0;
}

static struct search_desk *desk_new(int64_t most)
{
    struct search_desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return NULL;
    pthread_mutex_init(&desk->lock, NULL);
    pthread_cond_init(&desk->changed, NULL);
    desk->most = most;
    desk->lists = shortlists_new();
    return desk;
}

int search_book_build(struct search_book *b, const struct search_space *space, const struct design_point *s,
                      const struct training *base, int64_t most, bool counts, struct err *e)
{
    *b = (struct search_book){
        .space = space, .study = s, .base = base, .desk = desk_new(most), .any_network = !counts
    };
    b->counts.least_B = INFINITY;
    int rc = search_find_shapes(&b->shapes, space, base, s->net.n_npus, e);
    b->chapters = calloc((size_t)b->shapes.n + 1, sizeof *b->chapters);
    if (!rc)
        rc = b->chapters && b->desk ? for_all(b, NULL, NULL, b->shapes.n, find_floor, e)
                                    : err_nomem(e, "a search");
    if (!rc) {
        b->n_chapters = b->shapes.n;
        sort_chapters(b);
    }
    if (!rc && counts)
        rc = count_all(b, e);
    if (rc)
        search_book_free(b);
    return rc;
}

void search_book_free(struct search_book *b)
{
    for (int32_t c = 0; c < b->n_chapters; c++)
        for (int32_t i = 0; i < b->chapters[c].n_leaves; i++)
            free(b->chapters[c].leaves[i].notes);
    search_shapes_free(&b->shapes);
    free(b->chapters);
    if (b->desk) {
        pthread_mutex_destroy(&b->desk->lock);
        pthread_cond_destroy(&b->desk->changed);
        free(b->desk->best);
        shortlists_free(b->desk->lists);
    }
    free(b->desk);
    *b = (struct search_book){ 0 };
}

int64_t search_book_kept(const struct search_book *b)
{
    pthread_mutex_lock(&b->desk->lock);
    int64_t kept = b->desk->kept;
    pthread_mutex_unlock(&b->desk->lock);
    return kept;
}

double search_book_floor_s(const struct search_book *b)
{
    return b->n_chapters ? b->chapters[0].floor_s : (double)INFINITY;
}

/* Shapes in the order of their floors, until no other can have less. */
int search_book_least(double *least_s, const struct search_book *b, struct err *e)
{
    struct worker *w = calloc(1, sizeof *w);
    int rc = w ? 0 : err_nomem(e, "a search");
    *least_s = INFINITY;
    for (int32_t i = 0; i < b->n_chapters && !rc && b->chapters[i].floor_s < *least_s; i++) {
        struct search_page page = { .n = 0 };
        w->book = b;
        find_places(w, b->chapters[i].shape);
        if (!w->places.n)
            continue;
        rc = turn_page(&page, w, &b->chapters[i], e);
        if (!rc && page.n)
            *least_s = fmin(*least_s, page.notes[0].least_s);
    }
    if (w)
        free(w->notes);
    free(w);
    return rc;
}

/* ---- books that are shared ---- */

enum { SHELF_NOTES = 2 * SEARCH_MOST_NOTED, SHELF_BOOKS = 4096, SHELF_KEPT = 4096 };

struct search_shelf_book {
    struct search_book book;
    struct search_shelf *shelf;          /* that it is on */
    unsigned long long key, counted_key; /* counted_key: of the network that `counts` are of; 0: none */
    struct search_result counts;
    bool built;
    int32_t readers;
    int64_t asked; /* when it was last */
    struct search_shelf_book *next;
};

/* What search_sample_s() says of a question without its network and batch. */
struct shelf_sample {
    uint64_t key;
    double least_s;
};

/* What was found under a key. */
struct shelf_kept {
    uint64_t key;
    void *data; /* owned */
    size_t size;
};

/* The least time of a book's plans on a network. */
struct shelf_time {
    uint64_t key;
    double least_s, most_s; /* where it is most_s: that or more */
};

struct search_shelf {
    pthread_mutex_t lock;
    pthread_cond_t changed;          /* a book was built, or could not be */
    bool counts;                     /* books are to count */
    struct search_shelf_book *first; /* owned, with all that follow */
    int64_t asked;
    struct shelf_sample *samples; /* shape [n_samples], owned */
    int32_t n_samples, cap;
    struct hash by_key;
    struct shelf_time *times; /* shape [n_times], owned */
    int32_t n_times, cap_times;
    struct hash times_by_key;
    struct shelf_kept kept[SHELF_KEPT]; /* each where its key says, the last of those that belong there */
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

void search_shelf_count(struct search_shelf *shelf)
{
    shelf->counts = true;
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
    free(shelf->samples);
    hash_free(&shelf->by_key);
    free(shelf->times);
    hash_free(&shelf->times_by_key);
    for (int i = 0; i < SHELF_KEPT; i++)
        free(shelf->kept[i].data);
    free(shelf);
}

/* All that writing a book looks at but for the network. What only passes look at (bandwidths, latencies,
 * algorithms, prices; where nothing is counted sizes of dimensions) is in neither. Structs are hashed as they
 * lie in memory: padding could make two of equal content differ, never the other way round. */
static uint64_t hash_work(const struct search_space *space, const struct model *m, const struct plan *p,
                          const struct topo_npu *npu)
{
    uint64_t hash = hash_bytes(TEXT_HASH_SEED, space, sizeof *space);
    hash = hash_bytes(hash, m, sizeof *m);
    hash = hash_bytes(hash, p, sizeof *p);
    return hash_bytes(hash, npu, sizeof *npu);
}

static unsigned long long hash_question(const struct search_space *space, const struct design_point *s,
                                        const struct training *base, bool counts)
{
    unsigned long long hash = hash_work(space, &base->model, &base->plan, &s->net.npu);
    const int64_t whole[] = { s->net.n_npus, s->net.ideal != NULL };
    hash = hash_bytes(hash, whole, sizeof whole);
    for (int32_t d = 0; d < s->net.n_dims && counts; d++) {
        const struct topo_dim *dim = &s->net.dims[d];
        const int32_t sizes[] = { dim->size, dim->level, dim->n_levels, topo_is_fabric(dim) };
        hash = hash_bytes(hash, sizes, sizeof sizes);
    }
    return hash;
}

/* Who asks for samples. */
struct sampling {
    struct search_shelf *shelf;
    const struct search_space *space;
    const struct training *base;
    const struct topo_npu *npu;
    uint64_t key; /* but for the microbatch */
};

/* Others wait meanwhile: it is found for few questions. */
static double sample_s(void *with, int64_t micro)
{
    const struct sampling *x = with;
    struct search_shelf *shelf = x->shelf;
    uint64_t key = hash_bytes(x->key, &micro, sizeof micro);
    hash_each (id, &shelf->by_key, key)
        if (shelf->samples[id].key == key)
            return shelf->samples[id].least_s;
    double least_s = search_sample_s(x->space, x->base, x->npu, micro);
    if (vec_reserve(shelf->samples, shelf->cap, shelf->n_samples + 1) &&
        hash_add(&shelf->by_key, key, shelf->n_samples))
        shelf->samples[shelf->n_samples++] = (struct shelf_sample){ key, least_s };
    return least_s;
}

double search_shelf_work_s(struct search_shelf *shelf, const struct search_space *space,
                           const struct training *base, const struct topo_npu *npu)
{
    struct plan of_any = base->plan;
    of_any.batch = 0;
    memset(of_any.degree, 0, sizeof of_any.degree); /* what is left for dp: by the number of NPUs */
    struct sampling x = { shelf, space, base, npu, hash_work(space, &base->model, &of_any, npu) };
    pthread_mutex_lock(&shelf->lock);
    double least_s = search_work_s(space, base, sample_s, &x);
    pthread_mutex_unlock(&shelf->lock);
    return least_s;
}

uint64_t search_hash_dims(uint64_t hash, const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++) {
        struct topo_dim dim = net->dims[d];
        memset(dim.tier, 0, sizeof dim.tier);
        memset(dim.name, 0, sizeof dim.name);
        dim.fabric.planes = 0;
        bool plain = dim.algorithm == TOPO_ALGORITHM_SHAPE && !dim.detour && !dim.n_regimes && !dim.n_curves;
        if (plain && dim.shape == TOPO_RING && dim.size == 2)
            dim.shape = TOPO_FULL; /* the same link */
        hash = hash_bytes(hash, &dim, sizeof dim);
    }
    return hash;
}

uint64_t search_hash_rows(uint64_t hash, const struct alloc_problem *p)
{
    for (int32_t i = 0; i < p->n_rows; i++) {
        const double sides[] = { p->rows[i].rhs, (double)p->rows[i].sense };
        hash = hash_bytes(hash, p->rows[i].coef, sizeof p->rows[i].coef);
        hash = hash_bytes(hash, sides, sizeof sides);
    }
    return hash;
}

/* All that a pass looks at. 0: of a graph, whose links are not in it. */
static uint64_t hash_pass(const struct search_book *b, const struct collective_way *way)
{
    const struct topo_network *net = way->net;
    uint64_t hash = search_book_question(b);
    if (!hash || net->ideal || net->wires)
        return 0;
    const bool is[] = { way->bw_Bps != NULL, net->whole_parts };
    hash = hash_bytes(hash, is, sizeof is);
    if (way->bw_Bps)
        hash = hash_bytes(hash, way->bw_Bps, (size_t)net->n_dims * sizeof *way->bw_Bps);
    if (way->rules)
        hash = hash_bytes(hash, way->rules, sizeof *way->rules);
    return search_hash_dims(hash, net);
}

/* With the lock. */
static struct shelf_time *find_time(const struct search_shelf *shelf, uint64_t key)
{
    hash_each (id, &shelf->times_by_key, key)
        if (shelf->times[id].key == key)
            return &shelf->times[id];
    return NULL;
}

bool search_book_find_time(double *least_s, const struct search_book *b, const struct collective_way *way,
                           double most_s)
{
    uint64_t key = hash_pass(b, way);
    if (!key)
        return false;
    pthread_mutex_lock(&b->of->shelf->lock);
    const struct shelf_time *of = find_time(b->of->shelf, key);
    bool is_known = of && (of->least_s < of->most_s || of->most_s >= most_s);
    *least_s = is_known ? fmin(of->least_s, most_s) : *least_s;
    pthread_mutex_unlock(&b->of->shelf->lock);
    return is_known;
}

void search_book_note_time(const struct search_book *b, const struct collective_way *way, double least_s,
                           double most_s)
{
    const struct shelf_time fresh = { hash_pass(b, way), least_s, most_s };
    if (!fresh.key)
        return;
    struct search_shelf *shelf = b->of->shelf;
    pthread_mutex_lock(&shelf->lock);
    struct shelf_time *of = find_time(shelf, fresh.key);
    if (of)
        *of = of->least_s < of->most_s || of->most_s > most_s ? *of : fresh;
    else if (vec_reserve(shelf->times, shelf->cap_times, shelf->n_times + 1) &&
             hash_add(&shelf->times_by_key, fresh.key, shelf->n_times))
        shelf->times[shelf->n_times++] = fresh;
    pthread_mutex_unlock(&shelf->lock);
}

void search_book_store(const struct search_book *b, uint64_t key, const void *data, size_t size)
{
    struct shelf_kept fresh = { key, b->of && key ? malloc(size) : NULL, size };
    if (!fresh.data)
        return;
    memcpy(fresh.data, data, size);
    pthread_mutex_lock(&b->of->shelf->lock);
    struct shelf_kept *of = &b->of->shelf->kept[key % SHELF_KEPT];
    free(of->data);
    *of = fresh;
    pthread_mutex_unlock(&b->of->shelf->lock);
}

void *search_book_fetch(size_t *size, const struct search_book *b, uint64_t key)
{
    void *copy = NULL;
    if (!b->of || !key)
        return NULL;
    pthread_mutex_lock(&b->of->shelf->lock);
    const struct shelf_kept *of = &b->of->shelf->kept[key % SHELF_KEPT];
    if (of->data && of->key == key && (copy = malloc(of->size))) {
        memcpy(copy, of->data, of->size);
        *size = of->size;
    }
    pthread_mutex_unlock(&b->of->shelf->lock);
    return copy;
}

bool search_book_find_plans(struct search_best *best, const struct search_book *b,
                            const struct collective_way *way)
{
    size_t size;
    struct search_found *found = search_book_fetch(&size, b, hash_pass(b, way));
    bool fits = found && size <= (size_t)best->most * sizeof *found;
    if (fits) {
        memcpy(best->found, found, size);
        best->n = (int32_t)(size / sizeof *found);
    }
    free(found);
    return fits;
}

void search_book_note_plans(const struct search_book *b, const struct collective_way *way,
                            const struct search_best *best)
{
    if (best->n && best->n <= SEARCH_RECENT)
        search_book_store(b, hash_pass(b, way), best->found, (size_t)best->n * sizeof *best->found);
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
        int64_t n_notes = 0, n_pairs = 0, n = 0;
        struct search_shelf_book **oldest = NULL;
        for (struct search_shelf_book **link = &shelf->first; *link; link = &(*link)->next) {
            n++;
            n_notes += (*link)->built ? search_book_kept(&(*link)->book) : 0;
            n_pairs += (*link)->built ? shortlists_count((*link)->book.desk->lists) : 0;
            if ((*link)->built && !(*link)->readers && (!oldest || (*link)->asked < (*oldest)->asked))
                oldest = link;
        }
        if (!oldest || (n_notes <= SHELF_NOTES && n_pairs <= SHORTLISTS_MOST && n <= SHELF_BOOKS))
            return;
        drop_book(oldest);
    }
}

/* Called with the lock, which others may have while the book is built. NULL in *out after failure. */
static int build_book(struct search_shelf_book **out, struct search_shelf *shelf, unsigned long long key,
                      const struct search_space *space, const struct design_point *s,
                      const struct training *base, struct err *e)
{
    struct search_shelf_book *of = *out = calloc(1, sizeof *of);
    if (!of)
        return err_nomem(e, "a search");
    of->shelf = shelf;
    of->key = key;
    of->next = shelf->first;
    shelf->first = of;
    pthread_mutex_unlock(&shelf->lock);
    int rc = search_book_build(&of->book, space, s, base, SEARCH_MOST_NOTED, shelf->counts, e);
    pthread_mutex_lock(&shelf->lock);
    of->built = !rc;
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
        return search_book_build(b, space, s, base, SEARCH_MOST_NOTED, true, e);
    unsigned long long key = hash_question(space, s, base, shelf->counts);
    int rc = 0;
    pthread_mutex_lock(&shelf->lock);
    struct search_shelf_book *of = find_book(shelf, key);
    while (of && !of->built) {
        pthread_cond_wait(&shelf->changed, &shelf->lock);
        of = find_book(shelf, key);
    }
    if (!of)
        rc = build_book(&of, shelf, key, space, s, base, e);
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

int search_book_count(struct search_result *counts, const struct search_book *b, struct search_shelf *shelf,
                      struct err *e)
{
    struct search_book whole;
    unsigned long long key = hash_question(b->space, b->study, b->base, true);
    *counts = b->counts;
    if (b->counted)
        return 0;
    if (b->of) {
        pthread_mutex_lock(&shelf->lock);
        bool counted = b->of->counted_key == key;
        *counts = b->of->counts;
        pthread_mutex_unlock(&shelf->lock);
        if (counted)
            return 0;
    }
    int rc = search_book_build(&whole, b->space, b->study, b->base, 0, true, e);
    if (rc)
        return rc;
    *counts = whole.counts;
    search_book_free(&whole);
    if (b->of) {
        pthread_mutex_lock(&shelf->lock);
        b->of->counts = *counts;
        b->of->counted_key = key;
        pthread_mutex_unlock(&shelf->lock);
    }
    return 0;
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
    return for_all(b, NULL, pass, b->n_chapters, read_chapter, e);
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

/* Values that differ by more than this do so whatever the gaps of their splits. */
#define NEXT_REL (4 * ALLOC_GAP)

/* What others have to beat. */
static double last_value(const struct search_best *b)
{
    const double tied = b->n ? b->found[0].value * (1 + NEXT_REL) : 0;
    for (int32_t i = 1; b->nearest && i < b->n; i++)
        if (b->found[i].value > tied)
            return b->found[i].value;
    if (b->n < b->most)
        return INFINITY;
    return b->ties ? fmax(b->found[b->n - 1].value, tied) : b->found[b->n - 1].value;
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
#pragma omp atomic write
    b->last.value = fmin(b->last.value, last_value(b));
}

void search_best_add(struct search_best *b, const struct search_found *f)
{
#pragma omp critical(search_best)
    best_insert(b, f);
}

/* What rounding of a time may come to that is found in another order. */
#define RECALL_REL 1e-9

/* Plans of another network on this one. */
struct recalling {
    const struct search_book *book;
    struct search_places places; /* of `shape`; -1: of none yet */
    int32_t shape;
    struct training x;
};

/* Where the plan would lie. Its order may not lie along these dimensions, break a rule that depends on them,
 * or come to the same as another order: so it is looked up among the candidates. False: it is not one. */
static bool recall_place(struct search_found *f, struct recalling *r)
{
    const struct search_book *b = r->book;
    const struct topo_network *net = &b->study->net;
    int32_t shape = (int32_t)(f->rank / RANKS_PER_SHAPE);
    struct err ignored;
    r->x = *b->base;
    r->x.plan = f->plan;
    if (training_derive(&r->x, net, &ignored))
        return false;
    if (shape != r->shape)
        search_find_places(&r->places, b->space, &b->shapes.shapes[shape], b->base, net);
    r->shape = shape;
    int32_t at = search_place_at(&r->places, &r->x.place);
    f->rank += at - f->rank % SEARCH_PLACES;
    return at >= 0;
}

int search_book_recall(struct search_best *b, const struct search_book *book,
                       const struct collective_way *way, struct err *e)
{
    struct search_desk *desk = book->desk;
    struct recalling *r = malloc(sizeof *r);
    struct search_best known = { 0 };
    int rc = r ? search_best_reserve(&known, b->most, b->last.margin, e) : err_nomem(e, "a search");
    known.folds = b->folds;
    if (!rc) {
        r->book = book;
        r->shape = -1;
    }
    pthread_mutex_lock(&desk->lock);
    for (int32_t i = 0; i < desk->n_best && !rc; i++) {
        struct search_found f = desk->best[i];
        if (!recall_place(&f, r))
            continue;
        f.value = f.time_s = search_clock_at(way, &r->x.place, &r->x.cost);
        best_insert(&known, &f);
    }
    pthread_mutex_unlock(&desk->lock);
    if (!rc && known.n == known.most)
        b->last.value = fmin(b->last.value, known.last.value * (1 + RECALL_REL));
    search_best_free(&known);
    free(r);
    return rc;
}

uint64_t search_book_question(const struct search_book *book)
{
    return book->of ? book->of->key : 0;
}

int search_book_lay(const struct search_book *book, const struct search_found *f,
                    const struct collective_way *way,
                    void (*take)(void *with, const struct search_candidate *c), void *with, struct err *e)
{
    struct worker *w = malloc(sizeof *w);
    if (!w)
        return err_nomem(e, "a search");
    w->book = book;
    find_places(w, (int32_t)(f->rank / RANKS_PER_SHAPE));
    plan_cost(&w->cost, &book->base->model, &f->plan, &book->study->net.npu);
    for (int32_t i = 0; i < w->places.n; i++) {
        const struct search_candidate c = { .plan = &f->plan,
                                            .cost = &w->cost,
                                            .memory_B = f->memory_B,
                                            .rank = f->rank - f->rank % SEARCH_PLACES + i,
                                            .forms = &w->forms[i],
                                            .order = w->places.order[i],
                                            .place = &w->places.places[i] };
        search_forms_set(&w->forms[i], way, &w->places.places[i]);
        take(with, &c);
    }
    free(w);
    return 0;
}

struct shortlists *search_book_lists(const struct search_book *book)
{
    return book->of ? book->desk->lists : NULL;
}

struct search_pair search_pair_of(const struct search_candidate *c)
{
    struct search_pair pair = { .memory_B = c->memory_B,
                                .rank = c->rank,
                                .choice = search_choice_of(c->plan) };
    for (int i = 0; i < N_PLAN_AXES; i++)
        pair.order[i] = (uint8_t)c->order[i];
    return pair;
}

static struct plan plan_of_pair(const struct search_pair *pair, const struct search_book *b)
{
    struct plan plan =
        search_choice_plan(&pair->choice, &b->shapes.shapes[pair->rank / RANKS_PER_SHAPE], b->base);
    for (int k = 0; k < N_PLAN_AXES; k++)
        plan.order[k] = (enum plan_axis)pair->order[k];
    return plan;
}

enum { LAID = 128 /* ways to lie that are remembered, each where its number says */ };

/* What pairs of a list have in common: many lie in few ways. */
struct taking {
    struct plan_memo memo;
    struct plan_cost cost;
    int64_t laid[LAID]; /* one more than the shape and place that a way is of; 0: none */
    struct laid_way {
        struct plan_place at;
        struct search_forms forms;
    } ways[LAID]; /* not initialised */
};

/* NULL: no memory. */
static struct taking *taking_new(void)
{
    struct taking *t = malloc(sizeof *t);
    if (t) {
        memset(&t->memo, 0, sizeof t->memo);
        memset(t->laid, 0, sizeof t->laid);
    }
    return t;
}

/* NULL: it does not lie there, which cannot be. */
static struct laid_way *lay_pair(struct taking *t, const struct search_pair *pair,
                                 const struct search_book *b, const struct collective_way *way)
{
    int64_t lies = pair->rank / RANKS_PER_SHAPE * SEARCH_PLACES + pair->rank % SEARCH_PLACES + 1;
    struct laid_way *laid = &t->ways[lies % LAID];
    if (t->laid[lies % LAID] == lies)
        return laid;
    struct plan plan = plan_of_pair(pair, b);
    t->laid[lies % LAID] = lies;
    if (plan_map(&laid->at, &plan, &b->study->net, NULL))
        return NULL;
    plan_merge(&laid->at, &plan, &b->base->model, &b->study->net);
    search_forms_set(&laid->forms, way, &laid->at);
    return laid;
}

int search_book_take(const struct search_book *book, const struct shortlist *list,
                     const struct search_taking *how, struct err *e)
{
    struct taking *t = taking_new();
    int rc = t ? 0 : err_nomem(e, "a search");
    for (int32_t i = 0; i < list->n && !rc && list->pairs[i].bound <= how->limit(how->with); i++) {
        const struct search_pair *pair = &list->pairs[i];
        struct laid_way *laid = lay_pair(t, pair, book, &how->way);
        if (!laid) {
            rc = err_set(e, ERR_LIB,
                         "a plan does not lie on a network as on those of its sizes; please "
                         "report it");
            break;
        }
        const struct alloc_cut path = search_path_cut(&pair->path, &how->way, &laid->forms, how->weight);
        if (how->skips(how->with, &path))
            continue;
        struct plan plan = plan_of_pair(pair, book);
        plan_cost_kept(&t->cost, &t->memo, &book->base->model, &plan, &book->study->net.npu);
        const struct search_candidate c = { .plan = &plan,
                                            .cost = &t->cost,
                                            .memory_B = pair->memory_B,
                                            .rank = pair->rank,
                                            .forms = &laid->forms,
                                            .order = plan.order,
                                            .place = &laid->at };
        how->take(how->with, &c, pair);
    }
    free(t);
    return rc;
}

void search_book_remember(const struct search_book *book, const struct search_best *b)
{
    struct search_desk *desk = book->desk;
    pthread_mutex_lock(&desk->lock);
    if (b->n && b->n >= desk->n_best) {
        struct search_found *best = realloc(desk->best, (size_t)b->n * sizeof *best);
        if (best) {
            memcpy(best, b->found, (size_t)b->n * sizeof *best);
            desk->best = best;
            desk->n_best = b->n;
        }
    }
    pthread_mutex_unlock(&desk->lock);
}

int32_t search_book_recent(struct search_known *out, const struct search_book *book)
{
    struct search_desk *desk = book->desk;
    if (!book->of)
        return 0;
    pthread_mutex_lock(&desk->lock);
    int32_t n = desk->n_recent;
    memcpy(out, desk->recent, (size_t)n * sizeof *out);
    pthread_mutex_unlock(&desk->lock);
    return n;
}

/* To the front, those behind it one further as far as there is room. */
static void note_recent(struct search_desk *desk, const struct search_known *x)
{
    int32_t at = 0;
    while (at < desk->n_recent && !search_is_known(&desk->recent[at], x))
        at++;
    if (at == desk->n_recent)
        desk->n_recent += desk->n_recent < SEARCH_RECENT;
    at -= at == SEARCH_RECENT;
    memmove(&desk->recent[1], &desk->recent[0], (size_t)at * sizeof *desk->recent);
    desk->recent[0] = *x;
}

void search_book_note(const struct search_book *book, const struct search_best *b)
{
    struct search_desk *desk = book->desk;
    if (!book->of)
        return;
    pthread_mutex_lock(&desk->lock);
    for (int32_t i = b->n < NOTED ? b->n : NOTED; i-- > 0;)
        note_recent(desk, &(struct search_known){ search_book_question(book), b->found[i] });
    pthread_mutex_unlock(&desk->lock);
}

bool search_is_known(const struct search_known *x, const struct search_known *y)
{
    return x->question == y->question && x->found.rank / SEARCH_PLACES == y->found.rank / SEARCH_PLACES;
}

struct search_found search_found_of(const struct search_candidate *c)
{
    struct search_found f = { .plan = *c->plan, .memory_B = c->memory_B, .rank = c->rank };
    memcpy(f.plan.order, c->order, sizeof f.plan.order);
    return f;
}
