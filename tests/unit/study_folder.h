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

/** What `weft keys` shows of this section is what the program has in @p own: words, counts and numbers, which
 * are the same but for the rounding of a scale. */
static inline void assert_defaults(const struct section *section, const void *own)
{
    KEEP(char *, shown, free_at) = calloc(1, section->size);
    assert_non_null(shown);
    schema_defaults(shown, section);
    for (size_t i = 0; i < section->n_keys; i++) {
        const struct key *k = &section->keys[i];
        const char *a = shown + k->offset, *b = (const char *)own + k->offset;
        double x = 0, y = 0;
        if (k->offset == SCHEMA_UNKEPT || (k->kind == KEY_MAP || k->kind == KEY_LIST || k->kind == KEY_OWN))
            continue;
        if (k->kind == KEY_REAL)
            memcpy(&x, a, sizeof x), memcpy(&y, b, sizeof y);
        bool same = k->kind == KEY_REAL ? x == y || (isnan(x) && isnan(y)) ||
                                              (k->scale != 1 && fabs(x - y) <= 1e-15 * fmax(fabs(x), fabs(y)))
                    : k->kind == KEY_I64  ? memcmp(a, b, sizeof(int64_t)) == 0
                    : k->kind == KEY_BOOL ? *a == *b
                                          : memcmp(a, b, sizeof(int32_t)) == 0;
        if (!same)
            fail_msg("%s: default of %s differs", section->name, k->name);
    }
}

#endif
