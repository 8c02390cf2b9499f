/*
 * Wires of a custom graph as plain arrays, so that what is computed on them needs no igraph and no turn of
 * its own. The price of a graph is the sum over its links and vertices of the attributes usd and watt: no
 * part is counted, nothing is rounded. A graph that prices some of its links is refused, since its sum would
 * look like a price and be none; switches without prices are said (unpriced_switches).
 */
#include "topo/wires.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/parts.h"

/* Every one of n has a value, or none has. @p sum is NaN where none has; @p missing is the first without. */
static bool sum_values(double *sum, int64_t *missing, const double *values, int64_t n, size_t stride)
{
    int64_t known = 0;
    *sum = 0;
    *missing = -1;
    for (int64_t i = 0; i < n; i++) {
        double x = *(const double *)(const void *)((const char *)values + (size_t)i * stride);
        if (isnan(x)) {
            *missing = *missing < 0 ? i : *missing;
            continue;
        }
        known++;
        *sum += x;
    }
    if (!known)
        *sum = NAN;
    return known == 0 || known == n;
}

static int sum_links(double *sum, const struct topo_wires *w, const double *first, const char *key,
                     struct err *e)
{
    int64_t missing;
    if (sum_values(sum, &missing, first, w->n_links, sizeof *w->links))
        return 0;
    return err_set(e, ERR_PARSE, "edge %lld: %s is missing, which other edges have", (long long)missing + 1,
                   key);
}

/* Of vertices, NPUs may be without, and all switches. */
static int sum_nodes(double *sum, const struct topo_wires *w, const double *values, const char *key,
                     const struct topo_graph *g, struct err *e)
{
    double npus, switches;
    int64_t missing;
    char name[TOPO_VERTEX_TEXT];
    bool whole = sum_values(&npus, &missing, values, w->n_npus, sizeof *values);
    if (whole) {
        whole =
            sum_values(&switches, &missing, values + w->n_npus, w->n_vertices - w->n_npus, sizeof *values);
        missing += w->n_npus;
    }
    if (!whole)
        return err_set(e, ERR_PARSE, "node \"%.64s\": %s is missing, which others of its kind have",
                       topo_vertex_name(name, g, missing), key);
    *sum = isnan(npus) ? switches : isnan(switches) ? npus : npus + switches;
    return 0;
}

static int copy_wires(struct topo_wires *w, const struct topo_graph *g, struct err *e)
{
    w->links = ARENA_TAKE(&w->arena, w->n_links, *w->links);
    w->classes = ARENA_TAKE(&w->arena, w->n_classes + 1, *w->classes);
    w->usd = ARENA_TAKE(&w->arena, w->n_vertices, *w->usd);
    w->watt = ARENA_TAKE(&w->arena, w->n_vertices, *w->watt);
    int rc = arena_check(&w->arena, "wires of a graph", e);
    if (rc)
        return rc;
    for (int32_t c = 0; c < w->n_classes; c++)
        snprintf(w->classes[c], TOPO_NAME, "%s", topo_graph_class(g, c));
    for (int32_t v = 0; v < w->n_vertices; v++) {
        w->usd[v] = topo_vertex_usd(g, v);
        w->watt[v] = topo_vertex_watt(g, v);
    }
    return topo_list_links(w->links, g, e);
}

int topo_wires_check(const struct topo_wires *w, const struct topo_graph *g, struct err *e)
{
    char name[TOPO_VERTEX_TEXT];
    bool *linked = calloc((size_t)w->n_vertices + 1, sizeof *linked);
    int32_t alone = 0;
    if (!linked)
        return err_nomem(e, "wires of a graph");
    for (int32_t i = 0; i < w->n_links; i++)
        linked[w->links[i].src] = linked[w->links[i].dst] = true;
    while (alone < w->n_npus && linked[alone])
        alone++;
    free(linked);
    return alone == w->n_npus
               ? 0
               : err_set(e, ERR_RANGE,
                         "node \"%.64s\": is an NPU without a link; give it one, or kind switch",
                         topo_vertex_name(name, g, alone));
}

int topo_wires_build(struct topo_wires *w, const struct topo_graph *g, struct err *e)
{
    *w = (struct topo_wires){ .n_classes = topo_graph_classes(g) };
    if (topo_graph_links(g) > INT32_MAX / 4)
        return err_set(e, ERR_RANGE, "has %lld links, expected at most %d", (long long)topo_graph_links(g),
                       INT32_MAX / 4);
    w->n_npus = (int32_t)topo_graph_npus(g);
    w->n_vertices = (int32_t)topo_graph_vertices(g);
    w->n_links = (int32_t)topo_graph_links(g);
    w->no_kinds = topo_graph_lacks_kinds(g);
    int rc = copy_wires(w, g, e);
    if (!rc)
        rc = sum_links(&w->link_usd, w, &w->links[0].usd, "usd", e);
    if (!rc)
        rc = sum_links(&w->link_watt, w, &w->links[0].watt, "watt", e);
    if (!rc)
        rc = sum_nodes(&w->node_usd, w, w->usd, "usd", g, e);
    if (!rc)
        rc = sum_nodes(&w->node_watt, w, w->watt, "watt", g, e);
    if (!rc)
        w->unpriced_switches = topo_wires_priced(w) && w->n_vertices > w->n_npus && isnan(w->usd[w->n_npus]);
    if (rc)
        topo_wires_free(w);
    return rc;
}

void topo_wires_free(struct topo_wires *w)
{
    arena_free(&w->arena);
    *w = (struct topo_wires){ 0 };
}

bool topo_wires_priced(const struct topo_wires *w)
{
    return !isnan(w->link_usd) || !isnan(w->node_usd);
}

/* ---- classes as dimensions ---- */

/* Links between a vertex and the nearest NPU, by a search from all NPUs at once. */
static void find_heights(int32_t *height, const struct topo_wires *w)
{
    for (int32_t v = w->n_npus; v < w->n_vertices; v++)
        height[v] = w->n_vertices;
    for (bool moved = true; moved;) {
        moved = false;
        for (int32_t i = 0; i < w->n_links; i++)
            for (int k = 0; k < 2; k++) {
                int64_t a = k ? w->links[i].dst : w->links[i].src, b = w->links[i].src + w->links[i].dst - a;
                if (height[b] > height[a] + 1) {
                    height[b] = height[a] + 1;
                    moved = true;
                }
            }
    }
}

/* Sums over the links of class d, then over N times what makes B. */
static void fill_class(struct topo_wires *w, int32_t d, const int32_t *height)
{
    struct topo_wire_class *k = &w->kinds[d];
    double all = 0, most = 0, n = w->n_npus;
    *k = (struct topo_wire_class){ .n_links = 0 };
    for (int32_t i = 0; i < w->n_links; i++) {
        const struct topo_link *l = &w->links[i];
        if (l->cls != d)
            continue;
        int ways = height[l->src] == height[l->dst] ? 2 : 1;
        int npus = (l->src < w->n_npus) + (l->dst < w->n_npus);
        k->n_links++;
        all += ways * l->bw_Bps;
        most = fmax(most, l->bw_Bps);
        k->links_per += (npus == 2 ? 2 : 1) * l->bw_Bps;
        k->ports_per += (2 - npus) * l->bw_Bps;
        k->nics_per += npus == 1 ? l->bw_Bps : 0;
        k->usd_per_Bps += l->usd;
        k->watt_per_Bps += l->watt;
    }
    k->file_Bps = all / n;
    k->link_share = most / k->file_Bps;
    k->links_per /= all;
    k->ports_per /= all;
    k->nics_per /= all;
    k->usd_per_Bps /= k->file_Bps;
    k->watt_per_Bps /= k->file_Bps;
    for (int32_t i = 0; i < w->n_links; i++)
        if (w->links[i].cls == d)
            w->weight[i] = w->links[i].bw_Bps / k->file_Bps;
}

/* Bandwidth over B of the links of each NPU in class d; with `to_switch`, of those that end at a switch.
 * @p share: shape [n_npus]. */
static void sum_npus(double *share, const struct topo_wires *w, int32_t d, bool to_switch)
{
    memset(share, 0, (size_t)w->n_npus * sizeof *share);
    for (int32_t i = 0; i < w->n_links; i++) {
        const struct topo_link *l = &w->links[i];
        bool is_npu[2] = { l->src < w->n_npus, l->dst < w->n_npus };
        if (l->cls != d || (to_switch && is_npu[0] && is_npu[1]))
            continue;
        if (is_npu[0])
            share[l->src] += w->weight[i];
        if (is_npu[1])
            share[l->dst] += w->weight[i];
    }
}

/* @p share: room, shape [n_npus]. */
static void fill_npu_shares(struct topo_wires *w, int32_t n_dims, double *share)
{
    for (int32_t d = 0; d < n_dims; d++) {
        struct topo_wire_class *k = &w->kinds[d];
        sum_npus(share, w, d, false);
        for (int32_t v = 0; v < w->n_npus; v++)
            k->npu_share = fmax(k->npu_share, share[v]);
        sum_npus(share, w, d, true);
        for (int32_t v = 0; v < w->n_npus; v++)
            k->nic_share = fmax(k->nic_share, share[v]);
    }
}

int topo_wires_nics(int64_t *n, const struct topo_wires *w, int32_t d, double bw_Bps, double port_Bps,
                    struct err *e)
{
    double *share = calloc((size_t)w->n_npus + 1, sizeof *share);
    *n = 0;
    if (!share)
        return err_nomem(e, "wires of a graph");
    sum_npus(share, w, d, true);
    for (int32_t v = 0; v < w->n_npus; v++)
        *n += (int64_t)topo_whole_parts(share[v] * bw_Bps / port_Bps);
    free(share);
    return 0;
}

/* A file without classes has one, unless a study lists several. */
static void settle_classes(struct topo_wires *w, const struct topo_network *net)
{
    if (w->n_classes > 0 || net->n_dims > 1)
        return;
    w->n_classes = 1; /* there is room for one more */
    snprintf(w->classes[0], TOPO_NAME, "%s", net->n_dims ? net->dims[0].name : "links");
    for (int32_t i = 0; i < w->n_links; i++)
        w->links[i].cls = 0;
}

int topo_wires_list(struct topo_network *net, const struct topo_wires *w, struct err *e)
{
    for (int32_t c = 0; c < w->n_classes; c++) {
        int rc = topo_add_class(net, w->classes[c], e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Which dimension each class of the file is. */
static int match_classes(int32_t *dim_of, const struct topo_wires *w, const struct topo_network *net,
                         int32_t *at, struct err *e)
{
    for (int32_t i = 0; i < w->n_links; i++)
        if (w->links[i].cls < 0)
            return err_set(e, ERR_RANGE, "edge %d has no class, expected %s", (int)i + 1,
                           w->n_classes ? "one as other edges have" : "one of those listed");
    for (int32_t c = 0; c < w->n_classes; c++) {
        dim_of[c] = topo_find_dim(net, w->classes[c]);
        if (dim_of[c] < 0)
            return err_set(e, ERR_RANGE, "has links of class \"%s\", expected it among the classes",
                           w->classes[c]);
    }
    for (int32_t d = 0; d < net->n_dims; d++) {
        bool used = false;
        for (int32_t c = 0; c < w->n_classes; c++)
            used = used || dim_of[c] == d;
        *at = d;
        if (!used)
            return err_set(e, ERR_RANGE, "is \"%s\", of which the graph has no links", net->dims[d].name);
    }
    *at = -1;
    return 0;
}

static int settle_sizes(struct topo_network *net, const struct topo_wires *w, struct err *e)
{
    int64_t n = 1;
    for (int32_t d = 0; d < net->n_dims; d++) {
        if (net->dims[d].size == 0)
            net->dims[d].size = d > 0 ? 1 : 0;
        n *= net->dims[d].size > 0 ? net->dims[d].size : 1;
        if (n > TOPO_MAX_NPUS)
            break;
    }
    if (net->dims[0].size == 0 && w->n_npus % n == 0) {
        net->dims[0].size = (int32_t)(w->n_npus / n);
        n = w->n_npus;
    }
    net->n_npus = w->n_npus;
    return n == w->n_npus ? 0
                          : err_set(e, ERR_RANGE, "has %d NPUs, expected the product of the sizes, %lld",
                                    (int)w->n_npus, (long long)n);
}

int topo_wires_bind(struct topo_wires *w, struct topo_network *net, int32_t *at, struct err *e)
{
    struct arena own = { 0 };
    settle_classes(w, net);
    *at = -1;
    int rc = net->n_dims == 0 ? topo_wires_list(net, w, e) : 0;
    if (rc)
        return rc;
    int32_t *dim_of = ARENA_TAKE(&own, w->n_classes, *dim_of),
            *height = ARENA_TAKE(&own, w->n_vertices, *height);
    double *share = ARENA_TAKE(&own, w->n_npus, *share);
    w->kinds = ARENA_TAKE(&w->arena, net->n_dims, *w->kinds);
    w->weight = ARENA_TAKE(&w->arena, w->n_links, *w->weight);
    rc = arena_check(own.failed ? &own : &w->arena, "wires of a graph", e);
    if (!rc)
        rc = match_classes(dim_of, w, net, at, e);
    if (!rc)
        rc = settle_sizes(net, w, e);
    for (int32_t i = 0; i < w->n_links && !rc; i++)
        w->links[i].cls = dim_of[w->links[i].cls];
    if (!rc) {
        find_heights(height, w);
        for (int32_t d = 0; d < net->n_dims; d++)
            fill_class(w, d, height);
        fill_npu_shares(w, net->n_dims, share);
    }
    arena_free(&own);
    return rc;
}
