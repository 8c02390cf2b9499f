/* The table of shapes, and what follows from a row alone. */
#include "topo/shape.h"

#include <stdio.h>

#define SHAPE_DECLARE(NAME, word) extern const struct shape_ops shape_##word;
TOPO_SHAPES(SHAPE_DECLARE)

#define SHAPE_ROW(NAME, word) [TOPO_##NAME] = &shape_##word,
const struct shape_ops *const topo_shapes[N_TOPO_SHAPES] = { TOPO_SHAPES(SHAPE_ROW) };

#define SHAPE_WORD(NAME, word) [TOPO_##NAME] = #word,
const char *const topo_shape_words[N_TOPO_SHAPES + 1] = { TOPO_SHAPES(SHAPE_WORD) };

const char *topo_shape_name(enum topo_shape s)
{
    return topo_shape_words[s];
}

const char *topo_dim_label(char buf[TOPO_DIM_LABEL], const struct topo_dim *dim)
{
    snprintf(buf, TOPO_DIM_LABEL, "%s:%d", topo_shape_name(dim->shape), (int)dim->size);
    return buf;
}

int topo_check_size(enum topo_shape s, int64_t n, struct err *e)
{
    return topo_shapes[s]->check ? topo_shapes[s]->check(n, e) : 0;
}

int64_t topo_dim_links(const struct topo_dim *dim)
{
    struct shape_counts c;
    int64_t links = 0;
    topo_ops(dim)->counts(&c, dim->size);
    for (int32_t i = 0; i < c.n_classes; i++)
        links += c.links[i];
    return links;
}

double topo_dim_link_s(const struct topo_dim *dim, double lat_s)
{
    return topo_ops(dim)->hop_share * lat_s;
}
