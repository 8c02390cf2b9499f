/** @file Studies of designs: the split of bandwidth at every point. The first of the kinds (study/kind.h). */
#ifndef KINDS_DESIGN_DESIGNS_H
#define KINDS_DESIGN_DESIGNS_H

#include "kinds/design/study.h"
#include "study/study.h"

extern const struct study_kind design_kind;

/** The design's study at a point of @p s. @p more are needs besides those of a split. Errors as study_read().
 */
int design_load(struct design_point *out, const struct study *s, const struct sweep_point *p, unsigned more,
                struct err *e);

/** Does `where` leave point @p p in, whose network is @p net? NULL: as far as is known without it. */
bool design_passes(const struct study *s, const struct sweep_point *p, const struct topo_network *net);

#endif
