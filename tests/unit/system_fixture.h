/* A whole machine from the text of a study. */
#ifndef TESTS_UNIT_SYSTEM_FIXTURE_H
#define TESTS_UNIT_SYSTEM_FIXTURE_H

#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"
#include "kinds/design/explore/solve.h"
#include "tests/unit/folder.h"

#define STEP "workload: { step: { all-reduce: { size_MB: 16, group: all } } }\n"

/* Names in @p x are those of @p d. */
static inline void build_system(struct design_point *s, struct design *d, struct system *x, const char *text)
{
    FOLDER(f);
    MUST(design_point_load(s, put(&f, "study.yaml", text), NULL, 0,
                           DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e));
    MUST(design_evaluate(d, s, NULL, e));
    MUST(system_build(x, s, design_owned(d), e));
}

#define SYSTEM(s, d, x, text)                                                                                \
    KEEP(struct design_point, s, design_point_free);                                                         \
    KEEP(struct design, d, design_free);                                                                     \
    KEEP(struct system, x, system_free);                                                                     \
    build_system(&s, &d, &x, text)

#endif
