/* Every order beside a second simulator of one pool, written from events.h alone: no heaps, no kept lists;
 * what waits and runs is looked at anew at each event. All times are multiples of 1/8, so that both are exact
 * and ties are many. */
#include "sim/cluster/pace.h"
#include "sim/events/events.h"
#include "tests/settings.h"
#include "tests/unit/cluster_fixture.h"

enum { N = 9, POOL_CPUS = 10 };

struct sim_job {
    const struct job *job;
    double left_s, gpu_s, until_s; /* until_s: set up until then */
    double start_s, end_s, run_s, from_s, key[2];
    int32_t queue, stops;
    enum events_end end;
    bool passed;
};

struct sim {
    const struct events_settings *s;
    int32_t gpus; /* of the pool */
    double now_s, held_gpu_s;
    struct sim_job jobs[N];
    int32_t order[N], n_order;
    struct events_point points[400];
    int32_t n_points;
};

static bool sim_waits(const struct sim_job *j)
{
    return j->end == EVENTS_WAITS;
}

static double sim_free(const struct sim *x, bool cpus)
{
    double sum = cpus ? POOL_CPUS : x->gpus;
    for (int32_t i = 0; i < N; i++)
        if (x->jobs[i].end == EVENTS_RUNS)
            sum -= x->jobs[i].job->gpus * (cpus ? x->jobs[i].job->demand[1] : 1);
    return sum;
}

static bool sim_start(struct sim *x, struct sim_job *j)
{
    if (j->job->gpus > sim_free(x, false) || j->job->gpus * j->job->demand[1] > sim_free(x, true))
        return false;
    j->end = EVENTS_RUNS;
    j->from_s = x->now_s;
    j->until_s = x->now_s + (j->stops > 0 ? x->s->overhead_s : 0);
    j->start_s = isnan(j->start_s) ? x->now_s : j->start_s;
    return true;
}

/* Jobs of an end in the order of their keys, equal ones by number, into x->order. */
static void sim_sort(struct sim *x, bool waiting, bool running)
{
    x->n_order = 0;
    for (int32_t i = 0; i < N; i++) {
        struct sim_job *j = &x->jobs[i];
        const struct job *spec = j->job;
        int32_t at = x->n_order;
        double ideal_s = spec->iterations * spec->compute_s;
        if (!(waiting && sim_waits(j)) && !(running && j->end == EVENTS_RUNS))
            continue;
        double first = x->s->order == EVENTS_SJF       ? ideal_s
                       : x->s->order == EVENTS_SJF_GPU ? spec->gpus * ideal_s
                       : x->s->order == EVENTS_SRTF    ? j->left_s
                       : x->s->order != EVENTS_LAS     ? spec->submit_s
                       : x->s->las_queues > 0          ? j->queue
                                                       : j->gpu_s;
        j->key[0] = first;
        j->key[1] = spec->submit_s;
        for (; at > 0; at--) {
            const double *before = x->jobs[x->order[at - 1]].key;
            if (before[0] < first || (before[0] == first && before[1] <= spec->submit_s))
                break;
            x->order[at] = x->order[at - 1];
        }
        x->order[at] = i;
        x->n_order++;
    }
}

/* The first that waits; when it has its GPUs, and how many are spare then. */
static void sim_backfill(struct sim *x)
{
    double at_s = x->now_s, spare = sim_free(x, false) - x->jobs[x->order[0]].job->gpus;
    bool counted[N] = { false };
    while (spare < 0) {
        int32_t next = -1;
        for (int32_t i = 0; i < N; i++)
            if (x->jobs[i].end == EVENTS_RUNS && !counted[i] &&
                (next < 0 || x->jobs[i].left_s < x->jobs[next].left_s))
                next = i;
        assert_true(next >= 0);
        counted[next] = true;
        spare += x->jobs[next].job->gpus;
        at_s = x->now_s + x->jobs[next].left_s;
    }
    for (int32_t k = 1; k < x->n_order; k++) {
        struct sim_job *j = &x->jobs[x->order[k]];
        bool ends = x->now_s + j->left_s <= at_s;
        if ((ends || j->job->gpus <= spare) && sim_start(x, j) && !ends)
            spare -= j->job->gpus;
    }
}

/* Whoever finds room in the empty pool, in order, runs: all are stopped but for those. */
static void sim_walk_all(struct sim *x)
{
    double gpus = x->gpus, cpus = POOL_CPUS;
    bool runs[N] = { false };
    sim_sort(x, true, true);
    for (int32_t k = 0; k < x->n_order; k++) {
        const struct job *job = x->jobs[x->order[k]].job;
        if (job->gpus <= gpus && job->gpus * job->demand[1] <= cpus) {
            gpus -= job->gpus;
            cpus -= job->gpus * job->demand[1];
            runs[x->order[k]] = true;
        }
    }
    for (int32_t i = 0; i < N; i++)
        if (x->jobs[i].end == EVENTS_RUNS && !runs[i]) {
            x->jobs[i].end = EVENTS_WAITS;
            x->jobs[i].stops++;
        }
    for (int32_t i = 0; i < N; i++)
        if (sim_waits(&x->jobs[i]) && runs[i])
            assert_true(sim_start(x, &x->jobs[i]));
}

static bool sim_same_tenant(const struct job *a, const struct job *b)
{
    return a == b || (a->tenant >= 0 && a->tenant == b->tenant);
}

/* Of equal shares the tenant whose first job came first; of a tenant the job that did. Jobs are numbered in
 * order of submission. */
static void sim_fill(struct sim *x)
{
    for (int32_t i = 0; i < N; i++)
        x->jobs[i].passed = false;
    for (;;) {
        double least = INFINITY;
        int32_t best = -1;
        for (int32_t i = 0; i < N; i++) {
            struct sim_job *j = &x->jobs[i];
            double gpus = j->job->gpus, cpus = gpus * j->job->demand[1], weight = j->job->weight;
            bool head = sim_waits(j);
            for (int32_t k = N - 1; k >= 0; k--) {
                const struct sim_job *other = &x->jobs[k];
                if (!sim_same_tenant(other->job, j->job))
                    continue;
                weight = other->job->weight;
                head = head && !(k < i && sim_waits(other)) && !other->passed;
                gpus += other->end == EVENTS_RUNS ? other->job->gpus : 0;
                cpus += other->end == EVENTS_RUNS ? other->job->gpus * other->job->demand[1] : 0;
            }
            double share = fmax(gpus / x->gpus, cpus / POOL_CPUS) / weight;
            int32_t first = 0, best_first = 0;
            while (!sim_same_tenant(x->jobs[first].job, j->job))
                first++;
            while (best >= 0 && !sim_same_tenant(x->jobs[best_first].job, x->jobs[best].job))
                best_first++;
            if (head && (share < least || (share == least && first < best_first))) {
                least = share;
                best = i;
            }
        }
        if (best < 0)
            return;
        x->jobs[best].passed = !sim_start(x, &x->jobs[best]);
    }
}

static void sim_choose(struct sim *x)
{
    bool waits = false;
    for (int32_t i = 0; i < N; i++)
        waits = waits || sim_waits(&x->jobs[i]);
    if (!waits)
        return;
    if (x->s->order == EVENTS_SRTF || x->s->order == EVENTS_LAS) {
        sim_walk_all(x);
    } else if (x->s->order == EVENTS_DRF) {
        sim_fill(x);
    } else {
        sim_sort(x, true, false);
        for (int32_t k = 0; k < x->n_order; k++)
            if (!sim_start(x, &x->jobs[x->order[k]]) && x->s->order == EVENTS_FIFO)
                break;
        sim_sort(x, true, false);
        if (x->s->order == EVENTS_FIFO && x->s->backfill && x->n_order > 0)
            sim_backfill(x);
    }
}

/* When job @p j that runs falls to its next queue. */
static double sim_fall_s(const struct sim *x, const struct sim_job *j)
{
    bool falls = x->s->order == EVENTS_LAS && j->queue < x->s->las_queues - 1;
    return falls ? x->now_s + (x->s->las_at[j->queue] - j->gpu_s) / j->job->gpus : INFINITY;
}

static double sim_next_s(const struct sim *x)
{
    double next_s = INFINITY;
    bool waits = false, runs = false;
    for (int32_t i = 0; i < N; i++) {
        const struct sim_job *j = &x->jobs[i];
        waits = waits || sim_waits(j);
        runs = runs || j->end == EVENTS_RUNS;
        if (j->end == EVENTS_ABSENT)
            next_s = fmin(next_s, j->job->submit_s);
        if (j->end == EVENTS_RUNS)
            next_s = fmin(next_s, fmin(fmax(x->now_s, j->until_s) + j->left_s, sim_fall_s(x, j)));
    }
    if (x->s->order == EVENTS_LAS && x->s->las_queues == 0 && waits && runs)
        next_s = fmin(next_s, x->now_s + x->s->round_s);
    return next_s;
}

static void sim_pass(struct sim *x, double to_s)
{
    for (int32_t i = 0; i < N; i++) {
        struct sim_job *j = &x->jobs[i];
        if (j->end != EVENTS_RUNS)
            continue;
        j->left_s -= fmax(0, to_s - fmax(x->now_s, j->until_s));
        j->run_s += to_s - x->now_s;
        j->gpu_s += j->job->gpus * (to_s - x->now_s);
        x->held_gpu_s += j->job->gpus * (to_s - x->now_s);
    }
    x->now_s = to_s;
}

static void sim_run(struct sim *x)
{
    x->now_s = x->jobs[0].job->submit_s;
    for (double at_s; (at_s = sim_next_s(x)) <= x->s->horizon_s && isfinite(at_s);) {
        sim_pass(x, at_s);
        for (int32_t i = 0; i < N; i++) {
            struct sim_job *j = &x->jobs[i];
            if (j->end == EVENTS_RUNS && j->left_s == 0 && j->until_s <= at_s) {
                j->end = EVENTS_DONE;
                j->end_s = at_s;
            }
            if (j->end == EVENTS_ABSENT && j->job->submit_s <= at_s)
                j->end = EVENTS_WAITS;
            if (j->end == EVENTS_RUNS && sim_fall_s(x, j) <= at_s)
                j->queue++;
        }
        sim_choose(x);
        struct events_point p = { at_s, 0, 0, 0 };
        for (int32_t i = 0; i < N; i++) {
            p.gpus += x->jobs[i].end == EVENTS_RUNS ? x->jobs[i].job->gpus : 0;
            p.running += x->jobs[i].end == EVENTS_RUNS;
            p.waiting += sim_waits(&x->jobs[i]);
        }
        assert_in_range(x->n_points, 0, COUNT_OF(x->points) - 1);
        x->points[x->n_points++] = p;
    }
    if (isfinite(x->s->horizon_s))
        for (int32_t i = 0; i < N; i++)
            if (x->jobs[i].end != EVENTS_DONE) {
                sim_pass(x, x->s->horizon_s);
                break;
            }
}

/* All times are exact in both: nothing is compared within a tolerance but what is divided. */
static void assert_like(const struct events_result *r, const struct sim *x)
{
    double sums[2] = { 0 };
    int64_t stops = 0;
    int32_t n_done = 0;
    for (int32_t i = 0; i < N; i++) {
        const struct sim_job *want = &x->jobs[i];
        const struct events_job *got = &r->jobs[i];
        double all_s = want->job->iterations * want->job->compute_s;
        assert_int_equal(got->end, want->end);
        assert_int_equal(got->stops, want->stops);
        assert_near(got->run_s, want->run_s, 0);
        assert_near(got->iterations, (all_s - want->left_s) / want->job->compute_s, 0);
        assert_true(got->start_s == want->start_s || (isnan(got->start_s) && isnan(want->start_s)));
        assert_near(got->ideal_s, all_s, 0);
        stops += want->stops;
        if (want->end == EVENTS_DONE) {
            double jct_s = want->end_s - want->job->submit_s;
            assert_near(got->end_s, want->end_s, 0);
            assert_near(got->jct_s, jct_s, 0);
            assert_near(got->wait_s, jct_s - want->run_s, 0);
            assert_close(got->slowdown, jct_s / all_s, 1e-15);
            sums[0] += jct_s;
            sums[1] += jct_s - want->run_s;
            n_done++;
        } else {
            assert_true(isnan(got->end_s) && isnan(got->jct_s) && isnan(got->wait_s) && isnan(got->slowdown));
        }
    }
    assert_int_equal(r->n_done, n_done);
    assert_int_equal(r->stops, stops);
    assert_near(r->last_s, x->now_s, 0);
    assert_near(r->makespan_s, x->now_s - x->jobs[0].job->submit_s, 0);
    if (r->makespan_s > 0)
        assert_close(r->gpu_frac, x->held_gpu_s / (x->gpus * r->makespan_s), 1e-15);
    if (n_done > 0) {
        assert_close(r->mean_jct_s, sums[0] / n_done, 1e-15);
        assert_near(r->mean_wait_s, sums[1] / n_done, 1e-12);
    }
    assert_int_equal(r->n_events, x->n_points);
    assert_int_equal(r->n_points, x->n_points);
    for (int32_t i = 0; i < r->n_points; i++) {
        assert_near(r->points[i].time_s, x->points[i].time_s, 0);
        assert_int_equal(r->points[i].gpus, x->points[i].gpus);
        assert_int_equal(r->points[i].running, x->points[i].running);
        assert_int_equal(r->points[i].waiting, x->points[i].waiting);
    }
}

/* Gangs of 1, 2 and 4 keep GPU-seconds exact; submissions ascend, so that numbers are their order. */
static void draw_jobs(struct job jobs[N], struct rng *rng, bool with_cpus)
{
    double at_s = 1 + (double)rng_below(rng, 4);
    for (int32_t i = 0; i < N; i++) {
        jobs[i] = fixture_job(at_s, 1 << rng_below(rng, 3), 1 + (double)rng_below(rng, 12), 0.5);
        at_s += (double)rng_below(rng, 7) / 4;
        jobs[i].tenant = (int32_t)rng_below(rng, 4) - 1;
        jobs[i].weight = 1 + (double)rng_below(rng, 2);
        jobs[i].demand[1] = with_cpus ? (double)rng_below(rng, 3) : 0;
    }
}

/* Kinds of runs: each order but Gavel's (test_sim_types.c), then FIFO with backfilling, LAS without queues.
 */
TEST(every_order_is_what_a_second_simulator_says)
{
    enum { KINDS = EVENTS_DRF + 1 + 2, ROUNDS = 150 };
    static const char *const names[] = { "GPUs", "CPUs" };
    const struct pace_graph_settings speed = pace_graph_settings_default();
    int64_t stops = 0, cut = 0;
    RNG(rng, 5, 0);
    for (int32_t round = 0; round < ROUNDS * KINDS; round++) {
        int32_t kind = round % KINDS, gpus = 4 + (int32_t)rng_below(rng, 3);
        const double per_server[] = { gpus, POOL_CPUS, 0, 0 };
        const struct cluster_offer offer = { 2, names, per_server, true };
        struct events_settings s = events_settings_default();
        struct job jobs[N];
        struct topo_network net;
        struct pace pace;
        struct sim x = { .s = &s, .gpus = gpus };
        KEEP(struct cluster, c, cluster_free);
        KEEP(struct events_result, r, events_result_free);
        OK(topo_parse_spec(&net, "switch:2@10", e));
        OK(cluster_build(&c, &net, 0, &offer, e));
        s.order = kind == KINDS - 1 ? EVENTS_LAS : kind == KINDS - 2 ? EVENTS_FIFO : (enum events_order)kind;
        s.backfill = kind == KINDS - 2;
        s.las_queues = kind == KINDS - 1 ? 0 : 1 + (int32_t)rng_below(rng, 3);
        s.las_at[0] = 2 + (double)rng_below(rng, 4);
        s.las_at[1] = s.las_at[0] + 3;
        s.round_s = 1.25;
        s.overhead_s = (double)rng_below(rng, 3) / 4;
        s.horizon_s = rng_below(rng, 3) == 0 ? 5 + (double)rng_below(rng, 30) : INFINITY;
        s.keep_points = true;
        /* Backfilling reserves GPUs alone. */
        draw_jobs(jobs, rng, !s.backfill && round % 2);
        for (int32_t i = 0; i < N; i++)
            x.jobs[i] = (struct sim_job){ .job = &jobs[i],
                                          .left_s = jobs[i].iterations * jobs[i].compute_s,
                                          .start_s = NAN,
                                          .end = EVENTS_ABSENT };
        OK(pace_graph_build(&pace, &c, jobs, N, &speed, e));
        const struct events_problem p = { &c, jobs, N, &pace };
        OK(events_run(&r, &p, &s, e));
        pace.free(pace.x);
        sim_run(&x);
        assert_like(&r, &x);
        stops += r.stops;
        cut += r.n_done < N;
    }
    assert_true(stops > 500 && cut > 100);
}
