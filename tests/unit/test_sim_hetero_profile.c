#include "sim/hetero/profile.h"
#include "tests/support.h"

static void good_profile(struct hetero_profile *p)
{
    MUST(hetero_profile_build(p, 3, 2, e));
    for (int32_t l = 0; l < 3; l++)
        snprintf(p->layers[l].name, sizeof p->layers[l].name, "fc%d", (int)l);
    snprintf(p->types[0].name, sizeof p->types[0].name, "cpu");
    snprintf(p->types[1].name, sizeof p->types[1].name, "gpu");
    p->compute_s[0] = 2;
    p->sync_s[1] = 1;
    MUST(hetero_profile_check(p, e));
}

TEST(a_new_profile_has_no_limits_and_no_hosts)
{
    KEEP(struct hetero_profile, p, hetero_profile_free);
    OK(hetero_profile_build(&p, HETERO_MAX_LAYERS, HETERO_MAX_TYPES, e));
    for (int32_t t = 0; t < HETERO_MAX_TYPES; t++) {
        assert_true(p.types[t].max_units == HETERO_MAX_UNITS && p.types[t].host == -1);
        assert_true(isinf(p.types[t].nic_Bps) && p.types[t].usd_per_h == 0);
    }
    for (size_t i = 0; i < (size_t)HETERO_MAX_LAYERS * HETERO_MAX_TYPES; i++)
        assert_true(p.compute_s[i] == 0 && p.sync_s[i] == 0 && p.handover_s[i] == 0);
    hetero_profile_free(&p);
}

TEST(every_kind_of_layer_has_a_word)
{
    assert_string_equal(hetero_kind_words[HETERO_EMBEDDING], "embedding");
    assert_string_equal(hetero_kind_words[HETERO_FC], "fc");
    assert_string_equal(hetero_kind_words[HETERO_BLOCK], "block");
    for (int i = 0; i < N_HETERO_KINDS; i++)
        assert_non_null(hetero_kind_words[i]);
    assert_null(hetero_kind_words[N_HETERO_KINDS]);
}

/* ---- what is refused ---- */

/* What is wrong with a profile that is good but for that: REFUSED(sets it wrong, message). */
static void assert_refused(struct hetero_profile *p, const char *message)
{
    struct err e = { 0 };
    assert_fails(hetero_profile_check(p, &e), &e, ERR_RANGE, message);
    hetero_profile_free(p);
    good_profile(p);
}

#define REFUSED(message, ...)                                                                                \
    do {                                                                                                     \
        __VA_ARGS__;                                                                                         \
        assert_refused(p, message);                                                                          \
    } while (0)

TEST(a_value_out_of_range_is_refused)
{
    struct hetero_profile profile, *const p = &profile;
    good_profile(p);
    REFUSED("layers[2] 'fc2' on 'gpu': compute is nan s, expected >= 0", p->compute_s[5] = NAN);
    REFUSED("layers[1] 'fc1' on 'cpu': synchronisation is -1 s, expected >= 0", p->sync_s[2] = -1);
    REFUSED("layers[0] 'fc0' on 'gpu': handover is inf s, expected >= 0", p->handover_s[1] = INFINITY);
    /* Layer 0 now takes time on the CPU alone, and layer 1 on the GPU alone: a plan can do without. */
    REFUSED("layers: each takes no time on some type, expected one that does on all", p->sync_s[1] = 0,
            p->sync_s[3] = 1);
    /* Not paid by the last layer, nor where the network tells. */
    REFUSED("layers: each takes no time on some type, expected one that does on all", p->sync_s[1] = 0,
            p->handover_s[1] = 1);
    hetero_profile_free(p);
}

/* ---- Amdahl ---- */

TEST(the_parallel_share_is_found_in_two_times)
{
    static const double shares[] = { 0, 0.25, 0.5, 0.95, 1 };
    static const int64_t units[] = { 2, 3, 8, 1000 };
    for (size_t i = 0; i < COUNT_OF(shares); i++)
        for (size_t k = 0; k < COUNT_OF(units); k++) {
            double one_s = 7, k_s = one_s * (1 - shares[i] + shares[i] / (double)units[k]);
            assert_near(hetero_parallel_frac(one_s, k_s, units[k]), shares[i], 1e-14);
        }
}

/* Slower with more units, or more than k times as fast: noise, or caches. */
TEST(a_parallel_share_stays_a_share)
{
    assert_true(hetero_parallel_frac(1, 1.5, 4) == 0 && hetero_parallel_frac(1, 0.2, 4) == 1);
    assert_true(hetero_parallel_frac(0, 0, 4) == 0); /* nothing to share */
}
