#include "study/spans.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The first interval that ends behind @p i: it has i, or all before it lie below i. */
static int64_t find(const struct spans *s, int64_t i)
{
    int64_t lo = 0, hi = s->n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (s->spans[mid].first + s->spans[mid].n <= i)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int reserve(struct spans *s, struct err *e)
{
    if (s->n < s->cap)
        return 0;
    int64_t cap = s->cap ? 2 * s->cap : 16;
    struct span *grown = realloc(s->spans, (size_t)cap * sizeof *grown);
    if (!grown)
        return err_nomem(e, "units that are done");
    s->spans = grown;
    s->cap = cap;
    return 0;
}

/* Intervals at..after-1 become one, first..end-1. */
static int replace(struct spans *s, int64_t at, int64_t after, int64_t first, int64_t end, struct err *e)
{
    int rc = at == after ? reserve(s, e) : 0;
    if (rc)
        return rc;
    memmove(s->spans + at + 1, s->spans + after, (size_t)(s->n - after) * sizeof *s->spans);
    s->spans[at] = (struct span){ .first = first, .n = end - first };
    s->n += 1 - (after - at);
    return 0;
}

int spans_add(struct spans *s, int64_t first, int64_t n, struct err *e)
{
    assert(first >= 0 && n >= 0);
    if (n == 0)
        return 0;
    int64_t end = first + n;
    /* Those that overlap it or touch it: one that ends at `first` does. */
    int64_t at = find(s, first - 1), after = at;
    for (; after < s->n && s->spans[after].first <= end; after++) {
        const struct span *old = &s->spans[after];
        if (old->first < first)
            first = old->first;
        if (old->first + old->n > end)
            end = old->first + old->n;
    }
    return replace(s, at, after, first, end, e);
}

bool spans_have(const struct spans *s, int64_t i)
{
    int64_t at = find(s, i);
    return at < s->n && s->spans[at].first <= i;
}

struct span spans_gap(const struct spans *s, int64_t from, int64_t end, int64_t most)
{
    int64_t at = find(s, from);
    if (at < s->n && s->spans[at].first <= from) {
        from = s->spans[at].first + s->spans[at].n;
        at++;
    }
    if (at < s->n && s->spans[at].first < end)
        end = s->spans[at].first;
    int64_t n = from < end ? end - from : 0;
    return (struct span){ .first = from, .n = n < most ? n : most };
}

int64_t spans_count(const struct spans *s, int64_t end)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->n && s->spans[i].first < end; i++) {
        int64_t room = end - s->spans[i].first;
        count += s->spans[i].n < room ? s->spans[i].n : room;
    }
    return count;
}

void spans_free(struct spans *s)
{
    free(s->spans);
    *s = (struct spans){ 0 };
}
