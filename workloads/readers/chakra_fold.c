/*
 * From tasks with dependencies to an expression of sums and maxima, in three steps.
 * Order: tasks as they are issued, each behind those it waits for; waits that others imply are dropped.
 * Fold: events (ends of tasks) hang in a tree below the start; series become sums, parallel branches maxima.
 * Where the graph is not series-parallel, something waits that need not (n_joins), so the time is an upper
 * bound. Equal parts are kept once, by hash, and rows of equal parts become repeats.
 */
#include "workloads/readers/readers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "base/vec.h"
#include "base/heap.h"
#include "base/text.h"

void dag_free(struct dag *g)
{
    arena_free(&g->arena);
    *g = (struct dag){ 0 };
}

/* Who waits for each task: the waits turned round. */
struct turned {
    int32_t *begin, *who;
};

/* From "waits for" to "is waited for by", by counting: O(nodes + edges). */
static void turn_round(struct turned *t, int32_t n, const int32_t *begin, const int32_t *waits)
{
    for (int32_t k = 0; k < begin[n]; k++)
        t->begin[waits[k] + 2]++;
    for (int32_t i = 0; i < n; i++)
        t->begin[i + 2] += t->begin[i + 1];
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = begin[i]; k < begin[i + 1]; k++)
            t->who[t->begin[waits[k] + 1]++] = i;
}

/* Kahn's algorithm, the least number first. open: shape [n], work space. */
static int dag_issue(struct dag *g, int32_t *place, int32_t *open, int32_t n, const int32_t *begin,
                     const struct turned *t, struct err *e)
{
    struct heap ready = { 0 };
    bool ok = true;
    for (int32_t i = 0; i < n && ok; i++) {
        open[i] = begin[i + 1] - begin[i];
        if (open[i] == 0)
            ok = heap_push(&ready, (struct heap_item){ i, i, 0 });
    }
    while (ready.n > 0 && ok) {
        int32_t i = heap_pop(&ready).id;
        place[i] = g->n;
        g->task[g->n++] = i;
        for (int32_t k = t->begin[i]; k < t->begin[i + 1] && ok; k++)
            if (--open[t->who[k]] == 0)
                ok = heap_push(&ready, (struct heap_item){ t->who[k], t->who[k], 0 });
    }
    heap_free(&ready);
    return ok ? 0 : err_nomem(e, "the order of issue");
}

/* Waits in places of the order, sorted, each once, with the task before on the lane. */
static void renumber(struct dag *g, const int32_t *begin, const int32_t *waits, const int32_t *place,
                     const signed char *lane)
{
    int32_t last[DAG_LANES] = { -1, -1 }, used = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t first = used, from = g->task[i], kept;
        int on = lane[from] < 0 ? DAG_NO_LANE : (unsigned char)lane[from];
        g->begin[i] = first;
        for (int32_t k = begin[from]; k < begin[from + 1]; k++)
            g->waits[used++] = place[waits[k]];
        if (on != DAG_NO_LANE) {
            if (last[on] >= 0)
                g->waits[used++] = last[on];
            last[on] = i;
        }
        if (used - first > 1)
            stat_sort_numbers(g->waits + first, used - first);
        kept = first;
        for (int32_t k = first; k < used; k++)
            if (k == first || g->waits[k] != g->waits[kept - 1])
                g->waits[kept++] = g->waits[k];
        used = kept;
    }
    g->begin[g->n] = used;
}

/* Of each task the last place on the lane that it comes after, itself included (-1: none), and the first
 * that comes after it (g->n: none). */
static void dag_reach(const struct dag *g, const signed char *lane, int on, int32_t *back, int32_t *ahead)
{
    for (int32_t i = 0; i < g->n; i++) {
        bool here = lane[g->task[i]] == on;
        back[i] = here ? i : -1;
        ahead[i] = here ? i : g->n;
        for (int32_t k = g->begin[i]; k < g->begin[i + 1] && !here; k++)
            if (back[g->waits[k]] > back[i])
                back[i] = back[g->waits[k]];
    }
    for (int32_t i = g->n; i-- > 0;)
        for (int32_t k = g->begin[i]; k < g->begin[i + 1]; k++)
            if (ahead[i] < ahead[g->waits[k]])
                ahead[g->waits[k]] = ahead[i];
}

/*
 * "i waits for u" says nothing new when i also waits for another task w, and a task of the lane that comes
 * after u is, or comes before, one that w comes after: ahead[u] <= back[w]. All such waits can go at once: a
 * wait that no path of two or more others implies is never among them.
 */
static void drop_implied(struct dag *g, const int32_t *back, const int32_t *ahead)
{
    int32_t used = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t first = g->begin[i], end = g->begin[i + 1], best = -1, second = -1, best_at = -1;
        for (int32_t k = first; k < end; k++) {
            int32_t b = back[g->waits[k]];
            if (b > best) {
                second = best;
                best = b;
                best_at = k;
            } else if (b > second) {
                second = b;
            }
        }
        g->begin[i] = used;
        for (int32_t k = first; k < end; k++)
            if (ahead[g->waits[k]] > (k == best_at ? second : best))
                g->waits[used++] = g->waits[k];
    }
    g->begin[g->n] = used;
}

/* From a task that was not issued back along others that were not: a task that is met twice is on a cycle. */
static int32_t find_cycle(const int32_t *begin, const int32_t *waits, const int32_t *open, bool *met,
                          int32_t n)
{
    int32_t at = 0;
    while (at < n && open[at] <= 0)
        at++;
    while (at < n && !met[at]) {
        int32_t k = begin[at];
        met[at] = true;
        while (k < begin[at + 1] && open[waits[k]] <= 0)
            k++;
        at = k < begin[at + 1] ? waits[k] : n;
    }
    return at < n ? at : 0;
}

/* Orders tasks as they are issued, renumbers them so that each stands behind what it waits for, and drops
 * waits that others imply. What is left over is a cycle, which is named. */
int dag_build(struct dag *g, int32_t n, const int32_t *begin, const int32_t *waits, const signed char *lane,
              int32_t *cycle, struct err *e)
{
    struct arena own = { 0 };
    int32_t *place = ARENA_TAKE(&own, n, *place), *open = ARENA_TAKE(&own, n, *open);
    struct turned t = { .begin = ARENA_TAKE(&own, n + 2, *t.begin),
                        .who = ARENA_TAKE(&own, begin[n], *t.who) };
    bool *met = ARENA_TAKE(&own, n, *met);
    *g = (struct dag){ .n = 0 };
    g->task = ARENA_TAKE(&g->arena, n, *g->task);
    g->begin = ARENA_TAKE(&g->arena, n + 1, *g->begin);
    g->waits = ARENA_TAKE(&g->arena, (size_t)begin[n] + (size_t)n, *g->waits);
    int rc = arena_check(own.failed ? &own : &g->arena, "dependencies", e);
    if (!rc)
        turn_round(&t, n, begin, waits);
    if (!rc)
        rc = dag_issue(g, place, open, n, begin, &t, e);
    if (!rc && g->n < n) {
        *cycle = find_cycle(begin, waits, open, met, n);
        rc = err_set(e, ERR_RANGE, "dependencies go round in a cycle");
    }
    if (!rc) {
        renumber(g, begin, waits, place, lane);
        for (int on = 0; on < DAG_LANES; on++) {
            dag_reach(g, lane, on, place, open);
            drop_implied(g, place, open);
        }
    }
    arena_free(&own);
    if (rc)
        dag_free(g);
    return rc;
}

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

/* Nodes are never changed once made, so ids stay valid. */
static fold_id fold_add_node(struct folding *x, enum fold_kind kind, int32_t depth, fold_id left,
                             fold_id right)
{
    struct fold *f = x->f;
    if (!vec_reserve(f->nodes, f->cap_nodes, f->n_nodes + 1)) {
        x->failed = true;
        return -1;
    }
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
    return fold_add_node(x, FOLD_SUM, da > db ? da : db, a, b);
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
        return fold_add_node(x, FOLD_MAX, depth, a, b);
    x->f->n_joins++;
    fold_id deep = depth_of(x, a) > depth_of(x, b) ? a : b, other = deep == a ? b : a;
    const struct fold_node sum = x->f->nodes[deep];
    if (sum.kind == FOLD_SUM && depth_beside(x, other, sum.left) <= FOLD_MAX_DEPTH)
        return in_series(x, fold_add_node(x, FOLD_MAX, depth_beside(x, other, sum.left), other, sum.left),
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

/* The set of tasks that task i waits for, by its number; made when there is none, -1 for lack of memory. */
static int32_t find_set(struct folding *x, struct hash *sets, int32_t i)
{
    const struct dag *g = x->g;
    unsigned long long hash = hash_waits(g, i);
    hash_each (id, sets, hash)
        if (same_waits(g, i, x->set_task[id]))
            return id;
    if (!hash_add(sets, hash, x->n_sets))
        return -1;
    x->set_task[x->n_sets] = i;
    for (int32_t k = g->begin[i]; k < g->begin[i + 1]; k++)
        x->events[1 + g->waits[k]].open++;
    return x->n_sets++;
}

/* Tasks that wait for the same tasks start at the same event. False for lack of memory. */
static bool find_starts(struct folding *x)
{
    const struct dag *g = x->g;
    struct hash sets = { 0 };
    bool ok = true;
    for (int32_t i = 0; i < g->n && ok; i++) {
        int32_t n = g->begin[i + 1] - g->begin[i], set = n > 1 ? find_set(x, &sets, i) : 0;
        ok = set >= 0;
        x->set_of[i] = n == 0 ? 0 : n == 1 ? 1 + g->waits[g->begin[i]] : 1 + g->n + set;
        if (ok)
            x->events[x->set_of[i]].open++;
    }
    hash_free(&sets);
    return ok;
}

static int32_t compact_find(struct folding *x, int32_t event)
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
        int32_t up = compact_find(x, v[below].parent), far = compact_find(x, v[below].jump);
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
static void compact_take_in(struct folding *x, int32_t event)
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
        push_end(x, compact_find(x, v[top.id].parent), in_series(x, v[top.id].in, top.value));
    }
}

static void push_waits(struct folding *x, const int32_t *waits, int32_t n)
{
    x->ends.n = 0;
    for (int32_t k = 0; k < n; k++)
        push_end(x, compact_find(x, 1 + waits[k]), -1);
}

/* Tasks in order: each starts at the event where all it waits for has ended, and makes an event of its own
 * end. */
static void dag_sweep(struct folding *x, const bool *takes_time)
{
    const struct dag *g = x->g;
    for (int32_t i = 0; i < g->n && !x->failed; i++) {
        int32_t start = x->set_of[i];
        if (start > g->n && x->set_task[start - 1 - g->n] == i) {
            push_waits(x, g->waits + g->begin[i], g->begin[i + 1] - g->begin[i]);
            compact_take_in(x, start);
        }
        fold_id task = takes_time[i] ? fold_add_node(x, FOLD_TASK, 0, i, -1) : -1;
        attach(x, 1 + i, compact_find(x, start), task, ++x->label);
    }
}

/* The event that waits for all that nothing else waits for; `last`: shape [n], work space. */
static void dag_finish(struct folding *x, int32_t *last)
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
    compact_take_in(x, all);
    fold_id in = v[all].in;
    for (int32_t at = v[all].parent; at != 0 && !x->failed; at = compact_find(x, v[at].parent)) {
        assert(v[at].open == 1);
        in = in_series(x, v[at].in, in);
    }
    x->f->root = in;
}

/* Room is known beforehand: an event per task and per set of waits. */
int fold_dag(struct fold *f, const struct dag *g, const bool *takes_time, struct err *e)
{
    struct folding x = { .f = f, .g = g };
    struct arena own = { 0 };
    size_t n = (size_t)g->n, n_events = 2 * n + 2;
    *f = (struct fold){ .root = -1 };
    x.events = ARENA_TAKE(&own, n_events, *x.events);
    x.set_of = ARENA_TAKE(&own, n + 1, *x.set_of);
    x.set_task = ARENA_TAKE(&own, n + 1, *x.set_task);
    x.failed = own.failed;
    if (!x.failed) {
        for (size_t i = 0; i < n_events; i++)
            x.events[i].same = (int32_t)i;
        x.events[0].in = -1;
        x.failed = !find_starts(&x);
    }
    if (!x.failed) {
        dag_sweep(&x, takes_time);
        dag_finish(&x, x.set_of);
    }
    arena_free(&own);
    heap_free(&x.ends);
    if (x.failed) {
        fold_free(f);
        return err_nomem(e, "the training step");
    }
    return 0;
}

void compact_free(struct compact *c)
{
    free(c->items);
    free(c->operands);
    free(c->leaves);
    hash_free(&c->table);
    free(c->list.s);
    free(c->todo.s);
    free(c->last.s);
    *c = (struct compact){ 0 };
}

static bool dag_push(struct compact_work *w, int32_t x)
{
    if (!vec_reserve(w->s, w->cap, w->n + 1))
        return false;
    w->s[w->n++] = x;
    return true;
}

/* ---- equal items are one ---- */

/* What makes leaves equal, in bytes that can be compared: numbers as their bits. */
struct leaf_key {
    uint64_t seconds, bytes, times;
    int32_t kind, collective, group, priority;
};

static uint64_t dag_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static struct leaf_key key_of(const struct step_node *leaf)
{
    return (struct leaf_key){ .seconds = dag_bits_of(leaf->seconds),
                              .bytes = dag_bits_of(leaf->bytes),
                              .times = dag_bits_of(leaf->times),
                              .kind = (int32_t)leaf->kind,
                              .collective = (int32_t)leaf->collective,
                              .group = leaf->group,
                              .priority = leaf->priority };
}

static unsigned long long hash_item(const struct compact *c, const struct compact_item *item,
                                    const compact_id *operands)
{
    int32_t head[2] = { (int32_t)item->kind, item->leaf };
    if (item->kind == COMPACT_LEAF) {
        struct leaf_key key = key_of(&c->leaves[item->leaf]);
        return text_hash(TEXT_HASH_SEED, &key, sizeof key);
    }
    return text_hash(text_hash(TEXT_HASH_SEED, head, sizeof head), operands,
                     (size_t)item->count * sizeof *operands);
}

static bool compact_is_equal(const struct compact *c, const struct compact_item *a,
                             const struct compact_item *b, const compact_id *operands_of_b)
{
    if (a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == COMPACT_LEAF) {
        struct leaf_key x = key_of(&c->leaves[a->leaf]), y = key_of(&c->leaves[b->leaf]);
        return memcmp(&x, &y, sizeof x) == 0;
    }
    return a->leaf == b->leaf &&
           memcmp(c->operands + a->first, operands_of_b, (size_t)a->count * sizeof *operands_of_b) == 0;
}

static bool keep_operands(struct compact *c, const compact_id *operands, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (!vec_reserve(c->operands, c->cap_operands, c->n_operands + 1))
            return false;
        c->operands[c->n_operands++] = operands[i];
    }
    return true;
}

/* The item that equals @p item, made when there is none; -1 for lack of memory. */
static compact_id intern(struct compact *c, struct compact_item item, const compact_id *operands)
{
    unsigned long long hash = hash_item(c, &item, operands);
    hash_each (id, &c->table, hash)
        if (compact_is_equal(c, &c->items[id], &item, operands))
            return id;
    if (!vec_reserve(c->items, c->cap_items, c->n_items + 1))
        return -1;
    item.first = c->n_operands;
    if (!keep_operands(c, operands, item.count) || !hash_add(&c->table, hash, c->n_items))
        return -1;
    c->items[c->n_items] = item;
    return c->n_items++;
}

/* Leaves are compared by content; an equal one is not stored again. */
compact_id compact_leaf(struct compact *c, const struct step_node *leaf)
{
    if (!vec_reserve(c->leaves, c->cap_leaves, c->n_leaves + 1))
        return -1;
    c->leaves[c->n_leaves++] = *leaf;
    int32_t n_items = c->n_items;
    compact_id id = intern(c, (struct compact_item){ .kind = COMPACT_LEAF, .leaf = c->n_leaves - 1 }, NULL);
    if (c->n_items == n_items)
        c->n_leaves--; /* there was one */
    return id;
}

/* ---- repeats ---- */

enum { CANDIDATES = 32, PASSES = 8 };

/* A row of items; hash[i] is that of the first i, so that two stretches are compared at once. */
struct fold_row {
    const int32_t *s;
    int32_t n;
    int32_t *next; /* the next place with the same item, -1: none */
    uint64_t *hash, *power;
};

#define HASH_BASE UINT64_C(0x9E3779B97F4A7C15) /* odd, bits well mixed: 2^64 over the golden ratio */

static uint64_t hash_of(const struct fold_row *r, int32_t from, int32_t n)
{
    return r->hash[from + n] - r->hash[from] * r->power[n];
}

/* last: the place where each item was seen last; what it holds at first does not count. */
static bool row_build(struct fold_row *r, const int32_t *s, int32_t n, int32_t *last, struct arena *arena)
{
    *r = (struct fold_row){ .s = s,
                            .n = n,
                            .next = ARENA_TAKE(arena, n, *r->next),
                            .hash = ARENA_TAKE(arena, n + 1, *r->hash),
                            .power = ARENA_TAKE(arena, n + 1, *r->power) };
    if (arena->failed)
        return false;
    r->power[0] = 1;
    for (int32_t i = 0; i < n; i++) {
        last[s[i]] = -1;
        r->hash[i + 1] = r->hash[i] * HASH_BASE + (uint64_t)(s[i] + 1);
        r->power[i + 1] = r->power[i] * HASH_BASE;
    }
    for (int32_t i = n; i-- > 0; last[s[i]] = i)
        r->next[i] = last[s[i]];
    return true;
}

/* The period at @p from that covers most beyond its first turn; times 1: none. */
static int32_t find_period(const struct fold_row *r, int32_t from, int32_t *times)
{
    int32_t best = 1, tries = 0;
    *times = 1;
    for (int32_t at = r->next[from]; at >= 0 && tries < CANDIDATES; at = r->next[at], tries++) {
        int32_t p = at - from, k = 1;
        if (p > r->n - at)
            break;
        while ((int64_t)from + (int64_t)(k + 1) * p <= r->n &&
               hash_of(r, from, p) == hash_of(r, from + k * p, p))
            k++;
        if ((int64_t)p * (k - 1) > (int64_t)best * (*times - 1) &&
            memcmp(r->s + from, r->s + at, (size_t)(k - 1) * (size_t)p * sizeof *r->s) == 0) {
            best = p;
            *times = k;
        }
    }
    return best;
}

static compact_id close_list(struct compact *c, enum compact_kind kind, int32_t base);

/* The repeat of s[0..p-1], which may hold repeats itself; recursion halves the length. */
static compact_id repeat_of(struct compact *c, const int32_t *s, int32_t p, int32_t times)
{
    int32_t base = c->list.n;
    for (int32_t i = 0; i < p; i++)
        if (!dag_push(&c->list, s[i]))
            return -1;
    compact_id id = close_list(c, COMPACT_SUM, base);
    return id < 0
               ? -1
               : intern(c, (struct compact_item){ .kind = COMPACT_REPEAT, .count = 1, .leaf = times }, &id);
}

/* One pass over the list from @p base on; @p changed says whether anything became a repeat. */
static bool fold_row(struct compact *c, int32_t base, bool *changed)
{
    struct fold_row r = { 0 };
    int32_t n = c->list.n - base, to = base;
    while (c->last.n < c->n_items)
        if (!dag_push(&c->last, -1))
            return false;
    *changed = false;
    struct arena own = { 0 };
    int32_t *s = ARENA_TAKE(&own, n, *s);
    if (s)
        memcpy(s, c->list.s + base, (size_t)n * sizeof *s);
    bool ok = row_build(&r, s, n, c->last.s, &own);
    for (int32_t i = 0; i < n && ok;) {
        int32_t times, p = find_period(&r, i, &times);
        compact_id id = times > 1 ? repeat_of(c, s + i, p, times) : s[i];
        *changed = *changed || times > 1;
        ok = id >= 0;
        c->list.s[to++] = id;
        i += p * times;
    }
    c->list.n = to;
    arena_free(&own);
    return ok;
}

/* The item of the list from @p base on, which is taken away. */
static compact_id close_list(struct compact *c, enum compact_kind kind, int32_t base)
{
    bool changed = kind == COMPACT_SUM;
    for (int pass = 0; pass < PASSES && changed && c->list.n - base > 1; pass++)
        if (!fold_row(c, base, &changed))
            return -1;
    int32_t n = c->list.n - base;
    if (kind == COMPACT_MAX)
        stat_sort_numbers(c->list.s + base, n);
    compact_id id = n == 1 ? c->list.s[base]
                           : intern(c, (struct compact_item){ .kind = kind, .count = n }, c->list.s + base);
    c->list.n = base;
    return id;
}

/* ---- in and out ---- */

/* Nested sums and maxima of one kind become one list, by an explicit stack: traces nest thousands deep. */
static compact_id bring_in(struct compact *c, const struct fold *f, const compact_id *leaf_of, fold_id id)
{
    enum fold_kind kind = f->nodes[id].kind;
    int32_t base = c->list.n, bottom = c->todo.n;
    if (kind == FOLD_TASK)
        return leaf_of[f->nodes[id].left];
    bool ok = dag_push(&c->todo, id);
    while (ok && c->todo.n > bottom) {
        fold_id at = c->todo.s[--c->todo.n];
        if (f->nodes[at].kind == kind) {
            ok = dag_push(&c->todo, f->nodes[at].right) && dag_push(&c->todo, f->nodes[at].left);
            continue;
        }
        compact_id item = bring_in(c, f, leaf_of, at);
        ok = item >= 0 && dag_push(&c->list, item);
    }
    return ok ? close_list(c, kind == FOLD_SUM ? COMPACT_SUM : COMPACT_MAX, base) : -1;
}

int compact_fold(struct compact *c, compact_id *out, const struct fold *f, const compact_id *leaf_of,
                 struct err *e)
{
    *out = -1;
    c->list.n = c->todo.n = 0;
    if (f->root < 0)
        return 0;
    *out = bring_in(c, f, leaf_of, f->root);
    return *out < 0 ? err_nomem(e, "the training step") : 0;
}

static void write_leaf(const struct compact *c, struct step_tree *t, step_id parent, int32_t leaf,
                       double times)
{
    struct step_node node = c->leaves[leaf];
    if (node.kind == STEP_COMPUTE)
        node.seconds *= times;
    else
        node.times *= times;
    step_add(t, parent, node);
}

/* Shared parts are written out again at each place: trees have no sharing, but repeats keep them small. */
void compact_write(const struct compact *c, struct step_tree *t, step_id parent, compact_id id)
{
    static const enum step_kind kinds[] = {
        [COMPACT_SUM] = STEP_SUM,
        [COMPACT_MAX] = STEP_MAX,
        [COMPACT_REPEAT] = STEP_REPEAT,
    };
    const struct compact_item *item = &c->items[id];
    if (t->failed)
        return;
    if (item->kind == COMPACT_LEAF) {
        write_leaf(c, t, parent, item->leaf, 1);
        return;
    }
    const struct compact_item *of = &c->items[c->operands[item->first]];
    if (item->kind == COMPACT_REPEAT && of->kind == COMPACT_LEAF) {
        write_leaf(c, t, parent, of->leaf, item->leaf);
        return;
    }
    step_id at = step_add(t, parent,
                          (struct step_node){ .kind = kinds[item->kind],
                                              .phase = STEP_OTHER,
                                              .times = item->kind == COMPACT_REPEAT ? item->leaf : 1 });
    for (int32_t i = 0; i < item->count; i++)
        compact_write(c, t, at, c->operands[item->first + i]);
}
