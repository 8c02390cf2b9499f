/** @file Private to explore/: the document of a study, overrides applied, the files it names put in. */
#ifndef EXPLORE_STUDY_FILES_H
#define EXPLORE_STUDY_FILES_H

#include "explore/study.h"

/** What a study is made from; all borrowed. */
struct study_source {
    const char *path;                       /**< file or spec word */
    const struct study_override *overrides; /**< shape [n]; file names count from the working directory */
    int32_t n;
    const struct study_override *axes; /**< shape [n_axes], applied after those; file names count from the
                                            folder of `path` */
    int32_t n_axes;
};

/**
 * Read the study's own file and apply overrides of whole top-level keys; no other file is read.
 * @param[out] doc         uninitialised; empty after failure.
 * @param[out] own_source  as struct study.
 */
int study_open(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from, struct err *e);

/** Put in the files that an opened document names, and apply the other overrides. */
int study_fetch(struct yaml_doc *doc, int32_t own_source, const struct study_source *from, struct err *e);

/** study_load() with axes. */
int study_read(struct study *s, const struct study_source *from, unsigned needs, struct err *e);

/** Find the plans of workloads that ask for a search, where @p needs say how; see search.h. */
int study_search(struct study *s, unsigned needs, struct err *e);

/** Note keys of @p s that have no effect; n_workloads and all else are read. */
int study_note(struct study *s, unsigned needs, struct err *e);

#endif
