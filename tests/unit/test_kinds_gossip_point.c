/* A point of a study of training with little communication, as read. */
#include "kinds/gossip/gossip.h"
#include "tests/gossip_fixture.h"
#include "tests/settings.h"
#include "tests/unit/study_folder.h"

#define FEW "data: { train: 400, test: 100 }\n"
#define ONE "network: switch:4@1\n" FEW

static int read_text(struct gossip_point *p, struct folder *f, const char *text, struct err *e)
{
    put(f, "study.yaml", text);
    return gossip_point_read(p, &(struct study_source){ .path = f->path }, e);
}

/** The point of the study of this text, which is sound. */
#define POINT(p, ...)                                                                                        \
    KEEP(struct gossip_point, p, gossip_point_free);                                                         \
    read_point(&p, *state, __VA_ARGS__)

__attribute__((format(printf, 3, 4))) static void read_point(struct gossip_point *p, struct folder *f,
                                                             const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    MUST(read_text(p, f, text, e));
}

/* ---- defaults ---- */

TEST_WITH(defaults_of_a_study_are_those_of_the_program, make_folder, remove_folder)
{
    struct gossip_teacher t = gossip_fixture_teacher();
    struct gossip_learning l = gossip_learning_default();
    POINT(p, "network: switch:4@1\n");
    t.seed = 0; /* that of the run */
    assert_memory_equal(&p.teacher, &t, sizeof t);
    assert_true(p.learning.batch == l.batch && p.learning.epochs == l.epochs && p.learning.rate == l.rate);
    assert_true(p.learning.momentum == l.momentum && p.learning.decay == l.decay && p.learning.n_decays == 2);
    assert_true(p.learning.decay_at[0] == l.decay_at[0] && p.learning.decay_at[1] == l.decay_at[1]);
    assert_true(p.net.n_layers == 2 && p.net.width[1] == 64 && p.fabric.n_workers == 4);
    assert_true(p.drift_at == 1 && p.model_B == 0 && p.fabric.share == 1);
    assert_int_equal(p.fabric.rules.chunks, stage_rules_plain.chunks);
    assert_true(p.fabric.rules.endpoint_s == stage_rules_plain.endpoint_s);
    assert_true(p.fabric.rules.mem_Bps == stage_rules_plain.mem_Bps);
    /* All methods, each once. */
    assert_int_equal(p.n_entries, gossip_n_methods);
    for (int32_t i = 0; i < gossip_n_methods; i++)
        assert_int_equal(p.entries[i].settings.method, i);
}

TEST_WITH(numbers_are_read_in_their_units, make_folder, remove_folder)
{
    POINT(p, "network: { name: two, dims: [ { shape: switch, size: 4, bw_GBps: 2 }, { shape: ring, size: 4, "
             "bw_GBps: 1 } ] }\n"
             "workers: 8\nmodel_MB: 102\nchunks: 4\nendpoint_ns: 30\nrung: flow\nshards: label-skew\n"
             "drift_at: 0.5\nequal_points: 2\n"
             "learner: { hidden: [16, 8], batch: 7, epochs: 3, optimizer: adamw, rate: 0.1, weight_decay: "
             "0.01, schedule: cosine }\n"
             "data: { train: 300, test: 50, features: 9, classes: 3, hidden: 5, gain: 2, noise: 0.25 }\n"
             "clock: { step_ms: 20, jitter: 0.3, slow_workers: 2, slowdown: 4, pause_prob: 0.1, "
             "pause_factor: 6, overlap: true, stale: false }\n"
             "methods: [{ method: pair, rule: control, theta: 0.2, cap: 9, check: 2, mix: 0.25 }]\n");
    const struct gossip_settings *m = &p.entries[0].settings;
    assert_true(p.model_B == 102e6 && p.fabric.rules.chunks == 4 && p.drift_at == 0.5);
    assert_close(p.fabric.rules.endpoint_s, 30e-9, 1e-12);
    assert_true(p.fabric.fidelity == GOSSIP_FLOW && p.sharding == GOSSIP_SKEW && p.equal_points == 2);
    assert_true(p.learning.batch == 7 && p.learning.epochs == 3 && p.learning.rate == 0.1);
    assert_true(p.learning.optimizer == GOSSIP_ADAMW && p.learning.schedule == GOSSIP_RATE_COSINE);
    assert_true(p.learning.weight_decay == 0.01);
    assert_true(p.net.n_layers == 3 && p.net.width[0] == 9 && p.net.width[2] == 8 && p.net.width[3] == 3);
    assert_true(p.teacher.n_train == 300 && p.teacher.n_test == 50 && p.teacher.hidden == 5);
    assert_true(p.teacher.gain == 2 && p.teacher.noise == 0.25);
    assert_close(p.clock.step_s, 0.02, 1e-12);
    assert_true(p.clock.jitter == 0.3 && p.clock.n_slow == 2 && p.clock.slowdown == 4);
    assert_true(p.clock.pause_prob == 0.1 && p.clock.pause_factor == 6 && p.clock.overlap && !p.clock.stale);
    assert_true(m->rule == GOSSIP_RULE_CONTROL && m->theta == 0.2 && m->cap == 9 && m->check == 2);
    assert_true(m->mix == 0.25);
}

/* ---- where workers and the server are ---- */

TEST_WITH(the_server_is_the_first_npu_without_a_worker, make_folder, remove_folder)
{
    static const struct {
        const char *text;
        int64_t server;
        int32_t workers, members[2];
    } cases[] = { { "", 0, 8, { 4, 2 } },
                  { "workers: 4\n", 4, 4, { 4, 1 } },
                  { "workers: 2\n", 2, 2, { 2, 1 } },
                  { "workers: 2\nserver: 7\n", 7, 2, { 2, 1 } },
                  { "workers: 8\nserver: 3\n", 3, 8, { 4, 2 } } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        POINT(p, "network: switch:4@1 ring:2@1\n" FEW "%s", cases[i].text);
        assert_true(p.fabric.server == cases[i].server && p.fabric.n_workers == cases[i].workers);
        assert_true(p.fabric.members[0] == cases[i].members[0] && p.fabric.members[1] == cases[i].members[1]);
    }
}

/* ---- learners ---- */

TEST_WITH(hidden_layers_are_a_width_a_list_or_none, make_folder, remove_folder)
{
    static const struct {
        const char *hidden;
        int32_t n_layers, n_params;
    } cases[] = { { "[]", 1, 32 * 10 + 10 },
                  { "5", 2, 32 * 5 + 5 + 5 * 10 + 10 },
                  { "[5]", 2, 32 * 5 + 5 + 5 * 10 + 10 },
                  { "[5, 4]", 3, 32 * 5 + 5 + 5 * 4 + 4 + 4 * 10 + 10 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        POINT(p, ONE "learner: { hidden: %s }\n", cases[i].hidden);
        assert_true(p.net.n_layers == cases[i].n_layers && p.net.n_params == cases[i].n_params);
    }
}

/* The smallest of 4 shards of 402 examples has 100: 6 batches of 16, or one. */
TEST_WITH(an_epoch_has_the_batches_of_the_smallest_shard, make_folder, remove_folder)
{
    static const struct {
        int batch, steps;
    } cases[] = { { 16, 6 }, { 100, 1 }, { 1000, 1 }, { 1, 100 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        POINT(p, "network: switch:4@1\ndata: { train: 402, test: 9 }\nlearner: { batch: %d }\n",
              cases[i].batch);
        assert_int_equal(gossip_point_epoch_steps(&p), cases[i].steps);
    }
}

/* ---- labels ---- */

TEST_WITH(labels_say_what_rows_differ_in, make_folder, remove_folder)
{
    static const struct {
        const char *methods, *labels; /* those of all rows, with commas */
    } cases[] = {
        /* A period of its own where none is given. */
        { "[all-reduce, local, post-local, adacomm, variance]",
          "all-reduce,local 16,post-local 16,adacomm 16,variance 4," },
        { "[gossip-pga, gossip-aga, elastic, diloco, pair, pull, push, { method: sparq }]",
          "gossip-pga 16,gossip-aga 4,elastic 10,diloco 50,pair 1,pull 1,push 1,sparq 1," },
        { "[{ method: pair, period: [1, 16] }]", "pair 1,pair 16," },
        { "[{ method: pair, period: 4, mix: 0.25 }, { method: pair, period: 4 }]",
          "pair 4 mix 0.25,pair 4," },
        { "[{ method: pair, rule: drift, theta: 0.05, cap: 64 }]", "pair drift 0.05/64," },
        { "[{ method: pair, rule: rate-drift }, { method: pair, rule: control, theta: 1 }]",
          "pair rate-drift 0.05/64,pair control 1/64," },
        { "[{ method: post-local, period: 8, switch_frac: 0.3 }]", "post-local 8 switch_frac 0.3," },
        /* What has no effect makes no difference. */
        { "[{ method: local, period: 8, theta: 3 }]", "local 8," },
        { "[{ method: local, period: 8, name: eight }]", "eight," },
        { "[{ method: local, period: [8, 9], name: L }]", "L 8,L 9," },
        { "[{ method: local, period: [8], name: L }]", "L," },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, labels, text_free) = { 0 };
        POINT(p, ONE "methods: %s\n", cases[i].methods);
        for (int32_t k = 0; k < p.n_entries; k++)
            text_printf(&labels, "%s,", p.entries[k].label);
        assert_string_equal(text_str(&labels), cases[i].labels);
    }
}

TEST_WITH(the_baseline_is_named_or_the_first_pair_of_period_1, make_folder, remove_folder)
{
    static const struct {
        const char *text;
        int32_t baseline;
    } cases[] = { { "[all-reduce, { method: pair, period: [4, 1] }]", 2 },
                  { "[all-reduce, { method: pair, rule: drift }]", 0 },
                  { "[local, { method: pair, period: 1 }]\nbaseline: local 16", 0 },
                  { "[local, { method: pair, period: 1, mix: 0.3 }, { method: pair }]", 1 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        POINT(p, ONE "methods: %s\n", cases[i].text);
        assert_int_equal(p.baseline, cases[i].baseline);
    }
}

/* ---- ranges ---- */

/* Rules and words with which a method reads most of its keys. */
static struct gossip_settings busy_settings(int32_t method)
{
    struct gossip_settings s = gossip_settings_default();
    s.method = method;
    s.rule = GOSSIP_RULE_DRIFT;
    return s;
}

static void assert_runs_at(const struct gossip_point *p, const struct key *k, int32_t method, double end)
{
    struct gossip_settings s = busy_settings(method);
    struct gossip_setup setup = gossip_point_setup(p);
    char *field = (char *)&s + k->offset;
    double x = end * k->scale;
    int64_t n = (int64_t)x;
    struct err e = { 0 };
    memcpy(field, k->kind == KEY_REAL ? (void *)&x : (void *)&n, sizeof x);
    if (gossip_check(&setup, &s, &e))
        fail_msg("%s of %s may be %g: %s", k->name, gossip_method_name(method), end, e.msg);
}

/* The ends of what weft keys says, of every number and method; but what depends on other numbers: most
 * fragments, on parameters, and the longest delay, on the period. */
TEST_WITH(methods_can_be_run_at_the_ends_of_the_ranges_of_their_keys, make_folder, remove_folder)
{
    int n = 0;
    POINT(p, ONE "methods: [pair]\n");
    for (size_t i = 0; i < gossip_method_section.n_keys; i++) {
        const struct key *k = &gossip_method_section.keys[i];
        if (k->kind != KEY_REAL && k->kind != KEY_I64)
            continue;
        for (int32_t m = 0; m < gossip_n_methods; m++) {
            struct gossip_settings s = busy_settings(m);
            if (!(k->uses & gossip_method_uses(&s)))
                continue;
            n++;
            assert_runs_at(&p, k, m, k->min);
            if (strcmp(k->name, "fragments") != 0 && strcmp(k->name, "delay") != 0)
                assert_runs_at(&p, k, m, k->max);
        }
    }
    assert_true(n > 40);
}

/* Absent, the cap makes room for the period; given, it stays; of a rule it does not follow the period. */
TEST_WITH(the_cap_of_a_period_that_adapts_is_at_least_the_period, make_folder, remove_folder)
{
    static const struct {
        const char *method;
        int64_t caps[2];
    } cases[] = { { "{ method: adacomm, period: [4, 128] }", { 64, 128 } },
                  { "{ method: variance, period: [64, 65] }", { 64, 65 } },
                  { "{ method: gossip-aga, period: [100, 1] }", { 100, 64 } },
                  { "{ method: adacomm, period: [4, 128], cap: 200 }", { 200, 200 } } };
    struct gossip_point p;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        read_point(&p, *state, ONE "methods: [%s]\n", cases[i].method);
        for (int k = 0; k < 2; k++)
            assert_int_equal(p.entries[k].settings.cap, cases[i].caps[k]);
        gossip_point_free(&p);
    }
    FAILS(read_text(&p, *state, ONE "methods: [{ method: adacomm, period: 65, cap: 64 }]\n", e), ERR_RANGE,
          ":3:11: methods[0]: period is 65, expected at most the cap, 64");
}

/* ---- what is wrong ---- */

/* Methods rely on it: they look at what keys say about each other alone. */
TEST_WITH(numbers_that_no_method_can_run_with_are_refused, make_folder, remove_folder)
{
    static const char *const cases[] = {
        "local, period: 0",
        "pair, mix: 0",
        "pair, mix: 1.5",
        "pair, theta: -1",
        "pair, cap: 0",
        "pair, check: -1",
        "post-local, switch_frac: 2",
        "gossip-aga, power: -1",
        "adacomm, interval_s: 0",
        "dynamic, check: 0",
        "dynamic, delta: -1",
        "elastic, alpha: 0",
        "elastic, alpha: 1.25",
        "eventgrad, horizon: -1",
        "eventgrad, warmup: -1",
        "gosgd, prob: -0.1",
        "gosgd, prob: 1.5",
        "lag-wk, lag_depth: 0",
        "lag-wk, lag_xi: -1",
        "lag-ps, lag_smooth: -2",
        "sparq, sparq_c: -1",
        "sparq, sparq_power: 1",
        "sparq, gamma: 0",
        "sparq, keep: 1.5",
        "diloco, fragments: 0",
        "diloco, delay: -1",
        "diloco, outer_rate: 0",
        "diloco, outer_momentum: 1",
        "diloco, outer_mix: 1",
        "diloco, inner_rate: -1",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct gossip_point p;
        char text[200];
        snprintf(text, sizeof text, ONE "methods: [{ method: %s }]\n", cases[i]);
        FAILS(read_text(&p, *state, text, e), ERR_RANGE, "expected");
    }
}

TEST_WITH(what_is_wrong_is_said_where_it_stands, make_folder, remove_folder)
{
    static const struct refusal cases[] = {
        { FEW, ERR_PARSE, ":1:1: document has no network" },
        { "network: switch:4\n", ERR_RANGE,
          "study.yaml:1:10: network has no bandwidth in dimension dim1; give bw_GBps" },
        { ONE "workers: 5\n", ERR_RANGE, ":3:10: workers is 5, expected at most 4, the NPUs of the network" },
        { ONE "workers: 0\n", ERR_RANGE, ":3:10: workers is 0, expected 1 to" },
        { ONE "workers: 3\n", ERR_RANGE, ":3:10: workers: is 3, expected a size that divides" },
        { ONE "server: 4\n", ERR_RANGE, ":3:9: server is 4, expected an NPU of the network, 0 to 3" },
        { ONE "workrs: 3\n", ERR_PARSE, "workers" },
        { "network: switch:4@1\ndata: { train: 3 }\n", ERR_RANGE,
          ":2:16: data.train makes 3 examples to train on, expected at least 4, one for each worker" },
        { "network: switch:4@1\ndata: { train: 3 }\nworkers: 4\n", ERR_RANGE,
          ":3:10: workers is 4, expected at most 3, the examples to train on" },
        { ONE "learner: { decay_at: [0.5, 0.5] }\n", ERR_RANGE,
          ":3:28: learner.decay_at[1] is 0.5, expected more than 0.5 and less than 1" },
        { ONE "learner: { decay_at: [1] }\n", ERR_RANGE,
          "learner.decay_at[0] is 1, expected more than 0 and" },
        { ONE "learner: { decay_at: [.1, .2, .3, .4, .5, .6, .7, .8, .9] }\n", ERR_RANGE,
          "is a list of 9, expected at most 8 shares" },
        { ONE "learner: { momentum: 1 }\n", ERR_RANGE, "learner.momentum is 1, expected 0 to 0.999999" },
        { ONE "learner: { hidden: abc }\n", ERR_PARSE,
          ":3:20: learner.hidden is abc, expected a whole number, 1 to 16384 units" },
        { ONE "learner: { hidden: [8, -1] }\n", ERR_PARSE,
          "learner.hidden[1] is -1, expected a whole number, 1 to 16384 units" },
        { ONE "methods: [{ method: pair, period: -2 }]\n", ERR_PARSE,
          "methods[0].period is -2, expected a whole number, at least 1 step" },
        { ONE "learner: { hidden: [64, 0] }\n", ERR_RANGE,
          "learner.hidden[1] is 0, expected 1 to 16384 units" },
        { ONE "learner: { hidden: [1, 1, 1, 1, 1, 1, 1, 1] }\n", ERR_RANGE,
          "learner.hidden is a list of 8, expected at most 7 layers" },
        { ONE "learner: { hidden: [16384, 16384] }\n", ERR_RANGE, "learner: parameters: are " },
        { ONE "clock: { slow_workers: 5 }\n", ERR_RANGE, "clock.slow_workers is 5, expected at most 4, the" },
        { ONE "clock: { step_ms: 0 }\n", ERR_RANGE, "clock.step_ms is 0, expected" },
        { ONE "methods: [{ method: sparq, gamma: 0 }]\n", ERR_RANGE,
          "methods[0].gamma is 0, expected 1e-09 to 1" },
        { ONE "methods: [par]\n", ERR_PARSE,
          ":3:11: methods[0] is par, expected a method of weft gossip --list" },
        { ONE "methods: [par]\n", ERR_PARSE,
          "/study.yaml:3:11: methods[0] is par, expected a method of weft gossip --list; did you mean "
          "pair?" },
        { ONE "methods: [{ method: loca }]\n", ERR_PARSE, "methods[0].method is loca, expected a method" },
        { ONE "methods: []\n", ERR_PARSE, "methods is empty, expected at least one method" },
        { ONE "methods: pair\n", ERR_PARSE, "methods is pair, expected a list" },
        { ONE "need_pct: 5\nneed_dim: dim2\n", ERR_PARSE,
          ":4:11: need_dim is dim2, expected a dimension of the network, such as dim1" },
        { ONE "need_pct: 5\nneed_dim: quark\n", ERR_PARSE,
          "need_dim is quark, expected a dimension of the network, the first is dim1" },
        { ONE "compare: average\n", ERR_PARSE, "compare is average, expected one of workers, averaged" },
        { ONE "methods: [{ method: pair, name: \"\" }]\n", ERR_RANGE,
          ":3:33: methods[0].name has 0 bytes, expected 1 to 40" },
        { ONE "methods: [{ method: pair, name: 12345678901234567890123456789012345678901 }]\n", ERR_RANGE,
          "methods[0].name has 41 bytes, expected 1 to 40" },
        { ONE "methods: [{ method: pair, name: \"a\\tb\" }]\n", ERR_PARSE,
          "methods[0].name has a control character, expected printable text" },
        { ONE "methods: [{ period: 3 }]\n", ERR_PARSE,
          "methods[0] has no method (name of the method, see weft gossip --list)" },
        { ONE "methods: [{ method: pair, period: 0 }]\n", ERR_RANGE,
          ":3:35: methods[0].period is 0, expected at least 1 step" },
        { ONE "methods: [{ method: pair, period: [1, 0] }]\n", ERR_RANGE,
          "methods[0].period[1] is 0, expected" },
        { ONE "methods: [{ method: pair, period: [] }]\n", ERR_PARSE,
          "methods[0].period is empty, expected" },
        { ONE "methods: [{ method: pair, period: x }]\n", ERR_PARSE, "methods[0].period is x, expected" },
        { ONE "methods: [{ method: pair, perod: 2 }]\n", ERR_PARSE, "period" },
        { ONE "methods: [pair, local, { method: pair, period: 1 }]\n", ERR_PARSE,
          ":3:24: methods[2] makes row 3, called \"pair 1\" as row 1 is; choose another name" },
        { ONE "methods: [pair]\nbaseline: pair 2\n", ERR_PARSE,
          ":4:11: baseline is pair 2, expected the label of a row, such as \"pair 1\"" },
        { ONE "rung: chunk\n", ERR_PARSE, "rung is chunk, expected one of closed-form, flow" },
        { ONE "drift_at: 2\n", ERR_RANGE, "drift_at is 2, expected 0 to 1" },
        { "network: switch:4@1\ndata: { train_csv: a.csv }\n", ERR_PARSE,
          "data has train_csv alone; give train_csv and test_csv" },
        { "network: switch:4@1\ndata: { label: class }\n", ERR_PARSE,
          "data.label is given without train_csv; give files" },
        { "network: switch:4@1\ndata: { train_csv: ragged.csv, test_csv: good.csv }\n", ERR_PARSE,
          "ragged.csv:3" },
        { "network: switch:4@1\ndata: { train_csv: missing.csv, test_csv: good.csv }\n", ERR_PARSE,
          "missing.csv, which cannot be read (No such file or directory)" },
        { "network: switch:4@1\ndata: { train_csv: good.csv, test_csv: good.csv }\ndrift_at: 0.5\n",
          ERR_PARSE, ":3:1: drift_at is given with data.train_csv, expected examples of a teacher" },
        { "network: switch:4@1\ndata: { train_csv: good.csv, test_csv: good.csv, label: z }\n", ERR_PARSE,
          "good.csv:1" },
        { "network: switch:4@1\ndata: { train_csv: good.csv, test_csv: good.csv }\n", ERR_RANGE,
          "data.train_csv makes 2 examples to train on, expected at least 4, one for each worker" },
    };
    struct folder *f = *state;
    put(f, "good.csv", "x,y,class\n1,2,a\n3,4,b\n");
    put(f, "ragged.csv", "x,y,class\n1,2,a\n3,b\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct gossip_point, p, gossip_point_free);
        FAILS(read_text(&p, f, cases[i].text, e), cases[i].code, cases[i].message);
        assert_null(strchr(e->msg, '\n'));
    }
}

TEST_WITH(keys_without_effect_are_told, make_folder, remove_folder)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "learner: { schedule: cosine, decay: 0.5 }\n", "learner.decay has no effect here" },
        { "learner: { schedule: constant, decay_at: [0.5] }\n", "learner.decay_at has no effect here" },
        { "learner: { optimizer: adamw, momentum: 0.5 }\nmethods: [pair]\n",
          "learner.momentum has no effect here, it is used only by optimizer sgd\n" },
        { "clock: { slowdown: 2 }\n", "clock.slowdown has no effect here" },
        { "clock: { pause_factor: 2 }\n", "clock.pause_factor has no effect here" },
        { "methods: [{ method: local, rule: drift }]\n", "methods[0].rule has no effect here" },
        { "methods: [{ method: pair, rule: drift, period: 3 }]\n", "methods[0].period has no effect here" },
        { "methods: [{ method: pair, cap: 3 }]\n", "methods[0].cap has no effect here" },
        { "server: 1\nmethods: [pair]\n", "server has no effect here" },
        { "parts: { rates: [ { tier: A, link_usd_per_GBps: 1 } ] }\nmethods: [pair]\n",
          "parts has no effect here, it is used only with need_pct\n" },
        { "need_dim: dim1\nmethods: [pair]\n",
          "need_dim has no effect here, it is used only with need_pct\n" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        POINT(p, ONE "%s", cases[i].text);
        assert_has(text_str(&p.notes), cases[i].says);
        assert_ptr_equal(strchr(text_str(&p.notes), '\n') + 1, text_str(&p.notes) + p.notes.n); /* one */
    }
}

/* LAG compares gradients with steps of plain SGD. Left out unless it is asked for. */
TEST_WITH(a_method_that_cannot_run_is_left_out_unless_listed, make_folder, remove_folder)
{
    struct gossip_point p;
    read_point(&p, *state, ONE "learner: { optimizer: adamw }\n");
    assert_true(p.n_entries < gossip_n_methods);
    for (int32_t i = 0; i < p.n_entries; i++)
        assert_null(strstr(p.entries[i].label, "lag-"));
    assert_has(text_str(&p.notes), "study.yaml: method lag-wk is left out: optimizer is adamw, expected sgd");
    gossip_point_free(&p);
    FAILS(read_text(&p, *state, ONE "learner: { optimizer: adamw }\nmethods: [pair, lag-wk]\n", e), ERR_RANGE,
          ":4:17: methods[1]: optimizer is adamw, expected sgd");
}
