#include "workloads/collective.h"

#include <assert.h>

const char *const collective_names[N_COLLECTIVES + 1] = {
    [COLLECTIVE_ALL_REDUCE] = "all-reduce", [COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
    [COLLECTIVE_ALL_GATHER] = "all-gather", [COLLECTIVE_ALL_TO_ALL] = "all-to-all",
    [COLLECTIVE_BROADCAST] = "broadcast",   [COLLECTIVE_SEND] = "send",
};

/* Each dimension passes on 1/n_d of what it got, so dimension d starts with S/(n_1...n_{d-1}). */
static void scatter_traffic(double *out, double bytes, const int32_t *members, int32_t n_dims)
{
    double share_B = bytes;
    for (int32_t d = 0; d < n_dims; d++) {
        share_B /= members[d];
        out[d] = share_B * (members[d] - 1);
    }
}

/* The mirror image: outermost first, each dimension multiplies what an NPU holds by n_d. */
static void gather_traffic(double *out, double bytes, const int32_t *members, int32_t n_dims)
{
    double held_B = bytes;
    for (int32_t d = n_dims; d-- > 0;) {
        out[d] = held_B * (members[d] - 1);
        held_B *= members[d];
    }
}

/* Every dimension carries the whole buffer but for the part that stays at its place. */
static void all_to_all_traffic(double *out, double bytes, const int32_t *members, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        out[d] = bytes / members[d] * (members[d] - 1);
}

void collective_traffic(double *out, enum collective_kind kind, double bytes, const int32_t *members,
                        int32_t n_dims)
{
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        /* Reduce-scatter of S, then all-gather of the S/P that is left: the same bytes back. */
        scatter_traffic(out, 2 * bytes, members, n_dims);
        return;
    case COLLECTIVE_REDUCE_SCATTER:
        scatter_traffic(out, bytes, members, n_dims);
        return;
    case COLLECTIVE_ALL_GATHER:
        gather_traffic(out, bytes, members, n_dims);
        return;
    case COLLECTIVE_ALL_TO_ALL:
        all_to_all_traffic(out, bytes, members, n_dims);
        return;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_SEND:
        for (int32_t d = 0; d < n_dims; d++)
            out[d] = members[d] > 1 ? bytes : 0;
        return;
    case N_COLLECTIVES:
        break;
    }
    assert(kind < N_COLLECTIVES);
}

double collective_reach(const struct topo_dim *dim)
{
    /* The member at the end of a line has one link of B/2, and all but its own part must pass it. */
    return dim->shape == TOPO_LINE && dim->size > 2 ? 0.5 : 1;
}

double collective_share(const struct topo_dim *dim)
{
    return collective_reach(dim) * dim->efficiency;
}

double collective_best_share(const struct topo_dim *dim)
{
    double best = dim->efficiency;
    for (int32_t i = 0; i < dim->n_regimes; i++)
        if (dim->regimes[i].efficiency > best)
            best = dim->regimes[i].efficiency;
    return collective_reach(dim) * best;
}
