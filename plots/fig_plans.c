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
#include <string.h>

#include "plots/columns.h"
#include "plots/fig.h"

enum {
    MAPS_MOST = 6,
    MAPS_VALUES = 16,
    SHORT_NAME = 18, /* characters of a word where room is short */
    CELL_TEXT = 24,
    CELL_PX = 36, /* height */
    LEAST_CELL_PX = 14,
    TWO_LINES_PX = 29,
    MOST_CELL_PX = 120, /* width */
    GOOD_CELL_PX = 46,
    VALUES_PX = 34, /* values of the rows, at the left */
    MOST_VALUES_PX = 120,
    GAP_PX = 14,
};

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

/* A degree that runs along the maps. */
struct side {
    int degree;
    int32_t n, n_all;            /* values drawn, and how many there are */
    int32_t values[MAPS_VALUES]; /* rising */
    const char *list[MAPS_VALUES];
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
    struct side rows_side, columns_side;
    struct plan_map *maps; /* shape [n_maps] */
    int32_t n_maps, n_across, n_down;
    double values_px;
    struct canvas_box body;
    bool more_maps; /* than these */
    bool any_total; /* a map has designs of all bandwidths */
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

static void fill_side(struct plans *p, struct side *side, int degree)
{
    side->degree = degree;
    side->n_all = gather_values(p, degree, side->values);
    side->n = side->n_all < MAPS_VALUES ? side->n_all : MAPS_VALUES;
    for (int32_t i = 0; i < side->n; i++)
        side->list[i] = canvas_keep(p->c, "%d", (int)side->values[i]);
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
    fill_side(p, &p->rows_side, first < second ? first : second);
    fill_side(p, &p->columns_side, first < second ? second : first);
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

/* Where the row is along a side; -1: beyond it, or without the degree. */
static int32_t find_value(const struct side *side, const struct plan_row *row)
{
    for (int32_t i = 0; i < side->n; i++)
        if (side->values[i] == row->degree[side->degree])
            return i;
    return -1;
}

/* The cell of a map that the row belongs in; NULL: none. Rows beyond the first values of a side, or without
 * one of the two degrees, have none. */
static struct cell *cell_of(const struct plans *p, const struct plan_row *row, struct plan_map *map)
{
    int32_t y = find_value(&p->rows_side, row), x = find_value(&p->columns_side, row);

    return y >= 0 && x >= 0 && match(&row->key, &map->key) ? &map->cell[y][x] : NULL;
}

static void plans_sort_rows(struct plans *p)
{
    for (int64_t i = 0; i < p->n_rows; i++) {
        const struct plan_row *row = &p->rows[i];
        for (int32_t k = 0; k < p->n_maps; k++) {
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
        for (int32_t k = 0; k < p->n_maps; k++) {
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
    p->n_maps = p->more_maps ? MAPS_MOST : n;
    p->maps = canvas_new(p->c, p->n_maps, sizeof *p->maps, e);
    if (!p->maps)
        return ERR_NOMEM;
    for (int32_t i = 0; i < p->n_maps; i++) {
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

    for (int32_t m = 0; m < p->n_maps; m++) {
        const struct plan_map *map = &p->maps[m];
        for (int32_t y = 0; y < p->rows_side.n; y++)
            for (int32_t x = 0; x < p->columns_side.n; x++) {
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

/* " · " and the word, of which at most so many characters. */
static void put_word(struct text *out, const char *word, size_t chars)
{
    text_puts(out, out->n && *word ? " · " : "");
    canvas_put_short(out, word, chars);
}

/* What tells a map from the others, or (varying = false) what all have in common; each word in so many
 * characters. */
static const char *describe_map(const struct plans *p, const struct plan_map *map, bool varying, size_t chars)
{
    struct text out = { 0 };

    for (int i = 0; i < N_WORDS; i++) {
        if (i == AXES && map->key.total_GBps > 0 && p->total_varies == varying)
            put_word(&out, canvas_keep(p->c, "%.6g GB/s%s", map->key.total_GBps, varying ? "" : " per NPU"),
                     SIZE_MAX);
        if (p->varies[i] == varying && map->key.word[i] >= 0)
            put_word(&out, p->words[i].list[map->key.word[i]], chars);
    }
    return canvas_keep_text(p->c, &out);
}

static void plans_put_notes(struct plans *p)
{
    const struct side *sides[] = { &p->rows_side, &p->columns_side };
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
        canvas_note(p->c, "first %d maps", (int)p->n_maps);
    for (int k = 0; k < 2; k++)
        if (sides[k]->n_all > sides[k]->n)
            canvas_note(p->c, "first %d of %d %s", (int)sides[k]->n, (int)sides[k]->n_all,
                        degree_words[sides[k]->degree]);
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

/* ---- one map ---- */

/* A cell as a box and two lines of text: what decides, and below it, where there is room, what else is known.
 */
struct shown {
    struct mark mark;
    char first[CELL_TEXT], second[CELL_TEXT];
};

static struct shown show_cell(const struct plans *p, const struct plan_map *map, const struct cell *cell)
{
    struct shown out = { .mark = { MARK_FILL, FILL_WHITE } };

    if (cell->state == NO_PLAN)
        snprintf(out.first, sizeof out.first, "–");
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

static void put_cell_text(struct plans *p, const struct shown *cell, const struct canvas_box *box)
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

    canvas_text(p->c, &at, cell->first);
    at.y_px = middle + 8;
    at.size_px = CANVAS_SMALL_PX;
    if (both)
        canvas_text(p->c, &at, cell->second);
}

static void put_cell_texts(struct plans *p, const struct plan_map *map, const struct canvas_box *box)
{
    double width = (box->right - box->left) / p->columns_side.n,
           height = (box->bottom - box->top) / p->rows_side.n;

    for (int32_t y = 0; y < p->rows_side.n; y++)
        for (int32_t x = 0; x < p->columns_side.n; x++) {
            struct shown cell = show_cell(p, map, &map->cell[y][x]);
            struct canvas_box at = { box->left + x * width, box->top + y * height,
                                     box->left + (x + 1) * width, box->top + (y + 1) * height };
            if (map->cell[y][x].state != EMPTY)
                put_cell_text(p, &cell, &at);
        }
}

/* The cells of one mark; of the frame the first that is the best. */
static void put_marked(struct plans *p, const struct plan_map *map, struct mark mark)
{
    bool framed = false;

    for (int32_t y = 0; y < p->rows_side.n; y++)
        for (int32_t x = 0; x < p->columns_side.n; x++) {
            const struct cell *cell = &map->cell[y][x];
            struct shown shown = show_cell(p, map, cell);
            bool fits = mark.kind == MARK_FRAME
                            ? !framed && cell->state == FITS && cell->time_s == map->best_s
                            : shown.mark.kind == mark.kind && shown.mark.style == mark.style;
            if (cell->state == EMPTY || !fits)
                continue;
            framed = true;
            canvas_mark_row(p->c, cell->row);
            canvas_bar(p->c, x, y + 1, x + 1, y);
        }
    canvas_block_end(p->c, mark);
}

static void plans_put_values(struct plans *p, const struct canvas_box *box)
{
    for (int32_t y = 0; y < p->rows_side.n; y++) {
        struct canvas_label at = { .x_px = box->left - 6,
                                   .y_px = box->top + (y + 0.5) * (box->bottom - box->top) / p->rows_side.n,
                                   .align = ALIGN_RIGHT,
                                   .size_px = CANVAS_SMALL_PX,
                                   .room_px = p->values_px };
        canvas_text(p->c, &at, p->rows_side.list[y]);
    }
    canvas_categories(p->c, box, p->columns_side.list, p->columns_side.n, 0);
}

/* Maps have names to tell them apart. */
static double map_name_px(const struct plans *p)
{
    return p->n_maps > 1 ? CANVAS_STRIP_PX : 6;
}

static void put_map_name(struct plans *p, const struct plan_map *map, const struct canvas_box *box)
{
    double room_px = box->right - box->left + p->values_px;
    const char *name = describe_map(p, map, true, SIZE_MAX);
    bool fits = CANVAS_LEAST_SHRINK * canvas_width(name, CANVAS_FONT_PX) <= room_px;

    canvas_name(p->c, box, room_px, fits ? name : describe_map(p, map, true, SHORT_NAME));
}

static void put_outline(struct plans *p, double w, double h)
{
    const double corners[][2] = { { 0, 0 }, { w, 0 }, { w, h }, { 0, h }, { 0, 0 } };

    for (int i = 0; i < 5; i++)
        canvas_point(p->c, corners[i][0], corners[i][1]);
    canvas_block_end(p->c, (struct mark){ MARK_RULE, 0 });
}

static void put_map(struct plans *p, int32_t m)
{
    const struct plan_map *map = &p->maps[m];
    int32_t n_columns = p->columns_side.n, down = m / p->n_across;
    double width = (p->body.right - p->body.left - CANVAS_Y_LABEL_PX) / p->n_across;
    double height = (p->body.bottom - p->body.top - CANVAS_X_LABEL_PX) / p->n_down;
    double avail = width - p->values_px - GAP_PX, room = fmin(avail, n_columns * MOST_CELL_PX);
    double left =
        p->body.left + CANVAS_Y_LABEL_PX + m % p->n_across * width + p->values_px + (avail - room) / 2;
    double top = p->body.top + down * height;
    struct canvas_box box = { left, top + map_name_px(p), left + room, top + height - CANVAS_X_TICS_PX };
    const struct axis x = { .hi = n_columns, .bare = true }, y = { .lo = p->rows_side.n, .bare = true };

    canvas_panel(p->c, &box, &x, &y);
    put_map_name(p, map, &box);
    plans_put_values(p, &box);
    put_cell_texts(p, map, &box);
    put_marked(p, map, (struct mark){ MARK_FILL, FILL_WHITE });
    put_marked(p, map, (struct mark){ MARK_BAR, BAR_OVER });
    for (int32_t i = 0; i < SHADE_COUNT; i++)
        put_marked(p, map, (struct mark){ MARK_SHADE, i });
    put_outline(p, n_columns, p->rows_side.n);
    put_marked(p, map, (struct mark){ MARK_FRAME, 0 });
    canvas_draw(p->c);
}

static int draw_plans(struct plans *p, struct err *e)
{
    static const char *const names[N_DEGREES] = {
        "tensor parallelism (tp)",  "pipeline parallelism (pp)", "data parallelism (dp)",
        "context parallelism (cp)", "expert parallelism (ep)",
    };
    double margins = map_name_px(p) + CANVAS_X_TICS_PX;

    plans_survey(p);
    plans_put_notes(p);
    plans_put_legend(p);
    p->values_px = VALUES_PX;
    for (int32_t y = 0; y < p->rows_side.n; y++)
        p->values_px = fmax(p->values_px, canvas_width(p->rows_side.list[y], CANVAS_SMALL_PX) + 10);
    p->values_px = fmin(p->values_px, MOST_VALUES_PX);
    /* Two maps beside each other only where their cells stay wide enough for a number. */
    double beside = 2 * (p->columns_side.n * GOOD_CELL_PX + p->values_px + GAP_PX);
    p->n_across = p->n_maps > 1 && beside <= p->c->width_px - 50 ? 2 : 1;
    p->n_down = (p->n_maps + p->n_across - 1) / p->n_across;
    int rc = canvas_open(p->c, &p->body, p->n_down * (p->rows_side.n * CELL_PX + margins) + CANVAS_X_LABEL_PX,
                         p->n_down * (p->rows_side.n * LEAST_CELL_PX + margins) + CANVAS_X_LABEL_PX, e);
    if (rc)
        return rc;
    const char *y_name = names[p->rows_side.degree];
    bool room = canvas_width(y_name, CANVAS_FONT_PX) <= p->body.bottom - p->body.top;
    canvas_axis_labels(p->c, &p->body, names[p->columns_side.degree],
                       room ? y_name : degree_words[p->rows_side.degree]);
    for (int32_t m = 0; m < p->n_maps; m++)
        put_map(p, m);
    canvas_close(p->c);
    return 0;
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
