/* CSV by RFC 4180: kinds of columns from their content; what is written comes back bit for bit. */
#include "tests/unit/folder.h"
#include "base/table.h"

FOLDER_FOR("in.csv")

static int read_bytes(struct folder *s, struct table *t, const char *data, size_t n, struct err *e)
{
    return table_read_csv(t, scratch_file(s->path, s->dir, "in.csv", data, n), e);
}

static struct table read_good(struct folder *s, const char *data)
{
    struct table t;
    MUST(read_bytes(s, &t, data, strlen(data), e));
    return t;
}

TEST_WITH(columns_get_their_kind_from_their_content, make_folder, remove_folder)
{
    static const struct {
        const char *cells[3];
        enum table_kind want;
    } cases[] = {
        { { "1", "2", "300" }, TABLE_COUNT },
        { { "1", "", "3" }, TABLE_COUNT },
        { { "1", "2.0", "3" }, TABLE_REAL },
        { { "1", "-2", "3" }, TABLE_REAL },
        { { "1e9", "", "" }, TABLE_REAL },
        { { "9223372036854775807", "0", "1" }, TABLE_COUNT },
        { { "9223372036854775808", "0", "1" }, TABLE_REAL }, /* 2^63 */
        { { "1", "x", "3" }, TABLE_TEXT },
        { { "1.5", "2.5", "007" }, TABLE_TEXT },
        { { "nan", "1", "2" }, TABLE_TEXT },
        { { " 1", "2", "3" }, TABLE_TEXT },     /* a space belongs to the field: RFC 4180, 2.4 */
        { { "1", "2", "\"\"" }, TABLE_TEXT },   /* empty text is not the same as no value */
        { { "\"1\"", "2", "3" }, TABLE_COUNT }, /* quotes are a matter of writing */
        { { "", "", "" }, TABLE_REAL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char data[256];
        snprintf(data, sizeof data, "a,b\n%s,0\n%s,0\n%s,0\n", cases[i].cells[0], cases[i].cells[1],
                 cases[i].cells[2]);
        KEEP(struct table, t, table_free) = read_good(*state, data);
        assert_true(t.n_rows == 3 && t.kinds[0] == cases[i].want);
    }
}

TEST_WITH(values_are_read_and_blanks_are_no_value, make_folder, remove_folder)
{
    KEEP(struct table, t, table_free) = read_good(*state, "n,x_s,name\n4096,0.1,ring\n,,\n7,-2e3,\"\"\n");
    assert_int_equal(t.n_cols, 3);
    assert_string_equal(t.names[1], "x_s");
    assert_true(table_cell(&t, 0, 0)->count == 4096 && table_cell(&t, 0, 1)->real == 0.1);
    assert_string_equal(table_cell(&t, 0, 2)->text, "ring");
    assert_true(table_cell(&t, 1, 0)->count == INT64_MIN && isnan(table_cell(&t, 1, 1)->real));
    assert_null(table_cell(&t, 1, 2)->text);
    assert_true(table_cell(&t, 2, 1)->real == -2000);
    assert_string_equal(table_cell(&t, 2, 2)->text, "");
}

/* The same two rows in every way to write them. */
TEST_WITH(ways_of_writing_make_no_difference, make_folder, remove_folder)
{
    static const char *const cases[] = {
        "a,b\n1,x y\n2,z\n",
        "a,b\r\n1,x y\r\n2,z\r\n",
        "a,b\n1,x y\n2,z",
        "a,b\r\n1,x y\r\n2,z\r",
        "\xef\xbb\xbf\x61,b\n1,x y\n2,z\n",
        "# seed=1\n#\n\n# a,b,c \"\na,b\n1,x y\n2,z\n",
        "# seed=1\r\n\r\na,b\r\n1,x y\r\n2,z\r\n",
        "\"a\",\"b\"\n\"1\",\"x y\"\n\"2\",\"z\"\n",
        "\"a\",\"b\"\r\n\"1\",\"x y\"\r\n\"2\",\"z\"",
        "a,b\n\n1,x y\n\r\n2,z\n\n\n",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct table, t, table_free) = read_good(*state, cases[i]);
        assert_true(t.n_cols == 2 && t.n_rows == 2);
        assert_string_equal(t.names[0], "a");
        assert_string_equal(t.names[1], "b");
        assert_int_equal(table_cell(&t, 0, 0)->count, 1);
        assert_string_equal(table_cell(&t, 0, 1)->text, "x y");
        assert_int_equal(table_cell(&t, 1, 0)->count, 2);
        assert_string_equal(table_cell(&t, 1, 1)->text, "z");
    }
}

TEST_WITH(quoted_fields_hold_anything, make_folder, remove_folder)
{
    static const struct {
        const char *field, *want;
    } cases[] = {
        { "\"a,b\"", "a,b" },
        { "\"say \"\"hi\"\"\"", "say \"hi\"" },
        { "\"two\nlines\"", "two\nlines" },
        { "\"cr\r\nlf\"", "cr\r\nlf" },
        { "\"\"\"\"", "\"" },
        { "\"#x\"", "#x" },
        { "#x", "#x" },
        { "a\rb", "a\rb" },
        { "\xc3\xa9", "\xc3\xa9" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char data[128];
        snprintf(data, sizeof data, "name,n\n%s,1\n", cases[i].field);
        KEEP(struct table, t, table_free) = read_good(*state, data);
        assert_int_equal(t.n_rows, 1);
        assert_string_equal(table_cell(&t, 0, 0)->text, cases[i].want);
        assert_int_equal(table_cell(&t, 0, 1)->count, 1);
    }
}

TEST_WITH(header_alone_is_a_table_without_rows, make_folder, remove_folder)
{
    KEEP(struct table, t, table_free) = read_good(*state, "a,,c");
    assert_true(t.n_rows == 0 && t.n_cols == 3);
    assert_string_equal(t.names[1], "");
}

TEST_WITH(empty_line_of_a_single_column_is_a_row, make_folder, remove_folder)
{
    KEEP(struct table, t, table_free) = read_good(*state, "a\n1\n\n3\n");
    assert_true(t.n_rows == 3 && isnan(table_number(&t, 1, 0)) && table_number(&t, 2, 0) == 3);
}

TEST_WITH(broken_files_are_refused_with_their_line, make_folder, remove_folder)
{
    static const struct {
        const char *data, *want;
    } cases[] = {
        { "", "in.csv:1: file is empty, expected a line of column names" },
        { "# only=this\n\n", "in.csv:3: file is empty, expected a line of column names" },
        { "a,b,c,d,e\n1,2,3,4,5\n1,2,3\n", "in.csv:3: has 3 fields, expected 5" },
        { "# c\na,b\n1\n", "in.csv:3: has 1 field, expected 2" },
        { "a,b\n1,2,3\n", "in.csv:2: has 3 fields, expected 2" },
        { "a,b\n\"x\ny\",2\n1,\n1,2,3\n", "in.csv:5: has 3 fields, expected 2" },
        { "a,b\n1,2\n\"x\n\n\n", "in.csv:3: quote is not closed" },
        { "a,\"b\n", "in.csv:1: quote is not closed" },
        { "a,b\n1,\"x\"y\n",
          "in.csv:2: text after a closing quote, expected a comma or the end of the line" },
        { "a,b\n1,x\"y\"\n", "in.csv:2: quote inside a field; quote the whole field" },
        { "a,b,a\n1,2,3\n", "in.csv:1: column \"a\" is there twice; names must differ" },
        { "# c\n,b,\n1,2,3\n", "in.csv:2: column \"\" is there twice" },
    };
    struct folder *s = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct table, t, table_free);
        FAILS(read_bytes(s, &t, cases[i].data, strlen(cases[i].data), e), ERR_PARSE, cases[i].want);
        assert_int_equal(t.n_cols, 0);
    }
}

TEST_WITH(missing_files_and_binary_files_are_refused, make_folder, remove_folder)
{
    struct folder *s = *state;
    struct table t;
    FAILS(table_read_csv(&t, scratch_path(s->path, s->dir, "none.csv"), e), ERR_PARSE,
          "none.csv: no such file");
    table_free(&t);
    FAILS(read_bytes(s, &t, "a,b\n1,\0\n", 8, e), ERR_PARSE, "in.csv:2: has a NUL byte: not a text file");
    table_free(&t);
}

static double random_double(struct rng *r)
{
    double x;
    do {
        uint64_t bits =
            ((uint64_t)rng_below(r, INT64_C(1) << 32) << 32) | (uint64_t)rng_below(r, INT64_C(1) << 32);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return x;
}

static struct table write_and_read(struct folder *s, const struct table *t)
{
    KEEP(struct text, out, text_free) = { 0 };
    MUST(table_write(t, TABLE_AS_CSV, "seed=9\n", &out, e));
    struct table back = { 0 };
    MUST(read_bytes(s, &back, out.s, out.n, e));
    return back;
}

TEST_WITH(random_reals_come_back_bit_for_bit, make_folder, remove_folder)
{
    enum { N_ROWS = 5000, N_COLS = 4 };
    KEEP(struct table, t, table_free) = { 0 };
    RNG(r, 9, 0);
    for (int col = 0; col < N_COLS; col++)
        table_column(&t, (const char *[]){ "a", "b", "c", "d" }[col], TABLE_REAL);
    for (int row = 0; row < N_ROWS; row++) {
        table_row(&t);
        table_put_real(&t, random_double(r));
        table_put_real(&t, rng_uniform(r));
        table_put_real(&t, rng_below(r, 3) ? rng_normal(r) : NAN);
        table_put_real(&t, (double)rng_below(r, 1000000)); /* whole numbers: comes back as COUNT */
    }
    KEEP(struct table, back, table_free) = write_and_read(*state, &t);
    assert_true(back.n_rows == N_ROWS && back.kinds[0] == TABLE_REAL && back.kinds[3] == TABLE_COUNT);
    for (int row = 0; row < N_ROWS; row++)
        for (int col = 0; col < N_COLS; col++) {
            double want = table_number(&t, row, col), got = table_number(&back, row, col);
            if (isnan(want))
                assert_true(isnan(got));
            else
                assert_memory_equal(&got, &want, sizeof want);
        }
}

/* Any text, none and empty ones included; the first row keeps the column from looking like numbers. */
TEST_WITH(random_texts_and_counts_come_back, make_folder, remove_folder)
{
    static const char letters[] = "a,\"\r\n# 1'=+-@\t";
    KEEP(struct table, t, table_free) = { 0 };
    RNG(r, 10, 0);
    table_column(&t, "t", TABLE_TEXT);
    table_column(&t, "n", TABLE_COUNT);
    table_row(&t);
    table_put_text(&t, "text");
    table_put_count(&t, INT64_MAX);
    for (int row = 1; row < 5000; row++) {
        char word[8] = "";
        int64_t n = rng_below(r, 7);
        for (int64_t i = 0; i < n; i++)
            word[i] = letters[rng_below(r, sizeof letters - 1)];
        table_row(&t);
        table_put_text(&t, rng_below(r, 10) ? word : NULL);
        table_put_count(&t, rng_below(r, 10) ? rng_below(r, INT64_MAX) : INT64_MIN);
    }
    KEEP(struct table, back, table_free) = write_and_read(*state, &t);
    assert_int_equal(back.n_rows, t.n_rows);
    for (int64_t row = 0; row < t.n_rows; row++) {
        const char *want = table_cell(&t, row, 0)->text, *got = table_cell(&back, row, 0)->text;
        assert_true(want ? got && strcmp(want, got) == 0 : !got);
        assert_int_equal(table_cell(&back, row, 1)->count, table_cell(&t, row, 1)->count);
    }
}

/* Whatever the bytes, reading ends with a table or a message, never beyond the file (the sanitizers look). */
TEST_WITH(random_bytes_are_read_or_refused, make_folder, remove_folder)
{
    static const char letters[] = "a1,\"\"\r\n\n,#.";
    int n_good = 0;
    RNG(r, 11, 0);
    for (int i = 0; i < 3000; i++) {
        char data[24];
        KEEP(struct table, t, table_free);
        size_t n = (size_t)rng_below(r, sizeof data);
        for (size_t k = 0; k < n; k++)
            data[k] = letters[rng_below(r, sizeof letters)]; /* the terminator too */
        int rc = read_bytes(*state, &t, data, n, e);
        assert_true(rc == 0 || rc == ERR_PARSE);
        n_good += rc == 0;
    }
    assert_in_range(n_good, 100, 2900);
}

/* What a table becomes by being written and read again, without the file. */
TEST(texts_that_are_all_numbers_become_numbers)
{
    static const char *const cells[][4] = {
        { "1", "20", NULL, "3" }, { "1", "2.5", "-3e2", NULL }, { "1", "x", "2", "3" },
        { "", "1", "2", "3" },    { NULL, NULL, NULL, NULL },
    };
    static const enum table_kind want[] = { TABLE_COUNT, TABLE_REAL, TABLE_TEXT, TABLE_TEXT, TABLE_REAL };
    KEEP(struct table, t, table_free) = { 0 };
    for (size_t col = 0; col < COUNT_OF(cells); col++)
        table_column(&t, (const char[]){ (char)('a' + col), '\0' }, TABLE_TEXT);
    for (size_t row = 0; row < 4; row++) {
        table_row(&t);
        for (size_t col = 0; col < COUNT_OF(cells); col++)
            table_put_text(&t, cells[col][row]);
    }
    OK(table_find_numbers(&t, e));
    for (size_t col = 0; col < COUNT_OF(cells); col++)
        assert_int_equal(t.kinds[col], want[col]);
    assert_true(table_cell(&t, 1, 0)->count == 20 && table_cell(&t, 2, 0)->count == INT64_MIN);
    assert_true(table_number(&t, 2, 1) == -300);
    assert_string_equal(table_cell(&t, 1, 2)->text, "x");
    assert_string_equal(table_cell(&t, 0, 3)->text, "");
}

/* Of what nobody knows there is a note; of columns that are gone there is none. */
TEST_WITH(units_that_names_do_not_say_stand_in_the_head_and_come_back, make_folder, remove_folder)
{
    KEEP(struct table, t, table_free) =
        read_good(*state, "# units=W:watt_peak,USD/NPU/h:gone,horses:n,GB/s:bw_GBps\n# best=up:n\n"
                          "n,watt_peak,bw_GBps\n1,2,3\n");
    size_t n;
    assert_string_equal(table_unit(&t, 1, &n), "W");
    assert_int_equal(n, 9);
    assert_string_equal(table_unit(&t, 0, &n), "");
    assert_string_equal(table_unit(&t, 2, &n), "GB/s");
    assert_int_equal(n, 2);
    assert_has(text_str(&t.notes), "the unit of column n is \"horses\", which is not known");
    assert_has(text_str(&t.notes), "what is better in column n is \"up\", which is not known");
    assert_null(strstr(text_str(&t.notes), "gone"));
    KEEP(struct text, csv, text_free) = { 0 };
    KEEP(struct text, json, text_free) = { 0 };
    OK(table_write(&t, TABLE_AS_CSV, NULL, &csv, e));
    assert_string_equal(text_str(&csv), "# units=W:watt_peak\nn,watt_peak,bw_GBps\n1,2,3\n");
    OK(table_write(&t, TABLE_AS_JSON, NULL, &json, e));
    assert_has(text_str(&json), "\"units\": \"W:watt_peak\"");
    KEEP(struct table, like, table_free) = { 0 };
    table_column_of(&like, &t, 1);
    assert_string_equal(table_unit(&like, 0, &n), "W");
}

TEST_WITH(titles_that_names_do_not_say_stand_in_the_head_and_come_back, make_folder, remove_folder)
{
    static const struct {
        const char *name, *title, *want;
    } columns[] = { { "nic_GBps", "NIC", "NIC" },
                    { "time_s", "step", "step" },
                    { "equal_cost_usd", "equal cost", "equal cost" },
                    { "x", "a, b", "a, b" },
                    { "y_s", NULL, "y" } };
    KEEP(struct table, t, table_free) = { 0 };
    KEEP(struct text, csv, text_free) = { 0 };
    for (size_t col = 0; col < COUNT_OF(columns); col++) {
        KEEP(struct text, title, text_free) = { 0 };
        table_column(&t, columns[col].name, TABLE_REAL);
        if (columns[col].title)
            table_set_title(&t, (int32_t)col, columns[col].title);
        table_put_title(&title, &t, (int32_t)col);
        assert_string_equal(text_str(&title), columns[col].want);
    }
    OK(table_write(&t, TABLE_AS_CSV, NULL, &csv, e));
    assert_string_equal(text_str(&csv),
                        "# titles=NIC:nic_GBps,step:time_s\nnic_GBps,time_s,equal_cost_usd,x,y_s\n");
    KEEP(struct table, back, table_free) = read_good(*state, text_str(&csv));
    KEEP(struct table, like, table_free) = { 0 };
    KEEP(struct text, title, text_free) = { 0 };
    table_column_of(&like, &back, 1);
    table_put_title(&title, &like, 0);
    assert_string_equal(text_str(&title), "step");
}

/* Only columns that are still there, and only words that table_write() has. */
TEST_WITH(what_is_better_stands_in_the_head_and_comes_back, make_folder, remove_folder)
{
    KEEP(struct table, t, table_free) =
        read_good(*state, "# version=1\n# best=min:time_s,max:gone,max:\"a\",mxx:n,max:goodput\r\n# "
                          "seed=1\nn,goodput,time_s\n1,2,3\n");
    assert_true(t.better[0] == 0 && t.better[1] == 1 && t.better[2] == -1);
    KEEP(struct text, csv, text_free) = { 0 }, json = { 0 };
    OK(table_write(&t, TABLE_AS_CSV, "seed=9\n", &csv, e));
    assert_string_equal(text_str(&csv), "# seed=9\n# best=max:goodput,min:time_s\nn,goodput,time_s\n1,2,3\n");
    OK(table_write(&t, TABLE_AS_JSON, "seed=9\n", &json, e));
    assert_has(text_str(&json), "{\"seed\": 9, \"best\": \"max:goodput,min:time_s\"}");
    KEEP(struct table, like, table_free) = { 0 };
    table_column_of(&like, &t, 1);
    table_column(&like, "plain", TABLE_REAL);
    assert_true(like.better[0] == 1 && like.better[1] == 0 && like.kinds[0] == t.kinds[1]);
    table_keep_columns(&t, (const bool[]){ true, false, true });
    assert_true(t.better[0] == 0 && t.better[1] == -1);
}

TEST_WITH(a_row_is_called_by_its_place_and_its_point, make_folder, remove_folder)
{
    KEEP(struct table, t, table_free) = read_good(*state, "x,point\n1,7\n2,\n");
    KEEP(struct table, bare, table_free) = read_good(*state, "x\n1\n");
    char buf[TABLE_ROW_NAME];
    assert_string_equal(table_row_name(buf, &t, 0), "row 1 (point 7)");
    assert_string_equal(table_row_name(buf, &t, 1), "row 2");
    assert_string_equal(table_row_name(buf, &bare, 0), "row 1");
}
