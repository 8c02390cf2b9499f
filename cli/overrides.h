/**
 * @file What the command line changes in a study: --set, --parts, --card, --search.
 */
#ifndef CLI_OVERRIDES_H
#define CLI_OVERRIDES_H

#include "cli/command.h"
#include "study/source.h"

/** Overrides as design_point_load() takes them: --set, --parts, --model. Release with overrides_free(). */
struct overrides {
    struct study_override *list; /**< shape [n], owned */
    int32_t n, cap;
    const struct study_override
        *axes; /**< shape [n_axes], borrowed: of a point of the study, see study_source */
    int32_t n_axes;
    struct text notes; /**< what a model card leaves to be assumed, a line each: load_overrides() says it */
    char **kept;       /**< shape [n_kept], owned: memory behind list */
    int32_t n_kept;
};

/** Those of the command line. ERR_USAGE (no KEY=VALUE), ERR_NOMEM, errors of the model card's reader. */
int overrides_read(struct overrides *out, const struct run *run, struct err *e);
/** Append one; texts are borrowed. ERR_NOMEM. */
int overrides_add(struct overrides *o, const char *path, const char *value, struct err *e);
/** Once the study is read: it keeps nothing of them. */
void overrides_free(struct overrides *o);

#endif
