#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "study/study.h"
#include "cli/filters.h"
#include "cli/output.h"
#include "study/store.h"
#include "plots/figure.h"

static const struct option plot_rows[] = {
    { .name = "list",
      .help = "list the figures",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, list) },
    OPTION_WHERE,
    { .name = "title",
      .value = "TEXT",
      .help = "instead of the figure's own",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, title) },
    { .name = "width",
      .value = "PX",
      .help = "96 to the inch",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct options, width_px),
      .min = 240,
      .max = 10000 },
    { .name = "height",
      .value = "PX",
      .help = "96 to the inch",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct options, height_px),
      .min = 240,
      .max = 10000 },
};

static const struct option image_rows[] = {
    { .name = "of",
      .value = "FORMAT",
      .help = "svg, pdf or png; without it by the extension of -o, else svg",
      .kind = OPTION_WORD,
      .offset = offsetof(struct options, image_format),
      .words = plot_format_names },
};

static const struct option_group plot_options = { "Figure", plot_rows, sizeof plot_rows / sizeof *plot_rows };
static const struct option_group image_options = { "Output", image_rows, 1 };

static int list_figures(const struct run *run, struct err *e)
{
    struct text out = { 0 };
    for (int32_t i = 0; i < plot_n_figures; i++)
        text_printf(&out, "%-14s %s%s%s\n", plot_figures[i].name, plot_figures[i].help,
                    plot_figures[i].source ? ", from " : "",
                    plot_figures[i].source ? plot_figures[i].source : "");
    int rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

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
    if (!out || run->opt.image_format >= 0 || strcmp(out, "-") == 0 || strncmp(out, "/dev/", 5) == 0)
        return 0;
    const char *dot = strrchr(out, '.');
    for (int32_t i = 0; dot && plot_format_names[i]; i++)
        if (strcasecmp(dot + 1, plot_format_names[i]) == 0)
            return 0;
    return err_set(e, ERR_USAGE,
                   "option --output is \"%.200s\", need a name ending in .svg, .pdf or .png, or --of", out);
}

/* The rows of a store as a CSV of them would be read. */
static int read_store(struct table *t, const char *path, struct err *e)
{
    struct store *s;
    *t = (struct table){ 0 };
    int rc = store_read(&s, path, e);
    if (rc)
        return rc;
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    rc = study_trim_store(s, study_kind_of_store(s), false, e);
    if (!rc)
        rc = store_next(s, &walk, INT64_MAX, t, e);
    if (!rc)
        rc = table_find_numbers(t, e);
    store_close(s);
    if (rc)
        table_free(t);
    return rc;
}

static int read_rows(struct table *t, const char *path, struct err *e)
{
    if (strcmp(path, "-") == 0)
        return table_read_csv(t, "/dev/stdin", e);
    return store_is(path) ? read_store(t, path, e) : table_read_csv(t, path, e);
}

static int draw(const struct run *run, const struct filters *filters, struct err *e)
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
    struct text image = { 0 };
    int rc = read_rows(&t, opt->operands[1], e);
    if (!rc) {
        rc = plot_draw(opt->operands[0], &t, &plot, &image, e);
        if (rc == ERR_PARSE)
            err_wrap(e, "%s:1:1", opt->operands[1]);
    }
    if (!rc)
        rc = output_write(run, &image, e);
    text_free(&image);
    table_free(&t);
    return rc;
}

static int run_plot(struct run *run, struct err *e)
{
    if (run->opt.list)
        return list_figures(run, e);
    if (run->opt.n_operands < 2)
        return err_set(e, ERR_USAGE,
                       "%s, need FIGURE and DATA, a CSV or a store (weft plot --list names the figures)",
                       run->opt.n_operands ? "second argument is missing" : "arguments are missing");
    int rc = check_extension(run, e);
    if (!rc)
        rc = output_check(run, NULL, e);
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
        "a store (weft sweep --store) are drawn as their CSV is.\n",
    .scope = SCOPE(0, 2, "FIGURE DATA", &plot_options, &image_options, &options_files),
    .run = run_plot,
};
