/*
 * Where panels lie on a page, and where short texts find room: a text tries the sides of its marker in turn,
 * against boxes that are taken; a thin one, a line, may be crossed where nothing else is free.
 *
 * Texts are placed greedily in the order they come: callers put the important ones first. What finds no room
 * is not written, which callers must make up for (a letter, a legend, a table).
 */
#include "plots/page.h"

#include <math.h>

struct canvas_xy panel_px(const struct panel *p, struct canvas_xy at)
{
    return (struct canvas_xy){ p->box.left + axis_share(&p->x, at.x) * (p->box.right - p->box.left),
                               p->box.bottom - axis_share(&p->y, at.y) * (p->box.bottom - p->box.top) };
}

/* ---- panels in rows ---- */

void wrap_fit(struct wrap *w, struct canvas *c, const struct wrap_look *look, const char *const *names,
              int32_t n)
{
    *w = (struct wrap){ .c = c, .look = look, .names = names, .n = n < look->most ? n : look->most };
    w->n_rows = (w->n + look->in_row - 1) / look->in_row;
    /* Rows first, then as few columns as hold them: 4 of 3 in a row are 2 x 2 and not 3 + 1. */
    w->n_columns = (w->n + w->n_rows - 1) / w->n_rows;
    w->strip_px = w->n > 1 || names[0][0] ? CANVAS_STRIP_PX : look->strip_px;
}

int wrap_open(struct wrap *w, struct err *e)
{
    double panel_px = w->n == 1 ? w->look->alone * w->look->panel_px : w->look->panel_px;

    return canvas_open(w->c, &w->body, w->n_rows * panel_px + CANVAS_X_LABEL_PX,
                       w->n_rows * w->look->least_px + CANVAS_X_LABEL_PX, e);
}

struct canvas_box wrap_box(const struct wrap *w, int32_t k)
{
    /* The labels of both axes stand once, beside and below all panels; each panel has numbers of its own. */
    double width = (w->body.right - w->body.left - CANVAS_Y_LABEL_PX) / w->n_columns;
    double height = (w->body.bottom - w->body.top - CANVAS_X_LABEL_PX) / w->n_rows;
    int32_t column = k % w->n_columns, row = k / w->n_columns;
    double left = w->body.left + CANVAS_Y_LABEL_PX + column * width, top = w->body.top + row * height;

    return (struct canvas_box){ left + w->look->y_tics_px, top + w->strip_px, left + width - w->look->gap_px,
                                top + height - CANVAS_X_TICS_PX };
}

void wrap_panel(const struct wrap *w, const struct panel *p, int32_t k)
{
    canvas_panel(w->c, &p->box, &p->x, &p->y);
    if (w->names[k][0])
        canvas_name(w->c, &p->box, p->box.right - p->box.left + w->look->name_px, w->names[k]);
}

/* ---- two columns ---- */

enum {
    PAIRS_PANEL_PX = 216, /* of several; one alone is higher */
    PAIRS_ALONE_PX = 310,
    PAIRS_LEAST_PX = 90,
    PAIRS_TICS_PX = 50,  /* "100000" */
    PAIRS_STRIP_PX = 24, /* the name of a point stays clear of the uppermost number beside it */
    PAIRS_GAP_PX = 10,
};

/* All panels of the page are equally large, whatever their labels: curves of points are compared by eye. */
static struct canvas_box pairs_box(const struct pairs *d, const struct canvas_box *body, int32_t point,
                                   int32_t column)
{
    double width = (body->right - body->left) / 2;
    double height = (body->bottom - CANVAS_X_LABEL_PX - body->top) / d->points->n;
    double left = body->left + column * width, top = body->top + point * height;

    return (struct canvas_box){ left + CANVAS_Y_LABEL_PX + PAIRS_TICS_PX,
                                top + (d->points->n > 1 ? PAIRS_STRIP_PX : 6), left + width - PAIRS_GAP_PX,
                                top + height - CANVAS_X_TICS_PX };
}

static void pairs_put_y_labels(struct canvas *c, const struct pairs *d, const struct canvas_box *body,
                               int32_t point)
{
    for (int32_t column = 0; column < 2; column++) {
        struct canvas_box box = pairs_box(d, body, point, column);
        canvas_y_label(c, box.left - PAIRS_TICS_PX - CANVAS_Y_LABEL_PX * 0.5, box.top, box.bottom,
                       box.bottom - box.top + CANVAS_X_TICS_PX, d->y_labels[column]);
    }
}

/* Above both panels of the point. */
static void pairs_put_name(struct canvas *c, const struct pairs *d, const struct canvas_box *body,
                           int32_t point)
{
    double left = pairs_box(d, body, point, 0).left, right = pairs_box(d, body, point, 1).right;

    canvas_x_label(
        c, left, right, pairs_box(d, body, point, 0).top - PAIRS_STRIP_PX * 0.6, right - left,
        points_name(c, d->points, point, (size_t)((right - left) / (CANVAS_FONT_PX * CANVAS_CHAR))));
}

int pairs_build(struct canvas *c, const struct pairs *spec, struct err *e)
{
    int32_t n = spec->points->n;
    struct canvas_box body;
    int rc = canvas_open(c, &body, (n == 1 ? PAIRS_ALONE_PX : n * PAIRS_PANEL_PX) + CANVAS_X_LABEL_PX,
                         n * PAIRS_LEAST_PX + CANVAS_X_LABEL_PX, e);

    for (int32_t column = 0; column < 2 && !rc; column++) {
        struct canvas_box box = pairs_box(spec, &body, 0, column);
        canvas_x_label(c, box.left, box.right, body.bottom - CANVAS_X_LABEL_PX * 0.5, box.right - box.left,
                       spec->x_labels[column]);
    }
    for (int32_t k = 0; k < n && !rc; k++) {
        pairs_put_y_labels(c, spec, &body, k);
        if (n > 1)
            pairs_put_name(c, spec, &body, k);
        for (int32_t column = 0; column < 2; column++) {
            struct canvas_box box = pairs_box(spec, &body, k, column);
            spec->paint(c, &box, k, column, spec->of);
            canvas_draw(c);
        }
    }
    if (!rc)
        canvas_close(c);
    return rc;
}

/* ---- short texts ---- */

enum { PLACES_TEXT_PX = 12, PLACES_STEP_PX = 4 };

int places_begin(struct places *p, struct canvas *c, int32_t most, struct err *e)
{
    *p = (struct places){ .most = most, .taken = canvas_new(c, most, sizeof *p->taken, e) };
    return p->taken ? 0 : ERR_NOMEM;
}

void places_take(struct places *p, struct place_taken taken)
{
    if (p->n < p->most)
        p->taken[p->n++] = taken;
}

void places_take_marker(struct places *p, struct canvas_xy at)
{
    const double px = PLACES_MARKER_PX;
    places_take(p, (struct place_taken){ .box = { at.x - px, at.y - px, at.x + px, at.y + px } });
}

/*
 * Boxes of 2 px, PLACES_STEP_PX apart: one box around a slanted line would take the whole corner beside it.
 */
void places_take_line(struct places *p, struct canvas_xy a, struct canvas_xy b)
{
    int32_t n = (int32_t)fmin(p->most, ceil(hypot(b.x - a.x, b.y - a.y) / PLACES_STEP_PX));

    for (int32_t i = 0; i <= n; i++) {
        double share = n > 0 ? (double)i / n : 0, x = a.x + share * (b.x - a.x),
               y = a.y + share * (b.y - a.y);
        places_take(p, (struct place_taken){ .box = { x - 1, y - 1, x + 1, y + 1 }, .thin = true });
    }
}

/* Whether the way runs through the box: what is left of it between the box's sides, in shares. */
static bool crosses(const struct canvas_box *box, const struct canvas_box *way)
{
    const double from[] = { way->left, way->top }, to[] = { way->right - way->left, way->bottom - way->top };
    /* Liang and Barsky's clipping, of which only the answer is wanted. */
    const double low[] = { box->left, box->top }, high[] = { box->right, box->bottom };
    double first = 0, last = 1;

    for (int k = 0; k < 2; k++) {
        /* Parallel to the sides: inside the strip all the way, or never. */
        if (fabs(to[k]) < 1e-9) {
            if (from[k] < low[k] || from[k] > high[k])
                return false;
            continue;
        }
        double in = (low[k] - from[k]) / to[k], out = (high[k] - from[k]) / to[k];
        first = fmax(first, fmin(in, out));
        last = fmin(last, fmax(in, out));
    }
    return first <= last;
}

bool places_free(const struct places *p, const struct canvas_box *box, bool over_thin)
{
    const struct canvas_box *in = &p->inside;

    if (box->left < in->left || box->right > in->right || box->top < in->top || box->bottom > in->bottom)
        return false;
    for (int32_t i = 0; i < p->n; i++) {
        const struct place_taken *t = &p->taken[i];
        const struct canvas_box *b = &t->box;
        bool meet = t->segment ? crosses(box, b)
                               : box->left < b->right && b->left < box->right && box->top < b->bottom &&
                                     b->top < box->bottom;
        if (meet && !(over_thin && t->thin))
            return false;
    }
    return true;
}

enum { N_SIDES = 8 };
/* In the order of preference. */
static const struct {
    int x, y;
} sides[N_SIDES] = { { 0, -1 }, { 0, 1 }, { 1, 0 }, { -1, 0 }, { 1, -1 }, { -1, -1 }, { 1, 1 }, { -1, 1 } };

/* The text in the middle of a box, where that is free. */
static bool put_in(struct places *p, struct canvas *c, const struct canvas_box *box, const char *s,
                   const char *color)
{
    struct canvas_label where = { .x_px = (box->left + box->right) / 2,
                                  .y_px = (box->top + box->bottom) / 2,
                                  .align = ALIGN_CENTER,
                                  .size_px = CANVAS_SMALL_PX,
                                  .color = color };

    canvas_text(c, &where, s);
    places_take(p, (struct place_taken){ .box = *box });
    return true;
}

/* The box of a text whose middle is so far from a marker, on one of the sides. */
static struct canvas_box box_beside(struct canvas_xy at, const char *s, int side, double far_x, double far_y)
{
    double half_x = canvas_width(s, CANVAS_SMALL_PX) / 2, half_y = PLACES_TEXT_PX / 2.0;
    struct canvas_xy mid = { at.x + sides[side].x * (half_x + far_x),
                             at.y + sides[side].y * (half_y + far_y) };

    return (struct canvas_box){ mid.x - half_x, mid.y - half_y, mid.x + half_x, mid.y + half_y };
}

bool places_put_beside(struct places *p, struct canvas *c, struct canvas_xy at, const char *s,
                       const char *color, bool over_lines)
{
    for (int i = 0; i < N_SIDES; i++) {
        /* Corners are nearer than the sum of both halves. */
        double near = sides[i].x && sides[i].y ? 2 : 0;
        struct canvas_box box = box_beside(at, s, i, PLACES_MARKER_PX + 1 - near, PLACES_MARKER_PX - near);
        if (places_free(p, &box, over_lines))
            return put_in(p, c, &box, s, color);
    }
    return false;
}

/* A text on the less preferred side is read more easily than one with a line through it. */
bool places_put(struct places *p, struct canvas *c, struct canvas_xy at, const char *s, const char *color)
{
    return places_put_beside(p, c, at, s, color, false) || places_put_beside(p, c, at, s, color, true);
}

/* Of the text's box the point that is nearest to the marker. */
static struct canvas_xy nearest_of(const struct canvas_box *box, struct canvas_xy at)
{
    return (struct canvas_xy){ fmin(fmax(at.x, box->left), box->right),
                               fmin(fmax(at.y, box->top), box->bottom) };
}

/* Whether the line of a text that stands apart runs clear of texts and markers, its own left out. */
static bool is_clear(const struct places *p, struct canvas_xy from, struct canvas_xy to)
{
    const struct canvas_box way = { from.x, from.y, to.x, to.y };

    for (int32_t i = 0; i < p->n; i++) {
        const struct place_taken *t = &p->taken[i];
        bool own =
            t->box.left < from.x && from.x < t->box.right && t->box.top < from.y && from.y < t->box.bottom;
        if (!t->thin && !t->segment && !own && crosses(&t->box, &way))
            return false;
    }
    return true;
}

enum { APART_LEAST_PX = 14, APART_STEP_PX = 8, APART_RINGS = 8 };

bool places_put_apart(struct places *p, struct canvas *c, struct canvas_xy at, const char *s,
                      const char *color, bool over_lines)
{
    /* The nearest ring first. */
    for (int i = 0; i < APART_RINGS * N_SIDES; i++) {
        double far =
            APART_LEAST_PX + i / N_SIDES * APART_STEP_PX; /* NOLINT(bugprone-integer-division): the ring */
        struct canvas_box box = box_beside(at, s, i % N_SIDES, far, far);
        struct canvas_xy end = nearest_of(&box, at);
        if (!places_free(p, &box, over_lines) || !is_clear(p, at, end))
            continue;
        canvas_leader(c, at.x, at.y, end.x, end.y);
        put_in(p, c, &box, s, color);
        places_take(p, (struct place_taken){ .box = { at.x, at.y, end.x, end.y }, .segment = true });
        return true;
    }
    return false;
}

void places_put_letter(struct text *out, int32_t k)
{
    if (k >= 26)
        text_printf(out, "%c", 'a' + (k / 26 - 1) % 26);
    text_printf(out, "%c", 'a' + k % 26);
}
