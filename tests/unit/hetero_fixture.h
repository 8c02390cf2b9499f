/** @file Random profiles and problems of layers on types of resources, for tests. */
#ifndef TESTS_UNIT_HETERO_FIXTURE_H
#define TESTS_UNIT_HETERO_FIXTURE_H

#include "base/rng.h"
#include "sim/hetero/search.h"

/** What to draw; `= { 0 }` with layers, types and units is a plain one. */
struct hetero_fixture_kind {
    int32_t n_layers, n_types;
    int64_t most_units; /**< limits of types: 1 to so many */
    bool overlap;
    enum hetero_handover handover;
    bool hosts;   /**< types but the first need up to 3 units of the first, which then has 4 times the units */
    bool servers; /**< on the first type */
    bool extreme; /**< shares that units divide are 0 or 1 for half of the types */
};

/** Zero-initialise; release with hetero_fixture_free(). Does not move: parts point to each other. */
struct hetero_fixture {
    struct hetero_profile profile;
    struct hetero_link *links;
    struct hetero_problem problem;
};

/** Seconds and prices are log-uniform over two decades. No throughput is asked for yet. */
void hetero_fixture_draw(struct hetero_fixture *f, struct rng *rng, const struct hetero_fixture_kind *kind);
void hetero_fixture_free(struct hetero_fixture *f);

/** The kind of instance @p i of many: handovers, overlap, hosts, servers and shares in turn. */
struct hetero_fixture_kind hetero_fixture_kind_of(int i, int32_t n_layers, int32_t n_types,
                                                  int64_t most_units);

/** Run the scheduler of that name on f->problem; release @p s. */
void hetero_fixture_run(struct hetero_search *s, const struct hetero_fixture *f, const char *name);

#endif
