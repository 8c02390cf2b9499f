/** @file Cells of a table by the name of their column, which must be there. */
#ifndef TESTS_UNIT_TABLE_CELLS_H
#define TESTS_UNIT_TABLE_CELLS_H

#include "tests/support.h"

#include "base/table.h"

static inline double number(const struct table *t, int64_t row, const char *column)
{
    int32_t c = table_find(t, column);
    assert_true(c >= 0);
    return table_number(t, row, c);
}

/** "" for a cell without a value. */
static inline const char *word(const struct table *t, int64_t row, const char *column)
{
    int32_t c = table_find(t, column);
    assert_true(c >= 0);
    const char *text = table_cell(t, row, c)->text;
    return text ? text : "";
}

#endif
