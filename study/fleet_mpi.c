#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/num.h"
#include "study/fleet.h"
#include "study/fleet_crew.h"

/* Ranks that wait sleep in between: what MPI calls waiting is a loop that takes a core. */
#define NAP_S 0.0005
/* How long a rank that has failed waits for the others to come to the same end: the first rank closes files
 * before. */
#define PART_FIRST_S 1.0
#define PART_S       5.0
/* Of messages that are none of fleet_run()'s. */
enum { TAG_SHARE = 100, TAG_AGREE };

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
    double end_s = clock_now_s() + patience_s;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &met, MPI_STATUS_IGNORE), !met && clock_now_s() < end_s)
        fleet_sleep(NAP_S);
    return met;
}

void fleet_end(int rc)
{
    if (!is_running())
        return;
    /* A failure that all ranks know of ends them in peace; of one alone the others would never hear. */
    if (!meet(!rc ? HUGE_VAL : fleet_rank() == 0 ? PART_FIRST_S : PART_S))
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

/* Sleep until there is a message. */
static void await(int from, int tag, MPI_Status *status)
{
    int there = 0;
    while (MPI_Iprobe(from, tag, MPI_COMM_WORLD, &there, status), !there)
        fleet_sleep(NAP_S);
}

/* What the first rank shares. False where there is no room for it. */
static bool hear_first(char **bytes, int *n)
{
    MPI_Status status;
    await(0, TAG_SHARE, &status);
    MPI_Get_count(&status, MPI_BYTE, n);
    *bytes = malloc((size_t)*n + 1);
    if (!*bytes)
        return false;
    MPI_Recv(*bytes, *n, MPI_BYTE, 0, TAG_SHARE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
}

int fleet_share(void **bytes, size_t *n, struct err *e)
{
    int32_t ranks = fleet_ranks();
    if (ranks == 1)
        return 0;
    if (fleet_rank() == 0) {
        /* Others would wait for ever; they end when the first rank does. */
        if (*n > INT_MAX)
            return err_set(e, ERR_LIB, "what ranks share: is %zu bytes, MPI needs less than 2^31", *n);
        for (int32_t to = 1; to < ranks; to++)
            MPI_Send(*bytes, (int)*n, MPI_BYTE, to, TAG_SHARE, MPI_COMM_WORLD);
        return 0;
    }
    char *heard;
    int n_heard;
    if (!hear_first(&heard, &n_heard))
        return err_nomem(e, "what ranks share");
    heard[n_heard] = '\0';
    free(*bytes);
    *bytes = heard;
    *n = (size_t)n_heard;
    return 0;
}

static void send_err(const struct err *e, int to)
{
    MPI_Send(e, (int)sizeof *e, MPI_BYTE, to, TAG_AGREE, MPI_COMM_WORLD);
}

static void receive_err(struct err *e, int from)
{
    MPI_Status status;
    await(from, TAG_AGREE, &status);
    MPI_Recv(e, (int)sizeof *e, MPI_BYTE, from, TAG_AGREE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int fleet_agree(int rc, struct err *e)
{
    struct err mine = { 0 }, heard;
    int32_t ranks = fleet_ranks();
    if (rc)
        mine = *e;
    if (ranks > 1 && fleet_rank() > 0) {
        send_err(&mine, 0);
        receive_err(&mine, 0);
    } else if (ranks > 1) {
        for (int32_t from = 1; from < ranks; from++) {
            receive_err(&heard, from);
            if (mine.code || !heard.code)
                continue;
            mine = heard;
            err_wrap(&mine, "rank %d", (int)from);
        }
        for (int32_t to = 1; to < ranks; to++)
            send_err(&mine, to);
    }
    if (mine.code)
        *e = mine;
    return (int)mine.code;
}
