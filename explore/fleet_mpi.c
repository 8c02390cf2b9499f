#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "explore/fleet.h"
#include "explore/fleet_crew.h"

/* Ranks that wait sleep in between: what MPI calls waiting is a loop that takes a core. */
#define NAP_S 0.0005
/* How long a rank that has failed waits for the others to come to the same end. */
#define PART_S 1.0
/* Bytes shared at a time: MPI counts in int. */
enum { SHARE_BYTES = 1 << 30 };

static bool is_running(void)
{
    int begun = 0, over = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    return begun && !over;
}

/* A count in the environment; 0 where there is none. */
static int64_t count_of(const char *name)
{
    const char *text = getenv(name);
    int64_t n;
    return text && num_parse_count(text, &n) ? n : 0;
}

static int start_mpi(struct err *e)
{
    int provided;
    /* Messages are for the thread that is here alone. */
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (code != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED)
        return err_set(e, ERR_LIB, "MPI: thread level is %d, need MPI_THREAD_FUNNELED",
                       code == MPI_SUCCESS ? provided : -1);
    return 0;
}

/* What starts programs, and what it leaves in their environment: Open MPI's mpirun; srun with PMIx; srun of
 * several tasks without; PMI-1 and 2 of srun and of other MPIs. Inside sbatch, but outside srun, there is no
 * step. */
int fleet_start(struct err *e)
{
    if (is_running())
        return 0;
    if (count_of("OMPI_COMM_WORLD_SIZE") > 0)
        return count_of("OMPI_COMM_WORLD_SIZE") > 1 ? start_mpi(e) : 0;
    int64_t tasks = getenv("SLURM_STEP_ID") ? count_of("SLURM_STEP_NUM_TASKS") : 0;
    if (getenv("PMIX_RANK"))
        return tasks != 1 ? start_mpi(e) : 0;
    if (tasks > 1)
        return err_set(e, ERR_LIB, "srun: is %lld tasks that do not know of each other, need srun --mpi=pmix",
                       (long long)tasks);
    if (count_of("PMI_SIZE") > 1)
        return err_set(e, ERR_LIB,
                       "mpirun: is of another MPI with %lld ranks, need Open MPI's mpirun or srun --mpi=pmix",
                       (long long)count_of("PMI_SIZE"));
    return 0;
}

/* Do all ranks come here within some seconds? */
static bool meet(double patience_s)
{
    MPI_Request request;
    int met = 0;
    double end_s = fleet_now_s() + patience_s;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &met, MPI_STATUS_IGNORE), !met && fleet_now_s() < end_s)
        fleet_sleep(NAP_S);
    return met;
}

void fleet_end(int rc)
{
    if (!is_running())
        return;
    /* A failure that all ranks know of ends them in peace; of one alone the others would never hear. */
    if (!meet(rc ? PART_S : HUGE_VAL))
        MPI_Abort(MPI_COMM_WORLD, rc);
    MPI_Finalize();
}

int32_t fleet_rank(void)
{
    int rank = 0;
    if (is_running())
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int32_t fleet_ranks(void)
{
    int n = 1;
    if (is_running())
        MPI_Comm_size(MPI_COMM_WORLD, &n);
    return n;
}

/* MPI_Wait() that leaves the core to others. */
static void await(MPI_Request *request)
{
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE), !done)
        fleet_sleep(NAP_S);
    MPI_Wait(request, MPI_STATUS_IGNORE); /* nothing is left to wait for; linters look for it */
}

static void share_part(void *bytes, int n)
{
    MPI_Request request;
    MPI_Ibcast(bytes, n, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    await(&request);
}

/* Is there room on every rank? Without, none goes on. */
static bool all_have(bool room)
{
    MPI_Request request;
    int have = room, all = 0;
    MPI_Iallreduce(&have, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    await(&request);
    return all;
}

int fleet_share(void **bytes, size_t *n, struct err *e)
{
    if (fleet_ranks() == 1)
        return 0;
    int64_t size = (int64_t)*n;
    bool first = fleet_rank() == 0;
    share_part(&size, sizeof size);
    char *room = first ? *bytes : malloc((size_t)size + 1);
    if (!all_have(room || size == 0)) {
        if (!first)
            free(room);
        return err_nomem(e, "what ranks share");
    }
    for (int64_t at = 0; at < size; at += SHARE_BYTES)
        share_part(room + at, (int)(size - at < SHARE_BYTES ? size - at : SHARE_BYTES));
    if (!first) {
        free(*bytes);
        *bytes = room;
        *n = (size_t)size;
    }
    return 0;
}
