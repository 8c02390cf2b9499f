/** @file Speeds measured side by side, and held against what README and docs promise. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How many promises were looked at; what main() ends with. */
struct bench {
    int met, missed;
    struct bench_kept *kept; /**< figures of the last release, and of this run; see bench_keep() */
};

/**
 * Figures are kept as multiples of a loop that is timed in the same race, so that a faster machine does not
 * hide what became slower. Read those of the last release from @p path, one a line, "MULTIPLE<TAB>RACE:
 * RUNNER".
 */
void bench_keep(struct bench *b, const char *path);
/** Say what fell by more than BENCH_FALL; with @p path not NULL write the figures of this run there, and of
 * the last release those that this run did not measure. How many fell. */
int bench_close(struct bench *b, const char *path);
#define BENCH_FALL 0.05

/** Wall clock and the CPU time of this process [s]. */
struct bench_time {
    double wall_s, cpu_s;
};
struct bench_time bench_now(void);

/** One way to do the work of a subject. */
struct bench_runner {
    const char *what;
    /** Do it @p n times. The result depends on all of it, so that none is optimised away. */
    double (*run)(void *data, int64_t n);
    void *data;
    double items;       /**< done in one time: points, solves */
    double floor_per_s; /**< items per second of processor time promised; 0 = for information */
    char mark;          /**< others give their speed as a multiple of this one's; 0 = none */
    bool broken;        /**< set when what it computes is wrong: the promise is then missed */
};

/** Print the heads of the columns under @p title, which races until the next one are kept under. */
void bench_head(struct bench *b, const char *title);

/** Room for one printed figure. */
enum { BENCH_CELL = 32 };

/** "312 M/s" of a rate per second. Returns @p buf. */
const char *bench_rate(char buf[BENCH_CELL], double per_s);

/** One printed line; NULL is an empty cell. */
struct bench_line {
    const char *what, *required, *best, *spread, *cpu, *ratio;
};
enum bench_verdict { BENCH_INFO, BENCH_MET, BENCH_MISSED };
void bench_print(struct bench *b, const struct bench_line *line, enum bench_verdict verdict);

/**
 * Time @p n runners in turns (first, second, ..., first, second, ...), since machines are
 * noisy: what slows one down slows its neighbours too. At least 41 rounds of 3 ms or
 * one call; up to 201 while a promise is missed, as noise only ever makes things slower.
 * Prints one line each. A promise is held against the processor's time, which other work on the machine
 * hardly moves.
 */
void bench_race(struct bench *b, struct bench_runner *runners, int n);

/** Keep a speed that was measured without a race, in items per second of processor time: the loop is timed
 * now. */
void bench_keep_speed(struct bench *b, const char *what, double per_cpu_s);

/** Middle of @p x (shape [n], n >= 1), which is sorted on return. */
double bench_median(double *x, int n);

/** Say what went wrong while preparing, and end the program. */
_Noreturn void bench_stop(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Zeroed memory; ends the program when there is none. Release with free(). */
void *bench_alloc(size_t size);

/**
 * run(data, out) in a process of its own, so that the peak of memory it reads is its alone.
 * @p out (@p size bytes, at most a pipe's 4096) is what it wrote there. Ends the program when it fails.
 */
void bench_apart(void (*run)(const void *data, void *out), const void *data, void *out, size_t size);

/* The subjects, one file each. */
void bench_eval(struct bench *b);  /**< closed form T(B) */
void bench_grid(struct bench *b);  /**< bandwidths on a grid */
void bench_split(struct bench *b); /**< certified splits */
void bench_sweep(struct bench *b); /**< points of a sweep into rows */
void bench_chunk(struct bench *b); /**< collectives simulated in chunks */
void bench_graph(struct bench *b); /**< igraph model of a million NPUs */
void bench_flow(struct bench *b); /**< flows that share links, beside SimGrid, whose program is in $SIMGRID */
void bench_search(struct bench *b);  /**< plans of parallelism */
void bench_best(struct bench *b);    /**< the best of many machines, proved */
void bench_cluster(struct bench *b); /**< jobs on a cluster: slots, batches, admission, events */
void bench_hetero(struct bench *b);  /**< layers on types of resources: plans, optima, searches */
void bench_gossip(struct bench *b);  /**< training with little communication: products, batches, runs */
void bench_store(struct bench *b);   /**< `weft sweep` as a user starts it, a million points */
void bench_shell(struct bench *b);   /**< `weft alloc` as a user starts it; the program is in $WEFT */

#endif
