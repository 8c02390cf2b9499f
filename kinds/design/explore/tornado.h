/**
 * @file One uncertain input at a time at its low and its high: what answers become, and which point is best.
 *
 * Inputs are the keys of `uncertain`; without it, or where all are asked for, the bands { low, typ, high } of
 * the study's prices and the published ranges of `system` (topo/ownership.h) and of its server. All others
 * stay as the study has them. Unlike percentiles, which keep the design, each end is a study of its own:
 * splits are solved and plans searched again.
 *
 * An answer is a column of rows. Of the points of the study the best by it is the decision; one that is not
 * solved, does not fit the memory, or is beyond a limit of `keep` is not chosen.
 */
#ifndef KINDS_DESIGN_EXPLORE_TORNADO_H
#define KINDS_DESIGN_EXPLORE_TORNADO_H

#include "base/stat.h"
#include "kinds/design/explore/runner.h"
#include "study/keep.h"

enum { TORNADO_MAX_ANSWERS = 8, TORNADO_MAX_INPUTS = 1024, TORNADO_MAX_DESIGNS = 10000000 };

/** What low and high are. */
enum tornado_range {
    TORNADO_ENDS,      /**< of a uniform or triangular distribution */
    TORNADO_P10_P90,   /**< percentiles of a normal or lognormal one, which has no ends */
    TORNADO_BAND,      /**< low and high of a price */
    TORNADO_PUBLISHED, /**< own_ranges */
    TORNADO_MEASURED,  /**< what measured steps leave open of each point's time: factors of it */
};
/** "ends", "p10, p90", "price", "published", "measured"; NULL-terminated. */
extern const char *const tornado_range_words[6];

struct tornado_input {
    char *path;  /**< owned: as in --set */
    char *label; /**< owned: of a price with the name of its part, else the path */
    char *place; /**< owned: "study.yaml:9:5", of the distribution; NULL: it has none */
    enum tornado_range range;
    const char *of;        /**< of TORNADO_PUBLISHED: x are factors of this key of `system`; NULL: values */
    bool of_point;         /**< x are those that the point's server, or whom it is like, has of the key */
    bool of_item;          /**< they are mtbf_low_h and mtbf_high_h beside the key */
    enum topo_grade grade; /**< of TORNADO_PUBLISHED */
    char *source;          /**< owned; likewise; else NULL */
    double x[2];           /**< low, high */
    bool relative;         /**< they are factors of what the point has */
};

struct search_shelf;

struct tornado_best {
    int64_t point; /**< -1: no point has a design */
    double value;
};

/** One answer with one input at an end. */
struct tornado_end {
    double value; /**< of the point that is best with all as it is; NaN: no design, or no finite value */
    bool stands;  /**< that point may be chosen */
    struct tornado_best best; /**< that point where it may be chosen and no other is better by 1e-9 */
};

/** Release with tornado_free(). */
struct tornado {
    const struct study *study;    /**< borrowed */
    struct search_shelf *shelf;   /**< owned: books of plans; ends that differ in prices look at the same */
    struct tornado_input *inputs; /**< shape [n_inputs], owned; in the order of the study */
    int32_t n_inputs, cap_inputs;
    struct keep_rule rule; /**< limits of `keep`, and the kind */
    struct keep_column answers[TORNADO_MAX_ANSWERS];
    int32_t n_answers;
    int64_t n_failed;                                 /**< points without a design, all as it is */
    struct err why;                                   /**< of the first of these that is an error */
    struct tornado_best typical[TORNADO_MAX_ANSWERS]; /**< all as the study has it */
    double *inputs_at; /**< shape [n_answers][n_inputs][3], owned: low, as it is, high at typical[a].point;
                          NaN: not known */
    struct tornado_end *ends; /**< shape [n_inputs][2][n_answers], owned */
};

/**
 * Find the inputs of @p s, opened as a sweep or as one point. @p all: also published ranges, and bands of
 * prices beside `uncertain`. An input that no point can have beside its other keys is left out.
 * @return 0; ERR_RANGE: nothing is uncertain; errors of uncertain_read() and of the first point. After a
 * failure there is nothing to free.
 */
int tornado_build(struct tornado *t, const struct study *s, bool all, struct err *e);
void tornado_free(struct tornado *t);

/**
 * Take the columns of @p list ("time_s,max:speedup"), NULL: of time_s, cost_usd and usd_per_Mtoken those that
 * the first point has, that of its objective first. ERR_USAGE.
 */
int tornado_ask(struct tornado *t, const char *list, struct err *e);

/** What an input is at point @p s: low, as it is, high; NaN: the point has no such number. */
void tornado_find_at(double at[3], const struct tornado_input *in, const struct design_point *s);

/** How many designs all of it is: points times (1 + 2 inputs). */
double tornado_designs(const struct tornado *t);

/** All points as the study has them. @return 0; the error of the first point where none has a design;
 * ERR_RANGE beyond TORNADO_MAX_DESIGNS; ERR_NOMEM. The same for any @p threads. */
int tornado_run_typical(struct tornado *t, int32_t threads, struct err *e);
/**
 * All points at both ends of all inputs. An end at which a point that was read cannot be read is ERR_RANGE or
 * ERR_PARSE, with the place of its distribution; ERR_NOMEM.
 */
int tornado_run_ends(struct tornado *t, int32_t threads, struct err *e);

const struct tornado_end *tornado_end(const struct tornado *t, int32_t input, int end, int32_t answer);
/** Largest less least of low, typical and high: INFINITY where an end has no finite value. 0: nothing moves
 * by more than 1e-9, which is what splits are proved to. Where typical[answer].point >= 0. */
double tornado_swing(const struct tornado *t, int32_t input, int32_t answer);

/** Is another point best with the input at this end? */
bool tornado_moves(const struct tornado *t, int32_t input, int end, int32_t answer);
/** Does what the point that is best has lie outside the range of an input, so that both ends are on one side
 * of it? */
bool tornado_misses_base(const struct tornado *t, int32_t input, int32_t answer);
/** Where that is to be mended: the place of the distribution; else that of the key in the point that is best,
 * of one that is not written the name of the study. ERR_NOMEM and errors of the point. */
int tornado_base_place(char *out, size_t n, const struct tornado *t, int32_t input, int32_t answer,
                       struct err *e);

/** What of an answer's money no input varies: the price of an item by its share of the whole; of the price of
 * work, the time of a step, whose share is 1. */
struct tornado_fixed {
    char what[96];
    double frac;
};
/** Of the best point of an answer in USD of `system`, the largest first; none of another answer. @p out:
 * shape [most]. @return how many; ERR_NOMEM and errors of the point. */
int tornado_find_fixed(struct tornado_fixed *out, int32_t most, int32_t *n, const struct tornado *t,
                       int32_t answer, struct err *e);

/** Does an input move neither the answer nor, of several points, the best one? */
bool tornado_is_idle(const struct tornado *t, int32_t input, int32_t answer);

/** All inputs, the largest swing first; @p list: shape [n_inputs]. */
void tornado_rank(struct stat_rank *list, const struct tornado *t, int32_t answer);

#endif
