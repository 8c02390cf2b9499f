#include "cli/points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sheet.h"
#include "study/axes.h"
#include "topo/network.h"

static bool is_about_vary(const char *assignment)
{
    return strncmp(assignment, "vary", 4) == 0 && strchr("=.", assignment[4]) != NULL;
}

bool points_vary(const struct run *run)
{
    struct yaml_doc doc;
    struct err ignored = { 0 };
    for (int32_t i = 0; i < run->opt.set.n; i++)
        if (is_about_vary(run->opt.set.items[i]))
            return true;
    const char *path = run->opt.operands[0];
    if (topo_is_spec(path) || yaml_read_file(&doc, path, &ignored))
        return false;
    bool found = yaml_get(&doc, doc.root, "vary") >= 0;
    yaml_free(&doc);
    return found;
}

const char *points_unquote(char buf[POINTS_VALUE], const char *value)
{
    size_t n = strlen(value);
    /* A text with quotes or escapes inside stays as it was written. */
    if (n < 2 || n > POINTS_VALUE || value[0] != '"' || strcspn(value + 1, "\"\\") != n - 2)
        return value;
    memcpy(buf, value + 1, n - 2);
    buf[n - 2] = '\0';
    return buf;
}

const char *points_value(char buf[POINTS_VALUE], const struct sweep *w, int32_t k, int64_t i)
{
    struct sweep_point p;
    sweep_find_point(&p, w, i);
    const char *value = sweep_value(w, &p, k);
    return value ? points_unquote(buf, value) : "";
}

const char *points_axis_title(const char *path)
{
    enum { WIDEST = 20 };
    const char *title = path;
    while (strlen(title) > WIDEST && strchr(title, '.'))
        title = strchr(title, '.') + 1;
    return title;
}

struct origin points_origin(const struct study *s)
{
    return (struct origin){ .known = true, .study_hash = s->hash, .seed = s->seed };
}

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

/* Results in the order of reading; '#' stands for each dimension's number. */
static const struct shown {
    const char *column, *title, *unit;
} shown[] = {
    { "network", "network", "" },
    { "workload", "workload", "" },
    { "objective", "objective", "" },
    { "total_GBps", "total", "GB/s" },
    { "status", "status", "" },
    { "time_s", "step", "s" },
    { "cost_usd", "cost", "USD" },
    { "speedup", "speedup", "" },
    { "perf_per_cost_gain", "perf/cost", "" },
    { "nic_GBps", "NIC", "GB/s" },
    { "bw#_GBps", "", "GB/s" },
    { "message", "message", "" },
};

enum { N_SHOWN = sizeof shown / sizeof shown[0], N_COMMON = 4 /* of them may be the same in every row */ };

/* Columns to write, by index into the table. */
struct layout {
    int32_t columns[SHEET_MAX_COLUMNS];
    char titles[SHEET_MAX_COLUMNS][24];
    int32_t n;
};

/* A value for people; borrowed from buf or the table. */
static const char *show_cell(char buf[SHOW], const struct table *t, int64_t row, int32_t column)
{
    if (t->kinds[column] == TABLE_TEXT) {
        const char *text = table_text(t, row, column);
        return text ? text : "-";
    }
    double x = table_number(t, row, column);
    return strncmp(t->names[column], "cost_", 5) == 0 ? show_usd(buf, x) : show_real(buf, x, 5);
}

static bool is_common(const struct table *t, int32_t column)
{
    char a[SHOW], b[SHOW];
    for (int64_t row = 1; row < t->n_rows; row++)
        if (strcmp(show_cell(a, t, row, column), show_cell(b, t, 0, column)) != 0)
            return false;
    return t->n_rows > 1;
}

static void add(struct layout *l, struct sheet *s, const struct table *t, int32_t column, const char *title,
                const char *unit)
{
    if (column < 0 || l->n == SHEET_MAX_COLUMNS)
        return;
    snprintf(l->titles[l->n], sizeof l->titles[l->n], "%s", title);
    bool number = t->kinds[column] != TABLE_TEXT;
    sheet_column(s, l->titles[l->n], unit, number ? SHEET_POINT : SHEET_LEFT);
    l->columns[l->n++] = column;
}

static void add_dims(struct layout *l, struct sheet *s, const struct table *t)
{
    char column[24], title[24];
    for (int32_t d = 1; d <= TOPO_MAX_DIMS; d++) {
        snprintf(column, sizeof column, "bw%d_GBps", (int)d);
        snprintf(title, sizeof title, "dim %d", (int)d);
        add(l, s, t, table_find(t, column), title, "GB/s");
    }
}

/* What is uncertain: "time_p10_s", "cost_p90_usd", as many as the study asks for. */
static void add_percentiles(struct layout *l, struct sheet *s, const struct table *t)
{
    char title[24];
    for (int32_t col = 0; col < t->n_cols; col++) {
        const char *name = t->names[col];
        bool time = strncmp(name, "time_p", 6) == 0, cost = strncmp(name, "cost_p", 6) == 0;
        if (!time && !cost)
            continue;
        snprintf(title, sizeof title, "%s %.*s", time ? "step" : "cost", (int)strcspn(name + 5, "_"),
                 name + 5);
        add(l, s, t, col, title, time ? "s" : "USD");
    }
}

static void choose_columns(struct layout *l, struct sheet *s, const struct table *t, struct text *out)
{
    char value[SHOW];
    int32_t point = table_find(t, "point"), network = table_find(t, "network");
    add(l, s, t, point, "point", "");
    /* Keys that vary stand between these two. */
    for (int32_t column = point + 1; column < network; column++)
        add(l, s, t, column, points_axis_title(t->names[column]), "");
    for (int32_t i = 0; i < N_SHOWN; i++) {
        int32_t column = table_find(t, shown[i].column);
        if (strcmp(shown[i].column, "nic_GBps") == 0)
            add_percentiles(l, s, t);
        if (strchr(shown[i].column, '#'))
            add_dims(l, s, t);
        else if (i < N_COMMON && is_common(t, column))
            text_printf(out, "%s: %s%s%s\n", shown[i].title, show_cell(value, t, 0, column),
                        *shown[i].unit ? " " : "", shown[i].unit);
        else
            add(l, s, t, column, shown[i].title, shown[i].unit);
    }
}

int sweep_text(const struct table *t, struct text *out, struct err *e)
{
    struct layout l = { .n = 0 };
    struct sheet s = { 0 };
    char value[SHOW];
    if (t->n_rows == 0)
        return 0;
    choose_columns(&l, &s, t, out);
    if (out->n > 0)
        text_puts(out, "\n");
    for (int64_t row = 0; row < t->n_rows; row++)
        for (int32_t i = 0; i < l.n; i++)
            sheet_put(&s, "%s", show_cell(value, t, row, l.columns[i]));
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}
