/* Units of work: each done once, whatever the number of threads; a stop and a failure end the rest. */
#include "study/pool.h"
#include "tests/support.h"

enum { UNITS = 200 };

struct work {
    int times[UNITS];
    int64_t fails_at;   /* -1: none */
    int64_t stop_after; /* units until progress says stop; -1: never */
    int64_t last_done, last_total;
    bool once; /* what was done is skipped */
};

static int do_unit(void *data, int64_t i, struct err *e)
{
    struct work *w = data;
    if (w->once && w->times[i])
        return POOL_SKIPPED;
    w->times[i]++;
    return i == w->fails_at ? err_set(e, ERR_NOMEM, "no memory for unit %d", (int)i) : POOL_DONE;
}

static bool report(void *context, int64_t done, int64_t total)
{
    struct work *w = context;
    w->last_done = done;
    w->last_total = total;
    return done != w->stop_after;
}

static struct pool pool_of(struct work *w)
{
    return (struct pool){ .unit = do_unit, .data = w, .progress = report, .context = w, .total = UNITS };
}

static void every_unit_is_done_once_on_any_number_of_threads(void **state)
{
    (void)state;
    for (int32_t threads = 1; threads <= 8; threads *= 2) {
        struct work w = { .fails_at = -1, .stop_after = -1 };
        struct pool p = pool_of(&w);
        struct err e = { 0 };
        assert_int_equal(pool_run(&p, UNITS, 1, threads, &e), 0);
        for (int i = 0; i < UNITS; i++)
            assert_int_equal(w.times[i], 1);
        assert_int_equal(w.last_done, UNITS);
        assert_int_equal(w.last_total, UNITS);
    }
}

static void units_done_before_are_skipped_and_not_counted_again(void **state)
{
    struct work w = { .fails_at = -1, .stop_after = -1, .once = true };
    struct pool p = pool_of(&w);
    struct err e = { 0 };
    (void)state;
    assert_int_equal(pool_run(&p, UNITS, 10, 1, &e), 0);
    assert_int_equal(p.done, UNITS / 10);
    assert_int_equal(w.times[10], 1);
    assert_int_equal(w.times[11], 0);
    assert_int_equal(pool_run(&p, UNITS, 1, 4, &e), 0);
    assert_int_equal(p.done, UNITS);
    for (int i = 0; i < UNITS; i++)
        assert_int_equal(w.times[i], 1);
}

static void progress_that_says_stop_ends_it_for_good(void **state)
{
    struct work w = { .fails_at = -1, .stop_after = 7 };
    struct pool p = pool_of(&w);
    struct err e = { 0 };
    (void)state;
    assert_int_equal(pool_run(&p, UNITS, 1, 1, &e), 0);
    assert_int_equal(p.done, 7);
    assert_int_equal(w.times[7], 0);
    assert_int_equal(pool_run(&p, UNITS, 1, 2, &e), 0);
    assert_int_equal(p.done, 7);
}

static void a_failure_ends_all_and_is_the_one_reported(void **state)
{
    struct work w = { .fails_at = 5, .stop_after = -1 };
    struct pool p = pool_of(&w);
    struct err e = { 0 };
    (void)state;
    assert_int_equal(pool_run(&p, UNITS, 1, 1, &e), ERR_NOMEM);
    assert_string_equal(e.msg, "no memory for unit 5");
    assert_int_equal(w.times[5], 1);
    assert_int_equal(w.times[6], 0);
}

static void what_is_wrong_with_a_unit_is_kept_and_only_lack_of_memory_ends_all(void **state)
{
    static const enum err_code codes[] = { ERR_RANGE, ERR_NOMEM };
    bool run = false;
    int kept = -1;
    char *message = NULL;
    struct err e = { 0 };
    (void)state;
    assert_int_equal(pool_keep(&run, &kept, &message, 0, &e), 0);
    assert_true(run && kept == 0 && !message);
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        int rc = err_set(&e, codes[i], "size is %d, need 1", (int)i);
        run = false;
        assert_int_equal(pool_keep(&run, &kept, &message, rc, &e), rc == ERR_NOMEM ? ERR_NOMEM : 0);
        assert_true(run && kept == (int)codes[i]);
        assert_string_equal(message, e.msg);
        free(message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_is_done_once_on_any_number_of_threads),
        cmocka_unit_test(units_done_before_are_skipped_and_not_counted_again),
        cmocka_unit_test(progress_that_says_stop_ends_it_for_good),
        cmocka_unit_test(a_failure_ends_all_and_is_the_one_reported),
        cmocka_unit_test(what_is_wrong_with_a_unit_is_kept_and_only_lack_of_memory_ends_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
