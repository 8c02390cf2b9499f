/** @file Measured times of a collective by size. */
#ifndef WORKLOADS_CURVES_CURVE_H
#define WORKLOADS_CURVES_CURVE_H

#include "base/text.h"
#include "workloads/collective.h"

enum {
    CURVE_NAME = 96,
    CURVE_MAX_POINTS = 4096, /**< of one curve; a run of nccl-tests has some thirty */
    CURVE_MAX_CURVES = 4096,
    CURVE_MAX_RANKS = 1 << 24,
};

/** Sizes are those of nccl-tests: the whole buffer, S of algorithm_cost(); of an all-gather what leaves it.
 */
struct curve {
    char name[CURVE_NAME]; /**< of its source, cut to fit; "" when there is none */
    enum collective_kind collective;
    int32_t ranks; /**< >= 2 */
    int32_t nodes; /**< -1 when not said */
    int32_t n, cap;
    double *bytes;      /**< shape [n], owned, > 0, growing */
    double *time_s;     /**< shape [n], owned, > 0 */
    double *blur;       /**< shape [n], owned: half of the last printed digit over the value; what is lost by
                           rounding */
    int64_t first_line; /**< of the file */
};

/** Zero-initialise; release with curve_list_free(). */
struct curve_list {
    struct curve *curves; /**< shape [n], owned */
    int32_t n, cap;
    struct text notes; /**< a line per remark: "file:line: ..." */
};

/** What a file may leave open. */
struct curve_defaults {
    int32_t collective; /**< enum collective_kind, -1 = as the file says */
    int32_t ranks;      /**< 0 = as the file says */
};

void curve_list_free(struct curve_list *list);

/** Begin an empty curve at the end. @return it, or NULL with ERR_NOMEM or ERR_RANGE in @p e. Pointers to
 * other curves of the list are no longer valid. */
struct curve *curve_add(struct curve_list *list, struct err *e);

/** Append a point. 0, ERR_NOMEM or ERR_RANGE (more than CURVE_MAX_POINTS). */
int curve_add_point(struct curve *c, double bytes, double time_s, double blur, struct err *e);

/** Remove curves without points. */
void curve_list_compact(struct curve_list *list);

/**
 * The collective that @p text names, in any writing ("all_reduce_perf", "AllReduce", "allreduce ring",
 * "out/alltoall-8.log"), or -1: none, several, or one that weft does not model (reduce, gather, scatter).
 */
int32_t curve_parse_collective(const char *text);

/** Bus bandwidth over S/time, as nccl-tests defines it (doc/PERFORMANCE.md): 2(n-1)/n for all-reduce, (n-1)/n
 * for reduce-scatter, all-gather and all-to-all, else 1. */
double curve_bus_factor(enum collective_kind kind, int32_t ranks);

/** Half of the last digit that @p text, a number, was printed with: "231.4" 0.05, "12346" 0.5, "1.2e+08" 5e6.
 */
double curve_half_digit(const char *text);

/**
 * Read output of nccl-tests (workloads/nccl.h) or CSV (workloads/curve_csv.h), whichever it is: CSV has a
 * line of column names with `bytes` among them before anything but comments.
 *
 * @param[out] list  uninitialised; owned by the caller after success, empty after failure.
 * @param path       of a file; pipes too.
 * @param[out] hash  of its bytes; may be NULL.
 * @return 0, ERR_NOMEM, or ERR_PARSE, ERR_RANGE, ERR_UNSUP with `file:line: ...`.
 */
int curve_read_file(struct curve_list *list, const char *path, struct curve_defaults dflt,
                    unsigned long long *hash, struct err *e);
/** The same of @p n bytes in memory; @p name stands for the file. */
int curve_read_text(struct curve_list *list, const char *name, const char *text, size_t n,
                    struct curve_defaults dflt, struct err *e);

/*
 * Measured curves from CSV.
 */

/**
 * Append the curves of CSV with a line of column names: `bytes` and `time_us` or `busbw_GBps` (where a row
 * has both, the time is taken); `collective` (curve_parse_collective() of it), `gpus` or `ranks`, `nodes`,
 * and `curve`, else `source`, if they are there. Other columns are ignored. Rows that agree in ranks, nodes
 * and the text of `curve` (or `source`) and `collective` are a curve. RFC 4180 quoting, but no line end
 * within a field; '#' comment lines and empty lines anywhere.
 *
 * Rows without bytes or with a value of zero (a bandwidth printed as 0.00) are left out with a note.
 *
 * @param text  terminated.
 * @return 0, ERR_NOMEM, or ERR_PARSE or ERR_RANGE with `name:line: ...`: no such columns, no number, a
 * negative one, sizes that do not grow, a collective or number of ranks that neither row nor @p dflt says, or
 * that contradict. O(rows * curves).
 */
int curve_csv_read(struct curve_list *list, const char *name, const char *text, struct curve_defaults dflt,
                   struct err *e);

/*
 * What nccl-tests prints: github.com/NVIDIA/nccl-tests, all versions from 2018 to 2.19.
 */

/**
 * Append the curves of a log of nccl-tests.
 *
 * A row is: size, count, type, then by version redop and root, then for out-of-place and in-place time,
 * algbw, busbw and #wrong, with columns between and behind them by version and option (copybw, i_min i_max
 * i_p99 i_cv%) and a time of day at the end. The line of column names says which; without one the number of
 * fields does. Out-of-place times are taken, or those in place where a row has only them. Times are in us; in
 * ms below the header "bytes N type op" of 2018. Lines of other origin are skipped, and the prefix
 * "[1,0]<stdout>:" of mpirun.
 *
 * The collective comes from the line "Collective test starting", else @p dflt, else @p name; the number of
 * ranks from the lines "#  Rank", else @p dflt. A new header, test or data type begins a new curve. Tests of
 * what weft does not model (reduce, gather, scatter, hypercube) are left out with a note, as are rows cut
 * short, wrong results, sizes and times of zero.
 *
 * @param text  terminated.
 * @return 0, ERR_NOMEM, or ERR_PARSE or ERR_RANGE with `name:line: ...`: a field that is no number, sizes
 * that do not grow, collective or ranks not known or contradicting @p dflt, a busbw that is not algbw times
 * the factor of the collective as printed. O(bytes).
 */
int nccl_read(struct curve_list *list, const char *name, const char *text, struct curve_defaults dflt,
              struct err *e);

#endif
