/** @file The analytical back-ends of ASTRA-sim 2, restated: collectives in whole nanoseconds, as that program
 * counts. */
#ifndef SIM_ASTRA_ASTRA_H
#define SIM_ASTRA_ASTRA_H

#include "workloads/algorithm.h"
#include "workloads/collective.h"

/*
 * For comparison with ASTRA-sim 2.x (checked against astra-sim 518bd51 with astra-network-analytical 599a047,
 * to the nanosecond), without that program. Its meaning of a number is kept, also where weft's own differs:
 *
 * - "GB/s" is 2^30 B/s, and is what one link or one message has, not one NPU; memory is in 1e9 B/s.
 * - Without contention (SIM_ASTRA_UNAWARE) no link is ever busy: direct on a ring or switch, several active
 * chunks count the same bandwidth several times. With contention (SIM_ASTRA_AWARE) each
 * directed link is a first-come first-served queue and messages are stored and forwarded, so a switch costs
 * two serialisations.
 * - A ring collective uses one direction of the ring.
 *
 * What that program answers wrongly without a word is not kept: halving-doubling of a size that is no power
 * of two is an error, as in its files are lists that do not match the dimensions, no chunks and no bandwidth;
 * five and more dimensions are all used.
 */

enum sim_astra_backend {
    SIM_ASTRA_UNAWARE, /**< congestion-unaware */
    SIM_ASTRA_AWARE,   /**< congestion-aware; one dimension */
};

/** Shapes that ASTRA-sim has, in its own order: ring, full, switch. */
enum { SIM_ASTRA_SHAPES = 3 };
extern const enum topo_shape sim_astra_shapes[SIM_ASTRA_SHAPES];

/** Has ASTRA-sim the shape of dimension @p d? ERR_RANGE, the message ends with @p tail. */
int sim_astra_check_shape(enum topo_shape shape, int32_t d, const char *tail, struct err *e);

struct sim_astra_dim {
    enum topo_shape shape; /**< of sim_astra_shapes */
    int32_t size;          /**< members, >= 2 */
    double GiBps;          /**< of one link [2^30 B/s], > 0 */
    double lat_ns;         /**< of one link, >= 0; a message through a switch passes two */
};

/** Network and system. Start from sim_astra_defaults(). */
struct sim_astra_setup {
    enum sim_astra_backend backend;
    int32_t n_dims;
    struct sim_astra_dim dims[TOPO_MAX_DIMS]; /**< shape [n_dims], innermost first */
    enum topo_algorithm
        algorithms[TOPO_MAX_DIMS]; /**< shape [n_algorithms]: ring, direct, halving-doubling, tree */
    int32_t n_algorithms;          /**< must be n_dims */
    int32_t splits; /**< preferred-dataset-splits, 1 to STAGE_MAX_CHUNKS; what remains is one chunk more */
    int32_t active_chunks; /**< of a dimension at a time, >= 1 */
    int64_t endpoint_ns;   /**< endpoint-delay, >= 0 */
    double mem_GBps;       /**< local-mem-bw [1e9 B/s] that reductions use, > 0; INFINITY: they are free */
    bool baseline;         /**< all-reduce: one of full size in every dimension, instead of localBWAware */
    bool lifo; /**< of a system file: of several collectives the one issued last goes first; one runs here */
};

struct sim_astra_collective {
    enum collective_kind kind; /**< all-reduce, reduce-scatter, all-gather or all-to-all */
    int64_t bytes;             /**< entering per NPU, >= 1 */
    bool in[TOPO_MAX_DIMS];    /**< over which dimensions, each as a whole; one at least */
};

struct sim_astra_result {
    int64_t time_ns;                /**< when it ends */
    int64_t busy_ns[TOPO_MAX_DIMS]; /**< in which a dimension has at least one chunk in work */
};

/** No dimension; one chunk, one active, no endpoint delay, free reductions, localBWAware, LIFO. */
void sim_astra_defaults(struct sim_astra_setup *setup);

/**
 * Run a collective. @p setup and @p c are within what stands above.
 *
 * @return 0; ERR_RANGE: halving-doubling or a tree of members that are not 2^k, more messages than memory
 * holds, a time beyond 2^62 ns; ERR_UNSUP: broadcast and send; all-to-all other than direct; a double binary
 *         tree other than of one all-reduce of one chunk in one dimension, full or switch; with contention,
 *         several dimensions; ERR_NOMEM.
 *
 * Without contention O(chunks * phases * log), whatever the number of NPUs; with it, O(messages * links
 * passed * log).
 */
int sim_astra_run(struct sim_astra_result *out, const struct sim_astra_setup *setup,
                  const struct sim_astra_collective *c, struct err *e);

#endif
