#include "sim/gossip/need.h"

#include <math.h>

static const double LEAST = 1e-6, MOST = 1e6, ENDLESS = 1e12, WIDTH = 1.01;

static int time_at(double *time_s, double share, const struct gossip_log *log,
                   const struct gossip_setup *setup, struct err *e)
{
    struct gossip_fabric fabric = *setup->fabric;
    struct gossip_setup there = *setup;
    struct gossip_result r;
    fabric.share = share;
    there.fabric = &fabric;
    int rc = gossip_replay(&r, log, &there, e);
    *time_s = r.time_s;
    gossip_result_free(&r);
    return rc;
}

/* out->share is too much or just enough, and `low` too little. */
static int bisect(struct gossip_need *out, double low, const struct gossip_log *log,
                  const struct gossip_setup *setup, struct err *e)
{
    int rc = 0;
    while (out->share > WIDTH * low && !rc) {
        double share = sqrt(low * out->share), time_s;
        rc = time_at(&time_s, share, log, setup, e);
        if (time_s <= out->limit_s) {
            out->share = share;
            out->time_s = time_s;
        } else {
            low = share;
        }
    }
    return rc;
}

static int find_share(struct gossip_need *out, const struct gossip_log *log, const struct gossip_setup *setup,
                      struct err *e)
{
    int rc = time_at(&out->time_s, LEAST, log, setup, e);
    if (rc || out->time_s <= out->limit_s)
        return rc; /* share 0 */
    rc = time_at(&out->time_s, MOST, log, setup, e);
    out->share = out->time_s <= out->limit_s ? MOST : (double)INFINITY;
    return rc || isinf(out->share) ? rc : bisect(out, LEAST, log, setup, e);
}

int gossip_need(struct gossip_need *out, const struct gossip_log *log, const struct gossip_setup *setup,
                double wait_frac, struct err *e)
{
    const struct gossip_fabric *f = setup->fabric;
    *out = (struct gossip_need){ 0 };
    if (!(wait_frac > 0 && isfinite(wait_frac)))
        return err_set(e, ERR_RANGE, "wait_frac is %g, need > 0", wait_frac);
    int rc = time_at(&out->free_s, ENDLESS, log, setup, e);
    out->limit_s = (1 + wait_frac) * out->free_s;
    if (!rc)
        rc = find_share(out, log, setup, e);
    for (int32_t d = 0; d < f->net.n_dims && !rc; d++)
        if (gossip_fabric_shares(f, d))
            out->bw_Bps += f->net.dims[d].bw_Bps * out->share;
    return rc;
}
