/** @file Random split problems that have a solution by construction, and problems from plain traffic. */
#ifndef TESTS_UNIT_SPLIT_RANDOM_H
#define TESTS_UNIT_SPLIT_RANDOM_H

#include "alloc/problem.h"
#include "tests/support.h"
#include "workloads/step.h"

enum { RANDOM_MAX_ROWS = 16 };

/** What a random problem may have. */
struct random_kind {
    int32_t n_dims;        /**< 0 = 1 to 8 */
    int32_t n_collectives; /**< at most; at least 1 */
    bool overlap;          /**< maxima and repeats, nested, not one sum */
    bool compute;          /**< constants too */
    int32_t n_rows;        /**< rows besides the total, at most; <=, >= and ==, coefficients of both signs */
    enum linexpr_sense total; /**< of the first row, the sum of all bandwidths */
};

/** Close with random_split_close(). `problem` points into the rest, so the struct must not move. */
struct random_split {
    struct topo_network net;
    struct step_tree tree;
    struct step_fn fn;
    struct alloc_row rows[RANDOM_MAX_ROWS];
    struct alloc_problem problem;
    double inside_Bps[TOPO_MAX_DIMS]; /**< satisfies every row */
    const char *names[TOPO_MAX_DIMS];
};

void random_split_open(struct random_split *s, struct rng *r, struct random_kind kind);

/** One sum of collectives: collective i sends traffic_GB[i][d] into dimension d, shape [n][TOPO_MAX_DIMS]. */
void plain_split_open(struct random_split *s, int32_t n_dims, const double (*traffic_GB)[TOPO_MAX_DIMS],
                      int32_t n, double compute_s);
/** As plain_split_open(), but compute hides the collectives: the longer of the two. */
void hidden_split_open(struct random_split *s, int32_t n_dims, const double (*traffic_GB)[TOPO_MAX_DIMS],
                       int32_t n, double compute_s);
void random_split_close(struct random_split *s);

/** Append a row, @p rhs in GB/s; returns it. */
struct alloc_row *random_split_row(struct random_split *s, const double *coef, enum linexpr_sense sense,
                                   double rhs_GBps);

/** alloc_verify() on a problem of one tree. False when it finds the answer wanting. */
bool random_split_verify(const struct random_split *s, const struct alloc_answer *a);

/** Value of the problem's objective at @p bw_Bps, from the compiled step and the prices. */
double random_split_value(const struct alloc_problem *p, const double *bw_Bps);

/** The same, closed where the block ends: RANDOM_SPLIT(s, r, .n_dims = 3, .overlap = true). */
#define RANDOM_SPLIT(s, r, ...)                                                                              \
    KEEP(struct random_split, s, random_split_close);                                                        \
    random_split_open(&s, r, (struct random_kind){ __VA_ARGS__ })
#define PLAIN_SPLIT(s, n_dims, traffic_GB, n, compute_s)                                                     \
    KEEP(struct random_split, s, random_split_close);                                                        \
    plain_split_open(&s, n_dims, traffic_GB, n, compute_s)

/** The answer to a problem, which is solved. */
#define SOLVED(a, problem)                                                                                   \
    KEEP(struct alloc_answer, a, alloc_answer_free);                                                         \
    solve_well(&a, problem)
void solve_well(struct alloc_answer *a, const struct alloc_problem *p);

#endif
