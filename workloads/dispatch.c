/*
 * Dispatch of tokens to experts with copies merged (DeepEP, HybridEP): a token crosses each level of the
 * network once for every place behind it that holds some of its experts, and is copied there. Places per
 * token are counted exactly for even routing: hypergeometric draws of nodes and of experts. Dispatch then is
 * an all-to-all of which a dimension carries places / top_k; inside a node the places are NPUs, between nodes
 * they are nodes. Source: deepseek-ai/DeepEP@dd758ca (who forwards to whom), arXiv 2412.19437 section 2.1.2
 * (node limit).
 */
#include "workloads/dispatch.h"

#include <math.h>

/* No expert of a place that has @p own of @p all is among k drawn without putting back. */
static double missed(double own, double all, double k)
{
    double p = 1;
    for (int64_t i = 0; i < (int64_t)k && p > 0; i++)
        p *= fmax(1 - own / (all - (double)i), 0);
    return p;
}

double dispatch_places(const struct dispatch *x, double nodes, double places)
{
    double of_node = x->experts / nodes, drawn = x->limit > 0 ? fmin(x->limit, nodes) : nodes;
    drawn = fmax(drawn, ceil(x->top_k / of_node));
    double all = drawn * of_node, per = nodes / places;
    if (per <= 1 || drawn >= nodes) { /* inside a node, or all nodes are drawn */
        double hit = per <= 1 ? drawn / nodes : 1;
        return places * hit * (1 - missed(x->experts / places, all, x->top_k));
    }
    /* h(j) up to a factor, by the ratio of neighbours. */
    double h = 1, sum = 0, hit = 0;
    const int64_t first = (int64_t)fmax(0, per + drawn - nodes), last = (int64_t)fmin(per, drawn);
    for (int64_t at = first; at <= last; at++) {
        double j = (double)at;
        sum += h;
        hit += h * (1 - missed(j * of_node, all, x->top_k));
        h *= (per - j) * (drawn - j) / ((j + 1) * (nodes - per - drawn + j + 1));
    }
    return places * hit / sum;
}

/* Of @p drawn parts, which need not fit the places. */
static double share_places(const struct dispatch *x, double drawn, double places)
{
    struct dispatch free = *x;
    if (fmod(drawn, places) > 0 && fmod(places, drawn) > 0) {
        free.limit = 0;
        drawn = places;
    }
    return dispatch_places(&free, drawn, places);
}

int64_t dispatch_share(double *share, const struct dispatch *x, const int32_t *members,
                       const struct topo_network *net)
{
    int64_t places = 1, nodes = 0;
    for (int32_t d = 0; d < net->n_dims; d++)
        places *= members[d];
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        share[d] = 1;
    for (int32_t d = 0, n; d < net->n_dims; d += n) {
        int64_t here = 1;
        n = topo_is_fabric(&net->dims[d]) ? net->dims[d].n_levels : 1;
        for (int32_t k = 0; k < n; k++)
            here *= members[d + k];
        if (here == 1)
            continue;
        if (nodes == 0)
            nodes = places / here;
        double copies = share_places(x, x->groups > 0 ? x->groups : (double)nodes, (double)places);
        for (int32_t k = 0; k < n; k++)
            share[d + k] = copies / x->top_k;
        places /= here;
    }
    return nodes > 0 ? nodes : 1;
}
