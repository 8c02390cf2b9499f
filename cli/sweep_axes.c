#include "cli/sweep_axes.h"

#include <string.h>

#include "cli/points.h"
#include "base/sheet.h"
#include "topo/network.h"

enum { WIDEST = 80 }; /* bytes of a value in a sheet */

static const char *value_of(const struct sweep_axis *axis, int64_t i, int32_t key)
{
    return axis->values[i * axis->n_keys + key];
}

/* ---- text ---- */

/* A network that was made up, as "ring:4 switch:8"; false when the value is none. */
static bool put_spec(struct text *out, const char *value)
{
    struct yaml_doc doc;
    struct err ignored = { 0 };
    if (yaml_read_text(&doc, "value", value, strlen(value), &ignored))
        return false;
    yaml_id dims = yaml_get(&doc, doc.root, "dims");
    for (yaml_id id = dims < 0 ? -1 : doc.nodes[dims].first; id >= 0; id = doc.nodes[id].next) {
        yaml_id shape = yaml_get(&doc, id, "shape"), size = yaml_get(&doc, id, "size");
        if (shape >= 0 && size >= 0)
            text_printf(out, "%s%s:%s", out->n ? " " : "", doc.nodes[shape].text, doc.nodes[size].text);
    }
    yaml_free(&doc);
    return out->n > 0;
}

static void put_value(struct sheet *s, const struct sweep_axis *axis, int64_t i, int32_t key)
{
    char buf[POINTS_VALUE];
    struct text spec = { 0 };
    const char *value = value_of(axis, i, key);
    bool is_network = axis->generated && *value == '{' && put_spec(&spec, value);
    value = is_network ? text_str(&spec) : points_unquote(buf, value);
    bool is_long = strlen(value) > WIDEST;
    sheet_put(s, "%.*s%s", is_long ? WIDEST - 3 : WIDEST, value, is_long ? "..." : "");
    text_free(&spec);
}

/* A line a key; keys of one axis below each other, with its number of values at the first. */
static int put_axes(const struct sweep *w, struct text *out, struct err *e)
{
    struct sheet s = { 0 };
    sheet_column(&s, "axis", "", SHEET_LEFT);
    sheet_column(&s, "values", "", SHEET_POINT);
    sheet_column(&s, "first", "", SHEET_LEFT);
    sheet_column(&s, "last", "", SHEET_LEFT);
    for (int32_t i = 0; i < w->n_axes; i++) {
        const struct sweep_axis *axis = &w->axes[i];
        for (int32_t j = 0; j < axis->n_keys; j++) {
            sheet_put(&s, "%s%s", j ? "  with " : "", w->keys[axis->keys[j]].path);
            if (j)
                sheet_put(&s, "%s", "");
            else
                sheet_count(&s, axis->n);
            put_value(&s, axis, 0, j);
            put_value(&s, axis, axis->n - 1, j);
        }
    }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

/* Of which axes each grid is made, by their first keys. */
static int put_grids(const struct sweep *w, struct text *out, struct err *e)
{
    struct sheet s = { 0 };
    struct text axes = { 0 };
    sheet_column(&s, "grid", "", SHEET_POINT);
    sheet_column(&s, "points", "", SHEET_POINT);
    sheet_column(&s, "axes", "", SHEET_LEFT);
    for (int32_t i = 0; i < w->n_grids; i++) {
        const struct sweep_grid *g = &w->grids[i];
        text_clear(&axes);
        for (int32_t k = 0; k < g->n_axes; k++)
            text_printf(&axes, "%s%s", k ? " x " : "", w->keys[w->axes[g->axes[k]].keys[0]].path);
        sheet_count(&s, i + 1);
        sheet_count(&s, g->n_points);
        sheet_put(&s, "%s", text_str(&axes));
    }
    int rc = text_check(&axes, e);
    if (!rc)
        rc = sheet_write(&s, out, e);
    sheet_free(&s);
    text_free(&axes);
    return rc;
}

static int axes_text(const struct sweep *w, struct text *out, struct err *e)
{
    char n[SHOW];
    int rc = put_axes(w, out, e);
    if (!rc && w->n_grids > 1) {
        text_puts(out, "\n");
        rc = put_grids(w, out, e);
    }
    text_printf(out, "%s points%s\n", show_count(n, w->n_points), w->where ? ", before where" : "");
    return rc;
}

/* ---- JSON and CSV ---- */

static void json_values(struct json *j, const char *name, const struct sweep_axis *axis, int32_t key)
{
    char value[POINTS_VALUE];
    json_open(j, name, '[');
    for (int64_t i = 0; i < axis->n; i++)
        json_text(j, NULL, points_unquote(value, value_of(axis, i, key)));
    json_close(j, ']');
}

/* One key has "key" and "values"; several have "keys" and a list of values for each. */
static void json_axis(struct json *j, const struct sweep *w, const struct sweep_axis *axis)
{
    json_open(j, NULL, '{');
    if (axis->n_keys == 1) {
        json_text(j, "key", w->keys[axis->keys[0]].path);
        json_values(j, "values", axis, 0);
    } else {
        json_open(j, "keys", '[');
        for (int32_t k = 0; k < axis->n_keys; k++)
            json_text(j, NULL, w->keys[axis->keys[k]].path);
        json_close(j, ']');
        json_open(j, "values", '[');
        for (int32_t k = 0; k < axis->n_keys; k++)
            json_values(j, NULL, axis, k);
        json_close(j, ']');
    }
    json_close(j, '}');
}

static void json_grids(struct json *j, const struct sweep *w)
{
    json_open(j, "grids", '[');
    for (int32_t i = 0; i < w->n_grids; i++) {
        json_open(j, NULL, '{');
        json_count(j, "points", w->grids[i].n_points);
        json_open(j, "axes", '[');
        for (int32_t k = 0; k < w->grids[i].n_axes; k++)
            json_count(j, NULL, w->grids[i].axes[k]);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void axes_json(const struct run *run, const struct sweep *w, struct text *out)
{
    struct json j = { .out = out };
    json_open(&j, NULL, '{');
    output_json_head(&j, run, (struct origin){ .known = false });
    json_count(&j, "points", w->n_points);
    json_open(&j, "axes", '[');
    for (int32_t i = 0; i < w->n_axes; i++)
        json_axis(&j, w, &w->axes[i]);
    json_close(&j, ']');
    if (w->n_grids > 1)
        json_grids(&j, w);
    json_close(&j, '}');
    text_puts(out, "\n");
}

/* Keys of one number move together. */
static void axes_table(const struct sweep *w, struct table *t)
{
    char value[POINTS_VALUE];
    table_column(t, "number", TABLE_COUNT);
    table_column(t, "axis", TABLE_TEXT);
    table_column(t, "value", TABLE_TEXT);
    for (int32_t i = 0; i < w->n_axes; i++)
        for (int32_t j = 0; j < w->axes[i].n_keys; j++)
            for (int64_t k = 0; k < w->axes[i].n; k++) {
                table_row(t);
                table_put_count(t, i + 1);
                table_put_text(t, w->keys[w->axes[i].keys[j]].path);
                table_put_text(t, points_unquote(value, value_of(&w->axes[i], k, j)));
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
