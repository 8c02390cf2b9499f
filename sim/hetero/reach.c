/*
 * The largest throughput of a plan within the limits of units. The least units for a time only grow as the
 * time falls, so each type by itself says how fast the plan can be, and the least of these answers holds.
 */
#include "sim/hetero/parts.h"

/* Parts that take units of one type. */
struct sharing {
    int64_t max_units;
    int32_t n;
    struct sharer {
        struct hetero_part *part;
        int64_t each; /* of the type, for one of the part's: 1, or the host's */
    } of[2 * HETERO_MAX_LAYERS];
};

static void gather(struct sharing *s, struct hetero_parts *w, int32_t type)
{
    const struct hetero_type *types = w->p->profile->types;
    s->max_units = types[type].max_units;
    s->n = 0;
    for (int32_t i = 0; i < w->n; i++) {
        const struct hetero_type *own = &types[w->part[i].type];
        int64_t each = w->part[i].type == type ? 1 : own->host == type ? own->host_units : 0;
        if (each > 0)
            s->of[s->n++] = (struct sharer){ &w->part[i], each };
    }
}

/* What the least units for a time come to. */
struct fit {
    double slowest_s;
    int64_t left; /* of the type; < 0: there are not so many */
    bool tight;   /* not one more for the slowest part */
};

static struct fit fit(const struct sharing *s, double limit_s)
{
    struct fit f = { .slowest_s = -1, .left = s->max_units };
    const struct sharer *slowest = s->of; /* there is one: else the type would not be short */
    for (int32_t i = 0; i < s->n; i++) {
        int64_t k = hetero_least_units(&s->of[i].part->time, limit_s);
        double now_s = hetero_time_s(&s->of[i].part->time, k);
        s->of[i].part->units = k;
        f.left -= k * s->of[i].each;
        if (now_s > f.slowest_s) {
            f.slowest_s = now_s;
            slowest = &s->of[i];
        }
    }
    f.tight = f.left < slowest->each ||
              !(hetero_time_s(&slowest->part->time, slowest->part->units + 1) < f.slowest_s);
    return f;
}

/* The least time with the units of one type, where @p fast_s is too fast but within reach of each part alone;
 * INFINITY: there is not a unit for each. */
static double share_s(const struct sharing *s, double fast_s)
{
    struct fit slow = fit(s, (double)INFINITY);
    if (slow.left < 0)
        return (double)INFINITY;
    double fast_per_s = 1 / fast_s;
    /* In throughput, to which units are about proportional. Neighbouring numbers end it where parts that are
     * equally slow would need one more each. */
    while (!slow.tight) {
        double middle_per_s = (fast_per_s + 1 / slow.slowest_s) / 2;
        if (!(middle_per_s < fast_per_s * (1 - HETERO_SLACK)))
            break;
        struct fit middle = fit(s, 1 / middle_per_s);
        if (middle.left < 0)
            fast_per_s = middle_per_s;
        else
            slow = middle;
    }
    return slow.slowest_s;
}

double hetero_parts_reach(struct hetero_parts *w)
{
    const struct hetero_type *types = w->p->profile->types;
    double slowest_s = 0; /* when each has all units of its type */
    for (int32_t i = 0; i < w->n; i++) {
        double alone_s = hetero_time_s(&w->part[i].time, types[w->part[i].type].max_units);
        slowest_s = alone_s > slowest_s ? alone_s : slowest_s;
    }
    /* What rounding takes must not put it out of reach. */
    double limit_s = slowest_s * (1 + HETERO_SLACK);
    if (hetero_parts_serve(w, limit_s) == HETERO_OK)
        return 1 / w->slowest_s;
    slowest_s = w->slowest_s;
    for (int32_t t = 0; t < w->p->profile->n_types; t++)
        if (w->of_type[t] > types[t].max_units) {
            struct sharing s;
            gather(&s, w, t);
            double least_s = share_s(&s, limit_s);
            slowest_s = least_s > slowest_s ? least_s : slowest_s;
        }
    return 1 / slowest_s;
}
