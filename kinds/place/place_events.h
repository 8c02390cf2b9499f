/** @file Private to this folder: what model events reads from a study. */
#ifndef KINDS_PLACE_PLACE_EVENTS_H
#define KINDS_PLACE_PLACE_EVENTS_H

#include "kinds/place/place_study.h"

/** Keys `jobs` and `events` of the model. ERR_PARSE, ERR_RANGE with the place. */
int place_read_events(struct place_study *s, struct err *e);

/** Where jobs come from. Safe to free after failure (place_study_free()). ERR_PARSE, ERR_RANGE. */
int place_read_trace(struct place_trace *out, const struct yaml_doc *doc, yaml_id at, struct err *e);

/** In which order scheduler @p scheduler of model events takes jobs. */
enum events_order place_pair_order(int32_t scheduler);

/** The jobs, what is unknown drawn by @p seed; free with trace_free(). What was passed over and what was
 * drawn goes to @p notes, unless that is NULL. Errors of trace_read() and so on. */
int place_take_trace(struct trace *t, const struct place_trace *from, int64_t seed, struct text *notes,
                     struct err *e);

/** ERR_RANGE unless GPUs, run time and iterations of a job are known. */
int place_check_known(const struct trace_job *t, struct err *e);

/** Key `events`, which says how fast jobs run on links, of a model that may do without the rest. */
int place_read_pace(struct place_study *s, struct err *e);

/** How fast jobs run on the cluster of @p s. */
void place_fix_pace(struct pace_graph_settings *pace, const struct place_study *s);

#endif
