/* A timeline is its report: it ends with the step, its links are as busy, and nobody does two things at once.
 */
#include "sim/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/training_fixture.h"

enum { SEED = 20261124 };

/* ---- what must hold of any timeline ---- */

static int by_lane(const void *a, const void *b)
{
    const struct timeline_bar *x = a, *y = b;
    const double of_x[] = { x->run, x->lane, x->cell, x->slot, x->start_s },
                 of_y[] = { y->run, y->lane, y->cell, y->slot, y->start_s };
    for (size_t i = 0; i < COUNT_OF(of_x); i++)
        if (of_x[i] < of_y[i] || of_y[i] < of_x[i])
            return of_x[i] < of_y[i] ? -1 : 1;
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct timeline_bar *x = a, *y = b;
    return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

/* No lane overlaps itself; a slot of a lane that computes is the only one. */
static void check_lanes(struct timeline_bar *bars, int32_t n)
{
    qsort(bars, (size_t)n, sizeof *bars, by_lane);
    for (int32_t i = 0; i < n; i++) {
        const struct timeline_bar *a = &bars[i], *b = a + 1;
        assert_true(a->start_s <= a->end_s && a->ready_s <= a->start_s && a->events >= 1);
        assert_true(a->dim >= 0 || a->slot == 0);
        if (i + 1 < n && a->run == b->run && a->lane == b->lane && a->cell == b->cell && a->slot == b->slot)
            assert_true(a->end_s <= b->start_s);
    }
}

/* What belongs to no one stage is done by all: not while one of them computes. */
static void check_npus(struct timeline_bar *bars, int32_t n, int32_t n_stages, double time_s)
{
    double end_s[64] = { 0 }, all_s = 0, latest_s = 0;
    assert_true(n_stages <= (int32_t)COUNT_OF(end_s));
    qsort(bars, (size_t)n, sizeof *bars, by_start);
    for (int32_t i = 0; i < n; i++) {
        const struct timeline_bar *b = &bars[i];
        if (b->dim != TIMELINE_COMPUTE)
            continue;
        double *end = b->stage ? &end_s[b->stage] : &all_s;
        assert_true(b->start_s >= fmax(*end, b->stage ? all_s : latest_s) - 1e-12 * time_s);
        *end = b->end_s;
        latest_s = fmax(latest_s, b->end_s);
    }
}

static const struct timeline_run *chosen_run(const struct timeline *t, int32_t *run)
{
    int32_t n = 0;
    for (int32_t i = 0; i < t->n_runs; i++)
        if (t->runs[i].chosen) {
            *run = i;
            n++;
        }
    assert_int_equal(n, 1);
    return &t->runs[*run];
}

/* Ends, busy shares, bytes and compute of the chosen run are those of the report. */
static void check_report(const struct timeline *t, const struct sim_step *s)
{
    int32_t run = -1;
    const struct timeline_run *chosen = chosen_run(t, &run);
    double end_s = 0, compute_s = 0, want_s = 0, busy_s[TOPO_MAX_DIMS] = { 0 }, sent_B[TOPO_MAX_DIMS] = { 0 };
    assert_close(chosen->time_s, s->time_s, 1e-12);
    for (int32_t i = 0; i < t->n_bars; i++) {
        const struct timeline_bar *b = &t->bars[i];
        if (b->run != run)
            continue;
        end_s = fmax(end_s, b->end_s);
        if (b->counts && b->dim >= 0) {
            busy_s[b->dim] += b->busy_s;
            sent_B[b->dim] += b->bytes;
        }
        compute_s += b->counts && b->dim == TIMELINE_COMPUTE ? b->busy_s : 0;
    }
    assert_close(end_s, s->time_s, 1e-12);
    for (int32_t d = 0; d < s->n_dims; d++) {
        assert_near(busy_s[d], s->busy_s[d], 1e-12 * s->time_s);
        assert_near(sent_B[d], s->traffic_B[d], 1e-11 * s->traffic_B[d]);
        assert_near(chosen->util_frac[d], s->busy_s[d] / s->time_s, 1e-12);
    }
    for (int p = 0; p < N_STEP_PHASES; p++)
        want_s += p == STEP_BUBBLE || p == STEP_OVERHEAD ? 0 : s->account.phase_s[p];
    assert_near(compute_s, want_s, 1e-12 * s->time_s);
}

static void check_timeline(struct timeline *t, const struct sim_step *s)
{
    check_report(t, s);
    for (int32_t i = 0; i < t->n_bars;) {
        int32_t n = 0;
        while (i + n < t->n_bars && t->bars[i + n].run == t->bars[i].run)
            n++;
        assert_true(n <= TIMELINE_MAX_BARS);
        check_npus(t->bars + i, n, t->n_stages, t->runs[t->bars[i].run].time_s);
        check_lanes(t->bars + i, n);
        i += n;
    }
}

/* ---- drawn plans ---- */

struct counts {
    int32_t model[N_SIM_MODELS], stages, folded, runs, host;
};

static void count(struct counts *n, const struct timeline *t, enum sim_model model)
{
    n->model[model]++;
    n->stages += t->n_stages > 2;
    assert_string_equal(t->stages[0], t->n_stages > 1 ? "all stages" : "");
    for (int32_t k = 1; k < t->n_stages; k++)
        for (int32_t i = 0; i < k; i++)
            assert_string_not_equal(t->stages[i], t->stages[k]);
    n->runs += t->n_runs > 1;
    for (int32_t i = 0; i < t->n_runs; i++)
        n->folded += t->runs[i].n_folded > 0;
    for (int32_t i = 0; i < t->n_bars; i++)
        if (t->bars[i].dim == TIMELINE_HOST) {
            n->host++;
            break;
        }
}

/* Small ones where every link is simulated. */
static bool is_drawn(const struct random_training *x, enum sim_model model)
{
    return model != SIM_FLOW || x->net.n_npus <= 16;
}

TEST(timelines_of_any_plan_are_their_reports)
{
    enum { N = 300 };
    static struct random_training x;
    static struct plan_cost c;
    struct counts n = { 0 };
    RNG(r, SEED, 0);
    for (int i = 0; i < repeats(N); i++) {
        enum sim_model model = (enum sim_model)(i % N_SIM_MODELS);
        KEEP(struct step_tree, t, step_free);
        KEEP(struct sim_step, s, sim_step_free);
        KEEP(struct timeline, line, timeline_free);
        struct sim_rules rules;
        double bw_Bps[TOPO_MAX_DIMS];
        do
            fixture_random(&x, r);
        while (!is_drawn(&x, model));
        if (rng_below(r, 4) == 0)
            x.plan.launch_s = rng_log_range(r, 1e-6, 1e-3);
        plan_cost(&c, &x.model, &x.plan, &x.net.npu);
        if (rng_below(r, 2)) /* so that the step ends with a collective */
            c.optimizer_s = c.overhead_s = 0;
        if (rng_below(r, 8) == 0) /* so that most of it is folded */
            c.microbatches = 3000;
        OK(plan_cost_tree(&t, &c, &x.place, "random", &x.net, e));
        topo_get_bandwidths(bw_Bps, &x.net);
        sim_rules_default(&rules);
        rules.stage.chunks = (int32_t)(1 + rng_below(r, 3));
        OK(sim_step_build(&s, &t, &(struct sim_way){ &x.net, bw_Bps, model, &rules }, e));
        OK(timeline_build(&line, &t, &(struct sim_way){ &x.net, bw_Bps, model, &rules }, e));
        count(&n, &line, model);
        check_timeline(&line, &s);
    }
    for (int m = 0; m < N_SIM_MODELS; m++)
        assert_true(n.model[m] >= repeats(N) / N_SIM_MODELS);
    assert_true(n.stages && n.folded && n.runs && n.host);
}

/* ---- by hand ---- */

/* One ring of 4 at 3 B/s: a reduce-scatter of 8 B takes 2 s. */
static void ring_of_four(struct topo_network *net)
{
    *net = (struct topo_network){ .n_dims = 1, .n_npus = 4 };
    net->dims[0] = (struct topo_dim){ .shape = TOPO_RING, .size = 4, .efficiency = 1 };
}

static const double ring_Bps[] = { 3 };

static step_id inner(struct step_tree *t, step_id parent, enum step_kind kind, double times)
{
    return step_add(t, parent, (struct step_node){ .kind = kind, .times = times });
}

static step_id work(struct step_tree *t, step_id parent, double seconds)
{
    return step_add(t, parent, (struct step_node){ .kind = STEP_COMPUTE, .seconds = seconds, .times = 1 });
}

static step_id scatter(struct step_tree *t, step_id parent, double times)
{
    return step_add(
        t, parent,
        (struct step_node){
            .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_REDUCE_SCATTER, .bytes = 8, .times = times });
}

/* Seconds of the bars of a lane, and their number. */
static double sum_lane(const struct timeline *t, int32_t lane, int32_t *n)
{
    double sum_s = 0;
    *n = 0;
    for (int32_t i = 0; i < t->n_bars; i++)
        if (t->bars[i].lane == lane) {
            sum_s += t->bars[i].busy_s;
            ++*n;
        }
    return sum_s;
}

/* On one dimension all orders are one: 1 s of compute, then 3 s beside three exchanges of 2 s on one ring. */
TEST(equal_orders_are_drawn_once)
{
    KEEP(struct timeline, t, timeline_free);
    struct topo_network net;
    struct sim_rules rules;
    int32_t n;
    ring_of_four(&net);
    sim_rules_default(&rules);
    STEP_BEGIN(tree, "", &net);
    step_id all = inner(&tree, -1, STEP_SUM, 1);
    work(&tree, all, 1);
    step_id both = inner(&tree, all, STEP_MAX, 1);
    work(&tree, both, 3);
    scatter(&tree, both, 1);
    scatter(&tree, both, 2);
    OK(timeline_build(&t, &tree, &(struct sim_way){ &net, ring_Bps, SIM_CHUNK, &rules }, e));
    assert_true(t.n_runs == 1 && t.runs[0].chosen && t.runs[0].order == SIM_ORDER_FIXED);
    assert_close(t.runs[0].time_s, 7, 1e-12);
    assert_close(sum_lane(&t, 0, &n), 4, 1e-12);
    assert_int_equal(n, 2);
    assert_close(sum_lane(&t, 1, &n), 6, 1e-12);
    assert_close(t.runs[0].util_frac[0], 6 / 7.0, 1e-12);
}

/* 2.5 repeats of a second and an exchange: two that are as much longer. */
TEST(a_broken_repeat_is_stretched)
{
    KEEP(struct timeline, t, timeline_free);
    struct topo_network net;
    struct sim_rules rules;
    ring_of_four(&net);
    sim_rules_default(&rules);
    STEP_BEGIN(tree, "", &net);
    step_id body = inner(&tree, inner(&tree, -1, STEP_REPEAT, 2.5), STEP_SUM, 1);
    work(&tree, body, 1);
    scatter(&tree, body, 1);
    OK(timeline_build(&t, &tree, &(struct sim_way){ &net, ring_Bps, SIM_BANDWIDTH, &rules }, e));
    const double want[] = { 0, 1.25, 3.75, 5, 7.5 };
    assert_int_equal(t.n_bars, 4);
    for (int i = 0; i < 4; i++) {
        assert_close(t.bars[i].start_s + 1, want[i] + 1, 1e-14);
        assert_close(t.bars[i].end_s, want[i + 1], 1e-14);
    }
}

/* Exchanges of 2 s and of 6 s share one ring for 8 s: the second goes at the pace of both. */
TEST(what_waits_for_shared_links_ends_with_them)
{
    KEEP(struct timeline, t, timeline_free);
    struct topo_network net;
    struct sim_rules rules;
    int32_t n;
    ring_of_four(&net);
    sim_rules_default(&rules);
    STEP_BEGIN(tree, "", &net);
    step_id both = inner(&tree, -1, STEP_MAX, 1);
    scatter(&tree, both, 1);
    scatter(&tree, both, 3);
    OK(timeline_build(&t, &tree, &(struct sim_way){ &net, ring_Bps, SIM_BANDWIDTH, &rules }, e));
    assert_close(t.runs[0].time_s, 8, 1e-12);
    assert_close(sum_lane(&t, 0, &n), 8, 1e-12);
    assert_int_equal(n, 4);
    assert_true(t.bars[0].slot != t.bars[1].slot);
    assert_close(t.bars[3].end_s, 8, 1e-12);
}

/* A million layers of a second and an exchange: 64 are drawn, the others are one bar of compute and one of
 * the ring. Of a million different ones nothing can be folded. */
TEST(a_timeline_of_a_million_bars_is_folded_or_refused)
{
    struct topo_network net;
    struct sim_rules rules;
    ring_of_four(&net);
    sim_rules_default(&rules);
    for (int folded = 0; folded < 2; folded++) {
        KEEP(struct timeline, t, timeline_free);
        STEP_BEGIN(tree, "", &net);
        step_id body = inner(&tree, folded ? inner(&tree, -1, STEP_REPEAT, 1e6) : -1, STEP_SUM, 1);
        for (int i = 0; i < (folded ? 1 : 30000); i++) {
            work(&tree, body, 1);
            scatter(&tree, body, 1);
        }
        if (!folded) {
            FAILS(timeline_build(&t, &tree, &(struct sim_way){ &net, ring_Bps, SIM_BANDWIDTH, &rules }, e),
                  ERR_RANGE, "timeline: has more than 50000 bars with one of each repeat");
            continue;
        }
        OK(timeline_build(&t, &tree, &(struct sim_way){ &net, ring_Bps, SIM_BANDWIDTH, &rules }, e));
        int32_t n;
        assert_int_equal(t.n_bars, 2 * 65);
        assert_close(t.runs[0].n_folded, 2 * (1e6 - 64), 1e-12);
        assert_close(sum_lane(&t, 0, &n), 1e6, 1e-12);
        assert_close(sum_lane(&t, 1, &n), 2e6, 1e-12);
        assert_close(t.runs[0].time_s, 3e6, 1e-12);
    }
}

/* By start, then lane, cell, slot, end, node, job and chunk, strictly: files do not depend on how bars
 * came. Two all-reduces over two dimensions, one NPU slow, so that there are several cells. */
TEST(bars_stand_in_one_order)
{
    struct topo_network net;
    struct sim_rules rules;
    KEEP(struct step_tree, tree, step_free);
    KEEP(struct timeline, t, timeline_free);
    int32_t n_same_start = 0, cells = 0, dims = 0;
    OK(topo_parse_spec(&net, "ring:4@10 switch:4@25", e));
    const double bw_Bps[] = { net.dims[0].bw_Bps, net.dims[1].bw_Bps };
    sim_rules_default(&rules);
    rules.stage.chunks = 8;
    rules.active = 2;
    rules.n_slow = 1;
    rules.slow[0] = (struct sim_slow){ .at = { 1, 2 }, .dim = -1, .share = 0.5 };
    step_begin(&tree, "", &net);
    step_id both = step_add(&tree, -1, (struct step_node){ .kind = STEP_MAX });
    for (int i = 0; i < 2; i++)
        step_add(
            &tree, both,
            (struct step_node){
                .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_ALL_REDUCE, .bytes = 8e9, .times = 2 });
    OK(timeline_build(&t, &tree, &(struct sim_way){ &net, bw_Bps, SIM_CHUNK, &rules }, e));
    for (int32_t i = 0; i < t.n_bars; i++) {
        const struct timeline_bar *b = &t.bars[i], *a = b - 1;
        assert_true(b->ready_s <= b->start_s && b->start_s < b->end_s);
        cells = b->cell > cells ? b->cell : cells;
        dims = b->dim > dims ? b->dim : dims;
        if (i == 0 || a->run != b->run)
            continue;
        const double x[] = { a->start_s, a->lane, a->cell, a->slot, a->end_s, a->node, a->job, a->chunk },
                     y[] = { b->start_s, b->lane, b->cell, b->slot, b->end_s, b->node, b->job, b->chunk };
        size_t k = 0;
        while (k < COUNT_OF(x) && x[k] == y[k])
            k++;
        assert_true(k < COUNT_OF(x) && x[k] < y[k]);
        n_same_start += k > 0;
    }
    assert_true(n_same_start > 20 && cells > 1 && dims == 1);
}
