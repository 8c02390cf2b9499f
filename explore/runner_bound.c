#include "explore/runner_bound.h"

#include <math.h>
#include <string.h>

/* Columns up to the objective, and the total where the study gives it, are known before a point is solved. */
static void look_at_columns(struct runner_bound *b, const struct keep_rule *rule)
{
    int32_t total = table_find(&b->row, "total_GBps");
    b->possible = true;
    for (int32_t i = 0; i < rule->n_per; i++) {
        int32_t col = table_find(&b->row, rule->per[i]);
        b->possible = b->possible && col >= 0 && col <= total;
        b->total = b->total || col == total;
    }
}

int runner_bound_begin(struct runner_bound *b, const struct runner_job *job, struct err *e)
{
    *b = (struct runner_bound){ .known = job->known, .sweep = job->order->sweep };
    if (!b->known)
        return 0;
    bound_begin(&b->bound, job->rule->front, job->rule->n_front);
    runner_columns(&b->row, b->sweep);
    if (b->row.failed)
        return err_nomem(e, "a row of a sweep");
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

void runner_bound_unit(struct runner_bound *b)
{
    b->prepared = false;
}

static int find_group(struct runner_bound *b, const struct study *s, const struct sweep_words *words,
                      const struct sweep_point *p, struct err *e)
{
    struct sweep_row row;
    sweep_row_blank(&row);
    sweep_row_study(&row, s, words);
    table_clear(&b->row);
    sweep_row_put(&b->row, b->sweep, p, 0, &row);
    return b->row.failed ? err_nomem(e, "a row of a sweep") : keep_group(&b->group, b->keep, &b->row, 0, e);
}

/* A search makes another workload of every point. */
static bool is_searched(const struct study *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++)
        if (s->workloads[i].search)
            return true;
    return false;
}

int runner_bound_ask(bool *beaten, struct runner_bound *b, const struct study *s,
                     const struct sweep_words *words, const struct sweep_point *p, struct err *e)
{
    *beaten = false;
    /* At given bandwidths a bound takes longer than the point itself. */
    if (!b->known || !b->possible || s->split == STUDY_GIVEN || (b->total && isnan(s->total_Bps)))
        return 0;
    int rc = b->prepared && !is_searched(s) ? 0 : bound_prepare(&b->bound, s, e);
    if (!rc)
        rc = find_group(b, s, words, p, e);
    if (rc)
        return rc;
    b->prepared = true;
    *beaten = bound_beaten(&b->bound, s, front_of(b->known, text_str(&b->group)));
    return 0;
}
