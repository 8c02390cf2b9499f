/** @file The verdict on a row of docs/validation.md. */
#ifndef TESTS_VALIDATE_VERDICT_H
#define TESTS_VALIDATE_VERDICT_H

#include <stdbool.h>

/** "yes", or "**WRONG**" and one more in @p wrong. */
static inline const char *verdict(bool ok, int *wrong)
{
    *wrong += !ok;
    return ok ? "yes" : "**WRONG**";
}

#endif
