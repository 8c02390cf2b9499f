/** @file A run of a study of training with little communication, with all its tables. */
#ifndef TESTS_UNIT_GOSSIP_TABLES_H
#define TESTS_UNIT_GOSSIP_TABLES_H

#include "kinds/gossip/gossip.h"
#include "tests/unit/study_folder.h"
#include "tests/unit/study_tables.h"
#include "tests/unit/table_cells.h"

/* 4 workers of 100 examples: 8 * 8 + 8 + 8 * 4 + 4 = 108 parameters, 6 steps an epoch. */
#define SMALL                                                                                                \
    "network: switch:4@0.001\n"                                                                              \
    "learner: { hidden: 8, batch: 16, epochs: 4 }\n"                                                         \
    "data: { train: 400, test: 100, features: 8, classes: 4, hidden: 8 }\n"                                  \
    "seeds: 3\n"                                                                                             \
    "seed: 11\n"
enum { WORKERS = 4, PARAMS = 108, STEPS = 24 };

struct tables {
    struct table rows, runs, curves, links;
    struct text notes;
};

static inline void run_text(struct tables *t, struct folder *f, const char *text, int32_t threads)
{
    struct table all[N_GOSSIP_TABLES] = { { .n_rows = 0 } };
    *t = (struct tables){ .notes = { .n = 0 } };
    put(f, "study.yaml", text);
    MUST(study_tables(all, &t->notes, &gossip_kind, f->path, threads, e));
    t->rows = all[TABLE_ROWS];
    t->runs = all[TABLE_RUNS];
    t->curves = all[GOSSIP_CURVES];
    t->links = all[GOSSIP_LINKS];
}

static inline void tables_free(struct tables *t)
{
    table_free(&t->rows);
    table_free(&t->runs);
    table_free(&t->curves);
    table_free(&t->links);
    text_free(&t->notes);
}

/** Row of the method with label @p method at point @p point. */
static inline int64_t row_of(const struct table *t, int64_t point, const char *method)
{
    for (int64_t row = 0; row < t->n_rows; row++)
        if (number(t, row, "point") == (double)point && strcmp(word(t, row, "method"), method) == 0)
            return row;
    fail_msg("no row of %s", method);
    return -1;
}

/** The tables of a study of this text, run by so many threads. */
#define TABLES(t, threads, text)                                                                             \
    KEEP(struct tables, t, tables_free);                                                                     \
    run_text(&t, *state, text, threads)

#endif
