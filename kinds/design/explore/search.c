/*
 * Which plan of parallelism trains a model fastest, of all that are legal and fit (book.c): at given
 * bandwidths or together with the split.
 */
#include "kinds/design/explore/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/joint.h"
#include "workloads/collective.h"
#include "workloads/step.h"

/* What is not legal is told key by key. */
static const char *const search_reason_words[N_SEARCH_REASONS] = {
    [SEARCH_UNMAPPED] = "degrees do not lie along the dimensions",
    [SEARCH_MEMORY] = "memory does not suffice",
};

/*
 * Best plan and split together. A few plans that are fast at an even split are split first. The best of them
 * gives a value that others must beat, and prices of the constraints, which bound from below what any split
 * can make of another plan (joint.c). Of least time under a total no plan has to be split for that: one pass
 * over plans meets pairs that are nearly as good as can be (split_hunted()).
 *
 * What is not ruled out is split, most promising first, until the next bound is above the last of the best.
 * Performance per cost has many plans that are nearly as good as others and bounds that are not tight: beyond
 * a number of plans the rest is left open, and counted.
 *
 * In whole parts too, where there are more designs than search_whole() can list: the scouts' best are built
 * (alloc/whole), which gives the value that others have to beat. Fractions bound whole parts, so a plan whose
 * own split is above that is left out as well, and of the others nothing is looked for that is worth more.
 */

enum {
    FIRST_SCOUTS = 16,
    SCOUTS = 48,
    HOPELESS = 4,
    BLOCK = 64,
    HUNTED = 2, /* a block of those that few others are behind */
    BUILT = 8,  /* a block in whole parts */
    MOST_BUILT = 1 << 10,
    MOST_UNBUILT = 1 << 6, /* as long as nothing can be built */
    STALLED = 1 << 6,      /* one that is cut short, which takes seconds, counts as so many */
    MOST_BOUNDED = 1 << 17,
    MOST_GUESSED = 1 << 10
};

/* What is better by less than this is as good: it covers the gap of a split and the rounding of bounds. Where
 * a price or a time limit makes many plans equal, one of them is enough. */
#define AS_GOOD (0.5 * ALLOC_GAP)

/* One workload's plans and the split that they have in common. */
struct splitting {
    const struct search_book *book;
    double weight;           /* of the workload */
    bool hunted;             /* hunt_survivors(): bounds are so sharp that few plans are split */
    struct alloc_kept *kept; /* borrowed; NULL: none */
    struct joint joint;
};

/* ---- one plan ---- */

static int splitting_begin(struct splitting *x, const struct search_book *book, struct err *e)
{
    x->book = book;
    x->hunted = false;
    x->kept = NULL;
    x->weight = book->study->workloads[0].weight;
    return joint_begin(&x->joint, book->study, e);
}

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

int search_build_tree(struct step_tree *tree, const struct plan *plan, const struct training *base,
                      const struct topo_network *net, struct err *e)
{
    struct training *x = malloc(sizeof *x);
    *tree = (struct step_tree){ 0 };
    if (!x)
        return err_nomem(e, "a search");
    *x = *base;
    x->plan = *plan;
    int rc = training_derive(x, net, e);
    if (!rc)
        rc = training_build(tree, x, net, e);
    free(x);
    return rc;
}

int search_compile_plan(struct step_fn *fn, const struct plan *plan, const struct training *base,
                        const struct design_point *s, const double *bw_Bps, struct err *e)
{
    const struct collective_way way = { &s->net, &s->rules.stage, bw_Bps };
    struct step_tree tree, lowered = { 0 };
    int rc = search_build_tree(&tree, plan, base, &s->net, e);
    if (!rc && s->model != SIM_BANDWIDTH)
        rc = step_lower(&lowered, &tree, &way, e);
    if (!rc)
        rc = step_compile(fn, s->model == SIM_BANDWIDTH ? &tree : &lowered, &s->net, e);
    if (!rc)
        rc = weigh(fn, s, e);
    step_free(&tree);
    step_free(&lowered);
    return rc;
}

/* Split for one plan, or built; value INFINITY where there is none. */
static int solve_plan(struct search_found *f, struct alloc_answer *answer, const struct splitting *x,
                      struct err *e)
{
    struct step_fn fn = { 0 };
    f->value = f->time_s = INFINITY;
    int rc = search_compile_plan(&fn, &f->plan, x->book->base, x->book->study, x->joint.ref_Bps, e);
    rc = rc ? rc : joint_solve(f, answer, &fn, &x->joint, e);
    f->time_s /= x->weight;
    step_fn_free(&fn);
    return rc;
}

/* A plan where it lies, to be touched. */
struct laid {
    const struct splitting *of;
    struct training x;
    struct search_forms *forms; /* borrowed */
};

static struct alloc_cut touch_plan(const void *with, const double *bw_Bps)
{
    const struct laid *l = with;
    const struct collective_way way = search_way(l->of->book->study, bw_Bps);
    return search_tangent_of(&way, l->forms, &l->x.cost, l->of->weight);
}

/* Does a bound rule out what the cuts at two splits did not? */
static bool cuts_rule_out(const struct search_found *f, const struct splitting *x,
                          const struct incumbent *last)
{
    const struct joint *j = &x->joint;
    double bw_Bps[TOPO_MAX_DIMS];
    struct laid *l = malloc(sizeof *l);
    struct search_forms *forms = malloc(sizeof *forms);
    struct err ignored;
    bool out = false;
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        bw_Bps[d] = joint_usable_Bps(j, d, x->hunted ? f->bw_Bps[d] : j->ref_Bps[d]);
    if (l && forms) {
        l->of = x;
        l->x = *x->book->base;
        l->x.plan = f->plan;
        l->forms = forms;
    }
    if (l && forms && !training_derive(&l->x, &j->study->net, &ignored)) {
        const struct collective_way way = search_way(j->study, bw_Bps);
        search_forms_set(forms, &way, &l->x.place);
        out = incumbent_rules_out(last, joint_sharpen(bw_Bps, j, last, touch_plan(l, bw_Bps), touch_plan, l));
    }
    free(forms);
    free(l);
    return out;
}

/* Drops plans that cannot be among the best few; the others keep their order. Returns how many are left. */
static int32_t sift_block(struct search_found *block, int32_t n, const struct splitting *x,
                          const struct incumbent *last)
{
    int32_t left = 0;
    if (!joint_is_priced(&x->joint) || design_point_has_choice(x->book->study)) /* T of other algorithms */
        return n;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = 0; i < n; i++)
        block[i].value = cuts_rule_out(&block[i], x, last) ? INFINITY : block[i].value;
    for (int32_t i = 0; i < n; i++)
        if (isfinite(block[i].value))
            block[left++] = block[i];
    return left;
}

/* Candidates that a bound does not rule out. Of too many the most promising are kept. */
struct survivors {
    const struct splitting *of;
    struct search_found *list; /* shape [n], owned; value: the bound; time_s: what they are kept by */
    int32_t n, cap, most;
    double dropped; /* least bound of others */
    int64_t n_dropped;
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
        s->dropped = fmin(s->dropped, s->list[i].value);
    s->n_dropped += s->n - s->most;
    s->n = s->most;
}

static bool skip_survivors(void *with, double least_s)
{
    const struct splitting *x = ((const struct survivors *)with)->of;
    return incumbent_rules_out(&x->joint.last, joint_timed(&x->joint, x->weight * least_s));
}

static void add_survivor(struct survivors *s, const struct search_found *f)
{
    if (s->n == 4 * (int64_t)s->most)
        keep_most(s);
    s->failed = s->failed || !vec_reserve(s->list, s->cap, s->n + 1);
    if (!s->failed)
        s->list[s->n++] = *f;
}

/* Keeps plans whose bound is below the best value known. */
static void take_survivor(void *with, const struct search_candidate *c)
{
    struct survivors *s = with;
    const struct joint *j = &s->of->joint;
    /* The cheap bound first: time with all that the rows allow every dimension at once. */
    bool for_time = alloc_is_time(j->question.problem.objective);
    double weight = s->of->weight, ref_s, most_bw_s,
           most_s = for_time ? incumbent_limit(&j->last) / weight : (double)INFINITY;
    double time_s = weight * search_clock_time(&c->clocks[0], c->cost, most_s);
    double timed = joint_timed(j, time_s);
    if (incumbent_rules_out(&j->last, timed))
        return;
    struct alloc_cut t = search_tangent(&ref_s, &c->clocks[1], c->cost, weight);
    double bound = fmax(timed, joint_bound(j, &t, time_s));
    if (!for_time &&
        !incumbent_rules_out(&j->last, bound)) { /* with more bandwidth another path may decide */
        struct alloc_cut most = search_tangent(&most_bw_s, &c->clocks[0], c->cost, weight);
        bound = fmax(bound, joint_bound(j, &most, time_s));
    }
    if (incumbent_rules_out(&j->last, bound))
        return;
    struct search_found f = search_found_of(c);
    f.time_s = for_time ? bound : ref_s;
    f.value = bound;
#pragma omp critical(search_survivors)
    add_survivor(s, &f);
}

/* One pass over all plans with two ways of timing: at the most bandwidth that rows allow, and at the
 * reference split. @p take adds to @p s, at most @p most of them. */
static int pass_plans(struct survivors *s, const struct splitting *x, int32_t most,
                      bool (*skip)(void *with, double least_s),
                      void (*take)(void *with, const struct search_candidate *c), void *with, struct err *e)
{
    const struct joint *j = &x->joint;
    bool for_time = alloc_is_time(j->question.problem.objective);
    const struct search_pass pass = { .ways = { search_way(j->study, j->ranges.cap_Bps),
                                                search_way(j->study, j->ref_Bps) },
                                      .n_ways = 2,
                                      .price = for_time && joint_is_priced(j) ? j->price : NULL,
                                      .rent = j->rent,
                                      .skip = skip,
                                      .take = take,
                                      .with = with };
    s->of = x;
    s->most = most;
    s->dropped = INFINITY;
    int rc = search_book_pass(x->book, &pass, e);
    return !rc && s->failed ? err_nomem(e, "a search") : rc;
}

static void sort_survivors(struct survivors *s)
{
    if (s->n)
        qsort(s->list, (size_t)s->n, sizeof *s->list, search_by_value);
}

/* The most promising come first. */
static int find_survivors(struct survivors *s, const struct splitting *x, struct err *e)
{
    bool product = alloc_is_product(x->joint.question.problem.objective);
    int rc = pass_plans(s, x, product ? MOST_GUESSED : MOST_BOUNDED, skip_survivors, take_survivor, s, e);
    if (rc)
        return rc;
    keep_most(s);
    sort_survivors(s);
    return 0;
}

/* ---- scouts ---- */

/* Splits of several plans at a time; results are added in order, so threads do not show. */
static int solve_block(struct search_best *best, struct search_found *block, int32_t n,
                       const struct splitting *x, struct err *e)
{
    int rc = 0;
#pragma omp parallel for schedule(dynamic, 1) if (n > 1)
    for (int32_t i = 0; i < n; i++) {
        struct err own = { 0 };
        struct alloc_answer answer = { 0 };
        int failed = solve_plan(&block[i], &answer, x, &own);
        alloc_answer_free(&answer);
        if (failed) {
#pragma omp critical
            {
                rc = failed;
                *e = own;
            }
        }
    }
    for (int32_t i = 0; i < n && !rc; i++)
        if (isfinite(block[i].value))
            search_best_add(best, &block[i]);
    return rc;
}

/* Split the plans that are fastest at ref_Bps; the best of them sets reference and prices, and the last of as
 * many as are looked for a value that others have to beat. */
static int scout(struct search_best *best, struct splitting *x, int32_t most, struct err *e)
{
    struct joint *j = &x->joint;
    struct search_best fast;
    struct alloc_answer answer = { 0 };
    int rc = search_fastest(&fast, x->book, j->ref_Bps, most, e);
    fast.n = sift_block(fast.found, fast.n, x, &best->last);
    int32_t n = fast.n < HOPELESS ? fast.n : HOPELESS, least = 0;
    rc = rc ? rc : solve_block(best, fast.found, n, x, e);
    /* Where several have no split, rows starve a dimension that every plan uses; bounds will tell. */
    if (!rc && best->n) {
        rc = solve_block(best, fast.found + n, fast.n - n, x, e);
        n = fast.n;
    }
    for (int32_t i = 1; i < n; i++)
        least = fast.found[i].value < fast.found[least].value ? i : least;
    if (!rc && n) /* once more, for its prices, or for why it has none */
        rc = solve_plan(&fast.found[least], &answer, x, e);
    if (!rc && n && isfinite(fast.found[least].value))
        joint_take_prices(j, &answer);
    else if (!rc && n)
        joint_note_why(j, &answer);
    j->last = best->last;
    alloc_answer_free(&answer);
    search_best_free(&fast);
    return rc;
}

/* ---- pairs ---- */

/* A pass over pairs. A plan is touched at the reference split, and again where that cut bounds it: both say
 * what it takes at least, the second what a pair is worth that there is, which rules out others as they come.
 */
struct pair_hunt {
    struct survivors left;
    struct search_best met; /* the best that were met, at bandwidths that rows allow: what is worth more than
                               the last of them is of no use */
};

static bool skip_pairs(void *with, double least_s)
{
    const struct pair_hunt *p = with;
    const struct splitting *x = p->left.of;
    return x->weight * least_s > search_best_limit(&p->met);
}

/* Where the cut of a plan says that its best split is, or near enough for rows to hold. @return its bound. */
static double touch_again(struct search_found *f, const struct splitting *x, const struct alloc_cut *first,
                          const struct search_candidate *c)
{
    const struct joint *j = &x->joint;
    const struct collective_way way = search_way(j->study, f->bw_Bps);
    struct alloc_cut cut = *first;
    double share;
    joint_foot(f->bw_Bps, j, first);
    joint_shrink(f->bw_Bps, j);
    const struct alloc_cut again = search_tangent_of(&way, c->forms, c->cost, x->weight);
    f->time_s = alloc_cut_at(&again, f->bw_Bps, j->study->net.n_dims);
    f->value = joint_allows(j, f->bw_Bps) ? f->time_s : (double)INFINITY;
    return fmax(joint_bound(j, &again, 0), joint_mix(&cut, &share, &again, j));
}

/* A pair whose cut @p t does not rule it out. */
static void meet_pair(struct pair_hunt *p, const struct search_candidate *c, const struct alloc_cut *t,
                      double bound)
{
    const struct splitting *x = p->left.of;
    struct search_found f = search_found_of(c);
    if (joint_is_priced(&x->joint)) {
        bound = fmax(bound, touch_again(&f, x, t, c));
        f.value *= 1 + AS_GOOD;
        if (f.value <= search_best_limit(&p->met))
            search_best_add(&p->met, &f);
    }
    f.value = f.time_s = bound;
    if (bound > search_best_limit(&p->met))
        return;
#pragma omp critical(search_survivors)
    add_survivor(&p->left, &f);
}

static void take_pair(void *with, const struct search_candidate *c)
{
    struct pair_hunt *p = with;
    const struct splitting *x = p->left.of;
    const struct joint *j = &x->joint;
    double ref_s, most = search_best_limit(&p->met),
                  bound = x->weight * search_clock_time(&c->clocks[0], c->cost, most / x->weight);
    if (bound > most)
        return;
    const struct alloc_cut t = search_tangent(&ref_s, &c->clocks[1], c->cost, x->weight);
    bound = fmax(bound, joint_bound(j, &t, bound));
    if (bound <= most)
        meet_pair(p, c, &t, bound);
}

static void order_pairs(struct pair_hunt *p)
{
    sort_survivors(&p->left);
    while (p->left.n && p->left.list[p->left.n - 1].value > search_best_limit(&p->met))
        p->left.n--;
    keep_most(&p->left); /* whatever was dropped on the way, so that threads do not show */
}

/* Survivors in the order of their bounds, those that came before the best was known left out. */
static int find_pairs(struct pair_hunt *p, const struct splitting *x, struct err *e)
{
    int rc = pass_plans(&p->left, x, MOST_BOUNDED, skip_pairs, take_pair, p, e);
    if (!rc)
        order_pairs(p);
    return rc;
}

/* Of plans that are known, in all orders, the one whose cut at the reference split promises most. */
struct promise {
    const struct splitting *of;
    struct search_found best; /* value INFINITY: none */
    struct alloc_cut cut;
};

static void take_promise(void *with, const struct search_candidate *c)
{
    struct promise *p = with;
    const struct splitting *x = p->of;
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    struct alloc_cut t = search_tangent_of(&way, c->forms, c->cost, x->weight);
    double value = joint_bound(&x->joint, &t, 0);
    if (!(value < p->best.value))
        return;
    p->best = search_found_of(c);
    p->best.value = value;
    p->cut = t;
}

/* A good plan gives the split at which others are touched, and where not the total alone has a price, the
 * prices. */
static int price_pairs(struct splitting *x, const struct search_known *known, int32_t n_known, struct err *e)
{
    struct promise p = { .of = x, .best = { .value = INFINITY } };
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    struct search_best fast = { 0 };
    struct alloc_answer answer = { 0 };
    bool priced = joint_price_total(&x->joint);
    int rc = 0;
    for (int32_t i = 0; i < n_known && !rc; i++)
        if (known[i].question == search_book_question(x->book))
            rc = search_book_lay(x->book, &known[i].found, &way, take_promise, &p, e);
    if (!rc && isinf(p.best.value)) {
        rc = search_fastest(&fast, x->book, x->joint.ref_Bps, 1, e);
        if (!rc && fast.n)
            rc = search_book_lay(x->book, &fast.found[0], &way, take_promise, &p, e);
    }
    if (!rc && priced && isfinite(p.best.value))
        joint_foot(x->joint.ref_Bps, &x->joint, &p.cut);
    if (!rc && !priced && isfinite(p.best.value)) {
        rc = solve_plan(&p.best, &answer, x, e);
        if (!rc && isfinite(p.best.value))
            joint_take_prices(&x->joint, &answer);
        if (!joint_is_priced(&x->joint)) /* no row costs that plan time, or it has no split */
            joint_price_total(&x->joint);
    }
    alloc_answer_free(&answer);
    search_best_free(&fast);
    return rc;
}

/* ---- networks of the same sizes ---- */

bool search_has_sizes(const struct design_point *s)
{
    bool plain = s->model <= SIM_ALPHA_BETA && s->workloads[0].training->model.moe.experts == 0 &&
                 !s->net.wires && !s->net.whole_parts;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        const struct topo_dim *dim = &s->net.dims[d];
        plain = plain && !topo_is_fabric(dim) && dim->algorithm == TOPO_ALGORITHM_SHAPE && !dim->in_switch &&
                !dim->n_regimes && !dim->n_curves;
    }
    return plain;
}

void search_take_switches(struct design_point *s)
{
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        s->net.dims[d].shape = TOPO_SWITCH;
        s->net.dims[d].algorithm = TOPO_ALGORITHM_DIRECT;
        s->net.dims[d].lat_s = 0;
    }
    s->rules.stage.endpoint_s = 0;
    s->rules.stage.mem_Bps = INFINITY;
}

/* All that bounds on switches depend on, beside the book; structs as they lie in memory, as for a shelf. */
static uint64_t hash_switches(const struct splitting *x)
{
    const struct design_point *s = x->joint.study;
    const struct alloc_problem *p = &x->joint.question.problem;
    const double numbers[] = { x->weight, (double)s->model, (double)p->objective };
    uint64_t hash = text_hash(TEXT_HASH_SEED, numbers, sizeof numbers);
    hash = text_hash(hash, &s->rules, sizeof s->rules);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        struct topo_dim dim = s->net.dims[d];
        memset(dim.tier, 0, sizeof dim.tier);
        memset(dim.name, 0, sizeof dim.name);
        hash = text_hash(hash, &dim, sizeof dim);
    }
    for (int32_t i = 0; i < p->n_rows; i++) {
        const double sides[] = { p->rows[i].rhs, (double)p->rows[i].sense };
        hash = text_hash(hash, p->rows[i].coef, sizeof p->rows[i].coef);
        hash = text_hash(hash, sides, sizeof sides);
    }
    return hash;
}

/* Pairs are written down whose best split on switches may be within a limit. */
struct listing {
    const struct splitting *of;
    struct shortlist *list;
    struct incumbent most;
};

static bool skip_unlisted(void *with, double least_s)
{
    const struct listing *l = with;
    return l->of->weight * least_s > l->most.value;
}

struct listed {
    const struct splitting *of;
    const struct search_candidate *c;
};

static struct alloc_cut touch_listed(const void *with, const double *bw_Bps)
{
    const struct listed *l = with;
    const struct collective_way way = search_way(l->of->book->study, bw_Bps);
    return search_tangent_of(&way, l->c->forms, l->c->cost, l->of->weight);
}

/* What rounding of a bound on switches may come to. */
#define LISTED_REL 1e-9

static void take_unlisted(void *with, const struct search_candidate *c)
{
    struct listing *l = with;
    const struct splitting *x = l->of;
    double ref_s, bw_Bps[TOPO_MAX_DIMS],
        most = l->most.value, bound = x->weight * search_clock_time(&c->clocks[0], c->cost, most / x->weight);
    if (bound > most)
        return;
    const struct alloc_cut t = search_tangent(&ref_s, &c->clocks[1], c->cost, x->weight);
    bound = joint_bound(&x->joint, &t, bound);
    if (bound > most)
        return;
    const struct listed at = { x, c };
    bound = fmax(bound, joint_sharpen(bw_Bps, &x->joint, &l->most, t, touch_listed, &at));
    if (bound > most)
        return;
    struct search_pair pair = search_pair_of(c);
    pair.bound = bound * (1 - LISTED_REL);
    for (int32_t d = 0; d < x->joint.study->net.n_dims; d++)
        pair.bw[d] = shortlist_pack_Bps(bw_Bps[d]);
#pragma omp critical(search_survivors)
    shortlist_add(l->list, &pair);
}

/* The same question on switches. */
struct sizes {
    struct design_point study;
    struct search_book book;
    struct splitting on;
    uint64_t key;
    double asked; /* what a list has to go up to that is to be written; 0: none */
};

/* NULL in *out where that is of no use. */
static int begin_sizes(struct sizes **out, struct splitting *x, struct err *e)
{
    struct sizes *z = NULL;
    bool is_of_use =
        search_book_lists(x->book) && search_has_sizes(x->book->study) && joint_price_total(&x->joint);
    if (is_of_use && !(z = malloc(sizeof *z)))
        return err_nomem(e, "a search");
    *out = z;
    if (!z)
        return 0;
    z->study = *x->book->study;
    search_take_switches(&z->study);
    z->book = *x->book;
    z->book.study = &z->study;
    z->asked = 0;
    int rc = splitting_begin(&z->on, &z->book, e);
    z->key = hash_switches(&z->on);
    return rc;
}

/* A list of what may take as long as is asked for, all of it on switches; NULL in *out: there is no room. */
static int write_list(struct shortlist **out, struct sizes *z, struct err *e)
{
    struct shortlist *list = calloc(1, sizeof *list);
    struct search_known known[SEARCH_RECENT];
    struct survivors no_others = { 0 };
    struct listing l = { .of = &z->on, .list = list, .most = incumbent_none(0) };
    *out = NULL;
    if (!list)
        return err_nomem(e, "a search");
    *list = (struct shortlist){ .key = z->key, .most = z->asked };
    l.most.value = z->asked;
    int rc = price_pairs(&z->on, known, search_book_recent(known, &z->book), e);
    rc = rc ? rc : pass_plans(&no_others, &z->on, 1, skip_unlisted, take_unlisted, &l, e);
    shortlist_sort(list);
    if (!rc && !list->failed && shortlists_keep(search_book_lists(&z->book), list))
        *out = list;
    else
        shortlist_free(list);
    return rc;
}

static double limit_pairs(const void *with)
{
    return search_best_limit(&((const struct pair_hunt *)with)->met);
}

/* Touches a pair where it was touched last on switches. */
static void take_listed(void *with, const struct search_candidate *c, const struct search_pair *pair)
{
    struct pair_hunt *p = with;
    const struct splitting *x = p->left.of;
    double bw_Bps[TOPO_MAX_DIMS];
    for (int32_t d = 0; d < x->joint.study->net.n_dims; d++)
        bw_Bps[d] = joint_usable_Bps(&x->joint, d, shortlist_unpack_Bps(pair->bw[d]));
    const struct collective_way way = search_way(x->book->study, bw_Bps);
    const struct alloc_cut t = search_tangent_of(&way, c->forms, c->cost, x->weight);
    double bound = joint_bound(&x->joint, &t, pair->bound);
    if (bound <= search_best_limit(&p->met))
        meet_pair(p, c, &t, bound);
}

/* Of a list on which all are that may be worth it; false in *all where it does not go so far. */
static int take_list(struct pair_hunt *p, bool *all, const struct splitting *x, const struct shortlist *list,
                     struct err *e)
{
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    p->left.of = x;
    p->left.most = MOST_BOUNDED;
    p->left.dropped = INFINITY;
    int rc = search_book_take(x->book, list, &way, limit_pairs, take_listed, p, e);
    rc = !rc && p->left.failed ? err_nomem(e, "a search") : rc;
    *all = !rc && limit_pairs(p) <= list->most;
    if (*all)
        order_pairs(p);
    else
        p->left.n = 0;
    return rc;
}

/* A list that is written goes so far beyond what is asked for, so that other networks find theirs on it. */
#define LISTED_FURTHER 1.003

/* Of the second network of these sizes, and those after it: the first says what a list is asked for. */
static int hunt_listed(struct pair_hunt *p, bool *all, const struct splitting *x, struct sizes *z,
                       struct err *e)
{
    struct shortlists *lists = search_book_lists(&z->book);
    struct shortlist *list = shortlists_find(lists, z->key);
    int rc = 0;
    for (int i = 0; i < 2 && list && !*all && !rc; i++) {
        z->asked = i ? limit_pairs(p) * LISTED_FURTHER : list->asked * LISTED_FURTHER;
        if (i || list->most < 0) {
            shortlists_leave(lists, list);
            list = NULL;
            rc = shortlists_are_full(lists) ? 0 : write_list(&list, z, e);
        }
        if (!rc && list)
            rc = take_list(p, all, x, list, e);
    }
    shortlists_leave(lists, list);
    return rc;
}

/* ---- all of it ---- */

/* In whole parts: the scouts' plans, as many as are looked for, into @p best, which is reserved. */
static int build_scouted(struct search_best *best, const struct search_best *scouted, struct splitting *x,
                         struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < scouted->n && !rc; i += BUILT) {
        struct search_found block[BUILT];
        int32_t n = scouted->n - i < BUILT ? scouted->n - i : BUILT;
        memcpy(block, scouted->found + i, (size_t)n * sizeof *block);
        x->joint.most_value = incumbent_limit(&best->last);
        rc = solve_block(best, block, n, x, e);
    }
    x->joint.last = best->last;
    return rc;
}

/* What rounding of a bound and the gap of a split may come to. */
#define ABOVE_REL 1e-7

/* A bound above what it bounds would hide plans: it is looked at wherever it can be. Where algorithms depend
 * on bandwidths a bound is about others. */
static int check_bounds(const double *bounds, const struct search_found *block, int32_t n,
                        const struct joint *j, struct err *e)
{
    for (int32_t i = 0; i < n && !design_point_has_choice(j->study); i++)
        if (bounds[i] > block[i].value * (1 + ABOVE_REL))
            return err_set(e, ERR_LIB, "a plan is better than the bound of its splits; please report it");
    return 0;
}

/* In blocks of one size, so that threads do not change what is split. A plan without an answer to its split
 * may have any. */
static int solve_survivors(struct search_best *best, struct search_result *out, struct survivors *s,
                           struct splitting *x, struct err *e)
{
    struct joint *j = &x->joint;
    /* A row does not count what is split: one after the other, each may rule out the next. */
    const int32_t few = best->nearest ? 1 : HUNTED, most = j->floors ? BUILT : x->hunted ? few : BLOCK;
    double bounds[BLOCK];
    int rc = 0;
    int32_t i = 0, spent = 0;
    struct work work;
    j->kept = most == 1 ? x->kept : NULL;
    work_begin(&work, "plans to split, at most", s->n);
    while (i < s->n && !rc && !incumbent_rules_out(&best->last, s->list[i].value)) {
        int32_t n = s->n - i < most ? s->n - i : most;
        if (j->floors && spent >= (best->n ? MOST_BUILT : MOST_UNBUILT)) {
            incumbent_leave_open(&best->last, s->list[i].value, s->n - i);
            break;
        }
        j->most_value = j->floors ? incumbent_limit(&best->last) : 0;
        int32_t n_left = sift_block(s->list + i, n, x, &best->last);
        for (int32_t k = 0; k < n_left; k++)
            bounds[k] = s->list[i + k].value;
        rc = solve_block(best, s->list + i, n_left, x, e);
        rc = rc ? rc : check_bounds(bounds, s->list + i, n_left, j, e);
        for (int32_t k = i; k < i + n_left && !rc; k++) {
            bool known = s->list[k].lower_bound > -INFINITY;
            double least = fmin(s->list[k].value, j->most_value) * (1 - ALLOC_GAP);
            spent += s->list[k].lower_bound < least ? STALLED : 1;
            out->n_split += known;
            out->lower_bound = fmin(out->lower_bound, s->list[k].lower_bound);
            if (!known)
                incumbent_leave_open(&best->last, -INFINITY, 1);
        }
        i += n;
        work_step(&work, n);
    }
    work_end(&work);
    j->kept = NULL;
    if (s->n_dropped && !incumbent_rules_out(&best->last, s->dropped))
        incumbent_leave_open(&best->last, s->dropped, s->n_dropped);
    best->last.n_ruled_out = x->book->counted ? out->n_timed - out->n_split - best->last.n_open : 0;
    out->proof = best->last;
    if (best->n == best->most) /* of those that tie with the last some may not be listed */
        out->proof.value = fmin(out->proof.value, best->found[best->n - 1].value);
    return rc;
}

/* Bandwidths to choose: no plan that was not split has less, nor one outside the list. */
static double least_left(const struct search_result *r)
{
    return r->proof.value * (1 - ALLOC_GAP);
}

/* Bandwidths of splits that are the same but for the solver's play. */
#define SAME_SPLIT_REL 1e-6

static bool is_same_split(const struct search_found *x, const struct search_found *best, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        if (!(fabs(x->bw_Bps[d] - best->bw_Bps[d]) <= SAME_SPLIT_REL * best->bw_Bps[d]))
            return false;
    return true;
}

/* From the lower bounds of those found, and of those left. */
static void say_unique(struct search_result *out, int32_t n_dims)
{
    const struct search_found *best = out->found;
    out->unique = out->proved && out->n_found > 0 && least_left(out) > best->value;
    for (int32_t i = 1; i < out->n_found; i++)
        out->unique = out->unique && (is_same_split(&out->found[i], best, n_dims) ||
                                      out->found[i].lower_bound > best->value);
}

/* What bounds and splits come to together: of whole parts one plan may have a gap of its own. Where
 * algorithms depend on bandwidths, all of that is about those at the reference split. */
void search_say_proof(struct search_result *out, const struct design_point *s)
{
    double left = out->whole ? incumbent_limit(&out->proof) : least_left(out),
           bound = fmin(out->lower_bound, fmin(left, out->proof.open));
    bool known = bound > 0 && out->n_found > 0 && !design_point_has_choice(s);
    out->proved =
        known && out->proof.n_open == 0 && (!out->whole || bound >= out->found[0].value * (1 - ALLOC_GAP));
    out->lower_bound = known ? bound : (double)NAN;
    say_unique(out, s->net.n_dims);
}

/* Plans of the last splits on this network: what they are worth has to be beaten. */
static void take_known(void *with, const struct search_candidate *c)
{
    struct pair_hunt *p = with;
    const struct splitting *x = p->left.of;
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    const struct alloc_cut t = search_tangent_of(&way, c->forms, c->cost, x->weight);
    if (joint_bound(&x->joint, &t, 0) > search_best_limit(&p->met))
        return;
    struct search_found f = search_found_of(c);
    touch_again(&f, x, &t, c);
    f.value *= 1 + AS_GOOD;
    search_best_add(&p->met, &f);
}

/* Is a price of the total, beside those of other rows, what limits a split? Then one pass tells pairs that
 * may be among the best, and no plan is split for a value that others have to beat. */
static bool is_hunted(const struct splitting *x)
{
    return alloc_is_time(x->joint.question.problem.objective) && x->joint.study->total_Bps > 0 &&
           !x->joint.floors && !design_point_has_choice(x->joint.study) &&
           !topo_has_fabric(
               &x->joint.study->net); /* whose collectives have no form: to touch a plan is dear */
}

/* A pass with values that known plans, and those that it meets, have to beat. */
static int hunt_all(struct pair_hunt *p, struct splitting *x, struct err *e)
{
    struct search_known known[SEARCH_RECENT];
    int32_t n = search_book_recent(known, x->book);
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    int rc = price_pairs(x, known, n, e);
    for (int32_t i = 0; i < n && !rc; i++)
        rc = search_book_lay(x->book, &known[i].found, &way, take_known, p, e);
    return rc ? rc : find_pairs(p, x, e);
}

static int hunt_survivors(struct survivors *left, struct search_best *best, struct splitting *x,
                          struct sizes *z, struct err *e)
{
    struct pair_hunt p = { .left = { .of = x } };
    bool all = false;
    x->hunted = true;
    int rc = search_best_reserve(&p.met, best->most, 0, e);
    p.met.nearest = best->nearest;
    if (!rc && z)
        rc = hunt_listed(&p, &all, x, z, e);
    if (!rc && !all)
        rc = hunt_all(&p, x, e);
    best->last.value = search_best_limit(&p.met) * (1 + 2 * ALLOC_GAP);
    *left = p.left;
    search_best_free(&p.met);
    return rc;
}

/* Scouts good plans by a reference split, twice: the second time at a split that suits, instead of an even
 * one. In whole parts the best of them are built. @p scouted: where these were split only. */
static int scout_survivors(struct survivors *left, struct search_best *best, struct search_best *scouted,
                           struct splitting *x, struct err *e)
{
    int32_t top = x->book->space->top;
    int rc = scout(best, x, FIRST_SCOUTS, e);
    rc = rc ? rc : scout(best, x, SCOUTS + top, e);
    if (!rc && x->joint.floors) {
        *scouted = *best;
        rc = search_best_reserve(best, top, -AS_GOOD, e);
        rc = rc ? rc : build_scouted(best, scouted, x, e);
    }
    return rc ? rc : find_survivors(left, x, e);
}

/* Survivors of a hunt, in the order of their bounds, and the split of each that may be among the best: false
 * in *done where scouts say why none has a split, or some are left open: which, depends on plans that happen
 * to be known. */
static int split_hunted(bool *done, struct search_result *out, struct search_best *best, struct splitting *x,
                        struct err *e)
{
    struct survivors left = { 0 };
    struct sizes *z = NULL;
    best->ties = true; /* which is found must not depend on the order of bounds */
    int rc = begin_sizes(&z, x, e);
    rc = rc ? rc : hunt_survivors(&left, best, x, z, e);
    rc = rc ? rc : solve_survivors(best, out, &left, x, e);
    *done = !rc && best->n && !left.n_dropped && !best->last.n_open;
    if (*done)
        search_book_note(x->book, best);
    if (*done && z)
        shortlists_ask(search_book_lists(x->book), z->key, best->found[best->n - 1].value);
    free(left.list);
    free(z);
    return rc;
}

/* The same after scouts. */
static int split_scouted(struct search_result *out, struct search_best *best, struct search_best *scouted,
                         struct splitting *x, struct err *e)
{
    struct survivors left = { 0 };
    int rc = scout_survivors(&left, best, scouted, x, e);
    rc = rc ? rc : solve_survivors(best, out, &left, x, e);
    free(left.list);
    return rc;
}

static int begin_split(struct search_result *out, struct search_best *best, struct splitting *x,
                       const struct search_book *book, struct err *e)
{
    search_best_free(best);
    int rc = search_best_reserve(best, book->space->top, -AS_GOOD, e);
    best->nearest = book->of && !book->counted; /* a row has no list */
    *out = book->counts;
    out->lower_bound = INFINITY;
    return rc ? rc : splitting_begin(x, book, e);
}

/* The best pair is proved: all others are ruled out by a bound, or split. */
int search_split_kept(struct search_result *out, const struct search_book *book, struct alloc_kept *kept,
                      struct err *e)
{
    struct splitting *x = malloc(sizeof *x);
    struct search_best best = { 0 }, scouted = { 0 };
    bool done = false;
    *out = book->counts;
    int rc = x ? begin_split(out, &best, x, book, e) : err_nomem(e, "a search");
    if (!rc && !x->joint.clash && is_hunted(x)) {
        x->kept = kept;
        rc = split_hunted(&done, out, &best, x, e);
        rc = rc || done ? rc : begin_split(out, &best, x, book, e);
    }
    if (!rc && !x->joint.clash && !done)
        rc = split_scouted(out, &best, &scouted, x, e);
    out->whole = x && x->joint.floors && best.n > 0;
    if (scouted.n && !best.n) { /* for why none of them can be built */
        search_best_free(&best);
        best = scouted;
        scouted = (struct search_best){ 0 };
    }
    search_best_free(&scouted);
    out->found = best.found;
    out->n_found = best.n;
    out->clash = x && x->joint.clash;
    if (!rc) {
        search_say_proof(out, book->study);
        if (x->joint.floors && !out->whole) { /* it is of fractions */
            out->proved = out->unique = false;
            out->lower_bound = NAN;
        }
        memcpy(out->why, x->joint.why, sizeof out->why);
    }
    free(x);
    return rc;
}

int search_split(struct search_result *out, const struct search_book *book, struct err *e)
{
    return search_split_kept(out, book, NULL, e);
}

/* ---- no pair of plan and split is better ---- */

/* What bounds leave is split where no pair is known that is worth as little as is asked for. */
static int bound_pairs(struct search_bounded *b, struct splitting *x, struct err *e)
{
    struct pair_hunt p = { .left = { 0 } };
    struct search_best best = { 0 };
    struct search_result of = { .lower_bound = INFINITY };
    int rc = search_best_reserve(&p.met, 1, 0, e);
    p.met.last.value = b->most * (1 + 4 * ALLOC_GAP);
    rc = rc ? rc : search_best_reserve(&best, 1, -AS_GOOD, e);
    rc = rc ? rc : find_pairs(&p, x, e);
    double most = search_best_limit(&p.met);
    bool met = p.met.n && p.met.found[0].value <= b->most;
    b->least = fmin(p.left.dropped,
                    fmin(most, p.left.n ? p.left.list[0].value : (double)INFINITY) * (1 - ALLOC_GAP));
    if (!rc && !met && p.left.n) {
        best.last.value = most;
        rc = solve_survivors(&best, &of, &p.left, x, e);
        b->least = fmin(of.lower_bound, fmin(of.proof.open, of.proof.value * (1 - ALLOC_GAP)));
    }
    if (!rc && best.n + p.met.n)
        b->found =
            (struct search_known){ search_book_question(x->book), best.n ? best.found[0] : p.met.found[0] };
    free(p.left.list);
    search_best_free(&p.met);
    search_best_free(&best);
    return rc;
}

static int split_least(struct search_bounded *b, const struct search_book *book, struct err *e)
{
    struct splitting *x = malloc(sizeof *x);
    int rc = x ? splitting_begin(x, book, e) : err_nomem(e, "a search");
    b->least = INFINITY;
    b->found.question = 0;
    if (!rc && !x->joint.clash) {
        x->joint.floors = false;
        rc = price_pairs(x, b->known, b->n_known, e);
        rc = rc ? rc : bound_pairs(b, x, e);
    }
    free(x);
    return rc;
}

static bool skip_slower(void *with, double least_s)
{
    return least_s > search_best_limit(with);
}

static void take_fast(void *with, const struct search_candidate *c)
{
    double limit_s = search_best_limit(with), time_s = search_clock_time(&c->clocks[0], c->cost, limit_s);
    if (time_s > limit_s)
        return;
    struct search_found f = search_found_of(c);
    f.value = f.time_s = time_s;
    search_best_add(with, &f);
}

/* The best few into @p out, which is reserved. */
static int find_fastest(struct search_best *out, const struct search_book *book, const double *bw_Bps,
                        struct err *e)
{
    const struct search_pass pass = { .ways = { search_way(book->study, bw_Bps) },
                                      .n_ways = 1,
                                      .skip = skip_slower,
                                      .take = take_fast,
                                      .with = out };
    int rc = search_book_recall(out, book, &pass.ways[0], e);
    rc = rc ? rc : search_book_pass(book, &pass, e);
    if (!rc)
        search_book_remember(book, out);
    for (int32_t i = 0; i < out->n; i++)
        memcpy(out->found[i].bw_Bps, bw_Bps, sizeof(double) * (size_t)book->study->net.n_dims);
    return rc;
}

int search_fastest(struct search_best *out, const struct search_book *book, const double *bw_Bps,
                   int32_t most, struct err *e)
{
    int rc = search_best_reserve(out, most, 0, e);
    return rc ? rc : find_fastest(out, book, bw_Bps, e);
}

struct collective_way search_way(const struct design_point *s, const double *bw_Bps)
{
    return (struct collective_way){ &s->net, s->model == SIM_BANDWIDTH ? NULL : &s->rules.stage, bw_Bps };
}

/* The time that a study with this plan reports: candidates are timed from their parts, which may differ in
 * the last digit. */
static int time_as_reported(struct search_found *f, const struct design_point *s, const struct training *base,
                            struct err *e)
{
    const struct sim_way way = design_point_closed_way(s, f->bw_Bps);
    struct step_tree tree;
    struct sim_step step = { 0 };
    int rc = search_build_tree(&tree, &f->plan, base, &s->net, e);
    if (!rc)
        rc = sim_step_build(&step, &tree, &way, e);
    if (!rc) {
        f->value = f->time_s = step.time_s;
        sim_step_free(&step);
    }
    step_free(&tree);
    return rc;
}

/* Plans that are alike differ by less; so far beyond the last of the best, those that are like it are
 * counted, whatever thread meets them first. */
#define ALIKE_REL 4e-9

int search_given(struct search_result *out, const struct search_book *book, const double *bw_Bps,
                 struct err *e)
{
    const struct collective_way way = search_way(book->study, bw_Bps);
    struct search_best fast, best = { 0 };
    int rc = search_best_reserve(&fast, book->space->top, ALIKE_REL, e);
    fast.folds = true;
    if (!rc && !search_book_find_plans(&fast, book, &way)) {
        rc = find_fastest(&fast, book, bw_Bps, e);
        if (!rc)
            search_book_note_plans(book, &way, &fast);
    }
    rc = rc ? rc : search_best_reserve(&best, book->space->top, 0, e);
    /* The list in the order of the times that are reported. */
    for (int32_t i = 0; i < fast.n && !rc; i++) {
        rc = time_as_reported(&fast.found[i], book->study, book->base, e);
        if (!rc)
            search_best_add(&best, &fast.found[i]);
    }
    search_best_free(&fast);
    *out = book->counts;
    out->found = best.found;
    out->n_found = best.n;
    out->proved = !rc && out->n_found > 0; /* all were timed */
    out->lower_bound = NAN;                /* of a time, which may not be what the study asks for */
    return rc;
}

/* ---- the plans of a study ---- */

int search_fail(const struct design_point *s, yaml_id at, const struct search_result *r, struct err *e)
{
    struct text why = { 0 };
    if (r->clash)
        return yaml_fail_key(&s->doc, at, e, ERR_NO_DESIGN,
                             "finds no plan: the constraints contradict each other, no split satisfies them");
    for (int32_t i = 0; i < r->refused.n_keys; i++)
        text_printf(&why, "%s%lld by %s", why.n ? ", " : "", (long long)r->refused.n[i], r->refused.key[i]);
    for (int i = 0; i < N_SEARCH_REASONS; i++)
        if (r->n_rejected[i] && search_reason_words[i])
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

int search_read_space(struct search_space *space, const struct design_point *s, yaml_id at, bool given,
                      struct err *e)
{
    int rc = schema_read(space, &search_section, &s->doc, at, e);
    if (rc)
        return rc;
    for (int q = 0; q < N_TOPO_PRECISIONS; q++)
        if (space->precision & 1U << q && isnan(topo_npu_peak(&s->net.npu, (enum topo_precision)q)))
            return yaml_fail_key(&s->doc, yaml_get(&s->doc, at, "precision"), e, ERR_RANGE,
                                 "asks for %s, which the NPU does not have", topo_precision_words[q]);
    if (!given && alloc_objectives[s->objective].sends_alone)
        return yaml_fail_key(&s->doc, at, e, ERR_RANGE,
                             "is given with objective utilization; choose another objective");
    return 0;
}

int search_work(double *least_s, const struct design_point *s, int32_t i, struct search_shelf *shelf,
                struct err *e)
{
    const struct training *base = s->workloads[i].training;
    struct search_space space = { 0 };
    int rc = search_read_space(&space, s, base->search, true, e);
    if (rc)
        return rc;
    double n = (double)s->net.n_npus, work_s = search_shelf_work_s(shelf, &space, base, &s->net.npu);
    *least_s = work_s / n * plan_slowest_times(&base->model, &base->plan, n);
    return 0;
}

/* Of no plan that takes longer than @p most_s. */
static int least_at(double *least_s, const struct search_book *book, const double *bw_Bps, double most_s,
                    struct err *e)
{
    struct search_best fast;
    int rc = search_best_reserve(&fast, 1, 0, e);
    fast.last.value = most_s;
    rc = rc ? rc : find_fastest(&fast, book, bw_Bps, e);
    *least_s = !rc && fast.n ? fast.found[0].time_s : most_s;
    search_best_free(&fast);
    return rc;
}

int search_least(double *least_s, const struct design_point *s, int32_t i, const double *bw_Bps,
                 double most_s, struct search_shelf *shelf, struct err *e)
{
    const struct training *base = s->workloads[i].training;
    const struct collective_way way = search_way(s, bw_Bps);
    struct search_space space = { 0 }; /* lists that are short of their room are hashed with it */
    struct search_book book;
    int rc = search_read_space(&space, s, base->search, true, e);
    rc = rc ? rc : search_book_open(&book, shelf, &space, s, base, e);
    if (rc)
        return rc;
    if (!search_book_find_time(least_s, &book, &way, most_s)) {
        rc = bw_Bps ? least_at(least_s, &book, bw_Bps, most_s, e) : search_book_least(least_s, &book, e);
        if (!rc)
            search_book_note_time(&book, &way, *least_s, most_s);
    }
    search_book_close(&book, shelf);
    return rc;
}

int search_split_least(struct search_bounded *b, const struct design_point *s, struct search_shelf *shelf,
                       struct err *e)
{
    const struct training *base = s->workloads[0].training;
    struct search_space space = { 0 }; /* lists that are short of their room are hashed with it */
    struct search_book book;
    int rc = search_read_space(&space, s, base->search, true, e);
    rc = rc ? rc : search_book_open(&book, shelf, &space, s, base, e);
    if (rc)
        return rc;
    rc = split_least(b, &book, e);
    search_book_close(&book, shelf);
    return rc;
}

/* ---- pairs on networks of the same sizes ---- */

void search_listed_free(struct search_listed *p)
{
    shortlist_free(p->list);
    free(p->cuts);
    *p = (struct search_listed){ 0 };
}

/* Cuts of the pairs of a list, in its order. */
struct cutting {
    const struct splitting *of;
    struct alloc_cut *cuts;
    int32_t n;
};

/* The cut that touches a pair, with as much of those that touch where its bound is found as raises that.
 * @param[in,out] best  the fastest that was met at bandwidths that rows allow */
static struct alloc_cut cut_listed(struct search_touch *best, const struct splitting *x,
                                   const struct search_candidate *c, const struct search_pair *pair)
{
    const struct joint *j = &x->joint;
    const struct listed at = { x, c };
    double bw_Bps[TOPO_MAX_DIMS], share;
    struct alloc_cut t = { 0 };
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        bw_Bps[d] = joint_usable_Bps(j, d, shortlist_unpack_Bps(pair->bw[d]));
    for (int i = 0; i < 3; i++) {
        joint_shrink(bw_Bps, j);
        struct alloc_cut add = touch_listed(&at, bw_Bps);
        double at_s = alloc_cut_at(&add, bw_Bps, j->study->net.n_dims);
        if (at_s < best->most && joint_allows(j, bw_Bps)) {
            best->most = at_s;
            memcpy(best->bw_Bps, bw_Bps, sizeof bw_Bps);
        }
        if (i)
            joint_mix(&t, &share, &add, j);
        else
            t = add;
        joint_foot(bw_Bps, j, &t);
    }
    return t;
}

static void take_cut(void *with, const struct search_candidate *c, const struct search_pair *pair)
{
    struct cutting *k = with;
    struct search_touch ignored = { .most = 0 };
    k->cuts[k->n++] = cut_listed(&ignored, k->of, c, pair);
}

static double no_limit(const void *with)
{
    (void)with;
    return INFINITY;
}

static int list_pairs(struct search_listed *out, struct splitting *x, double most, struct err *e)
{
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    struct survivors no_others = { 0 };
    struct listing l = { .of = x, .list = out->list, .most = incumbent_none(0) };
    struct cutting cutting = { .of = x };
    out->list->most = l.most.value = most;
    if (!joint_price_total(&x->joint)) /* other rows: nothing is listed, nor left out */
        out->list->most = -INFINITY;
    if (out->list->most < 0)
        return 0;
    int rc = price_pairs(x, NULL, 0, e); /* not by recent plans, which depend on threads */
    rc = rc ? rc : pass_plans(&no_others, x, 1, skip_unlisted, take_unlisted, &l, e);
    if (out->list->failed)
        *out->list = (struct shortlist){ .pairs = out->list->pairs, .most = -INFINITY };
    shortlist_sort(out->list);
    out->cuts = cutting.cuts = malloc(((size_t)out->list->n + 1) * sizeof *out->cuts);
    rc = rc || out->cuts ? rc : err_nomem(e, "a search");
    return rc ? rc : search_book_take(x->book, out->list, &way, no_limit, take_cut, &cutting, e);
}

/* A question about all pairs of a study whose plan is searched. */
struct opened {
    struct search_space space;
    struct search_book book;
    struct splitting on;
};

static int open_pairs(struct opened **out, const struct design_point *s, struct search_shelf *shelf,
                      struct err *e)
{
    const struct training *base = s->workloads[0].training;
    struct opened *x = calloc(1, sizeof *x); /* lists that are short of their room are hashed with it */
    int rc = x ? search_read_space(&x->space, s, base->search, true, e) : err_nomem(e, "a search");
    rc = rc ? rc : search_book_open(&x->book, shelf, &x->space, s, base, e);
    if (rc) {
        free(x);
        return rc;
    }
    *out = x;
    return splitting_begin(&x->on, &x->book, e);
}

static void close_pairs(struct opened *x, struct search_shelf *shelf)
{
    if (x)
        search_book_close(&x->book, shelf);
    free(x);
}

int search_list_pairs(struct search_listed *out, const struct design_point *s, double most,
                      struct search_shelf *shelf, struct err *e)
{
    struct opened *x = NULL;
    *out = (struct search_listed){ .list = calloc(1, sizeof *out->list) };
    int rc = out->list ? open_pairs(&x, s, shelf, e) : err_nomem(e, "a search");
    rc = rc ? rc : list_pairs(out, &x->on, most, e);
    close_pairs(x, shelf);
    if (rc)
        search_listed_free(out);
    return rc;
}

struct touching {
    const struct splitting *of;
    struct search_touch *touch;
};

static double limit_touching(const void *with)
{
    return ((const struct touching *)with)->touch->most;
}

static void take_touching(void *with, const struct search_candidate *c, const struct search_pair *pair)
{
    const struct touching *t = with;
    const struct alloc_cut cut = cut_listed(t->touch, t->of, c, pair);
    t->touch->take(t->touch->with, &cut);
}

int search_touch_pairs(struct search_touch *touch, const struct design_point *s,
                       const struct shortlist *pairs, struct search_shelf *shelf, struct err *e)
{
    struct opened *x = NULL;
    int rc = open_pairs(&x, s, shelf, e);
    if (!rc) {
        const struct collective_way way = search_way(s, x->on.joint.ref_Bps);
        struct touching with = { &x->on, touch };
        joint_price_total(&x->on.joint);
        rc = search_book_take(&x->book, pairs, &way, limit_touching, take_touching, &with, e);
    }
    close_pairs(x, shelf);
    return rc;
}

int search_count_plans(struct search_result *out, const struct search_book *book, struct search_shelf *shelf,
                       struct err *e)
{
    struct search_result counts;
    int rc = out->n_found ? 0 : search_book_count(&counts, book, shelf, e);
    if (rc || out->n_found)
        return rc;
    out->refused = counts.refused;
    memcpy(out->n_rejected, counts.n_rejected, sizeof out->n_rejected);
    out->n_candidates = counts.n_candidates;
    out->n_timed = counts.n_timed;
    out->least_B = counts.least_B;
    return 0;
}

/* Plans that are alike, at the same bandwidths, are one of those that were found. */
static void fold_found(struct search_result *r, int32_t n_dims)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_found; i++) {
        struct search_found *last = n ? &r->found[n - 1] : NULL;
        if (last && search_alike(last, &r->found[i]) == 0 && is_same_split(last, &r->found[i], n_dims))
            last->alike += 1 + r->found[i].alike;
        else
            r->found[n++] = r->found[i];
    }
    r->n_found = n;
}

static int search_workload(struct design_choice *c, int32_t i, const double *bw_Bps,
                           struct search_shelf *shelf, struct err *e)
{
    const struct design_point *s = c->point;
    const struct training *base = s->workloads[i].training;
    struct search_result *out = &c->plans[i];
    struct search_space space = { 0 }; /* lists that are short of their room are hashed with it */
    struct search_book book;
    int rc = search_read_space(&space, s, base->search, bw_Bps != NULL, e);
    rc = rc ? rc : search_book_open(&book, shelf, &space, s, base, e);
    if (rc)
        return rc;
    if (bw_Bps)
        rc = search_given(out, &book, bw_Bps, e);
    else if (s->pricing == DESIGN_WHOLE)
        rc = search_whole(out, &book, e);
    else
        rc = search_split_kept(out, &book, c->kept, e);
    rc = rc ? rc : search_count_plans(out, &book, shelf, e);
    fold_found(out, s->net.n_dims);
    search_book_close(&book, shelf);
    if (rc)
        return rc;
    return out->n_found ? choice_take_plan(c, i, &out->found[0].plan, e)
                        : search_fail(s, base->search, out, e);
}

int search_plans(struct design_choice *c, const double *bw_Bps, struct search_shelf *shelf, struct err *e)
{
    const int32_t n = c->asked->n_workloads;
    int32_t n_searched = 0;
    int rc = 0;
    for (int32_t i = 0; i < n; i++)
        n_searched += design_point_is_searched(&c->asked->workloads[i]);
    if (!n_searched)
        return 0;
    c->plans = calloc((size_t)n, sizeof *c->plans);
    if (!c->plans)
        return err_nomem(e, "a search");
    if (n > 1 && !bw_Bps)
        rc = search_mix(c, shelf, e);
    for (int32_t i = 0; i < n && !rc && (n == 1 || bw_Bps); i++)
        if (design_point_is_searched(&c->asked->workloads[i]))
            rc = search_workload(c, i, bw_Bps, shelf, e);
    if (rc)
        return rc;
    search_note_unused(&c->notes, c->point);
    design_point_note_curves(&c->notes, c->point, true);
    return text_check(&c->notes, e);
}
