/* Data sets of the user's own: what is read, how it is scaled, and what is refused with its place. */
#include "sim/gossip/data.h"
#include "base/text.h"
#include "tests/support.h"

/* A training file and a test file in a folder of their own. */
struct files {
    char dir[SUPPORT_PATH], train_path[SUPPORT_PATH], test_path[SUPPORT_PATH];
    struct gossip_data train, test;
    struct gossip_labels labels;
};

static void files_open(struct files *f)
{
    *f = (struct files){ .dir = "" };
    scratch_make(f->dir);
}

static void files_close(struct files *f)
{
    gossip_data_free(&f->train);
    gossip_data_free(&f->test);
    gossip_labels_free(&f->labels);
    scratch_remove(f->dir);
}

#define FILES(f)                                                                                             \
    KEEP(struct files, f, files_close);                                                                      \
    files_open(&f)

static int read_train(struct files *f, const char *csv, const char *label, struct err *e)
{
    gossip_data_free(&f->train);
    gossip_labels_free(&f->labels);
    scratch_file(f->train_path, f->dir, "train.csv", csv, strlen(csv));
    return gossip_data_read_csv(&f->train, &f->labels, f->train_path, label, e);
}

static int read_test(struct files *f, const char *csv, struct err *e)
{
    gossip_data_free(&f->test);
    scratch_file(f->test_path, f->dir, "test.csv", csv, strlen(csv));
    return gossip_data_read_csv(&f->test, &f->labels, f->test_path, NULL, e);
}

/* Columns 1, 2, 3 and 10, 20, 60: means 2 and 30, variances 2/3 and 1400/3. */
TEST(features_are_standardised_by_the_training_file)
{
    FILES(f);
    OK(read_train(&f, "a,b,kind\n1,10,cat\n2,20,dog\n3,60,cat\n", NULL, e));
    assert_true(f.train.n == 3 && f.train.n_features == 2 && f.train.n_classes == 2);
    for (int i = 0; i < 3; i++)
        assert_near(f.train.x[2 * i], (i - 1) / sqrt(2.0 / 3), 1e-6);
    assert_near(f.train.x[5], 30 / sqrt(1400.0 / 3), 1e-6);
    OK(read_test(&f, "a,b,kind\n4,30,dog\n", e));
    assert_near(f.test.x[0], 2 / sqrt(2.0 / 3), 1e-6);
    assert_true(f.test.x[1] == 0 && f.test.y[0] == 1);
}

/* In float the three would be one. */
TEST(a_small_spread_far_from_zero_is_kept)
{
    FILES(f);
    OK(read_train(&f, "time,k\n1700000001,0\n1700000002,1\n1700000003,1\n", NULL, e));
    for (int i = 0; i < 3; i++)
        assert_near(f.train.x[i], (i - 1) / sqrt(2.0 / 3), 1e-6);
}

TEST(a_constant_column_is_zero_in_both_files)
{
    FILES(f);
    OK(read_train(&f, "a,k\n0.1,0\n0.1,1\n0.1,1\n", NULL, e));
    OK(read_test(&f, "a,k\n5,0\n", e));
    for (int i = 0; i < 3; i++)
        assert_true(f.train.x[i] == 0);
    assert_true(f.test.x[0] == 0);
}

TEST(classes_are_numbered_by_value_then_by_word_whatever_the_order_of_rows)
{
    static const char *const want[] = { "-1", "2", "10", "cat", "dog" };
    static const int32_t y[] = { 4, 2, 3, 1, 0, 2 };
    FILES(f);
    OK(read_train(&f, "k,a\ndog,1\n10,2\ncat,3\n2,4\n-1,5\n10,6\n", "k", e));
    assert_int_equal(f.labels.n_classes, COUNT_OF(want));
    for (int32_t k = 0; k < f.labels.n_classes; k++)
        assert_string_equal(f.labels.classes[k], want[k]);
    assert_memory_equal(f.train.y, y, sizeof y);
    assert_string_equal(f.labels.label, "k");
    assert_int_equal(f.labels.n_features, 1);
    assert_string_equal(f.labels.features[0], "a");
}

/* The class is where the file has it; the number of classes is the training file's. */
TEST(a_test_file_may_lack_a_class_and_have_its_column_elsewhere)
{
    FILES(f);
    OK(read_train(&f, "a,kind,b\n1,x,5\n2,y,6\n3,z,9\n", "kind", e));
    OK(read_test(&f, "a,b,kind\n2,5,z\n", e));
    assert_true(f.test.n_classes == 3 && f.test.y[0] == 2 && f.test.x[0] == 0);
    assert_true(f.test.x[1] == f.train.x[1]);
}

TEST(quotes_comments_blanks_and_line_ends_of_spreadsheets_are_read)
{
    FILES(f);
    OK(read_train(&f,
                  "\xef\xbb\xbf# from a sheet\r\n\r\n \"a, \"\"b\"\"\" , kind \r\n"
                  " 1 ,\"big, cat\"\r\n\r\n3,\tdog\t",
                  NULL, e));
    assert_string_equal(f.labels.features[0], "a, \"b\"");
    assert_string_equal(f.labels.label, "kind");
    assert_int_equal(f.labels.n_classes, 2);
    assert_string_equal(f.labels.classes[0], "big, cat");
    assert_string_equal(f.labels.classes[1], "dog");
    assert_true(f.train.x[0] == -1 && f.train.x[1] == 1);
    OK(read_train(&f,
                  "\xef\xbb\xbf"
                  "wide,kind\n1,cat\n3,dog\n",
                  NULL, e));
    assert_string_equal(f.labels.features[0], "wide");
}

TEST(what_is_wrong_with_a_training_file_is_placed)
{
    CASES(const char *csv, *label, *message; enum err_code code) = {
        { "", NULL, "train.csv:1:1: file is empty, expected a line of column names", ERR_PARSE },
        { "# nothing\n", NULL, "train.csv:1:1: file is empty", ERR_PARSE },
        { "k\n1\n", NULL, "train.csv:1:1: has 1 column, expected a class and at least one feature",
          ERR_PARSE },
        { "a,k\n", NULL, "train.csv:1:1: has no rows below the header, expected at least 1", ERR_PARSE },
        { "a,k\n1,x\n", "kind", "train.csv:1:1: has no column \"kind\", required for the classes",
          ERR_PARSE },
        { "a,kin\n1,x\n", "kind", "; did you mean kin?", ERR_PARSE },
        { "a,b,a,k\n1,2,3,x\n", NULL, "train.csv:1:5: column \"a\" is there twice; names must differ",
          ERR_PARSE },
        { "a,k\n1,x\n2\n", NULL, "train.csv:3:1: has 1 field, expected 2", ERR_PARSE },
        { "a,k\n1,x,3\n", NULL, "train.csv:2:1: has 3 fields, expected 2", ERR_PARSE },
        { "a,b,k\n1,2,x\n\n1, big ,y\n", NULL, "train.csv:4:4: b: is \"big\", expected a number", ERR_PARSE },
        { "a,b,k\n1,,x\n", NULL, "train.csv:2:3: b: is blank, expected a number", ERR_PARSE },
        { "a,k\nnan,x\n", NULL, "train.csv:2:1: a: is \"nan\", expected a number", ERR_PARSE },
        { "a,k\n1e999,x\n", NULL, "train.csv:2:1: a: is \"1e999\", expected a number", ERR_PARSE },
        { "a,k\n1,x\n-2e100,x\n", NULL, "train.csv:3:1: a: is \"-2e100\", expected -1e100 to 1e100",
          ERR_RANGE },
        { "k,a\n,1\n", "k", "train.csv:2:1: k: is blank, expected a class", ERR_PARSE },
        { "a,k\n1,x\n2,x\n", NULL, "train.csv:3:1: k: is \"x\" in every row, expected at least 2 classes",
          ERR_RANGE },
        { "a,k\n1,\"x\n", NULL, "train.csv:2:3: quote is not closed on its line", ERR_PARSE },
        { "a,k\n\"1\"2,x\n", NULL, "train.csv:2:4: text after a closing quote, expected a comma", ERR_PARSE },
    };
    FILES(f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FAILS(read_train(&f, cases[i].csv, cases[i].label, e), cases[i].code, cases[i].message);
        assert_true(!f.train.x && !f.labels.label);
    }
}

TEST(what_a_test_file_has_otherwise_is_placed)
{
    CASES(const char *csv, *message; enum err_code code) = {
        { "a,b,c,k\n1,2,3,x\n", "test.csv:1:1: has 4 columns, expected 3 as in the training file",
          ERR_PARSE },
        { "b,a,k\n1,2,x\n", "test.csv:1:1: column is \"b\", expected \"a\" as in the training file",
          ERR_PARSE },
        { "a,b,kind\n1,2,x\n", "test.csv:1:1: has no column \"k\", required for the classes", ERR_PARSE },
        { "a,b,k\n1,2,z\n", "test.csv:2:5: k: is \"z\", expected a class of the training file", ERR_RANGE },
        { "a,b,k\n1,1,x\n1,2,w\n", "test.csv:3:5: k: is \"w\", expected a class of the training file",
          ERR_RANGE },
        { "a,b,k\n1,1,x\n1e100,2,x\n",
          "test.csv:3:1: a: is \"1e100\", expected at most 3e38 deviations from the mean of the training "
          "file",
          ERR_RANGE },
    };
    FILES(f);
    OK(read_train(&f, "a,b,k\n1,2,x\n2,7,y\n", NULL, e));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        *e = (struct err){ 0 };
        FAILS(read_test(&f, cases[i].csv, e), cases[i].code, cases[i].message);
        assert_true(!f.test.x && f.labels.n_classes == 2);
    }
}

TEST(classes_and_features_beyond_the_limits_are_refused)
{
    KEEP(struct text, csv, text_free) = { 0 };
    FILES(f);
    text_puts(&csv, "a,k\n");
    for (int i = 0; i <= GOSSIP_MAX_CLASSES; i++)
        text_printf(&csv, "1,%d\n", i);
    FAILS(read_train(&f, csv.s, NULL, e), ERR_RANGE,
          "train.csv:4098:3: k: \"4096\" is class 4097, expected at most 4096");
    text_clear(&csv);
    for (int i = 0; i <= GOSSIP_MAX_FEATURES; i++)
        text_printf(&csv, "c%d,", i);
    text_puts(&csv, "k\n");
    FAILS(read_train(&f, csv.s, NULL, e), ERR_RANGE,
          "train.csv:1: has more than 65537 fields, the most allowed many");
}

TEST(a_file_that_is_missing_is_named)
{
    KEEP(struct gossip_data, d, gossip_data_free);
    KEEP(struct gossip_labels, labels, gossip_labels_free) = { 0 };
    FAILS(gossip_data_read_csv(&d, &labels, "/nowhere/x.csv", NULL, e), ERR_PARSE,
          "/nowhere/x.csv: no such file");
    assert_null(d.x);
}
