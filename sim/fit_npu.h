/** @file From measured times of operators to the efficiencies of an NPU. */
#ifndef SIM_FIT_NPU_H
#define SIM_FIT_NPU_H

#include "base/table.h"
#include "topo/npu.h"

enum fit_operator {
    FIT_STREAM,    /**< elementwise: bytes */
    FIT_MATRIX,    /**< a matrix product: m, n, k, batch */
    FIT_ATTENTION, /**< the products of unfused attention: m, n, k, batch */
    FIT_FLASH,     /**< fused attention: flop (causal ones only), bytes */
    N_FIT_OPERATORS,
};

/** "stream", "matrix", "attention", "flash"; NULL-terminated. */
extern const char *const fit_operator_words[N_FIT_OPERATORS + 1];

struct fit_row {
    enum fit_operator op;
    double m, n, k, batch; /**< > 0 */
    double flop, bytes;
    double time_s;  /**< measured, > 0 */
    double model_s; /**< after the fit */
};

/** Errors over the rows of one kind. */
struct fit_kind {
    int32_t n;
    double mean_frac, max_frac; /**< of |model - measured| / measured */
};

/** Release with fit_npu_free(). */
struct fit_npu {
    struct topo_npu npu;  /**< as given, with what was fitted */
    struct fit_row *rows; /**< shape [n], owned */
    int32_t n;
    struct fit_kind kinds[N_FIT_OPERATORS];
};

/**
 * Read rows from table @p t: column op and time_us; m, n, k (batch: 1 where absent) of matrix and attention,
 * bytes of stream, GFLOP (bytes: 0 where absent) of flash. ERR_PARSE with `name:row N: ...`: an unknown op, a
 * value that is missing or not above 0; ERR_NOMEM.
 */
int fit_npu_read(struct fit_npu *f, const struct table *t, const char *name, struct err *e);

/**
 * Fit the efficiencies of f->npu (its peaks and memory bandwidth are known) to the rows: mem_efficiency and
 * kernel_s to streams, matrix_efficiency and half sizes to products, then the shares of attention. What has
 * no rows stays. Least sum of squares of log(model / measured), by the simplex method of Nelder and Mead from
 * one start; rounded to 4 digits before errors are counted. ERR_RANGE: fewer rows of a kind than numbers to
 * fit (2 streams, 3 products), or an NPU without peak or memory bandwidth. ERR_NOMEM.
 */
int fit_npu(struct fit_npu *f, struct err *e);

void fit_npu_free(struct fit_npu *f);

#endif
