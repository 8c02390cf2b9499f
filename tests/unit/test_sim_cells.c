#include "tests/unit/chunk_fixture.h"

static double slow_time(const struct draw *c, const struct sim_slow *slow, int32_t n_slow,
                        unsigned split_dims, const struct sim_job *job)
{
    struct topo_network net = build(&c->net);
    struct sim_rules rules = rules_of(c->chunks, SIM_QUEUE_SMALLEST);
    struct chunk_sim *x;
    struct err e = { 0 };
    rules.n_slow = n_slow;
    for (int32_t i = 0; i < n_slow; i++)
        rules.slow[i] = slow[i];
    assert_ok(chunk_open(&x, &net, c->net.bw_Bps, &rules, split_dims, false, &e), &e);
    assert_ok(chunk_issue(x, job, 0, &e), &e);
    run_out(x);
    double end_s = chunk_result(x, 0)->end_s;
    chunk_free(x);
    return end_s;
}

static struct sim_slow at_origin(double share, double late_s)
{
    return (
        struct sim_slow){ .at = { 0, 0, 0, 0, -1, -1, -1, -1 }, .dim = -1, .share = share, .late_s = late_s };
}

/* One for all, classes of NPUs, or every coordinate for itself: while none is slow the times are the same. */
static void one_stands_for_all_while_all_are_alike(void **state)
{
    struct rng *r;
    struct err e = { 0 };
    (void)state;
    assert_ok(rng_build(&r, 84, 0, &e), &e);
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
    rng_free(r);
}

static void a_slow_npu_makes_its_groups_wait(void **state)
{
    struct draw c = { .net = { 2, { 4, 4 }, { 4, 1 }, { 0 } }, .chunks = 1 };
    struct topo_network net = build(&c.net);
    struct sim_job job = whole(&net, COLLECTIVE_ALL_REDUCE, 16, SIM_ORDER_FIXED);
    struct sim_slow slow = at_origin(0.5, 0), late = at_origin(1, 5);
    (void)state;
    /* One chunk: 3 + 3 + 3 + 3 s; half the bandwidth of one NPU doubles every stage that it is in, and the
     * last stage on the second ring is over everywhere else before. */
    assert_close(slow_time(&c, &slow, 1, 0, &job), 24, 1e-14);
    assert_close(slow_time(&c, &late, 1, 0, &job), 17, 1e-14);
    slow.dim = 1;
    assert_close(slow_time(&c, &slow, 1, 0, &job), 18, 1e-14);
    /* Groups of two within the first ring: the pair of the slow one is slow, the others are not waited for.
     */
    job.members[0] = 2;
    job.members[1] = 1;
    slow = at_origin(0.25, 0);
    double alone_s = slow_time(&c, NULL, 0, 1, &job);
    assert_close(slow_time(&c, &slow, 1, 1, &job), 4 * alone_s, 1e-14);
}

/* With everything slow to the same share, it is a network of that much bandwidth. */
static void all_slow_is_a_slower_network(void **state)
{
    struct draw c = { .net = { 3, { 4, 2, 4 }, { 8, 4, 2 }, { 0 } }, .chunks = 8 }, half = c;
    struct topo_network net = build(&c.net);
    struct sim_job job = whole(&net, COLLECTIVE_ALL_REDUCE, 512, SIM_ORDER_FIXED);
    struct sim_slow all = { .at = { -1, -1, -1 }, .dim = -1, .share = 0.5 };
    (void)state;
    for (int k = 0; k < 3; k++)
        half.net.bw_Bps[k] /= 2;
    assert_close(slow_time(&c, &all, 1, 0, &job), slow_time(&half, NULL, 0, 0, &job), 1e-14);
}

static void too_many_classes_are_refused(void **state)
{
    struct draw c = { .net = { 4, { 32, 32, 32, 32 }, { 1, 1, 1, 1 }, { 0 } }, .chunks = 1 };
    struct topo_network net = build(&c.net);
    struct sim_rules rules = rules_of(1, SIM_QUEUE_FIFO);
    struct chunk_sim *x;
    struct err e = { 0 };
    (void)state;
    rules.n_slow = 1;
    rules.slow[0] = at_origin(0.5, 0);
    assert_fails(chunk_open(&x, &net, c.net.bw_Bps, &rules, 15, false, &e), &e, ERR_RANGE, "classes");
    assert_null(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stands_for_all_while_all_are_alike),
        cmocka_unit_test(a_slow_npu_makes_its_groups_wait),
        cmocka_unit_test(all_slow_is_a_slower_network),
        cmocka_unit_test(too_many_classes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
