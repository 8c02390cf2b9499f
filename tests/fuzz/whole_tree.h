/** @file What every reader of workloads leaves behind, whatever it was given. */
#ifndef TESTS_FUZZ_WHOLE_TREE_H
#define TESTS_FUZZ_WHOLE_TREE_H

#include <assert.h>
#include <math.h>

#include "workloads/step.h"

/** 4 x 8 x 6 rings. */
static inline struct topo_network fuzz_network(void)
{
    static const int32_t sizes[] = { 4, 8, 6 };
    struct topo_network net = { .n_dims = 3, .n_npus = 192, .parts = -1 };
    for (int d = 0; d < 3; d++)
        net.dims[d] = (struct topo_dim){ .shape = TOPO_RING, .size = sizes[d] };
    return net;
}

/** A whole tree, or a message and nothing; then releases it. */
static inline void check_result(struct step_tree *t, int rc, const struct err *e)
{
    assert(rc == 0 ? e->code == 0 : (e->code == (enum err_code)rc && e->msg[0] && !t->nodes && !t->groups));
    assert(rc != 0 || (t->root == 0 && t->n_groups >= 1 && t->n_nodes >= 1));
    for (step_id id = 0; id < t->n_nodes; id++) {
        const struct step_node *node = &t->nodes[id];
        assert(node->first < t->n_nodes && node->next < t->n_nodes && (node->first < 0 || node->first > id));
        assert(node->kind != STEP_COMPUTE || (isfinite(node->seconds) && node->seconds > 0));
        assert(node->kind != STEP_COLLECTIVE ||
               (node->group >= 0 && node->group < t->n_groups && node->bytes > 0));
    }
    step_free(t);
}

#endif
