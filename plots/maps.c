/*
 * Maps of cells in shades, two beside each other where a page is wide enough. A cell is a box and up to two
 * lines of text, white on dark shades.
 *
 * Texts of cells are put before their boxes, for a label cannot stand in a block of data; gnuplot draws
 * labels over plots all the same, as canvas_text() asks for the front.
 */
#include "plots/maps.h"

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

struct maps_page {
    struct canvas *c;
    const struct maps *spec;
    int32_t n_across, n_down; /* maps */
    double values_px;
    struct canvas_box body;
};

void maps_put_word(struct text *out, const char *word, size_t chars)
{
    text_puts(out, out->n && *word ? " · " : "");
    canvas_put_short(out, word, chars);
}

/* ---- one map ---- */

static void put_box(struct maps_page *p, int64_t cell)
{
    int32_t n = p->spec->columns.n;
    double x = (double)(cell % n), y = (double)(cell / n); /* NOLINT(bugprone-integer-division): the row */

    canvas_bar(p->c, x, y + 1, x + 1, y);
}

/* The cells of one mark. */
static void put_marked(struct maps_page *p, const struct map *map, struct mark mark)
{
    for (int64_t i = 0; i < (int64_t)p->spec->rows.n * p->spec->columns.n; i++)
        if (map->cells[i].filled && map->cells[i].mark.kind == mark.kind &&
            map->cells[i].mark.style == mark.style)
            put_box(p, i);
    canvas_block_end(p->c, mark);
}

static void put_cell_text(struct maps_page *p, const struct map_cell *cell, const struct canvas_box *box)
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
                                        : shade ? CANVAS_DARK
                                                : CANVAS_GREY };

    if (cell->first[0])
        canvas_text(p->c, &at, cell->first);
    at.y_px = middle + 8;
    at.size_px = CANVAS_SMALL_PX;
    if (both)
        canvas_text(p->c, &at, cell->second);
}

static void put_cell_texts(struct maps_page *p, const struct map *map, const struct canvas_box *box)
{
    int32_t n = p->spec->columns.n;
    double width = (box->right - box->left) / n, height = (box->bottom - box->top) / p->spec->rows.n;

    for (int32_t y = 0; y < p->spec->rows.n; y++)
        for (int32_t x = 0; x < n; x++) {
            struct canvas_box at = { .left = box->left + x * width, .top = box->top + y * height };
            at.right = at.left + width;
            at.bottom = at.top + height;
            if (map->cells[(int64_t)y * n + x].filled)
                put_cell_text(p, &map->cells[(int64_t)y * n + x], &at);
        }
}

static void maps_put_values(struct maps_page *p, const struct canvas_box *box)
{
    int32_t n_rows = p->spec->rows.n;

    for (int32_t y = 0; y < n_rows; y++) {
        struct canvas_label at = { .x_px = box->left - 6,
                                   .y_px = box->top + (y + 0.5) * (box->bottom - box->top) / n_rows,
                                   .align = ALIGN_RIGHT,
                                   .size_px = CANVAS_SMALL_PX,
                                   .room_px = p->values_px };
        canvas_text(p->c, &at, p->spec->rows.list[y]);
    }
    canvas_categories(p->c, box, p->spec->columns.list, p->spec->columns.n, 0);
}

/* Maps have names to tell them apart. */
static double map_name_px(const struct maps_page *p)
{
    return p->spec->n > 1 ? CANVAS_STRIP_PX : 6;
}

static void put_map_name(struct maps_page *p, const struct map *map, const struct canvas_box *box)
{
    double room_px = box->right - box->left + p->values_px;
    bool fits = CANVAS_LEAST_SHRINK * canvas_width(map->name, CANVAS_FONT_PX) <= room_px;

    if (map->name[0])
        canvas_name(p->c, box, room_px, fits ? map->name : map->short_name);
}

static void put_outline(struct maps_page *p)
{
    double w = p->spec->columns.n, h = p->spec->rows.n;

    canvas_point(p->c, 0, 0);
    canvas_point(p->c, w, 0);
    canvas_point(p->c, w, h);
    canvas_point(p->c, 0, h);
    canvas_point(p->c, 0, 0);
    canvas_block_end(p->c, (struct mark){ MARK_RULE, 0 });
}

static void put_map(struct maps_page *p, int32_t m)
{
    const struct map *map = &p->spec->list[m];
    int32_t n_columns = p->spec->columns.n;
    double width = (p->body.right - p->body.left - CANVAS_Y_LABEL_PX) / p->n_across;
    double height = (p->body.bottom - p->body.top - CANVAS_X_LABEL_PX) / p->n_down;
    double avail = width - p->values_px - GAP_PX, room = fmin(avail, n_columns * MOST_CELL_PX);
    double left =
        p->body.left + CANVAS_Y_LABEL_PX + m % p->n_across * width + p->values_px + (avail - room) / 2;
    int32_t down = m / p->n_across;
    double top = p->body.top + down * height;
    struct canvas_box box = { left, top + map_name_px(p), left + room, top + height - CANVAS_X_TICS_PX };

    const struct axis x = { .hi = n_columns, .bare = true }, y = { .lo = p->spec->rows.n, .bare = true };
    canvas_panel(p->c, &box, &x, &y);
    put_map_name(p, map, &box);
    maps_put_values(p, &box);
    put_cell_texts(p, map, &box);
    put_marked(p, map, (struct mark){ MARK_FILL, FILL_WHITE });
    put_marked(p, map, (struct mark){ MARK_BAR, BAR_OVER });
    for (int32_t i = 0; i < SHADE_COUNT; i++)
        put_marked(p, map, (struct mark){ MARK_SHADE, i });
    put_outline(p);
    if (map->framed >= 0)
        put_box(p, map->framed);
    canvas_block_end(p->c, (struct mark){ MARK_FRAME, 0 });
    canvas_draw(p->c);
}

/* ---- the page ---- */

int maps_build(struct canvas *c, const struct maps *spec, struct err *e)
{
    struct maps_page p = { .c = c, .spec = spec, .values_px = VALUES_PX };
    double margins = map_name_px(&p) + CANVAS_X_TICS_PX;

    for (int32_t y = 0; y < spec->rows.n; y++)
        p.values_px = fmax(p.values_px, canvas_width(spec->rows.list[y], CANVAS_SMALL_PX) + 10);
    p.values_px = fmin(p.values_px, MOST_VALUES_PX);
    /* Two maps beside each other only where their cells stay wide enough for a number. */
    double beside = MAX_IN_ROW * (spec->columns.n * GOOD_CELL_PX + p.values_px + GAP_PX);
    p.n_across = spec->n > 1 && beside <= c->width_px - 50 ? MAX_IN_ROW : 1;
    p.n_down = (spec->n + p.n_across - 1) / p.n_across;
    int rc = canvas_open(c, &p.body, p.n_down * (spec->rows.n * CELL_PX + margins) + CANVAS_X_LABEL_PX,
                         p.n_down * (spec->rows.n * LEAST_CELL_PX + margins) + CANVAS_X_LABEL_PX, e);
    if (rc)
        return rc;
    bool room = canvas_width(spec->rows.label, CANVAS_FONT_PX) <= p.body.bottom - p.body.top;
    canvas_axis_labels(c, &p.body, spec->columns.label, room ? spec->rows.label : spec->rows.word);
    for (int32_t m = 0; m < spec->n; m++)
        put_map(&p, m);
    canvas_close(c);
    return 0;
}
