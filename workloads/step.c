#include "workloads/step.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const char *const step_phase_names[N_STEP_PHASES + 1] = {
    [STEP_FORWARD] = "forward",     [STEP_INPUT_GRAD] = "input-grad", [STEP_WEIGHT_GRAD] = "weight-grad",
    [STEP_RECOMPUTE] = "recompute", [STEP_OTHER] = "other",           [STEP_BUBBLE] = "bubble",
    [STEP_OPTIMIZER] = "optimizer", [STEP_OVERHEAD] = "overhead",
};

void step_free(struct step_tree *t)
{
    free(t->nodes);
    free(t->groups);
    text_free(&t->notes);
    *t = (struct step_tree){ .root = -1 };
}

void step_set_name(char out[TOPO_NAME], const char *name)
{
    size_t n = name ? strnlen(name, TOPO_NAME - 1) : 0;
    memcpy(out, name ? name : "", n);
    out[n] = '\0';
}

void step_begin(struct step_tree *t, const char *name, const struct topo_network *net)
{
    int32_t all[TOPO_MAX_DIMS];
    *t = (struct step_tree){ .root = -1, .n_dims = net->n_dims };
    snprintf(t->name, sizeof t->name, "%s", name ? name : "");
    for (int32_t d = 0; d < net->n_dims; d++)
        all[d] = net->dims[d].size;
    step_add_group(t, "all", all);
}

step_id step_add(struct step_tree *t, step_id parent, struct step_node node)
{
    struct step_node *nodes =
        t->failed ? NULL : array_grow(t->nodes, t->n_nodes, &t->cap_nodes, sizeof *nodes);
    if (!nodes) {
        t->failed = true;
        return -1;
    }
    t->nodes = nodes;
    step_id id = t->n_nodes++;
    node.first = node.last = node.next = -1;
    t->nodes[id] = node;
    if (parent < 0) {
        t->root = id;
        return id;
    }
    struct step_node *p = &t->nodes[parent];
    assert(p->kind == STEP_SUM || p->kind == STEP_MAX || (p->kind == STEP_REPEAT && p->first < 0));
    if (p->first < 0)
        p->first = id;
    else
        t->nodes[p->last].next = id;
    p->last = id;
    return id;
}

int32_t step_add_group(struct step_tree *t, const char *name, const int32_t *members)
{
    static const int32_t next_to_each_other[TOPO_MAX_DIMS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    return step_add_group_after(t, name, members, next_to_each_other);
}

int32_t step_add_group_after(struct step_tree *t, const char *name, const int32_t *members,
                             const int32_t *stride)
{
    struct step_group group = { .name = "" };
    struct step_group *groups =
        t->failed ? NULL : array_grow(t->groups, t->n_groups, &t->cap_groups, sizeof *groups);
    if (!groups) {
        t->failed = true;
        return -1;
    }
    t->groups = groups;
    step_set_name(group.name, name);
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        group.members[d] = d < t->n_dims ? members[d] : 1;
        group.stride[d] = d < t->n_dims ? stride[d] : 1;
    }
    t->groups[t->n_groups] = group;
    return t->n_groups++;
}

int step_check(const struct step_tree *t, struct err *e)
{
    return t->failed ? err_nomem(e, "the training step") : 0;
}

int32_t step_find_group(const struct step_tree *t, const char *name)
{
    for (int32_t g = 0; g < t->n_groups; g++)
        if (strcmp(t->groups[g].name, name) == 0)
            return g;
    return -1;
}
