/* Rows of a struct as columns of a table, with axes of the same name beside them. */
#include "tests/support.h"
#include "base/column.h"

struct job {
    const char *status, *note;
    double time_s, half_s, bw_GBps[3], wall_s;
    int64_t seeds;
};

static const struct column columns[] = {
    COLUMN_WORD(struct job, status, "done, or error"),
    COLUMN_WORD(struct job, note, "empty, not blank", .flags = COLUMN_EMPTY | COLUMN_RENAMES),
    COLUMN_COUNT(struct job, seeds, "runs", .flags = COLUMN_YIELDS),
    COLUMN_REAL(struct job, time_s, "of it all", .flags = COLUMN_REPLACES),
    COLUMN_REAL(struct job, half_s, "half of its interval", .flags = COLUMN_HIDDEN),
    COLUMN_REAL_N(struct job, bw_GBps, "bw#_GBps", 3, "of a dimension"),
    COLUMN_REAL(struct job, wall_s, "wall clock", .flags = COLUMN_TIMING),
    COLUMNS_END,
};

/* The table of rows as CSV. */
static void assert_table(const struct column_choice *choice, const struct job *job, const char *want)
{
    KEEP(struct table, t, table_free) = { 0 };
    KEEP(struct columns, c, columns_free);
    KEEP(struct text, out, text_free) = { 0 };
    MUST(column_choose(&c, columns, choice, e));
    columns_put(&t, &c);
    table_row(&t);
    row_put(&t, &c, job);
    MUST(table_write(&t, TABLE_AS_CSV, NULL, &out, e));
    assert_string_equal(text_str(&out), want);
}

TEST(a_row_without_values_is_blank_but_for_texts_that_are_empty)
{
    struct job job;
    row_clear(&job, columns);
    assert_table(&(struct column_choice){ 0 }, &job,
                 "status,note,seeds,time_s,bw1_GBps,bw2_GBps,bw3_GBps\n,\"\",,,,,\n");
}

TEST(hidden_and_timing_columns_stand_where_they_are_asked_for)
{
    struct job job = { "done", "n", 2, 0.5, { 1, 2, 3 }, 9, 4 };
    assert_table(
        &(struct column_choice){ .timing = true, .hidden = true }, &job,
        "status,note,seeds,time_s,half_s,bw1_GBps,bw2_GBps,bw3_GBps,wall_s\ndone,n,4,2,0.5,1,2,3,9\n");
}

TEST(an_axis_of_the_same_name_yields_replaces_renames_or_stands_beside)
{
    const char *const axes[] = { "seeds", "time_s", "note" };
    struct job job = { "done", "n", 2, 0.5, { 1, 2, 3 }, 9, 4 };
    char buf[COLUMN_NAME + 8];
    assert_table(&(struct column_choice){ .axes = axes, .n_axes = 3 }, &job,
                 "status,note,time_s,bw1_GBps,bw2_GBps,bw3_GBps\ndone,n,2,1,2,3\n");
    assert_string_equal(column_axis(buf, columns, "seeds"), "seeds");
    assert_null(column_axis(buf, columns, "time_s"));
    assert_string_equal(column_axis(buf, columns, "note"), "vary.note");
    assert_string_equal(column_axis(buf, columns, "bw2_GBps"), "bw2_GBps");
    assert_string_equal(column_axis(buf, NULL, "network.npus"), "network.npus");
}

/* One list for several forms: text alone has the first, data the second. */
TEST(an_enum_is_a_word_and_a_form_has_its_own_columns)
{
    enum fruit { APPLE, PEAR };
    static const char *const words[] = { "apple", "pear", NULL };
    struct basket {
        enum fruit fruit;
        int32_t other;
    };
    static const struct column list[] = {
        COLUMN_ENUM(struct basket, fruit, words, "that is in it", .in = IN_TEXT),
        COLUMN_ENUM(struct basket, other, words, "likewise; blank: none", .in = IN_DATA),
        COLUMN_COUNT(struct basket, other, "its number", .in = IN_DATA),
        COLUMNS_END,
    };
    KEEP(struct columns, text, columns_free);
    KEEP(struct columns, data, columns_free);
    OK(column_choose(&text, list, &(struct column_choice){ .in = IN_TEXT }, e));
    OK(column_choose(&data, list, &(struct column_choice){ .in = IN_CSV }, e));
    assert_true(text.n == 1 && text.of[0] == &list[0] && data.n == 2 && data.of[0] == &list[1]);
    assert_true(column_kind(&list[0]) == TABLE_TEXT && column_kind(&list[2]) == TABLE_COUNT);
    const struct basket rows[] = { { PEAR, 0 }, { APPLE, -1 } };
    assert_string_equal(column_cell(&list[0], &rows[0], 0).text, "pear");
    assert_string_equal(column_cell(&list[0], &rows[1], 0).text, "apple");
    assert_string_equal(column_cell(&list[1], &rows[0], 0).text, "apple");
    assert_null(column_cell(&list[1], &rows[1], 0).text);
    KEEP(struct table, t, table_free) = { 0 };
    columns_put(&t, &data);
    table_row(&t);
    row_put(&t, &data, &rows[1]);
    assert_true(table_text(&t, 0, 0) == NULL && table_count(&t, 0, 1) == INT64_MIN);
}

TEST(what_was_put_is_got_again)
{
    KEEP(struct table, t, table_free) = { 0 };
    KEEP(struct columns, c, columns_free);
    const struct job job = { NULL, "n", NAN, 0.5, { 1, NAN, 3 }, 9, -1 };
    struct job back = { 0 };
    OK(column_choose(&c, columns, &(struct column_choice){ .hidden = true }, e));
    table_column(&t, "point", TABLE_COUNT);
    columns_put(&t, &c);
    table_row(&t);
    table_put_count(&t, 7);
    row_put(&t, &c, &job);
    row_get(&back, &c, &t, 0, 1);
    assert_null(back.status);
    assert_string_equal(back.note, "n");
    assert_true(isnan(back.time_s) && isnan(back.bw_GBps[1]));
    assert_true(back.half_s == 0.5 && back.bw_GBps[2] == 3 && back.seeds == -1 && back.wall_s == 0);
}

TEST(a_repeated_column_is_found_by_each_of_its_names)
{
    assert_ptr_equal(column_find(columns, "bw3_GBps"), &columns[5]);
    assert_null(column_find(columns, "bw4_GBps"));
    assert_null(column_find(columns, "bw#_GBps"));
}

TEST(a_name_says_its_unit_and_its_title)
{
    CASES(const char *name, *unit, *title) = {
        { "bw2_GBps", "GB/s", "bw2" },    { "examples_per_s", "1/s", "examples" },
        { "compute_s", "s", "compute" },  { "network_usd", "USD", "network" },
        { "goodput", "", "goodput" },     { "_s", "", " s" },
        { "usd_npu_h", "", "usd npu h" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct column c = { .name = cases[i].name };
        char buf[COLUMN_NAME];
        assert_string_equal(column_unit(&c), cases[i].unit);
        assert_string_equal(column_title(buf, &c, 0), cases[i].title);
    }
}

TEST(a_unit_that_is_said_goes_before_that_of_the_name)
{
    const struct column c = { .name = "usd_npu_h", .unit = "USD/NPU/h", .title = "owned" };
    char buf[COLUMN_NAME];
    assert_string_equal(column_unit(&c), "USD/NPU/h");
    assert_string_equal(column_title(buf, &c, 0), "owned");
}

TEST(the_scale_fits_the_largest_value_where_it_is_asked_to)
{
    CASES(const char *name; double most; const char *unit; double times) = {
        { "time_s", 12, "s", 1 },           { "time_s", 0.012, "ms", 1e3 },   { "time_s", 0, "s", 1 },
        { "traffic_MB", 2500, "GB", 1e-3 }, { "traffic_MB", 0.2, "kB", 1e3 }, { "sent_B", 5e12, "TB", 1e-12 },
        { "sent_B", 0.5, "B", 1 },          { "sent_MB", 0, "MB", 1 },        { "bw_GBps", 5000, "GB/s", 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct column c = { .name = cases[i].name, .show = COLUMN_FITTED };
        const struct column_scale scale = column_scale(&c, cases[i].most);
        assert_string_equal(scale.unit, cases[i].unit);
        assert_near(scale.times, cases[i].times, 1e-12);
    }
    const struct column share = { .name = "util", .times = 100, .as = "%" };
    assert_string_equal(column_scale(&share, 1).unit, "%");
    assert_true(column_scale(&share, 1).times == 100);
}
