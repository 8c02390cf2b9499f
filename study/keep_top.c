#include "study/keep_top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool is_better(struct top_item a, struct top_item b)
{
    return a.value != b.value ? a.value < b.value : a.point < b.point;
}

static void sift_up(struct top *t, int64_t at)
{
    struct top_item item = t->items[at];
    for (; at > 0 && is_better(t->items[(at - 1) / 2], item); at = (at - 1) / 2)
        t->items[at] = t->items[(at - 1) / 2];
    t->items[at] = item;
}

static void sift_down(struct top *t)
{
    struct top_item item = t->items[0];
    int64_t at = 0;
    for (int64_t kid; (kid = 2 * at + 1) < t->n; at = kid) {
        if (kid + 1 < t->n && is_better(t->items[kid], t->items[kid + 1]))
            kid++;
        if (!is_better(item, t->items[kid]))
            break;
        t->items[at] = t->items[kid];
    }
    t->items[at] = item;
}

static int push(struct top *t, struct top_item item, struct err *e)
{
    if (t->n == t->cap) {
        int64_t cap = t->cap ? 2 * t->cap : 16;
        struct top_item *items = realloc(t->items, (size_t)cap * sizeof *items);
        if (!items)
            return err_nomem(e, "the best points");
        t->items = items;
        t->cap = cap;
    }
    t->items[t->n] = item;
    sift_up(t, t->n++);
    return 0;
}

/* The group's place, where it is put if it is not there yet. */
static struct top *find(struct top_set *s, const char *group)
{
    int32_t lo = 0, hi = s->n;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (strcmp(s->tops[mid].group, group) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < s->n && strcmp(s->tops[lo].group, group) == 0)
        return &s->tops[lo];
    struct top *tops = array_grow(s->tops, s->n, &s->cap, sizeof *tops);
    if (tops)
        s->tops = tops;
    char *copy = tops ? strdup(group) : NULL;
    if (!copy)
        return NULL;
    memmove(tops + lo + 1, tops + lo, (size_t)(s->n++ - lo) * sizeof *tops);
    tops[lo] = (struct top){ .group = copy };
    return &tops[lo];
}

int top_offer(struct top_set *s, const char *group, struct top_item item, bool *in, int64_t *out,
              struct err *e)
{
    *in = false;
    *out = -1;
    if (!isfinite(item.value))
        return 0;
    struct top *t = find(s, group);
    if (!t)
        return err_nomem(e, "the best points");
    if (t->n < s->most) {
        *in = true;
        return push(t, item, e);
    }
    if (!is_better(item, t->items[0]))
        return 0;
    *in = true;
    *out = t->items[0].point;
    t->items[0] = item;
    sift_down(t);
    return 0;
}

void top_set_free(struct top_set *s)
{
    for (int32_t i = 0; i < s->n; i++) {
        free(s->tops[i].group);
        free(s->tops[i].items);
    }
    free(s->tops);
    *s = (struct top_set){ .most = s->most };
}
