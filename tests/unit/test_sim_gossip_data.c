/* Drawn examples and shards: who has what, and how often. */
#include "sim/gossip/data.h"
#include "tests/gossip_fixture.h"
#include "tests/support.h"

static struct gossip_teacher small(void)
{
    WITH(struct gossip_teacher, t, gossip_fixture_teacher(), t.n_train = 4000, t.n_test = 1000);
    return t;
}

static void teach(struct gossip_data *train, struct gossip_data *test, const struct gossip_teacher *t)
{
    MUST(gossip_teach(train, test, t, e));
}

/* Training examples that is released where the block ends. */
#define TEACH(v, ...)                                                                                        \
    KEEP(struct gossip_data, v, gossip_data_free);                                                           \
    teach(&v, __VA_ARGS__)

/* Mean 0 and variance 1, each within five deviations of its estimate. */
TEST(features_are_normal)
{
    struct gossip_teacher t = small();
    KEEP(struct gossip_data, test, gossip_data_free);
    double sum = 0, square = 0;
    TEACH(train, &test, &t);
    double n = (double)train.n * train.n_features;
    for (int64_t i = 0; i < train.n * train.n_features; i++) {
        sum += train.x[i];
        square += (double)train.x[i] * train.x[i];
    }
    assert_true(fabs(sum / n) < 5 / sqrt(n) && fabs(square / n - 1) < 5 * sqrt(2 / n));
}

/* A class that is drawn at random is the teacher's own with probability 1/10. */
TEST(noise_mislabels_its_share_of_the_training_examples_alone)
{
    WITH(struct gossip_teacher, noisy, small(), noisy.noise = 0.5);
    WITH(struct gossip_teacher, clean, small(), clean.noise = 0);
    KEEP(struct gossip_data, test_a, gossip_data_free);
    KEEP(struct gossip_data, test_b, gossip_data_free);
    int64_t differ = 0;
    TEACH(a, &test_a, &noisy);
    TEACH(b, &test_b, &clean);
    assert_memory_equal(a.x, b.x, (size_t)(a.n * a.n_features) * sizeof *a.x);
    assert_memory_equal(test_a.y, test_b.y, (size_t)test_a.n * sizeof *test_a.y);
    for (int64_t i = 0; i < a.n; i++)
        differ += a.y[i] != b.y[i];
    double share = 0.5 * 0.9, n = (double)a.n;
    assert_true(fabs((double)differ / n - share) < 5 * sqrt(share * (1 - share) / n));
}

/* tanh(x w1) times w2 of each class: without a bias the sign of x alone decides, as the teacher is odd. With
 * many hidden ones it is odd as well: of two classes each has half of the examples. */
TEST(a_teacher_has_no_bias)
{
    struct gossip_teacher t = small();
    t.n_features = t.hidden = 1;
    t.n_classes = 2;
    t.noise = 0;
    for (t.seed = 1; t.seed <= 5; t.seed++) {
        KEEP(struct gossip_data, test, gossip_data_free);
        int32_t of_sign[2] = { -1, -1 };
        TEACH(train, &test, &t);
        for (int64_t i = 0; i < train.n; i++) {
            int32_t *want = &of_sign[train.x[i] > 0];
            *want = *want < 0 ? train.y[i] : *want;
            assert_int_equal(train.y[i], *want);
        }
        assert_int_equal(of_sign[0] + of_sign[1], 1);
    }
    t.n_features = 8;
    t.hidden = 50;
    KEEP(struct gossip_data, test, gossip_data_free);
    TEACH(train, &test, &t);
    int64_t n_of_0 = 0;
    for (int64_t i = 0; i < train.n; i++)
        n_of_0 += train.y[i] == 0;
    assert_near((double)n_of_0 / (double)train.n, 0.5, 5 * 0.5 / sqrt((double)train.n));
}

TEST(a_drifted_teacher_says_otherwise_of_the_same_examples)
{
    struct gossip_teacher before = small(), after = small();
    KEEP(struct gossip_data, test_a, gossip_data_free);
    KEEP(struct gossip_data, test_b, gossip_data_free);
    int64_t differ = 0;
    after.version = 1;
    TEACH(a, &test_a, &before);
    TEACH(b, &test_b, &after);
    assert_memory_equal(a.x, b.x, (size_t)(a.n * a.n_features) * sizeof *a.x);
    for (int64_t i = 0; i < test_a.n; i++)
        differ += test_a.y[i] != test_b.y[i];
    assert_true(differ > test_a.n / 2);
}

TEST(shards_share_all_examples_evenly)
{
    WITH(struct gossip_teacher, t, small(), t.n_train = 1003);
    KEEP(struct gossip_data, test, gossip_data_free);
    TEACH(train, &test, &t);
    for (int how = 0; how < N_GOSSIP_SHARDINGS; how++)
        for (int32_t workers = 1; workers <= 1003; workers = workers * 3 + 1) {
            KEEP(struct gossip_shards, s, gossip_shards_free);
            bool seen[1003] = { false };
            OK(gossip_shards_build(&s, &train, workers, (enum gossip_sharding)how, 1, e));
            assert_int_equal(s.first[0], 0);
            assert_int_equal(s.first[workers], train.n);
            for (int32_t w = 0; w < workers; w++) {
                int64_t n = s.first[w + 1] - s.first[w];
                assert_true(n == train.n / workers || n == train.n / workers + 1);
            }
            for (int64_t i = 0; i < train.n; i++) {
                assert_false(seen[s.order[i]]);
                seen[s.order[i]] = true;
            }
        }
}

TEST(skewed_shards_are_sorted_by_class)
{
    struct gossip_teacher t = small();
    KEEP(struct gossip_data, test, gossip_data_free);
    KEEP(struct gossip_shards, s, gossip_shards_free);
    TEACH(train, &test, &t);
    OK(gossip_shards_build(&s, &train, 8, GOSSIP_SKEW, 1, e));
    for (int64_t i = 1; i < train.n; i++)
        assert_true(train.y[s.order[i - 1]] <= train.y[s.order[i]]);
}

TEST(what_cannot_be_is_refused)
{
    struct gossip_teacher t = small();
    struct gossip_data train, test;
    struct gossip_shards s;
    teach(&train, &test, &t);
    FAILS(gossip_shards_build(&s, &train, 4001, GOSSIP_IID, 1, e), ERR_RANGE,
          "workers: are 4001 for 4000 examples");
    assert_null(s.order);
    gossip_data_free(&train);
    gossip_data_free(&test);
    t.noise = NAN;
    FAILS(gossip_teach(&train, &test, &t, e), ERR_RANGE, "noise is nan, expected 0 to 1");
    t = small();
    t.n_classes = 1;
    FAILS(gossip_teach(&train, &test, &t, e), ERR_RANGE, "classes: are 1, expected 2 to 4096");
    assert_null(train.x);
}
