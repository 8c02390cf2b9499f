#include "tests/settings.h"
#include "tests/unit/hetero_fixture.h"

#include "sim/hetero/oracle.h"
#include "tests/support.h"

static double draw_share(struct rng *rng, bool extreme)
{
    if (extreme && rng_below(rng, 2) == 0)
        return (double)rng_below(rng, 2);
    return rng_range(rng, 0.5, 1);
}

static void draw_types(struct hetero_profile *p, struct rng *rng, const struct hetero_fixture_kind *kind)
{
    for (int32_t t = 0; t < p->n_types; t++) {
        struct hetero_type *x = &p->types[t];
        snprintf(x->name, sizeof x->name, "type%d", t);
        x->cpu = t == 0;
        x->usd_per_h = rng_log_range(rng, 0.1, 10);
        x->max_units = 1 + rng_below(rng, kind->most_units);
        x->compute_par = draw_share(rng, kind->extreme);
        x->comm_par = draw_share(rng, kind->extreme);
        if (kind->hosts && t > 0) {
            x->host = 0;
            x->host_units = rng_below(rng, 4);
        }
    }
    if (kind->hosts)
        p->types[0].max_units *= 4;
}

static void draw_layers(struct hetero_profile *p, struct rng *rng)
{
    for (int32_t l = 0; l < p->n_layers; l++) {
        struct hetero_layer *x = &p->layers[l];
        snprintf(x->name, sizeof x->name, "layer%d", l);
        x->kind = rng_below(rng, 3) == 0 ? HETERO_EMBEDDING : HETERO_FC;
        x->in_B = rng_log_range(rng, 1e2, 1e4);
        x->out_B = rng_log_range(rng, 1e2, 1e4);
        x->sparse_B = x->kind == HETERO_EMBEDDING ? rng_log_range(rng, 1e2, 1e4) : 0;
        for (int32_t t = 0; t < p->n_types; t++) {
            size_t at = (size_t)l * (size_t)p->n_types + (size_t)t;
            p->compute_s[at] = rng_log_range(rng, 0.01, 1);
            p->sync_s[at] = rng_log_range(rng, 0.01, 1);
            p->handover_s[at] = rng_log_range(rng, 0.01, 1);
        }
    }
}

/* Two speeds of links and two latencies: several types share a class. */
static void draw_links(struct hetero_fixture *f, struct rng *rng)
{
    size_t n = (size_t)f->profile.n_types;
    f->links = calloc(n * n, sizeof *f->links);
    assert_non_null(f->links);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            f->links[a * n + b].Bps = rng_below(rng, 2) ? 1e5 : 1e6;
            f->links[a * n + b].lat_s = rng_below(rng, 4) ? 0.01 : 0.1;
        }
}

void hetero_fixture_draw(struct hetero_fixture *f, struct rng *rng, const struct hetero_fixture_kind *kind)
{
    MUST(hetero_profile_build(&f->profile, kind->n_layers, kind->n_types, e));
    f->profile.batch = 64;
    draw_types(&f->profile, rng, kind);
    draw_layers(&f->profile, rng);
    draw_links(f, rng);
    MUST(hetero_profile_check(&f->profile, e));
    const struct hetero_setup setup = { .overlap = kind->overlap,
                                        .handover = kind->handover,
                                        .links = f->links,
                                        .provisioning = HETERO_EXACT,
                                        .examples = 1e6,
                                        .epochs = 2,
                                        .server = kind->servers ? 0 : -1,
                                        .server_Bps = 1e5 };
    MUST(hetero_build(&f->problem, &f->profile, &setup, e));
}

void hetero_fixture_free(struct hetero_fixture *f)
{
    hetero_free(&f->problem);
    hetero_profile_free(&f->profile);
    free(f->links);
    *f = (struct hetero_fixture){ 0 };
}

/* Most of them so small that all plans can be tried. */
static const struct shape {
    int32_t n_layers, n_types;
    int64_t most_units;
    int n;
} shapes[] = { { 1, 1, 40, 12 }, { 1, 5, 40, 24 },   { 5, 1, 40, 24 },  { 2, 2, 3, 48 },  { 4, 3, 4, 48 },
               { 5, 3, 40, 96 }, { 6, 4, 200, 48 },  { 4, 8, 60, 48 },  { 8, 3, 20, 24 }, { 12, 2, 60, 24 },
               { 3, 16, 9, 24 }, { 2, 40, 500, 24 }, { 16, 2, 300, 3 }, { 8, 4, 30, 3 } };

const int hetero_fixture_n = 450;

static struct hetero_fixture_kind kind_of(const struct shape *s, int i)
{
    static const enum hetero_handover handovers[] = { HETERO_PER_LAYER, HETERO_PER_STAGE, HETERO_NETWORK };
    return (struct hetero_fixture_kind){ .n_layers = s->n_layers,
                                         .n_types = s->n_types,
                                         .most_units = s->most_units,
                                         .handover = handovers[i % 3],
                                         .overlap = i / 3 % 2 == 0,
                                         .hosts = i / 6 % 2 == 0,
                                         .servers = i / 12 % 2 == 0,
                                         .extreme = i / 24 % 2 == 0 };
}

bool hetero_fixture_instance(struct hetero_fixture *f, int i)
{
    static const double shares[] = { 0.01, 0.1, 0.3, 0.5, 0.8, 1 };
    double reach_per_s;
    int k = 0, nth = i;
    while (nth >= shapes[k].n)
        nth -= shapes[k++].n;
    assert_in_range(k, 0, COUNT_OF(shapes) - 1);
    const struct hetero_fixture_kind kind = kind_of(&shapes[k], nth);
    RNG(rng, 1, (uint64_t)i);
    hetero_fixture_draw(f, rng, &kind);
    MUST(hetero_reach(&reach_per_s, NULL, &f->problem, e));
    if (reach_per_s > 0)
        hetero_set_throughput(&f->problem, reach_per_s * shares[rng_below(rng, (int64_t)COUNT_OF(shares))]);
    return reach_per_s > 0;
}

void hetero_fixture_search(struct hetero_search *s, const struct hetero_fixture *f, const char *name,
                           int64_t evaluations, uint64_t seed)
{
    struct hetero_settings settings = hetero_settings_default();
    int32_t which = 0;
    while (which < n_hetero_schedulers && strcmp(hetero_schedulers[which].name, name) != 0)
        which++;
    assert_in_range(which, 0, n_hetero_schedulers - 1);
    settings.evaluations = evaluations;
    MUST(hetero_schedule(s, &f->problem, which, &settings, seed, e));
}

void hetero_fixture_run(struct hetero_search *s, const struct hetero_fixture *f, const char *name)
{
    hetero_fixture_search(s, f, name, hetero_settings_default().evaluations, 1);
}
