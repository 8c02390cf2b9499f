/* AVX2 where it may be; elsewhere nobody asks for it, and it is the loop without vectors. */
#ifdef __x86_64__
#define LANES  4
#define TARGET __attribute__((target("avx2")))
#else
#define LANES  1
#define TARGET /* none */
#endif
#define SIFT grid_sift_4

#include "kinds/design/explore/grid_tile.h"
