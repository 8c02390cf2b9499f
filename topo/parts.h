/**
 * @file What parts cost and draw: rates per GB/s (linear), or a catalogue of whole parts.
 *
 * Read once per study and never changed after; any number of threads may read it. Linear searches by name are
 * fine: files have tens of rows, and they are asked once per dimension and design.
 */
#ifndef TOPO_PARTS_H
#define TOPO_PARTS_H

#include "topo/network.h"

/** Low, typical and high value of one figure; NaN where no source gave one. low <= typ <= high. */
struct topo_band {
    double low, typ, high;
};

/** How sure a figure is, best first; a sum is as sure as its worst part. */
enum topo_grade {
    GRADE_VERIFIED, /**< V: read in the named source */
    GRADE_DERIVED,  /**< D: computed from verified figures */
    GRADE_WEAK,     /**< V-weak: vendor blog, reseller, undated */
    GRADE_RECALLED, /**< R: recalled, a placeholder; also what nobody graded */
    N_GRADES,
};
extern const char *const topo_grade_names[N_GRADES + 1];

/** Price of one tier by the GB/s (LIBRA's model). */
struct topo_rate {
    char tier[TOPO_NAME];
    struct topo_band link, port,
        nic; /**< [USD per B/s of one NPU]; port = switch; NaN typ where the tier has none */
    const char *source, *date; /**< borrowed from the document; never NULL, "" = unknown */
    enum topo_grade grade;
};

enum topo_part_kind {
    PART_NIC,
    PART_SWITCH,
    PART_TRANSCEIVER,
    PART_CABLE,
    PART_LINK,
    /** Scale-up fabric that comes with servers of `ports` NPUs, each of which sends bw_Bps into it: a
     * constant of what is bought. Its price is the servers', and 0 here. */
    PART_PRODUCT,
    N_PART_KINDS
};

/** One thing that can be bought, or at least counted. */
struct topo_part {
    enum topo_part_kind kind;
    const char *name;           /**< borrowed from the document */
    int64_t year, ports;        /**< -1 unknown */
    double bw_Bps;              /**< per port, one direction [B/s]; NaN unknown */
    struct topo_band usd;       /**< per piece; NaN typ: cannot be used in a recipe */
    double watt;                /**< of the piece alone; of both ends for a whole link; NaN unknown */
    double lat_s;               /**< port to port [s]; NaN unknown */
    double lat_s_per_m;         /**< cables: propagation [s/m]; NaN unknown */
    double reach_m;             /**< cables and links: longest they work [m]; NaN unknown */
    double run_m;               /**< of what a recipe lays over a distance, the distance [m]; else NaN */
    double mtbf_s;              /**< mean time between failures of a piece [s]; NaN: as of its kind */
    const char *source, *date;  /**< borrowed; never NULL, "" = unknown */
    enum topo_grade grade;      /**< of usd.typ */
    enum topo_grade band_grade; /**< of usd.low and usd.high: the worse of the two */
    enum topo_grade watt_grade;
};

/**
 * How a tier is built from catalogue parts; indices into parts, -1 = not used, and their names as written.
 *
 * A link of which only the distance is given is the cheapest cable or link of the recipe's rate that reaches
 * as far; one that is named too must reach it. Either is then a part of its own, a copy with its run_m.
 *
 * One end link of the tier runs at the slowest rate among its parts (topo_site_link_Bps()). With a breakout a
 * port of the box serves several of them, and a link up is as fast as all of these.
 * A switch part with one port is a switch sold by the port (LIBRA's 13 and 18 USD per
 * GB/s): one is counted per end, a single tier, no box.
 */
struct topo_recipe {
    char tier[TOPO_NAME];
    int32_t nic;      /**< at every NPU end of a link; may be -1 */
    int32_t sw;       /**< switch box of a folded Clos; needed by switch dimensions */
    int32_t end_link; /**< NPU to leaf switch, or NPU to NPU; a whole full-duplex link, both ends included */
    int32_t up_link;  /**< switch to switch, both ends included; needed beyond one tier */
    int32_t product;  /**< a fabric that is there already, in place of all the others */
    double taper;     /**< 1: what tapers costs time, and is a shape of its own (fat-tree) */
    int64_t breakout; /**< end links that one port of a leaf serves; >= 1 */
    int64_t rails;    /**< independent Clos networks the ends are dealt out to, at most; >= 1 */
    bool even_spread; /**< every box has as many links to all above it: topo_count_even_clos() */
    double end_m, up_m; /**< distance that end and up links span [m]; NaN: not given */
    const char *nic_name, *sw_name, *end_name, *up_name, *product_name; /**< borrowed; NULL: not used */
};

/** Counting of direct links (ring, line, full) in rates mode. */
enum topo_counting {
    COUNT_TWO_WAY, /**< c_link * B per NPU for ring, line and full (LIBRA's public code) */
    COUNT_ONE_WAY, /**< half of it (the 2022 artifact) */
};

/** Prices as read from one file. Borrows text from the YAML document. Release with topo_parts_free(). */
struct topo_parts {
    const char *name;          /**< borrowed; the file's path when it gives no name */
    const char *source, *date; /**< of rows without their own */
    enum topo_grade grade;
    enum topo_counting counting;
    double nic_port_Bps;     /**< rates mode: size of one NIC for counting NICs [B/s]; NaN = cannot count */
    struct topo_rate *rates; /**< shape [n_rates], owned; empty in catalogue mode */
    int32_t n_rates;
    struct topo_part *parts; /**< shape [n_parts], owned */
    int32_t n_parts;
    struct topo_recipe *recipes; /**< shape [n_recipes], owned; non-empty = catalogue mode */
    int32_t n_recipes;
};

/** Key tables of a parts file, and of a price written as { low, typ, high }. */
extern const struct section topo_parts_section, topo_rate_section, topo_part_section, topo_recipe_section,
    topo_band_section;

/**
 * Read a parts map: exactly one of `rates` and `catalogue` + `build`.
 *
 * `source`, `date` and `grade` of the file hold for every row that does not give its own; a row without any
 * has the file's path, "" and grade R. A price is a number (typical) or a map { low, typ, high }. Grade "R+A"
 * (recalled, but reproduces published sums) is R.
 * @return 0, ERR_NOMEM, ERR_PARSE (unknown part or key, duplicate tier or part, part of the wrong kind,
 *         neither or both modes) or ERR_RANGE (negative price, low > typ, part without price, bandwidth or
 *         ports in a recipe, key without effect). With the place.
 *
 * On failure @p p is empty. @p doc must outlive it, as texts are borrowed.
 */
int topo_read_parts(struct topo_parts *p, const struct yaml_doc *doc, yaml_id node, struct err *e);
/** Texts stay: they are the document's. */
void topo_parts_free(struct topo_parts *p);

/** Rate or recipe of a tier, or NULL. */
const struct topo_rate *topo_find_rate(const struct topo_parts *p, const char *tier);
const struct topo_recipe *topo_find_recipe(const struct topo_parts *p, const char *tier);

/** Part by name, or -1. */
int32_t topo_find_part(const struct topo_parts *p, const char *name);

/**
 * Rate of one end link built by @p r with all its parts [B/s]: the slowest of them, a box and a link up over
 * the breakout; parts without a bandwidth do not count. A shape that buys no switch is not held up by one:
 * topo_site_link_Bps().
 *
 * Never NaN for a recipe that was read: its end link has a bandwidth. Of a product: all that an NPU sends.
 */
double topo_recipe_link_Bps(const struct topo_parts *p, const struct topo_recipe *r);

/**
 * Rounded up; the last 1e-9 is rounding of whoever chose the bandwidth, not worth a part.
 *
 * At least 0 for @p x >= 0; exact below 2^53.
 */
double topo_whole_parts(double x);

#endif
