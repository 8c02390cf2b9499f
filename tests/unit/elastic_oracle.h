/** @file Slots of elastic jobs so small that every ring and every set of rings can be looked at. */
#ifndef TESTS_UNIT_ELASTIC_ORACLE_H
#define TESTS_UNIT_ELASTIC_ORACLE_H

#include "sim/slots/slots.h"

/* What cannot be built or exceeds the room here fails the test. */

enum { ORACLE_SERVERS = 5, ORACLE_IN_RING = 7, ORACLE_JOBS = 4, ORACLE_WORKERS = 5, ORACLE_RINGS = 2000 };

/** A cluster of up to four servers with up to three resources and narrow links, and up to four jobs. */
struct oracle_case {
    struct cluster cluster;
    struct elastic_job jobs[ORACLE_JOBS];
    char ids[ORACLE_JOBS][8];
    int32_t n_jobs, n_slots;
};
/** Case @p number: even ones are racks, odd ones described networks of several shapes. Always the same. */
void oracle_case_build(struct oracle_case *x, int32_t number);
void oracle_case_free(struct oracle_case *x);

/** A ring and what it loads, each row a share of the capacity: [servers][resources], then arcs. */
struct oracle_ring {
    int32_t n, workers_total;
    int32_t servers[ORACLE_IN_RING], workers[ORACLE_IN_RING];
};
struct oracle_rings {
    struct oracle_ring rings[ORACLE_RINGS];
    int32_t n;
};
/** Every ring of @p job of up to @p most workers: all sets of servers, all their cyclic orders, all ways to
 * spread workers; each server has room for its workers and each hop by itself for its bandwidth. */
void oracle_list_rings(struct oracle_rings *out, const struct cluster *c, const struct elastic_job *job,
                       int32_t most);

/** Load of a ring on each row, in units of the resource and B/s: shape [servers * resources + arcs]. */
void oracle_load(double *load, const struct cluster *c, const struct elastic_job *job,
                 const struct oracle_ring *ring);

/** Worker counts of all jobs that fit together: feasible[code], code = sum of k_i * (ORACLE_WORKERS + 1)^i.
 */
struct oracle_counts {
    bool *feasible;
    int32_t n_codes;
};
void oracle_counts_build(struct oracle_counts *out, const struct oracle_case *x);
void oracle_counts_free(struct oracle_counts *x);

/** Most that one slot can gain, less the cost of GPUs, one a worker: by trying every set of rings that fits.
 */
double oracle_slot(const struct oracle_counts *counts, const struct elastic_slot *slot);

/** Most that the whole run can come to in sum of `aim`: by trying every sequence of worker counts. */
double oracle_run(const struct oracle_counts *counts, const struct oracle_case *x);

#endif
