/* The library as a program calls it: one design by closed forms, studies of many points, what each call does
 * when it fails. That it is found, linked and compiled as installed is tests/library.sh. */
#include "tests/unit/folder.h"
#include "weft.h"

/* All-reduce on switches of n at B: 2 (n-1)/n of what is left of S. */
#define STEP  "workload: { step: { all-reduce: { size_MB: 16, group: all } } }\n"
#define STUDY "network: switch:4 switch:8\n" STEP

static weft_study *load(struct folder *f, const char *text)
{
    weft_study *s;
    weft_error e = { 0 };
    assert_int_equal(weft_load(&s, put(f, "study.yaml", text), &e), 0);
    assert_string_equal(e.text, "");
    return s;
}

static void free_study(weft_study **s)
{
    weft_free_study(*s);
}

static void free_row(weft_row **row)
{
    weft_free_row(*row);
}

#define LOADED(s, text)                                                                                      \
    FOLDER(f);                                                                                               \
    KEEP(weft_study *, s, free_study);                                                                       \
    weft_error said = { 0 };                                                                                 \
    s = load(&f, text)

/* Both dimensions end together: 1.5 S in the inner, 7/16 S in the outer one. */
TEST(a_split_is_the_row_that_a_program_writes)
{
    LOADED(s, STUDY);
    KEEP(weft_row *, row, free_row);
    assert_int_equal(weft_set(s, "total_GBps", "50", &said), 0);
    assert_int_equal(weft_set(s, "total_GBps", "100", &said), 0); /* the last holds */
    assert_int_equal(weft_split(&row, s, &said), 0);
    assert_close(weft_number(row, "time_s"), 1.9375 * 16e6 / 100e9, 1e-6);
    assert_close(weft_number(row, "bw1_GBps"), 100 * 1.5 / 1.9375, 1e-4);
    assert_string_equal(weft_text(row, "status"), "solved");
    assert_true(isnan(weft_number(row, "status")) && isnan(weft_number(row, "nosuch")));
    assert_true(!weft_text(row, "time_s") && !weft_text(row, "nosuch"));
    int n = 0;
    while (weft_column(row, n))
        n++;
    assert_true(n > 10 && !weft_column(row, -1) && !weft_column(row, n + 1));
    assert_string_equal(weft_column(row, 0), "point");
    assert_string_equal(weft_notes(s), "");
}

/* Whole numbers, others, words and blanks are told apart, of rows and of items of a list. */
TEST(a_value_has_a_kind_and_its_column_a_unit)
{
    LOADED(s, STUDY "total_GBps: 100\n");
    KEEP(weft_row *, row, free_row);
    assert_int_equal(weft_split(&row, s, &said), 0);
    CASES(const char *list, *column; int kind; const char *unit) = {
        { NULL, "point", WEFT_INTEGER, "" },
        { NULL, "time_s", WEFT_NUMBER, "s" },
        { NULL, "bw1_GBps", WEFT_NUMBER, "GB/s" },
        { NULL, "status", WEFT_WORD, "" },
        { NULL, "nosuch", WEFT_MISSING, NULL },
        { "dims", "size", WEFT_INTEGER, "" },
        { "dims", "cost_usd", WEFT_MISSING, "USD" },
        { "dims", "busy_s", WEFT_NUMBER, "s" },
        { "dims", "dim", WEFT_WORD, "" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const weft_row *at = cases[i].list ? weft_item(row, cases[i].list, 0) : row;
        assert_int_equal(weft_kind(at, cases[i].column), cases[i].kind);
        if (cases[i].unit)
            assert_string_equal(weft_unit(at, cases[i].column), cases[i].unit);
        else
            assert_null(weft_unit(at, cases[i].column));
    }
}

/* T = 1.9375 S / B falls by T / B per GB/s more. */
TEST(a_row_has_lists_of_what_the_design_consists_of)
{
    LOADED(s, STUDY "total_GBps: 100\nconstraints: [ dim2 <= 90 ]\nseed: 3\n");
    KEEP(weft_row *, row, free_row);
    assert_int_equal(weft_split(&row, s, &said), 0);
    const weft_row *total = NULL, *limit = NULL, *dim = weft_item(row, "dims", 1);
    for (int i = 0; i < weft_count(row, "shadow_prices"); i++) {
        const weft_row *x = weft_item(row, "shadow_prices", i);
        total = strcmp(weft_text(x, "constraint"), "total_GBps") == 0 ? x : total;
        limit = strcmp(weft_text(x, "constraint"), "dim2 <= 90") == 0 ? x : limit;
    }
    assert_true(total && limit && dim);
    assert_close(weft_number(total, "shadow_price"), 1.9375 * 16e6 / 100e9 / 100, 1e-6);
    assert_string_equal(weft_text(total, "per"), "GB/s");
    assert_string_equal(weft_text(total, "unit"), "s");
    assert_string_equal(weft_text(total, "binding"), "yes");
    assert_true(isnan(weft_number(total, "left"))); /* of an equation */
    assert_true(weft_number(limit, "shadow_price") == 0);
    assert_string_equal(weft_text(limit, "binding"), "no");
    assert_close(weft_number(limit, "left"), 90 - 100 * (7 / 16.) / 1.9375, 1e-4);
    assert_close(weft_number(dim, "bw_GBps"), 100 * (7 / 16.) / 1.9375, 1e-4);
    assert_int_equal((int)weft_number(dim, "size"), 8);
    /* Without prices there is no bill, without whole parts no step. */
    CASES(const char *list; int n) = {
        { "dims", 2 },     { "bill", 0 },  { "steps", 0 },    { "evidence", 0 }, { "budgets", 0 },
        { "failures", 0 }, { "items", 0 }, { "warnings", 1 }, { "nosuch", -1 },  { "bounds", -1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(weft_count(row, cases[i].list), cases[i].n);
    const char *warning = weft_text(weft_item(row, "warnings", 0), "warning");
    assert_int_equal(strncmp(weft_notes(s), warning, strlen(warning)), 0);
    assert_string_equal(weft_notes(s) + strlen(warning), "\n");
    int n = 0;
    while (weft_list(row, n))
        assert_true(weft_count(row, weft_list(row, n++)) >= 0);
    assert_true(n == 10 && !weft_list(row, -1));
    assert_true(!weft_item(row, "dims", 2) && !weft_item(row, "dims", -1) && !weft_item(row, "nosuch", 0));
    assert_int_equal(weft_count(dim, "dims"), -1);
}

/* Bandwidths that are given have no shadow prices, a design that is not to be had no lists but warnings. */
TEST(lists_are_empty_of_what_there_is_not)
{
    LOADED(s, "network: switch:4@100\n" STEP);
    KEEP(weft_row *, row, free_row);
    assert_int_equal(weft_simulate(&row, s, NULL, &said), 0);
    assert_int_equal(weft_count(row, "dims"), 1);
    assert_close(weft_number(weft_item(row, "dims", 0), "bw_GBps"), 100, 1e-12);
    for (int i = 0; i < weft_count(row, "shadow_prices"); i++)
        assert_true(isnan(weft_number(weft_item(row, "shadow_prices", i), "shadow_price")));
    weft_free_row(row);
    weft_free_study(s);
    s = load(&f, STUDY);
    assert_int_equal(weft_split(&row, s, &said), 0);
    assert_string_equal(weft_text(row, "status"), "unbounded");
    assert_int_equal(weft_count(row, "dims"), 0);
    assert_int_equal(weft_count(row, "shadow_prices"), 0);
}

/* All-reduce over a switch of 4 at B: 1.5 S / B, so that one more GB/s of 100 saves 1 part in 101. */
TEST(a_step_is_explained_at_bandwidths_that_are_given_or_found)
{
    LOADED(s, "network: switch:4@100\n" STEP);
    KEEP(weft_row *, row, free_row);
    double time_s = 1.5 * 16e6 / 100e9;
    assert_int_equal(weft_explain(&row, s, &said), 0);
    const weft_row *change = weft_item(row, "one_more_GBps", 0), *limit = weft_item(row, "what_limits", 1);
    assert_close(weft_number(change, "saves_s"), time_s / 101, 1e-9);
    assert_true(isnan(weft_number(change, "costs_usd")));
    assert_close(weft_number(limit, "path_s"), time_s, 1e-9);
    assert_close(weft_number(limit, "endless_saves_s"), time_s, 1e-6);
    for (int i = 0; i < weft_count(row, "bounds"); i++)
        assert_string_equal(weft_text(weft_item(row, "bounds", i), "holds"), "yes");
    assert_int_equal(weft_count(row, "bounds"), 3);
    weft_free_row(row);
    weft_free_study(s);
    s = load(&f, STUDY "total_GBps: 100\n");
    assert_int_equal(weft_explain(&row, s, &said), 0);
    assert_close(weft_number(row, "time_s"), 1.9375 * 16e6 / 100e9, 1e-6);
    assert_int_equal(weft_count(row, "one_more_GBps"), 2);
    weft_free_row(row);
    weft_free_study(s);
    s = load(&f, STUDY);
    assert_int_equal(weft_explain(&row, s, &said), 0); /* unbounded */
    assert_int_equal(weft_count(row, "one_more_GBps"), 0);
    assert_int_equal(weft_set(s, "total_GBps", "-1", &said), 0);
    weft_row *none = row;
    assert_true(weft_explain(&none, s, &said) > 0 && !none);
}

/* The study's own model has 2 us more for each of 2 (n-1) steps of a ring; without them notes say so. */
TEST(a_step_is_simulated_by_the_model_that_is_asked_for)
{
    LOADED(s, "network: { dims: [ { name: d, shape: ring, size: 4, bw_GBps: 50, latency_ns: 2000 } ] }\n" STEP
              "model: alpha-beta\nsimulation: { chunks: 1 }\n");
    CASES(const char *model; double latency_s) = { { "bandwidth", 0 }, { NULL, 6 * 2e-6 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(weft_row *, row, free_row);
        assert_int_equal(weft_simulate(&row, s, cases[i].model, &said), 0);
        assert_close(weft_number(row, "time_s"), 2 * 3 / 4. * 16e6 / 50e9 + cases[i].latency_s, 1e-9);
        if (cases[i].model)
            assert_has(weft_notes(s), "latency_ns has no effect here");
        else
            assert_string_equal(weft_notes(s), "");
    }
}

TEST(what_is_wrong_is_an_error_with_its_code)
{
    LOADED(s, STUDY);
    weft_study *none;
    weft_row *row = NULL;
    assert_int_equal(weft_load(&none, "no such word", &said), WEFT_PARSE);
    assert_true(!none && said.code == WEFT_PARSE && *said.text);
    assert_int_equal(weft_load(&none, "ring:1:2:3", NULL), WEFT_PARSE);
    assert_int_equal(weft_load(&none, "ring:4 switch:8", &said), 0);
    weft_free_study(none);
    weft_free_study(NULL);
    weft_free_row(NULL);
    assert_int_equal(weft_split(&row, s, &said), 0); /* no total: a row that says so */
    assert_string_equal(weft_text(row, "status"), "unbounded");
    weft_free_row(row);
    assert_int_equal(weft_set(s, "total_GBps", "-1", &said), 0); /* looked at by what uses it */
    assert_int_equal(weft_split(&row, s, &said), WEFT_RANGE);
    assert_true(!row && said.code == WEFT_RANGE);
    assert_has(said.text, "--set total_GBps");
    assert_int_equal(weft_simulate(&row, s, "fast", &said), WEFT_RANGE);
    assert_true(!row);
}

struct seen {
    int n, stop_at, asked;
    double time_s[8];
    char word[8][32];
};

static int see_row(void *data, const weft_row *row)
{
    struct seen *x = data;
    assert_in_range(x->n, 0, 7);
    x->time_s[x->n] = weft_number(row, "time_s");
    snprintf(x->word[x->n], sizeof x->word[0], "%s", weft_text(row, "status"));
    assert_true(!weft_list(row, 0) && weft_count(row, "dims") == -1);
    return ++x->n == x->stop_at;
}

static int see_progress(void *data, long long done, long long all)
{
    struct seen *x = data;
    assert_true(done >= 0 && done <= all && all == 3);
    x->asked++;
    return x->stop_at < 0;
}

TEST(rows_come_in_order_until_one_says_stop)
{
    LOADED(s, STUDY "vary: { total_GBps: [100, 200, 400] }\n");
    weft_run_options o;
    for (int threads = 1; threads <= 2; threads++)
        for (int stop_at = 0; stop_at <= 3; stop_at++) {
            struct seen x = { .stop_at = stop_at };
            weft_run_defaults(&o);
            assert_true(o.size == sizeof o && o.threads == 1 && !o.store && !o.row && !o.progress);
            o.threads = threads;
            o.data = &x;
            o.row = see_row;
            o.progress = see_progress;
            said = (weft_error){ 0 };
            assert_int_equal(weft_run(s, &o, &said), stop_at ? WEFT_STOPPED : 0);
            assert_int_equal(said.code, stop_at ? WEFT_STOPPED : 0);
            assert_string_equal(said.text, stop_at ? "the run was stopped" : "");
            assert_true(x.n == (stop_at ? stop_at : 3) && x.asked > 0);
            for (int i = 0; i < x.n; i++) {
                assert_close(x.time_s[i], 1.9375 * 16e6 / (100e9 * (1 << i)), 1e-6);
                assert_string_equal(x.word[i], "solved");
            }
        }
}

/* Stopped before its rows are asked for, a run goes on from its store. */
TEST(a_run_that_is_stopped_goes_on_in_its_store)
{
    LOADED(s, STUDY "vary: { total_GBps: [100, 200, 400] }\n");
    char path[SUPPORT_PATH];
    weft_run_options o;
    struct seen x = { .stop_at = -1 };
    weft_run_defaults(&o);
    o.store = scratch_path(path, f.dir, "rows.db");
    o.data = &x;
    o.progress = see_progress;
    o.row = see_row;
    assert_int_equal(weft_run(s, &o, NULL), WEFT_STOPPED);
    assert_int_equal(x.n, 0);
    x.stop_at = 0;
    assert_int_equal(weft_run(s, &o, &said), 0);
    assert_int_equal(x.n, 3);
    o.row = NULL;
    o.progress = NULL;
    assert_int_equal(weft_run(s, &o, &said), 0);
    weft_set(s, "objective", "utilization", NULL);
    assert_int_equal(weft_run(s, &o, &said), WEFT_PARSE); /* of another study */
}

TEST(options_are_checked)
{
    LOADED(s, STUDY "vary: { total_GBps: [100] }\n");
    weft_run_options o;
    CASES(int threads, less, rc) = { { 0, 0, WEFT_USAGE }, { -1, 0, WEFT_USAGE }, { 1025, 0, WEFT_USAGE },
                                     { 1, 1, WEFT_USAGE }, { 1024, 0, 0 },        { 1, 0, 0 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        weft_run_defaults(&o);
        o.threads = cases[i].threads;
        o.size -= (size_t)cases[i].less;
        assert_int_equal(weft_run(s, &o, &said), cases[i].rc);
    }
    weft_run_defaults(&o);
    o.threads = 2000;
    assert_int_equal(weft_run(s, &o, &said), WEFT_USAGE);
    assert_string_equal(said.text,
                        "options: threads is 2000, expected 1 to 1024, and weft_run_defaults() first");
    assert_string_equal(weft_version(), "0.2.0");
}
