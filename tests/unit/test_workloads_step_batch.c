/* T(B) by vectors: the bits of one point at a time, whatever the length of the vectors. */
#include "tests/unit/split_random.h"

#include "tests/support.h"
#include "workloads/step_fn.h"

enum { D = TOPO_MAX_DIMS, N = 53 };

static bool has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return true;
#endif
}

static void draw(double columns[D][N], const double **bw_Bps, struct rng *r)
{
    for (int32_t d = 0; d < D; d++) {
        bw_Bps[d] = columns[d];
        for (int k = 0; k < N; k++)
            columns[d][k] = rng_below(r, 20) ? rng_log_range(r, 1e8, 1e13) : 0;
    }
}

static void check_points(const struct step_fn *f, const double *const *bw_Bps, int64_t n, const double *got_s)
{
    for (int64_t k = 0; k < n; k++) {
        double point[D], want_s;
        for (int32_t d = 0; d < f->n_dims; d++)
            point[d] = bw_Bps[d][k];
        want_s = step_time(f, point);
        assert_memory_equal(&got_s[k], &want_s, sizeof want_s);
    }
}

TEST(every_length_of_vectors_gives_the_bits_of_single_points)
{
    RNG(r, 61, 0);
    for (int i = 0; i < 400; i++) {
        double columns[D][N], got_s[N];
        const double *bw_Bps[D];
        RANDOM_SPLIT(s, r, .n_dims = 1 + i % D, .n_collectives = 20, .compute = i % 3 > 0, .overlap = i % 2);
        draw(columns, bw_Bps, r);
        int64_t n = i % (N + 1), done = step_batch_2(&s.fn, bw_Bps, n, got_s);
        assert_in_range(done, n - n % 8, n);
        check_points(&s.fn, bw_Bps, done, got_s);
        if (has_avx2()) {
            done = step_batch_4(&s.fn, bw_Bps, n, got_s);
            assert_in_range(done, n - n % 16, n);
            check_points(&s.fn, bw_Bps, done, got_s);
        }
    }
}

TEST(less_than_a_block_is_left_to_the_caller)
{
    static const double traffic_GB[1][D] = { { 1, 2, 3, 4, 5 } };
    const double one_Bps[1] = { 1e9 }, *bw_Bps[D] = { one_Bps, one_Bps, one_Bps, one_Bps, one_Bps };
    double out_s = -1;
    PLAIN_SPLIT(s, 5, traffic_GB, 1, 0.5);
    assert_true(step_batch_2(&s.fn, bw_Bps, 0, &out_s) == 0 && out_s == -1);
    step_time_batch(&s.fn, bw_Bps, 1, &out_s);
    assert_true(out_s == 5.5);
}
