#include "tests/support.h"

#include "workloads/curves/curve.h"

#define RANKS2                                                                                               \
    "#  Rank  0 Group  0 Pid     10 on    box device  0 [0000:18:00] GPU\n"                                  \
    "#  Rank  1 Group  0 Pid     10 on    box device  1 [0000:19:00] GPU\n"
#define HEAD13                                                                                               \
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw" \
    "   busbw  #wrong\n"

static const struct curve_defaults as_written = { -1, 0 };

static int read_log(struct curve_list *list, const char *text, struct curve_defaults dflt, struct err *e)
{
    return curve_read_text(list, "run.log", text, strlen(text), dflt, e);
}

/* Made-up runs on two ranks: 2,000,000 B take 100 us, so algbw is 20 GB/s, and busbw too: 2 (2-1)/2 is 1. */
TEST(every_version_of_the_columns_gives_the_same_points)
{
    CASES(const char *head, *row) = {
        { HEAD13, "2000000 500000 float sum -1 100.0 20.00 20.00 0 999.0 2.00 2.00 0" },
        { "", "2000000 500000 float sum -1 100.0 20.00 20.00 0 999.0 2.00 2.00 0" },
        { "", "2000000 500000 float sum -1 100.0 20.00 20.00 N/A 999.0 2.00 2.00 N/A" },
        /* only in place; the header still names both halves */
        { HEAD13, "2000000 500000 float sum -1                                 100.0 20.00 20.00 0" },
        { "", "2000000 500000 float sum -1 100.0 20.00 20.00 0" },
        /* until 2022: no root */
        { "#  size count type redop time algbw busbw error time algbw busbw error\n",
          "2000000 500000 float sum 100.0 20.00 20.00 0e+00 999.0 2.00 2.00 0e+00" },
        { "", "2000000 500000 float sum 100.0 20.00 20.00 0e+00 999.0 2.00 2.00 0e+00" },
        /* until 2022, all-gather: neither */
        { "", "2000000 500000 float 100.0 20.00 20.00 0e+00 999.0 2.00 2.00 0e+00" },
        { "# size count type time algbw busbw error time algbw busbw error\n",
          "2000000 500000 float 100 20.00 20.00 0e+00 999 2.00 2.00 0e+00" },
        /* 2018: ms */
        { "#  bytes  N  type  op  time  algbw  busbw  res  time  algbw  busbw  res\n",
          "2000000 500000 float sum 0.100 20.00 20.00 0e+00 0.999 2.00 2.00 0e+00" },
        /* -C */
        { "# size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong\n",
          "2000000 500000 float sum -1 100.0 20.00 20.00 0 999.0 2.00 2.00 0" },
        /* side copies */
        { "# size count type redop root time algbw busbw copybw #wrong time algbw busbw copybw #wrong\n",
          "2000000 500000 float sum -1 100.0 20.00 20.00 7 0 999.0 2.00 2.00 7 0" },
        { "", "2000000 500000 float sum -1 100.0 20.00 20.00 7 0 999.0 2.00 2.00 7 0" },
        /* 2.19, per iteration; a time of day at the end */
        { "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw "
          "#wrong i_min i_max i_p99 i_cv%\n",
          "2000000 500000 float sum -1 100.0 20.00 20.00 0 98.1 103.0 102.5 1.10 999.0 2.00 2.00 0 1 2 2 3" },
        { "",
          "2000000 500000 float sum -1 100.0 20.00 20.00 0 98.1 103.0 102.5 1.10 999.0 2.00 2.00 0 1 2 2 3" },
        { HEAD13, "2000000 500000 float sum -1 100.0 20.00 20.00 0 999.0 2.00 2.00 0 2026-01-02 03:04:05" },
        { "", "2000000 500000 float sum -1 100.0 20.00 20.00 0 999.0 2.00 2.00 0 2026-01-02 03:04:05" },
        /* shrunk digits, an mpirun that marks its lines */
        { "", "[1,0]<stdout>:2000000 500000 float sum -1 1.0e+02 2.e+01 2e+01 0 999 2 2 0" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, t, text_free) = { 0 };
        KEEP(struct curve_list, list, curve_list_free);
        text_printf(&t, "%s%s%s\nhost: some warning 1 2 float\n", cases[i].head, RANKS2, cases[i].row);
        OK(read_log(&list, text_str(&t), (struct curve_defaults){ COLLECTIVE_ALL_REDUCE, 0 }, e));
        assert_true(list.n == 1 && list.curves[0].n == 1 && list.curves[0].ranks == 2);
        assert_true(list.curves[0].bytes[0] == 2e6);
        assert_close(list.curves[0].time_s[0], 100e-6, 1e-12);
        assert_string_equal(text_str(&list.notes), "");
    }
}

TEST(names_and_ranks_come_from_the_log)
{
    KEEP(struct curve_list, list, curve_list_free);
    /* Two tests, the second on two data types: three curves. */
    OK(read_log(&list,
                "# nccl-tests version 2.17.1\n# Collective test starting: all_gather_perf\n" RANKS2 HEAD13
                "#  (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)\n"
                "1000000 1 float none -1 50.00 20.00 10.00 0 50.00 20.00 10.00 0\n"
                "# Collective test concluded: all_gather_perf\n"
                "# Collective test starting: reduce_perf\n" HEAD13
                "1000000 1 float sum 0 50.00 20.00 20.00 0 50.00 20.00 20.00 0\n"
                "# Collective test starting: alltoall_perf\n" RANKS2 HEAD13
                "1000000 1 float none -1 50.00 20.00 10.00 0 50.00 20.00 10.00 0\n"
                "1000000 1 half none -1 50.00 20.00 10.00 0 50.00 20.00 10.00 0\n",
                as_written, e));
    assert_true(list.n == 3 && list.curves[0].collective == COLLECTIVE_ALL_GATHER);
    assert_int_equal(list.curves[1].collective, COLLECTIVE_ALL_TO_ALL);
    assert_true(list.curves[2].collective == COLLECTIVE_ALL_TO_ALL && list.curves[2].ranks == 2);
    assert_string_equal(text_str(&list.notes), "run.log:9: test reduce_perf is not modelled and left out\n");
}

TEST(collectives_are_known_in_any_writing)
{
    CASES(const char *text; int32_t kind) = {
        { "all_reduce_perf", COLLECTIVE_ALL_REDUCE },
        { "AllReduce", COLLECTIVE_ALL_REDUCE },
        { "allreduce in-place", COLLECTIVE_ALL_REDUCE },
        { "reduce-scatter", COLLECTIVE_REDUCE_SCATTER },
        { "logs/all_gather_8.txt", COLLECTIVE_ALL_GATHER },
        { "all-to-all", COLLECTIVE_ALL_TO_ALL },
        { "broadcast_perf", COLLECTIVE_BROADCAST },
        { "sendrecv_perf", COLLECTIVE_SEND },
        { "reduce_perf", -1 },
        { "all_reduce_then_all_gather", -1 },
        { "", -1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(curve_parse_collective(cases[i].text), cases[i].kind);
}

/* doc/PERFORMANCE.md of nccl-tests. */
TEST(bus_factors_are_those_of_nccl_tests)
{
    assert_close(curve_bus_factor(COLLECTIVE_ALL_REDUCE, 8), 1.75, 1e-15);
    assert_close(curve_bus_factor(COLLECTIVE_ALL_GATHER, 8), 0.875, 1e-15);
    assert_close(curve_bus_factor(COLLECTIVE_REDUCE_SCATTER, 4), 0.75, 1e-15);
    assert_close(curve_bus_factor(COLLECTIVE_BROADCAST, 8), 1, 1e-15);
}

TEST(half_of_the_last_digit_is_seen)
{
    assert_close(curve_half_digit("231.4"), 0.05, 1e-12);
    assert_close(curve_half_digit("12346"), 0.5, 1e-12);
    assert_close(curve_half_digit("1.2e+08"), 5e6, 1e-12);
    assert_close(curve_half_digit("5e-3"), 5e-4, 1e-12);
}

#define ROW(size, numbers) size " 1 float sum -1 " numbers " 0 1 1 1 0\n"

TEST(what_contradicts_is_refused)
{
    CASES(const char *text; struct curve_defaults dflt; enum err_code code; const char *message) = {
        { "", { 0, 2 }, ERR_PARSE, "run.log:1: file is empty" },
        { "hello\n", { 0, 2 }, ERR_PARSE, "run.log:1: has no row of measurements" },
        { ROW("2000000", "100.0 20.00 20.00"),
          { -1, 2 },
          ERR_PARSE,
          "run.log:1: does not say which collective" },
        { ROW("2000000", "100.0 20.00 20.00"),
          { 0, 0 },
          ERR_PARSE,
          "run.log:1: number of ranks is 0; use --ranks" },
        { RANKS2 ROW("2000000", "100.0 20.00 20.00"),
          { 0, 4 },
          ERR_RANGE,
          "run.log:3: lines \"# Rank\" list 2 ranks, but --ranks is 4" },
        { "# Collective test starting: all_gather_perf\n" ROW("2000000", "100.0 20.00 10.00"),
          { 0, 2 },
          ERR_RANGE,
          "run.log:2: test is all-gather, but --collective is all-reduce" },
        { ROW("2000000", "100.0 20.00 35.00"), { 0, 2 }, ERR_RANGE, "run.log:1: busbw is 35, expected 20" },
        { ROW("2000000", "100.0 20.00 20.00") ROW("1000000", "50.0 20.00 20.00"),
          { 0, 2 },
          ERR_PARSE,
          "run.log:2: size is 1000000 after 2000000; sizes must grow" },
        { ROW("2000000", "nan 20.00 20.00"),
          { 0, 2 },
          ERR_PARSE,
          "run.log:1: time is \"nan\", expected a number" },
        { ROW("2000000", "100.0 20.00 -1"), { 0, 2 }, ERR_PARSE, "run.log:1: busbw is \"-1\"" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct curve_list list;
        FAILS(read_log(&list, cases[i].text, cases[i].dflt, e), cases[i].code, cases[i].message);
        assert_null(list.curves);
    }
}

TEST(doubtful_rows_are_left_out_with_a_note)
{
    KEEP(struct curve_list, list, curve_list_free);
    OK(read_log(
        &list,
        ROW("0", "5.0 0.00 0.00") ROW(
            "1000", "0.00 0.00 0.00") "1000 1 float sum -1 100.0\n"
                                      "2000000 1 float sum -1 100.0 20.00 20.00 3 100.0 20.00 20.00 0\n" ROW(
                                          "4000000", "200.0 21.00 21.00"),
        (struct curve_defaults){ COLLECTIVE_ALL_REDUCE, 2 }, e));
    assert_int_equal(list.curves[0].n, 2);
    assert_string_equal(text_str(&list.notes),
                        "run.log:1: size is 0, row is left out\n"
                        "run.log:2: time is 0, row is left out\n"
                        "run.log:3: row has 6 fields, which no version prints here; it is left out\n"
                        "run.log:4: results are wrong; the time is taken all the same\n"
                        "run.log:5: algbw is 21, but size over time is 20; the time is taken\n");
}
