#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/output.h"
#include "base/sheet.h"

/* What a signal handler may touch; nothing else in the program is global. */
static volatile sig_atomic_t interrupted;

static void note_signal(int signal)
{
    (void)signal;
    interrupted = 1;
}

/* A second one ends the program at once, as if there were no handler; one that is ignored stays so. */
static void watch(int signal)
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
    long s = left_s < 3.6e6 ? (long)(left_s + 0.5) : 3600000;
    if (s >= 3600)
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
    if (p->wanted && now - p->last_s >= 0.2) {
        char a[SHOW], b[SHOW], c[SHOW], left[SHOW];
        p->last_s = now;
        p->shown = true;
        double rate = (double)(done - p->before) / spent;
        fprintf(stderr, "\r%s of %s %s, %s a second, %s left%s%s \033[K", show_count(a, done),
                show_count(b, total), p->what, show_real(c, rate, 3),
                rate > 0 ? progress_show_s(left, (double)(total - done) / rate) : "?", *p->note ? "; " : "",
                p->note);
    }
    return !interrupted;
}

void progress_watch(void)
{
    /* What people send, and what mpirun passes on in its place and batch systems send at the time limit. */
    watch(SIGINT);
    watch(SIGTERM);
}

void progress_begin(struct progress *p, const struct run *run, const char *what)
{
    *p = (struct progress){ .wanted = !run->opt.quiet && isatty(STDERR_FILENO),
                            .start_s = clock_now_s(),
                            .what = what };
    p->last_s = p->start_s;
    progress_watch();
}

bool progress_end(struct progress *p, struct run *run, const char *kept)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    unwatch(SIGINT);
    unwatch(SIGTERM);
    if (!interrupted)
        return true;
    output_say(run, "interrupted, %s", kept ? kept : "nothing is written");
    run->exit_code = EXIT_INTERRUPT;
    return false;
}

double progress_spent_s(const struct progress *p)
{
    return clock_now_s() - p->start_s;
}
