/** @file A small set-up in which workers train, for tests of sim/gossip. */
#ifndef TESTS_GOSSIP_FIXTURE_H
#define TESTS_GOSSIP_FIXTURE_H

#include "sim/gossip/run.h"
#include "tests/support.h"

KEEPS(struct gossip_pass, gossip_pass_free)

/** Release with gossip_fixture_free(). Does not move: setup points to the other parts. Change any of them
 * before a run. */
struct gossip_fixture {
    struct gossip_data train, test;
    struct gossip_net net;
    struct gossip_shards shards;
    struct topo_graph *graph;
    struct gossip_fabric fabric;
    struct gossip_setup setup;
};

enum { FIXTURE_STEPS = 40 /**< of each worker */ };
/** Of a step without jitter, and of a model of the fixture over a link that is free. */
#define FIXTURE_STEP_S  0.01
#define FIXTURE_MODEL_S 0.006

/** The teacher that a study has where it says nothing: 20,000 training examples of 32 features and 10
 * classes. */
struct gossip_teacher gossip_fixture_teacher(void);

/**
 * @p n_workers with 40 examples each, of 8 features and 4 classes; a net 8-8-4; batch 4, 4 epochs, rate 0.05,
 * momentum 0.9, no decay of the rate. Steps have jitter 0.1, exchanges are instantaneous for what is learned
 * and nothing overlaps. The workers and one more NPU, the server, are on one switch without latency.
 */
void gossip_fixture_build(struct gossip_fixture *f, int32_t n_workers, enum gossip_sharding how);
void gossip_fixture_free(struct gossip_fixture *f);

/** Defaults of the method called @p name. */
struct gossip_settings gossip_fixture_settings(const char *name);

/** Local SGD whose workers never meet: nothing is exchanged. */
struct gossip_settings gossip_fixture_alone(void);

/** Defaults of the method called @p name, with period 1. */
struct gossip_settings gossip_fixture_every_step(const char *name);

/** Run with seed 1, keeping the models; it succeeds. Release @p r with gossip_result_free(). */
void gossip_fixture_run(struct gossip_result *r, const struct gossip_fixture *f,
                        const struct gossip_settings *s);

/** As gossip_fixture_run(), for numbers alone: arrays of what is returned are NULL, nothing is to release. */
struct gossip_result gossip_fixture_numbers(const struct gossip_fixture *f, const struct gossip_settings *s);

/**
 * For a look at a run from event to event: a cluster of which no step has begun yet. Release it with
 * gossip_cluster_free(). gossip_fixture_turn() goes to the next event; false: all is done, or diverged.
 * gossip_fixture_finish() goes there.
 */
void gossip_fixture_start(struct gossip_cluster *c, const struct gossip_fixture *f,
                          const struct gossip_settings *s);
bool gossip_fixture_turn(struct gossip_cluster *c);
void gossip_fixture_finish(struct gossip_cluster *c);

/** Give every worker a model of its own, all numbers in [-1, 1). */
void gossip_fixture_scatter(struct gossip_cluster *c);

/** Bytes of one model. */
double gossip_fixture_model_B(const struct gossip_fixture *f);

/** Models, time, traffic and exchanges are equal, bit for bit. */
void gossip_fixture_assert_same(const struct gossip_result *a, const struct gossip_result *b,
                                const struct gossip_fixture *f);

/** Runs with @p s and @p t are equal as above. Returns the numbers of the first, see
 * gossip_fixture_numbers(). To see that a run can be repeated, give the same settings twice. */
struct gossip_result gossip_fixture_assert_same_run(const struct gossip_fixture *f,
                                                    const struct gossip_settings *s,
                                                    const struct gossip_settings *t);

/** Greatest difference of a number of a model between two runs. */
double gossip_fixture_apart(const struct gossip_result *a, const struct gossip_result *b,
                            const struct gossip_fixture *f);

/** Times, traffic, exchanges and steps are equal, bit for bit: what a replay and its run share. */
void gossip_fixture_assert_same_clock(const struct gossip_result *a, const struct gossip_result *b);

/** What is logged where the fabric's share is 1 and replayed where it is @p share is, to the last bit, the
 * run there, and something is sent. The share of @p f is 1 then. */
void gossip_fixture_assert_replays(struct gossip_fixture *f, const struct gossip_settings *s, double share);

/** A run is refused with ERR_RANGE and a message that has @p text in it. */
void gossip_fixture_assert_refused(const struct gossip_fixture *f, const struct gossip_settings *s,
                                   const char *text);

/**
 * Variables of a case, released where its block ends: what is built, run, or about to run. With what is
 * changed of its clock and of its learning: GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0).
 */
#define GOSSIP_FIXTURE(f, n_workers, how)                                                                    \
    KEEP(struct gossip_fixture, f, gossip_fixture_free);                                                     \
    gossip_fixture_build(&f, n_workers, how)
#define GOSSIP_FIXTURE_WITH(f, n_workers, how, ...)                                                          \
    GOSSIP_FIXTURE(f, n_workers, how);                                                                       \
    do {                                                                                                     \
        struct gossip_clock *clock = &f.setup.clock;                                                         \
        struct gossip_learning *learning = &f.setup.learning;                                                \
        (void)clock, (void)learning, __VA_ARGS__;                                                            \
    } while (0)
#define GOSSIP_RUN(r, f, s)                                                                                  \
    KEEP(struct gossip_result, r, gossip_result_free);                                                       \
    gossip_fixture_run(&r, f, s)
#define GOSSIP_START(c, f, s)                                                                                \
    KEEP(struct gossip_cluster, c, gossip_cluster_free);                                                     \
    gossip_fixture_start(&c, f, s)
#define GOSSIP_SCATTERED(c, f, s)                                                                            \
    GOSSIP_START(c, f, s);                                                                                   \
    gossip_fixture_scatter(&c)

/** Defaults of the method called @p name but for what is said: GOSSIP_SETTINGS(s, "pair", s.period = 2). */
#define GOSSIP_SETTINGS(s, name, ...)                                                                        \
    struct gossip_settings s = gossip_fixture_settings(name);                                                \
    __VA_ARGS__

/** A run by the method called @p name, of whose settings s the rest makes something wrong, is refused. */
#define GOSSIP_REFUSED(f, name, text, ...)                                                                   \
    do {                                                                                                     \
        struct gossip_settings s = gossip_fixture_settings(name);                                            \
        __VA_ARGS__;                                                                                         \
        gossip_fixture_assert_refused(&(f), &s, text);                                                       \
    } while (0)

#endif
