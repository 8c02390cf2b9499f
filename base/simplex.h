/** @file Linear programmes that grow by rows and columns and are solved again from where they stand; wraps
 * GLPK. */
#ifndef BASE_SIMPLEX_H
#define BASE_SIMPLEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/**
 * Opaque: minimise cost.x subject to lo <= row.x <= hi for every row and lo <= x <= hi for every column. Rows
 * and columns are numbered from 0 in the order of adding.
 *
 * Programmes on different threads do not know of each other. One programme stays on one thread: what GLPK
 * allocates belongs to the thread, and is given back when its last programme is freed, or when memory lacks
 * for one of them: then all programmes of the thread are gone, each call of them gives ERR_NOMEM, and they
 * can only be freed.
 */
struct simplex;

enum simplex_status { SIMPLEX_OPTIMAL, SIMPLEX_INFEASIBLE, SIMPLEX_UNBOUNDED };

/** An empty programme; release with simplex_free(). @return 0 or ERR_NOMEM, then *out is NULL. */
int simplex_build(struct simplex **out, struct err *e);
void simplex_free(struct simplex *x); /**< NULL is fine */

/**
 * Append a row with its entries in columns that are there, or a column with its entries in rows that are.
 * Bounds may be infinite; where lo = hi the sum or value is fixed. @p columns and @p rows: shape [n], each
 * number once; NULL with n = 0. ERR_NOMEM: the programme can only be freed.
 */
int simplex_add_row(struct simplex *x, double lo, double hi, int32_t n, const int32_t *columns,
                    const double *values, struct err *e);
int simplex_add_column(struct simplex *x, double cost, double lo, double hi, int32_t n, const int32_t *rows,
                       const double *values, struct err *e);

/**
 * Changes between two solves; the basis stays, so the next one from it is short. Numbers of columns and rows
 * are those of adding, from 0.
 */
void simplex_set_cost(struct simplex *x, int32_t column, double cost);
void simplex_set_bounds(struct simplex *x, int32_t column, double lo, double hi);

enum simplex_start {
    SIMPLEX_FROM_BASIS,    /**< where the last solve ended; what was added since is not in the basis */
    SIMPLEX_FROM_SLACKS,   /**< all columns at a bound */
    SIMPLEX_FROM_ADVANCED, /**< a triangular basis that GLPK looks for */
    SIMPLEX_FROM_SCALED,   /**< as from slacks, rows and columns brought to one size, which stay so */
    SIMPLEX_EXACT, /**< as from slacks, primal, in rational numbers: slow, for what is small and defeats the
                      others */
};

/** How to solve. */
struct simplex_way {
    enum simplex_start start;
    bool dual;          /**< dual simplex first, primal where that fails */
    double tolerance;   /**< of feasibility and of reduced costs, (0, 1) */
    int32_t most_steps; /**< gives up after so many; INT32_MAX = none */
};

/**
 * Solve by the first of @p ways that gives an answer. @p ways: shape [n_ways], n_ways >= 1.
 * @return 0, ERR_NOMEM or ERR_LIB (none did).
 */
int simplex_solve(enum simplex_status *status, struct simplex *x, const struct simplex_way *ways,
                  int32_t n_ways, struct err *e);

/**
 * After an optimal solve: x of a column; what the optimum rises by per unit of a row's bound. Of a
 * minimisation: a dual is >= 0 at an active lower bound of the row and <= 0 at an active upper one. O(1).
 */
double simplex_value(const struct simplex *x, int32_t column);
double simplex_dual(const struct simplex *x, int32_t row);

/** What of the cost of a column no row pays for: 0 where its value is between its bounds. */
double simplex_reduced(const struct simplex *x, int32_t column);

#endif
