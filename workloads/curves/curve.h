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

/** Append a point. 0, ERR_NOMEM or ERR_RANGE (more than CURVE_MAX_POINTS). */
int curve_add_point(struct curve *c, double bytes, double time_s, double blur, struct err *e);

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
 * Read output of nccl-tests or CSV, whichever it is: CSV has a
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

#endif
