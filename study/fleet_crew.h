/** @file Private to the fleet: what the threads of one rank share; where their units come from, and their
 * rows go. */
#ifndef STUDY_FLEET_CREW_H
#define STUDY_FLEET_CREW_H

#include "study/fleet.h"

/** Work that is worth a piece, and a batch: what a kill loses, what a thread waits for at the end. */
#define FLEET_PIECE_S 0.05

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
    int64_t next;    /**< units below it are done, or handed out */
    int64_t left;    /**< units that nobody has */
    int64_t workers; /**< of all ranks */
    /* writer: under critical(fleet_take) */
    bool closed;                /**< it failed: nothing is written any more */
    struct sweep_counts counts; /**< of all that was taken */
    double reported_s;          /**< when progress was called last */
};

/** Of the first rank. @param ranks  that share the queue. ERR_NOMEM; safe to end after failure. */
int fleet_crew_begin(struct fleet_crew *c, struct fleet_run *f, int32_t ranks, struct err *e);
/** Free; returns the failure that came first, or 0. */
int fleet_crew_end(struct fleet_crew *c, struct err *e);

/** The work of one thread, to its end. */
void fleet_crew_work(struct fleet_crew *c);

/** At most @p want units of the queue, fewer towards its end. */
struct span fleet_queue_next(struct fleet_crew *c, int64_t want);
/** To the writer, then to progress. */
int fleet_take_batch(struct fleet_crew *c, struct fleet_batch *b, struct err *e);

void fleet_stop(struct fleet_crew *c);
/** Keep what went wrong, if nothing did before, and stop. */
void fleet_fail(struct fleet_crew *c, const struct err *e);
bool fleet_failed(const struct fleet_crew *c);
int32_t fleet_active(const struct fleet_crew *c);

/** fleet_run() on one of several ranks; study/fleet_mpi_run.c. */
int fleet_run_ranks(struct fleet_run *f, struct err *e);

#endif
