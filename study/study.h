/**
 * @file A study opened: its kind, its points, the columns of its tables.
 *
 *     study_open()  ->  campaign_open(), campaign_run()  ->  study_close()
 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "study/kind.h"

/** The kind with this word; NULL: none. */
const struct study_kind *study_kind_called(const char *word);

/** Of which kind a document is: of exactly one other than the first whose own keys it has, if it has none of
 * the first one's; else of the first, whose messages say what is wrong. */
const struct study_kind *study_kind_of(const struct yaml_doc *doc);

/**
 * Where a document cannot be read as one of @p kind, NULL: of designs, because it is of another, say so in
 * place of what is wrong.
 * @param rc  of reading it
 * @return @p rc
 */
int study_say_kind(const struct study_kind *kind, const struct yaml_doc *doc, int rc, struct err *e);

/** Of which kind rows from elsewhere are: of the one that has most of their columns. */
const struct study_kind *study_kind_of_columns(const struct table *rows);

/** Put a number in place of '#' of its name and title, which it then holds itself. */
void study_number_column(struct made_column *c, const char *number);
/** Fill @p out with what describes the column of this name of table @p table of a kind, repeated and made
 * ones too, as one that is not repeated; false: nothing does. O(columns). */
bool study_describe(struct made_column *out, const struct study_kind *kind, int32_t table, const char *name);
/** Directions and units of all columns of @p t that do not know: of tables that were read back, as a store
 * does not say them. */
void study_find_better(struct table *t, const struct study_kind *kind, int32_t table);

/** What to open. */
struct study_ask {
    struct study_source from;      /**< without axes */
    const struct study_kind *kind; /**< NULL: told by its keys */
    bool timing;                   /**< columns of COLUMN_TIMING are wanted */
    bool may_be_point;             /**< without `vary` it is one point; of kinds with runs it always is */
};

/**
 * Read axes, `where`, and what is the kind's own.
 * @param[out] s  uninitialised; empty after failure. Texts of @p ask are borrowed.
 * @return 0; ERR_PARSE, ERR_RANGE with the place; ERR_NOMEM.
 */
int study_open(struct study *s, const struct study_ask *ask, struct err *e);
/** A study with blocks of one point, whatever its file says of many; ask->kind is given. ERR_NOMEM. */
int study_open_point(struct study *s, const struct study_ask *ask, struct err *e);
/** Zero is fine. What the kind has of its own goes first. */
void study_close(struct study *s);

/**
 * The hash of all that the results depend on, into s->hash; asked for where it is needed, as it may read many
 * points. ERR_NOMEM. On every rank alike: the store's head has it.
 */
int study_find_hash(struct study *s, struct err *e);

/** The columns of table @p table are @p list, which must live as long as the study, and s->sweep is read: for
 * `open`, and for studies that are not read from a file. ERR_NOMEM. */
int study_set_columns(struct study *s, int32_t table, const struct column *list, struct err *e);

/** "point" and the axes of a table; @p t is zero. Lack of memory is in @p t. */
void study_put_axes(struct table *t, const struct study *s, int32_t table);
/** These, and the columns of the table. */
void study_put_columns(struct table *t, const struct study *s, int32_t table);
/** A row of such a table. @p p is point number @p point. Texts are copied. O(columns). */
void study_put_row(struct table *t, const struct study *s, int32_t table, const struct sweep_point *p,
                   int64_t point, const void *row);

/** Of each column of study_put_columns() the part of a store it is in (struct column): NULL: the first. To be
 * freed; NULL: no memory. */
const char **study_parts(const struct study *s, int32_t table);
/** Hide columns of a store's rows, which are of @p kind, as study_trim() and kind->trim do. Errors as
 * store_max(). */
int study_trim_store(struct store *s, const struct study_kind *kind, bool hidden, struct err *e);
/** The kind of its study. ERR_PARSE: one that this program does not know. */
int study_kind_of_store(const struct study_kind **kind, const struct store *s, struct err *e);

/** Take out the columns of @p t, rows of a table with columns @p list, that are beyond their `upto` or
 * without their `with`. ERR_NOMEM. */
int study_trim(struct table *t, const struct column *list, struct err *e);

/** What a point is made from: @p axes, with room for SWEEP_MAX_KEYS, must live as long as what is returned.
 */
struct study_source study_source_at(struct study_override *axes, const struct study *s,
                                    const struct sweep_point *p);

#endif
