/** @file Sweeps that are given as the text of a study, and their points as text. */
#ifndef TESTS_UNIT_SWEEP_TEXT_H
#define TESTS_UNIT_SWEEP_TEXT_H

#include "tests/support.h"

#include "base/text.h"
#include "tests/unit/designs.h"
#include "tests/unit/folder.h"

/** A study but for what varies; lines 1 and 2. */
#define SWEEP_BASE                                                                                           \
    "network: ring:4 switch:8\nworkload: { name: W, step: { all-reduce: { size_MB: 8, group: all } } }\n"

/** Read the sweep of a study of this text, as file study.yaml of a folder that is gone afterwards. */
static inline int sweep_of(struct study *s, const char *text, const struct study_override *o, int32_t n,
                           struct err *e)
{
    FOLDER(f);
    return designs_open(s, put(&f, "study.yaml", text), o, n, e);
}

/** Points in order, as "a,b a,c": the values of all keys, "-" where a point does not have the key. */
static inline void sweep_points(struct text *out, const struct sweep *w)
{
    for (int64_t i = 0; i < w->n_points; i++) {
        struct sweep_point p;
        sweep_find_point(&p, w, i);
        for (int32_t k = 0; k < w->n_keys; k++) {
            const char *value = sweep_value(w, &p, k);
            text_printf(out, "%s%s", k ? "," : i ? " " : "", value ? value : "-");
        }
    }
}

/** What varies in a study of this text. */
#define SWEEP(w, text)                                                                                       \
    KEEP(struct study, w, study_close);                                                                      \
    OK(sweep_of(&w, text, NULL, 0, e))

#endif
