/* What a study of layers on types of resources says, and what it may not say. */
#include "kinds/hetero/hetero.h"
#include "tests/settings.h"
#include "tests/unit/study_folder.h"

#define CPU "{ name: cpu, cpu: true, usd_per_h: 0.1, compute_parallel: 0.9, comm_parallel: 0.8 }"
#define GPU "{ name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1 }"
#define JOB "job: { examples_M: 1 }\n"
#define LAYERS                                                                                               \
    "layers: [ { name: a, compute_ms: { cpu: 3, gpu: 2 }, comm_ms: { cpu: 1, gpu: 4 } },\n"                  \
    "  { compute_ms: { gpu: 5, cpu: 7 }, handover_ms: { cpu: 6, gpu: 8 } } ]\n"
#define REST     "batch: 1000\n" JOB
#define TYPES    "types: [ " CPU ",\n  " GPU " ]\n"
#define MEASURED LAYERS TYPES REST
#define DRAWN    "model: ctrdnn\n" JOB

static const char wires_yaml[] =
    "name: wires\n"
    "dims:\n"
    "  - { name: node, shape: full, size: 4, bw_GBps: 100, latency_ns: 500, efficiency: 0.5 }\n"
    "  - { name: pod, shape: switch, size: 4, bw_GBps: 10, latency_ns: 3000 }\n";

static int read_with(struct hetero_point *p, struct folder *f, const char *text,
                     const struct study_override *o, int32_t n, struct err *e)
{
    put(f, "wires.yaml", wires_yaml);
    put(f, "study.yaml", text);
    const struct study_source from = { .path = f->path, .overrides = o, .n = n };
    return hetero_point_read(p, &from, e);
}

static void read_text(struct hetero_point *p, struct folder *f, const char *text)
{
    MUST(read_with(p, f, text, NULL, 0, e));
}

/* The point of the study of a text, which is sound. */
#define POINT(p, text)                                                                                       \
    KEEP(struct hetero_point, p, hetero_point_free);                                                         \
    read_text(&p, *state, text)

/* ---- profiles ---- */

TEST_WITH(measured_times_land_where_layer_and_type_say, make_folder, remove_folder)
{
    POINT(p, MEASURED);
    const struct hetero_profile *f = &p.profile;
    assert_true(p.origin == HETERO_MEASURED && f->n_layers == 2 && f->n_types == 2 && f->batch == 1000);
    assert_string_equal(f->name, "layers");
    assert_string_equal(f->layers[0].name, "a");
    assert_string_equal(f->layers[1].name, "layer2");
    static const double compute_ms[] = { 3, 2, 7, 5 }, sync_ms[] = { 1, 4, 0, 0 },
                        handover_ms[] = { 0, 0, 6, 8 };
    for (size_t i = 0; i < 4; i++) { /* layer first, cpu before gpu as listed */
        assert_close(f->compute_s[i], compute_ms[i] * 1e-3, 1e-15);
        assert_close(f->sync_s[i], sync_ms[i] * 1e-3, 1e-15);
        assert_close(f->handover_s[i], handover_ms[i] * 1e-3, 1e-15);
    }
    assert_true(f->types[0].cpu && !f->types[1].cpu);
    assert_true(f->types[0].compute_par == 0.9 && f->types[0].comm_par == 0.8);
    assert_true(f->types[1].max_units == HETERO_MAX_UNITS && isinf(f->types[1].nic_Bps));
}

TEST_WITH(a_drawn_profile_is_that_of_its_draw, make_folder, remove_folder)
{
    KEEP(struct hetero_profile, want, hetero_profile_free);
    struct hetero_draw d = hetero_draw_default();
    d.model = HETERO_MATCHNET;
    d.n_types = 3;
    d.seed = 9;
    d.batch = 512;
    d.cpu.usd_per_h = 0.07;
    d.gpu.lookup_Bps = 1e9;
    POINT(p,
          "model: matchnet\ndraw: { types: 3, seed: 9, cpu: { usd_per_h: 0.07 }, gpu: { lookup_GBps: 1 } }\n"
          "batch: 512\n" JOB);
    OK(hetero_draw_profile(&want, &d, e));
    size_t cells = (size_t)want.n_layers * (size_t)want.n_types;
    assert_true(p.profile.n_layers == want.n_layers && p.profile.n_types == 3);
    assert_memory_equal(p.profile.compute_s, want.compute_s, cells * sizeof(double));
    assert_memory_equal(p.profile.sync_s, want.sync_s, cells * sizeof(double));
    assert_memory_equal(p.profile.handover_s, want.handover_s, cells * sizeof(double));
    assert_true(p.profile.types[0].usd_per_h == 0.07);
}

TEST_WITH(a_study_that_says_little_has_the_defaults_of_the_manual, make_folder, remove_folder)
{
    POINT(p, DRAWN);
    assert_true(p.profile.n_types == 2 && p.profile.batch == 4096);
    assert_true(p.settings.evaluations == 25600 && p.throughput.share == 0.5);
    assert_true(isnan(p.throughput.per_s) && p.setup.overlap && p.setup.handover == HETERO_PER_LAYER);
    assert_true(p.setup.provisioning == HETERO_EXACT && p.setup.server == -1);
    assert_true(p.setup.examples == 1e6 && p.setup.epochs == 1 && p.n_schedulers == n_hetero_schedulers);
}

TEST_WITH(a_probe_gives_the_share_that_units_divide, make_folder, remove_folder)
{
    /* Amdahl at 8 units: a time of 0.3 is 1 - s + s/8, s = 0.8; at 2 units 0.9 is s = 0.2. */
    POINT(p, LAYERS
          "types: [ { name: cpu, usd_per_h: 1, probe: { units: 8, compute_ratio: 0.3, comm_ratio: 1.2 } }, { "
          "name: gpu, usd_per_h: 1, comm_parallel: 0.4, probe: { units: 2, compute_ratio: 0.9 } } ]\n" REST);
    assert_close(p.profile.types[0].compute_par, 0.8, 1e-14);
    assert_true(p.profile.types[0].comm_par == 0); /* slower together: nothing is shared, and that is said */
    assert_close(p.profile.types[1].compute_par, 0.2, 1e-14);
    assert_true(p.profile.types[1].comm_par == 0.4);
    assert_has(text_str(&p.notes),
               "study.yaml:3:10: a probe of 8 units with ratio 1.2 for communication is beyond");
    assert_null(strstr(text_str(&p.notes), "for compute"));
}

TEST_WITH(a_model_file_is_profiled_on_the_npus_of_the_types, make_folder, remove_folder)
{
    static const char model[] = "{ layers: 2, hidden: 64, heads: 2, vocab: 128, seq: 32 }";
    static const char slow[] = "peak_TFLOPS: 1\nmem_GBps: 100\n";
    struct folder *f = *state;
    struct hetero_point p;
    char text[1024];
    const struct study_override twice[] = { { "types.b.npu.peak_TFLOPS", "2" } },
                                other[] = { { "types[1].npu", "{ peak_TFLOPS: 2, mem_GBps: 100 }" } };
    put(f, "m.yaml", model);
    put(f, "slow.yaml", slow);
    snprintf(
        text, sizeof text,
        "model: m.yaml\nbatch: 4\n" JOB "types: [ { name: a, usd_per_h: 1, compute_parallel: 1, "
        "comm_parallel: 1, npu: slow.yaml, net_GBps: 1 },\n"
        " { name: b, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, npu: slow.yaml, net_GBps: 2 } ]\n");
    read_text(&p, f, text);
    assert_int_equal(p.origin, HETERO_MODEL);
    assert_int_equal(p.profile.n_layers, 4); /* embedding, two layers, head */
    assert_true(p.profile.compute_s[2] > 0 && p.profile.compute_s[2] == p.profile.compute_s[3]);
    assert_close(p.profile.handover_s[0], 2 * p.profile.handover_s[1], 1e-12);
    hetero_point_free(&p);
    /* An override reaches into the file that is put in, or puts another in its place. */
    for (int i = 0; i < 2; i++) {
        OK(read_with(&p, f, text, i ? other : twice, 1, e));
        assert_true(p.profile.compute_s[2] > p.profile.compute_s[3]);
        hetero_point_free(&p);
    }
}

/* ---- the network ---- */

static const struct hetero_link *link_of(const struct hetero_point *p, int a, int b)
{
    return &p->links[a * p->profile.n_types + b];
}

TEST_WITH(links_are_those_of_the_outer_dimension_cut_to_the_own_nic, make_folder, remove_folder)
{
    POINT(p, "layers: [ { compute_ms: { a: 1, b: 1, c: 1 } } ]\nnetwork: wires.yaml\n" REST
             "types: [ { name: a, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, dim: node },\n"
             " { name: b, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, dim: node, nic_GBps: 25 },\n"
             " { name: c, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, nic_GBps: 4 } ]\n");
    assert_true(p.setup.handover == HETERO_NETWORK && p.setup.links == p.links);
    assert_close(link_of(&p, 0, 0)->Bps, 50e9, 1e-15); /* 100 GB/s at efficiency 0.5 */
    assert_close(link_of(&p, 0, 1)->Bps, 50e9, 1e-15);
    assert_close(link_of(&p, 1, 0)->Bps, 25e9, 1e-15); /* each end by its own port */
    assert_close(link_of(&p, 0, 1)->lat_s, 500e-9, 1e-15);
    assert_close(link_of(&p, 2, 0)->Bps, 4e9, 1e-15);
    assert_close(link_of(&p, 2, 1)->lat_s, 3e-6, 1e-15);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            assert_close(link_of(&p, a, b)->lat_s, link_of(&p, b, a)->lat_s, 0);
}

/* ---- what is wrong ---- */

struct wrong {
    const char *text, *message;
    enum err_code code;
};

static void check_all(struct folder *f, const struct wrong *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct hetero_point p;
        struct err e = { 0 };
        assert_fails(read_with(&p, f, cases[i].text, NULL, 0, &e), &e, cases[i].code, cases[i].message);
        assert_null(p.profile.layers);
        hetero_point_free(&p); /* safe after failure */
    }
}

TEST_WITH(what_contradicts_itself_is_refused, make_folder, remove_folder)
{
    static const struct wrong cases[] = {
        { JOB, "study.yaml:1:1: document has neither; give one of model and layers", ERR_PARSE },
        { "model: nce\n" MEASURED, "study.yaml:1:1: document has both; give one of model and layers",
          ERR_PARSE },
        { DRAWN TYPES, "study.yaml:3:1: types is given for a drawn model, which has types of its own",
          ERR_PARSE },
        { LAYERS REST, "document has no types, the types of resources", ERR_PARSE },
        { LAYERS TYPES JOB, "document has no batch, the examples that the times", ERR_PARSE },
        { "model: nce\n", "document has no job", ERR_PARSE },
        { "model: cterdnn\n" JOB,
          "study.yaml:1:8: model is cterdnn, expected ctrdnn, matchnet, 2emb or nce; did you mean ctrdnn?, "
          "or a model",
          ERR_PARSE },
        { "model: none.yaml\n" JOB, "model is none.yaml, which cannot be read", ERR_PARSE },
        { DRAWN "throughput: { per_s: 1, share: 1 }\n",
          "study.yaml:3:13: throughput has both per_s and share; give one of them", ERR_PARSE },
        { DRAWN "throughput: { per_s: 1, of: best }\n", "throughput.of is given with per_s", ERR_PARSE },
        { DRAWN "parts: { rates: [ { tier: A, link_usd_per_GBps: 1 } ] }\n",
          ":3:1: parts prices the network between types, of which handover takes no notice; give network",
          ERR_PARSE },
        { DRAWN "system: {}\n", ":3:1: system says what owning the network costs; give parts", ERR_PARSE },
        { DRAWN "network: switch:4@1\nparts: { rates: [ { tier: A, link_usd_per_GBps: 1 } ] }\n",
          "study.yaml:3:10: dimension \"dim1\": tier is not given, expected one priced by", ERR_RANGE },
        { DRAWN "handover: network\n", "study.yaml:3:11: handover is network; give a network", ERR_PARSE },
        { DRAWN "network: net.yaml\n", "network has no bandwidth in dimension pod, which joins types",
          ERR_RANGE },
        { DRAWN "servers: { type: tpu, GBps: 1 }\n",
          "servers.type is tpu, expected one of the types: cpu, gpu", ERR_PARSE },
        { DRAWN "genetic: { population: 4, elite: 4 }\n",
          "genetic has elite 4, expected less than population, 4", ERR_RANGE },
        { DRAWN "anneal: { hot: 1, cold: 2 }\n", "anneal has cold 2, expected at most hot, 1", ERR_RANGE },
        { DRAWN "bayes: { initial: 90 }\n", "bayes has initial 90, expected at most evaluations, 80",
          ERR_RANGE },
        { DRAWN "schedulers: [random, radnom]\n", "schedulers[1] is radnom, expected one of the schedulers",
          ERR_PARSE },
        { DRAWN "schedulers: [random, random]\n", "schedulers[1] is in the list twice", ERR_PARSE },
        { DRAWN "schedulers: []\n", "schedulers is a list of 0, expected 1 to", ERR_RANGE },
        { DRAWN "evaluation: 3\n", "unknown key \"evaluation\"; did you mean \"evaluations\"?", ERR_PARSE },
    };
    check_all(*state, cases, COUNT_OF(cases));
}

#define ONE(type) LAYERS "types: [ " CPU ",\n  " type " ]\n" REST

#define OF_NPU(npu)                                                                                          \
    "model: { layers: 1, hidden: 64, heads: 2, vocab: 128, seq: 32 }\n"                                      \
    "batch: 4\n" JOB "types:\n"                                                                              \
    "  - { name: a, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, net_GBps: 1, npu: " npu " }\n"

TEST_WITH(wrong_types_are_refused, make_folder, remove_folder)
{
    static const struct wrong cases[] = {
        { ONE("{ name: gpu, compute_parallel: 1, comm_parallel: 1 }"),
          "study.yaml:4:3: types[1] has no usd_per_h (price of a unit)", ERR_PARSE },
        { ONE("{ name: gpu, usd_per_h: 1, compute_parallel: 1.1, comm_parallel: 1 }"),
          "types[1].compute_parallel is 1.1, expected 0 to 1", ERR_RANGE },
        { ONE("{ name: gpu, usd_per_h: 1, compute_parallel: .nan, comm_parallel: 1 }"),
          "types[1].compute_parallel is .nan", ERR_PARSE },
        { ONE("{ name: gpu, usd_per_h: 1, comm_parallel: 1 }"), "types[1] has nothing for compute; give",
          ERR_PARSE },
        { ONE("{ name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, probe: { units: 2, "
              "comm_ratio: 0.5 } }"),
          "types[1] has both a share and a probe for communication", ERR_PARSE },
        { ONE("{ name: gpu, usd_per_h: 1, comm_parallel: 1, probe: { units: 1, compute_ratio: 1 } }"),
          "types[1].probe.units is 1, expected 2 to", ERR_RANGE },
        { ONE(CPU), "types[1].name is cpu, the name of a type before it; choose another", ERR_PARSE },
        { ONE("{ name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, host: cpu }"),
          "types[1] has host alone; give both host and host_units, or neither", ERR_PARSE },
        { ONE("{ name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, host: gpu, host_units: 1 }"),
          "types[1].host is gpu itself; choose another type", ERR_RANGE },
        { ONE("{ name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, host: cp, host_units: 1 }"),
          "types[1].host is cp, expected one of the types: cpu, gpu; did you mean cpu?", ERR_PARSE },
        { LAYERS REST "types: [ { name: cpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, host: gpu, "
                      "host_units: 1 },\n { name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, "
                      "host: cpu, host_units: 1 } ]\n",
          "types[0].host is gpu, which has a host itself, expected a type without one", ERR_RANGE },
        { ONE("{ name: a-name-that-is-far-too-long-to-be-kept-in-full-length, usd_per_h: 1, "
              "compute_parallel: 1, comm_parallel: 1 }"),
          "expected at most 47 bytes", ERR_RANGE },
        { ONE("{ name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, dim: rack }") "network: "
                                                                                               "wires.yaml\n",
          "types[1].dim is rack, expected a dimension of the network", ERR_PARSE },
        { "model: { layers: 1, hidden: 64, heads: 2, vocab: 128, seq: 32 }\n" TYPES REST,
          "types[0] has no npu; give npu and net_GBps for a model of a file", ERR_PARSE },
        { OF_NPU("{ mem_GBps: 100 }"),
          "study.yaml:5:82: types[0].npu has no peak_TFLOPS; give peak_TFLOPS and mem_GBps for a model of a "
          "file",
          ERR_PARSE },
        { OF_NPU("{ peak_TFLOPS: 1 }"), "types[0].npu has no mem_GBps; give peak_TFLOPS and mem_GBps",
          ERR_PARSE },
    };
    check_all(*state, cases, COUNT_OF(cases));
}

#define LAYER(times) "layers: [ " times " ]\n" TYPES REST

TEST_WITH(wrong_layers_are_refused, make_folder, remove_folder)
{
    static const struct wrong cases[] = {
        { LAYER("{ compute_ms: { cpu: 1 } }"),
          "study.yaml:1:25: layers[0].compute_ms has no time for type gpu; give one for each type",
          ERR_PARSE },
        { LAYER("{ compute_ms: { cpu: 1, gpu: 1, gpt: 1 } }"),
          "layers[0].compute_ms.gpt is gpt, expected one of the types: cpu, gpu; did you mean gpu?",
          ERR_PARSE },
        { LAYER("{ compute_ms: { cpu: 1, gpu: -1 } }"),
          "layers[0].compute_ms.gpu is -1 ms, expected 0 to 1e12", ERR_RANGE },
        { LAYER("{ compute_ms: { cpu: 1, gpu: 1 }, comm_ms: { gpu: 1 } }"),
          "layers[0].comm_ms has no time for type cpu", ERR_PARSE },
        { LAYER("{ name: x }"), "layers[0] has no compute_ms", ERR_PARSE },
        { LAYER("{ kind: fcc, compute_ms: { cpu: 1, gpu: 1 } }"),
          "layers[0].kind is fcc, expected one of embedding", ERR_PARSE },
        { LAYER("{ compute_ms: { cpu: 0, gpu: 0 } }"), "study.yaml:1:9: layers", ERR_RANGE },
        { LAYER(""), "layers is a list of 0, expected 1 to 256 layers", ERR_RANGE },
    };
    check_all(*state, cases, COUNT_OF(cases));
}

TEST_WITH(keys_without_effect_are_noted, make_folder, remove_folder)
{
    static const char *const want[] = {
        "layers[2].handover_ms has no effect here, it is used only with handover layer and stage",
        "npu has no effect here, it is used only with a model file",
        "net_GBps has no effect here, it is used only with a model file",
        "draw has no effect here, it is used only by drawn profiles",
        "bayes has no effect here, it is used only by scheduler bayes",
        "evaluations has no effect here, it is used only by schedulers that search",
    };
    struct hetero_point p;
    read_text(
        &p, *state,
        "layers: [ { name: a, compute_ms: { cpu: 3, gpu: 2 } },\n"
        "  { name: b, compute_ms: { cpu: 3, gpu: 2 } },\n"
        "  { compute_ms: { gpu: 5, cpu: 7 },                    handover_ms: { cpu: 6, gpu: 8 } } ]\n"
        "types: [ " CPU
        ", { name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, net_GBps: 1, npu: {} } ]\n" REST
        "network: wires.yaml\ndraw: {}\nbayes: {}\nevaluations: 9\nschedulers: [greedy]\n");
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_has(text_str(&p.notes), want[i]);
    hetero_point_free(&p);
    read_text(&p, *state,
              LAYERS "types: [ " CPU ", { name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, "
                     "nic_GBps: 1 } ]\n" REST "handover: stage\nnetwork: wires.yaml\n");
    assert_has(text_str(&p.notes),
               "types[1].nic_GBps has no effect here, it is used only with handover network");
    assert_has(text_str(&p.notes), "network has no effect here, it is used only with handover network");
    hetero_point_free(&p);
}
