#include "study/keep.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linexpr.h"
#include "base/num.h"
#include "study/keep_points.h"
#include "study/keep_top.h"
#include "study/kind.h"

struct keep {
    const struct keep_rule *rule;
    int32_t point, result[STUDY_MAX_RESULT];
    int32_t front[FRONT_MAX_COLUMNS], per[KEEP_MAX_PER], top;
    struct linexpr limits[KEEP_MAX_LIMITS]; /* coef shape [fresh.n_cols], owned */
    struct front_set fronts;
    struct top_set tops;
    struct keep_points points; /* survivors that may still be taken off */
    struct table fresh;        /* rows not handed over yet; those that are survivors no more have no point */
    int64_t n_dead;            /* of them */
    int64_t *gone, n_gone, cap_gone;
    int64_t *told; /* those of the call before */
    struct text group;
    struct keep_counts counts;
};

/* ---- set-up ---- */

int32_t keep_id_column(const struct table *columns)
{
    static const char *const names[] = { KEEP_ROW, "id", "point" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int32_t col = table_find(columns, names[i]);
        if (col >= 0 && (columns->kinds[col] == TABLE_COUNT || i == 2))
            return col;
    }
    return -1;
}

static int find_column(int32_t *out, const struct table *columns, const char *name, struct err *e)
{
    *out = table_find(columns, name);
    return *out >= 0 ? 0 : err_set(e, ERR_PARSE, "column %s is missing, need it to choose rows", name);
}

static int find_columns(struct keep *k, const struct table *columns, struct err *e)
{
    const struct keep_rule *r = k->rule;
    k->point = keep_id_column(columns);
    int rc = k->point >= 0 ? 0 : find_column(&k->point, columns, "point", e);
    if (!rc && columns->kinds[k->point] != TABLE_COUNT)
        rc = err_set(e, ERR_PARSE, "column point: is no column of whole numbers, need points of a sweep");
    for (int32_t i = 0; r->kind && r->kind->result_columns[i]; i++)
        k->result[i] = table_find(columns, r->kind->result_columns[i]);
    for (int32_t i = 0; i < r->n_front && !rc; i++)
        rc = find_column(&k->front[i], columns, r->front[i].name, e);
    for (int32_t i = 0; i < r->n_per && !rc; i++)
        rc = find_column(&k->per[i], columns, r->per[i], e);
    if (!rc && r->n_top > 0)
        rc = find_column(&k->top, columns, r->top.name, e);
    return rc;
}

static int parse_limits(struct keep *k, const struct table *columns, struct err *e)
{
    for (int32_t i = 0; i < k->rule->n_where; i++) {
        k->limits[i].coef = malloc(((size_t)columns->n_cols + 1) * sizeof *k->limits[i].coef);
        if (!k->limits[i].coef)
            return err_nomem(e, "limits");
        int rc = linexpr_parse(&k->limits[i], k->rule->where[i], (const char *const *)columns->names,
                               columns->n_cols, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int copy_columns(struct table *t, const struct table *columns, struct err *e)
{
    *t = (struct table){ 0 };
    for (int32_t i = 0; i < columns->n_cols; i++)
        table_column(t, columns->names[i], columns->kinds[i]);
    return t->failed ? err_nomem(e, "rows to keep") : 0;
}

int keep_build(struct keep **out, const struct keep_rule *rule, const struct table *columns, struct err *e)
{
    struct keep *k = calloc(1, sizeof *k);
    *out = NULL;
    if (!k)
        return err_nomem(e, "rows to keep");
    k->rule = rule;
    k->fronts.n_cols = rule->n_front;
    k->tops.most = rule->n_top;
    int rc = find_columns(k, columns, e);
    if (!rc)
        rc = parse_limits(k, columns, e);
    if (!rc)
        rc = copy_columns(&k->fresh, columns, e);
    if (rc)
        keep_free(k);
    else
        *out = k;
    return rc;
}

void keep_free(struct keep *k)
{
    if (!k)
        return;
    for (int32_t i = 0; i < k->rule->n_where; i++)
        free(k->limits[i].coef);
    front_set_free(&k->fronts);
    top_set_free(&k->tops);
    keep_points_free(&k->points);
    table_free(&k->fresh);
    text_free(&k->group);
    free(k->gone);
    free(k->told);
    free(k);
}

/* ---- what a row says ---- */

double keep_number(const struct table *rows, int64_t row, int32_t col)
{
    double x = NAN;
    if (rows->kinds[col] != TABLE_TEXT)
        return table_number(rows, row, col);
    const char *text = table_cell(rows, row, col)->text;
    return text && num_parse_real(text, &x) ? x : NAN;
}

bool keep_is_design(const struct keep *k, const struct table *rows, int64_t row)
{
    const struct study_kind *kind = k->rule->kind;
    return table_cell(rows, row, k->point)->count >= 0 && (!kind || kind->is_result(rows, row, k->result));
}

/* NaN where a column of the limit is blank, which no comparison passes. */
static bool is_within(const struct linexpr *limit, const struct table *rows, int64_t row)
{
    double sum = 0;
    for (int32_t i = 0; i < rows->n_cols; i++)
        if (limit->coef[i] != 0)
            sum += limit->coef[i] * keep_number(rows, row, i);
    switch (limit->sense) {
    case LINEXPR_LE:
        return sum <= limit->rhs;
    case LINEXPR_GE:
        return sum >= limit->rhs;
    default:
        return sum == limit->rhs;
    }
}

static bool passes(const struct keep *k, const struct table *rows, int64_t row)
{
    for (int32_t i = 0; i < k->rule->n_where; i++)
        if (!is_within(&k->limits[i], rows, row))
            return false;
    return true;
}

int keep_group(struct text *out, const struct keep *k, const struct table *rows, int64_t row, struct err *e)
{
    text_clear(out);
    for (int32_t i = 0; i < k->rule->n_per; i++) {
        text_puts(out, i ? "\n" : "");
        table_cell_text(out, rows, row, k->per[i]);
    }
    return text_check(out, e);
}

static double value_of(const struct keep_column *c, const struct table *rows, int64_t row, int32_t col)
{
    double x = keep_number(rows, row, col);
    return c->large ? -x : x;
}

void keep_values(double *x, const struct keep *k, const struct table *rows, int64_t row)
{
    for (int32_t i = 0; i < k->rule->n_front; i++)
        x[i] = value_of(&k->rule->front[i], rows, row, k->front[i]);
}

/* ---- rows ---- */

static int add_row(struct keep *k, const struct table *rows, int64_t row, struct err *e)
{
    table_row(&k->fresh);
    for (int32_t i = 0; i < rows->n_cols; i++)
        table_put_cell(&k->fresh, rows, row, i);
    return k->fresh.failed ? err_nomem(e, "rows to keep") : 0;
}

static struct table_cell *cells_of(const struct keep *k, int64_t row)
{
    return k->fresh.cells + row * k->fresh.n_cols;
}

/* Rows that are survivors no more go; the others move up. */
static void drop_dead(struct keep *k)
{
    struct table *t = &k->fresh;
    int64_t n = 0;
    for (int64_t row = 0; row < t->n_rows && k->n_dead > 0; row++) {
        struct table_cell *from = cells_of(k, row);
        bool dead = from[k->point].count == INT64_MIN;
        for (int32_t i = 0; i < t->n_cols && dead; i++)
            free(from[i].text);
        if (dead)
            continue;
        if (n < row)
            memcpy(cells_of(k, n), from, (size_t)t->n_cols * sizeof *from);
        struct keep_point *p = keep_points_find(&k->points, from[k->point].count);
        if (p)
            p->row = n;
        n++;
    }
    if (k->n_dead > 0)
        t->n_rows = n;
    k->n_dead = 0;
}

/* ---- survivors ---- */

static int note_gone(struct keep *k, int64_t point, struct err *e)
{
    if (k->n_gone == k->cap_gone) {
        int64_t cap = k->cap_gone ? 2 * k->cap_gone : 16;
        int64_t *gone = realloc(k->gone, (size_t)cap * sizeof *gone);
        if (!gone)
            return err_nomem(e, "points that are not kept");
        k->gone = gone;
        k->cap_gone = cap;
    }
    k->gone[k->n_gone++] = point;
    return 0;
}

/* The point is not kept for that reason any more. */
static int leave(struct keep *k, int64_t point, unsigned way, struct err *e)
{
    struct keep_point *p = keep_points_find(&k->points, point);
    assert(p && (p->ways & way));
    p->ways &= ~way;
    if (p->ways)
        return 0;
    int rc = 0;
    if (p->row >= 0) {
        cells_of(k, p->row)[k->point].count = INT64_MIN;
        k->n_dead++;
    } else {
        rc = note_gone(k, point, e);
    }
    keep_points_remove(&k->points, point);
    return rc;
}

static int offer_to_front(struct keep *k, const struct table *rows, int64_t row, int64_t point,
                          unsigned *ways, struct err *e)
{
    double x[FRONT_MAX_COLUMNS];
    struct front *f = NULL;
    bool on = false, blank = false;
    keep_values(x, k, rows, row);
    for (int32_t i = 0; i < k->rule->n_front; i++)
        blank = blank || !isfinite(x[i]);
    k->counts.blank += blank;
    int rc = blank ? 0 : front_set_offer(&k->fronts, text_str(&k->group), x, point, &on, &f, e);
    for (int64_t i = 0; f && i < f->n_off && !rc; i++)
        rc = leave(k, f->off[i], KEEP_FRONT, e);
    if (f)
        f->n_off = 0;
    *ways |= on ? KEEP_FRONT : 0;
    return rc;
}

static int offer_to_top(struct keep *k, const struct table *rows, int64_t row, int64_t point, unsigned *ways,
                        struct err *e)
{
    bool in;
    int64_t out;
    struct top_item item = { value_of(&k->rule->top, rows, row, k->top), point };
    int rc = top_offer(&k->tops, text_str(&k->group), item, &in, &out, e);
    if (!rc && out >= 0)
        rc = leave(k, out, KEEP_TOP, e);
    *ways |= in ? KEEP_TOP : 0;
    return rc;
}

/* Hold a design against the others of its group. */
static int compete(struct keep *k, const struct table *rows, int64_t row, struct err *e)
{
    int64_t point = table_cell(rows, row, k->point)->count;
    unsigned ways = 0;
    if (keep_points_find(&k->points, point))
        return 0;
    int rc = keep_group(&k->group, k, rows, row, e);
    if (!rc && k->rule->n_front > 0)
        rc = offer_to_front(k, rows, row, point, &ways, e);
    if (!rc && k->rule->n_top > 0)
        rc = offer_to_top(k, rows, row, point, &ways, e);
    if (rc || !ways)
        return rc;
    rc = add_row(k, rows, row, e);
    return rc ? rc : keep_points_add(&k->points, (struct keep_point){ point, k->fresh.n_rows - 1, ways }, e);
}

static int offer_row(struct keep *k, const struct table *rows, int64_t row, struct err *e)
{
    k->counts.seen++;
    if (keep_all(k->rule))
        return add_row(k, rows, row, e);
    if (!keep_is_design(k, rows, row)) {
        k->counts.no_design++;
        return 0;
    }
    if (!passes(k, rows, row)) {
        k->counts.beyond++;
        return 0;
    }
    return k->rule->n_front > 0 || k->rule->n_top > 0 ? compete(k, rows, row, e) : add_row(k, rows, row, e);
}

/* A store leaves out columns that are blank in all its rows. */
static bool has_columns(const struct keep *k, const struct table *rows)
{
    bool same = rows->n_cols == k->fresh.n_cols;
    for (int32_t i = 0; i < rows->n_cols && same; i++)
        same = rows->kinds[i] == k->fresh.kinds[i] && strcmp(rows->names[i], k->fresh.names[i]) == 0;
    return same;
}

static void put_as(struct table *to, const struct table *rows, int64_t row, int32_t from, struct text *text)
{
    enum table_kind kind = to->kinds[to->col];
    text_clear(text);
    if (from >= 0 && kind == TABLE_TEXT)
        table_cell_text(text, rows, row, from);
    double x = from < 0 || kind == TABLE_TEXT ? NAN : keep_number(rows, row, from);
    if (kind == TABLE_REAL)
        table_put_real(to, x);
    else if (kind == TABLE_COUNT && isfinite(x))
        table_put_count(to, (int64_t)x);
    else if (kind == TABLE_TEXT && text->n > 0)
        table_put_text(to, text_str(text));
    else
        table_put_none(to);
}

/* The rows in the columns of the others. */
static int adapt(struct table *out, const struct keep *k, const struct table *rows, struct err *e)
{
    struct text text = { 0 };
    int rc = copy_columns(out, &k->fresh, e);
    for (int64_t row = 0; row < rows->n_rows && !rc; row++) {
        table_row(out);
        for (int32_t i = 0; i < k->fresh.n_cols; i++)
            put_as(out, rows, row, table_find(rows, k->fresh.names[i]), &text);
    }
    bool failed = out->failed || text.failed;
    text_free(&text);
    return rc ? rc : failed ? err_nomem(e, "rows to keep") : 0;
}

static int offer_rows(struct keep *k, const struct table *rows, struct err *e)
{
    int rc = 0;
    for (int64_t row = 0; row < rows->n_rows && !rc; row++)
        rc = offer_row(k, rows, row, e);
    return rc;
}

int keep_offer(struct keep *k, const struct table *rows, struct err *e)
{
    enum { FEW = 1024 };
    struct table adapted = { 0 };
    int rc = 0;
    if (!has_columns(k, rows))
        rc = adapt(&adapted, k, rows, e);
    if (!rc)
        rc = offer_rows(k, adapted.n_cols > 0 ? &adapted : rows, e);
    table_free(&adapted);
    if (k->n_dead > FEW && k->n_dead > k->fresh.n_rows / 2)
        drop_dead(k);
    return rc;
}

int keep_changes(struct keep *k, struct table *fresh, const int64_t **gone, int64_t *n_gone, struct err *e)
{
    struct table empty;
    *fresh = (struct table){ 0 };
    *gone = NULL;
    *n_gone = 0;
    int rc = copy_columns(&empty, &k->fresh, e);
    if (rc) {
        table_free(&empty);
        return rc;
    }
    drop_dead(k);
    for (int64_t row = 0; row < k->fresh.n_rows; row++) {
        struct keep_point *p = keep_points_find(&k->points, cells_of(k, row)[k->point].count);
        if (p)
            p->row = -1;
    }
    *fresh = k->fresh;
    k->fresh = empty;
    free(k->told);
    *gone = k->told = k->gone;
    *n_gone = k->n_gone;
    k->gone = NULL;
    k->n_gone = k->cap_gone = 0;
    return 0;
}

const struct front_set *keep_fronts(const struct keep *k)
{
    return &k->fronts;
}

int keep_sort_fronts(struct keep *k, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < k->fronts.n && !rc; i++)
        rc = front_sort(&k->fronts.fronts[i], e);
    return rc;
}

struct keep_counts keep_counts_of(const struct keep *k)
{
    return k->counts;
}
