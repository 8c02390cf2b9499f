/*
 * Catalogues of parts: links, switches, NICs with rates and prices; their keys, and finding the part that
 * fits.
 *
 * The schema (base/schema.h) reads keys, kinds and ranges; the checks here are of what one key says about
 * another, and run from the inside out: bands, rows, then the file as a whole (settle_parts()), which also
 * fills in what rows leave out. Keys without effect are refused rather than ignored: a taper in a recipe
 * without switches is a mistake of whoever wrote it.
 */
#include "topo/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "topo/uses.h"

const char *const topo_grade_names[N_GRADES + 1] = { "V", "D", "V-weak", "R", NULL };
static const char *const part_kind_words[N_PART_KINDS + 1] = { "nic",  "switch",  "xcvr", "cable",
                                                               "link", "product", NULL };

/* "R+A": recalled, but reproduces published sums by arithmetic; no better than recalled here. */
static const char *const grade_words[] = { "V", "D", "V-weak", "R", "R+A", NULL };
enum { NOT_GRADED = -1 };
static const char *const counting_words[] = { "two-way", "one-way", NULL };

/* Highest price of a piece or of a GB/s [USD]: beyond any; it only stops nonsense. */
#define TOPO_MAX_USD 1e9

/* Distances of links [m]. */
#define MIN_RUN_M 1e-3
#define MAX_RUN_M 1e6

/* ---- prices ---- */

static const struct key band_keys[] = {
    K_REAL_OR(struct topo_band, low, "low", "", 1, 0, TOPO_MAX_USD, NAN, "lowest price found",
              .uses = USE_COST),
    K_REAL_OR(struct topo_band, typ, "typ", "", 1, 0, TOPO_MAX_USD, NAN,
              "typical price: the one that is optimised", .uses = USE_COST),
    K_REAL_OR(struct topo_band, high, "high", "", 1, 0, TOPO_MAX_USD, NAN, "highest price found",
              .uses = USE_COST),
};

/* NaN compares false: a missing value contradicts nothing. */
static int check_band(void *base, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    const struct topo_band *b = base;
    if (b->low > b->typ)
        return yaml_fail(doc, id, e, ERR_RANGE, "low is %g, expected at most typ, %g", b->low, b->typ);
    if (b->typ > b->high)
        return yaml_fail(doc, id, e, ERR_RANGE, "high is %g, expected at least typ, %g", b->high, b->typ);
    if (b->low > b->high)
        return yaml_fail(doc, id, e, ERR_RANGE, "low is %g, expected at most high, %g", b->low, b->high);
    return 0;
}

K_SECTION(topo_band_section, struct topo_band, "price", band_keys,
          "a price with its band, where a number may stand", STUDY_USES, .check = check_band);

/* A number, the typical price, or { low, typ, high }; by the scale, which divides: exact where a product with
 * 1e-9 would round twice. */
static int read_price(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct topo_band *b = field;
    int rc = 0;
    *b = (struct topo_band){ NAN, NAN, NAN };
    if (id < 0)
        return 0;
    if (doc->nodes[id].kind == YAML_MAP)
        rc = schema_read(b, &topo_band_section, doc, id, e);
    else
        rc = yaml_real(doc, id, &b->typ, e);
    if (!rc && !isnan(b->typ) && !(b->typ >= 0 && b->typ <= TOPO_MAX_USD))
        rc = yaml_fail(doc, id, e, ERR_RANGE, "is %g, expected 0 to %g", b->typ, TOPO_MAX_USD);
    b->low /= k->scale;
    b->typ /= k->scale;
    b->high /= k->scale;
    return rc;
}

#define PRICE(T, f, key, in, per, ...)                                                                       \
    K_OWN(T, f, key, read_price, __VA_ARGS__, .form = "number or <price>", .unit = in, .scale = per,         \
          .uses = USE_COST)

/* ---- rows ---- */

#define RATE_USD(f, key, text)                                                                               \
    PRICE(struct topo_rate, f, key, "USD per GB/s", 1e9,                                                     \
          text ", per GB/s of one NPU: a number or { low, typ, high }")

static const struct key rate_keys[] = {
    K_NAME(struct topo_rate, tier, "tier", 1, "tier of dimensions this row prices", .required = true),
    RATE_USD(link, "link_usd_per_GBps", "link"),
    RATE_USD(port, "switch_usd_per_GBps", "switch"),
    RATE_USD(nic, "nic_usd_per_GBps", "NIC"),
    K_TEXT(struct topo_rate, source, "source", "where the prices come from"),
    K_TEXT(struct topo_rate, date, "date", "date of the source"),
    K_WORD_OR(struct topo_rate, grade, "grade", grade_words, NOT_GRADED, "how sure the prices are"),
};

/* Only a switch takes NICs (LIBRA), so a NIC price alone would never be used. */
static int check_rate(void *base, const struct yaml_doc *doc, yaml_id row, struct err *e)
{
    (void)base;
    yaml_id nic = yaml_get(doc, row, "nic_usd_per_GBps");
    if (nic >= 0 && yaml_get(doc, row, "switch_usd_per_GBps") < 0)
        return yaml_fail(doc, nic, e, ERR_RANGE, "is given without effect; give switch_usd_per_GBps too");
    return 0;
}

K_SECTION(topo_rate_section, struct topo_rate, "parts.rates[]", rate_keys, "prices of one tier by the GB/s",
          STUDY_USES, .check = check_rate);

static const struct key part_keys[] = {
    K_TEXT(struct topo_part, name, "name", "what recipes call the part", .required = true),
    K_WORD_OR(struct topo_part, kind, "kind", part_kind_words, -1,
              "what it is; link and cable are whole links, both ends included, where recipes use them",
              .required = true),
    K_COUNT_OR(struct topo_part, year, "year", 1990, 2100, -1, "first sold"),
    K_COUNT_OR(struct topo_part, ports, "ports", 1, 65536, -1,
               "ports of one piece; a switch of one port is sold by the port", .uses = USE_COST),
    K_REAL_OR(struct topo_part, bw_Bps, "bw_GBps", "GB/s", 1e9, 1e-3, 1e6, NAN,
              "bandwidth of a port, one direction", .uses = USE_COST),
    PRICE(struct topo_part, usd, "usd", "USD", 1, "price of a piece: a number or { low, typ, high }"),
    K_REAL_OR(struct topo_part, watt, "watt", "W", 1, 0, 1e6, NAN,
              "power of a piece; of both ends for a whole link", .uses = USE_COST),
    K_REAL_OR(struct topo_part, lat_s, "latency_ns", "ns", 1e-9, 0, 1e6, NAN,
              "port to port; a record: models take latency_ns of dims"),
    K_REAL_OR(struct topo_part, lat_s_per_m, "latency_ns_per_m", "ns/m", 1e-9, 0, 100, NAN,
              "propagation of a cable"),
    K_REAL_OR(struct topo_part, reach_m, "reach_m", "m", 1, MIN_RUN_M, MAX_RUN_M, NAN,
              "longest distance that a cable or link spans: by it recipes choose, see end_m",
              .uses = USE_COST),
    K_REAL_OR(struct topo_part, mtbf_s, "mtbf_h", "h", 3600, 1e-3, 1e12, NAN,
              "mean time between failures of a piece, both ends of a whole link included (default: "
              "system.mtbf)",
              .uses = USE_OWNERSHIP),
    K_TEXT(struct topo_part, source, "source", "where the figures come from"),
    K_TEXT(struct topo_part, date, "date", "date of the source"),
    K_WORD_OR(struct topo_part, grade, "grade", grade_words, NOT_GRADED, "how sure the typical price is"),
    K_WORD_OR(struct topo_part, band_grade, "band_grade", grade_words, NOT_GRADED,
              "how sure low and high are (default: grade)"),
    K_WORD_OR(struct topo_part, watt_grade, "watt_grade", grade_words, NOT_GRADED,
              "how sure watt is (default: grade)"),
};

K_SECTION(topo_part_section, struct topo_part, "parts.catalogue[]", part_keys, "one part", STUDY_USES);

static const struct key recipe_keys[] = {
    K_NAME(struct topo_recipe, tier, "tier", 1, "tier of dimensions this recipe builds", .required = true),
    K_TEXT(struct topo_recipe, product_name, "product",
           "scale-up fabric that comes with the servers, in place of all other keys but tier: its price is "
           "theirs, "
           "and its bandwidth what it has"),
    K_TEXT(struct topo_recipe, nic_name, "nic", "part at every NPU end of a link"),
    K_TEXT(struct topo_recipe, sw_name, "switch", "part of switch dimensions: box of a folded Clos"),
    K_TEXT(struct topo_recipe, end_name, "end_link",
           "whole link from NPU to leaf switch, or from NPU to NPU (default: by end_m)"),
    K_TEXT(struct topo_recipe, up_name, "up_link", "whole link from switch to switch (default: by up_m)"),
    K_REAL_OR(
        struct topo_recipe, end_m, "end_m", "m", 1, MIN_RUN_M, MAX_RUN_M, NAN,
        "distance that end links span: without end_link the cheapest cable or link of the rate of NIC and "
        "switch whose reach_m is as far; with it, held against its reach_m",
        .uses = USE_COST),
    K_REAL_OR(struct topo_recipe, up_m, "up_m", "m", 1, MIN_RUN_M, MAX_RUN_M, NAN, "the same for up links",
              .uses = USE_COST),
    K_REAL(
        struct topo_recipe, taper, "taper", "", 1, 1, 64, 1,
        "1, full bisection: a taper costs time too, and is given where the network is, with shape: fat-tree",
        .uses = USE_COST),
    K_COUNT(struct topo_recipe, breakout, "breakout", 1, 64, 1,
            "end links that one port of a leaf serves, each of its share of the port's rate, where links up "
            "take whole ports: 2 for 128 x 200G down and 64 x 400G up on boxes of 128 x 400G",
            .uses = USE_COST),
    K_COUNT(struct topo_recipe, rails, "rails", 1, TOPO_MAX_NPUS, 1,
            "independent Clos networks the ends are dealt out to, at most", .uses = USE_COST),
    K_BOOL(
        struct topo_recipe, even_spread, "even_spread", false,
        "a Clos has so many switches above that each box has as many links to all of them, for 768 ends on "
        "64 ports 24 + 16; false: as few as the ports allow, 24 + 12",
        .uses = USE_COST),
};

K_SECTION(topo_recipe_section, struct topo_recipe, "parts.build[]", recipe_keys, "how one tier is built",
          STUDY_USES);

static const struct key parts_keys[] = {
    K_TEXT(struct topo_parts, name, "name", "what messages and bills call this file"),
    K_TEXT(struct topo_parts, source, "source", "where the figures come from, for rows without their own"),
    K_TEXT(struct topo_parts, date, "date", "date of the source, for rows without their own"),
    K_WORD_OR(struct topo_parts, grade, "grade", grade_words, NOT_GRADED,
              "how sure the prices are, for rows without their own (default: R)"),
    K_WORD(struct topo_parts, counting, "counting", counting_words, COUNT_TWO_WAY,
           "direct links: two-way = link * B per NPU, one-way = half of it", .uses = USE_COST),
    K_REAL_OR(struct topo_parts, nic_port_Bps, "nic_port_GBps", "GB/s", 1e9, 1e-3, 1e6, NAN,
              "bandwidth of one NIC port, to count NICs where rates price them", .uses = USE_COST),
    K_LIST_OWNED(struct topo_parts, rates, n_rates, "rates", 1, INFINITY, &topo_rate_section,
                 "list of prices by the GB/s, one per tier", .uses = USE_COST),
    K_LIST_OWNED(struct topo_parts, parts, n_parts, "catalogue", 1, INFINITY, &topo_part_section,
                 "list of parts", .uses = USE_COST),
    K_LIST_OWNED(struct topo_parts, recipes, n_recipes, "build", 1, INFINITY, &topo_recipe_section,
                 "list of recipes, how each tier is built from the catalogue", .uses = USE_COST),
};

/* ---- recipes ---- */

/* Names are listed only now, on the way to a message. */
static int fail_unknown_part(const struct topo_parts *p, const struct yaml_doc *doc, yaml_id at,
                             const char *name, struct err *e)
{
    const char **names = malloc((size_t)p->n_parts * sizeof *names);
    if (!names)
        return err_nomem(e, "part names");
    for (int32_t i = 0; i < p->n_parts; i++)
        names[i] = p->parts[i].name;
    const char *near = text_nearest(name, names, (size_t)p->n_parts);
    free(names);
    return yaml_fail(doc, at, e, ERR_PARSE, "is \"%s\", expected a part of the catalogue%s%s%s", name,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* What a recipe may use of a part, by the key that names it. */
struct recipe_slot {
    const char *key;
    unsigned kinds; /* bits 1 << enum topo_part_kind */
    const char *need;
    bool needs_bw, needs_ports;
};

/* A part of the catalogue that can be bought and counted; no name: not used. */
static int find_recipe_part(int32_t *out, const struct topo_parts *p, const char *name,
                            const struct recipe_slot *slot, const struct yaml_doc *doc, yaml_id row,
                            struct err *e)
{
    *out = -1;
    if (!name)
        return 0;
    yaml_id at = yaml_get(doc, row, slot->key);
    int32_t i = topo_find_part(p, name);
    if (i < 0)
        return fail_unknown_part(p, doc, at, name, e);
    const struct topo_part *part = &p->parts[i];
    if (!(slot->kinds >> part->kind & 1))
        return yaml_fail(doc, at, e, ERR_PARSE, "is \"%s\" of kind %s, expected %s", name,
                         part_kind_words[part->kind], slot->need);
    if (isnan(part->usd.typ))
        return yaml_fail(doc, at, e, ERR_RANGE,
                         "is \"%s\" without a typical price, expected one that can be bought", name);
    if (slot->needs_bw && isnan(part->bw_Bps))
        return yaml_fail(doc, at, e, ERR_RANGE, "is \"%s\" without bw_GBps, required to count", name);
    if (slot->needs_ports && part->ports < 1)
        return yaml_fail(doc, at, e, ERR_RANGE, "is \"%s\" without ports, required to count", name);
    *out = i;
    return 0;
}

/* The end link must have a bandwidth, as it sets the rate of a link; NICs must have one and ports, to be
 * counted. Switches and uplinks may lack it: they then do not limit the rate. */
static int find_recipe_parts(struct topo_recipe *r, const struct topo_parts *p, const struct yaml_doc *doc,
                             yaml_id row, struct err *e)
{
    enum {
        NIC = 1 << PART_NIC,
        SWITCH = 1 << PART_SWITCH,
        WIRE = 1 << PART_CABLE | 1 << PART_LINK,
        PRODUCT = 1 << PART_PRODUCT
    };
    static const struct recipe_slot nic = { "nic", NIC, "nic", true, true },
                                    sw = { "switch", SWITCH, "switch", false, true },
                                    end = { "end_link", WIRE, "cable or link", true, false },
                                    up = { "up_link", WIRE, "cable or link", false, false },
                                    product = { "product", PRODUCT, "product", true, true };
    int rc = find_recipe_part(&r->nic, p, r->nic_name, &nic, doc, row, e);
    if (!rc)
        rc = find_recipe_part(&r->sw, p, r->sw_name, &sw, doc, row, e);
    if (!rc)
        rc = find_recipe_part(&r->end_link, p, r->end_name, &end, doc, row, e);
    if (!rc)
        rc = find_recipe_part(&r->up_link, p, r->up_name, &up, doc, row, e);
    if (!rc)
        rc = find_recipe_part(&r->product, p, r->product_name, &product, doc, row, e);
    return rc;
}

/* A product is whole: nothing else is bought for its tier. */
static int check_product(const struct topo_recipe *r, const struct yaml_doc *doc, yaml_id row, struct err *e)
{
    static const char *const others[] = { "nic",   "switch", "end_link",    "up_link",  "end_m", "up_m",
                                          "taper", "rails",  "even_spread", "breakout", NULL };
    yaml_id at = r->product < 0 ? -1 : yaml_get_any(doc, row, others);
    return at < 0 ? 0 : yaml_fail(doc, at, e, ERR_RANGE, "is given beside product, which brings its own");
}

/* ---- links by distance ---- */

/* What a recipe says of one of its links, and what comes of it. */
struct recipe_run {
    const char *link_key, *run_key;
    double run_m;
    int32_t *part; /* in and out; -1: to be chosen */
};

static bool is_wire(const struct topo_part *part)
{
    return part->kind == PART_CABLE || part->kind == PART_LINK;
}

/* The cheapest that reaches as far, the first of equals; -1 where there is none, and then *longest is the one
 * of that rate that reaches furthest, or -1. */
static int32_t choose_wire(int32_t *longest, const struct topo_parts *p, double rate_Bps, double run_m)
{
    int32_t best = -1;
    *longest = -1;
    for (int32_t i = 0; i < p->n_parts; i++) {
        const struct topo_part *part = &p->parts[i];
        if (!is_wire(part) || !(fabs(part->bw_Bps - rate_Bps) <= 1e-9 * rate_Bps) || isnan(part->usd.typ) ||
            isnan(part->reach_m))
            continue;
        if (*longest < 0 || part->reach_m > p->parts[*longest].reach_m)
            *longest = i;
        if (part->reach_m >= run_m && (best < 0 || part->usd.typ < p->parts[best].usd.typ))
            best = i;
    }
    return best;
}

static int find_wire(const struct recipe_run *run, const struct topo_parts *p, double rate_Bps,
                     const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    int32_t longest;
    if (isnan(rate_Bps))
        return yaml_fail(doc, at, e, ERR_RANGE,
                         "has no NIC or switch with bw_GBps whose rate a link must have; give %s",
                         run->link_key);
    *run->part = choose_wire(&longest, p, rate_Bps, run->run_m);
    if (*run->part >= 0)
        return 0;
    if (longest < 0)
        return yaml_fail(doc, at, e, ERR_RANGE,
                         "is %g m, but no cable or link of %g GB/s has reach_m and a price; give %s",
                         run->run_m, rate_Bps / 1e9, run->link_key);
    return yaml_fail(doc, at, e, ERR_RANGE,
                     "is %g m, expected at most %g: that of \"%s\", the longest of %g GB/s", run->run_m,
                     p->parts[longest].reach_m, p->parts[longest].name, rate_Bps / 1e9);
}

/* A link that is named stays, if it reaches. */
static int check_wire(const struct recipe_run *run, const struct topo_parts *p, const struct yaml_doc *doc,
                      yaml_id at, struct err *e)
{
    const struct topo_part *part = &p->parts[*run->part];
    if (isnan(part->reach_m))
        return yaml_fail(doc, at, e, ERR_RANGE, "is %g m, but \"%s\" has no reach_m to hold it against",
                         run->run_m, part->name);
    if (part->reach_m < run->run_m)
        return yaml_fail(doc, at, e, ERR_RANGE, "is %g m, expected at most the %g of %s, \"%s\"", run->run_m,
                         part->reach_m, run->link_key, part->name);
    return 0;
}

/* A part of its own for a link whose distance is known, so that a bill can say it. */
static int settle_run(struct topo_parts *p, const struct recipe_run *run, double rate_Bps,
                      const struct yaml_doc *doc, yaml_id row, struct err *e)
{
    yaml_id at = yaml_get(doc, row, run->run_key);
    if (isnan(run->run_m))
        return 0;
    int rc = *run->part < 0 ? find_wire(run, p, rate_Bps, doc, at, e) : check_wire(run, p, doc, at, e);
    if (rc)
        return rc;
    if (!vec_resize(p->parts, p->n_parts + 1))
        return err_nomem(e, "parts");
    p->parts[p->n_parts] = p->parts[*run->part];
    p->parts[p->n_parts].run_m = run->run_m;
    *run->part = p->n_parts++;
    return 0;
}

static int settle_runs(struct topo_parts *p, struct topo_recipe *r, const struct yaml_doc *doc, yaml_id row,
                       struct err *e)
{
    const struct recipe_run end = { "end_link", "end_m", r->end_m, &r->end_link },
                            up = { "up_link", "up_m", r->up_m, &r->up_link };
    double rate_Bps = topo_recipe_link_Bps(p, r);
    int rc = settle_run(p, &end, rate_Bps, doc, row, e);
    if (!rc)
        rc = settle_run(p, &up, rate_Bps * (double)r->breakout, doc, row, e);
    if (!rc && r->end_link < 0)
        rc = yaml_fail(doc, row, e, ERR_PARSE, "has no end_link; give it, or end_m to choose it by");
    return rc;
}

/* A taper here would halve the bill of a switch and cost no time in any model. */
static int check_taper(const struct topo_recipe *r, const struct yaml_doc *doc, yaml_id row, struct err *e)
{
    if (r->taper > 1)
        return yaml_fail(
            doc, yaml_get(doc, row, "taper"), e, ERR_RANGE,
            "is %g, but would cost no time; give the dimension of tier \"%s\" shape: fat-tree and "
            "taper: %g, with sizes, or size and radix",
            r->taper, r->tier, r->taper);
    return 0;
}

/* Keys that count the switches of a Clos say nothing where there is no box to count. */
static int check_switch_keys(const struct topo_parts *p, const struct topo_recipe *r,
                             const struct yaml_doc *doc, yaml_id row, struct err *e)
{
    static const char *const keys[] = {
        "up_link", "up_m", "taper", "rails", "even_spread", "breakout", NULL
    };
    yaml_id at = r->sw >= 0 && p->parts[r->sw].ports > 1 ? -1 : yaml_get_any(doc, row, keys);
    return at < 0 ? 0
                  : yaml_fail(doc, at, e, ERR_RANGE,
                              "is given without effect, expected a switch of several ports");
}

/* ---- all of it ---- */

/* ERR_PARSE: rates and a catalogue at once, or neither; ERR_RANGE: keys of the other mode. */
static int check_mode(const struct topo_parts *p, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    if (p->n_rates && (p->n_parts || p->n_recipes))
        return yaml_fail(doc, node, e, ERR_PARSE, "has rates and a catalogue; give one of them");
    if (!p->n_rates && (!p->n_parts || !p->n_recipes))
        return yaml_fail(doc, node, e, ERR_PARSE, "has no prices; give rates, or catalogue and build");
    static const char *const rates_only[] = { "counting", "nic_port_GBps", NULL };
    yaml_id at = p->n_rates ? -1 : yaml_get_any(doc, node, rates_only);
    return at < 0 ? 0
                  : yaml_fail(doc, at, e, ERR_RANGE,
                              "is given without effect; give rates instead of a catalogue");
}

/* `word`: of grade_words, or none. "R+A" is beyond the enum and becomes R. */
static enum topo_grade grade_or(enum topo_grade word, enum topo_grade usual)
{
    if ((int32_t)word == NOT_GRADED)
        return usual;
    return word < N_GRADES ? word : GRADE_RECALLED;
}

static int fail_again(const struct yaml_doc *doc, yaml_id row, const char *key, const char *name,
                      const char *what, struct err *e)
{
    return yaml_fail(doc, yaml_get(doc, row, key), e, ERR_PARSE, "is \"%s\" again; each %s may stand once",
                     name, what);
}

/* What the file says for rows that do not; each tier and each part once. */
static int settle_rates(struct topo_parts *p, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    yaml_each (row, doc, list) {
        struct topo_rate *r = &p->rates[doc->nodes[row].index];
        /* The first row of that name is another one. */
        if (topo_find_rate(p, r->tier) != r)
            return fail_again(doc, row, "tier", r->tier, "tier", e);
        r->source = r->source ? r->source : p->source;
        r->date = r->date ? r->date : p->date;
        r->grade = grade_or(r->grade, p->grade);
    }
    return 0;
}

static int settle_catalogue(struct topo_parts *p, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    yaml_each (row, doc, list) {
        struct topo_part *part = &p->parts[doc->nodes[row].index];
        if (&p->parts[topo_find_part(p, part->name)] != part)
            return fail_again(doc, row, "name", part->name, "part", e);
        part->source = part->source ? part->source : p->source;
        part->date = part->date ? part->date : p->date;
        if (part->kind == PART_PRODUCT) {
            if (yaml_get(doc, row, "usd") >= 0)
                return yaml_fail(doc, yaml_get(doc, row, "usd"), e, ERR_RANGE,
                                 "is given of a product, whose price is that of its servers");
            part->usd = (struct topo_band){ 0, 0, 0 };
        }
        /* Of a product the price is 0 by what it is. */
        part->grade = grade_or(part->grade, part->kind == PART_PRODUCT ? GRADE_VERIFIED : p->grade);
        part->band_grade = grade_or(part->band_grade, part->grade);
        part->watt_grade = grade_or(part->watt_grade, part->kind == PART_PRODUCT ? p->grade : part->grade);
        part->run_m = NAN;
        if (!isnan(part->reach_m) && !is_wire(part))
            return yaml_fail(doc, yaml_get(doc, row, "reach_m"), e, ERR_RANGE,
                             "is given of a %s, expected only of a cable or link",
                             part_kind_words[part->kind]);
    }
    return 0;
}

static int settle_recipes(struct topo_parts *p, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    yaml_each (row, doc, list) {
        struct topo_recipe *r = &p->recipes[doc->nodes[row].index];
        if (topo_find_recipe(p, r->tier) != r)
            return fail_again(doc, row, "tier", r->tier, "tier", e);
        int rc = find_recipe_parts(r, p, doc, row, e);
        if (!rc)
            rc = check_product(r, doc, row, e);
        if (!rc && r->product >= 0)
            continue;
        if (!rc)
            rc = check_switch_keys(p, r, doc, row, e);
        if (!rc)
            rc = check_taper(r, doc, row, e);
        if (!rc)
            rc = settle_runs(p, r, doc, row, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int settle_parts(void *base, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    struct topo_parts *p = base;
    int rc = check_mode(p, doc, node, e);
    if (rc)
        return rc;
    /* Before the rows, which take theirs from here. */
    p->name = p->name ? p->name : yaml_source(doc, node);
    p->source = p->source ? p->source : yaml_source(doc, node);
    p->date = p->date ? p->date : "";
    p->grade = grade_or(p->grade, GRADE_RECALLED);
    if (p->n_rates)
        return settle_rates(p, doc, yaml_get(doc, node, "rates"), e);
    rc = settle_catalogue(p, doc, yaml_get(doc, node, "catalogue"), e);
    return rc ? rc : settle_recipes(p, doc, yaml_get(doc, node, "build"), e);
}

K_SECTION(topo_parts_section, struct topo_parts, "parts", parts_keys,
          "prices: rates, or a catalogue of parts", STUDY_USES, .check = settle_parts);

int topo_read_parts(struct topo_parts *p, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    int rc = schema_read(p, &topo_parts_section, doc, node, e);
    if (rc)
        topo_parts_free(p);
    return rc;
}

void topo_parts_free(struct topo_parts *p)
{
    free(p->rates);
    free(p->parts);
    free(p->recipes);
    *p = (struct topo_parts){ 0 };
}

const struct topo_rate *topo_find_rate(const struct topo_parts *p, const char *tier)
{
    for (int32_t i = 0; i < p->n_rates; i++)
        if (strcmp(p->rates[i].tier, tier) == 0)
            return &p->rates[i];
    return NULL;
}

const struct topo_recipe *topo_find_recipe(const struct topo_parts *p, const char *tier)
{
    for (int32_t i = 0; i < p->n_recipes; i++)
        if (strcmp(p->recipes[i].tier, tier) == 0)
            return &p->recipes[i];
    return NULL;
}

int32_t topo_find_part(const struct topo_parts *p, const char *name)
{
    for (int32_t i = 0; i < p->n_parts; i++)
        if (strcmp(p->parts[i].name, name) == 0)
            return i;
    return -1;
}

double topo_recipe_link_Bps(const struct topo_parts *p, const struct topo_recipe *r)
{
    const struct {
        int32_t part;
        double share; /* of its rate that one end link has */
    } used[] = { { r->nic, 1 },
                 { r->sw, 1 / (double)r->breakout },
                 { r->end_link, 1 },
                 { r->up_link, 1 / (double)r->breakout },
                 { r->product, 1 } };
    double bw_Bps = NAN;
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (used[i].part >= 0)
            bw_Bps = fmin(bw_Bps, p->parts[used[i].part].bw_Bps * used[i].share);
    return bw_Bps;
}

double topo_whole_parts(double x)
{
    return ceil(x * (1 - 1e-9));
}
