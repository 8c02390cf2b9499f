/** @file Studies that are drawn as text: what random cases of several suites choose and append by. */
#ifndef TESTS_UNIT_DRAW_TEXT_H
#define TESTS_UNIT_DRAW_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "tests/support.h"

/** True with probability @p p. */
static inline bool chance(struct rng *r, double p)
{
    return rng_uniform(r) < p;
}

static inline int pick_int(struct rng *r, const int *values, int n)
{
    return values[rng_below(r, (uint32_t)n)];
}

static inline const char *pick_word(struct rng *r, const char *const *words, int n)
{
    return words[rng_below(r, (uint32_t)n)];
}

/** One of the integers, or words, that follow, each as likely. */
#define PICK(r, ...) pick_int(r, (const int[]){ __VA_ARGS__ }, (int)COUNT_OF(((const int[]){ __VA_ARGS__ })))
#define PICK_WORD(r, ...)                                                                                    \
    pick_word(r, (const char *const[]){ __VA_ARGS__ }, (int)COUNT_OF(((const char *const[]){ __VA_ARGS__ })))

enum { TEXT = 8192 };

/** Appends to an array of TEXT bytes. */
__attribute__((format(printf, 2, 3))) static inline void add(char *text, const char *fmt, ...)
{
    size_t n = strlen(text);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text + n, TEXT - n, fmt, ap);
    va_end(ap);
}

#endif
