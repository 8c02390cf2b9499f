/**
 * @file JSON out: objects and arrays written in order, numbers that round-trip, never NaN.
 *
 * The order of members is the order of the calls, so the same run gives the same bytes. Nothing fails
 * half-way: see struct json. JSON in: base/json_read.h.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Jansson (base/json_read.c) has a function of this name; without another symbol it would call ours. */
#define json_real json_put_real

enum { JSON_MAX_DEPTH = 16 };

/**
 * `struct json j = { .out = &text };` then open/put/close; `key` is NULL inside arrays.
 * Everything stands on one line, separated by ", " and ": ". Bytes that are not UTF-8 become
 * U+FFFD. Lack of memory shows in text_check() of the text. More than JSON_MAX_DEPTH open brackets are
 * a bug (assert).
 */
struct json {
    struct text *out;                /**< borrowed */
    bool plain;                      /**< YAML in one line: no quotes where a word needs none */
    int depth;                       /**< open brackets; 0 outside of the outermost */
    bool filled[JSON_MAX_DEPTH + 1]; /**< something was written at this depth: a comma is due */
};

void json_open(struct json *j, const char *key, char bracket); /**< '{' or '[' */
void json_close(struct json *j, char bracket);                 /**< '}' or ']' */
void json_real(struct json *j, const char *key, double x);     /**< round-trips; null unless finite */
void json_count(struct json *j, const char *key, int64_t n);
void json_bool(struct json *j, const char *key, bool b);
void json_text(struct json *j, const char *key, const char *s); /**< null for NULL */
#endif
