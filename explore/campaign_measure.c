/* How long a sweep will take, by some of its points. */
#include <math.h>

#include "base/clock.h"
#include "explore/campaign.h"

/* Units spread over all, and neighbours, which share what was read as most points of a sweep do. */
static int64_t pick(const struct order *o, int64_t i, int64_t n)
{
    return i % 2 ? i / 2 % o->n_units : o->n_units / n * i + (o->n_units % n) * i / n;
}

/* Points of up to 256 units, till most_s are spent; *spent_s is what they took. */
static int run_some(double *spent_s, struct sweep_counts *n, const struct campaign_plan *p, struct runner *r,
                    struct keep *keep, double most_s, struct err *e)
{
    enum { SPREAD = 256 };
    int64_t units = p->order.n_units < SPREAD ? p->order.n_units : SPREAD;
    int rc = 0;
    *spent_s = 0;
    for (int64_t i = 0; i < units && !rc && *spent_s < most_s; i++) {
        struct table rows = { 0 };
        double start_s = clock_now_s();
        runner_columns(&rows, p->order.sweep);
        rc = runner_unit(r, pick(&p->order, i, units), &rows, n, e);
        *spent_s += clock_now_s() - start_s;
        if (!rc && keep)
            rc = keep_offer(keep, &rows, e);
        table_free(&rows);
    }
    return rc;
}

/* One pass of the sweep: seconds a point, NaN where none was run. */
static int measure_pass(double *point_s, struct sweep_counts *n, const struct campaign_plan *p,
                        const struct runner_job *job, struct keep *keep, double most_s, struct err *e)
{
    struct runner *r;
    struct sweep_counts here = { 0 };
    double spent_s = 0;
    int rc = runner_build(&r, job, e);
    if (rc)
        return rc;
    rc = run_some(&spent_s, &here, p, r, keep, most_s, e);
    *point_s = here.seen ? spent_s / (double)here.seen : NAN;
    sweep_count_add(n, &here);
    runner_free(r);
    return rc;
}

/* Where points are pruned, one in ORDER_SAMPLE is solved and the others are held against the front of these:
 * here against that of the few that were solved. */
static int measure_pruned(double *point_s, struct sweep_counts *n, const struct campaign_plan *p,
                          struct runner_job *job, double most_s, struct err *e)
{
    struct keep *keep;
    double solved_s = NAN, pruned_s = NAN;
    int rc = keep_build(&keep, &p->rule, &p->columns, e);
    if (rc)
        return rc;
    rc = measure_pass(&solved_s, n, p, job, keep, most_s / 2, e);
    if (!rc)
        rc = keep_sort_fronts(keep, e);
    job->known = keep_fronts(keep);
    if (!rc)
        rc = measure_pass(&pruned_s, n, p, job, NULL, most_s / 2, e);
    *point_s = (solved_s + (ORDER_SAMPLE - 1) * pruned_s) / ORDER_SAMPLE;
    keep_free(keep);
    return rc;
}

int campaign_measure(struct campaign_pace *pace, const struct sweep *w, const struct study_source *from,
                     double most_s, struct err *e)
{
    struct campaign_plan plan;
    struct sweep_counts counts = { 0 };
    int rc = campaign_plan_make(&plan, w, from, e);
    struct runner_job job = { .order = &plan.order, .from = from, .rule = &plan.rule };
    *pace = (struct campaign_pace){ .point_s = NAN, .at_most = !rc && plan.passes > 1 };
    if (pace->at_most)
        rc = measure_pruned(&pace->point_s, &counts, &plan, &job, most_s, e);
    else if (!rc)
        rc = measure_pass(&pace->point_s, &counts, &plan, &job, NULL, most_s, e);
    pace->n = counts.seen;
    campaign_plan_free(&plan);
    return rc;
}
