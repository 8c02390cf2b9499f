#include "topo/network_read.h"

#include <math.h>

#include "base/num.h"

const char *const topo_algorithm_words[N_TOPO_ALGORITHMS + 1] = {
    [TOPO_ALGORITHM_SHAPE] = "default",
    [TOPO_ALGORITHM_AUTO] = "auto",
    [TOPO_ALGORITHM_RING] = "ring",
    [TOPO_ALGORITHM_DIRECT] = "direct",
    [TOPO_ALGORITHM_HALVING] = "halving-doubling",
    [TOPO_ALGORITHM_BRUCK] = "bruck",
    [TOPO_ALGORITHM_TREE] = "double-binary-tree",
    [TOPO_ALGORITHM_SWITCH] = "in-switch",
};

const char *const topo_in_switch_words[] = { "none", "sharp", "nvls", NULL };

#define REGIME_REAL(key_name, text, field, unit_text, to_SI, least, most)                                    \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_REAL, .offset = offsetof(struct topo_regime, field),     \
        .unit = unit_text, .scale = to_SI, .min = least, .max = most, .dflt = SCHEMA_NONE, .required = true, \
        .uses = USE_LATENCY                                                                                  \
    }

static const struct key regime_keys[] = {
    REGIME_REAL("latency_ns", "of one message", lat_s, "ns", 1e-9, 0, 1e9),
    REGIME_REAL("efficiency", "share of bw_GBps that a collective reaches", efficiency, "", 1, 1e-3, 1),
    { .name = "up_to_KB",
      .help = "buffers up to this size use it, whatever is faster; absent: any size that it is fastest for",
      .kind = KEY_REAL,
      .offset = offsetof(struct topo_regime, up_to_B),
      .unit = "kB",
      .scale = 1e3,
      .min = 1e-3,
      .max = 1e12,
      .dflt = SCHEMA_NONE,
      .uses = USE_LATENCY },
};

const struct section topo_regime_section = {
    "dims.regimes",
    "a protocol: another latency and efficiency, for sizes up to a limit or where it is fastest", regime_keys,
    sizeof regime_keys / sizeof regime_keys[0]
};

int topo_check_algorithm(const struct topo_dim *dim, enum topo_algorithm a, struct err *e)
{
    const char *word = topo_algorithm_words[a];
    int n = dim->size;
    if (a == TOPO_ALGORITHM_HALVING && !num_is_power_of_two(n))
        return err_set(e, ERR_RANGE, "is %s on %d members, need a power of two%s", word, n,
                       dim->shape == TOPO_SWITCH || dim->shape == TOPO_FULL ? ", or bruck" : "");
    if (a == TOPO_ALGORITHM_SWITCH && dim->in_switch == TOPO_IN_SWITCH_NONE)
        return err_set(e, ERR_RANGE, "is %s on a dimension whose switches do not reduce, need in_switch",
                       word);
    if (a == TOPO_ALGORITHM_TREE && dim->shape != TOPO_SWITCH)
        return err_set(e, ERR_RANGE, "is %s on shape %s, need a switch", word, topo_shape_name(dim->shape));
    if (a == TOPO_ALGORITHM_BRUCK && dim->shape != TOPO_SWITCH && dim->shape != TOPO_FULL)
        return err_set(e, ERR_RANGE, "is %s on shape %s, need switch or full", word,
                       topo_shape_name(dim->shape));
    return 0;
}

static int read_regimes(struct topo_dim *dim, yaml_id list, const struct yaml_doc *doc, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (doc->nodes[list].n < 1 || doc->nodes[list].n > TOPO_MAX_REGIMES)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d regimes, need 1 to %d", (int)doc->nodes[list].n,
                         TOPO_MAX_REGIMES);
    yaml_each (id, doc, list) {
        struct topo_regime *r = &dim->regimes[dim->n_regimes++];
        if ((rc = schema_read(r, &topo_regime_section, doc, id, e)))
            return rc;
        if (isnan(r->up_to_B))
            r->up_to_B = INFINITY;
        for (int32_t i = 0; i + 1 < dim->n_regimes; i++)
            if (isfinite(r->up_to_B) && !(dim->regimes[i].up_to_B < r->up_to_B) &&
                !(dim->regimes[i].up_to_B > r->up_to_B))
                return yaml_fail(doc, yaml_get(doc, id, "up_to_KB"), e, ERR_RANGE,
                                 "is %g, which is the limit of another regime; need another",
                                 r->up_to_B / 1e3);
    }
    return 0;
}

int topo_read_algorithm(struct topo_dim *dim, yaml_id regimes, const struct yaml_doc *doc, yaml_id map,
                        struct err *e)
{
    struct err inner = { 0 };
    if (dim->in_switch != TOPO_IN_SWITCH_NONE && dim->shape != TOPO_SWITCH)
        return yaml_fail(doc, yaml_get(doc, map, "in_switch"), e, ERR_RANGE,
                         "is %s on shape %s, need a switch", topo_in_switch_words[dim->in_switch],
                         topo_shape_name(dim->shape));
    if (dim->in_switch == TOPO_IN_SWITCH_NONE && yaml_get(doc, map, "in_switch_min") >= 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "in_switch_min"), e, ERR_RANGE,
                             "is given where switches do not reduce, need in_switch");
    if (topo_check_algorithm(dim, dim->algorithm, &inner))
        return yaml_fail(doc, yaml_get(doc, map, "algorithm"), e, inner.code, "%s", inner.msg);
    return regimes >= 0 ? read_regimes(dim, regimes, doc, e) : 0;
}
