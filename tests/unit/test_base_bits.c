/* Sets of small numbers against a plain array of flags. */
#include "base/bits.h"
#include "tests/support.h"

/* The next member by looking at each. */
static int32_t next_of(const bool *has, int32_t size, int32_t from)
{
    for (int32_t i = from; i < size; i++)
        if (has[i])
            return i;
    return -1;
}

TEST(the_next_member_is_that_of_a_plain_search)
{
    static const int32_t sizes[] = { 1, 2, 63, 64, 65, 4095, 4096, 4097, 9000 };
    uint32_t x = 7;
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        KEEP(struct bits, b, bits_free);
        int32_t size = sizes[k];
        bool has[9000] = { 0 };
        assert_true(bits_build(&b, size));
        for (int32_t round = 0; round < 400; round++) {
            x = x * 1664525 + 1013904223;
            int32_t i = (int32_t)((x >> 8) % (uint32_t)size);
            /* Sparse: members come and go, so that whole words are empty. */
            has[i] = x >> 30 == 0;
            (has[i] ? bits_add : bits_remove)(&b, i);
            assert_true((bits_next(&b, i) == i) == has[i]);
            int32_t from = (int32_t)((x >> 4) % (uint32_t)size);
            assert_int_equal(bits_next(&b, from), next_of(has, size, from));
            assert_int_equal(bits_next(&b, 0), next_of(has, size, 0));
        }
    }
}

TEST(an_empty_set_has_no_next)
{
    struct bits b;
    assert_true(bits_build(&b, 0) && bits_next(&b, 0) == -1);
    bits_free(&b);
    bits_free(&b);
    assert_true(bits_next(&b, 0) == -1 && bits_build(&b, 300000) && bits_next(&b, 0) == -1);
    bits_add(&b, 299999);
    bits_add(&b, 299999);
    assert_true(bits_next(&b, 0) == 299999 && bits_next(&b, 299999) == 299999 && bits_next(&b, 300000) == -1);
    bits_remove(&b, 5);
    bits_remove(&b, 299999);
    assert_int_equal(bits_next(&b, 0), -1);
    bits_free(&b);
}
