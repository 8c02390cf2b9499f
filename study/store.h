/** @file A sweep's rows in one SQLite file: what was asked, what is done, what came out. docs/store.md. */
#ifndef STUDY_STORE_H
#define STUDY_STORE_H

#include "base/table.h"
#include "kinds/design/runner.h"
#include "study/spans.h"

/** Version of the tables; a store of another one is refused. */
enum { STORE_VERSION = 1 };

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
};

/** Opaque. */
struct store;

/**
 * Open @p path, or make it. NULL: a file without a name, which goes when it is closed. WAL, synchronous
 * NORMAL: a process that is killed at any instant leaves what the last store_commit() wrote, whole.
 * @param columns  names and kinds of rows; it has no rows.
 * @param[out] done      uninitialised: units that are in the store; the caller frees.
 * @param[out] counts    of these.
 * @return 0; ERR_PARSE: no store, damaged, of another study (says which) or shard, written by another
 * version; another process writes to it; a place where no file can be made; ERR_IO: a full disk; ERR_NOMEM.
 */
int store_open(struct store **out, const char *path, const struct store_head *head,
               const struct table *columns, struct spans *done, struct sweep_counts *counts, struct err *e);

/** Rows, each a point of its own, of units that are done with them; written by the next store_commit(). A row
 * whose point is there already takes its place. ERR_IO (a full disk), ERR_NOMEM. */
int store_put(struct store *s, const struct table *rows, struct err *e);
/** Take out the row of a point, where survivors alone are kept. */
int store_drop(struct store *s, int64_t point, struct err *e);
/** All that was put, and that @p done are done. ERR_IO: a full disk; the store is as after the last commit.
 */
int store_commit(struct store *s, const struct spans *done, const struct sweep_counts *counts, struct err *e);
void store_close(struct store *s); /**< NULL is fine; what was not committed is dropped */

/** Open for reading alone: what a finished or unfinished sweep has so far. Errors as store_open(). */
int store_read(struct store **out, const char *path, struct err *e);

/** What the head of an output says of a store. Texts are borrowed from the store. */
void store_head_of(const struct store *s, struct store_head *head, struct sweep_counts *counts,
                   bool *complete);

/** Rows in order of points, @p most at a time, from the first above @p after on; -1 to begin. @p rows: zero
 * or of the call before (which is quicker: columns are not looked for again); without columns that are blank
 * in the whole store (dimensions, training). rows->n_rows = 0 at the end. */
int store_rows(struct store *s, int64_t after, int64_t most, struct table *rows, struct err *e);

/** One store of the shards of a sweep, with the rows that an undivided run keeps. Refused with a line: of
 * different sweeps, a shard twice, rows of one point that differ. Missing shards are no error: the store is
 * then not complete. What was merged can be merged on. @p out is replaced, also where it is one of @p paths;
 * after a failure it is as it was. */
int store_merge(const char *out, const char *const *paths, int32_t n, struct err *e);

/** Does the file begin as SQLite's do? Not for a store that this process has open: closing it again would
 * drop SQLite's locks. */
bool store_is(const char *path);

#endif
