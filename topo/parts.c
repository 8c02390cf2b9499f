/*
 * Catalogues of parts: links, switches, NICs with rates and prices; their keys, and finding the part that
 * fits.
 */
#include "topo/parts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "topo/uses.h"

/*
 * The maps of a parts file as written, and their key tables; only parts.c reads them.
 */

/** By enum topo_part_kind. */
extern const char *const topo_part_kind_names[N_PART_KINDS + 1];

/** Highest price of a piece or of a GB/s [USD]: beyond any; it only stops nonsense. */
#define TOPO_MAX_USD 1e9

/* Numbers are SI once schema_read() has scaled them; words are indices, -1 = absent. */

struct parts_conf {
    const char *name, *source, *date;
    int32_t grade, counting;
    double nic_port_Bps;
    yaml_id rates, catalogue, build;
};

struct rate_conf {
    const char *tier, *source, *date;
    int32_t grade;
    yaml_id link, port, nic;
};

struct part_conf {
    const char *name, *source, *date;
    int32_t kind, grade, band_grade, watt_grade;
    int64_t year, ports;
    double bw_Bps, watt, lat_s, lat_s_per_m;
    yaml_id usd;
};

struct recipe_conf {
    const char *tier, *nic, *sw, *end_link, *up_link;
    double taper;
    int64_t rails;
};

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

static enum topo_grade grade_or(int32_t word, enum topo_grade dflt)
{
    if (word < 0)
        return dflt;
    return word < N_GRADES ? (enum topo_grade)word : GRADE_RECALLED;
}

/* A number or { low, typ, high } in file units. */
static int read_band_map(struct topo_band *b, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    if (doc->nodes[id].kind == YAML_MAP)
        return schema_read(b, &topo_band_section, doc, id, e);
    int rc = yaml_real(doc, id, &b->typ, e);
    if (rc)
        return rc;
    if (!(b->typ >= 0 && b->typ <= TOPO_MAX_USD))
        return yaml_fail(doc, id, e, ERR_RANGE, "is %g, need 0 to %g", b->typ, TOPO_MAX_USD);
    return 0;
}

/* NaN compares false: a missing value contradicts nothing. */
static int check_order(const struct topo_band *b, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    if (b->low > b->typ)
        return yaml_fail(doc, id, e, ERR_RANGE, "low is %g, need at most typ, %g", b->low, b->typ);
    if (b->typ > b->high)
        return yaml_fail(doc, id, e, ERR_RANGE, "high is %g, need at least typ, %g", b->high, b->typ);
    if (b->low > b->high)
        return yaml_fail(doc, id, e, ERR_RANGE, "low is %g, need at most high, %g", b->low, b->high);
    return 0;
}

/* Divided by file_unit, exact where a product with 1e-9 would round twice. */
static int read_band(struct topo_band *b, const struct yaml_doc *doc, yaml_id id, double file_unit,
                     struct err *e)
{
    *b = (struct topo_band){ NAN, NAN, NAN };
    if (id < 0)
        return 0;
    int rc = read_band_map(b, doc, id, e);
    if (!rc)
        rc = check_order(b, doc, id, e);
    b->low /= file_unit;
    b->typ /= file_unit;
    b->high /= file_unit;
    return rc;
}

static int copy_tier(char out[TOPO_NAME], const char *tier, const struct yaml_doc *doc, yaml_id row,
                     struct err *e)
{
    size_t n = strlen(tier);
    if (n == 0 || n >= TOPO_NAME)
        return yaml_fail(doc, yaml_get(doc, row, "tier"), e, ERR_RANGE, "is %zu bytes long, need 1 to %d", n,
                         TOPO_NAME - 1);
    memcpy(out, tier, n + 1);
    return 0;
}

/* Rows of a list that must not be empty; *rows comes out zeroed. */
static int begin_rows(void **rows, size_t row_size, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (doc->nodes[list].n == 0)
        return yaml_fail(doc, list, e, ERR_PARSE, "is empty, need at least one row");
    *rows = calloc((size_t)doc->nodes[list].n, row_size);
    return *rows ? 0 : err_nomem(e, "prices");
}

/* Only a switch takes NICs (LIBRA), so a NIC price alone would never be used. */
static int check_nic_price(const struct rate_conf *c, const struct yaml_doc *doc, struct err *e)
{
    if (c->nic >= 0 && c->port < 0)
        return yaml_fail(doc, c->nic, e, ERR_RANGE, "is given without effect, need switch_usd_per_GBps too");
    return 0;
}

static int read_rate(struct topo_parts *p, const struct parts_conf *file, const struct yaml_doc *doc,
                     yaml_id row, struct err *e)
{
    struct rate_conf c;
    struct topo_rate *r = &p->rates[p->n_rates];
    int rc = schema_read(&c, &topo_rate_section, doc, row, e);
    if (!rc)
        rc = copy_tier(r->tier, c.tier, doc, row, e);
    if (!rc && topo_find_rate(p, r->tier))
        rc = yaml_fail(doc, yaml_get(doc, row, "tier"), e, ERR_PARSE, "is \"%s\" again, need each tier once",
                       c.tier);
    if (!rc)
        rc = read_band(&r->link, doc, c.link, 1e9, e);
    if (!rc)
        rc = read_band(&r->port, doc, c.port, 1e9, e);
    if (!rc)
        rc = read_band(&r->nic, doc, c.nic, 1e9, e);
    if (!rc)
        rc = check_nic_price(&c, doc, e);
    if (rc)
        return rc;
    r->source = c.source ? c.source : file->source;
    r->date = c.date ? c.date : file->date;
    r->grade = grade_or(c.grade, (enum topo_grade)file->grade);
    p->n_rates++;
    return 0;
}

static int read_part(struct topo_parts *p, const struct parts_conf *file, const struct yaml_doc *doc,
                     yaml_id row, struct err *e)
{
    struct part_conf c;
    struct topo_band usd;
    int rc = schema_read(&c, &topo_part_section, doc, row, e);
    if (!rc && topo_find_part(p, c.name) >= 0)
        rc = yaml_fail(doc, yaml_get(doc, row, "name"), e, ERR_PARSE, "is \"%s\" again, need each part once",
                       c.name);
    if (!rc)
        rc = read_band(&usd, doc, c.usd, 1, e);
    if (rc)
        return rc;
    enum topo_grade grade = grade_or(c.grade, (enum topo_grade)file->grade);
    p->parts[p->n_parts++] = (struct topo_part){
        .kind = (enum topo_part_kind)c.kind,
        .name = c.name,
        .year = c.year,
        .ports = c.ports,
        .bw_Bps = c.bw_Bps,
        .usd = usd,
        .watt = c.watt,
        .lat_s = c.lat_s,
        .lat_s_per_m = c.lat_s_per_m,
        .source = c.source ? c.source : file->source,
        .date = c.date ? c.date : file->date,
        .grade = grade,
        .band_grade = grade_or(c.band_grade, grade),
        .watt_grade = grade_or(c.watt_grade, grade),
    };
    return 0;
}

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
    return yaml_fail(doc, at, e, ERR_PARSE, "is \"%s\", need a part of the catalogue%s%s%s", name,
                     near ? ", nearest is \"" : "", near ? near : "", near ? "\"" : "");
}

/* What a recipe may use of a part, by the key that names it. */
struct recipe_slot {
    const char *key;
    unsigned kinds; /* bits 1 << enum topo_part_kind */
    const char *need;
    bool needs_bw, needs_ports;
};

/* A part of the catalogue that can be bought and counted; NULL name = not used. */
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
        return yaml_fail(doc, at, e, ERR_PARSE, "is \"%s\" of kind %s, need %s", name,
                         topo_part_kind_names[part->kind], slot->need);
    if (isnan(part->usd.typ))
        return yaml_fail(doc, at, e, ERR_RANGE,
                         "is \"%s\" without a typical price, need one that can be bought", name);
    if (slot->needs_bw && isnan(part->bw_Bps))
        return yaml_fail(doc, at, e, ERR_RANGE, "is \"%s\" without bw_GBps, need it to count", name);
    if (slot->needs_ports && part->ports < 1)
        return yaml_fail(doc, at, e, ERR_RANGE, "is \"%s\" without ports, need it to count", name);
    *out = i;
    return 0;
}

static int find_recipe_parts(struct topo_recipe *r, const struct topo_parts *p, const struct recipe_conf *c,
                             const struct yaml_doc *doc, yaml_id row, struct err *e)
{
    enum { NIC = 1 << PART_NIC, SWITCH = 1 << PART_SWITCH, WIRE = 1 << PART_CABLE | 1 << PART_LINK };
    static const struct recipe_slot nic = { "nic", NIC, "nic", true, true },
                                    sw = { "switch", SWITCH, "switch", false, true },
                                    end = { "end_link", WIRE, "cable or link", true, false },
                                    up = { "up_link", WIRE, "cable or link", false, false };
    int rc = find_recipe_part(&r->nic, p, c->nic, &nic, doc, row, e);
    if (!rc)
        rc = find_recipe_part(&r->sw, p, c->sw, &sw, doc, row, e);
    if (!rc)
        rc = find_recipe_part(&r->end_link, p, c->end_link, &end, doc, row, e);
    if (!rc)
        rc = find_recipe_part(&r->up_link, p, c->up_link, &up, doc, row, e);
    return rc;
}

/* Keys that count the switches of a Clos say nothing where there is no box to count. */
static int check_switch_keys(const struct topo_parts *p, const struct topo_recipe *r,
                             const struct yaml_doc *doc, yaml_id row, struct err *e)
{
    static const char *const keys[] = { "up_link", "taper", "rails" };
    if (r->sw >= 0 && p->parts[r->sw].ports > 1)
        return 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        yaml_id at = yaml_get(doc, row, keys[i]);
        if (at >= 0)
            return yaml_fail(doc, at, e, ERR_RANGE,
                             "is given without effect, need a switch of several ports");
    }
    return 0;
}

static int read_recipe(struct topo_parts *p, const struct yaml_doc *doc, yaml_id row, struct err *e)
{
    struct recipe_conf c;
    struct topo_recipe *r = &p->recipes[p->n_recipes];
    int rc = schema_read(&c, &topo_recipe_section, doc, row, e);
    if (!rc)
        rc = copy_tier(r->tier, c.tier, doc, row, e);
    if (!rc && topo_find_recipe(p, r->tier))
        rc = yaml_fail(doc, yaml_get(doc, row, "tier"), e, ERR_PARSE, "is \"%s\" again, need each tier once",
                       c.tier);
    if (!rc)
        rc = find_recipe_parts(r, p, &c, doc, row, e);
    if (!rc)
        rc = check_switch_keys(p, r, doc, row, e);
    if (rc)
        return rc;
    r->taper = c.taper;
    r->rails = c.rails;
    p->n_recipes++;
    return 0;
}

static int read_rates(struct topo_parts *p, const struct parts_conf *file, const struct yaml_doc *doc,
                      struct err *e)
{
    void *rows = NULL;
    int rc = begin_rows(&rows, sizeof *p->rates, doc, file->rates, e);
    p->rates = rows;
    if (rc)
        return rc;
    yaml_each (row, doc, file->rates) {
        rc = read_rate(p, file, doc, row, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_catalogue(struct topo_parts *p, const struct parts_conf *file, const struct yaml_doc *doc,
                          struct err *e)
{
    void *rows = NULL;
    int rc = begin_rows(&rows, sizeof *p->parts, doc, file->catalogue, e);
    p->parts = rows;
    if (rc)
        return rc;
    yaml_each (row, doc, file->catalogue) {
        rc = read_part(p, file, doc, row, e);
        if (rc)
            return rc;
    }

    rows = NULL;
    rc = begin_rows(&rows, sizeof *p->recipes, doc, file->build, e);
    p->recipes = rows;
    if (rc)
        return rc;
    yaml_each (row, doc, file->build) {
        rc = read_recipe(p, doc, row, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int check_mode(const struct parts_conf *c, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    if (c->rates >= 0 && (c->catalogue >= 0 || c->build >= 0))
        return yaml_fail(doc, node, e, ERR_PARSE, "has rates and a catalogue, need one of them");
    if (c->rates < 0 && (c->catalogue < 0 || c->build < 0))
        return yaml_fail(doc, node, e, ERR_PARSE, "has no prices, need rates, or catalogue and build");
    if (c->rates >= 0)
        return 0;
    static const char *const rates_only[] = { "counting", "nic_port_GBps" };
    for (size_t i = 0; i < sizeof rates_only / sizeof rates_only[0]; i++) {
        yaml_id at = yaml_get(doc, node, rates_only[i]);
        if (at >= 0)
            return yaml_fail(doc, at, e, ERR_RANGE,
                             "is given without effect, need rates instead of a catalogue");
    }
    return 0;
}

int topo_read_parts(struct topo_parts *p, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    struct parts_conf c;
    *p = (struct topo_parts){ 0 };
    int rc = schema_read(&c, &topo_parts_section, doc, node, e);
    if (!rc)
        rc = check_mode(&c, doc, node, e);
    if (rc)
        return rc;

    p->name = c.name ? c.name : yaml_source(doc, node);
    p->counting = (enum topo_counting)c.counting;
    p->nic_port_Bps = c.nic_port_Bps;
    c.source = c.source ? c.source : yaml_source(doc, node);
    c.date = c.date ? c.date : "";
    c.grade = (int32_t)grade_or(c.grade, GRADE_RECALLED);
    rc = c.rates >= 0 ? read_rates(p, &c, doc, e) : read_catalogue(p, &c, doc, e);
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
    const int32_t used[] = { r->nic, r->sw, r->end_link, r->up_link };
    double bw_Bps = NAN;
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (used[i] >= 0)
            bw_Bps = fmin(bw_Bps, p->parts[used[i]].bw_Bps);
    return bw_Bps;
}
