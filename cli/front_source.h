/** @file Rows that weft front reads: of a CSV, of a store, or of the stores of all shards. */
#ifndef CLI_FRONT_SOURCE_H
#define CLI_FRONT_SOURCE_H

#include "base/table.h"
#include "cli/output.h"
#include "study/kind.h"
#include "study/store.h"

/** Zero-initialise; release with cmd_front_close(). */
struct front_source {
    struct table rows; /**< the batch under way; columns are those of every batch */
    const struct study_kind *kind;
    struct store *store; /**< owned; NULL = a CSV, whose rows are one batch */
    struct store_walk walk;
    struct table read;  /**< a point has several rows: as read, without KEEP_ROW */
    int64_t point, n;   /**< of the last row: its point, -1 before the first, and its number within it */
    bool begun;         /**< the first batch was handed out */
    struct origin from; /**< of a store */
    bool complete;      /**< no point of the store is missing */
    bool survivors;     /**< the store has what `keep` of its study left */
};

/** Open the operands ("-": a CSV from standard input) and read the first batch. Errors as table_read_csv()
 * and store_read(). */
int cmd_front_open(struct front_source *s, const struct run *run, struct err *e);
/** The next rows, which the caller may change; NULL after the last. Errors as store_next(). */
int cmd_front_next(struct front_source *s, struct table **rows, struct err *e);
/** The next rows of s->walk into s->rows, whatever was handed out. */
int cmd_front_read(struct front_source *s, struct err *e);
void cmd_front_close(struct front_source *s);

#endif
