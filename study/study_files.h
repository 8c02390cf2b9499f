/** @file Private to explore/: the document of a study, overrides applied, the files it names put in. */
#ifndef STUDY_STUDY_FILES_H
#define STUDY_STUDY_FILES_H

#include "kinds/design/study.h"

struct study_cache;

/** What a study is made from; all borrowed. */
struct study_source {
    const char *path;                       /**< file or spec word */
    const struct study_override *overrides; /**< shape [n]; file names count from the working directory */
    int32_t n;
    const struct study_override *axes; /**< shape [n_axes], applied after those; file names count from the
                                            folder of `path` */
    int32_t n_axes;
    struct study_cache *cache; /**< files that were read before: study_cache.h; NULL = read each again */
};

/**
 * Read the study's own file and apply overrides of whole top-level keys; no other file is read.
 * @param[out] doc         uninitialised; empty after failure.
 * @param[out] own_source  as struct design_point.
 */
int study_open(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from, struct err *e);

/** Put in the files that an opened document names, and apply the other overrides. */
int study_fetch(struct yaml_doc *doc, int32_t own_source, const struct study_source *from, struct err *e);

/** The node whose value is that of the axis @p path, and of nothing that was applied after it; else -1. */
yaml_id study_find_axis(const struct yaml_doc *doc, const struct study_source *from, const char *path);

/** study_load() with axes. With a cache, @p s must not outlive the next one that is read with it. */
int study_read(struct design_point *s, const struct study_source *from, unsigned needs, struct err *e);

/**
 * Make @p s, read from the same file with the same other axes, what study_read() makes of it with the quick
 * axes (order_is_quick()) of @p from: numbers and names alone are changed, no workload is made again. Values
 * are borrowed from @p from. Notes stay as they are.
 * @return false where that cannot be said without reading it: a value that is wrong, a search; then @p s can
 *         only be changed again or freed.
 */
bool study_change(struct design_point *s, const struct study_source *from, unsigned needs);

/** Find the plans of workloads that ask for a search, where @p needs say how; see search.h. */
int study_search(struct design_point *s, unsigned needs, struct err *e);

/** Note keys of @p s that have no effect; n_workloads and all else are read. */
int study_note(struct design_point *s, unsigned needs, struct err *e);

#endif
