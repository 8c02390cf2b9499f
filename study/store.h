/**
 * @file The rows of a study in one SQLite file: what was asked, what is done, what came out. docs/store.md.
 *
 * Version 3 of the tables is of designs: one table of rows whose key is the point. Version 4 is of kinds with
 * runs: results of single runs as they end, what the runs of a point share, rows of whole points, and extra
 * tables. What is there after a kill is what the last store_commit() wrote, whole: rows, the units that gave
 * them, the counts and checksums of all of these are one transaction. A file is verified when it is opened,
 * all of it: one that was damaged is refused, and never read in part.
 *
 * One process writes, any number read meanwhile. A store belongs to one thread at a time. Everything that
 * SQLite refuses becomes an error with the path in front; after one while writing, nothing can be put any
 * more and what was not committed is gone.
 */
#ifndef STUDY_STORE_H
#define STUDY_STORE_H

#include "base/table.h"
#include "study/blocks.h"

/** What a store is of. All borrowed. */
struct store_head {
    unsigned long long study_hash; /**< a store with another one is refused */
    int64_t seed;
    int64_t n_points, n_units;
    const char *command;     /**< the command line that gives these rows */
    const char *version;     /**< of the program */
    const char *study;       /**< text of the study, overrides and all */
    const char *keep;        /**< the rule that rows are kept by, as YAML; NULL: all are */
    int32_t shard, n_shards; /**< which part: 1 of 1 for all */
    int32_t n_files;         /**< that the rows are in, store_beside() names them; 0 or 1: this one alone */
    const char *kind;        /**< of the study; NULL: designs, version 3 */
    const char *name;        /**< version 4: that the study gives itself; NULL or "" = none */
    int64_t seeds;           /**< version 4: units are point * seeds + number of the seed */
    int64_t n_axes;          /**< version 4: columns of table STORE_POINTS that are axes, behind its key */
};

/** Tables of version 4, by number; extra ones come behind. Version 3 has the first alone. */
enum { STORE_RESULTS, STORE_RUNS, STORE_POINTS, STORE_EXTRA };

/**
 * A table of a store, and its keys, which are columns of kind COUNT and come first. Version 3: "point".
 * Version 4: table STORE_RESULTS store_row_id(), STORE_RUNS store_run_id(), STORE_POINTS the point; extra
 * tables have two, the run and a number of the row within it.
 */
struct store_table_form {
    const char *word;            /**< of the view that has its rows; version 3: of its first part */
    const struct table *columns; /**< names and kinds; without rows */
    int32_t n_keys;
    /** Shape [n_cols]: where few rows fill some columns these are a part of their own, of this name. NULL, or
     * an element NULL: all in the first part. */
    const char *const *parts;
};
struct store_form {
    const struct store_table_form *tables;
    int32_t n_tables;
};

enum {
    STORE_ROW_BITS = 12,    /**< rows, and entries, of a point */
    STORE_SEED_BITS = 20,   /**< seeds of a point */
    STORE_POINT_SHIFT = 32, /**< a run's id has its point above */
};
/** Row @p row of a point. */
int64_t store_row_id(int64_t point, int64_t row);

/** Opaque. */
struct store;

/**
 * Open @p path, or make it. NULL: a file without a name, which goes when it is closed. WAL, synchronous
 * NORMAL: a process that is killed at any instant leaves what the last store_commit() wrote, whole.
 * @param[out] done      uninitialised: units that are in the store; the caller frees.
 * @param[out] counts    of these.
 * @return 0; ERR_PARSE: no store, damaged, of another study (says which) or shard, written by another
 * version; another process writes to it; a place where no file can be made; ERR_IO: a full disk; ERR_NOMEM.
 */
int store_open(struct store **out, const char *path, const struct store_head *head,
               const struct store_form *form, struct spans *done, struct sweep_counts *counts, struct err *e);

/** The rows will be in so many files: written at once. ERR_IO. */
int store_set_files(struct store *s, int32_t n, struct err *e);
/** File @p k of those of a store, 0 itself: "rows.db", "rows.1.db", .. */
void store_beside(struct text *out, const char *path, int32_t k);

/** Rows of a table, with all its columns; written by the next store_commit(). A row whose keys are there
 * already takes its place. ERR_IO (a full disk), ERR_NOMEM. */
int store_put(struct store *s, int32_t table, const struct table *rows, struct err *e);
/** Likewise, and the rows may be taken out of @p rows. Those of an extra table of a store without a name stay
 * in memory: they may be millions, are read once, in this order, and go with the store. Rows of one run come
 * in one call, numbered from 0. */
int store_take(struct store *s, int32_t table, struct table *rows, struct err *e);
/** Take out all rows of a table. */
int store_clear(struct store *s, int32_t table, struct err *e);
/** Take out a row of table STORE_RESULTS by its key, where survivors alone are kept. */
int store_drop(struct store *s, int64_t id, struct err *e);
/** All that was put, and that @p done are done. ERR_IO: a full disk; the store is as after the last commit;
 * or its file is gone from its place. */
int store_commit(struct store *s, const struct spans *done, const struct sweep_counts *counts, struct err *e);
/**
 * After a last commit: the log into the file, so that the store is one file that can be copied. @param[out]
 * apart whoever reads the store keeps the log beside it, which is a part of it until they end. ERR_IO: so
 * does a disk that is full or fails; or the file is gone from its place.
 */
int store_fold(bool *apart, struct store *s, struct err *e);
/** Drop what was not committed: what can be read is as of the last store_commit(). Nothing can be put any
 * more. */
void store_roll_back(struct store *s);
void store_close(struct store *s); /**< NULL is fine; what was not committed is dropped */

/** Open for reading alone: what a finished or unfinished study has so far, as of one instant. All of it is
 * verified: O(rows), 4 to 8 us each. Errors as store_open(). */
int store_read(struct store **out, const char *path, struct err *e);
/**
 * The stores of a study's shards as one that is not merged: store_next() gives the rows of all, in order of
 * points, and head, counts and completeness are of all of them. Walks over different parts may run on
 * different threads. Of a path that is a folder all files *.db count. Opened and verified on all threads.
 * ERR_PARSE, with a line: stores of different studies, a shard twice, runs, or survivors of a rule.
 */
int store_read_together(struct store **out, const char *const *paths, int32_t n, struct err *e);
/** How many files such a store is read from. */
int32_t store_n_parts(const struct store *s);
/** Of the files of a store that ranks wrote apart the first that is not there; NULL: all are. Borrowed. */
const char *store_missing(const struct store *s);
/** Was it read from more than one path, or a folder? */
bool store_is_of_many(const struct store *s);
/** Likewise, for its head and counts alone: rows are not verified. */
int store_peek(struct store **out, const char *path, struct err *e);

/** As messages name it. Borrowed. */
const char *store_path_of(const struct store *s);
/** What a store is of, as committed. Borrowed. */
const struct store_head *store_head_of(const struct store *s);
/** As of the last commit, or of opening. */
struct sweep_counts store_counts_of(const struct store *s);
/** Units that are done, of this file alone. Borrowed. */
const struct spans *store_done_of(const struct store *s);
/** Are all units of its share done? */
bool store_is_complete(const struct store *s);

/** The table with this word, -1 = none; all columns, keys among them. */
int32_t store_find_table(const struct store *s, const char *word);
/** A table without rows; borrowed. */
const struct table *store_columns(const struct store *s, int32_t table);

/* ---- reading ---- */

/** Which rows are read, and how far reading is. */
struct store_walk {
    int32_t table;
    /** All columns as they were put. Else those that an export has: of version 4 the point, its axes, and all
     * columns but keys; without those that store_show() hides. */
    bool raw;
    int32_t part;    /**< of stores that are read together: 0 all of them; k: the k-th alone, from 1 on */
    int64_t id, seq; /**< the last row that was read, by its keys */
    int64_t upto;    /**< the last id to read */
};
/** From the first row to the last. */
struct store_walk store_walk_all(int32_t table, bool raw);

/**
 * The next rows in order of their keys, @p most at a time. @p rows: zero, or of the call before with this
 * walk. rows->n_rows = 0 at the end.
 *
 * @return 0; ERR_NOMEM; ERR_PARSE where the file is damaged, and then @p rows is empty. O(log rows + rows
 *         that are read): each call is a range query over the keys, so a walk sees what is committed between
 *         its calls unless the store was opened by store_read(), which is one instant.
 */
int store_next(struct store *s, struct store_walk *w, int64_t most, struct table *rows, struct err *e);

/** Columns of table STORE_RESULTS that a walk without `raw` has, in its order; the caller frees. */
int store_shown(struct table *out, const struct store *s, struct err *e);
/** Hide columns from such walks that begin hereafter: those with show[] false, shape [n_cols of
 * store_shown() before anything was hidden]. NULL: none. ERR_NOMEM. */
int store_show(struct store *s, const bool *show, struct err *e);
/** False: store_show() hides the own column of table STORE_RESULTS of this name. */
bool store_is_shown(const struct store *s, const char *column);

/** Of a column of table STORE_RESULTS, by name: its largest value (COUNT; 0 where there is none), whether it
 * has any. 0, false: there is no such column. */
int store_max(struct store *s, const char *column, int64_t *out, struct err *e);
int store_any(struct store *s, const char *column, bool *out, struct err *e);
/** Is one of the values of a column of texts @p word? */
int store_any_word(struct store *s, const char *column, const char *word, bool *out, struct err *e);

/** Called with a store of version 4 that has the runs of all shards: put the rows of the points that can be
 * reduced with all units that are @p done and could not with those of any one shard, whose rows are there,
 * and count them. @p shards, shape [n_shards]: what was done in each. */
typedef int store_reduce(void *data, struct store *s, const struct spans *done, const struct spans *shards,
                         int32_t n_shards, struct sweep_counts *n, struct err *e);

/** One store of the shards of a study, with the rows that an undivided run keeps. Refused with a line: of
 * different studies, a shard twice, rows of one point that differ. Missing shards are no error: the store is
 * then not complete. What was merged can be merged on. @p out is replaced, also where it is one of @p paths;
 * after a failure it is as it was. @p reduce is of stores of version 4; @p data is its. */
int store_merge(const char *out, const char *const *paths, int32_t n, store_reduce *reduce, void *data,
                struct err *e);

/** Does the file begin as SQLite's do? One that is not there or has no beginning (a pipe, a folder) does not.
 * Not for a store that this process has open: closing it again would drop SQLite's locks. ERR_PARSE: it
 * cannot be read. */
int store_is(bool *is, const char *path, struct err *e);

#endif
