/** @file What a collective sends on each dimension, and how many steps it takes there. */
#ifndef WORKLOADS_COLLECTIVE_H
#define WORKLOADS_COLLECTIVE_H

#include "topo/network.h"
#include "workloads/algorithm.h"

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER, /**< bytes = the shard each NPU brings in */
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_BROADCAST, /**< from one NPU of the group to all */
    COLLECTIVE_SEND,      /**< point to point: every NPU to the next of its group */
    N_COLLECTIVES,
};

/** "all-reduce", ...; NULL-terminated, for key tables. */
extern const char *const collective_names[N_COLLECTIVES + 1];

/**
 * Bytes one NPU sends into each dimension during a collective over the group
 * that takes members[d] NPUs of dimension d (1 = not used), visited innermost
 * first (all-gather: outermost first), @p bytes entering per NPU.
 *
 * reduce-scatter: S (n_d - 1)/(n_1...n_d); all-gather: S (n_d - 1) n_{d+1}...n_D (S = shard);
 * all-reduce: twice the reduce-scatter; all-to-all: S (n_d - 1)/n_d; broadcast and send: S, of the NPU that
 * sends most (it passes the whole buffer on; the one at the end of a row sends across the outer dimension).
 * Source: public LIBRA code (astra-sim/libra@0044db0), restated.
 *
 * @param[out] out  shape [n_dims], [B].
 */
void collective_traffic(double *out, enum collective_kind kind, double bytes, const int32_t *members,
                        int32_t n_dims);

/**
 * Bytes that the bandwidth of each dimension must carry when @p bytes enter a collective over @p members,
 * @p stride apart (shape [n_dims]; NULL: next to each other), and the network is full of such groups; what
 * `efficiency` and collective_reach() take is left to the caller.
 *
 * @p share (shape [n_dims], of dispatch_share(); NULL or [0] 0: all): of an all-to-all whose copies travel
 * merged, the part of its bytes that each dimension carries; other kinds do not look at it.
 *
 * Of a plain dimension collective_traffic(), times what the group's links fall short of a port that all of
 * the bandwidth goes through: 1 of a whole dimension, but hops of an all-to-all count on rings and lines, and
 * a send has one link; (n-1)/(k-1) of k in a full mesh of n; 2 of k neighbours on a ring, n/k of k spread
 * over it. With net->whole_parts (`semantics: libra`) collective_traffic() alone. Of a fabric what the stages
 * of its algorithm load (hierarchical when none was given), the busiest link of a class deciding.
 *
 * @param[out] out  shape [n_dims], [B].
 */
void collective_loads(double *out, enum collective_kind kind, double bytes, const int32_t *members,
                      const int32_t *stride, const double *share, const struct topo_network *net);

/** Of its messages along each dimension, shape [n_dims], those that go by a router drawn from all in these
 * loads, see topo_load(). */
void collective_valiant(double *out, enum collective_kind kind, const int32_t *members, const int32_t *stride,
                        const double *share, const struct topo_network *net);

/** Uniform traffic: every NPU sends to all others evenly. NaN and -1 where a bandwidth is not chosen. */
struct collective_uniform {
    double rate_Bps; /**< of one NPU, the most that all links carry */
    int32_t dim;     /**< class of links that decides */
    double
        fabric_Bps; /**< without links that join an NPU to its first switch; INFINITY: there are no others */
    double
        uneven; /**< of the class that is loaded most unevenly: its busiest link over their mean; 1: none */
    int32_t uneven_dim;
};

/**
 * What @p net carries of it at its bandwidths, by the ways and loads of its shapes: (N-1)/N over the most
 * that an all-to-all over all asks of a class, load_d / B_d.
 */
void collective_find_uniform(struct collective_uniform *u, const struct topo_network *net);

/**
 * What of a dimension's links a collective can use: half on a line of more than two, whose end members have
 * one link of B/2; else all.
 */
double collective_reach(const struct topo_dim *dim);

/**
 * What a collective of @p kind reaches of @p dim over its `efficiency`: all_to_all_efficiency, or
 * dispatch_efficiency where @p share (as of collective_loads()) merges copies, over that; else 1.
 * collective_loads() and stages have it already: what it falls short of 1 counts as bytes.
 */
double collective_gain(const struct topo_dim *dim, enum collective_kind kind, const double *share);

/** Share of a dimension's bandwidth that a collective reaches: its efficiency times collective_reach(). */
double collective_share(const struct topo_dim *dim);

/** The same in the regime that reaches most. */
double collective_best_share(const struct topo_dim *dim);

/** Row of dim->curves whose collective and members count for @p kind among @p members, the least number of
 * members that is not below, else the largest; -1: nothing was measured of it. O(rows). */
int32_t collective_find_curve(const struct topo_dim *dim, enum collective_kind kind, int32_t members);

/* ---- stages ---- */

/** How collectives are carried out, beyond what the network says. */
struct stage_rules {
    int32_t chunks;    /**< equal pieces that pass the dimensions one behind the other, >= 1 */
    double endpoint_s; /**< overhead of an NPU per message [s] */
    double mem_Bps;    /**< memory that reductions read and write; INFINITY: they are free */
    bool endless;      /**< the pieces are so many that stages overlap: bytes alone count */
};

/** One piece, endless memory, no overhead. */
extern const struct stage_rules stage_rules_plain;

/** A network with bandwidths, and how collectives are run on it. Borrowed. */
struct collective_way {
    const struct topo_network *net;
    /** NULL, which stages do not take: max_d m_d/B_d, endlessly many chunks and no latency. */
    const struct stage_rules *rules;
    const double *bw_Bps; /**< shape [n_dims]; of stages NULL when not known */
};

enum { STAGE_MAX = 2 * TOPO_MAX_DIMS, STAGE_MAX_CHUNKS = 1000000, STAGE_MAX_SEGMENTS = 1024 };

/** What a stage asks of another class of links of its fabric. */
struct stage_class {
    int32_t dim;           /**< that brings the class */
    double sent_B, load_B; /**< as of struct stage */
};

/** Time = const_s + load_B / bw_Bps; in a fabric the slowest class of links decides: stage_transfer_s(). */
struct stage {
    int32_t dim;   /**< of a fabric the level, or its first where all levels work at once (flat) */
    int32_t entry; /**< first dimension of the fabric, whose stages share its links; dim of a plain one */
    bool flat;
    int32_t node;   /**< above 1: over the rails of a shared spine too, by so many members of each node */
    int32_t n_more; /**< other classes that are loaded */
    struct stage_class more[TOPO_MAX_DIMS - 1];
    enum pass pass;
    struct stage_choice choice;
    double full_B;  /**< S of algorithm_cost() */
    double sent_B;  /**< bytes that the dimension's bandwidth must carry, load * S */
    double const_s; /**< latency, overhead and memory [s] */
    double valiant; /**< share of the messages that go by a router drawn from all, see topo_load() */
    double gain;    /**< collective_gain() of the entry */
    double load_B;  /**< bytes over what a collective reaches of the dimension's bandwidth */
};

/** Seconds that the links of @p s take at @p bw_Bps, shape [n_dims]. */
static inline double stage_transfer_s(const struct stage *s, const double *bw_Bps)
{
    double time_s = s->load_B / bw_Bps[s->dim];
    for (int32_t i = 0; i < s->n_more; i++) {
        double other_s = s->more[i].load_B / bw_Bps[s->more[i].dim];
        time_s = other_s > time_s ? other_s : time_s;
    }
    return time_s;
}

/** The dimension whose links those are: the class that takes longest. */
static inline int32_t stage_binding(const struct stage *s, const double *bw_Bps)
{
    double time_s = s->load_B / bw_Bps[s->dim];
    int32_t d = s->dim;
    for (int32_t i = 0; i < s->n_more; i++)
        if (s->more[i].load_B / bw_Bps[s->more[i].dim] > time_s) {
            d = s->more[i].dim;
            time_s = s->more[i].load_B / bw_Bps[d];
        }
    return d;
}

/** Add @p times the bytes that @p s asks of each class, and the seconds that its links are busy; shape
 * [n_dims]. */
static inline void stage_tally(const struct stage *s, double times, const double *bw_Bps, double *sent_B,
                               double *busy_s)
{
    sent_B[s->dim] += times * s->sent_B;
    busy_s[s->dim] += times * (s->load_B / bw_Bps[s->dim]);
    for (int32_t i = 0; i < s->n_more; i++) {
        sent_B[s->more[i].dim] += times * s->more[i].sent_B;
        busy_s[s->more[i].dim] += times * (s->more[i].load_B / bw_Bps[s->more[i].dim]);
    }
}

/**
 * Cost of one pass over @p full_B bytes (S of algorithm_cost()) among @p members >= 2 of dimension @p dim,
 * @p stride apart.
 * Where algorithm, regime or segments are to choose, the fastest is taken; when the bandwidth is not known
 * (NaN or 0), the one that needs least.
 */
void stage_fill(struct stage *s, int32_t dim, enum pass pass, double full_B, int32_t members, int32_t stride,
                const struct collective_way *way);

/** A part of a collective that is done at once: along a dimension, or over all levels of a fabric. */
struct stage_unit {
    int32_t dim;
    bool flat;
    bool minimal;           /**< by minimal routes, whatever the routing of its entry */
    int32_t n;              /**< members */
    int32_t stride;         /**< along a dimension; 0 is 1 */
    const int32_t *strides; /**< flat: of each level, borrowed; NULL: 1 */
    int32_t node;           /**< members of a node that change rails in a shared spine, 1 = none do */
    double mates;           /**< of these on one rail, topo_rail_mates() */
};

/**
 * The units of a collective of @p kind over @p members in @p order (as stage_list()), those of one member
 * left out. A fabric is one unit in all-to-all and send, and where it was given an algorithm; else level by
 * level. All-to-all over rails with a shared spine and no forwarding is one unit with all dimensions before;
 * with @p share it is forwarded.
 * @return how many.
 */
int32_t stage_units(struct stage_unit out[TOPO_MAX_DIMS], enum collective_kind kind, const int32_t *members,
                    const int32_t *stride, const double *share, const int32_t *order,
                    const struct topo_network *net);

/**
 * The stages of a collective of @p bytes per NPU over @p members, @p stride apart (both of shape [n_dims];
 * stride NULL: next to each other), in the order @p order
 * (shape [n_dims], every dimension once; NULL: innermost first): reduce-scatter along it; all-gather and
 * broadcast against it; all-reduce along it, all-reduce at its end (one stage where the switch or a tree does
 * it in one go, else reduce-scatter and all-gather), and back; the others along it.
 *
 * @param share    as of collective_loads().
 * @param way      @p bytes are those of one chunk; how many there are decides regimes, and the part of a
 * latency that was measured of all.
 * @return how many, 0 for no bytes or a group of one.
 */
int32_t stage_list(struct stage out[STAGE_MAX], enum collective_kind kind, double bytes,
                   const int32_t *members, const int32_t *stride, const double *share, const int32_t *order,
                   const struct collective_way *way);

/** Row r of a pipeline: how often each of its stages counts. */
struct stage_row {
    double count[STAGE_MAX]; /**< shape [n] */
};

/**
 * Time of C equal chunks that pass the stages of stage_list() one behind the other, each dimension serving
 * one at a time: the largest over rows of sum_k count[k] * (time of stage k for one chunk). One row per
 * dimension of the collective: it works on all C chunks without pause, after the first chunk has reached it
 * and before the last has left.
 *
 * Reduce-scatter, all-gather, all-to-all, broadcast, send: all other stages count once; that is exact (a flow
 * shop of equal jobs). All-reduce: dimensions between this one and the turn do not count, since chunks on
 * their way out and back fill the wait; a lower bound, exact for two equal dimensions, one chunk, or one
 * dimension.
 *
 * @param kind    decides between the two.
 * @return how many rows, 1 to TOPO_MAX_DIMS; @p n >= 1.
 */
int32_t stage_rows(struct stage_row out[TOPO_MAX_DIMS], const struct stage *stages, int32_t n,
                   enum collective_kind kind, int32_t chunks);

/** Could another bandwidth lead to another choice in @p net? Segments of a broadcast aside, which always
 * could. */
bool stage_has_choice(const struct topo_network *net);

/* ---- time ---- */

/** Seconds, and how many of them the dimensions take: what is left is latency. */
struct collective_time {
    double time_s;
    double wait_s[TOPO_MAX_DIMS]; /**< transfers on the path that decides */
    double
        busy_s[TOPO_MAX_DIMS]; /**< each class of links, on that path or not; none takes longer than time_s */
};

/** Time of one collective over @p members, @p stride apart (shapes [n_dims], stride NULL: next to each
 * other), @p share as of collective_loads(). The slowest of its rows, the first of equals. */
void collective_time(struct collective_time *out, enum collective_kind kind, double bytes,
                     const int32_t *members, const int32_t *stride, const double *share,
                     const struct collective_way *way);

/** Time as a function of bytes, where nothing is chosen by them: the largest of lines through const_s. */
struct collective_lines {
    int32_t n;
    double busy_s_per_B[TOPO_MAX_DIMS]; /**< of each class of links */
    struct collective_line {
        double const_s, s_per_B; /**< time_s = const_s + s_per_B * bytes */
        double wait_s_per_B[TOPO_MAX_DIMS];
    } lines[TOPO_MAX_DIMS];
};

/** Can collectives of this kind be written as lines? Not where algorithm, regime or segments depend on size.
 */
bool collective_is_linear(enum collective_kind kind, const struct collective_way *way);

/** A collective that is of lines (collective_is_linear()), whatever its bytes and bandwidths: it takes the
 * most of const_s + (s_per_B + sum_d load_B[d] / B_d) * bytes. */
struct collective_form {
    int32_t n_rows;
    double load_B[TOPO_MAX_DIMS]; /**< of each class of links per byte that enters */
    struct collective_form_row {
        double const_s, s_per_B, load_B[TOPO_MAX_DIMS];
    } rows[TOPO_MAX_DIMS]; /**< shape [n_rows] */
};

/** False: it is of another form, as several classes of links carry it at once. Bandwidths of @p way are not
 * looked at. */
bool collective_find_form(struct collective_form *out, enum collective_kind kind, const int32_t *members,
                          const int32_t *stride, const double *share, const struct collective_way *way);
/** The lines at @p bw_Bps, shape [n_dims]. */
void collective_form_lines(struct collective_lines *out, const struct collective_form *form,
                           const double *bw_Bps, int32_t n_dims);

/** The lines; those that another one exceeds everywhere are left out. Same times as collective_time() but for
 * rounding. */
void collective_find_lines(struct collective_lines *out, enum collective_kind kind, const int32_t *members,
                           const int32_t *stride, const double *share, const struct collective_way *way);

#endif
