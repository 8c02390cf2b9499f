#include "sim/hetero/profile.h"
#include "tests/settings.h"
#include "tests/support.h"
#include "tests/unit/hetero_models.h"

static void build(struct hetero_profile *p, const struct hetero_draw *d)
{
    struct err e = { 0 };
    assert_ok(hetero_draw_profile(p, d, &e), &e);
    assert_int_equal(hetero_profile_check(p, &e), 0);
}

/* A profile that is released where the block ends. */
#define DRAWN(p, d)                                                                                          \
    KEEP(struct hetero_profile, p, hetero_profile_free);                                                     \
    build(&p, d)

static struct hetero_draw of_model(enum hetero_model model)
{
    WITH(struct hetero_draw, d, hetero_draw_default(), d.model = model);
    return d;
}

static size_t cell(const struct hetero_profile *p, int32_t layer, int32_t type)
{
    return (size_t)layer * (size_t)p->n_types + (size_t)type;
}

/* ---- layers ---- */

TEST(each_model_has_the_layers_of_its_kinds)
{
    CASES(enum hetero_model model; const char *name, *kinds /* their first letters */) = {
        { HETERO_CTRDNN, "ctrdnn", "epcffffffffffffl" },
        { HETERO_MATCHNET, "matchnet", "epfffffepfffffsl" },
        { HETERO_2EMB, "2emb", "epepcffffl" },
        { HETERO_NCE5, "nce", "epfnl" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct hetero_draw d = of_model(cases[i].model);
        DRAWN(p, &d);
        assert_string_equal(p.name, cases[i].name);
        assert_string_equal(hetero_model_words[cases[i].model], cases[i].name);
        assert_int_equal(p.n_layers, strlen(cases[i].kinds));
        assert_true(p.batch == 4096);
        for (int32_t l = 0; l < p.n_layers; l++) {
            assert_int_equal(hetero_kind_words[p.layers[l].kind][0], cases[i].kinds[l]);
            for (int32_t k = 0; k < l; k++)
                assert_string_not_equal(p.layers[l].name, p.layers[k].name);
        }
    }
    assert_null(hetero_model_words[N_HETERO_MODELS]);
}

/* Where two branches meet, what comes in is both outputs. */
TEST(a_layer_takes_what_the_one_before_gives)
{
    for (int m = 0; m < N_HETERO_MODELS; m++) {
        struct hetero_draw d = of_model((enum hetero_model)m);
        DRAWN(p, &d);
        double other_B = 0; /* what a branch that ended has left */
        for (int32_t l = 1; l < p.n_layers; l++) {
            double before_B = p.layers[l - 1].out_B;
            bool joins = p.layers[l].kind == HETERO_SIMILARITY || p.layers[l].kind == HETERO_CONCAT;
            if (p.layers[l].kind == HETERO_EMBEDDING)
                other_B = before_B;
            else
                assert_true(p.layers[l].in_B == before_B + (joins ? other_B : 0));
        }
    }
}

TEST(the_products_of_CTRDNN_have_the_generators_widths)
{
    static const double widths[] = { 8000, 1024, 1024, 512, 512, 256, 256, 128, 128, 64, 64, 32, 2 };
    struct hetero_draw d = of_model(HETERO_CTRDNN);
    DRAWN(p, &d);
    for (size_t i = 0; i + 1 < COUNT_OF(widths); i++) {
        const struct hetero_layer *l = &p.layers[3 + i];
        assert_int_equal(l->kind, HETERO_FC);
        assert_true(l->in_B == 4 * widths[i] && l->out_B == 4 * widths[i + 1]);
        assert_true(l->weight_B == 4 * widths[i] * widths[i + 1] && l->sparse_B == 0);
    }
}

TEST(only_embeddings_load_parameter_servers)
{
    for (int m = 0; m < N_HETERO_MODELS; m++) {
        struct hetero_draw d = of_model((enum hetero_model)m);
        DRAWN(p, &d);
        /* 8 bytes an element, pulled and pushed: twice what comes out. */
        for (int32_t l = 0; l < p.n_layers; l++)
            assert_true(p.layers[l].sparse_B ==
                        (p.layers[l].kind == HETERO_EMBEDDING ? 2 * p.layers[l].out_B : 0));
    }
}

/* ---- seconds ---- */

/* Worked out by hand from the generator's formulas: 4096 examples, cores of 20 GFLOP/s, 4 and 2 GB/s, GPUs of
 * 7 TFLOP/s, 400, 0.3 and 12.5 GB/s. */
TEST(seconds_of_CTRDNN_are_the_generators)
{
    CASES(int32_t layer, type; double compute_s, sync_s, handover_s) = {
        { 0, 0, 4096 * 500.0 * 16 * 16 / 4e9, 4096 * 500.0 * 16 * 8 / 2e9, 0 },
        { 0, 1, 1.31072e-3, 0.26214400 / 0.3, 0 },
        { 1, 0, 4096 * 8000.0 * 16 / 4e9, 0, 0.065536 },
        { 3, 0, 10.0663296, 0.032768, 4096 * 1024 * 4 / 2e9 },
        { 3, 1, 201326592e3 / 7e12, 5.24288e-3, 16777216 / 12.5e9 },
        { 14, 0, 6 * 4096 * 64 / 2e10, 8 * 64 / 2e9, 4096 * 8 / 2e9 },
    };
    struct hetero_draw d = of_model(HETERO_CTRDNN);
    DRAWN(p, &d);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t at = cell(&p, cases[i].layer, cases[i].type);
        assert_close(p.compute_s[at], cases[i].compute_s, 1e-14);
        assert_close(p.sync_s[at], cases[i].sync_s, 1e-14);
        assert_close(p.handover_s[at], cases[i].handover_s, 1e-14);
    }
}

TEST(work_and_rows_grow_with_the_batch_and_weights_do_not)
{
    for (int m = 0; m < N_HETERO_MODELS; m++) {
        struct hetero_draw d = of_model((enum hetero_model)m);
        DRAWN(p, &d);
        d.batch *= 2;
        DRAWN(q, &d);
        for (int32_t i = 0; i < p.n_layers * p.n_types; i++) {
            bool rows = p.layers[i / p.n_types].sparse_B > 0;
            assert_true(q.compute_s[i] == 2 * p.compute_s[i] && q.handover_s[i] == 2 * p.handover_s[i]);
            assert_true(q.sync_s[i] == (rows ? 2 : 1) * p.sync_s[i]);
        }
    }
}

/* ---- types ---- */

TEST(the_types_are_a_core_and_a_GPU_as_assumed)
{
    struct hetero_draw d = hetero_draw_default();
    DRAWN(p, &d);
    assert_int_equal(p.n_types, 2);
    const struct hetero_type *cpu = &p.types[0], *gpu = &p.types[1];
    assert_string_equal(cpu->name, "cpu");
    assert_string_equal(gpu->name, "gpu");
    assert_true(cpu->cpu && !gpu->cpu && cpu->usd_per_h == 0.04 && gpu->usd_per_h == 2.42);
    assert_true(cpu->max_units == 256 && gpu->max_units == 64);
    assert_true(cpu->compute_par == 0.97 && gpu->compute_par == 0.995);
    assert_true(cpu->comm_par == 0.95 && gpu->comm_par == 0.90);
    assert_true(cpu->nic_Bps == 2e9 && gpu->nic_Bps == 12.5e9 && cpu->host == -1 && gpu->host == -1);
}

/* What is bound by arithmetic or memory is faster by one factor, the network is not, and the price follows.
 */
TEST(further_GPUs_cost_their_speed_to_the_power_of_four_fifths)
{
    WITH(struct hetero_draw, d, hetero_draw_default(), d.n_types = 64);
    double slowest = INFINITY, fastest = 0;
    DRAWN(p, &d);
    assert_string_equal(p.types[2].name, "gpu2");
    assert_string_equal(p.types[63].name, "gpu63");
    for (int32_t t = 2; t < p.n_types; t++) {
        double speed = p.compute_s[1] / p.compute_s[t];
        assert_true(!p.types[t].cpu && p.types[t].max_units == 64);
        assert_close(p.types[t].usd_per_h, 2.42 * pow(speed, 0.8), 1e-12);
        for (int32_t l = 0; l < p.n_layers; l++) {
            assert_close(p.compute_s[cell(&p, l, 1)], speed * p.compute_s[cell(&p, l, t)], 1e-12);
            assert_true(p.sync_s[cell(&p, l, t)] == p.sync_s[cell(&p, l, 1)]);
            assert_true(p.handover_s[cell(&p, l, t)] == p.handover_s[cell(&p, l, 1)]);
        }
        slowest = fmin(slowest, speed);
        fastest = fmax(fastest, speed);
    }
    assert_true(slowest >= 0.5 && slowest < 0.55 && fastest <= 2 && fastest > 1.8);
}

TEST(a_type_is_the_same_whatever_is_beside_it)
{
    struct hetero_draw few = of_model(HETERO_2EMB), many = few, other = few;
    few.n_types = 5;
    many.n_types = HETERO_MAX_TYPES;
    other.n_types = 5;
    other.seed = 2;
    DRAWN(p, &few);
    DRAWN(q, &many);
    DRAWN(o, &other);
    for (int32_t t = 0; t < few.n_types; t++) {
        assert_string_equal(p.types[t].name, q.types[t].name);
        assert_true(p.types[t].usd_per_h == q.types[t].usd_per_h);
        for (int32_t l = 0; l < p.n_layers; l++)
            assert_true(p.compute_s[cell(&p, l, t)] == q.compute_s[cell(&q, l, t)]);
        assert_true((o.compute_s[t] == p.compute_s[t]) == (t < 2));
    }
}

/* ---- the instances as a whole ---- */

static double usd_of(struct hetero_models_case *c, const hetero_id *plan)
{
    struct hetero_value v;
    hetero_evaluate(&v, &c->problem, plan, &c->work);
    return v.status == HETERO_OK ? v.usd : INFINITY;
}

/* Look-ups and pooling on cores, everything else on GPUs. */
static double usd_of_rule(struct hetero_models_case *c)
{
    hetero_id plan[HETERO_MAX_LAYERS];
    for (int32_t l = 0; l < c->profile.n_layers; l++)
        plan[l] =
            c->profile.layers[l].kind != HETERO_EMBEDDING && c->profile.layers[l].kind != HETERO_POOL ? 1 : 0;
    return usd_of(c, plan);
}

static double usd_at_least(struct hetero_models_case *c)
{
    hetero_id plan[HETERO_MAX_LAYERS];
    double usd = INFINITY;
    for (int32_t i = 0; hetero_models_each(plan, c->profile.n_layers, i); i++)
        usd = fmin(usd, usd_of(c, plan));
    return usd;
}

/* 1.19 to 2.23 times the cheapest is what another program of the same formulas measured on these models; that
 * program's sizes are not known, so the open ones were chosen to stay in its range (docs/hetero.md). Plans of
 * more than four stages are not tried here. */
TEST(at_half_of_what_all_reach_no_type_is_enough_and_the_rule_is_dear)
{
    for (int m = 0; m < N_HETERO_MODELS; m++) {
        HETERO_MODELS(c, (enum hetero_model)m, HETERO_MODELS_TIGHT);
        hetero_id plan[HETERO_MAX_LAYERS] = { 0 };
        assert_true(isinf(usd_of(&c, plan)));
        for (int32_t l = 0; l < c.profile.n_layers; l++)
            plan[l] = 1;
        assert_true(isinf(usd_of(&c, plan)));
        double ratio = usd_of_rule(&c) / usd_at_least(&c);
        assert_in_range((int)(100 * ratio + 0.5), 119, 223);
    }
}

TEST(from_a_tenth_to_twice_the_loose_limit_nothing_changes)
{
    for (int m = 0; m < N_HETERO_MODELS; m++) {
        HETERO_MODELS(c, (enum hetero_model)m, HETERO_MODELS_LOOSE);
        double loose_per_s = c.problem.per_s;
        hetero_set_throughput(&c.problem, 0.1 * loose_per_s);
        double usd = usd_at_least(&c);
        hetero_set_throughput(&c.problem, 2 * loose_per_s);
        assert_true(usd_at_least(&c) == usd);
    }
}
