/**
 * @file What the files of the store share; study/store.h is what others see.
 *
 * study/store_file.c has the file (locks, tables, head, transactions), study/store_rows.c rows in and out,
 * study/store_merge.c several stores as one. SQL is made of names that these files chose and of plain names
 * of columns; anything else is quoted.
 */
#ifndef STUDY_STORE_INNER_H
#define STUDY_STORE_INNER_H

#include "study/store.h"

struct sqlite3;
struct sqlite3_stmt;

/** A table of SQL: keys, and some columns of a table of the store. */
struct store_part {
    char *name;    /**< owned */
    int32_t *cols; /**< shape [n], owned: which of the table's columns; the keys come first */
    int32_t n;
    bool any;                          /**< it may have rows */
    struct sqlite3_stmt *put, *remove; /**< owned */
};

/** Rows of one run, one behind the other in store_table.held. */
struct store_stretch {
    int64_t id, first;
};

/** The first part has a row for each, others for those that fill one of their columns. */
struct store_table {
    char *word;           /**< owned */
    struct table columns; /**< without rows; keys first */
    char **names;         /**< shape [n_cols], owned: in its part */
    int32_t *part_of;     /**< shape [n_cols], owned; of a key 0 */
    int32_t *n_texts;     /**< shape [n_cols], owned: texts that a column put into the store's */
    int32_t n_keys, n_parts;
    struct store_part *parts;      /**< shape [n_parts], owned */
    struct sqlite3_stmt *get[2];   /**< owned; of walks, [raw] */
    int32_t *shown[2], n_shown[2]; /**< shape [n_shown], owned: columns that these have, by store_source() */
    struct table held;             /**< of an extra table of a temporary store: its rows, as they came */
    struct store_stretch *stretches; /**< shape [n_stretches], owned: of held; by id once they are `sorted` */
    int64_t n_stretches, cap_stretches;
    bool sorted;
};

/** Texts that many rows repeat: a number for each. */
struct store_texts {
    char **texts; /**< shape [n], owned: by number */
    int32_t n, cap;
    int32_t *slots; /**< shape [n_slots], owned: number + 1 of a text, 0 = free; a power of two of them */
    int32_t n_slots;
};

enum { STORE_MAX_TABLES = 16 };

/**
 * An open store. `begun`: a transaction is under way. `failed`: writing has failed, and only closing is left.
 * Memory is that of texts with numbers and, of a temporary store, of rows of extra tables.
 */
struct store {
    char *path; /**< owned; as messages say it */
    struct sqlite3 *db;
    int lock; /**< descriptor that holds the writer's lock; -1 = none */
    bool temporary, reads, begun, failed;
    int64_t version;            /**< of the tables in the file */
    struct store_table *tables; /**< shape [n_tables], owned */
    int32_t n_tables;
    struct store_head head;     /**< its texts are owned */
    struct sweep_counts counts; /**< as committed */
    struct spans done;          /**< as committed */
    struct store_texts texts;
    bool *show;                                                         /**< store_show(); owned */
    struct sqlite3_stmt *put_text, *put_span, *remove_span, *put_value; /**< owned */
};

/* ---- study/store_file.c ---- */

/** The message for what SQLite returned. A writer's ERR_IO is a disk that is full or gone. */
int store_fail(const struct store *s, int sqlite_code, struct err *e);
/** Statements without parameters and results, one after another. */
int store_exec(struct store *s, const char *sql, struct err *e);
/** @p out: NULL or a statement, which is finalised first. The caller finalises what it gets. */
int store_prepare(struct store *s, struct sqlite3_stmt **out, const char *sql, struct err *e);
/** Run to its end a statement without rows, and reset it. */
int store_run(struct store *s, struct sqlite3_stmt *stmt, struct err *e);
/** The number that a query gives; 0 where it gives none. */
int store_number(struct store *s, const char *sql, int64_t *out, struct err *e);
/** Is it of this sweep, whatever the shard? */
int store_check_same(const struct store *s, const struct store_head *head, const struct store_form *form,
                     struct err *e);
/** The tables that a store has; release with store_form_free(). ERR_NOMEM. */
int store_form_of(struct store_form *form, const struct store *s, struct err *e);
void store_form_free(struct store_form *form);
/** What a row has, @p out of shape [columns + axes of the store]: entries, each a column of the table, or
 * what a row of version 2 is shown with besides. Returns how many. */
int32_t store_entries(int32_t *out, const struct store *s, int32_t table, bool raw);
/** Its name as CSV has it, borrowed; its kind. */
const char *store_entry_name(const struct store *s, const struct store_table *t, int32_t entry);
enum table_kind store_entry_kind(const struct store *s, const struct store_table *t, int32_t entry);
/** Append to a query what entry is, and where all @p entries come from. */
void store_put_source(struct text *sql, const struct store *s, const struct store_table *t, int32_t entry);
void store_put_from(struct text *sql, const struct store *s, const struct store_table *t,
                    const int32_t *entries, int32_t n);
/** After a failure: what was not committed is gone, and nothing can be put any more. Returns @p rc. */
int store_give_up(struct store *s, int rc);
/** Begin a transaction, unless one is under way. */
int store_begin(struct store *s, struct err *e);

/* ---- study/store_rows.c ---- */

/** Which texts the file has numbers for, so that equal ones share a number across runs. */
int store_read_texts(struct store *s, struct err *e);
void store_texts_free(struct store_texts *t);
/** Row @p row of @p rows. */
int store_put_row(struct store *s, int32_t table, const struct table *rows, int64_t row, struct err *e);

#endif
