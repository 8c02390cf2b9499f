/** @file Studies of designs: opened, and all their rows in the simplest way there is. */
#ifndef TESTS_UNIT_DESIGNS_H
#define TESTS_UNIT_DESIGNS_H

#include "tests/support.h"

#include "kinds/design/explore/runner.h"

static inline int designs_open(struct study *s, const char *path, const struct study_override *o, int32_t n,
                               struct err *e)
{
    const struct study_ask ask = { .kind = &design_kind, .from = { .path = path, .overrides = o, .n = n } };
    return study_open(s, &ask, e);
}

/** A row for each point, in order: one after another by one hand, without units of many, store or rules. */
static inline void designs_rows(struct table *t, const struct study *s)
{
    const struct block_ops *blocks = s->kind->blocks;
    int64_t *unit_of = calloc((size_t)s->sweep.n_points, sizeof *unit_of);
    struct units order;
    struct sweep_counts n = { 0 };
    void *hand;
    study_put_columns(t, s, TABLE_ROWS);
    MUST(units_build(&order, &s->sweep, 1, blocks->quick, e));
    const struct block_job job = { .study = s, .order = &order };
    MUST(blocks->hand(&hand, &job, e));
    assert_non_null(unit_of);
    for (int64_t u = 0; u < order.n_units; u++) {
        struct sweep_unit unit;
        struct sweep_point at;
        units_find(&unit, &order, u);
        unit_of[units_point(&at, &order, &unit, 0)] = u;
    }
    for (int64_t i = 0; i < s->sweep.n_points; i++) {
        struct sweep_unit unit;
        units_find(&unit, &order, unit_of[i]);
        MUST(blocks->block(hand, &unit, t, &n, e));
    }
    blocks->hand_free(hand);
    free(unit_of);
    units_free(&order);
    MUST(study_trim(t, s->tables[TABLE_ROWS].list, e));
}

#endif
