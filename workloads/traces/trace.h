/** @file Job traces of clusters: eleven formats read into one list of jobs, and that list as a CSV file. */
#ifndef WORKLOADS_TRACES_TRACE_H
#define WORKLOADS_TRACES_TRACE_H

#include "base/json_read.h"
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
    TRACE_TENANT,
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
    char *tenant;       /**< owned, whose job it is: virtual cluster, account, group; NULL */
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

/** Add the jobs of @p path to @p t. Errors as trace_read(). */
typedef int trace_reader(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);

/** A format: what `weft import --trace` calls it. */
struct trace_format {
    const char *name, *help;
    trace_reader *read;                /**< NULL: rows are all there is to it, */
    const struct trace_layout *layout; /**< and they look like this */
    bool as_given; /**< submit_s stays what the file says; else the earliest job kept is at 0 */
};

/** philly, helios, acme, pai, openb, google, gavel, tiresias, pollux, swf, sacct, csv. */
enum { N_TRACE_FORMATS = 12 };
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

/* ---- windows ---- */

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

/* ---- for the readers of formats: rows, one by one, with their fields by name or number ---- */

enum { TRACE_MAX_FIELDS = 64, TRACE_NOTED = 5 /**< bad records that are told one by one */ };

/** A column that a format has; its number is its place in trace_layout.columns. */
struct trace_column {
    const char *name;
    bool needed; /**< a header without it is an error */
};

enum trace_header {
    TRACE_HEADER,    /**< the first row names the columns, in any order, others among them */
    TRACE_HEADER_IF, /**< if its first field is the first column's name; else they stand as listed */
    TRACE_NO_HEADER, /**< they stand as listed */
};

/** What take() made of a row. */
enum trace_taken {
    TRACE_TAKEN,    /**< a job */
    TRACE_MERGED,   /**< part of a job that take() keeps itself */
    TRACE_LEFT_OUT, /**< no job, counted in trace.n_left_out */
};

struct trace_row;

/** How the rows of a format look. */
struct trace_layout {
    const struct trace_column *columns; /**< shape [n_columns] */
    int32_t n_columns;
    enum trace_header header;
    char separator; /**< ' ' stands for any blanks */
    char comment;   /**< lines that begin with it are passed over; '#' only before the header; 0 = none */
    bool exact; /**< fields are taken as they stand: blanks count, "NA" is a text; odd columns are noted */
    bool any_width;  /**< take() looks at n_fields itself */
    const char *how; /**< ends the message about a column that is needed and missing; NULL: nothing */
    /** What else the header must have; NULL: nothing. 0 or ERR_PARSE. */
    int (*check)(struct trace_row *row);
    /**
     * Fill @p job, of which only the index is known. @return enum trace_taken, or a negative code: the row is
     * bad. What is in @p job then is freed.
     */
    int (*take)(struct trace_row *row, struct trace_job *job);
};

/** A row under way. */
struct trace_row {
    const struct trace_layout *layout;
    struct trace *t;
    const struct trace_settings *s;
    void *context; /**< of the format */
    const char *path;
    int64_t line;
    char *fields[TRACE_MAX_FIELDS]; /**< shape [n_fields], in the line */
    int32_t n_fields, n_names;      /**< of the row; of the header */
    int32_t at[TRACE_MAX_FIELDS];   /**< field of each column of the layout, -1 = none */
    bool begun;                     /**< the header, if there is one, was read */
    int64_t n_odd;                  /**< rows with a status that is no known word */
    char odd[32];                   /**< the first such */
    struct err *e;
};

/**
 * Add the rows of @p path to @p t. Quotes as in RFC 4180 for ',' only, no line end inside.
 * @return as trace_read().
 */
int trace_read_rows(struct trace *t, const char *path, const struct trace_layout *layout, void *context,
                    const struct trace_settings *s, struct err *e);

/** Make a bad record of @p rc pass where settings allow it: 0, counted and noted; else @p rc. */
int trace_forgive(struct trace *t, const struct trace_settings *s, int rc, const struct err *e);
/** Add @p job unless it has no GPU; owns it. ERR_NOMEM. */
int trace_keep(struct trace *t, const struct trace_settings *s, struct trace_job *job, struct err *e);
/** Note that @p n jobs ask for parts of GPUs, @p asked in all, and get @p given whole ones; nothing for 0. */
void trace_note_shared(struct trace *t, const char *path, int64_t n, double asked, double given);
/** A copy of @p s, checked; @p what names it in messages, which start with `path:line`. */
int trace_copy_text(char **out, const char *path, int64_t line, const char *what, const char *s,
                    struct err *e);

/** Field of column @p k without blanks around it; "" if there is none or it says NA, None, null, nan and
 * such.
 */
const char *trace_field(const struct trace_row *row, int32_t k);
/** Record "path:line: COLUMN is "X", need NEED"; returns @p code. */
int trace_fail_field(const struct trace_row *row, enum err_code code, int32_t k, const char *need);

/** Values of column @p k; what is not there is NULL, NaN, -1. 0, ERR_PARSE, ERR_RANGE, ERR_NOMEM. */
int trace_take_text(const struct trace_row *row, int32_t k, char **out);
int trace_take_real(const struct trace_row *row, int32_t k, double min, double max, double *out);
/** A whole number from 0, "8" or "8.0". */
int trace_take_count(const struct trace_row *row, int32_t k, int64_t max, int64_t *out);
int trace_take_small(const struct trace_row *row, int32_t k, int32_t *out); /**< up to TRACE_MAX_GPUS */
/** A date as trace_parse_time() has it, or seconds. */
int trace_take_time(const struct trace_row *row, int32_t k, double *out);
/** The same, but its absence is an error. */
int trace_need_time(const struct trace_row *row, int32_t k, double *out);
/** runtime_s from two times; NaN if one is not known; ERR_RANGE: @p end_s before @p start_s. */
int trace_take_runtime(const struct trace_row *row, int32_t start, int32_t end, double *out);

/** "2017-10-07 01:12:09[.5][zone]" as seconds since 1970 UTC; zone: Z, UTC, +08:00, +0800; none is UTC. */
bool trace_parse_time(const char *text, double *out);

/** A word of a trace and what it means here. */
struct trace_status_word {
    const char *word;
    enum trace_status status;
};
/** enum trace_status of @p text, of which the first word counts ("CANCELLED by 1000"); unknown if not listed.
 */
int32_t trace_find_status(const struct trace_status_word *words, size_t n, const char *text);
/** The same of column @p k; what is not listed is counted for a note. */
int32_t trace_take_status(struct trace_row *row, int32_t k, const struct trace_status_word *words, size_t n);

/** The readers of trace_formats, and how rows look where there is nothing else to read. */
extern trace_reader trace_read_philly, trace_read_helios, trace_read_pai, trace_read_openb, trace_read_google,
    trace_read_swf, trace_read_sacct;
extern const struct trace_layout trace_gavel, trace_tiresias, trace_pollux, trace_canonical;

#endif
