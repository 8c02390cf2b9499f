/** @file A folder with a network, prices and a workload, and studies written beside them, for tests of
 * study/ and kinds/. */
#ifndef TESTS_UNIT_STUDY_FOLDER_H
#define TESTS_UNIT_STUDY_FOLDER_H

#include "base/text.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/point.h"
#include "tests/unit/folder.h"

static const struct file study_files[] = {
    { "net.yaml", "name: small\nnpu: { usd: 1000 }\nparts: prices.yaml\ndims:\n"
                  "  - { name: node, shape: ring, size: 4, tier: InterNode }\n"
                  "  - { name: pod, shape: switch, size: 8, tier: InterPod, max_GBps: 100 }\n" },
    { "prices.yaml",
      "name: prices\nrates:\n  - { tier: InterNode, link_usd_per_GBps: 4 }\n"
      "  - { tier: InterPod, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n" },
    { "dear.yaml",
      "name: dear\nrates:\n  - { tier: InterNode, link_usd_per_GBps: 40 }\n"
      "  - { tier: InterPod, link_usd_per_GBps: 80, switch_usd_per_GBps: 180, nic_usd_per_GBps: 320 }\n" },
    { "work.yaml", "name: work\ngroups: { tp: { size: 4 } }\n"
                   "step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 8, group: tp } } ] }\n" },
    { "bare.yaml", "name: bare\ndims: [ { shape: ring, size: 4 }, { shape: full, size: 2 } ]\n" },
};

static inline int make_folder(void **state)
{
    return folder_begin(state, study_files, COUNT_OF(study_files));
}

/** What a split with prices needs. */
enum { ALL = DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_PARTS | DESIGN_FOR_SPLIT };

static inline int load_with(struct folder *f, struct design_point *s, const char *text,
                            const struct study_override *o, int32_t n, unsigned needs, struct err *e)
{
    put(f, "study.yaml", text);
    return design_point_load(s, f->path, o, n, needs, e);
}

static inline int load(struct folder *f, struct design_point *s, const char *text, unsigned needs,
                       struct err *e)
{
    return load_with(f, s, text, NULL, 0, needs, e);
}

#define NET  "network: net.yaml\n"
#define WORK "workload: work.yaml\n"

#endif
