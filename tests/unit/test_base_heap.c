#include "base/heap.h"

#include "tests/support.h"

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void items_come_out_in_the_order_of_their_keys(void **state)
{
    enum { N = 1000 };
    struct heap h = { 0 };
    int64_t keys[N];
    uint32_t x = 1;
    (void)state;
    for (int32_t i = 0; i < N; i++) {
        x = x * 1664525 + 1013904223;
        keys[i] = (int64_t)(x >> 8) - (1 << 23);
        assert_true(heap_push(&h, (struct heap_item){ keys[i], i, -i }));
    }
    int64_t sorted[N];
    memcpy(sorted, keys, sizeof sorted);
    qsort(sorted, N, sizeof sorted[0], by_key);
    for (int i = 0; i < N; i++) {
        struct heap_item item = heap_pop(&h);
        assert_true(item.key == sorted[i]);
        assert_true(keys[item.id] == item.key);
        assert_int_equal(item.value, -item.id);
    }
    assert_int_equal(h.n, 0);
    heap_free(&h);
    heap_free(&h);
}

static void pushes_and_pops_may_alternate(void **state)
{
    struct heap h = { 0 };
    (void)state;
    for (int32_t i = 0; i < 100; i++) {
        assert_true(heap_push(&h, (struct heap_item){ -i, i, 0 }));
        assert_true(heap_push(&h, (struct heap_item){ i, i, 0 }));
        assert_int_equal(heap_pop(&h).key, -i);
    }
    for (int32_t i = 0; i < 100; i++)
        assert_int_equal(heap_pop(&h).key, i);
    heap_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_out_in_the_order_of_their_keys),
        cmocka_unit_test(pushes_and_pops_may_alternate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
