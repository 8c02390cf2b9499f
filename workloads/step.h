/** @file The training step as an expression: compute and collectives under sum, max and repeat. */
#ifndef WORKLOADS_STEP_H
#define WORKLOADS_STEP_H

#include "topo/network.h"
#include "workloads/collective.h"

typedef int32_t step_id; /**< index into step_tree.nodes, -1 = none */

enum step_kind {
    STEP_COMPUTE,
    STEP_COLLECTIVE,
    STEP_TRANSFER, /**< bytes over the bandwidth of one dimension: what collectives become in step_lower() */
    STEP_SUM,
    STEP_MAX,
    STEP_REPEAT
};

/** Where in the training step a leaf belongs; reports group by it. */
enum step_phase {
    STEP_FORWARD,
    STEP_INPUT_GRAD,
    STEP_WEIGHT_GRAD,
    STEP_RECOMPUTE, /**< forward work done again in the backward pass */
    STEP_OTHER,
    STEP_BUBBLE, /**< a pipeline stage waits for others */
    STEP_OPTIMIZER,
    STEP_OVERHEAD, /**< of software, per step */
    N_STEP_PHASES,
};

/** "forward", "input-grad", ...; NULL-terminated, for key tables. */
extern const char *const step_phase_names[N_STEP_PHASES + 1];

struct step_node {
    enum step_kind kind;
    enum step_phase phase;
    char name[TOPO_NAME];      /**< for reports, cut to fit; "" if none */
    step_id first, last, next; /**< children of SUM, MAX, REPEAT (REPEAT has one); set by step_add() */
    double seconds;            /**< COMPUTE, >= 0 */
    enum collective_kind collective;
    double bytes;     /**< COLLECTIVE: entering per NPU, >= 0; TRANSFER: over the share that is reached */
    int32_t dim;      /**< TRANSFER */
    int32_t group;    /**< COLLECTIVE: index into groups */
    int32_t mark;     /**< COLLECTIVE: what its builder knows it by */
    int32_t priority; /**< COLLECTIVE: where it meets others, the higher goes first */
    bool apart;       /**< MAX: of work on different NPUs, which shares no links */
    double times;     /**< REPEAT, and a collective that occurs several times in a row; > 0 */
};

/** NPUs that take part: members[d] of dimension d; 1 = that dimension is not used. */
struct step_group {
    char name[TOPO_NAME];
    int32_t members[TOPO_MAX_DIMS];
    int32_t stride[TOPO_MAX_DIMS]; /**< from one member to the next: how many members the groups that it comes
                                      after take of the dimension together; 1 when none does */
};

/** A step bound to one network's dimensions; `= { 0 }` is empty. Release with step_free(). */
struct step_tree {
    char name[64];
    struct step_node *nodes; /**< shape [n_nodes], owned; parents come before their children */
    int32_t n_nodes, cap_nodes;
    step_id root;
    struct step_group *groups; /**< shape [n_groups], owned; [0] is "all", every NPU */
    int32_t n_groups, cap_groups;
    int32_t n_dims;
    bool failed;       /**< an allocation failed, what followed was dropped; step_check() says so */
    struct text notes; /**< owned: what a reader had to change or leave out, a line each; mostly empty */
    bool uses_npu;     /**< compute times were made from the network's npu keys */
};

extern const struct section step_workload_section, step_group_section, step_layer_section, step_phase_section,
    step_collective_section, step_leaf_section, step_operand_section, step_repeat_section,
    step_chakra_section;

/**
 * Read a workload for network @p net from YAML: `layers` with a `loop`, or an
 * expression under `step`, or `astra`, `simai` or `chakra` naming a file of another program: ASTRA-sim 1.0
 * text, SimAI text, Chakra traces (paths are taken from the folder of the YAML file).
 * A group that does not divide its dimension, asks for more members than exist,
 * or lists another number of dimensions is ERR_RANGE with the place; a map
 * without work, an unknown group or a key without effect is ERR_PARSE.
 * On failure @p t is empty and safe to free.
 */
int step_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
              struct err *e);
void step_free(struct step_tree *t);

/** Start an empty tree for @p net with its group "all" (index 0). Building by hand starts here. */
void step_begin(struct step_tree *t, const char *name, const struct topo_network *net);

/**
 * Append @p node as the last child of @p parent (-1: it becomes the root) and
 * return it; links are set here, the node's own are ignored. Returns -1 on lack
 * of memory; from then on nothing is added, so a builder checks once, with step_check().
 */
step_id step_add(struct step_tree *t, step_id parent, struct step_node node);

/** Append a group, members of shape [n_dims]; its index, or -1 as step_add(). The name is cut to fit. */
int32_t step_add_group(struct step_tree *t, const char *name, const int32_t *members);

/** The same for a group that comes after others; stride of shape [n_dims]. */
int32_t step_add_group_after(struct step_tree *t, const char *name, const int32_t *members,
                             const int32_t *stride);

/** 0, or ERR_NOMEM when anything was dropped. */
int step_check(const struct step_tree *t, struct err *e);

/** Group by name, or -1. */
int32_t step_find_group(const struct step_tree *t, const char *name);

/** Copy @p name into @p out, cut to fit; NULL is "". */
void step_set_name(char out[TOPO_NAME], const char *name);

/** Read one entry of a `collectives` list (step_collective_section) into @p out; groups of @p t are known. */
int step_read_collective(struct step_node *out, const struct step_tree *t, const struct yaml_doc *doc,
                         yaml_id map, struct err *e);

/**
 * Seconds from the two keys every compute map has; NaN = not given, both NaN give NaN.
 * 228149414 ns is 0.228149414 s to the last bit (a division, not a product with 1e-9).
 * ERR_PARSE when both were given.
 */
int step_compute_s(double *out, double compute_ns, double compute_ms, const struct yaml_doc *doc, yaml_id map,
                   struct err *e);

#endif
