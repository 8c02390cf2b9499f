/**
 * @file How far weft's training steps are from measured ones, and from where to where the measured time of a
 * predicted step is to be expected.
 *
 * The table (evidence.inc) is written by the validate program from published step times: for each the error
 * of a weft whose constants were chosen without the row's family. A band is of those errors, near rows first.
 */
#ifndef KINDS_DESIGN_ANSWER_EVIDENCE_H
#define KINDS_DESIGN_ANSWER_EVIDENCE_H

#include "base/column.h"
#include "workloads/plan_cost.h"

/** What ran the step. */
enum evidence_software {
    EVIDENCE_MEGATRON_2021,
    EVIDENCE_MEGATRON,
    EVIDENCE_COMPILED,
    EVIDENCE_EAGER,
    N_EVIDENCE_SOFTWARE,
};

/** "Megatron-LM of 2021", ...; for people. */
extern const char *const evidence_software_words[N_EVIDENCE_SOFTWARE + 1];

/** What tells whether a measured step says something of a predicted one. */
struct evidence_kind {
    const char *npu; /**< label of a row's; NULL of a plan's, which its figures tell */
    enum evidence_software software;
    bool experts;
    double peak_flops, ceiling_flops, mem_Bps; /**< of the NPU: data sheet, sustained in a step, streaming */
};

/** A measured step: `kind` of kinds[], `family` of families[]. */
struct evidence_step {
    int32_t kind, family;
    int32_t precision; /**< enum topo_precision */
    double gpus;
    double error; /**< ln(weft/measured), constants chosen without its family */
};

/** What rows say of one plan. Errors: |weft/measured - 1|. */
struct evidence {
    const char *npu; /**< label of the nearest rows' */
    enum evidence_software software;
    bool experts;
    int32_t n[N_TOPO_PRECISIONS]; /**< rows of its kind, by precision of the products */
    int32_t others;               /**< near rows of other NPUs, software or kind of model */
    double mean;        /**< mean error of the rows of its kind; of all near ones, where none is; NaN
                           where the NPU is calibrated */
    int64_t calibrated; /**< the user's own steps, which alone say `reach`; 0: published ones do */
    double reach;       /**< nine of ten measured times are within time/e^reach and time e^reach */
    double spread;      /**< of a normal of which nine of ten are within the same */
};

/** The kind of a plan; of nothing but a transformer is there evidence. */
struct evidence_kind evidence_kind_of(const struct training *x, const struct topo_npu *npu);

/** What measured steps say of plan @p x on @p npu; false: none is near, and @p out is only its kind. O(rows).
 */
bool evidence_find(struct evidence *out, const struct training *x, const struct topo_npu *npu);

/** The same of a step of @p kind, without the rows of family @p without (-1: with all): what the check of
 * bands asks. */
bool evidence_of(struct evidence *out, const struct evidence_kind *kind, enum topo_precision precision,
                 double gpus, int32_t without);

/** Of its kind, of all precisions. */
int32_t evidence_rows(const struct evidence *v);

/** The class that a plan's software belongs to. */
enum evidence_software evidence_software_of(const struct plan *p);

/** From where to where the measured time is to be expected, nine times of ten, given weft's. */
struct evidence_band {
    double low_s, high_s;
};
struct evidence_band evidence_band(const struct evidence *v, double time_s);

/** What measured steps say of one predicted step; evidence_columns describes it. Where none is near `rows`
 * and `others` are 0, and all but `workload` and `said` is blank. */
struct evidence_row {
    const char *workload, *npu, *software;
    int64_t rows, rows_same_precision, others;
    int32_t experts;
    double mean_error, band, low_s, high_s;
    char said[400]; /**< evidence_say(), and the band, for people */
};
extern const struct column evidence_columns[];
/** Texts are borrowed from @p x. */
struct evidence_row evidence_row(const struct training *x, const struct topo_npu *npu, double time_s);

/** "H100, Megatron-Core, dense: 42 measured steps, mean error 5.1 %, 9 of 10 within 11 %", with what of the
 * plan none of them had; @p v NULL: that there is none. Appended. */
void evidence_say(struct text *out, const struct evidence *v, const struct training *x);

#endif
