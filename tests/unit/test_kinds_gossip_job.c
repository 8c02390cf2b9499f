/* One replica on one NPU, against the same model spread by data parallelism over networks; and what a study
 * makes of it. */
#include "kinds/gossip/gossip.h"
#include "tests/unit/gossip_tables.h"
#include "tests/unit/training_fixture.h"

static void read_text(struct yaml_doc *doc, const char *text)
{
    MUST(yaml_read_text(doc, "job.yaml", text, strlen(text), e));
}

#define JOB_MODEL "{ name: small, layers: 4, hidden: 512, heads: 8, ffn: 2048, vocab: 1000, seq: 128 }"
#define MODEL     "model: " JOB_MODEL "\n"

/* Each of 8 NPUs does with 16 sequences what one does alone with them; only collectives come on top. */
TEST(a_job_takes_the_step_of_data_parallelism_without_its_collectives)
{
    const double nothing_s[PLAN_MAX_COLLECTIVES] = { 0 };
    struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    KEEP(struct yaml_doc, one, yaml_free);
    KEEP(struct yaml_doc, all, yaml_free);
    struct gossip_job job;
    struct training x;
    read_text(&one, MODEL "parallel: { batch: 16, micro_batch: 2 }\n");
    read_text(&all, MODEL "parallel: { dp: 8, batch: 128, micro_batch: 2 }\n");
    OK(gossip_point_read_job(&job, &one, one.root, &net.npu, e));
    OK(training_read(&x, &all, all.root, &net, e));
    assert_string_equal(job.model, "small");
    assert_close(job.step_s, plan_cost_time(&x.cost, nothing_s, NULL), 1e-12);
    assert_true(job.step_s > 0 && job.missing_B < 0);
}

/* 12 h^2 l weights, and (2 vocab + seq) h of embeddings and head, to 1 %: norms and biases are left out, 4
 * bytes of gradient each or 2. */
TEST(a_model_is_its_parameters_times_the_bytes_of_a_gradient)
{
    struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    KEEP(struct yaml_doc, four, yaml_free);
    KEEP(struct yaml_doc, two, yaml_free);
    struct gossip_job a, b;
    read_text(&four, MODEL "parallel: { batch: 1, grad_B: 4 }\n");
    read_text(&two, MODEL "parallel: { batch: 1, grad_B: 2 }\n");
    OK(gossip_point_read_job(&a, &four, four.root, &net.npu, e));
    OK(gossip_point_read_job(&b, &two, two.root, &net.npu, e));
    double weights = 12 * 512.0 * 512 * 4 + (2 * 1000 + 128) * 512.0;
    assert_true(a.model_B == 2 * b.model_B);
    assert_close(a.model_B, 4 * weights, 0.01);
}

TEST(what_does_not_fit_on_one_npu_is_refused)
{
    struct topo_network net = fixture_network((const int32_t[]){ 8 }, 1);
    struct yaml_doc doc;
    struct gossip_job job;
    read_text(&doc, MODEL "parallel: { tp: 2, batch: 16 }\n");
    FAILS(gossip_point_read_job(&job, &doc, doc.root, &net.npu, e), ERR_RANGE, "tp");
    assert_true(job.step_s == 0);
    yaml_free(&doc);
    read_text(&doc, MODEL "parallel: { batch: 16 }\n");
    net.npu.peak_flops = NAN;
    FAILS(gossip_point_read_job(&job, &doc, doc.root, &net.npu, e), ERR_RANGE,
          "needs network.npu.peak_TFLOPS, which is not given");
    yaml_free(&doc);
}

/* ---- in a study ---- */

#define ONE     "network: switch:4@1\ndata: { train: 400, test: 100 }\n"
#define JOB_NPU "{ name: one, peak_TFLOPS: 100, flash_efficiency: 0.5, mem_GBps: 1000, mem_GB: 2 }"
#define JOB     "job: { model: " JOB_MODEL ", npu: npu.yaml, parallel: { batch: 16, micro_batch: 2 } }\n"

static void put_npu(struct folder *f)
{
    put(f, "npu.yaml", "name: one\npeak_TFLOPS: 100\nflash_efficiency: 0.5\nmem_GBps: 1000\nmem_GB: 2\n");
}

static int read_study(struct gossip_point *p, struct folder *f, const char *text, struct err *e)
{
    put(f, "study.yaml", text);
    return gossip_point_read(p, &(struct study_source){ .path = f->path }, e);
}

static void read_point(struct gossip_point *p, struct folder *f, const char *text)
{
    MUST(read_study(p, f, text, e));
}

/* The point of the study of a text, which is sound. */
#define POINT(p, text)                                                                                       \
    KEEP(struct gossip_point, p, gossip_point_free);                                                         \
    read_point(&p, *state, text)

TEST_WITH(a_job_gives_the_step_and_the_bytes, make_folder, remove_folder)
{
    struct yaml_doc doc;
    struct gossip_job job;
    struct topo_npu none;
    struct gossip_point p;
    static const char map[] =
        "{ model: " JOB_MODEL ", npu: " JOB_NPU ", parallel: { batch: 16, micro_batch: 2 } }";
    char text[GOSSIP_JOB_TEXT];
    topo_npu_defaults(&none);
    OK(yaml_read_text(&doc, "job.yaml", map, strlen(map), e));
    OK(gossip_point_read_job(&job, &doc, doc.root, &none, e));
    yaml_free(&doc);
    put_npu(*state);
    read_point(&p, *state, ONE JOB);
    assert_true(p.clock.step_s == job.step_s && p.model_B == job.model_B && job.step_s > 0);
    assert_true(gossip_point_wire_B(&p) == job.model_B);
    assert_string_equal(gossip_point_job_text(text, &p.job), "small on one");
    gossip_point_free(&p);
    read_point(&p, *state, ONE);
    assert_true(p.clock.step_s == 0.01 && gossip_point_wire_B(&p) == 4 * p.net.n_params && !p.job.model[0]);
    gossip_point_free(&p);
}

/* As --set and axes do: a file in place of a file, and keys inside files. Twice the work takes twice as long,
 * but for what a step takes whatever its size. */
TEST_WITH(overrides_reach_into_a_job, make_folder, remove_folder)
{
    static const struct study_override sets[] = { { "job.npu.peak_TFLOPS", "1" },
                                                  { "job.parallel.batch", "32" },
                                                  { "job.model.layers", "2" } };
    struct folder *f = *state;
    struct gossip_point q;
    KEEP(struct gossip_point, p, gossip_point_free);
    put_npu(f);
    read_point(&p, f, ONE JOB);
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        put(f, "study.yaml", ONE JOB);
        struct study_source from = { .path = f->path, .overrides = &sets[i], .n = 1 };
        OK(gossip_point_read(&q, &from, e));
        assert_true(i == 2 ? q.clock.step_s < p.clock.step_s : q.clock.step_s > p.clock.step_s);
        assert_true(i == 2 ? q.model_B < p.model_B : q.model_B == p.model_B);
        gossip_point_free(&q);
    }
    put(f, "slow.yaml", "name: slow\npeak_TFLOPS: 1\nflash_efficiency: 0.5\nmem_GBps: 1000\nmem_GB: 2\n");
    put(f, "study.yaml", ONE JOB);
    const struct study_override axis = { "job.npu", "slow.yaml" };
    struct study_source from = { .path = f->path, .axes = &axis, .n_axes = 1 };
    OK(gossip_point_read(&q, &from, e));
    assert_string_equal(q.job.npu, "slow");
    assert_true(q.clock.step_s > p.clock.step_s);
    gossip_point_free(&q);
}

TEST_WITH(the_npu_of_the_network_is_a_jobs_where_it_has_none, make_folder, remove_folder)
{
    put_npu(*state);
    POINT(p, ONE JOB);
    POINT(q, "network: { npu: npu.yaml, dims: [{ shape: switch, size: 4, bw_GBps: 1 }] }\n"
             "data: { train: 400, test: 100 }\n"
             "job: { model: " JOB_MODEL ", parallel: { batch: 16, micro_batch: 2 } }\n");
    assert_true(p.clock.step_s == q.clock.step_s);
    assert_string_equal(q.job.npu, "one");
}

TEST_WITH(a_job_that_does_not_fit_is_told, make_folder, remove_folder)
{
    struct gossip_point p;
    put_npu(*state);
    read_point(&p, *state, ONE JOB "methods: [pair]\n");
    assert_true(p.job.missing_B < 0 && p.notes.n == 0);
    gossip_point_free(&p);
    read_point(&p, *state,
               ONE "job: { model: " JOB_MODEL ", npu: { peak_TFLOPS: 100, mem_GBps: 1000, mem_GB: 0.1 }, "
                   "parallel: { batch: 16, micro_batch: 2 } }\nmethods: [pair]\n");
    assert_true(p.job.missing_B > 0);
    assert_has(text_str(&p.notes), "study.yaml:3:1: job does not fit: it lacks ");
    gossip_point_free(&p);
}

TEST_WITH(what_is_wrong_with_a_job_is_said_where_it_stands, make_folder, remove_folder)
{
    static const struct refusal cases[] = {
        { ONE JOB "model_MB: 3\n", ERR_PARSE, ":4:1: model_MB is given with job; give one of them" },
        { ONE JOB "clock: { step_ms: 3 }\n", ERR_PARSE,
          ":4:10: clock.step_ms is given with job; give one of them" },
        { ONE "job: small\n", ERR_PARSE, ":3:6: job is small, expected a map" },
        { ONE "job: { parallel: { batch: 1 } }\n", ERR_PARSE, "job has no model" },
        { ONE "job: { model: " JOB_MODEL " }\n", ERR_PARSE, "job has no parallel" },
        { ONE "job: { model: " JOB_MODEL ", parallel: { batch: 1 } }\n", ERR_RANGE,
          ":3:8: job.model needs network.npu.peak_TFLOPS, which is not given" },
        { ONE "job: { model: " JOB_MODEL ", npu: { peak_TFLOPS: 1 }, parallel: { batch: 1 } }\n", ERR_RANGE,
          "job.npu has no mem_GBps; give peak_TFLOPS and mem_GBps" },
        { ONE "job: { model: " JOB_MODEL ", npu: no.yaml, parallel: { batch: 1 } }\n", ERR_PARSE,
          "job.npu is no.yaml, which cannot be read" },
        { ONE "job: { model: " JOB_MODEL ", npu: " JOB_NPU ", parallel: { batch: 2, tp: 2 } }\n", ERR_RANGE,
          "job.parallel.tp is 2, " },
        { ONE "job: { modl: x }\n", ERR_PARSE, "unknown key \"job.modl\"; did you mean \"model\"" },
    };
    put_npu(*state);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct gossip_point, p, gossip_point_free);
        FAILS(read_study(&p, *state, cases[i].text, e), cases[i].code, cases[i].message);
    }
}

/* Four bytes for each of about 12 h^2 l + (2 vocab + seq) h parameters; then steps and all-reduces as above,
 * with the step of each point's job: half the batch is less than the whole, and more than half of it. */
TEST_WITH(a_job_says_what_a_worker_stands_for_at_each_point, make_folder, remove_folder)
{
    double weights = 12 * 512.0 * 512 * 4 + (2 * 1000 + 128) * 512.0, step_s[2];
    struct tables t;
    put_npu(*state);
    run_text(&t, *state,
             SMALL "clock: { jitter: 0 }\nmethods: [all-reduce]\n"
                   "job: { model: { name: small, layers: 4, hidden: 512, heads: 8, ffn: 2048, vocab: 1000, "
                   "seq: 128 }, npu: npu.yaml, parallel: { batch: 16, micro_batch: 2 } }\n"
                   "vary: { job.parallel.batch: [16, 8] }\n",
             2);
    for (int64_t row = 0; row < 2; row++) {
        double wire_MB = number(&t.rows, row, "wire_MB");
        step_s[row] = number(&t.rows, row, "step_s");
        assert_string_equal(word(&t.rows, row, "replica"), "small on one");
        assert_close(wire_MB, 4e-6 * weights, 0.01);
        assert_true(number(&t.rows, row, "missing_GB") < 0 && number(&t.rows, row, "missing_GB") > -2);
        assert_close(number(&t.rows, row, "time_s"), STEPS * (step_s[row] + 2 * 3.0 / 4 * wire_MB), 1e-9);
    }
    assert_true(step_s[1] < step_s[0] && step_s[1] > step_s[0] / 2);
    tables_free(&t);
    run_text(&t, *state, SMALL "methods: [all-reduce]\nclock: { step_ms: 20 }\n", 1);
    assert_string_equal(word(&t.rows, 0, "replica"), "");
    assert_true(isnan(number(&t.rows, 0, "missing_GB")) && number(&t.rows, 0, "step_s") == 0.02);
    assert_close(number(&t.rows, 0, "wire_MB"), 4e-6 * PARAMS, 1e-12);
    tables_free(&t);
}
