/* Heaps against sorted arrays; nothing behind the last item is looked at. */
#include "base/heap.h"
#include "tests/support.h"

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

TEST(items_come_out_in_the_order_of_their_keys)
{
    enum { N = 1000 };
    struct heap h = { 0 };
    int64_t keys[N];
    uint32_t x = 1;
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
        assert_true(item.key == sorted[i] && keys[item.id] == item.key && item.value == -item.id);
    }
    assert_int_equal(h.n, 0);
    heap_free(&h);
    heap_free(&h);
}

TEST(pushes_and_pops_may_alternate)
{
    KEEP(struct heap, h, heap_free) = { 0 };
    for (int32_t i = 0; i < 100; i++) {
        assert_true(heap_push(&h, (struct heap_item){ -i, i, 0 }));
        assert_true(heap_push(&h, (struct heap_item){ i, i, 0 }) && heap_pop(&h).key == -i);
    }
    for (int32_t i = 0; i < 100; i++)
        assert_int_equal(heap_pop(&h).key, i);
}

static bool int_before(const int64_t *a, const int64_t *b)
{
    return *a < *b;
}
HEAP(int_heap, int64_t, int_before)

/* What stands behind a heap would come before all of it. */
TEST(nothing_behind_a_heap_is_looked_at)
{
    enum { MOST = 20 };
    for (int64_t n = 1; n <= MOST; n++) {
        int64_t items[MOST + 1];
        for (int64_t i = 0; i < n; i++)
            int_heap_push(items, i, (i * 7) % n);
        items[n] = INT64_MIN;
        int_heap_replace(items, n, 2 * MOST); /* 0 is gone */
        assert_true(items[n] == INT64_MIN);
        for (int64_t i = 0, last = 0; i < n; i++) {
            int64_t item = int_heap_pop(items, n - i);
            assert_true(item >= last);
            items[n - i - 1] = INT64_MIN;
            last = item;
        }
    }
}
