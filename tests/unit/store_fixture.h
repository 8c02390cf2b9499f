/** @file Rows of a sweep that was never run, for tests of stores. */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include "tests/support.h"

#include "study/store.h"

/** Columns as those of a sweep of two keys whose names differ in case alone. */
void stored_columns(struct table *t);

/** Append the row of a point: every value drawn from its number and @p version; blanks, any finite double,
 * texts of all kinds; up to @p most_dims dimensions, and a plan in every third where @p trains. */
void stored_put(struct table *t, int64_t point, int version, int32_t most_dims, bool trains);

/** A sweep of @p n_units units of 10 points; unit u has points u, u + n_units, .. */
struct store_head stored_head(int64_t n_units);
/** Append the rows of unit @p u of such a sweep. */
void stored_put_unit(struct table *t, int64_t u, int64_t n_units);
/** All its rows, in order of points; columns too. */
void stored_all(struct table *t, int64_t n_units);

/** store_open() for such rows. */
int stored_open(struct store **out, const char *path, const struct store_head *head,
                const struct table *columns, struct spans *done, struct sweep_counts *counts, struct err *e);

/** All rows that a store has, @p most at a time. */
void stored_read(struct table *all, struct store *s, int64_t most);

/** Columns that @p got lacks are blank in @p want. */
void assert_same_rows(const struct table *got, const struct table *want);

#endif
