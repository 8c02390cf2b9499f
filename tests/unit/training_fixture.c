#include "tests/unit/training_fixture.h"
#include "workloads/collective.h"

static void open_preset(struct yaml_doc *doc, const char *folder, const char *name)
{
    char path[SUPPORT_PATH];
    struct err e = { 0 };
    snprintf(path, sizeof path, "configs/%s/%s.yaml", folder, name);
    assert_ok(yaml_read_file(doc, path, &e), &e);
}

struct model fixture_model(const char *name)
{
    struct model m;
    KEEP(struct yaml_doc, doc, yaml_free);
    struct err e = { 0 };
    open_preset(&doc, "models", name);
    assert_ok(model_read(&m, &doc, doc.root, &e), &e);
    return m;
}

struct topo_npu fixture_npu(const char *name)
{
    struct topo_npu npu;
    KEEP(struct yaml_doc, doc, yaml_free);
    struct err e = { 0 };
    open_preset(&doc, "npus", name);
    assert_ok(topo_read_npu(&npu, &doc, doc.root, &e), &e);
    return npu;
}

int fixture_read_model(struct model *m, const char *text, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    int rc = yaml_read_text(&doc, "m.yaml", text, strlen(text), e);
    if (!rc)
        rc = model_read(m, &doc, doc.root, e);
    return rc;
}

struct topo_network fixture_network(const int32_t *sizes, int32_t n_dims)
{
    struct topo_network net = oracle_network(sizes, n_dims);
    net.npu = fixture_npu("a100-80gb");
    for (int32_t d = 0; d < n_dims; d++) {
        net.dims[d].bw_Bps = 100e9 / (d + 1);
        net.dims[d].max_Bps = INFINITY;
        net.dims[d].in_switch_min = 2;
    }
    return net;
}

struct topo_network fixture_node(void)
{
    struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    net.dims[0].shape = TOPO_SWITCH;
    net.dims[0].algorithm = TOPO_ALGORITHM_RING;
    net.dims[0].bw_Bps = 227e9;
    net.dims[0].lat_s = 79e-6 / 14;
    return net;
}

struct plan fixture_plan(int64_t tp, int64_t cp, int64_t dp, int64_t pp, int64_t batch)
{
    struct plan p;
    plan_defaults(&p);
    p.degree[PLAN_TP] = tp;
    p.degree[PLAN_CP] = cp;
    p.degree[PLAN_DP] = dp;
    p.degree[PLAN_PP] = pp;
    p.batch = batch;
    return p;
}

struct topo_npu fixture_counter(bool mem)
{
    struct topo_npu npu;
    topo_npu_defaults(&npu);
    npu.peak_flops = mem ? INFINITY : 1;
    npu.mem_Bps = mem ? 1 : INFINITY;
    return npu;
}

static double slowest_s(double *busy_s, const struct plan_collective *c, const int32_t *members,
                        const int32_t *stride, const double *share, const struct topo_network *net)
{
    double traffic_B[TOPO_MAX_DIMS], most_s = 0;
    collective_loads(traffic_B, c->kind, c->bytes, members, stride, share, net);
    for (int32_t d = 0; d < net->n_dims; d++) {
        busy_s[d] = traffic_B[d] / (net->dims[d].bw_Bps * collective_share(&net->dims[d]));
        most_s = fmax(most_s, busy_s[d]);
    }
    return most_s;
}

static double stages_s(double *busy_s, const struct plan_collective *c, const int32_t *members,
                       const int32_t *stride, const double *share, const struct topo_network *net)
{
    struct stage stages[STAGE_MAX];
    double bw_Bps[TOPO_MAX_DIMS], sum_s = 0;
    for (int32_t d = 0; d < net->n_dims; d++) {
        bw_Bps[d] = net->dims[d].bw_Bps;
        busy_s[d] = 0;
    }
    int32_t n = stage_list(stages, c->kind, c->bytes, members, stride, share, NULL,
                           &(struct collective_way){ net, &stage_rules_plain, bw_Bps });
    for (int32_t i = 0; i < n; i++) {
        double transfer_s = stages[i].load_B / bw_Bps[stages[i].dim];
        busy_s[stages[i].dim] += transfer_s;
        sum_s += stages[i].const_s + transfer_s;
    }
    return sum_s;
}

void fixture_once(double *once_s, struct plan_busy *busy, const struct plan_cost *c,
                  const struct plan_place *place, const struct topo_network *net, bool latency)
{
    busy->n_dims = net->n_dims;
    for (int32_t i = 0; i < c->n_collectives; i++) {
        const int32_t *members = place->members[c->collectives[i].group];
        const int32_t *stride = place->stride[c->collectives[i].group];
        const double *share = place->share[c->collectives[i].group];
        once_s[i] = (latency ? stages_s : slowest_s)(busy->once_s[i], &c->collectives[i], members, stride,
                                                     share, net);
    }
}

double fixture_time(const struct model *m, const struct plan *p, const struct topo_network *net)
{
    struct plan_fault fault = { 0 };
    struct plan_place place;
    struct plan_cost c;
    struct err e = { 0 };
    double once_s[PLAN_MAX_COLLECTIVES];
    struct plan_busy busy;
    if (!plan_check(p, m, net->n_npus, &fault)) {
        print_error("%s %s\n", fault.key, fault.why);
        fail();
    }
    assert_ok(plan_map(&place, p, net, &e), &e);
    plan_merge(&place, p, m, net);
    plan_cost(&c, m, p, &net->npu);
    fixture_once(once_s, &busy, &c, &place, net, false);
    return plan_cost_time(&c, once_s, &busy);
}

/* ---- at random ---- */

static bool heads_or_tails(struct rng *r)
{
    return rng_below(r, 2) == 1;
}

static int64_t one_of(struct rng *r, const int64_t *list, int64_t n)
{
    return list[rng_below(r, n)];
}

#define ONE_OF(r, ...)                                                                                       \
    one_of(r, (const int64_t[]){ __VA_ARGS__ },                                                              \
           (int64_t)(sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))

static void random_model(struct model *m, struct rng *r)
{
    *m = (struct model){ .family = MODEL_TRANSFORMER,
                         .layers = ONE_OF(r, 8, 12, 13, 24),
                         .hidden = 1536,
                         .heads = 24,
                         .kv_heads = ONE_OF(r, 24, 8, 1),
                         .head_dim = 64,
                         .ffn = ONE_OF(r, 6144, 4608),
                         .vocab = 50257,
                         .seq = ONE_OF(r, 768, 1536),
                         .vocab_multiple = ONE_OF(r, 0, 128),
                         .tied = heads_or_tails(r),
                         .biases = heads_or_tails(r),
                         .dropout = heads_or_tails(r),
                         .causal = heads_or_tails(r),
                         .activation = (int32_t)rng_below(r, 2),
                         .norm = (int32_t)rng_below(r, 2),
                         .positions = (int32_t)rng_below(r, 2),
                         .attention = (int32_t)rng_below(r, 2) };
    if (rng_below(r, 3) == 0) {
        m->mla = (struct model_mla){ 384, 128, 48, 16, 32 };
        m->kv_heads = m->heads;
    }
    if (rng_below(r, 3) == 0)
        m->moe = (struct model_moe){ .experts = ONE_OF(r, 8, 12, 16),
                                     .top_k = ONE_OF(r, 1, 2, 8),
                                     .ffn = 768,
                                     .shared = ONE_OF(r, 0, 1),
                                     .dense_layers = ONE_OF(r, 0, 3),
                                     .every = ONE_OF(r, 1, 2),
                                     .capacity = heads_or_tails(r) ? 1 : 1.25,
                                     .router_bias = heads_or_tails(r) };
    if (m->causal && rng_below(r, 4) == 0) {
        m->window = ONE_OF(r, 128, 1000, 4000);
        m->window_every = ONE_OF(r, 0, 2, 6);
    }
    m->mtp = rng_below(r, 4) ? 0 : 1;
}

static void random_network(struct topo_network *net, struct rng *r)
{
    static const enum topo_shape shapes[] = { TOPO_RING, TOPO_FULL, TOPO_SWITCH, TOPO_LINE };
    int32_t sizes[4], n = (int32_t)rng_below(r, 4) + 1;
    for (int32_t d = 0; d < n; d++)
        sizes[d] = (int32_t)ONE_OF(r, 2, 2, 4, 4, 8, 3, 6);
    *net = fixture_network(sizes, n);
    for (int32_t d = 0; d < n; d++) {
        net->dims[d].shape = shapes[rng_below(r, 4)];
        net->dims[d].bw_Bps = rng_log_range(r, 1e9, 1e12);
        net->dims[d].lat_s = rng_log_range(r, 1e-8, 1e-5);
        net->dims[d].efficiency = rng_range(r, 0.5, 1);
    }
}

static void random_order(struct plan *p, struct rng *r)
{
    for (int i = N_PLAN_AXES - 1; i > 0; i--) {
        int64_t k = rng_below(r, i + 1);
        enum plan_axis moved = p->order[i];
        p->order[i] = p->order[k];
        p->order[k] = moved;
    }
}

/* Layers at random over as many chunks as there are; mostly not listed. */
static void random_layout(struct plan *p, const struct model *m, struct rng *r)
{
    int64_t chunks = p->degree[PLAN_PP] * p->interleave;
    if (p->degree[PLAN_PP] == 1 || p->first + p->last > 0)
        return;
    p->ends = rng_below(r, 3) ? PLAN_ENDS_EQUAL : PLAN_ENDS_SHORT;
    if (p->ends || rng_below(r, 3))
        return;
    p->layout.n = (int32_t)chunks;
    for (int64_t i = 0; i < m->layers; i++)
        p->layout.layers[rng_below(r, chunks)]++;
}

static void random_sharing(struct plan *p, struct rng *r)
{
    p->zero = (int32_t)rng_below(r, 4);
    p->overlap_dp = heads_or_tails(r);
    p->reshard = p->zero != 3 || heads_or_tails(r);
    p->no_sync = p->zero > 1 && heads_or_tails(r);
    p->beside_share = p->zero > 1 && p->overlap_dp && heads_or_tails(r) ? 0.12 : 0;
    p->shard = p->zero && rng_below(r, 3) == 0 ? ONE_OF(r, 2, 3, 4) : 0;
}

static void random_plan(struct plan *p, const struct model *m, int64_t n_npus, struct rng *r)
{
    plan_defaults(p);
    p->degree[PLAN_TP] = ONE_OF(r, 1, 2, 4, 3);
    p->degree[PLAN_CP] = ONE_OF(r, 1, 1, 2, 3);
    p->degree[PLAN_PP] = ONE_OF(r, 1, 1, 2, 3, 4);
    int64_t inner = plan_inner(p, n_npus);
    p->degree[PLAN_DP] = inner <= n_npus ? n_npus / inner : 1;
    p->ep = m->moe.experts ? ONE_OF(r, 1, 2, 4) : 1;
    p->expert_tp = m->moe.experts && heads_or_tails(r);
    p->dispatcher = m->moe.experts && heads_or_tails(r) ? PLAN_MERGED : PLAN_ALL_TO_ALL;
    p->node_limit = p->dispatcher ? ONE_OF(r, 0, 0, 1, 2) : 0;
    p->dispatch_bits = m->moe.experts && heads_or_tails(r) ? 8 : 16;
    p->ep_fused = m->moe.experts ? (int32_t)rng_below(r, 3) : 0;
    p->ep_overlap = m->moe.experts ? (int32_t)rng_below(r, m->moe.shared ? 2 : 1) : 0;
    if (m->moe.experts && rng_below(r, 3) == 0)
        p->ep_overlap = PLAN_EP_OVERLAP_BATCH;
    p->micro = ONE_OF(r, 1, 2, 4);
    p->batch = p->degree[PLAN_DP] * p->micro * ONE_OF(r, 1, 4, 12, 24);
    p->interleave = ONE_OF(r, 1, 1, 2, 3);
    p->first = rng_below(r, 3) ? 0 : 1 + rng_below(r, 4);
    p->last = rng_below(r, 3) ? 0 : 1 + rng_below(r, 4);
    p->schedule = (int32_t)rng_below(r, N_PLAN_SCHEDULES);
    p->recompute = (int32_t)rng_below(r, N_PLAN_RECOMPUTES);
    random_layout(p, m, r);
    random_sharing(p, r);
    p->context = (int32_t)rng_below(r, N_PLAN_CONTEXTS);
    p->overlap_tp = (int32_t)rng_below(r, N_PLAN_OVERLAPS);
    p->overlap_pp = heads_or_tails(r);
    p->seq_parallel = heads_or_tails(r);
    p->scatter_gather = heads_or_tails(r);
    p->sends = ONE_OF(r, 0, 1, 2, 4);
    p->grad_B = ONE_OF(r, 2, 4);
    p->overhead_s = heads_or_tails(r) ? 0 : 0.125;
    random_order(p, r);
    /* By what was drawn already: some layers, or several at once. */
    if (p->recompute == PLAN_RECOMPUTE_FULL && p->schedule <= PLAN_GPIPE &&
        p->ep_overlap != PLAN_EP_OVERLAP_BATCH && !(p->overhead_s > 0))
        *(p->sends == 1 ? &p->recompute_unit : &p->recompute_layers) = 1 + p->sends;
}

void fixture_random(struct random_training *x, struct rng *r)
{
    struct err e = { 0 };
    do {
        random_model(&x->model, r);
        random_network(&x->net, r);
        random_plan(&x->plan, &x->model, x->net.n_npus, r);
    } while (!plan_check(&x->plan, &x->model, x->net.n_npus, NULL) ||
             plan_map(&x->place, &x->plan, &x->net, &e));
    plan_merge(&x->place, &x->plan, &x->model, &x->net);
}
