/**
 * @file Studies of kinds with runs: from units on threads and ranks to rows of whole points.
 *
 * A unit is a point with one seed: unit = point * seeds + number of the seed, known before any point is read.
 * A rank takes units one by one; its threads run the entries (schedulers, methods) of the units it has open,
 * and open another when none is left, so that a study of one seed keeps all threads at work and at most as
 * many seeds as threads are in memory. A point stays prepared while one of its units is open, and the last
 * one thereafter.
 *
 * What comes out goes to the store of the first rank at once (study/store.h, version 4): a result a run, what
 * the runs of a point share, rows of extra tables; then the unit is done. Who has all units of a point done
 * reduces it, from the store alone: the first rank prepares nothing for it, and neither does one that resumes
 * a study or merges shards.
 */
#ifndef STUDY_RUNS_H
#define STUDY_RUNS_H

#include "study/fleet.h"
#include "study/store.h"
#include "study/study.h"

/* ---- what the store has: study/results.c ---- */

/** The tables of the store, as docs/store.md has them. Release with study_form_free(). */
struct study_form {
    const struct study *study; /**< borrowed */
    const struct study_kind *kind;
    struct columns result, shared;   /**< all of the kind's */
    int32_t extra[STUDY_MAX_TABLES]; /**< which table of a batch, by number of the kind's; -1: not recorded */
    struct table columns[1 + FLEET_MORE]; /**< of the store's tables */
    struct store_table_form forms[1 + FLEET_MORE];
    struct store_form form;
    struct table shared_rows[2], result_rows[2]; /* private: of the point that is reduced, and of its base */
    struct table stored_rows;                    /* private: of study_next_rows() */
};
/** @p r stays where it is. ERR_NOMEM; then there is nothing to free. */
int study_form_build(struct study_form *r, const struct study *s, struct err *e);
void study_form_free(struct study_form *r);

/** study_shared.n_entries of a point that `where` of the study leaves out: blank in the store. */
enum { STUDY_LEFT_OUT = -1 };

/**
 * Keys of tables. Ids order their rows, whatever the order of the runs. Ascending ids are the order of
 * export.
 */
int64_t study_run_id(int64_t point, int64_t entry, int64_t k, bool by_seed);
/** Key of table STORE_RUNS: that of study_run_id() by entry. */
int64_t study_result_id(int64_t point, int64_t entry, int64_t k);
/** The point whose results it is compared with, itself or another; -1: none. */
int64_t study_base(const struct study *s, int64_t point);

/**
 * Into the store what @p batch has, into @p done its units, and reduce the points that are whole with them:
 * their rows are appended to @p rows, and counted. On the first rank. Rows, here and below, have the columns
 * of study_put_columns(), but in place of the point their id in table STORE_RESULTS.
 *
 * @return 0; ERR_NOMEM, ERR_IO of the store, ERR_PARSE where the store lacks a point whose units are done
 *         (damaged).
 */
int study_take(struct study_form *r, struct store *store, struct fleet_batch *batch, struct spans *done,
               struct table *rows, struct sweep_counts *n, struct err *e);
/**
 * All points have run with their first @p k seeds, fewer than all: those that need no more are done, and
 * reduced as by study_take(). *n_units: units that are not run for it. On the first rank.
 */
int study_settle(struct study_form *r, struct store *store, int64_t k, struct spans *done, struct table *rows,
                 struct sweep_counts *n, int64_t *n_units, struct err *e);
/** Such rows into the store; and those of a walk of table STORE_RESULTS, raw, as store_next(). */
int study_put_rows(struct study_form *r, struct store *store, const struct table *rows, struct err *e);
/** Into @p rows: zero, or of the call before; n_rows = 0 at the end. */
int study_next_rows(struct study_form *r, struct store *store, struct store_walk *walk, struct table *rows,
                    struct err *e);

/** A store_reduce; @p kind (const struct study_kind *) is that of the store, NULL: as its head says.
 * ERR_PARSE: it has other columns, or its kind has no runs here. */
int study_reduce_store(void *kind, struct store *store, const struct spans *done, const struct spans *shards,
                       int32_t n_shards, struct sweep_counts *n, struct err *e);

/** Rows of table @p word of a store as they are exported: point, axes, columns that are not hidden, cells
 * that follow from the whole point. Opaque; @p out is NULL after failure. ERR_PARSE: the store has no such
 * table. */
struct study_table_walk;
int study_table_open(struct study_table_walk **out, struct store *store, const struct study_kind *kind,
                     const char *word, struct err *e);
/** The next rows, @p most at a time. @p t: zero, or of the call before. t->n_rows = 0 at the end. */
int study_table_next(struct study_table_walk *x, int64_t most, struct table *t, struct err *e);
void study_table_close(struct study_table_walk *x); /**< NULL is fine */
/** All of them. @p t is zero. */
int study_read_table(struct table *t, struct store *store, const struct study_kind *kind, const char *word,
                     struct err *e);

/** What is to be told of the points, by the kind's notes_rule. ERR_NOMEM. */
int study_read_notes(struct text *out, struct store *store, const struct study_kind *kind, struct err *e);

/* ---- threads at work: study/runs.c ---- */

/** Opaque. */
struct study_runs;

/** @p s is open and stays so. @p threads of this rank. ERR_NOMEM; then *out is NULL. */
int study_runs_build(struct study_runs **out, const struct study *s, int32_t threads, struct err *e);
void study_runs_free(struct study_runs *r); /**< NULL is fine */

/** Its tables; borrowed. */
struct study_form *study_runs_form(struct study_runs *r);

/** Called by all ranks before the first run, @p store and @p done on the first: runs of units that are not
 * done whose results are there are not run again. ERR_NOMEM, ERR_IO. */
int study_runs_resume(struct study_runs *r, struct store *store, const struct spans *done, struct err *e);

/** What threads do: `n_units`, `member` and the tables of a batch. */
struct fleet_work study_runs_work(struct study_runs *r);

#endif
