/* What runs share is built by the first, is one thing for all, and goes with the last. */
#include "kinds/gossip/point.h"
#include "tests/unit/study_folder.h"

#define SMALL "network: switch:4@1\ndata: { train: 40, test: 10 }\n"

static void read_point(struct gossip_point *p, struct folder *f, const char *text)
{
    struct err e = { 0 };
    put(f, "study.yaml", text);
    assert_ok(gossip_point_read(p, &(struct study_source){ .path = f->path }, &e), &e);
}

static void examples_last_from_the_first_run_to_the_last(void **state)
{
    struct gossip_point p;
    struct gossip_grid g = { 0 };
    struct gossip_examples x = { 0 };
    struct err e = { 0 };
    const struct topo_graph *graph = NULL;
    const float *train = NULL;
    read_point(&p, *state, SMALL);
    gossip_grid_begin(&g, 3);
    gossip_examples_begin(&x, 3);
    assert_null(g.graph);
    for (int i = 0; i < 3; i++) {
        assert_ok(gossip_grid_take(&g, &p, &e), &e);
        assert_ok(gossip_examples_take(&x, &g, &p, 7, &e), &e);
        assert_true(i == 0 || (g.graph == graph && x.train[0].x == train));
        graph = g.graph;
        train = x.train[0].x;
        assert_int_equal(x.train[0].n, 40);
        assert_int_equal(x.test[0].n, 10);
        assert_int_equal(x.shards.n_workers, 4);
        assert_null(x.train[1].x); /* no drift */
        gossip_examples_leave(&x);
        gossip_grid_leave(&g);
    }
    assert_null(g.graph);
    assert_null(x.train[0].x);
    assert_null(x.shards.order);
    gossip_examples_free(&x);
    gossip_grid_free(&g);
    gossip_point_free(&p);
}

static void a_drift_has_two_teachers_of_the_same_examples(void **state)
{
    struct gossip_point p;
    struct gossip_grid g = { 0 };
    struct gossip_examples x = { 0 };
    struct err e = { 0 };
    read_point(&p, *state, SMALL "drift_at: 0.5\n");
    gossip_grid_begin(&g, 1);
    gossip_examples_begin(&x, 1);
    assert_ok(gossip_grid_take(&g, &p, &e), &e);
    assert_ok(gossip_examples_take(&x, &g, &p, 7, &e), &e);
    size_t n = (size_t)x.train[0].n;
    assert_memory_equal(x.train[0].x, x.train[1].x, n * 32 * sizeof *x.train[0].x);
    assert_memory_not_equal(x.train[0].y, x.train[1].y, n * sizeof *x.train[0].y);
    gossip_examples_free(&x); /* of a run that never left */
    gossip_grid_free(&g);
    gossip_point_free(&p);
}

/* The files may have changed since the point was read. */
static void what_cannot_be_built_leaves_nothing_and_may_be_tried_again(void **state)
{
    struct folder *f = *state;
    struct gossip_point p;
    struct gossip_grid g = { 0 };
    struct err e = { 0 };
    static const char good[] = "x,class\n1,a\n2,b\n3,a\n4,b\n";
    put(f, "own.csv", good);
    read_point(&p, f, "network: switch:4@1\ndata: { train_csv: own.csv, test_csv: own.csv }\n");
    gossip_grid_begin(&g, 2);
    put(f, "own.csv", "x,class\n1\n");
    assert_fails(gossip_grid_take(&g, &p, &e), &e, ERR_PARSE, "own.csv:2");
    assert_null(g.graph);
    assert_null(g.train.x);
    gossip_grid_leave(&g);
    put(f, "own.csv", good);
    e = (struct err){ 0 };
    assert_ok(gossip_grid_take(&g, &p, &e), &e);
    assert_int_equal(g.train.n, 4);
    gossip_grid_leave(&g);
    assert_null(g.train.x);
    gossip_grid_free(&g);
    gossip_point_free(&p);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(examples_last_from_the_first_run_to_the_last),
        IN_FOLDER(a_drift_has_two_teachers_of_the_same_examples),
        IN_FOLDER(what_cannot_be_built_leaves_nothing_and_may_be_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
