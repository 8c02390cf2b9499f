/* The objectives, a row each: what is said of them, and by which form they are solved, bounded and verified.
 */
#include "alloc/objective.h"

#include <stddef.h>

const char *const alloc_objective_names[] = { "time", "utilization",   "perf_per_cost",
                                              "cost", "perf_per_watt", "tco_per_token",
                                              NULL };

const struct alloc_objective_row alloc_objectives[N_ALLOC_OBJECTIVES] = {
    [ALLOC_TIME] = { .goal = "least time", .unit = "s", .per_SI = 1 },
    /* sum_d m_d / (sum_d B_d T_comm) is greatest where T_comm sum_d B_d is least. */
    [ALLOC_UTILIZATION] = { .goal = "greatest utilization",
                            .unit = "s*GB/s",
                            .per_SI = 1e-9,
                            .form = ALLOC_FORM_PRODUCT,
                            .counted = ALLOC_COUNTED_BANDWIDTH,
                            .sends_alone = true },
    [ALLOC_PERF_PER_COST] = { .goal = "most performance per cost",
                              .unit = "s*USD",
                              .per_SI = 1,
                              .form = ALLOC_FORM_PRODUCT },
    [ALLOC_COST] = { .goal = "least cost", .unit = "USD", .per_SI = 1, .form = ALLOC_FORM_LIMITED },
    /* The power of the machine. */
    [ALLOC_PERF_PER_WATT] = { .goal = "most performance per watt",
                              .gain = "performance per watt",
                              .unit = "J",
                              .per_SI = 1,
                              .form = ALLOC_FORM_PRODUCT,
                              .counted = ALLOC_COUNTED_FACTOR,
                              .factor = ALLOC_OWN_WATT },
    /* What the machine costs a second, by the tokens of a step. */
    [ALLOC_TCO_PER_TOKEN] = { .goal = "least cost of a token",
                              .gain = "tokens per USD",
                              .unit = "USD/Mtoken",
                              .per_SI = 1,
                              .form = ALLOC_FORM_PRODUCT,
                              .counted = ALLOC_COUNTED_FACTOR,
                              .factor = ALLOC_OWN_USD },
};
