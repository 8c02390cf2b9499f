#include "sim/cluster/draw.h"

#include <math.h>

double draw_real(struct rng *r, struct draw_range range)
{
    return rng_range(r, range.lo, range.hi);
}

double draw_whole(struct rng *r, struct draw_range range)
{
    /* A bound that a change of units has moved by a rounding error is still that bound. */
    double lo = ceil(range.lo - 1e-9 * fabs(range.lo)), hi = floor(range.hi + 1e-9 * fabs(range.hi));
    if (!(lo <= hi))
        return draw_real(r, range);
    return lo + (double)rng_below(r, (int64_t)(hi - lo) + 1);
}

static int read_end(double *x, const struct yaml_doc *doc, yaml_id node, const struct draw_limits *l,
                    struct err *e)
{
    int rc = yaml_real(doc, node, x, e);
    if (rc)
        return rc;
    if (!(*x >= l->min && *x <= l->max))
        return yaml_fail(doc, node, e, ERR_RANGE, "is %g, need %g to %g", *x, l->min, l->max);
    if (l->whole && *x != floor(*x))
        return yaml_fail(doc, node, e, ERR_RANGE, "is %g, need a whole number", *x);
    *x *= l->scale;
    return 0;
}

int draw_read_range(struct draw_range *range, const struct yaml_doc *doc, yaml_id node,
                    const struct draw_limits *limits, struct err *e)
{
    if (node < 0)
        return 0;
    if (doc->nodes[node].kind == YAML_SCALAR) {
        int rc = read_end(&range->lo, doc, node, limits, e);
        range->hi = range->lo;
        return rc;
    }
    if (doc->nodes[node].kind != YAML_SEQ || doc->nodes[node].n != 2)
        return yaml_fail(doc, node, e, ERR_PARSE, "is %s, need a number or a list [least, most]",
                         doc->nodes[node].kind == YAML_SEQ ? "a list of another length" : "a map");
    int rc = read_end(&range->lo, doc, doc->nodes[node].first, limits, e);
    if (!rc)
        rc = read_end(&range->hi, doc, doc->nodes[node].last, limits, e);
    if (!rc && !(range->lo <= range->hi))
        rc = yaml_fail(doc, node, e, ERR_RANGE, "is from %g to %g, need the smaller one first",
                       range->lo / limits->scale, range->hi / limits->scale);
    return rc;
}

int draw_read_choices(double *out, int32_t *n, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    *n = 0;
    if (!rc && (doc->nodes[list].n < 1 || doc->nodes[list].n > DRAW_MAX_CHOICES))
        rc = yaml_fail(doc, list, e, ERR_RANGE, "is a list of %d, need 1 to %d numbers",
                       (int)doc->nodes[list].n, (int)DRAW_MAX_CHOICES);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        int64_t count = 0;
        rc = yaml_count(doc, id, &count, e);
        if (!rc && (count < 1 || count > 1024))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %lld, need 1 to 1024", (long long)count);
        if (rc)
            return rc;
        out[(*n)++] = (double)count;
    }
    return 0;
}
