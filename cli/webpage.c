/*
 * What rows of a page are called, which are results, and their fronts: those of study/front.h. A row is
 * called by its point where each point has one row, else by its number: #p17 in marks, rows and links.
 *
 * What a browser can bear bounds the page: up to WEBPAGE_MARKS marks are links, above that one mark stands
 * for the front in each cell of WEBPAGE_CELL_PX, and the rows behind are one path.
 */
#include "cli/webpage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "cli/html.h"
#include "kinds/design/answer/columns.h"
#include "study/say.h"

#define TINY 1e-9 /* the accuracy of proofs: a gap below it is none */

enum { MOST_WIDE = 100 /* rows of a table with all that single dimensions have */ };

/* ---- rows and columns ---- */

bool webpage_cells_equal(const struct table *t, int64_t a, int64_t b, int32_t col)
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
        if (!webpage_cells_equal(t, 0, row, col))
            return false;
    return t->n_rows > 1;
}

/* What nothing describes is an axis, or a column of the user's own. */
static void describe(struct webpage *p, int32_t col)
{
    const struct table *t = &p->t;
    struct shown_column *f = &p->faces[col];
    const char *name = t->names[col];
    char path[SHOW_VALUE];
    double most = 0;
    if (study_describe(&f->made, p->kind, TABLE_ROWS, name)) {
        if (say_word_title(f->made.title, t, &f->made.of, name))
            f->made.of.title = f->made.title;
    } else {
        size_t n;
        const char *unit = table_unit(t, col, &n);
        snprintf(f->made.title, sizeof f->made.title, "%s", show_path(path, name, n));
        f->made.of = (struct column){ .name = name, .title = f->made.title, .unit = unit };
    }
    for (int64_t row = 0; row < t->n_rows; row++)
        if (isfinite(table_number(t, row, col)))
            most = fmax(most, fabs(table_number(t, row, col)));
    f->scale = column_scale(&f->made.of, most);
    f->key = -1;
    f->common = is_common(t, col);
    f->tiny = most > 0 && most < TINY;
    f->shown = !f->common && !f->tiny;
    const struct column *own = column_find(p->kind->tables[TABLE_ROWS].columns, name);
    f->per_dim = own && own->repeat > 1;
}

const char *webpage_title(const struct shown_column *f, char buf[COLUMN_NAME])
{
    return column_title(buf, &f->made.of, 0);
}

bool webpage_is_blank(const struct webpage *p, int64_t row, int32_t col)
{
    return p->t.kinds[col] == TABLE_TEXT ? !table_text(&p->t, row, col)
                                         : !isfinite(table_number(&p->t, row, col));
}

/* A cell as people read it; without its unit. */
void webpage_put_cell(struct text *out, const struct webpage *p, int64_t row, int32_t col)
{
    char buf[SHOW], plain[SHOW_VALUE];
    const char *s = column_shown(buf, &p->faces[col].made.of, p->t.kinds[col], *table_cell(&p->t, row, col),
                                 p->faces[col].scale);
    html_put(out, p->t.kinds[col] == TABLE_TEXT ? show_unquoted(plain, s) : s);
}

/* "0.82 s"; nothing where there is no such column. */
void webpage_put_value(struct webpage *p, int64_t row, int32_t col)
{
    if (col < 0)
        return;
    webpage_put_cell(&p->out, p, row, col);
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
    const double cells = (double)HTML_PANEL_PX / WEBPAGE_CELL_PX;
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
    p->groups = ARENA_TAKE(&p->arena, p->fronts.n, *p->groups);
    if (!rc)
        rc = arena_check(&p->arena, "fronts", e);
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
        thin_front(p, f, p->n_results > WEBPAGE_MARKS);
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

const char *webpage_row_word(const struct webpage *p)
{
    return p->by_point ? "point" : "row";
}

int32_t webpage_firsts(int64_t firsts[WEBPAGE_FIRSTS], const struct webpage *p, int32_t key, int32_t col)
{
    int32_t n = 0;
    for (int64_t row = 0; row < p->t.n_rows; row++) {
        int32_t k = 0;
        while (k < n && !webpage_cells_equal(&p->t, firsts[k], row, key))
            k++;
        if (k < n ? !webpage_cells_equal(&p->t, firsts[k], row, col) : n == WEBPAGE_FIRSTS)
            return 0;
        if (k == n)
            firsts[n++] = row;
    }
    return n;
}

/* Of a long table what each network or workload has is said once. */
static void find_followers(struct webpage *p)
{
    int32_t keys[KEEP_MAX_PER + 1], n = 0;
    int64_t firsts[WEBPAGE_FIRSTS];
    for (int32_t k = 0; k < p->rule.n_per; k++)
        keys[n++] = table_find(&p->t, p->rule.per[k]);
    keys[n++] = table_find(&p->t, DESIGN_COLUMN(network));
    for (int32_t col = 0; col < p->t.n_cols; col++) {
        const char *name = p->t.names[col];
        bool own = column_find(p->kind->tables[TABLE_ROWS].columns, name);
        for (int32_t k = 0; k < p->rule.n_front; k++)
            own = own && strcmp(p->rule.front[k].name, name) != 0;
        for (int32_t k = 0; k < n; k++)
            own = own && col != keys[k];
        for (int32_t k = 0; k < n && own && p->faces[col].shown && p->faces[col].key < 0; k++)
            if (keys[k] >= 0 && !p->faces[keys[k]].common && webpage_firsts(firsts, p, keys[k], col) > 0)
                p->faces[col].key = keys[k];
        p->faces[col].shown = p->faces[col].shown && p->faces[col].key < 0;
    }
}

/* What the front is of stands first: a narrow screen shows no more. */
static void order_columns(struct webpage *p)
{
    int32_t n = 0;
    for (int32_t k = 0; k < p->rule.n_front; k++)
        p->order[n++] = table_find(&p->t, p->rule.front[k].name);
    int32_t first = n;
    for (int32_t col = 0; col < p->t.n_cols; col++) {
        int32_t k = 0;
        while (k < first && p->order[k] != col)
            k++;
        if (k == first)
            p->order[n++] = col;
    }
}

/* Where nothing was free to split there is none, or it is the design itself. */
static bool has_equal_split(const struct webpage *p)
{
    int32_t equal = table_find(&p->t, DESIGN_COLUMN(equal_time_s)),
            time = table_find(&p->t, DESIGN_COLUMN(time_s));
    for (int64_t row = 0; row < p->t.n_rows && equal >= 0 && time >= 0; row++) {
        double a = table_number(&p->t, row, equal), b = table_number(&p->t, row, time);
        if (isfinite(a) && fabs(a - b) > TINY * b)
            return true;
    }
    return false;
}

int webpage_prepare(struct webpage *p, struct err *e)
{
    p->faces = ARENA_TAKE(&p->arena, p->t.n_cols, *p->faces);
    p->order = ARENA_TAKE(&p->arena, p->t.n_cols, *p->order);
    p->ids = ARENA_TAKE(&p->arena, p->t.n_rows, *p->ids);
    p->is_result = ARENA_TAKE(&p->arena, p->t.n_rows, *p->is_result);
    p->on_front = ARENA_TAKE(&p->arena, p->t.n_rows, *p->on_front);
    p->is_marked = ARENA_TAKE(&p->arena, p->t.n_rows, *p->is_marked);
    int rc = arena_check(&p->arena, "rows of a page", e);
    if (rc)
        return rc;
    for (int32_t col = 0; col < p->t.n_cols; col++)
        describe(p, col);
    name_rows(p);
    p->whole = p->t.n_rows <= WEBPAGE_WHOLE;
    for (int32_t col = 0; col < p->t.n_cols && p->t.n_rows > MOST_WIDE; col++) {
        struct shown_column *f = &p->faces[col];
        /* Of what each dimension has, bandwidths are the design; the figures show times. */
        bool left_out = f->per_dim && !(p->whole && strcmp(f->scale.unit, "GB/s") == 0);
        p->left_out = p->left_out || left_out;
        f->shown = f->shown && !left_out;
    }
    rc = find_fronts(p, e);
    if (!rc && p->t.n_rows > MOST_WIDE)
        find_followers(p);
    if (!rc)
        order_columns(p);
    p->has_equal = has_equal_split(p);
    return rc;
}

void webpage_free(struct webpage *p)
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
    arena_free(&p->arena);
}

/* ---- words of all parts ---- */

int64_t webpage_answer_row(const struct rivals *g)
{
    return g->knee >= 0 ? g->knee : g->first;
}

bool webpage_is_chosen(const struct webpage *p, int64_t row)
{
    for (int32_t g = 0; g < p->n_groups && g < WEBPAGE_PANELS; g++)
        if (row == p->groups[g].knee || row == p->groups[g].first || row == p->groups[g].second)
            return true;
    return false;
}

/* "GPT-3", or "GPT-3, 8" of two columns. */
void webpage_put_group(struct text *out, const struct rivals *g, void put(struct text *, const char *))
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

void webpage_put_link(struct webpage *p, int64_t row)
{
    long long id = (long long)p->ids[row];
    text_printf(&p->out, "<a href=\"#p%lld\" data-p=\"%lld\">%lld</a>", id, id, id);
}

void webpage_put_th(struct webpage *p, int32_t col, const char *attribute)
{
    char buf[COLUMN_NAME];
    const struct shown_column *f = &p->faces[col];
    bool text = p->t.kinds[col] == TABLE_TEXT;
    text_printf(&p->out, "<th scope=\"col\"%s%s>%s", text ? " class=\"t\"" : "", attribute,
                *attribute ? "<button type=\"button\">" : "");
    html_put(&p->out, webpage_title(f, buf));
    text_puts(&p->out, *attribute ? "</button>" : "");
    if (*f->scale.unit) {
        text_puts(&p->out, "<small>");
        html_put(&p->out, f->scale.unit);
        text_puts(&p->out, "</small>");
    }
    text_puts(&p->out, "</th>");
}

/* Words are to the left: where a table has few rows each cell says so, else the style of the page. */
void webpage_put_td(struct webpage *p, int64_t row, int32_t col, bool styled)
{
    bool text = p->t.kinds[col] == TABLE_TEXT;
    text_puts(&p->out, text && !styled ? "<td class=\"t\">" : "<td>");
    if (!webpage_is_blank(p, row, col))
        webpage_put_cell(&p->out, p, row, col);
    text_puts(&p->out, "</td>");
}
