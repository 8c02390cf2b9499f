/* Collectives by any paths against closed forms: trees, whose paths are no choice, and tori, whose cuts are
 * known; the cuts that are kept for a split. */
#include "tests/support.h"

#include "tests/unit/folder.h"
#include "workloads/ideal.h"

KEEPS(struct ideal, ideal_free)

#define HEAD "src,dst,bw_GBps,latency_ns,class\n"

/* 2 pods of 4 NPUs: a link of 10 GB/s each to the pod's switch, 20 GB/s from there to the top. */
static const char tree[] = HEAD "a,switch0,10,1,leaf\nb,switch0,10,1,leaf\nc,switch0,10,1,leaf\n"
                                "d,switch0,10,1,leaf\ne,switch1,10,1,leaf\nf,switch1,10,1,leaf\n"
                                "g,switch1,10,1,leaf\nh,switch1,10,1,leaf\n"
                                "switch0,switch2,20,1,up\nswitch1,switch2,20,1,up\n";
static const char line[] = HEAD "a,b,10,1,leaf\nb,c,10,1,leaf\nc,d,10,1,leaf\n";

/* Classes of the graph, innermost first, with so many members and such an efficiency each. */
static int open_graph(struct ideal **x, struct topo_network *net, const char *csv, const char *const *classes,
                      const int32_t *sizes, const double *efficiency, struct err *e)
{
    FOLDER(f);
    int32_t at;
    topo_network_defaults(net);
    for (; *classes; classes++) {
        struct topo_dim *dim = &net->dims[net->n_dims];
        topo_dim_defaults(dim, net->n_dims);
        snprintf(dim->name, sizeof dim->name, "%s", *classes);
        dim->size = sizes[net->n_dims];
        dim->efficiency = efficiency[net->n_dims++];
    }
    return ideal_open(x, net, put(&f, "net.csv", csv), &at, e);
}

static struct step_group group_of(int32_t inner, int32_t outer, int32_t stride)
{
    return (struct step_group){ .members = { inner, outer }, .stride = { stride, 1 } };
}

TEST(collectives_on_a_tree_take_what_its_links_carry)
{
    static const char *const classes[] = { "leaf", "up", NULL };
    /* Bytes over S that a class carries, times S over its bandwidth: both directions of all links in the
     * mean, and its busiest. */
    CASES(enum collective_kind kind; int32_t inner, outer; double leaf, up, leaf_mean, up_mean) = {
        { COLLECTIVE_ALL_TO_ALL, 4, 2, 7 / 8., 1 / 2., 7 / 8., 1 / 2. },
        { COLLECTIVE_ALL_TO_ALL, 2, 2, 3 / 4., 1 / 2., 3 / 4., 1 / 2. },
        { COLLECTIVE_ALL_TO_ALL, 4, 1, 3 / 4., 0, 3 / 4., 0 },
        { COLLECTIVE_REDUCE_SCATTER, 4, 2, 7 / 8., 1 / 8., 7 / 8., 1 / 8. },
        { COLLECTIVE_REDUCE_SCATTER, 2, 2, 3 / 4., 1 / 4., 3 / 4., 1 / 4. },
        { COLLECTIVE_REDUCE_SCATTER, 2, 1, 1 / 2., 0, 1 / 2., 0 },
        { COLLECTIVE_REDUCE_SCATTER, 1, 2, 1 / 2., 1 / 2., 1 / 2., 1 / 2. },
        { COLLECTIVE_ALL_REDUCE, 4, 2, 7 / 4., 1 / 4., 7 / 4., 1 / 4. },
        { COLLECTIVE_ALL_GATHER, 4, 2, 7, 1, 7, 1 },
        { COLLECTIVE_ALL_GATHER, 4, 1, 3, 0, 3, 0 },
        /* The last of a chain sends nothing; one of the pods sends up, the other one receives. */
        { COLLECTIVE_BROADCAST, 4, 2, 1, 1 / 4., 7 / 8., 1 / 8. },
        { COLLECTIVE_BROADCAST, 1, 2, 1, 1, 1 / 2., 1 / 2. },
        { COLLECTIVE_SEND, 4, 2, 1, 1 / 4., 1, 1 / 4. },
        { COLLECTIVE_SEND, 2, 1, 1, 0, 1, 0 },
    };
    const double S_B = 4e6, efficiency[] = { 1, 0.8 };
    static const double rates[][2] = { { 10e9, 5e9 }, { 30e9, 2e9 }, { 1e9, 100e9 } };
    struct topo_network net;
    KEEP(struct ideal *, x, ideal_free_at);
    OK(open_graph(&x, &net, tree, classes, (const int32_t[]){ 4, 2 }, efficiency, e));
    assert_true(net.ideal == x && net.wires->n_npus == 8 && net.n_npus == 8);
    for (size_t i = 0; i < COUNT_OF(cases) * COUNT_OF(rates); i++) {
        const double *bw_Bps = rates[i / COUNT_OF(cases)];
        size_t k = i % COUNT_OF(cases);
        struct step_group g = group_of(cases[k].inner, cases[k].outer, 1);
        struct ideal_time t;
        double leaf_s = cases[k].leaf * S_B / bw_Bps[0], up_s = cases[k].up * S_B / (0.8 * bw_Bps[1]);
        OK(ideal_find(&t, x, cases[k].kind, S_B, &g, bw_Bps, e));
        assert_close(t.time_s, fmax(leaf_s, up_s), 1e-9);
        if (leaf_s != up_s) {
            assert_near(t.cut[0], leaf_s > up_s, 1e-9);
            assert_near(t.cut[1], leaf_s < up_s, 1e-9);
        }
        assert_near(t.busy[0], cases[k].leaf_mean * S_B / bw_Bps[0] / t.time_s, 1e-8);
        assert_near(t.busy[1], cases[k].up_mean * S_B / bw_Bps[1] / t.time_s, 1e-8);
    }
    struct step_group all = group_of(4, 2, 1), one = group_of(1, 1, 1), pod = group_of(4, 1, 1);
    struct ideal_time t;
    OK(ideal_find(&t, x, COLLECTIVE_ALL_REDUCE, S_B, &one, rates[0], e));
    assert_true(t.time_s == 0 && t.cut[0] == 0 && t.busy[0] == 0);
    OK(ideal_find(&t, x, COLLECTIVE_ALL_REDUCE, 0, &all, rates[0], e));
    assert_true(t.time_s == 0);
    /* Without bandwidth above, what stays in a pod is carried. */
    static const double none_Bps[] = { 10e9, 0 };
    OK(ideal_find(&t, x, COLLECTIVE_ALL_REDUCE, S_B, &all, none_Bps, e));
    assert_true(isinf(t.time_s) && t.cut[0] == 0 && t.cut[1] == 0);
    OK(ideal_find(&t, x, COLLECTIVE_ALL_REDUCE, S_B, &pod, none_Bps, e));
    assert_close(t.time_s, 1.5 * S_B / 10e9, 1e-9);
    static const double nothing_Bps[] = { 0, 0 };
    OK(ideal_find(&t, x, COLLECTIVE_ALL_REDUCE, S_B, &all, nothing_Bps, e));
    assert_true(isinf(t.time_s) && t.busy[0] == 0 && t.busy[1] == 0);
}

/* Four in a line, B = 1.5 links: pairs of neighbours have a link each, pairs further apart share one. */
TEST(members_apart_share_links)
{
    static const char *const classes[] = { "leaf", NULL };
    CASES(enum collective_kind kind; int32_t members, stride; double load) = {
        { COLLECTIVE_REDUCE_SCATTER, 2, 1, 1 / 2. },
        { COLLECTIVE_REDUCE_SCATTER, 2, 2, 1 },
        { COLLECTIVE_REDUCE_SCATTER, 4, 1, 1 },
        { COLLECTIVE_ALL_TO_ALL, 4, 1, 1 },
        { COLLECTIVE_BROADCAST, 2, 2, 2 },
        { COLLECTIVE_BROADCAST, 4, 1, 1 },
        { COLLECTIVE_SEND, 4, 1, 1 },
        { COLLECTIVE_SEND, 2, 2, 2 },
    };
    const double S_B = 3e5, bw_Bps = 6e9, one = 1;
    struct topo_network net;
    KEEP(struct ideal *, x, ideal_free_at);
    OK(open_graph(&x, &net, line, classes, (const int32_t[]){ 0 }, &one, e));
    assert_int_equal(net.dims[0].size, 4);
    for (int round = 0; round < 2; round++) /* the second time each question is known */
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            struct step_group g = group_of(cases[i].members, 1, cases[i].stride);
            struct ideal_time t;
            OK(ideal_find(&t, x, cases[i].kind, S_B, &g, &bw_Bps, e));
            assert_close(t.time_s, cases[i].load * S_B / (bw_Bps / 1.5), 1e-9);
        }
    /* No stride is a stride of one. */
    struct step_group g = group_of(2, 1, 0);
    struct ideal_time t;
    OK(ideal_find(&t, x, COLLECTIVE_REDUCE_SCATTER, S_B, &g, &bw_Bps, e));
    assert_close(t.time_s, 0.5 * S_B / (bw_Bps / 1.5), 1e-9);
}

/* ---- cuts for a split ---- */

/* A torus of 4 x 8 whose wraps of x lead 4 further along y. All-to-all of S by links of b: the least of
 * 2 b1, 2 b2, 16/21 (b1+b2) and 8/15 (b1+b2+min(b1,b2)), where B = 2 b (see test_topo_theta.c). */
static void put_twisted(struct text *t)
{
    text_puts(t, HEAD);
    for (int cls = 0; cls < 2; cls++)
        for (int v = 0; v < 32; v++) {
            int x = v % 4, y = v / 4, up = x == 3 ? (y + 4) % 8 : y;
            text_printf(t, "n%d,n%d,25,1,%c\n", v, cls ? x + 4 * ((y + 1) % 8) : (x + 1) % 4 + 4 * up,
                        "xy"[cls]);
        }
}

static double twisted_Bps(double x_Bps, double y_Bps)
{
    double sum = x_Bps + y_Bps;
    return fmin(fmin(x_Bps, y_Bps), fmin(8 / 21. * sum, 4 / 15. * (sum + fmin(x_Bps, y_Bps))));
}

/* What the known cuts say: the slowest transfer. */
static double transfers_s(const struct ideal *x, double S_B, const struct step_group *g, double *bw_Bps)
{
    struct ideal_transfer out[IDEAL_TRANSFERS];
    int32_t n = ideal_transfers(out, x, COLLECTIVE_ALL_TO_ALL, S_B, g);
    double slowest_s = 0;
    ideal_fill(x, bw_Bps);
    for (int32_t i = 0; i < n; i++)
        slowest_s = fmax(slowest_s, out[i].bytes / bw_Bps[out[i].dim]);
    return slowest_s;
}

TEST(cuts_are_learnt_and_become_columns)
{
    static const char *const classes[] = { "x", "y", NULL };
    const double S_B = 1e6, one[] = { 1, 1 };
    struct topo_network net, wide;
    struct step_group all = group_of(4, 8, 1), unknown = group_of(4, 1, 1);
    struct text csv = { 0 };
    struct ideal_transfer out[IDEAL_TRANSFERS];
    KEEP(struct step_tree, tree_, step_free) = { 0 };
    KEEP(struct ideal *, x, ideal_free_at);
    put_twisted(&csv);
    OK(open_graph(&x, &net, text_str(&csv), classes, (const int32_t[]){ 4, 8 }, one, e));
    text_free(&csv);
    step_begin(&tree_, "", &net);
    step_add(&tree_, -1,
             (struct step_node){
                 .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_ALL_TO_ALL, .bytes = S_B, .times = 1 });
    /* At first the limit of each class, and that of the file: both equal. */
    OK(ideal_learn(x, &tree_, NULL, e));
    assert_int_equal(ideal_place(x), 1);
    assert_int_equal(ideal_columns(x), 1);
    assert_close(ideal_column(x, 0)[0], 8 / 21., 1e-9);
    assert_close(ideal_column(x, 0)[1], 8 / 21., 1e-9);
    assert_int_equal(ideal_transfers(out, x, COLLECTIVE_ALL_TO_ALL, S_B, &all), 3);
    assert_int_equal(ideal_transfers(out, x, COLLECTIVE_SEND, S_B, &all), 0);
    assert_int_equal(ideal_transfers(out, x, COLLECTIVE_ALL_TO_ALL, S_B, &unknown), 0);
    double bw_Bps[TOPO_MAX_DIMS] = { 20e9, 30e9 };
    /* Those see 21 Bps/8 of S; what they miss is found at the answer, comes first, and is seen from then on.
     */
    assert_close(transfers_s(x, S_B, &all, bw_Bps), S_B / (8 / 21. * 50e9), 1e-9);
    OK(ideal_learn(x, &tree_, bw_Bps, e));
    assert_int_equal(ideal_place(x), 2);
    assert_close(ideal_column(x, 0)[0], 8 / 15., 1e-9);
    assert_close(ideal_column(x, 0)[1], 4 / 15., 1e-9);
    assert_close(ideal_column(x, 1)[0], 8 / 21., 1e-9);
    for (double x_GBps = 10; x_GBps < 26; x_GBps++) { /* the mirror image is not known: x is the narrow one */
        bw_Bps[0] = x_GBps * 1e9;
        bw_Bps[1] = (50 - x_GBps) * 1e9;
        struct ideal_time t;
        OK(ideal_find(&t, x, COLLECTIVE_ALL_TO_ALL, S_B, &all, bw_Bps, e));
        assert_close(t.time_s, S_B / twisted_Bps(bw_Bps[0], bw_Bps[1]), 1e-9);
        assert_close(transfers_s(x, S_B, &all, bw_Bps), t.time_s, 1e-9);
        assert_close(bw_Bps[3], 8 / 21. * 50e9, 1e-9);
        assert_near(t.cut[0] + t.cut[1], 1, 1e-9);
    }
    /* A cut that decides at other bandwidths too is known once. */
    assert_int_equal(ideal_transfers(out, x, COLLECTIVE_ALL_TO_ALL, S_B, &all), 4);
    for (double x_GBps = 1; x_GBps < 5; x_GBps += 0.5) {
        struct ideal_time t;
        OK(ideal_find(&t, x, COLLECTIVE_ALL_TO_ALL, S_B, &all, (const double[]){ 1e9 * x_GBps, 49e9 }, e));
        assert_true(t.cut[0] == 1);
    }
    assert_int_equal(ideal_transfers(out, x, COLLECTIVE_ALL_TO_ALL, S_B, &all), 4);
    ideal_widen(&wide, &net);
    assert_true(wide.n_dims == 4 && wide.dims[3].size == 1 && wide.dims[3].efficiency == 1);
    assert_string_equal(wide.dims[2].name, "cut1");
    assert_string_equal(wide.dims[3].name, "cut2");
    assert_true(net.n_dims == 2);
}

/* Bandwidths times anything take that much less time, to the last digits: one answer tells both, also where
 * it was found to 1e-10 only. A class of one link among others has no symmetry. */
TEST(bandwidths_in_the_same_proportions_are_one_question)
{
    static const char *const classes[] = { "x", "y", NULL };
    const double one[] = { 1, 1 };
    const struct step_group all = group_of(4, 9, 1);
    struct topo_network net;
    struct text csv = { 0 };
    KEEP(struct ideal *, x, ideal_free_at);
    RNG(r, 36, 12);
    text_puts(&csv, HEAD);
    for (int i = 0; i < 108; i++)
        text_printf(&csv, "n%d,n%d,10,1,%c\n", i % 36,
                    (i % 36 + (i < 36 ? 1 : 2 + (int)rng_below(r, 33))) % 36, "xy"[rng_below(r, 2)]);
    OK(open_graph(&x, &net, text_str(&csv), classes, (const int32_t[]){ 4, 9 }, one, e));
    text_free(&csv);
    for (int round = 0; round < 4; round++) {
        double bw_Bps[] = { rng_range(r, 1e9, 3e9), rng_range(r, 1e9, 3e9) }, times = rng_range(r, 0.1, 50);
        struct ideal_time t, again;
        OK(ideal_find(&t, x, COLLECTIVE_ALL_TO_ALL, 1e6, &all, bw_Bps, e));
        for (int d = 0; d < 2; d++)
            bw_Bps[d] *= times;
        OK(ideal_find(&again, x, COLLECTIVE_ALL_TO_ALL, 1e6, &all, bw_Bps, e));
        assert_close(again.time_s * times, t.time_s, 1e-15 * 4);
        bw_Bps[0] *= 1.001; /* and others are not */
        OK(ideal_find(&again, x, COLLECTIVE_ALL_TO_ALL, 1e6, &all, bw_Bps, e));
        assert_true(again.time_s * times < t.time_s * (1 - 1e-7));
    }
}

/* At 30 and 20 GB/s: 8/15 of the wide one and 4/15 of the other are 21.3, 8/21 of both 19.0, the reverse of
 * the first 18.7, which decides. */
TEST(cuts_nearest_to_deciding_become_columns_first)
{
    static const char *const classes[] = { "x", "y", NULL };
    static const double asked_Bps[][2] = { { 20e9, 30e9 }, { 30e9, 20e9 } },
                        want[][2] = { { 4 / 15., 8 / 15. }, { 8 / 21., 8 / 21. }, { 8 / 15., 4 / 15. } };
    struct topo_network net;
    KEEP(struct text, csv, text_free) = { 0 };
    KEEP(struct step_tree, step, step_free) = { 0 };
    KEEP(struct ideal *, x, ideal_free_at);
    put_twisted(&csv);
    OK(open_graph(&x, &net, text_str(&csv), classes, (const int32_t[]){ 4, 8 }, (const double[]){ 1, 1 }, e));
    step_begin(&step, "", &net);
    step_add(&step, -1,
             (struct step_node){
                 .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_ALL_TO_ALL, .bytes = 1e6, .times = 1 });
    OK(ideal_learn(x, &step, NULL, e));
    for (size_t i = 0; i < COUNT_OF(asked_Bps); i++)
        OK(ideal_learn(x, &step, asked_Bps[i], e));
    assert_int_equal(ideal_place(x), 3);
    for (int32_t j = 0; j < 3; j++)
        for (int32_t d = 0; d < 2; d++)
            assert_close(ideal_column(x, j)[d], want[j][d], 1e-9);
}

TEST(graphs_are_told_apart_by_their_content)
{
    static const char *const classes[] = { "leaf", NULL }, *const others[] = { "leaf", "up", NULL };
    const double one[] = { 1, 1 };
    const int32_t sizes[] = { 4, 1 };
    static const char faster[] = HEAD "a,b,10,1,leaf\nb,c,10,1,leaf\nc,d,20,1,leaf\n";
    struct topo_network net;
    unsigned long long hash[3];
    static const char *const texts[] = { line, line, faster };
    for (int i = 0; i < 3; i++) {
        KEEP(struct ideal *, x, ideal_free_at);
        OK(open_graph(&x, &net, texts[i], classes, sizes, one, e));
        hash[i] = ideal_hash(x);
    }
    assert_true(hash[0] == hash[1] && hash[0] != hash[2]);
    struct ideal *x;
    FAILS(open_graph(&x, &net, line, others, sizes, one, e), ERR_RANGE, "is \"up\", of which the graph has");
    assert_null(x);
    FAILS(open_graph(&x, &net, tree, classes, sizes, one, e), ERR_RANGE,
          "net.csv: has links of class \"up\"");
    FAILS(open_graph(&x, &net, line, classes, (const int32_t[]){ 3 }, one, e), ERR_RANGE,
          "has 4 NPUs, expected the product of the sizes, 3");
}

static int init_graphs(void **state)
{
    (void)state;
    topo_graph_init();
    return 0;
}

SUITE(init_graphs, NULL)
