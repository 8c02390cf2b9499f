/* Units of a sweep on threads: each once, whatever is done before, on any number; stops, failures. */
#include <time.h>

#include "study/fleet.h"
#include "tests/support.h"

enum { UNITS = 500 };

/* Work that says what it was asked for; unit u has u % 4 rows: u, and their number. */
struct plant {
    int built, freed;
    int64_t fails_at; /* unit; -1: none */
    bool build_fails;
    int64_t slow_from; /* units from this one take slow_s; -1: none */
    double slow_s;
    /* what the writer saw */
    int times[UNITS];
    int64_t n_rows, take_fails_after; /* batches; -1: never */
    int batches;
    int64_t slow_inside; /* slow units of a batch that are not its last */
    struct sweep_counts sum, reported;
    int reports, stop_after; /* calls of progress until it says stop; -1: never */
};

static int build(void **hand, void *data, struct err *e)
{
    struct plant *p = data;
#pragma omp atomic
    p->built++;
    if (p->build_fails)
        return err_set(e, ERR_NOMEM, "out of memory for a hand");
    *hand = p;
    return 0;
}

static void release(void *hand)
{
    struct plant *p = hand;
#pragma omp atomic
    p->freed++;
}

static int run(void *hand, struct span units, struct table *rows, struct sweep_counts *n, struct err *e)
{
    const struct plant *p = hand;
    for (int64_t u = units.first; u < units.first + units.n; u++) {
        for (int64_t k = 0; k < u % 4; k++) {
            table_row(rows);
            table_put_count(rows, u);
            table_put_count(rows, k);
        }
        sweep_count_add(n, &(struct sweep_counts){ .seen = 4, .solved = u % 4, .filtered = 4 - u % 4 });
        if (p->slow_from >= 0 && u >= p->slow_from)
            fleet_sleep(p->slow_s);
        if (u == p->fails_at)
            return err_set(e, ERR_NOMEM, "no memory for unit %d", (int)u);
    }
    return 0;
}

static void columns(struct table *t, void *data)
{
    (void)data;
    table_column(t, "unit", TABLE_COUNT);
    table_column(t, "row", TABLE_COUNT);
}

/* Rows of a batch are those of its units, in order. */
static void check_rows(const struct fleet_batch *b)
{
    int64_t row = 0;
    for (int64_t u = b->units.first; u < b->units.first + b->units.n; u++)
        for (int64_t k = 0; k < u % 4; k++, row++) {
            assert_true(row < b->rows.n_rows && table_cell(&b->rows, row, 0)->count == u);
            assert_int_equal(table_cell(&b->rows, row, 1)->count, k);
        }
    assert_int_equal(b->rows.n_rows, row);
}

static int take(void *data, struct fleet_batch *b, struct err *e)
{
    struct plant *p = data;
    check_rows(b);
    assert_true(b->units.n >= 1);
    for (int64_t u = b->units.first; u < b->units.first + b->units.n; u++) {
        p->times[u]++;
        if (p->slow_from >= 0 && u >= p->slow_from && u < b->units.first + b->units.n - 1)
            p->slow_inside++;
    }
    sweep_count_add(&p->sum, &b->counts);
    p->n_rows += b->rows.n_rows;
    if (p->batches++ == p->take_fails_after)
        return err_set(e, ERR_IO, "the disk is full");
    return 0;
}

static bool report(void *data, const struct sweep_counts *done)
{
    struct plant *p = data;
    p->reported = *done;
    return ++p->reports != p->stop_after;
}

static void plant_open(struct plant *p, struct fleet_work *w, struct fleet_run *f, int32_t threads)
{
    *p = (struct plant){ .fails_at = -1, .slow_from = -1, .take_fails_after = -1, .stop_after = -1 };
    *w = (struct fleet_work){
        .n_units = UNITS, .build = build, .free = release, .run = run, .columns = columns, .data = p
    };
    *f = (struct fleet_run){ .work = w,
                             .share = { 0, UNITS },
                             .threads = threads,
                             .take = take,
                             .take_data = p,
                             .progress = report,
                             .progress_data = p };
}

/* Work p, w and how it is run, f. */
#define PLANT(p, w, f, threads)                                                                              \
    struct plant p;                                                                                          \
    struct fleet_work w;                                                                                     \
    struct fleet_run f;                                                                                      \
    plant_open(&p, &w, &f, threads)

TEST(every_unit_is_done_once_on_any_number_of_threads)
{
    for (int32_t threads = 1; threads <= 8; threads *= 2) {
        PLANT(p, w, f, threads);
        OK(fleet_run(&f, e));
        for (int u = 0; u < UNITS; u++)
            assert_int_equal(p.times[u], 1);
        assert_true(p.sum.seen == 4 * UNITS && p.sum.solved == p.n_rows && p.freed == p.built);
        assert_true(p.built <= threads && !f.stopped);
    }
}

/* Units that are done, a share: against the plain definition. */
static void check_choice(struct rng *r)
{
    PLANT(p, w, f, 1 + (int32_t)rng_below(r, 3));
    KEEP(struct spans, done, spans_free) = { 0 };
    for (int64_t n = rng_below(r, 20); n > 0; n--)
        MUST(spans_add(&done, rng_below(r, UNITS - 40), 1 + rng_below(r, 40), e));
    f.done = &done;
    f.share.first = rng_below(r, UNITS);
    f.share.n = rng_below(r, UNITS - f.share.first + 1);
    MUST(fleet_run(&f, e));
    for (int64_t u = 0; u < UNITS; u++) {
        bool wanted = u >= f.share.first && u < f.share.first + f.share.n && !spans_have(&done, u);
        assert_int_equal(p.times[u], wanted);
    }
}

TEST(what_is_done_or_not_in_the_share_is_not_run)
{
    RNG(r, 4, 0);
    for (int round = 0; round < 200; round++)
        check_choice(r);
}

static struct spans taken_of(const struct plant *p)
{
    struct spans s = { 0 };
    for (int64_t u = 0; u < UNITS; u++)
        if (p->times[u])
            MUST(spans_add(&s, u, 1, e));
    return s;
}

TEST(a_run_that_was_stopped_goes_on_where_it_was)
{
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        PLANT(p, w, f, threads);
        p.stop_after = 1;
        OK(fleet_run(&f, e));
        assert_true(f.stopped);
        KEEP(struct spans, done, spans_free) = taken_of(&p);
        /* The first batch asked progress; other threads end the unit they are at. */
        assert_in_range(spans_count(&done, UNITS), 1, 1 + 2 * threads);
        f.done = &done;
        OK(fleet_run(&f, e));
        assert_false(f.stopped);
        for (int u = 0; u < UNITS; u++)
            assert_int_equal(p.times[u], 1);
    }
}

TEST(the_failure_of_a_unit_ends_all)
{
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        PLANT(p, w, f, threads);
        p.fails_at = 3;
        FAILS(fleet_run(&f, e), ERR_NOMEM, "no memory for unit 3");
        assert_true(p.times[3] == 0 && p.freed == p.built);
    }
}

/* They end up in one batch with it: each takes no time. */
TEST(units_before_the_one_that_fails_are_handed_over)
{
    PLANT(p, w, f, 1);
    p.fails_at = 203;
    FAILS(fleet_run(&f, e), ERR_NOMEM, "no memory for unit 203");
    for (int u = 0; u < UNITS; u++)
        assert_int_equal(p.times[u], u < 203);
    assert_int_equal(p.sum.seen, 4 * 203);
    assert_int_equal(p.sum.solved, p.n_rows);
}

TEST(a_writer_that_fails_ends_all_and_is_not_called_again)
{
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        PLANT(p, w, f, threads);
        p.take_fails_after = 2;
        FAILS(fleet_run(&f, e), ERR_IO, "the disk is full");
        assert_int_equal(p.batches, 3);
    }
}

TEST(a_thread_that_cannot_be_built_ends_all)
{
    PLANT(p, w, f, 2);
    p.build_fails = true;
    FAILS(fleet_run(&f, e), ERR_NOMEM, "out of memory for a hand");
    assert_true(p.batches == 0 && p.freed == 0);
}

TEST(threads_without_work_build_nothing)
{
    PLANT(p, w, f, 8);
    f.share = (struct span){ .first = 7, .n = 1 };
    OK(fleet_run(&f, e));
    assert_true(p.built == 1 && p.times[7] == 1);
    f.share.n = 0;
    OK(fleet_run(&f, e));
    assert_int_equal(p.built, 1);
}

/* Units that take 55 ms come after many that take nothing, so they are handed out several at a time. */
TEST(rows_of_long_units_do_not_wait_for_the_end_of_the_piece)
{
    PLANT(p, w, f, 1);
    p.slow_from = 50;
    p.slow_s = 0.055;
    f.share.n = 56;
    OK(fleet_run(&f, e));
    assert_true(p.slow_inside == 0 && p.batches < 40);
}

TEST(progress_is_told_what_is_done_a_few_times_a_second)
{
    PLANT(p, w, f, 2);
    double start_s = clock_now_s();
    p.slow_from = 0;
    p.slow_s = 0.005;
    f.share.n = 160;
    OK(fleet_run(&f, e));
    double spent_s = clock_now_s() - start_s;
    assert_in_range(p.reports, 2, (int)(spent_s / 0.1) + 1);
    assert_true(p.reported.seen > 4 && p.reported.seen <= 4 * 160);
    assert_int_equal(p.reported.solved + p.reported.filtered, p.reported.seen);
}

TEST(pieces_shrink_towards_the_end)
{
    PLANT(p, w, f, 2);
    struct fleet_crew c;
    int64_t left = UNITS;
    OK(fleet_crew_begin(&c, &f, 4, e));
    for (struct span piece; (piece = fleet_queue_next(&c, 0, 100)).n > 0;) {
        int64_t most = left / (2 * 2 * 4); /* of two threads on four ranks, half of each one's part */
        assert_int_equal(piece.first, UNITS - left);
        assert_int_equal(piece.n, most < 1 ? 1 : most > 100 ? 100 : most);
        left -= piece.n;
    }
    assert_true(left == 0 && fleet_crew_end(&c, e) == 0);
}

/* Ranks at drawn paces, some units done before: each unit once, and a rank goes on where it was, but for the
 * few times that it helps out. */
TEST(ranks_that_write_apart_keep_to_stretches)
{
    PLANT(p, w, f, 1);
    enum { RANKS = 5 };
    RNG(rng, 36, 6);
    for (int draw = 0; draw < 50; draw++) {
        struct fleet_crew c;
        struct spans done = { 0 };
        int64_t next[RANKS], n_done = 0;
        int jumps = 0;
        bool had[UNITS] = { false };
        for (int i = 0; i < 3; i++) {
            int64_t first = rng_below(rng, UNITS), n = rng_below(rng, UNITS - first) / 4;
            bool apart = n > 0;
            for (int64_t u = first; u < first + n; u++)
                apart = apart && !had[u];
            for (int64_t u = first; u < first + n && apart; u++)
                had[u] = true;
            OK(apart ? spans_add(&done, first, n, e) : 0);
        }
        for (int64_t u = 0; u < UNITS; u++)
            n_done += had[u];
        memset(next, -1, sizeof next);
        f.apart = true;
        f.done = &done;
        OK(fleet_crew_begin(&c, &f, RANKS, e));
        for (;;) {
            int32_t rank = (int32_t)rng_below(rng, rng_below(rng, RANKS) + 1);
            struct span piece = fleet_queue_next(&c, rank, 1 + rng_below(rng, 9));
            if (piece.n == 0)
                break;
            jumps += next[rank] >= 0 && piece.first != next[rank];
            next[rank] = piece.first + piece.n;
            for (int64_t u = piece.first; u < piece.first + piece.n; u++) {
                assert_false(had[u]);
                had[u] = true;
                n_done++;
            }
        }
        assert_int_equal(n_done, UNITS);
        assert_true(jumps <= 3 + RANKS * 10);
        assert_int_equal(fleet_crew_end(&c, e), 0);
        spans_free(&done);
    }
}
