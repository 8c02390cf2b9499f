/* Keys of a study that have no effect are noted, and no others. */
#include "tests/unit/study_folder.h"

#define FIXED "network: ring:4@50 full:2@10\n"
#define INLINE                                                                                               \
    "network:\n  npu: { usd: 3, peak_TFLOPS: 9 }\n"                                                          \
    "  dims: [ { shape: ring, size: 4, latency_ns: 9, tier: T, max_GBps: 7 }, { shape: full, size: 2 } ]\n"

/* Every line of notes, without its folder; "" = none. */
static const struct {
    const char *text, *notes;
    unsigned needs;
} noted[] = {
    { NET WORK "total_GBps: 10\n", "", ALL },
    { NET WORK "total_GBps: 10\n",
      "study.yaml:3:1: total_GBps has no effect here, it is used only where an allocator chooses "
      "bandwidths\n",
      DESIGN_NEEDS_WORKLOAD },
    { FIXED WORK "split: given\n", "", DESIGN_NEEDS_WORKLOAD },
    { FIXED WORK "split: solve\n",
      "study.yaml:3:1: split has no effect here, it is used only where an allocator chooses bandwidths\n",
      DESIGN_NEEDS_WORKLOAD },
    { NET WORK "total_GBps: 10\ncombine: sum\n",
      "study.yaml:4:1: combine has no effect here, there is one workload\n", ALL },
    { NET "workloads: [ work.yaml, work.yaml ]\ncombine: sum\n", "", ALL },
    { NET "workloads: [ { workload: work.yaml, weight: 1 } ]\n", "", ALL },
    { NET "workloads: [ { workload: work.yaml, weight: 2 } ]\n",
      "study.yaml:2:37: workloads[0].weight has no effect on the split, which is the same for a single "
      "workload at any weight\n",
      ALL },
    { NET "workloads: [ { workload: work.yaml, weight: 2 }, work.yaml ]\ncombine: regret\n",
      "study.yaml:2:37: workloads[0].weight has no effect on the split, since regret compares each workload "
      "with its own best time\n",
      ALL },
    { NET WORK "objective: time\ntime_limit_s: 1\n",
      "study.yaml:4:1: time_limit_s has no effect here, it is used only with objective cost\n", ALL },
    { NET WORK "objective: cost\ntime_limit_s: 1\n", "", ALL },
    { FIXED WORK "total_GBps: 60\nobjective: time\n",
      "study.yaml:4:1: objective has no effect here, every dimension has its bw_GBps\n",
      DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT },
    { NET WORK "seed: 7\n", "study.yaml:3:1: seed has no effect here, nothing in it is drawn at random\n",
      ALL },
    { NET WORK "seed: 7\nuncertain: model\n", "", ALL },
    { NET WORK "seed: 7\nuncertain: { draws: 9, model: true }\n", "", ALL },
    { NET WORK "seed: 7\nuncertain: { seed: 8, model: true }\n",
      "study.yaml:3:1: seed has no effect here, nothing in it is drawn at random\n", ALL },
    { NET "model: bandwidth\n",
      "study.yaml:2:1: model has no effect here, it is used only for training time and the bandwidth split\n",
      0 },
    { "network: bare.yaml\ncount_npus: false\n",
      "study.yaml:2:1: count_npus has no effect here, it is used only for the price of the network\n", 0 },
    /* Sections for one command each: a study may serve several. */
    { NET "vary: {}\nbudget: { usd: 1 }\n", "", 0 },
    { INLINE WORK,
      "study.yaml:2:10: network.npu.usd has no effect here, it is used only where the price or power of NPUs "
      "is counted\n"
      "study.yaml:2:18: network.npu.peak_TFLOPS has no effect here, it is used only by compute and memory "
      "models\n"
      "study.yaml:3:35: network.dims[0].latency_ns has no effect here, it is used only by models other than "
      "bandwidth\n"
      "study.yaml:3:50: network.dims[0].tier has no effect here, it is used only for the price of the "
      "network\n",
      DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT },
};

static void strip_folder(struct text *out, const char *notes, const char *dir)
{
    size_t n = strlen(dir) + 1;
    for (const char *line = notes; *line; line = strchr(line, '\n') + 1) {
        const char *start = strncmp(line, dir, n - 1) == 0 ? line + n : line;
        text_add(out, start, (size_t)(strchr(start, '\n') - start) + 1);
    }
}

TEST(keys_without_effect_are_noted)
{
    struct folder *f = *state;
    for (size_t i = 0; i < COUNT_OF(noted); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct text, lines, text_free) = { 0 };
        OK(load(f, &s, noted[i].text, noted[i].needs, e));
        strip_folder(&lines, text_str(&s.notes), f->dir);
        assert_string_equal(text_str(&lines), noted[i].notes);
    }
}

TEST(an_override_without_effect_is_noted_a_file_key_is_not)
{
    const struct study_override o = { "network.dims.pod.latency_ns", "5" };
    KEEP(struct design_point, s, design_point_free);
    OK(load_with(*state, &s, NET WORK, &o, 1, ALL, e));
    assert_string_equal(text_str(&s.notes),
                        "--set network.dims.pod.latency_ns=5:1:1: network.dims[1].latency_ns has no effect "
                        "here, it is used only by models other than bandwidth\n");
}

SUITE(make_folder, remove_folder)
