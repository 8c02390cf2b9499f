/* The table of shapes, and what follows from a row alone. */
#include "topo/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

#define SHAPE_DECLARE(NAME, id, word) extern const struct shape_ops shape_##id;
TOPO_SHAPES(SHAPE_DECLARE)

#define SHAPE_ROW(NAME, id, word) [TOPO_##NAME] = &shape_##id,
const struct shape_ops *const topo_shapes[N_TOPO_SHAPES] = { TOPO_SHAPES(SHAPE_ROW) };

#define SHAPE_WORD(NAME, id, word) [TOPO_##NAME] = word,
const char *const topo_shape_words[N_TOPO_SHAPES + 1] = { TOPO_SHAPES(SHAPE_WORD) };
const char *const topo_plain_words[N_TOPO_PLAIN + 1] = { TOPO_PLAIN_SHAPES(SHAPE_WORD) };

#define ALGORITHM_WORD(NAME, word) [TOPO_ALGORITHM_##NAME] = word,
const char *const topo_algorithm_words[N_TOPO_ALGORITHMS + 1] = { TOPO_ALGORITHMS(ALGORITHM_WORD) };

const char *const topo_spine_words[] = { "own", "shared", NULL };
const struct topo_fabric_flag topo_fabric_flags[N_TOPO_FABRIC_FLAGS] = {
    { "forward", offsetof(struct topo_fabric, forward), SHAPE_KEY_FORWARD, "shared or forward" },
    { "twist", offsetof(struct topo_fabric, twist), SHAPE_KEY_TWIST, "twist or ocs" },
    { "ocs", offsetof(struct topo_fabric, ocs), SHAPE_KEY_OCS, "twist or ocs" },
};

const char *topo_shape_name(enum topo_shape s)
{
    return topo_shape_words[s];
}

const char *topo_dim_label(char buf[TOPO_DIM_LABEL], const struct topo_dim *dim)
{
    const struct topo_fabric *f = &dim->fabric;
    const char *cls = dim->level ? strrchr(dim->name, '.') : NULL;
    char taper[NUM_TEXT];
    char planes[16] = "";
    if (topo_planes(dim) > 1)
        snprintf(planes, sizeof planes, "*%d", (int)topo_planes(dim));
    if (!topo_is_fabric(dim)) {
        snprintf(buf, TOPO_DIM_LABEL, "%s:%d%s", cls ? cls + 1 : topo_shape_name(dim->shape), (int)dim->size,
                 planes);
        return buf;
    }
    size_t n = (size_t)snprintf(buf, TOPO_DIM_LABEL, "%s", topo_shape_name(dim->shape));
    for (int32_t k = 0; k < f->n_sizes; k++)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "%c%d", k ? 'x' : ':', (int)f->sizes[k]);
    for (int32_t k = 0; k < f->n_taper; k++)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "/%s", num_format(taper, f->taper[k]));
    n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "%s", f->taper_free ? "/free" : "");
    for (int32_t k = 0; k < f->n_up; k++)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "^%d", (int)f->up[k]);
    if (f->spine == TOPO_SPINE_SHARED && !f->forward)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "+shared");
    for (int32_t k = 0; k < N_TOPO_FABRIC_FLAGS; k++)
        if (*(const bool *)((const char *)f + topo_fabric_flags[k].at))
            n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "+%s", topo_fabric_flags[k].word);
    snprintf(buf + n, TOPO_DIM_LABEL - n, "%s", planes);
    return buf;
}

void shape_port_load(struct shape_load *out, enum shape_pattern pattern, int32_t n)
{
    bool chain = pattern == SHAPE_NEXT || pattern == SHAPE_PASS;
    bool one = pattern == SHAPE_DIRECT || pattern == SHAPE_SEND;
    bool whole = pattern == SHAPE_SEND || pattern == SHAPE_PASS;
    *out = (struct shape_load){ chain ? n - 1 : one ? 1 : num_log2_up(n), { whole ? 1 : (n - 1.0) / n } };
}

void shape_line_load(struct shape_load *out, enum shape_pattern pattern, int32_t k, int32_t stride)
{
    double x = k, s = stride, whole = k % 2 ? x * x - 1 : x * x;
    shape_port_load(out, pattern, k);
    out->hops *= s;
    out->load[0] *= s;
    if (pattern == SHAPE_DIRECT) { /* floor(k/2) ceil(k/2) messages of S/k pass the middle */
        out->hops = (x - 1) * s;
        out->load[0] = s * whole / (4 * x);
    } else if (pattern == SHAPE_HALVING) { /* S/2 in each step */
        out->hops = (x - 1) * s;
        out->load[0] = s * num_log2_up(k) / 2;
    }
}

double shape_beyond(enum shape_pattern pattern, const struct shape_group *g, int32_t k)
{
    double n = g->n, below = 1;
    for (int32_t i = 0; i < k; i++)
        below *= g->members[i];
    if (below >= n || (k > 1 && below * g->rails >= n))
        return 0;
    switch (pattern) {
    case SHAPE_NEXT:
        return (n - 1) / n / below;
    case SHAPE_DIRECT:
        if (g->rails > 1 && k < 2) /* nothing is for the own node, nor for the own leaf: rails have others */
            return (n - g->rails - (k ? below - 1 : 0)) / n;
        return (n - below * (g->rails > 1 ? g->rails : 1)) / n;
    case SHAPE_HALVING:
        return (n / below - 1) / n;
    case SHAPE_FAR:
        return (n / below - 1) / (n / below);
    case SHAPE_BRUCK: /* blocks of the far steps cross all, those of the near steps some: all of them */
        return (n - 1) / n;
    case SHAPE_SEND:
    case SHAPE_PASS:
        return 1 / below;
    }
    return 0;
}

int topo_check_size(enum topo_shape s, int64_t n, struct err *e)
{
    return topo_shapes[s]->check ? topo_shapes[s]->check(n, e) : 0;
}

void topo_level_init(struct topo_dim *dim, int32_t k, const char *cls)
{
    struct topo_dim *level = &dim[k];
    *level = *dim;
    level->level = k;
    level->n_levels = 0;
    level->fabric = (struct topo_fabric){ 0 };
    level->own_links = false;
    level->bw_Bps = NAN;
    level->min_Bps = 0;
    level->max_Bps = INFINITY;
    char name[TOPO_NAME];
    snprintf(name, sizeof name, "%.*s.%s", TOPO_NAME - 10, dim->name, cls);
    memcpy(level->name, name, sizeof level->name);
}

int64_t topo_dim_links(const struct topo_dim *dim)
{
    struct shape_counts c;
    int64_t links = 0;
    topo_ops(dim)->counts(&c, dim);
    for (int32_t i = 0; i < c.n_classes; i++)
        links += c.links[i];
    return links;
}

double topo_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    return topo_ops(dim)->link_Bps(dim, cls, bw_Bps / topo_planes(dim));
}

double topo_dim_link_s(const struct topo_dim *dim, double lat_s)
{
    return topo_ops(dim)->hop_share * lat_s;
}
