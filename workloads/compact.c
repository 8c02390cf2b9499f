#include "workloads/compact.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

void compact_free(struct compact *c)
{
    free(c->items);
    free(c->operands);
    free(c->leaves);
    free(c->table);
    free(c->list.s);
    free(c->todo.s);
    free(c->last.s);
    *c = (struct compact){ 0 };
}

static bool push(struct compact_work *w, int32_t x)
{
    int32_t *grown = array_grow(w->s, w->n, &w->cap, sizeof *grown);
    if (!grown)
        return false;
    w->s = grown;
    w->s[w->n++] = x;
    return true;
}

/* ---- equal items are one ---- */

/* What makes leaves equal, in bytes that can be compared: numbers as their bits. */
struct leaf_key {
    uint64_t seconds, bytes, times;
    int32_t kind, collective, group, priority;
};

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static struct leaf_key key_of(const struct step_node *leaf)
{
    return (struct leaf_key){ .seconds = bits_of(leaf->seconds),
                              .bytes = bits_of(leaf->bytes),
                              .times = bits_of(leaf->times),
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

static bool is_equal(const struct compact *c, const struct compact_item *a, const struct compact_item *b,
                     const compact_id *operands_of_b)
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

static bool grow_table(struct compact *c)
{
    int32_t larger = c->n_table ? 2 * c->n_table : 64;
    int32_t *table = malloc((size_t)larger * sizeof *table);
    if (!table)
        return false;
    memset(table, -1, (size_t)larger * sizeof *table);
    for (int32_t i = 0; i < c->n_items; i++) {
        const struct compact_item *item = &c->items[i];
        size_t at = (size_t)hash_item(c, item, item->count ? c->operands + item->first : NULL);
        while (table[at & (size_t)(larger - 1)] >= 0)
            at++;
        table[at & (size_t)(larger - 1)] = i;
    }
    free(c->table);
    c->table = table;
    c->n_table = larger;
    return true;
}

static bool keep_operands(struct compact *c, const compact_id *operands, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        compact_id *grown = array_grow(c->operands, c->n_operands, &c->cap_operands, sizeof *grown);
        if (!grown)
            return false;
        c->operands = grown;
        c->operands[c->n_operands++] = operands[i];
    }
    return true;
}

/* The item that equals @p item, made when there is none; -1 for lack of memory. */
static compact_id intern(struct compact *c, struct compact_item item, const compact_id *operands)
{
    if (2 * c->n_items >= c->n_table && !grow_table(c))
        return -1;
    size_t mask = (size_t)(c->n_table - 1), at = (size_t)hash_item(c, &item, operands) & mask;
    for (; c->table[at] >= 0; at = (at + 1) & mask)
        if (is_equal(c, &c->items[c->table[at]], &item, operands))
            return c->table[at];
    struct compact_item *grown = array_grow(c->items, c->n_items, &c->cap_items, sizeof *grown);
    if (!grown)
        return -1;
    c->items = grown;
    item.first = c->n_operands;
    if (!keep_operands(c, operands, item.count))
        return -1;
    c->table[at] = c->n_items;
    c->items[c->n_items] = item;
    return c->n_items++;
}

compact_id compact_leaf(struct compact *c, const struct step_node *leaf)
{
    struct step_node *grown = array_grow(c->leaves, c->n_leaves, &c->cap_leaves, sizeof *grown);
    if (!grown)
        return -1;
    c->leaves = grown;
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
struct row {
    const int32_t *s;
    int32_t n;
    int32_t *next; /* the next place with the same item, -1: none */
    uint64_t *hash, *power;
};

#define HASH_BASE UINT64_C(0x9E3779B97F4A7C15) /* odd, bits well mixed: 2^64 over the golden ratio */

static uint64_t hash_of(const struct row *r, int32_t from, int32_t n)
{
    return r->hash[from + n] - r->hash[from] * r->power[n];
}

static void row_free(struct row *r)
{
    free(r->next);
    free(r->hash);
    free(r->power);
}

/* last: the place where each item was seen last; what it holds at first does not count. */
static bool row_build(struct row *r, const int32_t *s, int32_t n, int32_t *last)
{
    *r = (struct row){ .s = s,
                       .n = n,
                       .next = malloc(((size_t)n + 1) * sizeof *r->next),
                       .hash = malloc(((size_t)n + 1) * sizeof *r->hash),
                       .power = malloc(((size_t)n + 1) * sizeof *r->power) };
    if (!r->next || !r->hash || !r->power)
        return false;
    r->hash[0] = 0;
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
static int32_t find_period(const struct row *r, int32_t from, int32_t *times)
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
        if (!push(&c->list, s[i]))
            return -1;
    compact_id id = close_list(c, COMPACT_SUM, base);
    return id < 0
               ? -1
               : intern(c, (struct compact_item){ .kind = COMPACT_REPEAT, .count = 1, .leaf = times }, &id);
}

/* One pass over the list from @p base on; @p changed says whether anything became a repeat. */
static bool fold_row(struct compact *c, int32_t base, bool *changed)
{
    struct row r = { 0 };
    int32_t n = c->list.n - base, to = base;
    while (c->last.n < c->n_items)
        if (!push(&c->last, -1))
            return false;
    *changed = false;
    int32_t *s = malloc(((size_t)n + 1) * sizeof *s);
    if (s)
        memcpy(s, c->list.s + base, (size_t)n * sizeof *s);
    bool ok = s && row_build(&r, s, n, c->last.s);
    for (int32_t i = 0; i < n && ok;) {
        int32_t times, p = find_period(&r, i, &times);
        compact_id id = times > 1 ? repeat_of(c, s + i, p, times) : s[i];
        *changed = *changed || times > 1;
        ok = id >= 0;
        c->list.s[to++] = id;
        i += p * times;
    }
    c->list.n = to;
    row_free(&r);
    free(s);
    return ok;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
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
        qsort(c->list.s + base, (size_t)n, sizeof *c->list.s, by_number);
    compact_id id = n == 1 ? c->list.s[base]
                           : intern(c, (struct compact_item){ .kind = kind, .count = n }, c->list.s + base);
    c->list.n = base;
    return id;
}

/* ---- in and out ---- */

static compact_id bring_in(struct compact *c, const struct fold *f, const compact_id *leaf_of, fold_id id)
{
    enum fold_kind kind = f->nodes[id].kind;
    int32_t base = c->list.n, bottom = c->todo.n;
    if (kind == FOLD_TASK)
        return leaf_of[f->nodes[id].left];
    bool ok = push(&c->todo, id);
    while (ok && c->todo.n > bottom) {
        fold_id at = c->todo.s[--c->todo.n];
        if (f->nodes[at].kind == kind) {
            ok = push(&c->todo, f->nodes[at].right) && push(&c->todo, f->nodes[at].left);
            continue;
        }
        compact_id item = bring_in(c, f, leaf_of, at);
        ok = item >= 0 && push(&c->list, item);
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
