#include "tests/unit/training_fixture.h"

static const int32_t sizes_3d[] = { 4, 8, 4 };

TEST(axes_take_dimensions_from_the_inside)
{
    enum { TP = PLAN_TP, CP = PLAN_CP, DP = PLAN_DP, PP = PLAN_PP };
    CASES(int64_t degree[N_PLAN_AXES]; int32_t order[N_PLAN_AXES];
          const char *axis /* of each dimension, for tp, cp, dp, pp */) = {
        { { 4, 1, 8, 4 }, { TP, CP, DP, PP }, "411 111 181 114" },
        { { 4, 1, 8, 4 }, { PP, DP, TP, CP }, "114 111 181 411" },
        { { 2, 1, 16, 4 }, { TP, CP, DP, PP }, "211 111 281 114" },
        { { 16, 2, 2, 2 }, { TP, CP, DP, PP }, "441 121 112 112" },
        { { 2, 2, 32, 1 }, { CP, DP, TP, PP }, "112 211 282 111" },
        { { 128, 1, 1, 1 }, { TP, CP, DP, PP }, "484 111 111 111" },
    };
    const struct topo_network net = fixture_network(sizes_3d, 3);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const int64_t *n = cases[i].degree;
        struct plan p = fixture_plan(n[0], n[1], n[2], n[3], 1);
        struct plan_place place;
        for (int a = 0; a < N_PLAN_AXES; a++)
            p.order[a] = (enum plan_axis)cases[i].order[a];
        OK(plan_map(&place, &p, &net, e));
        for (int a = 0; a < N_PLAN_AXES; a++)
            for (int d = 0; d < 3; d++)
                assert_int_equal(place.axis[a][d], cases[i].axis[4 * a + d] - '0');
    }
}

#define GROUP(m1, m2, m3, s1, s2, s3)                                                                        \
    {                                                                                                        \
        { m1, m2, m3 },                                                                                      \
        {                                                                                                    \
            s1, s2, s3                                                                                       \
        }                                                                                                    \
    }

struct group_case {
    int64_t degree[N_PLAN_AXES], ep;
    bool expert_tp;
    enum plan_group group;
    int32_t want[2][3]; /* members, strides */
};

TEST(groups_have_the_members_and_strides_of_their_axes)
{
    static const struct group_case cases[] = {
        /* Half of the chips of a package; the other half is in the next group. */
        { { 2, 1, 16, 4 }, 1, false, PLAN_GROUP_TP, GROUP(2, 1, 1, 1, 1, 1) },
        { { 2, 1, 16, 4 }, 1, false, PLAN_GROUP_DP, GROUP(2, 8, 1, 2, 1, 1) },
        { { 2, 1, 16, 4 }, 1, false, PLAN_GROUP_PP, GROUP(1, 1, 4, 1, 1, 1) },
        /* Two dimensions for TP; the rest of the second for CP; DP and PP share the third. */
        { { 16, 2, 2, 2 }, 1, false, PLAN_GROUP_TP, GROUP(4, 4, 1, 1, 1, 1) },
        { { 16, 2, 2, 2 }, 1, false, PLAN_GROUP_CP, GROUP(1, 2, 1, 1, 4, 1) },
        { { 16, 2, 2, 2 }, 1, false, PLAN_GROUP_DP, GROUP(1, 2, 2, 1, 4, 1) },
        { { 16, 2, 2, 2 }, 1, false, PLAN_GROUP_PP, GROUP(1, 1, 2, 1, 1, 2) },
        /* Experts inside DP: 8 of the 32; gradients of an expert over the other 4. */
        { { 4, 1, 32, 1 }, 8, true, PLAN_GROUP_EP, GROUP(1, 8, 1, 1, 1, 1) },
        { { 4, 1, 32, 1 }, 8, true, PLAN_GROUP_EXPERTS, GROUP(1, 1, 4, 1, 1, 1) },
        { { 4, 1, 32, 1 }, 4, true, PLAN_GROUP_EP, GROUP(1, 4, 1, 1, 1, 1) },
        { { 4, 1, 32, 1 }, 4, true, PLAN_GROUP_EXPERTS, GROUP(1, 2, 4, 1, 4, 1) },
        /* Experts over the NPUs of TP first. */
        { { 4, 1, 32, 1 }, 8, false, PLAN_GROUP_EP, GROUP(4, 2, 1, 1, 1, 1) },
        { { 4, 1, 32, 1 }, 8, false, PLAN_GROUP_EXPERTS, GROUP(1, 4, 4, 1, 2, 1) },
        { { 2, 2, 32, 1 }, 4, false, PLAN_GROUP_EP, GROUP(4, 1, 1, 1, 1, 1) },
        { { 2, 2, 32, 1 }, 2, true, PLAN_GROUP_EP, GROUP(2, 1, 1, 2, 1, 1) },
        { { 4, 1, 32, 1 }, 1, false, PLAN_GROUP_EP, GROUP(1, 1, 1, 1, 1, 1) },
        { { 4, 1, 32, 1 }, 1, false, PLAN_GROUP_EXPERTS, GROUP(4, 8, 4, 1, 1, 1) },
    };
    const struct topo_network net = fixture_network(sizes_3d, 3);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const int64_t *n = cases[i].degree;
        WITH(struct plan, p, fixture_plan(n[0], n[1], n[2], n[3], 1), p.ep = cases[i].ep,
             p.expert_tp = cases[i].expert_tp);
        struct plan_place place;
        OK(plan_map(&place, &p, &net, e));
        for (int d = 0; d < 3; d++) {
            assert_int_equal(place.members[cases[i].group][d], cases[i].want[0][d]);
            assert_int_equal(place.stride[cases[i].group][d], cases[i].want[1][d]);
        }
    }
}

/* ---- by numbering every NPU ---- */

enum { MOST_NPUS = 4096 };

/* Marks the NPUs of a group that holds NPU 0; NPUs are numbered with the first dimension fastest. */
static void mark(bool *in, const int32_t *members, const int32_t *stride, const struct topo_network *net)
{
    memset(in, 0, MOST_NPUS * sizeof *in);
    for (int64_t npu = 0; npu < net->n_npus; npu++) {
        int64_t rest = npu;
        bool inside = true;
        for (int32_t d = 0; d < net->n_dims; d++) {
            int64_t a = rest % net->dims[d].size;
            rest /= net->dims[d].size;
            inside = inside && a % stride[d] == 0 && a / stride[d] < members[d];
        }
        in[npu] = inside;
    }
}

/* The same by rank: axes in their order are the digits of an NPU's number. */
static void mark_axis(bool *in, const struct plan *p, enum plan_axis axis)
{
    int64_t inner = 1;
    for (int i = 0; p->order[i] != axis; i++)
        inner *= p->degree[p->order[i]];
    memset(in, 0, MOST_NPUS * sizeof *in);
    for (int64_t k = 0; k < p->degree[axis]; k++)
        in[k * inner] = true;
}

static int64_t product(const int32_t *members, const struct topo_network *net)
{
    int64_t n = 1;
    for (int32_t d = 0; d < net->n_dims; d++)
        n *= members[d];
    return n;
}

TEST(axes_are_the_digits_of_an_NPUs_number)
{
    TABLE_OF(rows, enum plan_axis axis; enum plan_group group) = {
        { PLAN_TP, PLAN_GROUP_TP },
        { PLAN_CP, PLAN_GROUP_CP },
        { PLAN_PP, PLAN_GROUP_PP },
    };
    static bool by_place[MOST_NPUS], by_rank[MOST_NPUS];
    struct random_training x;
    RNG(r, 3, 0);
    for (int i = 0; i < 300; i++) {
        fixture_random(&x, r);
        const struct plan *p = &x.plan;
        assert_true(x.net.n_npus <= MOST_NPUS);
        for (size_t k = 0; k < COUNT_OF(rows); k++) {
            mark(by_place, x.place.members[rows[k].group], x.place.stride[rows[k].group], &x.net);
            mark_axis(by_rank, p, rows[k].axis);
            assert_memory_equal(by_place, by_rank, sizeof by_place);
        }
        int64_t dp = p->degree[PLAN_CP] * p->degree[PLAN_DP];
        int64_t around = dp * (p->expert_tp ? 1 : p->degree[PLAN_TP]);
        assert_int_equal(product(x.place.members[PLAN_GROUP_DP], &x.net), dp);
        assert_int_equal(product(x.place.members[PLAN_GROUP_EP], &x.net), p->ep);
        assert_int_equal(product(x.place.members[PLAN_GROUP_EXPERTS], &x.net), around / p->ep);
    }
}

TEST(a_degree_that_does_not_lie_along_the_dimensions_is_refused)
{
    CASES(int32_t sizes[2]; int64_t degree[N_PLAN_AXES], ep; const char *message) = {
        { { 4, 6 }, { 3, 1, 8, 1 }, 1, "tp: is 3, expected a size that divides along dimensions [4, 6]" },
        { { 4, 6 }, { 2, 3, 4, 1 }, 1, "cp: is 3, expected a size that divides along dimensions [2, 6]" },
        { { 4, 6 }, { 2, 1, 3, 4 }, 1, "dp: is 3, expected a size that divides along dimensions [2, 6]" },
        { { 4, 6 }, { 2, 1, 12, 1 }, 3, "ep: is 3, expected a size that divides along dimensions [2, 2, 6]" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct topo_network net = fixture_network(cases[i].sizes, 2);
        const int64_t *n = cases[i].degree;
        WITH(struct plan, p, fixture_plan(n[0], n[1], n[2], n[3], 1), p.ep = cases[i].ep);
        struct plan_place place;
        FAILS(plan_map(&place, &p, &net, e), ERR_RANGE, cases[i].message);
    }
}

TEST(the_picture_shows_what_each_axis_takes)
{
    CASES(int64_t degree[N_PLAN_AXES]; const char *want) = {
        { { 4, 1, 8, 4 },
          "third  switch:4     |- pp 4 --|\n"
          "d2     ring:8       |---- dp 8 ----|\n"
          "d1     ring:4       |- tp 4 --|\n" },
        { { 2, 1, 16, 4 },
          "third  switch:4     |- pp 4 --|\n"
          "d2     ring:8       |---- dp 8 ----|\n"
          "d1     ring:4       |- tp 2 -|- dp 2 -|\n" },
        { { 16, 2, 2, 2 },
          "third  switch:4     |- dp 2 -|- pp 2 -|\n"
          "d2     ring:8       |- tp 4 --|- cp 2 -|\n"
          "d1     ring:4       |- tp 4 --|\n" },
    };
    WITH(struct topo_network, net, fixture_network(sizes_3d, 3), net.dims[2].shape = TOPO_SWITCH);
    snprintf(net.dims[2].name, TOPO_NAME, "third");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const int64_t *n = cases[i].degree;
        struct plan p = fixture_plan(n[0], n[1], n[2], n[3], 1);
        struct plan_place place;
        KEEP(struct text, out, text_free) = { 0 };
        OK(plan_map(&place, &p, &net, e));
        plan_draw(&out, &p, &place, &net);
        assert_string_equal(text_str(&out), cases[i].want);
    }
}
