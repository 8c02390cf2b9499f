#include "tests/support.h"

#include "workloads/curves/curve.h"

static int read_log(struct curve_list *list, const char *text, struct curve_defaults dflt, struct err *e)
{
    return curve_read_text(list, "m.csv", text, strlen(text), dflt, e);
}

/* busbw 3.5 GB/s among 8: S 1.75 / 3.5e9. The time wins where both are there. */
TEST(csv_rows_become_curves)
{
    KEEP(struct curve_list, list, curve_list_free);
    OK(read_log(&list,
                "# a comment\r\nsource,collective,extra,bytes,time_us,busbw_GBps,gpus,nodes\r\n"
                "a,allreduce ring,x,1000,,3.5,8,1\r\n"
                "\"b, \"\"2\"\"\",alltoall,x,1000,7,,4,\r\n"
                "a,allreduce ring,x,2000,5,3.5,8,1\r\n"
                "a,allreduce tree,x,2000,6,,8,1\r\n"
                "a,allreduce ring,,4000,8,,8,2",
                (struct curve_defaults){ -1, 0 }, e));
    assert_int_equal(list.n, 4);
    assert_string_equal(list.curves[0].name, "a, allreduce ring");
    assert_string_equal(list.curves[1].name, "b, \"2\"");
    assert_int_equal(list.curves[0].n, 2);
    assert_close(list.curves[0].time_s[0], 1000 * 1.75 / 3.5e9, 1e-12);
    assert_close(list.curves[0].blur[0], 0.05 / 3.5, 1e-12);
    assert_close(list.curves[0].time_s[1], 5e-6, 1e-12);
    assert_true(list.curves[1].collective == COLLECTIVE_ALL_TO_ALL && list.curves[1].nodes == -1);
    assert_true(list.curves[3].nodes == 2 && list.curves[3].first_line == 7);
}

TEST(wrong_csv_is_refused_with_its_line)
{
    CASES(const char *text; enum err_code code; const char *message) = {
        { "bytes,foo\n1,2\n", ERR_PARSE, "m.csv:1: has neither column time_us nor busbw_GBps" },
        { "bytes,time_us\n", ERR_PARSE, "m.csv:1: has no row of measurements" },
        { "bytes,time_us\n1\n", ERR_PARSE, "m.csv:2: has 1 field, expected 2" },
        { "bytes,time_us\n1,x\n", ERR_PARSE, "m.csv:2: time_us is \"x\", expected a number of at least 0" },
        { "bytes,time_us\n-1,1\n", ERR_PARSE, "m.csv:2: bytes is \"-1\"" },
        { "bytes,time_us\n2,1\n2,1\n", ERR_PARSE, "m.csv:3: bytes is 2 after 2; sizes must grow" },
        { "bytes,time_us\n\"2,1\n", ERR_PARSE, "m.csv:2: quote is not closed" },
        { "bytes,time_us\n\"2\"3,1\n", ERR_PARSE, "m.csv:2: text after a closing quote" },
        { "bytes,time_us,gpus\n2,1,1\n", ERR_PARSE,
          "m.csv:2: gpus is \"1\", expected a whole number from 2" },
        { "bytes,time_us,gpus\n2,1,9\n", ERR_RANGE, "m.csv:2: has 9 ranks, but --ranks is 4" },
        { "bytes,time_us,collective\n2,1,scan\n", ERR_UNSUP,
          "m.csv:2: collective is \"scan\", expected one that weft" },
        { "bytes,time_us,collective\n2,1,alltoall\n", ERR_RANGE,
          "m.csv:2: collective is all-to-all, but --collective is all-reduce" },
        { "bytes,time_us,gpus\n2,1,16777217\n", ERR_PARSE,
          "m.csv:2: gpus is \"16777217\", expected a whole number from 2 to 16777216" },
        { "bytes,time_us,nodes\n2,1,0\n", ERR_PARSE,
          "m.csv:2: nodes is \"0\", expected a whole number from 1" },
        { "bytes,time_us\n1e300,1e-300\n2e300,1e-320\n", ERR_RANGE,
          "m.csv:3: time is out of any sensible range" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct curve_list list;
        FAILS(read_log(&list, cases[i].text, (struct curve_defaults){ COLLECTIVE_ALL_REDUCE, 4 }, e),
              cases[i].code, cases[i].message);
        assert_null(list.curves);
    }
    struct curve_list list;
    char wide[256] = "bytes,time_us";
    for (int i = 0; i < 62; i++)
        strcat(wide, ",x");
    strcat(wide, "\n");
    FAILS(read_log(&list, wide, (struct curve_defaults){ -1, 0 }, e), ERR_PARSE, "m.csv:1: has no row");
    strcpy(wide + strlen(wide) - 1, ",x\n");
    FAILS(read_log(&list, wide, (struct curve_defaults){ -1, 0 }, e), ERR_RANGE,
          "m.csv:1: has more than 64 fields, expected at most 64");
    FAILS(read_log(&list, "bytes,time_us,gpus\n2,1,8\n", (struct curve_defaults){ -1, 0 }, e), ERR_PARSE,
          "m.csv:2: collective is not given; use column collective or --collective");
    FAILS(read_log(&list, "bytes,time_us\n2,1\n", (struct curve_defaults){ COLLECTIVE_ALL_REDUCE, 0 }, e),
          ERR_PARSE, "m.csv:2: number of ranks is not given; use column gpus or --ranks");
}

TEST(rows_without_a_value_are_left_out_with_a_note)
{
    KEEP(struct curve_list, list, curve_list_free);
    OK(read_log(&list, "bytes,busbw_GBps\n8,0.00\n,3\n0,3\n16,\n32,1.0\n",
                (struct curve_defaults){ COLLECTIVE_ALL_REDUCE, 4 }, e));
    assert_int_equal(list.curves[0].n, 1);
    assert_string_equal(text_str(&list.notes), "m.csv:2: busbw_GBps is 0, row is left out\n"
                                               "m.csv:3: has no bytes, row is left out\n"
                                               "m.csv:4: bytes is 0, row is left out\n"
                                               "m.csv:5: has neither time nor bandwidth, row is left out\n");
}

TEST(files_are_read_and_hashed)
{
    static const char text[] = "bytes,time_us\n8,1\n";
    char path[SUPPORT_PATH];
    struct curve_list list;
    unsigned long long hash;
    const struct curve_defaults none = { -1, 0 };
    SCRATCH(dir);
    scratch_file(path, dir, "all_gather-x.csv", text, strlen(text));
    OK(curve_read_file(&list, path, (struct curve_defaults){ -1, 2 }, &hash, e));
    assert_int_equal(list.curves[0].collective, COLLECTIVE_ALL_GATHER);
    assert_true(hash == text_hash(TEXT_HASH_SEED, text, strlen(text)));
    curve_list_free(&list);
    FAILS(curve_read_file(&list, scratch_path(path, dir, "none"), none, &hash, e), ERR_PARSE, "no such file");
    scratch_file(path, dir, "nul", "a\nb\0c", 5);
    FAILS(curve_read_file(&list, path, none, NULL, e), ERR_PARSE, "nul:2: has a NUL byte");
}
