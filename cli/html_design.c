/*
 * What a design consists of, for a page: its lists (kinds/design/answer/lists.h) as tables, and its step over
 * time. A row of a sweep holds numbers alone, so the design is made once more.
 */
#include "cli/html_design.h"

#include <math.h>
#include <stdlib.h>

#include "cli/html.h"
#include "cli/timeline.h"
#include "kinds/design/answer/lists.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/solve.h"
#include "plots/figure.h"

/* Words with blanks for the '_' of data: "what limits". */
static void put_list_title(struct text *out, const char *name)
{
    for (const char *s = name; *s; s++)
        text_add(out, *s == '_' ? " " : s, 1);
}

static bool is_blank_column(const struct table *t, int32_t col)
{
    for (int64_t row = 0; row < t->n_rows; row++)
        if (t->kinds[col] == TABLE_TEXT ? table_text(t, row, col) != NULL
                                        : isfinite(table_number(t, row, col)))
            return false;
    return true;
}

/* A list of a design as a table of the page. */
static void put_list(struct text *out, const struct design_list *list, const struct table *t)
{
    char buf[COLUMN_NAME], cell[SHOW];
    struct column_scale scales[SHEET_MAX_COLUMNS];
    const struct column *columns[SHEET_MAX_COLUMNS];
    int32_t n = t->n_cols < SHEET_MAX_COLUMNS ? t->n_cols : SHEET_MAX_COLUMNS;
    text_puts(out, "<div class=\"wide\"><table><caption>");
    put_list_title(out, list->name);
    text_puts(out, "</caption><thead><tr>");
    for (int32_t col = 0; col < n; col++) {
        double most = 0;
        columns[col] = is_blank_column(t, col) ? NULL : column_find(list->columns, t->names[col]);
        if (!columns[col])
            continue;
        for (int64_t row = 0; row < t->n_rows; row++)
            if (isfinite(table_number(t, row, col)))
                most = fmax(most, fabs(table_number(t, row, col)));
        scales[col] = column_scale(columns[col], most);
        text_puts(out, t->kinds[col] == TABLE_TEXT ? "<th scope=\"col\" class=\"t\">" : "<th scope=\"col\">");
        html_put(out, column_title(buf, columns[col], 0));
        text_puts(out, "<small>");
        html_put(out, scales[col].unit);
        text_puts(out, "</small></th>");
    }
    text_puts(out, "</tr></thead><tbody>\n");
    for (int64_t row = 0; row < t->n_rows; row++) {
        text_puts(out, "<tr>");
        for (int32_t col = 0; col < n; col++) {
            if (!columns[col])
                continue;
            text_puts(out, t->kinds[col] == TABLE_TEXT ? "<td class=\"t\">" : "<td>");
            html_put(out,
                     column_shown(cell, columns[col], t->kinds[col], *table_cell(t, row, col), scales[col]));
            text_puts(out, "</td>");
        }
        text_puts(out, "</tr>\n");
    }
    text_puts(out, "</tbody></table></div>\n");
}

static int put_lists(struct text *out, const struct design_view *v, struct err *e)
{
    int rc = 0;
    for (const struct design_list *list = design_lists; list->name && !rc; list++) {
        struct table t = { 0 };
        rc = design_list_build(&t, list, v, e);
        if (!rc && t.n_rows > 0)
            put_list(out, list, &t);
        table_free(&t);
    }
    return rc;
}

static int put_view(struct text *out, struct design *d, struct err *e)
{
    struct design_shown shown;
    int rc = design_shown_build(&shown, d, true, e);
    if (!rc && alloc_has_split(&d->answer))
        rc = put_lists(out, &shown.view, e);
    design_shown_free(&shown);
    return rc;
}

/* What happens in a step, of a study of one design. Its bars are no rows of the page. */
static int put_timeline(struct text *out, const struct design *d, struct err *e)
{
    struct table t = { 0 };
    struct text svg = { 0 };
    struct err inner = { 0 };
    int rc = cmd_timeline_table(&t, d->chosen.point, d, &inner);
    int64_t *ids = calloc((size_t)t.n_rows + 1, sizeof *ids);
    for (int64_t i = 0; i < t.n_rows && ids; i++)
        ids[i] = -1;
    struct plot_options opt = {
        .format = PLOT_SVG, .width_px = HTML_PANEL_PX, .linked = true, .row_ids = ids
    };
    rc = rc ? rc : ids ? plot_draw("timeline", &t, &opt, &svg, &inner) : err_nomem(&inner, "a timeline");
    text_puts(out, "<h3>Timeline</h3>\n");
    if (err_is_of_machine(rc))
        err_set(e, (enum err_code)rc, "%s", inner.msg);
    else {
        html_figure(out, rc ? NULL : text_str(&svg), inner.msg);
        rc = 0;
    }
    free(ids);
    table_free(&t);
    text_free(&svg);
    return rc;
}

int html_design(struct text *out, const struct study *study, int64_t point, bool timeline, struct err *e)
{
    struct design_point s;
    struct design d;
    struct sweep_point at;
    sweep_find_point(&at, &study->sweep, point);
    int rc = design_load(&s, study, &at, 0, e);
    if (rc)
        return rc;
    rc = design_for_row(&d, &s, e);
    if (!rc)
        rc = put_view(out, &d, e);
    if (!rc && timeline && alloc_has_split(&d.answer))
        rc = put_timeline(out, &d, e);
    design_free(&d);
    design_point_free(&s);
    return rc;
}
