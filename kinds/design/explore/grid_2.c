/* What every x86-64 processor has; on others the same loop, a number at a time. */
#ifdef __x86_64__
#define LANES 2
#else
#define LANES 1
#endif
#define TARGET /* none */
#define SIFT   grid_sift_2

#include "kinds/design/explore/grid_tile.h"
