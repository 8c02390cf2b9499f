#include "topo/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "topo/parts_keys.h"

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
