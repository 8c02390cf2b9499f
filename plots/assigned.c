#include "plots/assigned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct assigned *x;
    struct rows r;
    int32_t scheduler, seed, layer, name, kind, type, stage, units, price;
    struct names seeds;  /* owned texts */
    int32_t *first_seed; /* shape [points.n][ASSIGNED_MAX_PLANS], owned; -1 = no plan yet */
};

static int find_columns(struct reader *y, struct err *e)
{
    const struct {
        int32_t *col;
        const char *name;
    } wanted[] = { { &y->scheduler, "scheduler" }, { &y->seed, "seed" },  { &y->layer, "layer" },
                   { &y->name, "name" },           { &y->kind, "kind" },  { &y->type, "type" },
                   { &y->stage, "stage" },         { &y->units, "units" } };
    int rc = 0;

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && !rc; i++)
        rc = rows_column(wanted[i].col, &y->r, wanted[i].name, e);
    y->price = table_find(y->r.t, "unit_usd_per_h");
    if (y->price < 0)
        y->price = table_find(y->r.t, "usd_per_h");
    return rc;
}

/* Layers count from 1. */
static int read_layer(int32_t *out, const struct reader *y, struct err *e)
{
    int rc = rows_count(out, &y->r, y->layer, ASSIGNED_MAX_LAYERS, e);

    if (!rc && *out == 0)
        return err_set(e, ERR_PARSE, "figure %s: row %lld, column layer: is 0, need 1 to %d",
                       y->r.figure->name, (long long)y->r.row + 1, ASSIGNED_MAX_LAYERS);
    return rc;
}

/* Types of all rows; schedulers and the most layers of those that pass. */
static int survey(struct reader *y, struct err *e)
{
    struct assigned *x = y->x;
    int32_t at, layer;
    int rc = 0;

    for (y->r.row = 0; y->r.row < y->r.t->n_rows && !rc; y->r.row++) {
        rc = rows_name(&at, &x->types, &y->r, y->type, e);
        if (rc || !rows_pass(&y->r))
            continue;
        rc = rows_name(&at, &x->schedulers, &y->r, y->scheduler, e);
        if (!rc)
            rc = read_layer(&layer, y, e);
        if (!rc && layer > x->n_layers)
            x->n_layers = layer;
    }
    x->n_plans = x->schedulers.n < ASSIGNED_MAX_PLANS ? x->schedulers.n : ASSIGNED_MAX_PLANS;
    return rc;
}

static int alloc_cells(struct reader *y, struct err *e)
{
    struct assigned *x = y->x;
    size_t n_plans = (size_t)x->points.n * (size_t)x->n_plans, n_layers = (size_t)x->n_layers;

    x->cells = calloc(n_plans * n_layers + 1, sizeof *x->cells);
    x->layers = calloc((size_t)x->points.n * n_layers + 1, sizeof *x->layers);
    y->first_seed = calloc(n_plans + 1, sizeof *y->first_seed);
    if (!x->cells || !x->layers || !y->first_seed)
        return err_nomem(e, "the figure's plans");
    for (size_t i = 0; i < n_plans * n_layers; i++)
        x->cells[i].type = -1;
    for (size_t i = 0; i < (size_t)x->points.n * n_layers; i++)
        x->layers[i] = -1;
    for (size_t i = 0; i < n_plans; i++)
        y->first_seed[i] = -1;
    return 0;
}

static int read_cell(struct assigned_cell *out, int32_t *word, struct reader *y, struct err *e)
{
    struct text name = { 0 };
    int rc = rows_name(&out->type, &y->x->types, &y->r, y->type, e);

    out->unit_usd_per_h = (double)NAN;
    if (!rc)
        rc = rows_count(&out->stage, &y->r, y->stage, ASSIGNED_MAX_LAYERS, e);
    if (!rc)
        rc = rows_number(&out->units, &y->r, y->units, e);
    if (!rc && y->price >= 0)
        rc = rows_number(&out->unit_usd_per_h, &y->r, y->price, e);
    if (!rc)
        rc = rows_text(&name, &y->r, y->name, e);
    if (!rc && *word < 0)
        rc = rows_name(word, &y->x->words, &y->r, name.n > 0 ? y->name : y->kind, e);
    text_free(&name);
    return rc;
}

static int read_row(struct reader *y, struct err *e)
{
    struct assigned *x = y->x;
    int32_t point, plan = 0, seed = 0, layer = 0;
    int rc = points_find(&point, &x->points, &y->r, e);

    if (!rc)
        rc = rows_name(&plan, &x->schedulers, &y->r, y->scheduler, e);
    if (rc || point < 0 || plan >= x->n_plans)
        return rc;
    rc = rows_name(&seed, &y->seeds, &y->r, y->seed, e);
    if (!rc)
        rc = read_layer(&layer, y, e);
    if (rc)
        return rc;
    int32_t *first = &y->first_seed[point * x->n_plans + plan];
    *first = *first < 0 ? seed : *first;
    if (*first != seed)
        return 0;
    struct assigned_cell *cell = &x->cells[((int64_t)point * x->n_plans + plan) * x->n_layers + layer - 1];
    if (cell->type >= 0) {
        x->n_again++;
        return 0;
    }
    return read_cell(cell, &x->layers[(int64_t)point * x->n_layers + layer - 1], y, e);
}

/* The seed of the plans: blank is that of a scheduler that draws nothing. */
static int name_seed(struct reader *y, struct err *e)
{
    struct assigned *x = y->x;
    const char *seed = "";

    for (int32_t i = 0; i < x->points.n * x->n_plans; i++) {
        const char *own = y->first_seed[i] < 0 ? "" : y->seeds.list[y->first_seed[i]];
        x->seeds_differ = x->seeds_differ || (own[0] && seed[0] && strcmp(own, seed) != 0);
        seed = own[0] ? own : seed;
    }
    if (!x->seeds_differ)
        text_puts(&x->seed, seed);
    return text_check(&x->seed, e);
}

int assigned_read(struct assigned *x, const struct rows *r, struct err *e)
{
    struct reader y = { .x = x, .r = *r };
    int rc = points_read(&x->points, r, ASSIGNED_MAX_POINTS, e);

    if (!rc)
        rc = find_columns(&y, e);
    if (!rc)
        rc = survey(&y, e);
    if (!rc)
        rc = alloc_cells(&y, e);
    for (y.r.row = 0; y.r.row < y.r.t->n_rows && !rc; y.r.row++)
        if (rows_pass(&y.r))
            rc = read_row(&y, e);
    if (!rc)
        rc = name_seed(&y, e);
    names_free_copies(&y.seeds);
    free(y.first_seed);
    return rc;
}

void assigned_free(struct assigned *x)
{
    points_free(&x->points);
    names_free_copies(&x->schedulers);
    names_free_copies(&x->types);
    names_free_copies(&x->words);
    text_free(&x->seed);
    free(x->cells);
    free(x->layers);
    *x = (struct assigned){ 0 };
}
