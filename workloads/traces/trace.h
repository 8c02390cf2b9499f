/** @file Job traces of clusters: ten formats read into one list of jobs, and that list as a CSV file. */
#ifndef WORKLOADS_TRACES_TRACE_H
#define WORKLOADS_TRACES_TRACE_H

#include "base/table.h"

/** Columns of the canonical CSV, in its order; a bit each of trace_job.synthetic. */
enum trace_column_id {
    TRACE_JOB_ID,
    TRACE_SUBMIT,
    TRACE_GPUS,
    TRACE_RUNTIME,
    TRACE_STATUS,
    TRACE_MODEL,
    TRACE_ITERS,
    TRACE_GRAD,
    TRACE_BATCH,
    TRACE_PS,
    TRACE_WORKERS,
    TRACE_PRIORITY,
    TRACE_SYNTHETIC,
    N_TRACE_COLUMNS,
};

/** "job_id", "submit_s", "gpus", ... */
extern const char *const trace_column_names[N_TRACE_COLUMNS];

/** How a job ended, as far as the trace tells. */
enum trace_status {
    TRACE_STATUS_UNKNOWN = -1,
    TRACE_PASSED,
    TRACE_FAILED,  /**< by itself or by the cluster, a limit of time among it */
    TRACE_KILLED,  /**< by its user or for another job */
    TRACE_RUNNING, /**< when the trace ends */
    TRACE_WAITING, /**< never ran */
    N_TRACE_STATUSES,
};

/** "pass", "failed", "killed", "running", "waiting"; NULL-terminated. */
extern const char *const trace_status_words[N_TRACE_STATUSES + 1];

/** Limits of what a file may say; beyond them a row is bad. */
#define TRACE_MAX_GPUS   1000000
#define TRACE_MAX_COUNT  1000000000000000LL /**< iterations, samples */
#define TRACE_MAX_TIME_S 1e11               /**< either way: three thousand years */
#define TRACE_MAX_BYTES  1e18
enum { TRACE_MAX_LINE = 1 << 20, TRACE_MAX_TEXT = 255 };

/** What was asked of a cluster. A field that is not known is NaN, -1 or NULL. */
struct trace_job {
    char *id;           /**< owned, 1 to 255 bytes, no control characters */
    double submit_s;    /**< see trace.origin_s; always known */
    int32_t gpus;       /**< GPUs (SWF: processors) all together, rounded up where parts are shared; -1 */
    double runtime_s;   /**< time on the cluster, >= 0; of several attempts the sum; NaN */
    int32_t status;     /**< enum trace_status */
    char *model;        /**< owned, as the trace calls it; NULL */
    int64_t iters;      /**< iterations in all, >= 0; -1 */
    double grad_bytes;  /**< gradients of one worker [B], > 0; NaN */
    int64_t batch;      /**< samples of an iteration as the trace counts them, >= 1; -1 */
    int32_t ps;         /**< parameter servers; -1 */
    int32_t workers;    /**< -1 */
    double priority;    /**< larger comes first; NaN */
    unsigned synthetic; /**< 1 << enum trace_column_id: this field was drawn, not read */
    int64_t index;      /**< place among all records of the source, from 0: decides what is drawn for it */
};

/** Jobs by submit_s, those of one time by index. Zero-initialise; release with trace_free(). */
struct trace {
    struct trace_job *jobs; /**< shape [n], owned */
    int32_t n, cap;
    /** Where submit_s 0 is on the clock of the source [s], which counts from 1970 UTC where it has dates. */
    double origin_s;
    int64_t n_records;  /**< jobs in the source; for canonical CSV rows, for Google's events of all kinds */
    int64_t n_skipped;  /**< bad ones (trace_settings.skip_bad) */
    int64_t n_no_gpu;   /**< left out: ask for no GPU */
    int64_t n_left_out; /**< left out: no job of their own, as the notes say */
    struct text notes;  /**< a line each: what was left out, guessed or odd */
};

/** `= { 0 }` is strict. */
struct trace_settings {
    bool skip_bad;  /**< pass over bad records and count them; false: the first one is an error */
    bool keep_idle; /**< keep jobs without GPU, with gpus 0; false: count them and leave them out */
};

/** A format: what `weft import --trace` calls it. */
struct trace_format {
    const char *name, *help;
    int (*read)(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
    bool as_given; /**< submit_s stays what the file says; else the earliest job kept is at 0 */
};

/** philly, helios, acme, pai, openb, google, gavel, tiresias, pollux, swf, csv. */
enum { N_TRACE_FORMATS = 11 };
extern const struct trace_format trace_formats[N_TRACE_FORMATS];
/** Their names, NULL-terminated. */
extern const char *const trace_format_words[N_TRACE_FORMATS + 1];

/**
 * Read the jobs of @p path. What each format gives is told above its reader in trace_*.c, and in weft(1).
 *
 * @param[out] t   uninitialised; empty after a failure.
 * @param format   index into trace_formats.
 * @param path     a file, "-" for standard input; of pai also the folder of its tables, of google also that
 *                 of its parts.
 * @return 0; ERR_NOMEM; ERR_IO; ERR_PARSE, ERR_RANGE with `file:line: ...`: unreadable, not this format, a
 * bad record (unless skip_bad), no job left. A header or JSON that is broken is an error under skip_bad too.
 *
 * One pass, memory proportional to the jobs kept and one record; time O(bytes + n log n).
 */
int trace_read(struct trace *t, int format, const char *path, const struct trace_settings *s, struct err *e);

/** trace_read() of canonical CSV; what trace_format_csv() wrote comes back bit by bit. */
int trace_read_csv(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);

/**
 * Fill the empty @p table: a row a job, in order; what is not known has no value. Write it by table_write(),
 * which also tells lack of memory. O(n).
 */
void trace_format_csv(struct table *table, const struct trace *t);

void trace_free(struct trace *t);

/** A job of which nothing is known but its index. */
struct trace_job trace_job_unknown(int64_t index);
void trace_job_free(struct trace_job *job);
/** Append; the job is the trace's then, also on failure, which frees it. ERR_NOMEM. */
int trace_add(struct trace *t, struct trace_job *job, struct err *e);
/** Order the jobs; with @p shift the earliest moves to 0 and origin_s by as much. O(n log n). */
void trace_sort(struct trace *t, bool shift);

/** "gpus;batch": the names of drawn fields, bits as in trace_job, in place of what @p list held. */
void trace_name_synthetic(struct text *list, unsigned synthetic);

/** In how many jobs each field was drawn. */
void trace_count_synthetic(const struct trace *t, int64_t counts[N_TRACE_COLUMNS]);

/*
 * Part of a trace, and how fast its jobs come; arrivals made up.
 */

/** Every status, the unknown one too; bit 1 << (status + 1). */
#define TRACE_ANY_STATUS ((1u << (N_TRACE_STATUSES + 1)) - 1)

/** What trace_cut() keeps; start from trace_window_default(). */
struct trace_window {
    int64_t n;     /**< jobs; 0 = all that fit */
    int64_t start; /**< the first, from 0 among those that fit; -1 = drawn by seed */
    uint64_t seed;
    unsigned statuses; /**< jobs of these fit: bits 1 << (enum trace_status + 1) */
    int32_t max_gpus;  /**< jobs that ask for more do not fit; 0 = no limit */
    bool with_work;    /**< jobs whose run time or iterations are 0 do not fit; unknown ones do */
    double horizon_s;  /**< the last job comes then [s], >= 0; NaN = arrivals keep their distances */
    double rate;       /**< jobs come this many times as fast, > 0; 1 with a horizon */
};

/** All jobs, at their own pace. */
struct trace_window trace_window_default(void);

/**
 * Keep @p w->n consecutive jobs of those that fit. The first one kept arrives at 0 and, with a horizon, the
 * last at horizon_s, those between in proportion (all at 0 when all came at once); else submit_s - that of
 * the first, over rate. What does not fit is told in the notes. Indices stay: draws do not depend on windows.
 * @return 0, ERR_NOMEM, or ERR_RANGE: fewer jobs fit than are asked for. O(n).
 */
int trace_cut(struct trace *t, const struct trace_window *w, struct err *e);

/**
 * @p n jobs "0", "1", .. that arrive as a Poisson process of @p rate_per_s [1/s] > 0, the first one after an
 * exponential time too; submit_s is marked synthetic and everything else unknown.
 * @param[out] t  uninitialised; empty after a failure.
 * @return 0, ERR_RANGE (n below 1 or a rate that is not above 0) or ERR_NOMEM.
 */
int trace_draw_arrivals(struct trace *t, int32_t n, double rate_per_s, uint64_t seed, struct err *e);

#endif
