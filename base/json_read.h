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

/** Line at which the object read last begins, 1-based. */
int64_t json_reader_line(const struct json_reader *r);
void json_reader_close(struct json_reader *r); /**< NULL is fine */

/** Member of an object; NULL when it has none, or @p v is no object or NULL. */
const struct json_value *json_value_get(const struct json_value *v, const char *key);
/** Entries of an array; 0 for anything else. */
size_t json_value_count(const struct json_value *v);
/** Entry @p i < json_value_count(v). */
const struct json_value *json_value_at(const struct json_value *v, size_t i);
/** Text of a string, UTF-8; NULL for anything else. */
const char *json_value_text(const struct json_value *v);
bool json_value_is_array(const struct json_value *v);
/** True for null and for NULL. */
bool json_value_is_null(const struct json_value *v);

#endif
