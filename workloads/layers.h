/** @file A list of layers (forward, input gradient, weight gradient) and the loops that make a step of it. */
#ifndef WORKLOADS_LAYERS_H
#define WORKLOADS_LAYERS_H

#include "workloads/step.h"

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

#endif
