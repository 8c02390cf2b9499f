/** @file Shards of a sweep as one, with the rows that an undivided run keeps. */
#ifndef EXPLORE_CAMPAIGN_MERGE_H
#define EXPLORE_CAMPAIGN_MERGE_H

#include "explore/store.h"

/**
 * store_merge(), and where the study keeps survivors alone, those of all shards together: each shard knew its
 * own. Errors as there. O(rows).
 */
int campaign_merge(const char *out, const char *const *paths, int32_t n, struct err *e);

#endif
