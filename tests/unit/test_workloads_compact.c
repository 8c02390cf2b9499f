#include "workloads/readers/readers.h"

#include "tests/unit/step_oracle.h"

enum { MOST = 256 };

/* Leaves a, b, ... are computations of 1, 2, 4 ... s. */
static compact_id leaf(struct compact *c, char letter)
{
    struct step_node node = { .kind = STEP_COMPUTE, .seconds = (double)(1 << (letter - 'a')), .times = 1 };
    snprintf(node.name, sizeof node.name, "%c", letter);
    return compact_leaf(c, &node);
}

/* A row of letters, one after the other, as a fold of sums that lean to the left. */
static void row(struct fold *f, compact_id *leaf_of, struct compact *c, const char *letters,
                enum fold_kind kind)
{
    *f = (struct fold){ .nodes = calloc(2 * MOST, sizeof *f->nodes), .root = -1 };
    assert_non_null(f->nodes);
    for (int32_t i = 0; letters[i]; i++) {
        leaf_of[i] = leaf(c, letters[i]);
        f->nodes[f->n_nodes] = (struct fold_node){ FOLD_TASK, 0, i, -1 };
        fold_id task = f->n_nodes++;
        if (f->root >= 0) {
            f->nodes[f->n_nodes] = (struct fold_node){ kind, 0, f->root, task };
            task = f->n_nodes++;
        }
        f->root = task;
    }
}

static void print(struct text *out, const struct step_tree *t, step_id id)
{
    const struct step_node *node = &t->nodes[id];
    if (node->kind == STEP_COMPUTE) {
        text_printf(out, "%g", node->seconds);
        return;
    }
    if (node->kind == STEP_REPEAT)
        text_printf(out, "%g", node->times);
    text_puts(out, node->kind == STEP_MAX ? "max(" : "(");
    for (step_id child = node->first; child >= 0; child = t->nodes[child].next) {
        print(out, t, child);
        if (t->nodes[child].next >= 0)
            text_puts(out, " ");
    }
    text_puts(out, ")");
}

static void check(const char *letters, enum fold_kind kind, const char *want)
{
    static const int32_t sizes[] = { 4 };
    struct topo_network net = oracle_network(sizes, 1);
    KEEP(struct compact, c, compact_free) = { 0 };
    KEEP(struct fold, f, fold_free);
    KEEP(struct text, out, text_free) = { 0 };
    compact_id leaf_of[MOST], root;
    row(&f, leaf_of, &c, letters, kind);
    MUST(compact_fold(&c, &root, &f, leaf_of, e));
    STEP_BEGIN(t, "", &net);
    compact_write(&c, &t, -1, root);
    print(&out, &t, t.root);
    assert_string_equal(text_str(&out), want);
}

/* Letters a b c d e f are 1 2 4 8 16 32; equal computations in a row are one of their sum. */
TEST(rows_of_equal_parts_become_repeats)
{
    CASES(const char *letters, *want) = {
        { "a", "1" },
        { "ab", "(1 2)" },
        { "aaa", "3" },
        { "ababab", "3((1 2))" },
        { "cabababd", "(4 3((1 2)) 8)" },
        { "abcabcab", "(2((1 2 4)) 1 2)" },
        { "aabaab", "2((2 2))" },
        { "ababcababc", "2((2((1 2)) 4))" },
        { "ababcababcdababcababcd", "2((2((2((1 2)) 4)) 8))" },
        { "abcdef", "(1 2 4 8 16 32)" },
        { "abab", "2((1 2))" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(cases[i].letters, FOLD_SUM, cases[i].want);
}

TEST(a_maximum_keeps_its_parts_in_one_order)
{
    check("abc", FOLD_MAX, "max(1 2 4)");
    check("aab", FOLD_MAX, "max(1 1 2)");
}

TEST(equal_expressions_have_one_number_whatever_their_names)
{
    KEEP(struct compact, c, compact_free) = { 0 };
    compact_id leaf_of[MOST], root[4];
    static const char *const rows[] = { "abc", "abc", "acb", "abcabc" };
    for (int i = 0; i < 4; i++) {
        KEEP(struct fold, f, fold_free);
        row(&f, leaf_of, &c, rows[i], FOLD_SUM);
        OK(compact_fold(&c, &root[i], &f, leaf_of, e));
    }
    assert_int_equal(root[0], root[1]);
    assert_int_not_equal(root[0], root[2]);
    assert_int_not_equal(root[0], root[3]);
    struct step_node named = { .kind = STEP_COMPUTE, .seconds = 1, .times = 1, .name = "another name" };
    assert_int_equal(compact_leaf(&c, &named), leaf(&c, 'a'));
    named.priority = 1;
    assert_int_not_equal(compact_leaf(&c, &named), leaf(&c, 'a'));
    compact_free(&c);
}

/* Whatever the letters, the time is their sum, and two runs give the same. */
TEST(the_time_is_that_of_the_row)
{
    static const int32_t sizes[] = { 4 };
    struct topo_network net = oracle_network(sizes, 1);
    uint32_t x = 3;
    for (int turn = 0; turn < 500; turn++) {
        char letters[MOST] = "";
        double want_s = 0;
        KEEP(struct compact, c, compact_free) = { 0 };
        KEEP(struct fold, f, fold_free);
        compact_id leaf_of[MOST], root;
        for (int i = 0; i < 100; i++) {
            x = x * 1664525 + 1013904223;
            letters[i] = (char)('a' + (int)((x >> 16) % ((uint32_t)turn % 3 + 1)));
            want_s += (double)(1 << (letters[i] - 'a'));
        }
        row(&f, leaf_of, &c, letters, FOLD_SUM);
        OK(compact_fold(&c, &root, &f, leaf_of, e));
        STEP_BEGIN(t, "", &net);
        compact_write(&c, &t, -1, root);
        assert_close(oracle_time(&t, t.root, NULL), want_s, 1e-15);
    }
}

TEST(nothing_is_nothing)
{
    KEEP(struct compact, c, compact_free) = { 0 };
    struct fold f = { .root = -1 };
    compact_id root = 5;
    OK(compact_fold(&c, &root, &f, NULL, e));
    assert_int_equal(root, -1);
}
