#include "sim/chunk/cells.h"

#include <stdlib.h>

/* Coordinates of dimension d that some slow entry names, in ascending order. */
static int32_t list_special(int32_t *out, const struct sim_rules *rules, int32_t d)
{
    int32_t n = 0;
    for (int32_t i = 0; i < rules->n_slow; i++) {
        int32_t a = rules->slow[i].at[d], at = 0;
        if (a < 0)
            continue;
        while (at < n && out[at] < a)
            at++;
        if (at < n && out[at] == a)
            continue;
        for (int32_t k = n++; k > at; k--)
            out[k] = out[k - 1];
        out[at] = a;
    }
    return n;
}

/* The coordinate that class k of dimension d has, -1 for the rest. */
static int32_t coordinate(const struct cells *c, const int32_t *special, int32_t n_special, int32_t d,
                          int32_t k)
{
    return c->each[d] ? k : k < n_special ? special[k] : -1;
}

static int lay_out(struct cells *c, const struct topo_network *net, const struct sim_rules *rules,
                   unsigned split_dims, struct err *e)
{
    int64_t n = 1;
    for (int32_t d = 0; d < net->n_dims; d++) {
        int32_t special[SIM_MAX_SLOW], size = net->dims[d].size, n_special = list_special(special, rules, d);
        c->each[d] = n_special && (split_dims >> d & 1);
        c->n_class[d] = c->each[d] || n_special >= size ? size : n_special + 1;
        c->each[d] = c->each[d] || c->n_class[d] == size;
        c->span[d] = (int32_t)n;
        n *= c->n_class[d];
        if (n > CELLS_MAX)
            return err_set(e, ERR_RANGE, "slow NPUs make more than %d classes, need fewer", CELLS_MAX);
    }
    c->n = (int32_t)n;
    return 0;
}

static void apply(struct cells *c, const struct sim_rules *rules, int32_t cell)
{
    for (int32_t i = 0; i < rules->n_slow; i++) {
        const struct sim_slow *s = &rules->slow[i];
        bool applies = true;
        for (int32_t d = 0; d < c->n_dims; d++) {
            int32_t special[SIM_MAX_SLOW], n = list_special(special, rules, d);
            int32_t at = coordinate(c, special, n, d, cell / c->span[d] % c->n_class[d]);
            applies = applies && (s->at[d] < 0 || s->at[d] == at);
        }
        for (int32_t d = 0; applies && d < c->n_dims; d++)
            if ((s->dim < 0 || s->dim == d) && s->share < c->share[d * c->n + cell])
                c->share[d * c->n + cell] = s->share;
        if (applies && s->late_s > c->late_s[cell])
            c->late_s[cell] = s->late_s;
    }
}

int cells_build(struct cells *c, const struct topo_network *net, const struct sim_rules *rules,
                unsigned split_dims, struct err *e)
{
    *c = (struct cells){ .n_dims = net->n_dims };
    int rc = lay_out(c, net, rules, split_dims, e);
    if (rc || rules->n_slow == 0)
        return rc;
    c->share = malloc((size_t)c->n_dims * (size_t)c->n * sizeof *c->share);
    c->late_s = calloc((size_t)c->n, sizeof *c->late_s);
    if (!c->share || !c->late_s) {
        cells_free(c);
        return err_nomem(e, "classes of NPUs");
    }
    for (int32_t i = 0; i < c->n_dims * c->n; i++)
        c->share[i] = 1;
    for (int32_t cell = 0; cell < c->n; cell++)
        apply(c, rules, cell);
    return 0;
}

void cells_free(struct cells *c)
{
    free(c->share);
    free(c->late_s);
    *c = (struct cells){ 0 };
}

double cells_share(const struct cells *c, int32_t d, int32_t cell)
{
    return c->share ? c->share[d * c->n + cell] : 1;
}

double cells_late(const struct cells *c, int32_t cell)
{
    return c->late_s ? c->late_s[cell] : 0;
}

struct team cells_team(const struct cells *c, int32_t d, int32_t cell, int32_t members, int32_t stride)
{
    int32_t span = c->span[d], a = cell / span % c->n_class[d], base = cell - a * span;
    if (!c->each[d] || members * stride > c->n_class[d])
        return (struct team){ base, span, c->n_class[d] };
    int32_t block = members * stride, first = a / block * block + a % stride;
    return (struct team){ base + first * span, stride * span, members };
}
