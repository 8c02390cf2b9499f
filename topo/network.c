#include "topo/network.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "topo/network_read.h"

/* Maps as written; the public structs hold copies of the text, not borrowed words. */
struct network_conf {
    const char *name;
    yaml_id npu, parts, dims;
};

struct dim_conf {
    const char *name, *tier;
    int32_t shape;
    int64_t size;
    double bw_Bps, min_Bps, max_Bps, lat_s, efficiency;
    int32_t algorithm, in_switch;
    int64_t in_switch_min;
    yaml_id regimes;
};

static const struct key network_keys[] = {
    { .name = "name",
      .help = "what reports call the network",
      .kind = KEY_TEXT,
      .offset = offsetof(struct network_conf, name),
      .unit = "" },
    { .name = "npu",
      .help = "the accelerator: a file (relative to this one) or a map, see npu",
      .kind = KEY_NODE,
      .offset = offsetof(struct network_conf, npu),
      .unit = "" },
    { .name = "parts",
      .help = "prices: a parts file (relative to this one) or a map, see parts",
      .kind = KEY_NODE,
      .offset = offsetof(struct network_conf, parts),
      .unit = "",
      .uses = USE_COST },
    { .name = "dims",
      .help = "list of 1 to 8 dimensions, innermost first, see dims",
      .kind = KEY_NODE,
      .offset = offsetof(struct network_conf, dims),
      .unit = "",
      .required = true },
};

#define DIM_REAL(key_name, text, field, unit_text, to_SI, least, most, absent, use)                          \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_REAL, .offset = offsetof(struct dim_conf, field),        \
        .unit = unit_text, .scale = to_SI, .min = least, .max = most, .dflt = absent, .uses = use            \
    }

static const struct key dim_keys[] = {
    { .name = "name",
      .help = "as constraints call it; dim1, dim2, ... when absent",
      .kind = KEY_TEXT,
      .offset = offsetof(struct dim_conf, name),
      .unit = "" },
    { .name = "shape",
      .help = "how its members are joined",
      .kind = KEY_WORD,
      .offset = offsetof(struct dim_conf, shape),
      .unit = "",
      .dflt = SCHEMA_NONE,
      .words = topo_shape_words,
      .required = true },
    { .name = "size",
      .help = "members along this dimension",
      .kind = KEY_COUNT,
      .offset = offsetof(struct dim_conf, size),
      .unit = "",
      .scale = 1,
      .min = TOPO_MIN_SIZE,
      .max = TOPO_MAX_SIZE,
      .dflt = SCHEMA_NONE,
      .required = true },
    DIM_REAL("bw_GBps", "what one NPU sends into it, one direction, all links; absent = to be allocated",
             bw_Bps, "GB/s", 1e9, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps, SCHEMA_NONE, 0),
    DIM_REAL("min_GBps", "least bandwidth an allocator may give it", min_Bps, "GB/s", 1e9, 0,
             TOPO_MAX_BW_GBps, 0, USE_SPLIT),
    DIM_REAL("max_GBps", "most bandwidth an allocator may give it; absent = no cap", max_Bps, "GB/s", 1e9,
             TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps, SCHEMA_NONE, USE_SPLIT),
    DIM_REAL("latency_ns", "one message from an NPU to the next one, switch included", lat_s, "ns", 1e-9, 0,
             1e9, 0, USE_LATENCY),
    DIM_REAL("efficiency", "share of bw_GBps that a collective reaches", efficiency, "", 1, 1e-3, 1, 1, 0),
    { .name = "algorithm",
      .help =
          "how its members carry out a collective; default: in-switch where there is that, else ring, direct "
          "(full) or halving-doubling (switch); auto: the fastest",
      .kind = KEY_WORD,
      .offset = offsetof(struct dim_conf, algorithm),
      .unit = "",
      .dflt = TOPO_ALGORITHM_SHAPE,
      .words = topo_algorithm_words,
      .uses = USE_LATENCY },
    { .name = "in_switch",
      .help = "what its switches reduce themselves: a stream that passes (sharp), or data that an owner "
              "loads and "
              "stores to all (nvls)",
      .kind = KEY_WORD,
      .offset = offsetof(struct dim_conf, in_switch),
      .unit = "",
      .dflt = TOPO_IN_SWITCH_NONE,
      .words = topo_in_switch_words,
      .uses = USE_LATENCY },
    { .name = "in_switch_min",
      .help = "members that a group needs in this dimension for its switch to reduce",
      .kind = KEY_COUNT,
      .offset = offsetof(struct dim_conf, in_switch_min),
      .unit = "",
      .scale = 1,
      .min = 2,
      .max = TOPO_MAX_SIZE,
      .dflt = 2,
      .uses = USE_LATENCY },
    { .name = "regimes",
      .help =
          "list of other latencies and efficiencies, of which the fastest is taken by size; see dims.regimes",
      .kind = KEY_NODE,
      .offset = offsetof(struct dim_conf, regimes),
      .unit = "",
      .uses = USE_LATENCY },
    { .name = "tier",
      .help = "row of the price table",
      .kind = KEY_TEXT,
      .offset = offsetof(struct dim_conf, tier),
      .unit = "",
      .uses = USE_COST },
};

#define SECTION(title, text, table)                                                                          \
    {                                                                                                        \
        title, text, table, sizeof(table) / sizeof((table)[0])                                               \
    }
const struct section topo_network_section = SECTION("network", "a multi-dimensional network", network_keys);
const struct section topo_dim_section = SECTION("dims", "one dimension of a network", dim_keys);

void topo_network_defaults(struct topo_network *net)
{
    *net = (struct topo_network){ .n_npus = 1, .parts = -1 };
    topo_npu_defaults(&net->npu);
}

void topo_dim_defaults(struct topo_dim *dim, int32_t d)
{
    *dim = (struct topo_dim){ .bw_Bps = NAN, .max_Bps = INFINITY, .efficiency = 1, .in_switch_min = 2 };
    snprintf(dim->name, sizeof dim->name, "dim%d", (int)d + 1);
}

/* Copy a text that must fit; @p node is where it was written. */
static int copy_text(char *out, size_t room, const char *text, const struct yaml_doc *doc, yaml_id node,
                     struct err *e)
{
    size_t n = strlen(text);
    if (n == 0 || n >= room)
        return yaml_fail(doc, node, e, ERR_RANGE, "is %zu bytes long, need 1 to %zu", n, room - 1);
    memcpy(out, text, n + 1);
    return 0;
}

static bool is_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    while (isalnum((unsigned char)*s) || *s == '_' || *s == '-')
        s++;
    return *s == '\0';
}

static int check_dim_name(const char *name, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    static const char *const reserved[] = { "total", "usd", "nic_usd" };
    if (!is_name(name))
        return yaml_fail(doc, node, e, ERR_PARSE,
                         "is \"%s\", need a letter or _ and then letters, digits, _ or -", name);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(name, reserved[i]) == 0)
            return yaml_fail(doc, node, e, ERR_RANGE,
                             "is \"%s\", which constraints use for a sum; need another name", name);
    return 0;
}

/* Where key of map is, or the map itself when the value is a default. */
static yaml_id key_or_map(const struct yaml_doc *doc, yaml_id map, const char *key)
{
    yaml_id id = yaml_get(doc, map, key);
    return id >= 0 ? id : map;
}

static int check_bounds(const struct topo_dim *dim, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (dim->min_Bps > dim->max_Bps)
        return yaml_fail(doc, key_or_map(doc, map, "min_GBps"), e, ERR_RANGE,
                         "is %g, above max_GBps %g of the same dimension", dim->min_Bps / 1e9,
                         dim->max_Bps / 1e9);
    if (dim->bw_Bps < dim->min_Bps || dim->bw_Bps > dim->max_Bps) /* false for NaN: not chosen yet */
        return yaml_fail(doc, key_or_map(doc, map, "bw_GBps"), e, ERR_RANGE,
                         "is %g, need min_GBps %g to max_GBps %g", dim->bw_Bps / 1e9, dim->min_Bps / 1e9,
                         dim->max_Bps / 1e9);
    return 0;
}

/*
 * The bandwidth under @p key, rounded once from its text, so that the same number
 * in a spec word is the same network; @p value where it is absent or has very many digits.
 */
static double exact_bw(const struct yaml_doc *doc, yaml_id map, const char *key, double value)
{
    yaml_id id = yaml_get(doc, map, key);
    return id >= 0 && strlen(doc->nodes[id].text) < NUM_TEXT ? topo_parse_bw(doc->nodes[id].text) : value;
}

/* Dimension @p d from its map; names and product are checked against those before it by the caller. */
static int read_dim(struct topo_dim *dim, int32_t d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct dim_conf conf;
    int rc = schema_read(&conf, &topo_dim_section, doc, map, e);
    if (rc)
        return rc;

    topo_dim_defaults(dim, d);
    dim->shape = (enum topo_shape)conf.shape;
    dim->size = (int32_t)conf.size;
    dim->bw_Bps = exact_bw(doc, map, "bw_GBps", conf.bw_Bps);
    dim->min_Bps = exact_bw(doc, map, "min_GBps", conf.min_Bps);
    dim->max_Bps = exact_bw(doc, map, "max_GBps", isnan(conf.max_Bps) ? INFINITY : conf.max_Bps);
    dim->lat_s = conf.lat_s;
    dim->efficiency = conf.efficiency;
    dim->algorithm = (enum topo_algorithm)conf.algorithm;
    dim->in_switch = (enum topo_in_switch)conf.in_switch;
    dim->in_switch_min = (int32_t)conf.in_switch_min;
    if ((rc = topo_read_algorithm(dim, conf.regimes, doc, map, e)))
        return rc;
    if (conf.name) {
        yaml_id at = yaml_get(doc, map, "name");
        rc = copy_text(dim->name, sizeof dim->name, conf.name, doc, at, e);
        if (!rc)
            rc = check_dim_name(dim->name, doc, at, e);
    }
    if (!rc && conf.tier)
        rc = copy_text(dim->tier, sizeof dim->tier, conf.tier, doc, yaml_get(doc, map, "tier"), e);
    return rc ? rc : check_bounds(dim, doc, map, e);
}

static int add_dim(struct topo_network *net, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct topo_dim *dim = &net->dims[net->n_dims];
    int rc = read_dim(dim, net->n_dims, doc, map, e);
    if (rc)
        return rc;
    int32_t same = topo_find_dim(net, dim->name);
    if (same >= 0)
        return yaml_fail(doc, key_or_map(doc, map, "name"), e, ERR_RANGE,
                         "is \"%s\", which is already the name of dimension %d; need another", dim->name,
                         (int)same + 1);
    net->n_dims++;
    net->n_npus *= dim->size; /* at most 2^30 * 2^24 */
    if (net->n_npus > TOPO_MAX_NPUS)
        return yaml_fail(doc, yaml_get(doc, map, "size"), e, ERR_RANGE,
                         "is %d, which makes %lld NPUs, need at most %d", (int)dim->size,
                         (long long)net->n_npus, TOPO_MAX_NPUS);
    return 0;
}

static int read_dims(struct topo_network *net, const struct yaml_doc *doc, yaml_id seq, struct err *e)
{
    int rc = yaml_need(doc, seq, YAML_SEQ, e);
    if (rc)
        return rc;
    int32_t n = doc->nodes[seq].n;
    if (n < 1 || n > TOPO_MAX_DIMS)
        return yaml_fail(doc, seq, e, ERR_RANGE, "has %d dimensions, need 1 to %d", (int)n, TOPO_MAX_DIMS);
    yaml_each (id, doc, seq) {
        rc = add_dim(net, doc, id, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_map(struct topo_network *net, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct network_conf conf;
    int rc = schema_read(&conf, &topo_network_section, doc, map, e);
    if (!rc && conf.name)
        rc = copy_text(net->name, sizeof net->name, conf.name, doc, yaml_get(doc, map, "name"), e);
    if (!rc && conf.npu >= 0)
        rc = topo_read_npu(&net->npu, doc, conf.npu, e);
    if (rc)
        return rc;
    net->parts = conf.parts;
    return read_dims(net, doc, conf.dims, e);
}

static int read_word(struct topo_network *net, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    const char *word = doc->nodes[node].text;
    if (!topo_is_spec(word))
        return yaml_fail(doc, node, e, ERR_PARSE,
                         "is \"%s\", need a map or a word like \"ring:4@250 switch:8\"", word);
    struct err inner = { 0 };
    int rc = topo_parse_spec(net, word, &inner);
    return rc ? yaml_fail(doc, node, e, inner.code, "%s", inner.msg) : 0;
}

int topo_read_network(struct topo_network *net, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    topo_network_defaults(net);
    if (doc->nodes[node].kind == YAML_SCALAR)
        return read_word(net, doc, node, e);
    int rc = yaml_need(doc, node, YAML_MAP, e);
    return rc ? rc : read_map(net, doc, node, e);
}

bool topo_has_bandwidths(const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        if (isnan(net->dims[d].bw_Bps))
            return false;
    return true;
}

int32_t topo_find_dim(const struct topo_network *net, const char *name)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        if (strcmp(net->dims[d].name, name) == 0)
            return d;
    return -1;
}
