#include "sim/hetero/rl_features.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/elementary.h"

/* 1, the place in the model, then kinds, numbers, two sizes, two seconds of each type. */
enum { PLAIN = 2, SIZES = 2, SECONDS = 2 };

int32_t hetero_rl_n_features(const struct hetero_profile *p)
{
    return PLAIN + N_HETERO_KINDS + p->n_layers + SIZES + SECONDS * p->n_types;
}

/* Mean 0 and variance 1 of a column. */
static void standardise(double *x, int32_t rows, int32_t width)
{
    double mean = 0, square = 0;
    for (int32_t r = 0; r < rows; r++)
        mean += x[(size_t)r * (size_t)width] / rows;
    for (int32_t r = 0; r < rows; r++) {
        double *cell = &x[(size_t)r * (size_t)width];
        *cell -= mean;
        square += *cell * *cell / rows;
    }
    for (int32_t r = 0; r < rows; r++)
        x[(size_t)r * (size_t)width] *= square > 1e-12 ? 1 / sqrt(square) : 0;
}

/* Logarithm of a size or time, @p least more so that 0 has one. What nobody checks may be beyond numbers. */
static double log_of(double x, double least)
{
    return elementary_log(fmin(fmax(x, 0), DBL_MAX / 2) + least);
}

static void fill_measures(double *x, const struct hetero_profile *p, int32_t layer)
{
    const struct hetero_layer *l = &p->layers[layer];
    *x++ = log_of(l->in_B, 1);
    *x++ = log_of(l->weight_B, 1);
    for (int32_t t = 0; t < p->n_types; t++) {
        size_t at = (size_t)layer * (size_t)p->n_types + (size_t)t;
        *x++ = log_of(p->compute_s[at], 1e-9);
        *x++ = log_of(p->sync_s[at] + p->handover_s[at], 1e-9);
    }
}

void hetero_rl_features(double *x, const struct hetero_profile *p)
{
    int32_t n = hetero_rl_n_features(p), measures = PLAIN + N_HETERO_KINDS + p->n_layers;
    memset(x, 0, (size_t)p->n_layers * (size_t)n * sizeof *x);
    for (int32_t l = 0; l < p->n_layers; l++) {
        double *row = x + (size_t)l * (size_t)n;
        row[0] = 1;
        row[1] = (l + 0.5) / p->n_layers - 0.5;
        row[PLAIN + p->layers[l].kind] = 1;
        row[PLAIN + N_HETERO_KINDS + l] = 1;
        fill_measures(row + measures, p, l);
    }
    for (int32_t j = measures; j < n; j++)
        standardise(x + j, p->n_layers, n);
}
