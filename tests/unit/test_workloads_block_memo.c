/* What a search keeps of plans before is, to the bit, what the plan comes to on its own. */
#include "tests/unit/training_fixture.h"

static const int64_t DEGREES[][N_PLAN_AXES] = {
    { 1, 1, 1, 1 }, { 2, 1, 2, 2 }, { 4, 1, 1, 2 }, { 2, 2, 2, 1 }
};

/* One of what a search varies is another. */
static void change_plan(struct plan *p, const struct plan *given, struct rng *r)
{
    switch (rng_below(r, 15)) {
    case 0:
        memcpy(p->degree, DEGREES[rng_below(r, COUNT_OF(DEGREES))], sizeof p->degree);
        break;
    case 1:
        p->ep = 1 << rng_below(r, 3);
        break;
    case 2:
        p->micro = 1 << rng_below(r, 3);
        break;
    case 3:
        p->interleave = 1 + (int64_t)rng_below(r, 4);
        break;
    case 4:
        p->ends = (int32_t)rng_below(r, N_PLAN_ENDS);
        break;
    case 5:
        p->schedule = (int32_t)rng_below(r, N_PLAN_SCHEDULES);
        break;
    case 6:
    case 7:
        p->recompute = (int32_t)rng_below(r, N_PLAN_RECOMPUTES);
        p->recompute_layers = p->recompute == PLAN_RECOMPUTE_FULL ? given->recompute_layers : 0;
        p->recompute_ops =
            p->recompute == PLAN_RECOMPUTE_SELECTIVE ? (unsigned)rng_below(r, 1 << N_PLAN_OPS) : 0;
        break;
    case 8:
    case 9:
        p->zero = (int32_t)rng_below(r, 4);
        p->gather_bits = p->zero ? given->gather_bits : 0;
        break;
    case 10:
        p->context = (int32_t)rng_below(r, N_PLAN_CONTEXTS);
        break;
    case 11:
        p->precision = (int32_t)rng_below(r, N_TOPO_PRECISIONS);
        break;
    case 12:
        p->seq_parallel = !p->seq_parallel;
        break;
    case 13:
        p->dispatcher = (int32_t)rng_below(r, N_PLAN_DISPATCHERS);
        break;
    default:
        p->ep_overlap = (int32_t)rng_below(r, N_PLAN_EP_OVERLAPS);
    }
}

static bool same(const void *a, const void *b, size_t size)
{
    return memcmp(a, b, size) == 0;
}

static void assert_kept(struct plan_memo *memo, const struct model *m, const struct plan *p,
                        const struct topo_npu *npu)
{
    struct memory once, kept;
    struct plan_cost x, y;
    memory_plan(&once, m, p);
    memory_plan_kept(&kept, memo, m, p);
    plan_cost(&x, m, p, npu);
    plan_cost_kept(&y, memo, m, p, npu);
    assert_int_equal(kept.stage, once.stage);
    assert_true(same(kept.term_B, once.term_B, sizeof kept.term_B));
    assert_int_equal(x.n_parts, y.n_parts);
    assert_int_equal(x.n_collectives, y.n_collectives);
    assert_int_equal(x.n_stages, y.n_stages);
    for (int32_t i = 0; i < x.n_parts; i++)
        assert_true(same(&x.parts[i].compute_s, &y.parts[i].compute_s, sizeof(double)) &&
                    same(&x.parts[i].drain_s, &y.parts[i].drain_s, sizeof(double)));
    for (int32_t i = 0; i < x.n_collectives; i++)
        assert_true(same(&x.collectives[i].bytes, &y.collectives[i].bytes, sizeof(double)) &&
                    same(&x.collectives[i].times, &y.collectives[i].times, sizeof(double)));
    double x_s = plan_cost_time(&x, NULL, NULL), y_s = plan_cost_time(&y, NULL, NULL);
    assert_true(same(&x_s, &y_s, sizeof x_s));
    assert_true(same(&x.done_flop, &y.done_flop, sizeof(double)));
    assert_true(same(&x.hardware_flop, &y.hardware_flop, sizeof(double)));
}

/* A walk in which each plan differs from the one before in one key, so that a key that the memo forgets finds
 * what is another plan's. */
static void walk(struct plan_memo *memo, const struct model *m, const struct plan *given, int steps,
                 struct rng *r)
{
    const struct topo_npu npu = fixture_npu("b200");
    struct plan p = *given;
    int n_legal = 0;
    *memo = (struct plan_memo){ 0 };
    for (int i = 0; i < steps; i++) {
        const struct plan was = p;
        change_plan(&p, given, r);
        if (!plan_check(&p, m, plan_inner(&p, TOPO_MAX_NPUS) * p.degree[PLAN_DP], NULL)) {
            p = was;
            continue;
        }
        n_legal++;
        assert_kept(memo, m, &p, &npu);
    }
    assert_true(n_legal > steps / 8);
}

TEST(what_is_kept_of_other_plans_is_what_a_plan_comes_to_alone)
{
    static const char *const models[] = { "gpt3-175b", "deepseek-v3-mtp", "mixtral-8x7b", "qwen3-30b-a3b" };
    static const int32_t software[] = { PLAN_MEGATRON_2021, PLAN_MEGATRON, PLAN_COMPILED };
    struct plan_memo *memo = malloc(sizeof *memo);
    RNG(r, 36, 0);
    assert_non_null(memo);
    for (size_t i = 0; i < COUNT_OF(models); i++)
        for (size_t s = 0; s < COUNT_OF(software); s++) {
            const struct model m = fixture_model(models[i]);
            struct plan p = fixture_plan(1, 1, 1, 1, 64);
            p.software = software[s];
            p.gather_bits = s == 0 ? 0 : 16;
            p.recompute_layers = s == 1;
            walk(memo, &m, &p, repeats(4000), r);
        }
    free(memo);
}
