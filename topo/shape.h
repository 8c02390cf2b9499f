/**
 * @file A dimension of a network, and shapes: how its members are joined. What graphs, routes, metrics,
 * bills, algorithms and flows need to know of a shape stands in its struct shape_ops and nowhere else.
 *
 * An entry of `dims` in a file is one dimension (ring, full, switch, line), or a fabric: several dimensions
 * in a row that share their links, such as the leaf, pod and top of a fat tree. Each dimension of a fabric, a
 * level, brings a size that groups fill and a class of links with a bandwidth of its own. The first level's
 * class is the injection: the links of the NPUs themselves.
 */
#ifndef TOPO_SHAPE_H
#define TOPO_SHAPE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/num.h"

enum {
    TOPO_MAX_DIMS = 8,
    TOPO_NAME = 48,          /**< bytes of a name, terminator included */
    TOPO_MAX_NPUS = 1 << 30, /**< of a described network; a graph is built for 1,048,576 and a little more */
    TOPO_MIN_SIZE = 2,       /**< members of a dimension; one member has nothing to be joined to. (A level of
                                a fabric may have one: a class of links without a size of its own.) */
    TOPO_MAX_SIZE = 1 << 24, /**< far above any switch fabric; products stay within 64 bits */
};

/** Bandwidth of a dimension as it may be written [GB/s]: any technology fits, a value in B/s does not. */
#define TOPO_MIN_BW_GBps 1e-6
#define TOPO_MAX_BW_GBps 1e6

/**
 * Shapes: one row here and one file topo/shape_ID.c each. X(NAME, id, word): `enum topo_shape` has TOPO_NAME,
 * the file defines `const struct shape_ops shape_id`, users write the word. Of n members, where B is the
 * dimension's bandwidth of one NPU: ring: 2 links of B/2 each, of two members one link of B; full: n-1 links
 * of B/(n-1); switch: one port of B into a switch of n ports; line: a ring without the wrap; fat_tree
 * ("fat-tree"): a folded Clos whose levels may taper; dragonfly: groups of routers, each pair of
 * groups joined; torus: rings along several axes with one link rate, perhaps twisted; dragonfly_plus
 * ("dragonfly+"): a dragonfly of groups that are folded Clos; slim_fly ("slim-fly"): routers as an MMS graph,
 * any two at most two links apart; hyperx: full meshes along several dimensions with one link rate, of NPUs
 * or of routers; hammingmesh: boards of NPUs in a grid, whose rows and columns hang on switches.
 */
#define TOPO_PLAIN_SHAPES(X)                                                                                 \
    X(RING, ring, "ring")                                                                                    \
    X(FULL, full, "full")                                                                                    \
    X(SWITCH, switch, "switch")                                                                              \
    X(LINE, line, "line")
#define TOPO_FABRICS(X)                                                                                      \
    X(FAT_TREE, fat_tree, "fat-tree")                                                                        \
    X(DRAGONFLY, dragonfly, "dragonfly")                                                                     \
    X(TORUS, torus, "torus")                                                                                 \
    X(DRAGONFLY_PLUS, dragonfly_plus, "dragonfly+")                                                          \
    X(SLIM_FLY, slim_fly, "slim-fly")                                                                        \
    X(HYPERX, hyperx, "hyperx")                                                                              \
    X(HAMMINGMESH, hammingmesh, "hammingmesh")
#define TOPO_SHAPES(X) TOPO_PLAIN_SHAPES(X) TOPO_FABRICS(X)

#define TOPO_SHAPE_ENUM(NAME, id, word) TOPO_##NAME,
enum topo_shape {
    TOPO_PLAIN_SHAPES(TOPO_SHAPE_ENUM) N_TOPO_PLAIN,
    TOPO_LAST_PLAIN = N_TOPO_PLAIN - 1, /* fabrics follow it */
    TOPO_FABRICS(TOPO_SHAPE_ENUM) N_TOPO_SHAPES
};
#undef TOPO_SHAPE_ENUM

/** "ring", "full", ...; NULL-terminated, for key tables. */
extern const char *const topo_shape_words[N_TOPO_SHAPES + 1];
/** Those of one dimension alone. */
extern const char *const topo_plain_words[N_TOPO_PLAIN + 1];

/**
 * How the members of a dimension carry out a collective; costs and messages in workloads/algorithm.c.
 * X(NAME, word): `enum topo_algorithm` has TOPO_ALGORITHM_NAME, users write the word.
 */
#define TOPO_ALGORITHMS(X)                                                                                   \
    X(SHAPE, "default") /* not given: in-switch where there is that, else what suits it */                   \
    X(AUTO, "auto")     /* the fastest for the size and bandwidth at hand */                                 \
    X(RING, "ring")                                                                                          \
    X(DIRECT, "direct")                                                                                      \
    X(HALVING, "halving-doubling") /* recursive; 2^k members */                                              \
    X(BRUCK, "bruck")              /* the same for any number of members */                                  \
    X(TREE, "double-binary-tree")  /* pipelined */                                                           \
    X(SWITCH, "in-switch")         /* the switch reduces and multicasts */                                   \
    X(FAR, "halving-farthest")     /* over a whole fabric, the farthest partner first */                     \
    X(MIXED, "mixed-orders") /* shares of the buffer pass the axes of a fabric in orders of their own */     \
    X(FIXED, "fixed-order")  /* axis by axis, innermost first */

#define TOPO_ALGORITHM_ENUM(NAME, word) TOPO_ALGORITHM_##NAME,
enum topo_algorithm { TOPO_ALGORITHMS(TOPO_ALGORITHM_ENUM) N_TOPO_ALGORITHMS };
#undef TOPO_ALGORITHM_ENUM

/** "default", "auto", ...; NULL-terminated, for key tables. */
extern const char *const topo_algorithm_words[N_TOPO_ALGORITHMS + 1];

/** What a latency is of: chunks pay it one after the other, or a whole collective was measured, once. */
enum topo_latency_per { TOPO_PER_CHUNK, TOPO_PER_COLLECTIVE };

extern const char *const topo_latency_words[];

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

enum { TOPO_MAX_REGIMES = 8, TOPO_MAX_CURVES = 32 };

/** Collectives that curves are measured of. */
enum topo_measured { TOPO_MEASURED_ALL_REDUCE, TOPO_MEASURED_REDUCE_SCATTER, TOPO_MEASURED_ALL_GATHER };

/** A stretch of a measured curve: what groups of so many members use for this collective, whatever the
 * dimension's own latency, efficiency and regimes are. */
struct topo_curve {
    enum topo_measured collective;
    int32_t members;         /**< 0: any number */
    struct topo_regime line; /**< of each collective and number, one row has no limit */
};

extern const char *const topo_measured_words[];

enum { TOPO_LEVELS = 4 /**< of one fabric, at most */ };

/** Which ways messages of a fabric take, where its routers have a choice. */
enum topo_routing {
    TOPO_ROUTING_MINIMAL,  /**< the shape's own ways, of least length */
    TOPO_ROUTING_VALIANT,  /**< two such ways, by a router drawn evenly from all of them */
    TOPO_ROUTING_ADAPTIVE, /**< of each pattern the share v that is best by those two, the rest minimal */
    TOPO_ROUTING_USUAL     /**< not given: what machines of that shape do; settled when it is read */
};
extern const char *const topo_routing_words[];

/** Fat tree: whose the boxes above the leaves are. */
enum topo_spine {
    TOPO_SPINE_OWN,   /**< of each group of the entry alone */
    TOPO_SPINE_SHARED /**< of all groups of the dimensions before it: leaves are rails, one tree joins them */
};
extern const char *const topo_spine_words[];

/** How flows are shared out over equal links. */
enum topo_balance {
    TOPO_SPRAY, /**< packet by packet, or by queues: all links alike */
    TOPO_HASH   /**< each flow by a hash takes one of them */
};
extern const char *const topo_balance_words[];

/** What an entry says of its fabric: keys that only some shapes have; 0 and NaN where not given. */
struct topo_fabric {
    int32_t sizes[TOPO_LEVELS], n_sizes; /**< members of each level, innermost first */
    double taper[TOPO_LEVELS];           /**< below a level over above it: 2 = half as much goes up; >= 1 */
    int32_t n_taper;
    int32_t up[TOPO_LEVELS], n_up; /**< links up from a box of each tier, instead of what the taper leaves */
    bool taper_free;               /**< how much goes up is for the split to decide */
    int32_t radix; /**< ports of every box, from which settle() finds sizes; 0 when they are given */
    enum topo_spine spine;
    bool forward; /**< of a shared spine: what is for another rail changes to it inside the node first */
    int32_t node; /**< NPUs of a node whose rails share the spine, the dimensions before; 0 or 1: none do */
    int32_t
        filled;    /**< fat tree: members that are there, the first of what the sizes have room for; 0: all */
    int32_t rails; /**< of such a node: its NPU i is on rail i mod rails; 0: each on one of its own */
    int32_t planes; /**< equal copies, each with a port of every NPU at 1/planes of B; 0 or 1: one */
    enum topo_balance balance;
    int32_t flows_per_pair; /**< hashed, of a message between two NPUs; 0: one */
    enum topo_routing routing;
    /** Where not all is minimal: what an all-to-all over all of the fabric loads each class with, in S, and
     * the links that it passes in sequence, in hops of level 0. From settling. */
    double uniform[TOPO_LEVELS], uniform_hops;
    bool twist;                                /**< torus: wraps of short axes lead on along the long ones */
    bool ocs;                                  /**< torus: of cubes that optical circuit switches join */
    int32_t spines;                            /**< of a group */
    int32_t links;                             /**< of a router or spine to other groups */
    int32_t hosts, routers, leaves, groups, q; /**< other words for sizes, which they become: 0 then; but
                                                  hyperx: NPUs of a router, 0: the NPUs are the routers */
    int32_t field; /**< of a slim fly: its field, see shape_slim_fly.c; -1: no such field. From settle() */
    double nics; /**< of one NPU, mean over all kinds of nodes, so many times share bw_Bps; 0: as it needs */
    double nics_least; /**< in the nodes that have fewest, whose bandwidth bw_Bps is */
};

struct topo_dim {
    char name[TOPO_NAME]; /**< as constraints call it; "dim1".. when not given */
    int32_t level;        /**< of its fabric, 0 = the first or the only one */
    int32_t n_levels; /**< of the fabric, on its first level; 1 = a plain dimension; 0 on further levels */
    /** Bandwidth over that of the level before, where the build fixes it; 0: the split decides. */
    double tie;
    struct topo_fabric fabric; /**< on the first level */
    enum topo_shape shape;
    int32_t size;  /**< members, >= 2 */
    double bw_Bps; /**< what one NPU can send into it, one direction [B/s]; NaN where an allocator decides */
    double link_Bps; /**< as a file may say it instead: of one link; NaN. From append_entry() on it is in
                        bw_Bps */
    double min_Bps;  /**< floor for the allocator, 0 = none */
    double max_Bps;  /**< cap for the allocator, INFINITY = none */
    double lat_s; /**< one message from an NPU to the next one of the dimension, switch included [s], >= 0 */
    enum topo_latency_per latency_per; /**< what pays lat_s, and the regimes' */
    double efficiency;                 /**< share of bw_Bps a collective reaches, (0, 1] */
    double all_to_all,
        dispatch; /**< in its place, of an all-to-all, copies merged; NaN or 0: as the others */
    enum topo_algorithm algorithm;
    enum topo_in_switch in_switch; /**< of a switch or fat tree */
    int32_t in_switch_min;         /**< members that a group needs for the switch to serve it, >= 2 */
    int32_t n_regimes;             /**< besides lat_s and efficiency */
    struct topo_regime regimes[TOPO_MAX_REGIMES];
    struct topo_curve curves[TOPO_MAX_CURVES]; /**< measured; of a plain dimension only */
    int32_t n_curves;
    char tier[TOPO_NAME]; /**< row of the price table; "" when not given */
    bool own_links;       /**< a further level whose links begin at the NPUs too: it counts in their total */
    bool detour;          /**< of a full mesh: parts of it exchange through other members too */
    bool wires;           /**< a class of a graph's links (topo/wires.h): its shape means nothing */
};

/** Latency and efficiency number @p i: 0 the dimension's own, then its regimes, then the rows of its curves.
 */
static inline struct topo_regime topo_dim_regime(const struct topo_dim *dim, int32_t i)
{
    if (i == 0)
        return (struct topo_regime){ dim->lat_s, dim->efficiency, INFINITY };
    return i <= dim->n_regimes ? dim->regimes[i - 1] : dim->curves[i - 1 - dim->n_regimes].line;
}

/** Was number @p i measured of whole collectives? Then each of C chunks pays 1/C of its latency. */
static inline bool topo_dim_is_measured(const struct topo_dim *dim, int32_t i)
{
    return i > dim->n_regimes || dim->latency_per == TOPO_PER_COLLECTIVE;
}

/** Latency [s] of a message of one of @p chunks chunks, with number @p i as above. */
static inline double topo_dim_chunk_s(const struct topo_dim *dim, int32_t i, int32_t chunks)
{
    return topo_dim_regime(dim, i).lat_s / (topo_dim_is_measured(dim, i) ? chunks : 1);
}

/* ---- what a shape knows of itself ---- */

/** Links of a shape are of one class or several; those of a class are alike. Class k is that of level k. */
enum { SHAPE_CLASSES = TOPO_LEVELS };

/** One group: all members of all levels. A hub is a vertex that is no NPU: a switch. Distances and degrees in
 * links. */
struct shape_counts {
    int32_t n_classes;
    int64_t links[SHAPE_CLASSES]; /**< of each class */
    int64_t hubs, hub_degree_min; /**< 0: none; links of a hub, or of several to all else, the least */
    int64_t degree_max, degree_min;
    /** Links to cut between the first floor(n/2) members and the others, hubs on the side where that is
     * least. Of a shape that tells its axes: 0. */
    int64_t cut[SHAPE_CLASSES];
    bool cut_is_bound;    /**< it may take fewer */
    int64_t connectivity; /**< least number of links whose loss separates some member from another */
    int64_t ports;        /**< of the box that needs most of them: a hub, or a member */
    int64_t spare; /**< ports of `links` of all boxes that lead nowhere: groups do not share them out */
};

/** One of the axes whose product a fabric is: lines of members, of which groups have as many as the other
 * axes have places. */
struct shape_axis {
    int32_t levels[TOPO_LEVELS], n_levels; /**< addresses that give the place on a line, the most significant
                                                first */
    int64_t cut[SHAPE_CLASSES]; /**< links of a line between its first floor(n/2) places and the others */
    bool bound;                 /**< it may take fewer */
    bool lopsided; /**< of odd size, and one member more on the first side may take a link of its own more */
    unsigned
        any; /**< bits 1 << class: it carries any traffic of as much per member as the least of them has */
};

/** Messages of a collective among the members of a group, as the links see them; S is its full buffer. */
enum shape_pattern {
    SHAPE_NEXT,    /**< every member to the next one, n-1 times S/n, by all ways round that there are */
    SHAPE_DIRECT,  /**< every member to every other, S/n each, by a shortest way */
    SHAPE_HALVING, /**< n = 2^k: step i = 1..k exchanges S/2^i at distance 2^(i-1) */
    SHAPE_FAR,     /**< the same with the distances the other way about: S/2 to the farthest */
    SHAPE_BRUCK,   /**< ceil(log2 n) steps over distances 1, 2, 4, ..., n-1 blocks of S/n in all */
    SHAPE_SEND,    /**< S to the next member, once */
    SHAPE_PASS,    /**< S along a chain of all members */
};

/** Distances that shape_ops.spheres() counts: those of a fabric of 2^30 members are below. */
enum { SHAPE_SPHERES = 2048 };

/** Who takes part: groups of so many members of each level, a stride apart; all of them at work at once. */
struct shape_group {
    int32_t level;                /**< the level along which messages go, or */
    bool flat;                    /**< along all levels at once: members in the order of their addresses */
    int32_t n;                    /**< members: of that level, or the product over all */
    int32_t members[TOPO_LEVELS]; /**< of each level; 1: not used */
    int32_t node; /**< flat and above 1: so many members of a node, which `n` counts, joined by the spine */
    double
        mates; /**< of these on the rail of one of them, itself included: where it has fewest, in the mean */
    int32_t stride[TOPO_LEVELS]; /**< from one member to the next; 0 is 1 */
    bool detour;                 /**< messages also go by two links, through members that do not take part */
    bool hash;                   /**< topo_load() counts the fullest of equal links, not their mean */
    bool endless;                /**< in endlessly many pieces: orders that are mixed need not keep step */
    enum topo_routing routing;   /**< what topo_load() counts; TOPO_ROUTING_MINIMAL: the shape's ways alone */
};

/** From one member of @p g to the next along level @p k. */
static inline int32_t shape_stride(const struct shape_group *g, int32_t k)
{
    return g->stride[k] > 1 ? g->stride[k] : 1;
}

/**
 * What a pattern asks of the links. load: bytes over S that a class of bandwidth B_c [B/s of one NPU] must
 * carry, so that it takes load S / B_c: the largest over its links of bytes over the link's share of B_c.
 */
struct shape_load {
    double hops; /**< links passed in sequence */
    double load[SHAPE_CLASSES];
    double mean[SHAPE_CLASSES]; /**< over all its links, where they are loaded unevenly; 0: as load */
    double valiant; /**< share of the messages that topo_load() sends by a router drawn from all */
};

/** How the messages to a neighbour go round in a group of more than two. */
enum shape_lanes {
    SHAPE_ONE,   /**< one way */
    SHAPE_BOTH,  /**< half each way; a member at half the way round gets half by either */
    SHAPE_SWEEP, /**< there is no way round: sweeps to the right and to the left */
    SHAPE_PAIR,  /**< one way round; of an exchange each message goes half by either of two ways */
};

struct topo_items;
struct topo_site;
struct text;

/** Keys that only some shapes have. */
enum {
    SHAPE_KEY_SIZES = 1,
    SHAPE_KEY_TAPER = 2,
    SHAPE_KEY_UP = 4,
    SHAPE_KEY_LINKS = 8,
    SHAPE_KEY_RADIX = 16,
    SHAPE_KEY_SPINE = 32,
    SHAPE_KEY_FORWARD = 64,
    SHAPE_KEY_PLANES = 128,
    SHAPE_KEY_DETOUR = 256,
    SHAPE_KEY_TWIST = 512,
    SHAPE_KEY_OCS = 1024,
    SHAPE_KEY_SPINES = 2048,
    SHAPE_KEY_HOSTS = 4096,
    SHAPE_KEY_ROUTERS = 8192,
    SHAPE_KEY_LEAVES = 16384,
    SHAPE_KEY_GROUPS = 32768,
    SHAPE_KEY_Q = 65536,
    SHAPE_KEY_NICS = 131072,
    SHAPE_KEY_RAILS = 262144,
    SHAPE_KEY_ROUTING = 524288,
    SHAPE_KEY_BALANCE = 1048576,
    SHAPE_KEY_FLOWS = 2097152,
    SHAPE_KEY_FILLED = 4194304
};

/** A shape. Functions are pure; @p dim is the first level of the entry, further levels follow it. */
struct shape_ops {
    uint32_t algorithms; /**< bits 1 << enum topo_algorithm: those that not all shapes have */
    uint32_t reduces;   /**< bits 1 << enum topo_in_switch: what its switches may do; link a joins member a to
                           one */
    bool any_traffic;   /**< carries any traffic of as much per member as its narrowest class */
    bool switched;      /**< bought by port and NIC, not by the link alone */
    bool one_port;      /**< a member sends one message at a time */
    int32_t row_levels; /**< above 0: in a group of all, rings pass levels k and k + row_levels as one row */
    bool beside_hosts;  /**< `hosts` stands beside sizes, in words behind ^ */
    bool mixed;         /**< by default shares of a reduction pass the axes in orders of their own */
    bool factored;      /**< tried where a study asks for factorings without naming shapes */
    enum shape_lanes lanes;
    double reach;      /**< share of the bandwidth that collectives of more than two can use */
    double hop_share;  /**< of dim->lat_s that one link takes */
    unsigned own_keys; /**< bits SHAPE_KEY_ */

    /** Fabrics: levels and their names from dim->fabric, written to dim[0..]; how many in dim->n_levels. */
    int (*settle)(struct topo_dim *dim, int32_t room, struct err *e);
    /** Is there such a shape of @p n members? ERR_RANGE with "is ..., need ...". NULL: of any number. */
    int (*check)(int64_t n, struct err *e);
    void (*counts)(struct shape_counts *c, const struct topo_dim *dim);
    /** Fill in c->cut, where that takes more than a formula; NULL: counts() does. */
    void (*cut)(struct shape_counts *c, const struct topo_dim *dim);
    /** Of a fabric that is a product, or that is best cut in another order than that of its addresses: the
     * axes along which topo/halves.c may cut it; returns how many. NULL: c->cut is the one way. */
    int32_t (*axes)(struct shape_axis out[TOPO_LEVELS], const struct topo_dim *dim);
    /** Distances of all ordered pairs of members: their sum, and the longest. */
    void (*distances)(const struct topo_dim *dim, double *sum, int64_t *longest);
    /** Capacity of a link of class @p cls, one direction [B/s], where one NPU has @p bw_Bps of that class;
     * NaN gives NaN. */
    double (*link_Bps)(const struct topo_dim *dim, int32_t cls, double bw_Bps);
    /** Can it be built? ERR_RANGE with "is ..., ..." where only counts and rates are known. NULL: always. */
    int (*check_graph)(const struct topo_dim *dim, struct err *e);
    /** Are all loads counted link by link? ERR_RANGE with "is ..., ..." where some are bounds. NULL: yes. */
    int (*check_loads)(const struct topo_dim *dim, struct err *e);
    /** All links of a group in the order of their numbers, class by class: members are 0 .. n-1, hubs n ..
     * Of a shared spine a group has all its rails, n = topo_span(), those of a node one after the other. */
    void (*edges)(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b));
    /** A shortest way from member @p a to @p b: numbers of its links, @p back against the order of their
     * ends. Where there are several, that @p other further on; of a twisted torus also SHAPE_STRAIGHT or
     * SHAPE_WOUND. Ends with the first step() that fails. */
    int (*way)(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
               int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e);
    /** Ways of so many links that way() chooses from, where a message may be spread over all; NULL: it may
     * not.
     */
    int64_t (*ways)(const struct topo_dim *dim, int32_t links);
    /** Where tiers of switches reduce: number of the @p i-th link up from the switches on top of the subtree
     * of level @p k - 1 that has member @p a, k = 1.. */
    int64_t (*up_link)(const struct topo_dim *dim, int32_t k, int64_t a, int64_t i);
    /** How many of these links there are. */
    int64_t (*up_links)(const struct topo_dim *dim, int32_t k);
    /** The algorithm of a group that was not given one; of a fabric along one level. HALVING is BRUCK where
     * the members are no power of two. */
    enum topo_algorithm usual;
    /**
     * Of a fabric in which all members and all links of a member are alike: how many members there are at
     * each distance from one, count[0 .. the longest], shape [SHAPE_SPHERES]. Returns the longest; 0: it is
     * not so.
     */
    int32_t (*spheres)(double *count, const struct topo_dim *dim);
    /** Switch ports at the ends of a link of this level; NULL: `switched` ? 1, of further levels 2 : 0. */
    int32_t (*link_ports)(const struct topo_dim *level);
    /** `usual` and `lanes` along one level of a fabric, where they differ; NULL: they do not. */
    enum topo_algorithm (*usual_along)(const struct topo_dim *level);
    enum shape_lanes (*lanes_along)(const struct topo_dim *level);
    /** What @p pattern asks of the links: @p g may be part of the dimension, and the dimension is full of
     * such groups. SHAPE_SEND is between neighbours of the group. */
    void (*load)(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                 const struct shape_group *g);
    /** Whole parts at the site's bandwidth, or relaxed: per B/s of one NPU. NULL: links and NICs of members.
     */
    int (*parts)(struct topo_items *out, const struct topo_site *site, struct err *e);
    const char *links[SHAPE_CLASSES]; /**< of routers: what a bill calls the links of each level */
};

/** By enum topo_shape. */
extern const struct shape_ops *const topo_shapes[N_TOPO_SHAPES];

static inline const struct shape_ops *topo_ops(const struct topo_dim *dim)
{
    return topo_shapes[dim->shape];
}

const char *topo_shape_name(enum topo_shape s);

/** Keys of a fabric that are true or false, behind a + in a word: "torus:4x4x8+twist". */
struct topo_fabric_flag {
    const char *word;
    size_t at;         /**< of its bool in struct topo_fabric */
    unsigned key;      /**< SHAPE_KEY_: which shapes have it */
    const char *known; /**< those that may stand there, for a message */
};
enum { N_TOPO_FABRIC_FLAGS = 3 };
extern const struct topo_fabric_flag topo_fabric_flags[N_TOPO_FABRIC_FLAGS];

/** Room for a fat tree of 4 levels (products of its sizes and of its links up are at most 2^30) with 3 tapers
 * of 17 digits, rails of a shared spine, planes and members that are missing: 141 bytes. */
enum { TOPO_DIM_LABEL = 144 };
/** "ring:4"; of a fabric "fat-tree:32x64/2", of its further levels "up1:64". Returns @p buf. */
const char *topo_dim_label(char buf[TOPO_DIM_LABEL], const struct topo_dim *dim);

/** Load of a member that reaches all others through one port, in one hop each: what shapes begin with. */
void shape_port_load(struct shape_load *out, enum shape_pattern pattern, int32_t n);

/**
 * Load of @p pattern by the routing that @p g asks for. Messages between routers that go by a router drawn
 * evenly from all load each class with twice what an all-to-all over the fabric does that sends as much;
 * those in one router stay there. Adaptive routes send the share v so, for which the class that takes longest
 * takes least: loads are affine in v and bandwidths of classes tied, so v is where two of these lines meet, 0
 * or 1, and does not depend on the bandwidth. Their latency is that of the minimal ways: a packet goes round
 * when the queue is longer than that.
 *
 * Where flows are hashed a class carries what its fullest link does in the mean, see topo_fullest(): of the
 * links up from each subtree, on which as many flows fall as leave it at once. Their number, and so the
 * factor, does not depend on the bandwidth.
 */
void topo_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
               const struct shape_group *g);

/**
 * Load of @p k members of a line, @p stride apart, on its busiest link, as a multiple of S: `stride` groups
 * pass it, each with what it sends beyond that link. Part of a ring that does not go round it is one.
 */
void shape_line_load(struct shape_load *out, enum shape_pattern pattern, int32_t k, int32_t stride);

/** In place of the number of a way in a twisted torus: that which wraps least often, or most often. */
enum { SHAPE_STRAIGHT = -1, SHAPE_WOUND = -2 };

/** Are there members halfway round a ring from each other? A message that goes alone is then sent in halves.
 */
bool shape_has_two_ways(const struct topo_dim *entry, const struct shape_group *g);

/** Share of S that one member of a flat group sends to members that differ beyond the first @p k levels. */
double shape_beyond(enum shape_pattern pattern, const struct shape_group *g, int32_t k);

/* ---- groups of which every two are joined by as many cables ---- */

/**
 * The global links of a dragonfly. Cable m of group i towards group j is the k-th of its group, k = ((j - i -
 * 1) mod groups) cables + m, and ends at gate k mod gates: they are dealt out round robin, so spare ports are
 * spread over the gates (routers of a dragonfly, spines of a dragonfly+).
 */
struct shape_mesh {
    int64_t groups, gates, cables; /**< cables of one pair of groups */
};

enum { SHAPE_MAX_GATES = 1024 }; /**< twice the ports of the largest switches of 2026 */

/** Gate of group @p i where its cable @p m towards group @p j ends. */
int64_t shape_mesh_gate(const struct shape_mesh *w, int64_t i, int64_t j, int64_t m);

/** Each cable of every pair in the order of their numbers; gate 0 of group 0 is @p first. */
void shape_mesh_edges(const struct shape_mesh *w, int64_t first, void *x,
                      void (*link)(void *x, int64_t a, int64_t b));

/** Number of that cable: pairs (0,1), (0,2).. (1,2).. one after the other. */
int64_t shape_mesh_cable(const struct shape_mesh *w, int64_t i, int64_t j, int64_t m);

/** Cables in use at each gate of a group, shape [gates], when it exchanges with others of its part: it is
 * number @p j of @p s groups, @p stride apart. */
void shape_mesh_uses(int32_t *uses, const struct shape_mesh *w, int32_t s, int32_t stride, int32_t j);

/**
 * The same for a ring of those groups: cables to the next one, and from the one before. @p round: the last
 * one has a next, the first. @p place: 0 of the first group, 1 of one between, 2 of the last.
 */
void shape_mesh_ring(int32_t *out, int32_t *in, const struct shape_mesh *w, int32_t s, int32_t stride,
                     bool round, int place);

/**
 * Which of @p ways equal ways a message takes from the x-th to the y-th of as many as @p n ends: even over
 * all pairs, over those of one x, and over those with x = y.
 */
int64_t shape_spread(int64_t ways, int64_t n, int64_t x, int64_t y);

/** What each of @p n members passes on to the next along a chain or ring of them, over S. */
double shape_passed(enum shape_pattern pattern, int32_t n);

/** Level @p k of the fabric that begins at @p dim: as its first one, named NAME.CLS ("pod.up1"). For
 * settle(). */
void topo_level_init(struct topo_dim *dim, int32_t k, const char *cls);

/** All @p n levels of a fabric, with their sizes. @p classes, @p sizes: shape [n]. ERR_RANGE: more than @p
 * room. */
int topo_levels_init(struct topo_dim *dim, int32_t room, int32_t n, const char *const *classes,
                     const int32_t *sizes, struct err *e);

/** The algorithm of a group of @p n along dimension, or level, @p dim that was not given one. */
static inline enum topo_algorithm topo_usual(const struct topo_dim *dim, int32_t n)
{
    const struct shape_ops *ops = topo_ops(dim);
    enum topo_algorithm usual = ops->usual_along ? ops->usual_along(dim) : ops->usual;
    return usual == TOPO_ALGORITHM_HALVING && !num_is_power_of_two(n) ? TOPO_ALGORITHM_BRUCK : usual;
}

/** Switch ports at the ends of a link of dimension, or level, @p dim. */
static inline int32_t topo_link_ports(const struct topo_dim *dim)
{
    const struct shape_ops *ops = topo_ops(dim);
    return ops->link_ports ? ops->link_ports(dim) : !ops->switched ? 0 : dim->level > 0 ? 2 : 1;
}

/** Does a bandwidth of this dimension count in the total of an NPU? Links further inside a fabric do not. */
static inline bool topo_in_total(const struct topo_dim *dim)
{
    return dim->level == 0 || dim->own_links;
}

/** What an NPU can send by all its links of the entry that begins at @p dim, over the bandwidth of the first
 * level: of a torus of three equal axes 3. */
static inline double topo_all_links(const struct topo_dim *dim)
{
    double level = 1, all = 1;
    for (int32_t k = 1; k < dim->n_levels; k++) {
        level *= dim[k].tie;
        all += dim[k].own_links ? level : 0;
    }
    return all;
}

/** Is this an entry of several levels? */
static inline bool topo_is_fabric(const struct topo_dim *dim)
{
    return dim->n_levels > 1;
}

/** Dimension that follows entry @p d of its array: all its levels are passed over. */
static inline int32_t topo_after_entry(const struct topo_dim *dims, int32_t d)
{
    return d + (dims[d].n_levels > 1 ? dims[d].n_levels : 1);
}

/** Can @p n members be joined so? ERR_RANGE with "is ..., need ...". */
int topo_check_size(enum topo_shape s, int64_t n, struct err *e);

/** Links of one group of @p dim, all classes. */
int64_t topo_dim_links(const struct topo_dim *dim);

/** Members of a whole group of the entry that begins at @p dim: the product of its levels' sizes. */
static inline int64_t topo_group_size(const struct topo_dim *dim)
{
    int64_t n = dim->size;
    for (int32_t k = 1; k < dim->n_levels; k++)
        n *= dim[k].size;
    return n;
}

/** NPUs of a node whose rails share the spine of the entry that begins at @p dim; 1: no spine is shared. */
static inline int32_t topo_node(const struct topo_dim *dim)
{
    return dim->fabric.node > 1 ? dim->fabric.node : 1;
}

/** Rails that share it: leaves below one node. */
static inline int32_t topo_rails(const struct topo_dim *dim)
{
    return dim->fabric.rails ? dim->fabric.rails : topo_node(dim);
}

/** Places of level @p k of a fat tree, all of which but the last are filled: a partly filled one is a single
 * level to groups, of all its members, and its further levels have one. */
static inline int64_t topo_tree_places(const struct topo_dim *dim, int32_t k)
{
    return dim->fabric.filled ? dim->fabric.sizes[k] : dim[k].size;
}

/** What meets in level @p k of a fat tree: subtrees of the level below, NPUs in a leaf (k = 0). With a shared
 * spine a leaf has all NPUs of a node that are on its rail, and the level above it joins all rails. */
static inline int64_t topo_tree_size(const struct topo_dim *dim, int32_t k)
{
    return topo_tree_places(dim, k) * (k > 1 ? 1 : k ? topo_rails(dim) : topo_node(dim) / topo_rails(dim));
}

/** Flows by which a message between two NPUs goes where flows are hashed. */
static inline int32_t topo_flows_per_pair(const struct topo_dim *dim)
{
    return dim->fabric.flows_per_pair > 1 ? dim->fabric.flows_per_pair : 1;
}

/** NICs of all kinds of nodes together over those there would be if all had the fewest: 1 where all are
 * alike. */
static inline double topo_nic_surplus(const struct topo_dim *dim)
{
    return dim->fabric.nics > 0 ? dim->fabric.nics / dim->fabric.nics_least : 1;
}

/** Copies of the entry's network that lie side by side. */
static inline int32_t topo_planes(const struct topo_dim *dim)
{
    return dim->fabric.planes > 1 ? dim->fabric.planes : 1;
}

/** NPUs that one set of links of the entry joins: a group, or as many as there are rails with one spine. */
static inline int64_t topo_span(const struct topo_dim *dim)
{
    return topo_group_size(dim) * topo_node(dim);
}

/** Capacity of a link of class @p cls of the entry at @p dim, as `link_Bps` of its shape, in one plane. */
double topo_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps);

/** Latency of one link [s], so that a message between neighbours takes @p lat_s. */
double topo_dim_link_s(const struct topo_dim *dim, double lat_s);

#endif
