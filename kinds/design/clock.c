/*
 * Times of planned steps: a search asks a million times a second and core, so collectives are not modelled
 * anew. Where their time is linear in the bytes (collective_is_linear()), lines are found once a place; where
 * it is not (regimes, measured curves), a few sizes that plans repeat are remembered.
 */
#include "kinds/design/clock.h"

#include <stdint.h>
#include <string.h>

void search_clock_set(struct search_clock *c, const struct collective_way *way,
                      const struct plan_place *place)
{
    c->way = *way;
    c->place = place;
    /* No planned step broadcasts, which is the one kind that always chooses. */
    for (int k = 0; k < N_COLLECTIVES; k++)
        c->linear[k] = collective_is_linear((enum collective_kind)k, way);
    for (int g = 0; g < N_PLAN_GROUPS; g++)
        for (int k = 0; k < N_COLLECTIVES; k++) {
            c->found[g][k] = false;
            for (int i = 0; i < CLOCK_SEEN; i++)
                c->seen[g][k][i].bytes = c->seen[g][k][i].time_s = 0;
        }
}

static const struct collective_lines *find_lines(struct search_clock *c, const struct plan_collective *x)
{
    if (!c->found[x->group][x->kind]) {
        collective_find_lines(&c->lines[x->group][x->kind], x->kind, c->place->members[x->group],
                              c->place->stride[x->group], c->place->share[x->group], &c->way);
        c->found[x->group][x->kind] = true;
    }
    return &c->lines[x->group][x->kind];
}

/* Plans of one place send few different sizes, over and over. */
static double find_time(struct search_clock *c, const struct plan_collective *x)
{
    uint64_t bits;
    memcpy(&bits, &x->bytes, sizeof bits);
    bits ^= bits >> 32;
    bits ^= bits >> 16;
    size_t i = (bits ^ bits >> 8) % CLOCK_SEEN;
    double seen_B = c->seen[x->group][x->kind][i].bytes;
    if (seen_B < x->bytes || seen_B > x->bytes) {
        struct collective_time t;
        collective_time(&t, x->kind, x->bytes, c->place->members[x->group], c->place->stride[x->group],
                        c->place->share[x->group], &c->way);
        c->seen[x->group][x->kind][i].bytes = x->bytes;
        c->seen[x->group][x->kind][i].time_s = t.time_s;
    }
    return c->seen[x->group][x->kind][i].time_s;
}

/* Time of a plan at one way of running collectives. Where that is linear in the bytes, lines are looked up
 * instead of the full model: most of the search's time is here. */
double search_clock_time(struct search_clock *c, const struct plan_cost *cost)
{
    double once_s[PLAN_MAX_COLLECTIVES];
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        once_s[i] = 0;
        if (!c->linear[x->kind]) {
            once_s[i] = find_time(c, x);
            continue;
        }
        const struct collective_lines *lines = find_lines(c, x);
        for (int32_t l = 0; l < lines->n; l++) {
            double time_s = lines->lines[l].const_s + lines->lines[l].s_per_B * x->bytes;
            once_s[i] = time_s > once_s[i] ? time_s : once_s[i];
        }
    }
    return plan_cost_time(cost, once_s);
}

void search_clock_sum(struct plan_sum *out, struct search_clock *c, const struct plan_cost *cost)
{
    struct plan_sum once[PLAN_MAX_COLLECTIVES];
    int32_t n_dims = c->way.net->n_dims;
    for (int32_t i = 0; i < cost->n_collectives; i++) {
        const struct plan_collective *x = &cost->collectives[i];
        struct collective_time t;
        collective_time(&t, x->kind, x->bytes, c->place->members[x->group], c->place->stride[x->group],
                        c->place->share[x->group], &c->way);
        once[i].v[0] = t.time_s;
        for (int32_t d = 0; d < n_dims; d++)
            once[i].v[1 + d] = t.wait_s[d];
    }
    plan_cost_sum(out, cost, once, n_dims);
}
