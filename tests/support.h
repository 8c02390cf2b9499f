/** @file What every unit test needs: cmocka with its headers, and comparisons it lacks. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

/* cmocka.h needs these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/rng.h"

/** A table of cases, fields as in a struct: CASES(const char *text; double want) = { { "1", 1 }, ... }; */
#define CASES(...) TABLE_OF(cases, __VA_ARGS__)
#define TABLE_OF(name, ...)                                                                                  \
    static const struct {                                                                                    \
        __VA_ARGS__;                                                                                         \
    } name[]

/** A variable that begins as @p init but for what is set: WITH(struct plan, p, plan_of(8), p.zero = 1,
 * p.sends = 4). */
#define WITH(type, name, init, ...)                                                                          \
    type name = init;                                                                                        \
    __VA_ARGS__

/** Number of entries of an array (not of a pointer). */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/** A case that registers itself before main(); its suite is its file. Without a name: set-up of the suite. */
struct test_case {
    struct CMUnitTest test;
    const char *file;
    int line;
    struct test_case *next;
};
void test_register(struct test_case *c);

#define TEST_REGISTER(function, name, test, setup, teardown)                                                 \
    __attribute__((constructor)) static void function(void)                                                  \
    {                                                                                                        \
        static struct test_case c = { { name, test, setup, teardown, NULL }, __FILE__, __LINE__, NULL };     \
        test_register(&c);                                                                                   \
    }

/**
 * TEST(a_sentence_that_is_true) { ... }: *state is what the set-up left there, e an error to hand on, see
 * OK() and FAILS().
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/** With a set-up before the case and a teardown after it: int f(void **state), 0 = fine. */
#define TEST_WITH(name, setup, teardown)                                                                     \
    static void name(void **state, struct err *e);                                                           \
    static void name##_alone(void **state)                                                                   \
    {                                                                                                        \
        struct err e = { 0 };                                                                                \
        name(state, &e);                                                                                     \
    }                                                                                                        \
    TEST_REGISTER(name##_register, #name, name##_alone, setup, teardown)                                     \
    static void name(__attribute__((unused)) void **state, __attribute__((unused)) struct err *e)

/** The call, which got e, succeeds; it fails with this code and a message that has this text. */
#define OK(call)                assert_ok(call, e)
#define FAILS(call, code, text) assert_fails(call, e, code, text)

/** The same where no e is at hand: the call names the error it is given e. */
#define MUST(call)                                                                                           \
    do {                                                                                                     \
        struct err must_ = { 0 }, *e = &must_;                                                               \
        assert_ok(call, e);                                                                                  \
    } while (0)

/** A case of a table of refusals: input, then the code and a part of the message it is refused with. */
struct refusal {
    const char *text;
    int code;
    const char *message;
};

/**
 * A variable that is released where its block ends, by a function that takes its address:
 *     KEEP(struct table, rows, table_free) = { 0 };
 * KEEPS(struct store, store_close) lets it hold a pointer: KEEP(struct store *, s, store_close_at).
 * A case that fails leaves by longjmp() and releases nothing.
 */
#define KEEP(type, name, release) __attribute__((cleanup(release))) type name
#define KEEPS(type, release)                                                                                 \
    static inline void release##_at(type **kept)                                                             \
    {                                                                                                        \
        release(*kept);                                                                                      \
    }

static inline void free_at(void *kept)
{
    free(*(void **)kept);
}

/** Random numbers, released where the block ends. */
#define RNG(name, seed, stream) KEEP(struct rng *, name, rng_free_at) = rng_of(seed, stream)
KEEPS(struct rng, rng_free)

static inline struct rng *rng_of(uint64_t seed, uint64_t stream)
{
    struct rng *rng;
    struct err e = { 0 };
    if (rng_build(&rng, seed, stream, &e))
        fail_msg("%s", e.msg);
    return rng;
}

/** Once before and after all cases of this file. */
#define SUITE(setup, teardown) TEST_REGISTER(suite_register, NULL, NULL, setup, teardown)

/**
 * |got - want| <= rel * max(|got|, |want|): works for nanoseconds and bytes alike.
 * NaN fails; two equal infinities pass; against zero only zero passes.
 */
#define assert_close(got, want, rel)                                                                         \
    do {                                                                                                     \
        double g_ = (got), w_ = (want);                                                                      \
        if (!(g_ == w_ ||                                                                                    \
              (isfinite(g_) && isfinite(w_) && fabs(g_ - w_) <= (rel)*fmax(fabs(g_), fabs(w_))))) {          \
            print_error("%s = %.17g, want %.17g\n", #got, g_, w_);                                           \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

/** |got - want| <= abs: for values that may be zero. NaN fails. */
#define assert_near(got, want, abs)                                                                          \
    do {                                                                                                     \
        double g_ = (got), w_ = (want);                                                                      \
        if (!(fabs(g_ - w_) <= (abs))) {                                                                     \
            print_error("%s = %.17g, want %.17g +- %g\n", #got, g_, w_, (double)(abs));                      \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

/** The call succeeds; if not, its message is shown. @p e is a struct err *, given to @p call too. */
#define assert_ok(call, e)                                                                                   \
    do {                                                                                                     \
        int rc_ = (call);                                                                                    \
        if (rc_ != 0) {                                                                                      \
            print_error("%s = %d: %s\n", #call, rc_, (e)->msg);                                              \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

/** @p needle occurs in @p haystack. */
#define assert_has(haystack, needle)                                                                         \
    do {                                                                                                     \
        const char *h_ = (haystack), *n_ = (needle);                                                         \
        if (!strstr(h_, n_)) {                                                                               \
            print_error("\"%s\" lacks \"%s\"\n", h_, n_);                                                    \
            fail();                                                                                          \
        }                                                                                                    \
    } while (0)

/** The call fails with @p want_code, e->code agrees, and the message contains @p want_text. */
#define assert_fails(call, e, want_code, want_text)                                                          \
    do {                                                                                                     \
        int rc_ = (call);                                                                                    \
        if (rc_ != (want_code) || (e)->code != (want_code)) {                                                \
            print_error("%s = %d, err.code %d (%s), want %d\n", #call, rc_, (int)(e)->code,                  \
                        rc_ ? (e)->msg : "no error", (int)(want_code));                                      \
            fail();                                                                                          \
        }                                                                                                    \
        assert_has((e)->msg, want_text);                                                                     \
    } while (0)

/** How often a random case repeats: a tenth of @p n under sanitizers, which look for misused memory, and see
 * it in the first draws that reach a line; in `make soak` as often as without. */
static inline int32_t repeats(int32_t n)
{
#if defined(__SANITIZE_ADDRESS__)
    return getenv("SOAK") ? n : (n + 9) / 10;
#else
    return n;
#endif
}

/** Are all @p n drawn? What share of the draws ends in which way is only held then. */
static inline bool repeats_all(int32_t n)
{
    return repeats(n) == n;
}

enum { SUPPORT_PATH = 512 };

/** Make a new empty directory, below $TMPDIR or the system's own place; remove it by scratch_remove(). */
static inline void scratch_make(char dir[SUPPORT_PATH])
{
    const char *parent = getenv("TMPDIR");
    int n = snprintf(dir, SUPPORT_PATH, "%s/weft-test-XXXXXX", parent && *parent ? parent : "/tmp");
    assert_in_range(n, 1, SUPPORT_PATH - 1);
    assert_non_null(mkdtemp(dir));
}

/** "dir/name" in @p buf; returns @p buf. */
static inline const char *scratch_path(char buf[SUPPORT_PATH], const char *dir, const char *name)
{
    int n = snprintf(buf, SUPPORT_PATH, "%s/%s", dir, name);
    assert_in_range(n, 1, SUPPORT_PATH - 1);
    return buf;
}

/** A file in @p dir with the @p n bytes at @p data; returns its path in @p buf. */
static inline const char *scratch_file(char buf[SUPPORT_PATH], const char *dir, const char *name,
                                       const void *data, size_t n)
{
    FILE *f = fopen(scratch_path(buf, dir, name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    return buf;
}

/** Number of entries in @p dir, hidden ones too. */
static inline int scratch_count(const char *dir)
{
    int n = -2; /* "." and ".." */
    DIR *d = opendir(dir);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/** Remove a scratch directory and the files in it. */
static inline void scratch_remove(const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        char path[SUPPORT_PATH];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            assert_int_equal(remove(scratch_path(path, dir, entry->d_name)), 0);
    }
    closedir(d);
    assert_int_equal(rmdir(dir), 0);
}

/** A scratch directory that is removed where the block ends. */
#define SCRATCH(dir)                                                                                         \
    __attribute__((cleanup(scratch_remove_at))) char dir[SUPPORT_PATH];                                      \
    scratch_make(dir)

static inline void scratch_remove_at(char (*dir)[SUPPORT_PATH])
{
    scratch_remove(*dir);
}

#endif
