#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "study/fleet_crew.h"
#include "study/fleet_pack.h"

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

static void receive(void *bytes, size_t n, const MPI_Status *status)
{
    MPI_Recv(bytes, (int)n, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- the first rank ---- */

struct office {
    struct fleet_crew *crew;
    int32_t here; /* other ranks that did not say BYE */
    bool told;    /* they were told to stop */
};

static void receive_rows(struct office *o, const MPI_Status *status, struct err *e)
{
    const struct fleet_work *work = o->crew->run->work;
    struct fleet_batch b;
    int n;
    MPI_Get_count(status, MPI_BYTE, &n);
    unsigned char *bytes = malloc((size_t)n + 1);
    if (!bytes) {
        err_nomem(e, "rows from another rank");
        MPI_Abort(MPI_COMM_WORLD, 1); /* the message cannot be passed over */
        return;
    }
    receive(bytes, (size_t)n, status);
    fleet_batch_begin(&b, work);
    int rc = fleet_unpack(&b, bytes, (size_t)n, e);
    if (!rc)
        rc = fleet_take_batch(o->crew, &b, e);
    if (rc)
        fleet_fail(o->crew, e);
    fleet_batch_free(&b);
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
        receive(&want, sizeof want, status);
        piece = fleet_queue_next(o->crew, want);
        send_small(&piece, sizeof piece, status->MPI_SOURCE, TAG_PIECE);
        break;
    case TAG_ROWS:
        receive_rows(o, status, &e);
        break;
    case TAG_FAIL:
        receive(&v, sizeof v, status);
        fleet_fail(o->crew, &v.err);
        break;
    default:
        receive(NULL, 0, status);
        o->here--;
    }
}

static void tell_all(const void *bytes, size_t n, int tag)
{
    int32_t ranks = fleet_ranks();
    for (int32_t to = 1; to < ranks; to++)
        send_small(bytes, n, to, tag);
}

static void serve(struct office *o)
{
    struct fleet_crew *c = o->crew;
    double nap_s = NAP_MIN_S;
    while (o->here > 0 || fleet_active(c) > 0) {
        MPI_Status status;
        bool busy = probe(MPI_ANY_SOURCE, &status);
        if (busy)
            answer(o, &status);
        if (!o->told && fleet_stopped(c)) {
            tell_all(NULL, 0, TAG_STOP);
            o->told = true;
        }
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

static int send_rows(struct fleet_crew *c, struct fleet_batch *batch, struct err *e)
{
    struct parcel *p = calloc(1, sizeof *p);
    if (!p)
        return err_nomem(e, "rows for the first rank");
    int rc = fleet_pack(&p->bytes, &p->n, batch, e);
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
        receive(&piece, sizeof piece, status);
#pragma omp critical(fleet_branch)
        put_stock(b, &piece);
        return false;
    case TAG_STOP:
        receive(NULL, 0, status);
        fleet_stop(b->crew);
        return false;
    default:
        receive(v, sizeof *v, status);
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
        moved = move_parcels(b);
        ask(b);
        send_failure(b);
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
        err_set(&e, ERR_LIB, "OpenMP: starts 1 thread, need 2 (see OMP_THREAD_LIMIT, OMP_DYNAMIC)");
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
#pragma omp parallel num_threads(f->threads + 1)
    {
#pragma omp master
        count_workers(&c);
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            serve(&o);
        else
            fleet_crew_work(&c);
    }
    return fleet_crew_end(&c, e);
}

static int run_other(struct fleet_run *f, struct err *e)
{
    struct fleet_crew c = { .run = f, .desk = &branch_desk };
    struct branch b = { .crew = &c, .want = { .n = 1, .unit_s = INFINITY }, .piece_n = 1 };
    struct verdict v = { .stopped = 0 };
    struct err mine = { 0 };
    c.data = &b;
    b.last = &b.parcels;
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
