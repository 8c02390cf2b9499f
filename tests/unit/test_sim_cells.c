#include "sim/chunk/order.h"
#include "tests/unit/chunk_fixture.h"

static double slow_time(const struct draw *c, const struct sim_slow *slow, int32_t n_slow,
                        unsigned split_dims, const struct sim_job *job)
{
    struct topo_network net = build(&c->net);
    WITH(struct sim_rules, rules, rules_of(c->chunks, SIM_QUEUE_SMALLEST), rules.n_slow = n_slow);
    KEEP(struct chunk_sim *, x, chunk_free_at);
    for (int32_t i = 0; i < n_slow; i++)
        rules.slow[i] = slow[i];
    MUST(chunk_open(&x, &(struct sim_way){ &net, c->net.bw_Bps, SIM_CHUNK, &rules }, split_dims, 0, e));
    MUST(chunk_issue(x, job, 0, e));
    run_out(x);
    return chunk_result(x, 0)->end_s;
}

static struct sim_slow at_origin(double share, double late_s)
{
    return (
        struct sim_slow){ .at = { 0, 0, 0, 0, -1, -1, -1, -1 }, .dim = -1, .share = share, .late_s = late_s };
}

/* One for all, classes of NPUs, or every coordinate for itself: while none is slow the times are the same. */
TEST(one_stands_for_all_while_all_are_alike)
{
    RNG(r, 84, 0);
    for (int i = 0; i < 40; i++) {
        struct draw c = draw_case(r, i % 2);
        for (int32_t k = 0; k < c.net.n_dims; k++)
            c.net.size[k] = c.net.size[k] > 4 ? 4 : c.net.size[k];
        struct topo_network net = build(&c.net);
        struct sim_job job = whole(&net, c.kind, c.bytes, i % 3 ? SIM_ORDER_MINMAX : SIM_ORDER_THEMIS);
        struct sim_slow none = at_origin(1, 0);
        double alike_s = slow_time(&c, NULL, 0, 0, &job);
        assert_close(slow_time(&c, &none, 1, 0, &job), alike_s, 1e-12);
        assert_close(slow_time(&c, &none, 1, 15, &job), alike_s, 1e-12);
    }
}

TEST(a_slow_npu_makes_its_groups_wait)
{
    struct draw c = { .net = { 2, { 4, 4 }, { 4, 1 }, { 0 } }, .chunks = 1 };
    struct topo_network net = build(&c.net);
    struct sim_job job = whole(&net, COLLECTIVE_ALL_REDUCE, 16, SIM_ORDER_FIXED);
    struct sim_slow slow = at_origin(0.5, 0), late = at_origin(1, 5);
    /* One chunk: 3 + 3 + 3 + 3 s; half the bandwidth of one NPU doubles every stage that it is in, and the
     * last stage on the second ring is over everywhere else before. */
    assert_close(slow_time(&c, &slow, 1, 0, &job), 24, 1e-14);
    assert_close(slow_time(&c, &late, 1, 0, &job), 17, 1e-14);
    for (slow.dim = 0; slow.dim < 2; slow.dim++)
        assert_close(slow_time(&c, &slow, 1, 0, &job), 18, 1e-14);
    /* Groups of two within the first ring: the pair of the slow one is slow, the others are not waited for.
     */
    job.members[0] = 2;
    job.members[1] = 1;
    slow = at_origin(0.25, 0);
    double alone_s = slow_time(&c, NULL, 0, 1, &job);
    assert_close(slow_time(&c, &slow, 1, 1, &job), 4 * alone_s, 1e-14);
}

/* In a ring of the second dimension either all are slow or all are late, never both. */
TEST(a_rule_for_coordinate_0_is_not_for_all)
{
    struct draw c = { .net = { 2, { 2, 4 }, { 4, 4 }, { 0 } }, .chunks = 1 };
    struct topo_network net = build(&c.net);
    struct sim_job job = whole(&net, COLLECTIVE_ALL_REDUCE, 16, SIM_ORDER_FIXED);
    job.members[0] = 1;
    double alone_s = slow_time(&c, NULL, 0, 0, &job);
    for (int32_t first = 0; first < 2; first++) {
        struct sim_slow both[2] = {
            { .at = { first, -1, -1, -1, -1, -1, -1, -1 }, .dim = -1, .share = 0.5 },
            { .at = { 1 - first, -1, -1, -1, -1, -1, -1, -1 },
              .dim = -1,
              .share = 1,
              .late_s = 0.75 * alone_s },
        };
        assert_close(slow_time(&c, both, 2, 0, &job), 2 * alone_s, 1e-14);
    }
}

/* In whatever order they are given, and one of them twice: the slowest of a ring decides, and the latest. */
TEST(slow_npus_may_be_given_in_any_order)
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    static const int32_t at[] = { 3, 1, 4 };
    struct draw c = { .net = { 1, { 6 }, { 4 }, { 0 } }, .chunks = 1 };
    struct topo_network net = build(&c.net);
    struct sim_job job = whole(&net, COLLECTIVE_ALL_REDUCE, 16, SIM_ORDER_FIXED);
    double alone_s = slow_time(&c, NULL, 0, 0, &job);
    for (int which = 0; which < 3; which++)
        for (size_t o = 0; o < COUNT_OF(orders); o++) {
            struct sim_slow slow[4];
            for (int i = 0; i < 3; i++) {
                slow[i] = at_origin(orders[o][i] == which ? 0.25 : 0.75, orders[o][i] == which ? 0 : 1);
                slow[i].at[0] = at[orders[o][i]];
            }
            slow[3] = slow[o % 3];
            assert_close(slow_time(&c, slow, 4, 0, &job), 1 + 4 * alone_s, 1e-14);
        }
    struct sim_rules rules = rules_of(1, SIM_QUEUE_FIFO);
    KEEP(struct cells, cells, cells_free);
    rules.n_slow = 3;
    for (int i = 0; i < 3; i++) {
        rules.slow[i] = at_origin(0.5 + i / 8.0, i);
        rules.slow[i].at[0] = at[i];
    }
    OK(cells_build(&cells, &net, &rules, 0, e));
    assert_int_equal(cells.n, 4); /* 1, 3, 4 and the others */
    static const double share[] = { 0.625, 0.5, 0.75, 1 }, late_s[] = { 1, 0, 2, 0 };
    for (int32_t k = 0; k < 4; k++)
        assert_true(cells_share(&cells, 0, k) == share[k] && cells_late(&cells, k) == late_s[k]);
}

/* With everything slow to the same share, it is a network of that much bandwidth. */
TEST(all_slow_is_a_slower_network)
{
    struct draw c = { .net = { 3, { 4, 2, 4 }, { 8, 4, 2 }, { 0 } }, .chunks = 8 }, half = c;
    struct topo_network net = build(&c.net);
    struct sim_job job = whole(&net, COLLECTIVE_ALL_REDUCE, 512, SIM_ORDER_FIXED);
    struct sim_slow all = { .at = { -1, -1, -1 }, .dim = -1, .share = 0.5 };
    for (int k = 0; k < 3; k++)
        half.net.bw_Bps[k] /= 2;
    assert_close(slow_time(&c, &all, 1, 0, &job), slow_time(&half, NULL, 0, 0, &job), 1e-14);
}

TEST(too_many_classes_are_refused)
{
    struct draw c = { .net = { 4, { 32, 32, 32, 32 }, { 1, 1, 1, 1 }, { 0 } }, .chunks = 1 };
    struct topo_network net = build(&c.net);
    WITH(struct sim_rules, rules, rules_of(1, SIM_QUEUE_FIFO), rules.n_slow = 1,
         rules.slow[0] = at_origin(0.5, 0));
    struct chunk_sim *x;
    FAILS(chunk_open(&x, &(struct sim_way){ &net, c.net.bw_Bps, SIM_CHUNK, &rules }, 15, 0, e), ERR_RANGE,
          "classes");
    assert_null(x);
}

/* ---- against one list, looked through whole at every event ---- */

enum { PLAIN_JOBS = 4, PLAIN_CHUNKS = 3, PLAIN_MAX = 4000 };

/* One stage of one chunk at one team, from when it is ready. */
struct plain_item {
    int32_t job, chunk, stage, dim;
    struct team team;
    double full_B, ready_s, start_s, end_s;
    bool started, ended;
};

struct plain {
    struct cells cells;
    struct sim_rules rules;
    struct sim_job jobs[PLAIN_JOBS];
    struct stage stages[PLAIN_JOBS][STAGE_MAX];
    int32_t n_stages[PLAIN_JOBS], n;
    int32_t there[PLAIN_JOBS][PLAIN_CHUNKS][STAGE_MAX][16];
    bool busy[D][16];
    struct plain_item items[PLAIN_MAX]; /* shape [n], in order of arrival */
};

static void plain_arrive(struct plain *p, int32_t job, int32_t chunk, int32_t stage, int32_t cell,
                         double now_s)
{
    const struct stage *s = &p->stages[job][stage];
    struct team team =
        cells_team(&p->cells, s->dim, cell, p->jobs[job].members[s->dim], p->jobs[job].stride[s->dim]);
    if (++p->there[job][chunk][stage][team.first] < team.n)
        return;
    assert_true(p->n < PLAIN_MAX);
    p->items[p->n++] = (struct plain_item){ .job = job,
                                            .chunk = chunk,
                                            .stage = stage,
                                            .dim = s->dim,
                                            .team = team,
                                            .full_B = s->full_B,
                                            .ready_s = now_s };
}

/* Whether item a is served before b. */
static bool plain_before(const struct plain *p, int32_t a, int32_t b)
{
    int32_t pa = p->jobs[p->items[a].job].priority, pb = p->jobs[p->items[b].job].priority;
    double fa = p->items[a].full_B, fb = p->items[b].full_B;
    if (pa != pb)
        return pa > pb;
    if (p->rules.queue == SIM_QUEUE_SMALLEST && (fa < fb || fb < fa))
        return fa < fb;
    return p->rules.queue == SIM_QUEUE_LIFO ? a > b : a < b;
}

/* Start the first that can; false when none can. */
static bool plain_start(struct plain *p, const double *bw_Bps, double now_s)
{
    int32_t best = -1;
    double share = INFINITY;
    for (int32_t i = 0; i < p->n; i++) {
        const struct plain_item *it = &p->items[i];
        bool can = !it->started;
        for (int32_t k = 0; can && k < it->team.n; k++)
            can = !p->busy[it->dim][it->team.first + k * it->team.step];
        if (can && (best < 0 || plain_before(p, i, best)))
            best = i;
    }
    if (best < 0)
        return false;
    struct plain_item *it = &p->items[best];
    const struct stage *s = &p->stages[it->job][it->stage];
    for (int32_t k = 0, cell = it->team.first; k < it->team.n; k++, cell += it->team.step) {
        share = fmin(share, cells_share(&p->cells, it->dim, cell));
        p->busy[it->dim][cell] = true;
    }
    it->started = true;
    it->start_s = now_s;
    it->end_s = now_s + (s->const_s + s->load_B / (share * bw_Bps[it->dim]));
    return true;
}

/* Of those that end by `until_s`, the first in order of job, chunk, stage and cell; NULL. */
static struct plain_item *plain_ending(struct plain *p, double until_s)
{
    struct plain_item *best = NULL;
    int64_t best_rank = 0;
    for (int32_t i = 0; i < p->n; i++) {
        struct plain_item *it = &p->items[i];
        int64_t rank =
            (((int64_t)it->job * PLAIN_CHUNKS + it->chunk) * STAGE_MAX + it->stage) * 16 + it->team.first;
        if (it->started && !it->ended && it->end_s <= until_s && (!best || rank < best_rank)) {
            best = it;
            best_rank = rank;
        }
    }
    return best;
}

/* Run out, and hold each end against the slices of `x`. */
static void plain_run(struct plain *p, const double *bw_Bps, const struct chunk_sim *x)
{
    int64_t n, k = 0;
    const struct chunk_slice *slices = chunk_slices(x, &n);
    for (double now_s = 0;;) {
        double next_s = INFINITY;
        while (plain_start(p, bw_Bps, now_s))
            continue;
        for (int32_t i = 0; i < p->n; i++)
            if (p->items[i].started && !p->items[i].ended)
                next_s = fmin(next_s, p->items[i].end_s);
        if (isinf(next_s))
            break;
        double until_s = next_s + 1e-12 * next_s;
        for (int32_t i = 0; i < p->n; i++)
            if (p->items[i].started && !p->items[i].ended && p->items[i].end_s <= until_s)
                now_s = fmax(now_s, p->items[i].end_s);
        for (struct plain_item *it; (it = plain_ending(p, until_s));) {
            it->ended = true;
            for (int32_t m = 0, cell = it->team.first; m < it->team.n; m++, cell += it->team.step, k++) {
                assert_true(k < n && slices[k].job == it->job && slices[k].chunk == it->chunk &&
                            slices[k].cell == cell && slices[k].ready_s == it->ready_s &&
                            slices[k].start_s == it->start_s && slices[k].end_s == it->end_s);
                p->busy[it->dim][cell] = false;
                if (it->stage + 1 < p->n_stages[it->job])
                    plain_arrive(p, it->job, it->chunk, it->stage + 1, cell, now_s);
            }
        }
    }
    assert_int_equal(k, n);
}

/* Members and strides differ from job to job, so that teams overlap. */
static void draw_job(struct sim_job *job, struct rng *r, const struct topo_network *net, const struct draw *c)
{
    *job = whole(net, c->kind, rng_below(r, 2) ? c->bytes : 2 * c->bytes, SIM_ORDER_FIXED);
    job->priority = (int32_t)rng_below(r, 2);
    for (int32_t d = 0; d < net->n_dims; d++) {
        job->members[d] = rng_below(r, 2) ? 4 : 2;
        job->stride[d] = job->members[d] == 2 && rng_below(r, 2) ? 2 : 1;
    }
}

static void compare_with_one_list(struct plain *p, struct rng *r)
{
    WITH(struct draw, c, draw_case(r, rng_below(r, 2)), c.net.n_dims = 2, c.net.size[0] = c.net.size[1] = 4);
    KEEP(struct chunk_sim *, x, chunk_free_at);
    struct topo_network net = build(&c.net);
    *p = (struct plain){ .rules = rules_of(PLAIN_CHUNKS, (enum sim_queue)rng_below(r, N_SIM_QUEUES)) };
    p->rules.n_slow = 1;
    p->rules.slow[0] = at_origin(rng_below(r, 2) ? 0.5 : rng_log_range(r, 0.1, 1), 0);
    MUST(cells_build(&p->cells, &net, &p->rules, 3, e));
    assert_int_equal(p->cells.n, 16);
    MUST(chunk_open(&x, &(struct sim_way){ &net, c.net.bw_Bps, SIM_CHUNK, &p->rules }, 3, INT32_MAX, e));
    for (int32_t j = 0; j < PLAIN_JOBS; j++) {
        draw_job(&p->jobs[j], r, &net, &c);
        p->n_stages[j] = stage_list(p->stages[j], c.kind, p->jobs[j].bytes / PLAIN_CHUNKS, p->jobs[j].members,
                                    p->jobs[j].stride, p->jobs[j].share, NULL,
                                    &(struct collective_way){ &net, &p->rules.stage, c.net.bw_Bps });
        MUST(chunk_issue(x, &p->jobs[j], 0, e));
        for (int32_t cell = 0; cell < 16; cell++)
            for (int32_t chunk = 0; chunk < PLAIN_CHUNKS; chunk++)
                plain_arrive(p, j, chunk, 0, cell, 0);
    }
    run_out(x);
    plain_run(p, c.net.bw_Bps, x);
    cells_free(&p->cells);
}

TEST(queues_of_teams_serve_as_one_list_would)
{
    KEEP(struct plain *, p, free_at) = malloc(sizeof *p);
    assert_non_null(p);
    RNG(r, 86, 0);
    for (int i = 0; i < 40; i++)
        compare_with_one_list(p, r);
}
