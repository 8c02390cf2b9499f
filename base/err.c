/*
 * Building of messages. A message is one line whatever was quoted in it: input files, names and paths may
 * hold newlines or escape sequences, and a line that a terminal or a log reader takes for two would be a
 * hole. What does not fit is cut, never refused: a cut message is better than none.
 */

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"

/* Quoted input may hold newlines, terminal escapes, and bytes of a character that was cut. */
static void keep_one_line(char *s)
{
    char *to = s;
    while (*s) {
        size_t n = utf8_bytes(s), shown = utf8_shown(s);
        n += n == 0;
        if (shown)
            memmove(to, s, n);
        else
            *to = '?';
        to += shown ? n : 1;
        s += n;
    }
    *to = '\0';
}

/* A message that fills its room was cut, in the middle of a word more often than not. */
static void end_with_word(char *msg, size_t room)
{
    enum { LONGEST_WORD = 80 };
    char *end = msg + room - sizeof "...";
    *end = '\0';
    char *blank = strrchr(msg, ' ');
    memcpy(blank && end - blank < LONGEST_WORD ? blank : end, "...", sizeof "...");
}

int err_vset(struct err *e, enum err_code code, const char *fmt, va_list ap)
{
    char msg[sizeof e->msg]; /* arguments may point into e->msg */
    if (!e)
        return code;
    if (vsnprintf(msg, sizeof msg, fmt, ap) >= (int)sizeof msg)
        end_with_word(msg, sizeof msg);
    keep_one_line(msg);
    memcpy(e->msg, msg, sizeof msg);
    e->code = code;
    return code;
}

int err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    return code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    char where[sizeof e->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(where, sizeof where, fmt, ap);
    va_end(ap);
    keep_one_line(where);

    /* The cause matters more than the tail of a long path: half of the room is always its own. */
    size_t room = sizeof e->msg - strlen(": ") - 1, n_where = strlen(where), n_cause = strlen(e->msg);
    if (n_where + n_cause > room) {
        size_t keep = n_cause < room / 2 ? room - n_cause : room - room / 2;
        n_where = n_where < keep ? n_where : keep;
    }
    char cause[sizeof e->msg];
    memcpy(cause, e->msg, n_cause + 1);
    snprintf(e->msg, sizeof e->msg, "%.*s: %.*s", (int)n_where, where, (int)(room - n_where), cause);
    if (n_cause > room - n_where)
        end_with_word(e->msg, sizeof e->msg);
    return e->code;
}

int err_suggest(struct err *e, const char *near)
{
    return near ? err_set(e, e->code, "%s; did you mean %s?", e->msg, near) : (int)e->code;
}

int err_nomem(struct err *e, const char *what)
{
    return err_set(e, ERR_NOMEM, "out of memory for %s", what);
}

double clock_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
