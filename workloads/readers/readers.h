/**
 * @file Steps from files of other programs: Chakra execution traces, their graphs folded into expressions,
 * and SimAI text. (ASTRA-sim's text, which the simulator of ASTRA-sim reads too: astra.h.)
 */
#ifndef WORKLOADS_READERS_READERS_H
#define WORKLOADS_READERS_READERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "workloads/readers/astra.h"

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

/* ---- tasks that wait for each other as an expression ---- */

/** Tasks on one lane run one at a time, in the order of issue; those on none run as soon as they can. */
enum { DAG_NO_LANE = -1, DAG_LANES = 2 };

/** Tasks in the order of issue: every one comes after those it waits for. Release with dag_free(). */
struct dag {
    struct arena arena; /**< of all arrays */
    int32_t n;
    int32_t *task;  /**< shape [n]: the caller's number of each */
    int32_t *begin; /**< shape [n + 1] */
    int32_t *waits; /**< shape [begin[n]]: waits[begin[i]..begin[i+1]-1] < i, ascending, distinct */
};

/**
 * Order tasks, those with the least number first where several could be issued; let each wait for the one
 * before it on its lane; and drop every wait that a lane implies: task a before b before c makes "c waits
 * for a" say nothing.
 *
 * @param begin  shape [n + 1]; @param waits  shape [begin[n]], each 0 to n-1, in any order; owned by the
 * caller.
 * @param lane   shape [n]; DAG_NO_LANE or 0 to DAG_LANES-1.
 * @param[out] cycle  on ERR_RANGE a task of the cycle, for the caller's message.
 * @return 0, ERR_RANGE (waits go round in a cycle) or ERR_NOMEM; then @p g is empty.
 * Time O(n log n + m log m) for m waits.
 */
int dag_build(struct dag *g, int32_t n, const int32_t *begin, const int32_t *waits, const signed char *lane,
              int32_t *cycle, struct err *e);
void dag_free(struct dag *g);

/* ---- folding ---- */

/** Index into fold.nodes; -1 = nothing, which takes no time. */
typedef int32_t fold_id;

enum fold_kind { FOLD_TASK, FOLD_SUM, FOLD_MAX };

/** Maxima inside one another; more are made shallower by letting tasks wait. */
enum { FOLD_MAX_DEPTH = 64 };

struct fold_node {
    enum fold_kind kind;
    int32_t depth;       /**< maxima inside one another, itself included */
    fold_id left, right; /**< of SUM (left first) and MAX; of TASK: left is the task */
};

/** An expression in which every task that takes time occurs once. Release with fold_free(). */
struct fold {
    struct fold_node *nodes; /**< shape [n_nodes], owned; operands come before what is made of them */
    int32_t n_nodes, cap_nodes;
    fold_id root;
    int32_t n_joins; /**< how often something had to wait that need not */
};

/**
 * Fold the tasks of @p g. Where waiting is series-parallel the expression takes exactly the time of the
 * longest chain, whatever the tasks take. Where it is not, one of two waits is added, and counted:
 *
 * - what runs beside a chain of tasks and crosses the end of another such thing is awaited at the
 *   end of the chain's next piece (a collective that is needed later than the next one is issued);
 * - of two chains that meet, what leaves them before they meet leaves when they have met.
 *
 * So the expression never takes less than the tasks, and tasks in it run in an order that the waits allow.
 *
 * How: events are the vertices of a tree that grows in the order of issue; a task is the edge from the event
 * that starts it to its end. An event that waits for several ends takes in the latest of them until one is
 * left: edges from the same event become a maximum, an end that nothing else waits for is joined in series
 * with what leads to it. (Reduction of two-terminal series-parallel graphs; J. Valdes, R. E. Tarjan and
 * E. L. Lawler, SIAM J. Comput. 11(2), 1982. The added waits are ours.)
 *
 * @param takes_time  shape [g->n], by place in the order; false: the task costs nothing and only orders.
 * @return 0 or ERR_NOMEM; then @p f is empty. Time O(m log n) for m waits.
 */
int fold_dag(struct fold *f, const struct dag *g, const bool *takes_time, struct err *e);
void fold_free(struct fold *f);

/* ---- equal parts ---- */

/** Index into compact.items, -1 = nothing. Equal parts, names apart, have the same. */
typedef int32_t compact_id;

enum compact_kind { COMPACT_LEAF, COMPACT_SUM, COMPACT_MAX, COMPACT_REPEAT };

struct compact_item {
    enum compact_kind kind;
    int32_t first, count; /**< operands: of SUM in order, of MAX ascending, of REPEAT one; of LEAF none */
    int32_t leaf;         /**< LEAF: which; REPEAT: how often */
};

/** `= { 0 }` is empty. Release with compact_free(). */
struct compact {
    struct compact_item *items; /**< shape [n_items], owned; operands come before what is made of them */
    int32_t n_items, cap_items;
    compact_id *operands; /**< shape [n_operands], owned */
    int32_t n_operands, cap_operands;
    struct step_node *leaves; /**< shape [n_leaves], owned; COMPUTE and COLLECTIVE, all different */
    int32_t n_leaves, cap_leaves;
    struct hash table;    /**< items by content */
    struct compact_work { /**< owned: lists under way, one behind the other */
        int32_t *s;
        int32_t n, cap;
    } list, todo, last;
};

/**
 * The item of a leaf: that of an equal one (all but the name and the phase), else a new one.
 * -1 for lack of memory.
 */
compact_id compact_leaf(struct compact *c, const struct step_node *leaf);

/**
 * Bring in @p f. Sums in sums and maxima in maxima become one; in a sum, parts that follow each other several
 * times become a repeat, the longest stretch first where several fit; a period is looked for among
 * the next 32 places that hold the same part.
 *
 * @param leaf_of   item of each task of @p f.
 * @param[out] out  -1 when @p f is empty.
 * @return 0 or ERR_NOMEM. Time O(n log n), recursion as deep as @p f has maxima in one another.
 */
int compact_fold(struct compact *c, compact_id *out, const struct fold *f, const compact_id *leaf_of,
                 struct err *e);

/** Write item @p id below @p parent; step_check() tells about memory. */
void compact_write(const struct compact *c, struct step_tree *t, step_id parent, compact_id id);

void compact_free(struct compact *c);

/* ---- SimAI workloads, as AICB writes them ---- */

/** What the bytes of an all-gather are. */
enum simai_ag_size {
    SIMAI_AG_FULL, /**< its result, n shards of n members: what AICB writes */
    SIMAI_AG_SHARD,
};

extern const char *const simai_ag_size_names[]; /**< NULL-terminated, for key tables */

/**
 * Read @p text (@p n bytes) as a training step on @p net.
 *
 * Line 1: HYBRID_TRANSFORMER or HYBRID_TRANSFORMER_FWD_IN_BCKWD, then keys in any order, each with or
 * without a colon: model_parallel_NPU_group (TP), ep (or expert_parallel_npu_group), pp, vpp, ga, all_gpus,
 * checkpoints, checkpoint_initiates, pp_comm. All but the first may be missing: 1, no checkpoints, every NPU
 * of the network, 0 bytes. Line 2: the number of layers N. Then N lines of 12 columns, as astra_read().
 *
 * | group | NPUs | next to each other across |
 * |---|---|---|
 * | tp | model_parallel_NPU_group, from the innermost dimension | - |
 * | ep | ep | tp |
 * | dp_ep | the rest of dp | tp, ep |
 * | dp | all_gpus / (tp pp) | tp |
 * | pp | pp | tp, dp |
 *
 * A collective in forward or input gradient runs over tp, one of the weight gradient over dp; the suffixes
 * _EP and _DP_EP name ep and dp_ep. The update time is left out, as in astra_read().
 *
 * The pipeline. The rows are all that one stage does in a step: AICB writes the layers ga times, once per
 * microbatch, and the weights' collectives once. So nothing is repeated for ga; with pp > 1 come
 *
 * - 2 ga sends of pp_comm bytes over pp (each microbatch's activation forward, its gradient backward);
 * - the bubble: (pp - 1)/ga of all that, the weight gradient's collectives apart, which is what the pipeline
 *   takes to fill and drain, (pp - 1) microbatches. In reports it counts with the phases it is made of.
 *
 * vpp is read and does nothing: AICB writes the number of layers there, not that of virtual stages, so the
 * bubble is that of a pipeline that is not interleaved.
 * Source: SimAI@cef83f9 workload/Workload.cc, Layer.cc (bubble, 2 sends per microbatch); AICB's
 * SimAI_training_workload_generator.py; restated. Theirs divides the bubble by vpp and counts vpp sends.
 *
 * @param name  for messages, which start with `name:line:col:`.
 * @return 0; ERR_PARSE: not this grammar (unknown policy, key, collective or suffix, a key twice,
 *         another number of columns, not a number); ERR_RANGE: groups that do not divide along the dimensions
 *         or are not all NPUs together, a layer number that does not exist; ERR_UNSUP: a policy of
 *         ASTRA-sim that SimAI's groups have no part in, ALLREDUCEALLTOALL; ERR_NOMEM.
 *         On failure @p t is empty and safe to free. Time O(n).
 */
int simai_read(struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct astra_rule rule, struct err *e);

#endif
