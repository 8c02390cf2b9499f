/** @file Private to this folder: one point of a placement study, read; and one run of it. */
#ifndef KINDS_PLACE_PLACE_STUDY_H
#define KINDS_PLACE_PLACE_STUDY_H

#include "kinds/place/place.h"
#include "study/axes.h"
#include "sim/slots/slots_draw.h"
#include "sim/events/events.h"
#include "sim/cluster/pace.h"
#include "sim/batch/sjf_bco.h"
#include "sim/interval/interval.h"
#include "topo/bill.h"
#include "workloads/traces/profile.h"
#include "workloads/traces/trace.h"

enum { PLACE_MAX_SCHEDULERS = 32 };

/** As written; a study of one point. Numbers are SI. */
struct place_conf {
    const char *name, *source, *graph, *server;
    int32_t model;
    yaml_id network, parts, servers, racks, pool, jobs, schedulers, gadget, las, sjf_bco, smd, events, vary,
        where, keep;
    int64_t slots, seeds, seed;
};

/** Servers: of a described network, a graph file, or racks drawn anew for each seed. */
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
    double each[CLUSTER_MAX_RESOURCES];
};

/** Jobs of model events. */
struct place_trace {
    char *path, *profile; /**< owned; NULL: none */
    int32_t format;       /**< index into trace_formats */
    bool skip_bad, by_iterations;
    struct trace_window window;
    double jobs_per_s; /**< without a path */
    double overlap_frac;
};

/** Release with place_study_free(). */
struct place_study {
    struct yaml_doc doc;
    int32_t own_source; /**< of the document: the study's own file */
    struct place_conf conf;
    enum place_model model;
    struct place_servers servers;
    char network[128];                        /**< what rows call it; set by `prepare` of place_kind */
    double network_usd;                       /**< typical price of the network's bill; NaN without prices */
    int32_t schedulers[PLACE_MAX_SCHEDULERS]; /**< numbers in the model's list */
    int32_t n_schedulers;
    struct draw_elastic draw_slots;
    struct elastic_settings slots;
    yaml_id batch_sizes, pool_gpus, las_at; /**< what the file says of them; -1: nothing */
    struct sjf_draw_settings batch_draw;
    struct batch_settings batch;
    struct place_trace trace;
    struct events_settings events;
    struct pace_graph_settings pace;
    struct smd_draw interval_draw;
    bool interval_async, interval_real_factor; /**< as the file has them; the draw has their opposites */
    double interval_units;
    int32_t interval_jobs;
    double interval_pool[N_SMD_RESOURCES];
    struct smd_settings interval;
    struct text notes; /**< warnings, a line each */
};

/** What one scheduler came to with one seed. */
struct place_outcome {
    double x[N_PLACE_METRICS]; /**< NaN where it says nothing */
    int64_t n_jobs;
};

/** Tables of a study, by their number (place_kind.tables). Those but the first two are of the first seed of
 * each point. */
enum {
    PLACE_TABLE_JOBS = TABLE_RUNS + 1,
    PLACE_TABLE_PLACES,
    PLACE_TABLE_SLOTS,
    PLACE_TABLE_LINKS,
    N_PLACE_TABLES,
};
extern const struct column place_job_columns[], place_place_columns[], place_slot_columns[],
    place_link_columns[];

/** One point and seed, and what is wanted of it. */
struct place_task {
    const struct place_study *study;
    int64_t seed;
    struct sink *sink;
    uint32_t wanted;    /**< bits of the tables above */
    struct text *notes; /**< NULL but for the first seed: what is to be told of a trace, a line each */
};
static inline bool place_wants(const struct place_task *task, int table)
{
    return task->wanted >> table & 1;
}
static inline bool place_wants_any(const struct place_task *task)
{
    return task->wanted >> PLACE_TABLE_JOBS != 0;
}

/** A model: its schedulers, the keys of its jobs, and a run. */
struct place_ops {
    int32_t (*n_schedulers)(void);
    const char *(*scheduler)(int32_t i);
    const struct section *jobs;
    /** Read what is the model's own. */
    int (*read)(struct place_study *s, struct err *e);
    /** All schedulers of the study with one seed, into @p out, shape [n_schedulers]. */
    int (*run)(struct place_outcome *out, const struct place_task *task, struct err *e);
};
extern const struct place_ops place_slots, place_batch, place_events, place_interval;
const struct place_ops *place_ops_of(enum place_model model);

/** The study at a point; @p from has path, overrides and axes. Safe to free after failure. */
int place_study_read(struct place_study *s, const struct study_source *from, struct err *e);
void place_study_free(struct place_study *s);

/** Does the study have servers with links between them, and not a pool? */
bool place_has_servers(const struct place_study *s);

/** The cluster of a study; drawn ones by @p seed. */
int place_build_cluster(struct cluster *c, const struct place_study *s, int64_t seed, struct err *e);

/** What is in play: USE_ bits of the model and of its schedulers. */
uint64_t place_uses(const struct place_study *s);
/** Read a section whose keys are fields of @p s from map @p map; -1: its defaults. */
int place_read_section(struct place_study *s, const struct section *section, yaml_id map, struct err *e);
/** Note that key @p key of map @p map (-1: none), where the user wrote it, has no effect: "used only ...". */
void place_note_key(struct place_study *s, yaml_id map, const char *key, const char *why);
/** A note for each key of @p map (-1: none) that has no use; schema_note_unused(). */
void place_note_unused(struct place_study *s, const struct section *section, yaml_id map, uint64_t active);

/* ---- in words (say.c): hooks of place_kind ---- */

int place_say(struct text *out, const struct study_report *r, struct err *e);
int place_conclude(struct text *out, enum study_verdict *verdict, const struct study_report *r,
                   struct err *e);
int place_fail_alone(const struct study_report *r, struct err *e);
int place_list(struct text *out, struct err *e);

/** All NaN. */
void place_outcome_clear(struct place_outcome *x);

int place_read_gadget(struct elastic_settings *s, const struct yaml_doc *doc, yaml_id map, struct err *e);
int place_read_las(struct elastic_settings *s, const struct yaml_doc *doc, yaml_id map, struct err *e);

/* ---- rows of details (place_tables.c) ---- */

enum { PLACE_JOB = 24 };
/** What a job without a name of its own is called: "job12". Returns @p buf. */
const char *place_job_name(char buf[PLACE_JOB], int32_t number);

struct place_job_row {
    const char *id, *status, *unit;
    double submit, start, end, jct; /**< NaN = none */
    double gpus, servers, progress, utility;
    unsigned synthetic; /**< what of the job was drawn and not read from its trace: trace_job */
};
void place_put_job(const struct place_task *task, const char *scheduler, const struct place_job_row *row);

struct place_span {
    double from, to;
    const char *unit;
};
/** Without a cluster, @p c NULL, a server is called by its number. */
void place_put_place(const struct place_task *task, const char *scheduler, const char *job,
                     const struct cluster *c, int32_t server, double gpus, struct place_span span);

struct place_slot_row {
    int64_t active, running;
    double gpu_frac, reserved_Bps, link_frac;
    struct elastic_note note; /**< of slots; NaN where a model has none */
};
/** What no scheduler has said. */
struct elastic_note place_no_note(void);
void place_put_slot(const struct place_task *task, const char *scheduler, const struct place_slot_row *row,
                    struct place_span span);
/** Of a link's bandwidth; NaN where it is not known. */
struct place_load {
    double load_frac; /**< reserved, where a model reserves, else in use; mean over the span */
    double used_frac; /**< in use, mean over the span */
    double peak_frac; /**< in use, at its greatest */
};
void place_put_link(const struct place_task *task, const char *scheduler, const struct cluster *c,
                    int32_t arc, const struct place_load *load, struct place_span span);

/** Every link in every bin that begins before @p last_s. */
void place_put_bins(const struct place_task *task, const char *scheduler, const struct cluster *c,
                    const struct link_bins *b, double last_s);

#endif
