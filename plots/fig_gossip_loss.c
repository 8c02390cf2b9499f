#include "plots/fig.h"

#include <math.h>
#include <stdlib.h>

#include "plots/duo.h"
#include "plots/losses.h"
#include "plots/places.h"
#include "plots/trained.h"

enum {
    DOT_PX = 60, /* from marker to marker of a line, at least */
    BIT_PX = 10, /* of a line that letters stay clear of: straight so far */
    SHAPES = 8,  /* dashes and markers of MARK_LINE: plots/marks.h */
};

struct loss_fig {
    struct canvas *c;
    struct losses data;
    struct axis x, y[2]; /* of all points; y by column: loss, exchanges; x in `time` */
    struct unit time;
    struct text x_label;
    int32_t *letters;      /* shape [methods.n], owned: position among the drawn ones, -1 = not drawn */
    struct places *places; /* owned */
    bool lettered;
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
    f->time = duo_time_unit(end);
    text_printf(&f->x_label, "simulated time [%s]", f->time.name);
    f->x = axis_bars(end / f->time.scale);
    f->y[0] = fit_y(f, 0);
    f->y[1] = fit_y(f, 1);
}

/* What a log axis does not show is left out. */
static bool is_shown(const struct loss_fig *f, const struct losses_step *s, int32_t column)
{
    return !f->y[column].log || value_of(s, column) > 0;
}

struct panel {
    struct loss_fig *f;
    const struct canvas_box *box;
    int32_t column;
};

static struct canvas_xy at_of(const struct panel *p, const struct losses_step *s)
{
    return (struct canvas_xy){ s->time_s / p->f->time.scale, value_of(s, p->column) };
}

static struct canvas_xy to_px(const struct panel *p, struct canvas_xy at)
{
    double x = axis_share(&p->f->x, at.x), y = axis_share(&p->f->y[p->column], at.y);
    return (struct canvas_xy){ p->box->left + x * (p->box->right - p->box->left),
                               p->box->bottom - y * (p->box->bottom - p->box->top) };
}

static void put_line(const struct panel *p, const struct losses_line *line)
{
    struct loss_fig *f = p->f;
    struct canvas_xy last = { 0, 0 };

    for (int64_t k = 0; k < line->n; k++) {
        if (!is_shown(f, &line->list[k], p->column))
            continue;
        struct canvas_xy at = at_of(p, &line->list[k]), px = to_px(p, at);
        if (!f->c->in_block)
            last = px;
        canvas_point(f->c, at.x, at.y);
        if (hypot(px.x - last.x, px.y - last.y) < BIT_PX)
            continue;
        places_take_line(f->places, last, px);
        last = px;
    }
    canvas_block_end(f->c, (struct mark){ MARK_TRACE, trained_line_style(line->method) });
}

/* Markers, far enough apart; of each line elsewhere, so that lines close to each other keep theirs. */
static void put_dots(const struct panel *p, const struct losses_line *line)
{
    struct loss_fig *f = p->f;
    double last = DOT_PX * (line->method % 8 / 8.0 - 1);
    bool alone = line->n == 1;

    for (int64_t k = 0; k < line->n; k++) {
        if (!is_shown(f, &line->list[k], p->column))
            continue;
        struct canvas_xy at = at_of(p, &line->list[k]), px = to_px(p, at);
        if (px.x - p->box->left < last + DOT_PX && !alone)
            continue;
        canvas_point(f->c, at.x, at.y);
        places_take_marker(f->places, px);
        last = px.x - p->box->left;
    }
    canvas_block_end(f->c, (struct mark){ MARK_DOT, trained_line_style(line->method) });
}

/* At the end of the line or, where there is no room, at the last step before it where there is. */
static void put_letter(const struct panel *p, const struct losses_line *line)
{
    struct loss_fig *f = p->f;
    struct text letter = { 0 };
    double last = HUGE_VAL;

    places_put_letter(&letter, f->letters[line->method]);
    for (int64_t k = line->n - 1; k >= 0; k--) {
        if (!is_shown(f, &line->list[k], p->column))
            continue;
        struct canvas_xy px = to_px(p, at_of(p, &line->list[k]));
        if (px.x > last - BIT_PX)
            continue;
        last = px.x;
        if (places_put(f->places, f->c, px, text_str(&letter), CANVAS_BLACK))
            break;
    }
    f->c->script.failed = f->c->script.failed || letter.failed;
    text_free(&letter);
}

static void paint(struct canvas *c, const struct canvas_box *box, int32_t point, int32_t column, void *of)
{
    struct loss_fig *f = of;
    const struct panel p = { f, box, column };
    void (*const puts[])(const struct panel *, const struct losses_line *) = { put_line, put_dots,
                                                                               put_letter };

    f->places->inside = *box;
    f->places->n = 0;
    canvas_panel(c, box, &f->x, &f->y[column]);
    for (int k = 0; k < (f->lettered ? 3 : 2); k++)
        for (int32_t i = 0; i < f->data.n_lines; i++)
            if (f->data.lines[i].point == point)
                puts[k](&p, &f->data.lines[i]);
}

static void put_notes(struct loss_fig *f)
{
    int32_t least = INT32_MAX, most = 0;

    points_put_notes(f->c, &f->data.points);
    canvas_note(f->c, "loss: of each worker on its own shard, so low too where models have drifted apart");
    canvas_note(f->c, "exchanges: messages, pairs, collectives");
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
        canvas_note(f->c, "loss shown: running mean over 5 %% of the steps");
    if (f->data.n_short > 0)
        canvas_note(f->c, "%lld %s with the first seed that ends", (long long)f->data.n_short,
                    f->data.n_short == 1 ? "line ends" : "lines end");
    if (f->data.n_blank > 0)
        canvas_note(f->c, "left out: %lld %s without a step that all seeds have", (long long)f->data.n_blank,
                    f->data.n_blank == 1 ? "line" : "lines");
}

static void put_legend(struct loss_fig *f)
{
    struct text label = { 0 };

    for (int32_t k = 0; k < f->data.methods.n; k++) {
        if (f->letters[k] < 0)
            continue;
        text_clear(&label);
        if (f->lettered)
            places_put_letter(&label, f->letters[k]);
        text_printf(&label, "%s%s", f->lettered ? "  " : "", f->data.methods.list[k]);
        canvas_legend(f->c, (struct mark){ MARK_LINE, trained_line_style(k) }, text_str(&label));
    }
    f->c->script.failed = f->c->script.failed || label.failed;
    text_free(&label);
}

/* Where two of the drawn methods have the same dash and marker, which is all that grey shows, each has a
 * letter. */
static int choose_letters(struct loss_fig *f, struct err *e)
{
    bool used[SHAPES] = { false };
    int32_t n = 0;

    f->letters = malloc(((size_t)f->data.methods.n + 1) * sizeof *f->letters);
    f->places = malloc(sizeof *f->places);
    if (!f->letters || !f->places)
        return err_nomem(e, "the figure's lines");
    for (int32_t k = 0; k < f->data.methods.n; k++)
        f->letters[k] = -1;
    for (int32_t i = 0; i < f->data.n_lines; i++)
        f->letters[f->data.lines[i].method] = 0;
    for (int32_t k = 0; k < f->data.methods.n; k++) {
        if (f->letters[k] < 0)
            continue;
        bool *shape = &used[trained_line_style(k) % SHAPES];
        f->lettered = f->lettered || *shape;
        *shape = true;
        f->letters[k] = n++;
    }
    return 0;
}

static int draw(struct loss_fig *f, struct err *e)
{
    fit_axes(f);
    put_notes(f);
    put_legend(f);
    const char *x_label = text_str(&f->x_label);
    const struct duo_spec spec = { .points = &f->data.points,
                                   .x_labels = { x_label, x_label },
                                   .y_labels = { "training loss on own shard [nats]", "exchanges so far" },
                                   .paint = paint,
                                   .of = f };
    int rc = text_check(&f->x_label, e);
    return rc ? rc : duo_build(f->c, &spec, e);
}

int fig_gossip_loss(struct canvas *c, const struct rows *r, struct err *e)
{
    struct loss_fig f = { .c = c };
    int rc = losses_read(&f.data, r, DUO_MAX_POINTS, e);

    if (!rc)
        rc = choose_letters(&f, e);
    if (!rc)
        rc = draw(&f, e);
    text_free(&f.x_label);
    free(f.letters);
    free(f.places);
    losses_free(&f.data);
    return rc;
}
