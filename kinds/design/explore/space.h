/** @file Which plans of parallelism a search goes through, and what it leaves out of them. */
#ifndef KINDS_DESIGN_EXPLORE_SPACE_H
#define KINDS_DESIGN_EXPLORE_SPACE_H

#include "kinds/design/answer/choice.h"

enum { SEARCH_MAX_VALUES = 64, SEARCH_MAX_TOP = 1000 };

/** Of a mask: the study lists its words. Those that it leaves to the search are all that are legal. */
#define SEARCH_ASKED (1U << 31)

/** Values of one degree that are tried; n 0: every legal one. */
struct search_values {
    int64_t values[SEARCH_MAX_VALUES];
    int32_t n;
};

/** What is searched. */
struct search_space {
    struct search_values tp, cp, pp, ep, micro, interleave;
    /** Bit i: word i of its list is tried; precision 0: the plan's. */
    unsigned recompute, zero, seq_parallel, context, schedule, dispatcher, ep_overlap, precision;
    unsigned recompute_ops; /**< 1 << enum plan_op: every choice of them, with recompute selective; 0: the
                               plan's */
    bool any_order;         /**< every order of the axes over the dimensions, not only the plan's */
    int32_t top;            /**< how many of the best are kept, >= 1 */
};

/** Of a struct search_space; its defaults: everything legal, in every order, the ten best. */
extern const struct section search_section;

/** Append a line for each key of `parallel` that has no effect, as a search chooses it: keys that --set
 * gives, or the study's own file together with `search`. */
void search_note_unused(struct text *notes, const struct design_point *s);

/** Combinations of values that are no candidates. */
struct search_left_out {
    struct search_refusals refused; /**< not legal */
    int64_t n_repeated; /**< no faster and no smaller than another: values without effect, one place twice */
    int64_t n_unmapped; /**< orders whose degrees do not lie along the dimensions */
};

void search_left_out_add(struct search_left_out *to, const struct search_left_out *from);

/** Degrees that make the number of NPUs. */
struct search_shape {
    int64_t degree[N_PLAN_AXES], ep;
};

/** Growing; zero-initialise, release with search_shapes_free(). */
struct search_shapes {
    struct search_shape *shapes; /**< shape [n], owned */
    int32_t n, cap;
    struct search_left_out left_out; /**< of degrees alone */
};

/** All shapes that may have a legal plan, in a fixed order. ERR_NOMEM; then @p out is empty. */
int search_find_shapes(struct search_shapes *out, const struct search_space *space,
                       const struct training *base, int64_t n_npus, struct err *e);
void search_shapes_free(struct search_shapes *s);

/** No plan of the shape that fits the NPU's memory takes less with exchange free [s]; INFINITY: none fits. 0:
 * nothing is known. O(divisors of the batch). */
double search_shape_floor_s(const struct search_space *space, const struct training *base,
                            const struct topo_npu *npu, const struct search_shape *shape);

/** No plan, whatever its degrees, memory and batch, computes a sample in microbatches of @p micro in less
 * NPU-seconds, before plan_slowest_times(); 0: nothing is known. O(degrees). */
double search_sample_s(const struct search_space *space, const struct training *base,
                       const struct topo_npu *npu, int64_t micro);
/** The same of all samples of a step, from what is asked of each microbatch that the batch may have. */
double search_work_s(const struct search_space *space, const struct training *base,
                     double (*sample_s)(void *with, int64_t micro), void *with);

/** The ways to lay a shape over the network: 4! orders, those that come to the same once. */
enum { SEARCH_PLACES = 24 };

struct search_places {
    enum plan_axis order[SEARCH_PLACES][N_PLAN_AXES];
    struct plan_place places[SEARCH_PLACES];
    int32_t n;
    struct search_left_out left_out; /**< orders */
};

/** The base's order first. */
void search_find_places(struct search_places *out, const struct search_space *space,
                        const struct search_shape *shape, const struct training *base,
                        const struct topo_network *net);
/** Which of them lays a shape in the same way; -1: none. */
int32_t search_place_at(const struct search_places *places, const struct plan_place *place);

/** What search_walk() varies within a shape. Packed: a million of them are kept. */
struct __attribute__((packed, aligned(4))) search_choice {
    int64_t micro;
    int32_t interleave;
    unsigned recompute_ops;
    unsigned seq_parallel : 4, context : 4, dispatcher : 4, ep_overlap : 4, schedule : 4, precision : 4,
        recompute : 4, zero : 4;
};

struct search_choice search_choice_of(const struct plan *p);
/** The plan that was chosen, in the base's order. */
struct plan search_choice_plan(const struct search_choice *c, const struct search_shape *shape,
                               const struct training *base);

/** Called for each legal plan of a shape; its order is the base's. */
typedef void (*search_visit)(void *with, const struct plan *plan);

/**
 * Visit all plans of one shape, in a fixed order; what is left out is added to @p out, for each of @p
 * n_places.
 * @p ideal: on a graph of its own. ERR_NOMEM.
 */
int search_walk(struct search_left_out *out, const struct search_space *space, const struct training *base,
                bool ideal, const struct search_shape *shape, int64_t n_places, search_visit visit,
                void *with, struct err *e);

#endif
