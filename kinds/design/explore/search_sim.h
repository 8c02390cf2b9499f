/** @file The best plans of a search, timed once more by simulation. */
#ifndef KINDS_DESIGN_EXPLORE_SEARCH_SIM_H
#define KINDS_DESIGN_EXPLORE_SEARCH_SIM_H

#include "kinds/design/answer/choice.h"

/** Passes of chunks over dimensions in one step, at most: about half a second. */
enum { SEARCH_SIM_EVENTS = 1000000 };

/**
 * Time the first SEARCH_SIM_PLANS plans that searches found (c->plans) by model chunk, each at its own
 * bandwidths, whatever the study's model: chunk_s of struct search_found, chunk_order of struct
 * search_result. The study's answer stays. No simulation where the study counts links as no simulation does
 * (semantics libra, ideal routing, ASTRA-sim's arithmetic). Deterministic for any number of threads.
 * ERR_NOMEM.
 */
int search_simulate(struct design_choice *c, struct err *e);

#endif
