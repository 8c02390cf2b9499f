/** @file Bundles and links of lockstep.h, as its two files see them. */
#ifndef SIM_EVENTS_LOCKSTEP_MODEL_H
#define SIM_EVENTS_LOCKSTEP_MODEL_H

#include <stdbool.h>

#include "sim/events/lockstep.h"

/** Neck of a bundle that has no rate yet. */
enum { LOCKSTEP_NEW = -1 };

enum { LOCKSTEP_SHELVES = 1024 };

/** A bundle on a link. */
struct lockstep_seat {
    int32_t bundle;
    int32_t at;    /**< among the uses of the bundle */
    int32_t count; /**< transfers */
};

struct lockstep_link {
    double bw_Bps;
    double load_Bps;             /**< by the rates as they stand; up to rounding */
    double left_Bps;             /**< while rates are found: what those that have theirs leave */
    int64_t open;                /**< transfers without a rate so far */
    int32_t sharers;             /**< bundles among those at first */
    struct lockstep_seat *seats; /**< shape [n], owned */
    int32_t n, cap;
    int32_t necks; /**< bundles whose bottleneck it is */
    int32_t age;   /**< changes of load_Bps since it was summed up */
    int32_t next;  /**< behind it on the shelf, -1: none */
    int32_t mark;
    bool dirty; /**< somebody came or went */
};

struct lockstep_bundle {
    struct lockstep_use *uses; /**< shape [n], owned; NULL: not there */
    int32_t *seat;             /**< shape [n], where it sits on the link of each use; lies behind uses */
    int32_t n;                 /**< the link of its cap counts, where it has one */
    double rate_Bps, next_Bps;
    int32_t neck; /**< link that keeps it from being faster */
    int32_t mark;
    bool open;
};

/** What a link would give to each transfer without a rate. */
struct lockstep_offer {
    double Bps;
    int32_t link;
};

struct lockstep {
    int32_t n_links, n_bundles;
    /** Shape [n_links + n_bundles], owned. The cap of bundle b is link n_links + b, which nobody else uses.
     */
    struct lockstep_link *links;
    struct lockstep_bundle *bundles; /**< shape [n_bundles], owned */
    int32_t *dirty, *near_links;     /**< shapes [n_links + n_bundles], owned */
    int32_t n_dirty, n_near_links;
    int32_t *near_bundles; /**< shape [n_bundles], owned; those that get a new rate */
    int32_t n_near_bundles;
    int32_t *changed;              /**< shape [n_bundles], owned */
    struct lockstep_offer *offers; /**< shape [n_links + n_bundles], owned; a heap, of one shelf */
    int32_t n_offers;
    int32_t shelves[LOCKSTEP_SHELVES]; /**< first link of each; links are on one at most */
    int32_t shelf;                     /**< whose links are in the heap */
    uint64_t lowest;                   /**< what shelf 0 begins with */
    int32_t n_open;                    /**< bundles without a rate so far */
    int32_t mark;                      /**< of what is reached this time */
};

/** Another load of link @p at, as one of its bundles has another rate. */
void lockstep_change_load(struct lockstep *l, int32_t at, double change_Bps);

/** @p bundle has another bottleneck. */
void lockstep_set_neck(struct lockstep *l, struct lockstep_bundle *bundle, int32_t neck);

#endif
