#include "plots/runs.h"

#include <math.h>
#include <string.h>

#include "plots/outcomes.h"

int runs_begin(struct runs *x, const struct rows *r, struct err *e)
{
    const struct {
        int32_t *col;
        const char *name;
    } wanted[] = { { &x->point, "point" }, { &x->seed, "seed" }, { &x->scheduler, "scheduler" },
                   { &x->from, "from" },   { &x->to, "to" },     { &x->unit_col, "unit" } };
    int rc = 0;

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !rc; i++)
        rc = rows_column(wanted[i].col, r, wanted[i].name, e);
    return rc;
}

/* Axes of the study stand between point and seed. */
static int put_common(struct runs *x, const struct rows *r, struct err *e)
{
    struct text cell = { 0 };
    int rc = 0;

    for (int32_t col = x->point + 1; col <= x->seed && !rc; col++) {
        rc = rows_text(&cell, r, col, e);
        text_puts(&x->common, x->common.n ? " · " : "");
        outcomes_put_key(&x->common, r->t->names[col]);
        text_printf(&x->common, " %s", text_str(&cell));
    }
    text_free(&cell);
    return rc ? rc : text_check(&x->common, e);
}

/* One unit for all that is drawn. */
static int read_unit(struct runs *x, const struct rows *r, struct err *e)
{
    struct text cell = { 0 };
    int rc = rows_text(&cell, r, x->unit_col, e);

    if (!rc && x->unit.n == 0) {
        text_puts(&x->unit, text_str(&cell));
        rc = text_check(&x->unit, e);
        if (!rc)
            rc = put_common(x, r, e);
    }
    if (!rc && strcmp(text_str(&cell), text_str(&x->unit)) != 0)
        rc = err_set(e, ERR_PARSE,
                     "figure %s: row %lld, column unit: is \"%s\", need \"%s\" as in those before",
                     r->figure->name, (long long)r->row + 1, text_str(&cell), text_str(&x->unit));
    text_free(&cell);
    return rc;
}

static int read_times(struct runs_span *out, struct runs *x, const struct rows *r, struct err *e)
{
    int rc = rows_number(&out->from, r, x->from, e);

    if (!rc)
        rc = rows_number(&out->to, r, x->to, e);
    if (!rc && out->to < out->from)
        rc = err_set(e, ERR_PARSE, "figure %s: row %lld, column to: is %g, need at least its from %g",
                     r->figure->name, (long long)r->row + 1, out->to, out->from);
    return rc;
}

int runs_read(struct runs_span *out, struct runs *x, const struct rows *r, struct err *e)
{
    int32_t point, seed = 0, run = 0;
    int rc = rows_name(&point, &x->points, r, x->point, e);

    out->run = -1;
    x->n_passed++;
    if (rc || point > 0)
        return rc;
    rc = rows_name(&seed, &x->seeds, r, x->seed, e);
    if (!rc && seed == 0)
        rc = rows_name(&run, &x->schedulers, r, x->scheduler, e);
    if (rc || seed > 0 || run >= RUNS_MAX)
        return rc;
    rc = read_times(out, x, r, e);
    if (rc)
        return rc;
    if (!isfinite(out->from) || !isfinite(out->to)) {
        x->n_blank++;
        return 0;
    }
    rc = read_unit(x, r, e);
    if (rc)
        return rc;
    out->run = run;
    x->n = run < x->n ? x->n : run + 1;
    x->end[run] = fmax(x->end[run], out->to);
    return 0;
}

void runs_free(struct runs *x)
{
    names_free_copies(&x->points);
    names_free_copies(&x->seeds);
    names_free_copies(&x->schedulers);
    text_free(&x->unit);
    text_free(&x->common);
    *x = (struct runs){ 0 };
}

struct axis runs_axis(const struct runs *x, struct unit *unit)
{
    double end = 0;

    for (int32_t i = 0; i < x->n; i++)
        end = fmax(end, x->end[i]);
    *unit =
        strcmp(text_str(&x->unit), "s") == 0 ? unit_pick(unit_durations, end) : (struct unit){ 1, "slots" };
    /* The frame is the end of the last run. */
    return (struct axis){ .lo = 0, .hi = end > 0 ? end / unit->scale : 1 };
}

void runs_put_notes(struct canvas *c, const struct runs *x)
{
    canvas_note(c, "%s", text_str(&x->common));
    if (x->points.n > 1)
        canvas_note(c, "first of %d points", (int)x->points.n);
    if (x->seeds.n > 1)
        canvas_note(c, "first of %d seeds", (int)x->seeds.n);
    if (x->schedulers.n > x->n)
        canvas_note(c, "first %d of %d schedulers", (int)x->n, (int)x->schedulers.n);
    if (x->n_blank > 0)
        canvas_note(c, "%lld rows lack a value and are left out", (long long)x->n_blank);
}
