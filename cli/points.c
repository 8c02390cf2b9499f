/*
 * The points of a study as commands see them: does it vary anything, and along which axes (--dry-run). Axes
 * are shown as the study gives them, never multiplied out: a dry run of 10^12 points writes a line for each
 * axis.
 */
#include "cli/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/axes.h"
#include "study/say.h"
#include "study/store.h"
#include "topo/network.h"

static bool is_about_vary(const char *assignment)
{
    return strncmp(assignment, "vary", 4) == 0 && strchr("=.", assignment[4]) != NULL;
}

int cmd_points_vary(bool *vary, const struct run *run, struct err *e)
{
    struct yaml_doc doc;
    *vary = false;
    for (int32_t i = 0; i < run->opt.set.n; i++)
        *vary = *vary || is_about_vary(run->opt.set.items[i]);
    const char *path = run->opt.operands[0];
    /* A word is a network alone, which varies nothing. */
    if (*vary || topo_is_spec(path))
        return 0;
    int rc = yaml_read_file(&doc, path, e);
    if (rc)
        return err_is_of_machine(rc) ? rc : 0;
    *vary = yaml_get(&doc, doc.root, "vary") >= 0;
    yaml_free(&doc);
    return 0;
}

const char *cmd_points_value(char buf[SHOW_VALUE], const struct sweep *w, int32_t k, int64_t i)
{
    struct sweep_point p;
    sweep_find_point(&p, w, i);
    const char *value = sweep_value(w, &p, k);
    return value ? show_unquoted(buf, value) : "";
}

struct origin cmd_points_origin(const struct study *s)
{
    return (struct origin){ .known = true, .study_hash = s->hash, .seed = s->seed };
}

int cmd_points_find_origin(struct origin *from, struct run *run, struct study *s, const struct overrides *o,
                           struct err *e)
{
    struct design_point only;
    int rc = s->sweep.n_keys > 0 ? study_find_hash(s, e)
                                 : load_study(&only, run, o, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e);
    if (rc)
        return rc;
    *from = s->sweep.n_keys > 0 ? cmd_points_origin(s) : output_origin(&only);
    if (s->sweep.n_keys == 0)
        design_point_free(&only);
    return 0;
}

enum { WIDEST = 80 }; /* bytes of a value in a sheet */

static const char *axis_value_of(const struct sweep_axis *axis, int64_t i, int32_t key)
{
    return axis->values[i * axis->n_keys + key];
}

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

/* A value cut to the width of its column. */
static const char *shown_value(char out[WIDEST + 1], const struct sweep_axis *axis, int64_t i, int32_t key)
{
    char buf[SHOW_VALUE];
    struct text spec = { 0 };
    const char *value = axis_value_of(axis, i, key);
    bool is_network = axis->generated && *value == '{' && put_spec(&spec, value);
    value = is_network ? text_str(&spec) : show_unquoted(buf, value);
    bool is_long = strlen(value) > WIDEST;
    snprintf(out, WIDEST + 1, "%.*s%s", is_long ? WIDEST - 3 : WIDEST, value, is_long ? "..." : "");
    text_free(&spec);
    return out;
}

struct axis_row {
    const char *axis, *first, *last;
    int64_t values;
};

/* A line a key; keys of one axis below each other, with its number of values at the first. */
static void axes_text(struct report *r, const struct sweep *w)
{
    static const struct column columns[] = {
        COLUMN_WORD(struct axis_row, axis, "its key", .in = IN_TEXT),
        COLUMN_COUNT(struct axis_row, values, "how many", .in = IN_TEXT, .zero = ""),
        COLUMN_WORD(struct axis_row, first, "of them", .in = IN_TEXT),
        COLUMN_WORD(struct axis_row, last, "of them", .in = IN_TEXT),
        COLUMNS_END,
    };
    char name[SHOW_VALUE], first[WIDEST + 1], last[WIDEST + 1];
    report_list(r, NULL, columns);
    for (int32_t i = 0; i < w->n_axes; i++) {
        const struct sweep_axis *axis = &w->axes[i];
        for (int32_t j = 0; j < axis->n_keys; j++) {
            snprintf(name, sizeof name, "%s%s", j ? "  with " : "", w->keys[axis->keys[j]].path);
            report_row(r, &(struct axis_row){ .axis = name,
                                              .values = j ? 0 : axis->n,
                                              .first = shown_value(first, axis, 0, j),
                                              .last = shown_value(last, axis, axis->n - 1, j) });
        }
    }
    report_list_end(r);
}

struct points_row {
    int64_t grid, points;
    const char *axes;
};

/* Of which axes each grid is made, by their first keys. */
static void grids_text(struct report *r, const struct sweep *w)
{
    static const struct column columns[] = {
        COLUMN_COUNT(struct points_row, grid, "its number", .in = IN_TEXT),
        COLUMN_COUNT(struct points_row, points, "of it", .in = IN_TEXT),
        COLUMN_WORD(struct points_row, axes, "of which it is made", .in = IN_TEXT),
        COLUMNS_END,
    };
    struct text axes = { 0 };
    report_line(r, "\n");
    report_list(r, NULL, columns);
    for (int32_t i = 0; i < w->n_grids; i++) {
        const struct sweep_grid *g = &w->grids[i];
        text_clear(&axes);
        for (int32_t k = 0; k < g->n_axes; k++)
            text_printf(&axes, "%s%s", k ? " x " : "", w->keys[w->axes[g->axes[k]].keys[0]].path);
        report_row(r, &(struct points_row){ .grid = i + 1, .points = g->n_points, .axes = text_str(&axes) });
    }
    report_list_end(r);
    r->failed = r->failed || axes.failed;
    text_free(&axes);
}

static void json_values(struct report *r, const char *name, const struct sweep_axis *axis, int32_t key)
{
    char value[SHOW_VALUE];
    report_open(r, name, '[');
    for (int64_t i = 0; i < axis->n; i++)
        report_json_word(r, NULL, show_unquoted(value, axis_value_of(axis, i, key)));
    report_close(r, ']');
}

/* One key has "key" and "values"; several have "keys" and a list of values for each. */
static void json_axis(struct report *r, const struct sweep *w, const struct sweep_axis *axis)
{
    report_open(r, NULL, '{');
    if (axis->n_keys == 1) {
        report_json_word(r, "key", w->keys[axis->keys[0]].path);
        json_values(r, "values", axis, 0);
    } else {
        report_open(r, "keys", '[');
        for (int32_t k = 0; k < axis->n_keys; k++)
            report_json_word(r, NULL, w->keys[axis->keys[k]].path);
        report_close(r, ']');
        report_open(r, "values", '[');
        for (int32_t k = 0; k < axis->n_keys; k++)
            json_values(r, NULL, axis, k);
        report_close(r, ']');
    }
    report_close(r, '}');
}

static void axes_json(struct report *r, const struct sweep *w)
{
    report_json_count(r, "points", w->n_points);
    report_open(r, "axes", '[');
    for (int32_t i = 0; i < w->n_axes; i++)
        json_axis(r, w, &w->axes[i]);
    report_close(r, ']');
    if (w->n_grids <= 1)
        return;
    report_open(r, "grids", '[');
    for (int32_t i = 0; i < w->n_grids; i++) {
        report_open(r, NULL, '{');
        report_json_count(r, "points", w->grids[i].n_points);
        report_open(r, "axes", '[');
        for (int32_t k = 0; k < w->grids[i].n_axes; k++)
            json_count(&r->json, NULL, w->grids[i].axes[k]);
        report_close(r, ']');
        report_close(r, '}');
    }
    report_close(r, ']');
}

struct value_row {
    int64_t number;
    const char *axis, *value;
};

static void axes_rows(struct report *r, const struct sweep *w)
{
    static const struct column columns[] = {
        COLUMN_COUNT(struct value_row, number, "of the axis: keys of one number move together", .in = IN_CSV),
        COLUMN_WORD(struct value_row, axis, "its key", .in = IN_CSV),
        COLUMN_WORD(struct value_row, value, "that it takes", .in = IN_CSV),
        COLUMNS_END,
    };
    char value[SHOW_VALUE];
    report_list(r, NULL, columns);
    for (int32_t i = 0; i < w->n_axes; i++)
        for (int32_t j = 0; j < w->axes[i].n_keys; j++)
            for (int64_t k = 0; k < w->axes[i].n; k++)
                report_row(r, &(struct value_row){ i + 1, w->keys[w->axes[i].keys[j]].path,
                                                   show_unquoted(value, axis_value_of(&w->axes[i], k, j)) });
    report_list_end(r);
}

int cmd_write_axes(const struct run *run, const struct sweep *w, struct err *e)
{
    const struct origin none = { .known = false };
    struct report r = { 0 };
    char n[SHOW];
    output_begin(&r, run, none);
    if (report_is(&r, IN_CSV))
        axes_rows(&r, w);
    else if (report_is(&r, IN_JSON))
        axes_json(&r, w);
    else
        axes_text(&r, w);
    if (report_is(&r, IN_TEXT) && w->n_grids > 1)
        grids_text(&r, w);
    report_line(&r, "%s points%s\n", show_count(n, w->n_points),
                w->where && w->fills ? ", before where and count"
                : w->where           ? ", before where"
                : w->fills           ? ", before count"
                                     : "");
    return output_report(&r, run, none, e);
}

/* ---- of a store ---- */

bool cmd_points_peek(struct table *columns, const struct study_kind **kind, const char *path)
{
    struct err ignored;
    struct store *s = NULL;
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    bool is = false, known = false;
    *columns = (struct table){ 0 };
    if (strcmp(path, "-") == 0 || store_is(&is, path, &ignored) || !is)
        return false;
    known = !store_peek(&s, path, &ignored) && !study_kind_of_store(kind, s, &ignored) &&
            !study_trim_store(s, *kind, false, &ignored) && !store_next(s, &walk, 0, columns, &ignored);
    store_close(s);
    if (!known)
        table_free(columns);
    return known;
}

int cmd_points_take_list(struct keep_rule *k, const char *option, const char *list, keep_take *take,
                         const struct table *columns, struct err *e)
{
    struct err inner = { 0 };
    return keep_take_list(k, list, take, columns, &inner) ? options_misuse(option, &inner, e) : 0;
}
