#include "plots/design.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"
#include "base/text.h"

/* What reading one row needs to know. */
struct source {
    const struct table *t;
    const struct plot_figure *figure;
    const struct plot_options *opt;
    int64_t row;
};

struct field {
    const char *name;
    size_t offset;
    bool above_zero; /* figures divide by it */
};

static const struct field text_fields[] = {
    { "network", offsetof(struct plot_design, network), false },
    { "workload", offsetof(struct plot_design, workload), false },
    { "objective", offsetof(struct plot_design, objective), false },
    { "dims", offsetof(struct plot_design, dims), false },
};

static const struct field number_fields[] = {
    { "total_GBps", offsetof(struct plot_design, total_GBps), false },
    { "nic_GBps", offsetof(struct plot_design, nic_GBps), false },
    { "time_s", offsetof(struct plot_design, time_s), true },
    { "compute_s", offsetof(struct plot_design, compute_s), false },
    { "comm_s", offsetof(struct plot_design, comm_s), false },
    { "equal_time_s", offsetof(struct plot_design, equal_time_s), true },
    { "cost_usd", offsetof(struct plot_design, cost_usd), false },
    { "equal_cost_usd", offsetof(struct plot_design, equal_cost_usd), false },
    { "speedup", offsetof(struct plot_design, speedup), false },
    { "perf_per_cost_gain", offsetof(struct plot_design, perf_per_cost_gain), false },
};

/* One column per dimension; the number replaces '#'. */
static const struct field dim_fields[] = {
    { "bw#_GBps", offsetof(struct plot_design, bw_GBps), false },
    { "util#", offsetof(struct plot_design, util), false },
    { "exposed#_s", offsetof(struct plot_design, exposed_s), false },
};

#define FIND_FIELD(fields, name) find_field(fields, sizeof(fields) / sizeof((fields)[0]), name)

static const struct field *find_field(const struct field *fields, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

static int need_column(int32_t *col, const struct source *s, const char *name, struct err *e)
{
    *col = table_find(s->t, name);
    if (*col < 0)
        return err_set(e, ERR_PARSE, "figure %s: column %s: is missing, need it in the CSV", s->figure->name,
                       name);
    return 0;
}

/* Any cell as text: a network may be called "4", which the CSV reader takes for a number. */
static int cell_as_text(struct text *out, const struct table *t, int64_t row, int32_t col, struct err *e)
{
    const struct table_cell *cell = table_cell(t, row, col);
    char buf[NUM_TEXT];

    text_clear(out);
    if (t->kinds[col] == TABLE_TEXT)
        text_puts(out, cell->text ? cell->text : "");
    else if (t->kinds[col] == TABLE_REAL && isfinite(cell->real))
        text_puts(out, num_format(buf, cell->real));
    else if (t->kinds[col] == TABLE_COUNT && cell->count != INT64_MIN)
        text_printf(out, "%lld", (long long)cell->count);
    return text_check(out, e);
}

/* NaN for a blank. Nothing that figures draw can be negative. */
static int cell_as_number(double *out, const struct source *s, int32_t col, bool above_zero, struct err *e)
{
    const struct table_cell *cell = table_cell(s->t, s->row, col);

    *out = (double)NAN;
    switch (s->t->kinds[col]) {
    case TABLE_REAL:
        *out = cell->real;
        break;
    case TABLE_COUNT:
        *out = cell->count == INT64_MIN ? (double)NAN : (double)cell->count;
        break;
    case TABLE_TEXT:
        if (cell->text && cell->text[0] && !num_parse_real(cell->text, out))
            return err_set(e, ERR_PARSE, "figure %s: row %lld, column %s: is \"%s\", need a number",
                           s->figure->name, (long long)s->row + 1, s->t->names[col], cell->text);
        break;
    }
    if (*out < 0 || (above_zero && *out == 0))
        return err_set(e, ERR_PARSE, "figure %s: row %lld, column %s: is %g, need %s 0", s->figure->name,
                       (long long)s->row + 1, s->t->names[col], *out, above_zero ? "above" : "at least");
    return 0;
}

static int read_text_field(struct plot_design *g, const struct source *s, const char *name, size_t offset,
                           struct err *e)
{
    struct text cell = { 0 };
    int32_t col;

    int rc = need_column(&col, s, name, e);
    if (!rc)
        rc = cell_as_text(&cell, s->t, s->row, col, e);
    if (!rc) {
        char *copy = strdup(text_str(&cell));
        if (!copy)
            rc = err_nomem(e, "the figure's rows");
        *(char **)(void *)((char *)g + offset) = copy;
    }
    text_free(&cell);
    return rc;
}

/* The names behind `dims`, which are as many as n_dims says. */
static int read_dims(struct plot_design *g, const struct source *s, struct err *e)
{
    double n = 0;
    int32_t col;
    int rc = need_column(&col, s, "n_dims", e);

    if (!rc)
        rc = cell_as_number(&n, s, col, true, e);
    if (!rc)
        rc = read_text_field(g, s, "dims", offsetof(struct plot_design, dims), e);
    if (rc)
        return rc;
    if (!(n >= 1 && n <= PLOT_MAX_DIMS && n == floor(n)))
        return err_set(e, ERR_PARSE,
                       "figure %s: row %lld, column n_dims: is %g, need a whole number, 1 to %d",
                       s->figure->name, (long long)s->row + 1, n, PLOT_MAX_DIMS);
    for (char *p = g->dims; p; g->n_dims++) {
        char *bar = strchr(p, '|');
        if (g->n_dims < PLOT_MAX_DIMS)
            g->dim_names[g->n_dims] = p;
        if (bar)
            *bar++ = '\0';
        p = bar;
    }
    if (g->n_dims != (int32_t)n)
        return err_set(e, ERR_PARSE, "figure %s: row %lld, column dims: is %d names, need %d as n_dims says",
                       s->figure->name, (long long)s->row + 1, (int)g->n_dims, (int)n);
    return 0;
}

static int read_per_dim(struct plot_design *g, const struct source *s, const struct field *f, bool *blank,
                        struct err *e)
{
    const char *hash = strchr(f->name, '#');
    double *out = (double *)(void *)((char *)g + f->offset);

    for (int32_t i = 0; i < g->n_dims; i++) {
        char name[32];
        int32_t col;
        snprintf(name, sizeof name, "%.*s%d%s", (int)(hash - f->name), f->name, (int)i + 1, hash + 1);
        int rc = need_column(&col, s, name, e);
        if (!rc)
            rc = cell_as_number(&out[i], s, col, false, e);
        if (rc)
            return rc;
        *blank = *blank || !isfinite(out[i]);
    }
    return 0;
}

static int read_number(struct plot_design *g, const struct source *s, const struct field *f, bool *blank,
                       struct err *e)
{
    double *out = (double *)(void *)((char *)g + f->offset);
    int32_t col;
    int rc = need_column(&col, s, f->name, e);

    if (!rc)
        rc = cell_as_number(out, s, col, f->above_zero, e);
    *blank = *blank || !isfinite(*out);
    return rc;
}

static int read_column(struct plot_design *g, const struct source *s, const char *name, bool *blank,
                       struct err *e)
{
    const struct field *f;

    if (strcmp(name, "dims") == 0)
        return read_dims(g, s, e);
    if ((f = FIND_FIELD(text_fields, name)))
        return read_text_field(g, s, name, f->offset, e);
    if ((f = FIND_FIELD(number_fields, name)))
        return read_number(g, s, f, blank, e);
    f = FIND_FIELD(dim_fields, name);
    return f ? read_per_dim(g, s, f, blank, e) : 0;
}

static void free_design(struct plot_design *g)
{
    free(g->network);
    free(g->workload);
    free(g->objective);
    free(g->dims);
}

/* *blank tells that the row lacks a value the figure needs. */
static int read_design(struct plot_design *g, const struct source *s, bool *blank, struct err *e)
{
    *g = (struct plot_design){ .row = s->row + 1 };
    for (size_t i = 0; i < sizeof number_fields / sizeof number_fields[0]; i++)
        *(double *)(void *)((char *)g + number_fields[i].offset) = (double)NAN;
    *blank = false;
    for (const char *const *name = s->figure->columns; *name; name++) {
        int rc = read_column(g, s, *name, blank, e);
        if (rc)
            return rc;
    }
    return 0;
}

static bool cell_equals(const struct table *t, int64_t row, int32_t col, const char *value)
{
    const struct table_cell *cell = table_cell(t, row, col);
    double x;

    if (t->kinds[col] == TABLE_TEXT)
        return strcmp(cell->text ? cell->text : "", value) == 0;
    if (!num_parse_real(value, &x))
        return false;
    return t->kinds[col] == TABLE_REAL ? cell->real == x
                                       : cell->count != INT64_MIN && (double)cell->count == x;
}

/* Filters on one column are alternatives; every filtered column must agree. */
static bool passes(const struct source *s)
{
    const struct plot_where *w = s->opt->where;

    for (int32_t i = 0; i < s->opt->n_where; i++) {
        bool any = false;
        for (int32_t k = 0; k < s->opt->n_where && !any; k++)
            any = strcmp(w[k].column, w[i].column) == 0 &&
                  cell_equals(s->t, s->row, table_find(s->t, w[k].column), w[k].value);
        if (!any)
            return false;
    }
    return true;
}

static int check_filters(const struct source *s, struct err *e)
{
    for (int32_t i = 0; i < s->opt->n_where; i++) {
        const char *name = s->opt->where[i].column;
        if (table_find(s->t, name) >= 0)
            continue;
        const char *near = text_nearest(name, (const char *const *)s->t->names, (size_t)s->t->n_cols);
        return err_set(e, ERR_USAGE, "figure %s: filter: is on column \"%s\", need one of the CSV%s%s",
                       s->figure->name, name, near ? ", nearest is " : "", near ? near : "");
    }
    return 0;
}

/* Also the columns of rows that are not there: a header without rows is checked as well. */
static int check_columns(const struct source *s, struct err *e)
{
    int32_t col;
    int rc = need_column(&col, s, "status", e);

    for (const char *const *name = s->figure->columns; *name && !rc; name++)
        if (!strchr(*name, '#'))
            rc = need_column(&col, s, *name, e);
    return rc;
}

static bool is_solved(const struct source *s)
{
    return cell_equals(s->t, s->row, table_find(s->t, "status"), "solved");
}

int plot_data_read(struct plot_data *d, const struct table *t, const struct plot_figure *figure,
                   const struct plot_options *opt, struct err *e)
{
    struct source s = { .t = t, .figure = figure, .opt = opt };
    int64_t n_passed = 0;

    *d = (struct plot_data){ 0 };
    int rc = check_columns(&s, e);
    if (!rc)
        rc = check_filters(&s, e);
    if (rc)
        return rc;
    d->designs = calloc((size_t)t->n_rows + 1, sizeof *d->designs);
    if (!d->designs)
        return err_nomem(e, "the figure's rows");
    for (; s.row < t->n_rows; s.row++) {
        struct plot_design *g = &d->designs[d->n_designs];
        bool blank = false;
        if (!passes(&s))
            continue;
        n_passed++;
        if (!is_solved(&s))
            continue;
        rc = read_design(g, &s, &blank, e);
        if (rc || blank)
            free_design(g);
        if (rc)
            return rc;
        d->n_blank += blank;
        d->n_designs += !blank;
    }
    if (d->n_designs == 0)
        return err_set(
            e, ERR_PARSE,
            "figure %s: rows to draw: is 0 of %lld (%lld pass the filter, %lld of those are solved but "
            "lack a value), need at least 1",
            figure->name, (long long)t->n_rows, (long long)n_passed, (long long)d->n_blank);
    return 0;
}

void plot_data_free(struct plot_data *d)
{
    for (int64_t i = 0; i < d->n_designs; i++)
        free_design(&d->designs[i]);
    free(d->designs);
    *d = (struct plot_data){ 0 };
}

int32_t names_find(const struct names *n, const char *name)
{
    for (int32_t i = 0; i < n->n; i++)
        if (strcmp(n->list[i], name) == 0)
            return i;
    return -1;
}

int32_t names_add(struct names *n, const char *name)
{
    int32_t at = names_find(n, name);

    if (at >= 0)
        return at;
    const char **list = array_grow(n->list, n->n, &n->cap, sizeof *list);
    if (!list)
        return -1;
    n->list = list;
    n->list[n->n] = name;
    return n->n++;
}

void names_free(struct names *n)
{
    free(n->list);
    *n = (struct names){ 0 };
}
