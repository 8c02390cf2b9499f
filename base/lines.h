/** @file A text file line by line: memory for one line, whatever the size of the file. */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/** `= { 0 }` is closed. Release with lines_close(). */
struct lines {
    const char *path; /**< borrowed */
    int64_t line;     /**< of `s`, 1-based; 0 before the first */
    char *s;          /**< the line: owned, terminated, without its end (LF or CR LF); may be changed */
    size_t n;         /**< bytes of `s` */
    /* for lines.c only */
    char *block;
    size_t at, end, cap, max;
    int fd;
};

/**
 * Open @p path, "-" being standard input; lines of more than @p max bytes are an error.
 * @param[out] l  on failure closed.
 * @return 0, ERR_NOMEM, or ERR_PARSE: missing, a folder, not readable.
 */
int lines_open(struct lines *l, const char *path, size_t max, struct err *e);

/**
 * Read the next line into l->s; @p more is false at the end of the file. The last line need not be ended.
 * @return 0; ERR_NOMEM; ERR_IO when reading fails; ERR_PARSE with `path:line: ...` for a line that is longer
 * than the limit or has a NUL byte: it is passed over, l->s is empty, and the next call reads on.
 */
int lines_next(struct lines *l, bool *more, struct err *e);

void lines_close(struct lines *l);

#endif
