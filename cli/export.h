/** @file The rows of a store: written as they are read, and what is to be said of them. */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include "cli/filters.h"
#include "cli/output.h"
#include "study/store.h"
#include "study/study.h"

/** Rows that have no design: how many, and the first of them. */
struct export_tally {
    int64_t n_rows, unsolved;
    int64_t first;   /**< its place among the rows, from 1; 0 = none */
    struct text why; /**< its status, and the message where there is one */
    bool any_error;  /**< one of them could not be read or run */
};

/** Write the rows that pass @p where (NULL: all) in the format of the run, head included; piece by piece but
 * for TABLE_AS_TEXT. The tally is of those written. ERR_IO, ERR_USAGE, ERR_NOMEM. */
int export_rows(const struct run *run, struct store *s, const struct filters *where, struct origin from,
                struct export_tally *tally, struct err *e);

/** Read all rows for the tally alone. */
int export_count(struct store *s, struct export_tally *tally, struct err *e);

/** "3 of 12 points are not solved; row 4: infeasible: ..." on standard error; where none is solved, the exit
 * code of the run says so. */
void export_say(struct run *run, const struct export_tally *tally);

void export_tally_free(struct export_tally *tally);

/* ---- kinds with runs: many rows a point, extra tables ---- */

/** All that a store has of such a study, read back. Zero-initialise; release with export_tables_free(). */
struct export_tables {
    const struct study_kind *kind;
    struct table rows, said;               /**< said: with hidden columns */
    struct table extras[STUDY_MAX_TABLES]; /**< those that are always recorded; others without columns */
    struct text notes;
    const char *axes[SWEEP_MAX_KEYS]; /**< borrowed from the store */
    struct study_report report;       /**< of the above, for the kind's hooks */
};

/** @p where (NULL: all) chooses rows. @p kind is that of the store. ERR_USAGE: a column that is not there;
 * ERR_NOMEM, ERR_PARSE. */
int export_read(struct export_tables *t, struct store *s, const struct study_kind *kind,
                const struct filters *where, struct err *e);
void export_tables_free(struct export_tables *t);
/** The rows in the format of the run: the kind's own text, else the table. */
int export_write(const struct run *run, const struct export_tables *t, struct origin from, struct err *e);
/** Write an extra table that was recorded, piece by piece: it may be larger than memory. ERR_IO, ERR_USAGE.
 */
int export_extra(int64_t *n_rows, const struct run *run, struct store *s, const struct study_kind *kind,
                 const struct extra *x, struct origin from, struct err *e);
/** What the kind says of rows that are no results, on standard error; the exit code of the run says it too.
 */
int export_conclude(struct run *run, const struct export_tables *t, struct err *e);
/** Which of the kind's tables is called so; -1: none. */
int32_t export_find_table(const struct study_kind *kind, const char *word);

#endif
