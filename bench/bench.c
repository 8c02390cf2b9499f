#include "bench/bench.h"

#include <float.h>
#include <math.h>
#include <omp.h>
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
        omp_set_num_threads(1); /* a child has no threads of its parent's pool, and would wait for them */
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

/* ---- figures of the last release ---- */

enum { FIGURE_NAME = 192, MOST_FIGURES = 512 };

struct figure {
    char name[FIGURE_NAME];
    double last, now; /* multiples of the loop; 0: not measured */
};

struct bench_kept {
    char title[FIGURE_NAME];
    struct figure figures[MOST_FIGURES];
    int n;
};

static struct figure *find_figure(struct bench_kept *k, const char *name)
{
    for (int i = 0; i < k->n; i++)
        if (strcmp(k->figures[i].name, name) == 0)
            return &k->figures[i];
    if (k->n == MOST_FIGURES)
        bench_stop("more than %d figures", MOST_FIGURES);
    struct figure *f = &k->figures[k->n++];
    snprintf(f->name, sizeof f->name, "%s", name);
    return f;
}

void bench_keep(struct bench *b, const char *path)
{
    char line[FIGURE_NAME + 32];
    FILE *f = fopen(path, "r");
    b->kept = bench_alloc(sizeof *b->kept);
    while (f && fgets(line, sizeof line, f)) {
        char *tab = strchr(line, '\t');
        line[strcspn(line, "\n")] = '\0';
        if (*line != '#' && tab)
            find_figure(b->kept, tab + 1)->last = strtod(line, NULL);
    }
    if (f)
        fclose(f);
}

static void write_figures(const struct bench_kept *k, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        bench_stop("%s cannot be written", path);
    fputs("# Speeds as multiples of the loop that make bench times beside them; written by make bench "
          "KEEP=FILE\n",
          f);
    for (int i = 0; i < k->n; i++)
        fprintf(f, "%.4g\t%s\n", k->figures[i].now > 0 ? k->figures[i].now : k->figures[i].last,
                k->figures[i].name);
    if (fclose(f))
        bench_stop("%s cannot be written", path);
}

int bench_close(struct bench *b, const char *path)
{
    struct bench_kept *k = b->kept;
    int fell = 0, n = 0;
    for (int i = 0; i < k->n; i++) {
        const struct figure *f = &k->figures[i];
        bool both = f->now > 0 && f->last > 0;
        n += both;
        if (both && f->now < (1 - BENCH_FALL) * f->last) {
            printf("%s%6.2f of the last release: %s\n", fell++ ? "" : "\n", f->now / f->last, f->name);
        }
    }
    printf("\n%d of %d speeds fell by more than %.0f %% since the last release\n", fell, n, 100 * BENCH_FALL);
    if (path)
        write_figures(k, path);
    free(k);
    return fell;
}

enum { LOOP_TABLE = 512 };

/* What speeds are multiples of: integers, a table that stays in the cache, additions of doubles. */
static double run_loop(void *data, int64_t n)
{
    const double *table = data;
    uint64_t x = 88172645463325252U;
    double sum = 0;
    for (int64_t i = 0; i < 1000 * n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        sum += table[x % LOOP_TABLE] * 1e-3;
    }
    return sum;
}

/* ---- printing ---- */

#define LINE "%-58s %12s %10s %8s %10s  %-21s %s\n"

void bench_head(struct bench *b, const char *title)
{
    snprintf(b->kept->title, sizeof b->kept->title, "%s", title);
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
    return !r->broken && r->items / l->best_cpu_s >= r->floor_per_s;
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

static void keep_figure(struct bench *b, const char *what, double per_cpu_s, double loop_s)
{
    char name[FIGURE_NAME];
    snprintf(name, sizeof name, "%.90s: %.90s", b->kept->title, what + strspn(what, " "));
    find_figure(b->kept, name)->now = per_cpu_s * loop_s;
}

static struct bench_runner loop_of(double table[LOOP_TABLE])
{
    for (int i = 0; i < LOOP_TABLE; i++)
        table[i] = i;
    return (struct bench_runner){ .what = "loop", .run = run_loop, .data = table, .items = 1 };
}

void bench_keep_speed(struct bench *b, const char *what, double per_cpu_s)
{
    double table[LOOP_TABLE];
    const struct bench_runner loop = loop_of(table);
    struct lap *lap = bench_alloc(sizeof *lap);
    choose_times(lap, &loop);
    for (int round = 0; round < MIN_ROUNDS; round++)
        run_lap(lap, &loop, round);
    keep_figure(b, what, per_cpu_s, lap->best_cpu_s);
    free(lap);
}

void bench_race(struct bench *b, struct bench_runner *runners, int n)
{
    if (n > MAX_RUNNERS)
        bench_stop("%d runners in one race, expected at most %d", n, MAX_RUNNERS);
    double table[LOOP_TABLE];
    const struct bench_runner loop = loop_of(table);
    struct lap *laps = bench_alloc(((size_t)n + 1) * sizeof *laps);
    for (int i = 0; i < n; i++)
        choose_times(&laps[i], &runners[i]);
    choose_times(&laps[n], &loop);
    int rounds = 0;
    for (bool missed = true; rounds < MIN_ROUNDS || (missed && rounds < MAX_ROUNDS); rounds++) {
        missed = false;
        run_lap(&laps[n], &loop, rounds);
        for (int i = 0; i < n; i++) {
            run_lap(&laps[i], &runners[i], rounds);
            missed |= !holds(&laps[i], &runners[i]);
        }
    }
    for (int i = 0; i < n; i++) {
        keep_figure(b, runners[i].what, runners[i].items / laps[i].best_cpu_s, laps[n].best_cpu_s);
        print_runner(b, laps, runners, n, i, rounds);
    }
    free(laps);
}
