/**
 * @file How far weft's training steps are from measured ones: by NPU, class of software, dense or with
 * experts.
 *
 * The table (evidence.inc) is written by the validate program from published step times; what a row of it
 * says holds for an NPU described as it was then: the same peak, sustained rate and memory bandwidth.
 */
#ifndef KINDS_DESIGN_ANSWER_EVIDENCE_H
#define KINDS_DESIGN_ANSWER_EVIDENCE_H

#include "base/column.h"
#include "workloads/plan_cost.h"

/** What ran the step; the first is what a plan that names no software means. */
enum evidence_software {
    EVIDENCE_MEGATRON_2021,
    EVIDENCE_MEGATRON,
    EVIDENCE_COMPILED,
    EVIDENCE_EAGER,
    N_EVIDENCE_SOFTWARE,
};

/** "Megatron-LM of 2021", ...; for people. */
extern const char *const evidence_software_words[N_EVIDENCE_SOFTWARE + 1];

/** Measured steps of one kind beside weft's. Errors: |weft/measured - 1|. */
struct evidence {
    const char *npu;
    enum evidence_software software;
    bool experts;
    double peak_flops, ceiling_flops, mem_Bps; /**< of the NPU: data sheet, sustained, streaming */
    int32_t n[N_TOPO_PRECISIONS];              /**< rows by precision of the products */
    double mean, band; /**< mean error; what nine of ten rows are within, of fewer than ten rows all */
    double spread;     /**< root mean square of ln(weft/measured) */
};

/** The row of plan @p x on @p npu; NULL: no measured step is of its kind. O(rows). */
const struct evidence *evidence_find(const struct training *x, const struct topo_npu *npu);

/** Of all precisions. */
int32_t evidence_rows(const struct evidence *v);

/** The class that a plan's software belongs to. */
enum evidence_software evidence_software_of(const struct plan *p);

/** From where to where the measured time is to be expected, given weft's: time/(1 + band) to time/(1 - band).
 */
struct evidence_band {
    double low_s, high_s;
};
struct evidence_band evidence_band(const struct evidence *v, double time_s);

/** What measured steps say of one predicted step; evidence_columns describes it. With `rows` 0, no measured
 * step being of its kind, all but `workload` and `said` is blank. */
struct evidence_row {
    const char *workload, *npu, *software;
    int64_t rows, rows_same_precision;
    int32_t experts;
    double mean_error, band, low_s, high_s;
    char said[400]; /**< evidence_say(), and the band, for people */
};
extern const struct column evidence_columns[];
/** Texts are borrowed from @p x. */
struct evidence_row evidence_row(const struct training *x, const struct topo_npu *npu, double time_s);

/** "H100, Megatron-Core, dense: 42 measured steps, mean error 5.1 %, 9 of 10 within 11 %", with what of the
 * plan none of them had; or that there is none. Appended. */
void evidence_say(struct text *out, const struct evidence *v, const struct training *x);

#endif
