/*
 * The columns of a table, for whoever is about to draw some of them: `weft plot xy TABLE --list`.
 */
#include "plots/xy.h"

#include <math.h>

#include "plots/data.h"

int plot_xy_list(const struct table *t, struct text *out, struct err *e)
{
    static const struct plot_options opt = { 0 };
    static const struct plot_figure figure = { .name = "xy" };
    struct rows r = { .t = t, .figure = &figure, .opt = &opt };
    struct table list = { 0 };
    struct canvas c;
    char buf[NUM_TEXT];

    table_column(&list, "column", TABLE_TEXT);
    table_column(&list, "holds", TABLE_TEXT);
    table_column(&list, "unit", TABLE_TEXT);
    table_column(&list, "values", TABLE_COUNT);
    table_column(&list, "distinct", TABLE_COUNT);
    table_column(&list, "least", TABLE_REAL);
    table_column(&list, "most", TABLE_REAL);
    table_column(&list, "better", TABLE_TEXT);
    for (int32_t col = 0; col < t->n_cols; col++) {
        struct names names = { 0 };
        struct err ignored;
        bool words = table_need_numbers(t, col, &ignored) != 0;
        double least = HUGE_VAL, most = -HUGE_VAL, x;
        int64_t n = 0;
        size_t n_title;
        canvas_init(&c, &opt, "");
        for (r.row = 0; r.row < t->n_rows; r.row++) {
            const char *value = rows_text(buf, &r, col);
            if (!value[0])
                continue;
            n++;
            names_add(&c, &names, value);
            if (!words && num_parse_real(value, &x)) {
                least = fmin(least, x);
                most = fmax(most, x);
            }
        }
        table_row(&list);
        table_put_text(&list, t->names[col]);
        table_put_text(&list, n == 0 ? "nothing" : words ? "words" : "numbers");
        const char *unit = table_unit(t, col, &n_title);
        table_put_text(&list, words || !*unit ? NULL : unit);
        table_put_count(&list, n);
        table_put_count(&list, names.n);
        table_put_real(&list, words || n == 0 ? (double)NAN : least);
        table_put_real(&list, words || n == 0 ? (double)NAN : most);
        table_put_text(&list, t->better[col] > 0 ? "more" : t->better[col] < 0 ? "less" : NULL);
        canvas_free(&c);
    }
    int rc = table_write(&list, TABLE_AS_TEXT, NULL, out, e);
    table_free(&list);
    return rc;
}
