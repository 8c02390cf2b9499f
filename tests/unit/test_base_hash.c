/* Hash maps with keys that collide, and arrays that grow with either count. */
#include "base/hash.h"

#include "base/vec.h"
#include "tests/support.h"

/* Half of the keys share their hash with another one; every third is taken out again. */
TEST(items_are_found_until_they_are_taken_out)
{
    enum { N = 5000 };
    struct hash t = { 0 };
    for (int32_t i = 0; i < N; i++)
        assert_true(hash_add(&t, (uint64_t)(i / 2), i));
    for (int32_t i = 0; i < N; i += 3)
        hash_remove(&t, (uint64_t)(i / 2), i);
    assert_int_equal(t.n, N - (N + 2) / 3);
    for (int32_t i = 0; i < N; i++) {
        int32_t times = 0, near = 0;
        hash_each (id, &t, (uint64_t)(i / 2)) {
            times += id == i;
            near += id != (i ^ 1) && id != i;
        }
        assert_int_equal(times, i % 3 != 0);
        assert_int_equal(near, 0);
    }
    hash_free(&t);
    hash_free(&t);
    hash_each (id, &t, 7)
        fail();
}

TEST(names_are_numbered_by_first_mention)
{
    static const char *const said[] = { "a", "b", "a", "", "c", "b" };
    static const int32_t want[] = { 0, 1, 0, 2, 3, 1 };
    const char *names[6] = { 0 };
    int32_t n = 0;
    KEEP(struct hash, t, hash_free) = { 0 };
    for (int i = 0; i < 6; i++) {
        int32_t found = -1;
        hash_each (id, &t, hash_text(said[i]))
            found = strcmp(names[id], said[i]) == 0 ? id : found;
        if (found < 0) {
            assert_true(hash_add(&t, hash_text(said[i]), n));
            names[found = n++] = said[i];
        }
        assert_int_equal(found, want[i]);
    }
}

TEST(arrays_grow_with_either_count)
{
    KEEP(int16_t *, few, free_at) = NULL;
    KEEP(int16_t *, many, free_at) = NULL;
    int32_t cap = 0;
    int64_t wide = 0, too_many = INT64_MAX;
    for (int16_t i = 0; i < 1000; i++) {
        assert_true(vec_reserve(few, cap, i + 1));
        few[i] = i;
    }
    assert_int_equal(cap, 1024);
    assert_int_equal(few[999], 999);
    assert_true(vec_reserve(many, wide, 100));
    assert_int_equal(wide, 128);
    assert_false(vec_reserve(few, cap, too_many >> 31));
    assert_false(vec_reserve(many, wide, too_many));
    assert_int_equal(cap, 1024);
    assert_int_equal(few[999], 999);
}
