/**
 * @file The library of weft: split the bandwidth of a network, time a training step on it, run studies of any
 * kind and read their rows.
 *
 * A study is a YAML file as the program takes it (docs/sweep.md, `weft keys`), a network file, or a word such
 * as "ring:4@50 switch:8@25". Results are rows: values under the names that CSV has.
 *
 *     weft_study *study;
 *     weft_row *row;
 *     weft_error error;
 *     if (weft_load(&study, "study.yaml", &error) == 0 && weft_split(&row, study, &error) == 0)
 *         printf("%g s\n", weft_number(row, "time_s"));
 *
 * Functions return 0 or one of enum weft_code, with a message in the error, which is written on failure
 * alone. Nothing prints, exits, or looks at the environment or at signals. Different studies may be used by
 * different threads at the same time. Errors of igraph and GSL in this process are handled by weft from the
 * first weft_load() on: both keep one handler for all threads.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 2
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION       "0.2.0"

#if defined __GNUC__ && !defined WEFT_API
#define WEFT_API __attribute__((visibility("default")))
#elif !defined WEFT_API
#define WEFT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum weft_code {
    WEFT_OK = 0,
    WEFT_NOMEM = 1,       /**< no memory left */
    WEFT_IO = 2,          /**< a file could not be written */
    WEFT_PARSE = 3,       /**< input is missing, unreadable or not the expected grammar */
    WEFT_RANGE = 4,       /**< a value is outside its range, or contradicts another */
    WEFT_UNSUPPORTED = 5, /**< valid, but not built in */
    WEFT_LIBRARY = 6,     /**< igraph, GSL, GLPK or libyaml refused a call */
    WEFT_USAGE = 7,       /**< an argument is wrong */
    WEFT_NO_DESIGN = 8,   /**< nothing fits what was asked for */
    WEFT_STOPPED = 9,     /**< the callback asked to stop */
};

typedef struct {
    int code;        /**< enum weft_code */
    char text[1024]; /**< one line without newline; "" without an error */
} weft_error;

/** A study with what was set on it; release with weft_free_study(). */
typedef struct weft_study weft_study;
/** One result; release with weft_free_row(), but for rows that a callback is given. */
typedef struct weft_row weft_row;

/** The version of the library at hand: "0.2.0". */
WEFT_API const char *weft_version(void);

/**
 * Look into @p folder first for networks, models, NPUs and the like that are given by bare name, as the
 * program does with $WEFT_DATA; then into that which it was built for. NULL: none. For the process,
 * before other threads use weft; the text must last. Since 0.2.
 */
WEFT_API void weft_use_data(const char *folder);

/**
 * Name a study file, a network file, or a network as one word. What it says is read when it is used.
 * @param[out] study  NULL after failure.
 * @return WEFT_NOMEM, WEFT_PARSE (no such file and no word of a network).
 */
WEFT_API int weft_load(weft_study **study, const char *path_or_word, weft_error *error);

/**
 * Set a key, as `--set KEY=VALUE` does: weft_set(s, "total_GBps", "500", e), weft_set(s, "vary", "{...}", e).
 * The value is YAML. Wrong keys and values are errors of what uses the study next; of two values for a key
 * the later counts. WEFT_NOMEM.
 */
WEFT_API int weft_set(weft_study *study, const char *key, const char *value, weft_error *error);

/**
 * Split bandwidth over the dimensions, as `weft alloc` does; `vary` is passed over. The row has status,
 * time_s, bw1_GBps and so on, cost_usd, gap: the columns of `weft sweep`. Infeasible, unbounded and the like
 * are values of `status`, not failures.
 * @return WEFT_NOMEM, WEFT_PARSE, WEFT_RANGE with the place in the file.
 */
WEFT_API int weft_split(weft_row **row, const weft_study *study, weft_error *error);

/**
 * Time a step at the bandwidths that the network has, as `weft sim` does.
 * @param model  "bandwidth", "alpha-beta", "chunk", "flow", or NULL for the study's.
 * @return as weft_split(); WEFT_RANGE where a dimension has no bandwidth.
 */
WEFT_API int weft_simulate(weft_row **row, const weft_study *study, const char *model, weft_error *error);

/**
 * Say why a step takes its time, as `weft explain` does: the row of weft_simulate() in the study's model, or
 * of weft_split() where the network lacks a bandwidth, with lists more, for which changed designs are timed.
 * Errors of both. Since 0.2.
 */
WEFT_API int weft_explain(weft_row **row, const weft_study *study, weft_error *error);

/** How weft_run() runs; fill with weft_run_defaults() first. */
typedef struct {
    size_t size;       /**< of this struct, set by weft_run_defaults(): it may grow at its end */
    int threads;       /**< 1 to 1,024; default 1 */
    const char *store; /**< file that keeps rows, so that a run that is ended goes on; NULL: memory */
    void *data;        /**< for the functions below */
    /** Called for each row when all are there, in their order, by the thread that called weft_run(). Not 0
     * stops: WEFT_STOPPED. NULL: no rows wanted. The row is valid until it returns. */
    int (*row)(void *data, const weft_row *row);
    /** Called now and then by one thread at a time; not 0 stops: WEFT_STOPPED, with what is done in the
     * store. */
    int (*progress)(void *data, long long done, long long all);
} weft_run_options;

WEFT_API void weft_run_defaults(weft_run_options *options);

/**
 * Run all points of a study of any kind (designs, placements, layers on resources, gossip). Rows are the same
 * for any number of threads, and whether or not a run was ended and gone on with.
 * @return as weft_split(); WEFT_STOPPED; WEFT_IO, and WEFT_RANGE for a store of another study.
 */
WEFT_API int weft_run(const weft_study *study, const weft_run_options *options, weft_error *error);

/** Warnings of what used the study last (keys without effect and the like), a line each; "" without. Valid
 * until the study is used again. */
WEFT_API const char *weft_notes(const weft_study *study);

/** Name of column @p i, from 0; NULL after the last. */
WEFT_API const char *weft_column(const weft_row *row, int i);

/** What a value is. */
enum weft_kind {
    WEFT_MISSING = 0, /**< blank in CSV, null in JSON; also where there is no such column */
    WEFT_INTEGER = 1, /**< whole, as weft_number() has it: exact up to 2^53 */
    WEFT_NUMBER = 2,
    WEFT_WORD = 3, /**< weft_text() has it */
};

/** enum weft_kind of a value. Values of a column are of one kind or missing. Since 0.2. */
WEFT_API int weft_kind(const weft_row *row, const char *column);
/** Unit of a column: "s", "GB/s"; "" of one without; NULL: there is no such column. Since 0.2. */
WEFT_API const char *weft_unit(const weft_row *row, const char *column);
/** NaN where the value is missing or a word, or there is no such column. */
WEFT_API double weft_number(const weft_row *row, const char *column);
/** NULL where the value is missing or a number, or there is no such column. Lives as long as the row. */
WEFT_API const char *weft_text(const weft_row *row, const char *column);

/**
 * What a row of weft_split(), weft_simulate() or weft_explain() consists of, as lists of rows that are read
 * with the functions above; of what the study does not have, a list is empty. Units are in the names of
 * columns.
 *
 *     for (int i = 0; i < weft_count(row, "bill"); i++) {
 *         const weft_row *line = weft_item(row, "bill", i);
 *         printf("%s: %g USD\n", weft_text(line, "item"), weft_number(line, "usd"));
 *     }
 *
 * Lists, with their columns:
 *
 * - "dims", dimensions: dim, shape, size, bw_GBps; least_GBps and most_GBps of splits that are as good;
 *   sent_B of an NPU and busy_s in a step; utilization; usd_per_GBps of one NPU; cost_usd.
 * - "bill", items in whole parts: dimension, tier, item, count, unit, usd, usd_low, usd_high, watt, grade,
 *   band_grade, watt_grade, source, date, in_server ("yes", "no").
 * - "shadow_prices", constraints: constraint; shadow_price, the fall of the objective, in `unit`, per one
 *   `per` more on the right-hand side; within; binding ("yes", "no"); left of the right-hand side, in `per`.
 * - "steps", whole parts, a dimension at the next bandwidth that its ports give: dim, way ("up", "down"),
 *   bw_GBps; more_usd and more_s, below 0 what it saves; breaks, a constraint.
 * - "evidence", what measured steps say of a model's time: workload, rows, rows_same_precision, npu,
 *   software, experts, mean_error, band, low_s, high_s.
 * - "budgets", limits under `budget`: budget, value, limit, slack, unit of these, verdict ("within", "over",
 *   "unknown"), low and high of the value by such prices.
 * - "items", what is owned, with `system`: item, count, unit, price_usd, capital_usd_year, support_usd_year,
 *   watt_peak, power_usd_year.
 * - "failures", kinds of them, with `system`: part, count, mtbf_h, per_year, npus_taken, bw_left_frac,
 *   stops_share, goodput_without.
 * - "a_tenth_more", what that does, with `system`: factor; usd_npu_h and usd_work, relative growth.
 * - "warnings", lines of weft_notes(): warning.
 *
 * Of weft_explain() also:
 *
 * - "what_limits", parts of the path that decides the step: what, path_s, endless_saves_s.
 * - "one_more_GBps", a small change of a dimension: dim; saves_s and costs_usd of one more GB/s;
 *   one_usd_less_loses_s; endless_saves_s.
 * - "bounds", what the step cannot be below: name, time_s, holds ("yes", "no").
 *
 * Name of list @p i, from 0; NULL after the last. Since 0.2, with the two below.
 */
WEFT_API const char *weft_list(const weft_row *row, int i);
/** How many rows; -1: the row has no such list (rows of weft_run() have none). */
WEFT_API int weft_count(const weft_row *row, const char *list);
/** Row @p i, from 0; NULL: there is none. Lives as long as @p row and is released with it. */
WEFT_API const weft_row *weft_item(const weft_row *row, const char *list, int i);

/** NULL is fine. */
WEFT_API void weft_free_study(weft_study *study);
WEFT_API void weft_free_row(weft_row *row);

#ifdef __cplusplus
}
#endif

#endif
