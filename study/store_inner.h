/**
 * @file What the files of the store share; study/store.h is what others see.
 *
 * study/store_file.c has the file (locks, tables, head, transactions), study/store_rows.c rows in and out,
 * study/store_check.c their checksums, study/store_merge.c several stores as one. SQL is made of names that
 * these files chose and of plain names of columns; anything else is quoted.
 */
#ifndef STUDY_STORE_INNER_H
#define STUDY_STORE_INNER_H

#include "base/hash.h"
#include "study/store.h"

struct sqlite3;
struct sqlite3_stmt;

/** How many rows a table of SQL has, and the sum of their hashes. */
struct store_sum {
    int64_t n;
    uint64_t sum;
};

/** A table of SQL: keys, and some columns of a table of the store. */
struct store_part {
    char *name;    /**< owned */
    int32_t *cols; /**< shape [n], owned: which of the table's columns; the keys come first */
    int32_t n;
    struct store_sum sum;                     /**< with what was put and is not committed */
    struct sqlite3_stmt *put, *find, *remove; /**< owned */
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
    struct hash numbers;
};

enum { STORE_MAX_TABLES = 16 };

/**
 * An open store. `begun`: a transaction is under way. `failed`: writing has failed, and only closing is left.
 * Memory is that of texts with numbers and, of a temporary store, of rows of extra tables.
 */
struct store {
    char *path; /**< owned; as messages say it */
    struct sqlite3 *db;
    const char *vfs; /**< borrowed; what gives SQLite its file; NULL: the system, by its path */
    int lock;        /**< descriptor that holds the writer's lock; -1 = none */
    bool temporary, reads, begun, failed;
    int64_t version;            /**< of the tables in the file */
    struct store_table *tables; /**< shape [n_tables], owned */
    int32_t n_tables;
    struct store_head head;     /**< its texts are owned */
    struct sweep_counts counts; /**< as committed */
    struct spans done;          /**< as committed */
    struct store_texts texts;
    struct store_sum texts_sum; /**< of table `texts` */
    bool *show;                 /**< store_show(); owned */
    struct store_join *join;    /**< owned: read together with other stores; NULL: alone */
    struct sqlite3_stmt *put_text, *put_span, *remove_span, *put_value, *put_sum, *get_sum; /**< owned */
};

/* ---- study/store_file.c ---- */

/** The message for what SQLite returned. A writer's ERR_IO is a disk that is full or gone. */
int store_fail(const struct store *s, int sqlite_code, struct err *e);
/** Did the last call on the file end with EIO? */
bool store_disk_fails(const struct store *s);
/** Statements without parameters and results, one after another. */
int store_exec(struct store *s, const char *sql, struct err *e);
/** @p out: NULL or a statement, which is finalised first. The caller finalises what it gets. */
int store_prepare(struct store *s, struct sqlite3_stmt **out, const char *sql, struct err *e);
/** Bind whole numbers, shape [n], to parameters @p first and those that follow. What is not bound is NULL to
 * SQLite: a failure must not pass. */
int store_bind(struct store *s, struct sqlite3_stmt *stmt, int first, const int64_t *numbers, int n,
               struct err *e);
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
 * what a row of version 4 is shown with besides. Returns how many. */
int32_t store_entries(int32_t *out, const struct store *s, int32_t table, bool raw);
/** Add its column to @p out. */
void store_put_entry(struct table *out, const struct store *s, const struct store_table *t, int32_t entry);
/** Its name as CSV has it, borrowed; its kind. */
const char *store_entry_name(const struct store *s, const struct store_table *t, int32_t entry);
enum table_kind store_entry_kind(const struct store *s, const struct store_table *t, int32_t entry);
/** Append to a query what entry is, and where all @p entries come from. */
void store_put_source(struct text *sql, const struct store *s, const struct store_table *t, int32_t entry);
void store_put_from(struct text *sql, const struct store *s, const struct store_table *t,
                    const int32_t *entries, int32_t n);
/** After a failure: what was not committed is gone, and nothing can be put any more. Returns @p rc. */
int store_give_up(struct store *s, int rc);
/** A new store in a file that @p vfs gives, without journal and sync; @p path is for messages. As
 * store_open() otherwise. */
int store_make_on(struct store **out, const char *path, const char *vfs, const struct store_head *head,
                  const struct store_form *form, struct err *e);
/** store_read() of such a file. */
int store_read_on(struct store **out, const char *path, const char *vfs, struct err *e);
/** Fold the log that a writer which was killed left beside the database @p path into it, and hold the
 * writer's lock until store_close(). ERR_PARSE: it is another program's, somebody writes or reads it; ERR_IO.
 */
int store_claim(struct store **out, const char *path, struct err *e);
/** Begin a transaction, unless one is under way. */
int store_begin(struct store *s, struct err *e);

/** Refused with a line: stores of different sweeps, or with a unit that two of them have. @p at gives each of
 * the @p n that @p x has. */
int store_check_alike(const struct store *(*at)(const void *x, int32_t i), const void *x, int32_t n,
                      struct err *e);

/* ---- study/store_join.c ---- */

void store_join_free(struct store_join *j); /**< NULL is fine; the first store stays */
/** Of stores read together store @p k; of one alone that one. */
struct store *store_part(struct store *s, int32_t k);
int store_next_joined(struct store *s, struct store_walk *w, int64_t most, struct table *rows, struct err *e);
/** store_next() of this file alone. */
int store_next_alone(struct store *s, struct store_walk *w, int64_t most, struct table *rows, struct err *e);

/* ---- study/store_check.c ---- */

/** Of a row with nothing in it; each cell as SQLite has it changes it, in order of columns. */
#define STORE_HASH_SEED UINT64_C(0x2545f4914f6cdd1d)
void store_hash_null(uint64_t *h);
void store_hash_integer(uint64_t *h, int64_t x);
void store_hash_real(uint64_t *h, double x);
void store_hash_text(uint64_t *h, const char *s, size_t n);
/** Of the row that a query has come to. */
uint64_t store_hash_row(struct sqlite3_stmt *row);
/** A row with this hash came; went. */
void store_sum_add(struct store_sum *sum, uint64_t h);
void store_sum_take(struct store_sum *sum, uint64_t h);
/** Checksums of all tables, in the transaction under way. */
int store_seal(struct store *s, struct err *e);
/** Is all that the file has what was committed to it? Its tables are known; their sums are set. Reads the
 * whole file once. ERR_PARSE: damaged. */
int store_verify(struct store *s, struct err *e);

/* ---- study/store_rows.c ---- */

/** Which texts the file has numbers for, so that equal ones share a number across runs. */
int store_read_texts(struct store *s, struct err *e);
void store_texts_free(struct store_texts *t);
/** Row @p row of @p rows. */
int store_put_row(struct store *s, int32_t table, const struct table *rows, int64_t row, struct err *e);

#endif
