#include "workloads/collective.h"

#include <assert.h>

const char *const collective_names[N_COLLECTIVES + 1] = {
    [COLLECTIVE_ALL_REDUCE] = "all-reduce",
    [COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
    [COLLECTIVE_ALL_GATHER] = "all-gather",
    [COLLECTIVE_ALL_TO_ALL] = "all-to-all",
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
    case N_COLLECTIVES:
        break;
    }
    assert(kind < N_COLLECTIVES);
}

double collective_share(const struct topo_dim *dim)
{
    /* The member at the end of a line has one link of B/2, and all but its own part must pass it. */
    double reach = dim->shape == TOPO_LINE && dim->size > 2 ? 0.5 : 1;
    return reach * dim->efficiency;
}

/* ceil(log2 n): halving-doubling; members beyond a power of two cost one step more. */
static int32_t switch_steps(int32_t n)
{
    int32_t steps = 0;
    while ((INT64_C(1) << steps) < n)
        steps++;
    return steps;
}

/* Steps of one pass of reduce-scatter or all-gather, or of an all-to-all, among n members. */
static int32_t pass_steps(enum topo_shape shape, bool all_to_all, int32_t n)
{
    if (n == 1)
        return 0;
    switch (shape) {
    case TOPO_RING:
        return all_to_all ? n / 2 : n - 1;
    case TOPO_LINE:
        return n - 1;
    case TOPO_FULL:
        return 1;
    case TOPO_SWITCH:
        return all_to_all ? 1 : switch_steps(n);
    }
    assert(shape <= TOPO_LINE);
    return 0;
}

double collective_latency_s(enum collective_kind kind, const int32_t *members, const struct topo_network *net)
{
    int32_t passes = kind == COLLECTIVE_ALL_REDUCE ? 2 : 1;
    double lat_s = 0;
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        lat_s += passes * pass_steps(dim->shape, kind == COLLECTIVE_ALL_TO_ALL, members[d]) * dim->lat_s;
    }
    return lat_s;
}
