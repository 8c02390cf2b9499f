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
    bool apart; /**< MAX: its children share no links: work on different NPUs, or bounds of one collective */
    bool host;  /**< COMPUTE: of the host, beside what the NPU does */
    int32_t stage; /**< of whose NPUs the work below is, from 1; 0: as of its parent. Inner nodes name it */
    double times;  /**< REPEAT, and a collective that occurs several times in a row; > 0 */
};

/** NPUs that take part: members[d] of dimension d; 1 = that dimension is not used. */
struct step_group {
    char name[TOPO_NAME];
    int32_t members[TOPO_MAX_DIMS];
    int32_t stride[TOPO_MAX_DIMS]; /**< from one member to the next: how many members the groups that it comes
                                      after take of the dimension together; 1 when none does */
    double share[TOPO_MAX_DIMS];   /**< of its all-to-alls, as of collective_loads(); zero: whole */
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

/** Keys compute_ns and compute_ms of a map; NaN: not given. */
struct step_compute {
    double ns, ms;
};

/**
 * Seconds of these two, one of which is given; NaN where neither is.
 * 228149414 ns is 0.228149414 s to the last bit (a division, not a product with 1e-9).
 * ERR_PARSE when both were given.
 */
int step_compute_s(double *out, const struct step_compute *x, const struct yaml_doc *doc, yaml_id map,
                   struct err *e);

/* ---- groups ---- */

enum { GROUP_MAX = 64 /**< groups of one workload, "all" included */ };

/**
 * Take @p size NPUs, innermost dimension first, of the left[d] that are there:
 * all of a dimension while the size still asked for is a multiple of it; then
 * the last piece, which must divide its dimension.
 *
 * @param[out] members  shape [n_dims].
 * @param left          shape [n_dims], each >= 1.
 * @param size          1 to the product of left.
 * @return 0 or ERR_RANGE; the message starts with "is 3, need ...", for the caller to place; @p e may be
 * NULL.
 */
int group_fill(int32_t *members, const int32_t *left, int32_t n_dims, int64_t size, struct err *e);

/** What @p members leave of @p sizes: rest[d] = sizes[d] / members[d]. Shapes [n_dims]. */
void group_rest(int32_t *rest, const int32_t *sizes, const int32_t *members, int32_t n_dims);

/** Add the groups of map @p node (step_group_section each), in the order they are written. */
int group_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
               struct err *e);

/* ---- layers ---- */

/** What of the forward pass is done again in the backward pass. */
enum layers_recompute {
    LAYERS_RECOMPUTE_NONE,
    LAYERS_RECOMPUTE_COLLECTIVES, /**< forward collectives count twice (LIBRA's 2022 *FwdInBckwd loops) */
    LAYERS_RECOMPUTE_FORWARD,     /**< forward compute and collectives run twice */
};

extern const char *const layers_recompute_names[]; /**< NULL-terminated, for key tables */

/** Work of one layer in one phase; STEP_FORWARD, STEP_INPUT_GRAD, STEP_WEIGHT_GRAD index them. */
struct layers_phase {
    double compute_s;     /**< >= 0 */
    int32_t first, count; /**< its collectives are layers.collectives[first..first+count-1] */
};

enum { LAYERS_PHASES = 3 };

struct layers_layer {
    char name[TOPO_NAME];
    double times; /**< the layer stands for this many equal ones, >= 1 */
    struct layers_phase phases[LAYERS_PHASES];
    /** Before this layer's backward part, layers again_begin..again_end-1 run forward again.
     * Where the range is not the layer itself, times is 1. */
    int32_t again_begin, again_end;
};

/** `= { 0 }` is empty. Release with layers_free(). */
struct layers {
    struct layers_layer *layers; /**< shape [n_layers], owned; in forward order */
    int32_t n_layers, cap_layers;
    struct step_node *collectives; /**< shape [n_collectives], owned; STEP_COLLECTIVE nodes */
    int32_t n_collectives, cap_collectives;
    enum layers_recompute recompute;
};

void layers_free(struct layers *l);

/** Append an empty layer, times 1, nothing recomputed; borrowed until the next call. NULL: ERR_NOMEM in @p e.
 */
struct layers_layer *layers_add(struct layers *l, const char *name, struct err *e);

/** Append a collective to @p phase of the last layer; phases are filled one after the other. 0 or ERR_NOMEM.
 */
int layers_add_collective(struct layers *l, enum step_phase phase, struct step_node collective,
                          struct err *e);

/** Read a YAML list of layers (step_layer_section); groups of @p t are known. */
int layers_read(struct layers *l, const struct step_tree *t, const struct yaml_doc *doc, yaml_id list,
                struct err *e);

/** How the backward pass of one layer is put together. */
struct layers_loop {
    const char *name, *help;
    void (*add_backward)(struct step_tree *t, step_id parent, const struct layers *l, int32_t layer);
};

enum { LAYERS_NO_OVERLAP, LAYERS_OVERLAP, N_LAYERS_LOOPS };
extern const struct layers_loop layers_loops[N_LAYERS_LOOPS];
extern const char *const layers_loop_names[N_LAYERS_LOOPS + 1]; /**< NULL-terminated, for key tables */

/**
 * Make the step: all layers forward, then backward from the last to the first.
 * Forward work never overlaps. Sources: LIBRA public code (no-overlap) and its
 * 2022 artifact (overlap, recomputation).
 * @p t is begun and has no nodes yet; step_check() tells about memory.
 */
void layers_build_step(struct step_tree *t, const struct layers *l, int32_t loop);

/** The same below @p parent, as two children of it: "forward" and "backward". */
void layers_add_passes(struct step_tree *t, step_id parent, const struct layers *l, int32_t loop);

/* ---- lowering: collectives taken apart into stages, so that time is convex in bandwidth ---- */

/**
 * Copy @p t with every collective replaced by its time under stage_rows(): a maximum over rows of sums of
 * latency (compute leaves) and transfers over one dimension each. Groups are kept.
 *
 * @param[out] out  uninitialised; empty and safe to free after failure.
 * @param way       at whose bandwidths algorithms and regimes are chosen; NULL = not known. The result is
 * convex in bandwidth for the choices made.
 * @return 0 or ERR_NOMEM. O(nodes * dims^2).
 */
int step_lower(struct step_tree *out, const struct step_tree *t, const struct collective_way *way,
               struct err *e);

/** Limits: a year of compute, an exabyte, a thousand million repeats. */
#define COMPUTE_MAX_NS 3e16
#define COMPUTE_MAX_MS 3e10
#define BYTES_MAX_B    1e18
#define BYTES_MAX_MB   1e12
#define TIMES_MAX      1e9

#endif
