/**
 * @file What tells designs apart beside network, workload and goal: the plan of parallelism and what else a
 * sweep varies, as phrases, each ended by a newline: "tp 8\n\tzero 2\nbatch 1024\n". A tab begins those that
 * go first where room is short.
 */
#ifndef PLOTS_PHRASES_H
#define PLOTS_PHRASES_H

#include <stdbool.h>

#include "plots/rows.h"

/** Whether column @p col is an axis of the sweep that no other column shows: of those between point and
 * network, one whose key's last word ("tp" of "workload.parallel.tp") is not a column too. */
bool phrases_is_axis(const struct table *t, int32_t col);

/** Append the value of an axis; of the path of a YAML file its name alone: llama3-8b. */
void phrases_put_value(struct text *out, const char *value);

/** Append the axes of the row as phrases: the key's last word and the value, of a path its file name alone.
 * A size or bandwidth that the network's own word shows is left out. ERR_NOMEM. */
int phrases_put_axes(struct text *out, const struct rows *r, struct err *e);

/** Append the plan in column @p col ("tp 8, pp 4, microbatch 1 of 16, zero 2") with long words cut short: "mb
 * 1×16". A tab goes before all but the degrees. ERR_NOMEM. */
int phrases_put_plan(struct text *out, const struct rows *r, int32_t col, struct err *e);

/** Whether @p phrases has the phrase of @p n bytes. */
bool phrases_have(const char *phrases, const char *phrase, size_t n);

/** The next phrase at *@p at, which moves on, with its tab but without its newline: its length into @p n.
 * NULL at the end. */
const char *phrases_next(const char **at, size_t *n);

#endif
