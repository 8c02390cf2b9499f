#include "tests/unit/trace_sample.h"

#include "base/rng.h"

TEST(every_format_has_its_name_once)
{
    for (int i = 0; i < N_TRACE_FORMATS; i++) {
        assert_string_equal(trace_formats[i].name, trace_format_words[i]);
        assert_true(trace_formats[i].help && (trace_formats[i].read || trace_formats[i].layout));
    }
    assert_true(!trace_format_words[N_TRACE_FORMATS] && !trace_status_words[N_TRACE_STATUSES]);
}

static void put_job(struct trace *t, const char *id, double submit_s)
{
    WITH(struct trace_job, job, trace_job_unknown(t->n_records++), job.id = strdup(id),
         job.submit_s = submit_s);
    MUST(trace_add(t, &job, e));
}

TEST(jobs_of_one_time_keep_their_order)
{
    static const char *const want = "bdface";
    KEEP(struct trace, t, trace_free) = { 0 };
    put_job(&t, "a", 7);
    put_job(&t, "b", -2);
    put_job(&t, "c", 7);
    put_job(&t, "d", -2);
    put_job(&t, "e", 7);
    put_job(&t, "f", 1);
    trace_sort(&t, false);
    assert_true(t.jobs[0].submit_s == -2 && t.origin_s == 0);
    trace_sort(&t, true);
    assert_true(t.jobs[0].submit_s == 0 && t.jobs[5].submit_s == 9 && t.origin_s == -2);
    for (int i = 0; i < 6; i++)
        assert_int_equal(t.jobs[i].id[0], want[i]);
    trace_free(&t);
    trace_sort(&t, true);
}

/* Equal to the last bit. */
static void assert_same(const struct trace_job *a, const struct trace_job *b)
{
    assert_string_equal(a->id, b->id);
    assert_int_equal(a->model != NULL, b->model != NULL);
    if (a->model)
        assert_string_equal(a->model, b->model);
    assert_true(same_real(a->submit_s, b->submit_s) && same_real(a->runtime_s, b->runtime_s));
    assert_true(same_real(a->grad_bytes, b->grad_bytes) && same_real(a->priority, b->priority));
    assert_true(a->gpus == b->gpus && a->status == b->status && a->iters == b->iters);
    assert_true(a->batch == b->batch && a->ps == b->ps && a->workers == b->workers);
    assert_int_equal(a->synthetic, b->synthetic);
}

/* What it writes. */
static void write_csv(struct text *out, const struct trace *t)
{
    KEEP(struct table, table, table_free) = { 0 };
    trace_format_csv(&table, t);
    MUST(table_write(&table, TABLE_AS_CSV, "version=x\ncommand=y", out, e));
}

static void assert_comes_back(const struct trace *t)
{
    KEEP(struct trace, back, trace_free);
    KEEP(struct text, csv, text_free) = { 0 };
    write_csv(&csv, t);
    MUST(read_text(&back, "csv", text_str(&csv), &(struct trace_settings){ .keep_idle = true }, e));
    assert_int_equal(back.n, t->n);
    for (int32_t i = 0; i < t->n; i++)
        assert_same(&back.jobs[i], &t->jobs[i]);
    assert_string_equal(text_str(&back.notes), "");
}

/* A value of any size, or nothing. */
static double draw_real(struct rng *r, double limit)
{
    return rng_below(r, 4) == 0 ? NAN : rng_uniform(r) * rng_log_range(r, 1e-12, limit);
}

static int64_t draw_count(struct rng *r, int64_t limit)
{
    return rng_below(r, 4) == 0 ? -1 : rng_below(r, rng_below(r, 2) ? 9 : limit) + 1;
}

static char *draw_text(struct rng *r)
{
    static const char letters[] = "ab,\"#;' 0.\xc3\xa4NA-";
    char text[12] = { 0 };
    int64_t n = rng_below(r, 11) + 1;
    for (int64_t i = 0; i < n; i++)
        text[i] = letters[rng_below(r, sizeof letters - 1)];
    return strdup(text);
}

TEST(any_trace_comes_back_bit_by_bit)
{
    KEEP(struct trace, t, trace_free) = { 0 };
    RNG(r, 5, 0);
    for (int i = 0; i < 2000; i++) {
        WITH(struct trace_job, job, trace_job_unknown(i), job.id = draw_text(r),
             job.model = rng_below(r, 3) ? draw_text(r) : NULL, job.submit_s = (rng_uniform(r) - 0.5) * 1e9,
             job.gpus = (int32_t)draw_count(r, TRACE_MAX_GPUS), job.runtime_s = draw_real(r, 1e10),
             job.status = (int32_t)rng_below(r, N_TRACE_STATUSES + 1) - 1,
             job.iters = draw_count(r, TRACE_MAX_COUNT), job.grad_bytes = draw_real(r, 1e17),
             job.batch = draw_count(r, TRACE_MAX_COUNT), job.ps = (int32_t)draw_count(r, TRACE_MAX_GPUS),
             job.workers = (int32_t)draw_count(r, TRACE_MAX_GPUS), job.priority = -draw_real(r, 1e300),
             job.synthetic = (unsigned)rng_below(r, 1 << N_TRACE_COLUMNS));
        OK(trace_add(&t, &job, e));
    }
    trace_sort(&t, false);
    assert_comes_back(&t);
}

/* What is written of any sample reads as what it was. */
TEST(every_sample_comes_back)
{
    static const char *const cases[][2] = {
        { "philly", "philly.json" },  { "helios", "helios.csv" },
        { "acme", "acme_seren.csv" }, { "pai", "pai" },
        { "openb", "openb.csv" },     { "google", "google" },
        { "gavel", "gavel.trace" },   { "tiresias", "tiresias.csv" },
        { "pollux", "pollux.csv" },   { "swf", "log.swf" },
        { "sacct", "sacct.txt" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TRACE_SAMPLE(t, cases[i][0], cases[i][1]);
        assert_comes_back(&t);
    }
}

TEST(drawn_fields_are_counted)
{
    KEEP(struct trace, t, trace_free) = { 0 };
    int64_t counts[N_TRACE_COLUMNS];
    put_job(&t, "a", 0);
    put_job(&t, "b", 0);
    t.jobs[0].synthetic = 1u << TRACE_MODEL | 1u << TRACE_PRIORITY;
    t.jobs[1].synthetic = 1u << TRACE_PRIORITY;
    trace_count_synthetic(&t, counts);
    for (int k = 0; k < N_TRACE_COLUMNS; k++)
        assert_int_equal(counts[k], k == TRACE_MODEL ? 1 : k == TRACE_PRIORITY ? 2 : 0);
}
