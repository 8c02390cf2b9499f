/**
 * @file Two designs side by side: inputs that differ, what follows, and what each input does alone.
 *
 * Inputs are compared as they were read, with the files they name put in; a key that one side leaves out is
 * compared by its default. First order: each input of B that differs is put into A by itself, as --set does
 * it, and A is designed again. What these do not add up to is how they act together.
 */
#ifndef KINDS_DESIGN_EXPLORE_DIFF_H
#define KINDS_DESIGN_EXPLORE_DIFF_H

#include "kinds/design/explore/runner.h"

enum { DIFF_A, DIFF_B, DIFF_SIDES };

/** The columns that effects of an input are told of: time_s, cost_usd, usd_per_Mtoken. */
enum diff_answer { DIFF_TIME, DIFF_COST, DIFF_TOKENS, N_DIFF_ANSWERS };

/** A design as it is read and found; given where its network gives all bandwidths, else solved. */
struct diff_side {
    struct design_point study;
    struct design design;
    struct design_words words;
    struct design_row row; /**< of design_columns; without a workload what a network says of itself */
};

struct diff_input {
    char *path;             /**< owned: as in --set */
    char *text[DIFF_SIDES]; /**< owned: as YAML in a line; NULL: not given, and no default */
    bool is_default[DIFF_SIDES];
    bool of_design;               /**< false: vary, keep and others, which no design looks at */
    double alone[N_DIFF_ANSWERS]; /**< answer of A with this alone, less A's; NaN: not known */
    char *why;                    /**< owned: why A cannot have it alone; NULL: it can, or was not tried */
};

struct diff_output {
    char name[COLUMN_NAME];
    const char *word[DIFF_SIDES]; /**< borrowed, of texts; NULL: blank */
    double value[DIFF_SIDES];     /**< of numbers; NaN: blank */
    bool is_word;
};

/** Release with diff_free(). */
struct diff {
    struct diff_side sides[DIFF_SIDES];
    struct diff_input
        *inputs; /**< shape [n_inputs], owned; largest effect first, then in the order of A and B */
    int32_t n_inputs, cap_inputs;
    struct diff_output *outputs; /**< shape [n_outputs], owned: those that differ, the largest change first */
    int32_t n_outputs, cap_outputs;
    double answers[DIFF_SIDES][N_DIFF_ANSWERS]; /**< NaN: unknown */
};

/**
 * Read both and compare; @p from: each side's file and overrides. Equal inputs have equal outputs, and are
 * not designed.
 * @return 0, also where a side has no design (its row says so); errors of design_point_read(), design_solve()
 * and design_evaluate(); ERR_NOMEM. Safe to free after failure. O(nodes), and inputs + 2 designs.
 */
int diff_build(struct diff *d, const struct study_source from[DIFF_SIDES], struct err *e);
void diff_free(struct diff *d);

/** b/a - 1; NaN where there is no such number. */
double diff_change(double a, double b);
/** What effects that are known do not add up to: how inputs act together, and those that A cannot have alone.
 */
double diff_together(const struct diff *d, enum diff_answer answer);

#endif
