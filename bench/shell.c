/* How long a user waits for one split: `weft alloc` started like a shell does, until it has ended. */
#include "bench/bench.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 30 };

#define STUDY   "configs/studies/libra/gpt3-4d.yaml"
#define LIMIT_S 20e-3

extern char **environ;

/* CPU time of all children that ended [s]. */
static double children_s(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Start it with its output into @p out, -1 on failure. */
static pid_t start(char **argv, int out)
{
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO) ||
        posix_spawn(&child, argv[0], &actions, NULL, argv, environ))
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

static int64_t drain(int fd)
{
    char buf[4096];
    int64_t sum = 0;
    for (;;) {
        ssize_t n = read(fd, buf, sizeof buf);
        if (n > 0)
            sum += n;
        else if (n == 0 || errno != EINTR)
            return sum;
    }
}

/* One run; false when it did not start, failed or said nothing. */
static bool run(char **argv, struct bench_time *took)
{
    int ends[2], status = -1;
    if (pipe(ends))
        return false;
    double cpu_s = children_s();
    struct bench_time begin = bench_now();
    pid_t child = start(argv, ends[1]);
    close(ends[1]);
    int64_t bytes = drain(ends[0]);
    close(ends[0]);
    bool ended = child > 0 && waitpid(child, &status, 0) == child;
    *took = (struct bench_time){ bench_now().wall_s - begin.wall_s, children_s() - cpu_s };
    return ended && status == 0 && bytes > 0;
}

static void print_missing(struct bench *b, const char *what, const char *why)
{
    bench_print(b, &(struct bench_line){ .what = what, .required = "<= 20 ms", .best = "none" },
                BENCH_MISSED);
    printf("   not measured: %s\n", why);
}

void bench_shell(struct bench *b)
{
    static const char what[] = "   weft alloc " STUDY;
    static char alloc[] = "alloc", study[] = STUDY, of[] = "--of", json[] = "json";
    static char usual[] = "build/release/weft";
    char *program = getenv("WEFT");
    char *argv[] = { program ? program : usual, alloc, study, of, json, NULL };
    double wall_s[ROUNDS], cpu_s = (double)INFINITY;
    bench_head(b, "From the shell, 30 times");
    if (access(argv[0], X_OK)) {
        print_missing(b, what, "the program weft is not built");
        return;
    }
    if (access(STUDY, R_OK)) {
        print_missing(b, what, "the study is not there");
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct bench_time took;
        if (!run(argv, &took)) {
            print_missing(b, what, "weft alloc failed; run it by hand to see why");
            return;
        }
        wall_s[i] = took.wall_s;
        cpu_s = fmin(cpu_s, took.cpu_s);
    }
    char best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL], median[BENCH_CELL];
    double median_s = bench_median(wall_s, ROUNDS), best_s = wall_s[0];
    snprintf(best, sizeof best, "%.1f ms", 1e3 * best_s);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * (median_s / best_s - 1));
    snprintf(cpu, sizeof cpu, "%.1f ms", 1e3 * cpu_s);
    snprintf(median, sizeof median, "median %.1f ms", 1e3 * median_s);
    bench_print(b, &(struct bench_line){ what, "<= 20 ms", best, spread, cpu, median },
                best_s <= LIMIT_S ? BENCH_MET : BENCH_MISSED);
}
