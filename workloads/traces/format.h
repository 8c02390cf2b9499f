/** @file Rows of a trace, one by one, with their fields by name or number. For the trace readers only. */
#ifndef WORKLOADS_TRACES_FORMAT_H
#define WORKLOADS_TRACES_FORMAT_H

#include "base/lines.h"
#include "workloads/traces/trace.h"

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
    bool any_width; /**< take() looks at n_fields itself */
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

/** The readers of trace_formats. */
int trace_read_philly(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_helios(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_acme(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_pai(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_openb(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_google(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_gavel(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_tiresias(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_pollux(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_swf(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);
int trace_read_canonical(struct trace *t, const char *path, const struct trace_settings *s, struct err *e);

#endif
