/* The whole command: a million points solved and stored by `weft sweep`, on two threads and on two ranks of
 * MPI; what it costs in processor time, which other work on the machine hardly moves, how long a user waits,
 * and how much memory it takes at its peak. */
#include "bench/bench.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

enum { ROUNDS = 3, MILLION = 1000000, FEWER = 100000, TOTALS = 1000, MOST_WORDS = 24, PATH = 512 };

#define STUDY   "configs/studies/libra/gpt3-4d.yaml"
#define LIMIT_S 14.0 /* of processor time */
#define LIMIT_B 60e6
#define GROWTH  1.5 /* pieces of memory that threads give back to each other, and no part of the points */
#define RATIO   1.1 /* processor time of two ranks over that of two threads */

extern char **environ;

/* ---- one command ---- */

struct command {
    const char *words[MOST_WORDS];
    char vary[200], store[PATH], log[PATH];
    int64_t points;
};

struct outcome {
    bool ran, solved; /* all points */
    double wall_s, cpu_s, peak_B;
};

static void put_word(struct command *c, const char *word)
{
    int n = 0;
    while (c->words[n])
        n++;
    if (n + 1 == MOST_WORDS)
        bench_stop("a command of too many words");
    c->words[n] = word;
}

/* `points` points: TOTALS totals at each of so many prices of an NPU. */
static void put_command(struct command *c, const char *dir, int64_t points, bool ranks)
{
    static const char *const mpirun[] = { "mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none" };
    const char *weft = getenv("WEFT");
    *c = (struct command){ .points = points };
    snprintf(c->vary, sizeof c->vary,
             "vary={network.npu.usd: {from: 1, to: 1000, points: %d}, total_GBps: {from: 100, to: 1000, "
             "points: %d}}",
             (int)(points / TOTALS), TOTALS);
    snprintf(c->store, sizeof c->store, "%s/rows.db", dir);
    snprintf(c->log, sizeof c->log, "%s/log", dir);
    for (size_t i = 0; ranks && i < sizeof mpirun / sizeof *mpirun; i++)
        put_word(c, mpirun[i]);
    put_word(c, weft ? weft : "build/release/weft");
    put_word(c, "sweep");
    put_word(c, STUDY);
    put_word(c, "--set");
    put_word(c, c->vary);
    put_word(c, "--store");
    put_word(c, c->store);
    put_word(c, "-j");
    put_word(c, ranks ? "1" : "2");
}

static pid_t start(const struct command *c)
{
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) ||
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, c->log, O_WRONLY | O_CREAT | O_TRUNC,
                                         0600) ||
        posix_spawnp(&child, c->words[0], &actions, NULL, (char **)c->words, environ))
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

/* In a process of its own, whose only child it is: the peak is that child's, or of its children. */
static void run_command(const void *data, void *out)
{
    const struct command *c = data;
    struct outcome *o = out;
    struct rusage u;
    int status = -1;
    /* mpirun refuses to be started by root, as in a container, unless told. */
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    double begin_s = bench_now().wall_s;
    pid_t child = start(c);
    o->ran = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    o->wall_s = bench_now().wall_s - begin_s;
    getrusage(RUSAGE_CHILDREN, &u);
    o->cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
               1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    o->peak_B = 1024 * (double)u.ru_maxrss;
}

static bool says_solved(const struct command *c)
{
    struct text log = { 0 };
    struct err e = { 0 };
    char want[64];
    bool found = false;
    const char *n = c->points == MILLION ? "1,000,000" : "100,000";
    snprintf(want, sizeof want, "%s of %s points tried", n, n);
    if (text_read_file(&log, c->log, 1 << 20, &e) == 0)
        found = strstr(text_str(&log), want) && !strstr(text_str(&log), "not solved");
    text_free(&log);
    return found;
}

static struct outcome run(const struct command *c)
{
    static const char *const ends[] = { "", "-wal", "-shm" };
    struct outcome o = { .ran = false };
    char name[PATH + 8];
    bench_apart(run_command, c, &o, sizeof o);
    o.solved = o.ran && says_solved(c);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", c->store, ends[i]);
        unlink(name);
    }
    unlink(c->log);
    return o;
}

/* ---- lines ---- */

struct best {
    double wall_s[ROUNDS], cpu_s, peak_B;
    bool solved;
};

static void note(struct best *b, int round, const struct outcome *o)
{
    b->wall_s[round] = o->wall_s;
    b->cpu_s = round ? fmin(b->cpu_s, o->cpu_s) : o->cpu_s;
    b->peak_B = round ? fmin(b->peak_B, o->peak_B) : o->peak_B;
    b->solved = (round == 0 || b->solved) && o->solved;
}

/* @p ratio may be NULL. Sorts the times. */
static void print_time(struct bench *b, const char *what, const char *required, struct best *t, bool met,
                       const char *ratio)
{
    char best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL];
    double median_s = bench_median(t->wall_s, ROUNDS), best_s = t->wall_s[0];
    snprintf(best, sizeof best, "%.2f s", best_s);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * (median_s / best_s - 1));
    snprintf(cpu, sizeof cpu, "%.2f s", t->cpu_s);
    bench_keep_speed(b, what, MILLION / t->cpu_s);
    bench_print(b, &(struct bench_line){ what, required, best, spread, cpu, ratio },
                met && t->solved ? BENCH_MET : BENCH_MISSED);
    if (!t->solved)
        printf("   a run failed, or not all points were solved\n");
}

static void print_memory(struct bench *b, const struct best *t, const struct outcome *fewer)
{
    char peak[BENCH_CELL], ratio[BENCH_CELL];
    bool met = t->peak_B <= LIMIT_B && t->peak_B <= GROWTH * fewer->peak_B && fewer->solved;
    snprintf(peak, sizeof peak, "%.0f MB", t->peak_B / 1e6);
    snprintf(ratio, sizeof ratio, "%.2f of 100,000 points", t->peak_B / fewer->peak_B);
    bench_print(b, &(struct bench_line){ "   memory at its peak", "<= 60 MB", peak, NULL, NULL, ratio },
                met ? BENCH_MET : BENCH_MISSED);
}

static void race(struct bench *b, const char *dir)
{
    struct command threads, ranks, few;
    struct best by_threads = { .solved = false }, by_ranks = { .solved = false };
    char ratio[BENCH_CELL];
    put_command(&threads, dir, MILLION, false);
    put_command(&ranks, dir, MILLION, true);
    put_command(&few, dir, FEWER, false);
    const struct outcome fewer = run(&few);
    for (int round = 0; round < ROUNDS; round++) {
        const struct outcome t = run(&threads), r = run(&ranks);
        note(&by_threads, round, &t);
        note(&by_ranks, round, &r);
    }
    double times = by_ranks.cpu_s / by_threads.cpu_s;
    snprintf(ratio, sizeof ratio, "%.2f of a's CPU", times);
    print_time(b, "a  weft sweep --store, 2 threads", "<= 14 s CPU", &by_threads, by_threads.cpu_s <= LIMIT_S,
               NULL);
    print_memory(b, &by_threads, &fewer);
    print_time(b, "   mpirun -n 2 weft sweep --store, 1 thread each", "<= 1.1 a", &by_ranks, times <= RATIO,
               ratio);
}

void bench_store(struct bench *b)
{
    char dir[PATH - 16];
    const char *parent = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/weft-bench-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(dir))
        bench_stop("%s: cannot be made", dir);
    bench_head(b, "1,000,000 points solved and stored, GPT-3, 4 dimensions");
    race(b, dir);
    rmdir(dir);
}
