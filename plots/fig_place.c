/*
 * What schedulers of jobs came to, from `weft place`: figures place, optimum, makespan, embedded and
 * place_cost.
 *
 * A row is a scheduler at a point of a study. Of the axes, which are the columns between point and network,
 * the first that holds numbers and varies is the figure's; what else varies makes panels, or labels where it
 * is of the network and costs are drawn; what all rows have in common is a note.
 *
 * Two steps: read_outcomes() finds which columns tell rows apart and gives each row its panel, series, label
 * and axis; then a grid of lines or bars or a scatter over cost is filled from that. Axes with words, or
 * beyond the first, are never averaged over: they make panels.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plots/fig.h"
#include "plots/xy.h"

enum { MAX_WORDS = 34, MAX_BINDS = 10 };

/* What a figure wants of the table. Declared by each figure. */
struct outcomes_spec {
    const char *metrics[GRID_MAX_METRICS]; /* a row without the first is blank, the others may be missing */
    int32_t n_metrics;
    bool change; /* they may be below 0 */
    bool
        by_cost; /* in place of an axis: rows need a cost; axes of the network are labels instead of panels */
};

/* All arrays belong to the canvas. */
struct outcomes {
    const struct outcomes_spec *spec;
    struct data d;
    struct bind binds[MAX_BINDS];
    char interval_columns[GRID_MAX_METRICS][64];
    int64_t *order, n; /* rows of d that have values on the axes, in the order of the table */
    double *value[GRID_MAX_METRICS], *half[GRID_MAX_METRICS], *axis; /* by row of d */
    const char *axis_key;                                            /* NULL: no number varies */
    int32_t word[MAX_WORDS], n_words; /* columns that tell rows apart beside scheduler and axes */
    bool varies[MAX_WORDS];
    struct facet schedulers, panels, columns, rows; /* panels: columns and rows together */
    int32_t *styles; /* of schedulers: position among all of the table, so that a filter changes no colour */
    bool any_interval;
};

enum { STATUS, COST, FIRST_METRIC };

/* The order is that of FIRST_METRIC: status, cost, then each metric with its interval, then the rest. */
static void list_binds(struct outcomes *o)
{
    const struct outcomes_spec *spec = o->spec;
    struct bind *b = o->binds;

    *b++ = (struct bind){ .column = "status", AS_STATUS, NEED, .word = "done" };
    *b++ = (struct bind){ .column = "network_usd",
                          spec->by_cost ? AS_ABOVE_ZERO : AS_NUMBER,
                          spec->by_cost ? FILLED : MAY_MISS };
    for (int32_t m = 0; m < spec->n_metrics; m++) {
        snprintf(o->interval_columns[m], sizeof o->interval_columns[m], "%s_ci", spec->metrics[m]);
        *b++ = (struct bind){ .column = spec->metrics[m],
                              spec->change ? AS_ANY : AS_NUMBER,
                              m == 0 ? FILLED : MAY_MISS };
        *b++ = (struct bind){ .column = o->interval_columns[m], AS_NUMBER, MAY_MISS };
    }
    *b++ = (struct bind){ .column = "scheduler", AS_WORD, NEED, .numbered = OF_FILLED };
    *b++ = (struct bind){ .column = "seeds", AS_NUMBER, MAY_MISS };
}

/* ---- which columns tell rows apart ---- */

static const char *word_key(const struct outcomes *o, int32_t i)
{
    return o->d.r.t->names[o->word[i]];
}

/* The title and unit of the axis, as tables have them: "taper of pod". */
static const char *axis_label(const struct outcomes *o)
{
    struct text label = { 0 };
    size_t n;
    int32_t col = table_find(o->d.r.t, o->axis_key);
    const char *unit = table_unit(o->d.r.t, col, &n);
    table_put_title(&label, o->d.r.t, col);
    if (*unit)
        text_printf(&label, " [%s]", unit);
    return canvas_keep_text(o->d.c, &label);
}

/* More than MAX_WORDS axes are left aside: rows that differ only in those lie on each other. */
static void add_word(struct outcomes *o, int32_t col)
{
    if (col < 0 || o->n_words == MAX_WORDS)
        return;
    o->word[o->n_words] = col;
    o->varies[o->n_words++] = data_varies(&o->d, o->d.row, o->d.n, col);
}

static void drop_word(struct outcomes *o, int32_t i)
{
    for (o->n_words--; i < o->n_words; i++) {
        o->word[i] = o->word[i + 1];
        o->varies[i] = o->varies[i + 1];
    }
}

/* Keys of a zip take their values together: one whose values are those of the axis by other names tells no
 * more rows apart. */
static int follows_axis(bool *follows, const struct outcomes *o, int32_t i, struct err *e)
{
    const struct data *d = &o->d;
    struct names of_axis = { 0 }, of_word = { 0 };
    int32_t *word = canvas_new(d->c, d->n, sizeof *word, e), *axis = canvas_new(d->c, d->n, sizeof *axis, e);
    char buf[NUM_TEXT];

    if (!word || !axis)
        return ERR_NOMEM;
    for (int64_t k = 0; k < d->n && *follows; k++) {
        int32_t n_axis = of_axis.n, n_word = of_word.n;
        int32_t a = names_add(d->c, &of_axis, num_format(buf, o->axis[k]));
        int32_t w = names_add(d->c, &of_word, data_text(buf, d, k, o->word[i]));
        if (a == n_axis)
            word[a] = w;
        if (w == n_word)
            axis[w] = a;
        *follows = word[a] == w && axis[w] == a;
    }
    return 0;
}

/* Of the words from `first` on the first that holds numbers and varies is the figure's axis, and no word. Its
 * values are read anew: it was not known when the rows were read. */
static int take_axis(struct outcomes *o, int32_t first, struct err *e)
{
    const struct data *d = &o->d;
    int32_t i = first;
    int rc = 0;

    while (i < o->n_words && (d->r.t->kinds[o->word[i]] == TABLE_TEXT || !o->varies[i]))
        i++;
    if (i == o->n_words || o->spec->by_cost)
        return 0;
    o->axis_key = word_key(o, i);
    o->axis = canvas_new(d->c, d->n, sizeof *o->axis, e);
    for (int64_t k = 0; k < d->n && o->axis && !rc; k++) {
        struct rows r = data_at(d, k);
        rc = rows_number(&o->axis[k], &r, o->word[i], e);
    }
    if (!o->axis || rc)
        return o->axis ? rc : ERR_NOMEM;
    drop_word(o, i);
    for (int32_t k = o->n_words - 1; k >= first; k--) {
        bool follows = o->varies[k];
        rc = rc ? rc : follows_axis(&follows, o, k, e);
        if (follows && !rc)
            drop_word(o, k);
    }
    return rc;
}

/* Network and model first, then the axes in the order of the study; only the axes can become the figure's. */
static int find_words(struct outcomes *o, struct err *e)
{
    const struct table *t = o->d.r.t;
    int32_t point = table_find(t, "point"), network = table_find(t, "network");

    add_word(o, network);
    add_word(o, table_find(t, "model"));
    int32_t first = o->n_words;
    for (int32_t col = point + 1; point >= 0 && col < network; col++)
        if (strcmp(key_last(t->names[col]), "schedulers") != 0) /* which only repeats their column */
            add_word(o, col);
    return take_axis(o, first, e);
}

/* ---- their words ---- */

/* Which of the things that vary: all that make panels, the first of them, the rest. */
enum part { PART_PANEL, PART_COLUMN, PART_ROW, PART_COMMON };

/* Append what the row has in word i. */
static void outcomes_put_word(struct text *out, const struct outcomes *o, int64_t row, int32_t i)
{
    char buf[NUM_TEXT];
    const char *value = data_text(buf, &o->d, row, o->word[i]);

    if (!value[0])
        return;
    text_puts(out, out->n ? " · " : "");
    if (strcmp(word_key(o, i), "network") == 0) {
        text_puts(out, value);
        return;
    }
    size_t n;
    const char *unit = table_unit(o->d.r.t, o->word[i], &n);
    table_put_title(out, o->d.r.t, o->word[i]);
    text_printf(out, " %s%s%s", value, *unit ? " " : "", unit);
}

/* One rule for all uses, so that panels, columns, rows and the note divide the words among them. */
static void describe_row(struct text *out, const struct outcomes *o, int64_t row, enum part part)
{
    int32_t n_panels = 0;

    for (int32_t i = 0; i < o->n_words; i++) {
        bool wanted = part == PART_COMMON && !o->varies[i];
        if (o->varies[i]) {
            wanted = part == PART_PANEL || part == (n_panels == 0 ? PART_COLUMN : PART_ROW);
            n_panels++;
        }
        if (wanted)
            outcomes_put_word(out, o, row, i);
    }
}

/* Rows with the same text are of one panel: names number them in the order of the table. */
static int name_rows(struct facet *f, const struct outcomes *o, enum part part, struct err *e)
{
    *f = (struct facet){ .at = canvas_new(o->d.c, o->d.n, sizeof *f->at, e) };
    for (int64_t i = 0; i < o->d.n && f->at; i++) {
        struct text name = { 0 };
        describe_row(&name, o, i, part);
        f->at[i] = names_add(o->d.c, &f->names, text_str(&name));
        text_free(&name);
    }
    return f->at ? 0 : ERR_NOMEM;
}

/* Blanks of the metric were dropped by data_read(); these are of the axes. */
static int drop_blank(struct outcomes *o, struct err *e)
{
    const struct data *d = &o->d;

    o->order = canvas_new(d->c, d->n, sizeof *o->order, e);
    for (int64_t i = 0; i < d->n && o->order; i++) {
        if (o->axis && isnan(o->axis[i]))
            data_leave_out(d, i, canvas_keep(d->c, "without %s", o->axis_key));
        else
            o->order[o->n++] = i;
        for (int32_t m = 0; m < o->spec->n_metrics; m++)
            o->any_interval = o->any_interval || o->half[m][i] > 0;
    }
    if (o->order && o->n == 0)
        return data_none_left(d, e);
    return o->order ? 0 : ERR_NOMEM;
}

/* What all rows have in common, and what whiskers are. */
static void outcomes_put_notes(const struct outcomes *o)
{
    const struct data *d = &o->d;
    const double *seeds = data_x(d, "seeds");
    double least = HUGE_VAL, most = -HUGE_VAL;
    struct text common = { 0 };

    describe_row(&common, o, o->order[0], PART_COMMON);
    for (int64_t i = 0; i < d->n; i++) {
        least = fmin(least, seeds[i]);
        most = fmax(most, seeds[i]);
    }
    if (most >= 1) {
        text_puts(&common, common.n ? " · " : "");
        if (least < most)
            text_printf(&common, "%.0f to ", least);
        text_printf(&common, "%.0f seed%s", most, most > 1 ? "s" : "");
    }
    if (common.n)
        canvas_note(d->c, "%s", text_str(&common));
    text_free(&common);
    if (o->any_interval)
        canvas_note(d->c, "whiskers: 95 %% interval over seeds");
}

/* On an error the caller draws nothing; memory is the canvas's, as far as it was taken. */
static int read_outcomes(struct outcomes *o, struct canvas *c, const struct rows *r,
                         const struct outcomes_spec *spec, struct err *e)
{
    struct facet *const facets[] = { &o->panels, &o->columns, &o->rows };

    o->spec = spec;
    list_binds(o);
    int rc = data_read(&o->d, c, r, o->binds, FIRST_METRIC + 2 * spec->n_metrics + 2, e);
    for (int32_t m = 0; m < spec->n_metrics; m++) {
        o->value[m] = o->d.x[FIRST_METRIC + 2 * m];
        o->half[m] = o->d.x[FIRST_METRIC + 2 * m + 1];
    }
    if (!rc)
        rc = find_words(o, e);
    for (int k = 0; k < 3 && !rc; k++)
        rc = name_rows(facets[k], o, (enum part)k, e);
    if (!rc)
        rc = drop_blank(o, e);
    if (!rc)
        rc = data_keep_words(&o->schedulers, &o->styles, &o->d, data_find(&o->d, "scheduler"), o->order, o->n,
                             e);
    return rc;
}

/* The first of @p columns with a value in a row that is done and passes the filters; NULL when there is none.
 * Models know different outcomes and leave the others blank, so a column that is there says little. */
static const char *pick_column(const struct rows *r, const char *const *columns)
{
    int32_t status = table_find(r->t, "status");

    for (; *columns && status >= 0; columns++)
        if (rows_know(r, table_find(r->t, *columns), status, "done"))
            return *columns;
    return NULL;
}

/* ---- grids ---- */

/* What else varies can be the lines of one scheduler: as many as their styles tell apart. */
enum { MAX_SETTINGS = 7 };

/* Groups of bars: the values of the axis, rising, and which of them a row has. */
static int group_bars(struct names *groups, double *x, const struct outcomes *o, struct err *e)
{
    const struct sort_key key = { .x = o->axis };
    struct canvas *c = o->d.c;
    int64_t *sorted = canvas_new(c, o->n, sizeof *sorted, e);
    char buf[NUM_TEXT];

    if (!sorted)
        return ERR_NOMEM;
    memcpy(sorted, o->order, (size_t)o->n * sizeof *sorted);
    int rc = data_sort(sorted, o->n, &key, 1, e);
    for (int64_t k = 0; k < o->n; k++)
        x[sorted[k]] = names_add(c, groups, num_format(buf, o->axis[sorted[k]]));
    return rc;
}

/* Metrics without any value are left out, but for the first. */
static int32_t choose_metrics(struct grid_metric *out, const struct fig_place_grid *look,
                              const struct outcomes *o)
{
    int32_t n = 0;

    for (int32_t m = 0; m < look->n_metrics; m++) {
        struct grid_metric metric = look->metrics[m];
        bool any = m == 0;
        for (int64_t k = 0; k < o->n; k++)
            any = any || !isnan(o->value[m][o->order[k]]);
        /* Scaled in place: o is not used for anything else afterwards. */
        for (int64_t i = 0; i < o->d.n && metric.per_cent; i++) {
            o->value[m][i] *= 100;
            o->half[m][i] *= 100;
        }
        metric.y = o->value[m];
        metric.half = o->half[m];
        metric.most = metric.per_cent ? 100 : 0;
        if (any)
            out[n++] = metric;
    }
    return n;
}

/* A line per scheduler over the first axis, or bars: grouped by the axis, without one a bar per scheduler.
 * What else varies makes panels beside each other; under one scheduler alone it makes the lines and bars. */
static int outcomes_draw_grid(struct outcomes *o, const struct fig_place_grid *look, struct err *e)
{
    struct canvas *c = o->d.c;
    bool bars = look->bars || !o->axis, grouped = bars && o->axis, alone = bars && !grouped;
    bool by_setting =
        o->schedulers.names.n == 1 && o->panels.names.n > 1 && o->panels.names.n <= MAX_SETTINGS;
    const struct facet *series = by_setting ? &o->panels : &o->schedulers;
    struct grid_metric metrics[GRID_MAX_METRICS];
    struct names groups = { 0 };
    struct facet none;
    int rc = data_facet(&none, &o->d, -1, o->order, o->n, e);
    double *x = canvas_new(c, o->d.n, sizeof *x, e);
    int32_t *styles = canvas_new(c, series->names.n, sizeof *styles, e);

    if (!x || !styles)
        return ERR_NOMEM;
    for (int32_t i = 0; i < series->names.n;
         i++) /* the first style of lines is that of what others are held against */
        styles[i] = (by_setting ? i : o->styles[i]) + (bars ? (int32_t)FILL_FIRST : 1);
    if (!rc && grouped)
        rc = group_bars(&groups, x, o, e);
    for (int64_t k = 0; k < o->n && !grouped; k++)
        x[o->order[k]] = bars ? series->at[o->order[k]] : o->axis[o->order[k]];
    if (alone)
        styles[0] = FILL_FIRST;
    struct grid_spec spec = { .data = &o->d,
                              .order = o->order,
                              .n = o->n,
                              .x = x,
                              .x_label = alone ? "" : axis_label(o),
                              .x_tight = true,
                              .high = true,
                              .columns = by_setting ? &none : &o->columns,
                              .rows = !by_setting && o->rows.names.n > 1 ? &o->rows : NULL,
                              .series = alone ? &none : series,
                              .styles = styles,
                              .metrics = metrics,
                              .n_metrics = choose_metrics(metrics, look, o),
                              .column_word = "panels beside each other",
                              .row_word = "panels below each other" };
    if (bars) {
        /* Without an axis each scheduler is a group of one bar, named below it, and all look the same. */
        spec.categories = alone ? series->names.list : groups.list;
        spec.n_categories = alone ? series->names.n : groups.n;
    }
    if (by_setting)
        canvas_note(c, "scheduler %s", o->schedulers.names.list[0]);
    return rc ? rc : fig_draw_grid(c, &spec, e);
}

/* What model the rows are of, and what they are held against, where it is the same for all: "Mean completion
 * time against taper 1, seed by seed". */
static void title_difference(const struct outcomes *o)
{
    static const char *const aims[][2] = { { "slots", "Total utility" },
                                           { "batch", "Makespan" },
                                           { "events", "Mean completion time" },
                                           { "interval", "Total utility" } };
    const struct data *d = &o->d;
    int32_t model = table_find(d->r.t, "model"), base = table_find(d->r.t, "base");
    char word[NUM_TEXT], against[NUM_TEXT];
    const char *aim = NULL, *of = model < 0 ? "" : data_text(word, d, o->order[0], model);

    for (size_t i = 0; i < sizeof aims / sizeof *aims && !data_varies(d, d->row, d->n, model); i++)
        aim = strcmp(of, aims[i][0]) == 0 ? aims[i][1] : aim;
    bool one = base >= 0 && !data_varies(d, d->row, d->n, base);
    if (aim)
        canvas_title(d->c, canvas_keep(d->c, "%s against %s, seed by seed", aim,
                                       one ? data_text(against, d, o->order[0], base) : "the baseline"));
}

static int outcomes_build_grid(struct canvas *c, const struct rows *r, const struct fig_place_grid *look,
                               struct err *e)
{
    struct outcomes_spec spec = { .n_metrics = look->n_metrics, .change = look->metrics[0].change };
    struct outcomes o = { 0 };

    for (int32_t m = 0; m < look->n_metrics; m++)
        spec.metrics[m] = look->metrics[m].column;
    int rc = read_outcomes(&o, c, r, &spec, e);
    if (rc)
        return rc;
    if (look->title)
        canvas_title(c, look->title);
    if (spec.change)
        title_difference(&o);
    outcomes_put_notes(&o);
    return outcomes_draw_grid(&o, look, e);
}

int fig_place_grid(struct canvas *c, const struct rows *r, struct err *e)
{
    return outcomes_build_grid(c, r, r->figure->look, e);
}

/* Schedulers are compared by the first of these columns that the table knows. ERR_PARSE when the table has
 * none of them. */
int fig_place(struct canvas *c, const struct rows *r, struct err *e)
{
    static const char *const choices[] = { "utility", "jct_s", "jct", NULL };
    static const struct fig_place_grid looks[] = {
        { { { .column = "utility", .label = "total utility", .unit = "" } },
          1,
          .title = "Total utility by scheduler" },
        { { { "jct_s", "mean completion time", .low_is_better = true } },
          1,
          .title = "Mean completion time by scheduler" },
        { { { "jct", "mean completion time", "slots", .low_is_better = true } },
          1,
          .title = "Mean completion time by scheduler" },
    };
    const char *name = pick_column(r, choices);
    int i = 0;

    /* Without a value reading says what is amiss. */
    while (choices[i] && (name ? strcmp(choices[i], name) != 0 : table_find(r->t, choices[i]) < 0))
        i++;
    if (!choices[i])
        return err_set(e, ERR_PARSE,
                       "figure %s: columns utility, jct_s, jct: are missing, expected one in the CSV of %s",
                       r->figure->name, r->figure->source);
    return outcomes_build_grid(c, r, &looks[i], e);
}

/* ---- completion time over cost ---- */

/* What the network is made of: designs differ in it. */
static bool is_of_network(const char *key)
{
    static const char *const words[] = { "network", "parts", "server", "servers", "graph", "racks", "pool" };
    size_t n = strcspn(key, ".[");

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == n && strncmp(key, words[i], n) == 0)
            return true;
    return false;
}

/* An axis of the network tells designs apart better than the network's name, which follows from it. */
static bool is_label(const struct outcomes *o, int32_t i)
{
    bool any_axis = false;

    for (int32_t k = 0; k < o->n_words; k++)
        any_axis = any_axis ||
                   (o->varies[k] && strcmp(word_key(o, k), "network") != 0 && is_of_network(word_key(o, k)));
    return is_of_network(word_key(o, i)) && !(any_axis && strcmp(word_key(o, i), "network") == 0);
}

/* The columns of the words that vary and are (or are not) labels, with commas between. */
static const char *list_words(const struct outcomes *o, bool labels)
{
    struct text list = { 0 };

    for (int32_t i = 0; i < o->n_words; i++)
        if (o->varies[i] && (labels ? is_label(o, i) : !is_of_network(word_key(o, i))))
            text_printf(&list, "%s%s", list.n ? "," : "", word_key(o, i));
    return canvas_keep_text(o->d.c, &list);
}

int fig_place_cost(struct canvas *c, const struct rows *r, struct err *e)
{
    static const char *const choices[] = { "jct_s", "jct", NULL };
    const char *name = pick_column(r, choices);
    struct outcomes o = { 0 };

    if (!name) /* of a table that knows slots alone, and none is finished */
        name =
            table_find(r->t, choices[0]) < 0 && table_find(r->t, choices[1]) >= 0 ? choices[1] : choices[0];
    struct text keys = { 0 };
    const struct outcomes_spec wanted = { .metrics = { name }, .n_metrics = 1, .by_cost = true };
    int rc = read_outcomes(&o, c, r, &wanted, e);
    if (rc)
        return rc;
    o.any_interval = false; /* its axis says it again */
    outcomes_put_notes(&o);
    for (int32_t i = 0; i < o.n_words; i++)
        if (o.varies[i] && is_label(&o, i)) {
            text_puts(&keys, keys.n ? " · " : "labels on the front: ");
            table_put_title(&keys, r->t, o.word[i]);
        }
    bool labels = keys.n > 0;
    if (labels)
        canvas_note(c, "%s", text_str(&keys));
    text_free(&keys);
    const struct plot_xy spec = {
        .x = "network_usd",
        .y = { name },
        .axis_label = { "network cost",
                        strcmp(name, "jct") == 0 ? "mean completion time [slots]" : "mean completion time" },
        .color = "scheduler",
        .facet = list_words(&o, false),
        .status = "done",
        .front = "min,min",
        .join = true,
        .plain = true,
        .label = labels ? "front" : NULL,
        .text = list_words(&o, true),
    };
    return xy_draw(c, r, &spec, e);
}
