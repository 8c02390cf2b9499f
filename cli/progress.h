/** @file Long work on a terminal: how far it is, and SIGINT. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/sheet.h"
#include "cli/command.h"

/** Of one piece of work. */
struct progress {
    bool wanted;            /**< standard error is a terminal */
    bool shown;             /**< something stands on its line */
    double start_s, last_s; /**< last_s: when it was last written; the start before that */
    const char *what;       /**< of what there are so many: "points" */
    bool complete;          /**< all is done: a signal comes too late */
    int64_t before;         /**< done by earlier runs: no part of the rate */
    char note[80];          /**< what else to show: the best so far; "" = nothing */
};

/** "1 h 05 min", "3 min 20 s", "12 s". Returns @p buf. */
const char *progress_show_s(char buf[SHOW], double left_s);

/** From now on SIGINT and SIGTERM ask for an end; for what takes long before progress_begin(). */
void progress_watch(void);
/** Start the clock, and let SIGINT and SIGTERM ask for an end instead of making one; a second one does. */
void progress_begin(struct progress *p, const struct run *run, const char *what);
/** A pool_progress; @p context is the struct progress. False once a signal came. */
bool progress_report(void *context, int64_t done, int64_t total);
/** Clear the line; signals end the program from here on. False when a signal came: said, with what became of
 * the results (NULL: nothing is written), and run->exit_code is EXIT_INTERRUPT. */
bool progress_end(struct progress *p, struct run *run, const char *kept);
double progress_spent_s(const struct progress *p);

#endif
