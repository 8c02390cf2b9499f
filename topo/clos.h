/** @file How many switches and cables a folded Clos (fat tree) takes. */
#ifndef TOPO_CLOS_H
#define TOPO_CLOS_H

#include <stdint.h>

#include "base/err.h"

struct topo_dim;

enum { TOPO_CLOS_TIERS = 4 };

/** Ordered pairs of members of the fat tree that begins at @p dim, of nodes where they share a spine, that
 * meet in tier @p k = 0.. or below; of a member with itself in tier 0. */
double topo_tree_pairs(const struct topo_dim *dim, int32_t k);

/** A folded Clos: what it takes to join the ends. */
struct topo_clos {
    int32_t tiers;
    int64_t switches;                  /**< all tiers; each tier rounded up */
    int64_t per_tier[TOPO_CLOS_TIERS]; /**< leaf first */
    int64_t end_links, up_links;       /**< NPU-to-leaf links; links between switches, all tiers */
};

/** The most ends d of a leaf of @p radix ports with d + ceil(d/taper) <= radix: near radix taper/(taper + 1).
 */
int64_t topo_clos_leaf_ends(int64_t radix, double taper);

/**
 * Count for switches of @p radix ports, leaf taper @p taper (1 = full bisection),
 * @p rails equal independent networks. Fewest tiers (1 to 4) that reach the ends.
 *
 * One tier: as many rails as fit share a switch. More: a leaf has d ends, the most with
 * d + ceil(d/taper) <= radix, and ceil(d/taper) links up; tiers between leaf and top have
 * radix/2 ports down and no taper; the top has radix ports down; every layer is rounded up.
 * Reach: 2 tiers radix*d ends, each further tier radix/2 times that.
 *
 * Agrees with NVIDIA's DGX SuperPOD reference architecture RA-11333-001 V11 table 3 (radix
 * 64, 1,024 to 16,384 ends) and all of table 4 but one: for 768 ends it builds 24 leaves and
 * 16 spines, so that the 32 links of a leaf spread evenly (topo_count_even_clos()). Here the ports decide:
 * 24 + 12.
 *
 * @param ends    1 to 2^56, a multiple of @p rails.
 * @param radix   2 to 65,536 ports at the link rate.
 * @param taper   1 to 64, down:up of the leaves.
 * @param rails   >= 1.
 * @return 0 or ERR_RANGE (argument out of range, no such network with 4 tiers, rails do not
 *         divide ends).
 */
int topo_count_clos(struct topo_clos *c, int64_t ends, int64_t radix, double taper, int64_t rails,
                    struct err *e);

/** The least divisor of @p n that is at least @p least, 1 to n: so many boxes get equally many of n links. */
int64_t topo_even_boxes(int64_t n, int64_t least);

/**
 * The same with links spread evenly: every box has as many links to each of those above it that it reaches,
 * so their number divides the links up of a box, and pods are equal. For 768 ends on 64 ports 24 + 16, as the
 * reference architecture has it. All leaves are wired alike, the last one too.
 *
 * @return also ERR_RANGE where leaves are too many for the top and form no equal pods (a prime number of
 * them).
 */
int topo_count_even_clos(struct topo_clos *c, int64_t ends, int64_t radix, double taper, int64_t rails,
                         struct err *e);

#endif
