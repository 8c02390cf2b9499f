/* How long a sweep will take, by some of its points. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "study/campaign.h"
#include "study/study.h"

/* Units spread over all, and neighbours, which share what was read as most points of a sweep do. */
static int64_t pick(const struct order *o, int64_t i, int64_t n)
{
    return i % 2 ? i / 2 % o->n_units : o->n_units / n * i + (o->n_units % n) * i / n;
}

/* The first row that has no design, unless one is known. */
static void note_failed(struct campaign_pace *pace, const struct table *rows)
{
    int32_t status = table_find(rows, "status"), time = table_find(rows, "time_s");
    for (int64_t row = 0; row < rows->n_rows && !pace->why[0]; row++) {
        const char *word = table_cell(rows, row, status)->text;
        const char *message = table_cell(rows, row, table_find(rows, "message"))->text;
        if (word && isnan(table_number(rows, row, time)))
            snprintf(pace->why, sizeof pace->why, "%s%s%.450s", word, message ? ": " : "",
                     message ? message : "");
    }
}

struct trial {
    const struct campaign_plan *plan;
    struct block_job job;
    struct campaign_pace *pace;
    double pass_s; /* to be spent on a pass, or so */
};

/* Points of up to 256 units, till pass_s are spent; *spent_s is what they took. */
static int run_some(double *spent_s, struct sweep_counts *n, struct trial *t, void *hand, struct keep *keep,
                    struct err *e)
{
    enum { SPREAD = 256 };
    const struct order *o = &t->plan->order;
    const struct block_ops *blocks = t->job.study->kind->blocks;
    int64_t units = o->n_units < SPREAD ? o->n_units : SPREAD;
    int rc = 0;
    for (int64_t i = 0; i < units && !rc && *spent_s < t->pass_s; i++) {
        struct table rows = { 0 };
        double start_s = clock_now_s();
        struct order_unit unit;
        study_put_columns(&rows, t->job.study, TABLE_ROWS);
        order_find(&unit, o, pick(o, i, units));
        rc = blocks->block(hand, &unit, &rows, n, e);
        *spent_s += clock_now_s() - start_s;
        if (!rc && keep)
            rc = keep_offer(keep, &rows, e);
        if (n->failed)
            note_failed(t->pace, &rows);
        table_free(&rows);
    }
    return rc;
}

/* One pass of the sweep: seconds a point, NaN where none was run. Rows are offered to @p keep, unless NULL.
 */
static int measure_pass(double *point_s, struct trial *t, struct keep *keep, struct err *e)
{
    const struct block_ops *blocks = t->job.study->kind->blocks;
    void *hand;
    struct sweep_counts n = { 0 };
    double spent_s = 0;
    int rc = blocks->hand(&hand, &t->job, e);
    if (rc)
        return rc;
    rc = run_some(&spent_s, &n, t, hand, keep, e);
    *point_s = n.seen ? spent_s / (double)n.seen : NAN;
    t->pace->n += n.seen;
    t->pace->n_failed += n.failed;
    blocks->hand_free(hand);
    return rc;
}

/* Where points are pruned, one in ORDER_SAMPLE is solved and the others are held against the front of these:
 * here against that of the few that were solved. */
static int measure_pruned(struct trial *t, struct err *e)
{
    struct keep *keep;
    double solved_s = NAN, pruned_s = NAN;
    int rc = keep_build(&keep, &t->plan->rule, &t->plan->columns, e);
    if (rc)
        return rc;
    t->pass_s /= 2;
    rc = measure_pass(&solved_s, t, keep, e);
    if (!rc)
        rc = keep_sort_fronts(keep, e);
    t->job.known = keep_fronts(keep);
    if (!rc)
        rc = measure_pass(&pruned_s, t, NULL, e);
    t->pace->point_s = (solved_s + (ORDER_SAMPLE - 1) * pruned_s) / ORDER_SAMPLE;
    keep_free(keep);
    return rc;
}

int campaign_measure(struct campaign_pace *pace, const struct study *study, double most_s, struct err *e)
{
    struct campaign_plan plan;
    struct trial t = { .plan = &plan,
                       .job = { .study = study, .order = &plan.order, .rule = &plan.rule },
                       .pace = pace,
                       .pass_s = most_s };
    *pace = (struct campaign_pace){ .point_s = NAN };
    int rc = campaign_plan_make(&plan, study, false, e);
    if (rc)
        return rc;
    pace->at_most = plan.passes > 1;
    rc = pace->at_most ? measure_pruned(&t, e) : measure_pass(&pace->point_s, &t, NULL, e);
    campaign_plan_free(&plan);
    return rc;
}
