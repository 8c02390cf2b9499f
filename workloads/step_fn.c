/*
 * A step compiled to T(B) = const + sum of leaves + sum of maxima over terms, where a leaf is max_d traffic_d
 * / B_d. A maximum whose terms send over one class of links has one more term, a leaf of all that they send:
 * what runs side by side shares its links. Compiling folds every factor (repeats, shares of bandwidth) into
 * constants and traffic, merges leaves of one term whose traffic is collinear, and drops terms that another
 * of the same maximum always exceeds; then terms, leaves and maxima are laid out breadth first, children
 * behind parents. T is convex in B and a subgradient comes from the dimension that binds in each leaf.
 * Batches of points are done by vectors (step_batch.inc) with the same operations in the same order: bit for
 * bit what one point gives.
 */
#include "workloads/step_fn.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { DIMS = TOPO_MAX_DIMS };

/* While compiling, terms, leaves and maxima are linked lists over growing arrays;
 * flatten() then lays them out breadth first. */
struct b_leaf {
    double traffic_B[DIMS];
    int32_t next;
    int32_t placed; /* index after flatten(), -1 = dropped */
    int32_t home;   /* leaf of the parent this one was merged into, -1 = none */
};

struct b_max {
    int32_t first_term, n_terms, next;
};

struct b_term {
    double const_s;
    int32_t first_leaf, first_max, next;
    bool dominated;
};

struct fn_builder {
    const struct step_tree *tree;
    const struct topo_network *net;
    int32_t n_dims;
    struct b_leaf *leaves;
    struct b_max *maxima;
    struct b_term *terms;
    int32_t n_leaves, n_maxima, n_terms;
    int32_t cap_leaves, cap_maxima, cap_terms;
    int32_t *leaf_of; /* of tree nodes: builder's leaf index; owned, as the lists above */
    bool failed;
};

static int32_t new_term(struct fn_builder *b)
{
    if (!vec_reserve(b->terms, b->cap_terms, b->n_terms + 1)) {
        b->failed = true;
        return -1;
    }
    b->terms[b->n_terms] = (struct b_term){ .first_leaf = -1, .first_max = -1, .next = -1 };
    return b->n_terms++;
}

/* New maxima are put at the head of their term's list, where unwrap_single() expects them. */
static int32_t new_max(struct fn_builder *b, int32_t term)
{
    if (!vec_reserve(b->maxima, b->cap_maxima, b->n_maxima + 1)) {
        b->failed = true;
        return -1;
    }
    b->maxima[b->n_maxima] = (struct b_max){ .first_term = -1, .next = b->terms[term].first_max };
    b->terms[term].first_max = b->n_maxima;
    return b->n_maxima++;
}

/* Rounding of a few products apart; anything farther is another direction. */
#define COLLINEAR_REL 1e-13

static double traffic_total(const double *v, int32_t n)
{
    double sum = 0;
    for (int32_t d = 0; d < n; d++)
        sum += v[d];
    return sum;
}

static bool collinear(const double *a, const double *b, int32_t n)
{
    double sum_a = traffic_total(a, n), sum_b = traffic_total(b, n);
    for (int32_t d = 0; d < n; d++)
        if (fabs(a[d] * sum_b - b[d] * sum_a) > COLLINEAR_REL * sum_a * sum_b)
            return false;
    return true;
}

/* Add a leaf to a term, or to the leaf there that points the same way. Returns the leaf, -1 if empty. */
static int32_t put_leaf(struct fn_builder *b, int32_t term, const double *traffic_B)
{
    if (!(traffic_total(traffic_B, b->n_dims) > 0))
        return -1;
    for (int32_t l = b->terms[term].first_leaf; l >= 0; l = b->leaves[l].next) {
        if (!collinear(b->leaves[l].traffic_B, traffic_B, b->n_dims))
            continue;
        for (int32_t d = 0; d < b->n_dims; d++)
            b->leaves[l].traffic_B[d] += traffic_B[d];
        return l;
    }
    if (!vec_reserve(b->leaves, b->cap_leaves, b->n_leaves + 1)) {
        b->failed = true;
        return -1;
    }
    struct b_leaf *leaf = &b->leaves[b->n_leaves];
    *leaf = (struct b_leaf){ .next = b->terms[term].first_leaf, .placed = -1, .home = -1 };
    memcpy(leaf->traffic_B, traffic_B, (size_t)b->n_dims * sizeof *traffic_B);
    b->terms[term].first_leaf = b->n_leaves;
    return b->n_leaves++;
}

/* @p sent_B, here and below: what is put in is added to it as well, class by class. */
static void put_collective(struct fn_builder *b, int32_t term, step_id id, double scale, double *sent_B)
{
    const struct step_node *node = &b->tree->nodes[id];
    const struct step_group *group = &b->tree->groups[node->group];
    double traffic_B[DIMS] = { 0 };

    collective_loads(traffic_B, node->collective, node->bytes, group->members, group->stride, group->share,
                     b->net);
    for (int32_t d = 0; d < b->n_dims; d++)
        sent_B[d] += traffic_B[d] *= scale * node->times / collective_share(&b->net->dims[d]);
    b->leaf_of[id] = put_leaf(b, term, traffic_B);
}

static void put_transfer(struct fn_builder *b, int32_t term, step_id id, double scale, double *sent_B)
{
    const struct step_node *node = &b->tree->nodes[id];
    double traffic_B[DIMS] = { 0 };
    sent_B[node->dim] += traffic_B[node->dim] = scale * node->bytes;
    b->leaf_of[id] = put_leaf(b, term, traffic_B);
}

/* Every leaf of a lies below a leaf of b of its own, and so do the constants. */
static bool always_below(const struct fn_builder *bu, int32_t a, int32_t b)
{
    const struct b_term *ta = &bu->terms[a], *tb = &bu->terms[b];
    if (ta->first_max >= 0 || ta->const_s > tb->const_s)
        return false;
    bool used[16] = { false };
    for (int32_t l = ta->first_leaf; l >= 0; l = bu->leaves[l].next) {
        bool found = false;
        int i = 0;
        for (int32_t k = tb->first_leaf; k >= 0 && i < 16 && !found; k = bu->leaves[k].next, i++) {
            found = !used[i];
            for (int32_t d = 0; found && d < bu->n_dims; d++)
                found = bu->leaves[l].traffic_B[d] <= bu->leaves[k].traffic_B[d];
            used[i] = used[i] || found;
        }
        if (!found)
            return false;
    }
    return true;
}

/* Quadratic in the terms of one maximum: long ones are left as they are. */
enum { DOMINANCE_MAX_TERMS = 64 };

/* Terms that can never be the largest would only cost time in every evaluation. */
static void drop_dominated(struct fn_builder *b, int32_t max)
{
    if (b->maxima[max].n_terms > DOMINANCE_MAX_TERMS)
        return;
    for (int32_t a = b->maxima[max].first_term; a >= 0; a = b->terms[a].next)
        for (int32_t k = b->maxima[max].first_term; k >= 0 && !b->terms[a].dominated; k = b->terms[k].next)
            if (k != a && !b->terms[k].dominated && always_below(b, a, k))
                b->terms[a].dominated = true;
    int32_t *link = &b->maxima[max].first_term;
    while (*link >= 0) {
        if (b->terms[*link].dominated) {
            *link = b->terms[*link].next;
            b->maxima[max].n_terms--;
        } else {
            link = &b->terms[*link].next;
        }
    }
}

/* A maximum of one term is that term. Only right after it was made: it heads its parent's list. */
static void unwrap_single(struct fn_builder *b, int32_t parent, int32_t max)
{
    if (b->maxima[max].n_terms != 1)
        return;
    assert(b->terms[parent].first_max == max);
    const struct b_term child = b->terms[b->maxima[max].first_term];
    b->terms[parent].first_max = b->maxima[max].next;
    b->terms[parent].const_s += child.const_s;
    for (int32_t l = child.first_leaf; l >= 0 && !b->failed; l = b->leaves[l].next) {
        double traffic_B[DIMS];
        memcpy(traffic_B, b->leaves[l].traffic_B, sizeof traffic_B);
        int32_t home = put_leaf(b, parent, traffic_B);
        b->leaves[l].home = home;
    }
    for (int32_t m = child.first_max; m >= 0;) {
        int32_t next = b->maxima[m].next;
        b->maxima[m].next = b->terms[parent].first_max;
        b->terms[parent].first_max = m;
        m = next;
    }
}

static void put_node(struct fn_builder *b, int32_t term, step_id id, double scale, double *sent_B);

/* A new term of a maximum, or -1. */
static int32_t new_child(struct fn_builder *b, int32_t max)
{
    int32_t child = new_term(b);
    if (child < 0)
        return -1;
    b->terms[child].next = b->maxima[max].first_term;
    b->maxima[max].first_term = child;
    b->maxima[max].n_terms++;
    return child;
}

/* What the children send, each class of links: all of it where they share links, else the most of one.
 * Returns whether two of them share a class. */
static bool add_sent(double *all_B, const double *one_B, bool apart)
{
    bool shared = false;
    for (int32_t d = 0; d < DIMS; d++) {
        shared = shared || (!apart && all_B[d] > 0 && one_B[d] > 0);
        all_B[d] = apart ? fmax(all_B[d], one_B[d]) : all_B[d] + one_B[d];
    }
    return shared;
}

/* Children are compiled into terms of their own first, and what shares links into one more; then dominated
 * ones go, and a single one is merged upwards. */
static void put_max(struct fn_builder *b, int32_t term, step_id id, double scale, double *sent_B)
{
    const struct step_node *node = &b->tree->nodes[id];
    double all_B[DIMS] = { 0 };
    bool shared = false;
    int32_t max = new_max(b, term), child = -1;
    for (step_id c = node->first; c >= 0 && !b->failed; c = b->tree->nodes[c].next) {
        double one_B[DIMS] = { 0 };
        if ((child = new_child(b, max)) >= 0)
            put_node(b, child, c, scale, one_B);
        shared = add_sent(all_B, one_B, node->apart) || shared;
    }
    if (shared && !b->failed && (child = new_child(b, max)) >= 0)
        b->leaf_of[id] = put_leaf(b, child, all_B);
    if (b->failed)
        return;
    for (int32_t d = 0; d < DIMS; d++)
        sent_B[d] += all_B[d];
    /* put_node() on children never touches this term, so `max` still heads its list. */
    drop_dominated(b, max);
    unwrap_single(b, term, max);
}

/* Add scale * node to a term. Depth is bounded by the depth of the YAML file. */
static void put_node(struct fn_builder *b, int32_t term, step_id id, double scale, double *sent_B)
{
    const struct step_node *node = &b->tree->nodes[id];
    if (b->failed)
        return;
    switch (node->kind) {
    case STEP_COMPUTE:
        b->terms[term].const_s += scale * node->seconds;
        break;
    case STEP_COLLECTIVE:
        put_collective(b, term, id, scale, sent_B);
        break;
    case STEP_TRANSFER:
        put_transfer(b, term, id, scale, sent_B);
        break;
    case STEP_MAX:
        put_max(b, term, id, scale, sent_B);
        break;
    case STEP_SUM:
    case STEP_REPEAT:
        for (step_id c = node->first; c >= 0; c = b->tree->nodes[c].next)
            put_node(b, term, c, node->kind == STEP_REPEAT ? scale * node->times : scale, sent_B);
        break;
    }
}

static void builder_free(struct fn_builder *b)
{
    free(b->leaves);
    free(b->maxima);
    free(b->terms);
    free(b->leaf_of);
}

/* Room for so many; their counts are 0 until they are laid out. */
static void step_fn_reserve(struct step_fn *f, size_t terms, size_t leaves, size_t maxima, size_t nodes)
{
    f->const_s = ARENA_TAKE(&f->arena, terms, *f->const_s);
    f->leaf_begin = ARENA_TAKE(&f->arena, terms + 1, *f->leaf_begin);
    f->max_begin = ARENA_TAKE(&f->arena, terms + 1, *f->max_begin);
    f->term_begin = ARENA_TAKE(&f->arena, maxima + 1, *f->term_begin);
    f->traffic_B = ARENA_TAKE(&f->arena, leaves * DIMS, *f->traffic_B);
    f->leaf_of = ARENA_TAKE(&f->arena, nodes, *f->leaf_of);
}

/* Lists were built by prepending: read them into place back to front. */
static int32_t list_length(const struct b_leaf *leaves, int32_t first)
{
    int32_t n = 0;
    for (int32_t l = first; l >= 0; l = leaves[l].next)
        n++;
    return n;
}

static void place_leaves(struct step_fn *f, struct fn_builder *b, int32_t k, int32_t from)
{
    int32_t n = list_length(b->leaves, b->terms[from].first_leaf);
    f->leaf_begin[k] = f->n_leaves;
    f->n_leaves += n;
    int32_t at = f->n_leaves;
    for (int32_t l = b->terms[from].first_leaf; l >= 0; l = b->leaves[l].next) {
        b->leaves[l].placed = --at;
        memcpy(&f->traffic_B[(size_t)at * DIMS], b->leaves[l].traffic_B, DIMS * sizeof(double));
    }
}

/* Breadth first: children always stand behind their parents, so one pass forwards or backwards visits all. */
static int flatten(struct step_fn *f, struct fn_builder *b, struct err *e)
{
    int32_t *term_from = calloc((size_t)b->n_terms + 1, sizeof *term_from);
    step_fn_reserve(f, (size_t)b->n_terms, (size_t)b->n_leaves, (size_t)b->n_maxima,
                    (size_t)b->tree->n_nodes);
    if (!term_from || f->arena.failed) {
        free(term_from);
        return err_nomem(e, "a training step");
    }
    f->n_terms = 1;
    for (int32_t k = 0; k < f->n_terms; k++) {
        const struct b_term *t = &b->terms[term_from[k]];
        f->const_s[k] = t->const_s;
        place_leaves(f, b, k, term_from[k]);
        f->max_begin[k] = f->n_maxima;
        for (int32_t m = t->first_max; m >= 0; m = b->maxima[m].next) {
            f->term_begin[f->n_maxima++] = f->n_terms;
            for (int32_t c = b->maxima[m].first_term; c >= 0; c = b->terms[c].next)
                term_from[f->n_terms++] = c;
        }
    }
    f->leaf_begin[f->n_terms] = f->n_leaves;
    f->max_begin[f->n_terms] = f->n_maxima;
    f->term_begin[f->n_maxima] = f->n_terms;
    f->n_nodes = b->tree->n_nodes;
    for (int32_t i = 0; i < f->n_nodes; i++) {
        int32_t l = b->leaf_of[i];
        while (l >= 0 && b->leaves[l].home >= 0)
            l = b->leaves[l].home;
        f->leaf_of[i] = l < 0 ? -1 : b->leaves[l].placed;
    }
    free(term_from);
    return 0;
}

/* Factors are folded on the way down, so the compiled form holds seconds and bytes only. */
int step_compile(struct step_fn *f, const struct step_tree *t, const struct topo_network *net, struct err *e)
{
    struct fn_builder b = { .tree = t, .net = net, .n_dims = net->n_dims };
    *f = (struct step_fn){ .n_dims = net->n_dims };
    assert(t->n_dims == net->n_dims);
    for (step_id id = 0; net->ideal && id < t->n_nodes; id++)
        if (t->nodes[id].kind == STEP_COLLECTIVE)
            return err_set(e, ERR_UNSUP, "collectives on a graph are not of one form, expected them as cuts");

    b.leaf_of = malloc(((size_t)t->n_nodes + 1) * sizeof *b.leaf_of);
    if (!b.leaf_of)
        return err_nomem(e, "a training step");
    memset(b.leaf_of, -1, ((size_t)t->n_nodes + 1) * sizeof *b.leaf_of);
    int32_t root = new_term(&b);
    double sent_B[DIMS] = { 0 };
    if (root >= 0)
        put_node(&b, root, t->root, 1.0, sent_B);
    int rc = b.failed ? err_nomem(e, "a training step") : flatten(f, &b, e);
    builder_free(&b);
    if (rc)
        step_fn_free(f);
    return rc;
}

void step_fn_free(struct step_fn *f)
{
    arena_free(&f->arena);
    *f = (struct step_fn){ 0 };
}

/* Room for all inputs, and for the one maximum that may join them. Returns how many terms. */
static size_t step_join_reserve(struct step_fn *out, const struct step_fn *const *f, int32_t n, bool take_max)
{
    size_t terms = 1, leaves = 0, maxima = take_max, nodes = 0;
    for (int32_t i = 0; i < n; i++) {
        assert(f[i]->n_dims == f[0]->n_dims);
        terms += (size_t)f[i]->n_terms;
        leaves += (size_t)f[i]->n_leaves;
        maxima += (size_t)f[i]->n_maxima;
        nodes += (size_t)f[i]->n_nodes;
    }
    *out = (struct step_fn){ .n_dims = f[0]->n_dims };
    step_fn_reserve(out, terms, leaves, maxima, nodes);
    return terms;
}

/* One term of an input waiting to be laid out. */
struct pending {
    int32_t fn, term;
};

static void copy_leaves(struct step_fn *out, const struct step_fn *f, int32_t term, double scale,
                        int32_t *new_leaf)
{
    for (int32_t l = f->leaf_begin[term]; l < f->leaf_begin[term + 1]; l++) {
        double *to = &out->traffic_B[(size_t)out->n_leaves * DIMS];
        for (int32_t d = 0; d < f->n_dims; d++)
            to[d] = scale * f->traffic_B[(size_t)l * DIMS + (size_t)d];
        new_leaf[l] = out->n_leaves++;
    }
}

static void copy_maxima(struct step_fn *out, const struct step_fn *f, struct pending from,
                        struct pending *queue)
{
    for (int32_t j = f->max_begin[from.term]; j < f->max_begin[from.term + 1]; j++) {
        out->term_begin[out->n_maxima++] = out->n_terms;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
            queue[out->n_terms++] = (struct pending){ from.fn, c };
    }
}

static void copy_term(struct step_fn *out, const struct step_fn *const *f, const double *scale,
                      struct pending from, bool drop_const, int32_t **new_leaf, int32_t k)
{
    const struct step_fn *g = f[from.fn];
    if (!drop_const)
        out->const_s[k] += scale[from.fn] * g->const_s[from.term];
    copy_leaves(out, g, from.term, scale[from.fn], new_leaf[from.fn]);
}

/* Breadth first, like step_compile(): term 0 first, then whatever it queued. */
static void join_lay_out(struct step_fn *out, const struct step_fn *const *f, const double *scale, int32_t n,
                         struct step_join how, struct pending *queue, int32_t **new_leaf)
{
    out->n_terms = 1;
    if (how.take_max) {
        out->term_begin[out->n_maxima++] = 1;
        for (int32_t i = 0; i < n; i++)
            queue[out->n_terms++] = (struct pending){ i, 0 };
    } else {
        for (int32_t i = 0; i < n; i++)
            copy_term(out, f, scale, (struct pending){ i, 0 }, how.drop_const, new_leaf, 0);
        for (int32_t i = 0; i < n; i++)
            copy_maxima(out, f[i], (struct pending){ i, 0 }, queue);
    }
    for (int32_t k = 1; k < out->n_terms; k++) {
        out->leaf_begin[k] = out->n_leaves;
        out->max_begin[k] = out->n_maxima;
        copy_term(out, f, scale, queue[k], how.drop_const, new_leaf, k);
        copy_maxima(out, f[queue[k].fn], queue[k], queue);
    }
    out->leaf_begin[out->n_terms] = out->n_leaves;
    out->max_begin[out->n_terms] = out->n_maxima;
    out->term_begin[out->n_maxima] = out->n_terms;
}

/* Several steps as one function: their scaled sum, or their maximum (regret). Leaves keep a map to their
 * inputs, as proofs are told per workload. */
int step_fn_join(struct step_fn *out, const struct step_fn *const *f, const double *scale, int32_t n,
                 struct step_join how, struct err *e)
{
    assert(n >= 1);
    struct arena own = { 0 };
    size_t terms = step_join_reserve(out, f, n, how.take_max);
    int32_t **new_leaf = ARENA_TAKE(&own, n, *new_leaf);
    struct pending *queue = ARENA_TAKE(&own, terms, *queue);
    for (int32_t i = 0; i < n && new_leaf; i++)
        new_leaf[i] = ARENA_TAKE(&own, f[i]->n_leaves, **new_leaf);
    int rc = arena_check(own.failed ? &own : &out->arena, "joined training steps", e);
    if (!rc)
        join_lay_out(out, f, scale, n, how, queue, new_leaf);
    for (int32_t i = 0; i < n && !rc; i++)
        for (int32_t node = 0; node < f[i]->n_nodes; node++) {
            int32_t leaf = f[i]->leaf_of[node];
            out->leaf_of[out->n_nodes++] = leaf < 0 ? -1 : new_leaf[i][leaf];
        }
    if (rc)
        step_fn_free(out);
    arena_free(&own);
    return rc;
}

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The larger of a product and the largest so far. 0 bytes over 0 bandwidth is
 * NaN and must not count: a comparison with NaN is false, so it does not. The
 * vector instructions below have the same rule when the product comes first. */
static inline double larger_of(double product, double t)
{
    return product > t ? product : t;
}

static inline double leaf_time(const double *traffic_B, const double *inv, int32_t n_dims)
{
    double t = 0;
    for (int32_t d = 0; d < n_dims; d++)
        t = larger_of(traffic_B[d] * inv[d], t);
    return t;
}

/* Recursion is as deep as maxima are nested in the file. */
static double term_time(const struct step_fn *f, const double *inv, int32_t k)
{
    double sum = f->const_s[k];
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
        sum += leaf_time(&f->traffic_B[(size_t)l * DIMS], inv, f->n_dims);
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        double most = 0;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
            most = larger_of(term_time(f, inv, c), most);
        sum += most;
    }
    return sum;
}

#if defined(__x86_64__)
/* Sums of at most four dimensions, the common case, two dimensions to a register. */
static double sum_time4(const struct step_fn *f, const double *bw_Bps)
{
    __m128d one = _mm_set1_pd(1.0), inv01, inv23;
    if (f->n_dims == 4) {
        inv01 = _mm_div_pd(one, _mm_loadu_pd(bw_Bps));
        inv23 = _mm_div_pd(one, _mm_loadu_pd(bw_Bps + 2));
    } else {
        double bw[4] = { 1, 1, 1, 1 }; /* beyond n_dims the traffic is zero */
        for (int32_t d = 0; d < f->n_dims; d++)
            bw[d] = bw_Bps[d];
        inv01 = _mm_div_pd(one, _mm_loadu_pd(bw));
        inv23 = _mm_div_pd(one, _mm_loadu_pd(bw + 2));
    }
    __m128d sum = _mm_load_sd(f->const_s);
    const double *m = f->traffic_B, *end = m + (size_t)f->n_leaves * DIMS;
    for (; m < end; m += DIMS) {
        __m128d t = _mm_max_pd(_mm_mul_pd(_mm_loadu_pd(m), inv01), _mm_setzero_pd());
        t = _mm_max_pd(_mm_mul_pd(_mm_loadu_pd(m + 2), inv23), t);
        t = _mm_max_sd(t, _mm_unpackhi_pd(t, t));
        sum = _mm_add_sd(sum, t);
    }
    return _mm_cvtsd_f64(sum);
}
#endif

double step_time(const struct step_fn *f, const double *bw_Bps)
{
#if defined(__x86_64__)
    if (f->n_terms == 1 && f->n_dims <= 4)
        return sum_time4(f, bw_Bps);
#endif
    double inv[DIMS];
    for (int32_t d = 0; d < f->n_dims; d++)
        inv[d] = 1 / bw_Bps[d];
    return term_time(f, inv, 0);
}

/* Add weight * gradient of the leaf: only the dimension that binds moves it. */
static double leaf_grad(const double *traffic_B, const double *inv, int32_t n_dims, double *grad)
{
    double t = 0;
    int32_t binds = -1;
    for (int32_t d = 0; d < n_dims; d++)
        if (traffic_B[d] * inv[d] > t) {
            t = traffic_B[d] * inv[d];
            binds = d;
        }
    if (binds >= 0 && grad)
        grad[binds] -= t * inv[binds];
    return t;
}

/* A subgradient: of equal children the first counts, which keeps results independent of the machine. */
static double term_grad(const struct step_fn *f, const double *inv, int32_t k, double *grad)
{
    double sum = f->const_s[k];
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
        sum += leaf_grad(&f->traffic_B[(size_t)l * DIMS], inv, f->n_dims, grad);
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        double most = -1;
        int32_t binds = -1;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++) {
            double t = term_time(f, inv, c);
            if (t > most) {
                most = t;
                binds = c;
            }
        }
        sum += term_grad(f, inv, binds, grad);
    }
    return sum;
}

double step_time_grad(const struct step_fn *f, const double *bw_Bps, double *grad)
{
    double inv[DIMS];
    for (int32_t d = 0; d < f->n_dims; d++) {
        inv[d] = 1 / bw_Bps[d];
        grad[d] = 0;
    }
    return term_grad(f, inv, 0, grad);
}

/* What every x86-64 processor has; on others the same, a number at a time. */
#ifdef __x86_64__
#define LANES 2
#else
#define LANES 1
#endif
#define OF(name) name##_2
#define TARGET   /* none */
#include "workloads/step_batch.inc"

/* AVX2 where it may be; elsewhere nobody asks for it. */
#ifdef __x86_64__
#define LANES  4
#define TARGET __attribute__((target("avx2")))
#else
#define LANES  1
#define TARGET /* none */
#endif
#define OF(name) name##_4
#include "workloads/step_batch.inc"

static void batch_by_point(const struct step_fn *f, const double *const *bw_Bps, int64_t begin, int64_t end,
                           double *out_s)
{
    for (int64_t i = begin; i < end; i++) {
        double bw[DIMS];
        for (int32_t d = 0; d < f->n_dims; d++)
            bw[d] = bw_Bps[d][i];
        out_s[i] = step_time(f, bw);
    }
}

void step_time_batch(const struct step_fn *f, const double *const *bw_Bps, int64_t n, double *out_s)
{
    int64_t done = 0;
#if defined(__x86_64__)
    done = __builtin_cpu_supports("avx2") ? step_batch_4(f, bw_Bps, n, out_s)
                                          : step_batch_2(f, bw_Bps, n, out_s);
#else
    done = step_batch_2(f, bw_Bps, n, out_s);
#endif
    batch_by_point(f, bw_Bps, done, n, out_s);
}
