/** @file What is not known for sure: prices, traffic, NPUs as distributions; percentiles of a design's time
 * and cost. */
#ifndef KINDS_DESIGN_EXPLORE_UNCERTAIN_H
#define KINDS_DESIGN_EXPLORE_UNCERTAIN_H

#include "kinds/design/answer/columns.h"
#include "kinds/design/answer/design.h"

enum {
    UNCERTAIN_MAX_KEYS = 16,
    UNCERTAIN_MAX_DRAWS = 100000,
};

enum uncertain_kind {
    UNCERTAIN_NORMAL,     /**< mean, standard deviation; what is farther than 4 of these is drawn again */
    UNCERTAIN_UNIFORM,    /**< lowest, highest */
    UNCERTAIN_LOGNORMAL,  /**< median, factor of one standard deviation; 4 of these at most, likewise */
    UNCERTAIN_TRIANGULAR, /**< lowest, typical, highest */
};

struct uncertain_key {
    char *path; /**< owned: as in --set */
    enum uncertain_kind kind;
    double x[3];
    bool relative; /**< what is drawn is a factor of the study's own value */
};

/** The study's `uncertain`. Release with uncertain_free(); all zero: nothing is uncertain. */
struct uncertain {
    int64_t draws, seed;
    double percentiles[UNCERTAIN_MAX_PERCENTILES]; /**< 0 to 100, ascending */
    int32_t n_percentiles;
    struct uncertain_key keys[UNCERTAIN_MAX_KEYS];
    int32_t n_keys;
    double *drawn;   /**< shape [draws][n_keys], owned: the same for every point */
    bool of_system;  /**< percentiles of what `system` says, too */
    bool model;      /**< weft's own error on steps of models is drawn too: kinds/design/answer/evidence.h */
    double *model_z; /**< shape [draws], owned: standard deviations of it */
};

extern const struct section uncertain_section, uncertain_key_section;

/**
 * Read map @p id of a study, -1 = none, and draw. A key's draws depend on seed and path alone: not on the
 * point, nor on other keys. @p seed is used where the map has none.
 * @param[out] u  uninitialised; empty after failure.
 * @return 0; ERR_PARSE, ERR_RANGE with the place: no keys or too many, not one distribution, values out of
 *         order, a key that the split depends on; ERR_NOMEM. O(draws * keys).
 */
int uncertain_read(struct uncertain *u, const struct yaml_doc *doc, yaml_id id, int64_t seed, struct err *e);
void uncertain_free(struct uncertain *u);

/** A low and a high value of a distribution: its ends (true); of one that has none, normal or lognormal, its
 * 10th and 90th percentile. */
bool uncertain_low_high(double x[2], const struct uncertain_key *k);

/** Nothing is drawn. */
bool uncertain_is_empty(const struct uncertain *u);

/** How many columns: n_percentiles for each quantity, 0 where nothing is uncertain. At most
 * UNCERTAIN_MAX_COLUMNS. */
int32_t uncertain_n_columns(const struct uncertain *u);
/** Column @p i: time_p10_s .., then cost_p10_usd .., then, with `system`, of each number of system_columns:
 * usd_year_p10 ..; known from the study before any point is run. */
void uncertain_column(struct made_column *out, const struct uncertain *u, int32_t i);

/**
 * Percentiles of time [s], cost [USD] and what `system` says of design @p d as it
 * is: the split stays, and each draw asks what it then takes and costs. @p values of shape
 * [uncertain_n_columns()], in the order of the columns; NaN for what some draw does not have (costs without
 * prices, tokens that are not known). Plans that were searched stay as well. With u->model each
 * draw's time is multiplied by exp(z spread), spread that of the measured steps of the design's kind,
 * weighted by the workloads' shares of the time; times and what follows from them are NaN where a workload
 * has no such steps.
 *
 * First every key is held at both ends of what can be drawn of it: a study that is wrong there is ERR_RANGE
 * or ERR_PARSE, with the place of the distribution and what is wrong ("study.yaml:9:5: uncertain.keys.KEY can
 * be -3: ..."); also a key that has no number at this point. ERR_NOMEM. Thread-safe. O(draws * what is read
 * again): prices or keys of `system` alone some us a draw; parts of a network or an NPU as much as reading
 * the workload from the document.
 */
int uncertain_fill(double *values, const struct uncertain *u, const struct design *d, struct err *e);

/** Which quantity a column is of uncertain_draws(): "time_s", "cost_usd", a number of `system`; -1: none. */
int32_t uncertain_quantity(const struct uncertain *u, const char *column);
/** What uncertain_fill() takes percentiles of: quantity @p q of each draw, shape [u->draws]. Errors likewise.
 */
int uncertain_draws(double *values, const struct uncertain *u, const struct design *d, int32_t q,
                    struct err *e);

struct search_shelf;

/** What a study of designs has beside all others: study->own; NULL: nothing is uncertain, and points share no
 * books. */
struct design_own {
    struct uncertain uncertain;
    struct search_shelf *shelf; /**< owned: books of plans that its points share */
    struct column *columns;     /**< owned: of its rows */
    struct made_column *made;   /**< owned: those of them that are percentiles */
};

#endif
