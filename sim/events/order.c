#include <assert.h>
#include <string.h>

#include "sim/events/events_state.h"

const char *const events_order_words[N_EVENTS_ORDERS + 1] = { "fifo", "sjf", "srtf", "las", "drf" };

bool order_before(const struct live_job *live, int32_t a, int32_t b)
{
    const struct order_key *x = &live[a].key, *y = &live[b].key;
    if (x->first < y->first || x->first > y->first)
        return x->first < y->first;
    if (x->second < y->second || x->second > y->second)
        return x->second < y->second;
    return a < b;
}

/* How many of the list come before a job: where it stands, or would. */
static int32_t find_place(const struct order_list *list, const struct live_job *live, int32_t job)
{
    int32_t low = 0, high = list->n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (order_before(live, order_list_at(list, middle), job))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void order_list_add(struct order_list *list, const struct live_job *live, int32_t job)
{
    if (list->first + list->n == list->cap) {
        memmove(list->jobs, list->jobs + list->first, (size_t)list->n * sizeof *list->jobs);
        list->first = 0;
    }
    int32_t at = find_place(list, live, job), *slot = list->jobs + list->first + at;
    memmove(slot + 1, slot, (size_t)(list->n - at) * sizeof *slot);
    *slot = job;
    list->n++;
}

void order_list_remove(struct order_list *list, const struct live_job *live, int32_t job)
{
    int32_t at = find_place(list, live, job), *begin = list->jobs + list->first;
    assert(at < list->n && begin[at] == job);
    /* Jobs leave near the front. */
    memmove(begin + 1, begin, (size_t)at * sizeof *begin);
    list->first++;
    list->n--;
}

int32_t order_smallest(const struct events_state *x)
{
    int32_t gpus = bits_next(&x->sizes, 0);
    return gpus < 0 ? INT32_MAX : gpus;
}
