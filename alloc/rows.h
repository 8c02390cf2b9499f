/** @file Constraints as users write them, turned into rows of the split problem. */
#ifndef ALLOC_ROWS_H
#define ALLOC_ROWS_H

#include "alloc/problem.h"

/** Prices a constraint may speak of; shape [n_dims] each. NULL: "usd" and "nic_usd" are refused. */
struct alloc_prices {
    const double *usd_per_Bps;
    const double *nic_usd_per_Bps;
    double usd_fixed; /**< part of "usd" that no bandwidth changes */
};

/** Growing list; zero-initialise, release with alloc_rows_free(). */
struct alloc_rows {
    struct alloc_row *rows; /**< shape [n], owned */
    int32_t n, cap;
};

/**
 * Add one constraint in GB/s over dimension names, plus `total` (sum over
 * dimensions, of a fabric its injection), `usd` and `nic_usd` (cluster price in USD): "pod + 2*node <= 200".
 * ERR_PARSE with "col N: ..."; ERR_NOMEM.
 */
int alloc_add_text(struct alloc_rows *r, const struct topo_network *net, const struct alloc_prices *prices,
                   const char *text, struct err *e);

/** Add what the network itself says: "pod.bw_GBps" (==), "pod.min_GBps", "pod.max_GBps"; "pod.up1.taper": of
 * a fabric's levels, what is fixed (==), or at most what the level below has (<=). */
int alloc_add_network(struct alloc_rows *r, const struct topo_network *net, struct err *e);

/** Add "total_GBps": sum of all bandwidths, of fabrics their injection, == total_Bps. */
int alloc_add_total(struct alloc_rows *r, const struct topo_network *net, double total_Bps, struct err *e);

void alloc_rows_free(struct alloc_rows *r);

#endif
