/** @file A folder with a network, prices and a workload, and studies written beside them, for tests of
 * study/ and kinds/. */
#ifndef TESTS_UNIT_STUDY_FOLDER_H
#define TESTS_UNIT_STUDY_FOLDER_H

#include "tests/support.h"

#include "base/text.h"
#include "kinds/design/point.h"

static const char net_yaml[] = "name: small\n"
                               "npu: { usd: 1000 }\n"
                               "parts: prices.yaml\n"
                               "dims:\n"
                               "  - { name: node, shape: ring, size: 4, tier: InterNode }\n"
                               "  - { name: pod, shape: switch, size: 8, tier: InterPod, max_GBps: 100 }\n";
static const char prices_yaml[] =
    "name: prices\n"
    "rates:\n"
    "  - { tier: InterNode, link_usd_per_GBps: 4 }\n"
    "  - { tier: InterPod, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n";
static const char dear_yaml[] =
    "name: dear\n"
    "rates:\n"
    "  - { tier: InterNode, link_usd_per_GBps: 40 }\n"
    "  - { tier: InterPod, link_usd_per_GBps: 80, switch_usd_per_GBps: 180, nic_usd_per_GBps: 320 }\n";
static const char work_yaml[] =
    "name: work\n"
    "groups: { tp: { size: 4 } }\n"
    "step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 8, group: tp } } ] }\n";
static const char bare_yaml[] = "name: bare\ndims: [ { shape: ring, size: 4 }, { shape: full, size: 2 } ]\n";

struct folder {
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
};

static inline void put(struct folder *f, const char *name, const char *text)
{
    scratch_file(f->path, f->dir, name, text, strlen(text));
}

static inline int make_folder(void **state)
{
    struct folder *f = calloc(1, sizeof *f);
    assert_non_null(f);
    scratch_make(f->dir);
    put(f, "net.yaml", net_yaml);
    put(f, "prices.yaml", prices_yaml);
    put(f, "dear.yaml", dear_yaml);
    put(f, "work.yaml", work_yaml);
    put(f, "bare.yaml", bare_yaml);
    *state = f;
    return 0;
}

static inline int remove_folder(void **state)
{
    struct folder *f = *state;
    scratch_remove(f->dir);
    free(f);
    return 0;
}

/** What a split with prices needs. */
enum { ALL = STUDY_NEEDS_WORKLOAD | STUDY_NEEDS_PARTS | STUDY_FOR_SPLIT };

static inline int load_with(struct folder *f, struct design_point *s, const char *text,
                            const struct study_override *o, int32_t n, unsigned needs, struct err *e)
{
    put(f, "study.yaml", text);
    return study_load(s, f->path, o, n, needs, e);
}

static inline int load(struct folder *f, struct design_point *s, const char *text, unsigned needs,
                       struct err *e)
{
    return load_with(f, s, text, NULL, 0, needs, e);
}

#define NET  "network: net.yaml\n"
#define WORK "workload: work.yaml\n"

#endif
