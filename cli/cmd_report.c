/*
 * weft report: one HTML file about the rows of a sweep, to be mailed, read without scripts, and printed.
 *
 * Nothing is worked out here: fronts are those of study/front.h, figures those of plots/, titles, units and
 * meanings those of the columns. A row is called by its point where each point has one row, else by its
 * number: #p17 in marks of figures, in rows and in links. All that others named goes through cli/html.h.
 *
 * The answer of rows that are held against each other (one workload, as a rule) is the knee of their front,
 * which stands beside the cheapest, the fastest and the equal split of the same bandwidth. No product of time
 * and cost is asked: the least is the cheapest design as a rule, which is slow.
 *
 * What a browser can bear bounds the page: up to MOST_WHOLE rows are rows of its table, of more some are, and
 * the script draws the others from columns of JSON when they are asked for; up to MOST_MARKS marks are links,
 * above that one mark stands for the front in each cell of CELL_PX, and the rows behind are one path.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sheet.h"
#include "cli/filters.h"
#include "cli/html.h"
#include "cli/html_design.h"
#include "cli/output.h"
#include "cli/overrides.h"
#include "cli/points.h"
#include "kinds/design/answer/columns.h"
#include "kinds/design/explore/runner.h"
#include "plots/figure.h"
#include "plots/xy.h"
#include "study/campaign.h"
#include "study/keep.h"
#include "study/say.h"
#include "study/store.h"
#include "study/study.h"
#include "topo/network.h"
#include "weft.h"

#define TINY 1e-9 /* the accuracy of proofs: a gap below it is none */

enum {
    MOST_WHOLE = 300, /* rows of a table that is in the page as a whole */
    MOST_DRAWN = 150, /* of a larger one those that are drawn at first */
    MOST_WIDE = 100,  /* rows of a table with all that single dimensions have */
    MOST_MARKS = 2000,
    MOST_PANELS = 12,
    MOST_BYTES = 10000000,
    CELL_PX = 4,
    DATA_DIGITS = 5
};

/* What the page says of a column. */
struct shown_column {
    struct made_column made;
    struct column_scale scale;
    bool shown;  /* it is a column of the page's table */
    bool common; /* all rows have one value, which is said above the table */
    bool tiny;   /* nothing but rounding: likewise */
    bool per_dim;
};

/* Rows that are held against each other. Numbers of rows are -1 where there is none. */
struct rivals {
    const char *name;            /* values of the columns of `per`, one a line; borrowed of the fronts */
    int64_t knee, first, second; /* least of the front's two columns: fastest and cheapest of designs */
    int64_t n, n_front;
};

struct webpage {
    struct run *run;
    struct table t;
    const struct study_kind *kind;
    struct text head;                       /* lines KEY=VALUE of what made the table */
    struct text warns;                      /* what has to be said first, a line each */
    struct shown_column *faces;             /* shape [t.n_cols] */
    int64_t *ids;                           /* shape [t.n_rows]: what rows are called */
    bool *is_result, *on_front, *is_marked; /* shape [t.n_rows] */
    struct keep_rule rule;
    struct keep *keep;
    struct front_set fronts;
    struct rivals *groups; /* shape [n_groups], in the order of the table */
    int32_t n_groups;
    int64_t n_results, n_front;
    bool by_point; /* that is what rows are called */
    bool whole;    /* all rows are in the table */
    bool left_out; /* some columns of single dimensions are not */
    struct overrides overrides;
    struct study study; /* of which the rows are; its kind is NULL where they were read */
    struct text out;
};

/* ---- reading ---- */

/* The head of a CSV says what made it; a pipe is read once, and has none here. */
static int read_head(struct text *head, const char *path, struct err *e)
{
    struct text file = { 0 };
    int rc = strcmp(path, "-") == 0 ? 0 : text_read_file(&file, path, SIZE_MAX - 1, e);
    for (const char *s = text_str(&file); !rc && s[0] == '#';) {
        size_t n = strcspn(s, "\n"), skip = 1 + strspn(s + 1, " ");
        if (skip <= n) {
            text_add(head, s + skip, n - skip);
            text_puts(head, "\n");
        }
        s += n + (s[n] == '\n');
    }
    text_free(&file);
    return rc ? rc : text_check(head, e);
}

static void say_store(struct webpage *p, const struct store *s)
{
    const struct store_head *h = store_head_of(s);
    struct sweep_counts n = store_counts_of(s);
    if (n.seen < h->n_points)
        text_printf(&p->warns, "This sweep is not finished: %lld of %lld points are done.\n",
                    (long long)n.seen, (long long)h->n_points);
    if (h->keep && *h->keep)
        text_puts(&p->warns, "The study keeps some rows only; the others are not on this page.\n");
    text_printf(&p->head, "version=%s\ncommand=%s\nstudy_hash=%016llx\nseed=%lld\n", h->version, h->command,
                h->study_hash, (long long)h->seed);
    if (h->name && *h->name)
        text_printf(&p->head, "name=%s\n", h->name);
}

static int read_store(struct webpage *p, const char *path, struct err *e)
{
    struct store *s;
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    int rc = store_read(&s, path, e);
    if (rc)
        return rc;
    rc = study_kind_of_store(&p->kind, s, e);
    if (!rc)
        rc = study_trim_store(s, p->kind, false, e);
    if (!rc)
        rc = store_next(s, &walk, INT64_MAX, &p->t, e);
    if (!rc)
        rc = table_find_numbers(&p->t, e);
    if (!rc)
        say_store(p, s);
    store_close(s);
    return rc;
}

static int read_csv(struct webpage *p, const char *path, struct err *e)
{
    int rc = table_read_csv(&p->t, strcmp(path, "-") == 0 ? "/dev/stdin" : path, e);
    if (!rc)
        rc = read_head(&p->head, path, e);
    p->kind = study_kind_of_columns(&p->t);
    return rc;
}

/* A network in words, or a file of YAML: its rows are made here. */
static bool is_study(const char *path)
{
    return topo_is_spec(path) || output_ends_with(path, ".yaml") || output_ends_with(path, ".yml");
}

/* A study of designs that varies nothing is opened as its only point. */
static int open_study(struct webpage *p, const char *path, struct err *e)
{
    struct study_ask ask = { .from = { .path = path, .overrides = p->overrides.list, .n = p->overrides.n } };
    struct yaml_doc doc;
    int32_t own;
    int rc = source_open(&doc, &own, &ask.from, e);
    if (rc)
        return rc;
    ask.kind = study_kind_of(&doc);
    bool one = ask.kind == &design_kind && yaml_get(&doc, doc.root, "vary") < 0;
    yaml_id id = yaml_get(&doc, doc.root, "name");
    const char *name;
    struct err ignored = { 0 };
    if (id >= 0 && !yaml_text(&doc, id, &name, &ignored)) {
        text_puts(&p->head, "name=");
        text_add_shown(&p->head, name, strlen(name), "");
        text_puts(&p->head, "\n");
    }
    yaml_free(&doc);
    return one ? study_open_point(&p->study, &ask, e) : study_open(&p->study, &ask, e);
}

static int run_study(struct webpage *p, const char *path, struct err *e)
{
    struct origin from;
    int64_t threads = p->run->opt.threads;
    int rc = overrides_read(&p->overrides, p->run, e);
    if (!rc)
        rc = open_study(p, path, e);
    if (rc)
        return rc;
    text_puts(&p->warns, text_str(&p->study.notes));
    rc = cmd_points_find_origin(&from, p->run, &p->study, &p->overrides, e);
    if (!rc)
        rc = campaign_rows(&p->t, &p->study, threads ? (int32_t)threads : 1, e);
    if (!rc)
        rc = table_find_numbers(&p->t, e);
    p->kind = p->study.kind;
    text_printf(&p->head, "study_hash=%016llx\nseed=%lld\n", from.study_hash, (long long)from.seed);
    return rc;
}

/* A store is told by its first bytes, not by its name. */
static int read_rows(struct webpage *p, const char *path, struct err *e)
{
    if (is_study(path))
        return run_study(p, path, e);
    bool is = false;
    int rc = strcmp(path, "-") == 0 ? 0 : store_is(&is, path, e);
    if (!rc)
        rc = is ? read_store(p, path, e) : read_csv(p, path, e);
    if (!rc)
        study_find_better(&p->t, p->kind, TABLE_ROWS);
    return rc;
}

/* The value of KEY in the head, up to the end of its line; NULL: there is none. */
static const char *head_value(const struct webpage *p, const char *key, size_t *n)
{
    size_t length = strlen(key);
    for (const char *s = text_str(&p->head); *s; s += strcspn(s, "\n") + 1)
        if (strncmp(s, key, length) == 0 && s[length] == '=') {
            *n = strcspn(s + length + 1, "\n");
            return s + length + 1;
        }
    return NULL;
}

/* ---- rows and columns ---- */

static bool cells_equal(const struct table *t, int64_t a, int64_t b, int32_t col)
{
    if (t->kinds[col] != TABLE_TEXT) {
        double x = table_number(t, a, col), y = table_number(t, b, col);
        return x == y || (isnan(x) && isnan(y));
    }
    const char *x = table_text(t, a, col), *y = table_text(t, b, col);
    return x == y || (x && y && strcmp(x, y) == 0);
}

static bool is_common(const struct table *t, int32_t col)
{
    for (int64_t row = 1; row < t->n_rows; row++)
        if (!cells_equal(t, 0, row, col))
            return false;
    return t->n_rows > 1;
}

/* What nothing describes is an axis, or a column of the user's own. */
static void describe(struct webpage *p, int32_t col)
{
    const struct table *t = &p->t;
    struct shown_column *f = &p->faces[col];
    const char *name = t->names[col];
    double most = 0;
    if (study_describe(&f->made, p->kind, TABLE_ROWS, name)) {
        if (say_word_title(f->made.title, t, &f->made.of, name))
            f->made.of.title = f->made.title;
    } else {
        size_t n;
        const char *unit = table_unit(t, col, &n);
        snprintf(f->made.title, sizeof f->made.title, "%.*s", (int)n, say_axis_title(name));
        f->made.of = (struct column){ .name = name, .title = f->made.title, .unit = unit };
    }
    for (int64_t row = 0; row < t->n_rows; row++)
        if (isfinite(table_number(t, row, col)))
            most = fmax(most, fabs(table_number(t, row, col)));
    f->scale = column_scale(&f->made.of, most);
    f->common = is_common(t, col);
    f->tiny = most > 0 && most < TINY;
    f->shown = !f->common && !f->tiny;
    const struct column *own = column_find(p->kind->tables[TABLE_ROWS].columns, name);
    f->per_dim = own && own->repeat > 1;
}

static const char *face_title(const struct shown_column *f, char buf[COLUMN_NAME])
{
    return column_title(buf, &f->made.of, 0);
}

static bool is_blank(const struct webpage *p, int64_t row, int32_t col)
{
    return p->t.kinds[col] == TABLE_TEXT ? !table_text(&p->t, row, col)
                                         : !isfinite(table_number(&p->t, row, col));
}

/* A cell as people read it; without its unit. */
static void put_cell(struct text *out, const struct webpage *p, int64_t row, int32_t col)
{
    char buf[SHOW], plain[SHOW_VALUE];
    const char *s = column_shown(buf, &p->faces[col].made.of, p->t.kinds[col], *table_cell(&p->t, row, col),
                                 p->faces[col].scale);
    html_put(out, p->t.kinds[col] == TABLE_TEXT ? show_unquoted(plain, s) : s);
}

/* "0.82 s"; nothing where there is no such column. */
static void put_value(struct webpage *p, int64_t row, int32_t col)
{
    if (col < 0)
        return;
    put_cell(&p->out, p, row, col);
    text_puts(&p->out, *p->faces[col].scale.unit ? " " : "");
    html_put(&p->out, p->faces[col].scale.unit);
}

/* ---- fronts ---- */

static bool has_numbers(const struct table *t, int32_t col)
{
    for (int64_t row = 0; row < t->n_rows && col >= 0; row++)
        if (isfinite(keep_number(t, row, col)))
            return true;
    return false;
}

/* The front is over the first two of the kind's columns that have numbers; of fewer there is none. */
static int choose_rule(struct webpage *p, struct err *e)
{
    struct text missing = { 0 };
    int rc = 0;
    p->rule.kind = p->kind;
    for (const char *const *name = p->kind->front; *name && p->rule.n_front < 2 && !rc; name++) {
        if (has_numbers(&p->t, table_find(&p->t, *name)))
            rc = keep_take_column(&p->rule.front[p->rule.n_front++], &p->rule, *name, &p->t, e);
        else
            text_printf(&missing, "%s%s", missing.n ? ", " : "", *name);
    }
    if (!rc && p->rule.n_front < 2)
        text_printf(&p->warns, "There is no front: the table has no numbers in %s.\n", text_str(&missing));
    text_free(&missing);
    keep_default_per(&p->rule, &p->t);
    return rc ? rc : keep_build(&p->keep, &p->rule, &p->t, e);
}

static int offer_rows(struct webpage *p, struct err *e)
{
    struct text group = { 0 };
    double x[FRONT_MAX_COLUMNS];
    int rc = 0;
    p->fronts.n_cols = 2;
    for (int64_t row = 0; row < p->t.n_rows && !rc; row++) {
        bool on, whole = p->rule.n_front > 0;
        p->is_result[row] = keep_is_design(p->keep, &p->t, row);
        p->n_results += p->is_result[row];
        if (!p->is_result[row] || !whole)
            continue;
        keep_values(x, p->keep, &p->t, row);
        x[1] = p->rule.n_front == 2 ? x[1] : x[0]; /* of one column the front is the best */
        rc = keep_group(&group, p->keep, &p->t, row, e);
        if (!rc && isfinite(x[0]) && isfinite(x[1]))
            rc = front_set_offer(&p->fronts, text_str(&group), x, row, &on, NULL, e);
    }
    text_free(&group);
    return rc;
}

/* One mark a cell, in a panel as wide and high as figures have them. */
static void thin_front(struct webpage *p, const struct front *f, bool thin)
{
    const double cells = (double)HTML_PANEL_PX / CELL_PX;
    const double *first = f->x, *last = f->x + (f->n_sorted - 1) * f->n_cols;
    double at_x = NAN, at_y = NAN;
    for (int64_t i = 0; i < f->n_sorted; i++) {
        const double *x = f->x + i * f->n_cols;
        double cx = floor(cells * (x[0] - first[0]) / (last[0] - first[0]));
        double cy = floor(cells * (x[1] - last[1]) / (first[1] - last[1]));
        p->on_front[f->id[i]] = true;
        if (thin && cx == at_x && cy == at_y && i + 1 < f->n_sorted)
            continue;
        p->is_marked[f->id[i]] = true;
        at_x = cx;
        at_y = cy;
    }
}

static int find_fronts(struct webpage *p, struct err *e)
{
    int rc = choose_rule(p, e);
    if (!rc)
        rc = offer_rows(p, e);
    p->groups = rc ? NULL : calloc((size_t)p->fronts.n + 1, sizeof *p->groups);
    if (!rc && !p->groups)
        rc = err_nomem(e, "fronts");
    for (int32_t g = 0; g < p->fronts.n && !rc; g++) {
        struct front *f = &p->fronts.fronts[g];
        rc = front_sort(f, e);
        if (rc)
            break;
        int64_t knee = front_knee(f);
        p->groups[p->n_groups++] = (struct rivals){ .name = p->fronts.groups[g],
                                                    .knee = knee < 0 ? -1 : f->id[knee],
                                                    .first = f->id[0],
                                                    .second = f->id[f->n_sorted - 1],
                                                    .n_front = f->n_sorted };
        p->n_front += f->n_sorted;
        thin_front(p, f, p->n_results > MOST_MARKS);
        if (knee >= 0)
            p->is_marked[f->id[knee]] = true;
    }
    return rc;
}

/* The point where each has one row, in rising order; else the row's number. */
static void name_rows(struct webpage *p)
{
    int32_t col = table_find(&p->t, "point");
    bool points = col >= 0 && p->t.kinds[col] == TABLE_COUNT && !p->kind->label;
    for (int64_t row = 0; row < p->t.n_rows; row++) {
        int64_t point = points ? table_count(&p->t, row, col) : -1;
        points = point >= 0 && (row == 0 || point > p->ids[row - 1]);
        p->ids[row] = point;
    }
    for (int64_t row = 0; row < p->t.n_rows && !points; row++)
        p->ids[row] = row + 1;
    p->by_point = points;
    if (points)
        p->faces[col].shown = false;
}

static const char *row_word(const struct webpage *p)
{
    return p->by_point ? "point" : "row";
}

static int prepare(struct webpage *p, struct err *e)
{
    size_t n = (size_t)p->t.n_rows + 1;
    p->faces = calloc((size_t)p->t.n_cols + 1, sizeof *p->faces);
    p->ids = calloc(n, sizeof *p->ids);
    p->is_result = calloc(n, 1);
    p->on_front = calloc(n, 1);
    p->is_marked = calloc(n, 1);
    if (!p->faces || !p->ids || !p->is_result || !p->on_front || !p->is_marked)
        return err_nomem(e, "rows of a page");
    for (int32_t col = 0; col < p->t.n_cols; col++)
        describe(p, col);
    name_rows(p);
    p->whole = p->t.n_rows <= MOST_WHOLE;
    for (int32_t col = 0; col < p->t.n_cols && p->t.n_rows > MOST_WIDE; col++) {
        struct shown_column *f = &p->faces[col];
        /* Of what each dimension has, bandwidths are the design; the figures show times. */
        bool left_out = f->per_dim && !(p->whole && strcmp(f->scale.unit, "GB/s") == 0);
        p->left_out = p->left_out || left_out;
        f->shown = f->shown && !left_out;
    }
    return find_fronts(p, e);
}

/* ---- figures ---- */

static void copy_row(struct table *to, const struct webpage *p, int64_t row)
{
    table_row(to);
    for (int32_t col = 0; col < p->t.n_cols; col++)
        table_put_cell(to, &p->t, row, col);
}

#define MARKED "marks of the front"

/* The page's rows, with the knee that the page says, and which rows are marks. */
static int make_figures_table(struct table *to, const struct webpage *p, struct err *e)
{
    bool has_knee = table_find(&p->t, "knee") >= 0;
    for (int32_t col = 0; col < p->t.n_cols; col++)
        table_column_of(to, &p->t, col);
    if (!has_knee)
        table_column(to, "knee", TABLE_TEXT);
    table_column(to, MARKED, TABLE_COUNT);
    table_better(to, to->n_cols - 1, 1);
    for (int64_t row = 0; row < p->t.n_rows; row++) {
        bool knee = false;
        for (int32_t g = 0; g < p->n_groups; g++)
            knee = knee || p->groups[g].knee == row;
        copy_row(to, p, row);
        if (!has_knee)
            table_put_text(to, knee ? "yes" : "no");
        table_put_count(to, p->is_marked[row]);
    }
    return to->failed ? err_nomem(e, "figures") : 0;
}

/* "GPT-3", or "GPT-3, 8" of two columns. */
static void put_group(struct text *out, const struct rivals *g, void put(struct text *, const char *))
{
    struct text name = { 0 };
    size_t n = strlen(g->name);
    for (size_t i = 0; i < n; i++)
        if (g->name[i] != '\n')
            text_add(&name, g->name + i, 1);
        else if (i + 1 < n)
            text_puts(&name, ", ");
    put(out, text_str(&name));
    out->failed = out->failed || name.failed;
    text_free(&name);
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
    put_group(&title, g, text_puts);
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
    bool thin = p->n_results > MOST_MARKS;
    int rc = 0;
    text_puts(&p->out, "<section aria-labelledby=\"h-front\"><h2 id=\"h-front\">Front</h2>\n<p>The line is "
                       "what no other row beats in both columns. A mark leads to its row in the table.");
    if (thin)
        text_printf(&p->out,
                    " Of %lld rows one mark in %d pixels is drawn for the front, and grey dots for the rest.",
                    (long long)p->n_results, CELL_PX);
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
    int32_t n = p->n_groups < MOST_PANELS ? p->n_groups : MOST_PANELS, axis = find_axis(p);
    bool thin = p->n_results > MOST_MARKS;
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

static bool is_chosen(const struct webpage *p, int64_t row)
{
    for (int32_t g = 0; g < p->n_groups && g < MOST_PANELS; g++)
        if (row == p->groups[g].knee || row == p->groups[g].first || row == p->groups[g].second)
            return true;
    return false;
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
    for (int32_t col = 0; col < p->t.n_cols; col++)
        table_column_of(&t, &p->t, col);
    for (int64_t row = 0; row < p->t.n_rows; row++)
        if (is_chosen(p, row)) {
            copy_row(&t, p, row);
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

static int put_figures(struct webpage *p, struct err *e)
{
    struct table t = { 0 };
    int rc = make_figures_table(&t, p, e);
    if (!rc && p->n_groups > 0)
        rc = put_panels(p, &t, e);
    table_free(&t);
    return rc ? rc : put_bars(p, e);
}

/* ---- the answer ---- */

static void put_link(struct webpage *p, int64_t row)
{
    long long id = (long long)p->ids[row];
    text_printf(&p->out, "<a href=\"#p%lld\" data-p=\"%lld\">%lld</a>", id, id, id);
}

/* Of the question: axes, and what tells designs apart. */
static bool is_asked(const struct webpage *p, int32_t col)
{
    static const char *const names[] = { DESIGN_COLUMN(network), DESIGN_COLUMN(objective),
                                         DESIGN_COLUMN(total_GBps) };
    const char *name = p->t.names[col];
    if (p->faces[col].common || strcmp(name, "point") == 0)
        return false;
    for (int32_t k = 0; k < p->rule.n_per; k++)
        if (strcmp(p->rule.per[k], name) == 0)
            return false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0)
            return true;
    if (p->kind->label && strcmp(p->kind->label, name) == 0)
        return true;
    return !column_find(p->kind->tables[TABLE_ROWS].columns, name) &&
           !study_describe(&(struct made_column){ .of = { .name = NULL } }, p->kind, TABLE_ROWS, name);
}

/* "network flat, total 200 GB/s" */
static void put_asked(struct webpage *p, int64_t row)
{
    char buf[COLUMN_NAME];
    bool any = false;
    for (int32_t col = 0; col < p->t.n_cols; col++)
        if (is_asked(p, col) && !is_blank(p, row, col)) {
            text_puts(&p->out, any ? ", " : "");
            html_put(&p->out, face_title(&p->faces[col], buf));
            text_puts(&p->out, " ");
            put_value(p, row, col);
            any = true;
        }
}

/* "step 0.82 s, cost 2,847,000 USD" of the columns of the front. */
static void put_values(struct webpage *p, int64_t row)
{
    char buf[COLUMN_NAME];
    for (int32_t k = 0; k < p->rule.n_front; k++) {
        int32_t col = table_find(&p->t, p->rule.front[k].name);
        text_puts(&p->out, k ? ", " : "");
        html_put(&p->out, face_title(&p->faces[col], buf));
        text_puts(&p->out, " ");
        put_value(p, row, col);
    }
}

static int64_t answer_of(const struct rivals *g)
{
    return g->knee >= 0 ? g->knee : g->first;
}

static const char *answer_word(const struct webpage *p, const struct rivals *g)
{
    if (p->n_results == 1)
        return "the design";
    if (p->rule.n_front < 2)
        return "the best";
    return g->knee >= 0      ? "the knee of the front"
           : g->n_front == 1 ? "the best in both"
                             : "the front has no knee: its fastest end";
}

static void put_baseline(struct webpage *p, int64_t row)
{
    int32_t time = table_find(&p->t, DESIGN_COLUMN(equal_time_s)),
            cost = table_find(&p->t, DESIGN_COLUMN(equal_cost_usd));
    if (time < 0 || !isfinite(table_number(&p->t, row, time)))
        return;
    text_puts(&p->out, " Equal split of the same bandwidth: ");
    put_value(p, row, time);
    if (cost >= 0 && isfinite(table_number(&p->t, row, cost))) {
        text_puts(&p->out, ", ");
        put_value(p, row, cost);
    }
    text_puts(&p->out, ".");
}

enum { MOST_VERDICTS = 6 };

static void put_verdict(struct webpage *p)
{
    if (p->n_results == 0) {
        text_puts(&p->out,
                  "<p class=\"lead\">No row of this table is a result; the reasons are below.</p>\n");
        return;
    }
    text_puts(&p->out, "<ul class=\"lead\">\n");
    for (int32_t g = 0; g < p->n_groups && g < MOST_VERDICTS; g++) {
        const struct rivals *x = &p->groups[g];
        int64_t row = answer_of(x);
        text_puts(&p->out, "<li>");
        if (*x->name) {
            text_puts(&p->out, "<b>");
            put_group(&p->out, x, html_put);
            text_puts(&p->out, "</b>: ");
        }
        text_printf(&p->out, "%s ", row_word(p));
        put_link(p, row);
        text_puts(&p->out, " (");
        put_asked(p, row);
        text_printf(&p->out, "), %s: ", answer_word(p, x));
        put_values(p, row);
        text_puts(&p->out, ".");
        put_baseline(p, row);
        text_puts(&p->out, "</li>\n");
    }
    text_puts(&p->out, "</ul>\n");
    if (p->n_groups > MOST_VERDICTS)
        text_printf(&p->out, "<p>%d more stand in the table below.</p>\n", (int)p->n_groups - MOST_VERDICTS);
}

/* Columns of the table of answers: what was asked, the front, and what else people judge designs by. */
static bool is_judged(const struct webpage *p, int32_t col)
{
    static const char *const names[] = { DESIGN_COLUMN(speedup), DESIGN_COLUMN(perf_per_cost_gain),
                                         DESIGN_COLUMN(nic_GBps) };
    for (int32_t k = 0; k < p->rule.n_front; k++)
        if (strcmp(p->rule.front[k].name, p->t.names[col]) == 0)
            return true;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], p->t.names[col]) == 0)
            return true;
    return is_asked(p, col);
}

static void put_th(struct webpage *p, int32_t col, const char *attribute)
{
    char buf[COLUMN_NAME];
    const struct shown_column *f = &p->faces[col];
    bool text = p->t.kinds[col] == TABLE_TEXT;
    text_printf(&p->out, "<th scope=\"col\"%s%s>%s", text ? " class=\"t\"" : "", attribute,
                *attribute ? "<button type=\"button\">" : "");
    html_put(&p->out, face_title(f, buf));
    text_puts(&p->out, *attribute ? "</button>" : "");
    if (*f->scale.unit) {
        text_puts(&p->out, "<small>");
        html_put(&p->out, f->scale.unit);
        text_puts(&p->out, "</small>");
    }
    text_puts(&p->out, "</th>");
}

/* Words are to the left: where a table has few rows each cell says so, else the style of the page. */
static void put_td(struct webpage *p, int64_t row, int32_t col, bool styled)
{
    bool text = p->t.kinds[col] == TABLE_TEXT;
    text_puts(&p->out, text && !styled ? "<td class=\"t\">" : "<td>");
    if (!is_blank(p, row, col))
        put_cell(&p->out, p, row, col);
    text_puts(&p->out, "</td>");
}

/* The columns of the front by those of the equal split, as far as there are any; the rest is blank. */
static void put_equal_row(struct webpage *p, int64_t row)
{
    int32_t from[2] = { table_find(&p->t, DESIGN_COLUMN(equal_time_s)),
                        table_find(&p->t, DESIGN_COLUMN(equal_cost_usd)) };
    if (from[0] < 0 || !isfinite(table_number(&p->t, row, from[0])))
        return;
    text_puts(&p->out, "<tr><td></td><th scope=\"row\" class=\"t\">its equal split</th><td></td>");
    for (int32_t col = 0; col < p->t.n_cols; col++) {
        int32_t at = -1;
        if (!is_judged(p, col))
            continue;
        if (strcmp(p->t.names[col], DESIGN_COLUMN(time_s)) == 0)
            at = from[0];
        if (strcmp(p->t.names[col], DESIGN_COLUMN(cost_usd)) == 0)
            at = from[1];
        if (at >= 0)
            put_td(p, row, at, false);
        else
            text_puts(&p->out, "<td></td>");
    }
    text_puts(&p->out, "</tr>\n");
}

static void put_answer_row(struct webpage *p, const struct rivals *g, int64_t row, const char *what)
{
    text_puts(&p->out, "<tr><td class=\"t\">");
    put_group(&p->out, g, html_put);
    text_printf(&p->out, "</td><th scope=\"row\" class=\"t\">%s</th><td>", what);
    put_link(p, row);
    text_puts(&p->out, "</td>");
    for (int32_t col = 0; col < p->t.n_cols; col++)
        if (is_judged(p, col))
            put_td(p, row, col, false);
    text_puts(&p->out, "</tr>\n");
}

/* "least step", "most utility" */
static void end_word(char out[COLUMN_NAME + 8], const struct webpage *p, int32_t k)
{
    const struct keep_column *c = &p->rule.front[k];
    char buf[COLUMN_NAME];
    snprintf(out, COLUMN_NAME + 8, "%s %s", c->large ? "most" : "least",
             face_title(&p->faces[table_find(&p->t, c->name)], buf));
}

static void put_answers(struct webpage *p)
{
    char first[COLUMN_NAME + 8], second[COLUMN_NAME + 8];
    if (p->n_groups == 0)
        return;
    end_word(first, p, 0);
    end_word(second, p, p->rule.n_front - 1);
    text_puts(&p->out, "<section aria-labelledby=\"h-answer\"><h2 id=\"h-answer\">Answer beside the ends and "
                       "the equal split</h2>\n"
                       "<div class=\"wide\"><table><caption>Of each front its knee and its ends");
    text_puts(&p->out, "</caption><thead><tr><th scope=\"col\" class=\"t\">of</th><th scope=\"col\" "
                       "class=\"t\">what</th><th "
                       "scope=\"col\">row</th>");
    for (int32_t col = 0; col < p->t.n_cols; col++)
        if (is_judged(p, col))
            put_th(p, col, "");
    text_puts(&p->out, "</tr></thead><tbody>\n");
    for (int32_t g = 0; g < p->n_groups && g < 4 * MOST_PANELS; g++) {
        const struct rivals *x = &p->groups[g];
        put_answer_row(p, x, answer_of(x),
                       x->knee >= 0      ? "knee"
                       : x->n_front == 1 ? answer_word(p, x)
                                         : first);
        put_equal_row(p, answer_of(x));
        if (x->knee >= 0)
            put_answer_row(p, x, x->first, first);
        if (x->second != x->first)
            put_answer_row(p, x, x->second, second);
    }
    text_puts(&p->out, "</tbody></table></div></section>\n");
}

/* ---- what a design consists of ---- */

enum { MOST_DESIGNS = 4 };

static int put_design(struct webpage *p, int64_t row, struct err *e)
{
    long long id = (long long)p->ids[row];
    text_printf(&p->out,
                "<section aria-labelledby=\"h-d%lld\"><h2 id=\"h-d%lld\">Why, and what it consists of: %s "
                "%lld</h2>\n<p>",
                id, id, row_word(p), id);
    put_asked(p, row);
    text_puts(&p->out, "</p>\n");
    int rc = html_design(&p->out, &p->study, table_count(&p->t, row, table_find(&p->t, "point")),
                         p->t.n_rows == 1, e);
    text_puts(&p->out, "</section>\n");
    return rc;
}

/* Of the answers, where the study is at hand. */
static int put_designs(struct webpage *p, struct err *e)
{
    int rc = 0;
    if (p->study.kind != &design_kind)
        return 0;
    for (int32_t g = 0; g < p->n_groups && g < MOST_DESIGNS && !rc; g++)
        rc = put_design(p, answer_of(&p->groups[g]), e);
    return rc;
}

/* ---- reasons ---- */

struct reason {
    int64_t row, n;
};

static int by_count(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : (x->row > y->row) - (x->row < y->row);
}

enum { MOST_REASONS = 20 };

/* Rows that are no results, by status and message. */
static int put_reasons(struct webpage *p, struct err *e)
{
    int32_t status = table_find(&p->t, "status"), message = table_find(&p->t, "message");
    struct reason list[MOST_REASONS];
    int32_t n = 0;
    int64_t rest = 0;
    for (int64_t row = 0; row < p->t.n_rows; row++) {
        int32_t k = 0;
        if (p->is_result[row])
            continue;
        while (k < n && !((status < 0 || cells_equal(&p->t, list[k].row, row, status)) &&
                          (message < 0 || cells_equal(&p->t, list[k].row, row, message))))
            k++;
        if (k < n)
            list[k].n++;
        else if (n < MOST_REASONS)
            list[n++] = (struct reason){ row, 1 };
        else
            rest++;
    }
    if (n == 0)
        return text_check(&p->out, e);
    qsort(list, (size_t)n, sizeof *list, by_count);
    text_puts(&p->out, "<section aria-labelledby=\"h-why\"><h2 id=\"h-why\">Rows without a result</h2>\n<div "
                       "class=\"wide\"><table><caption>How "
                       "many, and why</caption><thead><tr><th scope=\"col\">rows</th><th scope=\"col\">the "
                       "first</th><th scope=\"col\" class=\"t\">status</th><th scope=\"col\" "
                       "class=\"t\">message</th></tr></thead><tbody>\n");
    for (int32_t k = 0; k < n; k++) {
        text_printf(&p->out, "<tr><td>%lld</td><td>", (long long)list[k].n);
        put_link(p, list[k].row);
        text_puts(&p->out, "</td><td class=\"t\">");
        html_put(&p->out, table_text(&p->t, list[k].row, status));
        text_puts(&p->out, "</td><td class=\"t\">");
        html_put(&p->out, table_text(&p->t, list[k].row, message));
        text_puts(&p->out, "</td></tr>\n");
    }
    text_puts(&p->out, "</tbody></table></div>");
    if (rest)
        text_printf(&p->out, "<p>%lld more have other reasons.</p>", (long long)rest);
    text_puts(&p->out, "</section>\n");
    return 0;
}

/* ---- the table ---- */

static void put_row(struct webpage *p, int64_t row)
{
    long long id = (long long)p->ids[row];
    text_printf(&p->out,
                "<tr id=\"p%lld\" data-p=\"%lld\"%s><th scope=\"row\"><a href=\"#p%lld\">%lld</a></th>", id,
                id, p->on_front[row] ? " class=\"f\"" : "", id, id);
    for (int32_t col = 0; col < p->t.n_cols; col++)
        if (p->faces[col].shown)
            put_td(p, row, col, true);
    text_puts(&p->out, "</tr>\n");
}

/* Of many those first that figures and verdict lead to. */
static void put_rows(struct webpage *p)
{
    int64_t n = 0;
    if (p->whole) {
        for (int64_t row = 0; row < p->t.n_rows; row++)
            put_row(p, row);
        return;
    }
    for (int round = 0; round < 3; round++)
        for (int64_t row = 0; row < p->t.n_rows && n < MOST_DRAWN; row++) {
            int rank = is_chosen(p, row) ? 0 : p->is_marked[row] ? 1 : 2;
            if (rank == round) {
                put_row(p, row);
                n++;
            }
        }
}

static void put_common(struct webpage *p)
{
    char buf[COLUMN_NAME];
    bool any = false;
    for (int32_t col = 0; col < p->t.n_cols; col++) {
        const struct shown_column *f = &p->faces[col];
        if (!f->tiny && (!f->common || is_blank(p, 0, col)))
            continue;
        text_puts(&p->out, any ? "; " : "<p>The same in all rows: ");
        html_put(&p->out, face_title(f, buf));
        text_puts(&p->out, f->tiny ? " below 1e-9" : " ");
        if (!f->tiny)
            put_value(p, 0, col);
        any = true;
    }
    text_puts(&p->out, any ? ".</p>\n" : "");
}

/* Of a long table a rule for each column of words is shorter than a class in each cell. */
static void put_word_style(struct webpage *p)
{
    int k = 1;
    for (int32_t col = 0; col < p->t.n_cols; col++) {
        k += p->faces[col].shown;
        if (p->faces[col].shown && p->t.kinds[col] == TABLE_TEXT)
            text_printf(&p->out, "#rows td:nth-child(%d){text-align:left}", k);
    }
}

static void put_table(struct webpage *p)
{
    char attribute[40];
    int32_t k = 1;
    text_puts(&p->out, "<section id=\"rows\" aria-labelledby=\"h-rows\"><h2 id=\"h-rows\">All rows</h2>\n");
    put_common(p);
    text_puts(&p->out,
              "<div class=\"bar\"><label>Rows with the words <input id=\"word\" type=\"search\"/></label> "
              "<label><input id=\"front\" "
              "type=\"checkbox\"/> front only</label> <a id=\"csv\" href=\"#rows\" download=\"rows.csv\">CSV "
              "of these columns</a></div>\n<p id=\"said\" role=\"status\" class=\"screen\"></p>\n");
    text_printf(&p->out,
                "<div class=\"wide\" tabindex=\"0\" role=\"group\" "
                "aria-labelledby=\"h-rows\"><table><caption>%lld rows, %lld results, %lld on a front (bold)",
                (long long)p->t.n_rows, (long long)p->n_results, (long long)p->n_front);
    if (!p->whole)
        text_printf(&p->out, "; %d of them without scripts", MOST_DRAWN);
    if (p->left_out)
        text_puts(&p->out, "; some columns of single dimensions are left out");
    text_printf(&p->out,
                "</caption><thead><tr><th scope=\"col\" data-c=\"0\"><button "
                "type=\"button\">%s</button></th>",
                row_word(p));
    for (int32_t col = 0; col < p->t.n_cols; col++)
        if (p->faces[col].shown) {
            snprintf(attribute, sizeof attribute, " data-c=\"%d\"", (int)k++);
            put_th(p, col, attribute);
        }
    text_puts(&p->out, "</tr></thead><tbody>\n");
    put_rows(p);
    text_puts(&p->out, "</tbody></table></div></section>\n");
}

/* ---- the data of the script ---- */

static void put_number(struct text *out, const struct webpage *p, int64_t row, int32_t col)
{
    double x = table_number(&p->t, row, col);
    if (!isfinite(x))
        text_puts(out, "null");
    else if (p->t.kinds[col] == TABLE_COUNT)
        text_printf(out, "%lld", (long long)table_count(&p->t, row, col));
    else
        text_printf(out, "%.*g",
                    strncmp(p->faces[col].scale.unit, "USD", 3) == 0 ? DATA_DIGITS + 2 : DATA_DIGITS, x);
}

/* Words once, then their numbers; -1 is blank. Words are few as a rule: the last is looked at first. */
static int put_words(struct webpage *p, int32_t col, struct err *e)
{
    int64_t n = 0, *rows = calloc((size_t)p->t.n_rows + 1, sizeof *rows),
            *number = calloc((size_t)p->t.n_rows + 1, sizeof *number);
    char plain[SHOW_VALUE];
    if (!rows || !number) {
        free(rows);
        free(number);
        return err_nomem(e, "columns of a page");
    }
    for (int64_t row = 0; row < p->t.n_rows; row++) {
        int64_t k = row > 0 ? number[row - 1] : 0, tried = 0;
        number[row] = -1;
        if (!table_text(&p->t, row, col))
            continue;
        for (k = k < 0 ? 0 : k; tried < n && !cells_equal(&p->t, rows[k], row, col); tried++)
            k = (k + 1) % n;
        if (tried == n)
            rows[k = n++] = row;
        number[row] = k;
    }
    text_puts(&p->out, ",\"w\":[");
    for (int64_t k = 0; k < n; k++) {
        text_puts(&p->out, k ? "," : "");
        html_put_json(&p->out, show_unquoted(plain, table_text(&p->t, rows[k], col)));
    }
    text_puts(&p->out, "],\"v\":[");
    for (int64_t row = 0; row < p->t.n_rows; row++)
        text_printf(&p->out, "%s%lld", row ? "," : "", (long long)number[row]);
    free(rows);
    free(number);
    return 0;
}

static int put_data_column(struct webpage *p, int32_t col, struct err *e)
{
    char buf[COLUMN_NAME];
    int rc = 0;
    text_puts(&p->out, ",\n{\"n\":");
    html_put_json(&p->out, p->t.names[col]);
    text_puts(&p->out, ",\"t\":");
    html_put_json(&p->out, face_title(&p->faces[col], buf));
    text_puts(&p->out, ",\"u\":");
    html_put_json(&p->out, p->faces[col].scale.unit);
    if (p->t.kinds[col] == TABLE_TEXT && p->whole)
        text_puts(&p->out, ",\"w\":[1],\"v\":[");
    else if (p->t.kinds[col] == TABLE_TEXT)
        rc = put_words(p, col, e);
    else {
        text_printf(&p->out, ",\"m\":%.12g,\"v\":[", p->faces[col].scale.times);
        for (int64_t row = 0; row < p->t.n_rows && !p->whole; row++) {
            text_puts(&p->out, row ? "," : "");
            put_number(&p->out, p, row, col);
        }
    }
    text_puts(&p->out, "]}");
    return rc;
}

static void put_ids(struct webpage *p)
{
    for (int64_t row = 0; row < p->t.n_rows && !p->whole; row++)
        text_printf(&p->out, "%s%lld", row ? "," : "", (long long)p->ids[row]);
}

static int put_data(struct webpage *p, struct err *e)
{
    bool first = true;
    int rc = 0;
    text_printf(&p->out, "<script type=\"application/json\" id=\"data\">{\"all\":%s,\"front\":[",
                p->whole ? "true" : "false");
    for (int64_t row = 0; row < p->t.n_rows; row++)
        if (p->on_front[row] && !p->whole) {
            text_printf(&p->out, "%s%lld", first ? "" : ",", (long long)row);
            first = false;
        }
    text_printf(&p->out, "],\"cols\":[{\"n\":\"%s\",\"t\":\"%s\",\"u\":\"\",\"m\":1,\"v\":[", row_word(p),
                row_word(p));
    put_ids(p);
    text_puts(&p->out, "]}");
    for (int32_t col = 0; col < p->t.n_cols && !rc; col++)
        if (p->faces[col].shown)
            rc = put_data_column(p, col, e);
    text_puts(&p->out, "]}</script>\n");
    return rc;
}

/* ---- head and foot ---- */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head><meta "
    "charset=\"utf-8\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>";

static void put_title(struct webpage *p)
{
    size_t n = 0;
    const char *name = head_value(p, "name", &n), *path = p->run->opt.operands[0], *base = strrchr(path, '/');
    struct text own = { 0 };
    if (p->run->opt.title)
        text_puts(&own, p->run->opt.title);
    else if (name)
        text_add(&own, name, n);
    else
        text_puts(&own, strcmp(path, "-") == 0 ? "weft report" : base ? base + 1 : path);
    html_put(&p->out, text_str(&own));
    p->out.failed = p->out.failed || own.failed;
    text_free(&own);
}

static void put_head(struct webpage *p)
{
    text_puts(&p->out, head);
    put_title(p);
    text_puts(&p->out, "</title>\n<style>");
    text_puts(&p->out, html_style);
    put_word_style(p);
    text_puts(&p->out,
              "</style></head>\n<body><a class=\"skip\" href=\"#main\">Skip to the answer</a>\n<header>");
    for (const char *s = text_str(&p->warns); *s; s += strcspn(s, "\n") + 1) {
        struct text line = { 0 };
        text_add(&line, s, strcspn(s, "\n"));
        text_puts(&p->out, "<p class=\"warn\" role=\"note\">");
        html_put(&p->out, text_str(&line));
        text_puts(&p->out, "</p>\n");
        text_free(&line);
    }
    text_puts(&p->out, "<h1>");
    put_title(p);
    text_puts(&p->out, "</h1>\n");
}

/* What was asked, in a line: how many rows, of what, held apart by what, best in what. */
static void put_question(struct webpage *p)
{
    char buf[COLUMN_NAME];
    text_printf(&p->out, "<p>%lld row%s (%s), %lld with a result.", (long long)p->t.n_rows,
                p->t.n_rows == 1 ? "" : "s", p->kind->what, (long long)p->n_results);
    if (p->n_groups > 0 && p->n_results > 1) {
        text_puts(&p->out, " Question: which has ");
        for (int32_t k = 0; k < p->rule.n_front; k++) {
            text_printf(&p->out, "%sthe %s ", k ? " and " : "", p->rule.front[k].large ? "most" : "least");
            html_put(&p->out, face_title(&p->faces[table_find(&p->t, p->rule.front[k].name)], buf));
        }
        for (int32_t k = 0; k < p->rule.n_per; k++) {
            text_puts(&p->out, k ? ", " : " for each ");
            html_put(&p->out, p->rule.per[k]);
        }
        text_puts(&p->out, "?");
    }
    text_puts(&p->out, "</p>\n");
}

static void put_meanings(struct webpage *p)
{
    char buf[COLUMN_NAME];
    text_puts(&p->out, "<details><summary>What the columns mean</summary><dl>\n");
    for (int32_t col = 0; col < p->t.n_cols; col++) {
        const struct shown_column *f = &p->faces[col];
        if (!f->shown || !f->made.of.help || f->per_dim)
            continue;
        text_puts(&p->out, "<dt>");
        html_put(&p->out, face_title(f, buf));
        text_puts(&p->out, "</dt><dd>");
        html_put(&p->out, f->made.of.help);
        text_puts(&p->out, "</dd>\n");
    }
    text_puts(&p->out, "</dl></details>\n");
}

static void put_inputs(struct webpage *p)
{
    text_puts(&p->out, "<section aria-labelledby=\"h-inputs\"><h2 id=\"h-inputs\">Inputs</h2>\n<dl>");
    text_puts(&p->out, "<dt>page made by</dt><dd>weft " WEFT_VERSION ", <code>");
    html_put(&p->out, p->run->recorded);
    text_puts(&p->out, "</code></dd>\n");
    for (const char *s = text_str(&p->head); *s;) {
        size_t n = strcspn(s, "\n"), key = strcspn(s, "=\n");
        struct text line = { 0 };
        text_add(&line, s, key);
        if (key < n && strncmp(s, "best=", 5) != 0 && strncmp(s, "titles=", 7) != 0 &&
            strncmp(s, "units=", 6) != 0) {
            text_puts(&p->out, "<dt>");
            html_put(&p->out, text_str(&line));
            text_puts(&p->out, "</dt><dd><code>");
            text_clear(&line);
            text_add(&line, s + key + 1, n - key - 1);
            html_put(&p->out, text_str(&line));
            text_puts(&p->out, "</code></dd>\n");
        }
        text_free(&line);
        s += n + (s[n] == '\n');
    }
    text_puts(&p->out, "</dl>\n");
    put_meanings(p);
}

/* The study's own file as it is. */
static int put_study(struct webpage *p, struct err *e)
{
    struct text file = { 0 };
    const char *path = p->run->opt.operands[0];
    int rc = 0;
    if (p->study.kind && !topo_is_spec(path)) {
        rc = text_read_file(&file, path, MOST_BYTES, e);
        text_puts(&p->out, "<details><summary>The study</summary><pre>");
        for (const char *s = text_str(&file); *s;) {
            struct text line = { 0 };
            size_t n = strcspn(s, "\n");
            text_add(&line, s, n);
            html_put(&p->out, text_str(&line));
            text_puts(&p->out, "\n");
            text_free(&line);
            s += n + (s[n] == '\n');
        }
        text_puts(&p->out, "</pre></details>\n");
    }
    text_puts(&p->out, "</section>\n");
    text_free(&file);
    return rc;
}

static const char limits[] =
    "<section aria-labelledby=\"h-limits\"><h2 id=\"h-limits\">What the model leaves out</h2>\n<ul>"
    "<li>Numbers are of a model, not measured; the table of evidence of <code>weft explain</code> says how "
    "far measured steps lie from "
    "it.</li>"
    "<li>A closed form has no congestion but what the network's own limits give; <code>weft sim</code> times "
    "chunks and flows.</li>"
    "<li>Prices are those of the parts that the study names, some of them recalled rather than quoted; "
    "<code>weft topo --bill</code> grades "
    "each.</li>"
    "<li>Failures, checkpoints, power and buildings count only where the study has "
    "<code>system</code>.</li></ul></section>\n";

static const char foot[] = "</main><footer><p class=\"dim\">This page is yours: script and style in it are "
                           "under 0BSD (no conditions), the "
                           "rest is your data. It loads nothing and sends nothing.</p></footer>\n";

static int write_page(struct webpage *p, struct err *e)
{
    put_head(p);
    put_question(p);
    put_verdict(p);
    text_puts(&p->out, "</header>\n<main id=\"main\">\n");
    int rc = p->n_results == 0 ? put_reasons(p, e) : 0;
    if (!rc)
        put_answers(p);
    if (!rc)
        rc = put_figures(p, e);
    if (!rc)
        rc = put_designs(p, e);
    if (!rc)
        put_table(p);
    if (!rc && p->n_results > 0)
        rc = put_reasons(p, e);
    if (rc)
        return rc;
    put_inputs(p);
    rc = put_study(p, e);
    if (rc)
        return rc;
    text_puts(&p->out, p->kind == study_kinds[0] ? limits : "");
    text_puts(&p->out, foot);
    rc = put_data(p, e);
    text_puts(&p->out, "<script>/*<![CDATA[*/\n");
    text_puts(&p->out, html_script);
    text_puts(&p->out, "/*]]>*/</script></body></html>\n");
    return rc ? rc : text_check(&p->out, e);
}

/* ---- the command ---- */

static void page_free(struct webpage *p)
{
    study_close(&p->study);
    overrides_free(&p->overrides);
    keep_free(p->keep);
    keep_rule_free(&p->rule);
    front_set_free(&p->fronts);
    table_free(&p->t);
    text_free(&p->head);
    text_free(&p->warns);
    text_free(&p->out);
    free(p->faces);
    free(p->ids);
    free(p->is_result);
    free(p->on_front);
    free(p->is_marked);
    free(p->groups);
}

static bool is_on_front(const void *page, const struct table *t, int64_t row)
{
    const struct webpage *p = page;
    (void)t;
    return p->on_front[row];
}

/* The fronts of the rows that are left are the same. */
static int keep_front_only(struct webpage *p, struct err *e)
{
    struct webpage all = *p;
    int rc = prepare(&all, e);
    if (!rc)
        table_keep_rows(&all.t, is_on_front, &all);
    p->t = all.t;
    all.t = (struct table){ 0 };
    p->head = all.head;
    all.head = (struct text){ 0 };
    p->warns = all.warns;
    all.warns = (struct text){ 0 };
    all.study = (struct study){ .kind = NULL };
    all.overrides = (struct overrides){ 0 };
    text_puts(&p->warns, "Only the rows on a front are on this page.\n");
    page_free(&all);
    return rc;
}

static int build(struct webpage *p, const char *path, struct err *e)
{
    struct filters filters = { 0 };
    int rc = read_rows(p, path, e);
    if (!rc)
        rc = filters_read(&filters, &p->run->opt.where, e);
    if (!rc)
        rc = filters_check(&filters, &p->t, e);
    if (!rc && filters.n > 0) {
        filters_keep(&filters, &p->t);
        text_puts(&p->warns, "Only the rows that --where asks for are on this page.\n");
    }
    filters_free(&filters);
    output_notes(p->run, &p->t.notes);
    if (!rc && p->run->opt.front_only)
        rc = keep_front_only(p, e);
    if (!rc && p->t.n_rows == 0)
        rc = err_set(e, ERR_PARSE, "%.200s: there are no rows%s", path,
                     p->run->opt.where.n ? " that --where asks for" : "");
    if (!rc) {
        rc = prepare(p, e);
        if (rc == ERR_PARSE)
            err_wrap(e, "%.200s", path);
    }
    if (!rc)
        rc = write_page(p, e);
    if (!rc && p->out.n > MOST_BYTES)
        rc = err_set(
            e, ERR_RANGE,
            "the page has %.1f MB, expected at most %d; choose rows with --where, or take --front-only",
            (double)p->out.n / 1e6, MOST_BYTES / 1000000);
    return rc;
}

static int run_report(struct run *run, struct err *e)
{
    struct webpage p = { .run = run };
    int rc = output_check_as(run, ".html .htm", false, e);
    if (!rc)
        rc = build(&p, run->opt.operands[0], e);
    if (!rc)
        rc = output_write(run, &p.out, e);
    page_free(&p);
    return rc;
}

static const struct option report_rows[] = {
    OPTION_WHERE,
    FLAG_OPTION("front-only", front_only, "only the rows on a front"),
    TEXT_OPTION("title", "TEXT", title, "instead of the study's name"),
    OPTION_THREADS("points"),
};

static const struct option_group report_options = OPTION_GROUP("Page", report_rows);

const struct command cmd_report = {
    .group = "Many designs",
    .name = "report",
    .help = "one HTML page of the rows of a sweep, to mail and print",
    .about =
        "Write one HTML file about ROWS (a CSV or a store of weft sweep; - reads a CSV from standard "
        "input):\n"
        "the answer beside its baseline, fronts whose marks lead to rows of a table that sorts and filters,\n"
        "and what made it. It loads nothing, and is readable without scripts.\n",
    .scope = SCOPE(1, 1, "ROWS|STUDY", &report_options, &options_study, &options_search, &options_files),
    .run = run_report,
};
