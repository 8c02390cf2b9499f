/** @file The plans that a search goes through, written down once, and passes over them. */
#ifndef KINDS_DESIGN_EXPLORE_BOOK_H
#define KINDS_DESIGN_EXPLORE_BOOK_H

#include "kinds/design/explore/candidates.h"
#include "kinds/design/explore/space.h"

struct search_note {
    double least_s; /**< no bandwidths make the step shorter: its time with exchange free */
    double memory_B;
    int64_t rank; /**< of its first place */
    struct search_choice choice;
};

/** Some notes in a row of one shape, ascending by time. */
struct search_chapter {
    int64_t first, n;
    int32_t shape;
    double least_s;
};

/** All legal plans of a search that fit the NPU's memory; bandwidths, prices and constraints are not looked
 * at. Release with search_book_free(). */
struct search_book {
    const struct search_space *space; /**< borrowed, as the next two */
    const struct design_point *study;
    const struct training *base;
    struct search_shapes shapes;
    struct search_note *notes;       /**< shape [n], owned */
    struct search_chapter *chapters; /**< shape [n_chapters], owned; ascending by time */
    int64_t n, cap;
    int32_t n_chapters, cap_chapters;
    double horizon_s;            /**< plans that take as long with exchange free, or longer, are not noted */
    struct search_result counts; /**< of what was looked at; finds nothing */
};

/** ERR_NOMEM; then @p b is empty. */
int search_book_build(struct search_book *b, const struct search_space *space, const struct design_point *s,
                      const struct training *base, struct err *e);
void search_book_free(struct search_book *b);

enum { SEARCH_WAYS = 2 /**< sets of bandwidths that a pass may time a candidate at */ };

/** What a thread does with a candidate; @p mine is its own. It cannot fail: it notes lack of memory in mine.
 */
typedef void (*search_take)(void *mine, const struct search_candidate *c);

/** Is a plan of no use if it takes @p least_s at the first of the pass's ways, or longer? Then no place of it
 * is taken, nor any plan with a greater time. */
typedef bool (*search_skip)(void *mine, double least_s);

struct search_pass {
    struct collective_way ways[SEARCH_WAYS];
    int32_t n_ways;
    search_take take;
    search_skip skip;
    void **mine; /**< shape [search_threads()] */
};

int32_t search_threads(void);

/** Takes every candidate of the book, but for those that are skipped; ranks do not depend on threads.
 * ERR_NOMEM. */
int search_book_pass(const struct search_book *b, const struct search_pass *pass, struct err *e);

#endif
