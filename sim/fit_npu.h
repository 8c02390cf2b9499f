/** @file From measured times of operators to the figures of an NPU: ceilings, half sizes, rates of attention.
 */
#ifndef SIM_FIT_NPU_H
#define SIM_FIT_NPU_H

#include <stdint.h>

#include "base/err.h"
#include "base/table.h"
#include "base/text.h"
#include "topo/npu.h"

enum fit_operator {
    FIT_STREAM,  /**< elementwise: bytes */
    FIT_MATRIX,  /**< matrix products: m, n, k, batch; the sum of several where these are lists */
    FIT_GROUPED, /**< of experts: m rows of each of `groups`, n and k of the forward product in every pass */
    FIT_ATTENTION, /**< the products of unfused attention: m, n, k, batch */
    FIT_FLASH,     /**< fused attention by its FLOP (causal ones only) and bytes */
    FIT_FUSED,     /**< fused attention by its shape: batch, heads, seq, head_dim, v_head_dim, causal */
    N_FIT_OPERATORS,
};

/** "stream", "matrix", "grouped", "attention", "flash", "fused"; NULL-terminated. */
extern const char *const fit_operator_words[N_FIT_OPERATORS + 1];

enum fit_pass { FIT_FORWARD, FIT_BACKWARD /**< input gradients */, FIT_WEIGHT, N_FIT_PASSES };
extern const char *const fit_pass_words[N_FIT_PASSES + 1];

/** What a table may say of an operator: columns of these names, or of others that options name. */
enum fit_column {
    FIT_COL_OP,
    FIT_COL_PASS,
    FIT_COL_PRECISION,
    FIT_COL_RECIPE,
    FIT_COL_M,
    FIT_COL_N,
    FIT_COL_K,
    FIT_COL_BATCH,
    FIT_COL_GROUPS,
    FIT_COL_HEADS,
    FIT_COL_SEQ,
    FIT_COL_HEAD_DIM,
    FIT_COL_V_HEAD_DIM,
    FIT_COL_CAUSAL,
    FIT_COL_BYTES,
    FIT_COL_GFLOP,
    FIT_COL_TIME,
    FIT_COL_RATE,
    N_FIT_COLUMNS,
};
extern const char *const fit_column_words[N_FIT_COLUMNS + 1];

enum { FIT_COLUMN_NAME = 96, FIT_MAX_PARTS = 16, FIT_MAX_LEFT = 8, FIT_MAX_KEYS = 16 };

/** Zero-initialise: every column has its own name. */
struct fit_columns {
    char name[N_FIT_COLUMNS][FIT_COLUMN_NAME]; /**< of the table; "": its own */
};

/** Take "m=M,n=N": column m is called M in the table. ERR_USAGE: no such column, or no pair. */
int fit_columns_take(struct fit_columns *c, const char *text, struct err *e);

struct fit_part {
    double m, n, k, batch; /**< > 0 */
};

struct fit_row {
    enum fit_operator op;
    enum topo_precision precision;
    enum fit_pass pass;
    struct fit_part parts[FIT_MAX_PARTS]; /**< products whose times add up */
    int32_t n_parts;
    struct topo_npu_heads heads; /**< of fused attention */
    double flop, bytes;          /**< of fused attention flop is half of all where causal */
    bool causal;
    double time_s;  /**< measured, > 0 */
    double model_s; /**< after the fit */
};

/** Rows that one line of the report is about: alike in all of this. */
struct fit_kind {
    enum fit_operator op;
    enum topo_precision precision;
    enum fit_pass pass;
    int heads; /**< enum fit_heads */
    int32_t n;
    double mean_frac, max_frac; /**< of |model - measured| / measured */
};

/** Heads that have figures of their own. */
enum fit_heads { FIT_WIDE, FIT_LOW_RANK, FIT_NARROW, N_FIT_HEADS };

enum { FIT_MAX_KINDS = 32 };

/** Zero-initialise, set npu (and the kernel); release with fit_npu_free(). */
struct fit_npu {
    struct topo_npu npu;     /**< as given, with what was fitted */
    enum topo_kernel kernel; /**< that fused attention is of, where the table has any */
    bool kernel_given;       /**< else the first of the NPU's list */
    struct fit_row *rows;    /**< shape [n], owned */
    int32_t n;
    struct fit_kind kinds[FIT_MAX_KINDS]; /**< those with rows, in the order of their fields */
    int32_t n_kinds;
    struct {
        const char *key;  /**< of npu */
        double value;     /**< in the file's unit */
    } keys[FIT_MAX_KEYS]; /**< fitted, but for those of the kernel */
    int32_t n_keys;
    bool kernel_fitted;
    struct text notes; /**< owned: a line each for what the rows could not show and which were left out */
};

/**
 * Read rows from table @p t with columns as @p columns names them. A row needs op and time_us, or TFLOPS
 * (causal FLOP in half) of what has FLOP; then what its operator needs. Words of op and pass as other tools
 * have them are known ("gemm", "grouped_gemm", "attention_fwd", "dgrad"). Rows of other operators, of two
 * passes in one figure, or at a precision that the NPU has no peak for are counted in f->notes and left out.
 * ERR_PARSE with `name: row N: ...`: a value that is missing or not above 0, or no row is left; ERR_USAGE: a
 * named column that the table has not; ERR_NOMEM.
 */
int fit_npu_read(struct fit_npu *f, const struct table *t, const struct fit_columns *columns,
                 const char *name, struct err *e);

/**
 * Fit f->npu (its peaks and memory bandwidth are known) to the rows, in this order, each with what is found
 * so far: mem_efficiency and kernel_s to streams; matrix_efficiency and half sizes to 16-bit products; shares
 * of other precisions; group_half_out; the shares of attention; the rates and half sizes of a kernel by pass.
 * Least sum of squares of log(model / measured), by the simplex method of Nelder and Mead from one start. A
 * half size stays out (0) where Schwarz's criterion does not ask for it, and as given where sizes of the rows
 * span less than a factor of 8. Rounded to 4 digits before errors are counted. ERR_RANGE: one stream alone,
 * or an NPU without peak or memory bandwidth, or a kernel to name. ERR_NOMEM.
 */
int fit_npu(struct fit_npu *f, struct err *e);

void fit_npu_free(struct fit_npu *f);

/** "low rank", "narrow" or "". */
extern const char *const fit_heads_words[N_FIT_HEADS];

/** Which heads have these widths. */
enum fit_heads fit_heads_of(const struct topo_npu_heads *heads);

#endif
