/* One NPU's part of a network's bill. */
#include "kinds/design/ask/ports.h"

#include <math.h>

#include "kinds/design/ask/load.h"

int ports_ask(struct design_point *out, const struct yaml_doc *doc, int32_t own_source, struct err *e)
{
    static const char *const keys[] = { "name", "network", "parts", NULL };
    return design_point_take_keys(out, doc, own_source, keys, DESIGN_NEEDS_PARTS | DESIGN_NEEDS_BANDWIDTH, e);
}

/* What is bought for a need: a product is not divided. */
static int take_need(double *bw_Bps, const struct design_point *s, const double *need_Bps, struct err *e)
{
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_recipe *r = topo_find_recipe(&s->parts, s->net.dims[d].tier);
        bool product = r && r->product >= 0;
        double most_Bps = product ? s->parts.parts[r->product].bw_Bps : (double)INFINITY;
        if (need_Bps[d] > most_Bps * (1 + 1e-9))
            return err_set(e, ERR_RANGE, "dimension \"%s\": %.4g GB/s are needed, %s has %.4g",
                           s->net.dims[d].name, need_Bps[d] / 1e9, s->parts.parts[r->product].name,
                           most_Bps / 1e9);
        bw_Bps[d] = product ? most_Bps : need_Bps[d];
    }
    return 0;
}

static double links_of(const struct design_point *s, const double *bw_Bps)
{
    double links = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        links += topo_npu_links(&(struct topo_site){ &s->net, d, bw_Bps, &s->parts,
                                                     topo_find_recipe(&s->parts, s->net.dims[d].tier) });
    return links;
}

int ports_price(struct ports_share *out, struct topo_bill *bill, const struct design_point *s,
                const double *need_Bps, struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS], npus = (double)s->net.n_npus;
    struct topo_bill own;
    int rc = take_need(bw_Bps, s, need_Bps, e);
    if (!rc)
        rc = design_point_build_bill(&own, s, bw_Bps, e);
    if (rc)
        return rc;
    *out = (struct ports_share){
        .links = topo_is_catalogue(&s->parts) ? links_of(s, bw_Bps) : (double)NAN,
        .usd = own.usd.typ / npus,
        .watt = own.n_watt_unknown ? (double)NAN : own.watt / npus,
    };
    if (bill)
        *bill = own;
    else
        topo_bill_free(&own);
    return 0;
}
