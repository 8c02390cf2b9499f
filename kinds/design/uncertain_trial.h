/** @file Private to kinds/design/uncertain: a study with other numbers in some of its keys. */
#ifndef KINDS_DESIGN_UNCERTAIN_TRIAL_H
#define KINDS_DESIGN_UNCERTAIN_TRIAL_H

#include "kinds/design/uncertain.h"

/** Opaque: own copies of document, prices, network and workloads. */
struct uncertain_trial;

/** May the key at node @p id of `uncertain.keys` vary once the split is chosen? ERR_PARSE. */
int uncertain_check_path(const struct yaml_doc *doc, yaml_id id, struct err *e);

/** The least and the greatest that can be drawn. */
void uncertain_ends(double ends[2], const struct uncertain_key *k);

/** Both ends of every key are tried. Errors of uncertain_fill(); *out is NULL then. @p u and @p s are
 * borrowed. */
int uncertain_trial_build(struct uncertain_trial **out, const struct uncertain *u,
                          const struct design_point *s, struct err *e);
void uncertain_trial_free(struct uncertain_trial *t); /**< NULL is fine */

/** Time and cost at @p bw_Bps, shape [n_dims], with @p drawn, shape [n_keys]; cost is 0 without prices. */
int uncertain_trial_run(double *time_s, double *cost_usd, struct uncertain_trial *t, const double *drawn,
                        const double *bw_Bps, struct err *e);

#endif
