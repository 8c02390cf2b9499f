/* Points of zips, unions and samples, in their order and up to 2^63 of them. */
#include "tests/unit/sweep_text.h"
#include "base/num.h"

/* ---- forms ---- */

TEST(points_come_in_the_order_of_the_study)
{
    static const struct {
        const char *vary, *points;
    } cases[] = {
        { "{ total_GBps: [1, 2], objective: [a, b] }", "1,a 1,b 2,a 2,b" },
        { "{ zip: { total_GBps: [1, 2], objective: [a, b] } }", "1,a 2,b" },
        { "{ zip: { total_GBps: { from: 1, to: 3, step: 1 }, objective: [a, b, c] }, model: [x, y] }",
          "1,a,x 1,a,y 2,b,x 2,b,y 3,c,x 3,c,y" },
        { "{ zip: [ { total_GBps: [1, 2], objective: [a, b] }, { model: [x, y], combine: [s, t] } ] }",
          "1,a,x,s 1,a,y,t 2,b,x,s 2,b,y,t" },
        { "{ union: [ { total_GBps: [1, 2] }, { objective: [a, b] } ] }", "1,- 2,- -,a -,b" },
        { "[ { total_GBps: [1, 2] }, { objective: [a] } ]", "1,- 2,- -,a" },
        { "{ model: [x, y], union: [ { total_GBps: [1, 2] }, { objective: [a] } ], combine: [s] }",
          "x,1,-,s x,2,-,s y,1,-,s y,2,-,s x,-,a,s y,-,a,s" },
        /* A union inside a union, and the same key in several members. */
        { "{ union: [ { total_GBps: [1], union: [ { model: [x] }, { model: [y] } ] }, { total_GBps: [2] } ] "
          "}",
          "1,x 1,y 2,-" },
        { "[ [ { total_GBps: [1] }, { total_GBps: [2] } ], { total_GBps: [3] } ]", "1 2 3" },
        { "{ zip: { total_GBps: [1] }, union: [ { zip: { model: [x, y], objective: [a, b] } } ] }",
          "1,x,a 1,y,b" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, text, text_free) = { 0 };
        KEEP(struct text, points, text_free) = { 0 };
        text_printf(&text, SWEEP_BASE "vary: %s\n", cases[i].vary);
        SWEEP(w, text_str(&text));
        sweep_points(&points, &w.sweep);
        assert_string_equal(text_str(&points), cases[i].points);
    }
}

TEST(an_override_is_the_value_wherever_its_key_varies)
{
    static const struct {
        const char *vary, *points;
    } cases[] = {
        { "{ total_GBps: [1, 2], model: [x, y] }", "9,x 9,y" },
        { "{ zip: { total_GBps: [1, 2], model: [x, y] } }", "9,x 9,y" },
        { "{ zip: { total_GBps: [1, 2] }, model: [x] }", "9,x" },
        { "{ union: [ { total_GBps: [1, 2] }, { model: [x, y] }, { total_GBps: [3, 4, 5] } ] }",
          "9,- -,x -,y 9,-" },
        { "{ sobol: { points: 3, keys: { total_GBps: { from: 1, to: 2 }, model: [x] } } }", "9,x 9,x 9,x" },
        { "{ sobol: { points: 3, keys: { total_GBps: { from: 1, to: 2 } } } }", "9" },
    };
    const struct study_override o = { "total_GBps", "9" };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        KEEP(struct text, text, text_free) = { 0 };
        KEEP(struct text, points, text_free) = { 0 };
        text_printf(&text, SWEEP_BASE "vary: %s\n", cases[i].vary);
        OK(sweep_of(&w, text_str(&text), &o, 1, e));
        sweep_points(&points, &w.sweep);
        assert_string_equal(text_str(&points), cases[i].points);
        for (int32_t k = 0; k < w.sweep.n_keys; k++)
            assert_int_equal(w.sweep.keys[k].overridden, strcmp(w.sweep.keys[k].path, "total_GBps") == 0);
    }
}

/* ---- samples ---- */

static double number_at(const struct sweep *w, int64_t i, int32_t key)
{
    struct sweep_point p;
    double x = NAN;
    sweep_find_point(&p, w, i);
    assert_true(num_parse_real(sweep_value(w, &p, key), &x));
    return x;
}

/* The first number of Sobol's points is van der Corput's, in the order of Gray's code. */
static double gray_corput(int64_t i)
{
    double x = 0, half = 0.5;
    for (int64_t bits = i ^ (i >> 1); bits; bits >>= 1, half /= 2)
        x += bits & 1 ? half : 0;
    return x;
}

TEST(samples_follow_the_sequence_in_linear_and_log_scale)
{
    struct study w;
    for (int skip = 0; skip <= 5; skip += 5) {
        char text[600];
        snprintf(text, sizeof text,
                 SWEEP_BASE "vary: { sobol: { points: 64, skip: %d, keys: { total_GBps: { from: 10, to: 1010 "
                            "}, time_limit_s: { from: 0.01, to: 100, scale: log } } } }\n",
                 skip);
        OK(sweep_of(&w, text, NULL, 0, e));
        assert_true(w.sweep.n_points == 64 && w.sweep.n_axes == 1 && w.sweep.axes[0].n_keys == 2);
        for (int64_t i = 0; i < w.sweep.n_points; i++)
            assert_close(number_at(&w.sweep, i, 0), 10 + 1000 * gray_corput(i + 1 + skip), 1e-11);
        /* (0.5, 0.5) is the first: half way between the ends of a log scale is their geometric mean. */
        if (skip == 0)
            assert_close(number_at(&w.sweep, 0, 1), 1, 1e-11);
        study_close(&w);
    }
}

TEST(samples_of_a_list_are_as_even_as_can_be)
{
    KEEP(struct study, w, study_close);
    int seen[4][4] = { { 0 } };
    /* The first 255 points and the origin, which is left out, fill each of 16 boxes 16 times. */
    OK(sweep_of(&w,
                SWEEP_BASE "vary: { sobol: { points: 255, keys: { total_GBps: [0, 1, 2, 3], time_limit_s: "
                           "{ from: 0, to: 3, step: 1 } } } }\n",
                NULL, 0, e));
    seen[0][0]++;
    for (int64_t i = 0; i < w.sweep.n_points; i++)
        seen[(int)number_at(&w.sweep, i, 0)][(int)number_at(&w.sweep, i, 1)]++;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            assert_int_equal(seen[a][b], 16);
}

/* ---- limits ---- */

/* Ranges of 1000 values: 1000^6 points and, in a union, more of them. */
static void put_huge(struct text *text, int n)
{
    for (int i = 0; i < n; i++)
        text_printf(text, "%sworkload.groups.g%d.size: { from: 1, to: 1000, step: 1 }", i ? ", " : "{ ", i);
    text_puts(text, " }");
}

TEST(as_many_points_are_numbered_as_fit_64_bits)
{
    struct study w;
    TEXT(text, SWEEP_BASE "vary: [ ");
    for (int i = 0; i < 9; i++) {
        text_puts(&text, i ? ", " : "");
        put_huge(&text, 6);
    }
    text_puts(&text, " ]\n");
    OK(sweep_of(&w, text_str(&text), NULL, 0, e));
    assert_true(w.sweep.n_points == INT64_C(9000000000000000000) && w.sweep.n_grids == 9);
    struct sweep_point p;
    sweep_find_point(&p, &w.sweep, INT64_C(8123456789012345678));
    assert_int_equal(p.grid, 8);
    const char *digits[] = { "124", "457", "790", "13", "346", "679" };
    for (int32_t k = 0; k < 6; k++)
        assert_string_equal(sweep_value(&w.sweep, &p, k), digits[k]);
    study_close(&w);

    text_clear(&text);
    text_puts(&text, SWEEP_BASE "vary: ");
    put_huge(&text, 7);
    text_puts(&text, "\n");
    FAILS(sweep_of(&w, text_str(&text), NULL, 0, e), ERR_RANGE,
          "vary.workload.groups.g6.size makes more than 2^63 - 1 points; use fewer values");
    assert_true(w.sweep.n_axes == 0 && w.sweep.n_points == 0);

    text_clear(&text);
    text_puts(&text, SWEEP_BASE "vary: [ ");
    for (int i = 0; i < 10; i++) {
        text_puts(&text, i ? ", " : "");
        put_huge(&text, 6);
    }
    text_puts(&text, " ]\n");
    FAILS(sweep_of(&w, text_str(&text), NULL, 0, e), ERR_RANGE,
          "study.yaml:3:7: vary makes more than 2^63 - 1 points; use fewer values");
}

TEST(more_grids_than_fit_are_refused)
{
    KEEP(struct text, text, text_free) = { 0 };
    struct study w;
    for (int n = 256; n <= 257; n++) {
        text_clear(&text);
        text_puts(&text, SWEEP_BASE "vary: {union: [");
        for (int i = 0; i < n; i++)
            text_printf(&text, "%s{total_GBps: [%d]}", i ? ", " : "", i + 1);
        text_puts(&text, "]}\n");
        if (n == 256) {
            OK(sweep_of(&w, text_str(&text), NULL, 0, e));
            assert_true(w.sweep.n_points == 256 && w.sweep.n_grids == 256);
            study_close(&w);
        } else {
            FAILS(sweep_of(&w, text_str(&text), NULL, 0, e), ERR_RANGE,
                  "study.yaml:3:15: vary.union makes more than 256 grids");
        }
    }
}

/* ---- what is refused ---- */

TEST(bad_forms_are_refused_at_their_place)
{
    static const struct refusal cases[] = {
        { "{ zip: { total_GBps: [1, 2], time_limit_s: [1, 2, 3] } }", ERR_RANGE,
          "study.yaml:3:50: vary.zip.time_limit_s has 3 values, expected 2 as total_GBps has" },
        { "{ zip: {} }", ERR_PARSE, "study.yaml:3:14: vary.zip is empty, expected at least one key" },
        { "{ zip: [] }", ERR_PARSE, "vary.zip is empty, expected at least one map of keys" },
        { "{ zip: [ { total_GBps: [1] }, 5 ] }", ERR_PARSE, "vary.zip[1] is 5, expected a map" },
        { "{ zip: { totl_GBps: [1] } }", ERR_PARSE,
          "unknown key \"vary.zip.totl_GBps\" (\"totl_GBps\" is no key of study); did you mean "
          "\"total_GBps\"" },
        { "{ zip: { total_GBps: [] } }", ERR_PARSE,
          "vary.zip.total_GBps is empty, expected at least one value" },
        { "{ zop: { total_GBps: [1] } }", ERR_PARSE,
          "study.yaml:3:9: unknown key \"vary.zop\"; did you mean \"zip\"?" },
        { "{ onion: [1] }", ERR_PARSE, "unknown key \"vary.onion\"; did you mean \"union\"?" },
        { "{ sobol: {} }", ERR_PARSE, "vary.sobol has no points" },
        { "{ sobol: { points: 4 } }", ERR_PARSE, "vary.sobol has no keys" },
        { "{ sobol: { points: 4, keys: {} } }", ERR_PARSE,
          "vary.sobol.keys is empty, expected at least one key" },
        { "{ sobol: { points: 0, keys: { total_GBps: [1] } } }", ERR_RANGE,
          "vary.sobol.points is 0, expected 1 to 1000000" },
        { "{ sobol: { pionts: 4 } }", ERR_PARSE,
          "unknown key \"vary.sobol.pionts\"; did you mean \"points\"" },
        { "{ sobol: { points: 4, keys: { total_GBps: { from: 1, to: 2, scale: lgo } } } }", ERR_PARSE,
          "scale is lgo, expected one of linear, log; did you mean log?" },
        { "{ sobol: { points: 4, keys: { total_GBps: { from: 0, to: 2, scale: log } } } }", ERR_RANGE,
          "vary.sobol.keys.total_GBps.from is 0, expected more than 0 with scale log" },
        { "{ sobol: { points: 4, keys: { total_GBps: { from: 2, to: 2 } } } }", ERR_RANGE,
          "vary.sobol.keys.total_GBps.to is 2, expected more than from, 2" },
        { "{ sobol: { points: 4, keys: { total_GBps: 5 } } }", ERR_PARSE,
          "vary.sobol.keys.total_GBps is 5, expected a list" },
        { "{ sobol: [] }", ERR_PARSE, "vary.sobol is empty, expected at least one map" },
        { "{ union: [] }", ERR_PARSE,
          "study.yaml:3:16: vary.union is empty, expected at least one map of axes" },
        { "{ union: { total_GBps: [1] } }", ERR_PARSE, "vary.union is a map, expected a list" },
        { "{ union: [ {} ] }", ERR_PARSE, "vary.union[0] is empty, expected at least one axis" },
        { "{ union: [ 7 ] }", ERR_PARSE,
          "vary.union[0] is 7, expected a map of axes or a list of such maps" },
        { "[]", ERR_PARSE, "study.yaml:3:7: vary is empty, expected at least one map of axes" },
        { "[ 5 ]", ERR_PARSE, "vary[0] is 5, expected a map of axes" },
        { "{ total_GBps: [1], zip: { total_GBps: [2] } }", ERR_RANGE,
          "/study.yaml:3:33: vary.zip.total_GBps varies twice: also as key total_GBps of another axis" },
        { "{ union: [ { total_GBps: [1] } ], total_GBps: [2] }", ERR_RANGE, "vary.total_GBps varies twice" },
        { "{ total_GBps: [2], union: [ { model: [x] }, { total_GBps: [1] } ] }", ERR_RANGE,
          "vary.union[1].total_GBps varies twice" },
        { "{ total_GBps: [1], network: { factor: { npus: 4 } }, sobol: { points: 2, keys: { network: [x] } } "
          "}",
          ERR_RANGE, "vary.sobol.keys.network varies twice" },
        { "{ union: [ { network.dims.dim1.max_GBps: [1] }, { 'network.dims[0].max_GBps': [1], "
          "network.dims.dim1.max_GBps: [2] } ], network: [ { dims: [ { name: dim1, shape: ring, size: 4 } ] "
          "} ] }",
          ERR_RANGE,
          "vary has \"network.dims.dim1.max_GBps\" and \"network.dims[0].max_GBps\"; use one axis for what "
          "is one key" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct study w;
        char text[600];
        snprintf(text, sizeof text, SWEEP_BASE "vary: %s\n", cases[i].text);
        FAILS(sweep_of(&w, text, NULL, 0, e), cases[i].code, cases[i].message);
        assert_true(!strchr(e->msg, '\n') && w.sweep.n_axes == 0 && w.sweep.n_points == 0);
    }
}

/* ---- notes ---- */

TEST(a_note_about_a_key_is_a_matter_of_the_grids_that_vary_it)
{
    struct study w;
    /* Objective time has no use for the limit; in the second grid nothing sets it. */
    OK(sweep_of(&w,
                SWEEP_BASE "vary: [ { time_limit_s: [1, 2], total_GBps: [1] }, { total_GBps: [1, 2] } ]\n",
                NULL, 0, e));
    assert_has(text_str(&w.notes), "time_limit_s has no effect here");
    study_close(&w);
    /* One workload has nothing to combine, two have; a seed is of no use anywhere. */
    OK(sweep_of(&w,
                "network: ring:4\ntotal_GBps: 4\ncombine: sum\nseed: 2\nvary:\n"
                "  - { workload: [ { step: { compute_ms: 1 } } ] }\n"
                "  - { workloads: [ [ { workload: { step: { compute_ms: 1 } } }, { workload: { step: { "
                "compute_ms: 2 } } } ] ] }\n",
                NULL, 0, e));
    assert_has(text_str(&w.notes), "study.yaml:4:1: seed has no effect here");
    assert_null(strstr(text_str(&w.notes), "combine"));
    assert_null(strstr(strstr(text_str(&w.notes), "seed") + 1, "seed"));
    study_close(&w);
}

/* ---- axes that fill a limit ---- */

/* What fits at each objective: nothing, some of 64, all but the last. */
struct site {
    const struct sweep *w;
    int32_t size, objective, most[3], n_asked;
};

static int32_t most_at(const struct site *s, const struct sweep_point *p)
{
    return s->most[sweep_value(s->w, p, s->objective)[0] - 'a'];
}

static int size_fits(void *data, const struct sweep_point *p, bool *within, struct err *e)
{
    struct site *s = data;
    double size = 0;
    (void)e;
    assert_true(num_parse_real(sweep_value(s->w, p, s->size), &size));
    *within = size <= most_at(s, p);
    s->n_asked++;
    return 0;
}

static struct site site_of(const struct sweep *w)
{
    struct site s = { .w = w, .most = { 0, 17, 63 } };
    for (int32_t k = 0; k < w->n_keys; k++) {
        s.size = strcmp(w->keys[k].path, "total_GBps") == 0 ? k : s.size;
        s.objective = strcmp(w->keys[k].path, "objective") == 0 ? k : s.objective;
    }
    return s;
}

static void fill_axis(const struct sweep *w, int32_t key)
{
    for (int32_t k = 0; k < w->n_axes; k++)
        w->axes[k].fills = w->axes[k].fills || w->axes[k].keys[0] == key;
}

/* Of each objective the largest size that fits and no other, whatever the model, wherever axes stand. */
TEST(an_axis_that_fills_has_the_largest_value_of_each_combination)
{
    static const char *const ignored[] = { "workload", "model", "simulation", NULL };
    static const char *const varies[] = {
        "model: [x, y], simulation.chunks: [1, 2], total_GBps: %s, objective: [a, b, c]",
        "objective: [a, b, c], total_GBps: %s, simulation.chunks: [1, 2, 3]",
        "total_GBps: %s, workload.name: [A, B], objective: [a, b, c]",
    };
    for (size_t i = 0; i < COUNT_OF(varies); i++) {
        char text[256], vary[128];
        snprintf(vary, sizeof vary, varies[i], "{ from: 1, to: 64, step: 1 }");
        snprintf(text, sizeof text, SWEEP_BASE "vary: { %s }\n", vary);
        SWEEP(w, text);
        KEEP(struct yaml_doc, doc, yaml_free);
        OK(yaml_read_text(&doc, "study.yaml", text, strlen(text), e));
        struct site s = site_of(&w.sweep);
        assert_null(sweep_filled_key(&w.sweep));
        fill_axis(&w.sweep, s.size);
        assert_string_equal(sweep_filled_key(&w.sweep)->path, "total_GBps");
        OK(sweep_fill_axes(&w.sweep, ignored, size_fits, &s, &doc, e));
        assert_true(s.n_asked <= 3 * 8); /* log2 of 64 and the last, once for each objective */
        for (int64_t k = 0; k < w.sweep.n_points; k++) {
            struct sweep_point p;
            sweep_find_point(&p, &w.sweep, k);
            assert_int_equal(sweep_fills(&w.sweep, &p), number_at(&w.sweep, k, s.size) == most_at(&s, &p));
        }
    }
}

TEST(an_axis_that_cannot_fill_is_refused)
{
    static const char *const ignored[] = { NULL };
    static const char text[] =
        SWEEP_BASE "vary: { total_GBps: { from: 1, to: 64, step: 1 }, objective: [a, b, c] }\n";
    for (int two = 0; two < 2; two++) {
        SWEEP(w, text);
        KEEP(struct yaml_doc, doc, yaml_free);
        OK(yaml_read_text(&doc, "study.yaml", text, strlen(text), e));
        struct site s = site_of(&w.sweep);
        s.most[2] = 64;
        fill_axis(&w.sweep, s.size);
        if (two)
            fill_axis(&w.sweep, s.objective);
        FAILS(sweep_fill_axes(&w.sweep, ignored, size_fits, &s, &doc, e), ERR_RANGE,
              two ? "is the second axis of its grid with count: max" : "ends at 64, where no limit");
    }
}
