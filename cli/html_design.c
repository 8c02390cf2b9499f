/*
 * What a design consists of, for a page: its lists (kinds/design/answer/lists.h) as tables, its network as a
 * drawing, why its step takes its time, its step over time, and what uncertain inputs do to the answer. A row
 * of a sweep holds numbers alone, so the design is made once more.
 */
#include "cli/html_design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "cli/html.h"
#include "cli/tables.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/answer/lists.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/solve.h"
#include "plots/figure.h"

enum {
    LONG_WORDS = 40,     /* bytes of a cell that is broken into lines */
    MOST_DESIGNS = 20000 /* of a tornado that is worked out for a page */
};

/* ---- lists ---- */

/* In the order of the page; of one without a heading the one before it is open. */
static const struct {
    const char *list, *heading, *caption;
} parts[] = {
    { "what_limits", "Why the step takes its time", "What limits the step" },
    { "one_more_GBps", NULL, "What one more GB/s would do" },
    { "shadow_prices", NULL, "What the constraints cost" },
    { "steps", NULL, "The next whole part up and down, all others as they are" },
    { "bounds", NULL, "What no step can be below" },
    { "budgets", "Limits", "What the limits leave" },
    { "dims", "Network", "Dimensions, the innermost first" },
    { "bill", "Bill", "What is bought, with the grade of each price" },
    { "items", "The whole machine", "What is owned" },
    { "failures", NULL, "What fails" },
    { "a_tenth_more", NULL, "What a tenth more of each input changes" },
};

/* Titles where those of the list are names of data. */
static const char *title_of(char buf[COLUMN_NAME], const struct column *c)
{
    static const char *const titles[][2] = {
        { "usd", "price" },
        { "usd_low", "low" },
        { "usd_high", "high" },
        { "grade", "its grade" },
        { "band_grade", "grade of low, high" },
        { "watt_grade", "grade of power" },
        { "more_usd", "costs more" },
        { "more_s", "takes longer" },
        { "bw_GBps", "bandwidth" },
        { "usd_per_GBps", "price of a GB/s" },
        { "unit", "unit" },
    };
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], c->name) == 0)
            return titles[i][1];
    return column_title(buf, c, 0);
}

static bool is_blank_cell(const struct table *t, int64_t row, int32_t col)
{
    const char *s = t->kinds[col] == TABLE_TEXT ? table_text(t, row, col) : NULL;
    return t->kinds[col] == TABLE_TEXT ? !s || !*s : !isfinite(table_number(t, row, col));
}

/* Nothing in it; -1: there is no such column. */
static bool is_blank_column(const struct table *t, int32_t col)
{
    for (int64_t row = 0; row < t->n_rows && col >= 0; row++)
        if (!is_blank_cell(t, row, col))
            return false;
    return true;
}

/* Words that are the same in all rows are said once. */
static bool is_common_column(const struct table *t, int32_t col)
{
    const char *first = t->kinds[col] == TABLE_TEXT ? table_text(t, 0, col) : NULL;
    for (int64_t row = 1; row < t->n_rows && first; row++)
        if (!table_text(t, row, col) || strcmp(table_text(t, row, col), first) != 0)
            return false;
    return first && t->n_rows > 1;
}

/* The numbers of an earlier column, as low and high of a price without a range. */
static bool is_repeated_column(const struct table *t, int32_t col, const struct column *list)
{
    const struct column *c = column_find(list, t->names[col]);
    for (int32_t k = 0; k < col && c && t->kinds[col] == TABLE_REAL; k++) {
        const struct column *of = column_find(list, t->names[k]);
        bool same =
            of && t->kinds[k] == TABLE_REAL && strcmp(column_scale(c, 0).unit, column_scale(of, 0).unit) == 0;
        for (int64_t row = 0; row < t->n_rows && same; row++)
            same = table_number(t, row, col) == table_number(t, row, k);
        if (same)
            return true;
    }
    return false;
}

static double column_most(const struct table *t, int32_t col)
{
    double most = 0;
    for (int64_t row = 0; row < t->n_rows; row++)
        if (isfinite(table_number(t, row, col)))
            most = fmax(most, fabs(table_number(t, row, col)));
    return most;
}

static const char *class_of(const struct table *t, int32_t col)
{
    bool is_long = false;
    if (t->kinds[col] != TABLE_TEXT)
        return "";
    for (int64_t row = 0; row < t->n_rows; row++)
        is_long = is_long || (table_text(t, row, col) && strlen(table_text(t, row, col)) > LONG_WORDS);
    return is_long ? " class=\"t long\"" : " class=\"t\"";
}

/* "In all rows: tier InterPod, date 2024-05-07." */
static void put_common_words(struct text *out, const struct column *list, const struct table *t)
{
    char buf[COLUMN_NAME], plain[SHOW_VALUE];
    bool any = false;
    for (int32_t col = 0; col < t->n_cols; col++) {
        const struct column *c = is_common_column(t, col) ? column_find(list, t->names[col]) : NULL;
        if (!c || is_blank_column(t, col))
            continue;
        text_puts(out, any ? ", " : "<p class=\"dim\">In all rows: ");
        html_put(out, title_of(buf, c));
        text_puts(out, " ");
        html_put(out, show_unquoted(plain, table_text(t, 0, col)));
        any = true;
    }
    text_puts(out, any ? "</p>" : "");
}

/* A list of a design as a table of the page. */
static void put_list(struct text *out, const struct column *list, const struct table *t, const char *caption)
{
    char buf[COLUMN_NAME], cell[SHOW], plain[SHOW_VALUE];
    struct column_scale scales[SHEET_MAX_COLUMNS];
    const struct column *columns[SHEET_MAX_COLUMNS];
    int32_t n = t->n_cols < SHEET_MAX_COLUMNS ? t->n_cols : SHEET_MAX_COLUMNS;
    text_printf(out, "<div class=\"wide\"><table><caption>%s</caption><thead><tr>", caption);
    for (int32_t col = 0; col < n; col++) {
        bool shown =
            !is_blank_column(t, col) && !is_common_column(t, col) && !is_repeated_column(t, col, list);
        columns[col] = shown ? column_find(list, t->names[col]) : NULL;
        if (!columns[col])
            continue;
        scales[col] = column_scale(columns[col], column_most(t, col));
        text_printf(out, "<th scope=\"col\"%s>", t->kinds[col] == TABLE_TEXT ? " class=\"t\"" : "");
        html_put(out, title_of(buf, columns[col]));
        text_puts(out, *scales[col].unit ? "<small>" : "");
        html_put(out, scales[col].unit);
        text_puts(out, *scales[col].unit ? "</small></th>" : "</th>");
    }
    text_puts(out, "</tr></thead><tbody>\n");
    for (int64_t row = 0; row < t->n_rows; row++) {
        text_puts(out, "<tr>");
        for (int32_t col = 0; col < n; col++) {
            if (!columns[col])
                continue;
            text_printf(out, "<td%s>", class_of(t, col));
            const char *s =
                column_shown(cell, columns[col], t->kinds[col], *table_cell(t, row, col), scales[col]);
            html_put(out, t->kinds[col] == TABLE_TEXT ? show_unquoted(plain, s) : s);
            text_puts(out, "</td>");
        }
        text_puts(out, "</tr>\n");
    }
    text_puts(out, "</tbody></table>");
    put_common_words(out, list, t);
    text_puts(out, "</div>\n");
}

/* ---- words beside them ---- */

/* What the network costs in all, and how much of it nobody has read in a source. */
static void put_bill_sum(struct text *out, const struct design *d)
{
    char typ[SHOW], low[SHOW], high[SHOW];
    double recalled_usd = 0;
    for (int32_t i = 0; i < d->bill.n_lines; i++)
        recalled_usd += d->bill.lines[i].grade == GRADE_RECALLED ? d->bill.lines[i].usd.typ : 0;
    bool range = d->bill.usd.low < d->bill.usd.typ || d->bill.usd.high > d->bill.usd.typ;
    text_printf(out, "<p>In all %s USD", show_usd(typ, d->bill.usd.typ));
    if (range)
        text_printf(out, "; %s at low prices, %s at high", show_usd(low, d->bill.usd.low),
                    show_usd(high, d->bill.usd.high));
    text_puts(out, range ? ". " : "; no price has a range. ");
    if (recalled_usd > 0)
        text_printf(out, "%s USD of it is at prices that are recalled, not read.",
                    show_usd(typ, recalled_usd));
    text_puts(out, "</p>\n");
}

/* How far measured steps of the kind lie from weft's. */
static void put_evidence(struct text *out, const struct design_view *v)
{
    for (int32_t i = 0; i < v->design->n_loads; i++) {
        const struct training *model = v->study->workloads[i].training;
        if (!model)
            continue;
        const struct evidence_row row = evidence_row(model, &v->study->net.npu, v->design->loads[i].time_s);
        text_puts(out, "<p>Evidence: ");
        html_put(out, row.said);
        text_puts(out, "</p>\n");
    }
}

static int put_explanation(struct text *out, const struct explain *p, struct err *e)
{
    struct text words = { 0 };
    int rc = cmd_explain_text(&words, p, e);
    text_puts(out, "<details><summary>Each collective on each dimension</summary><pre>");
    html_put_lines(out, text_str(&words));
    text_puts(out, "</pre></details>\n");
    text_free(&words);
    return rc;
}

/* ---- figures ---- */

/* A figure of a table whose rows are none of the page. */
static int put_figure(struct text *out, const struct table *t, const char *figure,
                      const struct plot_where *where, struct err *e)
{
    struct text svg = { 0 };
    struct err inner = { 0 };
    int64_t *ids = calloc((size_t)t->n_rows + 1, sizeof *ids);
    if (!ids)
        return err_nomem(e, "a figure");
    for (int64_t i = 0; i < t->n_rows; i++)
        ids[i] = -1;
    struct plot_options opt = { .format = PLOT_SVG,
                                .width_px = HTML_PANEL_PX,
                                .where = where,
                                .n_where = where ? 1 : 0,
                                .linked = true,
                                .row_ids = ids };
    int rc = figure ? plot_draw(figure, t, &opt, &svg, &inner) : plot_network_draw(t, &opt, &svg, &inner);
    if (err_is_of_machine(rc))
        err_set(e, (enum err_code)rc, "%s", inner.msg);
    else {
        html_figure(out, rc ? NULL : text_str(&svg), inner.msg);
        rc = 0;
    }
    free(ids);
    text_free(&svg);
    return rc;
}

/* ---- a design ---- */

static const struct design_list *find_list(const char *name)
{
    const struct design_list *list = design_lists;
    while (list->name && strcmp(list->name, name) != 0)
        list++;
    return list;
}

/* What stands around the table of a list. */
static int put_part(struct text *out, const struct design_view *v, const struct design_list *list,
                    const struct table *t, const char *caption, struct err *e)
{
    put_list(out, list->columns, t, caption);
    if (strcmp(list->name, "bill") == 0)
        put_bill_sum(out, v->design);
    return strcmp(list->name, "bounds") == 0 ? put_explanation(out, v->explain, e) : 0;
}

static int put_parts(struct text *out, const struct design_view *v, bool drawing, struct err *e)
{
    const char *heading = NULL;
    int rc = 0;
    put_evidence(out, v);
    text_puts(out, "<div class=\"lists\">\n");
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !rc; i++) {
        const struct design_list *list = find_list(parts[i].list);
        struct table t = { 0 };
        heading = parts[i].heading ? parts[i].heading : heading;
        rc = design_list_build(&t, list, v, e);
        /* Of bandwidths that are given no constraint has a price. */
        bool says = t.n_rows > 0 && !(strcmp(list->name, "shadow_prices") == 0 &&
                                      is_blank_column(&t, table_find(&t, "shadow_price")));
        if (!rc && says) {
            if (heading)
                text_printf(out, "<h3>%s</h3>\n", heading);
            heading = NULL;
            if (drawing && strcmp(list->name, "dims") == 0)
                rc = put_figure(out, &t, NULL, NULL, e);
            rc = rc ? rc : put_part(out, v, list, &t, parts[i].caption, e);
        }
        table_free(&t);
    }
    text_puts(out, "</div>\n");
    return rc;
}

static int put_view(struct text *out, struct design *d, bool drawing, struct err *e)
{
    struct design_shown shown;
    int rc = design_shown_build(&shown, d, true, e);
    if (!rc && alloc_has_split(&d->answer))
        rc = put_parts(out, &shown.view, drawing, e);
    design_shown_free(&shown);
    return rc;
}

/* What happens in a step, of a study of one design. */
static int put_timeline(struct text *out, const struct design *d, struct err *e)
{
    struct table t = { 0 };
    struct err inner = { 0 };
    int rc = cmd_timeline_table(&t, d->chosen.point, d, &inner);
    text_puts(out, "<h3>Timeline</h3>\n");
    if (err_is_of_machine(rc))
        err_set(e, (enum err_code)rc, "%s", inner.msg);
    else if (rc) {
        html_figure(out, NULL, inner.msg);
        rc = 0;
    } else
        rc = put_figure(out, &t, "timeline", NULL, e);
    table_free(&t);
    return rc;
}

int html_design(struct text *out, const struct study *study, int64_t point, bool drawing, bool timeline,
                struct err *e)
{
    struct design_point s;
    struct design d;
    struct sweep_point at;
    sweep_find_point(&at, &study->sweep, point);
    int rc = design_load(&s, study, &at, e);
    if (rc)
        return rc;
    rc = design_for_row(&d, &s, e);
    if (!rc)
        rc = put_view(out, &d, drawing, e);
    if (!rc && timeline && alloc_has_split(&d.answer))
        rc = put_timeline(out, &d, e);
    design_free(&d);
    design_point_free(&s);
    return rc;
}

/* ---- uncertain inputs ---- */

static bool is_moved(const struct tornado *t, int32_t answer)
{
    for (int32_t i = 0; i < t->n_inputs && t->typical[answer].point >= 0; i++)
        if (!tornado_is_idle(t, i, answer))
            return true;
    return false;
}

static int put_tornado(struct text *out, struct tornado *t, int32_t threads, struct err *e)
{
    struct table table = { 0 };
    int rc = tornado_ask(t, NULL, e);
    if (!rc && tornado_designs(t) > MOST_DESIGNS) {
        text_printf(out, "<p>%.0f designs would have to be solved: <code>weft tornado</code> does.</p>\n",
                    tornado_designs(t));
        return 0;
    }
    if (!rc)
        rc = tornado_run_typical(t, threads, e);
    if (!rc)
        rc = tornado_run_ends(t, threads, e);
    if (!rc)
        rc = cmd_tornado_table(&table, t, e);
    if (!rc)
        text_puts(out, "<p>One input at a time at its low and high, all else as it is; what is searched is "
                       "searched again.</p>\n<div class=\"figs\">");
    for (int32_t a = 0; a < t->n_answers && !rc; a++)
        if (is_moved(t, a))
            rc = put_figure(out, &table, "tornado",
                            &(struct plot_where){ .column = "answer", .value = t->answers[a].name }, e);
    text_puts(out, rc ? "" : "</div>\n");
    table_free(&table);
    return rc;
}

int html_sensitivity(struct text *out, const struct study *study, int32_t threads, struct err *e)
{
    struct tornado t;
    struct err inner = { 0 };
    text_puts(out,
              "<section aria-labelledby=\"h-uncertain\"><h2 id=\"h-uncertain\">What is uncertain</h2>\n");
    int rc = tornado_build(&t, study, false, &inner);
    if (!rc) {
        rc = put_tornado(out, &t, threads, &inner);
        tornado_free(&t);
    }
    if (err_is_of_machine(rc))
        return err_set(e, (enum err_code)rc, "%s", inner.msg);
    if (rc)
        html_figure(out, NULL, inner.msg);
    text_puts(out, "</section>\n");
    return 0;
}
