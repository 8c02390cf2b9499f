/** @file Samples of job traces, and traces written in a test. */
#ifndef TESTS_UNIT_TRACE_SAMPLE_H
#define TESTS_UNIT_TRACE_SAMPLE_H

#include "tests/support.h"

#include "workloads/traces/trace.h"

static const struct trace_settings strict = { .skip_bad = false };
static const struct trace_settings lenient = { .skip_bad = true };

/** Number of a format by its name. */
static inline int format_of(const char *name)
{
    for (int i = 0; i < N_TRACE_FORMATS; i++)
        if (strcmp(trace_formats[i].name, name) == 0)
            return i;
    fail_msg("no format %s", name);
    return -1;
}

/** tests/traces/FILE, which must be readable. */
static inline void read_sample(struct trace *t, const char *format, const char *file)
{
    char path[SUPPORT_PATH];
    struct err e = { 0 };
    snprintf(path, sizeof path, "tests/traces/%s", file);
    assert_ok(trace_read(t, format_of(format), path, &strict, &e), &e);
}

/** @p n bytes as a file. */
static inline int read_bytes(struct trace *t, const char *format, const char *bytes, size_t n,
                             const struct trace_settings *s, struct err *e)
{
    char path[SUPPORT_PATH];
    SCRATCH(dir);
    scratch_file(path, dir, "jobs", bytes, n);
    return trace_read(t, format_of(format), path, s, e);
}

static inline int read_text(struct trace *t, const char *format, const char *text,
                            const struct trace_settings *s, struct err *e)
{
    return read_bytes(t, format, text, strlen(text), s, e);
}

/** Equal, or both NaN. */
static inline bool same_real(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

/** What most formats tell of a job. */
struct want_job {
    const char *id;
    double submit_s;
    int32_t gpus;
    double runtime_s;
    int32_t status;
};

static inline void assert_jobs(const struct trace *t, const struct want_job *want, int32_t n)
{
    assert_int_equal(t->n, n);
    for (int32_t i = 0; i < n; i++) {
        const struct trace_job *job = &t->jobs[i];
        assert_string_equal(job->id, want[i].id);
        assert_int_equal(job->gpus, want[i].gpus);
        assert_int_equal(job->status, want[i].status);
        assert_true(same_real(job->submit_s, want[i].submit_s));
        assert_true(same_real(job->runtime_s, want[i].runtime_s));
        assert_int_equal(job->synthetic, 0);
    }
}

/** A text that is refused, and why. */
struct bad_text {
    const char *text;
    enum err_code code;
    const char *message;
};

/** Every text is refused, and nothing is read. */
static inline void assert_refused(const char *format, const struct bad_text *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct trace t;
        struct err e = { 0 };
        assert_fails(read_text(&t, format, cases[i].text, &strict, &e), &e, cases[i].code, cases[i].message);
        assert_null(t.jobs);
        assert_int_equal(t.n, 0);
        trace_free(&t);
    }
}

/** Traces that are released where the block ends: of a sample, of a text that must be readable, drawn. */
#define TRACE_SAMPLE(t, format, file)                                                                        \
    KEEP(struct trace, t, trace_free);                                                                       \
    read_sample(&t, format, file)
#define TRACE_TEXT(t, format, text, settings)                                                                \
    KEEP(struct trace, t, trace_free);                                                                       \
    OK(read_text(&t, format, text, settings, e))
#define TRACE_DRAW(t, n, rate, seed)                                                                         \
    KEEP(struct trace, t, trace_free);                                                                       \
    OK(trace_draw_arrivals(&t, n, rate, seed, e))

#endif
