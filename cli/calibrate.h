/** @file What weft calibrate has found, and how it is shown. */
#ifndef CLI_CALIBRATE_H
#define CLI_CALIBRATE_H

#include "cli/output.h"
#include "sim/fit.h"

/** One curve and the dimension that was fitted to it. */
struct calibrated {
    const struct curve *curve; /**< borrowed */
    const char *path;          /**< of its file, borrowed */
    unsigned long long hash;   /**< of the bytes of that file */
    struct fit fit;            /**< owned */
};

enum { CALIBRATE_MAX_FILES = 8 };

struct calibration {
    struct curve_list lists[CALIBRATE_MAX_FILES]; /**< by file, owned */
    struct calibrated *items;                     /**< shape [n], owned; in the order of files and curves */
    int32_t n, cap;
};

void calibration_free(struct calibration *x);

/** Append a table per curve, its errors, and the dimension as YAML. */
int calibrate_text(const struct calibration *x, struct text *out, struct err *e);
/** Append each dimension as an entry of `dims`, behind comments that say where it comes from. */
void calibrate_yaml(const struct calibration *x, struct text *out);
/** Append one JSON object. */
void calibrate_json(const struct calibration *x, const struct run *run, struct text *out);
/** A row per point: file, curve, collective, ranks, regime (from 1, by size), bytes, time_us, model_us,
 * error_frac, busbw_GBps, model_busbw_GBps. weft plot calibrate draws it; weft calibrate reads it again. */
void calibrate_table(const struct calibration *x, struct table *t);

#endif
