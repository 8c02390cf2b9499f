#include "plots/fig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/axis.h"
#include "plots/tiles.h"
#include "plots/heat.h"

struct plans {
    struct canvas *c;
    struct heat heat;
    struct unit unit;
    bool any[HEAT_FITS + 1]; /* which states there are */
    bool shades[SHADE_COUNT];
    bool varies[N_HEAT_WORDS], total_varies;
    struct tiles_cell *cells;             /* shape [n_maps][n_rows][n_columns], owned */
    struct tiles_map maps[HEAT_MAX_MAPS]; /* their names lie in the next two */
    struct text names[HEAT_MAX_MAPS], short_names[HEAT_MAX_MAPS]; /* owned */
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

/* ---- the maps ---- */

/* Two lines: what decides, and below it what else is known. */
static void fill_cell(struct tiles_cell *out, const struct plans *p, const struct heat_map *map,
                      const struct heat_cell *cell)
{
    *out = (struct tiles_cell){ .empty = cell->state == HEAT_EMPTY };
    if (cell->state == HEAT_NO_PLAN) {
        out->mark = (struct mark){ MARK_FILL, FILL_WHITE };
        snprintf(out->first, sizeof out->first, "–");
    }
    if (cell->state == HEAT_MISFIT) {
        out->mark = (struct mark){ MARK_BAR, BAR_OVER };
        snprintf(out->first, sizeof out->first, "memory");
        if (isfinite(cell->memory_GB))
            snprintf(out->second, sizeof out->second, "%.0f GB", cell->memory_GB);
    }
    if (cell->state == HEAT_FITS) {
        double x = cell->time_s / p->unit.scale;
        out->mark = (struct mark){ MARK_SHADE, shade_of(map, cell) };
        snprintf(out->first, sizeof out->first, x < 100 ? "%#.3g" : "%.0f", x);
        if (isfinite(cell->mfu))
            snprintf(out->second, sizeof out->second, "%.0f %%", 100 * cell->mfu);
    }
}

static void fill_map(struct plans *p, int32_t m)
{
    const struct heat *s = &p->heat;
    const struct heat_map *map = &s->maps[m];
    int64_t n = (int64_t)s->n_rows * s->n_columns;
    struct tiles_map *out = &p->maps[m];

    describe(&p->names[m], p, map, true, SIZE_MAX);
    describe(&p->short_names[m], p, map, true, TILES_SHORT_NAME);
    *out = (struct tiles_map){ text_str(&p->names[m]), text_str(&p->short_names[m]), p->cells + m * n, -1 };
    for (int64_t i = 0; i < n; i++) {
        const struct heat_cell *cell = &map->cell[i / s->n_columns][i % s->n_columns];
        fill_cell(&out->cells[i], p, map, cell);
        if (out->framed < 0 && cell->state == HEAT_FITS && cell->time_s == map->best_s)
            out->framed = i;
    }
}

static int fill_maps(struct plans *p, struct err *e)
{
    const struct heat *s = &p->heat;
    int rc = 0;

    p->cells = calloc((size_t)s->n_maps * (size_t)s->n_rows * (size_t)s->n_columns + 1, sizeof *p->cells);
    if (!p->cells)
        return err_nomem(e, "the figure's cells");
    for (int32_t m = 0; m < s->n_maps && !rc; m++) {
        fill_map(p, m);
        rc = text_check(&p->names[m], e);
        if (!rc)
            rc = text_check(&p->short_names[m], e);
    }
    return rc;
}

static void put_degrees(char out[HEAT_MAX_VALUES][16], const char *list[HEAT_MAX_VALUES],
                        const int32_t *degrees, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        snprintf(out[i], sizeof out[i], "%d", (int)degrees[i]);
        list[i] = out[i];
    }
}

static int draw(struct plans *p, struct err *e)
{
    static const char *const names[N_HEAT_DEGREES] = {
        "tensor parallelism (tp)",  "pipeline parallelism (pp)", "data parallelism (dp)",
        "context parallelism (cp)", "expert parallelism (ep)",
    };
    const struct heat *s = &p->heat;
    char texts[2][HEAT_MAX_VALUES][16];
    const char *rows[HEAT_MAX_VALUES], *columns[HEAT_MAX_VALUES];
    struct tiles_spec spec = { .maps = p->maps,
                               .n_maps = s->n_maps,
                               .row_values = rows,
                               .column_values = columns,
                               .n_rows = s->n_rows,
                               .n_columns = s->n_columns,
                               .row_label = names[s->row],
                               .row_word = heat_degree_words[s->row],
                               .column_label = names[s->column] };

    survey(p);
    put_notes(p);
    put_legend(p);
    put_degrees(texts[0], rows, s->rows, s->n_rows);
    put_degrees(texts[1], columns, s->columns, s->n_columns);
    int rc = fill_maps(p, e);
    return rc ? rc : tiles_build(p->c, &spec, e);
}

int fig_plans(struct canvas *c, const struct rows *r, struct err *e)
{
    struct plans p = { .c = c };
    int rc = heat_read(&p.heat, r, e);

    if (!rc)
        rc = draw(&p, e);
    for (int32_t m = 0; m < HEAT_MAX_MAPS; m++) {
        text_free(&p.names[m]);
        text_free(&p.short_names[m]);
    }
    free(p.cells);
    heat_free(&p.heat);
    return rc;
}
