#include "topo/items.h"

#include <math.h>

#include "topo/shape.h"

/* Links of one NPU in one dimension: beyond any machine, and keeps every count within 2^53. */
#define MAX_LINKS 1e6

/* Where a switch stands, by the number of tiers of its Clos. */
static const char *const tier_names[TOPO_CLOS_TIERS + 1][TOPO_CLOS_TIERS] = {
    { NULL },
    { "switch" },
    { "leaf", "spine" },
    { "leaf", "spine", "core" },
    { "leaf", "spine", "core", "top" },
};

/* The last 1e-9 is rounding of whoever chose the bandwidth, not worth a part. */
static double whole(double x)
{
    return ceil(x * (1 - 1e-9));
}

static void add_item(struct topo_items *out, int32_t part, const char *where, double count)
{
    if (part >= 0 && count > 0)
        out->items[out->n++] = (struct topo_item){ part, where, count };
}

/* NPUs that share the addresses beyond dimension d; those of one fabric. */
static int64_t npus_up_to(const struct topo_network *net, int32_t d)
{
    int64_t n = 1;
    for (int32_t i = 0; i <= d; i++)
        n *= net->dims[i].size;
    return n;
}

/* ---- ring, line, full ---- */

static void count_direct(struct topo_items *out, const struct topo_network *net, int32_t d,
                         const struct topo_parts *p, const struct topo_recipe *r, double bw_Bps)
{
    const struct topo_dim *dim = &net->dims[d];
    int64_t n = dim->size, links = topo_shape_links(dim->shape, n);
    double groups = (double)net->n_npus / (double)n, link_Bps = topo_shape_link_bw(dim->shape, n, bw_Bps);

    if (r->nic >= 0) {
        const struct topo_part *nic = &p->parts[r->nic];
        double ports = whole(link_Bps / nic->bw_Bps);
        int64_t most = topo_shape_degree_max(dim->shape, n), least = topo_shape_degree_min(dim->shape, n);
        /* The ends of a line have one link less; elsewhere all members are alike. */
        int64_t ends = most == least ? 0 : n * most - 2 * links;
        double per_group = (double)(n - ends) * ceil((double)most * ports / (double)nic->ports) +
                           (double)ends * ceil((double)least * ports / (double)nic->ports);
        add_item(out, r->nic, NULL, groups * per_group);
    }
    double cables = whole(link_Bps / p->parts[r->end_link].bw_Bps);
    add_item(out, r->end_link, "direct link", groups * (double)links * cables);
}

static void relax_direct(struct topo_items *out, const struct topo_network *net, int32_t d,
                         const struct topo_parts *p, const struct topo_recipe *r)
{
    const struct topo_dim *dim = &net->dims[d];
    double links = (double)net->n_npus / dim->size * (double)topo_shape_links(dim->shape, dim->size);
    double carried = links * topo_shape_link_bw(dim->shape, dim->size, 1);

    if (r->nic >= 0) {
        const struct topo_part *nic = &p->parts[r->nic];
        add_item(out, r->nic, NULL, 2 * carried / nic->bw_Bps / (double)nic->ports);
    }
    add_item(out, r->end_link, "direct link", carried / p->parts[r->end_link].bw_Bps);
}

/* ---- switch ---- */

static bool is_sold_by_port(const struct topo_parts *p, const struct topo_recipe *r)
{
    return p->parts[r->sw].ports == 1;
}

static int need_up_link(const struct topo_recipe *r, const struct topo_clos *c, struct err *e)
{
    if (c->tiers > 1 && r->up_link < 0)
        return err_set(e, ERR_RANGE, "tier \"%s\" is built without up_link, need one: a Clos of %d tiers",
                       r->tier, (int)c->tiers);
    return 0;
}

/* Add `rails` equal rails of `columns` columns each to what one fabric takes. */
static int add_rails(struct topo_clos *sum, int64_t columns, int64_t rails, const struct topo_dim *dim,
                     const struct topo_parts *p, const struct topo_recipe *r, struct err *e)
{
    struct topo_clos c;
    if (rails == 0)
        return 0;
    int rc = topo_count_clos(&c, columns * rails * dim->size, p->parts[r->sw].ports, r->taper, rails, e);
    if (!rc)
        rc = need_up_link(r, &c, e);
    if (rc)
        return rc;
    sum->tiers = c.tiers > sum->tiers ? c.tiers : sum->tiers;
    sum->switches += c.switches;
    sum->up_links += c.up_links;
    for (int32_t i = 0; i < c.tiers; i++)
        sum->per_tier[i] += c.per_tier[i];
    return 0;
}

/* Switches and links between them; `links` = links of one NPU. */
static int count_fabrics(struct topo_items *out, const struct topo_network *net, int32_t d,
                         const struct topo_parts *p, const struct topo_recipe *r, int64_t links,
                         struct err *e)
{
    const struct topo_dim *dim = &net->dims[d];
    int64_t fabric = npus_up_to(net, d), columns = fabric / dim->size * links;
    int64_t rails = r->rails < columns ? r->rails : columns;
    int64_t fuller = columns % rails;
    struct topo_clos sum = { 0 };

    int rc = add_rails(&sum, columns / rails + 1, fuller, dim, p, r, e);
    if (!rc)
        rc = add_rails(&sum, columns / rails, rails - fuller, dim, p, r, e);
    if (rc)
        return rc;
    double fabrics = (double)net->n_npus / (double)fabric;
    for (int32_t i = 0; i < sum.tiers; i++)
        add_item(out, r->sw, tier_names[sum.tiers][i], fabrics * (double)sum.per_tier[i]);
    add_item(out, r->up_link, "up link", fabrics * (double)sum.up_links);
    out->boxes = net->n_npus / fabric * sum.switches;
    return 0;
}

static int count_switched(struct topo_items *out, const struct topo_network *net, int32_t d,
                          const struct topo_parts *p, const struct topo_recipe *r, double bw_Bps,
                          struct err *e)
{
    double npus = (double)net->n_npus, links = whole(bw_Bps / topo_recipe_link_Bps(p, r));

    if (r->nic >= 0) {
        const struct topo_part *nic = &p->parts[r->nic];
        add_item(out, r->nic, NULL, npus * ceil(whole(bw_Bps / nic->bw_Bps) / (double)nic->ports));
    }
    add_item(out, r->end_link, "end link", npus * links);
    if (!is_sold_by_port(p, r))
        return count_fabrics(out, net, d, p, r, (int64_t)links, e);
    add_item(out, r->sw, "port", npus * links);
    out->boxes = -1;
    return 0;
}

/*
 * Per end, with k ports and leaf taper t, nothing rounded: (t+1)/(t k) leaves, 2/(t k) switches of each
 * middle tier, 1/(t k) at the top: (1 + 2 (tiers-1)/t)/k in all, and 1/t links up from every tier but
 * the top. Each tier more adds to it, so the tiers of the smallest rail bound those of any.
 */
static int relax_switched(struct topo_items *out, const struct topo_network *net, int32_t d,
                          const struct topo_parts *p, const struct topo_recipe *r, struct err *e)
{
    double ends_per_Bps = (double)net->n_npus / topo_recipe_link_Bps(p, r);

    if (r->nic >= 0) {
        const struct topo_part *nic = &p->parts[r->nic];
        add_item(out, r->nic, NULL, (double)net->n_npus / nic->bw_Bps / (double)nic->ports);
    }
    add_item(out, r->end_link, "end link", ends_per_Bps);
    if (is_sold_by_port(p, r)) {
        add_item(out, r->sw, "port", ends_per_Bps);
        return 0;
    }

    struct topo_clos c;
    int64_t columns = npus_up_to(net, d) / net->dims[d].size;
    int64_t rail_columns = columns > r->rails ? columns / r->rails : 1;
    int rc = topo_count_clos(&c, rail_columns * net->dims[d].size, p->parts[r->sw].ports, r->taper, 1, e);
    if (!rc)
        rc = need_up_link(r, &c, e);
    if (rc)
        return rc;
    double up_links = (c.tiers - 1) / r->taper;
    add_item(out, r->sw, "switch", ends_per_Bps * (1 + 2 * up_links) / (double)p->parts[r->sw].ports);
    add_item(out, r->up_link, "up link", ends_per_Bps * up_links);
    return 0;
}

/* ---- either ---- */

static int check_recipe(const struct topo_dim *dim, const struct topo_recipe *r, struct err *e)
{
    if (dim->shape == TOPO_SWITCH && r->sw < 0)
        return err_set(e, ERR_RANGE, "dimension \"%s\": tier \"%s\" is built without a switch, need one",
                       dim->name, r->tier);
    return 0;
}

int topo_count_items(struct topo_items *out, const struct topo_network *net, int32_t d,
                     const struct topo_parts *p, const struct topo_recipe *r, double bw_Bps, struct err *e)
{
    const struct topo_dim *dim = &net->dims[d];
    *out = (struct topo_items){ 0 };
    int rc = check_recipe(dim, r, e);
    if (rc)
        return rc;
    double links = bw_Bps / topo_recipe_link_Bps(p, r);
    if (!(links > 0 && links <= MAX_LINKS))
        return err_set(e, ERR_RANGE,
                       "dimension \"%s\": bandwidth is %g GB/s, %g links per NPU, need at most %g", dim->name,
                       bw_Bps / 1e9, links, MAX_LINKS);
    if (dim->shape != TOPO_SWITCH) {
        count_direct(out, net, d, p, r, bw_Bps);
        return 0;
    }
    rc = count_switched(out, net, d, p, r, bw_Bps, e);
    return rc ? err_wrap(e, "dimension \"%s\"", dim->name) : 0;
}

int topo_relax_items(struct topo_items *out, const struct topo_network *net, int32_t d,
                     const struct topo_parts *p, const struct topo_recipe *r, struct err *e)
{
    const struct topo_dim *dim = &net->dims[d];
    *out = (struct topo_items){ 0 };
    int rc = check_recipe(dim, r, e);
    if (rc)
        return rc;
    if (dim->shape != TOPO_SWITCH) {
        relax_direct(out, net, d, p, r);
        return 0;
    }
    rc = relax_switched(out, net, d, p, r, e);
    return rc ? err_wrap(e, "dimension \"%s\"", dim->name) : 0;
}

enum topo_bill_role topo_item_role(const struct topo_parts *p, const struct topo_item *item)
{
    switch (p->parts[item->part].kind) {
    case PART_NIC:
        return BILL_NIC;
    case PART_SWITCH:
        return BILL_SWITCH;
    default:
        return BILL_LINK;
    }
}
