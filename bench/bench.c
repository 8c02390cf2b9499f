#include "bench/bench.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MIN_ROUNDS = 41, MAX_ROUNDS = 201, MAX_RUNNERS = 16 };

/* Long against the clock's resolution, short against what disturbs a shared machine. */
#define ROUND_S 3e-3

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct bench_time bench_now(void)
{
    return (struct bench_time){ seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

void bench_stop(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("bench: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

void *bench_alloc(size_t size)
{
    void *memory = calloc(1, size);
    if (!memory) {
        fprintf(stderr, "bench: out of memory for %zu bytes\n", size);
        exit(1);
    }
    return memory;
}

void bench_apart(void (*run)(const void *data, void *out), const void *data, void *out, size_t size)
{
    int ends[2], status = 0;
    fflush(NULL);
    if (pipe(ends))
        bench_stop("no pipe to a child");
    pid_t child = fork();
    if (child < 0)
        bench_stop("no child process");
    if (child == 0) {
        run(data, out);
        _exit(write(ends[1], out, size) != (ssize_t)size);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], out, size);
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0 || n != (ssize_t)size)
        bench_stop("a subject in a process of its own failed");
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* ---- printing ---- */

#define LINE "%-58s %12s %10s %8s %10s  %-21s %s\n"

void bench_head(const char *title)
{
    printf("\n" LINE, title, "required", "best", "spread", "best, CPU", "times the speed of", "verdict");
}

const char *bench_rate(char buf[BENCH_CELL], double per_s)
{
    static const char *const units[] = { "/s", "k/s", "M/s", "G/s" };
    int unit = 0;
    for (; per_s >= 1000 && unit < 3; unit++)
        per_s /= 1000;
    snprintf(buf, BENCH_CELL, "%.*f %s", per_s < 10 ? 2 : per_s < 100 ? 1 : 0, per_s, units[unit]);
    return buf;
}

void bench_print(struct bench *b, const struct bench_line *line, enum bench_verdict verdict)
{
    static const char *const words[] = { "", "met", "MISSED" };
#define CELL(text) ((text) ? (text) : "")
    printf(LINE, line->what, CELL(line->required), CELL(line->best), CELL(line->spread), CELL(line->cpu),
           CELL(line->ratio), words[verdict]);
#undef CELL
    fflush(stdout);
    b->met += verdict == BENCH_MET;
    b->missed += verdict == BENCH_MISSED;
}

/* ---- races ---- */

struct lap {
    int64_t n; /* times per round */
    double wall_s[MAX_ROUNDS];
    double best_wall_s, best_cpu_s; /* per time */
    volatile double sum;            /* results go here and stay unread */
};

static void run_lap(struct lap *l, const struct bench_runner *r, int round)
{
    struct bench_time begin = bench_now();
    l->sum += r->run(r->data, l->n);
    struct bench_time end = bench_now();
    double n = (double)l->n;
    l->wall_s[round] = (end.wall_s - begin.wall_s) / n;
    l->best_wall_s = fmin(l->best_wall_s, l->wall_s[round]);
    l->best_cpu_s = fmin(l->best_cpu_s, (end.cpu_s - begin.cpu_s) / n);
}

/* As many times as fill a round; that also warms it up. */
static void choose_times(struct lap *l, const struct bench_runner *r)
{
    *l = (struct lap){ .n = 1 };
    for (;;) {
        l->best_wall_s = l->best_cpu_s = DBL_MAX;
        run_lap(l, r, 0);
        if (l->best_wall_s * (double)l->n >= ROUND_S)
            break;
        l->n *= 2;
    }
}

static bool holds(const struct lap *l, const struct bench_runner *r)
{
    return !r->broken && r->items / l->best_wall_s >= r->floor_per_s;
}

static void print_runner(struct bench *b, struct lap *laps, const struct bench_runner *runners, int n, int i,
                         int rounds)
{
    const struct bench_runner *r = &runners[i];
    char what[96], required[BENCH_CELL], best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL];
    char ratio[2 * BENCH_CELL] = "";
    double best_s = laps[i].best_wall_s; /* before the median sorts */
    snprintf(what, sizeof what, "%c%s%s", r->mark ? r->mark : ' ', r->mark ? ": " : "  ", r->what);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * (bench_median(laps[i].wall_s, rounds) / best_s - 1));
    for (int k = 0; k < n; k++)
        if (runners[k].mark && k != i) {
            size_t used = strlen(ratio);
            double times = r->items / best_s / (runners[k].items / laps[k].best_wall_s);
            snprintf(ratio + used, sizeof ratio - used, "%s%.*f x %c", used ? ", " : "", times < 10 ? 2 : 0,
                     times, runners[k].mark);
        }
    bench_print(b,
                &(struct bench_line){ what, r->floor_per_s > 0 ? bench_rate(required, r->floor_per_s) : NULL,
                                      bench_rate(best, r->items / best_s), spread,
                                      bench_rate(cpu, r->items / laps[i].best_cpu_s), ratio },
                !(r->floor_per_s > 0) ? BENCH_INFO
                : holds(&laps[i], r)  ? BENCH_MET
                                      : BENCH_MISSED);
}

void bench_race(struct bench *b, struct bench_runner *runners, int n)
{
    if (n > MAX_RUNNERS)
        bench_stop("%d runners in one race, expected at most %d", n, MAX_RUNNERS);
    struct lap *laps = bench_alloc((size_t)n * sizeof *laps);
    for (int i = 0; i < n; i++)
        choose_times(&laps[i], &runners[i]);
    int rounds = 0;
    for (bool missed = true; rounds < MIN_ROUNDS || (missed && rounds < MAX_ROUNDS); rounds++) {
        missed = false;
        for (int i = 0; i < n; i++) {
            run_lap(&laps[i], &runners[i], rounds);
            missed |= !holds(&laps[i], &runners[i]);
        }
    }
    for (int i = 0; i < n; i++)
        print_runner(b, laps, runners, n, i, rounds);
    free(laps);
}
