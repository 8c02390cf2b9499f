#include "cli/sweep_axes.h"

#include "cli/points.h"
#include "cli/sheet.h"

static int axes_text(const struct sweep *w, struct text *out, struct err *e)
{
    struct sheet s = { 0 };
    char n[SHOW], value[POINTS_VALUE];
    sheet_column(&s, "axis", "", SHEET_LEFT);
    sheet_column(&s, "values", "", SHEET_POINT);
    sheet_column(&s, "first", "", SHEET_LEFT);
    sheet_column(&s, "last", "", SHEET_LEFT);
    for (int32_t i = 0; i < w->n_axes; i++) {
        sheet_put(&s, "%s", w->keys[w->axes[i].keys[0]].path);
        sheet_count(&s, w->axes[i].n);
        sheet_put(&s, "%s", points_unquote(value, w->axes[i].values[0]));
        sheet_put(&s, "%s", points_unquote(value, w->axes[i].values[w->axes[i].n - 1]));
    }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    text_printf(out, "%s points\n", show_count(n, w->n_points));
    return rc;
}

static void axes_json(const struct run *run, const struct sweep *w, struct text *out)
{
    struct json j = { .out = out };
    char value[POINTS_VALUE];
    json_open(&j, NULL, '{');
    output_json_head(&j, run, (struct origin){ .known = false });
    json_count(&j, "points", w->n_points);
    json_open(&j, "axes", '[');
    for (int32_t i = 0; i < w->n_axes; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "key", w->keys[w->axes[i].keys[0]].path);
        json_open(&j, "values", '[');
        for (int64_t k = 0; k < w->axes[i].n; k++)
            json_text(&j, NULL, points_unquote(value, w->axes[i].values[k]));
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    text_puts(out, "\n");
}

static void axes_table(const struct sweep *w, struct table *t)
{
    char value[POINTS_VALUE];
    table_column(t, "axis", TABLE_TEXT);
    table_column(t, "value", TABLE_TEXT);
    for (int32_t i = 0; i < w->n_axes; i++)
        for (int64_t k = 0; k < w->axes[i].n; k++) {
            table_row(t);
            table_put_text(t, w->keys[w->axes[i].keys[0]].path);
            table_put_text(t, points_unquote(value, w->axes[i].values[k]));
        }
}

int sweep_axes_write(const struct run *run, const struct sweep *w, struct err *e)
{
    struct table t = { 0 };
    struct text out = { 0 };
    int rc = 0;
    if (output_format(run) == TABLE_AS_CSV) {
        axes_table(w, &t);
        rc = output_table(run, &t, (struct origin){ .known = false }, e);
    } else {
        if (output_format(run) == TABLE_AS_JSON)
            axes_json(run, w, &out);
        else
            rc = axes_text(w, &out, e);
        if (!rc)
            rc = output_write(run, &out, e);
    }
    table_free(&t);
    text_free(&out);
    return rc;
}
