#include "tests/unit/trace_sample.h"

#include "workloads/traces/profile.h"

static const char profile_yaml[] =
    "name: p\n"
    "gpus: { values: [1, 8, 64], weights: [1, 1, 1] }\n"
    "iters: { from: 10, to: 1000, log: true }\n"
    "models: [ { name: m, weight: 1, grad_MB: 8, iter_ms: { from: 1, to: 9 } } ]\n";

static void read_profile(struct trace_profile *p)
{
    char path[SUPPORT_PATH];
    SCRATCH(dir);
    MUST(trace_read_profile(p, scratch_file(path, dir, "p.yaml", profile_yaml, sizeof profile_yaml - 1), e));
}

/* Two hundred jobs of which every other one tells its size. */
static void draw(struct trace *t)
{
    MUST(trace_draw_arrivals(t, 200, 0.1, 4, e));
    for (int32_t i = 0; i < t->n; i += 2)
        t->jobs[i].gpus = i % 3 ? 4 : 100;
}

/* Whatever the window asks for: as if everything had been drawn before anything was left out. */
TEST(windows_of_drawn_jobs_do_not_depend_on_what_is_done_first)
{
    CASES(int64_t n, start; int32_t max_gpus) = {
        { 0, -1, 0 }, { 20, -1, 0 }, { 20, 30, 0 }, { 20, -1, 8 }, { 0, -1, 50 },
    };
    KEEP(struct trace_profile *, p, free_at) = malloc(sizeof *p);
    assert_non_null(p);
    read_profile(p);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct trace, a, trace_free);
        KEEP(struct trace, b, trace_free);
        struct trace_fill_counts counts;
        WITH(struct trace_window, w, trace_window_default(), w.n = cases[i].n, w.start = cases[i].start,
             w.max_gpus = cases[i].max_gpus, w.seed = 9);
        draw(&a);
        draw(&b);
        OK(trace_prepare(&a, &w, p, 9, &counts, e));
        OK(trace_fill(&b, p, 9, &counts, e));
        OK(trace_cut(&b, &w, e));
        assert_int_equal(a.n, b.n);
        for (int32_t k = 0; k < a.n; k++) {
            assert_string_equal(a.jobs[k].id, b.jobs[k].id);
            assert_true(a.jobs[k].gpus == b.jobs[k].gpus && a.jobs[k].iters == b.jobs[k].iters);
            assert_true(a.jobs[k].submit_s == b.jobs[k].submit_s &&
                        a.jobs[k].synthetic == b.jobs[k].synthetic);
            assert_true(w.max_gpus == 0 || a.jobs[k].gpus <= w.max_gpus);
        }
    }
}

TEST(what_was_drawn_is_listed)
{
    KEEP(struct trace, t, trace_free);
    KEEP(struct text, list, text_free) = { 0 };
    struct trace_fill_counts counts;
    KEEP(struct trace_profile *, p, free_at) = malloc(sizeof *p);
    assert_non_null(p);
    read_profile(p);
    draw(&t);
    OK(trace_prepare(&t, NULL, p, 1, &counts, e));
    trace_list_synthetic(&list, &t);
    assert_non_null(strstr(text_str(&list), "submit_s in 200, gpus in 100, runtime_s in 200"));
}
