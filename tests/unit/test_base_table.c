/* Tables in memory, and as text, CSV and JSON. */
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"

static struct table small_table(void)
{
    struct table t = { 0 };
    put_columns(&t, "name$ time_s~ n_npus#");
    put_cells(&t, "ring", 1.0 / 3, 4096);
    table_row(&t);
    for (int i = 0; i < 3; i++)
        table_put_none(&t);
    put_cells(&t, "a \"b\", c", -1.5e-7, 0);
    return t;
}

static void assert_written(const struct table *t, enum table_format format, const char *head,
                           const char *want)
{
    KEEP(struct text, out, text_free) = { 0 };
    MUST(table_write(t, format, head, &out, e));
    assert_string_equal(text_str(&out), want);
}

TEST(cells_are_found_by_row_and_column)
{
    struct table t = small_table();
    assert_int_equal(t.n_rows, 3);
    assert_int_equal(table_find(&t, "time_s"), 1);
    assert_int_equal(table_find(&t, "n_npus"), 2);
    assert_int_equal(table_find(&t, "time"), -1);
    assert_string_equal(table_cell(&t, 0, 0)->text, "ring");
    assert_int_equal(table_cell(&t, 0, 2)->count, 4096);
    assert_null(table_cell(&t, 1, 0)->text);
    assert_true(table_number(&t, 0, 1) == 1.0 / 3 && table_number(&t, 0, 2) == 4096);
    assert_true(isnan(table_number(&t, 0, 0)) && isnan(table_number(&t, 1, 1)));
    assert_true(isnan(table_number(&t, 1, 2)));
    table_free(&t);
    assert_int_equal(t.n_cols, 0);
    table_free(&t);
}

TEST(rows_move_with_their_texts)
{
    KEEP(struct table, to, table_free) = { 0 };
    KEEP(struct table, from, table_free) = small_table();
    put_columns(&to, "name$ time_s~ n_npus#");
    const char *text = table_cell(&from, 2, 0)->text;
    table_take_row(&to, &from, 2);
    table_take_row(&to, &from, 0);
    assert_ptr_equal(table_cell(&to, 0, 0)->text, text);
    assert_written(&to, TABLE_AS_CSV, NULL,
                   "name,time_s,n_npus\n\"a \"\"b\"\", c\",-1.5e-07,0\nring,0.3333333333333333,4096\n");
    assert_null(table_cell(&from, 2, 0)->text);
    assert_true(table_number(&from, 2, 2) == 0);
}

TEST(rows_before_a_failure_are_kept_by_cutting_off_what_follows)
{
    KEEP(struct table, t, table_free) = small_table();
    table_row(&t);
    table_put_text(&t, "half a row");
    t.failed = true;
    table_cut(&t, 2);
    assert_written(&t, TABLE_AS_CSV, NULL, "name,time_s,n_npus\nring,0.3333333333333333,4096\n,,\n");
    put_cells(&t, "more", 2.5, 1);
    assert_written(&t, TABLE_AS_CSV, NULL,
                   "name,time_s,n_npus\nring,0.3333333333333333,4096\n,,\nmore,2.5,1\n");
    /* Where no row is left it may be a column that is lacking. */
    t.failed = true;
    table_cut(&t, 0);
    assert_true(t.n_rows == 0 && t.failed);
}

static bool is_even(const void *data, const struct table *t, int64_t row)
{
    (void)data;
    return table_count(t, row, 0) % 2 == 0;
}

/* Behind none, by moving the array; behind others, row by row. */
TEST(whole_tables_move_and_rows_that_fail_a_test_are_gone)
{
    struct table to = { 0 }, from = { 0 };
    for (struct table *t = &to; t; t = t == &to ? &from : NULL)
        put_columns(t, "n# word$");
    for (int64_t i = 0; i < 5; i++) {
        char word[8];
        snprintf(word, sizeof word, "w%d", (int)i);
        put_cells(&from, (int)i, word);
        if (i == 2 || i == 4)
            table_take_rows(&to, &from);
    }
    assert_int_equal(from.n_rows, 0);
    assert_written(&to, TABLE_AS_CSV, NULL, "n,word\n0,w0\n1,w1\n2,w2\n3,w3\n4,w4\n");
    table_keep_rows(&to, is_even, NULL);
    assert_written(&to, TABLE_AS_CSV, NULL, "n,word\n0,w0\n2,w2\n4,w4\n");
    assert_null(table_text(&to, 0, 0));
    assert_null(table_text(&to, 0, -1));
    assert_true(table_count(&to, 0, 1) == INT64_MIN);
    table_free(&to);
    table_free(&from);
}

TEST(columns_that_are_not_kept_are_gone)
{
    static const bool keeps[][3] = {
        { true, true, true }, { false, true, true }, { true, false, false }, { false, false, true }
    };
    static const bool outer[] = { true, false, true };
    struct table t = small_table();
    table_keep_columns(&t, outer);
    assert_written(&t, TABLE_AS_CSV, NULL, "name,n_npus\nring,4096\n,\n\"a \"\"b\"\", c\",0\n");
    put_cells(&t, "more", 7);
    assert_string_equal(table_cell(&t, 3, 0)->text, "more");
    table_free(&t);
    for (size_t i = 0; i < COUNT_OF(keeps); i++) {
        KEEP(struct table, all, table_free) = small_table();
        KEEP(struct table, some, table_free) = small_table();
        table_keep_columns(&some, keeps[i]);
        assert_int_equal(some.n_cols, keeps[i][0] + keeps[i][1] + keeps[i][2]);
        for (int32_t col = 0, at = 0; col < all.n_cols; col++) {
            assert_int_equal(table_find(&some, all.names[col]), keeps[i][col] ? at : -1);
            for (int64_t row = 0; row < all.n_rows && keeps[i][col]; row++) {
                struct text one = { 0 }, other = { 0 };
                table_cell_text(&one, &some, row, at);
                table_cell_text(&other, &all, row, col);
                assert_string_equal(text_str(&one), text_str(&other));
                text_free(&one);
                text_free(&other);
            }
            at += keeps[i][col];
        }
    }
}

TEST(text_is_aligned_with_numbers_to_the_right)
{
    KEEP(struct table, t, table_free) = small_table();
    assert_written(&t, TABLE_AS_TEXT, "seed=1\n",
                   "name        time_s  n_npus\n"
                   "ring      0.333333    4096\n"
                   "-                -       -\n"
                   "a \"b\", c  -1.5e-07       0\n");
}

TEST(text_lines_have_nothing_trailing)
{
    static const char *const words[] = { "long word", "s", "", NULL };
    KEEP(struct table, t, table_free) = { 0 };
    put_columns(&t, "x_B~ first$ second$");
    for (size_t i = 0; i < COUNT_OF(words); i++)
        put_cells(&t, (double)i, words[i], words[COUNT_OF(words) - 1 - i]);
    assert_written(&t, TABLE_AS_TEXT, NULL,
                   "x_B  first      second\n"
                   "  0  long word  -\n"
                   "  1  s\n"
                   "  2             s\n"
                   "  3  -          long word\n");
}

TEST(text_counts_characters_and_hides_control_codes)
{
    KEEP(struct table, t, table_free) = { 0 };
    put_columns(&t, "name$ n#");
    table_row(&t);
    table_put_text(&t, "\xc3\xa9t\xc3\xa9-\xe2\x82\xac"); /* 5 characters, 9 bytes */
    table_put_count(&t, 1);
    put_cells(&t, "a\nb\x1b", 2);
    assert_written(&t, TABLE_AS_TEXT, NULL, "name   n\n\xc3\xa9t\xc3\xa9-\xe2\x82\xac  1\na?b?   2\n");
}

TEST(reals_in_text_have_6_digits_and_no_minus_zero)
{
    static const struct {
        double x;
        const char *want;
    } cases[] = { { 123456.789, "x\n123457\n" },
                  { 1e9, "    x\n1e+09\n" },
                  { -0.0, "x\n0\n" },
                  { NAN, "x\n-\n" },
                  { INFINITY, "x\n-\n" } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct table, t, table_free) = { 0 };
        KEEP(struct text, out, text_free) = { 0 };
        table_column(&t, "x", TABLE_REAL);
        put_cells(&t, cases[i].x);
        OK(table_write(&t, TABLE_AS_TEXT, NULL, &out, e));
        assert_string_equal(strchr(text_str(&out), '\n') + 1, strchr(cases[i].want, '\n') + 1);
    }
}

TEST(csv_quotes_what_needs_it)
{
    KEEP(struct table, t, table_free) = { 0 };
    static const char *const words[] = { "plain", "a,b", "say \"hi\"", "two\nlines", "cr\rlf",  "",
                                         "#5",    "a#5", NULL,         " space ",    "\xc3\xa9" };
    table_column(&t, "#name", TABLE_TEXT);
    table_column(&t, "with, comma", TABLE_COUNT);
    for (size_t i = 0; i < COUNT_OF(words); i++)
        put_cells(&t, words[i], (int)i);
    assert_written(&t, TABLE_AS_CSV, "seed=1\nhash=ab",
                   "# seed=1\n# hash=ab\n\"#name\",\"with, comma\"\n"
                   "plain,0\n\"a,b\",1\n\"say \"\"hi\"\"\",2\n\"two\nlines\",3\n\"cr\rlf\",4\n\"\",5\n"
                   "\"#5\",6\na#5,7\n,8\n space ,9\n\xc3\xa9,10\n");
}

TEST(json_has_one_row_a_line_and_nulls)
{
    KEEP(struct table, t, table_free) = small_table();
    assert_written(
        &t, TABLE_AS_JSON, "version=1.0\ncommand=weft sim a=b\nalone\n",
        "{\"weft\": {\"version\": \"1.0\", \"command\": \"weft sim a=b\", \"alone\": \"\"}, \"rows\": [\n"
        "{\"name\": \"ring\", \"time_s\": 0.3333333333333333, \"n_npus\": 4096},\n"
        "{\"name\": null, \"time_s\": null, \"n_npus\": null},\n"
        "{\"name\": \"a \\\"b\\\", c\", \"time_s\": -1.5e-07, \"n_npus\": 0}\n"
        "]}\n");
}

TEST(table_without_rows_is_written)
{
    KEEP(struct table, t, table_free) = { 0 };
    put_columns(&t, "a~ b$");
    assert_written(&t, TABLE_AS_TEXT, NULL, "a  b\n");
    assert_written(&t, TABLE_AS_CSV, NULL, "a,b\n");
    assert_written(&t, TABLE_AS_JSON, NULL, "{\"weft\": {}, \"rows\": []}\n");
}

/* U+FEFF at the start of a file is no part of a name, unless it is quoted. */
TEST(a_name_that_begins_as_a_byte_order_mark_is_quoted)
{
    KEEP(struct table, t, table_free) = { 0 };
    table_column(&t, "\xef\xbb\xbfname", TABLE_REAL);
    assert_written(&t, TABLE_AS_CSV, NULL, "\"\xef\xbb\xbfname\"\n");
}

TEST(writing_appends)
{
    KEEP(struct table, t, table_free) = { 0 };
    table_column(&t, "a", TABLE_REAL);
    TEXT(out, "before\n");
    OK(table_write(&t, TABLE_AS_CSV, NULL, &out, e));
    assert_string_equal(text_str(&out), "before\na\n");
}

TEST(lack_of_memory_is_told_when_writing)
{
    KEEP(struct table, t, table_free) = small_table();
    KEEP(struct text, out, text_free) = { 0 };
    t.failed = true; /* as a failed allocation leaves it: later rows and values are dropped */
    table_row(&t);
    table_put_text(&t, "x");
    table_put_real(&t, 1);
    table_put_count(&t, 1);
    assert_int_equal(t.n_rows, 3);
    FAILS(table_write(&t, TABLE_AS_CSV, NULL, &out, e), ERR_NOMEM, "out of memory for table");
    t.failed = false;
    out.failed = true;
    FAILS(table_write(&t, TABLE_AS_JSON, NULL, &out, e), ERR_NOMEM, "out of memory for text");
}

TEST(cells_are_copied_and_shown_as_csv_has_them)
{
    static const char *const want[] = { "0.1", "7", "a,b", "", "", "" };
    KEEP(struct table, from, table_free) = { 0 };
    KEEP(struct table, to, table_free) = { 0 };
    KEEP(struct text, cell, text_free) = { 0 };
    for (int i = 0; i < 2; i++) {
        struct table *t = i ? &to : &from;
        put_columns(t, "x~ n# s$");
    }
    put_cells(&from, 0.1, 7, "a,b");
    table_row(&from);
    for (int i = 0; i < 3; i++)
        table_put_none(&from);
    for (int64_t row = 0; row < 2; row++) {
        table_row(&to);
        for (int32_t col = 0; col < 3; col++) {
            table_put_cell(&to, &from, row, col);
            text_clear(&cell);
            table_cell_text(&cell, &to, row, col);
            assert_string_equal(text_str(&cell), want[3 * row + col]);
        }
    }
    assert_null(table_cell(&to, 1, 2)->text); /* no value, not an empty one */
}

/* Three rows as one piece, or a row at a time, after a piece without rows. */
TEST(pieces_make_the_same_text_as_the_whole)
{
    for (int format = TABLE_AS_TEXT; format <= TABLE_AS_JSON; format++) {
        KEEP(struct table, piece, table_free) = { 0 };
        KEEP(struct table, whole, table_free) = small_table();
        struct table_writer w = { .format = (enum table_format)format };
        KEEP(struct text, want, text_free) = { 0 };
        KEEP(struct text, got, text_free) = { 0 };
        const char *head = "version=1\nseed=3\n";
        OK(table_write(&whole, w.format, head, &want, e));
        OK(table_write_measure(&w, &whole, e));
        for (int32_t col = 0; col < whole.n_cols; col++)
            table_column(&piece, whole.names[col], whole.kinds[col]);
        OK(table_write_begin(&w, &piece, head, &got, e));
        OK(table_write_rows(&w, &piece, &got, e));
        for (int64_t row = 0; row < whole.n_rows; row++) {
            table_clear(&piece);
            table_take_row(&piece, &whole, row);
            OK(table_write_rows(&w, &piece, &got, e));
        }
        OK(table_write_end(&w, &got, e));
        assert_string_equal(text_str(&got), text_str(&want));
    }
}

TEST(a_cleared_table_keeps_its_columns)
{
    KEEP(struct table, t, table_free) = small_table();
    table_clear(&t);
    assert_true(t.n_rows == 0 && t.n_cols == 3);
    table_row(&t);
    table_put_text(&t, "again");
    assert_true(table_row_is_open(&t));
    table_put_none(&t);
    table_put_count(&t, 5);
    assert_true(!table_row_is_open(&t) && table_cell(&t, 0, 2)->count == 5);
}
