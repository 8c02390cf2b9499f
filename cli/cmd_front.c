#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "base/stat.h"
#include "base/text.h"
#include "cli/front_job.h"
#include "cli/points.h"
#include "plots/scale.h"

/*
 * A plot of marks in plain characters, 80 columns wide, the same in every terminal.
 */

/** How a column is shown: "time [ms]". */
struct column_look {
    char title[64]; /**< without the unit's suffix */
    char unit[16];  /**< "" for none */
    double scale;   /**< a value over it is in `unit` */
};

/** By the suffix of the name (_s, _usd, _GBps..); @p most is the largest value to show. */
void column_look(struct column_look *look, const char *name, double most);

enum { FRONT_PLOT_WIDTH = 62, FRONT_PLOT_HEIGHT = 17 };

struct front_plot {
    struct column_look x_look, y_look;
    struct axis x, y;
    char cells[FRONT_PLOT_HEIGHT][FRONT_PLOT_WIDTH + 1]; /**< the top row first */
};

/** Axes for values of two columns between these limits, both among them; log where they are far apart. */
void front_plot_begin(struct front_plot *p, const char *x_name, const double x_limits[2], const char *y_name,
                      const double y_limits[2]);
/** A mark over what is there; values outside go to the rim. */
void front_plot_mark(struct front_plot *p, double x, double y, char mark);
void front_plot_write(const struct front_plot *p, struct text *out);

enum { WIDTH = FRONT_PLOT_WIDTH, HEIGHT = FRONT_PLOT_HEIGHT, MAX_TICS = 12 };

/* ---- columns ---- */

void column_look(struct column_look *look, const char *name, double most)
{
    size_t n;
    struct unit unit = unit_of_column(&n, name, most, false);
    *look = (struct column_look){ .scale = unit.scale };
    snprintf(look->title, sizeof look->title, "%.*s", (int)n, name);
    snprintf(look->unit, sizeof look->unit, "%s",
             strcmp(unit.name, "µs") == 0 ? "us" : unit.name); /* ASCII */
}

/* ---- axes ---- */

/* Of the axes of figures, which are for values above 0; others go from the least to the most. */
static struct axis fit(const double limits[2], double scale)
{
    double lo = fmax(limits[0] / scale, -1e300), hi = fmin(limits[1] / scale, 1e300); /* hi - lo is finite */
    if (lo > 0)
        return axis_fit(lo, hi);
    return (struct axis){ .lo = lo, .hi = hi > lo ? hi : lo + 1 };
}

void front_plot_begin(struct front_plot *p, const char *x_name, const double x_limits[2], const char *y_name,
                      const double y_limits[2])
{
    column_look(&p->x_look, x_name, x_limits[1]);
    column_look(&p->y_look, y_name, y_limits[1]);
    p->x = fit(x_limits, p->x_look.scale);
    p->y = fit(y_limits, p->y_look.scale);
    for (int row = 0; row < HEIGHT; row++) {
        memset(p->cells[row], ' ', WIDTH);
        p->cells[row][WIDTH] = '\0';
    }
}

/* Which of n cells along the axis, 0 the least. */
static int cell_at(const struct axis *a, double x, int n)
{
    double share = axis_share(a, x);
    int at = (int)floor(fmax(0, fmin(share, 1)) * (n - 1) + 0.5);
    return at;
}

void front_plot_mark(struct front_plot *p, double x, double y, char mark)
{
    int column = cell_at(&p->x, x / p->x_look.scale, WIDTH);
    int row = HEIGHT - 1 - cell_at(&p->y, y / p->y_look.scale, HEIGHT);
    p->cells[row][column] = mark;
}

/* The next of 1, 2, 5, 10, 20, .. after x, which is one of them. */
static double next_125(double x)
{
    double decade = pow(10, floor(log10(x) + 1e-9)), lead = floor(x / decade + 0.5);
    return decade * (lead < 2 ? 2 : lead < 5 ? 5 : 10);
}

static double first_125(double least)
{
    double x = pow(10, floor(log10(least)));
    while (x < least * (1 - 1e-9))
        x = next_125(x);
    return x;
}

static int linear_tics(double tics[MAX_TICS], const struct axis *a)
{
    double step = first_125((a->hi - a->lo) / 5);
    int64_t first = (int64_t)ceil(a->lo / step - 1e-9), last = (int64_t)floor(a->hi / step + 1e-9);
    int n = 0;
    for (int64_t k = first; n < MAX_TICS && k <= last; k++)
        tics[n++] = (double)k * step;
    return n;
}

/* 1, 2, 5 of each decade, or decades alone where there are many. */
static int log_tics(double tics[MAX_TICS], const struct axis *a)
{
    bool decades = a->hi > 100 * a->lo * (1 + 1e-9);
    int stride = (int)ceil(log10(a->hi / a->lo) / (MAX_TICS - 2)), n = 0;
    double x = decades ? pow(10, ceil(log10(a->lo) - 1e-9)) : first_125(a->lo);
    while (n < MAX_TICS && x <= a->hi * (1 + 1e-9)) {
        tics[n++] = x;
        x = decades ? x * pow(10, stride) : next_125(x);
    }
    return n;
}

static int find_tics(double tics[MAX_TICS], const struct axis *a)
{
    return a->log ? log_tics(tics, a) : linear_tics(tics, a);
}

/* ---- writing ---- */

static void put_line(struct text *out, const char *line)
{
    size_t n = strlen(line);
    while (n > 0 && line[n - 1] == ' ')
        n--;
    text_add(out, line, n);
    text_puts(out, "\n");
}

static void put_title(struct text *out, int indent, const struct column_look *look, const struct axis *a)
{
    text_printf(out, "%*s%s", indent, "", look->title);
    if (look->unit[0])
        text_printf(out, " [%s]", look->unit);
    text_puts(out, a->log ? ", log\n" : "\n");
}

static void put_x_tics(struct text *out, int indent, const double *tics, int n, const struct axis *a)
{
    char line[WIDTH + SHOW + 2], label[SHOW];
    int end = -1;
    memset(line, ' ', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    for (int i = 0; i < n; i++) {
        int length = (int)strlen(show_real(label, tics[i], 4));
        int at = cell_at(a, tics[i], WIDTH) - length / 2;
        at = at < 0 ? 0 : at > WIDTH + 4 - length ? WIDTH + 4 - length : at;
        if (at <= end)
            continue;
        memcpy(line + at, label, (size_t)length);
        end = at + length;
    }
    text_printf(out, "%*s", indent + 1, "");
    put_line(out, line);
}

static void put_rule(struct text *out, int indent, const double *tics, int n, const struct axis *a)
{
    char line[WIDTH + 1];
    memset(line, '-', WIDTH);
    line[WIDTH] = '\0';
    for (int i = 0; i < n; i++)
        line[cell_at(a, tics[i], WIDTH)] = '+';
    text_printf(out, "%*s+%s\n", indent, "", line);
}

void front_plot_write(const struct front_plot *p, struct text *out)
{
    double x_tics[MAX_TICS], y_tics[MAX_TICS];
    int n_x = find_tics(x_tics, &p->x), n_y = find_tics(y_tics, &p->y), indent = 0;
    char labels[HEIGHT][SHOW] = { { 0 } };
    for (int i = 0; i < n_y; i++) {
        char *label = labels[HEIGHT - 1 - cell_at(&p->y, y_tics[i], HEIGHT)];
        show_real(label, y_tics[i], 4);
        indent = (int)strlen(label) > indent ? (int)strlen(label) : indent;
    }
    indent++;
    put_title(out, 0, &p->y_look, &p->y);
    for (int row = 0; row < HEIGHT; row++) {
        text_printf(out, "%*s %c", indent - 1, labels[row], labels[row][0] ? '+' : '|');
        put_line(out, p->cells[row]);
    }
    put_rule(out, indent, x_tics, n_x, &p->x);
    put_x_tics(out, indent, x_tics, n_x, &p->x);
    put_title(out, indent + WIDTH / 2 - 8, &p->x_look, &p->x);
}

/*
 * weft front: the Pareto front of rows, its knee, what limits cost, how far a design is from it. What it says
 * to people is a plot and a table for each group, then sentences; data are rows (front_table).
 */

/* A value of column k of the front for people, of x with its sign as the front has it. */
static void put_value(struct text *out, const struct keep_column *c, double x)
{
    struct column_look look;
    char value[SHOW];
    x = c->large ? -x : x;
    column_look(&look, c->name, x);
    text_printf(out, "%s%s%s", show_real(value, x / look.scale, 5), look.unit[0] ? " " : "", look.unit);
}

/* "12 % less" of what is small, "12 % more" of what is large: how b is better than a. */
static void put_better(struct text *out, const struct keep_column *c, double a, double b)
{
    char value[SHOW];
    text_printf(out, "%s %% %s", show_real(value, 100 * fabs(a - b) / fabs(a), 3),
                c->large ? "more" : "less");
}

static double least_of(const struct front *f, int32_t col)
{
    double least = HUGE_VAL;
    for (int64_t i = 0; i < f->n_sorted; i++)
        least = fmin(least, f->x[i * f->n_cols + col]);
    return least;
}

/* By what factor a is worse than b; infinite where none makes one the other. */
static double factor(double a, double b)
{
    if (a == b)
        return 1;
    return a > 0 && b > 0 ? a / b : a < 0 && b < 0 ? b / a : HUGE_VAL;
}

static int compare_factors(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

static void put_least(struct text *out, const struct keep_column *c, double with, double without)
{
    char value[SHOW];
    text_printf(out, "  %s %s: ", c->large ? "most" : "least", c->name);
    put_value(out, c, with);
    if (with == without) {
        text_puts(out, ", as without\n");
        return;
    }
    text_puts(out, ", without ");
    put_value(out, c, without);
    if (isfinite(factor(with, without)))
        text_printf(out, " (%s times)", show_real(value, factor(with, without), 5));
    text_puts(out, "\n");
}

/* The columns beside column k. */
static const char *others(const struct keep_rule *rule, int32_t k)
{
    return rule->n_front == 2 ? rule->front[1 - k].name : "other columns";
}

/* What is paid in a column at the same values of the others. */
static int put_factors(struct text *out, const struct front_side *side, int32_t col,
                       const struct front *within, const struct front *all, struct err *e)
{
    const struct keep_rule *rule = &side->rule;
    const struct keep_column *c = &rule->front[col];
    char name[FRONT_NAME], worst[SHOW], middle[SHOW];
    double *factors = malloc((size_t)within->n_sorted * sizeof *factors), most = 0;
    int64_t at = 0;
    if (!factors)
        return err_nomem(e, "the front");
    for (int64_t i = 0; i < within->n_sorted; i++) {
        const double *x = within->x + i * within->n_cols;
        factors[i] = factor(x[col], front_least(all, x, col));
        if (factors[i] > most)
            at = i;
        most = fmax(most, factors[i]);
    }
    qsort(factors, (size_t)within->n_sorted, sizeof *factors, compare_factors);
    text_printf(out, "  %s at the same %s: ", c->name, others(rule, col));
    if (!isfinite(most))
        text_puts(out, "no factor says it, a value is 0\n");
    else if (most > 1)
        text_printf(out, "%s times as %s at worst (point %s), %s in the median\n", show_real(worst, most, 5),
                    c->large ? "little" : "much", front_name(name, side, within->id[at]),
                    show_real(middle, stat_quantile(factors, within->n_sorted, 0.5), 5));
    else
        text_printf(out, "no %s\n", c->large ? "less" : "more");
    free(factors);
    return 0;
}

/* Append what the limits cost in group @p g: least values, and over the front the worst and the middle of
 * what is paid in each column at the same values of the others. 0 or ERR_NOMEM. */
static int front_text_limits(const struct front_job *j, const char *group, struct text *out, struct err *e)
{
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    const struct front *all = front_of(keep_fronts(j->sides[FRONT_ALL].keep), group);
    const struct front *within = front_of(keep_fronts(j->sides[FRONT_WITHIN].keep), group);
    int rc = 0;
    if (!within) {
        text_puts(out, "\nNo design is within the limits.\n");
        return 0;
    }
    text_puts(out, "\nWhat the limits cost, among designs that were chosen without them:\n");
    for (int32_t k = 0; k < rule->n_front; k++)
        put_least(out, &rule->front[k], least_of(within, k), least_of(all, k));
    for (int32_t k = 0; k < rule->n_front && !rc; k++)
        rc = put_factors(out, &j->sides[FRONT_WITHIN], k, within, all, e);
    return rc;
}

/* Append how far the design is from a front. @p within: ", within the limits" or "". */
static void front_text_distance(const struct front_job *j, const struct front *f, const char *within,
                                struct text *out)
{
    const struct front_design *d = &j->design;
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    double distance = front_distance(f, d->x);
    char value[SHOW];
    if (!front_dominates(f, d->x)) {
        text_printf(out, "  on the front%s, or beyond it\n", within);
        return;
    }
    if (isfinite(distance))
        text_printf(out,
                    "  %s times behind the front%s: one design there is better by that in every column\n",
                    show_real(value, 1 + distance, 5), within);
    for (int32_t k = 0; k < rule->n_front; k++) {
        double least = front_least(f, d->x, k);
        if (!isfinite(least) || !(least < d->x[k]))
            continue;
        text_printf(out, "  %s%s at the same %s: ", rule->front[k].name, within, others(rule, k));
        put_value(out, &rule->front[k], least);
        text_puts(out, ", ");
        put_better(out, &rule->front[k], d->x[k], least);
        text_puts(out, "\n");
    }
}

enum { MOST_ROWS = 30 /* of a table; all are in the CSV */ };

/* ---- plot ---- */

/* Values that were given are held against every group. */
static bool has_design(const struct front_job *j, const char *group)
{
    return j->design.asked && (j->design.point < 0 || strcmp(text_str(&j->design.group), group) == 0);
}

/* Least and most of column k of all there is to draw, with the sign that people see. */
static void find_limits(double limits[2], const struct front_job *j, const char *group, int32_t k)
{
    bool large = j->sides[FRONT_ALL].rule.front[k].large;
    double lo = HUGE_VAL, hi = -HUGE_VAL;
    for (int32_t s = 0; s < j->n_sides; s++) {
        const struct front *f = front_of(keep_fronts(j->sides[s].keep), group);
        for (int64_t i = 0; f && i < f->n_sorted; i++) {
            lo = fmin(lo, f->x[i * f->n_cols + k]);
            hi = fmax(hi, f->x[i * f->n_cols + k]);
        }
    }
    if (has_design(j, group)) {
        lo = fmin(lo, j->design.x[k]);
        hi = fmax(hi, j->design.x[k]);
    }
    limits[0] = large ? -hi : lo;
    limits[1] = large ? -lo : hi;
}

static void mark(struct front_plot *p, const struct front_job *j, const double *x, char c)
{
    const struct keep_column *columns = j->sides[FRONT_ALL].rule.front;
    front_plot_mark(p, columns[1].large ? -x[1] : x[1], columns[0].large ? -x[0] : x[0], c);
}

static void mark_side(struct front_plot *p, const struct front_job *j, const char *group, int32_t side,
                      char c, bool knee)
{
    const struct front *f = front_of(keep_fronts(j->sides[side].keep), group);
    int64_t at = f && knee ? front_knee(f) : -1;
    for (int64_t i = 0; f && !knee && i < f->n_sorted; i++)
        mark(p, j, f->x + i * f->n_cols, c);
    if (at >= 0)
        mark(p, j, f->x + at * f->n_cols, c);
}

static void put_plot(const struct front_job *j, const char *group, struct text *out)
{
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    double limits[2][2];
    struct front_plot p;
    for (int32_t k = 0; k < 2; k++)
        find_limits(limits[k], j, group, k);
    if (limits[0][0] == limits[0][1] && limits[1][0] == limits[1][1])
        return;
    front_plot_begin(&p, rule->front[1].name, limits[1], rule->front[0].name, limits[0]);
    for (int32_t s = 0; s < j->n_sides; s++)
        mark_side(&p, j, group, s, s == FRONT_ALL ? '*' : 'o', false);
    for (int32_t s = 0; s < j->n_sides; s++)
        mark_side(&p, j, group, s, s == FRONT_ALL ? 'K' : 'k', true);
    if (has_design(j, group))
        mark(&p, j, j->design.x, 'X');
    text_puts(out, "\n");
    front_plot_write(&p, out);
    for (int32_t s = 0; s < j->n_sides; s++) {
        const struct front *f = front_of(keep_fronts(j->sides[s].keep), group);
        text_puts(out, s == FRONT_ALL ? "* front" : "; o within the limits");
        if (f && front_knee(f) >= 0)
            text_puts(out, s == FRONT_ALL ? ", K its knee" : ", k its knee");
    }
    text_puts(out, has_design(j, group) ? "; X the design\n" : "\n");
}

/* ---- table ---- */

struct layout {
    int32_t columns[SHEET_MAX_COLUMNS];
    struct column_look looks[SHEET_MAX_COLUMNS];
    int32_t n;
};

static bool differs(const struct front_side *s, const struct front *f, int32_t col)
{
    struct text first = { 0 }, other = { 0 };
    bool found = false;
    table_cell_text(&first, &s->rows, front_row(s, f->id[0]), col);
    for (int64_t i = 1; i < f->n_sorted && !found; i++) {
        text_clear(&other);
        table_cell_text(&other, &s->rows, front_row(s, f->id[i]), col);
        found = strcmp(text_str(&first), text_str(&other)) != 0;
    }
    text_free(&first);
    text_free(&other);
    return found;
}

static double most_of(const struct front_side *s, const struct front *f, int32_t col)
{
    double most = 0;
    for (int64_t i = 0; i < f->n_sorted; i++)
        most = fmax(most, keep_number(&s->rows, front_row(s, f->id[i]), col));
    return most;
}

static void add(struct layout *l, struct sheet *sheet, const struct front_side *s, const struct front *f,
                int32_t col)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->columns[i] == col)
            return;
    if (col < 0 || l->n + 1 >= SHEET_MAX_COLUMNS)
        return;
    struct column_look *look = &l->looks[l->n];
    bool words = s->rows.kinds[col] == TABLE_TEXT;
    if (words)
        *look = (struct column_look){ .scale = 1 };
    else
        column_look(look, s->rows.names[col], most_of(s, f, col));
    if (words)
        snprintf(look->title, sizeof look->title, "%s", points_axis_title(s->rows.names[col]));
    sheet_column(sheet, look->title, look->unit, words ? SHEET_LEFT : SHEET_POINT);
    l->columns[l->n++] = col;
}

/* Of what is not among the columns of the front: what tells its designs apart. */
static void choose_columns(struct layout *l, struct sheet *sheet, const struct front_side *s,
                           const struct front *f)
{
    static const char *const others[] = { "network", "objective", "total_GBps", "nic_GBps" };
    const struct table *t = &s->rows;
    const struct column *own = s->rule.kind->tables[TABLE_ROWS].columns;
    char name[24];
    add(l, sheet, s, f, table_find(t, "point"));
    for (int32_t i = s->point_col + 1; i < t->n_cols && !column_find(own, t->names[i]); i++)
        if (differs(s, f, i))
            add(l, sheet, s, f, i);
    if (s->label_col >= 0)
        add(l, sheet, s, f, s->label_col);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        int32_t col = table_find(t, others[i]);
        if (col >= 0 && differs(s, f, col))
            add(l, sheet, s, f, col);
    }
    for (int d = 1; d <= 8; d++) {
        snprintf(name, sizeof name, "bw%d_GBps", d);
        add(l, sheet, s, f, table_find(t, name));
    }
    for (int32_t k = 0; k < s->rule.n_front; k++)
        add(l, sheet, s, f, table_find(t, s->rule.front[k].name));
    sheet_column(sheet, "", "", SHEET_LEFT);
}

static void put_cells(struct sheet *sheet, const struct layout *l, const struct front_side *s, int64_t row,
                      bool knee)
{
    struct text cell = { 0 };
    for (int32_t i = 0; i < l->n; i++) {
        int32_t col = l->columns[i];
        text_clear(&cell);
        table_cell_text(&cell, &s->rows, row, col);
        if (s->rows.kinds[col] == TABLE_TEXT)
            sheet_put(sheet, "%s", text_str(&cell));
        else if (col == s->point_col)
            sheet_count(sheet, table_count(&s->rows, row, col));
        else
            sheet_real(sheet, table_number(&s->rows, row, col) / l->looks[i].scale, 5);
    }
    sheet_put(sheet, "%s", knee ? "knee" : "");
    text_free(&cell);
}

/* All of a short front; of a long one some at equal steps, the ends and the knee among them. */
static bool is_shown(const struct front *f, int64_t i, int64_t knee)
{
    if (f->n_sorted <= MOST_ROWS || i == knee)
        return true;
    int64_t slot = i * (MOST_ROWS - 1) / (f->n_sorted - 1);
    return i == 0 || slot != (i - 1) * (MOST_ROWS - 1) / (f->n_sorted - 1);
}

/* Do the limits leave the front as it is? */
static bool is_same(const struct front_job *j, const char *group)
{
    const struct front *all = front_of(keep_fronts(j->sides[FRONT_ALL].keep), group);
    const struct front *within = front_of(keep_fronts(j->sides[FRONT_WITHIN].keep), group);
    return within && within->n_sorted == all->n_sorted &&
           memcmp(within->id, all->id, (size_t)all->n_sorted * sizeof *all->id) == 0;
}

static void put_limits(const struct front_side *s, struct text *out)
{
    for (int32_t i = 0; i < s->rule.n_where; i++)
        text_printf(out, "%s%s", i ? ", " : "", s->rule.where[i]);
}

static int put_side(const struct front_job *j, int32_t side, const char *group, struct text *out,
                    struct err *e)
{
    const struct front_side *s = &j->sides[side];
    const struct front *f = front_of(keep_fronts(s->keep), group);
    struct sheet sheet = { 0 };
    struct layout l = { .n = 0 };
    int64_t knee = f ? front_knee(f) : -1, n_shown = 0;
    if (!f)
        return 0;
    text_puts(out, "\n");
    if (side == FRONT_WITHIN) {
        text_puts(out, "Within ");
        put_limits(s, out);
        text_puts(out, ":\n");
    }
    choose_columns(&l, &sheet, s, f);
    for (int64_t i = 0; i < f->n_sorted; i++)
        if (is_shown(f, i, knee)) {
            put_cells(&sheet, &l, s, front_row(s, f->id[i]), i == knee);
            n_shown++;
        }
    int rc = sheet_write(&sheet, out, e);
    sheet_free(&sheet);
    if (n_shown < f->n_sorted)
        text_printf(out, "%lld of %lld designs on the front; --of csv has all\n", (long long)n_shown,
                    (long long)f->n_sorted);
    return rc;
}

/* ---- a group ---- */

static void put_group(const struct keep_rule *rule, const char *group, struct text *out)
{
    for (int32_t i = 0; i < rule->n_per; i++) {
        size_t n = strcspn(group, "\n");
        if (n > 0)
            text_printf(out, "%s: %.*s\n", rule->per[i], (int)n, group);
        group += n + (group[n] == '\n');
    }
}

static void put_summary(const struct front_job *j, const char *group, struct text *out)
{
    char name[FRONT_NAME];
    const struct keep_rule *rule = &j->sides[FRONT_ALL].rule;
    for (int32_t s = 0; s < j->n_sides; s++) {
        const struct front *f = front_of(keep_fronts(j->sides[s].keep), group);
        int64_t n = f ? f->n_sorted : 0, knee = f ? front_knee(f) : -1;
        text_puts(out, s == FRONT_ALL ? "front of " : "within the limits: ");
        for (int32_t k = 0; k < rule->n_front && s == FRONT_ALL; k++)
            text_printf(out, "%s%s%s", k ? ", " : "", rule->front[k].large ? "largest " : "",
                        rule->front[k].name);
        text_printf(out, "%s%lld design%s", s == FRONT_ALL ? ": " : "", (long long)n, n == 1 ? "" : "s");
        if (knee >= 0)
            text_printf(out, ", knee at point %s", front_name(name, &j->sides[s], f->id[knee]));
        text_puts(out, "\n");
    }
}

static void put_design(const struct front_job *j, const char *group, struct text *out)
{
    if (j->design.point >= 0)
        text_printf(out, "\nPoint %lld%s%s is\n", (long long)j->design.point, j->design.label ? ":" : "",
                    j->design.label ? j->design.label : "");
    else
        text_puts(out, "\nThe design is\n");
    for (int32_t s = 0; s < j->n_sides; s++) {
        const struct front *f = front_of(keep_fronts(j->sides[s].keep), group);
        if (f && (s == FRONT_ALL || !is_same(j, group)))
            front_text_distance(j, f, s == FRONT_ALL ? "" : " within the limits", out);
    }
}

static int put_within(const struct front_job *j, const char *group, struct text *out, struct err *e)
{
    if (is_same(j, group)) {
        text_puts(out, "\nAll of the front is within ");
        put_limits(&j->sides[FRONT_WITHIN], out);
        text_puts(out, ": it costs nothing.\n");
        return 0;
    }
    int rc = put_side(j, FRONT_WITHIN, group, out, e);
    return rc ? rc : front_text_limits(j, group, out, e);
}

static int front_text(const struct front_job *j, struct text *out, struct err *e)
{
    const struct front_set *set = keep_fronts(j->sides[FRONT_ALL].keep);
    int rc = 0;
    for (int32_t g = 0; g < set->n && !rc; g++) {
        const char *group = set->groups[g];
        text_puts(out, g ? "\n\n" : "");
        put_group(&j->sides[FRONT_ALL].rule, group, out);
        put_summary(j, group, out);
        put_plot(j, group, out);
        rc = put_side(j, FRONT_ALL, group, out, e);
        if (!rc && j->n_sides > 1)
            rc = put_within(j, group, out, e);
        if (!rc && has_design(j, group))
            put_design(j, group, out);
    }
    return rc ? rc : text_check(out, e);
}

static const struct option front_rows[] = {
    { .name = "by",
      .value = "COLUMNS",
      .help = "2 to 5 with commas; less is better, or more: max:speedup; without it time_s,cost_usd",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_by) },
    { .name = "per",
      .value = "COLUMNS",
      .help = "a front for each of their values; without it workload; '' for one front",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_per) },
    OPTION_WHERE,
    { .name = "limit",
      .value = "TEXT",
      .help = "what does it cost? as in \"nic_GBps <= 50\", over columns; may be repeated",
      .kind = OPTION_LIST,
      .offset = offsetof(struct options, limits) },
    { .name = "design",
      .value = "POINT",
      .help = "how far is this point from the front?",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_design) },
    { .name = "at",
      .value = "VALUES",
      .help = "the same of values, as in time_s=1.2,cost_usd=3e6",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, front_at) },
    { .name = "behind",
      .value = "N",
      .help = "in CSV and JSON also designs behind the front, evenly through the table, at most so many",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct options, front_behind),
      .min = 1,
      .max = 1000000 },
};

static const struct option_group front_options = { "Front", front_rows,
                                                   sizeof front_rows / sizeof *front_rows };

static int write_front(const struct run *run, const struct front_job *j, struct err *e)
{
    struct table t = { 0 };
    struct text out = { 0 };
    int rc;
    if (output_format(run) != TABLE_AS_TEXT) {
        rc = front_table(&t, j, e);
        if (!rc)
            rc = output_table(run, &t, j->source.from, e);
    } else {
        rc = front_text(j, &out, e);
        if (!rc)
            rc = output_write(run, &out, e);
    }
    table_free(&t);
    text_free(&out);
    return rc;
}

static int run_front(struct run *run, struct err *e)
{
    struct front_job j = { 0 };
    int rc = output_check(run, NULL, e);
    if (!rc)
        rc = front_job_run(&j, run, e);
    if (!rc)
        rc = write_front(run, &j, e);
    front_job_free(&j);
    return rc;
}

const struct command cmd_front = {
    .group = "Many designs",
    .name = "front",
    .help = "the designs of a sweep that no other beats, and what a limit costs",
    .about = "Find the Pareto front of the rows that weft sweep wrote (a CSV or a store; - reads a CSV from\n"
             "standard input), mark its knee, and tell what a limit costs or how far a design is from it.\n",
    .scope = SCOPE(1, 1, "ROWS", &front_options, &options_format, &options_files),
    .run = run_front,
};
