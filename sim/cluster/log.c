#include "sim/cluster/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int link_bins_build(struct link_bins *b, int32_t n_arcs, int32_t n_bins, double from_s, double width_s,
                    struct err *e)
{
    *b = (struct link_bins){ .n_arcs = n_arcs, .n_bins = n_bins, .from_s = from_s, .width_s = width_s };
    b->bytes = calloc((size_t)n_arcs * (size_t)n_bins + 1, sizeof *b->bytes);
    return b->bytes ? 0 : err_nomem(e, "bytes of links over time");
}

void link_bins_free(struct link_bins *b)
{
    free(b->bytes);
    *b = (struct link_bins){ 0 };
}

/* Twice as wide: bins 2k and 2k + 1 become bin k. */
static void bins_widen(struct link_bins *b)
{
    size_t row = (size_t)b->n_arcs;
    for (size_t k = 0; k < (size_t)b->n_bins / 2; k++) {
        double *to = b->bytes + k * row;
        const double *first = b->bytes + 2 * k * row, *second = first + row;
        for (size_t a = 0; a < row; a++)
            to[a] = first[a] + second[a];
    }
    size_t half = (size_t)b->n_bins / 2 * row;
    memset(b->bytes + half, 0, half * sizeof *b->bytes);
    b->width_s *= 2;
}

void link_bins_add(struct link_bins *b, int32_t arc, double bytes, double from_s, double to_s)
{
    if (!(to_s > from_s && bytes > 0))
        return;
    while (to_s > b->from_s + b->n_bins * b->width_s)
        bins_widen(b);
    for (int32_t k = (int32_t)((from_s - b->from_s) / b->width_s); k < b->n_bins; k++) {
        double begin = fmax(from_s, b->from_s + k * b->width_s);
        double end = fmin(to_s, b->from_s + (k + 1) * b->width_s);
        if (begin >= to_s)
            break;
        if (end > begin)
            b->bytes[(size_t)k * (size_t)b->n_arcs + (size_t)arc] +=
                bytes * ((end - begin) / (to_s - from_s));
    }
}
