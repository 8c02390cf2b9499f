/** @file Units of work on threads: counted, stopped at will, ended by a failure that concerns all. */
#ifndef STUDY_POOL_H
#define STUDY_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/** Called after each unit, by one thread at a time; may print progress. Returning false stops: units under
 * way are finished, no other begins. */
typedef bool pool_progress(void *context, int64_t done, int64_t total);

/** What a unit did, besides error codes. */
enum { POOL_DONE = 0, POOL_SKIPPED = 1 /**< there was nothing to do: it does not count */ };

/** Unit @p i: 0 or POOL_SKIPPED, or an error code, with @p e, that ends all. What is wrong with this unit
 * alone is for the unit to write down, not to return. */
typedef int pool_unit(void *data, int64_t i, struct err *e);

struct pool {
    pool_unit *unit;
    void *data;
    pool_progress *progress; /**< NULL: none */
    void *context;           /**< of progress */
    int64_t total;           /**< that progress counts towards */
    int64_t done;
    int stop; /**< set by progress or a failure; stays */
};

/**
 * Units 0, @p stride, 2 @p stride, .. below @p n, each by whichever of @p threads is free, in order where
 * threads is 1. May be called again with what is left; after a stop it does nothing.
 * @return 0, or the code of the failure that came first.
 */
int pool_run(struct pool *p, int64_t n, int64_t stride, int32_t threads, struct err *e);

/**
 * Write down what became of a unit: @p run true, @p kept_rc its @p rc, @p message a copy of what @p e says,
 * owned by the caller, as it was where @p rc is 0.
 * @return 0, but ERR_NOMEM where that is @p rc, or where there is no room for the message: it ends all.
 */
int pool_keep(bool *run, int *kept_rc, char **message, int rc, struct err *e);

#endif
