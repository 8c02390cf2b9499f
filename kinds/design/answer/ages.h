/**
 * @file How old the prices of a design are: of the parts that its tiers are built from, and of its servers.
 *
 * Each has the date of its source; one of a month or a year is as young as that can be. Prices that a study
 * gives itself are its own business.
 */
#ifndef KINDS_DESIGN_ANSWER_AGES_H
#define KINDS_DESIGN_ANSWER_AGES_H

#include "kinds/design/ask/point.h"

enum { AGES_MAX = 256 };

/** Prices of one or more designs, each once. Zero-initialise. Names and dates are borrowed from the points.
 */
struct ages {
    struct age {
        char name[96], date[32];
        int64_t day; /**< since 1970-01-01; INT64_MIN: no date can be read */
    } list[AGES_MAX];
    int32_t n;
};

/** Add those of @p s. Beyond AGES_MAX none is added. */
void ages_add(struct ages *a, const struct design_point *s);

/** How many are older than @p days on @p today, days since 1970; *oldest is the first of these, or NULL.
 * Those without a date are not counted. */
int32_t ages_old(const struct age **oldest, const struct ages *a, int64_t today, int64_t days);

/** The last day that a date like "2026", "2026-03", "read 2026-03-20" can mean; INT64_MIN: it is none. */
int64_t ages_day(const char *date);

#endif
