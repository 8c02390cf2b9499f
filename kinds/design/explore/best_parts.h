/**
 * @file What no design of a set of points, or of one, has less of: bounds of time, price, power and cost a
 * year, from cheap to dear, and the columns that they bound.
 */
#ifndef KINDS_DESIGN_EXPLORE_BEST_PARTS_H
#define KINDS_DESIGN_EXPLORE_BEST_PARTS_H

#include "base/hash.h"
#include "kinds/design/ask/point.h"
#include "kinds/design/explore/search.h"

/** What a set of points, or one, is ruled out by, from cheap to dear. */
enum best_bound {
    BEST_FLOOR,  /**< compute at the peak; price and power of NPUs and servers */
    BEST_FREE,   /**< the best plan with exchange free */
    BEST_POINT,  /**< price and power with the network of the point, where its bandwidths are given */
    BEST_TIME,   /**< the best plan at the bandwidths of the point, where they are given */
    BEST_WIDEST, /**< the best plan at the most bandwidth that limits leave each dimension alone */
    BEST_SIZES,  /**< the best plan and split on switches of the same sizes, without latency */
    BEST_UPTO,   /**< the best plan and split of the widest total, or of less */
    BEST_PRICED, /**< the best plans and splits of the point, by time and price together */
    BEST_SPLIT,  /**< the best plan and split of a searched workload */
    N_BEST_BOUNDS
};
/** For people: "the best plan with exchange free". */
extern const char *const best_bound_words[N_BEST_BOUNDS];

/** No design of the points has less of any; 0: nothing is known. */
struct best_parts {
    double time_s, usd, watt, usd_year, usd_per_Mtoken; /**< INFINITY time_s: no plan fits the memory */
    double watt_site;                                   /**< at the meter */
    double tokens;                                      /**< of a step; 0: not known */
    double total_GBps;                                  /**< that of a row; 0: not known */
    bool priced;       /**< usd, watt, watt_site and usd_year are those of a row, to the last digit */
    double likely_usd; /**< of one design that is good: no bound; 0: not known */
    bool beaten;       /**< by what was found, whatever their times */
};

/** Between what a column lies, but for rounding where the two differ; -INFINITY and INFINITY: not known. */
struct best_range {
    double low, high;
};
/** Of a column of rows (kinds/design/answer/columns.h); *known = false: nothing bounds it. */
struct best_range best_column(bool *known, const struct best_parts *p, const char *name);

/** The least time over all networks of the same sizes. */
struct best_time {
    uint64_t key;
    double time_s;
};

/** Of what was found so far. Zero is empty; release with best_times_free(). */
struct best_times {
    struct best_time *list; /**< shape [n], owned */
    int32_t n, cap;
    struct hash by_key;
};
/** Of key 0: nothing. ERR_NOMEM. */
int best_note_time(struct best_times *t, const struct best_time *fresh, struct err *e);
void best_times_free(struct best_times *t);

/** Is a node ruled out that has no less than @p p? The more there is of any, the sooner it is. */
typedef bool best_rules_out(const void *with, const struct best_parts *p);

/** What a bound is found for; all borrowed. */
struct best_aim {
    best_rules_out *rules_out;
    const void *with;
    struct search_shelf *shelf;
    const struct best_times *times;
    uint64_t work;           /**< of all that a set is, but for its network and what its points differ in */
    struct best_time *fresh; /**< one that was found; key 0: none */
    uint64_t
        *asks; /**< not NULL: BEST_PRICED only reads lists; the one that would have to be written, or 0 */
    const struct search_known *known; /**< shape [n_known]: plans that are good on other networks */
    int32_t n_known;
    struct search_known *fresh_known; /**< one more; question 0: none */
};

/** Raise @p p to what @p s, a point, cannot have less of, nor any that it stands for. As sharp as is of use.
 * Errors of a search. */
int best_bound_parts(struct best_parts *p, enum best_bound by, const struct design_point *s,
                     const struct best_aim *aim, struct err *e);
/** Are bounds of plan and split those of the least time of one workload whose plan is searched? */
bool best_is_split(const struct design_point *s);

#endif
