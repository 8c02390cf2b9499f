#include "explore/runner_bound.h"

#include "explore/runner.h"

int runner_bound_build(struct runner_bound *b, const struct keep_rule *rule, const struct front_set *known,
                       const struct sweep *w, struct err *e)
{
    *b = (struct runner_bound){ .known = known, .sweep = w };
    if (!known)
        return 0;
    bound_begin(&b->bound, rule->front, rule->n_front);
    for (int32_t i = 0; i < rule->n_per; i++)
        b->quick_group = b->quick_group || order_is_quick(rule->per[i]);
    runner_columns(&b->row, w);
    if (b->row.failed)
        return err_nomem(e, "columns");
    return keep_build(&b->keep, rule, &b->row, e);
}

void runner_bound_free(struct runner_bound *b)
{
    if (b->known)
        bound_free(&b->bound);
    keep_free(b->keep);
    table_free(&b->row);
    text_free(&b->group);
    *b = (struct runner_bound){ 0 };
}

void runner_bound_forget(struct runner_bound *b)
{
    b->prepared = false;
}

/* What rows are held apart by is known before a point is solved: its key, its network, its workload. */
static int find_group(struct runner_bound *b, const struct study *s, const struct sweep_words *words,
                      const struct sweep_point *p, int64_t point, struct err *e)
{
    struct sweep_row row;
    sweep_row_blank(&row);
    sweep_row_study(&row, s, words);
    table_clear(&b->row);
    sweep_row_put(&b->row, b->sweep, p, point, &row);
    int rc = b->row.failed ? err_nomem(e, "a row") : keep_group(&b->group, b->keep, &b->row, 0, e);
    if (!rc)
        b->front = front_of(b->known, text_str(&b->group));
    return rc;
}

int runner_bound_ask(bool *beaten, struct runner_bound *b, const struct study *s,
                     const struct sweep_words *words, const struct sweep_point *p, int64_t point,
                     struct err *e)
{
    int rc = 0;
    *beaten = false;
    if (!b->known)
        return 0;
    if (!b->prepared || b->quick_group)
        rc = find_group(b, s, words, p, point, e);
    if (!rc && !b->prepared)
        rc = bound_prepare(&b->bound, s, e);
    b->prepared = !rc;
    *beaten = !rc && bound_beaten(&b->bound, s, b->front);
    return rc;
}
