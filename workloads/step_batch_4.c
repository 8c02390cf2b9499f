/* AVX2 where it may be; elsewhere nobody asks for it, and it is done without vectors. */
#ifdef __x86_64__
#define LANES  4
#define TARGET __attribute__((target("avx2")))
#else
#define LANES  1
#define TARGET /* none */
#endif
#define BATCH step_batch_4

#include "workloads/step_batch_tile.h"
