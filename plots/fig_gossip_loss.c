#include "plots/fig.h"

#include <math.h>

#include "plots/duo.h"
#include "plots/losses.h"

enum { DOT_PX = 60 /* from marker to marker of a line, at least */ };

struct loss_fig {
    struct canvas *c;
    struct losses data;
    struct axis x, y[2]; /* of all points; y by column: loss, exchanges */
};

static double value_of(const struct losses_step *s, int32_t column)
{
    return column ? s->exchanges : s->loss;
}

/* Linear from zero, or log where what lines end with (so that all of them are seen) is far apart. */
static struct axis fit_y(const struct loss_fig *f, int32_t column)
{
    double lo = HUGE_VAL, hi = 0, least = HUGE_VAL;

    for (int32_t i = 0; i < f->data.n_lines; i++) {
        const struct losses_line *line = &f->data.lines[i];
        double end = value_of(&line->list[line->n - 1], column);
        lo = end > 0 ? fmin(lo, end) : lo;
        for (int64_t k = 0; k < line->n; k++) {
            double y = value_of(&line->list[k], column);
            hi = fmax(hi, y);
            least = y > 0 ? fmin(least, y) : least;
        }
    }
    return lo < hi && hi / lo > AXIS_LOG_RATIO ? axis_log(least, hi) : axis_bars(hi);
}

static void fit_axes(struct loss_fig *f)
{
    double end = 0;

    for (int32_t i = 0; i < f->data.n_lines; i++) {
        const struct losses_line *line = &f->data.lines[i];
        for (int64_t k = 0; k < line->n; k++)
            end = fmax(end, line->list[k].time_s);
    }
    f->x = axis_bars(end);
    f->y[0] = fit_y(f, 0);
    f->y[1] = fit_y(f, 1);
}

/* What a log axis does not show is left out. */
static bool is_shown(const struct loss_fig *f, const struct losses_step *s, int32_t column)
{
    return !f->y[column].log || value_of(s, column) > 0;
}

static void put_line(struct loss_fig *f, const struct losses_line *line, int32_t column)
{
    bool begun = false;

    for (int64_t k = 0; k < line->n; k++) {
        if (!is_shown(f, &line->list[k], column))
            continue;
        if (!begun)
            canvas_block(f->c);
        begun = true;
        canvas_point(f->c, line->list[k].time_s, value_of(&line->list[k], column));
    }
    if (begun)
        canvas_block_end(f->c, (struct mark){ MARK_TRACE, 1 + line->method });
}

/* Markers, far enough apart; of each line elsewhere, so that lines close to each other keep theirs. */
static void put_dots(struct loss_fig *f, const struct losses_line *line, int32_t column,
                     const struct canvas_box *box)
{
    double last = DOT_PX * (line->method % 8 / 8.0 - 1);
    bool begun = false;

    for (int64_t k = 0; k < line->n; k++) {
        const struct losses_step *s = &line->list[k];
        double at = axis_share(&f->x, s->time_s) * (box->right - box->left);
        bool alone = line->n == 1;
        if (!is_shown(f, s, column) || (at < last + DOT_PX && !alone))
            continue;
        if (!begun)
            canvas_block(f->c);
        begun = true;
        canvas_point(f->c, s->time_s, value_of(s, column));
        last = at;
    }
    if (begun)
        canvas_block_end(f->c, (struct mark){ MARK_DOT, 1 + line->method });
}

static void paint(struct canvas *c, const struct canvas_box *box, int32_t point, int32_t column, void *of)
{
    struct loss_fig *f = of;

    canvas_panel(c, box, &f->x, &f->y[column]);
    for (int32_t i = 0; i < f->data.n_lines; i++)
        if (f->data.lines[i].point == point)
            put_line(f, &f->data.lines[i], column);
    for (int32_t i = 0; i < f->data.n_lines; i++)
        if (f->data.lines[i].point == point)
            put_dots(f, &f->data.lines[i], column, box);
}

static void put_notes(struct loss_fig *f)
{
    int32_t least = INT32_MAX, most = 0;

    points_put_notes(f->c, &f->data.points);
    for (int32_t i = 0; i < f->data.n_lines; i++) {
        int32_t n = f->data.lines[i].n_seeds;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    if (most > 1 && least < most)
        canvas_note(f->c, "means of %d to %d seeds", (int)least, (int)most);
    else if (most > 1)
        canvas_note(f->c, "means of %d seeds", (int)most);
    if (f->data.smoothed)
        canvas_note(f->c, "loss: running mean over 5 %% of the steps");
    if (f->data.n_short > 0)
        canvas_note(f->c, "%lld %s with the first seed that ends", (long long)f->data.n_short,
                    f->data.n_short == 1 ? "line ends" : "lines end");
    if (f->data.n_blank > 0)
        canvas_note(f->c, "left out: %lld %s without a step that all seeds have", (long long)f->data.n_blank,
                    f->data.n_blank == 1 ? "line" : "lines");
}

static void put_legend(struct loss_fig *f)
{
    for (int32_t k = 0; k < f->data.methods.n; k++)
        for (int32_t i = 0; i < f->data.n_lines; i++)
            if (f->data.lines[i].method == k) {
                canvas_legend(f->c, (struct mark){ MARK_LINE, 1 + k }, f->data.methods.list[k]);
                break;
            }
}

int fig_gossip_loss(struct canvas *c, const struct rows *r, struct err *e)
{
    struct loss_fig f = { .c = c };
    const struct duo_spec spec = { .points = &f.data.points,
                                   .x_labels = { "simulated time [s]", "simulated time [s]" },
                                   .y_labels = { "loss", "exchanges so far" },
                                   .paint = paint,
                                   .of = &f };
    int rc = losses_read(&f.data, r, DUO_MAX_POINTS, e);

    if (!rc) {
        fit_axes(&f);
        put_notes(&f);
        put_legend(&f);
        rc = duo_build(c, &spec, e);
    }
    losses_free(&f.data);
    return rc;
}
