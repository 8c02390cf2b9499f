/** @file How the members of one dimension are joined: links, degrees, distances and cuts in closed form. */
#ifndef TOPO_SHAPE_H
#define TOPO_SHAPE_H

#include "topo/network.h"

/*
 * All functions: one group of n >= 2 members, O(1), pure. A switch is one more
 * vertex with a link to every member; a message between members passes two links.
 */

/** Links of one group: ring n (of two: 1), full n(n-1)/2, switch n, line n-1. */
int64_t topo_shape_links(enum topo_shape s, int64_t n);

/** Most and least links at one member (in a line the ends have fewer). */
int64_t topo_shape_degree_max(enum topo_shape s, int64_t n);
int64_t topo_shape_degree_min(enum topo_shape s, int64_t n);

/** Links on the shortest path between the two members farthest apart. */
int64_t topo_shape_diameter(enum topo_shape s, int64_t n);

/**
 * Sum of the distances of all ordered pairs of members [links]: ring n floor(n^2/4),
 * full n(n-1), switch 2n(n-1), line (n^3-n)/3.
 */
double topo_shape_distance_sum(enum topo_shape s, int64_t n);

/** Mean of that over ordered pairs of different members. */
double topo_shape_mean_distance(enum topo_shape s, int64_t n);

/**
 * Links to cut between the first floor(n/2) members and the others, switch on the
 * side where that takes fewer: ring 2 (of two: 1), full floor(n/2) ceil(n/2), switch floor(n/2), line 1.
 */
int64_t topo_shape_halving_links(enum topo_shape s, int64_t n);

/** Least number of links whose loss separates some member from another: ring 2 (of two: 1), full n-1, switch
 * 1, line 1. */
int64_t topo_shape_connectivity(enum topo_shape s, int64_t n);

/** Capacity of one link, one direction [B/s], where one member has @p bw_Bps for the dimension; NaN gives
 * NaN. */
double topo_shape_link_bw(enum topo_shape s, int64_t n, double bw_Bps);

/** Latency of one link [s], so that a message between neighbours takes @p lat_s: half of it at a switch. */
double topo_shape_link_lat(enum topo_shape s, double lat_s);

#endif
