/*
 * Ranks of MPI: start and end, agreement on failures, and units handed out by rank 0. One thread of each rank
 * talks; the others run units and never call MPI (MPI_THREAD_FUNNELED).
 *
 * Thread 0 of rank 0 answers requests for pieces and takes batches; its other threads use the queue directly.
 * Thread 0 of any other rank keeps a small stock of pieces ahead of its workers, sends their batches
 * (MPI_Isend, so that the writer's pace never stops the talking), and sleeps in between. Waiting is always a
 * probe and a nap: MPI_Recv and MPI_Barrier spin on a core, which a worker needs.
 *
 * The end is agreed, never assumed. A rank says BYE when its workers have ended, all its batches have arrived
 * and no answer is owed to it; rank 0 ends when all have said so and tells the verdict. A failure anywhere
 * becomes a STOP for everyone, then the same code and message on every rank. Messages between two ranks
 * arrive in the order of sending (MPI 3.5, non-overtaking), so BYE comes after the last ROWS.
 */
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/work.h"
#include "study/fleet.h"
#include "study/pack.h"

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
        return err_set(e, ERR_LIB, "MPI: thread level is %d, expected MPI_THREAD_FUNNELED",
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
    /* MPI is not entered where nobody started several processes: starting it takes time, and may fail on a
     * machine without a launcher. */
    if (count_of("OMPI_COMM_WORLD_SIZE") > 0)
        return count_of("OMPI_COMM_WORLD_SIZE") > 1 ? start_mpi(e) : 0;
    int64_t tasks = getenv("SLURM_STEP_ID") ? count_of("SLURM_STEP_NUM_TASKS") : 0;
    if (getenv("PMIX_RANK"))
        return tasks != 1 ? start_mpi(e) : 0;
    if (tasks > 1)
        return err_set(e, ERR_LIB,
                       "srun: started %lld tasks that do not know of each other; use srun --mpi=pmix",
                       (long long)tasks);
    if (count_of("PMI_SIZE") > 1)
        return err_set(
            e, ERR_LIB,
            "mpirun: belongs to another MPI, with %lld ranks; use Open MPI's mpirun or srun --mpi=pmix",
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
            /* All are heard even after a failure: each rank waits for the answer. */
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

/* Each rank has one thread more than work: it alone calls MPI. It polls and sleeps, shortly when messages
 * come, longer when they do not: what MPI calls waiting is a loop that would take the core of a worker. */
#define NAP_MIN_S 0.00005
#define NAP_MAX_S 0.001
/* A piece is held in advance, so that no worker waits for an answer: as many as take this long, but none that
 * takes longer than an answer matters, which another rank could begin meanwhile. */
#define HOLD_S      0.005
#define HOLD_MOST_S 0.5
enum { HOLD_MOST = 16 };

/* From others to the first rank: ASK (int64_t: how many units) is always answered by a PIECE (struct span);
 * ROWS (a packed batch); FAIL (struct verdict); BYE (nothing): no message follows. Back: STOP (nothing), at
 * most once; END (struct verdict) after all said BYE. */
enum { TAG_ASK, TAG_PIECE, TAG_ROWS, TAG_FAIL, TAG_BYE, TAG_STOP, TAG_END };

struct verdict {
    struct err err; /* code 0: none */
    int32_t stopped;
};

static double longer(double nap_s)
{
    return nap_s * 2 < NAP_MAX_S ? nap_s * 2 : NAP_MAX_S;
}

/* Is there a message? Its tag is in the status. */
static bool probe(int from, MPI_Status *status)
{
    int there;
    MPI_Iprobe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &there, status);
    return there;
}

/* Small messages leave at once. */
static void send_small(const void *bytes, size_t n, int to, int tag)
{
    MPI_Send(bytes, (int)n, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void mpi_receive(void *bytes, size_t n, const MPI_Status *status)
{
    MPI_Recv(bytes, (int)n, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- the first rank ---- */

struct office {
    struct fleet_crew *crew;
    int32_t here; /* other ranks that did not say BYE */
    bool told;    /* they were told to stop */
    struct fleet_batch got;
};

static void receive_rows(struct office *o, const MPI_Status *status, struct err *e)
{
    struct fleet_batch *b = &o->got;
    int n;
    MPI_Get_count(status, MPI_BYTE, &n);
    unsigned char *bytes = malloc((size_t)n + 1);
    if (!bytes) {
        err_nomem(e, "rows from another rank");
        MPI_Abort(MPI_COMM_WORLD, 1); /* the message cannot be passed over */
        return;
    }
    mpi_receive(bytes, (size_t)n, status);
    int rc = fleet_unpack(b, bytes, (size_t)n, e);
    b->away = o->crew->run->apart;
    if (!rc)
        rc = fleet_take_batch(o->crew, b, e);
    if (rc)
        fleet_fail(o->crew, e);
    fleet_batch_clear(b);
    free(bytes);
}

static void answer(struct office *o, const MPI_Status *status)
{
    struct verdict v;
    struct err e = { 0 };
    int64_t want;
    struct span piece;
    switch (status->MPI_TAG) {
    case TAG_ASK:
        mpi_receive(&want, sizeof want, status);
        piece = fleet_queue_next(o->crew, status->MPI_SOURCE, want);
        send_small(&piece, sizeof piece, status->MPI_SOURCE, TAG_PIECE);
        break;
    case TAG_ROWS:
        receive_rows(o, status, &e);
        break;
    case TAG_FAIL:
        mpi_receive(&v, sizeof v, status);
        fleet_fail(o->crew, &v.err);
        break;
    default:
        mpi_receive(NULL, 0, status);
        o->here--;
    }
}

static void tell_all(const void *bytes, size_t n, int tag)
{
    int32_t ranks = fleet_ranks();
    for (int32_t to = 1; to < ranks; to++)
        send_small(bytes, n, to, tag);
}

static void office_serve(struct office *o)
{
    struct fleet_crew *c = o->crew;
    double nap_s = NAP_MIN_S;
    while (o->here > 0 || fleet_active(c) > 0) {
        MPI_Status status;
        bool busy = probe(MPI_ANY_SOURCE, &status);
        if (busy)
            answer(o, &status);
        /* Told once: to the others a stop is final, and the tag must not lie in the way of END. */
        if (!o->told && fleet_stopped(c)) {
            tell_all(NULL, 0, TAG_STOP);
            o->told = true;
        }
        fleet_report(c);
        if (!busy)
            fleet_sleep(nap_s);
        nap_s = busy ? NAP_MIN_S : longer(nap_s);
    }
    struct verdict v = { .err = c->first, .stopped = c->run->stopped };
    tell_all(&v, sizeof v, TAG_END);
}

/* ---- another rank ---- */

/* A batch on its way. */
struct parcel {
    struct parcel *next;
    unsigned char *bytes;
    size_t n;
    bool sent;
    MPI_Request request;
};

/* What workers and the thread for messages share, under critical(fleet_branch). */
struct branch {
    struct fleet_crew *crew;
    struct span *stock; /* shape [cap]: pieces that no worker has yet, first come first */
    int32_t n_stock, cap, asked, waiting;
    bool dry; /* the queue has no more */
    struct fleet_want want;
    int64_t piece_n; /* units of the last piece */
    struct parcel *parcels, **last;
    int32_t n_parcels;
    bool told; /* the first rank knows what failed */
};

/* First of the stock; n = 0: there is none now. *over: and there will be none. */
static struct span take_stock(struct branch *b, const struct fleet_want *want, bool *waits, bool *over)
{
    struct span piece = { .n = 0 };
    b->want = *want;
    if (b->n_stock > 0) {
        piece = b->stock[0];
        b->n_stock--;
        memmove(b->stock, b->stock + 1, (size_t)b->n_stock * sizeof *b->stock);
    }
    *over = piece.n > 0 || fleet_stopped(b->crew) || (b->dry && b->asked == 0);
    /* `waiting` counts each worker once, however often it asks: so many pieces are asked for beyond the
     * stock. */
    if (*waits != !*over) {
        *waits = !*over;
        b->waiting += *waits ? 1 : -1;
    }
    return piece;
}

static struct span next_of_stock(struct fleet_crew *c, const struct fleet_want *want)
{
    struct branch *b = c->data;
    struct span piece;
    bool waits = false, over;
    do {
#pragma omp critical(fleet_branch)
        piece = take_stock(b, want, &waits, &over);
        if (!over)
            fleet_sleep(NAP_MIN_S);
    } while (!over);
    return piece;
}

static bool put_parcel(struct branch *b, struct parcel *p)
{
    /* Where the writer is slower than all who work, they wait, and memory stays small. */
    if (b->n_parcels > 2 * b->crew->run->threads)
        return false;
    *b->last = p;
    b->last = &p->next;
    b->n_parcels++;
    return true;
}

/* This rank's own writer. After it has failed batches of other threads are dropped. */
static int take_here(bool *taken, struct fleet_crew *c, struct fleet_batch *batch, struct err *e)
{
    int rc = 0;
    pthread_mutex_lock(&c->taking);
    if (!c->closed)
        rc = c->run->take(c->run->take_data, batch, e);
    c->closed = c->closed || rc;
    *taken = !c->closed;
    pthread_mutex_unlock(&c->taking);
    return rc;
}

static int send_rows(struct fleet_crew *c, struct fleet_batch *batch, struct err *e)
{
    bool taken = true;
    int rc = c->run->apart ? take_here(&taken, c, batch, e) : 0;
    if (!taken)
        return rc;
    struct parcel *p = calloc(1, sizeof *p);
    if (!p)
        return err_nomem(e, "rows for the first rank");
    rc = fleet_pack(&p->bytes, &p->n, batch, e);
    if (!rc && p->n > INT_MAX)
        rc = err_set(e, ERR_LIB, "rows of one batch: are %zu bytes, MPI needs less than 2^31", p->n);
    if (rc) {
        free(p->bytes);
        free(p);
        return rc;
    }
    for (bool put = false; !put;) {
#pragma omp critical(fleet_branch)
        put = put_parcel(c->data, p);
        if (!put)
            fleet_sleep(NAP_MAX_S);
    }
    return 0;
}

static void send_parcel(struct parcel *p)
{
    MPI_Isend(p->bytes, (int)p->n, MPI_BYTE, 0, TAG_ROWS, MPI_COMM_WORLD, &p->request);
    p->sent = true;
}

/* Send what is there; free what has arrived. */
static bool move_parcels(struct branch *b)
{
    bool busy = false;
    struct parcel **at = &b->parcels;
    /* The checker knows MPI_Wait() alone, not MPI_Test(). */
    while (*at) { /* NOLINT(clang-analyzer-optin.mpi.MPI-Checker) */
        struct parcel *p = *at;
        int arrived = 0;
        busy = busy || !p->sent;
        if (!p->sent)
            send_parcel(p);
        MPI_Test(&p->request, &arrived, MPI_STATUS_IGNORE);
        if (!arrived) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        if (!p->next)
            b->last = at;
        b->n_parcels--;
        free(p->bytes);
        free(p);
    }
    return busy;
}

/* Pieces to be held for each worker. */
static int32_t pieces_ahead(const struct branch *b)
{
    double piece_s = b->want.unit_s * (double)b->piece_n;
    if (!(piece_s <= HOLD_MOST_S))
        return 0;
    double n = ceil(HOLD_S / piece_s);
    return n < 1 ? 1 : n < HOLD_MOST ? (int32_t)n : HOLD_MOST;
}

/* Returns how many pieces to ask for. */
static int32_t note_need(struct branch *b, int64_t *want)
{
    int32_t need = b->waiting + pieces_ahead(b) * b->crew->run->threads;
    if (need > b->cap)
        need = b->cap;
    need -= b->n_stock + b->asked;
    if (need < 0 || b->dry || fleet_stopped(b->crew))
        need = 0;
    b->asked += need;
    *want = b->want.n;
    return need;
}

static void put_stock(struct branch *b, const struct span *piece)
{
    b->asked--;
    /* One empty answer is enough: the queue only shrinks. */
    if (piece->n == 0) {
        b->dry = true;
        return;
    }
    b->piece_n = piece->n;
    b->stock[b->n_stock++] = *piece;
}

static void ask(struct branch *b)
{
    int64_t want;
    int32_t need;
#pragma omp critical(fleet_branch)
    need = note_need(b, &want);
    for (; need > 0; need--)
        send_small(&want, sizeof want, 0, TAG_ASK);
}

static void send_failure(struct branch *b)
{
    struct verdict v = { .stopped = 0 };
    if (b->told || !fleet_failed(b->crew))
        return;
    b->told = true;
#pragma omp critical(fleet_end)
    v.err = b->crew->first;
    err_wrap(&v.err, "rank %d", (int)fleet_rank());
    send_small(&v, sizeof v, 0, TAG_FAIL);
}

/* Returns whether it was the last message of all. */
static bool hear(struct branch *b, const MPI_Status *status, struct verdict *v)
{
    struct span piece;
    switch (status->MPI_TAG) {
    case TAG_PIECE:
        mpi_receive(&piece, sizeof piece, status);
#pragma omp critical(fleet_branch)
        put_stock(b, &piece);
        return false;
    case TAG_STOP:
        mpi_receive(NULL, 0, status);
        fleet_stop(b->crew);
        work_stop();
        return false;
    default:
        mpi_receive(v, sizeof *v, status);
        return true;
    }
}

/* Is there anything that the first rank will hear of? */
static bool has_more(struct branch *b)
{
    bool more;
#pragma omp critical(fleet_branch)
    more = b->n_parcels > 0 || b->asked > 0;
    return more || fleet_active(b->crew) > 0;
}

static void attend(struct branch *b, struct verdict *v)
{
    double nap_s = NAP_MIN_S;
    bool said_bye = false;
    for (bool over = false; !over;) {
        MPI_Status status;
        bool busy = probe(0, &status), moved;
        if (busy)
            over = hear(b, &status, v);
#pragma omp critical(fleet_branch)
        /* Sent under the lock, as workers append to the list; MPI itself is called by this thread alone. */
        moved = move_parcels(b);
        ask(b);
        send_failure(b);
        /* Checked after ask(): what it asked for is owed to this rank. */
        if (!said_bye && !has_more(b)) {
            send_small(NULL, 0, 0, TAG_BYE);
            said_bye = true;
        }
        busy = busy || moved;
        if (!busy)
            fleet_sleep(nap_s);
        nap_s = busy ? NAP_MIN_S : longer(nap_s);
    }
}

static const struct fleet_desk branch_desk = { .next = next_of_stock, .give = send_rows };

/* ---- all threads of a rank ---- */

/* Thread 0, which has entered MPI, is for messages. Needs one more than were asked for. */
static void count_workers(struct fleet_crew *c)
{
    struct err e = { 0 };
    c->active = omp_get_num_threads() - 1;
    if (c->active < 1) {
        err_set(&e, ERR_LIB, "OpenMP: starts 1 thread, expected 2 (see OMP_THREAD_LIMIT, OMP_DYNAMIC)");
        fleet_fail(c, &e);
    }
}

static int run_first(struct fleet_run *f, struct err *e)
{
    struct fleet_crew c;
    struct err mine = { 0 };
    int rc = fleet_crew_begin(&c, f, fleet_ranks(), &mine);
    if (rc)
        fleet_fail(&c, &mine);
    struct office o = { .crew = &c, .here = fleet_ranks() - 1 };
    fleet_batch_begin(&o.got, f->work);
#pragma omp parallel num_threads(f->threads + 1)
    {
#pragma omp master
        count_workers(&c);
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            office_serve(&o);
        else
            fleet_crew_work(&c);
    }
    fleet_batch_free(&o.got);
    return fleet_crew_end(&c, e);
}

static int run_other(struct fleet_run *f, struct err *e)
{
    struct fleet_crew c = { .run = f, .desk = &branch_desk };
    struct branch b = { .crew = &c, .want = { .n = 1, .unit_s = INFINITY }, .piece_n = 1 };
    struct verdict v = { .stopped = 0 };
    struct err mine = { 0 };
    pthread_mutex_init(&c.taking, NULL);
    c.data = &b;
    b.last = &b.parcels;
    /* As many as may be held for each worker, and one that it waits for. */
    b.cap = f->threads * (HOLD_MOST + 1);
    b.stock = malloc((size_t)b.cap * sizeof *b.stock);
    if (!b.stock) {
        err_nomem(&mine, "units to do");
        fleet_fail(&c, &mine);
    }
#pragma omp parallel num_threads(f->threads + 1)
    {
#pragma omp master
        count_workers(&c);
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            attend(&b, &v);
        else
            fleet_crew_work(&c);
    }
    pthread_mutex_destroy(&c.taking);
    free(b.stock);
    f->stopped = v.stopped;
    if (v.err.code)
        *e = v.err;
    return (int)v.err.code;
}

/* Whether to stop is for the first rank to say; mpirun and srun send signals to all. */
static int run_deaf(struct fleet_run *f, struct err *e)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN }, on_int, on_term;
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGINT, &ignore, &on_int);
    sigaction(SIGTERM, &ignore, &on_term);
    int rc = run_other(f, e);
    sigaction(SIGINT, &on_int, NULL);
    sigaction(SIGTERM, &on_term, NULL);
    return rc;
}

int fleet_run_ranks(struct fleet_run *f, struct err *e)
{
    return fleet_rank() == 0 ? run_first(f, e) : run_deaf(f, e);
}
