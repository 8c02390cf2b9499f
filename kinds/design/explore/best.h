/**
 * @file The best few points of a study of designs, or its front, proved, without solving every point.
 *
 * Points are taken by lower bounds of what is sought, the least first, from sets of points down to single
 * ones, and a point is solved, as a sweep solves it, only while its bound is not above the last of the best,
 * or no point of the front beats its bounds. What bounds them is in best_parts.h.
 */
#ifndef KINDS_DESIGN_EXPLORE_BEST_H
#define KINDS_DESIGN_EXPLORE_BEST_H

#include "kinds/design/explore/best_parts.h"
#include "study/keep.h"
#include "study/study.h"

enum { BEST_MAX_FACTORS = 2, BEST_MAX_TOP = 1000 };

/** A column that is to be small or large, or the product of two that are to be small. */
struct best_by {
    struct keep_column factors[BEST_MAX_FACTORS]; /**< shape [n] */
    int32_t n;
};

/** "time_s", "max:mfu" or "time_s*cost_usd" over @p columns. Errors as keep_take_column(). */
int best_take_by(struct best_by *by, const struct keep_rule *rule, const char *text,
                 const struct table *columns, struct err *e);
/** What best_take_by() reads for an objective; false: rows have no column of it. */
bool best_name_objective(char *out, size_t size, enum alloc_objective objective);

/** How far it is. */
struct best_state {
    int64_t n_points, n_ruled_out, n_solved;
    int64_t n_front;     /**< points on the front so far */
    double value, bound; /**< as rows have them; NaN: none yet, and of a front */
};
typedef void best_progress(void *context, const struct best_state *state);

struct best_ask {
    const struct study *study;    /**< of designs; all borrowed */
    const struct table *columns;  /**< of its rows */
    const struct keep_rule *rule; /**< where: limits over columns; front, but `per`: see sweep.part */
    struct best_by by;            /**< passed over for a front */
    int32_t top;  /**< so many that differ in what is sought by more than a tie; 0: the front of
                     the rule */
    int32_t ties; /**< so many that are as good are listed with each of these */
    int32_t threads;
    int32_t meets;  /**< sets of points that are looked at before one of them is solved; 0: so many
                       that it takes a second */
    bool has_rival; /**< what is worse than point `rival` is not looked for; of top 1 */
    int64_t rival;
    best_progress *progress; /**< NULL: nobody asks */
    void *context;
};

/** What became of a limit of the rule. */
struct best_limit {
    int64_t n;    /**< points that it rules out, by bounds or solved */
    double least; /**< of its left-hand side less its right-hand side (the other way for >=) over these */
    bool may_leave_out; /**< false: all designs that satisfy those before it were seen, or are known, to
                           satisfy it */
};

/** Release with best_free(). */
struct best_answer {
    struct table rows;           /**< of points, as a sweep has them: the best of each value, best first; of
                                    equals the cheaper one (usd_year, else cost_usd), then the lower point.
                                    Of a front all, by its columns */
    double values[BEST_MAX_TOP]; /**< shape [rows.n_rows]: of `by`, as rows have it; of a front none */
    int64_t
        n_ties[BEST_MAX_TOP]; /**< shape [rows.n_rows]: how many more are as good as the row; of a front 0 */
    struct table ties;        /**< of these, the first few of each row, in its order */
    double bound; /**< no point that was not solved is better; NaN: all were solved; infinite: it is
                     not known */
    double rival; /**< what is sought at that point; NaN: none was named, or it has no value */
    bool stopped; /**< work_stop(): `open` points are neither solved nor ruled out */
    bool proved;  /**< of the whole: nothing is open, and all that was solved is itself proved */
    int64_t n_points, n_left_out, n_solved, n_infeasible, n_open;
    int64_t n_unproved; /**< solved points whose own proof falls short */
    int64_t n_above;    /**< solved points whose bound was above their value: a fault of the program */
    int64_t n_ruled_out[N_BEST_BOUNDS];
    struct best_limit limits[KEEP_MAX_LIMITS];
    struct text why; /**< of the first point without a design */
};

/** @return 0, also where no point has a design; ERR_PARSE, ERR_RANGE: a limit that cannot be read; ERR_NOMEM.
 * The same for any number of threads. */
int best_find(struct best_answer *out, const struct best_ask *ask, struct err *e);
void best_free(struct best_answer *a);

/** What is sought at points @p list, as rows have it, shape [n]; NaN: no design, or one beyond the limits.
 * ERR_NOMEM, and errors of the limits. */
int best_solve(double *values, const struct best_ask *ask, const int64_t *list, int32_t n, struct err *e);

#endif
