#include "plots/points.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plots/outcomes.h"
#include "plots/phrases.h"

/* What a column between point and scheduler is. */
enum part {
    PART_NONE,  /* of schedulers: repeats their column */
    PART_PLAIN, /* the model: its name says what it is */
    PART_AXIS,
    PART_COUNT, /* follows from the others: "16 types" */
};

static enum part part_of(const char *key)
{
    const char *dot = strrchr(key, '.');

    if (strcmp(key, "model") == 0)
        return PART_PLAIN;
    if (strcmp(key, "types") == 0 || strcmp(key, "layers") == 0)
        return PART_COUNT;
    return strcmp(dot ? dot + 1 : key, "schedulers") == 0 ? PART_NONE : PART_AXIS;
}

/* Whether the column differs among the rows that pass; `first` is one of them. */
static int find_varying(bool *varies, const struct rows *rows, int64_t first, int32_t col, struct err *e)
{
    struct rows r = *rows;
    struct text one = { 0 }, cell = { 0 };

    r.row = first;
    int rc = rows_text(&one, &r, col, e);
    *varies = false;
    for (r.row = first + 1; r.row < r.t->n_rows && !*varies && !rc; r.row++) {
        if (!rows_pass(&r))
            continue;
        rc = rows_text(&cell, &r, col, e);
        *varies = strcmp(text_str(&one), text_str(&cell)) != 0;
    }
    text_free(&one);
    text_free(&cell);
    return rc;
}

static void put_key(struct text *out, const char *key, enum points_form form)
{
    const char *dot = strrchr(key, '.');

    if (form == POINTS_VALUES)
        return;
    if (form == POINTS_SHORT && dot)
        text_puts(out, dot + 1);
    else
        outcomes_put_key(out, key);
    text_puts(out, " ");
}

static int put_word(struct text *out, const struct rows *r, int32_t col, enum points_form form, struct err *e)
{
    const char *key = r->t->names[col];
    enum part part = part_of(key);
    struct text cell = { 0 };
    int rc = rows_text(&cell, r, col, e);

    if (!rc && cell.n > 0) {
        text_puts(out, out->n ? " · " : "");
        if (part == PART_AXIS)
            put_key(out, key, form);
        phrases_put_value(out, text_str(&cell));
        text_printf(out, "%s%s", part == PART_COUNT ? " " : "", part == PART_COUNT ? key : "");
    }
    text_free(&cell);
    return rc ? rc : text_check(out, e);
}

/* Add column `col` to the names of the points, or to what they have in common. */
static int describe(struct points *p, const struct rows *rows, const int64_t *first, int32_t col,
                    struct err *e)
{
    enum part part = part_of(rows->t->names[col]);
    struct rows r = *rows;
    bool varies = false;
    int rc = part == PART_NONE ? 0 : find_varying(&varies, rows, first[0], col, e);

    if (rc || part == PART_NONE || (varies && part == PART_COUNT))
        return rc;
    r.row = first[0];
    if (!varies)
        return put_word(&p->common, &r, col, POINTS_FULL, e);
    for (int32_t i = 0; i < N_POINTS_FORMS * p->ids.n && !rc; i++) {
        r.row = first[i % p->ids.n];
        rc = put_word(&p->names[i], &r, col, (enum points_form)(i / p->ids.n), e);
    }
    return rc;
}

/* Points in the order of the table, and the first row of each into `first`. */
static int find_points(struct points *p, const struct rows *rows, int64_t *first, struct err *e)
{
    struct rows r = *rows;
    int32_t at;
    int rc = 0;

    for (r.row = 0; r.row < r.t->n_rows && !rc; r.row++) {
        int32_t n = p->ids.n;
        if (!rows_pass(&r))
            continue;
        rc = rows_name(&at, &p->ids, &r, p->point, e);
        if (!rc && p->ids.n > n)
            first[n] = r.row;
    }
    if (!rc && p->ids.n == 0)
        rc = rows_none_left(&r, 0, 0, "", e);
    return rc;
}

int points_read(struct points *p, const struct rows *r, int32_t most, struct err *e)
{
    int64_t *first = calloc((size_t)r->t->n_rows + 1, sizeof *first);
    int32_t scheduler = 0; /* or method */
    int rc = first ? rows_column(&p->point, r, "point", e) : err_nomem(e, "the figure's panels");

    if (!rc)
        rc = rows_column(&scheduler, r, table_find(r->t, "method") >= 0 ? "method" : "scheduler", e);
    if (!rc)
        rc = find_points(p, r, first, e);
    if (!rc) {
        p->n = p->ids.n < most ? p->ids.n : most;
        p->names = calloc((size_t)p->ids.n * N_POINTS_FORMS, sizeof *p->names);
        rc = p->names ? 0 : err_nomem(e, "the figure's panels");
    }
    for (int32_t col = p->point + 1; col < scheduler && !rc; col++)
        rc = describe(p, r, first, col, e);
    free(first);
    return rc;
}

void points_free(struct points *p)
{
    for (int32_t i = 0; i < N_POINTS_FORMS * p->ids.n && p->names; i++)
        text_free(&p->names[i]);
    free(p->names);
    names_free_copies(&p->ids);
    text_free(&p->common);
    *p = (struct points){ 0 };
}

int points_find(int32_t *at, const struct points *p, const struct rows *r, struct err *e)
{
    struct text cell = { 0 };
    int rc = rows_text(&cell, r, p->point, e);

    *at = rc ? -1 : names_find(&p->ids, text_str(&cell));
    if (*at >= p->n)
        *at = -1;
    text_free(&cell);
    return rc;
}

void points_put_name(struct text *out, const struct points *p, int32_t at, size_t chars)
{
    const char *name = "";

    for (int32_t form = POINTS_FULL; form < N_POINTS_FORMS; form++) {
        name = text_str(&p->names[form * p->ids.n + at]);
        if (canvas_width(name, 1) <= (double)chars * CANVAS_CHAR * (1 + 1e-9))
            break;
    }
    canvas_put_short(out, name, chars);
}

void points_put_notes(struct canvas *c, const struct points *p)
{
    if (p->common.n)
        canvas_note(c, "%s", text_str(&p->common));
    if (p->ids.n > p->n)
        canvas_note(c, "first %d of %d points", (int)p->n, (int)p->ids.n);
}
