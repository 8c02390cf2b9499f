#include "plots/heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/axis.h"
#include "plots/phrases.h"

const char *const heat_degree_words[N_HEAT_DEGREES + 1] = { "tp", "pp", "dp", "cp", "ep" };

struct heat_row {
    int32_t degree[N_HEAT_DEGREES]; /* 0 = not known */
    struct heat_key key;
    struct heat_cell cell;
};

/* Columns by position; an axis that the sweep does not have is -1. */
struct columns {
    int32_t word[HEAT_AXES], total, status, time_s, memory_GB, fits, mfu;
    int32_t degree[N_HEAT_DEGREES], axis[N_HEAT_DEGREES];
};

/* The axis whose key ends in @p word. */
static int32_t find_axis(const struct table *t, const char *word)
{
    size_t n = strlen(word);

    for (int32_t col = 0; col < t->n_cols; col++) {
        size_t k = strlen(t->names[col]);
        if (k > n && t->names[col][k - n - 1] == '.' && strcmp(t->names[col] + k - n, word) == 0)
            return col;
    }
    return -1;
}

static void find_columns(struct columns *at, const struct table *t)
{
    static const char *const words[HEAT_AXES] = { "network", "workload", "objective" };

    for (int i = 0; i < HEAT_AXES; i++)
        at->word[i] = table_find(t, words[i]);
    at->total = table_find(t, "total_GBps");
    at->status = table_find(t, "status");
    at->time_s = table_find(t, "time_s");
    at->memory_GB = table_find(t, "memory_GB");
    at->fits = table_find(t, "fits");
    at->mfu = table_find(t, "mfu");
    for (int i = 0; i < N_HEAT_DEGREES; i++) {
        at->degree[i] = table_find(t, heat_degree_words[i]);
        at->axis[i] = find_axis(t, heat_degree_words[i]);
    }
}

static int read_degree(int32_t *out, const struct rows *r, const struct columns *at, int i, struct err *e)
{
    const int32_t cols[] = { at->degree[i], at->axis[i] };

    *out = 0;
    for (int k = 0; k < 2 && *out == 0; k++) {
        double x = (double)NAN;
        int rc = cols[k] < 0 ? 0 : rows_above_zero(&x, r, cols[k], e);
        if (!rc && !isnan(x))
            rc = rows_count(out, r, cols[k], INT32_MAX, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_axes(struct heat *h, struct heat_key *key, const struct rows *r, struct err *e)
{
    struct text axes = { 0 };
    int rc = phrases_put_axes(&axes, r, e);

    for (size_t i = 0; i < axes.n; i++)
        if (axes.s[i] == '\n')
            axes.s[i] = i + 1 < axes.n ? ',' : '\0';
    if (!rc) {
        key->word[HEAT_AXES] = names_add_copy(&h->words[HEAT_AXES], text_str(&axes));
        rc = key->word[HEAT_AXES] < 0 ? err_nomem(e, "the figure's names") : 0;
    }
    text_free(&axes);
    return rc;
}

static int read_key(struct heat *h, struct heat_key *key, const struct rows *r, const struct columns *at,
                    struct err *e)
{
    int rc = 0;

    for (int i = 0; i < HEAT_AXES && !rc; i++) {
        const struct table_cell *cell = table_cell(r->t, r->row, at->word[i]);
        bool blank = r->t->kinds[at->word[i]] == TABLE_TEXT && !(cell->text && cell->text[0]);
        key->word[i] = -1;
        if (!blank)
            rc = rows_name(&key->word[i], &h->words[i], r, at->word[i], e);
    }
    if (!rc)
        rc = rows_number(&key->total_GBps, r, at->total, e);
    return rc ? rc : read_axes(h, key, r, e);
}

static int read_cell(struct heat_cell *out, const struct rows *r, const struct columns *at, struct err *e)
{
    *out = (struct heat_cell){ HEAT_NO_PLAN, (double)NAN, (double)NAN, (double)NAN };
    if (!rows_equal(r, at->status, "solved"))
        return 0;
    out->state = rows_equal(r, at->fits, "no") ? HEAT_MISFIT : HEAT_FITS;
    int rc = rows_above_zero(&out->time_s, r, at->time_s, e);
    if (!rc)
        rc = rows_number(&out->mfu, r, at->mfu, e);
    return rc ? rc : rows_number(&out->memory_GB, r, at->memory_GB, e);
}

static int read_row(struct heat *h, const struct rows *r, const struct columns *at, struct err *e)
{
    struct heat_row *row = &h->read[h->n_read];
    bool any = false;
    int rc = read_cell(&row->cell, r, at, e);

    for (int i = 0; i < N_HEAT_DEGREES && !rc; i++) {
        rc = read_degree(&row->degree[i], r, at, i, e);
        any = any || row->degree[i] > 0;
    }
    if (!rc)
        rc = read_key(h, &row->key, r, at, e);
    if (rc)
        return rc;
    bool timed = row->cell.state == HEAT_NO_PLAN || !isnan(row->cell.time_s);
    h->n_read += any && timed;
    h->n_blank += !(any && timed);
    return 0;
}

static int read_rows(struct heat *h, const struct rows *rows, const struct columns *at, struct err *e)
{
    struct rows r = *rows;
    int64_t n_passed = 0;
    int rc = 0;

    h->read = calloc((size_t)r.t->n_rows + 1, sizeof *h->read);
    if (!h->read)
        return err_nomem(e, "the figure's rows");
    for (r.row = 0; r.row < r.t->n_rows && !rc; r.row++)
        if (rows_pass(&r)) {
            n_passed++;
            rc = read_row(h, &r, at, e);
        }
    return rc || h->n_read > 0 ? rc : rows_none_left(&r, n_passed, h->n_blank, "", e);
}

/* ---- rows and columns ---- */

/* The values of a degree, rising; returns how many there are, of which `out` has the first. */
static int32_t gather_values(const struct heat *h, int degree, int32_t out[HEAT_MAX_VALUES])
{
    int32_t n = 0, last = 0;

    for (;;) {
        int32_t next = INT32_MAX;
        for (int64_t i = 0; i < h->n_read; i++) {
            int32_t x = h->read[i].degree[degree];
            next = x > last && x < next ? x : next;
        }
        if (next == INT32_MAX)
            return n;
        if (n < HEAT_MAX_VALUES)
            out[n] = next;
        n++;
        last = next;
    }
}

static void choose_degrees(struct heat *h, const struct columns *at)
{
    int32_t n[N_HEAT_DEGREES], values[HEAT_MAX_VALUES];
    int first = HEAT_TP, second = HEAT_PP;

    /* What the sweep sets goes before what follows from it, whatever the counts. */
    for (int i = 0; i < N_HEAT_DEGREES; i++) {
        n[i] = gather_values(h, i, values);
        if (n[i] > 1 && at->axis[i] >= 0)
            n[i] += INT32_MAX / 2;
    }
    if (!(n[HEAT_TP] > 1 && n[HEAT_PP] > 1)) {
        for (int i = 1; i < N_HEAT_DEGREES; i++)
            first = n[i] > n[first] ? i : first;
        second = first == 0 ? 1 : 0;
        for (int i = 0; i < N_HEAT_DEGREES; i++)
            second = i != first && n[i] > n[second] ? i : second;
    }
    h->row = (enum heat_degree)(first < second ? first : second);
    h->column = (enum heat_degree)(first < second ? second : first);
    int32_t n_rows = gather_values(h, (int)h->row, h->rows);
    int32_t n_columns = gather_values(h, (int)h->column, h->columns);
    h->n_rows = n_rows < HEAT_MAX_VALUES ? n_rows : HEAT_MAX_VALUES;
    h->n_columns = n_columns < HEAT_MAX_VALUES ? n_columns : HEAT_MAX_VALUES;
    h->n_left_rows = n_rows - h->n_rows;
    h->n_left_columns = n_columns - h->n_columns;
}

/* ---- maps ---- */

/* Keys looked at to find out what the maps are: far more than are drawn. */
enum { MAX_KEYS = 64 };

static bool is_complete(const struct heat_row *row)
{
    for (int i = 0; i < N_HEAT_WORDS; i++)
        if (row->key.word[i] < 0)
            return false;
    return !isnan(row->key.total_GBps);
}

/* What is blank may be anything. Totals that the solver found are equal but for rounding. */
static bool match(const struct heat_key *a, const struct heat_key *b)
{
    for (int i = 0; i < N_HEAT_WORDS; i++)
        if (a->word[i] >= 0 && b->word[i] >= 0 && a->word[i] != b->word[i])
            return false;
    return !(fabs(a->total_GBps - b->total_GBps) > AXIS_SAME * a->total_GBps);
}

/* The first keys of complete rows, of all where none is; `alone` tells that each is one row's alone. */
static int32_t gather_keys(const struct heat *h, struct heat_key keys[MAX_KEYS], bool *alone)
{
    bool any_complete = false;
    int32_t n = 0;

    *alone = true;
    for (int64_t i = 0; i < h->n_read; i++)
        any_complete = any_complete || is_complete(&h->read[i]);
    for (int64_t i = 0; i < h->n_read && n < MAX_KEYS; i++) {
        int32_t k = 0;
        if (any_complete && !is_complete(&h->read[i]))
            continue;
        while (k < n && !match(&h->read[i].key, &keys[k]))
            k++;
        *alone = *alone && k == n;
        if (k == n)
            keys[n++] = h->read[i].key;
    }
    return n;
}

static bool is_better(const struct heat_cell *a, const struct heat_cell *b)
{
    if (a->state != b->state)
        return a->state > b->state;
    return a->state == HEAT_FITS ? a->time_s < b->time_s : a->memory_GB < b->memory_GB;
}

static int32_t find_value(const int32_t *values, int32_t n, int32_t x)
{
    for (int32_t i = 0; i < n; i++)
        if (values[i] == x)
            return i;
    return -1;
}

static void fill_maps(struct heat *h)
{
    for (int64_t i = 0; i < h->n_read; i++) {
        const struct heat_row *row = &h->read[i];
        int32_t y = find_value(h->rows, h->n_rows, row->degree[h->row]);
        int32_t x = find_value(h->columns, h->n_columns, row->degree[h->column]);
        for (int32_t k = 0; k < h->n_maps && y >= 0 && x >= 0; k++) {
            struct heat_map *map = &h->maps[k];
            if (!match(&row->key, &map->key))
                continue;
            if (is_better(&row->cell, &map->cell[y][x]))
                map->cell[y][x] = row->cell;
            if (row->cell.state == HEAT_FITS && !(map->best_s <= row->cell.time_s))
                map->best_s = row->cell.time_s;
        }
    }
}

static int make_maps(struct heat *h, struct err *e)
{
    struct heat_key keys[MAX_KEYS];
    bool alone;
    int32_t n = gather_keys(h, keys, &alone);

    /* Where the solver chose a total for each plan, a map per total would have one cell. */
    if (alone && n > HEAT_MAX_MAPS) {
        for (int64_t i = 0; i < h->n_read; i++)
            h->read[i].key.total_GBps = isnan(h->read[i].key.total_GBps) ? (double)NAN : 0;
        n = gather_keys(h, keys, &alone);
        h->any_total = true;
    }
    h->more_maps = n > HEAT_MAX_MAPS;
    h->n_maps = h->more_maps ? HEAT_MAX_MAPS : n;
    h->maps = calloc((size_t)h->n_maps + 1, sizeof *h->maps);
    if (!h->maps)
        return err_nomem(e, "the figure's maps");
    for (int32_t i = 0; i < h->n_maps; i++) {
        h->maps[i].key = keys[i];
        h->maps[i].best_s = (double)NAN;
    }
    fill_maps(h);
    return 0;
}

int heat_read(struct heat *h, const struct rows *r, struct err *e)
{
    struct columns at;

    find_columns(&at, r->t);
    int rc = read_rows(h, r, &at, e);
    if (rc)
        return rc;
    choose_degrees(h, &at);
    return make_maps(h, e);
}

void heat_free(struct heat *h)
{
    for (int i = 0; i < N_HEAT_WORDS; i++)
        names_free_copies(&h->words[i]);
    free(h->maps);
    free(h->read);
    *h = (struct heat){ 0 };
}
