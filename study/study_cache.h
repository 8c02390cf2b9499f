/** @file Private to explore/: YAML files that were parsed, put into the next study without reading them
 * again.
 */
#ifndef STUDY_STUDY_CACHE_H
#define STUDY_STUDY_CACHE_H

#include "study/study_files.h"

/**
 * Of studies that are made from the same file with the same overrides, axes apart. One a thread.
 * Axes are at most SWEEP_MAX_KEYS. Zero-initialise; release with study_cache_free() when no study that was
 * read with it is left.
 */
struct study_cache {
    bool has_top;
    struct yaml_doc top; /**< the study's own file with overrides of top-level keys, without `vary` */
    int32_t own_source;
    struct study_file *files;   /**< shape [n_files], owned */
    struct study_value *values; /**< shape [n_values], owned: the last one of each axis */
    int32_t n_files, n_values;
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

/**
 * The parsed value of an axis, as one that stands in the folder of @p study; NULL where it cannot be kept, as
 * above. The texts of @p axis are known by their address: they must stay. Borrowed until the next call for
 * that axis.
 */
const struct yaml_doc *study_cache_value(struct study_cache *c, const char *study,
                                         const struct study_override *axis);

void study_cache_free(struct study_cache *c);

#endif
