/* A sweep without a model, for tests of threads and ranks: units whose rows follow from their number.
 *
 *     fleet_ranks FILE [threads=1] [units=100] [us=0] [columns=4] [shard=1] [shards=1] [fail=-1]
 * [stop=-1]
 *
 * FILE gets the rows, a line each, as they come, and "done FIRST N" after those of a batch; what it has from
 * before is not done again. FILE.RANK has the process id of each rank. The time goes to standard error.
 * us: how long a unit computes. fail: the unit that fails. stop: calls of progress until it says stop.
 * alone: the rank that fails before it begins, while others do not. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/text.h"
#include "study/fleet.h"

struct task {
    const char *path;
    int64_t threads, units, us, columns, shard, shards, fail, stop, alone;
    int fd;
    int64_t reports;
    struct spans done;
};

static volatile sig_atomic_t interrupted;

static void note_signal(int signal)
{
    (void)signal;
    interrupted = 1;
}

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the work ---- */

static int build(void **hand, void *data, struct err *e)
{
    (void)e;
    *hand = data;
    return 0;
}

static void release(void *hand)
{
    (void)hand;
}

/* What computes is counted, not what waits: other programs share the machine. */
static void compute(int64_t us)
{
    double end_s = now_s(CLOCK_THREAD_CPUTIME_ID) + 1e-6 * (double)us;
    while (us > 0 && now_s(CLOCK_THREAD_CPUTIME_ID) < end_s)
        ;
}

static void put_row(struct table *rows, const struct task *t, int64_t unit, int64_t k)
{
    char name[32];
    snprintf(name, sizeof name, "unit %lld", (long long)unit);
    table_row(rows);
    table_put_count(rows, unit);
    table_put_count(rows, k);
    table_put_text(rows, unit % 5 ? name : NULL);
    for (int64_t i = 3; i < t->columns; i++)
        table_put_real(rows, (unit + i) % 7 ? (double)(unit * 31 + k * 7 + i) / 3 : NAN);
}

static int run(void *hand, struct span units, struct table *rows, struct sweep_counts *n, struct err *e)
{
    const struct task *t = hand;
    for (int64_t u = units.first; u < units.first + units.n; u++) {
        compute(t->us);
        if (u == t->fail)
            return err_set(e, ERR_RANGE, "unit %lld: fails; choose another", (long long)u);
        for (int64_t k = 0; k < u % 3; k++)
            put_row(rows, t, u, k);
        sweep_count_add(n, &(struct sweep_counts){ .seen = 2, .solved = u % 3 });
    }
    return 0;
}

static void columns(struct table *rows, void *data)
{
    const struct task *t = data;
    table_column(rows, "unit", TABLE_COUNT);
    table_column(rows, "row", TABLE_COUNT);
    table_column(rows, "name", TABLE_TEXT);
    for (int64_t i = 3; i < t->columns; i++)
        table_column(rows, "x", TABLE_REAL);
}

/* ---- the file ---- */

static void write_row(struct text *out, const struct table *rows, int64_t row)
{
    for (int32_t col = 0; col < rows->n_cols; col++) {
        char buf[NUM_TEXT];
        const struct table_cell *c = table_cell(rows, row, col);
        if (rows->kinds[col] == TABLE_COUNT)
            text_printf(out, "%lld,", (long long)c->count);
        else if (rows->kinds[col] == TABLE_REAL)
            text_printf(out, "%s,", num_format(buf, c->real));
        else
            text_printf(out, "%s,", c->text ? c->text : "-");
    }
    text_puts(out, "\n");
}

static int take(void *data, struct fleet_batch *b, struct err *e)
{
    struct task *t = data;
    struct text out = { 0 };
    for (int64_t row = 0; row < b->rows.n_rows; row++)
        write_row(&out, &b->rows, row);
    text_printf(&out, "done %lld %lld\n", (long long)b->units.first, (long long)b->units.n);
    ssize_t n = write(t->fd, text_str(&out), out.n);
    int rc = n == (ssize_t)out.n ? 0 : err_set(e, ERR_IO, "%s: cannot be written", t->path);
    text_free(&out);
    return rc;
}

/* The units that are done; what follows the last of them is cut off. */
static int read_done(struct task *t, struct err *e)
{
    FILE *f = fopen(t->path, "a+");
    char line[4096];
    long whole = 0;
    int rc = f ? 0 : err_set(e, ERR_IO, "%s: cannot be made", t->path);
    while (!rc && fgets(line, sizeof line, f)) {
        long long first, n;
        if (!strchr(line, '\n') || sscanf(line, "done %lld %lld", &first, &n) != 2)
            continue;
        whole = ftell(f);
        if (spans_count(&t->done, first + n) != spans_count(&t->done, first))
            rc = err_set(e, ERR_PARSE, "%s: unit %lld is there twice", t->path, first);
        else
            rc = spans_add(&t->done, first, n, e);
    }
    if (f)
        fclose(f);
    if (!rc && truncate(t->path, whole))
        rc = err_set(e, ERR_IO, "%s: cannot be cut", t->path);
    t->fd = open(t->path, O_WRONLY | O_APPEND);
    return rc;
}

static bool report(void *data, const struct sweep_counts *done)
{
    struct task *t = data;
    (void)done;
    return ++t->reports != t->stop && !interrupted;
}

/* ---- the program ---- */

static void read_options(struct task *t, int argc, char **argv)
{
    const struct {
        const char *name;
        int64_t *value;
    } options[] = {
        { "threads=", &t->threads }, { "units=", &t->units }, { "us=", &t->us },
        { "columns=", &t->columns }, { "shard=", &t->shard }, { "shards=", &t->shards },
        { "fail=", &t->fail },       { "stop=", &t->stop },   { "alone=", &t->alone },
    };
    for (int i = 0; i < argc; i++)
        for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
            size_t n = strlen(options[k].name);
            if (strncmp(argv[i], options[k].name, n) == 0)
                *options[k].value = strtoll(argv[i] + n, NULL, 10);
        }
}

static void write_pid(const struct task *t)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", t->path, (int)fleet_rank());
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
}

/* All ranks know the path as the first has it. */
static int check_share(const struct task *t, struct err *e)
{
    size_t n = strlen(t->path) + 1;
    void *bytes = fleet_rank() ? NULL : strdup(t->path);
    int rc = fleet_share(&bytes, &n, e);
    if (!rc && (!bytes || n != strlen(t->path) + 1 || strcmp(bytes, t->path) != 0))
        rc = err_set(e, ERR_LIB, "rank %d: did not get what the first rank shares", (int)fleet_rank());
    free(bytes);
    return rc;
}

static int work_on(struct task *t, struct err *e)
{
    const struct fleet_work work = {
        .n_units = t->units, .build = build, .free = release, .run = run, .columns = columns, .data = t
    };
    struct fleet_run f = { .work = &work, .done = &t->done, .threads = (int32_t)t->threads };
    f.share.first = (t->shard - 1) * t->units / t->shards;
    f.share.n = t->shard * t->units / t->shards - f.share.first;
    f.take = take;
    f.progress = report;
    f.take_data = f.progress_data = t;
    double start_s = now_s(CLOCK_MONOTONIC), cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
    int rc = fleet_run(&f, e);
    fprintf(stderr, "rank %d of %d: %.3f s, %.3f s of cores%s\n", (int)fleet_rank(), (int)fleet_ranks(),
            now_s(CLOCK_MONOTONIC) - start_s, now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s,
            f.stopped ? ", stopped" : "");
    return rc;
}

int main(int argc, char **argv)
{
    struct task t = { .path = argc > 1 ? argv[1] : "rows.txt",
                      .threads = 1,
                      .units = 100,
                      .columns = 4,
                      .shard = 1,
                      .shards = 1,
                      .fail = -1,
                      .stop = -1,
                      .alone = -1,
                      .fd = -1 };
    struct err e = { 0 };
    read_options(&t, argc, argv);
    signal(SIGINT, note_signal);
    signal(SIGTERM, note_signal);
    int rc = fleet_start(&e);
    if (!rc)
        write_pid(&t);
    if (!rc)
        rc = check_share(&t, &e);
    if (!rc && fleet_rank() == 0)
        rc = read_done(&t, &e);
    rc = fleet_agree(rc, &e);
    if (!rc && fleet_rank() == t.alone)
        rc = err_set(&e, ERR_IO, "rank %d: fails alone", (int)fleet_rank());
    if (!rc)
        rc = work_on(&t, &e);
    if (rc)
        fprintf(stderr, "rank %d: error %d: %s\n", (int)fleet_rank(), rc, e.msg);
    spans_free(&t.done);
    fleet_end(rc ? 1 : 0);
    return rc ? 1 : 0;
}
