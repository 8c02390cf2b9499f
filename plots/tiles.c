#include "plots/tiles.h"

#include <math.h>

enum {
    MAX_IN_ROW = 2,
    CELL_PX = 36, /* height */
    LEAST_CELL_PX = 14,
    TWO_LINES_PX = 29,
    MOST_CELL_PX = 120, /* width */
    GOOD_CELL_PX = 46,
    VALUES_PX = 34, /* values of the rows, at the left */
    MOST_VALUES_PX = 120,
    GAP_PX = 14,
};

struct tiles {
    struct canvas *c;
    const struct tiles_spec *spec;
    int32_t n_across, n_down; /* maps */
    double values_px;
    struct canvas_box body;
};

static const struct tiles_cell *cell_at(const struct tiles *p, const struct tiles_map *map, int32_t y,
                                        int32_t x)
{
    return &map->cells[(int64_t)y * p->spec->n_columns + x];
}

/* ---- one map ---- */

/* The cells of one mark. */
static void put_boxes(struct tiles *p, const struct tiles_map *map, struct mark mark)
{

    for (int32_t y = 0; y < p->spec->n_rows; y++)
        for (int32_t x = 0; x < p->spec->n_columns; x++) {
            const struct tiles_cell *cell = cell_at(p, map, y, x);
            if (cell->empty || cell->mark.kind != mark.kind || cell->mark.style != mark.style)
                continue;
            canvas_bar(p->c, x, y + 1, x + 1, y);
        }
    canvas_block_end(p->c, mark);
}

static void put_frame(struct tiles *p, const struct tiles_map *map)
{
    if (map->framed < 0)
        return;
    int64_t row = map->framed / p->spec->n_columns, column = map->framed % p->spec->n_columns;
    double x = (double)column, y = (double)row;
    canvas_bar(p->c, x, y + 1, x + 1, y);
    canvas_block_end(p->c, (struct mark){ MARK_FRAME, 0 });
}

static void put_cell_text(struct tiles *p, const struct tiles_cell *cell, const struct canvas_box *box)
{
    bool shade = cell->mark.kind == MARK_SHADE, white = shade && cell->mark.style < SHADE_DARK;
    bool both = box->bottom - box->top >= TWO_LINES_PX && cell->second[0];
    double middle = (box->top + box->bottom) / 2;
    struct canvas_label at = { .x_px = (box->left + box->right) / 2,
                               .y_px = both ? middle - 7 : middle,
                               .align = ALIGN_CENTER,
                               .size_px = shade ? CANVAS_FONT_PX : CANVAS_SMALL_PX,
                               .room_px = box->right - box->left - 4,
                               .color = white   ? CANVAS_WHITE
                                        : shade ? CANVAS_BLACK
                                                : CANVAS_GREY };

    if (cell->first[0])
        canvas_text(p->c, &at, cell->first);
    at.y_px = middle + 8;
    at.size_px = CANVAS_SMALL_PX;
    if (both)
        canvas_text(p->c, &at, cell->second);
}

static void put_texts(struct tiles *p, const struct tiles_map *map, const struct canvas_box *box)
{
    double width = (box->right - box->left) / p->spec->n_columns;
    double height = (box->bottom - box->top) / p->spec->n_rows;

    for (int32_t y = 0; y < p->spec->n_rows; y++)
        for (int32_t x = 0; x < p->spec->n_columns; x++) {
            struct canvas_box at = { .left = box->left + x * width, .top = box->top + y * height };
            at.right = at.left + width;
            at.bottom = at.top + height;
            if (!cell_at(p, map, y, x)->empty)
                put_cell_text(p, cell_at(p, map, y, x), &at);
        }
}

static void put_values(struct tiles *p, const struct canvas_box *box)
{
    double width = (box->right - box->left) / p->spec->n_columns;
    struct canvas_label at = { .size_px = CANVAS_SMALL_PX, .color = CANVAS_BLACK };

    for (int32_t y = 0; y < p->spec->n_rows; y++) {
        at.x_px = box->left - 6;
        at.y_px = box->top + (y + 0.5) * (box->bottom - box->top) / p->spec->n_rows;
        at.align = ALIGN_RIGHT;
        at.room_px = p->values_px;
        canvas_text(p->c, &at, p->spec->row_values[y]);
    }
    for (int32_t x = 0; x < p->spec->n_columns; x++) {
        at.x_px = box->left + (x + 0.5) * width;
        at.y_px = box->bottom + CANVAS_X_TICS_PX * 0.5;
        at.align = ALIGN_CENTER;
        at.room_px = width;
        canvas_text(p->c, &at, p->spec->column_values[x]);
    }
}

/* Maps have names to tell them apart. */
static double name_px(const struct tiles *p)
{
    return p->spec->n_maps > 1 ? CANVAS_STRIP_PX : 6;
}

static void put_name(struct tiles *p, const struct tiles_map *map, const struct canvas_box *box)
{
    struct canvas_label at = { .x_px = (box->left + box->right) / 2,
                               .y_px = box->top - CANVAS_STRIP_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = box->right - box->left + p->values_px,
                               .color = CANVAS_BLACK };
    bool fits = CANVAS_LEAST_SHRINK * canvas_width(map->name, CANVAS_FONT_PX) <= at.room_px;

    if (map->name[0])
        canvas_text(p->c, &at, fits ? map->name : map->short_name);
}

static void put_outline(struct tiles *p)
{
    double w = p->spec->n_columns, h = p->spec->n_rows;

    canvas_point(p->c, 0, 0);
    canvas_point(p->c, w, 0);
    canvas_point(p->c, w, h);
    canvas_point(p->c, 0, h);
    canvas_point(p->c, 0, 0);
    canvas_block_end(p->c, (struct mark){ MARK_RULE, 0 });
}

static void put_map(struct tiles *p, int32_t m)
{
    const struct tiles_map *map = &p->spec->maps[m];
    double width = (p->body.right - p->body.left - CANVAS_Y_LABEL_PX) / p->n_across;
    double height = (p->body.bottom - p->body.top - CANVAS_X_LABEL_PX) / p->n_down;
    double avail = width - p->values_px - GAP_PX, room = fmin(avail, p->spec->n_columns * MOST_CELL_PX);
    double left =
        p->body.left + CANVAS_Y_LABEL_PX + m % p->n_across * width + p->values_px + (avail - room) / 2;
    int32_t down = m / p->n_across;
    double top = p->body.top + down * height;
    struct canvas_box box = { left, top + name_px(p), left + room, top + height - CANVAS_X_TICS_PX };

    canvas_panel(p->c, &box, NULL, NULL);
    text_printf(&p->c->script, "set xrange [0:%d]\nset yrange [%d:0]\n", (int)p->spec->n_columns,
                (int)p->spec->n_rows);
    put_name(p, map, &box);
    put_values(p, &box);
    put_texts(p, map, &box);
    put_boxes(p, map, (struct mark){ MARK_FILL, FILL_WHITE });
    put_boxes(p, map, (struct mark){ MARK_BAR, BAR_OVER });
    for (int32_t i = 0; i < SHADE_COUNT; i++)
        put_boxes(p, map, (struct mark){ MARK_SHADE, i });
    put_outline(p);
    put_frame(p, map);
    canvas_draw(p->c);
}

/* ---- the page ---- */

static void put_axis_labels(struct tiles *p)
{
    bool room = canvas_width(p->spec->row_label, CANVAS_FONT_PX) <= p->body.bottom - p->body.top;
    canvas_axis_labels(p->c, &p->body, p->spec->column_label, room ? p->spec->row_label : p->spec->row_word);
}

int tiles_build(struct canvas *c, const struct tiles_spec *spec, struct err *e)
{
    struct tiles p = { .c = c, .spec = spec, .values_px = VALUES_PX };
    double margins = name_px(&p) + CANVAS_X_TICS_PX;

    for (int32_t y = 0; y < spec->n_rows; y++)
        p.values_px = fmax(p.values_px, canvas_width(spec->row_values[y], CANVAS_SMALL_PX) + 10);
    p.values_px = fmin(p.values_px, MOST_VALUES_PX);
    double beside = MAX_IN_ROW * (spec->n_columns * GOOD_CELL_PX + p.values_px + GAP_PX);
    p.n_across = spec->n_maps > 1 && beside <= canvas_page_width(c) - 50 ? MAX_IN_ROW : 1;
    p.n_down = (spec->n_maps + p.n_across - 1) / p.n_across;
    int rc = canvas_open(c, &p.body, p.n_down * (spec->n_rows * CELL_PX + margins) + CANVAS_X_LABEL_PX,
                         p.n_down * (spec->n_rows * LEAST_CELL_PX + margins) + CANVAS_X_LABEL_PX, e);
    if (rc)
        return rc;
    put_axis_labels(&p);
    for (int32_t m = 0; m < spec->n_maps; m++)
        put_map(&p, m);
    canvas_close(c);
    return 0;
}
