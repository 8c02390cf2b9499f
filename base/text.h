/** @file A growing string, names close to a name, and files that appear whole or not at all. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"

/** Empty: `struct text t = { 0 };`. Release with text_free(). */
struct text {
    char *s;       /**< owned, always terminated once something was added; NULL when empty */
    size_t n, cap; /**< bytes without the terminator; room with it */
    bool failed;   /**< an allocation failed: what follows was dropped; text_check() says so */
    bool wide;     /**< tables for people (base/sheet.h) may be wider than a page */
};

/** Append; on lack of memory sets t->failed and drops, so that long outputs need one check at the end. */
void text_add(struct text *t, const char *s, size_t n);
void text_puts(struct text *t, const char *s);
/** "a, b, c" */
void text_put_words(struct text *t, const char *const *words, size_t n);
void text_printf(struct text *t, const char *fmt, ...) ERR_PRINTF(2, 3);
/** Of any length. @p ap is used up; what is printed must not be of @p t itself, which may move. */
void text_vprintf(struct text *t, const char *fmt, va_list ap) ERR_PRINTF(2, 0);
/** Those lines of @p lines, each ended by a newline, that @p t does not have yet. O(lines * bytes). */
void text_add_new_lines(struct text *t, const char *lines);
/**
 * The next piece of a list, up to @p stop or the end; NULL: *rest is at the end, or NULL. @p rest moves
 * behind it, @p n is its length.
 *
 *     size_t n;
 *     for (const char *rest = text_str(&lines), *line; (line = text_next(&rest, '\n', &n));)
 */
const char *text_next(const char **rest, char stop, size_t *n);
/** The same of a text that may be changed: the piece is ended in place, and a list has one piece more than
 * @p stop in it. NULL: *rest is NULL, as it is behind the last. */
char *text_split(char **rest, char stop);
/** Forget the content, keep the memory. */
void text_clear(struct text *t);
void text_free(struct text *t);
/** 0, or ERR_NOMEM when anything was dropped. */
int text_check(const struct text *t, struct err *e);
/** Was anything ever dropped from any text of this process? Programs ask before an output appears.
 * Thread-safe. */
bool text_any_cut(void);

/** Most texts that are looked up among others differ in their first byte: no call for those. */
static inline bool text_same(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

/** The text so far; "" when nothing was added yet. */
const char *text_str(const struct text *t);

/**
 * Read the whole file (at most @p max bytes, less than SIZE_MAX) in place of what @p t held. Pipes and
 * files of unknown size are read to their end.
 * @return 0; ERR_NOMEM; ERR_IO when the disk fails; or ERR_PARSE when missing, a directory, unreadable or
 * larger: "PATH: no such file". After failure @p t is empty.
 */
int text_read_file(struct text *t, const char *path, size_t max, struct err *e);

/**
 * The word of @p words (@p n of them) nearest to @p name, the first of equals, or NULL when none is
 * similar: more than max(1, length/3) letters to insert, delete, replace or swap with the
 * next one (optimal string alignment, a restricted Damerau-Levenshtein distance). Upper and
 * lower case differ by less than one letter. Time O(sum of products of lengths); words
 * longer than 63 bytes are similar to none.
 */
const char *text_nearest(const char *name, const char *const *words, size_t n);

/** What @p name may have meant: the shortest word that contains it ("h100" in "hgx-h100"; three letters at
 * least), else the nearest, else one that it begins with ("sim" of "simulate"). NULL: none of these. */
const char *text_suggest(const char *name, const char *const *words, size_t n);

/** Append @p n bytes for people to read, whoever wrote them: each character that is not shown, and each byte
 * that is none, is a "?", but those of @p kept ("\n\t"). @p s is terminated behind them. */
void text_add_shown(struct text *out, const char *s, size_t n, const char *kept);

/** All of @p t as text_add_shown() would have it, newlines and tabs kept. 0 or ERR_NOMEM. */
int text_show(struct text *t, struct err *e);

/**
 * Would a spreadsheet take this CSV field for a formula: = + - @ or a tab or CR in front, maybe behind
 * apostrophes, and no number? Such a field is written with an apostrophe in front of it;
 * text_unguard() returns where a field begins that was read: behind that apostrophe.
 */
bool text_is_formula(const char *s);
char *text_unguard(char *s);

/**
 * Take the quotes off a CSV field that begins at @p s with '"', in place: "" inside stands for one. What is
 * left moves to the front and is terminated. Returns what follows the closing quote; NULL when there is none.
 */
char *text_unquote(char *s);

/**
 * FNV-1a, 64 bit, of @p n bytes, continuing from @p seed (TEXT_HASH_SEED to start). Not for adversaries:
 * collisions are easy to make. Results depend on bytes alone, so hashes may be stored and compared between
 * machines.
 */
unsigned long long text_hash(unsigned long long seed, const void *data, size_t n);
#define TEXT_HASH_SEED 14695981039346656037ULL

#endif
