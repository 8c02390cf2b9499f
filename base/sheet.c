/*
 * Cells are kept as text in one array, row by row, until sheet_write() knows the width of every column. What
 * is wider than a page (SHEET_WIDTH) has its texts folded at blanks; where that is not enough, columns go on
 * in blocks below, each with the left columns again. The layout depends on the cells alone, never on a
 * terminal. Alignment is by characters, not bytes; a column of numbers is aligned at its decimal point, where
 * "20 +- 7.2" counts as the number 20 with something behind it. Blanks at the end of a line are never
 * written: they are owed, and paid when something follows, so that output compares equal whatever editors do
 * to it.
 */

#include "base/sheet.h"
#include "base/vec.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLD_LEAST = 24 /* a text is folded to no less */ };
/* Commas between thousands of the whole part. */
static void add_commas(char buf[SHOW])
{
    size_t start = buf[0] == '-';
    size_t n = strspn(buf + start, "0123456789");
    for (size_t at = n; at > 3;) {
        at -= 3;
        memmove(buf + start + at + 1, buf + start + at, strlen(buf + start + at) + 1);
        buf[start + at] = ',';
    }
}

/* Zeros after the point say nothing here: values come from doubles, not from measurements. */
static void drop_zeros(char buf[SHOW])
{
    /* Zeros of a whole number are digits. */
    if (!strchr(buf, '.'))
        return;
    size_t n = strlen(buf);
    while (buf[n - 1] == '0')
        n--;
    n -= buf[n - 1] == '.';
    buf[n] = '\0';
}

const char *show_real(char buf[SHOW], double x, int digits)
{
    double size = fabs(x);
    if (!isfinite(x)) {
        strcpy(buf, "-");
        /* Beyond what digits in full say at a glance. */
    } else if (size != 0 && (size >= 1e15 || size < 1e-9)) {
        snprintf(buf, SHOW, "%.*g", digits, x);
    } else {
        /* 999.996 in 5 digits is 1000.0: the power of ten after rounding counts. */
        char rounded[SHOW];
        snprintf(rounded, sizeof rounded, "%.*e", digits - 1, x);
        int power = size == 0 ? 0 : (int)strtol(strchr(rounded, 'e') + 1, NULL, 10);
        int after = digits - 1 - power;
        snprintf(buf, SHOW, "%.*f", after > 0 ? after : 0, x + 0.0);
        drop_zeros(buf);
        add_commas(buf);
    }
    return buf;
}

/* Whole dollars from a thousand on; unit prices below keep five digits. */
const char *show_usd(char buf[SHOW], double usd)
{
    return fabs(usd) >= 1000 ? show_real(buf, round(usd), 15) : show_real(buf, usd, 5);
}

const char *show_count(char buf[SHOW], int64_t n)
{
    if (n < 0) {
        strcpy(buf, "-");
        return buf;
    }
    snprintf(buf, SHOW, "%lld", (long long)n);
    add_commas(buf);
    return buf;
}

const char *show_time_unit(double most_s, double *per_s)
{
    static const struct {
        double from_s, per_s;
        const char *unit;
    } units[] = { { 1, 1, "s" }, { 1e-3, 1e3, "ms" }, { 1e-6, 1e6, "us" } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (most_s >= units[i].from_s) {
            *per_s = units[i].per_s;
            return units[i].unit;
        }
    }
    /* Nothing, and NaN, are in seconds. */
    *per_s = most_s > 0 ? 1e9 : 1;
    return most_s > 0 ? "ns" : "s";
}

const char *show_time(char buf[SHOW], double x_s)
{
    double per_s;
    const char *unit = show_time_unit(fabs(x_s), &per_s);
    show_real(buf, x_s * per_s, 5);
    if (isfinite(x_s)) {
        size_t n = strlen(buf);
        snprintf(buf + n, SHOW - n, " %s", unit);
    }
    return buf;
}

const char *show_unquoted(char buf[SHOW_VALUE], const char *value)
{
    size_t n = strlen(value);
    /* A text with quotes or escapes inside stays as it was written. */
    if (n < 2 || n > SHOW_VALUE || value[0] != '"' || strcspn(value + 1, "\"\\") != n - 2)
        return value;
    memcpy(buf, value + 1, n - 2);
    buf[n - 2] = '\0';
    return buf;
}

/* Maps that hold one of a kind: what is below them needs no "of". */
static bool says_nothing(const char *name, size_t n)
{
    static const char *const words[] = { "network", "workload", "parallel", "simulation",
                                         "search",  "system",   "objective" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && strncmp(words[i], name, n) == 0)
            return true;
    return false;
}

/* Where the part of a path before @p end begins, which is behind a '.'. */
static size_t part_begin(const char *path, size_t end)
{
    while (end > 0 && path[end - 1] != '.')
        end--;
    return end;
}

const char *show_path(char buf[SHOW_VALUE], const char *path, size_t n)
{
    size_t key = part_begin(path, n), end = key ? key - 1 : 0, above = part_begin(path, end);
    bool skipped = false;
    while (end > 0 && says_nothing(path + above, end - above)) {
        skipped = true;
        end = above ? above - 1 : 0;
        above = part_begin(path, end);
    }
    /* Above a map of its kind only an entry of a list tells something:
     * "workloads[1].workload.parallel.batch". */
    if (end == 0 || (skipped && path[end - 1] != ']'))
        snprintf(buf, SHOW_VALUE, "%.*s", (int)(n - key), path + key);
    else
        snprintf(buf, SHOW_VALUE, "%.*s of %.*s", (int)(n - key), path + key, (int)(end - above),
                 path + above);
    return buf;
}

void sheet_column(struct sheet *s, const char *title, const char *unit, enum sheet_align align)
{
    assert(s->n_cells == 0 && s->n_columns < SHEET_MAX_COLUMNS);
    s->columns[s->n_columns++] = (struct sheet_column){ title, unit, align };
}

static void put_sheet_cell(struct sheet *s, const char *text)
{
    if (!vec_reserve(s->cells, s->cap_cells, s->n_cells + 1)) {
        s->failed = true;
        return;
    }
    char *copy = strdup(text);
    s->failed = s->failed || !copy;
    if (copy)
        s->cells[s->n_cells++] = copy;
}

void sheet_put(struct sheet *s, const char *fmt, ...)
{
    char buf[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    /* Cut and marked: a cell is for the eye. */
    if (n >= (int)sizeof buf)
        strcpy(buf + sizeof buf - 4, "...");
    put_sheet_cell(s, buf);
}

void sheet_real(struct sheet *s, double x, int digits)
{
    char buf[SHOW];
    put_sheet_cell(s, show_real(buf, x, digits));
}

void sheet_usd(struct sheet *s, double usd)
{
    char buf[SHOW];
    put_sheet_cell(s, show_usd(buf, usd));
}

void sheet_count(struct sheet *s, int64_t n)
{
    char buf[SHOW];
    put_sheet_cell(s, show_count(buf, n));
}

void sheet_free(struct sheet *s)
{
    for (int64_t i = 0; i < s->n_cells; i++)
        free(s->cells[i]);
    free(s->cells);
    *s = (struct sheet){ 0 };
}

/* Characters, not bytes: UTF-8 continuation bytes take no room. */
size_t sheet_width(const char *s, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n && s[i]; i++)
        width += ((unsigned char)s[i] & 0xc0) != 0x80;
    return width;
}

/* Widths of a column: what stands before the decimal point, and from the point on. */
struct widths {
    size_t before, after, all;
    size_t least; /* that folding leaves: the title, and the longest word */
    bool used;
};

size_t sheet_fold(const char *s, size_t width)
{
    size_t at = 0;
    for (size_t end = strcspn(s, " "); s[at]; end += 1 + strcspn(s + end + 1, " ")) {
        if (at > 0 && sheet_width(s, end) > width)
            return at;
        at = end;
        if (!s[end])
            break;
    }
    return at;
}

/* Where the point is, or would be: of a number alone, or with more after a blank ("20 +- 7.2"). */
static size_t point_of(const char *cell)
{
    const char *point = strchr(cell, '.');
    size_t number = strspn(cell, "-+0123456789,");
    if (point && (size_t)(point - cell) == number)
        return number;
    return number > 0 && (cell[number] == '\0' || cell[number] == ' ') ? number : strlen(cell);
}

/* Of the columns, all but one may stand in every block. */
static int32_t left_of(const struct sheet *s)
{
    int32_t n = s->n_left > 0 ? s->n_left : 1;
    return n < s->n_columns ? n : s->n_columns - 1;
}

static size_t longest_word(const struct sheet *s, int32_t column, size_t least)
{
    for (int64_t i = column; i < s->n_cells; i += s->n_columns)
        for (const char *at = s->cells[i]; *at; at += *at == ' ') {
            size_t n = strcspn(at, " "), width = sheet_width(at, n);
            least = width > least ? width : least;
            at += n;
        }
    return least;
}

static bool is_blank(const char *cell)
{
    return !*cell || strcmp(cell, "-") == 0;
}

static struct widths measure_column(const struct sheet *s, int32_t column)
{
    struct widths w = { 0 };
    const struct sheet_column *c = &s->columns[column];
    for (int64_t i = column; i < s->n_cells; i += s->n_columns) {
        const char *cell = s->cells[i];
        size_t before = c->align == SHEET_POINT ? point_of(cell) : strlen(cell);
        size_t n_before = sheet_width(cell, before), n_after = sheet_width(cell + before, SIZE_MAX);
        w.before = n_before > w.before ? n_before : w.before;
        w.after = n_after > w.after ? n_after : w.after;
        /* A column without any value is left out. */
        w.used = w.used || !is_blank(cell);
    }
    /* Titles stand to the right over numbers: they widen the column on the left alone. */
    size_t head = sheet_width(c->title, SIZE_MAX), unit = sheet_width(c->unit, SIZE_MAX);
    head = unit > head ? unit : head;
    w.all = w.before + w.after > head ? w.before + w.after : head;
    w.least = w.all;
    if (c->align == SHEET_LEFT)
        w.least = longest_word(s, column, head > FOLD_LEAST ? head : FOLD_LEAST);
    return w;
}

static void put_spaces(struct text *out, size_t n)
{
    while (n-- > 0)
        text_puts(out, " ");
}

/* One cell in its width; `owed` spaces are written once something follows them. */
static void write_cell(struct text *out, const char *cell, size_t n, size_t left, size_t width, size_t *owed)
{
    size_t shown = sheet_width(cell, n), filled = left + shown;
    if (n > 0) {
        put_spaces(out, *owed + left);
        text_add_shown(out, cell, n, "");
        *owed = (width > filled ? width - filled : 0) + 2;
    } else {
        *owed += width + 2;
    }
}

/* The columns of a block: the left ones, and from `first` up to `end`. */
struct sheet_block {
    const struct sheet *s;
    const struct widths *w;
    int32_t first, end;
};

static bool is_in(const struct sheet_block *b, int32_t column)
{
    return (column < left_of(b->s) || (column >= b->first && column < b->end)) && b->w[column].used;
}

static void write_head(const struct sheet_block *b, bool unit, struct text *out)
{
    size_t owed = 0;
    for (int32_t i = 0; i < b->end; i++) {
        const struct sheet_column *c = &b->s->columns[i];
        const char *cell = unit ? c->unit : c->title;
        size_t left = c->align == SHEET_POINT ? b->w[i].all - sheet_width(cell, SIZE_MAX) : 0;
        if (is_in(b, i))
            write_cell(out, cell, strlen(cell), left, b->w[i].all, &owed);
    }
    text_puts(out, "\n");
}

/* A row takes as many lines as the cell that is folded most: `rest` is what is still to write of each. */
static bool write_line(const struct sheet_block *b, const char **rest, struct text *out)
{
    size_t owed = 0;
    bool more = false;
    for (int32_t i = 0; i < b->end; i++) {
        const struct widths *w = &b->w[i];
        const char *cell = rest[i];
        size_t left = 0, n = strlen(cell);
        if (!is_in(b, i))
            continue;
        if (b->s->columns[i].align == SHEET_POINT && n > 0)
            left = w->all - w->after - sheet_width(cell, point_of(cell));
        else if (sheet_width(cell, n) > w->all)
            n = sheet_fold(cell, w->all);
        write_cell(out, cell, n, left, w->all, &owed);
        rest[i] += n;
        rest[i] += strspn(rest[i], " ");
        more = more || *rest[i];
    }
    text_puts(out, "\n");
    return more;
}

/* Has a row something to say in a block below the first? */
static bool has_row(const struct sheet_block *b, int64_t row)
{
    bool has = b->first <= left_of(b->s);
    for (int32_t i = b->first; i < b->end && !has; i++)
        has = !is_blank(b->s->cells[row + i]);
    return has;
}

static void write_block(const struct sheet_block *b, struct text *out)
{
    const struct sheet *s = b->s;
    const char *rest[SHEET_MAX_COLUMNS];
    bool units = false;
    for (int32_t i = 0; i < b->end; i++)
        units = units || (is_in(b, i) && *s->columns[i].unit);
    write_head(b, false, out);
    if (units)
        write_head(b, true, out);
    for (int64_t row = 0; row < s->n_cells; row += s->n_columns) {
        for (int32_t i = 0; i < s->n_columns; i++)
            rest[i] = s->cells[row + i];
        for (bool more = has_row(b, row); more;)
            more = write_line(b, rest, out);
    }
}

/* ---- what fits ---- */

/* Of the left columns and those from `first` up to `end`. */
static size_t width_of_block(const struct sheet_block *b)
{
    size_t sum = 0;
    for (int32_t i = 0; i < b->end; i++)
        sum += is_in(b, i) ? b->w[i].all + (sum > 0 ? 2 : 0) : 0;
    return sum;
}

/* Narrow the widest text, a character at a time, until all fit; false: they cannot. */
static bool fold_to_fit(const struct sheet_block *all, struct widths *w)
{
    while (width_of_block(all) > SHEET_WIDTH) {
        int32_t widest = -1;
        for (int32_t i = 0; i < all->end; i++)
            if (w[i].used && w[i].all > w[i].least && (widest < 0 || w[i].all > w[widest].all))
                widest = i;
        if (widest < 0)
            return false;
        w[widest].all--;
    }
    return true;
}

static bool has_room(struct sheet_block b)
{
    b.end++;
    return width_of_block(&b) <= SHEET_WIDTH;
}

/* As many columns as fit beside the left ones, at least one; what is too wide alone is folded. */
static void write_blocks(const struct sheet *s, struct widths *w, struct text *out)
{
    struct sheet_block b = { s, w, left_of(s), left_of(s) };
    for (size_t left = width_of_block(&b); b.end < s->n_columns; b.first = b.end) {
        bool below = b.end > left_of(s);
        do
            b.end++;
        while (b.end < s->n_columns && (width_of_block(&b) == left || has_room(b)));
        if (width_of_block(&b) == left)
            return;
        fold_to_fit(&b, w);
        text_puts(out, below ? "\n" : "");
        write_block(&b, out);
    }
}

int sheet_write(const struct sheet *s, struct text *out, struct err *e)
{
    struct widths w[SHEET_MAX_COLUMNS], folded[SHEET_MAX_COLUMNS];
    if (s->failed)
        return err_nomem(e, "table");
    assert(s->n_columns > 0 && s->n_cells % s->n_columns == 0);
    for (int32_t i = 0; i < s->n_columns; i++)
        w[i] = folded[i] = measure_column(s, i);
    struct sheet_block all = { s, w, 0, s->n_columns }, fold = { s, folded, 0, s->n_columns };
    if (out->wide)
        write_block(&all, out);
    else if (fold_to_fit(&fold, folded))
        write_block(&fold, out);
    else
        write_blocks(s, w, out);
    return text_check(out, e);
}
