/** @file Reading a study of designs: from its file, and what varies, to a design point. */
#ifndef KINDS_DESIGN_ASK_LOAD_H
#define KINDS_DESIGN_ASK_LOAD_H

#include "kinds/design/ask/point.h"

extern const struct section design_section, design_budget_section, design_mix_section;

/**
 * Load a study file. A spec word or a network file (a map with `dims`) is taken as a
 * study of that network alone. Parts and workloads are read where the study has
 * them, whether needed or not.
 *
 * Files named by `network`, `parts` (in the study, else in the network), `workload`
 * and the members of `workloads` are read relative to the file that names them; in an
 * override, relative to the working directory. A member of `workloads` that is a
 * file name alone stands for { workload: FILE }.
 *
 * Overrides of whole top-level keys apply before files are read, deeper ones after,
 * so `network.dims.pod.max_GBps` reaches into the network file; among equally deep
 * ones the last wins. Of a network given alone, `dims...` and `npu...` may be
 * written without `network.`.
 *
 * Contradictions are errors: workload with workloads, regret with an objective other
 * than time, an objective that needs prices or a time limit without them,
 * count_npus without npu.usd, split given (with DESIGN_FOR_SPLIT) and a dimension without bw_GBps. Keys
 * without effect are lines in s->notes.
 *
 * @param[out] s  uninitialised; safe to free after failure.
 * @param needs   bits of enum design_need.
 * A workload with `search` has no work in it: who answers finds its plan (kinds/design/explore/solve.h).
 *
 * @return 0; ERR_PARSE, ERR_RANGE with the place (a file that cannot be read has that of its
 *         name; a constraint that of the fault in its text); ERR_NOMEM. Thread-safe.
 */
int design_point_load(struct design_point *s, const char *path_or_spec,
                      const struct study_override *overrides, int32_t n, unsigned needs, struct err *e);
/** The same of a document that was read, which is the point's from then on, also after failure. */
int design_point_take(struct design_point *s, const struct yaml_doc *doc, int32_t own_source, unsigned needs,
                      struct err *e);
/** The same of a document that stays its owner's, of which but the keys of @p keys, NULL-terminated, are let
 * go: what a study of another kind says of its network, its parts, its machine. */
int design_point_take_keys(struct design_point *s, const struct yaml_doc *doc, int32_t own_source,
                           const char *const *keys, unsigned needs, struct err *e);
/** The same with axes. With a cache, @p s must not outlive the next one that is read with it. */
int design_point_read(struct design_point *s, const struct study_source *from, unsigned needs, struct err *e);

/**
 * What follows from the document's `network` and `simulation`: network and rules; from its `parts`, read
 * again, prices; prices of parts that were read before. Readers and all who change keys of these maps call
 * them, in this order, and derive nothing of it themselves. Errors as design_point_read().
 */
int design_point_read_network(struct design_point *s, struct err *e);

struct topo_graph;
/** The graph of a network that has one, at the bandwidths of its classes, all of which are known; release
 * with topo_graph_free(). Errors of its readers. */
int design_point_open_graph(struct topo_graph **out, const struct design_point *s, struct err *e);
int design_point_read_parts(struct design_point *s, struct err *e);
int design_point_price_network(struct design_point *s, struct err *e);

/** Add to @p notes what the curves of the network's dimensions do not hold of the workloads whose plan is, or
 * is not, searched: of a plan that was found an answer says it, of all others the point itself. */
void design_point_note_curves(struct text *notes, const struct design_point *s, bool searched);

/** Is @p path a key that changes a study without reading it again: a total, an objective, bandwidths? */
bool design_is_quick(const char *path);
/** Or one of dimensions that changes neither sizes nor what plans are legal and fit: tier, planes, latency,
 * efficiency? */
bool design_is_of_fabric(const char *path);

/**
 * Make @p s, read from the same file with the same other axes, what design_point_read() makes of it with the
 * axes of the fabric (design_is_of_fabric()) of @p from: numbers and names alone are changed, no workload is
 * made again. Values are borrowed from @p from. Notes stay as they are.
 * @return false where that cannot be said without reading it: a value that is wrong, or not plain; then @p s
 *         can only be changed again or freed.
 */
bool design_point_change(struct design_point *s, const struct study_source *from, unsigned needs);

#endif
