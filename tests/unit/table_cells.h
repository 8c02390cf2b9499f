/** @file Cells of a table by the name of their column, which must be there. */
#ifndef TESTS_UNIT_TABLE_CELLS_H
#define TESTS_UNIT_TABLE_CELLS_H

#include "tests/support.h"

#include "base/table.h"

/** Columns by name and kind: "name$ time_s~ n#" are a text, a number and a count. */
static inline void put_columns(struct table *t, const char *names)
{
    char name[64];
    for (size_t n; *names; names += n + (names[n] == ' ')) {
        n = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)n - 1, names);
        table_column(t, name,
                     names[n - 1] == '$'   ? TABLE_TEXT
                     : names[n - 1] == '~' ? TABLE_REAL
                                           : TABLE_COUNT);
    }
}

/** A row: a const char *, a double or an int for each column, by its kind. NULL and NAN are blanks. */
static inline void put_cells(struct table *t, ...)
{
    va_list cells;
    va_start(cells, t);
    table_row(t);
    for (int32_t c = 0; c < t->n_cols; c++)
        if (t->kinds[c] == TABLE_TEXT)
            table_put_text(t, va_arg(cells, const char *));
        else if (t->kinds[c] == TABLE_REAL)
            table_put_real(t, va_arg(cells, double));
        else
            table_put_count(t, va_arg(cells, int));
    va_end(cells);
}

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

/** The cell has no value, not even an empty text. */
static inline bool is_blank(const struct table *t, int64_t row, const char *column)
{
    int32_t c = table_find(t, column);
    assert_true(c >= 0);
    return t->kinds[c] == TABLE_TEXT ? !table_cell(t, row, c)->text : isnan(table_number(t, row, c));
}

/**
 * The row has these cells: "status=done units=3 usd=%.17g over_rl=", printed first. Nothing behind "=" is a
 * blank, and "\"\"" a text that is empty; an underscore in a text stands for a blank. Numbers agree to 1e-12
 * of themselves, or to what "~" says: "jct_s=4.5~1e-6".
 */
__attribute__((format(printf, 3, 4))) static inline void assert_row(const struct table *t, int64_t row,
                                                                    const char *format, ...)
{
    char text[1024], *rest = NULL;
    va_list args;
    va_start(args, format);
    assert_in_range(vsnprintf(text, sizeof text, format, args), 1, sizeof text - 1);
    va_end(args);
    for (char *cell = strtok_r(text, " ", &rest); cell; cell = strtok_r(NULL, " ", &rest)) {
        char *want = strchr(cell, '='), *end;
        assert_non_null(want);
        *want++ = '\0';
        double number_want = strtod(want, &end), rel = *end == '~' ? strtod(end + 1, NULL) : 1e-12;
        int32_t c = table_find(t, cell);
        bool same = c >= 0;
        if (same && !*want) {
            same = is_blank(t, row, cell);
        } else if (same && t->kinds[c] == TABLE_TEXT) {
            for (char *blank = want; (blank = strchr(blank, '_'));)
                *blank = ' ';
            same = strcmp(word(t, row, cell), strcmp(want, "\"\"") == 0 ? "" : want) == 0;
        } else if (same) {
            double got = table_number(t, row, c);
            same = got == number_want || fabs(got - number_want) <= rel * fmax(fabs(got), fabs(number_want));
        }
        if (!same)
            fail_msg("row %d: %s is %.17g \"%s\", want %s", (int)row, cell,
                     c < 0 ? NAN : table_number(t, row, c),
                     c >= 0 && t->kinds[c] == TABLE_TEXT ? word(t, row, cell) : "", want);
    }
}

/** As CSV the two are the same. */
static inline void assert_same_csv(const struct table *got, const struct table *want)
{
    KEEP(struct text, a, text_free) = { 0 };
    KEEP(struct text, b, text_free) = { 0 };
    MUST(table_write(got, TABLE_AS_CSV, NULL, &a, e));
    MUST(table_write(want, TABLE_AS_CSV, NULL, &b, e));
    assert_string_equal(text_str(&a), text_str(&b));
}

#endif
