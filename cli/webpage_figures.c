/*
 * Figures of a page, drawn by plots/ from the page's own rows: a front for each group, what varies, and where
 * the time of answers and ends goes.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/html.h"
#include "cli/webpage.h"
#include "kinds/design/answer/columns.h"
#include "plots/figure.h"
#include "plots/xy.h"

#define MARKED "marks of the front"

/* The page's rows, with the knee that the page says, and which rows are marks. */
static int make_figures_table(struct table *to, const struct webpage *p, struct err *e)
{
    bool has_knee = table_find(&p->t, "knee") >= 0;
    table_columns_of(to, &p->t);
    if (!has_knee)
        table_column(to, "knee", TABLE_TEXT);
    table_column(to, MARKED, TABLE_COUNT);
    table_better(to, to->n_cols - 1, 1);
    for (int64_t row = 0; row < p->t.n_rows; row++) {
        bool knee = false;
        for (int32_t g = 0; g < p->n_groups; g++)
            knee = knee || p->groups[g].knee == row;
        table_copy_row(to, &p->t, row);
        if (!has_knee)
            table_put_text(to, knee ? "yes" : "no");
        table_put_count(to, p->is_marked[row]);
    }
    return to->failed ? err_nomem(e, "figures") : 0;
}

/* A figure that cannot be drawn is left out, with the reason; only the machine's faults end the page. */
static int add_figure(struct webpage *p, int rc, const char *why, const struct text *svg, struct err *e)
{
    if (err_is_of_machine(rc))
        return err_set(e, (enum err_code)rc, "%s", why);
    html_figure(&p->out, rc ? NULL : text_str(svg), why);
    return 0;
}

static int draw_xy(struct webpage *p, const struct table *t, const struct rivals *g, const struct plot_xy *xy,
                   struct err *e)
{
    struct plot_where where[KEEP_MAX_PER];
    struct text svg = { 0 }, title = { 0 };
    struct err inner = { 0 };
    char *values = strdup(g->name), *at = values;
    int32_t n = 0;
    if (!values)
        return err_nomem(e, "a figure");
    for (; n < p->rule.n_per; n++) {
        char *end = at + strcspn(at, "\n");
        bool more = *end == '\n';
        *end = '\0';
        where[n] = (struct plot_where){ p->rule.per[n], at };
        at = end + more;
    }
    webpage_put_group(&title, g, text_puts);
    struct plot_options opt = { .format = PLOT_SVG,
                                .title = text_str(&title),
                                .where = where,
                                .n_where = n,
                                .width_px = HTML_PANEL_PX,
                                .linked = true,
                                .row_ids = p->ids };
    int rc = plot_xy_draw(xy, t, &opt, &svg, &inner);
    rc = add_figure(p, rc, inner.msg, &svg, e);
    text_free(&svg);
    text_free(&title);
    free(values);
    return rc;
}

/* How many marks does a group have? */
static int64_t count_marked(const struct webpage *p, int32_t g)
{
    const struct front *f = &p->fronts.fronts[g];
    int64_t n = 0;
    for (int64_t i = 0; i < f->n_sorted; i++)
        n += p->is_marked[f->id[i]];
    return n;
}

/* A column of numbers that varies and is of the question, not of the answer: bandwidth, or the first axis. */
static int32_t find_axis(const struct webpage *p)
{
    const struct column *own = p->kind->tables[TABLE_ROWS].columns;
    int32_t total = table_find(&p->t, DESIGN_COLUMN(total_GBps));
    if (total >= 0 && !p->faces[total].common)
        return total;
    for (int32_t col = table_find(&p->t, "point") + 1; col < p->t.n_cols; col++) {
        if (column_find(own, p->t.names[col]))
            break;
        if (p->t.kinds[col] != TABLE_TEXT && !p->faces[col].common)
            return col;
    }
    return -1;
}

static int put_front_panels(struct webpage *p, const struct table *t, int32_t n, struct err *e)
{
    bool thin = p->n_results > WEBPAGE_MARKS;
    int rc = 0;
    text_puts(
        &p->out,
        "<section aria-labelledby=\"h-front\"><h2 id=\"h-front\">Front</h2>\n<p class=\"screen\">The line is "
        "what no other row beats in both columns. A mark leads to its row in the table.");
    if (thin)
        text_printf(&p->out,
                    " Of %lld rows one mark in %d pixels is drawn for the front, and grey dots for the rest.",
                    (long long)p->n_results, WEBPAGE_CELL_PX);
    text_puts(&p->out, "</p>\n<div class=\"figs\">");
    for (int32_t g = 0; g < n && !rc; g++)
        rc = draw_xy(p, t, &p->groups[g],
                     &(struct plot_xy){ .x = p->rule.front[1].name,
                                        .y = { p->rule.front[0].name },
                                        .facet = "",
                                        .label = "knee",
                                        .by = thin ? MARKED : NULL,
                                        .top = thin ? count_marked(p, g) : 0,
                                        .behind = thin },
                     e);
    text_puts(&p->out, "</div></section>\n");
    return rc;
}

static int put_panels(struct webpage *p, const struct table *t, struct err *e)
{
    const char *y = p->rule.front[0].name;
    int32_t n = p->n_groups < WEBPAGE_PANELS ? p->n_groups : WEBPAGE_PANELS, axis = find_axis(p);
    bool thin = p->n_results > WEBPAGE_MARKS;
    int rc = p->rule.n_front == 2 && p->n_results > 1 ? put_front_panels(p, t, n, e) : 0;
    if (axis >= 0 && !thin && p->n_results > 1 && !rc) {
        text_puts(&p->out, "<section aria-labelledby=\"h-axis\"><h2 id=\"h-axis\">Over what "
                           "varies</h2>\n<div class=\"figs\">");
        for (int32_t g = 0; g < n && !rc; g++)
            rc = draw_xy(p, t, &p->groups[g],
                         &(struct plot_xy){
                             .x = p->t.names[axis], .y = { y }, .facet = "", .front = "no", .join = true },
                         e);
        text_puts(&p->out, "</div></section>\n");
    }
    if (n < p->n_groups)
        text_printf(&p->out, "<p>Drawn are the first %d of %d.</p>\n", (int)n, (int)p->n_groups);
    return rc;
}
/* Bars of the answers and the ends of the fronts; nothing where the table has no parts of its times. */
static int put_bars(struct webpage *p, struct err *e)
{
    static const char *const figures[] = { "breakdown", "time" };
    struct text svg = { 0 };
    struct table t = { 0 };
    struct err inner = { 0 };
    int64_t n = 0, *ids = calloc((size_t)p->n_groups * 3 + 1, sizeof *ids);
    if (!ids)
        return err_nomem(e, "figures");
    table_columns_of(&t, &p->t);
    for (int64_t row = 0; row < p->t.n_rows; row++)
        if (webpage_is_chosen(p, row)) {
            table_copy_row(&t, &p->t, row);
            ids[n++] = p->ids[row];
        }
    struct plot_options opt = {
        .format = PLOT_SVG, .width_px = HTML_PANEL_PX, .linked = true, .row_ids = ids
    };
    int rc = t.failed ? err_nomem(e, "figures") : ERR_PARSE;
    for (int k = 0; k < 2 && rc == ERR_PARSE && n > 0; k++) {
        rc = plot_draw(figures[k], &t, &opt, &svg, &inner);
    }
    if (err_is_of_machine(rc) || rc == 0) {
        text_puts(&p->out,
                  "<section aria-labelledby=\"h-time\"><h2 id=\"h-time\">Where the time goes</h2>\n<p>Of the "
                  "answers and the ends of the fronts.</p>\n<div class=\"figs\">");
        rc = add_figure(p, rc, inner.msg, &svg, e);
        text_puts(&p->out, "</div></section>\n");
    } else
        rc = 0;
    free(ids);
    table_free(&t);
    text_free(&svg);
    return rc;
}

/* The figures of one workload stand beside each other, those of several below one another. */
int webpage_put_figures(struct webpage *p, struct err *e)
{
    struct table t = { 0 };
    bool beside = p->n_groups == 1;
    int rc = make_figures_table(&t, p, e);
    text_puts(&p->out, beside ? "<div class=\"row\">\n" : "");
    if (!rc && p->n_groups > 0)
        rc = put_panels(p, &t, e);
    table_free(&t);
    rc = rc ? rc : put_bars(p, e);
    text_puts(&p->out, beside ? "</div>\n" : "");
    return rc;
}
