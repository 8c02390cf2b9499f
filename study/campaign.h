/**
 * @file A study from start to end: its plan, what is left of it, who runs it, where its rows go.
 *
 * Every rank makes the same plan from the same file. The first rank hands out units; where all rows are kept
 * in a file each rank writes those of its units to one of its own (store_beside()), else the first rank
 * writes and the others run units. What survives is decided on the first rank too, in the order in which
 * rows arrive, and does not depend on that order (study/keep.h). Rows and the units that gave them are
 * committed in one transaction, so that a kill at any instant leaves a store that the same command completes
 * to the same bytes.
 *
 *     campaign_open()  ->  campaign_run()  ->  rows in c->store  ->  campaign_close()
 */
#ifndef STUDY_CAMPAIGN_H
#define STUDY_CAMPAIGN_H

#include "study/fleet.h"
#include "study/keep.h"
#include "study/kind.h"
#include "study/runs.h"
#include "study/store.h"

/** Release with campaign_plan_free(). */
struct campaign_plan {
    struct table columns; /**< of all rows; no rows */
    struct keep_rule rule;
    struct units order;
    struct text study; /**< text of the study's own file, overrides as comments */
    struct text keep;  /**< its `keep` as YAML */
    int32_t passes;    /**< 2 where points are pruned: a sample first, whose front bounds the rest */
};

/**
 * Read `keep` of the study's own file and cut the sweep into units: many points where one takes microseconds,
 * one where it takes seconds. Its first point stands for all.
 * @param[out] p  uninitialised; empty after failure.
 * @param all     keep all rows, whatever the study says.
 * @return 0; ERR_PARSE, ERR_RANGE as keep_read(); ERR_RANGE: 2^62 units or more to be pruned; ERR_NOMEM.
 */
int campaign_plan_make(struct campaign_plan *p, const struct study *study, bool all, struct err *e);
/** Zero is fine. */
void campaign_plan_free(struct campaign_plan *p);

/** How far a sweep is. */
struct campaign_state {
    struct sweep_counts done; /**< all of the share so far, by earlier runs too */
    int64_t before;           /**< points that earlier runs have seen */
    int64_t n_points;         /**< of the share */
    int64_t n_units, n_done; /**< of the share, and how many of them are done; a unit of a kind with runs is a
                                  point with one seed */
    int64_t kept;            /**< rows so far; what a rule keeps, where there is one */
    int64_t failed_point;    /**< the least of this run that has no design; -1 = none */
    struct text why;         /**< its status, and the message where there is one */
    double best_s;           /**< least time_s of this run; NaN before the first */
};

/** As fleet_progress. */
typedef bool campaign_progress(void *context, const struct campaign_state *state);

/** What is asked; all borrowed. */
struct campaign_ask {
    const struct study *study; /**< its hash and seed are those of the store's head */
    bool all;                  /**< keep all rows, whatever the study says */
    const char *store;         /**< NULL: rows go with the campaign */
    int32_t shard, n_shards;   /**< 1 of 1: all */
    int32_t threads;           /**< of each rank */
    const char *command, *version;
    campaign_progress *progress; /**< may be NULL */
    void *context;
};

/** Release with campaign_close(). */
struct campaign {
    const struct campaign_ask *ask;
    struct campaign_plan plan;
    struct study_runs *runs; /**< NULL where the kind has blocks */
    struct keep *keep;       /**< NULL where all rows are kept */
    struct store *store;     /**< on the first rank; where apart_ranks, from campaign_run() on of each */
    struct spans done;       /**< units in the store; those of the second pass come n_units later */
    struct sweep_counts own; /**< of these */
    bool apart_ranks;        /**< each rank has a store of its own; rows are in several files */
    struct spans elsewhere;  /**< on the first rank: units in the other files when it began */
    struct front_set known;  /**< what the second pass holds points against */
    struct campaign_state state;
    bool resumed;     /**< the store was there */
    bool complete;    /**< every unit of the share is done */
    bool interrupted; /**< progress stopped it */
    bool apart;       /**< somebody reads the store, which keeps its log beside it */
};

/**
 * Open the store, or make it, on the first rank, and see what is left. The study's own file is read for
 * `keep`.
 * @param[out] c  uninitialised; safe to close after failure.
 * @return 0; ERR_PARSE, ERR_RANGE (with a place), as store_open() and keep_read(); ERR_NOMEM, ERR_IO.
 */
int campaign_open(struct campaign *c, const struct campaign_ask *ask, struct err *e);

/**
 * Run what is left; called by all ranks. What was done before a failure or an interrupt is in the store, on
 * the first rank: c->store can be read then too, store_counts_of() says how much it has.
 *
 * @return 0, or the first failure of any rank, on all ranks; c->interrupted tells that progress stopped it.
 *         After ERR_IO nothing more is committed. The store is one file then, unless c->apart.
 */
int campaign_run(struct campaign *c, struct err *e);

/** After campaign_run() on the first rank: c->store becomes one that has the rows of all files, for reading.
 * Errors as store_read_together(). */
int campaign_gather(struct campaign *c, struct err *e);

/** How long a sweep takes, by some of its points. The estimate is of this machine as busy as it is now. */
struct campaign_pace {
    double point_s;   /**< of one point on one thread; NaN where none was run */
    int64_t n;        /**< points that were run */
    bool at_most;     /**< points are pruned: the more, the longer the sweep has run */
    int64_t n_failed; /**< of n, those that have no design */
    char why[512];    /**< status of one of them, and its message */
};

/**
 * Run points spread over the whole sweep for @p most_s or so. Errors as campaign_open(). Kinds with blocks
 * alone. Nothing is stored; up to 256 units are run on one thread.
 */
int campaign_measure(struct campaign_pace *pace, const struct study *study, double most_s, struct err *e);

/**
 * Closes the store, which drops what was not committed; also after a failure of campaign_open(). Zero is
 * fine.
 */
void campaign_close(struct campaign *c);

/** All rows of a study, on threads of this process alone, as an export of a store has them. @p out: zero; the
 * caller frees it, also after failure. ERR_NOMEM, ERR_IO: no place for what does not fit into memory. */
int campaign_rows(struct table *out, const struct study *study, int32_t threads, struct err *e);

/** Likewise, with tables beside them: @p extras, shape [n_tables of the kind] by their number there, each
 * zero where its rows are wanted, else NULL; and what is to be told of the points. Both may be NULL. */
int campaign_tables(struct table *out, struct table *const *extras, struct text *notes,
                    const struct study *study, int32_t threads, struct err *e);

#endif
