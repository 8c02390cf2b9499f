/*
 * From the cells of a table to arrays of numbers and word positions, row by row in the order of the table, so
 * that the first fault named is that of the first row. Words are numbered by first appearance.
 *
 * Numbers of words choose colours and panels, so their order matters: OF_TABLE numbers the words of the whole
 * table, so that a filter takes away series and changes the colour of none. Sorting is stable merge sort,
 * since rows that are equal in all keys must stay in the order of the table for the same table to give the
 * same picture; qsort() promises nothing of the kind.
 *
 * Names of points are what varies between them: axes by the last words of their keys, in three lengths of
 * which the longest that fits is written.
 */
#include "plots/columns.h"
#include "plots/data.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Where the name is, or the free slot where it would be. Slots are a power of two, never all taken. */
static int32_t name_slot(const struct names *n, const char *name)
{
    int32_t mask = n->n_slots - 1,
            i = (int32_t)(text_hash(TEXT_HASH_SEED, name, strlen(name)) & (unsigned)mask);

    while (n->slots[i] > 0 && strcmp(n->list[n->slots[i] - 1], name) != 0)
        i = (i + 1) & mask;
    return i;
}

int32_t names_find(const struct names *n, const char *name)
{
    return n->n_slots > 0 ? n->slots[name_slot(n, name)] - 1 : -1;
}

/* Room for one more: half of the slots stay free. The old arrays stay in the canvas' arena until it is freed:
 * twice the memory of the last, as each is half of the next. */
static bool names_grow(struct canvas *c, struct names *n)
{
    struct err e;
    struct names grown = { .n = n->n, .cap = n->cap ? 2 * n->cap : 8 };

    grown.n_slots = 2 * grown.cap;
    grown.list = canvas_new(c, grown.cap, sizeof *grown.list, &e);
    grown.slots = canvas_new(c, grown.n_slots, sizeof *grown.slots, &e);
    if (!grown.list || !grown.slots)
        return false;
    for (int32_t i = 0; i < n->n; i++) {
        grown.list[i] = n->list[i];
        grown.slots[name_slot(&grown, n->list[i])] = i + 1;
    }
    *n = grown;
    return true;
}

int32_t names_add(struct canvas *c, struct names *n, const char *name)
{
    static const char *none[] = { "" };
    int32_t at = names_find(n, name);

    if (at >= 0)
        return at;
    if (n->n == n->cap && !names_grow(c, n)) {
        c->image.failed = true;
        /* A list of one blank name, so that whoever looks up entry 0 finds one; the script has failed
         * already. */
        n->list = n->list ? n->list : none;
        return 0;
    }
    n->list[n->n] = canvas_keep(c, "%s", name);
    n->slots[name_slot(n, name)] = n->n + 1;
    return n->n++;
}

/* ---- rows ---- */

int rows_column(int32_t *col, const struct rows *r, const char *name, struct err *e)
{
    const char *source = r->figure->source;

    *col = table_find(r->t, name);
    if (*col < 0)
        return err_set(e, ERR_PARSE, "figure %s: column %s: is missing; give it in the CSV%s%s",
                       r->figure->name, name, source ? " of " : "", source ? source : "");
    return 0;
}

int rows_check(const struct rows *r, struct err *e)
{
    int32_t col;

    for (const char *const *name = r->figure->columns; *name; name++) {
        int rc = strchr(*name, '#') ? 0 : rows_column(&col, r, *name, e);
        if (rc)
            return rc;
    }
    for (int32_t i = 0; i < r->opt->n_where; i++) {
        const char *name = r->opt->where[i].column;
        if (table_find(r->t, name) >= 0)
            continue;
        err_set(e, ERR_USAGE, "figure %s: filter: is on column \"%s\", expected one of the CSV",
                r->figure->name, name);
        return err_suggest(e, text_nearest(name, (const char *const *)r->t->names, (size_t)r->t->n_cols));
    }
    return 0;
}

/* Numbers compare as numbers: "50" is 50.0. */
bool rows_equal(const struct rows *r, int32_t col, const char *value)
{
    const struct table_cell *cell = table_cell(r->t, r->row, col);
    double x;

    if (r->t->kinds[col] == TABLE_TEXT)
        return strcmp(cell->text ? cell->text : "", value) == 0;
    return num_parse_real(value, &x) && table_number(r->t, r->row, col) == x;
}

bool rows_done(const struct rows *r, int32_t status, const char *word)
{
    return rows_equal(r, status, word) || (strcmp(word, "solved") == 0 && rows_equal(r, status, "unproved"));
}

/* Filters on one column are alternatives, those on different columns must all hold. O(filters²). */
bool rows_pass(const struct rows *r)
{
    const struct plot_where *w = r->opt->where;

    for (int32_t i = 0; i < r->opt->n_where; i++) {
        bool any = false;
        for (int32_t k = 0; k < r->opt->n_where && !any; k++)
            any = strcmp(w[k].column, w[i].column) == 0 &&
                  rows_equal(r, table_find(r->t, w[k].column), w[k].value);
        if (!any)
            return false;
    }
    return true;
}

/*
 * A text is borrowed from the table, a number is written into buf in its shortest form; column -1 is blank.
 */
const char *rows_text(char buf[NUM_TEXT], const struct rows *r, int32_t col)
{
    const struct table_cell *cell = col < 0 ? NULL : table_cell(r->t, r->row, col);

    if (cell && r->t->kinds[col] == TABLE_TEXT)
        return cell->text ? cell->text : "";
    if (cell && r->t->kinds[col] == TABLE_REAL && isfinite(cell->real))
        return num_format(buf, cell->real);
    if (cell && r->t->kinds[col] == TABLE_COUNT && cell->count != INT64_MIN) {
        snprintf(buf, NUM_TEXT, "%lld", (long long)cell->count);
        return buf;
    }
    return "";
}

bool rows_filled(const struct rows *r, int32_t col)
{
    char buf[NUM_TEXT];
    return rows_text(buf, r, col)[0] != '\0';
}

/* Against the first row that passes: one that differs is enough. */
bool rows_vary(const struct rows *rows, int32_t col)
{
    struct rows r = *rows, first = *rows;
    char one[NUM_TEXT], other[NUM_TEXT];

    first.row = -1;
    for (r.row = 0; col >= 0 && r.row < r.t->n_rows; r.row++) {
        if (!rows_pass(&r))
            continue;
        first.row = first.row < 0 ? r.row : first.row;
        if (strcmp(rows_text(one, &first, col), rows_text(other, &r, col)) != 0)
            return true;
    }
    return false;
}

bool rows_know(const struct rows *rows, int32_t col, int32_t status, const char *word)
{
    struct rows r = *rows;

    for (r.row = 0; col >= 0 && r.row < r.t->n_rows; r.row++)
        if (rows_pass(&r) && (status < 0 || rows_done(&r, status, word)) && rows_filled(&r, col))
            return true;
    return false;
}

int rows_fault(const struct rows *r, const char *column, struct err *e, const char *fmt, ...)
{
    char what[256], name[TABLE_ROW_NAME];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return err_set(e, ERR_PARSE, "figure %s: %s, column %s: is %s", r->figure->name,
                   table_row_name(name, r->t, r->row), column, what);
}

/* A number, blank for column -1; a word is refused. */
static int rows_any_number(double *out, const struct rows *r, int32_t col, struct err *e)
{
    *out = col < 0 ? (double)NAN : table_number(r->t, r->row, col);
    const struct table_cell *cell = col < 0 ? NULL : table_cell(r->t, r->row, col);

    if (cell && r->t->kinds[col] == TABLE_TEXT && cell->text && cell->text[0] &&
        !num_parse_real(cell->text, out))
        return rows_fault(r, r->t->names[col], e, "\"%s\", expected a number", cell->text);
    return 0;
}

int rows_number(double *out, const struct rows *r, int32_t col, struct err *e)
{
    int rc = rows_any_number(out, r, col, e);
    return !rc && *out < 0 ? rows_fault(r, r->t->names[col], e, "%g, expected at least 0", *out) : rc;
}

int rows_above_zero(double *out, const struct rows *r, int32_t col, struct err *e)
{
    int rc = rows_any_number(out, r, col, e);
    return !rc && *out <= 0 ? rows_fault(r, r->t->names[col], e, "%g, expected above 0", *out) : rc;
}

/* ---- columns ---- */

/* The names behind `dims`, which are as many as n_dims says. */
static int data_read_dims(struct data *d, int32_t col, struct err *e)
{
    int32_t count_col, n = 0;
    double wanted = 0;
    char buf[NUM_TEXT];
    int rc = rows_column(&count_col, &d->r, COL_N_DIMS, e);

    if (!rc)
        rc = rows_number(&wanted, &d->r, count_col, e);
    if (!rc && wanted == 0)
        rc = rows_fault(&d->r, COL_N_DIMS, e, "0, expected above 0");
    if (!rc && !(wanted >= 1 && wanted <= DATA_MAX_DIMS && wanted == floor(wanted)))
        rc = rows_fault(&d->r, COL_N_DIMS, e, "%g, expected a whole number, 1 to %d", wanted, DATA_MAX_DIMS);
    if (rc)
        return rc;
    /* One name more than there is room for is counted, not kept, for the message. */
    for (const char *p = rows_text(buf, &d->r, col); p; n++) {
        size_t length = strcspn(p, "|");
        if (n < DATA_MAX_DIMS)
            d->dims[d->n * DATA_MAX_DIMS + n] = canvas_keep(d->c, "%.*s", (int)length, p);
        p = p[length] ? p + length + 1 : NULL;
    }
    d->n_dims[d->n] = n;
    if (n != (int32_t)wanted)
        return rows_fault(&d->r, "dims", e, "%d names, expected %d as n_dims says", (int)n, (int)wanted);
    return 0;
}

/* "bw#_GBps" is bw1_GBps, bw2_GBps.. as far as the row has dimensions: AS_DIMS must be bound before. */
static int read_per_dim(struct data *d, int32_t k, bool *blank, struct err *e)
{
    const char *name = d->binds[k].column, *hash = strchr(name, '#');
    int rc = 0;

    for (int32_t i = 0; i < d->n_dims[d->n] && !rc; i++) {
        double *x = &d->x[k][d->n * DATA_MAX_DIMS + i];
        char column[32];
        int32_t col;
        snprintf(column, sizeof column, "%.*s%d%s", (int)(hash - name), name, (int)i + 1, hash + 1);
        rc = rows_column(&col, &d->r, column, e);
        if (!rc)
            rc = rows_number(x, &d->r, col, e);
        *blank = *blank || (!rc && isnan(*x));
    }
    return rc;
}

static int data_read_real(struct data *d, int32_t k, bool *blank, struct err *e)
{
    const struct bind *b = &d->binds[k];
    double *x = &d->x[k][d->n];
    char buf[NUM_TEXT];
    int rc = rows_any_number(x, &d->r, d->col[k], e);

    if (rc)
        return rc;
    if ((b->as != AS_ANY && *x < 0) || (b->as == AS_ABOVE_ZERO && *x == 0))
        return rows_fault(&d->r, b->column, e, "%g, expected %s 0", *x,
                          b->as == AS_ABOVE_ZERO ? "above" : "at least");
    if (b->as == AS_COUNT) {
        if (!(*x <= b->most && *x == floor(*x)) && d->col[k] >= 0)
            return rows_fault(&d->r, b->column, e, "%.*s, expected a whole number, 0 to %d", NUM_TEXT,
                              isnan(*x) ? "blank" : rows_text(buf, &d->r, d->col[k]), (int)b->most);
        d->word[k][d->n] = isnan(*x) ? 0 : (int32_t)*x;
    }
    /* Faults come before blanks: a negative number is a mistake, a missing one is not. */
    *blank = *blank || (b->need == FILLED && isnan(*x));
    return 0;
}

/* One column of the row at hand: it is not drawn without *keep, nor when it is *blank; of a blank one those
 * that must be filled are still looked at for faults. */
static int read_bind(struct data *d, int32_t k, bool *keep, bool *blank, struct err *e)
{
    const struct bind *b = &d->binds[k];
    char buf[NUM_TEXT];

    /* A blank row is not drawn, so its words must not be numbered. */
    if (*blank && (b->need != FILLED || b->as == AS_WORD))
        return 0;
    if (b->as == AS_DIMS)
        return data_read_dims(d, d->col[k], e);
    if (b->as == AS_PER_DIM)
        return read_per_dim(d, k, blank, e);
    if (b->as == AS_WORD || b->as == AS_SAME) {
        const char *word = rows_text(buf, &d->r, d->col[k]);
        /* Rows before the first with a word may be blank. */
        if (b->as == AS_SAME && !word[0] && d->words[k].n == 0)
            return 0;
        int32_t at = names_add(d->c, &d->words[k], word);
        d->word[k][d->n] = at;
        *keep = b->most == 0 || at < b->most;
        if (b->as == AS_SAME && at > 0)
            return rows_fault(&d->r, b->column, e, "\"%s\", expected \"%s\" as in those before",
                              d->words[k].list[at], d->words[k].list[0]);
    } else if (b->as == AS_STATUS) {
        *keep = rows_done(&d->r, d->col[k], b->word);
    }
    return b->as == AS_WORD || b->as == AS_SAME || b->as == AS_STATUS ? 0 : data_read_real(d, k, blank, e);
}

static int data_columns(struct data *d, struct err *e)
{
    /* All rows of the table and one slot more: a row is read into the slot behind the last kept one. */
    int64_t n = d->r.t->n_rows + 1;
    int rc = 0;

    d->row = canvas_new(d->c, n, sizeof *d->row, e);
    d->passed = canvas_new(d->c, n, sizeof *d->passed, e);
    rc = d->row && d->passed ? canvas_rows(d->c, d->r.t, e) : ERR_NOMEM;
    for (int32_t k = 0; k < d->n_binds && !rc; k++) {
        const struct bind *b = &d->binds[k];
        d->col[k] = table_find(d->r.t, b->column);
        /* Columns per dimension are looked up row by row, as rows have different depths. */
        if (b->need != MAY_MISS && b->as != AS_PER_DIM)
            rc = rows_column(&d->col[k], &d->r, b->column, e);
        bool word = b->as == AS_WORD || b->as == AS_SAME;
        if (!rc && (word || b->as == AS_COUNT)) {
            d->word[k] = canvas_new(d->c, n, sizeof *d->word[k], e);
            rc = d->word[k] ? 0 : ERR_NOMEM;
        }
        if (!rc && b->as == AS_DIMS) {
            d->dims = canvas_new(d->c, n * DATA_MAX_DIMS, sizeof *d->dims, e);
            d->n_dims = canvas_new(d->c, n, sizeof *d->n_dims, e);
            rc = d->dims && d->n_dims ? 0 : ERR_NOMEM;
        } else if (!rc && !word && b->as != AS_STATUS) {
            d->x[k] = canvas_new(d->c, n * (b->as == AS_PER_DIM ? DATA_MAX_DIMS : 1), sizeof *d->x[k], e);
            rc = d->x[k] ? 0 : ERR_NOMEM;
        }
    }
    return rc;
}

/* Why a row is left out: its status where that says that there is no result, else what it lacks. @p k: the
 * bind that left it out; `blank` or of a word that is not drawn. */
static void leave_row(struct data *d, int32_t k, bool blank)
{
    const struct bind *b = &d->binds[k];
    int32_t status = table_find(d->r.t, "status");
    char buf[NUM_TEXT], why[NUM_TEXT + 32];
    const char *word = rows_text(buf, &d->r, status);
    bool done = !word[0] || rows_done(&d->r, status, "solved") || strcmp(word, "done") == 0 ||
                strcmp(word, "ok") == 0;

    if (b->as == AS_STATUS || (blank && !done))
        snprintf(why, sizeof why, "%s", word[0] ? word : "without a status");
    else if (blank)
        snprintf(why, sizeof why, "without %s", b->column);
    else
        snprintf(why, sizeof why, "of other %ss", b->column);
    canvas_leave_out(d->c, d->r.row, why);
}

/* In the order of the binds: one that drops the row (a status, a point too many) saves the rest. */
static int data_read_row(struct data *d, struct err *e)
{
    bool keep = true, blank = false;
    int32_t which = 0;
    int rc = 0;

    d->passed[d->n_passed++] = d->r.row;
    canvas_row(d->c, d->r.row);
    for (int32_t k = 0; k < d->n_binds && keep && !rc; k++) {
        bool before = blank;
        rc = read_bind(d, k, &keep, &blank, e);
        which = !keep || (blank && !before) ? k : which;
    }
    if (!rc && !(keep && !blank))
        leave_row(d, which, keep);
    /* Written before it is known whether the row stays: the next one takes its place if not. */
    d->row[d->n] = d->r.row;
    d->n += keep && !blank && !rc;
    return rc;
}

int data_none_left(const struct data *d, struct err *e)
{
    return canvas_none_left(d->c, d->r.figure->name, e);
}

int data_read(struct data *d, struct canvas *c, const struct rows *r, const struct bind *binds, int32_t n,
              struct err *e)
{
    char buf[NUM_TEXT];

    *d = (struct data){ .c = c, .r = *r, .n_binds = n };
    struct bind *own = canvas_new(c, n, sizeof *own, e);
    if (!own)
        return ERR_NOMEM;
    /* Copied: callers have them on their stack. */
    memcpy(own, binds, (size_t)n * sizeof *own);
    d->binds = own;
    int rc = data_columns(d, e);
    if (rc)
        return rc;
    for (d->r.row = 0; d->r.row < r->t->n_rows; d->r.row++)
        for (int32_t k = 0; k < n; k++)
            if (binds[k].numbered == OF_TABLE ||
                (binds[k].numbered == OF_FILLED && rows_filled(&d->r, d->col[k])))
                names_add(c, &d->words[k], rows_text(buf, &d->r, d->col[k]));
    for (d->r.row = 0; d->r.row < r->t->n_rows && !rc; d->r.row++)
        if (rows_pass(&d->r))
            rc = data_read_row(d, e);
    return !rc && d->n == 0 ? data_none_left(d, e) : rc;
}

/* Rows @p rows of an array of things of @p size. */
static int take_array(struct data *d, void *array, size_t size, const int64_t *rows, int64_t n, struct err *e)
{
    char **from = array, *taken;

    if (!*from)
        return 0;
    taken = canvas_new(d->c, n, size, e);
    for (int64_t i = 0; i < n && taken; i++)
        memcpy(taken + (size_t)i * size, *from + (size_t)rows[i] * size, size);
    *from = taken;
    return taken ? 0 : ERR_NOMEM;
}

int data_take(struct data *d, const int64_t *rows, int64_t n, struct err *e)
{
    int rc = take_array(d, &d->row, sizeof *d->row, rows, n, e);

    for (int32_t k = 0; k < d->n_binds && !rc; k++) {
        size_t each = d->binds[k].as == AS_PER_DIM ? DATA_MAX_DIMS : 1;
        rc = take_array(d, &d->x[k], each * sizeof *d->x[k], rows, n, e);
        if (!rc)
            rc = take_array(d, &d->word[k], sizeof *d->word[k], rows, n, e);
    }
    if (!rc)
        rc = take_array(d, &d->dims, DATA_MAX_DIMS * sizeof *d->dims, rows, n, e);
    if (!rc)
        rc = take_array(d, &d->n_dims, sizeof *d->n_dims, rows, n, e);
    d->n = n;
    return rc;
}

struct unit data_unit(const struct data *d, int32_t k, double most, const char **label)
{
    struct text title = { 0 };
    size_t n;
    struct unit unit = unit_for(table_unit(d->r.t, d->col[k], &n), most, true);

    if (!label)
        return unit;
    table_put_title(&title, d->r.t, d->col[k]);
    if (unit.name[0])
        text_printf(&title, " [%s]", unit.name);
    *label = canvas_keep_text(d->c, &title);
    return unit;
}

void data_note_unproved(const struct data *d)
{
    int32_t status = table_find(d->r.t, "status");
    int64_t n = 0;

    for (int64_t i = 0; i < d->n && status >= 0; i++) {
        const struct rows r = data_at(d, i);
        n += rows_equal(&r, status, "unproved");
    }
    if (n > 0)
        canvas_note(d->c, "%lld of %lld designs are not proved best", (long long)n, (long long)d->n);
}

/* Callers ask for columns that they bound: it is always there. */
int32_t data_find(const struct data *d, const char *column)
{
    int32_t k = 0;

    while (strcmp(d->binds[k].column, column) != 0)
        k++;
    return k;
}

const char *data_text(char buf[NUM_TEXT], const struct data *d, int64_t i, int32_t col)
{
    const struct rows r = data_at(d, i);
    return rows_text(buf, &r, col);
}

int data_facet(struct facet *f, const struct data *d, int32_t bind, const int64_t *order, int64_t n,
               struct err *e)
{
    *f = (struct facet){ .at = canvas_new(d->c, d->n, sizeof *f->at, e) };
    for (int64_t k = 0; k < n && f->at; k++) {
        int64_t i = order ? order[k] : k;
        f->at[i] = names_add(d->c, &f->names, bind < 0 ? "" : d->words[bind].list[d->word[bind][i]]);
    }
    return f->at ? 0 : ERR_NOMEM;
}

/* Whether position b comes before a. */
static bool sort_swaps(int64_t a, int64_t b, const struct sort_key *keys, int32_t n_keys)
{
    for (int32_t k = 0; k < n_keys; k++) {
        double x = keys[k].x ? keys[k].x[a] : keys[k].word[a], y = keys[k].x ? keys[k].x[b] : keys[k].word[b];
        if (x != y)
            return keys[k].falls ? y > x : y < x;
    }
    return false;
}

int data_sort(int64_t *order, int64_t n, const struct sort_key *keys, int32_t n_keys, struct err *e)
{
    int64_t *from = order, *to = calloc((size_t)n + 1, sizeof *to), *spare = to;

    if (!spare)
        return err_nomem(e, "the figure's order");
    /* Merge runs of doubling length, from one array into the other. */
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t first = 0; first < n; first += 2 * run) {
            int64_t i = first, middle = first + run < n ? first + run : n, k = middle;
            int64_t end = first + 2 * run < n ? first + 2 * run : n;
            for (int64_t at = first; at < end; at++) {
                /* Of equals the left one: that makes it stable. */
                bool right = k < end && (i == middle || sort_swaps(from[i], from[k], keys, n_keys));
                to[at] = right ? from[k++] : from[i++];
            }
        }
        int64_t *last = from;
        from = to;
        to = last;
    }
    if (from == spare && n > 0)
        memcpy(order, spare, (size_t)n * sizeof *order);
    free(spare);
    return 0;
}

/* The place of words in the order of their numbers, where all of them are numbers. So that panels and shades
 * follow the quantity and not the first row that has a value. Words stay in the order of the table. */
static int sort_numbers(struct facet *facet, struct canvas *c, struct err *e)
{
    int32_t n = facet->names.n;
    double *x = canvas_new(c, n, sizeof *x, e);
    int64_t *order = canvas_new(c, n, sizeof *order, e);
    const struct sort_key key = { .x = x };
    struct names sorted = { 0 };

    if (!x || !order)
        return ERR_NOMEM;
    for (int32_t i = 0; i < n; i++) {
        if (!num_parse_real(facet->names.list[i], &x[i]))
            return 0;
        order[i] = i;
    }
    int rc = data_sort(order, n, &key, 1, e);
    for (int32_t i = 0; i < n; i++)
        names_add(c, &sorted, facet->names.list[order[i]]);
    facet->names = sorted;
    return rc;
}

/* Sorting renames positions, so each row looks its own up again. */
int data_facet_sorted(struct facet *f, const struct data *d, int32_t bind, struct err *e)
{
    int rc = data_facet(f, d, bind, NULL, d->n, e);
    const struct names before = f->names;

    if (!rc)
        rc = sort_numbers(f, d->c, e);
    for (int64_t i = 0; i < d->n && !rc; i++)
        f->at[i] = names_find(&f->names, before.list[f->at[i]]);
    return rc;
}

int64_t *data_order(const struct data *d, const struct sort_key *keys, int32_t n_keys, struct err *e)
{
    int64_t *order = canvas_new(d->c, d->n, sizeof *order, e);

    for (int64_t i = 0; i < d->n && order; i++)
        order[i] = i;
    return order && data_sort(order, d->n, keys, n_keys, e) ? NULL : order;
}

/* Positions that no key tells from the first; the order must be sorted by these keys. */
int64_t data_group_end(const int64_t *order, int64_t first, int64_t n, const struct sort_key *keys,
                       int32_t n_keys)
{
    int64_t end = first + 1;

    while (end < n && !sort_swaps(order[end], order[first], keys, n_keys) &&
           !sort_swaps(order[first], order[end], keys, n_keys))
        end++;
    return end;
}

/* ---- what tells rows apart ---- */

bool data_varies(const struct data *d, const int64_t *rows, int64_t n, int32_t col)
{
    struct rows first = d->r, r = d->r;
    char one[NUM_TEXT], other[NUM_TEXT];

    for (int64_t i = 1; i < n; i++) {
        first.row = rows[0];
        r.row = rows[i];
        if (strcmp(rows_text(one, &first, col), rows_text(other, &r, col)) != 0)
            return true;
    }
    return false;
}

/* From the last dot that has a name before it: a key of a list item keeps it. */
void key_put(struct text *out, const char *key)
{
    const char *dot = strrchr(key, '.');

    while (dot && dot > key && dot[-1] != '.')
        dot--;
    text_puts(out, dot ? dot : key);
}

const char *key_last(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

void key_put_value(struct text *out, const char *value)
{
    const char *slash = strrchr(value, '/'), *name = slash ? slash + 1 : value;
    size_t n = strlen(name);

    size_t all = strlen(value);

    if (n > 5 && strcmp(name + n - 5, ".yaml") == 0)
        text_add(out, name, n - 5);
    else if (all > 4 && strncmp(value, "[\"", 2) == 0 && strchr(value + 2, '"') == value + all - 2)
        text_add(out, value + 2, all - 4); /* a list of one text, such as constraints */
    else
        text_puts(out, value);
}

/* What a column between point and scheduler is. */
enum part {
    PART_NONE,  /* of schedulers: repeats their column */
    PART_PLAIN, /* the model: its name says what it is */
    PART_AXIS,
    PART_COUNT, /* follows from the others: "16 types" */
};

/* By names of columns, as kinds/ writes them. */
static enum part part_of(const char *key)
{
    if (strcmp(key, "model") == 0)
        return PART_PLAIN;
    if (strcmp(key, "types") == 0 || strcmp(key, "layers") == 0)
        return PART_COUNT;
    return strcmp(key_last(key), "schedulers") == 0 ? PART_NONE : PART_AXIS;
}

static void put_point_word(struct text *out, const struct data *d, int64_t row, int32_t col,
                           enum points_form form)
{
    const char *key = d->r.t->names[col];
    /* A count says what it counts, an axis its key, a model nothing. */
    enum part part = part_of(key);
    struct rows r = d->r;
    char buf[NUM_TEXT];

    r.row = row;
    const char *value = rows_text(buf, &r, col);
    if (!value[0])
        return;
    text_puts(out, out->n ? " · " : "");
    if (part == PART_AXIS && form == POINTS_SHORT && strchr(key, '.'))
        text_puts(out, key_last(key));
    else if (part == PART_AXIS && form != POINTS_VALUES)
        key_put(out, key);
    text_puts(out, part == PART_AXIS && form != POINTS_VALUES ? " " : "");
    key_put_value(out, value);
    if (part == PART_COUNT)
        text_printf(out, " %s", key);
}

/* The words of one point in one form, or (row of the first point, varying = false) what all have in common.
 */
static const char *describe_point(const struct data *d, int64_t row, int32_t first_col, const bool *varies,
                                  int32_t n, bool varying, enum points_form form)
{
    struct text out = { 0 };

    for (int32_t i = 0; i < n; i++) {
        enum part part = part_of(d->r.t->names[first_col + i]);
        if (part != PART_NONE && varies[i] == varying && !(varying && part == PART_COUNT))
            put_point_word(&out, d, row, first_col + i, form);
    }
    return canvas_keep_text(d->c, &out);
}

int points_describe(struct points *p, const struct data *d, int32_t point, struct err *e)
{
    const struct names *ids = &d->words[point];
    const struct table *t = d->r.t;
    int32_t end, first_col = d->col[point] + 1, most = d->binds[point].most;
    char buf[NUM_TEXT];
    /* Axes stand between the point and the column of what is compared. */
    int rc = rows_column(&end, &d->r, table_find(t, "method") >= 0 ? "method" : "scheduler", e);

    if (rc)
        return rc;
    int32_t n_cols = end > first_col ? end - first_col : 0;
    bool *varies = canvas_new(d->c, n_cols, sizeof *varies, e),
         *named = canvas_new(d->c, ids->n, sizeof *named, e);
    for (int k = 0; k < N_POINTS_FORMS; k++)
        if (!(p->names[k] = canvas_new(d->c, ids->n, sizeof *p->names[k], e)))
            return ERR_NOMEM;
    if (!varies || !named)
        return ERR_NOMEM;
    for (int32_t i = 0; i < n_cols; i++)
        varies[i] = data_varies(d, d->passed, d->n_passed, first_col + i);
    for (int64_t i = 0; i < d->n_passed; i++) {
        struct rows r = d->r;
        r.row = d->passed[i];
        int32_t at = names_find(ids, rows_text(buf, &r, d->col[point]));
        for (int k = 0; k < N_POINTS_FORMS && at >= 0 && !named[at]; k++)
            p->names[k][at] = describe_point(d, r.row, first_col, varies, n_cols, true, (enum points_form)k);
        if (at >= 0)
            named[at] = true;
    }
    p->common = describe_point(d, d->passed[0], first_col, varies, n_cols, false, POINTS_FULL);
    p->n_all = ids->n;
    p->n = ids->n < most || most == 0 ? ids->n : most;
    /* A point whose word was cut is not found, and has no names. */
    return d->c->image.failed ? err_nomem(e, "the figure") : 0;
}

const char *points_name(struct canvas *c, const struct points *p, int32_t at, size_t chars)
{
    struct text out = { 0 };
    int form = POINTS_FULL;

    /* The longest form that fits; if none does, the shortest is cut. */
    while (form < POINTS_VALUES &&
           canvas_width(p->names[form][at], 1) > (double)chars * CANVAS_CHAR * (1 + 1e-9))
        form++;
    canvas_put_short(&out, p->names[form][at], chars);
    return canvas_keep_text(c, &out);
}

void points_put_notes(struct canvas *c, const struct points *p)
{
    if (p->common[0])
        canvas_note(c, "%s", p->common);
    canvas_note_first(c, p->n, p->n_all, "points");
}

/* ---- phrases ---- */

/* A network without a name is its word, "ring:4@50 switch:8@25": sizes follow a colon, bandwidths an @. */
static bool network_shows(const char *network, const char *path, const char *value)
{
    bool size = strcmp(key_last(path), "size") == 0, bw = strcmp(key_last(path), "bw_GBps") == 0;
    size_t n = strlen(value);

    if (strncmp(path, "network.", 8) != 0 || n == 0 || !(size || bw))
        return false;
    for (const char *s = network; (s = strpbrk(s, size ? ":" : "@"));)
        if (strncmp(++s, value, n) == 0 && (s[n] == '\0' || strchr(" @", s[n])))
            return true;
    return false;
}

void phrases_put_axes(struct text *out, const struct rows *r)
{
    int32_t point = table_find(r->t, "point"), network = table_find(r->t, "network");
    char buf[NUM_TEXT], other[NUM_TEXT];
    const char *name = rows_text(other, r, network);

    for (int32_t col = point + 1; col < network; col++) {
        const char *value = rows_text(buf, r, col);
        /* What a column of the results or the network's name says already is not said again. */
        if (table_find(r->t, key_last(r->t->names[col])) >= 0 || network_shows(name, r->t->names[col], value))
            continue;
        text_printf(out, "%s ", key_last(r->t->names[col]));
        key_put_value(out, value);
        text_puts(out, "\n");
    }
}

/* Degrees ("tp8") are what a short label keeps; a tab marks all else. */
static void phrases_put_plan(struct text *out, const struct rows *r, int32_t col)
{
    char buf[NUM_TEXT];
    for (const char *s = rows_text(buf, r, col); *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        bool degree = n > 2 && strchr("tcdpe", s[0]) && s[1] == 'p' && isdigit((unsigned char)s[2]);
        text_printf(out, "%s%.*s\n", degree ? "" : "\t", (int)n, s);
        s += n;
    }
}

const char **phrases_of_plans(const struct data *d, struct err *e)
{
    const char **plans = canvas_new(d->c, d->n, sizeof *plans, e);

    for (int64_t i = 0; i < d->n && plans; i++) {
        const struct rows r = data_at(d, i);
        struct text out = { 0 };
        phrases_put_plan(&out, &r, table_find(r.t, "plan"));
        phrases_put_axes(&out, &r);
        plans[i] = canvas_keep_text(d->c, &out);
    }
    return plans;
}

static bool phrases_have(const char *phrases, const char *phrase, size_t n)
{
    size_t k;

    for (const char *p; (p = text_next(&phrases, '\n', &k));)
        if (k == n && memcmp(p, phrase, n) == 0)
            return true;
    return false;
}

static bool all_have(const char *const *list, int64_t n, const char *phrase, size_t n_phrase)
{
    for (int64_t i = 0; i < n; i++)
        if (!phrases_have(list[i], phrase, n_phrase))
            return false;
    return true;
}

/* Time O(phrases * n * phrases) for one label: of a few dozen designs. */
void phrases_put(struct text *out, const char *const *list, int64_t n, int64_t i, enum phrases_part part)
{
    /* Words of a plan stand together; axes, which have a value behind a blank, are listed. */
    static const char word[] = " ";
    const char *at = list ? list[i] : "", *joint = out->n ? " · " : "";
    size_t k;

    for (const char *p; (p = text_next(&at, '\n', &k));) {
        bool tab = *p == '\t';
        if ((part == PHRASES_SHORT && tab) || all_have(list, n, p, k) != (part == PHRASES_COMMON))
            continue;
        bool axis = memchr(p, ' ', k) != NULL;
        text_puts(out, joint == word && axis ? ", " : joint);
        text_add(out, p + tab, k - tab);
        joint = axis ? ", " : word;
    }
}
