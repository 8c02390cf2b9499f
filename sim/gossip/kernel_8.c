/* AVX2 where it may be; elsewhere compilers make two vectors of one, and nobody asks for it. */
#define LANES 8
#define STRIP kernel_strip_8
#ifdef __x86_64__
#define TARGET __attribute__((target("avx2")))
#else
#define TARGET /* none */
#endif

#include "sim/gossip/kernel_tile.h"
