/*
 * Measured collectives and the fitted model over the size of the message, and below it the model's error.
 *
 * A curve is what shares the columns `curve`, `collective`, `ranks` and `file`, of which a table may lack the
 * last three. Bus bandwidth is drawn where both columns of it are there, as NCCL tests print it, else time;
 * the error is that of the time in either case: model / measured - 1. Axes of size and of values are
 * logarithmic.
 */
#include <math.h>
#include <string.h>

#include "plots/fig.h"
#include "plots/page.h"

enum {
    MAX_CURVES = 12,
    PANEL_PX = 270,
    ERROR_PX = 130,
    LEAST_PANEL_PX = 110,
    LEAST_ERROR_PX = 60,
    GAP_PX = 12,
    Y_TICS_PX = 46,
};

/* What tells one curve from another comes first. */
enum {
    CURVE,
    COLLECTIVE,
    RANKS,
    FILE_NAME,
    N_PARTS,
    REGIME = N_PARTS,
    BYTES,
    TIME,
    MODEL,
    BUSBW,
    MODEL_BUSBW,
    N_BINDS
};
static const struct bind binds[N_BINDS] = {
    [CURVE] = { .column = "curve", AS_WORD, MAY_MISS },
    [COLLECTIVE] = { .column = "collective", AS_WORD, MAY_MISS },
    [RANKS] = { .column = "ranks", AS_WORD, MAY_MISS },
    [FILE_NAME] = { .column = "file", AS_WORD, MAY_MISS },
    [BYTES] = { .column = "bytes", AS_ABOVE_ZERO, FILLED },
    [TIME] = { .column = "time_us", AS_ABOVE_ZERO, FILLED },
    [MODEL] = { .column = "model_us", AS_ABOVE_ZERO, FILLED },
    [BUSBW] = { .column = "busbw_GBps", AS_ABOVE_ZERO, MAY_MISS },
    [MODEL_BUSBW] = { .column = "model_busbw_GBps", AS_ABOVE_ZERO, MAY_MISS },
    [REGIME] = { .column = "regime", AS_COUNT, MAY_MISS, .most = INT32_MAX },
};

struct calibrate {
    struct canvas *c;
    struct data data;
    bool bus;                               /* bus bandwidth is drawn, else time */
    struct names parts[N_PARTS];            /* of rows that are drawn */
    struct names curves;                    /* the parts of a curve as one text, which is unique */
    const char *words[MAX_CURVES][N_PARTS]; /* of each curve; "" = blank */
    int32_t *curve;                         /* by row */
    int64_t *order, n;                      /* rows of the curves that are drawn, by curve and size */
    const double *measured, *model;
    struct axis x, y, error;
};

/* Curves beyond MAX_CURVES are neither drawn nor part of the axes. The key is of numbers of
 * words and blanks between, which no two sets of words share. */
static int gather_curves(struct calibrate *f, struct err *e)
{
    const struct data *d = &f->data;
    const struct sort_key keys[] = { { .word = f->curve }, { .x = d->x[BYTES] } };

    for (int64_t i = 0; i < d->n; i++) {
        const char *words[N_PARTS];
        struct text key = { 0 };
        if (isnan(f->measured[i]) || isnan(f->model[i])) {
            data_leave_out(d, i, "without a bus bandwidth");
            continue;
        }
        for (int k = 0; k < N_PARTS; k++) {
            words[k] = d->col[k] < 0 ? "" : d->words[k].list[d->word[k][i]];
            if (d->col[k] >= 0)
                names_add(f->c, &f->parts[k], words[k]);
            text_printf(&key, "%d ", (int)d->word[k][i]);
        }
        f->curve[i] = names_add(f->c, &f->curves, text_str(&key));
        text_free(&key);
        if (f->curve[i] >= MAX_CURVES) {
            data_leave_out(d, i, "of other curves");
            continue;
        }
        memcpy(f->words[f->curve[i]], words, sizeof words);
        f->order[f->n++] = i;
    }
    if (f->n == 0)
        return data_none_left(d, e);
    return data_sort(f->order, f->n, keys, 2, e);
}

static void calibrate_fit_axes(struct calibrate *f)
{
    const struct data *d = &f->data;
    double bytes[2] = { HUGE_VAL, 0 }, y[2] = { HUGE_VAL, 0 }, worst = 0;

    for (int64_t k = 0; k < f->n; k++) {
        int64_t i = f->order[k];
        bytes[0] = fmin(bytes[0], d->x[BYTES][i]);
        bytes[1] = fmax(bytes[1], d->x[BYTES][i]);
        y[0] = fmin(y[0], fmin(f->measured[i], f->model[i]));
        y[1] = fmax(y[1], fmax(f->measured[i], f->model[i]));
        worst = fmax(worst, 100 * fabs(d->x[MODEL][i] / d->x[TIME][i] - 1));
    }
    f->x = axis_bytes(bytes[0], bytes[1]);
    f->y = axis_log(y[0], y[1]);
    /* Below a percent measurements themselves do not repeat. */
    f->error = axis_around_zero(fmax(worst, 1));
}

/* What tells the curve from the others, or (varying = false) what all have in common. */
static const char *describe_curve(const struct calibrate *f, int32_t curve, bool varying)
{
    struct text out = { 0 };

    for (int k = 0; k < N_PARTS; k++) {
        const char *word = f->words[curve][k];
        /* A part with one value in all drawn curves is for the note, with several for the legend. */
        if ((f->parts[k].n > 1) == varying && word[0])
            text_printf(&out, "%s%s%s", out.n ? " · " : "", word, k == RANKS ? " ranks" : "");
    }
    return canvas_keep_text(f->c, &out);
}

static void calibrate_put_notes(struct calibrate *f)
{
    const char *common = describe_curve(f, 0, false);

    if (common[0])
        canvas_note(f->c, "%s", common);
    if (f->curves.n > 1)
        canvas_note(f->c, "markers: measured, lines: model");
    canvas_note_first(f->c, MAX_CURVES, f->curves.n, "curves");
}

static void calibrate_put_legend(struct calibrate *f)
{
    if (f->curves.n == 1) {
        canvas_legend(f->c, (struct mark){ MARK_POINT, 0 }, "measured");
        canvas_legend(f->c, (struct mark){ MARK_CURVE, 0 }, "model");
    }
    for (int32_t i = 0; f->curves.n > 1 && i < f->curves.n && i < MAX_CURVES; i++)
        canvas_legend(f->c, (struct mark){ MARK_POINT, i }, describe_curve(f, i, true));
}

/* A block per curve: measured, model, or (MARK_HOLLOW) the error. The line of the model is broken between
 * regimes, from one of which to the next it may jump. */
static void put_curves(struct calibrate *f, enum mark_kind kind)
{
    const struct data *d = &f->data;

    for (int64_t k = 0; k < f->n; k++) {
        int64_t i = f->order[k], next = k + 1 < f->n ? f->order[k + 1] : -1;
        double y = kind == MARK_POINT   ? f->measured[i]
                   : kind == MARK_CURVE ? f->model[i]
                                        : 100 * (d->x[MODEL][i] / d->x[TIME][i] - 1);
        canvas_mark_row(f->c, d->row[i]);
        canvas_point(f->c, d->x[BYTES][i], y);
        if (next < 0 || f->curve[next] != f->curve[i] ||
            (kind == MARK_CURVE && d->word[REGIME][next] != d->word[REGIME][i]))
            canvas_block_end(f->c, (struct mark){ kind, f->curve[i] });
    }
}

static void put_y_label(struct calibrate *f, const struct canvas_box *box, const char *label)
{
    canvas_y_label(f->c, box->left - Y_TICS_PX - CANVAS_Y_LABEL_PX * 0.5, box->top, box->bottom, 0, label);
}

static int draw_calibrate(struct calibrate *f, struct err *e)
{
    double around = CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX + GAP_PX;
    struct canvas_box body;

    calibrate_fit_axes(f);
    calibrate_put_notes(f);
    calibrate_put_legend(f);
    int rc =
        canvas_open(f->c, &body, PANEL_PX + ERROR_PX + around, LEAST_PANEL_PX + LEAST_ERROR_PX + around, e);
    if (rc)
        return rc;
    double room = body.bottom - body.top - around;
    double error_px = fmax(LEAST_ERROR_PX, room * ERROR_PX / (PANEL_PX + ERROR_PX));
    struct canvas_box top = { body.left + CANVAS_Y_LABEL_PX + Y_TICS_PX, body.top, body.right - 14,
                              body.top + room - error_px },
                      low = { top.left, top.bottom + GAP_PX, top.right, top.bottom + GAP_PX + error_px };
    struct axis hidden = f->x;
    hidden.hide = true;
    canvas_panel(f->c, &top, &hidden, &f->y);
    put_y_label(f, &top, f->bus ? "bus bandwidth [GB/s]" : "time [µs]");
    put_curves(f, MARK_CURVE);
    put_curves(f, MARK_POINT);
    canvas_draw(f->c);
    canvas_panel(f->c, &low, &f->x, &f->error);
    put_y_label(f, &low, "time error [%]");
    canvas_x_label(f->c, low.left, low.right, low.bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5, 0,
                   "size");
    canvas_line(f->c, (struct mark){ MARK_RULE, 0 }, f->x.lo, 0, f->x.hi, 0);
    put_curves(f, MARK_HOLLOW);
    canvas_draw(f->c);
    canvas_close(f->c);
    return 0;
}

int fig_calibrate(struct canvas *c, const struct rows *r, struct err *e)
{
    struct calibrate f = { .c = c };
    struct data *d = &f.data;
    int rc = data_read(d, c, r, binds, N_BINDS, e);

    f.order = canvas_new(c, r->t->n_rows, sizeof *f.order, e);
    f.curve = canvas_new(c, r->t->n_rows, sizeof *f.curve, e);
    if (rc || !f.order || !f.curve)
        return rc ? rc : ERR_NOMEM;
    f.bus = d->col[BUSBW] >= 0 && d->col[MODEL_BUSBW] >= 0;
    f.measured = d->x[f.bus ? BUSBW : TIME];
    f.model = d->x[f.bus ? MODEL_BUSBW : MODEL];
    rc = gather_curves(&f, e);
    return rc ? rc : draw_calibrate(&f, e);
}
