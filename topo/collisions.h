/** @file Flows that a hash puts on equal links: how full the fullest is. */
#ifndef TOPO_COLLISIONS_H
#define TOPO_COLLISIONS_H

#include <stdint.h>

/**
 * Flows on the fullest link, in the mean, when each of @p flows >= 1 takes one of @p links >= 1 at random,
 * all alike, and this is done @p sets > 0 times (of which the fullest counts).
 *
 * Up to 32 flows it is exact. Above, bins count as independent but for their fixed sum, P(all <= c) = (1 - p
 * links/(links-1))^(links-1) with p the binomial chance of more than c on one: exact for two links, at most
 * 4 % too low in one set, 2 % in two, 1 % in four or more. O(flows^2 log links), above O(sqrt(flows/links)).
 */
double topo_fullest(int64_t flows, int64_t links, double sets);

#endif
