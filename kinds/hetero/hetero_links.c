/* What hands data from type to type: dimensions of a described network. */
#include <math.h>
#include <stdlib.h>

#include "kinds/hetero/hetero_point.h"

/* The dimension of each type: the one it names, else the outermost. */
static int find_dims(int32_t *dims, const struct hetero_point *p, const struct topo_network *net,
                     struct err *e)
{
    for (int32_t t = 0; t < p->profile.n_types; t++) {
        yaml_id at = p->dims[t];
        dims[t] = at < 0 ? net->n_dims - 1 : topo_find_dim(net, p->doc.nodes[at].text);
        if (dims[t] < 0)
            return yaml_fail(&p->doc, at, e, ERR_PARSE, "is %.60s, need a dimension of the network",
                             p->doc.nodes[at].text);
    }
    return 0;
}

/* Traffic of two types passes the outer one of their dimensions; a unit takes what its own port lets it. */
static int fill_links(struct hetero_point *p, const struct topo_network *net, struct err *e)
{
    int32_t dims[HETERO_MAX_TYPES], n = p->profile.n_types;
    int rc = find_dims(dims, p, net, e);
    for (int32_t a = 0; a < n && !rc; a++)
        for (int32_t b = 0; b < n && !rc; b++) {
            const struct topo_dim *d = &net->dims[dims[a] > dims[b] ? dims[a] : dims[b]];
            double nic_Bps = p->profile.types[a].nic_Bps;
            if (isnan(d->bw_Bps))
                rc = yaml_fail(&p->doc, p->conf.network, e, ERR_RANGE,
                               "has no bandwidth in dimension %s, which joins types, need bw_GBps", d->name);
            p->links[(size_t)a * (size_t)n + (size_t)b] =
                (struct hetero_link){ .lat_s = d->lat_s, .Bps = fmin(d->bw_Bps * d->efficiency, nic_Bps) };
        }
    return rc;
}

int hetero_point_links(struct hetero_point *p, struct err *e)
{
    struct topo_network net;
    size_t n = (size_t)p->profile.n_types;
    if (p->setup.handover != HETERO_NETWORK)
        return 0;
    int rc = topo_read_network(&net, &p->doc, p->conf.network, e);
    if (rc)
        return rc;
    p->links = calloc(n * n, sizeof *p->links);
    p->setup.links = p->links;
    return p->links ? fill_links(p, &net, e) : err_nomem(e, "links between types");
}
