#include "sim/hetero/parts.h"

#include <string.h>

bool hetero_parts_take(struct hetero_parts *w, struct hetero_part *x, int64_t more)
{
    const struct hetero_type *types = w->p->profile->types, *t = &types[x->type];
    x->units += more;
    w->usd_per_h += (double)more * x->usd_per_h;
    w->of_type[x->type] += more;
    if (t->host < 0)
        return w->of_type[x->type] <= t->max_units;
    w->of_type[t->host] += more * t->host_units;
    return w->of_type[x->type] <= t->max_units && w->of_type[t->host] <= types[t->host].max_units;
}

/* Nobody has anything. */
static void clear(struct hetero_parts *w)
{
    memset(w->of_type, 0, (size_t)w->p->profile->n_types * sizeof *w->of_type);
    w->usd_per_h = 0;
    w->slowest_s = -1; /* so that a part without work can be the slowest */
}

/* The first units of part @p i, and its time with them. */
static bool start(struct hetero_parts *w, int32_t i, const struct hetero_start *s)
{
    struct hetero_part *x = &w->part[i];
    x->units = 0;
    x->now_s = s->time_s;
    if (x->now_s > w->slowest_s) {
        w->slowest_s = x->now_s;
        w->slowest = i;
    }
    return hetero_parts_take(w, x, s->units);
}

static struct hetero_start least(const struct hetero_time *t, double limit_s)
{
    int64_t k = hetero_least_units(t, limit_s);
    return (struct hetero_start){ .time_s = k < 0 ? 0 : hetero_time_s(t, k), .units = k };
}

enum hetero_status hetero_parts_serve(struct hetero_parts *w, double limit_s)
{
    bool enough = true;
    clear(w);
    for (int32_t i = 0; i < w->n; i++) {
        const struct hetero_start s = least(&w->part[i].time, limit_s);
        if (s.units < 0)
            return HETERO_TOO_SLOW;
        enough = start(w, i, &s) && enough;
    }
    return enough ? HETERO_OK : HETERO_SCARCE;
}

enum hetero_status hetero_parts_begin(struct hetero_parts *w, const struct hetero_problem *p,
                                      struct hetero_work *work)
{
    bool fast = true, enough = true;
    w->p = p;
    w->n = 0;
    w->of_type = work->of_type;
    clear(w);
    for (int32_t i = 0; i < work->n_stages; i++) {
        const struct hetero_stage *s = &work->stages[i];
        struct hetero_part *x = &w->part[w->n++];
        *x = (struct hetero_part){
            .time = s->time, .usd_per_h = p->unit_usd_per_h[s->span.type], .type = s->span.type, .stage = i
        };
        fast = fast && s->start.units > 0;
        enough = fast && start(w, w->n - 1, &s->start) && enough;
        if (!(s->server_s > 0))
            continue;
        x = &w->part[w->n++];
        *x = (struct hetero_part){ .time = { .shared_s = { s->server_s, 0 } },
                                   .usd_per_h = p->unit_usd_per_h[p->setup.server],
                                   .type = p->setup.server,
                                   .stage = -1 };
        const struct hetero_start servers = least(&x->time, 1 / p->per_s);
        fast = fast && servers.units > 0;
        enough = fast && start(w, w->n - 1, &servers) && enough;
    }
    return !fast ? HETERO_TOO_SLOW : enough ? HETERO_OK : HETERO_SCARCE;
}
