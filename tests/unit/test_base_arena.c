/* Arenas: what is taken is zero, aligned and apart, and one failure fails all that follows. */
#include "base/arena.h"
#include "tests/support.h"

TEST(what_is_taken_is_zero_aligned_and_apart)
{
    struct arena a = { 0 };
    unsigned char *taken[300];
    for (int i = 0; i < 300; i++) {
        size_t n = (size_t)i * 37 % 5000; /* small ones, and some larger than any block so far */
        taken[i] = ARENA_TAKE(&a, n, *taken[i]);
        assert_true(taken[i] && (uintptr_t)taken[i] % _Alignof(max_align_t) == 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(taken[i][k], 0);
        memset(taken[i], 1 + i % 200, n);
    }
    for (int i = 0; i < 300; i++)
        for (size_t k = 0; k < (size_t)i * 37 % 5000; k++)
            assert_int_equal(taken[i][k], 1 + i % 200);
    arena_free(&a);
    assert_null(a.last);
    arena_free(&a);
}

/* One builder may go on after another one failed: it asks once, at the end. */
TEST(a_size_that_no_memory_has_fails_all_that_follows)
{
    struct arena a = { 0 };
    assert_int_equal(arena_check(&a, "a run", e), 0);
    assert_null(ARENA_TAKE(&a, SIZE_MAX / 2, double));
    assert_null(ARENA_TAKE(&a, 1, double));
    FAILS(arena_check(&a, "a run", e), ERR_NOMEM, "a run");
    arena_free(&a);
    assert_non_null(ARENA_TAKE(&a, 1, double));
    arena_free(&a);
}
