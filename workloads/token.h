/** @file Text cut into words with their places. For the text readers of this folder only. */
#ifndef WORKLOADS_TOKEN_H
#define WORKLOADS_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/** Bytes between blanks; n is 0 at the end of the file, whose place is that just behind the last word. */
struct token {
    const char *s; /**< borrowed, not terminated */
    size_t n;
    int32_t line, col; /**< from 1 */
};

/** One word ahead of the reader. Plain value: a copy looks further ahead without moving the original. */
struct token_reader {
    const char *name, *text; /**< borrowed; name stands for the file in messages */
    size_t n, pos;
    int32_t line, col; /**< of text[pos] */
    struct token token, next;
};

/** Start before the first word of @p text (@p n bytes, any). */
void token_begin(struct token_reader *r, const char *name, const char *text, size_t n);
/** Move on: next becomes token. */
void token_advance(struct token_reader *r);
bool token_is(const struct token *t, const char *word);
/** Words from r->next to the end of its line. Time O(bytes of the line). */
int token_count_line(const struct token_reader *r);

enum { TOKEN_SHOWN = 48 };
/** The token in quotes, cut to fit, without bytes that a terminal would act on; "end of file". Returns @p
 * out. */
const char *token_show(char out[TOKEN_SHOWN], const struct token *t);
/** The token itself, terminated, cut to fit @p size, control characters as '?'. Returns @p out. */
const char *token_copy(char *out, size_t size, const struct token *t);

/** Record "name:line:col: " and the message at @p t; returns @p code. */
int token_fail(const struct token_reader *r, const struct token *t, struct err *e, enum err_code code,
               const char *fmt, ...) ERR_PRINTF(5, 6);

/** Take the next word as a whole number below 2^63; ERR_PARSE: "what: is X, need a whole number". */
int token_take_count(struct token_reader *r, const char *what, int64_t *out, struct err *e);
/** Take the word @p label; its colon may be missing. 0 or ERR_PARSE. */
int token_take_label(struct token_reader *r, const char *label, struct err *e);

#endif
