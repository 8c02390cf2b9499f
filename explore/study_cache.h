/** @file Private to explore/: YAML files that were parsed, put into the next study without reading them
 * again.
 */
#ifndef EXPLORE_STUDY_CACHE_H
#define EXPLORE_STUDY_CACHE_H

#include "explore/study_files.h"

/**
 * Of studies that are made from the same file with the same overrides, axes apart. One a thread.
 * Zero-initialise; release with study_cache_free() when no study that was read with it is left.
 */
struct study_cache {
    bool has_top;
    struct yaml_doc top; /**< the study's own file with overrides of top-level keys, without `vary` */
    int32_t own_source;
    struct study_file *files; /**< shape [n_files], owned */
    int32_t n_files;
};

/** study_open() from what is kept: the same document, but for what is in `vary`. Errors as there. */
int study_cache_open(struct yaml_doc *doc, int32_t *own_source, const struct study_source *from,
                     struct err *e);

/**
 * The parsed file that is called @p name, or NULL; borrowed until the next study_cache_open().
 */
const struct yaml_doc *study_cache_find(const struct study_cache *c, const char *name);

/** Parse the file at @p path and keep it as @p name; NULL where it cannot be read or kept, whatever the
 * reason: then it is read as if there were no cache, which says why. */
const struct yaml_doc *study_cache_add(struct study_cache *c, const char *name, const char *path);

void study_cache_free(struct study_cache *c);

#endif
