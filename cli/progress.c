/*
 * SIGINT and SIGTERM set a flag (work_stop()), which whatever is solved or simulated looks at; a second one
 * ends the program.
 */
#include "cli/progress.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/work.h"
#include "cli/output.h"

static void note_signal(int signal)
{
    (void)signal;
    work_stop();
}

/* A second one ends the program at once, as if there were no handler; one that is ignored stays so. */
static void watch_signal(int signal)
{
    struct sigaction action = { .sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND }, before;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(signal, &action, NULL);
}

/* What comes after is not asked for an end any more: a signal makes one. */
static void unwatch(int signal)
{
    struct sigaction dflt = { .sa_handler = SIG_DFL }, now;
    sigemptyset(&dflt.sa_mask);
    if (sigaction(signal, NULL, &now) == 0 && now.sa_handler == note_signal)
        sigaction(signal, &dflt, NULL);
}

const char *progress_show_s(char buf[SHOW], double left_s)
{
    const double day_s = 86400, year_s = 365 * day_s;
    char n[SHOW];
    if (left_s >= year_s || isnan(left_s)) {
        snprintf(buf, SHOW, "%s years", show_real(n, left_s / year_s, 3));
        return buf;
    }
    long s = (long)(left_s + 0.5);
    if (left_s >= 10 * day_s)
        snprintf(buf, SHOW, "%ld days", (long)(left_s / day_s + 0.5));
    else if (s >= 3600)
        snprintf(buf, SHOW, "%ld h %02ld min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(buf, SHOW, "%ld min %02ld s", s / 60, s % 60);
    else
        snprintf(buf, SHOW, "%ld s", s);
    return buf;
}

bool progress_report(void *context, int64_t done, int64_t total)
{
    struct progress *p = context;
    double now = clock_now_s(), spent = now - p->start_s;
    /* Five times a second: more would slow terminals down, and the flag is looked at in any case. */
    if (p->wanted && now - p->last_s >= 0.2) {
        char a[SHOW], b[SHOW], c[SHOW], left[SHOW];
        p->last_s = now;
        p->shown = true;
        /* What earlier runs did took none of this run's time. */
        double rate = (double)(done - p->before) / spent;
        fprintf(stderr, "\r%s of %s %s, %s a second, %s left%s%s \033[K", show_count(a, done),
                show_count(b, total), p->what, show_real(c, rate, 3),
                rate > 0 ? progress_show_s(left, (double)(total - done) / rate) : "?", *p->note ? "; " : "",
                p->note);
    }
    return !work_stopped();
}

void progress_watch(void)
{
    /* What people send, and what mpirun passes on in its place and batch systems send at the time limit. */
    watch_signal(SIGINT);
    watch_signal(SIGTERM);
}

void progress_begin(struct progress *p, const struct run *run, const char *what)
{
    *p = (struct progress){ .wanted = !run->opt.quiet && isatty(STDERR_FILENO),
                            .start_s = clock_now_s(),
                            .what = what };
    p->last_s = p->start_s;
    if (p->wanted)
        alarm(0); /* main() need not say it too */
    progress_watch();
}

bool progress_end(struct progress *p, struct run *run, const char *kept)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    unwatch(SIGINT);
    unwatch(SIGTERM);
    if (!work_stopped() || p->complete)
        return true;
    output_say(run, "interrupted, %s", kept ? kept : "nothing is written");
    run->exit_code = EXIT_INTERRUPT;
    return false;
}

double progress_spent_s(const struct progress *p)
{
    return clock_now_s() - p->start_s;
}
