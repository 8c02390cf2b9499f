/* What every x86-64 processor has; on others the same, a number at a time. */
#ifdef __x86_64__
#define LANES 2
#else
#define LANES 1
#endif
#define TARGET /* none */
#define BATCH  step_batch_2

#include "workloads/step_batch_tile.h"
