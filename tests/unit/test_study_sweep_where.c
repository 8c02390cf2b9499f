/* Which points satisfy the constraints of a sweep, and which constraints cannot be decided. */
#include "kinds/design/explore/runner.h"
#include "tests/unit/sweep_text.h"

/* ---- which points pass ---- */

/* Numbers of the points that pass on a network, joined by blanks. */
static void passing(struct text *out, const struct sweep *w, const struct topo_network *net)
{
    for (int64_t i = 0; i < w->n_points; i++) {
        struct sweep_point p;
        double facts[DESIGN_FACTS] = { 0 };
        sweep_find_point(&p, w, i);
        if (net)
            design_facts(facts, net);
        if (sweep_passes(w, &p, net ? facts : NULL))
            text_printf(out, "%s%lld", out->n ? " " : "", (long long)i);
    }
}

TEST(points_pass_that_satisfy_every_constraint)
{
    static const struct {
        const char *where, *vary, *net, *points;
    } cases[] = {
        { "[ total_GBps <= 2 ]", "{ total_GBps: [1, 2, 3] }", NULL, "0 1" },
        { "[ 2 <= total_GBps, total_GBps <= 2 ]", "{ total_GBps: [1, 2, 3] }", NULL, "1" },
        { "[ total_GBps == 2*time_limit_s ]", "{ total_GBps: [1, 2, 4], time_limit_s: [1, 2] }", NULL,
          "2 5" },
        /* Rounding does not decide: 0.1 + 0.2 is more than 0.3 in binary. */
        { "[ total_GBps + time_limit_s <= 0.3 ]", "{ total_GBps: [0.1, 0.2], time_limit_s: [0.1, 0.2] }",
          NULL, "0 1 2" },
        /* Keys by their last names, and by their whole paths. */
        { "[ peak_TFLOPS >= 300 ]", "{ network.npu.peak_TFLOPS: [200, 300] }", NULL, "1" },
        { "[ network.npu.usd - 100*npu.peak_TFLOPS <= 0 ]",
          "{ zip: { network.npu.usd: [1e4, 2e4, 4e4], network.npu.peak_TFLOPS: [100, 200, 300] } }", NULL,
          "0 1" },
        { "[ a.size <= b.size ]", "{ workload.groups.a.size: [2, 4], workload.groups.b.size: [2, 4] }", NULL,
          "0 1 3" },
        /* Facts of the network: nothing is known, and so nothing left out, without it. */
        { "[ n_npus <= 31 ]", "{ total_GBps: [1, 2] }", NULL, "0 1" },
        { "[ n_npus <= 31 ]", "{ total_GBps: [1, 2] }", "ring:4 switch:8", "" },
        { "[ n_npus == 32, n_dims == 2, size1 == 4, size2 >= 8, size3 + size8 == 2 ]",
          "{ total_GBps: [1, 2] }", "ring:4 switch:8", "0 1" },
        { "[ total_GBps >= size2 ]", "{ total_GBps: [7, 8, 9] }", "ring:4 switch:8", "1 2" },
        { "[ size1 == 5, total_GBps <= 7 ]", "{ total_GBps: [7, 8, 9] }", NULL, "0" },
        /* The study's own value where a grid does not vary the key. */
        { "[ total_GBps >= 5 ]", "[ { total_GBps: [4, 6] }, { model: [x] } ]", NULL, "1 2" },
        { "[]", "{ total_GBps: [1, 2] }", NULL, "0 1" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        KEEP(struct text, text, text_free) = { 0 };
        KEEP(struct text, got, text_free) = { 0 };
        text_printf(&text, SWEEP_BASE "total_GBps: 5\nvary: %s\nwhere: %s\n", cases[i].vary, cases[i].where);
        SWEEP(w, text_str(&text));
        if (cases[i].net)
            OK(topo_parse_spec(&net, cases[i].net, e));
        passing(&got, &w.sweep, cases[i].net ? &net : NULL);
        assert_string_equal(text_str(&got), cases[i].points);
    }
}

TEST(a_study_without_where_leaves_nothing_out)
{
    KEEP(struct text, got, text_free) = { 0 };
    SWEEP(w, SWEEP_BASE "vary: { total_GBps: [1, x] }\n");
    passing(&got, &w.sweep, NULL);
    assert_string_equal(text_str(&got), "0 1");
}

TEST(an_overridden_key_has_its_value_at_every_point)
{
    const struct study_override o = { "total_GBps", "6" };
    KEEP(struct study, w, study_close);
    KEEP(struct text, got, text_free) = { 0 };
    OK(sweep_of(
        &w, SWEEP_BASE "vary: [ { total_GBps: [1, 2] }, { model: [x, y] } ]\nwhere: [ total_GBps >= 6 ]\n",
        &o, 1, e));
    passing(&got, &w.sweep, NULL);
    assert_string_equal(text_str(&got), "0 1 2");
}

/* ---- what is refused ---- */

TEST(constraints_that_cannot_be_decided_are_refused_at_their_place)
{
    static const struct refusal cases[] = {
        { "vary: { total_GBps: [1] }\nwhere: total_GBps <= 1\n", ERR_PARSE,
          "study.yaml:4:8: where is total_GBps <= 1, expected a list" },
        { "vary: { total_GBps: [1] }\nwhere: [ totl_GBps <= 1 ]\n", ERR_PARSE,
          "study.yaml:4:10: where[0] has unknown name \"totl_GBps\"; did you mean \"total_GBps\"?" },
        { "vary: { total_GBps: [1] }\nwhere: [ total_GBps <= 1, 'n_npus <' ]\n", ERR_PARSE,
          "study.yaml:4:35: where[1] is \"<\", expected \"<=\" or \">=\"" },
        { "vary: { total_GBps: [1, abc, 2] }\nwhere: [ total_GBps <= 1 ]\n", ERR_RANGE,
          "study.yaml:4:10: where[0] asks for total_GBps, which is abc at value 2 of 3; expected numbers" },
        { "vary: [ { total_GBps: [1] }, { model: [x] } ]\nwhere: [ total_GBps <= 1 ]\n", ERR_RANGE,
          "study.yaml:4:10: where[0] asks for total_GBps, which grid 2 does not vary; expected a value of it "
          "in the study" },
        /* Two keys end so: neither is meant. */
        { "vary: { network.dims.dim1.max_GBps: [1], network.dims.dim2.max_GBps: [1] }\nwhere: [ max_GBps <= "
          "1 ]\n",
          ERR_PARSE, "where[0] has unknown name \"max_GBps\"" },
        { "vary: { total_GBps: [1] }\nwhere: [ seed <= 1 ]\n", ERR_PARSE,
          "where[0] has unknown name \"seed\"" },
        { "vary: { total_GBps: [1] }\nwhere: [ [1] ]\n", ERR_PARSE, "where[0] is a list, expected" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct study w;
        char text[600];
        snprintf(text, sizeof text, SWEEP_BASE "%s", cases[i].text);
        FAILS(sweep_of(&w, text, NULL, 0, e), cases[i].code, cases[i].message);
        assert_true(!strchr(e->msg, '\n') && w.sweep.n_axes == 0 && !w.sweep.where);
    }
}
