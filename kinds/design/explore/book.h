/** @file The plans that a search goes through, written down once, and passes over them. */
#ifndef KINDS_DESIGN_EXPLORE_BOOK_H
#define KINDS_DESIGN_EXPLORE_BOOK_H

#include "kinds/design/explore/clock.h"
#include "kinds/design/explore/shortlist.h"
#include "kinds/design/explore/space.h"

/** A plan, in 32 bytes. */
struct search_note {
    double least_s; /**< no bandwidths make the step shorter: its time with exchange free */
    uint32_t nth;   /**< of those of its shape, in the order in which they are walked */
    struct search_choice choice;
};

enum { SEARCH_LEAVES = 8 };

/** The plans of one shape. What is kept of them grows as far as passes read. */
struct search_chapter {
    int32_t shape;
    double floor_s; /**< no plan of it takes less with exchange free; INFINITY: none fits */
    enum { CHAPTER_BLANK, CHAPTER_UNDER_WAY, CHAPTER_WRITTEN } state;
    struct search_leaf {
        struct search_note *notes; /**< shape [n], owned */
        int64_t n;
    } leaves[SEARCH_LEAVES]; /**< shape [n_leaves]: one after another ascending by time */
    int32_t n_leaves;
    int64_t n; /**< of all leaves */
    bool ends; /**< there are no others: else these are the first of them */
};

/** All legal plans of a search that fit the NPU's memory, shape by shape; bandwidths, prices and constraints
 * are not looked at. A chapter is written when a pass first needs it. Release with search_book_free(). */
struct search_book {
    const struct search_space *space; /**< borrowed, as the next two */
    const struct design_point *study;
    const struct training *base;
    struct search_shapes shapes;
    struct search_chapter *chapters; /**< shape [n_chapters], owned; ascending by floor_s */
    int32_t n_chapters;
    struct search_desk *desk;     /**< what changes as chapters are written; owned */
    bool any_network;             /**< nothing is counted: its notes are of any network of so many NPUs */
    bool counted;                 /**< all plans were looked at: `counts` are of all of them, else of none */
    struct search_result counts;  /**< finds nothing */
    struct search_shelf_book *of; /**< of a shelf, which owns what is owned; NULL: none */
};

enum {
    SEARCH_MOST_NOTED = 1 << 20, /**< 32 MB */
    SEARCH_CHAPTER_NOTED = 128   /**< of one chapter before a pass: one that reads on writes it anew */
};

/** @param most  notes that are kept: others are written anew by every pass that needs them.
 * @param counts  look at all plans, for their counts. ERR_NOMEM; then @p b is empty. */
int search_book_build(struct search_book *b, const struct search_space *space, const struct design_point *s,
                      const struct training *base, int64_t most, bool counts, struct err *e);
void search_book_free(struct search_book *b);
/** Notes that are kept. */
int64_t search_book_kept(const struct search_book *b);

/**
 * Books that were begun, for questions that differ in nothing that a book reads: model, start of the plan,
 * search, NPU, their number, and where plans are counted the sizes of dimensions. Opaque; threads may share
 * one. Unused books are dropped, those that were not asked for the longest first, where there are more than
 * some 64 MB of notes.
 */
struct search_shelf;
/** NULL: no memory. */
struct search_shelf *search_shelf_new(void);
void search_shelf_free(struct search_shelf *shelf); /**< NULL is fine; all its books are closed */
/** Books that are opened from now on count their plans. */
void search_shelf_count(struct search_shelf *shelf);

/** search_work_s() of search_sample_s(), which is found once for all batches and numbers of NPUs. */
double search_shelf_work_s(struct search_shelf *shelf, const struct search_space *space,
                           const struct training *base, const struct topo_npu *npu);

/** search_book_build(), or the same book from the shelf (NULL: there is none), where a thread that asks for
 * one that another is building waits. Close it. Errors as search_book_build(). */
int search_book_open(struct search_book *b, struct search_shelf *shelf, const struct search_space *space,
                     const struct design_point *s, const struct training *base, struct err *e);
void search_book_close(struct search_book *b, struct search_shelf *shelf);

/** What is counted of all plans; of a book of a shelf once. ERR_NOMEM. */
int search_book_count(struct search_result *counts, const struct search_book *b, struct search_shelf *shelf,
                      struct err *e);

/** No plan takes less with exchange free [s]; INFINITY: there is none. Writes nothing. */
double search_book_floor_s(const struct search_book *b);
/** The least time of any plan with exchange free [s]; INFINITY: none fits. ERR_NOMEM. */
int search_book_least(double *least_s, const struct search_book *b, struct err *e);

/** The best few so far. Reserve; release with search_best_free(). */
struct search_best {
    struct search_found *found; /**< shape [n], owned; best first */
    int32_t n, most;
    bool nearest; /**< only the best, what ties with it and the next of the others have to be found: the last
                     is that next */
    bool ties;  /**< all that ties with the best is to be given, so that their order decides which is kept */
    bool folds; /**< plans that are search_alike() are one of the few, the best of them */
    struct incumbent last; /**< the last of them, once they are as many as are asked for */
};

/** @p margin as in struct incumbent. */
int search_best_reserve(struct search_best *b, int32_t most, double margin, struct err *e);
void search_best_free(struct search_best *b);
/** A qsort() order of struct search_found: less value, then less memory, then earlier. */
int search_by_value(const void *a, const void *b);
/** An order in which plans are equal whose value and memory are the same to nine digits: often the same
 * degrees in another order. */
int search_alike(const struct search_found *a, const struct search_found *b);
/** What a plan has to beat that is taken by one of several threads. */
double search_best_limit(const struct search_best *b);
/** Sorted insertion, each rank once (where it folds, a rank is to be given once), by several threads at once:
 * plans of equal value keep the lower rank. */
void search_best_add(struct search_best *b, const struct search_found *f);

/** A candidate that fits: a plan, and one of its places. */
struct search_candidate {
    const struct plan *plan; /**< its order is not that of the place */
    const struct plan_cost *cost;
    double memory_B;
    int64_t rank;
    struct search_clock *clocks; /**< shape [SEARCH_WAYS]: of each of the pass's ways, at this place */
    struct search_forms *forms;  /**< at this place */
    const enum plan_axis *order; /**< shape [N_PLAN_AXES] */
    const struct plan_place *place;
};

/** Its plan, memory and rank; the rest is zero. */
struct search_found search_found_of(const struct search_candidate *c);

enum { SEARCH_WAYS = 2 /**< sets of bandwidths that a pass may time a candidate at */ };

struct search_pass {
    struct collective_way ways[SEARCH_WAYS];
    int32_t n_ways;
    /** Of the first of the ways, see struct search_clock; NULL: none. */
    const double *price;
    double rent;
    /** Is a plan of no use if it takes @p least_s at the first of the ways, or longer? Then no place of it is
     * taken, nor any plan with a greater time. */
    bool (*skip)(void *with, double least_s);
    /** Cannot fail: lack of memory is noted. Called by several threads at once, as skip is. */
    void (*take)(void *with, const struct search_candidate *c);
    void *with;
};

/** Of all that a step's time depends on of dimensions: tiers and planes are prices alone. */
uint64_t search_hash_dims(uint64_t hash, const struct topo_network *net);
/** The rows of a split; their names do not matter. */
uint64_t search_hash_rows(uint64_t hash, const struct alloc_problem *p);
/** Is the least time of the book's plans at the bandwidths of @p way (NULL: with exchange free) known, from
 * an earlier pass on as fast a network? *least_s: that, or @p most_s where no plan takes less; else it stays.
 * Of a book on no shelf nothing is. */
bool search_book_find_time(double *least_s, const struct search_book *b, const struct collective_way *way,
                           double most_s);
/** For the next; without memory nothing. */
void search_book_note_time(const struct search_book *b, const struct collective_way *way, double least_s,
                           double most_s);
/** Keep @p size bytes for whoever asks with the same key next, in place of some others. Key 0, or a book on
 * no shelf: nothing. */
void search_book_store(const struct search_book *b, uint64_t key, const void *data, size_t size);
/** A copy of them, which the caller owns; NULL: there are none. */
void *search_book_fetch(size_t *size, const struct search_book *b, uint64_t key);
/** The same of the best few that the space asks for, into @p best, which is reserved and empty. */
bool search_book_find_plans(struct search_best *best, const struct search_book *b,
                            const struct collective_way *way);
void search_book_note_plans(const struct search_book *b, const struct collective_way *way,
                            const struct search_best *best);

/** Begin from the plans that an earlier search of the book found best, at any bandwidths: at those of @p way
 * they say how slow the last of the best few is at most. What is found does not depend on it. ERR_NOMEM. */
int search_book_recall(struct search_best *b, const struct search_book *book,
                       const struct collective_way *way, struct err *e);
/** What tells the book from others, whatever the network; 0: it is on no shelf. */
uint64_t search_book_question(const struct search_book *book);
/** A plan that is good on some network. */
struct search_known {
    uint64_t question; /**< whose book has it, whatever the network; 0: none */
    struct search_found found;
};
/** Are they the same plan, in whatever order? */
bool search_is_known(const struct search_known *x, const struct search_known *y);

enum { SEARCH_RECENT = 16 };
/** Plans that splits of a book of a shelf found best, the last first, shape [SEARCH_RECENT]. Returns how
 * many. */
int32_t search_book_recent(struct search_known *out, const struct search_book *book);
/** For the next split, whose result must not depend on it. */
void search_book_note(const struct search_book *book, const struct search_best *b);

/** Take a plan that a search of the same question found, in each of its orders on this network; candidates
 * have no clocks, and forms that suit any bandwidths of @p way. ERR_NOMEM. */
int search_book_lay(const struct search_book *book, const struct search_found *f,
                    const struct collective_way *way,
                    void (*take)(void *with, const struct search_candidate *c), void *with, struct err *e);
/** Short lists beside the book, of a shelf's alone; else NULL. */
struct shortlists *search_book_lists(const struct search_book *book);
/** The pair of a candidate, without its bound. */
struct search_pair search_pair_of(const struct search_candidate *c);
/** How pairs of a list are taken. */
struct search_taking {
    struct collective_way way;         /**< of the network that they are taken on */
    double weight;                     /**< of the workload */
    double (*limit)(const void *with); /**< pairs of a bound above it, and all after them, are not taken */
    bool (*skips)(const void *with, const struct alloc_cut *path); /**< nor those whose path it skips */
    void (*take)(void *with, const struct search_candidate *c, const struct search_pair *pair);
    void *with;
};

/** Take pairs of a list of this book in order; candidates as those of search_book_lay(). ERR_NOMEM. */
int search_book_take(const struct search_book *book, const struct shortlist *list,
                     const struct search_taking *how, struct err *e);
/** For the next search; without memory nothing. */
void search_book_remember(const struct search_book *book, const struct search_best *b);

/** Takes every candidate of the book, but for those that are skipped; ranks do not depend on threads.
 * ERR_NOMEM. */
int search_book_pass(const struct search_book *b, const struct search_pass *pass, struct err *e);

#endif
