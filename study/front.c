/*
 * Pareto fronts over two to five columns. Points lie in boxes within boxes, which answer "does any dominate
 * this" and "which does this dominate" without looking at all; knee, distance and the sorted form come after.
 *
 * An offer is three walks of the tree: find (is it dominated, or equal to one?), take off what it dominates,
 * insert. A box whose low corner is not <= x holds nothing that dominates x; one whose high corner is <= x
 * (and not x) holds nothing else, so the answer needs no look inside. So fronts of tens of thousands of
 * points are kept while a sweep runs.
 *
 * Invariant between calls: no point of the tree dominates another. So when a point equal to x is found,
 * nothing dominates x and x dominates nothing: x joins those of its values, and the set is a function of the
 * offers alone. The shape of the tree is not: nothing that is said depends on it (front_sort() orders
 * by values, then ids).
 */
#include "study/front.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/vec.h"

/*
 * The points of a front in boxes within boxes (an R-tree; Guttman, SIGMOD 1984). Points of equal values are
 * one member of the tree, which has a list of their ids.
 */

/** Where a point lies against the points of a tree, of which none dominates another. */
enum front_place {
    FRONT_BESIDE, /**< none dominates it */
    FRONT_EQUAL,  /**< one is equal, so none dominates it and it dominates none */
    FRONT_BEHIND, /**< one dominates it */
};

/** @p n_cols 1..FRONT_MAX_COLUMNS. NULL on lack of memory. */
static struct front_tree *front_tree_build(int32_t n_cols);
static void front_tree_free(struct front_tree *t); /**< NULL is fine */

/** @p equal: where one is equal, the place of those in t->equals. */
static enum front_place front_tree_find(const struct front_tree *t, const double *x, int32_t *equal);

/** Take out what @p x dominates, none of which is equal to it, and append the ids to f->off; counts f->n.
 * ERR_NOMEM. */
static int front_tree_take_off(struct front_tree *t, const double *x, struct front *f, struct err *e);

/** A point that none is equal to. ERR_NOMEM; the tree is then as it was. */
static int front_tree_insert(struct front_tree *t, const double *x, int64_t id, struct err *e);

/** All points in no order: @p x shape [n][n_cols], @p id shape [n]. */
static void front_tree_list(const struct front_tree *t, double *x, int64_t *id);

/* Points of the same values: the ids of those that stay, the largest first. */
struct front_equals {
    int64_t one, *id; /* id: owned, shape [n], of a single point not used: it is `one` */
    int64_t n, cap, left_out;
};
static bool goes_first(const int64_t *a, const int64_t *b)
{
    return *a > *b;
}
HEAP(ids, int64_t, goes_first)

/* Members of a leaf, kids of another node; one more while it is split. Measured with 60,000 points that all
 * stay: leaves of 16 to 48 and nodes of 24 to 48 are alike, nodes of 12 a fifth slower in five columns. */
enum { LEAF = 24, FAN = 24, MAX_COLS = FRONT_MAX_COLUMNS };

/* All leaves are equally deep, no node but the root is empty, and boxes are tight. */
struct front_node {
    double lo[MAX_COLS], hi[MAX_COLS];
    int32_t n;
    int32_t leaf;          /* of the blocks; -1 = this node has kids */
    int32_t kids[FAN + 1]; /* shape [n]; kids[0] of a free node: the next free one */
};

struct front_block {
    double x[LEAF + 1][MAX_COLS];
    int32_t equal[LEAF + 1]; /* of the tree's equals */
};

struct front_tree {
    int32_t n_cols;
    struct front_node *nodes;    /* shape [n_nodes], owned */
    struct front_block *blocks;  /* shape [n_blocks], owned */
    struct front_equals *equals; /* shape [n_equals], owned; `one` of a free one is the next free one */
    int32_t n_nodes, cap_nodes, n_blocks, cap_blocks, n_equals, cap_equals, free_equals;
    int32_t root, free_node, free_leaf; /* -1 = none; a free leaf keeps its block */
};

/* ---- nodes ---- */

static struct front_tree *front_tree_build(int32_t n_cols)
{
    struct front_tree *t = calloc(1, sizeof *t);
    if (t)
        *t = (struct front_tree){
            .n_cols = n_cols, .root = -1, .free_node = -1, .free_leaf = -1, .free_equals = -1
        };
    return t;
}

static void front_tree_free(struct front_tree *t)
{
    if (!t)
        return;
    for (int32_t i = 0; i < t->n_equals; i++)
        free(t->equals[i].id);
    free(t->equals);
    free(t->nodes);
    free(t->blocks);
    free(t);
}

static int32_t add_node(struct front_tree *t)
{
    if (!vec_reserve(t->nodes, t->cap_nodes, t->n_nodes + 1))
        return -1;
    t->nodes[t->n_nodes] = (struct front_node){ .leaf = -1 };
    return t->n_nodes++;
}

/* -1 on lack of memory. */
static int32_t new_node(struct front_tree *t, bool leaf)
{
    int32_t *first = leaf ? &t->free_leaf : &t->free_node;
    int32_t i = *first;
    if (i >= 0) {
        *first = t->nodes[i].kids[0];
        t->nodes[i].n = 0;
        return i;
    }
    if (leaf && !vec_reserve(t->blocks, t->cap_blocks, t->n_blocks + 1))
        return -1;
    i = add_node(t);
    if (leaf && i >= 0)
        t->nodes[i].leaf = t->n_blocks++;
    return i;
}

static void drop_node(struct front_tree *t, int32_t i)
{
    int32_t *first = t->nodes[i].leaf >= 0 ? &t->free_leaf : &t->free_node;
    t->nodes[i].kids[0] = *first;
    *first = i;
}

/* ---- equal points ---- */

static int64_t *ids_of(struct front_equals *q)
{
    return q->n == 1 ? &q->one : q->id;
}

/* For a single point; -1 on lack of memory. */
static int32_t new_equals(struct front_tree *t, int64_t id)
{
    int32_t i = t->free_equals;
    if (i >= 0)
        t->free_equals = (int32_t)t->equals[i].one;
    else if (vec_reserve(t->equals, t->cap_equals, t->n_equals + 1))
        i = t->n_equals++;
    if (i >= 0)
        t->equals[i] = (struct front_equals){ .one = id, .n = 1 };
    return i;
}

static void drop_equals(struct front_tree *t, int32_t i)
{
    free(t->equals[i].id);
    t->equals[i] = (struct front_equals){ .one = t->free_equals };
    t->free_equals = i;
}

static int note_off(struct front *f, int64_t id, struct err *e)
{
    if (!vec_reserve(f->off, f->cap_off, f->n_off + 1))
        return err_nomem(e, "front");
    f->off[f->n_off++] = id;
    return 0;
}

/* One more: of those the lowest stay. */
static int join_equals(struct front *f, struct front_equals *q, int64_t id, bool *on, struct err *e)
{
    if (f->most_equal == 0 || q->n < f->most_equal) {
        if (!vec_reserve(q->id, q->cap, q->n + 1))
            return err_nomem(e, "front");
        if (q->n == 1)
            q->id[0] = q->one;
        ids_push(q->id, q->n++, id);
        f->n++;
        *on = true;
        return 0;
    }
    int64_t *ids = ids_of(q);
    *on = id < ids[0];
    int rc = *on ? note_off(f, ids[0], e) : 0;
    if (rc)
        return rc;
    if (*on)
        ids_replace(ids, q->n, id);
    q->left_out++;
    f->left_out++;
    return 0;
}

/* Off the front, all of them. */
static int take_equals(struct front *f, int32_t at, struct err *e)
{
    struct front_equals *q = &f->tree->equals[at];
    const int64_t *ids = ids_of(q);
    for (int64_t i = 0; i < q->n; i++)
        if (note_off(f, ids[i], e))
            return ERR_NOMEM;
    f->n -= q->n;
    f->left_out -= q->left_out;
    drop_equals(f->tree, at);
    return 0;
}

/* ---- comparing ---- */

static bool no_worse(const double *a, const double *b, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        if (a[k] > b[k])
            return false;
    return true;
}

static bool is_equal(const double *a, const double *b, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        if (a[k] != b[k])
            return false;
    return true;
}

static enum front_place find_in_block(const struct front_tree *t, const struct front_node *node,
                                      const double *x, int32_t *equal)
{
    const struct front_block *b = &t->blocks[node->leaf];
    for (int32_t i = 0; i < node->n; i++)
        if (no_worse(b->x[i], x, t->n_cols)) {
            *equal = b->equal[i];
            return is_equal(b->x[i], x, t->n_cols) ? FRONT_EQUAL : FRONT_BEHIND;
        }
    return FRONT_BESIDE;
}

/* A box that lies wholly below the point needs no look inside; those that do are looked for first. */
static enum front_place find_below(const struct front_tree *t, int32_t at, const double *x, int32_t *equal)
{
    const struct front_node *node = &t->nodes[at];
    int32_t maybe[FAN], n_maybe = 0;
    if (node->leaf >= 0)
        return find_in_block(t, node, x, equal);
    for (int32_t i = 0; i < node->n; i++) {
        const struct front_node *kid = &t->nodes[node->kids[i]];
        if (!no_worse(kid->lo, x, t->n_cols))
            continue;
        /* Every point of the box is <= its high corner, hence <= x, and none is x itself. */
        if (no_worse(kid->hi, x, t->n_cols) && !is_equal(kid->hi, x, t->n_cols))
            return FRONT_BEHIND;
        maybe[n_maybe++] = node->kids[i];
    }
    enum front_place place = FRONT_BESIDE;
    for (int32_t i = 0; i < n_maybe && place == FRONT_BESIDE; i++)
        place = find_below(t, maybe[i], x, equal);
    return place;
}

static enum front_place front_tree_find(const struct front_tree *t, const double *x, int32_t *equal)
{
    if (t->root < 0 || !no_worse(t->nodes[t->root].lo, x, t->n_cols))
        return FRONT_BESIDE;
    return find_below(t, t->root, x, equal);
}

/* ---- boxes ---- */

static void stretch(struct front_node *node, const double *lo, const double *hi, int32_t n_cols)
{
    for (int32_t k = 0; k < n_cols; k++) {
        node->lo[k] = lo[k] < node->lo[k] ? lo[k] : node->lo[k];
        node->hi[k] = hi[k] > node->hi[k] ? hi[k] : node->hi[k];
    }
}

/* Low corner of what a node holds, or high. */
static const double *corner(const struct front_tree *t, const struct front_node *node, int32_t i, bool high)
{
    if (node->leaf >= 0)
        return t->blocks[node->leaf].x[i];
    const struct front_node *kid = &t->nodes[node->kids[i]];
    return high ? kid->hi : kid->lo;
}

static void fit_box(struct front_tree *t, struct front_node *node)
{
    for (int32_t i = 0; i < node->n; i++) {
        const double *lo = corner(t, node, i, false), *hi = corner(t, node, i, true);
        if (i == 0) {
            memcpy(node->lo, lo, sizeof node->lo);
            memcpy(node->hi, hi, sizeof node->hi);
        }
        stretch(node, lo, hi, t->n_cols);
    }
}

/* ---- taking off ---- */

static int take_from_block(struct front_tree *t, struct front_node *node, const double *x, struct front *f,
                           struct err *e)
{
    struct front_block *b = &t->blocks[node->leaf];
    int rc = 0;
    /* From the end: the last point moves into a gap and has been looked at. */
    for (int32_t i = node->n; i-- > 0 && !rc;) {
        if (!no_worse(x, b->x[i], t->n_cols))
            continue;
        rc = take_equals(f, b->equal[i], e);
        if (rc)
            break;
        node->n--;
        memcpy(b->x[i], b->x[node->n], sizeof b->x[i]);
        b->equal[i] = b->equal[node->n];
    }
    return rc;
}

/* Nodes that get empty are dropped by their parent. */
static int take_below(struct front_tree *t, int32_t at, const double *x, struct front *f, struct err *e)
{
    struct front_node *node = &t->nodes[at];
    int64_t before = f->n;
    int rc = 0;
    if (node->leaf >= 0)
        rc = take_from_block(t, node, x, f, e);
    /* From the end, as in a leaf. The box of a kid is asked by its high corner: x <= hi is needed for x <=
     * any point inside. */
    for (int32_t i = node->leaf < 0 ? node->n : 0; i-- > 0 && !rc;) {
        int32_t kid = node->kids[i];
        if (!no_worse(x, t->nodes[kid].hi, t->n_cols))
            continue;
        rc = take_below(t, kid, x, f, e);
        if (t->nodes[kid].n == 0) {
            drop_node(t, kid);
            node->kids[i] = node->kids[--node->n];
        }
    }
    /* Boxes stay tight, or later searches would look into what is empty. */
    if (f->n != before)
        fit_box(t, node);
    return rc;
}

/* After ERR_NOMEM some points are off and noted, others that x dominates are still there: callers give the
 * front up. */
static int front_tree_take_off(struct front_tree *t, const double *x, struct front *f, struct err *e)
{
    if (t->root < 0 || !no_worse(x, t->nodes[t->root].hi, t->n_cols))
        return 0;
    int rc = take_below(t, t->root, x, f, e);
    if (t->nodes[t->root].n == 0) {
        drop_node(t, t->root);
        t->root = -1;
    }
    return rc;
}

/* ---- putting in ---- */

/* Columns have units of their own: lengths count in shares of the whole front's. A column in which all are
 * equal counts for nothing. */
static void find_scale(const struct front_tree *t, double *per)
{
    const struct front_node *root = &t->nodes[t->root];
    for (int32_t k = 0; k < t->n_cols; k++)
        per[k] = root->hi[k] > root->lo[k] ? 1 / (root->hi[k] - root->lo[k]) : 0;
}

/* The kid whose box grows least, of equals the first. */
static int32_t choose_kid(const struct front_tree *t, const struct front_node *node, const double *x,
                          const double *per)
{
    int32_t best = 0;
    double least = 0;
    for (int32_t i = 0; i < node->n; i++) {
        const struct front_node *kid = &t->nodes[node->kids[i]];
        double grown = 0;
        for (int32_t k = 0; k < t->n_cols; k++) {
            double below = kid->lo[k] - x[k], above = x[k] - kid->hi[k];
            grown += per[k] * (below > 0 ? below : above > 0 ? above : 0);
        }
        if (i == 0 || grown < least) {
            best = i;
            least = grown;
        }
    }
    return best;
}

static int32_t widest(const struct front_tree *t, const struct front_node *node, const double *per)
{
    int32_t best = 0;
    for (int32_t k = 1; k < t->n_cols; k++)
        if (per[k] * (node->hi[k] - node->lo[k]) > per[best] * (node->hi[best] - node->lo[best]))
            best = k;
    return best;
}

static void copy_entry(struct front_tree *t, struct front_node *to, int32_t i, const struct front_node *from,
                       int32_t k)
{
    if (to->leaf >= 0) {
        struct front_block *a = &t->blocks[to->leaf], *b = &t->blocks[from->leaf];
        memcpy(a->x[i], b->x[k], sizeof a->x[i]);
        a->equal[i] = b->equal[k];
    } else {
        to->kids[i] = from->kids[k];
    }
}

/* What the node holds, by its place along a column. By insertion: there are 25 at most. Centres are left
 * doubled, which orders them alike. */
static void order_entries(const struct front_tree *t, const struct front_node *node, int32_t column,
                          int32_t *order)
{
    double at[LEAF + 1];
    for (int32_t i = 0; i < node->n; i++) {
        double x = corner(t, node, i, false)[column] + corner(t, node, i, true)[column];
        int32_t k = i;
        for (; k > 0 && at[k - 1] > x; k--) {
            at[k] = at[k - 1];
            order[k] = order[k - 1];
        }
        at[k] = x;
        order[k] = i;
    }
}

/* Half of what a full node holds, cut across its widest column, goes to the empty node @p other. */
static void split(struct front_tree *t, struct front_node *node, struct front_node *other, const double *per)
{
    int32_t order[LEAF + 1], n_low = node->n / 2, n = node->n;
    struct front_node whole = *node;
    struct front_block copy;
    order_entries(t, node, widest(t, node, per), order);
    if (node->leaf >= 0)
        copy = t->blocks[node->leaf];
    for (int32_t i = n_low; i < n; i++)
        copy_entry(t, other, i - n_low, node, order[i]);
    for (int32_t i = 0; i < n_low; i++) {
        if (node->leaf < 0) {
            node->kids[i] = whole.kids[order[i]];
            continue;
        }
        struct front_block *b = &t->blocks[node->leaf];
        memcpy(b->x[i], copy.x[order[i]], sizeof b->x[i]);
        b->equal[i] = copy.equal[order[i]];
    }
    node->n = n_low;
    other->n = n - n_low;
    fit_box(t, node);
    fit_box(t, other);
}

/*
 * Nodes that an insertion may need are made before anything changes: *spare holds one a level and a root. A
 * node that was split holds 12 entries and takes as many insertions below it to be split again, so that each
 * level takes 12 times the insertions of the last: 32 levels are out of reach.
 */
enum { MAX_LEVELS = 32 };
struct insertion {
    const double *x;
    int32_t equal;
    double per[MAX_COLS];
    int32_t spare[MAX_LEVELS + 1]; /* by level, 0 = leaves */
    bool used[MAX_LEVELS + 1];
};

/* The node that a full one was split off into, or -1. */
static int32_t put_below(struct front_tree *t, int32_t at, int32_t level, struct insertion *p)
{
    struct front_node *node = &t->nodes[at];
    stretch(node, p->x, p->x, t->n_cols);
    if (node->leaf >= 0) {
        struct front_block *b = &t->blocks[node->leaf];
        memcpy(b->x[node->n], p->x, (size_t)t->n_cols * sizeof *p->x);
        b->equal[node->n++] = p->equal;
    } else {
        int32_t other = put_below(t, node->kids[choose_kid(t, node, p->x, p->per)], level - 1, p);
        if (other >= 0)
            node->kids[node->n++] = other;
    }
    if (node->n <= (node->leaf >= 0 ? LEAF : FAN))
        return -1;
    p->used[level] = true;
    split(t, node, &t->nodes[p->spare[level]], p->per);
    return p->spare[level];
}

static int32_t depth(const struct front_tree *t)
{
    int32_t n = 0;
    for (int32_t i = t->root; i >= 0 && t->nodes[i].leaf < 0; i = t->nodes[i].kids[0])
        n++;
    return n;
}

static void grow_root(struct front_tree *t, int32_t root, int32_t other)
{
    struct front_node *node = &t->nodes[root];
    node->kids[0] = t->root;
    node->kids[1] = other;
    node->n = 2;
    fit_box(t, node);
    t->root = root;
}

static void tree_begin(struct front_tree *t, int32_t leaf, const struct insertion *p)
{
    memcpy(t->nodes[leaf].lo, p->x, (size_t)t->n_cols * sizeof *p->x);
    memcpy(t->nodes[leaf].hi, p->x, (size_t)t->n_cols * sizeof *p->x);
    t->root = leaf;
}

static void tree_put(struct front_tree *t, int32_t levels, struct insertion *p)
{
    if (t->root < 0) {
        p->used[0] = true;
        tree_begin(t, p->spare[0], p);
        put_below(t, t->root, 0, p);
        return;
    }
    find_scale(t, p->per);
    int32_t other = put_below(t, t->root, levels, p);
    if (other < 0)
        return;
    p->used[levels + 1] = true;
    grow_root(t, p->spare[levels + 1], other);
}

static int front_tree_insert(struct front_tree *t, const double *x, int64_t id, struct err *e)
{
    struct insertion p = { .x = x, .equal = new_equals(t, id) };
    int32_t levels = depth(t), n = 0;
    for (; n <= levels + 1 && p.equal >= 0; n++) {
        p.spare[n] = new_node(t, n == 0);
        if (p.spare[n] < 0)
            break;
    }
    /* All nodes or none: a split half done could not be taken back. */
    bool whole = n > levels + 1;
    if (whole)
        tree_put(t, levels, &p);
    else if (p.equal >= 0)
        drop_equals(t, p.equal);
    while (n-- > 0)
        if (!p.used[n])
            drop_node(t, p.spare[n]);
    return whole ? 0 : err_nomem(e, "front");
}

/* ---- all of it ---- */

static int64_t list_below(const struct front_tree *t, int32_t at, double *x, int64_t *id, int64_t n)
{
    const struct front_node *node = &t->nodes[at];
    for (int32_t i = 0; i < node->n; i++) {
        if (node->leaf < 0) {
            n = list_below(t, node->kids[i], x, id, n);
            continue;
        }
        const struct front_block *b = &t->blocks[node->leaf];
        struct front_equals *q = &t->equals[b->equal[i]];
        for (int64_t k = 0; k < q->n; k++) {
            memcpy(x + n * t->n_cols, b->x[i], (size_t)t->n_cols * sizeof *x);
            id[n++] = ids_of(q)[k];
        }
    }
    return n;
}

static void front_tree_list(const struct front_tree *t, double *x, int64_t *id)
{
    if (t->root >= 0)
        list_below(t, t->root, x, id, 0);
}

/* ---- offering ---- */

static bool is_finite(const double *x, int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

/* The list in order is of the points as they were. */
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
    int32_t equal = -1;
    enum front_place place = front_tree_find(f->tree, x, &equal);
    if (place == FRONT_BEHIND)
        return 0;
    unsort(f);
    if (place == FRONT_EQUAL)
        return join_equals(f, &f->tree->equals[equal], id, on, e);
    int rc = front_tree_take_off(f->tree, x, f, e);
    if (!rc)
        rc = front_tree_insert(f->tree, x, id, e);
    *on = !rc;
    f->n += !rc;
    return rc;
}

static void add_below(struct front *f, const struct front_tree *from, int32_t at)
{
    const struct front_node *node = &from->nodes[at];
    for (int32_t i = 0; i < node->n; i++) {
        if (node->leaf < 0) {
            add_below(f, from, node->kids[i]);
            continue;
        }
        const struct front_block *b = &from->blocks[node->leaf];
        int64_t left_out = from->equals[b->equal[i]].left_out;
        int32_t equal = -1;
        if (left_out == 0 || front_tree_find(f->tree, b->x[i], &equal) != FRONT_EQUAL)
            continue;
        f->tree->equals[equal].left_out += left_out;
        f->left_out += left_out;
    }
}

bool front_dominates(const struct front *f, const double *x)
{
    int32_t equal;
    return f->tree && front_tree_find(f->tree, x, &equal) == FRONT_BEHIND;
}

/* ---- the front in order ---- */

struct front_member {
    double x[FRONT_MAX_COLUMNS]; /* columns that there are not: 0 */
    int64_t id;
};

static int compare_members(const void *a, const void *b)
{
    const struct front_member *p = a, *q = b;
    for (int32_t k = 0; k < FRONT_MAX_COLUMNS; k++)
        if (p->x[k] != q->x[k])
            return p->x[k] < q->x[k] ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

static void sort_members(struct front *f, struct front_member *members)
{
    size_t width = (size_t)f->n_cols * sizeof *f->x;
    for (int64_t i = 0; i < f->n; i++) {
        members[i] = (struct front_member){ .id = f->id[i] };
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
    struct front_member *members = malloc(n * sizeof *members);
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
struct front_scale {
    double lo, hi;
    bool log;
};

/* Of a column where more is better all values are negative: their size counts. */
static double along(const struct front_scale *s, double x)
{
    if (!(s->hi > s->lo))
        return 0;
    if (!s->log)
        return (x - s->lo) / (s->hi - s->lo);
    return (log(fabs(x)) - log(fabs(s->lo))) / (log(fabs(s->hi)) - log(fabs(s->lo)));
}

static void find_scales(const struct front *f, struct front_scale *scales)
{
    for (int32_t k = 0; k < f->n_cols; k++) {
        struct front_scale s = { f->x[k], f->x[k], false };
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

/* Copies of one design have nothing between them to trade. */
static bool is_one_design(const struct front *f)
{
    for (int64_t i = f->n_cols; i < f->n_sorted * f->n_cols; i++)
        if (f->x[i] != f->x[i % f->n_cols])
            return false;
    return true;
}

int64_t front_knee(const struct front *f)
{
    struct front_scale scales[FRONT_MAX_COLUMNS];
    double least = HUGE_VAL, of_ends = HUGE_VAL;
    int64_t knee = -1;
    if (f->n_sorted < 3 || is_one_design(f))
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
    *f = (struct front){ .n_cols = f->n_cols, .most_equal = f->most_equal };
}

/* ---- groups ---- */

/* Where the group is, or would be. Groups are kept in order: halving finds them, and whoever lists them does
 * so in an order that no row decides. */
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

/* Two arrays of one capacity: the first grows by a copy of it, so that it is raised once, and only when both
 * have grown. */
static int reserve_group(struct front_set *s, struct err *e)
{
    int32_t cap = s->cap;
    bool room = vec_reserve(s->groups, cap, s->n + 1) && vec_reserve(s->fronts, s->cap, s->n + 1);
    return room ? 0 : err_nomem(e, "fronts");
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
    s->fronts[at] = (struct front){ .n_cols = s->n_cols, .most_equal = s->most_equal };
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

void front_set_add_left_out(struct front_set *s, const struct front_set *from)
{
    for (int32_t i = 0; i < from->n; i++) {
        const struct front *part = &from->fronts[i];
        bool found;
        int32_t at = find_group(s, from->groups[i], &found);
        if (found && s->fronts[at].tree && part->left_out > 0)
            add_below(&s->fronts[at], part->tree, part->tree->root);
    }
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
    *s = (struct front_set){ .n_cols = s->n_cols, .most_equal = s->most_equal };
}
