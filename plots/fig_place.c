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

enum { MAX_WORDS = 34 };

/* All arrays belong to the canvas. */
struct outcomes {
    struct data d;
    double *axis;                     /* by row of d */
    const char *axis_key;             /* NULL: no number varies */
    int32_t word[MAX_WORDS], n_words; /* columns that tell rows apart beside scheduler and axis */
    bool varies[MAX_WORDS];
};

enum { STATUS, COST, METRIC, SCHEDULER, SEEDS, N_BINDS };

/* ---- which columns tell rows apart ---- */

static const char *word_key(const struct outcomes *o, int32_t i)
{
    return o->d.r.t->names[o->word[i]];
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
    if (i == o->n_words)
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
static int find_words(struct outcomes *o, bool by_cost, struct err *e)
{
    const struct table *t = o->d.r.t;
    int32_t point = table_find(t, "point"), network = table_find(t, "network");

    add_word(o, network);
    add_word(o, table_find(t, "model"));
    int32_t first = o->n_words;
    for (int32_t col = point + 1; point >= 0 && col < network; col++)
        if (strcmp(key_last(t->names[col]), "schedulers") != 0) /* which only repeats their column */
            add_word(o, col);
    return by_cost ? 0 : take_axis(o, first, e);
}

/* ---- their words ---- */

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

/* What all rows have in common. */
static void outcomes_put_notes(const struct outcomes *o)
{
    const struct data *d = &o->d;
    double least = HUGE_VAL, most = -HUGE_VAL;
    struct text common = { 0 };

    for (int32_t i = 0; i < o->n_words; i++)
        if (!o->varies[i])
            outcomes_put_word(&common, o, 0, i);
    for (int64_t i = 0; i < d->n; i++) {
        least = fmin(least, d->x[SEEDS][i]);
        most = fmax(most, d->x[SEEDS][i]);
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
}

/* Rows that are done and have @p metric, which may be below 0 if `change`. */
static int read_outcomes(struct outcomes *o, struct canvas *c, const struct rows *r, const char *metric,
                         bool change, bool by_cost, struct err *e)
{
    const struct bind binds[N_BINDS] = {
        [STATUS] = { .column = "status", AS_STATUS, NEED, .word = "done" },
        [COST] = { .column = "network_usd",
                   by_cost ? AS_ABOVE_ZERO : AS_NUMBER,
                   by_cost ? FILLED : MAY_MISS },
        [METRIC] = { .column = metric, change ? AS_ANY : AS_NUMBER, FILLED },
        [SCHEDULER] = { .column = "scheduler", AS_WORD, NEED },
        [SEEDS] = { .column = "seeds", AS_NUMBER, MAY_MISS },
    };
    int rc = data_read(&o->d, c, r, binds, N_BINDS, e);

    if (!rc)
        rc = find_words(o, by_cost, e);
    if (!rc)
        outcomes_put_notes(o);
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

/* The columns of the words that vary, from the @p first of them to before @p end, with commas between. */
static const char *list_words(const struct outcomes *o, int32_t first, int32_t end)
{
    struct text list = { 0 };
    int32_t n = 0;

    for (int32_t i = 0; i < o->n_words; i++)
        if (o->varies[i] && n++ >= first && n <= end)
            text_printf(&list, "%s%s", list.n ? "," : "", word_key(o, i));
    return canvas_keep_text(o->d.c, &list);
}

/* ---- lines and bars ---- */

/* How many panels there would be. */
static int32_t count_settings(const struct outcomes *o)
{
    struct names names = { 0 };

    for (int64_t row = 0; row < o->d.n; row++) {
        struct text name = { 0 };
        for (int32_t i = 0; i < o->n_words; i++)
            if (o->varies[i])
                outcomes_put_word(&name, o, row, i);
        names_add(o->d.c, &names, canvas_keep_text(o->d.c, &name));
    }
    return names.n;
}

/* What else varies can be the lines of one scheduler: as many as their styles tell apart. */
enum { MAX_SETTINGS = 7 };

/* A line per scheduler over the first axis, or bars: grouped by the axis, without one a bar per scheduler.
 * What else varies makes panels; under one scheduler alone it makes the lines and bars. A second quantity
 * without any value is left out. */
static int draw_outcomes(struct outcomes *o, const struct plot_xy *look, struct err *e)
{
    const struct rows *r = &o->d.r;
    struct plot_xy spec = *look;
    int32_t n_settings = count_settings(o), status = table_find(r->t, "status");
    bool by_setting = o->d.words[SCHEDULER].n == 1 && n_settings > 1 && n_settings <= MAX_SETTINGS;

    if (spec.y[1] && !rows_know(r, table_find(r->t, spec.y[1]), status, "done"))
        spec.y[1] = NULL;
    spec.bars = look->bars || !o->axis_key;
    spec.join = !spec.bars;
    spec.x = o->axis_key ? o->axis_key : "scheduler";
    spec.color = by_setting ? list_words(o, 0, MAX_WORDS) : o->axis_key ? "scheduler" : "";
    spec.facet = by_setting ? "" : list_words(o, 0, spec.y[1] ? MAX_WORDS : 1);
    spec.facet_rows = by_setting || spec.y[1] ? "" : list_words(o, 1, MAX_WORDS);
    spec.shared = true;
    spec.status = "done";
    spec.front = "no";
    if (by_setting)
        canvas_note(o->d.c, "scheduler %s", o->d.words[SCHEDULER].list[0]);
    return xy_draw(o->d.c, r, &spec, e);
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
    const char *aim = NULL, *of = model < 0 ? "" : data_text(word, d, 0, model);

    for (size_t i = 0; i < sizeof aims / sizeof *aims && !data_varies(d, d->row, d->n, model); i++)
        aim = strcmp(of, aims[i][0]) == 0 ? aims[i][1] : aim;
    bool one = base >= 0 && !data_varies(d, d->row, d->n, base);
    if (aim)
        canvas_title(d->c, canvas_keep(d->c, "%s against %s, seed by seed", aim,
                                       one ? data_text(against, d, 0, base) : "the baseline"));
}

int fig_outcomes(struct canvas *c, const struct rows *r, struct err *e)
{
    const struct plot_xy *look = r->figure->look;
    struct outcomes o = { 0 };
    int rc = read_outcomes(&o, c, r, look->y[0], look->y_signed, false, e);

    if (rc)
        return rc;
    if (look->y_signed)
        title_difference(&o);
    return draw_outcomes(&o, look, e);
}

/* Schedulers are compared by the first of these columns that the table knows. ERR_PARSE when the table has
 * none of them. */
int fig_place(struct canvas *c, const struct rows *r, struct err *e)
{
    static const char *const choices[] = { "utility", "jct_s", "jct", NULL };
    static const char *const labels[] = { "total utility", "mean completion time",
                                          "mean completion time [slots]" };
    const char *name = pick_column(r, choices);
    struct outcomes o = { 0 };
    int i = 0;

    /* Without a value reading says what is amiss. */
    while (choices[i] && (name ? strcmp(choices[i], name) != 0 : table_find(r->t, choices[i]) < 0))
        i++;
    if (!choices[i])
        return err_set(e, ERR_PARSE,
                       "figure %s: columns utility, jct_s, jct: are missing, expected one in the CSV of %s",
                       r->figure->name, r->figure->source);
    int rc = read_outcomes(&o, c, r, choices[i], false, false, e);
    if (rc)
        return rc;
    canvas_title(c, i ? "Mean completion time by scheduler" : "Total utility by scheduler");
    const struct plot_xy look = { .y = { choices[i] },
                                  .axis_label = { NULL, labels[i] },
                                  .y_better = { i ? -1 : 1 },
                                  .whiskers = "95 % interval over seeds" };
    return draw_outcomes(&o, &look, e);
}

/* ---- completion time over cost ---- */

/* The same of those that are, or are not, labels. */
static const char *list_labels(const struct outcomes *o, bool labels)
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
    int rc = read_outcomes(&o, c, r, name, false, true, e);
    if (rc)
        return rc;
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
        .facet = list_labels(&o, false),
        .status = "done",
        .front = "min,min",
        .join = true,
        .plain = true,
        .label = labels ? "front" : NULL,
        .text = list_labels(&o, true),
    };
    return xy_draw(c, r, &spec, e);
}
