#include "sim/flow/flow_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

static int check_box(const struct flow_group *g, const struct flow_group_spec *spec, struct err *e)
{
    bool seen[TOPO_MAX_DIMS] = { false };
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        const struct topo_dim *dim = &g->net.dims[d];
        int64_t m = g->members[d], st = g->stride[d], o = g->order[d];
        if (m < 1 || st < 1)
            return err_set(e, ERR_RANGE,
                           "group: %lld members of dimension %s with stride %lld, need 1 or more",
                           (long long)m, dim->name, (long long)st);
        if (!spec->first && m > 1 && (m * st > dim->size || dim->size % (m * st) != 0))
            return err_set(
                e, ERR_RANGE,
                "group: %lld members of dimension %s with stride %lld, need a product that divides %d",
                (long long)m, dim->name, (long long)st, dim->size);
        if (spec->first && !(spec->first[d] >= 0 && spec->first[d] + (m - 1) * st < dim->size))
            return err_set(
                e, ERR_RANGE,
                "group: dimension %s from %d on, %lld members with stride %lld, need addresses below %d",
                dim->name, spec->first[d], (long long)m, (long long)st, dim->size);
        if (!(o >= 0 && o < g->net.n_dims) || seen[o])
            return err_set(e, ERR_RANGE, "group: order of dimensions has %lld, need each of 0 to %d once",
                           (long long)o, g->net.n_dims - 1);
        seen[o] = true;
    }
    return 0;
}

static int32_t address(const struct topo_routes *routes, int32_t d, int64_t npu)
{
    return (int32_t)(npu / routes->stride[d] % routes->net.dims[d].size);
}

int32_t flow_group_position(const struct flow_group *g, const struct topo_routes *routes, int32_t d,
                            int64_t npu)
{
    return (address(routes, d, npu) - g->base[d]) / g->stride[d] % g->members[d];
}

static bool takes_part(const struct flow_group *g, const struct flow_group_spec *spec,
                       const struct topo_routes *routes, int64_t npu)
{
    for (int32_t d = 0; spec->first && d < g->net.n_dims; d++) {
        int32_t ahead = address(routes, d, npu) - g->base[d];
        if (ahead < 0 || ahead % g->stride[d] != 0 || ahead / g->stride[d] >= g->members[d])
            return false;
    }
    return true;
}

/* Lines are numbered as their first members are, which come before the others. */
static int cut_lines(struct flow_group *g, int32_t d, const struct flow_group_spec *spec,
                     const struct topo_routes *routes, struct err *e)
{
    struct flow_lines *l = &g->lines[d];
    int64_t n_npus = routes->n_npus;
    l->n_members = g->members[d];
    l->step = routes->stride[d] * g->stride[d];
    l->line_of = malloc((size_t)n_npus * sizeof *l->line_of);
    l->first = malloc(((size_t)n_npus / (size_t)l->n_members + 1) * sizeof *l->first);
    if (!l->line_of || !l->first)
        return err_nomem(e, "group");
    for (int64_t npu = 0; npu < n_npus; npu++) {
        l->line_of[npu] = -1;
        if (!takes_part(g, spec, routes, npu))
            continue;
        int32_t position = flow_group_position(g, routes, d, npu);
        if (position > 0) {
            l->line_of[npu] = l->line_of[npu - position * l->step];
        } else {
            l->first[l->n_lines] = npu;
            l->line_of[npu] = l->n_lines++;
        }
    }
    return 0;
}

static int build_box(struct flow_group *g, const struct flow_group_spec *spec,
                     const struct topo_routes *routes, struct err *e)
{
    if (routes->net.n_dims == 0)
        return err_set(e, ERR_UNSUP, "group: is given by dimensions, need a list of NPUs in a custom graph");
    g->net = routes->net;
    g->n_groups = spec->first ? 1 : routes->n_npus;
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        g->members[d] = spec->members[d] ? spec->members[d] : 1;
        g->stride[d] = spec->stride[d] ? spec->stride[d] : 1;
        g->order[d] = spec->order ? spec->order[d] : d;
        g->base[d] = spec->first ? spec->first[d] : 0;
    }
    int rc = check_box(g, spec, e);
    for (int32_t d = 0; d < g->net.n_dims && !rc; d++) {
        g->n_groups /= spec->first ? 1 : g->members[d];
        if (g->members[d] > 1)
            rc = cut_lines(g, d, spec, routes, e);
    }
    return rc;
}

static int check_list(const struct flow_group_spec *spec, const struct topo_routes *routes, struct err *e)
{
    if (spec->n_npus < 2)
        return err_set(e, ERR_RANGE, "group: has %d NPUs, need 2 or more", spec->n_npus);
    for (int32_t i = 0; i < spec->n_npus; i++)
        if (!(spec->npus[i] >= 0 && spec->npus[i] < routes->n_npus))
            return err_set(e, ERR_RANGE, "group: NPU is %lld, need 0 to %d", (long long)spec->npus[i],
                           routes->n_npus - 1);
    if (spec->algorithm > TOPO_ALGORITHM_HALVING || spec->algorithm == TOPO_ALGORITHM_AUTO)
        return err_set(e, ERR_RANGE,
                       "group: algorithm of a list of NPUs is %s, need ring, direct or halving-doubling",
                       topo_algorithm_words[spec->algorithm]);
    if (spec->algorithm == TOPO_ALGORITHM_HALVING && !num_is_power_of_two(spec->n_npus))
        return err_set(e, ERR_RANGE, "group: has %d NPUs, need a power of two for halving-doubling",
                       spec->n_npus);
    return 0;
}

static int build_list(struct flow_group *g, const struct flow_group_spec *spec,
                      const struct topo_routes *routes, struct err *e)
{
    struct flow_lines *l = &g->lines[0];
    size_t n = (size_t)spec->n_npus;
    int rc = check_list(spec, routes, e);
    if (rc)
        return rc;
    topo_network_defaults(&g->net);
    topo_dim_defaults(&g->net.dims[0], 0);
    g->net.n_dims = 1;
    g->net.n_npus = spec->n_npus;
    g->net.dims[0].shape = TOPO_RING;
    g->net.dims[0].size = spec->n_npus;
    g->net.dims[0].algorithm = spec->algorithm;
    g->members[0] = spec->n_npus;
    g->stride[0] = 1;
    g->n_groups = 1;
    *l = (struct flow_lines){ .n_members = spec->n_npus, .n_lines = 1, .step = 1 };
    l->line_of = malloc((size_t)routes->n_npus * sizeof *l->line_of);
    l->first = malloc(sizeof *l->first);
    g->npus = malloc(n * sizeof *g->npus);
    if (!l->line_of || !l->first || !g->npus)
        return err_nomem(e, "group");
    memcpy(g->npus, spec->npus, n * sizeof *g->npus);
    l->first[0] = g->npus[0];
    for (int64_t npu = 0; npu < routes->n_npus; npu++)
        l->line_of[npu] = -1;
    for (size_t i = 0; i < n; i++) {
        if (l->line_of[g->npus[i]] == 0)
            return err_set(e, ERR_RANGE, "group: NPU %lld comes twice, need different ones",
                           (long long)g->npus[i]);
        l->line_of[g->npus[i]] = 0;
    }
    return 0;
}

int flow_group_build(struct flow_group *g, const struct flow_group_spec *spec,
                     const struct topo_routes *routes, struct err *e)
{
    *g = (struct flow_group){ 0 };
    int rc = spec->npus ? build_list(g, spec, routes, e) : build_box(g, spec, routes, e);
    if (rc)
        flow_group_free(g);
    return rc;
}

void flow_group_free(struct flow_group *g)
{
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        free(g->lines[d].first);
        free(g->lines[d].line_of);
    }
    free(g->npus);
    *g = (struct flow_group){ 0 };
}

int64_t flow_group_npu(const struct flow_group *g, int32_t d, int32_t line, int32_t i)
{
    return g->npus ? g->npus[i] : g->lines[d].first[line] + i * g->lines[d].step;
}
