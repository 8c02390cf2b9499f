#include "sim/hetero/policy_cell.h"

#include <stddef.h>
#include <string.h>

#include "base/elementary.h"

int32_t policy_cell_gates(enum policy_cell cell)
{
    return cell == POLICY_LSTM ? 4 : 1;
}

static void lstm_forward(int32_t n, double *z, const double *c_before, double *c, double *tanh_c, double *h)
{
    const double *in = z, *forget = z + n, *out = z + 2 * (size_t)n, *fresh = z + 3 * (size_t)n;
    elementary_sigmoid(z, 3 * n);
    elementary_tanh(z + 3 * (size_t)n, n);
    for (int32_t j = 0; j < n; j++)
        tanh_c[j] = c[j] = (c_before ? forget[j] * c_before[j] : 0) + in[j] * fresh[j];
    elementary_tanh(tanh_c, n);
    for (int32_t j = 0; j < n; j++)
        h[j] = out[j] * tanh_c[j];
}

void policy_cell_forward(enum policy_cell cell, int32_t n, double *z, const double *c_before, double *c,
                         double *tanh_c, double *h)
{
    if (cell == POLICY_LSTM) {
        lstm_forward(n, z, c_before, c, tanh_c, h);
        return;
    }
    elementary_tanh(z, n);
    memcpy(h, z, (size_t)n * sizeof *h);
}

static void lstm_backward(int32_t n, const struct policy_cell_back *b)
{
    size_t w = (size_t)n;
    for (size_t j = 0; j < w; j++) {
        double in = b->gates[j], forget = b->gates[w + j], out = b->gates[2 * w + j],
               fresh = b->gates[3 * w + j], t = b->tanh_c[j], before = b->c_before ? b->c_before[j] : 0;
        double dc = b->dc[j] + b->dh[j] * out * (1 - t * t);
        b->dz[j] = dc * fresh * in * (1 - in);
        b->dz[w + j] = dc * before * forget * (1 - forget);
        b->dz[2 * w + j] = b->dh[j] * t * out * (1 - out);
        b->dz[3 * w + j] = dc * in * (1 - fresh * fresh);
        if (b->dc_before)
            b->dc_before[j] += dc * forget;
    }
}

void policy_cell_backward(enum policy_cell cell, int32_t n, const struct policy_cell_back *b)
{
    if (cell == POLICY_LSTM) {
        lstm_backward(n, b);
        return;
    }
    for (int32_t j = 0; j < n; j++)
        b->dz[j] = b->dh[j] * (1 - b->gates[j] * b->gates[j]);
}
