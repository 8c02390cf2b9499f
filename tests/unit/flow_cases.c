#include "tests/unit/flow_cases.h"

#include "base/vec.h"
#include "base/rng.h"
#include "tests/support.h"

KEEPS(struct flow_net, flow_net_free)

enum { SEED = 20261121 };

/* ---- putting together ---- */

static int32_t add_phase(struct flow_case *c, int32_t after, double start_s)
{
    assert_true(vec_reserve(c->phases, c->cap_phases, c->n_phases + 1));
    c->phases[c->n_phases] = (struct case_phase){ .after = after, .start_s = start_s, .shown = true };
    return c->n_phases++;
}

static struct case_flow *add_flow(struct flow_case *c, int32_t src, int32_t dst, double bytes)
{
    assert_true(vec_reserve(c->flows, c->cap_flows, c->n_flows + 1));
    struct case_flow *f = &c->flows[c->n_flows++];
    *f = (struct case_flow){ c->n_phases - 1, src, dst, bytes, c->routes.n, 0 };
    c->phases[f->phase].n_flows++;
    return f;
}

/* A flow by the route in order of dimensions. */
static void add_routed(struct flow_case *c, struct topo_routes *r, int64_t src, int64_t dst, double bytes)
{
    struct topo_trip trip = { .src = src, .dst = dst, .kind = TOPO_ROUTE_DIMENSION };
    struct case_flow *f = add_flow(c, (int32_t)src, (int32_t)dst, bytes);
    MUST(topo_find_path(&c->routes, r, &trip, e));
    f->n_arcs = c->routes.n - f->first;
}

/* A network and its graph, for as long as a case is put together. */
struct plant {
    struct topo_network net;
    struct topo_graph *graph;
    struct topo_routes routes;
};

static void open_plant(struct plant *p, const char *word, double lat_s)
{
    MUST(topo_parse_spec(&p->net, word, e));
    for (int32_t d = 0; d < p->net.n_dims; d++)
        p->net.dims[d].lat_s = lat_s;
    MUST(topo_build_graph(&p->graph, &p->net, NULL, e));
    MUST(topo_routes_build(&p->routes, p->graph, e));
}

static void close_plant(struct plant *p)
{
    topo_routes_free(&p->routes);
    topo_graph_free(p->graph);
}

static void begin_case(struct flow_case *c, const char *name, int32_t n_hosts, int32_t n_arcs)
{
    *c = (struct flow_case){ .n_hosts = n_hosts, .n_arcs = n_arcs, .collective_s = NAN };
    snprintf(c->name, sizeof c->name, "%s", name);
    c->bw_Bps = calloc((size_t)n_arcs, sizeof *c->bw_Bps);
    c->lat_s = calloc((size_t)n_arcs, sizeof *c->lat_s);
    assert_true(c->bw_Bps && c->lat_s);
}

static void begin_network(struct flow_case *c, const char *name, const struct plant *p)
{
    begin_case(c, name, p->routes.n_npus, p->routes.n_arcs);
    memcpy(c->bw_Bps, p->routes.bw_Bps, (size_t)c->n_arcs * sizeof *c->bw_Bps);
    memcpy(c->lat_s, p->routes.lat_s, (size_t)c->n_arcs * sizeof *c->lat_s);
}

void flow_case_free(struct flow_case *c)
{
    free(c->bw_Bps);
    free(c->lat_s);
    free(c->phases);
    free(c->flows);
    topo_path_free(&c->routes);
    *c = (struct flow_case){ 0 };
}

/* ---- collectives, written out step by step: not by message_plan_build() ---- */

/* NPU whose address in dimension d is that of @p npu plus @p ahead, around. */
static int64_t move(const struct plant *p, int64_t npu, int32_t d, int32_t ahead)
{
    int64_t stride = p->routes.stride[d], n = p->net.dims[d].size, a = npu / stride % n;
    return npu + ((a + ahead % n + n) % n - a) * stride;
}

/* One step of all NPUs: everybody sends @p bytes to whoever is @p ahead, and to whoever is as far behind. */
static void add_step(struct flow_case *c, struct plant *p, int32_t d, int32_t ahead, int32_t behind,
                     double bytes)
{
    add_phase(c, c->n_phases - 1, 0);
    for (int64_t npu = 0; npu < p->net.n_npus; npu++) {
        add_routed(c, &p->routes, npu, move(p, npu, d, ahead), bytes);
        if (behind)
            add_routed(c, &p->routes, npu, move(p, npu, d, -behind), bytes);
    }
}

/* Exchange with the NPU whose address differs in one bit. */
static void add_exchange(struct flow_case *c, struct plant *p, int32_t d, int32_t far, double bytes)
{
    add_phase(c, c->n_phases - 1, 0);
    for (int64_t npu = 0; npu < p->net.n_npus; npu++) {
        int64_t a = npu / p->routes.stride[d] % p->net.dims[d].size;
        add_routed(c, &p->routes, npu, npu + ((a ^ far) - a) * p->routes.stride[d], bytes);
    }
}

static void add_everybody(struct flow_case *c, struct plant *p, int32_t d, double bytes)
{
    add_phase(c, c->n_phases - 1, 0);
    for (int64_t npu = 0; npu < p->net.n_npus; npu++)
        for (int32_t far = 1; far < p->net.dims[d].size; far++)
            add_routed(c, &p->routes, npu, move(p, npu, d, far), bytes);
}

/* Reduce-scatter of S bytes in dimension d, or the all-gather that undoes it. */
static void add_half(struct flow_case *c, struct plant *p, int32_t d, double bytes, bool gathers)
{
    const struct topo_dim *dim = &p->net.dims[d];
    int32_t n = dim->size;
    if (dim->shape == TOPO_FULL) {
        add_everybody(c, p, d, bytes / n);
    } else if (dim->shape == TOPO_RING) {
        for (int32_t k = 0; k < n - 1; k++)
            add_step(c, p, d, 1, n > 2 ? 1 : 0, bytes / n / (n > 2 ? 2 : 1));
    } else {
        for (int32_t far = gathers ? n / 2 : 1; far >= 1 && far < n; far = gathers ? far / 2 : 2 * far)
            add_exchange(c, p, d, far, bytes / 2 / far);
    }
}

static void add_all_reduce(struct flow_case *c, struct plant *p, double bytes)
{
    int32_t n_dims = p->net.n_dims;
    for (int32_t d = 0; d < n_dims; bytes /= p->net.dims[d].size, d++)
        add_half(c, p, d, bytes, false);
    for (int32_t d = n_dims - 1; d >= 0; d--) {
        bytes *= p->net.dims[d].size;
        add_half(c, p, d, bytes, true);
    }
}

void flow_case_all_reduce(struct flow_case *c, const char *word, double lat_s, double bytes)
{
    KEEP(struct plant, p, close_plant);
    char name[96];
    snprintf(name, sizeof name, "all-reduce %s", word);
    open_plant(&p, word, lat_s);
    begin_network(c, name, &p);
    add_all_reduce(c, &p, bytes);
    for (int32_t i = 0; i < c->n_phases; i++)
        c->phases[i].shown = i % (c->n_phases / 32 + 1) == 0 || i == c->n_phases - 1;
}

/* ---- the same collectives by struct flow_sim ---- */

static struct flow_sim *open_sim(struct plant *p)
{
    const struct flow_rules rules = { stage_rules_plain, TOPO_ROUTE_DIMENSION, 1, 0 };
    struct flow_sim *sim;
    MUST(flow_sim_build(&sim, &p->routes, &rules, e));
    return sim;
}

static void issue(struct flow_sim *sim, const struct flow_group_spec *spec, enum collective_kind kind,
                  double bytes)
{
    int32_t group, id;
    MUST(flow_sim_group(sim, spec, &group, e));
    MUST(flow_sim_issue(sim, group, kind, bytes, 0, 0, &id, e));
}

static double close_sim(struct flow_sim *sim)
{
    MUST(flow_sim_run(sim, e));
    double end_s = flow_now_s(flow_sim_net(sim));
    flow_sim_free(sim);
    return end_s;
}

static double run_whole(const char *word, double lat_s, enum collective_kind kind, double bytes)
{
    KEEP(struct plant, p, close_plant);
    struct flow_group_spec spec = { .order = NULL };
    open_plant(&p, word, lat_s);
    struct flow_sim *sim = open_sim(&p);
    for (int32_t d = 0; d < p.net.n_dims; d++)
        spec.members[d] = p.net.dims[d].size;
    issue(sim, &spec, kind, bytes);
    double end_s = close_sim(sim);
    return end_s;
}

/* ---- several groups on the same links ---- */

/* Group g of n has every n-th NPU of a ring or switch; rings both ways round, each at its own pace, g + 1
 * times the bytes. */
static void build_groups(struct flow_case *c, const char *word, int32_t n_groups, double lat_s, double bytes)
{
    KEEP(struct plant, p, close_plant);
    char name[96];
    snprintf(name, sizeof name, "%d rings on %s", n_groups, word);
    open_plant(&p, word, lat_s);
    begin_network(c, name, &p);
    int32_t n = p.routes.n_npus / n_groups;
    for (int32_t g = 0; g < n_groups; g++) {
        int32_t before = -1;
        for (int32_t k = 0; k < 2 * (n - 1); k++) {
            before = add_phase(c, before, 0);
            for (int32_t i = 0; i < n; i++) {
                add_routed(c, &p.routes, g + n_groups * i, g + n_groups * ((i + 1) % n),
                           bytes * (g + 1) / n / 2);
                add_routed(c, &p.routes, g + n_groups * i, g + n_groups * ((i + n - 1) % n),
                           bytes * (g + 1) / n / 2);
            }
        }
    }
}

/* Everybody to everybody; to the farthest of an even ring all goes the same way, so odd rings only. */
static void build_all_to_all(struct flow_case *c, const char *word, double bytes)
{
    KEEP(struct plant, p, close_plant);
    char name[96];
    snprintf(name, sizeof name, "all-to-all %s", word);
    open_plant(&p, word, 0);
    begin_network(c, name, &p);
    add_everybody(c, &p, 0, bytes / p.net.dims[0].size);
    c->collective_s = run_whole(word, 0, COLLECTIVE_ALL_TO_ALL, bytes);
}

/* ---- random flows ---- */

/*
 * Each flow passes @p n_hops different arcs (0: 1 to 6) out of n_arcs, of any bandwidth. SimGrid shares in
 * inverse proportion to latency, so all have the same one: arcs of one latency, and as many of them, or none.
 */
static void build_random(struct flow_case *c, int32_t n_arcs, int32_t n_flows, int32_t n_hops, double lat_s)
{
    char name[96];
    snprintf(name, sizeof name, "%d random flows on %d links, %d hops", n_flows, n_arcs, n_hops);
    begin_case(c, name, 2 * n_flows, n_arcs);
    RNG(rng, SEED, (uint64_t)(n_arcs + n_flows + n_hops));
    for (int32_t a = 0; a < n_arcs; a++) {
        c->bw_Bps[a] = rng_log_range(rng, 1e9, 1e11);
        c->lat_s[a] = lat_s;
    }
    for (int32_t f = 0; f < n_flows; f++) {
        /* A third begins when an earlier one ends, a third together at 0, a third at any time. */
        int32_t after = f % 3 == 2 ? (int32_t)rng_below(rng, f) : -1;
        add_phase(c, after, f % 3 == 1 ? rng_range(rng, 0, 0.2) : 0);
        struct case_flow *flow = add_flow(c, 2 * f, 2 * f + 1, floor(rng_log_range(rng, 1e6, 1e9)));
        flow->n_arcs = n_hops ? n_hops : 1 + (int32_t)rng_below(rng, n_arcs < 6 ? n_arcs : 6);
        for (int32_t i = 0; i < flow->n_arcs;) {
            int32_t arc = (int32_t)rng_below(rng, n_arcs);
            bool seen = false;
            for (int32_t k = flow->first; k < c->routes.n; k++)
                seen |= c->routes.arcs[k] == arc;
            if (seen)
                continue;
            assert_true(vec_reserve(c->routes.arcs, c->routes.cap, c->routes.n + 1));
            c->routes.arcs[c->routes.n++] = arc;
            i++;
        }
    }
}

/* ---- the list ---- */

/* Divisible by all sizes and pieces: SimGrid counts whole bytes. */
#define ALL_BYTES (1024.0 * 1024 * 9 * 5 * 7)

static const struct {
    enum { ALL_REDUCE, GROUPS, ALL_TO_ALL, RANDOM } what;
    const char *word;
    double lat_s;
    int32_t n, n_flows, n_hops; /* groups or links */
} list[] = {
    { ALL_REDUCE, "ring:2@50", 1e-6, 0, 0, 0 },
    { ALL_REDUCE, "ring:8@50", 1e-6, 0, 0, 0 },
    { ALL_REDUCE, "ring:7@30", 0, 0, 0, 0 },
    { ALL_REDUCE, "ring:96@50", 1e-6, 0, 0, 0 },
    { ALL_REDUCE, "full:8@70", 1e-6, 0, 0, 0 },
    { ALL_REDUCE, "full:32@310", 0, 0, 0, 0 },
    { ALL_REDUCE, "switch:8@50", 1e-6, 0, 0, 0 },
    { ALL_REDUCE, "switch:512@50", 2e-6, 0, 0, 0 },
    { ALL_REDUCE, "ring:4@100 switch:4@25", 1e-6, 0, 0, 0 },
    { ALL_REDUCE, "ring:8@200 switch:64@50", 1e-6, 0, 0, 0 },
    { ALL_REDUCE, "full:8@210 ring:8@100", 0, 0, 0, 0 },
    { ALL_REDUCE, "ring:4@300 full:8@140 switch:16@25", 1e-6, 0, 0, 0 },
    { ALL_REDUCE, "switch:8@400 ring:4@80 ring:4@40", 5e-7, 0, 0, 0 },
    { GROUPS, "ring:8@50", 1e-6, 2, 0, 0 },
    { GROUPS, "ring:24@50", 0, 3, 0, 0 },
    { GROUPS, "switch:16@50", 1e-6, 4, 0, 0 },
    { ALL_TO_ALL, "ring:9@50", 0, 0, 0, 0 },
    { ALL_TO_ALL, "line:6@50", 0, 0, 0, 0 },
    { ALL_TO_ALL, "switch:16@50", 0, 0, 0, 0 },
    { ALL_TO_ALL, "full:16@60", 0, 0, 0, 0 },
    { RANDOM, NULL, 0, 5, 12, 0 },
    { RANDOM, NULL, 0, 20, 60, 0 },
    { RANDOM, NULL, 0, 60, 400, 0 },
    { RANDOM, NULL, 0, 400, 400, 0 },
    { RANDOM, NULL, 1e-6, 20, 60, 2 },
    { RANDOM, NULL, 1e-3, 60, 400, 3 },
    { RANDOM, NULL, 1e-6, 60, 401, 3 },
};

int flow_case_count(void)
{
    return COUNT_OF(list);
}

void flow_case_build(struct flow_case *c, int i)
{
    switch (list[i].what) {
    case ALL_REDUCE:
        flow_case_all_reduce(c, list[i].word, list[i].lat_s, ALL_BYTES);
        c->collective_s = run_whole(list[i].word, list[i].lat_s, COLLECTIVE_ALL_REDUCE, ALL_BYTES);
        break;
    case GROUPS:
        build_groups(c, list[i].word, list[i].n, list[i].lat_s, ALL_BYTES);
        break;
    case ALL_TO_ALL:
        build_all_to_all(c, list[i].word, ALL_BYTES);
        break;
    case RANDOM:
        build_random(c, list[i].n, list[i].n_flows, list[i].n_hops, list[i].lat_s);
        break;
    }
}

/* ---- running and writing ---- */

static void begin_phase(struct flow_case *c, struct flow_net *net, int32_t phase, const int32_t *first_flow)
{
    struct case_phase *p = &c->phases[phase];
    p->n_open = p->n_flows;
    for (int32_t i = first_flow[phase]; i < first_flow[phase] + p->n_flows; i++) {
        const struct case_flow *f = &c->flows[i];
        struct flow_spec spec = {
            c->routes.arcs + f->first, f->n_arcs, f->bytes, p->start_s, 0, phase, 0, NULL
        };
        MUST(flow_add(net, &spec, e));
    }
}

/* A net of the case's arcs alone; the graph is not needed. */
static struct flow_net *open_net(const struct flow_case *c)
{
    struct flow_net *net;
    struct topo_routes r = { .n_arcs = c->n_arcs, .bw_Bps = c->bw_Bps, .lat_s = c->lat_s };
    r.share = calloc((size_t)c->n_arcs, sizeof *r.share);
    assert_non_null(r.share);
    for (int32_t a = 0; a < c->n_arcs; a++)
        r.share[a] = 1;
    MUST(flow_net_build(&net, &r, e));
    free(r.share);
    return net;
}

void flow_case_run(struct flow_case *c)
{
    KEEP(struct flow_net *, net, flow_net_free_at) = open_net(c);
    KEEP(int32_t *, first_flow, free_at) = calloc((size_t)c->n_phases + 1, sizeof *first_flow);
    assert_non_null(first_flow);
    for (int32_t p = 0; p < c->n_phases; p++)
        first_flow[p + 1] = first_flow[p] + c->phases[p].n_flows;
    for (int32_t p = 0; p < c->n_phases; p++)
        if (c->phases[p].after < 0)
            begin_phase(c, net, p, first_flow);
    while (flow_next_s(net) < INFINITY) {
        flow_advance(net);
        for (int32_t i = 0; i < flow_n_ended(net); i++) {
            int32_t phase = (int32_t)flow_ended(net, i);
            if (--c->phases[phase].n_open > 0)
                continue;
            c->phases[phase].finish_s = flow_now_s(net);
            for (int32_t p = phase + 1; p < c->n_phases; p++)
                if (c->phases[p].after == phase)
                    begin_phase(c, net, p, first_flow);
        }
    }
}

void flow_case_write(const struct flow_case *c, FILE *out)
{
    fprintf(out, "case %s\nhosts %d\nlinks %d\n", c->name, c->n_hosts, c->n_arcs);
    for (int32_t a = 0; a < c->n_arcs; a++)
        fprintf(out, "%.17g %.17g\n", c->bw_Bps[a], c->lat_s[a]);
    fprintf(out, "phases %d\n", c->n_phases);
    for (int32_t p = 0; p < c->n_phases; p++)
        fprintf(out, "%d %.17g %d\n", c->phases[p].after, c->phases[p].start_s, c->phases[p].shown);
    fprintf(out, "flows %d\n", c->n_flows);
    for (int32_t i = 0; i < c->n_flows; i++) {
        const struct case_flow *f = &c->flows[i];
        fprintf(out, "%d %d %d %.0f %d", f->phase, f->src, f->dst, f->bytes, f->n_arcs);
        for (int32_t k = 0; k < f->n_arcs; k++)
            fprintf(out, " %d", c->routes.arcs[f->first + k]);
        fputc('\n', out);
    }
}
