/* What runs of a point, and those with one seed, share: made by hooks of the kind, let go of by others. */
#include "kinds/gossip/gossip.h"
#include "tests/unit/study_folder.h"

#define SMALL "network: switch:4@1\ndata: { train: 40, test: 10 }\n"

static void read_point(struct gossip_point *p, struct folder *f, const char *text)
{
    put(f, "study.yaml", text);
    MUST(gossip_point_read(p, &(struct study_source){ .path = f->path }, e));
}

static int prepare(struct gossip_point *p, struct err *e)
{
    struct gossip_shared shared;
    row_clear(&shared, gossip_kind.shared);
    return gossip_kind.prepare(p, &shared, NULL, e);
}

TEST_WITH(examples_are_those_of_a_point_and_seed, make_folder, remove_folder)
{
    KEEP(struct gossip_point, p, gossip_point_free);
    struct gossip_examples x = { .train = { { 0 } } }, y = x;
    read_point(&p, *state, SMALL);
    OK(prepare(&p, e));
    assert_non_null(p.fabric.graph);
    OK(gossip_kind.seed_begin(&x, &p, 7, e));
    assert_true(x.train[0].n == 40 && x.test[0].n == 10 && x.shards.n_workers == 4);
    assert_null(x.train[1].x); /* no drift */
    OK(gossip_kind.seed_begin(&y, &p, 8, e));
    assert_memory_not_equal(x.train[0].x, y.train[0].x, sizeof(float) * 40);
    gossip_kind.seed_end(&x);
    assert_true(!x.train[0].x && !x.shards.order);
    gossip_kind.seed_end(&y);
}

TEST_WITH(a_drift_has_two_teachers_of_the_same_examples, make_folder, remove_folder)
{
    KEEP(struct gossip_point, p, gossip_point_free);
    struct gossip_examples x = { .train = { { 0 } } };
    read_point(&p, *state, SMALL "drift_at: 0.5\n");
    OK(prepare(&p, e));
    OK(gossip_kind.seed_begin(&x, &p, 7, e));
    size_t n = (size_t)x.train[0].n;
    assert_memory_equal(x.train[0].x, x.train[1].x, n * 32 * sizeof *x.train[0].x);
    assert_memory_not_equal(x.train[0].y, x.train[1].y, n * sizeof *x.train[0].y);
    gossip_kind.seed_end(&x);
}

/* The files may have changed since the point was read. */
TEST_WITH(own_examples_that_changed_meanwhile_fail_the_point, make_folder, remove_folder)
{
    struct folder *f = *state;
    struct gossip_point p;
    static const char good[] = "x,class\n1,a\n2,b\n3,a\n4,b\n";
    put(f, "own.csv", good);
    read_point(&p, f, "network: switch:4@1\ndata: { train_csv: own.csv, test_csv: own.csv }\n");
    put(f, "own.csv", "x,class\n1\n");
    FAILS(prepare(&p, e), ERR_PARSE, "own.csv:2");
    assert_null(p.own_train.x);
    gossip_point_free(&p);
    put(f, "own.csv", good);
    *e = (struct err){ 0 };
    read_point(&p, f, "network: switch:4@1\ndata: { train_csv: own.csv, test_csv: own.csv }\n");
    OK(prepare(&p, e));
    assert_int_equal(p.own_train.n, 4);
    gossip_point_free(&p);
}
