/* Failures and checkpoints: published figures, the table of Daly's intervals, failures drawn one by one. */
#include "topo/reliability.h"

#include "tests/unit/table_cells.h"

#define HOUR 3600.0
#define DAY  86400.0

enum { N_SEGMENTS = 200000 };

/* ---- tests/reference/goodput_checks.csv ---- */

static double bloom_share(void)
{
    const struct goodput_tier store = { .share = 1, .c.stall_s = 40, .settled_s = 10800 };
    return 1 - goodput_tiers(&store, 1, INFINITY);
}

/* M of a job on nodes that fail so many times in 1000 node-days. */
static double of_nodes_s(double per_1000_node_days, double nodes)
{
    return 1000 * DAY / (per_1000_node_days * nodes);
}

static double rsc_ettr(double interval_s)
{
    const struct checkpoint c = { .restart_s = 5 * 60 };
    return goodput_first_order(&c, of_nodes_s(6.5, 2000), interval_s);
}

static double rate_of(double n, double mtbf_s)
{
    const struct reliability_line line = { .name = "", .n = n, .mtbf_s = mtbf_s };
    return reliability_rate(&line, 1);
}

static double llama3_goodput(void)
{
    const struct checkpoint c = { .restart_s = 600 };
    return goodput_exact(&c, 54 * DAY / 466, 900);
}

/* What the formula of a row gives, in the row's unit. */
static double formula_of(const char *id)
{
    const double month_s = 365.25 / 12 * DAY;
    const struct {
        const char *id;
        double value;
    } rows[] = {
        { "llama3-gpu-days", 16384 / (rate_of(1, 54 * DAY / 419) * DAY) },
        { "llama3-mtti-all", 1 / rate_of(466, 54 * DAY) / HOUR },
        { "rsc-mttf-16384", of_nodes_s(6.5, 2048) / HOUR },
        { "rsc-mttf-131072", of_nodes_s(6.5, 16384) / HOUR },
        { "rsc-mttf-1024", of_nodes_s(6.5, 128) / HOUR },
        { "rsc-ettr-60min", rsc_ettr(3600) },
        { "rsc-ettr-5min", rsc_ettr(300) },
        { "ubmesh-a-fm", reliability_availability(98.5, 1.25) },
        { "ubmesh-a-clos", reliability_availability(13.8, 1.25) },
        { "fthsdp-100k", of_nodes_s(6.5, 12500) / 60 },
        { "optics-100k", 1 / rate_of(100000, 43800 * HOUR) / 60 },
        { "bloom-ckpt-share", bloom_share() },
        { "bloom-ckpt-bytes", checkpoint_write_s(176.2e9 * 14, 1, 1, 1) / 1e12 },
        { "hpn-crash-month", rate_of(3000, month_s / 0.00057) * month_s },
        { "llama3-90", llama3_goodput() },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].id, id) == 0)
            return rows[i].value;
    return NAN;
}

/* Fourteen agree within their tolerance; the small jobs of RSC fail more often than their nodes do. */
TEST(published_figures_are_met_and_the_negative_control_is_not)
{
    KEEP(struct table, t, table_free) = { 0 };
    int32_t n_refused = 0;
    OK(table_read_csv(&t, "tests/reference/goodput_checks.csv", e));
    assert_int_equal(t.n_rows, 15);
    for (int64_t i = 0; i < t.n_rows; i++) {
        const char *id = word(&t, i, "id");
        double got = formula_of(id), published = number(&t, i, "published");
        bool agrees = fabs(got / published - 1) <= number(&t, i, "tolerance");
        bool must_fail = strncmp(word(&t, i, "verdict"), "MUST FAIL", 9) == 0;
        if (!(fabs(got / number(&t, i, "formula") - 1) < 6e-6) || agrees == must_fail)
            fail_msg("%s: %.9g, table %.9g, published %g", id, got, number(&t, i, "formula"), published);
        n_refused += must_fail;
    }
    assert_int_equal(n_refused, 1);
}

/* 54 days of Llama-3 405B: its rates by part come to its 419 interruptions. */
TEST(rates_by_part_add_up_to_the_run_they_are_from)
{
    const struct reliability_line lines[] = {
        { .name = "NPU", .n = 16384, .mtbf_s = 79200 * HOUR },
        { .name = "NIC", .n = 16384, .mtbf_s = 3.03e6 * HOUR },
        { .name = "link", .n = 35109, .mtbf_s = 1.30e6 * HOUR },
        { .name = "node", .n = 2048, .mtbf_s = 24350 * HOUR },
        { .name = "cable that never fails", .n = 1e9, .mtbf_s = INFINITY },
    };
    assert_close(1 / reliability_rate(lines, COUNT_OF(lines)), 54 * DAY / 419, 1e-3);
}

/* ---- intervals ---- */

/* Young, Comm. ACM 17, 1974. */
static double young_s(double stall_s, double mtbi_s)
{
    return sqrt(2 * stall_s * mtbi_s);
}

/* Daly's higher order, FGCS 22, 2006: within 16 s of the best interval below. */
static double daly_s(double stall_s, double mtbi_s)
{
    double half = stall_s / (2 * mtbi_s);
    return half < 1 ? young_s(stall_s, mtbi_s) * (1 + sqrt(half) / 3 + half / 9) - stall_s : mtbi_s;
}

TEST(intervals_are_those_of_the_table)
{
    CASES(double stall, m, r, young, daly, best, g_young, g_best) = {
        { 60, 11135, 300, 1155.9, 1116.3, 1116.3, .87578, .87583 },
        { 20, 11135, 480, 667.4, 654.1, 654.1, .90153, .90154 },
        { 300, 6491, 600, 1973.5, 1778.5, 1778.8, .66088, .66187 },
        { 600, 3600, 600, 2078.5, 1697.7, 1699.2, .44253, .44694 },
        { 1800, 3600, 600, 3600, 2500.0, 2513.8, .24312, .25539 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct checkpoint c = { .stall_s = cases[i].stall, .restart_s = cases[i].r };
        double m = cases[i].m, young = young_s(c.stall_s, m), best = checkpoint_best_s(c.stall_s, m);
        assert_near(young, cases[i].young, 0.0501);
        assert_near(daly_s(c.stall_s, m), cases[i].daly, 0.0501);
        assert_near(best, cases[i].best, 0.0501);
        assert_near(goodput_exact(&c, m, young), cases[i].g_young, 5.01e-6);
        assert_near(goodput_exact(&c, m, best), cases[i].g_best, 5.01e-6);
    }
}

/* From a stall of nothing to one of ten times M: Lambert's equation holds, and both neighbours are worse. */
TEST(best_interval_solves_its_equation_and_is_a_maximum)
{
    RNG(rng, 7, 0);
    for (int32_t i = 0; i < 2000; i++) {
        double m = rng_log_range(rng, 1, 1e9), d = rng_log_range(rng, 1e-9, 10);
        const struct checkpoint c = { .stall_s = d * m, .restart_s = rng_range(rng, 0, m) };
        double tau = checkpoint_best_s(c.stall_s, m), t = tau / m, g = goodput_exact(&c, m, tau);
        assert_true(t > 0 && t < 1);
        assert_near(log1p(-t) + t + d, 0, 1e-13 / (1 - t));
        assert_true(g >= goodput_exact(&c, m, tau * 1.01) && g >= goodput_exact(&c, m, tau / 1.01));
    }
    assert_true(checkpoint_best_s(0, 1000) == 0);
    assert_true(isinf(checkpoint_best_s(60, INFINITY)));
}

TEST(derivatives_are_those_of_differences)
{
    RNG(rng, 8, 0);
    for (int32_t i = 0; i < 500; i++) {
        double m = rng_log_range(rng, 1e3, 1e6), step = 1e-4;
        struct checkpoint c = { rng_range(rng, 0.1, m / 10), rng_range(rng, 0, m / 10),
                                rng_range(rng, 0, m / 3) };
        struct goodput at, low, high;
        goodput_of(&at, &c, m, NAN);
        goodput_of(&low, &c, m * (1 - step), at.interval_s);
        goodput_of(&high, &c, m * (1 + step), at.interval_s);
        assert_close(at.per_mtbi, (high.goodput - low.goodput) / (2 * step * m), 1e-5);
        c.restart_s += step * m;
        goodput_of(&high, &c, m, NAN);
        assert_close(at.per_restart, (high.goodput - at.goodput) / (step * m), 1e-3);
        assert_true(at.interval_s >= c.drain_s);
    }
}

TEST(limits_are_met)
{
    struct goodput g;
    const struct checkpoint long_one = { .stall_s = 3600 }, none = { 0 };
    goodput_of(&g, &long_one, 3600, NAN); /* a checkpoint longer than the time between failures */
    assert_true(g.goodput == 0);
    goodput_of(&g, &long_one, INFINITY, NAN); /* nothing fails: no checkpoints */
    assert_true(g.goodput == 1 && isinf(g.interval_s) && g.per_restart == 0);
    goodput_of(&g, &long_one, INFINITY, 3600);
    assert_true(g.goodput == 0.5);
    goodput_of(&g, &none, 100, NAN); /* checkpoints that cost nothing, restarts neither */
    assert_true(g.goodput == 1 && g.interval_s == 0);
}

/* ---- failures drawn one by one ---- */

/* Mean and standard error of a ratio of sums, sum y / sum x, over independent pieces. */
struct ratio {
    double n, x, y, xx, yy, xy;
};

static void ratio_add(struct ratio *r, double x, double y)
{
    r->n++;
    r->x += x;
    r->y += y;
    r->xx += x * x;
    r->yy += y * y;
    r->xy += x * y;
}

static double ratio_error(const struct ratio *r)
{
    double q = r->y / r->x;
    return sqrt(r->yy - 2 * q * r->xy + q * q * r->xx) / r->x;
}

static double draw_s(struct rng *rng, double mean)
{
    return -mean * log1p(-rng_uniform(rng));
}

/* A restart that itself may fail and begin again. */
static double draw_restart_s(struct rng *rng, double m, double r)
{
    double spent = 0, t;
    while ((t = draw_s(rng, m)) < r)
        spent += t;
    return spent + r;
}

static const struct drawn_case {
    double m, interval;
    struct checkpoint c;
} drawn[] = {
    { 10012, 900, { .restart_s = 600 } },
    { 3600, 2078.5, { .stall_s = 600, .restart_s = 600 } },
    { 3600, 1200, { .stall_s = 5, .drain_s = 900, .restart_s = 300 } },
    { 6491, 600, { .stall_s = 300, .drain_s = 600, .restart_s = 1200 } },
};

/* From restart to failure, stall by stall and drain by drain; what is not whole when it fails is done again.
 */
static void draw_cycle(struct ratio *r, struct rng *rng, const struct drawn_case *k)
{
    double fails = draw_s(rng, k->m), now = 0, kept = 0, done = 0;
    while (now + k->interval + k->c.stall_s + k->c.drain_s <= fails) {
        now += k->interval + k->c.stall_s;
        done += k->interval;
        kept = done;
    }
    ratio_add(r, fails + draw_restart_s(rng, k->m, k->c.restart_s), kept);
}

/* Segments that begin again until one is whole, checkpoint and all: Daly's story, without cycles. */
static void draw_segment(struct ratio *r, struct rng *rng, const struct drawn_case *k)
{
    double need = k->interval + k->c.stall_s, wall = 0, t;
    while ((t = draw_s(rng, k->m)) < need)
        wall += t + draw_restart_s(rng, k->m, k->c.restart_s);
    ratio_add(r, wall + need, k->interval);
}

static void assert_drawn(const struct ratio *r, double want)
{
    if (!(fabs(r->y / r->x - want) <= 3 * ratio_error(r) && ratio_error(r) < 3e-3))
        fail_msg("drawn %.6f, formula %.6f, standard error %.1e", r->y / r->x, want, ratio_error(r));
}

TEST(exact_goodput_is_that_of_drawn_failures)
{
    RNG(rng, 11, 0);
    for (size_t i = 0; i < COUNT_OF(drawn); i++) {
        struct ratio cycles = { 0 }, segments = { 0 };
        double g = goodput_exact(&drawn[i].c, drawn[i].m, drawn[i].interval);
        for (int32_t n = 0; n < repeats(N_SEGMENTS); n++) {
            draw_cycle(&cycles, rng, &drawn[i]);
            if (drawn[i].c.drain_s == 0)
                draw_segment(&segments, rng, &drawn[i]);
        }
        assert_drawn(&cycles, g);
        if (segments.n > 0)
            assert_drawn(&segments, g);
        /* What the first order leaves out is of second order in everything over M. */
        double g1 = goodput_first_order(&drawn[i].c, drawn[i].m, drawn[i].interval);
        double share =
            (drawn[i].c.restart_s + drawn[i].c.drain_s + drawn[i].c.stall_s + drawn[i].interval) / drawn[i].m;
        print_message("first order %.4f, exact %.4f: error %+.4f\n", g1, g, g1 - g);
        assert_true(fabs(g1 - g) < share * share / 2);
    }
}

/* Two tiers, failures of three in four restored from the memory of a peer. Nested, within the error of the
 * draws; to first order, so its error is printed, and of second order. */
TEST(tiers_are_those_of_drawn_failures)
{
    const double m = 10800;
    struct goodput_tier tiers[] = {
        { .share = 0.75, .c = { .stall_s = 0.2, .restart_s = 60 }, .interval_s = 60 },
        { .share = 0.25, .c = { .stall_s = 20, .restart_s = 480 }, .interval_s = 1800 },
    };
    struct goodput g;
    RNG(rng, 12, 0);
    struct ratio r = { 0 };
    double since = 0; /* work that only the first tier has */
    for (int32_t n = 0; n < repeats(N_SEGMENTS); n++) {
        double fails = draw_s(rng, m), now = 0, gain = 0, kept = since;
        for (;;) { /* saved in memory each minute, to the store each half hour */
            bool stores = fmod(kept + 60, 1800) < 1;
            now += 60 + 0.2 + (stores ? 20 : 0);
            if (now > fails)
                break;
            kept = stores ? 0 : kept + 60;
            gain += 60;
        }
        bool far = rng_uniform(rng) < 0.25;
        ratio_add(&r, fails + draw_restart_s(rng, m, far ? 480 : 60), gain - (far ? kept : 0));
        since = far ? 0 : kept;
    }
    goodput_of_tiers(&g, tiers, 2, m);
    print_message("tiers: first order %.4f, nested %.4f, drawn %.4f\n", g.first_order, g.goodput, r.y / r.x);
    assert_near(r.y / r.x, g.first_order, 0.01);
    assert_drawn(&r, g.goodput);
    assert_true(goodput_tiers(tiers, 2, 60) == 0);
}

/* What is given as work between two checkpoints is that of the job: time of a tier that those before it leave
 * 0.9 of passes more slowly. */
TEST(intervals_that_are_given_are_kept)
{
    const double m = 10800;
    struct goodput g, first, second;
    struct goodput_tier tiers[] = {
        { .share = 0.75, .c = { .stall_s = 6, .restart_s = 60 }, .interval_s = 60 },
        { .share = 0.25, .c = { .stall_s = 20, .drain_s = 30, .restart_s = 480 }, .interval_s = 1800 },
    };
    goodput_of(&first, &tiers[0].c, m / 0.75, 60);
    goodput_of(&second, &tiers[1].c, m / 0.25, 1800 / first.goodput);
    goodput_of_tiers(&g, tiers, 2, m);
    assert_true(first.goodput < 0.91);
    assert_close(g.goodput, first.goodput * second.goodput, 1e-15);
    assert_close(tiers[0].settled_s, 60, 1e-15);
    assert_close(tiers[1].settled_s, 1800, 1e-12);
    assert_close(g.interval_s, 1800, 1e-12);
}

/* Nesting says nothing new of one tier, nor of one that restores all, nor of one that restores nothing and
 * costs nothing; derivatives are those of differences. */
TEST(tiers_nest)
{
    const struct checkpoint c = { .stall_s = 20, .drain_s = 30, .restart_s = 480 };
    const double m = 10800, step = 1e-4;
    struct goodput one, g, high;
    struct goodput_tier alone = { .share = 1, .c = c, .interval_s = NAN };
    struct goodput_tier two[] = { { .share = 0, .interval_s = 60 }, alone };
    struct goodput_tier all[] = { alone, { .share = 0, .c = c, .interval_s = NAN } };
    goodput_of(&one, &c, m, NAN);
    goodput_of_tiers(&g, &alone, 1, m);
    assert_true(g.goodput == one.goodput && g.interval_s == one.interval_s &&
                g.first_order == one.first_order);
    assert_true(g.per_restart == one.per_restart);
    assert_close(g.per_mtbi, one.per_mtbi, 1e-15);
    goodput_of_tiers(&g, two, 2, m);
    assert_close(g.goodput, one.goodput, 1e-15);
    goodput_of_tiers(&g, all, 2, m);
    assert_close(g.goodput, one.goodput, 1e-15);
    assert_true(isinf(g.interval_s));
    assert_near(g.first_order, one.first_order, 0.005);
    struct goodput_tier mixed[] = {
        { .share = 0.75, .c = { .stall_s = 0.2, .restart_s = 60 }, .interval_s = NAN },
        { .share = 0.25, .c = c, .interval_s = NAN },
    };
    goodput_of_tiers(&g, mixed, 2, m);
    goodput_of_tiers(&high, mixed, 2, m * (1 + step));
    assert_close(g.per_mtbi, (high.goodput - g.goodput) / (step * m), 1e-3);
    mixed[0].c.restart_s++;
    mixed[1].c.restart_s++;
    goodput_of_tiers(&high, mixed, 2, m);
    assert_close(g.per_restart, high.goodput - g.goodput, 1e-3);
    mixed[1].c.stall_s = 1e6;
    goodput_of_tiers(&g, mixed, 2, m);
    assert_true(g.goodput == 0 && g.first_order == 0);
}

/* ---- spares ---- */

/* An NVL72 of 18 trays of 4: MTBF 12,000 h by 2,000 GPU-days a failure, 4 h of repair. */
TEST(spares_are_binomial)
{
    double down = 1 - reliability_availability(12000, 4);
    assert_near(spares_enough(18, 0, down), 0.9940, 5e-5);
    assert_near(spares_enough(17, 1, down), 0.99998, 5e-6);
    assert_true(spares_enough(16, 2, down) > 0.999999);
    assert_near(spares_enough(18, 0, 1 - reliability_availability(6000, 4)), 0.9881, 5e-5);
    assert_true(spares_enough(18, 0, 0) == 1);
    /* Straight from the definition, where nothing underflows. */
    double sum = 0;
    for (int j = 0; j <= 3; j++)
        sum += tgamma(24) / tgamma(j + 1) / tgamma(24 - j) * pow(0.1, j) * pow(0.9, 23 - j);
    assert_close(spares_enough(20, 3, 0.1), sum, 1e-12);
}

TEST(pool_of_spares_is_the_least_that_is_enough)
{
    assert_int_equal(spares_needed(0, 0.99), 0);
    assert_int_equal(spares_needed(0.01, 0.99), 0); /* exp(-0.01) = 0.99005 */
    assert_int_equal(spares_needed(0.0101, 0.99), 1);
    assert_int_equal(spares_needed(2, 0.99), 6); /* 0.9834 with 5, 0.9955 with 6 */
    int64_t s = spares_needed(1e4, 0.99);        /* near the normal quantile: 10000 + 2.326 * 100 */
    assert_in_range(s, 10230, 10236);
}

TEST(checkpoints_take_the_slower_of_node_and_store)
{
    assert_close(checkpoint_write_s(5.67e12, 2048, 25e9, 2e12), 2.835, 1e-12);
    assert_close(checkpoint_write_s(5.67e12, 2048, 1e8, 2e12), 5.67e12 / 2048 / 1e8, 1e-12);
}
