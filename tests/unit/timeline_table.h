/** @file Tables for the tests of timelines: made in memory, with the columns that weft sim --timeline writes.
 */
#ifndef TESTS_UNIT_TIMELINE_TABLE_H
#define TESTS_UNIT_TIMELINE_TABLE_H

#include "tests/support.h"

#include "base/table.h"

/** A row of the table; dim 0 is compute, whose utilisation, collective and pass are blank. Times in ms. */
struct stage {
    const char *workload, *order, *chosen;
    double time_ms;
    const char *row;
    int32_t dim;
    double util;
    int32_t npu_class, slot;
    const char *name, *pass;
    double start_ms, end_ms;
};

/** Release with table_free(). */
static inline void timeline_table(struct table *t, const struct stage *rows, size_t n)
{
    static const struct {
        const char *name;
        enum table_kind kind;
    } columns[] = {
        { "workload", TABLE_TEXT }, { "order", TABLE_TEXT },      { "chosen", TABLE_TEXT },
        { "time_s", TABLE_REAL },   { "row", TABLE_TEXT },        { "dim", TABLE_COUNT },
        { "util", TABLE_REAL },     { "npu_class", TABLE_COUNT }, { "slot", TABLE_COUNT },
        { "name", TABLE_TEXT },     { "pass", TABLE_TEXT },       { "start_s", TABLE_REAL },
        { "end_s", TABLE_REAL },
    };
    *t = (struct table){ 0 };
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        table_column(t, columns[i].name, columns[i].kind);
    for (size_t i = 0; i < n; i++) {
        const struct stage *s = &rows[i];
        table_row(t);
        table_put_text(t, s->workload);
        table_put_text(t, s->order);
        table_put_text(t, s->chosen);
        table_put_real(t, s->time_ms / 1e3);
        table_put_text(t, s->row);
        table_put_count(t, s->dim);
        table_put_real(t, s->dim ? s->util : (double)NAN);
        table_put_count(t, s->npu_class);
        table_put_count(t, s->slot);
        table_put_text(t, s->name);
        table_put_text(t, s->pass ? s->pass : "");
        table_put_real(t, s->start_ms / 1e3);
        table_put_real(t, s->end_ms / 1e3);
    }
}

/** Two orders of one all-reduce on two dimensions, beside compute; a bar of another workload at the end. */
static const struct stage stage_rows[] = {
    { "toy", "fixed", "no", 40, "compute", 0, 0, 0, 0, "forward", NULL, 0, 5 },
    { "toy", "fixed", "no", 40, "node", 1, 0.75, 0, 0, "all-reduce", "reduce-scatter", 5, 20 },
    { "toy", "fixed", "no", 40, "pod", 2, 0.25, 0, 0, "all-reduce", "reduce-scatter", 20, 25 },
    { "toy", "fixed", "no", 40, "pod", 2, 0.25, 0, 0, "all-reduce", "all-gather", 25, 30 },
    { "toy", "fixed", "no", 40, "node", 1, 0.75, 0, 0, "all-reduce", "all-gather", 30, 40 },
    { "toy", "themis", "yes", 20, "compute", 0, 0, 0, 0, "forward", NULL, 0, 5 },
    { "toy", "themis", "yes", 20, "compute", 0, 0, 0, 1, "backward", NULL, 3, 8 },
    { "toy", "themis", "yes", 20, "node", 1, 0.9, 0, 0, "all-reduce", "reduce-scatter", 5, 12 },
    { "toy", "themis", "yes", 20, "pod", 2, 0.5, 0, 0, "all-reduce", "all-gather", 12, 20 },
    { "other", "fixed", "yes", 7, "node", 1, 1, 0, 0, "all-to-all", "all-to-all", 0, 7 },
};

#endif
