/**
 * @file Error value: a code for the program, one line for the reader.
 *
 * Every function that can fail takes `struct err *e` last, returns 0 or the code, and writes the message
 * once, where the failure is noticed, with file, line and column if it has them. Whoever passes a failure on
 * adds where it happened (err_wrap()) or nothing; cleaning up on the way must not overwrite it. Programmer's
 * errors are asserts, which stay on in release builds. There is no last error of a thread or a program: the
 * value belongs to the caller, is not allocated, and may be copied.
 *
 * Outcomes (infeasible, unbounded, no run that finished) are not errors: they are a status in the result.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

/** What kind of failure; the command line turns it into an exit code. */
enum err_code {
    ERR_OK = 0,
    ERR_NOMEM = -1,     /**< allocation failed */
    ERR_IO = -2,        /**< a file could not be written, a program not started */
    ERR_PARSE = -3,     /**< input is missing, unreadable or not the expected grammar */
    ERR_RANGE = -4,     /**< value outside its documented range, or it contradicts another */
    ERR_UNSUP = -5,     /**< valid request this build does not implement */
    ERR_LIB = -6,       /**< igraph, GSL, GLPK or libyaml refused the call */
    ERR_USAGE = -7,     /**< command line is wrong */
    ERR_NO_DESIGN = -8, /**< nothing fits what was asked for */
    ERR_STOPPED = -9,   /**< who waits wants an end (base/work.h) */
};

/**
 * One failure. `struct err e;` need not be set before it is passed. The message is part of it, so that saying
 * that memory is short needs none.
 */
struct err {
    enum err_code code;
    char msg[1024]; /**< one line, no trailing newline, always terminated */
};

/** Did the machine fail (no memory, a disk), or was the work stopped: is it not the input? Who makes do with
 * an input that cannot be read passes these on. */
static inline bool err_is_of_machine(int rc)
{
    return rc == ERR_NOMEM || rc == ERR_IO || rc == ERR_STOPPED;
}

#define ERR_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/**
 * Record a new failure; returns @p code so callers can `return err_set(...)`.
 *
 * Control characters of the message become '?'; what is beyond the room is cut behind a word, "...".
 * Arguments may point into e->msg. @p e NULL: nobody reads it, and none is made, which takes a microsecond.
 */
int err_set(struct err *e, enum err_code code, const char *fmt, ...) ERR_PRINTF(3, 4);
int err_vset(struct err *e, enum err_code code, const char *fmt, va_list ap) ERR_PRINTF(3, 0);

/**
 * Prefix the recorded message with where it happened; returns e->code. "WHERE: MESSAGE"; where both together
 * are too long, each keeps half of the room at least.
 */
int err_wrap(struct err *e, const char *fmt, ...) ERR_PRINTF(2, 3);

/** Append "; did you mean NEAR?" to the recorded message; NULL: nothing. Returns e->code. */
int err_suggest(struct err *e, const char *near);

/** Record "out of memory for WHAT"; returns ERR_NOMEM. */
int err_nomem(struct err *e, const char *what);

/*
 * Time that passes, for progress and for what says how long it took; never for results.
 */

/** Seconds since some moment, the same one as long as the program runs; never goes back. Thread-safe. */
double clock_now_s(void);

#endif
