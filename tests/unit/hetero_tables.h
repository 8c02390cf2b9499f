/** @file A run of a study of layers on types of resources, with all its tables. */
#ifndef TESTS_UNIT_HETERO_TABLES_H
#define TESTS_UNIT_HETERO_TABLES_H

#include "kinds/hetero/hetero.h"
#include "tests/unit/study_folder.h"
#include "tests/unit/study_tables.h"
#include "tests/unit/table_cells.h"

/* Drawn plans are not all alike here, and some reach the throughput and some do not. */
#define WIDE                                                                                                 \
    "model: ctrdnn\n"                                                                                        \
    "draw: { types: 5, seed: 3 }\n"                                                                          \
    "job: { examples_M: 100 }\n"                                                                             \
    "throughput: { share: 0.3 }\n"                                                                           \
    "schedulers: [random, greedy, gpu-only]\n"                                                               \
    "evaluations: 3\n"                                                                                       \
    "seeds: 5\n"                                                                                             \
    "seed: 11\n"

struct tables {
    struct table rows, runs, plans, stages, curves;
    struct text notes;
};

static inline void run_text(struct tables *t, struct folder *f, const char *text, int32_t threads)
{
    struct table all[N_HETERO_TABLES] = { { .n_rows = 0 } };
    *t = (struct tables){ .notes = { .n = 0 } };
    put(f, "study.yaml", text);
    MUST(study_tables(all, &t->notes, &hetero_kind, f->path, threads, e));
    t->rows = all[TABLE_ROWS];
    t->runs = all[TABLE_RUNS];
    t->plans = all[HETERO_PLANS];
    t->stages = all[HETERO_STAGES];
    t->curves = all[HETERO_CURVES];
}

static inline void tables_free(struct tables *t)
{
    table_free(&t->rows);
    table_free(&t->runs);
    table_free(&t->plans);
    table_free(&t->stages);
    table_free(&t->curves);
    text_free(&t->notes);
}

/** Are row @p a of one table and row @p b of another of the same point and scheduler? */
static inline bool is_of(const struct table *rows, int64_t a, const struct table *other, int64_t b)
{
    return number(rows, a, "point") == number(other, b, "point") &&
           strcmp(word(rows, a, "scheduler"), word(other, b, "scheduler")) == 0;
}

/** The tables of a study of this text, run by so many threads. */
#define TABLES(t, threads, text)                                                                             \
    KEEP(struct tables, t, tables_free);                                                                     \
    run_text(&t, *state, text, threads)

#endif
