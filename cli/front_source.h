/** @file Rows of a sweep a batch at a time, from a CSV or a store. */
#ifndef CLI_FRONT_SOURCE_H
#define CLI_FRONT_SOURCE_H

#include "base/table.h"
#include "cli/output.h"

/** Zero-initialise; release with front_source_close(). */
struct front_source {
    struct table rows;  /**< the batch under way; columns are those of every batch */
    bool taken;         /**< it was handed out */
    struct origin from; /**< of a store */
};

/** Open @p path ("-": a CSV from standard input) and read the columns. A CSV is read at once. Errors as
 * table_read_csv() and store_read(). */
int front_source_open(struct front_source *s, const char *path, struct err *e);
/** The next rows, which the caller may change; NULL after the last. */
int front_source_next(struct front_source *s, struct table **rows, struct err *e);
void front_source_close(struct front_source *s);

#endif
