/** @file A multi-dimensional hierarchical network: its dimensions, from YAML or from a spec word. */
#ifndef TOPO_NETWORK_H
#define TOPO_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/npu.h"

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

/** How the n members of a dimension are joined; B is the dimension's bandwidth of one NPU. */
enum topo_shape {
    TOPO_RING,   /**< 2 links of B/2 each; of two members, one link of B */
    TOPO_FULL,   /**< n-1 links of B/(n-1) */
    TOPO_SWITCH, /**< one port of B into a switch of n ports */
    TOPO_LINE,   /**< a ring without the wrap: links of B/2; of two members, one link of B */
};

/** "ring", "full", "switch", "line", NULL: in the order of enum topo_shape, for key tables. */
extern const char *const topo_shape_words[];

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

/** Plain value: copy freely, nothing to release. */
struct topo_network {
    char name[64]; /**< "" when not given */
    struct topo_npu npu;
    int32_t n_dims;
    struct topo_dim dims[TOPO_MAX_DIMS]; /**< innermost first; NPU address (a_1..a_D), a_1 fastest */
    int64_t n_npus;                      /**< product of sizes */
    yaml_id parts; /**< the `parts` node of the YAML map, -1 if none or built from a word */
};

extern const struct section topo_network_section, topo_dim_section, topo_regime_section;

/** A network of no dimension and one NPU, of which nothing is known. */
void topo_network_defaults(struct topo_network *net);

/** Dimension @p d (from 0) as when only shape and size are given: named "dim<d+1>", no latency, no tier. */
void topo_dim_defaults(struct topo_dim *dim, int32_t d);

/**
 * Read a network from a map, or from a scalar holding a spec word. (A scalar
 * naming a file must have been replaced by that file's content before: yaml_graft_file().)
 * Names of dimensions are [A-Za-z_][A-Za-z0-9_-]*, unique, and none of the words that
 * constraints reserve: total, usd, nic_usd.
 * @return 0, ERR_PARSE or ERR_RANGE with the place. 1 to TOPO_MAX_DIMS dimensions, at most TOPO_MAX_NPUS
 *         NPUs, min_GBps <= bw_GBps <= max_GBps.
 */
int topo_read_network(struct topo_network *net, const struct yaml_doc *doc, yaml_id node, struct err *e);

/**
 * "ring:4@250 full:8 switch:32@50": SHAPE:SIZE[@GBps], innermost first, blanks
 * between. All else takes its default. The message starts with "col N: ", 1-based.
 * Inverse of topo_format_spec() to the last bit: GB/s are read as decimal text
 * with the point moved nine places, so every bandwidth in range has a word.
 * @return 0, ERR_PARSE or ERR_RANGE.
 */
int topo_parse_spec(struct topo_network *net, const char *word, struct err *e);

/** Bandwidth [B/s] of a decimal number in GB/s, at most 31 bytes that num_parse_real() takes; rounded once.
 */
double topo_parse_bw(const char *text_GBps);

/** True when @p text looks like a spec word (letters, a colon, a digit), not a path; its shape may be none.
 */
bool topo_is_spec(const char *text);

enum { TOPO_SPEC = TOPO_MAX_DIMS * 48 };
/** Shape, size and bandwidth of every dimension; nothing else. Returns @p buf. */
const char *topo_format_spec(char buf[TOPO_SPEC], const struct topo_network *net);

/** Does every dimension have its bandwidth? */
bool topo_has_bandwidths(const struct topo_network *net);

/**
 * Can @p a work in @p dim? ERR_RANGE with "is ..., need ...": halving-doubling on a size that is no power
 * of two, in-switch where no switch reduces, a tree or Bruck's steps on a ring or line.
 */
int topo_check_algorithm(const struct topo_dim *dim, enum topo_algorithm a, struct err *e);

/** Dimension by name, or -1. */
int32_t topo_find_dim(const struct topo_network *net, const char *name);

const char *topo_shape_name(enum topo_shape s);

#endif
