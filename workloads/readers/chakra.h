/** @file Chakra execution traces of one NPU or several as a training step. */
#ifndef WORKLOADS_READERS_CHAKRA_H
#define WORKLOADS_READERS_CHAKRA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "workloads/step.h"

enum { CHAKRA_MAX_RANKS = 4096 };

/**
 * Read the step that `chakra: FILE` or `chakra: { prefix, ranks, comm_groups }` (step_chakra_section)
 * names, at node @p node. FILE is the trace of the NPU that its name says (PREFIX.RANK.et), else of NPU 0.
 *
 * Each trace becomes an expression: what its nodes take as chakra_leaf() says; of computations one at a time
 * on the accelerator and one on the CPU, in the order that their dependencies allow, the least id first;
 * communication beside them; both kinds of dependencies count. fold_dag() folds that into sums and
 * maxima, compact_fold() makes repeats of what repeats. Collectives that run side by side do not slow each
 * other down in closed form; model chunk and flow simulate them.
 *
 * Several ranks: equal expressions are one; the step is the maximum over those that differ, since the
 * slowest NPU ends it. Models that simulate then run the work of all of them on each NPU, which is too slow
 * where it meets. A receive waits for nothing but its own dependencies: what its sender does before is not
 * followed, so a pipeline's bubble is not seen.
 *
 * What was changed is told in t->notes: waits that were added, receives.
 *
 * @return 0; ERR_PARSE, ERR_RANGE, ERR_UNSUP as chakra_read_trace(), chakra_leaf(), dag_build(): unreadable
 *         files, duplicate ids, unknown or circular dependencies ...; ERR_NOMEM. On failure @p t is empty.
 *         Time O(n log n) for n nodes and dependencies.
 */
int chakra_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
                struct err *e);

/** The same for the @p n bytes of one trace, of NPU @p rank (0 to n_npus-1); @p groups may be NULL. */
int chakra_read_bytes(struct step_tree *t, const char *name, const char *bytes, size_t n, int32_t rank,
                      const struct yaml_doc *groups, const struct topo_network *net, struct err *e);

/* ---- records ---- */

/** Caps: far above any trace, low enough that hostile input ends at once. */
enum {
    CHAKRA_MAX_BYTES = 256 << 20,
    CHAKRA_MAX_RECORD = 16 << 20,
    CHAKRA_MAX_NODES = 4000000, /**< of one trace */
    CHAKRA_MAX_EDGES = 32000000,
    CHAKRA_MAX_DIMS = 16, /**< entries of involved_dim */
    CHAKRA_NAME = 32,     /**< of a process group, terminator included */
};

enum chakra_type {
    CHAKRA_INVALID,
    CHAKRA_METADATA,
    CHAKRA_MEM_LOAD,
    CHAKRA_MEM_STORE,
    CHAKRA_COMP,
    CHAKRA_SEND,
    CHAKRA_RECV,
    CHAKRA_COLL,
    N_CHAKRA_TYPES,
};

/** Whole-number attributes of a node; has & (1 << k) says which were given. */
enum chakra_count {
    CHAKRA_NUM_OPS,
    CHAKRA_TENSOR_SIZE,
    CHAKRA_COMM_TYPE,
    CHAKRA_COMM_SIZE,
    CHAKRA_COMM_PRIORITY,
    CHAKRA_COMM_SRC,
    CHAKRA_COMM_DST,
    N_CHAKRA_COUNTS,
};

extern const char *const chakra_count_names[N_CHAKRA_COUNTS];

struct chakra_node {
    uint64_t id, duration_us;
    enum chakra_type type;
    int32_t name;              /**< offset into names */
    int32_t first_dep, n_deps; /**< in deps; both kinds */
    unsigned has;
    int64_t counts[N_CHAKRA_COUNTS]; /**< >= 0 */
    bool is_cpu_op;
    char pg_name[CHAKRA_NAME]; /**< "" or "0": every rank */
    int32_t n_involved;        /**< -1: not given */
    uint32_t involved;         /**< bit d: dimension d, innermost first */
};

/** `= { 0 }` is empty. Release with chakra_trace_free(). */
struct chakra_trace {
    struct chakra_node *nodes; /**< shape [n_nodes], owned; in the order of the file */
    int32_t n_nodes, cap_nodes;
    uint64_t *deps; /**< shape [n_deps], owned; ids, not checked yet */
    int32_t n_deps, cap_deps;
    struct text names; /**< owned; terminated names, without control characters */
};

/**
 * Read the @p n bytes of a trace: records of a 32-bit varint length and that many bytes, the first
 * one metadata, all others nodes. A record of length 0 is an empty message; the file may end between
 * records only. Of an attribute that is given twice the last one counts.
 *
 * Attributes: any whole-number kind is taken for a count, never a real number, a text or a list;
 * is_cpu_op is true or false, or a whole number; involved_dim is a list of true and false. Attributes that
 * no training step needs are ignored.
 *
 * @param name  for messages, which start with "name: offset N: " or "name: node ID "NAME": ".
 * @return 0; ERR_PARSE: not this grammar, with the schemas before 2023-10 named; ERR_RANGE: a
 *         negative count, beyond a cap; ERR_UNSUP: compressed by gzip, or JSON; ERR_NOMEM.
 *         On failure @p t is empty. Time O(n).
 * Source: mlcommons/chakra@21585d8 et_def.proto, restated in chakra.proto.
 */
int chakra_read_trace(struct chakra_trace *t, const char *name, const char *bytes, size_t n, struct err *e);
void chakra_trace_free(struct chakra_trace *t);

/* ---- groups ---- */

/** The group of @p t with these members and strides (shapes [n_dims]), added when there is none. Group 0 when
 * it is every NPU. 0, ERR_RANGE (more than GROUP_MAX) or ERR_NOMEM. */
int chakra_take_group(int32_t *group, struct step_tree *t, const char *name, const int32_t *members,
                      const int32_t *stride, struct err *e);

/**
 * The process group @p id of @p groups, a map {"id": [ranks]}: rank = address (a_1..a_D), a_1 fastest. Its
 * ranks, in any order, must be a rectangle: m_d of each dimension, equal steps apart, such that equal groups
 * side by side fill the dimension; and hold @p rank.
 * @return 0; ERR_PARSE: no such group, not a list of ranks; ERR_RANGE: ranks twice or beyond the network,
 *         no rectangle; ERR_NOMEM. Time O(n log n) for n ranks.
 */
int chakra_process_group(int32_t *group, struct step_tree *t, const struct topo_network *net,
                         const struct yaml_doc *groups, const char *id, int32_t rank, struct err *e);

/* ---- leaves ---- */

/** What the nodes of one trace are read with; all borrowed. */
struct chakra_context {
    struct step_tree *tree; /**< groups are added to it */
    const struct topo_network *net;
    const struct chakra_trace *trace;
    const char *name;              /**< of the trace, for messages */
    int32_t rank;                  /**< NPU the trace is of; 0 to n_npus-1 */
    const struct yaml_doc *groups; /**< {"id": [ranks]}; NULL: none given */
    struct chakra_known {
        char name[CHAKRA_NAME];
        int32_t group;
    } * known; /**< shape [n_known], owned: free(); process groups of this rank looked up so far */
    int32_t n_known, cap_known;
};

/**
 * What node @p i takes. kind STEP_SUM means: nothing, it only orders.
 *
 * COMP: duration, 1 ns where that is 0; without a duration but with num_ops and tensor_size the roofline
 * max(num_ops/peak, tensor_size/memory bandwidth) of the network's npu, nothing where tensor_size is 0.
 * MEM_LOAD, MEM_STORE: duration, else tensor_size/memory bandwidth.
 * COMM_COLL: the collective of comm_type with comm_size bytes entering per NPU over its process group, else
 * over the dimensions of involved_dim, else over all. Size 0, or a group of one: nothing.
 * COMM_SEND: to the next NPU along the dimensions in which sender and receiver differ; steps of more than one
 * where their distance divides the dimension. COMM_RECV, METADATA: nothing.
 *
 * @return 0; ERR_PARSE: an attribute is missing; ERR_RANGE: a rank, process group or dimension that does
 *         not fit the network, or the npu keys a roofline needs are missing; ERR_UNSUP: a collective
 *         that a step does not have, communication on the CPU; ERR_NOMEM.
 */
int chakra_leaf(struct step_node *out, struct chakra_context *x, int32_t i, struct err *e);

#endif
