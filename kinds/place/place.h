/**
 * @file A placement study: jobs on the servers of a network, under several schedulers, at every point of a
 * sweep and for several seeds.
 *
 * Four models, each with schedulers of its own:
 * - slots: jobs that take as many workers in each time slot as they are given (sim/slots/slots.h);
 * - batch: a batch of gang jobs, contention by a formula, least makespan (sim/batch/batch.h);
 * - events: jobs that come and go over time, contention on the links (sim/events/events.h);
 * - interval: which jobs to admit in one interval, with how many workers and servers
 * (sim/interval/interval.h).
 */
#ifndef KINDS_PLACE_PLACE_H
#define KINDS_PLACE_PLACE_H

#include "base/table.h"
#include "study/kind.h"

enum place_model { PLACE_SLOTS, PLACE_BATCH, PLACE_EVENTS, PLACE_INTERVAL, N_PLACE_MODELS };
extern const char *const place_model_words[N_PLACE_MODELS + 1];

/** What a run comes to; a model says which of them it knows, and in which order they are shown. */
enum place_metric {
    PLACE_UTILITY,
    PLACE_BOUND_FRAC,
    PLACE_GUARANTEE,
    PLACE_FINISHED,
    PLACE_MAKESPAN,
    PLACE_JCT,
    PLACE_JCT_P50,
    PLACE_JCT_P95,
    PLACE_WAIT,
    PLACE_STRETCH,
    PLACE_EMBEDDED,
    PLACE_ADMITTED,
    PLACE_OPTIMUM,
    PLACE_GAP,
    PLACE_USED,
    PLACE_GPU,
    PLACE_LINK,
    PLACE_LINK_PEAK,
    PLACE_NODE_OVER,
    PLACE_LINK_OVER,
    N_PLACE_METRICS,
};

struct place_metric_row {
    const char *names[N_PLACE_MODELS]; /**< column of each model, unit included; NULL: that model has none */
    const char *title, *help;
    int better; /**< 1: more is better, -1: less is better, 0: neither */
    bool percent;
};
extern const struct place_metric_row place_metrics[N_PLACE_METRICS];

/** Keys of a study, of its schedulers, and of the jobs and pools of its models; those of model slots are in
 * sim/slots/slots_draw.h. */
extern const struct section place_section, place_gadget_section, place_las_section, place_sjf_bco_section,
    place_events_section, place_smd_section, place_batch_jobs_section, place_batch_pool_section,
    place_trace_section, place_interval_jobs_section, place_interval_pool_section;

/**
 * The kind of study. A point is read once and its seeds are units, each a run of all its schedulers: these
 * share jobs and servers that are drawn. Rows: point, axes, network, model, scheduler, seeds, jobs, then each
 * metric of the model with its half width NAME_ci, beats_next (in how many seeds it is better than the
 * scheduler listed after it), network_usd, status ("done", "error", "infeasible": a scheduler has no plan),
 * message. A point that cannot be read or run, with whichever seed, is one row that says so.
 */
extern const struct study_kind place_kind;

#endif
