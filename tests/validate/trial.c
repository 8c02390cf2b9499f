#include "tests/validate/trial.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "study/campaign.h"
#include "study/study.h"
#include "tests/support.h"

enum { MAX_SEEDS = 64 };

/* A point that could not be run is a row of the main table, and ends the program. */
static void check_done(const struct table *rows, const char *path)
{
    int32_t status = table_find(rows, "status"), message = table_find(rows, "message");
    for (int64_t i = 0; i < rows->n_rows; i++)
        if (strcmp(table_cell(rows, i, status)->text, "done") != 0)
            fail_msg("%s: %s", path, table_cell(rows, i, message)->text);
}

static void run(struct trial *t, const char *name, const struct study_override *set, int32_t n_set,
                bool slots)
{
    char path[128];
    *t = (struct trial){ 0 };
    snprintf(path, sizeof path, "configs/clusters/%s.yaml", name);
    const struct study_ask ask = { .kind = &place_kind,
                                   .from = { .path = path, .overrides = set, .n = n_set } };
    struct table *extras[] = { NULL, &t->runs, NULL, NULL, slots ? &t->slots : NULL, NULL };
    MUST(study_open(&t->place, &ask, e));
    MUST(campaign_tables(&t->rows, extras, NULL, &t->place, (int32_t)omp_get_num_procs(), e));
    check_done(&t->rows, path);
    int64_t n_runs = t->place.sweep.n_points * t->place.seeds;
    t->n_schedulers = (int32_t)(t->runs.n_rows / n_runs);
    assert_int_equal(t->runs.n_rows, n_runs * t->n_schedulers);
}

void trial_run(struct trial *t, const char *name, const struct study_override *set, int32_t n_set)
{
    run(t, name, set, n_set, false);
}

void trial_run_slots(struct trial *t, const char *name)
{
    run(t, name, NULL, 0, true);
}

void trial_free(struct trial *t)
{
    table_free(&t->rows);
    table_free(&t->runs);
    table_free(&t->slots);
    study_close(&t->place);
}

/* Of the rows of one point and seed, that of the scheduler. */
static double find_value(const struct table *t, int64_t first, struct entrant x, const char *metric)
{
    int32_t scheduler = table_find(t, "scheduler"), column = table_find(t, metric);
    assert_true(column >= 0);
    for (int64_t row = first; row < first + x.trial->n_schedulers; row++)
        if (strcmp(table_cell(t, row, scheduler)->text, x.scheduler) == 0)
            return table_number(t, row, column);
    fail_msg("no run of %s", x.scheduler);
    return NAN;
}

double trial_value(struct entrant x, int64_t k, const char *metric)
{
    return find_value(&x.trial->runs, (x.point * x.trial->place.seeds + k) * x.trial->n_schedulers, x,
                      metric);
}

double trial_row_value(struct entrant x, const char *metric)
{
    return find_value(&x.trial->rows, x.point * x.trial->n_schedulers, x, metric);
}

struct stat_mean trial_mean(struct entrant x, const char *metric)
{
    double values[MAX_SEEDS];
    int64_t n = x.trial->place.seeds;
    assert_in_range(n, 1, MAX_SEEDS);
    for (int64_t k = 0; k < n; k++)
        values[k] = trial_value(x, k, metric);
    return stat_mean(values, n, 1);
}

struct stat_mean trial_ratio(struct entrant a, struct entrant b, const char *metric)
{
    double values[MAX_SEEDS];
    int64_t n = a.trial->place.seeds;
    assert_in_range(n, 1, MAX_SEEDS);
    assert_int_equal(n, b.trial->place.seeds);
    assert_int_equal(a.trial->place.seed, b.trial->place.seed);
    for (int64_t k = 0; k < n; k++)
        values[k] = trial_value(a, k, metric) / trial_value(b, k, metric);
    return stat_mean(values, n, 1);
}

int trial_ordered(const struct entrant *x, int n, const char *metric, int sign)
{
    int count = 0;
    for (int64_t k = 0; k < x[0].trial->place.seeds; k++) {
        bool ordered = true;
        for (int i = 0; i + 1 < n; i++)
            ordered =
                ordered && sign * trial_value(x[i], k, metric) < sign * trial_value(x[i + 1], k, metric);
        count += ordered;
    }
    return count;
}

const char *trial_cell(char buf[TRIAL_CELL], struct stat_mean m, int digits)
{
    if (m.mean >= 1e6) {
        snprintf(buf, TRIAL_CELL, "> 1e6");
        return buf;
    }
    int n = snprintf(buf, TRIAL_CELL, "%.*f", digits, m.mean);
    if (n > 0 && n < TRIAL_CELL && isfinite(m.half))
        snprintf(buf + n, (size_t)(TRIAL_CELL - n), " ± %.*f", digits, m.half);
    return buf;
}
