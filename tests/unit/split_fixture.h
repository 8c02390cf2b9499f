/** @file Split problems for tests: shipped networks and workloads with prices, put together without the study
 * loader. */
#ifndef TESTS_UNIT_SPLIT_FIXTURE_H
#define TESTS_UNIT_SPLIT_FIXTURE_H

#include "alloc/problem.h"
#include "topo/bill.h"
#include "workloads/step.h"

enum { SPLIT_MAX_WORKLOADS = 4 };

/** Zero-initialise; release with split_free(). `problem` points into the rest. */
struct split {
    struct yaml_doc docs[2 + SPLIT_MAX_WORKLOADS];
    int n_docs;
    bool physical; /**< set before: count what links carry; else as LIBRA does */
    struct topo_network net;
    struct topo_parts parts;
    struct step_tree trees[SPLIT_MAX_WORKLOADS];
    struct step_fn fns[SPLIT_MAX_WORKLOADS], step;
    int n_workloads;
    struct alloc_rows rows;
    const char *names[TOPO_MAX_DIMS];
    double nic_usd_per_Bps[TOPO_MAX_DIMS];
    struct alloc_problem problem;
};

/** configs/networks/NETWORK.yaml priced by configs/parts/PARTS.yaml, and configs/workloads/W.yaml of each,
 * summed. */
void split_open(struct split *s, const char *network, const char *parts, const char *const *workloads, int n);
/** Constraint as text. */
void split_row(struct split *s, const char *text);
void split_free(struct split *s);

#endif
