/** @file Random jobs and pools as in the experiments of SMD. */
#ifndef SIM_INTERVAL_SMD_DRAW_H
#define SIM_INTERVAL_SMD_DRAW_H

#include "sim/interval/smd_job.h"

/** Resources of the experiments. */
enum smd_resource { SMD_VCPU, SMD_GPU, SMD_MEMORY_GB, SMD_DISK_GB, N_SMD_RESOURCES };

/** "vCPU", "GPU", "memory", "disk"; NULL-terminated. */
extern const char *const smd_resource_names[N_SMD_RESOURCES + 1];

/** What arXiv 2105.13855 section VII leaves open. */
struct smd_draw {
    bool sync;                        /**< train synchronously */
    enum smd_layers layers;           /**< the paper says sum; see smd_draw_default() */
    enum overlap_mode overlap;        /**< for e1, e2, e3 */
    double instance[N_SMD_RESOURCES]; /**< a limit is this times a factor of 1 to 20, > 0 */
    bool whole_factor;                /**< is the factor a whole number? */
    uint64_t seed;
};

/**
 * Instances of 8 vCPU, 4 GPU, 15 GB, 20 GB of disk (the paper's EC2 C4 have neither GPU nor disk, and no size
 * is named; c4.2xlarge has 8 vCPU and 15 GB), whole factors, wait-free (the one example the paper gives of
 * e1, e2, e3; with priority hardly any communication is left to schedule for). Synchronous jobs take the mean
 * over layers: with the sum, hardly one of them could end before its due time of at most 15 hours.
 * Asynchronous jobs take the sum: with the mean all of them end within half an hour, whatever is scheduled.
 */
struct smd_draw smd_draw_default(bool sync);

/**
 * Draw @p n jobs into @p jobs. Job i depends on the seed and i alone, so the first jobs of a longer list are
 * those of a shorter one. Ranges of the paper, uniform: whole numbers for iterations, batches, layers and
 * demands, real ones for the rest; overheads beta in seconds; completion times count in hours in gamma2 and
 * gamma3. A factor that leaves no room for a worker and a server is drawn again.
 * @return 0; ERR_RANGE: @p n below 0, or an instance of which 20 have no room for one worker and one server;
 * ERR_NOMEM.
 */
int smd_draw_jobs(struct smd_job *jobs, int32_t n, const struct smd_draw *how, struct err *e);

/** A pool of @p units times 3400 vCPU, 600 GPU, 1400 GB, 1200 GB of disk; @p units > 0. */
void smd_draw_pool(double capacity[N_SMD_RESOURCES], double units);

#endif
