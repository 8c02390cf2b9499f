/* ASTRA-sim text, whatever it holds, is read or refused; what was read is a whole tree. */
#include <assert.h>
#include <math.h>

#include "workloads/astra.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tree(const struct step_tree *t)
{
    assert(t->root == 0 && t->n_groups >= 1 && t->n_nodes >= 1);
    for (step_id id = 0; id < t->n_nodes; id++) {
        const struct step_node *node = &t->nodes[id];
        assert(node->first < t->n_nodes && node->next < t->n_nodes && (node->first < 0 || node->first > id));
        assert(node->kind != STEP_COMPUTE || (isfinite(node->seconds) && node->seconds > 0));
        assert(node->kind != STEP_COLLECTIVE ||
               (node->group >= 0 && node->group < t->n_groups && node->bytes > 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int32_t sizes[] = { 4, 8, 6 };
    struct topo_network net = { .n_dims = 3, .n_npus = 192, .parts = -1 };
    for (int d = 0; d < 3; d++)
        net.dims[d] = (struct topo_dim){ .shape = TOPO_RING, .size = sizes[d] };
    struct astra_rule rule = { -1, -1 };
    if (size > 0) {
        rule.loop = data[0] % 3 - 1;
        rule.recompute = data[0] / 3 % 4 - 1;
    }
    struct step_tree t;
    struct err e = { 0 };
    int rc = astra_read(&t, "fuzz", (const char *)data, size, &net, rule, &e);
    assert(rc == 0 ? e.code == 0 : (e.code == (enum err_code)rc && e.msg[0] && !t.nodes && !t.groups));
    if (rc == 0)
        check_tree(&t);
    step_free(&t);
    return 0;
}
