/**
 * @file Units of a sweep on threads, and on ranks of MPI: one queue, rows to one writer.
 *
 * The queue is a counter over the units of the share, minus those that are done; the writer is whichever
 * thread brings a batch, one at a time. There is no thread of its own for either: with one rank all threads
 * compute. Pieces grow and shrink with the time that units take (FLEET_PIECE_S), so that both microseconds
 * and minutes per unit keep the queue and the writer off the critical path.
 *
 * Locks are OpenMP critical sections with names: fleet_queue and fleet_end here, fleet_branch on ranks other
 * than the first, runs_board in study/runs.c. The writer has a mutex: it works for milliseconds, in which who
 * waits for a critical section spins. None is entered inside another, so there is no order to keep. Flags
 * that are read in loops (stop, failed, active) are atomic instead.
 *
 * Which thread runs which unit, and in what order batches arrive, is left to chance; whoever takes them must
 * not depend on it.
 */
#ifndef STUDY_FLEET_H
#define STUDY_FLEET_H

#include <pthread.h>

#include "base/table.h"
#include "base/work.h"
#include "study/blocks.h"

struct fleet_crew;

enum { FLEET_MORE = 12 };

/**
 * What is to be done; the same on every rank. Hooks are called by all threads at once, each with its own
 * hand; `data` must be read-only or locked by them.
 */
struct fleet_work {
    int64_t n_units;
    /**
     * NULL: each thread runs units by itself, with `build`, `run` and `free`. Else what each thread does
     * until there are no units: fleet_next() gives them, fleet_give() takes what came out; of a unit that is
     * done the last batch says so. `build`, `run` and `free` are not used then.
     */
    int (*member)(struct fleet_crew *c, void *data, struct err *e);
    /** One a thread: its own memory. */
    int (*build)(void **hand, void *data, struct err *e);
    void (*free)(void *hand);
    /** Append the rows of units first..first+n-1 to @p rows, which has its columns, and count. */
    int (*run)(void *hand, struct span units, struct table *rows, struct sweep_counts *n, struct err *e);
    /** The columns of rows. */
    void (*columns)(struct table *t, void *data);
    int32_t n_more; /**< tables of a batch besides its rows, and their columns; <= FLEET_MORE */
    void (*more)(struct table *t, int32_t i, void *data);
    void *data;
};

/** Rows of a span of units, done. With `member` what rows and tables mean is for it to say. */
struct fleet_batch {
    struct span units;
    struct table rows;
    struct sweep_counts counts;
    struct table more[FLEET_MORE]; /**< shape [n_more of the work] */
    bool away; /**< another rank has taken it: rows are those that it leaves to be heard of here */
};
/**
 * A batch without rows, and its columns; release with fleet_batch_free(). Lack of memory shows in the
 * `failed` of its tables.
 */
void fleet_batch_begin(struct fleet_batch *b, const struct fleet_work *work);
/** Without rows again; columns and room stay. */
void fleet_batch_clear(struct fleet_batch *b);
void fleet_batch_free(struct fleet_batch *b);

/** Where rows go: called on the first rank, by one thread at a time. The rows may be taken out of the tables.
 * An error ends the run. With fleet_run.apart it is called on the rank that ran the units, which leaves in
 * the batch what the first rank is to hear of; there it is called again, with `away`. */
typedef int fleet_take(void *data, struct fleet_batch *batch, struct err *e);

/** Called after batches, and on several ranks while they work, by one thread of the first rank at a time, a
 * few times a second at most. Returning false stops: units under way are finished, no other begins; on
 * several ranks it is called on until all have ended. work_stop() stops too, and units under way give up. */
typedef bool fleet_progress(void *data, const struct sweep_counts *done);

/**
 * One run, filled in by the caller; the same on every rank but for `done`, `take` and `progress`, which the
 * first rank alone looks at.
 */
struct fleet_run {
    const struct fleet_work *work;
    const struct spans *done; /**< units that are not run again; on the first rank; read when it begins */
    struct span share;        /**< units that are run at all: a shard's; all: { 0, n_units } */
    int32_t threads;          /**< of each rank, >= 1 */
    bool
        apart; /**< each rank takes what it runs itself, of a stretch of the units as long as there are any */
    fleet_take *take;
    void *take_data;
    fleet_progress *progress; /**< may be NULL */
    void *progress_data;
    bool stopped; /**< set, on every rank: progress wanted to, or the whole process is to end */
};

/**
 * Run all units of the share that are not done, each once. Threads take spans of units from a queue, small
 * at first and at the end, as many as take about 50 ms between. On several ranks (fleet_ranks() > 1) every
 * rank calls it; rank 0 hands out and writes, and computes as well. There one thread more is for messages,
 * and ranks other than the first are deaf to SIGINT and SIGTERM, which mpirun and srun send to all: whether
 * to stop is for progress to say.
 * @return 0, or the code of the failure that came first, on every rank. Of a unit that failed
 * nothing is handed over, of those that were done before it everything, if that can be. Memory does not
 * depend on the number of units.
 */
int fleet_run(struct fleet_run *f, struct err *e);

/* ---- for `member` ---- */

/** What a thread asks for. */
struct fleet_want {
    int64_t n;     /**< units, >= 1 */
    double unit_s; /**< how long one took of late; INFINITY: not known */
};
/** The next units, at most want->n; n = 0: there are none any more. May wait. */
struct span fleet_next(struct fleet_crew *c, const struct fleet_want *want);
/** Hand over a batch; the rows may be taken out of its tables, it is then empty. Batches of one thread arrive
 * in order. */
int fleet_give(struct fleet_crew *c, struct fleet_batch *b, struct err *e);
/** Units are of @p n parts; @p more as work_part() has it. */
void fleet_part(struct fleet_crew *c, int64_t n, int64_t more);
bool fleet_stopped(const struct fleet_crew *c); /**< no other unit shall begin */
void fleet_sleep(double s);                     /**< 0 <= s < 1 */

/* ---- ranks: study/fleet_mpi.c ---- */

/** Was the program started by mpirun or by srun with an MPI plug-in? Then MPI is initialised, once; all calls
 * but those of a thread's work come from the thread that was here. ERR_LIB: by srun without a plug-in, by
 * another MPI. */
int fleet_start(struct err *e);
/** Leave MPI, if it was entered. Where @p rc is not 0 and the other ranks do not come here within seconds,
 * this process and they end at once, with this exit code: say before what is wrong. */
void fleet_end(int rc);
/** Called by all ranks, each with what it has come to: 0 where all have 0; else, on all, the code and the
 * message of the first rank's failure, or of the lowest other's. */
int fleet_agree(int rc, struct err *e);
int32_t fleet_rank(void);  /**< 0 where there is one */
int32_t fleet_ranks(void); /**< 1 where there is one */
/** The @p n bytes of rank 0 to all; n and bytes of others are replaced, *bytes is owned by the caller (as
 * malloc), a NUL follows them. Called by all ranks. ERR_NOMEM; ERR_LIB: 2^31 bytes or more. */
int fleet_share(void **bytes, size_t *n, struct err *e);

/* ---- what the threads of one rank share; for the files of the fleet ---- */

/** Work that is worth a piece, and a batch: what a kill loses, what a thread waits for at the end. */
#define FLEET_PIECE_S 0.02

/** What differs between the first rank and others. Called by all working threads at once. */
struct fleet_desk {
    /** The next piece, of at most want->n units; n = 0: there are none any more. May wait. */
    struct span (*next)(struct fleet_crew *c, const struct fleet_want *want);
    /** Rows of units that are done; the rows may be taken out of the table. */
    int (*give)(struct fleet_crew *c, struct fleet_batch *b, struct err *e);
};

extern const struct fleet_desk fleet_first_desk;

/** Threads of one rank. The first rank's has the queue and the writer, which others have no use for. */
struct fleet_crew {
    struct fleet_run *run;
    const struct fleet_desk *desk;
    void *data;       /**< of the desk */
    int active;       /**< threads that have not ended their work; atomic */
    int stop;         /**< no other unit is begun; atomic */
    int failed;       /**< first is set; atomic */
    struct err first; /**< what went wrong first; under critical(fleet_end) */
    /* queue: under critical(fleet_queue) */
    struct spans done;
    /** Shape [n_stretches], owned: of the share what nobody has had yet, one for all, or for each rank. */
    struct fleet_stretch {
        int64_t next, end;
    } * stretches;
    int32_t n_stretches;
    int64_t left;    /**< units that nobody has */
    int64_t workers; /**< of all ranks */
    /* writer: under `taking` */
    pthread_mutex_t taking;
    bool closed;                /**< it failed: nothing is written any more */
    struct sweep_counts counts; /**< of all that was taken */
    double reported_s;          /**< when progress was called last */
    struct work work;           /**< units that were taken */
};

/** Of the first rank. @param ranks  that share the queue. ERR_NOMEM; safe to end after failure. */
int fleet_crew_begin(struct fleet_crew *c, struct fleet_run *f, int32_t ranks, struct err *e);
/** Free; returns the failure that came first, or 0. */
int fleet_crew_end(struct fleet_crew *c, struct err *e);

/** The work of one thread, to its end. */
void fleet_crew_work(struct fleet_crew *c);

/** At most @p want units of the queue for @p rank, fewer towards its end. */
struct span fleet_queue_next(struct fleet_crew *c, int32_t rank, int64_t want);
/** To the writer, then to progress. */
int fleet_take_batch(struct fleet_crew *c, struct fleet_batch *b, struct err *e);
/** To progress alone, where it is due: whoever waits for others need not see a batch to be stopped. */
void fleet_report(struct fleet_crew *c);

/** No unit is begun any more; those under way are finished and taken. From any thread. */
void fleet_stop(struct fleet_crew *c);
/** Keep what went wrong, if nothing did before, and stop. That work was stopped is nothing wrong. */
void fleet_fail(struct fleet_crew *c, const struct err *e);
/** Has any thread of this rank failed? Threads that are still at work: both without a lock. */
bool fleet_failed(const struct fleet_crew *c);
/** Threads that have not ended their work. */
int32_t fleet_active(const struct fleet_crew *c);

/** fleet_run() on one of several ranks; study/fleet_mpi.c. */
int fleet_run_ranks(struct fleet_run *f, struct err *e);

#endif
