#include "plots/fig.h"

#include <math.h>
#include <stdio.h>

#include "plots/axis.h"
#include "plots/heat.h"

enum {
    MAX_IN_ROW = 2,
    CELL_PX = 36, /* height */
    LEAST_CELL_PX = 14,
    TWO_LINES_PX = 29,
    MOST_CELL_PX = 120, /* width */
    GOOD_CELL_PX = 46,
    VALUES_PX = 34, /* degrees of the rows, at the left */
    GAP_PX = 14,
    SHORT_NAME = 18, /* characters, where room is short */
};

struct plans {
    struct canvas *c;
    struct heat heat;
    struct unit unit;
    int32_t n_across, n_down; /* maps */
    bool any[HEAT_FITS + 1];  /* which states there are */
    bool shades[SHADE_COUNT];
    bool varies[N_HEAT_WORDS], total_varies;
    struct canvas_box body;
};

/* Up to this much slower than the best of a map: a shade each. */
static const double shade_percent[SHADE_COUNT] = { 2, 5, 10, 25, 50, 100, 300, HUGE_VAL };

static int32_t shade_of(const struct heat_map *map, const struct heat_cell *cell)
{
    int32_t i = 0;

    while (i + 1 < SHADE_COUNT && !(cell->time_s <= map->best_s * (1 + shade_percent[i] / 100) * (1 + 1e-9)))
        i++;
    return i;
}

static void survey(struct plans *p)
{
    const struct heat *s = &p->heat;
    double longest_s = 0;

    for (int32_t m = 0; m < s->n_maps; m++) {
        const struct heat_map *map = &s->maps[m];
        for (int32_t y = 0; y < s->n_rows; y++)
            for (int32_t x = 0; x < s->n_columns; x++) {
                const struct heat_cell *cell = &map->cell[y][x];
                p->any[cell->state] = true;
                if (cell->state != HEAT_FITS)
                    continue;
                longest_s = fmax(longest_s, cell->time_s);
                p->shades[shade_of(map, cell)] = true;
            }
        for (int i = 0; i < N_HEAT_WORDS; i++)
            p->varies[i] = p->varies[i] || map->key.word[i] != s->maps[0].key.word[i];
        p->total_varies = p->total_varies || fabs(map->key.total_GBps - s->maps[0].key.total_GBps) >
                                                 AXIS_SAME * map->key.total_GBps;
    }
    p->unit = unit_pick(unit_seconds, longest_s);
}

static void add_word(struct text *out, const char *word, size_t chars)
{
    text_puts(out, out->n && *word ? " · " : "");
    canvas_put_short(out, word, chars);
}

/* What tells a map from the others, or (varying = false) what all have in common; each word in so many
 * characters. */
static void describe(struct text *out, const struct plans *p, const struct heat_map *map, bool varying,
                     size_t chars)
{
    for (int i = 0; i < N_HEAT_WORDS; i++) {
        if (i == HEAT_AXES && map->key.total_GBps > 0 && p->total_varies == varying) {
            text_puts(out, out->n ? " · " : "");
            text_printf(out, "%.6g GB/s%s", map->key.total_GBps, varying ? "" : " per NPU");
        }
        if (p->varies[i] == varying && map->key.word[i] >= 0)
            add_word(out, p->heat.words[i].list[map->key.word[i]], chars);
    }
}

static void put_notes(struct plans *p)
{
    const struct heat *s = &p->heat;
    struct text common = { 0 };

    describe(&common, p, &s->maps[0], false, SIZE_MAX);
    if (common.n)
        canvas_note(p->c, "%s", text_str(&common));
    if (p->any[HEAT_FITS])
        canvas_note(p->c, "step time [%s] and MFU of the fastest plan that fits%s", p->unit.name,
                    s->any_total ? ", at any bandwidth" : "");
    if (p->any[HEAT_MISFIT])
        canvas_note(p->c, "memory: none fits, and what the smallest needs");
    if (p->any[HEAT_NO_PLAN])
        canvas_note(p->c, "–: no solution");
    if (p->any[HEAT_EMPTY])
        canvas_note(p->c, "empty: not in the table");
    if (s->more_maps)
        canvas_note(p->c, "first %d maps", (int)s->n_maps);
    if (s->n_left_rows > 0)
        canvas_note(p->c, "first %d of %d %s", (int)s->n_rows, (int)(s->n_rows + s->n_left_rows),
                    heat_degree_words[s->row]);
    if (s->n_left_columns > 0)
        canvas_note(p->c, "first %d of %d %s", (int)s->n_columns, (int)(s->n_columns + s->n_left_columns),
                    heat_degree_words[s->column]);
    if (s->n_blank > 0)
        canvas_note(p->c, "%lld rows lack a degree or a time and are left out", (long long)s->n_blank);
    text_free(&common);
}

static void put_legend(struct plans *p)
{
    static const char *const shades[SHADE_COUNT] = {
        "up to 2 % slower", "5 %", "10 %", "25 %", "50 %", "100 %", "300 %", "more"
    };

    if (p->any[HEAT_FITS])
        canvas_legend(p->c, (struct mark){ MARK_FRAME, 0 }, "fastest");
    for (int32_t i = 0; i < SHADE_COUNT; i++)
        if (p->shades[i])
            canvas_legend(p->c, (struct mark){ MARK_SHADE, i }, shades[i]);
    if (p->any[HEAT_MISFIT])
        canvas_legend(p->c, (struct mark){ MARK_BAR, BAR_OVER }, "memory");
}

/* ---- one map ---- */

/* The cells of one state and, where they fit, one shade. */
static void put_boxes(struct plans *p, const struct heat_map *map, enum heat_state state, struct mark mark)
{
    bool begun = false;

    for (int32_t y = 0; y < p->heat.n_rows; y++)
        for (int32_t x = 0; x < p->heat.n_columns; x++) {
            const struct heat_cell *cell = &map->cell[y][x];
            if (cell->state != state || (state == HEAT_FITS && shade_of(map, cell) != mark.style))
                continue;
            if (!begun)
                canvas_block(p->c);
            begun = true;
            canvas_bar(p->c, x, y + 1, x + 1, y);
        }
    if (begun)
        canvas_block_end(p->c, mark);
}

static void put_best(struct plans *p, const struct heat_map *map)
{
    for (int32_t y = 0; y < p->heat.n_rows; y++)
        for (int32_t x = 0; x < p->heat.n_columns; x++)
            if (map->cell[y][x].state == HEAT_FITS && map->cell[y][x].time_s == map->best_s) {
                canvas_block(p->c);
                canvas_bar(p->c, x, y + 1, x + 1, y);
                canvas_block_end(p->c, (struct mark){ MARK_FRAME, 0 });
                return;
            }
}

/* Two lines: what decides, and below it what else is known. */
static void format_cell(struct text *first, struct text *second, const struct plans *p,
                        const struct heat_cell *cell)
{
    if (cell->state == HEAT_NO_PLAN)
        text_puts(first, "–");
    if (cell->state == HEAT_MISFIT) {
        text_puts(first, "memory");
        if (isfinite(cell->memory_GB))
            text_printf(second, "%.0f GB", cell->memory_GB);
    }
    if (cell->state == HEAT_FITS) {
        double x = cell->time_s / p->unit.scale;
        text_printf(first, x < 100 ? "%#.3g" : "%.0f", x);
        if (isfinite(cell->mfu))
            text_printf(second, "%.0f %%", 100 * cell->mfu);
    }
}

static void put_cell_text(struct plans *p, const struct heat_map *map, const struct heat_cell *cell,
                          const struct canvas_box *box)
{
    struct text first = { 0 }, second = { 0 };
    bool fits = cell->state == HEAT_FITS, white = fits && shade_of(map, cell) < SHADE_DARK;
    bool both = box->bottom - box->top >= TWO_LINES_PX;
    double middle = (box->top + box->bottom) / 2;
    struct canvas_label at = { .x_px = (box->left + box->right) / 2,
                               .y_px = both ? middle - 7 : middle,
                               .align = ALIGN_CENTER,
                               .size_px = fits ? CANVAS_FONT_PX : CANVAS_SMALL_PX,
                               .room_px = box->right - box->left - 4,
                               .color = white  ? CANVAS_WHITE
                                        : fits ? CANVAS_BLACK
                                               : CANVAS_GREY };

    format_cell(&first, &second, p, cell);
    at.y_px = both && second.n ? middle - 7 : middle;
    if (first.n)
        canvas_text(p->c, &at, text_str(&first));
    at.y_px = middle + 8;
    at.size_px = CANVAS_SMALL_PX;
    if (second.n && both)
        canvas_text(p->c, &at, text_str(&second));
    p->c->script.failed = p->c->script.failed || first.failed || second.failed;
    text_free(&first);
    text_free(&second);
}

static void put_texts(struct plans *p, const struct heat_map *map, const struct canvas_box *box)
{
    double width = (box->right - box->left) / p->heat.n_columns;
    double height = (box->bottom - box->top) / p->heat.n_rows;

    for (int32_t y = 0; y < p->heat.n_rows; y++)
        for (int32_t x = 0; x < p->heat.n_columns; x++) {
            struct canvas_box at = { .left = box->left + x * width, .top = box->top + y * height };
            at.right = at.left + width;
            at.bottom = at.top + height;
            put_cell_text(p, map, &map->cell[y][x], &at);
        }
}

static void put_degrees(struct plans *p, const struct canvas_box *box)
{
    const struct heat *s = &p->heat;
    struct canvas_label at = { .size_px = CANVAS_SMALL_PX, .color = CANVAS_BLACK };
    char value[16];

    for (int32_t y = 0; y < s->n_rows; y++) {
        snprintf(value, sizeof value, "%d", (int)s->rows[y]);
        at.x_px = box->left - 6;
        at.y_px = box->top + (y + 0.5) * (box->bottom - box->top) / s->n_rows;
        at.align = ALIGN_RIGHT;
        canvas_text(p->c, &at, value);
    }
    for (int32_t x = 0; x < s->n_columns; x++) {
        snprintf(value, sizeof value, "%d", (int)s->columns[x]);
        at.x_px = box->left + (x + 0.5) * (box->right - box->left) / s->n_columns;
        at.y_px = box->bottom + CANVAS_X_TICS_PX * 0.5;
        at.align = ALIGN_CENTER;
        canvas_text(p->c, &at, value);
    }
}

/* Maps have names to tell them apart. */
static double name_px(const struct plans *p)
{
    return p->heat.n_maps > 1 ? CANVAS_STRIP_PX : 6;
}

static void put_name(struct plans *p, const struct heat_map *map, const struct canvas_box *box)
{
    struct text name = { 0 };
    struct canvas_label at = { .x_px = (box->left + box->right) / 2,
                               .y_px = box->top - CANVAS_STRIP_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = box->right - box->left + VALUES_PX,
                               .color = CANVAS_BLACK };

    describe(&name, p, map, true, SIZE_MAX);
    if (CANVAS_LEAST_SHRINK * canvas_width(text_str(&name), CANVAS_FONT_PX) > at.room_px) {
        text_clear(&name);
        describe(&name, p, map, true, SHORT_NAME);
    }
    if (name.n)
        canvas_text(p->c, &at, text_str(&name));
    p->c->script.failed = p->c->script.failed || name.failed;
    text_free(&name);
}

static void put_outline(struct plans *p)
{
    double w = p->heat.n_columns, h = p->heat.n_rows;

    canvas_block(p->c);
    canvas_point(p->c, 0, 0);
    canvas_point(p->c, w, 0);
    canvas_point(p->c, w, h);
    canvas_point(p->c, 0, h);
    canvas_point(p->c, 0, 0);
    canvas_block_end(p->c, (struct mark){ MARK_RULE, 0 });
}

static void put_map(struct plans *p, int32_t m)
{
    const struct heat *s = &p->heat;
    double width = (p->body.right - p->body.left - CANVAS_Y_LABEL_PX) / p->n_across;
    double height = (p->body.bottom - p->body.top - CANVAS_X_LABEL_PX) / p->n_down;
    double avail = width - VALUES_PX - GAP_PX, room = fmin(avail, s->n_columns * MOST_CELL_PX);
    double left = p->body.left + CANVAS_Y_LABEL_PX + m % p->n_across * width + VALUES_PX + (avail - room) / 2;
    int32_t down = m / p->n_across;
    double top = p->body.top + down * height;
    struct canvas_box box = { left, top + name_px(p), left + room, top + height - CANVAS_X_TICS_PX };

    canvas_panel(p->c, &box, NULL, NULL);
    text_printf(&p->c->script, "set xrange [0:%d]\nset yrange [%d:0]\n", (int)s->n_columns, (int)s->n_rows);
    put_name(p, &s->maps[m], &box);
    put_degrees(p, &box);
    put_texts(p, &s->maps[m], &box);
    put_boxes(p, &s->maps[m], HEAT_NO_PLAN, (struct mark){ MARK_FILL, FILL_WHITE });
    put_boxes(p, &s->maps[m], HEAT_MISFIT, (struct mark){ MARK_BAR, BAR_OVER });
    for (int32_t i = 0; i < SHADE_COUNT; i++)
        put_boxes(p, &s->maps[m], HEAT_FITS, (struct mark){ MARK_SHADE, i });
    put_outline(p);
    put_best(p, &s->maps[m]);
    canvas_draw(p->c);
}

/* ---- the page ---- */

static void put_axis_labels(struct plans *p)
{
    static const char *const names[N_HEAT_DEGREES] = {
        "tensor parallelism (tp)",  "pipeline parallelism (pp)", "data parallelism (dp)",
        "context parallelism (cp)", "expert parallelism (ep)",
    };
    struct canvas_label at = { .align = ALIGN_CENTER, .size_px = CANVAS_FONT_PX, .color = CANVAS_BLACK };

    at.x_px = (p->body.left + p->body.right + CANVAS_Y_LABEL_PX) / 2;
    at.y_px = p->body.bottom - CANVAS_X_LABEL_PX * 0.5;
    canvas_text(p->c, &at, names[p->heat.column]);
    at.x_px = p->body.left + CANVAS_Y_LABEL_PX * 0.5 - 4;
    at.y_px = (p->body.top + p->body.bottom - CANVAS_X_LABEL_PX) / 2;
    at.rotate = 90;
    bool room = canvas_width(names[p->heat.row], CANVAS_FONT_PX) <= p->body.bottom - p->body.top;
    canvas_text(p->c, &at, room ? names[p->heat.row] : heat_degree_words[p->heat.row]);
}

static int draw(struct plans *p, struct err *e)
{
    const struct heat *s = &p->heat;
    double margins = name_px(p) + CANVAS_X_TICS_PX;

    survey(p);
    put_notes(p);
    put_legend(p);
    double beside = MAX_IN_ROW * (s->n_columns * GOOD_CELL_PX + VALUES_PX + GAP_PX);
    p->n_across = s->n_maps > 1 && beside <= canvas_page_width(p->c) - 50 ? MAX_IN_ROW : 1;
    p->n_down = (s->n_maps + p->n_across - 1) / p->n_across;
    int rc = canvas_open(p->c, &p->body, p->n_down * (s->n_rows * CELL_PX + margins) + CANVAS_X_LABEL_PX,
                         p->n_down * (s->n_rows * LEAST_CELL_PX + margins) + CANVAS_X_LABEL_PX, e);
    if (rc)
        return rc;
    put_axis_labels(p);
    for (int32_t m = 0; m < s->n_maps; m++)
        put_map(p, m);
    canvas_close(p->c);
    return 0;
}

int fig_plans(struct canvas *c, const struct rows *r, struct err *e)
{
    struct plans p = { .c = c };
    int rc = heat_read(&p.heat, r, e);

    if (!rc)
        rc = draw(&p, e);
    heat_free(&p.heat);
    return rc;
}
