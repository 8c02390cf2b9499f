/*
 * Pairs of plan and place of least time under a total, each with its own best split. One pass over all plans
 * (book.c) touches each where its cut bounds it. On networks of the same sizes the pairs that may be the best
 * are written down once (shortlist.c), as bounded on switches without latency, than which none is faster.
 */
#include "kinds/design/explore/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

struct collective_way search_way(const struct design_point *s, const double *bw_Bps)
{
    return (struct collective_way){ &s->net, s->model == SIM_BANDWIDTH ? NULL : &s->rules.stage, bw_Bps };
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

int splitting_begin(struct splitting *x, const struct search_book *book, struct err *e)
{
    x->book = book;
    x->hunted = false;
    x->kept = NULL;
    x->weight = book->study->workloads[0].weight;
    return joint_begin(&x->joint, book->study, e);
}

int splitting_solve(struct search_found *f, struct alloc_answer *answer, const struct splitting *x,
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

/* All that pairs of a book and their splits depend on; structs as they lie in memory, as for a shelf. @p tag:
 * of what is known of them. */
static uint64_t hash_pairs(const struct splitting *x, double tag)
{
    const struct design_point *s = x->joint.study;
    const struct alloc_problem *p = &x->joint.question.problem;
    const double numbers[] = { x->weight, (double)s->model, (double)p->objective, tag };
    uint64_t hash = hash_bytes(search_book_question(x->book), numbers, sizeof numbers);
    hash = hash_bytes(hash, &s->rules, sizeof s->rules);
    return search_hash_dims(search_hash_rows(hash, p), &s->net);
}

/* ---- at given bandwidths ---- */

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

int search_find_fastest(struct search_best *out, const struct search_book *book, const double *bw_Bps,
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
    return rc ? rc : search_find_fastest(out, book, bw_Bps, e);
}

/* ---- survivors ---- */

static int by_promise(const void *a, const void *b)
{
    const struct search_found *x = a, *y = b;
    if (x->time_s < y->time_s || x->time_s > y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

void survivors_keep_most(struct survivors *s)
{
    if (s->n <= s->most)
        return;
    qsort(s->list, (size_t)s->n, sizeof *s->list, by_promise);
    for (int32_t i = s->most; i < s->n; i++)
        s->dropped = fmin(s->dropped, s->list[i].value);
    s->n_dropped += s->n - s->most;
    s->n = s->most;
}

void survivors_add(struct survivors *s, const struct search_found *f)
{
    if (s->n == 4 * (int64_t)s->most)
        survivors_keep_most(s);
    s->failed = s->failed || !vec_reserve(s->list, s->cap, s->n + 1);
    if (!s->failed)
        s->list[s->n++] = *f;
}

void survivors_begin(struct survivors *s, const struct splitting *x, int32_t most)
{
    s->of = x;
    s->n = 0;
    s->most = most;
    s->dropped = INFINITY;
}

int survivors_pass(struct survivors *s, bool (*skip)(void *with, double least_s),
                   void (*take)(void *with, const struct search_candidate *c), void *with, struct err *e)
{
    const struct joint *j = &s->of->joint;
    bool for_time = alloc_is_time(j->question.problem.objective);
    const struct search_pass pass = { .ways = { search_way(j->study, j->ranges.cap_Bps),
                                                search_way(j->study, j->ref_Bps) },
                                      .n_ways = 2,
                                      .price = for_time && joint_is_priced(j) ? j->price : NULL,
                                      .rent = j->rent,
                                      .skip = skip,
                                      .take = take,
                                      .with = with };
    int rc = search_book_pass(s->of->book, &pass, e);
    return !rc && s->failed ? err_nomem(e, "a search") : rc;
}

void survivors_sort(struct survivors *s)
{
    if (s->n)
        qsort(s->list, (size_t)s->n, sizeof *s->list, search_by_value);
}

/* ---- pairs ---- */

/* As near as that, to which a few cuts suffice. */
#define CLOSE_REL 1e-3

static bool skip_pairs(void *with, double least_s)
{
    const struct pair_hunt *p = with;
    const struct splitting *x = p->left.of;
    return x->weight * least_s > search_best_limit(&p->met);
}

struct touching {
    const struct splitting *of;
    const struct search_candidate *c;
    double (*touched)[TOPO_MAX_DIMS]; /* where, shape [JOINT_CUTS]; NULL: nobody asks */
    int *n;                           /* times */
};

static struct alloc_cut touch_pair(const void *with, const double *bw_Bps)
{
    const struct touching *l = with;
    const struct collective_way way = search_way(l->of->book->study, bw_Bps);
    if (l->touched)
        memcpy(l->touched[(*l->n)++], bw_Bps, sizeof *l->touched);
    return search_tangent_of(&way, l->c->forms, l->c->cost, l->of->weight);
}

/* What others have to beat is known where a pair is touched until that is nearly its best split. */
static void touch_closely(struct joint_touched *t, const struct splitting *x,
                          const struct search_candidate *c, double most)
{
    const struct touching at = { .of = x, .c = c };
    const struct joint_goal goal = { .most = most, .gap_rel = CLOSE_REL, .most_cuts = JOINT_CUTS };
    joint_sharpen(t, &x->joint, goal, touch_pair, &at);
}

static void note_met(struct pair_hunt *p, struct search_found *f, const struct joint_touched *t)
{
    f->time_s = t->time_s;
    f->value = t->time_s * (1 + PAIRS_AS_GOOD);
    memcpy(f->bw_Bps, t->bw_Bps, sizeof f->bw_Bps);
    if (f->value <= search_best_limit(&p->met))
        search_best_add(&p->met, f);
}

static void add_rival(struct pair_hunt *p, const struct joint_touched *t)
{
    struct search_rivals *all = p->rivals;
    if (all && !vec_reserve(all->list, all->cap, all->n + 1))
        p->left.failed = true;
    else if (all)
        all->list[all->n++] = (struct search_rival){ t->bound, t->cut };
}

/* A pair whose cut @p t does not rule it out. */
static void meet_pair(struct pair_hunt *p, const struct search_candidate *c, const struct alloc_cut *t,
                      double bound)
{
    const struct splitting *x = p->left.of;
    struct search_found f = search_found_of(c);
    struct joint_touched touched = { .cut = *t, .bound = bound };
    if (joint_is_priced(&x->joint)) {
        touch_closely(&touched, x, c, search_best_limit(&p->met));
        note_met(p, &f, &touched);
    }
    f.value = f.time_s = touched.bound;
    if (touched.bound > search_best_limit(&p->met))
        return;
#pragma omp critical(search_survivors)
    {
        survivors_add(&p->left, &f);
        add_rival(p, &touched);
    }
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
    survivors_sort(&p->left);
    while (p->left.n && p->left.list[p->left.n - 1].value > search_best_limit(&p->met))
        p->left.n--;
    survivors_keep_most(&p->left); /* whatever was dropped on the way, so that threads do not show */
}

static void begin_pairs(struct pair_hunt *p, const struct splitting *x)
{
    survivors_begin(&p->left, x, SURVIVORS_MOST);
    if (p->rivals)
        p->rivals->n = 0;
}

int search_find_pairs(struct pair_hunt *p, const struct splitting *x, struct err *e)
{
    begin_pairs(p, x);
    int rc = survivors_pass(&p->left, skip_pairs, take_pair, p, e);
    if (!rc)
        order_pairs(p);
    return rc;
}

/* Of plans that are known, in all orders, the one that is fastest nearly at its best split or, where not the
 * total alone has a price, whose cut at the reference split promises most. */
struct promise {
    const struct splitting *of;
    bool priced;
    struct search_found best; /* value INFINITY: none */
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
    struct joint_touched touched = { .cut = t, .time_s = value };
    if (p->priced)
        touch_closely(&touched, x, c, p->best.value);
    if (!(touched.time_s < p->best.value))
        return;
    p->best = search_found_of(c);
    p->best.value = touched.time_s;
    memcpy(p->best.bw_Bps, touched.bw_Bps, sizeof p->best.bw_Bps);
}

int search_price_pairs(struct splitting *x, const struct search_known *known, int32_t n_known, struct err *e)
{
    struct promise p = { x, joint_price_total(&x->joint), { .value = INFINITY } };
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    struct search_best fast = { 0 };
    struct alloc_answer answer = { 0 };
    int rc = 0;
    for (int32_t i = 0; i < n_known && !rc; i++)
        if (known[i].question == search_book_question(x->book))
            rc = search_book_lay(x->book, &known[i].found, &way, take_promise, &p, e);
    if (!rc && isinf(p.best.value)) {
        rc = search_fastest(&fast, x->book, x->joint.ref_Bps, 1, e);
        if (!rc && fast.n)
            rc = search_book_lay(x->book, &fast.found[0], &way, take_promise, &p, e);
    }
    for (int32_t d = 0; p.priced && isfinite(p.best.value) && d < x->joint.study->net.n_dims; d++)
        x->joint.ref_Bps[d] = joint_usable_Bps(&x->joint, d, p.best.bw_Bps[d]);
    if (!rc && !p.priced && isfinite(p.best.value)) {
        rc = splitting_solve(&p.best, &answer, x, e);
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

/* A list goes so far beyond what the network needs that has it written, so that others find theirs on it. */
#define LISTED_FURTHER 1.003

/* Pairs are written down whose best split on switches may be within what is met on a network of these sizes,
 * which falls on the way. */
struct listing {
    const struct splitting *of;
    struct shortlist *list;
    struct pair_hunt *hunt;    /* on that network */
    struct collective_way way; /* of it with collectives */
};

static double limit_listing(const struct listing *l)
{
    return LISTED_FURTHER * search_best_limit(&l->hunt->met);
}

static bool skip_unlisted(void *with, double least_s)
{
    const struct listing *l = with;
    return l->of->weight * least_s > limit_listing(l);
}

/* The path on switches, with what collectives take here. */
static bool skip_listed(const void *with, const struct alloc_cut *path)
{
    const struct pair_hunt *p = with;
    return joint_bound(&p->left.of->joint, path, 0) * (1 - SEARCH_PATH_REL) > search_best_limit(&p->met);
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

/* What rounding of a bound on switches may come to. */
#define LISTED_REL 1e-9

/* Touches whose share in the mean is less than this are left out of it. */
#define LEAST_SHARE 0.05

/* A mean of the paths that were touched, as of their cuts. */
static void note_path(struct search_path *path, const struct touching *at, const struct joint_touched *t)
{
    double share[JOINT_CUTS] = { 0 }, left = 1, sum = 0;
    for (int i = t->n; i-- > 0;) {
        share[i] = left * t->share[i] < LEAST_SHARE ? 0 : left * t->share[i];
        sum += share[i];
        left *= 1 - t->share[i];
    }
    left = left < LEAST_SHARE && sum > 0 ? 0 : left;
    for (int i = 0; i < t->n; i++) {
        const struct collective_way way = search_way(at->of->book->study, at->touched[i]);
        if (share[i] > 0)
            search_path_add(path, share[i] / (sum + left), &way, at->c->forms, at->c->cost);
    }
    if (left > 0)
        search_path_add(path, left / (sum + left), &at->c->clocks[1].way, at->c->forms, at->c->cost);
}

static void take_unlisted(void *with, const struct search_candidate *c)
{
    struct listing *l = with;
    const struct splitting *x = l->of;
    double ref_s, most = limit_listing(l),
                  bound = x->weight * search_clock_time(&c->clocks[0], c->cost, most / x->weight);
    if (bound > most)
        return;
    struct joint_touched t = { .cut = search_tangent(&ref_s, &c->clocks[1], c->cost, x->weight) };
    t.bound = joint_bound(&x->joint, &t.cut, bound);
    if (t.bound > most)
        return;
    double touched[JOINT_CUTS][TOPO_MAX_DIMS];
    int n = 0;
    const struct touching at = { x, c, touched, &n };
    joint_sharpen(&t, &x->joint, (struct joint_goal){ .most = most, .most_cuts = JOINT_FEW_CUTS }, touch_pair,
                  &at);
    if (t.bound > most)
        return;
    struct search_pair pair = search_pair_of(c);
    pair.bound = t.bound * (1 - LISTED_REL);
    for (int32_t d = 0; d < x->joint.study->net.n_dims; d++)
        pair.bw[d] = shortlist_pack_Bps(t.at_Bps[d]);
    note_path(&pair.path, &at, &t);
#pragma omp critical(search_survivors)
    shortlist_add(l->list, &pair);
    if (pair.bound <= search_best_limit(&l->hunt->met)) {
        struct search_forms forms;
        struct search_candidate there = *c;
        search_forms_set(&forms, &l->way, c->place);
        there.forms = &forms;
        take_listed(l->hunt, &there, &pair);
    }
}

/* The same question on switches. */
struct sizes {
    struct design_point study;
    struct search_book book;
    struct splitting on;
    uint64_t key;
};

int sizes_begin(struct sizes **out, struct splitting *x, struct err *e)
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
    int rc = splitting_begin(&z->on, &z->book, e);
    z->key = hash_pairs(&z->on, 0);
    return rc;
}

void sizes_ask(const struct sizes *z)
{
    if (z)
        shortlists_ask(search_book_lists(&z->book), z->key);
}

/* A list of what may take as long as it has to on a network of these sizes, which @p hunt finds at the same
 * time. It is kept where there is room. */
static int write_list(struct sizes *z, struct pair_hunt *hunt, struct err *e)
{
    struct shortlists *lists = search_book_lists(&z->book);
    struct shortlist *list = calloc(1, sizeof *list);
    struct search_known known[SEARCH_RECENT];
    struct survivors no_others = { 0 };
    const struct splitting *x = hunt->left.of;
    struct listing l = { &z->on, list, hunt, search_way(x->book->study, x->joint.ref_Bps) };
    if (!list)
        return err_nomem(e, "a search");
    *list = (struct shortlist){ .key = z->key };
    int rc = search_price_pairs(&z->on, known, search_book_recent(known, &z->book), e);
    survivors_begin(&no_others, &z->on, 1);
    rc = rc ? rc : survivors_pass(&no_others, skip_unlisted, take_unlisted, &l, e);
    list->most = limit_listing(&l);
    shortlist_sort(list);
    while (list->n && list->pairs[list->n - 1].bound > list->most)
        list->n--;
    if (!rc && !list->failed && shortlists_keep(lists, list))
        shortlists_leave(lists, list);
    else
        shortlist_free(list);
    return rc;
}

static double limit_pairs(const void *with)
{
    return search_best_limit(&((const struct pair_hunt *)with)->met);
}

/* Of a list on which all are that may be worth it; false in *all where it does not go so far. */
static int take_list(struct pair_hunt *p, bool *all, const struct splitting *x, const struct shortlist *list,
                     struct err *e)
{
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    begin_pairs(p, x);
    const struct search_taking how = { way, x->weight, limit_pairs, skip_listed, take_listed, p };
    int rc = search_book_take(x->book, list, &how, e);
    rc = !rc && p->left.failed ? err_nomem(e, "a search") : rc;
    *all = !rc && limit_pairs(p) <= list->most;
    if (*all)
        order_pairs(p);
    else
        p->left.n = 0;
    return rc;
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
    struct joint_touched touched = { .cut = t };
    touch_closely(&touched, x, c, search_best_limit(&p->met));
    note_met(p, &f, &touched);
}

/* What known plans are worth has to be beaten. */
static int hunt_known(struct pair_hunt *p, struct splitting *x, struct err *e)
{
    struct search_known known[SEARCH_RECENT];
    int32_t n = search_book_recent(known, x->book);
    const struct collective_way way = search_way(x->book->study, x->joint.ref_Bps);
    int rc = search_price_pairs(x, known, n, e);
    for (int32_t i = 0; i < n && !rc; i++)
        rc = search_book_lay(x->book, &known[i].found, &way, take_known, p, e);
    return rc;
}

/* One pass on switches, for the list and for this network. */
static int hunt_and_write(struct pair_hunt *p, struct splitting *x, struct sizes *z, struct err *e)
{
    int rc = hunt_known(p, x, e);
    begin_pairs(p, x);
    rc = rc ? rc : write_list(z, p, e);
    rc = !rc && p->left.failed ? err_nomem(e, "a search") : rc;
    if (!rc)
        order_pairs(p);
    return rc;
}

/* Of networks of these sizes the first asks for a list, unless lists were read as often as they were asked
 * for; the next one writes it. Where it does not go so far as another needs, that one writes it again. */
static int hunt_listed(struct pair_hunt *p, bool *all, struct splitting *x, struct sizes *z, struct err *e)
{
    struct shortlists *lists = search_book_lists(&z->book);
    struct shortlist *list = shortlists_find(lists, z->key);
    bool written = list && list->most >= 0, reads_only = p->rivals && p->rivals->reads_only,
         writes = !reads_only && (list || shortlists_are_read(lists)) && !shortlists_are_full(lists);
    int rc = written ? take_list(p, all, x, list, e) : 0;
    shortlists_leave(lists, list);
    if (!rc && !*all && writes) {
        rc = hunt_and_write(p, x, z, e);
        *all = !rc;
    }
    if (reads_only)
        p->rivals->asks = *all ? 0 : z->key;
    return rc;
}

/* ---- all of it ---- */

bool search_is_hunted(const struct splitting *x)
{
    return alloc_is_time(x->joint.question.problem.objective) && x->joint.study->total_Bps > 0 &&
           !x->joint.floors && !design_point_has_choice(x->joint.study) &&
           !topo_has_fabric(
               &x->joint.study->net); /* whose collectives have no form: to touch a plan is dear */
}

/* A pass with values that known plans, and those that it meets, have to beat. */
static int hunt_all(struct pair_hunt *p, struct splitting *x, struct err *e)
{
    int rc = hunt_known(p, x, e);
    return rc ? rc : search_find_pairs(p, x, e);
}

int search_hunt_pairs(struct pair_hunt *p, struct splitting *x, struct sizes *z, struct err *e)
{
    bool all = false;
    x->hunted = true;
    int rc = z ? hunt_listed(p, &all, x, z, e) : 0;
    return rc || all || (p->rivals && p->rivals->asks) ? rc : hunt_all(p, x, e);
}

/* ---- pairs that may be the answer ---- */

static int hunt_rivals(struct search_rivals *out, struct splitting *x, struct err *e)
{
    struct pair_hunt p = { .left = { .of = x }, .rivals = out };
    struct sizes *z = NULL;
    int rc = search_best_reserve(&p.met, 1, 0, e);
    rc = rc ? rc : sizes_begin(&z, x, e);
    rc = rc ? rc : search_hunt_pairs(&p, x, z, e);
    if (!rc && !out->asks)
        sizes_ask(z);
    if (!rc && p.met.n && !p.left.n_dropped && !out->asks) {
        out->most = search_best_limit(&p.met) * (1 + 2 * ALLOC_GAP);
        memcpy(out->bw_Bps, p.met.found[0].bw_Bps, sizeof out->bw_Bps);
    }
    for (int32_t i = out->n; i-- > 0;)
        if (out->list[i].bound > out->most)
            out->list[i] = out->list[--out->n];
    free(p.left.list);
    free(z);
    search_best_free(&p.met);
    return rc;
}

/* What is kept of rivals for networks of the same links: a ring of two is a full mesh of two. */
enum { MOST_RIVALS = 64 /* more are not kept */ };

struct rivals_kept {
    double most, bw_Bps[TOPO_MAX_DIMS];
    struct search_rival list[];
};

static bool fetch_rivals(struct search_rivals *out, const struct search_book *book, uint64_t key)
{
    size_t size;
    struct rivals_kept *kept = search_book_fetch(&size, book, key);
    int32_t n = kept ? (int32_t)((size - sizeof *kept) / sizeof *kept->list) : 0;
    bool is = kept && vec_reserve(out->list, out->cap, n);
    if (is) {
        memcpy(out->list, kept->list, (size_t)n * sizeof *kept->list);
        out->n = n;
        out->most = kept->most;
        memcpy(out->bw_Bps, kept->bw_Bps, sizeof out->bw_Bps);
    }
    free(kept);
    return is;
}

static void store_rivals(const struct search_rivals *r, const struct search_book *book, uint64_t key)
{
    size_t listed = (size_t)r->n * sizeof *r->list;
    struct rivals_kept *kept = r->most < 0 || r->n > MOST_RIVALS ? NULL : malloc(sizeof *kept + listed);
    if (!kept)
        return;
    kept->most = r->most;
    memcpy(kept->bw_Bps, r->bw_Bps, sizeof kept->bw_Bps);
    if (r->n)
        memcpy(kept->list, r->list, listed);
    search_book_store(book, key, kept, sizeof *kept + listed);
    free(kept);
}

int search_hunt_rivals(struct search_rivals *out, struct splitting *x, struct err *e)
{
    uint64_t key = hash_pairs(x, 1);
    int rc = 0;
    if (fetch_rivals(out, x->book, key))
        return 0;
    if (!x->joint.clash && search_is_hunted(x))
        rc = hunt_rivals(out, x, e);
    if (!rc)
        store_rivals(out, x->book, key);
    return rc;
}

void search_rivals_free(struct search_rivals *r)
{
    free(r->list);
    *r = (struct search_rivals){ .most = -INFINITY };
}
