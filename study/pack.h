/**
 * @file Rows, counts and fronts as bytes, from rank to rank.
 *
 * Not a format: nothing of it is stored, and both ends run the same build. What is packed is what the store
 * would get, so ranks cannot change a row: reals keep every bit, blanks stay blanks.
 */
#ifndef STUDY_PACK_H
#define STUDY_PACK_H

#include "study/fleet.h"
#include "study/front.h"

/**
 * A batch as bytes, *bytes owned by the caller. Both sides know the columns: of each row there is one bit a
 * cell (has it a value?), then 8 bytes for a number, the letters and a NUL for a text. Numbers stand as in
 * memory: ranks are of one kind of machine, and what is not is refused.
 * @return 0, or ERR_NOMEM, then *bytes is NULL. O(bytes).
 */
int fleet_pack(unsigned char **bytes, size_t *n, const struct fleet_batch *b, struct err *e);

/**
 * The batch of @p n bytes. Nothing outside them is read, whatever they say.
 * @param[in,out] b  its rows have columns, and no rows yet; the caller frees it, also after failure.
 * @return 0; ERR_LIB: "rows from another rank: ..."; ERR_NOMEM. O(bytes).
 */
int fleet_unpack(struct fleet_batch *b, const unsigned char *bytes, size_t n, struct err *e);

/*
 * Fronts that one rank has, to all.
 */

/**
 * A copy of the first rank's fronts on every rank, called by all; @p from is read on the first alone, where
 * its fronts are sorted; NULL: none. What was in @p to is freed. ERR_NOMEM, ERR_LIB.
 */
int campaign_share_front(struct front_set *to, const struct front_set *from, struct err *e);

#endif
