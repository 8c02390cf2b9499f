#include <math.h>
#include <stdio.h>

#include "sim/astra/astra_file.h"
#include "sim/astra/astra_words.h"
#include "topo/shape.h"

/*
 * 50 ns are 5.0000000000000004e-08 s: the way back must end at 50 again, or a time that is rounded down to
 * whole ns is off by one. So what is within rounding of a millionth is that.
 */
static double snap(double x)
{
    double near = round(x * 1e6) / 1e6;
    return fabs(near - x) <= 1e-12 * fabs(x) ? near : x;
}

static void note_dim(struct text *notes, const struct topo_dim *dim)
{
    char share[32];
    snprintf(share, sizeof share, "%g", dim->efficiency);
    if (dim->efficiency < 1)
        text_printf(notes, "%s: efficiency %s has no counterpart, bandwidth is what remains of it\n",
                    dim->name, share);
    if (dim->n_regimes)
        text_printf(notes, "%s: regimes have no counterpart and are left out\n", dim->name);
    if (dim->in_switch != TOPO_IN_SWITCH_NONE)
        text_printf(notes, "%s: in_switch has no counterpart and is left out\n", dim->name);
}

int sim_astra_from_network(struct sim_astra_conf *conf, const struct topo_network *net, struct text *notes,
                           struct err *e)
{
    sim_astra_defaults(conf);
    conf->n_dims = net->n_dims;
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        if (dim->shape == TOPO_LINE)
            return err_set(e, ERR_RANGE, "dims[%d].shape: is line, need ring, full or switch for ASTRA-sim",
                           d);
        if (isnan(dim->bw_Bps))
            return err_set(e, ERR_RANGE, "dims[%d].bw_GBps: is missing, need a bandwidth for ASTRA-sim", d);
        conf->dims[d] = (struct sim_astra_dim){
            .shape = dim->shape,
            .size = dim->size,
            .GiBps = snap(topo_shape_link_bw(dim->shape, dim->size, dim->bw_Bps * dim->efficiency) /
                          SIM_ASTRA_GiB),
            .lat_ns = snap(topo_shape_link_lat(dim->shape, dim->lat_s) * 1e9),
        };
        note_dim(notes, dim);
    }
    return 0;
}

/* Bruck's steps of 2^k members are those of halving-doubling. */
static int find_algorithm(enum topo_algorithm *out, const struct topo_dim *given, int32_t d, struct err *e)
{
    struct topo_dim dim = *given;
    enum topo_algorithm a = dim.algorithm == TOPO_ALGORITHM_SWITCH ? TOPO_ALGORITHM_SHAPE : dim.algorithm;
    dim.in_switch = TOPO_IN_SWITCH_NONE;
    a = algorithm_resolve(&dim, a, PASS_ALL_REDUCE, dim.size);
    if (a == TOPO_ALGORITHM_BRUCK && (dim.size & (dim.size - 1)) == 0)
        a = TOPO_ALGORITHM_HALVING;
    if (!sim_astra_algorithm_words[a])
        return err_set(
            e, ERR_UNSUP,
            "dims[%d].algorithm: is %s of %d members, which ASTRA-sim has not, need ring or direct", d,
            topo_algorithm_words[a], dim.size);
    *out = a;
    return 0;
}

static void note_rules(struct text *notes, const struct sim_rules *rules)
{
    if (rules->order != SIM_ORDER_FIXED)
        text_printf(notes, "simulation.order: %s has no counterpart, the order is fixed\n",
                    sim_order_words[rules->order]);
    if (rules->queue == SIM_QUEUE_SMALLEST)
        text_puts(notes, "simulation.queue: smallest-first has no counterpart, it is fifo\n");
    if (rules->n_slow)
        text_puts(notes, "simulation.slow: has no counterpart and is left out\n");
}

int sim_astra_from_rules(struct sim_astra_conf *conf, const struct topo_network *net,
                         const struct sim_rules *rules, struct text *notes, struct err *e)
{
    double endpoint_ns = rules->stage.endpoint_s * 1e9;
    for (int32_t d = 0; d < net->n_dims; d++) {
        int rc = find_algorithm(&conf->algorithms[d], &net->dims[d], d, e);
        if (rc)
            return rc;
    }
    conf->n_algorithms = net->n_dims;
    conf->splits = rules->stage.chunks;
    conf->active_chunks = rules->active;
    conf->mem_GBps = isinf(rules->stage.mem_Bps) ? INFINITY : snap(rules->stage.mem_Bps / 1e9);
    conf->lifo = rules->queue == SIM_QUEUE_LIFO;
    conf->endpoint_ns = llround(endpoint_ns);
    if (fabs(endpoint_ns - (double)conf->endpoint_ns) > 1e-6)
        text_printf(notes, "simulation.endpoint_ns: %g is no whole number, it is %lld\n", endpoint_ns,
                    (long long)conf->endpoint_ns);
    note_rules(notes, rules);
    return 0;
}
