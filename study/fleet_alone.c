/* The ranks of a program without MPI: one. The library has these in place of study/fleet_mpi*.c, so that what
 * links with it needs no MPI. */
#include <assert.h>
#include <stdbool.h>

#include "study/fleet.h"

int fleet_start(struct err *e)
{
    (void)e;
    return 0;
}

void fleet_end(int rc)
{
    (void)rc;
}

int fleet_agree(int rc, struct err *e)
{
    (void)e;
    return rc;
}

int32_t fleet_rank(void)
{
    return 0;
}

int32_t fleet_ranks(void)
{
    return 1;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as the one with ranks */
int fleet_share(void **bytes, size_t *n, struct err *e)
{
    (void)bytes, (void)n, (void)e;
    return 0;
}

int fleet_run_ranks(struct fleet_run *f, struct err *e)
{
    (void)f;
    assert(false); /* one rank runs by itself */
    return err_set(e, ERR_LIB, "ranks: there is one");
}
