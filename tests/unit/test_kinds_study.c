/* Studies of designs as read: what they name, what overrides reach, what is wrong and where. */
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "tests/unit/study_folder.h"

#define DRAWS                                                                                                \
    "network: { npu: { watt: 5 }, parts: prices.yaml, dims: [ { shape: ring, size: 4, tier: InterNode }, "   \
    "{ shape: switch, size: 8, tier: InterPod } ] }\n"
#define SEARCHED(before, after)                                                                              \
    "network: { npu: { peak_TFLOPS: 9, mem_GB: 80, mem_GBps: 100 }, dims: [ { shape: ring, size: 4 } ] "     \
    "}\n" before                                                                                             \
    "{ model: { layers: 4, hidden: 1024, heads: 16, seq: 512, vocab: 32000 }, parallel: { batch: 64 }, "     \
    "search: {} }" after

/* ---- what is read ---- */

TEST(a_study_is_read_with_all_it_names)
{
    struct design_point s;
    OK(load(*state, &s,
            "name: both\nsource: this test\n" NET
            "workloads: [ work.yaml, { workload: work.yaml, weight: 2.5 } ]\n"
            "combine: regret\nmodel: alpha-beta\ntotal_GBps: 47.123\ncount_npus: true\n"
            "constraints: [ node >= 2*pod, usd <= 1e6, total == 47.123 ]\n"
            "budget: { nic_GBps: 50, nics: 32, usd: 1e5, watt: 2000, time_s: 0.5 }\n",
            ALL, e));
    assert_string_equal(s.name, "both");
    assert_string_equal(s.net.name, "small");
    assert_true(s.has_parts);
    assert_string_equal(s.parts.name, "prices");
    /* 32 NPUs x (8 + 18 + 32) USD per GB/s, of that NICs 32 x 32. */
    assert_close(s.prices[1].usd_per_Bps, 32 * 58 / 1e9, 1e-14);
    assert_close(s.prices[1].nic_usd_per_Bps, 32 * 32 / 1e9, 1e-14);
    assert_true(s.n_workloads == 2 && s.workloads[0].weight == 1 && s.workloads[1].weight == 2.5);
    assert_string_equal(s.workloads[1].tree.name, "work");
    assert_true(s.combine == DESIGN_REGRET && s.objective == ALLOC_TIME && s.model == SIM_ALPHA_BETA);
    assert_true(s.total_Bps == 47123000000.0 && s.count_npus && design_point_fixed_usd(&s) == 32000);
    const struct topo_bill bill = { .usd = { 100, 200, 400 } };
    const struct topo_band usd = design_point_bill_usd(&s, &bill);
    assert_true(usd.low == 32100 && usd.typ == 32200 && usd.high == 32400);
    assert_true(isnan(s.time_limit_s) && s.seed == 1);
    /* pod.max_GBps, the total, three constraints. */
    assert_int_equal(s.rows.n, 5);
    assert_string_equal(s.rows.rows[0].name, "pod.max_GBps");
    assert_string_equal(s.rows.rows[1].name, "total_GBps");
    assert_string_equal(s.rows.rows[2].name, "node >= 2*pod");
    assert_true(s.rows.rows[1].rhs == 47123000000.0);
    assert_close(s.rows.rows[3].rhs, 1e6 - 32000, 1e-15); /* NPUs are part of usd */
    assert_true(s.budget.node >= 0 && s.budget.nics == 32 && s.budget.nic_Bps == 50e9);
    assert_true(s.budget.usd == 1e5 && s.budget.watt == 2000 && s.budget.time_s == 0.5);
    design_point_free(&s);
    design_point_free(&s);
}

TEST(only_what_is_needed_must_be_there)
{
    struct folder *f = *state;
    KEEP(struct design_point, s, design_point_free);
    OK(load(f, &s, "network: ring:4@50 switch:8\n", DESIGN_NEEDS_NETWORK, e));
    assert_true(s.net.n_dims == 2 && !s.has_parts);
    assert_true(s.n_workloads == 0 && s.budget.node == -1 && s.rows.n == 0 && s.own_source == 0);
    assert_string_equal(s.name, "");
}

TEST(a_network_or_a_word_is_a_study_of_itself)
{
    struct folder *f = *state;
    char path[SUPPORT_PATH];
    struct design_point s;
    OK(design_point_load(&s, scratch_path(path, f->dir, "net.yaml"), NULL, 0, DESIGN_NEEDS_PARTS, e));
    assert_string_equal(s.net.name, "small");
    assert_string_equal(s.parts.name, "prices");
    assert_int_equal(s.own_source, -1);
    assert_string_equal(text_str(&s.notes), "");
    design_point_free(&s);

    OK(design_point_load(&s, "ring:4@50  switch:8@12.5", NULL, 0, DESIGN_NEEDS_BANDWIDTH, e));
    assert_true(s.net.n_npus == 32 && s.net.dims[1].bw_Bps == 12.5e9);
    design_point_free(&s);
}

TEST(overrides_reach_everywhere_and_the_last_wins)
{
    struct folder *f = *state;
    char dear[SUPPORT_PATH], work[SUPPORT_PATH], bare[SUPPORT_PATH];
    struct design_point s;
    /* Deep ones first: they apply to the file that the later, whole one names. */
    const struct study_override many[] = {
        { "network.dims.pod.max_GBps", "25" },
        { "network.parts", scratch_path(dear, f->dir, "dear.yaml") },
        { "workloads[0].weight", "3" },
        { "workloads[0].workload.groups.tp.size", "8" },
        { "workloads[1].workload", scratch_path(work, f->dir, "work.yaml") },
        { "total_GBps", "10" },
        { "total_GBps", "20" },
    };
    OK(load_with(f, &s, NET "workloads: [ work.yaml, missing.yaml ]\n", many, COUNT_OF(many), ALL, e));
    assert_true(s.net.dims[1].max_Bps == 25e9 && s.total_Bps == 20e9 && s.workloads[0].weight == 3);
    assert_string_equal(s.parts.name, "dear");
    assert_int_equal(s.workloads[0].tree.groups[1].members[1], 2);
    assert_string_equal(s.workloads[1].tree.name, "work");
    design_point_free(&s);

    const struct study_override whole[] = {
        { "network.dims[1].bw_GBps", "25" },
        { "network", scratch_path(bare, f->dir, "bare.yaml") },
    };
    OK(load_with(f, &s, NET, whole, COUNT_OF(whole), DESIGN_NEEDS_NETWORK, e));
    assert_string_equal(s.net.name, "bare");
    assert_true(s.net.dims[1].bw_Bps == 25e9);
    design_point_free(&s);
}

TEST(a_network_alone_is_overridden_by_its_own_keys)
{
    struct folder *f = *state;
    char path[SUPPORT_PATH];
    KEEP(struct design_point, s, design_point_free);
    const struct study_override o[] = { { "dims.pod.bw_GBps", "25" },
                                        { "npu.usd", "7" },
                                        { "network.dims[0].bw_GBps", "200" } };
    OK(design_point_load(&s, scratch_path(path, f->dir, "net.yaml"), o, COUNT_OF(o), DESIGN_NEEDS_BANDWIDTH,
                         e));
    assert_true(s.net.dims[1].bw_Bps == 25e9 && s.net.npu.usd == 7 && s.net.dims[0].bw_Bps == 200e9);
}

TEST(parts_of_the_study_replace_those_of_the_network)
{
    struct folder *f = *state;
    KEEP(struct design_point, s, design_point_free);
    put(f, "nowhere.yaml", "parts: missing.yaml\ndims: [ { shape: ring, size: 4, tier: InterNode } ]\n");
    OK(load(f, &s, "network: nowhere.yaml\nparts: dear.yaml\n", DESIGN_NEEDS_PARTS, e));
    assert_string_equal(s.parts.name, "dear");
}

TEST(a_path_from_the_root_is_taken_as_it_is)
{
    struct folder *f = *state;
    char parts[SUPPORT_PATH];
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct text, study, text_free) = { 0 };
    text_printf(&study, "network: net.yaml\nparts: %s\n", scratch_path(parts, f->dir, "dear.yaml"));
    OK(load(f, &s, study.s, DESIGN_NEEDS_PARTS, e));
    assert_string_equal(s.parts.name, "dear");
}

TEST(the_hash_follows_content_and_files)
{
    static const char rows[] = "DATA\n1\nlayer -1 5 NONE 0 5 NONE 0 5 ALLREDUCE %d 0\n";
    struct folder *f = *state;
    struct design_point s;
    char text[200];
    unsigned long long hash[4];
    const struct study_override o = { "total_GBps", "10" };
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, rows, i == 3 ? 2000 : 1000);
        put(f, "w.txt", text);
        OK(load_with(f, &s, NET "workload: { astra: w.txt }\n", &o, i == 2, DESIGN_NEEDS_WORKLOAD, e));
        hash[i] = design_point_hash(&s);
        design_point_free(&s);
    }
    assert_true(hash[0] == hash[1] && hash[0] != hash[2] && hash[0] != hash[3]);
}

/* ---- errors ---- */

static const struct bad {
    const char *text, *message;
    unsigned needs;
    int code;
} bad[] = {
    { "network: gone/x.yaml\n",
      "study.yaml:1:10: network is gone/x.yaml, which cannot be read (No such file or directory)", 0,
      ERR_PARSE },
    { NET "workload: 'gone.yaml'\n",
      "study.yaml:2:11: workload is gone.yaml, which cannot be read (No such file or directory)", 0,
      ERR_PARSE },
    { NET "workloads: [ work.yaml, gone.yaml ]\n",
      "study.yaml:2:25: workloads[1].workload is gone.yaml, which cannot be read", 0, ERR_PARSE },
    { NET "parts: .\n", "study.yaml:2:8: parts is ., which cannot be read (Is a directory)", 0, ERR_PARSE },
    { "parts: prices.yaml\n", "study.yaml:1:1: document has no network", 0, ERR_PARSE },
    { "[1]\n", "study.yaml:1:1: document is a list, expected a map", 0, ERR_PARSE },
    { NET "totl_GBps: 4\n", "study.yaml:2:1: unknown key \"totl_GBps\"; did you mean \"total_GBps\"", 0,
      ERR_PARSE },
    { NET WORK "workloads: [ work.yaml ]\n",
      "study.yaml:3:1: workloads is given together with workload; give one of them", 0, ERR_PARSE },
    { NET "workloads: []\n", "study.yaml:2:12: workloads is empty, expected at least one workload", 0,
      ERR_PARSE },
    { NET "workloads: work.yaml\n", "study.yaml:2:12: workloads is work.yaml, expected a list", 0,
      ERR_PARSE },
    { NET "workloads: [ { weight: 2 } ]\n", "study.yaml:2:14: workloads[0] has no workload", 0, ERR_PARSE },
    { NET "workloads: [ { workload: work.yaml, weight: 0 } ]\n", "workloads[0].weight is 0, expected", 0,
      ERR_RANGE },
    { NET "workload: { name: x }\n",
      "study.yaml:2:11: workload has 0 of layers, step, astra, simai, chakra and model", 0, ERR_PARSE },
    { NET WORK "objective: cost\n", "study.yaml:3:12: objective is cost; give time_limit_s", 0, ERR_RANGE },
    { NET WORK "objective: speed\n", "study.yaml:3:12: objective is speed, expected one of time, utilization",
      0, ERR_PARSE },
    { "network: bare.yaml\nobjective: perf_per_cost\n",
      "study.yaml:2:12: objective is perf_per_cost; give parts with prices", 0, ERR_RANGE },
    { "network: bare.yaml\nobjective: cost\ntime_limit_s: 1\n",
      "study.yaml:2:12: objective is cost; give parts with prices", 0, ERR_RANGE },
    { NET WORK "combine: regret\nobjective: utilization\n",
      "study.yaml:3:10: combine is regret with objective utilization; give objective time", 0, ERR_RANGE },
    { "network: bare.yaml\ncount_npus: true\n", "study.yaml:2:13: count_npus is true; give network.npu.usd",
      0, ERR_RANGE },
    { NET "total_GBps: 0\n", "study.yaml:2:13: total_GBps is 0, expected", 0, ERR_RANGE },
    { "network: bare.yaml\nparts: prices.yaml\n",
      "bare.yaml:2:9: dimension \"dim1\": tier is not given, expected one priced by prices", 0, ERR_RANGE },
    { NET "constraints: pod <= 50\n", "study.yaml:2:14: constraints is pod <= 50, expected a list",
      DESIGN_FOR_SPLIT, ERR_PARSE },
    { NET "constraints: [ [pod] ]\n", "study.yaml:2:16: constraints[0] is a list, expected text",
      DESIGN_FOR_SPLIT, ERR_PARSE },
    { NET "constraints:\n  - node >= 10\n  - 2*node + pdo <= 200\n",
      "study.yaml:4:14: constraints[1] has unknown name \"pdo\"; did you mean \"pod\"?", DESIGN_FOR_SPLIT,
      ERR_PARSE },
    { NET "constraints:\n  - \"2*node + pdo <= 200\"\n",
      "study.yaml:3:15: constraints[0] has unknown name \"pdo\"", DESIGN_FOR_SPLIT, ERR_PARSE },
    { NET "constraints: [ pod <= 10 <= 20 ]\n", "/study.yaml:2:26: constraints[0]: second comparison",
      DESIGN_FOR_SPLIT, ERR_PARSE },
    { NET "constraints: [ pod + ]\n", "study.yaml:2:21: constraints[0]: the text ends, expected",
      DESIGN_FOR_SPLIT, ERR_PARSE },
    { NET "constraints: [ 1 <= 2 ]\n", "study.yaml:2:16: constraints[0] holds no name", DESIGN_FOR_SPLIT,
      ERR_PARSE },
    { NET "constraints:\n  - |\n    pod\n    <= pdo\n",
      "study.yaml:3:5: constraints[0] has unknown name \"pdo\"", DESIGN_FOR_SPLIT, ERR_PARSE },
    { "network: bare.yaml\nconstraints: [ usd <= 10 ]\n",
      "study.yaml:2:16: constraints[0] speaks of what parts cost or draw; give parts", DESIGN_FOR_SPLIT,
      ERR_RANGE },
    { NET, "study.yaml:1:1: document has no workload; give workload or workloads, or start from weft new",
      DESIGN_NEEDS_WORKLOAD, ERR_PARSE },
    { "network: bare.yaml\n", "study.yaml:1:1: document has no parts; give parts with prices",
      DESIGN_NEEDS_PARTS, ERR_PARSE },
    { NET WORK, "study.yaml:1:1: document has no budget; give one, such as budget: { usd: 6e6 }",
      DESIGN_FOR_BUDGET, ERR_PARSE },
    { NET, "net.yaml:5:5: network.dims[0] has no bw_GBps", DESIGN_NEEDS_BANDWIDTH, ERR_RANGE },
    { "network: ring:4@50 full:2\n",
      "study.yaml:1:10: network is ring:4@50 full:2, expected a bandwidth for every dimension",
      DESIGN_NEEDS_BANDWIDTH, ERR_RANGE },
    { NET "budget: {}\n", "study.yaml:2:9: budget has no limit; give at least one", DESIGN_FOR_BUDGET,
      ERR_PARSE },
    { NET "budget: { nics: 1.5 }\n", "study.yaml:2:17: budget.nics is 1.5, expected a whole number", 0,
      ERR_PARSE },
    { NET "budget: { time_s: 1 }\n",
      "study.yaml:2:11: budget.time_s limits training time; give workload or workloads", DESIGN_FOR_BUDGET,
      ERR_RANGE },
    { NET WORK "objective: perf_per_watt\ntotal_GBps: 9\n",
      "objective is perf_per_watt; give network.npu.watt, or system", ALL, ERR_RANGE },
    { DRAWS WORK "objective: perf_per_watt\ntotal_GBps: 9\n",
      "study.yaml:3:12: objective is perf_per_watt, and rates do not say what parts draw; give a catalogue",
      ALL, ERR_RANGE },
    { DRAWS WORK "constraints: [ watt <= 5 ]\n",
      "constraints[0] speaks of watt, and rates do not say what parts draw; give a catalogue", ALL,
      ERR_RANGE },
    { NET WORK "constraints: [ site_MW <= 5 ]\n",
      "study.yaml:3:16: constraints[0] speaks of the whole machine; give system", ALL, ERR_RANGE },
    { "network: bare.yaml\n" WORK "constraints: [ usd_year <= 5 ]\n",
      "study.yaml:3:16: constraints[0] speaks of the whole machine; give system and parts",
      DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, ERR_RANGE },
    { SEARCHED("workload: ", "\nobjective: utilization\n"),
      "search is given with objective utilization; choose another objective",
      DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, ERR_RANGE },
    { "network: bare.yaml\nbudget: { usd: 1 }\n",
      "study.yaml:2:11: budget.usd limits what parts say; give parts", DESIGN_FOR_BUDGET, ERR_RANGE },
};

/* What cannot be searched is said by who searches. */
static int load_and_choose(struct folder *f, struct design_point *s, const char *text, unsigned needs,
                           struct err *e)
{
    struct design_choice c;
    int rc = load(f, s, text, needs, e);
    if (rc)
        return rc;
    rc = design_choose(&c, s, e);
    if (!rc)
        choice_free(&c);
    design_point_free(s);
    return rc;
}

TEST(a_bad_study_is_refused_at_its_place)
{
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        KEEP(struct design_point, s, design_point_free);
        FAILS(load_and_choose(*state, &s, bad[i].text, bad[i].needs, e), bad[i].code, bad[i].message);
        assert_null(s.workloads);
    }
}

TEST(a_bad_override_or_word_is_named)
{
    static const struct {
        struct study_override o;
        const char *message;
        int code;
    } cases[] = {
        { { "network.dims.pdo.max_GBps", "4" },
          "--set network.dims.pdo.max_GBps=4:1:1: network.dims.pdo is no entry's name, expected node, "
          "pod or an index",
          ERR_PARSE },
        { { "network", "gone.yaml" },
          "--set network=gone.yaml:1:1: network is gone.yaml, which cannot be read (No such file or "
          "directory)",
          ERR_PARSE },
        { { "total_GBps", "[" }, "--set total_GBps=[:", ERR_PARSE },
        { { "total_GBps", "-1" }, "--set total_GBps=-1:1:1: total_GBps is -1, expected", ERR_RANGE },
        { { "colour", "red" }, "--set colour=red:1:1: unknown key \"colour\"", ERR_PARSE },
    };
    struct design_point s;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        *e = (struct err){ 0 };
        FAILS(load_with(*state, &s, NET, &cases[i].o, 1, 0, e), cases[i].code, cases[i].message);
        design_point_free(&s);
    }
    FAILS(design_point_load(&s, "ring:4 full:1", NULL, 0, 0, e), ERR_RANGE,
          "network \"ring:4 full:1\": col 13: size is 1, expected 2 to");
    FAILS(design_point_load(&s, "no-such-study.yaml", NULL, 0, 0, e), ERR_PARSE,
          "no-such-study.yaml: no such file");
    FAILS(design_point_load(&s, "ring:4", NULL, 0, DESIGN_NEEDS_WORKLOAD, e), ERR_PARSE,
          "ring:4:1:1: document has no workload; give workload");
}

/* Down and up again leaves no trace in a message; through a link, where ".." is elsewhere, it stays. */
TEST(paths_in_messages_are_short)
{
    struct folder *f = *state;
    const char *base = strrchr(f->dir, '/') + 1;
    char text[2 * SUPPORT_PATH], want[2 * SUPPORT_PATH], link[SUPPORT_PATH];
    struct design_point s;
    snprintf(text, sizeof text, "network: ../%s/../%s/./net.yaml\n", base, base);
    snprintf(want, sizeof want, "%s/./net.yaml:5:5: network.dims[0] has no bw_GBps", f->dir);
    FAILS(load(f, &s, text, DESIGN_NEEDS_BANDWIDTH, e), ERR_RANGE, want);
    assert_true(strncmp(e->msg, want, strlen(want)) == 0);

    assert_int_equal(symlink("/", scratch_path(link, f->dir, "link")), 0);
    snprintf(text, sizeof text, "network: link/..%s/net.yaml\n", f->dir);
    FAILS(load(f, &s, text, DESIGN_NEEDS_BANDWIDTH, e), ERR_RANGE, "/link/../");
}

TEST(every_study_that_comes_along_is_sound)
{
    static const char *const files[] = {
        "libra/gpt3-3d",   "libra/gpt3-4d",   "libra/msft1t-3d",           "libra/msft1t-4d",
        "libra/turing-3d", "libra/turing-4d", "libra/resnet50-3d",         "libra/resnet50-4d",
        "libra/dlrm-3d",   "libra/dlrm-4d",   "libra/gpt3-4d-constraints", "v1/group-2d",
        "v1/group-3d",     "v1/group-4d",
    };
    char path[SUPPORT_PATH];
    struct design_point s;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        snprintf(path, sizeof path, "configs/studies/%s.yaml", files[i]);
        OK(design_point_load(&s, path, NULL, 0, ALL, e));
        /* LIBRA's example gives the innermost half of the total: no other can have more. */
        assert_string_equal(
            text_str(&s.notes),
            strcmp(files[i], "libra/gpt3-4d-constraints") == 0
                ? "configs/studies/libra/gpt3-4d-constraints.yaml:13:5: constraint \"chiplet >= package\" "
                  "has no effect, no bandwidths break it\n"
                : "");
        design_point_free(&s);
    }
    OK(design_point_load(&s, "configs/studies/nic-budget.yaml", NULL, 0, ALL | DESIGN_FOR_BUDGET, e));
    assert_string_equal(text_str(&s.notes), "");
    design_point_free(&s);
}

SUITE(make_folder, remove_folder)
