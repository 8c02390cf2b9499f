#include "plots/duo.h"

enum {
    PANEL_PX = 216, /* of several; one alone is higher */
    ALONE_PX = 310,
    LEAST_PANEL_PX = 90,
    Y_TICS_PX = 50, /* "100000" */
    STRIP_PX = 24,  /* the name of a point stays clear of the uppermost number beside it */
    GAP_PX = 10,
};

struct unit duo_time_unit(double most_s)
{
    static const struct unit units[] = { { 86400, "days" }, { 3600, "h" }, { 1, "s" } };

    return units[most_s >= 1e6 ? 0 : most_s >= 1e4 ? 1 : 2];
}

struct duo {
    struct canvas *c;
    const struct duo_spec *spec;
    struct canvas_box body;
};

static struct canvas_box panel_box(const struct duo *d, int32_t point, int32_t column)
{
    const struct points *p = d->spec->points;
    double width = (d->body.right - d->body.left) / 2;
    double height = (d->body.bottom - CANVAS_X_LABEL_PX - d->body.top) / p->n;
    double left = d->body.left + column * width, top = d->body.top + point * height;

    return (struct canvas_box){ left + CANVAS_Y_LABEL_PX + Y_TICS_PX, top + (p->n > 1 ? STRIP_PX : 6),
                                left + width - GAP_PX, top + height - CANVAS_X_TICS_PX };
}

static void put_x_labels(struct duo *d)
{
    struct canvas_label at = { .y_px = d->body.bottom - CANVAS_X_LABEL_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .color = CANVAS_BLACK };

    for (int32_t column = 0; column < 2; column++) {
        struct canvas_box box = panel_box(d, 0, column);
        at.x_px = (box.left + box.right) / 2;
        at.room_px = box.right - box.left;
        canvas_text(d->c, &at, d->spec->x_labels[column]);
    }
}

static void put_y_labels(struct duo *d, int32_t point)
{
    struct canvas_label at = {
        .align = ALIGN_CENTER, .rotate = 90, .size_px = CANVAS_FONT_PX, .color = CANVAS_BLACK
    };

    for (int32_t column = 0; column < 2; column++) {
        struct canvas_box box = panel_box(d, point, column);
        at.x_px = box.left - Y_TICS_PX - CANVAS_Y_LABEL_PX * 0.5;
        at.y_px = (box.top + box.bottom) / 2;
        at.room_px = box.bottom - box.top + CANVAS_X_TICS_PX;
        canvas_text(d->c, &at, d->spec->y_labels[column]);
    }
}

/* Above both panels of the point. */
static void put_name(struct duo *d, int32_t point)
{
    struct canvas_box left = panel_box(d, point, 0), right = panel_box(d, point, 1);
    struct canvas_label at = { .x_px = (left.left + right.right) / 2,
                               .y_px = left.top - STRIP_PX * 0.6,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = right.right - left.left,
                               .color = CANVAS_BLACK };
    struct text name = { 0 };

    points_put_name(&name, d->spec->points, point, (size_t)(at.room_px / (CANVAS_FONT_PX * CANVAS_CHAR)));
    canvas_text(d->c, &at, text_str(&name));
    d->c->script.failed = d->c->script.failed || name.failed;
    text_free(&name);
}

int duo_build(struct canvas *c, const struct duo_spec *spec, struct err *e)
{
    struct duo d = { .c = c, .spec = spec };
    int32_t n = spec->points->n;
    int rc = canvas_open(c, &d.body, (n == 1 ? ALONE_PX : n * PANEL_PX) + CANVAS_X_LABEL_PX,
                         n * LEAST_PANEL_PX + CANVAS_X_LABEL_PX, e);

    if (rc)
        return rc;
    put_x_labels(&d);
    for (int32_t k = 0; k < n; k++) {
        put_y_labels(&d, k);
        if (n > 1)
            put_name(&d, k);
        for (int32_t column = 0; column < 2; column++) {
            struct canvas_box box = panel_box(&d, k, column);
            spec->paint(c, &box, k, column, spec->of);
            canvas_draw(c);
        }
    }
    canvas_close(c);
    return 0;
}
