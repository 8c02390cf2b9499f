/** @file A multi-dimensional hierarchical network: its dimensions, from YAML or from a spec word. */
#ifndef TOPO_NETWORK_H
#define TOPO_NETWORK_H

#include "topo/npu.h"
#include "topo/shape.h"

/** Plain value: copy freely, nothing to release. */
struct topo_network {
    char name[64]; /**< "" when not given */
    struct topo_npu npu;
    int32_t n_dims;
    struct topo_dim dims[TOPO_MAX_DIMS]; /**< innermost first; NPU address (a_1..a_D), a_1 fastest */
    int64_t n_npus;                      /**< product of sizes */
    /** Model bandwidth counts as LIBRA does: part of a dimension has all of its bandwidth, and links that are
     * passed on the way count nothing. */
    bool whole_parts;
    yaml_id parts; /**< the `parts` node of the YAML map, -1 if none or built from a word */
    yaml_id graph; /**< the `graph` node: dimensions are the classes of its links; -1 */
    /** Of a network with a graph, borrowed from who reads it (workloads/ideal.h); else NULL. */
    struct topo_wires *wires;
    struct ideal *ideal;
};

extern const struct section topo_network_section, topo_dim_section, topo_class_section, topo_regime_section,
    topo_curve_section, topo_nics_section;

/** A network of no dimension and one NPU, of which nothing is known. */
void topo_network_defaults(struct topo_network *net);

/** Dimension @p d (from 0) as when only shape and size are given: named "dim<d+1>", no latency, no tier. */
void topo_dim_defaults(struct topo_dim *dim, int32_t d);

/**
 * Read a network from a map, or from a scalar holding a spec word. (A scalar
 * naming a file must have been replaced by that file's content before: yaml_graft_file().)
 * Names of dimensions are [A-Za-z_][A-Za-z0-9_-]*, unique, and none of the words that
 * constraints reserve: total, usd, nic_usd, watt.
 * @return 0, ERR_PARSE or ERR_RANGE with the place. 1 to TOPO_MAX_DIMS dimensions, at most TOPO_MAX_NPUS
 *         NPUs, min_GBps <= bw_GBps <= max_GBps.
 */
int topo_read_network(struct topo_network *net, const struct yaml_doc *doc, yaml_id node, struct err *e);

/** The same of one that may have a `graph`, whose file is not read: sizes may be 0, and n_npus is not known.
 */
int topo_read_wired(struct topo_network *net, const struct yaml_doc *doc, yaml_id node, struct err *e);

/** One more dimension, a class of links called @p name, as one of `classes` that gives its name alone.
 * ERR_PARSE (no name that a class may have), ERR_RANGE: too many. */
int topo_add_class(struct topo_network *net, const char *name, struct err *e);

/**
 * "ring:4@250 full:8 switch:32@50": SHAPE:SIZE[@GBps], innermost first, blanks
 * between; of a fabric SHAPE:SIZExSIZE[/TAPER[/TAPER]][^UP[^UP]][+shared|+forward|+rails4][@GBps], as in
 * "fat-tree:32x64/2@50"; "/free": the split decides what goes up; +shared: rails with one spine, +forward:
 * and forwarding in the node. "*PLANES" before @: so many side by side. Behind ^ a dragonfly
 * has the links of a router to other groups, a dragonfly+ spines and the links of a spine. All else takes its
 * default. The message starts with "col N: ", 1-based. Inverse of topo_format_spec() to the last bit: GB/s
 * are read as decimal text with the point moved nine places, so every bandwidth in range has a word.
 * @return 0, ERR_PARSE or ERR_RANGE.
 */
int topo_parse_spec(struct topo_network *net, const char *word, struct err *e);

/** Bandwidth [B/s] of a decimal number in GB/s, at most 31 bytes that num_parse_real() takes; rounded once.
 */
double topo_parse_bw(const char *text_GBps);

/** True when @p text looks like a spec word, not a path: a shape and a colon, whatever follows, or else
 * letters, a colon and a digit, of a shape that there is not. */
bool topo_is_spec(const char *text);

enum { TOPO_SPEC = TOPO_MAX_DIMS * 96 };
/** Shape, size and bandwidth of every dimension; nothing else. Returns @p buf. */
const char *topo_format_spec(char buf[TOPO_SPEC], const struct topo_network *net);

/** Does every dimension have its bandwidth? */
bool topo_has_bandwidths(const struct topo_network *net);

/** Bandwidths of the dimensions, shape [n_dims] [B/s]; NaN where an allocator decides. Returns @p bw_Bps. */
double *topo_get_bandwidths(double *bw_Bps, const struct topo_network *net);

/** The inverse. */
void topo_set_bandwidths(struct topo_network *net, const double *bw_Bps);

/**
 * Can @p a work in @p dim? ERR_RANGE with "is ..., need ...": halving-doubling on a size that is no power
 * of two, in-switch where no switch reduces, a tree or Bruck's steps on a ring or line.
 */
int topo_check_algorithm(const struct topo_dim *dim, enum topo_algorithm a, struct err *e);

/** Can the switches of @p dim do what its in_switch says? ERR_RANGE with "is ..., expected ...". */
int topo_check_in_switch(const struct topo_dim *dim, struct err *e);

/** Is some entry of several levels? */
bool topo_has_fabric(const struct topo_network *net);

/** Sets of links of the entry at dimension @p d: of its groups, or of all rails of one spine, in each plane.
 */
int64_t topo_link_groups(const struct topo_network *net, int32_t d);

/** The entry whose spine is shared by the rails of the dimensions before it, or -1. */
int32_t topo_shared_spine(const struct topo_network *net);

/** Rails among the members of dimension @p d of a node whose rails share the spine of entry @p shared. */
int32_t topo_rails_along(const struct topo_network *net, int32_t shared, int32_t d);

/** Members of a group on one node and rail, the one that counts included; mean over the members of the rail
 * where there are fewest, when the network is full of such groups. @p members, @p stride (or NULL): shape
 * [n_dims]. */
double topo_rail_mates(const struct topo_network *net, int32_t shared, const int32_t *members,
                       const int32_t *stride);

/** As traffic sees it that is spread over all planes alike: one link for those that lie side by side. */
void topo_merge_planes(struct topo_network *net);

/** Links of the class that dimension @p d brings, of the whole network. */
int64_t topo_class_links(const struct topo_network *net, int32_t d);

/** Dimension by name, or -1. */
int32_t topo_find_dim(const struct topo_network *net, const char *name);

#endif
