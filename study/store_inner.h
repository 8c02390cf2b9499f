/** @file What the files of the store share; study/store.h is what others see. */
#ifndef STUDY_STORE_INNER_H
#define STUDY_STORE_INNER_H

#include "study/store.h"
#include "study/store_texts.h"

struct sqlite3;
struct sqlite3_stmt;

/** Tables that together hold a row; what few rows fill has one of its own. */
enum store_part {
    STORE_POINTS,    /**< a row for each point */
    STORE_MORE_DIMS, /**< columns of the fifth dimension and above */
    STORE_TRAINING,  /**< training_row_columns() */
    STORE_N_PARTS
};
extern const char *const store_part_names[STORE_N_PARTS];

enum {
    STORE_NARROW = 4, /**< dimensions whose columns are in STORE_POINTS */
    STORE_NAME = 64,  /**< room for the name of a column in its table */
};

struct store_part_columns {
    int32_t *cols; /**< shape [n], owned: which of the store's columns; the point comes first */
    int32_t n;
    bool any;                          /**< it may have rows */
    struct sqlite3_stmt *put, *remove; /**< owned */
};

struct store {
    char *path; /**< owned; as messages say it */
    struct sqlite3 *db;
    int lock; /**< descriptor that holds the writer's lock; -1 = none */
    bool temporary, reads, begun, failed;
    struct table columns;        /**< of all rows; without rows */
    int32_t point, n_dims, plan; /**< which of them; -1 = none */
    struct store_part_columns parts[STORE_N_PARTS];
    struct store_head head;     /**< its texts are owned */
    struct sweep_counts counts; /**< as committed */
    struct spans done;          /**< as committed */
    struct store_texts texts;
    int32_t *n_texts; /**< shape [columns.n_cols], owned: texts that a column put into `texts` */
    struct sqlite3_stmt *put_text, *put_span, *remove_span, *put_value; /**< owned */
    struct sqlite3_stmt *get;                                           /**< owned; of store_rows() */
    int32_t *shown, n_shown; /**< shape [n_shown], owned: columns that `get` has */
};

/* ---- study/store_db.c ---- */

/** The message for what SQLite returned. A writer's ERR_IO is a disk that is full or gone. */
int store_fail(const struct store *s, int sqlite_code, struct err *e);
int store_exec(struct store *s, const char *sql, struct err *e);
int store_prepare(struct store *s, struct sqlite3_stmt **out, const char *sql, struct err *e);
/** Run to its end a statement without rows, and reset it. */
int store_run(struct store *s, struct sqlite3_stmt *stmt, struct err *e);
/** The number that a query gives; 0 where it gives none. */
int store_number(struct store *s, const char *sql, int64_t *out, struct err *e);
/** Open the file, and take the writer's lock unless s->reads. */
int store_connect(struct store *s, struct err *e);
/** The opposite, in the right order; all statements are finalised. */
void store_disconnect(struct store *s);

/* ---- study/store_schema.c ---- */

/** Columns as given into the parts they belong to. ERR_NOMEM. */
int store_sort_columns(struct store *s, const struct table *columns, struct err *e);
/** Tables, view and the row of each column. */
int store_create(struct store *s, struct err *e);
/** The columns that a store has. */
int store_read_columns(struct table *columns, struct store *s, struct err *e);
/** The name that column @p col has in its table; borrowed from @p buf or the store. */
const char *store_name(char buf[STORE_NAME], const struct store *s, int32_t col);
enum store_part store_part_of(const struct store *s, int32_t col);
/** The dimension of a name such as bw12_GBps, util12 or exposed12_s; 0 where it is none. */
long store_dim_of(const char *name);

/* ---- study/store_head.c ---- */

/** Is it one of ours, of this version? *is_new: it has no tables yet. */
int store_check_kind(struct store *s, bool *is_new, struct err *e);
int store_write_head(struct store *s, const struct store_head *head, struct err *e);
/** Head, counts and spans, from the file. */
int store_read_head(struct store *s, struct err *e);
/** Is it of this sweep, whatever the shard? */
int store_check_same(const struct store *s, const struct store_head *head, const struct table *columns,
                     struct err *e);
/** Can a sweep with @p head and @p columns go on with this store? */
int store_check_head(const struct store *s, const struct store_head *head, const struct table *columns,
                     struct err *e);
int store_write_counts(struct store *s, const struct sweep_counts *n, bool complete, struct err *e);
void store_head_free(struct store_head *head);

/* ---- study/store.c ---- */

/** After a failure: what was not committed is gone, and nothing can be put any more. Returns @p rc. */
int store_give_up(struct store *s, int rc);

/* ---- study/store_rows.c ---- */

int store_read_texts(struct store *s, struct err *e);
int store_begin(struct store *s, struct err *e);
/** Row @p row of @p rows. */
int store_put_row(struct store *s, const struct table *rows, int64_t row, struct err *e);
/** store_rows(), with all columns where @p all. */
int store_rows_of(struct store *s, int64_t after, int64_t most, struct table *rows, bool all, struct err *e);

#endif
