#include "sim/hetero/adam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The paper's recommended values. */
#define BETA_1  0.9
#define BETA_2  0.999
#define EPSILON 1e-8

int adam_build(struct adam *a, int32_t n, struct err *e)
{
    *a = (struct adam){ .n = n };
    a->mean = calloc(2 * (size_t)n, sizeof *a->mean);
    if (!a->mean)
        return err_nomem(e, "steps of a policy");
    a->square = a->mean + n;
    adam_restart(a);
    return 0;
}

void adam_free(struct adam *a)
{
    free(a->mean);
    *a = (struct adam){ 0 };
}

void adam_restart(struct adam *a)
{
    memset(a->mean, 0, 2 * (size_t)a->n * sizeof *a->mean);
    a->mean_decay = a->square_decay = 1;
}

void adam_step(struct adam *a, double *x, const double *gradient, double rate)
{
    a->mean_decay *= BETA_1;
    a->square_decay *= BETA_2;
    double of_mean = rate / (1 - a->mean_decay), of_square = 1 / (1 - a->square_decay);
    for (int32_t i = 0; i < a->n; i++) {
        double g = gradient[i];
        a->mean[i] = BETA_1 * a->mean[i] + (1 - BETA_1) * g;
        a->square[i] = BETA_2 * a->square[i] + (1 - BETA_2) * g * g;
        x[i] += of_mean * a->mean[i] / (sqrt(of_square * a->square[i]) + EPSILON);
    }
}
