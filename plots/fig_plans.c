/*
 * Step time by two degrees of parallelism: a map per network, workload, goal, bandwidth and what else a sweep
 * varies beside the plan.
 *
 * Rows and columns are tp and pp where both vary, else the two degrees that vary most, those that the sweep
 * sets before those that follow. A cell is the best that rows of one place come to: the fastest that fits,
 * else the one that needs least memory. A row that could not be read has degrees by the axes of the sweep
 * ("workload.parallel.tp"), and stands in every map that it may belong to.
 *
 * A map's shade is how much slower a cell is than the best of the same map that fits, so maps of different
 * networks show where their plans are good, not which network is fast. Time O(rows * (values + maps)).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/columns.h"
#include "plots/fig.h"
#include "plots/maps.h"

enum { TP, PP, DP, CP, EP, N_DEGREES };

static const char *const degree_words[N_DEGREES] = { "tp", "pp", "dp", "cp", "ep" };

/* In rising order of what one wants to know of a place: the higher of two rows is shown. */
enum cell_state {
    EMPTY,   /* no row */
    NO_PLAN, /* none is solved */
    MISFIT,  /* solved, but needs more memory than an NPU has */
    FITS,
    N_STATES
};

struct cell {
    enum cell_state state;
    int64_t row;                   /* of the table; of an empty one of no concern */
    double time_s, mfu, memory_GB; /* of a solved one; NaN where the table has none */
};

/* What rows of a map have in common. */
enum { NETWORK, WORKLOAD, OBJECTIVE, AXES, N_WORDS };

/* Blanks belong to rows that could not be read so far as to know. */
struct map_key {
    int32_t word[N_WORDS]; /* index into `words`; -1 = blank */
    double total_GBps;     /* NaN = blank; 0 = of no concern to the map */
};

struct plan_row {
    int32_t degree[N_DEGREES]; /* 0 = not known */
    struct map_key key;
    struct cell cell;
};

struct plan_map {
    struct map_key key;
    double best_s;                              /* of its cells; NaN = none fits */
    struct cell cell[MAPS_VALUES][MAPS_VALUES]; /* [row][column] */
};

/* axis[] are columns of keys of the sweep ("workload.parallel.tp"), degree[] those of results ("tp"); -1 =
 * none. */
struct plans {
    struct canvas *c;
    struct rows r;
    int32_t word_col[AXES], total, status, time_s, memory_GB, fits, mfu, degree[N_DEGREES],
        axis[N_DEGREES]; /* columns */
    struct names words[N_WORDS];
    struct plan_row *rows; /* shape [n_rows] */
    int64_t n_rows;
    int32_t row_values[MAPS_VALUES], column_values[MAPS_VALUES]; /* degrees, rising */
    int row_degree, column_degree;
    struct maps page;
    struct plan_map *maps; /* shape [page.n] */
    bool more_maps;        /* than these */
    bool any_total;        /* a map has designs of all bandwidths */
    struct unit unit;
    bool any[N_STATES], shades[SHADE_COUNT], varies[N_WORDS], total_varies;
};

/* ---- reading ---- */

/* From the last column to the first, so that the first of several that end so is what remains. */
static void plans_find_columns(struct plans *p)
{
    static const char *const words[AXES] = { "network", "workload", "objective" };
    const struct table *t = p->r.t;

    for (int i = 0; i < AXES; i++)
        p->word_col[i] = table_find(t, words[i]);
    p->total = table_find(t, COL_TOTAL_GBPS);
    p->status = table_find(t, "status");
    p->time_s = table_find(t, COL_TIME_S);
    p->memory_GB = table_find(t, COL_MEMORY_GB);
    p->fits = table_find(t, "fits");
    p->mfu = table_find(t, "mfu");
    for (int i = 0; i < N_DEGREES; i++) {
        p->degree[i] = table_find(t, degree_words[i]);
        p->axis[i] = -1;
        for (int32_t col = t->n_cols; col-- > 0;) /* the first axis whose key ends so */
            if (strchr(t->names[col], '.') && strcmp(key_last(t->names[col]), degree_words[i]) == 0)
                p->axis[i] = col;
    }
}

/* The degree that the plan has; where that is blank, the one that the sweep asked for. 0 when neither is
 * known. ERR_PARSE: it is no whole number. */
static int read_degree(int32_t *out, const struct plans *p, int i, struct err *e)
{
    const int32_t cols[] = { p->degree[i], p->axis[i] };

    *out = 0;
    for (int k = 0; k < 2 && *out == 0; k++) {
        double x;
        int rc = rows_above_zero(&x, &p->r, cols[k], e);
        if (!rc && !isnan(x) && !(x <= INT32_MAX && x == floor(x)))
            rc = rows_fault(&p->r, p->r.t->names[cols[k]], e, "%g, expected a whole number, 0 to %d", x,
                            INT32_MAX);
        if (rc)
            return rc;
        *out = isnan(x) ? 0 : (int32_t)x;
    }
    return 0;
}

/* A row whose `fits` is blank counts as one that fits: designs without memory limits leave it so. */
static int read_cell(struct cell *out, const struct plans *p, struct err *e)
{
    *out = (struct cell){ NO_PLAN, 0, (double)NAN, (double)NAN, (double)NAN };
    if (!rows_done(&p->r, p->status, "solved"))
        return 0;
    out->state = rows_equal(&p->r, p->fits, "no") ? MISFIT : FITS;
    int rc = rows_above_zero(&out->time_s, &p->r, p->time_s, e);
    if (!rc)
        rc = rows_number(&out->mfu, &p->r, p->mfu, e);
    return rc ? rc : rows_number(&out->memory_GB, &p->r, p->memory_GB, e);
}

/* Words of a column that are numbers and blank are a word all the same. */
static void read_words(struct plans *p, struct map_key *key)
{
    struct text axes = { 0 };
    char buf[NUM_TEXT];

    for (int i = 0; i < AXES; i++) {
        const char *word = rows_text(buf, &p->r, p->word_col[i]);
        bool blank = !word[0] && p->r.t->kinds[p->word_col[i]] == TABLE_TEXT;
        key->word[i] = blank ? -1 : names_add(p->c, &p->words[i], word);
    }
    phrases_put_axes(&axes, &p->r);
    /* One line per axis becomes one line. */
    for (size_t i = 0; i < axes.n; i++)
        if (axes.s[i] == '\n')
            axes.s[i] = i + 1 < axes.n ? ',' : '\0';
    key->word[AXES] = names_add(p->c, &p->words[AXES], text_str(&axes));
    text_free(&axes);
}

static int plans_read_row(struct plans *p, struct err *e)
{
    struct plan_row *row = &p->rows[p->n_rows];
    bool any = false;
    int rc = read_cell(&row->cell, p, e);

    for (int i = 0; i < N_DEGREES && !rc; i++) {
        rc = read_degree(&row->degree[i], p, i, e);
        any = any || row->degree[i] > 0;
    }
    if (!rc)
        rc = rows_number(&row->key.total_GBps, &p->r, p->total, e);
    if (rc)
        return rc;
    read_words(p, &row->key);
    /* A row without a degree has no place in any map. The slot in p->rows is used again then. */
    bool timed = row->cell.state == NO_PLAN || !isnan(row->cell.time_s);
    row->cell.row = p->r.row;
    p->n_rows += any && timed;
    if (!(any && timed))
        canvas_leave_out(p->c, p->r.row, any ? "without time_s" : "without a degree of parallelism");
    return 0;
}

/* ---- rows and columns ---- */

/* The values of a degree, rising; returns how many there are, of which `out` has the first. A pass over the
 * rows for each value: there are few. */
static int32_t gather_values(const struct plans *p, int degree, int32_t out[MAPS_VALUES])
{
    int32_t n = 0, last = 0;

    for (;;) {
        int32_t next = INT32_MAX;
        for (int64_t i = 0; i < p->n_rows; i++) {
            int32_t x = p->rows[i].degree[degree];
            next = x > last && x < next ? x : next;
        }
        if (next == INT32_MAX)
            return n;
        if (n < MAPS_VALUES)
            out[n] = next;
        n++;
        last = next;
    }
}

static void fill_side(struct plans *p, struct map_side *side, int degree, int32_t values[MAPS_VALUES])
{
    static const char *const names[N_DEGREES] = {
        "tensor parallelism (tp)",  "pipeline parallelism (pp)", "data parallelism (dp)",
        "context parallelism (cp)", "expert parallelism (ep)",
    };

    side->label = names[degree];
    side->word = degree_words[degree];
    side->n_all = gather_values(p, degree, values);
    side->n = side->n_all < MAPS_VALUES ? side->n_all : MAPS_VALUES;
    for (int32_t i = 0; i < side->n; i++)
        side->list[i] = canvas_keep(p->c, "%d", (int)values[i]);
}

/* tp and pp where both vary, else the two of most values; the smaller index gives the rows. */
static void choose_degrees(struct plans *p)
{
    int32_t n[N_DEGREES], values[MAPS_VALUES];
    int first = TP, second = PP;

    /* What the sweep sets goes before what follows from it, whatever the counts. */
    for (int i = 0; i < N_DEGREES; i++) {
        n[i] = gather_values(p, i, values);
        if (n[i] > 1 && p->axis[i] >= 0)
            n[i] += INT32_MAX / 2;
    }
    if (!(n[TP] > 1 && n[PP] > 1)) {
        for (int i = 1; i < N_DEGREES; i++)
            first = n[i] > n[first] ? i : first;
        second = first == 0 ? 1 : 0;
        for (int i = 0; i < N_DEGREES; i++)
            second = i != first && n[i] > n[second] ? i : second;
    }
    p->row_degree = first < second ? first : second;
    p->column_degree = first < second ? second : first;
    fill_side(p, &p->page.rows, p->row_degree, p->row_values);
    fill_side(p, &p->page.columns, p->column_degree, p->column_values);
}

/* ---- maps ---- */

/* Keys looked at to find out what the maps are: far more than are drawn. */
enum { MAX_KEYS = 64 };

static bool plans_is_complete(const struct plan_row *row)
{
    for (int i = 0; i < N_WORDS; i++)
        if (row->key.word[i] < 0)
            return false;
    return !isnan(row->key.total_GBps);
}

/* What is blank may be anything. Totals that the solver found are equal but for rounding. Not transitive: a
 * blank row matches maps that do not match each other, and then stands in all of them. */
static bool match(const struct map_key *a, const struct map_key *b)
{
    for (int i = 0; i < N_WORDS; i++)
        if (a->word[i] >= 0 && b->word[i] >= 0 && a->word[i] != b->word[i])
            return false;
    return !(fabs(a->total_GBps - b->total_GBps) > AXIS_SAME * a->total_GBps);
}

/* The first keys of complete rows, of all where none is; `alone` tells that each is one row's alone. In the
 * order of the table. Rows with blanks would make maps of their own only where all have some. */
static int32_t gather_keys(const struct plans *p, struct map_key keys[MAX_KEYS], bool *alone)
{
    bool any_complete = false;
    int32_t n = 0;

    *alone = true;
    for (int64_t i = 0; i < p->n_rows; i++)
        any_complete = any_complete || plans_is_complete(&p->rows[i]);
    for (int64_t i = 0; i < p->n_rows && n < MAX_KEYS; i++) {
        int32_t k = 0;
        if (any_complete && !plans_is_complete(&p->rows[i]))
            continue;
        while (k < n && !match(&p->rows[i].key, &keys[k]))
            k++;
        *alone = *alone && k == n;
        if (k == n)
            keys[n++] = p->rows[i].key;
    }
    return n;
}

/* Misfits by the memory they need, so that one sees how far off the place is. */
static bool plans_is_better(const struct cell *a, const struct cell *b)
{
    if (a->state != b->state)
        return a->state > b->state;
    return a->state == FITS ? a->time_s < b->time_s : a->memory_GB < b->memory_GB;
}

static int32_t find_value(const int32_t *values, int32_t n, int32_t x)
{
    for (int32_t i = 0; i < n; i++)
        if (values[i] == x)
            return i;
    return -1;
}

/* The cell of a map that the row belongs in; NULL: none. Rows beyond the first values of a side, or without
 * one of the two degrees, have none. */
static struct cell *cell_of(const struct plans *p, const struct plan_row *row, struct plan_map *map)
{
    int32_t y = find_value(p->row_values, p->page.rows.n, row->degree[p->row_degree]);
    int32_t x = find_value(p->column_values, p->page.columns.n, row->degree[p->column_degree]);

    return y >= 0 && x >= 0 && match(&row->key, &map->key) ? &map->cell[y][x] : NULL;
}

static void plans_sort_rows(struct plans *p)
{
    for (int64_t i = 0; i < p->n_rows; i++) {
        const struct plan_row *row = &p->rows[i];
        for (int32_t k = 0; k < p->page.n; k++) {
            struct plan_map *map = &p->maps[k];
            struct cell *cell = cell_of(p, row, map);
            if (!cell)
                continue;
            if (plans_is_better(&row->cell, cell))
                *cell = row->cell;
            if (row->cell.state == FITS && !(map->best_s <= row->cell.time_s))
                map->best_s = row->cell.time_s;
        }
    }
    for (int64_t i = 0; i < p->n_rows; i++) {
        bool shown = false, placed = false;
        for (int32_t k = 0; k < p->page.n; k++) {
            const struct cell *cell = cell_of(p, &p->rows[i], &p->maps[k]);
            placed = placed || cell;
            shown = shown || (cell && cell->row == p->rows[i].cell.row);
        }
        if (!shown)
            canvas_leave_out(p->c, p->rows[i].cell.row,
                             placed ? "behind a better one of the same place" : "beyond the maps");
    }
}

/* The totals are replaced by 0, "of no concern", in all rows, and keys gathered again. */
static int make_maps(struct plans *p, struct err *e)
{
    struct map_key keys[MAX_KEYS];
    bool alone;
    int32_t n = gather_keys(p, keys, &alone);

    /* Where the solver chose a total for each plan, a map per total would have one cell. */
    if (alone && n > MAPS_MOST) {
        for (int64_t i = 0; i < p->n_rows; i++)
            p->rows[i].key.total_GBps = isnan(p->rows[i].key.total_GBps) ? (double)NAN : 0;
        n = gather_keys(p, keys, &alone);
        p->any_total = true;
    }
    p->more_maps = n > MAPS_MOST;
    p->page.n = p->more_maps ? MAPS_MOST : n;
    p->maps = canvas_new(p->c, p->page.n, sizeof *p->maps, e);
    if (!p->maps)
        return ERR_NOMEM;
    for (int32_t i = 0; i < p->page.n; i++) {
        p->maps[i].key = keys[i];
        p->maps[i].best_s = (double)NAN;
    }
    plans_sort_rows(p);
    return 0;
}

/* ---- the page ---- */

/* Up to this much slower than the best of a map: a shade each. */
static const double shade_percent[SHADE_COUNT] = { 2, 5, 10, 25, 50, 100, 300, HUGE_VAL };

/* The last factor keeps a cell that is just 2 % slower in the shade up to 2 %. */
static int32_t plans_shade_of(const struct plan_map *map, const struct cell *cell)
{
    int32_t i = 0;

    while (i + 1 < SHADE_COUNT && !(cell->time_s <= map->best_s * (1 + shade_percent[i] / 100) * (1 + 1e-9)))
        i++;
    return i;
}

static void plans_survey(struct plans *p)
{
    const struct map_key *first = &p->maps[0].key;
    double longest_s = 0;

    for (int32_t m = 0; m < p->page.n; m++) {
        const struct plan_map *map = &p->maps[m];
        for (int32_t y = 0; y < p->page.rows.n; y++)
            for (int32_t x = 0; x < p->page.columns.n; x++) {
                const struct cell *cell = &map->cell[y][x];
                p->any[cell->state] = true;
                if (cell->state != FITS)
                    continue;
                longest_s = fmax(longest_s, cell->time_s);
                p->shades[plans_shade_of(map, cell)] = true;
            }
        for (int i = 0; i < N_WORDS; i++)
            p->varies[i] = p->varies[i] || map->key.word[i] != first->word[i];
        p->total_varies = p->total_varies ||
                          fabs(map->key.total_GBps - first->total_GBps) > AXIS_SAME * map->key.total_GBps;
    }
    p->unit = unit_pick(unit_seconds, longest_s);
}

/* What tells a map from the others, or (varying = false) what all have in common; each word in so many
 * characters. */
static const char *describe_map(const struct plans *p, const struct plan_map *map, bool varying, size_t chars)
{
    struct text out = { 0 };

    for (int i = 0; i < N_WORDS; i++) {
        if (i == AXES && map->key.total_GBps > 0 && p->total_varies == varying)
            maps_put_word(&out,
                          canvas_keep(p->c, "%.6g GB/s%s", map->key.total_GBps, varying ? "" : " per NPU"),
                          SIZE_MAX);
        if (p->varies[i] == varying && map->key.word[i] >= 0)
            maps_put_word(&out, p->words[i].list[map->key.word[i]], chars);
    }
    return canvas_keep_text(p->c, &out);
}

static void plans_put_notes(struct plans *p)
{
    const struct map_side *sides[] = { &p->page.rows, &p->page.columns };
    const char *common = describe_map(p, &p->maps[0], false, SIZE_MAX);

    if (common[0])
        canvas_note(p->c, "%s", common);
    if (p->any[FITS])
        canvas_note(p->c, "step time [%s] and MFU of the fastest plan that fits%s", p->unit.name,
                    p->any_total ? ", at any bandwidth" : "");
    if (p->any[MISFIT])
        canvas_note(p->c, "memory: none fits, and what the smallest needs");
    if (p->any[NO_PLAN])
        canvas_note(p->c, "–: no solution");
    if (p->any[EMPTY])
        canvas_note(p->c, "empty: not in the table");
    if (p->more_maps)
        canvas_note(p->c, "first %d maps", (int)p->page.n);
    for (int k = 0; k < 2; k++)
        if (sides[k]->n_all > sides[k]->n)
            canvas_note(p->c, "first %d of %d %s", (int)sides[k]->n, (int)sides[k]->n_all, sides[k]->word);
}

static void plans_put_legend(struct plans *p)
{
    static const char *const shades[SHADE_COUNT] = {
        "up to 2 % slower", "5 %", "10 %", "25 %", "50 %", "100 %", "300 %", "more"
    };

    if (p->any[FITS])
        canvas_legend(p->c, (struct mark){ MARK_FRAME, 0 }, "fastest");
    for (int32_t i = 0; i < SHADE_COUNT; i++)
        if (p->shades[i])
            canvas_legend(p->c, (struct mark){ MARK_SHADE, i }, shades[i]);
    if (p->any[MISFIT])
        canvas_legend(p->c, (struct mark){ MARK_BAR, BAR_OVER }, "memory");
}

/* Two lines: what decides, and below it what else is known. */
static struct map_cell plans_show_cell(const struct plans *p, const struct plan_map *map,
                                       const struct cell *cell)
{
    struct map_cell out = { .filled = cell->state != EMPTY };

    if (cell->state == NO_PLAN) {
        out.mark = (struct mark){ MARK_FILL, FILL_WHITE };
        snprintf(out.first, sizeof out.first, "–");
    }
    if (cell->state == MISFIT) {
        out.mark = (struct mark){ MARK_BAR, BAR_OVER };
        snprintf(out.first, sizeof out.first, "memory");
        if (isfinite(cell->memory_GB))
            snprintf(out.second, sizeof out.second, "%.0f GB", cell->memory_GB);
    }
    if (cell->state == FITS) {
        double x = cell->time_s / p->unit.scale;
        out.mark = (struct mark){ MARK_SHADE, plans_shade_of(map, cell) };
        snprintf(out.first, sizeof out.first, x < 100 ? "%#.3g" : "%.0f", x);
        if (isfinite(cell->mfu))
            snprintf(out.second, sizeof out.second, "%.0f %%", 100 * cell->mfu);
    }
    return out;
}

static int draw_plans(struct plans *p, struct err *e)
{
    struct map shown[MAPS_MOST];
    int32_t n_columns = p->page.columns.n;
    int64_t n = (int64_t)p->page.rows.n * n_columns;
    struct map_cell *cells = canvas_new(p->c, p->page.n * n, sizeof *cells, e);

    if (!cells)
        return ERR_NOMEM;
    plans_survey(p);
    plans_put_notes(p);
    plans_put_legend(p);
    for (int32_t m = 0; m < p->page.n; m++) {
        const struct plan_map *map = &p->maps[m];
        shown[m] = (struct map){ describe_map(p, map, true, SIZE_MAX),
                                 describe_map(p, map, true, MAPS_SHORT_NAME), cells + m * n, -1 };
        for (int64_t i = 0; i < n; i++) {
            const struct cell *cell = &map->cell[i / n_columns][i % n_columns];
            shown[m].cells[i] = plans_show_cell(p, map, cell);
            if (shown[m].framed < 0 && cell->state == FITS && cell->time_s == map->best_s)
                shown[m].framed = i;
        }
    }
    p->page.list = shown;
    return maps_build(p->c, &p->page, e);
}

int fig_plans(struct canvas *c, const struct rows *r, struct err *e)
{
    struct plans p = { .c = c, .r = *r, .rows = canvas_new(c, r->t->n_rows + 1, sizeof *p.rows, e) };
    int rc = p.rows ? canvas_rows(c, r->t, e) : ERR_NOMEM;

    plans_find_columns(&p);
    for (p.r.row = 0; p.r.row < r->t->n_rows && !rc; p.r.row++)
        if (rows_pass(&p.r)) {
            canvas_row(c, p.r.row);
            rc = plans_read_row(&p, e);
        }
    if (!rc && p.n_rows == 0)
        rc = canvas_none_left(c, r->figure->name, e);
    if (rc)
        return rc;
    choose_degrees(&p);
    rc = make_maps(&p, e);
    return rc ? rc : draw_plans(&p, e);
}
