#include "plots/places.h"

#include <math.h>

enum { TEXT_PX = 12, STEP_PX = 4 };

static void take(struct places *p, struct canvas_box box, bool thin)
{
    if (p->n == PLACES_MAX)
        return;
    p->taken[p->n] = box;
    p->thin[p->n++] = thin;
}

void places_take_marker(struct places *p, struct canvas_xy at)
{
    const double px = PLACES_MARKER_PX;
    take(p, (struct canvas_box){ at.x - px, at.y - px, at.x + px, at.y + px }, false);
}

/* Small boxes along the line. */
void places_take_line(struct places *p, struct canvas_xy a, struct canvas_xy b)
{
    int32_t n = (int32_t)fmin(PLACES_MAX, ceil(hypot(b.x - a.x, b.y - a.y) / STEP_PX));

    for (int32_t i = 0; i <= n; i++) {
        double share = n > 0 ? (double)i / n : 0, x = a.x + share * (b.x - a.x),
               y = a.y + share * (b.y - a.y);
        take(p, (struct canvas_box){ x - 1, y - 1, x + 1, y + 1 }, true);
    }
}

static bool is_free(const struct places *p, const struct canvas_box *box, bool over_lines)
{
    if (box->left < p->inside.left + 2 || box->right > p->inside.right - 2 || box->top < p->inside.top + 1 ||
        box->bottom > p->inside.bottom - 1)
        return false;
    for (int32_t i = 0; i < p->n; i++) {
        const struct canvas_box *b = &p->taken[i];
        if (!(over_lines && p->thin[i]) && box->left < b->right && b->left < box->right &&
            box->top < b->bottom && b->top < box->bottom)
            return false;
    }
    return true;
}

/* In the order of preference. */
static const struct {
    int x, y;
} sides[] = { { 0, -1 }, { 0, 1 }, { 1, 0 }, { -1, 0 }, { 1, -1 }, { -1, -1 }, { 1, 1 }, { -1, 1 } };

bool places_put(struct places *p, struct canvas *c, struct canvas_xy at, const char *s, const char *color)
{
    double half_x = canvas_width(s, CANVAS_SMALL_PX) / 2, half_y = TEXT_PX / 2.0;
    int32_t n = (int32_t)(sizeof sides / sizeof *sides);

    for (int32_t i = 0; i < 2 * n; i++) {
        /* Corners are nearer than the sum of both halves. */
        int x = sides[i % n].x, y = sides[i % n].y;
        double near = x && y ? 2 : 0;
        struct canvas_xy mid = { at.x + x * (half_x + PLACES_MARKER_PX + 1 - near),
                                 at.y + y * (half_y + PLACES_MARKER_PX - near) };
        struct canvas_box box = { mid.x - half_x, mid.y - half_y, mid.x + half_x, mid.y + half_y };
        struct canvas_label where = {
            .x_px = mid.x, .y_px = mid.y, .align = ALIGN_CENTER, .size_px = CANVAS_SMALL_PX, .color = color
        };
        if (!is_free(p, &box, i >= n))
            continue;
        canvas_text(c, &where, s);
        take(p, box, false);
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
