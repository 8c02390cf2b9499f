/** @file A study of a kind with runs, run on threads of this process: all its tables, and what is told. */
#ifndef TESTS_UNIT_STUDY_TABLES_H
#define TESTS_UNIT_STUDY_TABLES_H

#include "study/campaign.h"
#include "study/study.h"

/**
 * Run the study of file @p path, and fill @p tables, shape [kind->n_tables], zero, and @p notes. An error of
 * the study's own; that of a point is a row.
 */
static inline int study_tables(struct table *tables, struct text *notes, const struct study_kind *kind,
                               const char *path, int32_t threads, struct err *e)
{
    struct study s;
    struct table *extras[STUDY_MAX_TABLES] = { NULL };
    const struct study_ask open = { .from = { .path = path }, .kind = kind };
    int rc = study_open(&s, &open, e);
    if (rc)
        return rc;
    for (int32_t t = TABLE_RUNS; t < kind->n_tables; t++)
        extras[t] = &tables[t];
    rc = campaign_tables(&tables[TABLE_ROWS], extras, notes, &s, threads, e);
    study_close(&s);
    return rc;
}

#endif
