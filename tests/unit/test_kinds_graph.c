/* Networks with a graph: splits over classes of links against closed forms, built-in shapes and sampled
 * splits; prices by the file and by tiers; what is refused, and where. */
#include "kinds/design/ask/load.h"
#include "tests/support.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/ask/system.h"
#include "tests/unit/folder.h"
#include "topo/graph.h"

KEEPS(struct topo_graph, topo_graph_free)

enum { SPLIT = DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT };

static int make_graph_folder(void **state)
{
    static const struct file none[] = {
        { "pair.csv", "src,dst,bw_GBps,latency_ns,class\na,b,10,1,x\nb,c,10,1,x\nc,a,5,1,y\n" },
        { "odd.csv", "src,dst,bw_GBps,latency_ns,class\na,b,10,1,x\nb,c,10,1,\n" },
        { "sum.csv", "src,dst,bw_GBps,latency_ns,class\na,b,10,1,total\n" },
        { "same.csv", "src,dst,bw_GBps,latency_ns\na,b,10,1\nb,c,10,1\nc,a,10,1\n" },
        { "lone.graphml",
          "<graphml><key id='b' for='edge' attr.name='bw_GBps' attr.type='double'/>"
          "<key id='l' for='edge' attr.name='latency_ns' attr.type='double'/><graph edgedefault='undirected'>"
          "<node id='a'/><node id='b'/><node id='c'/><edge source='a' target='b'>"
          "<data key='b'>1</data><data key='l'>0</data></edge></graph></graphml>" },
    };
    return folder_begin(state, none, COUNT_OF(none));
}

/* A torus of 4 x 8, twisted or not, links of 25 GB/s of classes x and y; x costs 100 a link, y 150. */
static void put_torus(struct folder *f, const char *name, bool twist)
{
    struct text t = { 0 };
    text_puts(&t, "src,dst,bw_GBps,latency_ns,class,usd\n");
    for (int v = 0; v < 32; v++) {
        int x = v % 4, y = v / 4, up = x == 3 && twist ? (y + 4) % 8 : y;
        text_printf(&t, "n%d,n%d,25,1,x,100\n", v, (x + 1) % 4 + 4 * up);
        text_printf(&t, "n%d,n%d,25,1,y,150\n", v, x + 4 * ((y + 1) % 8));
    }
    put(f, name, text_str(&t));
    text_free(&t);
}

static int solve(struct design *d, struct design_point *s, struct folder *f, const char *study, struct err *e)
{
    *d = (struct design){ 0 };
    put(f, "study.yaml", study);
    int rc = design_point_load(s, f->path, NULL, 0, SPLIT, e);
    return rc ? rc : design_solve(d, s, e);
}

/* NPUs are numbered by first mention in a file: any numbering is as good for all-to-all among all. */
#define TORUS(file, rest)                                                                                    \
    "network: { graph: " file ", classes: [ { name: x }, { name: y } ] }\n"                                  \
    "workload: { step: { all-to-all: { size_MB: 100, group: all } } }\n" rest

TEST(torus_splits_as_its_formula)
{
    static const struct {
        const char *study;
        double time_s, x_GBps; /* NAN: not unique */
    } cases[] = {
        /* min(1.9375 b1, 0.96875 b2), B = 2 b: b1 : b2 = 1 : 2 */
        { TORUS("plain.csv", "total_GBps: 100\n"), 3e-3, 100.0 / 3 },
        { TORUS("plain.csv", "total_GBps: 100\nconstraints: [ y <= 40 ]\n"), 0.1 * 31 / 32 / 19.375, NAN },
        /* 31/42 (b1 + b2) of the twisted one */
        { TORUS("twist.csv", "total_GBps: 100\n"), 0.1 * 31 / 32 / (31.0 / 42 * 50), NAN },
        /* 31/60 (2 b1 + b2) at b1 = 20, b2 = 30; at 15 and 35 it is 1.9375 b1 */
        { TORUS("twist.csv", "total_GBps: 100\nconstraints: [ x == 30 ]\n"), 0.1 * 31 / 32 / 29.0625, 30 },
        { TORUS("twist.csv", "total_GBps: 100\nconstraints: [ x == 40 ]\n"), 0.1 * 31 / 32 / (31.0 / 60 * 70),
          40 },
    };
    struct folder *f = *state;
    put_torus(f, "plain.csv", false);
    put_torus(f, "twist.csv", true);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct design_point s;
        struct design d;
        OK(solve(&d, &s, f, cases[i].study, e));
        assert_int_equal(d.answer.status, ALLOC_SOLVED);
        assert_close(d.time_s, cases[i].time_s, 1e-9);
        assert_close(d.answer.time_s, d.time_s, 2e-9);
        assert_close(d.account.dim_s[0] + d.account.dim_s[1], d.time_s, 1e-9);
        assert_true(d.answer.gap <= ALLOC_GAP && d.verified);
        if (!isnan(cases[i].x_GBps))
            assert_close(d.bw_Bps[0], cases[i].x_GBps * 1e9, 1e-6);
        design_free(&d);
        design_point_free(&s);
    }
}

/* By the file: 32 links of 100 USD at 25 GB/s are 2 of 25 = 50 GB/s of an NPU, 64 USD per GB/s; y 96. */
TEST(prices_of_the_file_count)
{
    struct folder *f = *state;
    struct design_point s;
    struct design d;
    put_torus(f, "plain.csv", false);
    OK(solve(&d, &s, f, TORUS("plain.csv", "total_GBps: 90\nobjective: perf_per_cost\n"), e));
    assert_close(d.cost_usd, 64 * d.bw_Bps[0] / 1e9 + 96 * d.bw_Bps[1] / 1e9, 1e-12);
    assert_close(d.bw_Bps[0], 30e9, 1e-6);
    assert_true(d.has_bill);
    assert_close(d.bill.usd.typ, d.cost_usd, 1e-12);
    design_free(&d);
    design_point_free(&s);
    /* At most 4,800 USD instead of a total: x : y = 1 : 2 at 64 + 2 * 96. */
    OK(solve(&d, &s, f, TORUS("plain.csv", "constraints: [ usd <= 4800 ]\n"), e));
    assert_close(d.bw_Bps[0], 4800.0 / 256 * 1e9, 1e-6);
    design_free(&d);
    design_point_free(&s);
}

/* Two leaves of two NPUs and a box above. */
#define NODE(id, kind, usd)                                                                                  \
    "<node id='" id "'><data key='k'>" kind "</data><data key='n'>" usd "</data></node>"
#define EDGE(a, b, cls, bw, usd)                                                                             \
    "<edge source='" a "' target='" b "'><data key='b'>" bw                                                  \
    "</data><data key='l'>1</data><data key='c'>" cls "</data><data key='u'>" usd "</data></edge>"
static const char boxes[] =
    "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>"
    "<key id='b' for='edge' attr.name='bw_GBps' attr.type='double'/>"
    "<key id='l' for='edge' attr.name='lat_ns' attr.type='double'/>"
    "<key id='c' for='edge' attr.name='class' attr.type='string'/>"
    "<key id='u' for='edge' attr.name='usd' attr.type='double'/>"
    "<key id='n' for='node' attr.name='usd' attr.type='double'/>"
    "<key id='k' for='node' attr.name='kind' attr.type='string'/>"
    "<graph id='G' edgedefault='undirected'>" NODE("a", "npu", "0") NODE("b", "npu", "0")
        NODE("c", "npu", "0") NODE("d", "npu", "0") NODE("s", "switch", "7000") NODE("t", "switch", "7000")
            NODE("top", "switch", "9000") EDGE("a", "s", "x", "50", "100") EDGE("b", "s", "x", "50", "100")
                EDGE("c", "t", "x", "50", "100") EDGE("d", "t", "x", "50", "100")
                    EDGE("s", "top", "y", "80", "250")
                        EDGE("t", "top", "y", "80", "250") "</graph></graphml>";

#define BOXES(keys, rest)                                                                                    \
    "network: { graph: boxes.graphml, classes: [ { name: x" keys " }, { name: y" keys " } ] }\n"             \
    "workload: { step: { all-reduce: { size_MB: 100, group: all } } }\n" rest

/* At the file's bandwidths: links 4 x 100 + 2 x 250, switches 2 x 7,000 + 9,000; all of it once. */
TEST(nodes_of_a_graph_are_billed_once_and_its_links_counted)
{
    struct folder *f = *state;
    struct design_point s;
    struct design d;
    put(f, "boxes.graphml", boxes);
    OK(solve(&d, &s, f, BOXES("", "constraints: [ x == 50, y == 40 ]\n"), e));
    assert_close(d.cost_usd, 900 + 23000, 1e-9);
    assert_close(design_point_bill_usd(&s, &d.bill).typ, 900 + 23000, 1e-9);
    assert_int_equal(d.bill.n_lines, 3);
    assert_true(d.bill.lines[0].count == 4 && d.bill.lines[1].count == 2 && d.bill.lines[2].count == 3);
    assert_close(d.bill.lines[1].usd.typ, 500, 1e-9);
    assert_true(d.bill.lines[2].usd.typ == 23000 && d.bill.nics == -1 && d.bill.switches == 3);
    assert_close(d.nic_Bps, 50e9, 1e-9);
    design_free(&d);
    design_point_free(&s);
    put(f, "study.yaml", BOXES("", "constraints: [ x <= 9, y <= 9, nic_usd <= 5 ]\n"));
    FAILS(design_point_load(&s, f->path, NULL, 0, SPLIT, e), ERR_RANGE,
          "constraints[2] speaks of nic_usd, and parts have no price of NICs");
}

/* The links of a graph never fail, so the bound of what a token costs is what it costs: nodes, too, are
 * owned. */
TEST(cost_of_a_token_counts_the_nodes_of_a_graph)
{
    struct folder *f = *state;
    struct design_point s;
    struct design d;
    struct system own;
    put(f, "boxes.graphml", boxes);
    OK(solve(&d, &s, f,
             BOXES("", "objective: tco_per_token\nconstraints: [ x <= 400, y <= 400 ]\n"
                       "system: { npu_usd: 30000, npu_watt: 700, step_tokens: 1000000, checkpoint: { "
                       "size_GB: 1, store_GBps: 100 } }\n"),
             e));
    OK(system_build(&own, &s, design_owned(&d), e));
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_close(d.answer.value, own.usd_per_Mtoken, 1e-6);
    system_free(&own);
    design_free(&d);
    design_point_free(&s);
}

static void put_tree(struct folder *f)
{
    struct topo_network net;
    struct text out = { 0 };
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    MUST(topo_parse_spec(&net, "fat-tree:8x4/2@100", e));
    strcpy(net.dims[0].name, "pod");
    strcpy(net.dims[1].name, "pod.up1");
    MUST(topo_build_graph(&g, &net, NULL, e));
    MUST(topo_format_graphml(&out, g, e));
    put(f, "tree.graphml", text_str(&out));
    text_free(&out);
}

/* The same tree as a shape and as a file of its links: time, split and shadow price are equal. */
TEST(fat_tree_as_a_graph_splits_as_the_shape)
{
#define WORK                                                                                                 \
    "workload:\n  groups: { tp: { size: 8 }, dp: { size: 4 } }\n"                                            \
    "  step: { sum: [ { all-to-all: { size_MB: 10, group: all } }, { all-reduce: { size_MB: 100, group: "    \
    "all } }, { reduce-scatter: { size_MB: 100, group: tp } }, { all-gather: { size_MB: 30, group: dp } } "  \
    "] }\n"
    static const char *const rest[][2] = {
        { "constraints: [ \"pod + 2*pod.up1 <= 100\" ]\n", "constraints: [ \"pod + 2*pod-up1 <= 100\" ]\n" },
        { "constraints: [ \"pod + 9*pod.up1 <= 100\" ]\n", "constraints: [ \"pod + 9*pod-up1 <= 100\" ]\n" },
        { "constraints: [ \"pod <= 50\", \"pod.up1 <= 20\" ]\n",
          "constraints: [ \"pod <= 50\", \"pod-up1 <= 20\" ]\n" },
    };
    struct folder *f = *state;
    put_tree(f);
    for (size_t i = 0; i < COUNT_OF(rest); i++) {
        struct design_point s[2];
        struct design d[2];
        char text[2048];
        snprintf(text, sizeof text,
                 "network: { dims: [ { name: pod, shape: fat-tree, sizes: [8, 4], taper: free } ] }\n" WORK
                 "%s",
                 rest[i][0]);
        OK(solve(&d[0], &s[0], f, text, e));
        snprintf(
            text, sizeof text,
            "network: { graph: tree.graphml, classes: [ { name: pod, size: 8 }, { name: pod-up1, size: 4 } "
            "] }\n" WORK "%s",
            rest[i][1]);
        OK(solve(&d[1], &s[1], f, text, e));
        assert_int_equal(d[1].answer.status, ALLOC_SOLVED);
        assert_close(d[0].time_s, d[1].time_s, 2e-9);
        for (int k = 0; k < 2; k++)
            assert_close(d[0].bw_Bps[k], d[1].bw_Bps[k], 1e-5);
        for (int k = 0; k < 2; k++) {
            design_free(&d[k]);
            design_point_free(&s[k]);
        }
    }
}

/* One point, answered on several threads at a time: each finds its own cuts, or chooses its own algorithms,
 * and the point stays as it was read. */
TEST(threads_share_a_point)
{
    enum { N = 4 };
    static const char *const studies[] = {
        TORUS("twist.csv", "total_GBps: 100\nconstraints: [ y <= 40 ]\n"),
        "network: { dims: [ { name: node, shape: ring, size: 8, latency_ns: 500 }, "
        "{ name: pod, shape: switch, size: 16, latency_ns: 2000 } ] }\n"
        "model: alpha-beta\nsimulation: { algorithms: [ auto, auto ] }\ntotal_GBps: 100\n"
        "workload: { step: { all-reduce: { size_MB: 1, group: all } } }\n",
    };
    struct folder *f = *state;
    put_torus(f, "twist.csv", true);
    for (size_t i = 0; i < COUNT_OF(studies); i++) {
        KEEP(struct design_point, s, design_point_free);
        double bw_Bps[N][TOPO_MAX_DIMS];
        unsigned long long choices[N], as_read;
        bool solved[N];
        put(f, "study.yaml", studies[i]);
        OK(design_point_load(&s, f->path, NULL, 0, SPLIT, e));
        as_read = design_point_choices(&s);
#pragma omp parallel for schedule(static, 1) num_threads(N)
        for (int k = 0; k < N; k++) {
            struct design d;
            struct err own = { 0 };
            solved[k] = design_solve(&d, &s, &own) == 0 && d.answer.status == ALLOC_SOLVED;
            memcpy(bw_Bps[k], d.bw_Bps, sizeof bw_Bps[k]);
            choices[k] = solved[k] ? design_point_choices(d.chosen.point) : 0;
            design_free(&d);
        }
        for (int k = 0; k < N; k++) {
            assert_true(solved[k] && choices[k] == choices[0]);
            assert_memory_equal(bw_Bps[k], bw_Bps[0], sizeof bw_Bps[k]);
        }
        assert_true(design_point_choices(&s) == as_read && choices[0] != as_read);
    }
}

/* A ring of @p nodes, then links to any of @p reach nodes further on, of three classes that all occur. */
static void put_drawn(struct folder *f, const char *name, int nodes, int links, int reach, struct rng *r)
{
    struct text csv = { 0 };
    text_puts(&csv, "src,dst,bw_GBps,latency_ns,class\n");
    for (int i = 0; i < links; i++) {
        int further = i < nodes ? 1 : 2 + (int)rng_below(r, reach);
        text_printf(&csv, "n%d,n%d,%d,1,%c\n", i % nodes, (i + further) % nodes, 5 + (int)rng_below(r, 20),
                    "abc"[i < 3 ? i : rng_below(r, 3)]);
    }
    put(f, name, text_str(&csv));
    text_free(&csv);
}

/* The split of 120 GB/s is solved; no drawn one with a <= 70 is faster than its bound. Half of the draws are
 * near the answer. */
static void no_draw_is_faster(const struct design *d, struct design_point *s, int n, struct rng *r)
{
    assert_int_equal(d->answer.status, ALLOC_SOLVED);
    assert_close(d->answer.time_s, d->time_s, 2e-9);
    for (int k = 0; k < n; k++) {
        double part[3], sum = 0, bw_Bps[TOPO_MAX_DIMS] = { 0 }, time_s;
        for (int c = 0; c < 3; c++)
            sum += part[c] = rng_range(r, 1, 1000);
        for (int c = 0; c < 3; c++)
            bw_Bps[c] = k % 2 ? part[c] / sum * 120e9 : 0.97 * d->bw_Bps[c] + 0.03 * part[c] / sum * 120e9;
        MUST(design_time(&time_s, s, bw_Bps, e));
        if (bw_Bps[0] <= 70e9)
            assert_true(time_s >= d->answer.lower_bound * (1 - 1e-9));
    }
}

/* Graphs without any order, three classes: no split that was drawn is faster than the one that was solved,
 * and the bound lies below all. */
TEST(no_drawn_split_is_faster)
{
    RNG(r, 20261122, 0);
    for (int round = 0; round < repeats(8); round++) {
        struct folder *f = *state;
        struct design_point s;
        struct design d;
        put_drawn(f, "drawn.csv", 12, 30, 9, r);
        OK(solve(&d, &s, f,
                 "network: { graph: drawn.csv, classes: [ { name: a, size: 3 }, { name: b, size: 4 }, "
                 "{ name: c } ] }\n"
                 "workload:\n  groups: { in: { size: 3 } }\n"
                 "  step: { sum: [ { all-to-all: { size_MB: 40, group: all } }, { all-reduce: { size_MB: 90, "
                 "group: in } } ] }\n"
                 "total_GBps: 120\nconstraints: [ a <= 70 ]\n",
                 e));
        no_draw_is_faster(&d, &s, 60, r);
        design_free(&d);
        design_point_free(&s);
    }
}

/* 40 NPUs, 120 links that no symmetry maps onto each other, three classes: proved all the same. Many cuts lie
 * near each other here, more than a split has columns for. */
TEST(graphs_of_many_links_are_split_with_proof)
{
    RNG(r, 20261122, 1);
    for (int round = 0; round < repeats(2); round++) {
        struct folder *f = *state;
        struct design_point s;
        struct design d;
        put_drawn(f, "many.csv", 40, 120, round ? 6 : 36, r);
        OK(solve(&d, &s, f,
                 "network: { graph: many.csv, classes: [ { name: a }, { name: b }, { name: c } ] }\n"
                 "workload: { step: { sum: [ { all-to-all: { size_MB: 40, group: all } }, { all-reduce: { "
                 "size_MB: 40, group: all } } ] } }\n"
                 "total_GBps: 120\nconstraints: [ a <= 70 ]\n",
                 e));
        no_draw_is_faster(&d, &s, 10, r);
        design_free(&d);
        design_point_free(&s);
    }
}

/* 740 NPUs at two leaves, each with a link of its own bandwidth, and two spines of two classes: 273,430 pairs
 * that no symmetry maps onto each other. The cuts stop short of the answer, by a gap that is said. SOAK. */
TEST(a_large_graph_is_split_to_a_gap_that_is_said)
{
    enum { N = 740 };
    struct folder *f = *state;
    struct text csv = { 0 };
    if (!getenv("SOAK"))
        return;
    KEEP(struct design_point, s, design_point_free);
    struct design d;
    text_puts(&csv, "src,dst,bw_GBps,latency_ns,class\n");
    for (int i = 0; i < N; i++)
        text_printf(&csv, "n%d,switch%d,%d,1,end\n", i, i % 2, 20000 + i);
    for (int i = 0; i < 4; i++)
        text_printf(&csv, "switch%d,switch%d,%d,1,%s\n", i % 2, 2 + i / 2, 400000 + 1000 * i,
                    i / 2 ? "far" : "up");
    put(f, "large.csv", text_str(&csv));
    text_free(&csv);
    OK(solve(&d, &s, f,
             "network: { graph: large.csv, classes: [ { name: end }, { name: up }, { name: far } ] }\n"
             "workload: { step: { all-to-all: { size_MB: 40, group: all } } }\n"
             "total_GBps: 120\nconstraints: [ up <= 20, far <= 15 ]\n",
             e));
    assert_int_equal(d.answer.status, ALLOC_STALLED);
    assert_true(d.answer.gap > ALLOC_GAP && d.answer.gap <= 1e-3);
    assert_non_null(strstr(d.answer.reason, "so many pairs of NPUs are found to 0.001"));
    assert_true(d.time_s >= d.answer.lower_bound * (1 - 1e-9));
    assert_true(d.time_s <= d.answer.lower_bound / (1 - 1e-3));
    design_free(&d);
}

/*
 * A ring of three with links of 10, 10 and 5 GB/s each way, B = 2 b on the average: x 40/3, y 10/3. Without
 * bandwidths in the study these are taken; a limit of any kind leaves them to a split, and so does nothing
 * where the study is read for a step as it is.
 */
TEST(classes_have_the_bandwidths_of_the_file)
{
    static const struct {
        const char *study;
        unsigned needs;
        double x_GBps, y_GBps;
    } cases[] = {
        { "network: { graph: pair.csv }\n", SPLIT, 40.0 / 3, 10.0 / 3 },
        { "network: { graph: pair.csv, classes: [ { name: y }, { name: x, bw_GBps: 7 } ] }\n", SPLIT,
          10.0 / 3, 7 },
        { "network: { graph: pair.csv }\ntotal_GBps: 10\n", SPLIT, NAN, NAN },
        { "network: { graph: pair.csv }\nconstraints: [ total <= 10 ]\n", SPLIT, NAN, NAN },
        { "network: { graph: pair.csv, classes: [ { name: x, max_GBps: 9 }, { name: y } ] }\n", SPLIT, NAN,
          NAN },
        { "network: { graph: pair.csv }\ntotal_GBps: 10\nsplit: given\n", SPLIT, 40.0 / 3, 10.0 / 3 },
        { "network: { graph: pair.csv }\ntotal_GBps: 10\n", DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH,
          40.0 / 3, 10.0 / 3 },
        { "network: { graph: same.csv }\n", SPLIT, 20, NAN },
    };
    struct folder *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[256];
        struct design_point s;
        snprintf(text, sizeof text, "%sworkload: { step: { all-to-all: { size_MB: 1, group: all } } }\n",
                 cases[i].study);
        put(f, "study.yaml", text);
        assert_int_equal(design_point_load(&s, f->path, NULL, 0, cases[i].needs, e), 0);
        const double want[] = { cases[i].x_GBps, cases[i].y_GBps };
        for (int32_t d = 0; d < s.net.n_dims; d++)
            if (isnan(want[d]))
                assert_true(isnan(s.net.dims[d].bw_Bps));
            else
                assert_close(s.net.dims[d].bw_Bps, want[d] * 1e9, 1e-12);
        design_point_free(&s);
    }
}

TEST(what_a_graph_cannot_do_is_told_at_its_place)
{
#define TWO "classes: [ { name: x }, { name: y } ]"
#define JOB "workload: { step: { all-to-all: { size_MB: 1, group: all } } }\n"
    static const struct {
        const char *study, *text;
    } cases[] = {
        { "network: { graph: none.csv, " TWO " }\n" JOB, "none.csv: no such file" },
        { "network: { graph: odd.csv, classes: [ { name: x } ] }\n" JOB, "edge 2 has no class" },
        { "network: { graph: pair.csv, classes: [ { name: x } ] }\n" JOB, "has links of class \"y\"" },
        { "network: { graph: pair.csv, classes: [ { name: x }, { name: y }, { name: z } ] }\n" JOB,
          "study.yaml:1:74: network.classes[2].name is \"z\", of which the graph has no links" },
        { "network: { graph: pair.csv, classes: [ { name: x, size: 2 }, { name: y } ] }\n" JOB,
          "has 3 NPUs, expected the product of the sizes, 2" },
        { "network: { graph: pair.csv, classes: [ { name: x }, { name: x } ] }\n" JOB,
          "already the name of class 1" },
        { "network: { graph: sum.csv }\n" JOB, "sum.csv: has links of class \"total\", expected a letter or "
                                               "_ and then letters, digits, _ or -, and "
                                               "none of total" },
        { "network: { graph: lone.graphml }\n" JOB,
          "lone.graphml: node \"c\": is an NPU without a link; give it one, or kind switch" },
        { "network: { " TWO " }\n" JOB, "has no dims" },
        { "network: { graph: pair.csv, dims: [ { shape: ring, size: 3 } ] }\n" JOB,
          "network.dims is given together with graph; give classes instead" },
        { "network: { graph: pair.csv, " TWO " }\nmodel: alpha-beta\n" JOB, "model bandwidth alone" },
        { "network: { graph: pair.csv, " TWO " }\nobjective: perf_per_cost\n" JOB,
          "objective is perf_per_cost; give parts with prices, or usd in the graph" },
        { "network: { graph: pair.csv, " TWO " }\nconstraints: [ usd <= 5 ]\n" JOB,
          "constraints[0] speaks of what parts cost or draw; give parts" },
        { "network: { graph: pair.csv, " TWO " }\nconstraints: [ w <= 5 ]\n" JOB, "w" },
    };
    struct folder *f = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct design_point s;
        put(f, "study.yaml", cases[i].study);
        assert_true(design_point_load(&s, f->path, NULL, 0, SPLIT, e) != 0);
        if (!strstr(e->msg, cases[i].text))
            fail_msg("\"%s\" says \"%s\"", cases[i].text, e->msg);
        *e = (struct err){ 0 };
    }
}

SUITE(make_graph_folder, remove_folder)
