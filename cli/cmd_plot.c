/*
 * weft plot: one figure of a table, which is a CSV or the rows of a store. A store's rows are made what the
 * CSV of them would read as (texts that are numbers become numbers), so that a figure of either is the same.
 * What a figure needs of its table is for plots/ to say; here options meet figures.
 *
 * In order: options are checked against the figure and the output's name, then the table is read, limited,
 * drawn, and the image is written last and whole. A message of ERR_PARSE is about
 * the table, so it gets the table's name and line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "study/study.h"
#include "cli/filters.h"
#include "cli/output.h"
#include "study/keep.h"
#include "study/store.h"
#include "base/linexpr.h"
#include "plots/figure.h"
#include "plots/gnuplot.h"
#include "plots/xy.h"

static const struct option plot_rows[] = {
    FLAG_OPTION("list", list, "list the figures, or with xy TABLE the columns of the table"),
    OPTION_WHERE,
    OPTION_PARTIAL,
    TEXT_OPTION("title", "TEXT", title, "instead of the figure's own"),
    COUNT_OPTION("width", "PX", width_px, 240, 10000, "96 to the inch"),
    COUNT_OPTION("height", "PX", height_px, 240, 10000, "96 to the inch"),
};

static const struct option image_rows[] = {
    WORD_OPTION("of", "FORMAT", image_format, plot_format_names,
                "svg, pdf, png, or gp, the script for gnuplot (default: by the extension of -o, else svg)"),
};

static const char *const log_words[] = { "x", "y", "xy", NULL };

static const struct option xy_rows[] = {
    TEXT_OPTION("x", "COLUMN", xy.x, "numbers, or words as categories"),
    LIST_OPTION("y", "COLUMN", xy_y, "column of numbers; given twice: a row of panels for each"),
    TEXT_OPTION("color", "COLUMN", xy.color, "series by colour; many numbers as shades; '' for none"),
    TEXT_OPTION("shape", "COLUMN", xy.shape, "series by shape"),
    TEXT_OPTION("facet", "COLUMN", xy.facet, "a panel for each value; '' for none"),
    TEXT_OPTION("facet-rows", "COLUMN", xy.facet_rows, "a row of panels for each value, all of one scale"),
    FLAG_OPTION("shared", xy.shared, "one scale for all panels"),
    WORD_OPTION("log", "x|y|xy", xy_log, log_words,
                "logarithmic axes; default: where values are 30 times apart"),
    FLAG_OPTION("linear", xy_linear, "linear axes"),
    TEXT_OPTION("range-x", "LO:HI", xy.range[0], "ends of the x axis; one may be blank"),
    TEXT_OPTION("range-y", "LO:HI", xy.range[1], "ends of the y axis"),
    TEXT_OPTION("x-label", "TEXT", xy.axis_label[0],
                "title of the x axis, instead of title and unit of the column"),
    TEXT_OPTION("y-label", "TEXT", xy.axis_label[1], "title of the y axis"),
    FLAG_OPTION("join", xy.join, "lines by x; of equal x the best y"),
    FLAG_OPTION("bars", xy.bars, "bars over words on x"),
    TEXT_OPTION(
        "front", "BEST", xy.front,
        "staircase of the best in both: min or max of x and y as in min,max, of a second --y as well; or no"),
    TEXT_OPTION("label", "WHICH", xy.label,
                "points with a text: knee, front, top, or a column: rows that fill it"),
    TEXT_OPTION("text", "COLUMNS", xy.text,
                "what texts show, with commas between; default: what tells points apart"),
    COUNT_OPTION("top", "N", xy.top, 1, 1000000, "only the best N rows of each panel"),
    TEXT_OPTION("by", "COLUMN", xy.by, "column by which rows are best; default: y"),
    LIST_OPTION("best", "BEST", xy_best,
                "max:COLUMN or min:COLUMN: what is better in it, where the table does not say"),
    FLAG_OPTION("behind", xy.behind, "the other rows stay as a grey cloud"),
    LIST_OPTION("limit", "LIMIT", limits, "only rows within it, as in \"nic_GBps <= 50\"; may be repeated"),
};

static const struct option_group plot_options = OPTION_GROUP("Figure", plot_rows);
static const struct option_group xy_options = OPTION_GROUP("Of xy alone", xy_rows);
static const struct option_group image_options = { "Output", image_rows, 1 };

static int put_figures(struct text *out, struct err *e)
{
    for (int32_t i = 0; i < plot_n_figures; i++)
        text_printf(out, "%-14s %s%s%s\n", plot_figures[i].name, plot_figures[i].help,
                    plot_figures[i].source ? ", from " : "",
                    plot_figures[i].source ? plot_figures[i].source : "");
    text_printf(out, "%-14s %s\n", "xy", "Any columns of any table: --x COLUMN --y COLUMN");
    return text_check(out, e);
}

static int list_figures(const struct run *run, struct err *e)
{
    struct text out = { 0 };
    int rc = put_figures(&out, e);
    rc = rc ? rc : output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* --of, else the extension, else SVG. */
static enum plot_format image_format(const struct run *run)
{
    if (run->opt.image_format >= 0)
        return (enum plot_format)run->opt.image_format;
    const char *dot = run->opt.out ? strrchr(run->opt.out, '.') : NULL;
    for (int32_t i = 0; dot && plot_format_names[i]; i++)
        if (strcasecmp(dot + 1, plot_format_names[i]) == 0)
            return (enum plot_format)i;
    return PLOT_SVG;
}

/* An extension that names no format would hide what the file holds. */
static int check_extension(const struct run *run, struct err *e)
{
    const char *out = run->opt.out;
    /* A device has no extension to go by, and nobody looks there for what the file is. */
    if (!out || run->opt.image_format >= 0 || outfile_is_stdout(out) || strncmp(out, "/dev/", 5) == 0)
        return 0;
    const char *dot = strrchr(out, '.');
    for (int32_t i = 0; dot && plot_format_names[i]; i++)
        if (strcasecmp(dot + 1, plot_format_names[i]) == 0)
            return 0;
    return err_set(
        e, ERR_USAGE,
        "option --output is \"%.200s\", expected a name ending in .svg, .pdf, .png or .gp, or --of", out);
}

/* The rows of a store as a CSV of them would be read. A sweep may be adding rows: what is read is of one
 * instant. The store is trimmed to what its study still has, as an export is. */
static int read_store(struct table *t, struct run *run, struct err *e)
{
    struct store *s;
    *t = (struct table){ 0 };
    int rc = output_read_stores(&s, run, 1, e);
    if (rc)
        return rc;
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    const struct study_kind *kind;
    rc = study_kind_of_store(&kind, s, e);
    if (!rc)
        rc = study_trim_store(s, kind, false, e);
    if (!rc)
        rc = store_next(s, &walk, INT64_MAX, t, e);
    if (!rc)
        rc = table_find_numbers(t, e);
    if (!rc)
        output_warn_incomplete(run, s, 1);
    store_close(s);
    if (rc)
        table_free(t);
    return rc;
}

/* A store is told by its first bytes, not by its name. */
static int plot_read_rows(struct table *t, struct run *run, struct err *e)
{
    const char *path = run->opt.operands[1];
    if (strcmp(path, "-") == 0)
        return table_read_csv(t, "/dev/stdin", e);
    bool stores;
    int rc = output_names_stores(&stores, run, 1, e);
    return rc ? rc : stores ? read_store(t, run, e) : table_read_csv(t, path, e);
}

/* NaN compares false: a row without the number is beyond the limit. */
static bool is_within(const void *limit, const struct table *t, int64_t row)
{
    const struct linexpr *expr = limit;
    double sum = 0, size = 0;
    for (int32_t k = 0; k < t->n_cols; k++) {
        /* Zero times NaN would be NaN: columns that the limit does not name must not count. */
        double x = expr->coef[k] != 0 ? expr->coef[k] * table_number(t, row, k) : 0;
        sum += x;
        size += fabs(x);
    }
    return linexpr_holds(expr->sense, expr->rhs, sum, size);
}

/* Rows that are beyond a limit, or lack a number that it is about, go. Names in the limit are the table's
 * columns; a limit is linear in them (base/linexpr.h). */
static int keep_within(struct table *t, const char *limit, struct err *e)
{
    struct err inner = { 0 };
    struct linexpr expr = { .coef = calloc((size_t)t->n_cols + 1, sizeof *expr.coef) };
    if (!expr.coef)
        return err_nomem(e, "limits");
    int rc = linexpr_parse(&expr, limit, (const char *const *)t->names, t->n_cols, &inner);
    if (rc)
        rc = err_set(e, ERR_USAGE, "option --limit is \"%.100s\": %s", limit, inner.msg);
    if (!rc)
        table_keep_rows(t, is_within, &expr);
    free(expr.coef);
    return rc;
}

static int take_best(struct table *t, const struct option_list *best, struct err *e)
{
    for (int32_t i = 0; i < best->n; i++) {
        const char *name;
        int better = keep_direction(best->items[i], &name);
        int32_t col = table_find(t, name);
        if (!better || col < 0)
            return err_set(e, ERR_USAGE,
                           "option --best is \"%.100s\", expected max: or min: and a column of the table",
                           best->items[i]);
        table_better(t, col, better);
    }
    return 0;
}

static int draw_xy(const struct run *run, struct table *t, const struct plot_options *plot,
                   struct text *image, struct err *e)
{
    const struct options *o = &run->opt;
    struct plot_xy xy = o->xy;
    int rc = o->xy_y.n > 2
                 ? err_set(e, ERR_USAGE, "option --y is given %d times, expected at most 2", (int)o->xy_y.n)
                 : 0;
    if (!rc && o->xy_log >= 0 && o->xy_linear)
        rc = err_set(e, ERR_USAGE, "options --log and --linear exclude each other");
    for (int k = 0; k < 2; k++) {
        xy.y[k] = k < o->xy_y.n ? o->xy_y.items[k] : NULL;
        xy.scale[k] = o->xy_linear                       ? PLOT_XY_LINEAR
                      : o->xy_log == 2 || o->xy_log == k ? PLOT_XY_LOG
                                                         : PLOT_XY_FIT;
    }
    if (!rc)
        rc = take_best(t, &o->xy_best, e);
    for (int32_t i = 0; i < o->limits.n && !rc; i++)
        rc = keep_within(t, o->limits.items[i], e);
    /* After the limits: the list is of the rows that would be drawn. */
    if (!rc && o->list)
        return plot_xy_list(t, image, e);
    return rc ? rc : plot_xy_draw(&xy, t, plot, image, e);
}

static int say_gnuplot(const struct run *run, struct err *e)
{
    struct text path = { 0 };
    int rc = gnuplot_find(&path, e);
    if (!rc)
        output_verbose(run, "drawn by %s", text_str(&path));
    text_free(&path);
    return rc;
}

static int draw(struct run *run, const struct filters *filters, struct err *e)
{
    const struct options *opt = &run->opt;
    struct plot_options plot = {
        .format = image_format(run),
        .title = opt->title,
        .where = filters->where,
        .n_where = filters->n,
        .width_px = (int32_t)opt->width_px,
        .height_px = (int32_t)opt->height_px,
    };
    struct table t = { 0 };
    struct text image = { 0 }, said = { 0 };
    plot.said = &said;
    int rc = plot_read_rows(&t, run, e);
    output_notes(run, &t.notes);
    if (!rc) {
        rc = strcmp(opt->operands[0], "xy") == 0 ? draw_xy(run, &t, &plot, &image, e)
                                                 : plot_draw(opt->operands[0], &t, &plot, &image, e);
        if (rc == ERR_PARSE)
            err_wrap(e, "%s:1:1", opt->operands[1]);
    }
    if (!rc)
        rc = text_check(&said, e);
    if (!rc && run->opt.verbose && (plot.format == PLOT_PDF || plot.format == PLOT_PNG))
        rc = say_gnuplot(run, e);
    if (!rc)
        rc = output_write(run, &image, e);
    if (!rc)
        output_notes(run, &said);
    text_free(&said);
    text_free(&image);
    table_free(&t);
    return rc;
}

/* Options of xy have no meaning for the others. */
static int check_xy(const struct run *run, struct err *e)
{
    const char *figure = run->opt.operands[0];
    const struct option *given = options_given(&run->opt, &xy_options, 0);
    return given && strcmp(figure, "xy") != 0
               ? err_set(e, ERR_USAGE, "option --%s is of weft plot xy alone, not of figure %s", given->name,
                         figure)
               : 0;
}

static int run_plot(struct run *run, struct err *e)
{
    if (run->opt.list && !(run->opt.n_operands == 2 && strcmp(run->opt.operands[0], "xy") == 0))
        return list_figures(run, e);
    if (run->opt.n_operands < 2)
        return err_set(e, ERR_USAGE,
                       "%s, expected FIGURE and DATA, a CSV or a store (weft plot --list names the figures)",
                       run->opt.n_operands ? "second argument is missing" : "arguments are missing");
    int rc = check_xy(run, e);
    if (!rc)
        rc = check_extension(run, e);
    if (!rc)
        rc = output_check_as(run, NULL, true, e); /* check_extension() has seen it */
    if (rc)
        return rc;
    struct filters filters;
    rc = filters_read(&filters, &run->opt.where, e);
    if (!rc)
        rc = draw(run, &filters, e);
    filters_free(&filters);
    return rc;
}

const struct command cmd_plot = {
    .group = "Many designs",
    .name = "plot",
    .help = "a figure from the table of a sweep, a timeline or a calibration",
    .about =
        "Draw FIGURE (weft plot --list names them) from the CSV that weft sweep or weft alloc --of csv\n"
        "wrote, or the command that the list names with it; - reads it from standard input. The rows of\n"
        "a store (weft sweep --store), of the stores of all shards, or of a folder of them, are drawn as "
        "their\n"
        "CSV is.\n"
        "\n"
        "weft plot xy TABLE --x COLUMN --y COLUMN draws any columns of any table, as points with the front "
        "of\n"
        "the best, as lines (--join) or as bars (--bars).\n",
    .scope = SCOPE(0, OPTIONS_MAX_OPERANDS, "FIGURE DATA...", &plot_options, &xy_options, &image_options,
                   &options_files),
    .run = run_plot,
    .list = put_figures,
};
