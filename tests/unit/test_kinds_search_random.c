/*
 * Random small studies with a search, against all combinations of the keys that it varies, each asked of
 * plan_check() and some of the reader of studies: the same plans are legal, the same one is best, what is
 * left out has an equal that is not, and every plan that is found gives its time again when it is run as
 * printed.
 */
#include "kinds/design/ask/load.h"
#include "tests/unit/draw_text.h"
#include "tests/unit/folder.h"

#include <omp.h>

#include "kinds/design/explore/solve.h"
#include "kinds/design/explore/book.h"
#include "kinds/design/explore/search.h"

enum { MOST_VALUES = 24, MOST_TIMED = 700 };

/* ---- studies ---- */

/* The text of one; `ops`, `gather` and `dispatch` are keys of the plan that are there only where the plan has
 * something that they speak of. */
struct drawn {
    char network[TEXT], model[TEXT], always[TEXT], ops[64], gather[64], dispatch[64], search[TEXT], more[64];
    int64_t batch;
};

static void draw_network(struct drawn *d, struct rng *r)
{
    static const char *const shapes[] = { "ring", "switch", "full" };
    int n = PICK(r, 1, 2, 2, 3), npus = 1;
    add(d->network,
        "npu: { peak_TFLOPS: 1, peak_8bit_TFLOPS: 2, mem_GBps: 100, kernel_ns: 1000, host_GBps: 9");
    if (chance(r, 0.5))
        add(d->network, ", mem_GB: %.4g", rng_log_range(r, 1e-3, 2e-2));
    add(d->network, " }, dims: [");
    for (int i = 0; i < n; i++) {
        int size = npus > 4 ? 2 : PICK(r, 2, 2, 3, 4, 4, 6);
        npus *= size;
        add(d->network, "%s{ name: d%d, shape: %s, size: %d, bw_GBps: %.4g, latency_ns: %d }", i ? ", " : "",
            i, shapes[rng_below(r, 3)], size, rng_log_range(r, 0.5, 20), PICK(r, 100, 500));
    }
    add(d->network, "]");
    snprintf(d->more, sizeof d->more, "%s", chance(r, 0.5) ? "model: alpha-beta\n" : "");
}

static void draw_model(struct drawn *d, struct rng *r)
{
    int heads = PICK(r, 2, 4, 6), layers = PICK(r, 2, 3, 4, 5, 6, 7, 8);
    if (chance(r, 0.04)) {
        add(d->model, "family: cnn, cnn: { features: 4, classes: 2, convs: [ { in: 3, out: 4, kernel: 3, "
                      "size: 8 } ] }");
        return;
    }
    add(d->model, "layers: %d, hidden: %d, heads: %d, kv_heads: %d, vocab: 512, seq: %d, attention: %s",
        layers, 32 * heads, heads, chance(r, 0.5) ? heads : 2, PICK(r, 16, 24, 48),
        chance(r, 0.5) ? "flash" : "unfused");
    if (chance(r, 0.3))
        add(d->model, ", tied: true, dropout: true");
    if (chance(r, 0.2))
        add(d->model, ", mtp: 1");
    if (chance(r, 0.5))
        add(d->model, ", moe: { experts: %d, top_k: %d, ffn: 96, shared: %d, dense_layers: %d }",
            PICK(r, 2, 4, 6), PICK(r, 1, 2), PICK(r, 0, 1), PICK(r, 0, 1));
}

/* A key of the plan that the search does not vary, now and then. */
static void draw_fixed(struct drawn *d, struct rng *r, bool experts, bool layers)
{
    static const char *const keys[] = {
        "no_sync: true",          "reshard: false",    "shard: 2",       "beside_share: 0.3",
        "overlap_dp: false",      "overlap_pp: true",  "grad_B: 2",      "sends: 1",
        "step_overhead_s: 0.001", "overlap_tp: split", "zero: 3",        "ends: short",
        "scatter_gather: false",  "jitter: 0.01",      "mem_margin: 0.1"
    };
    static const char *const of_layers[] = {
        "software: megatron",    "software: eager",      "software: compiled", "offload: 0.2",
        "first_stage_layers: 1", "last_stage_layers: 1", "launch_us: 3.3",     "stages: [1, 1, 2, 1]",
        "stages: [2, 2]",        "precision: fp8",       "elementwise: 1.7",   "stages: [1, 1, 1, 1]"
    };
    d->batch = PICK(r, 4, 6, 8, 8, 12, 12);
    add(d->always, "batch: %d", (int)d->batch);
    for (int i = 0; i < 2; i++) {
        const char *key = keys[rng_below(r, COUNT_OF(keys))];
        if (chance(r, 0.4) && !strstr(d->always, key))
            add(d->always, ", %s", key);
    }
    if (layers && chance(r, 0.4)) {
        const char *key = of_layers[rng_below(r, COUNT_OF(of_layers))];
        if (!strstr(d->always, "ends") || (!strstr(key, "stage")))
            add(d->always, ", %s", key);
    }
    if (experts && chance(r, 0.15))
        add(d->always, ", expert_tp: true");
    if (layers && chance(r, 0.1))
        snprintf(d->ops, sizeof d->ops, ", %s",
                 ((const char *const[]){ "recompute_ops: [norm]", "recompute_layers: 1",
                                         "recompute_unit: 2" })[rng_below(r, 3)]);
    if (chance(r, 0.1))
        snprintf(d->gather, sizeof d->gather, ", gather_bits: 8");
    if (experts && chance(r, 0.25))
        snprintf(
            d->dispatch, sizeof d->dispatch, ", %s",
            ((const char *const[]){ "dispatch_bits: 8", "node_limit: 1", "node_limit: 2" })[rng_below(r, 3)]);
}

/* Values that the search is asked to try: none (all that are legal), or some that need not be legal. */
static void ask_values(struct drawn *d, struct rng *r, const char *key, double p, const char *const *words,
                       int n)
{
    if (!chance(r, p))
        return;
    add(d->search, "%s%s: [", *d->search ? ", " : "", key);
    for (int i = 0, some = 0; i < n || !some; i++)
        if (chance(r, 1.5 / n)) {
            add(d->search, "%s%s", some ? ", " : "", words[i % n]);
            some++;
        }
    add(d->search, "]");
}

#define ASK(d, r, key, p, ...)                                                                               \
    ask_values(d, r, key, p, (const char *const[]){ __VA_ARGS__ },                                           \
               (int)COUNT_OF(((const char *const[]){ __VA_ARGS__ })))

static void draw_search(struct drawn *d, struct rng *r, bool experts)
{
    ASK(d, r, "tp", 0.25, "1", "2", "3", "4");
    ASK(d, r, "cp", 0.25, "1", "2", "3", "4");
    ASK(d, r, "pp", 0.25, "1", "2", "3", "4");
    ASK(d, r, "ep", 0.2, "1", "2", "3", "4");
    ASK(d, r, "micro_batch", 0.6, "1", "2", "3");
    ASK(d, r, "interleave", 0.5, "1", "2", "3", "4");
    ASK(d, r, "recompute", 0.6, "none", "selective", "full", "sac");
    ASK(d, r, "zero", 0.5, "0", "1", "2", "3");
    ASK(d, r, "seq_parallel", 0.4, "false", "true");
    ASK(d, r, "context", 0.6, "ring", "all-gather", "ulysses");
    ASK(d, r, "schedule", 0.6, "1f1b", "gpipe", "zb1p", "dualpipe", "dualpipev");
    ASK(d, r, "dispatcher", experts ? 0.5 : 0.1, "all-to-all", "merged");
    ASK(d, r, "ep_overlap", experts ? 0.7 : 0.1, "none", "shared", "batch");
    ASK(d, r, "precision", 0.1, "bf16", "fp8");
    ASK(d, r, "recompute_ops", 0.1, "core", "norm", "mlp", "shared");
    add(d->search, "%stop: 1000%s", *d->search ? ", " : "", chance(r, 0.6) ? ", order: given" : "");
}

static void draw_study(struct drawn *d, uint64_t seed)
{
    RNG(r, 77, seed);
    *d = (struct drawn){ .batch = 0 };
    draw_network(d, r);
    draw_model(d, r);
    bool experts = strstr(d->model, "experts"), layers = strstr(d->model, "layers");
    draw_fixed(d, r, experts, layers);
    draw_search(d, r, experts);
}

/* @p tail: what follows the map `parallel`. */
static int load_study(struct design_point *s, const struct drawn *d, const char *parallel, const char *tail,
                      unsigned needs, struct err *e)
{
    FOLDER(f);
    TEXT(t, "network: { %s }\nworkload: { name: w, model: { %s }, parallel: %s%s }\n%s", d->network, d->model,
         parallel, tail, d->more);
    return design_point_load(s, put(&f, "study.yaml", text_str(&t)), NULL, 0, DESIGN_NEEDS_WORKLOAD | needs,
                             e);
}

static int load_search(struct design_point *s, const struct drawn *d, unsigned needs, struct err *e)
{
    TEXT(parallel, "{ %s%s%s%s }", d->always, d->ops, d->gather, d->dispatch);
    TEXT(tail, ", search: { %s }", d->search);
    return load_study(s, d, text_str(&parallel), text_str(&tail), needs, e);
}

/* ---- every combination ---- */

struct every {
    const struct drawn *d;
    const struct design_point *s;
    const struct search_space *space;
    struct training x;
    const struct plan *given;
    int64_t n_legal, n_fit;
    double best_s, best_B;
    enum plan_axis order[24][N_PLAN_AXES]; /* that put the groups of a shape in different places */
    struct plan_place place[25];
    int n_places;
    struct rng *r;
    int64_t until_read[2], until_twin; /* plans that are still passed over: illegal and legal ones; twins */
    int n_read;
};

/* How seldom a plan is read as a study, illegal and legal ones, and is held against its twin. */
static const int64_t seldom_read[2] = { 20000, 800 }, seldom_twin = 100;

/* True of one in @p n on average. The next one is drawn, and not for each plan whether it is one: of millions
 * of plans that took a fifth of the time. */
static bool is_due(int64_t *until, int64_t n, struct rng *r)
{
    if (*until > 0) {
        (*until)--;
        return false;
    }
    *until = rng_below(r, 2 * n);
    return true;
}

static bool is_asked(const struct search_values *v, int64_t value)
{
    for (int32_t i = 0; i < v->n; i++)
        if (v->values[i] == value)
            return true;
    return v->n == 0;
}

static bool has(unsigned mask, int32_t i)
{
    return mask >> i & 1;
}

static void put_words(struct text *out, const struct plan *p)
{
    text_printf(out, ", recompute: %s, context: %s, schedule: %s, ends: %s, precision: %s",
                plan_recompute_words[p->recompute], plan_context_words[p->context],
                plan_schedule_words[p->schedule], plan_ends_words[p->ends],
                topo_precision_words[p->precision]);
    if (p->dispatcher)
        text_printf(out, ", dispatcher: %s", plan_dispatcher_words[p->dispatcher]);
    if (p->ep_overlap)
        text_printf(out, ", ep_overlap: %s", plan_ep_overlap_words[p->ep_overlap]);
    if (p->recompute == PLAN_RECOMPUTE_FULL && p->recompute_layers)
        text_printf(out, ", recompute_layers: %lld", (long long)p->recompute_layers);
    if (p->recompute == PLAN_RECOMPUTE_FULL && p->recompute_unit > 1)
        text_printf(out, ", recompute_unit: %lld", (long long)p->recompute_unit);
    if (p->recompute_ops && p->recompute == PLAN_RECOMPUTE_SELECTIVE) {
        text_puts(out, ", recompute_ops: [");
        for (unsigned op = 0, some = 0; op < N_PLAN_OPS; op++)
            if (p->recompute_ops & 1U << op)
                text_printf(out, "%s%s", some++ ? ", " : "", plan_op_words[op]);
        text_puts(out, "]");
    }
}

/* The reader of studies is asked: the keys that are given, with those of the plan in their place. */
static void assert_reads(struct every *a, bool legal)
{
    const struct plan *p = &a->x.plan;
    KEEP(struct text, out, text_free) = { 0 };
    KEEP(struct design_point, s, design_point_free);
    struct err e = { 0 };
    char kept[TEXT] = "", given[TEXT];
    snprintf(given, sizeof given, "%s", a->d->always);
    static const char *const varied[] = { "zero:", "ends:", "precision:" };
    for (char *at = given, *end; at; at = end) {
        bool drop = false;
        int depth = 0;
        for (end = at; *end && (depth || *end != ','); end++)
            depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
        if (*end)
            *end++ = 0;
        else
            end = NULL;
        at += strspn(at, " ");
        for (size_t i = 0; i < COUNT_OF(varied); i++)
            drop = drop || strncmp(at, varied[i], strlen(varied[i])) == 0;
        if (!drop)
            add(kept, "%s%s", *kept ? ", " : "", at);
    }
    text_printf(&out, "{ %s%s%s, tp: %lld, cp: %lld, dp: %lld, pp: %lld, ep: %lld", kept,
                p->zero ? a->d->gather : "", p->ep > 1 ? a->d->dispatch : "", (long long)p->degree[PLAN_TP],
                (long long)p->degree[PLAN_CP], (long long)p->degree[PLAN_DP], (long long)p->degree[PLAN_PP],
                (long long)p->ep);
    text_printf(&out, ", micro_batch: %lld, interleave: %lld, zero: %d, seq_parallel: %s",
                (long long)p->micro, (long long)p->interleave, (int)p->zero,
                p->seq_parallel ? "true" : "false");
    put_words(&out, p);
    text_puts(&out, ", order: [");
    for (int i = 0; i < N_PLAN_AXES; i++)
        text_printf(&out, "%s%s", i ? ", " : "", plan_axis_words[p->order[i]]);
    text_puts(&out, "] }");
    int rc = load_study(&s, a->d, text_str(&out), "", 0, &e);
    if (legal != (rc == 0))
        fail_msg("%s: %s%s", text_str(&out), legal ? "is refused: " : "is not refused", legal ? e.msg : "");
    a->n_read++;
}

static double time_of(const struct design_point *s, struct training *x)
{
    KEEP(struct step_tree, tree, step_free);
    KEEP(struct step_tree, lowered, step_free) = { 0 };
    KEEP(struct step_fn, fn, step_fn_free);
    double bw_Bps[TOPO_MAX_DIMS];
    topo_get_bandwidths(bw_Bps, &s->net);
    MUST(training_derive(x, &s->net, e));
    MUST(training_build(&tree, x, &s->net, e));
    if (s->model != SIM_BANDWIDTH)
        MUST(step_lower(&lowered, &tree, &(struct collective_way){ &s->net, &s->rules.stage, bw_Bps }, e));
    MUST(step_compile(&fn, s->model == SIM_BANDWIDTH ? &tree : &lowered, &s->net, e));
    return step_time(&fn, bw_Bps);
}

/* Nobody shares parameters, and neither the schedule nor the software treats ZeRO in a way of its own. */
static bool shares_nothing(const struct plan *p, const struct model *m)
{
    int64_t npus = p->degree[PLAN_CP] * p->degree[PLAN_DP];
    bool alone = npus == 1 && (m->moe.experts == 0 || p->expert_tp || p->degree[PLAN_TP] == p->ep);
    return alone && p->schedule != PLAN_DUALPIPE && p->software != PLAN_EAGER && p->software != PLAN_COMPILED;
}

/* The plan that stands for this one in the search, as docs/training.md says; false: it stands for itself. */
static bool find_twin(struct plan *twin, const struct every *a)
{
    const struct plan *p = &a->x.plan;
    const struct model *m = &a->x.model;
    const struct search_space *s = a->space;
    *twin = *p;
    if (p->degree[PLAN_TP] == 1 && has(s->seq_parallel, 0))
        twin->seq_parallel = false;
    if (p->degree[PLAN_CP] == 1)
        while (twin->context > 0 && s->context & ((1U << twin->context) - 1))
            twin->context = __builtin_ctz(s->context);
    if (p->degree[PLAN_PP] == 1 && p->schedule == PLAN_GPIPE && has(s->schedule, PLAN_1F1B))
        twin->schedule = PLAN_1F1B;
    if (m->layers % (p->degree[PLAN_PP] * p->interleave) == 0)
        twin->ends = PLAN_ENDS_EQUAL;
    if (plan_is_fused(p, m) && !p->recompute_ops && p->recompute == PLAN_RECOMPUTE_SELECTIVE &&
        has(s->recompute, PLAN_RECOMPUTE_NONE))
        twin->recompute = PLAN_RECOMPUTE_NONE;
    if (shares_nothing(p, m))
        for (int32_t z = p->zero - 1; z >= 0; z--) {
            struct plan q = *twin;
            q.zero = z;
            q.gather_bits = z ? q.gather_bits : 0;
            if (has(s->zero, z) && plan_check(&q, m, a->s->net.n_npus, NULL))
                *twin = q;
        }
    return twin->seq_parallel != p->seq_parallel || twin->context != p->context ||
           twin->schedule != p->schedule || twin->ends != p->ends || twin->recompute != p->recompute ||
           twin->zero != p->zero;
}

/* What stands for a plan is at least as fast and needs no more memory. */
static void assert_twin(struct every *a, const struct plan *twin)
{
    struct training x = a->x;
    struct memory mine, its;
    memory_plan(&mine, &x.model, &x.plan);
    memory_plan(&its, &x.model, twin);
    double own_s = time_of(a->s, &x);
    x.plan = *twin;
    double its_s = time_of(a->s, &x);
    if (its.total_B > mine.total_B || its_s > own_s * (1 + 1e-12)) {
        KEEP(struct text, t, text_free) = { 0 };
        struct json j = { .out = &t, .plain = true };
        json_open(&j, "this", '{');
        schema_write(&j, &plan_section, &a->x.plan, false);
        json_close(&j, '}');
        json_open(&j, "stands for it", '{');
        schema_write(&j, &plan_section, twin, false);
        json_close(&j, '}');
        fail_msg("%s: %.17g s, %.17g B; %.17g s, %.17g B; model { %s }", text_str(&t), own_s, mine.total_B,
                 its_s, its.total_B, a->d->model);
    }
}

static void time_plan(struct every *a)
{
    struct memory memory;
    memory_plan(&memory, &a->x.model, &a->x.plan);
    bool left =
        isnan(a->x.plan.mem_margin) && a->x.plan.software != PLAN_MAXTEXT; /* to PyTorch's allocator */
    if ((left ? 1.05 : 1) * memory.total_B > a->s->net.npu.mem_B || a->n_fit++ > MOST_TIMED)
        return;
    double time_s = time_of(a->s, &a->x);
    if (time_s < a->best_s * (1 - 1e-12))
        a->best_B = INFINITY;
    a->best_s = fmin(a->best_s, time_s);
    if (time_s <= a->best_s * (1 + 1e-12))
        a->best_B = fmin(a->best_B, memory.total_B);
}

/* At each of its places, the plan at x->plan. */
static void try_plan(struct every *a)
{
    struct plan *p = &a->x.plan, twin;
    const struct design_point *s = a->s;
    bool legal = plan_check(p, &a->x.model, s->net.n_npus, NULL);
    bool stands_alone = legal && !find_twin(&twin, a);
    for (int i = 0; i < (legal ? a->n_places : a->n_places > 0); i++) {
        memcpy(p->order, a->order[i], sizeof p->order);
        bool lies = legal && plan_check_place(&a->place[i], p, &a->x.model, &s->net, NULL);
        if (is_due(&a->until_read[lies], seldom_read[lies], a->r))
            assert_reads(a, lies);
        if (!lies)
            continue;
        a->n_legal += stands_alone;
        memcpy(twin.order, p->order, sizeof p->order);
        if (stands_alone)
            time_plan(a);
        else if (is_due(&a->until_twin, seldom_twin, a->r))
            assert_twin(a, &twin);
    }
    memcpy(p->order, a->given->order, sizeof p->order);
}

/* The places of a shape, and one order for each. */
static void find_orders(struct every *a)
{
    struct plan *p = &a->x.plan;
    struct err ignored;
    a->n_places = 0;
    for (int code = 0; code < 256; code++) {
        unsigned used = 0;
        for (int i = 0; i < 4; i++) {
            p->order[i] = (enum plan_axis)(code >> 2 * i & 3);
            used |= 1U << p->order[i];
        }
        bool is_given = memcmp(p->order, a->given->order, sizeof p->order) == 0, again = false;
        struct plan_place *place = &a->place[a->n_places];
        if (used != 15 || !(a->space->any_order || is_given) || plan_map(place, p, &a->s->net, &ignored))
            continue;
        for (int i = 0; i < a->n_places; i++)
            again = again || memcmp(place, &a->place[i], sizeof *place) == 0;
        if (!again)
            memcpy(a->order[a->n_places++], p->order, sizeof p->order);
    }
    memcpy(p->order, a->given->order, sizeof p->order);
}

static void try_memory(struct every *a)
{
    struct plan *p = &a->x.plan;
    unsigned asked = a->space->recompute_ops & ((1U << N_PLAN_OPS) - 1);
    for (p->recompute = 0; p->recompute < N_PLAN_RECOMPUTES; p->recompute++)
        for (p->zero = 0; p->zero < 4; p->zero++) {
            if (!has(a->space->recompute, p->recompute) || !has(a->space->zero, p->zero))
                continue;
            bool selective = p->recompute == PLAN_RECOMPUTE_SELECTIVE;
            p->gather_bits = p->zero ? a->given->gather_bits : 0;
            p->recompute_ops = selective ? a->given->recompute_ops : 0;
            if (!selective || !asked) {
                try_plan(a);
                continue;
            }
            for (unsigned ops = 1; ops < 1U << N_PLAN_OPS; ops++)
                if ((ops & asked) == ops && (ops & plan_model_ops(&a->x.model)) == ops) {
                    p->recompute_ops = ops;
                    try_plan(a);
                }
        }
}

#define EACH(value, n, asked)                                                                                \
    for (value = 0; (value) < (n); (value)++)                                                                \
        if (asked)

/* Without a list of its own, the given one alone. */
static bool is_precision_asked(const struct every *a, int32_t precision)
{
    return a->space->precision ? has(a->space->precision, precision) : precision == a->given->precision;
}

static void try_pipeline(struct every *a)
{
    struct plan *p = &a->x.plan;
    const struct search_space *s = a->space;
    bool said = a->given->layout.n || a->given->first || a->given->last;
    EACH(p->schedule, N_PLAN_SCHEDULES, has(s->schedule, p->schedule))
    EACH(p->interleave, 14, p->interleave && is_asked(&s->interleave, p->interleave))
    EACH(p->ends, N_PLAN_ENDS, !(said && p->ends))
    EACH(p->precision, N_TOPO_PRECISIONS, is_precision_asked(a, p->precision))
    try_memory(a);
}

static void try_tokens(struct every *a)
{
    struct plan *p = &a->x.plan;
    const struct search_space *s = a->space;
    int32_t sp;
    EACH(p->micro, p->batch + 1, p->micro && is_asked(&s->micro, p->micro))
    EACH(sp, 2, has(s->seq_parallel, sp))
    EACH(p->context, N_PLAN_CONTEXTS, has(s->context, p->context))
    EACH(p->dispatcher, N_PLAN_DISPATCHERS, has(s->dispatcher, p->dispatcher))
    EACH(p->ep_overlap, N_PLAN_EP_OVERLAPS, has(s->ep_overlap, p->ep_overlap))
    {
        p->seq_parallel = sp;
        try_pipeline(a);
    }
}

/* Where no order of the axes lies along the dimensions, no plan is legal. */
static void try_shape(struct every *a, const int64_t degree[N_PLAN_AXES], int64_t ep)
{
    struct plan *p = &a->x.plan;
    *p = *a->given;
    memcpy(p->degree, degree, sizeof p->degree);
    p->ep = ep;
    if (ep == 1) {
        p->node_limit = 0;
        p->dispatch_bits = 16;
    }
    find_orders(a);
    if (a->n_places)
        try_tokens(a);
}

static void try_all(struct every *a)
{
    const struct search_space *s = a->space;
    int64_t n = a->s->net.n_npus, experts = a->x.model.moe.experts, tp, cp, pp, ep;
    EACH(tp, n + 1, tp && is_asked(&s->tp, tp))
    EACH(cp, n + 1, cp && is_asked(&s->cp, cp))
    EACH(pp, n + 1, pp && is_asked(&s->pp, pp) && n % (tp * cp * pp) == 0)
    EACH(ep, (experts ? experts : 1) + 1, ep && is_asked(&s->ep, ep))
    {
        const int64_t degree[N_PLAN_AXES] = { tp, cp, n / (tp * cp * pp), pp };
        try_shape(a, degree, ep);
    }
}

/* ---- tests ---- */

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static int evaluate(struct design *d, const struct design_point *s, struct err *e)
{
    return design_evaluate(d, s, NULL, e);
}

/* Every plan that was found, run as JSON has it, takes the time of the list to the last bit. */
static void assert_runs_as_printed(const struct drawn *d, const struct design *found)
{
    const struct search_result *r = choice_plans(&found->chosen, 0);
    assert_true(same_bits(found->time_s, r->found[0].time_s));
    for (int32_t i = 0; i < r->n_found; i += i < 5 ? 1 : 1 + r->n_found / 5) {
        KEEP(struct text, map, text_free) = { 0 };
        KEEP(struct design_point, given, design_point_free);
        KEEP(struct design, as_given, design_free);
        struct json j = { .out = &map };
        json_open(&j, NULL, '{');
        schema_write(&j, &plan_section, &r->found[i].plan, true);
        json_close(&j, '}');
        MUST(load_study(&given, d, text_str(&map), "", DESIGN_NEEDS_BANDWIDTH, e));
        MUST(evaluate(&as_given, &given, e));
        if (!same_bits(as_given.time_s, r->found[i].time_s))
            fail_msg("%s takes %.17g s, and %.17g where it was found", text_str(&map), as_given.time_s,
                     r->found[i].time_s);
    }
}

static void assert_found(const struct every *a, const struct search_result *r)
{
    if (r->n_candidates != a->n_legal)
        fail_msg("%lld candidates, %lld are legal; network: { %s } model: { %s } parallel: { %s%s%s%s } "
                 "search: { %s }",
                 (long long)r->n_candidates, (long long)a->n_legal, a->d->network, a->d->model, a->d->always,
                 a->d->ops, a->d->gather, a->d->dispatch, a->d->search);
    assert_int_equal(r->n_timed, a->n_fit);
    assert_int_equal(r->n_candidates, r->n_timed + r->n_rejected[SEARCH_MEMORY]);
    if (a->n_fit > MOST_TIMED)
        return;
    assert_close(r->found[0].time_s, a->best_s, 1e-12);
    double least_B = INFINITY;
    for (int32_t i = 0; i < r->n_found && r->found[i].time_s <= a->best_s * (1 + 1e-12); i++)
        least_B = fmin(least_B, r->found[i].memory_B);
    assert_close(least_B, a->best_B, 1e-12);
    /* Every plan that fits is one of those that were found, or like one of them. */
    int64_t n = 0;
    for (int32_t i = 0; i < r->n_found; i++) {
        n += 1 + r->found[i].alike;
        assert_true(i == 0 || search_alike(&r->found[i - 1], &r->found[i]) != 0);
    }
    assert_true(n == r->n_timed || (r->n_found == 1000 && n < r->n_timed));
}

static void test_one(uint64_t seed, int *n_found, int *n_read)
{
    struct drawn d;
    struct search_space space;
    struct every *a = calloc(1, sizeof *a);
    KEEP(struct design_point, base, design_point_free);
    struct err why = { 0 };
    RNG(r, 78, seed);
    draw_study(&d, seed);
    assert_non_null(a);
    if (load_search(&base, &d, DESIGN_NEEDS_BANDWIDTH, &why) == 0) {
        MUST(schema_read(&space, &search_section, &base.doc, yaml_find(&base.doc, "workload.search"), e));
        *a = (struct every){ .d = &d,
                             .s = &base,
                             .space = &space,
                             .x = *base.workloads[0].training,
                             .given = &base.workloads[0].training->plan,
                             .best_s = INFINITY,
                             .r = r,
                             .until_read = { rng_below(r, seldom_read[0]), rng_below(r, seldom_read[1]) },
                             .until_twin = rng_below(r, seldom_twin) };
        try_all(a);
        KEEP(struct design, found, design_free);
        int rc = evaluate(&found, &base, &why);
        if (a->n_fit == 0) {
            assert_int_equal(rc, ERR_NO_DESIGN);
        } else {
            assert_ok(rc, &why);
            assert_found(a, choice_plans(&found.chosen, 0));
            assert_runs_as_printed(&d, &found);
            (*n_found)++;
        }
        *n_read += a->n_read;
    }
    free(a);
}

/* SOAK: 2,000. */
TEST(a_search_finds_the_best_of_all_legal_plans)
{
    omp_set_num_threads(1); /* the searches are small */
    int want = getenv("SOAK") ? 2000 : repeats(100), n_found = 0, n_read = 0;
    for (uint64_t seed = 0; n_found < want; seed++)
        test_one(seed, &n_found, &n_read);
    assert_true(n_read > 5 * want);
}
