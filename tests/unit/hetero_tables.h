/** @file A run of a study of layers on types of resources, with all its tables. */
#ifndef TESTS_UNIT_HETERO_TABLES_H
#define TESTS_UNIT_HETERO_TABLES_H

#include "kinds/hetero/hetero.h"
#include "tests/unit/study_folder.h"
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
    struct hetero_study study;
    struct text notes;
};

static inline int run_with(struct tables *t, struct folder *f, const char *text, int32_t threads,
                           pool_progress *progress, struct err *e)
{
    *t = (struct tables){ .notes = { .n = 0 } };
    put(f, "study.yaml", text);
    int rc = hetero_study_read(&t->study, f->path, NULL, 0, e);
    const struct hetero_options options = { .threads = threads,
                                            .runs = &t->runs,
                                            .plans = &t->plans,
                                            .stages = &t->stages,
                                            .curves = &t->curves,
                                            .notes = &t->notes,
                                            .progress = progress };
    return rc ? rc : hetero_study_run(&t->rows, &t->study, f->path, NULL, 0, &options, e);
}

static inline void run_text(struct tables *t, struct folder *f, const char *text, int32_t threads)
{
    struct err e = { 0 };
    assert_ok(run_with(t, f, text, threads, NULL, &e), &e);
}

static inline void tables_free(struct tables *t)
{
    table_free(&t->rows);
    table_free(&t->runs);
    table_free(&t->plans);
    table_free(&t->stages);
    table_free(&t->curves);
    text_free(&t->notes);
    hetero_study_free(&t->study);
}

/** Are row @p a of one table and row @p b of another of the same point and scheduler? */
static inline bool is_of(const struct table *rows, int64_t a, const struct table *other, int64_t b)
{
    return number(rows, a, "point") == number(other, b, "point") &&
           strcmp(word(rows, a, "scheduler"), word(other, b, "scheduler")) == 0;
}

#endif
