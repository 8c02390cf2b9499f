/* What runs of a point, and those with one seed, share: made by hooks of the kind, let go of by others. */
#include "kinds/gossip/point.h"
#include "tests/unit/study_folder.h"

#define SMALL "network: switch:4@1\ndata: { train: 40, test: 10 }\n"

static void read_point(struct gossip_point *p, struct folder *f, const char *text)
{
    struct err e = { 0 };
    put(f, "study.yaml", text);
    assert_ok(gossip_point_read(p, &(struct study_source){ .path = f->path }, &e), &e);
}

static int prepare(struct gossip_point *p, struct err *e)
{
    struct gossip_shared shared;
    row_clear(&shared, gossip_kind.shared);
    return gossip_kind.prepare(p, &shared, e);
}

static void examples_are_those_of_a_point_and_seed(void **state)
{
    struct gossip_point p;
    struct gossip_examples x = { .train = { { 0 } } }, y = x;
    struct err e = { 0 };
    read_point(&p, *state, SMALL);
    assert_ok(prepare(&p, &e), &e);
    assert_non_null(p.fabric.graph);
    assert_ok(gossip_kind.seed_begin(&x, &p, 7, &e), &e);
    assert_int_equal(x.train[0].n, 40);
    assert_int_equal(x.test[0].n, 10);
    assert_int_equal(x.shards.n_workers, 4);
    assert_null(x.train[1].x); /* no drift */
    assert_ok(gossip_kind.seed_begin(&y, &p, 8, &e), &e);
    assert_memory_not_equal(x.train[0].x, y.train[0].x, sizeof(float) * 40);
    gossip_kind.seed_end(&x);
    assert_null(x.train[0].x);
    assert_null(x.shards.order);
    gossip_kind.seed_end(&y);
    gossip_point_free(&p);
}

static void a_drift_has_two_teachers_of_the_same_examples(void **state)
{
    struct gossip_point p;
    struct gossip_examples x = { .train = { { 0 } } };
    struct err e = { 0 };
    read_point(&p, *state, SMALL "drift_at: 0.5\n");
    assert_ok(prepare(&p, &e), &e);
    assert_ok(gossip_kind.seed_begin(&x, &p, 7, &e), &e);
    size_t n = (size_t)x.train[0].n;
    assert_memory_equal(x.train[0].x, x.train[1].x, n * 32 * sizeof *x.train[0].x);
    assert_memory_not_equal(x.train[0].y, x.train[1].y, n * sizeof *x.train[0].y);
    gossip_kind.seed_end(&x);
    gossip_point_free(&p);
}

/* The files may have changed since the point was read. */
static void own_examples_that_changed_meanwhile_fail_the_point(void **state)
{
    struct folder *f = *state;
    struct gossip_point p;
    struct err e = { 0 };
    static const char good[] = "x,class\n1,a\n2,b\n3,a\n4,b\n";
    put(f, "own.csv", good);
    read_point(&p, f, "network: switch:4@1\ndata: { train_csv: own.csv, test_csv: own.csv }\n");
    put(f, "own.csv", "x,class\n1\n");
    assert_fails(prepare(&p, &e), &e, ERR_PARSE, "own.csv:2");
    assert_null(p.own_train.x);
    gossip_point_free(&p);
    put(f, "own.csv", good);
    e = (struct err){ 0 };
    read_point(&p, f, "network: switch:4@1\ndata: { train_csv: own.csv, test_csv: own.csv }\n");
    assert_ok(prepare(&p, &e), &e);
    assert_int_equal(p.own_train.n, 4);
    gossip_point_free(&p);
}

#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(examples_are_those_of_a_point_and_seed),
        IN_FOLDER(a_drift_has_two_teachers_of_the_same_examples),
        IN_FOLDER(own_examples_that_changed_meanwhile_fail_the_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
