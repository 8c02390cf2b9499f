#include "study/keep_points.h"

#include <stdlib.h>

enum { FIRST_CAP = 64 };

/* Neighbours shall not follow one another: a Fibonacci hash (Knuth, TAOCP 3, section 6.4). */
static int64_t home(const struct keep_points *s, int64_t point)
{
    uint64_t mixed = (uint64_t)point * UINT64_C(0x9E3779B97F4A7C15);
    return (int64_t)((mixed >> 32) & (uint64_t)(s->cap - 1));
}

static int64_t next(const struct keep_points *s, int64_t at)
{
    return (at + 1) & (s->cap - 1);
}

static void put(struct keep_points *s, struct keep_point p)
{
    int64_t at = home(s, p.point);
    while (s->slots[at].point >= 0)
        at = next(s, at);
    s->slots[at] = p;
}

/* At most half of the places are taken. */
static int grow(struct keep_points *s, struct err *e)
{
    struct keep_points wide = { .n = s->n, .cap = s->cap ? 2 * s->cap : FIRST_CAP };
    wide.slots = malloc((size_t)wide.cap * sizeof *wide.slots);
    if (!wide.slots)
        return err_nomem(e, "points to keep");
    for (int64_t i = 0; i < wide.cap; i++)
        wide.slots[i].point = -1;
    for (int64_t i = 0; i < s->cap; i++)
        if (s->slots[i].point >= 0)
            put(&wide, s->slots[i]);
    free(s->slots);
    *s = wide;
    return 0;
}

int keep_points_add(struct keep_points *s, struct keep_point p, struct err *e)
{
    int rc = 2 * (s->n + 1) > s->cap ? grow(s, e) : 0;
    if (rc)
        return rc;
    put(s, p);
    s->n++;
    return 0;
}

struct keep_point *keep_points_find(const struct keep_points *s, int64_t point)
{
    if (s->cap == 0)
        return NULL;
    int64_t at = home(s, point);
    while (s->slots[at].point >= 0 && s->slots[at].point != point)
        at = next(s, at);
    return s->slots[at].point < 0 ? NULL : &s->slots[at];
}

/* Those behind that would not be found past a free place move up. */
void keep_points_remove(struct keep_points *s, int64_t point)
{
    int64_t hole = keep_points_find(s, point) - s->slots;
    for (int64_t at = next(s, hole); s->slots[at].point >= 0; at = next(s, at)) {
        int64_t from = home(s, s->slots[at].point);
        bool stays = hole < at ? from > hole && from <= at : from > hole || from <= at;
        if (stays)
            continue;
        s->slots[hole] = s->slots[at];
        hole = at;
    }
    s->slots[hole].point = -1;
    s->n--;
}

void keep_points_free(struct keep_points *s)
{
    free(s->slots);
    *s = (struct keep_points){ 0 };
}
