/** @file What the tests of figures share: tables of CSV text, read as the command reads them, and blocks of a
 * script. */
#ifndef TESTS_UNIT_TEST_PLOTS_CSV_H
#define TESTS_UNIT_TEST_PLOTS_CSV_H

#include "tests/support.h"

#include "base/table.h"
#include "plots/figure.h"

/** Release with table_free(). */
static inline void csv_table(struct table *t, const char *csv)
{
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    struct err e = { 0 };
    scratch_make(dir);
    assert_ok(table_read_csv(t, scratch_file(path, dir, "t.csv", csv, strlen(csv)), &e), &e);
    scratch_remove(dir);
}

/** The script of a figure, in place of what @p out held. */
static inline void csv_script(struct text *out, const char *figure, const char *csv)
{
    struct plot_options opt = { .format = PLOT_SCRIPT };
    KEEP(struct table, t, table_free) = { 0 };
    struct err e = { 0 };
    text_clear(out);
    csv_table(&t, csv);
    assert_ok(plot_draw(figure, &t, &opt, out, &e), &e);
}

/** Some block of the script holds exactly @p data, and its first element of a plot command contains @p style.
 */
static inline void assert_drawn(const char *script, const char *data, const char *style)
{
    char block[64], drawn[300];
    struct text want = { 0 };

    text_printf(&want, " << EOD\n%sEOD\n", data);
    const char *at = strstr(script, text_str(&want));
    if (!at) {
        print_error("no block holds exactly\n%sin\n%s\n", data, script);
        text_free(&want);
        fail();
        return;
    }
    text_free(&want);
    const char *name = at;
    while (name > script && name[-1] != '\n')
        name--;
    snprintf(block, sizeof block, "%.*s using", (int)(at - name), name);
    const char *element = strstr(at, block);
    assert_non_null(element);
    snprintf(drawn, sizeof drawn, "%s", element);
    drawn[strcspn(drawn, ",\n")] = '\0';
    assert_has(drawn, style);
}

#endif
