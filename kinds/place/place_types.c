/*
 * Clusters with several types of NPU: `npus`, a list of types and how many servers each has. The network is
 * one; a type replaces its NPU, and what joins NPUs inside a server. A job runs on one type at a time; a
 * model is read for each (place_mix.c), another job's time follows from the `speed` of the type.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/place/place.h"

#define T struct place_npu
static const struct key npu_keys[] = {
    K_TEXT(T, name, "name", "what messages call the type", .required = true),
    K_NODE(T, node, "npu", "the accelerator: a file (relative to this one) or a map", .required = true,
           .form = "file or <npu>"),
    K_COUNT_OR(T, servers, "servers", 1, CLUSTER_MAX_SERVERS, 0, "servers with this type", .required = true),
    K_REAL_OR(
        T, inner_Bps, "inner_GBps", "GB/s", 1e9, 1e-6, 1e9, NAN,
        "bandwidth of an NPU inside its server, for jobs that are models (default: as the network says)"),
    K_REAL_OR(T, speed, "speed", "", 1, 1e-6, 1e6, NAN,
              "speed of jobs that are not models over that in their trace (default: they do not run here)"),
};
K_SECTION(place_npu_section, T, "npus[]", npu_keys, "servers of one type of NPU");
#undef T

/* The network as jobs on NPUs of this type see it. */
static int read_type(struct topo_network *out, const struct place_study *s, int32_t t, struct err *e)
{
    const struct place_npu *x = &s->servers.npus[t];
    yaml_id at = place_entry(s, yaml_get(&s->doc, s->doc.root, "npus"), t);
    *out = s->servers.net;
    for (int32_t k = 0; k < t; k++)
        if (strcmp(x->name, s->servers.npus[k].name) == 0)
            return yaml_fail(&s->doc, yaml_get(&s->doc, at, "name"), e, ERR_RANGE, "is in the list twice");
    if (!isnan(x->inner_Bps) && s->servers.level != 1)
        return yaml_fail_key(&s->doc, yaml_get(&s->doc, at, "inner_GBps"), e, ERR_RANGE,
                             "needs servers of one dimension, these have %d", (int)s->servers.level);
    if (!isnan(x->inner_Bps))
        out->dims[0].bw_Bps = x->inner_Bps;
    int rc = topo_read_npu(&out->npu, &s->doc, x->node, e);
    bool mix = yaml_get(&s->doc, s->file.jobs, "mix") >= 0;
    if (!rc && mix && (isnan(out->npu.peak_flops) || isnan(out->npu.mem_Bps)))
        rc = yaml_fail_key(&s->doc, x->node, e, ERR_RANGE, "has no %s, which models need",
                           isnan(out->npu.peak_flops) ? "peak_TFLOPS" : "mem_GBps");
    return rc;
}

static int check_types(const struct place_study *s, yaml_id list, struct err *e)
{
    const struct place_servers *v = &s->servers;
    int64_t servers = v->net.n_npus, sum = 0;
    if (!v->has_network)
        return yaml_fail_key(&s->doc, list, e, ERR_PARSE,
                             "needs servers of a network, not of graph or racks");
    yaml_id npu = yaml_get(&s->doc, s->file.network, "npu");
    if (npu >= 0)
        return yaml_fail_key(&s->doc, npu, e, ERR_PARSE, "is given beside npus; give one of them");
    for (int32_t d = 0; d < v->level; d++)
        servers /= v->net.dims[d].size;
    for (int32_t t = 0; t < v->n_npus; t++)
        sum += v->npus[t].servers;
    if (sum != servers)
        return yaml_fail_key(&s->doc, list, e, ERR_RANGE,
                             "has %lld servers, expected the %lld of the network", (long long)sum,
                             (long long)servers);
    return 0;
}

int place_read_types(struct place_study *s, struct err *e)
{
    struct place_servers *v = &s->servers;
    yaml_id list = yaml_get(&s->doc, s->doc.root, "npus");
    if (v->n_npus == 0 || s->model != PLACE_EVENTS)
        return 0;
    int rc = check_types(s, list, e);
    if (rc)
        return rc;
    v->types = malloc((size_t)v->n_npus * sizeof *v->types);
    if (!v->types)
        return err_nomem(e, "types of NPU");
    for (int32_t t = 0; t < v->n_npus && !rc; t++)
        rc = read_type(&v->types[t], s, t, e);
    return rc;
}

int place_take_speeds(struct job *job, const struct place_study *s, struct err *e)
{
    const struct place_servers *v = &s->servers;
    bool any = false;
    for (int32_t t = 0; t < v->n_npus && v->types; t++) {
        job->speed[t] = isnan(v->npus[t].speed) ? 0 : v->npus[t].speed;
        any = any || job->speed[t] > 0;
    }
    if (!v->types || any)
        return 0;
    return err_set(e, ERR_RANGE, "job %s: is none of jobs.mix, and no type of npus has a speed for it",
                   job->id);
}
