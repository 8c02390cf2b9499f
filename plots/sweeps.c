/*
 * What the rows of a sweep look like in grids and as bars: the figures that declare columns of it.
 *
 * Each figure of sweeps is a constant in figures.c (struct fig_panels or fig_bars of plots/fig.h; points
 * are drawn by plots/xy.c); the functions here read its columns once, by one rule for what a column holds
 * (sweep_bind()), and hand arrays to the page that draws them. Rows that are not solved are left out, and
 * solved ones without what is drawn; what a design is compared with may be missing. All memory is the
 * canvas's and goes with it.
 */
#include <math.h>
#include <string.h>

#include "plots/columns.h"
#include "plots/fig.h"
#include "plots/lanes.h"
#include "plots/page.h"

/* Solved rows of a sweep, with the columns of the figure. */
struct sweep_figure {
    struct data d;
    const char *
        *plans; /* shape [d.n], as phrases, the axes of the sweep among them; NULL without the column plan */
};

static const char *sweep_word(const struct sweep_figure *s, const char *column, int64_t i)
{
    int32_t k = data_find(&s->d, column);
    return s->d.words[k].list[s->d.word[k][i]];
}

/* What is a divisor somewhere must be above zero, or the row is left out: a time of 0 would be an infinite
 * performance and stretch the axis for all others. The equal split is what designs are compared with: it may
 * be blank, as where parts are whole, and the design is drawn without it. */
static struct bind sweep_bind(const char *column)
{
    static const char *const words[] = {
        "network", "workload", "objective", "plan", "fits", COL_N_DIMS, NULL
    };
    static const char *const divisors[] = { COL_TIME_S, COL_EQUAL_TIME_S, "mfu", NULL };
    struct bind b = { .column = column, .as = AS_NUMBER, .need = FILLED };

    for (int i = 0; words[i]; i++)
        if (strcmp(column, words[i]) == 0)
            b.as = AS_WORD;
    for (int i = 0; divisors[i]; i++)
        if (strcmp(column, divisors[i]) == 0)
            b.as = AS_ABOVE_ZERO;
    if (strcmp(column, "dims") == 0)
        b.as = AS_DIMS;
    if (strchr(column, '#'))
        b.as = AS_PER_DIM;
    if (strncmp(column, "equal_", 6) == 0)
        b.need = NEED;
    if (strcmp(column, "status") == 0) {
        b.as = AS_STATUS;
        b.word = "solved";
    }
    return b;
}

/* Ends of the band of measured steps around a step; both NaN where nothing was measured near it. */
static const char *const band_columns[2] = { COL_TIME_LOW_S, COL_TIME_HIGH_S };

static bool find_band(double ends_s[2], const struct data *d, int64_t i)
{
    for (int end = 0; end < 2; end++)
        ends_s[end] = data_x(d, band_columns[end])[i];
    return ends_s[1] > ends_s[0];
}

/* @p second: a column that may be blank, as another quantity beside it is drawn; NULL: none. */
static int read_sweep(struct sweep_figure *s, struct canvas *c, const struct rows *r, const char *second,
                      struct err *e)
{
    struct bind binds[DATA_MAX];
    int32_t n = 0;

    for (const char *const *name = r->figure->columns; *name; name++) {
        binds[n] = sweep_bind(*name);
        binds[n].need = second && strcmp(*name, second) == 0 ? NEED : binds[n].need;
        n++;
    }
    for (int end = 0; end < 2; end++)
        binds[n++] = (struct bind){ .column = band_columns[end], .as = AS_NUMBER, .need = MAY_MISS };
    int rc = data_read(&s->d, c, r, binds, n, e);
    if (rc)
        return rc;
    data_note_unproved(&s->d);
    for (int32_t k = 0; k < n; k++)
        if (strcmp(binds[k].column, "plan") == 0 && !(s->plans = phrases_of_plans(&s->d, e)))
            return ERR_NOMEM;
    return 0;
}

/* ---- grids ---- */

/* Style and words of each objective. Both belong to it, not to its place in the file, so that figures of
 * different files agree; unknown ones come after them. Where no split was sought none is optimised. */
static void name_objectives(struct canvas *c, const struct names *names, bool given, int32_t *styles,
                            const char **labels)
{
    static const char *const known[] = { "time", "perf_per_cost", "utilization",
                                         "cost", "perf_per_watt", "tco_per_token" };
    int32_t n = sizeof known / sizeof *known, others = 0;

    for (int32_t i = 0; i < names->n; i++) {
        struct text label = { 0 };
        int32_t k = 0;
        while (k < n && strcmp(names->list[i], known[k]) != 0)
            k++;
        styles[i] = 1 + (k < n ? k : n + others++);
        text_puts(&label, given ? "split as given" : "optimised for ");
        for (const char *s = given ? "" : names->list[i]; *s; s++)
            text_add(&label, *s == '_' ? " " : s, 1);
        labels[i] = canvas_keep_text(c, &label);
    }
}

/*
 * The longest run of designs with the same total, of equal runs the last: where most can be compared. Totals
 * compare exactly, so that those which are sums of an optimised split may count as different. *order is moved
 * to the run within its array, which is the canvas's.
 */
static int find_common_total(int64_t **order, int64_t *n, const struct data *d, struct err *e)
{
    const double *total = data_x(d, COL_TOTAL_GBPS);
    const struct sort_key key = { .x = total };
    int64_t first = 0, longest = 0;
    int rc = data_sort(*order, *n, &key, 1, e);

    for (int64_t i = 0, k; i < *n; i = k) {
        for (k = i + 1; k < *n && total[(*order)[k]] == total[(*order)[i]];)
            k++;
        if (k - i >= longest) {
            first = i;
            longest = k - i;
        }
    }
    for (int64_t i = 0; i < *n; i++)
        if (i < first || i >= first + longest)
            data_leave_out(d, (*order)[i], "of another total");
    *order += first;
    canvas_note(d->c, "at %.6g GB/s per NPU in all dimensions together", total[**order]);
    *n = longest;
    return rc;
}

static const double *sweep_x(const struct data *d, const char *column, struct err *e)
{
    if (strcmp(column, COL_N_DIMS) != 0)
        return data_x(d, column);
    double *depth = canvas_new(d->c, d->n, sizeof *depth, e);
    for (int64_t i = 0; i < d->n && depth; i++)
        depth[i] = d->n_dims[i];
    return depth;
}

static void note_alone(struct canvas *c, int64_t n, const struct data *d)
{
    if (n > 0)
        canvas_note(c, "%lld of %lld designs have no equal split to compare with", (long long)n,
                    (long long)d->n);
}

/* What the figure shows by quantity; how many. A second one that no row has is not shown; how many rows lack
 * it is said, for theirs is what designs are compared with. */
static int32_t read_metrics(struct grid_metric metrics[GRID_MAX_METRICS], const struct fig_panels *look,
                            const struct data *d, const int64_t *order, int64_t n)
{
    int64_t n_alone = 0;

    for (int32_t m = 0; m < look->n_metrics; m++) {
        struct grid_metric *metric = &metrics[m];
        *metric = look->metrics[m];
        metric->y = data_x(d, metric->column);
        /* A bool as 0 or 1: the height of the line. */
        metric->reference = metric->equal_column && strcmp(metric->equal_column, "1") == 0;
        if (metric->equal_column && metric->reference == 0)
            metric->equal = data_x(d, metric->equal_column);
        for (int64_t k = 0; k < n && m > 0; k++)
            n_alone += isnan(metric->y[order[k]]);
    }
    note_alone(d->c, n_alone, d);
    if (look->note && n_alone < n)
        canvas_note(d->c, "%s", look->note);
    return n_alone < n ? look->n_metrics : 1;
}

/* Columns of panels are workloads, rows are networks where `by_network`, lines are objectives. */
int fig_panels(struct canvas *c, const struct rows *r, struct err *e)
{
    const struct fig_panels *look = r->figure->look;
    struct grid_metric metrics[GRID_MAX_METRICS];
    struct sweep_figure s = { 0 };
    const struct data *d = &s.d;
    struct facet workloads, networks, goals;
    int rc = read_sweep(&s, c, r, look->n_metrics > 1 ? look->metrics[1].column : NULL, e);

    int64_t *order = rc ? NULL : data_order(d, NULL, 0, e), n = d->n;
    if (!order)
        return rc ? rc : ERR_NOMEM;
    if (look->common_total)
        rc = find_common_total(&order, &n, d, e);
    if (!rc)
        rc = data_facet(&workloads, d, data_find(d, "workload"), order, n, e);
    if (!rc)
        rc = data_facet(&networks, d, look->by_network ? data_find(d, "network") : -1, order, n, e);
    if (!rc)
        rc = data_facet(&goals, d, data_find(d, "objective"), order, n, e);
    if (rc)
        return rc;
    int32_t *styles = canvas_new(c, goals.names.n, sizeof *styles, e);
    const char **labels = canvas_new(c, goals.names.n, sizeof *labels, e);
    const double *x = sweep_x(d, look->x, e);
    if (!styles || !labels || !x)
        return ERR_NOMEM;
    int32_t gap = table_find(r->t, "gap");
    name_objectives(c, &goals.names, gap >= 0 && !rows_know(r, gap, -1, NULL), styles, labels);
    const struct grid_spec spec = { .data = d,
                                    .order = order,
                                    .n = n,
                                    .x = x,
                                    .x_label = look->x_label,
                                    .x_integers = look->common_total,
                                    .columns = &workloads,
                                    .rows = look->by_network ? &networks : NULL,
                                    .series = &goals,
                                    .series_labels = labels,
                                    .styles = styles,
                                    .metrics = metrics,
                                    .n_metrics = read_metrics(metrics, look, d, order, n),
                                    .column_word = "workloads",
                                    .row_word = "networks" };
    return fig_draw_grid(c, &spec, e);
}

/* ---- bars ---- */

enum {
    MAX_DESIGNS = 24,
    MAX_BARS = 96,
    ROW_PX = 24, /* of a stacked bar with its gap */
    BAR_PX = 9,  /* of one of several bars */
    GAP_PX = 11, /* between designs then */
    LEAST_ROW_PX = 8,
    SHORT_NAME = 20, /* characters, where room is short */
    MAX_PARTS = 10 + DATA_MAX_DIMS,
};

/* Shares of the page: of labels at most, and of the bars at least, or the numbers behind them go. */
#define LABEL_SHARE (1 / 2.0)
#define BARS_SHARE  (1 / 3.0)

/* Share of the step below which a rest cannot be seen, and a bar is not longer than the step. */
#define LEAST_SHARE 1e-3

/* One part of a design's bar: a dimension, or one of the figure's own parts. `value` is in the unit of the
 * axis before fig_bars.units scale it. */
struct part {
    int32_t dim; /* -1 = one of the figure's own */
    int32_t own;
    double value;
};

struct bars {
    struct canvas *c;
    const struct sweep_figure *s;
    const struct fig_bars *look;
    int32_t n;                   /* designs drawn */
    struct names dims;           /* all dimension names: a dimension looks the same in every design */
    bool occurs[MAX_PARTS];      /* which of the figure's own parts are drawn */
    const char **labels, **ends; /* shape [n] */
    const char *end_label;
    struct unit unit;
    struct axis x;
    double head;    /* share of a design's height that its label takes */
    bool varies[4]; /* network, workload, total, objective differ between designs */
};

/* Communication is attributed to the dimension that binds it; what overlaps compute is not exposed. A rest
 * that belongs to nothing is drawn, so that the bar is as long as the step. */
static int32_t parts_of(const struct bars *b, int64_t i, struct part out[MAX_PARTS])
{
    const struct fig_bars *look = b->look;
    const struct data *d = &b->s->d;
    double step = look->n_own ? data_x(d, COL_TIME_S)[i] : 0, rest = step;
    int32_t n = 0;

    for (int32_t k = 0; k + 1 < look->n_own; k++) {
        double value = data_x(d, look->own[k].column)[i];
        if (!(value > look->least * step))
            continue;
        out[n++] = (struct part){ -1, k, value };
        rest -= value;
    }
    for (int32_t k = 0; look->per_dim && k < d->n_dims[i]; k++) {
        double value = data_x(d, look->per_dim)[i * DATA_MAX_DIMS + k];
        out[n++] = (struct part){ k, 0, look->times == 1 ? value : look->times * value };
        rest -= value;
    }
    if (look->n_own && rest > LEAST_SHARE * step)
        out[n++] = (struct part){ -1, look->n_own - 1, rest };
    return n;
}

static int32_t bars_of(const struct bars *b, int64_t i)
{
    struct part parts[MAX_PARTS];
    return b->look->stacked ? 1 : parts_of(b, i, parts);
}

/* How many designs have room, of as many bars as the one that has most. */
static int64_t most_designs(const struct bars *b)
{
    int32_t most = 1;

    for (int64_t i = 0; i < b->s->d.n; i++)
        most = bars_of(b, i) > most ? bars_of(b, i) : most;
    return MAX_BARS / most < MAX_DESIGNS ? MAX_BARS / most : MAX_DESIGNS;
}

/* Of a front of n designs, by rising cost, as many as have room: its ends, and evenly between. Where they go.
 */
static int64_t spread(int64_t *out, const int64_t *front, int64_t n, int64_t most)
{
    int64_t kept = n < most ? n : most;

    for (int64_t k = 0; k < kept; k++)
        out[k] = front[kept > 1 ? k * (n - 1) / (kept - 1) : n - 1];
    return kept;
}

/*
 * Of more designs than have room those that no other of their workload beats in both time and cost; of a
 * table without one of them the first. Into @p out, of room for `most`; how many, -1: no memory.
 */
static int64_t choose_designs(int64_t *out, const struct data *d, int64_t most, struct err *e)
{
    int32_t cost_col = table_find(d->r.t, COL_COST_USD), time_col = table_find(d->r.t, COL_TIME_S);
    double *cost = canvas_new(d->c, d->n, sizeof *cost, e), *time = canvas_new(d->c, d->n, sizeof *time, e);
    const int32_t *workload = d->word[data_find(d, "workload")];
    const struct sort_key keys[] = { { .word = workload }, { .x = cost }, { .x = time } };
    int64_t *order = canvas_new(d->c, d->n, sizeof *order, e), n = 0, kept = 0;
    int64_t room = most / d->words[data_find(d, "workload")].n;
    room = room > 1 ? room : 1;

    if (!cost || !time || !order)
        return -1;
    for (int64_t i = 0; i < d->n; i++) {
        cost[i] = cost_col < 0 ? (double)NAN : table_number(d->r.t, d->row[i], cost_col);
        time[i] = time_col < 0 ? (double)NAN : table_number(d->r.t, d->row[i], time_col);
        if (!isnan(cost[i]) && !isnan(time[i]))
            order[n++] = i;
    }
    if (data_sort(order, n, keys, 3, e))
        return -1;
    for (int64_t first = 0, end; first < n; first = end) {
        int64_t n_front = 0;
        end = data_group_end(order, first, n, keys, 1);
        for (int64_t k = first; k < end; k++)
            if (n_front == 0 || time[order[k]] < (1 - AXIS_SAME) * time[order[first + n_front - 1]])
                order[first + n_front++] = order[k];
        kept += spread(out + kept, order + first, n_front, room < most - kept ? room : most - kept);
    }
    for (int64_t i = 0; n == 0 && i < d->n && kept < most; i++)
        out[kept++] = i;
    canvas_note(d->c,
                n > 0 ? "%lld of %lld designs, from the cheapest to the fastest of each workload"
                      : "first %lld of %lld designs",
                (long long)kept, (long long)d->n);
    return kept;
}

/* ERR_NOMEM */
static int take_designs(struct sweep_figure *s, int64_t most, struct err *e)
{
    const struct data *d = &s->d;
    int64_t rows[MAX_DESIGNS], n_all = d->n, n = choose_designs(rows, d, most, e);
    bool *chosen = canvas_new(d->c, n_all, sizeof *chosen, e);
    const char **plans = canvas_new(d->c, most, sizeof *plans, e);

    if (n < 0 || !chosen || !plans)
        return ERR_NOMEM;
    for (int64_t k = 0; k < n; k++) {
        chosen[rows[k]] = true;
        plans[k] = s->plans ? s->plans[rows[k]] : NULL;
    }
    for (int64_t i = 0; i < n_all; i++)
        if (!chosen[i])
            data_leave_out(d, i, "of other designs");
    s->plans = s->plans ? plans : NULL;
    return data_take(&s->d, rows, n, e);
}

/* The names of the deepest network come first, so that the legend runs from inside out. */
static void gather_dims(struct bars *b)
{
    const struct data *d = &b->s->d;

    for (int32_t depth = DATA_MAX_DIMS; depth > 0 && d->n_dims; depth--)
        for (int32_t i = 0; i < b->n; i++)
            for (int32_t k = 0; k < depth && d->n_dims[i] == depth; k++)
                names_add(b->c, &b->dims, d->dims[(int64_t)i * DATA_MAX_DIMS + k]);
}

static void gather_parts(struct bars *b)
{
    double longest = 0;

    for (int32_t i = 0; i < b->n; i++) {
        struct part parts[MAX_PARTS];
        int32_t n = parts_of(b, i, parts);
        double sum = 0;
        for (int32_t k = 0; k < n; k++) {
            if (parts[k].dim < 0)
                b->occurs[parts[k].own] = true;
            sum = b->look->stacked ? sum + parts[k].value : fmax(sum, parts[k].value);
        }
        double band_s[2];
        if (b->look->n_own && find_band(band_s, &b->s->d, i))
            sum = fmax(sum, band_s[1]);
        longest = fmax(longest, sum);
    }
    b->unit = (struct unit){ 1, b->look->unit };
    if (!b->look->unit)
        b->unit = data_unit(&b->s->d, data_find(&b->s->d, b->look->own[0].column), longest, NULL);
    b->x = axis_bars(longest / b->unit.scale);
    if (b->look->axis_max > 0)
        b->x.hi = fmax(b->look->axis_max, longest);
}

/* Where bandwidths are an answer, their sum is a total but for rounding. */
static void find_varying(struct bars *b)
{
    static const char *const words[] = { "network", "workload", NULL, "objective" };
    const double *total = data_x(&b->s->d, COL_TOTAL_GBPS);

    for (int32_t i = 1; i < b->n; i++)
        for (int k = 0; k < 4; k++)
            b->varies[k] =
                b->varies[k] ||
                (words[k] ? strcmp(sweep_word(b->s, words[k], i), sweep_word(b->s, words[k], 0)) != 0
                          : fabs(total[i] - total[0]) > AXIS_SAME * fmax(total[i], total[0]));
}

/* What tells a design from the others, or what all have in common. */
static void describe_design(struct text *out, const struct bars *b, int64_t i, enum phrases_part part)
{
    bool varying = part != PHRASES_COMMON;
    const char *goal = sweep_word(b->s, "objective", i), *per = strstr(goal, "_per_"); /* "perf/cost" */
    const char *words[] = { sweep_word(b->s, "network", i), sweep_word(b->s, "workload", i),
                            canvas_keep(b->c, "%.6g GB/s%s", data_x(&b->s->d, COL_TOTAL_GBPS)[i],
                                        varying ? "" : " per NPU"),
                            canvas_keep(b->c, "%.*s%s%s", per ? (int)(per - goal) : (int)strlen(goal), goal,
                                        per ? "/" : "", per ? per + 5 : "") };

    for (int k = 0; k < 4; k++)
        if (b->varies[k] == varying) {
            text_puts(out, out->n ? " · " : "");
            canvas_put_short(out, words[k], part == PHRASES_SHORT ? SHORT_NAME : SIZE_MAX);
        }
    phrases_put(out, b->s->plans, b->n, i, part);
}

/* n is at most MAX_DESIGNS. */
static bool any_repeated(const char *const *labels, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < i; k++)
            if (strcmp(labels[k], labels[i]) == 0)
                return true;
    return false;
}

/* The label with the number of its point behind it; of a table without points, or with several designs to
 * one, that of its row. */
static const char *number_label(const struct bars *b, int64_t i, bool by_row)
{
    const struct rows r = data_at(&b->s->d, i);
    int32_t point = by_row ? -1 : table_find(r.t, "point");
    char name[TABLE_ROW_NAME], buf[NUM_TEXT];

    return canvas_keep(b->c, "%s%s%s%s", b->labels[i], b->labels[i][0] ? " · " : "",
                       point < 0 ? "" : "point ",
                       point < 0 ? table_row_name(name, r.t, r.row) : rows_text(buf, &r, point));
}

/* Where two designs are told apart by nothing that is in a label, all get a number. */
static void make_labels(struct bars *b, enum phrases_part part)
{
    for (int pass = 0; pass < 3 && (pass == 0 || any_repeated(b->labels, b->n)); pass++)
        for (int32_t i = 0; i < b->n; i++) {
            struct text label = { 0 };
            describe_design(&label, b, i, part);
            b->labels[i] = canvas_keep_text(b->c, &label);
            b->labels[i] = pass ? number_label(b, i, pass == 2) : b->labels[i];
        }
}

/* A narrow part of a long bar cannot be read off the axis. Bars of bandwidth end with the bandwidths, inside
 * out; those of time with the time of the step, and a star where the note explains it. */
static const char *end_text(const struct bars *b, int64_t i)
{
    const struct data *d = &b->s->d;
    struct text out = { 0 };

    if (!b->look->end_label)
        return "";
    for (int32_t k = 0; !b->look->n_own && k < d->n_dims[i]; k++)
        text_printf(&out, "%s%.3g", k ? " | " : "", data_x(d, b->look->per_dim)[i * DATA_MAX_DIMS + k]);
    if (b->look->n_own) {
        double seconds = data_x(d, COL_TIME_S)[i];
        struct unit u = unit_pick(unit_seconds, seconds);
        bool misfit = b->look->exposed && strcmp(sweep_word(b->s, "fits", i), "no") == 0;
        text_printf(&out, "%.3g %s%s", seconds / u.scale, u.name, misfit ? " *" : "");
    }
    return canvas_keep_text(b->c, &out);
}

/* Of the widest, set as small as can be. */
static double labels_px(const struct bars *b)
{
    double widest = 0;

    for (int32_t i = 0; i < b->n; i++)
        widest = fmax(widest, canvas_width(b->labels[i], CANVAS_SMALL_PX));
    return CANVAS_LEAST_SHRINK * widest;
}

/* Where room is short names and plans are shortened first, then the numbers go; of labels that would still be
 * cut strips_build() makes lines above the bars, which have room for all. */
static int make_texts(struct bars *b, struct err *e)
{
    double room_px = (1 - BARS_SHARE) * b->c->width_px, end_px = 0;

    b->labels = canvas_new(b->c, b->n, sizeof *b->labels, e);
    b->ends = canvas_new(b->c, b->n, sizeof *b->ends, e);
    if (!b->labels || !b->ends)
        return ERR_NOMEM;
    find_varying(b);
    make_labels(b, PHRASES_VARYING);
    for (int32_t i = 0; i < b->n; i++) {
        b->ends[i] = end_text(b, i);
        end_px = fmax(end_px, canvas_width(b->ends[i], CANVAS_SMALL_PX));
    }
    b->end_label = b->look->end_label ? b->look->end_label : "";
    if (labels_px(b) + end_px > room_px)
        make_labels(b, PHRASES_SHORT);
    if (labels_px(b) > LABEL_SHARE * b->c->width_px) {
        make_labels(b, PHRASES_VARYING);
    } else if (labels_px(b) + end_px > room_px) {
        b->end_label = "";
        for (int32_t i = 0; i < b->n; i++)
            b->ends[i] = "";
    }
    return 0;
}

static void put_bars_notes(struct bars *b)
{
    const struct data *d = &b->s->d;
    struct text common = { 0 };
    int64_t n_misfit = 0, n_longer = 0, n_bands = 0;

    for (int64_t i = 0; i < d->n && b->look->n_own; i++) {
        struct part parts[MAX_PARTS];
        double sum = 0, band_s[2];
        for (int32_t k = 0, n = parts_of(b, i, parts); k < n; k++)
            sum += parts[k].value;
        n_bands += find_band(band_s, d, i);
        n_misfit += b->look->exposed && strcmp(sweep_word(b->s, "fits", i), "no") == 0;
        n_longer += sum > (1 + LEAST_SHARE) * data_x(d, COL_TIME_S)[i];
    }
    if (b->look->exposed)
        canvas_note(b->c, "exposed: beyond the compute that runs beside it");
    if (n_bands > 0)
        canvas_note(b->c, "whiskers: " BAND_WORDS);
    if (n_misfit > 0)
        canvas_note(b->c, "*: needs more memory than an NPU has");
    if (n_longer > 0)
        canvas_note(b->c, "%lld bars are longer than the step, whose parts overlap", (long long)n_longer);
    describe_design(&common, b, 0, PHRASES_COMMON);
    if (common.n)
        canvas_note(b->c, "%s", text_str(&common));
    text_free(&common);
}

/* A dimension has its style by name, the same in networks of different depth. */
static int32_t part_style(const struct bars *b, int64_t i, const struct part *p)
{
    return p->dim >= 0 ? FILL_FIRST + names_find(&b->dims, b->s->d.dims[i * DATA_MAX_DIMS + p->dim])
                       : b->look->own[p->own].fill;
}

static void put_bars_legend(struct bars *b)
{
    for (int32_t i = 0; i < b->look->n_own || i == 0; i++) {
        if (b->occurs[i])
            canvas_legend(b->c, (struct mark){ MARK_FILL, b->look->own[i].fill }, b->look->own[i].label);
        for (int32_t k = 0; k < b->dims.n && i == 0; k++)
            canvas_legend(b->c, (struct mark){ MARK_FILL, FILL_FIRST + k },
                          canvas_keep(b->c, "%s%s", b->look->dim_prefix, b->dims.list[k]));
    }
}

/* The parts of design i of one style. Rows count from the top; a design takes one unit of y, its bars 0.76 of
 * what its label leaves. */
static void put_bar_parts(struct bars *b, int32_t i, int32_t style)
{
    struct part parts[MAX_PARTS];
    int32_t n = parts_of(b, i, parts);
    double at = 0;

    canvas_mark_row(b->c, b->s->d.row[i]);
    for (int32_t k = 0; k < n; k++) {
        double value = parts[k].value / b->unit.scale, room = 1 - b->head;
        double h = 0.76 * room / (b->look->stacked ? 1 : n);
        double top = i + b->head + 0.12 * room + (b->look->stacked ? 0 : k * h);
        if (value > 0 && part_style(b, i, &parts[k]) == style)
            canvas_bar(b->c, at, top + h, at + value, top);
        at += b->look->stacked ? value : 0;
    }
}

/* Half of the ends of a band, in heights of a design. */
#define BAND_END 0.12

/* The band of measured steps around the end of each bar: a line along it with blunt ends. */
static void put_bands(const struct bars *b)
{
    for (int32_t i = 0; i < b->n; i++) {
        double band_s[2], y = i + b->head + 0.5 * (1 - b->head);
        if (!find_band(band_s, &b->s->d, i))
            continue;
        canvas_break(b->c);
        for (int end = 0; end < 2; end++) {
            double x = band_s[end] / b->unit.scale, blunt = end ? -BAND_END : BAND_END;
            canvas_point(b->c, x, end ? y : y - blunt);
            canvas_point(b->c, x, y + blunt);
            canvas_point(b->c, x, end ? y - blunt : y);
        }
    }
    canvas_block_end(b->c, (struct mark){ MARK_FRONT, 0 });
}

/* Style by style, as a block of data has one look; parts_of() is cheap enough to be asked each time. */
static void paint_designs(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct bars *b = of;
    /* One more than the highest style that occurs. */
    int32_t n_styles = FILL_FIRST + b->dims.n;

    (void)box;
    (void)panel;
    for (int32_t i = 0; i < b->look->n_own; i++)
        n_styles = b->look->own[i].fill < n_styles ? n_styles : b->look->own[i].fill + 1;
    for (int32_t style = 0; style < n_styles; style++) {
        for (int32_t i = 0; i < b->n; i++)
            put_bar_parts(b, i, style);
        canvas_block_end(c, (struct mark){ MARK_FILL, style });
    }
    if (b->look->n_own)
        put_bands(b);
}

int fig_bars(struct canvas *c, const struct rows *r, struct err *e)
{
    struct sweep_figure s = { 0 };
    struct bars b = { .c = c, .s = &s, .look = r->figure->look };
    int rc = read_sweep(&s, c, r, NULL, e);

    if (rc)
        return rc;
    int64_t most = most_designs(&b);
    rc = s.d.n > most ? take_designs(&s, most, e) : 0;
    if (rc)
        return rc;
    b.n = (int32_t)s.d.n;
    if (b.look->per_dim)
        gather_dims(&b);
    gather_parts(&b);
    rc = make_texts(&b, e);
    if (rc)
        return rc;
    put_bars_notes(&b);
    put_bars_legend(&b);
    const char *name = "";
    double rows_px = 0;
    for (int32_t i = 0; i < b.n; i++)
        rows_px += b.look->stacked ? ROW_PX : bars_of(&b, i) * BAR_PX + GAP_PX;
    const struct strips spec = { .names = &name,
                                 .n_panels = 1,
                                 .n_rows = b.n,
                                 .labels = b.labels,
                                 .label_share = LABEL_SHARE,
                                 .head = &b.head,
                                 .ends = b.ends,
                                 .end_label = b.end_label,
                                 .unit_px = rows_px / b.n,
                                 .least_unit_px = LEAST_ROW_PX,
                                 .plain = true,
                                 .x = b.x,
                                 .x_label = canvas_keep(c, "%s [%s]", b.look->axis_label, b.unit.name),
                                 .paint = paint_designs,
                                 .of = &b };
    return strips_build(c, &spec, e);
}
