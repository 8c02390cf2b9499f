#include "cli/front_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sheet.h"

enum { WIDTH = FRONT_PLOT_WIDTH, HEIGHT = FRONT_PLOT_HEIGHT, MAX_TICS = 12 };

/* ---- columns ---- */

void column_look(struct column_look *look, const char *name, double most)
{
    static const struct {
        const char *suffix, *unit;
    } units[] = { { "_GBps", "GB/s" }, { "_usd", "USD" }, { "_pct", "%" },
                  { "_GB", "GB" },     { "_MB", "MB" },   { "_s", "s" } };
    size_t n = strlen(name);
    *look = (struct column_look){ .scale = 1 };
    for (size_t i = 0; i < sizeof units / sizeof units[0] && !look->unit[0]; i++) {
        size_t n_suffix = strlen(units[i].suffix);
        if (n <= n_suffix || strcmp(name + n - n_suffix, units[i].suffix) != 0)
            continue;
        snprintf(look->unit, sizeof look->unit, "%s", units[i].unit);
        n -= n_suffix;
    }
    snprintf(look->title, sizeof look->title, "%.*s", (int)n, name);
    if (strcmp(look->unit, "s") == 0) {
        double per_s;
        snprintf(look->unit, sizeof look->unit, "%s", show_time_unit(most, &per_s));
        look->scale = 1 / per_s;
    } else if (strcmp(look->unit, "USD") == 0) {
        struct unit unit = unit_pick(unit_usd, most);
        snprintf(look->unit, sizeof look->unit, "%s", unit.name);
        look->scale = unit.scale;
    }
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
