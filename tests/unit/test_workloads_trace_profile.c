#include "tests/support.h"

#include "workloads/traces/profile.h"

static int read_text(struct trace_profile *p, const char *text, struct err *e)
{
    char path[SUPPORT_PATH];
    SCRATCH(dir);
    return trace_read_profile(p, scratch_file(path, dir, "p.yaml", text, strlen(text)), e);
}

TEST(every_profile_that_comes_along_is_read)
{
    static const char folder[] = "configs/clusters/profiles";
    static struct trace_profile p;
    DIR *d = opendir(folder);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        char path[SUPPORT_PATH], name[TRACE_PROFILE_NAME + 8];
        if (entry->d_name[0] == '.')
            continue;
        OK(trace_read_profile(&p, scratch_path(path, folder, entry->d_name), e));
        snprintf(name, sizeof name, "%s.yaml", p.name);
        assert_string_equal(name, entry->d_name);
        assert_int_not_equal(p.gpus.kind, TRACE_DRAW_NONE);
        n++;
    }
    closedir(d);
    assert_true(n >= 3);
}

TEST(units_of_the_file_become_si)
{
    static struct trace_profile p;
    OK(read_text(&p,
                 "name: x\n"
                 "gpus: { values: [1, 4], weights: [3, 1] }\n"
                 "iter_ms: { from: 20, to: 80, log: true }\n"
                 "grad_MB: 100\n"
                 "models:\n"
                 "  - { name: a, weight: 1, batch: { from: 2, to: 5 } }\n"
                 "  - { name: b, weight: 3, iter_ms: 7, grad_MB: { from: 1, to: 2 } }\n",
                 e));
    assert_string_equal(p.name, "x");
    assert_true(p.gpus_per_worker == 1 && p.gpus.kind == TRACE_DRAW_LIST);
    assert_true(p.gpus.n == 2 && p.gpus.upto[0] == 0.75 && p.gpus.upto[1] == 1 && p.gpus.whole);
    assert_true(p.iter_s.kind == TRACE_DRAW_RANGE && p.iter_s.log);
    assert_close(p.iter_s.from, 0.02, 1e-15);
    assert_close(p.iter_s.to, 0.08, 1e-15);
    assert_true(p.grad_B.from == 1e8 && p.grad_B.to == 1e8 && p.ps.kind == TRACE_DRAW_NONE);
    assert_true(p.n_models == 2 && p.models[0].upto == 0.25 && p.models[1].upto == 1);
    assert_true(p.models[0].batch.from == 2 && p.models[0].batch.to == 5 && p.models[0].batch.whole);
    assert_int_equal(p.models[0].grad_B.kind, TRACE_DRAW_NONE);
    assert_close(p.models[1].iter_s.from, 0.007, 1e-15);
    assert_true(p.models[1].grad_B.from == 1e6 && p.models[1].grad_B.to == 2e6);
}

TEST(what_is_no_profile_is_refused)
{
    CASES(const char *text; enum err_code code; const char *message) = {
        { "gpu: 1\n", ERR_PARSE, "p.yaml:1:1: unknown key \"gpu\"; did you mean \"gpus\"" },
        { "gpus: 0\n", ERR_RANGE, "p.yaml:1:7: gpus is 0, expected a whole number from 1 to 1e+06" },
        { "gpus: 1.5\n", ERR_RANGE, "gpus is 1.5, expected a whole number" },
        { "gpus: many\n", ERR_PARSE, "p.yaml:1:7: gpus is many, expected a number" },
        { "gpus: [1, 2]\n", ERR_PARSE, "p.yaml:1:7: gpus is a list" },
        { "gpus: { from: 1 }\n", ERR_PARSE, "gpus is no distribution; give from and to, or values" },
        { "gpus: { from: 4, to: 2 }\n", ERR_RANGE, "gpus is from 4 to 2, expected from at most to" },
        { "gpus: { from: 1, to: 2, weights: [1] }\n", ERR_PARSE, "gpus is no distribution" },
        { "gpus: { values: [1], from: 1, to: 2 }\n", ERR_PARSE,
          "gpus has values and a range; give one of them" },
        { "gpus: { values: [] }\n", ERR_RANGE, "gpus.values has 0 entries, expected 1 to 16" },
        { "gpus: { values: [1, 0] }\n", ERR_RANGE, "gpus.values[1] is 0, expected a whole number" },
        { "gpus: { values: [1, 2], weights: [1] }\n", ERR_RANGE,
          "gpus.weights has 1 entries, expected 2, one per value" },
        { "gpus: { values: [1, 2], weights: [0, 0] }\n", ERR_RANGE, "gpus.weights has no weight above 0" },
        { "gpus: { values: [1, 2], weights: [1, -1] }\n", ERR_RANGE, "gpus.weights[1] is -1" },
        { "gpus_per_worker: 0\n", ERR_RANGE, "gpus_per_worker is 0, expected" },
        { "priority: { from: 0, to: 2, log: true }\n", ERR_RANGE,
          "priority is from 0 with log, expected more than 0" },
        { "iter_ms: 0\n", ERR_RANGE, "iter_ms is 0, expected a number from 1e-06" },
        { "models: []\n", ERR_RANGE, "models has 0 entries, expected 1 to 64" },
        { "models: [ { weight: 1 } ]\n", ERR_PARSE, "models[0] has no name" },
        { "models: [ { name: a, weight: 0 } ]\n", ERR_RANGE, "models has no weight above 0" },
        { "models: [ { name: a, grad_MB: -1 } ]\n", ERR_RANGE, "models[0].grad_MB is -1, expected a number" },
        { "models: [ { name: a123456789b123456789c123456789d123456789e123456789f123456789g123 } ]\n",
          ERR_RANGE, "models[0].name is 64 bytes long, expected at most 63" },
        { "", ERR_PARSE, "p.yaml:1:1" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static struct trace_profile p;
        FAILS(read_text(&p, cases[i].text, e), cases[i].code, cases[i].message);
    }
}
