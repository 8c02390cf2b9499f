/** @file Rows of the reference tables as split problems, and answers that were checked twice. */
#ifndef TESTS_VALIDATE_CASES_H
#define TESTS_VALIDATE_CASES_H

#include "alloc/verify.h"
#include "base/table.h"
#include "tests/unit/split_fixture.h"

/* What cannot be read or built ends the program with its message (assertions outside a test do). */

/** tests/reference/NAME, which must have @p n_rows rows. */
void case_read(struct table *t, const char *name, int64_t n_rows);
/** Field of a row; the column exists. */
const char *case_text(const struct table *t, int64_t row, const char *column);
double case_number(const struct table *t, int64_t row, const char *column);

/* Networks below count as LIBRA does (`semantics: libra`) unless @p s->physical is set before. */

/** LIBRA's public network, "3d" or "4d", with its prices, one of its workloads, and a total. */
void case_open_public(struct split *s, const char *dims, const char *workload, double total_GBps);
/** Network of the 2022 artifact, "2d" to "4d", names of workloads as "17B+175B+1T", 100 GB/s in all. */
void case_open_artifact(struct split *s, const char *dims, const char *names);
/** "time" and "perf" are ALLOC_TIME, "perf_per_cost" is ALLOC_PERF_PER_COST. */
enum alloc_objective case_objective(const char *word);

/** The objective at any split: s, or USD s. */
double case_value(const struct split *s, const double *bw_Bps);

/** An answer and the second opinion. Release the answer with alloc_answer_free(). */
struct proved {
    struct alloc_answer answer;
    double gap; /**< the larger of what the solver and alloc_verify() say */
    bool ok; /**< solved, and alloc_verify() finds the same value, feasible, and the gap at most ALLOC_GAP */
};
void case_solve(struct proved *out, const struct split *s);

/** Power of ten at or above @p gap, at least 1e-12: the solvers aim no lower. Returns @p buf. */
const char *case_gap(char buf[16], double gap);

#endif
