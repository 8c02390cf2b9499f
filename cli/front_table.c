#include "cli/front_job.h"

#include <math.h>
#include <string.h>

/* Of a table that `weft front` wrote these are replaced. */
static bool is_own(const char *column)
{
    return strcmp(column, KEEP_ROW) == 0 || strcmp(column, "front") == 0 || strcmp(column, "knee") == 0 ||
           strcmp(column, "distance") == 0;
}

static void put_row(struct table *t, const struct table *from, int64_t row, const char *front, bool knee,
                    double distance)
{
    table_row(t);
    for (int32_t i = 0; i < from->n_cols; i++)
        if (!is_own(from->names[i]))
            table_put_cell(t, from, row, i);
    table_put_text(t, front);
    table_put_text(t, knee ? "yes" : "no");
    table_put_real(t, distance);
}

static void put_side(struct table *t, const struct front_job *j, int32_t side)
{
    const struct front_side *s = &j->sides[side];
    const struct front_set *set = keep_fronts(s->keep), *all = keep_fronts(j->sides[FRONT_ALL].keep);
    for (int32_t g = 0; g < set->n; g++) {
        const struct front *f = &set->fronts[g], *free_of = front_of(all, set->groups[g]);
        int64_t knee = front_knee(f);
        for (int64_t i = 0; i < f->n_sorted; i++)
            put_row(t, &s->rows, front_row(s, f->id[i]), side == FRONT_ALL ? "all" : "within", i == knee,
                    side == FRONT_ALL ? 0 : front_distance(free_of, f->x + i * f->n_cols));
    }
}

/* A value of --at where its column has it, the group where that has it, else blank. */
static void put_value(struct table *to, const struct front_job *j, int64_t like, int32_t col)
{
    const struct front_side *s = &j->sides[FRONT_ALL];
    const char *name = s->rows.names[col];
    double x = NAN;
    for (int32_t k = 0; k < s->rule.n_front; k++)
        if (strcmp(s->rule.front[k].name, name) == 0)
            x = s->rule.front[k].large ? -j->design.x[k] : j->design.x[k];
    for (int32_t k = 0; k < s->rule.n_per; k++)
        if (strcmp(s->rule.per[k], name) == 0) {
            table_put_cell(to, &s->rows, like, col);
            return;
        }
    if (s->rows.kinds[col] == TABLE_REAL)
        table_put_real(to, x);
    else if (s->rows.kinds[col] == TABLE_COUNT && x == floor(x) && fabs(x) < 1e15)
        table_put_count(to, (int64_t)x);
    else
        table_put_none(to);
}

/* Of --at there is no row: its values are held against each group, whose rows all have its names. */
static void put_values(struct table *t, const struct front_job *j)
{
    const struct front_side *s = &j->sides[FRONT_ALL];
    const struct front_set *set = keep_fronts(s->keep);
    for (int32_t g = 0; g < set->n; g++) {
        struct table row = { 0 };
        int64_t like = front_row(s, set->fronts[g].id[0]);
        for (int32_t i = 0; i < s->rows.n_cols; i++)
            table_column(&row, s->rows.names[i], s->rows.kinds[i]);
        table_row(&row);
        for (int32_t i = 0; i < s->rows.n_cols && !row.failed; i++)
            put_value(&row, j, like, i);
        t->failed = t->failed || row.failed;
        if (!row.failed)
            put_row(t, &row, 0, "design", false, front_distance(&set->fronts[g], j->design.x));
        table_free(&row);
    }
}

static void put_design(struct table *t, const struct front_job *j)
{
    const struct front_design *d = &j->design;
    const struct front *f = front_of(keep_fronts(j->sides[FRONT_ALL].keep), text_str(&d->group));
    if (d->point < 0)
        put_values(t, j);
    else
        put_row(t, &d->row, 0, "design", false, f ? front_distance(f, d->x) : NAN);
}

/* Those of the sample that are on no front. */
static int put_behind(struct table *t, const struct front_job *j, struct err *e)
{
    const struct keep *k = j->sides[FRONT_ALL].keep;
    const struct table *rows = &j->sample.rows;
    struct text group = { 0 };
    double x[FRONT_MAX_COLUMNS];
    int rc = 0;
    for (int64_t row = 0; row < rows->n_rows && !rc; row++) {
        rc = keep_group(&group, k, rows, row, e);
        const struct front *f = rc ? NULL : front_of(keep_fronts(k), text_str(&group));
        keep_values(x, k, rows, row);
        if (f && front_dominates(f, x))
            put_row(t, rows, row, "behind", false, front_distance(f, x));
    }
    text_free(&group);
    return rc;
}

int front_table(struct table *t, const struct front_job *j, struct err *e)
{
    const struct table *rows = &j->sides[FRONT_ALL].rows;
    for (int32_t i = 0; i < rows->n_cols; i++)
        if (!is_own(rows->names[i]))
            table_column(t, rows->names[i], rows->kinds[i]);
    table_column(t, "front", TABLE_TEXT);
    table_column(t, "knee", TABLE_TEXT);
    table_column(t, "distance", TABLE_REAL);
    for (int32_t i = 0; i < j->n_sides; i++)
        put_side(t, j, i);
    if (j->design.asked)
        put_design(t, j);
    int rc = put_behind(t, j, e);
    return rc ? rc : t->failed ? err_nomem(e, "the front") : 0;
}
