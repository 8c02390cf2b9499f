/** @file A network as a graph: a vertex per NPU and switch, an edge per full-duplex link (igraph inside). */
#ifndef TOPO_GRAPH_H
#define TOPO_GRAPH_H

#include "base/text.h"
#include "topo/metric.h"

/**
 * Opaque: an undirected igraph graph that carries bandwidth, latency, dimension and price as edge
 * attributes and "is an NPU" as a vertex attribute.
 *
 * Vertices: NPUs 0..n_npus-1, then switches. Of a described network NPU (a_1..a_D) is
 * a_1 + n_1 (a_2 + n_2 (...)), switches follow by dimension and group, edges by dimension,
 * group and link. Figures of links are kept to 15 significant digits, what a
 * GraphML file carries, so that writing and reading lose nothing.
 *
 * igraph is not safe in several threads: build and use graphs in one thread only.
 */
struct topo_graph;

/** What edges of files say: columns of CSV, and attributes of GraphML. */
extern const struct section topo_edge_section;

/** Most vertices and links together. */
#define TOPO_MAX_GRAPH (INT64_C(1) << 28)
/** Largest graph file that is read [bytes]. */
#define TOPO_MAX_GRAPH_BYTES ((size_t)1 << 30)

/** One full-duplex link; capacity and latency are of each direction. */
struct topo_link {
    int64_t src, dst; /**< vertices, src < dst */
    double bw_Bps;    /**< NaN where not chosen yet */
    double lat_s;     /**< of this link alone: a switch's link has half of its dimension's latency */
    double usd, watt; /**< of the whole link; NaN when not given */
    int32_t dim;      /**< 0-based; -1 unknown (custom graph) */
    int32_t cls;      /**< see topo_graph_class(): of a described network its dim; -1 = none */
};

/**
 * Set igraph up: errors return instead of aborting, warnings are not printed, attributes are kept.
 * Call it first thing in main(); builders and readers below call it too.
 */
void topo_graph_init(void);

/**
 * Build the graph of @p net at the bandwidths it holds (NaN is kept).
 *
 * @param[out] out     NULL on failure; release with topo_graph_free().
 * @param usd_per_Bps  shape [n_dims], price of the whole dimension [USD] per B/s of one NPU, as in struct
 *                     topo_dim_price; shared evenly by its links. NaN = no price. NULL = no prices at all.
 * @return 0, ERR_NOMEM, ERR_LIB, or ERR_RANGE: more than TOPO_MAX_GRAPH vertices and links.
 *
 * Time O(vertices + links); about 64 bytes per link and 16 per vertex at any
 * moment, 8 per link more with prices.
 */
int topo_build_graph(struct topo_graph **out, const struct topo_network *net, const double *usd_per_Bps,
                     struct err *e);

/**
 * Read a custom network from an undirected GraphML file. Edge attributes (numeric): bw_GBps > 0 and
 * latency_ns (or lat_ns) >= 0 required, dim, usd and watt optional; `class` (text) names what links are
 * alike. Vertex attributes (text): kind "npu" or "switch", without one as in topo_read_edges(), name (default
 * the node's id); usd and watt (numeric) optional. Other attributes are ignored. NPUs are numbered first,
 * each kind in the order of the file. Several links between two vertices are allowed.
 * @return 0, ERR_NOMEM, ERR_UNSUP (directed, hyperedges) or ERR_PARSE, ERR_RANGE: not GraphML,
 *         several graphs, an undeclared node or key, a value missing or out of range (the message names
 *         the edge, counted from 1), a link from a vertex to itself, fewer than 2 NPUs, too large.
 */
int topo_read_graphml(struct topo_graph **out, const char *path, struct err *e);

/**
 * Read a custom network from a CSV edge list with columns src, dst, bw_GBps, latency_ns and optionally
 * src_kind, dst_kind ("npu", "switch" or blank), class, usd and watt (of the link; prices of nodes need
 * GraphML). Node names are any text or whole numbers; a node
 * without a kind in any row is a switch if its name starts with "switch", else an NPU: if its name starts
 * with "npu", or where all NPUs are called alike but for their digits ("n0", "n15"; names without digits are
 * alike), and no switch is. NPUs are numbered first, each kind in order of first mention. Errors as
 * topo_read_graphml(); ERR_PARSE: kinds are missing.
 */
int topo_read_edges(struct topo_graph **out, const char *path, struct err *e);

/** Either of them, by the end of the name: .csv is an edge list. */
int topo_read_graph(struct topo_graph **out, const char *path, struct err *e);

/**
 * A custom network from a list of links between @p n_npus NPUs, vertices 0.. , and @p n_switches switches,
 * the vertices after them; called "PREFIX<i>" and "switch<i>", each from 0. Several links between two
 * vertices are allowed. Bandwidth > 0, latency >= 0; price and dimension are not kept.
 * @return 0, ERR_NOMEM, ERR_LIB; ERR_RANGE: an end that is no vertex; ERR_PARSE (NaN), ERR_RANGE as
 * topo_read_graphml(). O(vertices + links).
 */
int topo_build_links(struct topo_graph **out, int64_t n_npus, int64_t n_switches, const char *prefix,
                     const struct topo_link *links, int64_t n_links, struct err *e);

/** Multiply bandwidth, price and power of the links of each class of a custom graph, shape
 * [topo_graph_classes()], of links without a class by the first. ERR_NOMEM, ERR_LIB. */
int topo_graph_scale(struct topo_graph *g, const double *times, struct err *e);

void topo_graph_free(struct topo_graph *g); /**< NULL is fine */

/** Vertices below it are NPUs. */
int64_t topo_graph_npus(const struct topo_graph *g);
/** Was it read from a file that says of no vertex whether it is an NPU or a switch? Then all count as NPUs.
 */
bool topo_graph_lacks_kinds(const struct topo_graph *g);
/** What to say of such a file, behind its name: "%lld" NPUs. */
#define TOPO_NO_KINDS                                                                                        \
    "gives no kind of any node: all %lld count as NPUs; give npu or switch in src_kind and dst_kind "        \
    "(GraphML: kind)"
int64_t topo_graph_vertices(const struct topo_graph *g);
int64_t topo_graph_links(const struct topo_graph *g);

/** Classes of links: as the file names them, in order of first mention; of a described network its
 * dimensions. */
int32_t topo_graph_classes(const struct topo_graph *g);
const char *topo_graph_class(const struct topo_graph *g, int32_t cls);

/** What the file says that vertex @p v costs [USD] and draws [W]; NaN where it does not. */
double topo_vertex_usd(const struct topo_graph *g, int64_t v);
double topo_vertex_watt(const struct topo_graph *g, int64_t v);

/**
 * Which vertices of a coloured undirected graph are alike, whatever it stands for: orbit[v] is the lowest
 * vertex that an automorphism which keeps colours maps v to (BLISS). Several edges between two vertices and
 * loops are not allowed. @p ends, shape [2 * n_edges]; @p colors, @p orbit, shape [n_vertices].
 * ERR_NOMEM, ERR_LIB.
 */
int topo_find_orbits(int32_t *orbit, int32_t n_vertices, const int32_t *colors, const int32_t *ends,
                     int32_t n_edges, struct err *e);

/** The described network that @p g was built from, borrowed from it; NULL for a custom graph. */
const struct topo_network *topo_graph_network(const struct topo_graph *g);

/**
 * All links in order of their number, shape [topo_graph_links()]. ERR_NOMEM or ERR_LIB. O(links).
 *
 * After a failure @p out holds some of them.
 */
int topo_list_links(struct topo_link *out, const struct topo_graph *g, struct err *e);

enum { TOPO_VERTEX_TEXT = 128 };
/**
 * What exports call vertex @p v: "npu12"; "switch-pod-3" (dimension's name, group); of a custom graph the
 * file's own name, cut to fit. Returns @p buf.
 *
 * O(n_dims).
 */
const char *topo_vertex_name(char buf[TOPO_VERTEX_TEXT], const struct topo_graph *g, int64_t v);
/** "1,0,3": address, innermost first, with * in a switch's dimension; "" in a custom graph. Returns @p buf.
 */
const char *topo_vertex_coord(char buf[TOPO_VERTEX_TEXT], const struct topo_graph *g, int64_t v);

/**
 * Append the graph as GraphML or Graphviz DOT. Vertex attributes name, kind ("npu",
 * "switch"), for described networks coord, for others usd and watt; edge attributes class, dim, bw_GBps,
 * latency_ns, usd, watt (those the graph has; a NaN is left out of GraphML). ERR_NOMEM or ERR_LIB.
 */
int topo_format_graphml(struct text *out, const struct topo_graph *g, struct err *e);
/** Of an undirected graph, "--" between vertices; attributes as above. */
int topo_format_dot(struct text *out, const struct topo_graph *g, struct err *e);

/** Limits of topo_graph_metrics(), in vertices; below a limit the figure is exact. */
enum {
    TOPO_HOPS_VERTICES = 20000,        /**< above: hops from TOPO_HOPS_SOURCES sources only */
    TOPO_HOPS_SOURCES = 64,            /**< NPUs spread evenly over the numbering */
    TOPO_BISECTION_VERTICES = 100000,  /**< above: bisection NaN */
    TOPO_CONNECTIVITY_VERTICES = 5000, /**< above: edge_connectivity -1, unless a vertex has one link */
};

/**
 * The metrics of topo_metrics() by search instead of formula: breadth-first
 * distances, maximum flow between halves, minimum cut. Of a described network the halves of topo/halves.h
 * that begin with each axis; of a custom graph the first floor(n/2) NPUs and the others, and
 * bisection_is_bound is set. Tens of seconds at the limits above. ERR_NOMEM or ERR_LIB.
 */
int topo_graph_metrics(struct topo_metrics *m, const struct topo_graph *g, struct err *e);

#endif
