#include "topo/shape.h"

#include <assert.h>
#include <math.h>

int64_t topo_shape_links(enum topo_shape s, int64_t n)
{
    switch (s) {
    case TOPO_RING:
        return n == 2 ? 1 : n;
    case TOPO_FULL:
        return n * (n - 1) / 2;
    case TOPO_SWITCH:
        return n;
    case TOPO_LINE:
        return n - 1;
    }
    assert(false);
    return 0;
}

int64_t topo_shape_degree_max(enum topo_shape s, int64_t n)
{
    switch (s) {
    case TOPO_RING:
    case TOPO_LINE:
        return n == 2 ? 1 : 2;
    case TOPO_FULL:
        return n - 1;
    case TOPO_SWITCH:
        return 1;
    }
    assert(false);
    return 0;
}

int64_t topo_shape_degree_min(enum topo_shape s, int64_t n)
{
    return s == TOPO_LINE ? 1 : topo_shape_degree_max(s, n);
}

int64_t topo_shape_diameter(enum topo_shape s, int64_t n)
{
    switch (s) {
    case TOPO_RING:
        return n / 2;
    case TOPO_FULL:
        return 1;
    case TOPO_SWITCH:
        return 2;
    case TOPO_LINE:
        return n - 1;
    }
    assert(false);
    return 0;
}

double topo_shape_distance_sum(enum topo_shape s, int64_t n)
{
    double x = (double)n;
    switch (s) {
    case TOPO_RING:
        return x * floor(x * x / 4);
    case TOPO_FULL:
        return x * (x - 1);
    case TOPO_SWITCH:
        return 2 * x * (x - 1);
    case TOPO_LINE: /* distance k occurs 2(n-k) times */
        return (x * x * x - x) / 3;
    }
    assert(false);
    return NAN;
}

double topo_shape_mean_distance(enum topo_shape s, int64_t n)
{
    return topo_shape_distance_sum(s, n) / ((double)n * (double)(n - 1));
}

int64_t topo_shape_halving_links(enum topo_shape s, int64_t n)
{
    switch (s) {
    case TOPO_RING:
        return n == 2 ? 1 : 2;
    case TOPO_FULL:
        return (n / 2) * (n - n / 2);
    case TOPO_SWITCH:
        return n / 2;
    case TOPO_LINE:
        return 1;
    }
    assert(false);
    return 0;
}

int64_t topo_shape_connectivity(enum topo_shape s, int64_t n)
{
    switch (s) {
    case TOPO_RING:
        return n == 2 ? 1 : 2;
    case TOPO_FULL:
        return n - 1;
    case TOPO_SWITCH:
    case TOPO_LINE:
        return 1;
    }
    assert(false);
    return 0;
}

double topo_shape_link_bw(enum topo_shape s, int64_t n, double bw_Bps)
{
    /* A member's links share its bandwidth evenly; at the ends of a line half of it has no link. */
    return bw_Bps / (double)topo_shape_degree_max(s, n);
}

double topo_shape_link_lat(enum topo_shape s, double lat_s)
{
    return s == TOPO_SWITCH ? lat_s / 2 : lat_s;
}
