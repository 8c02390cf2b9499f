#include "study/front_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- offering ---- */

static bool is_finite(const double *x, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

static void unsort(struct front *f)
{
    free(f->x);
    free(f->id);
    f->x = NULL;
    f->id = NULL;
    f->n_sorted = 0;
}

int front_offer(struct front *f, const double *x, int64_t id, bool *on, struct err *e)
{
    *on = false;
    if (!is_finite(x, f->n_cols))
        return 0;
    if (!f->tree && !(f->tree = front_tree_build(f->n_cols)))
        return err_nomem(e, "front");
    enum front_place place = front_tree_find(f->tree, x);
    if (place == FRONT_BEHIND)
        return 0;
    unsort(f);
    int rc = place == FRONT_EQUAL ? 0 : front_tree_take_off(f->tree, x, f, e);
    if (!rc)
        rc = front_tree_insert(f->tree, x, id, e);
    *on = !rc;
    f->n += !rc;
    return rc;
}

bool front_dominates(const struct front *f, const double *x)
{
    return f->tree && front_tree_find(f->tree, x) == FRONT_BEHIND;
}

/* ---- the front in order ---- */

struct member {
    double x[FRONT_MAX_COLUMNS]; /* columns that there are not: 0 */
    int64_t id;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *p = a, *q = b;
    for (int32_t k = 0; k < FRONT_MAX_COLUMNS; k++)
        if (p->x[k] != q->x[k])
            return p->x[k] < q->x[k] ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

static void sort_members(struct front *f, struct member *members)
{
    size_t width = (size_t)f->n_cols * sizeof *f->x;
    for (int64_t i = 0; i < f->n; i++) {
        members[i] = (struct member){ .id = f->id[i] };
        memcpy(members[i].x, f->x + i * f->n_cols, width);
    }
    qsort(members, (size_t)f->n, sizeof *members, compare_members);
    for (int64_t i = 0; i < f->n; i++) {
        memcpy(f->x + i * f->n_cols, members[i].x, width);
        f->id[i] = members[i].id;
    }
}

int front_sort(struct front *f, struct err *e)
{
    if (f->n_sorted == f->n)
        return 0;
    size_t n = (size_t)f->n;
    struct member *members = malloc(n * sizeof *members);
    f->x = malloc(n * (size_t)f->n_cols * sizeof *f->x);
    f->id = malloc(n * sizeof *f->id);
    if (!members || !f->x || !f->id) {
        free(members);
        unsort(f);
        return err_nomem(e, "front");
    }
    front_tree_list(f->tree, f->x, f->id);
    sort_members(f, members);
    f->n_sorted = f->n;
    free(members);
    return 0;
}

/* ---- knee ---- */

/* How a column is scaled to 0..1 over the front. */
struct scale {
    double lo, hi;
    bool log;
};

/* Of a column where more is better all values are negative: their size counts. */
static double along(const struct scale *s, double x)
{
    if (!(s->hi > s->lo))
        return 0;
    if (!s->log)
        return (x - s->lo) / (s->hi - s->lo);
    return (log(fabs(x)) - log(fabs(s->lo))) / (log(fabs(s->hi)) - log(fabs(s->lo)));
}

static void find_scales(const struct front *f, struct scale *scales)
{
    for (int32_t k = 0; k < f->n_cols; k++) {
        struct scale s = { f->x[k], f->x[k], false };
        for (int64_t i = 1; i < f->n_sorted; i++) {
            s.lo = fmin(s.lo, f->x[i * f->n_cols + k]);
            s.hi = fmax(s.hi, f->x[i * f->n_cols + k]);
        }
        s.log = s.lo > 0 ? s.hi > FRONT_LOG_RATIO * s.lo : s.hi < 0 && s.lo < FRONT_LOG_RATIO * s.hi;
        scales[k] = s;
    }
}

/* Sums that differ by less are the same, and rounding. */
#define SAME_SUM 1e-9

int64_t front_knee(const struct front *f)
{
    struct scale scales[FRONT_MAX_COLUMNS];
    double least = HUGE_VAL, of_ends = HUGE_VAL;
    int64_t knee = -1;
    if (f->n_sorted < 3)
        return -1;
    find_scales(f, scales);
    for (int64_t i = 0; i < f->n_sorted; i++) {
        double sum = 0;
        bool end = false;
        for (int32_t k = 0; k < f->n_cols; k++) {
            double x = f->x[i * f->n_cols + k];
            sum += along(&scales[k], x);
            end = end || (x == scales[k].lo && scales[k].hi > scales[k].lo);
        }
        if (end)
            of_ends = fmin(of_ends, sum);
        if (sum < least - SAME_SUM) {
            least = sum;
            knee = i;
        }
    }
    return least < of_ends - SAME_SUM ? knee : -1;
}

/* ---- how far a design is ---- */

/* By what factor value x is worse than m; NaN when no factor makes one the other. */
static double ratio(double x, double m)
{
    if (x > 0 && m > 0)
        return x / m;
    return x < 0 && m < 0 ? m / x : NAN;
}

double front_distance(const struct front *f, const double *x)
{
    double most = 1;
    for (int64_t i = 0; i < f->n_sorted; i++) {
        double least = HUGE_VAL;
        for (int32_t k = 0; k < f->n_cols; k++) {
            double r = ratio(x[k], f->x[i * f->n_cols + k]);
            if (isnan(r))
                return NAN;
            least = fmin(least, r);
        }
        most = fmax(most, least);
    }
    return most - 1;
}

double front_least(const struct front *f, const double *x, int32_t col)
{
    double least = HUGE_VAL;
    for (int64_t i = 0; i < f->n_sorted; i++) {
        const double *m = f->x + i * f->n_cols;
        bool fits = true;
        for (int32_t k = 0; k < f->n_cols && fits; k++)
            fits = k == col || m[k] <= x[k];
        if (fits)
            least = fmin(least, m[col]);
    }
    return least;
}

void front_free(struct front *f)
{
    front_tree_free(f->tree);
    unsort(f);
    free(f->off);
    *f = (struct front){ .n_cols = f->n_cols };
}

/* ---- groups ---- */

/* Where the group is, or would be. */
static int32_t find_group(const struct front_set *s, const char *group, bool *found)
{
    int32_t lo = 0, hi = s->n;
    *found = false;
    while (lo < hi && !*found) {
        int32_t mid = lo + (hi - lo) / 2;
        int order = strcmp(group, s->groups[mid]);
        *found = order == 0;
        lo = order > 0 ? mid + 1 : lo;
        hi = order > 0 ? hi : mid;
    }
    return *found ? hi : lo;
}

static int reserve_group(struct front_set *s, struct err *e)
{
    int32_t cap = s->cap;
    char **groups = array_grow(s->groups, s->n, &cap, sizeof *groups);
    if (groups)
        s->groups = groups;
    struct front *fronts = groups ? array_grow(s->fronts, s->n, &s->cap, sizeof *fronts) : NULL;
    if (fronts)
        s->fronts = fronts;
    return fronts ? 0 : err_nomem(e, "fronts");
}

static int add_group(struct front_set *s, int32_t at, const char *group, struct err *e)
{
    int rc = reserve_group(s, e);
    char *copy = rc ? NULL : strdup(group);
    if (!rc && !copy)
        rc = err_nomem(e, "fronts");
    if (rc)
        return rc;
    size_t after = (size_t)(s->n - at);
    memmove(s->groups + at + 1, s->groups + at, after * sizeof *s->groups);
    memmove(s->fronts + at + 1, s->fronts + at, after * sizeof *s->fronts);
    s->groups[at] = copy;
    s->fronts[at] = (struct front){ .n_cols = s->n_cols };
    s->n++;
    return 0;
}

int front_set_offer(struct front_set *s, const char *group, const double *x, int64_t id, bool *on,
                    struct front **f, struct err *e)
{
    bool found;
    int32_t at = find_group(s, group, &found);
    int rc = found ? 0 : add_group(s, at, group, e);
    *on = false;
    if (rc)
        return rc;
    if (f)
        *f = &s->fronts[at];
    return front_offer(&s->fronts[at], x, id, on, e);
}

const struct front *front_of(const struct front_set *s, const char *group)
{
    bool found;
    int32_t at = find_group(s, group, &found);
    return found ? &s->fronts[at] : NULL;
}

void front_set_free(struct front_set *s)
{
    for (int32_t i = 0; i < s->n; i++) {
        front_free(&s->fronts[i]);
        free(s->groups[i]);
    }
    free(s->fronts);
    free(s->groups);
    *s = (struct front_set){ .n_cols = s->n_cols };
}
