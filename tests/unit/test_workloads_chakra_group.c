#include "workloads/readers/readers.h"

#include "tests/unit/step_oracle.h"

static const int32_t three_dims[] = { 4, 3, 8 };

struct fixture {
    struct topo_network net;
    struct step_tree tree;
    struct yaml_doc doc;
};

static void begin(struct fixture *f, const char *json)
{
    f->net = oracle_network(three_dims, 3);
    step_begin(&f->tree, "t", &f->net);
    MUST(yaml_read_text(&f->doc, "g.json", json, strlen(json), e));
}

static void release(struct fixture *f)
{
    step_free(&f->tree);
    yaml_free(&f->doc);
}

#define FIXTURE(f, json)                                                                                     \
    KEEP(struct fixture, f, release);                                                                        \
    begin(&f, json)

TEST(rectangles_of_ranks_have_members_and_strides)
{
    CASES(const char *json; int32_t rank, members[3], stride[3]) = {
        { "{\"1\": [0, 1, 2, 3]}", 2, { 4, 1, 1 }, { 1, 1, 1 } },
        { "{\"1\": [3, 1, 2, 0]}", 0, { 4, 1, 1 }, { 1, 1, 1 } },
        { "{\"1\": [5, 7]}", 7, { 2, 1, 1 }, { 2, 1, 1 } },
        { "{\"1\": [6, 7]}", 7, { 2, 1, 1 }, { 1, 1, 1 } },
        { "{\"1\": [1, 5, 9]}", 9, { 1, 3, 1 }, { 1, 1, 1 } },
        { "{\"1\": [0, 24, 48, 72]}", 0, { 1, 1, 4 }, { 1, 1, 2 } },
        { "{\"1\": [12, 60]}", 12, { 1, 1, 2 }, { 1, 1, 4 } },
        { "{\"1\": [0, 2, 4, 6, 8, 10, 48, 50, 52, 54, 56, 58]}", 0, { 2, 3, 2 }, { 2, 1, 4 } },
        { "{\"1\": [17]}", 17, { 1, 1, 1 }, { 1, 1, 1 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int32_t g = -1, again = -1;
        FIXTURE(f, cases[i].json);
        OK(chakra_process_group(&g, &f.tree, &f.net, &f.doc, "1", cases[i].rank, e));
        assert_string_equal(f.tree.groups[g].name, "group 1");
        for (int d = 0; d < 3; d++) {
            assert_int_equal(f.tree.groups[g].members[d], cases[i].members[d]);
            assert_int_equal(f.tree.groups[g].stride[d], cases[i].stride[d]);
        }
        OK(chakra_process_group(&again, &f.tree, &f.net, &f.doc, "1", cases[i].rank, e));
        assert_int_equal(again, g);
    }
}

TEST(every_rank_together_is_all)
{
    KEEP(struct fixture, f, release);
    KEEP(struct text, json, text_free) = { 0 };
    int32_t g = -1;
    for (int i = 0; i < 96; i++)
        text_printf(&json, "%s%d", i ? ", " : "{\"1\": [", i);
    text_puts(&json, "]}");
    begin(&f, text_str(&json));
    OK(chakra_process_group(&g, &f.tree, &f.net, &f.doc, "1", 95, e));
    assert_int_equal(g, 0);
}

TEST(ranks_that_are_no_rectangle_are_refused_by_name)
{
    static const char shape[] = "g.json:1:7: communicator group \"1\" is not a box in the dimensions [4, 3, "
                                "8]; steps along each must be equal";
    CASES(const char *json; int code; const char *message) = {
        { "{\"1\": [0, 1, 3]}", ERR_RANGE, shape },
        { "{\"1\": [0, 1, 2]}", ERR_RANGE, shape },
        { "{\"1\": [0, 3]}", ERR_RANGE, shape },
        { "{\"1\": [0, 5]}", ERR_RANGE, shape },
        { "{\"1\": [0, 1, 4, 6]}", ERR_RANGE, shape },
        { "{\"1\": [0, 1, 4]}", ERR_RANGE, shape },
        { "{\"1\": [0, 1, 12, 13, 24]}", ERR_RANGE, shape },
        /* Right but for the place: pairs begin at even ranks. */
        { "{\"1\": [0, 4, 1, 5, 2]}", ERR_RANGE, shape },
        { "{\"1\": [0, 1, 1]}", ERR_RANGE, "g.json:1:7: 1 has rank 1 twice" },
        { "{\"1\": [0, 96]}", ERR_RANGE, "g.json:1:11: 1[1] is 96, expected 0 to 95" },
        { "{\"1\": [4, 5]}", ERR_RANGE, "1 does not have rank 0, whose trace names it" },
        { "{\"1\": []}", ERR_PARSE, "1 is empty, expected at least one rank" },
        { "{\"1\": 5}", ERR_PARSE, "expected a list" },
        { "{\"1\": [x]}", ERR_PARSE, "1[0]" },
        { "{\"2\": [0]}", ERR_PARSE, "g.json:1:1: document has no communicator group \"1\"" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int32_t g;
        FIXTURE(f, cases[i].json);
        FAILS(chakra_process_group(&g, &f.tree, &f.net, &f.doc, "1", 0, e), cases[i].code, cases[i].message);
        assert_int_equal(f.tree.n_groups, 1);
    }
}

TEST(a_group_that_no_others_complete_is_refused)
{
    KEEP(struct fixture, f, release);
    int32_t g;
    begin(&f, "{\"1\": [1, 2]}");
    FAILS(chakra_process_group(&g, &f.tree, &f.net, &f.doc, "1", 1, e), ERR_RANGE,
          "communicator group \"1\" is not a box in the dimensions");
}

TEST(there_is_a_cap_on_groups)
{
    int32_t g, members[TOPO_MAX_DIMS] = { 1, 1, 1 }, stride[TOPO_MAX_DIMS] = { 1, 1, 1 };
    int rc = 0;
    FIXTURE(f, "{}");
    for (int i = 1; i <= 70 && !rc; i++) {
        stride[0] = i;
        rc = chakra_take_group(&g, &f.tree, "x", members, stride, e);
    }
    assert_int_equal(rc, ERR_RANGE);
    assert_has(e->msg, "t: group \"x\" is one too many, expected at most 64 different ones");
}
