/**
 * @file A dimension of a network, and shapes: how its members are joined. What graphs, routes, metrics,
 * bills, algorithms and flows need to know of a shape stands in its struct shape_ops and nowhere else.
 */
#ifndef TOPO_SHAPE_H
#define TOPO_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
    TOPO_MAX_DIMS = 8,
    TOPO_NAME = 48,          /**< bytes of a name, terminator included */
    TOPO_MAX_NPUS = 1 << 30, /**< of a described network; a graph is built for 1,048,576 and a little more */
    TOPO_MIN_SIZE = 2,       /**< members of a dimension; one member has nothing to be joined to */
    TOPO_MAX_SIZE = 1 << 24, /**< far above any switch fabric; products stay within 64 bits */
};

/** Bandwidth of a dimension as it may be written [GB/s]: any technology fits, a value in B/s does not. */
#define TOPO_MIN_BW_GBps 1e-6
#define TOPO_MAX_BW_GBps 1e6

/**
 * Shapes: one row here and one file topo/shape_WORD.c each. X(NAME, word): `enum topo_shape` has TOPO_NAME,
 * the file defines `const struct shape_ops shape_word`. Of n members, where B is the dimension's bandwidth of
 * one NPU: ring: 2 links of B/2 each, of two members one link of B; full: n-1 links of B/(n-1); switch: one
 * port of B into a switch of n ports; line: a ring without the wrap.
 */
#define TOPO_SHAPES(X)                                                                                       \
    X(RING, ring)                                                                                            \
    X(FULL, full)                                                                                            \
    X(SWITCH, switch)                                                                                        \
    X(LINE, line)

#define TOPO_SHAPE_ENUM(NAME, word) TOPO_##NAME,
enum topo_shape { TOPO_SHAPES(TOPO_SHAPE_ENUM) N_TOPO_SHAPES };
#undef TOPO_SHAPE_ENUM

/** "ring", "full", ...; NULL-terminated, for key tables. */
extern const char *const topo_shape_words[N_TOPO_SHAPES + 1];

/** How the members of a dimension carry out a collective; costs in workloads/algorithm.h. */
enum topo_algorithm {
    TOPO_ALGORITHM_SHAPE, /**< not given: in-switch where there is that, else what suits the shape */
    TOPO_ALGORITHM_AUTO,  /**< the fastest for the size and bandwidth at hand */
    TOPO_ALGORITHM_RING,
    TOPO_ALGORITHM_DIRECT,
    TOPO_ALGORITHM_HALVING, /**< recursive halving and doubling; 2^k members */
    TOPO_ALGORITHM_BRUCK,   /**< the same for any number of members */
    TOPO_ALGORITHM_TREE,    /**< double binary tree, pipelined */
    TOPO_ALGORITHM_SWITCH,  /**< the switch reduces and multicasts */
    N_TOPO_ALGORITHMS,
};

/** "default", "auto", "ring", "direct", "halving-doubling", "bruck", "double-binary-tree", "in-switch". */
extern const char *const topo_algorithm_words[N_TOPO_ALGORITHMS + 1];

/** What the switch of a dimension does with data that passes it. */
enum topo_in_switch {
    TOPO_IN_SWITCH_NONE,
    TOPO_IN_SWITCH_SHARP, /**< reduces a stream as it passes: all-reduce sends S and receives S */
    TOPO_IN_SWITCH_NVLS,  /**< an owner loads reduced data and stores it to all: S (n+1)/n each way */
};

extern const char *const topo_in_switch_words[];

/**
 * Another latency and share of the bandwidth (a protocol). One with a limit is what collectives up to that
 * size use, the smallest limit that holds the size decides; of those without a limit and the dimension's own
 * the fastest is taken.
 */
struct topo_regime {
    double lat_s, efficiency;
    double up_to_B; /**< of the buffer that the dimension works on; INFINITY = no limit */
};

enum { TOPO_MAX_REGIMES = 8 };

struct topo_dim {
    char name[TOPO_NAME]; /**< as constraints call it; "dim1".. when not given */
    enum topo_shape shape;
    int32_t size;   /**< members, >= 2 */
    double bw_Bps;  /**< what one NPU can send into it, one direction [B/s]; NaN where an allocator decides */
    double min_Bps; /**< floor for the allocator, 0 = none */
    double max_Bps; /**< cap for the allocator, INFINITY = none */
    double lat_s; /**< one message from an NPU to the next one of the dimension, switch included [s], >= 0 */
    double efficiency; /**< share of bw_Bps a collective reaches, (0, 1] */
    enum topo_algorithm algorithm;
    enum topo_in_switch in_switch; /**< of a switch only */
    int32_t in_switch_min;         /**< members that a group needs for the switch to serve it, >= 2 */
    int32_t n_regimes;             /**< besides lat_s and efficiency */
    struct topo_regime regimes[TOPO_MAX_REGIMES];
    char tier[TOPO_NAME]; /**< row of the price table; "" when not given */
};

/* ---- what a shape knows of itself ---- */

/** Links of a shape are of one class or several; those of a class are alike. */
enum { SHAPE_CLASSES = 4 };

/** One group of n >= 2 members. A hub is a vertex that is no NPU: a switch. Distances and degrees in links.
 */
struct shape_counts {
    int32_t n_classes;
    int64_t links[SHAPE_CLASSES]; /**< of each class */
    int64_t hubs, hub_degree_min; /**< 0: none */
    int64_t degree_max, degree_min, diameter;
    /** Links to cut between the first floor(n/2) members and the others, hubs on the side where that is
     * least. */
    int64_t cut[SHAPE_CLASSES];
    int64_t connectivity; /**< least number of links whose loss separates some member from another */
    int64_t ports;        /**< of the box that needs most of them: a hub, or a member */
};

/** Messages of a collective among the members of a group, as the links see them; S is its full buffer. */
enum shape_pattern {
    SHAPE_NEXT,    /**< every member to the next one, n-1 times S/n, by all ways round that there are */
    SHAPE_DIRECT,  /**< every member to every other, S/n each, by a shortest way */
    SHAPE_HALVING, /**< n = 2^k: step i = 1..k exchanges S/2^i at distance 2^(i-1) */
    SHAPE_BRUCK,   /**< ceil(log2 n) steps over distances 1, 2, 4, ..., n-1 blocks of S/n in all */
    SHAPE_SEND,    /**< S to the next member, once */
    SHAPE_PASS,    /**< S along a chain of all members */
};

struct shape_load {
    double hops; /**< links passed in sequence */
    double load; /**< bytes over S that a dimension of bandwidth B must carry: the largest over classes of
                    links of bytes on the busiest over the class's share of B */
};

/** How the messages to a neighbour go round in a group of more than two. */
enum shape_lanes {
    SHAPE_ONE,   /**< one way */
    SHAPE_BOTH,  /**< half each way; a member at half the way round gets half by either */
    SHAPE_SWEEP, /**< there is no way round: sweeps to the right and to the left */
};

struct topo_items;
struct topo_site;
struct text;

/** A shape. Functions are pure; @p n is the size of a group, dim->size or a part of it. */
struct shape_ops {
    const char *word;
    uint32_t algorithms; /**< bits 1 << enum topo_algorithm: those that not all shapes have */
    bool reduces;        /**< its hub may reduce: link a joins member a to it */
    bool switched;       /**< bought by port and NIC, not by the link alone */
    bool one_port;       /**< a member sends one message at a time */
    bool factored;       /**< tried where a study asks for factorings without naming shapes */
    enum shape_lanes lanes;
    double reach;     /**< share of the bandwidth that collectives of more than two can use */
    double hop_share; /**< of dim->lat_s that one link takes */

    /** Is there such a shape of @p n members? ERR_RANGE with "is ..., need ...". NULL: of any number. */
    int (*check)(int64_t n, struct err *e);
    void (*counts)(struct shape_counts *c, int64_t n);
    /** Sum of the distances of all ordered pairs of members. */
    double (*distance_sum)(int64_t n);
    /** Capacity of a link of class @p cls, one direction [B/s], at bandwidth @p bw_Bps; NaN gives NaN. */
    double (*link_Bps)(int64_t n, int32_t cls, double bw_Bps);
    /** All links of a group in the order of their numbers, class by class: members are 0 .. n-1, hubs n .. */
    void (*edges)(int64_t n, void *x, void (*link)(void *x, int64_t a, int64_t b));
    /** A shortest way from member @p a to @p b: numbers of its links, @p back against the order of their
     * ends. Where there are two, @p mirror takes the other. Ends with the first step() that fails. */
    int (*way)(int64_t n, int64_t a, int64_t b, bool mirror, void *x,
               int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e);
    /** The algorithm of a group of @p n that was not given one. */
    enum topo_algorithm (*usual)(int32_t n);
    void (*load)(struct shape_load *out, enum shape_pattern pattern, int32_t n);
    /** Whole parts at @p bw_Bps, or relaxed (NaN): per B/s of one NPU. NULL: links and NICs of members. */
    int (*parts)(struct topo_items *out, const struct topo_site *site, double bw_Bps, struct err *e);
};

/** By enum topo_shape. */
extern const struct shape_ops *const topo_shapes[N_TOPO_SHAPES];

static inline const struct shape_ops *topo_ops(const struct topo_dim *dim)
{
    return topo_shapes[dim->shape];
}

const char *topo_shape_name(enum topo_shape s);

enum { TOPO_DIM_LABEL = 32 };
/** "ring:4". Returns @p buf. */
const char *topo_dim_label(char buf[TOPO_DIM_LABEL], const struct topo_dim *dim);

/** Can @p n members be joined so? ERR_RANGE with "is ..., need ...". */
int topo_check_size(enum topo_shape s, int64_t n, struct err *e);

/** Links of one group of @p dim, all classes. */
int64_t topo_dim_links(const struct topo_dim *dim);

/** Latency of one link [s], so that a message between neighbours takes @p lat_s. */
double topo_dim_link_s(const struct topo_dim *dim, double lat_s);

#endif
