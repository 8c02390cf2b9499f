/** @file JSON in: the objects of a large array one at a time, so that memory is that of one object. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/** A value of the object read last: borrowed from the reader, gone at its next step. */
struct json_value;

/** Opaque: hides the library behind it. Release with json_reader_close(). */
struct json_reader;

enum { JSON_READER_MAX_BYTES = 64 << 20 /**< of one object */ };

/**
 * Open a file that holds an array of objects; "-" is standard input.
 * @param[out] out  NULL on failure.
 * @return 0, ERR_NOMEM, or ERR_PARSE with `path:line: ...`: missing, unreadable, not an array.
 */
int json_reader_open(struct json_reader **out, const char *path, struct err *e);

/**
 * The next object of the array; NULL behind the last one, where nothing but blanks may follow.
 * @return 0, ERR_NOMEM, ERR_IO, or ERR_PARSE with `path:line: ...`: not JSON (RFC 8259, UTF-8), a key twice
 * in one object, a NUL in a text, an object of more than JSON_READER_MAX_BYTES, an entry that is no object.
 * After a failure the reader can only be closed. Time O(bytes of the object).
 */
int json_reader_next(struct json_reader *r, const struct json_value **out, struct err *e);

/** Line at which the object read last begins, 1-based. O(1). */
int64_t json_reader_line(const struct json_reader *r);
void json_reader_close(struct json_reader *r); /**< NULL is fine */

/** Member of an object; NULL when it has none, or @p v is no object or NULL. O(1) on average. */
const struct json_value *json_value_get(const struct json_value *v, const char *key);
/** Entries of an array; 0 for anything else. */
size_t json_value_count(const struct json_value *v);
/** Entry @p i < json_value_count(v). */
const struct json_value *json_value_at(const struct json_value *v, size_t i);
/** Text of a string, UTF-8; NULL for anything else. */
const char *json_value_text(const struct json_value *v);
/** False for NULL; tells an empty array from what is none, which json_value_count() does not. */
bool json_value_is_array(const struct json_value *v);
/** True for null and for NULL. */
bool json_value_is_null(const struct json_value *v);

/*
 * A text file line by line: memory for one line, whatever the size of the file.
 */

/** `= { 0 }` is closed. Release with lines_close(). */
struct lines {
    const char *path; /**< borrowed */
    int64_t line;     /**< of `s`, 1-based; 0 before the first */
    char *s;          /**< the line: owned, terminated, without its end (LF or CR LF); may be changed */
    size_t n;         /**< bytes of `s` */
    /* Private to base/json_read.c: */
    char *block;              /**< owned; what read() gave last */
    size_t at, end, cap, max; /**< bytes block[at..end) are unread; room of `s`; longest line */
    int fd;                   /**< owned; -1: closed */
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

/** `= { 0 }` and a closed one are fine. */
void lines_close(struct lines *l);

#endif
