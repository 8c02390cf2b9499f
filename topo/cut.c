/*
 * Edge connectivity by contraction: H. Nagamochi, T. Ono, T. Ibaraki, "Implementing an efficient minimum
 * capacity cut algorithm", Mathematical Programming 67 (1994).
 *
 * Vertices are scanned so that the next one always has the most links into those that were scanned. When a
 * link to vertex v is the r-th into the scanned ones, its two ends have at least r paths without a common
 * link. So with `best` the least cut known so far, a link with r >= best joins two vertices that no smaller
 * cut parts: they become one. The vertex scanned last has all its links into the scanned ones, as many as
 * `best` at least, so that each pass joins something. The least cut is the least degree of any vertex of any
 * pass.
 */
#include "topo/cut.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

struct cut {
    int64_t n_vertices, n_links;
    const int64_t *ends;
    int64_t *of;    /* shape [n_vertices]: what it was joined to, itself if nothing */
    int64_t *first; /* shape [n_vertices + 1]; neighbours of v: arcs[first[v]] .. arcs[first[v + 1] - 1] */
    int64_t *arcs;  /* shape [2 * n_links] */
    /* Of a pass: how many links a vertex has into the scanned ones, shape [n_vertices], and lists of the
     * unscanned ones with equally many: heads shape [n_links + 1], -1 ends one. */
    int64_t *reach, *top, *next, *before;
    bool *scanned; /* shape [n_vertices] */
};

static int64_t cut_find(struct cut *x, int64_t v)
{
    while (x->of[v] != v)
        v = x->of[v] = x->of[x->of[v]];
    return v;
}

/* The links between vertices that are left, as lists of neighbours. Returns how many vertices are left. */
static int64_t cut_list_arcs(struct cut *x)
{
    int64_t n_left = 0;
    memset(x->first, 0, (size_t)(x->n_vertices + 1) * sizeof *x->first);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < x->n_links; i++) {
            int64_t a = cut_find(x, x->ends[2 * i]), b = cut_find(x, x->ends[2 * i + 1]);
            if (a == b)
                continue;
            /* Counted first, one place behind; then filled in from the end of each list. */
            if (pass == 0) {
                x->first[a]++;
                x->first[b]++;
            } else {
                x->arcs[--x->first[a]] = b;
                x->arcs[--x->first[b]] = a;
            }
        }
        for (int64_t v = 1; v <= x->n_vertices && pass == 0; v++)
            x->first[v] += x->first[v - 1];
    }
    for (int64_t v = 0; v < x->n_vertices; v++)
        n_left += x->of[v] == v;
    return n_left;
}

static int64_t cut_degree(const struct cut *x, int64_t v)
{
    return x->first[v + 1] - x->first[v];
}

static void cut_take_out(struct cut *x, int64_t v)
{
    if (x->before[v] >= 0)
        x->next[x->before[v]] = x->next[v];
    else
        x->top[x->reach[v]] = x->next[v];
    if (x->next[v] >= 0)
        x->before[x->next[v]] = x->before[v];
}

static void cut_put_in(struct cut *x, int64_t v)
{
    int64_t old = x->top[x->reach[v]];
    x->before[v] = -1;
    x->next[v] = old;
    x->top[x->reach[v]] = v;
    if (old >= 0)
        x->before[old] = v;
}

/* One pass over the n_left vertices; joins what no cut below `best` parts. */
static void cut_scan(struct cut *x, int64_t n_left, int64_t best)
{
    int64_t most = 0;
    for (int64_t r = 0; r <= x->n_links; r++)
        x->top[r] = -1;
    for (int64_t v = 0; v < x->n_vertices; v++) {
        x->scanned[v] = false;
        x->reach[v] = 0;
    }
    for (int64_t v = x->n_vertices - 1; v >= 0; v--)
        if (x->of[v] == v)
            cut_put_in(x, v);
    for (; n_left > 0; n_left--) {
        while (x->top[most] < 0)
            most--;
        int64_t u = x->top[most];
        cut_take_out(x, u);
        x->scanned[u] = true;
        for (int64_t k = x->first[u]; k < x->first[u + 1]; k++) {
            int64_t v = x->arcs[k];
            if (x->scanned[v])
                continue;
            cut_take_out(x, v);
            x->reach[v]++;
            cut_put_in(x, v);
            most = x->reach[v] > most ? x->reach[v] : most;
            /* The lists of this pass keep both; the next pass has one. */
            if (x->reach[v] >= best)
                x->of[cut_find(x, v)] = cut_find(x, u);
        }
    }
}

int topo_least_cut(int64_t *n_cut, int64_t n_vertices, const int64_t *ends, int64_t n_links, struct err *e)
{
    struct arena arena = { 0 };
    struct cut x = { .n_vertices = n_vertices, .n_links = n_links, .ends = ends };
    int64_t best = n_vertices > 1 ? n_links : 0;
    x.of = ARENA_TAKE(&arena, n_vertices, *x.of);
    x.first = ARENA_TAKE(&arena, n_vertices + 1, *x.first);
    x.reach = ARENA_TAKE(&arena, n_vertices, *x.reach);
    x.next = ARENA_TAKE(&arena, n_vertices, *x.next);
    x.before = ARENA_TAKE(&arena, n_vertices, *x.before);
    x.arcs = ARENA_TAKE(&arena, 2 * n_links, *x.arcs);
    x.top = ARENA_TAKE(&arena, n_links + 1, *x.top);
    x.scanned = ARENA_TAKE(&arena, n_vertices, *x.scanned);
    int rc = arena_check(&arena, "the edge connectivity", e);
    for (int64_t v = 0; v < n_vertices && !rc; v++)
        x.of[v] = v;
    while (!rc && best > 0) {
        int64_t n_left = cut_list_arcs(&x);
        if (n_left < 2)
            break;
        for (int64_t v = 0; v < n_vertices; v++)
            if (x.of[v] == v && cut_degree(&x, v) < best)
                best = cut_degree(&x, v);
        if (best > 0)
            cut_scan(&x, n_left, best);
    }
    *n_cut = best;
    arena_free(&arena);
    return rc;
}
