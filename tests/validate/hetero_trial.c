#include "tests/settings.h"
#include "tests/validate/hetero_trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"

const char *const hetero_limit_words[] = { "loose", "binding" };

/* What GPUs of the first type alone reach: asked for far more, their value says it. */
static double gpu_reach(struct hetero_problem *p)
{
    KEEP(struct hetero_work, work, hetero_work_free);
    struct hetero_value v;
    hetero_id plan[HETERO_MAX_LAYERS];
    for (int32_t l = 0; l < p->profile->n_layers; l++)
        plan[l] = 1;
    MUST(hetero_work_build(&work, p, e));
    hetero_set_throughput(p, 1e15);
    hetero_evaluate(&v, p, plan, &work);
    return v.reach_per_s;
}

void hetero_trial_build(struct hetero_trial *t, enum hetero_model model, int32_t n_types, uint64_t draw_seed,
                        enum hetero_limit limit)
{
    const struct hetero_setup setup = { .overlap = true,
                                        .handover = HETERO_PER_LAYER,
                                        .provisioning = HETERO_EXACT,
                                        .examples = 1e9,
                                        .epochs = 1,
                                        .server = -1 };
    struct hetero_draw draw = hetero_draw_default();
    double reach_per_s;
    draw.model = model;
    draw.n_types = n_types;
    draw.seed = (int64_t)draw_seed;
    MUST(hetero_draw_profile(&t->profile, &draw, e));
    MUST(hetero_build(&t->problem, &t->profile, &setup, e));
    if (limit == HETERO_LOOSE)
        reach_per_s = gpu_reach(&t->problem);
    else
        MUST(hetero_reach(&reach_per_s, NULL, &t->problem, e));
    hetero_set_throughput(&t->problem, 0.5 * reach_per_s);
    MUST(hetero_oracle(&t->oracle, &t->problem, e));
}

void hetero_trial_free(struct hetero_trial *t)
{
    hetero_oracle_free(&t->oracle);
    hetero_free(&t->problem);
    hetero_profile_free(&t->profile);
}

static int32_t find_scheduler(const char *name)
{
    for (int32_t i = 0; i < n_hetero_schedulers; i++)
        if (strcmp(hetero_schedulers[i].name, name) == 0)
            return i;
    fprintf(stderr, "no scheduler is called %s\n", name);
    exit(EXIT_FAILURE);
}

/* Returns how many evaluations it took; the plan's value goes to @p v. */
static int64_t run(struct hetero_value *v, struct hetero_entry x, uint64_t seed)
{
    const struct hetero_settings settings = hetero_settings_default();
    KEEP(struct hetero_search, s, hetero_search_free);
    MUST(hetero_schedule(&s, &x.trial->problem, find_scheduler(x.scheduler), &settings, seed, e));
    *v = s.value;
    return s.evaluations;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void hetero_run_all(struct hetero_outcome *out, const struct hetero_entry *entries, int32_t n)
{
#pragma omp parallel for schedule(dynamic)
    for (int32_t i = 0; i < n; i++) {
        out[i] = (struct hetero_outcome){ 0 };
        for (int k = 0; k < HETERO_SEEDS; k++) {
            struct hetero_value v;
            int64_t evaluations = run(&v, entries[i], HETERO_FIRST_SEED + (uint64_t)k);
            bool ok = v.status == HETERO_OK;
            out[i].over[k] = ok ? v.usd / entries[i].trial->oracle.usd : INFINITY;
            out[i].evaluations = evaluations > out[i].evaluations ? evaluations : out[i].evaluations;
            if (k == 0) {
                out[i].per_s = v.per_s;
                out[i].reach_per_s = v.reach_per_s;
            }
        }
        qsort(out[i].over, HETERO_SEEDS, sizeof out[i].over[0], ascending);
    }
}

const char *hetero_cell(char buf[HETERO_CELL], double over)
{
    if (!isfinite(over))
        snprintf(buf, HETERO_CELL, "infeasible");
    else
        snprintf(buf, HETERO_CELL, over < 9.9995 ? "%.4f" : "%.1f", over);
    return buf;
}
