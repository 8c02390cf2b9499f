#include "kinds/design/study.h"

/* Text that a workload takes from a file which is not YAML is in its tree only. */
static unsigned long long hash_tree(const struct step_tree *t, unsigned long long h)
{
    for (step_id id = 0; id < t->n_nodes; id++) {
        const struct step_node *node = &t->nodes[id];
        const double numbers[] = { node->seconds, node->bytes, node->times };
        const int32_t words[] = { (int32_t)node->kind,
                                  (int32_t)node->phase,
                                  (int32_t)node->collective,
                                  node->dim,
                                  node->priority,
                                  node->group,
                                  node->first,
                                  node->next };
        h = text_hash(h, numbers, sizeof numbers);
        h = text_hash(h, words, sizeof words);
    }
    for (int32_t g = 0; g < t->n_groups; g++)
        h = text_hash(h, t->groups[g].members, (size_t)t->n_dims * sizeof t->groups[g].members[0]);
    return h;
}

unsigned long long study_hash(const struct design_point *s)
{
    unsigned long long h = yaml_hash(&s->doc, s->doc.root);
    if (s->rules.graph[0])
        h = text_hash(h, &s->rules.graph_hash, sizeof s->rules.graph_hash);
    for (int32_t i = 0; i < s->n_workloads; i++)
        if (!s->workloads[i].training) /* all of a model is in the document */
            h = hash_tree(&s->workloads[i].tree, h);
    return h;
}

unsigned long long study_choices(const struct design_point *s)
{
    unsigned long long h = TEXT_HASH_SEED;
    for (int32_t i = 0; i < s->n_workloads; i++)
        h = hash_tree(study_compiled_tree(&s->workloads[i]), h);
    return h;
}
