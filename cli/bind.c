#include "cli/bind.h"

#include <string.h>

enum { MAX_NAMES = 6 };

void bind_name(struct text *out, const struct step_tree *t, const struct sim_collective *c)
{
    const struct step_node *node = &t->nodes[c->node];
    text_printf(out, "%s %s", t->groups[node->group].name, collective_names[node->collective]);
}

void bind_choice(struct text *out, const struct sim_collective *c, int32_t d)
{
    const struct stage_choice *choice = &c->choice[d];
    if (choice->algorithm == TOPO_ALGORITHM_SHAPE)
        return;
    text_puts(out, topo_algorithm_words[choice->algorithm]);
    if (choice->regime > 0)
        text_printf(out, ", regime %d", (int)choice->regime);
    if (choice->segments > 1)
        text_printf(out, ", %d segments", (int)choice->segments);
}

/* The name occurs in the list as a whole. */
static bool is_listed(const struct text *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = text_str(list); (s = strstr(s, name)); s++)
        if ((s == list->s || s[-1] == ' ') && (s[n] == '\0' || s[n] == ','))
            return true;
    return false;
}

void bind_names(struct text *out, const struct design_point *s, const struct design *x, int32_t d)
{
    struct text list = { 0 }, name = { 0 };
    int32_t n_names = 0;
    for (int32_t w = 0; w < x->n_loads; w++) {
        const struct sim_step *closed = &x->loads[w].step;
        for (int32_t i = 0; i < closed->n_collectives; i++) {
            const struct sim_collective *c = &closed->collectives[i];
            text_clear(&name);
            bind_name(&name, &s->workloads[w].tree, c);
            if (!c->binds[d] || is_listed(&list, text_str(&name)))
                continue;
            if (n_names++ < MAX_NAMES)
                text_printf(&list, "%s%s", n_names > 1 ? ", " : "", text_str(&name));
        }
    }
    text_puts(out, text_str(&list));
    if (n_names > MAX_NAMES)
        text_puts(out, ", ...");
    out->failed = out->failed || list.failed || name.failed;
    text_free(&list);
    text_free(&name);
}
