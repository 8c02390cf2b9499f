#include "sim/hetero/hetero.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hetero/provision.h"

const char *const hetero_handover_words[] = { "layer", "stage", "network", NULL };
const char *const hetero_provisioning_words[] = { "exact", "balance", "newton", NULL };
const char *const hetero_status_words[] = { "ok", "too slow", "too few units", NULL };

static size_t span_at(const struct hetero_problem *p, int32_t first, int32_t type, int32_t last)
{
    size_t n = (size_t)p->profile->n_layers;
    return ((size_t)first * (size_t)p->profile->n_types + (size_t)type) * n + (size_t)last;
}

/* ---- building ---- */

static int check_links(const struct hetero_profile *profile, const struct hetero_link *links, struct err *e)
{
    if (!links)
        return err_set(e, ERR_RANGE, "handover: is network, need one");
    for (int32_t a = 0; a < profile->n_types; a++)
        for (int32_t b = 0; b < profile->n_types; b++) {
            const struct hetero_link *k = &links[(size_t)a * (size_t)profile->n_types + (size_t)b];
            if (a == b)
                continue;
            if (!(isfinite(k->lat_s) && k->lat_s >= 0))
                return err_set(e, ERR_RANGE, "link '%s' to '%s': latency is %g s, need >= 0",
                               profile->types[a].name, profile->types[b].name, k->lat_s);
            if (!(k->Bps > 0))
                return err_set(e, ERR_RANGE, "link '%s' to '%s': bandwidth is %g B/s, need > 0",
                               profile->types[a].name, profile->types[b].name, k->Bps);
        }
    return 0;
}

static int check_setup(const struct hetero_profile *profile, const struct hetero_setup *s, struct err *e)
{
    if (!(isfinite(s->examples) && s->examples > 0))
        return err_set(e, ERR_RANGE, "examples: are %g, need > 0", s->examples);
    if (!(isfinite(s->epochs) && s->epochs > 0))
        return err_set(e, ERR_RANGE, "epochs: are %g, need > 0", s->epochs);
    if (s->server < -1 || s->server >= profile->n_types)
        return err_set(e, ERR_RANGE, "server: is type %d, need 0 to %d", s->server, profile->n_types - 1);
    if (s->server >= 0 && !(s->server_Bps > 0))
        return err_set(e, ERR_RANGE, "server: serves %g B/s, need > 0", s->server_Bps);
    return s->handover == HETERO_NETWORK ? check_links(profile, s->links, e) : 0;
}

/* Both work side by side, or one after the other: then a single pair of terms says it all. */
static struct hetero_time combine(const struct hetero_problem *p, const struct hetero_type *t,
                                  double compute_s, double comm_s)
{
    double batch = p->profile->batch;
    struct hetero_time x = {
        .fixed_s = { compute_s * (1 - t->compute_par) / batch, comm_s * (1 - t->comm_par) / batch },
        .shared_s = { compute_s * t->compute_par / batch, comm_s * t->comm_par / batch }
    };
    if (p->setup.overlap)
        return x;
    return (struct hetero_time){ .fixed_s = { x.fixed_s[0] + x.fixed_s[1], 0 },
                                 .shared_s = { x.shared_s[0] + x.shared_s[1], 0 } };
}

/* All spans of one type that begin at one layer. */
static void fill_spans(struct hetero_problem *p, int32_t first, int32_t type)
{
    const struct hetero_profile *f = p->profile;
    const struct hetero_setup *s = &p->setup;
    double compute_s = 0, comm_s = 0, sparse_B = 0;
    for (int32_t last = first; last < f->n_layers; last++) {
        size_t cell = (size_t)last * (size_t)f->n_types + (size_t)type;
        bool pays = s->handover == HETERO_PER_STAGE && last + 1 < f->n_layers;
        compute_s += f->compute_s[cell];
        comm_s += f->sync_s[cell] + (s->handover == HETERO_PER_LAYER ? f->handover_s[cell] : 0);
        sparse_B += f->layers[last].sparse_B;
        size_t at = span_at(p, first, type, last);
        p->spans[at] = combine(p, &f->types[type], compute_s, comm_s + (pays ? f->handover_s[cell] : 0));
        /* Layers on the servers' own type hold their rows themselves. */
        if (p->server_s)
            p->server_s[at] = type == s->server ? 0 : sparse_B / s->server_Bps;
    }
}

int hetero_build(struct hetero_problem *p, const struct hetero_profile *profile,
                 const struct hetero_setup *setup, struct err *e)
{
    *p = (struct hetero_problem){ .profile = profile, .setup = *setup };
    int rc = check_setup(profile, setup, e);
    if (rc)
        return rc;
    size_t n = (size_t)profile->n_layers * (size_t)profile->n_layers * (size_t)profile->n_types;
    p->spans = malloc(n * sizeof *p->spans);
    p->starts = malloc(n * sizeof *p->starts);
    p->unit_usd_per_h = malloc((size_t)profile->n_types * sizeof *p->unit_usd_per_h);
    if (setup->server >= 0)
        p->server_s = malloc(n * sizeof *p->server_s);
    if (!p->spans || !p->starts || !p->unit_usd_per_h || (setup->server >= 0 && !p->server_s)) {
        hetero_free(p);
        return err_nomem(e, "stages of a plan");
    }
    for (int32_t t = 0; t < profile->n_types; t++) {
        const struct hetero_type *x = &profile->types[t];
        p->unit_usd_per_h[t] =
            x->usd_per_h + (x->host >= 0 ? (double)x->host_units * profile->types[x->host].usd_per_h : 0);
        for (int32_t first = 0; first < profile->n_layers; first++)
            fill_spans(p, first, t);
    }
    hetero_set_throughput(p, 0);
    return 0;
}

static struct hetero_start start_of(const struct hetero_time *t, double per_s)
{
    int64_t k = hetero_least_units(t, 1 / per_s);
    return (struct hetero_start){ .time_s = k < 0 ? (double)INFINITY : hetero_time_s(t, k), .units = k };
}

void hetero_set_throughput(struct hetero_problem *p, double per_s)
{
    const int32_t layers = p->profile->n_layers;
    p->per_s = per_s;
    for (int32_t first = 0; first < layers; first++)
        for (int32_t t = 0; t < p->profile->n_types; t++) {
            size_t at = span_at(p, first, t, first);
            for (int32_t last = first; last < layers; last++, at++)
                p->starts[at] = start_of(&p->spans[at], per_s);
        }
}

void hetero_free(struct hetero_problem *p)
{
    free(p->spans);
    free(p->starts);
    free(p->server_s);
    free(p->unit_usd_per_h);
    *p = (struct hetero_problem){ 0 };
}

/* ---- stages ---- */

/* A batch through the port of one unit of type @p own, from or to type @p other, seconds. */
static double link_s(const struct hetero_problem *p, int32_t layer, int32_t own, int32_t other)
{
    const struct hetero_link *k = &p->setup.links[(size_t)own * (size_t)p->profile->n_types + (size_t)other];
    return k->lat_s + p->profile->batch * p->profile->layers[layer].out_B / k->Bps;
}

/* What a stage hands over at both its ends, by the network. Activations go one way while gradients come the
 * other; each end carries both. */
static void add_links(struct hetero_time *t, const struct hetero_problem *p, const struct hetero_span *span)
{
    double comm_s = (span->before >= 0 ? link_s(p, span->first - 1, span->type, span->before) : 0) +
                    (span->after >= 0 ? link_s(p, span->last, span->type, span->after) : 0);
    double share = p->profile->types[span->type].comm_par;
    int i = p->setup.overlap ? 1 : 0;
    t->fixed_s[i] += comm_s * (1 - share) / p->profile->batch;
    t->shared_s[i] += comm_s * share / p->profile->batch;
}

struct hetero_stage hetero_stage_of(const struct hetero_problem *p, const struct hetero_span *span)
{
    size_t at = span_at(p, span->first, span->type, span->last);
    struct hetero_stage s = { *span, p->spans[at], p->starts[at], p->server_s ? p->server_s[at] : 0 };
    if (p->setup.handover == HETERO_NETWORK) {
        add_links(&s.time, p, span);
        s.start = start_of(&s.time, p->per_s);
    }
    return s;
}

int32_t hetero_stages(struct hetero_stage *stages, const struct hetero_problem *p, const hetero_id *plan)
{
    int32_t n = 0, layers = p->profile->n_layers;
    for (int32_t first = 0; first < layers;) {
        struct hetero_span span = { .first = first, .last = first, .type = plan[first] };
        while (span.last + 1 < layers && plan[span.last + 1] == span.type)
            span.last++;
        span.before = first > 0 ? plan[first - 1] : -1;
        span.after = span.last + 1 < layers ? plan[span.last + 1] : -1;
        stages[n++] = hetero_stage_of(p, &span);
        first = span.last + 1;
    }
    return n;
}

/* ---- evaluation ---- */

int hetero_work_build(struct hetero_work *w, const struct hetero_problem *p, struct err *e)
{
    size_t layers = (size_t)p->profile->n_layers, types = (size_t)p->profile->n_types;
    *w = (struct hetero_work){ 0 };
    char *at = calloc(1, layers * (sizeof *w->stages + sizeof *w->units) + types * sizeof *w->of_type);
    if (!at)
        return err_nomem(e, "a plan");
    w->memory = at;
    w->stages = (struct hetero_stage *)(void *)at;
    at += layers * sizeof *w->stages;
    w->units = (int64_t *)(void *)at;
    at += layers * sizeof *w->units;
    w->of_type = (int64_t *)(void *)at;
    return 0;
}

void hetero_work_free(struct hetero_work *w)
{
    free(w->memory);
    *w = (struct hetero_work){ 0 };
}

void hetero_evaluate(struct hetero_value *v, const struct hetero_problem *p, const hetero_id *plan,
                     struct hetero_work *w)
{
    w->n_stages = hetero_stages(w->stages, p, plan);
    hetero_provision(v, p, w);
}
