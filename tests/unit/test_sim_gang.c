#include "sim/batch/batch.h"
#include "tests/unit/batch_fixture.h"

static void gpus_and_seats_are_numbered_through(void **state)
{
    struct batch_fixture f;
    struct gang_plan plan;
    struct gang g;
    struct err e = { 0 };
    (void)state;
    batch_fixture_cluster(&f, 3, (const int32_t[]){ 2, 3, 1 });
    batch_fixture_add(&f, batch_fixture_job(2, 1));
    batch_fixture_add(&f, batch_fixture_job(5, 1));
    batch_fixture_add(&f, batch_fixture_job(1, 1));
    assert_ok(gang_build(&g, &f.p, &e), &e);
    assert_int_equal(g.n_gpus, 6);
    assert_int_equal(g.most_gpus, 5);
    assert_memory_equal(g.server_gpu, ((int32_t[]){ 0, 2, 5, 6 }), 4 * sizeof(int32_t));
    assert_memory_equal(g.gpu_server, ((int32_t[]){ 0, 0, 1, 1, 1, 2 }), 6 * sizeof(int32_t));
    assert_memory_equal(g.seat, ((int32_t[]){ 0, 2, 7, 8 }), 4 * sizeof(int32_t));
    assert_ok(gang_plan_build(&plan, &g, &e), &e);
    memset(plan.order, 0, 3 * sizeof *plan.order);
    memset(plan.gpus, 0, 8 * sizeof *plan.gpus);
    gang_plan_free(&plan);
    gang_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_and_seats_are_numbered_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
