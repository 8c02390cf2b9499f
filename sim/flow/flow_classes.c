/*
 * The coarsest equitable partition of flows and links, by colour refinement (B. Weisfeiler, A. Leman, 1968).
 * A link's colour is a number, at first by bandwidth and latency. A flow's class is what it is like: stage,
 * bytes, latency, queue, and how many links of each colour it passes. Links that differ in the classes of the
 * flows which pass them get different colours, until none do. Routes are not kept, since a network of 4,096
 * has 16.7 million: they are found again in each round, of which symmetric networks take one to three.
 *
 * What is compared are sums of 64-bit hashes. Two that should differ are equal by chance with probability
 * 2^-64 a pair; that counts of flows a link come out whole is checked besides.
 */
#include "sim/flow/flow_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

/** Rounds after which it is given up; see paint_graph(). */
enum { MAX_ROUNDS = 32, LOOK_HOPS = 4 };

struct flow_class {
    uint64_t like; /* hash of all that its flows have in common */
    int32_t stage;
    int32_t first, n_arcs; /* its first flow's route: arcs[first .. first + n_arcs); then its uses */
    int64_t n;             /* flows */
    double bytes, queue_s, lat_s;
};

struct flow_classes {
    struct arena arena; /* of the arrays that have an item per arc */
    const struct topo_routes *routes;
    int64_t max_classes;
    int32_t n_arcs, n_colors, round;
    int32_t *color;      /* shape [n_arcs] */
    int32_t *n_of_color; /* shape [n_arcs]: arcs of each colour */
    uint64_t *hash;      /* shape [n_arcs]: of its colour */
    uint64_t *met;       /* shape [n_arcs]: sum over the flows that pass it this round */
    struct hash index;   /* of classes */
    struct flow_class *classes;
    int32_t n, cap;
    int32_t *arcs, *counts; /* shape [n_uses]: routes of the classes' first flows; then colours and counts */
    int32_t n_uses, cap_uses, cap_counts;
    bool many, same_lines;
    /* Lines: what the first one of the stage and the one at hand sum up to. */
    int32_t stage, line;
    uint64_t first_line, this_line;
    bool is_first;
};

static uint64_t stir_real(uint64_t h, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return hash_split(h ^ bits);
}

/* New colours: arcs of one colour stay together where key[] is the same. Numbers in order of first mention.
 */
static int paint(struct flow_classes *x, const uint64_t *key, struct err *e)
{
    struct hash seen = { 0 };
    int32_t *example = x->n_of_color, n = 0; /* an arc of each new colour; counted afterwards */
    int rc = 0;
    for (int32_t a = 0; a < x->n_arcs && !rc; a++) {
        uint64_t h = hash_split(key[a] ^ x->hash[a]);
        int32_t like = -1;
        hash_each (id, &seen, h)
            if (like < 0 && key[example[id]] == key[a] && x->hash[example[id]] == x->hash[a])
                like = id;
        if (like < 0 && !hash_add(&seen, h, n))
            rc = err_nomem(e, "classes of links");
        else if (like < 0)
            example[like = n++] = a;
        x->color[a] = like;
    }
    hash_free(&seen);
    if (rc)
        return rc;
    memset(x->n_of_color, 0, (size_t)x->n_arcs * sizeof *x->n_of_color);
    for (int32_t a = 0; a < x->n_arcs; a++) {
        x->n_of_color[x->color[a]]++;
        x->hash[a] = hash_split((uint64_t)x->color[a]);
    }
    x->n_colors = n;
    return 0;
}

/*
 * Colours to begin with: bandwidth, latency and dimension of an arc, and what its ends are like as far as
 * LOOK_HOPS around them. No automorphism of the graph maps one onto another, so none is lost, and a symmetric
 * network needs one round instead of two or three.
 */
static int paint_graph(struct flow_classes *x, struct err *e)
{
    const struct topo_routes *r = x->routes;
    uint64_t *like = calloc(2 * (size_t)r->n_vertices + 1, sizeof *like);
    if (!like)
        return err_nomem(e, "classes of links");
    uint64_t *next = like + r->n_vertices;
    for (int32_t v = 0; v < r->n_npus; v++)
        like[v] = 1;
    for (int32_t a = 0; a < x->n_arcs; a++)
        x->hash[a] = stir_real(stir_real((uint64_t)topo_link_dim(r, a / 2), topo_arc_bw(r, a)), r->lat_s[a]);
    for (int hops = 0; hops < LOOK_HOPS; hops++) {
        for (int32_t v = 0; v < r->n_vertices; v++)
            next[v] = hash_split(like[v]);
        for (int32_t a = 0; a < x->n_arcs; a++)
            next[r->to[a]] += hash_split(x->hash[a] + like[r->to[a ^ 1]]);
        memcpy(like, next, (size_t)r->n_vertices * sizeof *like);
    }
    for (int32_t a = 0; a < x->n_arcs; a++)
        x->met[a] = hash_split(hash_split(x->hash[a] + like[r->to[a]]) + like[r->to[a ^ 1]]);
    free(like);
    return paint(x, x->met, e);
}

int flow_classes_build(struct flow_classes **out, const struct topo_routes *routes, int64_t max_classes,
                       struct err *e)
{
    struct flow_classes *x = *out = calloc(1, sizeof *x);
    if (!x)
        return err_nomem(e, "classes of flows");
    size_t n = (size_t)routes->n_arcs + 1;
    x->routes = routes;
    x->n_arcs = routes->n_arcs;
    x->max_classes = max_classes;
    x->color = ARENA_TAKE(&x->arena, n, *x->color);
    x->n_of_color = ARENA_TAKE(&x->arena, n, *x->n_of_color);
    x->hash = ARENA_TAKE(&x->arena, n, *x->hash);
    x->met = ARENA_TAKE(&x->arena, n, *x->met);
    int rc = arena_check(&x->arena, "classes of links", e);
    if (!rc)
        rc = paint_graph(x, e);
    if (rc) {
        flow_classes_free(x);
        *out = NULL;
    }
    return rc;
}

void flow_classes_free(struct flow_classes *x)
{
    if (!x)
        return;
    hash_free(&x->index);
    arena_free(&x->arena);
    free(x->classes);
    free(x->arcs);
    free(x->counts);
    free(x);
}

void flow_classes_begin(struct flow_classes *x)
{
    hash_free(&x->index);
    x->index = (struct hash){ 0 };
    x->n = x->n_uses = 0;
    x->many = false;
    x->same_lines = true;
    x->stage = -1;
    x->is_first = true;
    x->this_line = 0;
    memset(x->met, 0, (size_t)x->n_arcs * sizeof *x->met);
}

/* The line at hand is complete: is it like the first one of its stage? */
static void close_line(struct flow_classes *x)
{
    if (x->is_first)
        x->first_line = x->this_line;
    x->same_lines = x->same_lines && x->this_line == x->first_line;
    x->is_first = false;
    x->this_line = 0;
}

static int new_class(struct flow_classes *x, uint64_t like, int32_t stage, const struct flow_spec *f,
                     struct err *e)
{
    double links_s = 0, lat_s = 0;
    if (x->n >= x->max_classes) {
        x->many = true;
        return 0;
    }
    if (!vec_reserve(x->classes, x->cap, x->n + 1) ||
        !vec_reserve(x->arcs, x->cap_uses, x->n_uses + f->n_arcs) || !hash_add(&x->index, like, x->n))
        return err_nomem(e, "classes of flows");
    for (int32_t i = 0; i < f->n_arcs; i++) {
        if (!(topo_arc_bw(x->routes, f->arcs[i]) > 0))
            return err_set(e, ERR_RANGE, "flow: link %d has failed", f->arcs[i] / 2);
        links_s += x->routes->lat_s[f->arcs[i]];
        x->arcs[x->n_uses + i] = f->arcs[i];
    }
    int rc = flow_latency(&lat_s, links_s, f->extra_s, e);
    if (rc)
        return rc;
    x->classes[x->n++] = (struct flow_class){ .like = like,
                                              .stage = stage,
                                              .first = x->n_uses,
                                              .n_arcs = f->n_arcs,
                                              .n = 1,
                                              .bytes = f->bytes,
                                              .queue_s = f->queue_s,
                                              .lat_s = lat_s };
    x->n_uses += f->n_arcs;
    return 0;
}

int flow_classes_add(struct flow_classes *x, int32_t stage, int32_t line, const struct flow_spec *f,
                     struct err *e)
{
    uint64_t sum = 0, like = hash_split((uint64_t)(uint32_t)stage << 32 | (uint32_t)f->n_arcs);
    if (x->many)
        return 0;
    if (x->stage >= 0 && (stage != x->stage || line != x->line)) {
        close_line(x);
        x->is_first = stage != x->stage;
    }
    x->stage = stage;
    x->line = line;
    like = stir_real(stir_real(stir_real(like, f->bytes), f->queue_s), f->extra_s);
    for (int32_t i = 0; i < f->n_arcs; i++)
        sum += x->hash[f->arcs[i]];
    like = hash_split(like + sum);
    for (int32_t i = 0; i < f->n_arcs; i++)
        x->met[f->arcs[i]] += like;
    x->this_line += like;
    hash_each (id, &x->index, like)
        if (x->classes[id].like == like) {
            x->classes[id].n++;
            return 0;
        }
    return new_class(x, like, stage, f, e);
}

bool flow_classes_many(const struct flow_classes *x)
{
    return x->many;
}

/* Routes become colours, each once, with the flows of the class that one link of the colour carries. */
static int count_uses(struct flow_classes *x, struct err *e)
{
    if (!vec_reserve(x->counts, x->cap_counts, x->n_uses + 1))
        return err_nomem(e, "classes of flows");
    for (int32_t k = 0; k < x->n; k++) {
        struct flow_class *c = &x->classes[k];
        int32_t n = 0, *colors = x->arcs + c->first, *counts = x->counts + c->first;
        for (int32_t i = 0; i < c->n_arcs; i++) {
            int32_t color = x->color[colors[i]], at = 0;
            while (at < n && colors[at] != color)
                at++;
            if (at == n) {
                colors[n] = color;
                counts[n++] = 0;
            }
            counts[at]++;
        }
        c->n_arcs = n;
        for (int32_t i = 0; i < n; i++) {
            int64_t flows = counts[i] * c->n, links = x->n_of_color[colors[i]];
            if (flows % links || flows / links > INT32_MAX) {
                x->many = true;
                return 0;
            }
            counts[i] = (int32_t)(flows / links);
        }
    }
    return 0;
}

int flow_classes_end(enum flow_classes_state *state, struct flow_classes *x, struct err *e)
{
    int32_t before = x->n_colors;
    int rc = 0;
    close_line(x);
    if (!x->many)
        rc = paint(x, x->met, e);
    bool again = x->n_colors > before;
    if (!rc && !x->many && !again)
        rc = count_uses(x, e);
    x->many = x->many || (again && ++x->round == MAX_ROUNDS);
    *state = x->many ? FLOW_CLASSES_MANY : again ? FLOW_CLASSES_AGAIN : FLOW_CLASSES_DONE;
    return rc;
}

/* ---- the small network ---- */

bool flow_classes_same_lines(const struct flow_classes *x)
{
    return x->same_lines;
}

int flow_classes_net(struct flow_net **out, const struct flow_classes *x, struct err *e)
{
    double *bw_Bps = malloc(((size_t)x->n_colors + 1) * sizeof *bw_Bps);
    *out = NULL;
    if (!bw_Bps)
        return err_nomem(e, "classes of links");
    for (int32_t a = 0; a < x->n_arcs; a++)
        bw_Bps[x->color[a]] = topo_arc_bw(x->routes, a);
    int rc = flow_net_build_links(out, bw_Bps, x->n_colors, e);
    free(bw_Bps);
    return rc;
}

int32_t flow_classes_link(const struct flow_classes *x, int32_t arc)
{
    return x->color[arc];
}

int32_t flow_classes_count(const struct flow_classes *x, int64_t *n_flows)
{
    *n_flows = 0;
    for (int32_t k = 0; k < x->n; k++)
        *n_flows += x->classes[k].n;
    return x->n;
}

struct flow_spec flow_classes_flow(const struct flow_classes *x, int32_t i, int32_t *stage)
{
    const struct flow_class *c = &x->classes[i];
    *stage = c->stage;
    return (struct flow_spec){ .arcs = x->arcs + c->first,
                               .counts = x->counts + c->first,
                               .n_arcs = c->n_arcs,
                               .bytes = c->bytes,
                               .extra_s = c->lat_s,
                               .queue_s = c->queue_s };
}
