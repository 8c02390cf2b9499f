#include "workloads/fold.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/text.h"

void fold_free(struct fold *f)
{
    free(f->nodes);
    *f = (struct fold){ .root = -1 };
}

/*
 * An event: the start (0), the end of task i (1 + i), or "all of a set of tasks have ended" (1 + n + set).
 * Those that are known hang in a tree below the start: `in` leads from the parent to the event. Labels grow
 * from parent to child. `open`: edges that leave the event, to children and to events still to come.
 */
struct event {
    int32_t parent, jump; /* jump: an ancestor, for climbing in O(log n) (skew-binary) */
    int32_t depth;        /* in the tree as it grew; for choosing jumps only */
    int32_t label, open;
    int32_t same; /* itself, or the event it has become part of */
    fold_id in;
};

struct folding {
    struct fold *f;
    const struct dag *g;
    struct event *events;
    int32_t *set_of;   /* shape [n]: event that starts each task */
    int32_t *set_task; /* shape [n_sets]: a task that waits for the set */
    int32_t n_sets, label;
    struct heap
        ends; /* edges into the event that is being taken in: key -label, id event, value expression */
    bool failed;
};

/* ---- expressions ---- */

static fold_id add_node(struct folding *x, enum fold_kind kind, int32_t depth, fold_id left, fold_id right)
{
    struct fold *f = x->f;
    struct fold_node *grown = array_grow(f->nodes, f->n_nodes, &f->cap_nodes, sizeof *grown);
    if (!grown) {
        x->failed = true;
        return -1;
    }
    f->nodes = grown;
    f->nodes[f->n_nodes] = (struct fold_node){ kind, depth, left, right };
    return f->n_nodes++;
}

static int32_t depth_of(const struct folding *x, fold_id id)
{
    return id < 0 ? 0 : x->f->nodes[id].depth;
}

static fold_id in_series(struct folding *x, fold_id a, fold_id b)
{
    int32_t da = depth_of(x, a), db = depth_of(x, b);
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return add_node(x, FOLD_SUM, da > db ? da : db, a, b);
}

/* As deep as its deeper operand, and one deeper unless that is a maximum itself, which it then extends. */
static int32_t depth_beside(const struct folding *x, fold_id a, fold_id b)
{
    int32_t da = depth_of(x, a) + (x->f->nodes[a].kind != FOLD_MAX);
    int32_t db = depth_of(x, b) + (x->f->nodes[b].kind != FOLD_MAX);
    return da > db ? da : db;
}

/* max(a, b + rest) <= max(a, b) + rest, and a + b is above any of them. */
static fold_id beside(struct folding *x, fold_id a, fold_id b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    int32_t depth = depth_beside(x, a, b);
    if (depth <= FOLD_MAX_DEPTH)
        return add_node(x, FOLD_MAX, depth, a, b);
    x->f->n_joins++;
    fold_id deep = depth_of(x, a) > depth_of(x, b) ? a : b, other = deep == a ? b : a;
    const struct fold_node sum = x->f->nodes[deep];
    if (sum.kind == FOLD_SUM && depth_beside(x, other, sum.left) <= FOLD_MAX_DEPTH)
        return in_series(x, add_node(x, FOLD_MAX, depth_beside(x, other, sum.left), other, sum.left),
                         sum.right);
    return in_series(x, a, b);
}

/* ---- events ---- */

static unsigned long long hash_waits(const struct dag *g, int32_t i)
{
    return text_hash(TEXT_HASH_SEED, g->waits + g->begin[i],
                     (size_t)(g->begin[i + 1] - g->begin[i]) * sizeof *g->waits);
}

static bool same_waits(const struct dag *g, int32_t i, int32_t k)
{
    int32_t n = g->begin[i + 1] - g->begin[i];
    return n == g->begin[k + 1] - g->begin[k] &&
           memcmp(g->waits + g->begin[i], g->waits + g->begin[k], (size_t)n * sizeof *g->waits) == 0;
}

/* Tasks that wait for the same tasks start at the same event. table: shape [mask + 1], -1 = free. */
static void find_starts(struct folding *x, int32_t *table, size_t mask)
{
    const struct dag *g = x->g;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t n = g->begin[i + 1] - g->begin[i];
        if (n <= 1) {
            x->set_of[i] = n == 0 ? 0 : 1 + g->waits[g->begin[i]];
            x->events[x->set_of[i]].open++;
            continue;
        }
        size_t at = (size_t)hash_waits(g, i) & mask;
        while (table[at] >= 0 && !same_waits(g, i, x->set_task[table[at]]))
            at = (at + 1) & mask;
        if (table[at] < 0) {
            table[at] = x->n_sets;
            x->set_task[x->n_sets++] = i;
            for (int32_t k = g->begin[i]; k < g->begin[i + 1]; k++)
                x->events[1 + g->waits[k]].open++;
        }
        x->set_of[i] = 1 + g->n + table[at];
        x->events[x->set_of[i]].open++;
    }
}

static int32_t find(struct folding *x, int32_t event)
{
    struct event *v = x->events;
    while (v[event].same != event) {
        v[event].same = v[v[event].same].same;
        event = v[event].same;
    }
    return event;
}

/* Hang `event` below `parent`. */
static void attach(struct folding *x, int32_t event, int32_t parent, fold_id in, int32_t label)
{
    struct event *v = x->events;
    int32_t far = v[parent].jump;
    v[event].parent = parent;
    v[event].in = in;
    v[event].label = label;
    v[event].depth = v[parent].depth + 1;
    bool twice = v[parent].depth - v[far].depth == v[far].depth - v[v[far].jump].depth;
    v[event].jump = twice ? v[far].jump : parent;
}

/* The child of `above` on the way down to `below`, or -1 when `above` is not an ancestor of it. */
static int32_t child_towards(struct folding *x, int32_t above, int32_t below)
{
    struct event *v = x->events;
    for (;;) {
        int32_t up = find(x, v[below].parent), far = find(x, v[below].jump);
        if (up == above)
            return below;
        if (v[up].label < v[above].label)
            return -1;
        below = v[far].label > v[above].label ? far : up;
    }
}

static void push_end(struct folding *x, int32_t event, fold_id in)
{
    if (!heap_push(&x->ends, (struct heap_item){ -(int64_t)x->events[event].label, event, in }))
        x->failed = true;
}

/* What leaves `end` leaves `event` from now on; that takes part of the tree below `end` along. */
static void leave_later(struct folding *x, int32_t end, int32_t event, int32_t *label)
{
    struct event *v = x->events;
    v[event].open += v[end].open - 1;
    if (*label < 0 || v[end].label < *label)
        *label = v[end].label;
    x->f->n_joins++;
}

/*
 * One step of taking in the ends of `event`: `top` is the latest, something else waits for it too, and there
 * is another end. True when the other one was made part of the chain to `top`.
 */
static bool await_sooner(struct folding *x, int32_t top)
{
    struct event *v = x->events;
    int32_t other = x->ends.items[0].id;
    int32_t child = child_towards(x, other, top);
    if (child < 0)
        return false;
    fold_id in = heap_pop(&x->ends).value;
    v[other].open--;
    if (in >= 0) {
        v[child].in = beside(x, v[child].in, in);
        x->f->n_joins++;
    }
    return true;
}

/* Take the ends in x->ends together until one edge leads to `event`, and hang it there. */
static void take_in(struct folding *x, int32_t event)
{
    struct event *v = x->events;
    int32_t label = -1;
    while (!x->failed) {
        struct heap_item top = heap_pop(&x->ends);
        while (x->ends.n > 0 && x->ends.items[0].id == top.id) {
            top.value = beside(x, top.value, heap_pop(&x->ends).value);
            v[top.id].open--;
        }
        if (x->ends.n == 0) {
            attach(x, event, top.id, top.value, label >= 0 ? label : ++x->label);
            return;
        }
        if (v[top.id].open > 1) {
            if (await_sooner(x, top.id)) {
                push_end(x, top.id, top.value);
                continue;
            }
            leave_later(x, top.id, event, &label);
        }
        /* Nothing else leaves it any more; jumps that lead to it shall lead to the event. */
        v[top.id].same = event;
        push_end(x, find(x, v[top.id].parent), in_series(x, v[top.id].in, top.value));
    }
}

static void push_waits(struct folding *x, const int32_t *waits, int32_t n)
{
    x->ends.n = 0;
    for (int32_t k = 0; k < n; k++)
        push_end(x, find(x, 1 + waits[k]), -1);
}

static void sweep(struct folding *x, const bool *takes_time)
{
    const struct dag *g = x->g;
    for (int32_t i = 0; i < g->n && !x->failed; i++) {
        int32_t start = x->set_of[i];
        if (start > g->n && x->set_task[start - 1 - g->n] == i) {
            push_waits(x, g->waits + g->begin[i], g->begin[i + 1] - g->begin[i]);
            take_in(x, start);
        }
        fold_id task = takes_time[i] ? add_node(x, FOLD_TASK, 0, i, -1) : -1;
        attach(x, 1 + i, find(x, start), task, ++x->label);
    }
}

/* The event that waits for all that nothing else waits for; `last`: shape [n], work space. */
static void finish(struct folding *x, int32_t *last)
{
    struct event *v = x->events;
    int32_t n = 0, all = 1 + x->g->n + x->n_sets;
    for (int32_t i = 0; i < x->g->n; i++)
        if (v[1 + i].open == 0) {
            v[1 + i].open = 1;
            last[n++] = i;
        }
    if (n == 0 || x->failed)
        return;
    push_waits(x, last, n);
    take_in(x, all);
    fold_id in = v[all].in;
    for (int32_t at = v[all].parent; at != 0 && !x->failed; at = find(x, v[at].parent)) {
        assert(v[at].open == 1);
        in = in_series(x, v[at].in, in);
    }
    x->f->root = in;
}

int fold_dag(struct fold *f, const struct dag *g, const bool *takes_time, struct err *e)
{
    struct folding x = { .f = f, .g = g };
    size_t n = (size_t)g->n, mask = 1, n_events = 2 * n + 2;
    *f = (struct fold){ .root = -1 };
    while (mask < 2 * n)
        mask = 2 * mask + 1;
    int32_t *table = malloc((mask + 1) * sizeof *table);
    x.events = calloc(n_events, sizeof *x.events);
    x.set_of = malloc((n + 1) * sizeof *x.set_of);
    x.set_task = malloc((n + 1) * sizeof *x.set_task);
    x.failed = !table || !x.events || !x.set_of || !x.set_task;
    if (!x.failed) {
        memset(table, -1, (mask + 1) * sizeof *table);
        for (size_t i = 0; i < n_events; i++)
            x.events[i].same = (int32_t)i;
        x.events[0].in = -1;
        find_starts(&x, table, mask);
        sweep(&x, takes_time);
        finish(&x, x.set_of);
    }
    free(table);
    free(x.events);
    free(x.set_of);
    free(x.set_task);
    heap_free(&x.ends);
    if (x.failed) {
        fold_free(f);
        return err_nomem(e, "the training step");
    }
    return 0;
}
