/** @file Models, NPUs, networks and legal plans for tests of planned training. */
#ifndef TESTS_UNIT_TRAINING_FIXTURE_H
#define TESTS_UNIT_TRAINING_FIXTURE_H

#include "base/rng.h"
#include "tests/unit/step_oracle.h"
#include "workloads/plan_cost.h"

/** configs/models/NAME.yaml, configs/npus/NAME.yaml. */
struct model fixture_model(const char *name);
struct topo_npu fixture_npu(const char *name);

/** Read @p text as the file m.yaml, whose root is a model. */
int fixture_read_model(struct model *m, const char *text, struct err *e);

/** Rings d1, d2, ... of 100 GB/s, 50 GB/s, ...; NPUs are A100. */
struct topo_network fixture_network(const int32_t *sizes, int32_t n_dims);

/** A switch of 8 with the measured all-reduce of a node of A100: 79 us + 2 (n-1)/n S / 227 GB/s. */
struct topo_network fixture_node(void);

/** The rest as plan_defaults(). */
struct plan fixture_plan(int64_t tp, int64_t cp, int64_t dp, int64_t pp, int64_t batch);

/** An NPU whose times are bytes (mem): endless arithmetic, one byte per second; or FLOP (not mem). */
struct topo_npu fixture_counter(bool mem);

/** Seconds of each collective once: the slowest dimension decides; or, its stages one after the other. And
 * those of each dimension's links. */
void fixture_once(double *once_s, struct plan_busy *busy, const struct plan_cost *c,
                  const struct plan_place *place, const struct topo_network *net, bool latency);

/** Time of the step of a legal plan, by the slowest dimension of each collective. */
double fixture_time(const struct model *m, const struct plan *p, const struct topo_network *net);

struct random_training {
    struct model model;
    struct plan plan;
    struct topo_network net;
    struct plan_place place;
};

/** A legal plan of a random transformer on a random network of 1 to 4 dimensions. */
void fixture_random(struct random_training *x, struct rng *r);

#endif
