/** @file How each scheduler finds the numbers of tasks of one job. */
#ifndef SIM_INTERVAL_SMD_TASKS_H
#define SIM_INTERVAL_SMD_TASKS_H

#include "sim/interval/smd.h"

/**
 * Workers and servers of @p job, the @p index-th of the list; whole numbers within the limit.
 * @param job  smd_check_job() found nothing, and (1, 1) fits
 * @return 0; ERR_RANGE: eps; ERR_NOMEM.
 */
int smd_find_tasks(struct smd_point *out, enum smd_scheduler which, const struct smd_job *job, int32_t index,
                   int32_t n_resources, const struct smd_settings *how, struct err *e);

#endif
