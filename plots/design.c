#include "plots/design.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plots/phrases.h"
#include "plots/rows.h"

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
    { "fits", offsetof(struct plot_design, fits), false },
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
    { "mfu", offsetof(struct plot_design, mfu), true },
    { "useful_s", offsetof(struct plot_design, useful_s), false },
    { "recompute_s", offsetof(struct plot_design, recompute_s), false },
    { "optimizer_s", offsetof(struct plot_design, optimizer_s), false },
    { "bubble_s", offsetof(struct plot_design, bubble_s), false },
    { "tp_s", offsetof(struct plot_design, tp_s), false },
    { "cp_s", offsetof(struct plot_design, cp_s), false },
    { "ep_s", offsetof(struct plot_design, ep_s), false },
    { "dp_s", offsetof(struct plot_design, dp_s), false },
    { "pp_s", offsetof(struct plot_design, pp_s), false },
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

static int read_text_field(struct plot_design *g, const struct rows *r, const char *name, size_t offset,
                           struct err *e)
{
    struct text cell = { 0 };
    int32_t col;

    int rc = rows_column(&col, r, name, e);
    if (!rc)
        rc = rows_text(&cell, r, col, e);
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
static int read_dims(struct plot_design *g, const struct rows *r, struct err *e)
{
    double n = 0;
    int32_t col;
    int rc = rows_column(&col, r, "n_dims", e);

    if (!rc)
        rc = rows_above_zero(&n, r, col, e);
    if (!rc)
        rc = read_text_field(g, r, "dims", offsetof(struct plot_design, dims), e);
    if (rc)
        return rc;
    if (!(n >= 1 && n <= PLOT_MAX_DIMS && n == floor(n)))
        return err_set(e, ERR_PARSE,
                       "figure %s: row %lld, column n_dims: is %g, need a whole number, 1 to %d",
                       r->figure->name, (long long)r->row + 1, n, PLOT_MAX_DIMS);
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
                       r->figure->name, (long long)r->row + 1, (int)g->n_dims, (int)n);
    return 0;
}

static int read_plan(struct plot_design *g, const struct rows *r, struct err *e)
{
    struct text plan = { 0 };
    int32_t col;
    int rc = rows_column(&col, r, "plan", e);

    if (!rc)
        rc = phrases_put_plan(&plan, r, col, e);
    if (!rc)
        rc = phrases_put_axes(&plan, r, e);
    if (!rc) {
        g->plan = strdup(text_str(&plan));
        rc = g->plan ? 0 : err_nomem(e, "the figure's rows");
    }
    text_free(&plan);
    return rc;
}

static int read_per_dim(struct plot_design *g, const struct rows *r, const struct field *f, bool *blank,
                        struct err *e)
{
    const char *hash = strchr(f->name, '#');
    double *out = (double *)(void *)((char *)g + f->offset);

    for (int32_t i = 0; i < g->n_dims; i++) {
        char name[32];
        int32_t col;
        snprintf(name, sizeof name, "%.*s%d%s", (int)(hash - f->name), f->name, (int)i + 1, hash + 1);
        int rc = rows_column(&col, r, name, e);
        if (!rc)
            rc = rows_number(&out[i], r, col, e);
        if (rc)
            return rc;
        *blank = *blank || !isfinite(out[i]);
    }
    return 0;
}

static int read_number(struct plot_design *g, const struct rows *r, const struct field *f, bool *blank,
                       struct err *e)
{
    double *out = (double *)(void *)((char *)g + f->offset);
    int32_t col;
    int rc = rows_column(&col, r, f->name, e);

    if (!rc)
        rc = f->above_zero ? rows_above_zero(out, r, col, e) : rows_number(out, r, col, e);
    *blank = *blank || !isfinite(*out);
    return rc;
}

static int read_column(struct plot_design *g, const struct rows *r, const char *name, bool *blank,
                       struct err *e)
{
    const struct field *f;

    if (strcmp(name, "dims") == 0)
        return read_dims(g, r, e);
    if (strcmp(name, "plan") == 0)
        return read_plan(g, r, e);
    if ((f = FIND_FIELD(text_fields, name)))
        return read_text_field(g, r, name, f->offset, e);
    if ((f = FIND_FIELD(number_fields, name)))
        return read_number(g, r, f, blank, e);
    f = FIND_FIELD(dim_fields, name);
    return f ? read_per_dim(g, r, f, blank, e) : 0;
}

static void free_design(struct plot_design *g)
{
    free(g->network);
    free(g->workload);
    free(g->objective);
    free(g->dims);
    free(g->plan);
    free(g->fits);
}

/* *blank tells that the row lacks a value the figure needs. */
static int read_design(struct plot_design *g, const struct rows *r, bool *blank, struct err *e)
{
    *g = (struct plot_design){ .row = r->row + 1 };
    for (size_t i = 0; i < sizeof number_fields / sizeof number_fields[0]; i++)
        *(double *)(void *)((char *)g + number_fields[i].offset) = (double)NAN;
    *blank = false;
    for (const char *const *name = r->figure->columns; *name; name++) {
        int rc = read_column(g, r, *name, blank, e);
        if (rc)
            return rc;
    }
    return 0;
}

int plot_data_read(struct plot_data *d, const struct table *t, const struct plot_figure *figure,
                   const struct plot_options *opt, struct err *e)
{
    struct rows r = { .t = t, .figure = figure, .opt = opt };
    int64_t n_passed = 0;
    int32_t status;

    *d = (struct plot_data){ 0 };
    int rc = rows_column(&status, &r, "status", e);
    if (!rc)
        rc = rows_check(&r, e);
    if (rc)
        return rc;
    d->designs = calloc((size_t)t->n_rows + 1, sizeof *d->designs);
    if (!d->designs)
        return err_nomem(e, "the figure's rows");
    for (; r.row < t->n_rows; r.row++) {
        struct plot_design *g = &d->designs[d->n_designs];
        bool blank = false;
        if (!rows_pass(&r))
            continue;
        n_passed++;
        if (!rows_equal(&r, status, "solved"))
            continue;
        rc = read_design(g, &r, &blank, e);
        if (rc || blank)
            free_design(g);
        if (rc)
            return rc;
        d->n_blank += blank;
        d->n_designs += !blank;
    }
    if (d->n_designs == 0)
        return rows_none_left(&r, n_passed, d->n_blank, "are solved but ", e);
    return 0;
}

void plot_data_free(struct plot_data *d)
{
    for (int64_t i = 0; i < d->n_designs; i++)
        free_design(&d->designs[i]);
    free(d->designs);
    *d = (struct plot_data){ 0 };
}

static bool all_have(const struct plot_data *d, int64_t n, const char *phrase, size_t n_phrase)
{
    for (int64_t i = 0; i < n; i++)
        if (!phrases_have(d->designs[i].plan, phrase, n_phrase))
            return false;
    return true;
}

void plot_data_put_plan(struct text *out, const struct plot_data *d, int64_t n, const struct plot_design *g,
                        enum plot_plan part)
{
    const char *at = g->plan ? g->plan : "", *joint = out->n ? " · " : "";
    size_t k;

    for (const char *p; (p = phrases_next(&at, &k));) {
        bool tab = *p == '\t';
        if ((part == PLOT_PLAN_SHORT && tab) || all_have(d, n, p, k) != (part == PLOT_PLAN_COMMON))
            continue;
        text_puts(out, joint);
        text_add(out, p + tab, k - tab);
        joint = ", ";
    }
}
