#include "kinds/design/runner_bound.h"

#include <math.h>
#include <string.h>

#include "kinds/design/runner.h"
#include "study/study.h"

/* Columns up to the objective, and the total where the study gives it, are known before a point is solved. */
static void look_at_columns(struct runner_bound *b, const struct keep_rule *rule)
{
    int32_t total = table_find(&b->row, "total_GBps");
    b->possible = true;
    for (int32_t i = 0; i < rule->n_per; i++) {
        const char *name = rule->per[i];
        int32_t col = table_find(&b->row, name);
        b->possible = b->possible && col >= 0 && col <= total;
        b->by_total = b->by_total || col == total;
        /* A network without a name is called by its bandwidths too. */
        b->quick_group = b->quick_group || design_is_quick(name) || strcmp(name, "network") == 0;
    }
}

int runner_bound_build(struct runner_bound *b, const struct block_job *job, struct err *e)
{
    *b = (struct runner_bound){ .known = job->known, .study = job->study };
    if (!job->known)
        return 0;
    bound_begin(&b->bound, job->rule->front, job->rule->n_front);
    study_put_columns(&b->row, job->study, TABLE_ROWS);
    if (b->row.failed)
        return err_nomem(e, "columns");
    look_at_columns(b, job->rule);
    return keep_build(&b->keep, job->rule, &b->row, e);
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

static int find_group(struct runner_bound *b, const struct design_point *s, const struct sweep_words *words,
                      const struct sweep_point *p, int64_t point, struct err *e)
{
    struct sweep_row row;
    sweep_row_blank(&row);
    sweep_row_study(&row, s, words);
    table_clear(&b->row);
    study_put_row(&b->row, b->study, TABLE_ROWS, p, point, &row);
    int rc = b->row.failed ? err_nomem(e, "a row") : keep_group(&b->group, b->keep, &b->row, 0, e);
    if (!rc)
        b->front = front_of(b->known, text_str(&b->group));
    return rc;
}

int runner_bound_ask(bool *beaten, struct runner_bound *b, const struct design_point *s,
                     const struct sweep_words *words, const struct sweep_point *p, int64_t point,
                     struct err *e)
{
    int rc = 0;
    *beaten = false;
    /* At given bandwidths a bound takes longer than the point itself. */
    if (!b->known || !b->possible || s->split == STUDY_GIVEN || (b->by_total && isnan(s->total_Bps)))
        return 0;
    if (!b->prepared || b->quick_group)
        rc = find_group(b, s, words, p, point, e);
    if (!rc && !b->prepared)
        rc = bound_prepare(&b->bound, s, e);
    b->prepared = !rc;
    *beaten = !rc && bound_beaten(&b->bound, s, b->front);
    return rc;
}
