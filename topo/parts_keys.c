#include "topo/parts_keys.h"
#include "topo/uses.h"

#include <stddef.h>

const char *const topo_grade_names[N_GRADES + 1] = { "V", "D", "V-weak", "R", NULL };
const char *const topo_part_kind_names[N_PART_KINDS + 1] = { "nic", "switch", "xcvr", "cable", "link", NULL };

/* "R+A": recalled, but reproduces published sums by arithmetic; no better than recalled here. */
static const char *const grade_words[] = { "V", "D", "V-weak", "R", "R+A", NULL };
static const char *const counting_words[] = { "two-way", "one-way", NULL };

/* A key of text, one of a node, a number, a grade; `conf` is the struct it fills. */
#define ROW(conf, field, key, text, what, absent)                                                            \
    .name = key, .help = text, .kind = what, .offset = offsetof(struct conf, field), .dflt = absent
#define TEXT(conf, field, key, text)                                                                         \
    {                                                                                                        \
        ROW(conf, field, key, text, KEY_TEXT, SCHEMA_NONE), .unit = ""                                       \
    }
#define NEED(conf, field, key, text)                                                                         \
    {                                                                                                        \
        ROW(conf, field, key, text, KEY_TEXT, SCHEMA_NONE), .unit = "", .required = true                     \
    }
#define LIST(conf, field, key, text)                                                                         \
    {                                                                                                        \
        ROW(conf, field, key, text, KEY_NODE, SCHEMA_NONE), .unit = "", .uses = USE_COST                     \
    }
#define PRICE(conf, field, key, text, per)                                                                   \
    {                                                                                                        \
        ROW(conf, field, key, text, KEY_NODE, SCHEMA_NONE), .unit = per, .uses = USE_COST                    \
    }
#define GRADE(conf, field, key, text)                                                                        \
    {                                                                                                        \
        ROW(conf, field, key, text, KEY_WORD, SCHEMA_NONE), .unit = "", .words = grade_words                 \
    }
#define REAL(conf, field, key, text, per, to_SI, least, most, use)                                           \
    {                                                                                                        \
        ROW(conf, field, key, text, KEY_REAL, SCHEMA_NONE), .unit = per, .scale = to_SI, .min = least,       \
                                                            .max = most, .uses = use                         \
    }
#define COUNT(conf, field, key, text, least, most, use)                                                      \
    {                                                                                                        \
        ROW(conf, field, key, text, KEY_COUNT, SCHEMA_NONE), .unit = "", .scale = 1, .min = least,           \
                                                             .max = most, .uses = use                        \
    }

static const struct key parts_keys[] = {
    TEXT(parts_conf, name, "name", "what messages and bills call this file"),
    TEXT(parts_conf, source, "source", "where the figures come from, for rows without their own"),
    TEXT(parts_conf, date, "date", "date of the source, for rows without their own"),
    GRADE(parts_conf, grade, "grade", "how sure the prices are, for rows without their own; absent = R"),
    { ROW(parts_conf, counting, "counting", "direct links: two-way = link * B per NPU, one-way = half of it",
          KEY_WORD, COUNT_TWO_WAY),
      .unit = "", .words = counting_words, .uses = USE_COST },
    REAL(parts_conf, nic_port_Bps, "nic_port_GBps", "size of one NIC, to count NICs from rates", "GB/s", 1e9,
         1e-3, 1e6, USE_COST),
    LIST(parts_conf, rates, "rates", "list of prices by the GB/s, one per tier"),
    LIST(parts_conf, catalogue, "catalogue", "list of parts"),
    LIST(parts_conf, build, "build", "list of recipes, how each tier is built from the catalogue"),
};

static const struct key rate_keys[] = {
    NEED(rate_conf, tier, "tier", "tier of dimensions this row prices"),
    PRICE(rate_conf, link, "link_usd_per_GBps", "link, per GB/s of one NPU: a number or { low, typ, high }",
          "USD per GB/s"),
    PRICE(rate_conf, port, "switch_usd_per_GBps",
          "switch, per GB/s of one NPU: a number or { low, typ, high }", "USD per GB/s"),
    PRICE(rate_conf, nic, "nic_usd_per_GBps", "NIC, per GB/s of one NPU: a number or { low, typ, high }",
          "USD per GB/s"),
    TEXT(rate_conf, source, "source", "where the prices come from"),
    TEXT(rate_conf, date, "date", "date of the source"),
    GRADE(rate_conf, grade, "grade", "how sure the prices are"),
};

static const struct key part_keys[] = {
    NEED(part_conf, name, "name", "what recipes call the part"),
    { ROW(part_conf, kind, "kind",
          "what it is; link and cable are whole links, both ends included, where recipes use them", KEY_WORD,
          SCHEMA_NONE),
      .unit = "", .words = topo_part_kind_names, .required = true },
    COUNT(part_conf, year, "year", "first sold", 1990, 2100, 0),
    COUNT(part_conf, ports, "ports", "ports of one piece; a switch of one port is sold by the port", 1, 65536,
          USE_COST),
    REAL(part_conf, bw_Bps, "bw_GBps", "bandwidth of a port, one direction", "GB/s", 1e9, 1e-3, 1e6,
         USE_COST),
    PRICE(part_conf, usd, "usd", "price of a piece: a number or { low, typ, high }", "USD"),
    REAL(part_conf, watt, "watt", "power of a piece; of both ends for a whole link", "W", 1, 0, 1e6,
         USE_COST),
    REAL(part_conf, lat_s, "latency_ns", "port to port", "ns", 1e-9, 0, 1e6, 0),
    REAL(part_conf, lat_s_per_m, "latency_ns_per_m", "propagation of a cable", "ns/m", 1e-9, 0, 100, 0),
    TEXT(part_conf, source, "source", "where the figures come from"),
    TEXT(part_conf, date, "date", "date of the source"),
    GRADE(part_conf, grade, "grade", "how sure the typical price is"),
    GRADE(part_conf, band_grade, "band_grade", "how sure low and high are; absent = grade"),
    GRADE(part_conf, watt_grade, "watt_grade", "how sure watt is; absent = grade"),
};

static const struct key recipe_keys[] = {
    NEED(recipe_conf, tier, "tier", "tier of dimensions this recipe builds"),
    TEXT(recipe_conf, nic, "nic", "part at every NPU end of a link"),
    TEXT(recipe_conf, sw, "switch", "part of switch dimensions: box of a folded Clos"),
    NEED(recipe_conf, end_link, "end_link", "whole link from NPU to leaf switch, or from NPU to NPU"),
    TEXT(recipe_conf, up_link, "up_link", "whole link from switch to switch"),
    { ROW(recipe_conf, taper, "taper", "bandwidth down : up of the leaf switches; 1 = full bisection",
          KEY_REAL, 1),
      .unit = "", .scale = 1, .min = 1, .max = 64, .uses = USE_COST },
    { ROW(recipe_conf, rails, "rails", "independent Clos networks the ends are dealt out to, at most",
          KEY_COUNT, 1),
      .unit = "", .scale = 1, .min = 1, .max = TOPO_MAX_NPUS, .uses = USE_COST },
};

static const struct key band_keys[] = {
    REAL(topo_band, low, "low", "lowest price found", "", 1, 0, TOPO_MAX_USD, USE_COST),
    REAL(topo_band, typ, "typ", "typical price: the one that is optimised", "", 1, 0, TOPO_MAX_USD, USE_COST),
    REAL(topo_band, high, "high", "highest price found", "", 1, 0, TOPO_MAX_USD, USE_COST),
};

#define SECTION(where, text, rows)                                                                           \
    {                                                                                                        \
        .name = where, .help = text, .keys = rows, .n_keys = sizeof rows / sizeof rows[0], STUDY_USES        \
    }

const struct section topo_parts_section =
    SECTION("parts", "prices: rates, or a catalogue of parts", parts_keys);
const struct section topo_rate_section =
    SECTION("parts.rates[]", "prices of one tier by the GB/s", rate_keys);
const struct section topo_part_section = SECTION("parts.catalogue[]", "one part", part_keys);
const struct section topo_recipe_section = SECTION("parts.build[]", "how one tier is built", recipe_keys);
const struct section topo_band_section =
    SECTION("price", "a price with its band, where a number may stand", band_keys);
