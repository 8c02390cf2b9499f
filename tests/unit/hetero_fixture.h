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
    bool hosts; /**< types but the first need up to 3 units of the first, which then has 4 times the units */
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

/**
 * Instance @p i of hetero_fixture_n: 1 to 16 layers, 1 to 40 types, few and many units, every kind, with a
 * throughput from a hundredth of what is reached to all of it. False: no plan has a unit for every stage.
 */
bool hetero_fixture_instance(struct hetero_fixture *f, int i);
extern const int hetero_fixture_n;

/** Run the scheduler of that name on f->problem, with the defaults but for the evaluations; release @p s. */
void hetero_fixture_search(struct hetero_search *s, const struct hetero_fixture *f, const char *name,
                           int64_t evaluations, uint64_t seed);

/** The same with the default evaluations and seed 1. */
void hetero_fixture_run(struct hetero_search *s, const struct hetero_fixture *f, const char *name);

/** Instance @p i, which must have a plan, released where the block ends. */
#define HETERO_FIXTURE(f, i)                                                                                 \
    KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };                                             \
    assert_true(hetero_fixture_instance(&f, i))

/** Searches that are released where the block ends: one that has not begun, and those of a scheduler. */
#define SEARCH(s, ...)                                                                                       \
    KEEP(struct hetero_search, s, hetero_search_free);                                                       \
    OK(hetero_search_build(&s, __VA_ARGS__, e))
#define HETERO_RUN(s, f, name)                                                                               \
    KEEP(struct hetero_search, s, hetero_search_free);                                                       \
    hetero_fixture_run(&s, f, name)
#define HETERO_SEARCH(s, f, name, evaluations, seed)                                                         \
    KEEP(struct hetero_search, s, hetero_search_free);                                                       \
    hetero_fixture_search(&s, f, name, evaluations, seed)

#endif
