/* One replica on one NPU, against the same model spread by data parallelism over networks. */
#include "explore/gossip_job.h"
#include "tests/unit/training_fixture.h"

static void read_text(struct yaml_doc *doc, const char *text)
{
    struct err e = { 0 };
    assert_ok(yaml_read_text(doc, "job.yaml", text, strlen(text), &e), &e);
}

#define SMALL "model: { name: small, layers: 4, hidden: 512, heads: 8, ffn: 2048, vocab: 1000, seq: 128 }\n"

/* Each of 8 NPUs does with 16 sequences what one does alone with them; only collectives come on top. */
static void a_job_takes_the_step_of_data_parallelism_without_its_collectives(void **state)
{
    const double nothing_s[PLAN_MAX_COLLECTIVES] = { 0 };
    struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    struct yaml_doc one, all;
    struct gossip_job job;
    struct training x;
    struct err e = { 0 };
    (void)state;
    read_text(&one, SMALL "parallel: { batch: 16, micro_batch: 2 }\n");
    read_text(&all, SMALL "parallel: { dp: 8, batch: 128, micro_batch: 2 }\n");
    assert_ok(gossip_job_read(&job, &one, one.root, &net.npu, &e), &e);
    assert_ok(training_read(&x, &all, all.root, &net, &e), &e);
    assert_string_equal(job.model, "small");
    assert_close(job.step_s, plan_cost_time(&x.cost, nothing_s), 1e-12);
    assert_true(job.step_s > 0 && job.missing_B < 0);
    yaml_free(&one);
    yaml_free(&all);
}

/* 12 h^2 l weights, and (2 vocab + seq) h of embeddings and head, to 1 %: norms and biases are left out, 4
 * bytes of gradient each or 2. */
static void a_model_is_its_parameters_times_the_bytes_of_a_gradient(void **state)
{
    struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    struct yaml_doc four, two;
    struct gossip_job a, b;
    struct err e = { 0 };
    (void)state;
    read_text(&four, SMALL "parallel: { batch: 1, grad_B: 4 }\n");
    read_text(&two, SMALL "parallel: { batch: 1, grad_B: 2 }\n");
    assert_ok(gossip_job_read(&a, &four, four.root, &net.npu, &e), &e);
    assert_ok(gossip_job_read(&b, &two, two.root, &net.npu, &e), &e);
    double weights = 12 * 512.0 * 512 * 4 + (2 * 1000 + 128) * 512.0;
    assert_true(a.model_B == 2 * b.model_B);
    assert_close(a.model_B, 4 * weights, 0.01);
    yaml_free(&four);
    yaml_free(&two);
}

static void what_does_not_fit_on_one_npu_is_refused(void **state)
{
    struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    struct yaml_doc doc;
    struct gossip_job job;
    struct err e = { 0 };
    (void)state;
    read_text(&doc, SMALL "parallel: { tp: 2, batch: 16 }\n");
    assert_fails(gossip_job_read(&job, &doc, doc.root, &net.npu, &e), &e, ERR_RANGE, "tp");
    assert_true(job.step_s == 0);
    yaml_free(&doc);
    read_text(&doc, SMALL "parallel: { batch: 16 }\n");
    net.npu.peak_flops = NAN;
    assert_fails(gossip_job_read(&job, &doc, doc.root, &net.npu, &e), &e, ERR_RANGE,
                 "needs network.npu.peak_TFLOPS, which is not given");
    yaml_free(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_takes_the_step_of_data_parallelism_without_its_collectives),
        cmocka_unit_test(a_model_is_its_parameters_times_the_bytes_of_a_gradient),
        cmocka_unit_test(what_does_not_fit_on_one_npu_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
