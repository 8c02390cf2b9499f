/*
 * Which plan of parallelism trains a model fastest: every legal plan, shape by shape, at given bandwidths or
 * together with the split.
 *
 * A shape (degrees without how they lie along the dimensions) has a bound of its time that costs
 * microseconds; shapes whose bound is behind the best so far are left out. The order of candidates breaks
 * ties, so that the result is the same for any number of threads.
 */
#include "kinds/design/search.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/lp.h"
#include "base/vec.h"
#include "base/work.h"
#include "kinds/design/candidates.h"
#include "kinds/design/design.h"
#include "kinds/design/whole.h"
#include "workloads/collective.h"
#include "workloads/step.h"

/** Degrees that make the number of NPUs. */
struct search_shape {
    int64_t degree[N_PLAN_AXES], ep;
};

/** Growing; zero-initialise, release with search_shapes_free(). */
struct search_shapes {
    struct search_shape *shapes; /**< shape [n], owned */
    int32_t n, cap;
    struct search_refusals refused; /**< combinations of values that cannot be */
};

/** The ways to lay a shape over the network: 4! orders, those that come to the same once. */
struct search_places {
    enum plan_axis order[SEARCH_PLACES][N_PLAN_AXES];
    struct plan_place places[SEARCH_PLACES];
    int32_t n;
    int64_t n_unmapped; /**< orders whose degrees do not lie along the dimensions */
};

/** Called for each legal plan of a shape; its order is the base's. */
typedef void (*search_visit)(void *with, const struct plan *plan);

/* The first is told key by key. */
static const char *const search_reason_words[N_SEARCH_REASONS] = {
    [SEARCH_UNMAPPED] = "degrees do not lie along the dimensions",
    [SEARCH_MEMORY] = "memory does not suffice",
};

enum { DEFAULT_TOP = 10 };

static const char *const order_words[] = { "given", "any", NULL };
static const char *const bool_words[] = { "false", "true", NULL };
static const char *const zero_words[] = { "0", "1", "2", "3", NULL };

static int need_list(const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (!rc && (doc->nodes[list].n < 1 || doc->nodes[list].n > SEARCH_MAX_VALUES))
        rc = yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, expected 1 to %d", (int)doc->nodes[list].n,
                       SEARCH_MAX_VALUES);
    return rc;
}

/* Ascending, each once, so that the order of writing changes nothing. */
static void insert(struct search_values *v, int64_t value)
{
    int32_t at = 0;
    while (at < v->n && v->values[at] < value)
        at++;
    if (at < v->n && v->values[at] == value)
        return;
    memmove(&v->values[at + 1], &v->values[at], (size_t)(v->n - at) * sizeof v->values[0]);
    v->values[at] = value;
    v->n++;
}

/* A schema_read_own: numbers to try, in ascending order and each once. */
static int search_read_values(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                              struct err *e)
{
    struct search_values *out = field;
    (void)k;
    out->n = 0;
    int rc = list < 0 ? 0 : need_list(doc, list, e);
    if (rc || list < 0)
        return rc;
    yaml_each (id, doc, list) {
        int64_t value;
        if ((rc = yaml_count(doc, id, &value, e)))
            return rc;
        if (value < 1 || value > (int64_t)1e12)
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected 1 or more", (long long)value);
        insert(out, value);
    }
    return 0;
}

static int search_fail_word(const char *word, const struct key *k, const struct yaml_doc *doc, yaml_id id,
                            struct err *e)
{
    struct text all = { 0 };
    for (size_t i = 0; k->words[i]; i++)
        text_printf(&all, "%s%s", i ? ", " : "", k->words[i]);
    int rc = yaml_fail(doc, id, e, ERR_PARSE, "is %.40s, expected one of %s", word, text_str(&all));
    text_free(&all);
    return rc;
}

/* A schema_read_own: words to try, as bits; absent: all, or the first .room of them; what few frameworks
 * have is tried where it is asked for. */
static int read_mask(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                     struct err *e)
{
    unsigned *out = field, n_words = 0;
    while (k->words[n_words])
        n_words++;
    *out = list < 0 ? (1U << (k->room ? (unsigned)k->room : n_words)) - 1 : 0;
    int rc = list < 0 ? 0 : need_list(doc, list, e);
    if (rc || list < 0)
        return rc;
    yaml_each (id, doc, list) {
        const char *word;
        unsigned i = 0;
        if ((rc = yaml_text(doc, id, &word, e)))
            return rc;
        while (k->words[i] && strcmp(k->words[i], word) != 0)
            i++;
        if (!k->words[i])
            return search_fail_word(word, k, doc, id, e);
        *out |= 1U << i;
    }
    return 0;
}

/* A schema_read_own: words to try, as bits; absent: what the plan has, as none. */
static int read_asked(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                      struct err *e)
{
    *(unsigned *)field = 0;
    return list < 0 ? 0 : read_mask(field, k, doc, list, e);
}

#define VALUES(f, key, text)       K_OWN(struct search_space, f, key, search_read_values, text)
#define MASK(f, key, words_, text) K_OWN(struct search_space, f, key, read_mask, text, .words = words_)

static const struct key search_keys[] = {
    VALUES(tp, "tp", "list of degrees to try (default: every legal one)"),
    VALUES(cp, "cp", "list of degrees to try (default: every legal one)"),
    VALUES(pp, "pp", "list of degrees to try (default: every legal one)"),
    VALUES(ep, "ep", "list of degrees to try (default: every legal one)"),
    VALUES(micro, "micro_batch", "list of sizes to try (default: every divisor of batch / dp)"),
    VALUES(interleave, "interleave", "list of chunks to try (default: every divisor of a stage's layers)"),
    K_OWN(struct search_space, recompute, "recompute", read_mask,
          "list of none, selective, full, sac (default: the first three)", .words = plan_recompute_words,
          .room = PLAN_RECOMPUTE_SAC),
    MASK(zero, "zero", zero_words, "list of 0 to 3 (default: all)"),
    MASK(seq_parallel, "seq_parallel", bool_words, "list of false, true (default: both)"),
    MASK(context, "context", plan_context_words, "list of ring, all-gather, ulysses (default: all)"),
    K_OWN(struct search_space, schedule, "schedule", read_mask,
          "list of 1f1b, gpipe, zb1p, dualpipe, dualpipev (default: the first two)",
          .words = plan_schedule_words, .room = 2),
    MASK(dispatcher, "dispatcher", plan_dispatcher_words, "list of all-to-all, merged (default: both)"),
    MASK(ep_overlap, "ep_overlap", plan_ep_overlap_words, "list of none, shared, batch (default: all)"),
    K_OWN(struct search_space, precision, "precision", read_asked,
          "list of bf16, fp8, mxfp8, nvfp4 (default: the plan's)", .words = topo_precision_words),
    K_OWN(struct search_space, recompute_ops, "recompute_ops", read_asked,
          "list of operators: every choice of them is done again, with recompute selective (default: the "
          "plan's)",
          .words = plan_op_words),
    K_WORD(struct search_space, any_order, "order", order_words, 1,
           "over the dimensions: the plan's (given) or any (default: any)"),
    K_COUNT(struct search_space, top, "top", 1, SEARCH_MAX_TOP, DEFAULT_TOP, "how many of the best to show"),
};

/* An empty map searches everything that is legal. */
K_SECTION(search_section, struct search_space, "search", search_keys,
          "which plans of parallelism to try for the model");

/* Keys are few, and kept in order, so that threads that are added up in any order come to the same. */
static void search_refuse(struct search_refusals *to, const char *key, int64_t n)
{
    int32_t at = 0;
    while (at < to->n_keys && strcmp(to->key[at], key) < 0)
        at++;
    if (at == to->n_keys || strcmp(to->key[at], key) != 0) {
        if (to->n_keys == SEARCH_MAX_KEYS)
            return;
        memmove(&to->key[at + 1], &to->key[at], (size_t)(to->n_keys - at) * sizeof to->key[0]);
        memmove(&to->n[at + 1], &to->n[at], (size_t)(to->n_keys - at) * sizeof to->n[0]);
        to->key[at] = key;
        to->n[at] = 0;
        to->n_keys++;
    }
    to->n[at] += n;
}

static void search_refuse_all(struct search_refusals *to, const struct search_refusals *from)
{
    for (int32_t i = 0; i < from->n_keys; i++)
        search_refuse(to, from->key[i], from->n[i]);
}

static void search_shapes_free(struct search_shapes *s)
{
    free(s->shapes);
    *s = (struct search_shapes){ 0 };
}

/* ---- values ---- */

/* No number up to 1e12 has more divisors (963,761,198,400 has 6,720). */
enum { MAX_LIST = 6720 };

struct list {
    int64_t values[MAX_LIST];
    int32_t n;
};

/* What was asked for, or every divisor of `of`; ascending. O(sqrt(of)). */
static void list_values(struct list *out, const struct search_values *asked, int64_t of)
{
    int32_t n_small = 0;
    out->n = 0;
    for (int32_t i = 0; i < asked->n; i++)
        out->values[out->n++] = asked->values[i];
    if (asked->n)
        return;
    for (int64_t d = 1; d <= of / d; d++)
        if (of % d == 0)
            out->values[n_small++] = d;
    out->n = n_small;
    for (int32_t i = n_small; i-- > 0;)
        if (of / out->values[i] != out->values[i])
            out->values[out->n++] = of / out->values[i];
}

static bool is_alone(const struct training *base)
{
    return base->model.family != MODEL_TRANSFORMER;
}

/* Chunks that the layers do not fill evenly have short ends, unless the plan says how layers lie. */
static int32_t search_ends(const struct plan *p, const struct model *m)
{
    int64_t chunks = p->degree[PLAN_PP] * p->interleave;
    bool said = p->layout.n || p->first || p->last || p->degree[PLAN_PP] == 1;
    return said || m->layers % chunks == 0 ? PLAN_ENDS_EQUAL : PLAN_ENDS_SHORT;
}

/* The least that what the plan says of sharing out asks for. */
static int32_t search_least_zero(const struct plan *p)
{
    if (!p->reshard)
        return 3;
    if (p->no_sync || p->beside_share > 0)
        return 2;
    return p->shard ? 1 : 0;
}

/* The plan of base with the shape's degrees, and the least of everything. */
static struct plan search_plan(const struct training *base, const struct search_shape *shape)
{
    struct plan p = base->plan;
    memcpy(p.degree, shape->degree, sizeof p.degree);
    p.ep = shape->ep;
    p.micro = p.interleave = 1;
    p.recompute = PLAN_RECOMPUTE_NONE;
    p.schedule = PLAN_1F1B;
    p.context = PLAN_CP_RING;
    if (p.ep == 1) { /* nothing is dispatched, so that nothing says how */
        p.node_limit = 0;
        p.dispatch_bits = 16;
    }
    p.dispatcher = p.node_limit ? PLAN_MERGED : PLAN_ALL_TO_ALL;
    p.ep_overlap = PLAN_EP_OVERLAP_NONE;
    p.zero = search_least_zero(&p);
    p.seq_parallel = base->model.moe.experts && p.degree[PLAN_TP] > 1;
    if (p.layout.n && p.layout.n % p.degree[PLAN_PP] == 0)
        p.interleave = p.layout.n / p.degree[PLAN_PP];
    p.ends = search_ends(&p, &base->model);
    return p;
}

/* ---- shapes ---- */

static int add_shape(struct search_shapes *out, const struct search_shape *shape, struct err *e)
{
    if (!vec_reserve(out->shapes, out->cap, out->n + 1))
        return err_nomem(e, "a search");
    out->shapes[out->n++] = *shape;
    return 0;
}

struct seeking {
    struct search_shapes *out;
    const struct search_space *space;
    const struct training *base;
    int64_t n_npus;
    struct list tp, cp, pp, ep;
};

/* Degrees of expert parallelism for the others. */
static int add_with_experts(struct seeking *x, struct search_shape *shape, struct err *e)
{
    for (int32_t i = 0; i < x->ep.n; i++) {
        shape->ep = x->ep.values[i];
        struct plan p = search_plan(x->base, shape);
        struct plan_fault fault = { .brief = true };
        if (!plan_check(&p, &x->base->model, x->n_npus, &fault)) {
            search_refuse(&x->out->refused, fault.key, 1);
            continue;
        }
        int rc = add_shape(x->out, shape, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int add_with_stages(struct seeking *x, struct search_shape *shape, int64_t left, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < x->pp.n && !rc; i++) {
        int64_t pp = x->pp.values[i];
        if (left % pp || (!is_alone(x->base) && pp > x->base->model.layers)) {
            search_refuse(&x->out->refused, "pp", 1);
            continue;
        }
        shape->degree[PLAN_PP] = pp;
        shape->degree[PLAN_DP] = left / pp;
        rc = add_with_experts(x, shape, e);
    }
    return rc;
}

/* Degrees whose product divides the NPUs; dp is what is left. */
static int add_all(struct seeking *x, struct err *e)
{
    struct search_shape shape = { .ep = 1 };
    int rc = 0;
    for (int32_t t = 0; t < x->tp.n && !rc; t++)
        for (int32_t c = 0; c < x->cp.n && !rc; c++) {
            int64_t tp = x->tp.values[t], cp = x->cp.values[c];
            if (x->n_npus % tp || x->n_npus / tp % cp) {
                search_refuse(&x->out->refused, x->n_npus % tp ? "tp" : "cp", 1);
                continue;
            }
            shape.degree[PLAN_TP] = tp;
            shape.degree[PLAN_CP] = cp;
            rc = add_with_stages(x, &shape, x->n_npus / tp / cp, e);
        }
    return rc;
}

/* All shapes, in a fixed order. A shape is the degrees; microbatches, schedule and the rest vary within it.
 */
static int search_find_shapes(struct search_shapes *out, const struct search_space *space,
                              const struct training *base, int64_t n_npus, struct err *e)
{
    const struct model *m = &base->model;
    struct seeking *x = calloc(1, sizeof *x);
    *out = (struct search_shapes){ 0 };
    if (!x)
        return err_nomem(e, "a search");
    *x = (struct seeking){ .out = out, .space = space, .base = base, .n_npus = n_npus };
    list_values(&x->tp, &space->tp, is_alone(base) ? 1 : m->heads);
    list_values(&x->cp, &space->cp, is_alone(base) ? 1 : m->seq);
    list_values(&x->pp, &space->pp, is_alone(base) ? 1 : n_npus);
    list_values(&x->ep, &space->ep, m->moe.experts ? m->moe.experts : 1);
    int rc = add_all(x, e);
    free(x);
    if (rc)
        search_shapes_free(out);
    return rc;
}

/* ---- places ---- */

static bool is_new(const struct search_places *out, const struct plan_place *place)
{
    for (int32_t i = 0; i < out->n; i++)
        if (memcmp(out->places[i].axis, place->axis, sizeof place->axis) == 0 &&
            memcmp(out->places[i].stride, place->stride, sizeof place->stride) == 0)
            return false;
    return true;
}

static void try_order(struct search_places *out, struct plan *p, const struct topo_network *net)
{
    struct plan_place place;
    struct err ignored;
    if (plan_map(&place, p, net, &ignored)) {
        out->n_unmapped++;
        return;
    }
    if (!is_new(out, &place))
        return;
    memcpy(out->order[out->n], p->order, sizeof p->order);
    out->places[out->n++] = place;
}

/* Permutations in the order of their words; the base's own comes first. */
static void permute(struct search_places *out, struct plan *p, int at, unsigned used,
                    const struct topo_network *net)
{
    if (at == N_PLAN_AXES) {
        try_order(out, p, net);
        return;
    }
    for (int axis = 0; axis < N_PLAN_AXES; axis++) {
        if (used & 1U << axis)
            continue;
        p->order[at] = (enum plan_axis)axis;
        permute(out, p, at + 1, used | 1U << axis, net);
    }
}

static void search_find_places(struct search_places *out, const struct search_space *space,
                               const struct plan *plan, const struct topo_network *net)
{
    struct plan p = *plan;
    out->n = 0;
    out->n_unmapped = 0;
    try_order(out, &p, net);
    if (space->any_order) {
        out->n_unmapped = 0;
        permute(out, &p, 0, 0, net);
    }
}

/* ---- plans of a shape ---- */

struct walking {
    const struct search_space *space;
    const struct training *base;
    search_visit visit;
    void *with;
    struct search_refusals *refused;
    struct list micros, chunks;
};

/* Every choice of the operators that may be done again, fewest first; none is no recomputation. */
static void walk_ops(const struct walking *x, struct plan *p, unsigned ops)
{
    unsigned own = p->recompute_ops;
    for (p->recompute_ops = (0 - ops) & ops; p->recompute_ops;
         p->recompute_ops = (p->recompute_ops - ops) & ops)
        x->visit(x->with, p);
    p->recompute_ops = own;
}

/* What changes nothing that divides: memory and what is sent. Where it would change nothing at all, once. */
static void walk_memory(const struct walking *x, struct plan *p)
{
    const struct model *m = &x->base->model;
    bool shared = p->degree[PLAN_DP] * p->degree[PLAN_CP] > 1;
    int32_t least = search_least_zero(p);
    unsigned ops = x->space->recompute_ops & plan_model_ops(m);
    unsigned recomputes = x->space->recompute, zeros = shared ? x->space->zero : 1;
    const unsigned given_ops = p->recompute_ops;
    const int64_t given_bits = p->gather_bits;
    if (is_alone(x->base))
        recomputes = 1;
    else if (plan_is_fused(p, m) && !p->recompute_ops && !ops && recomputes & 1U << PLAN_RECOMPUTE_NONE)
        recomputes &= ~(1U << PLAN_RECOMPUTE_SELECTIVE); /* nothing but a sum per row is kept of scores */
    for (int32_t r = 0; r < N_PLAN_RECOMPUTES; r++)
        for (int32_t z = least; z < 4; z++) {
            if (!(recomputes & 1U << r) || !(zeros & 1U << z))
                continue;
            /* What says how something is done is said where it is done, as a study has to. */
            p->recompute = r;
            p->recompute_ops = r == PLAN_RECOMPUTE_SELECTIVE ? given_ops : 0;
            p->zero = z;
            p->gather_bits = z ? given_bits : 0;
            if (r == PLAN_RECOMPUTE_SELECTIVE && ops)
                walk_ops(x, p, ops);
            else
                x->visit(x->with, p);
        }
    p->recompute_ops = given_ops;
    p->gather_bits = given_bits;
}

/* Precisions that were asked for, else the plan's. */
static void walk_precisions(const struct walking *x, struct plan *p)
{
    int32_t own = p->precision;
    if (!x->space->precision)
        walk_memory(x, p);
    for (p->precision = 0; p->precision < N_TOPO_PRECISIONS; p->precision++)
        if (x->space->precision & 1U << p->precision)
            walk_memory(x, p);
    p->precision = own;
}

static void walk_legal(struct walking *x, struct plan *p)
{
    struct plan_fault fault = { .brief = true };
    if (work_stopped())
        return;
    if (plan_check(p, &x->base->model, plan_inner(p, INT32_MAX) * p->degree[PLAN_DP], &fault))
        walk_precisions(x, p);
    else
        search_refuse(x->refused, fault.key, 1);
}

/* Chunks that a stage may have: of its layers or, where embedding and loss fill up the chunks, of those with
 * them. */
static void list_chunks(struct walking *x, const struct plan *p)
{
    int64_t pp = p->degree[PLAN_PP], layers = x->base->model.layers, of = (layers + pp - 1) / pp;
    if (pp == 1 || p->first || p->last)
        of = 1;
    else if (layers % pp && (layers + 2) % pp == 0)
        of = (layers + 2) / pp;
    list_values(&x->chunks, &x->space->interleave, of);
    if (p->layout.n)
        x->chunks = (struct list){ .values = { p->interleave }, .n = 1 };
}

/* Schedules and chunks of a pipeline; one stage has neither. */
static void walk_chunks(struct walking *x, struct plan *p)
{
    bool alone = p->degree[PLAN_PP] == 1;
    int64_t given = p->interleave;
    if (x->space->schedule & 1U << PLAN_1F1B) {
        list_chunks(x, p);
        for (int32_t i = 0; i < x->chunks.n; i++) {
            p->interleave = x->chunks.values[i];
            p->ends = search_ends(p, &x->base->model);
            walk_legal(x, p);
        }
    }
    p->interleave = p->layout.n ? given : 1;
    p->ends = search_ends(p, &x->base->model);
    for (int32_t s = PLAN_GPIPE; s < N_PLAN_SCHEDULES; s++) {
        /* One stage has nothing to schedule. */
        if (!(x->space->schedule & 1U << s) || (alone && x->space->schedule & 1U << PLAN_1F1B))
            continue;
        p->schedule = s;
        walk_legal(x, p);
    }
    p->schedule = PLAN_1F1B;
}

/* What one word of a plan may be, whatever the others are. */
struct choice {
    size_t mask, word; /* offset in struct search_space of an unsigned; in struct plan of an int32_t */
    int32_t n;
    enum plan_axis
        axis; /* of which more than one NPU is needed for it to change anything; N_PLAN_AXES: of ep */
};

static const struct choice choices[] = {
    { offsetof(struct search_space, context), offsetof(struct plan, context), N_PLAN_CONTEXTS, PLAN_CP },
    { offsetof(struct search_space, dispatcher), offsetof(struct plan, dispatcher), N_PLAN_DISPATCHERS,
      N_PLAN_AXES },
    { offsetof(struct search_space, ep_overlap), offsetof(struct plan, ep_overlap), N_PLAN_EP_OVERLAPS,
      N_PLAN_AXES },
};

enum { N_CHOICES = sizeof choices / sizeof *choices };

/* Every combination of choices, the first of each first, so that ties go to the simplest. */
static void walk_choices(struct walking *x, struct plan *p, int at)
{
    if (at == N_CHOICES) {
        walk_chunks(x, p);
        return;
    }
    const struct choice *c = &choices[at];
    unsigned mask = *(const unsigned *)((const char *)x->space + c->mask);
    int32_t *word = (int32_t *)((char *)p + c->word);
    const int32_t given = *word;
    if ((c->axis == N_PLAN_AXES ? p->ep : p->degree[c->axis]) == 1)
        mask = 1U << given;
    for (int32_t i = 0; i < c->n; i++) {
        if (!(mask & 1U << i))
            continue;
        *word = i;
        walk_choices(x, p, at + 1);
    }
    *word = given;
}

static void walk_splits(struct walking *x, struct plan *p)
{
    unsigned sps = p->degree[PLAN_TP] > 1 ? x->space->seq_parallel : 1;
    for (unsigned sp = 0; sp < 2; sp++)
        if (sps & 1U << sp) {
            p->seq_parallel = sp;
            walk_choices(x, p, 0);
        }
}

/* All plans of one shape, in a fixed order, so that ranks do not depend on threads. */
static int search_walk(struct search_refusals *refused, const struct search_space *space,
                       const struct training *base, const struct search_shape *shape, search_visit visit,
                       void *with, struct err *e)
{
    struct walking *x = calloc(1, sizeof *x);
    struct plan p = search_plan(base, shape);
    int64_t samples = p.batch / p.degree[PLAN_DP];
    if (!x)
        return err_nomem(e, "a search");
    *x = (struct walking){ .space = space, .base = base, .visit = visit, .with = with, .refused = refused };
    list_values(&x->micros, &space->micro, samples);
    for (int32_t i = 0; i < x->micros.n; i++) {
        p.micro = x->micros.values[i];
        if (samples % p.micro == 0)
            walk_splits(x, &p);
        else
            search_refuse(refused, "micro_batch", 1);
    }
    free(x);
    return 0;
}

/* Ranks of one shape's candidates; no shape has so many. */
#define RANKS_PER_SHAPE ((int64_t)1 << 40)

/* What one thread works with. */
struct worker {
    const struct search_run *run;
    void *mine;
    struct search_places places;
    struct search_clock clocks[SEARCH_PLACES][SEARCH_WAYS];
    struct plan_cost cost;
    int64_t next_rank;
    int64_t n_candidates, n_timed, n_rejected[N_SEARCH_REASONS];
    struct search_refusals refused;
    double least_B;
};

int32_t search_threads(void)
{
    return omp_get_max_threads();
}

/* Memory first, as it rules out most candidates and is cheap. */
static void visit(void *with, const struct plan *plan)
{
    struct worker *w = with;
    const struct search_run *r = w->run;
    struct memory memory;
    w->n_candidates += w->places.n;
    memory_plan(&memory, &r->base->model, plan);
    w->least_B = fmin(w->least_B, memory.total_B);
    if (memory.total_B > r->study->net.npu.mem_B) { /* false where it is not known */
        w->n_rejected[SEARCH_MEMORY] += w->places.n;
        w->next_rank += w->places.n;
        return;
    }
    plan_cost(&w->cost, &r->base->model, plan, &r->study->net.npu);
    for (int32_t i = 0; i < w->places.n; i++) {
        const struct search_candidate c = { plan,           &w->cost,     memory.total_B,
                                            w->next_rank++, w->clocks[i], w->places.order[i] };
        r->take(w->mine, &c);
    }
    w->n_timed += w->places.n;
}

/* One shape is a unit of work for a thread. */
static int visit_shape(struct worker *w, const struct search_shape *shape, int32_t index, struct err *e)
{
    const struct search_run *r = w->run;
    struct plan plan = search_plan(r->base, shape);
    search_find_places(&w->places, r->space, &plan, &r->study->net);
    w->n_rejected[SEARCH_UNMAPPED] += w->places.n_unmapped;
    for (int32_t i = 0; i < w->places.n; i++)
        plan_merge(&w->places.places[i], &plan, &r->base->model, &r->study->net);
    for (int32_t i = 0; i < w->places.n; i++)
        for (int32_t k = 0; k < r->n_ways; k++)
            search_clock_set(&w->clocks[i][k], &r->ways[k], &w->places.places[i]);
    w->next_rank = index * RANKS_PER_SHAPE;
    int rc = search_walk(&w->refused, r->space, r->base, shape, visit, w, e);
    return rc ? rc : work_check(e);
}

static void add_counts(struct search_result *out, const struct worker *w)
{
    out->n_candidates += w->n_candidates;
    out->n_timed += w->n_timed;
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        out->n_rejected[i] += w->n_rejected[i];
    search_refuse_all(&out->refused, &w->refused);
    out->least_B = fmin(out->least_B, w->least_B);
}

/* Threads take shapes as they get free; counts and errors are merged at the end. */
static int visit_all(struct search_result *out, const struct search_run *r,
                     const struct search_shapes *shapes, struct err *e)
{
    int rc = 0;
    struct work work;
    work_begin(&work, "shapes of plans", shapes->n);
#pragma omp parallel num_threads(r->n_threads)
    {
        struct worker *w = calloc(1, sizeof *w);
        struct err own = { 0 };
        int failed = w ? 0 : err_nomem(&own, "a search");
        if (w) {
            w->run = r;
            w->mine = r->mine[omp_get_thread_num()];
            w->least_B = INFINITY;
        }
#pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < shapes->n; i++) {
            if (!failed)
                failed = visit_shape(w, &shapes->shapes[i], i, &own);
            work_step(&work, 1);
        }
#pragma omp critical
        {
            if (w)
                add_counts(out, w);
            if (failed && !rc) {
                rc = failed;
                *e = own;
            }
        }
        free(w);
    }
    work_end(&work);
    return rc;
}

/* Visits every legal plan of @p asked at every place that fits the NPU's memory; ranks do not depend on
 * threads. Counts begin at zero: the search may be run twice. ERR_NOMEM. */
int search_run(struct search_result *out, const struct search_run *asked, struct err *e)
{
    struct search_shapes shapes;
    struct search_space space = *asked->space;
    struct search_run run = *asked, *r = &run;
    r->space = &space;
    if (r->study->net.ideal) /* shares of bytes by dimension are not what ideal routes send */
        space.dispatcher = 1U << PLAN_ALL_TO_ALL;
    int rc = search_find_shapes(&shapes, r->space, r->base, r->study->net.n_npus, e);
    if (rc)
        return rc;
    out->n_candidates = out->n_timed = 0;
    out->least_B = INFINITY;
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        out->n_rejected[i] = 0;
    out->refused = shapes.refused;
    rc = visit_all(out, r, &shapes, e);
    for (int32_t i = 0; i < out->refused.n_keys; i++)
        out->n_rejected[SEARCH_ILLEGAL] += out->refused.n[i];
    search_shapes_free(&shapes);
    return rc;
}

/*
 * Best plan and split together. A few plans that are fast at an even split are split first. The best of them
 * gives a value that others must beat, and prices of the constraints, which bound from below what any split
 * can make of another plan:
 *
 * On the path that decides at some bandwidths b, time is C + sum_d e_d with e_d seconds of dimension d; other
 * bandwidths B make that path, and so the step, take T(B) >= C + sum_d g_d/B_d, g_d = e_d b_d. Weak duality
 * with multipliers mu of the rows A B <= r, scaled by t:
 *     T(B) >= C + sum_d g_d/B_d + t mu.(A B - r) >= C + sqrt(t) R - t mu.r,  R = 2 sum_d sqrt(g_d (mu A)_d),
 * greatest at sqrt(t) = R/(2 mu.r): C + R^2/(4 mu.r). Tight where b is the plan's own best split.
 *
 * Least cost with T <= L: sum_d p_d B_d >= (sum_d sqrt(g_d p_d))^2 / sum_d g_d/B_d by Cauchy and Schwarz, and
 * the last sum is at most L - C; p are prices u alone, or u + mu A, and then mu.r is taken off. Time times
 * cost F + u.B: at least (sqrt(C F) + sum_d sqrt(g_d u_d))^2, likewise.
 *
 * What is not ruled out is split, most promising first, until the next bound is above the last of the best.
 * Performance per cost has many plans that are nearly as good as others and bounds that are not tight: beyond
 * a number of plans the rest is left open, and counted.
 */

enum { SCOUTS = 48, HOPELESS = 4, BLOCK = 64, MOST_BOUNDED = 1 << 17, MOST_GUESSED = 1 << 10 };

/* What is better by less than this is as good: it covers the gap of a split and the rounding of bounds. Where
 * a price or a time limit makes many plans equal, one of them is enough. */
#define AS_GOOD (0.5 * ALLOC_GAP)

struct joint {
    const struct search_space *space;
    const struct design_point *study;
    const struct training *base;
    struct design_question question;
    struct alloc_problem counted;  /* the same with what a product multiplies time with for prices */
    double cap_Bps[TOPO_MAX_DIMS]; /* what the rows allow one dimension at most */
    double ref_Bps[TOPO_MAX_DIMS]; /* the scouts' best split */
    double price[TOPO_MAX_DIMS];   /* (mu A)_d; of least cost u_d + (mu A)_d */
    double rent;                   /* mu.r */
    bool has_prices;
    double least_usd; /* no design costs less */
    bool clash;       /* no bandwidths satisfy the rows */
    char why[400];    /* why a scout has no best split */
    bool floors;      /* parts are whole: a link in every dimension that a plan uses */
    double floor_Bps[TOPO_MAX_DIMS];
    double target; /* what is not below this is as good as the last of the best so far, or worse */
};

/* ---- one plan ---- */

/* As often as the workload counts. */
static int weigh(struct step_fn *fn, const struct design_point *s, struct err *e)
{
    struct step_fn once = *fn;
    const struct step_fn *const all[] = { &once };
    if (s->workloads[0].weight == 1)
        return 0;
    int rc = step_fn_join(fn, all, &s->workloads[0].weight, 1, (struct step_join){ 0 }, e);
    step_fn_free(&once);
    return rc;
}

static int compile(struct step_fn *fn, const struct training *x, const struct design_point *s,
                   const double *bw_Bps, struct err *e)
{
    struct step_tree tree, lowered = { 0 };
    int rc = training_build(&tree, x, &s->net, e);
    if (!rc && s->model != SIM_BANDWIDTH)
        rc = step_lower(&lowered, &tree, &s->net, &s->rules.stage, bw_Bps, e);
    if (!rc)
        rc = step_compile(fn, s->model == SIM_BANDWIDTH ? &tree : &lowered, &s->net, e);
    if (!rc)
        rc = weigh(fn, s, e);
    step_free(&tree);
    step_free(&lowered);
    return rc;
}

int search_compile_plan(struct step_fn *fn, const struct plan *plan, const struct training *base,
                        const struct design_point *s, const double *bw_Bps, struct err *e)
{
    struct training *x = malloc(sizeof *x);
    if (!x)
        return err_nomem(e, "a search");
    *x = *base;
    x->plan = *plan;
    int rc = training_derive(x, &s->net, e);
    if (!rc)
        rc = compile(fn, x, s, bw_Bps, e);
    free(x);
    return rc;
}

/* In whole parts every dimension that the plan uses has a link, without which products are best at bandwidths
 * of 0. */
static int solve_problem(struct alloc_answer *answer, struct alloc_problem *problem, const struct joint *j,
                         struct err *e)
{
    int32_t n = problem->n_rows;
    if (!j->floors)
        return alloc_solve(answer, problem, e);
    struct alloc_row *rows = calloc((size_t)n + TOPO_MAX_DIMS, sizeof *rows);
    if (!rows)
        return err_nomem(e, "constraints");
    if (n)
        memcpy(rows, problem->rows, (size_t)n * sizeof *rows);
    problem->rows = rows;
    problem->n_rows += design_put_floors(rows + n, j->study, problem);
    int rc = alloc_solve(answer, problem, e);
    free(rows);
    return rc;
}

/* Split for one plan; value INFINITY where there is no split. */
static int solve_plan(struct search_found *f, struct alloc_answer *answer, const struct joint *j,
                      struct err *e)
{
    struct step_fn fn = { 0 };
    struct alloc_problem problem = j->question.problem;
    f->value = f->time_s = INFINITY;
    f->lower_bound = -INFINITY;
    int rc = search_compile_plan(&fn, &f->plan, j->base, j->study, j->ref_Bps, e);
    problem.step = &fn;
    if (!rc)
        rc = solve_problem(answer, &problem, j, e);
    if (!rc && alloc_has_split(answer)) {
        f->value = answer->value;
        f->time_s = answer->time_s / j->study->workloads[0].weight;
        f->lower_bound = answer->lower_bound;
        memcpy(f->bw_Bps, answer->bw_Bps, sizeof f->bw_Bps);
    } else if (!rc && answer->status == ALLOC_INFEASIBLE) {
        f->lower_bound = INFINITY;
    }
    step_fn_free(&fn);
    return rc;
}

/* ---- bounds ---- */

/* sum_d sqrt(g_d p_d), p the prices of the reference. */
static double priced_root(const struct joint *j, const struct search_tangent *t)
{
    double root = 0;
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        if (j->price[d] >= 0)
            root += sqrt(t->pull[d] * j->price[d]);
    return root;
}

static double time_bound(const struct joint *j, const struct search_tangent *t)
{
    double root = priced_root(j, t);
    bool priced = j->has_prices && j->question.problem.objective == ALLOC_TIME && j->rent > 0;
    return t->constant + (priced ? root * root / j->rent : 0);
}

/* (sum_d sqrt(g_d u_d))^2: no bandwidths make sum_d g_d/B_d times their price less. */
static double product_root(const struct joint *j, const struct search_tangent *t)
{
    double root = 0;
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        root += sqrt(t->pull[d] * j->counted.usd_per_Bps[d]);
    return root;
}

/*
 * The least of (C + sum_d g_d/B_d)(F + sum_d u_d B_d) with floor_d <= B_d <= cap_d. Its root is the least of
 * (l T + W/l)/2 over l > 0, where each B_d is sqrt(g_d/u_d) l or at a limit; in log l that is convex (a
 * posynomial: R. Duffin, E. Peterson, C. Zener, Geometric Programming, 1967), so l^2 T = W is found by
 * halving. What is left of l shows in the square only.
 */
static double floored_product(const struct joint *j, const struct search_tangent *t)
{
    enum { HALVINGS = 36 };
    const double *u = j->counted.usd_per_Bps;
    double least = -60, most = 60, time_s = 0, spent = 0;
    for (int i = 0; i < HALVINGS; i++) {
        double l = exp((least + most) / 2);
        time_s = t->constant;
        spent = j->counted.usd_fixed;
        for (int32_t d = 0; d < j->study->net.n_dims; d++) {
            if (!(t->pull[d] > 0))
                continue;
            double bw_Bps = u[d] > 0 ? l * sqrt(t->pull[d] / u[d]) : (double)INFINITY;
            bw_Bps = fmax(fmin(bw_Bps, j->cap_Bps[d]), j->floor_Bps[d]);
            time_s += t->pull[d] / bw_Bps;
            spent += u[d] > 0 ? u[d] * bw_Bps : 0;
        }
        *(l * l * time_s < spent ? &least : &most) = (least + most) / 2;
    }
    return time_s * spent * (1 - 1e-9);
}

/* What a link in every dimension that the plan is known to use costs. */
static double floored_usd(const struct joint *j, const struct search_tangent *t)
{
    double usd = j->counted.usd_fixed;
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        usd += t->pull[d] > 0 ? j->counted.usd_per_Bps[d] * j->floor_Bps[d] : 0;
    return usd;
}

/* No split makes the objective less; @p time_s: no split takes less time. */
static double value_bound(const struct joint *j, const struct search_tangent *t, double time_s)
{
    const struct alloc_problem *p = &j->counted;
    double root = product_root(j, t), left_s = p->time_limit_s - t->constant;
    time_s = fmax(time_s, time_bound(j, t));
    if (alloc_is_product(p->objective)) {
        double sum = sqrt(t->constant * p->usd_fixed) + root, usd = fmax(j->least_usd, floored_usd(j, t));
        return fmax(time_s * usd, j->floors ? floored_product(j, t) : sum * sum);
    }
    if (p->objective != ALLOC_COST)
        return time_s;
    if (time_s > p->time_limit_s || !(left_s > 0))
        return INFINITY;
    double usd = fmax(fmax(j->least_usd, floored_usd(j, t)), p->usd_fixed + root * root / left_s);
    double priced = priced_root(j, t);
    return j->has_prices ? fmax(usd, p->usd_fixed + priced * priced / left_s - j->rent) : usd;
}

/* Candidates that a bound does not rule out. Of too many the most promising are kept. */
struct survivors {
    const struct joint *joint;
    struct search_found *list; /* shape [n], owned; value: the bound; time_s: what they are kept by */
    int32_t n, cap, most;
    int64_t n_bounded, n_dropped;
    double least_dropped, least_bounded; /* bounds */
    bool failed;
};

static int by_promise(const void *a, const void *b)
{
    const struct search_found *x = a, *y = b;
    if (x->time_s < y->time_s || x->time_s > y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void keep_most(struct survivors *s)
{
    if (s->n <= s->most)
        return;
    qsort(s->list, (size_t)s->n, sizeof *s->list, by_promise);
    for (int32_t i = s->most; i < s->n; i++)
        s->least_dropped = fmin(s->least_dropped, s->list[i].value);
    s->n_dropped += s->n - s->most;
    s->n = s->most;
}

/* Keeps plans whose bound is below the best value known; the rest are counted as bounded away. */
static void take_survivor(void *mine, const struct search_candidate *c)
{
    struct survivors *s = mine;
    const struct joint *j = s->joint;
    /* The cheap bound first: time with all that the rows allow every dimension at once. */
    bool for_time = j->question.problem.objective == ALLOC_TIME;
    double weight = j->study->workloads[0].weight, most_s = for_time ? j->target / weight : (double)INFINITY;
    double time_s = weight * search_clock_time(&c->clocks[0], c->cost, most_s), bound = time_s;
    if (!for_time || time_s < j->target) {
        struct search_tangent t = search_tangent(&c->clocks[1], c->cost, weight);
        bound = value_bound(j, &t, time_s);
        time_s = for_time ? bound : t.at_s;
    }
    if (s->failed || !(bound < j->target)) {
        s->least_bounded = fmin(s->least_bounded, bound);
        s->n_bounded++;
        return;
    }
    if (s->n == 4 * (int64_t)s->most)
        keep_most(s);
    s->failed = !vec_reserve(s->list, s->cap, s->n + 1);
    if (s->failed)
        return;
    s->list[s->n] = search_found_of(c);
    s->list[s->n].time_s = time_s;
    s->list[s->n++].value = bound;
}

static int by_bound(const void *a, const void *b)
{
    const struct search_found *x = a, *y = b;
    return search_is_better(x, y) ? -1 : search_is_better(y, x);
}

/* All threads' survivors in one list, most promising first. What no thread would keep, all together do not.
 */
static int search_split_gather(struct survivors *all, struct survivors *parts, int32_t n, struct err *e)
{
    int64_t sum = 0;
    all->least_dropped = all->least_bounded = INFINITY;
    all->most = parts[0].most;
    for (int32_t t = 0; t < n; t++) {
        sum += parts[t].n;
        all->n_bounded += parts[t].n_bounded;
        all->n_dropped += parts[t].n_dropped;
        all->least_dropped = fmin(all->least_dropped, parts[t].least_dropped);
        all->least_bounded = fmin(all->least_bounded, parts[t].least_bounded);
        all->failed = all->failed || parts[t].failed;
    }
    all->list = calloc((size_t)sum + 1, sizeof *all->list);
    if (!all->list || all->failed || sum > INT32_MAX)
        return err_nomem(e, "a search");
    for (int32_t t = 0; t < n; t++) {
        if (parts[t].n)
            memcpy(all->list + all->n, parts[t].list, (size_t)parts[t].n * sizeof *all->list);
        all->n += parts[t].n;
    }
    keep_most(all);
    qsort(all->list, (size_t)all->n, sizeof *all->list, by_bound);
    return 0;
}

/* One pass over all plans with two ways of timing: at the most bandwidth that rows allow, and at the
 * reference split. */
static int find_survivors(struct survivors *all, struct search_result *out, const struct joint *j,
                          struct err *e)
{
    int32_t n = search_threads();
    struct survivors *parts = calloc((size_t)n, sizeof *parts);
    void **mine = calloc((size_t)n, sizeof *mine);
    int rc = parts && mine ? 0 : err_nomem(e, "a search");
    bool tight = !alloc_is_product(j->question.problem.objective);
    for (int32_t t = 0; t < n && !rc; t++) {
        parts[t].joint = j;
        parts[t].most = tight ? MOST_BOUNDED : MOST_GUESSED;
        parts[t].least_dropped = parts[t].least_bounded = INFINITY;
        mine[t] = &parts[t];
    }
    const struct search_run run = { .space = j->space,
                                    .study = j->study,
                                    .base = j->base,
                                    .ways = { search_way(j->study, j->cap_Bps),
                                              search_way(j->study, j->ref_Bps) },
                                    .n_ways = 2,
                                    .take = take_survivor,
                                    .mine = mine,
                                    .n_threads = n };
    if (!rc)
        rc = search_run(out, &run, e);
    if (!rc)
        rc = search_split_gather(all, parts, n, e);
    for (int32_t t = 0; parts && t < n; t++)
        free(parts[t].list);
    free(parts);
    free(mine);
    return rc;
}

/* ---- scouts ---- */

/* What the rows cost at the scouts' best split. */
static void take_prices(struct joint *j, const struct alloc_answer *a)
{
    const struct alloc_problem *p = &j->question.problem;
    const struct alloc_bound *b = a->n_bounds ? &a->bounds[a->best_bound] : NULL;
    bool by_cost = p->objective == ALLOC_COST;
    double weight = !b ? 0 : by_cost ? b->cost_weight : b->time_weight;
    memcpy(j->ref_Bps, a->bw_Bps, sizeof j->ref_Bps);
    j->has_prices = weight > 0 && (by_cost || p->objective == ALLOC_TIME);
    j->rent = 0;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        j->price[d] = by_cost ? p->usd_per_Bps[d] : 0;
    for (int32_t i = 0; i < p->n_rows && j->has_prices; i++) {
        double dual = (p->rows[i].sense == LINEXPR_GE ? -b->row_dual[i] : b->row_dual[i]) / weight;
        j->rent += dual * p->rows[i].rhs;
        for (int32_t d = 0; d < j->study->net.n_dims; d++)
            j->price[d] += dual * p->rows[i].coef[d];
    }
    /* A price below zero, of a row that asks for more, is paid at most on the cap. */
    for (int32_t d = 0; d < j->study->net.n_dims; d++) {
        if (!(j->price[d] < 0))
            continue;
        j->rent -= j->price[d] * j->cap_Bps[d];
        j->has_prices = j->has_prices && isfinite(j->cap_Bps[d]);
    }
}

/* An even split of what the rows allow at most. */
static void even_split(struct joint *j)
{
    int32_t n = j->study->net.n_dims;
    for (int32_t d = 0; d < n; d++)
        j->ref_Bps[d] = isfinite(j->cap_Bps[d]) && j->cap_Bps[d] > 0 ? j->cap_Bps[d] / n : 1e11;
}

static double last_value(const struct search_best *best)
{
    return best->n == best->most ? (1 - AS_GOOD) * best->found[best->n - 1].value : INFINITY;
}

/* Split the plans that are fastest at ref_Bps; the best of them sets target, reference and prices. */
static int scout(struct search_best *best, struct search_result *counts, struct joint *j, struct err *e)
{
    int rc = search_fastest(counts, j->space, j->study, j->base, j->ref_Bps, SCOUTS + j->space->top, e);
    double least = INFINITY;
    /* Where several have no split, rows starve a dimension that every plan uses; bounds will tell. */
    for (int32_t i = 0; i < counts->n_found && !rc && (best->n || i < HOPELESS); i++) {
        struct alloc_answer answer = { 0 };
        struct search_found f = counts->found[i];
        rc = solve_plan(&f, &answer, j, e);
        if (!rc && !isfinite(f.value) && answer.status != ALLOC_INFEASIBLE && !j->why[0])
            snprintf(j->why, sizeof j->why, "%s: %.300s", alloc_status_names[answer.status], answer.reason);
        if (!rc && isfinite(f.value)) {
            search_best_add(best, &f);
            if (f.value < least) {
                least = f.value;
                take_prices(j, &answer);
            }
        }
        alloc_answer_free(&answer);
    }
    j->target = last_value(best);
    return rc;
}

/* ---- all of it ---- */

/* Splits of several plans at a time; results are added in order, so threads do not show. */
static int solve_block(struct search_best *best, struct search_result *out, struct search_found *block,
                       int32_t n, const struct joint *j, struct err *e)
{
    int rc = 0;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = 0; i < n; i++) {
        struct err own = { 0 };
        struct alloc_answer answer = { 0 };
        int failed = solve_plan(&block[i], &answer, j, &own);
        alloc_answer_free(&answer);
        if (failed) {
#pragma omp critical
            {
                rc = failed;
                *e = own;
            }
        }
    }
    for (int32_t i = 0; i < n && !rc; i++) {
        bool known = block[i].lower_bound > -INFINITY;
        out->n_open += !known;
        out->n_split += known;
        if (known)
            out->lower_bound = fmin(out->lower_bound, block[i].lower_bound);
        if (isfinite(block[i].value))
            search_best_add(best, &block[i]);
    }
    return rc;
}

/* In blocks of one size, so that threads do not change what is split. */
static int solve_survivors(struct search_best *best, struct search_result *out, const struct survivors *s,
                           const struct joint *j, struct err *e)
{
    int rc = 0;
    int32_t i = 0;
    struct work work;
    work_begin(&work, "plans to split, at most", s->n);
    while (i < s->n && !rc && s->list[i].value < last_value(best)) {
        int32_t n = s->n - i < BLOCK ? s->n - i : BLOCK;
        rc = solve_block(best, out, s->list + i, n, j, e);
        i += n;
        work_step(&work, n);
    }
    work_end(&work);
    out->n_bounded += s->n - i;
    out->least_left = fmin(s->least_bounded, i < s->n ? s->list[i].value : (double)INFINITY);
    if (s->least_dropped < last_value(best))
        out->n_open += s->n_dropped;
    else
        out->n_bounded += s->n_dropped;
    if (out->n_open == 0)
        out->least_left = fmin(out->least_left, s->least_dropped);
    return rc;
}

/* Of any bandwidths that the rows allow. */
static int find_least_usd(struct joint *j, struct err *e)
{
    const struct alloc_problem *p = &j->counted;
    struct lp lp;
    struct lp_result result;
    lp_init(&lp, j->study->net.n_dims, p->rows, p->n_rows);
    memcpy(lp.cost, p->usd_per_Bps, sizeof lp.cost);
    int rc = lp_solve(&result, NULL, &lp, e);
    j->least_usd = p->usd_fixed + (!rc && result.status == LP_OPTIMAL ? result.value : 0);
    j->clash = !rc && result.status == LP_INFEASIBLE;
    return rc;
}

static int joint_begin(struct joint *j, const struct search_space *space, const struct design_point *s,
                       const struct training *base, struct err *e)
{
    struct step_fn shape = { .n_dims = s->net.n_dims };
    *j = (struct joint){ .space = space, .study = s, .base = base, .floors = s->pricing == STUDY_WHOLE };
    for (int32_t d = 0; d < s->net.n_dims && j->floors; d++) {
        double step_Bps = topo_port_step_Bps(&s->net, d, &s->parts);
        j->floor_Bps[d] = isnan(s->net.dims[d].bw_Bps) && step_Bps > 0 ? step_Bps : 0;
    }
    design_ask(&j->question, s);
    j->question.problem.step = &shape; /* alloc_find_caps() asks it for the number of dimensions */
    j->counted = alloc_with_factor(&j->question.problem);
    alloc_find_caps(j->cap_Bps, &j->question.problem);
    j->question.problem.step = NULL;
    even_split(j);
    return find_least_usd(j, e);
}

/* What bounds and splits come to together. Where algorithms depend on bandwidths, all of that is about those
 * at the reference split. */
static void say_proof(struct search_result *out, const struct design_point *s, int32_t top)
{
    if (out->n_found == top)
        out->least_left = fmin(out->least_left, out->found[top - 1].value * (1 - ALLOC_GAP));
    out->proved = out->n_open == 0 && !study_has_choice(s);
    out->lower_bound = out->proved ? fmin(out->lower_bound, out->least_left) : (double)NAN;
}

/* Scouts good plans by a reference split, bounds all others by them, and solves the split of every survivor:
 * the best pair is then proved. */
int search_split(struct search_result *out, const struct search_space *space, const struct design_point *s,
                 const struct training *base, struct err *e)
{
    struct joint *j = malloc(sizeof *j);
    struct search_best best = { 0 };
    struct survivors survivors = { 0 };
    *out = (struct search_result){ 0 };
    int rc = j ? search_best_reserve(&best, space->top, e) : err_nomem(e, "a search");
    if (!rc)
        rc = joint_begin(j, space, s, base, e);
    /* Twice: the second time at a split that suits, instead of an even one. */
    for (int round = 0; round < 2 && !rc && !j->clash; round++) {
        search_free(out);
        rc = scout(&best, out, j, e);
    }
    search_free(out);
    if (!rc && !j->clash)
        rc = find_survivors(&survivors, out, j, e);
    if (!rc) {
        out->n_bounded = survivors.n_bounded;
        out->lower_bound = INFINITY;
        rc = solve_survivors(&best, out, &survivors, j, e);
    }
    out->found = best.found;
    out->n_found = best.n;
    out->clash = j && j->clash;
    if (!rc) {
        say_proof(out, s, space->top);
        memcpy(out->why, j->why, sizeof out->why);
    }
    free(survivors.list);
    free(j);
    return rc;
}

static void take_best(void *mine, const struct search_candidate *c)
{
    struct search_best *best = mine;
    double limit_s = search_best_limit(best), time_s = search_clock_time(&c->clocks[0], c->cost, limit_s);
    if (time_s > limit_s)
        return;
    struct search_found f = search_found_of(c);
    f.value = f.time_s = time_s;
    search_best_add(best, &f);
}

/* The best of all threads. */
static int search_gather(struct search_result *out, const struct search_best *bests, int32_t n, int32_t most,
                         struct err *e)
{
    struct search_best all;
    int rc = search_best_reserve(&all, most, e);
    if (rc)
        return rc;
    for (int32_t t = 0; t < n; t++)
        for (int32_t i = 0; i < bests[t].n; i++)
            search_best_add(&all, &bests[t].found[i]);
    out->found = all.found;
    out->n_found = all.n;
    return 0;
}

/* The best plans at given bandwidths, each thread with a list of its own. */
int search_fastest(struct search_result *out, const struct search_space *space, const struct design_point *s,
                   const struct training *base, const double *bw_Bps, int32_t most, struct err *e)
{
    int32_t n = search_threads();
    struct search_best *bests = calloc((size_t)n, sizeof *bests);
    void **mine = calloc((size_t)n, sizeof *mine);
    int rc = bests && mine ? 0 : err_nomem(e, "a search");
    *out = (struct search_result){ 0 };
    for (int32_t t = 0; t < n && !rc; t++) {
        rc = search_best_reserve(&bests[t], most, e);
        mine[t] = &bests[t];
    }
    const struct search_run run = { .space = space,
                                    .study = s,
                                    .base = base,
                                    .ways = { search_way(s, bw_Bps) },
                                    .n_ways = 1,
                                    .take = take_best,
                                    .mine = mine,
                                    .n_threads = n };
    if (!rc)
        rc = search_run(out, &run, e);
    if (!rc)
        rc = search_gather(out, bests, n, most, e);
    for (int32_t t = 0; bests && t < n; t++)
        search_best_free(&bests[t]);
    free(bests);
    free(mine);
    for (int32_t i = 0; i < out->n_found; i++)
        memcpy(out->found[i].bw_Bps, bw_Bps, sizeof(double) * (size_t)s->net.n_dims);
    return rc;
}

struct collective_way search_way(const struct design_point *s, const double *bw_Bps)
{
    return (struct collective_way){ &s->net, s->model == SIM_BANDWIDTH ? NULL : &s->rules.stage, bw_Bps };
}

int search_given(struct search_result *out, const struct search_space *space, const struct design_point *s,
                 const struct training *base, const double *bw_Bps, struct err *e)
{
    int rc = search_fastest(out, space, s, base, bw_Bps, space->top, e);
    out->proved = !rc && out->n_found > 0; /* all were timed */
    out->lower_bound = NAN;                /* of a time, which may not be what the study asks for */
    return rc;
}

/* ---- the plans of a study ---- */

static int fail_search(const struct design_point *s, yaml_id at, const struct search_result *r, struct err *e)
{
    struct text why = { 0 };
    if (r->clash)
        return yaml_fail_key(&s->doc, at, e, ERR_NO_DESIGN,
                             "finds no plan: the constraints contradict each other, no split satisfies them");
    for (int32_t i = 0; i < r->refused.n_keys; i++)
        text_printf(&why, "%s%lld by %s", why.n ? ", " : "", (long long)r->refused.n[i], r->refused.key[i]);
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        if (r->n_rejected[i] && i != SEARCH_ILLEGAL)
            text_printf(&why, "%s%lld because %s", why.n ? ", " : "", (long long)r->n_rejected[i],
                        search_reason_words[i]);
    if (r->n_rejected[SEARCH_MEMORY])
        text_printf(&why, " (need at least %.4g GB of %.4g GB)", r->least_B / 1e9, s->net.npu.mem_B / 1e9);
    if (r->n_timed)
        text_printf(&why, "%s%lld because %s%.399s", why.n ? ", " : "", (long long)r->n_timed,
                    r->why[0] ? "no split is best: " : "no split satisfies the constraints", r->why);
    int rc = yaml_fail_key(&s->doc, at, e, ERR_NO_DESIGN, "finds no plan; rejected %s",
                           why.n ? text_str(&why) : "nothing: there is none to try");
    text_free(&why);
    return rc;
}

/* Plans are searched at given bandwidths, or together with the split where bandwidths are to choose. */
static int search_workload(struct design_point *s, int32_t i, unsigned needs, struct err *e)
{
    struct study_workload *w = &s->workloads[i];
    struct search_space space;
    double bw_Bps[TOPO_MAX_DIMS] = { 0 };
    bool given = topo_has_bandwidths(&s->net);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        bw_Bps[d] = s->net.dims[d].bw_Bps;
    int rc = schema_read(&space, &search_section, &s->doc, w->training->search, e);
    if (rc)
        return rc;
    for (int q = 0; q < N_TOPO_PRECISIONS; q++)
        if (space.precision & 1U << q && isnan(topo_npu_peak(&s->net.npu, (enum topo_precision)q)))
            return yaml_fail_key(&s->doc, yaml_get(&s->doc, w->training->search, "precision"), e, ERR_RANGE,
                                 "asks for %s, which the NPU does not have", topo_precision_words[q]);
    if (!given && s->n_workloads > 1)
        return yaml_fail_key(
            &s->doc, w->training->search, e, ERR_RANGE,
            "is given together with other workloads; give bw_GBps of every dimension or one workload");
    if (!given && s->objective == ALLOC_UTILIZATION)
        return yaml_fail_key(&s->doc, w->training->search, e, ERR_RANGE,
                             "is given with objective utilization; choose another objective");
    w->search = calloc(1, sizeof *w->search);
    if (!w->search)
        return err_nomem(e, "a search");
    if (given || !(needs & STUDY_FOR_SPLIT))
        rc = search_given(w->search, &space, s, w->training, bw_Bps, e);
    else if (s->pricing == STUDY_WHOLE)
        rc = search_whole(w->search, &space, s, w->training, e);
    else
        rc = search_split(w->search, &space, s, w->training, e);
    if (rc)
        return rc;
    if (w->search->n_found == 0)
        return fail_search(s, w->training->search, w->search, e);
    return study_take_plan(s, i, &w->search->found[0].plan, e);
}

int study_search(struct design_point *s, unsigned needs, struct err *e)
{
    int rc = 0;
    bool asked = needs & STUDY_NEEDS_WORKLOAD && !(needs & STUDY_UNSEARCHED) &&
                 (needs & STUDY_FOR_SPLIT || (needs & STUDY_NEEDS_BANDWIDTH && topo_has_bandwidths(&s->net)));
    for (int32_t i = 0; i < s->n_workloads && asked && !rc; i++)
        if (s->workloads[i].training && s->workloads[i].training->search >= 0)
            rc = search_workload(s, i, needs, e);
    return rc;
}
