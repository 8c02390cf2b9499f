/** @file Rows of tables of measured steps as studies, and what weft makes of them.
 */
#ifndef TESTS_VALIDATE_MEASURED_H
#define TESTS_VALIDATE_MEASURED_H

#include "kinds/design/answer/evidence.h"
#include "kinds/design/answer/training.h"
#include "tests/support.h"

/** What of a row its study does not have; bits of struct measured.ignored. */
enum measured_gap {
    GAP_PRECISION, /**< products with a scale a row: in bf16 */
    GAP_OFFLOAD,   /**< of what are no activations */
    GAP_NETWORK,   /**< rate of the NICs is not stated: 400 Gb/s */
    GAP_UNSTATED,  /**< the source does not say what ran (recompute, overlap, dispatcher, graphs, recipe) */
    N_GAPS,
};
extern const char *const measured_gap_words[N_GAPS];

/** One run: what was measured, and the maps of the study that says what ran. */
struct measured {
    char table[32], family[64], model[48], gpu[32], release[32];
    bool check;                          /**< left out of scores, by the table's own flag */
    double step_s, memory_B, reserved_B; /**< NaN: not measured */
    bool allocated;                      /**< memory_B is what was allocated, not what was reserved */
    int64_t gpus;
    enum topo_precision precision;
    bool told; /**< the study has the precision that the row has */
    char network_map[768], model_map[768], parallel_map[1536];
    unsigned ignored;
    /* What weft says; NaN with the reason in `fault`. */
    double got_s, got_B;
    double left_s; /**< by constants chosen without its family: measured_fit.h */
    struct evidence_kind kind;
    struct training_report report;
    struct account account; /**< owned */
    char fault[1024];
};

/** Rows of one file. Release with measured_free(). */
struct measured_rows {
    struct measured *rows; /**< owned, shape [n] */
    int32_t n;
};

/** Append the rows of @p path. What cannot be read ends the program. */
void measured_read(struct measured_rows *out, const char *path);
/** Append the eight rows of tests/reference/train_korthikanti_table5.csv, not priced yet. */
void measured_add_korthikanti(struct measured_rows *x);
void measured_free(struct measured_rows *x);

/** Load the row's study: 0, or the error that says why it cannot be. Release with design_point_free(). */
int measured_open(struct design_point *s, const struct measured *m, struct err *e);

/** Price every row by its study, at the bandwidths of its network; fills got_s, got_B, report, fault. */
void measured_price(struct measured_rows *x);

#endif
