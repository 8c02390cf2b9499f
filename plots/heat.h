/**
 * @file Designs sorted into cells by two degrees of parallelism: a map per network, workload, goal, bandwidth
 * and what else a sweep varies beside the plan.
 */
#ifndef PLOTS_HEAT_H
#define PLOTS_HEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "plots/names.h"
#include "plots/rows.h"

enum { HEAT_MAX_MAPS = 6, HEAT_MAX_VALUES = 16 };

enum heat_degree { HEAT_TP, HEAT_PP, HEAT_DP, HEAT_CP, HEAT_EP, N_HEAT_DEGREES };

enum heat_state {
    HEAT_EMPTY,   /**< no row */
    HEAT_NO_PLAN, /**< none is solved */
    HEAT_MISFIT,  /**< solved, but needs more memory than an NPU has */
    HEAT_FITS,
};

/** The best that rows of one place come to: the fastest that fits, else the one that needs least memory. */
struct heat_cell {
    enum heat_state state;
    double time_s, mfu, memory_GB; /**< of a solved one; NaN where the table has none */
};

/** What rows of a map have in common. */
enum heat_word { HEAT_NETWORK, HEAT_WORKLOAD, HEAT_OBJECTIVE, HEAT_AXES, N_HEAT_WORDS };

struct heat_key {
    int32_t word[N_HEAT_WORDS]; /**< index into `words`; -1 = blank */
    double total_GBps;          /**< NaN = blank; 0 = of no concern to the map */
};

struct heat_map {
    struct heat_key key;
    double best_s;                                           /**< of its cells; NaN = none fits */
    struct heat_cell cell[HEAT_MAX_VALUES][HEAT_MAX_VALUES]; /**< [row][column] */
};

struct heat_row;

/** Zero-initialise; release with heat_free(). */
struct heat {
    enum heat_degree row, column;
    int32_t rows[HEAT_MAX_VALUES], columns[HEAT_MAX_VALUES]; /**< degrees, rising */
    int32_t n_rows, n_columns;
    int32_t n_left_rows, n_left_columns; /**< more degrees than there is room for */
    struct heat_map *maps;               /**< shape [n_maps], owned */
    int32_t n_maps;
    bool more_maps;                   /**< than these */
    bool any_total;                   /**< a map has designs of all bandwidths */
    int64_t n_blank;                  /**< rows that tell no degrees, or no time */
    struct names words[N_HEAT_WORDS]; /**< owned texts */
    struct heat_row *read;            /**< owned: the rows as read */
    int64_t n_read;
};

/** "tp", ...; NULL-terminated. */
extern const char *const heat_degree_words[N_HEAT_DEGREES + 1];

/**
 * Read the rows of @p r that pass its filters. Rows and columns are tp and pp where both vary, else the two
 * degrees that vary most, those that the sweep sets before those that follow. A row that could not be read
 * has degrees by the axes of the sweep
 * ("workload.parallel.tp"), and stands in every map that it may belong to. Time O(rows) times how many values
 * degrees and words have.
 * @return 0; ERR_PARSE: a cell holds what cannot be, or no row is left; ERR_NOMEM
 */
int heat_read(struct heat *h, const struct rows *r, struct err *e);
void heat_free(struct heat *h);

#endif
