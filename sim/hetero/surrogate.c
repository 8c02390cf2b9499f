#include "sim/hetero/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int hetero_surrogate_build(struct hetero_surrogate *g, int32_t n_layers, int32_t cap, double length,
                           double noise, struct err *e)
{
    size_t n = (size_t)cap;
    *g = (struct hetero_surrogate){
        .n_layers = n_layers, .cap = cap, .length = length, .noise = noise, .scale = 1
    };
    g->plans = calloc(n * (size_t)n_layers, sizeof *g->plans);
    g->factor = calloc(n * (n + 1) / 2, sizeof *g->factor);
    g->halves = calloc(n, sizeof *g->halves);
    g->room = calloc(n, sizeof *g->room);
    if (g->plans && g->factor && g->halves && g->room)
        return 0;
    hetero_surrogate_free(g);
    return err_nomem(e, "a model of plans");
}

void hetero_surrogate_free(struct hetero_surrogate *g)
{
    free(g->plans);
    free(g->factor);
    free(g->halves);
    free(g->room);
    *g = (struct hetero_surrogate){ 0 };
}

static double *factor_row(const struct hetero_surrogate *g, int32_t i)
{
    return g->factor + (size_t)i * ((size_t)i + 1) / 2;
}

static const hetero_id *plan_at(const struct hetero_surrogate *g, int32_t i)
{
    return g->plans + (size_t)i * (size_t)g->n_layers;
}

/* x with L x = k(plan, plans known), into g->room; returns x'x = k' K^-1 k. */
static double project(struct hetero_surrogate *g, const hetero_id *plan)
{
    double sum = 0, *x = g->room;
    for (int32_t i = 0; i < g->n; i++) {
        const double *row = factor_row(g, i);
        const hetero_id *known = plan_at(g, i);
        int32_t differ = 0;
        for (int32_t l = 0; l < g->n_layers; l++)
            differ += known[l] != plan[l];
        double left = exp(-differ / g->length);
        for (int32_t j = 0; j < i; j++)
            left -= row[j] * x[j];
        x[i] = left / row[i];
        sum += x[i] * x[i];
    }
    return sum;
}

bool hetero_surrogate_add(struct hetero_surrogate *g, const hetero_id *plan)
{
    double pivot = 1 + g->noise - project(g, plan), *row = factor_row(g, g->n);
    if (!(pivot > 0))
        return false;
    memcpy(row, g->room, (size_t)g->n * sizeof *row);
    row[g->n] = sqrt(pivot);
    memcpy(g->plans + (size_t)g->n * (size_t)g->n_layers, plan, (size_t)g->n_layers * sizeof *plan);
    g->n++;
    return true;
}

void hetero_surrogate_fit(struct hetero_surrogate *g, const double *targets)
{
    double *x = g->halves, sum = 0;
    g->mean = 0;
    for (int32_t i = 0; i < g->n; i++)
        g->mean += targets[i] / g->n;
    for (int32_t i = 0; i < g->n; i++)
        sum += (targets[i] - g->mean) * (targets[i] - g->mean);
    g->scale = sum > 0 ? sqrt(sum / g->n) : 1;
    for (int32_t i = 0; i < g->n; i++) {
        const double *row = factor_row(g, i);
        x[i] = (targets[i] - g->mean) / g->scale;
        for (int32_t j = 0; j < i; j++)
            x[i] -= row[j] * x[j];
        x[i] /= row[i];
    }
}

struct hetero_guess hetero_surrogate_guess(struct hetero_surrogate *g, const hetero_id *plan)
{
    /* k' K^-1 y is the product of the two halves, L^-1 k and L^-1 y. */
    double left = 1 - project(g, plan), mean = 0;
    for (int32_t i = 0; i < g->n; i++)
        mean += g->room[i] * g->halves[i];
    return (struct hetero_guess){ g->mean + g->scale * mean, g->scale * sqrt(fmax(0, left)) };
}

double hetero_expected_gain(const struct hetero_guess *g, double best)
{
    double gap = best - g->mean;
    if (!(g->deviation > 0))
        return fmax(0, gap);
    double z = gap / g->deviation;
    double density = exp(-z * z / 2) / sqrt(8 * atan(1)), below = erfc(-z / sqrt(2)) / 2;
    return fmax(0, gap * below + g->deviation * density);
}
