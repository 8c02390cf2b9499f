/**
 * @file Names of columns of designs that figures bind. plots/ draws tables and sees no kind: what the lists
 * of the kinds call them is held against these by a test (tests/unit/test_kinds_kinds.c).
 */
#ifndef PLOTS_COLUMNS_H
#define PLOTS_COLUMNS_H

#define COL_BUBBLE_S           "bubble_s"
#define COL_COMPUTE_S          "compute_s"
#define COL_COST_USD           "cost_usd"
#define COL_CP_S               "cp_s"
#define COL_DP_S               "dp_s"
#define COL_EP_S               "ep_s"
#define COL_EQUAL_COST_USD     "equal_cost_usd"
#define COL_EQUAL_TIME_S       "equal_time_s"
#define COL_MEMORY_GB          "memory_GB"
#define COL_N_DIMS             "n_dims"
#define COL_NIC_GBPS           "nic_GBps"
#define COL_OPTIMIZER_S        "optimizer_s"
#define COL_OVERHEAD_S         "overhead_s"
#define COL_PERF_PER_COST_GAIN "perf_per_cost_gain"
#define COL_PP_S               "pp_s"
#define COL_RECOMPUTE_S        "recompute_s"
#define COL_TIME_HIGH_S        "time_high_s"
#define COL_TIME_LOW_S         "time_low_s"
#define COL_TIME_S             "time_s"
#define COL_TOTAL_GBPS         "total_GBps"
#define COL_TP_S               "tp_s"

#endif
