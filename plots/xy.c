/*
 * Any columns of any table: x and y are numbers (x also words), series differ by colour and shape, panels are
 * facets. What is not said is chosen by the names of columns, as this program writes them, and by the values:
 * log axes from a ratio of 30 on, a front where it is known what is better in both.
 *
 * What is better in a column is what its table knows (base/table.h) or --best says. Where it is not known,
 * what needs it is refused: the best few, and the best of several rows that share a bar or a place of a line.
 *
 * A row is drawn in full when `chosen`, as a grey dot when it is not and `behind` is set. All passes over
 * rows are linear for each panel and series, which suits tables of up to a million rows.
 */
#include "plots/columns.h"
#include "plots/xy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plots/fig.h"
#include "plots/page.h"

enum {
    COLORS = MARKS_COLORS, /* the rest is grey */
    WRAP_MOST = 9,
    GRID_COLUMNS = 5,
    GRID_ROWS = 6,
    MAX_CATEGORIES = 24,
    MAX_LABELS = 40, /* of a panel */
    MAX_TEXTS = 8,   /* columns of one */
    LABEL_CHARS = 28,
    MAX_BANDS = 60, /* points with the band of measured steps */
};

/* Columns by position: what a row is left out for is said by the first. */
enum { STATUS, X, Y, Y2, COLOR, SHAPE, FACET, FACET_ROWS, HALF, HALF2, LOW, HIGH, BY };
enum { FITS = BY + 1, EQUAL_X, EQUAL_Y, N_BINDS };

struct xy {
    struct canvas *c;
    const struct plot_xy *spec;
    const char *x_name, *y_name[2], *color_name, *shape_name, *facet_name, *rows_name;
    int32_t n_y;
    struct data d;
    char half_names[2][80];
    bool x_words, shades, has_rows;
    struct facet categories, color, shape, column, row;
    const char **plans;             /* by row, as phrases: what texts show of `plan`; or NULL */
    double shade_ends[SHADE_COUNT]; /* upper ends of the shades, rising */
    bool shade_log;
    bool *chosen;           /* by row: among the best few */
    const char *not_chosen; /* what the others are */
    bool *behind[2];        /* by row and quantity: a better one has its bar, its place of a line; or NULL */
    bool *on_front[2], *hollow;   /* by row and quantity, by row */
    double x_better, y_better[2]; /* -1 less, 1 more, 0 not known */
    double aside;                 /* of the panel at hand: from series to series, in x */
    int32_t *styles;              /* by colour: its place among the words of the whole table, for filters */
    bool front, any_cut;
    struct wrap page;
    struct axis x[GRID_COLUMNS * GRID_ROWS], y[GRID_COLUMNS * GRID_ROWS]; /* by panel */
    double x_scale, y_scale[2];
    const char *x_title, *y_title[2];
    int32_t n_columns, n_rows,
        n_panels; /* of panels: facets side by side, facets below each other times n_y */
    int64_t n_unplaced;
    int64_t *order;                           /* shape [d.n] */
    int64_t order_knees[MAX_LABELS], n_knees; /* of the panel at hand */
    struct panel on;                          /* the panel at hand */
    int32_t index, m;                         /* its quantity: m */
};

/* ---- what a column is ---- */

static int check_column(const struct xy *f, const char *option, const char *name, bool numbers, struct err *e)
{
    const struct table *t = f->d.r.t;
    int32_t col = table_find(t, name);

    if (col < 0) {
        const char *near = text_suggest(name, (const char *const *)t->names, (size_t)t->n_cols);
        return err_set(e, ERR_USAGE, "option --%s is \"%s\", expected a column of the table%s%s%s", option,
                       name, near ? "; did you mean " : ", as --list names them", near ? near : "",
                       near ? "?" : "");
    }
    int rc = numbers ? table_need_numbers(t, col, e) : 0;
    if (rc == ERR_PARSE)
        return rc;
    if (rc)
        return err_set(e, ERR_USAGE,
                       "option --%s is %s, which holds words, expected numbers; words can be --x, --color, "
                       "--shape, --facet and --facet-rows",
                       option, name);
    return 0;
}

/* ---- what was asked for ---- */

/* Figures with a name know what their columns hold: cells are checked as they are read. */
static bool is_named(const struct xy *f)
{
    return f->d.r.figure->help != NULL;
}

static int choose_axes(struct xy *f, struct err *e)
{
    static const char *const fronts[][2] = { { COL_COST_USD, COL_TIME_S },
                                             { "network_usd", "jct_s" },
                                             { "traffic_MB", "accuracy_pct" },
                                             { "evaluations", "over_oracle" },
                                             { "network_usd", "jct" } };
    const struct table *t = f->d.r.t;
    const struct plot_xy *s = f->spec;

    f->x_name = s->x;
    f->y_name[0] = s->y[0];
    f->y_name[1] = s->y[1];
    f->n_y = s->y[1] ? 2 : 1;
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts && !(f->x_name && f->y_name[0]); i++)
        if (table_find(t, fronts[i][0]) >= 0 && table_find(t, fronts[i][1]) >= 0) {
            f->x_name = f->x_name ? f->x_name : fronts[i][0];
            f->y_name[0] = f->y_name[0] ? f->y_name[0] : fronts[i][1];
        }
    if (!f->x_name || !f->y_name[0])
        return err_set(e, ERR_USAGE,
                       "option --%s is missing, expected a column (weft plot xy TABLE --list names them)",
                       f->x_name ? "y" : "x");
    int rc = check_column(f, "x", f->x_name, false, e);
    for (int32_t m = 0; m < f->n_y && !rc; m++)
        rc = check_column(f, "y", f->y_name[m], !is_named(f), e);
    if (rc)
        return rc;
    struct err ignored;
    f->x_words = is_named(f) ? s->bars : table_need_numbers(t, table_find(t, f->x_name), &ignored) != 0;
    if (s->bars && s->shape && s->shape[0])
        return err_set(e, ERR_USAGE, "option --shape is of points and lines, expected --color beside --bars");
    if (s->bars && !f->x_words)
        return err_set(e, ERR_USAGE, "option --bars is over %s, which holds numbers, expected words on --x",
                       f->x_name);
    f->x_better = f->x_words ? 0 : t->better[table_find(t, f->x_name)];
    for (int32_t m = 0; m < f->n_y; m++) {
        f->y_better[m] = t->better[table_find(t, f->y_name[m])];
        f->y_better[m] = f->y_better[m] != 0 ? f->y_better[m] : s->y_better[m];
    }
    return 0;
}

/* What stands between several columns that make one word together, unless one is called so. */
static char stop_of(const struct xy *f, const char *columns)
{
    return strchr(columns, ',') && table_find(f->d.r.t, columns) < 0 ? ',' : '\n';
}

/* Series and panels: what was asked for, else what the kind of table is told apart by. */
static int choose_facets(struct xy *f, struct err *e)
{
    static const char *const series[] = { "network", "scheduler", "method", "objective" };
    const struct plot_xy *s = f->spec;

    f->color_name = s->color ? s->color : "";
    for (size_t i = 0; i < 4 && !s->color && !f->color_name[0]; i++)
        if (strcmp(series[i], f->x_name) != 0 && rows_vary(&f->d.r, table_find(f->d.r.t, series[i])))
            f->color_name = series[i];
    f->shape_name = s->shape ? s->shape : "";
    f->rows_name = s->facet_rows ? s->facet_rows : "";
    f->facet_name = s->facet ? s->facet : "";
    if (!s->facet && !f->rows_name[0] && strcmp(f->color_name, "workload") != 0 &&
        rows_vary(&f->d.r, table_find(f->d.r.t, "workload")))
        f->facet_name = "workload";
    f->has_rows = f->rows_name[0] || f->n_y > 1;
    if (f->rows_name[0] && f->n_y > 1)
        return err_set(e, ERR_USAGE,
                       "option --facet-rows goes with one --y, which are rows of panels themselves");
    const struct {
        const char *option, *name;
        bool numbers;
        char stop;
    } columns[] = { { "color", f->color_name, false, stop_of(f, f->color_name) },
                    { "shape", f->shape_name, false, '\n' },
                    { "facet", f->facet_name, false, stop_of(f, f->facet_name) },
                    { "facet-rows", f->rows_name, false, stop_of(f, f->rows_name) },
                    { "by", s->by ? s->by : "", true, '\n' } };
    int rc = 0;
    for (size_t i = 0; i < 5 && !rc; i++) {
        size_t n;
        for (const char *rest = columns[i].name, *name;
             !rc && (name = text_next(&rest, columns[i].stop, &n));)
            rc = check_column(f, columns[i].option, canvas_keep(f->c, "%.*s", (int)n, name),
                              columns[i].numbers, e);
    }
    return rc;
}

/* "min,max" into @p n directions; false where it is anything else. */
static bool read_front(double *better, const char *words, int32_t n)
{
    for (int32_t i = 0; i < n; i++, words += i < n ? 4 : 3) {
        bool less = strncmp(words, "min", 3) == 0;
        if ((!less && strncmp(words, "max", 3) != 0) || words[3] != (i + 1 < n ? ',' : '\0'))
            return false;
        better[i] = less ? -1 : 1;
    }
    return true;
}

/* Unasked there is one only where both directions are known, of one quantity, and where lines do not join the
 * points anyway. */
static int choose_front(struct xy *f, struct err *e)
{
    const char *words = f->spec->front;
    double better[3];

    f->front = !f->x_words && f->n_y == 1 && !f->spec->join && f->x_better != 0 && f->y_better[0] != 0;
    if (!words)
        return 0;
    f->front = strcmp(words, "no") != 0;
    if (f->front && !read_front(better, words, 1 + f->n_y))
        return err_set(e, ERR_USAGE, "option --front is \"%s\", expected min or max of x and of %s, or no",
                       words, f->n_y > 1 ? "each y as in min,max,min" : "y as in min,max");
    if (f->front && f->x_words)
        return err_set(e, ERR_USAGE, "option --front is over %s, which holds words, expected numbers",
                       f->x_name);
    if (f->front) {
        f->x_better = better[0];
        memcpy(f->y_better, better + 1, (size_t)f->n_y * sizeof *better);
    }
    return 0;
}

/* A number, or true and false, says nothing without its column. */
static const char *xy_word_of(const struct xy *f, const char *column, const char *word)
{
    double x;
    if (stop_of(f, column) == ',') /* made of several by name_facet() */
        return word;
    bool bare = num_parse_real(word, &x) || strcmp(word, "true") == 0 || strcmp(word, "false") == 0 ||
                (f->d.r.figure->help && strchr(column, '.'));
    struct text out = { 0 };
    if (bare) {
        table_put_title(&out, f->d.r.t, table_find(f->d.r.t, column));
        text_printf(&out, " %s", word);
    } else {
        key_put_value(&out, word[0] ? word : "(blank)");
    }
    return canvas_keep_text(f->c, &out);
}

/* ---- rows ---- */

/* Series are the looks in their order, be there rows of one or not; rows of other words are left out. */
static int keep_looks(struct xy *f, struct err *e)
{
    const struct data *d = &f->d;
    int64_t *rows = canvas_new(f->c, d->n, sizeof *rows, e), n = 0;

    f->color.at = canvas_new(f->c, d->n, sizeof *f->color.at, e);
    if (!rows || !f->color.at)
        return ERR_NOMEM;
    for (int32_t k = 0; k < f->spec->n_looks; k++)
        names_add(f->c, &f->color.names, f->spec->looks[k].word);
    for (int64_t i = 0; i < d->n; i++) {
        f->color.at[n] = names_find(&f->color.names, d->words[COLOR].list[d->word[COLOR][i]]);
        if (f->color.at[n] >= 0)
            rows[n++] = i;
        else
            data_leave_out(d, i, canvas_keep(f->c, "of other words of %s", f->color_name));
    }
    return n == 0 ? data_none_left(d, e) : data_take(&f->d, rows, n, e);
}

/* Which points are hollow: designs that do not fit, or (of `equal`) the second points of rows, which are
 * added here: rows of the figure that have a row of the table in common. */
static int add_equal(struct xy *f, struct err *e)
{
    struct data *d = &f->d;
    int64_t *rows = canvas_new(f->c, 2 * d->n, sizeof *rows, e), own = d->n, n = own;
    int rc = 0;

    f->hollow = canvas_new(f->c, 2 * own, sizeof *f->hollow, e);
    if (!rows || !f->hollow)
        return ERR_NOMEM;
    for (int64_t i = 0; i < own; i++) {
        rows[i] = i;
        f->hollow[i] = !f->spec->equal[0] && d->col[FITS] >= 0 &&
                       strcmp(d->words[FITS].list[d->word[FITS][i]], "no") == 0;
        if (!isnan(d->x[EQUAL_X][i]) && !isnan(d->x[EQUAL_Y][i]))
            rows[n++] = i;
    }
    if (f->spec->equal[0] && n < 2 * own)
        canvas_note(f->c, "%lld of %lld designs have no equal split to compare with",
                    (long long)(2 * own - n), (long long)own);
    if (n > own)
        rc = data_take(d, rows, n, e);
    for (int64_t i = own; i < n && !rc; i++) {
        f->hollow[i] = true;
        d->x[X][i] = d->x[EQUAL_X][i];
        d->x[Y][i] = d->x[EQUAL_Y][i];
        d->x[LOW][i] = d->x[HIGH][i] = (double)NAN; /* of the row's own point */
    }
    return rc;
}

/* What is drawn of y, where that is not the column itself. */
static void convert_y(struct xy *f)
{
    double times = f->spec->y_times, **x = f->d.x;

    for (int64_t i = 0; i < f->d.n && times > 0; i++) {
        double low = x[LOW][i], high = x[HIGH][i];
        bool over = f->spec->y_inverse;
        x[Y][i] = over ? times / x[Y][i] : times * x[Y][i];
        x[Y2][i] *= times;
        x[HALF][i] *= times;
        x[HALF2][i] *= times;
        x[LOW][i] = over ? times / high : times * low;
        x[HIGH][i] = over ? times / low : times * high;
    }
}

static int read_xy(struct xy *f, const struct rows *r, struct err *e)
{
    const struct plot_xy *s = f->spec;

    for (int32_t m = 0; m < f->n_y; m++) { /* "jct_s" has "jct_s_ci", "accuracy_pct" "accuracy_half_pct" */
        const char *y = f->y_name[m];
        size_t stem = strlen(y) > 4 && strcmp(y + strlen(y) - 4, "_pct") == 0 ? strlen(y) - 4 : 0;
        snprintf(f->half_names[m], sizeof f->half_names[m], "%s_ci", y);
        /* The name that was found, or the last one tried, which then binds nothing. */
        if (stem && table_find(r->t, f->half_names[m]) < 0)
            snprintf(f->half_names[m], sizeof f->half_names[m], "%.*s_half_pct", (int)stem, y);
    }
    const char *by = s->by ? s->by : f->y_name[0];
    bool cost = is_named(f) && !s->join;        /* on x */
    bool below_0 = !is_named(f) || s->y_signed; /* on y, it may be */
    const struct bind binds[N_BINDS] = {
        [STATUS] = { .column = "status", s->status ? AS_STATUS : AS_WORD, MAY_MISS, .word = s->status },
        [X] = { .column = f->x_name,
                f->x_words ? AS_WORD
                : cost     ? AS_NUMBER
                           : AS_ANY,
                FILLED },
        [Y] = { .column = f->y_name[0],
                s->y_inverse ? AS_ABOVE_ZERO
                : below_0    ? AS_ANY
                             : AS_NUMBER,
                FILLED },
        [Y2] = { .column = f->n_y > 1 ? f->y_name[1] : "", below_0 ? AS_ANY : AS_NUMBER, MAY_MISS },
        [COLOR] = { .column = f->color_name,
                    AS_WORD,
                    MAY_MISS,
                    .numbered = f->color_name[0] ? OF_FILLED : OF_ROWS },
        [SHAPE] = { .column = f->shape_name, AS_WORD, MAY_MISS },
        [FACET] = { .column = f->facet_name, AS_WORD, MAY_MISS },
        [FACET_ROWS] = { .column = f->rows_name, AS_WORD, MAY_MISS },
        [HALF] = { .column = s->plain ? "" : f->half_names[0], AS_NUMBER, MAY_MISS },
        [HALF2] = { .column = s->plain ? "" : f->half_names[1], AS_NUMBER, MAY_MISS },
        [LOW] = { .column = COL_TIME_LOW_S, AS_NUMBER, MAY_MISS },
        [HIGH] = { .column = COL_TIME_HIGH_S, AS_NUMBER, MAY_MISS },
        [BY] = { .column = by, AS_ANY, MAY_MISS },
        [FITS] = { .column = "fits", AS_WORD, MAY_MISS },
        [EQUAL_X] = { .column = s->equal[0] ? s->equal[0] : "", AS_ABOVE_ZERO, MAY_MISS },
        [EQUAL_Y] = { .column = s->equal[1] ? s->equal[1] : "", AS_ABOVE_ZERO, MAY_MISS },
    };
    int rc = data_read(&f->d, f->c, r, binds, N_BINDS, e);
    if (!rc && s->looks)
        rc = keep_looks(f, e);
    if (rc)
        return rc;
    data_note_unproved(&f->d);
    bool second = !is_named(f);
    for (int64_t i = 0; i < f->d.n; i++)
        second = second || !isnan(f->d.x[Y2][i]);
    f->n_y = second ? f->n_y : 1;
    f->has_rows = f->has_rows && (second || f->rows_name[0]);
    return add_equal(f, e);
}

/* Words of several columns make one. */
static int name_facet(struct facet *out, struct xy *f, int bind, const char *columns, struct err *e)
{
    if (stop_of(f, columns) != ',')
        return data_facet_sorted(out, &f->d, bind, e);
    *out = (struct facet){ .at = canvas_new(f->c, f->d.n, sizeof *out->at, e) };
    for (int64_t i = 0; i < f->d.n && out->at; i++) {
        struct text words = { 0 };
        char buf[NUM_TEXT];
        size_t n;
        for (const char *rest = columns, *name; (name = text_next(&rest, ',', &n));) {
            const char *column = canvas_keep(f->c, "%.*s", (int)n, name);
            const char *value = data_text(buf, &f->d, i, table_find(f->d.r.t, column));
            text_printf(&words, "%s%s", words.n && value[0] ? " · " : "",
                        value[0] ? xy_word_of(f, column, value) : "");
        }
        out->at[i] = names_add(f->c, &out->names, canvas_keep_text(f->c, &words));
    }
    return out->at ? 0 : ERR_NOMEM;
}

/* Numbers of more values than there are colours are shades: bins of equal width, or of equal ratio. Bins of
 * equal ratio from the same ratio on from which an axis is logarithmic. */
static void fit_shades(struct xy *f)
{
    double lo = HUGE_VAL, hi = -HUGE_VAL, x;

    f->shades = f->color.names.n > COLORS && !f->spec->looks;
    for (int32_t i = 0; i < f->color.names.n && f->shades; i++) {
        f->shades = num_parse_real(f->color.names.list[i], &x);
        lo = f->shades ? fmin(lo, x) : lo;
        hi = f->shades ? fmax(hi, x) : hi;
    }
    if (!f->shades)
        return;
    f->shade_log = lo > 0 && hi / lo > AXIS_LOG_RATIO;
    for (int i = 0; i < SHADE_COUNT; i++) {
        double share = (i + 1.0) / SHADE_COUNT;
        f->shade_ends[i] = f->shade_log ? lo * pow(hi / lo, share) : lo + share * (hi - lo);
    }
}

static int name_series(struct xy *f, struct err *e)
{
    int rc = f->spec->looks ? 0 : name_facet(&f->color, f, COLOR, f->color_name, e);

    if (!rc)
        rc = data_facet_sorted(&f->shape, &f->d, SHAPE, e);
    if (!rc)
        rc = name_facet(&f->column, f, FACET, f->facet_name, e);
    if (!rc)
        rc = name_facet(&f->row, f, FACET_ROWS, f->rows_name, e);
    if (!rc && f->x_words)
        rc = data_facet_sorted(&f->categories, &f->d, X, e);
    fit_shades(f);
    f->styles = canvas_new(f->c, f->color.names.n, sizeof *f->styles, e);
    for (int32_t k = 0; k < f->color.names.n && f->styles; k++) {
        double x;
        const char *word = f->color.names.list[k];
        int32_t at = num_parse_real(word, &x) ? -1 : names_find(&f->d.words[COLOR], word);
        f->styles[k] = at < 0 ? k : at;
    }
    f->order = rc ? NULL : canvas_new(f->c, f->d.n, sizeof *f->order, e);
    return rc || (f->order && f->styles) ? rc : ERR_NOMEM;
}

static int fail_direction(const char *option, const char *column, struct err *e)
{
    return err_set(
        e, ERR_USAGE,
        "option --%s asks for the best %s, of which more or less may be better; add --best max:%s or "
        "--best min:%s",
        option, column, column, column);
}

/* The best few of each facet. Rows whose value is blank are never among them. Of equals the first of the
 * table, as sorting is stable. */
static int choose_top(struct xy *f, struct err *e)
{
    const struct data *d = &f->d;
    const char *by = f->spec->by ? f->spec->by : f->y_name[0];
    double better = strcmp(by, f->y_name[0]) == 0 ? f->y_better[0] : d->r.t->better[table_find(d->r.t, by)];
    const struct sort_key keys[] = { { .word = f->column.at },
                                     { .word = f->row.at },
                                     { .x = d->x[BY], .falls = better > 0 } };
    int64_t n = 0;

    if (f->spec->top > 0 && better == 0)
        return fail_direction("top", by, e);
    f->chosen = canvas_new(f->c, d->n, sizeof *f->chosen, e);
    if (!f->chosen)
        return ERR_NOMEM;
    for (int64_t i = 0; i < d->n; i++) {
        f->chosen[i] = f->spec->top == 0;
        if (!f->chosen[i] && !isnan(d->x[BY][i]))
            f->order[n++] = i;
    }
    int rc = data_sort(f->order, n, keys, 3, e);
    for (int64_t k = 0, taken = 0; k < n; k++) {
        int64_t i = f->order[k], last = k ? f->order[k - 1] : -1;
        bool same = last >= 0 && f->column.at[i] == f->column.at[last] && f->row.at[i] == f->row.at[last];
        taken = same ? taken + 1 : 1;
        f->chosen[i] = taken <= f->spec->top;
    }
    f->not_chosen = canvas_keep(f->c, "not among the best %lld", (long long)f->spec->top);
    if (f->spec->top > 0 && !f->c->opt->linked) /* else the page around it says so */
        canvas_note(f->c, "the best %lld by %s (%s is better)%s", (long long)f->spec->top, by,
                    better > 0 ? "more" : "less", f->n_columns * f->n_rows > 1 ? " of each panel" : "");
    return rc;
}

/* Bars and lines show the best of equal x in each series, by each quantity; the others are not drawn, so that
 * no axis makes room for them. */
static int keep_best_of(struct xy *f, int32_t m, struct err *e)
{
    const struct data *d = &f->d;
    const double *y = d->x[m ? Y2 : Y];
    struct sort_key along = { .x = d->x[X] };
    if (f->x_words)
        along = (struct sort_key){ .word = f->categories.at };
    const struct sort_key keys[] = { { .word = f->column.at },
                                     { .word = f->row.at },
                                     { .word = f->color.at },
                                     { .word = f->shape.at },
                                     along,
                                     { .x = y, .falls = f->y_better[m] > 0 } };
    int64_t n = 0;
    f->behind[m] = canvas_new(f->c, d->n, sizeof *f->behind[m], e);
    if (!f->behind[m])
        return ERR_NOMEM;
    for (int64_t i = 0; i < d->n; i++)
        if (f->chosen[i] && !isnan(y[i]))
            f->order[n++] = i;
    int rc = data_sort(f->order, n, keys, 6, e);
    for (int64_t k = 0; k < n && !rc;) {
        int64_t end = data_group_end(f->order, k, n, keys, 5);
        if (end > k + 1 && f->y_better[m] == 0)
            return fail_direction(f->spec->bars ? "bars" : "join", f->y_name[m], e);
        while (++k < end)
            f->behind[m][f->order[k]] = true;
    }
    return rc;
}

static int keep_best(struct xy *f, struct err *e)
{
    int rc = 0;
    for (int32_t m = 0; m < f->n_y && (f->spec->bars || f->spec->join) && !rc; m++)
        rc = keep_best_of(f, m, e);
    return rc;
}

/* ---- panels, fronts, axes ---- */

static double y_at(const struct xy *f, int32_t m, int64_t i)
{
    return f->d.x[m ? Y2 : Y][i] / f->y_scale[m];
}

/* Words stand in the middle of 0..1, 1..2 and so on, as canvas_categories() labels them. */
static double x_at(const struct xy *f, int64_t i)
{
    double aside = f->aside * (f->color.at[i] - (f->color.names.n - 1) / 2.0);
    return f->x_words ? f->categories.at[i] + 0.5 : f->d.x[X][i] / f->x_scale + aside;
}

/* Whether row i has a whisker of measured steps: many would hide each other, but not those of a front. */
static bool has_band(const struct xy *f, int32_t m, int64_t i)
{
    bool one = f->spec->looks ? f->spec->looks[f->color.at[i]].steps
                              : f->d.n <= MAX_BANDS || (f->front && f->on_front[m][i]);
    return one && strcmp(f->y_name[m], COL_TIME_S) == 0 && f->d.x[HIGH][i] > f->d.x[LOW][i];
}

/* Ends of the whisker of row i, on the axis; false: it has none. */
static bool xy_ends_at(double ends[2], const struct xy *f, int32_t m, int64_t i)
{
    double half = f->d.x[m ? HALF2 : HALF][i], y = f->d.x[m ? Y2 : Y][i];
    ends[0] = half > 0 ? y - half : y;
    ends[1] = half > 0 ? y + half : y;
    if (!(half > 0) && has_band(f, m, i)) {
        ends[0] = f->d.x[LOW][i];
        ends[1] = f->d.x[HIGH][i];
    }
    if (f->spec->y_most > 0)
        ends[1] = fmax(y, fmin(ends[1], f->spec->y_most));
    for (int end = 0; end < 2; end++)
        ends[end] /= f->y_scale[m];
    return ends[1] > ends[0];
}

/* The quantity of a panel's y axis. */
static int32_t xy_metric_of(const struct xy *f, int32_t panel)
{
    return f->n_y > 1 ? panel / f->n_columns % 2 : 0;
}

/* Panels run along the columns first; without rows they are the facets, wrapped by the page. */
static bool is_in_panel(const struct xy *f, int64_t i, int32_t panel)
{
    int32_t column = f->has_rows ? panel % f->n_columns : panel;
    int32_t row = f->rows_name[0] ? panel / f->n_columns : 0;

    return f->column.at[i] == column && f->row.at[i] == row && !isnan(y_at(f, xy_metric_of(f, panel), i)) &&
           !(f->x_words && f->categories.at[i] >= MAX_CATEGORIES);
}

/* With a marker, a bar, a place of a line; else it is of the cloud, where there is one. */
static bool is_marked(const struct xy *f, int64_t i, int32_t m)
{
    return f->chosen[i] && !(f->behind[m] && f->behind[m][i]);
}

static bool is_drawn(const struct xy *f, int64_t i, int32_t panel)
{
    return is_in_panel(f, i, panel) && (is_marked(f, i, xy_metric_of(f, panel)) || f->spec->behind);
}

/* Rows of a panel that no other beats in both. One pass over points from the best x on: each is on the front
 * that is better in y than all before it; x that differ by rounding only are one. Rows that do not fit the
 * memory and the cloud are not asked. */
static int find_front(struct xy *f, int32_t panel, struct err *e)
{
    int32_t m = xy_metric_of(f, panel);
    const double *x = f->d.x[X], *y = f->d.x[m ? Y2 : Y];
    bool more = f->y_better[m] > 0;
    const struct sort_key keys[] = { { .x = x, .falls = f->x_better > 0 }, { .x = y, .falls = more } };
    int64_t n = 0, last = -1;

    for (int64_t i = 0; i < f->d.n; i++)
        if (is_in_panel(f, i, panel) && is_marked(f, i, m) && !f->hollow[i] &&
            !(f->spec->scale[0] == PLOT_XY_LOG && x[i] <= 0))
            f->order[n++] = i;
    int rc = data_sort(f->order, n, keys, 2, e);
    for (int64_t k = 0; k < n && !rc; k++) {
        int64_t i = f->order[k];
        if (last >= 0 && !(more ? y[i] > y[last] : y[i] < y[last]))
            continue;
        if (last >= 0 && fabs(x[i] - x[last]) < AXIS_SAME * fabs(x[i]))
            f->on_front[m][last] = false;
        f->on_front[m][i] = true;
        last = i;
    }
    return rc;
}

static int find_fronts(struct xy *f, struct err *e)
{
    int rc = 0;

    for (int32_t m = 0; m < f->n_y && f->front; m++)
        if (!(f->on_front[m] = canvas_new(f->c, f->d.n, sizeof **f->on_front, e)))
            return ERR_NOMEM;
    for (int32_t p = 0; p < f->n_panels && f->front && !rc; p++)
        rc = find_front(f, p, e);
    return rc;
}

/* The scale goes by the largest magnitude of the whole column, so that panels have one unit. Its title, or @p
 * label, which is the whole of it but for a figure with a name. */
static double xy_scale(const struct xy *f, int bind, const char *label, const char **title)
{
    double most = 0;

    for (int64_t i = 0; i < f->d.n && f->d.x[bind]; i++)
        most = fmax(most, fabs(f->d.x[bind][i]));
    struct unit unit = data_unit(&f->d, bind, most, title);
    bool bare = bind != X && f->spec->y_times > 0;
    if (label)
        *title = unit.name[0] && !bare && f->d.r.figure->help ? canvas_keep(f->c, "%s [%s]", label, unit.name)
                                                              : label;
    return bare ? 1 : unit.scale;
}

static int none_on_axes(const struct xy *f, struct err *e)
{
    for (int64_t i = 0; i < f->d.n; i++)
        data_leave_out(&f->d, i, f->chosen[i] ? "not above zero" : f->not_chosen);
    return data_none_left(&f->d, e);
}

/* Axes of one panel, or (-1) of all. */
static int fit_panel(struct xy *f, int32_t panel, struct axis *x, struct axis *y, int32_t m, struct err *e)
{
    double lo[2] = { HUGE_VAL, HUGE_VAL }, hi[2] = { -HUGE_VAL, -HUGE_VAL }, range[2][2];
    const double scales[2] = { f->x_scale, f->y_scale[m] };
    double ends[2] = { HUGE_VAL, -HUGE_VAL }, bands[2] = { HUGE_VAL, -HUGE_VAL }; /* of intervals */
    bool log[2];
    int rc = axis_read_range(range[0], f->spec->range[0], "range-x", e);

    if (!rc)
        rc = axis_read_range(range[1], f->spec->range[1], "range-y", e);
    if (rc)
        return rc;
    for (int32_t p = 0; p < f->n_panels; p++)
        for (int64_t i = 0; i < f->d.n && (panel < 0 ? xy_metric_of(f, p) == m : p == panel); i++) {
            const double at[2] = { x_at(f, i), y_at(f, m, i) };
            /* On a log axis that was asked for, values not above zero have no say; they are left out with a
             * note. */
            for (int k = 0; k < 2 && is_drawn(f, i, p); k++)
                if (f->spec->scale[k] != PLOT_XY_LOG || at[k] > 0) {
                    lo[k] = fmin(lo[k], at[k]);
                    hi[k] = fmax(hi[k], at[k]);
                }
            double whisker[2];
            if (!is_drawn(f, i, p) || !xy_ends_at(whisker, f, m, i))
                continue;
            /* Of seeds, or of measured steps, which are no wider than they are. */
            double *to = f->d.x[m ? HALF2 : HALF][i] > 0 ? ends : bands;
            to[0] = fmin(to[0], whisker[0]);
            to[1] = fmax(to[1], whisker[1]);
        }
    for (int k = 0; k < 2; k++) {
        if (panel < 0 && !(lo[k] <= hi[k]))
            return none_on_axes(f, e);
        if (!(lo[k] <= hi[k]))
            lo[k] = hi[k] = 1;
        log[k] = f->spec->scale[k] == PLOT_XY_LOG ||
                 (f->spec->scale[k] == PLOT_XY_FIT && !(k == 1 && f->spec->bars) && lo[k] > 0 &&
                  hi[k] / lo[k] > AXIS_LOG_RATIO);
        for (int end = 0; end < 2; end++)
            range[k][end] /= scales[k];
    }
    /* Intervals go on at most as far beyond the values as these are apart, and not below zero: few seeds make
     * them so wide that what is compared would be one line. */
    double room = f->spec->whiskers ? HUGE_VAL : hi[1] - lo[1] > 0 ? hi[1] - lo[1] : fabs(hi[1]);
    double low = log[1]
                     ? lo[1]
                     : fmax(ends[0], lo[1] >= 0 && !f->spec->y_signed ? fmax(0, lo[1] - room) : lo[1] - room);
    f->any_cut = f->any_cut || ends[0] < low || ends[1] > hi[1] + room;
    lo[1] = fmin(bands[0], low <= lo[1] ? low : lo[1]);
    hi[1] = fmax(bands[1], fmax(hi[1], fmin(ends[1], hi[1] + room)));
    int32_t n = f->categories.names.n;
    *x = f->x_words ? (struct axis){ .hi = n < MAX_CATEGORIES ? n : MAX_CATEGORIES, .bare = true }
         : f->spec->join && !f->front && f->d.r.figure->help && !log[0] && hi[0] > lo[0]
             ? (struct axis){ .lo = lo[0] - 0.06 * (hi[0] - lo[0]), .hi = hi[0] + 0.06 * (hi[0] - lo[0]) }
             : axis_within(lo[0], hi[0], log[0], range[0]);
    *y = f->spec->bars ? axis_bars_within(lo[1], hi[1], log[1], range[1])
                       : axis_within(lo[1], hi[1], log[1], range[1]);
    return 0;
}

/* In a grid of rows panels share their scales always: neighbours have tics at the outer edges only. */
static int fit_panels(struct xy *f, struct err *e)
{
    bool shared = f->spec->shared || f->rows_name[0];
    int rc = 0;

    for (int32_t m = 0; m < f->n_y && !rc; m++) {
        struct axis x, y;
        rc = fit_panel(f, -1, &x, &y, m, e);
        for (int32_t p = 0; p < f->n_panels && !rc; p++)
            if (xy_metric_of(f, p) == m) {
                f->x[p] = x;
                f->y[p] = y;
                if (!shared)
                    rc = fit_panel(f, p, &f->x[p], &f->y[p], m, e);
            }
    }
    return rc;
}

/* What panels are: workloads; of columns that are keys no more than where they stand. */
static const char *panels_word(struct xy *f, const char *columns, const char *where)
{
    return strpbrk(columns, ".,") ? canvas_keep(f->c, "panels %s each other", where)
                                  : canvas_keep(f->c, "%ss", columns);
}

/* How many panels there are, their names, and those of the axes. */
static const char **name_panels(struct xy *f, struct err *e)
{
    int32_t columns = f->column.names.n, rows = f->row.names.n;
    const char **names = canvas_new(f->c, (int64_t)GRID_COLUMNS * GRID_ROWS, sizeof *names, e);

    f->x_scale = xy_scale(f, X, f->spec->axis_label[0], &f->x_title);
    for (int32_t m = 0; m < f->n_y; m++)
        f->y_scale[m] = xy_scale(f, m ? Y2 : Y, f->spec->axis_label[1 + m], &f->y_title[m]);
    f->n_columns = f->has_rows ? (columns < GRID_COLUMNS ? columns : GRID_COLUMNS) : columns;
    f->n_columns = f->n_columns < WRAP_MOST ? f->n_columns : WRAP_MOST;
    f->n_rows = rows < GRID_ROWS ? rows : GRID_ROWS;
    f->n_panels = f->n_columns * f->n_rows * f->n_y;
    canvas_note_first(f->c, f->n_columns, columns, panels_word(f, f->facet_name, "beside"));
    canvas_note_first(f->c, f->n_rows, rows, panels_word(f, f->rows_name, "below"));
    for (int32_t p = 0; p < f->n_panels && names; p++) {
        const char *column = f->column.names.list[f->has_rows ? p % f->n_columns : p];
        const char *row = f->rows_name[0] ? f->row.names.list[p / f->n_columns] : "";
        column = column[0] ? xy_word_of(f, f->facet_name, column) : "";
        row = f->n_y > 1 ? f->y_title[xy_metric_of(f, p)] : row[0] ? xy_word_of(f, f->rows_name, row) : "";
        names[p] = canvas_keep(f->c, "%s%s%s", column, column[0] && row[0] ? " · " : "", row);
    }
    return names;
}

/* ---- marks ---- */

static int32_t xy_shade_of(const struct xy *f, int32_t color)
{
    double x = 0;
    int32_t i = 0;

    num_parse_real(f->color.names.list[color], &x);
    while (i + 1 < SHADE_COUNT && x > f->shade_ends[i] * (1 + 1e-12))
        i++;
    return SHADE_COUNT - 1 - i; /* dark is much */
}

/* Where no column has the shapes they go with the colours: more series look different. */
static int32_t n_told_apart(const struct xy *f)
{
    return f->shape_name[0] ? COLORS : MARKS_POINTS;
}

/* What a series looks like; `hollow` of designs that do not fit. */
static struct mark xy_mark_of(const struct xy *f, int32_t color, int32_t shape, bool hollow)
{
    int32_t style = f->styles[color];

    if (f->spec->looks)
        return f->spec->looks[color].mark;
    if (f->spec->bars)
        return (struct mark){ MARK_FILL, FILL_FIRST + style };
    if (f->spec->join)
        return (struct mark){ MARK_LINE, 1 + style + COLORS * shape };
    if (f->shades)
        return (struct mark){ MARK_SPOT, xy_shade_of(f, color) };
    if (color >= n_told_apart(f))
        return (struct mark){ MARK_DOT, 0 };
    return (struct mark){ hollow ? MARK_HOLLOW : MARK_POINT,
                          f->shape_name[0] ? marks_point_style(style, shape) : style };
}

/* The ends of a bar in its panel: from zero, or from where the axis begins, cut at the frame. */
struct bar_ends {
    double from, to;
};

static struct bar_ends bar_of(const struct axis *y, double at)
{
    double zero = y->log ? y->lo : fmin(fmax(0, y->lo), y->hi);
    return (struct bar_ends){ zero, fmin(fmax(at, y->lo), y->hi) };
}

/* What keeps the point off the axes; NULL: it lies on them. A bar lies on them with any part of it. */
static const char *off_axes(const struct xy *f, int32_t panel, int64_t i, int32_t m)
{
    const struct axis *x = &f->x[panel], *y = &f->y[panel];
    double at_x = x_at(f, i), at_y = y_at(f, m, i);
    bool inside = at_y >= y->lo && at_y <= y->hi;

    if ((x->log && at_x <= 0) || (y->log && at_y <= 0))
        return "not above zero";
    if (f->spec->bars) {
        struct bar_ends bar = bar_of(y, at_y);
        inside = inside || bar.from != bar.to;
    }
    return inside && at_x >= x->lo && at_x <= x->hi ? NULL : "outside the range";
}

/* What keeps a row out of a panel that it belongs in; NULL: it is drawn there. */
static const char *not_drawn(const struct xy *f, int32_t panel, int64_t i)
{
    if (is_drawn(f, i, panel))
        return off_axes(f, panel, i, xy_metric_of(f, panel));
    return !f->chosen[i]   ? f->not_chosen
           : f->spec->bars ? "behind a better one of the same bar"
                           : "behind a better one at the same place of a line";
}

/* Why a row has no panel. */
static const char *without_panel(const struct xy *f, int64_t i)
{
    return f->x_words && f->categories.at[i] >= MAX_CATEGORIES ? "of other words on x" : "of other panels";
}

/* A row of two quantities is drawn where either is. */
static void xy_account(struct xy *f)
{
    int64_t n_partly = 0, n_cut = 0;

    for (int64_t i = 0; i < f->d.n; i++) {
        const char *why = NULL;
        bool drawn = false, any = false;
        for (int32_t p = 0; p < f->n_panels; p++) {
            if (!is_in_panel(f, i, p))
                continue;
            const char *own = not_drawn(f, p, i);
            double y = y_at(f, xy_metric_of(f, p), i);
            any = true;
            why = own ? own : why;
            drawn = drawn || !own;
            n_cut += !own && f->spec->bars && (y < f->y[p].lo || y > f->y[p].hi);
        }
        if (!drawn)
            data_leave_out(&f->d, i, any ? why : without_panel(f, i));
        n_partly += drawn && why;
    }
    if (n_partly > 0)
        canvas_note(f->c, "%lld rows are drawn by one quantity alone", (long long)n_partly);
    if (n_cut > 0)
        canvas_note(f->c, "%lld %s on beyond the range", (long long)n_cut,
                    n_cut == 1 ? "bar goes" : "bars go");
}

/* ---- one panel ---- */

#define ASIDE_PX 3.0

/* Intervals at one x hide each other: lines step aside, each by so much of the axis, where there is room for
 * all of them between neighbouring x, and on a linear axis, on which a step is a constant number of pixels.
 */
static double step_aside(struct xy *f, const struct panel *p, struct err *e)
{
    const struct sort_key key = { .x = f->d.x[X] };
    const int64_t *order = data_order(&f->d, &key, 1, e);
    double px = (p->x.hi - p->x.lo) / (p->box.right - p->box.left), least = HUGE_VAL;
    bool any = false;

    for (int64_t k = 0; k < f->d.n && order; k++) {
        double apart = k ? (f->d.x[X][order[k]] - f->d.x[X][order[k - 1]]) / f->x_scale : 0;
        least = apart > 0 ? fmin(least, apart) : least;
        any = any || f->d.x[HALF][k] > 0;
    }
    return any && least >= (f->color.names.n + 4) * ASIDE_PX * px ? ASIDE_PX * px : 0;
}

static void put_cloud(struct xy *f)
{
    for (int64_t i = 0; i < f->d.n; i++)
        if (is_in_panel(f, i, f->index) && !is_marked(f, i, f->m) && f->spec->behind &&
            !off_axes(f, f->index, i, f->m))
            canvas_point(f->c, x_at(f, i), y_at(f, f->m, i));
    canvas_block_end(f->c, (struct mark){ MARK_CLOUD, 0 });
}

/* Where the bar of a row begins and ends along x: those of one word share 0.8 of its room. */
static struct bar_ends bar_sides(const struct xy *f, int64_t i)
{
    double width = 0.8 / f->color.names.n, left = x_at(f, i) - 0.4 + f->color.at[i] * width;
    return (struct bar_ends){ left, left + width };
}

/* Whiskers of one series: lines have theirs in their colour. */
static void put_halves(struct xy *f, int32_t color, int32_t shape)
{
    for (int64_t i = 0; i < f->d.n; i++) {
        double ends[2], y = y_at(f, f->m, i), x = x_at(f, i);
        if (f->spec->bars)
            x = (bar_sides(f, i).from + bar_sides(f, i).to) / 2;
        if (is_in_panel(f, i, f->index) && is_marked(f, i, f->m) && xy_ends_at(ends, f, f->m, i) &&
            f->color.at[i] == color && f->shape.at[i] == shape && !off_axes(f, f->index, i, f->m))
            canvas_bar(f->c, x, y, fmin(fmax(f->on.y.lo, ends[0]), f->on.y.hi), fmin(f->on.y.hi, ends[1]));
    }
    canvas_block_end(f->c, (struct mark){ MARK_WHISKER,
                                          f->spec->join ? 1 + xy_mark_of(f, color, shape, false).style : 0 });
}

/* Rows of one series, or (color = -1) all that are filled, in the order of the table or (`along`) by x. The
 * rows are at the beginning of f->order until the next call; -1 = no memory. */
static int64_t gather_series(struct xy *f, int32_t color, int32_t shape, int hollow, bool along,
                             struct err *e)
{
    const struct data *d = &f->d;
    const struct sort_key keys[] = { { .word = f->x_words ? f->categories.at : NULL,
                                       .x = f->x_words ? NULL : d->x[X] },
                                     { .x = d->x[f->m ? Y2 : Y] } };
    int64_t n = 0;

    for (int64_t i = 0; i < d->n; i++)
        if (is_in_panel(f, i, f->index) && is_marked(f, i, f->m) && (color < 0 || f->color.at[i] == color) &&
            (shape < 0 || f->shape.at[i] == shape) && (hollow < 0 || f->hollow[i] == hollow) &&
            !off_axes(f, f->index, i, f->m))
            f->order[n++] = i;
    return along && data_sort(f->order, n, keys, 2, e) ? -1 : n;
}

/* What one gets in y for the x of the n rows in f->order: level until the next point, after the last to the
 * end of the axis. */
static void put_steps(struct xy *f, int64_t n, double end)
{
    for (int64_t k = 0; k < n; k++) {
        double y = y_at(f, f->m, f->order[k]);
        canvas_point(f->c, x_at(f, f->order[k]), y);
        canvas_point(f->c, k + 1 < n ? x_at(f, f->order[k + 1]) : end, y);
    }
}

/* A series that is a staircase comes down from the top of the panel; one that rises again, as fronts over
 * more columns than two do, has markers. */
static int put_staircase(struct xy *f, int32_t color, struct err *e)
{
    int64_t n = gather_series(f, color, -1, -1, true, e);
    struct mark mark = f->spec->looks[color].mark;
    bool falls = true;

    for (int64_t k = 1; k < n; k++)
        falls = falls && y_at(f, f->m, f->order[k]) <= y_at(f, f->m, f->order[k - 1]);
    if (n > 0 && falls) {
        canvas_point(f->c, x_at(f, f->order[0]), f->on.y.hi);
        put_steps(f, n, f->on.x.hi);
    }
    for (int64_t k = 0; k < n && !falls; k++) {
        canvas_mark_row(f->c, f->d.row[f->order[k]]);
        canvas_point(f->c, x_at(f, f->order[k]), y_at(f, f->m, f->order[k]));
    }
    canvas_block_end(f->c, falls ? mark : (struct mark){ MARK_DOT, mark.style });
    return n < 0 ? ERR_NOMEM : 0;
}

/* The number above a bar, or above its interval, where the bar is as wide as it. */
static void put_bar_value(struct xy *f, int64_t i)
{
    struct bar_ends side = bar_sides(f, i);
    double y = y_at(f, f->m, i), ends[2];
    bool interval = xy_ends_at(ends, f, f->m, i);
    struct canvas_xy left =
                         panel_px(&f->on, (struct canvas_xy){ side.from, fmax(interval ? ends[1] : y, 0) }),
                     right = panel_px(&f->on, (struct canvas_xy){ side.to, 0 });
    const char *value = canvas_keep(f->c, fabs(y) < 100 ? "%.3g" : "%.0f", y);
    const struct canvas_label at = {
        .x_px = (left.x + right.x) / 2, .y_px = left.y - 7, .align = ALIGN_CENTER, .size_px = CANVAS_SMALL_PX
    };

    if (canvas_width(value, CANVAS_SMALL_PX) <= right.x - left.x + 2 && at.y_px > f->on.box.top + 7)
        canvas_text(f->c, &at, value);
}

/* Hollow ones first, so that filled ones lie on them; lines and bars know no hollow ones. */
static int put_series(struct xy *f, int32_t color, int32_t shape, struct err *e)
{
    bool best = f->spec->join || f->spec->bars,
         cloud = f->spec->looks && f->spec->looks[color].mark.kind == MARK_CLOUD;

    if (f->spec->looks && f->spec->looks[color].steps)
        return put_staircase(f, color, e);
    for (int hollow = best ? -1 : 1; hollow >= -1; hollow--) {
        int64_t n = hollow < 0 && !best ? 0 : gather_series(f, color, shape, hollow, best, e);
        if (n < 0)
            return ERR_NOMEM;
        for (int64_t k = 0; k < n && f->spec->bars; k++) /* no text can stand in a block */
            put_bar_value(f, f->order[k]);
        for (int64_t k = 0; k < n; k++) {
            int64_t i = f->order[k];
            struct bar_ends side = bar_sides(f, i), bar = bar_of(&f->on.y, y_at(f, f->m, i));
            if (!cloud) /* of which there are too many for names */
                canvas_mark_row(f->c, f->d.row[i]);
            if (f->spec->bars)
                canvas_bar(f->c, side.from, bar.from, side.to, bar.to);
            else
                canvas_point(f->c, x_at(f, i), y_at(f, f->m, i));
        }
        canvas_block_end(f->c, xy_mark_of(f, color, shape, hollow == 1));
    }
    return 0;
}

/* The front of a panel by rising x where less is better: its rows on the axes, at the begin of f->order. */
static int64_t gather_front(struct xy *f, struct err *e)
{
    const struct sort_key key = { .x = f->d.x[X], .falls = f->x_better > 0 };
    int64_t n = 0;

    for (int64_t i = 0; i < f->d.n && f->front; i++)
        if (f->on_front[f->m][i] && is_in_panel(f, i, f->index) && !off_axes(f, f->index, i, f->m))
            f->order[n++] = i;
    return data_sort(f->order, n, &key, 1, e) ? -1 : n;
}

/*
 * The point of the front nearest to the corner of the panel where both are best. Distances are in shares of
 * the panel, so the knee depends on the axes, logs among them: it is where the eye sees it. A front whose
 * points are all one has none. A table of `weft front` has a column that knows better, which is taken then.
 */
static int64_t find_knee(struct xy *f, int64_t n)
{
    struct canvas_box b = f->on.box;
    const struct canvas_xy corner = { f->x_better > 0 ? b.right : b.left,
                                      f->y_better[f->m] > 0 ? b.top : b.bottom };
    double least = HUGE_VAL;
    int64_t knee = -1;
    struct canvas_xy first = { 0, 0 };
    bool one = true;

    for (int64_t k = 0; k < n; k++) {
        struct canvas_xy at =
            panel_px(&f->on, (struct canvas_xy){ x_at(f, f->order[k]), y_at(f, f->m, f->order[k]) });
        first = k == 0 ? at : first;
        one = one && at.x == first.x && at.y == first.y;
        double far = hypot((at.x - corner.x) / (b.right - b.left), (at.y - corner.y) / (b.bottom - b.top));
        if (far < least) {
            least = far;
            knee = f->order[k];
        }
    }
    return one ? -1 : knee;
}

static bool is_knee(const struct xy *f, int64_t i, int32_t col)
{
    char buf[NUM_TEXT];
    return strcmp(data_text(buf, &f->d, i, col), "yes") == 0;
}

/* ---- texts ---- */

/* Whether the column is drawn as something else already. */
static bool xy_is_shown(const struct xy *f, const char *name)
{
    const char *const shown[] = { f->x_name,     f->y_name[0],  f->color_name,
                                  f->shape_name, f->facet_name, f->rows_name };

    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (strcmp(shown[i], name) == 0)
            return true;
    return false;
}

/*
 * Columns of a text: those asked for, else what tells the points apart, which stands between point and the
 * names. -1: a column that was asked for is not there. Axes of a study are the columns between `point` and
 * `network`.
 */
static int32_t text_columns(const struct xy *f, int32_t cols[MAX_TEXTS], struct err *e)
{
    static const char *const words[] = { "network", "scheduler", "method", "objective", COL_TOTAL_GBPS };
    const struct table *t = f->d.r.t;
    int32_t n = 0, end = table_find(t, "network");
    size_t length;

    for (const char *rest = f->spec->text, *name;
         rest && n < MAX_TEXTS && (name = text_next(&rest, ',', &length));) {
        const char *column = canvas_keep(f->c, "%.*s", (int)length, name);
        if (check_column(f, "text", column, false, e))
            return -1;
        cols[n++] = table_find(t, column);
    }
    for (int32_t col = table_find(t, "point") + 1; !f->spec->text && col < end && n < MAX_TEXTS; col++)
        if (!xy_is_shown(f, t->names[col]) && data_varies(&f->d, f->d.row, f->d.n, col))
            cols[n++] = col;
    for (size_t i = 0; i < sizeof words / sizeof *words && !f->spec->text && n < 3; i++) {
        int32_t col = table_find(t, words[i]);
        if (col >= 0 && !xy_is_shown(f, words[i]) && data_varies(&f->d, f->d.row, f->d.n, col))
            cols[n++] = col;
    }
    return n;
}

/* With the last words of keys before numbers, or (brief) without. */
static const char *xy_text_of(const struct xy *f, int64_t i, const int32_t *cols, int32_t n, bool brief_form)
{
    struct text out = { 0 }, brief = { 0 };
    char buf[NUM_TEXT];
    double x;

    if (f->plans) {
        phrases_put(&out, f->plans, f->d.n, i, brief_form ? PHRASES_SHORT : PHRASES_VARYING);
        return canvas_keep_text(f->c, &out);
    }
    for (int32_t k = 0; k < n; k++) {
        const char *value = data_text(buf, &f->d, i, cols[k]);
        text_puts(&out, out.n && value[0] ? " · " : "");
        if (num_parse_real(value, &x))
            text_printf(&out, "%s%s%.4g", brief_form ? "" : key_last(f->d.r.t->names[cols[k]]),
                        brief_form ? "" : " ", x);
        else
            key_put_value(&out, value);
    }
    canvas_put_short(&brief, text_str(&out), (size_t)LABEL_CHARS * (n > 1 ? 2 : 1));
    text_free(&out);
    return canvas_keep_text(f->c, &brief);
}

static struct canvas_xy xy_px(struct xy *f, int64_t i)
{
    return panel_px(&f->on, (struct canvas_xy){ x_at(f, i), y_at(f, f->m, i) });
}

/*
 * What texts keep clear of: markers, then thin things (which a text may cover, if it must), whiskers, the
 * dots of the cloud and the steps of the front, the last of which goes on to the frame.
 */
static void xy_take_places(struct xy *f, struct places *places, int64_t n_front)
{
    const struct canvas_box *box = &f->on.box;

    places->inside = (struct canvas_box){ box->left + 2, box->top + 1, box->right - 2, box->bottom - 2 };
    for (int64_t i = 0; i < f->d.n; i++)
        if (is_in_panel(f, i, f->index) && is_marked(f, i, f->m))
            places_take_marker(places, xy_px(f, i));
    for (int64_t i = 0; i < f->d.n; i++) {
        double ends[2];
        if (!is_in_panel(f, i, f->index) || !is_marked(f, i, f->m) || !xy_ends_at(ends, f, f->m, i))
            continue;
        struct canvas_xy low = panel_px(&f->on, (struct canvas_xy){ x_at(f, i), ends[0] }),
                         high = panel_px(&f->on, (struct canvas_xy){ x_at(f, i), ends[1] });
        places_take(places, (struct place_taken){ .box = { low.x - 1, high.y, low.x + 1, low.y } });
    }
    for (int64_t i = 0; i < f->d.n; i++)
        if (is_in_panel(f, i, f->index) && !is_marked(f, i, f->m) && f->spec->behind) {
            struct canvas_xy at = xy_px(f, i);
            places_take(places, (struct place_taken){ .box = { at.x - 2, at.y - 2, at.x + 2, at.y + 2 },
                                                      .thin = true });
        }
    for (int64_t k = 0; k < n_front; k++) {
        struct canvas_xy a = xy_px(f, f->order[k]), b = { f->x_better > 0 ? box->left : box->right, a.y };
        if (k + 1 < n_front)
            b = xy_px(f, f->order[k + 1]);
        places_take(places, (struct place_taken){ .box = { fmin(a.x, b.x), a.y - 1, fmax(a.x, b.x), a.y + 1 },
                                                  .thin = true });
        places_take(places, (struct place_taken){ .box = { b.x - 1, fmin(a.y, b.y), b.x + 1, fmax(a.y, b.y) },
                                                  .thin = true });
    }
}

/*
 * One text, in the long form or the short: beside its marker, apart from it with a line that leads there, or
 * over the lines of the panel. With a cloud behind nearly all places are taken by dots, over which a text is
 * read well.
 */
static bool xy_put_text(struct xy *f, struct places *places, struct canvas_xy at, const char *text,
                        const char *brief)
{
    struct canvas *c = f->c;
    bool cloud = f->spec->behind;

    return places_put_beside(places, c, at, text, CANVAS_BLACK, cloud) ||
           places_put_beside(places, c, at, brief, CANVAS_BLACK, cloud) ||
           places_put_apart(places, c, at, brief, CANVAS_BLACK, cloud) ||
           places_put_beside(places, c, at, brief, CANVAS_BLACK, true) ||
           places_put_apart(places, c, at, brief, CANVAS_BLACK, true);
}

/*
 * Which rows of the panel have a text. f->order must still begin with the front. Of panels with more than
 * 4,096 rows the last markers keep no place free.
 */
static int xy_put_texts(struct xy *f, int64_t n_front, struct err *e)
{
    const char *label = f->spec->label;
    int32_t cols[MAX_TEXTS], n = text_columns(f, cols, e);
    int32_t col = table_find(f->d.r.t, label), knee_col = table_find(f->d.r.t, "knee");
    bool knee = strcmp(label, "knee") == 0, front = strcmp(label, "front") == 0,
         top = strcmp(label, "top") == 0;
    int64_t the_knee = knee && knee_col < 0 ? find_knee(f, n_front) : -1, n_asked = front ? n_front : f->d.n;
    struct places places;
    const char *last = "";
    bool named = f->d.r.figure->help; /* whose notes say what labels are */
    char buf[NUM_TEXT];
    int n_put = 0;

    if (n < 0)
        return ERR_USAGE;
    if (!knee && !front && !top && col < 0)
        return err_set(e, ERR_USAGE, "option --label is \"%s\", expected knee, front, top or a column",
                       label);
    if (places_begin(&places, f->c, (int32_t)(f->d.n < 4096 ? f->d.n : 4096) * 4 + 2 * MAX_LABELS, e))
        return ERR_NOMEM;
    xy_take_places(f, &places, n_front);
    for (int64_t k = 0; k < n_asked && f->n_knees < MAX_LABELS; k++) {
        int64_t i = front ? f->order[k] : k;
        bool wanted = knee    ? (knee_col < 0 ? i == the_knee : is_knee(f, i, knee_col))
                      : front ? true
                      : top   ? f->spec->top > 0 && f->chosen[i]
                              : data_text(buf, &f->d, i, col)[0] != '\0';
        if (!wanted || !is_in_panel(f, i, f->index) || !is_marked(f, i, f->m) ||
            off_axes(f, f->index, i, f->m))
            continue;
        if (knee)
            f->order_knees[f->n_knees++] = i;
        if (n_put == MAX_LABELS) {
            f->n_unplaced++;
            continue;
        }
        const char *own = !knee && !front && !top && !f->spec->text ? data_text(buf, &f->d, i, col) : "";
        const char *text = own[0] ? own : xy_text_of(f, i, cols, n, named && !f->plans);
        const char *brief = own[0] ? own : xy_text_of(f, i, cols, n, true);
        if (!text[0] || (front && strcmp(text, last) == 0)) /* along a front where they change */
            continue;
        last = text;
        bool put = xy_put_text(f, &places, xy_px(f, i), text, brief);
        n_put += put;
        f->n_unplaced += !put;
    }
    return 0;
}

static int xy_put_panel(struct xy *f, int32_t index, struct err *e)
{
    int rc = 0;

    f->on = (struct panel){ wrap_box(&f->page, index), f->x[index], f->y[index] };
    f->index = index;
    f->m = xy_metric_of(f, index);

    f->aside = f->spec->join && !f->x_words && !f->on.x.log ? step_aside(f, &f->on, e) : 0;
    canvas_panel(f->c, &f->on.box, &f->on.x, &f->on.y);
    if (f->x_words)
        canvas_categories(f->c, &f->on.box, f->categories.names.list, (int32_t)(f->on.x.hi + 0.5), 3);
    if (f->page.names[index][0])
        canvas_name(f->c, &f->on.box, f->on.box.right - f->on.box.left + f->page.look->name_px,
                    f->page.names[index]);
    int64_t n_front = gather_front(f, e);
    if (n_front < 0)
        return ERR_NOMEM;
    if (f->spec->label)
        rc = xy_put_texts(f, n_front, e);
    if (rc)
        return rc;
    put_cloud(f);
    put_steps(f, n_front, f->x_better > 0 ? f->on.x.lo : f->on.x.hi);
    canvas_block_end(f->c, (struct mark){ MARK_FRONT, 0 });
    for (int32_t color = 0; color < f->color.names.n && !rc; color++)
        for (int32_t shape = 0; shape < f->shape.names.n && !rc; shape++) {
            if (!f->spec->bars)
                put_halves(f, color, shape);
            rc = put_series(f, color, shape, e);
            if (f->spec->bars) /* over the bars, which would hide them */
                put_halves(f, color, shape);
        }
    for (int64_t k = 0; k < f->n_knees; k++) {
        canvas_mark_row(f->c, f->d.row[f->order_knees[k]]);
        canvas_point(f->c, x_at(f, f->order_knees[k]), y_at(f, f->m, f->order_knees[k]));
    }
    canvas_block_end(f->c, (struct mark){ MARK_RING, 0 });
    f->n_knees = 0;
    canvas_draw(f->c);
    return rc;
}

/* ---- the page ---- */

static void put_shade_legend(struct xy *f)
{
    for (int i = 0; i < SHADE_COUNT; i++)
        canvas_legend(f->c, (struct mark){ MARK_SPOT, SHADE_COUNT - 1 - i },
                      canvas_keep(f->c, "%s%.3g", i == 0 ? canvas_keep(f->c, "%s up to ", f->color_name) : "",
                                  f->shade_ends[i]));
}

/* May a panel have a ring? */
static bool any_knee(const struct xy *f)
{
    int32_t col = table_find(f->d.r.t, "knee");
    bool asked = f->spec->label && strcmp(f->spec->label, "knee") == 0, any = col < 0 && f->front;

    for (int64_t i = 0; i < f->d.n && asked && col >= 0 && !any; i++)
        any = is_knee(f, i, col);
    return asked && any;
}

static void xy_put_legend(struct xy *f)
{
    bool shapes = f->shape.names.n > 1, joined = f->spec->join && shapes, any_hollow = false;
    bool several = f->color.names.n > 1 || joined || (f->d.r.figure->help && f->color_name[0]);

    if (f->front)
        canvas_legend(f->c, (struct mark){ MARK_FRONT, 0 }, "front");
    if (f->spec->behind && f->spec->top > 0)
        canvas_legend(f->c, (struct mark){ MARK_CLOUD, 0 }, "others");
    for (int32_t k = 0; k < f->spec->n_looks; k++)
        for (int64_t i = 0; i < f->d.n; i++)
            if (f->color.at[i] == k) {
                canvas_legend(f->c, f->spec->looks[k].mark, f->spec->looks[k].label);
                break;
            }
    if (f->shades && !f->spec->join && !f->spec->bars)
        put_shade_legend(f);
    else if (!f->spec->looks)
        for (int32_t k = 0; k < f->color.names.n && several; k++)
            for (int32_t s = 0; s < (joined ? f->shape.names.n : 1); s++) {
                int32_t n_rest = f->spec->join || f->spec->bars ? 0 : f->color.names.n - n_told_apart(f);
                bool rest = n_rest > 0 && k >= n_told_apart(f);
                if (!rest || k == n_told_apart(f))
                    canvas_legend(
                        f->c, xy_mark_of(f, k, s, false),
                        rest && n_rest > 1
                            ? canvas_keep(f->c, "%d others", (int)n_rest)
                            : canvas_keep(
                                  f->c, "%s%s%s", xy_word_of(f, f->color_name, f->color.names.list[k]),
                                  joined ? " · " : "",
                                  joined ? xy_word_of(f, f->shape_name, f->shape.names.list[s]) : ""));
            }
    for (int32_t s = 0; s < f->shape.names.n && shapes && !f->spec->join && !f->spec->bars && !f->shades; s++)
        canvas_legend(f->c, (struct mark){ MARK_POINT, marks_point_style(COLORS - 1, s) },
                      xy_word_of(f, f->shape_name, f->shape.names.list[s]));
    if (f->shape.names.n > MARKS_SHAPES && !f->spec->join && !f->spec->bars && !f->shades)
        canvas_note(f->c, "%d values of %s, whose shapes repeat", (int)f->shape.names.n, f->shape_name);
    if (any_knee(f))
        canvas_legend(f->c, (struct mark){ MARK_RING, 0 }, "knee");
    for (int64_t i = 0; i < f->d.n; i++)
        any_hollow = any_hollow || (f->hollow[i] && f->chosen[i]);
    if (any_hollow && !f->spec->join && !f->spec->bars)
        canvas_note(f->c, "hollow: %s",
                    f->spec->hollow ? f->spec->hollow : "needs more memory than an NPU has");
    for (int64_t i = 0; i < f->d.n; i++) {
        double ends[2];
        if (!xy_ends_at(ends, f, 0, i))
            continue;
        bool half = f->d.x[HALF][i] > 0, all = f->d.n <= MAX_BANDS && !f->spec->looks;
        canvas_note(f->c, "whiskers%s: %s%s", half || all ? "" : " of the front",
                    !half               ? BAND_WORDS
                    : f->spec->whiskers ? f->spec->whiskers
                                        : f->half_names[0],
                    f->any_cut ? ", cut at the frame" : "");
        break;
    }
}

static int xy_draw_xy(struct xy *f, struct err *e)
{
    struct wrap_look look = { .most = GRID_COLUMNS * GRID_ROWS,
                              .in_row = 3,
                              .panel_px = 240,
                              .least_px = 110,
                              .alone = 1.5,
                              .y_tics_px = 44,
                              .gap_px = 10,
                              .name_px = 44,
                              .strip_px = 6 };
    const char **names = name_panels(f, e);
    int rc = names ? choose_top(f, e) : ERR_NOMEM;

    if (!rc)
        rc = keep_best(f, e);
    if (!rc)
        rc = find_fronts(f, e);
    if (!rc)
        rc = fit_panels(f, e);
    if (rc)
        return rc;
    look.in_row = f->has_rows ? f->n_columns : 3;
    if (f->has_rows && f->n_panels > f->n_columns)
        look.panel_px = f->n_panels / f->n_columns > 2 ? 170 : 220;
    wrap_fit(&f->page, f->c, &look, names, f->n_panels);
    canvas_note_first(f->c, MAX_CATEGORIES, f->categories.names.n,
                      canvas_keep(f->c, "words of %s", f->x_name));
    xy_account(f);
    xy_put_legend(f);
    rc = wrap_open(&f->page, e);
    if (rc)
        return rc;
    canvas_axis_labels(f->c, &f->page.body, f->x_title, f->n_y > 1 ? "" : f->y_title[0]);
    for (int32_t p = 0; p < f->n_panels && !rc; p++)
        rc = xy_put_panel(f, p, e);
    if (f->n_unplaced > 0)
        canvas_say(
            f->c, "%lld label%s found no room and %s left out; draw a larger figure, or label fewer points",
            (long long)f->n_unplaced, f->n_unplaced == 1 ? "" : "s", f->n_unplaced == 1 ? "is" : "are");
    canvas_close(f->c);
    return rc;
}

/* Texts of plans say what differs; what all have in common stands in a note. */
static int name_plans(struct xy *f, struct err *e)
{
    struct text common = { 0 }, varying = { 0 };

    if (!(f->plans = phrases_of_plans(&f->d, e)))
        return ERR_NOMEM;
    for (int64_t i = 0; i < f->d.n && varying.n == 0; i++)
        phrases_put(&varying, f->plans, f->d.n, i, PHRASES_VARYING);
    phrases_put(&common, f->plans, f->d.n, 0, PHRASES_COMMON);
    if (common.n)
        canvas_note(f->c, "%s", text_str(&common));
    if (varying.n > 0)
        canvas_note(f->c, "labels: the plan where it changes and there is room");
    text_free(&common);
    text_free(&varying);
    return 0;
}

/* "time and NIC over cost" */
static void xy_put_title(struct xy *f)
{
    const char *const columns[] = { f->y_name[0], f->n_y > 1 ? f->y_name[1] : NULL, f->x_name },
                      *const between[] = { "", " and ", " over " };
    struct text title = { 0 };

    for (int k = 0; k < 3; k++)
        if (columns[k]) {
            text_puts(&title, between[k]);
            table_put_title(&title, f->d.r.t, table_find(f->d.r.t, columns[k]));
        }
    canvas_title(f->c, canvas_keep_text(f->c, &title));
}

int xy_draw(struct canvas *c, const struct rows *r, const struct plot_xy *spec, struct err *e)
{
    struct xy f = { .c = c, .spec = spec, .d = { .r = *r } };
    int rc = choose_axes(&f, e);

    if (!rc)
        rc = choose_facets(&f, e);
    if (!rc)
        rc = choose_front(&f, e);
    if (!rc && !r->figure->help)
        xy_put_title(&f);
    if (!rc)
        rc = read_xy(&f, r, e);
    if (rc)
        return rc;
    convert_y(&f);
    if (spec->text && strcmp(spec->text, "plan") == 0)
        rc = name_plans(&f, e);
    if (!rc)
        rc = name_series(&f, e);
    return rc ? rc : xy_draw_xy(&f, e);
}

int fig_xy(struct canvas *c, const struct rows *r, struct err *e)
{
    return xy_draw(c, r, r->figure->look, e);
}

int plot_xy_draw(const struct plot_xy *spec, const struct table *t, const struct plot_options *opt,
                 struct text *out_image, struct err *e)
{
    static const char *const no_columns[] = { NULL };
    const struct plot_figure figure = { .name = "xy", .columns = no_columns, .build = fig_xy, .look = spec };

    return figure_draw(&figure, t, opt, out_image, e);
}
