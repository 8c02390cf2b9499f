/* What every x86-64 and ARMv8 has. */
#define LANES  4
#define STRIP  kernel_strip_4
#define TARGET /* none */

#include "sim/gossip/kernel_tile.h"
