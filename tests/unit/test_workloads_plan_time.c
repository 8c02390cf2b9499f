#include "sim/step.h"
#include "tests/unit/plan_shares.h"
#include "tests/unit/training_fixture.h"
#include "workloads/step.h"
#include "workloads/step_fn.h"

enum { N_RANDOM = 400, SEED = 20261121 };

static double tree_time(const struct step_tree *t, const struct topo_network *net)
{
    double bw_Bps[TOPO_MAX_DIMS];
    KEEP(struct step_fn, f, step_fn_free);
    topo_get_bandwidths(bw_Bps, net);
    MUST(step_compile(&f, t, net, e));
    return step_time(&f, bw_Bps);
}

static double lowered_time(const struct step_tree *t, const struct topo_network *net)
{
    double bw_Bps[TOPO_MAX_DIMS];
    KEEP(struct step_tree, low, step_free) = { 0 };
    topo_get_bandwidths(bw_Bps, net);
    MUST(step_lower(&low, t, &(struct collective_way){ net, &stage_rules_plain, bw_Bps }, e));
    return tree_time(&low, net);
}

/* What the random plans had, so that a test which says "all" has seen all. */
struct seen {
    int64_t zero[4], recompute[N_PLAN_RECOMPUTES], schedule[N_PLAN_SCHEDULES], context[N_PLAN_CONTEXTS];
    int64_t overlap[N_PLAN_OVERLAPS], attention[2], dims[5];
    int64_t experts, expert_tp, low_rank, uneven, interleaved, overlap_pp, overlap_dp, tied, serial_shares;
    int64_t listed, short_ends, shard, kept, no_sync, taken, partly[2];
};

static void see(struct seen *s, const struct random_training *x)
{
    const struct plan *p = &x->plan;
    s->zero[p->zero]++;
    s->recompute[p->recompute]++;
    s->schedule[p->schedule] += p->degree[PLAN_PP] > 1;
    s->context[p->context] += p->degree[PLAN_CP] > 1;
    s->overlap[p->overlap_tp] += p->degree[PLAN_TP] > 1;
    s->attention[x->model.attention]++;
    s->dims[x->net.n_dims]++;
    s->experts += p->ep > 1 && !p->expert_tp;
    s->expert_tp += p->expert_tp && p->degree[PLAN_TP] > 1;
    s->low_rank += x->model.mla.q_rank > 0;
    s->uneven += p->first + p->last > 0;
    s->interleaved += p->interleave > 1;
    s->overlap_pp += p->overlap_pp && p->degree[PLAN_PP] > 1;
    s->overlap_dp += p->overlap_dp && p->degree[PLAN_DP] > 1;
    s->tied += x->model.tied && p->degree[PLAN_PP] > 1;
    s->listed += p->layout.n > 0;
    s->short_ends += p->ends == PLAN_ENDS_SHORT;
    s->shard += p->shard > 0;
    s->kept += !p->reshard;
    s->no_sync += p->no_sync;
    s->taken += p->beside_share > 0;
    if (plan_is_partly_again(p))
        s->partly[x->model.moe.experts > 0]++;
    s->serial_shares += p->zero > 1 && !p->overlap_dp && p->degree[PLAN_DP] > 1;
}

/* A longer dimension makes the step longer by what it takes of the path that decides: the sum by dimension is
 * the slope of the time, whose pieces are straight. */
TEST(shares_of_dimensions_are_slopes_of_the_time)
{
    enum { N = 100 };
    const double more = 1e-7;
    int64_t n_some = 0;
    RNG(r, SEED, 5);
    for (int round = 0; round < N; round++) {
        struct random_training x;
        struct plan_cost c;
        struct plan_sum once[PLAN_MAX_COLLECTIVES] = { 0 }, sum;
        struct plan_busy busy, longer;
        double once_s[PLAN_MAX_COLLECTIVES], longer_s[PLAN_MAX_COLLECTIVES], all_s = 0;
        fixture_random(&x, r);
        plan_cost(&c, &x.model, &x.plan, &x.net.npu);
        for (int32_t i = 0; i < c.n_collectives; i++) {
            once_s[i] = 0;
            for (int32_t d = 0; d < x.net.n_dims; d++)
                once_s[i] += once[i].v[1 + d] = rng_below(r, 3) ? rng_log_range(r, 1e-4, 1e-2) : 0;
            once_s[i] += 1e-3 * rng_uniform(r); /* latency, of no dimension */
            once[i].v[0] = once_s[i];
        }
        busy.n_dims = longer.n_dims = x.net.n_dims;
        for (int32_t i = 0; i < c.n_collectives; i++)
            for (int32_t d = 0; d < x.net.n_dims; d++)
                busy.once_s[i][d] = once[i].v[1 + d];
        plan_cost_sum(&sum, &c, once, &busy, x.net.n_dims);
        double time_s = plan_cost_time(&c, once_s, &busy);
        assert_close(sum.v[0], time_s, 1e-12);
        for (int32_t d = 0; d < x.net.n_dims; d++) {
            longer = busy;
            for (int32_t i = 0; i < c.n_collectives; i++) {
                longer_s[i] = once_s[i] + more * once[i].v[1 + d];
                longer.once_s[i][d] *= 1 + more;
            }
            double slope_s = (plan_cost_time(&c, longer_s, &longer) - time_s) / more;
            assert_near(slope_s, sum.v[1 + d], 1e-6 * time_s);
            all_s += sum.v[1 + d];
            n_some += sum.v[1 + d] > 0;
        }
        assert_true(all_s <= time_s * (1 + 1e-12));
    }
    assert_true(n_some > N);
}

static void has_seen_all(const struct seen *s)
{
    for (int i = 0; i < 4; i++)
        assert_true(s->zero[i] && s->dims[i + 1]);
    for (int i = 0; i < 3; i++)
        assert_true(s->recompute[i] && s->context[i] && s->overlap[i]);
    for (int i = 0; i < N_PLAN_SCHEDULES; i++)
        assert_true(s->schedule[i]);
    assert_true(s->attention[0] && s->attention[1]);
    assert_true(s->listed && s->short_ends && s->shard && s->kept && s->no_sync && s->taken);
    assert_true(s->partly[0] && s->partly[1]);
    assert_true(s->experts && s->expert_tp && s->low_rank && s->uneven && s->interleaved);
    assert_true(s->overlap_pp && s->overlap_dp && s->tied && s->serial_shares);
}

TEST(the_formula_and_the_expression_agree_for_any_plan)
{
    static struct random_training x;
    static struct plan_cost c;
    struct seen seen = { 0 };
    RNG(r, SEED, 0);
    for (int i = 0; i < N_RANDOM; i++) {
        double once_s[PLAN_MAX_COLLECTIVES], bw_Bps[TOPO_MAX_DIMS];
        struct plan_busy busy;
        KEEP(struct step_tree, t, step_free);
        fixture_random(&x, r);
        see(&seen, &x);
        plan_cost(&c, &x.model, &x.plan, &x.net.npu);
        OK(plan_cost_tree(&t, &c, &x.place, "random", &x.net, e));
        fixture_once(once_s, &busy, &c, &x.place, &x.net, false);
        assert_close(plan_cost_time(&c, once_s, &busy), tree_time(&t, &x.net), 1e-12);
        /* The third way: walk the tree. */
        for (int32_t d = 0; d < x.net.n_dims; d++)
            bw_Bps[d] = x.net.dims[d].bw_Bps * collective_share(&x.net.dims[d]);
        assert_close(plan_cost_time(&c, once_s, &busy), oracle_time(&t, t.root, bw_Bps), 1e-12);
        fixture_once(once_s, &busy, &c, &x.place, &x.net, true);
        assert_close(plan_cost_time(&c, once_s, &busy), lowered_time(&t, &x.net), 1e-12);
        static const double free_s[PLAN_MAX_COLLECTIVES] = { 0 };
        double given_s = plan_cost_time(&c, free_s, NULL), none_s = plan_cost_time(&c, NULL, NULL);
        assert_memory_equal(&none_s, &given_s, sizeof none_s);
    }
    has_seen_all(&seen);
}

/* Whatever runs side by side, no dimension is busy for longer than the step takes; without the links that are
 * shared many a step would be shorter. */
TEST(no_plan_is_faster_than_its_links)
{
    static struct random_training x;
    static struct plan_cost c;
    int64_t n_over = 0, n_ep = 0, n_tp = 0, n_cp = 0;
    RNG(r, SEED, 7);
    for (int i = 0; i < N_RANDOM; i++) {
        double once_s[PLAN_MAX_COLLECTIVES], bw_Bps[TOPO_MAX_DIMS], most_s = 0;
        struct plan_busy busy;
        KEEP(struct step_tree, t, step_free);
        fixture_random(&x, r);
        x.plan.overlap_dp = true;
        plan_cost(&c, &x.model, &x.plan, &x.net.npu);
        OK(plan_cost_tree(&t, &c, &x.place, "random", &x.net, e));
        for (int32_t d = 0; d < x.net.n_dims; d++)
            bw_Bps[d] = x.net.dims[d].bw_Bps * collective_share(&x.net.dims[d]);
        for (int32_t d = 0; d < x.net.n_dims; d++)
            most_s = fmax(most_s, oracle_busy(&t, t.root, bw_Bps, d));
        for (int latency = 0; latency < 2; latency++) {
            fixture_once(once_s, &busy, &c, &x.place, &x.net, latency);
            assert_true(plan_cost_time(&c, once_s, &busy) >= most_s * (1 - 1e-12));
            bool over = !latency && plan_cost_time(&c, once_s, NULL) < most_s * (1 - 1e-9);
            n_over += over;
            n_ep += over && x.plan.ep > 1;
            n_tp += over && x.plan.degree[PLAN_TP] > 1;
            n_cp += over && x.plan.degree[PLAN_CP] > 1;
        }
    }
    assert_true(n_over > 10 && n_ep > 3 && n_tp > 3 && n_cp > 3);
}

/* Sends that run beside the passes of a stage take as many bytes as others. */
TEST(sends_load_their_links_whether_they_overlap_or_not)
{
    static struct random_training x;
    int64_t n = 0;
    RNG(r, SEED, 8);
    for (int i = 0; i < N_RANDOM; i++) {
        double sent_B[2][TOPO_MAX_DIMS] = { { 0 } };
        fixture_random(&x, r);
        if (x.plan.degree[PLAN_PP] == 1 || x.plan.sends == 0)
            continue;
        n++;
        for (int overlap = 0; overlap < 2; overlap++) {
            struct plan_cost c;
            KEEP(struct step_tree, t, step_free);
            x.plan.overlap_pp = overlap;
            plan_cost(&c, &x.model, &x.plan, &x.net.npu);
            OK(plan_cost_tree(&t, &c, &x.place, "random", &x.net, e));
            for (int32_t d = 0; d < x.net.n_dims; d++)
                for (int phase = 0; phase < N_STEP_PHASES; phase++)
                    if (phase != STEP_BUBBLE)
                        sent_B[overlap][d] += oracle_traffic(&t, t.root, (enum step_phase)phase, d);
        }
        for (int32_t d = 0; d < x.net.n_dims; d++)
            assert_close(sent_B[1][d], sent_B[0][d], 1e-12);
    }
    assert_true(n > 50);
}

/* ---- where the time goes ---- */

/* Compute counts whole; what is exposed and waited for is the rest of the step. */
TEST(shares_add_up_to_the_step_of_any_plan)
{
    static struct random_training x;
    static struct plan_cost c;
    RNG(r, SEED, 3);
    for (int i = 0; i < N_RANDOM; i++) {
        double once_s[PLAN_MAX_COLLECTIVES], none_s[PLAN_MAX_COLLECTIVES] = { 0 }, compute_s = 0,
                                             exposed_s = 0;
        struct plan_shares s, free;
        struct plan_busy busy;
        fixture_random(&x, r);
        plan_cost(&c, &x.model, &x.plan, &x.net.npu);
        fixture_once(once_s, &busy, &c, &x.place, &x.net, true);
        plan_cost_shares(&s, &c, once_s, &busy);
        plan_cost_shares(&free, &c, none_s, NULL);
        assert_close(s.time_s, plan_cost_time(&c, once_s, &busy), 1e-12);
        assert_close(free.time_s, plan_cost_time(&c, none_s, NULL), 1e-12);
        for (int p = 0; p < N_STEP_PHASES; p++)
            compute_s += s.compute_s[p];
        for (int32_t k = 0; k < c.n_collectives; k++) {
            assert_true(s.exposed_s[k] >= 0 && free.exposed_s[k] == 0);
            exposed_s += s.exposed_s[k];
        }
        assert_close(compute_s + exposed_s + s.bubble_s, s.time_s, 1e-12);
        /* Without communication a step is compute and bubble: what is exposed makes it longer, no more. */
        assert_true(s.time_s >= free.time_s * (1 - 1e-12));
    }
}

/* What the walk of the tree counts is what the draft says, collective by collective. */
TEST(the_account_of_any_plan_is_that_of_its_draft)
{
    static struct random_training x;
    static struct plan_cost c;
    RNG(r, SEED, 6);
    for (int i = 0; i < N_RANDOM; i++) {
        double once_s[PLAN_MAX_COLLECTIVES], bw_Bps[TOPO_MAX_DIMS], exposed_s[PLAN_MAX_COLLECTIVES] = { 0 };
        KEEP(struct step_tree, t, step_free);
        KEEP(struct sim_step, s, sim_step_free);
        struct plan_shares want;
        struct plan_busy busy;
        fixture_random(&x, r);
        plan_cost(&c, &x.model, &x.plan, &x.net.npu);
        OK(plan_cost_tree(&t, &c, &x.place, "random", &x.net, e));
        topo_get_bandwidths(bw_Bps, &x.net);
        OK(sim_step_build(&s, &t, &(struct sim_way){ &x.net, bw_Bps, SIM_BANDWIDTH, NULL }, e));
        fixture_once(once_s, &busy, &c, &x.place, &x.net, false);
        plan_cost_shares(&want, &c, once_s, &busy);
        for (int32_t k = 0; k < s.n_collectives; k++)
            exposed_s[t.nodes[s.collectives[k].node].mark] += s.collectives[k].exposed_s;
        assert_close(s.time_s, want.time_s, 1e-12);
        assert_near(s.account.phase_s[STEP_BUBBLE], want.bubble_s, 1e-12 * s.time_s);
        for (int p = 0; p < N_STEP_PHASES; p++)
            assert_true(p == STEP_BUBBLE ||
                        fabs(s.account.phase_s[p] - want.compute_s[p]) <= 1e-12 * s.time_s);
        for (int32_t k = 0; k < c.n_collectives; k++)
            assert_near(exposed_s[k], want.exposed_s[k], 1e-12 * s.time_s);
    }
}

/* ---- pipelines ---- */

enum { MOST_STAGES = 8, MOST_MICRO = 32 };

/*
 * 1F1B carried out: stage i runs min(m, p - i) - 1 forward passes, then one forward and one backward in turn,
 * then what is left backward. A pass begins when its stage is free and its input is there. Returns when the
 * last ends.
 */
static double run_1f1b(int64_t pp, int64_t m, const double *forward_s, const double *backward_s)
{
    double done_f[MOST_STAGES][MOST_MICRO], done_b[MOST_STAGES][MOST_MICRO];
    double free_s[MOST_STAGES] = { 0 }, end_s = 0;
    int64_t f[MOST_STAGES] = { 0 }, b[MOST_STAGES] = { 0 };
    for (int64_t left = 2 * m * pp, stuck = 0; left > 0; stuck++) {
        assert_true(stuck < (int64_t)2 * MOST_MICRO * MOST_STAGES);
        for (int64_t i = 0; i < pp; i++) {
            int64_t warm = (m < pp - i ? m : pp - i);
            bool forward = f[i] < m && f[i] - b[i] < warm;
            bool ready =
                forward ? i == 0 || f[i - 1] > f[i] : b[i] < f[i] && (i == pp - 1 || b[i + 1] > b[i]);
            if (b[i] == m || !ready)
                continue;
            double input_s = forward ? (i ? done_f[i - 1][f[i]] : 0) : (i < pp - 1 ? done_b[i + 1][b[i]] : 0);
            free_s[i] = fmax(free_s[i], input_s) + (forward ? forward_s[i] : backward_s[i]);
            if (forward)
                done_f[i][f[i]++] = free_s[i];
            else
                done_b[i][b[i]++] = free_s[i];
            end_s = fmax(end_s, free_s[i]);
            left--;
        }
    }
    return end_s;
}

/* Parts of the layers of one stage, without their ends. */
static double direction_s(const struct plan_cost *c, const struct plan_pass *pass)
{
    double sum_s = 0;
    for (int32_t i = pass->first; i < pass->first + pass->n; i++)
        sum_s += c->parts[i].compute_s;
    return sum_s;
}

/* The same by formula, of GPT-3's layers alone; and what each stage takes, shape [pp]. */
static double pipeline_s(const struct plan *p, double *forward_s, double *backward_s)
{
    static struct plan_cost c;
    double once_s[PLAN_MAX_COLLECTIVES] = { 0 }; /* what is sent takes no time */
    int64_t pp = p->degree[PLAN_PP], ends = p->first + p->last;
    int64_t others = pp - (p->first > 0) - (p->last > 0);
    struct topo_npu npu = fixture_npu("a100-80gb");
    struct model m = fixture_model("gpt3-175b");
    plan_cost(&c, &m, p, &npu);
    c.optimizer_s = 0;
    for (int32_t i = 0; i < c.n_stages; i++)
        c.stages[i].embed = c.stages[i].head = false;
    for (int64_t i = 0; i < pp; i++) {
        int64_t layers = others ? (96 - ends) / others : 0;
        if (i == 0 && p->first)
            layers = p->first;
        if (i == pp - 1 && p->last)
            layers = p->last;
        forward_s[i] = (double)layers * direction_s(&c, &c.blocks[BLOCK_DENSE].forward);
        backward_s[i] = (double)layers * direction_s(&c, &c.blocks[BLOCK_DENSE].backward);
    }
    return plan_cost_time(&c, once_s, NULL);
}

TEST(equal_stages_take_as_long_as_the_schedule_carried_out)
{
    static const int64_t micro[] = { 1, 2, 4, 9, 19, 32 };
    for (int64_t pp = 1; pp <= 8; pp *= 2)
        for (size_t i = 0; i < COUNT_OF(micro); i++) {
            const struct plan p = fixture_plan(1, 1, 1, pp, micro[i]);
            double f[MOST_STAGES], b[MOST_STAGES], got_s = pipeline_s(&p, f, b);
            assert_close(got_s, (double)(micro[i] + pp - 1) * (f[0] + b[0]), 1e-12);
            assert_close(got_s, run_1f1b(pp, micro[i], f, b), 1e-12);
        }
}

/* Where the last stage is the slowest, as logits make it, the formula is exact; else it is never too short.
 */
TEST(unequal_stages_never_take_longer_than_the_formula_says)
{
    CASES(int64_t pp, first, last; bool exact) = {
        { 4, 0, 30, true },  { 2, 40, 56, true },  { 8, 0, 19, true },   { 2, 56, 40, false },
        { 4, 30, 0, false }, { 4, 10, 14, false }, { 8, 24, 12, false }, { 8, 3, 3, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int64_t m = cases[i].pp; m <= MOST_MICRO; m += 5) {
            WITH(struct plan, p, fixture_plan(1, 1, 1, cases[i].pp, m), p.first = cases[i].first,
                 p.last = cases[i].last);
            double f[MOST_STAGES], b[MOST_STAGES];
            double got_s = pipeline_s(&p, f, b), run_s = run_1f1b(p.degree[PLAN_PP], m, f, b);
            assert_true(got_s >= run_s * (1 - 1e-12) && got_s <= run_s * 1.25);
            if (cases[i].exact)
                assert_close(got_s, run_s, 1e-12);
        }
}

/* arXiv 2104.04473 section 2.2: chunks divide the time that stages wait. */
TEST(interleaving_divides_the_bubble_by_the_chunks)
{
    const struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    WITH(struct plan, p, fixture_plan(1, 1, 1, 8, 64), p.sends = 0);
    double time_s[13];
    struct model m = fixture_model("gpt3-175b");
    for (p.interleave = 1; p.interleave <= 12; p.interleave++)
        if (12 % p.interleave == 0)
            time_s[p.interleave] = fixture_time(&m, &p, &net);
    double bubble_s = (time_s[1] - time_s[2]) * 2;
    assert_true(bubble_s > 0);
    for (int64_t v = 2; v <= 12; v++)
        if (12 % v == 0)
            assert_close(time_s[1] - time_s[v], bubble_s * (1 - 1 / (double)v), 1e-10);
    /* Of equal stages it is 7/64 of the work; ends make it a little less. */
    assert_true(bubble_s < 7 / 64.0 * (time_s[1] - bubble_s) && bubble_s > 6.5 / 64 * (time_s[1] - bubble_s));
}

/* The slowest stage sets the pace of all but the first microbatch. */
TEST(one_more_microbatch_takes_the_slowest_stage_once_more)
{
    const struct topo_network net = fixture_network((const int32_t[]){ 4 }, 1);
    WITH(struct plan, p, fixture_plan(1, 1, 1, 4, 8), p.sends = 0);
    struct model m = fixture_model("gpt3-175b");
    p.first = 30, p.last = 22;
    double more_s[2], sum_s[2];
    for (int i = 0; i < 2; i++) {
        p.batch = 8 + i;
        sum_s[i] = fixture_time(&m, &p, &net);
    }
    more_s[0] = sum_s[1] - sum_s[0];
    struct plan alone = fixture_plan(1, 1, 1, 1, 8);
    struct topo_network one = net;
    one.n_npus = 1;
    one.dims[0].size = 1;
    m.layers = 30;
    for (int i = 0; i < 2; i++) {
        alone.batch = 8 + i;
        sum_s[i] = fixture_time(&m, &alone, &one);
    }
    more_s[1] = sum_s[1] - sum_s[0];
    assert_true(more_s[0] < more_s[1]); /* which has the logits too */
    assert_close(more_s[0], more_s[1], 0.06);
}

static void assert_named(const struct step_tree *t, const char *name)
{
    for (step_id i = 0; i < t->n_nodes; i++)
        if (t->nodes[i].stage > 0 && strcmp(t->nodes[i].name, name) == 0)
            return;
    fail_msg("no stage is called %s", name);
}

/* Equal stages are one part of the step: a range if they lie side by side, a number if others lie between. */
TEST(stages_that_are_alike_have_one_name)
{
    static struct plan_cost c;
    static const char *const names[][4] = { { "stage 1", "stages 2-7", "stage 8" },
                                            { "stage 1", "3 stages like 2", "3 stages like 3", "stage 8" } };
    const struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    const struct plan_layout layouts[] = { { 0 }, { 8, { 12, 11, 13, 11, 13, 11, 13, 12 } } };
    const struct model m = fixture_model("gpt3-175b");
    for (int i = 0; i < 2; i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 1, 8, 64), p.layout = layouts[i]);
        struct plan_place place;
        KEEP(struct step_tree, t, step_free);
        OK(plan_map(&place, &p, &net, e));
        plan_cost(&c, &m, &p, &net.npu);
        OK(plan_cost_tree(&t, &c, &place, "named", &net, e));
        for (int k = 0; k < 4 && names[i][k]; k++)
            assert_named(&t, names[i][k]);
    }
}

/* ---- what a choice may and may not do ---- */

static double time_of(const struct random_training *x, const struct plan *p)
{
    return fixture_time(&x->model, p, &x->net);
}

#define NOT_SLOWER(fast_s, slow_s) assert_true((fast_s) <= (slow_s) * (1 + 1e-12))

TEST(overlap_never_makes_a_step_slower)
{
    static struct random_training x;
    RNG(r, SEED, 1);
    int64_t faster[4] = { 0 };
    for (int i = 0; i < N_RANDOM; i++) {
        fixture_random(&x, r);
        struct plan p = x.plan;
        p.overlap_tp = PLAN_OVERLAP_NONE;
        double none_s = time_of(&x, &p);
        p.overlap_tp = PLAN_OVERLAP_BACKWARD;
        double backward_s = time_of(&x, &p);
        p.overlap_tp = PLAN_OVERLAP_SPLIT;
        double split_s = time_of(&x, &p);
        NOT_SLOWER(backward_s, none_s);
        NOT_SLOWER(split_s, backward_s);
        faster[0] += split_s < backward_s && backward_s < none_s;
        p = x.plan;
        p.ep_overlap = PLAN_EP_OVERLAP_NONE;
        none_s = time_of(&x, &p);
        p.ep_overlap = x.plan.ep_overlap;
        if (p.zero < 2) /* else the processors lent are taken from that exchange too */
            NOT_SLOWER(time_of(&x, &p), none_s);
        faster[3] += time_of(&x, &p) < none_s;
        for (int k = 1; k <= 2; k++) {
            bool *const flag = k == 1 ? &p.overlap_dp : &p.overlap_pp;
            p = x.plan;
            if (p.zero > 1) /* the layer that is open has its tokens in the open too */
                p.ep_overlap = PLAN_EP_OVERLAP_NONE;
            p.beside_share = k == 1 ? 0 : x.plan.beside_share;
            *flag = false;
            double without_s = time_of(&x, &p);
            *flag = true;
            p.beside_share = x.plan.beside_share;
            double with_s = time_of(&x, &p);
            NOT_SLOWER(with_s, without_s);
            faster[k] += with_s < without_s;
        }
    }
    assert_true(faster[0] > 20 && faster[1] > 20 && faster[2] > 20 && faster[3] > 20);
}

/* On a slow network only bytes count: 3 * 2 P (n-1)/n of them, with overlap and without. */
TEST(sharded_parameters_travel_three_times_and_no_more)
{
    static const bool overlap[] = { false, true };
    struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    struct model m = fixture_model("llama3-8b");
    for (int i = 0; i < 2; i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 8, 1, 8), p.zero = 3, p.grad_B = 2,
             p.overlap_dp = overlap[i]);
        net.dims[0].bw_Bps = 1e6;
        double slow_s = fixture_time(&m, &p, &net);
        net.dims[0].bw_Bps = 2e6;
        double fast_s = fixture_time(&m, &p, &net);
        assert_close(slow_s - fast_s, 6 * model_params(&m) * 7 / 8 / 2e6, 1e-9);
    }
}

TEST(recomputing_more_is_never_faster)
{
    static struct random_training x;
    RNG(r, SEED, 2);
    for (int i = 0; i < N_RANDOM; i++) {
        double before_s = 0;
        fixture_random(&x, r);
        struct plan p = x.plan;
        p.recompute_layers = 0;
        for (p.recompute = 0; p.recompute <= PLAN_RECOMPUTE_FULL; p.recompute++) {
            double now_s = time_of(&x, &p);
            NOT_SLOWER(before_s, now_s);
            before_s = now_s;
        }
        p.recompute = PLAN_RECOMPUTE_SAC; /* part of a layer is less than all of it */
        NOT_SLOWER(time_of(&x, &p), before_s);
    }
}

/* Layers are alike, and each does itself again for as long: of 40 in chunks of 5, N of each chunk. As many as
 * there are, or more, are all. Expert layers and dense ones each by themselves: of 61 the first three are
 * dense, and the first two of each of four chunks are done again. */
TEST(each_layer_done_again_takes_as_long)
{
    struct topo_network net = fixture_network((const int32_t[]){ 8, 8 }, 2);
    WITH(struct model, m, fixture_model("llama3-8b"), m.layers = 40);
    WITH(struct plan, p, fixture_plan(2, 1, 8, 4, 64), p.interleave = 2, p.zero = 3,
         p.software = PLAN_MEGATRON);
    double none_s = fixture_time(&m, &p, &net), all_s;
    p.recompute = PLAN_RECOMPUTE_FULL;
    all_s = fixture_time(&m, &p, &net);
    assert_true(all_s > 1.2 * none_s);
    for (p.recompute_layers = 1; p.recompute_layers < 8; p.recompute_layers++) {
        double share = fmin((double)p.recompute_layers / 5, 1);
        assert_close(fixture_time(&m, &p, &net), none_s + share * (all_s - none_s), 1e-12);
    }
    m = fixture_model("deepseek-v3");
    m.mtp = 0;
    p = fixture_plan(1, 1, 16, 4, 256);
    p.ep = 16, p.ends = PLAN_ENDS_SHORT, p.recompute = PLAN_RECOMPUTE_FULL, p.recompute_layers = 2;
    struct plan_stage stages[PLAN_MAX_STAGES];
    int32_t n = plan_stages(stages, &p, &m);
    assert_true(n >= 2 && stages[0].dense_again == 2 && stages[0].experts_again == 0);
    for (int32_t i = 1; i < n; i++)
        assert_true(stages[i].dense_again == 0 && stages[i].experts_again == 2);
}

TEST(gpipe_differs_in_memory_only)
{
    static struct random_training x;
    RNG(r, SEED, 3);
    int64_t more = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        struct memory one, all;
        fixture_random(&x, r);
        struct plan p = x.plan;
        if (p.interleave > 1)
            continue;
        p.schedule = PLAN_1F1B;
        double time_s = time_of(&x, &p);
        memory_plan(&one, &x.model, &p);
        p.schedule = PLAN_GPIPE;
        assert_true(time_of(&x, &p) == time_s);
        memory_plan(&all, &x.model, &p);
        assert_true(all.total_B >= one.total_B);
        more += all.total_B > one.total_B;
    }
    assert_true(more > 20);
}

TEST(overhead_is_added_once)
{
    static struct random_training x;
    RNG(r, SEED, 4);
    for (int i = 0; i < 20; i++) {
        fixture_random(&x, r);
        struct plan p = x.plan;
        p.overhead_s = 0;
        double without_s = time_of(&x, &p);
        p.overhead_s = 6;
        assert_close(time_of(&x, &p), without_s + 6, 1e-14);
    }
}

TEST(faster_networks_and_NPUs_never_make_a_step_slower)
{
    static struct random_training x;
    RNG(r, SEED, 5);
    for (int i = 0; i < N_RANDOM; i++) {
        fixture_random(&x, r);
        double before_s = time_of(&x, &x.plan);
        struct random_training y = x;
        y.net.dims[rng_below(r, y.net.n_dims)].bw_Bps *= 2;
        NOT_SLOWER(time_of(&y, &y.plan), before_s);
        y = x;
        y.net.npu.peak_flops *= 2;
        NOT_SLOWER(time_of(&y, &y.plan), before_s);
        y.net.npu.mem_Bps *= 2; /* at least the optimizer notices */
        assert_true(time_of(&y, &y.plan) < before_s);
    }
}
