/**
 * @file Pairs of a plan and its place, each with its own best split: which may be the best, told by bounds
 * and by splits that are met on the way, with as few splits solved as can be.
 */
#ifndef KINDS_DESIGN_EXPLORE_PAIRS_H
#define KINDS_DESIGN_EXPLORE_PAIRS_H

#include "kinds/design/explore/book.h"
#include "kinds/design/explore/joint.h"

/** How the study times collectives at bandwidths @p bw_Bps, in closed form. */
struct collective_way search_way(const struct design_point *s, const double *bw_Bps);

/** The best few at bandwidths @p bw_Bps into @p out, which is reserved. ERR_NOMEM. */
int search_find_fastest(struct search_best *out, const struct search_book *book, const double *bw_Bps,
                        struct err *e);
/** The best plans at bandwidths @p bw_Bps by their time in closed form, @p most of them. ERR_NOMEM; free @p
 * out in any case. */
int search_fastest(struct search_best *out, const struct search_book *book, const double *bw_Bps,
                   int32_t most, struct err *e);

/** The step of @p plan. Release with step_free(). ERR_NOMEM; ERR_RANGE: the plan does not lie there. */
int search_build_tree(struct step_tree *tree, const struct plan *plan, const struct training *base,
                      const struct topo_network *net, struct err *e);

/** The step of @p plan in closed form, times the weight of the study's workload, with algorithms for @p
 * bw_Bps. Release with step_fn_free(). ERR_NOMEM. */
int search_compile_plan(struct step_fn *fn, const struct plan *plan, const struct training *base,
                        const struct design_point *s, const double *bw_Bps, struct err *e);

/** May each dimension be taken for a switch, which never loads a port more than another shape with its usual
 * algorithm does? Dense models alone: where copies of tokens merge depends on the network. The first workload
 * is a model. */
bool search_has_sizes(const struct design_point *s);
/** A network of the same sizes than which none is faster: all switches, and messages take no time. */
void search_take_switches(struct design_point *s);

/** What is better by less than this is as good: it covers the gap of a split and the rounding of bounds.
 * Where a price or a time limit makes many plans equal, one of them is enough. */
#define PAIRS_AS_GOOD (0.5 * ALLOC_GAP)

/** One workload's plans and the split that they have in common. */
struct splitting {
    const struct search_book *book;
    double weight;           /**< of the workload */
    bool hunted;             /**< search_hunt_pairs(): bounds are so sharp that few plans are split */
    struct alloc_kept *kept; /**< borrowed; NULL: none */
    struct joint joint;
};

/** Of the plans of @p book, borrowed. Errors of joint_begin(). */
int splitting_begin(struct splitting *x, const struct search_book *book, struct err *e);
/** Split for the plan of @p f, or built; value INFINITY where there is none. Free @p answer. Errors of
 * joint_solve() and search_compile_plan(). */
int splitting_solve(struct search_found *f, struct alloc_answer *answer, const struct splitting *x,
                    struct err *e);

/** Candidates that a bound does not rule out. Of too many the most promising are kept. */
struct survivors {
    const struct splitting *of;
    struct search_found *list; /**< shape [n], owned; value: the bound; time_s: what they are kept by */
    int32_t n, cap, most;
    double dropped; /**< least bound of others */
    int64_t n_dropped;
    bool failed;
};
enum { SURVIVORS_MOST = 1 << 17 };

/** None so far; of more than @p most some are dropped. */
void survivors_begin(struct survivors *s, const struct splitting *x, int32_t most);
/** Add one, by one thread at a time; lack of memory is noted. */
void survivors_add(struct survivors *s, const struct search_found *f);
/** Sort them by their bounds. */
void survivors_sort(struct survivors *s);
/** Drop what is too many. */
void survivors_keep_most(struct survivors *s);
/** One pass over all plans with two ways of timing: at the most bandwidth that rows allow, and at the
 * reference split. @p take adds to @p s, which was begun. ERR_NOMEM. */
int survivors_pass(struct survivors *s, bool (*skip)(void *with, double least_s),
                   void (*take)(void *with, const struct search_candidate *c), void *with, struct err *e);

/** A pair of plan and place that may be the answer of a point, with a cut below its step. */
struct search_rival {
    double bound; /**< no split of it takes less [s], weighted as the cut */
    struct alloc_cut cut;
};

/** All of them. Release with search_rivals_free(). */
struct search_rivals {
    bool reads_only; /**< asked: no list is to be written, nor are all plans to be passed for that */
    uint64_t asks;   /**< the list that would have to be; 0: none */
    struct search_rival *list; /**< shape [n], owned */
    int32_t n, cap;
    double most; /**< the answer takes no more [s]; < 0: it is not known which pairs may be the answer */
    double bw_Bps[TOPO_MAX_DIMS]; /**< a split of one of them that takes no more */
};
void search_rivals_free(struct search_rivals *r);

/**
 * A pass over pairs. A plan is touched at the reference split, and again where that cut bounds it: both say
 * what it takes at least, the second what a pair is worth that there is, which rules out others as they come.
 */
struct pair_hunt {
    struct survivors left;
    struct search_best met; /**< the best that were met, at bandwidths that rows allow: what is worth more
                               than the last of them is of no use */
    struct search_rivals *rivals; /**< those that are left, with their cuts; NULL: nobody asks */
};

/** Is a price of the total, beside those of other rows, what limits a split? Then one pass tells pairs that
 * may be among the best, and no plan is split for a value that others have to beat. */
bool search_is_hunted(const struct splitting *x);

/** A good plan gives the split at which others are touched and, where not the total alone has a price, the
 * prices: of those that are known, in all their places, or the fastest. Errors of a split. */
int search_price_pairs(struct splitting *x, const struct search_known *known, int32_t n_known, struct err *e);

/** Survivors in the order of their bounds, those that came before the best was known left out. ERR_NOMEM. */
int search_find_pairs(struct pair_hunt *p, const struct splitting *x, struct err *e);

/** The same question on networks of the same sizes, for a list of what may be the best on any of them. */
struct sizes;
/** Ask it of @p x, which is borrowed; NULL in *out where lists are of no use. Release with free(). ERR_NOMEM.
 */
int sizes_begin(struct sizes **out, struct splitting *x, struct err *e);
/** Such a network was answered: a list is worth writing for the next. NULL: nothing. */
void sizes_ask(const struct sizes *z);

/** Survivors as search_find_pairs() tells them, from a list where there is one. p->left.of and p->met are
 * set. */
int search_hunt_pairs(struct pair_hunt *p, struct splitting *x, struct sizes *z, struct err *e);

/** Those of @p x that may be its answer, from a list where there is one. @p out: zero but for what is asked.
 * Errors of search_find_pairs(). */
int search_hunt_rivals(struct search_rivals *out, struct splitting *x, struct err *e);

#endif
