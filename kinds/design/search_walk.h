/** @file Private to search*.c: every legal plan, shape by shape. */
#ifndef KINDS_DESIGN_SEARCH_WALK_H
#define KINDS_DESIGN_SEARCH_WALK_H

#include "kinds/design/search.h"

/** Degrees that make the number of NPUs. */
struct search_shape {
    int64_t degree[N_PLAN_AXES], ep;
};

/** Growing; zero-initialise, release with search_shapes_free(). */
struct search_shapes {
    struct search_shape *shapes; /**< shape [n], owned */
    int32_t n, cap;
    int64_t n_illegal; /**< combinations of values that were asked for by name, which cannot be */
};

/** The ways to lay a shape over the network: 4! orders, those that come to the same once. */
enum { SEARCH_PLACES = 24 };

struct search_places {
    enum plan_axis order[SEARCH_PLACES][N_PLAN_AXES];
    struct plan_place places[SEARCH_PLACES];
    int32_t n;
    int64_t n_unmapped; /**< orders whose degrees do not lie along the dimensions */
};

/** All shapes, in a fixed order. ERR_NOMEM. */
int search_find_shapes(struct search_shapes *out, const struct search_space *space,
                       const struct training *base, int64_t n_npus, struct err *e);
void search_shapes_free(struct search_shapes *s);

void search_find_places(struct search_places *out, const struct search_space *space, const struct plan *plan,
                        const struct topo_network *net);

/** The plan of base with the shape's degrees, and the least of everything. */
struct plan search_plan(const struct training *base, const struct search_shape *shape);

/** Called for each legal plan of a shape; its order is the base's. */
typedef void (*search_visit)(void *with, const struct plan *plan);

/** Visit the plans of one shape in a fixed order; how many values asked for by name were illegal. ERR_NOMEM.
 */
int search_walk(int64_t *n_illegal, const struct search_space *space, const struct training *base,
                const struct search_shape *shape, search_visit visit, void *with, struct err *e);

#endif
