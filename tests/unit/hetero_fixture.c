#include "tests/unit/hetero_fixture.h"

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
        for (size_t b = 0; b <= a; b++) {
            f->links[a * n + b].Bps = rng_below(rng, 2) ? 1e5 : 1e6;
            f->links[a * n + b].lat_s = rng_below(rng, 4) ? 0.01 : 0.1;
            f->links[b * n + a] = f->links[a * n + b];
        }
}

void hetero_fixture_draw(struct hetero_fixture *f, struct rng *rng, const struct hetero_fixture_kind *kind)
{
    struct err e = { 0 };
    assert_ok(hetero_profile_build(&f->profile, kind->n_layers, kind->n_types, &e), &e);
    f->profile.batch = 64;
    draw_types(&f->profile, rng, kind);
    draw_layers(&f->profile, rng);
    draw_links(f, rng);
    assert_ok(hetero_profile_check(&f->profile, &e), &e);
    const struct hetero_setup setup = { .overlap = kind->overlap,
                                        .handover = kind->handover,
                                        .links = f->links,
                                        .provisioning = HETERO_EXACT,
                                        .examples = 1e6,
                                        .epochs = 2,
                                        .server = kind->servers ? 0 : -1,
                                        .server_Bps = 1e5 };
    assert_ok(hetero_build(&f->problem, &f->profile, &setup, &e), &e);
}

void hetero_fixture_free(struct hetero_fixture *f)
{
    hetero_free(&f->problem);
    hetero_profile_free(&f->profile);
    free(f->links);
    *f = (struct hetero_fixture){ 0 };
}

struct hetero_fixture_kind hetero_fixture_kind_of(int i, int32_t n_layers, int32_t n_types,
                                                  int64_t most_units)
{
    static const enum hetero_handover handovers[] = { HETERO_PER_LAYER, HETERO_PER_STAGE, HETERO_NETWORK };
    return (struct hetero_fixture_kind){ .n_layers = n_layers,
                                         .n_types = n_types,
                                         .most_units = most_units,
                                         .handover = handovers[i % 3],
                                         .overlap = i / 3 % 2 == 0,
                                         .hosts = i / 6 % 2 == 0,
                                         .servers = i / 12 % 2 == 0,
                                         .extreme = i / 24 % 2 == 0 };
}

void hetero_fixture_run(struct hetero_search *s, const struct hetero_fixture *f, const char *name)
{
    const struct hetero_settings settings = hetero_settings_default();
    struct err e = { 0 };
    int32_t which = 0;
    while (which < n_hetero_schedulers && strcmp(hetero_schedulers[which].name, name) != 0)
        which++;
    assert_in_range(which, 0, n_hetero_schedulers - 1);
    assert_ok(hetero_schedule(s, &f->problem, which, &settings, 1, &e), &e);
}
