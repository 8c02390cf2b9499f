#include "plots/fig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "plots/outcomes.h"
#include "plots/tiles.h"

enum { MAX_MAPS = 6, MAX_VALUES = 16, SHORT_NAME = 2 * TILES_SHORT_NAME };

/* Rows or columns: the values of an axis, or the schedulers. */
struct side {
    const char *key;           /* as on the page */
    double values[MAX_VALUES]; /* of an axis, rising */
    char texts[MAX_VALUES][NUM_TEXT];
    const char *list[MAX_VALUES];
    int32_t n, n_all;
};

struct embedded {
    struct canvas *c;
    struct outcomes o;
    struct side rows, columns;
    bool by_scheduler;                 /* a map each; else schedulers are the rows */
    struct names names;                /* owned: of the maps */
    struct text short_names[MAX_MAPS]; /* owned */
    struct tiles_cell *cells;          /* shape [MAX_MAPS][rows.n][columns.n], owned */
    struct tiles_map maps[MAX_MAPS];
    int32_t n_maps;
    bool shades[SHADE_COUNT];
};

/* Per cent from which on a shade is used; dark is much. */
static const double shade_percent[SHADE_COUNT] = { 90, 80, 70, 60, 50, 40, 20, 0 };

static int32_t shade_of(double percent)
{
    int32_t i = 0;

    while (i + 1 < SHADE_COUNT && !(percent >= shade_percent[i]))
        i++;
    return i;
}

/* ---- rows and columns ---- */

/* The least value of the axis above `last`; infinite when there is none. */
static double next_value(const struct outcomes *o, int32_t axis, double last)
{
    double next = HUGE_VAL;

    for (int64_t i = 0; i < o->n; i++) {
        double x = o->list[i].axis[axis];
        if (x > last && x < next)
            next = x;
    }
    return next;
}

static void gather_values(struct side *s, const struct outcomes *o, int32_t axis)
{
    s->key = o->axes[axis];
    double x = next_value(o, axis, -HUGE_VAL);
    while (x < HUGE_VAL) {
        if (s->n < MAX_VALUES) {
            s->values[s->n] = x;
            s->list[s->n] = num_format(s->texts[s->n], x);
            s->n++;
        }
        s->n_all++;
        x = next_value(o, axis, x);
    }
}

static void gather_schedulers(struct side *s, const struct outcomes *o)
{
    s->key = "";
    s->n_all = o->schedulers.n;
    s->n = s->n_all < MAX_VALUES ? s->n_all : MAX_VALUES;
    for (int32_t i = 0; i < s->n; i++)
        s->list[i] = o->schedulers.list[i];
}

static int32_t find_value(const struct side *s, double x)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->values[i] == x)
            return i;
    return -1;
}

/* ---- maps ---- */

static int name_map(int32_t *map, struct embedded *f, const struct outcome *from, struct err *e)
{
    const char *panel = f->o.panels.list[from->panel];
    struct text name = { 0 };

    if (f->by_scheduler)
        text_puts(&name, f->o.schedulers.list[from->scheduler]);
    if (panel[0])
        text_printf(&name, "%s%s", name.n ? " · " : "", panel);
    int rc = text_check(&name, e);
    if (!rc) {
        *map = names_add_copy(&f->names, text_str(&name));
        rc = *map < 0 ? err_nomem(e, "the figure's names") : 0;
    }
    text_free(&name);
    return rc;
}

/* A map for each panel and scheduler that has rows, panel by panel. */
static int name_maps(struct embedded *f, struct err *e)
{
    int32_t map, n = f->by_scheduler ? f->o.schedulers.n : 1;
    int rc = 0;

    for (int32_t p = 0; p < f->o.panels.n; p++)
        for (int32_t s = 0; s < n; s++)
            for (int64_t i = 0; i < f->o.n && !rc; i++)
                if (f->o.list[i].panel == p && (!f->by_scheduler || f->o.list[i].scheduler == s)) {
                    rc = name_map(&map, f, &f->o.list[i], e);
                    break;
                }
    return rc;
}

static int fill_cell(struct embedded *f, const struct outcome *from, struct err *e)
{
    int32_t map, axis = f->by_scheduler ? 1 : 0;
    int32_t x = find_value(&f->columns, from->axis[axis]);
    int32_t y = f->by_scheduler ? find_value(&f->rows, from->axis[0])
                                : (from->scheduler < f->rows.n ? from->scheduler : -1);
    int rc = name_map(&map, f, from, e);

    if (rc || map >= MAX_MAPS || x < 0 || y < 0)
        return rc;
    double percent = 100 * from->value[0];
    struct tiles_cell *cell = &f->cells[((int64_t)map * f->rows.n + y) * f->columns.n + x];
    cell->empty = false;
    cell->mark = (struct mark){ MARK_SHADE, shade_of(percent) };
    snprintf(cell->first, sizeof cell->first, percent < 99.95 ? "%.1f" : "%.0f", percent);
    f->shades[cell->mark.style] = true;
    return 0;
}

static int fill_maps(struct embedded *f, struct err *e)
{
    int64_t each = (int64_t)f->rows.n * f->columns.n;
    int rc = 0;

    f->cells = calloc((size_t)(MAX_MAPS * each) + 1, sizeof *f->cells);
    if (!f->cells)
        return err_nomem(e, "the figure's cells");
    for (int64_t i = 0; i < MAX_MAPS * each; i++)
        f->cells[i].empty = true;
    rc = name_maps(f, e);
    for (int64_t i = 0; i < f->o.n && !rc; i++)
        rc = fill_cell(f, &f->o.list[i], e);
    f->n_maps = f->names.n < MAX_MAPS ? f->names.n : MAX_MAPS;
    for (int32_t m = 0; m < f->n_maps && !rc; m++) {
        canvas_put_short(&f->short_names[m], f->names.list[m], SHORT_NAME);
        f->maps[m] =
            (struct tiles_map){ f->names.list[m], text_str(&f->short_names[m]), f->cells + m * each, -1 };
        rc = text_check(&f->short_names[m], e);
    }
    return rc;
}

/* ---- the page ---- */

static void put_left_out(struct canvas *c, const struct side *s)
{
    if (s->n_all > s->n)
        canvas_note(c, "first %d of %d %s", (int)s->n, (int)s->n_all, s->key[0] ? s->key : "schedulers");
}

static void put_notes(struct embedded *f)
{
    canvas_note(f->c, "in per cent, mean over slots");
    f->o.any_interval = false; /* cells have no room for it */
    outcomes_put_notes(f->c, &f->o);
    if (f->names.n == 1 && f->names.list[0][0])
        canvas_note(f->c, "%s", f->names.list[0]);
    if (f->names.n > f->n_maps)
        canvas_note(f->c, "first %d of %d maps", (int)f->n_maps, (int)f->names.n);
    put_left_out(f->c, &f->rows);
    put_left_out(f->c, &f->columns);
    for (int64_t i = 0; i < (int64_t)f->n_maps * f->rows.n * f->columns.n; i++)
        if (f->cells[i].empty) {
            canvas_note(f->c, "empty: not in the table");
            break;
        }
}

static void put_legend(struct embedded *f)
{
    for (int32_t i = 0; i < SHADE_COUNT; i++) {
        char label[32];
        snprintf(label, sizeof label, "%s%.0f %%%s", i + 1 < SHADE_COUNT ? "" : "below ",
                 shade_percent[i + 1 < SHADE_COUNT ? i : i - 1], i == 0 ? " and more" : "");
        if (f->shades[i])
            canvas_legend(f->c, (struct mark){ MARK_SHADE, i }, label);
    }
}

static int draw(struct embedded *f, struct err *e)
{
    f->by_scheduler = f->o.n_axes == 2;
    if (f->by_scheduler)
        gather_values(&f->rows, &f->o, 0);
    else
        gather_schedulers(&f->rows, &f->o);
    gather_values(&f->columns, &f->o, f->by_scheduler ? 1 : 0);
    int rc = fill_maps(f, e);
    if (rc)
        return rc;
    put_notes(f);
    put_legend(f);
    struct text word = { 0 };
    outcomes_put_key(&word, f->rows.key);
    struct tiles_spec spec = { .maps = f->maps,
                               .n_maps = f->n_maps,
                               .row_values = f->rows.list,
                               .column_values = f->columns.list,
                               .n_rows = f->rows.n,
                               .n_columns = f->columns.n,
                               .row_label = f->rows.key,
                               .row_word = text_str(&word),
                               .column_label = f->columns.key };
    rc = text_check(&word, e);
    if (!rc)
        rc = tiles_build(f->c, &spec, e);
    text_free(&word);
    return rc;
}

int fig_embedded(struct canvas *c, const struct rows *r, struct err *e)
{
    static const struct outcomes_spec spec = {
        .metrics = { "embedded_frac" }, .n_metrics = 1, .n_axes = 2, .any_numbers = true
    };
    struct embedded f = { .c = c };
    int rc = outcomes_read(&f.o, r, &spec, e);

    if (!rc && f.o.n_axes == 0)
        rc = err_set(e, ERR_PARSE,
                     "figure %s: axes of numbers: is 0, need 1 or 2 between the columns point and network",
                     r->figure->name);
    if (!rc)
        rc = draw(&f, e);
    for (int32_t m = 0; m < MAX_MAPS; m++)
        text_free(&f.short_names[m]);
    names_free_copies(&f.names);
    free(f.cells);
    outcomes_free(&f.o);
    return rc;
}
