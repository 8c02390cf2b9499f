/**
 * @file A placement study: jobs on the servers of a network, under several schedulers, at every point of a
 * sweep and for several seeds.
 *
 * Four models, each with schedulers of its own:
 * - slots: jobs that take as many workers in each time slot as they are given (sim/slots/slots.h);
 * - batch: a batch of gang jobs, contention by a formula, least makespan (sim/batch/batch.h);
 * - events: jobs that come and go over time, contention on the links (sim/events/events.h);
 * - interval: which jobs to admit in one interval, with how many workers and servers
 *   (sim/interval/interval.h).
 *
 * A study of this kind is a point of study/kind.h with whole_seed set: servers and jobs are drawn once for a
 * seed, and all schedulers see the same ones, so that differences between schedulers are paired seed by seed
 * (beats_next counts them). A model is a struct place_ops; the engine, the tables and the words are common to
 * all four.
 */
#ifndef KINDS_PLACE_PLACE_H
#define KINDS_PLACE_PLACE_H

#include "base/table.h"
#include "kinds/design/ask/point.h"
#include "sim/batch/batch.h"
#include "sim/cluster/job_steps.h"
#include "sim/cluster/pace.h"
#include "sim/events/events.h"
#include "sim/interval/interval.h"
#include "sim/interval/places.h"
#include "sim/slots/slots_draw.h"
#include "study/axes.h"
#include "study/kind.h"
#include "topo/bill.h"
#include "workloads/traces/profile.h"
#include "workloads/traces/trace.h"

enum place_model { PLACE_SLOTS, PLACE_BATCH, PLACE_EVENTS, PLACE_INTERVAL, N_PLACE_MODELS };
extern const char *const place_model_words[N_PLACE_MODELS + 1];

/** What a network is chosen for; all are the better the less they are. */
#define BUY_OBJECTIVES(X)                                                                                    \
    X(COMPLETION, completion, "mean completion", "s")                                                        \
    X(MAKESPAN, makespan, "makespan", "s")                                                                   \
    X(PER_COST, completion_per_cost, "completion times price", "s USD")                                      \
    X(USD_PER_JOB, usd_per_job, "cost of a job", "USD")                                                      \
    X(KWH_PER_JOB, kwh_per_job, "energy of a job", "kWh")
#define BUY_VALUE(NAME, word, title, unit) BUY_##NAME,
enum buy_objective { BUY_OBJECTIVES(BUY_VALUE) N_BUY_OBJECTIVES };
extern const char *const buy_objective_names[N_BUY_OBJECTIVES + 1];

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
    PLACE_FAIRNESS,
    PLACE_EMBEDDED,
    PLACE_ADMITTED,
    PLACE_PLACED,
    PLACE_OPTIMUM,
    PLACE_GAP,
    PLACE_USED,
    PLACE_GPU,
    PLACE_LINK,
    PLACE_LINK_PEAK,
    PLACE_NODE_OVER,
    PLACE_LINK_OVER,
    PLACE_GOODPUT,
    PLACE_USD_PER_JOB,
    PLACE_KWH_PER_JOB,
    PLACE_JOULE,
    N_PLACE_METRICS,
};

/**
 * A metric: one index for all models, a column name for each model that has it, since times are slots in one
 * model and seconds in the others.
 */
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
    place_trace_section, place_mix_section, place_npu_section, place_interval_jobs_section,
    place_interval_pool_section;

/**
 * The kind of study. A point is read once and its seeds are units, each a run of all its schedulers: these
 * share jobs and servers that are drawn. Rows: point, axes, network, model, scheduler, seeds, jobs, then each
 * metric of the model with its half width NAME_ci, beats_next (in how many seeds it is better than the
 * scheduler listed after it), the difference to a baseline (place_base.c), network_usd, status ("done",
 * "error", "infeasible": a scheduler has no plan), message. A point that cannot be read or run, with
 * whichever seed, is one row that says so.
 */
extern const struct study_kind place_kind;

/*
 * Private to this folder: one point of a placement study, read; one run of it; and the rows that a run
 * writes. A model of jobs is a struct place_ops in a file of its own: place_slots.c, place_batch.c,
 * place_events.c, place_interval.c. What they share is here: reading servers, prices and schedulers
 * (place.c), jobs of a trace and how fast jobs run on links (place_events.c), and tables (place_tables.c).
 */

enum { PLACE_MAX_SCHEDULERS = 64, PLACE_MAX_MIX = 1000 };

/** Servers of one type of NPU: an entry of `npus`. */
struct place_npu {
    const char *name;
    yaml_id node;
    int32_t servers;
    double speed;     /**< of jobs that are no models, over that of their trace; NaN: not known */
    double inner_Bps; /**< of an NPU inside its server; NaN: as the network says */
};

/**
 * Servers: of a described network, a graph file, or racks drawn anew for each seed. Exactly one of
 * has_network, graph and drawn, or none: a pool.
 */
struct place_servers {
    bool has_network;
    struct topo_network net;
    int32_t level;     /**< dimensions inside a server */
    const char *graph; /**< path, or NULL */
    char *graph_path;  /**< owned */
    bool drawn;
    struct draw_racks racks;
    int32_t n_resources;
    const char *names[CLUSTER_MAX_RESOURCES]; /**< borrowed from the document */
    double each[CLUSTER_MAX_RESOURCES];       /**< what one server offers of each, GPUs first */
    int32_t n_npus;
    struct place_npu npus[CLUSTER_MAX_TYPES];
    struct topo_network
        *types; /**< shape [n_npus], owned: `net` with the NPUs of each type; NULL: one type */
};

/** Jobs that train one model: an entry of `jobs.mix`. */
struct place_mix {
    const char *name;   /**< of the entry, else of the model; NULL: a workload without a name */
    const char *tenant; /**< whose jobs these are; NULL: nobody's */
    yaml_id model_node, parallel, workload;
    int32_t gpus;
    double steps, tokens;      /**< steps of a job, from the other where that is given */
    double share, jobs_per_s;  /**< share: of all jobs */
    int64_t period, fragments; /**< steps between two exchanges of gradients; parts that are sent apart */
    double keep;               /**< share of the gradients that is sent */
    bool searched;             /**< its plan was found on its own network */
    double speed[CLUSTER_MAX_TYPES]; /**< 0 for types of NPU that it does not run on, else 1 */
    struct job_model job; /**< its training is owned; of several types of NPU that of the first it runs on */
    struct job_model *by_type; /**< shape [CLUSTER_MAX_TYPES], owned like their trainings; NULL: one type */
};

/** Of the whole machine, with `system`; else NaN. */
struct place_money {
    double usd_year, watt; /**< watt: mean, at the meter */
    char dark[96];         /**< its first part without watts; "": all have them, else watt is a lower bound */
};

/** What a run takes of a machine. */
struct place_use {
    double time_s; /**< from begin to end */
    double n_gpus[CLUSTER_MAX_TYPES],
        gpu_s[CLUSTER_MAX_TYPES]; /**< all, and held by jobs times time, by type */
    double iterations;            /**< of all jobs; NaN: not known */
    int64_t n_jobs;
};

/** What of a trace's job stays the same on every network. */
enum place_length { PLACE_RUNTIME, PLACE_ITERATIONS };

/** Jobs of model events. */
struct place_trace {
    char *path, *profile; /**< owned; NULL: none */
    int32_t format;       /**< index into trace_formats */
    bool skip_bad;
    int32_t length; /**< enum place_length; -1: not said */
    struct trace_window window;
    double jobs_per_s;     /**< without a path; NaN with one */
    double step_s;         /**< of jobs whose iterations are not known; NaN: none */
    double overlap_frac;   /**< share of compute that hides communication, 0 to 1 */
    struct place_mix *mix; /**< shape [n_mix], owned: jobs that are models */
    int32_t n_mix;
};

/** Release with place_study_free(). */
struct place_study {
    struct yaml_doc doc;
    int32_t own_source; /**< of the document: the study's own file */
    struct {
        const char *name, *graph, *server;
        yaml_id network, parts, servers, racks, pool, jobs, schedulers, gadget, las, sjf_bco, smd, events,
            baseline;
        int64_t slots, seeds, seed;
        double resolve_pct;         /**< NaN: all seeds are run */
        double npu_watt, idle_watt; /**< of an NPU that a job holds, and of another; NaN: not known */
        int32_t objective;          /**< enum buy_objective */
    } file;                         /**< as written; a study of one point */
    enum place_model model;
    struct place_servers servers;
    char network[128];                        /**< what rows call it; set by `prepare` of place_kind */
    double network_usd;                       /**< typical price of the network's bill; NaN without prices */
    int32_t schedulers[PLACE_MAX_SCHEDULERS]; /**< numbers in the model's list */
    int32_t n_schedulers;
    struct draw_elastic draw_slots;
    struct elastic_settings slots;
    yaml_id batch_sizes, las_at; /**< what the file says of them; -1: nothing */
    struct sjf_draw_settings batch_draw;
    struct batch_settings batch;
    struct place_trace trace;
    struct events_settings events;
    struct pace_graph_settings pace;
    struct smd_draw interval_draw;
    bool interval_async, interval_real_factor; /**< as the file has them; the draw has their opposites */
    double interval_units;                     /**< pool size in units of the paper's cluster */
    int32_t interval_jobs;
    double interval_pool[N_SMD_RESOURCES];
    int32_t interval_of[N_SMD_RESOURCES]; /**< on servers: resource of jobs that is theirs */
    struct smd_settings interval;
    struct text notes; /**< warnings, a line each */
    struct place_money money;
};

/**
 * What one scheduler comes to with one seed: a row of table `runs`, and what of it is stored. `notes` is text
 * of the run that put it, copied by the sink.
 */
struct place_result {
    struct study_result head;
    const char *network, *model, *scheduler, *notes, /**< of the first scheduler with the first seed alone */
        *length,                                     /**< of jobs of model events: "runtime", "iterations" */
        *unproved; /**< why there is no guarantee; NULL: there is one, or the model has none */
    int64_t seed, n_jobs;
    double x[N_PLACE_METRICS]; /**< NaN where it says nothing */
};

/** Tables of a study, by their number (place_kind.tables). Those but the first two are of the first seed of
 * each point. */
enum {
    PLACE_TABLE_JOBS = TABLE_RUNS + 1,
    PLACE_TABLE_PLACES,
    PLACE_TABLE_SLOTS,
    PLACE_TABLE_LINKS,
    PLACE_TABLE_TENANTS,
    N_PLACE_TABLES,
};
extern const struct column place_job_columns[], place_place_columns[], place_slot_columns[],
    place_link_columns[], place_tenant_columns[];

/**
 * One point and seed under one scheduler after the other, and what is wanted of it. Lives on the stack of one
 * thread; `own` is shared by the schedulers one after the other, never at once.
 */
struct place_run {
    const struct place_study *study;
    int64_t seed;
    struct sink *sink;
    uint32_t wanted;        /**< bits of the tables above */
    struct text *notes;     /**< NULL but for the first seed: what is to be told of a trace, a line each */
    struct cluster servers; /**< built for the run, and gone after it */
    const struct cluster *cluster; /**< these; NULL: the model has a pool */
    void *own;                     /**< of the model, zero before open(): what its schedulers share */
    int32_t which;                 /**< the scheduler's number in the model's list, */
    const char *scheduler, *unit;  /**< its name; of times: "slot" or "s" */
};
static inline bool place_wants(const struct place_run *r, int table)
{
    return r->wanted >> table & 1;
}

/** A model: its schedulers, the keys of its jobs, and a run. */
struct place_ops {
    const char *unit;                    /**< of its times */
    const char *(*scheduler)(int32_t i); /**< its name; NULL: there are only i */
    const struct section *jobs;
    /** Read what is the model's own. */
    int (*read)(struct place_study *s, struct err *e);
    size_t own_size; /**< bytes of place_run.own */
    /** Jobs and what else all schedulers share with one seed; close() also after a failure. */
    int (*open)(struct place_run *r, struct err *e);
    /** One scheduler, into n_jobs and x of @p out, blank so far; rows of details as wanted. */
    int (*run)(struct place_result *out, const struct place_run *r, struct err *e);
    void (*close)(void *own);
};
extern const struct place_ops place_slots, place_batch, place_events, place_interval;
/** Never NULL. */
const struct place_ops *place_ops_of(enum place_model model);

/** The study at a point; @p from has path, overrides and axes. Safe to free after failure. Bandwidths that
 * are left to choose are NaN: it cannot run then. */
int place_study_read(void *point, const struct study_source *from, struct err *e);
void place_study_free(void *point);

/** Does the study have servers with links between them, and not a pool? */
bool place_has_servers(const struct place_study *s);

/**
 * All schedulers of the study with one seed, into @p out, shape [n_schedulers], blank.
 *
 * @return 0; ERR_NO_DESIGN: a scheduler has no plan; other errors of the model. After a failure rows that
 *         were put stay in the sink, and @p out is not to be used.
 */
int place_run_all(struct place_result *out, struct place_run *r, struct err *e);

/** Is a scheduler of that name in the study's list? */
bool place_has_scheduler(const struct place_study *s, const char *name);
/** Note that key @p key of map @p map (-1: none), where the user wrote it, has no effect: "used only ...". */
void place_note_key(struct place_study *s, yaml_id map, const char *key, const char *why);
/** Entry @p i of a list, for messages; the list where it has fewer. */
yaml_id place_entry(const struct place_study *s, yaml_id list, int32_t i);
/** A note for each key of @p map (-1: none) that has no use; schema_note_unused(). */
void place_note_unused(struct place_study *s, const struct section *section, yaml_id map, uint64_t active);

/* ---- types of NPU (place_types.c) ---- */

/** The list `npus`, of a study whose servers were read. ERR_PARSE, ERR_RANGE with the place. */
int place_read_types(struct place_study *s, struct err *e);
/** The speeds of a job that is no model. ERR_RANGE: not known. */
int place_take_speeds(struct job *job, const struct place_study *s, struct err *e);

/* ---- the whole machine (place_system.c) ---- */

#define KWH_J 3.6e6

/** What a study of designs asks of the same network. ERR_PARSE, ERR_RANGE. */
int place_ask_network(struct design_point *out, const struct place_study *s, unsigned needs, struct err *e);
/** The share of its time that each entry of the mix keeps, shape [n_mix], and what the machine costs, with
 * bandwidths @p bw_Bps, shape [n_dims]. ERR_RANGE: nothing is kept. */
int place_settle_system(double *kept, struct place_money *money, const struct place_study *s,
                        const struct design_point *machine, const double *bw_Bps, struct err *e);
/** `system` of a study whose mix was read and whose bandwidths are known. Errors of both. */
int place_read_system(struct place_study *s, struct err *e);

/** `npu_watt` and `idle_watt`, from the network where they are not given; before the model is read. ERR_RANGE
 * with the place. */
int place_read_watts(struct place_study *s, struct err *e);
/** Energy a job and an iteration into x of @p out, where watts are known: with `system` that of the whole
 * machine at its mean power, else that of its NPUs, held and idle. */
void place_write_energy(struct place_result *out, const struct place_study *s, const struct place_use *use);

/* ---- in words (say.c): hooks of place_kind ---- */

/** The rows as a text for people, point by point. */
int place_say(struct text *out, const struct study_report *r, struct err *e);
/** What went wrong, a line each, and what it means for the exit code. */
int place_conclude(struct text *out, enum study_verdict *verdict, const struct study_report *r,
                   struct err *e);
/**
 * Of a study of one point that failed: the failure itself, as an error of the command. 0 where it did not.
 */
int place_fail_alone(const struct study_report *r, struct err *e);
/** Schedulers and columns of each model, for --list. */
int place_list(struct text *out, struct err *e);

/** What schedulers and networks of a model are compared by. */
enum place_metric place_model_aim(enum place_model model);

/* ---- differences (place_base.c) ---- */

/** What rows are compared with, as the study says. Zero-initialise; release with place_base_free(). */
struct place_base {
    int64_t *at;                  /**< study.base_at, owned */
    struct text scheduler, label; /**< scheduler: empty: the row's own, */
    bool first;                   /**< or the first of the point */
};
/** Key `baseline`, or what stands for it. ERR_PARSE, ERR_RANGE with the place. */
int place_base_read(struct place_base *b, const struct study *s, const struct yaml_doc *doc,
                    const struct place_study *first, struct err *e);
void place_base_free(struct place_base *b);
/** Keys of it without effect, as s->notes: the study has one network and one scheduler. */
void place_base_note(const struct place_base *b, struct study *s, const struct yaml_doc *doc,
                     const struct place_study *first);

/** The difference, half of its interval, seeds in which the row is better; NaN, -1: none. 0 of the base. */
struct place_gap {
    double pct, half;
    int64_t wins;
};
/** Entry @p i against the base of its point, under @p scheduler; NULL: under the same. @p x has room for all
 * seeds. */
struct place_gap place_compare(const struct results *r, int32_t i, const char *scheduler,
                               enum place_metric aim, double *x);

/* ---- jobs of a trace, and their speed on links (place_events.c) ---- */

/** Where jobs come from. Safe to free after failure (place_study_free()). ERR_PARSE, ERR_RANGE. */
int place_read_trace(struct place_trace *out, const struct yaml_doc *doc, yaml_id at, struct err *e);
/** Notes of keys of @p map, read so, without effect. */
void place_note_trace(struct place_study *s, yaml_id map);
/**
 * The jobs, what is unknown drawn by the run's seed; free with trace_free(). What was passed over and what
 * was drawn goes to its notes. Errors of trace_read() and so on. The file is read anew for each seed: a
 * window of it may be drawn by the seed.
 */
int place_take_trace(struct trace *t, const struct place_run *r, struct err *e);
/** The models of `jobs.mix`, with their plans. ERR_PARSE, ERR_RANGE; what a search says. */
int place_read_mix(struct place_study *s, struct err *e);
void place_mix_free(struct place_trace *t);
/** Which entry of the mix each of @p n jobs is, by the run's seed. ERR_NOMEM. */
int place_draw_mix(int32_t *of, const struct place_trace *t, int32_t n, int64_t seed, struct err *e);
/** The entry of that name, or -1. */
int32_t place_find_mix(const struct place_trace *t, const char *model);
/** ERR_RANGE unless GPUs, run time and iterations of a job are known. */
int place_check_known(const struct trace_job *t, struct err *e);

/** Key `events`, which says how fast jobs run on links, of a model that may do without the rest; and notes of
 * what of it has no effect. */
int place_read_pace(struct place_study *s, struct err *e);
/** After place_read_pace(), and when the schedulers are known: uses depend on both. */
void place_note_pace(struct place_study *s);
/** How fast jobs run on the cluster of @p s. */
struct pace_graph_settings place_fix_pace(const struct place_study *s);

/* ---- rows of details (place_tables.c) ---- */

/** How every row begins; filled in by those who put it. */
struct place_row_head {
    int64_t seed;
    const char *scheduler, *unit;
};

struct place_job_row {
    struct place_row_head head;
    const char *job; /**< its name; NULL: "job12", by its number */
    const char *status;
    double submit, start, end; /**< NaN = none */
    double jct;                /**< end - submit, filled in */
    double gpus, servers, progress, utility;
    unsigned drawn;        /**< what of it was drawn and not read from its trace: trace_job.synthetic, */
    const char *synthetic; /**< and its names, filled in */
};
/** Nothing where the table is not wanted, as in all calls below. Fields "filled in" need not be set. */
void place_put_job(const struct place_run *r, int32_t number, struct place_job_row row);

/**
 * GPUs of one server that job @p number, of that name or NULL, holds for a time. A stay is one row however
 * many GPUs it has; times in the unit of the model.
 */
void place_put_place(const struct place_run *r, const char *job, int32_t number, int32_t server, double gpus,
                     double from, double to);

/**
 * A slot, or the time between two events; NaN (of row_clear()) where a model does not know a value. Fractions
 * are 0 to 1, of capacity; a load above 1 only where a scheduler may exceed it.
 */
struct place_slot_row {
    struct place_row_head head;
    double from, to, active, running, gpu_frac, reserved_GBps, link_frac; /**< jobs, then shares */
    double bound, value, guarantee, node_over, node_beta, link_over, link_gamma;
};
void place_put_slot(const struct place_run *r, struct place_slot_row row);

struct place_link_row {
    struct place_row_head head;
    const char *link; /**< filled in, as is its bandwidth */
    double bw_GBps, from, to;
    double load_frac; /**< reserved, where a model reserves, else in use; mean over the time */
    double used_frac; /**< in use, mean over the time */
    double peak_frac; /**< in use, at its greatest; NaN: not known */
};
void place_put_link(const struct place_run *r, int32_t arc, struct place_link_row row);

/** A row for each tenant of a run of model events, by what its jobs held (place_tenants.c). @p jobs and those
 * of
 * @p t, in their order, are the run's. */
void place_put_tenants(const struct place_run *run, const struct job *jobs, const struct trace *t,
                       const struct events_result *r);

/** Every link in every bin that begins before @p last_s. */
void place_put_bins(const struct place_run *r, const struct link_bins *b, double last_s);

#endif
